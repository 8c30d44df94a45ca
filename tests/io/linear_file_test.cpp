#include "lissom/io/linear_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lissom/io/pod_file.hpp"
#include "lissom/io/rom_file.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::linear_file_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_same;

// Every member with a value of its own.
LinearFile sample_linear_model() {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto numbers = [&](int rows, int cols) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); }));
  };
  LinearFile file;
  file.study = "title = \"carts\"\n";
  file.study_path = "/somewhere/study.toml";
  file.case_name = "loaded";
  LinearModel& model = file.model;
  model.title = "carts";
  model.t = 0.125;
  model.A = numbers(5, 5);
  model.B = numbers(5, 2);
  model.C = numbers(3, 5);
  model.D = numbers(3, 2);
  model.x0 = numbers(5, 1);
  model.u0 = numbers(2, 1);
  model.y0 = numbers(3, 1);
  model.inputs = {{"push", "N", true, {0.6, 0, 0.8}}, {"command", "1", false, {0, 0, 0}}};
  model.outputs = {{"tip.x", 1, 0, 0}, {"tip.y", 1, 0, 0}, {"foot.fx", 1, 1, -2}};
  model.states = {"a", "b", "c", "d", "e"};
  model.range = numbers(4, 5);
  model.range_inputs = numbers(4, 2);
  model.range_names = {"p", "q", "r", "s"};
  LinearReduction& made = model.reduction;
  made.truncation = LinearTruncation::Balanced;
  made.statics = true;
  made.source_order = 12;
  made.kept_exactly = 2;
  made.zero_below = 0.00048828125;
  made.hankel = VectorXd(numbers(9, 1).cwiseAbs());
  made.bound = 0.0078125;
  made.error = 0.00390625;
  made.error_frequency = 17.5;
  made.grid_from = 0.25;
  made.grid_to = 2048;
  made.input_scale = Eigen::Vector2d(0.5, 3);
  made.output_scale = Eigen::Vector3d(7, 9, 1e-4);
  return file;
}

void expect_equal_models(const LinearFile& a, const LinearFile& b) {
  EXPECT_EQ(a.study, b.study);
  EXPECT_EQ(a.study_path, b.study_path);
  EXPECT_EQ(a.case_name, b.case_name);
  const LinearModel &x = a.model, &y = b.model;
  EXPECT_EQ(x.title, y.title);
  EXPECT_EQ(x.t, y.t);
  expect_same(x.A, y.A);
  expect_same(x.B, y.B);
  expect_same(x.C, y.C);
  expect_same(x.D, y.D);
  expect_same(x.x0, y.x0);
  expect_same(x.u0, y.u0);
  expect_same(x.y0, y.y0);
  expect_same(x.range, y.range);
  expect_same(x.range_inputs, y.range_inputs);
  EXPECT_EQ(x.states, y.states);
  EXPECT_EQ(x.range_names, y.range_names);
  ASSERT_EQ(x.inputs.size(), y.inputs.size());
  for (size_t i = 0; i < x.inputs.size(); ++i) {
    EXPECT_EQ(x.inputs[i].name, y.inputs[i].name);
    EXPECT_EQ(x.inputs[i].unit, y.inputs[i].unit);
    EXPECT_EQ(x.inputs[i].is_load, y.inputs[i].is_load);
    expect_same(x.inputs[i].direction, y.inputs[i].direction);
  }
  ASSERT_EQ(x.outputs.size(), y.outputs.size());
  for (size_t i = 0; i < x.outputs.size(); ++i) {
    EXPECT_EQ(x.outputs[i].name, y.outputs[i].name);
    EXPECT_EQ(si_unit(x.outputs[i]), si_unit(y.outputs[i]));
  }
  const LinearReduction &r = x.reduction, &s = y.reduction;
  EXPECT_EQ(r.truncation, s.truncation);
  EXPECT_EQ(r.statics, s.statics);
  EXPECT_EQ(r.source_order, s.source_order);
  EXPECT_EQ(r.kept_exactly, s.kept_exactly);
  EXPECT_EQ(r.zero_below, s.zero_below);
  expect_same(r.hankel, s.hankel);
  expect_same(r.bound, s.bound);
  expect_same(r.error, s.error);
  expect_same(r.error_frequency, s.error_frequency);
  expect_same(r.grid_from, s.grid_from);
  expect_same(r.grid_to, s.grid_to);
  expect_same(r.input_scale, s.input_scale);
  expect_same(r.output_scale, s.output_scale);
}

std::string linear_refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  try {
    read_linear_file(path, diagnostics);
  } catch (const InputError& e) {
    return e.what();
  }
  return "it was read";
}

TEST(LinearFile, ComesBackBitByBit) {
  const TemporaryFolder folder;
  LinearFile file = sample_linear_model();
  write_linear_file(folder / "a.rom.h5", file);
  Diagnostics diagnostics;
  expect_equal_models(read_linear_file(folder / "a.rom.h5", diagnostics), file);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_TRUE(is_rom_file(folder / "a.rom.h5"));
  EXPECT_TRUE(is_linear_file(folder / "a.rom.h5"));
  EXPECT_FALSE(is_pod_file(folder / "a.rom.h5"));
  EXPECT_FALSE(is_linear_file(folder / "none.rom.h5"));
  // no bound is known of modes by frequency
  file.model.reduction.bound = std::numeric_limits<double>::quiet_NaN();
  write_linear_file(folder / "a.rom.h5", file);
  EXPECT_TRUE(std::isnan(read_linear_file(folder / "a.rom.h5", diagnostics).model.reduction.bound));
}

TEST(LinearFile, AModelWithoutInputsOutputsOrStatesComesBackToo) {
  const TemporaryFolder folder;
  LinearFile file;
  file.study = "title = \"nothing\"\n";
  LinearModel& model = file.model;
  model.A.resize(0, 0);
  model.B.resize(0, 0);
  model.C.resize(0, 0);
  model.D.resize(0, 0);
  model.range.resize(0, 0);
  model.range_inputs.resize(0, 0);
  ASSERT_EQ(inconsistency_of(model), "");
  write_linear_file(folder / "a.rom.h5", file);
  Diagnostics diagnostics;
  expect_equal_models(read_linear_file(folder / "a.rom.h5", diagnostics), file);
}

TEST(LinearFile, EveryDatasetIsInTheReferencePage) {
  const TemporaryFolder folder;
  write_linear_file(folder / "a.rom.h5", sample_linear_model());
  // the study, eight of the model, five of inputs, three of outputs, three of the range, one of the reduction
  EXPECT_EQ(test::expect_datasets_documented(folder / "a.rom.h5", test::reference_page("rom-file")),
            1 + 8 + 5 + 3 + 3 + 1);
}

TEST(LinearFile, IsNotTakenForAModelOfAnotherKind) {
  const TemporaryFolder folder;
  write_linear_file(folder / "a.rom.h5", sample_linear_model());
  Diagnostics diagnostics;
  try {
    read_rom_file(folder / "a.rom.h5", diagnostics);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("of kind 'linear'"), std::string::npos) << e.what();
  }
  EXPECT_THROW(read_pod_file(folder / "a.rom.h5", diagnostics), InputError);
}

TEST(LinearFile, WhatDoesNotFitTogetherIsNotWritten) {
  const TemporaryFolder folder;
  const auto expect_refused = [&](const std::function<void(LinearModel&)>& change,
                                  const std::string& message) {
    LinearFile file = sample_linear_model();
    change(file.model);
    EXPECT_NE(inconsistency_of(file.model).find(message), std::string::npos) << inconsistency_of(file.model);
    EXPECT_THROW(write_linear_file(folder / "b.rom.h5", file), Error);
    EXPECT_FALSE(std::filesystem::exists(folder / "b.rom.h5"));
  };
  expect_refused([](LinearModel& m) { m.B.resize(5, 3); }, "B is 5 by 3, expected 5 by 2");
  expect_refused([](LinearModel& m) { m.A(2, 1) = std::nan(""); }, "A has a number that is not finite");
  expect_refused([](LinearModel& m) { m.states.pop_back(); }, "4 states are named, and A has 5 rows");
  expect_refused([](LinearModel& m) { m.inputs[1].name = "push"; }, "two inputs are called 'push'");
  expect_refused([](LinearModel& m) { m.reduction.source_order = 4; }, "what it was made of 4");
}

TEST(LinearFile, TruncatedAndDamagedFilesAreRefused) {
  const TemporaryFolder folder;
  const LinearFile file = sample_linear_model();
  write_linear_file(folder / "a.rom.h5", file);
  test::expect_truncations_refused(folder, folder / "a.rom.h5", 997, linear_refusal);
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "a.rom.h5", 101, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        expect_equal_models(read_linear_file(path, diagnostics), file);
      });
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace lissom::linear_file_test
