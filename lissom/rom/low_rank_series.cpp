#include "lissom/rom/low_rank_series.hpp"

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

// Directions of a block below this, relative to its columns, cannot be seen in a picture.
constexpr double block_tolerance = 1e-9;

Index components(PointMeasure measure) {
  return measure == PointMeasure::Length ? 3 : 6;
}

// Calls f(difference, shown) with pieces of W B - F G and of F G, some points at a time.
template <class Function>
void by_pieces(const MatrixXd& W, const MatrixXd& B, const MatrixXd& F, const MatrixXd& G, Index c,
               Function f) {
  constexpr Index numbers_at_once = 2000000;
  const Index frames = std::max<Index>(1, std::max(B.cols(), G.cols()));
  const Index rows_at_once = c * std::max<Index>(1, numbers_at_once / (c * frames));
  MatrixXd difference, shown;
  for (Index row = 0; row < W.rows(); row += rows_at_once) {
    const Index rows = std::min(rows_at_once, W.rows() - row);
    difference.setZero(rows, B.cols());
    shown.setZero(rows, B.cols());
    if (B.rows() > 0) gemm(false, false, 1, W.middleRows(row, rows), B, 0, difference);
    if (G.rows() > 0) {
      gemm(false, false, 1, F.middleRows(row, rows), G, 0, shown);
      difference -= shown;
    }
    f(difference, shown);
  }
}

}  // namespace

double largest_measure(const Eigen::Ref<const MatrixXd>& block, PointMeasure measure) {
  const Index n = block.rows() / components(measure), frames = block.cols();
  VectorXd of_frame = VectorXd::Zero(frames);
  parallel_for(frames, 0, block.size() > 1000000 ? thread_count() : 1, [&](Index k) {
    for (Index i = 0; i < n; ++i) {
      if (measure == PointMeasure::Length)
        of_frame[k] = std::max(of_frame[k], block.col(k).segment<3>(3 * i).squaredNorm());
      else
        of_frame[k] = std::max(of_frame[k], von_mises(block.col(k).segment<6>(6 * i)));
    }
  });
  const double largest = frames > 0 ? of_frame.maxCoeff() : 0;
  return measure == PointMeasure::Length ? std::sqrt(largest) : largest;
}

LowRankBuilder::LowRankBuilder(Index points, PointMeasure measure, double nothing, double bytes)
    : measure_(measure),
      svd_(points * components(measure), block_tolerance,
           std::max<Index>(1, static_cast<Index>(bytes / (8.0 * static_cast<double>(std::max<Index>(
                                                                    1, points * components(measure))))))),
      nothing_(nothing) {}

void LowRankBuilder::add(Eigen::Ref<MatrixXd> block) {
  for (Index k = 0; k < block.cols(); ++k) {
    const double largest = largest_measure(block.col(k), measure_);
    largest_ = std::max(largest_, largest);
    if (!(largest < nothing_)) continue;
    ignored_ = std::max(ignored_, largest);
    block.col(k).setZero();
  }
  svd_.add(block);
}

LowRankSeries LowRankBuilder::finish(double tolerance) {
  TallSvd svd = svd_.finish();
  const double left_out = svd.left_out;
  return finish(tolerance, std::move(svd), left_out);
}

LowRankSeries LowRankBuilder::finish(double tolerance, const Eigen::Ref<const MatrixXd>& C) {
  TallSvd svd = svd_.finish();
  LISSOM_ASSERT(C.rows() == svd.V.rows());
  double left_out = svd.left_out;
  LISSOM_ASSERT(nothing_ == 0);
  if (C.size() > 0) left_out *= C.colwise().norm().maxCoeff();
  if (svd.sigma.size() == 0) {
    svd.V.resize(C.cols(), 0);
    return finish(tolerance, std::move(svd), left_out);
  }
  // X C = W (diag(sigma) V' C), of which the bracket is small
  MatrixXd H(svd.sigma.size(), C.cols());
  gemm(true, false, 1, svd.V, C, 0, H);
  H = svd.sigma.asDiagonal() * H;
  TallSvd small = dense_svd(H);
  svd.W = product(svd.W, small.W);
  svd.sigma = std::move(small.sigma);
  svd.V = std::move(small.V);
  return finish(tolerance, std::move(svd), left_out);
}

LowRankSeries LowRankBuilder::finish(double tolerance, TallSvd svd, double left_out) {
  const Index c = components(measure_), rank = svd.sigma.size(), frames = svd.V.rows();
  // a column's length is at least that of each of its points; von Mises stress is at most sqrt(3) of it
  const double lost = ignored_ + left_out * (measure_ == PointMeasure::Length ? 1 : std::sqrt(3.0));
  const MatrixXd B = svd.sigma.asDiagonal() * svd.V.transpose();
  const MatrixXd none(0, 0);

  // error of rank r at some of the frames
  const auto error_of = [&](Index r, Index every) {
    MatrixXd tail(rank - r, (frames + every - 1) / every);
    for (Index k = 0; k < tail.cols(); ++k) tail.col(k) = B.col(k * every).tail(rank - r);
    double error = 0;
    by_pieces(svd.W.rightCols(rank - r), tail, none, none, c,
              [&](const MatrixXd& difference, const MatrixXd&) {
                error = std::max(error, largest_measure(difference, measure_));
              });
    return error + lost;
  };
  LowRankSeries out;
  out.reached_limit = svd.reached_limit;
  // where singular values alone say that it is enough, nothing is to be searched above
  Index high = rank, low = 0;
  for (double tail = lost; high > 0; --high) {
    tail = std::hypot(tail, std::sqrt(3.0) * svd.sigma[high - 1]);
    if (tail > tolerance) break;
  }
  const Index every = std::max<Index>(1, frames / 60);
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (error_of(middle, every) <= tolerance)
      high = middle;
    else
      low = middle + 1;
  }

  // single precision is part of the error; all frames count
  for (Index r = low;; ++r) {
    out.basis = svd.W.leftCols(r).cast<float>();
    MatrixXd amplitudes = B.topRows(r);
    for (Index k = 0; k < r; ++k) {
      const float size = out.basis.col(k).cwiseAbs().maxCoeff();
      if (!(size > 0)) continue;
      out.basis.col(k) /= size;
      amplitudes.row(k) *= size;
    }
    out.amplitudes = amplitudes.cast<float>();
    out.error = out.largest = 0;
    by_pieces(svd.W, B, out.basis.cast<double>(), out.amplitudes.cast<double>(), c,
              [&](const MatrixXd& difference, const MatrixXd& shown) {
                out.error = std::max(out.error, largest_measure(difference, measure_));
                out.largest = std::max(out.largest, largest_measure(shown, measure_));
              });
    out.error += lost;
    if (out.error <= tolerance || r >= rank) return out;
  }
}

}  // namespace lissom
