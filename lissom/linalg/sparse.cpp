#include "lissom/linalg/sparse.hpp"

#include "lissom/core/error.hpp"

namespace lissom {

void multiply(const SymmetricMatrix& A, const Eigen::Ref<const Eigen::MatrixXd>& X,
              Eigen::Ref<Eigen::MatrixXd> Y) {
  LISSOM_ASSERT(X.rows() == A.size() && Y.rows() == A.size() && X.cols() == Y.cols());
  const int k = static_cast<int>(X.cols());
#pragma omp parallel for schedule(dynamic, 1) if (k > 1)
  for (int j = 0; j < k; ++j) Y.col(j).noalias() = A.full() * X.col(j);
}

}  // namespace lissom
