#include "lissom/mbs/frame_inertia.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/column_products.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// What a mode of unit mass may move of the mean axes, relative to what it could at most; eigenvectors are
// good to 1e-9 and better.
constexpr double mean_axis_tolerance = 1e-6;

// the pairs (b, c) of u_b Phi_c behind number k, the second for a sum or a difference
constexpr int first_of[9] = {0, 1, 2, 0, 1, 2, 1, 2, 0};
constexpr int second_of[9] = {0, 1, 2, 1, 2, 0, 2, 0, 1};

}  // namespace

void FrameInertia::of_motion(const Eigen::Ref<const VectorXd>& w,
                             Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const {
  if (modes() == 0) return;
  LISSOM_ASSERT(result.outerStride() == modes() && w.size() == modes());
  const int N = modes();
  std::fill_n(result.data(), 9 * N, 0.0);
  add_column_product(9 * N, N, by_mode.data(), 9 * N, w.data(), result.data());
}

void FrameInertia::of_skew_motion(const Eigen::Ref<const VectorXd>& w,
                                  Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const {
  const int N = modes();
  if (N == 0) return;
  LISSOM_ASSERT(result.outerStride() == N && w.size() == N);
  std::fill_n(result.data() + 6 * N, 3 * N, 0.0);
  add_column_product(3 * N, N, by_mode.data() + 6 * N, 9 * N, w.data(), result.data() + 6 * N);
}

void FrameInertia::of_place(const Eigen::Ref<const VectorXd>& eta,
                            Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 9>> result) const {
  if (modes() == 0) return;
  LISSOM_ASSERT(result.outerStride() == modes() && eta.size() == modes());
  const int N = modes();
  std::copy_n(position.data(), 9 * N, result.data());
  add_column_product(9 * N, N, by_mode.data(), 9 * N, eta.data(), result.data());
}

MatrixXd flexible_natural_modes(const ReducedBody& reduced) {
  const auto size = reduced.eigenvectors.cols();
  // bodies of the basis free-modes had their rigid modes taken away already
  if (reduced.basis != "free-modes" && reduced.rigid_count != 6)
    fail_input(
        "reduced body '{}' has {} rigid modes, expected six: a floating frame needs a body that is free to "
        "move; reduce it without supports, and joints of the system will hold it",
        reduced.name, reduced.rigid_count);
  if (size <= reduced.rigid_count)
    fail_input("reduced body '{}' has no flexible modes; use it as a rigid body (formulation \"rigid\")",
               reduced.name);
  return reduced.eigenvectors.rightCols(size - reduced.rigid_count);
}

FrameInertia frame_inertia(const ReducedBody& reduced, const MatrixXd& modes) {
  const InertiaInvariants& given = reduced.inertia;
  if (given.empty())
    fail_input(
        "reduced body '{}' has no inertia invariants, because its mass matrix is not that of nodes with "
        "three "
        "displacements each (or the nodes are not known); a floating frame cannot use it: reduce a body with "
        "a lumped or consistent mass and with its nodes",
        reduced.name);
  if (!(given.mass > 0)) fail_input("reduced body '{}' has no mass ({} kg)", reduced.name, given.mass);

  // about the centre of mass
  FrameInertia result;
  result.mass = given.mass;
  result.centre = given.first_moment / given.mass;
  result.second_moment = given.second_moment - given.mass * result.centre * result.centre.transpose();
  const Eigen::Index N = modes.cols();
  result.position.setZero(N, 9);
  result.deformation.resize(N, 9 * N);
  if (N == 0) return result;
  LISSOM_ASSERT(modes.rows() == given.translation.cols());
  const MatrixXd translation = given.translation * modes;
  MatrixXd position[3];
  for (int b = 0; b < 3; ++b) position[b] = given.position[b] * modes - result.centre[b] * translation;

  // the mean axes stay
  const double length = std::sqrt(result.second_moment.trace() / given.mass);
  for (Eigen::Index j = 0; j < N; ++j) {
    Vector3d turn;
    for (int k = 0; k < 3; ++k) {
      const int b = first_of[6 + k], c = second_of[6 + k];
      turn[k] = position[b](c, j) - position[c](b, j);
    }
    const double moved = std::max(translation.col(j).norm(), turn.norm() / length) / std::sqrt(given.mass);
    if (!(moved <= mean_axis_tolerance))
      fail_input(
          "reduced body '{}': natural mode {} moves the body as a whole ({:.1e} of what it could at most, "
          "expected below {:.0e}); a floating frame needs a body that is free to move, reduced without "
          "supports",
          reduced.name, j + 1, moved, mean_axis_tolerance);
  }

  // the nine combinations
  MatrixXd half(modes.rows(), N), block(N, N);
  for (int k = 0; k < 9; ++k) {
    const int b = first_of[k], c = second_of[k];
    if (k < 3) result.position.col(k) = position[b].row(c);
    if (k >= 3 && k < 6) result.position.col(k) = position[b].row(c) + position[c].row(b);
    if (k >= 6) break;
    gemm(false, false, 1, given.deformation[3 * b + c], modes, 0, half);
    gemm(true, false, 1, modes, half, 0, block);
    if (k < 3) {
      result.deformation.middleCols(k * N, N) = (block + block.transpose()) / 2;
    } else {
      result.deformation.middleCols(k * N, N) = block + block.transpose();
      // xy, yz, zx are the pairs of the axial vector's z, x, y
      result.deformation.middleCols((k == 3 ? 8 : k + 2) * N, N) = block - block.transpose();
    }
  }
  result.by_mode = result.deformation.transpose();
  return result;
}

}  // namespace lissom
