// Beams of a study as bodies of a system: what is shared, what keeps its multipliers.
#include <gtest/gtest.h>

#include <cmath>

#include "lissom/io/study_file.hpp"
#include "lissom/study/beam_groups.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/simulate.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::ancf_system_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

std::string beam_table(const std::string& name, const std::string& from, const std::string& to,
                       const std::string& more = "") {
  return "[bodies." + name + "]\nformulation = \"ancf\"\nfrom = " + from + "\nto = " + to +
         "\nelements = 4\nsection = { rectangle = [0.03, 0.03] }\nyoung = 1e7\nmass = 0.3\n" + more;
}

std::string joint_table(const std::string& name, const std::string& kind, const std::string& first,
                        const std::string& second, const std::string& more = "") {
  return "[[joints]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\nbetween = [\"" + first + "\", \"" +
         second + "\"]\n" + more;
}

std::string pendulum(const std::string& more, const std::string& joint_keys = "") {
  return "gravity = [0, -9.81, 0]\n" + beam_table("upper", "[0, 0]", "[0.5, 0]") +
         beam_table("lower", "[0.5, 0]", "[1, 0]") +
         joint_table("O", "revolute", "ground", "upper.start", joint_keys) +
         joint_table("A", "spherical", "upper.end", "lower.start", joint_keys) + more;
}

StudyFile beam_study(const std::string& text) {
  return parse_study(text, "s.toml");
}

StudySystem built_of(const StudyFile& study, Diagnostics& diagnostics) {
  BodyStore store;
  return build_system(study, store, diagnostics);
}

SimulationRun run_of(const StudyFile& study, Diagnostics& diagnostics) {
  BodyStore store;
  SimulationOptions options;
  options.write_files = false;
  return simulate(study, {}, store, diagnostics, {}, options);
}

std::string refusal_of(const std::string& text) {
  Diagnostics diagnostics;
  const StudyFile study = beam_study(text);
  return message_of<InputError>([&] {
    const StudySystem built = built_of(study, diagnostics);
    check_study_system(built, study, diagnostics);
  });
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

const std::string tip_sensor = "[[sensors]]\nname = \"tip\"\nkind = \"position\"\nof = \"lower.end\"\n";
const std::string short_run =
    "[simulate]\nintegrator = \"hht-i3\"\nalpha = -0.1\nend = 0.2\nstep = 1e-3\nnewton_tolerance = 1e-13\n";

TEST(AncfSystem, SharesThePinsOfBeamsAndTakesSupportsOut) {
  Diagnostics diagnostics;
  const StudyFile study = beam_study(pendulum(tip_sensor + short_run));
  const StudySystem built = built_of(study, diagnostics);
  ASSERT_EQ(built.system->bodies().size(), 1u);
  EXPECT_EQ(built.system->bodies()[0]->name(), "upper+lower");
  // 2 beams of 5 nodes with 4 coordinates each, less 2 of the support and 2 of the pin
  EXPECT_EQ(built.system->coordinates(), 36);
  EXPECT_EQ(built.system->joints().size(), 0u);
  EXPECT_EQ(built.shared_joints, (std::vector<std::string>{"O", "A"}));
  const SystemCheck check = check_study_system(built, study, diagnostics);
  EXPECT_EQ(check.rank, 0);
  EXPECT_EQ(check.degrees_of_freedom, 36);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(AncfSystem, BringsEndsTogetherThatAreWrittenWithAFewDigits) {
  Diagnostics diagnostics;
  const StudySystem built =
      built_of(beam_study(beam_table("a", "[0, 0]", "[0.86602540378, 0.5]") +
                          beam_table("b", "[0.8660254, 0.5]", "[2, 0.5]") +
                          joint_table("pin", "spherical", "b.start", "a.end") + short_run),
               diagnostics);
  EXPECT_EQ(built.shared_joints, std::vector<std::string>{"pin"});
  EXPECT_TRUE(diagnostics.empty());
  // both at the first beam's end, and the first beam as it was
  const VectorXd E = nodal_coordinates(*built.system, built.q);
  EXPECT_NEAR(E[16], 0.86602540378, 1e-14);
  EXPECT_NEAR(E[20], 0.86602540378, 1e-14);
  EXPECT_NEAR(E[36], 2, 1e-14);
}

TEST(AncfSystem, KeepsMultipliersWhereAskedAndCountsThoseInThePlaneOnly) {
  for (const bool for_all : {false, true}) {
    Diagnostics diagnostics;
    const StudyFile study = beam_study(for_all ? pendulum(short_run + "share = false\n")
                                               : pendulum(short_run, "share = false\n"));
    const StudySystem built = built_of(study, diagnostics);
    ASSERT_EQ(built.system->bodies().size(), 2u);
    EXPECT_EQ(built.system->coordinates(), 40);
    EXPECT_TRUE(built.shared_joints.empty());
    const SystemCheck check = check_study_system(built, study, diagnostics);
    // of the 5 + 3 rows of the joints, x and y of each are left
    EXPECT_EQ(check.joint_constraints, 4);
    EXPECT_EQ(check.in_plane.size(), 4u);
    EXPECT_EQ(check.rank, 4);
    EXPECT_EQ(check.rigid_degrees_of_freedom, 2);
    EXPECT_TRUE(check.redundant.empty());
    EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  }
}

TEST(AncfSystem, MovesTheSameWithAndWithoutMultipliers) {
  Diagnostics diagnostics;
  const SimulationRun shared = run_of(beam_study(pendulum(tip_sensor + short_run)), diagnostics);
  const SimulationRun apart =
      run_of(beam_study(pendulum(tip_sensor + short_run + "share = false\n")), diagnostics);
  ASSERT_EQ(shared.sensors.rows(), 201);
  ASSERT_EQ(apart.sensors.rows(), 201);
  // the ground holds both forms
  EXPECT_TRUE(shared.summary["momentum_drift"].is_null());
  EXPECT_TRUE(apart.summary["momentum_drift"].is_null());
  // it has fallen far
  EXPECT_LT(shared.sensors(200, 1), -0.1);
  // the same equations: what the Newton iterations leave, 1e-13 m a step, added up
  EXPECT_LT((shared.sensors - apart.sensors).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_LT(apart.summary["constraint_drift"].get<double>(), 1e-11);
}

TEST(AncfSystem, MovesInSpaceTheSameWithAndWithoutMultipliers) {
  // a clamped cable, another one pinned to it at a right angle, and a weight on a swivel along the second
  const std::string text =
      "gravity = [0, 0, -9.81]\n" + beam_table("a", "[0, 0, 0]", "[0.3, 0, 0]", "dimension = 3\n") +
      beam_table("b", "[0.3, 0, 0]", "[0.3, 0.4, 0]", "dimension = 3\n") +
      "[bodies.w]\nrigid = { mass = 0.1, inertia = [1e-5, 1e-5, 1e-5] }\nposition = [0.3, 0.4, 0]\n"
      "points = { eye = [0, 0, 0] }\n" +
      joint_table("wall", "fixed", "ground", "a.start") +
      joint_table("pin", "spherical", "a.end", "b.start") +
      joint_table("swivel", "revolute", "b.end", "w.eye", "axis = [0, 1, 0]\n") +
      "[[sensors]]\nname = \"w\"\nkind = \"position\"\nof = \"w.eye\"\n"
      "[[sensors]]\nname = \"t\"\nkind = \"rotation\"\nof = \"b.end\"\n" +
      short_run;
  Diagnostics diagnostics;
  const SimulationRun shared = run_of(beam_study(text), diagnostics);
  const SimulationRun apart = run_of(beam_study(text + "share = false\n"), diagnostics);
  // 2 beams of 5 nodes with 6 coordinates and 7 of the weight, less 3 of the pin and 5 of the clamp
  EXPECT_EQ(shared.summary["coordinates"], 59);
  EXPECT_EQ(apart.summary["coordinates"], 67);
  EXPECT_EQ(shared.summary["degrees_of_freedom"], apart.summary["degrees_of_freedom"]);
  EXPECT_LT(shared.sensors(200, 2), -0.05);
  // what the Newton iterations leave, 1e-13 m a step, added up; the rotation in radians
  EXPECT_LT((shared.sensors - apart.sensors).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
}

TEST(AncfSystem, GivesTheSameNodalCoordinatesInBothForms) {
  Diagnostics diagnostics;
  const StudySystem shared = built_of(beam_study(pendulum(short_run)), diagnostics);
  const StudySystem apart = built_of(beam_study(pendulum(short_run + "share = false\n")), diagnostics);
  const VectorXd a = nodal_coordinates(*shared.system, shared.q),
                 b = nodal_coordinates(*apart.system, apart.q);
  ASSERT_EQ(a.size(), 40);
  EXPECT_LT((a - b).norm(), 1e-14);
  EXPECT_EQ(ancf_bodies(*apart.system).size(), 2u);
  // the end of the second beam, along x
  EXPECT_NEAR(b[36], 1, 1e-15);
  EXPECT_NEAR(b[38], 1, 1e-15);
}

TEST(AncfSystem, DoesNotShareAJointThatIsMeasured) {
  Diagnostics diagnostics;
  const std::string sensor = "[[sensors]]\nname = \"force\"\nkind = \"reaction\"\nof = \"O\"\n";
  const StudyFile study = beam_study(pendulum(sensor + short_run));
  const StudySystem built = built_of(study, diagnostics);
  EXPECT_EQ(built.shared_joints, std::vector<std::string>{"A"});
  EXPECT_EQ(built.system->find_joint("O"), 0);
  // a rod that hangs: its weight, to what the iterations leave
  const SimulationRun run =
      run_of(beam_study("gravity = [0, -9.81, 0]\n" + beam_table("upper", "[0, 0]", "[0, -0.5]") +
                        joint_table("O", "revolute", "ground", "upper.start") + sensor +
                        "[simulate]\nintegrator = \"static\"\nend = 1\nstep = 1\n"),
             diagnostics);
  EXPECT_NEAR(run.sensors(0, 1), 0.3 * 9.81, 1e-9);
  EXPECT_NEAR(run.sensors(0, 0), 0, 1e-9);
  EXPECT_NEAR(run.sensors(0, 2), 0, 1e-12);
  EXPECT_TRUE(diagnostics.empty());
  // where it was said to be shared there is a word
  built_of(beam_study(pendulum(sensor + short_run, "share = true\n")), diagnostics);
  EXPECT_NE(diagnostics.find("simulate.shared-joint.O"), nullptr);
}

TEST(AncfSystem, CarriesATipLoadAsACantilever) {
  // F L^3 / 3 EI of a clamped beam, with F small: the next order is (F L^2 / EI)^2, 1e-6
  Diagnostics diagnostics;
  const double EI = 1e7 * std::pow(0.03, 4) / 12, F = EI * 4e-3;
  const std::string text =
      beam_table("rod", "[0, 0]", "[0.5, 0]") +
      fmt::format("[[loads]]\nname = \"tip\"\nkind = \"force\"\non = \"rod.end\"\nforce = [0, {}, 0]\n", F) +
      "[[sensors]]\nname = \"tip\"\nkind = \"displacement\"\nof = \"rod.end\"\n"
      "[simulate]\nintegrator = \"static\"\nend = 1\nstep = 1\n";
  for (const char* share : {"true", "false"}) {
    const SimulationRun run = run_of(beam_study(text + fmt::format("share = {}\n", share) +
                                                joint_table("wall", "fixed", "ground", "rod.start")),
                                     diagnostics);
    const double expected = F * std::pow(0.5, 3) / (3 * EI);
    EXPECT_NEAR(run.sensors(run.sensors.rows() - 1, 1), expected, 1e-5 * expected) << share;
  }
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
}

TEST(AncfSystem, HangsARigidBodyFromABeam) {
  // a block below the end of a clamped beam: multipliers between the two, and equilibrium of the whole
  Diagnostics diagnostics;
  const std::string text =
      "gravity = [0, -9.81, 0]\n" + beam_table("rod", "[0, 0]", "[0.5, 0]") +
      "[bodies.block]\nrigid = { mass = 0.1, inertia = [1e-4, 1e-4, 1e-4] }\nposition = [0.5, 0, 0]\n"
      "[bodies.block.points]\ntop = [0, 0, 0]\n" +
      joint_table("wall", "fixed", "rod.start", "ground") +
      joint_table("hook", "fixed", "rod.end", "block.top") +
      "[[sensors]]\nname = \"hook\"\nkind = \"reaction\"\nof = \"hook\"\n"
      "[simulate]\nintegrator = \"static\"\nend = 1\nstep = 1\n";
  const SimulationRun run = run_of(beam_study(text), diagnostics);
  const auto last = run.sensors.rows() - 1;
  EXPECT_NEAR(run.sensors(last, 1), 0.1 * 9.81, 1e-8);
  EXPECT_NEAR(run.sensors(last, 0), 0, 1e-8);
  EXPECT_NEAR(run.sensors(last, 5), 0, 1e-8);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
}

TEST(AncfSystem, StartsWithTheVelocitiesOfItsBeams) {
  // a free beam that turns about its start, which moves: thrown, its ends keep their velocities at first
  Diagnostics diagnostics;
  const StudyFile study = beam_study(
      beam_table("rod", "[1, 2]", "[1.5, 2]", "velocity = [1, 0, 0]\nangular_velocity = [0, 0, 2]\n") +
      "[[sensors]]\nname = \"a\"\nkind = \"velocity\"\nof = \"rod.start\"\n"
      "[[sensors]]\nname = \"b\"\nkind = \"velocity\"\nof = \"rod.end\"\n"
      "[[sensors]]\nname = \"w\"\nkind = \"angular-velocity\"\nof = \"rod.node 3\"\n" +
      short_run);
  const SimulationRun run = run_of(study, diagnostics);
  const VectorXd start = run.sensors.row(0);
  EXPECT_LT((start - (VectorXd(9) << 1, 0, 0, 1, 1, 0, 0, 0, 2).finished()).norm(), 1e-12);
  EXPECT_NE(diagnostics.find("simulate.free-body.rod"), nullptr);
}

TEST(AncfSystem, RefusesVelocitiesThatDoNotFitWhatIsHeld) {
  expect_says(refusal_of(beam_table("rod", "[0, 0]", "[1, 0]", "velocity = [1, 0, 0]\n") +
                         joint_table("O", "spherical", "ground", "rod.start") + short_run),
              "s.toml:1: bodies.rod: ANCF beam 'rod': node 1 is pinned or held");
}

TEST(AncfSystem, SaysThatGravityAcrossThePlaneDoesNothing) {
  Diagnostics diagnostics;
  built_of(beam_study("gravity = [0, 0, -9.81]\n" + beam_table("rod", "[0, 0]", "[1, 0]") + short_run),
           diagnostics);
  EXPECT_NE(diagnostics.find("simulate.gravity-across"), nullptr);
}

TEST(AncfSystem, RefusesJointsThatBeamsCannotHave) {
  expect_says(refusal_of(beam_table("a", "[0, 0]", "[1, 0]") +
                         beam_table("b", "[1, 0]", "[2, 0]", "dimension = 3\n") +
                         joint_table("pin", "spherical", "a.end", "b.start")),
              "joint 'pin': 'a' is a beam in the plane and 'b' one in space");
  expect_says(refusal_of(beam_table("a", "[0, 0]", "[1, 0]", "dimension = 3\n") +
                         beam_table("b", "[1, 0]", "[2, 0]", "dimension = 3\n") +
                         joint_table("weld", "fixed", "a.end", "b.start")),
              "make it kind = \"revolute\" with 'a.end' as the first place");
  // beams that do not meet: how far they are apart
  expect_says(refusal_of(beam_table("a", "[0, 0]", "[1, 0]") + beam_table("b", "[1, 0.25]", "[2, 0]") +
                         joint_table("pin", "spherical", "a.end", "b.start")),
              "joint 'pin': its frames do not meet at the start, they are 0.25 m apart");
}

TEST(AncfSystem, RefusesStressOfBeams) {
  const std::string rod = beam_table("rod", "[0, 0]", "[1, 0]");
  expect_says(refusal_of(rod + "[[sensors]]\nname = \"s\"\nkind = \"stress\"\nof = \"rod.end\"\n"),
              "sensor 's': 'rod' is a beam");
  expect_says(refusal_of(rod + short_run + "[simulate.stress]\n"), "beams, whose stress is not computed");
}

// Beams on a basis that spans all their motions: nothing is lost, and every pin is part of it.
TEST(AncfSystem, LeavesOutWhatABasisSatisfies) {
  Diagnostics diagnostics;
  const StudyFile study = beam_study(pendulum(tip_sensor + short_run));
  const StudySystem shared = built_of(study, diagnostics);
  const StudySystem apart = built_of(beam_study(pendulum(short_run + "share = false\n")), diagnostics);
  const std::vector<const AncfBody*> bodies = ancf_bodies(*apart.system);
  // the columns of T in E = E0 + T q, which are zero or one (or share a one)
  const VectorXd E0 = nodal_coordinates(*shared.system, shared.q);
  Eigen::MatrixXd T(E0.size(), shared.q.size());
  for (int i = 0; i < T.cols(); ++i)
    T.col(i) = nodal_coordinates(*shared.system, VectorXd::Unit(T.cols(), i), true).normalized();
  PodBodyOptions options;
  options.force = PodForce::Direct;
  auto body = std::make_unique<PodBody>("mechanism", bodies, E0, T, E0, options, diagnostics);
  StudySystem built = build_pod_system(study, std::move(body), shared, diagnostics);
  ASSERT_NE(built.pod, nullptr);
  EXPECT_EQ(built.system->bodies().size(), 1u);
  EXPECT_EQ(built.system->joints().size(), 2u);
  const SystemCheck check = check_study_system(built, study, diagnostics);
  EXPECT_EQ(check.coordinates, 36);
  EXPECT_EQ(check.joint_constraints, 4);
  EXPECT_EQ(check.satisfied, 4);
  EXPECT_EQ(check.rank, 0);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  expect_says(describe(*built.system, check), "4 of 4 constraints are satisfied by the basis.");

  // it moves as the beams do
  SimulationOptions none;
  none.write_files = false;
  const SimulationRun full = run_of(study, diagnostics);
  const SimulationRun reduced = simulate(study, {}, std::move(built), diagnostics, {}, none);
  // what the Newton iterations leave, 1e-13 m a step, added up
  EXPECT_LT((full.sensors - reduced.sensors).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(AncfSystem, KeepsTheConstraintsThatABasisViolates) {
  // all nodal coordinates as a basis: none of the pins is part of it
  Diagnostics diagnostics;
  const StudyFile study = beam_study(
      pendulum(tip_sensor + "[[sensors]]\nname = \"force\"\nkind = \"reaction\"\nof = \"O\"\n" + short_run));
  const StudySystem apart = built_of(beam_study(pendulum(short_run + "share = false\n")), diagnostics);
  const VectorXd E0 = nodal_coordinates(*apart.system, apart.q);
  PodBodyOptions options;
  options.force = PodForce::Direct;
  auto body = std::make_unique<PodBody>("mechanism", ancf_bodies(*apart.system), E0,
                                        Eigen::MatrixXd::Identity(40, 40), E0, options, diagnostics);
  const StudySystem built = build_pod_system(study, std::move(body), apart, diagnostics);
  const SystemCheck check = check_study_system(built, study, diagnostics);
  EXPECT_EQ(check.joint_constraints, 4);
  EXPECT_EQ(check.satisfied, 0);
  EXPECT_EQ(check.rank, 4);
  EXPECT_TRUE(check.redundant.empty());
  // reactions are not those of the beams
  EXPECT_EQ(built.sensors.size(), 1u);
  EXPECT_NE(diagnostics.find("simulate.joint-sensors"), nullptr);
}

TEST(AncfSystem, NamesTheBodyThatIsNoBeam) {
  Diagnostics diagnostics;
  const StudySystem built = built_of(
      beam_study(beam_table("rod", "[0, 0]", "[1, 0]") +
                 "[bodies.block]\nrigid = { mass = 0.1, inertia = [1e-4, 1e-4, 1e-4] }\n" + short_run),
      diagnostics);
  expect_says(message_of<InputError>([&] { ancf_bodies(*built.system); }), "'block' is no beam");
}

}  // namespace
}  // namespace lissom::ancf_system_test
