// States in an Archive.
#pragma once

#include "lissom/core/archive.hpp"
#include "lissom/mbs/equations.hpp"

namespace lissom {

inline void archive(Archive& archive, State& state) {
  archive(state.t, state.q, state.v, state.a, state.lambda);
}

}  // namespace lissom
