// A falling double pendulum of ANCF beams (paper 004, Section 5.2), and a plain HHT integrator for a body
// alone, so that tests of reduced models depend on nothing but the bodies.
#pragma once

#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <cmath>
#include <functional>

#include "lissom/mbs/ancf_body.hpp"

namespace lissom::test {

struct PendulumOptions {
  int elements = 80;  // of each beam
  int dimension = 2;
  AncfLaw law;
  double damping = 0;
  double mass1 = 0.2642, mass2 = 0.15;  // [kg]
  double z = 0;                         // [m]
};

inline AncfModel double_pendulum(const PendulumOptions& options) {
  AncfModel model;
  model.dimension = options.dimension;
  model.law = options.law;
  const double side = 0.03, length = 0.5, area = side * side, inertia = area * area / 12;
  const double young[2] = {80e6, 1e6}, masses[2] = {options.mass1, options.mass2};
  for (int b = 0; b < 2; ++b) {
    AncfBeam beam;
    beam.name = b == 0 ? "upper" : "lower";
    beam.elements = options.elements;
    beam.from = Eigen::Vector3d(length * b, 0, options.z);
    beam.to = Eigen::Vector3d(length * (b + 1), 0, options.z);
    beam.properties.EA = young[b] * area;
    beam.properties.EI = young[b] * inertia;
    beam.properties.mass = masses[b] / length;
    beam.properties.damping = options.damping;
    model.beams.push_back(beam);
  }
  model.pins = {{AncfNode{0, options.elements}, AncfNode{1, 0}}};
  model.supports = {{AncfNode{0, 0}, false}};
  return model;
}

struct BodyRun {
  std::vector<double> times;
  Eigen::MatrixXd q;  // n by steps + 1
};

// HHT with Newton to the last digits; bodies with cells through a sparse factorisation.
inline BodyRun run_body(const Body& body, const Eigen::Vector3d& gravity, double step, double end,
                        double alpha = -0.1) {
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  const int n = body.coordinates();
  const double beta = (1 - alpha) * (1 - alpha) / 4, gamma = 0.5 - alpha, w = 1 / (1 + alpha);
  const auto room = body.workspace();
  const std::vector<std::vector<int>> cells = body.cells();
  VectorXd q(n), v(n), a = VectorXd::Zero(n), zero = VectorXd::Zero(n), r(n), h(n);
  body.place(Placement{}, q, v);

  // entries of the cells in a sparse matrix
  Eigen::SparseMatrix<double> J(n, n);
  std::vector<std::vector<int>> at;
  std::vector<const int*> places;
  if (!cells.empty()) {
    std::vector<Eigen::Triplet<double>> entries;
    for (const std::vector<int>& cell : cells)
      for (const int j : cell)
        for (const int i : cell) entries.emplace_back(i, j, 1.0);
    J.setFromTriplets(entries.begin(), entries.end());
    for (const std::vector<int>& cell : cells) {
      std::vector<int>& places_of = at.emplace_back();
      for (const int j : cell)
        for (const int i : cell) places_of.push_back(static_cast<int>(&J.coeffRef(i, j) - J.valuePtr()));
    }
    for (const std::vector<int>& p : at) places.push_back(p.data());
  }
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu;
  MatrixXd dense(cells.empty() ? n : 0, cells.empty() ? n : 0);
  const auto solve = [&](double cq, double cv, double ca, double weight) -> VectorXd {
    if (cells.empty()) {
      body.jacobian(q, v, a, weight, gravity, cq, cv, ca, *room, dense);
      return dense.partialPivLu().solve(r);
    }
    std::fill(J.valuePtr(), J.valuePtr() + J.nonZeros(), 0.0);
    body.add_cells(q, v, a, weight, gravity, cq, cv, ca, *room, {J.valuePtr(), places.data(), false});
    lu.compute(J);
    return lu.solve(r);
  };
  const auto forces = [&](VectorXd& out) {
    out.setZero();
    body.add_residual(q, v, zero, 1, gravity, *room, out);
  };

  forces(r);
  a = -solve(0, 0, 1, 1);
  BodyRun run;
  const int steps = static_cast<int>(std::lround(end / step));
  run.q.resize(n, steps + 1);
  run.q.col(0) = q;
  run.times = {0};
  for (int k = 1; k <= steps; ++k) {
    forces(h);
    const VectorXd q0 = q, v0 = v, a0 = a;
    bool converged = false;
    for (int i = 0; i < 12 && !converged; ++i) {
      q = q0 + step * v0 + step * step * ((0.5 - beta) * a0 + beta * a);
      v = v0 + step * ((1 - gamma) * a0 + gamma * a);
      r.setZero();
      body.add_residual(q, v, a, w, gravity, *room, r);
      r -= alpha * w * h;
      const VectorXd change = solve(beta * step * step, gamma * step, 1, w);
      a -= change;
      converged = change.norm() * step * step < 1e-13 * std::max(1.0, q.norm());
    }
    EXPECT_TRUE(converged) << "step " << k;
    q = q0 + step * v0 + step * step * ((0.5 - beta) * a0 + beta * a);
    v = v0 + step * ((1 - gamma) * a0 + gamma * a);
    run.q.col(k) = q;
    run.times.push_back(k * step);
    if (!converged) break;
  }
  return run;
}

inline Eigen::MatrixXd nodal_states(const AncfBody& body, const BodyRun& run) {
  Eigen::MatrixXd E(body.nodal_coordinates(), run.q.cols());
  for (Eigen::Index k = 0; k < run.q.cols(); ++k) E.col(k) = body.nodal(run.q.col(k));
  return E;
}

}  // namespace lissom::test
