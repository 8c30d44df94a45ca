#include "lissom/time/turn_watch.hpp"

#include "lissom/mbs/archive_state.hpp"

namespace lissom {

void TurnWatch::step(const State& state) {
  const Turns& now = state.turns;
  if (last_.angle.size() == now.angle.size())
    for (Eigen::Index i = 0; i < now.angle.size(); ++i) {
      const CountedAngle before{last_.t, last_.angle[i], last_.rate[i]};
      doubt_.see(static_cast<int>(i), before, {now.t, now.angle[i], now.rate[i]});
    }
  last_ = now;
}

void TurnWatch::warn(const std::vector<std::string>& names, Diagnostics& diagnostics) const {
  if (doubt_.which < 0) return;
  doubt_.warn("simulate.turns", names.at(static_cast<size_t>(doubt_.which)), diagnostics);
}

void TurnWatch::archive(Archive& archive) {
  archive(last_, doubt_);
}

}  // namespace lissom
