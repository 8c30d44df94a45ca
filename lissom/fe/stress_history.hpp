// Stress over a whole mesh and many instants from stress modes, without ever holding all of it.
//
// Notation: S (6 n by c) stress modes, xx yy zz xy yz zx of node after node; D (c by k) amplitudes at k
// instants; the stress is S D.
#pragma once

#include <Eigen/Core>

#include "lissom/core/progress.hpp"

namespace lissom {

struct StressPeaks {
  Eigen::VectorXd von_mises;  // n: the largest over all instants [Pa]
  Eigen::VectorXi instant;    // n: the first at which it is there
};

// Von Mises' stress at its largest, node by node. Blocks of S D live in the cache only: the cost is that of
// the product. k > 0. The result does not depend on the number of threads.
StressPeaks stress_peaks(const Eigen::Ref<const Eigen::MatrixXd>& S,
                         const Eigen::Ref<const Eigen::MatrixXd>& D, const ProgressHook& progress = {});

// The von Mises stress of all nodes, n by k, from their stress, 6 n by k.
Eigen::MatrixXd von_mises_of(const Eigen::Ref<const Eigen::MatrixXd>& stress);

}  // namespace lissom
