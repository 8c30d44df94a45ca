// What the integrators with controlled step have in common: how errors are measured, and how steps are made
// to end where they must.
#pragma once

#include <algorithm>

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

// A step that ends at `stop` at the latest, with its end; two halves rather than one step and a sliver.
struct TrimmedStep {
  double h = 0, end = 0;
};
TrimmedStep trim_step(double t, double h, double stop);

// Below this [s] a step is given up: options.min_step, or what round-off leaves of t.
double smallest_step(const IntegratorOptions& options, double t, double horizon);

// Counts an accepted step.
void count_step(IntegrationSummary& summary, double h);

}  // namespace lissom
