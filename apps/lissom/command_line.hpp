// What a command line asks for, after the table of verbs.
#pragma once

#include "apps/lissom/verbs.hpp"

namespace lissom::app {

struct AskedFor {
  const Verb* verb = nullptr;      // to be run; its arguments are taken
  std::vector<std::string> given;  // the names of those, such as "--out"
  std::string help;                // to be printed in place of that, or
  bool version = false;            // the versions
};

// Throws InputError: an unknown verb or flag, a missing or wrong value.
AskedFor parse_command_line(const std::vector<Verb>& verbs, int argc, char** argv);

}  // namespace lissom::app
