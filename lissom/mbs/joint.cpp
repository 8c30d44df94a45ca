#include "lissom/mbs/joint.hpp"

#include <array>
#include <cmath>

#include "lissom/mbs/bilinear_form.hpp"

namespace lissom {

namespace {

using Linear = JointTraits::Linear;

// In the order of JointKind.
const std::array<JointTraits, 12> joint_kinds = {{
    {.name = "spherical", .rows = 3, .axes = 0, .pairs = 1},
    {.name = "revolute",
     .rows = 5,
     .turns = true,
     .motion = JointKind::Angle,
     .pairs = 2,
     .linear = Linear::OnGround},
    {.name = "cylindrical",
     .rows = 4,
     .turns = true,
     .slides = true,
     .motion = JointKind::Displacement,
     .linear = Linear::OnGround},
    {.name = "prismatic",
     .rows = 5,
     .slides = true,
     .motion = JointKind::Displacement,
     .linear = Linear::OnGround},
    {.name = "universal", .rows = 4, .linear = Linear::OnGround},
    {.name = "fixed", .rows = 6, .pairs = 4, .linear = Linear::OnGround},
    {.name = "planar", .rows = 3, .linear = Linear::OnGround},
    {.name = "point-on-line", .rows = 2, .axes = 1, .linear = Linear::FirstOnGround},
    {.name = "point-on-plane", .rows = 1, .axes = 1, .linear = Linear::FirstOnGround},
    {.name = "distance", .rows = 1, .axes = 0, .driven = true, .motion = JointKind::Distance},
    {.name = "angle",
     .rows = 1,
     .turns = true,
     .driven = true,
     .needs_motion = true,
     .motion = JointKind::Angle,
     .linear = Linear::OnGround},
    {.name = "displacement",
     .rows = 1,
     .axes = 1,
     .slides = true,
     .driven = true,
     .needs_motion = true,
     .motion = JointKind::Displacement,
     .linear = Linear::FirstOnGround},
}};

using JointRows = std::array<BilinearForm, 6>;

// Row builder: appends the forms of joint.hpp's table.
struct Builder {
  JointRows& rows;
  int count = 0;

  void coincident() {
    for (int i = 0; i < 3; ++i) rows[count++].set_offset(i);
  }
  void perpendicular(int i, int j) { rows[count++].add(first_axis(i), second_axis(j), 1); }
  void along(int i) { rows[count++].add_along(first_axis(i)); }
};

void distance_row(const Joint& joint, double t, int order, BilinearForm& row) {
  // (|P-p|^2 / L - L) / 2: the length and 1/L with their derivatives
  const double L = joint.motion(t);
  if (!(L > 0))
    fail(
        "joint '{}' prescribes the distance {} m at t = {} s, expected a positive one; use a spherical joint "
        "for none",
        joint.name, L, t);
  double length = L, inverse = 1 / L;
  if (order > 0) {
    const double L1 = joint.motion.rate(t);
    length = L1;
    inverse = -L1 / (L * L);
    if (order > 1) {
      const double L2 = joint.motion.second_rate(t);
      length = L2;
      inverse = (2 * L1 * L1 / L - L2) / (L * L);
    }
  }
  row.add(second_position, second_position, inverse / 2);
  row.add(first_position, first_position, inverse / 2);
  row.add(second_position, first_position, -inverse);
  row.add_constant(-length / 2);
}

void angle_row(const Joint& joint, double t, int order, BilinearForm& row) {
  // -sin f and cos f with their derivatives
  const double f = joint.motion(t);
  double s = -std::sin(f), c = std::cos(f);
  if (order > 0) {
    const double f1 = joint.motion.rate(t);
    double s1 = -c * f1, c1 = s * f1;
    if (order > 1) {
      const double f2 = joint.motion.second_rate(t);
      s1 = -c * f2 - s * f1 * f1;
      c1 = s * f2 - c * f1 * f1;
    }
    s = s1;
    c = c1;
  }
  row.add(first_axis(1), second_axis(1), s);
  row.add(first_axis(2), second_axis(1), c);
}

// The rows of a joint, or of order 1 and 2 their derivatives with respect to t (empty forms where nothing
// depends on it).
void build_rows(const Joint& joint, double t, int order, JointRows& rows) {
  const int count = joint.constraints();
  for (int i = 0; i < count; ++i) rows[i].clear();
  Builder builder{rows};
  switch (joint.kind) {
    case JointKind::Distance:
      return distance_row(joint, t, order, rows[0]);
    case JointKind::Angle:
      return angle_row(joint, t, order, rows[0]);
    case JointKind::Displacement: {
      if (order == 0) rows[0].add_along(first_axis(3));
      const double f = order == 0   ? joint.motion(t)
                       : order == 1 ? joint.motion.rate(t)
                                    : joint.motion.second_rate(t);
      return rows[0].add_constant(-f);
    }
    default:
      break;
  }
  if (order > 0) return;
  switch (joint.kind) {
    case JointKind::Spherical:
      builder.coincident();
      break;
    case JointKind::Revolute:
      builder.coincident();
      builder.perpendicular(3, 1);
      builder.perpendicular(3, 2);
      break;
    case JointKind::Cylindrical:
    case JointKind::Prismatic:
      builder.perpendicular(3, 1);
      builder.perpendicular(3, 2);
      builder.along(1);
      builder.along(2);
      if (joint.kind == JointKind::Prismatic) builder.perpendicular(1, 2);
      break;
    case JointKind::Universal:
      builder.coincident();
      builder.perpendicular(1, 2);
      break;
    case JointKind::Fixed:
      builder.coincident();
      builder.perpendicular(1, 2);
      builder.perpendicular(2, 3);
      builder.perpendicular(3, 1);
      break;
    case JointKind::Planar:
      builder.perpendicular(3, 1);
      builder.perpendicular(3, 2);
      builder.along(3);
      break;
    case JointKind::PointOnLine:
      builder.along(1);
      builder.along(2);
      break;
    case JointKind::PointOnPlane:
      builder.along(3);
      break;
    default:
      break;
  }
  LISSOM_ASSERT(builder.count == count);
}

Vector24d both(const Vector12d& first, const Vector12d& second) {
  Vector24d m;
  m << first, second;
  return m;
}

}  // namespace

const std::vector<std::pair<std::string, JointKind>>& joint_names() {
  static const auto names = [] {
    std::vector<std::pair<std::string, JointKind>> list;
    for (size_t i = 0; i < joint_kinds.size(); ++i)
      list.emplace_back(std::string(joint_kinds[i].name), static_cast<JointKind>(i));
    return list;
  }();
  return names;
}

const JointTraits& traits(JointKind kind) {
  return joint_kinds[static_cast<size_t>(kind)];
}

RowKind row_kind(JointKind kind, int row) {
  switch (kind) {
    case JointKind::Angle:
      return RowKind::Angle;
    case JointKind::Revolute:
    case JointKind::Universal:
    case JointKind::Fixed:
      return row < 3 ? RowKind::Position : RowKind::Angle;
    case JointKind::Cylindrical:
    case JointKind::Prismatic:
      return row == 2 || row == 3 ? RowKind::Position : RowKind::Angle;
    case JointKind::Planar:
      return row == 2 ? RowKind::Position : RowKind::Angle;
    default:
      return RowKind::Position;
  }
}

void joint_constraint(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                      Eigen::Ref<Eigen::VectorXd> g) {
  JointRows rows;
  build_rows(joint, t, 0, rows);
  const Vector24d m = both(first, second);
  for (int i = 0; i < joint.constraints(); ++i) g[i] = rows[i].value(m);
}

void joint_gradient(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 12>> first_gradient,
                    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 12>> second_gradient) {
  JointRows rows;
  build_rows(joint, t, 0, rows);
  const Vector24d m = both(first, second);
  for (int i = 0; i < joint.constraints(); ++i) {
    Vector24d gradient = Vector24d::Zero();
    rows[i].add_gradient(m, 1, gradient);
    first_gradient.row(i) = gradient.head<12>().transpose();
    second_gradient.row(i) = gradient.tail<12>().transpose();
  }
}

JointForms::JointForms(const Joint& joint, double t) : count_(joint.constraints()) {
  build_rows(joint, t, 0, rows_);
}

void JointForms::constraint(const Vector12d& first, const Vector12d& second,
                            Eigen::Ref<Eigen::VectorXd> g) const {
  const Vector24d m = both(first, second);
  for (int i = 0; i < count_; ++i) g[i] = rows_[i].value(m);
}

void JointForms::add_forces(const Vector12d& first, const Vector12d& second,
                            const Eigen::Ref<const Eigen::VectorXd>& lambda, Vector12d& first_force,
                            Vector12d& second_force) const {
  const Vector24d m = both(first, second);
  Vector24d force = Vector24d::Zero();
  for (int i = 0; i < count_; ++i)
    if (lambda[i] != 0) rows_[i].add_gradient(m, lambda[i], force);
  first_force += force.head<12>();
  second_force += force.tail<12>();
}

void joint_hessian(const Joint& joint, double t, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                   const Vector12d&, const Vector12d&, Eigen::Ref<Eigen::Matrix<double, 24, 24>> hessian) {
  // the forms are quadratic: where the markers are does not matter
  JointRows rows;
  build_rows(joint, t, 0, rows);
  hessian.setZero();
  for (int i = 0; i < joint.constraints(); ++i) rows[i].add_hessian(lambda[i], hessian);
}

void joint_time_derivatives(const Joint& joint, double t, const Vector12d& first, const Vector12d& second,
                            Eigen::Ref<Eigen::VectorXd> rate, Eigen::Ref<Eigen::VectorXd> second_rate,
                            Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 24>> gradient_rate) {
  const int count = joint.constraints();
  if (!is_driven(joint.kind) || joint.motion.is_constant()) {
    rate.head(count).setZero();
    second_rate.head(count).setZero();
    gradient_rate.topRows(count).setZero();
    return;
  }
  const Vector24d m = both(first, second);
  JointRows rows;
  build_rows(joint, t, 1, rows);
  for (int i = 0; i < count; ++i) {
    rate[i] = rows[i].value(m);
    Vector24d gradient = Vector24d::Zero();
    rows[i].add_gradient(m, 1, gradient);
    gradient_rate.row(i) = gradient.transpose();
  }
  build_rows(joint, t, 2, rows);
  for (int i = 0; i < count; ++i) second_rate[i] = rows[i].value(m);
}

}  // namespace lissom
