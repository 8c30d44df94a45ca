// Small bodies for tests of the reduction, and the same quantities by dense algebra.
#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lissom/cms/interface.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/fe/spider.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::test {

struct SampleBody {
  std::string name;
  Mesh mesh;
  FeModel model;
  std::vector<InterfaceSpec> specs;
  std::vector<Interface> interfaces;
};

inline InterfaceSpec spec_of(std::string name, std::vector<std::string> what, std::string directions = "") {
  InterfaceSpec spec;
  spec.name = std::move(name);
  spec.what = std::move(what);
  spec.directions = std::move(directions);
  return spec;
}

inline SampleBody body_of(std::string name, Mesh mesh, MassKind mass, std::vector<InterfaceSpec> specs) {
  // as body loading does: a spider's name stands for its reference
  for (const Spider& spider : mesh.spiders) mesh.node_sets[spider.name] = {spider.reference};
  SampleBody body;
  body.name = std::move(name) + (mass == MassKind::Lumped ? ", lumped" : ", consistent");
  Diagnostics diagnostics;
  AssemblyOptions options;
  options.mass = mass;
  body.model = assemble(mesh, options, diagnostics);
  body.mesh = std::move(mesh);
  body.specs = std::move(specs);
  body.interfaces = find_interfaces(body.model, body.specs);
  return body;
}

// A rod of round section, one rigid spider at an end: bending modes come in pairs.
inline SampleBody cylinder(MassKind mass, int cells = 10) {
  BoxOptions options;
  options.cells = {cells, 2, 2};
  options.size = {0.3, 2, 2};
  options.map = [](const Eigen::Vector3d& x) {
    // the square [-1, 1]^2 on the disc of 15 mm
    const double y = x[1] - 1, z = x[2] - 1;
    return Eigen::Vector3d(x[0], 0.015 * y * std::sqrt(1 - z * z / 2), 0.015 * z * std::sqrt(1 - y * y / 2));
  };
  Mesh mesh = box_mesh(ElementType::Hex8, options);
  add_spider(mesh, "end", Spider::Kind::Rigid, mesh.node_sets.at("x0"));
  return body_of("cylinder", std::move(mesh), mass, {spec_of("end", {"end"})});
}

// A beam of square section, an averaging spider at each end: equal pairs.
inline SampleBody square_beam(MassKind mass, int cells = 8) {
  BoxOptions options;
  options.cells = {cells, 2, 2};
  options.size = {0.5, 0.05, 0.05};
  Mesh mesh = box_mesh(ElementType::Hex8, options);
  add_spider(mesh, "left", Spider::Kind::Averaging, mesh.node_sets.at("x0"));
  add_spider(mesh, "right", Spider::Kind::Averaging, mesh.node_sets.at("x1"));
  return body_of("square beam", std::move(mesh), mass,
                 {spec_of("left", {"left"}), spec_of("right", {"right"})});
}

// A plate with three interfaces: a rigid spider, an averaging one, and three plain nodes.
inline SampleBody plate(MassKind mass) {
  BoxOptions options;
  options.cells = {5, 4, 1};
  options.size = {0.4, 0.3, 0.03};
  options.distortion = 0.15;
  Mesh mesh = box_mesh(ElementType::Hex8, options);
  add_spider(mesh, "left", Spider::Kind::Rigid, mesh.node_sets.at("x0"), Eigen::Vector3d(-0.05, 0.1, 0.02));
  add_spider(mesh, "right", Spider::Kind::Averaging, mesh.node_sets.at("x1"));
  // the nodes of the upper side at y = max that no spider ties
  std::vector<int> edge;
  for (const int node : mesh.node_sets.at("y1"))
    if (mesh.points(0, node) > 0.01 && mesh.points(0, node) < 0.39 && mesh.points(2, node) > 0.01)
      edge.push_back(node);
  mesh.node_sets["edge"] = {edge.begin(), edge.begin() + 3};
  return body_of("plate", std::move(mesh), mass,
                 {spec_of("left", {"left"}), spec_of("right", {"right"}), spec_of("edge", {"edge"})});
}

// A crooked block of quadratic tets, joined by the corner nodes of a face: no spider.
inline SampleBody block(MassKind mass) {
  BoxOptions options;
  options.cells = {3, 1, 1};
  options.size = {1, 0.5, 0.4};
  options.distortion = 0.1;
  options.map = curved;
  Mesh mesh = box_mesh(ElementType::Tet10, options);
  // four nodes of the face that lie farthest from its middle
  std::vector<int> face = mesh.node_sets.at("x0");
  Eigen::Vector3d middle = Eigen::Vector3d::Zero();
  for (const int node : face) middle += mesh.points.col(node) / static_cast<double>(face.size());
  std::sort(face.begin(), face.end(), [&](int i, int j) {
    return (mesh.points.col(i) - middle).norm() > (mesh.points.col(j) - middle).norm();
  });
  mesh.node_sets["corners"] = {face.begin(), face.begin() + 4};
  std::sort(mesh.node_sets["corners"].begin(), mesh.node_sets["corners"].end());
  return body_of("block", std::move(mesh), mass, {spec_of("corners", {"corners"})});
}

inline std::vector<SampleBody> sample_bodies() {
  std::vector<SampleBody> bodies;
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    bodies.push_back(cylinder(mass));
    bodies.push_back(square_beam(mass));
    bodies.push_back(plate(mass));
    bodies.push_back(block(mass));
  }
  return bodies;
}

// Everything by dense matrices, all fixed-interface modes included.
struct DenseBody {
  std::vector<int> s, b;
  Eigen::MatrixXd K, M, K_s, M_s, Psi, A, K_b, M_b;
  Eigen::VectorXd kappa;
  Eigen::MatrixXd Phi;  // M_s-orthonormal
  Eigen::MatrixXd a;    // Phi' A
};

// Eigenpairs of K x = lambda M x by way of M x = theta (K + shift M) x, which is relatively accurate at the
// low end.
inline Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> inverted(const Eigen::MatrixXd& K,
                                                                          const Eigen::MatrixXd& M,
                                                                          double shift) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(M, K + shift * M);
}

inline DenseBody dense_body(const FeModel& model, const std::vector<Interface>& interfaces) {
  DenseBody d;
  std::vector<char> held(model.dof_count(), 0);
  for (const Interface& interface : interfaces)
    for (const int row : interface.rows) d.b.push_back(row), held[row] = 1;
  for (int i = 0; i < model.dof_count(); ++i)
    if (!held[i]) d.s.push_back(i);
  d.K = dense(model.K), d.M = dense(model.M);
  d.K_s = d.K(d.s, d.s), d.M_s = d.M(d.s, d.s);
  const Eigen::MatrixXd K_c = d.K(d.s, d.b), M_c = d.M(d.s, d.b);
  d.Psi = -d.K_s.llt().solve(K_c);
  d.A = d.M_s * d.Psi + M_c;
  d.K_b = d.K(d.b, d.b) + K_c.transpose() * d.Psi;
  d.M_b = d.Psi.transpose() * d.A + M_c.transpose() * d.Psi + d.M(d.b, d.b);
  const auto eigen = inverted(d.K_s, d.M_s, 0);
  d.kappa = eigen.eigenvalues().cwiseInverse().reverse();
  // scaled to unit energy: phi' M_s phi = theta
  d.Phi = (eigen.eigenvectors() * eigen.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal())
              .rowwise()
              .reverse();
  d.a = d.Phi.transpose() * d.A;
  return d;
}

// The whole body's eigenvalues, rigid ones included, ascending.
inline Eigen::VectorXd exact_eigenvalues(const DenseBody& d) {
  const double shift = 0.1 * d.kappa[0];
  return inverted(d.K, d.M, shift).eigenvalues().cwiseInverse().reverse().array() - shift;
}

// Largest difference, over the largest entry expected.
inline double difference(const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected) {
  if (found.rows() != expected.rows() || found.cols() != expected.cols()) return HUGE_VAL;
  if (expected.size() == 0) return 0;
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

// The same with rows and columns scaled to a unit diagonal of the one expected, for matrices over
// displacements and rotations.
inline double scaled_difference(const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected) {
  const Eigen::VectorXd scale = expected.diagonal().cwiseAbs().cwiseSqrt().cwiseInverse();
  return (scale.asDiagonal() * (found - expected) * scale.asDiagonal()).cwiseAbs().maxCoeff();
}

}  // namespace lissom::test
