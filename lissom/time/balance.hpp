// The balance of a run: energy, momentum, constraints, step by step.
#pragma once

#include <Eigen/Core>

#include <limits>
#include <optional>
#include <vector>

#include "lissom/core/archive.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

// What the balance of a run says at a sample. Drifts are those of this sample, not the largest so far.
struct BalanceSample {
  SystemEnergy energy;
  double work_in = 0, dissipated = 0;  // [J] since the start
  double energy_drift = 0;             // total - initial total - work_in + dissipated [J]
  double constraint_drift = 0;         // largest |g| [m]
};

// Of a whole run.
struct BalanceSummary {
  // Largest ones over the steps: of energy, relative to the largest energy, `energy_scale` [J]; of constraints [m];
  // of momenta relative to those that the kinetic energy allows, nothing where something acts from outside.
  double energy_drift = 0, energy_scale = 0, constraint_drift = 0;
  std::optional<double> momentum_drift, angular_momentum_drift;
  SystemEnergy initial;
  double work_in = 0, dissipated = 0;  // [J]
};

// Energy, momentum and constraints over a run. The work of loads, motions and damping is the integral of
// their power over the steps, by parabolas through the last three of them.
//
// Of compact equations (a mechanism reduced as a whole) a step costs less than its balance, which is then
// taken at every k-th step only, k = 1, 2, 4 .. 16: k is halved where parabola and line between two of them
// differ by more than 1e-6 of the energies so far, and doubled again below a tenth of that, so that the
// work is known to some 1e-6 of them as before (drifts are judged at 1e-3). It is taken at jumps of the
// loads and at the end in any case.
class Balance {
 public:
  // `end` of the run [s].
  Balance(SystemEquations& equations, const State& initial,
          double end = std::numeric_limits<double>::infinity());

  void step(const State& state);
  // The loads jump right after the last step, which ended at this state.
  void jump_after(const State& state);

  // Of a state at or near the last steps.
  BalanceSample at(const State& state);

  double energy_scale() const { return scale_; }
  // Whether the drift says something of the motion: above drift_limit of the largest energy, above 1e-5 of
  // the work that went in or out, which is known no better, and above round-off.
  static constexpr double drift_limit = 1e-3;
  struct Drift {
    double relative = 0;  // the largest, of the largest energy; negative where energy is lost
    double since = 0;     // [s] from when on it is above the limit, up to a factor of two in the limit
    double largest_at = 0;
  };
  std::optional<Drift> drift_above_limit() const;
  BalanceSummary summary() const;
  // What later steps and samples depend on.
  void archive(Archive& archive);

 private:
  std::optional<double> momentum_drift() const;
  std::optional<double> angular_momentum_drift() const;
  struct Record {
    double t = 0, power_in = 0, power_out = 0, work_in = 0, dissipated = 0;
    void archive(Archive& archive);
  };
  static Record record(double t, const SystemEnergy& e);
  double drift(const SystemEnergy& energy, const Record& r) const;
  // Steps end just before a jump of the loads.
  bool is_break(double t) const;
  // After a jump the power is another one; the work goes on from there.
  void pass_jump();
  void take(const State& state);
  void choose_stride();
  // From b to c by the line between the two powers, and what the parabola through all three adds to that.
  static double by_line(const Record& b, const Record& c, double Record::*power);
  static double by_curve(const Record& a, const Record& b, const Record& c, double Record::*power);
  void track(const SystemEnergy& e);
  double largest_constraint(const State& state);
  // Constraints left out as redundant are satisfied as long as they say what the others say. Later motions
  // may contradict each other all the same.
  void check_left_out(double t) const;
  // Whether only gravity acts from outside.
  bool is_isolated() const;

  SystemEquations& equations_;
  SystemEnergy initial_;
  Record last_, previous_, before_;
  std::vector<double> breaks_;
  std::optional<State> before_jump_;
  Eigen::VectorXd g_;
  double start_ = 0, end_ = 0, mass_ = 0;
  bool strided_ = false;
  int stride_ = 1, since_ = 0;  // steps from one to the next; since the last one
  double scale_ = 0, kinetic_ = 0, angular_ = 0;
  double energy_drift_ = 0, constraint_drift_ = 0, momentum_drift_ = 0, angular_drift_ = 0;
  double signed_drift_ = 0, largest_drift_at_ = 0;
  double size_ = 0, through_ = 0;  // [J] largest energies with all of gravity's; work in or out
  // When the drift first came to 2^k J, for ascending k.
  struct Level {
    int k = 0;
    double t = 0;
    void archive(Archive& archive) { archive(k, t); }
  };
  std::vector<Level> levels_;
  bool isolated_ = false;
};

// Warns of energy that drifts, with what to try; `suffix` of the key, so that every case has its own warning.
void warn_of_drift(const Balance& balance, const IntegratorOptions& options, const std::string& suffix,
                   Diagnostics& diagnostics);

}  // namespace lissom
