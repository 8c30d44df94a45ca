#include "lissom/study/gcms.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/cms/equal_modes.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/fe/solid_mesh.hpp"
#include "lissom/io/table.hpp"

namespace lissom {

using nlohmann::json;

namespace {

// Free modes of the model, enough for the highest flexible one that is asked for.
ModeSet free_modes(const FeBody& body, const FeModel& model, int highest, GcmsResult& result,
                   Diagnostics& diagnostics, const ProgressHook& progress) {
  if (body.vibration && &model == &body.model) {
    const ModeSet& modes = body.vibration->modes;
    if (modes.fixed_sets.empty() && modes.rigid_count == 6 && modes.count() >= 6 + highest) return modes;
  }
  VibrationOptions options = body.spec.modes.value_or(VibrationOptions{});
  options.fix.clear();
  options.count = 6 + highest;
  options.from_hz = options.up_to_hz = 0;  // a slice of them would lack the first ones
  Vibration vibration = compute_modes(model, options, diagnostics, progress);
  for (const auto& [phase, seconds] : vibration.seconds.phases())
    result.seconds.add("gcms " + phase, seconds);
  if (vibration.modes.rigid_count != 6)
    fail_input("GCMS needs one body in one piece, which has six rigid modes, but {} were found",
               vibration.modes.rigid_count);
  return std::move(vibration.modes);
}

GcmsResult compute(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  const GcmsSpec& spec = *body.spec.gcms;
  GcmsResult result;
  // three degrees of freedom at each node
  FeModel solid;
  const bool own = !body.spec.has_matrices() && !is_solid_mesh(body.mesh);
  if (own) {
    if (progress) progress("assembly without spiders", -1);
    Timer assembling;
    const Mesh mesh = solid_mesh(body.mesh);
    AssemblyOptions options;
    options.mass = body.spec.mass;
    solid = assemble(mesh, options, diagnostics);
    result.spiders_left_out = !body.mesh.spiders.empty();
    result.nodes_left_out = body.mesh.node_count() - mesh.node_count();
    result.seconds.add("gcms assembly", assembling.seconds());
  } else if (body.model.dof_count() == 0) {
    build_model(body, diagnostics, progress);
  }
  const FeModel& model = own ? solid : body.model;
  const SymmetricMatrix& node_mass = gcms_node_mass(model);
  // one more than the highest, which may have a partner of equal frequency
  const int highest = *std::max_element(spec.modes.begin(), spec.modes.end()) + (spec.pair_angle ? 1 : 0);
  const ModeSet modes = free_modes(body, model, highest, result, diagnostics, progress);
  Eigen::MatrixXd shapes = modes.shapes.rightCols(modes.count() - modes.rigid_count);
  const Eigen::VectorXd eigenvalues = modes.eigenvalues.tail(shapes.cols());
  if (spec.pair_angle) result.pairs_turned = turn_equal_modes(shapes, eigenvalues, *spec.pair_angle);

  if (progress) progress("GCMS basis", -1);
  Timer timer;
  std::vector<int> chosen;
  for (const int number : spec.modes) chosen.push_back(number - 1);
  const GcmsSpace space =
      gcms_space(model.points, node_mass, model.K, Eigen::MatrixXd(shapes(Eigen::all, chosen)),
                 Eigen::VectorXd(eigenvalues(chosen)), spec.modes);
  GcmsFile& file = result.file;
  if (spec.scalar) file.scalar = scalar_gcms_basis(space, node_mass, spec.scalar_options);
  if (spec.algorithm_1) file.algorithm_1 = algorithm_1(space, spec.algorithm_1_options, diagnostics);
  result.truncation = spec.scalar_options.truncation;
  result.threshold = spec.algorithm_1_options.threshold;
  file.sweep = sweep_threshold(space, spec.thresholds);
  result.at_first = (file.scalar ? *file.scalar : *file.algorithm_1).steps.front();
  result.seconds.add("gcms basis", timer.seconds());

  file.name = body.spec.name;
  file.source = model.source;
  file.points = model.points;
  file.node_ids = model.node_ids;
  for (const GcmsColumn& column : space.columns) file.labels.push_back(column.label());
  file.singular_values = space.singular_values;
  file.cosine = space.cosine;
  return result;
}

std::vector<const GcmsBasis*> bases_of(const GcmsResult& result) {
  std::vector<const GcmsBasis*> bases;
  if (result.file.scalar) bases.push_back(&*result.file.scalar);
  if (result.file.algorithm_1) bases.push_back(&*result.file.algorithm_1);
  return bases;
}

std::string label_of(const GcmsResult& result, int column) {
  return column < 0 ? "" : result.file.labels[column];
}

json to_json(const GcmsStep& step) {
  return {{"step", step.name},
          {"columns", step.columns},
          {"condition", step.condition},
          {"flexible_condition", step.flexible_condition},
          {"mass_condition", step.mass_condition}};
}

json to_json(const GcmsResult& result, const GcmsBasis& basis) {
  json j = {{"coordinates", basis.coordinates()}, {"max_eigenvalue_error", basis.max_error()}};
  for (const GcmsStep& step : basis.steps) j["steps"].push_back(to_json(step));
  for (const GcmsRitz& ritz : basis.ritz)
    j["modes"].push_back({{"mode", ritz.mode},
                          {"frequency_hz", hertz(ritz.eigenvalue)},
                          {"ritz_frequency_hz", hertz(ritz.ritz)},
                          {"eigenvalue_error", ritz.error},
                          {"mac", ritz.mac}});
  j["singular_values"] = std::vector<double>(basis.singular_values.begin(), basis.singular_values.end());
  if (basis.method == "scalar") {
    j["fields_kept"] = basis.kept;
    j["orthogonality"] = basis.orthogonality;
    if (result.truncation > 0) j["truncation"] = result.truncation;
    return j;
  }
  if (result.threshold > 0) j["threshold"] = result.threshold;
  j["removed_columns"] = 3 * basis.removed.size();
  j["removed"] = json::array();
  for (const GcmsRemoval& removal : basis.removed)
    j["removed"].push_back({{"column", label_of(result, removal.column)},
                            {"why", removal.why},
                            {"like", label_of(result, removal.partner)},
                            {"value", removal.value}});
  j["faint"] = json::array();
  for (const FaintColumn& faint : basis.faint)
    j["faint"].push_back(
        {{"column", label_of(result, faint.column)}, {"relative_norm", faint.relative_norm}});
  return j;
}

}  // namespace

GcmsResult compute_gcms(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  LISSOM_ASSERT(body.spec.gcms.has_value());
  try {
    return compute(body, diagnostics, progress);
  } catch (const InputError& e) {
    if (body.spec.gcms->where.file.empty()) throw;
    fail_input(body.spec.gcms->where, "bodies.{}.gcms: {}", body.spec.name, e.what());
  }
}

std::string write_gcms_results(const GcmsResult& result, const std::filesystem::path& folder) {
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
  const std::string name = result.file.name + ".gcms.h5";
  write_gcms_file(folder / name, result.file);
  return name;
}

std::string describe_gcms(const GcmsResult& result) {
  const auto bases = bases_of(result);
  std::string text =
      fmt::format("GCMS of {} modes: {} columns, {} of them flexible{}\n", bases.front()->ritz.size(),
                  result.at_first.columns, result.at_first.columns - 12,
                  result.spiders_left_out ? "; the body without its spiders" : "");
  Table steps({"method", "step", "columns", "cond(Phi)", "cond(Phi_f)", "mass norm"});
  for (const GcmsBasis* basis : bases)
    for (const GcmsStep& step : basis->steps) {
      if (&step == &basis->steps.front() && basis != bases.front()) continue;
      steps.add({&step == &basis->steps.front() ? "" : basis->method, step.name,
                 fmt::format("{}", step.columns), fmt::format("{:.3g}", step.condition),
                 fmt::format("{:.3g}", step.flexible_condition), fmt::format("{:.3g}", step.mass_condition)});
    }
  text += steps.str() + "\n";

  std::vector<std::string> header = {"flexible mode", "Hz"};
  for (const GcmsBasis* basis : bases)
    header.insert(header.end(), {basis->method + " Hz", "eigenvalue error", "MAC"});
  Table modes(std::move(header));
  for (size_t m = 0; m < bases.front()->ritz.size(); ++m) {
    std::vector<std::string> row = {fmt::format("{}", bases.front()->ritz[m].mode),
                                    fmt::format("{:.6g}", hertz(bases.front()->ritz[m].eigenvalue))};
    for (const GcmsBasis* basis : bases) {
      const GcmsRitz& ritz = basis->ritz[m];
      row.insert(row.end(), {fmt::format("{:.6g}", hertz(ritz.ritz)), fmt::format("{:.1e}", ritz.error),
                             fmt::format("{:.4f}", ritz.mac)});
    }
    modes.add(std::move(row));
  }
  text += modes.str() + "\n";

  for (const GcmsBasis* basis : bases)
    text += fmt::format("{}: {} of {} columns, largest eigenvalue error {:.1e}\n", basis->method,
                        basis->coordinates(), result.at_first.columns, basis->max_error());
  if (result.file.algorithm_1) {
    for (const GcmsRemoval& r : result.file.algorithm_1->removed)
      text +=
          fmt::format("  removed {} ({}{})\n", label_of(result, r.column), r.why,
                      r.why == "cosine" ? fmt::format(" {:.5f} with {}", r.value, label_of(result, r.partner))
                      : r.why == "singular value" ? fmt::format(" drop {:.1e}", r.value)
                                                  : "");
    for (const FaintColumn& f : result.file.algorithm_1->faint)
      text += fmt::format("  {} is {:.1e} of its mode: round-off scaled to a coordinate?\n",
                          label_of(result, f.column), f.relative_norm);
  }
  if (!result.file.sweep.empty()) {
    Table sweep({"threshold", "removed", "cond(Phi_f)", "scaled", "cond(Phi) scaled", "eigenvalue error"});
    for (const GcmsSweepPoint& p : result.file.sweep)
      sweep.add({fmt::format("{:.6g}", p.threshold), fmt::format("{}", p.removed),
                 fmt::format("{:.3g}", p.flexible_condition),
                 fmt::format("{:.3g}", p.scaled_flexible_condition),
                 fmt::format("{:.3g}", p.scaled_condition), fmt::format("{:.1e}", p.max_error)});
    text += sweep.str();
  }
  return text;
}

json gcms_json(const GcmsResult& result) {
  json j;
  j["nodes"] = result.file.points.cols();
  j["columns"] = result.at_first.columns;
  j["as_they_are"] = to_json(result.at_first);
  j["singular_values"] =
      std::vector<double>(result.file.singular_values.begin(), result.file.singular_values.end());
  j["spiders_left_out"] = result.spiders_left_out;
  j["pairs_turned"] = result.pairs_turned;
  j["nodes_left_out"] = result.nodes_left_out;
  if (result.file.scalar) j["scalar"] = to_json(result, *result.file.scalar);
  if (result.file.algorithm_1) j["algorithm_1"] = to_json(result, *result.file.algorithm_1);
  for (const GcmsSweepPoint& p : result.file.sweep)
    j["sweep"].push_back({{"threshold", p.threshold},
                          {"removed_columns", p.removed},
                          {"flexible_condition", p.flexible_condition},
                          {"scaled_flexible_condition", p.scaled_flexible_condition},
                          {"scaled_condition", p.scaled_condition},
                          {"max_eigenvalue_error", p.max_error}});
  return j;
}

}  // namespace lissom
