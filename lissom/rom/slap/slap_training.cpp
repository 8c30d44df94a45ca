#include "lissom/rom/slap/slap_training.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lissom/core/polar.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tall_svd.hpp"
#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

int total_samples(const TrainingRuns& runs) {
  int count = 0;
  for (const auto& run : runs) count += run->samples();
  return count;
}

// Samples of all parts of all runs, block after block.
template <class Use>
void for_each_block(TrainingRuns& runs, int block, const ProgressHook& progress, Use use) {
  const double all = total_samples(runs);
  int done = 0;
  MatrixXd X;
  for (auto& run : runs)
    for (int first = 0; first < run->samples(); first += block) {
      const int count = std::min(block, run->samples() - first);
      for (size_t p = 0; p < run->parts().size(); ++p) {
        X.resize(3 * Index(run->parts()[p].nodes), count);
        run->read(static_cast<int>(p), first, count, X);
        use(static_cast<int>(p), done, X);
      }
      done += count;
      if (progress) progress("training data", done / all);
    }
}

// ---- data in the space's coordinates

// The block's nodes by columns (sample, direction): so that the product with the fields is one of matrices.
void by_nodes(const MatrixXd& X, MatrixXd& out) {
  const Index n = X.rows() / 3;
  out.resize(n, 3 * X.cols());
  for (Index c = 0; c < X.cols(); ++c)
    for (Index i = 0; i < n; ++i)
      for (int l = 0; l < 3; ++l) out(i, 3 * c + l) = X(3 * i + l, c);
}

// y of a part (3 s by samples).
void compress(const SlapSpacePart& part, const MatrixXd& nodal, MatrixXd& fields, Eigen::Ref<MatrixXd> y) {
  const Index s = part.fields(), count = nodal.cols() / 3;
  fields.resize(s, nodal.cols());
  gemm(true, false, 1, part.Q, nodal, 0, fields);
  for (Index c = 0; c < count; ++c)
    for (Index a = 0; a < s; ++a)
      for (int l = 0; l < 3; ++l) y(3 * a + l, c) = fields(a, 3 * c + l);
}

// Largest size of a node's position in a vector of x y z after x y z.
double largest_node(const Eigen::Ref<const VectorXd>& x) {
  double largest = 0;
  for (Index i = 0; i + 2 < x.size(); i += 3) largest = std::max(largest, x.segment<3>(i).norm());
  return largest;
}

// Nodal positions of a part (3 n by columns) from its coordinates.
MatrixXd expand(const SlapSpacePart& part, const Eigen::Ref<const MatrixXd>& y) {
  const Index s = part.fields(), n = part.Q.rows();
  MatrixXd fields(s, 3 * y.cols());
  for (Index c = 0; c < y.cols(); ++c)
    for (Index a = 0; a < s; ++a)
      for (int l = 0; l < 3; ++l) fields(a, 3 * c + l) = y(3 * a + l, c);
  const MatrixXd nodal = product(part.Q, fields);
  MatrixXd X(3 * n, y.cols());
  for (Index c = 0; c < y.cols(); ++c)
    for (Index i = 0; i < n; ++i)
      for (int l = 0; l < 3; ++l) X(3 * i + l, c) = nodal(i, 3 * c + l);
  return X;
}

double size_of(const SlapSpace& space) {
  double size = 0;
  for (const SlapSpacePart& part : space.parts) {
    const Vector3d centre = part.points.rowwise().mean();
    size = std::max(size, 2 * (part.points.colwise() - centre).colwise().norm().maxCoeff());
  }
  return size;
}

// ---- parts of a model

// K_r of a part over its fields but the constant one, in which rigid rotations cost exactly nothing.
MatrixXd without_rotations(const SlapSpacePart& part, const MatrixXd& K) {
  const Index n = K.rows() - 3;
  MatrixXd reduced = K.bottomRightCorner(n, n);
  MatrixXd turns = MatrixXd::Zero(9, 3);
  for (int a = 0; a < 3; ++a) turns.middleRows<3>(3 * a) = -skew(part.rest.row(1 + a));
  const MatrixXd R = Eigen::HouseholderQR<MatrixXd>(turns).householderQ() * MatrixXd::Identity(9, 3);
  reduced.leftCols(9) -= (reduced.leftCols(9) * R).eval() * R.transpose();
  reduced.topRows(9) -= R * (R.transpose() * reduced.topRows(9)).eval();
  return 0.5 * (reduced + reduced.transpose());
}

// L with L' L = K of a positive semi-definite K; what is below round-off of the largest eigenvalue goes.
MatrixXd factor_of(const MatrixXd& K) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(K);
  LISSOM_ASSERT(eigen.info() == Eigen::Success);
  const VectorXd& lambda = eigen.eigenvalues();
  const double smallest = 1e-15 * static_cast<double>(K.rows()) * std::max(0.0, lambda[lambda.size() - 1]);
  Index skip = 0;
  while (skip < lambda.size() && !(lambda[skip] > smallest)) ++skip;
  const Index kept = lambda.size() - skip;
  return lambda.tail(kept).cwiseSqrt().asDiagonal() * eigen.eigenvectors().rightCols(kept).transpose();
}

// The map from z to the deformation in the fields but the constant one: 3 (s - 1) by 9 (m + 2).
MatrixXd deformation_map(const SlapSpacePart& part, const MatrixXd& y) {
  const Index s = part.fields(), columns = y.cols();
  MatrixXd B = MatrixXd::Zero(3 * (s - 1), 9 * (columns + 1));
  for (Index a = 1; a < s; ++a)
    for (int l = 0; l < 3; ++l)
      for (int k = 0; k < 3; ++k) {
        if (a < 4)
          B(3 * (a - 1) + l, 3 * k + l) = part.rest(a, k);
        else
          for (Index q = 0; q < columns; ++q) B(3 * (a - 1) + l, 9 * (1 + q) + 3 * k + l) = y(3 * a + k, q);
      }
  return B;
}

// In its first nine columns only the symmetric part of E counts.
void symmetrise_strain(MatrixXd& C) {
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < k; ++l) {
      const VectorXd mean = 0.5 * (C.col(3 * k + l) + C.col(3 * l + k));
      C.col(3 * k + l) = mean;
      C.col(3 * l + k) = mean;
    }
}

// C in fewer rows: those that deformations on the way of the training need. Rows of C are as many as the part
// has fields, three times; but d and its derivatives, dz/deta_r, keep to a few directions (a part that turns
// about one axis needs three for every mode, not nine), whatever the energy that others would have.
MatrixXd compressed_rows(const MatrixXd& C, const SlapPart& part, const MatrixXd& states, double tolerance) {
  if (tolerance <= 0) return C;
  const Index m = states.rows(), k = states.cols(), width = C.cols();
  const auto map = [](const auto& column) { return Eigen::Map<const Matrix3d>(column.data()); };
  const auto affine = [&](const VectorXd& eta) {
    Matrix3d A = map(part.A.col(0));
    for (Index r = 0; r < m; ++r) A += eta[r] * map(part.A.col(1 + r));
    return A;
  };
  const Polar reference = polar(map(part.A.col(0)) * part.S0);
  // z_r of every state, also with the rotation since the reference turned back; z itself
  MatrixXd Z = MatrixXd::Zero(width, k * (2 * m + 1));
  Vector9d entries;
  const auto put = [&](Index column, Index at, const Matrix3d& block, double factor) {
    entries = Eigen::Map<const Vector9d>(block.data());
    Z.col(column).segment<9>(at) += factor * entries;
  };
  for (Index t = 0; t < k; ++t) {
    const VectorXd eta = states.col(t);
    const Matrix3d A = affine(eta);
    const Polar p = polar(A * part.S0);
    const Matrix3d R = p.A.transpose(), E = R * A - Matrix3d::Identity();
    // R = S R_ref with a rotation S since the reference; S' R_ref is as far on the other side
    const Matrix3d mirrored = reference.A.transpose() * p.A * reference.A.transpose();
    put(k * 2 * m + t, 0, E, 1);
    for (Index q = 0; q <= m; ++q) put(k * 2 * m + t, 9 * (1 + q), R, q == 0 ? 1 : eta[q - 1]);
    for (Index r = 0; r < m; ++r) {
      const Matrix3d A_r = map(part.A.col(1 + r));
      const Matrix3d turn = skew(-p.omega(A_r * part.S0));
      const Index column = 2 * (r * k + t);
      put(column, 0, turn * R * A + R * A_r, 1);
      for (Index q = 0; q <= m; ++q) put(column, 9 * (1 + q), turn * R, q == 0 ? 1 : eta[q - 1]);
      put(column, 9 * (2 + r), R, 1);
      put(column + 1, 0, mirrored * A_r, 1);
      put(column + 1, 9 * (2 + r), mirrored, 1);
    }
  }
  MatrixXd Y(C.rows(), Z.cols() + 9);
  Y << product(C, Z), C.leftCols(9);
  // each kind relative to its largest
  const auto normalise = [](auto columns) {
    const double largest = columns.colwise().norm().maxCoeff();
    if (largest > 0) columns /= largest;
  };
  for (Index r = 0; r < m; ++r) normalise(Y.middleCols(2 * r * k, 2 * k));
  normalise(Y.middleCols(2 * m * k, k));
  normalise(Y.rightCols(9));
  const TallSvd svd = dense_svd(Y);
  Index rank = 0;
  while (rank < svd.sigma.size() && svd.sigma[rank] > tolerance * svd.sigma[0]) ++rank;
  return svd.W.leftCols(rank).transpose() * C;
}

SlapPart make_part(const SlapSpacePart& part, const MatrixXd& y, const MatrixXd& states,
                   const SlapModelOptions& options) {
  SlapPart out;
  out.name = part.name;
  out.mass = part.mass;
  const Matrix3d rest = part.rest.middleRows<3>(1);
  out.S0 = rest.transpose() * rest;
  const Matrix3d to_A = rest.inverse().transpose();
  out.A.resize(9, y.cols());
  for (Index q = 0; q < y.cols(); ++q) {
    const Matrix3d Y = Eigen::Map<const Matrix3d>(y.col(q).data() + 3);
    Eigen::Map<Matrix3d>(out.A.col(q).data()) = Y * to_A;
  }
  const MatrixXd B = deformation_map(part, y);
  MatrixXd C = product(factor_of(without_rotations(part, part.K)), B);
  symmetrise_strain(C);
  out.C = compressed_rows(C, out, states, options.stiffness_tolerance);
  if (part.D.size() > 0) {
    MatrixXd damping = product(factor_of(without_rotations(part, part.D)), B);
    symmetrise_strain(damping);
    out.C_damping = compressed_rows(damping, out, states, options.stiffness_tolerance);
  }
  out.placed = part.placed;
  if (options.recovery) {
    out.node_ids = part.node_ids;
    out.points = part.points;
    out.fields = part.Q;
    out.coefficients = y;
    out.stress_modes = part.stress_modes;
  }
  return out;
}

SlapFrame make_frame(const SlapPlace& place, const MatrixXd& y, const SlapModelOptions& options) {
  SlapFrame frame;
  frame.name = place.name;
  frame.part = place.part;
  frame.arm = place.arm;
  frame.axes = place.axes;
  frame.rest = place.rest;
  if (options.recovery) frame.node_ids = place.node_ids;
  frame.position.resize(3, y.cols());
  if (place.moment.size() > 0) frame.moment.resize(9, y.cols());
  for (Index q = 0; q < y.cols(); ++q) {
    const Eigen::Map<const MatrixXd> Y(y.col(q).data(), 3, place.position.size());
    frame.position.col(q) = Y * place.position;
    if (place.moment.size() > 0)
      Eigen::Map<Matrix3d>(frame.moment.col(q).data()) = Y * place.moment.transpose();
  }
  return frame;
}

}  // namespace

SlapBasis slap_basis(const SlapSpace& space, TrainingRuns& runs, const SlapBasisOptions& options,
                     Diagnostics& diagnostics, const ProgressHook& progress) {
  const int k = total_samples(runs), size = space.dimension();
  if (k < 2) fail_input("a training needs at least two samples of a motion, and there is {}", k);
  LISSOM_ASSERT(options.reference_sample >= 0 && options.reference_sample < runs.front()->samples());

  // all samples in the space's coordinates; how far some of them are outside of it
  SlapBasis basis;
  MatrixXd Y(size, k), nodal, fields;
  const int every = std::max(1, k / 16);
  for_each_block(runs, options.block, progress, [&](int p, int first, const MatrixXd& X) {
    const SlapSpacePart& part = space.parts[p];
    LISSOM_ASSERT(X.rows() == 3 * part.points.cols());
    by_nodes(X, nodal);
    auto y = Y.block(space.offsets[p], first, 3 * part.fields(), X.cols());
    compress(part, nodal, fields, y);
    for (Index c = 0; c < X.cols(); ++c)
      if ((first + c) % every == 0)
        basis.outside_space =
            std::max(basis.outside_space, largest_node(X.col(c) - expand(part, MatrixXd(y.col(c)))));
  });
  int first = 0;
  for (const auto& run : runs) {
    basis.run_starts.push_back(first);
    first += run->samples();
  }

  // the reference, and the joints there
  basis.rho = Y.col(options.reference_sample);
  const double length = size_of(space);
  if (space.C.rows() > 0) {
    const VectorXd gap = space.C * basis.rho - space.c;
    int worst = 0;
    for (size_t i = 0; i < space.pairs.size(); ++i) {
      const double distance = gap.segment<3>(3 * static_cast<Index>(i)).norm();
      if (distance > basis.reference_gap) {
        basis.reference_gap = distance;
        worst = static_cast<int>(i);
      }
    }
    if (basis.reference_gap > 1e-6 * length)
      fail_input(
          "the reference (sample {} of {}) violates the joint '{}' by {:.3g} m; check the joint's nodes, and "
          "that the data are positions of this mechanism",
          options.reference_sample + 1, runs.front()->name(), space.pairs[worst].joint, basis.reference_gap);
  }
  MatrixXd delta = Y.colwise() - basis.rho;
  if (!(delta.cwiseAbs().maxCoeff() > 1e-14 * length))
    fail_input("the training data do not move: all {} samples are the same", k);

  // into the kernel of the joints
  const bool project = space.project && space.Z.size() > 0;
  if (project) {
    MatrixXd inside = transposed_product(space.Z, delta);
    const MatrixXd rest = delta - product(space.Z, inside);
    basis.beyond = rest.squaredNorm();
    for (size_t p = 0; p < space.parts.size(); ++p) {
      Index worst = 0;
      const Index rows = 3 * Index(space.parts[p].fields());
      rest.middleRows(space.offsets[p], rows).colwise().squaredNorm().maxCoeff(&worst);
      basis.outside_kernel = std::max(
          basis.outside_kernel,
          largest_node(
              expand(space.parts[p], MatrixXd(rest.block(space.offsets[p], worst, rows, 1))).col(0)));
    }
    delta = std::move(inside);
  }
  TallSvd svd = dense_svd(delta);
  // noise at round-off is no mode
  Index rank = 0;
  while (rank < svd.sigma.size() && rank < options.max_modes &&
         svd.sigma[rank] > 1e-16 * svd.sigma[0] * std::sqrt(static_cast<double>(k)))
    ++rank;
  basis.singular_values = svd.sigma;
  basis.beyond += svd.sigma.tail(svd.sigma.size() - rank).squaredNorm();
  basis.W = svd.W.leftCols(rank);
  if (project) basis.W = product(space.Z, basis.W);
  basis.eta = svd.sigma.head(rank).asDiagonal() * svd.V.leftCols(rank).transpose();
  if (space.C.rows() > 0) basis.joint_violation = (space.C * basis.W).colwise().squaredNorm().transpose();

  if (basis.outside_space > 1e-9 * length)
    diagnostics.warn(
        "train.outside-space",
        fmt::format("the training data lie up to {:.3g} m outside of what the component modes can "
                    "show; the model knows only what lies inside (modes = \"data\" takes all of "
                    "it)",
                    basis.outside_space));
  if (basis.outside_kernel > 1e-9 * length)
    diagnostics.warn(
        "train.outside-joints",
        fmt::format("the training data violate the joints: up to {:.3g} m were taken out of them so "
                    "that the model's joints hold exactly",
                    basis.outside_kernel));
  return basis;
}

std::vector<MatrixXd> snapshot_modes(TrainingRuns& runs, const SlapBasisOptions& options,
                                     VectorXd& singular_values, const ProgressHook& progress) {
  std::vector<Index> offsets;
  Index rows = 0;
  for (const SnapshotSource::Part& part : runs.front()->parts()) {
    offsets.push_back(rows);
    rows += 3 * Index(part.nodes);
  }
  VectorXd reference(rows);
  MatrixXd X, all;
  for (size_t p = 0; p < offsets.size(); ++p) {
    X.resize(3 * Index(runs.front()->parts()[p].nodes), 1);
    runs.front()->read(static_cast<int>(p), options.reference_sample, 1, X);
    reference.segment(offsets[p], X.rows()) = X.col(0);
  }
  TallSvdBuilder builder(rows);
  for_each_block(runs, options.block, progress, [&](int p, int, const MatrixXd& block) {
    all.resize(rows, block.cols());
    all.middleRows(offsets[p], block.rows()) = block;
    if (p + 1 < static_cast<int>(offsets.size())) return;
    all.colwise() -= reference;
    builder.add(all);
  });
  TallSvd svd = builder.finish(options.max_modes);
  singular_values = svd.sigma;
  std::vector<MatrixXd> modes;
  for (size_t p = 0; p < offsets.size(); ++p)
    modes.push_back(svd.W.middleRows(offsets[p], 3 * Index(runs.front()->parts()[p].nodes)));
  return modes;
}

SlapModel make_slap_model(const SlapSpace& space, const SlapBasis& basis, int m,
                          const SlapModelOptions& options) {
  if (m < 1 || m > basis.rank())
    fail_input("order {} is not possible: the training data have {} modes above round-off", m, basis.rank());
  const Index columns = m + 1;
  SlapModel model;
  model.mass_damping = options.mass_damping;
  model.training = make_training(basis.eta.topRows(m));

  // a few training states for the rows of C
  constexpr Index most_states = 40;
  const Index stride = (basis.eta.cols() + most_states - 1) / most_states;
  const MatrixXd states =
      basis.eta(Eigen::seqN(0, m), Eigen::seqN(0, (basis.eta.cols() + stride - 1) / stride, stride));

  MatrixXd y(space.dimension(), columns);
  y << basis.rho, basis.W.leftCols(m);
  MatrixXd M = MatrixXd::Zero(columns, columns);
  model.centre = MatrixXd::Zero(3, columns);
  model.angular = MatrixXd::Zero(3, columns * columns);
  model.scale = VectorXd::Zero(m);
  double mass = 0;
  std::vector<MatrixXd> of_part;
  for (size_t p = 0; p < space.parts.size(); ++p) {
    const SlapSpacePart& part = space.parts[p];
    const Index s = part.fields();
    of_part.push_back(y.middleRows(space.offsets[p], 3 * s));
    const MatrixXd& yp = of_part.back();
    model.parts.push_back(make_part(part, yp, states, options));
    mass += part.mass;
    // one direction of all columns at a time
    std::array<MatrixXd, 3> Y, mY;
    for (int l = 0; l < 3; ++l) {
      Y[l] = yp(Eigen::seqN(l, s, 3), Eigen::all);
      mY[l] = part.m * Y[l];
      M += Y[l].transpose() * mY[l];
      model.centre.row(l) += std::sqrt(static_cast<double>(part.points.cols())) * mY[l].row(0);
    }
    for (int l = 0; l < 3; ++l) {
      const int j = (l + 1) % 3, k = (l + 2) % 3;
      const MatrixXd cross = Y[j].transpose() * mY[k] - Y[k].transpose() * mY[j];
      for (Index q = 0; q < columns; ++q)
        for (Index r = 0; r < columns; ++r) model.angular(l, q * columns + r) += cross(q, r);
    }
    const MatrixXd nodal = expand(part, yp.rightCols(m));
    for (Index r = 0; r < m; ++r) model.scale[r] = std::max(model.scale[r], largest_node(nodal.col(r)));
  }
  model.M = 0.5 * (M + M.transpose()).bottomRightCorner(m, m);
  const VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<MatrixXd>(model.M, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(eigenvalues[0] > 1e-12 * eigenvalues[m - 1]))
    fail_input(
        "the reduced mass matrix of order {} is singular (eigenvalues {:.3g} to {:.3g} kg): a mode moves no "
        "mass; give the bodies mass, or take a smaller order",
        m, eigenvalues[0], eigenvalues[m - 1]);

  // size of the mechanism at the reference
  const Vector3d centre = model.centre.col(0) / mass;
  for (size_t p = 0; p < space.parts.size(); ++p) {
    const MatrixXd x = expand(space.parts[p], of_part[p].leftCols(1));
    for (Index i = 0; i < x.rows(); i += 3)
      model.radius = std::max(model.radius, (Vector3d(x.block<3, 1>(i, 0)) - centre).norm());
  }
  for (const SlapPlace& place : space.places)
    model.frames.push_back(make_frame(place, of_part[place.part], options));
  model.start = basis.eta.col(0).head(m);
  model.start_rate = VectorXd::Zero(m);
  return model;
}

void add_polynomial(SlapModel& model, const SlapSpace& space, const SlapBasis& basis,
                    const PolynomialOptions& options) {
  const Index m = model.order();
  std::vector<MatrixXd> w;
  for (size_t p = 0; p < space.parts.size(); ++p) {
    // fields beyond 1 and X
    const Index first = space.offsets[p] + 12, rows = 3 * (space.parts[p].fields() - 4);
    MatrixXd of_part(rows, m + 1);
    of_part << basis.rho.segment(first, rows), basis.W.block(first, 0, rows, m);
    w.push_back(std::move(of_part));
  }
  add_polynomial(model, w, model.training.samples, options);
}

void choose_form(SlapModel& model, const SlapSpace& space, const SlapBasis& basis, SlapForm form,
                 double limit) {
  if (form == SlapForm::Exact) {
    model.polynomial_why = "the exact kernel, as asked for";
    return;
  }
  if (model.order() > polynomial_largest_order) {
    model.polynomial_why = fmt::format("the exact kernel: a polynomial of more than {} unknowns is no gain",
                                       polynomial_largest_order);
    return;
  }
  PolynomialOptions options;
  options.tolerance = limit;
  add_polynomial(model, space, basis, options);
  const SlapPolynomial& found = *model.polynomial;
  const std::string against = too_far_for_polynomial(model, limit);
  if (!against.empty() && form == SlapForm::Automatic) {
    model = without_polynomial(std::move(model));
    model.polynomial_why = "the exact kernel: a polynomial is not near enough to it, as " + against;
    return;
  }
  Index rows = 0;
  for (const SlapPart& part : model.parts) rows += part.C.rows();
  model.polynomial_why = fmt::format(
      "a polynomial of {}{} rows in place of {}, which moves nodes by {:.2g} m at most in the training "
      "states",
      found.S.rows(), found.S_damping.rows() > 0 ? fmt::format(" + {}", found.S_damping.rows()) : "", rows,
      found.displacement);
  if (against.empty())
    model.polynomial_why += fmt::format(" (the limit is {:.2g} m)", limit);
  else
    model.polynomial_why += ", as asked for, though " + against;
}

SlapModel make_full_model(const SlapSpace& space, const SlapBasis& basis, const SlapModelOptions& options,
                          int m, MatrixXd& full) {
  SlapBasis all;
  all.rho = basis.rho;
  all.W = space.Z.size() > 0 ? space.Z : MatrixXd::Identity(space.dimension(), space.dimension());
  all.singular_values = VectorXd::Ones(all.W.cols());
  full = transposed_product(all.W, basis.W.leftCols(m));
  // states only fill the model's training, which nobody asks here
  all.eta = product(full, basis.eta.topRows(m).leftCols(2));
  SlapModelOptions every = options;
  every.recovery = false;
  every.stiffness_tolerance = 0;
  return make_slap_model(space, all, all.rank(), every);
}

OrderChoice analyse_orders(const SlapSpace& space, const SlapBasis& basis, int max_order,
                           const SlapModelOptions& options, const ProgressHook& progress) {
  OrderChoice choice;
  max_order = std::min(max_order, basis.rank());
  if (progress) progress("frequencies", 0);
  const int count = std::min(space.kernel_dimension(), std::max(30, max_order + 6));
  choice.system_frequencies_hz = linearised_frequencies(space, basis.rho, count);
  const VectorXd& system = choice.system_frequencies_hz;
  while (choice.rigid_motions < system.size() && system[choice.rigid_motions] == 0) ++choice.rigid_motions;
  const double lowest =
      choice.rigid_motions < system.size() ? system[choice.rigid_motions] : system[system.size() - 1];

  const double values = static_cast<double>(basis.eta.cols()) * [&] {
    double n = 0;
    for (const SlapSpacePart& part : space.parts) n += 3.0 * static_cast<double>(part.points.cols());
    return n;
  }();
  SlapModelOptions bare = options;
  bare.recovery = false;
  for (int m = 1; m <= max_order; ++m) {
    SlapOrder order;
    order.m = m;
    order.singular_value = basis.singular_values[m - 1];
    order.left_out =
        std::sqrt((basis.beyond + basis.singular_values.segment(m, basis.rank() - m).squaredNorm()) / values);
    if (basis.joint_violation.size() > 0) order.joint_violation = basis.joint_violation[m - 1];
    const SlapModel model = make_slap_model(space, basis, m, bare);
    order.frequencies_hz = slap_frequencies(model, VectorXd::Zero(m));
    // with exact joints frequencies are Ritz values and cannot lie below the mechanism's own
    int below = 0;
    for (const double f : order.frequencies_hz)
      if (f < 0.999 * lowest) ++below;
    order.spurious = std::max(0, below - choice.rigid_motions);
    if (order.spurious > 0 && choice.first_spurious == 0) choice.first_spurious = m;
    choice.orders.push_back(std::move(order));
    if (progress) progress("frequencies", m / static_cast<double>(max_order));
  }
  return choice;
}

void propose_order(OrderChoice& choice, double tolerance) {
  LISSOM_ASSERT(!choice.orders.empty());
  const bool reconstructed =
      choice.reconstructed || std::any_of(choice.orders.begin(), choice.orders.end(),
                                          [](const SlapOrder& order) { return order.rms_error.has_value(); });
  const auto error_of = [&](const SlapOrder& order) {
    return reconstructed ? order.rms_error.value_or(std::numeric_limits<double>::infinity()) : order.left_out;
  };
  const auto usable = [&](const SlapOrder& order) {
    return order.spurious == 0 && std::isfinite(error_of(order));
  };
  const SlapOrder *best = nullptr, *chosen = nullptr;
  for (const SlapOrder& order : choice.orders)
    if (usable(order) && (!best || error_of(order) < error_of(*best))) best = &order;
  const char* what = reconstructed ? "the training motion is reconstructed to" : "the modes beyond hold only";
  if (!best) {
    choice.proposed = choice.orders.front().m;
    choice.why = "no order is without spurious modes and can be run; the training is not to be trusted";
  } else {
    // good enough, or as good as it gets: then the training's own accuracy is the limit
    const double goal = std::max(tolerance, 2 * error_of(*best));
    for (const SlapOrder& order : choice.orders)
      if (!chosen && usable(order) && error_of(order) <= goal) chosen = &order;
    choice.proposed = chosen->m;
    choice.why = fmt::format(
        "smallest order at which {} {:.2g} m (rms of all nodal coordinates); {}", what, error_of(*chosen),
        error_of(*chosen) <= tolerance
            ? fmt::format("{:.2g} m is the tolerance", tolerance)
            : fmt::format("the tolerance of {:.2g} m is not reached by any, and more modes "
                          "gain less than a factor of two ({:.2g} m at {})",
                          tolerance, error_of(*best), best->m));
  }
  if (choice.first_spurious > 0)
    choice.why += fmt::format(
        "; from mode {} on the basis has a motion softer than the mechanism has any (a spurious one, from "
        "joints that are not exact)",
        choice.first_spurious);
}

}  // namespace lissom
