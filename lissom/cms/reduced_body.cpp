#include "lissom/cms/reduced_body.hpp"

#include <numbers>

namespace lissom {

std::string_view name_of(CoordinateKind kind) {
  switch (kind) {
    case CoordinateKind::FixedInterface:
      return "fixed-interface";
    case CoordinateKind::Residual:
      return "residual";
    case CoordinateKind::Attachment:
      return "attachment";
    case CoordinateKind::Constraint:
      return "constraint";
    case CoordinateKind::FreeInterface:
      return "free-interface";
  }
  LISSOM_ASSERT(false);
}

Eigen::VectorXd ReducedBody::frequencies_hz() const {
  return eigenvalues.segment(rigid_count, range).cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
}

std::string inconsistency_of(const ReducedBody& body) {
  const Eigen::Index N = body.size(), n = body.points.cols();
  std::string problem;
  const auto expect = [&](std::string_view name, const auto& matrix, Eigen::Index rows, Eigen::Index cols) {
    if (!problem.empty()) return;
    if (matrix.rows() != rows || matrix.cols() != cols)
      problem =
          fmt::format("{} is {} by {}, expected {} by {}", name, matrix.rows(), matrix.cols(), rows, cols);
    else if (!matrix.allFinite())
      problem = fmt::format("{} holds a number that is not finite", name);
  };
  const auto expect_or_empty = [&](std::string_view name, const auto& matrix, Eigen::Index rows) {
    if (matrix.size() > 0) expect(name, matrix, rows, N);
  };
  const auto expect_index = [&](std::string_view name, std::int64_t index, std::int64_t least,
                                std::int64_t end) {
    if (problem.empty() && (index < least || index >= end))
      problem = fmt::format("{} is {}, expected {} to {}", name, index, least, end - 1);
  };
  if (N == 0) return "there are no reduced coordinates";

  const auto interfaces = static_cast<std::int64_t>(body.interfaces.size());
  for (const ReducedCoordinate& coordinate : body.coordinates) {
    expect_index("a coordinate's interface", coordinate.interface, -1, interfaces);
    expect_index("a coordinate's direction", coordinate.direction, -1, 6);
  }
  for (const InterfaceFrame& interface : body.interfaces) {
    expect("an interface's origin", interface.origin, 3, 1);
    expect("the matrix of an interface's axes", interface.axes, 3, 3);
    expect("the motion of an interface", interface.motion, 6, N);
    for (const int index : interface.coordinates) expect_index("an interface's coordinate", index, 0, N);
  }

  expect("M", body.M, N, N);
  expect("K", body.K, N, N);
  expect_or_empty("D", body.D, N);
  const Eigen::Index modes = body.eigenvalues.size();
  expect("the list of eigenvalues", body.eigenvalues, modes, 1);
  expect("the matrix of eigenvectors", body.eigenvectors, N, modes);
  expect_index("the number of natural modes", modes, 0, N + 1);
  expect_index("the number of rigid modes", body.rigid_count, 0, modes + 1);
  expect_index("the number of modes in range", body.range, 0, modes - body.rigid_count + 1);
  if (const size_t errors = body.errors.modes.size();
      problem.empty() && errors != 0 && errors != static_cast<size_t>(body.range))
    problem = fmt::format("the error table has {} modes, expected {}", errors, body.range);

  expect("the list of points", body.points, 3, n);
  if (problem.empty() && body.node_ids.size() != static_cast<size_t>(n))
    problem = fmt::format("there are {} node ids for {} points", body.node_ids.size(), n);
  expect("the matrix of modes", body.modes, 3 * n, N);
  expect_or_empty("the matrix of strain modes", body.strain_modes, 6 * n);
  expect_or_empty("the matrix of stress modes", body.stress_modes, 6 * n);

  if (const InertiaInvariants& I = body.inertia; !I.empty()) {
    expect("the mass", Eigen::Matrix<double, 1, 1>(I.mass), 1, 1);
    expect("the first moment", I.first_moment, 3, 1);
    expect("the second moment", I.second_moment, 3, 3);
    expect("the translation invariant", I.translation, 3, N);
    for (const auto& block : I.position) expect("a position invariant", block, 3, N);
    for (const auto& block : I.deformation) expect("a deformation invariant", block, N, N);
  }
  return problem;
}

}  // namespace lissom
