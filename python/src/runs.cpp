// Results of simulations as arrays.
#include <pybind11/stl.h>

#include "lissom/core/text.hpp"
#include "python/src/arrays.hpp"
#include "python/src/module.hpp"
#include "python/src/run_data.hpp"
#include "python/src/session.hpp"

namespace lissom::python {

namespace {

RunData read_run(Session& session, const std::string& path) {
  return session.run([&] {
    std::filesystem::path file = path;
    if (std::filesystem::is_directory(file)) {
      if (!std::filesystem::exists(file / "result.h5"))
        fail_input("{}: the folder has no result.h5, which 'lissom simulate' writes", path);
      file /= "result.h5";
    }
    RunData out;
    out.file = std::make_shared<const ResultFile>(read_result_file(file, session.diagnostics()));
    return out;
  });
}

// Samples by coordinates.
py::array states(const RunData& self, Eigen::MatrixXd SimulationRun::*of_run,
                 Eigen::MatrixXd ResultFile::*of_file) {
  if (self.run) return transposed_view((*self.run).*of_run, self.run);
  return view((*self.file).*of_file, self.file);
}

const std::vector<BalanceSample>& balance_of(const RunData& self) {
  return self.run ? self.run->balance : self.file->balance;
}

// A column for each of the names below, samples by columns.
py::array balance_table(const RunData& self) {
  const std::vector<BalanceSample>& balance = balance_of(self);
  Eigen::MatrixXd table(static_cast<Eigen::Index>(balance.size()), 9);
  for (size_t k = 0; k < balance.size(); ++k) {
    const BalanceSample& b = balance[k];
    table.row(static_cast<Eigen::Index>(k)) << b.energy.kinetic, b.energy.elastic, b.energy.gravity,
        b.energy.springs, b.energy.total(), b.work_in, b.dissipated, b.energy_drift, b.constraint_drift;
  }
  return give(std::move(table));
}

const std::vector<std::string> balance_names = {"kinetic",    "elastic",      "gravity",
                                                "springs",    "total",        "work_in",
                                                "dissipated", "energy_drift", "constraint_drift"};

struct Group {
  std::string name;
  int body = 0, first = 0, count = 0;
};

std::vector<Group> groups_of(const SimulationRun& run) {
  std::vector<Group> list;
  const System& system = *run.built->system;
  for (size_t b = 0; b < system.bodies().size(); ++b)
    for (const NodeGroup& group : system.bodies()[b]->node_groups())
      list.push_back({group.name, static_cast<int>(b), group.first, group.count});
  return list;
}

std::vector<std::string> node_bodies(const RunData& self) {
  std::vector<std::string> names;
  if (self.run) {
    for (const Group& group : groups_of(*self.run))
      if (group.count > 0) names.push_back(group.name);
  } else {
    for (const ResultHeader::NodeEntry& entry : self.file->header.nodes) names.push_back(entry.body);
  }
  return names;
}

[[noreturn]] void fail_no_body(const RunData& self, const std::string& name) {
  const std::vector<std::string> names = node_bodies(self);
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  fail_input(
      "nodes: there are none of '{}'{}; {}", name, did_you_mean(name, names),
      list.empty() ? "the run has kept none (nodes = true in [simulate])" : "there are those of: " + list);
}

// (samples, nodes, 3) and the node numbers.
py::tuple nodes_of(const RunData& self, const std::string& name) {
  py::ssize_t samples = 0, count = 0;
  std::vector<std::int64_t> ids;
  const Group* found = nullptr;
  std::vector<Group> groups;
  size_t entry = 0;
  if (self.run) {
    groups = groups_of(*self.run);
    for (const Group& group : groups)
      if (group.name == name && group.count > 0) found = &group;
    if (!found) fail_no_body(self, name);
    samples = self.run->q.cols();
    count = found->count;
    const std::vector<std::int64_t>& all =
        self.run->built->system->bodies()[static_cast<size_t>(found->body)]->node_ids();
    ids.assign(all.begin() + found->first, all.begin() + found->first + found->count);
  } else {
    const auto& entries = self.file->header.nodes;
    while (entry < entries.size() && entries[entry].body != name) ++entry;
    if (entry == entries.size()) fail_no_body(self, name);
    ids = entries[entry].ids;
    samples = self.file->samples();
    count = static_cast<py::ssize_t>(ids.size());
  }
  py::array_t<double> out({samples, count, static_cast<py::ssize_t>(3)});
  double* to = out.mutable_data();
  for (py::ssize_t k = 0; k < samples; ++k, to += 3 * count) {
    Eigen::Map<Eigen::Matrix3Xd> x(to, 3, count);
    if (self.run) {
      const System& system = *self.run->built->system;
      const Body& body = *system.bodies()[static_cast<size_t>(found->body)];
      x = body.node_positions(self.run->q.col(k).segment(system.offset(found->body), body.coordinates()))
              .middleCols(found->first, found->count);
    } else {
      x = self.file->nodes[entry][static_cast<size_t>(k)];
    }
  }
  return py::make_tuple(out, py::array_t<std::int64_t>(static_cast<py::ssize_t>(ids.size()), ids.data()));
}

// First coordinate, number of coordinates and formulation of each body.
std::vector<std::tuple<std::string, std::string, int, int>> bodies_of(const RunData& self) {
  std::vector<std::tuple<std::string, std::string, int, int>> list;
  if (self.run) {
    const System& system = *self.run->built->system;
    for (size_t b = 0; b < system.bodies().size(); ++b)
      list.emplace_back(system.bodies()[b]->name(), system.bodies()[b]->formulation(),
                        system.offset(static_cast<int>(b)), system.bodies()[b]->coordinates());
  } else {
    for (const ResultHeader::BodyEntry& body : self.file->header.bodies)
      list.emplace_back(body.name, body.formulation, body.first, body.coordinates);
  }
  return list;
}

}  // namespace

void add_runs(py::module_& module) {
  py::class_<RunData>(module, "RunData")
      .def("time",
           [](const RunData& self) {
             return self.run ? view(self.run->t, self.run) : view(self.file->time, self.file);
           })
      .def("columns",
           [](const RunData& self) { return self.run ? self.run->columns : self.file->header.sensors; })
      .def("units",
           [](const RunData& self) {
             return self.run ? self.run->sensor_units : self.file->header.sensor_units;
           })
      .def("sensors",
           [](const RunData& self) {
             return self.run ? view(self.run->y, self.run) : view(self.file->sensors, self.file);
           })
      .def("q", [](const RunData& self) { return states(self, &SimulationRun::q, &ResultFile::q); })
      .def("v", [](const RunData& self) { return states(self, &SimulationRun::v, &ResultFile::v); })
      .def("a", [](const RunData& self) { return states(self, &SimulationRun::a, &ResultFile::a); })
      .def("balance", &balance_table)
      .def("balance_names", [](const RunData&) { return balance_names; })
      .def("bodies", &bodies_of)
      .def("node_bodies", &node_bodies)
      .def("nodes", &nodes_of)
      .def("trust",
           [](const RunData& self) {
             return self.file ? view(self.file->trust, self.file) : py::array_t<double>(0);
           })
      .def("study", [](const RunData& self) { return self.file ? self.file->header.study : std::string(); })
      .def("title", [](const RunData& self) { return self.file ? self.file->header.title : std::string(); })
      .def("status",
           [](const RunData& self) {
             return self.file ? std::string(name_of(self.file->end.status)) : std::string("complete");
           })
      .def("report", [](const RunData& self) {
        return self.file ? std::make_pair(self.file->end.report, self.file->end.text)
                         : std::make_pair(std::string(), std::string());
      });
  module.def("read_run", &read_run);
}

}  // namespace lissom::python
