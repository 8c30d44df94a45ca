// Reading text files: whole-file loading, line iteration with line numbers, and number parsing that reports
// where.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

// The bytes of a file. Throws InputError (missing, a folder, unreadable).
std::string read_file(const std::filesystem::path& path);

// Iterates over the lines of a text held elsewhere; accepts \n, \r\n and \r endings. The views point into the
// text.
class LineReader {
 public:
  LineReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  // Moves to the next line; false at the end of the text.
  bool next(std::string_view& line);
  // Puts the line returned last back, so that next() returns it again.
  void put_back();

  // Where the line returned last stands.
  SourcePos pos() const { return {file_, line_}; }
  long line() const { return line_; }
  const std::string& file() const { return file_; }
  // Byte offset just after the line returned last (for files that mix text and binary data).
  size_t offset() const { return offset_; }
  // Continues at a byte offset; the line count goes on from where it was.
  void seek(size_t offset) { offset_ = previous_ = offset; }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::string file_;
  size_t offset_ = 0;
  size_t previous_ = 0;
  long line_ = 0;
};

std::string_view trim(std::string_view text);
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// Case-insensitive (ASCII) comparison.
bool iequals(std::string_view a, std::string_view b);
bool istarts_with(std::string_view text, std::string_view prefix);
// Splits at every separator; fields are trimmed, empty ones kept.
std::vector<std::string_view> split(std::string_view text, char separator);
// Splits at runs of blanks.
std::vector<std::string_view> split_blanks(std::string_view text);

// The whole (trimmed) text as a number, or nothing. Doubles accept a leading '+', Fortran's D exponent and
// "1.5+3" (Nastran's exponent without a letter); not nan or inf, and no value beyond the range of double.
std::optional<double> parse_double(std::string_view text);
std::optional<long> parse_long(std::string_view text);

// The same, or InputError "file:line: expected <what>, found '<text>'".
double to_double(std::string_view text, const SourcePos& pos, std::string_view what);
long to_long(std::string_view text, const SourcePos& pos, std::string_view what);

// The candidate nearest to `word` in edit distance, if it is near enough to be what was meant.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates);
// " (did you mean 'x'?)" with that candidate, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// "(1, 0.5, 2e-06)": six digits, no needless zeros.
std::string point_text(const Eigen::Vector3d& x);

// "1 mode", "3 modes"; "2 axes" with both words given.
std::string plural(size_t count, const std::string& one, const std::string& many = "");

// The text with control characters and bytes that are no UTF-8 written as \x1b and the like, because what a
// damaged file contains must neither reach the terminal nor make the JSON invalid. Line ends and tabs stay.
std::string printable(std::string_view text);

}  // namespace lissom
