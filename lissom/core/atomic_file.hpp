// Files that are either complete or not there: written under a temporary name in the same folder and renamed
// when finished, so that no reader and no crash ever meets half a file.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace lissom {

// Use:  AtomicFile file(path);  file.write(...);  file.commit();
// A library that wants a name of its own (HDF5) writes to temporary() instead of calling write(). Without
// commit(), as when something throws, the destructor removes the temporary file and leaves an older file of
// that name as it was.
class AtomicFile {
 public:
  // Creates the (empty) temporary file. Throws Error: the folder does not exist or cannot be written to, or
  // the path is a folder.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }

  // Appends bytes. Throws Error (disk full and the like).
  void write(std::string_view bytes);
  template <class T>
  void write(std::span<const T> values) {
    write(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
  }

  // Brings everything to the disk and gives the file its name, replacing an older one. Throws Error.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
  bool committed_ = false;
};

}  // namespace lissom
