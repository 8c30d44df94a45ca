#include "lissom/cms/error_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "lissom/linalg/symmetric_eigen.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ResidualVectors orthonormal_residuals(const Eigen::Ref<const MatrixXd>& X_b,
                                      const Eigen::Ref<const MatrixXd>& X_2) {
  ResidualVectors result;
  const Eigen::Index n = X_2.rows();
  // unit diagonal first: displacements and rotations differ by many orders
  VectorXd scale(n);
  for (Eigen::Index i = 0; i < n; ++i) scale[i] = X_2(i, i) > 0 ? 1 / std::sqrt(X_2(i, i)) : 0;
  const MatrixXd S = scale.asDiagonal() * X_2 * scale.asDiagonal();
  const SymmetricEigen gram = symmetric_eigen(S, 0, static_cast<int>(n), true);
  Eigen::Index dropped = 0;
  while (dropped < n && gram.values[dropped] < 1e-12) ++dropped;
  const Eigen::Index r = n - dropped;
  const MatrixXd W = scale.asDiagonal() * gram.vectors.rightCols(r) *
                     gram.values.tail(r).cwiseSqrt().cwiseInverse().asDiagonal();
  if (r == 0) {
    result.v.resize(n, 0);
    return result;
  }
  const MatrixXd T = W.transpose() * X_b * W;
  const SymmetricEigen energy = symmetric_eigen(0.5 * (T + T.transpose()), 0, static_cast<int>(r), true);
  result.theta = energy.values;
  result.v = W * energy.vectors;
  return result;
}

ResidualVectors orthonormal_residuals(const ResidualTerms& terms) {
  MatrixXd X_2 = terms.X_2;
  for (Eigen::Index i = 0; i < terms.floor.size(); ++i)
    if (X_2(i, i) <= terms.floor[i]) X_2.row(i).setZero(), X_2.col(i).setZero();
  return orthonormal_residuals(terms.X_b, X_2);
}

ReducedPencil pencil_of(const ReducedProblem& problem, const ResidualVectors& vectors) {
  if (!problem.enriched) return problem.plain;
  const ReducedPencil& plain = problem.plain;
  const Eigen::Index n = plain.interior(), r = vectors.theta.size();
  ReducedPencil pencil;
  pencil.lambda.resize(n + r);
  pencil.lambda << plain.lambda, vectors.theta;
  pencil.P.resize(n + r, plain.interface());
  pencil.P << plain.P, vectors.v.transpose() * problem.residual.X_b;
  pencil.K_b = plain.K_b;
  pencil.M_b = plain.M_b;
  return pencil;
}

namespace {

double own_roundoff(const EstimateOptions& options, int flexible) {
  const Eigen::Index known = options.roundoff.size();
  return known == 0 ? 0 : options.roundoff[std::min<Eigen::Index>(flexible, known - 1)];
}

}  // namespace

double bound_limit(const EstimateOptions& options, int flexible, double eigenvalue) {
  const double roundoff = 4 * own_roundoff(options, flexible) / eigenvalue;
  // an eigenvalue that is nothing but round-off is that of a mechanism, and no bound is good enough
  return roundoff > 0 && roundoff < 0.5 ? std::max(options.bound_goal, roundoff) : options.bound_goal;
}

std::vector<ModeError> estimate_errors(const ReducedProblem& problem, const EstimateOptions& options,
                                       ReducedModes* modes_out) {
  const ResidualTerms& X = problem.residual;
  ResidualVectors vectors;
  if (problem.enriched) vectors = orthonormal_residuals(X);
  const ReducedPencil pencil = pencil_of(problem, vectors);
  const PencilSolver solver(pencil);
  const int count = std::min(options.rigid_count + options.range, pencil.size());
  const ReducedModes modes = solver.lowest(count);

  const int n_b = pencil.interface(), modes_kept = problem.plain.interior();
  std::vector<ModeError> errors;
  for (int k = options.rigid_count; k < count; ++k) {
    ModeError error;
    const double s = error.eigenvalue = modes.values[k];
    const VectorXd xi = modes.vectors.col(k).tail(n_b);
    const double x_b = xi.dot(X.X_b * xi);
    if (problem.enriched) {
      const VectorXd b = vectors.v * modes.vectors.col(k).segment(modes_kept, vectors.theta.size());
      const VectorXd a = b - s * xi;
      const double re = a.dot(X.X_b * a) - 2 * s * a.dot(X.X_2 * b) + s * s * b.dot(X.X_3 * b);
      const double eMe = a.dot(X.X_2 * a) - 2 * s * a.dot(X.X_3 * b) + s * s * b.dot(X.X_4 * b);
      error.zeta_2 = std::max(0.0, re / s + eMe);
    } else {
      error.zeta_2 = s * x_b + s * s * xi.dot(X.X_2 * xi);
      error.lower_estimate = s * x_b;
      const int n = k - options.rigid_count;
      if (n < problem.kappa.size()) error.paper_estimate = (s + s * s / problem.kappa[n]) * x_b;
    }
    errors.push_back(error);
  }

  if (options.bounds) {
    std::unique_ptr<PencilSolver> own;
    if (problem.enriched) own = std::make_unique<PencilSolver>(problem.plain);
    const PencilSolver& plain = own ? *own : solver;
    const MatrixXd X_b = plain.transformed(X.X_b), X_2 = plain.transformed(X.X_2),
                   X_3 = plain.transformed(X.X_3), X_4 = plain.transformed(X.X_4);
    // the highest mode usually has the widest enclosure: a search that must fail fails there
    for (int k = static_cast<int>(errors.size()) - 1; k >= 0; --k) {
      const double s = errors[k].eigenvalue;
      errors[k].bound = std::numeric_limits<double>::infinity();
      const int n = options.rigid_count + k;
      if (s < X.kappa_next && n < problem.plain.size()) {
        const MatrixXd W = (s * s) * X_b + (s * s * s) * X_2 + (s * s * s * s) * X_3 +
                           (s * s * s * s * s / (1 - s / X.kappa_next)) * X_4;
        const double mu = plain.eigenvalue(n, W);
        // both are known to round-off only, and what is proven must not lie by that
        const double body = own_roundoff(options, k);
        const double low = std::min(mu, s) - plain.roundoff() - body, high = s + solver.roundoff() + body;
        if (low > 0) errors[k].bound = high / low - 1;
      }
      if (options.bound_goal > 0 && errors[k].bound > bound_limit(options, k, s)) break;
    }
  }
  if (modes_out) *modes_out = modes;
  return errors;
}

}  // namespace lissom
