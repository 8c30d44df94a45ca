// libFuzzer target of the readers of HDF5 files: whatever a file has in it, they give what they promise or
// throw an InputError.
//
// The input is not the file but a text that says what is in it, a line each, of which the file is then made
// by calls of HDF5. The bytes of a file would be of no use here: libhdf5 1.10 itself crashes on damaged files
// (README, limitations), which is not ours to cure, and its checksums keep a fuzzer from coming any further.
// What is ours is to stand any file that libhdf5 opens: wrong types, shapes and values, missing pieces, links
// in circles.
//
//   g PATH                           a group
//   d PATH TYPE DIMS VALUE VALUE ..  a dataset, whose values are repeated until it is full
//   a PATH NAME TYPE DIMS VALUE ..   an attribute
//   l PATH TARGET                    a soft link;  h PATH TARGET  a hard one
// TYPE: f8 f4 i1 i2 i4 i8 u1 u2 u4 u8, sN (text of N bytes), v (text of any length), c (a compound).
// DIMS: 3x4, or - for a single value. tests/fuzz/hdf5_seed.py makes such a text of a file.
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/number_array.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/io/result_file.hpp"
#include "lissom/io/rom_file.hpp"
#include "lissom/io/view_file.hpp"

namespace {

using namespace lissom;

constexpr size_t most_lines = 400;
constexpr std::uint64_t most_values = 1 << 15;
constexpr size_t longest_text = 4096;

// An id of HDF5 that is closed in any case.
struct Id {
  hid_t id;
  herr_t (*close)(hid_t);
  Id(hid_t given, herr_t (*closer)(hid_t)) : id(given), close(closer) {}
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id >= 0) close(id);
  }
};

// What stands behind a name: a type, a shape and values.
struct Content {
  hid_t type = -1;  // to be closed
  bool texts = false, any_length = false;
  std::vector<hsize_t> shape;
  std::vector<char> bytes;            // of all values but texts of any length
  std::vector<std::string> kept;      // those
  std::vector<const char*> pointers;  // to them
  const void* data() const { return any_length ? static_cast<const void*>(pointers.data()) : bytes.data(); }
};

template <class T>
void put(std::vector<char>& bytes, std::uint64_t at, double value) {
  T number{};
  // what a type cannot hold is no business of this test
  if (value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
      value < static_cast<double>(std::numeric_limits<T>::max()))
    number = static_cast<T>(value);
  std::memcpy(bytes.data() + at * sizeof(T), &number, sizeof(T));
}

// False where the words say nothing that can be made.
bool read_content(const std::vector<std::string_view>& words, size_t first, Content& content) {
  if (words.size() < first + 2) return false;
  std::uint64_t count = 1;
  if (words[first + 1] != "-")
    for (const std::string_view size : split(words[first + 1], 'x')) {
      const auto n = parse_long(size);
      if (!n || *n < 0 || *n > 1 << 15 || content.shape.size() >= 6) return false;
      content.shape.push_back(static_cast<hsize_t>(*n));
      count *= static_cast<std::uint64_t>(*n);
      if (count > most_values) return false;
    }
  const std::vector<std::string_view> values(words.begin() + static_cast<long>(first) + 2, words.end());
  const std::string_view type = words[first];
  if (type.empty()) return false;
  const auto value = [&](std::uint64_t i) { return values.empty() ? "" : values[i % values.size()]; };
  if (type[0] == 'v') {
    content.any_length = content.texts = true;
    content.type = H5Tcopy(H5T_C_S1);
    H5Tset_size(content.type, H5T_VARIABLE);
    for (std::uint64_t i = 0; i < count; ++i) content.kept.emplace_back(value(i).substr(0, longest_text));
    for (const std::string& text : content.kept) content.pointers.push_back(text.c_str());
    content.pointers.push_back(nullptr);
    return true;
  }
  const auto digits = parse_long(type.substr(1));
  if (type[0] == 's') {
    const size_t size = digits && *digits > 0 && *digits <= 4096 ? static_cast<size_t>(*digits) : 0;
    if (size == 0 || count * size > 1 << 18) return false;
    content.texts = true;
    content.type = H5Tcopy(H5T_C_S1);
    H5Tset_size(content.type, size);
    H5Tset_strpad(content.type, H5T_STR_NULLPAD);
    content.bytes.assign(count * size + 1, '\0');
    for (std::uint64_t i = 0; i < count; ++i)
      std::memcpy(content.bytes.data() + i * size, value(i).data(), std::min(size, value(i).size()));
    return true;
  }
  struct Kind {
    std::string_view name;
    hid_t type;
    size_t size;
    void (*put)(std::vector<char>&, std::uint64_t, double);
  };
  const Kind kinds[] = {
      {"f8", H5T_NATIVE_DOUBLE, 8, put<double>},        {"f4", H5T_NATIVE_FLOAT, 4, put<float>},
      {"i1", H5T_NATIVE_INT8, 1, put<std::int8_t>},     {"i2", H5T_NATIVE_INT16, 2, put<std::int16_t>},
      {"i4", H5T_NATIVE_INT32, 4, put<std::int32_t>},   {"i8", H5T_NATIVE_INT64, 8, put<std::int64_t>},
      {"u1", H5T_NATIVE_UINT8, 1, put<std::uint8_t>},   {"u2", H5T_NATIVE_UINT16, 2, put<std::uint16_t>},
      {"u4", H5T_NATIVE_UINT32, 4, put<std::uint32_t>}, {"u8", H5T_NATIVE_UINT64, 8, put<std::uint64_t>}};
  if (type == "c") {
    content.type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(content.type, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(content.type, "i", 8, H5T_NATIVE_DOUBLE);
    content.bytes.assign(count * 16 + 1, '\0');
    return true;
  }
  for (const Kind& kind : kinds) {
    if (type != kind.name) continue;
    content.type = H5Tcopy(kind.type);
    content.bytes.assign(count * kind.size + 1, '\0');
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view text = value(i);
      // parse_double() knows no NaN and no infinity
      const double number = text == "nan"    ? std::nan("")
                            : text == "inf"  ? std::numeric_limits<double>::infinity()
                            : text == "-inf" ? -std::numeric_limits<double>::infinity()
                                             : parse_double(text).value_or(0);
      if (kind.name == "f8")
        std::memcpy(content.bytes.data() + i * 8, &number, 8);
      else
        kind.put(content.bytes, i, number);
    }
    return true;
  }
  return false;
}

Id space_of(const Content& content) {
  return {content.shape.empty()
              ? H5Screate(H5S_SCALAR)
              : H5Screate_simple(static_cast<int>(content.shape.size()), content.shape.data(), nullptr),
          H5Sclose};
}

void add_line(hid_t file, std::string_view line, hid_t with_parents) {
  const std::vector<std::string_view> words = split_blanks(line);
  if (words.size() < 2 || words[0].size() != 1 || line.size() > 1 << 16) return;
  const std::string path(words[1]);
  switch (words[0][0]) {
    case 'g':
      Id(H5Gcreate2(file, path.c_str(), with_parents, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      return;
    case 'l':
      if (words.size() > 2)
        H5Lcreate_soft(std::string(words[2]).c_str(), file, path.c_str(), with_parents, H5P_DEFAULT);
      return;
    case 'h':
      if (words.size() > 2)
        H5Lcreate_hard(file, std::string(words[2]).c_str(), file, path.c_str(), with_parents, H5P_DEFAULT);
      return;
    case 'd': {
      Content content;
      const bool good = read_content(words, 2, content);
      const Id type(content.type, H5Tclose);
      if (!good) return;
      const Id space = space_of(content);
      const Id set(H5Dcreate2(file, path.c_str(), type.id, space.id, with_parents, H5P_DEFAULT, H5P_DEFAULT),
                   H5Dclose);
      if (set.id >= 0) H5Dwrite(set.id, type.id, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data());
      return;
    }
    case 'a': {
      Content content;
      const bool good = words.size() > 2 && read_content(words, 3, content);
      const Id type(content.type, H5Tclose);
      if (!good) return;
      const Id space = space_of(content);
      const Id set(H5Acreate_by_name(file, path.c_str(), std::string(words[2]).c_str(), type.id, space.id,
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
      if (set.id >= 0) H5Awrite(set.id, type.id, content.data());
      return;
    }
    default:
      return;
  }
}

// Makes a file of everything that the text says, as far as HDF5 takes it. (Not in memory: the bytes that
// H5Fget_file_image() of 1.10 gives have a wrong checksum.)
void make_file(const std::filesystem::path& path, std::string_view text) {
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id), H5Fclose);
  if (file.id < 0) std::abort();
  const Id with_parents(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(with_parents.id, 1);
  LineReader lines(text, "");
  std::string_view line;
  for (size_t i = 0; i < most_lines && lines.next(line); ++i) add_line(file.id, line, with_parents.id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // in memory, where there is such a folder; gone after every run
  static const std::filesystem::path folder = std::filesystem::is_directory("/dev/shm")
                                                  ? std::filesystem::path("/dev/shm")
                                                  : std::filesystem::temp_directory_path();
  static const std::filesystem::path path = folder / fmt::format("lissom-fuzz-{}.h5", getpid());
  // HDF5 keeps what it has freed, which the fuzzer would take for leaks and look for at length
  static const int once = H5set_free_list_limits(0, 0, 0, 0, 0, 0);
  static const bool tell = std::getenv("FUZZ_TELL") != nullptr;
  LISSOM_ASSERT(once >= 0);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  make_file(path, text);
  Diagnostics diagnostics;
  struct Reader {
    std::string_view format;  // without which in the file it reads nothing
    std::function<void()> read;
  };
  const Reader readers[] = {
      {"lissom-body", [&] { read_body_file(path, diagnostics); }},
      {"lissom-reduced-body", [&] { read_reduced_body_file(path, diagnostics); }},
      {"lissom-rom", [&] { read_rom_file(path, diagnostics); }},
      {"lissom-result", [&] { read_result_file(path, diagnostics); }},
      {"lissom-view", [&] { read_view_file(path, diagnostics); }},
      {"", [&] { read_hdf5_matrices(path, diagnostics); }},
      {"",
       [&] {
         const auto arrays = open_hdf5_arrays(path);
         for (const std::string& name : arrays->names()) {
           const auto array = arrays->open(name);
           LISSOM_ASSERT(array->read_all().size() == array->size());
         }
       }},
  };
  for (const Reader& reader : readers) try {
      if (text.find(reader.format) != std::string_view::npos) reader.read();
    } catch (const InputError& e) {
      // what a user would be told; FUZZ_TELL=1 shows it, for whoever makes a seed
      if (tell) fmt::print(stderr, "{}\n", e.what());
    }
  std::filesystem::remove(path);
  return 0;
}
