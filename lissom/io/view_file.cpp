// The schema is described in docs/reference/view-file.md.
#include "lissom/io/view_file.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using hdf5::Group;

constexpr const char* view_format = "lissom-view";

template <class Derived>
auto span_of(const Eigen::PlainObjectBase<Derived>& X) {
  return std::span<const typename Derived::Scalar>(X.data(), static_cast<size_t>(X.size()));
}

std::uint64_t extent(Index n) {
  return static_cast<std::uint64_t>(n);
}

// Lists of points, k each.
void write_points(Group& group, const char* name, const std::vector<std::uint32_t>& points, std::uint64_t k) {
  group.write(name, std::vector<std::int32_t>(points.begin(), points.end()), {points.size() / k, k});
}

std::vector<std::uint32_t> read_points(const Group& group, const char* name, std::uint64_t k, int n) {
  const hdf5::Shape shape = group.info(name).shape;
  if (shape.size() != 2 || shape[1] != k)
    fail_input("{}: expected rows of {} points; the file is damaged", group.where(name), k);
  const std::vector<std::int32_t> points = group.read_ints(name);
  expect_indices(group, name, points, n);
  return {points.begin(), points.end()};
}

// The file must not hold what cannot be drawn.
template <class T>
void expect_finite(const Group& group, const char* name, const std::vector<T>& values) {
  if (std::any_of(values.begin(), values.end(), [](T x) { return !std::isfinite(x); }))
    fail_input("{}: holds a number that is not finite; the file is damaged", group.where(name));
}

MatrixXf read_floats(const Group& group, const char* name, const hdf5::Shape& shape, std::uint64_t rows,
                     std::uint64_t columns) {
  expect_shape(group, name, shape);
  const std::vector<float> values = group.read_floats(name);
  expect_finite(group, name, values);
  return Eigen::Map<const MatrixXf>(values.data(), static_cast<Index>(rows), static_cast<Index>(columns));
}

// r fields of c components on n points.
MatrixXf read_fields(const Group& group, const char* name, std::uint64_t r, std::uint64_t n,
                     std::uint64_t c) {
  return read_floats(group, name, {r, n, c}, n * c, r);
}

Eigen::MatrixXd read_frames(const Group& group, const char* name, std::uint64_t columns, std::uint64_t rows) {
  expect_shape(group, name, {columns, rows});
  const std::vector<double> values = group.read_doubles(name);
  expect_finite(group, name, values);
  return Eigen::Map<const Eigen::MatrixXd>(values.data(), static_cast<Index>(rows),
                                           static_cast<Index>(columns));
}

void write_part(Group group, const ViewPart& part) {
  group.write_attribute("name", part.name);
  group.write_attribute("mesh_nodes", part.mesh_nodes);
  group.write("points", span_of(part.points), {extent(part.points.cols()), 3});
  group.write("node_ids", part.node_ids);
  write_points(group, "triangles", part.triangles, 3);
  write_points(group, "edges", part.edges, 2);
}

ViewPart read_part(const Group& group) {
  ViewPart part;
  part.name = group.string_attribute("name");
  part.mesh_nodes = group.long_attribute("mesh_nodes");
  part.node_ids = group.read_longs("node_ids");
  const std::uint64_t n = part.node_ids.size();
  if (n > static_cast<std::uint64_t>(std::numeric_limits<int>::max() / 6))
    fail_input("{}: {} points are more than can be numbered", group.where("node_ids"), n);
  part.points = read_floats(group, "points", {n, 3}, 3, n);
  part.triangles = read_points(group, "triangles", 3, static_cast<int>(n));
  part.edges = read_points(group, "edges", 2, static_cast<int>(n));
  return part;
}

void write_series(Group group, const ViewSeries& series, Index n, Index c, Index frames) {
  group.write_attribute("largest", series.largest);
  group.write_attribute("error", series.error);
  LISSOM_ASSERT(series.rank() == 0 || (series.basis.rows() == c * n && series.amplitudes.cols() == frames));
  group.write("basis", span_of(series.basis), {extent(series.rank()), extent(n), extent(c)});
  group.write("amplitudes", span_of(series.amplitudes), {extent(frames), extent(series.rank())});
}

ViewSeries read_series(const Group& group, std::uint64_t n, std::uint64_t c, std::uint64_t frames) {
  ViewSeries series;
  series.largest = group.double_attribute("largest");
  series.error = group.double_attribute("error");
  const hdf5::Shape shape = group.info("basis").shape;
  const std::uint64_t r = shape.empty() ? 0 : shape[0];
  series.basis = read_fields(group, "basis", r, n, c);
  series.amplitudes = read_floats(group, "amplitudes", {frames, r}, r, frames);
  return series;
}

void write_motion(Group group, const ViewMotion& motion, const std::vector<ViewPart>& parts) {
  group.write("time", span_of(motion.time));
  for (size_t p = 0; p < motion.parts.size(); ++p) {
    const ViewMotion::Part& part = motion.parts[p];
    Group of = group.create_group(std::to_string(p));
    of.write("position", span_of(part.position), {extent(part.position.cols()), 3});
    of.write("rotation", span_of(part.rotation), {extent(part.rotation.cols()), 4});
    const Index n = parts[p].points.cols(), frames = motion.time.size();
    write_series(of.create_group("displacement"), part.displacement, n, 3, frames);
    if (part.has_stress) write_series(of.create_group("stress"), part.stress, n, 6, frames);
  }
}

ViewMotion read_motion(const Group& group, const std::vector<ViewPart>& parts) {
  ViewMotion motion;
  const std::vector<double> time = group.read_doubles("time");
  if (!std::is_sorted(time.begin(), time.end()))
    fail_input("{}: the times do not ascend; the file is damaged", group.where("time"));
  motion.time = Eigen::Map<const Eigen::VectorXd>(time.data(), static_cast<Index>(time.size()));
  for (size_t p = 0; p < parts.size(); ++p) {
    const Group of = group.group(std::to_string(p));
    const std::uint64_t n = parts[p].node_ids.size();
    ViewMotion::Part part;
    part.position = read_frames(of, "position", time.size(), 3);
    part.rotation = read_frames(of, "rotation", time.size(), 4);
    part.displacement = read_series(of.group("displacement"), n, 3, time.size());
    part.has_stress = of.has("stress");
    if (part.has_stress) part.stress = read_series(of.group("stress"), n, 6, time.size());
    motion.parts.push_back(std::move(part));
  }
  return motion;
}

void write_shapes(Group group, const ViewShapes& shapes) {
  std::vector<std::string> labels;
  std::vector<double> frequencies, damping;
  for (const ViewShapes::Mode& mode : shapes.modes) {
    labels.push_back(mode.label);
    frequencies.push_back(mode.frequency_hz);
    damping.push_back(mode.damping_ratio);
  }
  group.write("label", labels);
  group.write("frequency_hz", frequencies);
  group.write("damping_ratio", damping);
  for (size_t p = 0; p < shapes.parts.size(); ++p) {
    const ViewShapes::Part& part = shapes.parts[p];
    Group of = group.create_group(std::to_string(p));
    of.write("position", span_of(part.position));
    of.write("rotation", span_of(part.rotation));
    for (const auto& [name, shape] : {std::pair("real", &part.real), std::pair("imaginary", &part.imaginary)})
      if (shape->size() > 0)
        of.write(name, span_of(*shape), {extent(shape->cols()), extent(shape->rows() / 3), 3});
  }
}

ViewShapes read_shapes(const Group& group, const std::vector<ViewPart>& parts) {
  ViewShapes shapes;
  const std::vector<std::string> labels = group.read_strings("label");
  const std::vector<double> frequencies = group.read_doubles("frequency_hz");
  const std::vector<double> damping = group.read_doubles("damping_ratio");
  expect_size(group, "frequency_hz", frequencies, labels.size());
  expect_size(group, "damping_ratio", damping, labels.size());
  for (size_t k = 0; k < labels.size(); ++k) shapes.modes.push_back({labels[k], frequencies[k], damping[k]});
  for (size_t p = 0; p < parts.size(); ++p) {
    const Group of = group.group(std::to_string(p));
    const std::uint64_t n = parts[p].node_ids.size();
    ViewShapes::Part part;
    const std::vector<double> position = of.read_doubles("position"), rotation = of.read_doubles("rotation");
    expect_size(of, "position", position, 3);
    expect_size(of, "rotation", rotation, 4);
    part.position = Eigen::Map<const Eigen::Vector3d>(position.data());
    part.rotation = Eigen::Map<const Eigen::Vector4d>(rotation.data());
    if (of.has("real")) part.real = read_fields(of, "real", labels.size(), n, 3);
    if (of.has("imaginary")) part.imaginary = read_fields(of, "imaginary", labels.size(), n, 3);
    shapes.parts.push_back(std::move(part));
  }
  return shapes;
}

void write_sensors(Group group, const std::vector<ViewSensor>& sensors) {
  std::vector<std::string> names;
  std::vector<std::int64_t> parts, points;
  Ragged<std::string> columns;
  for (const ViewSensor& sensor : sensors) {
    names.push_back(sensor.name);
    parts.push_back(sensor.part);
    points.push_back(sensor.point);
    columns.add(sensor.columns);
  }
  group.write("name", names);
  group.write("part", parts);
  group.write("point", points);
  group.write("columns", columns.values);
  group.write("offsets", columns.offsets);
}

std::vector<ViewSensor> read_sensors(const Group& group, const std::vector<ViewPart>& parts) {
  const std::vector<std::string> names = group.read_strings("name"), columns = group.read_strings("columns");
  const std::vector<std::int32_t> part = group.read_ints("part"), point = group.read_ints("point");
  const std::vector<std::int64_t> offsets = group.read_longs("offsets");
  expect_size(group, "part", part, names.size());
  expect_size(group, "point", point, names.size());
  expect_indices(group, "part", part, static_cast<int>(parts.size()));
  expect_offsets(group, "offsets", offsets, names.size(), columns.size());
  std::vector<ViewSensor> sensors;
  for (size_t i = 0; i < names.size(); ++i) {
    expect_indices(group, "point", std::span(&point[i], 1),
                   static_cast<int>(parts[static_cast<size_t>(part[i])].node_ids.size()));
    sensors.push_back({names[i], part[i], static_cast<std::uint32_t>(point[i]), slice(columns, offsets, i)});
  }
  return sensors;
}

}  // namespace

std::int64_t View::points() const {
  std::int64_t n = 0;
  for (const ViewPart& part : parts) n += part.points.cols();
  return n;
}

std::pair<Eigen::Vector3d, Eigen::Vector3d> View::box() const {
  Eigen::Vector3d lower = Eigen::Vector3d::Constant(std::numeric_limits<double>::infinity());
  Eigen::Vector3d upper = -lower;
  for (size_t p = 0; p < parts.size(); ++p) {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Eigen::Vector4d rotation(0, 0, 0, 1);
    Eigen::VectorXf u;
    if (motion && motion->time.size() > 0) {
      const ViewMotion::Part& part = motion->parts[p];
      position = part.position.col(0);
      rotation = part.rotation.col(0);
      if (part.displacement.rank() > 0)
        u = part.displacement.basis.lazyProduct(part.displacement.amplitudes.col(0));
    } else if (shapes) {
      position = shapes->parts[p].position;
      rotation = shapes->parts[p].rotation;
    }
    const Eigen::Matrix3d R = Eigen::Quaterniond(rotation).toRotationMatrix();
    for (Index i = 0; i < parts[p].points.cols(); ++i) {
      Eigen::Vector3f X = parts[p].points.col(i);
      if (u.size() > 0) X += u.segment<3>(3 * i);
      const Eigen::Vector3d x = position + R * X.cast<double>();
      lower = lower.cwiseMin(x);
      upper = upper.cwiseMax(x);
    }
  }
  if (!(lower.array() <= upper.array()).all()) return {Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  return {lower, upper};
}

bool is_view_file(const std::filesystem::path& path) {
  return has_format(path, view_format);
}

void write_view_file(const std::filesystem::path& path, const View& view) {
  LISSOM_ASSERT(!view.motion || view.motion->parts.size() == view.parts.size());
  LISSOM_ASSERT(!view.shapes || view.shapes->parts.size() == view.parts.size());
  AtomicFile atomic(path);
  hdf5::File h5 = hdf5::File::create(atomic.temporary(), path.string());
  {
    Group root = h5.root();
    write_format(root, view_format, view_file_version);
    root.write_attribute("title", view.title);
    root.write_attribute("parts", static_cast<std::int64_t>(view.parts.size()));
    root.write("notes", view.notes);
    Group parts = root.create_group("parts");
    for (size_t p = 0; p < view.parts.size(); ++p)
      write_part(parts.create_group(std::to_string(p)), view.parts[p]);
    if (view.motion) write_motion(root.create_group("motion"), *view.motion, view.parts);
    if (view.shapes) write_shapes(root.create_group("shapes"), *view.shapes);
    write_sensors(root.create_group("sensors"), view.sensors);
  }
  h5.close();
  atomic.commit();
}

View read_view_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File h5 = hdf5::File::open(path);
  const Group root = h5.root();
  expect_format(root, path, view_format, "a view", view_file_version);
  constexpr std::string_view known[] = {"motion", "notes", "parts", "sensors", "shapes"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("view-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  View view;
  view.title = root.string_attribute("title");
  view.notes = root.read_strings("notes");
  const std::int64_t parts = root.long_attribute("parts");
  if (parts < 0 || parts > 100000)
    fail_input("{}: {} parts make no sense; the file is damaged", path.string(), parts);
  const Group of_parts = root.group("parts");
  for (std::int64_t p = 0; p < parts; ++p) view.parts.push_back(read_part(of_parts.group(std::to_string(p))));
  if (root.has("motion")) view.motion = read_motion(root.group("motion"), view.parts);
  if (root.has("shapes")) view.shapes = read_shapes(root.group("shapes"), view.parts);
  view.sensors = read_sensors(root.group("sensors"), view.parts);
  return view;
}

}  // namespace lissom
