#include "lissom/io/gcms_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/hdf5.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::gcms_file_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// numbers without meaning, of the right shapes
GcmsBasis some_basis(const char* method, int nodes, int columns) {
  GcmsBasis basis;
  basis.method = method;
  for (int a = 0; a < columns; ++a)
    basis.columns.push_back({a == 0  ? GcmsColumn::Kind::Translation
                             : a < 4 ? GcmsColumn::Kind::Rotation
                                     : GcmsColumn::Kind::Field,
                             a < 4 ? 0 : a - 3, a == 0 || a > 3 ? 0 : a - 1});
  basis.S = MatrixXd::Random(nodes, columns);
  basis.centre.setRandom();
  basis.T.setRandom();
  basis.m_hat = MatrixXd::Random(columns, columns);
  basis.K_hat = MatrixXd::Random(3 * columns, 3 * columns);
  basis.orthogonality = 1e-15;
  basis.kept = columns - 4;
  basis.singular_values = VectorXd::Random(7);
  basis.steps = {{"as they are", 39, 1e6, std::numeric_limits<double>::infinity(), 3},
                 {"mass-orthonormal", 3 * columns, 2, 1.5, 1}};
  basis.ritz = {{7, 12.5, 12.75, 0.98, 0.02}};
  basis.removed = {{5, 4, 0.999, "cosine"}, {6, -1, 1e3, "singular value"}};
  basis.faint = {{8, 1e-9}};
  return basis;
}

GcmsFile some_file() {
  GcmsFile file;
  file.name = "beam";
  file.source = "beam.msh";
  file.points = Eigen::Matrix3Xd::Random(3, 20);
  for (int i = 0; i < 20; ++i) file.node_ids.push_back(100 + i);
  file.labels.assign(13, "x");
  file.singular_values = VectorXd::Random(13);
  file.cosine = MatrixXd::Random(9, 9);
  file.scalar = some_basis("scalar", 20, 11);
  file.algorithm_1 = some_basis("algorithm-1", 20, 9);
  file.scalar->cosine = file.algorithm_1->cosine = file.cosine;
  file.sweep = {{1, 0, 1e6, 1e5, 2e5, 1e-9}, {0.9, 24, 300, 38, 290, 0.7}};
  return file;
}

TEST(GcmsFile, ComesBackBitByBit) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.gcms.h5";
  const GcmsFile file = some_file();
  write_gcms_file(path, file);
  const GcmsFile back = read_gcms_file(path);
  EXPECT_EQ(back.name, file.name);
  EXPECT_EQ(back.source, file.source);
  EXPECT_EQ(back.points, file.points);
  EXPECT_EQ(back.node_ids, file.node_ids);
  EXPECT_EQ(back.labels, file.labels);
  EXPECT_EQ(back.singular_values, file.singular_values);
  EXPECT_EQ(back.cosine, file.cosine);
  ASSERT_TRUE(back.scalar && back.algorithm_1);
  for (auto [a, b] : {std::pair{&*file.scalar, &*back.scalar}, {&*file.algorithm_1, &*back.algorithm_1}}) {
    EXPECT_EQ(a->method, b->method);
    ASSERT_EQ(a->columns.size(), b->columns.size());
    for (size_t i = 0; i < a->columns.size(); ++i) EXPECT_EQ(a->columns[i].label(), b->columns[i].label());
    EXPECT_EQ(a->S, b->S);
    EXPECT_EQ(a->centre, b->centre);
    EXPECT_EQ(a->T, b->T);
    EXPECT_EQ(a->m_hat, b->m_hat);
    EXPECT_EQ(a->K_hat, b->K_hat);
    EXPECT_EQ(a->kept, b->kept);
    EXPECT_EQ(a->orthogonality, b->orthogonality);
    EXPECT_EQ(a->singular_values, b->singular_values);
    EXPECT_EQ(a->cosine, b->cosine);
    ASSERT_EQ(b->steps.size(), 2u);
    EXPECT_EQ(b->steps[0].name, "as they are");
    EXPECT_EQ(b->steps[0].columns, 39);
    EXPECT_EQ(b->steps[0].flexible_condition, std::numeric_limits<double>::infinity());
    EXPECT_EQ(b->steps[1].mass_condition, 1);
    ASSERT_EQ(b->ritz.size(), 1u);
    EXPECT_EQ(b->ritz[0].mode, 7);
    EXPECT_EQ(b->ritz[0].ritz, 12.75);
    EXPECT_EQ(b->ritz[0].error, 0.02);
    ASSERT_EQ(b->removed.size(), 2u);
    EXPECT_EQ(b->removed[0].partner, 4);
    EXPECT_EQ(b->removed[1].why, "singular value");
    ASSERT_EQ(b->faint.size(), 1u);
    EXPECT_EQ(b->faint[0].relative_norm, 1e-9);
  }
  ASSERT_EQ(back.sweep.size(), 2u);
  EXPECT_EQ(back.sweep[1].removed, 24);
  EXPECT_EQ(back.sweep[1].scaled_condition, 290);
  EXPECT_EQ(back.sweep[1].max_error, 0.7);
}

TEST(GcmsFile, OneMethodAndNoSweepMakeAFileToo) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.gcms.h5";
  GcmsFile file = some_file();
  file.algorithm_1.reset();
  file.sweep.clear();
  file.scalar->removed.clear();
  file.scalar->faint.clear();
  write_gcms_file(path, file);
  const GcmsFile back = read_gcms_file(path);
  EXPECT_TRUE(back.scalar && !back.algorithm_1 && back.sweep.empty() && back.scalar->removed.empty());
}

std::string message_of(const std::filesystem::path& path) {
  try {
    read_gcms_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(GcmsFile, OtherNewerAndInconsistentFilesAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.gcms.h5";
  EXPECT_NE(message_of(path), "no InputError");
  {
    hdf5::File file = hdf5::File::create(path);
    file.root().write_attribute("format", "something");
    file.close();
  }
  EXPECT_NE(message_of(path).find("no GCMS file"), std::string::npos);
  {
    hdf5::File file = hdf5::File::create(path);
    file.root().write_attribute("format", "lissom-gcms");
    file.root().write_attribute("schema_version", std::int64_t{gcms_file_version + 1});
    file.close();
  }
  EXPECT_NE(message_of(path).find("newer Lissom"), std::string::npos);
  GcmsFile wrong = some_file();
  wrong.scalar->K_hat.resize(5, 5);
  wrong.scalar->K_hat.setZero();
  write_gcms_file(path, wrong);
  EXPECT_NE(message_of(path).find("'/scalar/K_hat': expected 33 by 33 numbers, found 5 by 5"),
            std::string::npos)
      << message_of(path);
}

}  // namespace
}  // namespace lissom::gcms_file_test
