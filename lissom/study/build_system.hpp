// From a study to the System that is simulated: bodies in their formulations and places, markers, joints,
// loads, sensors; and what is to be said about it before a run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/mbs/ancf_body.hpp"
#include "lissom/mbs/sensor.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/rom/pod/pod_body.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/study/body_store.hpp"
#include "lissom/time/start.hpp"

namespace lissom {

// Strain and stress of a node group of a body for unit amplitudes of its deformation (Body::deformation).
struct GroupStress {
  std::string name;                  // of the body, or of the part of a reduced mechanism
  int body = 0, group = 0;           // of System::bodies(), of its node_groups()
  StressModes modes;                 // 6 n by c; what the study needs of the two
  std::shared_ptr<const Mesh> mesh;  // null where it is not known: bodies and models from files
};

struct PodUse;  // study/pod_system.hpp

struct StudySystem {
  std::unique_ptr<System> system;
  std::vector<Sensor> sensors;
  // what the user wrote for the two markers of each joint of the system, and where
  struct JointPlaces {
    std::string first, second;
    SourcePos where;
  };
  std::vector<JointPlaces> joint_places;
  Eigen::VectorXd q, v;  // at the start, as placed
  // of a mechanism reduced as a whole, which is then the only body
  std::shared_ptr<const SlapModel> rom;
  std::shared_ptr<const PodUse> pod_use;  // how a parametric model was made for these parameters
  const PodBody* pod = nullptr;           // or this, of beams on a basis; it belongs to the system
  // joints that are none of the system, because beams share the coordinates there
  std::vector<std::string> shared_joints;
  std::vector<GroupStress> stress;  // of the bodies whose stress the study asks for
};

// Joints: the frames of both markers have the same axes at the start (`axis` and `reference` of the joint;
// by default those of the first marker's interface or body), turned by what a prescribed angle is at t = 0.
// A driven joint NAME has a second one, NAME.motion; and_between makes NAME.1 and NAME.2.
// Throws InputError with all problems of joints, loads and sensors, each with its place in the file.
StudySystem build_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                         const ProgressHook& progress = {});

// The mechanism as a System of one reduced body, "mechanism", with the study's loads, sensors and gravity;
// joints are part of the model, and it starts where its training did; free lengths, angles and points of the
// ground are counted from where the training's bodies were placed, as those of the full model are. Sensors of
// joints are left out with a warning, and a model that is known to be poor is one. Throws InputError with all
// problems of loads and sensors: parts and places that the model does not have, with those that it has.
StudySystem build_rom_system(const StudyFile& study, const SlapModel& model, Diagnostics& diagnostics);

// A mechanism of beams on a basis as a System of one body, "mechanism", with all joints, loads, sensors and
// gravity of the study; constraints that the basis satisfies are left out when the system is checked. The
// reactions of joints are not known there: their sensors are left out with a warning. Free lengths and points
// of the ground are counted from the beams themselves as they are placed, `full`; the body starts at what the
// basis has nearest to it. Throws InputError with all problems of joints, loads and sensors.
StudySystem build_pod_system(const StudyFile& study, std::unique_ptr<PodBody> body, const StudySystem& full,
                             Diagnostics& diagnostics);

// The bodies of a system, all of which are beams. Throws InputError naming the one that is not.
std::vector<const AncfBody*> ancf_bodies(const System& system);
// Nodal coordinates of all of them, one after the other, at the system's coordinates q (or of its velocities,
// where `rates`).
Eigen::VectorXd nodal_coordinates(const System& system, const Eigen::VectorXd& q, bool rates = false);

// One of the two: of the study's bodies, or of the model that it names.
StudySystem make_system(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                        const ProgressHook& progress = {});

// The check before a run, at the positions q. Throws InputError where the study cannot be simulated: frames
// of joints that do not meet (unless they may be moved), a mechanism that cannot move although nothing drives
// it (statics but for), directions without inertia. Redundant constraints and bodies that nothing holds are
// warnings.
SystemCheck check_study_system(const StudySystem& built, const StudyFile& study, Diagnostics& diagnostics);
// make_start() as the study has it: a study that asks for start = "static" begins at rest in the equilibrium, one
// with integrator = "static" is in that of the time begin. `static_at` [s] is the same for an analysis that asks
// for it itself.
Start study_start(const StudySystem& built, const StudyFile& study, Diagnostics& diagnostics,
                  std::optional<double> static_at = std::nullopt, const ProgressHook& progress = {});

// What will be solved, for programs; describe(system, check) is the same for people.
nlohmann::json system_json(const System& system, const SystemCheck& check);

}  // namespace lissom
