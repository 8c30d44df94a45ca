#include "lissom/core/file_kind.hpp"

#include "lissom/core/error.hpp"

namespace lissom {

bool is_there(const std::filesystem::path& path) {
  std::error_code ec;
  return std::filesystem::exists(path, ec);
}

void check_is_file(const std::filesystem::path& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  if (status.type() == std::filesystem::file_type::none)
    fail_input("{}: cannot be read: {}", path.string(), ec.message());
  if (!std::filesystem::exists(status)) fail_input("{}: no such file", path.string());
  if (std::filesystem::is_directory(status)) fail_input("{}: is a folder, expected a file", path.string());
  if (!std::filesystem::is_regular_file(status))
    fail_input("{}: is a pipe, a socket or a device, expected a file", path.string());
}

}  // namespace lissom
