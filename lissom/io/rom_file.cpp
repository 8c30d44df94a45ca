// The schema is described in docs/reference/rom-file.md; names here and there agree by a test.
#include "lissom/io/rom_file.hpp"

#include <algorithm>
#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;

// ---------------------------------------------------------------------------------------------- writing

void append_rows(std::vector<double>& values, const Eigen::Ref<const MatrixXd>& block) {
  for (Eigen::Index i = 0; i < block.rows(); ++i)
    for (Eigen::Index j = 0; j < block.cols(); ++j) values.push_back(block(i, j));
}

void write_slap_part(Group group, const SlapPart& part) {
  group.write_attribute("name", part.name);
  group.write_attribute("mass", part.mass);
  group.write_matrix("S0", part.S0);
  group.write_matrix("A", part.A);
  group.write_matrix("C", part.C);
  if (part.C_damping.size() > 0) group.write_matrix("C_damping", part.C_damping);
  if (part.placed) {
    write_vector(group, "position", part.placed->position);
    group.write_matrix("rotation", part.placed->rotation);
  }
  if (!part.has_nodes()) return;
  group.write("node_ids", part.node_ids);
  group.write("points", std::span<const double>(part.points.data(), static_cast<size_t>(part.points.size())),
              {static_cast<std::uint64_t>(part.points.cols()), 3});
  group.write_matrix("fields", part.fields);
  group.write_matrix("coefficients", part.coefficients);
  if (part.stress_modes.strain) group.write_matrix("strain_modes", *part.stress_modes.strain);
  if (part.stress_modes.stress) group.write_matrix("stress_modes", *part.stress_modes.stress);
}

void write_frames(Group group, const std::vector<SlapFrame>& frames, std::uint64_t m) {
  std::vector<std::string> names;
  std::vector<std::int32_t> parts, rotates;
  std::vector<double> position, moment, arm, axes, rest;
  std::vector<std::int64_t> counts, nodes;
  for (const SlapFrame& frame : frames) {
    names.push_back(frame.name);
    parts.push_back(frame.part);
    rotates.push_back(frame.rotates() ? 1 : 0);
    append_rows(position, frame.position);
    append_rows(moment, frame.rotates() ? frame.moment : MatrixXd::Zero(9, static_cast<Eigen::Index>(m + 1)));
    append_rows(arm, frame.arm);
    append_rows(axes, frame.axes);
    append_rows(rest, frame.rest);
    counts.push_back(static_cast<std::int64_t>(frame.node_ids.size()));
    nodes.insert(nodes.end(), frame.node_ids.begin(), frame.node_ids.end());
  }
  const std::uint64_t f = frames.size();
  group.write("names", names);
  group.write("parts", parts);
  group.write("rotates", rotates);
  group.write("position", position, {f, 3, m + 1});
  group.write("moment", moment, {f, 9, m + 1});
  group.write("arms", arm, {f, 3});
  group.write("axes", axes, {f, 3, 3});
  group.write("rest", rest, {f, 3});
  group.write("node_counts", counts);
  group.write("node_ids", nodes);
}

void write_polynomial(Group group, const SlapModel& model, const SlapPolynomial& form) {
  group.write_attribute("cut", form.cut);
  group.write_attribute("axes_misfit", form.axes_misfit);
  group.write_attribute("row_error", form.row_error);
  group.write_attribute("displacement", form.displacement);
  group.write_matrix("S", form.S);
  if (form.S_damping.size() > 0) group.write_matrix("S_damping", form.S_damping);
  write_vector(group, "strain", form.strain);
  write_vector(group, "misfit", form.misfit);
  // of the places, in their order
  std::vector<std::int32_t> linear;
  std::vector<double> axes;
  for (const SlapFrame& frame : model.frames) {
    linear.push_back(frame.linear_axes.size() > 0 ? 1 : 0);
    append_rows(axes, linear.back() ? frame.linear_axes : MatrixXd::Zero(9, frame.position.cols()));
  }
  group.write("linear", linear);
  group.write("axes", axes, {linear.size(), 9, static_cast<std::uint64_t>(model.order() + 1)});
}

// ---------------------------------------------------------------------------------------------- reading

MatrixXd read_matrix(const Group& group, const char* name, std::uint64_t rows, std::uint64_t cols) {
  expect_shape(group, name, {rows, cols});
  return group.read_matrix(name);
}

// Any number of rows.
MatrixXd read_all_rows(const Group& group, const char* name, std::uint64_t cols) {
  const hdf5::Shape shape = group.info(name).shape;
  return read_matrix(group, name, shape.empty() ? 0 : shape.front(), cols);
}

std::vector<MatrixXd> read_blocks(const Group& group, const char* name, std::uint64_t count,
                                  std::uint64_t rows, std::uint64_t cols) {
  expect_shape(group, name, cols > 0 ? hdf5::Shape{count, rows, cols} : hdf5::Shape{count, rows});
  const auto values = group.read_doubles(name);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto r = static_cast<Eigen::Index>(rows),
             c = static_cast<Eigen::Index>(std::max<std::uint64_t>(cols, 1));
  std::vector<MatrixXd> blocks;
  for (size_t i = 0; i < count; ++i)
    blocks.emplace_back(
        Eigen::Map<const RowMajor>(values.data() + static_cast<Eigen::Index>(i) * r * c, r, c));
  return blocks;
}

SlapPart read_slap_part(const Group& group, std::uint64_t m) {
  SlapPart part;
  part.name = group.string_attribute("name");
  part.mass = group.double_attribute("mass");
  part.S0 = read_matrix(group, "S0", 3, 3);
  part.A = read_matrix(group, "A", 9, m + 1);
  part.C = read_all_rows(group, "C", 9 * (m + 2));
  if (group.has("C_damping")) part.C_damping = read_all_rows(group, "C_damping", 9 * (m + 2));
  if (group.has("rotation")) {
    part.placed.emplace();
    part.placed->position = read_vector(group, "position", 3);
    part.placed->rotation = read_matrix(group, "rotation", 3, 3);
  }
  if (!group.has("fields")) return part;
  part.node_ids = group.read_longs("node_ids");
  const std::uint64_t n = part.node_ids.size();
  if (n > std::numeric_limits<int>::max())
    fail_input("{}: {} nodes are more than can be numbered", group.where("node_ids"), n);
  expect_shape(group, "points", {n, 3});
  const auto points = group.read_doubles("points");
  part.points = Eigen::Map<const Eigen::Matrix3Xd>(points.data(), 3, static_cast<Eigen::Index>(n));
  const hdf5::Shape shape = group.info("fields").shape;
  const std::uint64_t s = shape.size() == 2 ? shape[1] : 0;
  part.fields = read_matrix(group, "fields", n, s);
  part.coefficients = read_matrix(group, "coefficients", 3 * s, m + 1);
  const auto modes = [&](const char* name) -> std::shared_ptr<const MatrixXd> {
    if (!group.has(name)) return nullptr;
    return std::make_shared<MatrixXd>(read_matrix(group, name, 6 * n, 3 * s));
  };
  part.stress_modes = {modes("strain_modes"), modes("stress_modes")};
  return part;
}

std::vector<SlapFrame> read_frames(const Group& group, size_t parts, std::uint64_t m) {
  const auto names = group.read_strings("names");
  const std::uint64_t f = names.size();
  const auto part = group.read_ints("parts"), rotates = group.read_ints("rotates");
  expect_size(group, "parts", part, f);
  expect_size(group, "rotates", rotates, f);
  expect_indices(group, "parts", part, static_cast<int>(parts));
  const auto position = read_blocks(group, "position", f, 3, m + 1),
             moment = read_blocks(group, "moment", f, 9, m + 1), arm = read_blocks(group, "arms", f, 3, 0),
             axes = read_blocks(group, "axes", f, 3, 3);
  std::vector<SlapFrame> frames(f);
  for (size_t i = 0; i < f; ++i) {
    frames[i].name = names[i];
    frames[i].part = part[i];
    frames[i].position = position[i];
    if (rotates[i] != 0) frames[i].moment = moment[i];
    frames[i].arm = arm[i];
    frames[i].axes = axes[i];
  }
  // since version 3
  if (!group.has("rest")) return frames;
  const auto rest = read_blocks(group, "rest", f, 3, 0);
  const auto counts = group.read_longs("node_counts"), nodes = group.read_longs("node_ids");
  expect_size(group, "node_counts", counts, f);
  size_t first = 0;
  for (size_t i = 0; i < f; ++i) {
    frames[i].rest = rest[i];
    if (counts[i] < 0 || static_cast<std::uint64_t>(counts[i]) > nodes.size() - first)
      fail_input("{}: there are {} nodes, fewer than the places have; the file is damaged",
                 group.where("node_counts"), nodes.size());
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(first);
    frames[i].node_ids.assign(begin, begin + counts[i]);
    first += static_cast<size_t>(counts[i]);
  }
  return frames;
}

void read_polynomial(const Group& group, SlapModel& model) {
  const auto n = static_cast<std::uint64_t>(model.order() + 1);
  SlapPolynomial& form = model.polynomial.emplace();
  form.cut = group.double_attribute("cut");
  form.axes_misfit = group.double_attribute("axes_misfit");
  form.row_error = group.double_attribute("row_error");
  form.displacement = group.double_attribute("displacement");
  form.S = read_all_rows(group, "S", n * (n + 1) / 2);
  if (group.has("S_damping")) form.S_damping = read_all_rows(group, "S_damping", n * (n + 1) / 2);
  form.strain = read_vector(group, "strain", model.parts.size());
  form.misfit = read_vector(group, "misfit", model.parts.size());
  const auto linear = group.read_ints("linear");
  expect_size(group, "linear", linear, model.frames.size());
  const auto axes = read_blocks(group, "axes", model.frames.size(), 9, n);
  for (size_t i = 0; i < model.frames.size(); ++i)
    if (linear[i] != 0) model.frames[i].linear_axes = axes[i];
}

}  // namespace

bool is_rom_file(const std::filesystem::path& path) {
  return has_format(path, rom_file_format);
}

void write_rom_file(const std::filesystem::path& path, const RomFile& rom) {
  const SlapModel& model = rom.model;
  if (const std::string problem = inconsistency_of(model); !problem.empty())
    fail("{}: the model cannot be written: {}", path.string(), problem);
  const auto m = static_cast<std::uint64_t>(model.order());
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    write_format(root, rom_file_format, rom_file_version);
    root.write_attribute("title", model.title);
    root.write_attribute("case", rom.case_name);
    root.write_attribute("study_path", rom.study_path);
    root.write_attribute("order", std::int64_t{model.order()});
    root.write_attribute("parts", static_cast<std::int64_t>(model.parts.size()));
    root.write_attribute("mass_damping", model.mass_damping);
    root.write_attribute("radius", model.radius);
    root.write("study", std::vector<std::string>{rom.study});
    Group system = root.create_group("model");
    system.write_matrix("M", model.M);
    system.write_matrix("centre", model.centre);
    system.write_matrix("angular", model.angular);
    write_vector(system, "start", model.start);
    write_vector(system, "start_rate", model.start_rate);
    write_vector(system, "scale", model.scale);
    Group parts = root.create_group("parts");
    for (size_t i = 0; i < model.parts.size(); ++i)
      write_slap_part(parts.create_group(std::to_string(i)), model.parts[i]);
    write_frames(root.create_group("frames"), model.frames, m);
    if (model.polynomial) write_polynomial(root.create_group("polynomial"), model, *model.polynomial);
    Group training = root.create_group("training");
    training.write_attribute("reach", model.training.reach);
    const SlapAccuracy& accuracy = model.accuracy;
    training.write_attribute("motion", accuracy.motion);
    training.write_attribute("largest_error", accuracy.largest_error);
    training.write_attribute("rms_error", accuracy.rms_error);
    training.write_attribute("failed", std::int64_t{accuracy.failed ? 1 : 0});
    if (model.training.samples.size() > 0) {
      training.write_matrix("samples", model.training.samples);
      write_vector(training, "spread", model.training.spread);
    }
    training.write("why", std::vector<std::string>{rom.why});
    training.write("form", std::vector<std::string>{model.polynomial_why});
    write_vector(training, "singular_values", rom.singular_values);
    write_vector(training, "joint_violation", rom.joint_violation);
    write_vector(training, "frequencies", rom.frequencies_hz);
  }
  h5.close();
  atomic.commit();
}

RomFile read_rom_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  expect_format(root, path, rom_file_format, "a reduced mechanism", rom_file_version);
  if (root.has_attribute("kind") && root.string_attribute("kind") != "slap")
    fail_input("{}: is a reduced mechanism of kind '{}', expected \"slap\"", path.string(),
               root.string_attribute("kind"));
  constexpr std::string_view known[] = {"frames", "model", "parts", "polynomial", "study", "training"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("rom-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  RomFile rom;
  SlapModel& model = rom.model;
  rom.lissom_version = root.string_attribute("lissom_version");
  rom.case_name = root.string_attribute("case");
  rom.study_path = root.string_attribute("study_path");
  rom.study = read_text(root, "study");
  model.title = root.string_attribute("title");
  model.mass_damping = root.double_attribute("mass_damping");
  model.radius = root.double_attribute("radius");
  const std::int64_t order = root.long_attribute("order"), count = root.long_attribute("parts");
  // far beyond what is ever trained; keeps products of sizes in range
  if (order < 1 || order > 10000 || count < 1 || count > 100000)
    fail_input("{}: {} modes of {} parts make no sense; the file is damaged", path.string(), order, count);
  const auto m = static_cast<std::uint64_t>(order);

  const Group system = root.group("model");
  model.M = read_matrix(system, "M", m, m);
  model.centre = read_matrix(system, "centre", 3, m + 1);
  model.angular = read_matrix(system, "angular", 3, (m + 1) * (m + 1));
  model.start = read_vector(system, "start", m);
  model.start_rate = read_vector(system, "start_rate", m);
  model.scale = read_vector(system, "scale", m);
  const Group parts = root.group("parts");
  for (std::int64_t i = 0; i < count; ++i)
    model.parts.push_back(read_slap_part(parts.group(std::to_string(i)), m));
  model.frames = read_frames(root.group("frames"), model.parts.size(), m);
  if (root.has("polynomial")) read_polynomial(root.group("polynomial"), model);

  const Group training = root.group("training");
  model.training.reach = training.double_attribute("reach");
  if (training.has("samples")) {
    const hdf5::Shape shape = training.info("samples").shape;
    model.training.samples = read_matrix(training, "samples", m, shape.size() == 2 ? shape[1] : 0);
    model.training.spread = read_vector(training, "spread", m);
  }
  if (training.has_attribute("motion")) {
    model.accuracy.motion = training.double_attribute("motion");
    model.accuracy.largest_error = training.double_attribute("largest_error");
    model.accuracy.rms_error = training.double_attribute("rms_error");
    model.accuracy.failed = training.long_attribute("failed") != 0;
  }
  rom.why = read_text(training, "why");
  if (training.has("form")) model.polynomial_why = read_text(training, "form");
  rom.singular_values = read_vector(training, "singular_values");
  rom.joint_violation = read_vector(training, "joint_violation");
  rom.frequencies_hz = read_vector(training, "frequencies");
  if (const std::string problem = inconsistency_of(model); !problem.empty())
    fail_input("{}: {}; the file is damaged", path.string(), problem);
  return rom;
}

}  // namespace lissom
