#include "lissom/core/hdf5.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <limits>

#include "lissom/core/text.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::hdf5_test {
namespace {

TEST(Hdf5, NumbersTextAndAttributesComeBackAsTheyWere) {
  const TemporaryFolder folder;
  std::vector<double> many(100000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = std::sin(0.1 * static_cast<double>(i));
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Random(70000, 3);
  {
    hdf5::File file = hdf5::File::create(folder / "a.h5");
    hdf5::Group group = file.root().create_group("one").create_group("two");
    group.write("many", many, {1000, 100});
    group.write("ints", std::vector<std::int32_t>{1, -2, 2147483647});
    group.write("longs", std::vector<std::int64_t>{1, -2, 1L << 60});
    group.write("bytes", std::vector<std::uint8_t>{0, 255});
    group.write("text", {"", "ärger", "a/b"});
    group.write("no text", std::vector<std::string>{});
    group.write("empty", std::vector<double>{}, {0, 3});
    group.write_matrix("matrix", matrix);
    group.write_attribute("name", "value");
    group.write_attribute("nothing", "");
    group.write_attribute("pi", 3.25);
    group.write_attribute("count", std::int64_t{7});
    file.close();
  }
  const hdf5::File file = hdf5::File::open(folder / "a.h5");
  EXPECT_EQ(file.root().names(), std::vector<std::string>{"one"});
  const hdf5::Group group = file.root().group("one").group("two");
  EXPECT_EQ(group.read_doubles("many"), many);
  EXPECT_EQ(group.info("many").shape, (hdf5::Shape{1000, 100}));
  EXPECT_EQ(group.read_ints("ints"), (std::vector<std::int32_t>{1, -2, 2147483647}));
  EXPECT_EQ(group.read_longs("longs"), (std::vector<std::int64_t>{1, -2, 1L << 60}));
  EXPECT_EQ(group.read_ints("bytes"), (std::vector<std::int32_t>{0, 255}));
  EXPECT_EQ(group.read_strings("text"), (std::vector<std::string>{"", "ärger", "a/b"}));
  EXPECT_TRUE(group.read_strings("no text").empty());
  EXPECT_TRUE(group.read_doubles("empty").empty());
  EXPECT_TRUE((group.read_matrix("matrix").array() == matrix.array()).all());
  EXPECT_TRUE((group.read_matrix("many").row(1).array() ==
               Eigen::Map<const Eigen::RowVectorXd>(many.data() + 100, 100).array())
                  .all());
  EXPECT_EQ(group.string_attribute("name"), "value");
  EXPECT_EQ(group.string_attribute("nothing"), "");
  EXPECT_EQ(group.double_attribute("pi"), 3.25);
  EXPECT_EQ(group.long_attribute("count"), 7);
}

TEST(Hdf5, ASlabIsThatPartOfTheDataset) {
  const TemporaryFolder folder;
  std::vector<double> values(4 * 5 * 6);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) + 0.25;
  {
    hdf5::File file = hdf5::File::create(folder / "a.h5");
    file.root().write("x", values, {4, 5, 6});
    file.root().write("whole", std::vector<std::int32_t>{7, 8, 9});
    file.root().write("text", {"a"});
    file.close();
  }
  const hdf5::File file = hdf5::File::open(folder / "a.h5");
  const hdf5::Group root = file.root();
  std::vector<double> part(2 * 1 * 3);
  root.read_slab("x", {1, 4, 2}, {2, 1, 3}, part);
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(part[3 * i + k], values[30 * (1 + i) + 6 * 4 + 2 + k]);
  std::vector<double> last(1);
  root.read_slab("whole", {2}, {1}, last);
  EXPECT_EQ(last[0], 9);
  std::vector<double> none;
  root.read_slab("whole", {3}, {0}, none);
  EXPECT_THROW(root.read_slab("whole", {3}, {1}, last), std::logic_error);
  EXPECT_NE(message_of<InputError>([&] { root.read_slab("text", {0}, {1}, last); }).find("expected numbers"),
            std::string::npos);
  EXPECT_EQ(root.info("whole").value_bytes, 4);
}

TEST(Hdf5, MessagesNameTheFileAndThePathInside) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  {
    hdf5::File file = hdf5::File::create(path);
    hdf5::Group group = file.root().create_group("g");
    group.write("text", {"a"});
    group.write("big", std::vector<std::int64_t>{1L << 40});
    file.close();
  }
  const hdf5::File file = hdf5::File::open(path);
  const hdf5::Group group = file.root().group("g");
  testing::internal::CaptureStderr();
  EXPECT_EQ(message_of<InputError>([&] { group.read_doubles("x"); }),
            path + ": '/g/x': there is no such dataset");
  EXPECT_EQ(message_of<InputError>([&] { group.read_doubles("text"); }),
            path + ": '/g/text': expected numbers, found text");
  EXPECT_EQ(message_of<InputError>([&] { group.read_ints("big"); }),
            path + ": '/g/big': holds the integer 1099511627776, which does not fit into 32 bits");
  EXPECT_EQ(message_of<InputError>([&] { group.string_attribute("a"); }),
            path + ": '/g': there is no attribute 'a'");
  EXPECT_EQ(message_of<InputError>([&] { group.read_matrix("big"); }),
            path + ": '/g/big': expected a matrix, found 1 dimensions");
  EXPECT_NE(
      message_of<InputError>([&] { file.root().group("h"); }).find(": '/h': the group cannot be opened"),
      std::string::npos);
  // HDF5 would have printed its stack of errors here
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Hdf5, FilesThatAreNotHdf5AreRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  EXPECT_EQ(message_of<InputError>([&] { hdf5::File::open(path); }), path + ": no such file");
  EXPECT_EQ(message_of<InputError>([&] { hdf5::File::open(folder.path()); }),
            folder.path().string() + ": is a folder, expected a file");
  write_bytes(path, "this is text");
  EXPECT_FALSE(hdf5::is_hdf5(path));
  EXPECT_EQ(message_of<InputError>([&] { hdf5::File::open(path); }), path + ": is not an HDF5 file");
}

TEST(Hdf5, ADatasetThatClaimsMoreThanTheFileHoldsIsNotAllocated) {
  // chunks that were never written take no room, whatever the shape says
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t size[] = {1UL << 40}, chunk[] = {1024};
  const hid_t space = H5Screate_simple(1, size, nullptr), list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 1, chunk);
  H5Dclose(H5Dcreate2(file, "huge", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT));
  H5Pclose(list), H5Sclose(space), H5Fclose(file);
  EXPECT_EQ(
      message_of<InputError>([&] { hdf5::File::open(path).root().read_doubles("huge"); }),
      path +
          ": '/huge': claims 8796093022208 bytes of data, but the file holds only 0 for it; the file is "
          "damaged");
}

TEST(Hdf5, AFullDiskIsAnError) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  const Eigen::MatrixXd values = Eigen::MatrixXd::Random(1000, 1000);
  const rlimit small{1 << 16, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string text = message_of<Error>([&] {
    hdf5::File file = hdf5::File::create(path);
    file.root().write_matrix("values", values);
    file.close();
  });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text.find(path), 0) << text;
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
}

// A file of a stranger must not make numbers of another one.
TEST(Hdf5, WhatLeadsIntoOtherFilesIsRefused) {
  const TemporaryFolder folder;
  {
    hdf5::File other = hdf5::File::create(folder / "other.h5");
    other.root().create_group("g").write("K", std::vector<double>{1, 2, 3});
    other.close();
  }
  folder.write("raw.bin", std::string(24, 'x'));
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string path = (folder / "a.h5").string();
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t other = H5Gcreate2(file, "own", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(other);
    H5Lcreate_external("other.h5", "/g/K", file, "linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/g", file, "group", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external((folder / "pipe").c_str(), "/g", file, "pipe", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/group/K", file, "around", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "loose", H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t three = 3;
    const hid_t space = H5Screate_simple(1, &three, nullptr);
    const hid_t raw = H5Pcreate(H5P_DATASET_CREATE), layered = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(raw, (folder / "raw.bin").c_str(), 0, 24);
    H5Pset_virtual(layered, space, (folder / "other.h5").c_str(), "/g/K", space);
    for (const auto& [name, list] : {std::pair("raw", raw), std::pair("virtual", layered)}) {
      const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
      ASSERT_GE(dataset, 0) << name;
      H5Dclose(dataset);
    }
    H5Pclose(raw);
    H5Pclose(layered);
    H5Sclose(space);
    H5Fclose(file);
  }
  const hdf5::File file = hdf5::File::open(path);
  const hdf5::Group root = file.root();
  const auto refusal = [&](auto f) { return message_of<InputError>(f); };
  const std::string ends = "which is refused: copy the data into this one";
  for (const std::string name : {"linked", "around"}) {
    EXPECT_EQ(refusal([&] { root.read_doubles(name); }),
              path + ": '/" + name + "': leads into another file ('other.h5'), " + ends);
    EXPECT_NE(refusal([&] { root.has_dataset(name); }).find("leads into another file"), std::string::npos);
    EXPECT_NE(refusal([&] { root.info(name); }).find("leads into another file"), std::string::npos);
    EXPECT_NE(refusal([&] { root.string_attribute("unit", name); }).find("leads into another file"),
              std::string::npos);
  }
  EXPECT_NE(refusal([&] { root.group("group"); }).find("leads into another file"), std::string::npos);
  EXPECT_NE(refusal([&] { root.read_doubles("group/K"); }).find("leads into another file"),
            std::string::npos);
  // nobody waits at a pipe
  EXPECT_NE(refusal([&] { root.has_group("pipe"); }).find("leads into another file"), std::string::npos);
  EXPECT_EQ(refusal([&] { root.read_doubles("raw"); }),
            path +
                ": '/raw': is a dataset with external storage, whose numbers lie in other files, which is "
                "refused: copy them into this one");
  EXPECT_NE(refusal([&] { root.read_doubles("virtual"); }).find("is a virtual dataset"), std::string::npos);
  // a link that leads nowhere, and what is in the file itself, are as before
  EXPECT_FALSE(root.has_dataset("loose"));
  EXPECT_TRUE(root.has_group("own"));
}

// 160 MB of zeros are a few kilobytes when they are packed.
TEST(Hdf5, ADatasetLargerThanTheMemoryIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = (folder / "bomb.h5").string();
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t size = 20'000'000, chunk = 2'000'000;
    const hid_t space = H5Screate_simple(1, &size, nullptr), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_deflate(list, 1);
    const hid_t dataset = H5Dcreate2(file, "K", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    const std::vector<double> zeros(chunk, 0.0);
    const hid_t memory = H5Screate_simple(1, &chunk, nullptr);
    for (hsize_t start = 0; start < size; start += chunk) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &chunk, nullptr);
      ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, zeros.data()), 0);
    }
    H5Sclose(memory);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
  }
  const hdf5::File file = hdf5::File::open(path);
  // room for half of it
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const size_t used = [] {
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    statm >> pages;
    return pages * 4096;
  }();
  rlimit limit = before;
  limit.rlim_cur = used + 80'000'000;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::string message = message_of<InputError>([&] { file.root().read_doubles("K"); });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(message.find(path + ": '/K': is 160 MB when it is unpacked, more than the "), 0u) << message;
}

}  // namespace
}  // namespace lissom::hdf5_test
