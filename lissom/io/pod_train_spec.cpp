#include "lissom/io/pod_train_spec.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/io/toml_table.hpp"
#include "lissom/rom/pod/parameter_plan.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr size_t most_samples = 10000;
constexpr long most_modes = 500;

// Keys of [[train.test]] that are no parameters.
const std::vector<std::string>& test_keys() {
  static const std::vector<std::string> keys = {"name", "end", "orders", "forces", "combinations"};
  return keys;
}

void read_whole(TomlTable& table, const char* key, long least, long most, int& value) {
  const auto number = table.integer(key);
  if (!number) return;
  if (*number < least || *number > most)
    table.problem(key, fmt::format("is {}, expected {} to {}", *number, least, most));
  else
    value = static_cast<int>(*number);
}

template <class Value>
std::vector<Value> read_words(TomlTable& table, const char* key,
                              const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<Value> values;
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  for (const std::string& word : table.texts(key).value_or(std::vector<std::string>{})) {
    const auto at = std::find(words.begin(), words.end(), word);
    if (at == words.end())
      table.problem(
          key, fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "), did_you_mean(word, words)));
    else
      values.push_back(choices[static_cast<size_t>(at - words.begin())].second);
  }
  return values;
}

class PodTrainReader {
 public:
  PodTrainReader(TomlTable& table, const TomlValue& root) : table_(table), root_(root) {}

  PodTrainSpec read() {
    table_.choice(std::string_view("plan"), pod_plan_names(), spec_.plan);
    for (auto& [name, parameter] : table_.named_tables("parameters")) read_parameter(name, parameter);
    read_plan();
    read_basis();
    int number = 0;
    for (TomlTable& test : table_.tables("test")) read_test(test, ++number);
    table_.finish();
    return std::move(spec_);
  }

 private:
  bool has_range() const { return spec_.plan == PodPlan::LatinHypercube || spec_.plan == PodPlan::Greedy; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const StudyParameter& parameter : spec_.parameters) names.push_back(parameter.name);
    return names;
  }

  void read_parameter(const std::string& name, TomlTable& table) {
    StudyParameter parameter;
    parameter.name = name;
    parameter.where = table.where();
    if (std::find(test_keys().begin(), test_keys().end(), name) != test_keys().end())
      table.problem_here(fmt::format("'{}' means something else in [[train.test]]: take another name", name));
    if (name.empty() || name.find_first_of("=.,\"\n") != std::string::npos)
      table.problem_here("expected a name without dots, commas and =");
    if (const auto key = table.text("key")) parameter.keys = {*key};
    if (const auto keys = table.texts("keys")) {
      if (table.has("key")) table.problem("keys", "says it all: leave out 'key'");
      parameter.keys = *keys;
    }
    if (parameter.keys.empty() && !table.has("key"))
      table.problem("key", "is missing: what varies, for example \"bodies.rod.mass\"");
    parameter.scale = table.number("scale").value_or(1);
    if (!(parameter.scale != 0) || !std::isfinite(parameter.scale))
      table.problem("scale", fmt::format("is {}, expected a number other than zero", parameter.scale));

    const bool has_values = table.has("values"), has_range_key = table.has("range");
    parameter.values = table.numbers("values").value_or(std::vector<double>{});
    const auto range = table.numbers("range");
    table.finish();
    if (has_range()) {
      if (has_values) table.problem("values", "goes with plans list and factorial; this one needs a range");
      if (!has_range_key) table.problem("range", "is missing: [smallest, largest]");
      if (range) check_range(table, *range, parameter);
    } else {
      if (has_range_key)
        table.problem("range", "goes with plans latin-hypercube and greedy; this one needs values");
      check_values(table, has_values, parameter);
    }
    // what the study itself has
    if (parameter.keys.empty()) return;
    std::optional<double> current;
    for (const std::string& key : parameter.keys) {
      std::string problem;
      const auto number = study_number(root_, key, problem);
      if (!number) {
        table.problem(table.has("keys") ? "keys" : "key", fmt::format("'{}': {}", key, problem));
        continue;
      }
      const double value = *number / parameter.scale;
      // a scale may not be undone to the last digit
      if (current && std::abs(value - *current) > 1e-12 * std::max(std::abs(value), std::abs(*current)))
        table.problem("keys",
                      fmt::format("'{}' is {} and '{}' is {}, but the parameter sets all of them to the "
                                  "same value: make them agree",
                                  parameter.keys.front(), *current * parameter.scale, key, *number));
      current = value;
    }
    spec_.current.conservativeResize(spec_.current.size() + 1);
    spec_.current[spec_.current.size() - 1] = current.value_or(0);
    spec_.parameters.push_back(std::move(parameter));
  }

  static void check_range(TomlTable& table, const std::vector<double>& range, StudyParameter& parameter) {
    if (range.size() != 2) {
      table.problem("range", fmt::format("has {} numbers, expected [smallest, largest]", range.size()));
    } else if (!(range[0] < range[1])) {
      table.problem("range",
                    fmt::format("is from {} to {}, expected the smaller number first", range[0], range[1]));
    } else {
      parameter.range = {range[0], range[1]};
    }
  }

  void check_values(TomlTable& table, bool given, const StudyParameter& parameter) const {
    const bool of_samples = spec_.plan == PodPlan::List && table_.has("samples");
    if (!given) {
      if (!of_samples) table.problem("values", "is missing: the values at which the model is trained, [..]");
      return;
    }
    if (of_samples) table.problem("values", "does not go with 'samples', which says all values");
    const std::set<double> different(parameter.values.begin(), parameter.values.end());
    if (different.size() < 2)
      table.problem("values",
                    "has one value only, so that nothing varies: give two or more, or leave the "
                    "parameter out");
    if (spec_.plan == PodPlan::Factorial && different.size() != parameter.values.size())
      table.problem("values", "has a value twice");
  }

  void read_plan() {
    spec_.processes = 0;
    read_whole(table_, "processes", 1, 1000, spec_.processes);
    read_whole(table_, "seed", 0, 1000000000, spec_.seed);
    if (has_range()) {
      if (spec_.parameters.empty() && !table_.has("parameters"))
        table_.problem("plan", "needs parameters: [train.parameters.NAME] with key and range");
      read_whole(table_, "samples", 2, static_cast<long>(most_samples), spec_.samples);
      if (!table_.has("samples"))
        table_.problem("samples", spec_.plan == PodPlan::Greedy ? "is missing: how many at most"
                                                                : "is missing: how many");
    }
    if (spec_.plan == PodPlan::Greedy) {
      read_whole(table_, "candidates", 1, 100000, spec_.candidates);
      if (const auto tolerance = table_.number("tolerance")) {
        spec_.tolerance = *tolerance;
        if (!(*tolerance > 0))
          table_.problem("tolerance", fmt::format("is {}, expected a positive number", *tolerance));
      }
    }
    if (has_range()) return;
    if (spec_.plan == PodPlan::List) return read_list();
    if (table_.value("samples"))
      table_.problem("samples",
                     "does not go with plan = \"factorial\", whose samples are all combinations of "
                     "the values; plan = \"list\" takes them one by one");
    std::vector<std::vector<double>> values;
    size_t count = 1;
    for (const StudyParameter& parameter : spec_.parameters) {
      values.push_back(parameter.values);
      count *= std::max<size_t>(1, parameter.values.size());
      if (count > most_samples) {
        table_.problem("plan",
                       fmt::format("has {} combinations or more, expected {} at most", count, most_samples));
        return;
      }
    }
    if (count > 0) spec_.points = full_factorial(values);
  }

  // Samples one by one, or the values side by side.
  void read_list() {
    const size_t p = spec_.parameters.size();
    if (table_.has("samples")) {
      std::vector<TomlTable> entries = table_.tables("samples");
      spec_.points.resize(static_cast<Index>(p), static_cast<Index>(entries.size()));
      for (size_t k = 0; k < entries.size(); ++k)
        spec_.points.col(static_cast<Index>(k)) = read_point(entries[k], {});
      check_points();
      return;
    }
    if (p == 0) {
      table_.problem("plan", "is \"list\": give samples = [{ NAME = .. }, ..], or values of the parameters");
      return;
    }
    const size_t count = spec_.parameters.front().values.size();
    for (const StudyParameter& parameter : spec_.parameters)
      if (parameter.values.size() != count) {
        table_.problem(
            "parameters",
            fmt::format("'{}' has {} values and '{}' {}: in a list the first values are one sample, "
                        "the second ones the next",
                        spec_.parameters.front().name, count, parameter.name, parameter.values.size()));
        return;
      }
    spec_.points.resize(static_cast<Index>(p), static_cast<Index>(count));
    for (size_t i = 0; i < p; ++i)
      spec_.points.row(static_cast<Index>(i)) =
          Eigen::Map<const VectorXd>(spec_.parameters[i].values.data(), static_cast<Index>(count))
              .transpose();
    check_points();
  }

  void check_points() {
    if (spec_.points.cols() < 2) table_.problem("samples", "expected two or more");
    for (Index a = 0; a < spec_.points.cols(); ++a)
      for (Index b = 0; b < a; ++b)
        if (spec_.points.col(a) == spec_.points.col(b)) {
          table_.problem("samples", fmt::format("{} and {} are the same", b + 1, a + 1));
          return;
        }
  }

  // A number for every parameter.
  VectorXd read_point(TomlTable& table, const std::vector<std::string>& other_keys) {
    VectorXd point = VectorXd::Zero(static_cast<Index>(spec_.parameters.size()));
    for (size_t p = 0; p < spec_.parameters.size(); ++p) {
      const std::string& name = spec_.parameters[p].name;
      const auto number = table.number(name);
      if (number) point[static_cast<Index>(p)] = *number;
      if (!table.has(name)) table.problem(name, "is missing: every parameter is to be given");
    }
    // unknown names get a message of their own
    const std::vector<std::string> known = names();
    for (const std::string& key : table.key_names()) {
      if (std::find(known.begin(), known.end(), key) != known.end() ||
          std::find(other_keys.begin(), other_keys.end(), key) != other_keys.end())
        continue;
      table.value(key);
      table.problem(key,
                    fmt::format("there is no such parameter{}; there {}", did_you_mean(key, known),
                                known.empty() ? "is none" : fmt::format("are: {}", fmt::join(known, ", "))));
    }
    if (other_keys.empty()) table.finish();
    return point;
  }

  void read_basis() {
    table_.choice(std::string_view("offset"), pod_offset_names(), spec_.options.offset);
    table_.choice<bool>("weight", {{"none", false}, {"mass", true}}, spec_.options.mass_weighted);
    table_.choice(std::string_view("rule"), pod_rule_names(), spec_.rule);
    // polynomials through points scattered in several directions are wild between them
    if (has_range() && spec_.parameters.size() > 1) spec_.combination = PodCombination::Global;
    table_.choice(std::string_view("combination"), pod_combination_names(), spec_.combination);
    table_.choice(std::string_view("force"), pod_force_names(), spec_.body.force);
    if (const auto fraction = table_.number("fraction")) {
      spec_.fraction = *fraction;
      if (!(*fraction > 0 && *fraction < 1))
        table_.problem("fraction", fmt::format("is {}, expected a number between 0 and 1", *fraction));
    }
    if (const auto tolerance = table_.number("ecsw_tolerance")) {
      spec_.body.ecsw_tolerance = *tolerance;
      if (!(*tolerance > 0 && *tolerance < 1))
        table_.problem("ecsw_tolerance", fmt::format("is {}, expected a number between 0 and 1", *tolerance));
    }
    read_whole(table_, "deim_points", 1, 1000000, spec_.body.deim_points);
    read_whole(table_, "max_order", 1, most_modes, spec_.options.max_rank);
    read_whole(table_, "keep", 2, 100000, spec_.options.keep);
    if (table_.has("order")) {
      int order = 0;
      read_whole(table_, "order", 1, spec_.options.max_rank, order);
      if (order > 0) spec_.order = order;
      for (const char* key : {"rule", "fraction"})
        if (table_.has(key)) table_.problem(key, "does not go with 'order', which says how many modes");
    }
    const long most = spec_.points.cols() > 0 ? static_cast<long>(spec_.points.cols())
                                              : std::max(1L, static_cast<long>(spec_.samples));
    read_whole(table_, "reference", 1, most, spec_.reference);
  }

  void read_test(TomlTable& table, int number) {
    PodTest test;
    test.where = table.where();
    test.name = table.text("name").value_or(fmt::format("test-{}", number));
    if (test.name.empty() || test.name.front() == '.' ||
        test.name.find_first_of("/\\\n") != std::string::npos)
      table.problem("name", "becomes a folder: expected a name without slashes, and no dot in front");
    for (const PodTest& other : spec_.tests)
      if (other.name == test.name) table.problem("name", fmt::format("'{}' comes twice", test.name));
    test.parameters = read_point(table, test_keys());
    if (const auto end = table.number("end")) {
      if (!(*end > 0)) table.problem("end", fmt::format("is {}, expected a time after 0", *end));
      test.end = *end;
    }
    for (const long order : table.integers("orders").value_or(std::vector<long>{})) {
      if (order < 1 || order > spec_.options.max_rank)
        table.problem("orders",
                      fmt::format("has {}, expected 1 to {} (max_order)", order, spec_.options.max_rank));
      else
        test.orders.push_back(static_cast<int>(order));
    }
    test.forces = read_words(table, "forces", pod_force_names());
    if (test.forces.empty()) test.forces = {spec_.body.force};
    test.combinations = read_words(table, "combinations", pod_combination_names());
    if (test.combinations.empty())
      for (const auto& [word, combination] : pod_combination_names())
        test.combinations.push_back(combination);
    table.finish();
    spec_.tests.push_back(std::move(test));
  }

  TomlTable& table_;
  const TomlValue& root_;
  PodTrainSpec spec_;
};

}  // namespace

const std::vector<std::pair<std::string, PodPlan>>& pod_plan_names() {
  static const std::vector<std::pair<std::string, PodPlan>> names = {
      {"factorial", PodPlan::Factorial},
      {"list", PodPlan::List},
      {"latin-hypercube", PodPlan::LatinHypercube},
      {"greedy", PodPlan::Greedy}};
  return names;
}

std::vector<StudySetting> settings_of(const std::vector<StudyParameter>& parameters, const VectorXd& values) {
  LISSOM_ASSERT(values.size() == static_cast<Index>(parameters.size()));
  std::vector<StudySetting> settings;
  for (size_t p = 0; p < parameters.size(); ++p)
    for (const std::string& key : parameters[p].keys) {
      // whole numbers without a point, which suits keys of either kind
      settings.push_back({key, fmt::format("{}", values[static_cast<Index>(p)] * parameters[p].scale)});
    }
  return settings;
}

VectorXd parameters_of(const TomlValue& root, const std::vector<StudyParameter>& parameters) {
  VectorXd values(static_cast<Index>(parameters.size()));
  for (size_t p = 0; p < parameters.size(); ++p) {
    std::optional<double> first;
    for (const std::string& key : parameters[p].keys) {
      std::string problem;
      const auto number = study_number(root, key, problem);
      if (!number) fail_input("parameter '{}': '{}': {}", parameters[p].name, key, problem);
      const double value = *number / parameters[p].scale;
      if (first && std::abs(value - *first) > 1e-12 * std::max(std::abs(value), std::abs(*first)))
        fail_input("parameter '{}': '{}' and '{}' do not have the same value", parameters[p].name,
                   parameters[p].keys.front(), key);
      first = value;
    }
    values[static_cast<Index>(p)] = first.value_or(0);
  }
  return values;
}

std::string describe(const std::vector<StudyParameter>& parameters, const VectorXd& values) {
  std::vector<std::string> shown;
  for (size_t p = 0; p < parameters.size(); ++p)
    shown.push_back(fmt::format("{} = {:.6g}", parameters[p].name, values[static_cast<Index>(p)]));
  return shown.empty() ? "the study as it is" : fmt::format("{}", fmt::join(shown, ", "));
}

PodTrainSpec read_pod_train_spec(TomlTable& table, const TomlValue& root) {
  return PodTrainReader(table, root).read();
}

}  // namespace lissom
