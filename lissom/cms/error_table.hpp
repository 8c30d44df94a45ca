// What is known of the error of each natural mode of a reduced body.
//
// Notation: chi the exact eigenvalue of the whole body, chi_bar that of the reduced one, zeta = chi_bar / chi
// - 1 its relative error (paper 001, Eq. 23), never negative (Rayleigh-Ritz). Modes are numbered from 1 and
// count flexible modes only, because zeta has no meaning for a rigid one.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace lissom {

inline constexpr double unknown_error = std::numeric_limits<double>::quiet_NaN();

// All errors are relative, of the eigenvalue (twice that of the frequency); unknown_error where not computed.
struct ModeError {
  double eigenvalue = 0;          // chi_bar [rad2/s2]
  double bound = unknown_error;   // proven: chi_bar / (lower end of the enclosure) - 1; infinite: no bound
  double zeta_2 = unknown_error;  // sharp estimate, see error_estimate.hpp
  double lower_estimate = unknown_error;  // paper 001, Eq. 45; of a basis without residual vectors only
  double paper_estimate = unknown_error;  // paper 001, Eqs. 42-43, which is no bound; likewise
  double exact = unknown_error;           // Eq. 23, from the eigenvalues of the whole body; on request
};

// Largest of one kind of error over the modes; unknown_error where it is known of none.
double largest(const std::vector<ModeError>& modes, double ModeError::*which);

struct ErrorTable {
  std::vector<ModeError> modes;  // the flexible modes in range, in order
  std::string method;      // "certified", "estimate", "paper" or "fixed": what ended the search for modes
  double tolerance = 0;    // that was asked for; 0 with method "fixed"
  bool certified = false;  // the bounds of all modes in range are below the tolerance
  // largest of each over the range; unknown_error where it was computed for none
  double max_bound() const;
  double max_zeta_2() const;
  double max_lower_estimate() const;
  double max_paper_estimate() const;
  double max_exact() const;
};

}  // namespace lissom
