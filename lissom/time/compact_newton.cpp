#include "lissom/time/compact_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/small_factor.hpp"
#include "lissom/time/largest_rows.hpp"

namespace lissom {

namespace {

// as in newton_solver.cpp: the increment after the one of size d is assumed to be curvature d^2 / length at
// most
constexpr double usual_compact_curvature = 10;
// symmetric matrices larger than that are worth the half of the work
constexpr int largest_by_fours = 16;

}  // namespace

CompactNewton::CompactNewton(Equations& equations, const NewtonOptions& options, IntegrationSummary& summary)
    : equations_(equations),
      options_(options),
      summary_(summary),
      n_(equations.coordinates()),
      width_((n_ + 3) / 4 * 4),
      by_halves_(equations.symmetric() && n_ > largest_by_fours),
      length_(equations.length()),
      curvature_(usual_compact_curvature),
      r_(n_),
      inverse_(n_),
      smallest_(n_),
      J_(n_, n_),
      x_(width_),
      U_(static_cast<Eigen::Index>(width_) * n_),
      L_(U_.size()),
      pivots_(static_cast<size_t>(n_)) {
  LISSOM_ASSERT(equations.is_compact() && equations.is_ode() && length_ > 0);
}

bool CompactNewton::make(const ImplicitStep& step, const State& state) {
  ++summary_.residuals;
  ++summary_.jacobians;
  const double weight = 1 / step.ca;
  equations_.linearise(state, step.w, {weight, step.cv * weight, 1}, r_, J_);
  for (int i = 0; i < n_; ++i) x_[i] = -weight * r_[i];
  return std::isfinite(r_.sum());
}

bool CompactNewton::factorise(const ImplicitStep& step, const State& state) {
  ++summary_.factorisations;
  const double epsilon = n_ * std::numeric_limits<double>::epsilon();
  exchanged_ = false;
  // pivots of a matrix that is all but positive definite stay near its diagonal
  const double share = by_halves_ ? epsilon : 1e-8;
  for (int i = 0; i < n_; ++i) smallest_[i] = share * std::abs(J_(i, i));
  int stopped = 0;
  if (by_halves_) {
    stopped = small_ldlt(n_, J_.data(), inverse_.data(), smallest_.data());
  } else {
    const double* J = J_.data();
    for (int c = 0; c < n_; ++c)
      for (int i = 0; i < n_; ++i) U_[c * width_ + i] = *J++;
    stopped = small_lu_by_fours(n_, width_, U_.data(), L_.data(), inverse_.data(), smallest_.data());
  }
  if (stopped < 0) return true;
  exchanged_ = true;
  make(step, state);
  const double largest = J_.cwiseAbs().maxCoeff();
  small_lu(n_, J_.data(), pivots_.data());
  for (int i = 0; i < n_; ++i)
    if (!(std::abs(J_(i, i)) > epsilon * epsilon * largest)) {
      failure_ = fmt::format("the Newton matrix is singular at {}", equations_.row_name(i));
      return false;
    }
  return true;
}

bool CompactNewton::solve(const ImplicitStep& step, State& state) {
  LISSOM_ASSERT(step.ca > 0 && !step.f);
  state.t = step.t;
  curvature_ = std::max(usual_compact_curvature, 0.99 * curvature_);
  const double tolerance = options_.tolerance * length_;
  const double round_off = 16 * std::numeric_limits<double>::epsilon() * length_;
  const double* scale = equations_.displacement_scale().data();
  const auto residual_text = [&] {
    const int row = largest_motion_row(equations_, r_);
    return fmt::format("{}: residual {:.3g}", equations_.row_name(row), r_[row]);
  };
  const auto not_finite = [&] {
    failure_ = "numbers that are not finite; " + residual_text();
    return false;
  };

  double previous = 0;
  for (int k = 1; k <= options_.max_iterations; ++k) {
    if (!make(step, state)) return not_finite();
    if (!factorise(step, state)) return false;
    ++summary_.newton_iterations;
    double* x = x_.data();
    if (exchanged_)
      small_lu_solve(n_, J_.data(), pivots_.data(), x);
    else if (by_halves_)
      small_ldlt_solve(n_, J_.data(), inverse_.data(), x);
    else
      small_lu_by_fours_solve(n_, width_, U_.data(), L_.data(), inverse_.data(), x);

    double increment = 0, sum = 0;
    double *q = state.q.data(), *v = state.v.data(), *a = state.a.data();
    for (int i = 0; i < n_; ++i) {
      q[i] += x[i];
      v[i] += step.cv * x[i];
      a[i] += step.ca * x[i];
      const double size = std::abs(x[i]) * scale[i];
      sum += size;
      increment = std::max(increment, size);
    }
    if (!std::isfinite(sum)) return not_finite();

    // the next increment by the rate of the last two, or as the square of this one
    double rate = 0.5;
    if (previous > 0) {
      rate = increment / previous;
      curvature_ = std::max(curvature_, 2 * rate * length_ / previous);
      if (rate > 2 && k > 2) {
        failure_ = fmt::format("increments grow ({:.3g} m after {:.3g} m); {}", increment, previous,
                               residual_text());
        return false;
      }
    }
    const double theta = std::min(rate, curvature_ * increment / length_);
    if ((theta < 1 && theta / (1 - theta) * increment <= tolerance) || increment <= round_off) return true;
    previous = increment;
  }
  failure_ = fmt::format("increments of still {:.3g} m after {} iterations; {}", previous,
                         options_.max_iterations, residual_text());
  return false;
}

}  // namespace lissom
