// A place on an ANCF beam: the position r of a node and, from its slope s = r', axes that turn with it. Both
// are affine in the coordinates x of a body (a beam's own, or those of a reduced model):
//   r = r0 + R x,   s = s0 + S x     (3 by k each; z is zero of planar beams).
// The axes: the tangent is s/|s|. Planar beams turn about z. Of a spatial beam, which knows no twist, the
// axes are turned by the smallest rotation that takes the tangent at rest to the present one (not defined,
// and an Error, where the two are opposite).
#pragma once

#include <Eigen/Core>

#include "lissom/mbs/marker.hpp"

namespace lissom {

struct AncfMarker {
  int dimension = 2;
  Eigen::Vector3d r0 = Eigen::Vector3d::Zero(), s0 = Eigen::Vector3d::UnitX();
  Eigen::Matrix3Xd R, S;                                    // 3 by k
  Eigen::Vector3d rest_tangent = Eigen::Vector3d::UnitX();  // unit
  Eigen::Matrix3d rest_axes = Eigen::Matrix3d::Identity();  // of the marker while the tangent is that of rest
  bool rotates = true;
};

// x, x' (k). Fills m, rate, J (12 by k) and, if `gradients`, V.
void evaluate_ancf_marker(const AncfMarker& marker, const Eigen::Ref<const Eigen::VectorXd>& x,
                          const Eigen::Ref<const Eigen::VectorXd>& rate, bool gradients,
                          MarkerKinematics& out);
// H (k by k) += factor sum_i w_i d2m_i/dx2.
void add_ancf_marker_hessian(const AncfMarker& marker, const Eigen::Ref<const Eigen::VectorXd>& x,
                             const Vector12d& w, double factor, Eigen::Ref<Eigen::MatrixXd> H);

}  // namespace lissom
