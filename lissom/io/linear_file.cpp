// The schema is described in docs/reference/rom-file.md; names here and there agree by a test.
#include "lissom/io/linear_file.hpp"

#include <algorithm>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"
#include "lissom/io/rom_file.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using hdf5::Group;

namespace {

MatrixXd read_shaped(const Group& group, const char* name, size_t rows, size_t cols) {
  expect_shape(group, name, {rows, cols});
  return group.read_matrix(name);
}

// As many as there should be, before they are read.
std::vector<std::string> read_names(const Group& group, const char* name, size_t count) {
  expect_shape(group, name, {count});
  return group.read_strings(name);
}

void write_channels(Group& root, const LinearModel& model) {
  Group inputs = root.create_group("inputs");
  std::vector<std::string> names, units;
  std::vector<std::int32_t> loads;
  MatrixXd directions(static_cast<Index>(model.inputs.size()), 3);
  for (const LinearInput& input : model.inputs) {
    directions.row(static_cast<Index>(names.size())) = input.direction;
    names.push_back(input.name);
    units.push_back(input.unit);
    loads.push_back(input.is_load ? 1 : 0);
  }
  inputs.write("names", names);
  inputs.write("units", units);
  inputs.write("loads", loads);
  inputs.write_matrix("directions", directions);
  write_vector(inputs, "scale", model.reduction.input_scale);

  Group outputs = root.create_group("outputs");
  std::vector<std::string> columns;
  std::vector<std::int32_t> powers;
  for (const SensorColumn& output : model.outputs) {
    columns.push_back(output.name);
    powers.insert(powers.end(), {output.length, output.mass, output.time});
  }
  outputs.write("names", columns);
  outputs.write("powers", powers, {columns.size(), 3});
  write_vector(outputs, "scale", model.reduction.output_scale);
}

void read_channels(const Group& root, LinearModel& model, size_t p, size_t k) {
  const Group inputs = root.group("inputs");
  const std::vector<std::string> names = read_names(inputs, "names", p),
                                 units = read_names(inputs, "units", p);
  expect_shape(inputs, "loads", {p});
  const std::vector<std::int32_t> loads = inputs.read_ints("loads");
  const MatrixXd directions = read_shaped(inputs, "directions", p, 3);
  for (size_t i = 0; i < p; ++i)
    model.inputs.push_back({names[i], units[i], loads[i] != 0, directions.row(static_cast<Index>(i))});
  model.reduction.input_scale = read_vector(inputs, "scale", p);

  const Group outputs = root.group("outputs");
  const std::vector<std::string> columns = read_names(outputs, "names", k);
  expect_shape(outputs, "powers", {k, 3});
  const std::vector<std::int32_t> powers = outputs.read_ints("powers");
  for (size_t i = 0; i < k; ++i) {
    const std::int32_t* of = powers.data() + 3 * i;
    // units of nothing that is measured have higher ones
    for (int j = 0; j < 3; ++j)
      if (of[j] < -10 || of[j] > 10)
        fail_input("{}: the unit of '{}' has a power {}; the file is damaged", outputs.where("powers"),
                   columns[i], of[j]);
    model.outputs.push_back({columns[i], of[0], of[1], of[2]});
  }
  model.reduction.output_scale = read_vector(outputs, "scale", k);
}

}  // namespace

bool is_linear_file(const std::filesystem::path& path) {
  if (path.empty() || !std::filesystem::is_regular_file(path) || !is_rom_file(path)) return false;
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  return root.has_attribute("kind") && root.string_attribute("kind") == "linear";
}

void write_linear_file(const std::filesystem::path& path, const LinearFile& file) {
  const LinearModel& model = file.model;
  if (const std::string problem = inconsistency_of(model); !problem.empty())
    fail("{}: the model cannot be written: {}", path.string(), problem);
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    write_format(root, rom_file_format, rom_file_version);
    root.write_attribute("kind", "linear");
    root.write_attribute("title", model.title);
    root.write_attribute("case", file.case_name);
    root.write_attribute("study_path", file.study_path);
    root.write_attribute("order", std::int64_t{model.order()});
    root.write_attribute("inputs", static_cast<std::int64_t>(model.inputs.size()));
    root.write_attribute("outputs", static_cast<std::int64_t>(model.outputs.size()));
    root.write("study", std::vector<std::string>{file.study});
    Group matrices = root.create_group("model");
    matrices.write_attribute("t", model.t);
    matrices.write_matrix("A", model.A);
    matrices.write_matrix("B", model.B);
    matrices.write_matrix("C", model.C);
    matrices.write_matrix("D", model.D);
    write_vector(matrices, "x0", model.x0);
    write_vector(matrices, "u0", model.u0);
    write_vector(matrices, "y0", model.y0);
    matrices.write("states", model.states);
    write_channels(root, model);
    Group range = root.create_group("range");
    range.write("names", model.range_names);
    range.write_matrix("of_states", model.range);
    range.write_matrix("of_inputs", model.range_inputs);
    const LinearReduction& made = model.reduction;
    Group reduction = root.create_group("reduction");
    reduction.write_attribute("truncation", name_of(made.truncation));
    reduction.write_attribute("statics", std::int64_t{made.statics ? 1 : 0});
    reduction.write_attribute("source_order", std::int64_t{made.source_order});
    reduction.write_attribute("kept_exactly", std::int64_t{made.kept_exactly});
    reduction.write_attribute("zero_below", made.zero_below);
    reduction.write_attribute("bound", made.bound);
    reduction.write_attribute("error", made.error);
    reduction.write_attribute("error_frequency", made.error_frequency);
    reduction.write_attribute("grid_from", made.grid_from);
    reduction.write_attribute("grid_to", made.grid_to);
    write_vector(reduction, "hankel", made.hankel);
  }
  h5.close();
  atomic.commit();
}

LinearFile read_linear_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  expect_format(root, path, rom_file_format, "a reduced mechanism", rom_file_version);
  if (!root.has_attribute("kind") || root.string_attribute("kind") != "linear")
    fail_input("{}: is a reduced mechanism of another kind, expected \"linear\"", path.string());
  constexpr std::string_view known[] = {"inputs", "model", "outputs", "range", "reduction", "study"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("rom-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  LinearFile file;
  LinearModel& model = file.model;
  file.lissom_version = root.string_attribute("lissom_version");
  file.case_name = root.string_attribute("case");
  file.study_path = root.string_attribute("study_path");
  file.study = read_text(root, "study");
  model.title = root.string_attribute("title");
  const auto count = [&](const char* name) {
    const std::int64_t found = root.long_attribute(name);
    if (found < 0 || found > 100000)
      fail_input("{}: {} is {}, expected 0 to 100000; the file is damaged", path.string(), name, found);
    return static_cast<size_t>(found);
  };
  const size_t n = count("order"), p = count("inputs"), k = count("outputs");

  const Group matrices = root.group("model");
  model.t = matrices.double_attribute("t");
  model.A = read_shaped(matrices, "A", n, n);
  model.B = read_shaped(matrices, "B", n, p);
  model.C = read_shaped(matrices, "C", k, n);
  model.D = read_shaped(matrices, "D", k, p);
  model.x0 = read_vector(matrices, "x0", n);
  model.u0 = read_vector(matrices, "u0", p);
  model.y0 = read_vector(matrices, "y0", k);
  model.states = read_names(matrices, "states", n);
  read_channels(root, model, p, k);
  const Group range = root.group("range");
  model.range_names = range.read_strings("names");
  model.range = read_shaped(range, "of_states", model.range_names.size(), n);
  model.range_inputs = read_shaped(range, "of_inputs", model.range_names.size(), p);

  const Group reduction = root.group("reduction");
  LinearReduction& made = model.reduction;
  const std::string truncation = reduction.string_attribute("truncation");
  const auto& names = linear_truncation_names();
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == truncation; });
  if (found == names.end())
    fail_input("{}: the truncation '{}' is not known; the file is damaged", reduction.where(), truncation);
  made.truncation = found->second;
  made.statics = reduction.long_attribute("statics") != 0;
  made.source_order =
      static_cast<int>(std::clamp<std::int64_t>(reduction.long_attribute("source_order"), -1, 1000000));
  made.kept_exactly =
      static_cast<int>(std::clamp<std::int64_t>(reduction.long_attribute("kept_exactly"), -1, 1000000));
  made.zero_below = reduction.double_attribute("zero_below");
  made.bound = reduction.double_attribute("bound");
  made.error = reduction.double_attribute("error");
  made.error_frequency = reduction.double_attribute("error_frequency");
  made.grid_from = reduction.double_attribute("grid_from");
  made.grid_to = reduction.double_attribute("grid_to");
  made.hankel = read_vector(reduction, "hankel");
  if (const std::string problem = inconsistency_of(model); !problem.empty())
    fail_input("{}: {}; the file is damaged", path.string(), problem);
  return file;
}

}  // namespace lissom
