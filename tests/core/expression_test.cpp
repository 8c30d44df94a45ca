#include "lissom/core/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace lissom::expression_test {
namespace {

constexpr double pi = std::numbers::pi;

double value(const std::string& text, double t = 0.7) {
  return Expression(text).value(t);
}

std::string refusal(const std::string& text) {
  try {
    const Expression expression(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// The message is this reason, the text, and a caret under the column (of characters).
void expect_refused(const std::string& text, const std::string& why, size_t column) {
  EXPECT_EQ(refusal(text),
            "expression does not parse: " + why + "\n  " + text + "\n  " + std::string(column, ' ') + "^");
}

struct ClosedForm {
  std::string text;
  std::function<double(double)> value, first, second;
};

// To 1e-14 of what the derivative is; 1e-300 for those that are zero.
void expect_derivatives(const ClosedForm& f, std::initializer_list<double> times) {
  const Expression expression(f.text);
  for (const double t : times) {
    const Jet y = expression.jet(t);
    EXPECT_EQ(y.value, expression.value(t)) << f.text << " at " << t;
    EXPECT_NEAR(y.value, f.value(t), 1e-14 * std::abs(f.value(t)) + 1e-300) << f.text << " at " << t;
    EXPECT_NEAR(y.first, f.first(t), 1e-14 * std::abs(f.first(t)) + 1e-300) << f.text << "' at " << t;
    EXPECT_NEAR(y.second, f.second(t), 1e-14 * std::abs(f.second(t)) + 1e-300) << f.text << "'' at " << t;
  }
}

TEST(Expression, OperatorsBindAsInMathematics) {
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("(-2)^2"), 4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("2^-2^2"), 0.0625);
  EXPECT_EQ(value("2^-1*3"), 1.5);
  EXPECT_EQ(value("-2^-2"), -0.25);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("2*+3"), 6);
  EXPECT_EQ(value("2--3"), 5);
  EXPECT_EQ(value("1-1-1"), -1);
  EXPECT_EQ(value("8/4/2"), 1);
  EXPECT_EQ(value("8/4*2"), 4);
  EXPECT_EQ(value("1 + 2*3^2"), 19);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("1+2 < 3*4"), 1);
  // comparisons from left to right, all of one level
  EXPECT_EQ(value("3 > 2 > 1"), 0);
  EXPECT_EQ(value("1 == 2 < 1"), 1);
  EXPECT_EQ(value("1 != 1 == 0"), 1);
  EXPECT_EQ(value("1||1&&0"), 1);
  EXPECT_EQ(value("(1||1)&&0"), 0);
  EXPECT_EQ(value("1 < 2 && 3 <= 3"), 1);
  EXPECT_EQ(value("0.5 && 1"), 1);
  EXPECT_EQ(value("1 >= 2 || 0"), 0);
}

TEST(Expression, ChoicesTakeOneBranch) {
  EXPECT_EQ(value("t > 0 ? 1 : 2"), 1);
  EXPECT_EQ(value("t>0?t>1?5:6:7"), 6);
  EXPECT_EQ(value("0?1:0?2:3"), 3);
  EXPECT_EQ(value("0 ? 1 : 1 ? 2 : 3"), 2);
  EXPECT_EQ(value("1 + 1 ? 2 : 3 + 4"), 2);
  EXPECT_EQ(value("(1?2:3)*4"), 8);
  EXPECT_EQ(value("-(t > 1 ? 2 : 3)"), -3);
  EXPECT_EQ(value("1 + (t > 1 ? 2 : 3)"), 4);
  EXPECT_EQ(value("(t < 1 ? 2 : 3)^2"), 4);
  EXPECT_EQ(value("max(t > 1 ? 2 : 3, 2)"), 3);
  EXPECT_EQ(value("t > 1 ? sqrt(t - 1) : 0"), 0);
  // as many pieces as a user likes
  std::string pieces;
  for (int i = 0; i < 1000; ++i) pieces += fmt::format("t < {} ? {} : ", i, 2 * i);
  EXPECT_EQ(value(pieces + "-1", 700.5), 1402);
  EXPECT_EQ(value(pieces + "-1", 1e4), -1);
}

TEST(Expression, NumbersAndNames) {
  EXPECT_EQ(value("1e3"), 1000);
  EXPECT_EQ(value("1.E+3"), 1000);
  EXPECT_EQ(value("1e-3"), 0.001);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("5."), 5);
  EXPECT_EQ(value("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(value("pi"), pi);
  EXPECT_EQ(value("_pi"), pi);
  EXPECT_EQ(value("_e"), std::numbers::e);
  EXPECT_EQ(value("\n t\t*\r\n2 "), 1.4);
  EXPECT_EQ(Expression("t\n*2").text(), "t *2");
  EXPECT_TRUE(Expression("0*t").uses_time());
  EXPECT_FALSE(Expression("2*pi").uses_time());
  EXPECT_EQ(value("sin (t)"), std::sin(0.7));
}

TEST(Expression, FunctionsAreThoseOfTheLibrary) {
  const double t = 0.7;
  const std::vector<std::pair<std::string, double>> known = {
      {"sin(t)", std::sin(t)},
      {"cos(t)", std::cos(t)},
      {"tan(t)", std::tan(t)},
      {"asin(t)", std::asin(t)},
      {"acos(t)", std::acos(t)},
      {"atan(t)", std::atan(t)},
      {"atan2(t, -2)", std::atan2(t, -2)},
      {"sinh(t)", std::sinh(t)},
      {"cosh(t)", std::cosh(t)},
      {"tanh(t)", std::tanh(t)},
      {"asinh(t)", std::asinh(t)},
      {"acosh(t+1)", std::acosh(t + 1)},
      {"atanh(t)", std::atanh(t)},
      {"exp(t)", std::exp(t)},
      {"log(t)", std::log(t)},
      {"ln(t)", std::log(t)},
      {"log2(t)", std::log2(t)},
      {"log10(t)", std::log10(t)},
      {"sqrt(t)", std::sqrt(t)},
      {"abs(-t)", t},
      {"sign(-t)", -1},
      {"sign(0*t)", 0},
      {"rint(t)", 1},
      {"rint(2.5)", 3},
      {"rint(-2.5)", -2},
      {"min(3, t, 2)", t},
      {"max(t)", t},
      {"max(1, t, 5, 2)", 5},
      {"sum(1, 2, t)", 3 + t},
      {"avg(1, 2, 6)", 3},
      {"ramp(t, 0.5, 0.9)", 0.5},
      {"ramp(t, 1, 0)", 0},
      {"ramp(t, 0.7, 0.7)", 1},
      {"step(2, 1, 3)", 0.5},
  };
  for (const auto& [text, expected] : known) EXPECT_NEAR(value(text), expected, 1e-15) << text;
}

TEST(Expression, DerivativesAreThoseOfClosedForms) {
  using std::cos, std::cosh, std::exp, std::log, std::pow, std::sin, std::sinh, std::sqrt, std::tan,
      std::tanh;
  const double ln2 = std::numbers::ln2, ln10 = std::numbers::ln10;
  const std::vector<ClosedForm> forms = {
      {"5", [](double) { return 5; }, [](double) { return 0; }, [](double) { return 0; }},
      {"t", [](double t) { return t; }, [](double) { return 1; }, [](double) { return 0; }},
      {"-t^3", [](double t) { return -t * t * t; }, [](double t) { return -3 * t * t; },
       [](double t) { return -6 * t; }},
      {"3*sin(20*t)", [](double t) { return 3 * sin(20 * t); }, [](double t) { return 60 * cos(20 * t); },
       [](double t) { return -1200 * sin(20 * t); }},
      {"t*sin(t)", [](double t) { return t * sin(t); }, [](double t) { return sin(t) + t * cos(t); },
       [](double t) { return 2 * cos(t) - t * sin(t); }},
      {"1/(1 + t)", [](double t) { return 1 / (1 + t); }, [](double t) { return -1 / pow(1 + t, 2); },
       [](double t) { return 2 / pow(1 + t, 3); }},
      {"exp(-5*t)", [](double t) { return exp(-5 * t); }, [](double t) { return -5 * exp(-5 * t); },
       [](double t) { return 25 * exp(-5 * t); }},
      {"2^t", [](double t) { return pow(2, t); }, [=](double t) { return ln2 * pow(2, t); },
       [=](double t) { return ln2 * ln2 * pow(2, t); }},
      {"t^t", [](double t) { return pow(t, t); }, [](double t) { return pow(t, t) * (log(t) + 1); },
       [](double t) { return pow(t, t) * (pow(log(t) + 1, 2) + 1 / t); }},
      {"t^2.5", [](double t) { return pow(t, 2.5); }, [](double t) { return 2.5 * pow(t, 1.5); },
       [](double t) { return 3.75 * sqrt(t); }},
      {"t^-2", [](double t) { return 1 / (t * t); }, [](double t) { return -2 / pow(t, 3); },
       [](double t) { return 6 / pow(t, 4); }},
      {"tan(t)", [](double t) { return tan(t); }, [](double t) { return 1 / pow(cos(t), 2); },
       [](double t) { return 2 * sin(t) / pow(cos(t), 3); }},
      {"asin(t)", [](double t) { return std::asin(t); }, [](double t) { return pow(1 - t * t, -0.5); },
       [](double t) { return t * pow(1 - t * t, -1.5); }},
      {"acos(t)", [](double t) { return std::acos(t); }, [](double t) { return -pow(1 - t * t, -0.5); },
       [](double t) { return -t * pow(1 - t * t, -1.5); }},
      {"atan(t)", [](double t) { return std::atan(t); }, [](double t) { return 1 / (1 + t * t); },
       [](double t) { return -2 * t / pow(1 + t * t, 2); }},
      {"sinh(2*t)", [](double t) { return sinh(2 * t); }, [](double t) { return 2 * cosh(2 * t); },
       [](double t) { return 4 * sinh(2 * t); }},
      {"cosh(2*t)", [](double t) { return cosh(2 * t); }, [](double t) { return 2 * sinh(2 * t); },
       [](double t) { return 4 * cosh(2 * t); }},
      {"tanh(t)", [](double t) { return tanh(t); }, [](double t) { return pow(cosh(t), -2); },
       [](double t) { return -2 * sinh(t) * pow(cosh(t), -3); }},
      {"asinh(t)", [](double t) { return std::asinh(t); }, [](double t) { return pow(1 + t * t, -0.5); },
       [](double t) { return -t * pow(1 + t * t, -1.5); }},
      {"acosh(1 + t)", [](double t) { return std::acosh(1 + t); },
       [](double t) { return pow(t * (t + 2), -0.5); },
       [](double t) { return -(1 + t) * pow(t * (t + 2), -1.5); }},
      {"atanh(t)", [](double t) { return std::atanh(t); }, [](double t) { return 1 / (1 - t * t); },
       [](double t) { return 2 * t / pow(1 - t * t, 2); }},
      {"log(t)", [](double t) { return log(t); }, [](double t) { return 1 / t; },
       [](double t) { return -1 / (t * t); }},
      {"log2(t)", [](double t) { return std::log2(t); }, [=](double t) { return 1 / (ln2 * t); },
       [=](double t) { return -1 / (ln2 * t * t); }},
      {"log10(t)", [](double t) { return std::log10(t); }, [=](double t) { return 1 / (ln10 * t); },
       [=](double t) { return -1 / (ln10 * t * t); }},
      {"sqrt(t)", [](double t) { return sqrt(t); }, [](double t) { return 0.5 / sqrt(t); },
       [](double t) { return -0.25 * pow(t, -1.5); }},
      {"atan2(t, 2)", [](double t) { return std::atan2(t, 2); }, [](double t) { return 2 / (4 + t * t); },
       [](double t) { return -4 * t / pow(4 + t * t, 2); }},
      {"sum(t, t^2, sin(t))", [](double t) { return t + t * t + sin(t); },
       [](double t) { return 1 + 2 * t + cos(t); }, [](double t) { return 2 - sin(t); }},
      {"avg(t^2, 4)", [](double t) { return (t * t + 4) / 2; }, [](double t) { return t; },
       [](double) { return 1; }},
      {"min(t^2, 100)", [](double t) { return t * t; }, [](double t) { return 2 * t; },
       [](double) { return 2; }},
      {"max(t^2, 100)", [](double) { return 100; }, [](double) { return 0; }, [](double) { return 0; }},
      {"abs(-t^2)", [](double t) { return t * t; }, [](double t) { return 2 * t; }, [](double) { return 2; }},
      {"t > 5 ? 0 : t^2", [](double t) { return t * t; }, [](double t) { return 2 * t; },
       [](double) { return 2; }},
      {"sign(t) + rint(t/10) + (t < 5)", [](double) { return 2; }, [](double) { return 0; },
       [](double) { return 0; }},
      {"ramp(t, 0, 4)", [](double t) { return t / 4; }, [](double) { return 0.25; },
       [](double) { return 0; }},
      {"ramp(t, 5, 6)", [](double) { return 0; }, [](double) { return 0; }, [](double) { return 0; }},
      {"16*step(t, 0, 2)", [](double t) { return t * t * t * (20 - 15 * t + 3 * t * t); },
       [](double t) { return 15 * t * t * (2 - t) * (2 - t); },
       [](double t) { return 60 * t * (2 - t) * (1 - t); }},
  };
  for (const ClosedForm& form : forms) expect_derivatives(form, {0.02, 0.3, 0.42, 0.9});
  // the angle of an even rotation, in all quadrants: what is zero is a difference of products of about one
  for (double t = 0.1; t < 3; t += 0.4) {
    const Jet angle = Expression("atan2(3*sin(2*t), 3*cos(2*t))").jet(t);
    EXPECT_NEAR(angle.first, 2, 2e-15);
    EXPECT_NEAR(angle.second, 0, 8e-15);
  }
}

TEST(Expression, DerivativesDoNotLoseDigitsWhereTheExpressionCancels) {
  // values lose digits here, for they are computed as written: of them nothing is asked
  for (const double t : {0.0, 1e-9, 1e-6, 1e-3, 0.1}) {
    const Jet y = Expression("1 - cos(3*t)").jet(t);
    EXPECT_NEAR(y.first, 3 * std::sin(3 * t), 1e-14 * std::abs(3 * std::sin(3 * t)));
    EXPECT_NEAR(y.second, 9 * std::cos(3 * t), 9e-14);
    const Jet far = Expression("1e9 + t^2 - 1e9").jet(t);
    EXPECT_EQ(far.first, 2 * t);
    EXPECT_EQ(far.second, 2);
    const Jet root = Expression("sqrt(1 + t^2) - 1").jet(t);
    EXPECT_NEAR(root.second, std::pow(1 + t * t, -1.5), 1e-14);
    const Jet exponential = Expression("(exp(2*t) - 1 - 2*t) / 4").jet(t);
    EXPECT_NEAR(exponential.second, std::exp(2 * t), 1e-14 * std::exp(2 * t));
  }
}

TEST(Expression, PowersOfZeroHaveTheDerivativesThatExist) {
  const auto at_zero = [](const char* text) { return Expression(text).jet(0); };
  EXPECT_EQ(at_zero("t^0").first, 0);
  EXPECT_EQ(at_zero("t^1").first, 1);
  EXPECT_EQ(at_zero("t^1").second, 0);
  EXPECT_EQ(at_zero("t^2").second, 2);
  EXPECT_EQ(at_zero("t^3").second, 0);
  EXPECT_EQ(at_zero("t^1.5").first, 0);
  EXPECT_FALSE(std::isfinite(at_zero("t^1.5").second));
  EXPECT_FALSE(std::isfinite(at_zero("sqrt(t)").first));
  EXPECT_EQ(at_zero("t^(2 + t)").first, 0);
  EXPECT_EQ(at_zero("0^(2 + t)").second, 0);
  // whole powers of negative numbers, also where the exponent is chosen
  EXPECT_EQ(Expression("t^3").jet(-2).first, 12);
  EXPECT_EQ(Expression("t^(t < 0 ? 3 : 2)").jet(-2).second, -12);
  // roots of what stays zero stay, though the root has no slope there
  const Jet rest = Expression("sqrt(max(0, 1 - t))").jet(2);
  EXPECT_EQ(rest.value, 0);
  EXPECT_EQ(rest.first, 0);
  EXPECT_EQ(rest.second, 0);
  EXPECT_EQ(Expression("t + sqrt(t > 1 ? 0 : 1)").jet(2).first, 1);
}

TEST(Expression, DerivativesAtKinksAreThoseFromTheRight) {
  const auto rate = [](const char* text, double t) { return Expression(text).jet(t).first; };
  EXPECT_EQ(rate("abs(t)", 0), 1);
  EXPECT_EQ(rate("abs(-3*t)", 0), 3);
  EXPECT_EQ(rate("abs(t - 1)", 1), 1);
  EXPECT_EQ(Expression("abs(-t^2)").jet(0).second, 2);
  EXPECT_EQ(rate("max(t, 0)", 0), 1);
  EXPECT_EQ(rate("max(0, t)", 0), 1);
  EXPECT_EQ(rate("min(t, 0)", 0), 0);
  EXPECT_EQ(rate("min(0, t)", 0), 0);
  EXPECT_EQ(rate("min(-t, t^2, 2*t)", 0), -1);
  EXPECT_EQ(rate("ramp(t, 1, 3)", 1), 0.5);
  EXPECT_EQ(rate("ramp(t, 1, 3)", 3), 0);
  EXPECT_EQ(rate("ramp(-t, 1, 3)", -3), -0.5);
  // a jump: the side that gives the value
  EXPECT_EQ(rate("t < 1 ? 2*t : 3*t", 1), 3);
  EXPECT_EQ(rate("t <= 1 ? 2*t : 3*t", 1), 2);
}

TEST(Expression, DerivativesOfCompositionsAgreeWithDifferences) {
  // central differences of the value and of the first derivative over 1e-5: truncation of about 1e-10 f'''
  // and rounding of about 1e-11 f, with derivatives of up to about 1e3
  const char* texts[] = {
      "exp(sin(3*t)^2) / (1 + t^2)",
      "atan2(sin(t) + 0.2*t, exp(-t)) * tanh(t^3)",
      "(1 + t^2)^(sin(t) + 2)",
      "log(2 + cos(t*t)) - sqrt(1 + t)^3 / acosh(2 + t)",
      "asinh(t)*atanh(t/4)*log10(1 + t) + asin(t/5)^2 - acos(t/7)*2^-t",
      "step(t^2, 0.1, 2*t + 3) * ramp(t, -1, 5 + t^2)",
      "t > 0.5 ? sinh(t)*cosh(t/2) : log2(3 + t)*tan(t)",
      "max(sin(5*t), 0.3*t, -1) + min(t, 2, cos(t)) * abs(cos(7*t))",
      "-t^2*-3 + 2^-t^2 - t/-2/(3 + t)",
  };
  const double h = 1e-5;
  for (const char* text : texts)
    for (const double t : {0.11, 0.37, 0.83, 1.3}) {
      const Expression f(text);
      const Jet y = f.jet(t);
      EXPECT_NEAR(y.first, (f.value(t + h) - f.value(t - h)) / (2 * h), 1e-7) << text << " at " << t;
      EXPECT_NEAR(y.second, (f.jet(t + h).first - f.jet(t - h).first) / (2 * h), 1e-6) << text << " at " << t;
    }
}

TEST(Expression, SaysWhatWasExpectedAndWhere) {
  const std::string operand = "expected a number, t, a function or '('";
  expect_refused("5 *", "it ends too early; " + operand, 3);
  expect_refused("5 *   ", "it ends too early; " + operand, 3);
  expect_refused("-", "it ends too early; " + operand, 1);
  expect_refused("1 + * 2", "unexpected operator '*'; " + operand, 4);
  expect_refused("2**3", "unexpected operator '*'; powers are written with ^", 2);
  expect_refused("--t", "unexpected operator '-'; a second sign needs parentheses, as 2 - (-t)", 1);
  expect_refused("()", "unexpected ')'; " + operand, 1);
  expect_refused("max(1,,2)", "unexpected ','; " + operand, 6);
  expect_refused("!t", "unexpected '!'; " + operand, 0);
  expect_refused("3 t", "unexpected 't'; is an operator missing before it?", 2);
  expect_refused("2(t)", "unexpected '('; is an operator missing before it?", 1);
  expect_refused("(t) 2", "unexpected number '2'; is an operator missing before it?", 4);
  expect_refused("1.5.2", "unexpected number '.2'; is an operator missing before it?", 3);
  expect_refused("5 % t", "unexpected '%'; expected an operator or the end", 2);
  expect_refused("t & 1", "unexpected '&'; is && meant?", 2);
  expect_refused("t = 5", "nothing can be assigned; is == meant?", 2);
  expect_refused("t => 5", "unexpected '=>'; is >= meant?", 2);
  expect_refused("2 * (t + 1", "a parenthesis is not closed", 4);
  expect_refused("sin(t))", "this parenthesis closes nothing", 6);
  expect_refused("(1, 2)", "a comma stands between the arguments of a function only", 2);
  expect_refused("1,5", "a formula has one result, found a comma (numbers have a decimal point, as 1.5)", 1);
  expect_refused("t > 1 ? 2", "this '?' has no ':'; a choice is written c ? a : b", 6);
  expect_refused("(t ? 2)", "this '?' has no ':'; a choice is written c ? a : b", 3);
  expect_refused("1 : 2", "':' without a '?' before it", 2);
  expect_refused("sin + 1", "'sin' is a function; expected its arguments, as sin(t)", 0);
  expect_refused("2*ramp(t, 1)", "too few arguments of 'ramp': it takes 3, found 2", 2);
  expect_refused("atan2(t, 1, 2)", "too many arguments of 'atan2': it takes 2, found 3", 0);
  expect_refused("max()", "too few arguments of 'max': it takes one or more, found 0", 0);
  expect_refused("5*sinus(t)", "'sinus' is not known (did you mean 'sin'?)", 2);
  expect_refused("floor(t)",
                 "'floor' is not known; the time is t, functions are sin, exp, ramp, step and the like", 0);
  expect_refused("1e + t", "the exponent of '1e' has no digits", 2);
  expect_refused("1e400", "the number '1e400' is beyond the range of double precision", 0);
  // columns count characters
  expect_refused("2·t²", "unexpected '·'; expected an operator or the end", 1);
  EXPECT_NE(refusal("t\x01").find("control character"), std::string::npos);
  EXPECT_NE(refusal(" \n").find("empty"), std::string::npos);
}

TEST(Expression, RefusesWhatIsNestedTooDeeply) {
  // a polynomial of degree 80 after Horner is not
  std::string horner = "1";
  for (int i = 0; i < 80; ++i) horner = "1 + t*(" + horner + ")";
  EXPECT_EQ(value(horner, 1), 81);
  EXPECT_EQ(Expression(horner).jet(1).first, 80 * 81 / 2);
  const std::string open(100000, '(');
  EXPECT_NE(refusal(open).find("nested too deeply"), std::string::npos);
  std::string towers = "t";
  for (int i = 0; i < 1000; ++i) towers += "^t";
  EXPECT_NE(refusal(towers).find("nested too deeply"), std::string::npos);
  // more values waiting than the stack holds
  std::string waiting = "t";
  for (int i = 0; i < 60; ++i) waiting = "t || t && t < t + t*(" + waiting + ")";
  EXPECT_NE(refusal(waiting).find("nested too deeply"), std::string::npos);
}

TEST(Expression, AnyTextIsEitherAFormulaOrRefused) {
  // pieces in any order: nothing but InputError may come of them, and a value of those that parse
  const char* pieces[] = {"t",  "1", "2.5", "pi", "sin(", "ramp(", "max(", "(", ")", ",",  "+", "-",  "*",
                          "/",  "^", "<",   "==", "&&",   "||",    "?",    ":", " ", "=",  ".", "1e", "e",
                          "!=", "t", "t",   ")",  "2",    "t",     "µ",    "1", "(", "\"", "_", ")",  "t"};
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    const int length = 1 + static_cast<int>(random() % 9);
    for (int k = 0; k < length; ++k) text += pieces[random() % std::size(pieces)];
    try {
      const Expression expression(text);
      const double y = expression.value(0.3);
      const Jet jet = expression.jet(0.3);
      EXPECT_TRUE(jet.value == y || (std::isnan(y) && std::isnan(jet.value))) << text;
      ++parsed;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(parsed, 500);
}

TEST(Expression, RampsAreFoundInTheOrderInWhichTheyAreWritten) {
  using Times = std::vector<double>;
  EXPECT_EQ(Expression("ramp(t, 3, 4) + max(ramp(2*t, 1, 2), 0)").ramp_corners(), (Times{3, 4, 0.5, 1}));
  EXPECT_EQ(Expression("t > 1 ? ramp(t, 1, 2) : 0").ramp_corners(), (Times{1, 2}));
  // one inside another: the outer one's x is no line
  EXPECT_EQ(Expression("ramp(ramp(t, 0.25, 0.5), 0, 1)").ramp_corners(), (Times{0.25, 0.5}));
  // of numbers alone: none, and the one after it is not disturbed
  EXPECT_EQ(Expression("ramp(1, 2, 3) + ramp(t, 5, 6)").ramp_corners(), (Times{5, 6}));
  EXPECT_EQ(Expression("ramp(t, 0, (1 ? 2 : 3))").ramp_corners(), (Times{0, 2}));
}

}  // namespace
}  // namespace lissom::expression_test
