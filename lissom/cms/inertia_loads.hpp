// What a body's own inertia, and gravity, load it with in the frame that moves with it.
//
// Notation: X the place of a node relative to the centre of mass, a the acceleration of the frame there (less
// gravity, which acts as -a does), w and w' its angular velocity and acceleration. The force on the nodes is
//   f = -m (a + w' x X + w x (w x X)),     w x (w x X) = (w w' - |w|^2 1) X,
// so that every such force is a combination of twelve: three accelerations, three angular accelerations, and
// six products of angular velocities, the fields S X with S symmetric (the unit matrices e_i e_j' + e_j e_i',
// of which w w' - |w|^2 1 is a combination). Deformation adds to these forces in second order only.
#pragma once

#include <Eigen/Core>

#include <limits>

#include "lissom/fe/fe_model.hpp"

namespace lissom {

inline constexpr int inertia_load_count = 12;

// Forces on the degrees of freedom (n by 12) for unit accelerations along x, y, z [N per m/s2], unit angular
// accelerations about x, y, z through the centre of mass, and unit entries xx, yy, zz, xy, yz, zx of S
// [N s2]. From the mass of the nodes where it is known, so that a spider's face carries its own load;
// otherwise M times the fields at the degrees of freedom. No columns where nodes are not known.
Eigen::MatrixXd inertia_loads(const FeModel& model);

// How well a basis answers the twelve loads statically, in the energy norm: with u the static answer of the
// finite-element model with the interfaces held (which leaves the answer for any other support exact where
// this one is, because constraint modes are kept), u_r that of the basis,
//   error^2 = max over all combinations of the loads of |u - u_r|_K^2 / |u|_K^2 <= 1.
// |u|_K^2 is twice the strain energy, that is, the integral of stress times strain: the error is that of
// stress in the mean square over the body. Galerkin's orthogonality makes it what is left out of the energy.
struct InertiaAnswers {
  double without = std::numeric_limits<double>::quiet_NaN();  // the error before answers joined the basis
  double error = std::numeric_limits<double>::quiet_NaN();    // of the basis as it is; NaN: not known
  int vectors = 0;                                            // answers that joined it
};

// The combinations (columns, 12 by k) of loads whose relative energy left out is above `tolerance`^2, and the
// error before (`largest`) and if they join the basis (`left`). `energy` and `left_out` (12 by 12) are the
// Gram matrices in K of the answers and of what is left out of them. Combinations that cost no energy, to
// round-off of the scaled Gram matrix, are no loads of this body.
struct InertiaDirections {
  Eigen::MatrixXd combinations;
  double largest = 0, left = 0;
};
InertiaDirections directions_left_out(const Eigen::Ref<const Eigen::MatrixXd>& energy,
                                      const Eigen::Ref<const Eigen::MatrixXd>& left_out, double tolerance);

}  // namespace lissom
