// Meshes, bodies and reduced bodies.
#include <pybind11/stl.h>
#include <nlohmann/json.hpp>

#include <numeric>

#include "lissom/fe/matrix_reader.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/fe/units_conversion.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/study/body_store.hpp"
#include "lissom/study/reduce.hpp"
#include "python/src/arrays.hpp"
#include "python/src/module.hpp"
#include "python/src/session.hpp"

namespace lissom::python {

namespace {

// A mesh in the units of its file.
struct PyMesh {
  std::shared_ptr<const Mesh> mesh;
  UnitSystem units;
};

// K and M are made when they are first needed.
struct PyBody {
  std::shared_ptr<FeBody> body;
  bool built = false;

  void build(Session& session) {
    if (built) return;
    build_model(*body, session.diagnostics(), session.context().progress);
    built = true;
  }
};

struct PyReduced {
  std::shared_ptr<const ReducedBody> body;
  std::shared_ptr<const GcmsModel> gcms;
  std::string summary, text;  // JSON and for people; empty of one that was read
};

py::tuple sparse(const SparseMatrix& matrix, const std::shared_ptr<FeBody>& owner) {
  return py::make_tuple(view(matrix.valuePtr(), matrix.nonZeros(), owner),
                        view(matrix.innerIndexPtr(), matrix.nonZeros(), owner),
                        view(matrix.outerIndexPtr(), matrix.outerSize() + 1, owner));
}

// The body of a study that has only one.
BodySpec only_body(const std::string& text) {
  StudyFile study = parse_study(text, "python");
  if (study.bodies.size() != 1) fail_input("python: expected one body, found {}", study.bodies.size());
  return std::move(study.bodies.front());
}

PyMesh mesh_from_file(Session& session, const std::string& file, const std::string& units, double size,
                      int order, bool skip_elements, bool trust) {
  return session.run([&] {
    PyMesh out;
    out.units = parse_unit_system(units);
    GmshOptions gmsh;
    gmsh.size = size;
    gmsh.order = order;
    gmsh.trust = trust;
    out.mesh = std::make_shared<const Mesh>(read_mesh(file, gmsh, session.diagnostics(), skip_elements));
    return out;
  });
}

// Nodes by index from 0; ids begin at 1 unless they are given.
PyMesh mesh_from_arrays(const Numbers& points, const std::optional<Integers>& node_ids,
                        const std::vector<std::pair<std::string, Integers>>& elements,
                        const std::map<std::string, Integers>& node_sets, const std::string& units) {
  MeshBuilder builder("arrays");
  const SourcePos pos{"arrays", 0};
  if (points.ndim() != 2 || points.shape(1) != 3) fail_input("points: expected an array of shape (n, 3)");
  const py::ssize_t n = points.shape(0);
  if (node_ids && (node_ids->ndim() != 1 || node_ids->shape(0) != n))
    fail_input("node_ids: expected {} numbers, one a point", n);
  std::vector<std::int64_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 1);
  if (node_ids) std::copy_n(node_ids->data(), n, ids.begin());
  const auto at = points.unchecked<2>();
  for (py::ssize_t i = 0; i < n; ++i) {
    const Eigen::Vector3d x(at(i, 0), at(i, 1), at(i, 2));
    if (!x.allFinite()) fail_input("points: row {} is not finite", i);
    if (ids[static_cast<size_t>(i)] < 1)
      fail_input("node_ids: {} is no number of a node, expected 1 or more", ids[static_cast<size_t>(i)]);
    if (builder.has_node(ids[static_cast<size_t>(i)]))
      fail_input("node_ids: {} is given twice", ids[static_cast<size_t>(i)]);
    builder.add_node(ids[static_cast<size_t>(i)], x, pos);
  }
  std::int64_t element = 0;
  std::vector<std::int64_t> nodes;
  for (const auto& [name, table] : elements) {
    const auto type = element_type_from_name(name);
    if (!type)
      fail_input("elements: '{}' is no element; there are tet4, tet10, hex8, hex20, wedge6, wedge15", name);
    if (table.ndim() != 2 || table.shape(1) != node_count(*type))
      fail_input("elements['{}']: expected an array of shape (elements, {})", name, node_count(*type));
    const auto rows = table.unchecked<2>();
    for (py::ssize_t e = 0; e < table.shape(0); ++e) {
      nodes.clear();
      for (py::ssize_t k = 0; k < table.shape(1); ++k) {
        if (rows(e, k) < 0 || rows(e, k) >= n)
          fail_input("elements['{}']: row {} has the node {}, expected an index from 0 to {}", name, e,
                     rows(e, k), n - 1);
        nodes.push_back(ids[static_cast<size_t>(rows(e, k))]);
      }
      builder.add_element(*type, ++element, nodes, -1, pos);
    }
  }
  for (const auto& [name, set] : node_sets) {
    if (set.ndim() != 1) fail_input("node_sets['{}']: expected a list of node indices", name);
    nodes.clear();
    for (py::ssize_t i = 0; i < set.shape(0); ++i) {
      const std::int64_t node = set.data()[i];
      if (node < 0 || node >= n)
        fail_input("node_sets['{}']: {} is no node, expected an index from 0 to {}", name, node, n - 1);
      nodes.push_back(ids[static_cast<size_t>(node)]);
    }
    builder.add_to_node_set(name, nodes, pos);
  }
  PyMesh out;
  out.units = parse_unit_system(units);
  out.mesh = std::make_shared<const Mesh>(builder.finish());
  return out;
}

py::dict elements_of(const PyMesh& self) {
  const Mesh& mesh = *self.mesh;
  py::dict out;
  for (const ElementType type : all_element_types) {
    py::ssize_t count = 0;
    for (const ElementType one : mesh.types) count += one == type;
    if (count == 0) continue;
    py::array_t<int> table({count, static_cast<py::ssize_t>(node_count(type))});
    int* entry = table.mutable_data();
    for (int e = 0; e < mesh.element_count(); ++e)
      if (mesh.types[static_cast<size_t>(e)] == type)
        for (const int node : mesh.element_nodes(e)) *entry++ = node;
    out[py::str(std::string(name_of(type)))] = table;
  }
  return out;
}

py::array_t<int> to_array(const std::vector<int>& list) {
  return py::array_t<int>(static_cast<py::ssize_t>(list.size()), list.data());
}

PyBody body_from_mesh(Session& session, const PyMesh& mesh, const std::string& text) {
  return session.run([&] {
    PyBody out;
    out.body = std::make_shared<FeBody>(body_of_mesh(only_body(text), *mesh.mesh));
    return out;
  });
}

PyBody body_from_file(Session& session, const std::string& file) {
  return session.run([&] {
    BodySpec spec;
    spec.name = std::filesystem::path(file).stem().stem().string();
    spec.body_file = file;
    PyBody out;
    out.body = std::make_shared<FeBody>(load_body(spec, session.diagnostics(), session.context().progress));
    if (out.body->model.dof_count() == 0)
      fail_input("{}: has no K and M in it; it was written before they were assembled", file);
    out.built = true;
    return out;
  });
}

using Entries = std::tuple<Integers, Integers, Numbers>;

ImportedMatrix matrix_of(const char* name, const Entries& entries, int size,
                         const std::vector<ImportedMatrix::RowLabel>& labels) {
  const auto& [rows, columns, values] = entries;
  ImportedMatrix out;
  out.name = name;
  out.source = name;
  out.rows = out.cols = size;
  out.labels = labels;
  const py::ssize_t count = values.size();
  if (rows.size() != count || columns.size() != count)
    fail_input("{}: rows, columns and values differ in number", name);
  out.entries.reserve(static_cast<size_t>(count));
  for (py::ssize_t i = 0; i < count; ++i) {
    const std::int64_t row = rows.data()[i], column = columns.data()[i];
    if (row < 0 || column < 0 || row >= size || column >= size)
      fail_input("{}: the entry ({}, {}) is outside of a matrix of {} rows", name, row, column, size);
    if (!std::isfinite(values.data()[i]))
      fail_input("{}: the entry ({}, {}) is {}, expected a finite number", name, row, column,
                 values.data()[i]);
    out.entries.push_back({static_cast<int>(row), static_cast<int>(column), values.data()[i]});
  }
  return out;
}

// `dofs` (rows, 2): index of the point and direction 0..5 of every row.
PyBody body_from_matrices(Session& session, const std::string& name, int size, const Entries& K,
                          const Entries& M, const std::optional<Numbers>& points,
                          const std::optional<Integers>& dofs, const std::string& units) {
  std::vector<ImportedMatrix::RowLabel> labels;
  const py::ssize_t nodes = points ? points->shape(0) : 0;
  if (dofs)
    for (py::ssize_t i = 0; i < size; ++i) {
      const std::int64_t node = dofs->data()[2 * i], direction = dofs->data()[2 * i + 1];
      if (node < 0 || (points && node >= nodes) || node > 1000000000)
        fail_input("dofs: row {} names the point {}, expected an index from 0 to {}", i, node,
                   points ? nodes - 1 : 1000000000);
      if (direction < 0 || direction > 5)
        fail_input("dofs: row {} has the direction {}, expected 0 to 5 (x y z, rotations about x y z)", i,
                   direction);
      labels.push_back({node + 1, static_cast<int>(direction)});
    }
  MatrixImport request;
  if (points)
    for (py::ssize_t i = 0; i < nodes; ++i) {
      const double* x = points->data() + 3 * i;
      if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
        fail_input("points: row {} is not finite", i);
      request.coordinates[i + 1] = Eigen::Vector3d(x[0], x[1], x[2]);
    }
  ImportedMatrix stiffness = matrix_of("K", K, size, labels), mass = matrix_of("M", M, size, labels);
  return session.run([&] {
    PyBody out;
    out.body = std::make_shared<FeBody>();
    out.body->spec.name = name;
    out.body->spec.body_file = name + ".body.h5";  // what save() writes; K and M are there already
    out.body->model = make_fe_model(std::move(stiffness), std::move(mass), request, session.diagnostics());
    convert_to_si(out.body->model, parse_unit_system(units));
    out.body->checks = check_matrices(out.body->model);
    out.built = true;
    return out;
  });
}

void save_body(Session& session, PyBody& self, const std::string& file) {
  session.run([&] {
    self.build(session);
    BodyFile out;
    out.mesh = self.body->mesh;
    out.model = self.body->model;
    if (self.body->vibration) out.modes = self.body->vibration->modes;
    write_body_file(file, out);
    return true;
  });
}

// Frequencies, shapes over the degrees of freedom, residuals, effective masses, number of rigid modes.
py::tuple modes_of(Session& session, PyBody& self, const std::string& text) {
  const auto modes = session.run([&] {
    self.build(session);
    self.body->spec.modes = only_body(text).modes;
    solve_modes(*self.body, session.diagnostics(), session.context().progress);
    return std::make_shared<const ModeSet>(self.body->vibration->modes);
  });
  return py::make_tuple(view(modes->frequencies_hz, modes), view(modes->shapes, modes),
                        view(modes->residuals, modes), view(modes->effective_mass, modes),
                        modes->rigid_count);
}

PyReduced reduce(Session& session, PyBody& self, const std::string& text, bool gcms) {
  return session.run([&] {
    self.build(session);
    BodySpec spec = only_body(text);
    self.body->spec.reduce = std::move(spec.reduce);
    Reduction reduction = reduce_body(*self.body, session.diagnostics(), session.context().progress);
    PyReduced out;
    out.summary = reduction_json(reduction).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.text = describe_reduction(reduction);
    out.body = std::make_shared<const ReducedBody>(std::move(reduction.body));
    if (gcms)
      out.gcms = std::make_shared<const GcmsModel>(
          make_gcms_model(*self.body, *out.body, session.diagnostics(), session.context().progress));
    return out;
  });
}

PyReduced reduced_from_file(Session& session, const std::string& file) {
  return session.run([&] {
    ReducedBodyFile read = read_reduced_body_file(file, session.diagnostics());
    PyReduced out;
    out.body = std::make_shared<const ReducedBody>(std::move(read.body));
    if (!read.gcms.empty()) out.gcms = std::make_shared<const GcmsModel>(std::move(read.gcms));
    return out;
  });
}

void save_reduced(Session& session, const PyReduced& self, const std::string& file) {
  session.run([&] {
    write_reduced_body_file(file, *self.body, {"made by the Python module lissom"}, self.gcms.get());
    return true;
  });
}

// Of each flexible mode in range: bound, estimate, exact error (NaN where it was not computed).
py::array errors_of(const PyReduced& self) {
  const auto& modes = self.body->errors.modes;
  Eigen::MatrixXd table(static_cast<Eigen::Index>(modes.size()), 3);
  for (size_t i = 0; i < modes.size(); ++i)
    table.row(static_cast<Eigen::Index>(i)) << modes[i].bound, modes[i].zeta_2, modes[i].exact;
  return give(std::move(table));
}

}  // namespace

void add_bodies(py::module_& module) {
  py::class_<PyMesh>(module, "Mesh")
      .def("points",
           [](const PyMesh& self) {
             if (self.units.length == 1) return transposed_view(self.mesh->points, self.mesh);
             return py::array(give((self.mesh->points * self.units.length).transpose()));
           })
      .def("node_ids",
           [](const PyMesh& self) {
             return view(self.mesh->node_ids.data(), static_cast<Eigen::Index>(self.mesh->node_ids.size()),
                         self.mesh);
           })
      .def("elements", &elements_of)
      .def("node_sets",
           [](const PyMesh& self) {
             py::dict out;
             for (const auto& [name, nodes] : self.mesh->node_sets) out[py::str(name)] = to_array(nodes);
             return out;
           })
      .def("units", [](const PyMesh& self) { return self.units.name; })
      .def("source", [](const PyMesh& self) { return self.mesh->source; });
  module.def("mesh_from_file", &mesh_from_file);
  module.def("mesh_from_arrays", &mesh_from_arrays);

  py::class_<PyBody>(module, "Body")
      .def("build",
           [](PyBody& self, Session& session) {
             session.run([&] {
               self.build(session);
               return true;
             });
           })
      .def("name", [](const PyBody& self) { return self.body->spec.name; })
      .def("size", [](const PyBody& self) { return self.body->model.dof_count(); })
      .def("K", [](const PyBody& self) { return sparse(self.body->model.K.lower, self.body); })
      .def("M", [](const PyBody& self) { return sparse(self.body->model.M.lower, self.body); })
      .def("points", [](const PyBody& self) { return transposed_view(self.body->model.points, self.body); })
      .def("node_ids",
           [](const PyBody& self) {
             return view(self.body->model.node_ids.data(),
                         static_cast<Eigen::Index>(self.body->model.node_ids.size()), self.body);
           })
      .def("dofs",
           [](const PyBody& self) {
             const std::vector<Dof>& dofs = self.body->model.dofs;
             py::array_t<int> table({static_cast<py::ssize_t>(dofs.size()), static_cast<py::ssize_t>(2)});
             for (size_t i = 0; i < dofs.size(); ++i) {
               table.mutable_at(static_cast<py::ssize_t>(i), 0) = dofs[i].node;
               table.mutable_at(static_cast<py::ssize_t>(i), 1) = dofs[i].direction;
             }
             return table;
           })
      .def("node_sets",
           [](const PyBody& self) {
             py::dict out;
             for (const auto& [name, nodes] : self.body->model.node_sets)
               out[py::str(name)] = to_array(nodes);
             return out;
           })
      .def("inspect",
           [](const PyBody& self) {
             return std::make_pair(
                 mesh_json(*self.body).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                 describe_mesh(*self.body));
           })
      .def("displacements",
           [](const PyBody& self, const Numbers& q) {
             if (q.ndim() != 1 || q.shape(0) != self.body->model.dof_count())
               fail_input("expected {} numbers, one a degree of freedom", self.body->model.dof_count());
             const Eigen::MatrixXd u = node_displacements(
                 self.body->model, Eigen::Map<const Eigen::VectorXd>(q.data(), q.shape(0)));
             return give(Eigen::MatrixXd(u.reshaped(3, u.size() / 3).transpose()));
           })
      .def("save",
           [](PyBody& self, Session& session, const std::string& file) { save_body(session, self, file); })
      .def("modes", [](PyBody& self, Session& session,
                       const std::string& text) { return modes_of(session, self, text); })
      .def("reduce", [](PyBody& self, Session& session, const std::string& text, bool gcms) {
        return reduce(session, self, text, gcms);
      });
  module.def("body_from_mesh", &body_from_mesh);
  module.def("body_from_file", &body_from_file);
  module.def("body_from_matrices", &body_from_matrices);

  py::class_<PyReduced>(module, "ReducedBody")
      .def("name", [](const PyReduced& self) { return self.body->name; })
      .def("basis", [](const PyReduced& self) { return self.body->basis; })
      .def("K", [](const PyReduced& self) { return view(self.body->K, self.body); })
      .def("M", [](const PyReduced& self) { return view(self.body->M, self.body); })
      .def("D", [](const PyReduced& self) { return view(self.body->D, self.body); })
      .def("modes", [](const PyReduced& self) { return view(self.body->modes, self.body); })
      .def("stress_modes", [](const PyReduced& self) { return view(self.body->stress_modes, self.body); })
      .def("eigenvectors", [](const PyReduced& self) { return view(self.body->eigenvectors, self.body); })
      .def("frequencies", [](const PyReduced& self) { return give(self.body->frequencies_hz()); })
      .def("rigid_count", [](const PyReduced& self) { return self.body->rigid_count; })
      .def("range", [](const PyReduced& self) { return self.body->range; })
      .def("points", [](const PyReduced& self) { return transposed_view(self.body->points, self.body); })
      .def("node_ids",
           [](const PyReduced& self) {
             return view(self.body->node_ids.data(), static_cast<Eigen::Index>(self.body->node_ids.size()),
                         self.body);
           })
      .def("interfaces",
           [](const PyReduced& self) {
             std::vector<std::string> names;
             for (const InterfaceFrame& one : self.body->interfaces) names.push_back(one.name);
             return names;
           })
      .def("coordinates",
           [](const PyReduced& self) {
             std::vector<std::tuple<std::string, int, std::int64_t, int, double>> list;
             for (const ReducedCoordinate& one : self.body->coordinates)
               list.emplace_back(std::string(name_of(one.kind)), one.interface, one.node_id, one.direction,
                                 one.frequency_hz);
             return list;
           })
      .def("errors", &errors_of)
      .def("has_gcms", [](const PyReduced& self) { return self.gcms != nullptr; })
      .def("summary", [](const PyReduced& self) { return std::make_pair(self.summary, self.text); })
      .def("save", [](const PyReduced& self, Session& session, const std::string& file) {
        save_reduced(session, self, file);
      });
  module.def("reduced_from_file", &reduced_from_file);
}

}  // namespace lissom::python
