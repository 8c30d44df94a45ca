// libFuzzer target of NumPy's .npy and .npz: any bytes give arrays whose values can be read, or an
// InputError. The first byte says which of the two, 'y' or 'z'. A zip archive has checksums that a fuzzer does
// not guess: with 'c' as the second byte they are put right, so that what is behind them is reached.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/io/number_array.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace lissom;

std::uint32_t number(const std::string& bytes, size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The checksum of every stored member that the directory names, as the file has it.
void mend_checksums(std::string& bytes) {
  for (size_t at = 0; (at = bytes.find("PK\1\2", at)) != std::string::npos; ++at) {
    if (bytes.size() - at < 46) return;
    const size_t header = number(bytes, at + 42, 4), size = number(bytes, at + 24, 4);
    if (number(bytes, at + 10, 2) != 0 || header > bytes.size() || bytes.size() - header < 30) continue;
    const size_t start = header + 30 + number(bytes, header + 26, 2) + number(bytes, header + 28, 2);
    if (start > bytes.size() || size > bytes.size() - start) continue;
    const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + start), static_cast<uInt>(size));
    for (int i = 0; i < 4; ++i) bytes[at + 16 + i] = static_cast<char>(crc >> (8 * i));
  }
}

void read_all(ArrayFile& file) {
  for (const std::string& name : file.names()) {
    const auto array = file.open(name);
    if (array->size() > 1 << 20) continue;
    const std::vector<double> values = array->read_all();
    LISSOM_ASSERT(values.size() == array->size());
    const auto& shape = array->stored();
    if (shape.empty() || values.empty()) continue;
    // its last row and its last column
    std::vector<double> part(std::max(values.size() / shape.front(), values.size() / shape.back()));
    array->read_rows(shape.front() - 1, 1, part.data());
    array->read_columns(shape.back() - 1, 1, part.data());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] == 'c') mend_checksums(bytes);
  file.set(bytes);
  try {
    read_all(*(data[0] == 'y' ? open_npy(file.path()) : open_npz(file.path())));
  } catch (const InputError&) {
    // what a user would be told
  }
  return 0;
}
