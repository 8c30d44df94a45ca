// The schema is described in docs/reference/stress-file.md.
#include "lissom/io/stress_file.hpp"

#include <algorithm>
#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/fe/stress_history.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;

constexpr const char* stress_format = "lissom-stress";

std::span<const double> values_of(const Eigen::Ref<const MatrixXd>& X) {
  return {X.data(), static_cast<size_t>(X.size())};
}

// (k, n, 6): as six rows a node and a column an instant lie in memory
void write_components(Group& group, const char* name, const MatrixXd& values) {
  group.write(name, values_of(values),
              {static_cast<std::uint64_t>(values.cols()), static_cast<std::uint64_t>(values.rows() / 6), 6});
}

void write_body(Group group, const StressFileBody& body) {
  group.write_attribute("name", body.name);
  group.write_attribute("formulation", body.formulation);
  group.write("node_ids", body.node_ids);
  if (body.has_peak()) {
    Group peak = group.create_group("maximum");
    Index node = 0;
    const double largest = body.peak.maxCoeff(&node);
    peak.write_attribute("von_mises", largest);
    peak.write_attribute("node", body.node_ids[static_cast<size_t>(node)]);
    peak.write_attribute("time", body.peak_time[node]);
    peak.write("von_mises", values_of(body.peak));
    peak.write("time", values_of(body.peak_time));
  }
  if (body.stress.cols() == 0) return;
  Group at = group.create_group("at");
  const MatrixXd von_mises = von_mises_of(body.stress);
  at.write("von_mises", values_of(von_mises),
           {static_cast<std::uint64_t>(von_mises.cols()), static_cast<std::uint64_t>(von_mises.rows())});
  write_components(at, "stress", body.stress);
  if (body.strain.size() > 0) write_components(at, "strain", body.strain);
  if (!body.has_elements()) return;
  at.write("element_ids", body.element_ids);
  at.write("element_offsets", body.element_offsets);
  at.write("element_nodes", body.element_nodes);
  write_components(at, "element_stress", body.element_stress);
}

MatrixXd read_stress_components(const Group& group, const char* name, std::uint64_t k, std::uint64_t n) {
  expect_shape(group, name, {k, n, 6});
  const auto values = group.read_doubles(name);
  return Eigen::Map<const MatrixXd>(values.data(), static_cast<Index>(6 * n), static_cast<Index>(k));
}

StressFileBody read_stress_body(const Group& group, std::uint64_t k) {
  StressFileBody body;
  body.name = group.string_attribute("name");
  body.formulation = group.string_attribute("formulation");
  body.node_ids = group.read_longs("node_ids");
  const std::uint64_t n = body.node_ids.size();
  if (n > std::numeric_limits<int>::max() / 6)
    fail_input("{}: {} nodes are more than can be numbered", group.where("node_ids"), n);
  if (group.has("maximum")) {
    const Group peak = group.group("maximum");
    body.peak = read_vector(peak, "von_mises", n);
    body.peak_time = read_vector(peak, "time", n);
  }
  if (k == 0) return body;
  const Group at = group.group("at");
  body.stress = read_stress_components(at, "stress", k, n);
  if (at.has("strain")) body.strain = read_stress_components(at, "strain", k, n);
  if (!at.has("element_ids")) return body;
  body.element_ids = at.read_longs("element_ids");
  body.element_offsets = at.read_longs("element_offsets");
  body.element_nodes = at.read_longs("element_nodes");
  expect_offsets(at, "element_offsets", body.element_offsets, body.element_ids.size(),
                 body.element_nodes.size());
  body.element_stress = read_stress_components(at, "element_stress", k, body.element_nodes.size());
  return body;
}

}  // namespace

bool is_stress_file(const std::filesystem::path& path) {
  return has_format(path, stress_format);
}

void write_stress_file(const std::filesystem::path& path, const StressFile& file) {
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    write_format(root, stress_format, stress_file_version);
    root.write_attribute("title", file.title);
    root.write_attribute("case", file.case_name);
    root.write_attribute("samples", file.samples);
    root.write_attribute("bodies", static_cast<std::int64_t>(file.bodies.size()));
    root.write("study", std::vector<std::string>{file.study});
    root.write("time", values_of(file.at));
    Group bodies = root.create_group("bodies");
    for (size_t i = 0; i < file.bodies.size(); ++i)
      write_body(bodies.create_group(std::to_string(i)), file.bodies[i]);
  }
  h5.close();
  atomic.commit();
}

StressFile read_stress_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  expect_format(root, path, stress_format, "a stress file", stress_file_version);
  constexpr std::string_view known[] = {"bodies", "study", "time"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("stress-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  StressFile file;
  file.lissom_version = root.string_attribute("lissom_version");
  file.title = root.string_attribute("title");
  file.case_name = root.string_attribute("case");
  file.samples = root.long_attribute("samples");
  const auto study = root.read_strings("study");
  expect_size(root, "study", study, 1);
  file.study = study.front();
  const auto at = root.read_doubles("time");
  file.at = Eigen::Map<const VectorXd>(at.data(), static_cast<Index>(at.size()));
  const std::int64_t count = root.long_attribute("bodies");
  if (count < 0 || count > 100000)
    fail_input("{}: {} bodies make no sense; the file is damaged", path.string(), count);
  const Group bodies = root.group("bodies");
  for (std::int64_t i = 0; i < count; ++i)
    file.bodies.push_back(read_stress_body(bodies.group(std::to_string(i)), at.size()));
  return file;
}

}  // namespace lissom
