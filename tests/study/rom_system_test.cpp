// A mechanism reduced as a whole, under the loads and sensors of a study.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/io/result_file.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/inspect_rom.hpp"
#include "lissom/study/simulate.hpp"
#include "tests/study/slap_cubes.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::rom_system_test {
namespace {

using test::Cubes;
using test::make_cubes;

StudyFile parse(const std::string& text) {
  return parse_study(text, "s.toml", "cubes.rom.h5");
}

std::string force(const std::string& on, const std::string& components, const std::string& more = "") {
  return "[[loads]]\nname = \"push " + on + "\"\nkind = \"force\"\non = \"" + on +
         "\"\nforce = " + components + "\n" + more;
}

std::string sensor(const std::string& name, const std::string& kind, const std::string& of) {
  return "[[sensors]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\nof = \"" + of + "\"\n";
}

std::string run_for(double end, double step, const std::string& more = "rho_inf = 1\n") {
  return fmt::format("[simulate]\nend = {}\nstep = {}\n{}", end, step, more);
}

SimulationRun run(const StudyFile& study, const SlapModel& model, Diagnostics& diagnostics,
                  const std::filesystem::path& folder = {}) {
  SimulationOptions options;
  options.write_files = !folder.empty();
  return simulate(study, folder, build_rom_system(study, model, diagnostics), diagnostics, {}, options);
}

std::string refusal(const std::string& text, const SlapModel& model) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { run(parse(text), model, diagnostics); });
}

TEST(RomSystem, MovesAsItsEquationSays) {
  // 9 kg along x under 9 N and gravity; the block's stretch: M_22 = 3/4 kg m2, k = 48 J, 6 N at y = 1/2
  Diagnostics diagnostics;
  const StudyFile study =
      parse("gravity = [0.5, 0, -9.81]\n" + force("slider.2.node 3", "[9, 0, 0]") +
            force("block.node 8", "[0, 6, 0]") + sensor("corner", "position", "block.node 8") +
            sensor("far", "position", "slider.2.face") + run_for(0.5, 1e-4, "rho_inf = 1\nsample = 0.01\n"));
  const SimulationRun result = run(study, make_cubes(), diagnostics);
  ASSERT_EQ(result.time.size(), 51);
  EXPECT_TRUE(diagnostics.empty());
  const double omega = std::sqrt(48 / 0.75);
  for (int i = 0; i < result.time.size(); ++i) {
    const double t = result.time[i];
    const double eta_1 = 1.5 * t * t / 2, eta_2 = 3.0 / 48 * (1 - std::cos(omega * t));
    // the method's error is of second order: (omega h)^2 / 12 of the phase omega t
    EXPECT_NEAR(result.sensors(i, 0), 0.5 + eta_1, 1e-8);
    EXPECT_NEAR(result.sensors(i, 1), 0.5 + eta_2 / 2, 1e-7);
    EXPECT_NEAR(result.sensors(i, 2), 0.5, 1e-12);
    EXPECT_NEAR(result.sensors(i, 3), eta_1, 1e-8);
    EXPECT_NEAR(result.sensors(i, 5), 1.5, 1e-12);
    EXPECT_NEAR(result.q(0, i), eta_1, 1e-8);
    EXPECT_NEAR(result.v(1, i), 3.0 / 48 * omega * std::sin(omega * t), 1e-6);
    EXPECT_EQ(result.t[i], t);
  }
  EXPECT_EQ(result.summary["constraints"], 0);
  EXPECT_EQ(result.summary["degrees_of_freedom"], 2);
  EXPECT_TRUE(result.summary["rigid_degrees_of_freedom"].is_null());
  EXPECT_EQ(result.summary["bodies"][0]["parts"], (std::vector<std::string>{"block", "slider.2"}));
  EXPECT_TRUE(result.summary["free_bodies"].empty());
  EXPECT_LT(result.summary["energy_drift"].get<double>(), 1e-7);
  EXPECT_NE(result.text.find("'block' and 'slider.2' in 2 coordinates"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("an ordinary differential equation"), std::string::npos) << result.text;
  EXPECT_EQ(result.text.find("held by nothing"), std::string::npos) << result.text;
  // the system is kept with the run, so that nodes can be had afterwards
  const Eigen::Matrix3Xd nodes = result.built->system->bodies()[0]->node_positions(result.q.rightCols(1));
  ASSERT_EQ(nodes.cols(), 16);
  EXPECT_NEAR(nodes(1, 7), result.sensors(50, 1), 1e-14);
}

TEST(RomSystem, ForcesBetweenPartsActOnBoth) {
  // A spring between the cubes: opposite forces along the common x cancel, and its length is
  // l = |(0, -eta_2 / 2 ...)|: node 8 of the block at (., 1/2 + eta_2 / 2, 1/2), node 8 of the slider at z =
  // 3/2
  Diagnostics diagnostics;
  const StudyFile study = parse(R"(
[[loads]]
name = "spring"
kind = "spring"
between = ["block.node 8", "slider.2.node 8"]
stiffness = 200
length = 0.5
damping = 0.2
[[loads]]
name = "drive"
kind = "line-force"
between = ["block.node 1", "slider.2.face"]
force = 3
[[sensors]]
name = "pull"
kind = "load"
of = "spring"
)" + force("block.face", "[0, 4, 0]", "reaction = \"slider.2.face\"\n") +
                                run_for(0.5, 2e-4, "rho_inf = 1\nsample = 0.01\n"));
  const SimulationRun result = run(study, make_cubes(), diagnostics);
  // an exact tangent and a consistent power leave only the error of the method
  EXPECT_LT(result.summary["energy_drift"].get<double>(), 1e-6);
  EXPECT_GT(result.summary["energy"]["dissipated"].get<double>(), 0);
  for (int i = 0; i < result.time.size(); ++i) {
    const double dy = result.q(1, i) / 2, length = std::hypot(dy, 1), rate = dy * result.v(1, i) / 2 / length;
    EXPECT_NEAR(result.sensors(i, 0), 200 * (length - 0.5) + 0.2 * rate, 1e-10);
    // nothing acts from outside along x
    EXPECT_NEAR(result.q(0, i), 0, 1e-13);
  }
  EXPECT_GT(result.q.row(1).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(RomSystem, AxesOfPlacesAreThoseAtTheStart) {
  // the block stands turned by a quarter about z: its own y is -x of space, and its own x is y of space
  Cubes cubes;
  cubes.turned = Eigen::AngleAxisd(M_PI / 2, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  const SlapModel model = make_cubes(cubes);
  Diagnostics diagnostics;
  // a following force along the place's -y pushes along x of space
  const StudyFile follows =
      parse(force("block.face", "[0, -9, 0]", "following = true\n") + run_for(0.1, 1e-3));
  EXPECT_NEAR(run(follows, model, diagnostics).q(0, 100), 1.0 / 2 * 0.01, 1e-12);
  // and axes that are given are meant in space
  const StudyFile given =
      parse(force("block.face", "[9, 0, 0]", "following = true\naxis = [0, 0, 1]\nreference = [1, 0, 0]\n") +
            sensor("turn", "rotation", "block.face") + run_for(0.1, 1e-3));
  const SimulationRun result = run(given, model, diagnostics);
  EXPECT_NEAR(result.q(0, 100), 1.0 / 2 * 0.01, 1e-12);
  EXPECT_NEAR(result.sensors.cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST(RomSystem, PlacesThatTheModelLacksAreListed) {
  const std::string end = run_for(0.1, 1e-3);
  const SlapModel full = make_cubes();
  Cubes without;
  without.recovery = false;
  const SlapModel small = make_cubes(without);
  const std::string text =
      refusal(force("block.fce", "[1, 0, 0]") + force("bloc.face", "[1, 0, 0]") +
                  sensor("a", "position", "slider.2.node 17") + sensor("b", "rotation", "block.node 3") + end,
              full);
  for (const char* message :
       {"load 'push block.fce': 'block.fce': the model has no such place (did you mean 'face'?); places of "
        "'block' "
        "in the model: face, node 8, and every node. To have others, name them in 'places' of [train]",
        "'bloc.face': the model has no body 'bloc' (did you mean 'block'?); it has: block, slider.2",
        "the body 'slider.2' has no node 17; its 8 nodes are numbered 1 to 8; places",
        "'block.node 3' has no rotation"})
    EXPECT_NE(text.find(message), std::string::npos) << message << "\nin\n" << text;
  EXPECT_NE(text.find("s.toml:6: load"), std::string::npos) << text;
  const std::string kept = refusal(force("block.node 3", "[1, 0, 0]") + end, small);
  EXPECT_NE(kept.find("the model keeps no nodes (recovery = false)"), std::string::npos) << kept;
  EXPECT_NE(kept.find("or keep all nodes with recovery = true"), std::string::npos) << kept;
  // a node that is one of its places does not need them
  Diagnostics diagnostics;
  EXPECT_NO_THROW(run(parse(force("block.node 8", "[1, 0, 0]") + end), small, diagnostics));
  const std::string nodes = refusal(end + "nodes = [\"blck\"]\n", full);
  EXPECT_NE(nodes.find("simulate.nodes: there is no body 'blck' (did you mean 'block'?)"), std::string::npos)
      << nodes;
}

TEST(RomSystem, SensorsOfJointsAreLeftOutWithOneWarning) {
  Diagnostics diagnostics;
  const StudyFile study =
      parse(sensor("hold", "reaction", "hinge") + sensor("angle", "joint-angle", "hinge") +
            sensor("corner", "position", "block.node 8") + run_for(0.1, 1e-3));
  const SimulationRun result = run(study, make_cubes(), diagnostics);
  EXPECT_EQ(result.columns, (std::vector<std::string>{"corner.x", "corner.y", "corner.z"}));
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_NE(diagnostics.warnings()[0].message.find("the sensors 'hold', 'angle' are left out"),
            std::string::npos);
}

TEST(RomSystem, LeavingTheTrainingIsAWarning) {
  // trained from 0 to 1 m in steps of 0.1 m: at 1 + 3 times 0.1 m it has been left
  const TemporaryFolder folder;
  SlapModel model = make_cubes();
  const StudyFile study =
      parse(force("block.face", "[9, 0, 0]") + run_for(2, 1e-2, "rho_inf = 1\nnodes = [\"slider.2\"]\n"));
  Diagnostics diagnostics;
  const SimulationRun result = run(study, model, diagnostics, folder / "out");
  const auto& trust = result.summary["trust"];
  EXPECT_EQ(trust["threshold"], 3);
  // at 2 s it is at 2 m, 10 away; at t = sqrt(2.6) s it was at 1.3 m
  EXPECT_NEAR(trust["largest"].get<double>(), 10, 1e-9);
  EXPECT_EQ(trust["at"], 2);
  EXPECT_NEAR(trust["outside_since"].get<double>(), std::ceil(100 * std::sqrt(2.6)) / 100, 1e-9);
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_NE(diagnostics.warnings()[0].message.find("leaves what the model was trained on at t = 1.62 s"),
            std::string::npos)
      << diagnostics.warnings()[0].message;
  EXPECT_NE(result.text.find("trust"), std::string::npos);
  // the same at every sample in the file, and the nodes of a part under its name
  Diagnostics reading;
  const ResultFile file = read_result_file(folder / "out" / "result.h5", reading);
  EXPECT_TRUE(reading.empty());
  ASSERT_EQ(file.trust.size(), 201);
  for (int i = 0; i < 201; ++i)
    EXPECT_EQ(file.trust[i], distance_from_training(model.training, result.q.col(i)));
  ASSERT_EQ(file.header.nodes.size(), 1);
  EXPECT_EQ(file.header.nodes[0].body, "slider.2");
  EXPECT_EQ(file.header.nodes[0].ids.size(), 8);
  EXPECT_NEAR(file.nodes[0].back()(0, 0), -0.5 + 2, 1e-9);
  EXPECT_EQ(file.header.bodies[0].formulation, "slap");

  // nothing is said where nothing is known, nor where the motion stays near
  model.training = {};
  Diagnostics unknown;
  const SimulationRun without = run(study, model, unknown);
  EXPECT_TRUE(without.summary["trust"].is_null());
  EXPECT_NE(without.text.find("not known"), std::string::npos);
  EXPECT_TRUE(unknown.empty());
  Diagnostics near;
  const SimulationRun stays =
      run(parse(force("block.face", "[9, 0, 0]") + run_for(1, 1e-2)), make_cubes(), near);
  EXPECT_TRUE(stays.summary["trust"]["outside_since"].is_null());
  EXPECT_TRUE(near.empty());
}

TEST(RomSystem, AStepAboveTheLimitOfStabilityIsRefusedBeforeAnythingIsWritten) {
  // omega = 8 rad/s: 2 / omega = 0.25 s
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const std::string loads = force("block.node 8", "[0, 6, 0]");
  const std::string central = "integrator = \"central-differences\"\n";
  const std::string message = message_of<InputError>(
      [&] { run(parse(loads + run_for(1, 0.26, central)), make_cubes(), diagnostics, folder / "out"); });
  EXPECT_NE(message.find("step is 0.26 s, above the limit of stability of central-differences at the start, "
                         "0.25 s (2 over the highest frequency of 8 rad/s)"),
            std::string::npos)
      << message;
  EXPECT_TRUE(folder.names().empty());
  const SimulationRun result = run(parse(loads + run_for(1, 1e-3, central)), make_cubes(), diagnostics);
  EXPECT_NEAR(result.q(1, result.q.cols() - 1), 3.0 / 48 * (1 - std::cos(8.0)), 1e-5);
}

TEST(RomSystem, AStudyMayNameItsModel) {
  const TemporaryFolder folder;
  RomFile rom;
  rom.model = make_cubes();
  write_rom_file(folder / "cubes.rom.h5", rom);
  const StudyFile study = parse_study(
      "rom = \"cubes.rom.h5\"\n" + force("block.face", "[9, 0, 0]") + run_for(0.1, 1e-3), folder / "s.toml");
  BodyStore store;
  Diagnostics diagnostics;
  SimulationOptions options;
  options.write_files = false;
  EXPECT_NEAR(simulate(study, "", store, diagnostics, {}, options).q(0, 100), 0.005, 1e-12);
  EXPECT_NE(inspect_simulation(study, store, diagnostics).text.find("a mechanism reduced as a whole"),
            std::string::npos);
}

TEST(RomSystem, WhatIsInAModelIsDescribed) {
  RomFile rom;
  rom.model = make_cubes();
  rom.study_path = "cubes.toml";
  rom.why = "two modes say it all";
  const std::string text = describe_rom(rom);
  for (const char* expected : {"2, an ordinary differential equation", "two modes say it all", "cubes.toml",
                               "11 states kept", "face, node 8", "slider.2"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nin\n" << text;
  const nlohmann::json j = rom_json(rom);
  EXPECT_EQ(j["order"], 2);
  EXPECT_EQ(j["parts"]["block"]["places"], (std::vector<std::string>{"face", "node 8"}));
  EXPECT_EQ(j["parts"]["slider.2"]["stiffness_rank"], 0);
  // 8 rad/s; rounding of the tangent and of the eigenvalues
  EXPECT_NEAR(j["frequencies_hz"][0].get<double>(), 0, 1e-6);
  EXPECT_NEAR(j["frequencies_hz"][1].get<double>(), 8 / (2 * M_PI), 1e-12);
  EXPECT_EQ(j["training"]["upper"], (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace lissom::rom_system_test
