// A model as C99: one header, one source without any dependency but libm, and a program that checks them
// against what the library computed. Nothing in it allocates, nothing is global but constants, all loops are
// bounded and nothing calls itself. The same source is a part of FMUs, and compiles as C++.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lissom/export/export_model.hpp"

namespace lissom {

struct COptions {
  bool single_precision = false;
};

// Steps have matrices on the stack, of this order at most: of a linear model its states and three times its
// inputs.
inline constexpr int largest_step_matrix = 150;

struct CFiles {
  std::string header, source, test;  // texts
  std::string header_name, source_name, test_name;
};

// Throws InputError where something cannot be written so, naming it.
CFiles c_files(const ExportModel& model, const COptions& options = {});

// "Four-bar, exported by Lissom 0.1.0" and the licence, as lines of a comment.
std::vector<std::string> licence_lines(const ExportModel& model);

}  // namespace lissom
