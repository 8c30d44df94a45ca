#include "lissom/core/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "lissom/core/text.hpp"

namespace lissom {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Terminal Terminal::of_stdout() {
  Terminal terminal;
  const bool tty = isatty(STDOUT_FILENO) == 1;
  terminal.colour = tty && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  // the first of these that is set counts
  std::string encoding = environment("LC_ALL");
  if (encoding.empty()) encoding = environment("LC_CTYPE");
  if (encoding.empty()) encoding = environment("LANG");
  encoding = to_lower(encoding);
  terminal.unicode =
      encoding.find("utf-8") != std::string::npos || encoding.find("utf8") != std::string::npos;
  winsize size{};
  if (tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
    terminal.columns = size.ws_col;
  else if (const auto columns = parse_long(environment("COLUMNS")); columns && *columns >= 20)
    terminal.columns = static_cast<int>(std::min(*columns, 1000L));
  return terminal;
}

std::string Terminal::ink(Ink ink, std::string_view text) const {
  if (!colour || ink == Ink::Plain || text.empty()) return std::string(text);
  const char* code = "";
  switch (ink) {
    case Ink::Plain:
      break;
    case Ink::Bold:
      code = "1";
      break;
    case Ink::Faint:
      code = "2";
      break;
    case Ink::Good:
      code = "32";
      break;
    case Ink::Bad:
      code = "31";
      break;
    case Ink::Warn:
      code = "33";
      break;
  }
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

std::string sparkline(const Terminal& terminal, const std::vector<double>& values, int width) {
  static constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (!terminal.unicode || values.size() < 2 || width < 2) return "";
  const size_t n = std::min(static_cast<size_t>(width), values.size());
  std::vector<double> means;
  for (size_t c = 0; c < n; ++c) {
    const size_t first = c * values.size() / n, last = (c + 1) * values.size() / n;
    double sum = 0;
    size_t count = 0;
    for (size_t i = first; i < last; ++i)
      if (std::isfinite(values[i])) sum += values[i], ++count;
    means.push_back(count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN());
  }
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mean : means)
    if (std::isfinite(mean)) low = std::min(low, mean), high = std::max(high, mean);
  std::string line;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      line += ' ';
      continue;
    }
    const double place = high > low ? (mean - low) / (high - low) : 0;
    line += blocks[std::clamp(static_cast<int>(place * 8), 0, 7)];
  }
  return line;
}

size_t shown_width(std::string_view text) {
  // bytes that go on with a character begin with 10
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace lissom
