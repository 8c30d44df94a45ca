// A training that a study asks for, carried out: motions, checks, space, basis, order, model.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "lissom/core/resources.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

// All that a training found; kept for the models of other orders.
struct Training {
  SlapSpace space;
  SlapBasis basis;
  OrderChoice choice;
  std::vector<SnapshotReport> reports;   // one per run
  Eigen::VectorXd full_singular_values;  // of nodal positions where they were computed without compression
  int order = 0;                         // taken: the user's, or the one proposed
  RomFile rom;                           // of that order
  PhaseTimes seconds;
  SlapModelOptions model_options;
  SlapForm form = SlapForm::Automatic;  // of the models
  double tolerance = 0;                 // of the reconstruction [m]
  // at the first sample of each run, in the space's coordinates [m/s]
  std::vector<Eigen::VectorXd> start_velocities;

  // Of any order up to basis.rank(), at the start of the first run: on the exact kernel, and in the form that
  // was asked for. A polynomial may be off by a tenth of what the model is off in its reconstruction; where
  // there was none, of what its modes leave out, or of the tolerance.
  SlapModel exact_model(int m) const;
  SlapModel model(int m) const;
  // How well the model of order m repeats the training; not known where nothing was reconstructed.
  SlapAccuracy accuracy(int m) const;
  // The model's velocity with the momentum of a run's start.
  Eigen::VectorXd start_rate(const SlapModel& model, int run) const;
};

// Motions that were simulated, by case, as SimulationRun::states has them.
using TrainingMotions = std::map<std::string, SimulationRun>;

// Trains on study.train. Runs of the study that are not in `motions` are simulated (without files) and added
// to it. Throws InputError with the place in the study file.
Training train(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
               const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

// What a training depends on but the order, as a text: studies with the same key share one.
std::string training_key(const TrainSpec& spec);

// How far the nodes of two runs are apart at common samples; not numbers where there are none.
struct NodalError {
  double epsilon = std::numeric_limits<double>::quiet_NaN();  // sum of squares (Eq. 70) [m2]
  double largest = std::numeric_limits<double>::quiet_NaN();  // distance of a node [m]
  double motion = std::numeric_limits<double>::quiet_NaN();   // largest, of a node from its first place [m]
};
// Between a full run and one of a model of the training.
NodalError nodal_error(const Training& training, const SimulationRun& reference, const SimulationRun& rom);
// Of any two runs whose bodies have the same nodes.
NodalError nodal_error(const SimulationRun& reference, const SimulationRun& other);

// A state of a reduced run put into the full model: what is left of its equations, and what that would move.
struct ModelCheck {
  double t = 0;         // [s]
  double residual = 0;  // |r| over the largest of |inertia|, |internal| and |applied| forces
  double missing = 0;   // largest static displacement of a node by r, motions of the model left out [m]
  double distance = 0;  // from the training (distance_from_training)
};
// At the samples nearest to the times. The full model is the mechanism in all of the component modes, joints
// exact, with the study's loads.
std::vector<ModelCheck> check_model(const Training& training, const StudyFile& study,
                                    const SimulationRun& run, const std::vector<double>& times,
                                    Diagnostics& diagnostics);
std::string describe_checks(const std::vector<ModelCheck>& checks);
nlohmann::json checks_json(const std::vector<ModelCheck>& checks);

// Writes model.rom.h5 and the CSV files of the figures (singular values, orders); returns the paths
// relative to the folder.
std::vector<std::string> write_training(const Training& training, const std::filesystem::path& folder);
std::string describe_training(const Training& training);
nlohmann::json training_json(const Training& training);

}  // namespace lissom
