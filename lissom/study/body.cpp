#include "lissom/study/body.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/fe/jacobian_check.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/fe/spider.hpp"
#include "lissom/fe/units_conversion.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/exodus.hpp"
#include "lissom/io/table.hpp"

namespace lissom {

using nlohmann::json;

namespace {

// With material and spiders of the spec, in SI units.
Mesh complete_mesh(Mesh mesh, const BodySpec& spec) {
  if (spec.material) {
    mesh.materials = {*spec.material};
    std::fill(mesh.element_material.begin(), mesh.element_material.end(), 0);
  }
  for (const SpiderSpec& spider : spec.spiders) {
    try {
      add_spider(mesh, spider.name, spider.kind, select_nodes(mesh, spider.nodes), spider.reference);
    } catch (const InputError& e) {
      if (spider.where.file.empty()) throw;
      fail_input(spider.where, "spider '{}': {}", spider.name, e.what());
    }
  }
  for (const Spider& spider : mesh.spiders) {
    // a set whose nodes the spider of the same name ties means the spider from now on
    auto [set, is_new] = mesh.node_sets.try_emplace(spider.name, std::vector<int>{spider.reference});
    std::vector<int> tied = spider.nodes;
    std::sort(tied.begin(), tied.end());
    if (!is_new && std::includes(tied.begin(), tied.end(), set->second.begin(), set->second.end()))
      set->second = {spider.reference};
  }
  convert_to_si(mesh, spec.units);
  return mesh;
}

FeModel load_matrices(const BodySpec& spec, const Mesh* mesh, Diagnostics& diagnostics) {
  MatrixImport request;
  request.stiffness = spec.stiffness;
  request.mass = spec.mass_matrix;
  request.dofs = spec.dofs;
  request.stiffness_name = spec.stiffness_name;
  request.mass_name = spec.mass_name;
  request.mesh = mesh;
  request.permit_massless = spec.permit_massless;
  request.drop_empty_rows = spec.drop_empty_rows;
  FeModel model = import_fe_model(request, diagnostics);
  convert_to_si(model, spec.units);
  return model;
}

json to_json(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  json rows = json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    json row = json::array();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

json vector_json(const Eigen::Ref<const Eigen::VectorXd>& vector) {
  return std::vector<double>(vector.data(), vector.data() + vector.size());
}

// 0.012 m, 12.3 kg and the like: six digits, no needless zeros
std::string num(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace

FeBody load_body(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress) {
  FeBody body = load_body_as_it_is(spec, diagnostics, progress);
  if (body.report && body.report->negative_elements > 0 && spec.stiffness.empty()) check_elements(body.mesh);
  return body;
}

FeBody load_body_as_it_is(const BodySpec& spec, Diagnostics& diagnostics, const ProgressHook& progress) {
  FeBody body;
  body.spec = spec;
  if (progress) progress("reading", -1);
  Timer reading;
  if (!spec.body_file.empty()) {
    BodyFile file = read_body_file(spec.body_file, diagnostics);
    body.mesh = std::move(file.mesh);
    body.model = std::move(file.model);
  } else if (!spec.has_matrices()) {
    body.mesh = complete_mesh(read_mesh(spec.mesh, spec.gmsh, diagnostics, spec.skip_elements), spec);
  } else {
    // the mesh only tells where the nodes are, in the same unit as the matrices, which have all the rest
    Mesh mesh;
    if (!spec.mesh.empty()) mesh = read_mesh(spec.mesh, spec.gmsh, diagnostics, true);
    body.model = load_matrices(spec, spec.mesh.empty() ? nullptr : &mesh, diagnostics);
    if (!spec.mesh.empty()) {
      convert_to_si(mesh, spec.units);
      body.mesh = std::move(mesh);
    }
  }
  if (spec.has_matrices() && body.model.dof_count() > 0) body.checks = check_matrices(body.model);
  if (body.mesh.node_count() > 0) body.report = report_mesh(body.mesh);
  if (body.report && body.report->negative_elements > 0 && !spec.stiffness.empty())
    diagnostics.warn("mesh.inside-out",
                     fmt::format("{} elements of the mesh are turned inside out; it is taken for the "
                                 "coordinates of the nodes alone",
                                 body.report->negative_elements),
                     {body.mesh.source, 0});
  return_freed_memory();
  body.seconds.add("reading", reading.seconds());
  return body;
}

FeBody body_of_mesh(const BodySpec& spec, Mesh mesh) {
  FeBody body;
  body.spec = spec;
  body.mesh = complete_mesh(std::move(mesh), spec);
  check_elements(body.mesh);
  if (body.mesh.node_count() > 0) body.report = report_mesh(body.mesh);
  return body;
}

void build_model(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  if (body.spec.has_matrices()) return;
  if (progress) progress("assembly", -1);
  Timer assembling;
  AssemblyOptions options;
  options.mass = body.spec.mass;
  body.model = assemble(body.mesh, options, diagnostics);
  return_freed_memory();
  body.seconds.add("assembly", assembling.seconds());
}

void solve_modes(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  const VibrationOptions options = body.spec.modes.value_or(VibrationOptions{});
  try {
    body.vibration = compute_modes(body.model, options, diagnostics, progress);
  } catch (const InputError& e) {
    if (body.spec.where.file.empty()) throw;
    fail_input(body.spec.where, "bodies.{}.modes: {}", body.spec.name, e.what());
  }
  body.vibration->modes.mass_kind = body.spec.has_matrices() ? "" : std::string(name_of(body.spec.mass));
  for (const auto& [phase, seconds] : body.vibration->seconds.phases()) body.seconds.add(phase, seconds);
}

void check_output_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code ec;
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there, ec) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, ec))
    fail_input("{}: results go to a folder, but {} is a file; give another one with --out", folder.string(),
               there == fs::absolute(folder) ? "this" : there.string());
  if (access(there.c_str(), W_OK | X_OK) != 0)
    fail_input("{}: results cannot be written: {}: {}; give another folder with --out", folder.string(),
               there.string(), std::strerror(errno));
}

std::vector<std::string> write_body_results(const FeBody& body, const std::filesystem::path& folder,
                                            PhaseTimes& seconds, Diagnostics& diagnostics,
                                            const ProgressHook& progress) {
  LISSOM_ASSERT(body.vibration.has_value());
  if (progress) progress("writing", -1);
  Timer writing;
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
  std::vector<std::string> written;
  const ModeSet& modes = body.vibration->modes;

  BodyFile file;
  file.mesh = body.mesh;
  file.model = body.model;
  file.modes = modes;
  written.push_back(body.spec.name + ".body.h5");
  write_body_file(folder / written.back(), file);

  written.push_back(body.spec.name + "_modes.csv");
  AtomicFile csv(folder / written.back());
  csv.write(
      "mode,frequency_hz,residual,effective_mass_x,effective_mass_y,effective_mass_z,effective_inertia_x,"
      "effective_inertia_y,effective_inertia_z\n");
  for (int i = 0; i < modes.count(); ++i) {
    csv.write(fmt::format("{},{:.12g},{:.3g}", body.vibration->below + i + 1, modes.frequencies_hz[i],
                          modes.residuals[i]));
    for (int k = 0; k < 6; ++k)
      csv.write(modes.effective_mass.cols() == 6 ? fmt::format(",{:.9g}", modes.effective_mass(i, k)) : ",");
    csv.write("\n");
  }
  csv.commit();

  if (body.spec.paraview && body.mesh.node_count() > 0 &&
      body.mesh.node_count() == body.model.points.cols()) {
    written.push_back(body.spec.name + "_modes.exo");
    write_modes_exodus(folder / written.back(), body.spec.name, body.mesh,
                       node_displacements(body.model, modes.shapes), modes.frequencies_hz, diagnostics);
  }
  seconds.add("writing", writing.seconds());
  return written;
}

std::string describe_mesh(const FeBody& body) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<14}{}\n", what, value);
  };
  if (body.report) {
    const MeshReport& r = *body.report;
    line("nodes", fmt::format("{}", r.nodes));
    std::string counts;
    for (ElementType type : all_element_types)
      if (const int count = r.elements_of_type[static_cast<int>(type)])
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name_of(type));
    line("elements", counts.empty() ? "none" : counts);
    line("box", fmt::format("{} to {} m", point_text(r.lower), point_text(r.upper)));
    line("volume", num(r.volume) + " m3");
    if (r.mass) {
      line("mass", num(r.mass->mass) + " kg");
      line("centre", point_text(r.mass->centre) + " m");
      for (int i = 0; i < 3; ++i)
        line(i == 0 ? "inertia" : "",
             point_text(r.mass->inertia.row(i).transpose()) + (i == 2 ? " kg m2, about the centre" : ""));
    } else {
      line("mass", fmt::format("unknown: {} elements have no density (give one with --material)",
                               r.elements_without_density));
    }
    if (r.worst_element >= 0)
      line("quality", fmt::format("smallest Jacobian ratio {:.3g} at element {}", r.worst_ratio,
                                  body.mesh.element_ids[r.worst_element]));
    if (r.negative_elements > 0) {
      std::vector<std::int64_t> ids;
      for (int e : r.negative_list) ids.push_back(body.mesh.element_ids[e]);
      line("",
           fmt::format("{} elements are turned inside out: {}{}", r.negative_elements, fmt::join(ids, ", "),
                       static_cast<int>(ids.size()) < r.negative_elements ? ", ..." : ""));
    }
    line("parts", r.component_sizes.size() == 1
                      ? "1 (connected)"
                      : fmt::format("{} that nothing connects; nodes: {}", r.component_sizes.size(),
                                    fmt::join(r.component_sizes.begin(),
                                              r.component_sizes.begin() +
                                                  std::min<size_t>(8, r.component_sizes.size()),
                                              ", ")));
    if (r.orphan_nodes > 0)
      line("orphans", fmt::format("{} nodes belong to nothing, the first is {}", r.orphan_nodes,
                                  body.mesh.node_ids[r.first_orphan]));
    if (r.duplicate_nodes > 0)
      line("duplicates",
           fmt::format("{} nodes lie on others, the first pair is {} and {}: a crack?", r.duplicate_nodes,
                       body.mesh.node_ids[r.first_duplicate[0]], body.mesh.node_ids[r.first_duplicate[1]]));
    for (const Material& material : body.mesh.materials) {
      std::string constants;
      if (material.isotropic)
        constants = fmt::format("E {:.6g} Pa, nu {:.4g}", material.isotropic->E, material.isotropic->nu);
      if (material.orthotropic)
        constants = fmt::format("orthotropic, E1 {:.6g} Pa", material.orthotropic->E1);
      if (material.density) constants += fmt::format(", rho {:.6g} kg/m3", *material.density);
      line("material", fmt::format("{}: {}", material.name, constants));
    }
    for (const auto& set : r.node_sets)
      line("node set", fmt::format("{}: {} node{}", set.name, set.size, set.size == 1 ? "" : "s"));
    for (const auto& set : r.element_sets)
      line("element set", fmt::format("{}: {} elements", set.name, set.size));
    for (const auto& spider : r.spiders)
      line("spider", fmt::format("{}: {}, {} nodes", spider.name,
                                 spider.kind == Spider::Kind::Rigid ? "rigid (RBE2)" : "averaging (RBE3)",
                                 spider.nodes));
  }
  if (body.checks) text += to_string(*body.checks);
  return text;
}

json mesh_json(const FeBody& body) {
  json j;
  if (body.report) {
    const MeshReport& r = *body.report;
    j["nodes"] = r.nodes;
    j["elements"] = json::object();
    for (ElementType type : all_element_types)
      if (const int count = r.elements_of_type[static_cast<int>(type)])
        j["elements"][std::string(name_of(type))] = count;
    j["bounding_box"] = {vector_json(r.lower), vector_json(r.upper)};
    j["volume"] = r.volume;
    if (r.mass) {
      j["mass"] = r.mass->mass;
      j["center"] = vector_json(r.mass->centre);
      j["inertia"] = to_json(r.mass->inertia);
    }
    j["quality"] = {{"smallest_jacobian_ratio", r.worst_ratio}, {"negative_elements", r.negative_elements}};
    if (r.worst_element >= 0) j["quality"]["worst_element"] = body.mesh.element_ids[r.worst_element];
    j["components"] = r.component_sizes;
    j["orphan_nodes"] = r.orphan_nodes;
    j["duplicate_nodes"] = r.duplicate_nodes;
    j["sets"] = json::object();
    for (const auto& set : r.node_sets) j["sets"][set.name]["nodes"] = set.size;
    for (const auto& set : r.element_sets) j["sets"][set.name]["elements"] = set.size;
    j["materials"] = json::array();
    for (size_t m = 0; m < body.mesh.materials.size(); ++m) {
      const Material& material = body.mesh.materials[m];
      json entry = {{"name", material.name}};
      if (material.isotropic) entry["E"] = material.isotropic->E, entry["nu"] = material.isotropic->nu;
      if (const auto& o = material.orthotropic)
        entry["orthotropic"] = {{"E1", o->E1},     {"E2", o->E2},     {"E3", o->E3},
                                {"nu12", o->nu12}, {"nu13", o->nu13}, {"nu23", o->nu23},
                                {"G12", o->G12},   {"G13", o->G13},   {"G23", o->G23}};
      if (material.density) entry["rho"] = *material.density;
      if (m < r.materials.size()) entry["elements"] = r.materials[m].elements;
      j["materials"].push_back(std::move(entry));
    }
    j["spiders"] = json::array();
    for (const auto& spider : r.spiders)
      j["spiders"].push_back({{"name", spider.name},
                              {"kind", spider.kind == Spider::Kind::Rigid ? "rigid" : "averaging"},
                              {"nodes", spider.nodes}});
  }
  if (body.checks) {
    const MatrixChecks& c = *body.checks;
    json checks = {{"degrees_of_freedom", c.dofs}, {"K_entries", c.K_entries}, {"M_entries", c.M_entries}};
    checks["asymmetry"] = {{"K", c.K_asymmetry ? json(*c.K_asymmetry) : json(nullptr)},
                           {"M", c.M_asymmetry ? json(*c.M_asymmetry) : json(nullptr)}};
    checks["rigid_body_residuals"] = json::array();
    for (const auto& residual : c.rigid_body_residual)
      checks["rigid_body_residuals"].push_back(residual ? json(*residual) : json(nullptr));
    if (c.mass) checks["mass"] = vector_json(*c.mass);
    if (c.centre) checks["center"] = vector_json(*c.centre);
    if (c.inertia) checks["inertia"] = to_json(*c.inertia);
    j["matrices"] = std::move(checks);
  }
  return j;
}

std::string describe_modes(const FeBody& body) {
  const ModeSet& modes = body.vibration->modes;
  const bool masses = modes.effective_mass.cols() == 6;
  std::vector<std::string> header = {"mode", "Hz", "residual"};
  if (masses) header.insert(header.end(), {"mass x kg", "mass y kg", "mass z kg"});
  Table table(std::move(header));
  for (int i = 0; i < modes.count(); ++i) {
    std::vector<std::string> row = {fmt::format("{}", body.vibration->below + i + 1),
                                    fmt::format("{:.6g}", modes.frequencies_hz[i]),
                                    fmt::format("{:.1e}", modes.residuals[i])};
    // parts per million of the mass are round-off to the eye
    const double total = masses ? std::max(1e-300, modes.effective_mass.leftCols(3).maxCoeff()) : 1;
    for (int k = 0; masses && k < 3; ++k)
      row.push_back(modes.effective_mass(i, k) < 1e-9 * total
                        ? "0"
                        : fmt::format("{:.4g}", modes.effective_mass(i, k)));
    table.add(std::move(row));
  }
  return table.str();
}

json modes_json(const FeBody& body) {
  const Vibration& v = *body.vibration;
  const ModeSet& modes = v.modes;
  json j;
  j["degrees_of_freedom"] = body.model.dof_count();
  j["frequencies_hz"] = vector_json(modes.frequencies_hz);
  j["residuals"] = vector_json(modes.residuals);
  j["rigid_modes"] = modes.rigid_count;
  if (modes.effective_mass.cols() == 6) j["effective_mass"] = to_json(modes.effective_mass);
  j["below"] = v.below;
  if (v.counted.known())
    j["counted"] = {{"below_hz", hertz(v.counted.below)},
                    {"modes", v.counted.counted},
                    {"found", v.counted.found},
                    {"growth", v.counted.growth},
                    {"seconds", v.counted.seconds}};
  j["mass_kind"] = modes.mass_kind;
  j["fixed"] = modes.fixed_sets;
  j["parts"] = v.parts;
  j["solver"] = {{"shift", modes.shift},
                 {"right_hand_sides", v.solves},
                 {"restarts", v.restarts},
                 {"recovered_multiplicities", v.recovered},
                 {"orthogonality", v.orthogonality},
                 {"factor_nonzeros", v.factor.nonzeros},
                 {"factor_flops", v.factor.flops},
                 {"factor_bytes", v.factor.bytes},
                 {"ordering_seconds", v.factor.ordering_seconds},
                 {"symbolic_seconds", v.factor.symbolic_seconds},
                 {"numeric_seconds", v.factor.numeric_seconds}};
  return j;
}

json to_json(const Diagnostics& diagnostics) {
  json list = json::array();
  for (const Warning& warning : diagnostics.warnings())
    list.push_back({{"key", warning.key}, {"message", to_string(warning)}, {"count", warning.count}});
  return list;
}

json to_json(const PhaseTimes& seconds) {
  json j = json::object();
  double total = 0;
  for (const auto& [phase, value] : seconds.phases()) {
    j[phase] = value;
    total += value;
  }
  j["total"] = total;
  return j;
}

}  // namespace lissom
