// From a parametric model and a study with its parameters to the System that is simulated.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "lissom/io/pod_file.hpp"
#include "lissom/study/build_system.hpp"

namespace lissom {

// How a parametric model was used.
struct PodUse {
  std::vector<std::string> names;  // of the parameters
  Eigen::VectorXd parameters;
  int order = 0, samples = 0;
  PodCombination asked = PodCombination::Grassmann;
  PodBasis basis;
  double outside = 0;  // of outside_range()
  int outside_parameter = 0;
  double seconds = 0;  // to make basis and forces
};

struct PodSystemOptions {
  // what the model says, unless given
  std::optional<int> order;
  std::optional<PodCombination> combination;
  std::optional<PodForce> force;
};

// The mechanism on the basis for the parameters that the study has (study.pod_parameters), with the study's
// joints, loads and sensors. Parameters outside of their range are a warning. Throws InputError: beams that
// are not those of the model, an order beyond the rank.
StudySystem make_pod_system(const StudyFile& study, const PodFile& model, BodyStore& store,
                            Diagnostics& diagnostics, const ProgressHook& progress = {},
                            const PodSystemOptions& options = {});

// Throws InputError where a parameter is outside of what the model was trained on: what --strict asks for.
void expect_in_range(const PodFile& model, const Eigen::VectorXd& parameters);

// The nodal mass matrix of all beams of a system, one after the other.
SymmetricMatrix nodal_mass(const System& system);
// Names of the beams in the order of their nodal coordinates.
std::vector<std::string> beam_names(const System& system);

// The states that a reduced mechanism of either kind was trained on; null of a full model.
const SlapTraining* training_of(const StudySystem& built);

// For summaries and people; of a system without parametric model nothing.
nlohmann::json pod_use_json(const StudySystem& built, const SystemCheck& check);
std::string describe_pod_use(const StudySystem& built, const SystemCheck& check);

}  // namespace lissom
