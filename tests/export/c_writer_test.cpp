// Generated C against the library: compiled with warnings as errors, and run.
#include "lissom/export/c_writer.hpp"

#include <gtest/gtest.h>

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

TEST(CWriter, NamesOfModelsAreIdentifiers) {
  EXPECT_EQ(identifier("Four-bar (SLAP), 2"), "Four_bar_SLAP_2");
  EXPECT_EQ(identifier("2nd try"), "m2nd_try");
  EXPECT_EQ(identifier("\xc3\xa4\xc3\xb6"), "model");
  EXPECT_EQ(identifier("__x__"), "x");
}

}  // namespace
}  // namespace lissom
