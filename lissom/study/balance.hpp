// The balance of a run: energy, momentum, constraints, step by step.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <vector>

#include "lissom/core/archive.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/time/integrate.hpp"

namespace lissom {

// Energy, momentum and constraints over a run. The work of loads, motions and damping is the integral of
// their power over the steps, by parabolas through the last three of them.
class Balance {
 public:
  Balance(SystemEquations& equations, const State& initial);

  void step(const State& state);

  // Of a state at or near the last steps.
  ResultBalance at(const State& state);

  // Largest ones over the steps; the first relative to the largest energy.
  double energy_drift() const { return scale_ > 0 ? energy_drift_ / scale_ : energy_drift_; }
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
  double constraint_drift() const { return constraint_drift_; }
  // Relative to the momentum that the kinetic energy allows; nothing where something acts from outside.
  std::optional<double> momentum_drift() const;
  std::optional<double> angular_momentum_drift() const;
  const SystemEnergy& initial() const { return initial_; }
  double work_in() const { return last_.work_in; }
  double dissipated() const { return last_.dissipated; }
  // What later steps and samples depend on.
  void archive(Archive& archive);

 private:
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
  // Over the last step, by the parabola through the last three powers, or by a line.
  double integral(bool three, double Record::*power) const;
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
  std::vector<int> left_out_;  // constraint rows
  std::optional<State> before_jump_;
  Eigen::VectorXd g_;
  double start_ = 0, mass_ = 0;
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
