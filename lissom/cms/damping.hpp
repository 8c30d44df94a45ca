// Modal damping of a reduced body.
//
// Notation: Xi the natural modes of the reduced body, Xi' M Xi = I, omega their angular frequencies, zeta the
// damping ratios (1 is critical). The damping matrix is D = M Xi diag(2 zeta omega) Xi' M; rigid modes are
// never damped, except by Rayleigh's alpha, which the user then asked for.
#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

struct UniformDamping {
  double ratio = 0;  // of every flexible mode
};
struct RatioPerMode {
  std::vector<double> ratios;  // of flexible modes 1, 2, ...; the last one holds for all above
};
struct RayleighDamping {
  double alpha = 0;  // [1/s] on M
  double beta = 0;   // [s] on K
};
// Ratios over frequency, interpolated linearly and constant outside.
struct DampingTable {
  std::vector<double> frequency_hz;  // ascending
  std::vector<double> ratio;
  std::string source;  // file it came from
};
// `ratio` up to from_hz, then growing linearly with frequency to to_ratio at to_hz and constant above: what
// keeps the high modes, which are there for statics only, from ringing.
struct DampingRamp {
  double ratio = 0;
  double from_hz = 0, to_hz = 0;
  double to_ratio = 1;
};
using Damping =
    std::variant<std::monostate, UniformDamping, RatioPerMode, RayleighDamping, DampingTable, DampingRamp>;

// What is wrong with the numbers (negative ratios, frequencies not ascending, ...), one line each; empty if
// nothing is.
std::vector<std::string> problems_of(const Damping& damping);

// Two columns, frequency in Hz and ratio, separated by comma, semicolon or white space; # begins a comment,
// and one line of headings is allowed. Throws InputError with file and line.
DampingTable read_damping_table(const std::filesystem::path& path);

// One ratio per flexible mode of the given frequencies [Hz].
Eigen::VectorXd damping_ratios(const Damping& damping,
                               const Eigen::Ref<const Eigen::VectorXd>& frequencies_hz);

// D (N by N) of a reduced body; `eigenvalues` ascending, the first `rigid_count` of them of rigid modes;
// `eigenvectors` N by their number, M-orthonormal. Empty without damping.
Eigen::MatrixXd damping_matrix(const Damping& damping, const Eigen::Ref<const Eigen::MatrixXd>& M,
                               const Eigen::Ref<const Eigen::MatrixXd>& K,
                               const Eigen::Ref<const Eigen::VectorXd>& eigenvalues,
                               const Eigen::Ref<const Eigen::MatrixXd>& eigenvectors, int rigid_count);

// "2 % on every mode" and the like, for people.
std::string describe(const Damping& damping);

}  // namespace lissom
