#include "lissom/core/hdf5.hpp"

#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/memory_check.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"

namespace lissom::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or newer is needed");

struct Group::Context {
  std::string path;
  Handle file;
  std::uint64_t bytes = 0;  // size of a file opened for reading
  bool growing = false;     // its writer has not closed it
  bool given_up = false;    // see fail_writing()
  ~Context() {
    if (given_up) file.abandon();
  }
};

namespace {

// Chunks of a quarter of a megabyte: large enough to compress well, small enough for HDF5's chunk cache.
constexpr std::uint64_t chunk_values = 32768;
// Level 1 costs a third of the time of the default level.
constexpr unsigned deflate_level = 1;
// Deflate cannot pack more tightly than 1032:1, so a dataset that claims more is damaged.
constexpr std::uint64_t greatest_compression = 1100;
constexpr std::uint64_t always_allowed = 1 << 20;

// Switches HDF5's printing of errors off while it lives.
class Silence {
 public:
  Silence() {
    // HDF5's own cleaning up at exit stumbles over files that could not be written or were damaged; ours are
    // closed by their owners. This has an effect only before HDF5 is used for the first time.
    static const herr_t no_cleaning = H5dont_atexit();
    (void)no_cleaning;
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// What HDF5 says about the call that failed last: the innermost message of its stack, which is the most
// specific one ("no space left on device", "checksum").
std::string reason() {
  std::string text;
  const auto take_first = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
    if (n == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

// A file is all that is read. What leads into another one (external links, external raw data, virtual
// datasets) is refused: a stranger's file could otherwise make numbers of any file that the user can read, or
// wait at a pipe.
//
// How objects are looked for: links into other files are not followed, be they the last on the way or not.
// HDF5 asks before it opens the other file.
class SameFile {
 public:
  explicit SameFile(hid_t kind) : list_(H5Pcreate(kind), H5Pclose) {
    const auto refuse = [](const char*, const char*, const char* file, const char*, unsigned*, hid_t,
                           void* asked_for) -> herr_t {
      *static_cast<std::string*>(asked_for) = file ? file : "?";
      return -1;
    };
    H5Pset_elink_cb(list_.id(), refuse, &other_);
  }
  // the callback has the address of `other_`
  SameFile(const SameFile&) = delete;
  SameFile& operator=(const SameFile&) = delete;
  hid_t id() const { return list_.id(); }
  // After a call that failed: throws InputError if a link into another file was the reason.
  void check(const std::string& where) const {
    if (!other_.empty())
      fail_input("{}: leads into another file ('{}'), which is refused: copy the data into this one", where,
                 printable(other_));
  }

 private:
  Handle list_;
  std::string other_;
};

Handle space_of(const Shape& shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose};
}

Shape shape_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> dims(std::max(rank, 0));
  if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return {dims.begin(), dims.end()};
}

// Number of values, or the greatest number there is when the product overflows.
std::uint64_t count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (std::uint64_t n : shape)
    if (__builtin_mul_overflow(count, n, &count)) count = std::numeric_limits<std::uint64_t>::max();
  // an overflow in front of a zero is still an empty dataset
  return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : count;
}

std::uint64_t bytes_of(std::uint64_t count, std::uint64_t value_size) {
  std::uint64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(count, value_size, &bytes);
  return overflow ? std::numeric_limits<std::uint64_t>::max() : bytes;
}

TypeClass class_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return TypeClass::Integer;
    case H5T_FLOAT:
      return TypeClass::Float;
    case H5T_STRING:
      return TypeClass::String;
    case H5T_COMPOUND:
      return TypeClass::Compound;
    default:
      return TypeClass::Other;
  }
}

const char* name_of(TypeClass type) {
  constexpr const char* names[] = {"integers", "floating-point numbers", "text", "compound values",
                                   "values of another type"};
  return names[static_cast<int>(type)];
}

// A string type of this many bytes, filled up with zeros.
Handle string_type(size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<size_t>(bytes, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

// `count` strings of `bytes` each, lying one behind the other.
std::vector<std::string> cut_strings(const std::vector<char>& buffer, size_t bytes, size_t count,
                                     H5T_str_t padding) {
  std::vector<std::string> out(count);
  for (size_t i = 0; i < count; ++i) {
    const char* start = buffer.data() + i * bytes;
    out[i].assign(start, strnlen(start, bytes));
    while (padding == H5T_STR_SPACEPAD && !out[i].empty() && out[i].back() == ' ') out[i].pop_back();
  }
  return out;
}

// Reads `count` strings through `read(memory type, buffer)`, which are of variable or of fixed length.
// Returns nothing when HDF5 fails.
template <class Read>
std::optional<std::vector<std::string>> read_text(hid_t file_type, hid_t space, size_t count, Read read) {
  if (H5Tis_variable_str(file_type) > 0) {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), H5T_VARIABLE);
    H5Tset_cset(type.id(), H5Tget_cset(file_type));
    std::vector<char*> pointers(count, nullptr);
    if (read(type.id(), static_cast<void*>(pointers.data())) < 0) return std::nullopt;
    std::vector<std::string> out;
    for (const char* text : pointers) out.emplace_back(text ? text : "");
    H5Dvlen_reclaim(type.id(), space, H5P_DEFAULT, pointers.data());
    return out;
  }
  const size_t bytes = H5Tget_size(file_type);
  std::vector<char> buffer(bytes * count);
  Handle type(H5Tcopy(file_type), H5Tclose);
  if (read(type.id(), static_cast<void*>(buffer.data())) < 0) return std::nullopt;
  return cut_strings(buffer, bytes, count, H5Tget_strpad(file_type));
}

}  // namespace

// ---------------------------------------------------------------------------------------------- handles

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    close();
    id_ = std::exchange(other.id_, -1);
    close_ = std::exchange(other.close_, nullptr);
  }
  return *this;
}

Handle::~Handle() {
  close();
}

bool Handle::close() {
  if (id_ < 0) return true;
  const Silence silence;
  // an id that went with its file is not ours to close any more
  const bool closed = H5Iis_valid(id_) <= 0 || close_(id_) >= 0;
  id_ = -1;
  return closed;
}

std::uint64_t DatasetInfo::size() const {
  return count_of(shape);
}

// ------------------------------------------------------------------------------------------------ files

namespace {

// How all files are opened. Without locks: not every file system has them, a file that grows is read by
// others meanwhile, and no file is written by two.
Handle access_list(bool for_writing) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (for_writing) H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(access.id(), 0, 1);
  return access;
}

}  // namespace

File File::create(const std::filesystem::path& path, std::string shown_as) {
  const Silence silence;
  auto context = std::make_shared<Group::Context>();
  context->path = shown_as.empty() ? path.string() : std::move(shown_as);
  const Handle access = access_list(true);
  context->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose};
  if (!context->file.valid()) fail("{}: cannot be created: {}", context->path, reason());
  return File(std::move(context));
}

namespace {

[[noreturn]] void fail_opening(const std::filesystem::path& path, const std::string& why) {
  if (why.find("signature") != std::string::npos) fail_input("{}: is not an HDF5 file", path.string());
  fail_input("{}: cannot be opened as an HDF5 file ({}); it may be truncated or damaged", path.string(), why);
}

}  // namespace

File File::open(const std::filesystem::path& path) {
  const Silence silence;
  check_is_file(path);
  auto context = std::make_shared<Group::Context>();
  context->path = path.string();
  const Handle access = access_list(false);
  context->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
  if (!context->file.valid()) {
    const std::string why = reason();
    // marked as open: one that grows can be read all the same. Parts that look damaged may be on their way
    // and are read again, the wait doubling from a nanosecond on: some milliseconds in all
    if (H5Pset_metadata_read_attempts(access.id(), 20) < 0) fail_opening(path, reason());
    context->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose};
    if (!context->file.valid()) fail_opening(path, why);
    context->growing = true;
  }
  std::error_code ec;
  const auto bytes = std::filesystem::file_size(path, ec);
  if (!ec) context->bytes = bytes;
  return File(std::move(context));
}

File File::reopen(const std::filesystem::path& path) {
  const Silence silence;
  check_is_file(path);
  auto context = std::make_shared<Group::Context>();
  context->path = path.string();
  std::error_code ec;
  context->bytes = std::filesystem::file_size(path, ec);
  const Handle access = access_list(true);
  // a killed writer has left its mark, and a length that is not that of the file; as h5clear does it
  const hbool_t yes = 1;
  if (H5Pset(access.id(), "clear_status_flags", &yes) < 0 || H5Pset(access.id(), "skip_eof_check", &yes) < 0)
    fail("{}: cannot be written: {}", path.string(), reason());
  context->file = {H5Fopen(path.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access.id()), H5Fclose};
  if (!context->file.valid()) {
    const std::string why = reason();
    if (::access(path.c_str(), W_OK) != 0)
      fail("{}: cannot be written: {}", path.string(), std::strerror(errno));
    fail_opening(path, why);
  }
  // what the writer had put behind the length that it noted last is in use
  if (H5Fincrement_filesize(context->file.id(), 0) < 0)
    fail("{}: cannot be written: {}", path.string(), reason());
  return File(std::move(context));
}

void File::start_growing() {
  const Silence silence;
  if (H5Fstart_swmr_write(context_->file.id()) < 0) {
    const std::string why = reason();
    context_->given_up = true;
    fail("{}: cannot be written: {}", context_->path, why);
  }
}

bool File::is_growing() const {
  return context_->growing;
}

Group File::root() const {
  const Silence silence;
  Handle id(H5Gopen2(context_->file.id(), "/", H5P_DEFAULT), H5Gclose);
  if (!id.valid()) fail_input("{}: the root group cannot be opened: {}", context_->path, reason());
  return Group(context_, std::move(id), "");
}

void File::flush() {
  const Silence silence;
  if (H5Fflush(context_->file.id(), H5F_SCOPE_LOCAL) < 0) {
    const std::string why = reason();
    context_->given_up = true;
    fail("{}: cannot be written: {}", context_->path, why);
  }
}

void File::close() {
  const Silence silence;
  if (H5Fflush(context_->file.id(), H5F_SCOPE_LOCAL) < 0 || !context_->file.close()) {
    const std::string why = reason();
    context_->given_up = true;
    fail("{}: cannot be written: {}", context_->path, why);
  }
}

bool is_hdf5(const std::filesystem::path& path) {
  const Silence silence;
  std::error_code ec;
  // a pipe would be waited for
  if (!std::filesystem::is_regular_file(path, ec)) return false;
  return H5Fis_hdf5(path.c_str()) > 0;
}

// ----------------------------------------------------------------------------------------------- groups

std::vector<std::string> Group::names() const {
  const Silence silence;
  std::vector<std::string> out;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  // sorted by us: for any other order than its own HDF5 1.10 makes a table first, and crashes in giving it up
  // when a large group is damaged
  if (H5Literate(id_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &out) < 0)
    fail_input("{}: the group cannot be listed: {}", where(), reason());
  std::sort(out.begin(), out.end());
  return out;
}

bool Group::has(std::string_view name) const {
  const Silence silence;
  const SameFile same(H5P_LINK_ACCESS);
  const bool found = H5Lexists(id_.id(), std::string(name).c_str(), same.id()) > 0;
  same.check(where(name));
  return found;
}

namespace {

// Whether the link leads to an object of that type. A soft link may lead nowhere; a hard link whose object
// cannot be read is damage.
bool is_object(hid_t location, const std::string& where, std::string_view name, H5O_type_t type) {
  const Silence silence;
  const std::string text(name);
  const SameFile same(H5P_LINK_ACCESS);
  H5L_info_t link;
  const bool there = H5Lexists(location, text.c_str(), same.id()) > 0;
  same.check(where);
  if (!there) return false;
  if (H5Lget_info(location, text.c_str(), &link, same.id()) < 0)
    fail_input("{}: cannot be read ({}); the file may be damaged", where, reason());
  H5O_info_t info;
  if (H5Oget_info_by_name2(location, text.c_str(), &info, H5O_INFO_BASIC, same.id()) < 0) {
    same.check(where);
    if (link.type != H5L_TYPE_HARD) return false;
    fail_input("{}: cannot be read ({}); the file may be damaged", where, reason());
  }
  return info.type == type;
}

}  // namespace

bool Group::has_group(std::string_view name) const {
  return is_object(id_.id(), where(name), name, H5O_TYPE_GROUP);
}

bool Group::has_dataset(std::string_view name) const {
  return is_object(id_.id(), where(name), name, H5O_TYPE_DATASET);
}

Group Group::group(std::string_view name) const {
  const Silence silence;
  const SameFile same(H5P_GROUP_ACCESS);
  Handle id(H5Gopen2(id_.id(), std::string(name).c_str(), same.id()), H5Gclose);
  same.check(where(name));
  if (!id.valid()) fail_input("{}: the group cannot be opened: {}", where(name), reason());
  return Group(context_, std::move(id), fmt::format("{}/{}", path_, name));
}

Group Group::create_group(std::string_view name) {
  const Silence silence;
  Handle id(H5Gcreate2(id_.id(), std::string(name).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!id.valid()) fail_writing(name, "the group cannot be created");
  return Group(context_, std::move(id), fmt::format("{}/{}", path_, name));
}

std::string Group::where(std::string_view name) const {
  if (name.empty() || name == ".")
    return fmt::format("{}: '{}'", context_->path, path_.empty() ? "/" : path_);
  return fmt::format("{}: '{}/{}'", context_->path, path_, name);
}

std::uint64_t Group::address() const {
  const Silence silence;
  H5O_info_t info;
  if (H5Oget_info2(id_.id(), &info, H5O_INFO_BASIC) < 0)
    fail_input("{}: the group cannot be read: {}", where(), reason());
  return info.addr;
}

// -------------------------------------------------------------------------------------- writing datasets

void Group::fail_writing(std::string_view name, std::string_view what, Handle* dataset) {
  const std::string why = reason();
  context_->given_up = true;
  if (dataset) dataset->abandon();
  fail("{}: {}: {}", where(name), what, why);
}

Handle Group::create_dataset(std::string_view name, std::int64_t type, const Shape& shape,
                             const Shape& chunk) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // an empty dataset has no chunks
  if (count_of(shape) > 0 && !shape.empty()) {
    const std::vector<hsize_t> dims(chunk.begin(), chunk.end());
    H5Pset_chunk(creation.id(), static_cast<int>(dims.size()), dims.data());
    // doubles of a computation hardly shrink (matrices and mode shapes by 10 to 20 %) and take most of the
    // time
    if (H5Tget_class(type) != H5T_FLOAT) {
      H5Pset_shuffle(creation.id());
      H5Pset_deflate(creation.id(), deflate_level);
    }
    H5Pset_fletcher32(creation.id());
  }
  const Handle space = space_of(shape);
  Handle dataset(H5Dcreate2(id_.id(), std::string(name).c_str(), type, space.id(), H5P_DEFAULT, creation.id(),
                            H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid()) fail_writing(name, "the dataset cannot be created");
  return dataset;
}

void Group::write_values(std::string_view name, std::int64_t type, const void* values, std::uint64_t count,
                         const Shape& given) {
  const Silence silence;
  const Shape shape = given.empty() ? Shape{count} : given;
  LISSOM_ASSERT(count_of(shape) == count);
  // chunks of whole rows
  Shape chunk = shape;
  if (count > 0)
    chunk[0] =
        std::clamp<std::uint64_t>(chunk_values / std::max<std::uint64_t>(count / shape[0], 1), 1, shape[0]);
  Handle dataset = create_dataset(name, type, shape, chunk);
  if (count > 0 && H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    fail_writing(name, "cannot be written", &dataset);
  if (!dataset.close()) fail_writing(name, "cannot be written", &dataset);
}

void Group::write(std::string_view name, std::span<const double> values, Shape shape) {
  write_values(name, H5T_NATIVE_DOUBLE, values.data(), values.size(), shape);
}
void Group::write(std::string_view name, std::span<const float> values, Shape shape) {
  write_values(name, H5T_NATIVE_FLOAT, values.data(), values.size(), shape);
}
void Group::write(std::string_view name, std::span<const std::int32_t> values, Shape shape) {
  write_values(name, H5T_NATIVE_INT32, values.data(), values.size(), shape);
}
void Group::write(std::string_view name, std::span<const std::int64_t> values, Shape shape) {
  write_values(name, H5T_NATIVE_INT64, values.data(), values.size(), shape);
}
void Group::write(std::string_view name, std::span<const std::uint8_t> values, Shape shape) {
  write_values(name, H5T_NATIVE_UINT8, values.data(), values.size(), shape);
}

void Group::write(std::string_view name, const std::vector<std::string>& values) {
  size_t longest = 1;
  for (const std::string& value : values) {
    // fixed-length strings end at the first zero byte
    if (value.find('\0') != std::string::npos) fail("{}: a text holds a zero byte", where(name));
    longest = std::max(longest, value.size());
  }
  std::vector<char> buffer(longest * values.size(), '\0');
  for (size_t i = 0; i < values.size(); ++i)
    std::copy(values[i].begin(), values[i].end(), buffer.begin() + static_cast<long>(i * longest));
  const Handle type = string_type(longest);
  write_values(name, type.id(), buffer.data(), values.size(), {});
}

void Group::write_matrix(std::string_view name, const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  const Silence silence;
  const auto rows = static_cast<std::uint64_t>(matrix.rows());
  const auto cols = static_cast<std::uint64_t>(matrix.cols());
  Handle dataset = create_dataset(name, H5T_NATIVE_DOUBLE, {rows, cols},
                                  {std::clamp<std::uint64_t>(rows, 1, chunk_values), 1});
  // column by column, because Eigen's columns are contiguous and HDF5's rows would be
  const Handle file_space(H5Dget_space(dataset.id()), H5Sclose);
  const Handle memory_space = space_of({rows});
  for (std::uint64_t j = 0; rows > 0 && j < cols; ++j) {
    const hsize_t start[] = {0, j}, extent[] = {rows, 1};
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start, nullptr, extent, nullptr);
    if (H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, memory_space.id(), file_space.id(), H5P_DEFAULT,
                 matrix.col(static_cast<Eigen::Index>(j)).data()) < 0)
      fail_writing(name, "cannot be written", &dataset);
  }
  if (!dataset.close()) fail_writing(name, "cannot be written", &dataset);
}

namespace {

struct GrowingTypeInfo {
  hid_t file_type, memory_type;
  std::uint64_t bytes;
};

GrowingTypeInfo info_of(GrowingType type) {
  switch (type) {
    case GrowingType::Integer:
      return {H5T_STD_I64LE, H5T_NATIVE_INT64, 8};
    case GrowingType::Checksum:
      return {H5T_STD_U32LE, H5T_NATIVE_UINT32, 4};
    case GrowingType::Text:
      return {H5T_STD_U8LE, H5T_NATIVE_UINT8, 1};
    case GrowingType::Double:
      break;
  }
  return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 8};
}

}  // namespace

GrowingDataset Group::create_growing(std::string_view name, Shape row, GrowingType type) {
  const Silence silence;
  GrowingDataset growing;
  growing.type_ = type;
  growing.row_shape_ = row;
  growing.row_bytes_ = count_of(row) * info_of(type).bytes;
  growing.name_ = name;
  // small chunks, because all growing datasets of a file have one in memory
  const std::uint64_t chunk_rows =
      std::clamp<std::uint64_t>(chunk_values / 4 / std::max<std::uint64_t>(count_of(row), 1), 1, 1024);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  std::vector<hsize_t> now = {0}, greatest = {H5S_UNLIMITED}, chunk = {chunk_rows};
  for (const std::uint64_t n : row) {
    now.push_back(n);
    greatest.push_back(std::max<std::uint64_t>(n, 1));  // a chunk must fit
    chunk.push_back(std::max<std::uint64_t>(n, 1));
  }
  H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
  const Handle space(H5Screate_simple(static_cast<int>(now.size()), now.data(), greatest.data()), H5Sclose);
  growing.dataset_ = {H5Dcreate2(id_.id(), std::string(name).c_str(), info_of(type).file_type, space.id(),
                                 H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                      H5Dclose};
  if (!growing.dataset_.valid()) fail_writing(name, "the dataset cannot be created");
  Handle id(H5Gopen2(id_.id(), ".", H5P_DEFAULT), H5Gclose);
  if (!id.valid()) fail_writing(name, "the dataset cannot be created");
  growing.group_ = std::shared_ptr<Group>(new Group(context_, std::move(id), path_));
  return growing;
}

GrowingDataset Group::open_growing(std::string_view name, std::uint64_t rows, Shape row, GrowingType type) {
  const Silence silence;
  GrowingDataset growing;
  growing.type_ = type;
  growing.row_shape_ = row;
  growing.row_bytes_ = count_of(row) * info_of(type).bytes;
  growing.name_ = name;
  growing.dataset_ = open_dataset(name);
  const DatasetInfo found = info(name);
  Shape expected = row;
  expected.insert(expected.begin(), found.shape.empty() ? 0 : found.shape[0]);
  const TypeClass expected_type = type == GrowingType::Double ? TypeClass::Float : TypeClass::Integer;
  if (found.shape != expected || found.type != expected_type || found.value_bytes != info_of(type).bytes)
    fail_input("{}: is not what this run writes there; the file is of another one", where(name));
  if (found.shape[0] < rows)
    fail_input("{}: has {} rows, expected {} at least; the file is damaged", where(name), found.shape[0],
               rows);
  growing.written_ = rows;
  growing.extent_ = found.shape[0];
  Handle id(H5Gopen2(id_.id(), ".", H5P_DEFAULT), H5Gclose);
  if (!id.valid()) fail_input("{}: the group cannot be opened: {}", where(), reason());
  growing.group_ = std::shared_ptr<Group>(new Group(context_, std::move(id), path_));
  return growing;
}

void GrowingDataset::append(GrowingType type, std::span<const std::byte> bytes) {
  LISSOM_ASSERT(type == type_);
  if (row_bytes_ == 0) {
    LISSOM_ASSERT(bytes.empty());
    ++pending_rows_;  // nothing to write, but the dataset is that long
    return;
  }
  LISSOM_ASSERT(bytes.size() % row_bytes_ == 0);
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  pending_rows_ += bytes.size() / row_bytes_;
}

void GrowingDataset::write() {
  if (!group_ || pending_rows_ == 0) return;
  const Silence silence;
  std::vector<hsize_t> total = {std::max(extent_, written_ + pending_rows_)}, start = {written_},
                       count = {pending_rows_};
  for (const std::uint64_t n : row_shape_) {
    total.push_back(n);
    start.push_back(0);
    count.push_back(n);
  }
  if (total[0] > extent_ && H5Dset_extent(dataset_.id(), total.data()) < 0)
    group_->fail_writing(name_, "cannot be written", &dataset_);
  extent_ = total[0];
  if (row_bytes_ > 0) {
    const Handle file_space(H5Dget_space(dataset_.id()), H5Sclose);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    if (H5Dwrite(dataset_.id(), info_of(type_).memory_type, memory.id(), file_space.id(), H5P_DEFAULT,
                 pending_.data()) < 0)
      group_->fail_writing(name_, "cannot be written", &dataset_);
  }
  written_ += pending_rows_;
  pending_rows_ = 0;
  pending_.clear();
}

void GrowingDataset::flush() {
  if (!group_) return;
  write();
  const Silence silence;
  if (H5Dflush(dataset_.id()) < 0) group_->fail_writing(name_, "cannot be written", &dataset_);
}

// -------------------------------------------------------------------------------------- reading datasets

Handle Group::open_dataset(std::string_view name) const {
  if (!has(name)) fail_input("{}: there is no such dataset", where(name));
  const SameFile same(H5P_DATASET_ACCESS);
  Handle dataset(H5Dopen2(id_.id(), std::string(name).c_str(), same.id()), H5Dclose);
  same.check(where(name));
  if (!dataset.valid()) fail_input("{}: the dataset cannot be opened: {}", where(name), reason());
  // its numbers may be said to lie in other files
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (!creation.valid()) fail_input("{}: cannot be read: {}", where(name), reason());
  const bool is_virtual = H5Pget_layout(creation.id()) == H5D_VIRTUAL;
  if (is_virtual || H5Pget_external_count(creation.id()) > 0)
    fail_input("{}: is {}, whose numbers lie in other files, which is refused: copy them into this one",
               where(name), is_virtual ? "a virtual dataset" : "a dataset with external storage");
  return dataset;
}

void Group::check_size(std::string_view name, const Handle& dataset, std::uint64_t bytes) const {
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset.id()), context_->bytes);
  if (bytes > always_allowed && (bytes - always_allowed) / greatest_compression > stored)
    fail_input("{}: claims {} bytes of data, but the file holds only {} for it; the file is damaged",
               where(name), bytes, stored);
  // what is not packed is bounded by the file
  if (bytes > context_->bytes) check_memory(where(name), static_cast<double>(bytes));
}

DatasetInfo Group::info(std::string_view name) const {
  const Silence silence;
  const Handle dataset = open_dataset(name);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose), type(H5Dget_type(dataset.id()), H5Tclose);
  if (!space.valid() || !type.valid()) fail_input("{}: cannot be read: {}", where(name), reason());
  return {shape_of(space.id()), class_of(type.id()), H5Tget_size(type.id())};
}

template <class T>
std::vector<T> Group::read_values(std::string_view name, std::int64_t type, bool floats_too) const {
  const Silence silence;
  const DatasetInfo found = info(name);
  if (found.type != TypeClass::Integer && !(floats_too && found.type == TypeClass::Float))
    fail_input("{}: expected {}, found {}", where(name), floats_too ? "numbers" : "integers",
               name_of(found.type));
  const Handle dataset = open_dataset(name);
  check_size(name, dataset, bytes_of(found.size(), sizeof(T)));
  std::vector<T> values(found.size());
  if (!values.empty() && H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail_input("{}: cannot be read ({}); the file may be damaged", where(name), reason());
  return values;
}

std::vector<double> Group::read_doubles(std::string_view name) const {
  return read_values<double>(name, H5T_NATIVE_DOUBLE, true);
}

std::vector<float> Group::read_floats(std::string_view name) const {
  return read_values<float>(name, H5T_NATIVE_FLOAT, true);
}

std::vector<std::int64_t> Group::read_longs(std::string_view name) const {
  std::vector<std::int64_t> values = read_values<std::int64_t>(name, H5T_NATIVE_INT64, false);
  // HDF5 turns an unsigned number that is too large into the greatest one
  if (std::find(values.begin(), values.end(), std::numeric_limits<std::int64_t>::max()) != values.end())
    fail_input("{}: holds an integer beyond 64 bits", where(name));
  return values;
}

std::vector<std::int32_t> Group::read_ints(std::string_view name) const {
  const std::vector<std::int64_t> values = read_longs(name);
  for (std::int64_t value : values)
    if (value != static_cast<std::int32_t>(value))
      fail_input("{}: holds the integer {}, which does not fit into 32 bits", where(name), value);
  return {values.begin(), values.end()};
}

std::vector<std::string> Group::read_strings(std::string_view name) const {
  const Silence silence;
  const DatasetInfo found = info(name);
  if (found.type != TypeClass::String)
    fail_input("{}: expected text, found {}", where(name), name_of(found.type));
  const Handle dataset = open_dataset(name);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose), space(H5Dget_space(dataset.id()), H5Sclose);
  check_size(name, dataset, bytes_of(found.size(), H5Tget_size(type.id())));
  if (found.size() == 0) return {};
  const auto text = read_text(type.id(), space.id(), found.size(), [&](hid_t memory_type, void* buffer) {
    return H5Dread(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
  });
  if (!text) fail_input("{}: cannot be read ({}); the file may be damaged", where(name), reason());
  return *text;
}

void Group::read_slab(std::string_view name, const Shape& first, const Shape& count,
                      std::span<double> values) const {
  const Silence silence;
  const DatasetInfo found = info(name);
  if (found.type != TypeClass::Integer && found.type != TypeClass::Float)
    fail_input("{}: expected numbers, found {}", where(name), name_of(found.type));
  LISSOM_ASSERT(first.size() == found.shape.size() && count.size() == found.shape.size() &&
                values.size() == count_of(count));
  for (size_t d = 0; d < count.size(); ++d)
    LISSOM_ASSERT(first[d] <= found.shape[d] && count[d] <= found.shape[d] - first[d]);
  if (values.empty()) return;
  const Handle dataset = open_dataset(name);
  check_size(name, dataset, bytes_of(found.size(), sizeof(double)));
  read_part(name, dataset, first, count, values);
}

void Group::read_part(std::string_view name, const Handle& dataset, const Shape& first, const Shape& count,
                      std::span<double> values) const {
  const Handle file_space(H5Dget_space(dataset.id()), H5Sclose);
  const Handle memory_space = space_of(count);
  if (!count.empty()) {
    const std::vector<hsize_t> start(first.begin(), first.end()), extent(count.begin(), count.end());
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
  }
  if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, memory_space.id(), file_space.id(), H5P_DEFAULT,
              values.data()) < 0)
    fail_input("{}: cannot be read ({}); the file may be damaged", where(name), reason());
}

namespace {

// How a dataset is opened whose slices along a dimension are read one after the other.
Handle access_for_slices(const Handle& dataset, const DatasetInfo& info, size_t dimension) {
  Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  // what is not packed is read where it is wanted
  const size_t rank = info.shape.size();
  if (rank == 0 || H5Pget_layout(creation.id()) != H5D_CHUNKED || H5Pget_nfilters(creation.id()) <= 0)
    return access;
  std::vector<hsize_t> chunk(rank);
  if (H5Pget_chunk(creation.id(), static_cast<int>(rank), chunk.data()) != static_cast<int>(rank))
    return access;
  // the chunks that a slice touches
  std::uint64_t chunk_size = info.value_bytes, touched = 1;
  for (size_t d = 0; d < rank; ++d) {
    chunk_size = bytes_of(chunk_size, chunk[d]);
    if (d != dimension && chunk[d] > 0)
      touched = bytes_of(touched, (info.shape[d] + chunk[d] - 1) / chunk[d]);
  }
  // HDF5 unpacks a chunk as a whole in any case; of several no more stay than half of the memory holds
  constexpr std::uint64_t usual_bytes = 1 << 20, usual_slots = 521, most_slots = 1'000'003;
  const std::uint64_t room = available_memory_bytes() / 2,
                      wanted = std::max(chunk_size, std::min(bytes_of(chunk_size, touched), room));
  // slots are taken by a hash: a hundred times as many as chunks, as HDF5 advises
  const std::uint64_t slots = std::clamp(bytes_of(touched, 100) + 1, usual_slots, most_slots);
  H5Pset_chunk_cache(access.id(), slots, std::max(wanted, usual_bytes), H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

}  // namespace

SlicedDataset Group::open_sliced(std::string_view name, size_t dimension) const {
  const Silence silence;
  const DatasetInfo found = info(name);
  if (found.type != TypeClass::Integer && found.type != TypeClass::Float)
    fail_input("{}: expected numbers, found {}", where(name), name_of(found.type));
  LISSOM_ASSERT(found.shape.empty() || dimension < found.shape.size());
  SlicedDataset sliced;
  sliced.name_ = name;
  sliced.shape_ = found.shape;
  // looked at and closed again: what is open already stays as it was opened first
  Handle dataset = open_dataset(name);
  check_size(name, dataset, bytes_of(found.size(), sizeof(double)));
  const Handle access = access_for_slices(dataset, found, dimension);
  dataset.close();
  sliced.dataset_ = {H5Dopen2(id_.id(), std::string(name).c_str(), access.id()), H5Dclose};
  Handle id(H5Gopen2(id_.id(), ".", H5P_DEFAULT), H5Gclose);
  if (!sliced.dataset_.valid() || !id.valid())
    fail_input("{}: the dataset cannot be opened: {}", where(name), reason());
  sliced.group_ = std::shared_ptr<Group>(new Group(context_, std::move(id), path_));
  return sliced;
}

void SlicedDataset::read(const Shape& first, const Shape& count, std::span<double> values) const {
  const Silence silence;
  LISSOM_ASSERT(is_open() && first.size() == shape_.size() && count.size() == shape_.size() &&
                values.size() == count_of(count));
  for (size_t d = 0; d < count.size(); ++d)
    LISSOM_ASSERT(first[d] <= shape_[d] && count[d] <= shape_[d] - first[d]);
  if (!values.empty()) group_->read_part(name_, dataset_, first, count, values);
}

Eigen::MatrixXd Group::read_matrix(std::string_view name) const {
  const Silence silence;
  const DatasetInfo found = info(name);
  if (found.shape.size() != 2)
    fail_input("{}: expected a matrix, found {} dimensions", where(name), found.shape.size());
  const Handle dataset = open_dataset(name);
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  hsize_t chunk[2] = {0, 0};
  const bool by_columns = H5Pget_layout(creation.id()) == H5D_CHUNKED &&
                          H5Pget_chunk(creation.id(), 2, chunk) == 2 && chunk[1] == 1 && found.shape[1] > 1;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (!by_columns || found.type != TypeClass::Float) {
    const std::vector<double> values = read_doubles(name);
    return Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(found.shape[0]),
                                      static_cast<Eigen::Index>(found.shape[1]));
  }

  // as write_matrix() has written it
  check_size(name, dataset, bytes_of(found.size(), sizeof(double)));
  Eigen::MatrixXd matrix(found.shape[0], found.shape[1]);
  const Handle file_space(H5Dget_space(dataset.id()), H5Sclose);
  const Handle memory_space = space_of({found.shape[0]});
  for (Eigen::Index j = 0; matrix.rows() > 0 && j < matrix.cols(); ++j) {
    const hsize_t start[] = {0, static_cast<hsize_t>(j)}, extent[] = {found.shape[0], 1};
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start, nullptr, extent, nullptr);
    if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, memory_space.id(), file_space.id(), H5P_DEFAULT,
                matrix.col(j).data()) < 0)
      fail_input("{}: cannot be read ({}); the file may be damaged", where(name), reason());
  }
  return matrix;
}

// -------------------------------------------------------------------------------------------- attributes

void Group::write_attribute_values(std::string_view name, std::string_view of, std::int64_t type, bool scalar,
                                   std::uint64_t count, const void* values) {
  const Silence silence;
  const Handle space = space_of(scalar ? Shape{} : Shape{count});
  Handle attribute(H5Acreate_by_name(id_.id(), std::string(of).c_str(), std::string(name).c_str(), type,
                                     space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), type, values) < 0)
    fail_writing(of, fmt::format("the attribute '{}' cannot be written", name));
}

void Group::write_attribute(std::string_view name, std::string_view value, std::string_view of) {
  if (value.find('\0') != std::string_view::npos)
    fail("{}: the attribute '{}' holds a zero byte", where(of), name);
  const std::string text(value);
  const Handle type = string_type(text.size());
  write_attribute_values(name, of, type.id(), true, 1, text.c_str());
}
void Group::write_attribute(std::string_view name, double value, std::string_view of) {
  write_attribute_values(name, of, H5T_NATIVE_DOUBLE, true, 1, &value);
}
void Group::write_attribute(std::string_view name, std::int64_t value, std::string_view of) {
  write_attribute_values(name, of, H5T_NATIVE_INT64, true, 1, &value);
}
void Group::write_attribute(std::string_view name, std::span<const std::int64_t> values,
                            std::string_view of) {
  write_attribute_values(name, of, H5T_NATIVE_INT64, false, values.size(), values.data());
}

bool Group::has_attribute(std::string_view name, std::string_view of) const {
  const Silence silence;
  const SameFile same(H5P_LINK_ACCESS);
  const bool found =
      H5Aexists_by_name(id_.id(), std::string(of).c_str(), std::string(name).c_str(), same.id()) > 0;
  same.check(where(of));
  return found;
}

namespace {

// An open attribute with its type, space and number of values.
struct Attribute {
  Handle id, type, space;
  std::uint64_t count = 0;

  Attribute(hid_t location, const std::string& where, std::string_view name, std::string_view of) {
    const SameFile same(H5P_LINK_ACCESS);
    id = {
        H5Aopen_by_name(location, std::string(of).c_str(), std::string(name).c_str(), H5P_DEFAULT, same.id()),
        H5Aclose};
    same.check(where);
    if (!id.valid()) fail_input("{}: there is no attribute '{}'", where, name);
    type = {H5Aget_type(id.id()), H5Tclose};
    space = {H5Aget_space(id.id()), H5Sclose};
    if (!type.valid() || !space.valid())
      fail_input("{}: the attribute '{}' cannot be read: {}", where, name, reason());
    count = count_of(shape_of(space.id()));
    // nothing that we look for in an attribute is long
    if (count > always_allowed || H5Tget_size(type.id()) > always_allowed)
      fail_input("{}: the attribute '{}' claims {} values; the file is damaged", where, name, count);
  }
};

}  // namespace

std::string Group::string_attribute(std::string_view name, std::string_view of) const {
  const Silence silence;
  const Attribute attribute(id_.id(), where(of), name, of);
  if (class_of(attribute.type.id()) != TypeClass::String || attribute.count != 1)
    fail_input("{}: the attribute '{}' is expected to be one text, found {} {}", where(of), name,
               attribute.count, name_of(class_of(attribute.type.id())));
  const auto text = read_text(attribute.type.id(), attribute.space.id(), 1, [&](hid_t type, void* buffer) {
    return H5Aread(attribute.id.id(), type, buffer);
  });
  if (!text) fail_input("{}: the attribute '{}' cannot be read: {}", where(of), name, reason());
  return text->front();
}

double Group::double_attribute(std::string_view name, std::string_view of) const {
  const Silence silence;
  const Attribute attribute(id_.id(), where(of), name, of);
  const TypeClass type = class_of(attribute.type.id());
  if ((type != TypeClass::Float && type != TypeClass::Integer) || attribute.count != 1)
    fail_input("{}: the attribute '{}' is expected to be one number, found {} {}", where(of), name,
               attribute.count, name_of(type));
  double value = 0;
  if (H5Aread(attribute.id.id(), H5T_NATIVE_DOUBLE, &value) < 0)
    fail_input("{}: the attribute '{}' cannot be read: {}", where(of), name, reason());
  return value;
}

std::vector<std::int64_t> Group::longs_attribute(std::string_view name, std::string_view of) const {
  const Silence silence;
  const Attribute attribute(id_.id(), where(of), name, of);
  const TypeClass type = class_of(attribute.type.id());
  if (type != TypeClass::Integer)
    fail_input("{}: the attribute '{}' is expected to hold integers, found {}", where(of), name,
               name_of(type));
  std::vector<std::int64_t> values(attribute.count);
  if (!values.empty() && H5Aread(attribute.id.id(), H5T_NATIVE_INT64, values.data()) < 0)
    fail_input("{}: the attribute '{}' cannot be read: {}", where(of), name, reason());
  return values;
}

std::int64_t Group::long_attribute(std::string_view name, std::string_view of) const {
  const std::vector<std::int64_t> values = longs_attribute(name, of);
  if (values.size() != 1)
    fail_input("{}: the attribute '{}' is expected to be one integer, found {}", where(of), name,
               values.size());
  return values.front();
}

}  // namespace lissom::hdf5
