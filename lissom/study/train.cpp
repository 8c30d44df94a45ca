#include "lissom/study/train.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

namespace {

// The study for its motion alone.
StudyFile without_stress(StudyFile study) {
  if (study.simulation)
    std::erase_if(study.simulation->sensors, [](const SensorSpec& sensor) { return is_stress(sensor.kind); });
  if (study.simulation && study.simulation->simulate) {
    study.simulation->simulate->stress.reset();
    study.simulation->simulate->paraview.reset();
  }
  return study;
}

// A study as a mechanism and its motions (rom/slap/slap_reductor.hpp), and what is wrong with them as lines of
// its file.
class StudyTrainer {
 public:
  StudyTrainer(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
               const ProgressHook& progress, const std::function<bool()>& stop)
      : study_(study),
        spec_(*study.train),
        store_(store),
        motions_(motions),
        diagnostics_(diagnostics),
        progress_(progress),
        stop_(stop) {}

  Training run() {
    Timer timer;
    PhaseTimes seconds;
    const auto phase = [&](const char* name) {
      seconds.add(name, timer.seconds());
      timer = Timer();
    };
    if (study_.bodies.empty()) fail_input(spec_.where, "train: there are no bodies");
    add_bodies();
    phase("bodies");
    simulate_runs();
    phase("training runs");
    add_joints();
    add_places();
    Training training;
    at_its_line([&] {
      SlapReductor reductor(mechanism_, spec_, diagnostics_, progress_, stop_);
      static_cast<SlapReduction&>(training) = reductor.train(runs(reductor.parts()));
    });
    for (const auto& [name, spent] : training.seconds.phases()) seconds.add(name, spent);
    timer = Timer();
    keep(training);
    phase("model");
    training.seconds = std::move(seconds);
    return training;
  }

 private:
  // ---- the mechanism

  void add_bodies() {
    std::map<std::string, int> done;  // by reduction
    for (const BodySpec& body : study_.bodies) {
      const StoredBody& stored = store_.matrices(body, diagnostics_, progress_);
      if (spec_.component_modes && stored.reduced.size() == 0)
        fail_input(body.where,
                   "bodies.{}: the training compresses with component modes, and this body has none; add "
                   "[bodies.{}.reduce], or say modes = \"data\" in [train]",
                   body.name, body.name);
      if (spec_.component_modes && stored.reduced.node_ids != stored.bare.node_ids)
        fail_input(body.where,
                   "bodies.{}: the training needs the component modes at all nodes: leave out 'nodes' of "
                   "[bodies.{}.reduce]",
                   body.name, body.name);
      const auto index = static_cast<int>(mechanism_.bodies.size());
      const auto [same, is_new] = done.try_emplace(body.reduction_key, index);
      mechanism_.bodies.push_back({.name = body.name,
                                   .model = &stored.bare,
                                   .reduced = &stored.reduced,
                                   .tied = stored.tied,
                                   .places = &stored.places,
                                   .mesh = stored.mesh.get(),
                                   .placement = body.placement,
                                   .same_as = is_new ? -1 : same->second});
    }
  }

  SlapSite site(const PlaceSpec& place) const {
    if (place.is_ground()) return {};
    return {
        mechanism_.body_of(place.part), place.text.substr(place.part.size() + 1),
        place.marker.kind == MarkerSpec::Kind::Nodes ? place.marker.node_ids : std::vector<std::int64_t>()};
  }

  void add_joints() {
    if (!study_.simulation) return;
    for (const JointSpec& spec : study_.simulation->joints) {
      SlapJoint& joint = mechanism_.joints.emplace_back();
      joint.name = spec.name;
      joint.kind = spec.kind;
      joint.first = site(spec.first);
      joint.second = site(spec.second);
      if (spec.and_between)
        joint.and_between = {site(spec.and_between->first), site(spec.and_between->second)};
      joint.at = spec.frame.at;
      joint.axis = spec.frame.axis;
      joint.has_motion = spec.motion.has_value();
    }
  }

  void wish(const SourcePos& where, const std::string& label, const PlaceSpec& place) {
    mechanism_.places.push_back({label, site(place)});
    asked_.push_back(where);
  }

  // All that loads and sensors of the study and its cases use, every interface, and what [train] names.
  void add_places() {
    const auto of_study = [&](const StudyFile& study) {
      if (!study.simulation) return;
      for (const LoadSpec& load : study.simulation->loads) {
        const std::string label = fmt::format("load '{}'", load.load.name);
        wish(load.where, label, load.first);
        if (load.second) wish(load.where, label, *load.second);
      }
      for (const SensorSpec& sensor : study.simulation->sensors)
        if (sensor.place) wish(sensor.where, fmt::format("sensor '{}'", sensor.name), *sensor.place);
    };
    of_study(study_);
    for (const StudyCase& variant : study_.cases) of_study(variant.study);
    for (SlapWish& one : all_interfaces(mechanism_)) {
      mechanism_.places.push_back(std::move(one));
      asked_.push_back(spec_.where);
    }
    std::vector<std::string> names;
    for (const BodySpec& body : study_.bodies) names.push_back(body.name);
    for (const std::string& text : spec_.places) {
      PlaceSpec place;
      place.text = text;
      std::string rest;
      const int b = split_place(text, names, rest);
      if (b < 0)
        fail_input(spec_.where, "train.places: '{}' is no place of a body; expected \"BODY.PLACE\"", text);
      place.part = names[b];
      place.marker.name = rest;
      place.marker.node_ids = node_numbers(rest);
      if (!place.marker.node_ids.empty()) place.marker.kind = MarkerSpec::Kind::Nodes;
      wish(spec_.where, fmt::format("train.places '{}'", text), place);
    }
  }

  // ---- its motions

  const StudyFile& variant(const std::string& name) const {
    if (name.empty()) return study_;
    for (const StudyCase& c : study_.cases)
      if (c.study.case_name == name) return c.study;
    fail_input(spec_.where, "train.runs: there is no case '{}'", name);
  }

  void simulate_runs() {
    if (!spec_.trajectories.empty()) return;
    run_names_ = spec_.runs.empty() ? std::vector<std::string>{""} : spec_.runs;
    for (const std::string& name : run_names_) {
      if (motions_.contains(name)) continue;
      const StudyFile& of_run = variant(name);
      if (!of_run.simulation || !of_run.simulation->simulate)
        fail_input(spec_.where, "train: {} has no [simulate] to train on; add one, or give trajectories",
                   name.empty() ? "the study" : "case '" + name + "'");
      SimulationOptions options;
      options.write_files = false;
      options.stop = stop_;
      motions_[name] = simulate(without_stress(of_run), {}, store_, diagnostics_, progress_, options);
    }
  }

  std::vector<SlapRun> runs(const std::vector<SlapSpacePart>& parts) const {
    std::vector<std::string> names;
    std::map<std::string, Eigen::Matrix3Xd> rest;
    std::map<std::string, std::vector<std::int64_t>> rest_ids;
    for (size_t b = 0; b < study_.bodies.size(); ++b) {
      const Placement& placement = study_.bodies[b].placement;
      names.push_back(study_.bodies[b].name);
      rest_ids[names.back()] = parts[b].node_ids;
      rest[names.back()] = (placement.rotation * parts[b].points).colwise() + placement.position;
    }
    std::vector<SlapRun> runs;
    for (const TrajectorySpec& trajectory : spec_.trajectories) {
      SlapRun& run = runs.emplace_back();
      run.nodes = open_snapshots(trajectory, names, rest, diagnostics_, rest_ids);
      run.name = run.nodes->name();
      run.at_rest = trajectory.at_rest;
      run.repeat = repeat(study_);
    }
    for (const std::string& name : run_names_) {
      const SimulationRun& motion = motions_.at(name);
      SlapRun& run = runs.emplace_back();
      run.name = name.empty() ? "the study's run" : "case '" + name + "'";
      run.system = motion.built->system.get();
      run.t = motion.t;
      run.q = motion.q;
      run.v = motion.v.col(0);
      run.placed = poses(variant(name));
      run.repeat = repeat(variant(name));
    }
    return runs;
  }

  // Where the bodies of a run are placed.
  std::vector<std::optional<SlapPose>> poses(const StudyFile& of_run) const {
    std::vector<std::optional<SlapPose>> poses;
    for (const BodySpec& body : study_.bodies) {
      poses.emplace_back();
      for (const BodySpec& one : of_run.bodies)
        if (one.name == body.name) poses.back() = SlapPose{one.placement.position, one.placement.rotation};
    }
    return poses;
  }

  // The run of a study again, with a model; steps are solved to round-off.
  std::function<SlapRepeat(const SlapModel&)> repeat(const StudyFile& of_run) const {
    if (!of_run.simulation || !of_run.simulation->simulate) return {};
    StudyFile exact = without_stress(of_run);
    NewtonOptions& newton = exact.simulation->simulate->integrator.newton;
    newton = to_round_off(newton);
    return [exact = std::move(exact), stop = stop_](const SlapModel& model) {
      SimulationOptions options;
      options.write_files = false;
      options.stop = stop;
      Diagnostics notes;  // of orders that are only tried
      SimulationRun run = simulate(exact, {}, build_rom_system(exact, model, notes), notes, {}, options);
      return SlapRepeat{std::move(run.t), std::move(run.q)};
    };
  }

  // ---- what was found

  void keep(Training& training) const {
    RomFile& rom = training.rom;
    rom.model = training.model(training.order);
    rom.model.title = study_.title;
    rom.study = study_.text;
    rom.study_path = study_.path.string();
    rom.case_name = run_names_.empty() ? "" : run_names_.front();
    rom.singular_values = training.basis.singular_values;
    rom.joint_violation = training.basis.joint_violation;
    rom.frequencies_hz = slap_frequencies(rom.model, Eigen::VectorXd::Zero(training.order));
    rom.why = training.why;
    rom.lissom_version = LISSOM_VERSION;
    // a model that its own study cannot be run with is not written
    const StudyFile& own = variant(rom.case_name);
    Diagnostics told_by_its_runs;
    if (own.simulation) build_rom_system(own, rom.model, told_by_its_runs);
  }

  template <class Work>
  void at_its_line(Work work) const {
    try {
      work();
    } catch (const SubjectError& e) {
      const auto index = static_cast<size_t>(e.subject().index);
      switch (e.subject().kind) {
        case Subject::Kind::Body:
          fail_input(study_.bodies[index].where, "bodies.{}: {}", study_.bodies[index].name, e.problem());
        case Subject::Kind::Joint:
          fail_input(study_.simulation->joints[index].where, "{}", e.what());
        case Subject::Kind::Place:
          fail_input(asked_[index], "{}", e.what());
        case Subject::Kind::Run:
          fail_input(index < spec_.trajectories.size() ? spec_.trajectories[index].where : spec_.where,
                     "train: {}", e.problem());
        case Subject::Kind::Options:
        case Subject::Kind::Load:
          break;
      }
      fail_input(spec_.where, "train.{}", e.what());
    }
  }

  const StudyFile& study_;
  const TrainSpec& spec_;
  BodyStore& store_;
  TrainingMotions& motions_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  const std::function<bool()>& stop_;

  SlapMechanism mechanism_;
  std::vector<SourcePos> asked_;        // of the mechanism's places
  std::vector<std::string> run_names_;  // of own runs
};

}  // namespace

Training train(const StudyFile& study, BodyStore& store, TrainingMotions& motions, Diagnostics& diagnostics,
               const ProgressHook& progress, const std::function<bool()>& stop) {
  if (!study.train) fail_input("{}: there is no table [train]", study.path.string());
  LISSOM_ASSERT(study.train->is_slap());
  return StudyTrainer(study, store, motions, diagnostics, progress, stop).run();
}

std::string training_key(const TrainSpec& spec) {
  std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {} [{}] [{}]", spec.reference, spec.max_order, spec.tolerance,
      spec.project_on_joints, spec.component_modes, spec.reconstruct, spec.recovery, spec.stress.strain,
      spec.stress.stress, spec.mass_damping, spec.noise, static_cast<int>(spec.form),
      spec.trajectories.size(), fmt::join(spec.runs, "|"), fmt::join(spec.places, "|"));
  for (const TrajectorySpec& t : spec.trajectories) {
    key += fmt::format(" {} {} {} {} {} {}", t.file.string(), t.time, t.displacements, t.at_rest,
                       t.units.length, t.units.time);
    for (const auto& [body, source] : t.bodies) key += " " + body + "=" + source;
    for (const auto& [body, source] : t.nodes) key += " " + body + "=" + source;
  }
  return key;
}

NodalError nodal_error(const SlapReduction& training, const SimulationRun& reference,
                       const SimulationRun& rom) {
  return nodal_error(training, *reference.built->system, reference, rom);
}

NodalError nodal_error(const SimulationRun& reference, const SimulationRun& other) {
  return nodal_error(*reference.built->system, reference, *other.built->system, other);
}

std::vector<ModelCheck> check_model(const SlapReduction& training, const StudyFile& study,
                                    const SimulationRun& run, const std::vector<double>& times,
                                    Diagnostics& diagnostics) {
  const SlapTraining* trained = run.built && run.built->rom ? &run.built->rom->training : nullptr;
  return check_model(training, run, times, trained, [&](const SlapModel& full) {
    return std::move(build_rom_system(without_stress(study), full, diagnostics).system);
  });
}

}  // namespace lissom
