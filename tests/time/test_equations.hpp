// Small equations of motion with exact derivatives, for the tests of the integrators.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "lissom/mbs/equations.hpp"
#include "lissom/time/initial_state.hpp"

namespace lissom::test {

// One dense block; a derived class fills K, C, M (n by n: derivatives of the residual, M with the inertia
// weight) and has constraint_gradient().
class SmallEquations : public Equations {
 public:
  SmallEquations(int n, int m, double length, double mass)
      : n_(n),
        m_(m),
        length_(length),
        mass_(mass),
        scale_(Eigen::VectorXd::Ones(n)),
        K_(n, n),
        C_(n, n),
        M_(n, n),
        G_(m, n),
        J_(n + m, n + m) {}

  int coordinates() const override { return n_; }
  int constraints() const override { return m_; }
  std::vector<MatrixBlock> blocks() const override {
    std::vector<int> all(n_ + m_);
    for (int i = 0; i < n_ + m_; ++i) all[i] = i;
    return {{all, all}};
  }
  void jacobian(const State& state, double w, const JacobianWeights& weights, NewtonMatrix& matrix) override {
    ++jacobians;
    K_.setZero();
    C_.setZero();
    M_.setZero();
    derivatives(state, w);
    if (m_ > 0) constraint_gradient(state.t, state.q, G_);
    J_.setZero();
    J_.topLeftCorner(n_, n_) = weights.q * K_ + weights.v * C_ + weights.a * M_;
    J_.topRightCorner(n_, m_) = weights.multiplier * G_.transpose();
    J_.bottomLeftCorner(m_, n_) = weights.constraint * G_;
    matrix.set_zero();
    matrix.add(0, J_);
  }
  // without constraints
  void constraint(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::VectorXd>) override {}
  void constraint_gradient(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::MatrixXd>) override {}
  void constraint_rate(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                       Eigen::Ref<Eigen::VectorXd>) override {}
  void constraint_rate_gradient(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                                Eigen::Ref<Eigen::MatrixXd>) override {}
  void constraint_curvature(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                            Eigen::Ref<Eigen::VectorXd>) override {}

  const Eigen::VectorXd& displacement_scale() const override { return scale_; }
  double length() const override { return length_; }
  double typical_mass() const override { return mass_; }
  std::vector<double> break_times() const override { return breaks; }
  std::string row_name(int row) const override {
    return row < n_ ? "body 'bob', coordinate " + std::to_string(row) : "joint 'rod'";
  }

  std::vector<double> breaks;
  long jacobians = 0;

 protected:
  virtual void derivatives(const State& state, double w) = 0;

  int n_, m_;
  double length_, mass_;
  Eigen::VectorXd scale_;
  Eigen::MatrixXd K_, C_, M_, G_, J_;
};

// A point mass on a rod about a pivot that moves by x = amplitude sin(omega t); gravity along -y [m, kg, s].
//   g = (|q - p(t)|^2 - L^2) / 2L
class CartesianPendulum : public SmallEquations {
 public:
  double L = 1, mass = 2, gravity = 9.81, amplitude = 0, omega = 0;
  std::function<double(double)> push;  // a force along x, if any [N]

  CartesianPendulum() : SmallEquations(2, 1, 1, 2) {}
  bool constant_mass() const override { return true; }

  Eigen::Vector2d pivot(double t) const { return {amplitude * std::sin(omega * t), 0}; }
  Eigen::Vector2d pivot_rate(double t) const { return {amplitude * omega * std::cos(omega * t), 0}; }
  Eigen::Vector2d pivot_acceleration(double t) const {
    return {-amplitude * omega * omega * std::sin(omega * t), 0};
  }
  // At an angle from hanging down, with the angular velocity (pivot at rest).
  State at(double angle, double angular_velocity = 0) {
    const Eigen::Vector2d q(L * std::sin(angle), -L * std::cos(angle));
    const Eigen::Vector2d v = angular_velocity * L * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    return make_consistent(*this, 0, q, v + pivot_rate(0)).state;
  }
  double energy(const State& s) const { return mass * (s.v.squaredNorm() / 2 + gravity * s.q[1]); }
  double length_error(const State& s) const { return (s.q.head<2>() - pivot(s.t)).norm() - L; }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    const Eigen::Vector2d d = s.q.head<2>() - pivot(s.t);
    r = w * mass * s.a + s.lambda[0] / L * d;
    r[1] += mass * gravity;
    if (push) r[0] -= push(s.t);
  }
  void constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override {
    g[0] = ((q.head<2>() - pivot(t)).squaredNorm() - L * L) / (2 * L);
  }
  void constraint_gradient(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) override {
    G = (q.head<2>() - pivot(t)).transpose() / L;
  }
  void constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    rate[0] = (q.head<2>() - pivot(t)).dot(v.head<2>() - pivot_rate(t)) / L;
  }
  void constraint_rate_gradient(double t, const Eigen::VectorXd&, const Eigen::VectorXd& v,
                                Eigen::Ref<Eigen::MatrixXd> gradient) override {
    gradient = (v.head<2>() - pivot_rate(t)).transpose() / L;
  }
  void constraint_curvature(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                            Eigen::Ref<Eigen::VectorXd> curvature) override {
    curvature[0] =
        ((v.head<2>() - pivot_rate(t)).squaredNorm() - (q.head<2>() - pivot(t)).dot(pivot_acceleration(t))) /
        L;
  }

 protected:
  void derivatives(const State& s, double w) override {
    K_.diagonal().setConstant(s.lambda[0] / L);
    M_.diagonal().setConstant(w * mass);
  }
};

// Two masses, the first one driven: x1 = amplitude sin(omega t); the second hangs on it by a spring.
// With omega0 = sqrt(k / m2) and x2(0) = 0, x2'(0) = V0 everything is known.
class DrivenSpring : public SmallEquations {
 public:
  double m1 = 3, m2 = 0.5, stiffness = 20, amplitude = 0.3, omega = 2, V0 = 0.7;

  DrivenSpring() : SmallEquations(2, 1, 1, 1) {}
  bool constant_mass() const override { return true; }

  State start() {
    return make_consistent(*this, 0, Eigen::Vector2d(0, 0), Eigen::Vector2d(amplitude * omega, V0)).state;
  }
  State exact(double t) const {
    const double w0 = std::sqrt(stiffness / m2), s = std::sin(omega * t), c = std::cos(omega * t);
    const double P = amplitude * w0 * w0 / (w0 * w0 - omega * omega), Q = (V0 - P * omega) / w0;
    State e;
    e.t = t;
    e.q = Eigen::Vector2d(amplitude * s, P * s + Q * std::sin(w0 * t));
    e.v = Eigen::Vector2d(amplitude * omega * c, P * omega * c + Q * w0 * std::cos(w0 * t));
    e.a = Eigen::Vector2d(-amplitude * omega * omega * s,
                          -P * omega * omega * s - Q * w0 * w0 * std::sin(w0 * t));
    e.lambda = Eigen::VectorXd::Constant(1, -m1 * e.a[0] - stiffness * (e.q[0] - e.q[1]));
    return e;
  }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    const double f = stiffness * (s.q[0] - s.q[1]);
    r[0] = w * m1 * s.a[0] + f + s.lambda[0];
    r[1] = w * m2 * s.a[1] - f;
  }
  void constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override {
    g[0] = q[0] - amplitude * std::sin(omega * t);
  }
  void constraint_gradient(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::MatrixXd> G) override {
    G << 1, 0;
  }
  void constraint_rate(double t, const Eigen::VectorXd&, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    rate[0] = v[0] - amplitude * omega * std::cos(omega * t);
  }
  void constraint_rate_gradient(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                                Eigen::Ref<Eigen::MatrixXd> gradient) override {
    gradient.setZero();
  }
  void constraint_curvature(double t, const Eigen::VectorXd&, const Eigen::VectorXd&,
                            Eigen::Ref<Eigen::VectorXd> curvature) override {
    curvature[0] = amplitude * omega * omega * std::sin(omega * t);
  }

 protected:
  void derivatives(const State&, double w) override {
    K_ << stiffness, -stiffness, -stiffness, stiffness;
    M_.diagonal() << w * m1, w * m2;
  }
};

// m x'' + c x' + k x = F from `jump_at` on, nothing before.
class Oscillator : public SmallEquations {
 public:
  double mass = 1.5, damping = 0.3, stiffness = 40, force = 0, jump_at = 0;

  Oscillator() : SmallEquations(1, 0, 1, 1.5) {}
  bool constant_mass() const override { return true; }

  State at(double x, double v) {
    return make_consistent(*this, 0, Eigen::VectorXd::Constant(1, x), Eigen::VectorXd::Constant(1, v)).state;
  }
  // Position and velocity at t from x0, v0 at time 0.
  Eigen::Vector2d exact(double t, double x0, double v0) const {
    if (t <= jump_at || force == 0) return free(t, x0, v0);
    const Eigen::Vector2d there = free(jump_at, x0, v0);
    const double rest = force / stiffness;
    return free(t - jump_at, there[0] - rest, there[1]) + Eigen::Vector2d(rest, 0);
  }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    r[0] = w * mass * s.a[0] + damping * s.v[0] + stiffness * s.q[0] - (s.t >= jump_at ? force : 0);
  }

 protected:
  void derivatives(const State&, double w) override {
    K_(0, 0) = stiffness;
    C_(0, 0) = damping;
    M_(0, 0) = w * mass;
  }

 private:
  Eigen::Vector2d free(double t, double x0, double v0) const {
    const double d = damping / (2 * mass), wd = std::sqrt(stiffness / mass - d * d);
    const double B = (v0 + d * x0) / wd, c = std::cos(wd * t), s = std::sin(wd * t), e = std::exp(-d * t);
    return {e * (x0 * c + B * s), e * ((B * wd - d * x0) * c - (x0 * wd + d * B) * s)};
  }
};

// A mass on a soft spring to the ground, and a second one that hangs on it by a stiff spring (and damper): the exact
// motion from its two modes (undamped), which a start at rest in the stiff one leaves there.
class StiffPair : public SmallEquations {
 public:
  double m1 = 1, m2 = 0.3, soft = 4, stiff = 4e6, damping = 0;

  StiffPair() : SmallEquations(2, 0, 1, 1) {}
  bool constant_mass() const override { return true; }

  // Modes by columns, of unit mass, and their frequencies, the soft one first.
  void modes(Eigen::Matrix2d& shapes, Eigen::Vector2d& frequencies) const {
    Eigen::Matrix2d K;
    K << soft + stiff, -stiff, -stiff, stiff;
    const Eigen::Vector2d root(std::sqrt(m1), std::sqrt(m2));
    // of M^-1/2 K M^-1/2, by its trace and determinant, whose smaller root has no difference of large numbers
    const double trace = K(0, 0) / m1 + K(1, 1) / m2, det = soft * stiff / (m1 * m2);
    const double large = (trace + std::sqrt(trace * trace - 4 * det)) / 2;
    frequencies << std::sqrt(det / large), std::sqrt(large);
    for (int k = 0; k < 2; ++k) {
      // second row: stiff (x2 - x1) = w^2 m2 x2, with 1 - w^2 m2 / stiff as it is
      const double w2 = frequencies[k] * frequencies[k];
      Eigen::Vector2d x(1 - w2 * m2 / stiff, 1);
      shapes.col(k) = x / std::sqrt(m1 * x[0] * x[0] + m2 * x[1] * x[1]);
    }
  }
  // Amplitudes of both modes (metres of the second mass), at their largest at the start.
  State at(double slow, double fast) {
    return make_consistent(*this, 0, exact(0, slow, fast).q, Eigen::Vector2d(0, 0)).state;
  }
  State exact(double t, double slow, double fast) const {
    Eigen::Matrix2d shapes;
    Eigen::Vector2d w;
    modes(shapes, w);
    State s;
    s.t = t;
    const Eigen::Vector2d one = shapes.col(0) / shapes(1, 0) * slow;
    const Eigen::Vector2d two = shapes.col(1) / shapes(1, 1) * fast;
    s.q = one * std::cos(w[0] * t) + two * std::cos(w[1] * t);
    s.v = -one * w[0] * std::sin(w[0] * t) - two * w[1] * std::sin(w[1] * t);
    return s;
  }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    const double f = stiff * (s.q[0] - s.q[1]) + damping * (s.v[0] - s.v[1]);
    r[0] = w * m1 * s.a[0] + soft * s.q[0] + f;
    r[1] = w * m2 * s.a[1] - f;
  }

 protected:
  void derivatives(const State&, double w) override {
    K_ << soft + stiff, -stiff, -stiff, stiff;
    C_ << damping, -damping, -damping, damping;
    M_.diagonal() << w * m1, w * m2;
  }
};

// A carriage that is pushed to and fro by metres, X = A sin(omega t), and a mass on it whose spring gives by
// micrometres, u = U sin(omega t) with U = m omega^2 A / (k - m omega^2): all that deforms. It may ring, too, by
// ring cos(w t), w^2 = k (M + m) / (M m), with the carriage swinging against it.
class ElasticRider : public SmallEquations {
 public:
  double M = 2, m = 0.5, stiffness = 1e6, A = 0.7, omega = 3, ring = 0;

  ElasticRider() : SmallEquations(2, 0, 1, 1) {}
  bool constant_mass() const override { return true; }

  double give() const { return m * omega * omega * A / (stiffness - m * omega * omega); }
  double frequency() const { return std::sqrt(stiffness * (M + m) / (M * m)); }
  double deformation(double t) const {
    return give() * std::sin(omega * t) + ring * std::cos(frequency() * t);
  }
  State at(double) {
    return make_consistent(*this, 0, Eigen::Vector2d(-m / (M + m) * ring, ring),
                           Eigen::Vector2d(A * omega, give() * omega))
        .state;
  }
  std::vector<std::string> deforming_parts() const override { return {"spring"}; }
  void elastic_energies(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> energies) override {
    energies[0] = stiffness / 2 * q[1] * q[1];
  }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    const double force = -omega * omega * (M * A + m * (A + give())) * std::sin(omega * s.t);
    r[0] = w * ((M + m) * s.a[0] + m * s.a[1]) - force;
    r[1] = w * m * (s.a[0] + s.a[1]) + stiffness * s.q[1];
  }

 protected:
  void derivatives(const State&, double w) override {
    M_ << w * (M + m), w * m, w * m, w * m;
    K_(1, 1) = stiffness;
  }
};

// A pendulum in polar coordinates (angle, radius): the mass matrix diag(m r^2, m) depends on the position.
// Its radius is held by a spring of length L, or (constrained) follows the angle, r = L + pitch angle.
class PolarPendulum : public SmallEquations {
 public:
  double L = 1, mass = 2, gravity = 9.81, stiffness = 300, pitch = 0.2;

  explicit PolarPendulum(bool constrained) : SmallEquations(2, constrained ? 1 : 0, 1, 2) {}

  State at(double angle, double angular_velocity) {
    const bool on_spiral = m_ == 1;
    return make_consistent(*this, 0, Eigen::Vector2d(angle, L + (on_spiral ? pitch * angle : 0)),
                           Eigen::Vector2d(angular_velocity, on_spiral ? pitch * angular_velocity : 0))
        .state;
  }
  double energy(const State& s) const {
    const double r = s.q[1], stretch = m_ == 1 ? 0 : r - L;
    return mass / 2 * (r * r * s.v[0] * s.v[0] + s.v[1] * s.v[1]) - mass * gravity * r * std::cos(s.q[0]) +
           stiffness / 2 * stretch * stretch;
  }

  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> out) override {
    const double r = s.q[1], c = std::cos(s.q[0]), sn = std::sin(s.q[0]);
    out[0] = w * mass * r * r * s.a[0] + 2 * mass * r * s.v[1] * s.v[0] + mass * gravity * r * sn;
    out[1] = w * mass * s.a[1] - mass * r * s.v[0] * s.v[0] - mass * gravity * c;
    if (m_ == 1) {
      out[0] -= pitch * s.lambda[0];
      out[1] += s.lambda[0];
    } else {
      out[1] += stiffness * (r - L);
    }
  }
  void constraint(double, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override {
    if (m_ == 1) g[0] = q[1] - L - pitch * q[0];
  }
  void constraint_gradient(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::MatrixXd> G) override {
    if (m_ == 1) G << -pitch, 1;
  }
  void constraint_rate(double, const Eigen::VectorXd&, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    if (m_ == 1) rate[0] = v[1] - pitch * v[0];
  }
  void constraint_rate_gradient(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                                Eigen::Ref<Eigen::MatrixXd> gradient) override {
    gradient.setZero();
  }
  void constraint_curvature(double, const Eigen::VectorXd&, const Eigen::VectorXd&,
                            Eigen::Ref<Eigen::VectorXd> curvature) override {
    curvature.setZero();
  }

 protected:
  void derivatives(const State& s, double w) override {
    const double r = s.q[1], c = std::cos(s.q[0]), sn = std::sin(s.q[0]);
    M_.diagonal() << w * mass * r * r, w * mass;
    C_ << 2 * mass * r * s.v[1], 2 * mass * r * s.v[0], -2 * mass * r * s.v[0], 0;
    K_(0, 0) = mass * gravity * r * c;
    K_(0, 1) = 2 * w * mass * r * s.a[0] + 2 * mass * s.v[1] * s.v[0] + mass * gravity * sn;
    K_(1, 0) = mass * gravity * sn;
    K_(1, 1) = -mass * s.v[0] * s.v[0] + (m_ == 1 ? 0 : stiffness);
  }
};

// The state at `end` by the classical Runge-Kutta method on the accelerations: independent of what is tested.
inline State reference(Equations& equations, State state, double end, int steps) {
  AccelerationSolver solver(equations);
  const double t0 = state.t, h = (end - t0) / steps;
  State s = state;
  for (int k = 0; k < steps; ++k) {
    const auto slope = [&](double c, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
      s.t = t0 + (k + c) * h;
      s.q = state.q + c * h * dq;
      s.v = state.v + c * h * dv;
      solver.solve(s);
    };
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(state.q.size());
    slope(0, none, none);
    const Eigen::VectorXd q1 = s.v, v1 = s.a;
    slope(0.5, q1, v1);
    const Eigen::VectorXd q2 = s.v, v2 = s.a;
    slope(0.5, q2, v2);
    const Eigen::VectorXd q3 = s.v, v3 = s.a;
    slope(1, q3, v3);
    state.q += h / 6 * (q1 + 2 * q2 + 2 * q3 + s.v);
    state.v += h / 6 * (v1 + 2 * v2 + 2 * v3 + s.a);
  }
  state.t = end;
  solver.solve(state);
  return state;
}

// Exponent p of errors that fall like h^p, h halved from one entry to the next: of the last two.
inline double last_order(const std::vector<double>& errors) {
  return std::log2(errors[errors.size() - 2] / errors.back());
}

}  // namespace lissom::test
