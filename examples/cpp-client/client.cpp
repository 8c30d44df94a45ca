// A program that uses the library: a connecting rod is meshed, reduced to a given accuracy, and the proof is printed.
//
//      crank pin                                  piston pin
//        (  o  )================================(  o  )          each pin: a rigid spider over a bore, whose six motions
//        x = 0                                  x = 105 mm       are kept; all else becomes a few modes
//
//   cmake -S . -B build && cmake --build build
//   build/client ../connecting-rod/connecting-rod.geo
//
// The same as examples/connecting-rod/study.toml asks of `lissom reduce`, with the same numbers.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lissom/study/body.hpp"
#include "lissom/study/reduce.hpp"

namespace {

lissom::SpiderSpec rigid_pin(const std::string& name, const std::string& bore, double x) {
  lissom::SpiderSpec spider;
  spider.name = name;
  spider.nodes = lissom::NodeSetName{bore};
  spider.reference = Eigen::Vector3d(x, 0, 0);
  return spider;
}

void reduce_rod(const std::string& geometry) {
  // 1. what the body is: its numbers are in its units, what is computed from it in SI units
  lissom::BodySpec rod;
  rod.name = "rod";
  rod.mesh = geometry;
  rod.gmsh.order = 1;
  rod.units = lissom::parse_unit_system("mm-t-s");
  rod.material = lissom::parse_material("E=70e3,nu=0.33,rho=2.71e-9");
  rod.mass = lissom::MassKind::Lumped;
  rod.spiders = {rigid_pin("crank pin", "big bore", 0), rigid_pin("piston pin", "small bore", 105)};

  // 2. mesh, K and M; what was changed or guessed on the way is in the diagnostics
  lissom::Diagnostics diagnostics;
  lissom::FeBody body = lissom::load_body(rod, diagnostics);
  lissom::build_model(body, diagnostics);

  // 3. as few coordinates as give the first ten flexible modes to 0.1 % of their eigenvalues, proven
  lissom::ReductionOptions options;
  for (const char* pin : {"crank pin", "piston pin"}) options.interfaces.push_back({pin, {pin}, "", {}, {}});
  options.selection.range = 10;
  options.selection.tolerance = 1e-3;
  const lissom::Reduction reduction = lissom::reduce(body.model, &body.mesh, options, diagnostics);

  // 4. the small matrices are reduction.body.M and .K; here only how good they are
  fmt::print("{} degrees of freedom become {} coordinates\n", body.model.dof_count(), reduction.body.size());
  fmt::print("mode         Hz   error at most\n");
  int number = 0;
  for (const lissom::ModeError& mode : reduction.body.errors.modes)
    fmt::print("{:4} {:10.3f}   {:11.5f} %\n", ++number, std::sqrt(mode.eigenvalue) / (2 * std::numbers::pi),
               100 * mode.bound);
  fmt::print("proven: {}\n", reduction.body.errors.certified ? "yes" : "no");
  for (const lissom::Warning& warning : diagnostics.warnings())
    fmt::print(stderr, "warning: {}\n", to_string(warning));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: client connecting-rod.geo\n");
    return 2;
  }
  try {
    reduce_rod(argv[1]);
  } catch (const lissom::Error& e) {
    fmt::print(stderr, "client: {}\n", e.what());
    return 1;
  }
}
