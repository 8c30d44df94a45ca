#include "lissom/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/read_files.hpp"

namespace lissom {

namespace {

char upper(char c) {
  return (c >= 'a' && c <= 'z') ? char(c - 'a' + 'A') : c;
}
char lower(char c) {
  return (c >= 'A' && c <= 'Z') ? char(c - 'A' + 'a') : c;
}
bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  // what the first byte announces
  const unsigned first = byte(0), second = byte(1);
  size_t length = 0;
  if (first < 0x80) length = 1;
  if (first >= 0xc2 && first < 0xe0) length = 2;
  if (first >= 0xe0 && first < 0xf0) length = 3;
  if (first >= 0xf0 && first < 0xf5) length = 4;
  for (size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xc0) != 0x80) return 0;
  // longer than needed, a surrogate, beyond the last character
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;
  return length;
}

// The control characters of ASCII and of Latin-1 (C1), which terminals obey; not line ends and tabs.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  ReadFiles::note(path);
  // shells hand over pipes under these names
  if (path != "/dev/stdin" && path.parent_path() != "/dev/fd") check_is_file(path);
  std::error_code ec;
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) fail_input("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  std::string bytes;
  const auto size = std::filesystem::file_size(path, ec);
  if (!ec) bytes.reserve(size);
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) bytes.append(buffer, n);
  if (std::ferror(file.get())) fail_input("{}: cannot be read: {}", path.string(), std::strerror(errno));
  return bytes;
}

bool LineReader::next(std::string_view& line) {
  if (offset_ >= text_.size()) return false;
  previous_ = offset_;
  const size_t end = text_.find_first_of("\r\n", offset_);
  if (end == std::string_view::npos) {
    line = text_.substr(offset_);
    offset_ = text_.size();
  } else {
    line = text_.substr(offset_, end - offset_);
    offset_ = end + 1;
    if (text_[end] == '\r' && offset_ < text_.size() && text_[offset_] == '\n') ++offset_;
  }
  ++line_;
  return true;
}

void LineReader::put_back() {
  LISSOM_ASSERT(line_ > 0);
  offset_ = previous_;
  --line_;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), upper);
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return upper(x) == upper(y); });
}

bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t end = text.find(separator);
    fields.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> fields;
  size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && blank(text[i])) ++i;
    const size_t start = i;
    while (i < text.size() && !blank(text[i])) ++i;
    if (i > start) fields.push_back(text.substr(start, i - start));
  }
  return fields;
}

std::optional<double> parse_double(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) return std::nullopt;
  }
  if (text.empty() || text.size() > 63) return std::nullopt;
  // rewrite D exponents, and put in the letter that Nastran leaves out
  char buffer[72];
  size_t n = 0;
  bool exponent = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == 'd' || c == 'D' || c == 'e' || c == 'E') {
      exponent = true;
      buffer[n++] = 'e';
      // from_chars takes no '+' in front of an exponent that Fortran may have padded with a blank
      continue;
    }
    if ((c == '+' || c == '-') && i > 0 && !exponent) {
      exponent = true;
      buffer[n++] = 'e';
    }
    if (!(std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-'))
      return std::nullopt;
    buffer[n++] = c;
  }
  double value = 0;
  const auto [end, ec] = std::from_chars(buffer, buffer + n, value);
  if (end != buffer + n) return std::nullopt;
  if (ec == std::errc::result_out_of_range) {
    // an underflow is zero, an overflow is not a number that we can hold
    const char* e = std::find(buffer, buffer + n, 'e');
    return (e + 1 < buffer + n && e[1] == '-') ? std::optional<double>(0.0) : std::nullopt;
  }
  if (ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<long> parse_long(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  long value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double to_double(std::string_view text, const SourcePos& pos, std::string_view what) {
  if (const auto value = parse_double(text)) return *value;
  fail_input(pos, "expected {}, found '{}'", what, trim(text).substr(0, 40));
}

long to_long(std::string_view text, const SourcePos& pos, std::string_view what) {
  if (const auto value = parse_long(text)) return *value;
  fail_input(pos, "expected {}, found '{}'", what, trim(text).substr(0, 40));
}

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates) {
  // Levenshtein distance, one row at a time
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        const size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (lower(a[i - 1]) != lower(b[j - 1]))});
        diagonal = above;
      }
    }
    return row[b.size()];
  };
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t d = distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto guess = closest(word, candidates);
  return guess ? fmt::format(" (did you mean '{}'?)", *guess) : "";
}

std::string plural(size_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? one + "s" : many);
}

std::string point_text(const Eigen::Vector3d& x) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", x[0], x[1], x[2]);
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(1, length));
    if (length > 0 && !is_control(character))
      result += character;
    else
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace lissom
