// The elastic and damping forces of ANCF beams projected onto a basis, E = E_ref + Psi xi: with Z = [E_ref
// Psi] and x = (1, xi), the force is Psi' f(Z x), in one of four ways (pod_body.hpp; errata of 004).
//
// Notation: r' = P_g x at Gauss point g, P_g = s'(g) Z of the element's nodes (D by r + 1), r'' = B_g x;
// A_g = P_g' P_g; c_g = EA l w_g.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <vector>

#include "lissom/core/progress.hpp"
#include "lissom/mbs/ancf_body.hpp"

namespace lissom {

// Elements of a mechanism among its nodal coordinates, and the basis.
struct PodElements {
  int dimension = 2;  // D
  AncfLaw law;
  std::vector<AncfElementPlace> elements;  // `first` and `second` in the E of the whole mechanism
  Eigen::VectorXd E_ref;                   // N
  Eigen::MatrixXd Psi;                     // N by r

  int order() const { return static_cast<int>(Psi.cols()); }
  bool damped() const;
};

class PodForceModel {
 public:
  using Vector = Eigen::Ref<const Eigen::VectorXd>;
  // Room for intermediate results, one per thread. It knows the last state, so that force, tangent and energy
  // of one state share what they have in common.
  struct Room {
    virtual ~Room() = default;
  };
  virtual ~PodForceModel() = default;

  virtual std::unique_ptr<Room> room() const = 0;
  // f (r) += elastic and damping force at xi and v = dxi/dt. None of these allocates.
  virtual void add_force(const Vector& xi, const Vector& v, Room& room,
                         Eigen::Ref<Eigen::VectorXd> f) const = 0;
  // K (r by r) = cq df/dxi + cv df/dv. Overwrites K.
  virtual void tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
                       Eigen::Ref<Eigen::MatrixXd> K) const = 0;
  virtual double energy(const Vector& xi, Room& room) const = 0;                          // [J]
  virtual double damping_power(const Vector& xi, const Vector& v, Room& room) const = 0;  // [W]
  // Whether df/dxi and df/dv are symmetric.
  virtual bool symmetric() const = 0;
  // Multiply-adds of force and tangent, without damping.
  virtual double cost() const = 0;
  virtual int points() const = 0;  // at which elements are evaluated; 0 of the tensor
};

// What is known before anything is built.
double tensor_cost(int r, bool damped);
double ecsw_cost(int r, int dimension, int points, const AncfLaw& law);
double direct_cost(int r, int dimension, int elements, const AncfLaw& law);
// Quadrature points that ecsw may choose from.
int all_points(const PodElements& model);

// The exact cubic polynomial. Throws InputError where the law is not polynomial.
std::unique_ptr<PodForceModel> make_tensor_force(const PodElements& model);

// Energy-conserving sampling and weighting: the quadrature points that reproduce the projected forces at the
// training states xi (r by k, in the order of time) to `tolerance`, relative, each state scaled by its own
// force. Where beams are damped, the same weights reproduce the damping forces at these states, moving from
// each to the next. `reached` says whether both errors, over all states, are within the tolerance.
// Of the second-derivative law bending is exact and only axial points are sampled.
struct EcswTraining {
  double error = 0;          // of elastic forces; of axial and bending ones the larger
  double damping_error = 0;  // of damping forces; 0 without
  bool reached = false;
  int iterations = 0;
  double total_weight = 0;  // of the chosen points over that of all: near one
};
// The weights see as many states as `most_entries` numbers hold, 20 at least; all of them judge, and those
// that come out worst are added.
std::unique_ptr<PodForceModel> make_ecsw_force(const PodElements& model, const Eigen::MatrixXd& xi,
                                               double tolerance, EcswTraining& training,
                                               double most_entries = 6e6);

// The discrete empirical interpolation method: the nodal forces (axial ones where bending is linear) in the
// span of those at the training states, met at `count` of their entries. Throws InputError: damping, which
// it does not know; more points than the training states have independent forces.
std::unique_ptr<PodForceModel> make_deim_force(const PodElements& model, const Eigen::MatrixXd& xi,
                                               int count);

// All elements.
std::unique_ptr<PodForceModel> make_direct_force(const PodElements& model);

}  // namespace lissom
