// Warnings collected while something runs: each kind is kept once, with its first place and how often it
// came. Passed explicitly (no global state) to readers and algorithms; the command line prints them and puts
// them into the summary. "No silent fallback": whatever was changed, dropped or guessed is a warning here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

struct Warning {
  std::string key;      // what makes two warnings the same kind, e.g. "nastran.unknown-card.CBAR"
  std::string message;  // one sentence, of the first occurrence
  SourcePos where;      // of the first occurrence; file empty when there is none
  long count = 1;
};

// "file:line: message (17 times)".
std::string to_string(const Warning& warning);

class Diagnostics {
 public:
  // Records a warning; a later one with the same key only raises its count.
  void warn(std::string_view key, std::string message, SourcePos where = {});

  const std::vector<Warning>& warnings() const { return warnings_; }
  bool empty() const { return warnings_.empty(); }
  // The warning with this key, or nullptr.
  const Warning* find(std::string_view key) const;

 private:
  std::vector<Warning> warnings_;  // in order of first occurrence
};

}  // namespace lissom
