#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "tests/fe/ccx.hpp"
#include "tests/fe/matrix_test_tools.hpp"
#include "tests/packages.hpp"

namespace lissom::read_calculix_matrices_test {
namespace {

TEST(CalculixMatrices, TheUpperTriangleIsMirroredAndTheLabelsAreText) {
  // "12.1" and "12.10" would be one floating-point number; 12.10 is no direction and must not pass as 12.1
  const auto labels = read_calculix_dofs("3.1\n3.2\n12.1\n", "t.dof");
  EXPECT_EQ(labels[2], (ImportedMatrix::RowLabel{12, 0}));
  const auto K = read_calculix_matrix("1 1  4.0e+10\n1 2  1.5e+10\n2 2  5.0e+10\n1 3 0.0e+00\n3 3 1.0e+10\n",
                                      "t.sti", labels);
  EXPECT_EQ(K.triangle, ImportedMatrix::Triangle::Upper);
  Eigen::Matrix3d expected;
  expected << 4e10, 1.5e10, 0, 1.5e10, 5e10, 0, 0, 0, 1e10;
  EXPECT_EQ(dense(K), expected);
}

TEST(CalculixMatrices, BadFilesAreRefusedWithTheirPlaceAndWhatWasExpected) {
  EXPECT_EQ(input_error([] { read_calculix_dofs("3.1\n12.10\n", "t.dof"); }),
            "t.dof:2: node 12 has degree of freedom 10, expected 1 to 6; only displacements and rotations "
            "can be used, so "
            "take temperatures, pressures, warping and scalar (modal) points out of the export");
  EXPECT_EQ(input_error([] { read_calculix_dofs("3\n", "t.dof"); }),
            "t.dof:1: expected \"node.direction\", found '3'");
  EXPECT_EQ(input_error([] { read_calculix_dofs("", "t.dof"); }),
            "t.dof: the file has no line \"node.direction\"");
  const std::vector<ImportedMatrix::RowLabel> labels = {{1, 0}, {1, 1}};
  const auto read = [&](const char* text) {
    return input_error([&] { read_calculix_matrix(text, "t.sti", labels); });
  };
  EXPECT_EQ(read("1 3 1.0\n"), "t.sti:1: column 3 is outside the matrix, expected 1 to 2");
  EXPECT_EQ(read("2 1 1.0\n"),
            "t.sti:1: entry (2, 1) is below the diagonal, but CalculiX stores the upper triangle");
  EXPECT_EQ(read("1 1\n"), "t.sti:1: expected \"row column value\" of a CalculiX matrix");
  EXPECT_EQ(read("\n"), "t.sti: the file has no entry");
}

TEST(CalculixMatrices, AMissingDofFileIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.write("job.sti", "1 1 1.0\n");
  Diagnostics diagnostics;
  EXPECT_EQ(input_error([&] { read_matrices(path, diagnostics); }),
            path.string() + ": a CalculiX matrix needs job.dof beside it, which is missing");
}

// ---- against ccx itself

// A steel bar of n by 1 by 1 elements C3D20, 0.4 m long and 0.06 m by 0.04 m thick, made of the nodes of a
// grid of half elements that lie on corners and edges.
class Bar {
 public:
  explicit Bar(int n) : n_(n) {
    for (int k = 0; k <= 2; ++k)
      for (int j = 0; j <= 2; ++j)
        for (int i = 0; i <= 2 * n; ++i)
          if (i % 2 + j % 2 + k % 2 <= 1)
            nodes_[id(i, j, k)] = {length * i / (2.0 * n), width * j / 2.0, height * k / 2.0};
  }

  static constexpr double length = 0.4, width = 0.06, height = 0.04, density = 7850;
  const std::map<std::int64_t, Eigen::Vector3d>& nodes() const { return nodes_; }

  // The deck, held at x = 0 or free, with the lines of its step.
  std::string deck(bool held, const std::string& step) const {
    std::string text = "*NODE,NSET=NALL\n";
    for (const auto& [number, x] : nodes_)
      text += fmt::format("{},{:.17g},{:.17g},{:.17g}\n", number, x(0), x(1), x(2));
    text += "*ELEMENT,TYPE=C3D20,ELSET=EALL\n";
    for (int e = 0; e < n_; ++e) {
      // corners, bottom edges, top edges, upright edges
      constexpr int at[20][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
                                 {0, 2, 2}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 1, 2},
                                 {1, 2, 2}, {0, 1, 2}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}};
      text += std::to_string(e + 1);
      for (int a = 0; a < 20; ++a)
        text += fmt::format(",{}{}", a == 10 ? "\n" : "", id(2 * e + at[a][0], at[a][1], at[a][2]));
      text += "\n";
    }
    text +=
        "*MATERIAL,NAME=STEEL\n*ELASTIC\n210e9,.3\n*DENSITY\n7850\n*SOLID "
        "SECTION,ELSET=EALL,MATERIAL=STEEL\n";
    if (held) {
      text += "*BOUNDARY\n";
      for (const auto& [number, x] : nodes_)
        if (x(0) == 0) text += fmt::format("{},1,3\n", number);
    }
    return text + "*STEP\n" + step + "*END STEP\n";
  }

 private:
  // ids with gaps and with a trailing zero now and then, as users have them
  std::int64_t id(int i, int j, int k) const { return 1 + i + 10 * (2 * n_ + 1) * (j + 3 * k); }
  int n_;
  std::map<std::int64_t, Eigen::Vector3d> nodes_;
};

void run_ccx(const TemporaryFolder& folder, const std::string& job) {
  const std::string command =
      fmt::format("cd '{}' && OMP_NUM_THREADS=1 ccx {} > {}.log 2>&1", folder.path().string(), job, job);
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() / (job + ".log"));
}

// Circular frequencies of the table "mode, eigenvalue, omega, f, ..." in JOB.dat.
std::vector<double> ccx_frequencies(const std::filesystem::path& dat) {
  const std::string text = read_file(dat);
  LineReader lines(text, dat.string());
  std::vector<double> omega;
  std::string_view line;
  while (lines.next(line)) {
    const auto fields = split_blanks(line);
    if (fields.size() == 5 && parse_long(fields[0]) == static_cast<long>(omega.size()) + 1)
      omega.push_back(*parse_double(fields[2]));
    else if (!omega.empty())
      break;
  }
  return omega;
}

TEST(CalculixMatrices, FrequenciesOfTheImportedCantileverAreThoseThatCcxComputesItself) {
  ASSERT_TRUE(test::has_ccx()) << "ccx" << test::install_hint;
  const TemporaryFolder folder;
  const Bar bar(4);
  folder.write("modes.inp", bar.deck(true, "*FREQUENCY\n10\n"));
  folder.write("matrices.inp", bar.deck(true, "*FREQUENCY,SOLVER=MATRIXSTORAGE\n"));
  run_ccx(folder, "modes");
  run_ccx(folder, "matrices");

  Diagnostics diagnostics;
  MatrixImport request;
  request.stiffness = folder.path() / "matrices.sti";
  request.coordinates = bar.nodes();
  const FeModel model = import_fe_model(request, diagnostics);
  // 56 nodes, 8 of them held
  ASSERT_EQ(model.node_ids.size(), 56u);
  ASSERT_EQ(model.dof_count(), 3 * (56 - 8));
  EXPECT_NE(diagnostics.find("matrices.rigid-body"), nullptr) << "the body is held and must be said to be";
  EXPECT_NE(diagnostics.find("matrices.nodes-without-rows"), nullptr);
  EXPECT_EQ(model.recovery.rows(), 3 * 56);
  EXPECT_EQ(model.recovery.nonZeros(), model.dof_count());

  const std::vector<double> expected = ccx_frequencies(folder.path() / "modes.dat");
  ASSERT_EQ(expected.size(), 10u);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense(model.K), dense(model.M),
                                                                         Eigen::EigenvaluesOnly);
  // ccx prints seven digits of omega, hence half a unit in the seventh: 5e-7 at worst
  double worst = 0;
  for (int k = 0; k < 10; ++k) {
    const double omega = std::sqrt(solver.eigenvalues()(k));
    EXPECT_NEAR(omega / expected[static_cast<size_t>(k)], 1, 1e-6) << "mode " << k + 1 << ", omega " << omega;
    worst = std::max(worst, std::abs(omega / expected[static_cast<size_t>(k)] - 1));
  }
  RecordProperty("worst_relative_difference", fmt::format("{:.1e}", worst));
}

TEST(CalculixMatrices, AFreeBodyHasNoRigidBodyResidualAndItsMassCentreAndInertia) {
  ASSERT_TRUE(test::has_ccx()) << "ccx" << test::install_hint;
  const TemporaryFolder folder;
  const Bar bar(3);
  folder.write("free.inp", bar.deck(false, "*FREQUENCY,SOLVER=MATRIXSTORAGE\n"));
  run_ccx(folder, "free");

  Diagnostics diagnostics;
  MatrixImport request;
  request.stiffness = folder.path() / "free.sti";
  request.coordinates = bar.nodes();
  const FeModel model = import_fe_model(request, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  EXPECT_EQ(model.recovery.size(), 0) << "three rows a node in node order need no recovery";

  const MatrixChecks checks = check_matrices(model);
  // ccx prints 14 digits, so that sums of a hundred terms cancel to 1e-13 or so
  for (int k = 0; k < 6; ++k) {
    ASSERT_TRUE(checks.rigid_body_residual[k]);
    EXPECT_LT(*checks.rigid_body_residual[k], 1e-12);
  }
  RecordProperty("worst_residual", fmt::format("{:.1e}", *checks.worst_residual()));
  // the elements are bricks, which 27 integration points integrate exactly
  const double a = Bar::length, b = Bar::width, c = Bar::height, m = Bar::density * a * b * c;
  for (int k = 0; k < 3; ++k) EXPECT_NEAR((*checks.mass)(k), m, 1e-11 * m);
  EXPECT_LT((*checks.centre - Eigen::Vector3d(a / 2, b / 2, c / 2)).norm(), 1e-11 * a);
  const Eigen::Vector3d J = m / 12 * Eigen::Vector3d(b * b + c * c, a * a + c * c, a * a + b * b);
  EXPECT_LT((*checks.inertia - Eigen::Matrix3d(J.asDiagonal())).norm(), 1e-10 * J.norm());
}

}  // namespace
}  // namespace lissom::read_calculix_matrices_test
