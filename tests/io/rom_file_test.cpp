#include "lissom/io/rom_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <Eigen/Geometry>

#include <functional>
#include <limits>
#include <random>

#include "lissom/core/text.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/packages.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::rom_file_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_same;

constexpr int m = 3;

MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols) {
  static std::mt19937 random(5);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

// Every member has a value of its own; one part has nodes and damping, the other none.
RomFile sample_rom() {
  RomFile rom;
  SlapModel& model = rom.model;
  model.title = "four-bar, \"ramped\" \xC3\xA4";
  for (const int rank : {4, 7}) {
    SlapPart part;
    part.name = rank == 4 ? "left/bar" : "top.bar";
    part.mass = rank / 3.0;
    const MatrixXd X = random_matrix(3, 8);
    part.S0 = X * X.transpose();
    part.A = random_matrix(9, m + 1);
    part.C = random_matrix(rank, 9 * (m + 2));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) part.C.col(3 * i + j) = part.C.col(3 * j + i);
    if (rank == 4) {
      part.C_damping = random_matrix(2, 9 * (m + 2));
      part.placed = SlapPose{random_matrix(3, 1), Eigen::AngleAxisd(1.2, Eigen::Vector3d::UnitY()).matrix()};
      part.node_ids = {3, 1, 4'000'000'000, 15, 9};
      part.fields = random_matrix(5, 2);
      part.coefficients = random_matrix(6, m + 1);
      part.points = random_matrix(3, 5);
      part.stress_modes.strain = std::make_shared<MatrixXd>(random_matrix(30, 6));
      part.stress_modes.stress = std::make_shared<MatrixXd>(random_matrix(30, 6));
    }
    model.parts.push_back(part);
  }
  for (int i = 0; i < 3; ++i) {
    SlapFrame frame;
    frame.name = i == 0 ? "node 17" : fmt::format("end {}", i);
    frame.part = i / 2;
    frame.position = random_matrix(3, m + 1);
    if (i > 0) frame.moment = random_matrix(9, m + 1);
    frame.arm = random_matrix(3, 1);
    frame.axes = random_matrix(3, 3);
    frame.rest = random_matrix(3, 1);
    if (i == 1) frame.node_ids = {15, 3, 4'000'000'000};
    model.frames.push_back(frame);
  }
  const MatrixXd L = random_matrix(m, m);
  model.M = L * L.transpose() + MatrixXd::Identity(m, m);
  model.mass_damping = 1.0 / 7;
  model.centre = random_matrix(3, m + 1);
  model.angular = random_matrix(3, (m + 1) * (m + 1));
  model.start = random_matrix(m, 1);
  model.start_rate = random_matrix(m, 1);
  model.start_rate[1] = -0.0;
  model.scale = random_matrix(m, 1).cwiseAbs();
  model.radius = 1.0 / 3;
  model.training.samples = random_matrix(m, 6);
  model.training.spread = random_matrix(m, 1).cwiseAbs();
  model.training.reach = 0.1;
  model.accuracy = {0.7, 1.0 / 9, 1.0 / 11, true};
  SlapPolynomial& form = model.polynomial.emplace();
  form.S = random_matrix(5, 10);
  form.S_damping = random_matrix(2, 10);
  form.cut = 1e-6 / 3;
  form.strain = random_matrix(2, 1).cwiseAbs();
  form.misfit = random_matrix(2, 1).cwiseAbs();
  form.axes_misfit = 1.0 / 13;
  form.row_error = 1.0 / 17;
  form.displacement = 1.0 / 19;
  model.frames[2].linear_axes = random_matrix(9, m + 1);
  model.polynomial_why = "a polynomial of 5 rows";
  rom.study = "title = \"x\"\n# and so on\n";
  rom.study_path = "/somewhere/study.toml";
  rom.case_name = "sudden";
  rom.singular_values = random_matrix(9, 1);
  rom.joint_violation = random_matrix(9, 1);
  rom.frequencies_hz = random_matrix(m, 1);
  rom.why = "the smallest order without spurious modes";
  return rom;
}

void expect_same_rom(const RomFile& a, const RomFile& b) {
  const SlapModel &x = a.model, &y = b.model;
  EXPECT_EQ(x.title, y.title);
  ASSERT_EQ(x.parts.size(), y.parts.size());
  for (size_t i = 0; i < x.parts.size(); ++i) {
    EXPECT_EQ(x.parts[i].name, y.parts[i].name);
    expect_same(x.parts[i].mass, y.parts[i].mass);
    expect_same(x.parts[i].S0, y.parts[i].S0);
    expect_same(x.parts[i].A, y.parts[i].A);
    expect_same(x.parts[i].C, y.parts[i].C);
    expect_same(x.parts[i].C_damping, y.parts[i].C_damping);
    ASSERT_EQ(x.parts[i].placed.has_value(), y.parts[i].placed.has_value());
    if (x.parts[i].placed) {
      expect_same(x.parts[i].placed->position, y.parts[i].placed->position);
      expect_same(x.parts[i].placed->rotation, y.parts[i].placed->rotation);
    }
    EXPECT_EQ(x.parts[i].node_ids, y.parts[i].node_ids);
    expect_same(x.parts[i].fields, y.parts[i].fields);
    expect_same(x.parts[i].coefficients, y.parts[i].coefficients);
    expect_same(x.parts[i].points, y.parts[i].points);
    const StressModes &s = x.parts[i].stress_modes, &t = y.parts[i].stress_modes;
    ASSERT_EQ(s.strain != nullptr, t.strain != nullptr);
    ASSERT_EQ(s.stress != nullptr, t.stress != nullptr);
    if (s.strain) expect_same(*s.strain, *t.strain);
    if (s.stress) expect_same(*s.stress, *t.stress);
  }
  ASSERT_EQ(x.frames.size(), y.frames.size());
  for (size_t i = 0; i < x.frames.size(); ++i) {
    EXPECT_EQ(x.frames[i].name, y.frames[i].name);
    EXPECT_EQ(x.frames[i].part, y.frames[i].part);
    EXPECT_EQ(x.frames[i].rotates(), y.frames[i].rotates());
    expect_same(x.frames[i].position, y.frames[i].position);
    expect_same(x.frames[i].moment, y.frames[i].moment);
    expect_same(x.frames[i].arm, y.frames[i].arm);
    expect_same(x.frames[i].axes, y.frames[i].axes);
    expect_same(x.frames[i].rest, y.frames[i].rest);
    EXPECT_EQ(x.frames[i].node_ids, y.frames[i].node_ids);
  }
  expect_same(x.M, y.M);
  expect_same(x.mass_damping, y.mass_damping);
  expect_same(x.centre, y.centre);
  expect_same(x.angular, y.angular);
  expect_same(x.start, y.start);
  expect_same(x.start_rate, y.start_rate);
  expect_same(x.scale, y.scale);
  expect_same(x.radius, y.radius);
  expect_same(x.training.samples, y.training.samples);
  expect_same(x.training.spread, y.training.spread);
  expect_same(x.training.reach, y.training.reach);
  expect_same(x.accuracy.motion, y.accuracy.motion);
  expect_same(x.accuracy.largest_error, y.accuracy.largest_error);
  expect_same(x.accuracy.rms_error, y.accuracy.rms_error);
  EXPECT_EQ(x.accuracy.failed, y.accuracy.failed);
  ASSERT_EQ(x.polynomial.has_value(), y.polynomial.has_value());
  if (x.polynomial) {
    expect_same(x.polynomial->S, y.polynomial->S);
    expect_same(x.polynomial->S_damping, y.polynomial->S_damping);
    expect_same(x.polynomial->cut, y.polynomial->cut);
    expect_same(x.polynomial->strain, y.polynomial->strain);
    expect_same(x.polynomial->misfit, y.polynomial->misfit);
    expect_same(x.polynomial->axes_misfit, y.polynomial->axes_misfit);
    expect_same(x.polynomial->row_error, y.polynomial->row_error);
    expect_same(x.polynomial->displacement, y.polynomial->displacement);
  }
  for (size_t i = 0; i < x.frames.size(); ++i) expect_same(x.frames[i].linear_axes, y.frames[i].linear_axes);
  EXPECT_EQ(x.polynomial_why, y.polynomial_why);
  EXPECT_EQ(a.study, b.study);
  EXPECT_EQ(a.study_path, b.study_path);
  EXPECT_EQ(a.case_name, b.case_name);
  expect_same(a.singular_values, b.singular_values);
  expect_same(a.joint_violation, b.joint_violation);
  expect_same(a.frequencies_hz, b.frequencies_hz);
  EXPECT_EQ(a.why, b.why);
}

RomFile read(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  RomFile rom = read_rom_file(path, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return rom;
}

std::string refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { read_rom_file(path, diagnostics); });
}

// Changes an HDF5 file in place.
void edit(const std::filesystem::path& path, const std::function<void(hid_t)>& change) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  change(file);
  H5Fclose(file);
}
void set_attribute(hid_t file, const char* name, std::int64_t value) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT64, &value);
  H5Aclose(attribute);
}

TEST(RomFile, EverythingComesBackBitByBit) {
  const TemporaryFolder folder;
  const RomFile rom = sample_rom();
  ASSERT_EQ(inconsistency_of(rom.model), "");
  write_rom_file(folder / "a.rom.h5", rom);
  const RomFile back = read(folder / "a.rom.h5");
  expect_same_rom(rom, back);
  EXPECT_EQ(back.lissom_version, LISSOM_VERSION);
  EXPECT_EQ(folder.names().size(), 1);
  EXPECT_TRUE(is_rom_file(folder / "a.rom.h5"));
  EXPECT_FALSE(is_reduced_body_file(folder / "a.rom.h5"));
  EXPECT_FALSE(is_rom_file(folder / "b.rom.h5"));
}

TEST(RomFile, WhatAModelDoesNotHaveIsNotThere) {
  const TemporaryFolder folder;
  RomFile rom = sample_rom();
  rom.model.frames.clear();
  rom.model.training = {};
  rom.model.polynomial.reset();
  rom.model.polynomial_why.clear();
  rom.model.parts.erase(rom.model.parts.begin());
  rom.study = rom.study_path = rom.case_name = rom.why = rom.model.title = "";
  rom.singular_values.resize(0);
  rom.joint_violation.resize(0);
  rom.frequencies_hz.resize(0);
  ASSERT_EQ(inconsistency_of(rom.model), "");
  write_rom_file(folder / "a.rom.h5", rom);
  expect_same_rom(rom, read(folder / "a.rom.h5"));
}

TEST(RomFile, EveryDatasetIsInTheReferencePage) {
  const TemporaryFolder folder;
  const RomFile rom = sample_rom();
  write_rom_file(folder / "a.rom.h5", rom);
  const std::string page = test::reference_page("rom-file");
  // parts are numbered, and the page calls the number P
  std::string all = page;
  for (const char* number : {"0", "1"}) {
    std::string one = page;
    for (size_t at; (at = one.find("/parts/P/")) != std::string::npos;) one.replace(at + 7, 1, number);
    all += one;
  }
  EXPECT_EQ(test::expect_datasets_documented(folder / "a.rom.h5", all), 45);
  // the page's positions are those of slap_model.hpp: x = (fields (x) I_3) coefficients e
  const SlapPart& part = rom.model.parts[0];
  VectorXd e(m + 1);
  e << 1, rom.model.start;
  const VectorXd y = part.coefficients * e;
  double x = 0;
  for (int a = 0; a < part.fields.cols(); ++a) x += part.fields(4, a) * y[3 * a + 1];
  // sums of a few products of numbers about one
  const auto missing = test::run_python_of_page(
      folder, page,
      fmt::format("assert eta.shape == (3,) and x.shape == (5, 3)\nassert abs(x[4, 1] - ({})) < 1e-13\n", x));
  EXPECT_FALSE(missing) << "a module of Python" << test::install_hint << *missing;
}

TEST(RomFile, TruncatedAndChangedFilesAreRefusedOrHarmless) {
  const TemporaryFolder folder;
  const RomFile rom = sample_rom();
  write_rom_file(folder / "a.rom.h5", rom);
  test::expect_truncations_refused(folder, folder / "a.rom.h5", 997, refusal);
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "a.rom.h5", 131, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        expect_same_rom(rom, read_rom_file(path, diagnostics));
      });
  EXPECT_GT(refused, 10);
}

TEST(RomFile, OtherAndNewerFilesAreRefused) {
  const TemporaryFolder folder;
  folder.write("text.rom.h5", "no HDF5");
  EXPECT_NE(refusal(folder / "text.rom.h5").find("text.rom.h5: "), std::string::npos);
  EXPECT_NE(refusal(folder / "none.rom.h5").find("none.rom.h5"), std::string::npos);
  write_rom_file(folder / "a.rom.h5", sample_rom());
  edit(folder / "a.rom.h5", [](hid_t file) { set_attribute(file, "schema_version", rom_file_version + 1); });
  EXPECT_NE(refusal(folder / "a.rom.h5").find(fmt::format("has schema version {}", rom_file_version + 1)),
            std::string::npos)
      << refusal(folder / "a.rom.h5");
  Diagnostics diagnostics;
  const std::string message =
      message_of<InputError>([&] { read_reduced_body_file(folder / "a.rom.h5", diagnostics); });
  EXPECT_NE(message.find("it is a reduced mechanism"), std::string::npos) << message;
}

TEST(RomFile, SizesThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const char* attribute, std::int64_t value) {
    write_rom_file(folder / "a.rom.h5", sample_rom());
    edit(folder / "a.rom.h5", [&](hid_t file) { set_attribute(file, attribute, value); });
    return refusal(folder / "a.rom.h5");
  };
  EXPECT_NE(refused("order", 4).find("expected the shape (4, 4), found (3, 3)"), std::string::npos);
  EXPECT_NE(refused("order", 1'000'000'000).find("make no sense"), std::string::npos);
  EXPECT_NE(refused("parts", 3).find("/parts/2"), std::string::npos) << refused("parts", 3);
  EXPECT_NE(refused("parts", 1).find("the index 1 is outside 0 .. 0"), std::string::npos);
  RomFile rom = sample_rom();
  rom.model.M(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of<Error>([&] { write_rom_file(folder / "b.rom.h5", rom); }).find("cannot be written"),
            std::string::npos);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.rom.h5"}));
}

// Files of before the polynomial: without the group and the sentence that says why it is there.
TEST(RomFile, FilesFromBeforeThePolynomialRunOnTheExactKernel) {
  const TemporaryFolder folder;
  RomFile rom = sample_rom();
  write_rom_file(folder / "a.rom.h5", rom);
  edit(folder / "a.rom.h5", [](hid_t file) {
    H5Ldelete(file, "polynomial", H5P_DEFAULT);
    H5Ldelete(file, "training/form", H5P_DEFAULT);
    set_attribute(file, "schema_version", 3);
  });
  rom.model = without_polynomial(rom.model);
  rom.model.polynomial_why.clear();
  expect_same_rom(rom, read(folder / "a.rom.h5"));
}

TEST(RomFile, APolynomialThatDoesNotFitIsRefusedByName) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::function<void(hid_t)>& change) {
    write_rom_file(folder / "a.rom.h5", sample_rom());
    edit(folder / "a.rom.h5", change);
    return refusal(folder / "a.rom.h5");
  };
  const auto gone = [&](const char* name) {
    return refused([&](hid_t file) { H5Ldelete(file, name, H5P_DEFAULT); });
  };
  EXPECT_NE(gone("polynomial/S").find("/polynomial/S"), std::string::npos) << gone("polynomial/S");
  EXPECT_NE(gone("polynomial/axes").find("/polynomial/axes"), std::string::npos) << gone("polynomial/axes");
  EXPECT_NE(gone("polynomial/S_damping").find("parts are damped and the polynomial is not"),
            std::string::npos)
      << gone("polynomial/S_damping");
  // the strain in place of S: of another shape
  const std::string shape = refused([](hid_t file) {
    H5Ldelete(file, "polynomial/S", H5P_DEFAULT);
    H5Lcopy(file, "polynomial/strain", file, "polynomial/S", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_NE(shape.find("/polynomial/S"), std::string::npos) << shape;
  RomFile rom = sample_rom();
  rom.model.polynomial->S(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_NE(message_of<Error>([&] {
              write_rom_file(folder / "b.rom.h5", rom);
            }).find("the polynomial's S has a number that is not finite"),
            std::string::npos);
}

TEST(RomFile, UnknownEntriesAreWarnings) {
  const TemporaryFolder folder;
  const RomFile rom = sample_rom();
  write_rom_file(folder / "a.rom.h5", rom);
  edit(folder / "a.rom.h5",
       [](hid_t file) { H5Gclose(H5Gcreate2(file, "colours", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); });
  Diagnostics diagnostics;
  expect_same_rom(rom, read_rom_file(folder / "a.rom.h5", diagnostics));
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(diagnostics.warnings()[0].key, "rom-file.unknown-entry");
}

}  // namespace
}  // namespace lissom::rom_file_test
