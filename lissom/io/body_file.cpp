// The schema is described in docs/reference/body-file.md; names here and there agree by a test.
#include "lissom/io/body_file.hpp"

#include <algorithm>
#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using hdf5::Group;
using Sets = std::map<std::string, std::vector<int>>;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------------------------------------- writing

// Names are data and not names of groups, because they may hold any character, also '/'.
void write_sets(Group group, const Sets& sets) {
  std::vector<std::string> names;
  Ragged<int> members;
  for (const auto& [name, set] : sets) {
    names.push_back(name);
    members.add(set);
  }
  group.write("names", names);
  group.write("offsets", members.offsets);
  group.write("indices", members.values);
}

void write_materials(Group group, const std::vector<Material>& materials) {
  std::vector<std::string> names, kinds, files;
  std::vector<std::int64_t> lines;
  std::vector<double> isotropic, orthotropic, axes, density;
  for (const Material& material : materials) {
    names.push_back(material.name);
    kinds.push_back(material.isotropic ? "isotropic" : material.orthotropic ? "orthotropic" : "none");
    files.push_back(material.defined_at.file);
    lines.push_back(material.defined_at.line);
    density.push_back(material.density.value_or(missing));
    const Isotropic i = material.isotropic.value_or(Isotropic{missing, missing});
    isotropic.insert(isotropic.end(), {i.E, i.nu});
    Orthotropic o = material.orthotropic.value_or(Orthotropic{});
    if (!material.orthotropic) {
      for (double* value : {&o.E1, &o.E2, &o.E3, &o.nu12, &o.nu13, &o.nu23, &o.G12, &o.G13, &o.G23})
        *value = missing;
      o.axes.setConstant(missing);
    }
    orthotropic.insert(orthotropic.end(), {o.E1, o.E2, o.E3, o.nu12, o.nu13, o.nu23, o.G12, o.G13, o.G23});
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) axes.push_back(o.axes(r, c));
  }
  const std::uint64_t n = materials.size();
  group.write("names", names);
  group.write("kinds", kinds);
  group.write("isotropic", isotropic, {n, 2});
  group.write("orthotropic", orthotropic, {n, 9});
  group.write("axes", axes, {n, 3, 3});
  group.write("density", density);
  group.write("defined_at_file", files);
  group.write("defined_at_line", lines);
}

void write_spiders(Group group, const std::vector<Spider>& spiders) {
  std::vector<std::string> names, kinds, files;
  std::vector<std::int64_t> lines;
  std::vector<int> references;
  Ragged<int> nodes;
  Ragged<double> weights;
  for (const Spider& spider : spiders) {
    names.push_back(spider.name);
    kinds.push_back(spider.kind == Spider::Kind::Rigid ? "rigid" : "averaging");
    references.push_back(spider.reference);
    nodes.add(spider.nodes);
    weights.add(spider.weights);
    files.push_back(spider.defined_at.file);
    lines.push_back(spider.defined_at.line);
  }
  group.write("names", names);
  group.write("kinds", kinds);
  group.write("references", references);
  group.write("node_offsets", nodes.offsets);
  group.write("nodes", nodes.values);
  group.write("weight_offsets", weights.offsets);
  group.write("weights", weights.values);
  group.write("defined_at_file", files);
  group.write("defined_at_line", lines);
}

void write_nodes(Group& group, const Eigen::Matrix3Xd& points, const std::vector<std::int64_t>& ids) {
  group.write("points", std::span<const double>(points.data(), points.size()),
              {static_cast<std::uint64_t>(points.cols()), 3});
  group.write("node_ids", ids);
}

// VTK's number of a cell type, by which the file names them.
std::uint8_t vtk_cell_type(ElementType type) {
  constexpr std::uint8_t types[] = {10, 24, 12, 25, 13, 26};
  return types[static_cast<int>(type)];
}

void write_mesh(Group group, const Mesh& mesh) {
  group.write_attribute("source", mesh.source);
  write_nodes(group, mesh.points, mesh.node_ids);
  std::vector<std::uint8_t> types;
  for (ElementType type : mesh.types) types.push_back(vtk_cell_type(type));
  group.write("element_types", types);
  group.write("element_ids", mesh.element_ids);
  group.write("element_materials", mesh.element_material);
  group.write("connectivity", mesh.connectivity);
  group.write("offsets", mesh.offsets);
  write_materials(group.create_group("materials"), mesh.materials);
  write_sets(group.create_group("node_sets"), mesh.node_sets);
  write_sets(group.create_group("element_sets"), mesh.element_sets);
  write_spiders(group.create_group("spiders"), mesh.spiders);
}

// Compressed columns, in scipy's names.
void write_sparse(Group group, const SparseMatrix& matrix, const char* triangle) {
  SparseMatrix copy;
  const SparseMatrix* m = &matrix;
  if (!matrix.isCompressed()) {
    copy = matrix;
    copy.makeCompressed();
    m = &copy;
  }
  const std::int64_t shape[] = {m->rows(), m->cols()};
  group.write_attribute("format", "csc");
  group.write_attribute("triangle", triangle);
  group.write_attribute("shape", std::span<const std::int64_t>(shape));
  const auto count = static_cast<size_t>(m->nonZeros());
  group.write("data", std::span<const double>(m->valuePtr(), count));
  group.write("indices", std::span<const int>(m->innerIndexPtr(), count));
  group.write("indptr", std::span<const int>(m->outerIndexPtr(), static_cast<size_t>(m->cols()) + 1));
}

void write_model(Group group, const FeModel& model) {
  group.write_attribute("source", model.source);
  write_nodes(group, model.points, model.node_ids);
  std::vector<int> dofs;
  for (const Dof& dof : model.dofs) dofs.insert(dofs.end(), {dof.node, dof.direction});
  group.write("dofs", dofs, {model.dofs.size(), 2});
  write_sparse(group.create_group("K"), model.K.lower, "lower");
  write_sparse(group.create_group("M"), model.M.lower, "lower");
  if (model.node_mass.size() > 0)
    write_sparse(group.create_group("node_mass"), model.node_mass.lower, "lower");
  write_sparse(group.create_group("recovery"), model.recovery, "full");
  write_sets(group.create_group("node_sets"), model.node_sets);
}

void write_modes(Group group, const ModeSet& modes) {
  LISSOM_ASSERT(modes.frequencies_hz.size() == modes.count() && modes.shapes.cols() == modes.count());
  group.write_attribute("rigid_count", std::int64_t{modes.rigid_count});
  group.write_attribute("mass_kind", modes.mass_kind);
  group.write_attribute("shift", modes.shift);
  group.write("fixed_sets", modes.fixed_sets);
  const auto write_vector = [&](const char* name, const Eigen::VectorXd& v) {
    group.write(name, std::span<const double>(v.data(), v.size()));
  };
  write_vector("eigenvalues", modes.eigenvalues);
  write_vector("frequencies", modes.frequencies_hz);
  write_vector("residuals", modes.residuals);
  group.write_matrix("shapes", modes.shapes);
  group.write_matrix("effective_mass", modes.effective_mass);
}

// ---------------------------------------------------------------------------------------------- reading

Sets read_sets(const Group& group, int count) {
  const auto names = group.read_strings("names");
  const auto offsets = group.read_longs("offsets");
  const auto indices = group.read_ints("indices");
  expect_offsets(group, "offsets", offsets, names.size(), indices.size());
  expect_indices(group, "indices", indices, count);
  Sets sets;
  for (size_t i = 0; i < names.size(); ++i)
    if (!sets.emplace(names[i], slice(indices, offsets, i)).second)
      fail_input("{}: the name '{}' comes twice; the file is damaged", group.where("names"), names[i]);
  return sets;
}

std::vector<Material> read_materials(const Group& group) {
  const auto names = group.read_strings("names");
  const size_t n = names.size();
  for (const char* name : {"kinds", "density", "defined_at_file", "defined_at_line"})
    expect_shape(group, name, {n});
  expect_shape(group, "isotropic", {n, 2});
  expect_shape(group, "orthotropic", {n, 9});
  expect_shape(group, "axes", {n, 3, 3});
  const auto kinds = group.read_strings("kinds"), files = group.read_strings("defined_at_file");
  const auto lines = group.read_longs("defined_at_line");
  const auto density = group.read_doubles("density"), isotropic = group.read_doubles("isotropic");
  const auto orthotropic = group.read_doubles("orthotropic"), axes = group.read_doubles("axes");

  std::vector<Material> materials(n);
  for (size_t i = 0; i < n; ++i) {
    Material& material = materials[i];
    material.name = names[i];
    material.defined_at = {files[i], lines[i]};
    if (density[i] == density[i]) material.density = density[i];
    if (kinds[i] == "isotropic") {
      material.isotropic = Isotropic{isotropic[2 * i], isotropic[2 * i + 1]};
    } else if (kinds[i] == "orthotropic") {
      const double* c = &orthotropic[9 * i];
      Orthotropic o{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]};
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) o.axes(r, k) = axes[9 * i + 3 * r + k];
      material.orthotropic = o;
    } else if (kinds[i] != "none") {
      fail_input("{}: unknown kind of material '{}'", group.where("kinds"), kinds[i]);
    }
  }
  return materials;
}

std::vector<Spider> read_spiders(const Group& group, int node_count) {
  const auto names = group.read_strings("names");
  const size_t n = names.size();
  for (const char* name : {"kinds", "references", "defined_at_file", "defined_at_line"})
    expect_shape(group, name, {n});
  const auto kinds = group.read_strings("kinds"), files = group.read_strings("defined_at_file");
  const auto lines = group.read_longs("defined_at_line");
  const auto references = group.read_ints("references"), nodes = group.read_ints("nodes");
  const auto node_offsets = group.read_longs("node_offsets");
  const auto weight_offsets = group.read_longs("weight_offsets");
  const auto weights = group.read_doubles("weights");
  expect_offsets(group, "node_offsets", node_offsets, n, nodes.size());
  expect_offsets(group, "weight_offsets", weight_offsets, n, weights.size());
  expect_indices(group, "references", references, node_count);
  expect_indices(group, "nodes", nodes, node_count);

  std::vector<Spider> spiders(n);
  for (size_t i = 0; i < n; ++i) {
    if (kinds[i] != "rigid" && kinds[i] != "averaging")
      fail_input("{}: unknown kind of spider '{}'", group.where("kinds"), kinds[i]);
    spiders[i] = {names[i],
                  kinds[i] == "rigid" ? Spider::Kind::Rigid : Spider::Kind::Averaging,
                  references[i],
                  slice(nodes, node_offsets, i),
                  slice(weights, weight_offsets, i),
                  {files[i], lines[i]}};
    if (!spiders[i].weights.empty())
      expect_size(group, "weights", spiders[i].weights, spiders[i].nodes.size());
  }
  return spiders;
}

void read_nodes(const Group& group, Eigen::Matrix3Xd& points, std::vector<std::int64_t>& ids) {
  const hdf5::Shape shape = group.info("points").shape;
  const std::uint64_t count = shape.empty() ? 0 : shape.front();
  // indices of nodes are of type int
  if (count > std::numeric_limits<int>::max())
    fail_input("{}: {} nodes are more than can be numbered", group.where("points"), count);
  expect_shape(group, "points", {count, 3});
  const auto values = group.read_doubles("points");
  points = Eigen::Map<const Eigen::Matrix3Xd>(values.data(), 3, static_cast<Eigen::Index>(count));
  ids = group.read_longs("node_ids");
}

Mesh read_mesh(const Group& group) {
  Mesh mesh;
  mesh.source = group.string_attribute("source");
  read_nodes(group, mesh.points, mesh.node_ids);
  expect_size(group, "node_ids", mesh.node_ids, static_cast<size_t>(mesh.node_count()));

  // elements
  const auto types = group.read_ints("element_types");
  for (int number : types) {
    const auto type = std::find_if(all_element_types.begin(), all_element_types.end(),
                                   [&](ElementType t) { return vtk_cell_type(t) == number; });
    if (type == all_element_types.end())
      fail_input("{}: unknown element type {}", group.where("element_types"), number);
    mesh.types.push_back(*type);
  }
  mesh.element_ids = group.read_longs("element_ids");
  mesh.element_material = group.read_ints("element_materials");
  mesh.connectivity = group.read_ints("connectivity");
  mesh.offsets = group.read_longs("offsets");
  mesh.materials = read_materials(group.group("materials"));
  expect_size(group, "element_ids", mesh.element_ids, types.size());
  expect_size(group, "element_materials", mesh.element_material, types.size());
  expect_indices(group, "element_materials", mesh.element_material, static_cast<int>(mesh.materials.size()),
                 -1);
  expect_indices(group, "connectivity", mesh.connectivity, mesh.node_count());
  expect_offsets(group, "offsets", mesh.offsets, types.size(), mesh.connectivity.size());
  for (int e = 0; e < mesh.element_count(); ++e)
    if (mesh.offsets[e + 1] - mesh.offsets[e] != node_count(mesh.types[e]))
      fail_input("{}: element {} of type {} has {} nodes; the file is damaged", group.where("offsets"),
                 mesh.element_ids[e], name_of(mesh.types[e]), mesh.offsets[e + 1] - mesh.offsets[e]);

  mesh.node_sets = read_sets(group.group("node_sets"), mesh.node_count());
  mesh.element_sets = read_sets(group.group("element_sets"), mesh.element_count());
  mesh.spiders = read_spiders(group.group("spiders"), mesh.node_count());
  return mesh;
}

SparseMatrix read_sparse(const Group& group, bool lower) {
  const auto shape = group.longs_attribute("shape");
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1;
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most ||
      (lower && shape[0] != shape[1]))
    fail_input("{}: bad shape ({}); the file is damaged", group.where(), fmt::join(shape, ", "));
  const auto data = group.read_doubles("data");
  const auto indices = group.read_ints("indices"), indptr = group.read_ints("indptr");
  expect_size(group, "indices", indices, data.size());
  expect_offsets(group, "indptr", indptr, static_cast<size_t>(shape[1]), data.size());
  expect_indices(group, "indices", indices, static_cast<int>(shape[0]));
  // rows ascend in each column and, in a lower triangle, begin at the diagonal or below
  for (int j = 0; j < shape[1]; ++j) {
    int previous = lower ? j - 1 : -1;
    for (int k = indptr[j]; k < indptr[j + 1]; ++k) {
      if (indices[k] <= previous)
        fail_input("{}: the rows of column {} are not in order; the file is damaged", group.where("indices"),
                   j);
      previous = indices[k];
    }
  }
  return Eigen::Map<const SparseMatrix>(shape[0], shape[1], static_cast<Eigen::Index>(data.size()),
                                        indptr.data(), indices.data(), data.data());
}

FeModel read_model(const Group& group) {
  FeModel model;
  model.source = group.string_attribute("source");
  read_nodes(group, model.points, model.node_ids);
  model.K.lower = read_sparse(group.group("K"), true);
  model.M.lower = read_sparse(group.group("M"), true);
  model.recovery = read_sparse(group.group("recovery"), false);
  // not in files of Lissom 0.1, nor where it is not known
  if (group.has("node_mass")) model.node_mass.lower = read_sparse(group.group("node_mass"), true);
  if (model.M.size() != model.K.size())
    fail_input("{}: has {} rows, but K has {}; the file is damaged", group.where("M"), model.M.size(),
               model.K.size());

  // degrees of freedom belong to nodes by number, also where no points are known
  const auto nodes = static_cast<int>(model.node_ids.size());
  if (model.has_points()) expect_size(group, "node_ids", model.node_ids, model.points.cols());
  if (model.node_mass.size() != 0 && model.node_mass.size() != nodes)
    fail_input("{}: has {} rows, but there are {} nodes; the file is damaged", group.where("node_mass"),
               model.node_mass.size(), nodes);
  const auto dofs = group.read_ints("dofs");
  expect_shape(group, "dofs", {dofs.size() / 2, 2});
  for (size_t i = 0; i + 1 < dofs.size(); i += 2) {
    const Dof dof{dofs[i], dofs[i + 1]};
    if (dof.node < -1 || dof.node >= nodes || dof.direction < 0 || dof.direction > 5)
      fail_input("{}: row {} has node {} and direction {}, expected nodes below {} and directions 0 .. 5",
                 group.where("dofs"), i / 2, dof.node, dof.direction, nodes);
    model.dofs.push_back(dof);
  }
  model.node_sets = read_sets(group.group("node_sets"), nodes);
  return model;
}

ModeSet read_mode_set(const Group& group, const FeModel& model) {
  ModeSet modes;
  const std::int64_t rigid = group.long_attribute("rigid_count");
  modes.mass_kind = group.string_attribute("mass_kind");
  modes.shift = group.double_attribute("shift");
  modes.fixed_sets = group.read_strings("fixed_sets");
  const auto read_vector = [&](const char* name) {
    const auto values = group.read_doubles(name);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), values.size()));
  };
  modes.eigenvalues = read_vector("eigenvalues");
  modes.frequencies_hz = read_vector("frequencies");
  modes.residuals = read_vector("residuals");
  const auto count = static_cast<std::uint64_t>(modes.count());
  expect_shape(group, "frequencies", {count});
  expect_shape(group, "shapes", {static_cast<std::uint64_t>(model.dof_count()), count});
  // these two need not have been computed
  if (group.info("residuals").size() > 0) expect_shape(group, "residuals", {count});
  if (group.info("effective_mass").size() > 0) expect_shape(group, "effective_mass", {count, 6});
  modes.shapes = group.read_matrix("shapes");
  modes.effective_mass = group.read_matrix("effective_mass");
  if (rigid < 0 || rigid > modes.count())
    fail_input("{}: rigid_count is {}, but there are {} modes", group.where(), rigid, modes.count());
  modes.rigid_count = static_cast<int>(rigid);
  return modes;
}

}  // namespace

void write_body_file(const std::filesystem::path& path, const BodyFile& body) {
  AtomicFile target(path);
  hdf5::File file = hdf5::File::create(target.temporary(), path.string());
  Group root = file.root();
  write_format(root, "lissom-body", body_file_version);
  write_mesh(root.create_group("mesh"), body.mesh);
  write_model(root.create_group("model"), body.model);
  if (body.modes) write_modes(root.create_group("modes"), *body.modes);
  file.close();
  target.commit();
}

bool is_body_file(const std::filesystem::path& path) {
  return has_format(path, "lissom-body");
}

BodyFile read_body_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();

  expect_format(root, path, "lissom-body", "a Lissom body file", body_file_version);
  for (const std::string& name : root.names())
    if (name != "mesh" && name != "model" && name != "modes")
      diagnostics.warn("body-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});

  BodyFile body;
  body.mesh = read_mesh(root.group("mesh"));
  body.model = read_model(root.group("model"));
  if (root.has("modes")) body.modes = read_mode_set(root.group("modes"), body.model);
  return body;
}

}  // namespace lissom
