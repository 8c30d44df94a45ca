#include "lissom/rom/slap/slap_model.hpp"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// "C is 3 by 4, expected 3 by 5", "C has a number that is not finite", or nothing
std::string wrong_matrix(const std::string& name, const Eigen::Ref<const MatrixXd>& X, Index rows,
                         Index columns) {
  if (X.rows() != rows || X.cols() != columns)
    return fmt::format("{} is {} by {}, expected {} by {}", name, X.rows(), X.cols(), rows, columns);
  if (!X.allFinite()) return name + " has a number that is not finite";
  return {};
}

std::string wrong_part(const SlapPart& part, Index m) {
  const auto named = [&](const char* what) { return fmt::format("{} of part '{}'", what, part.name); };
  if (!(part.mass > 0) || !std::isfinite(part.mass))
    return fmt::format("the mass of part '{}' is {} kg", part.name, part.mass);
  std::string wrong = wrong_matrix(named("S0"), part.S0, 3, 3);
  if (wrong.empty()) wrong = wrong_matrix(named("A"), part.A, 9, m + 1);
  if (wrong.empty()) wrong = wrong_matrix(named("C"), part.C, part.C.rows(), 9 * (m + 2));
  if (wrong.empty() && part.C_damping.size() > 0)
    wrong = wrong_matrix(named("C_damping"), part.C_damping, part.C_damping.rows(), 9 * (m + 2));
  if (!wrong.empty()) return wrong;
  const Eigen::Matrix3d S0 = part.S0;
  if ((S0 - S0.transpose()).cwiseAbs().maxCoeff() > 1e-12 * S0.cwiseAbs().maxCoeff())
    return named("S0") + " is not symmetric";
  const Eigen::Vector3d s =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(S0, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(s[0] > 1e-13 * s[2]))
    return fmt::format("{} has the eigenvalues {:.3g}, {:.3g}, {:.3g} m2: its nodes lie in a plane",
                       named("S0"), s[0], s[1], s[2]);
  if (part.C.rows() > 0) {
    double skew = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j)
        skew = std::max(skew, (part.C.col(3 * i + j) - part.C.col(3 * j + i)).cwiseAbs().maxCoeff());
    if (skew > 1e-9 * part.C.leftCols<9>().cwiseAbs().maxCoeff())
      return named("C") + " resists rotations: columns of E_ij and E_ji differ";
  }
  if (part.placed) {
    wrong = wrong_matrix(named("the place"), part.placed->position, 3, 1);
    if (wrong.empty()) wrong = wrong_matrix(named("the rotation"), part.placed->rotation, 3, 3);
    if (!wrong.empty()) return wrong;
    const Eigen::Matrix3d R = part.placed->rotation;
    if (!(R.transpose() * R).isIdentity(1e-9) || R.determinant() < 0)
      return named("the rotation") + " is none";
  }
  if (!part.has_nodes()) return {};
  const Index n = part.fields.rows(), s_count = part.fields.cols();
  if (static_cast<Index>(part.node_ids.size()) != n)
    return fmt::format("{} node numbers of part '{}' for {} rows of its fields", part.node_ids.size(),
                       part.name, n);
  wrong = wrong_matrix(named("the fields"), part.fields, n, s_count);
  if (wrong.empty()) wrong = wrong_matrix(named("the coefficients"), part.coefficients, 3 * s_count, m + 1);
  if (wrong.empty()) wrong = wrong_matrix(named("the points"), part.points, 3, n);
  const StressModes& modes = part.stress_modes;
  if (wrong.empty() && modes.strain)
    wrong = wrong_matrix(named("the strain modes"), *modes.strain, 6 * n, 3 * s_count);
  if (wrong.empty() && modes.stress)
    wrong = wrong_matrix(named("the stress modes"), *modes.stress, 6 * n, 3 * s_count);
  return wrong;
}

std::string wrong_frame(const SlapFrame& frame, int parts, Index m) {
  if (frame.part < 0 || frame.part >= parts)
    return fmt::format("frame '{}' belongs to part number {} of {}", frame.name, frame.part + 1, parts);
  const auto named = [&](const char* what) { return fmt::format("{} of frame '{}'", what, frame.name); };
  std::string wrong = wrong_matrix(named("the position"), frame.position, 3, m + 1);
  if (wrong.empty() && frame.rotates()) wrong = wrong_matrix(named("the moment"), frame.moment, 9, m + 1);
  if (wrong.empty()) wrong = wrong_matrix(named("the arm"), frame.arm, 3, 1);
  if (wrong.empty()) wrong = wrong_matrix(named("the axes"), frame.axes, 3, 3);
  if (wrong.empty()) wrong = wrong_matrix(named("the origin"), frame.rest, 3, 1);
  if (wrong.empty() && frame.linear_axes.size() > 0) {
    if (!frame.rotates()) return named("the linear axes") + " are there, and it has no moment";
    wrong = wrong_matrix(named("the linear axes"), frame.linear_axes, 9, m + 1);
  }
  return wrong;
}

std::string wrong_polynomial(const SlapModel& model, const SlapPolynomial& form, Index m) {
  const Index monomials = (m + 1) * (m + 2) / 2, parts = static_cast<Index>(model.parts.size());
  std::string wrong = wrong_matrix("the polynomial's S", form.S, form.S.rows(), monomials);
  if (wrong.empty() && form.S_damping.size() > 0)
    wrong = wrong_matrix("the polynomial's S_damping", form.S_damping, form.S_damping.rows(), monomials);
  if (wrong.empty()) wrong = wrong_matrix("the polynomial's strain", form.strain, parts, 1);
  if (wrong.empty()) wrong = wrong_matrix("the polynomial's misfit", form.misfit, parts, 1);
  if (!wrong.empty()) return wrong;
  const bool damped = std::any_of(model.parts.begin(), model.parts.end(),
                                  [](const SlapPart& part) { return part.C_damping.size() > 0; });
  if (damped != (form.S_damping.size() > 0))
    return damped ? "parts are damped and the polynomial is not" : "the polynomial is damped and no part is";
  const std::pair<const char*, double> measures[] = {{"cut", form.cut},
                                                     {"axes_misfit", form.axes_misfit},
                                                     {"row_error", form.row_error},
                                                     {"displacement", form.displacement}};
  for (const auto& [name, value] : measures)
    if (!(value >= 0) || !std::isfinite(value)) return fmt::format("the polynomial's {} is {}", name, value);
  return {};
}

}  // namespace

std::string inconsistency_of(const SlapModel& model) {
  const Index m = model.M.rows();
  if (m == 0) return "the model has no coordinates";
  if (model.parts.empty()) return "the model has no parts";
  std::string wrong = wrong_matrix("M", model.M, m, m);
  if (!wrong.empty()) return wrong;
  if ((model.M - model.M.transpose()).cwiseAbs().maxCoeff() > 1e-12 * model.M.cwiseAbs().maxCoeff())
    return "M is not symmetric";
  if (!(model.mass_damping >= 0) || !std::isfinite(model.mass_damping))
    return fmt::format("the mass damping is {} 1/s", model.mass_damping);

  std::set<std::string> names;
  for (const SlapPart& part : model.parts) {
    if (!names.insert(part.name).second) return fmt::format("two parts have the name '{}'", part.name);
    wrong = wrong_part(part, m);
    if (!wrong.empty()) return wrong;
  }
  std::set<std::pair<int, std::string>> places;
  for (const SlapFrame& frame : model.frames) {
    wrong = wrong_frame(frame, static_cast<int>(model.parts.size()), m);
    if (!wrong.empty()) return wrong;
    if (!places.insert({frame.part, frame.name}).second)
      return fmt::format("part '{}' has two frames with the name '{}'", model.parts[frame.part].name,
                         frame.name);
  }

  wrong = wrong_matrix("the centre", model.centre, 3, m + 1);
  if (wrong.empty()) wrong = wrong_matrix("the angular momentum", model.angular, 3, (m + 1) * (m + 1));
  if (wrong.empty()) wrong = wrong_matrix("the start", model.start, m, 1);
  if (wrong.empty()) wrong = wrong_matrix("the rate at the start", model.start_rate, m, 1);
  if (wrong.empty()) wrong = wrong_matrix("the scale", model.scale, m, 1);
  if (!wrong.empty()) return wrong;
  for (Index r = 0; r < m; ++r)
    if (!(model.scale[r] > 0)) return fmt::format("the scale of mode {} is {} m", r + 1, model.scale[r]);
  if (!(model.radius > 0) || !std::isfinite(model.radius))
    return fmt::format("the radius is {} m", model.radius);

  if (model.polynomial) {
    wrong = wrong_polynomial(model, *model.polynomial, m);
    if (!wrong.empty()) return wrong;
  }

  const SlapTraining& training = model.training;
  if (training.samples.size() == 0) return {};
  wrong = wrong_matrix("the training samples", training.samples, m, training.samples.cols());
  if (wrong.empty()) wrong = wrong_matrix("the spread of the training", training.spread, m, 1);
  if (!wrong.empty()) return wrong;
  if (!(training.spread.minCoeff() > 0)) return "the spread of the training is not positive";
  if (!(training.reach > 0) || !std::isfinite(training.reach))
    return fmt::format("the reach of the training is {}", training.reach);
  return {};
}

std::string poor(const SlapAccuracy& accuracy) {
  if (accuracy.failed) return "it could not run the motion that it was trained on to its end";
  if (!(accuracy.motion > 0) || !(accuracy.largest_error > poor_model * accuracy.motion)) return {};
  return fmt::format(
      "it does not follow the motion that it was trained on: nodes move up to {:.3g} m there, and the model "
      "is "
      "{:.3g} m away ({:.3g} %)",
      accuracy.motion, accuracy.largest_error, 100 * accuracy.largest_error / accuracy.motion);
}

SlapModel without_polynomial(SlapModel model) {
  model.polynomial.reset();
  for (SlapFrame& frame : model.frames) frame.linear_axes.resize(0, 0);
  return model;
}

SlapTraining make_training(const Eigen::Ref<const Eigen::MatrixXd>& eta) {
  constexpr Index most = 400;
  SlapTraining training;
  const Index k = eta.cols(), stride = (k + most - 1) / most;
  training.spread = (eta.rowwise().squaredNorm() / static_cast<double>(k)).cwiseSqrt().cwiseMax(1e-300);
  training.samples.resize(eta.rows(), (k + stride - 1) / stride);
  for (Index i = 0; i < training.samples.cols(); ++i) training.samples.col(i) = eta.col(i * stride);
  const Eigen::MatrixXd u = training.spread.cwiseInverse().asDiagonal() * training.samples;
  double spacing = 0;
  for (Index i = 0; i < u.cols(); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < u.cols(); ++j)
      if (j != i) nearest = std::min(nearest, (u.col(i) - u.col(j)).squaredNorm());
    if (u.cols() > 1) spacing = std::max(spacing, nearest);
  }
  // densely sampled motions: a tenth of the spread in every coordinate is near
  training.reach = std::max(std::sqrt(spacing), 0.1 * std::sqrt(static_cast<double>(eta.rows())));
  return training;
}

double distance_from_training(const SlapTraining& training, const Eigen::Ref<const Eigen::VectorXd>& eta) {
  const Index k = training.samples.cols();
  if (k == 0) return 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < k; ++i)
    nearest = std::min(nearest, (training.samples.col(i) - eta).cwiseQuotient(training.spread).squaredNorm());
  return std::sqrt(nearest) / training.reach;
}

}  // namespace lissom
