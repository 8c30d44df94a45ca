#include "lissom/study/inspect_rom.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/io/table.hpp"
#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

using Eigen::VectorXd;
using nlohmann::json;

namespace {

std::vector<double> list_of(const Eigen::Ref<const VectorXd>& values) {
  return {values.data(), values.data() + values.size()};
}

std::vector<std::string> frame_names(const SlapModel& model, int part) {
  std::vector<std::string> names;
  for (const SlapFrame& frame : model.frames)
    if (frame.part == part) names.push_back(frame.name);
  return names;
}

// Those of the training, or of the model where it starts.
VectorXd frequencies_of(const RomFile& rom) {
  return rom.frequencies_hz.size() > 0 ? rom.frequencies_hz : slap_frequencies(rom.model, rom.model.start);
}

// How well a model repeats its training.
std::string accuracy_text(const SlapAccuracy& accuracy) {
  if (accuracy.failed) return "POOR: " + poor(accuracy);
  if (!(accuracy.largest_error >= 0) || !(accuracy.motion > 0)) return "not known";
  return fmt::format("{}a node is {:.3g} m off at most where nodes move {:.3g} m ({:.2g} %)",
                     poor(accuracy).empty() ? "" : "POOR: ", accuracy.largest_error, accuracy.motion,
                     100 * accuracy.largest_error / accuracy.motion);
}

json accuracy_json(const SlapAccuracy& accuracy) {
  const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
  return {{"motion", accuracy.motion > 0 ? json(accuracy.motion) : json(nullptr)},
          {"largest_error", number(accuracy.largest_error)},
          {"rms_error", number(accuracy.rms_error)},
          {"failed", accuracy.failed},
          {"poor", !poor(accuracy).empty()}};
}

}  // namespace

json forces_json(const SlapModel& model) {
  json j = {{"kernel", model.polynomial ? "polynomial" : "exact"}, {"why", model.polynomial_why}};
  if (!model.polynomial) return j;
  const SlapPolynomial& form = *model.polynomial;
  j["rows"] = form.S.rows();
  j["damping_rows"] = form.S_damping.rows();
  j["cut"] = form.cut;
  j["displacement"] = form.displacement;
  j["row_error"] = form.row_error;
  j["axes_misfit"] = form.axes_misfit;
  j["strain"] = list_of(form.strain);
  j["misfit"] = list_of(form.misfit);
  return j;
}

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
  line("reconstruction", accuracy_text(model.accuracy));
  line("forces", model.polynomial_why.empty() ? "the exact kernel" : model.polynomial_why);
  if (model.polynomial)
    line("", fmt::format("strains up to {:.2g}, {:.2g} of them beside the frames; rows cut at {:g}, axes of "
                         "places within {:.2g} rad",
                         model.polynomial->strain.maxCoeff(), model.polynomial->misfit.maxCoeff(),
                         model.polynomial->cut, model.polynomial->axes_misfit));

  Table parts({"body", "mass [kg]", "stiffness rank", "nodes", "places"});
  for (size_t i = 0; i < model.parts.size(); ++i) {
    const SlapPart& part = model.parts[i];
    parts.add({part.name, fmt::format("{:.6g}", part.mass), fmt::format("{}", part.C.rows()),
               part.has_nodes() ? fmt::format("{}", part.node_ids.size()) : "none",
               fmt::format("{}", fmt::join(frame_names(model, static_cast<int>(i)), ", "))});
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
                             {"places", frame_names(model, static_cast<int>(i))}};
  }
  const SlapTraining& training = model.training;
  j["training"] = {{"states", training.samples.cols()}, {"reach", training.reach}};
  if (training.samples.cols() > 0) {
    j["training"]["lower"] = list_of(training.samples.rowwise().minCoeff());
    j["training"]["upper"] = list_of(training.samples.rowwise().maxCoeff());
    j["training"]["spread"] = list_of(training.spread);
  }
  j["reconstruction"] = accuracy_json(model.accuracy);
  j["forces"] = forces_json(model);
  return j;
}

namespace {

// Smallest and largest value of a parameter over the samples.
std::pair<double, double> range_of(const PodLibrary& library, Eigen::Index p) {
  double lower = library.samples.front().parameters[p], upper = lower;
  for (const PodSample& sample : library.samples) {
    lower = std::min(lower, sample.parameters[p]);
    upper = std::max(upper, sample.parameters[p]);
  }
  return {lower, upper};
}

}  // namespace

std::string describe_rom(const PodFile& rom) {
  const PodLibrary& library = rom.library;
  std::string text = fmt::format("{}\n", rom.title);
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<18}{}\n", what, value);
  };
  line("kind", "pod, a mechanism of beams on a basis that depends on parameters");
  line("order", fmt::format("{} of up to {}", rom.order, library.rank()));
  if (!rom.why.empty()) line("why", rom.why);
  line("study", fmt::format("{}{}", rom.study_path.empty() ? "not known" : rom.study_path,
                            rom.case_name.empty() ? "" : fmt::format(", case {}", rom.case_name)));
  line("written by", "Lissom " + rom.lissom_version);
  line("beams",
       fmt::format("{}; {} nodal coordinates", fmt::join(rom.beams, ", "), library.nodal_coordinates()));
  line("combination",
       fmt::format("{}{}", pod_word(pod_combination_names(), library.combination),
                   library.reference >= 0 ? fmt::format(", about sample {}", library.reference + 1) : ""));
  line("offset", fmt::format("{}, {}", pod_word(pod_offset_names(), library.options.offset),
                             library.options.mass_weighted ? "weighted by the mass" : "not weighted"));
  line("force", pod_word(pod_force_names(), rom.body.force));
  line("reconstruction", accuracy_text(rom.accuracy));
  if (!rom.parameters.empty()) {
    Table parameters({"parameter", "from", "to", "sets"});
    for (size_t p = 0; p < rom.parameters.size(); ++p) {
      const auto [lower, upper] = range_of(library, static_cast<Eigen::Index>(p));
      const StudyParameter& parameter = rom.parameters[p];
      parameters.add(
          {parameter.name, fmt::format("{:.6g}", lower), fmt::format("{:.6g}", upper),
           fmt::format("{}{}", fmt::join(parameter.keys, ", "),
                       parameter.scale == 1 ? "" : fmt::format(" times {:.6g}", parameter.scale))});
    }
    text += "\n" + parameters.str();
  }
  std::vector<std::string> header = {"sample"};
  header.insert(header.end(), library.parameters.begin(), library.parameters.end());
  for (const char* name : {"snapshots", "modes", "first singular value", "at the order", "last kept"})
    header.emplace_back(name);
  Table samples(header);
  for (size_t k = 0; k < library.samples.size(); ++k) {
    const PodSample& sample = library.samples[k];
    std::vector<std::string> cells = {std::to_string(k + 1)};
    for (const double value : sample.parameters) cells.push_back(fmt::format("{:.6g}", value));
    cells.push_back(std::to_string(sample.samples));
    cells.push_back(std::to_string(sample.basis.cols()));
    for (const Eigen::Index i : {Eigen::Index{0}, Eigen::Index{rom.order - 1}, sample.basis.cols() - 1})
      cells.push_back(i < sample.singular_values.size() ? fmt::format("{:.3e}", sample.singular_values[i])
                                                        : "-");
    samples.add(std::move(cells));
  }
  return text + "\n" + samples.str();
}

json rom_json(const PodFile& rom) {
  const PodLibrary& library = rom.library;
  json j = {{"kind", "pod"},
            {"title", rom.title},
            {"order", rom.order},
            {"rank", library.rank()},
            {"why", rom.why},
            {"study", rom.study_path},
            {"case", rom.case_name},
            {"lissom_version", rom.lissom_version},
            {"beams", rom.beams},
            {"nodal_coordinates", library.nodal_coordinates()},
            {"combination", pod_word(pod_combination_names(), library.combination)},
            {"offset", pod_word(pod_offset_names(), library.options.offset)},
            {"weight", library.options.mass_weighted ? "mass" : "none"},
            {"rule", pod_word(pod_rule_names(), rom.rule)},
            {"fraction", rom.fraction},
            {"force", pod_word(pod_force_names(), rom.body.force)}};
  j["parameters"] = json::object();
  for (size_t p = 0; p < rom.parameters.size(); ++p) {
    const auto [lower, upper] = range_of(library, static_cast<Eigen::Index>(p));
    j["parameters"][rom.parameters[p].name] = {
        {"keys", rom.parameters[p].keys}, {"scale", rom.parameters[p].scale}, {"from", lower}, {"to", upper}};
  }
  j["samples"] = json::array();
  for (const PodSample& sample : library.samples)
    j["samples"].push_back({{"parameters", list_of(sample.parameters)},
                            {"snapshots", sample.samples},
                            {"kept", sample.snapshots.cols()},
                            {"modes", sample.basis.cols()},
                            {"singular_values", list_of(sample.singular_values)}});
  j["reconstruction"] = accuracy_json(rom.accuracy);
  return j;
}

}  // namespace lissom
