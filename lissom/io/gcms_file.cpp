// The schema is described in docs/reference/gcms-file.md.
#include "lissom/io/gcms_file.hpp"

#include <fmt/ranges.h>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;

constexpr const char* gcms_format = "lissom-gcms";

// one dataset for each member of a list of structs
template <class T, class Value>
std::vector<Value> gather(const std::vector<T>& list, Value T::*member) {
  std::vector<Value> values;
  for (const T& entry : list) values.push_back(entry.*member);
  return values;
}

void write_basis(Group group, const GcmsBasis& basis) {
  group.write_attribute("method", basis.method);
  group.write_attribute("orthogonality", basis.orthogonality);
  group.write_attribute("kept", std::int64_t{basis.kept});
  std::vector<std::string> labels;
  std::vector<std::int32_t> kinds, modes, directions;
  for (const GcmsColumn& column : basis.columns) {
    labels.push_back(column.label());
    kinds.push_back(static_cast<int>(column.kind));
    modes.push_back(column.mode);
    directions.push_back(column.direction);
  }
  Group columns = group.create_group("columns");
  columns.write("labels", labels);
  columns.write("kinds", kinds);
  columns.write("modes", modes);
  columns.write("directions", directions);
  group.write_matrix("S", basis.S);
  write_vector(group, "centre", basis.centre);
  group.write_matrix("T", basis.T);
  group.write_matrix("m_hat", basis.m_hat);
  group.write_matrix("K_hat", basis.K_hat);
  write_vector(group, "singular_values", basis.singular_values);

  Group steps = group.create_group("steps");
  steps.write("names", gather(basis.steps, &GcmsStep::name));
  steps.write("columns", gather(basis.steps, &GcmsStep::columns));
  steps.write("condition", gather(basis.steps, &GcmsStep::condition));
  steps.write("flexible_condition", gather(basis.steps, &GcmsStep::flexible_condition));
  steps.write("mass_condition", gather(basis.steps, &GcmsStep::mass_condition));
  Group ritz = group.create_group("ritz");
  ritz.write("modes", gather(basis.ritz, &GcmsRitz::mode));
  ritz.write("eigenvalues", gather(basis.ritz, &GcmsRitz::eigenvalue));
  ritz.write("ritz_values", gather(basis.ritz, &GcmsRitz::ritz));
  ritz.write("mac", gather(basis.ritz, &GcmsRitz::mac));
  ritz.write("errors", gather(basis.ritz, &GcmsRitz::error));
  Group removed = group.create_group("removed");
  removed.write("columns", gather(basis.removed, &GcmsRemoval::column));
  removed.write("partners", gather(basis.removed, &GcmsRemoval::partner));
  removed.write("values", gather(basis.removed, &GcmsRemoval::value));
  removed.write("why", gather(basis.removed, &GcmsRemoval::why));
  Group faint = group.create_group("faint");
  faint.write("columns", gather(basis.faint, &FaintColumn::column));
  faint.write("relative_norms", gather(basis.faint, &FaintColumn::relative_norm));
}

// Reads the datasets of a list of structs, which must all have the same length.
template <class T>
class Scatter {
 public:
  Scatter(Group group, std::vector<T>& list) : group_(std::move(group)), list_(list) {}
  void read(const char* name, int T::*member) { set(name, group_.read_ints(name), member); }
  void read(const char* name, double T::*member) { set(name, group_.read_doubles(name), member); }
  void read(const char* name, std::string T::*member) { set(name, group_.read_strings(name), member); }

 private:
  template <class Value>
  void set(const char* name, const std::vector<Value>& values, Value T::*member) {
    if (first_) list_.resize(values.size());
    first_ = false;
    if (values.size() != list_.size())
      fail_input("{}: expected {} values, found {}; the file is damaged", group_.where(name), list_.size(),
                 values.size());
    for (size_t i = 0; i < values.size(); ++i) list_[i].*member = values[i];
  }
  Group group_;
  std::vector<T>& list_;
  bool first_ = true;
};

MatrixXd read_shaped(const Group& group, const char* name, Eigen::Index rows, Eigen::Index cols) {
  MatrixXd matrix = group.read_matrix(name);
  if (matrix.rows() != rows || matrix.cols() != cols)
    fail_input("{}: expected {} by {} numbers, found {} by {}; the file is damaged", group.where(name), rows,
               cols, matrix.rows(), matrix.cols());
  return matrix;
}

GcmsBasis read_basis(const Group& group, Eigen::Index nodes) {
  GcmsBasis basis;
  basis.method = group.string_attribute("method");
  basis.orthogonality = group.double_attribute("orthogonality");
  const std::int64_t kept = group.long_attribute("kept");
  const Group columns = group.group("columns");
  const auto kinds = columns.read_ints("kinds");
  const auto s = static_cast<Eigen::Index>(kinds.size());
  Scatter<GcmsColumn> scatter(group.group("columns"), basis.columns);
  scatter.read("modes", &GcmsColumn::mode);
  scatter.read("directions", &GcmsColumn::direction);
  if (basis.columns.size() != kinds.size() || kept != s - 4)
    fail_input("{}: {} columns, {} of them flexible, do not go together; the file is damaged",
               group.where("columns"), s, kept);
  basis.kept = static_cast<int>(kept);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] < 0 || kinds[i] > static_cast<int>(GcmsColumn::Kind::Field) ||
        basis.columns[i].direction < 0 || basis.columns[i].direction > 2)
      fail_input("{}: column {} is of an unknown kind; the file is damaged", columns.where("kinds"), i);
    basis.columns[i].kind = static_cast<GcmsColumn::Kind>(kinds[i]);
  }
  basis.S = read_shaped(group, "S", nodes, s);
  basis.T = read_shaped(group, "T", 3, 3);
  basis.m_hat = read_shaped(group, "m_hat", s, s);
  basis.K_hat = read_shaped(group, "K_hat", 3 * s, 3 * s);
  const VectorXd centre = read_vector(group, "centre");
  if (centre.size() != 3)
    fail_input("{}: expected 3 numbers, found {}; the file is damaged", group.where("centre"), centre.size());
  basis.centre = centre;
  basis.singular_values = read_vector(group, "singular_values");

  Scatter<GcmsStep> steps(group.group("steps"), basis.steps);
  steps.read("names", &GcmsStep::name);
  steps.read("columns", &GcmsStep::columns);
  steps.read("condition", &GcmsStep::condition);
  steps.read("flexible_condition", &GcmsStep::flexible_condition);
  steps.read("mass_condition", &GcmsStep::mass_condition);
  Scatter<GcmsRitz> ritz(group.group("ritz"), basis.ritz);
  ritz.read("modes", &GcmsRitz::mode);
  ritz.read("eigenvalues", &GcmsRitz::eigenvalue);
  ritz.read("ritz_values", &GcmsRitz::ritz);
  ritz.read("mac", &GcmsRitz::mac);
  ritz.read("errors", &GcmsRitz::error);
  Scatter<GcmsRemoval> removed(group.group("removed"), basis.removed);
  removed.read("columns", &GcmsRemoval::column);
  removed.read("partners", &GcmsRemoval::partner);
  removed.read("values", &GcmsRemoval::value);
  removed.read("why", &GcmsRemoval::why);
  Scatter<FaintColumn> faint(group.group("faint"), basis.faint);
  faint.read("columns", &FaintColumn::column);
  faint.read("relative_norms", &FaintColumn::relative_norm);
  return basis;
}

}  // namespace

void write_gcms_file(const std::filesystem::path& path, const GcmsFile& file) {
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    root.write_attribute("format", gcms_format);
    root.write_attribute("schema_version", std::int64_t{gcms_file_version});
    root.write_attribute("lissom_version", LISSOM_VERSION);
    root.write_attribute("units", "SI");
    root.write_attribute("name", file.name);
    root.write_attribute("source", file.source);
    root.write("points", std::span<const double>(file.points.data(), static_cast<size_t>(file.points.size())),
               {static_cast<std::uint64_t>(file.points.cols()), 3});
    root.write("node_ids", file.node_ids);
    Group space = root.create_group("space");
    space.write("labels", file.labels);
    write_vector(space, "singular_values", file.singular_values);
    space.write_matrix("cosine", file.cosine);
    if (file.scalar) write_basis(root.create_group("scalar"), *file.scalar);
    if (file.algorithm_1) write_basis(root.create_group("algorithm_1"), *file.algorithm_1);
    if (!file.sweep.empty()) {
      Group sweep = root.create_group("sweep");
      sweep.write("thresholds", gather(file.sweep, &GcmsSweepPoint::threshold));
      sweep.write("removed", gather(file.sweep, &GcmsSweepPoint::removed));
      sweep.write("flexible_condition", gather(file.sweep, &GcmsSweepPoint::flexible_condition));
      sweep.write("scaled_flexible_condition",
                  gather(file.sweep, &GcmsSweepPoint::scaled_flexible_condition));
      sweep.write("scaled_condition", gather(file.sweep, &GcmsSweepPoint::scaled_condition));
      sweep.write("max_error", gather(file.sweep, &GcmsSweepPoint::max_error));
    }
  }
  h5.close();
  atomic.commit();
}

GcmsFile read_gcms_file(const std::filesystem::path& path) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  if (!root.has_attribute("format") || root.string_attribute("format") != gcms_format)
    fail_input("{}: is an HDF5 file, but no GCMS file of Lissom", path.string());
  const std::int64_t version = root.long_attribute("schema_version");
  if (version < 1 || version > gcms_file_version)
    fail_input("{}: is a GCMS file of version {}, but this Lissom reads versions 1 to {}; use a newer Lissom",
               path.string(), version, gcms_file_version);
  GcmsFile file;
  file.name = root.string_attribute("name");
  file.source = root.string_attribute("source");
  file.node_ids = root.read_longs("node_ids");
  const auto nodes = static_cast<Eigen::Index>(file.node_ids.size());
  file.points = read_shaped(root, "points", nodes, 3).transpose();
  const Group space = root.group("space");
  file.labels = space.read_strings("labels");
  file.singular_values = read_vector(space, "singular_values");
  const auto flexible = static_cast<Eigen::Index>(file.labels.size()) - 4;
  if (flexible < 0) fail_input("{}: too few columns; the file is damaged", space.where("labels"));
  file.cosine = read_shaped(space, "cosine", flexible, flexible);
  if (root.has_group("scalar")) file.scalar = read_basis(root.group("scalar"), nodes);
  if (root.has_group("algorithm_1")) file.algorithm_1 = read_basis(root.group("algorithm_1"), nodes);
  for (auto* basis : {&file.scalar, &file.algorithm_1})
    if (*basis) (*basis)->cosine = file.cosine;
  if (root.has_group("sweep")) {
    Scatter<GcmsSweepPoint> sweep(root.group("sweep"), file.sweep);
    sweep.read("thresholds", &GcmsSweepPoint::threshold);
    sweep.read("removed", &GcmsSweepPoint::removed);
    sweep.read("flexible_condition", &GcmsSweepPoint::flexible_condition);
    sweep.read("scaled_flexible_condition", &GcmsSweepPoint::scaled_flexible_condition);
    sweep.read("scaled_condition", &GcmsSweepPoint::scaled_condition);
    sweep.read("max_error", &GcmsSweepPoint::max_error);
  }
  return file;
}

}  // namespace lissom
