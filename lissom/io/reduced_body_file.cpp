// The schema is described in docs/reference/reduced-body-file.md; names here and there agree by a test.
#include "lissom/io/reduced_body_file.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using hdf5::Group;

constexpr const char* reduced_body_format = "lissom-reduced-body";
constexpr CoordinateKind all_kinds[] = {CoordinateKind::FixedInterface, CoordinateKind::Residual,
                                        CoordinateKind::Attachment, CoordinateKind::Constraint,
                                        CoordinateKind::FreeInterface};

// The columns of the error table.
struct ErrorColumn {
  const char* name;
  double ModeError::*value;
};
constexpr ErrorColumn error_columns[] = {{"eigenvalue", &ModeError::eigenvalue},
                                         {"bound", &ModeError::bound},
                                         {"zeta_2", &ModeError::zeta_2},
                                         {"lower_estimate", &ModeError::lower_estimate},
                                         {"paper_estimate", &ModeError::paper_estimate},
                                         {"exact", &ModeError::exact}};

// ---------------------------------------------------------------------------------------------- writing

void write_coordinates(Group group, const std::vector<ReducedCoordinate>& coordinates) {
  std::vector<std::string> kinds;
  std::vector<int> interfaces, directions;
  std::vector<std::int64_t> node_ids;
  std::vector<double> frequencies, effective_mass;
  for (const ReducedCoordinate& coordinate : coordinates) {
    kinds.emplace_back(name_of(coordinate.kind));
    interfaces.push_back(coordinate.interface);
    node_ids.push_back(coordinate.node_id);
    directions.push_back(coordinate.direction);
    frequencies.push_back(coordinate.frequency_hz);
    effective_mass.insert(effective_mass.end(), coordinate.effective_mass.begin(),
                          coordinate.effective_mass.end());
  }
  group.write("kinds", kinds);
  group.write("interfaces", interfaces);
  group.write("node_ids", node_ids);
  group.write("directions", directions);
  group.write("frequencies", frequencies);
  group.write("effective_mass", effective_mass, {coordinates.size(), 6});
}

void write_interfaces(Group group, const std::vector<InterfaceFrame>& interfaces) {
  std::vector<std::string> names;
  Ragged<std::int64_t> nodes;
  Ragged<int> coordinates;
  std::vector<double> origins, axes, motion;
  std::vector<int> rotates;
  std::uint64_t N = 0;
  for (const InterfaceFrame& interface : interfaces) {
    names.push_back(interface.name);
    nodes.add(interface.node_ids);
    coordinates.add(interface.coordinates);
    N = static_cast<std::uint64_t>(interface.motion.cols());
    for (int r = 0; r < 6; ++r)
      for (Eigen::Index c = 0; c < interface.motion.cols(); ++c) motion.push_back(interface.motion(r, c));
    rotates.push_back(interface.rotates ? 1 : 0);
    for (int r = 0; r < 3; ++r) {
      origins.push_back(interface.origin[r]);
      for (int c = 0; c < 3; ++c) axes.push_back(interface.axes(r, c));
    }
  }
  group.write("names", names);
  group.write("node_offsets", nodes.offsets);
  group.write("node_ids", nodes.values);
  group.write("origins", origins, {interfaces.size(), 3});
  group.write("axes", axes, {interfaces.size(), 3, 3});
  group.write("motion", motion, {interfaces.size(), 6, N});
  group.write("rotates", rotates);
  group.write("coordinate_offsets", coordinates.offsets);
  group.write("coordinates", coordinates.values);
}

// What a kind of damping is called in the file, its numbers, and its table.
struct DampingNumbers {
  std::string kind = "none";
  std::vector<double> parameters;
  DampingTable table;
};

DampingNumbers numbers_of(const Damping& damping) {
  if (const auto* uniform = std::get_if<UniformDamping>(&damping)) return {"uniform", {uniform->ratio}, {}};
  if (const auto* list = std::get_if<RatioPerMode>(&damping)) return {"per-mode", list->ratios, {}};
  if (const auto* rayleigh = std::get_if<RayleighDamping>(&damping))
    return {"rayleigh", {rayleigh->alpha, rayleigh->beta}, {}};
  if (const auto* table = std::get_if<DampingTable>(&damping)) return {"table", {}, *table};
  if (const auto* ramp = std::get_if<DampingRamp>(&damping))
    return {"ramp", {ramp->ratio, ramp->from_hz, ramp->to_hz, ramp->to_ratio}, {}};
  LISSOM_ASSERT(std::holds_alternative<std::monostate>(damping));
  return {};
}

void write_damping(Group group, const Damping& damping) {
  const DampingNumbers numbers = numbers_of(damping);
  group.write_attribute("kind", numbers.kind);
  group.write_attribute("description", describe(damping));
  group.write_attribute("table_source", numbers.table.source);
  group.write("parameters", numbers.parameters);
  group.write("table_frequencies", numbers.table.frequency_hz);
  group.write("table_ratios", numbers.table.ratio);
}

void write_errors(Group group, const ErrorTable& errors) {
  group.write_attribute("method", errors.method);
  group.write_attribute("tolerance", errors.tolerance);
  group.write_attribute("certified", std::int64_t{errors.certified});
  for (const ErrorColumn& column : error_columns) {
    std::vector<double> values;
    for (const ModeError& mode : errors.modes) values.push_back(mode.*column.value);
    group.write(column.name, values);
  }
}

// Numbers of all blocks one behind the other, each in C order.
template <class Blocks>
std::vector<double> in_c_order(const Blocks& blocks) {
  std::vector<double> values;
  for (const MatrixXd& block : blocks)
    for (Eigen::Index i = 0; i < block.rows(); ++i)
      for (Eigen::Index j = 0; j < block.cols(); ++j) values.push_back(block(i, j));
  return values;
}

void write_inertia(Group group, const InertiaInvariants& inertia) {
  const auto N = static_cast<std::uint64_t>(inertia.translation.cols());
  group.write_attribute("mass", inertia.mass);
  write_vector(group, "first_moment", inertia.first_moment);
  group.write_matrix("second_moment", inertia.second_moment);
  group.write_matrix("translation", inertia.translation);
  group.write("position", in_c_order(inertia.position), {3, 3, N});
  group.write("deformation", in_c_order(inertia.deformation), {3, 3, N, N});
}

void write_nodes(Group group, const ReducedBody& body) {
  group.write("points", std::span<const double>(body.points.data(), static_cast<size_t>(body.points.size())),
              {static_cast<std::uint64_t>(body.points.cols()), 3});
  group.write("node_ids", body.node_ids);
  group.write_matrix("modes", body.modes);
  if (body.strain_modes.size() > 0) group.write_matrix("strain_modes", body.strain_modes);
  if (body.stress_modes.size() > 0) group.write_matrix("stress_modes", body.stress_modes);
}

// The first thing that is wrong with the sizes or numbers of a GCMS model, as a sentence; empty if nothing
// is.
std::string inconsistency_of(const GcmsModel& gcms) {
  const Eigen::Index n = gcms.points.cols(), s = gcms.S.cols();
  if (!(gcms.mass > 0) || !std::isfinite(gcms.mass)) return fmt::format("the mass is {}", gcms.mass);
  if (static_cast<Eigen::Index>(gcms.node_ids.size()) != n || gcms.S.rows() != n)
    return "numbers of nodes, points and rows of the fields differ";
  if (s < 4) return fmt::format("there are {} fields, and the four rigid ones are needed", s);
  if (gcms.K_hat.rows() != 3 * s || gcms.K_hat.cols() != 3 * s)
    return "the stiffness does not fit the fields";
  if (gcms.P.size() > 0 && gcms.P.cols() != 3 * s) return "the modes' amplitudes do not fit the fields";
  if (gcms.Xi.size() > 0 && gcms.Xi.cols() != gcms.P.rows())
    return "the reduced coordinates do not fit the modes' amplitudes";
  if (gcms.D_modal.size() > 0 &&
      (gcms.D_modal.rows() != gcms.P.rows() || gcms.D_modal.cols() != gcms.P.rows()))
    return "the damping does not fit the modes' amplitudes";
  if (!gcms.S.allFinite() || !gcms.K_hat.allFinite() || !gcms.points.allFinite() || !gcms.T.allFinite() ||
      !gcms.centre.allFinite() || !gcms.P.allFinite() || !gcms.Xi.allFinite() || !gcms.D_modal.allFinite())
    return "there are numbers that are not finite";
  for (const GcmsFrame& frame : gcms.frames) {
    if (frame.position.size() != s) return fmt::format("the frame '{}' does not fit the fields", frame.name);
    if (frame.rotates() && (frame.moment.rows() != 3 || frame.moment.cols() != s))
      return fmt::format("the moment of frame '{}' does not fit the fields", frame.name);
    if (!frame.position.allFinite() || !frame.moment.allFinite() || !frame.mean.allFinite() ||
        !frame.origin.allFinite() || !frame.axes.allFinite())
      return fmt::format("the frame '{}' has numbers that are not finite", frame.name);
  }
  return "";
}

void write_gcms(Group group, const GcmsModel& gcms) {
  group.write_attribute("mass", gcms.mass);
  write_vector(group, "centre", gcms.centre);
  group.write_matrix("T", gcms.T);
  group.write("points", std::span<const double>(gcms.points.data(), static_cast<size_t>(gcms.points.size())),
              {static_cast<std::uint64_t>(gcms.points.cols()), 3});
  group.write("node_ids", gcms.node_ids);
  group.write_matrix("S", gcms.S);
  group.write_matrix("K_hat", gcms.K_hat);
  if (gcms.P.size() > 0) group.write_matrix("P", gcms.P);
  if (gcms.Xi.size() > 0) group.write_matrix("Xi", gcms.Xi);
  if (gcms.D_modal.size() > 0) group.write_matrix("D_modal", gcms.D_modal);
  std::vector<std::string> names;
  std::vector<int> rotates;
  std::vector<MatrixXd> origins, axes, means, positions, moments;
  for (const GcmsFrame& frame : gcms.frames) {
    names.push_back(frame.name);
    rotates.push_back(frame.rotates() ? 1 : 0);
    origins.push_back(frame.origin);
    axes.push_back(frame.axes);
    means.push_back(frame.mean);
    positions.push_back(frame.position);
    moments.push_back(frame.rotates() ? frame.moment : MatrixXd(MatrixXd::Zero(3, gcms.fields())));
  }
  const std::uint64_t count = names.size(), s = static_cast<std::uint64_t>(gcms.fields());
  Group frames = group.create_group("frames");
  frames.write("names", names);
  frames.write("rotates", rotates);
  frames.write("origins", in_c_order(origins), {count, 3});
  frames.write("axes", in_c_order(axes), {count, 3, 3});
  frames.write("means", in_c_order(means), {count, 3});
  frames.write("position", in_c_order(positions), {count, s});
  frames.write("moment", in_c_order(moments), {count, 3, s});
}

// ---------------------------------------------------------------------------------------------- reading

int int_attribute(const Group& group, const char* name) {
  const std::int64_t value = group.long_attribute(name);
  if (value < 0 || value > std::numeric_limits<int>::max())
    fail_input("{}: {} is {}; the file is damaged", group.where(), name, value);
  return static_cast<int>(value);
}

std::vector<ReducedCoordinate> read_coordinates(const Group& group) {
  const auto kinds = group.read_strings("kinds");
  const size_t N = kinds.size();
  for (const char* name : {"interfaces", "node_ids", "directions", "frequencies"})
    expect_shape(group, name, {N});
  expect_shape(group, "effective_mass", {N, 6});
  const auto interfaces = group.read_ints("interfaces"), directions = group.read_ints("directions");
  const auto node_ids = group.read_longs("node_ids");
  const auto frequencies = group.read_doubles("frequencies"), mass = group.read_doubles("effective_mass");
  std::vector<ReducedCoordinate> coordinates(N);
  for (size_t i = 0; i < N; ++i) {
    const auto* kind = std::find_if(std::begin(all_kinds), std::end(all_kinds),
                                    [&](CoordinateKind k) { return name_of(k) == kinds[i]; });
    if (kind == std::end(all_kinds))
      fail_input("{}: unknown kind of coordinate '{}'", group.where("kinds"), kinds[i]);
    coordinates[i] = {*kind,          interfaces[i],
                      node_ids[i],    directions[i],
                      frequencies[i], Eigen::Map<const Eigen::Matrix<double, 6, 1>>(&mass[6 * i])};
  }
  return coordinates;
}

std::vector<InterfaceFrame> read_interfaces(const Group& group, std::uint64_t N) {
  const auto names = group.read_strings("names");
  const size_t count = names.size();
  expect_shape(group, "origins", {count, 3});
  expect_shape(group, "axes", {count, 3, 3});
  expect_shape(group, "motion", {count, 6, count == 0 ? 0 : N});
  expect_shape(group, "rotates", {count});
  const auto node_offsets = group.read_longs("node_offsets"), node_ids = group.read_longs("node_ids");
  const auto coordinate_offsets = group.read_longs("coordinate_offsets");
  const auto coordinates = group.read_ints("coordinates");
  expect_offsets(group, "node_offsets", node_offsets, count, node_ids.size());
  expect_offsets(group, "coordinate_offsets", coordinate_offsets, count, coordinates.size());
  const auto origins = group.read_doubles("origins"), axes = group.read_doubles("axes");
  const auto motion = group.read_doubles("motion");
  const auto rotates = group.read_ints("rotates");
  std::vector<InterfaceFrame> interfaces(count);
  for (size_t i = 0; i < count; ++i) {
    interfaces[i].name = names[i];
    interfaces[i].node_ids = slice(node_ids, node_offsets, i);
    interfaces[i].coordinates = slice(coordinates, coordinate_offsets, i);
    interfaces[i].origin = Eigen::Map<const Eigen::Vector3d>(&origins[3 * i]);
    using Motion = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
    interfaces[i].motion = Eigen::Map<const Motion>(&motion[6 * N * i], 6, static_cast<Eigen::Index>(N));
    interfaces[i].rotates = rotates[i] != 0;
    interfaces[i].axes = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&axes[9 * i]);
  }
  return interfaces;
}

Damping read_stored_damping(const Group& group) {
  const std::string kind = group.string_attribute("kind");
  const auto p = group.read_doubles("parameters");
  const auto expect_count = [&](size_t count) { expect_size(group, "parameters", p, count); };
  Damping damping;
  if (kind == "uniform") {
    expect_count(1);
    damping = UniformDamping{p[0]};
  } else if (kind == "per-mode") {
    damping = RatioPerMode{p};
  } else if (kind == "rayleigh") {
    expect_count(2);
    damping = RayleighDamping{p[0], p[1]};
  } else if (kind == "table") {
    damping = DampingTable{group.read_doubles("table_frequencies"), group.read_doubles("table_ratios"),
                           group.string_attribute("table_source")};
  } else if (kind == "ramp") {
    expect_count(4);
    damping = DampingRamp{p[0], p[1], p[2], p[3]};
  } else if (kind != "none") {
    fail_input("{}: unknown kind of damping '{}'", group.where(), kind);
  }
  if (const auto problems = problems_of(damping); !problems.empty())
    fail_input("{}: {}; the file is damaged", group.where(), problems.front());
  return damping;
}

ErrorTable read_errors(const Group& group) {
  ErrorTable errors;
  errors.method = group.string_attribute("method");
  errors.tolerance = group.double_attribute("tolerance");
  errors.certified = group.long_attribute("certified") != 0;
  errors.modes.resize(group.read_doubles(error_columns[0].name).size());
  for (const ErrorColumn& column : error_columns) {
    const auto values = group.read_doubles(column.name);
    expect_size(group, column.name, values, errors.modes.size());
    for (size_t i = 0; i < values.size(); ++i) errors.modes[i].*column.value = values[i];
  }
  return errors;
}

// The other way round of in_c_order(); the numbers are there.
template <class Blocks>
void from_c_order(const std::vector<double>& values, Eigen::Index rows, Eigen::Index cols, Blocks& blocks) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const double* at = values.data();
  for (MatrixXd& block : blocks) {
    block = Eigen::Map<const RowMajor>(at, rows, cols);
    at += rows * cols;
  }
}

InertiaInvariants read_inertia(const Group& group, std::uint64_t N) {
  expect_shape(group, "first_moment", {3});
  expect_shape(group, "second_moment", {3, 3});
  expect_shape(group, "translation", {3, N});
  expect_shape(group, "position", {3, 3, N});
  expect_shape(group, "deformation", {3, 3, N, N});
  InertiaInvariants inertia;
  inertia.mass = group.double_attribute("mass");
  inertia.first_moment = read_vector(group, "first_moment");
  inertia.second_moment = group.read_matrix("second_moment");
  inertia.translation = group.read_matrix("translation");
  const auto n = static_cast<Eigen::Index>(N);
  from_c_order(group.read_doubles("position"), 3, n, inertia.position);
  from_c_order(group.read_doubles("deformation"), n, n, inertia.deformation);
  return inertia;
}

GcmsModel read_gcms(const Group& group) {
  GcmsModel gcms;
  gcms.mass = group.double_attribute("mass");
  expect_shape(group, "centre", {3});
  expect_shape(group, "T", {3, 3});
  gcms.centre = read_vector(group, "centre");
  gcms.T = group.read_matrix("T");
  gcms.node_ids = group.read_longs("node_ids");
  const std::uint64_t n = gcms.node_ids.size();
  expect_shape(group, "points", {n, 3});
  const auto points = group.read_doubles("points");
  gcms.points = Eigen::Map<const Eigen::Matrix3Xd>(points.data(), 3, static_cast<Eigen::Index>(n));
  gcms.S = group.read_matrix("S");
  const auto s = static_cast<std::uint64_t>(gcms.S.cols());
  expect_shape(group, "S", {n, s});
  expect_shape(group, "K_hat", {3 * s, 3 * s});
  gcms.K_hat = group.read_matrix("K_hat");
  if (group.has("P")) {
    gcms.P = group.read_matrix("P");
    const auto modes = static_cast<std::uint64_t>(gcms.P.rows());
    expect_shape(group, "P", {modes, 3 * s});
    if (group.has("Xi")) {
      gcms.Xi = group.read_matrix("Xi");
      expect_shape(group, "Xi", {static_cast<std::uint64_t>(gcms.Xi.rows()), modes});
    }
    if (group.has("D_modal")) {
      expect_shape(group, "D_modal", {modes, modes});
      gcms.D_modal = group.read_matrix("D_modal");
    }
  }
  const Group frames = group.group("frames");
  const auto names = frames.read_strings("names");
  const std::uint64_t count = names.size();
  expect_shape(frames, "rotates", {count});
  expect_shape(frames, "origins", {count, 3});
  expect_shape(frames, "axes", {count, 3, 3});
  expect_shape(frames, "means", {count, 3});
  expect_shape(frames, "position", {count, s});
  expect_shape(frames, "moment", {count, 3, s});
  const auto rotates = frames.read_ints("rotates");
  std::vector<MatrixXd> origins(count), axes(count), means(count), positions(count), moments(count);
  from_c_order(frames.read_doubles("origins"), 3, 1, origins);
  from_c_order(frames.read_doubles("axes"), 3, 3, axes);
  from_c_order(frames.read_doubles("means"), 3, 1, means);
  from_c_order(frames.read_doubles("position"), static_cast<Eigen::Index>(s), 1, positions);
  from_c_order(frames.read_doubles("moment"), 3, static_cast<Eigen::Index>(s), moments);
  for (size_t i = 0; i < count; ++i) {
    GcmsFrame frame;
    frame.name = names[i];
    frame.origin = origins[i];
    frame.axes = axes[i];
    frame.mean = means[i];
    frame.position = positions[i];
    if (rotates[i] != 0) frame.moment = moments[i];
    gcms.frames.push_back(std::move(frame));
  }
  if (const std::string problem = inconsistency_of(gcms); !problem.empty())
    fail_input("{}: {}; the file is damaged", group.where(), problem);
  return gcms;
}

void read_nodes(const Group& group, const ReducedBodyParts& parts, ReducedBody& body) {
  body.node_ids = group.read_longs("node_ids");
  const std::uint64_t n = body.node_ids.size(), N = body.coordinates.size();
  if (n > std::numeric_limits<int>::max())
    fail_input("{}: {} nodes are more than can be numbered", group.where("node_ids"), n);
  expect_shape(group, "points", {n, 3});
  const auto points = group.read_doubles("points");
  body.points = Eigen::Map<const Eigen::Matrix3Xd>(points.data(), 3, static_cast<Eigen::Index>(n));
  expect_shape(group, "modes", {3 * n, N});
  body.modes = group.read_matrix("modes");
  const auto read_optional = [&](const char* name, bool wanted) -> MatrixXd {
    if (!group.has(name)) return {};
    expect_shape(group, name, {6 * n, N});
    return wanted ? group.read_matrix(name) : MatrixXd();
  };
  body.strain_modes = read_optional("strain_modes", parts.strain_modes);
  body.stress_modes = read_optional("stress_modes", parts.stress_modes);
}

}  // namespace

void write_reduced_body_file(const std::filesystem::path& path, const ReducedBody& body,
                             const std::vector<std::string>& provenance, const GcmsModel* gcms) {
  if (const std::string problem = inconsistency_of(body); !problem.empty())
    fail("{}: the reduced body '{}' cannot be written: {}", path.string(), body.name, problem);
  const bool with_gcms = gcms && !gcms->empty();
  if (const std::string problem = with_gcms ? inconsistency_of(*gcms) : ""; !problem.empty())
    fail("{}: the component modes of body '{}' cannot be written: {}", path.string(), body.name, problem);
  AtomicFile target(path);
  hdf5::File file = hdf5::File::create(target.temporary(), path.string());
  Group root = file.root();
  write_format(root, reduced_body_format, reduced_body_file_version);
  root.write_attribute("name", body.name);
  root.write_attribute("source", body.source);
  root.write_attribute("basis", body.basis);
  root.write_attribute("mass_kind", body.mass_kind);
  root.write("provenance", provenance);
  write_coordinates(root.create_group("coordinates"), body.coordinates);
  write_interfaces(root.create_group("interfaces"), body.interfaces);

  Group matrices = root.create_group("matrices");
  matrices.write_matrix("M", body.M);
  matrices.write_matrix("K", body.K);
  if (body.D.size() > 0) matrices.write_matrix("D", body.D);
  write_damping(root.create_group("damping"), body.damping);

  Group natural = root.create_group("natural_modes");
  natural.write_attribute("rigid_count", std::int64_t{body.rigid_count});
  natural.write_attribute("range", std::int64_t{body.range});
  write_vector(natural, "eigenvalues", body.eigenvalues);
  natural.write_matrix("eigenvectors", body.eigenvectors);
  write_errors(root.create_group("errors"), body.errors);

  write_nodes(root.create_group("nodes"), body);
  if (!body.inertia.empty()) write_inertia(root.create_group("inertia"), body.inertia);
  if (with_gcms) write_gcms(root.create_group("gcms"), *gcms);
  file.close();
  target.commit();
}

bool is_reduced_body_file(const std::filesystem::path& path) {
  return has_format(path, reduced_body_format);
}

ReducedBodyFile read_reduced_body_file(const std::filesystem::path& path, Diagnostics& diagnostics,
                                       const ReducedBodyParts& parts) {
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  expect_format(root, path, reduced_body_format, "a reduced body", reduced_body_file_version);
  constexpr std::string_view known[] = {"coordinates", "damping",  "errors", "gcms",          "inertia",
                                        "interfaces",  "matrices", "nodes",  "natural_modes", "provenance"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("reduced-body-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});

  ReducedBodyFile result;
  ReducedBody& body = result.body;
  result.lissom_version = root.string_attribute("lissom_version");
  result.provenance = root.read_strings("provenance");
  body.name = root.string_attribute("name");
  body.source = root.string_attribute("source");
  body.basis = root.string_attribute("basis");
  body.mass_kind = root.string_attribute("mass_kind");
  body.coordinates = read_coordinates(root.group("coordinates"));
  body.interfaces = read_interfaces(root.group("interfaces"), body.coordinates.size());

  // shapes are checked before anything of that size is allocated
  const std::uint64_t N = body.coordinates.size();
  const Group matrices = root.group("matrices");
  const auto read_square = [&](const char* name) {
    expect_shape(matrices, name, {N, N});
    return matrices.read_matrix(name);
  };
  body.M = read_square("M");
  body.K = read_square("K");
  if (matrices.has("D")) body.D = read_square("D");
  body.damping = read_stored_damping(root.group("damping"));

  const Group natural = root.group("natural_modes");
  body.rigid_count = int_attribute(natural, "rigid_count");
  body.range = int_attribute(natural, "range");
  body.eigenvalues = read_vector(natural, "eigenvalues");
  expect_shape(natural, "eigenvectors", {N, static_cast<std::uint64_t>(body.eigenvalues.size())});
  body.eigenvectors = natural.read_matrix("eigenvectors");
  body.errors = read_errors(root.group("errors"));

  read_nodes(root.group("nodes"), parts, body);
  if (root.has("inertia")) body.inertia = read_inertia(root.group("inertia"), N);
  if (root.has("gcms")) result.gcms = read_gcms(root.group("gcms"));
  if (const std::string problem = inconsistency_of(body); !problem.empty())
    fail_input("{}: {}; the file is damaged", path.string(), problem);
  return result;
}

}  // namespace lissom
