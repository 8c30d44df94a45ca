// What a terminal can show, and small pictures for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lissom {

struct Terminal {
  bool colour = false;   // escape sequences are understood
  bool unicode = false;  // block characters, too
  int columns = 100;

  // Of standard output: colours on a terminal that is not dumb and unless NO_COLOR is set, block characters
  // where the environment's encoding is UTF-8.
  static Terminal of_stdout();

  // The text in a colour, or as it is.
  enum class Ink { Plain, Bold, Faint, Good, Bad, Warn };
  std::string ink(Ink ink, std::string_view text) const;
};

// A curve in one line of so many characters, each the mean of its share of the values, from the lowest to the
// highest of eight blocks; values that are no numbers are blanks. Empty without unicode or fewer than two
// values.
std::string sparkline(const Terminal& terminal, const std::vector<double>& values, int width);

// How many columns a text takes: characters, not bytes.
size_t shown_width(std::string_view text);

}  // namespace lissom
