// A system in motion from a start on: sampled, and watched for what a user has to know (energy, turns that may
// have been missed, bodies that leave linear elasticity). Files, progress and pages are the caller's affair: they
// observe.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lissom/mbs/sensor.hpp"
#include "lissom/time/balance.hpp"
#include "lissom/time/elastic_range.hpp"
#include "lissom/time/integrate.hpp"
#include "lissom/time/start.hpp"

namespace lissom {

// What a controller sees and says.
struct ControlNames {
  std::vector<std::string> outputs, inputs;
  std::vector<bool> at_once;  // of outputs: whether one depends on what the inputs are at the same time
};

// Says what the inputs of a system are. `act` is called at the start and every `period` [s] with the outputs y, the
// sensors' columns as they are just before, and changes u (k), which is held until the next call. It finds there what
// the system says of its inputs at that time, and a NaN in place of what it does not say. `begin`, if there is one,
// is told the names of both before the first call. A run with a controller cannot be resumed.
struct Controller {
  double period = 0;
  std::function<void(const ControlNames&)> begin;
  std::function<void(double t, const Eigen::VectorXd& y, Eigen::VectorXd& u)> act;
};

// Throws Error where a controller has given a number that is not finite.
void expect_inputs(const std::vector<std::string>& names, const Eigen::VectorXd& u, double t);

struct RunOptions {
  IntegratorOptions integrator;
  std::vector<Sensor> sensors;  // the outputs
  Controller controller;
  // What stays in memory of every sample; with Nothing it does not grow with their number.
  enum class Keep : std::uint8_t { Nothing, Outputs, States } keep = Keep::States;
  bool balance = false;        // keep the balance of every sample too
  std::function<bool()> stop;  // asked before every step; true ends the run
};

// What a run was, in SI units. Of a run that failed: until then.
struct Trajectory {
  std::vector<SensorColumn> outputs;
  Eigen::Index samples = 0;  // k
  // Empty where they were not kept:
  Eigen::VectorXd t;                   // k [s]
  Eigen::MatrixXd y;                   // k by outputs
  Eigen::MatrixXd q, v, a;             // coordinates by k
  Eigen::MatrixXd turns;               // counted angles (State::turns) by k [rad]
  std::vector<BalanceSample> balance;  // k, where it was asked for

  IntegrationSummary integration;
  BalanceSummary drift;
  std::vector<ElasticLimit> beyond_elasticity;  // bodies that left the range of linear elasticity

  // What State::turns needs at a sample.
  Turns turns_at(Eigen::Index sample) const;
};

// One sample of a run that goes on.
struct RunSample {
  const State& state;
  const Eigen::VectorXd& y;
  const IntegrationSummary& summary;  // until here
  std::function<BalanceSample()> balance;
};

// Sees a run while it goes on.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void sample(const RunSample&) {}
  // Before every step, after `stop` was asked; `save` puts the whole state of the run into an archive.
  virtual void between(const IntegrationOutput::Save& save, const IntegrationSummary& summary, bool stopped) {
    (void)save, (void)summary, (void)stopped;
  }
  // What later calls depend on.
  virtual void archive(Archive&) {}
};

// A run that can be looked at before, while and after it goes.
class SystemRun {
 public:
  // `start` is not changed, its equations are held at inputs where there is a controller, and both outlive this.
  // Throws InputError listing all problems of the options.
  SystemRun(const Start& start, RunOptions options);
  ~SystemRun();

  const SensorBank& bank() const;
  // The samples that a run had until it was saved, before go(): in order.
  void add(const State& state, const Eigen::VectorXd& y, const BalanceSample& balance);
  // From the start to the end, or on from an archive that RunObserver::between() has had of the same run. Throws
  // Error where it fails; the trajectory then has what there was until then.
  void go(std::span<RunObserver* const> observers, Diagnostics& diagnostics,
          const ProgressHook& progress = {}, Archive* resume = nullptr);
  // What it saw, as warnings; `suffix` of their keys, so that every run has its own.
  void warn(const std::string& suffix, Diagnostics& diagnostics) const;
  // Of the run so far; leaves nothing behind.
  Trajectory take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All of it in one call. Throws Error also where it was stopped.
Trajectory run(const Start& start, const RunOptions& options, Diagnostics& diagnostics,
               std::span<RunObserver* const> observers = {}, const ProgressHook& progress = {});
Trajectory run(const System& system, const RunOptions& options, Diagnostics& diagnostics,
               std::span<RunObserver* const> observers = {}, const ProgressHook& progress = {});

}  // namespace lissom
