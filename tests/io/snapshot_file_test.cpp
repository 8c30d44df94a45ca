// Trajectories from files of NumPy, SciPy, h5py, CSV and Lissom itself, bit for bit; and files that are not
// as they should be.
#include "lissom/io/snapshot_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "lissom/core/hdf5.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/csv_trajectory.hpp"
#include "lissom/io/number_array.hpp"
#include "lissom/io/result_file.hpp"
#include "tests/packages.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::snapshot_file_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int k = 7, left_nodes = 4, right_nodes = 5;

// What write_trajectories.py describes.
MatrixXd expected(int nodes, double half) {
  return MatrixXd::NullaryExpr(3 * nodes, k, [&](Index row, Index j) {
    return (1000 * static_cast<double>(j) + 10 * static_cast<double>(row / 3) + static_cast<double>(row % 3) +
            half) /
           7;
  });
}
MatrixXd expected_left() {
  return expected(left_nodes, 0);
}
MatrixXd expected_right() {
  return expected(right_nodes, 0.5);
}

// The files of the script, written once; empty where NumPy, SciPy or h5py are missing.
const std::filesystem::path& python_files() {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = [] {
    const auto script = test::source_folder() / "tests/io/write_trajectories.py";
    const std::string command = fmt::format("/usr/bin/python3 {} {} > {} 2>&1", script.string(),
                                            folder.path().string(), (folder / "log").string());
    const int status = WEXITSTATUS(std::system(command.c_str()));
    if (status == 77 || status == 127) return std::filesystem::path();
    EXPECT_EQ(status, 0) << read_file(folder / "log");
    return folder.path();
  }();
  return path;
}

#define NEED_PYTHON() ASSERT_FALSE(python_files().empty()) << "NumPy, SciPy or h5py" << test::install_hint

MatrixXd read_part(SnapshotSource& run, int part) {
  MatrixXd X(3 * run.parts()[part].nodes, run.samples());
  run.read(part, 0, run.samples(), X);
  return X;
}

// All at once, in blocks, and into a part of a larger matrix.
void expect_part(SnapshotSource& run, int part, const MatrixXd& values, const std::string& what) {
  ASSERT_EQ(3 * run.parts()[part].nodes, values.rows()) << what;
  ASSERT_EQ(run.samples(), values.cols()) << what;
  EXPECT_TRUE(read_part(run, part) == values) << what;
  MatrixXd room = MatrixXd::Zero(values.rows() + 2, 3);
  for (const int first : {4, 0, 3}) {
    run.read(part, first, 3, room.middleRows(1, values.rows()));
    EXPECT_TRUE(room.middleRows(1, values.rows()) == values.middleCols(first, 3)) << what;
  }
}

void expect_both(SnapshotSource& run, const std::string& what) {
  ASSERT_EQ(run.parts().size(), 2) << what;
  EXPECT_EQ(run.parts()[0].name, "left");
  EXPECT_EQ(run.parts()[1].name, "right");
  ASSERT_EQ(run.samples(), k) << what;
  for (int j = 0; j < k; ++j) EXPECT_EQ(run.times()[j], j / 8.0) << what;
  expect_part(run, 0, expected_left(), what);
  expect_part(run, 1, expected_right(), what);
}

std::map<std::string, Eigen::Matrix3Xd> meshes() {
  return {{"left", Eigen::Matrix3Xd::Zero(3, left_nodes)}, {"right", Eigen::Matrix3Xd::Zero(3, right_nodes)}};
}

TrajectorySpec in_file(const std::filesystem::path& file) {
  TrajectorySpec spec;
  spec.file = file;
  return spec;
}

// One body 'left' in a .npy.
TrajectorySpec left_npy(const std::string& name, const std::string& time = "time") {
  TrajectorySpec spec;
  spec.bodies["left"] = (python_files() / (name + ".npy")).string();
  spec.time = (python_files() / (time + ".npy")).string();
  return spec;
}

std::string refusal(const TrajectorySpec& spec, const std::vector<std::string>& bodies = {"left", "right"},
                    const std::map<std::string, Eigen::Matrix3Xd>& rest = meshes()) {
  Diagnostics diagnostics;
  return message_of<InputError>([&] {
    const auto run = open_snapshots(spec, bodies, rest, diagnostics);
    for (size_t p = 0; p < bodies.size(); ++p) read_part(*run, static_cast<int>(p));
  });
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(SnapshotFile, FilesOfAllFormatsGiveTheSameNumbersBitForBit) {
  NEED_PYTHON();
  for (const char* file : {"plain.npz", "packed.npz", "five.mat", "seven.mat", "four.mat", "seven3.mat",
                           "group.h5", "struct.mat"})
    for (const bool with_mesh : {true, false}) {
      Diagnostics diagnostics;
      const auto run =
          open_snapshots(in_file(python_files() / file), {"left", "right"},
                         with_mesh ? meshes() : std::map<std::string, Eigen::Matrix3Xd>{}, diagnostics);
      EXPECT_EQ(run->name(), file);
      expect_both(*run, file);
      // right of struct.mat has its samples last, which only the number of times tells
      EXPECT_EQ(diagnostics.warnings().size(), std::string(file) == "struct.mat" ? 1 : 0) << file;
    }
}

TEST(SnapshotFile, NodeIdsComeFromTheFile) {
  NEED_PYTHON();
  Diagnostics diagnostics;
  const auto ids = [&](const char* file, int part) {
    return open_snapshots(in_file(python_files() / file), {"left", "right"}, meshes(), diagnostics)
        ->parts()[part]
        .node_ids;
  };
  const std::vector<std::int64_t> left = {4, 3, 20, 1}, right = {7, 8, 9, 10, 11};
  EXPECT_EQ(ids("packed.npz", 0), left);
  EXPECT_EQ(ids("struct.mat", 0), left);
  EXPECT_EQ(ids("group.h5", 1), right);
  EXPECT_TRUE(ids("plain.npz", 0).empty());
  TrajectorySpec spec = left_npy("c");
  spec.nodes["left"] = (python_files() / "ids.npy").string();
  EXPECT_EQ(open_snapshots(spec, {"left"}, meshes(), diagnostics)->parts()[0].node_ids, left);
}

TEST(SnapshotFile, EveryOrderAndTypeOfNumPyIsRead) {
  NEED_PYTHON();
  for (const char* name :
       {"c", "fortran", "big", "flat", "flat_fortran", "last", "last_fortran", "flat_last"}) {
    Diagnostics diagnostics;
    const auto run = open_snapshots(left_npy(name), {"left"}, meshes(), diagnostics);
    expect_part(*run, 0, expected_left(), name);
    const bool noted = diagnostics.find(fmt::format("trajectories.transposed.{}.npy", name)) != nullptr;
    EXPECT_EQ(noted, std::string(name).find("last") != std::string::npos) << name;
  }
  for (const char* name : {"whole", "whole_big"}) {
    Diagnostics diagnostics;
    const auto run = open_snapshots(left_npy(name), {"left"}, meshes(), diagnostics);
    const MatrixXd whole = (expected_left() * 7).array().round();
    expect_part(*run, 0, whole, name);
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST(SnapshotFile, SinglePrecisionIsReadAndSaid) {
  NEED_PYTHON();
  const MatrixXd floats = expected_left().cast<float>().cast<double>();
  for (const char* file : {"single.mat", "single.h5"}) {
    Diagnostics diagnostics;
    const auto run = open_snapshots(in_file(python_files() / file), {"left", "right"}, meshes(), diagnostics);
    expect_part(*run, 0, floats, file);
    EXPECT_NE(diagnostics.find(fmt::format("trajectories.single-precision.{}", file)), nullptr);
  }
  Diagnostics diagnostics;
  expect_part(*open_snapshots(left_npy("single"), {"left"}, meshes(), diagnostics), 0, floats, "single.npy");
  EXPECT_NE(diagnostics.find("trajectories.single-precision.single.npy"), nullptr);
}

TEST(SnapshotFile, UnitsAndDisplacementsBecomePositionsInMetres) {
  NEED_PYTHON();
  Diagnostics diagnostics;
  TrajectorySpec spec = left_npy("c");
  spec.units = parse_unit_system("mm-kg-ms");
  auto run = open_snapshots(spec, {"left"}, meshes(), diagnostics);
  EXPECT_TRUE(read_part(*run, 0) == MatrixXd(expected_left() * 1e-3));
  EXPECT_EQ(run->times()[3], 3 / 8.0 * 1e-3);

  const Eigen::Matrix3Xd rest = Eigen::Matrix3Xd::Random(3, left_nodes);
  spec.displacements = true;
  run = open_snapshots(spec, {"left"}, {{"left", rest}}, diagnostics);
  MatrixXd sum = expected_left() * 1e-3;
  sum.colwise() += rest.reshaped();
  EXPECT_TRUE(read_part(*run, 0) == sum);

  // with ids the places at rest are found by them
  spec.nodes["left"] = (python_files() / "ids.npy").string();  // 4 3 20 1
  run = open_snapshots(spec, {"left"}, {{"left", rest}}, diagnostics, {{"left", {1, 3, 4, 20}}});
  for (const auto& [node, column] : std::vector<std::pair<int, int>>{{0, 2}, {1, 1}, {2, 3}, {3, 0}})
    EXPECT_TRUE(read_part(*run, 0).block(3 * node, 0, 3, 1) ==
                expected_left().block(3 * node, 0, 3, 1) * 1e-3 + rest.col(column));
  EXPECT_NE(message_of<InputError>([&] {
              open_snapshots(spec, {"left"}, {{"left", rest}}, diagnostics, {{"left", {1, 3, 4, 21}}});
            }).find("displacements of node 20, which the mesh does not have"),
            std::string::npos);
  expect_words(refusal(spec, {"left"}, {}), {"displacements of body 'left' need its mesh"});
}

TEST(SnapshotFile, ShapesThatDoNotFitSaySo) {
  NEED_PYTHON();
  expect_words(refusal(left_npy("wrong"), {"left"}),
               {"wrong.npy", "body 'left'", "(4, 7, 3)", "(7, 4, 3)", "(7, 12)", "7 times", "4 nodes"});
  expect_words(refusal(left_npy("c"), {"left"}, {{"left", Eigen::Matrix3Xd::Zero(3, 9)}}),
               {"(7, 4, 3)", "expected", "(7, 9, 3)", "9 nodes in the mesh"});
  expect_words(refusal(left_npy("c", "time3"), {"left"}), {"there are 3 times"});
  expect_words(refusal(left_npy("square", "time12"), {"left"}),
               {"(12, 12)", "samples first or last", "as samples by nodes by 3"});
  expect_words(refusal(left_npy("cube", "time3"), {"left"}),
               {"(3, 4, 3)", "samples first or last", "as samples by 3 nodes"});
  expect_words(refusal(left_npy("complex"), {"left"}), {"complex.npy", "'<c16'", "expected real numbers"});
  expect_words(refusal(left_npy("text"), {"left"}), {"'<U1'"});
}

TEST(SnapshotFile, WhatIsMissingIsNamedWithWhatIsThere) {
  NEED_PYTHON();
  expect_words(refusal(in_file(python_files() / "plain.npz"), {"lefd", "right"}),
               {"plain.npz", "no array 'lefd'", "did you mean 'left'?", "'left', 'right', 'time'"});
  expect_words(refusal(in_file(python_files() / "none.npz")), {"none.npz", "no such file"});
  TrajectorySpec spec = in_file(python_files() / "plain.npz");
  spec.time = "tiem";
  expect_words(refusal(spec), {"'tiem'", "did you mean 'time'?"});
  spec = in_file(python_files() / "five.mat");
  spec.bodies["left"] = "lefft";
  expect_words(refusal(spec), {"no array 'lefft' for body 'left'", "did you mean 'left'?"});
  spec = in_file(python_files() / "five.mat");
  spec.bodies["middle"] = "left";
  expect_words(refusal(spec), {"no body 'middle'", "'left', 'right'"});
  spec = left_npy("c");
  spec.time.clear();
  expect_words(refusal(spec, {"left"}), {"no array 'time' or 't'"});
  expect_words(refusal(left_npy("c"), {"left", "right"}), {"no file is given", "'right'"});
  expect_words(refusal(TrajectorySpec{}), {"no file is given"});
  spec = left_npy("c");
  spec.nodes["left"] = (python_files() / "time.npy").string();
  expect_words(refusal(spec, {"left"}), {"expected node ids", "0.125"});
  spec.where = {"study.toml", 12};
  EXPECT_EQ(refusal(spec, {"left"}).rfind("study.toml:12: ", 0), 0);
}

// ------------------------------------------------------------------------------------------------- CSV

std::string csv_text(const std::string& separator, const std::string& heading) {
  std::string text = heading;
  const MatrixXd X = expected_left();
  for (int j = 0; j < k; ++j) {
    text += fmt::format("{}", j / 8.0);
    for (Index i = 0; i < X.rows(); ++i) text += fmt::format("{}{:.17g}", separator, X(i, j));
    text += j % 2 ? "\n" : "\r\n";
  }
  return text;
}

TEST(SnapshotFile, CsvIsReadWithItsSeparatorsAndHeadings) {
  const TemporaryFolder folder;
  const std::string heading = "t,4.x,4.y,4.z,3.x,3.y,3.z,20.x,20.y,20.z,1.x,1.y,1.z\n";
  struct Case {
    std::string text;
    bool ids;
    size_t warnings;
  };
  std::string quoted = "# by a program\n\n\"Time\"";
  for (const int id : {4, 3, 20, 1})
    for (const char axis : {'X', 'Y', 'Z'}) quoted += fmt::format(",\"{}.{}\"", id, axis);
  for (const Case& one : {Case{csv_text(",", ""), false, 0}, Case{csv_text(",", heading), true, 0},
                          Case{csv_text("; ", ""), false, 0}, Case{csv_text("\t", ""), false, 0},
                          Case{csv_text("   ", ""), false, 0}, Case{csv_text(", ", quoted + "\n"), true, 0},
                          Case{"\xef\xbb\xbf" + csv_text(",", ""), false, 0},
                          Case{csv_text(",", "t,a,b,c,d,e,f,g,h,i,j,k,l\n"), false, 1}}) {
    Diagnostics diagnostics;
    const auto run =
        open_snapshots(in_file(folder.write("left.csv", one.text)), {"left"}, meshes(), diagnostics);
    expect_part(*run, 0, expected_left(), one.text.substr(0, 60));
    EXPECT_EQ(run->times()[6], 0.75);
    EXPECT_EQ(!run->parts()[0].node_ids.empty(), one.ids);
    if (one.ids) {
      EXPECT_EQ(run->parts()[0].node_ids, (std::vector<std::int64_t>{4, 3, 20, 1}));
    }
    EXPECT_EQ(diagnostics.warnings().size(), one.warnings);
  }
}

TEST(SnapshotFile, EveryBodyMayHaveItsOwnFile) {
  const TemporaryFolder folder;
  folder.write("left.csv", csv_text(",", ""));
  folder.write("other.csv", csv_text(" ", ""));
  TrajectorySpec spec;
  spec.where.file = (folder / "study.toml").string();
  spec.bodies = {{"left", "left.csv"}, {"right", "other.csv"}};  // beside the study
  Diagnostics diagnostics;
  const auto run = open_snapshots(spec, {"left", "right"}, {}, diagnostics);
  expect_part(*run, 0, expected_left(), "left");
  expect_part(*run, 1, expected_left(), "right");
  const std::string text = csv_text(",", "");
  folder.write("other.csv", text.substr(0, text.find("0.75")));
  expect_words(refusal(spec), {"different times", "7 and 6 samples"});
  folder.write("other.csv", text);
  expect_words(refusal(in_file(folder / "left.csv")), {"left.csv", "a CSV file holds one body"});
}

TEST(SnapshotFile, ACsvThatIsNotAsItShouldBeNamesTheLine) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    return refusal(in_file(folder.write("a.csv", text)), {"left"}, {});
  };
  expect_words(message(""), {"a.csv", "has no line of numbers"});
  expect_words(message("0,1,2,3\n1,2,3\n"),
               {"a.csv:2", "has 3 fields, the lines before have 4", "truncated"});
  expect_words(message("0,1,2\n"), {"a.csv:1", "has 3 fields, expected the time and three for each node"});
  expect_words(message("0,1,2,3\n1,2,nan,3\n"), {"a.csv:2", "column 3", "'nan'"});
  expect_words(message("0,1,2,3\nx,2,4,3\n"), {"a.csv:2", "expected the time, found 'x'"});
  expect_words(message("t,1.x,1.z,1.y\n0,1,2,3\n"), {"a.csv:1", "column 3 is '1.z'"});
  expect_words(message("t,1.x,1.y,2.z\n0,1,2,3\n"), {"a.csv:1", "column 4 is '2.z'"});
  expect_words(message("t,1.x,1.y,1.z,a,b,c\n0,1,2,3,4,5,6\n"), {"a.csv:1", "'a'", "as in '17.x'"});
  expect_words(message("1.x,1.y,1.z,t\n1,2,3,0\n"), {"a.csv:1", "the first column is '1.x'"});
}

// ------------------------------------------------------------------------------------- Lissom's results

TEST(SnapshotFile, AResultOfLissomIsRecognised) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, bool nodes) {
    ResultHeader header;
    header.integrator = "bdf";
    header.bodies = {{"rod", "ffrf", 0, 2, 0}};
    if (nodes) header.nodes = {{"rod", {5, 6, 9}}};
    ResultWriter writer(folder / name, header);
    for (int j = 0; j < 4; ++j) {
      State state;
      state.t = 0.1 * j;
      state.q = state.v = state.a = Eigen::VectorXd::Constant(2, j);
      std::vector<Eigen::Matrix3Xd> x;
      if (nodes) x.push_back(Eigen::Matrix3Xd::Constant(3, 3, j + 1.0 / 3));
      writer.add(state, Eigen::VectorXd(), {}, x, {});
    }
    writer.finish({});
  };
  write("result.h5", true);
  TrajectorySpec spec = in_file(folder / "result.h5");
  spec.units = parse_unit_system("mm-t-s");  // the study's, but results are in SI
  Diagnostics diagnostics;
  const auto run = open_snapshots(spec, {"rod"}, {{"rod", Eigen::Matrix3Xd::Zero(3, 3)}}, diagnostics);
  EXPECT_EQ(run->samples(), 4);
  EXPECT_EQ(run->times()[3], 0.1 * 3);
  EXPECT_EQ(run->parts()[0].node_ids, (std::vector<std::int64_t>{5, 6, 9}));
  EXPECT_TRUE((read_part(*run, 0).col(2).array() == 2 + 1.0 / 3).all());
  EXPECT_TRUE(diagnostics.empty());

  spec.displacements = true;
  expect_words(refusal(spec, {"rod"}), {"is a result of Lissom"});
  write("bare.h5", false);
  expect_words(refusal(in_file(folder / "bare.h5"), {"rod"}),
               {"bare.h5", "no nodes of body 'rod'", "nodes = true"});
}

// ---------------------------------------------------------------------------------------------- damage

// the sanitizer keeps freed memory for a while
#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// Every file that a change makes of a good one is read, or refused with InputError; nothing else may come
// out, and no memory beyond what such small files can need.
void sweep(const std::filesystem::path& original, const TrajectorySpec& spec,
           const std::vector<std::string>& bodies, const std::filesystem::path& target, int flips,
           bool checked) {
  const std::string bytes = read_file(original);
  const size_t before = peak_memory_bytes();
  int refused = 0, read = 0;
  const auto attempt = [&](const std::string& changed, const std::string& what) {
    std::filesystem::remove(target);  // some file systems wait for the disk where a file is written over
    write_bytes(target, changed);
    try {
      Diagnostics diagnostics;
      const auto run = open_snapshots(spec, bodies, meshes(), diagnostics);
      for (size_t p = 0; p < bodies.size(); ++p) read_part(*run, static_cast<int>(p));
      ++read;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()), "") << what;
      ++refused;
    }
  };
  const size_t step = std::max<size_t>(1, bytes.size() / 400);
  for (size_t size = 0; size < bytes.size(); size += step)
    attempt(bytes.substr(0, size), fmt::format("cut to {}", size));
  // a file cut short is never read as if it were whole, unless it is text cut at the end of a line
  if (checked) {
    EXPECT_EQ(read, 0) << original;
  }
  std::mt19937 generator(5);
  for (int i = 0; i < flips; ++i) {
    std::string changed = bytes;
    // beginnings and ends hold what steers the reading
    const size_t window = i % 3 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 256);
    size_t at = generator() % window;
    if (i % 3 == 2) at = bytes.size() - 1 - at;
    changed[at] = static_cast<char>(i % 2 ? changed[at] ^ (1 << generator() % 8) : generator() % 256);
    attempt(changed, fmt::format("byte {} changed", at));
  }
  EXPECT_GT(refused, 0);
  if (!sanitized) {
    EXPECT_LT(peak_memory_bytes(), before + (64UL << 20)) << original;
  }
}

TEST(SnapshotFile, DamagedFilesAreRefusedAndNeverMore) {
  NEED_PYTHON();
  const TemporaryFolder folder;
  for (const char* file : {"plain.npz", "packed.npz", "five.mat", "seven.mat", "four.mat"}) {
    SCOPED_TRACE(file);
    sweep(python_files() / file, in_file(folder / file), {"left", "right"}, folder / file, 1500,
          std::string(file) != "four.mat" && std::string(file) != "five.mat");
  }
  TrajectorySpec spec = left_npy("c");
  spec.bodies["left"] = (folder / "c.npy").string();
  sweep(python_files() / "c.npy", spec, {"left"}, folder / "c.npy", 1500, true);
  spec.bodies["left"] = (folder / "fortran.npy").string();
  sweep(python_files() / "fortran.npy", spec, {"left"}, folder / "fortran.npy", 500, true);
  write_bytes(folder / "good.csv", csv_text(",", "t,4.x,4.y,4.z,3.x,3.y,3.z,20.x,20.y,20.z,1.x,1.y,1.z\n"));
  sweep(folder / "good.csv", in_file(folder / "a.csv"), {"left"}, folder / "a.csv", 1500, false);
}

TEST(SnapshotFile, AnyChangedByteOfAnArchiveIsFound) {
  NEED_PYTHON();
  // the checksums cover all values: whatever is read after a change is what was written
  const TemporaryFolder folder;
  for (const char* file : {"plain.npz", "packed.npz"}) {
    const std::string bytes = read_file(python_files() / file);
    for (size_t at = 0; at < bytes.size(); at += 7) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x10);
      std::filesystem::remove(folder / file);
      write_bytes(folder / file, changed);
      try {
        Diagnostics diagnostics;
        const auto run = open_snapshots(in_file(folder / file), {"left", "right"}, meshes(), diagnostics);
        EXPECT_TRUE(read_part(*run, 0) == expected_left() && read_part(*run, 1) == expected_right()) << at;
      } catch (const InputError&) {
      }
    }
  }
}

TEST(SnapshotFile, AHeadThatClaimsTooMuchAllocatesNothing) {
  const TemporaryFolder folder;
  const auto npy = [&](const std::string& dictionary) {
    std::string head = "\x93NUMPY";
    head += std::string("\1\0", 2);
    head += static_cast<char>(dictionary.size());
    head += '\0';
    return head + dictionary + std::string(64, '\1');
  };
  TrajectorySpec spec;
  spec.bodies["left"] = (folder / "a.npy").string();
  spec.time = (folder / "t.csv").string();
  folder.write("t.csv", "0\n1\n");
  for (const char* shape : {"(1000000000, 1000000, 3)", "(9223372036854775807, 8, 3)", "(-2, 4, 3)",
                            "(2, 1e9, 3)", "(99999999999999999999999, 3)"}) {
    folder.write("a.npy", npy(fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}}}", shape)));
    expect_words(refusal(spec, {"left"}), {"a.npy", "damaged"});
  }
  folder.write("a.npy", npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 4)}"));
  expect_words(refusal(spec, {"left"}), {"fortran_order is 'Maybe'"});
  folder.write("a.npy", npy("{'descr': '<f8', 'shape': (2, 4)}"));
  expect_words(refusal(spec, {"left"}), {"no 'fortran_order'"});
  folder.write("a.npy", "\x93NUMPY");
  expect_words(refusal(spec, {"left"}), {"a.npy", "version 0"});
  folder.write("a.npy", "something else");
  expect_words(refusal(spec, {"left"}), {"a.npy", "is not a NumPy array"});
}

}  // namespace
}  // namespace lissom::snapshot_file_test
