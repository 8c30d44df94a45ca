#include <gtest/gtest.h>
#include <hdf5.h>

#include <numeric>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/number_array.hpp"
#include "lissom/io/snapshot_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::hdf5_arrays_test {
namespace {

// A filter that leaves values as they are and counts how often a chunk is unpacked; 300 is among the numbers
// that HDF5 leaves to tests.
constexpr H5Z_filter_t counting_filter = 300;
int unpacked = 0;

size_t count_chunks(unsigned flags, size_t, const unsigned*, size_t bytes, size_t*, void**) {
  if (flags & H5Z_FLAG_REVERSE) ++unpacked;
  return bytes;
}

// Numbers 0, 1, 2, .. as a dataset 'body' packed in such chunks, and their times.
void write_packed(const std::filesystem::path& path, std::vector<hsize_t> shape, std::vector<hsize_t> chunk) {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, counting_filter, 1,       1,
                               "counts",         nullptr,         nullptr, count_chunks};
  ASSERT_GE(H5Zregister(&filter), 0);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_filter(creation, counting_filter, 0, 0, nullptr);
  const auto write = [&](const char* name, const std::vector<hsize_t>& dims, hid_t list) {
    std::vector<double> values(std::accumulate(dims.begin(), dims.end(), hsize_t{1}, std::multiplies<>()));
    std::iota(values.begin(), values.end(), 0.0);
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(dataset);
    H5Sclose(space);
  };
  write("body", shape, creation);
  write("time", {shape[0]}, H5P_DEFAULT);
  H5Pclose(creation);
  H5Fclose(file);
  unpacked = 0;
}

TEST(Hdf5Arrays, EveryPackedChunkIsUnpackedOnceWhenRowsAreReadOneByOne) {
  const TemporaryFolder folder;
  // of 2.4 MB, beyond HDF5's usual cache of one; in one chunk, in chunks of many rows, across the rows, both
  struct {
    std::vector<hsize_t> chunk;
    int chunks;
  } const cases[] = {{{1000, 300}, 1}, {{400, 300}, 3}, {{1000, 7}, 43}, {{300, 50}, 24}, {{1, 300}, 1000}};
  for (const auto& [chunk, chunks] : cases) {
    write_packed(folder / "t.h5", {1000, 300}, chunk);
    const auto array = open_array_file(folder / "t.h5")->open("body");
    std::vector<double> row(300);
    for (int i = 0; i < 1000; ++i) {
      array->read_rows(static_cast<std::uint64_t>(i), 1, row.data());
      ASSERT_EQ(row[0], 300.0 * i);
      ASSERT_EQ(row[299], 300.0 * i + 299);
    }
    EXPECT_EQ(unpacked, chunks) << chunk[0] << " by " << chunk[1];
  }
}

TEST(Hdf5Arrays, TheSameForColumns) {
  const TemporaryFolder folder;
  write_packed(folder / "t.h5", {300, 1000}, {300, 1000});
  const auto array = open_array_file(folder / "t.h5")->open("body");
  std::vector<double> column(300);
  for (int j = 0; j < 1000; j += 10) {
    array->read_columns(static_cast<std::uint64_t>(j), 1, column.data());
    ASSERT_EQ(column[299], 299000.0 + j);
  }
  EXPECT_EQ(unpacked, 1);
}

TEST(Hdf5Arrays, ATrajectoryInOneChunkIsUnpackedOnceByItsReader) {
  const TemporaryFolder folder;
  write_packed(folder / "t.h5", {500, 100, 3}, {500, 100, 3});
  TrajectorySpec spec;
  spec.file = folder / "t.h5";
  Diagnostics diagnostics;
  const auto source = open_snapshots(spec, {"body"}, {}, diagnostics, {});
  ASSERT_EQ(source->samples(), 500);
  Eigen::MatrixXd X(300, 1);
  for (int k = 0; k < 500; ++k) {
    source->read(0, k, 1, X);
    ASSERT_EQ(X(299, 0), 300.0 * k + 299);
  }
  EXPECT_EQ(unpacked, 1);
}

}  // namespace
}  // namespace lissom::hdf5_arrays_test
