// Names and value references of an FMU: what its description and its source have to agree about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/export/export_model.hpp"

namespace lissom {

struct FmuNames {
  std::string identifier, upper;  // "lissom_four_bar", "LISSOM_FOUR_BAR"
  std::string token;              // changes with the model and the version of the standard
};
FmuNames fmu_names(const ExportModel& model, int version);

enum class FmuVariableKind : std::uint8_t { Time, State, Rate, Input, Output, Parameter };
struct FmuVariable {
  std::string name, unit, meaning;
  FmuVariableKind kind = FmuVariableKind::Time;
  double start = 0, nominal = 0;
  bool positive = false;
};
// In the order of their value references, from 0 on. Names are unique.
std::vector<FmuVariable> fmu_variables(const ExportModel& model);

}  // namespace lissom
