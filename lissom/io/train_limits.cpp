#include "lissom/io/train_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lissom {

namespace {

bool same(const std::optional<Eigen::Vector3d>& a, const std::optional<Eigen::Vector3d>& b) {
  return a.has_value() == b.has_value() && (!a || *a == *b);
}

// Whether two joints of one name are the same constraint; motions are looked at by themselves.
bool same(const JointSpec& a, const JointSpec& b) {
  const auto pair_of = [](const JointSpec& joint) {
    return joint.and_between ? joint.and_between->first.text + "|" + joint.and_between->second.text
                             : std::string();
  };
  return a.kind == b.kind && a.first.text == b.first.text && a.second.text == b.second.text &&
         pair_of(a) == pair_of(b) && same(a.frame.at, b.frame.at) && same(a.frame.axis, b.frame.axis) &&
         same(a.frame.reference, b.frame.reference);
}

template <class Named>
const Named* find_named(const std::vector<Named>& list, const std::string& name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name == name; });
  return at == list.end() ? nullptr : &*at;
}

class Limits {
 public:
  Limits(const StudyFile& study, const StudyFile& asking)
      : study_(study), asking_(asking), train_(*asking.train) {}

  std::vector<TomlProblem> find_all() {
    look_at_bodies();
    look_at_joints(study_);
    const bool own_runs = train_.trajectories.empty();
    for (const std::string& run : own_runs ? train_.runs : std::vector<std::string>())
      if (const StudyFile* found = variant(run)) look_at_variant(*found);
    if (needs_training(asking_)) {
      look_at_variant(asking_);
      if (const StudyFile* first = own_runs && !train_.runs.empty() ? variant(train_.runs.front()) : nullptr)
        look_at_start(*first);
      look_at_stress(asking_);
    }
    look_at_stress(study_);
    return std::move(problems_);
  }

 private:
  const StudyFile* variant(const std::string& name) const {
    if (name.empty()) return &study_;
    for (const StudyCase& one : study_.cases)
      if (one.study.case_name == name) return &one.study;
    return nullptr;  // said by others
  }

  void add(const SourcePos& where, const std::string& key, std::string message, const StudyFile& of) {
    if (!of.case_name.empty()) message += fmt::format(" (case '{}')", of.case_name);
    const auto known = [&](const TomlProblem& other) {
      return other.where.line == where.line && other.key == key && other.message == message;
    };
    if (std::none_of(problems_.begin(), problems_.end(), known)) problems_.push_back({where, key, message});
  }

  void look_at_bodies() {
    for (const BodySpec& body : study_.bodies) {
      const std::string key = "bodies." + body.name;
      const char* why = body.ancf                                ? "is a beam"
                        : !body.reduced_file.empty()             ? "comes from a reduced-body file"
                        : body.rigid                             ? "is rigid"
                        : body.formulation == Formulation::Rigid ? "is rigid"
                                                                 : nullptr;
      if (why)
        add(body.where, key,
            fmt::format(
                "a whole mechanism is reduced from the finite elements of all its bodies, but this one "
                "{}; give it a mesh or matrices and another formulation, or leave [train] out{}",
                why, body.ancf ? "; mechanisms of beams are reduced with method = \"pod\"" : ""),
            study_);
      else if (train_.component_modes && !body.reduce)
        add(body.where, key,
            fmt::format("the training compresses with component modes, and this body has none; add "
                        "[bodies.{}.reduce], or say modes = \"data\" in [train]",
                        body.name),
            study_);
    }
  }

  void look_at_joints(const StudyFile& of) {
    if (!of.simulation) return;
    for (const JointSpec& joint : of.simulation->joints)
      if (joint.motion && !joint.motion->is_constant())
        add(joint.where, fmt::format("joints.{}.motion", joint.name),
            fmt::format(
                "is {}, and a SLAP model has no drives: it would stand still. Leave it out and drive by a "
                "load (force, torque, or a spring with a preload), or leave [train] out",
                joint.motion->describe()),
            of);
  }

  // A run that trains, or that the model makes: bodies and joints are built into the model.
  void look_at_variant(const StudyFile& of) {
    look_at_joints(of);
    if (&of == &study_) return;
    for (const BodySpec& body : of.bodies) {
      const BodySpec* own = find_named(study_.bodies, body.name);
      if (own && own->reduction_key == body.reduction_key) continue;
      add(body.where, "bodies." + body.name,
          "a SLAP model is made of the bodies of the study itself, and this one differs from them: train a "
          "study "
          "of its own with it, or take model = \"full\"",
          of);
    }
    if (!of.simulation || !study_.simulation) return;
    for (const JointSpec& joint : of.simulation->joints) {
      const JointSpec* own = find_named(study_.simulation->joints, joint.name);
      if (own && same(*own, joint)) continue;
      add(joint.where, "joints." + joint.name,
          "a SLAP model has the joints of the study itself built in, and this one differs from them: train a "
          "study of its own with it, or take model = \"full\"",
          of);
    }
  }

  // The model starts where its first run does.
  void look_at_start(const StudyFile& first) {
    if (&first == &asking_) return;
    const std::string run =
        first.case_name.empty() ? "the study itself" : fmt::format("the case '{}'", first.case_name);
    for (const BodySpec& body : asking_.bodies) {
      const BodySpec* other = find_named(first.bodies, body.name);
      if (!other) continue;
      const Placement &a = body.placement, &b = other->placement;
      const char* differs = a.position != b.position                   ? "position"
                            : a.rotation != b.rotation                 ? "rotation"
                            : a.velocity != b.velocity                 ? "velocity"
                            : a.angular_velocity != b.angular_velocity ? "angular_velocity"
                                                                       : nullptr;
      if (differs)
        add(body.where, fmt::format("bodies.{}.{}", body.name, differs),
            fmt::format(
                "differs from that of {}, the first run that trains, and a SLAP model starts where that "
                "one did: name a run with this start first in 'runs' of [train]",
                run),
            asking_);
    }
    const auto at_rest = [](const StudyFile& study) {
      return study.simulation && study.simulation->simulate && study.simulation->simulate->start_static;
    };
    if (at_rest(first) && !at_rest(asking_))
      add(asking_.simulation->simulate->where, "simulate.start",
          fmt::format(
              "is not \"static\", but {}, the first run that trains, begins at rest, and a SLAP model "
              "starts where that one did",
              run),
          asking_);
  }

  void look_at_stress(const StudyFile& of) {
    if (!of.simulation) return;
    const StressOptions needs = stress_needs(*of.simulation);
    if (!needs.stress && !needs.strain) return;
    SourcePos where = train_.where;
    std::string who = "[simulate] asks for stress";
    for (const SensorSpec& sensor : of.simulation->sensors)
      if (is_stress(sensor.kind)) {
        who = fmt::format("the sensor '{}' measures it", sensor.name);
        break;
      }
    if (!train_.recovery)
      add(where, "train.recovery",
          fmt::format("is false, so that the model has no nodes and no stress, and {}: leave it out", who),
          of);
    else if (train_.stress_given && !train_.stress.stress)
      add(where, "train.stress", fmt::format("is false, but {}: leave it out", who), of);
  }

  const StudyFile& study_;
  const StudyFile& asking_;
  const TrainSpec& train_;
  std::vector<TomlProblem> problems_;
};

}  // namespace

std::vector<TomlProblem> training_problems(const StudyFile& study, const StudyFile& asking) {
  if (!asking.train || !asking.train->is_slap() || study.bodies.empty()) return {};
  return Limits(study, asking).find_all();
}

}  // namespace lissom
