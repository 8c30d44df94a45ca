#include "lissom/export/export_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/core/time_function_parts.hpp"
#include "lissom/export/export_model.hpp"

namespace lissom {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_figure(char c) {
  return c >= '0' && c <= '9';
}

// Expressions of the study as expressions of C. Comparisons are numbers there as well.
class CExpression final : public ExpressionWriter {
 public:
  explicit CExpression(std::vector<std::string>& used) : used_(used) {}

  std::string number(double value) const override {
    if (!std::isfinite(value)) fail_input("an expression has the number {}, which cannot be exported", value);
    return value < 0 ? "(" + number_text(value) + ")" : number_text(value);
  }
  std::string time() const override { return "t"; }
  std::string choice(const std::string& condition, const std::string& then,
                     const std::string& otherwise) const override {
    return fmt::format("({} != 0 ? {} : {})", condition, then, otherwise);
  }
  std::string apply(std::string_view name, std::span<const std::string> x) const override {
    if (name == "neg") return fmt::format("(-{})", x[0]);
    if (name == "+" || name == "-" || name == "*" || name == "/")
      return fmt::format("({} {} {})", x[0], name, x[1]);
    if (name == "||" || name == "&&") return fmt::format("(real)({} != 0 {} {} != 0)", x[0], name, x[1]);
    if (name == "^") return call("power", x);
    if (!is_letter(name.front())) return fmt::format("(real)({} {} {})", x[0], name, x[1]);
    if (name == "abs") return call("REAL(fabs)", x);
    if (name == "rint") return fmt::format("REAL(floor)({} + (real)0.5)", x[0]);
    if (name == "min") return call("smaller", x);
    if (name == "max")
      return fmt::format("(-{})", call("smaller", std::vector{"(-" + x[0] + ")", "(-" + x[1] + ")"}));
    if (name == "ramp" || name == "sign") return call(std::string(name), x);
    if (name == "step") return fmt::format("smooth({})", call("ramp", x, "smooth"));
    return call(fmt::format("REAL({})", name), x);
  }

 private:
  std::string call(const std::string& name, std::span<const std::string> x,
                   const std::string& also = "") const {
    used_.push_back(name);
    if (!also.empty()) used_.push_back(also);
    return fmt::format("{}({})", name, fmt::join(x, ", "));
  }
  std::vector<std::string>& used_;
};

// A shared prefix of helpers; only those that are used are written, because compilers warn of others.
constexpr const char* ramp_helper = R"(
/* Share of the way from a to b, 0 before and 1 after; a jump where b is not beyond a. */
static real ramp(real x, real a, real b) {
  real s;
  if (!(a < b)) return x < a ? 0 : 1;
  s = (x - a) / (b - a);
  return s < 0 ? 0 : s > 1 ? 1 : s;
}
)";
constexpr const char* smooth_helper = R"(
static real smooth(real s) { return s * s * s * (10 + s * (6 * s - 15)); }
)";
constexpr const char* sign_helper = R"(
static real sign(real x) { return (real)((x > 0) - (x < 0)); }
)";
constexpr const char* smaller_helper = R"(
static real smaller(real a, real b) { return b < a ? b : a; }
)";
constexpr const char* power_helper = R"(
static real power(real b, real e) { return e == 2 ? b * b : e == 1 ? b : e == 0 ? 1 : REAL(pow)(b, e); }
)";
constexpr const char* table_helper = R"(
/* A table of time, constant before its first and after its last point; with second derivatives c a cubic spline. */
static real table(real t, int n, const real *times, const real *values, const real *c) {
  int low = 0, high = n - 1;
  real h, a, b, y;
  if (!(t >= times[0])) return values[0];
  if (t >= times[n - 1]) return values[n - 1];
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (times[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  h = times[low + 1] - times[low];
  b = (t - times[low]) / h;
  a = 1 - b;
  y = a * values[low] + b * values[low + 1];
  if (c) y += h * h / 6 * (a * (a * a - 1) * c[low] + b * (b * b - 1) * c[low + 1]);
  return y;
}
)";

}  // namespace

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_letter(c) || is_figure(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return "model";
  if (is_figure(name.front())) name = "m" + name;
  // linkers and file systems have limits of their own
  constexpr size_t longest = 48;
  return name.substr(0, longest);
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('@', at);
    if (open == std::string::npos) return out + text.substr(at);
    const size_t close = text.find('@', open + 1);
    LISSOM_ASSERT(close != std::string::npos);
    const std::string key = text.substr(open + 1, close - open - 1);
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
    LISSOM_ASSERT(found != values.end());
    out += text.substr(at, open - at) + found->second;
    at = close + 1;
  }
  return out;
}

std::string number_text(double value) {
  LISSOM_ASSERT(std::isfinite(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string c_array(const std::string& name, const std::vector<double>& values) {
  std::string text = fmt::format("static const real {}[{}] = {{", name, std::max<size_t>(values.size(), 1));
  std::string line = "\n ";
  for (const double value : values) {
    const std::string number = number_text(value);
    if (line.size() + number.size() > 108) {
      text += line;
      line = "\n ";
    }
    line += " " + number + ",";
  }
  if (values.empty()) line += " 0,";
  line.pop_back();
  return text + line + "};\n";
}

std::string c_array(const std::string& name, const Eigen::Ref<const Eigen::MatrixXd>& rows) {
  std::vector<double> values;
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    for (Eigen::Index j = 0; j < rows.cols(); ++j) values.push_back(rows(i, j));
  return c_array(name, values);
}

std::string c_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    // "??/" and the like would be trigraphs
    if (c == '"' || c == '\\' || c == '?') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string in_comment(const std::string& text) {
  std::string out;
  for (const char c : text) {
    // neither the end of a comment, nor the beginning of another
    if (!out.empty() && ((c == '/' && out.back() == '*') || (c == '*' && out.back() == '/'))) out += ' ';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string CTimeFunctions::call(const TimeFunction& function, const std::string& t) {
  const TimeFunction::Parts parts = function.parts();
  if (function.is_constant()) return number_text(function(0));
  const std::string factor = parts.factor == 1 ? "" : fmt::format("(real){} * ", number_text(parts.factor));
  const std::string name = fmt::format("function_{}", ++count_);
  if (parts.expression) {
    std::vector<std::string> used;
    const std::string text = parts.expression->write(CExpression(used));
    const auto uses = [&](const char* helper) {
      return std::find(used.begin(), used.end(), helper) != used.end();
    };
    ramp_ = ramp_ || uses("ramp");
    smooth_ = smooth_ || uses("smooth");
    sign_ = sign_ || uses("sign");
    smaller_ = smaller_ || uses("smaller");
    power_ = power_ || uses("power");
    body_ += fmt::format("\n/* {} */\nstatic real {}(real t) {{\n{}  return {}{};\n}}\n",
                         in_comment(parts.expression->text()), name,
                         parts.unit == 1 ? "" : fmt::format("  t /= (real){};\n", number_text(parts.unit)),
                         factor, text);
  } else {
    table_ = true;
    body_ += "\n" + c_array(name + "_times", parts.times) + c_array(name + "_values", parts.values);
    if (!parts.curvatures.empty()) body_ += c_array(name + "_curvatures", parts.curvatures);
    body_ += fmt::format(
        "static real {0}(real t) {{\n  return {1}table(t, {2}, {0}_times, {0}_values, {3});\n}}\n", name,
        factor, parts.times.size(), parts.curvatures.empty() ? "0" : name + "_curvatures");
  }
  return fmt::format("{}({})", name, t);
}

std::string CTimeFunctions::call(const std::vector<TimeFunction>& functions,
                                 const std::vector<double>& weights, const std::string& t) {
  std::string sum;
  double constant = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (weights[i] == 0) continue;
    if (functions[i].is_constant()) {
      constant += weights[i] * functions[i](0);
      continue;
    }
    if (!sum.empty()) sum += " + ";
    if (weights[i] != 1) sum += fmt::format("(real){} * ", number_text(weights[i]));
    sum += call(functions[i], t);
  }
  if (sum.empty()) return number_text(constant);
  return constant == 0 ? sum : fmt::format("{} + (real){}", sum, number_text(constant));
}

std::string CTimeFunctions::definitions() const {
  std::string text;
  if (ramp_) text += ramp_helper;
  if (smooth_) text += smooth_helper;
  if (sign_) text += sign_helper;
  if (smaller_) text += smaller_helper;
  if (power_) text += power_helper;
  if (table_) text += table_helper;
  return text + body_;
}

}  // namespace lissom
