// Keys of a study by their dotted names, "bodies.rod.mass", "loads.push.force", "joints.*.share": entries of
// lists go by their name, a star means all. For cases, sweeps, parameters and --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/io/toml_value.hpp"

namespace lissom {

class TomlProblems;

// A key that is set otherwise.
struct StudySetting {
  std::string key;
  std::string value;  // as TOML; what is none is a text: full means "full"
  bool operator==(const StudySetting&) const = default;
};

// "KEY=VALUE". Throws InputError: no '=', an empty key or value.
StudySetting parse_setting(const std::string& text);

// The value that a text stands for.
TomlValue setting_value(const std::string& text);

// Sets a key of the study, or notes a problem, which begins with `shown`. A key that is not there is made in
// a table that is there; reading the study tells whether it is known.
void set_study_key(TomlValue& root, const std::string& key, const TomlValue& value, TomlProblems& problems,
                   const SourcePos& where, const std::string& shown);

// The number that a key has; nothing with a problem, as a sentence, where it is not there or no number, or
// where a star stands for different ones.
std::optional<double> study_number(const TomlValue& root, const std::string& key, std::string& problem);

// A study as text, tables in the order of the file; comments are lost.
std::string write_study(const TomlValue& root);

// What a study is called with these settings: "bodies.rod.mass = 0.3, bodies.arm.mass = 0.1".
std::string describe(const std::vector<StudySetting>& settings);

}  // namespace lissom
