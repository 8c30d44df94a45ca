// A thin layer over HDF5's C interface: handles that close themselves, datasets from and to vectors and Eigen
// matrices, and errors that name the file and the path inside it.
//
// What is written can be trusted later: metadata in HDF5 1.10's format, of which everything carries a
// checksum (older formats leave the index of the chunks without one, so that a changed byte may turn numbers
// into zeros), data in checksummed chunks, integers shuffled and deflated. A damaged file is an error and
// never other numbers. Reading never allocates more than the file can hold. HDF5's own error printing is
// silenced during our calls. Like HDF5 itself this is not for two threads at once.
//
// Functions that write throw Error, those that read InputError.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom::hdf5 {

using Shape = std::vector<std::uint64_t>;

// An HDF5 id (hid_t) and the function that closes it.
class Handle {
 public:
  using Closer = int (*)(std::int64_t);
  Handle() = default;
  Handle(std::int64_t id, Closer closer) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  std::int64_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // Closes now; false when HDF5 reports a failure.
  bool close();
  // Leaves the object open for good.
  void abandon() { id_ = -1; }

 private:
  std::int64_t id_ = -1;
  Closer close_ = nullptr;
};

enum class TypeClass : std::uint8_t { Integer, Float, String, Compound, Other };

// What a dataset holds.
struct DatasetInfo {
  Shape shape;  // empty for a single value
  TypeClass type = TypeClass::Other;
  std::uint64_t value_bytes = 0;  // of one value in the file
  std::uint64_t size() const;     // number of values
};

// What a growing dataset holds.
enum class GrowingType : std::uint8_t { Double, Integer, Checksum, Text };  // 8, 8, 4 bytes, 1 byte

// A dataset that grows along its first dimension while something runs. Rows are collected until write(), and
// are on the disk after flush(); what was not written at the end is lost. Its chunks carry no checksum:
// the last one is written again and again, and a process killed in the middle of that would leave all of it
// unreadable. Whoever needs them writes checksums of the rows.
class GrowingDataset {
 public:
  GrowingDataset() = default;
  // Values of one row or of several; of the type of the dataset.
  void append(std::span<const double> values) { append(GrowingType::Double, std::as_bytes(values)); }
  void append(std::span<const std::int64_t> values) { append(GrowingType::Integer, std::as_bytes(values)); }
  void append(std::span<const std::uint32_t> values) { append(GrowingType::Checksum, std::as_bytes(values)); }
  void append(std::string_view text) { append(GrowingType::Text, std::as_bytes(std::span(text))); }
  // Hands the rows over to HDF5. Throws Error.
  void write();
  // The same, and brings them to the disk: the values before the length that counts them, so that a failure
  // leaves the dataset as it was. (A flush of the whole file would not stop at values that cannot be
  // written.)
  void flush();
  // Bytes that wait for write(), and rows with them.
  std::uint64_t pending() const { return pending_.size(); }
  std::uint64_t rows() const { return written_ + pending_rows_; }

 private:
  friend class Group;
  void append(GrowingType type, std::span<const std::byte> bytes);
  std::shared_ptr<class Group> group_;  // keeps the file open, and knows how to fail
  std::string name_;
  Handle dataset_;
  GrowingType type_ = GrowingType::Double;
  Shape row_shape_;
  std::uint64_t row_bytes_ = 0;
  std::uint64_t written_ = 0, extent_ = 0;  // rows that are ours, and those in the file
  std::uint64_t pending_rows_ = 0;
  std::vector<std::byte> pending_;
};

// A dataset of numbers that is read slice by slice along one dimension, as a long trajectory is read sample
// by sample. It stays open, and the packed chunks that a slice touches stay in memory as they are unpacked,
// so that each is unpacked once however many slices it holds: of data in one chunk, every slice would
// otherwise cost as much as all of them.
class SlicedDataset {
 public:
  SlicedDataset() = default;
  bool is_open() const { return dataset_.valid(); }
  // As Group::read_slab().
  void read(const Shape& first, const Shape& count, std::span<double> values) const;

 private:
  friend class Group;
  std::shared_ptr<class Group> group_;  // keeps the file open, and knows how to fail
  std::string name_;
  Shape shape_;
  Handle dataset_;
};

// A group of an open file; the file stays open as long as one of its groups lives.
class Group {
 public:
  // Names of everything in the group, in alphabetical order.
  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  bool has_group(std::string_view name) const;
  bool has_dataset(std::string_view name) const;
  Group group(std::string_view name) const;
  Group create_group(std::string_view name);

  // "file: '/path/name'", the beginning of every message.
  std::string where(std::string_view name = "") const;
  // A number that tells two groups of a file apart, however they were reached (links may form circles).
  std::uint64_t address() const;

  // Writes the values as they lie in memory; `shape` counts in C order (the last index runs fastest), and
  // empty stands for a vector.
  void write(std::string_view name, std::span<const double> values, Shape shape = {});
  void write(std::string_view name, std::span<const float> values, Shape shape = {});
  void write(std::string_view name, std::span<const std::int32_t> values, Shape shape = {});
  void write(std::string_view name, std::span<const std::int64_t> values, Shape shape = {});
  void write(std::string_view name, std::span<const std::uint8_t> values, Shape shape = {});
  // UTF-8 strings, padded with zeros to the longest one.
  void write(std::string_view name, const std::vector<std::string>& values);
  // rows by cols; the chunks lie within columns, so that one column of a tall matrix is read cheaply.
  void write_matrix(std::string_view name, const Eigen::Ref<const Eigen::MatrixXd>& matrix);

  // Rows of the shape `row` (empty: single values), none at first.
  GrowingDataset create_growing(std::string_view name, Shape row = {},
                                GrowingType type = GrowingType::Double);
  // One that is there, of a file that was reopened, to go on behind its first `rows`; those that follow are
  // written over. Throws InputError where it is not as expected or not that long.
  GrowingDataset open_growing(std::string_view name, std::uint64_t rows, Shape row = {},
                              GrowingType type = GrowingType::Double);

  DatasetInfo info(std::string_view name) const;
  // All values in C order, whatever the shape. Integers are accepted where doubles are asked for; numbers
  // that the type cannot hold and other kinds of data are refused.
  std::vector<double> read_doubles(std::string_view name) const;
  std::vector<float> read_floats(std::string_view name) const;
  std::vector<std::int32_t> read_ints(std::string_view name) const;
  std::vector<std::int64_t> read_longs(std::string_view name) const;
  std::vector<std::string> read_strings(std::string_view name) const;
  // The part of a dataset of numbers from index first[d] on, count[d] of each dimension d, in C order;
  // `values` has room for their product. Throws InputError as above; a part beyond the dataset is our bug.
  void read_slab(std::string_view name, const Shape& first, const Shape& count,
                 std::span<double> values) const;
  // The same again and again: see SlicedDataset. `dimension` counts from 0.
  SlicedDataset open_sliced(std::string_view name, size_t dimension) const;
  // A two-dimensional dataset as a matrix of rows by cols.
  Eigen::MatrixXd read_matrix(std::string_view name) const;

  // Attributes of the group itself, or of the object `of` in it.
  void write_attribute(std::string_view name, std::string_view value, std::string_view of = ".");
  void write_attribute(std::string_view name, double value, std::string_view of = ".");
  void write_attribute(std::string_view name, std::int64_t value, std::string_view of = ".");
  void write_attribute(std::string_view name, std::span<const std::int64_t> values,
                       std::string_view of = ".");
  bool has_attribute(std::string_view name, std::string_view of = ".") const;
  // Throw InputError where the attribute is missing or of another kind.
  std::string string_attribute(std::string_view name, std::string_view of = ".") const;
  double double_attribute(std::string_view name, std::string_view of = ".") const;
  std::vector<std::int64_t> longs_attribute(std::string_view name, std::string_view of = ".") const;
  std::int64_t long_attribute(std::string_view name, std::string_view of = ".") const;

 private:
  friend class File;
  friend class GrowingDataset;
  friend class SlicedDataset;
  struct Context;  // the open file
  Group(std::shared_ptr<Context> context, Handle id, std::string path)
      : context_(std::move(context)), id_(std::move(id)), path_(std::move(path)) {}
  void write_values(std::string_view name, std::int64_t type, const void* values, std::uint64_t count,
                    const Shape& shape);
  template <class T>
  std::vector<T> read_values(std::string_view name, std::int64_t type, bool floats_too) const;
  void write_attribute_values(std::string_view name, std::string_view of, std::int64_t type, bool scalar,
                              std::uint64_t count, const void* values);
  // Throws Error with HDF5's reason and gives the file up: HDF5 1.10 crashes when it is made to close a file
  // or dataset whose data it could not write, so that they stay open until the program ends.
  [[noreturn]] void fail_writing(std::string_view name, std::string_view what, Handle* dataset = nullptr);
  Handle open_dataset(std::string_view name) const;
  void read_part(std::string_view name, const Handle& dataset, const Shape& first, const Shape& count,
                 std::span<double> values) const;
  // Throws InputError when the file cannot hold that many bytes for the dataset.
  void check_size(std::string_view name, const Handle& dataset, std::uint64_t bytes) const;
  Handle create_dataset(std::string_view name, std::int64_t type, const Shape& shape, const Shape& chunk);

  std::shared_ptr<Context> context_;
  Handle id_;
  std::string path_;
};

class File {
 public:
  // Creates the file, replacing one that is there. Messages call it `shown_as`, if that is given, because a
  // temporary name tells the user nothing. Throws Error.
  static File create(const std::filesystem::path& path, std::string shown_as = "");
  // Opens for reading; a file that grows as well, whether its writer lives or was killed. Throws InputError:
  // no such file, not an HDF5 file, truncated, damaged.
  static File open(const std::filesystem::path& path);
  // Opens a file that was made by start_growing() to grow on, whether it was closed, its writer was killed or
  // ran out of space. No other process may write to it. Throws InputError like open(), Error where it cannot
  // be written.
  static File reopen(const std::filesystem::path& path);

  Group root() const;
  // From now on nothing is created, and growing datasets do nothing but grow; in return the file is readable
  // at any time, as of the last flush of its datasets at least, whatever happens to the process (HDF5's
  // single writer and multiple readers). Throws Error.
  void start_growing();
  bool is_growing() const;  // opened while it was not closed
  // Brings what was written so far to the disk. Throws Error.
  void flush();
  // Writes everything out and closes the file with all its groups. Throws Error. Files that were written
  // must be closed so, because a destructor cannot report a full disk.
  void close();

 private:
  explicit File(std::shared_ptr<Group::Context> context) : context_(std::move(context)) {}
  std::shared_ptr<Group::Context> context_;
};

// Whether the file begins like an HDF5 file (also behind a user block, as MATLAB 7.3 writes them); false when
// it cannot be opened.
bool is_hdf5(const std::filesystem::path& path);

}  // namespace lissom::hdf5
