// The training of a SLAP model from a mechanism and its motions: places and joints as relations of nodes, the
// space, its basis, the order. Knows no files: everything is handed over in SI units, and what is found is
// handed back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lissom/cms/reduced_body.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/subject_error.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/mbs/body.hpp"
#include "lissom/mbs/joint.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/rom/slap/slap_options.hpp"
#include "lissom/rom/slap/slap_training.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

// ---- what is trained

// A body of the mechanism; what is pointed to outlives the training.
struct SlapSource {
  std::string name;
  const FeModel* model = nullptr;        // K and M without spiders, three degrees of freedom a node
  const ReducedBody* reduced = nullptr;  // component modes at all nodes, and interfaces
  // The nodes that each interface's spider ties, by index into the model; none of interfaces of nodes.
  std::vector<std::vector<int>> tied;
  const FeModel* places = nullptr;  // node sets; null: none
  const Mesh* mesh = nullptr;       // for stress
  Placement placement;              // position and rotation
  int same_as = -1;                 // an earlier body with the same matrices and modes, whose fields it takes
};

// A place where joints, loads or sensors are: an interface or node set by name, or nodes by their numbers.
struct SlapSite {
  int body = -1;                       // of SlapMechanism::bodies; -1: the ground
  std::string name;                    // as the model will know it: "pin", "node 17"
  std::vector<std::int64_t> node_ids;  // empty: an interface or node set
  bool is_ground() const { return body < 0; }
};

struct SlapJoint {
  std::string name;
  JointKind kind = JointKind::Spherical;
  SlapSite first, second;
  std::optional<std::pair<SlapSite, SlapSite>> and_between;  // two spherical ones in place of the kind
  std::optional<Eigen::Vector3d> at;    // of the ground's point [m]; where the other one is
  std::optional<Eigen::Vector3d> axis;  // of axis 3, global; that of the first place
  bool has_motion = false;
};

// A place that loads and sensors of later runs will ask for; `label` says who: "load 'push'".
struct SlapWish {
  std::string label;
  SlapSite site;
};

struct SlapMechanism {
  std::vector<SlapSource> bodies;
  std::vector<SlapJoint> joints;
  std::vector<SlapWish> places;
  int body_of(const std::string& name) const;  // -1: there is none
};

// Every interface of every body, as a wish.
std::vector<SlapWish> all_interfaces(const SlapMechanism& mechanism);

// ---- its motions

// A run of a model: times [s], and eta (m by samples).
struct SlapRepeat {
  Eigen::VectorXd t;
  Eigen::MatrixXd eta;
};

// A motion to train on: of the mechanism as a System, or of its nodes as another program has computed them.
struct SlapRun {
  std::string name;  // for messages
  const System* system = nullptr;
  Eigen::VectorXd t;                      // k [s]
  Eigen::MatrixXd q;                      // coordinates by k
  Eigen::VectorXd v;                      // at the first sample
  std::unique_ptr<SnapshotSource> nodes;  // in place of these four
  bool at_rest = false;                   // of nodes: it starts from rest, whatever its first samples say
  // Where its bodies were placed before it began; empty: not known.
  std::vector<std::optional<SlapPose>> placed;
  // The same run of a model, whose start is set; samples at the same times. Not there: nothing is reconstructed.
  std::function<SlapRepeat(const SlapModel&)> repeat;
};

// ---- what is found

// Kept for the models of other orders.
struct SlapReduction {
  SlapSpace space;
  SlapBasis basis;
  OrderChoice choice;
  std::vector<SnapshotReport> reports;   // one per run
  Eigen::VectorXd full_singular_values;  // of nodal positions where they were computed without compression
  int order = 0;                         // taken: the user's, or the one proposed
  std::string why;                       // a sentence
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

// Steps solved to round-off, as repeated runs need them: a tolerance of the usual size adds up to more than what small
// models leave out.
NewtonOptions to_round_off(NewtonOptions newton);

class SlapReductor {
 public:
  // Looks at bodies and joints. The mechanism and diagnostics outlive this. Throws SubjectError: bodies
  // without the modes that the options ask for, places that are none, mass that is not m (x) I_3. Joints that
  // the model cannot have are warnings.
  SlapReductor(const SlapMechanism& mechanism, const SlapOptions& options, Diagnostics& diagnostics,
               const ProgressHook& progress = {}, const std::function<bool()>& stop = {});
  ~SlapReductor();

  // The nodes of each body that the training wants to know, with their places in the body's frame.
  const std::vector<SlapSpacePart>& parts() const;

  // Once. Throws SubjectError: runs that do not fit, an order beyond the data; Error where `stop` said so.
  SlapReduction train(std::vector<SlapRun> runs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All of it in one call.
SlapReduction train_slap(const SlapMechanism& mechanism, std::vector<SlapRun> runs,
                         const SlapOptions& options, Diagnostics& diagnostics,
                         const ProgressHook& progress = {}, const std::function<bool()>& stop = {});

}  // namespace lissom
