// Checks that every kind of body must stand: derivatives against differences.
#pragma once

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <functional>
#include <random>

#include "lissom/mbs/body.hpp"

namespace lissom::test {

struct Motion {
  Eigen::VectorXd q, v, a;
};

inline Eigen::VectorXd normal_vector(Eigen::Index n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
}

// Derivative at 0 of a function along a line from four points: exact for polynomials of fourth degree,
// whatever the step.
inline Eigen::MatrixXd slope(const std::function<Eigen::MatrixXd(double)>& f, double step) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
}

// The matrix of slopes of f(x) in each direction, with steps of their own. Largest difference to `expected`,
// each row relative to its largest entry times step, so that coordinates of any unit count alike.
inline double slope_error(const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& f,
                          const Eigen::VectorXd& x, const Eigen::VectorXd& steps,
                          const Eigen::MatrixXd& expected) {
  Eigen::MatrixXd found(expected.rows(), expected.cols());
  for (Eigen::Index j = 0; j < x.size(); ++j)
    found.col(j) = slope(
        [&](double t) {
          Eigen::VectorXd moved = x;
          moved[j] += t;
          return f(moved);
        },
        steps[j]);
  const Eigen::MatrixXd scaled = expected * steps.asDiagonal();
  const Eigen::MatrixXd error = (found - expected) * steps.asDiagonal();
  double largest = 0;
  for (Eigen::Index i = 0; i < scaled.rows(); ++i) {
    const double size = scaled.row(i).cwiseAbs().maxCoeff();
    const double row = error.row(i).cwiseAbs().maxCoeff();
    if (row > 0) largest = std::max(largest, row / std::max(size, 1e-9 * scaled.cwiseAbs().maxCoeff()));
  }
  return largest;
}

// Amplitudes of the deformation of the body's first node group.
inline Eigen::VectorXd deformation_of(const Body& body, const Eigen::VectorXd& q) {
  Eigen::VectorXd d(body.deformation_basis(0).size);
  body.deformation(0, q, d);
  return d;
}

// Steps that move points of the body by up to `distance` [m].
inline Eigen::VectorXd steps_of(const Body& body, double distance) {
  Eigen::VectorXd scale(body.coordinates());
  body.displacement_scale(scale);
  return distance * scale.cwiseInverse();
}

inline Eigen::VectorXd residual_of(const Body& body, const Motion& s, double w,
                                   const Eigen::Vector3d& gravity) {
  Eigen::VectorXd r = Eigen::VectorXd::Zero(body.coordinates());
  body.add_residual(s.q, s.v, s.a, w, gravity, *body.workspace(), r);
  return r;
}

inline Eigen::MatrixXd jacobian_of(const Body& body, const Motion& s, double w,
                                   const Eigen::Vector3d& gravity, double cq, double cv, double ca) {
  const int n = body.coordinates();
  Eigen::MatrixXd J = Eigen::MatrixXd::Constant(n, n, std::nan(""));
  body.jacobian(s.q, s.v, s.a, w, gravity, cq, cv, ca, *body.workspace(), J);
  return J;
}

inline Eigen::MatrixXd mass_of(const Body& body, const Eigen::VectorXd& q) {
  const int n = body.coordinates();
  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(n, n, std::nan(""));
  body.mass(q, *body.workspace(), M);
  return M;
}

// Largest relative errors of dr/dq, dr/dv, dr/da and of the mass matrix against dr/da.
struct DerivativeErrors {
  double q, v, a, mass, combined;
};
inline DerivativeErrors derivative_errors(const Body& body, const Motion& s, double distance) {
  const Eigen::Vector3d gravity(0.3, -0.7, -9.81);
  const double w = 0.7;
  const Eigen::VectorXd steps = steps_of(body, distance);
  const auto residual = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
    return residual_of(body, {q, v, a}, w, gravity);
  };
  const Eigen::MatrixXd by_q = jacobian_of(body, s, w, gravity, 1, 0, 0);
  const Eigen::MatrixXd by_v = jacobian_of(body, s, w, gravity, 0, 1, 0);
  const Eigen::MatrixXd by_a = jacobian_of(body, s, w, gravity, 0, 0, 1);
  DerivativeErrors errors{};
  errors.q = slope_error([&](const Eigen::VectorXd& x) { return residual(x, s.v, s.a); }, s.q, steps, by_q);
  errors.v = slope_error([&](const Eigen::VectorXd& x) { return residual(s.q, x, s.a); }, s.v, steps, by_v);
  errors.a = slope_error([&](const Eigen::VectorXd& x) { return residual(s.q, s.v, x); }, s.a, steps, by_a);
  const Eigen::MatrixXd M = mass_of(body, s.q);
  errors.mass = (w * M - by_a).cwiseAbs().maxCoeff() / M.cwiseAbs().maxCoeff();
  const Eigen::MatrixXd all = jacobian_of(body, s, w, gravity, 0.3, -0.4, 0.8);
  errors.combined =
      (all - 0.3 * by_q + 0.4 * by_v - 0.8 * by_a).cwiseAbs().maxCoeff() / all.cwiseAbs().maxCoeff();
  return errors;
}

// The same of a marker: J, V, and the Hessian of w'm.
struct MarkerErrors {
  double J, rate, V, hessian;
};
inline MarkerErrors marker_errors(const Body& body, int marker, const Motion& s, double distance,
                                  std::mt19937& random) {
  const Eigen::VectorXd steps = steps_of(body, distance);
  const auto workspace = body.workspace();
  const auto at = [&](const Eigen::VectorXd& q) {
    MarkerKinematics k;
    body.marker(marker, q, s.v, true, *workspace, k);
    return k;
  };
  const MarkerKinematics here = at(s.q);
  const Vector12d weights = normal_vector(12, random);
  const int n = body.coordinates();
  Eigen::MatrixXd H = Eigen::MatrixXd::Ones(n, n);
  body.add_marker_hessian(marker, s.q, weights, 0.5, *workspace, H);
  H = ((H.array() - 1) * 2).matrix().eval();
  MarkerErrors errors{};
  errors.J =
      slope_error([&](const Eigen::VectorXd& q) -> Eigen::VectorXd { return at(q).m; }, s.q, steps, here.J);
  errors.rate = (here.rate - here.J * s.v).norm() / here.rate.norm();
  errors.V = slope_error([&](const Eigen::VectorXd& q) -> Eigen::VectorXd { return at(q).rate; }, s.q, steps,
                         here.V);
  // rows of the Hessian in metres too
  errors.hessian = slope_error(
      [&](const Eigen::VectorXd& q) -> Eigen::VectorXd {
        return steps.asDiagonal() * (at(q).J.transpose() * weights);
      },
      s.q, steps, steps.asDiagonal() * H);
  return errors;
}

// Accelerations and multipliers that the body has when nothing but gravity acts: by dense algebra.
inline Eigen::VectorXd free_acceleration(const Body& body, const Motion& s, const Eigen::Vector3d& gravity) {
  const int n = body.coordinates(), k = body.own_constraints();
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + k, n + k);
  Eigen::VectorXd b(n + k);
  Eigen::MatrixXd G(k, n);
  body.own_gradient(s.q, G);
  A.topLeftCorner(n, n) = mass_of(body, s.q);
  A.bottomLeftCorner(k, n) = G;
  A.topRightCorner(n, k) = G.transpose();
  b.head(n) = -residual_of(body, {s.q, s.v, Eigen::VectorXd::Zero(n)}, 1, gravity);
  for (int i = 0; i < k; ++i) {
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
    body.add_own_hessian(Eigen::VectorXd::Unit(k, i), 1, H);
    b[n + i] = -s.v.dot(H * s.v);
  }
  return A.fullPivLu().solve(b).head(n);
}

}  // namespace lissom::test
