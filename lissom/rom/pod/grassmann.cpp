#include "lissom/rom/pod/grassmann.hpp"

#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tall_svd.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_sizes(const MatrixXd& U, const MatrixXd& V) {
  if (U.rows() != V.rows() || U.cols() != V.cols())
    fail("subspaces of different dimensions cannot be compared: {} by {} and {} by {}", U.rows(), U.cols(),
         V.rows(), V.cols());
  if (U.cols() > U.rows()) fail("{} columns of {} entries cannot be orthonormal", U.cols(), U.rows());
}

// U - U0 U0' U, twice: what is left is orthogonal to U0 to the last digit.
void project_out(const MatrixXd& U0, MatrixXd& U) {
  for (int pass = 0; pass < 2; ++pass) gemm(false, false, -1, U0, transposed_product(U0, U), 1, U);
}

// The distinct values of a row (to 1e-12 of its range), ascending, and which of them each entry is.
std::vector<double> distinct_values(const Eigen::RowVectorXd& row, std::vector<int>& which) {
  std::vector<double> values(row.data(), row.data() + row.size());
  std::sort(values.begin(), values.end());
  const double near = 1e-12 * (values.back() - values.front());
  const auto same = [&](double a, double b) { return b - a <= near; };
  values.erase(std::unique(values.begin(), values.end(), same), values.end());
  which.resize(static_cast<size_t>(row.size()));
  for (Index i = 0; i < row.size(); ++i) {
    size_t best = 0;
    for (size_t v = 1; v < values.size(); ++v)
      if (std::abs(values[v] - row[i]) < std::abs(values[best] - row[i])) best = v;
    which[static_cast<size_t>(i)] = static_cast<int>(best);
  }
  return values;
}

VectorXd weights_on_line(const std::vector<double>& values, double x) {
  VectorXd weights = VectorXd::Ones(static_cast<Index>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j)
      if (j != i) weights[static_cast<Index>(i)] *= (x - values[j]) / (values[i] - values[j]);
  return weights;
}

// All monomials of total degree d at x (p), in an order that depends on p and d only.
void monomials(const VectorXd& x, Index from, int degree, double value, std::vector<double>& out) {
  if (from == x.size() - 1) {
    out.push_back(value * std::pow(x[from], degree));
    return;
  }
  double power = 1;
  for (int k = 0; k <= degree; ++k, power *= x[from]) monomials(x, from + 1, degree - k, value * power, out);
}

// Polynomials by rising degree: of each degree only what the lower ones leave over is fitted, with the
// shortest coefficients, until all values are met. Hence what a lower degree can do is reproduced exactly.
VectorXd scattered_weights(const MatrixXd& points, const VectorXd& x) {
  const Index p = points.rows(), k = points.cols();
  std::vector<MatrixXd> V, inverse;  // k by m_d of degree d; pseudo-inverse of its part beyond lower degrees
  std::vector<VectorXd> phi;
  MatrixXd Q(k, 0);  // orthonormal basis of what is fitted
  for (int degree = 0; Q.cols() < k; ++degree) {
    if (degree > k) fail("no polynomial goes through {} samples: two of them have the same parameters", k);
    std::vector<double> row;
    monomials(x, 0, degree, 1, row);
    const Index m = static_cast<Index>(row.size());
    phi.emplace_back(Eigen::Map<const VectorXd>(row.data(), m));
    MatrixXd& block = V.emplace_back(k, m);
    for (Index i = 0; i < k; ++i) {
      row.clear();
      monomials(points.col(i), 0, degree, 1, row);
      block.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), m);
    }
    MatrixXd rest = block;
    for (int pass = 0; pass < 2; ++pass) rest -= Q * (Q.transpose() * rest);
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> fit;
    // coordinates are within one: below this it is round-off
    fit.setThreshold(1e-10);
    const bool adds = rest.norm() > 1e-10 * std::sqrt(static_cast<double>(k * m));
    if (!adds) {
      inverse.emplace_back(MatrixXd::Zero(m, k));
      continue;
    }
    fit.compute(rest);
    inverse.push_back(fit.pseudoInverse());
    const Index rank = std::min(fit.rank(), k - Q.cols());
    const MatrixXd basis = fit.householderQ() * MatrixXd::Identity(k, rank);
    Q.conservativeResize(Eigen::NoChange, Q.cols() + rank);
    Q.rightCols(rank) = basis;
  }
  // coefficients of degree d: inverse_d (f - what higher degrees give)
  LISSOM_ASSERT(p > 0);
  MatrixXd left = MatrixXd::Identity(k, k);
  VectorXd weights = VectorXd::Zero(k);
  for (size_t d = V.size(); d-- > 0;) {
    const MatrixXd C = inverse[d] * left;
    weights += C.transpose() * phi[d];
    left -= V[d] * C;
  }
  return weights;
}

}  // namespace

VectorXd principal_angles(const MatrixXd& U, const MatrixXd& V) {
  check_sizes(U, V);
  const Index r = U.cols();
  if (r == 0) return {};
  const VectorXd cosines = dense_svd(transposed_product(U, V)).sigma;
  MatrixXd rest = V;
  project_out(U, rest);
  const VectorXd sines = dense_svd(rest).sigma.reverse();
  VectorXd angles(r);
  // each from the one of sine and cosine that is the smaller
  for (Index i = 0; i < r; ++i)
    angles[i] = cosines[i] * cosines[i] > 0.5 ? std::asin(std::min(sines[i], 1.0))
                                              : std::acos(std::clamp(cosines[i], 0.0, 1.0));
  return angles;
}

// With U0' U = A c B': what U adds to U0 is N = (I - U0 U0') U B, and N c^-1 A' = W tan(theta) Z'.
MatrixXd grassmann_log(const MatrixXd& U0, const MatrixXd& U, double margin) {
  check_sizes(U0, U);
  if (U.cols() == 0) return U;
  const TallSvd overlap = dense_svd(transposed_product(U0, U));
  const double smallest = overlap.sigma[overlap.sigma.size() - 1];
  const double angle = std::acos(std::clamp(smallest, 0.0, 1.0));
  if (!(smallest > std::sin(margin)))
    fail(
        "the logarithm of a subspace of dimension {} is not defined: one of its principal angles with the "
        "reference is {:.6f} degrees, a right angle to {:.1e} rad. Use fewer modes, another reference "
        "sample, or one basis from all samples",
        U.cols(), angle * 180 / std::numbers::pi, margin);
  MatrixXd N = product(U, overlap.V);
  project_out(U0, N);
  const MatrixXd back = overlap.sigma.cwiseInverse().asDiagonal() * overlap.W.transpose();
  const TallSvd tangents = dense_svd(product(N, back));
  const VectorXd angles = tangents.sigma.array().atan();
  return product(tangents.W * angles.asDiagonal(), tangents.V.transpose());
}

// U0 V cos(theta) V' + W sin(theta) V' of the tangent W theta V'.
MatrixXd grassmann_exp(const MatrixXd& U0, const MatrixXd& tangent) {
  check_sizes(U0, tangent);
  if (U0.cols() == 0) return U0;
  MatrixXd clean = tangent;
  project_out(U0, clean);
  const TallSvd svd = dense_svd(clean);
  const VectorXd cosine = svd.sigma.array().cos(), sine = svd.sigma.array().sin();
  MatrixXd U = product(svd.W * sine.asDiagonal(), svd.V.transpose());
  gemm(false, false, 1, U0, svd.V * cosine.asDiagonal() * svd.V.transpose(), 1, U);
  // nearest orthonormal columns, to the square of what rounding left
  const Index r = U.cols();
  const MatrixXd correction = 1.5 * MatrixXd::Identity(r, r) - 0.5 * transposed_product(U, U);
  return product(U, correction);
}

VectorXd lagrange_weights(const MatrixXd& points, const VectorXd& x) {
  const Index p = points.rows(), k = points.cols();
  LISSOM_ASSERT(x.size() == p && k > 0);
  if (p == 0 || k == 1) return VectorXd::Constant(k, 1.0 / static_cast<double>(k));
  std::vector<std::vector<int>> which(static_cast<size_t>(p));
  std::vector<std::vector<double>> values;
  Index grid = 1;
  for (Index d = 0; d < p; ++d) {
    values.push_back(distinct_values(points.row(d), which[static_cast<size_t>(d)]));
    grid *= static_cast<Index>(values.back().size());
  }
  // a full grid has every combination once
  if (grid == k) {
    std::set<std::vector<int>> seen;
    for (Index i = 0; i < k; ++i) {
      std::vector<int> place;
      for (const std::vector<int>& direction : which) place.push_back(direction[static_cast<size_t>(i)]);
      seen.insert(std::move(place));
    }
    if (static_cast<Index>(seen.size()) == k) {
      VectorXd weights = VectorXd::Ones(k);
      for (Index d = 0; d < p; ++d) {
        const VectorXd line = weights_on_line(values[static_cast<size_t>(d)], x[d]);
        for (Index i = 0; i < k; ++i)
          weights[i] *= line[which[static_cast<size_t>(d)][static_cast<size_t>(i)]];
      }
      return weights;
    }
  }
  // in coordinates from -1 to 1
  MatrixXd scaled = points;
  VectorXd at = x;
  for (Index d = 0; d < p; ++d) {
    const double low = points.row(d).minCoeff(), high = points.row(d).maxCoeff();
    const double half = high > low ? (high - low) / 2 : 1;
    scaled.row(d).array() = (points.row(d).array() - (low + high) / 2) / half;
    at[d] = high > low ? (x[d] - (low + high) / 2) / half : 0;
  }
  return scattered_weights(scaled, at);
}

}  // namespace lissom
