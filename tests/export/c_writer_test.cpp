// Generated C against the library: compiled with warnings as errors, and run.
#include "lissom/export/c_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "lissom/core/child_process.hpp"
#include "tests/export/form_mechanism.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What a program says, with its exit code.
std::pair<int, std::string> said(const std::filesystem::path& folder, const std::string& program,
                                 const std::vector<std::string>& arguments) {
  ChildOptions options;
  options.program = program;
  options.arguments = arguments;
  options.output = folder / "output.txt";
  options.messages = folder / "messages.txt";
  ChildProcess child(options);
  child.wait();
  return {child.exit_code().value_or(-1), text_of(options.output) + text_of(options.messages)};
}

// Compiles and runs the program that checks a model.
std::pair<int, std::string> checked(const CFiles& files, const std::string& compiler,
                                    std::vector<std::string> flags) {
  const TemporaryFolder folder;
  folder.write(files.header_name, files.header);
  const auto source = folder.write(files.source_name, files.source),
             test = folder.write(files.test_name, files.test);
  flags.insert(flags.end(), {source.string(), test.string(), "-o", (folder / "check").string(), "-lm"});
  auto done = said(folder.path(), compiler, flags);
  if (done.first != 0 || !done.second.empty()) return {-1, done.second};
  return said(folder.path(), (folder / "check").string(), {});
}

const std::vector<std::string> strict = {"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"};

TEST(CWriter, MechanismWithAllLoadsAgreesWithTheLibraryWithoutAnyWarning) {
  for (const bool damped : {true, false}) {
    const CFiles files = c_files(test::form_mechanism(damped));
    for (const char* compiler : {"/usr/bin/gcc", "/usr/bin/clang-14"}) {
      const auto [code, text] = checked(files, compiler, strict);
      EXPECT_EQ(code, 0) << compiler << ": " << text;
    }
  }
}

TEST(CWriter, MechanismIsCleanUnderSanitizers) {
  const auto [code, text] =
      checked(c_files(test::form_mechanism()), "/usr/bin/gcc",
              {"-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
  EXPECT_EQ(code, 0) << text;
}

TEST(CWriter, DerivativesOfTheModelThatProgramsAreComparedWithAreThoseOfDifferences) {
  const ExportModel model = test::form_mechanism();
  test::FormEquations equations(model);
  const Eigen::Index m = 6;
  for (const ExportTestPoint& point : model.points)
    for (Eigen::Index j = 0; j < 2 * m; ++j) {
      Eigen::VectorXd f[2];
      const double step = 1e-6;
      for (int side = 0; side < 2; ++side) {
        Eigen::VectorXd x = point.x;
        x[j] += side == 0 ? -step : step;
        State state;
        state.t = point.t;
        state.q = x.head(m);
        state.v = x.tail(m);
        equations.u = point.u;
        f[side].resize(2 * m);
        f[side] << state.v, equations.acceleration(state);
      }
      // central differences: step^2 times third derivatives, and round-off over the step
      EXPECT_LT(((f[1] - f[0]) / (2 * step) - point.J.col(j)).norm(), 1e-7 * point.J.norm());
    }
}

// A linear model whose inputs are these functions, and nothing else.
ExportModel functions_of_time(const std::vector<TimeFunction>& functions) {
  ExportModel model;
  model.name = "functions";
  model.title = "functions of time";
  model.method = "linear, 1 state";
  model.made = "exported by Lissom test";
  model.end = model.step = model.sample = 1;
  const auto p = static_cast<Eigen::Index>(functions.size());
  for (Eigen::Index i = 0; i < p; ++i) {
    model.inputs.push_back({"u" + std::to_string(i), "1"});
    model.drives.push_back({{functions[static_cast<size_t>(i)], TimeFunction(1)}, {2, 0.25}});
  }
  const auto zero = [](Eigen::Index rows, Eigen::Index columns) {
    return Eigen::MatrixXd::Zero(rows, columns);
  };
  model.linear = ExportLinear{zero(1, 1),
                              zero(1, p),
                              zero(0, 1),
                              zero(0, p),
                              Eigen::VectorXd::Zero(p),
                              Eigen::VectorXd(),
                              Eigen::VectorXd::Ones(1)};
  model.start = model.state_scale = Eigen::VectorXd::Ones(1);
  ExportTestPoint point;
  point.x = model.start;
  point.u = Eigen::VectorXd::Zero(p);
  point.f = Eigen::VectorXd::Zero(1);
  point.J = zero(1, 1);
  point.B = zero(1, p);
  point.y.resize(0);
  model.points = {point};
  model.run = ExportTestRun{1, Eigen::VectorXd::Ones(1), Eigen::MatrixXd::Ones(1, 1)};
  return model;
}

TEST(CWriter, FunctionsOfTimeHaveTheSameValuesInC) {
  std::vector<TimeFunction> functions;
  for (const char* text :
       {"sin(t) + cos(2*t) - tan(t/3)", "asin(t/4) + acos(t/4) + atan(t)", "sinh(t) + cosh(t) - tanh(t)",
        "asinh(t) + acosh(1.5 + t*t) + atanh(t/4)",
        "exp(-t) + log(3 + t) + ln(2 + t) + log2(4 + t) + log10(5 + t)", "sqrt(3 + t) * abs(t - 1) - sign(t)",
        "rint(3*t) + atan2(t, -1)", "min(t, 1, 0.5) + max(t, 0, 0.25)", "sum(t, 2, t) / avg(1, t + 4)",
        "ramp(t, 0, 1.5) + step(t, -1, 1)", "ramp(t, 1, 1) + step(t, 2, 0)",
        "t^2 + t^1 + (t + 5)^t + 2^-t + t^0", "-t^2 * -3 / (t - 7)", "t < 0.5 ? 1 : t < 1 ? 2 : 3",
        "(t > 1 || t < -1) && t != 0.5 ? t : -t", "(t <= 1) + (t >= 0) + (t == 0.5)",
        "t > 0 ? (t > 1 ? 1 : t) : 0", "pi * _e + 1e-3 * t", "abs(-0.0*t)"})
    functions.push_back(TimeFunction::expression(text));
  functions.push_back(TimeFunction::expression("ramp(t, 20, 500) * 7", 1e-3).scaled(-3));
  functions.push_back(TimeFunction::table({-1, 0, 0.5, 1.25}, {2, -1, 3, 0.5}));
  functions.push_back(
      TimeFunction::table({-1, 0, 0.5, 1.25, 2}, {2, -1, 3, 0.5, 1}, TimeFunction::Interpolation::Cubic));
  functions.push_back(TimeFunction::table({0, 1}, {2, -1}, TimeFunction::Interpolation::Cubic).scaled(0.1));
  const CFiles files = c_files(functions_of_time(functions));
  const TemporaryFolder folder;
  folder.write(files.header_name, files.header);
  std::vector<std::string> arguments = strict;
  arguments.push_back(folder.write(files.source_name, files.source).string());
  arguments.push_back(folder
                          .write("print.c", R"(#include "lissom_functions.h"
#include <stdio.h>
int main(void) {
  double u[LISSOM_FUNCTIONS_INPUTS];
  int i, k;
  for (k = -12; k <= 20; k++) {
    lissom_functions_inputs(k * 0.125, u);
    for (i = 0; i < LISSOM_FUNCTIONS_INPUTS; i++) printf("%.17g\n", u[i]);
  }
  return 0;
}
)")
                          .string());
  arguments.insert(arguments.end(), {"-o", (folder / "print").string(), "-lm"});
  const auto built = said(folder.path(), "/usr/bin/gcc", arguments);
  ASSERT_EQ(built.first, 0) << built.second;
  std::istringstream printed(said(folder.path(), (folder / "print").string(), {}).second);
  for (int k = -12; k <= 20; ++k)
    for (size_t i = 0; i < functions.size(); ++i) {
      double found = 0;
      ASSERT_TRUE(printed >> found);
      const double expected = 2 * functions[i](k * 0.125) + 0.25;
      // the compiler may contract products and sums
      EXPECT_NEAR(found, expected, 1e-14 * std::max(1.0, std::abs(expected)))
          << functions[i].describe() << " at " << k * 0.125;
    }
}

TEST(CWriter, ModelsWithoutInputsOutputsAndStatesCompileWithoutWarnings) {
  ExportModel model = functions_of_time({});
  const auto [code, text] = checked(c_files(model), "/usr/bin/gcc", strict);
  EXPECT_EQ(code, 0) << text;
}

// One number wrong, and the program says so.
TEST(CWriter, ProgramThatChecksAModelSeesAWrongNumber) {
  ExportModel model = test::form_mechanism();
  model.mechanism->rows[3](2, 4) += 1e-5;
  model.mechanism->rows[3](4, 2) += 1e-5;
  const auto [code, text] = checked(c_files(model), "/usr/bin/gcc", {"-std=c99"});
  EXPECT_EQ(code, 1) << text;
  EXPECT_NE(text.find("WRONG"), std::string::npos);
}

TEST(CWriter, SinglePrecisionIsForLinearModelsOnly) {
  COptions options;
  options.single_precision = true;
  try {
    c_files(test::form_mechanism(), options);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("--float"), std::string::npos);
  }
}

TEST(CWriter, ModelsWhoseStepsWouldNotFitOnAStackAreRefused) {
  // one state and fifty inputs
  const ExportModel model = functions_of_time(std::vector<TimeFunction>(50, TimeFunction(1)));
  EXPECT_THROW(c_files(model), InputError);
}

TEST(CWriter, NamesOfModelsAreIdentifiers) {
  EXPECT_EQ(identifier("Four-bar (SLAP), 2"), "Four_bar_SLAP_2");
  EXPECT_EQ(identifier("2nd try"), "m2nd_try");
  EXPECT_EQ(identifier("\xc3\xa4\xc3\xb6"), "model");
  EXPECT_EQ(identifier("__x__"), "x");
}

}  // namespace
}  // namespace lissom
