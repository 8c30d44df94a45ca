// Views of runs and modes, against the bodies that they show.
#include "lissom/study/view.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <fstream>

#include "lissom/fe/stress_recovery.hpp"
#include "lissom/io/study_file.hpp"
#include "lissom/study/stress.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/study/slap_cubes.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::view_test {
namespace {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Points of a part at a frame, as a browser places them.
Matrix3Xd shown_at(const View& view, size_t p, Index k) {
  const ViewMotion::Part& motion = view.motion->parts[p];
  MatrixXd X = view.parts[p].points.cast<double>();
  if (motion.displacement.rank() > 0)
    X += (motion.displacement.basis.cast<double>() * motion.displacement.amplitudes.col(k).cast<double>())
             .reshaped(3, X.cols());
  const Eigen::Matrix3d R = Eigen::Quaterniond(motion.rotation.col(k)).toRotationMatrix();
  return (R * X).colwise() + Vector3d(motion.position.col(k));
}

// A soft beam of 8 x 2 x 2 bricks, 1 m long, as an .inp file.
void write_beam(const std::filesystem::path& path) {
  test::BoxOptions options;
  options.cells = {8, 2, 2};
  options.size = {1, 0.1, 0.1};
  const Mesh mesh = test::box_mesh(ElementType::Hex8, options);
  std::ofstream file(path);
  file << "*NODE\n";
  for (int i = 0; i < mesh.node_count(); ++i)
    file << fmt::format("{}, {:.13g}, {:.13g}, {:.13g}\n", mesh.node_ids[i], mesh.points(0, i),
                        mesh.points(1, i), mesh.points(2, i));
  file << "*ELEMENT, TYPE=C3D8I, ELSET=ALL\n";
  for (int e = 0; e < mesh.element_count(); ++e) {
    file << mesh.element_ids[e];
    for (const int node : mesh.element_nodes(e)) file << ", " << mesh.node_ids[node];
    file << "\n";
  }
  for (const auto& [set, name] : {std::pair("x0", "LEFT"), std::pair("x1", "RIGHT")}) {
    file << "*NSET, NSET=" << name << "\n";
    for (const int node : mesh.node_sets.at(set)) file << mesh.node_ids[node] << ",\n";
  }
  file << "*MATERIAL, NAME=M\n*ELASTIC\n2e7, 0.3\n*DENSITY\n1000\n*SOLID SECTION, ELSET=ALL, MATERIAL=M\n";
}

std::string beam_study_text(const std::string& formulation) {
  return "title = \"beam\"\ngravity = [0, 0, -9.81]\n[bodies.beam]\nmesh = \"beam.inp\"\nmass = \"lumped\"\n"
         "formulation = \"" +
         formulation +
         "\"\n[[bodies.beam.spiders]]\nname = \"A\"\nset = \"LEFT\"\n[[bodies.beam.spiders]]\nname = \"B\"\n"
         "set = \"RIGHT\"\n[bodies.beam.reduce]\ninterfaces = [\"A\", \"B\"]\nmodes = 6\ntolerance = 0.01\n"
         "[[joints]]\nname = \"hinge\"\nkind = \"revolute\"\nbetween = [\"ground\", \"beam.A\"]\naxis = [0, "
         "1, "
         "0]\n[[sensors]]\nname = \"tip\"\nkind = \"position\"\nof = \"beam.B\"\n[simulate]\nend = 0.3\n"
         "step = 1e-3\nrho_inf = 0.9\n";
}

struct ViewedRun {
  StudyFile study;
  SimulationRun run;
  BodyMeshes meshes;
  View view;

  ViewedRun(const TemporaryFolder& folder, const std::string& text, const ViewOptions& options = {}) {
    write_bytes(folder / "s.toml", text);
    study = read_study_file(folder / "s.toml");
    BodyStore store(false, true, stress_needs(study));
    Diagnostics diagnostics;
    SimulationOptions without;
    without.write_files = false;
    run = simulate(study, {}, store, diagnostics, {}, without);
    meshes = meshes_to_show(study, store, diagnostics);
    view = motion_view(run, study, meshes, options);
  }
  const Body& body() const { return *run.built->system->bodies().front(); }
};

class ViewOfFormulation : public ::testing::TestWithParam<std::string> {};
// without the rigid one, which has no stress
class ViewOfElasticFormulation : public ViewOfFormulation {};

TEST_P(ViewOfFormulation, PointsAreWhereTheNodesAre) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  const ViewedRun of(folder, beam_study_text(GetParam()));
  const View& view = of.view;
  ASSERT_EQ(view.parts.size(), 1u);
  const ViewPart& part = view.parts[0];
  EXPECT_EQ(part.name, "beam");
  EXPECT_EQ(part.points.cols(), 9 * 9 - 7);  // 9 sections of 9 nodes, of which 7 have an inner one
  ASSERT_EQ(view.motion->time.size(), of.run.q.cols());
  EXPECT_EQ(view.motion->time, of.run.t);
  const ViewMotion::Part& motion = view.motion->parts[0];
  if (GetParam() == "rigid") {
    EXPECT_EQ(motion.displacement.rank(), 0);
  } else {
    // a beam that bends by its weight has a few shapes, and they are visible
    EXPECT_GT(motion.displacement.largest, 1e-3);
    EXPECT_LT(motion.displacement.rank(), 20);  // of 301 frames
  }
  EXPECT_LE(motion.displacement.error, std::max(1.0001e-4 * motion.displacement.largest, 1.02e-11));
  const auto& ids = of.body().node_ids();
  for (const Index k : {Index(0), Index(17), Index(150), of.run.q.cols() - 1}) {
    const Matrix3Xd nodes = of.body().node_positions(of.run.q.col(k)), shown = shown_at(view, 0, k);
    for (Index i = 0; i < shown.cols(); ++i) {
      const auto at = std::find(ids.begin(), ids.end(), part.node_ids[static_cast<size_t>(i)]) - ids.begin();
      // points of a metre in single precision
      ASSERT_LE((shown.col(i) - nodes.col(at)).norm(), motion.displacement.error + 1e-7) << k;
    }
    EXPECT_NEAR(motion.rotation.col(k).norm(), 1, 1e-12);
  }
  for (Index k = 1; k < motion.rotation.cols(); ++k)
    ASSERT_GT(motion.rotation.col(k).dot(motion.rotation.col(k - 1)), 0.9);
  // the sensor is at the middle of the right end
  ASSERT_EQ(view.sensors.size(), 1u);
  EXPECT_EQ(view.sensors[0].name, "tip");
  EXPECT_EQ(view.sensors[0].columns, (std::vector<std::string>{"tip.x", "tip.y", "tip.z"}));
  EXPECT_LE((part.points.col(view.sensors[0].point) - Eigen::Vector3f(1, 0.05F, 0.05F)).norm(), 1e-6F);
}

TEST_P(ViewOfElasticFormulation, StressIsThatOfTheStudy) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  const ViewedRun of(folder, beam_study_text(GetParam()) + "[simulate.stress]\nbodies = true\n");
  const ViewMotion::Part& motion = of.view.motion->parts[0];
  ASSERT_TRUE(motion.has_stress);
  const StressField field(*of.run.built);
  MatrixXd stress(6 * static_cast<Index>(field.node_ids(0).size()), of.run.q.cols());
  field.evaluate(0, of.run.q, stress);
  const auto ids = field.node_ids(0);
  const MatrixXd shown = motion.stress.basis.cast<double>() * motion.stress.amplitudes.cast<double>();
  double largest = 0, largest_shown = 0;
  for (size_t i = 0; i < of.view.parts[0].node_ids.size(); ++i) {
    const auto at = std::find(ids.begin(), ids.end(), of.view.parts[0].node_ids[i]) - ids.begin();
    for (Index k = 0; k < stress.cols(); ++k) {
      const double expected = von_mises(stress.col(k).segment<6>(6 * at));
      const double found = von_mises(shown.col(k).segment<6>(6 * static_cast<Index>(i)));
      // round-off of displacements of a metre's turn, times E
      ASSERT_NEAR(found, expected, motion.stress.error * (1 + 1e-9) + 1e-3) << k;
      largest = std::max(largest, expected);
      largest_shown = std::max(largest_shown, found);
    }
  }
  EXPECT_GT(largest, 1e4);
  EXPECT_LE(motion.stress.error, 1e-3 * largest);
  EXPECT_NEAR(motion.stress.largest, largest_shown, 1e-9 * largest);
}

TEST_P(ViewOfFormulation, StressIsThereWithoutTheStudyAskingForIt) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  const ViewedRun of(folder, beam_study_text(GetParam()));
  EXPECT_EQ(of.view.motion->parts[0].has_stress, GetParam() != "rigid");
  EXPECT_TRUE(of.run.built->stress.empty());
  EXPECT_EQ(of.view.notes.empty(), GetParam() != "rigid");
}

INSTANTIATE_TEST_SUITE_P(View, ViewOfFormulation, ::testing::Values("ffrf", "fncf", "gcms", "rigid"),
                         [](const auto& formulation) { return formulation.param; });
INSTANTIATE_TEST_SUITE_P(View, ViewOfElasticFormulation, ::testing::Values("ffrf", "fncf", "gcms"),
                         [](const auto& formulation) { return formulation.param; });

TEST(View, FramesAndPointsKeepToTheirLimits) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  ViewOptions options;
  options.max_frames = 20;
  options.max_points = 30;
  const ViewedRun of(folder, beam_study_text("ffrf"), options);
  // 300 steps in at most 19: every 16th sample, 288 the last of them, then the end
  ASSERT_EQ(of.view.motion->time.size(), 20);
  EXPECT_EQ(of.view.motion->time[1], of.run.t[16]);
  EXPECT_EQ(of.view.motion->time[19], of.run.t[of.run.t.size() - 1]);
  EXPECT_LE(of.view.points(), 30);
  ASSERT_EQ(of.view.notes.size(), 2u);
  EXPECT_NE(of.view.notes[0].find("the shape is simplified"), std::string::npos);
  EXPECT_EQ(of.view.notes[1], "20 of 301 samples are shown.");
}

TEST(View, PartsOfAReducedMechanismAreShownWhereTheirMeshIsKnown) {
  // the block stretches along its own y, turned in space, and both slide along x
  test::Cubes cubes;
  cubes.turned = Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const StudyFile study = parse_study(
      "gravity = [0.5, 0, 0]\n[[loads]]\nname = \"push\"\nkind = \"force\"\non = \"block.node 8\"\nforce = "
      "[1, 6, "
      "0]\n[[sensors]]\nname = \"far\"\nkind = \"position\"\nof = \"block.node 8\"\n[simulate]\nend = "
      "0.5\nstep = "
      "1e-3\n",
      "s.toml", "cubes.rom.h5");
  Diagnostics diagnostics;
  SimulationOptions without;
  without.write_files = false;
  const SimulationRun run =
      simulate(study, {}, build_rom_system(study, make_cubes(cubes), diagnostics), diagnostics, {}, without);
  auto mesh = std::make_shared<Mesh>();
  mesh->points.resize(3, 8);
  for (int i = 0; i < 8; ++i) {
    mesh->points.col(i) << (i & 1) - 0.5, ((i >> 1) & 1) - 0.5, ((i >> 2) & 1) - 0.5;
    mesh->node_ids.push_back(i + 1);
  }
  mesh->materials.push_back(test::steel());
  mesh->types = {ElementType::Hex8};
  mesh->element_ids = {1};
  mesh->element_material = {0};
  mesh->connectivity = {0, 1, 3, 2, 4, 5, 7, 6};
  mesh->offsets = {0, 8};
  const View view = motion_view(run, study, {{"block", mesh}});
  ASSERT_EQ(view.parts.size(), 1u);
  EXPECT_EQ(view.parts[0].name, "block");
  EXPECT_EQ(view.parts[0].triangles.size(), 36u);
  ASSERT_FALSE(view.notes.empty());
  EXPECT_EQ(view.notes[0], "'slider.2' is not shown: it has no mesh.");
  const Body& body = *run.built->system->bodies()[0];
  const ViewMotion::Part& motion = view.motion->parts[0];
  EXPECT_EQ(motion.displacement.rank(), 1);
  for (const Index k : {Index(0), Index(100), Index(500)})
    EXPECT_LE(
        (shown_at(view, 0, k) - body.node_positions(run.q.col(k)).leftCols(8)).colwise().norm().maxCoeff(),
        motion.displacement.error + 1e-7);
  // uniaxial strain along y: Hooke's law
  ASSERT_TRUE(motion.has_stress);
  const double strain = run.q.row(1).cwiseAbs().maxCoeff();
  EXPECT_NEAR(motion.stress.largest, strain * 210e9 / 1.3, 2e-3 * strain * 210e9);
  ASSERT_EQ(view.sensors.size(), 1u);
  EXPECT_EQ(view.parts[0].node_ids[view.sensors[0].point], 8);
}

TEST(View, BeamsAreTubesAroundTheirNodes) {
  const TemporaryFolder folder;
  const auto beam = [](const std::string& name, const std::string& from, const std::string& to,
                       const std::string& section, int dimension) {
    return fmt::format(
        "[bodies.{}]\nformulation = \"ancf\"\nfrom = {}\nto = {}\nelements = 6\nsection = {{ {} }}\nyoung = "
        "1e6\nmass = 0.3\ndimension = {}\n",
        name, from, to, section, dimension);
  };
  for (const int dimension : {2, 3}) {
    const std::string z = dimension == 2 ? "" : ", 0";
    const ViewedRun of(folder,
                       "gravity = [0, -9.81, 0]\n" +
                           beam("upper", "[0, 0" + z + "]", "[0.5, 0" + z + "]",
                                dimension == 2 ? "rectangle = [0.02, 0.04]" : "circle = 0.03", dimension) +
                           "[[joints]]\nname = \"O\"\nkind = \"spherical\"\nbetween = [\"ground\", "
                           "\"upper.start\"]\n[simulate]\nend "
                           "= 0.3\nstep = 1e-3\nsample = 1e-2\n");
    ASSERT_EQ(of.view.parts.size(), 1u);
    const ViewPart& part = of.view.parts[0];
    const Index s = dimension == 2 ? 4 : 8;
    ASSERT_EQ(part.points.cols(), 7 * s);
    const ViewMotion::Part& motion = of.view.motion->parts[0];
    EXPECT_FALSE(motion.has_stress);
    EXPECT_GT(motion.displacement.largest, 0.01);
    // half the diagonal of the rectangle; the radius
    const double reach = dimension == 2 ? std::hypot(0.01, 0.02) : 0.015;
    for (Index k = 0; k < of.run.q.cols(); k += 5) {
      const Matrix3Xd nodes = of.body().node_positions(of.run.q.col(k)), shown = shown_at(of.view, 0, k);
      for (Index i = 0; i < 7; ++i) {
        const Matrix3Xd ring = shown.middleCols(i * s, s);
        EXPECT_LE((Vector3d(ring.rowwise().mean()) - nodes.col(i)).norm(), motion.displacement.error + 1e-7);
        for (Index c = 0; c < s; ++c)
          EXPECT_NEAR((ring.col(c) - nodes.col(i)).norm(), reach, motion.displacement.error + 1e-7);
      }
    }
    for (const std::int64_t id : part.node_ids) EXPECT_EQ(id, -1);
  }
}

TEST(View, RigidBodiesOfNumbersAreRodsToTheirPoints) {
  const TemporaryFolder folder;
  const ViewedRun of(
      folder,
      "gravity = [0, 0, -9.81]\n[bodies.arm]\nrigid = { mass = 2, center = [0.25, 0, 0], inertia = "
      "[1e-4, 0.05, 0.05] }\npoints = { hub = [0, 0, 0], tip = [0.5, 0, 0] }\n[[joints]]\nname = "
      "\"hinge\"\nkind = \"revolute\"\nbetween = [\"ground\", \"arm.hub\"]\naxis = [0, 1, 0]\n"
      "[[sensors]]\nname = \"tip\"\nkind = \"position\"\nof = \"arm.tip\"\n[simulate]\nend = "
      "0.5\nstep = 1e-3\n");
  ASSERT_EQ(of.view.parts.size(), 1u);
  // a block at the centre and two rods
  EXPECT_EQ(of.view.parts[0].points.cols(), 24);
  EXPECT_EQ(of.view.motion->parts[0].displacement.rank(), 0);
  ASSERT_EQ(of.view.sensors.size(), 1u);
  const auto [lower, upper] = of.view.box();
  EXPECT_NEAR(lower.x(), 0, 1e-6);
  EXPECT_NEAR(upper.x(), 0.5, 1e-6);
  // the end of the rod goes where the sensor goes: half its thickness of 1 cm away from it
  for (const Index k : {Index(0), Index(200), Index(500)}) {
    const Vector3d tip = of.run.sensors.row(k).transpose().head<3>();
    EXPECT_NEAR((shown_at(of.view, 0, k).col(of.view.sensors[0].point) - tip).norm(), 0.005 * std::sqrt(2),
                1e-6);
  }
}

TEST(View, ModesOfABodyHaveALargestDisplacementOfOne) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  BodySpec spec;
  spec.name = "beam";
  spec.mesh = folder / "beam.inp";
  spec.modes = VibrationOptions{};
  spec.modes->count = 8;
  Diagnostics diagnostics;
  FeBody body = load_body(spec, diagnostics);
  build_model(body, diagnostics);
  solve_modes(body, diagnostics);
  EXPECT_EQ(write_body_view(body, folder.path(), diagnostics), "beam_modes.view.h5");
  EXPECT_TRUE(diagnostics.empty());
  const View view = read_view_file(folder / "beam_modes.view.h5", diagnostics);
  ASSERT_TRUE(view.shapes.has_value());
  ASSERT_EQ(view.shapes->modes.size(), 8u);
  EXPECT_EQ(view.shapes->modes[6].label, "mode 7");
  EXPECT_EQ(view.shapes->modes[6].frequency_hz, body.vibration->modes.frequencies_hz[6]);
  const Eigen::MatrixXf& shapes = view.shapes->parts[0].real;
  for (Index k = 0; k < 8; ++k) {
    EXPECT_NEAR(shapes.col(k).reshaped(3, shapes.rows() / 3).colwise().norm().maxCoeff(), 1, 1e-6);
    // a multiple of the solver's
    const VectorXd u = node_displacements(body.model, body.vibration->modes.shapes.col(k));
    VectorXd own(shapes.rows());
    for (size_t i = 0; i < view.parts[0].node_ids.size(); ++i)
      own.segment<3>(3 * static_cast<Index>(i)) = u.segment<3>(3 * (view.parts[0].node_ids[i] - 1));
    const double cosine = own.normalized().dot(shapes.col(k).cast<double>().normalized());
    EXPECT_NEAR(cosine, 1, 1e-6);
  }
}

TEST(View, WhatGoesWrongIsAWarningAndTheRunIsKept) {
  const TemporaryFolder folder;
  write_beam(folder / "beam.inp");
  ViewedRun of(folder, beam_study_text("ffrf"));
  Diagnostics diagnostics;
  EXPECT_EQ(write_motion_view(
                of.run, of.study, []() -> BodyMeshes { fail_input("beam.inp: is gone"); }, folder.path(),
                diagnostics),
            "");
  ASSERT_NE(diagnostics.find("view.motion.view.h5"), nullptr);
  EXPECT_FALSE(of.run.summary.contains("view"));
  Diagnostics none;
  EXPECT_EQ(write_motion_view(
                of.run, of.study, [&] { return of.meshes; }, folder.path(), none),
            "motion.view.h5");
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(of.run.summary["view"]["frames"], 301);
}

}  // namespace
}  // namespace lissom::view_test
