// Small equations of motion whose solutions are known, for tests of the integrators.
#pragma once

#include <Eigen/LU>

#include <cmath>
#include <functional>

#include "lissom/mbs/equations.hpp"

namespace lissom::test {

// Dense equations: one block for everything, derived classes give the parts. Forces h with their derivatives,
// a constant mass matrix, and one constraint at most, with its derivatives.
class SmallEquations : public Equations {
 public:
  SmallEquations(Eigen::MatrixXd M, int constraints, Eigen::VectorXd scale, double length)
      : M_(std::move(M)), m_(constraints), scale_(std::move(scale)), length_(length) {}

  virtual void forces(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& h,
                      Eigen::MatrixXd& h_q, Eigen::MatrixXd& h_v) const = 0;
  // g, G, d2g/dq2 and the time derivatives dg/dt, dG/dt (a row), d2g/dt2
  struct Constraint {
    double g = 0, g_t = 0, g_tt = 0;
    Eigen::RowVectorXd G, G_t;
    Eigen::MatrixXd G_q;
  };
  virtual Constraint constraint_parts(double, const Eigen::VectorXd&) const { return {}; }

  int coordinates() const override { return static_cast<int>(M_.rows()); }
  int constraints() const override { return m_; }
  bool constant_mass() const override { return true; }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    forces(s.t, s.q, s.v, h_, h_q_, h_v_);
    r = w * (M_ * s.a) + h_;
    if (m_ > 0) r += constraint_parts(s.t, s.q).G.transpose() * s.lambda[0];
  }
  void constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override {
    if (m_ > 0) g[0] = constraint_parts(t, q).g;
  }
  std::vector<MatrixBlock> blocks() const override {
    MatrixBlock all;
    for (int i = 0; i < coordinates() + m_; ++i) all.rows.push_back(i);
    all.columns = all.rows;
    return {all};
  }
  void jacobian(const State& s, double w, const JacobianWeights& weights, NewtonMatrix& matrix) override {
    const int n = coordinates();
    forces(s.t, s.q, s.v, h_, h_q_, h_v_);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(n + m_, n + m_);
    J.topLeftCorner(n, n) = weights.q * h_q_ + weights.v * h_v_ + weights.a * w * M_;
    if (m_ > 0) {
      const Constraint c = constraint_parts(s.t, s.q);
      J.topLeftCorner(n, n) += weights.q * s.lambda[0] * c.G_q;
      J.topRightCorner(n, 1) = weights.multiplier * c.G.transpose();
      J.bottomLeftCorner(1, n) = weights.constraint * c.G;
    }
    matrix.set_zero();
    matrix.add(0, J);
  }
  void constraint_gradient(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) override {
    if (m_ > 0) G = constraint_parts(t, q).G;
  }
  void constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    if (m_ == 0) return;
    const Constraint c = constraint_parts(t, q);
    rate[0] = c.G.dot(v) + c.g_t;
  }
  void constraint_rate_gradient(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                Eigen::Ref<Eigen::MatrixXd> gradient) override {
    if (m_ == 0) return;
    const Constraint c = constraint_parts(t, q);
    gradient = (c.G_q * v).transpose() + c.G_t;
  }
  void constraint_curvature(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                            Eigen::Ref<Eigen::VectorXd> curvature) override {
    if (m_ == 0) return;
    const Constraint c = constraint_parts(t, q);
    curvature[0] = v.dot(c.G_q * v) + 2 * c.G_t.dot(v) + c.g_tt;
  }
  const Eigen::VectorXd& displacement_scale() const override { return scale_; }
  double length() const override { return length_; }
  double typical_mass() const override { return M_(0, 0) / (scale_[0] * scale_[0]); }
  std::string row_name(int row) const override {
    return row < coordinates() ? "coordinate " + std::to_string(row) : "rod";
  }

  // For tests: the acceleration and multiplier of t, q and v.
  State consistent(double t, Eigen::VectorXd q, Eigen::VectorXd v) {
    const int n = coordinates();
    State s{t, std::move(q), std::move(v), Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(m_)};
    forces(s.t, s.q, s.v, h_, h_q_, h_v_);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + m_, n + m_);
    Eigen::VectorXd b(n + m_);
    A.topLeftCorner(n, n) = M_;
    b.head(n) = -h_;
    if (m_ > 0) {
      const Constraint c = constraint_parts(t, s.q);
      A.topRightCorner(n, 1) = c.G.transpose();
      A.bottomLeftCorner(1, n) = c.G;
      b[n] = -(s.v.dot(c.G_q * s.v) + 2 * c.G_t.dot(s.v) + c.g_tt);
    }
    const Eigen::VectorXd x = A.partialPivLu().solve(b);
    s.a = x.head(n);
    s.lambda = x.tail(m_);
    return s;
  }

 protected:
  const Eigen::MatrixXd M_;
  const int m_;
  const Eigen::VectorXd scale_;
  const double length_;

 private:
  Eigen::VectorXd h_;
  Eigen::MatrixXd h_q_, h_v_;
};

// M q'' + C q' + K q = f(t).
class LinearEquations : public SmallEquations {
 public:
  using Force = std::function<Eigen::VectorXd(double)>;
  LinearEquations(Eigen::MatrixXd M, Eigen::MatrixXd C, Eigen::MatrixXd K, Force f)
      : SmallEquations(M, 0, Eigen::VectorXd::Ones(M.rows()), 1),
        C_(std::move(C)),
        K_(std::move(K)),
        f_(std::move(f)) {}
  void forces(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& h,
              Eigen::MatrixXd& h_q, Eigen::MatrixXd& h_v) const override {
    h = K_ * q + C_ * v - f_(t);
    h_q = K_;
    h_v = C_;
  }

 private:
  Eigen::MatrixXd C_, K_;
  Force f_;
};

// One mass of 1 kg with frequency omega [rad/s], damping ratio D and a force.
inline LinearEquations oscillator(
    double omega, double D = 0, std::function<double(double)> force = [](double) { return 0.0; }) {
  const auto one = [](double x) { return Eigen::MatrixXd::Constant(1, 1, x); };
  return LinearEquations(one(1), one(2 * D * omega), one(omega * omega),
                         [force](double t) { return Eigen::VectorXd::Constant(1, force(t)); });
}

constexpr double gravity = 9.81;

// A point mass of 1 kg on a rod of length L: angle from below as the only coordinate.
class AnglePendulum : public SmallEquations {
 public:
  explicit AnglePendulum(double L)
      : SmallEquations(Eigen::MatrixXd::Constant(1, 1, L * L), 0, Eigen::VectorXd::Constant(1, L), L) {}
  void forces(double, const Eigen::VectorXd& q, const Eigen::VectorXd&, Eigen::VectorXd& h,
              Eigen::MatrixXd& h_q, Eigen::MatrixXd& h_v) const override {
    h = Eigen::VectorXd::Constant(1, gravity * length_ * std::sin(q[0]));
    h_q = Eigen::MatrixXd::Constant(1, 1, gravity * length_ * std::cos(q[0]));
    h_v = Eigen::MatrixXd::Zero(1, 1);
  }
  State released(double angle) {
    return consistent(0, Eigen::VectorXd::Constant(1, angle), Eigen::VectorXd::Zero(1));
  }
  double energy(const State& s) const {
    return length_ * length_ * s.v[0] * s.v[0] / 2 - gravity * length_ * std::cos(s.q[0]);
  }
};

// The same with x, y and the rod as constraint g = (x2 + y2 - L2) / (2 L) [m].
class RodPendulum : public SmallEquations {
 public:
  explicit RodPendulum(double L)
      : SmallEquations(Eigen::MatrixXd::Identity(2, 2), 1, Eigen::VectorXd::Ones(2), L) {}
  void forces(double, const Eigen::VectorXd&, const Eigen::VectorXd&, Eigen::VectorXd& h,
              Eigen::MatrixXd& h_q, Eigen::MatrixXd& h_v) const override {
    h = Eigen::Vector2d(0, gravity);
    h_q = h_v = Eigen::MatrixXd::Zero(2, 2);
  }
  Constraint constraint_parts(double, const Eigen::VectorXd& q) const override {
    Constraint c;
    c.g = (q.squaredNorm() - length_ * length_) / (2 * length_);
    c.G = q.transpose() / length_;
    c.G_t = Eigen::RowVectorXd::Zero(2);
    c.G_q = Eigen::MatrixXd::Identity(2, 2) / length_;
    return c;
  }
  State released(double angle) {
    return consistent(0, length_ * Eigen::Vector2d(std::sin(angle), -std::cos(angle)),
                      Eigen::VectorXd::Zero(2));
  }
  double energy(const State& s) const { return s.v.squaredNorm() / 2 + gravity * s.q[1]; }
};

// A mass of 1 kg that a spring holds along x, driven along y: y = A sin(w t).
class DrivenMass : public SmallEquations {
 public:
  static constexpr double A = 0.3, w = 5, k = 40, coupling = 6;
  DrivenMass() : SmallEquations(Eigen::MatrixXd::Identity(2, 2), 1, Eigen::VectorXd::Ones(2), 1) {}
  void forces(double, const Eigen::VectorXd& q, const Eigen::VectorXd&, Eigen::VectorXd& h,
              Eigen::MatrixXd& h_q, Eigen::MatrixXd& h_v) const override {
    h = Eigen::Vector2d(k * q[0] - coupling * q[1], -coupling * q[0]);
    h_q.resize(2, 2);
    h_q << k, -coupling, -coupling, 0;
    h_v = Eigen::MatrixXd::Zero(2, 2);
  }
  Constraint constraint_parts(double t, const Eigen::VectorXd& q) const override {
    Constraint c;
    c.g = q[1] - A * std::sin(w * t);
    c.g_t = -A * w * std::cos(w * t);
    c.g_tt = A * w * w * std::sin(w * t);
    c.G = Eigen::RowVector2d(0, 1);
    c.G_t = Eigen::RowVectorXd::Zero(2);
    c.G_q = Eigen::MatrixXd::Zero(2, 2);
    return c;
  }
  State initial() { return consistent(0, Eigen::Vector2d(0, 0), Eigen::Vector2d(0, A * w)); }
  // x'' + k x = coupling A sin(w t) from rest
  static double x(double t) {
    const double W = std::sqrt(k), p = coupling * A / (k - w * w);
    return p * (std::sin(w * t) - w / W * std::sin(W * t));
  }
  // of y'' - coupling x + lambda = 0
  static double multiplier(double t) { return coupling * x(t) + A * w * w * std::sin(w * t); }
};

// Period of a pendulum released at an angle, by the arithmetic-geometric mean (complete elliptic integral).
inline double pendulum_period(double L, double angle) {
  double a = 1, b = std::cos(angle / 2);
  while (std::abs(a - b) > 1e-15 * a) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2 * M_PI * std::sqrt(L / gravity) / a;
}

}  // namespace lissom::test
