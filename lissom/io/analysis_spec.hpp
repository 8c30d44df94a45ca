// What a study asks of analyses besides the simulation: [linearise] and [response]. Keys:
// docs/reference/study-file.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/units.hpp"
#include "lissom/time/response.hpp"

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
struct ResponseSpec : ResponseOptions {
  SourcePos where;
};

// The key `about` of a table: "start", "static", or a time [s].
std::pair<LineariseSpec::About, double> read_about(TomlTable& table, const UnitSystem& units);
LineariseSpec read_linearise_spec(TomlTable& table, const UnitSystem& units);
ResponseSpec read_response_spec(TomlTable& table);

}  // namespace lissom
