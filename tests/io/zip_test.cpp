#include "lissom/io/zip.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "lissom/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::zip_test {
namespace {

std::string bytes_of(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// Four megabytes that claim to be four gigabytes, as a packed array of zeros is.
TEST(Zip, AMemberLargerThanTheMemoryIsRefusedByFileAndName) {
  const std::uint64_t packed = 4'000'000, size = 4'000'000'000;
  const std::string name = "x.npy";
  std::string zip = "PK\3\4" + std::string(22, '\0') + bytes_of(name.size(), 2) + bytes_of(0, 2) + name;
  zip += std::string(packed, '\0');
  const std::uint64_t start = zip.size();
  zip += "PK\1\2" + std::string(6, '\0') + bytes_of(8, 2) + std::string(8, '\0') + bytes_of(packed, 4) +
         bytes_of(size, 4) + bytes_of(name.size(), 2) + std::string(16, '\0') + name;
  const std::uint64_t length = zip.size() - start;
  zip += "PK\5\6" + std::string(4, '\0') + bytes_of(1, 2) + bytes_of(1, 2) + bytes_of(length, 4) +
         bytes_of(start, 4) + bytes_of(0, 2);
  const ZipArchive archive(bytes_in_memory(zip), "bomb.npz");
  ASSERT_EQ(archive.members().size(), 1u);
  ASSERT_EQ(archive.members()[0].size, size);

  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = before;
  limit.rlim_cur = pages * 4096 + 500'000'000;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::string message = message_of<InputError>([&] { archive.open(archive.members()[0]); });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(message.find("bomb.npz: 'x.npy': is 4.0 GB when it is unpacked, more than the "), 0u) << message;
}

}  // namespace
}  // namespace lissom::zip_test
