#include "lissom/study/inspect_rom.hpp"

#include <fmt/ranges.h>

#include "lissom/io/table.hpp"
#include "lissom/rom/slap_body.hpp"

namespace lissom {

using Eigen::VectorXd;
using nlohmann::json;

namespace {

std::vector<double> list_of(const Eigen::Ref<const VectorXd>& values) {
  return {values.data(), values.data() + values.size()};
}

std::vector<std::string> places_of(const SlapModel& model, int part) {
  std::vector<std::string> names;
  for (const SlapFrame& frame : model.frames)
    if (frame.part == part) names.push_back(frame.name);
  return names;
}

// Those of the training, or of the model where it starts.
VectorXd frequencies_of(const RomFile& rom) {
  return rom.frequencies_hz.size() > 0 ? rom.frequencies_hz : slap_frequencies(rom.model, rom.model.start);
}

}  // namespace

std::string describe_rom(const RomFile& rom) {
  const SlapModel& model = rom.model;
  const SlapTraining& training = model.training;
  std::string text = fmt::format("{}\n", model.title);
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  line("order", fmt::format("{}, an ordinary differential equation", model.order()));
  if (!rom.why.empty()) line("why", rom.why);
  line("study", fmt::format("{}{}", rom.study_path.empty() ? "not known" : rom.study_path,
                            rom.case_name.empty() ? "" : fmt::format(", case {}", rom.case_name)));
  line("written by", "Lissom " + rom.lissom_version);
  if (model.mass_damping > 0) line("mass damping", fmt::format("{:.6g} 1/s", model.mass_damping));
  std::vector<std::string> hz;
  for (const double f : frequencies_of(rom)) hz.push_back(fmt::format("{:.5g}", f));
  line("frequencies [Hz]", fmt::format("{}", fmt::join(hz, ", ")));
  line("training", training.samples.cols() > 0 ? fmt::format("{} states kept, at most {:.3g} apart",
                                                             training.samples.cols(), training.reach)
                                               : "no states kept");

  Table parts({"body", "mass [kg]", "stiffness rank", "nodes", "places"});
  for (size_t i = 0; i < model.parts.size(); ++i) {
    const SlapPart& part = model.parts[i];
    parts.add({part.name, fmt::format("{:.6g}", part.mass), fmt::format("{}", part.C.rows()),
               part.has_nodes() ? fmt::format("{}", part.node_ids.size()) : "none",
               fmt::format("{}", fmt::join(places_of(model, static_cast<int>(i)), ", "))});
  }
  text += "\n" + parts.str();
  if (training.samples.cols() == 0) return text;
  // scale says how far a unit of a coordinate moves a node at most
  Table modes({"mode", "singular value [m]", "from [m]", "to [m]", "spread [m]"});
  for (int r = 0; r < model.order(); ++r) {
    const double scale = model.scale[r];
    modes.add({fmt::format("{}", r + 1),
               r < rom.singular_values.size() ? fmt::format("{:.3e}", rom.singular_values[r]) : "",
               fmt::format("{:.3e}", scale * training.samples.row(r).minCoeff()),
               fmt::format("{:.3e}", scale * training.samples.row(r).maxCoeff()),
               fmt::format("{:.3e}", scale * training.spread[r])});
  }
  text += fmt::format("\nhow far each mode moved a node in training, at most\n{}", modes.str());
  return text;
}

json rom_json(const RomFile& rom) {
  const SlapModel& model = rom.model;
  json j = {{"title", model.title},
            {"order", model.order()},
            {"why", rom.why},
            {"study", rom.study_path},
            {"case", rom.case_name},
            {"lissom_version", rom.lissom_version},
            {"mass_damping", model.mass_damping},
            {"frequencies_hz", list_of(frequencies_of(rom))},
            {"singular_values", list_of(rom.singular_values)},
            {"joint_violation", list_of(rom.joint_violation)}};
  j["parts"] = json::object();
  for (size_t i = 0; i < model.parts.size(); ++i) {
    const SlapPart& part = model.parts[i];
    j["parts"][part.name] = {{"mass", part.mass},
                             {"stiffness_rank", part.C.rows()},
                             {"damped", part.C_damping.size() > 0},
                             {"nodes", part.node_ids.size()},
                             {"places", places_of(model, static_cast<int>(i))}};
  }
  const SlapTraining& training = model.training;
  j["training"] = {{"states", training.samples.cols()}, {"reach", training.reach}};
  if (training.samples.cols() > 0) {
    j["training"]["lower"] = list_of(training.samples.rowwise().minCoeff());
    j["training"]["upper"] = list_of(training.samples.rowwise().maxCoeff());
    j["training"]["spread"] = list_of(training.spread);
  }
  return j;
}

}  // namespace lissom
