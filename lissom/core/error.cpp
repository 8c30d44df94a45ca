#include "lissom/core/error.hpp"

namespace lissom {

std::string to_string(const SourcePos& pos) {
  return pos.line > 0 ? fmt::format("{}:{}", pos.file, pos.line) : pos.file;
}

std::string without_nul(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\0')
      result += "\\0";
    else
      result += c;
  }
  return result;
}

void assertion_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(
      fmt::format("internal error at {}:{}: {} does not hold; please report it", file, line, condition));
}

}  // namespace lissom
