#include "lissom/time/step_control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lissom {

ErrorNorm::ErrorNorm(Equations& equations, const IntegratorOptions& options)
    : scale_(equations.displacement_scale()),
      length_(equations.length()),
      allowed_(options.tolerance * equations.length()),
      end_(options.end) {
  LISSOM_ASSERT(length_ > 0 && options.tolerance > 0);
  // a coordinate that moves nothing must not go without control
  if (scale_.size() > 0) {
    const double largest = scale_.maxCoeff();
    const double least = largest > 0 ? 1e-9 * largest : 1;
    scale_ = scale_.cwiseMax(least);
  }
}

double ErrorNorm::positions(const Eigen::VectorXd& e) const {
  if (e.size() == 0) return 0;
  const double largest = e.cwiseProduct(scale_).lpNorm<Eigen::Infinity>() / allowed_;
  // the norm of Eigen may drop what is not a number
  return e.allFinite() ? largest : std::numeric_limits<double>::infinity();
}

double ErrorNorm::velocities(const Eigen::VectorXd& e, double time) const {
  return positions(e) * time;
}

double ErrorNorm::time_scale(const State& state) const {
  const double metres = allowed_ / length_;
  return 1 / (1 / horizon_ + positions(state.v) * metres + std::sqrt(positions(state.a) * metres));
}

TrimmedStep trim_step(double t, double h, double stop) {
  const double remaining = stop - t;
  LISSOM_ASSERT(remaining > 0);
  if (h >= remaining * (1 - 1e-10)) return {remaining, stop};
  if (h > remaining / 2) h = remaining / 2;
  return {h, t + h};
}

double smallest_step(const IntegratorOptions& options, double t, double horizon) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return std::max(options.min_step, 16 * epsilon * std::max(std::abs(t), 1e-3 * horizon));
}

void count_step(IntegrationSummary& summary, double h) {
  summary.smallest_step = summary.steps == 0 ? h : std::min(summary.smallest_step, h);
  summary.largest_step = std::max(summary.largest_step, h);
  ++summary.steps;
}

}  // namespace lissom
