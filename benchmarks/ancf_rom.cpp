// Beams in absolute nodal coordinates and their reduced models at work, output and files left out: the double
// pendulum (paper 004, Sec. 5.2, tested masses) over 3 s and the four-bar linkage (Sec. 5.1, load 0.935) over
// 1 s. Models are trained on the motion itself: accuracy is the examples' matter. Prints JSON; run.py makes
// ratios of it.
//   ancf_rom pendulum ELEMENTS R [R ..]     elements of each of the two beams
//   ancf_rom four-bar R [R ..]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lissom/core/resources.hpp"
#include "lissom/mbs/ancf_body.hpp"
#include "lissom/mbs/system.hpp"
#include "lissom/rom/pod/pod.hpp"
#include "lissom/rom/pod/pod_body.hpp"
#include "lissom/time/initial_state.hpp"
#include "lissom/time/integrate.hpp"

using namespace lissom;

namespace {

AncfBeam beam(const std::string& name, int elements, const Eigen::Vector3d& from, const Eigen::Vector3d& to,
              double young, double area, double inertia, double mass) {
  AncfBeam out;
  out.name = name;
  out.elements = elements;
  out.from = from;
  out.to = to;
  out.properties.EA = young * area;
  out.properties.EI = young * inertia;
  out.properties.mass = mass / (to - from).norm();
  return out;
}

AncfModel pendulum(int elements) {
  AncfModel model;
  const double inertia = 0.03 * 0.03 * 0.03 * 0.03 / 12;
  model.beams = {beam("upper", elements, {0, 0, 0}, {0.5, 0, 0}, 80e6, 9e-4, inertia, 0.2642),
                 beam("lower", elements, {0.5, 0, 0}, {1, 0, 0}, 1e6, 9e-4, inertia, 0.15)};
  model.pins = {{{0, elements}, {1, 0}}};
  model.supports = {{{0, 0}, false}};
  return model;
}

AncfModel four_bar() {
  AncfModel model;
  const Eigen::Vector3d a(0.2, 0, 0), b(0.979422863405995, 0.45, 0), c(0.719615242270663, 0, 0);
  model.beams = {beam("crank", 20, {0, 0, 0}, a, 1e9, 1.257e-3, 1.257e-7, 0.6811),
                 beam("coupler", 50, a, b, 5e6, 1.960e-3, 3.068e-7, 2.4740),
                 beam("follower", 40, b, c, 5e8, 7.068e-4, 3.976e-8, 1.4700)};
  model.pins = {{{0, 20}, {1, 0}}, {{1, 50}, {2, 0}}};
  model.supports = {{{0, 0}, false}, {{2, 40}, false}};
  return model;
}

// gravity of the pendulum, moment on the crank of the other
void add_loads(System& system, bool crank) {
  if (!crank) {
    system.set_gravity({0, -9.81, 0});
    return;
  }
  MarkerSpec place;
  place.name = "start";
  place.part = "crank";
  Load load;
  load.name = "drive";
  load.kind = LoadKind::Torque;
  load.first = system.add_marker(0, place);
  load.components = {
      0, 0, TimeFunction::expression("0.935*(t <= 0.2728 ? 10*sin(3*pi*t) : 465.8838298*exp(-16.324194*t))")};
  system.add_load(load);
}

struct Best {
  double seconds = 1e300;
  IntegrationSummary summary;
};

// The best of some runs, with the Newton iteration that suits it better: a new matrix in every iteration, or
// as few as will do.
Best best_run(const System& system, double end, int repeat, std::vector<Eigen::VectorXd>* states = nullptr) {
  SystemEquations equations(system);
  Eigen::VectorXd q, v;
  system.initial(q, v);
  const State start = make_consistent(equations, 0, q, v).state;
  Diagnostics diagnostics;
  IntegratorOptions options;
  options.integrator = Integrator::HhtI3;
  options.alpha = -0.1;
  options.step = 1e-3;
  options.end = end;
  options.sample = states ? 1e-3 : end;
  options.newton.tolerance = 1e-11;
  Best best;
  for (const double reuse : {0.0, 0.3})
    for (int i = 0; i < repeat; ++i) {
      options.newton.reuse_rate = reuse;
      IntegrationOutput output;
      if (states) {
        states->clear();
        output.sample = [&](const State& state) { states->push_back(state.q); };
      }
      IntegrationSummary summary;
      Timer timer;
      integrate(equations, start, options, output, summary, diagnostics);
      const double seconds = timer.seconds();
      if (seconds < best.seconds) best = {seconds, summary};
    }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool crank = std::strcmp(argv[1], "four-bar") == 0;
  const int elements = crank ? 0 : std::atoi(argv[2]);
  const double end = crank ? 1 : 3;
  auto body = std::make_unique<AncfBody>("beams", crank ? four_bar() : pendulum(elements));
  const AncfBody& full_body = *body;
  System full;
  full.add_body(std::move(body));
  add_loads(full, crank);
  const bool large = elements > 1000;
  const Best of_full = best_run(full, large ? 0.3 : end, large ? 1 : 5);

  // snapshots; of a large model fewer, as its time is not what is asked for
  std::vector<Eigen::VectorXd> states;
  best_run(full, large ? 0.3 : (crank ? 1 : 1.3), 1, &states);
  const size_t every = large ? 5 : 1;
  Eigen::MatrixXd E(full_body.nodal_coordinates(), (states.size() - 1) / every + 1);
  for (Eigen::Index k = 0; k < E.cols(); ++k)
    E.col(k) = full_body.nodal(states[static_cast<size_t>(k) * every]);
  const PodSample sample = make_pod_sample(Eigen::VectorXd::Zero(1), E, {}, full_body.nodal_mass());

  std::string models;
  for (int i = crank ? 2 : 3; i < argc; ++i) {
    const int r = std::atoi(argv[i]);
    Diagnostics diagnostics;
    auto reduced =
        std::make_unique<PodBody>("model", std::vector<const AncfBody*>{&full_body}, sample.offset,
                                  sample.basis.leftCols(r), sample.snapshots, PodBodyOptions{}, diagnostics);
    const PodReport report = reduced->report();
    System system;
    system.add_body(std::move(reduced));
    add_loads(system, crank);
    const Best best = best_run(system, large ? 0.3 : end, 20);
    models += fmt::format(
        R"({}{{"r": {}, "seconds": {}, "steps": {}, "newton_iterations": {}, "factorisations": {}, "points": {}, "why": "{}"}})",
        models.empty() ? "" : ", ", r, best.seconds, best.summary.steps, best.summary.newton_iterations,
        best.summary.factorisations, report.points, report.why);
  }
  fmt::print(
      R"({{"coordinates": {}, "seconds": {}, "steps": {}, "newton_iterations": {}, "factorisations": {}, "models": [{}]}})"
      "\n",
      full.coordinates(), of_full.seconds, of_full.summary.steps, of_full.summary.newton_iterations,
      of_full.summary.factorisations, models);
}
