#include "lissom/fe/matrix_checks.hpp"
#include "tests/fe/matrix_test_tools.hpp"

namespace lissom::matrix_reader_test {
namespace {

using Entry = ImportedMatrix::Entry;

ImportedMatrix matrix(const Eigen::MatrixXd& A, std::vector<ImportedMatrix::RowLabel> labels = {}) {
  ImportedMatrix result;
  result.name = "A";
  result.source = "a.mtx";
  result.rows = static_cast<int>(A.rows());
  result.cols = static_cast<int>(A.cols());
  for (int j = 0; j < result.cols; ++j)
    for (int i = 0; i < result.rows; ++i)
      if (A(i, j) != 0) result.entries.push_back({i, j, A(i, j)});
  result.labels = std::move(labels);
  return result;
}

// Two nodes, 1 at (0, 0, 0) and 2 at (2, 0, 0), tied by a spring along x and, across it, by a beam-like
// coupling of the rotation about z at node 1; unknowns 1x 1y 1rz 2x 2y. Free of rigid-body forces in x, y and
// about z by construction: K = k1 d1 d1' + k2 d2 d2' with d1 = x2 - x1 and d2 = y2 - y1 - 2 rz1.
const std::vector<ImportedMatrix::RowLabel> beam_labels = {{1, 0}, {1, 1}, {1, 5}, {2, 0}, {2, 1}};
Eigen::MatrixXd beam_stiffness() {
  Eigen::VectorXd d1(5), d2(5);
  d1 << -1, 0, 0, 1, 0;
  d2 << 0, -1, -2, 0, 1;
  return 1000 * d1 * d1.transpose() + 70 * d2 * d2.transpose();
}
Eigen::MatrixXd beam_mass() {
  return Eigen::VectorXd{{3, 3, 0.5, 1, 1}}.asDiagonal();
}
MatrixImport beam_request() {
  MatrixImport request;
  request.coordinates = {{1, {0, 0, 0}}, {2, {2, 0, 0}}};
  return request;
}

// ---- symmetry

TEST(MatrixImport, AnAsymmetryBeyondTheToleranceNamesItsSizeAndWorstEntry) {
  Eigen::MatrixXd A = beam_stiffness();
  A(4, 2) *= 1 + 1e-3;
  Diagnostics diagnostics;
  EXPECT_EQ(
      input_error([&] { to_symmetric(matrix(A, beam_labels), diagnostics); }),
      "A of a.mtx: not symmetric: the entries between node 2, direction y and node 1, direction rz are "
      "-140.14 and "
      "-140, a difference of 1.4e-04 of the largest entry (allowed 1e-08); unsymmetric terms (friction, "
      "follower "
      "loads, gyroscopic) must be left out of the export, and a single triangle must be declared as such");
}

TEST(MatrixImport, ASmallAsymmetryIsAveragedWithAWarning) {
  Eigen::Matrix2d A;
  A << 2, -1, -1 + 4e-9, 2;
  Diagnostics diagnostics;
  const Eigen::MatrixXd S = dense(to_symmetric(matrix(A), diagnostics));
  // exact up to one rounding of a number of size 1
  EXPECT_NEAR(S(1, 0), -1 + 2e-9, 2.3e-16);
  EXPECT_NE(diagnostics.find("matrices.asymmetry.A"), nullptr);
}

TEST(MatrixImport, RepeatedEntriesAreAddedWithAWarning) {
  ImportedMatrix A = matrix(Eigen::Matrix2d::Identity());
  A.entries.push_back({0, 0, 5});
  Diagnostics diagnostics;
  EXPECT_EQ(dense(to_symmetric(A, diagnostics))(0, 0), 6);
  ASSERT_NE(diagnostics.find("matrices.repeated-entry.A"), nullptr);
}

TEST(MatrixImport, ShapesThatCannotBeAMatrixAreRefused) {
  Diagnostics diagnostics;
  const auto message = [&](const ImportedMatrix& A) {
    return input_error([&] { to_symmetric(A, diagnostics); });
  };
  EXPECT_EQ(message(matrix(Eigen::MatrixXd::Ones(2, 3))),
            "A of a.mtx: the matrix is 2 by 3, expected a square one");
  ImportedMatrix A = matrix(Eigen::Matrix2d::Identity());
  A.entries.push_back({2, 0, 1});
  EXPECT_EQ(message(A), "A of a.mtx: entry (3, 1) is outside the matrix of 2 rows");
  A.entries.back() = {1, 0, std::nan("")};
  EXPECT_EQ(message(A), "A of a.mtx: the entry of row 2 and row 1 is no number (nan or infinite)");
  A.entries.pop_back();
  A.rows = A.cols = 2000000000;
  EXPECT_EQ(message(A), "A of a.mtx: 2000000000 rows, but 2 entries only");
}

// ---- K and M together

TEST(MatrixImport, RotationsEnterTheRigidBodyChecksAndTheInertia) {
  Diagnostics diagnostics;
  const FeModel model = make_fe_model(matrix(beam_stiffness(), beam_labels), matrix(beam_mass(), beam_labels),
                                      beam_request(), diagnostics);
  EXPECT_EQ(dense(model.K), beam_stiffness());
  const MatrixChecks checks = check_matrices(model);
  // small integers cancel exactly, but the centre of rotation (1, 0, 0) is exact, too
  for (int k : {0, 1, 5}) EXPECT_EQ(checks.rigid_body_residual[k], 0.0) << k;
  EXPECT_EQ(diagnostics.find("matrices.rigid-body"), nullptr);
  EXPECT_EQ((*checks.mass), Eigen::Vector3d(4, 4, 0));
  EXPECT_FALSE(checks.centre) << "nothing moves along z";
}

TEST(MatrixImport, CentreAndInertiaOfPointMassesAreTheirs) {
  // masses 3 at (0, 0, 0) and 1 at (2, 0, 0): centre at x = 0.5, inertia 3 * 0.25 + 1 * 2.25 = 3 about y and
  // z
  const std::vector<ImportedMatrix::RowLabel> labels = {{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(6, 6);
  K(0, 0) = K(3, 3) = 5;
  K(0, 3) = K(3, 0) = -5;
  const Eigen::VectorXd masses{{3, 3, 3, 1, 1, 1}};
  Diagnostics diagnostics;
  const FeModel model =
      make_fe_model(matrix(K, labels), matrix(masses.asDiagonal(), labels), beam_request(), diagnostics);
  const MatrixChecks checks = check_matrices(model);
  EXPECT_LT((*checks.centre - Eigen::Vector3d(0.5, 0, 0)).norm(), 1e-15);
  EXPECT_LT((*checks.inertia - Eigen::Matrix3d(Eigen::Vector3d(0, 3, 3).asDiagonal())).norm(), 1e-14);
  // a spring along x leaves y and z without stiffness
  ASSERT_NE(diagnostics.find("matrices.zero-rows-K"), nullptr);
  EXPECT_EQ(diagnostics.find("matrices.zero-rows-K")->message,
            "4 rows of K are zero: node 1, direction y; node 1, direction z; node 2, direction y; node 2, "
            "direction z");
  const std::string text = to_string(checks);
  EXPECT_NE(text.find("mass along x y z     4 4 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("zero rows            K 4, M 0\n"), std::string::npos) << text;
}

TEST(MatrixImport, RowsAreMatchedByLabelWhateverTheirOrder) {
  // M has its rows reversed, as another job may write them, and only its upper triangle
  std::vector<ImportedMatrix::RowLabel> reversed(beam_labels.rbegin(), beam_labels.rend());
  ImportedMatrix M = matrix(beam_mass().reverse(), reversed);
  M.triangle = ImportedMatrix::Triangle::Upper;
  Diagnostics diagnostics;
  const FeModel model = make_fe_model(matrix(beam_stiffness(), beam_labels), M, beam_request(), diagnostics);
  EXPECT_EQ(dense(model.M), beam_mass());
  EXPECT_EQ(dense(model.K), beam_stiffness());
  EXPECT_EQ(diagnostics.find("matrices.labels-differ"), nullptr);
}

TEST(MatrixImport, SizesThatDifferAreRefusedWithoutLabels) {
  Diagnostics diagnostics;
  EXPECT_EQ(
      input_error([&] {
        make_fe_model(matrix(Eigen::Matrix3d::Identity()), matrix(Eigen::Matrix2d::Identity()), {},
                      diagnostics);
      }),
      "K (A of a.mtx) has 3 rows and M (A of a.mtx) has 2; they must belong to the same degrees of freedom");
}

TEST(MatrixImport, MasslessRowsAreListedUnlessPermittedOrEmptyAndDropped) {
  Eigen::MatrixXd M = beam_mass();
  M(2, 2) = 0;
  const auto import = [&](const Eigen::MatrixXd& K, const MatrixImport& request) {
    Diagnostics diagnostics;
    return make_fe_model(matrix(K, beam_labels), matrix(M, beam_labels), request, diagnostics);
  };
  MatrixImport request = beam_request();
  EXPECT_EQ(input_error([&] { import(beam_stiffness(), request); }),
            "a.mtx: 1 rows of M are zero, which makes infinite frequencies: node 1, direction rz; give them "
            "mass or condense them out (--permit-massless lets them be inspected)");
  request.permit_massless = true;
  EXPECT_EQ(import(beam_stiffness(), request).dof_count(), 5);

  // a row that K does not know either can go, as the rotations of Nastran's g-set do
  Eigen::MatrixXd K = beam_stiffness();
  K.row(2).setZero();
  K.col(2).setZero();
  request.permit_massless = false;
  EXPECT_NE(input_error([&] { import(K, request); }).find("1 of them are zero in K too and can be dropped"),
            std::string::npos);
  request.drop_empty_rows = true;
  const FeModel model = import(K, request);
  ASSERT_EQ(model.dof_count(), 4);
  EXPECT_EQ(model.dofs[2].node, 1);
  EXPECT_EQ(model.K.lower.coeff(2, 0), -1000);
  EXPECT_EQ(model.recovery.coeff(3, 2), 1) << "x of the second node";
}

TEST(MatrixImport, NegativeDiagonalsAreRefused) {
  Eigen::MatrixXd K = beam_stiffness();
  K(3, 3) = -1;
  Diagnostics diagnostics;
  EXPECT_EQ(input_error([&] {
              make_fe_model(matrix(K, beam_labels), matrix(beam_mass(), beam_labels), beam_request(),
                            diagnostics);
            }),
            "a.mtx: K is not that of a stable body: its diagonal is negative, or zero beside other entries, "
            "at node 2, "
            "direction x (Lagrange multipliers? rows and columns mixed up?)");
}

TEST(MatrixImport, ANodeThatTheMeshDoesNotHaveIsRefused) {
  MatrixImport request;
  request.coordinates = {{1, {0, 0, 0}}};
  Diagnostics diagnostics;
  EXPECT_EQ(input_error([&] {
              make_fe_model(matrix(beam_stiffness(), beam_labels), matrix(beam_mass(), beam_labels), request,
                            diagnostics);
            }),
            "a.mtx: the matrices have a row for node 2, direction x, but the mesh has no such node; is it "
            "the mesh of this "
            "model?");
}

TEST(MatrixImport, RowsThatAbaqusMarksAsHeldAreRemovedWithAWarning) {
  Eigen::MatrixXd K = beam_stiffness();
  K(0, 0) = 1e36;
  Diagnostics diagnostics;
  const FeModel model =
      make_fe_model(matrix(K, beam_labels), matrix(beam_mass(), beam_labels), beam_request(), diagnostics);
  EXPECT_EQ(model.dof_count(), 4);
  EXPECT_EQ(dense(model.K), beam_stiffness().bottomRightCorner(4, 4));
  EXPECT_NE(diagnostics.find("matrices.held-rows"), nullptr);
  EXPECT_NE(diagnostics.find("matrices.rigid-body"), nullptr);
}

TEST(MatrixImport, AnOrderThatNothingTellsIsAssumedWithAWarning) {
  Mesh mesh;
  mesh.points = Eigen::Matrix3Xd::Random(3, 2);
  mesh.node_ids = {10, 20};
  mesh.node_sets = {{"tip", {1}}};
  MatrixImport request;
  request.mesh = &mesh;
  Diagnostics diagnostics;
  const Eigen::MatrixXd I = Eigen::MatrixXd::Identity(6, 6);
  const FeModel model = make_fe_model(matrix(I), matrix(I), request, diagnostics);
  EXPECT_EQ(model.dofs[5].node, 1);
  EXPECT_EQ(model.dofs[5].direction, 2);
  EXPECT_EQ(model.node_sets.at("tip"), std::vector<int>{1});
  EXPECT_NE(diagnostics.find("matrices.assumed-order"), nullptr);
  EXPECT_EQ(model.recovery.size(), 0);

  const Eigen::MatrixXd seven = Eigen::MatrixXd::Identity(7, 7);
  EXPECT_EQ(input_error([&] { make_fe_model(matrix(seven), matrix(seven), request, diagnostics); }),
            "a.mtx: 7 rows do not make 3 or 6 for each of 2 nodes; give a file of \"node.direction\" lines "
            "that says which "
            "row is which");

  // without any node the checks that need one are not made
  Diagnostics bare;
  const FeModel nodeless = make_fe_model(matrix(seven), matrix(seven), {}, bare);
  EXPECT_NE(bare.find("matrices.no-labels"), nullptr);
  const MatrixChecks checks = check_matrices(nodeless);
  EXPECT_FALSE(checks.mass);
  EXPECT_FALSE(checks.worst_residual());
  EXPECT_NE(to_string(checks).find("centre of mass       n/a\n"), std::string::npos);
}

// ---- files

constexpr const char* market =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n";

TEST(MatrixImport, FormatsAreFoundByExtensionAndContent) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const auto rows = [&](const std::string& name, const std::string& content) {
    const auto matrices = read_matrices(folder.write(name, content), diagnostics);
    EXPECT_EQ(matrices.at(0).source, (folder.path() / name).string());
    return matrices.at(0).rows;
  };
  EXPECT_EQ(rows("a.mtx", market), 3);
  EXPECT_EQ(rows("ansys.txt", market), 3);
  EXPECT_EQ(rows("b.mtx", "1,1,1,1,2\n"), 1);
  EXPECT_EQ(rows("c.txt", "** Abaqus\n1,1,1,1,2\n2,1,2,1,2\n"), 2);
  EXPECT_EQ(rows("d.pch", "DMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.\n"), 1);
  EXPECT_EQ(rows("d.bdf", "$\nDMIG,K,0,6,1\nDMIG,K,1,1,,1,1,2.\n"), 1);
  const std::string op4 =
      "       1       1       6       2K       1P,5E16.9\n       1       1       1\n 2.000000000E+00\n"
      "       2       1       1\n 1.000000000E+00\n";
  EXPECT_EQ(rows("e.op4", op4), 1);
  EXPECT_EQ(rows("e.dat", op4), 1);
  folder.write("f.dof", "7.1\n7.3\n");
  EXPECT_EQ(rows("f.mas", "1 1 1\n2 2 1\n"), 2);
  const auto path = folder.write("g.xyz", "what is this\n");
  EXPECT_EQ(
      input_error([&] { read_matrices(path, diagnostics); }),
      path.string() +
          ": not a matrix file that is understood; expected Matrix Market (.mtx, .mm), CalculiX (.sti, .mas "
          "with .dof), Abaqus (.mtx), Nastran DMIG (.pch) or OUTPUT4 (.op4), MATLAB (.mat) or HDF5 (.h5)");
}

TEST(MatrixImport, CustomaryNamesPickKAndMFromOneFileAndOthersCanBeGiven) {
  const TemporaryFolder folder;
  const std::string column = ",1,1,,1,1,";
  const std::string text = "DMIG,KAAX,0,6,1\nDMIG,KAAX" + column + "8.\nDMIG,MAAX,0,6,1\nDMIG,MAAX" + column +
                           "2.\nDMIG,K2,0,6,1\nDMIG,K2" + column + "9.\n";
  MatrixImport request;
  request.stiffness = folder.write("a.pch", text);
  Diagnostics diagnostics;
  FeModel model = import_fe_model(request, diagnostics);
  EXPECT_EQ(model.K.lower.coeff(0, 0), 8);
  EXPECT_EQ(model.M.lower.coeff(0, 0), 2);
  request.stiffness_name = "k2";
  EXPECT_EQ(import_fe_model(request, diagnostics).K.lower.coeff(0, 0), 9);
  const std::string path = request.stiffness.string();
  request.stiffness_name = "KGG";
  EXPECT_EQ(input_error([&] { import_fe_model(request, diagnostics); }),
            path + ": no matrix 'KGG'; the file has KAAX, MAAX, K2");
  request.stiffness_name = request.mass_name = "MAAX";
  EXPECT_EQ(input_error([&] { import_fe_model(request, diagnostics); }),
            path + ": matrix 'MAAX' cannot be both K and M");
  request.stiffness_name = request.mass_name = "";
  request.stiffness = folder.write(
      "b.pch", "DMIG,K1,0,6,1\nDMIG,K1" + column + "8.\nDMIG,K2,0,6,1\nDMIG,K2" + column + "2.\n");
  EXPECT_EQ(input_error([&] { import_fe_model(request, diagnostics); }),
            request.stiffness.string() +
                ": no matrix could be the stiffness matrix; the file has K1, K2; give the name of the one "
                "that is meant");
  request.stiffness = folder.write("c.mtx", market);
  EXPECT_EQ(
      input_error([&] { import_fe_model(request, diagnostics); }),
      request.stiffness.string() + ": the file has one matrix only; give the file of the mass matrix, too");
}

TEST(MatrixImport, AFileOfLabelsTellsTheRowsOfFormatsWithoutThem) {
  const TemporaryFolder folder;
  MatrixImport request;
  request.stiffness = folder.write("k.mtx", market);
  request.mass = folder.write("m.mtx", market);
  request.dofs = folder.write("rows.dof", "4.3\n4.1\n5.6\n");
  Diagnostics diagnostics;
  const FeModel model = import_fe_model(request, diagnostics);
  EXPECT_EQ(model.node_ids, (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(model.dofs[0].direction, 2);
  EXPECT_EQ(model.dofs[2].node, 1);
  EXPECT_EQ(model.dofs[2].direction, 5);
  EXPECT_FALSE(model.has_points());

  request.dofs = folder.write("short.dof", "4.3\n4.1\n");
  EXPECT_EQ(input_error([&] { import_fe_model(request, diagnostics); }),
            request.dofs.string() + ": 2 lines, but " + request.stiffness.string() + " has 3 rows");
  request.dofs = folder.write("twice.dof", "4.3\n4.1\n4.3\n");
  EXPECT_EQ(input_error([&] { import_fe_model(request, diagnostics); }),
            request.stiffness.string() + ": two rows belong to node 4, direction z");
}

TEST(MatrixReader, HowFarTwoTrianglesDifferIsKeptAndPrinted) {
  ImportedMatrix m;
  m.rows = m.cols = 2;
  m.entries = {{0, 0, 2.0}, {1, 1, 2.0}, {0, 1, 1.0}, {1, 0, 1.0 + 2e-9}};
  Diagnostics diagnostics;
  std::optional<double> asymmetry;
  to_symmetric(m, diagnostics, &asymmetry);
  ASSERT_TRUE(asymmetry);
  EXPECT_NEAR(*asymmetry, 1e-9, 1e-15);  // 2e-9 of the largest entry, to round-off of 1 + 2e-9
  m.triangle = ImportedMatrix::Triangle::Lower;
  m.entries.pop_back();
  m.entries.pop_back();
  asymmetry.reset();
  to_symmetric(m, diagnostics, &asymmetry);
  EXPECT_FALSE(asymmetry);
  MatrixChecks checks;
  checks.K_asymmetry = 1e-9;
  EXPECT_NE(to_string(checks).find("asymmetry            K 1.0e-09, M one triangle stored"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::matrix_reader_test
