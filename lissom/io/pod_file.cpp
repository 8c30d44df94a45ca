// The schema is described in docs/reference/rom-file.md; names here and there agree by a test.
#include "lissom/io/pod_file.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"
#include "lissom/io/rom_file.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;

namespace {

template <class Value>
Value value_of(const std::vector<std::pair<std::string, Value>>& names, const Group& group,
               const char* name) {
  const std::string found = group.string_attribute(name);
  for (const auto& [word, meaning] : names)
    if (word == found) return meaning;
  fail_input("{}: the {} '{}' is not known; the file is damaged", group.where(), name, found);
}

MatrixXd read_columns(const Group& group, const char* name, std::uint64_t rows) {
  const hdf5::Shape shape = group.info(name).shape;
  expect_shape(group, name, {rows, shape.size() == 2 ? shape[1] : 0});
  return group.read_matrix(name);
}

std::int64_t read_count(const Group& group, const char* name, std::int64_t least, std::int64_t most) {
  const std::int64_t count = group.long_attribute(name);
  if (count < least || count > most)
    fail_input("{}: {} is {}, expected {} to {}; the file is damaged", group.where(), name, count, least,
               most);
  return count;
}

void write_parameters(Group group, const std::vector<StudyParameter>& parameters) {
  for (size_t p = 0; p < parameters.size(); ++p) {
    Group one = group.create_group(std::to_string(p));
    one.write_attribute("name", parameters[p].name);
    one.write_attribute("scale", parameters[p].scale);
    one.write("keys", parameters[p].keys);
  }
}

void write_sample(Group group, const PodSample& sample) {
  group.write_attribute("snapshots_used", std::int64_t{sample.samples});
  if (sample.parameters.size() > 0) write_vector(group, "parameters", sample.parameters);
  write_vector(group, "offset", sample.offset);
  write_vector(group, "singular_values", sample.singular_values);
  group.write_matrix("basis", sample.basis);
  group.write_matrix("snapshots", sample.snapshots);
}

PodSample read_sample(const Group& group, std::uint64_t p) {
  PodSample sample;
  sample.samples = static_cast<int>(read_count(group, "snapshots_used", 0, 1000000000));
  sample.parameters = p > 0 ? read_vector(group, "parameters", p) : VectorXd(0);
  sample.offset = read_vector(group, "offset");
  const auto n = static_cast<std::uint64_t>(sample.offset.size());
  sample.singular_values = read_vector(group, "singular_values");
  sample.basis = read_columns(group, "basis", n);
  sample.snapshots = read_columns(group, "snapshots", n);
  return sample;
}

}  // namespace

std::string inconsistency_of(const PodFile& file) {
  if (file.library.samples.empty()) return "there is no sample";
  if (file.beams.empty()) return "there are no beams";
  if (file.parameters.size() != file.library.parameters.size())
    return fmt::format("{} parameters are described and {} named", file.parameters.size(),
                       file.library.parameters.size());
  for (size_t p = 0; p < file.parameters.size(); ++p) {
    const StudyParameter& parameter = file.parameters[p];
    if (parameter.name != file.library.parameters[p]) return "names of parameters do not agree";
    if (parameter.keys.empty()) return fmt::format("the parameter '{}' has no key", parameter.name);
    if (!std::isfinite(parameter.scale) || parameter.scale == 0)
      return fmt::format("the scale of the parameter '{}' is {}", parameter.name, parameter.scale);
  }
  for (const PodSample& sample : file.library.samples)
    if (sample.parameters.size() != static_cast<Index>(file.parameters.size()))
      return fmt::format("a sample has {} parameters, and there are {}", sample.parameters.size(),
                         file.parameters.size());
  if (const std::string problem = inconsistency_of(file.library); !problem.empty()) return problem;
  if (file.order < 1 || file.order > file.library.rank())
    return fmt::format("the order is {}, and the samples have {} modes", file.order, file.library.rank());
  if (file.library.reference < -1 || file.library.reference >= static_cast<int>(file.library.samples.size()))
    return fmt::format("the reference is sample {} of {}", file.library.reference + 1,
                       file.library.samples.size());
  return "";
}

bool is_pod_file(const std::filesystem::path& path) {
  if (path.empty() || !std::filesystem::is_regular_file(path) || !is_rom_file(path)) return false;
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  return root.has_attribute("kind") && root.string_attribute("kind") == "pod";
}

void write_pod_file(const std::filesystem::path& path, const PodFile& file) {
  if (const std::string problem = inconsistency_of(file); !problem.empty())
    fail("{}: the model cannot be written: {}", path.string(), problem);
  const PodLibrary& library = file.library;
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    write_format(root, rom_file_format, rom_file_version);
    root.write_attribute("kind", "pod");
    root.write_attribute("title", file.title);
    root.write_attribute("case", file.case_name);
    root.write_attribute("study_path", file.study_path);
    root.write_attribute("order", std::int64_t{file.order});
    root.write_attribute("parameters", static_cast<std::int64_t>(file.parameters.size()));
    root.write_attribute("samples", static_cast<std::int64_t>(library.samples.size()));
    root.write("beams", file.beams);
    root.write("study", std::vector<std::string>{file.study});
    root.write("why", std::vector<std::string>{file.why});
    Group options = root.create_group("options");
    options.write_attribute("offset", pod_word(pod_offset_names(), library.options.offset));
    options.write_attribute("weight", library.options.mass_weighted ? "mass" : "none");
    options.write_attribute("max_order", std::int64_t{library.options.max_rank});
    options.write_attribute("keep", std::int64_t{library.options.keep});
    options.write_attribute("rule", pod_word(pod_rule_names(), file.rule));
    options.write_attribute("fraction", file.fraction);
    options.write_attribute("combination", pod_word(pod_combination_names(), library.combination));
    options.write_attribute("reference", std::int64_t{library.reference + 1});
    options.write_attribute("force", pod_word(pod_force_names(), file.body.force));
    options.write_attribute("ecsw_tolerance", file.body.ecsw_tolerance);
    options.write_attribute("deim_points", std::int64_t{file.body.deim_points});
    options.write_attribute("motion", file.accuracy.motion);
    options.write_attribute("largest_error", file.accuracy.largest_error);
    options.write_attribute("rms_error", file.accuracy.rms_error);
    options.write_attribute("failed", std::int64_t{file.accuracy.failed ? 1 : 0});
    write_parameters(root.create_group("parameters"), file.parameters);
    Group samples = root.create_group("samples");
    for (size_t k = 0; k < library.samples.size(); ++k)
      write_sample(samples.create_group(std::to_string(k)), library.samples[k]);
  }
  h5.close();
  atomic.commit();
}

PodFile read_pod_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  expect_format(root, path, rom_file_format, "a reduced mechanism", rom_file_version);
  if (!root.has_attribute("kind") || root.string_attribute("kind") != "pod")
    fail_input("{}: is a reduced mechanism of another kind, expected \"pod\"", path.string());
  constexpr std::string_view known[] = {"beams", "options", "parameters", "samples", "study", "why"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("rom-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  PodFile file;
  PodLibrary& library = file.library;
  file.lissom_version = root.string_attribute("lissom_version");
  file.title = root.string_attribute("title");
  file.case_name = root.string_attribute("case");
  file.study_path = root.string_attribute("study_path");
  file.beams = root.read_strings("beams");
  file.study = read_text(root, "study");
  file.why = read_text(root, "why");
  file.order = static_cast<int>(read_count(root, "order", 1, 10000));
  const std::int64_t p = read_count(root, "parameters", 0, 1000), k = read_count(root, "samples", 1, 1000000);

  const Group options = root.group("options");
  library.options.offset = value_of(pod_offset_names(), options, "offset");
  library.options.mass_weighted = value_of<bool>({{"none", false}, {"mass", true}}, options, "weight");
  library.options.max_rank = static_cast<int>(read_count(options, "max_order", 1, 10000));
  library.options.keep = static_cast<int>(read_count(options, "keep", 0, 1000000));
  file.rule = value_of(pod_rule_names(), options, "rule");
  file.fraction = options.double_attribute("fraction");
  library.combination = value_of(pod_combination_names(), options, "combination");
  library.reference = static_cast<int>(read_count(options, "reference", 0, k)) - 1;
  file.body.force = value_of(pod_force_names(), options, "force");
  file.body.ecsw_tolerance = options.double_attribute("ecsw_tolerance");
  file.body.deim_points = static_cast<int>(read_count(options, "deim_points", 0, 1000000));
  if (options.has_attribute("motion")) {
    file.accuracy.motion = options.double_attribute("motion");
    file.accuracy.largest_error = options.double_attribute("largest_error");
    file.accuracy.rms_error = options.double_attribute("rms_error");
    file.accuracy.failed = options.long_attribute("failed") != 0;
  }

  const Group parameters = root.group("parameters");
  for (std::int64_t i = 0; i < p; ++i) {
    const Group one = parameters.group(std::to_string(i));
    StudyParameter parameter;
    parameter.name = one.string_attribute("name");
    parameter.scale = one.double_attribute("scale");
    parameter.keys = one.read_strings("keys");
    library.parameters.push_back(parameter.name);
    file.parameters.push_back(std::move(parameter));
  }
  const Group samples = root.group("samples");
  for (std::int64_t i = 0; i < k; ++i)
    library.samples.push_back(read_sample(samples.group(std::to_string(i)), static_cast<std::uint64_t>(p)));
  if (const std::string problem = inconsistency_of(file); !problem.empty())
    fail_input("{}: {}; the file is damaged", path.string(), problem);
  return file;
}

}  // namespace lissom
