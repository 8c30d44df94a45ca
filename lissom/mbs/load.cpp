#include "lissom/mbs/load.hpp"

#include <Eigen/Geometry>

#include <array>
#include <cmath>

#include "lissom/mbs/bilinear_form.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

const std::array<const char*, 6> kind_names = {"force",  "torque",         "line-force",
                                               "spring", "torsion-spring", "bushing"};

Matrix3d cross(const Vector3d& v) {
  return (Matrix3d() << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0).finished();
}

// Both markers and their rates, and what is asked for.
struct Markers {
  Vector24d m, rate;
  double factor;  // of the applied force: the load's input
  bool derivatives;

  auto axis(int k) const { return m.segment<3>(3 * k); }  // of the first, k = 1..3
};

// f of Force and Torque in space, and their components along the axes where it follows.
Vector3d components(const Load& load, double t, double factor) {
  return factor * Vector3d(load.components[0](t), load.components[1](t), load.components[2](t));
}

Vector3d in_space(const Load& load, const Vector3d& f, const Markers& at) {
  if (!load.following) return f;
  return f[0] * at.axis(1) + f[1] * at.axis(2) + f[2] * at.axis(3);
}

void evaluate_force(const Load& load, double t, const Markers& at, LoadEvaluation& out) {
  const Vector3d f = components(load, t, at.factor), F = in_space(load, f, at);
  out.force.segment<3>(0) = F;
  if (load.has_second) out.force.segment<3>(12) = -F;
  out.magnitude = F.norm();
  out.applied_power = out.force.dot(at.rate);
  if (!at.derivatives || !load.following) return;
  for (int k = 0; k < 3; ++k) {
    out.by_position.block<3, 3>(0, 3 + 3 * k).diagonal().setConstant(f[k]);
    if (load.has_second) out.by_position.block<3, 3>(12, 3 + 3 * k).diagonal().setConstant(-f[k]);
  }
}

void evaluate_torque(const Load& load, double t, const Markers& at, LoadEvaluation& out) {
  const Vector3d f = components(load, t, at.factor), T = in_space(load, f, at);
  // T x d / 2 on every axis d, the opposite on those of the second
  for (int marker = 0; marker < (load.has_second ? 2 : 1); ++marker) {
    const double factor = marker == 0 ? 0.5 : -0.5;
    for (int k = 1; k <= 3; ++k) {
      const int row = 12 * marker + 3 * k;
      const Vector3d d = at.m.segment<3>(row);
      out.force.segment<3>(row) = factor * T.cross(d);
      if (!at.derivatives) continue;
      out.by_position.block<3, 3>(row, row) += factor * cross(T);
      if (load.following)
        for (int j = 1; j <= 3; ++j) out.by_position.block<3, 3>(row, 3 * j) -= factor * f[j - 1] * cross(d);
    }
  }
  out.magnitude = T.norm();
  out.applied_power = out.force.dot(at.rate);
}

// A tension S(x, w) = T e between the markers, x = P - p, w its rate: pulls them together. The derivatives
// go to the four blocks of positions.
void add_tension(const Vector3d& S, const Matrix3d& by_x, const Matrix3d& by_w, bool derivatives,
                 LoadEvaluation& out) {
  out.force.segment<3>(0) += S;
  out.force.segment<3>(12) -= S;
  if (!derivatives) return;
  for (const int row : {0, 12})
    for (const int column : {0, 12}) {
      const double sign = row == column ? -1 : 1;
      out.by_position.block<3, 3>(row, column) += sign * by_x;
      out.by_rate.block<3, 3>(row, column) += sign * by_w;
    }
}

void evaluate_line(const Load& load, double t, const Markers& at, LoadEvaluation& out) {
  const bool is_spring = load.kind == LoadKind::Spring;
  const Vector3d x = at.m.segment<3>(12) - at.m.segment<3>(0);
  const Vector3d w = at.rate.segment<3>(12) - at.rate.segment<3>(0);
  const double k = is_spring ? load.stiffness : 0, c = is_spring ? load.damping : 0;
  const double l0 = is_spring ? load.length : 0;
  const double applied = is_spring ? load.preload(t) : -at.factor * load.magnitude(t);
  const double l = x.norm();

  // without length at rest, damper and preload it is linear, and needs no direction
  if (is_spring && l0 == 0 && c == 0 && load.preload.is_constant() && applied == 0) {
    add_tension(k * x, k * Matrix3d::Identity(), Matrix3d::Zero(), at.derivatives, out);
    out.magnitude = k * l;
    out.potential = k * l * l / 2;
    return;
  }
  const Vector3d e = x / l;
  if (!e.allFinite())
    fail(
        "{} '{}' has no direction at t = {} s because its two markers coincide; use a bushing between "
        "markers that can meet",
        name_of(load.kind), load.name, t);

  const double rate = e.dot(w), tension = k * (l - l0) + c * rate + applied;
  const Matrix3d across = (Matrix3d::Identity() - e * e.transpose()) / l;  // de/dx
  const Matrix3d by_x = e * (k * e + c * across * w).transpose() + tension * across;
  add_tension(tension * e, by_x, c * e * e.transpose(), at.derivatives, out);
  out.magnitude = is_spring ? tension : std::abs(applied);
  out.potential = k * (l - l0) * (l - l0) / 2;
  out.applied_power = -applied * rate;
  out.damping_power = c * rate * rate;
}

// Adds the force -(k y + c y' + applied) dy/dm of a coordinate y(m) with gradient, its Hessian through
// `add_hessian(factor, H)`, and the Hessian times the rates.
template <class AddHessian>
void add_coordinate(double y, const Vector24d& gradient, const Vector24d& hessian_rate, double k, double c,
                    double applied, const Markers& at, LoadEvaluation& out, const AddHessian& add_hessian) {
  const double rate = gradient.dot(at.rate), tension = k * y + c * rate + applied;
  out.force -= tension * gradient;
  out.potential += k * y * y / 2;
  out.applied_power -= applied * rate;
  out.damping_power += c * rate * rate;
  if (!at.derivatives) return;
  out.by_position.noalias() -= gradient * (k * gradient + c * hessian_rate).transpose();
  if (c != 0) out.by_rate.noalias() -= c * gradient * gradient.transpose();
  add_hessian(-tension, out.by_position);
}

// The angle atan2(s, c) of two forms, with its derivatives.
struct PlaneAngle {
  BilinearForm s_form, c_form;
  Vector24d s1, c1, gradient, hessian_rate;  // hessian_rate: second derivatives times the rates
  double raw = 0, rate = 0, square = 0, by_s = 0, by_c = 0, by_ss = 0, by_sc = 0;

  // False where there is no angle: both forms vanish against `size`.
  bool evaluate(const Markers& at, double size) {
    const double s = s_form.value(at.m), c = c_form.value(at.m);
    square = s * s + c * c;
    if (!(square > 1e-12 * size * size)) return false;
    s1.setZero();
    c1.setZero();
    s_form.add_gradient(at.m, 1, s1);
    c_form.add_gradient(at.m, 1, c1);
    by_s = c / square;
    by_c = -s / square;
    by_ss = -2 * s * c / (square * square);
    by_sc = (s * s - c * c) / (square * square);
    gradient = by_s * s1 + by_c * c1;
    const double s_rate = s1.dot(at.rate), c_rate = c1.dot(at.rate);
    hessian_rate = (by_ss * s_rate + by_sc * c_rate) * s1 + (by_sc * s_rate - by_ss * c_rate) * c1;
    s_form.add_hessian_times(at.rate, by_s, hessian_rate);
    c_form.add_hessian_times(at.rate, by_c, hessian_rate);
    raw = std::atan2(s, c);
    rate = gradient.dot(at.rate);
    return true;
  }

  void add_hessian(double factor, Matrix24d& H) const {
    H.noalias() += factor * s1 * (by_ss * s1 + by_sc * c1).transpose();
    H.noalias() += factor * c1 * (by_sc * s1 - by_ss * c1).transpose();
    s_form.add_hessian(factor * by_s, H);
    c_form.add_hessian(factor * by_c, H);
  }

  // The turn that belongs to what was counted last, or within half a turn of `rest`.
  CountedAngle counted(double t, double rest, const CountedAngle* last) const {
    return {t, at_nearest_turn(raw, last ? last->expected(t, rate) : rest), rate};
  }
};

void evaluate_torsion_spring(const Load& load, double t, const Markers& at, const CountedAngle* last,
                             LoadEvaluation& out) {
  // angle of c = D_1.d_1 and s = D_1.d_2
  PlaneAngle angle;
  angle.s_form.add(second_axis(1), first_axis(2), 1);
  angle.c_form.add(second_axis(1), first_axis(1), 1);
  // relative to axes of unit length: further from the plane of rotation than any joint would let it come
  if (!angle.evaluate(at, 1))
    fail(
        "torsion-spring '{}' has no angle at t = {} s because axis 1 of its second marker is parallel to "
        "axis 3 of "
        "the first; guide it by a revolute or cylindrical joint",
        load.name, t);
  out.angle = angle.counted(t, load.length, last);
  const double y = out.angle.angle - load.length, applied = load.preload(t);
  add_coordinate(y, angle.gradient, angle.hessian_rate, load.stiffness, load.damping, applied, at, out,
                 [&](double factor, Matrix24d& H) { angle.add_hessian(factor, H); });
  out.magnitude = load.stiffness * y + load.damping * angle.rate + applied;
}

// angle / sin(angle) as a function of z = 1 - cos(angle), with two derivatives with respect to the cosine.
// It solves (1 - c^2) h' = c h - 1; the series in z converges for z < 2.
struct AngleOverSine {
  double h = 1, h1 = 0, h2 = 0;
};
AngleOverSine angle_over_sine(double z) {
  AngleOverSine out;
  if (std::abs(z) < 0.2) {
    // terms fall by more than z/2: 18 of them are round-off
    double a = 1, power = 1;  // a_n z^(n-2) for n >= 2
    out.h = 1 + z / 3;
    out.h1 = -1.0 / 3;
    a = 1.0 / 3;
    for (int n = 2; n < 18; ++n) {
      a *= n / (2.0 * n + 1);
      out.h2 += n * (n - 1) * a * power;
      out.h1 -= n * a * power * z;
      out.h += a * power * z * z;
      power *= z;
    }
    return out;
  }
  const double c = 1 - z, square = z * (2 - z);
  out.h = std::acos(std::max(-1.0, c)) / std::sqrt(square);
  out.h1 = (c * out.h - 1) / square;
  out.h2 = (out.h + 3 * c * out.h1) / square;
  return out;
}

// The axis (0..2) about which a bushing's rotation is taken apart, or -1 for none.
int special_axis(const Load& load) {
  for (const Vector3d* values : {&load.k, &load.c}) {
    const auto zeros = (values->array() == 0).count();
    if (zeros == 3) continue;
    if (zeros == 0) return -1;
    for (int i = 0; i < 3; ++i)
      if (((*values)[i] == 0) == (zeros == 1)) return i;
  }
  return -1;
}

// The angle of the twist about an axis: D_b, D_c against d_b, d_c, whatever the swing.
void add_twist(const Load& load, int axis, double t, const Markers& at, const CountedAngle* last,
               LoadEvaluation& out) {
  if (load.k[axis] == 0 && load.c[axis] == 0) return;
  const int a = axis + 1, b = a % 3 + 1, c = b % 3 + 1;
  PlaneAngle twist;
  twist.s_form.add(second_axis(b), first_axis(c), 1);
  twist.s_form.add(second_axis(c), first_axis(b), -1);
  twist.c_form.add(second_axis(b), first_axis(b), 1);
  twist.c_form.add(second_axis(c), first_axis(c), 1);
  // both have the factor 1 + cos(swing)
  if (!twist.evaluate(at, 1))
    fail(
        "bushing '{}' is tilted by half a turn at t = {} s: axis {} of its second marker is opposite to that "
        "of the first, and the angle about it is not defined; guide it by a joint",
        load.name, t, a);
  out.angle = twist.counted(t, 0, last);
  add_coordinate(out.angle.angle, twist.gradient, twist.hessian_rate, load.k[axis], load.c[axis], 0, at, out,
                 [&](double factor, Matrix24d& H) { twist.add_hessian(factor, H); });
}

void evaluate_bushing(const Load& load, double t, const Markers& at, const CountedAngle* last,
                      LoadEvaluation& out) {
  // local displacements x_i = d_i.(P - p)
  for (int i = 0; i < 3; ++i) {
    if (load.K[i] == 0 && load.C[i] == 0) continue;
    BilinearForm form;
    form.add_along(first_axis(i + 1));
    Vector24d gradient = Vector24d::Zero(), hessian_rate = Vector24d::Zero();
    form.add_gradient(at.m, 1, gradient);
    form.add_hessian_times(at.rate, 1, hessian_rate);
    add_coordinate(form.value(at.m), gradient, hessian_rate, load.K[i], load.C[i], 0, at, out,
                   [&](double factor, Matrix24d& H) { form.add_hessian(factor, H); });
  }
  out.magnitude = out.force.head<3>().norm();
  if (load.k.isZero(0) && load.c.isZero(0)) return;

  // theta_i = h(cos) u_i with cos and u of the whole rotation, or of the swing
  const int special = special_axis(load);
  if (special >= 0) add_twist(load, special, t, at, last, out);
  std::array<BilinearForm, 3> u_form;
  BilinearForm cos_form;
  if (special < 0) {
    // u the skew part of the relative rotation d_i.D_j
    cos_form.add_constant(-0.5);
    for (int i = 1; i <= 3; ++i) {
      const int j = i % 3 + 1, l = j % 3 + 1;
      u_form[i - 1].add(first_axis(l), second_axis(j), 0.5);
      u_form[i - 1].add(first_axis(j), second_axis(l), -0.5);
      cos_form.add(first_axis(i), second_axis(i), 0.5);
    }
  } else {
    // u = d_a x D_a, which has no part along d_a
    const int a = special + 1, b = a % 3 + 1, c = b % 3 + 1;
    cos_form.add(first_axis(a), second_axis(a), 1);
    u_form[b - 1].add(second_axis(a), first_axis(c), -1);
    u_form[c - 1].add(second_axis(a), first_axis(b), 1);
  }
  const auto acts = [&](int i) { return i != special && (load.k[i] != 0 || load.c[i] != 0); };
  if (!acts(0) && !acts(1) && !acts(2)) return;
  const double cosine = cos_form.value(at.m);
  // a rotation by half a turn has no direction
  if (!(cosine > -1 + 1e-9)) {
    if (special >= 0)
      fail(
          "bushing '{}' is tilted by half a turn at t = {} s: axis {} of its second marker is opposite to "
          "that of the first, and its angles are not defined; guide it by a joint",
          load.name, t, special + 1);
    fail(
        "bushing '{}' is turned by half a turn at t = {} s, where its rotation vector is not defined; leave "
        "out the stiffness about the axis that turns, and use a torsion-spring about it",
        load.name, t);
  }
  const AngleOverSine f = angle_over_sine(1 - cosine);
  Vector24d c1 = Vector24d::Zero(), c_hessian_rate = Vector24d::Zero();
  cos_form.add_gradient(at.m, 1, c1);
  cos_form.add_hessian_times(at.rate, 1, c_hessian_rate);
  const double c_rate = c1.dot(at.rate);
  for (int i = 0; i < 3; ++i) {
    if (!acts(i)) continue;
    const double u = u_form[i].value(at.m);
    Vector24d u1 = Vector24d::Zero(), hessian_rate = f.h1 * u * c_hessian_rate;
    u_form[i].add_gradient(at.m, 1, u1);
    u_form[i].add_hessian_times(at.rate, f.h, hessian_rate);
    hessian_rate += f.h1 * c_rate * u1 + (f.h1 * u1.dot(at.rate) + f.h2 * u * c_rate) * c1;
    add_coordinate(f.h * u, f.h * u1 + f.h1 * u * c1, hessian_rate, load.k[i], load.c[i], 0, at, out,
                   [&](double factor, Matrix24d& H) {
                     H.noalias() += factor * f.h1 * u1 * c1.transpose();
                     H.noalias() += factor * c1 * (f.h1 * u1 + f.h2 * u * c1).transpose();
                     u_form[i].add_hessian(factor * f.h, H);
                     cos_form.add_hessian(factor * f.h1 * u, H);
                   });
  }
}

}  // namespace

const std::vector<std::pair<std::string, LoadKind>>& load_names() {
  static const auto names = [] {
    std::vector<std::pair<std::string, LoadKind>> list;
    for (size_t i = 0; i < kind_names.size(); ++i) list.emplace_back(kind_names[i], static_cast<LoadKind>(i));
    return list;
  }();
  return names;
}

std::string_view name_of(LoadKind kind) {
  return kind_names[static_cast<size_t>(kind)];
}

bool needs_rotation(const Load& load, int marker) {
  switch (load.kind) {
    case LoadKind::Force:
      return load.following && marker == 0;
    case LoadKind::Torque:
      return marker == 0 || load.has_second;
    case LoadKind::TorsionSpring:
      return true;
    case LoadKind::Bushing:
      return marker == 0 || !load.k.isZero(0) || !load.c.isZero(0);
    default:
      return false;
  }
}

bool is_damped(const Load& load) {
  switch (load.kind) {
    case LoadKind::Spring:
    case LoadKind::TorsionSpring:
      return load.damping != 0;
    case LoadKind::Bushing:
      return !load.C.isZero(0) || !load.c.isZero(0);
    default:
      return false;
  }
}

bool holds(LoadKind kind) {
  return kind == LoadKind::Spring || kind == LoadKind::TorsionSpring || kind == LoadKind::Bushing;
}

bool takes_input(LoadKind kind) {
  return !holds(kind);
}

bool counts_turns(const Load& load) {
  if (load.kind == LoadKind::TorsionSpring) return load.stiffness != 0;
  if (load.kind != LoadKind::Bushing) return false;
  const int axis = special_axis(load);
  return axis >= 0 && load.k[axis] != 0;
}

void evaluate_load(const Load& load, double t, const Vector12d& first, const Vector12d& first_rate,
                   const Vector12d& second, const Vector12d& second_rate, bool derivatives,
                   LoadEvaluation& out, double factor, const CountedAngle* last) {
  Markers at;
  at.factor = factor;
  at.m << first, second;
  at.rate << first_rate, second_rate;
  at.derivatives = derivatives;
  out.force.setZero();
  if (derivatives) {
    out.by_position.setZero();
    out.by_rate.setZero();
  }
  out.potential = out.magnitude = out.applied_power = out.damping_power = 0;
  out.angle = {};
  switch (load.kind) {
    case LoadKind::Force:
      return evaluate_force(load, t, at, out);
    case LoadKind::Torque:
      return evaluate_torque(load, t, at, out);
    case LoadKind::LineForce:
    case LoadKind::Spring:
      return evaluate_line(load, t, at, out);
    case LoadKind::TorsionSpring:
      return evaluate_torsion_spring(load, t, at, last, out);
    case LoadKind::Bushing:
      return evaluate_bushing(load, t, at, last, out);
  }
}

}  // namespace lissom
