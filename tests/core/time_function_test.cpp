#include "lissom/core/time_function.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <thread>

#include "tests/allocation_counter.hpp"

namespace lissom::time_function_test {
namespace {

using Interpolation = TimeFunction::Interpolation;

std::string message_of(const std::string& text) {
  try {
    TimeFunction::expression(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_in(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nhas no\n" << part;
}

TEST(TimeFunction, ANumberIsAFunctionOfTime) {
  const TimeFunction f = 5;
  EXPECT_EQ(f(-3), 5);
  EXPECT_EQ(f.rate(2), 0);
  EXPECT_EQ(f.second_rate(2), 0);
  EXPECT_TRUE(f.is_constant());
  EXPECT_EQ(f.describe(), "5");
  EXPECT_EQ(TimeFunction()(1), 0);
  EXPECT_THROW(TimeFunction(std::nan("")), InputError);
}

TEST(TimeFunction, ATableOfLinesIsConstantOutside) {
  const auto f = TimeFunction::table({1, 2, 4}, {10, 20, 0});
  EXPECT_EQ(f(0), 10);
  EXPECT_DOUBLE_EQ(f(1.5), 15);
  EXPECT_DOUBLE_EQ(f(3), 10);
  EXPECT_EQ(f(4), 0);
  EXPECT_EQ(f(9), 0);
  EXPECT_DOUBLE_EQ(f.rate(1.5), 10);
  EXPECT_DOUBLE_EQ(f.rate(2), -10);  // from the right
  EXPECT_EQ(f.rate(0.5), 0);
  EXPECT_EQ(f.rate(4), 0);
  EXPECT_EQ(f.second_rate(3), 0);
  EXPECT_EQ(f.break_times(), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(f.describe(), "table of 3 points");
  EXPECT_FALSE(f.is_constant());
}

TEST(TimeFunction, ATableOfLinesJumpsWhereATimeStandsTwice) {
  const auto f = TimeFunction::table({0, 1, 1, 3}, {0, 2, 5, 9});
  EXPECT_DOUBLE_EQ(f(std::nextafter(1, 0)), 2);
  EXPECT_DOUBLE_EQ(f(1), 5);
  EXPECT_DOUBLE_EQ(f(2), 7);
  EXPECT_DOUBLE_EQ(f.rate(0.5), 2);
  EXPECT_DOUBLE_EQ(f.rate(1), 2);
  EXPECT_EQ(f.break_times(), (std::vector<double>{0, 1, 3}));
  EXPECT_EQ(f.breaks_above(0.1), (std::vector<double>{0, 1, 3}));
  EXPECT_EQ(f.first_jump(), 1);
  EXPECT_FALSE(TimeFunction::table({0, 1}, {0, 1}).first_jump());
  // at its ends, too
  const auto pulse = TimeFunction::table({0, 0, 1, 1}, {0, 4, 4, 0});
  EXPECT_EQ(pulse(-1e-9), 0);
  EXPECT_EQ(pulse(0), 4);
  EXPECT_EQ(pulse(0.999), 4);
  EXPECT_EQ(pulse(1), 0);
  EXPECT_EQ(pulse.break_times(), (std::vector<double>{0, 1}));
}

TEST(TimeFunction, KinksOfATableMatterWhereItsChordsAreFarFromASmoothCurve) {
  // chords of sin(2 pi t) are (2 pi dt)^2 / 8 off the curve at most: 4.9e-8 with 10,000 points a period
  const auto sine = [](int points, double bend) {
    std::vector<double> x, y;
    for (int i = 0; i <= points; ++i) {
      x.push_back(static_cast<double>(i) / points);
      y.push_back(std::sin(2 * std::numbers::pi * x.back()) + bend * std::abs(x.back() - 0.4));
    }
    return TimeFunction::table(x, y);
  };
  EXPECT_EQ(sine(10000, 0).break_times().size(), 10001u);
  EXPECT_EQ(sine(10000, 0).breaks_above(1e-6), (std::vector<double>{0, 1}));
  EXPECT_EQ(sine(10000, 0).breaks_above(6e-8), (std::vector<double>{0, 1}));
  // at 4e-8 those near the top and the bottom matter: |sin| > 4/4.93 over 0.4 of a period
  EXPECT_NEAR(static_cast<double>(sine(10000, 0).breaks_above(4e-8).size()), 3971, 40);
  // a hundred points are too coarse for 1e-6 wherever the sine bends
  EXPECT_GT(sine(100, 0).breaks_above(1e-6).size(), 98u);
  // one kink among them, of 2 in the slope: 2.5e-5
  EXPECT_EQ(sine(10000, 1).breaks_above(1e-6), (std::vector<double>{0, 0.4, 1}));
  // whatever the unit
  EXPECT_EQ(sine(10000, 1).scaled(1e3).breaks_above(1e-6).size(), 3u);
}

TEST(TimeFunction, ACubicTableIsExactForCubics) {
  // not-a-knot: any cubic is its own spline, at uneven points too; rounding of the tridiagonal solve only
  const auto cubic = [](double t) { return 2 - t + 0.5 * t * t + 3 * t * t * t; };
  const std::vector<double> times = {0, 0.3, 0.4, 1.1, 1.5, 2};
  for (size_t n : {4u, 5u, 6u}) {
    std::vector<double> x(times.begin(), times.begin() + n), y;
    for (double t : x) y.push_back(cubic(t));
    const auto f = TimeFunction::table(x, y, Interpolation::Cubic);
    for (double t = 0; t < x.back(); t += 0.05) {
      EXPECT_NEAR(f(t), cubic(t), 1e-13 * 30);
      EXPECT_NEAR(f.rate(t), -1 + t + 9 * t * t, 1e-13 * 100);
      EXPECT_NEAR(f.second_rate(t), 1 + 18 * t, 1e-12 * 100);
    }
  }
  const auto parabola = TimeFunction::table({0, 1, 3}, {0, 1, 9}, Interpolation::Cubic);
  EXPECT_NEAR(parabola(2), 4, 1e-14);
  EXPECT_NEAR(parabola.second_rate(2), 2, 1e-14);
  EXPECT_DOUBLE_EQ(TimeFunction::table({0, 1}, {0, 1}, Interpolation::Cubic)(0.25), 0.25);
}

TEST(TimeFunction, ACubicTableConvergesWithFourthOrder) {
  const auto error = [](int n) {
    std::vector<double> x, y;
    for (int i = 0; i <= n; ++i) {
      x.push_back(i * 3.0 / n);
      y.push_back(std::sin(x.back()));
    }
    const auto f = TimeFunction::table(x, y, Interpolation::Cubic);
    double largest = 0;
    for (double t = 0; t < 3; t += 0.001) largest = std::max(largest, std::abs(f(t) - std::sin(t)));
    return largest;
  };
  // fourth order in the limit, a little less or more where the end intervals decide
  EXPECT_NEAR(std::log2(error(40) / error(80)), 4, 0.3);
}

TEST(TimeFunction, RefusesBadTables) {
  EXPECT_THROW(TimeFunction::table({0, 1}, {0}), InputError);
  EXPECT_THROW(TimeFunction::table({0}, {0}), InputError);
  EXPECT_THROW(TimeFunction::table({0, 1, 0.5}, {0, 1, 2}), InputError);
  EXPECT_THROW(TimeFunction::table({0, 1, 1, 1}, {0, 1, 2, 3}), InputError);
  EXPECT_THROW(TimeFunction::table({1, 1}, {1, 2}), InputError);
  EXPECT_THROW(TimeFunction::table({0, 1, 1, 2}, {0, 1, 2, 3}, Interpolation::Cubic), InputError);
  EXPECT_THROW(TimeFunction::table({0, std::nan("")}, {0, 1}), InputError);
}

TEST(TimeFunction, EvaluatesExpressions) {
  const auto f = TimeFunction::expression("5 * sin(2*pi*t) + (t > 1 ? 1 : 0)");
  EXPECT_NEAR(f(0.25), 5, 1e-14);
  EXPECT_NEAR(f(1.25), 6, 1e-14);
  EXPECT_FALSE(f.is_constant());
  EXPECT_EQ(f.describe(), "5 * sin(2*pi*t) + (t > 1 ? 1 : 0)");
  EXPECT_TRUE(TimeFunction::expression("2 * pi").is_constant());
  EXPECT_EQ(TimeFunction::expression("2 * pi").rate(1), 0);
  EXPECT_DOUBLE_EQ(TimeFunction::expression("t <= 1").operator()(0.5), 1);
}

TEST(TimeFunction, RampsAndSteps) {
  const auto r = TimeFunction::expression("ramp(t, 1, 3)");
  EXPECT_EQ(r(0.5), 0);
  EXPECT_DOUBLE_EQ(r(1.5), 0.25);
  EXPECT_EQ(r(7), 1);
  const auto s = TimeFunction::expression("step(t, 1, 3)");
  EXPECT_EQ(s(1), 0);
  EXPECT_DOUBLE_EQ(s(2), 0.5);
  EXPECT_DOUBLE_EQ(s(1.5), 10 / 64.0 - 15 / 256.0 + 6 / 1024.0);
  EXPECT_EQ(s(3), 1);
  // from the right at the corners of a ramp; those of a step have none
  EXPECT_EQ(r.rate(1), 0.5);
  EXPECT_EQ(r.rate(3), 0);
  EXPECT_EQ(s.rate(1), 0);
  EXPECT_EQ(s.rate(3), 0);
  EXPECT_EQ(s.second_rate(1), 0);
  EXPECT_EQ(s.second_rate(3), 0);
  EXPECT_DOUBLE_EQ(TimeFunction::expression("ramp(t, 2, 2)").operator()(2), 1);
}

TEST(TimeFunction, DerivativesOfExpressionsAreExact) {
  // from slow to acoustic, near zero and late: rounding of the phase costs eps omega t, and sine and cosine
  // a few eps
  for (double omega : {0.05, 1.0, 314.0, 2e4})
    for (double t : {0.0, 0.37, 20.0}) {
      const auto f = TimeFunction::expression(fmt::format("3 * sin({} * t + 0.3)", omega));
      const double phase = omega * t + 0.3;
      EXPECT_NEAR(f.rate(t) / (3 * omega), std::cos(phase), 1e-15 + 2.2e-16 * omega * t)
          << omega << " at " << t;
      EXPECT_NEAR(f.second_rate(t) / (3 * omega * omega), -std::sin(phase), 1e-15 + 2.2e-16 * omega * t)
          << omega << " at " << t;
    }
  EXPECT_EQ(TimeFunction::expression("t^3").second_rate(2), 12);
  // a drive that starts from rest: the second rate is the torque of a unit inertia
  const auto drive = TimeFunction::expression("1 - cos(3*t)");
  for (int i = 0; i <= 1000; ++i) {
    const double t = 1e-3 * i;
    EXPECT_NEAR(drive.second_rate(t), 9 * std::cos(3 * t), 9e-15);
    EXPECT_NEAR(drive.rate(t), 3 * std::sin(3 * t), 3e-15);
  }
}

TEST(TimeFunction, PointsAtWhatDoesNotParse) {
  const std::string message = message_of("5 * sinus(t)");
  expect_in(message, "'sinus' is not known (did you mean 'sin'?)");
  expect_in(message, "\n  5 * sinus(t)\n      ^");
  expect_in(message_of("ram(t, 0, 1)"), "did you mean 'ramp'?");
  expect_in(message_of("2 * (t + 1"), "a parenthesis is not closed\n  2 * (t + 1\n      ^");
  expect_in(message_of("3 t"), "is an operator missing before it?\n  3 t\n    ^");
  expect_in(message_of("ramp(t, 1)"), "too few arguments");
  expect_in(message_of("sin(t, 1)"), "too many arguments");
  expect_in(message_of("5 *"), "it ends too early; expected a number, t, a function or '('\n  5 *\n     ^");
  expect_in(message_of("t = 5"), "nothing can be assigned; is == meant?\n  t = 5\n    ^");
  expect_in(message_of("1, 2"), "one result");
  expect_in(message_of("  "), "empty");
  expect_in(message_of("5 $ t"), "\n  5 $ t\n    ^");
}

TEST(TimeFunction, NamesExpressionAndTimeOfAResultThatIsNotFinite) {
  const auto f = TimeFunction::expression("1 / (t - 2)");
  EXPECT_DOUBLE_EQ(f(3), 1);
  try {
    f(2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "expression '1 / (t - 2)' gives inf at t = 2 s");
  }
  EXPECT_THROW(TimeFunction::expression("sqrt(t)")(-1), Error);
  // beyond the domain a slope of the formula is none of the function
  EXPECT_THROW(TimeFunction::expression("log(t)").rate(-1), Error);
  const auto root = TimeFunction::expression("sqrt(t)");
  EXPECT_EQ(root(0), 0);
  try {
    root.rate(0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "expression 'sqrt(t)' has no first derivative at t = 0 s: the chain rule gives inf");
  }
}

TEST(TimeFunction, ScalesWhatItIs) {
  const auto f = TimeFunction::expression("t^2").scaled(3);
  EXPECT_DOUBLE_EQ(f(2), 12);
  EXPECT_NEAR(f.rate(2), 12, 1e-8);
  EXPECT_EQ(f.describe(), "3 * (t^2)");
  EXPECT_EQ(TimeFunction(2).scaled(3).describe(), "6");
}

#if LISSOM_COUNTS_MALLOC
TEST(TimeFunction, AnExpressionMayHaveItsTimeInAnotherUnit) {
  for (const double unit : {0.001, 60.0, 1e-6})
    for (const char* text : {"sin(3*{0}) + {0}^2*exp(-{0}/2)", "step({0}, 0.5, 2) - 4*sqrt(1 + {0}^2)",
                             "cos({0}) ? {0}^3 : 1"}) {
      const std::string plain = fmt::format(fmt::runtime(text), "t");
      const TimeFunction f = TimeFunction::expression(plain, unit);
      // what the text says with (t/unit) in place of t: the same but for the rounding of derivatives
      const TimeFunction written =
          TimeFunction::expression(fmt::format(fmt::runtime(text), fmt::format("(t/{})", unit)));
      for (const double x : {-0.7, 0.25, 1.1, 1.9, 3.5}) {
        SCOPED_TRACE(fmt::format("{}, unit {}, t/unit {}", plain, unit, x));
        const double t = x * unit;
        EXPECT_EQ(f(t), written(t));
        EXPECT_NEAR(f.rate(t) * unit, written.rate(t) * unit, 1e-13 * (1 + std::abs(f.rate(t) * unit)));
        EXPECT_NEAR(f.second_rate(t) * unit * unit, written.second_rate(t) * unit * unit,
                    1e-13 * (1 + std::abs(f.second_rate(t) * unit * unit)));
        // central differences, whose error is h^2/6 times a third derivative, below 100 here
        const double h = 1e-4;
        EXPECT_NEAR((f(t + h * unit) - f(t - h * unit)) / (2 * h), f.rate(t) * unit, 1e-6);
        EXPECT_NEAR((f.rate(t + h * unit) - f.rate(t - h * unit)) * unit / (2 * h),
                    f.second_rate(t) * unit * unit, 1e-6);
      }
    }
  // corners are times in seconds, texts stay as they are, and messages have both times
  const TimeFunction ramp = TimeFunction::expression("ramp(t, 20, 50)", 0.001);
  EXPECT_EQ(ramp.break_times(), (std::vector<double>{0.02, 0.05}));
  EXPECT_EQ(ramp.describe(), "ramp(t, 20, 50)");
  try {
    TimeFunction::expression("1/(t - 2)", 0.001)(0.002);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "expression '1/(t - 2)' gives inf at t = 2 (0.002 s)");
  }
}

TEST(TimeFunction, EvaluationAllocatesNothing) {
  const auto f = TimeFunction::expression("5 * sin(2*t) + ramp(t, 0, 1) * (t > 1 ? t : 2*t)");
  const TimeFunction copy = f.scaled(2);
  double sum = 0;
  const long before = test::allocations;
  for (double t = 0; t < 1; t += 0.01) sum += f(t) + copy(t) + copy.rate(t) + copy.second_rate(t);
  EXPECT_EQ(test::allocations - before, 0);
  EXPECT_NE(sum, 0);
}
#endif

TEST(TimeFunction, CopiesWorkInSeveralThreads) {
  const auto f = TimeFunction::expression("2 * t + sin(t)");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([f, i, &wrong] {
      for (int k = 0; k < 20000; ++k) {
        const double t = i + 1e-4 * k;
        wrong[i] += std::abs(f(t) - (2 * t + std::sin(t))) > 1e-14 * (1 + 2 * t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>{0, 0, 0, 0}));
}

TEST(TimeFunction, RampsInExpressionsBreakWhereTheirCornersAre) {
  using Times = std::vector<double>;
  EXPECT_EQ(TimeFunction::expression("5 * ramp(t, 0, 0.01)").break_times(), (Times{0, 0.01}));
  // in milliseconds, with sums, twice
  EXPECT_EQ(TimeFunction::expression("ramp((t*1000), 1+1, 10/2)").break_times(), (Times{0.002, 0.005}));
  EXPECT_EQ(TimeFunction::expression("ramp(t,1,2) - ramp( t , 3, 4)").break_times(), (Times{1, 2, 3, 4}));
  // corners that are not known: no line, bounds that move; a smooth step has none
  EXPECT_TRUE(TimeFunction::expression("ramp(t*t, 1, 2)").break_times().empty());
  EXPECT_TRUE(TimeFunction::expression("ramp(t, t/2, 2)").break_times().empty());
  EXPECT_TRUE(TimeFunction::expression("step(t, 0, 1) + sin(t)").break_times().empty());
}

}  // namespace
}  // namespace lissom::time_function_test
