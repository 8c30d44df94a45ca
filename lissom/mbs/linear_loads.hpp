// Loads on a mechanism of few coordinates, one body, whose markers are linear in them: m = L e, e = (1, q),
// with L (12 by n + 1) the same for all states (Body::linear_marker; the ground's is constant). Forces on
// the coordinates are then written down once and for all, and no marker is evaluated while the system
// moves. With x = P - p = X e between two places, X' without its first column X_q, and load.hpp for what
// the loads are:
//
//   force in space      f(t) times a constant vector
//   force that follows, torque in space
//                       f(t) times a constant matrix times e; all of them together are one matrix at a time t
//   spring, line force  l = |x|, g = dl/dq = X_q' x / l, d2l/dq2 = (X_q' X_q - g g') / l
//   torsion spring      angle = atan2(e' S e, e' C e), S = sym D_1' d_2, C = sym D_1' d_1 of rows of L
//
// What these forms do not cover, torques that follow and bushings, is left to evaluate_load().
#pragma once

#include <Eigen/Core>

#include <vector>

#include "lissom/linalg/row_products.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/mbs/load.hpp"

namespace lissom {

class LinearLoads {
 public:
  explicit LinearLoads(int coordinates) : n_(coordinates), width_((coordinates + 4) / 4 * 4) {}

  // Of a load that these forms cover; `input` and `turn` are its places in the system's inputs and in
  // State::turns, or -1. The load has to outlive this. False of others, which are not added.
  bool add(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second, int input, int turn);
  // After the last one.
  void finish();
  bool empty() const { return !has_linear_ && lines_.empty() && springs_.empty(); }

  // All functions of time at t, with the inputs u.
  void set_time(double t, const Eigen::VectorXd& u);

  // At the time that was set; `turns` of the state as SystemEquations takes them, null where none are
  // counted. Neither allocates.
  //   add_residual: r (n) -= forces; where J (n by n, column after column) is not null
  //   J -= cq dforces/dq + cv dforces/dv, exact. Either of the two may be null.
  void add(const State& state, const Turns* turns, double* r, double cq, double cv, double* J);
  // What springs hold, what loads bring and dampers take [J, W].
  struct Power {
    double potential = 0, applied = 0, damping = 0;
  };
  Power power(const State& state, const Turns* turns);
  // Angles of those that count turns, at their places in `counted`.
  void count(const State& state, const Turns* turns, Turns& counted);

 private:
  // A function of time and the input that multiplies it.
  struct Drive {
    const TimeFunction* f = nullptr;
    int input = -1;
    double value(double t, const Eigen::VectorXd& u) const { return (*f)(t) * (input >= 0 ? u[input] : 1); }
  };
  // Spring or line force.
  struct Line {
    const Load* load = nullptr;
    Matrix12Xd first, second;  // for messages
    AlignedArray X, N;         // three rows of X (`width` each); X' X, n + 1 columns of `width`
    double k = 0, c = 0, length = 0;
    bool direct = false;  // force linear in x, whatever its direction
    Drive applied;        // without `f` the number beside it
    double tension = 0;   // of it
  };
  struct Torsion {
    const Load* load = nullptr;
    Matrix12Xd first, second;
    AlignedArray S, C;  // n + 1 columns of `width`
    int turn = -1;
    Drive applied;
    double torque = 0;
  };
  // Length or angle at a state: value, rate, gradient g.
  struct LineState {
    Eigen::Vector3d x, direction, rates;
    double length = 0, rate = 0;
  };
  struct AngleState {
    double by_s = 0, by_c = 0, by_ss = 0, by_sc = 0;
    CountedAngle angle;
  };

  void add_linear(const Drive& drive, const Eigen::VectorXd& vector);
  void add_linear(const Drive& drive, const Eigen::MatrixXd& matrix);
  void set_state(const State& state);
  AlignedArray padded(const Eigen::MatrixXd& A) const;
  LineState evaluate(const Line& line, const State& state);
  AngleState evaluate(const Torsion& spring, const State& state, const Turns* turns);
  [[noreturn]] void refuse(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second,
                           const State& state) const;

  int n_ = 0;
  // forces that are linear in e: those that do not change, and each that does with its function
  bool has_linear_ = false, has_matrix_ = false;
  Eigen::VectorXd constant_, force_;          // n; at this time
  Eigen::MatrixXd constant_matrix_, matrix_;  // n by n + 1
  std::vector<std::pair<Drive, Eigen::VectorXd>> vectors_;
  std::vector<std::pair<Drive, Eigen::MatrixXd>> matrices_;
  std::vector<Line> lines_;
  std::vector<Torsion> springs_;
  // Numbers stand by the entries of e, `width` (a multiple of four) from one row or column to the next,
  // with zeros beyond n + 1, so that loops go by fours. Room: e and its rate; gradients and what belongs to
  // them; the tangent.
  Eigen::Index width_ = 0;
  AlignedArray e_, rate_, g_, h_, s_, c_, ss_, cc_, sums_, tangent_;
};

}  // namespace lissom
