// Joints: constraints between two markers, body to body or body to ground, as polynomials of the markers'
// positions and axes (marker.hpp).
//
// Notation: p, d_k of the first marker, P, D_k of the second; axis 3 (z) is the joint's axis.
//   spherical      P - p = 0                                                    3
//   revolute       spherical, d_3.D_1 = d_3.D_2 = 0                             5
//   cylindrical    d_3.D_1 = d_3.D_2 = 0, d_1.(P-p) = d_2.(P-p) = 0             4
//   prismatic      cylindrical, d_1.D_2 = 0                                     5
//   universal      spherical, d_1.D_2 = 0 (the cross: d_1 on the first, D_2 on the second)  4
//   fixed          spherical, d_1.D_2 = d_2.D_3 = d_3.D_1 = 0                   6
//   planar         d_3.D_1 = d_3.D_2 = 0, d_3.(P-p) = 0                         3
//   point-on-line  d_1.(P-p) = d_2.(P-p) = 0                                    2
//   point-on-plane d_3.(P-p) = 0                                                1
//   distance       |P-p|^2 - L(t)^2 = 0, over 2 L                               1
//   angle          D_1.(-sin f(t) d_1 + cos f(t) d_2) = 0: prescribed rotation about axis 3   1
//   displacement   d_3.(P-p) - f(t) = 0: prescribed distance along axis 3       1
// The last two are the motion of a revolute, cylindrical or prismatic joint, or stand alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lissom/core/time_function.hpp"
#include "lissom/mbs/marker.hpp"

namespace lissom {

enum class JointKind : std::uint8_t {
  Spherical,
  Revolute,
  Cylindrical,
  Prismatic,
  Universal,
  Fixed,
  Planar,
  PointOnLine,
  PointOnPlane,
  Distance,
  Angle,
  Displacement
};
const std::vector<std::pair<std::string, JointKind>>& joint_names();
std::string_view name_of(JointKind kind);
int constraints_of(JointKind kind);
bool needs_rotation(JointKind kind, int marker);  // whether it uses the axes of marker 0 or 1
bool is_driven(JointKind kind);                   // by f(t) or L(t)
// What a row of a joint measures: a distance [m] or the sine of an angle.
enum class RowKind : std::uint8_t { Position, Angle };
RowKind row_kind(JointKind kind, int row);

// A marker of the system: its body (-1: ground) and its number there.
struct MarkerRef {
  int body = -1;
  int marker = -1;
};

struct Joint {
  std::string name;
  JointKind kind = JointKind::Spherical;
  MarkerRef first, second;
  TimeFunction motion;  // f(t) of Angle [rad] and Displacement [m], L(t) of Distance [m]
  SourcePos where;

  int constraints() const { return constraints_of(kind); }
};

// g (k) of the joint, from the two markers.
void joint_constraint(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                      Eigen::Ref<Eigen::VectorXd> g);
// dg/dm of both markers, k by 12 each; overwritten.
void joint_gradient(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 12>> first_gradient,
                    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 12>> second_gradient);
// sum_i lambda_i d2g_i/dm2, 24 by 24 over (first, second); overwritten.
void joint_hessian(const Joint& joint, double t, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                   const Vector12d& first, const Vector12d& second,
                   Eigen::Ref<Eigen::Matrix<double, 24, 24>> hessian);
// Partial derivatives with respect to t: dg/dt (k), d2g/dt2 (k), and d2g/dm dt, k by 24.
void joint_time_derivatives(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                            Eigen::Ref<Eigen::VectorXd> rate, Eigen::Ref<Eigen::VectorXd> second_rate,
                            Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 24>> gradient_rate);

}  // namespace lissom
