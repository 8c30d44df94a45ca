// A flexible four-bar mechanism built in code, reduced to an equation of six unknowns, which is then controlled.
//
//        o=================o            two bars and a coupler of steel, meshed; four hinges, each of two
//        |                 |            spherical joints; a force u along y on the left bar's top
//   u -> |                 |
//        o                 o  ---> y    prints how well the small model repeats a run, and how it is driven
//
//   cmake -S . -B build && cmake --build build
//   build/four_bar ../four-bar
#include <fmt/format.h>

#include "lissom/mbs/floating_frame.hpp"
#include "lissom/rom/slap/slap_system.hpp"
#include "lissom/study/body_store.hpp"

using namespace lissom;

namespace {

// 1. A body from its geometry: reduced for the full model, its finite elements kept for the training.
const StoredBody& make_part(const std::string& geometry, const std::vector<std::string>& pins,
                            BodyStore& store, Diagnostics& diagnostics) {
  BodySpec part;
  part.name = part.reduction_key = geometry;
  part.mesh = geometry;
  part.gmsh.order = 1;
  part.material = parse_material("E=210e9,nu=0.288,rho=7829");
  part.mass = MassKind::Lumped;
  part.reduce.emplace();
  for (const std::string& pin : pins) part.reduce->options.interfaces.push_back({pin, {pin}, "", {}, {}});
  part.reduce->options.selection.method = SelectionMethod::Fixed;
  part.reduce->options.selection.count = 4;
  return store.get(part, diagnostics);
}

SlapSource source(const StoredBody& part) {
  return {.name = {}, .model = &part.bare, .reduced = &part.reduced, .tied = part.tied};
}

void control_four_bar(const std::string& folder) {
  Diagnostics diagnostics;
  BodyStore store(true);
  const std::vector<std::string> feet = {"foot left", "foot right"}, tops = {"top left", "top right"};
  const StoredBody& bar =
      make_part(folder + "/bar.geo", {feet[0], feet[1], tops[0], tops[1]}, store, diagnostics);
  const StoredBody& coupler =
      make_part(folder + "/coupler.geo", {"left 1", "left 2", "right 1", "right 2"}, store, diagnostics);

  // 2. the mechanism
  System system;
  const int left = system.add_body(make_ffrf_body("left", bar.reduced));
  const int middle =
      system.add_body(make_ffrf_body("coupler", coupler.reduced), {.position = {0, 0, 0.0925}});
  const int right = system.add_body(make_ffrf_body("right", bar.reduced), {.position = {0, 0.135, 0}});
  const auto pin = [&](int body, const std::string& name) { return system.add_marker(body, {.name = name}); };
  const auto hinge = [&](const char* name, MarkerRef a, MarkerRef b) {
    system.add_joint({.name = name, .kind = JointKind::Spherical, .first = a, .second = b, .motion = {}});
  };
  for (const size_t side : {0, 1}) {
    const Eigen::Vector3d foot = bar.reduced.interfaces[side].origin, to_right(0, 0.135, 0);
    hinge("left foot", system.add_ground_marker(foot), pin(left, feet[side]));
    hinge("right foot", system.add_ground_marker(foot + to_right), pin(right, feet[side]));
    hinge("left top", pin(left, tops[side]), pin(middle, fmt::format("left {}", side + 1)));
    hinge("right top", pin(right, tops[side]), pin(middle, fmt::format("right {}", side + 1)));
  }
  Load push;
  push.name = "push";
  push.first = pin(left, "top right");
  push.components = {0.0, 1.0, 0.0};
  push.input = "u";
  system.add_load(push);
  system.set_input("u", TimeFunction::expression("5*ramp(t, 0, 0.01)"));

  // 3. how it moves under 5 N
  RunOptions options;
  options.sensors = {{.name = "top", .kind = SensorKind::Position, .marker = push.first},
                     {.name = "speed", .kind = SensorKind::Velocity, .marker = push.first}};
  options.integrator.end = 0.2;
  options.integrator.step = 1e-4;
  options.integrator.sample = 1e-3;
  const Trajectory full = run(system, options, diagnostics);

  // 4. six unknowns that repeat it
  SlapOptions wanted;
  wanted.order = 6;
  wanted.max_order = 6;
  const std::vector<SlapMotion> motions = {{&system, &full, options}};
  const SlapReduction trained =
      train_slap(motions, {source(bar), source(coupler), source(bar)}, wanted, diagnostics);
  fmt::print("{} coordinates become {}, which repeat the run to {:.1e} m of {:.3f} m\n", system.coordinates(),
             trained.order, trained.accuracy(6).largest_error, trained.accuracy(6).motion);

  // 5. the same force from a controller at 1 kHz, which moves the top to where it was after 0.12 s
  const double start = full.y(0, 1), target = full.y(120, 1);
  const SlapSystem small = slap_system(trained.model(6), system, options.sensors, diagnostics);
  options.sensors = small.sensors;
  options.integrator.sample = 0.02;
  options.controller = {1e-3, {}, [&](double, const Eigen::VectorXd& y, Eigen::VectorXd& u) {
                          u[0] = 1000 * (target - y[1]) - 58 * y[4];
                        }};
  const Trajectory driven = run(*small.system, options, diagnostics);
  fmt::print("   t s   of the way\n");
  for (Eigen::Index k = 0; k < driven.samples; ++k)
    fmt::print("{:6.3f} {:12.6f}\n", driven.t[k], (driven.y(k, 1) - start) / (target - start));
  for (const Warning& warning : diagnostics.warnings())
    fmt::print(stderr, "warning: {}\n", to_string(warning));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fmt::print(stderr, "usage: four_bar FOLDER, with bar.geo and coupler.geo\n"), 2;
  try {
    control_four_bar(argv[1]);
  } catch (const Error& e) {
    return fmt::print(stderr, "four_bar: {}\n", e.what()), 1;
  }
}
