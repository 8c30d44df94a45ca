// How far the polynomial form of a reduced mechanism is from its exact kernel along a run.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lissom/core/archive.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/rom/slap/polynomial_fit.hpp"

namespace lissom {

// Evaluates the exact kernel at samples and keeps the largest difference (PolynomialCheck).
class PolynomialWatch {
 public:
  // `model` outlives it; null of what has no polynomial.
  explicit PolynomialWatch(const SlapModel* model);
  bool known() const { return check_.has_value(); }

  void at(const State& state);

  // A run is warned of where the difference is above this [m]: what the model is off in its own training, or,
  // where that is not known, ten times what the polynomial is off there.
  double limit() const { return limit_; }
  double largest() const { return largest_; }    // [m]; infinite: the exact one failed
  double largest_at() const { return at_; }      // [s]
  double relative() const { return relative_; }  // largest, to the whole force
  std::optional<double> outside_since() const { return outside_since_; }  // [s]
  void warn(Diagnostics& diagnostics) const;
  std::string text() const;
  // What later samples depend on.
  void archive(Archive& archive) { archive(any_, largest_, at_, relative_, outside_since_); }

 private:
  std::optional<PolynomialCheck> check_;
  double limit_ = 0;
  bool any_ = false;
  double largest_ = 0, at_ = 0, relative_ = 0;
  std::optional<double> outside_since_;
};

}  // namespace lissom
