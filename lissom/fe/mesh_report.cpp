#include "lissom/fe/mesh_report.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lissom/fe/jacobian_check.hpp"
#include "lissom/fe/quadrature.hpp"
#include "lissom/fe/shape_functions.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// coincidence of nodes, relative to the diagonal of the bounding box
constexpr double duplicate_tolerance = 1e-9;

// shape functions at the points that the report looks at, one per element type
struct Tables {
  struct Point {
    Eigen::VectorXd N;
    Eigen::Matrix3Xd dN;
    double weight;
  };
  std::vector<Point> volume;  // mass_rule()
  std::vector<Point> checks;  // corners and the points of the stiffness

  explicit Tables(ElementType type) {
    const auto make = [type](const Vector3d& xi, double weight) {
      return Point{shape_values(type, xi), shape_gradients(type, xi), weight};
    };
    for (const QuadraturePoint& p : mass_rule(type)) volume.push_back(make(p.xi, p.weight));
    for (const QuadraturePoint& p : stiffness_rule(type)) checks.push_back(make(p.xi, p.weight));
    const Eigen::Matrix3Xd nodes = node_coordinates(type);
    for (int a = 0; a < corner_count(type); ++a) checks.push_back(make(nodes.col(a), 0));
  }
};

// integrals over the volume: 1, x, x x^T
struct Moments {
  double zeroth = 0;
  Vector3d first = Vector3d::Zero();
  Matrix3d second = Matrix3d::Zero();
};

// sets of nodes that belong together
class UnionFind {
 public:
  explicit UnionFind(int n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(int i, int j) { parent_[root(i)] = root(j); }

 private:
  std::vector<int> parent_;
};

// parts that hang together, and nodes that belong to none
void find_components(const Mesh& mesh, MeshReport& report) {
  UnionFind parts(mesh.node_count());
  std::vector<bool> used(mesh.node_count(), false);
  const auto join_all = [&](std::span<const int> nodes, int with) {
    for (const int node : nodes) {
      used[node] = true;
      parts.join(node, with);
    }
  };
  for (int e = 0; e < mesh.element_count(); ++e) join_all(mesh.element_nodes(e), mesh.element_nodes(e)[0]);
  for (const Spider& spider : mesh.spiders) {
    used[spider.reference] = true;
    join_all(spider.nodes, spider.reference);
  }
  // count the nodes under each root; unused nodes are no part of anything
  std::vector<int> size(mesh.node_count(), 0);
  for (int i = 0; i < mesh.node_count(); ++i) {
    if (used[i]) {
      ++size[parts.root(i)];
    } else if (report.orphan_nodes++ == 0) {
      report.first_orphan = i;
    }
  }
  for (const int s : size)
    if (s > 0) report.component_sizes.push_back(s);
  std::sort(report.component_sizes.rbegin(), report.component_sizes.rend());
}

// Nodes sorted along a direction in which structured meshes have no two planes alike, so that only few
// neighbours in the sorted order need comparing.
void find_duplicates(const Mesh& mesh, MeshReport& report) {
  const double tolerance = duplicate_tolerance * (report.upper - report.lower).norm();
  const Vector3d direction = Vector3d(1, std::sqrt(2.0) - 1, std::sqrt(3.0) / 2 - 0.11).normalized();
  const Eigen::VectorXd along = mesh.points.transpose() * direction;
  // a spider's reference may stand where a node is, the middle of a face for one
  std::vector<char> is_reference(mesh.node_count(), 0);
  for (const Spider& spider : mesh.spiders) is_reference[spider.reference] = 1;
  std::vector<int> order;
  for (int i = 0; i < mesh.node_count(); ++i)
    if (!is_reference[i]) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return along[i] < along[j]; });
  for (size_t k = 0; k < order.size(); ++k) {
    const int i = order[k];
    for (size_t l = k; l-- > 0 && along[i] - along[order[l]] <= tolerance;) {
      const int j = order[l];
      if ((mesh.points.col(i) - mesh.points.col(j)).norm() > tolerance) continue;
      if (report.duplicate_nodes++ == 0) report.first_duplicate = {std::min(i, j), std::max(i, j)};
      break;
    }
  }
}

}  // namespace

MeshReport report_mesh(const Mesh& mesh, std::optional<double> density) {
  MeshReport report;
  report.nodes = mesh.node_count();
  report.elements = mesh.element_count();
  for (int i = 0; i < report.nodes; ++i) report.nodes_not_finite += !mesh.points.col(i).allFinite();
  if (report.nodes > 0) {
    report.lower = mesh.points.rowwise().minCoeff();
    report.upper = mesh.points.rowwise().maxCoeff();
  }

  // elements: volume, mass, quality; moments about the box's middle, so that bodies far from the origin lose
  // no digits
  const Vector3d origin = (report.lower + report.upper) / 2;
  std::vector<Tables> tables;
  for (const ElementType type : all_element_types) tables.emplace_back(type);
  std::vector<int> uses(mesh.materials.size(), 0);
  Moments total;
  for (int e = 0; e < report.elements; ++e) {
    const ElementType type = mesh.types[e];
    const int n = node_count(type);
    ++report.elements_of_type[static_cast<int>(type)];
    const int m = mesh.element_material[e];
    if (m >= 0)
      ++uses[m];
    else
      ++report.elements_without_material;
    std::optional<double> rho = density;
    if (!rho && m >= 0) rho = mesh.materials[m].density;
    if (!rho) ++report.elements_without_density;

    // at most 20 nodes: no allocation
    Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 20> x(3, n);
    for (int a = 0; a < n; ++a) x.col(a) = mesh.points.col(mesh.element_nodes(e)[a]) - origin;
    for (const Tables::Point& p : tables[static_cast<int>(type)].volume) {
      const double dV = p.weight * Matrix3d(x * p.dN.transpose()).determinant();
      const Vector3d at = x * p.N;
      report.volume += dV;
      total.zeroth += rho.value_or(0) * dV;
      total.first += rho.value_or(0) * dV * at;
      total.second += rho.value_or(0) * dV * at * at.transpose();
    }

    // quality: a turned element has low = -magnitude, a flat one 0
    double low = std::numeric_limits<double>::infinity(), magnitude = 0;
    for (const Tables::Point& p : tables[static_cast<int>(type)].checks) {
      const double det = Matrix3d(x * p.dN.transpose()).determinant();
      low = std::min(low, det);
      magnitude = std::max(magnitude, std::abs(det));
    }
    const double ratio = magnitude > 0 ? low / magnitude : 0;
    if (report.worst_element < 0 || ratio < report.worst_ratio) {
      report.worst_ratio = ratio;
      report.worst_element = e;
    }
  }
  const UnsoundElements unsound = find_unsound_elements(mesh);
  report.negative_elements = unsound.count;
  report.negative_list = unsound.first;
  if (report.elements > 0 && report.elements_without_density == 0) {
    // from the box's middle to the centre of mass (Steiner), then int x x^T to the inertia tensor
    MeshReport::MassProperties mass;
    mass.mass = total.zeroth;
    const Vector3d offset = total.first / total.zeroth;
    mass.centre = origin + offset;
    const Matrix3d central = total.second - total.zeroth * offset * offset.transpose();
    mass.inertia = central.trace() * Matrix3d::Identity() - central;
    report.mass = mass;
  }

  find_components(mesh, report);
  // what is no number cannot be sorted
  if (report.nodes_not_finite == 0) find_duplicates(mesh, report);
  for (const auto& [name, nodes] : mesh.node_sets)
    report.node_sets.push_back({name, static_cast<int>(nodes.size())});
  for (const auto& [name, elements] : mesh.element_sets)
    report.element_sets.push_back({name, static_cast<int>(elements.size())});
  for (size_t m = 0; m < uses.size(); ++m) report.materials.push_back({mesh.materials[m].name, uses[m]});
  for (const Spider& spider : mesh.spiders)
    report.spiders.push_back({spider.name, spider.kind, static_cast<int>(spider.nodes.size())});
  return report;
}

}  // namespace lissom
