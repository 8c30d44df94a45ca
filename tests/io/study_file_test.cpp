#include "lissom/io/study_file.hpp"

#include <gtest/gtest.h>

#include "lissom/core/atomic_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::study_file_test {
namespace {

// Parses a study beside which there is a (never opened) file part.msh.
struct Parser {
  TemporaryFolder folder;
  Parser() {
    AtomicFile file(folder.path() / "part.msh");
    file.write("x");
    file.commit();
  }
  StudyFile operator()(const std::string& text) const { return parse_study(text, folder.path() / "s.toml"); }
  std::string problems(const std::string& text) const {
    try {
      (*this)(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no problem";
  }
};

TEST(StudyFile, EverythingOfABodyIsRead) {
  const Parser parse;
  const StudyFile study = parse(R"(
title = "a study"
units = "mm-t-s"
[bodies.rod]
mesh = "part.msh"
mass = "lumped"
material = { E = 70e3, nu = 0.33, rho = 2.7e-9 }
[[bodies.rod.spiders]]
name = "pin"
kind = "averaging"
cylinder = { point = [0, 0, 1], axis = [0, 0, 1], radius = 10, tolerance = 0.5, from = -1, to = 2 }
reference = [1, 2, 3]
[bodies.rod.modes]
count = 20
fix = ["pin", "node 3"]
paraview = false
)");
  EXPECT_EQ(study.title, "a study");
  ASSERT_EQ(study.bodies.size(), 1u);
  const BodySpec& rod = study.bodies[0];
  EXPECT_EQ(rod.name, "rod");
  EXPECT_EQ(rod.units.length, 1e-3);
  EXPECT_EQ(rod.mass, MassKind::Lumped);
  EXPECT_EQ(rod.material->isotropic->E, 70e3);
  ASSERT_EQ(rod.spiders.size(), 1u);
  EXPECT_EQ(rod.spiders[0].kind, Spider::Kind::Averaging);
  const auto& cylinder = std::get<CylinderSelection>(rod.spiders[0].nodes);
  EXPECT_EQ(cylinder.radius_min, 9.5);
  EXPECT_EQ(cylinder.axial_max, 2);
  EXPECT_EQ(rod.spiders[0].reference->z(), 3);
  EXPECT_EQ(rod.modes->count, 20);
  EXPECT_EQ(rod.modes->fix, (std::vector<std::string>{"pin", "node 3"}));
  EXPECT_FALSE(rod.paraview);
}

TEST(StudyFile, AllProblemsAreListedAtOnceWithLineAndKey) {
  const Parser parse;
  const std::string text = parse.problems(R"(
[bodies.rod]
mesh = "nowhere.msh"
mas = "lumped"
material = { E = -1, nu = 0.7, rho = "heavy" }
[bodies.rod.modes]
count = 2.5
)");
  for (const char* expected :
       {"s.toml:3: bodies.rod.mesh: there is no file",
        "s.toml:4: bodies.rod.mas: unknown key; did you mean 'mass'?",
        "bodies.rod.material.E: is -1, expected a positive number", "bodies.rod.material.nu: is 0.7",
        "bodies.rod.material.rho: expected a number, found \"heavy\"",
        "s.toml:7: bodies.rod.modes.count: expected a whole number, found 2.5"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nin\n" << text;
}

TEST(StudyFile, WrongChoicesSayWhatThereIs) {
  const Parser parse;
  const std::string text = parse.problems(R"(
units = "mm-t"
[bodies.rod]
mesh = "part.msh"
mass = "lump"
[[bodies.rod.spiders]]
kind = "stiff"
set = "a"
nodes = [1, 2]
)");
  for (const char* expected :
       {"s.toml:2: units:", "'lump' is none of consistent, lumped, calculix; did you mean 'lumped'?",
        "bodies.rod.spiders[1].name: is missing", "'stiff' is none of rigid, averaging",
        "exactly one of nodes"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nin\n" << text;
}

TEST(StudyFile, ASyntaxErrorHasItsLine) {
  const Parser parse;
  EXPECT_NE(parse.problems("title = \"a\"\n[bodies.rod\nmesh = 3\n").find("s.toml:2: is no valid TOML"),
            std::string::npos)
      << parse.problems("title = \"a\"\n[bodies.rod\nmesh = 3\n");
  EXPECT_NE(parse.problems("").find("bodies: is missing"), std::string::npos);
  EXPECT_NE(parse.problems("[bodies.rod]\n").find("a body needs mesh"), std::string::npos);
}

TEST(StudyFile, GcmsTakesANumberOfModesOrTheirNumbers) {
  const Parser parse;
  const std::string body = "[bodies.a]\nmesh = \"part.msh\"\n[bodies.a.gcms]\n";
  const GcmsSpec plain = *parse(body).bodies[0].gcms;
  EXPECT_EQ(plain.modes.size(), 12u);
  EXPECT_TRUE(plain.scalar);
  EXPECT_FALSE(plain.algorithm_1);
  EXPECT_EQ(plain.scalar_options.truncation, 1e-4);
  EXPECT_EQ((*parse(body + "modes = 3\n").bodies[0].gcms).modes, (std::vector<int>{1, 2, 3}));
  const GcmsSpec all = *parse(body +
                              "modes = [7, 2]\nmethod = \"both\"\ntruncation = 1e-3\nthreshold = 0.98\n"
                              "condition = 50\nthresholds = [1, 0.9]\npair_angle = 180\n")
                            .bodies[0]
                            .gcms;
  EXPECT_EQ(all.modes, (std::vector<int>{7, 2}));
  EXPECT_TRUE(all.scalar && all.algorithm_1);
  EXPECT_EQ(all.scalar_options.truncation, 1e-3);
  EXPECT_EQ(all.algorithm_1_options.threshold, 0.98);
  EXPECT_EQ(all.algorithm_1_options.desired_condition, 50);
  EXPECT_EQ(all.thresholds, (std::vector<double>{1, 0.9}));
  EXPECT_DOUBLE_EQ(all.pair_angle.value(), 3.141592653589793);

  // line 4 is the first of the table
  const std::string problems =
      parse.problems(body +
                     "modes = [0, 3, 3]\nmethod = \"best\"\ntruncation = 1\nthreshold = 0\ncondition = 0.5\n"
                     "thresholds = [2]\ntreshold = 1\n");
  for (const char* text :
       {"s.toml:4: bodies.a.gcms.modes: 0 is no number", "mode 3 is there twice",
        "s.toml:5: bodies.a.gcms.method: 'best' is none of", "s.toml:6: bodies.a.gcms.truncation: is 1",
        "s.toml:7: bodies.a.gcms.threshold: is 0", "s.toml:8: bodies.a.gcms.condition: is 0.5",
        "s.toml:9: bodies.a.gcms.thresholds: 2 is no cosine", "did you mean 'threshold'?"})
    EXPECT_NE(problems.find(text), std::string::npos) << text << " in\n" << problems;
  EXPECT_NE(parse.problems(body + "modes = 0\n").find("gcms.modes: is 0"), std::string::npos);
  EXPECT_NE(parse.problems(body + "modes = []\n").find("the list is empty"), std::string::npos);
}

}  // namespace
}  // namespace lissom::study_file_test
