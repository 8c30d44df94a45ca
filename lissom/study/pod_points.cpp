#include "lissom/study/pod_points.hpp"

#include <algorithm>
#include <set>

#include "lissom/rom/pod/parameter_plan.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/pod_training.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index most_points = 100;

// Every point that the plan may ask for (p by k): samples, and candidates of a greedy one.
MatrixXd planned_points(const PodTrainSpec& spec) {
  const int p = spec.dimension();
  if (p == 0) return MatrixXd(0, 0);
  if (spec.plan == PodPlan::List || spec.plan == PodPlan::Factorial) return spec.points;
  VectorXd lower(p), upper(p);
  for (int i = 0; i < p; ++i) std::tie(lower[i], upper[i]) = *spec.parameters[static_cast<size_t>(i)].range;
  if (spec.plan == PodPlan::LatinHypercube) return latin_hypercube(lower, upper, spec.samples, spec.seed);
  const MatrixXd first = p <= 6 ? corners_and_centre(lower, upper)
                                : latin_hypercube(lower, upper, std::min(spec.samples, 2 * p + 1), spec.seed);
  const MatrixXd candidates = latin_hypercube(lower, upper, spec.candidates, spec.seed + 1);
  MatrixXd all(p, first.cols() + candidates.cols());
  all << first, candidates;
  return all;
}

// Every so manieth, the first and the last among them.
std::vector<Index> some_of(Index count) {
  std::vector<Index> chosen;
  const Index taken = std::min(count, most_points);
  for (Index i = 0; i < taken; ++i) chosen.push_back(taken == 1 ? 0 : i * (count - 1) / (taken - 1));
  return chosen;
}

// Why the study with these settings makes no sense; empty: it does, and its beams can be built. `size`
// becomes the number of their nodal coordinates.
std::string problem_at(const StudyFile& study, const std::vector<StudySetting>& settings,
                       Index* size = nullptr) {
  try {
    const StudyFile changed = study_at(study, settings);
    BodyStore store;
    Diagnostics told_by_the_run;
    const StudySystem built = build_system(changed, store, told_by_the_run);
    if (size) *size = nodal_coordinates(*built.system, built.q).size();
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

}  // namespace

std::vector<TomlProblem> problems_of_pod_points(const StudyFile& study) {
  const PodTrainSpec& spec = *study.train->pod;
  std::vector<TomlProblem> problems;
  const MatrixXd points = planned_points(spec);
  // one parameter at a time, so that it can be named
  for (size_t p = 0; p < spec.parameters.size(); ++p) {
    const StudyParameter& parameter = spec.parameters[p];
    std::set<double> different;
    if (parameter.range) different = {parameter.range->first, parameter.range->second};
    for (Index k = 0; k < points.cols(); ++k) different.insert(points(static_cast<Index>(p), k));
    const std::vector<double> values(different.begin(), different.end());
    for (const Index k : some_of(static_cast<Index>(values.size()))) {
      const double value = values[static_cast<size_t>(k)];
      const std::string problem = problem_at(study, settings_of({parameter}, VectorXd::Constant(1, value)));
      if (problem.empty()) continue;
      problems.push_back({parameter.where, "train.parameters." + parameter.name,
                          fmt::format("with the value {:g} the study cannot be run: {}", value, problem)});
      break;  // its neighbours would say the same
    }
  }
  if (!problems.empty()) return problems;
  Index first = 0;
  for (const Index k : some_of(points.cols())) {
    const VectorXd point = points.col(k);
    const std::string named = describe(spec.parameters, point);
    Index size = 0;
    std::string problem = problem_at(study, settings_of(spec.parameters, point), &size);
    if (!problem.empty())
      problem = fmt::format("with {} the study cannot be run: {}", named, problem);
    else if (k > 0 && size != first)
      problem = fmt::format(
          "sample {}: {} has {} nodal coordinates, and sample 1: {} has {}: samples of a training have the "
          "same beams and numbers of elements",
          k + 1, named, size, describe(spec.parameters, VectorXd(points.col(0))), first);
    if (k == 0) first = size;
    if (problem.empty()) continue;
    problems.push_back({study.train->where, "train", problem});
    break;
  }
  for (const PodTest& test : spec.tests) {
    std::vector<StudySetting> settings = settings_of(spec.parameters, test.parameters);
    if (test.end) settings.push_back({"simulate.end", fmt::format("{}", *test.end)});
    if (const std::string problem = problem_at(study, settings); !problem.empty())
      problems.push_back({test.where, "train.test",
                          fmt::format("'{}': with {} the study cannot be run: {}", test.name,
                                      describe(spec.parameters, test.parameters), problem)});
  }
  return problems;
}

}  // namespace lissom
