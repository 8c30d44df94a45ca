// Whole turns of an angle that is known up to these: one rule for springs, bushings and sensors.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "lissom/core/diagnostics.hpp"

namespace lissom {

inline constexpr double full_turn = 2 * std::numbers::pi;  // [rad]

// An angle as it was counted last: at time t [s], with its rate.
struct CountedAngle {
  double t = 0, angle = 0, rate = 0;

  // Where it is expected at another time, at which its rate is the one given: exact for constant
  // acceleration, and as good as the last angle for vibrations that a step does not resolve, whose rates
  // alternate.
  double expected(double time, double rate_there) const {
    return angle + (rate + rate_there) / 2 * (time - t);
  }
};

// `angle` (any turn of it) at the turn nearest to `expected`.
inline double at_nearest_turn(double angle, double expected) {
  return angle + full_turn * std::round((expected - angle) / full_turn);
}

// The first step in which a turn may have been missed: the angle ends more than a quarter of a turn away from
// what is expected, so that the turn chosen is no longer the only one that is near.
struct TurnDoubt {
  int which = -1;  // angle, -1: none so far
  double t = 0, by = 0, off = 0;

  void see(int angle, const CountedAngle& before, const CountedAngle& now) {
    const double away = std::abs(now.angle - before.expected(now.t, now.rate));
    if (which >= 0 || !(away > full_turn / 4)) return;
    which = angle;
    t = now.t;
    by = now.angle - before.angle;
    off = away;
  }
  void warn(const std::string& key, const std::string& name, Diagnostics& diagnostics) const {
    if (which < 0) return;
    diagnostics.warn(
        key, fmt::format("turns of {} may be miscounted from t = {:.6g} s on: in the step that ends there "
                         "its angle changes by {:.3g} rad, which is {:.3g} rad away from what its speeds let "
                         "expect; take smaller steps",
                         name, t, by, off));
  }
};

}  // namespace lissom
