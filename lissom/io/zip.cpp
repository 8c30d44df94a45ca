#include "lissom/io/zip.hpp"

#include <minizip/unzip.h>

#include <algorithm>
#include <exception>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/core/memory_check.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

constexpr size_t zip_buffer_bytes = 1 << 18;

// A byte source as minizip reads it. Exceptions do not pass through C: the first one is kept, minizip sees a failed
// read, and rethrow() goes on with it.
struct ZipStream {
  const ByteSource* bytes = nullptr;
  std::uint64_t at = 0;
  bool truncated = false;  // minizip takes numbers that the file ends within for zeros
  std::exception_ptr failure;

  zlib_filefunc64_def functions() {
    zlib_filefunc64_def all{};
    all.opaque = this;
    all.zopen64_file = [](voidpf self, const void*, int) -> voidpf { return self; };
    all.zread_file = [](voidpf self, voidpf, void* to, uLong count) -> uLong {
      auto& stream = *static_cast<ZipStream*>(self);
      const std::uint64_t left = stream.bytes->size() - std::min(stream.at, stream.bytes->size());
      if (count > left) {
        stream.truncated = true;
        count = static_cast<uLong>(left);
      }
      try {
        stream.bytes->read(stream.at, count, static_cast<char*>(to));
      } catch (...) {
        if (!stream.failure) stream.failure = std::current_exception();
        return 0;
      }
      stream.at += count;
      return count;
    };
    all.ztell64_file = [](voidpf self, voidpf) -> ZPOS64_T { return static_cast<ZipStream*>(self)->at; };
    all.zseek64_file = [](voidpf self, voidpf, ZPOS64_T offset, int origin) -> long {
      auto& stream = *static_cast<ZipStream*>(self);
      const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                                 : origin == ZLIB_FILEFUNC_SEEK_CUR ? stream.at
                                                                    : stream.bytes->size();
      if (offset > stream.bytes->size() - std::min(from, stream.bytes->size())) return -1;
      stream.at = from + offset;
      return 0;
    };
    all.zclose_file = [](voidpf, voidpf) { return 0; };
    all.zerror_file = [](voidpf self, voidpf) { return static_cast<ZipStream*>(self)->failure ? 1 : 0; };
    return all;
  }

  void rethrow() const {
    if (failure) std::rethrow_exception(failure);
  }
};

// An archive while it is read. Each opening of a member has one of its own, so that none disturbs another.
struct ZipReader {
  ZipStream stream;
  std::unique_ptr<void, int (*)(void*)> file{nullptr, &unzClose};

  ZipReader(const ByteSource& bytes, const std::string& name) {
    stream.bytes = &bytes;
    zlib_filefunc64_def functions = stream.functions();
    file.reset(unzOpen2_64(name.c_str(), &functions));
    stream.rethrow();
    if (!file || stream.truncated)
      fail_input(
          "{}: has no directory at its end, as a zip archive (.npz) has; it is truncated, damaged or another "
          "file",
          name);
  }
};

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<ByteSource> bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  ZipReader reader(*bytes_, file_);
  unzFile archive = reader.file.get();
  const auto check = [&](int status) {
    reader.stream.rethrow();
    if (status != UNZ_OK) fail_input("{}: the directory of the zip archive is damaged", file_);
  };
  unz_global_info64 all{};
  check(unzGetGlobalInfo64(archive, &all));
  // an entry takes 46 bytes at least
  if (all.number_entry > bytes_->size() / 46) check(UNZ_BADZIPFILE);
  for (std::uint64_t i = 0; i < all.number_entry; ++i) {
    check(i == 0 ? unzGoToFirstFile(archive) : unzGoToNextFile(archive));
    unz_file_info64 info{};
    check(unzGetCurrentFileInfo64(archive, &info, nullptr, 0, nullptr, 0, nullptr, 0));
    Member member;
    member.name.resize(info.size_filename);
    check(unzGetCurrentFileInfo64(archive, nullptr, member.name.data(), info.size_filename, nullptr, 0,
                                  nullptr, 0));
    if ((info.flag & 1) != 0) fail_input("{}: '{}' is encrypted", file_, printable(member.name));
    member.method = static_cast<int>(info.compression_method);
    member.packed = info.compressed_size;
    member.size = info.uncompressed_size;
    unz64_file_pos place{};
    check(unzGetFilePos64(archive, &place));
    member.place = place.pos_in_zip_directory;
    member.number = place.num_of_file;
    members_.push_back(std::move(member));
  }
}

std::shared_ptr<ByteSource> ZipArchive::open(const Member& member) const {
  const std::string where = fmt::format("{}: '{}'", file_, printable(member.name));
  if (member.method != 0 && member.method != 8)
    fail_input("{}: is packed by method {}, expected stored or deflated (numpy.savez, savez_compressed)",
               where, member.method);
  if (member.method == 0 && member.size != member.packed)
    fail_input("{}: is stored with two different sizes; the file is damaged", where);
  // deflate packs at most 1032:1
  if (member.size / 1100 > member.packed)
    fail_input("{}: claims {} bytes in {} packed ones; the file is damaged", where, member.size,
               member.packed);
  if (member.method == 8) check_memory(where, static_cast<double>(member.size));

  ZipReader reader(*bytes_, file_);
  unzFile archive = reader.file.get();
  const auto check = [&](int status) {
    reader.stream.rethrow();
    if (status == UNZ_CRCERROR) fail_input("{}: the checksum is wrong; the file is damaged", where);
    if (status < UNZ_OK) fail_input("{}: cannot be unpacked; the file is truncated or damaged", where);
    return static_cast<std::uint64_t>(status);
  };
  const unz64_file_pos place{member.place, member.number};
  check(unzGoToFilePos64(archive, &place));
  check(unzOpenCurrentFile(archive));
  const std::uint64_t start = unzGetCurrentFileZStreamPos64(archive);
  if (start > bytes_->size() || member.packed > bytes_->size() - start)
    fail_input("{}: reaches beyond the end of the file, which is truncated or damaged", where);

  // a stored member is read once for its checksum, and stays where it is
  const bool stored = member.method == 0;
  std::string out(stored ? zip_buffer_bytes : member.size, '\0');
  for (std::uint64_t done = 0; done < member.size;) {
    const std::uint64_t count = std::min<std::uint64_t>(stored ? out.size() : 1 << 30, member.size - done);
    const std::uint64_t got =
        check(unzReadCurrentFile(archive, out.data() + (stored ? 0 : done), static_cast<unsigned>(count)));
    if (got == 0) fail_input("{}: has another size than the directory says; the file is damaged", where);
    done += got;
  }
  check(unzCloseCurrentFile(archive));
  return stored ? part_of(bytes_, start, member.size) : bytes_in_memory(std::move(out));
}

}  // namespace lissom
