// What a training found: files, for people, for programs.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/study/inspect_rom.hpp"
#include "lissom/study/summary_json.hpp"
#include "lissom/study/train.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// Modes that brought a spurious motion.
std::vector<int> spurious_modes(const OrderChoice& choice) {
  std::vector<int> modes;
  int before = 0;
  for (const SlapOrder& order : choice.orders) {
    if (order.spurious > before) modes.push_back(order.m);
    before = order.spurious;
  }
  return modes;
}

}  // namespace

std::string describe_checks(const std::vector<ModelCheck>& checks) {
  Table table({"checked at", "residual of the full model", "would move a node by", "distance from training"});
  for (const ModelCheck& check : checks)
    table.add({fmt::format("{:.6g} s", check.t), fmt::format("{:.2e}", check.residual),
               fmt::format("{:.2e} m", check.missing), fmt::format("{:.2g}", check.distance)});
  return table.str();
}

json checks_json(const std::vector<ModelCheck>& checks) {
  json list = json::array();
  for (const ModelCheck& check : checks)
    list.push_back({{"t", check.t},
                    {"residual", check.residual},
                    {"missing", check.missing},
                    {"distance", check.distance}});
  return list;
}

std::vector<std::string> write_training(const Training& training, const std::filesystem::path& folder) {
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
  const auto save = [&](const char* name, const std::string& text) {
    AtomicFile file(folder / name);
    file.write(text);
    file.commit();
  };
  write_rom_file(folder / "model.rom.h5", training.rom);

  std::string modes = "mode,singular_value,singular_value_of_nodes,joint_violation\n";
  const VectorXd& sigma = training.basis.singular_values;
  for (Index i = 0; i < sigma.size(); ++i) {
    modes += fmt::format("{},{},", i + 1, sigma[i]);
    if (i < training.full_singular_values.size())
      modes += fmt::format("{}", training.full_singular_values[i]);
    modes += ",";
    if (i < training.basis.joint_violation.size())
      modes += fmt::format("{}", training.basis.joint_violation[i]);
    modes += "\n";
  }
  save("modes.csv", modes);
  std::string orders = "m,epsilon,rms_error,largest_error,left_out,spurious,seconds,frequencies_hz\n";
  for (const SlapOrder& order : training.choice.orders) {
    const auto cell = [](const std::optional<double>& value) {
      return value ? fmt::format("{}", *value) : std::string();
    };
    orders += fmt::format("{},{},{},{},{},{},{},{}\n", order.m, cell(order.epsilon), cell(order.rms_error),
                          cell(order.largest_error), order.left_out, order.spurious, order.simulation_seconds,
                          fmt::join(order.frequencies_hz, " "));
  }
  save("orders.csv", orders);
  return {"model.rom.h5", "modes.csv", "orders.csv"};
}

std::string describe_training(const Training& training) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  for (const SnapshotReport& report : training.reports)
    line("training", fmt::format("{}: {} samples, {:.6g} to {:.6g} s, nodes move up to {:.3g} m{}",
                                 report.run, report.samples, report.start, report.end, report.motion,
                                 report.largest_gap_joint.empty()
                                     ? std::string()
                                     : fmt::format(", joint gaps up to {:.2g} m", report.largest_gap)));
  Index nodes = 0;
  for (const SlapSpacePart& part : training.space.parts) nodes += part.points.cols();
  line("space",
       fmt::format("{} bodies, {} coordinates of nodes, {} of component modes, {} that the joints allow",
                   training.space.parts.size(), 3 * nodes, training.space.dimension(),
                   training.space.kernel_dimension()));
  const VectorXd& own = training.choice.system_frequencies_hz;
  const int rigid = training.choice.rigid_motions;
  line("mechanism", fmt::format("{} free motion{}, first vibration {:.6g} Hz", rigid, rigid == 1 ? "" : "s",
                                rigid < own.size() ? own[rigid] : 0));
  text += "\n";
  Table table({"m", "singular value", "joint violation", "epsilon", "largest error", "frequencies", ""});
  for (const SlapOrder& order : training.choice.orders) {
    const VectorXd& f = order.frequencies_hz;
    std::string shown;
    for (Index i = 0; i < std::min<Index>(4, f.size()); ++i)
      shown += fmt::format("{}{:.4g}", i > 0 ? ", " : "", f[i]);
    if (f.size() > 4) shown += fmt::format(" .. {:.4g}", f[f.size() - 1]);
    std::string mark;
    if (order.spurious > 0) mark = "spurious";
    if (order.m == training.order) mark += mark.empty() ? "taken" : ", taken";
    const auto cell = [](const std::optional<double>& value, const char* unit) {
      return value ? fmt::format("{:.2e} {}", *value, unit) : std::string("-");
    };
    table.add({std::to_string(order.m), fmt::format("{:.3e} m", order.singular_value),
               training.basis.joint_violation.size() > 0 ? fmt::format("{:.1e}", order.joint_violation) : "-",
               cell(order.epsilon, "m2"), cell(order.largest_error, "m"), shown + " Hz", mark});
  }
  text += table.str() + "\n";
  line("order", fmt::format("{}: {}", training.order, training.rom.why));
  line("forces", training.rom.model.polynomial_why);
  return text;
}

json training_json(const Training& training) {
  json j;
  j["order"] = training.order;
  j["proposed"] = training.choice.proposed;
  j["why"] = training.rom.why;
  j["singular_values"] = json_numbers(training.basis.singular_values);
  j["singular_values_full"] = json_numbers(training.full_singular_values);
  j["joint_violation"] = json_numbers(training.basis.joint_violation);
  j["frequencies_hz"] = json_numbers(training.rom.frequencies_hz);
  j["system_frequencies_hz"] = json_numbers(training.choice.system_frequencies_hz);
  j["rigid_motions"] = training.choice.rigid_motions;
  j["spurious"] = spurious_modes(training.choice);
  j["first_spurious"] =
      training.choice.first_spurious > 0 ? json(training.choice.first_spurious) : json(nullptr);
  j["rank"] = training.basis.rank();
  j["space"] = {{"dimension", training.space.dimension()}, {"kernel", training.space.kernel_dimension()}};
  j["outside_space"] = training.basis.outside_space;
  j["outside_joints"] = training.basis.outside_kernel;
  j["reference_gap"] = training.basis.reference_gap;
  j["orders"] = json::array();
  for (const SlapOrder& order : training.choice.orders)
    j["orders"].push_back({{"m", order.m},
                           {"singular_value", order.singular_value},
                           {"left_out", order.left_out},
                           {"joint_violation", order.joint_violation},
                           {"frequencies_hz", json_numbers(order.frequencies_hz)},
                           {"spurious", order.spurious},
                           {"epsilon", json_number(order.epsilon)},
                           {"rms_error", json_number(order.rms_error)},
                           {"largest_error", json_number(order.largest_error)},
                           {"seconds", order.simulation_seconds}});
  j["training"] = json::array();
  for (const SnapshotReport& report : training.reports)
    j["training"].push_back({{"run", report.run},
                             {"samples", report.samples},
                             {"start", report.start},
                             {"end", report.end},
                             {"decimals", report.decimals},
                             {"largest_stretch", report.largest_stretch},
                             {"largest_gap", report.largest_gap},
                             {"motion", report.motion}});
  j["forces"] = forces_json(training.rom.model);
  j["parts"] = json::array();
  for (const SlapPart& part : training.rom.model.parts)
    j["parts"].push_back({{"name", part.name}, {"mass", part.mass}, {"stiffness_rank", part.C.rows()}});
  double seconds = 0;
  json phases = json::object();
  for (const auto& [phase, spent] : training.seconds.phases()) {
    seconds += spent;
    phases[phase] = spent;
  }
  j["seconds"] = seconds;
  j["phases"] = std::move(phases);
  j["peak_memory_bytes"] = peak_memory_bytes();
  return j;
}

}  // namespace lissom
