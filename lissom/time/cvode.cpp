// CVODE of SUNDIALS (Hindmarsh et al., ACM TOMS 31, 2005): backward differentiation of orders 1 to 5 with
// controlled step, over y = (q, v) with accelerations from the index-1 equations. Without constraints the
// Jacobian is exact, da/dq = -M^-1 dr/dq and da/dv = -M^-1 dr/dv; with them it takes CVODE's differences,
// because the derivative of the constraints' curvature is not at hand. States are put back onto the
// constraints in every step, by CVODE's own projection.

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "lissom/time/initial_state.hpp"
#include "lissom/time/largest_rows.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;

class Cvode final : public Stepper {
 public:
  Cvode(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        n_(equations.coordinates()),
        norm_(equations, options),
        deformations_(equations, options, DeformationNorm::Use::Watch),
        accelerations_(equations),
        projector_(equations),
        newton_(n_ + equations.constraints(), equations.blocks()) {
    // n + m to hold the blocks; only without constraints is it used
    if (SUNContext_Create(nullptr, &context_) != 0) fail("SUNDIALS could not make a context");
    y_ = N_VNew_Serial(2 * n_, context_);
    between_ = N_VNew_Serial(2 * n_, context_);
    matrix_ = SUNDenseMatrix(2 * n_, 2 * n_, context_);
    if (!y_ || !between_ || !matrix_) {
      release();
      fail("CVODE: no memory for {} coordinates", n_);
    }
    solver_ = SUNLinSol_Dense(y_, matrix_, context_);
  }
  ~Cvode() override { release(); }
  Cvode(const Cvode&) = delete;
  Cvode& operator=(const Cvode&) = delete;

  void start(const State& initial) override {
    started_at_ = state_ = previous_ = work_ = initial;
    steps_since_start_ = 0;
    norm_.start(initial.t);
    accelerations_.solve(state_);
    time_ = norm_.time_scale(state_);
    pack(state_);
    // counters begin anew with every start, so a fresh one is simplest
    if (memory_) CVodeFree(&memory_);
    counted_ = Counters();
    memory_ = CVodeCreate(CV_BDF, context_);
    if (!memory_) fail("CVODE could not be set up");
    check(CVodeSetErrHandlerFn(memory_, on_message, this));
    check(CVodeInit(memory_, on_rates, initial.t, y_));
    check(CVodeSetUserData(memory_, this));
    check(CVodeWFtolerances(memory_, on_weights));
    check(CVodeSetLinearSolver(memory_, solver_, matrix_));
    if (equations_.is_ode()) {
      check(CVodeSetJacFn(memory_, on_jacobian));
    } else {
      check(CVodeSetProjFn(memory_, on_projection));
      check(CVodeSetProjErrEst(memory_, SUNFALSE));
    }
    check(CVodeSetMaxOrd(memory_, std::clamp(options_.max_order, 1, 5)));
    if (options_.step > 0) check(CVodeSetInitStep(memory_, options_.step));
    if (options_.max_step > 0) check(CVodeSetMaxStep(memory_, options_.max_step));
    check(CVodeSetMaxNumSteps(memory_, -1));
    check(CVodeSetMaxHnilWarns(memory_, -1));
  }

  void step(double stop) override {
    previous_ = state_;
    LISSOM_ASSERT(steps_since_start_ == 0 || stop == stop_);
    stop_ = stop;
    // what is left before a stop may be less than the smallest step
    check(CVodeSetMinStep(memory_,
                          std::min(smallest_step(options_, state_.t, norm_.horizon()), stop - state_.t)));
    check(CVodeSetStopTime(memory_, stop));
    double reached = state_.t;
    const int flag = CVode(memory_, stop, y_, &reached, CV_ONE_STEP);
    count();
    if (unexpected_) std::rethrow_exception(unexpected_);
    if (flag < 0)
      fail(
          "cvode at {:.9g} s: {} ({}{}{}). A larger tolerance may help, or another integrator; if the loads "
          "jump, smoothen them, and check whether the mechanism is at a dead centre",
          reached, message_.empty() ? std::string(CVodeGetReturnFlagName(flag)) : message_, last_error_,
          last_error_.empty() ? "" : "; ", name_largest(equations_, state_));
    if (!(reached > previous_.t))
      fail("cvode at {:.9g} s: steps have become too short to go on{}", reached,
           last_error_.empty() ? "" : " (" + last_error_ + ")");
    last_error_.clear();
    state_.t = flag == CV_TSTOP_RETURN ? stop : reached;
    unpack(y_, state_);
    accelerations_.solve(state_);
    equations_.count_turns(state_);
    work_.turns = state_.turns;
    time_ = norm_.time_scale(state_);
    watch_deformations();
    count_step(summary_, state_.t - previous_.t);
    ++steps_since_start_;
  }

  const State& state() const override { return state_; }
  const State& previous() const override { return previous_; }

  void interpolate(double t, State& out) const override {
    const int flag = CVodeGetDky(memory_, t, 0, between_);
    if (flag < 0) fail("cvode: no state at {:.9g} s: {}", t, message_);
    out.t = t;
    unpack(between_, out);
    out.turns = previous_.turns;
    if (!equations_.is_ode()) projector_.project(out, options_.newton.tolerance);
    accelerations_.solve(out);
  }

  // CVODE does not give its history away: it is made again, by the same steps from the last start on.
  void archive(Archive& archive) override {
    archive(accelerations_, started_at_, stop_, steps_since_start_);
    if (!archive.loading()) return;
    const long steps = steps_since_start_;
    start(State(started_at_));
    for (long k = 0; k < steps; ++k) step(stop_);
  }

 private:
  struct Counters {
    long rates = 0, iterations = 0, jacobians = 0, setups = 0, errors = 0, failures = 0;
  };

  void release() {
    if (memory_) CVodeFree(&memory_);
    if (solver_) SUNLinSolFree(solver_);
    if (matrix_) SUNMatDestroy(matrix_);
    if (between_) N_VDestroy(between_);
    if (y_) N_VDestroy(y_);
    if (context_) SUNContext_Free(&context_);
  }

  void check(int flag) const {
    if (flag < 0) fail("cvode: {}", message_.empty() ? std::string(CVodeGetReturnFlagName(flag)) : message_);
  }

  void pack(const State& s) {
    Vector y(N_VGetArrayPointer(y_), 2 * n_);
    y << s.q, s.v;
  }
  void unpack(N_Vector from, State& s) const {
    const Vector y(N_VGetArrayPointer(from), 2 * n_);
    s.q = y.head(n_);
    s.v = y.tail(n_);
  }

  // CVODE's norm is one of coordinates: errors of deformations are not controlled, only seen.
  void watch_deformations() {
    check(CVodeGetEstLocalErrors(memory_, between_));
    deformations_.error(state_.q, Vector(N_VGetArrayPointer(between_), 2 * n_).head(n_), 0);
    deformations_.accept(summary_);
  }

  void count() {
    Counters now;
    CVodeGetNumRhsEvals(memory_, &now.rates);
    long for_jacobian = 0;
    CVodeGetNumLinRhsEvals(memory_, &for_jacobian);
    now.rates += for_jacobian;
    CVodeGetNumNonlinSolvIters(memory_, &now.iterations);
    CVodeGetNumJacEvals(memory_, &now.jacobians);
    CVodeGetNumLinSolvSetups(memory_, &now.setups);
    CVodeGetNumErrTestFails(memory_, &now.errors);
    CVodeGetNumNonlinSolvConvFails(memory_, &now.failures);
    summary_.residuals += now.rates - counted_.rates;
    summary_.newton_iterations += now.iterations - counted_.iterations;
    summary_.jacobians += now.jacobians - counted_.jacobians;
    summary_.factorisations += now.setups - counted_.setups;
    summary_.rejected += now.errors - counted_.errors + now.failures - counted_.failures;
    counted_ = now;
  }

  // Runs `what` for CVODE, which knows no exceptions: 1 asks it for a smaller step, -1 to give up.
  template <class Function>
  static int guarded(void* self, Function what) {
    auto& cvode = *static_cast<Cvode*>(self);
    try {
      what(cvode);
      return 0;
    } catch (const Error& error) {
      cvode.last_error_ = error.what();
      return 1;
    } catch (...) {
      cvode.unexpected_ = std::current_exception();
      return -1;
    }
  }

  static int on_rates(realtype t, N_Vector y, N_Vector rates, void* self) {
    return guarded(self, [&](Cvode& cvode) {
      cvode.work_.t = t;
      cvode.unpack(y, cvode.work_);
      cvode.accelerations_.solve(cvode.work_);
      Vector(N_VGetArrayPointer(rates), 2 * cvode.n_) << cvode.work_.v, cvode.work_.a;
    });
  }

  static int on_jacobian(realtype t, N_Vector y, N_Vector, SUNMatrix J, void* self, N_Vector, N_Vector,
                         N_Vector) {
    return guarded(self, [&](Cvode& cvode) {
      const int n = cvode.n_;
      State& s = cvode.work_;
      s.t = t;
      cvode.unpack(y, s);
      cvode.accelerations_.solve(s);
      Eigen::Map<Eigen::MatrixXd> target(SUNDenseMatrix_Data(J), 2 * n, 2 * n);
      target.topLeftCorner(n, n).setZero();
      target.topRightCorner(n, n).setIdentity();
      cvode.equations_.jacobian(s, 1, {1, 0, 0, 1, 1}, cvode.newton_);
      target.bottomLeftCorner(n, n) = cvode.newton_.dense();
      cvode.equations_.jacobian(s, 1, {0, 1, 0, 1, 1}, cvode.newton_);
      target.bottomRightCorner(n, n) = cvode.newton_.dense();
      cvode.equations_.jacobian(s, 1, {0, 0, 1, 1, 1}, cvode.newton_);
      if (!cvode.newton_.factorise()) fail("the mass matrix is singular");
      for (int j = 0; j < 2 * n; ++j) {
        cvode.newton_.solve_in_place(target.col(j).tail(n));
        target.col(j).tail(n) *= -1;
      }
    });
  }

  static int on_weights(N_Vector, N_Vector weights, void* self) {
    return guarded(self, [&](Cvode& cvode) {
      // CVODE takes the root of the mean square; the root of n makes that a bound for every entry
      const int n = cvode.n_;
      const double factor = std::sqrt(2.0 * n) / cvode.norm_.allowed();
      Vector w(N_VGetArrayPointer(weights), 2 * n);
      w.head(n) = factor * cvode.norm_.scale();
      w.tail(n) = factor * cvode.time_ * cvode.norm_.scale();
    });
  }

  static int on_projection(realtype t, N_Vector y, N_Vector correction, realtype, N_Vector, void* self) {
    return guarded(self, [&](Cvode& cvode) {
      State& s = cvode.work_;
      s.t = t;
      cvode.unpack(y, s);
      cvode.projector_.project(s, cvode.options_.newton.tolerance);
      Vector d(N_VGetArrayPointer(correction), 2 * cvode.n_);
      d << s.q, s.v;
      d -= Vector(N_VGetArrayPointer(y), 2 * cvode.n_);
    });
  }

  // Messages of CVODE end in an Error, never on the terminal; warnings come with code 99.
  static void on_message(int code, const char*, const char*, char* message, void* self) {
    if (code >= 0) return;
    std::string& text = static_cast<Cvode*>(self)->message_;
    text = message;
    while (text.ends_with('.')) text.pop_back();
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  const int n_;
  ErrorNorm norm_;
  DeformationNorm deformations_;
  mutable AccelerationSolver accelerations_;
  mutable Projector projector_;
  NewtonMatrix newton_;
  State state_, previous_, work_;
  State started_at_;
  double stop_ = 0;  // the same for all steps since the start
  long steps_since_start_ = 0;
  double time_ = 1;  // [s] that weighs errors of velocities

  SUNContext context_ = nullptr;
  N_Vector y_ = nullptr, between_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
  Counters counted_;
  std::string message_, last_error_;
  std::exception_ptr unexpected_;
};

}  // namespace

std::unique_ptr<Stepper> make_cvode(Equations& equations, const IntegratorOptions& options,
                                    IntegrationSummary& summary) {
  return std::make_unique<Cvode>(equations, options, summary);
}

}  // namespace lissom
