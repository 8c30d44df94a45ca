// States in an Archive.
#pragma once

#include "lissom/core/archive.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/mbs/turns.hpp"

namespace lissom {

inline void archive(Archive& archive, CountedAngle& angle) {
  archive(angle.t, angle.angle, angle.rate);
}

inline void archive(Archive& archive, TurnDoubt& doubt) {
  archive(doubt.which, doubt.t, doubt.by, doubt.off);
}

inline void archive(Archive& archive, Turns& turns) {
  archive(turns.t, turns.angle, turns.rate);
}

inline void archive(Archive& archive, State& state) {
  archive(state.t, state.q, state.v, state.a, state.lambda, state.turns);
}

}  // namespace lissom
