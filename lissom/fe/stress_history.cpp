#include "lissom/fe/stress_history.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;

// A block of the product, and what it is made of, stay in half a megabyte.
constexpr Index block_nodes = 48, block_instants = 128;

// Of one node over `count` instants, components `stride` apart: squares of von Mises' stress, and the
// largest.
double squares_of(const double* s, Index stride, Index count, double* out) {
  const double *xx = s, *yy = s + stride, *zz = s + 2 * stride, *xy = s + 3 * stride, *yz = s + 4 * stride,
               *zx = s + 5 * stride;
#pragma omp simd
  for (Index i = 0; i < count; ++i) {
    const double a = xx[i] - yy[i], b = yy[i] - zz[i], c = zz[i] - xx[i];
    out[i] = 0.5 * (a * a + b * b + c * c) + 3 * (xy[i] * xy[i] + yz[i] * yz[i] + zx[i] * zx[i]);
  }
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (Index i = 0; i < count; ++i) largest = std::max(largest, out[i]);
  return largest;
}

// What one thread works with.
struct Room {
  std::vector<double> product = std::vector<double>(block_instants * 6 * block_nodes);
  std::vector<double> squares = std::vector<double>(block_instants);
};

// The nodes [first, first + count): instants run fastest in the product, so that nodes are done in long rows.
void peaks_of_block(const Eigen::Ref<const Eigen::MatrixXd>& S, const Eigen::Ref<const Eigen::MatrixXd>& D,
                    Index first, Index count, Room& room, StressPeaks& peaks) {
  const int columns = static_cast<int>(6 * count), c = static_cast<int>(S.cols()),
            ld_S = static_cast<int>(S.outerStride()), ld_D = static_cast<int>(D.outerStride()),
            ld = static_cast<int>(block_instants);
  const double one = 1, zero = 0;
  for (Index i = 0; i < count; ++i) {
    peaks.von_mises[first + i] = -1;
    peaks.instant[first + i] = 0;
  }
  for (Index from = 0; from < D.cols(); from += block_instants) {
    const Index instants = std::min(block_instants, D.cols() - from);
    const int rows = static_cast<int>(instants);
    dgemm_("T", "T", &rows, &columns, &c, &one, D.data() + from * D.outerStride(), &ld_D,
           S.data() + 6 * first, &ld_S, &zero, room.product.data(), &ld);
    for (Index i = 0; i < count; ++i) {
      const double largest =
          squares_of(&room.product[6 * i * block_instants], block_instants, instants, room.squares.data());
      if (!(largest > peaks.von_mises[first + i])) continue;
      peaks.von_mises[first + i] = largest;
      const auto begin = room.squares.begin();
      peaks.instant[first + i] =
          static_cast<int>(from + (std::find(begin, begin + instants, largest) - begin));
    }
  }
  for (Index i = 0; i < count; ++i)
    peaks.von_mises[first + i] = std::sqrt(std::max(0.0, peaks.von_mises[first + i]));
}

}  // namespace

StressPeaks stress_peaks(const Eigen::Ref<const Eigen::MatrixXd>& S,
                         const Eigen::Ref<const Eigen::MatrixXd>& D, const ProgressHook& progress) {
  LISSOM_ASSERT(S.rows() % 6 == 0 && S.cols() == D.rows() && D.cols() > 0 && D.rows() > 0);
  const Index n = S.rows() / 6, blocks = (n + block_nodes - 1) / block_nodes;
  StressPeaks peaks;
  peaks.von_mises.resize(n);
  peaks.instant.resize(n);
  const int threads = omp_get_max_threads();
  const BlasThreads one_thread_each;
  // pieces between which the progress is told
  const Index piece = std::max<Index>(16, blocks / 50 + 1);
  for (Index begin = 0; begin < blocks; begin += piece) {
    if (progress) progress("stress over time", static_cast<double>(begin) / static_cast<double>(blocks));
    const Index end = std::min(begin + piece, blocks);
#pragma omp parallel num_threads(threads)
    {
      Room room;
#pragma omp for schedule(dynamic, 1)
      for (Index b = begin; b < end; ++b) {
        const Index first = b * block_nodes;
        peaks_of_block(S, D, first, std::min(block_nodes, n - first), room, peaks);
      }
    }
  }
  return peaks;
}

Eigen::MatrixXd von_mises_of(const Eigen::Ref<const Eigen::MatrixXd>& stress) {
  LISSOM_ASSERT(stress.rows() % 6 == 0);
  Eigen::MatrixXd out(stress.rows() / 6, stress.cols());
  for (Index k = 0; k < out.cols(); ++k)
    for (Index i = 0; i < out.rows(); ++i) out(i, k) = von_mises(stress.col(k).segment<6>(6 * i));
  return out;
}

}  // namespace lissom
