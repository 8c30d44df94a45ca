// Craig-Bampton reduction of an elastic body: the large part of it.
//
// Notation (paper 001, Sec. 2.2): the degrees of freedom are split into s (interior) and b (interface).
//   Psi = -K_s^-1 K_c                        constraint modes (Eq. 13), interior part
//   K_s phi = kappa M_s phi                  fixed-interface modes (Eq. 12), phi' M_s phi = 1
//   A = M_s Psi + M_c                        N_s by N_b (Eq. 26b)
//   K_b = K_bb + K_c' Psi,  M_b = Psi' M_s Psi + Psi' M_c + M_c' Psi + M_bb   (Eq. A3d)
//   a_j = phi_j' A                           coupling of mode j to the interface
// Everything rests on the one factorisation of K_s: constraint modes, fixed-interface modes (block Lanczos),
// residual vectors. The residual terms of error_estimate.hpp are evaluated by deflation, B = (I - Phi Phi'
// M_s) K_s^-1 A applied twice, for all modes known; leaving a mode j out again only adds a_j a_j' / kappa_j
// to X_b, ../kappa_j^2 to X_2 and so on, sums of positive terms that cost nothing and cancel nothing.
#pragma once

#include <Eigen/Core>

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lissom/cms/error_estimate.hpp"
#include "lissom/cms/inertia_loads.hpp"
#include "lissom/cms/interface.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/fe_model.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/linalg/mode_count.hpp"

namespace lissom {

// Which interior vectors a basis has.
struct InteriorChoice {
  std::vector<int> modes;  // fixed-interface modes, ascending numbers from 0
  bool residuals = false;  // and the residual vectors of what is left out
};
// The lowest `count` modes.
InteriorChoice lowest_modes(int count, bool residuals);

// The body's whole basis T (dofs by N): u = T p.
struct CraigBamptonBasis {
  Eigen::MatrixXd T;               // interior vectors (modes, residuals, attachments), then constraint modes
  ReducedPencil pencil;            // K and M in this basis
  int modes = 0;                   // the first so many columns are fixed-interface modes,
  std::vector<char> attachment;    // the others are residual vectors, or (1) mostly attachment modes
  Eigen::MatrixXd effective_mass;  // interior vectors by 6; empty where nodes are not known
  InertiaAnswers inertia;          // of the inertia loads that basis() was given
};

// Loads whose static answers, with the interfaces held, join a basis as attachment modes, less what the other
// interior vectors have of them.
struct BasisLoads {
  Eigen::MatrixXd forces;   // dofs by k, may be empty: all of them
  Eigen::MatrixXd inertia;  // dofs by 12 (inertia_loads.hpp), may be empty: the combinations of them that
  // are answered with an error above this one (relative, in the energy norm); infinite: only measured
  double inertia_tolerance = std::numeric_limits<double>::infinity();
};

class CraigBampton {
 public:
  // Factorises the interior and solves for the constraint modes. `model` must outlive the object.
  // Throws InputError: interfaces that leave the interior free to move (which motion, and what to do), no
  // interface, degrees of freedom without mass in the interior. (need_modes() throws it, too, where only the
  // spectrum tells.)
  CraigBampton(const FeModel& model, std::vector<Interface> interfaces, Diagnostics& diagnostics,
               const ProgressHook& progress = {});
  ~CraigBampton();

  const std::vector<Interface>& interfaces() const;
  int interior_size() const;   // N_s
  int interface_size() const;  // N_b
  int rigid_count() const;     // motions without energy; known once need_modes() was called

  // Makes sure that at least `count` fixed-interface modes are known (all N_s if there are no more), going on
  // from the Krylov space so far.
  void need_modes(int count);
  int modes_known() const;
  const Eigen::VectorXd& kappa() const;  // of the modes known [rad2/s2]
  double worst_residual() const;         // of the modes known, relative (EigenPairs::residuals)

  // Counts the fixed-interface modes below the last one known (mode_count.hpp). The factorisation is that of
  // the count afterwards: of the members that solve (need_modes, problem, basis) none may follow, unless
  // restore() does.
  ModeCount count_modes();
  // Factorises K_s again; the next call of need_modes() looks for modes that a count has told to be missing,
  // from those known on.
  void restore(int missing = 0);

  // What round-off of K's entries may make of the body's flexible eigenvalues [rad2/s2]: energy_roundoff
  // (fe/rigid_motions.hpp) of the first `count` flexible modes, or as many as there are, of the basis with
  // all modes known and residual vectors.
  Eigen::VectorXd roundoff(int count) const;

  // The small matrices of a choice among the modes known. Without X_3 and X_4 unless the choice has residual
  // vectors.
  ReducedProblem problem(const InteriorChoice& choice) const;

  // The large matrix of a choice, with the answers to loads.
  CraigBamptonBasis basis(const InteriorChoice& choice, const BasisLoads& loads) const;

  // Frees the factorisation, the Krylov space and all large matrices. Afterwards only the interfaces, sizes,
  // counts, eigenvalues, times and statistics may be asked for.
  void release();

  // Seconds spent so far: submatrices, factorisation, constraint modes, fixed-interface modes, residual terms
  // (the estimator's large part).
  const PhaseTimes& seconds() const;
  const CholeskyStats& factor_stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
