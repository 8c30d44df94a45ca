// NumPy's .npy (versions 1 to 3 of numpy.lib.format) and .npz, a zip archive of them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/byte_source.hpp"
#include "lissom/io/number_array.hpp"
#include "lissom/io/zip.hpp"

namespace lissom {

namespace {

// Numbers of one type to doubles, after their bytes have been brought into this machine's order.
template <class T>
void convert(const char* bytes, std::uint64_t count, double* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

struct Dtype {
  int bytes = 0;
  bool swap = false;
  void (*to_doubles)(const char*, std::uint64_t, double*) = nullptr;
};

// "<f8", ">i4", "|u1".
Dtype parse_dtype(const std::string& text, const std::string& where) {
  const auto refuse = [&]() -> Dtype {
    fail_input("{}: has values of the type '{}', expected real numbers (f4, f8, integers)", where,
               printable(text));
  };
  if (text.size() != 3) return refuse();
  Dtype type;
  type.bytes = text[2] - '0';
  const bool little = std::endian::native == std::endian::little;
  if (text[0] == '<')
    type.swap = !little;
  else if (text[0] == '>')
    type.swap = little;
  else if ((text[0] != '|' && text[0] != '=') || (text[0] == '|' && type.bytes != 1))
    return refuse();
  const std::string kind = text.substr(1);
  if (kind == "f8") type.to_doubles = convert<double>;
  if (kind == "f4") type.to_doubles = convert<float>;
  if (kind == "i8") type.to_doubles = convert<std::int64_t>;
  if (kind == "i4") type.to_doubles = convert<std::int32_t>;
  if (kind == "i2") type.to_doubles = convert<std::int16_t>;
  if (kind == "i1") type.to_doubles = convert<std::int8_t>;
  if (kind == "u8") type.to_doubles = convert<std::uint64_t>;
  if (kind == "u4") type.to_doubles = convert<std::uint32_t>;
  if (kind == "u2") type.to_doubles = convert<std::uint16_t>;
  if (kind == "u1" || kind == "b1") type.to_doubles = convert<std::uint8_t>;
  return type.to_doubles ? type : refuse();
}

// The value of a key of the header, a Python dictionary of three known keys: a text, a word, or what stands
// between parentheses.
std::string header_value(const std::string& header, const std::string& key, const std::string& where) {
  const size_t at = header.find("'" + key + "'");
  const size_t colon = at == std::string::npos ? at : header.find(':', at);
  const size_t start = colon == std::string::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (start != std::string::npos) {
    const char first = header[start];
    if (first == '\'' || first == '(') {
      const size_t end = header.find(first == '(' ? ')' : '\'', start + 1);
      if (end != std::string::npos) return header.substr(start + 1, end - start - 1);
    } else {
      const size_t end = header.find_first_of(",}", start);
      if (end != std::string::npos) return std::string(trim(header.substr(start, end - start)));
    }
  }
  fail_input("{}: the header has no '{}' that can be read; the file is damaged", where, key);
}

class NpyArray final : public NumberArray {
 public:
  NpyArray(std::shared_ptr<ByteSource> bytes, std::string where) : bytes_(std::move(bytes)) {
    where_ = std::move(where);
    char head[12] = {};
    bytes_->read(0, std::min<std::uint64_t>(bytes_->size(), sizeof head), head);
    if (std::memcmp(head, "\x93NUMPY", 6) != 0) fail_input("{}: is not a NumPy array (.npy)", where_);
    const auto byte = [&](int i) { return std::uint64_t{static_cast<unsigned char>(head[i])}; };
    const std::uint64_t version = byte(6);
    if (version < 1 || version > 3)
      fail_input("{}: is of version {} of .npy, expected 1, 2 or 3", where_, version);
    const std::uint64_t before = version == 1 ? 10 : 12;
    std::uint64_t length = byte(8) | byte(9) << 8;
    if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (bytes_->size() < before || length > bytes_->size() - before)
      fail_input("{}: ends within its header; the file is truncated", where_);
    start_ = before + length;
    std::string header(length, '\0');
    bytes_->read(before, length, header.data());

    type_ = parse_dtype(header_value(header, "descr", where_), where_);
    single_precision_ = type_.to_doubles == &convert<float>;
    const std::string order = header_value(header, "fortran_order", where_);
    if (order != "True" && order != "False")
      fail_input("{}: fortran_order is '{}', expected True or False; the file is damaged", where_,
                 printable(order));
    by_columns_ = order == "True";
    std::uint64_t total = static_cast<std::uint64_t>(type_.bytes);
    const std::string shape = header_value(header, "shape", where_);
    for (const std::string_view field : split(shape, ',')) {
      if (field.empty()) continue;
      const auto n = parse_long(field);
      if (!n || *n < 0 || __builtin_mul_overflow(total, static_cast<std::uint64_t>(*n), &total))
        fail_input("{}: the shape has a size '{}'; the file is damaged", where_, printable(field));
      stored_.push_back(static_cast<std::uint64_t>(*n));
    }
    if (total != bytes_->size() - start_)
      fail_input("{}: has {} bytes of data, but its shape {} needs {}; the file is truncated or damaged",
                 where_, bytes_->size() - start_, to_string(stored_), total);
    if (by_columns_) std::reverse(stored_.begin(), stored_.end());
  }

  void read_rows(std::uint64_t first, std::uint64_t count, double* out) override {
    std::uint64_t row = 1;
    for (size_t d = 1; d < stored_.size(); ++d) row *= stored_[d];
    read_values(first * row, count * row, out);
  }
  void read_columns(std::uint64_t first, std::uint64_t count, double* out) override {
    const std::uint64_t length = stored_.back(), rows = length == 0 ? 0 : size() / length;
    for (std::uint64_t i = 0; i < rows; ++i) read_values(i * length + first, count, out + i * count);
  }

 private:
  void read_values(std::uint64_t first, std::uint64_t count, double* out) {
    const auto size = static_cast<std::uint64_t>(type_.bytes);
    // doubles go straight to their place
    if (type_.to_doubles == &convert<double> && !type_.swap)
      return bytes_->read(start_ + first * 8, count * 8, reinterpret_cast<char*>(out));
    constexpr std::uint64_t at_a_time = 1 << 16;
    for (std::uint64_t done = 0; done < count; done += at_a_time) {
      const std::uint64_t now = std::min(at_a_time, count - done);
      room_.resize(now * size);
      bytes_->read(start_ + (first + done) * size, now * size, room_.data());
      if (type_.swap)
        for (std::uint64_t i = 0; i < now; ++i)
          std::reverse(room_.data() + i * size, room_.data() + (i + 1) * size);
      type_.to_doubles(room_.data(), now, out + done);
    }
  }

  std::shared_ptr<ByteSource> bytes_;
  std::uint64_t start_ = 0;
  Dtype type_;
  std::vector<char> room_;
};

class NpyFile final : public ArrayFile {
 public:
  explicit NpyFile(const std::filesystem::path& path) : path_(path) {
    file_ = path.string();
    names_ = {path.stem().string()};
  }
  std::unique_ptr<NumberArray> open(const std::string&) override {
    return std::make_unique<NpyArray>(open_bytes(path_), file_);
  }

 private:
  std::filesystem::path path_;
};

class NpzFile final : public ArrayFile {
 public:
  explicit NpzFile(const std::filesystem::path& path) : archive_(open_bytes(path), path.string()) {
    file_ = path.string();
    for (const ZipArchive::Member& member : archive_.members()) names_.push_back(name_of(member));
    std::sort(names_.begin(), names_.end());
  }
  std::unique_ptr<NumberArray> open(const std::string& name) override {
    for (const ZipArchive::Member& member : archive_.members())
      if (name_of(member) == name)
        return std::make_unique<NpyArray>(archive_.open(member),
                                          fmt::format("{}: '{}'", file_, printable(name)));
    fail_input("{}: there is no array '{}'{}", file_, name, did_you_mean(name, names_));
  }

 private:
  static std::string name_of(const ZipArchive::Member& member) {
    const std::string& name = member.name;
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
  }
  ZipArchive archive_;
};

}  // namespace

std::unique_ptr<ArrayFile> open_npy(const std::filesystem::path& path) {
  return std::make_unique<NpyFile>(path);
}

std::unique_ptr<ArrayFile> open_npz(const std::filesystem::path& path) {
  return std::make_unique<NpzFile>(path);
}

}  // namespace lissom
