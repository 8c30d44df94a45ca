// Members of a zip archive, stored or deflated; what NumPy's .npz needs. The format is minizip's affair; what is
// here keeps stored members in the file, so that a large array need not fit into the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lissom/io/byte_source.hpp"

namespace lissom {

class ZipArchive {
 public:
  struct Member {
    std::string name;
    int method = 0;                       // 0 stored, 8 deflated
    std::uint64_t packed = 0, size = 0;   // bytes
    std::uint64_t place = 0, number = 0;  // in the directory, as minizip counts
  };
  // Reads the directory. Throws InputError: no zip archive, truncated, damaged, encrypted, in several files.
  // `file` is for messages.
  ZipArchive(std::shared_ptr<ByteSource> bytes, std::string file);
  const std::vector<Member>& members() const { return members_; }
  // The bytes of a member, compared with its checksum: those of the file where it is stored, in memory where
  // it is deflated. Throws InputError.
  std::shared_ptr<ByteSource> open(const Member& member) const;

 private:
  std::shared_ptr<ByteSource> bytes_;
  std::string file_;
  std::vector<Member> members_;
};

}  // namespace lissom
