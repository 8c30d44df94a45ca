#include "lissom/core/temporary_name.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <ctime>
#include <vector>

#include "lissom/core/process_identity.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = ".lissom-", ending = ".tmp";
constexpr size_t longest_name = 100;       // of the 255 bytes that a name may have
constexpr time_t long_ago = 24 * 60 * 60;  // [s]

// Whole numbers as fmt writes them: digits only, no leading zero.
template <class T>
bool parse_number(std::string_view text, T& value) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string temporary_name(std::string_view name) {
  static std::atomic<unsigned> serial = 0;
  const ProcessIdentity own = own_process();
  // not within a character of several bytes
  size_t length = std::min(name.size(), longest_name);
  while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80)
    --length;
  return fmt::format(".{}{}{}-{}-{}-{}{}", name.substr(0, length), mark, machine_tag(), own.pid, own.born,
                     serial.fetch_add(1), ending);
}

bool parse_temporary_name(std::string_view name, TemporaryOwner& owner) {
  if (!name.starts_with('.') || !name.ends_with(ending)) return false;
  const size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at < 2) return false;
  std::string_view rest = name.substr(at + mark.size());
  rest.remove_suffix(ending.size());
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= rest.size();) {
    const size_t end = std::min(rest.find('-', start), rest.size());
    parts.push_back(rest.substr(start, end - start));
    start = end + 1;
  }
  unsigned serial = 0;
  if (parts.size() != 4 || parts[0].size() != 8 ||
      parts[0].find_first_not_of("0123456789abcdef") != std::string_view::npos ||
      !parse_number(parts[1], owner.pid) || !parse_number(parts[2], owner.born) ||
      !parse_number(parts[3], serial))
    return false;
  owner.machine = parts[0];
  return true;
}

bool is_left_behind(const fs::path& path, const TemporaryOwner& owner) {
  if (owner.machine == machine_tag()) return !runs_here(owner.pid, owner.born);
  struct stat now {};
  return ::lstat(path.c_str(), &now) == 0 && ::time(nullptr) - now.st_mtime > long_ago;
}

int remove_left_behind(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    TemporaryOwner owner;
    if (!parse_temporary_name(it->path().filename().string(), owner)) continue;
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    if (is_left_behind(it->path(), owner)) found.push_back(it->path());
  }
  int removed = 0;
  for (const fs::path& path : found)
    if (fs::remove_all(path, ec) > 0 && !ec) ++removed;
  return removed;
}

}  // namespace lissom
