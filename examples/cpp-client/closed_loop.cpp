// A mechanism built in code, no file but its geometry: a flexible rod on a motor, turned by a controller.
//
//          u: torque                                                 no gravity; a controller in C++ at 2 kHz
//      (  o  )================================(  o  )                sees the angle and the speed of the crank pin
//      x = 0: hinge                           x = 105 mm             and turns the rod by a quarter
//
//   cmake -S . -B build && cmake --build build
//   build/closed_loop ../connecting-rod/connecting-rod.geo
//
// Prints the angle, the bending of the rod against it, and what the run says of itself.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lissom/mbs/floating_frame.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/reduce.hpp"
#include "lissom/time/linearise.hpp"
#include "lissom/time/run.hpp"

using namespace lissom;

namespace {

// 1. The body: meshed, reduced to a few modes, proven to 1 % of its first eigenvalues; SI from here on.
ReducedBody reduced_rod(const std::string& geometry, Diagnostics& diagnostics) {
  BodySpec rod;
  rod.name = "rod";
  rod.mesh = geometry;
  rod.gmsh.order = 1;
  rod.units = parse_unit_system("mm-t-s");
  rod.material = parse_material("E=70e3,nu=0.33,rho=2.71e-9");
  for (const auto& [name, bore, x] :
       {std::tuple("crank pin", "big bore", 0.0), {"piston pin", "small bore", 105.0}})
    rod.spiders.push_back({.name = name, .nodes = NodeSetName{bore}, .reference = Eigen::Vector3d(x, 0, 0)});
  FeBody body = load_body(rod, diagnostics);
  build_model(body, diagnostics);
  ReductionOptions options;
  for (const char* pin : {"crank pin", "piston pin"}) options.interfaces.push_back({pin, {pin}, "", {}, {}});
  options.selection.range = 6;
  options.selection.tolerance = 1e-2;
  options.damping = UniformDamping{0.01};
  return reduce(body.model, &body.mesh, options, diagnostics).body;
}

MarkerSpec interface(const std::string& name) {
  MarkerSpec spec;
  spec.name = name;
  return spec;
}

void turn_rod(const std::string& geometry) {
  Diagnostics diagnostics;
  const ReducedBody reduced = reduced_rod(geometry, diagnostics);

  // 2. the mechanism: a hinge about z, and a torque of u newton metres
  System system;
  const int rod = system.add_body(make_ffrf_body("rod", reduced));
  const MarkerRef ground = system.add_ground_marker({0, 0, 0});
  const MarkerRef crank = system.add_marker(rod, interface("crank pin"));
  const MarkerRef piston = system.add_marker(rod, interface("piston pin"));
  Joint hinge;
  hinge.name = "hinge";
  hinge.kind = JointKind::Revolute;
  hinge.first = ground;
  hinge.second = crank;
  system.add_joint(hinge);
  Load motor;
  motor.name = "motor";
  motor.kind = LoadKind::Torque;
  motor.first = crank;
  motor.components = {0.0, 0.0, 1.0};
  motor.input = "u";
  system.add_load(motor);

  // 3. what is measured, and the controller: y is in the order of the sensors' columns
  RunOptions options;
  options.sensors = {{.name = "angle", .kind = SensorKind::JointAngle, .index = 0},
                     {.name = "speed", .kind = SensorKind::AngularVelocity, .marker = crank},
                     {.name = "piston", .kind = SensorKind::Position, .marker = piston}};
  options.integrator.end = 0.2;
  options.integrator.step = 5e-5;
  options.integrator.sample = 0.02;
  options.controller.period = 5e-4;
  options.controller.act = [](double, const Eigen::VectorXd& y, Eigen::VectorXd& u) {
    u[0] = 2 * (std::numbers::pi / 2 - y[0]) - 0.035 * y[3];
  };

  // 4. the run, and what it says of itself
  const Trajectory run = lissom::run(system, options, diagnostics);
  fmt::print("   t s    angle deg   bent by um\n");
  for (Eigen::Index k = 0; k < run.samples; ++k) {
    const double angle = run.y(k, 0), across = run.y(k, 5) * std::cos(angle) - run.y(k, 4) * std::sin(angle);
    fmt::print("{:6.3f} {:12.4f} {:12.4f}\n", run.t[k], angle * 180 / std::numbers::pi, 1e6 * across);
  }
  fmt::print("{} coordinates, {} steps, energy drift {:.1e}, work of the motor {:.4g} J\n",
             system.coordinates(), run.integration.steps, run.drift.energy_drift, run.drift.work_in);
  for (const Warning& warning : diagnostics.warnings())
    fmt::print(stderr, "warning: {}\n", to_string(warning));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: closed_loop connecting-rod.geo\n");
    return 2;
  }
  try {
    turn_rod(argv[1]);
  } catch (const Error& e) {
    fmt::print(stderr, "closed_loop: {}\n", e.what());
    return 1;
  }
}
