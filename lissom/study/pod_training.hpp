// A training with method = "pod", carried out: full simulations over the parameters, bases, tests at
// parameters that no sample has.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lissom/core/resources.hpp"
#include "lissom/study/pod_system.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// A full simulation that a training needs.
struct TrainingRun {
  Eigen::VectorXd parameters;
  std::string label;                   // "sample 3: mass1 = 0.3, mass2 = 0.1"
  std::vector<StudySetting> settings;  // of the study
  std::filesystem::path folder;        // for its results; empty: none
  bool resume = false;                 // there is something to go on from
  double end = 0;                      // of the simulation, the study's units
};

// Carries out several runs at a time, each of which leaves result.h5 in its folder; returns what went wrong
// with each of them, empty where nothing did. Programs set it, so that runs become processes of their own.
using TrainingRunner = std::function<std::vector<std::string>(const std::vector<TrainingRun>& runs,
                                                              int processes, const ProgressHook& progress)>;

struct PodTrainingOptions {
  std::filesystem::path folder;  // runs go to training/NNN and tests/NAME in it; empty: no files
  TrainingRunner runner;         // none: one run after the other in this process
  std::function<bool()> stop;
  bool resume = false;    // complete runs of before are read, others go on
  double checkpoint = 5;  // [s]
};

// What a training depends on, as a text: studies with the same key share one, whatever order, combination and
// forces they ask for.
std::string pod_training_key(const PodTrainSpec& spec);
// What a study asks of a model that was trained.
PodSystemOptions pod_system_options(const PodTrainSpec& spec, const PodFile& model);

// What a sample's run was like.
struct PodSampleReport {
  Eigen::VectorXd parameters;
  int snapshots = 0;
  double seconds = 0;  // of the integration
  bool reused = false;
  // orders by both rules, with the offset of the training and with mean-centred snapshots
  int by_values = 0, by_energy = 0, by_values_centred = 0, by_energy_centred = 0;
};

// A step of the greedy plan: where the indicator was largest.
struct GreedyStep {
  int samples = 0;             // there were
  Eigen::VectorXd parameters;  // of the worst candidate
  double indicator = 0;
};

// A reduced run at held-out parameters.
struct PodTestRow {
  std::string test;
  Eigen::VectorXd parameters;
  PodCombination combination = PodCombination::Grassmann;
  int order = 0;
  PodForce asked = PodForce::Automatic, force = PodForce::Automatic;
  std::vector<double> errors;  // by column: L2 norm over time of the difference over that of the full model
  double largest_angle = 0;    // [rad]
  int kept = 0;                // constraints
  double trust = 0;            // largest distance from the training
  double full_seconds = 0, seconds = 0, setup_seconds = 0;
  std::string fallback, problem;
};

struct PodTraining {
  PodFile rom;
  std::vector<PodSampleReport> samples;
  Eigen::MatrixXd angles;  // largest principal angle between samples, of the order taken [rad]
  std::vector<GreedyStep> greedy;
  std::vector<std::string> columns;  // of the sensors
  std::vector<PodTestRow> tests;
  PhaseTimes seconds;
  int processes = 1;
};

// Trains on study.train->pod. Throws InputError with the place in the study file, Error where runs fail: the
// message has all of them, and what was computed stays in the folder.
PodTraining train_pod(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                      const ProgressHook& progress = {}, const PodTrainingOptions& options = {});

// The [[train.test]]s, added to the training: full and reduced models at held-out parameters, for every
// combination, order and form of the forces. What fails is noted in its row and warned of.
void test_pod(const StudyFile& study, BodyStore& store, PodTraining& training, Diagnostics& diagnostics,
              const ProgressHook& progress = {}, const PodTrainingOptions& options = {});

// Settings that make a full model of the study, without pictures, and these; and the study with them.
std::vector<StudySetting> full_settings(const StudyFile& study, const std::vector<StudySetting>& settings);
StudyFile study_at(const StudyFile& study, const std::vector<StudySetting>& settings);

// The indicator of the greedy plan: what is left of the full model's equations of motion with positions,
// velocities and accelerations of a reduced run, and how far that would move it: the largest displacement of
// (K + w^2 M) d = r, with w the rate of the motion (|a|/|v|), over the size of the system; root of the mean
// square over evenly spaced samples.
double residual_indicator(const StudyFile& study, const SimulationRun& rom, BodyStore& store,
                          Diagnostics& diagnostics);

// model.rom.h5, samples.csv, singular_values.csv, principal_angles.csv; pod_test.csv of the tests. Return the
// paths relative to the folder.
std::vector<std::string> write_pod_training(const PodTraining& training, const std::filesystem::path& folder);
std::vector<std::string> write_pod_tests(const PodTraining& training, const std::filesystem::path& folder);
std::string describe_pod_training(const PodTraining& training);
std::string describe_pod_tests(const PodTraining& training);
nlohmann::json pod_training_json(const PodTraining& training);

}  // namespace lissom
