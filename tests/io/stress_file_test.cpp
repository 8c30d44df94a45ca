#include "lissom/io/stress_file.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lissom/core/text.hpp"
#include "lissom/io/hdf5_schema.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::stress_file_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_same;

MatrixXd some_numbers(Eigen::Index rows, Eigen::Index cols) {
  static std::mt19937 random(11);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

// One body with everything, one with the maximum alone.
StressFile sample_stress() {
  StressFile file;
  file.title = "rod \"fast\"";
  file.case_name = "gcms";
  file.study = "title = 1\n";
  file.at = some_numbers(3, 1);
  file.samples = 101;
  StressFileBody body;
  body.name = "rod/1";
  body.formulation = "ffrf";
  body.node_ids = {3, 1, 4'000'000'000, 7};
  body.peak = some_numbers(4, 1).cwiseAbs();
  body.peak_time = some_numbers(4, 1);
  body.stress = some_numbers(24, 3);
  body.strain = some_numbers(24, 3);
  body.element_ids = {10, 20};
  body.element_offsets = {0, 4, 7};
  body.element_nodes = {3, 1, 7, 4'000'000'000, 1, 7, 3};
  body.element_stress = some_numbers(42, 3);
  file.bodies.push_back(body);
  StressFileBody plain;
  plain.name = "crank";
  plain.formulation = "slap";
  plain.node_ids = {5};
  plain.stress = some_numbers(6, 3);
  file.bodies.push_back(plain);
  return file;
}

void expect_same_stress(const StressFile& a, const StressFile& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.case_name, b.case_name);
  EXPECT_EQ(a.study, b.study);
  EXPECT_EQ(a.samples, b.samples);
  expect_same(a.at, b.at);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (size_t i = 0; i < a.bodies.size(); ++i) {
    const StressFileBody &x = a.bodies[i], &y = b.bodies[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.formulation, y.formulation);
    EXPECT_EQ(x.node_ids, y.node_ids);
    EXPECT_EQ(x.element_ids, y.element_ids);
    EXPECT_EQ(x.element_offsets, y.element_offsets);
    EXPECT_EQ(x.element_nodes, y.element_nodes);
    expect_same(x.peak, y.peak);
    expect_same(x.peak_time, y.peak_time);
    expect_same(x.stress, y.stress);
    expect_same(x.strain, y.strain);
    expect_same(x.element_stress, y.element_stress);
  }
}

StressFile read(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  StressFile file = read_stress_file(path, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return file;
}

TEST(StressFile, ComesBackBitByBit) {
  const TemporaryFolder folder;
  const StressFile file = sample_stress();
  write_stress_file(folder / "stress.h5", file);
  EXPECT_TRUE(is_stress_file(folder / "stress.h5"));
  expect_same_stress(file, read(folder / "stress.h5"));
  // the maximum alone, without instants
  StressFile peaks = file;
  peaks.at.resize(0);
  peaks.bodies.resize(1);
  StressFileBody& body = peaks.bodies[0];
  body.stress.resize(0, 0);
  body.strain.resize(0, 0);
  body.element_ids.clear();
  body.element_offsets.clear();
  body.element_nodes.clear();
  body.element_stress.resize(0, 0);
  write_stress_file(folder / "stress.h5", peaks);
  expect_same_stress(peaks, read(folder / "stress.h5"));
}

TEST(StressFile, EveryDatasetIsInTheReferencePage) {
  const TemporaryFolder folder;
  write_stress_file(folder / "stress.h5", sample_stress());
  const std::string page = test::reference_page("stress-file");
  // bodies are numbered, and the page calls the number B
  std::string all = page;
  for (const char* number : {"0", "1"}) {
    std::string one = page;
    for (size_t at; (at = one.find("/bodies/B/")) != std::string::npos;) one.replace(at + 8, 1, number);
    all += one;
  }
  EXPECT_EQ(test::expect_datasets_documented(folder / "stress.h5", all), 15);
}

TEST(StressFile, DamagedAndNewerFilesAreRefused) {
  const TemporaryFolder folder;
  const StressFile file = sample_stress();
  write_stress_file(folder / "stress.h5", file);
  {
    hdf5::File h5 = hdf5::File::create(folder / "newer.h5");
    {
      hdf5::Group root = h5.root();
      write_format(root, "lissom-stress", stress_file_version + 1);
    }
    h5.close();
  }
  Diagnostics diagnostics;
  EXPECT_THROW(read_stress_file(folder / "newer.h5", diagnostics), InputError);
  EXPECT_THROW(read_stress_file(folder / "none.h5", diagnostics), InputError);
  const std::string bytes = read_file(folder / "stress.h5");
  for (const size_t size : {bytes.size() / 3, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(folder / "cut.h5", std::ios::binary) << bytes.substr(0, size);
    EXPECT_THROW(read_stress_file(folder / "cut.h5", diagnostics), InputError) << size;
  }
}

}  // namespace
}  // namespace lissom::stress_file_test
