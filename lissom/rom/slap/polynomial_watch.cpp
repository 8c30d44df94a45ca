#include "lissom/rom/slap/polynomial_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"

namespace lissom {

PolynomialWatch::PolynomialWatch(const SlapModel* model) {
  if (!model || !model->polynomial) return;
  check_.emplace(*model);
  const double own = model->accuracy.largest_error;
  limit_ = std::isfinite(own) && own > 0 ? own : 10 * model->polynomial->displacement;
}

void PolynomialWatch::at(const State& state) {
  if (!check_) return;
  PolynomialError error;
  try {
    error = check_->at(state.q);
  } catch (const Error&) {
    // a part without a nearest rotation: nothing that the polynomial says of it is right
    error.displacement = error.relative = std::numeric_limits<double>::infinity();
  }
  if (error.displacement > largest_ || !any_) {
    largest_ = error.displacement;
    at_ = state.t;
  }
  relative_ = std::max(relative_, error.relative);
  any_ = true;
  if (error.displacement > limit_ && !outside_since_) outside_since_ = state.t;
}

void PolynomialWatch::warn(Diagnostics& diagnostics) const {
  if (!outside_since_) return;
  diagnostics.warn(
      "simulate.polynomial",
      fmt::format(
          "from t = {:.6g} s on bodies are too strained for the model's polynomial: it is up to {:.3g} m "
          "away from the exact kernel (at t = {:.6g} s), and {:.3g} m is what the model itself is off; "
          "simulate with kernel = \"exact\"",
          *outside_since_, largest_, at_, limit_));
}

std::string PolynomialWatch::text() const {
  if (!any_) return "no sample was looked at";
  return fmt::format("at most {:.2g} m from the exact kernel, at t = {:.6g} s{}", largest_, at_,
                     outside_since_ ? fmt::format("; above the limit of {:.2g} m from t = {:.6g} s on",
                                                  limit_, *outside_since_)
                                    : fmt::format("; {:.2g} m would be too much", limit_));
}

}  // namespace lissom
