// Internal forces of a SLAP model from its polynomial form (SlapPolynomial in slap_model.hpp). Rows are
// quadratic forms of e = (1, eta), y_r = e' S_r e, whatever the number of bodies; with T_r = S_r e and U_r =
// S_r e' (e' = (0, v) the rate of e)
//
//   V = |y|^2 / 2,    g = 2 sum_r y_r T_r,    K = sum_r 4 T_r T_r' + 2 y_r S_r,
//   damping, rate y' = 2 e' . T:   power |y'|^2,   g = 2 sum_r y'_r T_r,
//   dg/dv = sum_r 4 T_r T_r',      dg/deta = sum_r 4 T_r U_r' + 2 y'_r S_r
//
// without entry 0 of vectors and row and column 0 of matrices. All exact. Eight rows stand in the lanes of a
// vector. Nothing is allocated after a Room was made.
#pragma once

#include <Eigen/Core>

#include "lissom/linalg/row_products.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

class PolynomialKernel {
 public:
  using Vector = Eigen::Ref<const Eigen::VectorXd>;

  // Of a form without inconsistency, for m unknowns.
  PolynomialKernel(const SlapPolynomial& form, int m);

  class Room;
  bool damped() const { return damping_.blocks > 0; }

  // Rows and forces at eta, and with damping at its rate v (m). Nothing is done where `room` was filled for
  // the same numbers.
  void update(const Vector& eta, const Vector& v, Room& room) const;

  // All of these at what update() was called with last.
  double energy(const Room& room) const;         // V [J]
  double damping_power(const Room& room) const;  // [W]
  void add_force(const Room& room, Eigen::Ref<Eigen::VectorXd> g) const;
  // J (m by m) += cq dg/deta + cv dg/dv.
  void add_tangent(double cq, double cv, Room& room, Eigen::Ref<Eigen::MatrixXd> J) const;

 private:
  // Eight rows a block; number l of entry (q, p) of S in block b is S[((b n + q) n + p) 8 + l], n = m + 1.
  struct Rows {
    Rows() = default;
    Rows(const Eigen::MatrixXd& packed, int m);
    Eigen::Index n = 0, blocks = 0;
    AlignedArray S;
  };
  // T (n lanes a block, and three more), y (a lane a block).
  struct RowsRoom {
    AlignedArray T, y;
    double squares = 0;
  };

 public:
  class Room {
   public:
    explicit Room(const PolynomialKernel& kernel);

   private:
    friend class PolynomialKernel;
    bool filled_ = false;
    Eigen::VectorXd eta_, v_;
    AlignedArray e_, rate_;       // n
    AlignedArray g_, damping_g_;  // n and up to three more
    AlignedArray sums_;           // n lanes and three more
    RowsRoom elastic_, damping_;
    AlignedArray W_;  // of the damping's tangent, as T
  };

 private:
  int m_;
  Rows elastic_, damping_;
};

}  // namespace lissom
