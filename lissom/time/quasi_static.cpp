// Runs without integration, as steppers: static equilibria one after the other, and mechanisms whose motion
// is prescribed altogether.
#include <algorithm>
#include <cmath>

#include "lissom/core/archive.hpp"
#include "lissom/core/error.hpp"
#include "lissom/time/equilibrium.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

// steps that fail are halved so often
constexpr int most_step_halvings = 12;
// of the size of the system: a correction beyond this leads to another position of the same mechanism
constexpr double farthest_correction = 0.1;

// Steps on the grid t0 + k h, each found from the one before.
class GridStepper : public Stepper {
 public:
  GridStepper(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations), summary_(summary), h_(options.step) {}

  void start(const State& initial) override {
    if (!has_grid_) {
      has_grid_ = true;
      t0_ = initial.t;
    }
    now_ = initial;
    settle(now_);
    equations_.count_turns(now_);
    before_ = now_;
  }

  void step(double stop) override {
    const double k = std::floor((now_.t - t0_) / h_ + 1e-3) + 1;
    double target = t0_ + k * h_;
    if (target > stop - 1e-3 * h_) target = stop;
    double dt = target - now_.t;
    for (int halvings = 0;; ++halvings) {
      State next = now_;
      next.t = halvings == 0 ? target : now_.t + dt;
      try {
        advance(now_, next);
        equations_.count_turns(next);
        before_ = now_;
        now_ = std::move(next);
        ++summary_.steps;
        summary_.smallest_step = summary_.smallest_step > 0 ? std::min(summary_.smallest_step, dt) : dt;
        summary_.largest_step = std::max(summary_.largest_step, dt);
        return;
      } catch (const InputError&) {
        throw;
      } catch (const Error&) {
        // nearer ones may be found from here
        ++summary_.rejected;
        if (halvings == most_step_halvings) throw;
        dt /= 2;
      }
    }
  }

  const State& state() const override { return now_; }
  const State& previous() const override { return before_; }
  void archive(Archive& archive) override { archive(has_grid_, t0_, now_, before_); }

 protected:
  // The first state, at its time.
  virtual void settle(State& state) = 0;
  // `next` has its time and is otherwise the one before; throws Error where it is not found.
  virtual void advance(const State& from, State& next) = 0;

  Equations& equations_;
  IntegrationSummary& summary_;
  State now_, before_;

 private:
  const double h_;
  bool has_grid_ = false;
  double t0_ = 0;
};

class StaticStepper final : public GridStepper {
 public:
  using GridStepper::GridStepper;

  void interpolate(double t, State& out) const override {
    const double s = (t - before_.t) / (now_.t - before_.t);
    out = now_;
    out.t = t;
    out.turns = before_.turns;
    out.q = (1 - s) * before_.q + s * now_.q;
    out.lambda = (1 - s) * before_.lambda + s * now_.lambda;
  }

 private:
  void settle(State& state) override { find(state); }
  void advance(const State&, State& next) override { find(next); }

  void find(State& state) {
    EquilibriumOptions options;
    options.stability = false;
    const Equilibrium found = find_equilibrium(equations_, state, options);
    summary_.newton_iterations += found.iterations;
    summary_.jacobians += found.iterations;
    summary_.factorisations += found.iterations;
    state = found.state;
  }
};

class KinematicStepper final : public GridStepper {
 public:
  KinematicStepper(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : GridStepper(equations, options, summary), accelerations_(equations), projector_(equations) {}

  void interpolate(double t, State& out) const override { interpolate_hermite(before_, now_, t, out); }
  void archive(Archive& archive) override {
    GridStepper::archive(archive);
    archive(accelerations_);
  }

 private:
  void settle(State& state) override {
    projector_.project(state, 1e-13);
    accelerations_.solve(state);
  }

  void advance(const State& from, State& next) override {
    const double dt = next.t - from.t;
    next.q += dt * (from.v + dt / 2 * from.a);
    next.v += dt * from.a;
    if (projector_.project(next, 1e-13) > farthest_correction * equations_.length())
      fail(
          "at {:.6g} s the positions jump: the prescribed motions lead beyond a dead centre, or the step is "
          "too "
          "long",
          next.t);
    accelerations_.solve(next);
    ++summary_.newton_iterations;
    ++summary_.factorisations;
  }

  AccelerationSolver accelerations_;
  Projector projector_;
};

}  // namespace

std::unique_ptr<Stepper> make_static(Equations& equations, const IntegratorOptions& options,
                                     IntegrationSummary& summary) {
  return std::make_unique<StaticStepper>(equations, options, summary);
}

std::unique_ptr<Stepper> make_kinematics(Equations& equations, const IntegratorOptions& options,
                                         IntegrationSummary& summary) {
  return std::make_unique<KinematicStepper>(equations, options, summary);
}

}  // namespace lissom
