// The names that mean something in expressions (expression.hpp): t, constants and functions.
#pragma once

#include <string>
#include <vector>

namespace lissom {

std::vector<std::string> expression_names();

}  // namespace lissom
