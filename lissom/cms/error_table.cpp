#include "lissom/cms/error_table.hpp"

#include <cmath>

namespace lissom {

double largest(const std::vector<ModeError>& modes, double ModeError::*which) {
  double result = unknown_error;
  for (const ModeError& mode : modes)
    if (!std::isnan(mode.*which) && !(result >= mode.*which)) result = mode.*which;
  return result;
}

double ErrorTable::max_bound() const {
  return largest(modes, &ModeError::bound);
}
double ErrorTable::max_zeta_2() const {
  return largest(modes, &ModeError::zeta_2);
}
double ErrorTable::max_lower_estimate() const {
  return largest(modes, &ModeError::lower_estimate);
}
double ErrorTable::max_paper_estimate() const {
  return largest(modes, &ModeError::paper_estimate);
}
double ErrorTable::max_exact() const {
  return largest(modes, &ModeError::exact);
}

}  // namespace lissom
