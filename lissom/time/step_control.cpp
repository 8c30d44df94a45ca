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

namespace {
// a part whose energy grows so much in a step has nothing to compare with
constexpr double first_growth = 10;
// of energies
constexpr double round_off = 1e-14;
}  // namespace

DeformationNorm::DeformationNorm(Equations& equations, const IntegratorOptions& options, Use use)
    : equations_(equations), use_(use), tolerance_(options.elastic_tolerance) {
  parts_ = equations.deforming_parts();
  energy_ = error_ = largest_ = worst_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(parts_.size()));
}

double DeformationNorm::error(const Eigen::VectorXd& q, const Eigen::VectorXd& e, int rejections) {
  constexpr int most_rejections = 3;
  if (energy_.size() == 0) return 0;
  q_ = q + e;
  equations_.elastic_energies(q_, error_);
  q_ = q - e;
  equations_.elastic_energies(q_, energy_);
  error_ = (error_ + energy_) / 2;
  equations_.elastic_energies(q, energy_);
  error_ -= energy_;
  double worst = 0;
  for (Eigen::Index k = 0; k < energy_.size(); ++k) {
    const double reference = std::max(largest_[k], energy_[k]);
    if (!(error_[k] > round_off * reference)) continue;
    const double one = std::sqrt(error_[k] / reference) / tolerance_;
    const bool grows = largest_[k] < energy_[k] / first_growth;
    worst = std::max(worst, grows && rejections >= most_rejections ? std::min(one, 1.0) : one);
  }
  // what is not finite fails elsewhere
  return use_ == Use::Control && std::isfinite(worst) ? worst : 0;
}

void DeformationNorm::accept(IntegrationSummary& summary) {
  if (energy_.size() == 0) return;
  worst_ = worst_.cwiseMax(error_);
  largest_ = largest_.cwiseMax(energy_);
  summary.deformation_error = 0;
  for (Eigen::Index k = 0; k < energy_.size(); ++k) {
    if (!(worst_[k] > round_off * largest_[k])) continue;
    const double one = std::sqrt(worst_[k] / largest_[k]);
    if (one <= summary.deformation_error) continue;
    summary.deformation_error = one;
    summary.deformation_part = parts_[static_cast<size_t>(k)];
  }
}

TrimmedStep trim_step(double t, double h, double stop) {
  const double remaining = stop - t;
  LISSOM_ASSERT(remaining > 0);
  if (h >= remaining * (1 - 1e-10)) return {remaining, stop};
  if (h > remaining / 2) h = remaining / 2;
  return {h, t + h};
}

void FixedSteps::start(double t) {
  halvings = 0;
  if (has_grid) return;
  has_grid = true;
  t0 = t;
}

TrimmedStep FixedSteps::next(double t, double h, double stop) {
  // next point of the grid, one more where that is next to nothing away
  const double k = std::floor((t - t0) / h + 1e-3) + 1;
  target = t0 + k * h;
  if (target > stop - 1e-3 * h) target = stop;
  const double remaining = target - t;
  piece = h / std::ldexp(1.0, halvings);
  const double pieces = std::max(1.0, std::ceil(remaining / piece - 2e-3));
  double dt = remaining / pieces;
  const double end = pieces == 1 ? target : t + dt;
  if (std::abs(dt - piece) < 1e-9 * piece) dt = piece;  // equal steps stay equal in the last digit
  return {dt, end};
}

void FixedSteps::accepted(double t) {
  if (halvings == 0) return;
  const double left = (target - t) / (2 * piece);
  if (std::abs(left - std::round(left)) < 1e-3) --halvings;
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
