#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/fe/named_nodes.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/report/report_body_parts.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/gcms.hpp"
#include "lissom/study/reduce.hpp"

namespace lissom {

using nlohmann::json;

namespace {

// modes that a table shows unfolded
constexpr size_t shown_modes = 30;
// relative distance of frequencies that count as equal
constexpr double equal_frequencies = 1e-6;

std::string kind_of(const json& body) {
  const std::string formulation = text_in(body, "formulation");
  if (formulation == "rigid") return "rigid";
  if (formulation == "ancf") return "beam (ANCF)";
  if (part_of(body, "reduced").is_string()) return "reduced before, " + text_in(body, "reduced");
  if (part_of(body, "matrices").is_object()) return "imported matrices";
  if (part_of(body, "nodes").is_number()) return "finite elements";
  if (part_of(body, "gcms").is_object()) return "component modes";
  return part_of(body, "reduce").is_object() ? "reduced" : "";
}

// "4395 tet4, 12 hex8"
std::string elements_of(const json& body) {
  const json& elements = part_of(body, "elements");
  if (elements.is_number()) return text_of(elements);
  std::vector<std::string> counts;
  if (elements.is_object())
    for (const auto& [type, count] : elements.items())
      if (count.is_number()) counts.push_back(fmt::format("{} {}", text_of(count), type));
  return fmt::format("{}", fmt::join(counts, ", "));
}

double mass_of(const json& body) {
  const double mass = number_in(body, "mass");
  if (std::isfinite(mass)) return mass;
  const std::vector<double> imported = numbers_in(part_of(body, "matrices"), "mass");
  return imported.empty() ? mass : imported[0];
}

std::string materials_of(const json& body) {
  std::vector<std::string> names;
  if (const json& materials = part_of(body, "materials"); materials.is_array())
    for (const json& material : materials) names.push_back(text_in(material, "name"));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string interfaces_of(const json& body) {
  std::vector<std::string> names;
  if (const json& list = part_of(part_of(body, "reduce"), "interfaces"); list.is_array())
    for (const json& interface : list) names.push_back(text_in(interface, "name"));
  if (names.empty())
    if (const json& list = part_of(body, "spiders"); list.is_array())
      for (const json& spider : list) names.push_back(text_in(spider, "name"));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string vector_text(const json& vector, const std::string& unit) {
  std::vector<std::string> parts;
  for (const double value : numbers_of(vector)) parts.push_back(fmt::format("{:.6g}", value));
  return parts.empty() ? "" : fmt::format("({}) {}", fmt::join(parts, ", "), unit);
}

// What is wrong with a mesh, as sentences.
std::vector<std::string> remarks_of(const ReportedBody& body) {
  const json& j = *body.summary;
  std::vector<std::string> out;
  const auto some = [](double count) { return std::isfinite(count) && count > 0; };
  if (const double count = number_in(part_of(j, "quality"), "negative_elements"); some(count))
    out.push_back(fmt::format("{:.0f} elements are turned inside out", count));
  if (const json& parts = part_of(j, "components"); parts.is_array() && parts.size() > 1)
    out.push_back(fmt::format("the mesh is in {} pieces that nothing connects", parts.size()));
  if (const double count = number_in(j, "orphan_nodes"); some(count))
    out.push_back(fmt::format("{:.0f} nodes belong to no element", count));
  if (const double count = number_in(j, "duplicate_nodes"); some(count))
    out.push_back(fmt::format("{:.0f} nodes lie on others, which may be a crack", count));
  return out;
}

// Box, centre, inertia and the like of one body.
std::vector<ReportBlock> facts_of(const ReportDraft& draft, const ReportedBody& body) {
  const json& j = *body.summary;
  ReportFacts facts;
  const auto add = [&](const std::string& what, const ReportValue& value) {
    if (!value.text.empty()) facts.rows.emplace_back(what, value);
  };
  const auto add_number = [&](const std::string& what, double value, const std::string& unit) {
    if (std::isfinite(value)) facts.rows.emplace_back(what, report_number(value, 6, unit));
  };
  if (const json& box = part_of(j, "bounding_box"); box.is_array() && box.size() == 2)
    add("box", vector_text(box[0], "m") + " to " + vector_text(box[1], "m"));
  add("centre of mass", vector_text(part_of(j, "center"), "m"));
  if (const json& inertia = part_of(j, "inertia"); inertia.is_array() && inertia.size() == 3)
    add("inertia about it", fmt::format("{}, {}, {} kg m2", vector_text(inertia[0], ""),
                                        vector_text(inertia[1], ""), vector_text(inertia[2], "")));
  add_number("degrees of freedom", number_in(j, "degrees_of_freedom"), "");
  const json& quality = part_of(j, "quality");
  if (const double ratio = number_in(quality, "smallest_jacobian_ratio"); std::isfinite(ratio))
    add("worst element",
        ReportValue(fmt::format("Jacobian ratio {:.3g}{}", ratio,
                                part_of(quality, "worst_element").is_number()
                                    ? fmt::format(" at element {}", text_in(quality, "worst_element"))
                                    : ""),
                    ratio));
  add("mass matrix", text_in(j, "mass_kind"));
  add_number("length", number_in(j, "length"), "m");
  add_number("axial stiffness EA", number_in(j, "axial_stiffness"), "N");
  add_number("bending stiffness EI", number_in(j, "bending_stiffness"), "N m2");
  if (const json& matrices = part_of(j, "matrices"); matrices.is_object()) {
    add_number("degrees of freedom of the matrices", number_in(matrices, "degrees_of_freedom"), "");
    add_number("asymmetry of K", number_in(part_of(matrices, "asymmetry"), "K"), "");
    add_number("asymmetry of M", number_in(part_of(matrices, "asymmetry"), "M"), "");
    add("centre of mass", vector_text(part_of(matrices, "center"), "m"));
  }
  std::vector<ReportBlock> blocks;
  if (!facts.rows.empty()) blocks.emplace_back(std::move(facts));

  ReportTable sets{unique_id(draft, body.title + " sets"), "Named sets", {"set", "nodes", "elements"}, {}};
  if (const json& list = part_of(j, "sets"); list.is_object())
    for (const auto& [name, set] : list.items())
      sets.rows.push_back(
          {name, count_cell(number_in(set, "nodes")), count_cell(number_in(set, "elements"))});
  drop_empty_columns(sets);
  if (!sets.rows.empty()) blocks.emplace_back(std::move(sets));
  ReportTable timing = timing_table(draft, part_of(j, "seconds"), body.title + " time", "Time spent");
  if (!timing.rows.empty()) blocks.emplace_back(std::move(timing));
  return blocks;
}

void report_model(ReportDraft& draft, const std::vector<ReportedBody>& bodies) {
  if (bodies.empty()) return;
  ReportSection& section = draft.section("bodies", "Bodies");
  if (section.lead.empty()) {
    section.lead =
        "What was modelled: the bodies with their meshes and masses, what they are made of, and the places "
        "where joints and loads act on them.";
    if (std::any_of(bodies.begin(), bodies.end(), [](const ReportedBody& body) {
          return part_of(part_of(*body.summary, "quality"), "smallest_jacobian_ratio").is_number();
        }))
      section.lead +=
          " Worst Jacobian ratio: 1 is an element without distortion, below 0.1 is worth a look, not above 0 "
          "is an element that is turned inside out.";
  }
  ReportTable table{unique_id(draft, "bodies"),
                    "",
                    {"body", "model", "nodes", "elements", "mass [kg]", "volume [m3]", "material",
                     "interfaces", "worst Jacobian ratio"},
                    {}};
  ReportTable materials{unique_id(draft, "materials"),
                        "Materials",
                        {"body", "material", "E [Pa]", "nu", "rho [kg/m3]", "elements"},
                        {}};
  ReportTable spiders{unique_id(draft, "interfaces"),
                      "Interfaces: where joints and loads act",
                      {"body", "interface", "at [m]", "tied to the mesh by", "nodes tied", "coordinates"},
                      {}};
  for (const ReportedBody& body : bodies) {
    const json& j = *body.summary;
    table.rows.push_back({body.title, kind_of(j), count_cell(number_in(j, "nodes")), elements_of(j),
                          number_cell(mass_of(j), 6), number_cell(number_in(j, "volume"), 6), materials_of(j),
                          interfaces_of(j),
                          number_cell(number_in(part_of(j, "quality"), "smallest_jacobian_ratio"), 3)});
    if (const json& list = part_of(j, "materials"); list.is_array())
      for (const json& m : list) {
        const json& layered = part_of(m, "orthotropic");
        const double E = number_in(m, "E");
        const ReportValue stiffness =
            layered.is_object() ? ReportValue(fmt::format("orthotropic, E1 {:.6g}, E2 {:.6g}, E3 {:.6g}",
                                                          number_in(layered, "E1"), number_in(layered, "E2"),
                                                          number_in(layered, "E3")))
                                : number_cell(E, 6);
        materials.rows.push_back({body.title, text_in(m, "name"), stiffness,
                                  number_cell(number_in(m, "nu"), 4), number_cell(number_in(m, "rho"), 6),
                                  count_cell(number_in(m, "elements"))});
      }
    // interfaces of the reduction, then spiders that are none
    std::vector<std::string> named;
    const json& ties = part_of(j, "spiders");
    const auto tie_of = [&](const std::string& name) {
      if (ties.is_array())
        for (const json& tie : ties)
          if (text_in(tie, "name") == name) return tie;
      return json();
    };
    const auto kind_of_tie = [](const json& tie) -> std::string {
      const std::string kind = text_in(tie, "kind");
      if (kind == "rigid") return "rigid spider (RBE2)";
      return kind == "averaging" ? "averaging spider (RBE3)" : kind;
    };
    if (const json& list = part_of(part_of(j, "reduce"), "interfaces"); list.is_array())
      for (const json& interface : list) {
        const std::string name = text_in(interface, "name");
        const json tie = tie_of(name);
        const double own = number_in(interface, "nodes");
        named.push_back(name);
        const json& coordinates = part_of(interface, "coordinates");
        spiders.rows.push_back(
            {body.title, name, vector_text(part_of(interface, "origin"), ""),
             tie.is_object() ? kind_of_tie(tie) : std::string("its own nodes"),
             count_cell(tie.is_object() ? number_in(tie, "nodes") : own),
             count_cell(coordinates.is_array() ? static_cast<double>(coordinates.size()) : NAN)});
      }
    if (ties.is_array())
      for (const json& tie : ties)
        if (std::find(named.begin(), named.end(), text_in(tie, "name")) == named.end())
          spiders.rows.push_back({body.title, text_in(tie, "name"), "", kind_of_tie(tie),
                                  count_cell(number_in(tie, "nodes")), ""});
  }
  for (const ReportedBody& body : bodies)
    for (const std::string& remark : remarks_of(body))
      draft.warn(fmt::format("Body {}: {}", body.title, remark));
  for (ReportTable* each : {&table, &materials, &spiders}) {
    drop_empty_columns(*each);
    if (!each->rows.empty()) section.blocks.emplace_back(std::move(*each));
  }
  for (const ReportedBody& body : bodies)
    append(section.blocks, facts_of(draft, body), true, body.title + ": size, inertia, sets, time");
}

// Modes of equal frequency as "2 of 3"; "" of single ones.
std::vector<std::string> multiplicities(const std::vector<double>& frequencies) {
  std::vector<std::string> out(frequencies.size());
  for (size_t i = 0; i < frequencies.size();) {
    size_t end = i + 1;
    while (end < frequencies.size() &&
           std::abs(frequencies[end] - frequencies[i]) <= equal_frequencies * std::abs(frequencies[i]))
      ++end;
    for (size_t k = i; end - i > 1 && k < end; ++k) out[k] = fmt::format("{} of {}", k - i + 1, end - i);
    i = end;
  }
  return out;
}

// How much of the mass the modes of a held body carry.
ReportFigure mass_figure(const ReportDraft& draft, const ReportedBody& body, const json& masses) {
  ReportFigure figure;
  figure.id = unique_id(draft, body.title + " effective mass");
  figure.title = "Effective mass of " + body.title;
  figure.caption =
      "Mass that moves with the modes up to each one when the support shakes, as a share of the whole. A "
      "model for such loads should come near 1 in the directions that matter.";
  figure.x = {"mode", false};
  figure.y = {"share of the mass, summed", false};
  const double mass = mass_of(*body.summary);
  for (int k = 0; k < 3; ++k) {
    ReportSeries series{fmt::format("along {}", "xyz"[k]), {}, {}, ReportSeries::Style::LinePoints};
    double sum = 0;
    for (size_t i = 0; i < masses.size(); ++i) {
      const std::vector<double> row = numbers_of(masses[i]);
      if (row.size() > static_cast<size_t>(k)) sum += row[k];
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(sum / mass);
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

// Shown as 0 where it is small beside `scale`; the number behind it stays.
ReportValue quiet_cell(double value, double scale, int digits) {
  if (std::isfinite(value) && std::abs(value) < 1e-9 * scale) return {"0", value};
  return number_cell(value, digits);
}

std::vector<ReportBlock> modes_of(ReportDraft& draft, const ReportedBody& body) {
  const json& j = *body.summary;
  const std::vector<double> frequencies = numbers_in(j, "frequencies_hz"),
                            residuals = numbers_in(j, "residuals");
  std::vector<ReportBlock> blocks;
  if (frequencies.empty()) return blocks;
  const double rigid = number_in(j, "rigid_modes");
  const std::vector<std::string> fixed = texts_in(j, "fixed");
  std::string text =
      fmt::format("{}: {} modes{}", body.title, frequencies.size(),
                  fixed.empty() ? ", nothing held" : fmt::format(", {} held", fmt::join(fixed, ", ")));
  if (rigid > 0)
    text += fmt::format("; the first {:.0f} are motions of the body as a whole, with the frequency 0", rigid);
  const size_t first = count_of(rigid, frequencies.size());
  if (first < frequencies.size())
    text += fmt::format(". The first flexible mode has {:.6g} Hz, the last one {:.6g} Hz", frequencies[first],
                        frequencies.back());
  const double worst = residuals.empty() ? NAN : *std::max_element(residuals.begin(), residuals.end());
  if (std::isfinite(worst)) text += fmt::format(". Largest relative residual: {:.1e}", worst);
  blocks.emplace_back(ReportText{text + "."});

  for (ReportView& view : report_views(draft, view_files(body, false), body.folder, "Modes of " + body.title,
                                       "Pick a mode, play it and turn the body. Modes have no amplitude of "
                                       "their own: the size shown is chosen."))
    blocks.emplace_back(std::move(view));

  const json& masses = part_of(j, "effective_mass");
  const bool has_masses = masses.is_array() && masses.size() == frequencies.size();
  if (has_masses && !fixed.empty() && mass_of(j) > 0) blocks.emplace_back(mass_figure(draft, body, masses));

  ReportTable table{
      unique_id(draft, body.title + " modes"),
      "Natural modes of " + body.title,
      {"mode", "frequency [Hz]", "kind", "equal frequencies", "residual", "effective mass x [kg]", "y [kg]",
       "z [kg]", "effective inertia x [kg m2]", "y [kg m2]", "z [kg m2]"},
      {}};
  const std::vector<std::string> groups = multiplicities(frequencies);
  double scale[2] = {0, 0};  // of masses and of inertias
  for (size_t i = 0; has_masses && i < masses.size(); ++i) {
    const std::vector<double> mass = numbers_of(masses[i]);
    for (size_t k = 0; k < std::min<size_t>(6, mass.size()); ++k)
      if (mass[k] > scale[k / 3]) scale[k / 3] = mass[k];
  }
  for (size_t i = 0; i < frequencies.size(); ++i) {
    std::vector<ReportValue> row = {
        count_cell(static_cast<double>(i + 1)),
        i < first ? ReportValue("0", frequencies[i]) : number_cell(frequencies[i], 6),
        i < first ? "rigid" : "flexible", i < first ? "" : groups[i],
        number_cell(i < residuals.size() ? residuals[i] : NAN, 2)};
    const std::vector<double> mass = has_masses ? numbers_of(masses[i]) : std::vector<double>{};
    for (size_t k = 0; k < 6; ++k)
      row.push_back(quiet_cell(k < mass.size() ? mass[k] : NAN, scale[k / 3], 3));
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table);
  const bool folded = frequencies.size() > shown_modes;
  append(blocks, {std::move(table)}, folded,
         fmt::format("All {} frequencies of {}", frequencies.size(), body.title));
  return blocks;
}

void report_modes(ReportDraft& draft, const std::vector<ReportedBody>& bodies) {
  for (const ReportedBody& body : bodies) {
    std::vector<ReportBlock> blocks = modes_of(draft, body);
    if (blocks.empty()) continue;
    ReportSection& section = draft.section("modes", "Natural modes of the bodies");
    if (section.lead.empty())
      section.lead =
          "How each body vibrates by itself: frequencies and shapes from its stiffness and mass matrices. "
          "The residual says how well the equations are satisfied (1e-6 is plenty); the effective mass says "
          "how strongly a mode answers to a motion of the whole body along an axis.";
    append(section.blocks, std::move(blocks), false, "");
  }
}

void report_all(ReportDraft& draft, const std::vector<ReportedBody>& bodies) {
  report_model(draft, bodies);
  report_modes(draft, bodies);
  report_reductions(draft, bodies);
  report_component_modes(draft, bodies);
}

void collect(const json& bodies, const std::filesystem::path& folder, const std::string& of,
             std::vector<ReportedBody>& out) {
  if (!bodies.is_object()) return;
  for (const auto& [name, body] : bodies.items())
    if (body.is_object()) out.push_back({name, name + of, folder, &body, {}, nullptr});
}

// --- files alone ---

// Names of views that a run leaves beside a file.
json views_beside(const std::filesystem::path& file, const std::string& name) {
  json files = json::array();
  std::error_code ec;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    const std::string other = entry.path().filename().string();
    if (other.starts_with(name + "_") && other.ends_with("modes.view.h5")) names.push_back(other);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& view : names) files.push_back(view);
  return files;
}

CsvText coordinates_of(const ReducedBody& body) {
  CsvText table;
  table.columns = {"coordinate",          "kind",
                   "interface",           "node",
                   "direction",           "frequency_hz",
                   "effective_mass_x",    "effective_mass_y",
                   "effective_mass_z",    "effective_inertia_x",
                   "effective_inertia_y", "effective_inertia_z"};
  for (int i = 0; i < body.size(); ++i) {
    const ReducedCoordinate& c = body.coordinates[i];
    std::vector<std::string> row = {fmt::format("{}", i + 1),
                                    std::string(name_of(c.kind)),
                                    c.interface >= 0 ? body.interfaces[c.interface].name : "",
                                    c.node_id >= 0 ? fmt::format("{}", c.node_id) : "",
                                    c.direction >= 0 ? std::string(direction_names[c.direction]) : "",
                                    fmt::format("{}", c.frequency_hz)};
    for (int k = 0; k < 6; ++k)
      row.push_back(std::isnan(c.effective_mass[k]) ? "" : fmt::format("{}", c.effective_mass[k]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string name_without(const std::filesystem::path& file, const std::string& ending) {
  std::string name = file.filename().string();
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

void set_title(ReportDraft& draft, const std::string& title, const std::string& summary) {
  if (draft.page.title.empty()) draft.page.title = title;
  if (draft.page.summary.empty()) draft.page.summary = summary;
}

void report_reduced_file(ReportDraft& draft, const std::filesystem::path& file, Diagnostics& diagnostics) {
  ReducedBodyFile read = read_reduced_body_file(file, diagnostics, {false, false});
  Reduction reduction;
  reduction.body = std::move(read.body);
  const ReducedBody& body = reduction.body;
  reduction.selection.errors = body.errors;
  reduction.selection.reached = true;
  json summary = json::object();
  summary["reduce"] = reduction_json(reduction);
  // of the whole body nothing is in the file
  for (const char* key : {"degrees_of_freedom", "interior", "interface", "interior_coordinates", "solver",
                          "seconds", "estimator_seconds", "cpu_seconds", "reached"})
    summary["reduce"].erase(key);
  if (!read.gcms.empty()) summary["reduce"]["gcms_fields"] = read.gcms.fields();
  if (!body.inertia.empty()) summary["mass"] = body.inertia.mass;
  if (body.points.cols() > 0) summary["nodes"] = body.points.cols();
  if (!body.mass_kind.empty()) summary["mass_kind"] = body.mass_kind;
  const std::string name = name_without(file, ".reduced.h5");
  summary["files"] = views_beside(file, name);
  set_title(
      draft, "Reduced body " + name,
      fmt::format("{} in {} coordinates, with {} flexible modes in the range that was asked for. {}", name,
                  body.size(), body.range, body.source.empty() ? "" : "Source: " + body.source + "."));
  report_all(draft, {{name, name, file.parent_path(), &summary, coordinates_of(body), nullptr}});
  if (read.provenance.empty()) return;
  std::string lines;
  for (const std::string& line : read.provenance) lines += line + "\n";
  draft.section("bodies", "Bodies")
      .blocks.emplace_back(ReportDetails{"Where it comes from", {ReportCode{lines}}});
}

void report_gcms_file(ReportDraft& draft, const std::filesystem::path& file) {
  GcmsResult result;
  result.file = read_gcms_file(file);
  const GcmsFile& read = result.file;
  const GcmsBasis* basis = read.scalar ? &*read.scalar : read.algorithm_1 ? &*read.algorithm_1 : nullptr;
  if (basis && !basis->steps.empty()) result.at_first = basis->steps.front();
  json summary = json::object();
  summary["gcms"] = gcms_json(result);
  for (const char* key : {"spiders_left_out", "pairs_turned", "nodes_left_out"}) summary["gcms"].erase(key);
  summary["nodes"] = read.points.cols();
  const std::string name = name_without(file, ".gcms.h5");
  set_title(draft, "Generalized component modes of " + name,
            read.source.empty() ? "" : fmt::format("Source: {}.", read.source));
  report_all(draft, {{name,
                      name,
                      file.parent_path(),
                      &summary,
                      {},
                      std::make_shared<const GcmsFile>(std::move(result.file))}});
}

void report_finite_elements(ReportDraft& draft, const std::filesystem::path& file, Diagnostics& diagnostics) {
  BodyFile read = read_body_file(file, diagnostics);
  FeBody body;
  body.mesh = std::move(read.mesh);
  body.model = std::move(read.model);
  if (body.mesh.node_count() > 0) body.report = report_mesh(body.mesh);
  json summary = mesh_json(body);
  if (!summary.is_object()) summary = json::object();
  if (read.modes) {
    body.vibration.emplace();
    body.vibration->modes = std::move(*read.modes);
    json modes = modes_json(body);
    for (const char* key : {"solver", "parts"}) modes.erase(key);
    summary.update(modes);
  } else if (body.model.dof_count() > 0) {
    summary["degrees_of_freedom"] = body.model.dof_count();
  }
  const std::string name = name_without(file, ".body.h5");
  summary["files"] = views_beside(file, name);
  set_title(draft, "Body " + name,
            body.model.source.empty() ? "" : fmt::format("Source: {}.", body.model.source));
  report_all(draft, {{name, name, file.parent_path(), &summary, {}, nullptr}});
}

}  // namespace

std::filesystem::path file_of(const ReportedBody& body, const std::string& ending) {
  for (const std::string& name : texts_in(*body.summary, "files"))
    if (name.ends_with(ending)) return body.folder / name;
  return {};
}

json view_files(const ReportedBody& body, bool reduced) {
  const bool has_modes = part_of(*body.summary, "frequencies_hz").is_array();
  const bool has_reduction = part_of(*body.summary, "reduce").is_object();
  json files = json::array();
  for (const std::string& name : texts_in(*body.summary, "files")) {
    const bool of_reduced = has_reduction && (!has_modes || name.ends_with("_free_modes.view.h5"));
    if (name.ends_with(".view.h5") && of_reduced == reduced) files.push_back(name);
  }
  return files;
}

void report_bodies(ReportDraft& draft, const json& bodies) {
  std::vector<ReportedBody> all;
  collect(bodies, draft.folder, "", all);
  if (const json& cases = part_of(draft.summary, "cases"); cases.is_object())
    for (const auto& [name, variant] : cases.items())
      collect(part_of(variant, "bodies"), draft.folder / name, fmt::format(", case {}", name), all);
  report_all(draft, all);
}

void report_body_file(ReportDraft& draft, const std::filesystem::path& file) {
  Diagnostics unused;
  Diagnostics& diagnostics = draft.diagnostics ? *draft.diagnostics : unused;
  if (is_reduced_body_file(file))
    report_reduced_file(draft, file, diagnostics);
  else if (is_body_file(file))
    report_finite_elements(draft, file, diagnostics);
  else
    report_gcms_file(draft, file);
}

}  // namespace lissom
