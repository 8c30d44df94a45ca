// Beams in study files.
#include "lissom/io/ancf_spec.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "lissom/io/study_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::ancf_spec_test {
namespace {

const std::string beam_keys =
    "formulation = \"ancf\"\nfrom = [1, 2]\nto = [4, 6]\nelements = 8\nyoung = 2e9\ndensity = 1000\n";

StudyFile with_keys(const std::string& keys, const std::string& more = "") {
  return parse_study("[bodies.rod]\n" + keys + more, "s.toml");
}

std::string refusal_of(const std::string& keys, const std::string& more = "") {
  return message_of<InputError>([&] { with_keys(keys, more); });
}

void expect_has(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(AncfSpec, ReadsABeamOfARectangle) {
  const StudyFile study = with_keys(beam_keys +
                                    "section = { rectangle = [0.02, 0.03] }\n"
                                    "damping = { beta = 1e-3 }\naxial = \"engineering\"\n"
                                    "bending = \"material-curvature\"\nvelocity = [1, 2, 0]\n"
                                    "angular_velocity = [0, 0, 3]\n");
  ASSERT_TRUE(study.bodies.at(0).ancf);
  const BodySpec& body = study.bodies[0];
  const AncfSpec& spec = *body.ancf;
  EXPECT_EQ(body.formulation, Formulation::Ancf);
  EXPECT_TRUE(body.without_mesh());
  EXPECT_EQ(spec.dimension, 2);
  EXPECT_EQ(spec.beam.name, "rod");
  EXPECT_EQ(spec.beam.elements, 8);
  EXPECT_EQ(spec.length(), 5);
  // the height is in the plane
  EXPECT_DOUBLE_EQ(spec.area, 6e-4);
  EXPECT_DOUBLE_EQ(spec.inertia, 0.02 * 0.027e-3 / 12);
  EXPECT_DOUBLE_EQ(spec.beam.properties.EA, 2e9 * 6e-4);
  EXPECT_DOUBLE_EQ(spec.beam.properties.EI, 2e9 * 0.02 * 0.027e-3 / 12);
  EXPECT_DOUBLE_EQ(spec.beam.properties.mass, 0.6);
  EXPECT_EQ(spec.beam.properties.damping, 1e-3);
  EXPECT_EQ(spec.law.axial, AxialStrain::Engineering);
  EXPECT_EQ(spec.law.bending, BendingStrain::MaterialCurvature);
  EXPECT_EQ(spec.beam.velocity, Eigen::Vector3d(1, 2, 0));
  EXPECT_EQ(spec.beam.angular_velocity, Eigen::Vector3d(0, 0, 3));
  EXPECT_EQ(body.placement.velocity, Eigen::Vector3d::Zero());
}

TEST(AncfSpec, ReadsACircleAGivenSectionAndTheWholeMass) {
  const std::string keys =
      "formulation = \"ancf\"\nfrom = [0, 0, 0]\nto = [0, 0, 2]\nelements = 4\n"
      "dimension = 3\nyoung = 3\nmass = 5\n";
  const AncfSpec circle = *with_keys(keys + "section = { circle = 2 }\n").bodies[0].ancf;
  EXPECT_EQ(circle.dimension, 3);
  EXPECT_DOUBLE_EQ(circle.area, std::numbers::pi);
  EXPECT_DOUBLE_EQ(circle.inertia, std::numbers::pi / 4);
  EXPECT_DOUBLE_EQ(circle.beam.properties.mass, 2.5);
  const AncfSpec given = *with_keys(keys + "section = { area = 7, inertia = 11 }\n").bodies[0].ancf;
  EXPECT_EQ(given.beam.properties.EA, 21);
  EXPECT_EQ(given.beam.properties.EI, 33);
}

TEST(AncfSpec, TakesTheUnitsOfTheStudy) {
  // a steel wire in millimetres, tonnes and seconds
  const StudyFile study = parse_study(
      "units = \"mm-t-s\"\n[bodies.wire]\nformulation = \"ancf\"\nfrom = [0, 0]\nto = [1000, 0]\n"
      "elements = 2\nsection = { circle = 2 }\nmaterial = { E = 210e3, nu = 0.3, rho = 7.85e-9 }\n"
      "velocity = [1000, 0, 0]\n",
      "s.toml");
  const AncfSpec& spec = *study.bodies[0].ancf;
  const double area = std::numbers::pi * 1e-6;
  EXPECT_NEAR(spec.length(), 1, 1e-15);
  EXPECT_NEAR(spec.beam.properties.EA, 210e9 * area, 1e-9 * 210e9 * area);
  EXPECT_NEAR(spec.beam.properties.EI, 210e9 * std::numbers::pi / 4 * 1e-12, 1e-9);
  EXPECT_NEAR(spec.beam.properties.mass, 7850 * area, 1e-9 * 7850 * area);
  EXPECT_NEAR(spec.beam.velocity.x(), 1, 1e-15);
}

TEST(AncfSpec, KnowsItsPlaces) {
  const AncfSpec spec = *with_keys(beam_keys + "section = { circle = 1 }\n").bodies[0].ancf;
  EXPECT_EQ(spec.node_of("start"), 0);
  EXPECT_EQ(spec.node_of("end"), 8);
  EXPECT_EQ(spec.node_of("node 1"), 0);
  EXPECT_EQ(spec.node_of("node 9"), 8);
  EXPECT_EQ(spec.node_of("node 10"), -1);
  EXPECT_EQ(spec.node_of("nodes 1 2"), -1);
  EXPECT_EQ(spec.node_of("middle"), -1);
}

TEST(AncfSpec, SaysAllThatIsWrongWithABeamAtOnce) {
  const std::string message = refusal_of(
      "formulation = \"ancf\"\nfrom = [1, 1]\nto = [1, 1]\nelements = 0\nsection = { hexagon = 3 }\n");
  expect_has(message, "s.toml:4: bodies.rod.to: is where 'from' is");
  expect_has(message, "s.toml:5: bodies.rod.elements: is 0, expected 1 to");
  expect_has(message, "bodies.rod.section.hexagon");
  expect_has(message, "exactly one is expected: { circle = DIAMETER }");
  expect_has(message, "bodies.rod.young: is missing");
  expect_has(message, "bodies.rod.density: is missing");
}

TEST(AncfSpec, RefusesWhatABeamCannotBe) {
  const std::string circle = "section = { circle = 0.1 }\n";
  expect_has(refusal_of(beam_keys + "section = { circle = -0.1 }\n"),
             "s.toml:8: bodies.rod.section.circle: is -0.1, expected a positive number");
  expect_has(refusal_of(beam_keys + "section = { area = 1 }\n"), "bodies.rod.section.inertia: is missing");
  expect_has(refusal_of(beam_keys), "bodies.rod.section: is missing");
  expect_has(refusal_of(beam_keys + circle + "mass = 3\n"), "bodies.rod.mass: is the whole mass");
  expect_has(refusal_of(beam_keys + circle + "dimension = 4\n"), "bodies.rod.dimension: is 4, expected 2");
  expect_has(refusal_of(beam_keys + circle + "velocity = [0, 0, 1]\n"),
             "bodies.rod.velocity: has a z component");
  expect_has(refusal_of(beam_keys + circle + "angular_velocity = [1, 0, 0]\n"),
             "bodies.rod.angular_velocity: is not about z");
  expect_has(refusal_of(beam_keys + circle + "position = [1, 0, 0]\n"),
             "bodies.rod.position: does not go with");
  expect_has(refusal_of(beam_keys + circle + "damping = { ratio = 0.1 }\n"),
             "bodies.rod.damping.beta: is missing");
  expect_has(refusal_of(beam_keys + circle + "axial = \"grean\"\n"), "green");
  expect_has(refusal_of(beam_keys + circle + "elemnts = 3\n"), "elements");
  expect_has(refusal_of(beam_keys + circle, "[bodies.rod.reduce]\n"), "bodies.rod.reduce: does not go with");
  const std::string in_space =
      "formulation = \"ancf\"\nfrom = [0, 0, 0]\nto = [1, 0, 1]\nelements = 8\nyoung = 2e9\nmass = 1\n";
  expect_has(refusal_of(in_space + circle), "lies in a plane of constant z");
  const std::string message =
      refusal_of(in_space + "dimension = 3\nsection = { rectangle = [0.02, 0.03] }\n");
  expect_has(message, "s.toml:9: bodies.rod.section.rectangle: is 0.02 by 0.03");
  expect_has(message, "make it square");
}

TEST(AncfSpec, WantsTheFormulationForItsKeys) {
  const std::string message = refusal_of("mesh = \"x.inp\"\nfrom = [0, 0]\n");
  expect_has(message, "s.toml:3: bodies.rod.from: is of a beam, which also needs formulation = \"ancf\"");
}

TEST(AncfSpec, HasNoOtherPlacesThanNodes) {
  const std::string keys = beam_keys + "section = { circle = 0.1 }\n";
  const std::string joint = "[[joints]]\nname = \"pin\"\nkind = \"spherical\"\nbetween = [\"ground\", \"rod.";
  expect_has(refusal_of(keys, joint + "ende\"]\n"), "'rod.ende': the beam 'rod' has no place 'ende'");
  expect_has(refusal_of(keys, joint + "ende\"]\n"), "end");
  expect_has(refusal_of(keys, joint + "node 10\"]\n"), "\"rod.node 1\" to \"rod.node 9\"");
  const StudyFile study = with_keys(keys, joint +
                                              "node 3\"]\nshare = false\n[simulate]\nend = 1\nstep = 0.1\n"
                                              "share = false\n");
  const JointSpec& pin = study.simulation->joints[0];
  EXPECT_EQ(pin.second.part, "rod");
  EXPECT_EQ(pin.second.marker.part, "rod");
  EXPECT_EQ(pin.second.marker.node_ids, std::vector<std::int64_t>{3});
  EXPECT_EQ(pin.share, std::optional<bool>(false));
  EXPECT_FALSE(study.simulation->simulate->share);
}

}  // namespace
}  // namespace lissom::ancf_spec_test
