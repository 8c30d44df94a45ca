// The state of a run as bytes, and back, bit for bit: one function for both directions. A class says
//
//   void archive(Archive& archive) { archive(t_, q_, history_); }
//
// and the archive either appends what it is given or sets it to what was appended there. Numbers, enums,
// texts, vectors, arrays and optionals of them, Eigen's matrices, and everything with such a member or with a
// function archive(Archive&, T&) beside it. Bytes are those of this machine: checkpoints do not travel.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

class Archive {
 public:
  // To write, and to read what was written.
  Archive() = default;
  explicit Archive(std::string bytes) : bytes_(std::move(bytes)), loading_(true) {}

  bool loading() const { return loading_; }
  const std::string& bytes() const { return bytes_; }
  // Throws InputError unless everything was read.
  void finish() const {
    if (loading_ && at_ != bytes_.size()) fail_input("{} bytes too many", bytes_.size() - at_);
  }

  // Throws InputError where the bytes end too early.
  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  void raw(void* data, size_t size) {
    if (size == 0) return;
    if (!loading_) {
      bytes_.append(static_cast<const char*>(data), size);
      return;
    }
    if (size > bytes_.size() - at_) fail_input("ends too early");
    std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }

  // A number of things of `size` bytes each.
  size_t count(size_t now, size_t size) {
    std::uint64_t n = now;
    raw(&n, sizeof n);
    if (loading_ && n > (bytes_.size() - at_) / std::max<size_t>(size, 1)) fail_input("ends too early");
    return n;
  }

  template <class T>
  void one(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      raw(&value, sizeof value);
    } else if constexpr (requires { value.archive(*this); }) {
      value.archive(*this);
    } else {
      archive(*this, value);
    }
  }

  void one(std::string& text) {
    text.resize(count(text.size(), 1));
    raw(text.data(), text.size());
  }

  template <class T>
  void one(std::vector<T>& list) {
    list.resize(count(list.size(), std::is_arithmetic_v<T> ? sizeof(T) : 1));
    if constexpr (std::is_arithmetic_v<T>)
      raw(list.data(), list.size() * sizeof(T));
    else
      for (T& value : list) one(value);
  }

  template <class T, size_t n>
  void one(std::array<T, n>& list) {
    for (T& value : list) one(value);
  }

  template <class T>
  void one(std::optional<T>& value) {
    bool there = value.has_value();
    one(there);
    if (!there) value.reset();
    if (there && !value) value.emplace();
    if (there) one(*value);
  }

  template <class T, int rows, int cols, int options, int most_rows, int most_cols>
  void one(Eigen::Matrix<T, rows, cols, options, most_rows, most_cols>& matrix) {
    auto r = static_cast<std::uint64_t>(matrix.rows()), c = static_cast<std::uint64_t>(matrix.cols());
    raw(&r, sizeof r);
    raw(&c, sizeof c);
    if (loading_) {
      constexpr std::uint64_t most = 1u << 31;  // an empty one may claim anything
      if ((rows != Eigen::Dynamic && r != static_cast<std::uint64_t>(rows)) ||
          (cols != Eigen::Dynamic && c != static_cast<std::uint64_t>(cols)) ||
          (r > 0 && c > 0 && r > (bytes_.size() - at_) / sizeof(T) / c) || r > most || c > most)
        fail_input("has a matrix of {} by {}, which does not fit", r, c);
      matrix.resize(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c));
    }
    raw(matrix.data(), static_cast<size_t>(matrix.size()) * sizeof(T));
  }

  std::string bytes_;
  size_t at_ = 0;
  bool loading_ = false;
};

}  // namespace lissom
