// What the integrators with controlled step have in common: how errors are measured, and how steps are made
// to end where they must.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lissom/core/archive.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

// Errors relative to tolerance times length(), largest entry: 1 is what is just allowed. Positions count by
// the displacement that they make. An error of a velocity counts by the displacement that it makes within a
// time: time_scale(), in which the motion goes through its own size, or less where velocities are only known
// with one order less.
class ErrorNorm {
 public:
  ErrorNorm(Equations& equations, const IntegratorOptions& options);

  double positions(const Eigen::VectorXd& e) const;
  double velocities(const Eigen::VectorXd& e, double time) const;

  // Time [s] in which velocities and accelerations of a state move by length(); at most the whole time.
  //   1 / T = 1 / horizon + |v| / length + sqrt(|a| / length)
  double time_scale(const State& state) const;
  // Begins to count the whole time.
  void start(double t) { horizon_ = std::max(end_ - t, 0.0); }
  double horizon() const { return horizon_; }
  void archive(Archive& archive) { archive(horizon_); }

  // Metres of a unit of each coordinate (n), none zero; and the error that is just allowed [m].
  const Eigen::VectorXd& scale() const { return scale_; }
  double allowed() const { return allowed_; }

 private:
  Eigen::VectorXd scale_;
  double length_, allowed_, end_;
  double horizon_ = 0;
};

// Errors of deformations. Those of a mechanism that moves by metres may be micrometres, and all that is seen of its
// stress may lie below what is allowed to positions. So each part that deforms has a measure of its own: an error e of
// the positions counts by the root of its elastic energy,
//
//   e' K e / 2 = (V(q + e) + V(q - e)) / 2 - V(q),
//
// over elastic_tolerance times the root of the largest energy V that the part has had so far. Energies weigh all modes
// of a part by what they hold, whatever its coordinates are, and rigid motions not at all.
//
// Only methods that are stable for all stiff modes are controlled by it. Others let modes grow that they do not resolve
// until the tolerance stops them, and a tolerance that is relative to what has grown stops nothing: they `watch`.
//
// A part that begins to deform has nothing to compare with: the first steps of a load that grows like t^n are wrong by
// as much as they are large, however short. Where energy has grown tenfold in a step, an error rejects three times.
class DeformationNorm {
 public:
  enum class Use : std::uint8_t { Control, Watch };
  DeformationNorm(Equations& equations, const IntegratorOptions& options, Use use);

  // The largest one of all parts: 1 is what is just allowed; 0 where it only watches. `rejections` of this step so
  // far.
  double error(const Eigen::VectorXd& q, const Eigen::VectorXd& e, int rejections);
  // The state of the last error() is one of the run. `summary` has the largest error of such states, over the largest
  // energy of the part.
  void accept(IntegrationSummary& summary);
  double tolerance() const { return tolerance_; }
  void archive(Archive& archive) { archive(largest_, worst_); }

 private:
  Equations& equations_;
  const Use use_;
  const double tolerance_;
  std::vector<std::string> parts_;
  Eigen::VectorXd energy_, error_, largest_, worst_, q_;  // [J] of the parts
};

// A step that ends at `stop` at the latest, with its end; two halves rather than one step and a sliver.
struct TrimmedStep {
  double h = 0, end = 0;
};
TrimmedStep trim_step(double t, double h, double stop);

// Fixed steps: they end on the grid t0 + k h and at stops, and are halved, 20 times at most, where they fail, until
// twice as long ones end on the grid again.
struct FixedSteps {
  static constexpr int most_halvings = 20;
  bool has_grid = false;
  double t0 = 0;  // of the grid
  int halvings = 0;
  double target = 0, piece = 0;  // of the last next(): where the grid goes on, the length on the way there

  // The grid begins with the first start; a later one, after a jump, goes on with it.
  void start(double t);
  // The step to try from t.
  TrimmedStep next(double t, double h, double stop);
  // One that ended at t was accepted.
  void accepted(double t);
};

// Below this [s] a step is given up: options.min_step, or what round-off leaves of t.
double smallest_step(const IntegratorOptions& options, double t, double horizon);

// Counts an accepted step.
void count_step(IntegrationSummary& summary, double h);

}  // namespace lissom
