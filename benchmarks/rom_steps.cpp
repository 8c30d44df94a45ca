// A reduced mechanism at work: the cost of a step, of a residual and of a Newton matrix, output and files
// left out; and of a step of a whole run with its balance and outputs, in memory. Prints JSON; run.py puts it beside the reference's.
//   rom_steps MODEL.rom.h5 [step end repeat]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "lissom/core/resources.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/mechanism.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/integrate.hpp"
#include "lissom/time/run.hpp"

using namespace lissom;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Diagnostics diagnostics;
  const RomFile rom = read_rom_file(argv[1], diagnostics);
  const StudyFile study = parse_study(rom.study, rom.study_path, argv[1]);
  const StudySystem built = build_rom_system(study, rom.model, diagnostics);
  SystemEquations equations(*built.system);
  IntegratorOptions options = study.simulation->simulate->integrator;
  if (argc > 2) options.step = std::atof(argv[2]);
  if (argc > 3) options.end = std::atof(argv[3]);
  const int repeat = argc > 4 ? std::atoi(argv[4]) : 5;
  options.newton.reuse_rate = 0;

  double best = 1e300;
  long steps = 0, residuals = 0, jacobians = 0;
  Eigen::VectorXd last;
  for (int i = 0; i < repeat; ++i) {
    const InitialState start = make_consistent(equations, 0, built.q, built.v);
    IntegrationOutput output;
    output.step = [&](const State& state) { last = state.q; };
    IntegrationSummary summary;
    Timer timer;
    integrate(equations, start.state, options, output, summary, diagnostics);
    best = std::min(best, timer.seconds());
    steps = summary.steps;
    residuals = summary.residuals;
    jacobians = summary.jacobians;
  }

  // a whole run, sampled as the study says: processor time, which other programs disturb less
  double best_run = 1e300;
  {
    const Start start = make_start(*built.system, StartOptions{}, diagnostics);
    RunOptions run_options;
    run_options.integrator = options;
    run_options.sensors = built.sensors;
    run_options.keep = RunOptions::Keep::Outputs;
    for (int i = 0; i < repeat; ++i) {
      SystemRun run(start, run_options);
      const double before = cpu_seconds();
      run.go({}, diagnostics);
      best_run = std::min(best_run, cpu_seconds() - before);
    }
  }

  // evaluations at states that differ from call to call
  State state;
  const InitialState start = make_consistent(equations, 0, built.q, built.v);
  state = start.state;
  Eigen::VectorXd r(equations.coordinates());
  NewtonMatrix matrix(equations.coordinates(), equations.blocks());
  constexpr int count = 20000;
  const auto time = [&](auto work) {
    double seconds = 1e300;
    for (int round = 0; round < repeat; ++round) {
      Timer timer;
      for (int i = 0; i < count; ++i) {
        state.q[0] = start.state.q[0] + 1e-9 * i;
        work();
      }
      seconds = std::min(seconds, timer.seconds() / count);
    }
    return seconds;
  };
  const double residual = time([&] { equations.residual(state, 1, r); });
  const double jacobian = time([&] { equations.jacobian(state, 1, {1, 0, 1, 1, 1}, matrix); });
  // the right-hand side, at one state, as the benchmark of the Python module calls it
  MechanismOde ode = study_ode(study, build_rom_system(study, rom.model, diagnostics), diagnostics);
  const Eigen::VectorXd x = ode.start(), as_the_study_says;
  Eigen::VectorXd f(x.size());
  const double rhs = time([&] { ode.rhs(0.01, x, as_the_study_says, f); });
  fmt::print(
      "{{\"order\": {}, \"seconds\": {}, \"steps\": {}, \"end\": {}, \"residuals\": {}, \"jacobians\": {}, "
      "\"microseconds_per_step\": {}, \"run_microseconds_per_step\": {}, \"residual_microseconds\": {}, "
      "\"jacobian_microseconds\": {}, "
      "\"rhs_microseconds\": {}}}\n",
      rom.model.order(), best, steps, options.end, residuals, jacobians,
      1e6 * best / static_cast<double>(steps), 1e6 * best_run / static_cast<double>(steps), 1e6 * residual,
      1e6 * jacobian, 1e6 * rhs);
}
