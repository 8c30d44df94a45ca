#include "lissom/study/linear_training.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/io/table.hpp"
#include "lissom/study/linearise.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// The sensors of a study whose columns have a linear part.
std::vector<Sensor> linear_sensors(const std::vector<Sensor>& all, Diagnostics& diagnostics) {
  std::vector<Sensor> kept;
  std::vector<std::string> left_out;
  for (Sensor sensor : all) {
    bool whole = sensor.kind != SensorKind::Energy;
    if (is_stress(sensor.kind)) {
      // xx yy zz xy yz zx are linear; von Mises, principal values and which node has the largest are not
      auto& components = sensor.stress.components;
      const size_t before = components.size();
      std::erase_if(components, [](int component) { return component >= 6; });
      if (sensor.stress.node_ids.size() > 1) components.clear();
      whole = components.size() == before;
      if (!components.empty()) kept.push_back(sensor);
    } else if (whole) {
      kept.push_back(sensor);
    }
    if (!whole) left_out.push_back(sensor.name);
  }
  if (!left_out.empty())
    diagnostics.warn(
        "linear.sensors",
        fmt::format("energies, von Mises and principal values have no linear part: columns of the "
                    "sensor{} '{}' are left out",
                    left_out.size() == 1 ? "" : "s", fmt::join(left_out, "', '")));
  return kept;
}

void expect_constant_motions(const SimulationSpec& spec) {
  for (const JointSpec& joint : spec.joints)
    if (joint.motion && !joint.motion->is_constant())
      fail_input(joint.where,
                 "joint '{}': its motion is prescribed over time, which is no input of a linear model; drive "
                 "it by a "
                 "torque or force, or take another method",
                 joint.name);
  for (const LoadSpec& load : spec.loads)
    if (!load.load.preload.is_constant())
      fail_input(load.where,
                 "load '{}': its preload changes over time, which is no input of a linear model; add a "
                 "line-force or "
                 "torque instead",
                 load.load.name);
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

const char* word(bool value) {
  return value ? "yes" : "no";
}

json rows_json(const MatrixXd& matrix) {
  json rows = json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    json row = json::array();
    for (Index k = 0; k < matrix.cols(); ++k) row.push_back(matrix(i, k));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<double> numbers_of(const VectorXd& values) {
  return {values.begin(), values.end()};
}

json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

// The order in a sentence.
std::string why_linear(const LinearModel& model) {
  const LinearReduction& made = model.reduction;
  if (made.truncation == LinearTruncation::None) return "all states of the linearised mechanism";
  const std::string found = fmt::format("largest error found {} of the largest gain", percent(made.error));
  if (made.truncation == LinearTruncation::Frequency)
    return fmt::format("modes up to {:.5g} Hz, {}", made.grid_to, found);
  return fmt::format("balanced, error bound {}, {}", percent(made.bound), found);
}

// What a model is, and what the truncation cost.
std::string describe_linear(const LinearModel& model) {
  const LinearReduction& made = model.reduction;
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  line("kind", "linear, small motions about an equilibrium");
  line("order", fmt::format("{} of {} states", model.order(), made.source_order));
  line("operating point", fmt::format("t = {:.6g} s", model.t));
  line("truncation",
       made.truncation == LinearTruncation::None
           ? "none"
           : fmt::format("{}, statics exact: {}", name_of(made.truncation), word(made.statics)));
  if (made.truncation == LinearTruncation::Balanced) {
    line("kept exactly", fmt::format("{} states that do not decay", made.kept_exactly));
    line("error bound", fmt::format("{} of the largest gain", percent(made.bound)));
  }
  if (made.truncation != LinearTruncation::None)
    line("largest error",
         fmt::format("{} of the largest gain, at {:.4g} Hz, on a grid from {:.4g} to {:.4g} Hz",
                     percent(made.error), made.error_frequency, made.grid_from, made.grid_to));
  std::vector<std::string> hz;
  const VectorXd frequencies = frequencies_hz(model);
  constexpr Index most_shown = 12;
  for (Index i = 0; i < std::min(most_shown, frequencies.size()); ++i)
    hz.push_back(fmt::format("{:.5g}", frequencies[i]));
  if (frequencies.size() > most_shown)
    hz.push_back(fmt::format("and {} more", frequencies.size() - most_shown));
  line("frequencies [Hz]", fmt::format("{}", fmt::join(hz, ", ")));

  // what a unit of each input does in the end
  const std::optional<MatrixXd> gains = static_gains(model);
  if (model.inputs.empty() || model.outputs.empty()) return text;
  if (!gains) return text + "static gains      none: a motion is not held by any stiffness\n";
  constexpr size_t most_rows = 20;
  Table table({"input", "output", "at the operating point", "static gain"});
  size_t rows = 0;
  for (size_t i = 0; i < model.inputs.size(); ++i)
    for (size_t k = 0; k < model.outputs.size(); ++k) {
      const double gain = (*gains)(static_cast<Index>(k), static_cast<Index>(i));
      if (gain == 0 || ++rows > most_rows) continue;
      const LinearInput& input = model.inputs[i];
      const std::string unit = si_unit(model.outputs[k]);
      table.add(
          {input.name, model.outputs[k].name, fmt::format("{:.6g} {}", model.y0[static_cast<Index>(k)], unit),
           fmt::format("{:.6g} {}/{}", gain, unit,
                       input.unit.find(' ') == std::string::npos ? input.unit : "(" + input.unit + ")")});
    }
  text += "\n" + table.str();
  if (rows > most_rows) text += fmt::format("and {} more\n", rows - most_rows);
  return text;
}

json linear_json(const LinearModel& model) {
  const LinearReduction& made = model.reduction;
  json inputs = json::array(), outputs = json::array();
  for (size_t i = 0; i < model.inputs.size(); ++i)
    inputs.push_back({{"name", model.inputs[i].name},
                      {"unit", model.inputs[i].unit},
                      {"at_operating_point", model.u0[static_cast<Index>(i)]}});
  for (size_t i = 0; i < model.outputs.size(); ++i)
    outputs.push_back({{"name", model.outputs[i].name},
                       {"unit", si_unit(model.outputs[i])},
                       {"at_operating_point", model.y0[static_cast<Index>(i)]}});
  const std::optional<MatrixXd> gains = static_gains(model);
  return {{"title", model.title},
          {"order", model.order()},
          {"why", why_linear(model)},
          {"t", model.t},
          {"truncation", std::string(name_of(made.truncation))},
          {"statics", made.statics},
          {"source_order", made.source_order},
          {"kept_exactly", made.kept_exactly},
          {"hankel_values", numbers_of(made.hankel)},
          {"bound", finite_or_null(made.bound)},
          {"largest_error", finite_or_null(made.error)},
          {"largest_error_hz", finite_or_null(made.error_frequency)},
          {"grid_hz", {made.grid_from, made.grid_to}},
          {"frequencies_hz", numbers_of(frequencies_hz(model))},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"static_gains", gains ? rows_json(*gains) : json(nullptr)}};
}

}  // namespace

StudyFile with_full_model(const StudyFile& study) {
  StudyFile full = study;
  if (full.simulation && full.simulation->simulate) full.simulation->simulate->model = MechanismModel::Full;
  return full;
}

LinearTraining train_linear(const StudyFile& study, const std::function<StudySystem()>& make,
                            Diagnostics& diagnostics, const ProgressHook& progress,
                            const std::function<bool()>& stop) {
  LISSOM_ASSERT(study.train && study.train->linear);
  if (!study.simulation)
    fail_input("{}: has no loads, sensors or joints to be linearised", study.path.string());
  const LinearTrainSpec& spec = *study.train->linear;
  const Timer timer;
  expect_constant_motions(*study.simulation);
  StudyState at = state_of_study(study, spec.about, spec.time, make, diagnostics, progress, stop);
  if (progress) progress("linearising", -1);
  LinearTraining training;
  try {
    const LinearModel whole = make_linear_model(*at.equations, linear_sensors(at.built.sensors, diagnostics),
                                                at.state, at.reference, at.start);
    training.rom.model = truncate(whole, spec.options, progress);
  } catch (const InputError& e) {
    fail_input(study.train->where, "train: {}", e.what());
  }
  LinearModel& model = training.rom.model;
  model.title = study.title;
  training.rom.study = study.text;
  training.rom.study_path = study.path.string();
  training.rom.case_name = study.case_name;
  training.rom.lissom_version = LISSOM_VERSION;
  training.seconds = timer.seconds();

  const LinearReduction& made = model.reduction;
  if (spec.options.order && model.order() != *spec.options.order)
    diagnostics.warn(
        "linear.order",
        fmt::format("the model has {} states in place of {}: {}", model.order(), *spec.options.order,
                    model.order() > *spec.options.order
                        ? "states that belong together are not cut apart"
                        : "the others do not reach from inputs to outputs beyond round-off"));
  else if (made.truncation == LinearTruncation::Balanced && !spec.options.order &&
           made.bound > spec.options.tolerance)
    diagnostics.warn(
        "linear.tolerance",
        fmt::format("the bound is {:.3g}, above tolerance = {:.3g}: states that are left out are known to "
                    "round-off only",
                    made.bound, spec.options.tolerance));
  if (const VectorXd moved = model.range * model.x0; moved.size() > 0 && moved.cwiseAbs().maxCoeff() > 0.1)
    diagnostics.warn(
        "linear.start",
        fmt::format("the start is {:.0f} % of the size of the mechanism away from the operating point; "
                    "errors of a linear model grow with the square of that",
                    100 * moved.cwiseAbs().maxCoeff()));
  return training;
}

std::vector<std::string> write_linear_training(const LinearTraining& training,
                                               const std::filesystem::path& folder) {
  write_linear_file(folder / "model.rom.h5", training.rom);
  const VectorXd& hankel = training.rom.model.reduction.hankel;
  if (hankel.size() == 0) return {"model.rom.h5"};
  // bound: of a model that keeps the values up to here
  VectorXd tail = VectorXd::Zero(hankel.size() + 1);
  for (Index i = hankel.size() - 1; i >= 0; --i) tail[i] = tail[i + 1] + 2 * hankel[i];
  std::string text = "number,hankel_value,bound\n";
  for (Index i = 0; i < hankel.size(); ++i) text += fmt::format("{},{},{}\n", i + 1, hankel[i], tail[i + 1]);
  AtomicFile file(folder / "hankel.csv");
  file.write(text);
  file.commit();
  return {"model.rom.h5", "hankel.csv"};
}

std::string describe_linear_training(const LinearTraining& training) {
  return describe_linear(training.rom.model) +
         fmt::format("{:<18}{}\n", "time", format_seconds(training.seconds));
}

json linear_training_json(const LinearTraining& training) {
  json j = linear_json(training.rom.model);
  j["method"] = "linear";
  j["seconds"] = training.seconds;
  return j;
}

std::string describe_rom(const LinearFile& rom) {
  std::string text = fmt::format("{}\n{}", rom.model.title, describe_linear(rom.model));
  text += fmt::format("\n{:<18}{}{}\n", "study", rom.study_path.empty() ? "not known" : rom.study_path,
                      rom.case_name.empty() ? "" : fmt::format(", case {}", rom.case_name));
  return text + fmt::format("{:<18}Lissom {}\n", "written by", rom.lissom_version);
}

json rom_json(const LinearFile& rom) {
  json j = linear_json(rom.model);
  j["kind"] = "linear";
  j["study"] = rom.study_path;
  j["case"] = rom.case_name;
  j["lissom_version"] = rom.lissom_version;
  j["states"] = rom.model.states;
  return j;
}

}  // namespace lissom
