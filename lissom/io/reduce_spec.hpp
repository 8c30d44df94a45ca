// What a study asks of a body's reduction: [bodies.NAME.reduce].
#pragma once

#include <filesystem>

#include "lissom/cms/reduction.hpp"

namespace lissom {

class TomlTable;

struct ReduceSpec {
  ReductionOptions options;
  bool gcms = false;     // also make the body in generalized component modes, for simulations
  bool paraview = true;  // write the natural modes in range of the reduced body for ParaView
  SourcePos where;
};

// Notes every problem of the table, unknown keys included. `folder` is that of the study file, for tables of
// damping.
ReduceSpec read_reduce_spec(TomlTable& table, const std::filesystem::path& folder);

}  // namespace lissom
