#include "lissom/io/vtu.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <regex>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "tests/io/sample_mesh.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom {
namespace {

// The bytes of a named array in a VTU file, decoded by the description of the format and nothing of ours.
std::string decode(const std::string& file, const std::string& name) {
  const std::string quoted = std::regex_replace(name, std::regex(R"([.^$|()\[\]{}*+?\\])"), R"(\$&)");
  std::smatch match;
  if (!std::regex_search(file, match, std::regex("Name=\"" + quoted + "\"[^>]*offset=\"([0-9]+)\"")))
    return "no such array";
  const std::string start = "<AppendedData encoding=\"raw\">\n_";
  const char* at = file.data() + file.find(start) + start.size() + std::stoul(match[1]);
  const auto next = [&] {
    std::uint64_t value;
    std::memcpy(&value, at, 8);
    at += 8;
    return value;
  };
  const std::uint64_t count = next(), size = next(), last = next();
  std::vector<std::uint64_t> compressed(count);
  for (auto& c : compressed) c = next();
  std::string out;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string block(size, '\0');
    uLongf length = size;
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(block.data()), &length, reinterpret_cast<const Bytef*>(at),
                         compressed[i]),
              Z_OK);
    EXPECT_EQ(length, i + 1 == count && last > 0 ? last : size);
    out.append(block, 0, length);
    at += compressed[i];
  }
  return out;
}

template <class T>
std::vector<T> decode_as(const std::string& file, const std::string& name) {
  const std::string bytes = decode(file, name);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

TEST(Vtu, EveryArrayIsDecodedToWhatWasGiven) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  const std::vector<double> heat(mesh.element_count(), 0.1);
  VtuData data;
  data.cells.push_back({"heat", 1, std::span<const double>(heat)});
  // blocks of 64 bytes, so that there are many, with and without a rest
  write_vtu(folder / "a.vtu", mesh, data, {.compression_level = 6, .block_size = 64});
  const std::string file = read_file(folder / "a.vtu");
  EXPECT_EQ(decode_as<double>(file, "Points"),
            std::vector<double>(mesh.points.data(), mesh.points.data() + mesh.points.size()));
  EXPECT_EQ(decode_as<double>(file, "heat"), heat);
  EXPECT_EQ(decode_as<std::int64_t>(file, "node_id"), mesh.node_ids);
  EXPECT_EQ(decode_as<std::int64_t>(file, "element_id"), mesh.element_ids);
  EXPECT_EQ(decode_as<std::int32_t>(file, "material"), mesh.element_material);
  // all but the two wedges at the end, which VTK turns round
  auto connectivity = decode_as<std::int64_t>(file, "connectivity");
  ASSERT_EQ(connectivity.size(), mesh.connectivity.size());
  const auto wedge = mesh.element_nodes(4);
  EXPECT_EQ(std::vector<std::int64_t>(connectivity.end() - 21, connectivity.end() - 15),
            (std::vector<std::int64_t>{wedge[0], wedge[2], wedge[1], wedge[3], wedge[5], wedge[4]}));
  connectivity.resize(connectivity.size() - 21);
  EXPECT_EQ(connectivity, std::vector<std::int64_t>(mesh.connectivity.begin(), mesh.connectivity.end() - 21));
  EXPECT_EQ(decode_as<std::int64_t>(file, "offsets"),
            std::vector<std::int64_t>(mesh.offsets.begin() + 1, mesh.offsets.end()));
  EXPECT_EQ(decode_as<std::uint8_t>(file, "types"), (std::vector<std::uint8_t>{10, 24, 12, 25, 13, 26}));
  EXPECT_EQ(decode_as<std::uint8_t>(file, "set inside"), (std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0}));
  EXPECT_NE(file.find("set left/right &quot;&lt;&amp;&gt;&quot;"), std::string::npos);
}

TEST(Vtu, ManyBlocksCompressedByThreadsStandInOrder) {
  const TemporaryFolder folder;
  Mesh mesh;
  mesh.points = Eigen::Matrix3Xd::Random(3, 100000);
  for (int i = 0; i < mesh.node_count(); ++i) mesh.node_ids.push_back(i + 1);
  write_vtu(folder / "a.vtu", mesh);
  const std::string file = read_file(folder / "a.vtu");
  EXPECT_EQ(decode_as<double>(file, "Points"),
            std::vector<double>(mesh.points.data(), mesh.points.data() + mesh.points.size()));
  // nodes without elements are vertices
  EXPECT_NE(file.find("NumberOfPoints=\"100000\" NumberOfCells=\"100000\""), std::string::npos);
  EXPECT_EQ(decode_as<std::uint8_t>(file, "types"), std::vector<std::uint8_t>(100000, 1));
}

TEST(Vtu, ModesAreScaledAndListedInACollection) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  Eigen::MatrixXd shapes = Eigen::MatrixXd::Random(3 * mesh.node_count(), 3);
  shapes.col(2).setZero();
  const Eigen::Vector3d frequencies(0, 12.5, 99);
  const auto written = write_modes_vtu(folder / "new/modes", mesh, shapes, frequencies);
  EXPECT_EQ(written, folder / "new/modes/modes.pvd");
  const std::string collection = read_file(written);
  EXPECT_NE(collection.find("timestep=\"2\" file=\"mode_002.vtu\"/> <!-- 12.5 Hz -->"), std::string::npos);

  const double diagonal = (mesh.points.rowwise().maxCoeff() - mesh.points.rowwise().minCoeff()).norm();
  const std::string file = read_file(folder / "new/modes/mode_002.vtu");
  const auto values = decode_as<double>(file, "displacement");
  const auto scale = decode_as<double>(file, "displacement_scale").at(0);
  const Eigen::Map<const Eigen::Matrix3Xd> shape(values.data(), 3, mesh.node_count());
  // one rounding in each product
  EXPECT_NEAR(shape.colwise().norm().maxCoeff(), 0.1 * diagonal, 1e-15 * diagonal);
  EXPECT_TRUE((shape.reshaped().array() == (shapes.col(1) * scale).array()).all());
  EXPECT_EQ(decode_as<double>(file, "frequency_hz").at(0), 12.5);
  EXPECT_EQ(decode_as<std::int32_t>(file, "mode").at(0), 2);
  // a mode without displacement is not divided by zero
  EXPECT_EQ(decode_as<double>(read_file(folder / "new/modes/mode_003.vtu"), "displacement"),
            std::vector<double>(shapes.rows(), 0.0));

  write_modes_vtu(folder.path(), mesh, shapes, frequencies, {.scaling = ModeScaling::MaxOne, .vtu = {}});
  const auto unit = decode_as<double>(read_file(folder / "mode_001.vtu"), "displacement");
  EXPECT_NEAR(
      Eigen::Map<const Eigen::Matrix3Xd>(unit.data(), 3, mesh.node_count()).colwise().norm().maxCoeff(), 1,
      1e-15);
}

TEST(Vtu, AFolderThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  const std::string path = (folder / "file/modes").string();
  EXPECT_EQ(message_of<Error>([&] {
              write_modes_vtu(path, sample_mesh(), Eigen::MatrixXd::Zero(3 * sample_mesh().node_count(), 0),
                              Eigen::VectorXd());
            }),
            path + ": the folder cannot be created: Not a directory");
}

TEST(Vtu, VtkReadsTheSameNumbersAndUnderstandsTheNodeOrder) {
  const TemporaryFolder folder;
  const Mesh mesh = sample_mesh();
  const Eigen::MatrixXd shape = Eigen::MatrixXd::Random(3 * mesh.node_count(), 1);
  ModesVtuOptions options;
  options.scaling = ModeScaling::AsGiven;
  options.vtu.block_size = 1000;
  write_modes_vtu(folder.path(), mesh, shape, Eigen::VectorXd::Constant(1, 123.456), options);
  const auto doubles = [](const auto& m) {
    return std::string(reinterpret_cast<const char*>(m.data()), m.size() * sizeof(double));
  };
  write_bytes(folder / "expected.bin", doubles(mesh.points) + doubles(shape));

  const auto script = std::filesystem::path(LISSOM_TEST_DATA).parent_path() / "io/check_vtu.py";
  const std::string command = fmt::format(
      "/usr/bin/python3 {} {} {} {} > {} 2>&1", script.string(), (folder / "mode_001.vtu").string(),
      (folder / "expected.bin").string(), mesh.node_count(), (folder / "log").string());
  const int status = std::system(command.c_str());
  const std::string log = read_file(folder / "log");
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127 ||
      log.find("ModuleNotFound") != std::string::npos)
    GTEST_SKIP() << "VTK for Python (Debian: python3-vtk9) is not there: " << log;
  EXPECT_EQ(status, 0) << log;
}

}  // namespace
}  // namespace lissom
