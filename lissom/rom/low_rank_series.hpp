// A field on many points over many frames as few shapes times amplitudes, to an error that every point keeps
// at every frame.
//
// The columns arrive in blocks and are never held as a whole (linalg/tall_svd.hpp). What the decomposition
// leaves out is then measured point by point and frame by frame, not guessed from singular values.
#pragma once

#include <Eigen/Core>

#include <cstdint>

#include "lissom/linalg/tall_svd.hpp"

namespace lissom {

// What counts of a point's components.
enum class PointMeasure : std::uint8_t {
  Length,   // of three
  VonMises  // of six, xx yy zz xy yz zx
};

struct LowRankSeries {
  Eigen::MatrixXf basis;       // c n by r, the largest entry of a column 1 in size
  Eigen::MatrixXf amplitudes;  // r by frames
  double largest = 0;          // of a point over all frames, as represented
  // Not exceeded by the measure of (field - basis * amplitudes) at any point and frame: what was measured,
  // and a bound of what the blocks lost.
  double error = 0;
  bool reached_limit = false;  // memory did not allow for a rank that the tolerance needs
};

class LowRankBuilder {
 public:
  // Of n points. Frames whose points all measure less than `nothing` count as zero, so that round-off has no
  // shapes. `bytes` limits the basis while it grows.
  LowRankBuilder(Eigen::Index points, PointMeasure measure, double nothing = 0, double bytes = 1.5e8);
  // c n by any number of frames; overwrites the block.
  void add(Eigen::Ref<Eigen::MatrixXd> block);
  // The largest measure of a point that was added.
  double largest() const { return largest_; }
  // The smallest rank whose error is at most `tolerance` (absolute). The builder is used up.
  LowRankSeries finish(double tolerance);
  // The same of the frames X C, where X are the columns added.
  LowRankSeries finish(double tolerance, const Eigen::Ref<const Eigen::MatrixXd>& C);

 private:
  LowRankSeries finish(double tolerance, TallSvd svd, double left_out);

  PointMeasure measure_;
  TallSvdBuilder svd_;
  double nothing_ = 0, largest_ = 0;
  double ignored_ = 0;  // largest measure of the frames that count as zero
};

// Largest measure of a point in a block of c n rows.
double largest_measure(const Eigen::Ref<const Eigen::MatrixXd>& block, PointMeasure measure);

}  // namespace lissom
