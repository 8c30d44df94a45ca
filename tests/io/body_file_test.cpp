#include "lissom/io/body_file.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/io/sample_mesh.hpp"
#include "tests/packages.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::body_file_test {
namespace {

using test::expect_same;

SparseMatrix random_sparse(int rows, int cols, bool lower) {
  SparseMatrix matrix(rows, cols);
  for (int j = 0; j < cols; ++j)
    for (int i = lower ? j : 0; i < rows; ++i)
      if ((3 * i + 7 * j) % 5 == 0 || i == j) matrix.insert(i, j) = std::sin(1.7 * i + 0.3 * j) * 1e9;
  matrix.makeCompressed();
  return matrix;
}

BodyFile sample_body() {
  BodyFile body;
  body.mesh = sample_mesh();
  FeModel& model = body.model;
  model.source = "sample.msh";
  model.points = body.mesh.points;
  model.node_ids = body.mesh.node_ids;
  for (int i = 0; i < 12; ++i) model.dofs.push_back({i / 6, i % 6});
  model.K.lower = random_sparse(12, 12, true);
  model.M.lower = random_sparse(12, 12, true) * 1e-7;
  model.node_mass.lower = random_sparse(body.mesh.node_count(), body.mesh.node_count(), true);
  model.recovery = random_sparse(3 * body.mesh.node_count(), 12, false);
  model.node_sets = body.mesh.node_sets;
  ModeSet& modes = body.modes.emplace();
  modes.eigenvalues = Eigen::VectorXd::Random(4);
  modes.frequencies_hz = Eigen::VectorXd::Random(4);
  modes.shapes = Eigen::MatrixXd::Random(12, 4);
  modes.shapes(3, 2) = -0.0;
  modes.shapes(4, 2) = 5e-324;
  modes.residuals = Eigen::VectorXd::Random(4);
  modes.effective_mass = Eigen::MatrixXd::Random(4, 6);
  modes.rigid_count = 2;
  modes.fixed_sets = {"left/right \"<&>\"", "none"};
  modes.mass_kind = "consistent";
  modes.shift = -1.0 / 3;
  return body;
}

void expect_same_sparse(const SparseMatrix& a, const SparseMatrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  ASSERT_EQ(a.nonZeros(), b.nonZeros());
  if (a.nonZeros() == 0) return;
  EXPECT_EQ(std::memcmp(a.valuePtr(), b.valuePtr(), a.nonZeros() * sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(a.innerIndexPtr(), b.innerIndexPtr(), a.nonZeros() * sizeof(int)), 0);
  EXPECT_EQ(std::memcmp(a.outerIndexPtr(), b.outerIndexPtr(), (a.cols() + 1) * sizeof(int)), 0);
}

void expect_same_pos(const SourcePos& a, const SourcePos& b) {
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.line, b.line);
}

void expect_same_body(const BodyFile& a, const BodyFile& b) {
  EXPECT_EQ(a.mesh.source, b.mesh.source);
  expect_same(a.mesh.points, b.mesh.points);
  EXPECT_EQ(a.mesh.node_ids, b.mesh.node_ids);
  EXPECT_EQ(a.mesh.types, b.mesh.types);
  EXPECT_EQ(a.mesh.element_ids, b.mesh.element_ids);
  EXPECT_EQ(a.mesh.element_material, b.mesh.element_material);
  EXPECT_EQ(a.mesh.connectivity, b.mesh.connectivity);
  EXPECT_EQ(a.mesh.offsets, b.mesh.offsets);
  EXPECT_EQ(a.mesh.node_sets, b.mesh.node_sets);
  EXPECT_EQ(a.mesh.element_sets, b.mesh.element_sets);
  ASSERT_EQ(a.mesh.materials.size(), b.mesh.materials.size());
  for (size_t i = 0; i < a.mesh.materials.size(); ++i) {
    const Material &m = a.mesh.materials[i], &n = b.mesh.materials[i];
    EXPECT_EQ(m.name, n.name);
    EXPECT_EQ(m.density, n.density);
    expect_same_pos(m.defined_at, n.defined_at);
    ASSERT_EQ(m.isotropic.has_value(), n.isotropic.has_value());
    ASSERT_EQ(m.orthotropic.has_value(), n.orthotropic.has_value());
    if (m.isotropic) {
      EXPECT_EQ(std::memcmp(&*m.isotropic, &*n.isotropic, sizeof(Isotropic)), 0);
    }
    if (m.orthotropic) {
      EXPECT_EQ(std::memcmp(&m.orthotropic->E1, &n.orthotropic->E1, 9 * sizeof(double)), 0);
      expect_same(m.orthotropic->axes, n.orthotropic->axes);
    }
  }
  ASSERT_EQ(a.mesh.spiders.size(), b.mesh.spiders.size());
  for (size_t i = 0; i < a.mesh.spiders.size(); ++i) {
    const Spider &s = a.mesh.spiders[i], &t = b.mesh.spiders[i];
    EXPECT_EQ(s.name, t.name);
    EXPECT_EQ(s.kind, t.kind);
    EXPECT_EQ(s.reference, t.reference);
    EXPECT_EQ(s.nodes, t.nodes);
    EXPECT_EQ(s.weights, t.weights);
    expect_same_pos(s.defined_at, t.defined_at);
  }
  EXPECT_EQ(a.model.source, b.model.source);
  expect_same(a.model.points, b.model.points);
  EXPECT_EQ(a.model.node_ids, b.model.node_ids);
  EXPECT_EQ(a.model.node_sets, b.model.node_sets);
  ASSERT_EQ(a.model.dofs.size(), b.model.dofs.size());
  for (size_t i = 0; i < a.model.dofs.size(); ++i) {
    EXPECT_EQ(a.model.dofs[i].node, b.model.dofs[i].node);
    EXPECT_EQ(a.model.dofs[i].direction, b.model.dofs[i].direction);
  }
  expect_same_sparse(a.model.K.lower, b.model.K.lower);
  expect_same_sparse(a.model.M.lower, b.model.M.lower);
  expect_same_sparse(a.model.node_mass.lower, b.model.node_mass.lower);
  expect_same_sparse(a.model.recovery, b.model.recovery);
  ASSERT_EQ(a.modes.has_value(), b.modes.has_value());
  if (!a.modes) return;
  expect_same(a.modes->eigenvalues, b.modes->eigenvalues);
  expect_same(a.modes->frequencies_hz, b.modes->frequencies_hz);
  expect_same(a.modes->shapes, b.modes->shapes);
  expect_same(a.modes->residuals, b.modes->residuals);
  expect_same(a.modes->effective_mass, b.modes->effective_mass);
  EXPECT_EQ(a.modes->rigid_count, b.modes->rigid_count);
  EXPECT_EQ(a.modes->fixed_sets, b.modes->fixed_sets);
  EXPECT_EQ(a.modes->mass_kind, b.modes->mass_kind);
  EXPECT_EQ(a.modes->shift, b.modes->shift);
}

BodyFile read(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  BodyFile body = read_body_file(path, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return body;
}

std::string refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { read_body_file(path, diagnostics); });
}

TEST(BodyFile, EverythingComesBackBitByBit) {
  const TemporaryFolder folder;
  const BodyFile body = sample_body();
  write_body_file(folder / "a.h5", body);
  expect_same_body(body, read(folder / "a.h5"));
  EXPECT_EQ(folder.names().size(), 1);
}

TEST(BodyFile, MatricesWithoutMeshAndMeshWithoutMatricesComeBack) {
  const TemporaryFolder folder;
  BodyFile mesh_only = sample_body();
  mesh_only.model = {};
  mesh_only.modes.reset();
  write_body_file(folder / "a.h5", mesh_only);
  expect_same_body(mesh_only, read(folder / "a.h5"));

  BodyFile matrices_only = sample_body();
  matrices_only.mesh = {};
  matrices_only.model.points.resize(3, 0);
  matrices_only.model.recovery = {};
  matrices_only.modes->effective_mass.resize(0, 0);
  matrices_only.modes->residuals.resize(0);
  write_body_file(folder / "b.h5", matrices_only);
  expect_same_body(matrices_only, read(folder / "b.h5"));
}

TEST(BodyFile, AFileWithoutNodeMassIsReadAndOneOfAnotherSizeIsRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  BodyFile body = sample_body();
  // what files of before hold: the group is not there
  write_body_file(path, body);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Ldelete(file, "model/node_mass", H5P_DEFAULT), 0);
  H5Fclose(file);
  body.model.node_mass = {};
  expect_same_body(body, read(path));
  write_body_file(path, body);
  EXPECT_FALSE(hdf5::File::open(path).root().group("model").has("node_mass"));
  expect_same_body(body, read(path));

  body.model.node_mass.lower = random_sparse(3, 3, true);
  write_body_file(path, body);
  EXPECT_NE(refusal(path).find("'/model/node_mass': has 3 rows, but there are"), std::string::npos)
      << refusal(path);
}

TEST(BodyFile, ANewerVersionIsRefusedAndAnUnknownEntryIsAWarning) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  const BodyFile body = sample_body();
  write_body_file(path, body);
  const auto edit = [&](const std::function<void(hid_t)>& change) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
  };
  // somebody adds a group of their own
  edit([](hid_t file) { H5Gclose(H5Gcreate2(file, "notes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); });
  Diagnostics diagnostics;
  expect_same_body(body, read_body_file(path, diagnostics));
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(to_string(diagnostics.warnings().front()),
            path + ": the entry 'notes' is not known and was left out");
  // a later Lissom raises the version
  edit([](hid_t file) {
    const hid_t attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
    const std::int64_t version = 2;
    H5Awrite(attribute, H5T_NATIVE_INT64, &version);
    H5Aclose(attribute);
  });
  EXPECT_EQ(refusal(path), path + ": has schema version 2 (written by Lissom " LISSOM_VERSION
                                  "), this is Lissom " LISSOM_VERSION
                                  " and reads versions up to 1; use a newer Lissom");
}

TEST(BodyFile, OtherFilesAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  EXPECT_EQ(refusal(path), path + ": no such file");
  write_bytes(path, "solid cube");
  EXPECT_EQ(refusal(path), path + ": is not an HDF5 file");
  hdf5::File file = hdf5::File::create(path);
  file.close();
  EXPECT_EQ(refusal(path),
            path + ": is an HDF5 file, but not a Lissom body file (attribute format = \"lissom-body\")");
}

TEST(BodyFile, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  write_body_file(folder / "a.h5", sample_body());
  test::expect_truncations_refused(folder, folder / "a.h5", 971, refusal);
}

TEST(BodyFile, AByteThatChangedIsRefusedOrDoesNotMatter) {
  const TemporaryFolder folder;
  const BodyFile body = sample_body();
  write_body_file(folder / "a.h5", body);
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "a.h5", 41, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        expect_same_body(body, read_body_file(path, diagnostics));
      });
  // there is room in the file that nothing uses, but not all of it
  EXPECT_GT(refused, 50);
}

TEST(BodyFile, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const BodyFile body = sample_body();
  write_body_file(folder / "a.h5", body);
  BodyFile large = body;
  large.modes->shapes = Eigen::MatrixXd::Random(12, 20000);
  large.modes->eigenvalues = large.modes->frequencies_hz = Eigen::VectorXd::Zero(20000);
  const std::string text = test::message_on_full_disk([&] { write_body_file(folder / "a.h5", large); });
  EXPECT_EQ(text.find((folder / "a.h5").string()), 0) << text;
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
  EXPECT_EQ(folder.names().size(), 1);
  expect_same_body(body, read(folder / "a.h5"));
}

TEST(BodyFile, EveryDatasetIsNamedInTheReferencePage) {
  const TemporaryFolder folder;
  write_body_file(folder / "a.h5", sample_body());
  EXPECT_GT(test::expect_datasets_documented(folder / "a.h5", test::reference_page("body-file")), 40);
}

TEST(BodyFile, ThePythonOfTheReferencePageReadsIt) {
  const TemporaryFolder folder;
  const BodyFile body = sample_body();
  write_body_file(folder / "body.h5", body);
  // behind the page's code what we know of the matrix
  const Eigen::VectorXd sums = body.model.K.full() * Eigen::VectorXd::LinSpaced(12, 1, 12);
  const auto missing =
      test::run_python_of_page(folder, test::reference_page("body-file"),
                               fmt::format("assert np.allclose(K @ np.arange(1, 13), [{}], rtol=1e-12)\n"
                                           "assert list(node_sets['none']) == []\n"
                                           "assert len(node_sets) == 2\n",
                                           fmt::join(std::vector<double>(sums.begin(), sums.end()), ", ")));
  EXPECT_FALSE(missing) << "a module of Python" << test::install_hint << *missing;
}

}  // namespace
}  // namespace lissom::body_file_test
