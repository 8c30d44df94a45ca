#include "lissom/rom/slap/trust.hpp"

#include <fmt/format.h>

namespace lissom {

double Trust::at(const State& state) {
  if (!known()) return 0;
  const double distance = distance_from_training(*training_, state.q);
  if (distance > largest_ || !any_) {
    largest_ = distance;
    at_ = state.t;
  }
  any_ = true;
  if (distance > trust_threshold && !outside_since_) {
    outside_since_ = state.t;
    first_outside_ = distance;
  }
  return distance;
}

void Trust::warn(Diagnostics& diagnostics) const {
  if (!outside_since_) return;
  diagnostics.warn(
      "simulate.trust",
      fmt::format("the motion leaves what the model was trained on at t = {:.6g} s (distance {:.3g} where "
                  "training states are at most 1 apart; the largest is {:.3g} at t = {:.6g} s): compare with "
                  "model = \"full\", or {}",
                  *outside_since_, first_outside_, largest_, at_, advice_));
}

std::string Trust::left_before() const {
  return outside_since_ ? fmt::format("; the motion had left what the model was trained on at t = {:.6g} s",
                                      *outside_since_)
                        : "";
}

std::string Trust::text() const {
  if (!known()) return "not known: the model has no training states";
  return fmt::format("at most {:.3g} from the training, at t = {:.6g} s{}", largest_, at_,
                     outside_since_ ? fmt::format("; it is left at t = {:.6g} s", *outside_since_)
                                    : fmt::format("; {:g} and more would have left it", trust_threshold));
}

}  // namespace lissom
