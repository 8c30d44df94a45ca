// Two error channels (docs/contributing): exceptions for the user's input and for computations that fail,
// assertions for our own bugs. A message names where (file and line, or key), what was found, what was
// expected, what to try.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace lissom {

// Where in a user's file something was found. `line` is 1-based; 0 means the file as a whole.
struct SourcePos {
  std::string file;
  long line = 0;
};

// "file:line" or "file" when no line is known; empty when there is no file.
std::string to_string(const SourcePos& pos);

// The text with "\\0" in place of every NUL. what() ends at a NUL, and messages quote damaged files.
std::string without_nul(const std::string& text);

// A computation could not be completed although the input was well-formed (exit code 1).
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(without_nul(message)) {}
};

// The user's input is wrong: a missing file, a malformed line, an unknown key (exit code 2).
class InputError : public Error {
 public:
  using Error::Error;
};

// Throws Error / InputError with a formatted message.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}
// The message is prefixed with "file:line: ".
template <class... Args>
[[noreturn]] void fail_input(const SourcePos& pos, fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(to_string(pos) + ": " + fmt::format(format, std::forward<Args>(args)...));
}

// Aborts the computation because of a bug in Lissom; throws std::logic_error so that callers and tests can
// see it.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace lissom

// Checks an invariant of our own making; stays on in release builds, so keep it out of inner loops.
#define LISSOM_ASSERT(condition) \
  ((condition) ? void(0) : ::lissom::assertion_failed(#condition, __FILE__, __LINE__))
