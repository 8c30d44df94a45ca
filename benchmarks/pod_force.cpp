// The elastic force and tangent of a reduced model in its forms, one evaluation of both at a time: a double
// pendulum of 160 ANCF beam elements (paper 004) about a bent state, in modes of waves along the beams.
// Prints JSON: microseconds of force and tangent, and of the force alone, multiply-adds and points.
//   pod_force [elements of a beam] [repeat]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "lissom/core/resources.hpp"
#include "lissom/rom/pod/pod.hpp"
#include "lissom/rom/pod/pod_body.hpp"

using namespace lissom;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

AncfModel pendulum(int elements) {
  AncfModel model;
  const double side = 0.03, length = 0.5, area = side * side;
  const double young[2] = {80e6, 1e6}, masses[2] = {0.2642, 0.15};
  for (int b = 0; b < 2; ++b) {
    AncfBeam beam;
    beam.name = b == 0 ? "upper" : "lower";
    beam.elements = elements;
    beam.from.x() = length * b;
    beam.to.x() = length * (b + 1);
    beam.properties.EA = young[b] * area;
    beam.properties.EI = young[b] * area * area / 12;
    beam.properties.mass = masses[b] / length;
    model.beams.push_back(beam);
  }
  return model;
}

// Shapes of a chain that swings and bends: the angle of the tangent as a sum of waves that turn with time.
// Stretched a little, so that axial forces are there.
MatrixXd states(const AncfBody& body, int elements, int count) {
  MatrixXd E(body.nodal_coordinates(), count);
  for (int t = 0; t < count; ++t) {
    const double time = 1.3 * t / (count - 1);
    double x = 0, y = 0;
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i <= elements; ++i) {
        const double s = static_cast<double>(i) / elements;
        double angle = -1.2 * time * (b + 1) + 0.3 * b * std::sin(5 * time);
        double stretch = 1;
        for (int k = 1; k <= 6; ++k) {
          const double wave = std::sin((3 + 2 * k) * time + 0.7 * k + b);
          angle += 0.5 * b * wave / (k * k) * std::cos(k * std::numbers::pi * s) * std::min(1.0, 4 * time);
          stretch += 0.01 * b * wave / (k * k) * std::sin(k * std::numbers::pi * s);
        }
        const double dx = stretch * std::cos(angle), dy = stretch * std::sin(angle);
        const int at = body.node_offset({b, i});
        if (i > 0) {
          x += 0.5 / elements * dx;
          y += 0.5 / elements * dy;
        }
        E.col(t).segment<4>(at) << x, y, dx, dy;
      }
  }
  return E;
}

}  // namespace

int main(int argc, char** argv) {
  const int elements = argc > 1 ? std::atoi(argv[1]) : 80, repeat = argc > 2 ? std::atoi(argv[2]) : 9;
  const AncfBody body("pendulum", pendulum(elements));
  const MatrixXd E = states(body, elements, 400);
  const PodSample sample = make_pod_sample({}, E, {}, {});
  std::string out = "[";
  for (const int r : {11, 15, 20, 33})
    for (const PodForce force : {PodForce::Tensor, PodForce::Ecsw, PodForce::Direct}) {
      PodBodyOptions options;
      options.force = force;
      Diagnostics diagnostics;
      Timer building;
      const PodBody pod("reduced", {&body}, E.col(0), sample.basis.leftCols(r), sample.snapshots, options,
                        diagnostics);
      const double build = building.seconds();
      const auto room = pod.workspace();
      VectorXd xi = pod.from_nodal(E.col(300)), v = VectorXd::Zero(r), f = VectorXd::Zero(r);
      MatrixXd K(r, r);
      const Eigen::Vector3d gravity(0, -9.81, 0);
      const int count = force == PodForce::Direct ? 200 : 5000;
      // states that differ from call to call, so that nothing is taken from the last one
      const auto time = [&](bool tangent) {
        double best = 1e300;
        for (int i = 0; i < repeat; ++i) {
          Timer timer;
          for (int k = 0; k < count; ++k) {
            xi[0] += 1e-12;
            pod.add_residual(xi, v, v, 1, gravity, *room, f);
            if (tangent) pod.jacobian(xi, v, v, 1, gravity, 1, 0, 1, *room, K);
          }
          best = std::min(best, timer.seconds() / count);
        }
        return 1e6 * best;
      };
      const double both = time(true), alone = time(false);
      const PodReport& report = pod.report();
      const char* names[] = {"automatic", "tensor", "ecsw", "deim", "direct"};
      const double cost = force == PodForce::Tensor ? report.tensor_cost
                          : force == PodForce::Ecsw ? report.ecsw_cost
                                                    : report.direct_cost;
      out += fmt::format(
          "{}\n  {{\"r\": {}, \"force\": \"{}\", \"force_and_tangent_us\": {:.3f}, \"force_us\": {:.3f}, "
          "\"multiply_adds\": {:.0f}, \"points\": {}, \"build_ms\": {:.1f}}}",
          out.size() > 1 ? "," : "", r, names[static_cast<int>(force)], both, alone, cost, report.points,
          1e3 * build);
    }
  fmt::print("{}\n]\n", out);
  return 0;
}
