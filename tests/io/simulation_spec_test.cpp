#include "lissom/io/simulation_spec.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lissom/io/study_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::simulation_spec_test {
namespace {

struct Parser {
  TemporaryFolder folder;
  Parser() {
    folder.write("part.msh", "x");
    folder.write("arm.h5", "x");
  }
  StudyFile operator()(const std::string& text) const { return parse_study(text, folder.path() / "s.toml"); }
  std::string problems(const std::string& text) const {
    try {
      (*this)(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no problem";
  }
  void expect(const std::string& text, const std::vector<std::string>& messages) const {
    const std::string found = problems(text);
    for (const std::string& message : messages)
      EXPECT_NE(found.find(message), std::string::npos) << message << "\nin\n" << found;
  }
};

const std::string rigid = R"(
[bodies.crank]
rigid = { mass = 2, center = [1, 0, 0], inertia = [1, 2, 2] }
points = { hub = [0, 0, 0], pin = [2, 0, 0] }
)";
const std::string flexible = R"(
[bodies.rod]
mesh = "part.msh"
material = { E = 1, nu = 0.3, rho = 1 }
[bodies.rod.reduce]
interfaces = ["big end", "small end"]
)";

TEST(SimulationSpec, ARigidBodyFromNumbersIsConvertedToSi) {
  const Parser parse;
  const StudyFile study = parse(R"(
units = "mm-t-s"
[bodies.crank]
rigid = { mass = 0.002, center = [10, 0, 0], inertia = [1, 2, 3, 0.1, 0.2, 0.3] }
points = { pin = [20, 0, 0], hub = [0, 5, 0] }
position = [100, 0, 0]
rotation = { axis = [0, 0, 2], angle_deg = 90 }
velocity = [1000, 0, 0]
angular_velocity = [0, 0, 7]
)");
  const BodySpec& body = study.bodies.at(0);
  ASSERT_TRUE(body.rigid.has_value());
  EXPECT_EQ(body.formulation, Formulation::Rigid);
  // conversion factors of this system are powers of ten that are not exact in binary
  EXPECT_DOUBLE_EQ(body.rigid->mass, 2);
  EXPECT_DOUBLE_EQ(body.rigid->centre.x(), 0.01);
  EXPECT_DOUBLE_EQ(body.rigid->inertia(2, 2), 3e-3);
  EXPECT_DOUBLE_EQ(body.rigid->inertia(0, 1), 0.1e-3);
  EXPECT_DOUBLE_EQ(body.rigid->inertia(2, 1), 0.2e-3);
  EXPECT_DOUBLE_EQ(body.rigid->inertia(0, 2), 0.3e-3);
  ASSERT_EQ(body.rigid->points.size(), 2u);
  EXPECT_EQ(body.rigid->points[1].first, "pin");
  EXPECT_DOUBLE_EQ(body.rigid->points[1].second.x(), 0.02);
  EXPECT_DOUBLE_EQ(body.placement.position.x(), 0.1);
  EXPECT_DOUBLE_EQ(body.placement.velocity.x(), 1);
  EXPECT_DOUBLE_EQ(body.placement.angular_velocity.z(), 7);
  EXPECT_NEAR(body.placement.rotation(1, 0), 1, 1e-15);
  EXPECT_FALSE(study.simulation.has_value());
}

TEST(SimulationSpec, RotationsComeInThreeWays) {
  const Parser parse;
  const auto rotation = [&](const std::string& text) {
    return parse("[bodies.a]\nrigid = { mass = 1, inertia = [1, 1, 1] }\nrotation = " + text + "\n")
        .bodies[0]
        .placement.rotation;
  };
  const Eigen::Matrix3d expected = rotation("{ axis = [0, 0, 1], angle = 0.5 }");
  EXPECT_NEAR(expected(1, 0), std::sin(0.5), 1e-15);
  EXPECT_LT((rotation("{ vector = [0, 0, 0.5] }") - expected).norm(), 1e-15);
  EXPECT_EQ(rotation("{ matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]] }")(1, 0), 1);
  parse.expect(
      "[bodies.a]\nrigid = { mass = 1, inertia = [1, 1, 1] }\nrotation = { matrix = [[1, 0, 0], [0, 1, 0], "
      "[0, 0, -1]] }\n",
      {"s.toml:3: bodies.a.rotation.matrix: is no rotation"});
  parse.expect("[bodies.a]\nrigid = { mass = 1, inertia = [1, 1, 1] }\nrotation = { axis = [0, 0, 1] }\n",
               {"exactly one of angle"});
}

TEST(SimulationSpec, EverythingIsConvertedToSi) {
  const Parser parse;
  const StudyFile study =
      parse("units = \"mm-kg-ms\"\ngravity = [0, 0, -0.00981]\n" + rigid + flexible + R"toml(
[[joints]]
name = "bearing"
kind = "revolute"
between = ["ground", "crank.hub"]
at = [1, 2, 3]
axis = [0, 0, 1]
motion = "2*t"
[[joints]]
name = "pin"
kind = "spherical"
between = ["crank.pin", "rod.big end"]
[[joints]]
name = "slide"
kind = "displacement"
between = ["rod.node 17", "ground"]
motion = { table = [[0, 0], [10, 5]] }
[[joints]]
name = "axle"
kind = "revolute"
between = ["rod.node 5", "crank.hub"]
and_between = ["rod.nodes 6 7", "crank.pin"]
[[loads]]
name = "push"
kind = "force"
on = "rod.small end"
force = [0, "t", 2]
factor = "ramp(t, 0, 10)"
[[loads]]
name = "spring"
kind = "spring"
between = ["crank.pin", "ground"]
stiffness = 3
damping = 4
length = 5
[[loads]]
name = "bush"
kind = "bushing"
between = ["crank.pin", "rod.small end"]
stiffness = [1, 2, 3]
rotational_damping = 7
[[sensors]]
name = "tip"
kind = "position"
of = "rod.node 3"
[[sensors]]
name = "drive"
kind = "reaction"
of = "bearing.motion"
[[sensors]]
name = "all"
kind = "energy"
[simulate]
end = 100
step = 0.5
sample = 1
integrator = "hht-i3"
alpha = -0.2
nodes = ["rod"]
)toml");
  ASSERT_TRUE(study.simulation.has_value());
  const SimulationSpec& s = *study.simulation;
  EXPECT_DOUBLE_EQ(s.gravity.z(), -9.81);
  ASSERT_EQ(s.joints.size(), 4u);
  EXPECT_TRUE(s.joints[0].first.is_ground());
  EXPECT_EQ(s.joints[0].second.body, 0);
  EXPECT_EQ(s.joints[0].second.marker.kind, MarkerSpec::Kind::Point);
  EXPECT_DOUBLE_EQ(s.joints[0].frame.at->z(), 0.003);
  // an angle has no unit, and t is in milliseconds
  EXPECT_DOUBLE_EQ((*s.joints[0].motion)(0.001), 2);
  EXPECT_EQ(s.joints[1].second.marker.kind, MarkerSpec::Kind::Interface);
  EXPECT_EQ(s.joints[1].second.marker.name, "big end");
  EXPECT_DOUBLE_EQ((*s.joints[2].motion)(0.005), 0.0025);
  EXPECT_EQ(s.joints[2].first.marker.node_ids, (std::vector<std::int64_t>{17}));
  ASSERT_TRUE(s.joints[3].and_between.has_value());
  EXPECT_EQ(s.joints[3].and_between->first.marker.node_ids, (std::vector<std::int64_t>{6, 7}));

  // kN
  EXPECT_DOUBLE_EQ(s.loads[0].load.components[1](0.002), 0.2 * 2 * 1000);
  EXPECT_DOUBLE_EQ(s.loads[0].load.components[2](1), 2000);
  EXPECT_EQ(s.loads[0].load.components[0](1), 0);
  EXPECT_DOUBLE_EQ(s.loads[1].load.stiffness, 3e6);  // kN/mm
  EXPECT_DOUBLE_EQ(s.loads[1].load.damping, 4e3);    // kN ms/mm
  EXPECT_DOUBLE_EQ(s.loads[1].load.length, 5e-3);
  EXPECT_DOUBLE_EQ(s.loads[2].load.K.y(), 2e6);
  EXPECT_DOUBLE_EQ(s.loads[2].load.c.z(), 7e-3);  // kN mm ms
  ASSERT_EQ(s.sensors.size(), 3u);
  EXPECT_EQ(s.sensors[1].of, "bearing.motion");
  EXPECT_DOUBLE_EQ(s.simulate->integrator.end, 0.1);
  EXPECT_DOUBLE_EQ(s.simulate->integrator.step, 5e-4);
  EXPECT_EQ(s.simulate->integrator.integrator, Integrator::HhtI3);
  EXPECT_EQ(s.simulate->nodes, (std::vector<std::string>{"rod"}));
}

TEST(SimulationSpec, UnknownNamesGetASuggestionAndAllAreListedAtOnce) {
  const Parser parse;
  parse.expect(rigid + flexible + R"(
[[joints]]
name = "a"
kind = "revolut"
between = ["ground", "crank.hub"]
[[joints]]
name = "b"
kind = "spherical"
between = ["crnk.hub", "rod.big end"]
[[joints]]
name = "c"
kind = "spherical"
between = ["crank.node 3", "rod"]
[[loads]]
name = "d"
kind = "force"
on = "crank.pinn"
force = [1, 2, 3]
stifness = 3
[[sensors]]
name = "e"
kind = "reaction"
of = "B"
[simulate]
end = 1
step = 0.1
nodes = ["rood"]
integrator = "bfd"
)",
               {"joints[1].kind: 'revolut' is none of", "did you mean 'revolute'?",
                "'crnk.hub': there is no body 'crnk' (did you mean 'crank'?)",
                "'crank.node 3': body 'crank' is rigid, from numbers, and has no nodes; there are: hub, pin",
                "'rod' is a body; expected a place on it",
                "'crank.pinn': body 'crank' has no point 'pinn' (did you mean 'pin'?)",
                "loads[1].stifness: unknown key", "there is no joint 'B' (did you mean 'b'?)",
                "there is no body 'rood' (did you mean 'rod'?)", "'bfd' is none of", "did you mean 'bdf'?"});
}

TEST(SimulationSpec, AnExpressionThatDoesNotParseHasACaret) {
  const Parser parse;
  parse.expect(rigid + R"(
[[loads]]
name = "d"
kind = "torque"
on = "crank.pin"
torque = [0, 0, "5*sin(t"]
)",
               {"loads[1].torque: expression does not parse", "  5*sin(t\n", "^"});
}

TEST(SimulationSpec, WhatDoesNotGoTogetherIsSaid) {
  const Parser parse;
  parse.expect(rigid + R"(
[[joints]]
name = "a"
kind = "spherical"
between = ["crank.pin", "crank.hub"]
[[joints]]
name = "a"
kind = "spherical"
between = ["ground", "crank.hub"]
motion = "t"
[[joints]]
name = "c"
kind = "angle"
between = ["ground", "crank.hub"]
axis = [0, 0, 1]
reference = [0, 0, 2]
[[sensors]]
kind = "velocity"
of = "ground"
)",
               {"are places on the same body", "joints[2].name: 'a' comes twice",
                "motion: does not go with kind = \"spherical\"", "joints[3].motion: is missing",
                "joints[3].reference: is parallel to the axis", "sensors[1].name: is missing",
                "the ground does not move"});
  parse.expect("[bodies.a]\nmesh = \"part.msh\"\n[simulate]\nend = 1\nstep = 0.1\n",
               {"a flexible body that is simulated is to be reduced: add [bodies.a.reduce]"});
  parse.expect(
      "[bodies.a]\nrigid = { mass = -1, inertia = [1, 2] }\nmesh = \"part.msh\"\nformulation = \"gcms\"\n",
      {"bodies.a.rigid.mass: is -1", "inertia: expected three numbers", "bodies.a.mesh: does not go with",
       "a body from numbers is rigid"});
}

TEST(SimulationSpec, TimeFunctionsComeFromFiles) {
  const Parser parse;
  parse.folder.write("ramp.csv", "t,value\n0,0\n2,4 # end\n");
  const std::string joint =
      "[[joints]]\nname = \"a\"\nkind = \"revolute\"\nbetween = [\"ground\", \"crank.hub\"]\nmotion = ";
  const StudyFile study = parse(rigid + joint + "{ file = \"ramp.csv\" }\n");
  EXPECT_DOUBLE_EQ((*study.simulation->joints[0].motion)(1), 2);
  parse.expect(rigid + joint + "{ file = \"no.csv\" }\n", {"joints[1].motion:", "no.csv"});
  parse.expect(rigid + joint + "{ tabel = [[0, 0], [1, 1]] }\n",
               {"tabel: unknown key (did you mean 'table'?)"});
  parse.expect(rigid + joint + "{ table = [[0, 0], [1]] }\n", {"expected points [t, value]"});
  parse.expect(rigid + joint + "[1, 2]\n", {"expected a number, an expression of t"});
  parse.expect(rigid + joint + "{ table = [[0, 0], [2, 1], [1, 3]] }\n",
               {"joints[1].motion:", "times of a table must ascend, found 1 s after 2 s (point 3)"});
  // a jump is for loads
  parse.expect(rigid + joint + "{ table = [[0, 0], [1, 1], [1, 2], [3, 2]] }\n",
               {"joints[1].motion:", "jumps at 1, which takes an infinite speed"});
}

const std::string pendulum = rigid + flexible + R"(
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "crank.hub"]
[simulate]
end = 1
step = 0.1
)";

TEST(Cases, KeysAreSetByTheirDottedNames) {
  const Parser parse;
  const StudyFile study = parse(pendulum + R"(
[[cases]]
name = "one"
set = { "bodies.rod.formulation" = "gcms", "simulate.step" = 0.05, "joints.hinge.axis" = [1, 0, 0] }
[[cases]]
name = "two"
set = { "bodies.rod.reduce.modes" = 3 }
)");
  ASSERT_EQ(study.cases.size(), 2u);
  const StudyFile& one = study.cases[0].study;
  EXPECT_EQ(one.case_name, "one");
  EXPECT_EQ(one.bodies[1].formulation, Formulation::Gcms);
  EXPECT_EQ(one.simulation->simulate->integrator.step, 0.05);
  EXPECT_EQ(one.simulation->joints[0].frame.axis->x(), 1);
  EXPECT_EQ(study.cases[0].changes.size(), 3u);
  // the study itself stays as it was
  EXPECT_EQ(study.bodies[1].formulation, Formulation::Ffrf);
  EXPECT_EQ(study.simulation->simulate->integrator.step, 0.1);
  // formulation and place do not ask for another reduction, other keys do
  EXPECT_EQ(one.bodies[1].reduction_key, study.bodies[1].reduction_key);
  EXPECT_NE(study.cases[1].study.bodies[1].reduction_key, study.bodies[1].reduction_key);
  EXPECT_EQ(study.cases[1].study.bodies[0].reduction_key, study.bodies[0].reduction_key);
}

TEST(Cases, AStarMeansThoseThatHaveTheKeyOrElseAll) {
  const Parser parse;
  const std::string formulation = "[[cases]]\nname = \"c\"\nset = { \"bodies.*.formulation\" = \"fncf\" }\n";
  std::string with_key = pendulum;
  with_key.replace(with_key.find("mesh ="), 0, "formulation = \"ffrf\"\n");
  const StudyFile study = parse(with_key + formulation);
  EXPECT_EQ(study.cases[0].study.bodies[0].formulation, Formulation::Rigid);
  EXPECT_EQ(study.cases[0].study.bodies[1].formulation, Formulation::Fncf);
  // no body has the key: it is set on all of them, and makes no sense for one
  parse.expect(pendulum + formulation,
               {"bodies.crank.formulation", "a body from numbers is rigid", "(case 'c')"});
}

TEST(Cases, KeysThatAreNotThereGetASuggestion) {
  const Parser parse;
  const auto with = [&](const std::string& set) {
    return pendulum + "[[cases]]\nname = \"c\"\nset = { " + set + " }\n";
  };
  parse.expect(with("\"bodys.rod.formulation\" = \"gcms\""),
               {"set.\"bodys.rod.formulation\": there is no 'bodys' (did you mean 'bodies'?)", "(case 'c')"});
  parse.expect(with("\"bodies.rood.formulation\" = \"gcms\""),
               {"there is no 'rood' in 'bodies' (did you mean 'rod'?)"});
  parse.expect(with("\"joints.hinges.axis\" = [1, 0, 0]"),
               {"no entry of 'joints' has the name 'hinges' (did you mean 'hinge'?)"});
  // a key that no table knows is found by reading the study as it would be
  parse.expect(with("\"simulate.stepp\" = 1"),
               {"simulate.stepp: unknown key; did you mean 'step'?", "(case 'c')"});
  parse.expect(with("\"simulate.step.size\" = 1"), {"'simulate.step' is no table"});
  parse.expect(pendulum + "[[cases]]\nname = \"c\"\n", {"cases[1].set: is missing"});
  parse.expect(pendulum + "[[cases]]\nname = \"../c\"\nset = {}\n", {"cases[1].name: the name"});
  parse.expect(with("\"simulate.end\" = 2") + "[compare]\nreference = \"d\"\n",
               {"compare.reference: there is no case 'd'"});
}

}  // namespace
}  // namespace lissom::simulation_spec_test
