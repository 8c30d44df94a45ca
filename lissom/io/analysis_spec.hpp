// What a study asks of analyses besides the simulation: [linearise] and [response]. Keys:
// docs/reference/study-file.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/units.hpp"

namespace lissom {

class TomlTable;

// About which state: the start, the static equilibrium, or a time of the run.
struct LineariseSpec {
  enum class About : std::uint8_t { Start, Static, Time } about = About::Start;
  double time = 0;        // [s]
  int modes = 20;         // shown in tables; files have all
  bool paraview = false;  // the modes on the meshes
  SourcePos where;
};

// The frequency response of the linearised mechanism.
struct ResponseSpec {
  double from = 0, to = 0;  // [Hz]
  int points = 400;
  bool logarithmic = true;
  std::vector<std::string> inputs, outputs;  // names or beginnings of them, "tip" of "tip.x"; empty: all
  SourcePos where;

  // As sentences.
  std::vector<std::string> problems() const;
};

LineariseSpec read_linearise_spec(TomlTable& table, const UnitSystem& units);
ResponseSpec read_response_spec(TomlTable& table);

}  // namespace lissom
