#include "lissom/io/exodus.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "tests/io/read_netcdf.hpp"
#include "tests/io/sample_mesh.hpp"
#include "tests/packages.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::exodus_test {
namespace {

std::string doubles(const Eigen::Ref<const Eigen::MatrixXd>& m) {
  const Eigen::MatrixXd dense = m;
  return {reinterpret_cast<const char*>(dense.data()), dense.size() * sizeof(double)};
}

// Runs tests/io/check_exodus.py; its print-out.
std::string checked(const std::string& python, const TemporaryFolder& folder, int nodes, int& status) {
  const auto script = test::source_folder() / "tests/io/check_exodus.py";
  const std::string command =
      fmt::format("{} {} {} {} {} > {} 2>&1", python, script.string(), (folder / "a.exo").string(),
                  (folder / "expected.bin").string(), nodes, (folder / "log").string());
  status = WEXITSTATUS(std::system(command.c_str()));
  return read_file(folder / "log");
}

TEST(Exodus, IndependentReadersFindTheSameNumbersAndNodeOrder) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  const Eigen::MatrixXd shapes = 0.01 * Eigen::MatrixXd::Random(3 * mesh.node_count(), 3);
  Diagnostics diagnostics;
  write_modes_exodus(folder / "a.exo", "sample", mesh, shapes, Eigen::Vector3d(100.5, 201, 301.5),
                     diagnostics, ModeScaling::AsGiven);
  EXPECT_TRUE(diagnostics.empty());
  write_bytes(folder / "expected.bin", doubles(mesh.points) + doubles(shapes));
  int status = 0;
  // ParaView's own Python, where there is one
  std::string log = checked("pvpython", folder, mesh.node_count(), status);
  if (status == 127) log = checked("/usr/bin/python3", folder, mesh.node_count(), status);
  EXPECT_EQ(status, 0) << log << (status == 77 ? test::install_hint : "");
}

TEST(Exodus, ModesAreScaledToATenthOfTheBox) {
  const Mesh mesh = sample_mesh();
  const double diagonal = (mesh.points.rowwise().maxCoeff() - mesh.points.rowwise().minCoeff()).norm();
  EXPECT_DOUBLE_EQ(mode_scale(ModeScaling::BoundingBox, 2, mesh.points), 0.05 * diagonal);
  EXPECT_EQ(mode_scale(ModeScaling::MaxOne, 4, mesh.points), 0.25);
  EXPECT_EQ(mode_scale(ModeScaling::AsGiven, 4, mesh.points), 1);
  // a mode that moves nothing is not divided by zero
  EXPECT_EQ(mode_scale(ModeScaling::BoundingBox, 0, mesh.points), 1);
}

TEST(Exodus, TheFileIsCompleteAfterEveryTime) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  const int n = mesh.node_count();
  Diagnostics diagnostics;
  ExodusWriter file(folder / "a.exo", "growing", {{"one", &mesh, mesh.points}},
                    {{"displacement", 3}, {"stress", 6}, {"von_mises", 1}}, {}, diagnostics);
  for (int k = 0; k < 3; ++k) {
    const NetcdfFile before(read_file(folder / "a.exo"));
    ASSERT_EQ(before.records(), static_cast<std::uint32_t>(k));
    if (k > 0) {
      EXPECT_EQ(before.numbers("vals_nod_var10", k - 1), std::vector<double>(n, k - 1));
    }
    std::vector<Eigen::MatrixXd> values = {Eigen::MatrixXd::Random(3, n), Eigen::MatrixXd::Random(6, n),
                                           Eigen::MatrixXd::Constant(1, n, k)};
    file.add(0.25 * k, values);
    const NetcdfFile after(read_file(folder / "a.exo"));
    EXPECT_EQ(after.numbers("time_whole", k), std::vector<double>{0.25 * k});
    // to float32, component by component
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(after.numbers(fmt::format("vals_nod_var{}", c + 1), k)[i], float(values[0](c, i)));
    EXPECT_EQ(after.numbers("vals_nod_var9", k)[4], float(values[1](5, 4)));
  }
  // time and ten components of all nodes
  EXPECT_EQ(file.record_bytes(), 8 + 40 * static_cast<size_t>(n));
  EXPECT_EQ(NetcdfFile(read_file(folder / "a.exo")).texts("name_nod_var")[8], "stress_zx");
}

TEST(Exodus, NumbersOfSeveralBodiesAreKeptApart) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  Diagnostics diagnostics;
  const std::vector<ExodusPart> parts = {{"one", &mesh, mesh.points}, {"two", &mesh, mesh.points}};
  ExodusWriter(folder / "a.exo", "", parts, {}, {}, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  const NetcdfFile file(read_file(folder / "a.exo"));
  const std::vector<double> numbers = file.numbers("node_num_map");
  const auto n = static_cast<size_t>(mesh.node_count());
  ASSERT_EQ(numbers.size(), 2 * n);
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(numbers[i], static_cast<double>(mesh.node_ids[i]));
    // node 9000 is the largest
    EXPECT_EQ(numbers[n + i], static_cast<double>(10000 + mesh.node_ids[i]));
  }
  EXPECT_EQ(file.texts("eb_names")[6], "two tet4");
  EXPECT_EQ(file.texts("ns_names")[1], "two left/right \"<&>\"");
  // the second tet4's nodes begin after those of the first part
  EXPECT_EQ(file.numbers("connect7")[0], static_cast<double>(n + 1));
  EXPECT_EQ(file.numbers("attrib7")[0], 1);

  Mesh large = mesh;
  large.node_ids.back() = 3'000'000'000;
  ExodusWriter(folder / "b.exo", "", {{"one", &large, large.points}}, {}, {}, diagnostics);
  ASSERT_NE(diagnostics.find("paraview.numbers.node"), nullptr);
  EXPECT_NE(diagnostics.find("paraview.numbers.node")->message.find("to 3000000000 of 1 bodies do not fit"),
            std::string::npos);
  EXPECT_EQ(NetcdfFile(read_file(folder / "b.exo")).numbers("node_num_map").back(), static_cast<double>(n));
}

TEST(Exodus, NodesWithoutElementsArePoints) {
  const TemporaryFolder folder;
  Mesh mesh;
  mesh.points = Eigen::Matrix3Xd::Random(3, 5);
  mesh.node_ids = {1, 2, 3, 4, 9};
  Diagnostics diagnostics;
  ExodusWriter(folder / "a.exo", "", {{"cloud", &mesh, mesh.points}}, {}, {}, diagnostics);
  const NetcdfFile file(read_file(folder / "a.exo"));
  EXPECT_EQ(file.numbers("connect1"), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(file.numbers("coordy")[3], mesh.points(1, 3));
}

TEST(Exodus, AFileThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  Diagnostics diagnostics;
  const std::string path = (folder / "none/a.exo").string();
  EXPECT_EQ(message_of<Error>([&] {
              ExodusWriter(path, "", {{"one", &mesh, mesh.points}}, {}, {}, diagnostics);
            }),
            path + ": cannot be written: No such file or directory");
  // always full
  EXPECT_EQ(message_of<Error>([&] {
              ExodusWriter("/dev/full", "", {{"one", &mesh, mesh.points}}, {}, {}, diagnostics);
            }),
            "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace lissom::exodus_test
