// A small four-bar mechanism of elastic bars (the parallelogram of paper 000, Sec. 6, with coarse bricks), in
// any formulation.
//
//      3-----------4     coupler, 135 mm            z
//      |           |                                |
//      |           |     bars, 100 mm               o---> y, x along the hinges (50 mm)
//      1           2     ground
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/cms/reduction.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/mbs/floating_frame.hpp"
#include "lissom/mbs/gcms_body.hpp"
#include "lissom/mbs/system.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/mbs/full_corotated.hpp"

namespace lissom::test {

struct FourBarOptions {
  std::string formulation = "ffrf";  // rigid, ffrf, fncf, gcms, full
  int modes = 4;                     // fixed-interface modes of each bar; the interface has twelve more
  double E = 210e9;                  // [Pa]
  double force = 5;                  // [N] along y on a top node of the left bar
  double ramp = 0.01;                // [s] over which it grows; 0: at once
  double gravity = 0;                // [m/s2] downwards
  double damping = 0;                // ratio of all modes
};

inline constexpr double four_bar_length = 0.135, four_bar_height = 0.1;

// A bar as finite elements and reduced; node ids of its four hinge nodes.
struct SampleBar {
  FeModel model;
  ReducedBody reduced;
  std::vector<std::int64_t> hinges;
};

inline std::int64_t node_at(const Mesh& mesh, const Eigen::Vector3d& point) {
  Eigen::Index nearest = 0;
  (mesh.points.colwise() - point).colwise().squaredNorm().minCoeff(&nearest);
  return mesh.node_ids[nearest];
}

// `along` is 1 (y) of the coupler, 2 (z) of the side bars.
inline SampleBar sample_bar(int along, const FourBarOptions& options) {
  BoxOptions box;
  box.cells = along == 1 ? std::array<int, 3>{2, 4, 2} : std::array<int, 3>{2, 2, 4};
  box.size = along == 1 ? Eigen::Vector3d(0.05, four_bar_length, 0.015)
                        : Eigen::Vector3d(0.05, 0.015, four_bar_height);
  Mesh mesh = box_mesh(ElementType::Hex8, box);
  mesh.materials[0].isotropic = Isotropic{options.E, 0.288};
  mesh.materials[0].density = 7829;
  SampleBar bar;
  const double end = along == 1 ? four_bar_length : four_bar_height;
  for (const double s : {0.0, end})
    for (const double x : {0.0, 0.05})
      bar.hinges.push_back(
          node_at(mesh, along == 1 ? Eigen::Vector3d(x, s, 0.0075) : Eigen::Vector3d(x, 0.0075, s)));
  Diagnostics diagnostics;
  AssemblyOptions assembly;
  assembly.mass = MassKind::Lumped;
  bar.model = assemble(mesh, assembly, diagnostics);
  ReductionOptions reduction;
  for (const std::int64_t id : bar.hinges) {
    InterfaceSpec spec;
    spec.name = "node " + std::to_string(id);
    spec.what = {spec.name};
    reduction.interfaces.push_back(spec);
  }
  reduction.selection.method = SelectionMethod::Fixed;
  reduction.selection.count = options.modes;
  reduction.selection.residuals = false;
  reduction.selection.range = std::max(1, options.modes);
  reduction.stress = false;
  if (options.damping > 0) reduction.damping = UniformDamping{options.damping};
  bar.reduced = reduce(bar.model, &mesh, reduction, diagnostics).body;
  return bar;
}

inline std::unique_ptr<Body> bar_body(const std::string& name, const SampleBar& bar,
                                      const FourBarOptions& options) {
  if (options.formulation == "rigid") return make_rigid_body(name, bar.reduced);
  if (options.formulation == "ffrf") return make_ffrf_body(name, bar.reduced);
  if (options.formulation == "fncf") return make_fncf_body(name, bar.reduced);
  if (options.formulation == "full") return make_gcms_body(name, full_corotated(bar.model));
  return make_gcms_body(name, make_gcms_model(bar.model, bar.reduced, {}));
}

inline MarkerSpec node_marker(std::int64_t id) {
  MarkerSpec spec;
  spec.kind = MarkerSpec::Kind::Nodes;
  spec.node_ids = {id};
  return spec;
}

// Bodies: left, coupler, right. Hinges are pairs of spherical joints.
inline std::unique_ptr<System> four_bar(const FourBarOptions& options) {
  auto system = std::make_unique<System>();
  const SampleBar side = sample_bar(2, options), coupler = sample_bar(1, options);
  Placement at_left, at_coupler, at_right;
  at_coupler.position = {0, 0.0075, four_bar_height - 0.0075};
  at_right.position = {0, four_bar_length, 0};
  const int left = system->add_body(bar_body("left", side, options), at_left);
  const int middle = system->add_body(bar_body("coupler", coupler, options), at_coupler);
  const int right = system->add_body(bar_body("right", side, options), at_right);
  const auto hinge = [&](const std::string& name, int a, const SampleBar& bar_a, int from_a, int b,
                         int from_b) {
    for (int k = 0; k < 2; ++k) {
      const MarkerRef first = system->add_marker(a, node_marker(bar_a.hinges[from_a + k]));
      MarkerRef second;
      if (b >= 0)
        second = system->add_marker(b, node_marker(coupler.hinges[from_b + k]));
      else
        second = system->add_ground_marker({0.05 * k, 0.0075 + (a == right ? four_bar_length : 0), 0});
      Joint joint;
      joint.name = name + (k == 0 ? " 1" : " 2");
      joint.first = first;
      joint.second = second;
      system->add_joint(joint);
    }
  };
  hinge("left foot", left, side, 0, -1, 0);
  hinge("left top", left, side, 2, middle, 0);
  hinge("right foot", right, side, 0, -1, 0);
  hinge("right top", right, side, 2, middle, 2);
  Load load;
  load.name = "push";
  load.first = system->add_marker(left, node_marker(side.hinges[3]));
  const TimeFunction ramp = options.ramp > 0 ? TimeFunction::table({0, options.ramp}, {0, options.force})
                                             : TimeFunction(options.force);
  load.components = {TimeFunction(0.0), ramp, TimeFunction(0.0)};
  system->add_load(load);
  system->set_gravity({0, 0, -options.gravity});
  return system;
}

}  // namespace lissom::test
