// What is read on the way: tables and included files that nobody lists elsewhere.
#pragma once

#include <filesystem>
#include <vector>

namespace lissom {

// While it lives, it notes the files that read_file() reads in this thread. The innermost one notes.
class ReadFiles {
 public:
  ReadFiles();
  ~ReadFiles();
  ReadFiles(const ReadFiles&) = delete;
  ReadFiles& operator=(const ReadFiles&) = delete;
  const std::vector<std::filesystem::path>& paths() const { return paths_; }

  // For readers of files.
  static void note(const std::filesystem::path& path);

 private:
  std::vector<std::filesystem::path> paths_;
  ReadFiles* outer_;
};

}  // namespace lissom
