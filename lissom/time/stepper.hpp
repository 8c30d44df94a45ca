// What every integrator is to the loop that drives it (integrate.cpp): something that takes one step after
// another and can say what was between the last two.
#pragma once

#include <memory>

#include "lissom/mbs/archive_state.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

class Stepper {
 public:
  virtual ~Stepper() = default;

  // Begins at a consistent state, or begins again there after a jump of the loads (multistep methods forget
  // what was before).
  virtual void start(const State& initial) = 0;

  // One accepted step, its turns counted, ending at `stop` at the latest: exactly there (bit for bit) when
  // the step would end within round-off of it or beyond. Throws Error where no step converges.
  virtual void step(double stop) = 0;

  // The states at the end and at the beginning of the last step.
  virtual const State& state() const = 0;
  virtual const State& previous() const = 0;
  // The state at a time between the two, with the order of the method; its turns count from the beginning.
  virtual void interpolate(double t, State& out) const = 0;

  // Everything that later steps depend on, between two steps: one that is read continues as the one that was
  // written would have, bit for bit. Counters of the summary are not part of it, and may be raised by
  // reading.
  virtual void archive(Archive& archive) = 0;
};

// One that a method which combines several drives itself, step by step.
class TrialStepper : public Stepper {
 public:
  // A step of h to `end`; false where it does not converge, with failure(), and nothing has changed.
  virtual bool try_step(double h, double end) = 0;
  virtual const std::string& failure() const = 0;
  // Remembers where it is, and goes back to there.
  virtual void mark() = 0;
  virtual void take_back() = 0;
};

// Counters of `summary` are raised by the steppers: steps, rejected, newton_iterations and so on, smallest
// and largest step; the loop does the rest.
std::unique_ptr<Stepper> make_generalized_alpha(Equations& equations, const IntegratorOptions& options,
                                                IntegrationSummary& summary);
// The method above without its step control and its counting of steps.
std::unique_ptr<TrialStepper> make_trial_alpha(Equations& equations, const IntegratorOptions& options,
                                               IntegrationSummary& summary);
std::unique_ptr<Stepper> make_extrapolated_alpha(Equations& equations, const IntegratorOptions& options,
                                                 IntegrationSummary& summary);
std::unique_ptr<Stepper> make_hht_i3(Equations& equations, const IntegratorOptions& options,
                                     IntegrationSummary& summary);
std::unique_ptr<Stepper> make_bdf(Equations& equations, const IntegratorOptions& options,
                                  IntegrationSummary& summary);
std::unique_ptr<Stepper> make_central_differences(Equations& equations, const IntegratorOptions& options,
                                                  IntegrationSummary& summary);
std::unique_ptr<Stepper> make_runge_kutta(Equations& equations, const IntegratorOptions& options,
                                          IntegrationSummary& summary);
std::unique_ptr<Stepper> make_cvode(Equations& equations, const IntegratorOptions& options,
                                    IntegrationSummary& summary);
std::unique_ptr<Stepper> make_static(Equations& equations, const IntegratorOptions& options,
                                     IntegrationSummary& summary);
std::unique_ptr<Stepper> make_kinematics(Equations& equations, const IntegratorOptions& options,
                                         IntegrationSummary& summary);

// Quintic between two states from q, v and a at both ends (v and a its derivatives), multipliers linear: what
// one-step methods of second order interpolate with.
void interpolate_hermite(const State& from, const State& to, double t, State& out);

}  // namespace lissom
