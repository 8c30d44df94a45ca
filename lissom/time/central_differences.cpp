// Central differences: velocities at half steps from accelerations at whole ones,
//
//   v(n+1/2) = v(n) + h/2 a(n),   q(n+1) = q(n) + h v(n+1/2),   v(n+1) = v(n+1/2) + h/2 a(n+1),
//
// second order, explicit, stable for h < 2 / omega_max. Forces that depend on velocities see the predicted
// v(n+1/2) + h/2 a(n), which keeps the order.

#include <cmath>

#include "lissom/time/initial_state.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

// the limit moves along the path (the highest frequency may grow), so look again now and then
constexpr int steps_between_checks = 500;
constexpr int most_iterations = 200;

class CentralDifferences final : public Stepper {
 public:
  CentralDifferences(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        accelerations_(equations),
        mass_(equations.coordinates() + equations.constraints(), equations.blocks()),
        stiffness_(equations.coordinates() + equations.constraints(), equations.blocks()) {
    if (!equations.is_ode())
      fail_input(
          "central differences take no constraints, found {} of them (the first is {}). Try "
          "generalized-alpha, hht-i3 or bdf",
          equations.constraints(), equations.row_name(equations.coordinates()));
    if (!(options.step > 0)) fail_input("central differences need a step, found {} s", options.step);
  }

  void start(const State& initial) override {
    state_ = previous_ = initial;
    accelerate();
    until_check_ = 0;
  }

  void step(double stop) override {
    if (until_check_-- == 0) {
      check_stability();
      until_check_ = steps_between_checks;
    }
    // equal steps up to `stop`, none longer than asked for
    const double remaining = stop - state_.t;
    LISSOM_ASSERT(remaining > 0);
    const double count = std::max(1.0, std::ceil(remaining / options_.step * (1 - 1e-10)));
    const double h = remaining / count;
    std::swap(previous_, state_);
    state_.t = count == 1 ? stop : previous_.t + h;
    half_ = previous_.v + h / 2 * previous_.a;
    state_.q = previous_.q + h * half_;
    state_.v = half_ + h / 2 * previous_.a;
    state_.turns = previous_.turns;
    accelerate();
    state_.v = half_ + h / 2 * state_.a;
    // accelerations that would carry the system through ten times its size in a step
    const double jump =
        h * h * state_.a.cwiseProduct(equations_.displacement_scale()).lpNorm<Eigen::Infinity>();
    if (!state_.a.allFinite() || !(jump < 10 * equations_.length())) {
      const double limit = stability_limit(previous_);
      fail(
          "central differences at {:.9g} s: the motion grows beyond all bounds. The step of {:g} s {} the "
          "limit of stability, about {:.3g} s; take a smaller one, or an implicit method",
          state_.t, h, h > limit ? "is above" : "is near", limit);
    }
    equations_.count_turns(state_);
    count_step(summary_, h);
  }

  const State& state() const override { return state_; }
  const State& previous() const override { return previous_; }

  void interpolate(double t, State& out) const override { interpolate_hermite(previous_, state_, t, out); }

  void archive(Archive& archive) override { archive(accelerations_, state_, previous_, x_, until_check_); }

  // 2 / omega_max [s] by iteration with M^-1 K at rest in the positions of a state; infinite without
  // stiffness. From above: what it says is not stable, is not.
  double stability_limit(const State& at) {
    const int n = equations_.coordinates();
    probe_ = at;
    probe_.v.setZero(n);
    probe_.a.setZero(n);
    equations_.jacobian(probe_, 1, {0, 0, 1, 1, 1}, mass_);
    equations_.jacobian(probe_, 1, {1, 0, 0, 1, 1}, stiffness_);
    summary_.jacobians += 2;
    ++summary_.factorisations;
    if (!mass_.factorise())
      fail("the mass matrix is singular at {}", equations_.row_name(mass_.singular_row()));
    if (x_.size() != n) {
      // every mode has a part in it
      x_.resize(n);
      for (int i = 0; i < n; ++i)
        x_[i] = (1 + 0.5 * std::sin(7.0 * i + 1)) / equations_.displacement_scale()[i];
      if (!x_.allFinite()) x_.setOnes();
    }
    Kx_.resize(n);
    Mx_.resize(n);
    double omega2 = 0;
    for (int k = 0; k < most_iterations; ++k) {
      mass_.multiply(x_, Mx_);
      const double energy = x_.dot(Mx_);
      if (!(energy > 0)) break;
      x_ /= std::sqrt(energy);
      stiffness_.multiply(x_, Kx_);
      const double quotient = x_.dot(Kx_);
      if (!Kx_.allFinite() || Kx_.isZero(0)) break;
      x_ = Kx_;
      mass_.solve_in_place(x_);
      const double before = omega2;
      omega2 = std::max(omega2, quotient);
      if (k > 10 && std::abs(omega2 - before) <= 1e-5 * omega2) break;
    }
    if (!x_.allFinite()) x_.resize(0);
    return omega2 > 0 ? 2 / std::sqrt(omega2) : std::numeric_limits<double>::infinity();
  }

 private:
  void accelerate() {
    accelerations_.solve(state_);
    ++summary_.residuals;
  }

  void check_stability() {
    const double limit = stability_limit(state_);
    if (options_.step > limit)
      fail(
          "central differences at {:.9g} s: the step of {:g} s is above the limit of stability, {:.4g} s (2 "
          "over the highest frequency of {:.4g} rad/s). Take a step of {:.2g} s or less, or an implicit "
          "method",
          state_.t, options_.step, limit, 2 / limit, 0.8 * limit);
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  AccelerationSolver accelerations_;
  NewtonMatrix mass_, stiffness_;
  State state_, previous_, probe_;
  Eigen::VectorXd half_, x_, Kx_, Mx_;
  int until_check_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> make_central_differences(Equations& equations, const IntegratorOptions& options,
                                                  IntegrationSummary& summary) {
  return std::make_unique<CentralDifferences>(equations, options, summary);
}

double stability_limit(Equations& equations, const State& at) {
  IntegrationSummary summary;
  IntegratorOptions options;
  options.integrator = Integrator::CentralDifferences;
  options.step = 1;
  return CentralDifferences(equations, options, summary).stability_limit(at);
}

}  // namespace lissom
