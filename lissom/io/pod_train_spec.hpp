// What a study asks of a training with method = "pod": parameters, plan, basis, tests. Keys:
// docs/reference/study-file.md.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lissom/io/study_keys.hpp"
#include "lissom/rom/pod/pod.hpp"
#include "lissom/rom/pod/pod_body.hpp"

namespace lissom {

class TomlTable;

// A scalar of the study that a reduced mechanism depends on: its keys have the value times `scale`.
struct StudyParameter {
  std::string name;
  std::vector<std::string> keys;
  double scale = 1;
  std::vector<double> values;                      // of plans list and factorial
  std::optional<std::pair<double, double>> range;  // of Latin hypercubes and greedy ones
  SourcePos where;
};

// Keys and values of a study with these parameters (as many as there are).
std::vector<StudySetting> settings_of(const std::vector<StudyParameter>& parameters,
                                      const Eigen::VectorXd& values);
// The parameters of a study as it is, in the units of the parameters. Throws InputError: a key that is not
// there or is no number, keys of one parameter that do not agree.
Eigen::VectorXd parameters_of(const TomlValue& root, const std::vector<StudyParameter>& parameters);
// "mass1 = 0.3, mass2 = 0.15"
std::string describe(const std::vector<StudyParameter>& parameters, const Eigen::VectorXd& values);

// The word of a choice.
template <class Value>
const std::string& pod_word(const std::vector<std::pair<std::string, Value>>& names, Value value) {
  for (const auto& entry : names)
    if (entry.second == value) return entry.first;
  LISSOM_ASSERT(false);
  return names.front().first;
}

enum class PodPlan : std::uint8_t { Factorial, List, LatinHypercube, Greedy };
const std::vector<std::pair<std::string, PodPlan>>& pod_plan_names();

// Parameters that no sample has, where reduced and full model are compared.
struct PodTest {
  std::string name;
  Eigen::VectorXd parameters;
  std::optional<double> end;  // in place of that of [simulate], the study's units
  std::vector<int> orders;    // empty: that of the model
  std::vector<PodForce> forces;
  std::vector<PodCombination> combinations;  // all three unless given
  SourcePos where;
};

struct PodTrainSpec {
  std::vector<StudyParameter> parameters;  // none: the study's own run is the only sample
  PodPlan plan = PodPlan::Factorial;
  Eigen::MatrixXd points;  // p by k: samples of a list or factorial plan
  int samples = 0;         // of a Latin hypercube; at most, of a greedy plan
  int seed = 1;
  int candidates = 30;      // of a greedy plan
  double tolerance = 1e-3;  // of a greedy plan: the indicator at which it ends
  PodOptions options;
  PodRule rule = PodRule::SingularValues;
  double fraction = 0.999;
  std::optional<int> order;
  PodCombination combination = PodCombination::Grassmann;
  int reference = 0;  // sample, from one; 0: the one nearest to the middle
  PodBodyOptions body;
  int processes = 0;  // at a time; 0: as many as the machine has cores
  std::vector<PodTest> tests;
  Eigen::VectorXd current;  // the parameters of the study itself, or of the case that it belongs to

  int dimension() const { return static_cast<int>(parameters.size()); }
};

// Notes every problem of the table, unknown keys included. `root` is the study.
PodTrainSpec read_pod_train_spec(TomlTable& table, const TomlValue& root);

}  // namespace lissom
