// A reader of classic NetCDF files with 64-bit offsets, for tests; written from the format's description and
// with nothing of the writer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace lissom {

class NetcdfFile {
 public:
  explicit NetcdfFile(std::string bytes) : bytes_(std::move(bytes)) {
    if (bytes_.substr(0, 4) != std::string("CDF\2", 4)) throw std::runtime_error("no NetCDF file");
    at_ = 4;
    records_ = word();
    std::vector<std::uint32_t> lengths;
    word();
    for (std::uint32_t i = 0, count = word(); i < count; ++i) {
      name();
      lengths.push_back(word());
    }
    attributes();
    word();
    for (std::uint32_t i = 0, count = word(); i < count; ++i) {
      Variable& v = variables_[name()];
      v.values = 1;
      for (std::uint32_t d = 0, dimensions = word(); d < dimensions; ++d) {
        const std::uint32_t length = lengths.at(word());
        v.last = length;
        if (length == 0)
          v.record = true;
        else
          v.values *= length;
      }
      attributes();
      v.type = word();
      v.bytes = word();
      v.begin = (std::uint64_t{word()} << 32);
      v.begin += word();
      if (v.record) record_bytes_ += v.bytes;
    }
  }
  std::uint32_t records() const { return records_; }
  bool has(const std::string& name) const { return variables_.contains(name); }
  // Of the whole variable, or of one record.
  std::vector<double> numbers(const std::string& name, std::uint32_t record = 0) const {
    const Variable& v = variables_.at(name);
    std::vector<double> out;
    std::uint64_t at = v.begin + record * record_bytes_;
    for (std::uint64_t i = 0; i < v.values; ++i) {
      if (v.type == 6) {
        out.push_back(std::bit_cast<double>((std::uint64_t{word_at(at)} << 32) + word_at(at + 4)));
        at += 8;
      } else {
        const std::uint32_t bits = word_at(at);
        out.push_back(v.type == 5 ? std::bit_cast<float>(bits) : std::bit_cast<std::int32_t>(bits));
        at += 4;
      }
    }
    return out;
  }
  std::vector<std::string> texts(const std::string& name) const {
    const Variable& v = variables_.at(name);
    std::vector<std::string> out;
    for (std::uint64_t at = 0; at < v.values; at += v.last) out.emplace_back(bytes_.c_str() + v.begin + at);
    return out;
  }

 private:
  struct Variable {
    bool record = false;
    std::uint64_t values = 0, begin = 0;
    std::uint32_t type = 0, bytes = 0, last = 0;
  };
  std::uint32_t word_at(std::uint64_t at) const {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes_.at(at + i));
    return value;
  }
  std::uint32_t word() {
    at_ += 4;
    return word_at(at_ - 4);
  }
  std::string name() {
    const std::uint32_t size = word();
    const std::string out = bytes_.substr(at_, size);
    at_ += (size + 3) / 4 * 4;
    return out;
  }
  void attributes() {
    word();
    for (std::uint32_t i = 0, count = word(); i < count; ++i) {
      name();
      const std::uint32_t type = word(), values = word();
      at_ += (values * (type == 6 ? 8 : type == 2 ? 1 : 4) + 3) / 4 * 4;
    }
  }

  std::string bytes_;
  std::uint64_t at_ = 0, record_bytes_ = 0;
  std::uint32_t records_ = 0;
  std::map<std::string, Variable> variables_;
};

}  // namespace lissom
