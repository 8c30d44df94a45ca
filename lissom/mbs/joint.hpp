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
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lissom/core/time_function.hpp"
#include "lissom/mbs/bilinear_form.hpp"
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
// What is known of a kind, in one table (joint.cpp). A kind that is not here has no other place to be told in.
struct JointTraits {
  std::string_view name;
  int rows = 0;
  int axes = 2;                        // of how many markers it uses the axes: of none, of the first, of both
  bool turns = false, slides = false;  // about, along axis 3: what is left free, or prescribed
  // Has f(t) or L(t) in its rows, and where its value is fixed by nothing but a motion.
  bool driven = false, needs_motion = false;
  // What a motion of such a joint prescribes, as a joint of its own or itself; none where it cannot be driven.
  std::optional<JointKind> motion;
  // How many pairs of points that stay together stand for all of it: one, two on axis 3, four; 0: none do.
  int pairs = 0;
  // Where all combinations of positions that satisfy it satisfy it, too: with a side on the ground, with the
  // first one there, never. A row measured along directions that move is not linear in positions.
  enum class Linear : std::uint8_t { Never, OnGround, FirstOnGround } linear = Linear::Never;
};
const JointTraits& traits(JointKind kind);
const std::vector<std::pair<std::string, JointKind>>& joint_names();
inline std::string_view name_of(JointKind kind) {
  return traits(kind).name;
}
inline int constraints_of(JointKind kind) {
  return traits(kind).rows;
}
inline bool is_driven(JointKind kind) {
  return traits(kind).driven;
}
// Whether it uses the axes of marker 0 or 1.
inline bool needs_rotation(JointKind kind, int marker) {
  return marker < traits(kind).axes;
}
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
// The rows of a joint at a time as forms of its markers, for those who evaluate them again and again: the constraints,
// as above, and the forces of multipliers lambda (k), dg/dm' lambda, which are added.
class JointForms {
 public:
  JointForms() = default;
  JointForms(const Joint& joint, double t);
  void constraint(const Vector12d& first, const Vector12d& second, Eigen::Ref<Eigen::VectorXd> g) const;
  void add_forces(const Vector12d& first, const Vector12d& second,
                  const Eigen::Ref<const Eigen::VectorXd>& lambda, Vector12d& first_force,
                  Vector12d& second_force) const;

 private:
  std::array<BilinearForm, 6> rows_;
  int count_ = 0;
};
// Partial derivatives with respect to t: dg/dt (k), d2g/dt2 (k), and d2g/dm dt, k by 24.
void joint_time_derivatives(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                            Eigen::Ref<Eigen::VectorXd> rate, Eigen::Ref<Eigen::VectorXd> second_rate,
                            Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 24>> gradient_rate);

}  // namespace lissom
