#include "lissom/study/preflight.hpp"

#include <Eigen/Eigenvalues>

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/cms/interface.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/study/body_labels.hpp"
#include "lissom/study/joint_gaps.hpp"
#include "lissom/study/linear_run.hpp"
#include "lissom/study/pod_points.hpp"
#include "lissom/time/response.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

// Whether a run builds the study's own system.
bool is_built(const StudyFile& study) {
  return (study.simulation && study.simulation->simulate) || study.linearise || study.response;
}

template <class Simulation, class Work>
void for_each_place(Simulation& simulation, Work work) {
  for (auto& joint : simulation.joints) {
    work(joint.first);
    work(joint.second);
    if (!joint.and_between) continue;
    work(joint.and_between->first);
    work(joint.and_between->second);
  }
  for (auto& load : simulation.loads) {
    work(load.first);
    if (load.second) work(*load.second);
  }
  for (auto& sensor : simulation.sensors)
    if (sensor.place) work(*sensor.place);
}

const BodySpec* body_of(const StudyFile& study, const PlaceSpec& place) {
  return place.body < 0 ? nullptr : &study.bodies[static_cast<size_t>(place.body)];
}

const InterfaceSpec* interface_spec(const BodySpec& body, const std::string& name) {
  if (!body.reduce) return nullptr;
  for (const InterfaceSpec& interface : body.reduce->options.interfaces)
    if (interface.name == name) return &interface;
  return nullptr;
}

// The nodes of a place of a body that is still to be reduced, by index. Names were looked at before.
std::vector<int> nodes_of(const BodySpec& body, const FeModel& labels, const MarkerSpec& marker) {
  std::vector<std::string> names = {marker.name};
  if (const InterfaceSpec* interface = interface_spec(body, marker.name)) names = interface->what;
  if (marker.kind == MarkerSpec::Kind::Nodes) {
    names.clear();
    for (const std::int64_t id : marker.node_ids) names.push_back(fmt::format("node {}", id));
  }
  std::vector<int> nodes;
  for (const std::string& name : names) {
    const std::vector<int> found = named_nodes(labels, name, "for a marker");
    nodes.insert(nodes.end(), found.begin(), found.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

Vector3d mean_of(const FeModel& labels, const std::vector<int>& nodes) {
  Vector3d mean = Vector3d::Zero();
  for (const int node : nodes) mean += labels.points.col(node) / static_cast<double>(nodes.size());
  return mean;
}

}  // namespace

TomlProblem problem_of(const std::string& line, const SourcePos& where, const std::string& key) {
  TomlProblem problem{where, key, line};
  size_t colon = line.find(": ");
  if (!where.file.empty() && line.starts_with(where.file + ":") && colon != std::string::npos) {
    if (const auto number = parse_long(line.substr(where.file.size() + 1, colon - where.file.size() - 1)))
      problem.where.line = *number;
    problem.message = line.substr(colon + 2);
  } else if (!where.file.empty() && line.starts_with(where.file + ": ")) {
    problem.message = line.substr(where.file.size() + 2);
  }
  // what begins with a key, or with a joint, load or sensor by its name
  colon = problem.message.find(": ");
  if (colon == std::string::npos) return problem;
  const std::string first = problem.message.substr(0, colon);
  static const std::vector<std::pair<std::string, std::string>> tables = {
      {"joint '", "joints."}, {"load '", "loads."}, {"sensor '", "sensors."}};
  for (const auto& [begin, table] : tables)
    if (first.starts_with(begin))
      problem.key = table + first.substr(begin.size(), first.rfind('\'') - begin.size());
  const std::vector<std::string> known = study_schema().names();
  if (first.find_first_of(" '/:") == std::string::npos &&
      std::find(known.begin(), known.end(), first.substr(0, first.find_first_of(".["))) != known.end()) {
    problem.key = first;
    problem.message = problem.message.substr(colon + 2);
  }
  return problem;
}

Preflight::Preflight(For who, Diagnostics& diagnostics, const ProgressHook& progress)
    : who_(who), diagnostics_(diagnostics), progress_(progress) {}

void Preflight::look(const StudyFile& study) {
  look_at(study);
  for (const StudyCase& variant : study.cases) look_at(variant.study);
}

void Preflight::throw_if_any() const {
  std::vector<std::string> lines;
  for (const TomlProblem& problem : problems_) lines.push_back(problem.line());
  if (!lines.empty()) throw InputError(fmt::format("{}", fmt::join(lines, "\n")));
}

void Preflight::add(const SourcePos& where, const std::string& key, const std::string& message,
                    const std::string& case_name) {
  std::string_view rest = message;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    TomlProblem problem = problem_of(std::string(rest.substr(0, end)), where, key);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // what is wrong with the study itself comes again with every case
    const auto same = [&](const TomlProblem& other) { return other.line() == problem.line(); };
    if (std::any_of(problems_.begin(), problems_.end(), same)) continue;
    if (!case_name.empty()) problem.message += fmt::format(" (case '{}')", case_name);
    problems_.push_back(std::move(problem));
  }
}

// The study, or one of its cases. Bodies that have been looked at are not read again.
void Preflight::look_at(const StudyFile& study) {
  const size_t before = problems_.size();
  for (const BodySpec& spec : study.bodies)
    if (seen_.insert(spec.reduction_key).second) look_at_body(spec);
  if (problems_.size() > before) return;
  if (!study.rom.empty()) return look_at_rom(study);
  const SourcePos analysis = study.linearise  ? study.linearise->where
                             : study.response ? study.response->where
                                              : SourcePos();
  const char* key = study.linearise ? "linearise" : "response";
  if (!study.simulation) {
    if (study.linearise || study.response)
      add(analysis, key, "the study has no loads, sensors or joints to be linearised", study.case_name);
    return;
  }
  if (study.linearise && study.linearise->about == LineariseSpec::About::Time && !study.simulation->simulate)
    add(analysis, "linearise.about",
        fmt::format("the study has no [simulate] that leads to t = {:g} s", study.linearise->time),
        study.case_name);
  if (study.simulation->simulate)
    for (const std::string& name : inputs_without_value(*study.simulation))
      add(study.simulation->simulate->where, "simulate.inputs", missing_input(name), study.case_name);
  for (const BodyPlaces::Problem& problem : places_.missing(study))
    add(problem.where, problem.key, problem.message, study.case_name);
  if (problems_.size() > before) return;
  if (study.train && study.train->pod)
    for (const TomlProblem& problem : problems_of_pod_points(study))
      add(problem.where, problem.key, problem.message, study.case_name);
  if (problems_.size() > before || study.bodies.empty() || !study.pod_rom.empty()) return;
  const bool cheap = std::all_of(study.bodies.begin(), study.bodies.end(),
                                 [](const BodySpec& body) { return body.rigid || body.ancf; });
  if (cheap && (who_ == For::Check || is_built(study))) return look_at_system(study);
  if (!cheap && is_built(study)) look_at_stand_ins(study);
}

void Preflight::look_at_body(const BodySpec& spec) {
  const std::string key = "bodies." + spec.name;
  try {
    if (spec.rigid || spec.ancf) return;
    if (!spec.reduced_file.empty()) {
      if (who_ == For::Run) return;
      const ReducedBody body = read_reduced_body_file(spec.reduced_file, diagnostics_).body;
      sizes_[spec.name] = plural(static_cast<size_t>(body.K.rows()), "coordinate");
      return;
    }
    FeBody body = load_body(spec, diagnostics_, progress_);
    sizes_[spec.name] =
        body.mesh.node_count() > 0
            ? fmt::format("{}, {}", plural(static_cast<size_t>(body.mesh.node_count()), "node"),
                          plural(body.mesh.element_count(), "element"))
            : plural(static_cast<size_t>(body.model.dof_count()), "degree of freedom", "degrees of freedom");
    Read& read = read_[spec.reduction_key];
    read.labels = body_labels(body);
    const std::vector<TomlProblem> found = problems_of_body(body, read.labels);
    problems_.insert(problems_.end(), found.begin(), found.end());
    places_.add(spec, read.labels);
    if (found.empty()) make_stand_in(body, read);
    if (who_ == For::Run) bodies_.emplace(spec.reduction_key, std::move(body));
  } catch (const InputError& e) {
    add(spec.where, key, e.what());
  }
}

// Nodes, interfaces and sets where they are; mass and inertia are not asked for.
void Preflight::make_stand_in(const FeBody& body, Read& read) const {
  const FeModel& labels = read.labels;
  read.has_elements = body.mesh.element_count() > 0;
  std::vector<char> used(static_cast<size_t>(body.mesh.node_count()), 0);
  for (const int node : body.mesh.connectivity) used[static_cast<size_t>(node)] = 1;
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) read.without_element.insert(body.mesh.node_ids[i]);
  if (!labels.has_points()) return;
  RigidBodySpec& rigid = read.rigid;
  rigid.name = body.spec.name;
  rigid.mass = 1;
  rigid.centre =
      body.report && body.report->mass ? body.report->mass->centre : Vector3d(labels.points.rowwise().mean());
  const double radius = (labels.points.colwise() - rigid.centre).colwise().norm().maxCoeff();
  rigid.inertia = 1e-6 * (radius > 0 ? radius * radius : 1) * Matrix3d::Identity();
  rigid.nodes = labels.points;
  rigid.node_ids = labels.node_ids;
  if (body.spec.reduce) {
    for (const Interface& interface : find_interfaces(labels, body.spec.reduce->options.interfaces)) {
      rigid.points.emplace_back(interface.name, interface.origin);
      read.axes[interface.name] = interface.axes;
    }
    // only these stay
    std::set<int> kept;
    for (const std::string& name : body.spec.reduce->options.nodes)
      for (const int node : named_nodes(labels, name, "to keep")) kept.insert(node);
    if (!kept.empty()) {
      const std::vector<int> list(kept.begin(), kept.end());
      rigid.nodes = labels.points(Eigen::all, list);
      rigid.node_ids.clear();
      for (const int node : list) rigid.node_ids.push_back(labels.node_ids[static_cast<size_t>(node)]);
    }
  }
  for (const auto& [name, nodes] : labels.node_sets)
    if (!nodes.empty() && !read.axes.contains(name)) rigid.points.emplace_back(name, mean_of(labels, nodes));
  read.placed = true;
}

void Preflight::look_at_rom(const StudyFile& study) {
  Diagnostics told_by_the_run;
  Diagnostics& diagnostics = who_ == For::Check ? diagnostics_ : told_by_the_run;
  try {
    if (is_linear_file(study.rom)) {
      linear_rom(study, linear_mechanism(read_linear_file(study.rom, diagnostics), study.rom), diagnostics);
      return;
    }
    const RomFile file = read_rom_file(study.rom, diagnostics);
    look_at_built(study, build_rom_system(study, file.model, diagnostics));
  } catch (const InputError& e) {
    add({study.path.string(), 1}, "rom", e.what(), study.case_name);
  }
}

// Mechanisms of rigid bodies and beams are put together in no time.
void Preflight::look_at_system(const StudyFile& study) {
  Diagnostics told_by_the_run;
  Diagnostics& diagnostics = who_ == For::Check ? diagnostics_ : told_by_the_run;
  try {
    BodyStore store(false, false, stress_needs(study));
    const StudySystem built = build_system(study, store, diagnostics, progress_);
    if (who_ == For::Check || !needs_training(study)) check_study_system(built, study, diagnostics);
    look_at_built(study, built);
  } catch (const InputError& e) {
    const bool runs = study.simulation->simulate.has_value();
    add(runs ? SourcePos{study.path.string(), study.simulation->simulate->where.line}
             : SourcePos{study.path.string(), 1},
        runs ? "simulate" : "joints", e.what(), study.case_name);
  }
}

const Preflight::Read* Preflight::read_of(const BodySpec& body) const {
  const auto found = read_.find(body.reduction_key);
  return found == read_.end() ? nullptr : &found->second;
}

// Bodies that are to be reduced, or whose mass would have to be assembled, stand in as rigid ones.
StudyFile Preflight::with_stand_ins(const StudyFile& study) const {
  StudyFile out;
  out.path = study.path;
  out.title = study.title;
  out.case_name = study.case_name;
  out.units = study.units;
  out.bodies = study.bodies;
  out.simulation = study.simulation;
  SimulationSpec& simulation = *out.simulation;
  const auto stands_in = [&](const PlaceSpec& place) {
    const BodySpec* body = body_of(study, place);
    return body && read_of(*body);
  };
  for (size_t i = 0; i < study.bodies.size(); ++i) {
    const Read* read = read_of(study.bodies[i]);
    if (!read) continue;
    BodySpec body;
    body.name = study.bodies[i].name;
    body.where = study.bodies[i].where;
    body.placement = study.bodies[i].placement;
    body.formulation = Formulation::Rigid;
    body.rigid = read->rigid;
    body.reduction_key = study.bodies[i].reduction_key + " stand-in";
    out.bodies[i] = std::move(body);
  }
  // axes of interfaces, which points of rigid bodies do not have
  const auto turn = [&](const PlaceSpec& place, FrameSpec& frame) {
    if (!stands_in(place)) return;
    const BodySpec& body = study.bodies[static_cast<size_t>(place.body)];
    const auto& axes = read_of(body)->axes;
    const auto found = axes.find(place.marker.name);
    if (found == axes.end()) return;
    const Matrix3d base = body.placement.rotation * found->second;
    if (!frame.reference && !frame.axis) frame.reference = base.col(0);
    if (!frame.axis) frame.axis = base.col(2);
  };
  for (JointSpec& joint : simulation.joints) turn(joint.first, joint.frame);
  for (LoadSpec& load : simulation.loads) turn(load.first, load.frame);
  // what strain is needs K; look_at_stress() has had its look
  std::erase_if(simulation.sensors, [&](const SensorSpec& sensor) {
    return is_stress(sensor.kind) && sensor.place && stands_in(*sensor.place);
  });
  if (simulation.simulate) {
    simulation.simulate->stress.reset();
    simulation.simulate->paraview.reset();
  }
  for_each_place(simulation, [&](PlaceSpec& place) {
    if (stands_in(place) && place.marker.kind == MarkerSpec::Kind::Interface)
      place.marker.kind = MarkerSpec::Kind::Point;
  });
  return out;
}

void Preflight::look_at_stand_ins(const StudyFile& study) {
  const size_t before = problems_.size();
  look_at_stress(study);
  for (const BodySpec& body : study.bodies)
    if (const Read* read = read_of(body); read && !read->placed) return;
  look_at_axes(study);
  if (problems_.size() > before) return;
  Diagnostics told_by_the_run;
  try {
    const StudyFile standing = with_stand_ins(study);
    BodyStore store(false, false, stress_needs(standing));
    const StudySystem built = build_system(standing, store, told_by_the_run, progress_);
    if (!needs_training(study)) expect_joints_meet(built, study);
    look_at_built(study, built);
  } catch (const InputError& e) {
    const bool runs = study.simulation->simulate.has_value();
    add(runs ? SourcePos{study.path.string(), study.simulation->simulate->where.line}
             : SourcePos{study.path.string(), 1},
        runs ? "simulate" : "joints", e.what(), study.case_name);
  }
}

// What asks something of the system as a whole: [response], and ParaView.
void Preflight::look_at_built(const StudyFile& study, const StudySystem& built) {
  const SensorBank bank(*built.system, built.sensors);
  if (study.response) {
    std::vector<std::string> outputs;
    for (const SensorColumn& column : bank.columns()) outputs.push_back(column.name);
    // those of stress that wait for their body
    for (const SensorSpec& sensor : study.simulation->sensors) {
      if (!is_stress(sensor.kind)) continue;
      outputs.push_back(sensor.name);
      for (const std::string& asked : study.response->outputs)
        if (asked.starts_with(sensor.name + ".")) outputs.push_back(asked);
    }
    const bool later = study.linearise && study.linearise->about == LineariseSpec::About::Time;
    try {
      expect_response_names(*study.response, input_names(*built.system, later ? study.linearise->time : 0),
                            outputs);
    } catch (const InputError& e) {
      add(study.response->where, "response", e.what(), study.case_name);
    }
  }
  if (!study.simulation->simulate) return;
  const SimulateSpec& simulate = *study.simulation->simulate;
  if (!simulate.paraview) return;
  const auto shown = [&](const BodySpec& body) {
    const auto& chosen = simulate.paraview->bodies;
    return (body.ancf || !body.mesh.empty() || !body.body_file.empty()) &&
           (chosen.empty() || std::find(chosen.begin(), chosen.end(), body.name) != chosen.end());
  };
  if (study.rom.empty() && std::none_of(study.bodies.begin(), study.bodies.end(), shown))
    add(simulate.paraview->where, "simulate.paraview",
        "no body has a mesh to be shown; give one a mesh, or leave it out", study.case_name);
}

// Sensors of stress, and [simulate.stress], on bodies that are to be reduced.
void Preflight::look_at_stress(const StudyFile& study) {
  const auto problem = [&](const BodySpec& body) -> std::string {
    if (body.ancf)
      return fmt::format(
          "'{}' is a beam (formulation = \"ancf\"), whose stress is not computed; leave it out", body.name);
    if (body.rigid || body.formulation == Formulation::Rigid)
      return fmt::format("body '{}' is rigid, and a rigid body has no stress; choose another formulation",
                         body.name);
    const Read* read = read_of(body);
    if (!read) return "";
    if (body.formulation != Formulation::Gcms && body.reduce && !body.reduce->options.stress)
      return fmt::format(
          "stress is asked for, but the reduction of '{}' has no stress modes: leave out "
          "stress = false in [bodies.{}.reduce]",
          body.name, body.name);
    if (!read->has_elements)
      return fmt::format(
          "stress is computed from elements, and body '{}' has matrices but no mesh; give it "
          "one with mesh = \"FILE\"",
          body.name);
    return "";
  };
  for (const SensorSpec& sensor : study.simulation->sensors) {
    const BodySpec* body = sensor.place ? body_of(study, *sensor.place) : nullptr;
    if (!is_stress(sensor.kind) || !body) continue;
    const std::string key = fmt::format("sensors.{}.of", sensor.name), where = sensor.place->text;
    if (const std::string message = problem(*body); !message.empty()) {
      add(sensor.where, key, fmt::format("'{}': {}", where, message), study.case_name);
      continue;
    }
    const Read* read = read_of(*body);
    if (!read || !read->placed) continue;
    for (const int node : nodes_of(*body, read->labels, sensor.place->marker)) {
      const std::int64_t id = read->labels.node_ids[static_cast<size_t>(node)];
      const std::vector<std::int64_t>& kept = read->rigid.node_ids;
      std::string message;
      if (read->without_element.contains(id))
        message = fmt::format(
            "node {} of '{}' belongs to no element, so that there is no stress at it; name a node of "
            "elements",
            id, body->name);
      else if (std::find(kept.begin(), kept.end(), id) == kept.end())
        message = fmt::format("stress is known at the {} nodes kept of '{}', and {} is none of them",
                              kept.size(), body->name, id);
      if (message.empty()) continue;
      add(sensor.where, key, fmt::format("'{}': {}", where, message), study.case_name);
      break;
    }
  }
  if (!study.simulation->simulate) return;
  const SimulateSpec& simulate = *study.simulation->simulate;
  const auto look = [&](const StressSpec& spec, const char* key) {
    bool flexible = false, beams = false;
    for (const BodySpec& body : study.bodies) {
      beams = beams || body.ancf;
      const bool named = std::find(spec.bodies.begin(), spec.bodies.end(), body.name) != spec.bodies.end();
      const bool deforms = !body.ancf && !body.rigid && body.formulation != Formulation::Rigid;
      flexible = flexible || deforms || !spec.all;
      if (spec.all ? !deforms : !named) continue;
      if (const std::string message = problem(body); !message.empty())
        add(spec.where, key, message, study.case_name);
    }
    if (!flexible)
      add(spec.where, key,
          fmt::format("there is no flexible body{}", beams ? " but beams, whose stress is not computed" : ""),
          study.case_name);
  };
  if (simulate.stress) look(*simulate.stress, "simulate.stress");
  if (!simulate.paraview || !simulate.paraview->stress) return;
  StressSpec all;
  all.where = simulate.paraview->where;
  look(all, "simulate.paraview.stress");
}

// Whether the place has axes that turn with the body, which a single node has not.
bool Preflight::turns(const StudyFile& study, const PlaceSpec& place) const {
  const BodySpec* body = body_of(study, place);
  const Read* read = body ? read_of(*body) : nullptr;
  if (!read || body->formulation == Formulation::Rigid) return true;
  const std::vector<int> nodes = nodes_of(*body, read->labels, place.marker);
  if (nodes.size() != 1) return true;
  // but for the reference of a spider
  const bool interface =
      place.marker.kind == MarkerSpec::Kind::Interface && interface_spec(*body, place.marker.name) != nullptr;
  return interface && std::any_of(read->labels.dofs.begin(), read->labels.dofs.end(), [&](const Dof& dof) {
           return dof.node == nodes.front() && dof.direction >= 3;
         });
}

void Preflight::look_at_axes(const StudyFile& study) {
  for (const JointSpec& joint : study.simulation->joints) {
    if (joint.and_between) continue;
    const PlaceSpec* places[] = {&joint.first, &joint.second};
    for (int side = 0; side < 2; ++side)
      if (needs_rotation(joint.kind, side) && !turns(study, *places[side]))
        add(joint.where, "joints." + joint.name,
            fmt::format("is {} and needs axes at its {} marker, but '{}' is a single node, which has a "
                        "position only; use an interface or several nodes, or a spherical joint",
                        name_of(joint.kind), side == 0 ? "first" : "second", places[side]->text),
            study.case_name);
  }
  for (const LoadSpec& load : study.simulation->loads) {
    const PlaceSpec* places[] = {&load.first, load.second ? &*load.second : nullptr};
    for (int side = 0; side < 2; ++side)
      if (places[side] && needs_rotation(load.load, side) && !turns(study, *places[side]))
        add(load.where, "loads." + load.load.name,
            fmt::format("is a {} and needs axes at its {} marker, but '{}' is a single node, which has a "
                        "position only; use an interface or several nodes",
                        name_of(load.load.kind), side == 0 ? "first" : "second", places[side]->text),
            study.case_name);
  }
  for (const SensorSpec& sensor : study.simulation->sensors) {
    if (needs_axes(sensor.kind) && sensor.place && !turns(study, *sensor.place))
      add(sensor.where, fmt::format("sensors.{}.of", sensor.name),
          fmt::format("'{}' has no rotation: a single node only moves; take an interface or several nodes",
                      sensor.place->text),
          study.case_name);
  }
}

}  // namespace lissom
