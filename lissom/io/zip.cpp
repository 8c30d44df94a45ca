#include "lissom/io/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/core/memory_check.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// Little-endian numbers of a record.
std::uint64_t number(const std::string& record, size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(record[at + i]);
  return value;
}

std::string read_bytes(const ByteSource& bytes, std::uint64_t offset, std::uint64_t count) {
  std::string out(count, '\0');
  bytes.read(offset, count, out.data());
  return out;
}

constexpr std::uint64_t full_32 = 0xffffffff, full_16 = 0xffff;
constexpr size_t buffer_bytes = 1 << 18;

// 64-bit sizes stand in an extra field, those only whose 32 bits are all set, in this order.
bool take_large(const std::string& extra, std::vector<std::uint64_t*> fields) {
  std::erase_if(fields, [](const std::uint64_t* field) { return *field != full_32; });
  if (fields.empty()) return true;
  for (size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t kind = number(extra, at, 2), size = number(extra, at + 2, 2);
    if (size > extra.size() - at - 4) return false;
    if (kind == 1) {
      if (size < 8 * fields.size()) return false;
      for (size_t i = 0; i < fields.size(); ++i) *fields[i] = number(extra, at + 4 + 8 * i, 8);
      return true;
    }
    at += 4 + size;
  }
  return false;
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<ByteSource> bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  // the directory's end is the last record, of 22 bytes and a comment
  const std::uint64_t size = bytes_->size(), tail_size = std::min<std::uint64_t>(size, 22 + full_16);
  const std::string tail = read_bytes(*bytes_, size - tail_size, tail_size);
  const size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos || tail.size() - end < 22)
    fail_input(
        "{}: has no directory at its end, as a zip archive (.npz) has; it is truncated or another file",
        file_);
  const auto damaged = [&] { fail_input("{}: the directory of the zip archive is damaged", file_); };
  std::uint64_t count = number(tail, end + 10, 2), directory_size = number(tail, end + 12, 4),
                start = number(tail, end + 16, 4);
  const std::uint64_t end_at = size - tail_size + end;
  if (count == full_16 || directory_size == full_32 || start == full_32) {
    if (end_at < 20 || read_bytes(*bytes_, end_at - 20, 4) != "PK\6\7") damaged();
    const std::uint64_t at = number(read_bytes(*bytes_, end_at - 20, 20), 8, 8);
    if (at > size || size - at < 56 || read_bytes(*bytes_, at, 4) != "PK\6\6") damaged();
    const std::string record = read_bytes(*bytes_, at, 56);
    count = number(record, 32, 8);
    directory_size = number(record, 40, 8);
    start = number(record, 48, 8);
  }
  if (start > size || directory_size > size - start || count > directory_size / 46) damaged();

  const std::string directory = read_bytes(*bytes_, start, directory_size);
  size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (directory.size() - at < 46 || directory.compare(at, 4, "PK\1\2") != 0) damaged();
    const size_t name = number(directory, at + 28, 2), extra = number(directory, at + 30, 2),
                 comment = number(directory, at + 32, 2);
    if (name + extra + comment > directory.size() - at - 46) damaged();
    Member member;
    member.method = static_cast<int>(number(directory, at + 10, 2));
    member.crc = static_cast<std::uint32_t>(number(directory, at + 16, 4));
    member.packed = number(directory, at + 20, 4);
    member.size = number(directory, at + 24, 4);
    member.header = number(directory, at + 42, 4);
    member.name = directory.substr(at + 46, name);
    if (!take_large(directory.substr(at + 46 + name, extra), {&member.size, &member.packed, &member.header}))
      damaged();
    if ((number(directory, at + 8, 2) & 1) != 0)
      fail_input("{}: '{}' is encrypted", file_, printable(member.name));
    members_.push_back(std::move(member));
    at += 46 + name + extra + comment;
  }
}

std::shared_ptr<ByteSource> ZipArchive::open(const Member& member) const {
  const std::string where = fmt::format("{}: '{}'", file_, printable(member.name));
  const std::uint64_t size = bytes_->size();
  if (member.header > size || size - member.header < 30 || read_bytes(*bytes_, member.header, 4) != "PK\3\4")
    fail_input("{}: does not begin where the directory says; the file is damaged", where);
  const std::string head = read_bytes(*bytes_, member.header, 30);
  const std::uint64_t start = member.header + 30 + number(head, 26, 2) + number(head, 28, 2);
  if (start > size || member.packed > size - start)
    fail_input("{}: reaches beyond the end of the file, which is truncated or damaged", where);

  std::uint32_t crc = static_cast<std::uint32_t>(crc32(0, nullptr, 0));
  const auto add = [&](const char* data, size_t count) {
    crc = static_cast<std::uint32_t>(
        crc32(crc, reinterpret_cast<const Bytef*>(data), static_cast<uInt>(count)));
  };
  const auto compare = [&] {
    if (crc != member.crc) fail_input("{}: the checksum is wrong; the file is damaged", where);
  };
  std::string buffer(buffer_bytes, '\0');
  if (member.method == 0) {
    if (member.size != member.packed)
      fail_input("{}: is stored with two different sizes; the file is damaged", where);
    for (std::uint64_t done = 0; done < member.size;) {
      const std::uint64_t count = std::min<std::uint64_t>(buffer.size(), member.size - done);
      bytes_->read(start + done, count, buffer.data());
      add(buffer.data(), count);
      done += count;
    }
    compare();
    return part_of(bytes_, start, member.size);
  }
  if (member.method != 8)
    fail_input("{}: is packed by method {}, expected stored or deflated (numpy.savez, savez_compressed)",
               where, member.method);
  // deflate packs at most 1032:1
  if (member.size / 1100 > member.packed)
    fail_input("{}: claims {} bytes in {} packed ones; the file is damaged", where, member.size,
               member.packed);

  check_memory(where, static_cast<double>(member.size));
  std::string out(member.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail("{}: zlib cannot be started", where);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &inflateEnd);
  std::uint64_t taken = 0, made = 0;
  char spare = 0;  // room for a byte too many
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      const std::uint64_t count = std::min<std::uint64_t>(buffer.size(), member.packed - taken);
      if (count == 0) break;
      bytes_->read(start + taken, count, buffer.data());
      taken += count;
      stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_in = static_cast<uInt>(count);
    }
    const std::uint64_t room = std::min<std::uint64_t>(1 << 30, member.size - made);
    char* to = room > 0 ? out.data() + made : &spare;
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(std::max<std::uint64_t>(room, 1));
    const uInt before = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    const uInt got = before - stream.avail_out;
    if (got > room) break;
    add(to, got);
    made += got;
  }
  if (status != Z_STREAM_END || made != member.size)
    fail_input("{}: cannot be unpacked ({}); the file is damaged", where,
               stream.msg ? stream.msg : "it has another size than the directory says");
  compare();
  return bytes_in_memory(std::move(out));
}

}  // namespace lissom
