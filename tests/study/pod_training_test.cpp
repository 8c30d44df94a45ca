// Trainings of parametric models in this process, without files.
#include "lissom/study/pod_training.hpp"

#include <gtest/gtest.h>

#include "lissom/study/run_study.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::pod_training_test {
namespace {

using Eigen::VectorXd;

const std::string falling_beam = R"(
gravity = [0, -9.81, 0]
[bodies.beam]
formulation = "ancf"
from = [0, 0]
to = [0.5, 0]
elements = 6
section = { rectangle = [0.03, 0.03] }
young = 1e6
mass = 0.25
[[joints]]
name = "O"
kind = "revolute"
between = ["ground", "beam.start"]
[[sensors]]
name = "tip"
kind = "position"
of = "beam.end"
[simulate]
integrator = "hht-i3"
alpha = -0.1
step = 2e-3
end = 0.2
newton_tolerance = 1e-12
[train]
method = "pod"
order = 9
[train.parameters.mass]
key = "bodies.beam.mass"
)";

PodTraining trained_beam(const std::string& rest, Diagnostics& diagnostics) {
  const StudyFile study = parse_study(falling_beam + rest, "s.toml");
  BodyStore store;
  PodTraining training = train_pod(study, store, diagnostics);
  test_pod(study, store, training, diagnostics);
  return training;
}

TEST(PodTraining, ATestAtASampleHasTheErrorOfItsOwnBasisAndMoreModesAreBetter) {
  Diagnostics diagnostics;
  const PodTraining training =
      trained_beam("values = [0.2, 0.3]\n[[train.test]]\nmass = 0.3\norders = [5, 9, 14]\n", diagnostics);
  ASSERT_EQ(training.tests.size(), 9u);
  // Grassmann interpolation at a sample gives that sample's basis: the same errors as the nearest one's
  for (int k = 0; k < 3; ++k) {
    const PodTestRow &grassmann = training.tests[k], &nearest = training.tests[6 + k];
    EXPECT_EQ(grassmann.combination, PodCombination::Grassmann);
    EXPECT_EQ(nearest.combination, PodCombination::Nearest);
    EXPECT_EQ(grassmann.problem, "");
    // two bases of one space, whose Newton iterations end differently: far below the error itself
    EXPECT_NEAR(grassmann.errors[1], nearest.errors[1], 1e-3 * nearest.errors[1] + 1e-10);
    EXPECT_EQ(grassmann.kept, 0);
  }
  EXPECT_LT(training.tests[1].errors[1], training.tests[0].errors[1]);
  EXPECT_LT(training.tests[2].errors[1], training.tests[1].errors[1]);
}

TEST(PodTraining, TheIndicatorOfTheFullModelItselfIsRoundOff) {
  // all modes that there are: the reduced model is the full one
  Diagnostics diagnostics;
  const std::string rest = "values = [0.2, 0.3]\n";
  const StudyFile study = parse_study(falling_beam + rest, "s.toml");
  BodyStore store;
  const PodTraining training = train_pod(study, store, diagnostics);
  SimulationOptions options;
  options.write_files = false;
  const auto indicator = [&](int order) {
    PodSystemOptions system;
    system.order = order;
    StudyFile at = study_at(study, settings_of(study.train->pod->parameters, VectorXd::Constant(1, 0.2)));
    const SimulationRun run = simulate(
        at, {}, make_pod_system(at, training.rom, store, diagnostics, {}, system), diagnostics, {}, options);
    return residual_indicator(at, run, store, diagnostics);
  };
  // 6 elements have 28 nodal coordinates, of which the pin holds two
  const int all = training.rom.library.rank();
  EXPECT_LT(indicator(all), 1e-2 * indicator(6));
  EXPECT_LT(indicator(12), indicator(6));
}

TEST(PodTraining, TheIndicatorIsOfTheSizeOfTheError) {
  Diagnostics diagnostics;
  const StudyFile study = parse_study(falling_beam + "values = [0.2, 0.3]\n", "s.toml");
  BodyStore store;
  const PodTraining training = train_pod(study, store, diagnostics);
  SimulationOptions options;
  options.write_files = false;
  const StudyFile at = study_at(study, settings_of(study.train->pod->parameters, VectorXd::Constant(1, 0.2)));
  const SimulationRun full = simulate(at, {}, store, diagnostics, {}, options);
  for (const int order : {4, 6, 9, 12}) {
    PodSystemOptions system;
    system.order = order;
    const SimulationRun run = simulate(
        at, {}, make_pod_system(at, training.rom, store, diagnostics, {}, system), diagnostics, {}, options);
    double error = 0;  // largest displacement of a node [m], beam of about 1 m
    for (Eigen::Index k = 0; k < full.q.cols(); ++k)
      error = std::max(error, (run.built->pod->node_positions(run.q.col(k)) -
                               full.built->system->bodies()[0]->node_positions(full.q.col(k)))
                                  .colwise()
                                  .norm()
                                  .maxCoeff());
    const double indicator = residual_indicator(at, run, store, diagnostics);
    // an indicator and no bound: 0.8 to 7 times the error were seen, which falls from 4e-3 to 1e-5 m
    EXPECT_GT(indicator, error / 20) << order;
    EXPECT_LT(indicator, error * 20) << order;
  }
}

TEST(PodTraining, AGreedyPlanAddsTheWorstCandidate) {
  Diagnostics diagnostics;
  std::string text = falling_beam;
  const std::string method = "method = \"pod\"\norder = 9\n";
  text.replace(
      text.find(method), method.size(),
      "method = \"pod\"\norder = 9\nplan = \"greedy\"\nsamples = 4\ncandidates = 5\ntolerance = 1e-12\n");
  const StudyFile study = parse_study(text + "range = [0.1, 0.5]\n", "s.toml");
  BodyStore store;
  const PodTraining training = train_pod(study, store, diagnostics);
  ASSERT_EQ(training.samples.size(), 4u);
  EXPECT_EQ(training.samples[0].parameters[0], 0.1);
  EXPECT_EQ(training.samples[1].parameters[0], 0.5);
  EXPECT_EQ(training.samples[2].parameters[0], 0.3);
  ASSERT_EQ(training.greedy.size(), 2u);
  EXPECT_EQ(training.samples[3].parameters, training.greedy[0].parameters);
  EXPECT_NE(diagnostics.find("pod.greedy"), nullptr);
}

TEST(PodTraining, ParametersOutsideOfTheirRangeAreToldOrRefused) {
  Diagnostics diagnostics;
  const PodTraining training = trained_beam("values = [0.2, 0.3]\n", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_NO_THROW(expect_in_range(training.rom, VectorXd::Constant(1, 0.3)));
  try {
    expect_in_range(training.rom, VectorXd::Constant(1, 0.15));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(
                  "mass = 0.15 is below its training range, 0.2 to 0.3, by 50 % of its width"),
              std::string::npos)
        << e.what();
  }
}

TEST(PodTraining, ARunnerThatFailsIsReportedWithTheParameters) {
  const TemporaryFolder folder;
  const StudyFile study = parse_study(falling_beam + "values = [0.2, 0.3]\n", "s.toml");
  PodTrainingOptions options;
  options.folder = folder.path();
  options.runner = [](const std::vector<TrainingRun>& runs, int, const ProgressHook&) {
    return std::vector<std::string>(runs.size(), "no more electricity");
  };
  BodyStore store;
  Diagnostics diagnostics;
  try {
    train_pod(study, store, diagnostics, {}, options);
    FAIL();
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("sample 2: mass = 0.3: no more electricity"), std::string::npos) << message;
    EXPECT_NE(message.find("--resume"), std::string::npos) << message;
  }
}

TEST(PodTraining, AStudyRunsItsCasesWithTheModelOfTheirParameters) {
  const TemporaryFolder folder;
  const std::string cases = R"(values = [0.2, 0.3]
[[cases]]
name = "reduced"
set = { "simulate.model" = "pod" }
[[cases]]
name = "finer"
set = { "simulate.model" = "pod", "train.order" = 16 }
)";
  const StudyFile study = parse_study(falling_beam + cases, "s.toml");
  Diagnostics diagnostics;
  const StudyRun run = run_study(study, folder.path(), diagnostics);
  const auto& reduced = run.summary.at("cases").at("reduced").at("simulation");
  EXPECT_EQ(reduced.at("pod").at("parameters").at("mass"), 0.25);
  EXPECT_EQ(reduced.at("coordinates"), 9);
  const auto difference = [&](const char* name) {
    const auto& sensors = run.summary.at("comparison").at("cases").at(name).at("sensors");
    return sensors.at("tip.y").at("largest").get<double>();
  };
  // one per cent of the length in the middle between two samples, and far less with more modes
  EXPECT_LT(difference("reduced"), 5e-3);
  EXPECT_LT(difference("finer"), 0.1 * difference("reduced"));
  EXPECT_EQ(run.summary.at("cases").at("finer").at("simulation").at("coordinates"), 16);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.rom.h5"));
}

}  // namespace
}  // namespace lissom::pod_training_test
