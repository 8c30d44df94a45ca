#include "lissom/cms/gcms.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "lissom/core/parallel.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// part of a column that is left after orthogonalisation below which it brings nothing new
constexpr double dependent = 1e-14;

MatrixXd weighted(const SymmetricMatrix& A, const MatrixXd& X) {
  MatrixXd Y(X.rows(), X.cols());
  multiply(A, X, Y);
  return Y;
}

// C (x) I_3
MatrixXd times_identity(const MatrixXd& C) {
  MatrixXd result = MatrixXd::Zero(3 * C.rows(), 3 * C.cols());
  for (Index j = 0; j < C.cols(); ++j)
    for (Index i = 0; i < C.rows(); ++i) result.block<3, 3>(3 * i, 3 * j).diagonal().setConstant(C(i, j));
  return result;
}

MatrixXd symmetric(const MatrixXd& A) {
  return 0.5 * (A + A.transpose());
}

// (C (x) I_3)' K (C (x) I_3)
MatrixXd congruent(const MatrixXd& K, const MatrixXd& C) {
  const MatrixXd wide = times_identity(C);
  MatrixXd KC(K.rows(), wide.cols());
  gemm(false, false, 1, K, wide, 0, KC);
  return symmetric(transposed_product(wide, KC));
}

// descending
VectorXd singular_values(const MatrixXd& A) {
  if (A.size() == 0) return VectorXd();
  return Eigen::JacobiSVD<MatrixXd>(A).singularValues();
}

double condition(const VectorXd& sigma) {
  if (sigma.size() == 0) return 1;
  const double smallest = sigma[sigma.size() - 1];
  return smallest > 0 ? sigma[0] / smallest : std::numeric_limits<double>::infinity();
}
double condition(const MatrixXd& A) {
  // more columns than rows are dependent
  return A.cols() > A.rows() ? std::numeric_limits<double>::infinity() : condition(singular_values(A));
}

// The triangle of A = QR, columns x columns, with singular values, norms and angles of A's columns.
MatrixXd triangle_of(const MatrixXd& A) {
  const Eigen::HouseholderQR<MatrixXd> qr(A);
  return qr.matrixQR().topRows(std::min(A.rows(), A.cols())).triangularView<Eigen::Upper>();
}

// columns of A, each times its factor
MatrixXd scaled_columns(const MatrixXd& A, const std::vector<int>& columns, const VectorXd& factors) {
  MatrixXd result(A.rows(), columns.size());
  for (size_t j = 0; j < columns.size(); ++j) result.col(j) = A.col(columns[j]) * factors[columns[j]];
  return result;
}

// Ritz values of the fields Q C beside the input modes.
std::vector<GcmsRitz> ritz_values(const GcmsSpace& space, const MatrixXd& C) {
  // an orthonormal basis of C's columns, whatever their lengths
  const MatrixXd unit = C * C.colwise().norm().cwiseMax(1e-300).cwiseInverse().asDiagonal();
  const Eigen::JacobiSVD<MatrixXd> svd(unit, Eigen::ComputeThinU);
  Index rank = 0;
  while (rank < svd.singularValues().size() &&
         svd.singularValues()[rank] > dependent * svd.singularValues()[0])
    ++rank;
  const MatrixXd Z = svd.matrixU().leftCols(rank);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(congruent(space.K, Z));
  LISSOM_ASSERT(eigen.info() == Eigen::Success);
  // the modes in the same coordinates: column 3 m + k of R's flexible part is mode m along k
  const int modes = space.mode_count();
  MatrixXd P(3 * space.R.rows(), modes);
  for (int m = 0; m < modes; ++m)
    for (Index a = 0; a < space.R.rows(); ++a)
      for (int k = 0; k < 3; ++k) P(3 * a + k, m) = space.R(a, rigid_columns + 3 * m + k);
  const MatrixXd overlap = transposed_product(eigen.eigenvectors(), transposed_product(times_identity(Z), P));
  MatrixXd mac = overlap.cwiseAbs2() * space.mode_masses.cwiseInverse().asDiagonal();

  // the best pairs first
  std::vector<GcmsRitz> result(modes);
  for (int done = 0; done < modes; ++done) {
    Index u, m;
    const double best = mac.maxCoeff(&u, &m);
    const double ritz = eigen.eigenvalues()[u], lambda = space.eigenvalues[m];
    result[m] = {space.mode_numbers[m], lambda, ritz, best, ritz / lambda - 1};
    mac.row(u).setConstant(-1);
    mac.col(m).setConstant(-2);
  }
  return result;
}

GcmsStep step_of(const GcmsSpace& space, std::string name, const std::vector<int>& columns,
                 const VectorXd& factors) {
  GcmsStep step;
  step.name = std::move(name);
  step.columns = 3 * static_cast<int>(columns.size());
  const MatrixXd all = scaled_columns(space.R_euclid, columns, factors);
  step.condition = condition(all);
  step.flexible_condition = condition(MatrixXd(all.rightCols(all.cols() - rigid_columns)));
  step.mass_condition = condition(scaled_columns(space.R, columns, factors));
  return step;
}

std::vector<int> all_columns(const GcmsSpace& space) {
  std::vector<int> columns(space.S.cols());
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

// Norms of the columns of S.
VectorXd norms_of(const GcmsSpace& space) {
  return space.R_euclid.colwise().norm();
}

// Factors that bring the constant and the flexible columns to the mean norm of the rotational ones. Columns
// without any length keep theirs.
VectorXd scale_factors(const VectorXd& norms) {
  VectorXd factors = VectorXd::Ones(norms.size());
  const double target = norms.segment<3>(1).mean();
  for (Index j = 0; j < norms.size(); ++j)
    if ((j < 1 || j > 3) && norms[j] > 0) factors[j] = target / norms[j];
  return factors;
}

// |cosine| of the flexible columns of S, Eq. 35. Columns of no length resemble nothing.
MatrixXd cosine_matrix(const MatrixXd& R_euclid) {
  const MatrixXd F = R_euclid.rightCols(R_euclid.cols() - rigid_columns);
  const VectorXd norms = F.colwise().norm();
  MatrixXd unit = F;
  for (Index j = 0; j < F.cols(); ++j) unit.col(j) *= norms[j] > 0 ? 1 / norms[j] : 0;
  return transposed_product(unit, unit).cwiseAbs().cwiseMin(1.0);
}

// Flexible columns that resemble an earlier one, which may itself be among those: "remove i-th column for
// unique i".
std::vector<GcmsRemoval> similar_columns(const MatrixXd& cosine, double threshold) {
  std::vector<GcmsRemoval> removed;
  for (Index i = 1; i < cosine.rows(); ++i) {
    Index j;
    const double largest = cosine.row(i).head(i).maxCoeff(&j);
    if (largest >= threshold)
      removed.push_back(
          {static_cast<int>(rigid_columns + i), static_cast<int>(rigid_columns + j), largest, "cosine"});
  }
  return removed;
}

std::vector<int> without(std::vector<int> columns, const std::vector<GcmsRemoval>& removed) {
  for (const GcmsRemoval& removal : removed) std::erase(columns, removal.column);
  return columns;
}

double largest_error(const std::vector<GcmsRitz>& ritz) {
  double largest = 0;
  for (const GcmsRitz& r : ritz) largest = std::max(largest, std::abs(r.error));
  return largest;
}

// Norms of a mode's three columns relative to the largest of them.
Vector3d relative_norms(const VectorXd& norms, int mode) {
  const Vector3d three = norms.segment<3>(rigid_columns + 3 * mode);
  return three / std::max(three.maxCoeff(), std::numeric_limits<double>::min());
}

}  // namespace

// A column of Q (x) I_3 meets a third of K's columns only: for entry (3 i + p,
// 3 j + q) of K the field b contributes K Q_jb to row 3 i + p of its direction q. Fields go through K four at
// a time, so that K is read once for four of them.
MatrixXd project_stiffness(const SymmetricMatrix& K, const MatrixXd& Q) {
  constexpr int width = 4, piece_columns = 3 * width, pieces = 4;
  const Index n = Q.rows(), r = Q.cols();
  const int* start = K.lower.outerIndexPtr();
  const int* row = K.lower.innerIndexPtr();
  const double* value = K.lower.valuePtr();
  MatrixXd result(3 * r, 3 * r);
  // Y_p: what acts in direction p on each node; a node's numbers lie together
  std::vector<std::array<MatrixXd, 3>> Y(pieces);
  MatrixXd acting(piece_columns, r);
  for (Index first = 0; first < r; first += pieces * width) {
    const int now = static_cast<int>(std::min<Index>(pieces, (r - first + width - 1) / width));
    parallel_for(now, 1, [&](Index piece) {
      const Index from = first + piece * width, fields = std::min<Index>(width, r - from);
      MatrixXd q = MatrixXd::Zero(width, n);
      q.topRows(fields) = Q.middleCols(from, fields).transpose();
      for (MatrixXd& y : Y[piece]) y.setZero(piece_columns, n);
      const auto add = [&](int i, int j, double a) {
        const double* x = q.data() + Index(j / 3) * width;
        double* y = Y[piece][i % 3].data() + Index(i / 3) * piece_columns + j % 3 * width;
        for (int b = 0; b < width; ++b) y[b] += a * x[b];
      };
      for (int j = 0; j < K.size(); ++j)
        for (int p = start[j]; p < start[j + 1]; ++p) {
          add(row[p], j, value[p]);
          if (row[p] != j) add(j, row[p], value[p]);
        }
    });
    for (int piece = 0; piece < now; ++piece) {
      const Index from = first + piece * width, fields = std::min<Index>(width, r - from);
      for (int p = 0; p < 3; ++p) {
        gemm(false, false, 1, Y[piece][p], Q, 0, acting);
        for (Index a = 0; a < r; ++a)
          for (Index b = 0; b < fields; ++b)
            for (int q = 0; q < 3; ++q) result(3 * a + p, 3 * (from + b) + q) = acting(q * width + b, a);
      }
    }
  }
  return symmetric(result);
}

const SymmetricMatrix& gcms_node_mass(const FeModel& model) {
  const int n = static_cast<int>(model.points.cols());
  if (n == 0) fail_input("{}: GCMS needs the coordinates of the nodes, and none are known", model.source);
  if (model.recovery.size() > 0)
    fail_input(
        "{}: GCMS needs three degrees of freedom at each node, but spiders or nodes without elements change "
        "them; assemble the body without its spiders",
        model.source);
  if (model.dof_count() != 3 * n)
    fail_input("{}: GCMS needs three degrees of freedom at each node, but there are {} for {} nodes",
               model.source, model.dof_count(), n);
  for (int i = 0; i < 3 * n; ++i)
    if (model.dofs[i].node != i / 3 || model.dofs[i].direction != i % 3)
      fail_input(
          "{}: GCMS needs three degrees of freedom at each node, x y z in node order; number {} should be "
          "node {}, direction {}, but is node {}, direction {}",
          model.source, i + 1, model.node_ids[i / 3], i % 3 + 1,
          model.dofs[i].node < 0 ? -1 : model.node_ids[model.dofs[i].node], model.dofs[i].direction + 1);

  if (model.node_mass.size() != n)
    fail_input(
        "{}: GCMS needs a mass matrix m (x) I_3, without coupling of directions and the same along x, y and "
        "z, but that of this "
        "body is none (or came without all of its nodes)",
        model.source);
  return model.node_mass;
}

std::string GcmsColumn::label() const {
  const char name[] = {static_cast<char>('x' + direction), 0};
  switch (kind) {
    case Kind::Translation:
      return "1";
    case Kind::Rotation:
      return fmt::format("X_{}", name);
    case Kind::Flexible:
      return fmt::format("mode {} {}", mode, name);
    case Kind::Field:
      break;
  }
  return fmt::format("field {}", mode);
}

double GcmsBasis::max_error() const {
  return largest_error(ritz);
}

MatrixXd GcmsBasis::mass_matrix() const {
  return times_identity(m_hat);
}

GcmsSpace gcms_space(const Eigen::Matrix3Xd& points, const SymmetricMatrix& node_mass,
                     const SymmetricMatrix& K, const Eigen::Ref<const MatrixXd>& modes,
                     const Eigen::Ref<const VectorXd>& eigenvalues, const std::vector<int>& numbers) {
  const Index n = points.cols(), count = modes.cols(), s = rigid_columns + 3 * count;
  LISSOM_ASSERT(node_mass.size() == n && K.size() == 3 * n && modes.rows() == 3 * n &&
                eigenvalues.size() == count &&
                (numbers.empty() || static_cast<Index>(numbers.size()) == count));
  GcmsSpace space;
  space.points = points;
  space.eigenvalues = eigenvalues;
  space.mode_numbers = numbers;
  if (numbers.empty())
    for (int m = 0; m < count; ++m) space.mode_numbers.push_back(m + 1);
  for (Index m = 0; m < count; ++m)
    if (!(eigenvalues[m] > 0) || !std::isfinite(eigenvalues[m]))
      fail_input("GCMS takes flexible modes only, but mode {} has the eigenvalue {}; leave it out",
                 space.mode_numbers[m], eigenvalues[m]);
  if (n < s)
    fail_input("GCMS of {} modes has {} fields, but the body has {} nodes only; use fewer modes", count, s,
               n);

  // the fields, Eqs. 4-6
  space.S.resize(n, s);
  space.S.col(0).setOnes();
  space.columns.push_back({GcmsColumn::Kind::Translation, 0, 0});
  for (int k = 0; k < 3; ++k) {
    space.S.col(1 + k) = points.row(k).transpose();
    space.columns.push_back({GcmsColumn::Kind::Rotation, 0, k});
  }
  for (Index m = 0; m < count; ++m)
    for (int k = 0; k < 3; ++k) {
      space.S.col(rigid_columns + 3 * m + k) = modes.col(m)(Eigen::seqN(k, n, 3));
      space.columns.push_back({GcmsColumn::Kind::Flexible, space.mode_numbers[m], k});
    }
  space.R_euclid = triangle_of(space.S);
  space.singular_values = singular_values(space.R_euclid);
  space.cosine = cosine_matrix(space.R_euclid);

  // rigid columns; the centre twice, because the first one carries the round-off of far away coordinates
  const VectorXd m_one = weighted(node_mass, MatrixXd::Ones(n, 1));
  space.mass = m_one.sum();
  if (!(space.mass > 0)) fail_input("GCMS needs a body with mass, found {} kg", space.mass);
  space.centre.setZero();
  MatrixXd X = points.transpose();
  for (int pass = 0; pass < 2; ++pass) {
    const Eigen::RowVector3d shift = (m_one.transpose() * X) / space.mass;
    space.centre += shift.transpose();
    X.rowwise() -= shift;
  }
  const Matrix3d G = transposed_product(X, weighted(node_mass, X));
  const Eigen::SelfAdjointEigenSolver<Matrix3d> inertia(G);
  if (!(inertia.eigenvalues()[0] > 1e-14 * inertia.eigenvalues()[2]))
    fail_input("GCMS needs a body that extends in all directions; its nodes lie in a plane or on a line");
  space.T = inertia.operatorInverseSqrt();
  MatrixXd affine(n, 3);
  gemm(false, false, 1, X, space.T, 0, affine);
  // once more against round-off: (I + E)^(-1/2) is I - E / 2
  const Matrix3d E = transposed_product(affine, weighted(node_mass, affine)) - Matrix3d::Identity();
  space.T = (space.T * (Matrix3d::Identity() - 0.5 * E)).eval();

  // Gram-Schmidt in the mass inner product, each column twice; one that brings nothing new gets no vector
  MatrixXd Q(n, s), mQ(n, s);
  MatrixXd R = MatrixXd::Zero(s, s);
  Q.col(0).setConstant(1 / std::sqrt(space.mass));
  gemm(false, false, 1, X, space.T, 0, Q.middleCols(1, 3));
  multiply(node_mass, Q.leftCols(rigid_columns), mQ.leftCols(rigid_columns));
  R(0, 0) = std::sqrt(space.mass);
  R.block<1, 3>(0, 1) = space.centre.transpose() * std::sqrt(space.mass);
  R.block<3, 3>(1, 1) = space.T.inverse();
  const MatrixXd mS = weighted(node_mass, space.S);
  Index r = rigid_columns;
  MatrixXd f(n, 1), mf(n, 1);
  for (Index j = rigid_columns; j < s; ++j) {
    f = space.S.col(j);
    const double own = std::sqrt(std::max(0.0, f.col(0).dot(mS.col(j))));
    for (int pass = 0; pass < 3; ++pass) {
      const MatrixXd c = transposed_product(mQ.leftCols(r), f);
      gemm(false, false, -1, Q.leftCols(r), c, 1, f);
      R.col(j).head(r) += c.col(0);
    }
    multiply(node_mass, f, mf);
    const double left = std::sqrt(std::max(0.0, f.col(0).dot(mf.col(0))));
    if (!(left > dependent * own)) continue;
    Q.col(r) = f / left;
    mQ.col(r) = mf / left;
    R(r++, j) = left;
  }
  space.Q = Q.leftCols(r);
  space.R = R.topRows(r);
  space.orthogonality = (transposed_product(space.Q, weighted(node_mass, space.Q)) - MatrixXd::Identity(r, r))
                            .cwiseAbs()
                            .maxCoeff();
  space.mode_masses.resize(count);
  for (Index m = 0; m < count; ++m) {
    double mass = 0;
    for (int k = 0; k < 3; ++k)
      mass += space.S.col(rigid_columns + 3 * m + k).dot(mS.col(rigid_columns + 3 * m + k));
    space.mode_masses[m] = mass;
  }
  space.K = project_stiffness(K, space.Q);
  return space;
}

GcmsBasis scalar_gcms_basis(const GcmsSpace& space, const SymmetricMatrix& node_mass,
                            const ScalarGcmsOptions& options) {
  if (!(options.truncation >= 0 && options.truncation < 1))
    fail_input("the truncation of GCMS fields is {}, expected 0 <= truncation < 1", options.truncation);
  const Index r = space.Q.cols(), flexible = r - rigid_columns, fields = space.S.cols() - rigid_columns;
  GcmsBasis basis;
  basis.method = "scalar";
  basis.cosine = space.cosine;
  basis.centre = space.centre;
  basis.T = space.T;
  basis.steps.push_back(step_of(space, "as they are", all_columns(space), VectorXd::Ones(space.S.cols())));

  // the energy product K_xx + K_yy + K_zz of the fields, without the rigid ones: H = L L'
  MatrixXd H(flexible, flexible);
  for (Index b = 0; b < flexible; ++b)
    for (Index a = 0; a < flexible; ++a)
      H(a, b) = space.K.block<3, 3>(3 * (rigid_columns + a), 3 * (rigid_columns + b)).trace();
  const Eigen::LLT<MatrixXd> llt(H);
  if (llt.info() != Eigen::Success)
    fail(
        "GCMS: a field of the modes costs no energy although it is not constant; does the body fall apart "
        "into pieces that nothing connects?");
  // deflated fields, modes with unit energy; H's error is relative to each field's own energy, so that the
  // singular values are as good as those of the fields themselves
  MatrixXd F = space.R.bottomRightCorner(flexible, fields);
  for (Index j = 0; j < fields; ++j) F.col(j) /= std::sqrt(space.eigenvalues[j / 3]);
  const MatrixXd LF = llt.matrixU() * F;
  const Eigen::JacobiSVD<MatrixXd> svd(LF, Eigen::ComputeThinU);
  const VectorXd& sigma = svd.singularValues();
  basis.singular_values = sigma;
  if (sigma.size() > 0 && sigma[0] > 0) basis.singular_values /= sigma[0];
  while (basis.kept < sigma.size() && basis.singular_values[basis.kept] > options.truncation) ++basis.kept;

  // back from the energy norm to the mass norm
  MatrixXd C = MatrixXd::Zero(r, rigid_columns + basis.kept);
  C.topLeftCorner(rigid_columns, rigid_columns).setIdentity();
  if (basis.kept > 0) {
    const MatrixXd U = llt.matrixU().solve(svd.matrixU().leftCols(basis.kept));
    const Eigen::HouseholderQR<MatrixXd> qr(U);
    C.bottomRightCorner(flexible, basis.kept) = qr.householderQ() * MatrixXd::Identity(flexible, basis.kept);
  }
  basis.S.resize(space.Q.rows(), C.cols());
  gemm(false, false, 1, space.Q, C, 0, basis.S);
  basis.K_hat = congruent(space.K, C);
  const MatrixXd gram = symmetric(transposed_product(basis.S, weighted(node_mass, basis.S)));
  basis.m_hat = MatrixXd::Identity(C.cols(), C.cols());
  basis.orthogonality = (gram - basis.m_hat).cwiseAbs().maxCoeff();

  for (int a = 0; a < rigid_columns; ++a) basis.columns.push_back(space.columns[a]);
  for (int a = 0; a < basis.kept; ++a) basis.columns.push_back({GcmsColumn::Kind::Field, a + 1, 0});
  GcmsStep step;
  step.name = "mass-orthonormal";
  step.columns = basis.coordinates();
  const MatrixXd triangle = triangle_of(basis.S);
  step.condition = condition(triangle);
  step.flexible_condition = condition(MatrixXd(triangle.rightCols(basis.kept)));
  // of the numbers themselves, not by construction
  const VectorXd squares = Eigen::SelfAdjointEigenSolver<MatrixXd>(gram).eigenvalues();
  step.mass_condition = std::sqrt(squares[squares.size() - 1] / squares[0]);
  basis.steps.push_back(step);
  basis.ritz = ritz_values(space, C);
  return basis;
}

GcmsBasis algorithm_1(const GcmsSpace& space, const Algorithm1Options& options, Diagnostics& diagnostics) {
  if (!(options.threshold > 0 && options.threshold <= 1))
    fail_input("the cosine threshold of GCMS is {}, expected 0 < threshold <= 1", options.threshold);
  GcmsBasis basis;
  basis.method = "algorithm-1";
  basis.centre.setZero();
  basis.T.setIdentity();
  const VectorXd norms = norms_of(space);
  std::vector<int> columns = all_columns(space);
  basis.steps.push_back(step_of(space, "as they are", columns, VectorXd::Ones(norms.size())));

  // columns that hold next to nothing
  for (int m = 0; m < space.mode_count(); ++m) {
    const Vector3d relative = relative_norms(norms, m);
    for (int k = 0; k < 3; ++k) {
      const int column = rigid_columns + 3 * m + k;
      if (relative[k] < dependent)
        basis.removed.push_back({column, -1, relative[k], "zero"});
      else if (relative[k] < options.faint)
        basis.faint.push_back({column, relative[k]});
    }
  }
  columns = without(std::move(columns), basis.removed);
  for (const GcmsRemoval& zero : basis.removed)
    diagnostics.warn("gcms.zero-column", fmt::format("Algorithm 1: the column of {} is zero and was removed",
                                                     space.columns[zero.column].label()));
  for (const FaintColumn& faint : basis.faint)
    diagnostics.warn(
        "gcms.faint-column",
        fmt::format("Algorithm 1: the column of {} is {:.1e} times the largest of its mode; scaling "
                    "makes a coordinate of what may be round-off",
                    space.columns[faint.column].label(), faint.relative_norm));

  // scale
  const VectorXd factors = scale_factors(norms);
  basis.steps.push_back(step_of(space, "scaled", columns, factors));
  basis.cosine = space.cosine;
  if (basis.steps.back().condition > options.desired_condition) {
    // remove what resembles an earlier column
    for (GcmsRemoval& removal : similar_columns(basis.cosine, options.threshold))
      basis.removed.push_back(std::move(removal));
    columns = without(std::move(columns), basis.removed);
    basis.steps.push_back(step_of(space, "cosine", columns, factors));
    if (basis.steps.back().condition > options.desired_condition) {
      // remove what a big drop of the singular values points at
      while (true) {
        const MatrixXd A = scaled_columns(space.R_euclid, columns, factors);
        const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullV);
        const VectorXd& sigma = svd.singularValues();
        Index i = 0;
        while (i + 1 < sigma.size() && !(sigma[i] > options.drop * sigma[i + 1])) ++i;
        if (i + 1 >= sigma.size() || A.cols() <= rigid_columns) break;
        Index involved;
        svd.matrixV().col(i + 1).tail(A.cols() - rigid_columns).cwiseAbs().maxCoeff(&involved);
        const int column = columns[rigid_columns + involved];
        const double ratio =
            sigma[i + 1] > 0 ? sigma[i] / sigma[i + 1] : std::numeric_limits<double>::infinity();
        basis.removed.push_back({column, -1, ratio, "singular value"});
        std::erase(columns, column);
      }
      basis.steps.push_back(step_of(space, "singular values", columns, factors));
    }
  }

  basis.S = scaled_columns(space.S, columns, factors);
  for (const int column : columns) basis.columns.push_back(space.columns[column]);
  const MatrixXd C = scaled_columns(space.R, columns, factors);
  basis.m_hat = symmetric(transposed_product(C, C));
  basis.K_hat = congruent(space.K, C);
  basis.kept = static_cast<int>(columns.size()) - rigid_columns;
  basis.singular_values = singular_values(scaled_columns(space.R_euclid, columns, factors));
  basis.ritz = ritz_values(space, C);
  return basis;
}

std::vector<GcmsSweepPoint> sweep_threshold(const GcmsSpace& space, const std::vector<double>& thresholds) {
  const VectorXd norms = norms_of(space), factors = scale_factors(norms);
  std::vector<GcmsSweepPoint> sweep;
  std::vector<int> previous;
  for (const double threshold : thresholds) {
    GcmsSweepPoint point;
    const auto removed = similar_columns(space.cosine, threshold);
    const std::vector<int> columns = without(all_columns(space), removed);
    if (!sweep.empty() && columns == previous) {
      point = sweep.back();
    } else {
      point.removed = 3 * static_cast<int>(removed.size());
      point.flexible_condition = step_of(space, "", columns, VectorXd::Ones(norms.size())).flexible_condition;
      const GcmsStep scaled = step_of(space, "", columns, factors);
      point.scaled_flexible_condition = scaled.flexible_condition;
      point.scaled_condition = scaled.condition;
      point.max_error = largest_error(ritz_values(space, scaled_columns(space.R, columns, factors)));
    }
    point.threshold = threshold;
    previous = columns;
    sweep.push_back(point);
  }
  return sweep;
}

}  // namespace lissom
