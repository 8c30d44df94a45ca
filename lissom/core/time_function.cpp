#include "lissom/core/time_function.hpp"

#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <optional>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// share of the way from t0 to t1, 0 before and 1 after; a jump where the two are the same
double share(double t, double t0, double t1) {
  if (t0 < t1) return std::clamp((t - t0) / (t1 - t0), 0.0, 1.0);
  return t < t0 ? 0 : 1;
}

double ramp(double t, double t0, double t1) {
  return share(t, t0, t1);
}

double smooth_step(double t, double t0, double t1) {
  const double s = share(t, t0, t1);
  return s * s * s * (10 + s * (6 * s - 15));
}

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

// Why muparser refused, in words, with the text, a caret and what may have been meant.
[[noreturn]] void fail_at(const std::string& text, size_t position, const std::string& why) {
  // the caret stands under characters, not bytes
  size_t column = 0;
  for (size_t i = 0; i < std::min(position, text.size()); ++i)
    column += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  fail_input("expression does not parse: {}\n  {}\n  {}^", why, text, std::string(column, ' '));
}

std::string reason(const mu::ParserError& error, const mu::Parser& parser) {
  const std::string& token = error.GetToken();
  switch (error.GetCode()) {
    case mu::ecUNASSIGNABLE_TOKEN: {
      std::vector<std::string> names;
      for (const auto& entry : parser.GetVar()) names.push_back(entry.first);
      for (const auto& entry : parser.GetConst()) names.push_back(entry.first);
      for (const auto& entry : parser.GetFunDef()) names.push_back(entry.first);
      const auto meant = closest(token, names);
      return fmt::format("'{}' is not known{}", token,
                         meant ? fmt::format(" (did you mean '{}'?)", *meant)
                               : "; the time is t, functions are sin, exp, ramp, step and the like");
    }
    case mu::ecUNEXPECTED_EOF:
      return "it ends too early";
    case mu::ecMISSING_PARENS:
      return "a parenthesis is not closed";
    case mu::ecUNEXPECTED_PARENS:
      return "unexpected parenthesis";
    case mu::ecTOO_MANY_PARAMS:
      return fmt::format("too many arguments{}", token.empty() ? "" : " of '" + token + "'");
    case mu::ecTOO_FEW_PARAMS:
      return fmt::format("too few arguments{}", token.empty() ? "" : " of '" + token + "'");
    case mu::ecUNEXPECTED_VAL:
      return fmt::format("unexpected number '{}'; is an operator missing before it?", token);
    case mu::ecUNEXPECTED_VAR:
      return fmt::format("unexpected '{}'; is an operator missing before it?", token);
    case mu::ecUNEXPECTED_OPERATOR:
      return fmt::format("unexpected operator '{}'", token);
    default:
      return error.GetMsg();
  }
}

}  // namespace

struct TimeFunction::Impl {
  virtual ~Impl() = default;
  virtual double value(double t) const = 0;
  virtual double rate(double t) const = 0;
  virtual double second_rate(double t) const = 0;
  virtual bool is_constant() const { return false; }
  virtual std::vector<double> break_times() const { return {}; }
  virtual std::string describe(double factor) const = 0;

  struct Constant;
  struct Table;
  struct Expression;
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
      if (i > 0 && !(times[i] > times[i - 1]))
        fail_input("times of a table must ascend, found {} s after {} s (point {})", times[i], times[i - 1],
                   i + 1);
    }
    if (cubic) curvatures = spline_curvatures(times, values);
  }

  // the interval that holds t, if any; the last point belongs to what comes after
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
    return times;
  }

  std::string describe(double factor) const override {
    const std::string text = fmt::format("table of {} points", times.size());
    return factor == 1 ? text : fmt::format("{:g} * {}", factor, text);
  }

  std::vector<double> times, values, curvatures;
  bool cubic;
};

struct TimeFunction::Impl::Expression : Impl {
  explicit Expression(const std::string& given) : text(given) {
    for (char& c : text) {
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
      if (static_cast<unsigned char>(c) < 0x20)
        fail_input("expression has a control character: '{}'", printable(given));
    }
    if (trim(text).empty()) fail_input("expression is empty; expected a formula of t such as 5 * sin(t)");
    try {
      parser.DefineVar("t", &time);
      parser.DefineConst("pi", std::numbers::pi);
      parser.DefineFun("ramp", ramp);
      parser.DefineFun("step", smooth_step);
      parser.SetExpr(text);
      parser.Eval();
      constant = parser.GetUsedVar().empty();
      // that forgot what was parsed; after this, evaluations allocate nothing
      parser.Eval();
    } catch (const mu::ParserError& error) {
      fail_at(text, error.GetPos() < 0 ? text.size() : static_cast<size_t>(error.GetPos()),
              reason(error, parser));
    }
    // what muparser allows, but a function of time must not: several results, and assignments
    if (parser.GetNumResults() > 1)
      fail_input("expression must have one result, found {}:\n  {}", parser.GetNumResults(), text);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '=') continue;
      if (i + 1 < text.size() && text[i + 1] == '=') {
        ++i;
      } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
        fail_at(text, i, "nothing can be assigned; is == meant?");
      }
    }
  }

  // what muparser computes, finite or not. The parser has one stack for all, hence the lock.
  double raw(double t) const {
    const std::lock_guard lock(mutex);
    time = t;
    return parser.Eval();
  }

  double value(double t) const override {
    const double y = raw(t);
    if (!std::isfinite(y))
      fail("expression '{}' gives {} at t = {} s", text, std::isnan(y) ? std::abs(y) : y, t);
    return y;
  }

  double rate(double t) const override { return constant ? 0 : differentiate(t, 1); }
  double second_rate(double t) const override { return constant ? 0 : differentiate(t, 2); }
  bool is_constant() const override { return constant; }

  std::string describe(double factor) const override {
    return factor == 1 ? text : fmt::format("{:g} * ({})", factor, text);
  }

  // The corners of every ramp(x, a, b) whose a and b are numbers and whose x goes with t along a line.
  std::vector<double> break_times() const override {
    std::vector<double> times;
    for (size_t at = text.find("ramp"); at != std::string::npos; at = text.find("ramp", at + 1)) {
      const auto arguments = arguments_after(at);
      if (arguments.size() != 3) continue;
      const Expression x(arguments[0]), a(arguments[1]), b(arguments[2]);
      const double from = x.raw(0), slope = x.raw(1) - from;
      const bool line = std::abs(x.raw(2) - from - 2 * slope) <= 1e-12 * (std::abs(from) + std::abs(slope));
      if (!a.constant || !b.constant || !line || slope == 0 || !std::isfinite(from + slope)) continue;
      times.push_back((a.raw(0) - from) / slope);
      times.push_back((b.raw(0) - from) / slope);
    }
    return times;
  }

  // The arguments of a call of the function whose name of four letters begins there; none if it is no call.
  std::vector<std::string> arguments_after(size_t at) const {
    size_t i = text.find_first_not_of(' ', at + 4);
    const bool longer_name =
        at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
    if (longer_name || i == std::string::npos || text[i] != '(') return {};
    std::vector<std::string> arguments(1);
    for (int depth = 1; ++i < text.size();) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return arguments;
      if (text[i] == ',' && depth == 1)
        arguments.emplace_back();
      else
        arguments.back() += text[i];
    }
    return {};
  }

  // Differences over seven points. The spacing h grows by four until truncation outweighs rounding, for the
  // time scale of the expression is not known; powers of two keep t + h exact. The error of an h is taken as
  // the change from the h before, but not as less than what rounding of f and of t must cost.
  double differentiate(double t, int order) const {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    constexpr double first = 0x1p-26, last = 0x1p-4;  // [s] 15 ns to 0.06 s
    const double middle = value(t);
    double best = 0, best_error = std::numeric_limits<double>::infinity();
    double before = std::numeric_limits<double>::quiet_NaN();
    // of a large t only larger spacings are exact
    const double smallest = std::max(first, std::exp2(std::ceil(std::log2(std::abs(t) + 1e-300)) - 40));
    for (double h = smallest; h <= std::max(last, 4 * smallest); h *= 4) {
      std::array<double, 3> after, prior;
      double size = std::abs(middle);
      for (int k = 0; k < 3; ++k) {
        after[k] = raw(t + (k + 1) * h);
        prior[k] = raw(t - (k + 1) * h);
        size = std::max({size, std::abs(after[k]), std::abs(prior[k])});
      }
      double d = 0, noise = 0;
      if (order == 1) {
        d = (45 * (after[0] - prior[0]) - 9 * (after[1] - prior[1]) + (after[2] - prior[2])) / (60 * h);
        noise = eps * (size + std::abs(t * d)) / h;
      } else {
        d = (270 * (after[0] + prior[0]) - 27 * (after[1] + prior[1]) + 2 * (after[2] + prior[2]) -
             490 * middle) /
            (180 * h * h);
        noise = 4 * eps * (size + std::abs(t * (after[0] - prior[0]) / (2 * h))) / (h * h);
      }
      // max() drops a NaN in its second place, so look for one
      if (!std::isfinite(d)) break;
      const double change = std::isnan(before) ? noise : std::abs(d - before);
      const double error = std::max(change, noise);
      if (error < best_error) {
        best = d;
        best_error = error;
      } else if (change > 10 * best_error) {
        break;
      }
      before = d;
    }
    if (!std::isfinite(best_error))
      fail("expression '{}' has no derivative at t = {} s: it is not finite beside it", text, t);
    return best;
  }

  std::string text;
  bool constant = false;
  mutable double time = 0;
  mutable std::mutex mutex;
  mu::Parser parser;
};

TimeFunction::TimeFunction(double value) : impl_(std::make_shared<Impl::Constant>(value)) {}

TimeFunction::TimeFunction(std::shared_ptr<const Impl> impl, double factor)
    : impl_(std::move(impl)), factor_(factor) {}

TimeFunction TimeFunction::table(std::vector<double> times, std::vector<double> values,
                                 Interpolation interpolation) {
  return TimeFunction(std::make_shared<Impl::Table>(std::move(times), std::move(values), interpolation), 1);
}

TimeFunction TimeFunction::expression(const std::string& text) {
  return TimeFunction(std::make_shared<Impl::Expression>(text), 1);
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

std::string TimeFunction::describe() const {
  return impl_->describe(factor_);
}

TimeFunction TimeFunction::scaled(double factor) const {
  if (!std::isfinite(factor)) fail_input("a function of time must be finite, found a factor of {}", factor);
  return TimeFunction(impl_, factor_ * factor);
}

}  // namespace lissom
