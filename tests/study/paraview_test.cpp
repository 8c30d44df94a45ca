#include "lissom/study/paraview.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <numbers>

#include "lissom/core/text.hpp"
#include "lissom/mbs/floating_frame.hpp"
#include "tests/io/read_netcdf.hpp"
#include "tests/io/sample_mesh.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::paraview_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Two rigid bodies of the sample mesh, one beside the other.
struct TwoRigidBodies {
  std::shared_ptr<Mesh> mesh = std::make_shared<Mesh>(sample_mesh());
  std::shared_ptr<StudySystem> built = std::make_shared<StudySystem>();
  BodyMeshes meshes;
  VectorXd q, v;
  TwoRigidBodies() {
    built->system = std::make_unique<System>();
    for (const char* name : {"one", "two"}) {
      RigidBodySpec spec;
      spec.name = name;
      spec.mass = 2;
      spec.centre = Vector3d(0.3, 0.2, -0.1);
      spec.inertia = Vector3d(1, 1.2, 1.5).asDiagonal();
      spec.nodes = mesh->points;
      spec.node_ids = mesh->node_ids;
      Placement placement;
      placement.position = Vector3d(name[0] == 'o' ? 0 : 5, 1, 2);
      placement.rotation = Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized()).toRotationMatrix();
      placement.velocity = Vector3d(1, -1, 0.5);
      placement.angular_velocity = Vector3d(3, 1, -2);
      built->system->add_body(make_rigid_body(spec), placement);
      meshes[name] = mesh;
    }
    built->system->initial(q, v);
  }
};

TEST(Paraview, DisplacementsAndVelocitiesOfARunAreThoseOfTheNodes) {
  TwoRigidBodies two;
  const System& system = *two.built->system;
  SimulationRun run;
  run.built = two.built;
  run.t = VectorXd::LinSpaced(5, 0, 0.4);
  run.q.resize(two.q.size(), 5);
  run.v.resize(two.q.size(), 5);
  for (int k = 0; k < 5; ++k) {
    run.q.col(k) = two.q + run.t[k] * two.v;
    run.v.col(k) = two.v;
  }
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  ParaviewSpec spec;
  spec.every = 2;
  write_motion(run, spec, two.meshes, folder.path(), diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(run.summary["paraview"]["frames"], 3);
  const NetcdfFile file(read_file(folder / "motion.exo"));
  ASSERT_EQ(file.records(), 3u);
  EXPECT_EQ(file.numbers("time_whole", 2)[0], 0.4);
  const auto n = two.mesh->node_count();
  for (int b = 0; b < 2; ++b) {
    const Body& body = *system.bodies()[b];
    const auto at = [&](const MatrixXd& m, int k) {
      return VectorXd(m.col(k).segment(system.offset(b), body.coordinates()));
    };
    const Eigen::Matrix3Xd start = body.node_positions(at(run.q, 0));
    for (int k = 0; k < 3; ++k) {
      const Eigen::Matrix3Xd u = body.node_positions(at(run.q, 2 * k)) - start,
                             u_v = body.node_velocities(at(run.q, 2 * k), at(run.v, 2 * k));
      for (int c = 0; c < 3; ++c) {
        const auto found = file.numbers(fmt::format("vals_nod_var{}", c + 1), k);
        const auto rate = file.numbers(fmt::format("vals_nod_var{}", c + 4), k);
        // float32
        for (int i = 0; i < n; ++i) {
          ASSERT_NEAR(found[b * n + i], u(c, i), 1e-7 * (1 + std::abs(u(c, i))));
          ASSERT_NEAR(rate[b * n + i], u_v(c, i), 1e-7 * (1 + std::abs(u_v(c, i))));
        }
      }
    }
    EXPECT_EQ(file.numbers("coordx")[b * n + 4], start(0, 4));
  }
}

TEST(Paraview, BodiesAreChosenAndThoseWithoutMeshAreLeftOutWithAWarning) {
  TwoRigidBodies two;
  const System& system = *two.built->system;
  Diagnostics diagnostics;
  EXPECT_EQ(paraview_scene(system, two.meshes, {"two"}, {}, diagnostics).parts().size(), 1u);
  EXPECT_TRUE(diagnostics.empty());
  const std::string message =
      message_of<InputError>([&] { paraview_scene(system, two.meshes, {"tow"}, {}, diagnostics); });
  EXPECT_NE(message.find("there is no body 'tow' (did you mean 'two'?); there are: one, two"),
            std::string::npos)
      << message;
  two.meshes.erase("one");
  EXPECT_EQ(paraview_scene(system, two.meshes, {}, {}, diagnostics).parts().size(), 1u);
  ASSERT_NE(diagnostics.find("paraview.one"), nullptr);
  // a mesh of other nodes
  auto other = std::make_shared<Mesh>(*two.mesh);
  other->node_ids[0] = 77;
  two.meshes["two"] = other;
  EXPECT_NE(message_of<InputError>([&] {
              paraview_scene(system, two.meshes, {}, {}, diagnostics);
            }).find("no body has a mesh to be shown"),
            std::string::npos);
}

TEST(Paraview, SystemModesAreTheSlopesOfTheNodesOverAPeriod) {
  TwoRigidBodies two;
  const System& system = *two.built->system;
  const Eigen::MatrixXcd shapes = Eigen::MatrixXcd::Random(two.q.size(), 2);
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  SystemModesOptions options;
  options.scaling = ModeScaling::AsGiven;
  options.phases = 4;
  write_system_modes(system, two.q, shapes, Eigen::Vector2d(3, 8), Eigen::Vector2d(0.01, 0.02), two.meshes,
                     folder / "m.exo", diagnostics, options);
  const NetcdfFile file(read_file(folder / "m.exo"));
  ASSERT_EQ(file.records(), 8u);
  EXPECT_EQ(file.numbers("time_whole", 5)[0], 2.25);
  EXPECT_EQ(file.numbers("vals_glo_var", 5), (std::vector<double>{8, 0.02, 1}));
  const int n = two.mesh->node_count();
  const auto positions = [&](const VectorXd& q) {
    MatrixXd x(3, 2 * n);
    for (int b = 0; b < 2; ++b)
      x.middleCols(b * n, n) =
          system.bodies()[b]->node_positions(q.segment(system.offset(b), system.bodies()[b]->coordinates()));
    return x;
  };
  for (int record = 0; record < 8; ++record) {
    const std::complex<double> turn = std::polar(1.0, 2 * std::numbers::pi * (record % 4) / 4);
    const Eigen::VectorXcd shape = shapes.col(record / 4) * turn;
    // central differences of steps 1e-5: 1e-10 of truncation, 1e-10 of rounding
    const double h = 1e-5;
    const MatrixXd real =
        (positions(two.q + h * shape.real()) - positions(two.q - h * shape.real())) / (2 * h);
    const MatrixXd imaginary =
        (positions(two.q + h * shape.imag()) - positions(two.q - h * shape.imag())) / (2 * h);
    for (int c = 0; c < 3; ++c) {
      const auto u = file.numbers(fmt::format("vals_nod_var{}", c + 1), record);
      const auto w = file.numbers(fmt::format("vals_nod_var{}", c + 4), record);
      for (int i = 0; i < 2 * n; ++i) {
        // float32 of values up to 40
        ASSERT_NEAR(u[i], real(c, i), 1e-5);
        ASSERT_NEAR(w[i], imaginary(c, i), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace lissom::paraview_test
