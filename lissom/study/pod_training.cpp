#include "lissom/study/pod_training.hpp"

#include <Eigen/QR>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "lissom/io/result_file.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/symmetric_eigen.hpp"
#include "lissom/rom/pod/grassmann.hpp"
#include "lissom/rom/pod/parameter_plan.hpp"
#include "lissom/study/checkpoint.hpp"
#include "lissom/study/compare.hpp"
#include "lissom/study/pod_points.hpp"
#include "lissom/study/sensors_csv.hpp"
#include "lissom/study/training_processes.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// instants at which the indicator is evaluated
constexpr int indicator_samples = 20;

// What a training needs of a full run.
struct FullMotion {
  MatrixXd E;  // N by k
  std::vector<std::string> beams;
  double seconds = 0;
  bool reused = false;
};

// Of the integration, without what it wrote.
double integration_seconds(const json& summary) {
  return summary.at("seconds").get<double>() - summary.at("output_seconds").get<double>();
}

MatrixXd nodal_motion(const System& system, const MatrixXd& q) {
  MatrixXd E;
  for (Index k = 0; k < q.cols(); ++k) {
    const VectorXd column = nodal_coordinates(system, q.col(k));
    if (k == 0) E.resize(column.size(), q.cols());
    E.col(k) = column;
  }
  return E;
}

// Singular values of mean-centred snapshots; what is below 1e-8 of the first is not accurate, and small
// enough for the rules.
VectorXd centred_values(const MatrixXd& E) {
  const MatrixXd X = E.colwise() - VectorXd(E.rowwise().mean());
  const MatrixXd gram = X.rows() < X.cols() ? product(X, MatrixXd(X.transpose())) : transposed_product(X, X);
  const VectorXd squares = symmetric_eigen(gram, 0, static_cast<int>(gram.rows()), false).values;
  return squares.cwiseMax(0).cwiseSqrt().reverse();
}

// What is there of a run from before; another study's is told and not used.
enum class Kept : std::uint8_t { Nothing, Part, All };

Kept state_of(const StudyFile& study, const std::filesystem::path& folder, const std::string& label,
              Diagnostics& diagnostics) {
  if (!std::filesystem::exists(folder / "result.h5")) return Kept::Nothing;
  try {
    Diagnostics ignored;
    const Resumable found = find_resumable(study, folder, ignored);
    return found.complete ? Kept::All : found.checkpoint ? Kept::Part : Kept::Nothing;
  } catch (const InputError& e) {
    diagnostics.warn("pod.resume." + label, fmt::format("{} starts from the beginning: {}", label, e.what()));
    return Kept::Nothing;
  }
}

class PodTrainer {
 public:
  PodTrainer(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics, const ProgressHook& progress,
             const PodTrainingOptions& options)
      : study_(study),
        spec_(*study.train->pod),
        store_(store),
        diagnostics_(diagnostics),
        progress_(progress),
        options_(options) {
    training_.processes = spec_.processes > 0
                              ? spec_.processes
                              : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    if (!options.runner) training_.processes = 1;
    PodFile& rom = training_.rom;
    rom.title = study.title;
    rom.study = study.text;
    rom.study_path = study.path.empty() ? "" : std::filesystem::absolute(study.path).string();
    rom.parameters = spec_.parameters;
    rom.rule = spec_.rule;
    rom.fraction = spec_.fraction;
    rom.body = spec_.body;
    rom.library.options = spec_.options;
    rom.library.combination = spec_.combination;
    rom.library.reference = spec_.reference - 1;
    for (const StudyParameter& parameter : spec_.parameters) rom.library.parameters.push_back(parameter.name);
    rom.lissom_version = LISSOM_VERSION;
  }

  PodTraining run() {
    if (spec_.dimension() == 0) {
      add_samples(MatrixXd::Zero(0, 1));
    } else if (spec_.plan == PodPlan::Greedy) {
      greedy();
    } else {
      add_samples(spec_.plan == PodPlan::LatinHypercube
                      ? latin_hypercube(bound(false), bound(true), spec_.samples, spec_.seed)
                      : spec_.points);
    }
    finish();
    return std::move(training_);
  }

 private:
  VectorXd bound(bool upper) const {
    VectorXd bounds(spec_.dimension());
    for (int p = 0; p < spec_.dimension(); ++p) {
      const auto& range = *spec_.parameters[static_cast<size_t>(p)].range;
      bounds[p] = upper ? range.second : range.first;
    }
    return bounds;
  }

  void check_stop(const char* what) const {
    if (options_.stop && options_.stop()) fail("the training was stopped {}{}", what, kept());
  }

  std::string kept() const {
    return options_.folder.empty()
               ? ""
               : fmt::format("; what was computed is kept in {}, and the same command with --resume goes on",
                             (options_.folder / "training").string());
  }

  // Full runs at the points (p by k), then their bases.
  void add_samples(const MatrixXd& points) {
    Timer timer;
    std::vector<TrainingRun> runs;
    std::vector<StudyFile> studies;
    const size_t before = training_.rom.library.samples.size();
    for (Index k = 0; k < points.cols(); ++k) {
      TrainingRun run;
      const size_t number = before + static_cast<size_t>(k) + 1;
      run.parameters = points.col(k);
      run.label = fmt::format("sample {}: {}", number, describe(spec_.parameters, run.parameters));
      run.settings = full_settings(study_, settings_of(spec_.parameters, run.parameters));
      if (!options_.folder.empty()) run.folder = options_.folder / "training" / fmt::format("{:03}", number);
      try {
        studies.push_back(study_at(study_, run.settings));
        run.end = studies.back().simulation->simulate->integrator.end / study_.units.time;
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", run.label, e.what()));
      }
      runs.push_back(std::move(run));
    }
    expect_same_beams(runs, studies);
    std::vector<FullMotion> motions(runs.size());
    simulate_all(runs, studies, motions);
    training_.seconds.add("full simulations", timer.seconds());
    timer = Timer();
    for (size_t k = 0; k < runs.size(); ++k) {
      if (progress_) progress_("bases", static_cast<double>(k) / static_cast<double>(runs.size()));
      add_basis(runs[k], studies[k], motions[k]);
      motions[k].E.resize(0, 0);
    }
    training_.seconds.add("bases", timer.seconds());
  }

  // Before anything is simulated.
  void expect_same_beams(const std::vector<TrainingRun>& runs, const std::vector<StudyFile>& studies) {
    for (size_t k = 0; k < runs.size(); ++k) {
      Diagnostics told_by_the_runs;
      const StudySystem built = build_system(studies[k], store_, told_by_the_runs);
      const std::vector<std::string> beams = beam_names(*built.system);
      const Index size = nodal_coordinates(*built.system, built.q).size();
      if (first_.empty()) {
        first_ = runs[k].label;
        size_ = size;
        beams_ = beams;
      } else if (size != size_ || beams != beams_) {
        fail_input(
            study_.train->where,
            "train: {} has {} nodal coordinates, and {} has {}: samples of a training have the same beams "
            "and numbers of elements",
            runs[k].label, size, first_, size_);
      }
    }
  }

  void simulate_all(std::vector<TrainingRun>& runs, const std::vector<StudyFile>& studies,
                    std::vector<FullMotion>& motions) {
    std::vector<std::string> problems(runs.size());
    // what is there already
    std::vector<size_t> to_do;
    for (size_t k = 0; k < runs.size(); ++k) {
      const Kept kept = options_.resume && !runs[k].folder.empty()
                            ? state_of(studies[k], runs[k].folder, runs[k].label, diagnostics_)
                            : Kept::Nothing;
      const bool complete = kept == Kept::All;
      runs[k].resume = kept == Kept::Part;
      motions[k].reused = complete;
      if (!complete) to_do.push_back(k);
      if (!complete) continue;
      // what its process had printed when the training was killed, and what it had no time to remove at its end
      std::error_code ec;
      std::filesystem::remove(training_messages(runs[k]), ec);
      std::filesystem::remove(runs[k].folder / "checkpoint.lissom", ec);
    }
    if (options_.runner && !options_.folder.empty()) {
      std::vector<TrainingRun> asked;
      for (const size_t k : to_do) asked.push_back(runs[k]);
      if (!asked.empty()) {
        const std::vector<std::string> found = options_.runner(asked, training_.processes, progress_);
        for (size_t i = 0; i < to_do.size(); ++i) problems[to_do[i]] = found[i];
      }
    } else {
      for (size_t i = 0; i < to_do.size(); ++i) {
        check_stop("between two runs");
        problems[to_do[i]] =
            simulate_here(runs[to_do[i]], studies[to_do[i]], motions[to_do[i]], i, to_do.size());
      }
    }
    check_stop("while full simulations ran");
    std::vector<std::string> failed;
    for (size_t k = 0; k < runs.size(); ++k) {
      if (problems[k].empty() && motions[k].E.size() == 0) try {
          read_motion(runs[k], studies[k], motions[k]);
        } catch (const Error& e) {
          problems[k] = e.what();
        }
      if (!problems[k].empty()) failed.push_back(fmt::format("{}: {}", runs[k].label, problems[k]));
    }
    if (!failed.empty())
      fail("{} of {} full simulations of the training failed\n{}{}", failed.size(), runs.size(),
           fmt::join(failed, "\n"), kept());
  }

  // One run in this process; returns what went wrong.
  std::string simulate_here(const TrainingRun& run, const StudyFile& study, FullMotion& motion, size_t number,
                            size_t all) {
    SimulationOptions options;
    options.write_files = !run.folder.empty();
    options.stop = options_.stop;
    options.resume = run.resume;
    options.checkpoint = options_.checkpoint;
    const ProgressHook overall = [&](std::string_view, double fraction) {
      if (progress_)
        progress_("training",
                  (static_cast<double>(number) + std::max(0.0, fraction)) / static_cast<double>(all));
    };
    try {
      const SimulationRun result = simulate(study, run.folder, store_, diagnostics_, overall, options);
      motion.E = nodal_motion(*result.built->system, result.q);
      motion.beams = beam_names(*result.built->system);
      motion.seconds = integration_seconds(result.summary);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  void read_motion(const TrainingRun& run, const StudyFile& study, FullMotion& motion) {
    ResultReadOptions without_nodes;
    without_nodes.nodes = false;
    const ResultFile file = read_result_file(run.folder / "result.h5", diagnostics_, without_nodes);
    if (file.end.status != RunStatus::Complete)
      fail("{}: the run is {}", (run.folder / "result.h5").string(), name_of(file.end.status));
    Diagnostics told_by_the_run;
    const StudySystem built = build_system(study, store_, told_by_the_run);
    if (file.q.cols() != built.system->coordinates())
      fail("{}: has {} coordinates, expected {}", (run.folder / "result.h5").string(), file.q.cols(),
           built.system->coordinates());
    if (motion.reused) rebuild_csv(study, built, file, run.folder);
    motion.E = nodal_motion(*built.system, file.q.transpose());
    motion.beams = beam_names(*built.system);
    motion.seconds = integration_seconds(json::parse(file.end.report));
  }

  void add_basis(const TrainingRun& run, const StudyFile& study, const FullMotion& motion) {
    PodFile& rom = training_.rom;
    PodLibrary& library = rom.library;
    if (library.samples.empty()) {
      rom.beams = motion.beams;
      Diagnostics told_by_the_run;
      const StudyFile own = library.options.mass_weighted ? study_at(study_, {}) : study;
      mass_ = nodal_mass(*build_system(own, store_, told_by_the_run).system);
    }
    // a run that begins assembled or at rest has moved already
    Diagnostics told_by_the_run;
    const StudySystem built = build_system(study, store_, told_by_the_run);
    const VectorXd placed = nodal_coordinates(*built.system, built.q);
    try {
      library.samples.push_back(make_pod_sample(run.parameters, motion.E, spec_.options, mass_, placed));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}: {}", to_string(study_.train->where), run.label, e.what()));
    }
    const VectorXd& values = library.samples.back().singular_values;
    const VectorXd centred = centred_values(motion.E);
    PodSampleReport report;
    report.parameters = run.parameters;
    report.snapshots = static_cast<int>(motion.E.cols());
    report.seconds = motion.seconds;
    report.reused = motion.reused;
    report.by_values = truncation_order(values, PodRule::SingularValues, spec_.fraction);
    report.by_energy = truncation_order(values, PodRule::Energy, spec_.fraction);
    report.by_values_centred = truncation_order(centred, PodRule::SingularValues, spec_.fraction);
    report.by_energy_centred = truncation_order(centred, PodRule::Energy, spec_.fraction);
    training_.samples.push_back(std::move(report));
  }

  // Begins with few samples, and adds the candidate where the full model's equations are violated most.
  void greedy() {
    const VectorXd lower = bound(false), upper = bound(true);
    const int p = spec_.dimension();
    if (p <= 6 && (1 << p) + 1 <= spec_.samples)
      add_samples(corners_and_centre(lower, upper));
    else
      add_samples(latin_hypercube(lower, upper, std::min(spec_.samples, 2 * p + 1), spec_.seed));
    MatrixXd candidates = latin_hypercube(lower, upper, spec_.candidates, spec_.seed + 1);
    for (;;) {
      const Timer timer;
      choose_order();
      GreedyStep step;
      step.samples = static_cast<int>(training_.samples.size());
      step.indicator = -1;
      Index worst = 0;
      for (Index c = 0; c < candidates.cols(); ++c) {
        if (progress_)
          progress_("candidates", static_cast<double>(c) / static_cast<double>(candidates.cols()));
        check_stop("while candidates were looked at");
        const double indicator = indicator_at(candidates.col(c));
        if (indicator <= step.indicator) continue;
        step.indicator = indicator;
        worst = c;
      }
      step.parameters = candidates.col(worst);
      training_.greedy.push_back(step);
      training_.seconds.add("candidates", timer.seconds());
      if (step.indicator <= spec_.tolerance) return;
      if (step.samples >= spec_.samples || candidates.cols() == 1) {
        diagnostics_.warn(
            "pod.greedy",
            fmt::format("the greedy plan ended with {} samples and an indicator of {:.3g} at {}, "
                        "above the tolerance {:.3g}",
                        step.samples, step.indicator, describe(spec_.parameters, step.parameters),
                        spec_.tolerance));
        return;
      }
      add_samples(candidates.col(worst));
      // it is a sample now
      candidates.col(worst) = VectorXd(candidates.col(candidates.cols() - 1));
      candidates.conservativeResize(Eigen::NoChange, candidates.cols() - 1);
    }
  }

  // A reduced run that fails is as wrong as can be.
  double indicator_at(const VectorXd& parameters) {
    StudyFile study = study_at(study_, settings_of(spec_.parameters, parameters));
    study.simulation->simulate->model = MechanismModel::Pod;
    SimulationOptions options;
    options.write_files = false;
    options.stop = options_.stop;
    Diagnostics of_candidates;
    try {
      const SimulationRun run =
          simulate(study, {}, make_pod_system(study, training_.rom, store_, of_candidates), of_candidates, {},
                   options);
      return residual_indicator(study, run, store_, of_candidates);
    } catch (const InputError&) {
      throw;
    } catch (const Error&) {
      check_stop("while candidates were looked at");
      return std::numeric_limits<double>::max();
    }
  }

  void choose_order() {
    PodFile& rom = training_.rom;
    const int rank = rom.library.rank();
    if (spec_.order) {
      if (*spec_.order > rank) {
        int fewest = std::numeric_limits<int>::max();
        for (const PodSample& sample : rom.library.samples) fewest = std::min(fewest, sample.samples);
        fail_input(study_.train->where,
                   "train.order: is {}, but the samples have {} modes above round-off, from {} snapshots at "
                   "least; take fewer, or a smaller 'sample' in [simulate]",
                   *spec_.order, rank, fewest);
      }
      rom.order = *spec_.order;
      rom.why = "as the study asks for";
      return;
    }
    const int proposed = proposed_order(rom.library, spec_.rule, spec_.fraction);
    rom.order = std::min(proposed, rank);
    rom.why = fmt::format("{} % of the {}, the most that a sample needs", 100 * spec_.fraction,
                          spec_.rule == PodRule::Energy ? "energy (squares of the singular values)"
                                                        : "sum of the singular values");
    if (proposed > rank)
      diagnostics_.warn("pod.order",
                        fmt::format("the rule asks for {} modes, and {} are kept of every sample: raise "
                                    "max_order of [train]",
                                    proposed, rank));
  }

  void finish() {
    const Timer timer;
    PodFile& rom = training_.rom;
    choose_order();
    if (const std::string problem = inconsistency_of(rom); !problem.empty())
      fail("the training makes no model: {}", problem);
    const auto count = static_cast<Index>(rom.library.samples.size());
    training_.angles = MatrixXd::Zero(count, count);
    for (Index a = 0; a < count; ++a) {
      if (progress_) progress_("angles", static_cast<double>(a) / static_cast<double>(count));
      for (Index b = 0; b < a; ++b) {
        const auto basis = [&](Index k) {
          MatrixXd U = rom.library.samples[static_cast<size_t>(k)].basis.leftCols(rom.order);
          if (rom.library.options.mass_weighted)
            U = Eigen::HouseholderQR<MatrixXd>(U).householderQ() * MatrixXd::Identity(U.rows(), U.cols());
          return U;
        };
        training_.angles(a, b) = training_.angles(b, a) = principal_angles(basis(a), basis(b)).maxCoeff();
      }
    }
    training_.seconds.add("angles", timer.seconds());
    reconstruct();
  }

  // Some of the training motions again with the model that was made of them: the first sample, the last and
  // one between. It costs a few reduced runs, and is what later runs of the model are warned by.
  void reconstruct() {
    const Timer timer;
    PodFile& rom = training_.rom;
    const std::vector<PodSample>& samples = rom.library.samples;
    SlapAccuracy found;
    found.largest_error = 0;
    double squares = 0, numbers = 0;
    size_t before = samples.size();
    for (const size_t k : {size_t{0}, samples.size() / 2, samples.size() - 1}) {
      if (k == before) continue;
      before = k;
      if (progress_) progress_("reconstruction", -1);
      check_stop("while training motions were reconstructed");
      const PodSample& sample = samples[k];
      StudyFile study = study_at(study_, settings_of(spec_.parameters, sample.parameters));
      study.simulation->simulate->model = MechanismModel::Pod;
      SimulationOptions options;
      options.write_files = false;
      options.stop = options_.stop;
      Diagnostics of_the_model;
      try {
        const SimulationRun run =
            simulate(study, {}, make_pod_system(study, rom, store_, of_the_model), of_the_model, {}, options);
        if (run.q.cols() != sample.samples) return;  // other samples: there is nothing to compare with
        add_error(*run.built->pod, run.q, sample, found, squares, numbers);
      } catch (const InputError&) {
        throw;
      } catch (const Error&) {
        check_stop("while training motions were reconstructed");
        found.failed = true;
      }
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    found.rms_error = found.failed ? unknown : std::sqrt(squares / numbers);
    if (found.failed) found.largest_error = unknown;
    rom.accuracy = found;
    training_.seconds.add("reconstruction", timer.seconds());
    if (const std::string problem = poor(found); !problem.empty())
      diagnostics_.warn("train.poor",
                        fmt::format("the model of {} modes is poor: {}; take more modes ('order' or "
                                    "'fraction'), or more samples",
                                    rom.order, problem));
  }

  // Nodes of a reduced run against the snapshots that are kept of a sample, evenly in time.
  static void add_error(const PodBody& body, const MatrixXd& q, const PodSample& sample, SlapAccuracy& found,
                        double& squares, double& numbers) {
    const Index D = body.planar() ? 2 : 3, kept = sample.snapshots.cols();
    for (Index i = 0; i < kept; ++i) {
      const VectorXd E = body.nodal(q.col(i * (q.cols() - 1) / (kept - 1)));
      for (Index at = 0; at < E.size(); at += 2 * D) {
        const auto reference = sample.snapshots.col(i).segment(at, D);
        const double error = (E.segment(at, D) - reference).norm();
        found.largest_error = std::max(found.largest_error, error);
        found.motion = std::max(found.motion, (reference - sample.snapshots.col(0).segment(at, D)).norm());
        squares += error * error;
        numbers += static_cast<double>(D);
      }
    }
  }

  const StudyFile& study_;
  const PodTrainSpec& spec_;
  BodyStore& store_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  const PodTrainingOptions& options_;
  PodTraining training_;
  SymmetricMatrix mass_;
  // of the first sample
  std::string first_;
  Index size_ = 0;
  std::vector<std::string> beams_;
};

// Relative L2 norms of the columns that both runs have.
std::vector<double> relative_errors(const SimulationRun& full, const SimulationRun& rom) {
  const Comparison comparison = compare(compared_run(full, "full"), compared_run(rom, "reduced"));
  std::vector<double> errors;
  for (const std::string& name : full.columns) {
    const auto found = std::find_if(comparison.columns.begin(), comparison.columns.end(),
                                    [&](const ColumnDifference& d) { return d.name == name; });
    if (found == comparison.columns.end()) {
      errors.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto c = static_cast<Index>(found - comparison.columns.begin());
    const auto column = static_cast<Index>(&name - full.columns.data());
    // the full model at the same times
    double reference = 0;
    const double close = 1e-9 * full.time[full.time.size() - 1];
    for (Index i = 0, k = 0; i < comparison.time.size(); ++i) {
      while (k + 1 < full.time.size() && full.time[k] < comparison.time[i] - close) ++k;
      reference += std::pow(full.sensors(k, column), 2);
    }
    const double difference = comparison.differences.col(c).norm();
    errors.push_back(reference > 0 ? difference / std::sqrt(reference) : (difference > 0 ? INFINITY : 0));
  }
  return errors;
}

}  // namespace

std::vector<StudySetting> full_settings(const StudyFile& study, const std::vector<StudySetting>& settings) {
  std::vector<StudySetting> all = {{"simulate.model", "full"}};
  if (study.simulation && study.simulation->simulate && study.simulation->simulate->paraview)
    all.push_back({"simulate.paraview", "false"});
  for (const StudySetting& setting : settings)
    if (std::find(all.begin(), all.end(), setting) == all.end()) all.push_back(setting);
  return all;
}

StudyFile study_at(const StudyFile& study, const std::vector<StudySetting>& settings) {
  StudyFile changed = parse_study(study.text, study.path, {}, full_settings(study, settings));
  changed.cases.clear();
  changed.sweep.clear();
  return changed;
}

std::string pod_training_key(const PodTrainSpec& spec) {
  std::string key =
      fmt::format("pod {} {} {} {} {} {} {} {} {} {}", static_cast<int>(spec.plan), spec.samples, spec.seed,
                  spec.candidates, spec.tolerance, static_cast<int>(spec.options.offset),
                  spec.options.mass_weighted, spec.options.max_rank, spec.options.keep, spec.reference);
  for (const StudyParameter& parameter : spec.parameters)
    key += fmt::format(" {}={}*{} {} {}", parameter.name, fmt::join(parameter.keys, "|"), parameter.scale,
                       parameter.range ? parameter.range->first : 0,
                       parameter.range ? parameter.range->second : 0);
  for (Index k = 0; k < spec.points.cols(); ++k)
    key += fmt::format(" ({})", fmt::join(VectorXd(spec.points.col(k)), " "));
  // the order decides which candidates a greedy plan takes
  if (spec.plan == PodPlan::Greedy)
    key += fmt::format(" {} {} {} {} {}", spec.order.value_or(0), static_cast<int>(spec.rule), spec.fraction,
                       static_cast<int>(spec.combination), static_cast<int>(spec.body.force));
  return key;
}

PodSystemOptions pod_system_options(const PodTrainSpec& spec, const PodFile& model) {
  PodSystemOptions options;
  options.combination = spec.combination;
  options.force = spec.body.force;
  options.order =
      spec.order ? *spec.order
                 : std::min(model.library.rank(), proposed_order(model.library, spec.rule, spec.fraction));
  return options;
}

double residual_indicator(const StudyFile& study, const SimulationRun& rom, BodyStore& store,
                          Diagnostics& diagnostics) {
  LISSOM_ASSERT(rom.built && rom.built->pod);
  const PodBody& body = *rom.built->pod;
  const StudySystem full = build_system(study, store, diagnostics);
  const SystemCheck check = check_system(*full.system, 0, full.q);
  SystemEquations equations(*full.system, check.kept);
  const Index n = equations.coordinates(), m = equations.constraints();
  const std::vector<const AncfBody*> bodies = ancf_bodies(*full.system);
  // coordinates of the full model, body by body
  const auto to_coordinates = [&](const VectorXd& E, bool rate) {
    VectorXd q(n);
    Index at = 0, offset = 0;
    for (const AncfBody* one : bodies) {
      const VectorXd part = E.segment(offset, one->nodal_coordinates());
      // a rate has no constant part
      q.segment(at, one->coordinates()) =
          rate ? VectorXd(one->from_nodal(part) - one->from_nodal(VectorXd::Zero(part.size())))
               : one->from_nodal(part);
      at += one->coordinates();
      offset += one->nodal_coordinates();
    }
    return q;
  };
  const VectorXd E_zero = body.nodal(VectorXd::Zero(body.coordinates()));
  // the reduced mass is the identity: rates of the motion in its norm
  const double fast = rom.a.squaredNorm(), slow = rom.v.squaredNorm();
  const double inertia = fast > 0 && slow > 0 ? fast / slow : 1;
  NewtonMatrix matrix(static_cast<int>(n + m), equations.blocks(), NewtonMatrix::Storage::Automatic,
                      equations.symmetry());
  const double mass = equations.typical_mass();
  double sum = 0;
  const Index samples = rom.q.cols(), count = std::min<Index>(indicator_samples, samples);
  for (Index i = 0; i < count; ++i) {
    const Index k = count > 1 ? i * (samples - 1) / (count - 1) : 0;
    State state;
    state.t = rom.t[k];
    state.q = to_coordinates(body.nodal(rom.q.col(k)), false);
    state.v = to_coordinates(body.nodal(rom.v.col(k)) - E_zero, true);
    state.a = to_coordinates(body.nodal(rom.a.col(k)) - E_zero, true);
    state.lambda = VectorXd::Zero(m);
    state.turns = rom.turns_at(k);
    VectorXd x = VectorXd::Zero(n + m);
    equations.residual(state, 1, x.head(n));
    equations.jacobian(state, 1, {1, 0, inertia, mass, mass}, matrix);
    if (!matrix.factorise()) fail("the full model's matrix is singular at a state of the reduced one");
    matrix.solve_in_place(x);
    const double moved = x.head(n).cwiseProduct(equations.displacement_scale()).lpNorm<Eigen::Infinity>();
    sum += moved * moved;
  }
  return std::sqrt(sum / static_cast<double>(count)) / equations.length();
}

PodTraining train_pod(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                      const ProgressHook& progress, const PodTrainingOptions& options) {
  if (!study.train || !study.train->pod)
    fail_input("{}: there is no table [train] with method = \"pod\"", study.path.string());
  // before the first sample is simulated
  std::vector<std::string> lines;
  for (const TomlProblem& problem : problems_of_pod_points(study)) lines.push_back(problem.line());
  if (!lines.empty()) throw InputError(fmt::format("{}", fmt::join(lines, "\n")));
  return PodTrainer(study, store, diagnostics, progress, options).run();
}

void test_pod(const StudyFile& study, BodyStore& store, PodTraining& training, Diagnostics& diagnostics,
              const ProgressHook& progress, const PodTrainingOptions& options) {
  const PodTrainSpec& spec = *study.train->pod;
  const Timer timer;
  size_t all = 0, done = 0;
  for (const PodTest& test : spec.tests)
    all += 1 + test.combinations.size() * test.forces.size() * std::max<size_t>(1, test.orders.size());
  const auto tell = [&] {
    if (progress) progress("tests", static_cast<double>(done) / static_cast<double>(all));
    ++done;
    if (options.stop && options.stop()) fail("the training was stopped in its tests");
  };
  for (const PodTest& test : spec.tests) {
    tell();
    std::vector<StudySetting> settings = settings_of(spec.parameters, test.parameters);
    if (test.end) settings.push_back({"simulate.end", fmt::format("{}", *test.end)});
    SimulationOptions run_options;
    run_options.write_files = !options.folder.empty();
    run_options.stop = options.stop;
    run_options.resume = options.resume;
    run_options.checkpoint = options.checkpoint;
    const std::filesystem::path folder =
        options.folder.empty() ? std::filesystem::path() : options.folder / "tests" / test.name;
    const auto fail_test = [&](PodTestRow row, const std::string& what) {
      row.problem = what;
      diagnostics.warn(
          "pod.test",
          fmt::format("{} of the test '{}' failed: {}",
                      row.order == 0 ? "the full model"
                                     : fmt::format("the reduced model ({}, {} modes, {})",
                                                   pod_word(pod_combination_names(), row.combination),
                                                   row.order, pod_word(pod_force_names(), row.asked)),
                      test.name, what));
      training.tests.push_back(std::move(row));
    };
    PodTestRow row;
    row.test = test.name;
    row.parameters = test.parameters;
    std::optional<SimulationRun> full;
    StudyFile at;
    try {
      at = study_at(study, settings);
      run_options.resume =
          options.resume && state_of(at, folder / "full", test.name, diagnostics) != Kept::Nothing;
      full = simulate(at, folder.empty() ? folder : folder / "full", store, diagnostics, {}, run_options);
    } catch (const Error& e) {
      if (options.stop && options.stop()) throw;
      fail_test(row, e.what());
      continue;
    }
    if (training.columns.empty()) training.columns = full->columns;
    row.full_seconds = integration_seconds(full->summary);
    at.simulation->simulate->model = MechanismModel::Pod;
    run_options.resume = false;
    const std::vector<int> orders = test.orders.empty() ? std::vector<int>{training.rom.order} : test.orders;
    for (const PodCombination combination : test.combinations)
      for (const int order : orders)
        for (const PodForce force : test.forces) {
          tell();
          row.combination = combination;
          row.order = order;
          row.asked = row.force = force;
          row.fallback.clear();
          row.errors.assign(training.columns.size(), std::numeric_limits<double>::quiet_NaN());
          PodSystemOptions system;
          system.order = order;
          system.combination = combination;
          system.force = force;
          const std::string name = fmt::format("{}-{}-{}", pod_word(pod_combination_names(), combination),
                                               order, pod_word(pod_force_names(), force));
          // warnings say which model they are of
          Diagnostics own;
          const auto pass_on = [&] {
            for (const Warning& warning : own.warnings())
              diagnostics.warn(fmt::format("{}.{}.{}", warning.key, test.name, name),
                               fmt::format("test '{}', {}: {}", test.name, name, warning.message),
                               warning.where);
          };
          try {
            const SimulationRun run =
                simulate(at, folder.empty() ? folder : folder / name,
                         make_pod_system(at, training.rom, store, own, {}, system), own, {}, run_options);
            pass_on();
            row.errors = relative_errors(*full, run);
            row.force = run.built->pod->report().force;
            row.fallback = run.built->pod_use->basis.fallback;
            row.largest_angle = run.built->pod_use->basis.largest_angle;
            row.setup_seconds = run.built->pod_use->seconds;
            row.kept = run.summary.at("constraints");
            row.trust =
                run.summary.at("trust").is_object() ? run.summary.at("trust").at("largest").get<double>() : 0;
            row.seconds = integration_seconds(run.summary);
            training.tests.push_back(row);
          } catch (const Error& e) {
            if (options.stop && options.stop()) throw;
            pass_on();
            fail_test(row, e.what());
          }
        }
  }
  if (!spec.tests.empty()) training.seconds.add("tests", timer.seconds());
}

}  // namespace lissom
