// Proper orthogonal decomposition of motions in absolute nodal coordinates, for one set of parameters and for
// many (paper 004, Sections 3 and 4; errata).
//
// E (N) are nodal coordinates of all beams (AncfBody::nodal), one body after the other. A sample of the
// training is the motion for one set of parameters p.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/linalg/sparse.hpp"

namespace lissom {

enum class PodOffset : std::uint8_t { Initial, Mean, None };              // "initial", "mean", "none"
enum class PodRule : std::uint8_t { SingularValues, Energy };             // "singular-values", "energy"
enum class PodCombination : std::uint8_t { Grassmann, Global, Nearest };  // "grassmann", "global", "nearest"
const std::vector<std::pair<std::string, PodOffset>>& pod_offset_names();
const std::vector<std::pair<std::string, PodRule>>& pod_rule_names();
const std::vector<std::pair<std::string, PodCombination>>& pod_combination_names();

// Smallest r with sum_(i<=r) s_i^k >= fraction sum s_i^k: k = 1 of SingularValues (which gives the paper's r
// = 11 and 33 with mean-centred snapshots), k = 2 of Energy (the variance, as the paper's text says).
int truncation_order(const Eigen::VectorXd& singular_values, PodRule rule, double fraction);

struct PodSample {
  Eigen::VectorXd parameters;       // p
  Eigen::VectorXd offset;           // N: E(0), the mean, or zero
  Eigen::MatrixXd basis;            // N by R, orthonormal in the weight, by falling singular value
  Eigen::VectorXd singular_values;  // all of them (up to min(N, snapshots))
  Eigen::MatrixXd snapshots;  // N by k: some states of the motion, evenly in time, for sampling and trust
  int samples = 0;            // snapshots that the basis was made of
};

struct PodOptions {
  PodOffset offset = PodOffset::Initial;
  bool mass_weighted = false;  // orthonormal in M: basis' M basis = I
  int max_rank = 60;           // R at most; fewer where singular values fall below round-off
  int keep = 60;               // snapshots kept
};

// `E` (N by k) in the order of time. `mass` (N) is used where weighted; the same for all samples of a
// training. Throws InputError: fewer than two snapshots, numbers that are not finite.
// The offset Initial is `placed` (N): the beams before they are assembled or come to rest under their loads,
// which the basis then holds the way to. Empty: the first snapshot.
PodSample make_pod_sample(const Eigen::VectorXd& parameters, const Eigen::MatrixXd& E,
                          const PodOptions& options, const SymmetricMatrix& mass,
                          const Eigen::VectorXd& placed = {});

// All samples of a training and what is to be made of them.
struct PodLibrary {
  std::vector<std::string> parameters;  // names, p of them
  PodOptions options;
  PodCombination combination = PodCombination::Grassmann;
  int reference = -1;  // sample whose tangent space is used; -1: the one nearest to the middle of the samples
  std::vector<PodSample> samples;

  int nodal_coordinates() const { return samples.empty() ? 0 : static_cast<int>(samples[0].basis.rows()); }
  int rank() const;  // largest order that all samples have
};
// The first thing that is wrong, as a sentence: samples of different dimensions, ranks, not finite, two
// samples with the same parameters. Empty if nothing is.
std::string inconsistency_of(const PodLibrary& library);
// The order that the rule proposes: the largest over the samples.
int proposed_order(const PodLibrary& library, PodRule rule, double fraction);

struct PodBasis {
  Eigen::MatrixXd Psi;       // N by r
  PodCombination used;       // may differ from what was asked: see `fallback`
  std::string fallback;      // why Grassmann could not be used; empty
  double largest_angle = 0;  // between the reference and any other sample [rad]; Grassmann only
  int nearest = 0;           // sample nearest to p, parameters in units of their range
  Eigen::VectorXd weights;   // of the samples; Grassmann only
};
// Basis for parameters p, orthonormal in the weight. Grassmann falls back to Global, with a warning, where an
// angle is a right angle to 1e-3 rad.
// Throws InputError: r beyond the rank (message: rank, how many snapshots), wrong number of parameters.
PodBasis pod_basis(const PodLibrary& library, PodCombination combination, const Eigen::VectorXd& p, int r,
                   const SymmetricMatrix& mass, Diagnostics& diagnostics);

// E_ref for parameters p: the start of the motion at p, `E_initial` (N), which the model knows; the samples'
// means with the weights of lagrange_weights; or zero.
Eigen::VectorXd pod_offset(const PodLibrary& library, const Eigen::VectorXd& p,
                           const Eigen::VectorXd& E_initial);

// How far p is outside of the box of the samples: 0 inside, otherwise the largest excess over the width of
// that parameter's range (infinite where the range has no width); and the parameter's index.
double outside_range(const PodLibrary& library, const Eigen::VectorXd& p, int* which = nullptr);

}  // namespace lissom
