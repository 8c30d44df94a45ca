#include "lissom/io/reduced_body_file.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>
#include <limits>
#include <random>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/body_file.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/packages.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::reduced_body_file_test {
namespace {

using test::expect_same;

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int N = 9, n = 4;

MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols) {
  static std::mt19937 random(3);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); });
}

// Every member has a value of its own.
ReducedBody sample_body() {
  ReducedBody body;
  body.name = "rod/\"<&>\" Stange \xC3\xA4";
  body.source = "rod.inp";
  body.basis = "craig-bampton";
  body.mass_kind = "consistent";
  const CoordinateKind kinds[] = {CoordinateKind::FixedInterface, CoordinateKind::Residual,
                                  CoordinateKind::Attachment, CoordinateKind::Constraint,
                                  CoordinateKind::FreeInterface};
  for (int i = 0; i < N; ++i) {
    ReducedCoordinate coordinate;
    coordinate.kind = kinds[i % 5];
    coordinate.interface = i % 3 - 1;
    coordinate.node_id = 5'000'000'000 + i;
    coordinate.direction = i % 7 - 1;
    coordinate.frequency_hz = 100.0 / (i + 1);
    if (i % 2 == 0) coordinate.effective_mass = random_matrix(6, 1);
    body.coordinates.push_back(coordinate);
  }
  body.interfaces.resize(2);
  body.interfaces[0] = {"left", {17},     {0.1, -0.0, 3}, random_matrix(3, 3), random_matrix(6, N),
                        true,   {3, 4, 5}};
  body.interfaces[1] = {"", {}, {1, 2, 5e-324}, random_matrix(3, 3), random_matrix(6, N), false, {}};
  body.M = random_matrix(N, N);
  body.K = random_matrix(N, N) * 1e9;
  body.D = random_matrix(N, N);
  body.damping = DampingRamp{0.01, 1000, 5000.0 / 3, 0.9};
  body.eigenvalues = random_matrix(N, 1);
  body.eigenvectors = random_matrix(N, N);
  body.rigid_count = 2;
  body.range = 3;
  body.errors.method = "certified";
  body.errors.tolerance = 1.0 / 3;
  body.errors.certified = true;
  body.errors.modes.resize(3);
  body.errors.modes[0] = {1e6, std::numeric_limits<double>::infinity(), 1e-3, unknown_error, 2e-3, 0.1};
  body.errors.modes[1] = {2e6, 0.01, unknown_error, 1e-9, unknown_error, unknown_error};
  body.points = random_matrix(3, n);
  body.node_ids = {1, 7, 8'000'000'000, 17};
  body.modes = random_matrix(3 * n, N);
  body.strain_modes = random_matrix(6 * n, N);
  body.stress_modes = random_matrix(6 * n, N) * 1e8;
  body.inertia.mass = 7.7;
  body.inertia.first_moment = random_matrix(3, 1);
  body.inertia.second_moment = random_matrix(3, 3);
  body.inertia.translation = random_matrix(3, N);
  for (auto& block : body.inertia.position) block = random_matrix(3, N);
  for (auto& block : body.inertia.deformation) block = random_matrix(N, N);
  return body;
}

void expect_same_damping(const Damping& a, const Damping& b) {
  ASSERT_EQ(a.index(), b.index());
  if (const auto* x = std::get_if<UniformDamping>(&a)) {
    EXPECT_EQ(x->ratio, std::get<UniformDamping>(b).ratio);
  } else if (const auto* list = std::get_if<RatioPerMode>(&a)) {
    EXPECT_EQ(list->ratios, std::get<RatioPerMode>(b).ratios);
  } else if (const auto* rayleigh = std::get_if<RayleighDamping>(&a)) {
    EXPECT_EQ(rayleigh->alpha, std::get<RayleighDamping>(b).alpha);
    EXPECT_EQ(rayleigh->beta, std::get<RayleighDamping>(b).beta);
  } else if (const auto* table = std::get_if<DampingTable>(&a)) {
    EXPECT_EQ(table->frequency_hz, std::get<DampingTable>(b).frequency_hz);
    EXPECT_EQ(table->ratio, std::get<DampingTable>(b).ratio);
    EXPECT_EQ(table->source, std::get<DampingTable>(b).source);
  } else if (const auto* ramp = std::get_if<DampingRamp>(&a)) {
    EXPECT_EQ(std::memcmp(ramp, &std::get<DampingRamp>(b), sizeof(DampingRamp)), 0);
  }
}

void expect_same_body(const ReducedBody& a, const ReducedBody& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.basis, b.basis);
  EXPECT_EQ(a.mass_kind, b.mass_kind);
  ASSERT_EQ(a.size(), b.size());
  for (int i = 0; i < a.size(); ++i) {
    const ReducedCoordinate &c = a.coordinates[i], &d = b.coordinates[i];
    EXPECT_EQ(c.kind, d.kind);
    EXPECT_EQ(c.interface, d.interface);
    EXPECT_EQ(c.node_id, d.node_id);
    EXPECT_EQ(c.direction, d.direction);
    expect_same(c.frequency_hz, d.frequency_hz);
    expect_same(c.effective_mass, d.effective_mass);
  }
  ASSERT_EQ(a.interfaces.size(), b.interfaces.size());
  for (size_t i = 0; i < a.interfaces.size(); ++i) {
    EXPECT_EQ(a.interfaces[i].name, b.interfaces[i].name);
    EXPECT_EQ(a.interfaces[i].node_ids, b.interfaces[i].node_ids);
    EXPECT_EQ(a.interfaces[i].coordinates, b.interfaces[i].coordinates);
    expect_same(a.interfaces[i].origin, b.interfaces[i].origin);
    expect_same(a.interfaces[i].axes, b.interfaces[i].axes);
    expect_same(a.interfaces[i].motion, b.interfaces[i].motion);
    EXPECT_EQ(a.interfaces[i].rotates, b.interfaces[i].rotates);
  }
  expect_same(a.M, b.M);
  expect_same(a.K, b.K);
  expect_same(a.D, b.D);
  expect_same_damping(a.damping, b.damping);
  expect_same(a.eigenvalues, b.eigenvalues);
  expect_same(a.eigenvectors, b.eigenvectors);
  EXPECT_EQ(a.rigid_count, b.rigid_count);
  EXPECT_EQ(a.range, b.range);
  EXPECT_EQ(a.errors.method, b.errors.method);
  expect_same(a.errors.tolerance, b.errors.tolerance);
  EXPECT_EQ(a.errors.certified, b.errors.certified);
  ASSERT_EQ(a.errors.modes.size(), b.errors.modes.size());
  for (size_t i = 0; i < a.errors.modes.size(); ++i)
    for (const auto member : {&ModeError::eigenvalue, &ModeError::bound, &ModeError::zeta_2,
                              &ModeError::lower_estimate, &ModeError::paper_estimate, &ModeError::exact})
      expect_same(a.errors.modes[i].*member, b.errors.modes[i].*member);
  expect_same(a.points, b.points);
  EXPECT_EQ(a.node_ids, b.node_ids);
  expect_same(a.modes, b.modes);
  expect_same(a.strain_modes, b.strain_modes);
  expect_same(a.stress_modes, b.stress_modes);
  expect_same(a.inertia.mass, b.inertia.mass);
  expect_same(a.inertia.first_moment, b.inertia.first_moment);
  expect_same(a.inertia.second_moment, b.inertia.second_moment);
  expect_same(a.inertia.translation, b.inertia.translation);
  for (int i = 0; i < 3; ++i) expect_same(a.inertia.position[i], b.inertia.position[i]);
  for (int i = 0; i < 9; ++i) expect_same(a.inertia.deformation[i], b.inertia.deformation[i]);
}

ReducedBodyFile read(const std::filesystem::path& path, const ReducedBodyParts& parts = {}) {
  Diagnostics diagnostics;
  ReducedBodyFile file = read_reduced_body_file(path, diagnostics, parts);
  EXPECT_TRUE(diagnostics.empty());
  return file;
}

std::string refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] { read_reduced_body_file(path, diagnostics); });
}

// Changes an HDF5 file in place.
void edit(const std::filesystem::path& path, const std::function<void(hid_t)>& change) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  change(file);
  H5Fclose(file);
}
template <class T>
void overwrite_first(hid_t file, const char* name, hid_t type, T value) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<T> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
  ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
  values.at(0) = value;
  ASSERT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
  H5Sclose(space);
  H5Dclose(dataset);
}

TEST(ReducedBodyFile, EverythingComesBackBitByBit) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  ASSERT_EQ(inconsistency_of(body), "");
  const std::vector<std::string> provenance = {"reduced on a Sunday", "", "tolerance 0.1 %"};
  write_reduced_body_file(folder / "a.h5", body, provenance);
  const ReducedBodyFile back = read(folder / "a.h5");
  expect_same_body(body, back.body);
  EXPECT_EQ(back.provenance, provenance);
  EXPECT_EQ(back.lissom_version, LISSOM_VERSION);
  EXPECT_EQ(folder.names().size(), 1);
  EXPECT_TRUE(is_reduced_body_file(folder / "a.h5"));
  EXPECT_FALSE(is_body_file(folder / "a.h5"));
  EXPECT_FALSE(is_reduced_body_file(folder / "b.h5"));
}

GcmsModel sample_gcms() {
  GcmsModel gcms;
  gcms.mass = 1.0 / 3;
  gcms.centre = Eigen::Vector3d(0.1, -0.2, 1.0 / 7);
  gcms.T = Eigen::Matrix3d::Random();
  gcms.points = Eigen::Matrix3Xd::Random(3, 5);
  gcms.node_ids = {3, 1, 4, 15, 9};
  gcms.S = Eigen::MatrixXd::Random(5, 6);
  gcms.K_hat = Eigen::MatrixXd::Random(18, 18);
  gcms.P = Eigen::MatrixXd::Random(2, 18);
  gcms.Xi = Eigen::MatrixXd::Random(7, 2);
  gcms.D_modal = Eigen::MatrixXd::Random(2, 2);
  for (const char* name : {"bore", "a node"}) {
    GcmsFrame frame;
    frame.name = name;
    frame.origin = Eigen::Vector3d::Random();
    frame.axes = Eigen::Matrix3d::Random();
    frame.mean = Eigen::Vector3d::Random();
    frame.position = Eigen::VectorXd::Random(6);
    if (frame.name == "bore") frame.moment = Eigen::MatrixXd::Random(3, 6);
    gcms.frames.push_back(frame);
  }
  return gcms;
}

TEST(ReducedBodyFile, ComponentModesComeBackBitByBit) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  GcmsModel gcms = sample_gcms();
  for (const bool damped : {true, false}) {
    if (!damped) gcms.D_modal.resize(0, 0);
    write_reduced_body_file(folder / "a.h5", body, {}, &gcms);
    const ReducedBodyFile back = read(folder / "a.h5");
    expect_same_body(body, back.body);
    expect_same(gcms.mass, back.gcms.mass);
    expect_same(gcms.centre, back.gcms.centre);
    expect_same(gcms.T, back.gcms.T);
    expect_same(gcms.points, back.gcms.points);
    EXPECT_EQ(gcms.node_ids, back.gcms.node_ids);
    expect_same(gcms.S, back.gcms.S);
    expect_same(gcms.K_hat, back.gcms.K_hat);
    expect_same(gcms.P, back.gcms.P);
    expect_same(gcms.Xi, back.gcms.Xi);
    expect_same(gcms.D_modal, back.gcms.D_modal);
    ASSERT_EQ(gcms.frames.size(), back.gcms.frames.size());
    for (size_t i = 0; i < gcms.frames.size(); ++i) {
      const GcmsFrame &a = gcms.frames[i], &b = back.gcms.frames[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.rotates(), b.rotates());
      expect_same(a.origin, b.origin);
      expect_same(a.axes, b.axes);
      expect_same(a.mean, b.mean);
      expect_same(a.position, b.position);
      expect_same(a.moment, b.moment);
    }
  }
  test::expect_datasets_documented(folder / "a.h5", test::reference_page("reduced-body-file"));
  EXPECT_TRUE((write_reduced_body_file(folder / "a.h5", body), read(folder / "a.h5").gcms.empty()));
}

TEST(ReducedBodyFile, ComponentModesThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  GcmsModel gcms = sample_gcms();
  write_reduced_body_file(folder / "a.h5", sample_body(), {}, &gcms);
  edit(folder / "a.h5", [](hid_t file) { overwrite_first<double>(file, "gcms/S", H5T_NATIVE_DOUBLE, NAN); });
  EXPECT_NE(refusal(folder / "a.h5").find("not finite; the file is damaged"), std::string::npos);
  gcms.K_hat.resize(3, 3);
  const std::string message =
      message_of<Error>([&] { write_reduced_body_file(folder / "b.h5", sample_body(), {}, &gcms); });
  EXPECT_NE(message.find("the stiffness does not fit the fields"), std::string::npos) << message;
}

TEST(ReducedBodyFile, VersionOneIsStillRead) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  write_reduced_body_file(folder / "a.h5", body);
  edit(folder / "a.h5", [](hid_t file) {
    const hid_t attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
    const std::int64_t version = 1;
    H5Awrite(attribute, H5T_NATIVE_INT64, &version);
    H5Aclose(attribute);
  });
  const ReducedBodyFile back = read(folder / "a.h5");
  expect_same_body(body, back.body);
  EXPECT_TRUE(back.gcms.empty());
}

TEST(ReducedBodyFile, EveryKindOfDampingComesBack) {
  const TemporaryFolder folder;
  ReducedBody body = sample_body();
  for (const Damping& damping :
       {Damping(), Damping(UniformDamping{1.0 / 3}), Damping(RatioPerMode{{0.01, 1.0 / 3}}),
        Damping(RayleighDamping{1.0 / 3, 1e-7}), Damping(DampingTable{{1, 20.0 / 3}, {0.01, 0.02}, "z.csv"}),
        Damping(DampingRamp{0.01, 10, 20, 1})}) {
    body.damping = damping;
    write_reduced_body_file(folder / "a.h5", body);
    expect_same_body(body, read(folder / "a.h5").body);
  }
}

TEST(ReducedBodyFile, WhatWasNotComputedIsNotThere) {
  const TemporaryFolder folder;
  ReducedBody body = sample_body();
  body.damping = {};
  body.D.resize(0, 0);
  body.strain_modes.resize(0, 0);
  body.stress_modes.resize(0, 0);
  body.inertia = {};
  body.errors = {};
  body.interfaces.clear();
  for (ReducedCoordinate& coordinate : body.coordinates) coordinate.interface = -1;
  write_reduced_body_file(folder / "a.h5", body);
  const ReducedBody back = read(folder / "a.h5").body;
  expect_same_body(body, back);
  EXPECT_TRUE(back.inertia.empty());
  // nor any node
  body.points.resize(3, 0);
  body.node_ids.clear();
  body.modes.resize(0, N);
  write_reduced_body_file(folder / "a.h5", body);
  expect_same_body(body, read(folder / "a.h5").body);
}

TEST(ReducedBodyFile, StrainAndStressModesCanBeLeftOut) {
  const TemporaryFolder folder;
  ReducedBody body = sample_body();
  write_reduced_body_file(folder / "a.h5", body);
  const ReducedBody full = body;
  body.strain_modes.resize(0, 0);
  expect_same_body(body, read(folder / "a.h5", {.strain_modes = false}).body);
  body.stress_modes.resize(0, 0);
  expect_same_body(body, read(folder / "a.h5", {.strain_modes = false, .stress_modes = false}).body);
  body.strain_modes = full.strain_modes;
  expect_same_body(body, read(folder / "a.h5", {.stress_modes = false}).body);
  // nor are they read: a NaN in them, which is refused otherwise, stays unseen
  edit(folder / "a.h5",
       [](hid_t file) { overwrite_first<double>(file, "nodes/stress_modes", H5T_NATIVE_DOUBLE, NAN); });
  EXPECT_NE(refusal(folder / "a.h5").find("the matrix of stress modes holds a number that is not finite"),
            std::string::npos)
      << refusal(folder / "a.h5");
  expect_same_body(body, read(folder / "a.h5", {.stress_modes = false}).body);
}

TEST(ReducedBodyFile, ANewerVersionIsRefusedAndAnUnknownEntryIsAWarning) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  const ReducedBody body = sample_body();
  write_reduced_body_file(path, body);
  edit(path, [](hid_t file) { H5Gclose(H5Gcreate2(file, "notes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); });
  Diagnostics diagnostics;
  expect_same_body(body, read_reduced_body_file(path, diagnostics).body);
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(to_string(diagnostics.warnings().front()),
            path + ": the entry 'notes' is not known and was left out");
  edit(path, [](hid_t file) {
    const hid_t attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
    const std::int64_t version = 3;
    H5Awrite(attribute, H5T_NATIVE_INT64, &version);
    H5Aclose(attribute);
  });
  EXPECT_EQ(refusal(path), path + ": has schema version 3 (written by Lissom " LISSOM_VERSION
                                  "), this is Lissom " LISSOM_VERSION
                                  " and reads versions up to 2; use a newer Lissom");
}

TEST(ReducedBodyFile, OtherFilesAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  EXPECT_EQ(refusal(path), path + ": no such file");
  write_bytes(path, "solid cube");
  EXPECT_EQ(refusal(path), path + ": is not an HDF5 file");
  hdf5::File file = hdf5::File::create(path);
  file.close();
  const std::string other =
      path + ": is an HDF5 file, but not a reduced body (attribute format = \"lissom-reduced-body\")";
  EXPECT_EQ(refusal(path), other);
  std::filesystem::remove(path);  // files of others are not replaced
  write_body_file(path, {});
  EXPECT_EQ(refusal(path), other + "; it is a body file, not yet reduced: reduce it first");
  write_reduced_body_file(path, sample_body());
  Diagnostics diagnostics;
  EXPECT_EQ(message_of<InputError>([&] { read_body_file(path, diagnostics); }),
            path +
                ": is an HDF5 file, but not a Lissom body file (attribute format = \"lissom-body\"); it is a "
                "reduced body");
}

TEST(ReducedBodyFile, NumbersThatAreNotFiniteAndIndicesOutsideAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder / "a.h5";
  const auto refusal_with = [&](const char* name, auto value) {
    write_reduced_body_file(path, sample_body());
    edit(path, [&](hid_t file) {
      overwrite_first(file, name,
                      std::is_floating_point_v<decltype(value)> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                      value);
    });
    const std::string message = refusal(path);
    EXPECT_NE(message.find(path.string() + ":"), std::string::npos) << name << message;
    EXPECT_NE(message.find("; the file is damaged"), std::string::npos) << name << message;
    return message;
  };
  for (const char* name :
       {"matrices/M", "matrices/K", "matrices/D", "natural_modes/eigenvalues", "natural_modes/eigenvectors",
        "nodes/points", "nodes/modes", "nodes/strain_modes", "nodes/stress_modes", "inertia/first_moment",
        "inertia/second_moment", "inertia/translation", "inertia/position", "inertia/deformation",
        "interfaces/origins", "interfaces/axes", "interfaces/motion"})
    EXPECT_NE(refusal_with(name, double(NAN)).find("holds a number that is not finite"), std::string::npos)
        << name;
  EXPECT_NE(refusal_with("matrices/M", double(INFINITY)).find("M holds a number"), std::string::npos);
  EXPECT_NE(refusal_with("damping/parameters", -1.0).find("the damping ratio is -1"), std::string::npos);
  for (const std::int64_t bad : {-2, 2, 1000})
    EXPECT_NE(refusal_with("coordinates/interfaces", bad).find("a coordinate's interface is"),
              std::string::npos);
  for (const std::int64_t bad : {-2, 6})
    EXPECT_NE(refusal_with("coordinates/directions", bad).find("a coordinate's direction is"),
              std::string::npos);
  for (const std::int64_t bad : {-1, N})
    EXPECT_NE(refusal_with("interfaces/coordinates", bad).find("an interface's coordinate is"),
              std::string::npos);
  for (const char* name : {"interfaces/node_offsets", "interfaces/coordinate_offsets"})
    EXPECT_NE(refusal_with(name, std::int64_t{1}).find("the offsets do not ascend"), std::string::npos);
}

TEST(ReducedBodyFile, AMissingOrOtherwiseShapedEntryIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder / "a.h5";
  write_reduced_body_file(path, sample_body());
  int count = 0;
  const auto optional = {"/matrices/D", "/nodes/strain_modes", "/nodes/stress_modes",
                         "/damping/table_frequencies", "/damping/table_ratios"};
  // every dataset in turn, taken away and put in place with one value only
  std::vector<std::string> names;
  const std::function<void(const hdf5::Group&, const std::string&)> visit = [&](const hdf5::Group& group,
                                                                                const std::string& at) {
    for (const std::string& name : group.names())
      if (group.has_group(name))
        visit(group.group(name), at + "/" + name);
      else
        names.push_back(at + "/" + name);
  };
  visit(hdf5::File::open(path).root(), "");
  for (const std::string& name : names) {
    if (std::find(optional.begin(), optional.end(), name) != optional.end()) continue;
    write_reduced_body_file(path, sample_body());
    edit(path, [&](hid_t file) { EXPECT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0); });
    const std::string missing = refusal(path);
    EXPECT_NE(missing.find(name), std::string::npos) << name << ": " << missing;
    if (name == "/provenance") continue;
    edit(path, [&](hid_t file) {
      const hsize_t one[] = {1};
      const hid_t space = H5Screate_simple(1, one, nullptr);
      H5Dclose(
          H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Sclose(space);
    });
    const std::string other = refusal(path);
    EXPECT_EQ(other.find(path.string() + ":"), 0u) << name << ": " << other;
    ++count;
  }
  EXPECT_GT(count, 25);
}

TEST(ReducedBodyFile, ABodyThatIsInconsistentIsNotWritten) {
  const TemporaryFolder folder;
  const auto message = [&](const std::function<void(ReducedBody&)>& spoil) {
    ReducedBody body = sample_body();
    body.name = "rod";
    spoil(body);
    const std::string text = message_of<Error>([&] { write_reduced_body_file(folder / "a.h5", body); });
    const std::string start = (folder / "a.h5").string() + ": the reduced body 'rod' cannot be written: ";
    EXPECT_EQ(text.find(start), 0u) << text;
    return text.substr(std::min(text.size(), start.size()));
  };
  EXPECT_EQ(message([](ReducedBody& b) {
              b = {};
              b.name = "rod";
            }),
            "there are no reduced coordinates");
  EXPECT_EQ(message([](ReducedBody& b) {
              b.M.resize(3, 2);
              b.M.setZero();
            }),
            "M is 3 by 2, expected 9 by 9");
  EXPECT_EQ(message([](ReducedBody& b) { b.K(1, 2) = NAN; }), "K holds a number that is not finite");
  EXPECT_EQ(message([](ReducedBody& b) { b.D = MatrixXd::Zero(2, 2); }), "D is 2 by 2, expected 9 by 9");
  EXPECT_EQ(message([](ReducedBody& b) { b.range = 8; }),
            "the number of modes in range is 8, expected 0 to 7");
  EXPECT_EQ(message([](ReducedBody& b) { b.rigid_count = -1; }),
            "the number of rigid modes is -1, expected 0 to 9");
  EXPECT_EQ(message([](ReducedBody& b) { b.errors.modes.resize(2); }),
            "the error table has 2 modes, expected 3");
  EXPECT_EQ(message([](ReducedBody& b) { b.node_ids.pop_back(); }), "there are 3 node ids for 4 points");
  EXPECT_EQ(message([](ReducedBody& b) { b.stress_modes = MatrixXd::Zero(3, N); }),
            "the matrix of stress modes is 3 by 9, expected 24 by 9");
  EXPECT_EQ(message([](ReducedBody& b) { b.inertia.deformation[5].resize(0, 0); }),
            "a deformation invariant is 0 by 0, expected 9 by 9");
  EXPECT_TRUE(folder.names().empty());
}

TEST(ReducedBodyFile, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  write_reduced_body_file(folder / "a.h5", sample_body());
  test::expect_truncations_refused(folder, folder / "a.h5", 487, refusal);
}

TEST(ReducedBodyFile, AByteThatChangedIsRefusedOrDoesNotMatter) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  write_reduced_body_file(folder / "a.h5", body, {"somehow"});
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "a.h5", 37, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        const ReducedBodyFile back = read_reduced_body_file(path, diagnostics);
        expect_same_body(body, back.body);
        EXPECT_EQ(back.provenance, std::vector<std::string>{"somehow"});
      });
  // there is room in the file that nothing uses, but not all of it
  EXPECT_GT(refused, 200);
}

TEST(ReducedBodyFile, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  write_reduced_body_file(folder / "a.h5", body);
  ReducedBody large = body;
  large.points = random_matrix(3, 10000);
  large.node_ids.assign(10000, 1);
  large.modes = random_matrix(30000, N);
  large.strain_modes.resize(0, 0);
  large.stress_modes.resize(0, 0);
  const std::string text =
      test::message_on_full_disk([&] { write_reduced_body_file(folder / "a.h5", large); });
  EXPECT_EQ(text.find((folder / "a.h5").string()), 0) << text;
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
  EXPECT_EQ(folder.names().size(), 1);
  expect_same_body(body, read(folder / "a.h5").body);
}

TEST(ReducedBodyFile, EveryDatasetIsNamedInTheReferencePage) {
  const TemporaryFolder folder;
  write_reduced_body_file(folder / "a.h5", sample_body());
  EXPECT_GT(test::expect_datasets_documented(folder / "a.h5", test::reference_page("reduced-body-file")), 30);
}

TEST(ReducedBodyFile, ThePythonOfTheReferencePageComputesVonMisesStress) {
  const TemporaryFolder folder;
  const ReducedBody body = sample_body();
  write_reduced_body_file(folder / "rod.reduced.h5", body);
  // what it should find for p = 1, 2, ..., by the definition with the stress deviator
  const VectorXd p = VectorXd::LinSpaced(N, 1, N);
  const VectorXd stress = body.stress_modes * p;
  std::vector<double> expected;
  for (int i = 0; i < n; ++i) {
    const auto s = stress.segment<6>(6 * i);
    Eigen::Matrix3d tensor;
    tensor << s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2];
    const Eigen::Matrix3d deviator = tensor - tensor.trace() / 3 * Eigen::Matrix3d::Identity();
    expected.push_back(std::sqrt(1.5) * deviator.norm());
  }
  const auto missing =
      test::run_python_of_page(folder, test::reference_page("reduced-body-file"),
                               fmt::format("von_mises = stress_at(np.arange(1, {}))\n"
                                           "assert np.allclose(von_mises, [{}], rtol=1e-12)\n",
                                           N + 1, fmt::join(expected, ", ")));
  EXPECT_FALSE(missing) << "a module of Python" << test::install_hint << *missing;
}

TEST(ReducedBody, NamesItsKindsAndTheFrequenciesInRange) {
  EXPECT_EQ(name_of(CoordinateKind::FixedInterface), "fixed-interface");
  EXPECT_EQ(name_of(CoordinateKind::Residual), "residual");
  EXPECT_EQ(name_of(CoordinateKind::Attachment), "attachment");
  EXPECT_EQ(name_of(CoordinateKind::Constraint), "constraint");
  EXPECT_EQ(name_of(CoordinateKind::FreeInterface), "free-interface");
  ReducedBody body = sample_body();
  const double pi = std::acos(-1.0);
  body.eigenvalues << -1e-9, 1e-9, 4 * pi * pi, 16 * pi * pi, 36 * pi * pi, 1e6, 1e7, 1e8, 1e9;
  // the square root of a square, once rounded
  EXPECT_LT((body.frequencies_hz() - VectorXd{{1, 2, 3}}).norm(), 1e-14);
  EXPECT_EQ(body.free_modes(), body.eigenvectors.middleCols(2, 3));
}

}  // namespace
}  // namespace lissom::reduced_body_file_test
