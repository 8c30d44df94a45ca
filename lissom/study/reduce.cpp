#include "lissom/study/reduce.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/io/exodus.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/io/table.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/study/summary_json.hpp"

namespace lissom {

using nlohmann::json;

namespace {

// NaN is no number in JSON, nor is infinity
// "0.0123 %", "-" where it is not known, "no bound" where there is none
std::string percent(double error) {
  if (std::isnan(error)) return "-";
  if (std::isinf(error)) return "no bound";
  return fmt::format("{:.3g}", 100 * error);
}

int count_of(const ReducedBody& body, CoordinateKind kind) {
  return static_cast<int>(std::count_if(body.coordinates.begin(), body.coordinates.end(),
                                        [&](const ReducedCoordinate& c) { return c.kind == kind; }));
}

constexpr CoordinateKind all_kinds[] = {CoordinateKind::FixedInterface, CoordinateKind::Residual,
                                        CoordinateKind::Attachment, CoordinateKind::Constraint,
                                        CoordinateKind::FreeInterface};

std::string interface_of(const ReducedBody& body, const ReducedCoordinate& coordinate) {
  return coordinate.interface >= 0 ? body.interfaces[coordinate.interface].name : "";
}

// The mode table; long ones are cut in the middle, the file has all.
std::string coordinate_table(const ReducedBody& body) {
  Table table({"coordinate", "kind", "interface", "direction", "Hz", "mass x kg", "mass y kg", "mass z kg"});
  constexpr int shown = 60;
  const int N = body.size();
  const double total = body.inertia.empty() ? 0 : body.inertia.mass;
  // a frequency far below the first flexible one is that of a rigid motion, to round-off
  const double quiet = body.range > 0 ? 1e-4 * hertz(body.eigenvalues[body.rigid_count]) : 0;
  for (int j = 0; j < N; ++j) {
    if (N > shown && j == shown / 2) {
      table.add({"...", "", "", "", "", "", "", ""});
      j = N - shown / 2;
    }
    const ReducedCoordinate& c = body.coordinates[j];
    std::vector<std::string> row = {fmt::format("{}", j + 1), std::string(name_of(c.kind)),
                                    interface_of(body, c),
                                    c.direction >= 0 ? direction_names[c.direction] : "",
                                    c.frequency_hz < quiet ? "0" : fmt::format("{:.6g}", c.frequency_hz)};
    for (int k = 0; k < 3; ++k)
      row.push_back(std::isnan(c.effective_mass[k])      ? ""
                    : c.effective_mass[k] < 1e-7 * total ? "0"
                                                         : fmt::format("{:.4g}", c.effective_mass[k]));
    table.add(std::move(row));
  }
  return table.str();
}

std::string error_table(const ErrorTable& errors) {
  const auto any = [&](double ModeError::*which) {
    return std::any_of(errors.modes.begin(), errors.modes.end(),
                       [&](const ModeError& e) { return !std::isnan(e.*which); });
  };
  struct Column {
    const char* name;
    double ModeError::*which;
  };
  std::vector<Column> columns;
  for (const Column& column :
       {Column{"Eq. 45 %", &ModeError::lower_estimate}, Column{"Eq. 42 %", &ModeError::paper_estimate},
        Column{"zeta_2 %", &ModeError::zeta_2}, Column{"proven %", &ModeError::bound},
        Column{"exact %", &ModeError::exact}})
    if (any(column.which)) columns.push_back(column);
  std::vector<std::string> header = {"flexible mode", "Hz"};
  for (const Column& column : columns) header.push_back(column.name);
  Table table(std::move(header));
  for (size_t n = 0; n < errors.modes.size(); ++n) {
    const ModeError& error = errors.modes[n];
    std::vector<std::string> row = {fmt::format("{}", n + 1), fmt::format("{:.6g}", hertz(error.eigenvalue))};
    for (const Column& column : columns) row.push_back(percent(error.*column.which));
    table.add(std::move(row));
  }
  return table.str();
}

std::string comparison_table(const std::vector<ComparedMethod>& methods,
                             const std::vector<double>& tolerances) {
  std::vector<std::string> header = {"interior coordinates for"};
  for (const double tolerance : tolerances) {
    header.push_back(fmt::format("{:g} %", 100 * tolerance));
    header.push_back("exact %");
  }
  Table table(std::move(header));
  for (const ComparedMethod& method : methods) {
    std::vector<std::string> row = {method.name};
    for (const ComparedMethod::Entry& entry : method.entries) {
      row.push_back(entry.coordinates < 0
                        ? "-"
                        : fmt::format("{}{}", entry.coordinates, entry.certified ? " c" : "  "));
      row.push_back(percent(entry.exact));
    }
    table.add(std::move(row));
  }
  return table.str() +
         "c: certified, the enclosure proves the tolerance; -: not reached with the modes allowed\n";
}

json errors_json(const std::vector<ModeError>& modes) {
  json list = json::array();
  for (size_t n = 0; n < modes.size(); ++n) {
    const ModeError& e = modes[n];
    json entry = {{"mode", n + 1}, {"frequency_hz", hertz(e.eigenvalue)}, {"eigenvalue", e.eigenvalue}};
    entry["bound"] = json_number(e.bound);
    entry["zeta_2"] = json_number(e.zeta_2);
    entry["lower_estimate"] = json_number(e.lower_estimate);
    entry["paper_estimate"] = json_number(e.paper_estimate);
    entry["exact"] = json_number(e.exact);
    list.push_back(std::move(entry));
  }
  return list;
}

std::string csv_number(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.9g}", value);
}

std::string errors_csv(const std::vector<ModeError>& modes, const std::string& prefix) {
  std::string text;
  for (size_t n = 0; n < modes.size(); ++n) {
    const ModeError& e = modes[n];
    text += fmt::format("{}{},{:.12g},{},{},{},{},{}\n", prefix, n + 1, hertz(e.eigenvalue),
                        csv_number(e.lower_estimate), csv_number(e.paper_estimate), csv_number(e.zeta_2),
                        csv_number(e.bound), csv_number(e.exact));
  }
  return text;
}

// What a static stress under inertia and gravity is off by; nothing where it is not known.
std::string describe_inertia(const InertiaAnswers& inertia) {
  if (std::isnan(inertia.error)) return "";
  std::string text =
      fmt::format("static stress under inertia and gravity: off by at most {} % in the energy norm",
                  percent(inertia.error));
  if (inertia.vectors > 0)
    text += fmt::format(" ({} % without the {} for them)", percent(inertia.without),
                        plural(inertia.vectors, "attachment mode"));
  else if (inertia.error > 0.05)
    text += "; inertia_loads = true adds what is missing";
  return text + "\n";
}

constexpr const char* error_columns = "mode,frequency_hz,lower_estimate,paper_estimate,zeta_2,bound,exact\n";

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

// a text between quotes, for names with commas
std::string csv_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

Reduction reduce_body(FeBody& body, Diagnostics& diagnostics, const ProgressHook& progress) {
  LISSOM_ASSERT(body.spec.reduce.has_value());
  if (body.model.dof_count() == 0) build_model(body, diagnostics, progress);
  const ReduceSpec& spec = *body.spec.reduce;
  try {
    const bool mesh = body.mesh.node_count() > 0 && !body.mesh.materials.empty();
    Reduction result = reduce(body.model, mesh ? &body.mesh : nullptr, spec.options, diagnostics, progress);
    result.body.name = body.spec.name;
    result.body.mass_kind = body.spec.has_matrices() ? "" : std::string(name_of(body.spec.mass));
    return result;
  } catch (const InputError& e) {
    // messages that carry their own place keep it
    const std::string what = e.what();
    if (spec.where.file.empty() || what.starts_with(spec.where.file)) throw;
    fail_input(spec.where, "bodies.{}.reduce: {}", body.spec.name, what);
  }
}

std::vector<std::string> write_reduction(const FeBody& body, const Reduction& reduction,
                                         const std::filesystem::path& folder, PhaseTimes& seconds,
                                         Diagnostics& diagnostics, const ProgressHook& progress,
                                         const GcmsModel* gcms) {
  if (progress) progress("writing", -1);
  Timer timer;
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
  const ReducedBody& reduced = reduction.body;
  const std::string& name = body.spec.name;
  std::vector<std::string> written;

  written.push_back(name + ".reduced.h5");
  write_reduced_body_file(
      folder / written.back(), reduced,
      {"study: " + body.spec.where.file, "source: " + body.model.source,
       fmt::format("{} of {} degrees of freedom, {} fixed-interface modes computed, residual {:.1e}",
                   reduced.size(), reduction.full_size, reduction.modes_computed, reduction.worst_residual)},
      gcms);

  std::string table =
      "coordinate,kind,interface,node,direction,frequency_hz,effective_mass_x,effective_mass_y,effective_"
      "mass_z,"
      "effective_inertia_x,effective_inertia_y,effective_inertia_z\n";
  for (int j = 0; j < reduced.size(); ++j) {
    const ReducedCoordinate& c = reduced.coordinates[j];
    table +=
        fmt::format("{},{},{},{},{},{:.12g}", j + 1, name_of(c.kind), csv_quoted(interface_of(reduced, c)),
                    c.node_id >= 0 ? fmt::format("{}", c.node_id) : "",
                    c.direction >= 0 ? direction_names[c.direction] : "", c.frequency_hz);
    for (int k = 0; k < 6; ++k) table += "," + csv_number(c.effective_mass[k]);
    table += "\n";
  }
  written.push_back(name + "_coordinates.csv");
  write_text(folder / written.back(), table);

  written.push_back(name + "_errors.csv");
  write_text(folder / written.back(), error_columns + errors_csv(reduction.selection.errors.modes, ""));
  if (!reduction.sweep.empty()) {
    std::string text = std::string("modes,") + error_columns;
    for (const SweepPoint& point : reduction.sweep)
      text += errors_csv(point.errors, fmt::format("{},", point.modes));
    written.push_back(name + "_sweep.csv");
    write_text(folder / written.back(), text);
  }

  // natural modes of the reduced body at the nodes
  if (body.spec.reduce->paraview && reduced.node_ids.size() == static_cast<size_t>(body.mesh.node_count()) &&
      body.mesh.node_count() > 0 && reduced.range > 0) {
    Eigen::MatrixXd shapes(reduced.modes.rows(), reduced.range);
    gemm(false, false, 1, reduced.modes, Eigen::MatrixXd(reduced.free_modes()), 0, shapes);
    Eigen::VectorXd frequencies(reduced.range);
    for (int n = 0; n < reduced.range; ++n)
      frequencies[n] = hertz(reduced.eigenvalues[reduced.rigid_count + n]);
    written.push_back(name + "_free_modes.exo");
    write_modes_exodus(folder / written.back(), name, body.mesh, shapes, frequencies, diagnostics);
  }
  seconds.add("writing", timer.seconds());
  return written;
}

std::string describe_reduction(const Reduction& r) {
  const ReducedBody& body = r.body;
  const ErrorTable& errors = r.selection.errors;
  std::string kinds;
  for (const CoordinateKind kind : all_kinds)
    if (const int count = count_of(body, kind))
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, name_of(kind));
  std::string text = fmt::format("reduced from {} to {} coordinates: {}\n", r.full_size, body.size(), kinds);
  const double bound = errors.max_bound();
  const std::string proven =
      std::isfinite(bound) ? fmt::format("proven below {} %", percent(bound)) : std::string("nothing proven");
  std::string more;
  if (!std::isnan(errors.max_zeta_2())) more += fmt::format(", zeta_2 {} %", percent(errors.max_zeta_2()));
  if (!std::isnan(errors.max_exact())) more += fmt::format(", exact {} %", percent(errors.max_exact()));
  const std::string verdict =
      errors.method == "fixed" ? "modes as given"
      : errors.certified       ? fmt::format("asked for {:g} %, certified", 100 * errors.tolerance)
      : r.selection.reached    ? fmt::format("asked for {:g} %, estimated", 100 * errors.tolerance)
                               : fmt::format("asked for {:g} %, NOT reached", 100 * errors.tolerance);
  text += fmt::format("largest error of {}: {}: {}{}\n", plural(errors.modes.size(), "flexible mode"),
                      verdict, proven, more);
  text += describe_inertia(r.inertia);
  if (r.counted.confirmed())
    text += fmt::format(
        "counted: {} below {:.6g} Hz, none missing\n",
        plural(r.counted.counted, body.basis == "free-interface" ? "mode" : "fixed-interface mode"),
        hertz(r.counted.below));
  if (!std::holds_alternative<std::monostate>(body.damping))
    text += "damping: " + describe(body.damping) + "\n";
  text += "\n" + coordinate_table(body) + "\n" + error_table(errors);
  if (!r.comparison.empty()) text += "\n" + comparison_table(r.comparison, r.compared_tolerances);
  double total = 0;
  std::string times;
  for (const auto& [phase, seconds] : r.seconds.phases()) {
    total += seconds;
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", phase, format_seconds(seconds));
  }
  text += fmt::format("\n{} ({}); {} at the peak\n", format_seconds(total), times,
                      format_bytes(static_cast<double>(peak_memory_bytes())));
  return text;
}

json reduction_json(const Reduction& r) {
  const ReducedBody& body = r.body;
  const ErrorTable& errors = r.selection.errors;
  json j;
  j["degrees_of_freedom"] = r.full_size;
  j["interior"] = r.interior_size;
  j["interface"] = r.interface_size;
  j["basis"] = body.basis;
  j["coordinates"] = body.size();
  j["interior_coordinates"] = r.selection.coordinates;
  for (const CoordinateKind kind : all_kinds)
    if (const int count = count_of(body, kind)) j["kinds"][std::string(name_of(kind))] = count;
  j["method"] = errors.method;
  j["tolerance"] = errors.tolerance;
  j["reached"] = r.selection.reached;
  j["certified"] = errors.certified;
  j["range"] = body.range;
  j["rigid_modes"] = body.rigid_count;
  j["frequencies_hz"] = json::array();
  for (int n = 0; n < body.rigid_count + body.range; ++n)
    j["frequencies_hz"].push_back(hertz(body.eigenvalues[n]));
  j["largest"] = {{"bound", json_number(errors.max_bound())},
                  {"zeta_2", json_number(errors.max_zeta_2())},
                  {"lower_estimate", json_number(errors.max_lower_estimate())},
                  {"paper_estimate", json_number(errors.max_paper_estimate())},
                  {"exact", json_number(errors.max_exact())}};
  j["errors"] = errors_json(errors.modes);
  if (r.counted.known())
    j["counted"] = {{"below_hz", hertz(r.counted.below)},
                    {"modes", r.counted.counted},
                    {"found", r.counted.found},
                    {"growth", r.counted.growth},
                    {"seconds", r.counted.seconds}};
  if (!std::isnan(r.inertia.error))
    j["inertia_loads"] = {{"error", r.inertia.error},
                          {"error_without", r.inertia.without},
                          {"attachment_modes", r.inertia.vectors}};
  j["damping"] = describe(body.damping);
  j["interfaces"] = json::array();
  for (const InterfaceFrame& frame : body.interfaces)
    j["interfaces"].push_back({{"name", frame.name},
                               {"nodes", frame.node_ids.size()},
                               {"origin", {frame.origin[0], frame.origin[1], frame.origin[2]}},
                               {"coordinates", frame.coordinates}});
  if (!r.comparison.empty()) {
    j["comparison"] = {{"tolerances", r.compared_tolerances}, {"methods", json::array()}};
    for (const ComparedMethod& method : r.comparison) {
      json entry = {{"name", method.name},
                    {"coordinates", json::array()},
                    {"exact", json::array()},
                    {"certified", json::array()}};
      for (const auto& e : method.entries) {
        entry["coordinates"].push_back(e.coordinates < 0 ? json(nullptr) : json(e.coordinates));
        entry["exact"].push_back(json_number(e.exact));
        entry["certified"].push_back(e.certified);
      }
      j["comparison"]["methods"].push_back(std::move(entry));
    }
  }
  j["solver"] = {{"modes_computed", r.modes_computed},
                 {"largest_residual", r.worst_residual},
                 {"bodies_evaluated", r.selection.evaluations},
                 {"factor_nonzeros", r.factor.nonzeros},
                 {"factor_bytes", r.factor.bytes}};
  j["seconds"] = to_json(r.seconds);
  j["estimator_seconds"] = r.estimator_seconds;
  j["cpu_seconds"] = r.cpu_seconds;
  return j;
}

}  // namespace lissom
