// What a function of time is made of. It is written in other languages (lissom/export) from this.
#pragma once

#include <vector>

#include "lissom/core/expression.hpp"
#include "lissom/core/time_function.hpp"

namespace lissom {

// `factor` times one of three: the expression at t / unit, the table where it has times, else the number.
struct TimeFunction::Parts {
  double factor = 1;
  double number = 0;
  std::vector<double> times, values;  // constant before the first and after the last time
  // Of cubic tables: second derivatives at the times, so that within an interval of length h, with b = (t -
  // t_i) / h and a = 1 - b, the value is a y_i + b y_(i+1) + h^2 / 6 (a (a^2 - 1) y''_i + b (b^2 - 1)
  // y''_(i+1)).
  std::vector<double> curvatures;
  const Expression* expression = nullptr;  // lives as long as the function
  double unit = 1;                         // [s] of the t of the expression
};

}  // namespace lissom
