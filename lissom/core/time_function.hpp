// Functions of time that a user gives: a number, a table, or an expression of t.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

class TimeFunction {
 public:
  TimeFunction() : TimeFunction(0.0) {}
  TimeFunction(double value);  // constant; not explicit: a number is a function of time

  // Cubic: twice continuously differentiable spline, not-a-knot at both ends (a parabola for three points).
  enum class Interpolation { Linear, Cubic };
  // Constant before the first and after the last point. Two points of a linear table at the same time are a jump, of
  // which the second one holds at that time. Throws InputError: lengths differ, fewer than two points, times that go
  // back, three at the same time, numbers that are not finite.
  static TimeFunction table(std::vector<double> times, std::vector<double> values,
                            Interpolation interpolation = Interpolation::Linear);
  // An expression whose t is the time in units of `unit` [s]: with 0.001 its t is in milliseconds. For its
  // language see expression.hpp. Throws InputError with the text and a caret under the place that does not
  // parse.
  static TimeFunction expression(const std::string& text, double unit = 1);

  // Several threads may ask the same function. Throws Error naming expression and time where the result is
  // not finite.
  double operator()(double t) const;
  // First and second derivative, exact: from the right at kinks. Throws Error, too, where an expression has
  // none.
  double rate(double t) const;
  double second_rate(double t) const;

  bool is_constant() const;
  // Where a table has its kinks, and ramps in an expression their corners (of those whose first argument goes
  // with t along a line, and whose other two are numbers).
  std::vector<double> break_times() const;
  // Those of them that matter where values may be off by `tolerance` of the largest one. An integrator that passes
  // over the others takes a table for the smooth curve through its points.
  std::vector<double> breaks_above(double tolerance) const;
  // The time of the first jump of a table, if there is one: prescribed motions must not have any.
  std::optional<double> first_jump() const;
  // How it was given: "5", "table of 12 points", "5 * sin(t)".
  std::string describe() const;
  // The function times a factor.
  TimeFunction scaled(double factor) const;

 private:
  struct Impl;
  explicit TimeFunction(std::shared_ptr<const Impl> impl, double factor);
  std::shared_ptr<const Impl> impl_;
  double factor_ = 1;
};

}  // namespace lissom
