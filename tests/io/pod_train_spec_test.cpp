#include "lissom/io/pod_train_spec.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lissom/io/study_file.hpp"
#include "lissom/io/study_keys.hpp"
#include "lissom/rom/pod/parameter_plan.hpp"

namespace lissom::pod_train_spec_test {
namespace {

using Eigen::VectorXd;

const std::string beams = R"(
gravity = [0, -9.81, 0]
[bodies.b]
formulation = "ancf"
from = [0, 0]
to = [1, 0]
elements = 4
section = { rectangle = [0.03, 0.03] }
young = 2e6
mass = 0.3
[bodies.a]
formulation = "ancf"
from = [1, 0]
to = [2, 0]
elements = 4
section = { rectangle = [0.03, 0.03] }
young = 2e6
mass = 0.4
[[joints]]
name = "O"
kind = "revolute"
between = ["ground", "b.start"]
[[joints]]
name = "P"
kind = "revolute"
between = ["b.end", "a.start"]
[[loads]]
name = "push"
kind = "force"
on = "a.end"
force = [0, 1, 0]
factor = 2
[simulate]
step = 1e-3
end = 0.1
)";
const std::string two = R"([train]
method = "pod"
[train.parameters.load]
key = "loads.push.factor"
values = [1, 2, 4]
[train.parameters.soft]
keys = ["bodies.a.young", "bodies.b.young"]
scale = 1e6
values = [1, 3]
)";

StudyFile parsed(const std::string& text, const std::vector<StudySetting>& settings = {}) {
  return parse_study(text, "s.toml", {}, settings);
}

void expect_problem(const std::string& text, const std::vector<std::string>& messages) {
  std::string found = "no problem";
  try {
    parsed(text);
  } catch (const InputError& e) {
    found = e.what();
  }
  for (const std::string& message : messages)
    EXPECT_NE(found.find(message), std::string::npos) << message << "\nin\n" << found;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(PodTrainSpec, AFactorialPlanHasAllCombinationsAndTheStudyItsOwnValues) {
  const StudyFile study = parsed(beams + two);
  ASSERT_TRUE(study.train && study.train->pod);
  const PodTrainSpec& spec = *study.train->pod;
  ASSERT_EQ(spec.points.cols(), 6);
  EXPECT_EQ(VectorXd(spec.points.col(1)), VectorXd(Eigen::Vector2d(1, 3)));
  EXPECT_EQ(VectorXd(spec.points.col(4)), VectorXd(Eigen::Vector2d(4, 1)));
  // in units of the parameters
  EXPECT_EQ(study.pod_parameters, VectorXd(Eigen::Vector2d(2, 2)));
}

TEST(PodTrainSpec, SettingsOfASampleAreReadBackAsItsParameters) {
  const PodTrainSpec spec = *parsed(beams + two).train->pod;
  const VectorXd p = Eigen::Vector2d(0.123456789012345, 1.7);
  const auto settings = settings_of(spec.parameters, p);
  ASSERT_EQ(settings.size(), 3u);
  const StudyFile changed = parsed(beams + two, settings);
  // a value times a scale and back is exact to the last digit or two
  EXPECT_NEAR(changed.pod_parameters[0], p[0], 1e-16);
  EXPECT_NEAR(changed.pod_parameters[1], p[1], 1e-15);
  EXPECT_EQ(changed.bodies[0].name, "b");
  // the changed study as text is the changed study, bodies in the same order
  const StudyFile again = parsed(changed.text);
  EXPECT_EQ(again.pod_parameters, changed.pod_parameters);
  EXPECT_EQ(again.bodies[0].name, "b");
  EXPECT_EQ(again.simulation->joints[1].name, "P");
}

TEST(PodTrainSpec, AParameterCanBeSetByItsNameAndInCases) {
  const std::string cases = R"([[cases]]
name = "x"
set = { "loads.push.factor" = 3 }
)";
  const StudyFile study = parsed(beams + two + cases);
  EXPECT_EQ(study.cases[0].study.pod_parameters[0], 3);
  // what is asked for from outside wins
  const StudyFile set = parsed(beams + two + cases, {{"load", "5"}, {"soft", "2.5"}});
  EXPECT_EQ(set.pod_parameters, VectorXd(Eigen::Vector2d(5, 2.5)));
  EXPECT_EQ(set.cases[0].study.pod_parameters[0], 5);
}

TEST(PodTrainSpec, AListTakesValuesSideBySideOrSamples) {
  const std::string list = replaced(two, "method = \"pod\"", "method = \"pod\"\nplan = \"list\"");
  const auto zipped = parsed(beams + replaced(list, "[1, 2, 4]", "[1, 4]"));
  EXPECT_EQ(zipped.train->pod->points.cols(), 2);
  EXPECT_EQ(zipped.train->pod->points(0, 1), 4);
  EXPECT_EQ(zipped.train->pod->points(1, 1), 3);
  expect_problem(beams + list, {"'load' has 3 values and 'soft' 2"});
  std::string samples = replaced(replaced(list, "values = [1, 2, 4]\n", ""), "values = [1, 3]\n", "");
  samples = replaced(samples, "plan = \"list\"",
                     "plan = \"list\"\nsamples = [{ load = 1, soft = 2 }, { load = 3, soft = 2 }]");
  EXPECT_EQ(parsed(beams + samples).train->pod->points(0, 1), 3);
  expect_problem(beams + replaced(samples, "load = 3", "laod = 3"), {"there is no such parameter", "'load'"});
}

TEST(PodTrainSpec, WhatIsWrongIsNamed) {
  expect_problem(beams + replaced(two, "loads.push.factor", "loads.pull.factor"),
                 {"train.parameters.load.key", "no entry of 'loads' has the name 'pull'"});
  expect_problem(beams + replaced(two, "loads.push.factor", "loads.push.force"),
                 {"expected a single number"});
  expect_problem(beams + replaced(two, "[1, 2, 4]", "[1, 1]"), {"has one value only"});
  expect_problem(replaced(beams, "young = 2e6", "young = 3e6") + two, {"make them agree"});
  expect_problem(beams + two + "order = 3\n", {"train.parameters.soft.order"});
  expect_problem(beams + two + "[[train.test]]\nload = 1\nsoft = 1\nsofter = 2\n",
                 {"there is no such parameter"});
  expect_problem(beams + two + "[[train.test]]\nload = 1\n", {"soft: is missing"});
  expect_problem(beams + two + "[[train.test]]\nload = 1\nsoft = 2\nforces = [\"tensr\"]\n",
                 {"'tensr'", "tensor"});
  expect_problem(
      beams + replaced(two, "method = \"pod\"", "method = \"pod\"\nplan = \"greedy\"\nsamples = 4"),
      {"this one needs a range"});
  expect_problem(replaced(beams, "end = 0.1", "end = 0.1\nmodel = \"pod\""), {"\"pod\" needs a model"});
  expect_problem(replaced(beams, "end = 0.1", "end = 0.1\nmodel = \"slap\"") + two, {"method = \"pod\""});
}

TEST(PodTrainSpec, AnUnknownNameToBeSetHasThoseThatThereAre) {
  try {
    parsed(beams + two, {{"lod", "1"}});
    FAIL();
  } catch (const InputError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("no parameter and no key 'lod' (did you mean 'load'?)"), std::string::npos)
        << message;
    EXPECT_NE(message.find("load, soft"), std::string::npos) << message;
  }
  EXPECT_THROW(parse_setting("load"), InputError);
  EXPECT_THROW(parse_setting("=3"), InputError);
  EXPECT_EQ(parse_setting(" a.b = [1, 2]"), (StudySetting{"a.b", "[1, 2]"}));
}

TEST(ParameterPlan, ALatinHypercubeHasOnePointInEveryPartOfEveryRange) {
  const VectorXd lower = Eigen::Vector3d(-1, 0, 10), upper = Eigen::Vector3d(1, 5, 11);
  const int n = 17;
  const Eigen::MatrixXd points = latin_hypercube(lower, upper, n, 3);
  ASSERT_EQ(points.cols(), n);
  for (int p = 0; p < 3; ++p) {
    std::set<int> parts;
    for (int k = 0; k < n; ++k)
      parts.insert(static_cast<int>(std::floor(n * (points(p, k) - lower[p]) / (upper[p] - lower[p]))));
    EXPECT_EQ(parts.size(), static_cast<size_t>(n));
    EXPECT_EQ(*parts.begin(), 0);
    EXPECT_EQ(*parts.rbegin(), n - 1);
  }
  EXPECT_EQ(points, latin_hypercube(lower, upper, n, 3));
  EXPECT_NE(points, latin_hypercube(lower, upper, n, 4));
}

}  // namespace
}  // namespace lissom::pod_train_spec_test
