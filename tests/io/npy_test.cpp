#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lissom/io/number_array.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::npy_test {
namespace {

// A file of version 1 as numpy.lib.format describes it.
std::string npy_of(const std::string& shape, const std::vector<double>& values) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  const size_t at = bytes.size();
  bytes.resize(at + 8 * values.size());
  std::memcpy(bytes.data() + at, values.data(), 8 * values.size());
  return bytes;
}

// The sizes were once read from the text of the shape after it was freed, which a short text survives by
// luck.
TEST(Npy, AShapeWithALongTextIsReadAsItIsWritten) {
  const TemporaryFolder folder;
  for (const std::string shape : {"2, 3", "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3"}) {
    folder.write("a.npy", npy_of(shape, {1, 2, 3, 4, 5, 6}));
    const auto array = open_npy(folder / "a.npy")->open("a");
    EXPECT_EQ(to_string(array->stored()), "(" + shape + ")");
    EXPECT_EQ(array->read_all(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

}  // namespace
}  // namespace lissom::npy_test
