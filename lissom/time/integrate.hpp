// Integrators over Equations: one call, whichever the method.
//
//   generalized-alpha   index 3, Arnold and Bruels, scaled; second order, one step, damping by rho_inf
//   hht-i3              index 3, Hilber-Hughes-Taylor as in paper 004, Eqs. 4-5, with controlled step
//   extrapolated-alpha  two runs of generalized-alpha, steps and half steps, combined to one of fourth order
//   bdf                 index 3, or index 2 stabilised (Gear-Gupta-Leimkuhler); order and step controlled
//   central-differences explicit, ordinary differential equations only
//   runge-kutta         Dormand-Prince 5(4), controlled step
//   cvode               SUNDIALS CVODE, BDF with controlled order and step
//   static              no integration: the equilibrium under the loads of every step, v = a = 0
//   kinematics          no integration: mechanisms without degrees of freedom, all motion prescribed; the
//                       multipliers are what it takes (inverse dynamics)
//   auto                one of these, by what the equations are: see choose_integrator.hpp
//
// runge-kutta and cvode take constrained equations as well: accelerations from the index-1 equations, states put back
// onto the constraints after every step.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/mbs/equations.hpp"

namespace lissom {

class Archive;

enum class Integrator : std::uint8_t {
  GeneralizedAlpha,
  HhtI3,
  Bdf,
  CentralDifferences,
  RungeKutta,
  Cvode,
  Static,
  Kinematics,
  ExtrapolatedAlpha,
  Auto
};
std::string_view name_of(Integrator integrator);  // as above
const std::vector<std::pair<std::string, Integrator>>& integrator_names();

struct NewtonOptions {
  // Stop when the estimated error of the displacements is below this, relative to the size of the system.
  // Errors in q / h accumulate in the velocity; larger values show as drift.
  double tolerance = 1e-11;
  int max_iterations = 12;
  // Keep a factorised matrix while it converges faster than this rate; 0 factorises in every iteration.
  double reuse_rate = 0.3;
};

struct IntegratorOptions {
  Integrator integrator = Integrator::GeneralizedAlpha;
  double end = 0;     // [s]
  double step = 0;    // [s] the step of fixed-step methods, the first one of the others; 0 lets these choose
  double sample = 0;  // [s] interval of output, from the start on; 0: every step

  // generalized-alpha: spectral radius at infinite frequency; 1 damps nothing, 0 everything at once
  double rho_inf = 0.8;
  // hht-i3: -0.3 .. 0
  double alpha = -0.1;
  // bdf: 3, or 2 for the stabilised form; highest order 1..5
  int index = 3;
  int max_order = 5;

  // Step control: bdf, runge-kutta and cvode always have it, generalized-alpha and hht-i3 if `adaptive`.
  // `tolerance` is the error of a step relative to the size of the system. `elastic_tolerance` is that of the
  // deformation of each flexible body, as the root of the error's elastic energy over the largest energy of the body
  // so far; bdf beyond order 2 and cvode do not control it.
  bool adaptive = false;
  double tolerance = 1e-6;
  double elastic_tolerance = 0.03;
  // Fixed steps that do not converge are halved, 20 times at most, and return to their grid; a warning says
  // so.
  double min_step = 0, max_step = 0;  // [s] 0: no limit but round-off, and the whole time

  NewtonOptions newton;

  // Every problem of the options, as sentences; `equations` may be null.
  std::vector<std::string> problems(const Equations* equations) const;
};

// Called with every accepted step, and with every sample. Samples lie at start + k sample and at the end; a
// sample between two steps is interpolated with the order of the method, positions and velocities included.
struct IntegrationOutput {
  std::function<void(const State&)> step;
  std::function<void(const State&)> sample;
  // asked before every step; true ends the run after the samples so far
  std::function<bool()> stop;
  // Called before every step, after `stop` was asked, with a function that puts the whole state of the
  // integration into an archive (summary included, as of now), and whether it ends here. integrate() goes on
  // from such an archive as if nothing had been: every step and sample that follows is the same bit for bit.
  using Save = std::function<void(Archive&)>;
  std::function<void(const Save& save, bool stopped)> between;
  // Called at the start and at every multiple of `period` [s] after it, where a step ends, with the state there:
  // sample and hold. What it changes of the equations, their inputs, acts from then on: the integrator begins
  // again with the accelerations that belong to it. Such a run cannot be resumed, because nobody knows what
  // `act` remembers.
  struct Control {
    double period = 0;
    std::function<void(const State&)> act;
  } control;
};

struct IntegrationSummary {
  long steps = 0, rejected = 0, newton_iterations = 0, residuals = 0, jacobians = 0, factorisations = 0;
  double smallest_step = 0, largest_step = 0;  // [s] accepted ones
  double seconds = 0;                          // spent, output included
  double output_seconds = 0;                   // of these, in `output`; what every step does, at some of them
  double end = 0;                              // [s] reached
  bool stopped = false;                        // by output.stop
  double deformation_error = 0;                // of accepted steps, the largest, as elastic_tolerance has it
  std::string deformation_part;                // whose
  double half_step_error = 0;                  // [m] of extrapolated-alpha: of its half steps alone
  Integrator integrator = Integrator::Auto;    // that was taken
  std::string choice;                          // why, where it was chosen
  void archive(Archive& archive);
};

// From a consistent initial state to options.end. Throws Error where a step will not converge down to the
// smallest one (message: time, body and joint of the largest residuals, what to try) or numbers are not
// finite; `output` then has had everything up to there. `summary` is filled in either case.
// `resume`: an archive that IntegrationOutput::between has filled, of the same equations, initial state and
// options; what was given to `output` before it is not given again. Seconds add up. cvode, which keeps its
// history to itself, repeats its steps since the start or the last jump of the loads.
void integrate(Equations& equations, const State& initial, const IntegratorOptions& options,
               const IntegrationOutput& output, IntegrationSummary& summary, Diagnostics& diagnostics,
               const ProgressHook& progress = {}, Archive* resume = nullptr);

// The largest stable step of central differences in the positions of a state, 2 / omega_max [s] of the system
// linearised there; infinite without stiffness. Of equations without constraints. From above: a longer step
// is not stable for sure.
double stability_limit(Equations& equations, const State& at);

}  // namespace lissom
