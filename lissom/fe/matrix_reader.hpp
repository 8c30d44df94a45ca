// Reading mass and stiffness matrices that another FE program wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

// A matrix as a file holds it, before anybody decides what it means.
struct ImportedMatrix {
  std::string name;  // in files with several, e.g. "KAAX"
  int rows = 0, cols = 0;
  // Entries as written (0-based). `triangle` tells what the file stores.
  struct Entry {
    int row, col;
    double value;
  };
  std::vector<Entry> entries;
  enum class Triangle : std::uint8_t { Full, Lower, Upper } triangle = Triangle::Full;
  // Node id and direction (0..5) of each row, where the format has them (CalculiX .dof, DMIG, Abaqus); else
  // empty.
  struct RowLabel {
    std::int64_t node;
    int direction;
  };
  std::vector<RowLabel> labels;
};

}  // namespace lissom
