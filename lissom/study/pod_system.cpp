#include "lissom/study/pod_system.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <numbers>

#include "lissom/core/resources.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// "mass1 = 0.5 is 25 % of its range below 0.152 .. 0.456"
std::string tell_outside(const PodLibrary& library, const VectorXd& p, int which, double outside) {
  double lower = library.samples.front().parameters[which], upper = lower;
  for (const PodSample& sample : library.samples) {
    lower = std::min(lower, sample.parameters[which]);
    upper = std::max(upper, sample.parameters[which]);
  }
  return fmt::format("the parameter {} = {:.6g} is {} its training range, {:.6g} to {:.6g}{}",
                     library.parameters[static_cast<size_t>(which)], p[which],
                     p[which] < lower ? "below" : "above", lower, upper,
                     std::isfinite(outside) ? fmt::format(", by {:.3g} % of its width", 100 * outside) : "");
}

// The mass that bases are orthonormal in: that of the model's study as it is written.
SymmetricMatrix weight_of(const PodFile& model, const System& current, BodyStore& store,
                          Diagnostics& diagnostics) {
  if (!model.library.options.mass_weighted) return nodal_mass(current);
  const StudyFile own = parse_study(model.study, model.study_path, {}, {{"simulate.model", "full"}});
  return nodal_mass(*build_system(own, store, diagnostics).system);
}

}  // namespace

SymmetricMatrix nodal_mass(const System& system) {
  const std::vector<const AncfBody*> bodies = ancf_bodies(system);
  std::vector<Eigen::Triplet<double>> entries;
  int offset = 0;
  for (const AncfBody* body : bodies) {
    const SymmetricMatrix mass = body->nodal_mass();
    for (int column = 0; column < mass.lower.outerSize(); ++column)
      for (SparseMatrix::InnerIterator it(mass.lower, column); it; ++it)
        entries.emplace_back(offset + static_cast<int>(it.row()), offset + column, it.value());
    offset += body->nodal_coordinates();
  }
  SymmetricMatrix all;
  all.lower.resize(offset, offset);
  all.lower.setFromTriplets(entries.begin(), entries.end());
  return all;
}

std::vector<std::string> beam_names(const System& system) {
  std::vector<std::string> names;
  for (const AncfBody* body : ancf_bodies(system))
    for (const AncfBeam& beam : body->model().beams) names.push_back(beam.name);
  return names;
}

void expect_in_range(const PodFile& model, const VectorXd& parameters) {
  int which = 0;
  const double outside = outside_range(model.library, parameters, &which);
  if (outside > 0)
    fail_input("{}; with --strict it is refused", tell_outside(model.library, parameters, which, outside));
}

StudySystem make_pod_system(const StudyFile& study, const PodFile& model, BodyStore& store,
                            Diagnostics& diagnostics, const ProgressHook& progress,
                            const PodSystemOptions& options) {
  const Timer timer;
  const PodLibrary& library = model.library;
  if (progress) progress("basis", -1);
  // the beams themselves cost next to nothing, and know where the motion begins; what is wrong with joints
  // and sensors is told once, by the reduced system
  Diagnostics of_the_bodies;
  const StudySystem full = build_system(study, store, of_the_bodies, progress);
  const std::vector<const AncfBody*> bodies = ancf_bodies(*full.system);
  const std::vector<std::string> beams = beam_names(*full.system);
  if (beams != model.beams)
    fail_input("{}: the model was made for the beams {}, in this order, and the study has {}",
               study.path.string(), fmt::join(model.beams, ", "), fmt::join(beams, ", "));
  const VectorXd E_start = nodal_coordinates(*full.system, full.q);
  if (E_start.size() != library.nodal_coordinates())
    fail_input(
        "{}: the beams have {} nodal coordinates, and the model was made for {}: the number of elements "
        "cannot change",
        study.path.string(), E_start.size(), library.nodal_coordinates());

  if (const std::string problem = poor(model.accuracy);
      !problem.empty() && options.order.value_or(model.order) == model.order)
    diagnostics.warn("rom.poor", fmt::format("the model is poor: {}. Do not rely on it: compare with model = "
                                             "\"full\", and train it again",
                                             problem));
  const auto use = std::make_shared<PodUse>();
  use->names = library.parameters;
  use->parameters = study.pod_parameters;
  use->order = options.order.value_or(model.order);
  use->samples = static_cast<int>(library.samples.size());
  use->asked = options.combination.value_or(library.combination);
  use->outside = outside_range(library, use->parameters, &use->outside_parameter);
  if (use->outside > 0)
    diagnostics.warn("pod.outside." + library.parameters[static_cast<size_t>(use->outside_parameter)],
                     tell_outside(library, use->parameters, use->outside_parameter, use->outside) +
                         ": the model extrapolates; compare with model = \"full\"");
  use->basis = pod_basis(library, use->asked, use->parameters, use->order,
                         weight_of(model, *full.system, store, diagnostics), diagnostics);
  const VectorXd E_ref = pod_offset(library, use->parameters, E_start);

  // states that the forces are sampled at and that trust compares with: as motions from this start
  MatrixXd snapshots(E_start.size(), 0);
  for (const PodSample& sample : library.samples) {
    const Index before = snapshots.cols();
    snapshots.conservativeResize(Eigen::NoChange, before + sample.snapshots.cols());
    snapshots.rightCols(sample.snapshots.cols()) =
        sample.snapshots.colwise() + VectorXd(E_ref - sample.offset);
  }
  PodBodyOptions body = model.body;
  if (options.force) body.force = *options.force;
  if (progress) progress("reduced forces", -1);
  StudySystem built = build_pod_system(
      study,
      std::make_unique<PodBody>("mechanism", bodies, E_ref, use->basis.Psi, snapshots, body, diagnostics),
      full, diagnostics);
  use->seconds = timer.seconds();
  built.pod_use = use;
  return built;
}

const SlapTraining* training_of(const StudySystem& built) {
  if (built.rom) return &built.rom->training;
  return built.pod ? &built.pod->training() : nullptr;
}

json pod_use_json(const StudySystem& built, const SystemCheck& check) {
  if (!built.pod_use) return nullptr;
  const PodUse& use = *built.pod_use;
  const PodReport& report = built.pod->report();
  json parameters = json::object();
  for (size_t p = 0; p < use.names.size(); ++p)
    parameters[use.names[p]] = use.parameters[static_cast<Index>(p)];
  json j = {{"parameters", std::move(parameters)},
            {"order", use.order},
            {"samples", use.samples},
            {"combination", pod_word(pod_combination_names(), use.basis.used)},
            {"combination_asked", pod_word(pod_combination_names(), use.asked)},
            {"nearest_sample", use.basis.nearest + 1},
            {"largest_angle_deg", use.basis.largest_angle * 180 / std::numbers::pi},
            {"outside_range", std::isfinite(use.outside) ? json(use.outside) : json("infinite")},
            {"force", pod_word(pod_force_names(), report.force)},
            {"force_why", report.why},
            {"constraints_satisfied", check.satisfied},
            {"constraints_kept", check.rank},
            {"setup_seconds", use.seconds}};
  if (!use.basis.fallback.empty()) j["fallback"] = use.basis.fallback;
  if (use.outside > 0) j["outside_parameter"] = use.names[static_cast<size_t>(use.outside_parameter)];
  if (report.points > 0) j["points"] = {{"used", report.points}, {"all", report.all_points}};
  if (report.force == PodForce::Ecsw) j["ecsw_error"] = report.ecsw_error;
  if (report.force == PodForce::Ecsw && report.ecsw_damping_error > 0)
    j["ecsw_damping_error"] = report.ecsw_damping_error;
  return j;
}

std::string describe_pod_use(const StudySystem& built, const SystemCheck& check) {
  if (!built.pod_use) return "";
  const PodUse& use = *built.pod_use;
  const PodReport& report = built.pod->report();
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  std::vector<std::string> shown;
  for (size_t p = 0; p < use.names.size(); ++p)
    shown.push_back(fmt::format("{} = {:.6g}", use.names[p], use.parameters[static_cast<Index>(p)]));
  if (!shown.empty()) line("parameters", fmt::format("{}", fmt::join(shown, ", ")));
  line("basis", fmt::format("{} modes, {} of {} sample{}{}{}", use.order,
                            pod_word(pod_combination_names(), use.basis.used), use.samples,
                            use.samples == 1 ? "" : "s",
                            use.basis.used == PodCombination::Grassmann && use.samples > 1
                                ? fmt::format(", largest angle {:.1f} degrees",
                                              use.basis.largest_angle * 180 / std::numbers::pi)
                                : "",
                            use.basis.fallback.empty() ? "" : ": " + use.basis.fallback));
  line("force", fmt::format("{}{}", report.why,
                            report.force == PodForce::Deim
                                ? fmt::format(", {} of {} points", report.points, report.all_points)
                                : ""));
  line("constraints", fmt::format("{} that the basis satisfies, {} kept", check.satisfied, check.rank));
  return text;
}

}  // namespace lissom
