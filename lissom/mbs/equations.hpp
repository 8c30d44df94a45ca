// Equations of motion as the integrators see them: differential-algebraic, of second order, in coordinates
// of a vector space,
//
//   M(q) q'' + h(q, q', t) + G(q, t)' lambda = 0,     g(q, t) = 0,     G = dg/dq,
//
// h holding the quadratic velocity terms, elastic and damping forces, less the applied ones. Without
// constraints it is an ordinary differential equation. Constraints are independent of each other (a System
// leaves redundant ones out).
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/linalg/newton_matrix.hpp"

namespace lissom {

// Angles beyond half a turn: what positions alone do not say. Springs that wind up (load.hpp) know their
// angle but for whole turns, so that a run remembers where each of these angles was at the last accepted
// step, and how fast it went. At another time near t the turn is the one nearest to
//
//   angle + (rate + rate there) / 2 (time there - t),
//
// so that steps of more than half a turn count rightly as long as the speed changes little enough within
// them. Nothing in it changes while a step is solved: forces stay smooth functions of q and v.
struct Turns {
  double t = 0;                 // [s] when they were counted
  Eigen::VectorXd angle, rate;  // [rad, rad/s]; empty: not counted yet, within half a turn of rest
};

// q, v = q', a = q'' (n each) and the multipliers lambda (m) at time t, with the turns of the last accepted
// step.
struct State {
  double t = 0;
  Eigen::VectorXd q, v, a, lambda;
  Turns turns = {};
};

// Coefficients of a Newton matrix
//   [ q dr/dq + v dr/dv + a dr/da,  multiplier G' ;  constraint G,  0 ].
struct JacobianWeights {
  double q = 0, v = 0, a = 0;
  double multiplier = 1, constraint = 1;
};

class Equations {
 public:
  virtual ~Equations() = default;

  virtual int coordinates() const = 0;  // n
  virtual int constraints() const = 0;  // m
  bool is_ode() const { return constraints() == 0; }
  // Whether M does not depend on q.
  virtual bool constant_mass() const { return false; }
  // Whether the Newton matrix is symmetric, whatever its weights, and there are no constraints in it.
  virtual bool symmetric() const { return false; }
  NewtonMatrix::Symmetry symmetry() const {
    return symmetric() ? NewtonMatrix::Symmetry::Symmetric : NewtonMatrix::Symmetry::None;
  }

  // r (n) = inertia_weight M(q) a + h(q, v, t) + G' lambda [N and what belongs to the coordinates].
  virtual void residual(const State& state, double inertia_weight, Eigen::Ref<Eigen::VectorXd> r) = 0;
  // g (m).
  virtual void constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) = 0;

  // Blocks of the (n + m) by (n + m) Newton matrix, and the matrix itself: exact, with all second derivatives
  // (of G' lambda and of M a as well). Adds nothing to what a previous call left: the matrix is set.
  virtual std::vector<MatrixBlock> blocks() const = 0;
  virtual void jacobian(const State& state, double inertia_weight, const JacobianWeights& weights,
                        NewtonMatrix& matrix) = 0;

  // G (m by n).
  virtual void constraint_gradient(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) = 0;
  // d g / d t = G v + dg/dt (m), and its derivative with respect to q (m by n).
  virtual void constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                               Eigen::Ref<Eigen::VectorXd> rate) = 0;
  virtual void constraint_rate_gradient(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                        Eigen::Ref<Eigen::MatrixXd> gradient) = 0;
  // d2 g / d t2 - G a (m): what the accelerations must cancel.
  virtual void constraint_curvature(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                    Eigen::Ref<Eigen::VectorXd> curvature) = 0;

  // How far a unit of each coordinate moves the points of its body, at most [m]: makes positions, rotation
  // parameters and modal amplitudes comparable in tolerances. And the size of it all [m].
  virtual const Eigen::VectorXd& displacement_scale() const = 0;
  virtual double length() const = 0;
  // A typical diagonal entry of M once coordinates are measured in metres [kg]: scales the multipliers.
  virtual double typical_mass() const = 0;

  // Counts turns up to this state: state.turns becomes that of its own t, q and v. Called with accepted
  // states only, one after the other.
  virtual void count_turns(State&) {}

  // Times at which loads or prescribed motions have a kink or a jump: steps end there.
  virtual std::vector<double> break_times() const { return {}; }

  // What a row belongs to, for messages: "body 'rod', rotation", "joint 'hinge'". Rows 0..n-1 are equations
  // of motion, n..n+m-1 constraints.
  virtual std::string row_name(int row) const = 0;
  // Whether a constraint's row is a joint's, and not what a body asks of its own coordinates.
  virtual bool is_joint_row(int row) const { return row >= coordinates(); }

  // Those of break_times() that a step must not pass over where loads may be off by `tolerance` of their largest
  // value.
  virtual std::vector<double> breaks_above(double tolerance) const {
    (void)tolerance;
    return break_times();
  }

  // What deforms, by name (k), and the elastic energy of each [J]: what errors of deformations are measured by.
  virtual std::vector<std::string> deforming_parts() const { return {}; }
  virtual void elastic_energies(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> energies) {
    (void)q, (void)energies;
  }
};

}  // namespace lissom
