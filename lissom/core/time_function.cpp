#include "lissom/core/time_function.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lissom/core/expression.hpp"

namespace lissom {

namespace {

// Second derivatives of a not-a-knot spline at its points: continuity of the first derivative inside, and of
// the third one at the second and the last but one point. Without pivoting: the rows that remain after the
// two end unknowns are eliminated are diagonally dominant.
std::vector<double> spline_curvatures(const std::vector<double>& x, const std::vector<double>& y) {
  const size_t n = x.size();
  std::vector<double> m(n, 0.0);
  if (n == 2) return m;
  const auto h = [&](size_t i) { return x[i + 1] - x[i]; };
  const auto slope = [&](size_t i) { return (y[i + 1] - y[i]) / h(i); };
  if (n == 3) {
    // one parabola
    std::fill(m.begin(), m.end(), 2 * (slope(1) - slope(0)) / (x[2] - x[0]));
    return m;
  }
  std::vector<double> lower(n, 0.0), diagonal(n, 0.0), upper(n, 0.0);
  for (size_t i = 1; i + 1 < n; ++i) {
    lower[i] = h(i - 1);
    diagonal[i] = 2 * (h(i - 1) + h(i));
    upper[i] = h(i);
    m[i] = 6 * (slope(i) - slope(i - 1));
  }
  // m_0 = (1 + r) m_1 - r m_2 with r = h_0 / h_1, and likewise at the other end
  const double r = h(0) / h(1), s = h(n - 2) / h(n - 3);
  diagonal[1] += lower[1] * (1 + r);
  upper[1] -= lower[1] * r;
  diagonal[n - 2] += upper[n - 2] * (1 + s);
  lower[n - 2] -= upper[n - 2] * s;
  for (size_t i = 2; i + 1 < n; ++i) {
    const double factor = lower[i] / diagonal[i - 1];
    diagonal[i] -= factor * upper[i - 1];
    m[i] -= factor * m[i - 1];
  }
  m[n - 2] /= diagonal[n - 2];
  for (size_t i = n - 3; i >= 1; --i) m[i] = (m[i] - upper[i] * m[i + 1]) / diagonal[i];
  m[0] = (1 + r) * m[1] - r * m[2];
  m[n - 1] = (1 + s) * m[n - 2] - s * m[n - 3];
  return m;
}

}  // namespace

struct TimeFunction::Impl {
  virtual ~Impl() = default;
  virtual double value(double t) const = 0;
  virtual double rate(double t) const = 0;
  virtual double second_rate(double t) const = 0;
  virtual bool is_constant() const { return false; }
  virtual std::vector<double> break_times() const { return {}; }
  virtual std::vector<double> breaks_above(double) const { return break_times(); }
  virtual std::optional<double> first_jump() const { return std::nullopt; }
  virtual std::string describe(double factor) const = 0;

  struct Constant;
  struct Table;
  struct Formula;
};

struct TimeFunction::Impl::Constant : Impl {
  explicit Constant(double given) : number(given) {
    if (!std::isfinite(number)) fail_input("a function of time must be finite, found {}", number);
  }
  double value(double) const override { return number; }
  double rate(double) const override { return 0; }
  double second_rate(double) const override { return 0; }
  bool is_constant() const override { return true; }
  std::string describe(double factor) const override { return fmt::format("{:g}", factor * number); }

  double number;
};

struct TimeFunction::Impl::Table : Impl {
  Table(std::vector<double> x, std::vector<double> y, Interpolation interpolation)
      : times(std::move(x)), values(std::move(y)), cubic(interpolation == Interpolation::Cubic) {
    if (times.size() != values.size())
      fail_input("a table of time needs as many values as times, found {} times and {} values", times.size(),
                 values.size());
    if (times.size() < 2) fail_input("a table of time needs two points or more, found {}", times.size());
    for (size_t i = 0; i < times.size(); ++i) {
      if (!std::isfinite(times[i]) || !std::isfinite(values[i]))
        fail_input("point {} of a table of time is not finite: ({}, {})", i + 1, times[i], values[i]);
      if (i > 0 && times[i] < times[i - 1])
        fail_input("times of a table must ascend, found {} s after {} s (point {})", times[i], times[i - 1],
                   i + 1);
      if (i > 0 && times[i] == times[i - 1] && cubic)
        fail_input(
            "times of a cubic table must ascend, found {} s twice (points {} and {}): a jump needs linear "
            "interpolation",
            times[i], i, i + 1);
      if (i > 1 && times[i] == times[i - 2])
        fail_input("a table jumps by two points at the same time, found three at {} s (points {} to {})",
                   times[i], i - 1, i + 1);
    }
    if (times.front() == times.back())
      fail_input("a table of time needs two times or more, found {} s alone", times.front());
    if (cubic) curvatures = spline_curvatures(times, values);
  }

  // the interval that holds t, if any; the last point belongs to what comes after, and so does the second one of a
  // jump
  std::optional<size_t> interval(double t) const {
    if (!(t >= times.front()) || t >= times.back()) return std::nullopt;
    return static_cast<size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin()) - 1;
  }

  double value(double t) const override {
    if (std::isnan(t)) fail("a table of time was asked for a time that is not a number");
    const auto i = interval(t);
    if (!i) return t < times.front() ? values.front() : values.back();
    const double h = times[*i + 1] - times[*i], b = (t - times[*i]) / h, a = 1 - b;
    double y = a * values[*i] + b * values[*i + 1];
    if (cubic) y += h * h / 6 * (a * (a * a - 1) * curvatures[*i] + b * (b * b - 1) * curvatures[*i + 1]);
    return y;
  }

  double rate(double t) const override {
    const auto i = interval(t);
    if (!i) return 0;
    const double h = times[*i + 1] - times[*i], b = (t - times[*i]) / h, a = 1 - b;
    double slope = (values[*i + 1] - values[*i]) / h;
    if (cubic) slope += h / 6 * ((1 - 3 * a * a) * curvatures[*i] + (3 * b * b - 1) * curvatures[*i + 1]);
    return slope;
  }

  double second_rate(double t) const override {
    const auto i = interval(t);
    if (!i || !cubic) return 0;
    const double b = (t - times[*i]) / (times[*i + 1] - times[*i]);
    return (1 - b) * curvatures[*i] + b * curvatures[*i + 1];
  }

  std::vector<double> break_times() const override {
    if (cubic) return {times.front(), times.back()};
    std::vector<double> breaks = times;
    breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
    return breaks;
  }

  // A step may pass over a point where the chords beside it are as near to a smooth curve through the points as
  // values need be known,
  //
  //   |jump of the slope| / 8 max(h_left, h_right) <= tolerance max |y|,
  //
  // which is how far a parabola of that curvature is from its chord. Of n points over a time T that changes what the
  // function drives by `tolerance` of itself; a single kink that just passes, by 2 (h / T)^2 n times that in a step
  // h, which step control sees where it is more. Ends and jumps always matter.
  std::vector<double> breaks_above(double tolerance) const override {
    if (cubic) return break_times();
    double largest = 0;
    for (const double y : values) largest = std::max(largest, std::abs(y));
    const size_t last = times.size() - 1;
    std::vector<double> breaks;
    for (size_t i = 0; i <= last; ++i) {
      bool matters = i == 0 || i == last || times[i] == times[i - 1] || times[i + 1] == times[i];
      if (!matters) {
        const double left = times[i] - times[i - 1], right = times[i + 1] - times[i];
        const double bend = (values[i + 1] - values[i]) / right - (values[i] - values[i - 1]) / left;
        matters = std::abs(bend) / 8 * std::max(left, right) > tolerance * largest;
      }
      if (matters && (breaks.empty() || breaks.back() != times[i])) breaks.push_back(times[i]);
    }
    return breaks;
  }

  std::optional<double> first_jump() const override {
    const auto i = std::adjacent_find(times.begin(), times.end());
    return i == times.end() ? std::nullopt : std::optional(*i);
  }

  std::string describe(double factor) const override {
    const std::string text = fmt::format("table of {} points", times.size());
    return factor == 1 ? text : fmt::format("{:g} * {}", factor, text);
  }

  std::vector<double> times, values, curvatures;
  bool cubic;
};

struct TimeFunction::Impl::Formula : Impl {
  Formula(const std::string& text, double unit) : expression(text), unit(unit) {}

  // y = f(t / unit), so that y' = f' / unit and y'' = f'' / unit^2
  double value(double t) const override { return finite(expression.value(t / unit), t); }
  double rate(double t) const override {
    const Jet y = expression.jet(t / unit);
    finite(y.value, t);
    return derivative(y.first / unit, t, "first");
  }
  double second_rate(double t) const override {
    const Jet y = expression.jet(t / unit);
    finite(y.value, t);
    return derivative(y.second / (unit * unit), t, "second");
  }

  // -nan says no more than nan
  double finite(double y, double t) const {
    if (!std::isfinite(y))
      fail("expression '{}' gives {} at {}", expression.text(), std::isnan(y) ? std::abs(y) : y, shown(t));
    return y;
  }
  double derivative(double y, double t, const char* which) const {
    if (!std::isfinite(y))
      fail("expression '{}' has no {} derivative at {}: the chain rule gives {}", expression.text(), which,
           shown(t), std::isnan(y) ? std::abs(y) : y);
    return y;
  }
  // "t = 2 s", or t as the expression has it and what that is: "t = 2000 (2 s)"
  std::string shown(double t) const {
    return unit == 1 ? fmt::format("t = {} s", t) : fmt::format("t = {:.12g} ({} s)", t / unit, t);
  }

  bool is_constant() const override { return !expression.uses_time(); }
  std::vector<double> break_times() const override {
    std::vector<double> times = expression.ramp_corners();
    for (double& t : times) t *= unit;
    return times;
  }

  std::string describe(double factor) const override {
    return factor == 1 ? expression.text() : fmt::format("{:g} * ({})", factor, expression.text());
  }

  Expression expression;
  double unit;  // of its t [s]
};

TimeFunction::TimeFunction(double value) : impl_(std::make_shared<Impl::Constant>(value)) {}

TimeFunction::TimeFunction(std::shared_ptr<const Impl> impl, double factor)
    : impl_(std::move(impl)), factor_(factor) {}

TimeFunction TimeFunction::table(std::vector<double> times, std::vector<double> values,
                                 Interpolation interpolation) {
  return TimeFunction(std::make_shared<Impl::Table>(std::move(times), std::move(values), interpolation), 1);
}

TimeFunction TimeFunction::expression(const std::string& text, double unit) {
  LISSOM_ASSERT(unit > 0);
  return TimeFunction(std::make_shared<Impl::Formula>(text, unit), 1);
}

double TimeFunction::operator()(double t) const {
  return factor_ * impl_->value(t);
}

double TimeFunction::rate(double t) const {
  return factor_ * impl_->rate(t);
}

double TimeFunction::second_rate(double t) const {
  return factor_ * impl_->second_rate(t);
}

bool TimeFunction::is_constant() const {
  return impl_->is_constant();
}

std::vector<double> TimeFunction::break_times() const {
  return impl_->break_times();
}

std::vector<double> TimeFunction::breaks_above(double tolerance) const {
  return impl_->breaks_above(tolerance);
}

std::optional<double> TimeFunction::first_jump() const {
  return impl_->first_jump();
}

std::string TimeFunction::describe() const {
  return impl_->describe(factor_);
}

TimeFunction TimeFunction::scaled(double factor) const {
  if (!std::isfinite(factor)) fail_input("a function of time must be finite, found a factor of {}", factor);
  return TimeFunction(impl_, factor_ * factor);
}

}  // namespace lissom
