#include "lissom/io/pod_file.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lissom/io/rom_file.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::pod_file_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_same;

// Orthonormal columns, every member with a value of its own.
PodFile sample_model() {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  PodFile file;
  file.title = "two beams";
  file.study = "title = \"two beams\"\n";
  file.study_path = "/somewhere/study.toml";
  file.case_name = "heavy";
  file.beams = {"upper", "lower"};
  file.rule = PodRule::Energy;
  file.fraction = 0.9375;
  file.order = 2;
  file.why = "as the study asks for";
  file.body.force = PodForce::Ecsw;
  file.body.ecsw_tolerance = 3e-5;
  file.body.deim_points = 7;
  for (const char* name : {"mass", "length"}) {
    StudyParameter parameter;
    parameter.name = name;
    parameter.keys = {std::string("bodies.upper.") + name, std::string("bodies.lower.") + name};
    parameter.scale = parameter.name == "mass" ? 0.125 : 3;
    file.parameters.push_back(parameter);
    file.library.parameters.push_back(name);
  }
  file.library.options.offset = PodOffset::Mean;
  file.library.options.max_rank = 17;
  file.library.options.keep = 5;
  file.library.combination = PodCombination::Global;
  file.library.reference = 1;
  for (int k = 0; k < 3; ++k) {
    MatrixXd E = MatrixXd::NullaryExpr(12, 9, [&] { return normal(random); });
    PodOptions options = file.library.options;
    options.max_rank = 4;
    SymmetricMatrix mass;
    mass.lower.resize(12, 12);
    mass.lower.setIdentity();
    file.library.samples.push_back(make_pod_sample(Eigen::Vector2d(k, 1.5 * k * k), E, options, mass));
  }
  return file;
}

void expect_equal(const PodFile& a, const PodFile& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.study, b.study);
  EXPECT_EQ(a.study_path, b.study_path);
  EXPECT_EQ(a.case_name, b.case_name);
  EXPECT_EQ(a.beams, b.beams);
  EXPECT_EQ(a.rule, b.rule);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.why, b.why);
  EXPECT_EQ(a.body.force, b.body.force);
  EXPECT_EQ(a.body.ecsw_tolerance, b.body.ecsw_tolerance);
  EXPECT_EQ(a.body.deim_points, b.body.deim_points);
  EXPECT_EQ(a.library.options.offset, b.library.options.offset);
  EXPECT_EQ(a.library.options.mass_weighted, b.library.options.mass_weighted);
  EXPECT_EQ(a.library.options.max_rank, b.library.options.max_rank);
  EXPECT_EQ(a.library.options.keep, b.library.options.keep);
  EXPECT_EQ(a.library.combination, b.library.combination);
  EXPECT_EQ(a.library.reference, b.library.reference);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (size_t p = 0; p < a.parameters.size(); ++p) {
    EXPECT_EQ(a.parameters[p].name, b.parameters[p].name);
    EXPECT_EQ(a.parameters[p].keys, b.parameters[p].keys);
    EXPECT_EQ(a.parameters[p].scale, b.parameters[p].scale);
  }
  ASSERT_EQ(a.library.samples.size(), b.library.samples.size());
  for (size_t k = 0; k < a.library.samples.size(); ++k) {
    const PodSample &x = a.library.samples[k], &y = b.library.samples[k];
    expect_same(x.parameters, y.parameters);
    expect_same(x.offset, y.offset);
    expect_same(x.basis, y.basis);
    expect_same(x.singular_values, y.singular_values);
    expect_same(x.snapshots, y.snapshots);
    EXPECT_EQ(x.samples, y.samples);
  }
}

TEST(PodFile, ComesBackBitByBit) {
  const TemporaryFolder folder;
  const PodFile file = sample_model();
  write_pod_file(folder / "a.rom.h5", file);
  Diagnostics diagnostics;
  expect_equal(read_pod_file(folder / "a.rom.h5", diagnostics), file);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_TRUE(is_rom_file(folder / "a.rom.h5"));
  EXPECT_TRUE(is_pod_file(folder / "a.rom.h5"));
  EXPECT_FALSE(is_pod_file(folder / "none.rom.h5"));
}

TEST(PodFile, EveryDatasetIsInTheReferencePage) {
  const TemporaryFolder folder;
  write_pod_file(folder / "a.rom.h5", sample_model());
  const std::string page = test::reference_page("rom-file");
  // parameters and samples are numbered, and the page calls the numbers Q and S
  std::string all = page;
  for (const char* number : {"0", "1", "2"}) {
    std::string one = page;
    for (size_t at; (at = one.find("/samples/S/")) != std::string::npos;) one.replace(at + 9, 1, number);
    for (size_t at; (at = one.find("/parameters/Q/")) != std::string::npos;) one.replace(at + 12, 1, number);
    all += one;
  }
  // three of the root, two lists of keys, five of every sample
  EXPECT_EQ(test::expect_datasets_documented(folder / "a.rom.h5", all), 3 + 2 + 15);
}

TEST(PodFile, IsNotTakenForASlapModel) {
  const TemporaryFolder folder;
  write_pod_file(folder / "a.rom.h5", sample_model());
  Diagnostics diagnostics;
  try {
    read_rom_file(folder / "a.rom.h5", diagnostics);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("of kind 'pod'"), std::string::npos) << e.what();
  }
}

TEST(PodFile, WhatDoesNotFitTogetherIsNotWritten) {
  const TemporaryFolder folder;
  const auto expect_refused = [&](const std::function<void(PodFile&)>& change, const std::string& message) {
    PodFile file = sample_model();
    change(file);
    EXPECT_NE(inconsistency_of(file).find(message), std::string::npos) << inconsistency_of(file);
    EXPECT_THROW(write_pod_file(folder / "b.rom.h5", file), Error);
    EXPECT_FALSE(std::filesystem::exists(folder / "b.rom.h5"));
  };
  expect_refused([](PodFile& f) { f.order = 5; }, "the order is 5, and the samples have 4 modes");
  expect_refused([](PodFile& f) { f.parameters.pop_back(); }, "1 parameters are described and 2 named");
  expect_refused([](PodFile& f) { f.parameters[0].keys.clear(); }, "'mass' has no key");
  expect_refused([](PodFile& f) { f.library.reference = 3; }, "the reference is sample 4 of 3");
  expect_refused([](PodFile& f) { f.library.samples[1].parameters.resize(1); }, "a sample has 1 parameters");
  expect_refused([](PodFile& f) { f.beams.clear(); }, "no beams");
}

TEST(PodFile, TruncatedAndDamagedFilesAreRefused) {
  const TemporaryFolder folder;
  const PodFile file = sample_model();
  write_pod_file(folder / "a.rom.h5", file);
  test::expect_truncations_refused(folder, folder / "a.rom.h5", 997, [](const std::filesystem::path& path) {
    Diagnostics diagnostics;
    try {
      read_pod_file(path, diagnostics);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("it was read");
  });
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "a.rom.h5", 101, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        expect_equal(read_pod_file(path, diagnostics), file);
      });
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace lissom::pod_file_test
