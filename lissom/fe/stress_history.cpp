#include "lissom/fe/stress_history.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/core/parallel.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/fortran_blas.hpp"

namespace lissom {

namespace {

using Eigen::Index;

// A block of the product, and what it is made of, stay in half a megabyte.
constexpr Index block_nodes = 48, block_instants = 128;
// Von Mises' stress is the length of five numbers that are linear in the stress, so that the sixth need not
// be computed: s^2 = (xx - (yy + zz) / 2)^2 + 3/4 (yy - zz)^2 + 3 (xy^2 + yz^2 + zx^2).
constexpr Index parts_of_stress = 5;

// What one thread works with.
struct Room {
  explicit Room(Index c) : modes(static_cast<size_t>(c * parts_of_stress * block_nodes)) {}
  std::vector<double> modes;  // c by five a node
  std::vector<double> product = std::vector<double>(block_instants * parts_of_stress * block_nodes);
  std::vector<double> squares = std::vector<double>(block_instants);
};

// The five numbers of each node for unit amplitudes.
void load_modes(const Eigen::Ref<const Eigen::MatrixXd>& S, Index first, Index count, Room& room) {
  const double root = std::sqrt(3.0);
  const Index c = S.cols();
  for (Index j = 0; j < c; ++j) {
    const double* s = S.data() + j * S.outerStride() + 6 * first;
    for (Index i = 0; i < count; ++i, s += 6) {
      double* to = &room.modes[static_cast<size_t>(parts_of_stress * i * c + j)];
      to[0] = s[0] - 0.5 * (s[1] + s[2]);
      to[c] = 0.5 * root * (s[1] - s[2]);
      for (int k = 0; k < 3; ++k) to[(2 + k) * c] = root * s[3 + k];
    }
  }
}

// Of one node over `count` instants: squares of von Mises' stress, and the largest.
double squares_of(const double* s, Index count, double* out) {
  const double *a = s, *b = a + block_instants, *c = b + block_instants, *d = c + block_instants,
               *e = d + block_instants;
#pragma omp simd
  for (Index i = 0; i < count; ++i)
    out[i] = a[i] * a[i] + b[i] * b[i] + c[i] * c[i] + d[i] * d[i] + e[i] * e[i];
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (Index i = 0; i < count; ++i) largest = std::max(largest, out[i]);
  return largest;
}

// The nodes [first, first + count): instants run fastest in the product, so that nodes are done in long rows.
void peaks_of_block(const Eigen::Ref<const Eigen::MatrixXd>& S, const Eigen::Ref<const Eigen::MatrixXd>& D,
                    Index first, Index count, Room& room, StressPeaks& peaks) {
  const int columns = static_cast<int>(parts_of_stress * count), c = static_cast<int>(S.cols()),
            ld_D = static_cast<int>(D.outerStride()), ld = static_cast<int>(block_instants);
  const double one = 1, zero = 0;
  load_modes(S, first, count, room);
  peaks.von_mises.segment(first, count).setConstant(-1);
  for (Index from = 0; from < D.cols(); from += block_instants) {
    const Index instants = std::min(block_instants, D.cols() - from);
    const int rows = static_cast<int>(instants);
    dgemm_("T", "N", &rows, &columns, &c, &one, D.data() + from * D.outerStride(), &ld_D, room.modes.data(),
           &c, &zero, room.product.data(), &ld);
    for (Index i = 0; i < count; ++i) {
      const double largest =
          squares_of(&room.product[static_cast<size_t>(parts_of_stress * i * block_instants)], instants,
                     room.squares.data());
      if (!(largest > peaks.von_mises[first + i])) continue;
      peaks.von_mises[first + i] = largest;
      const auto begin = room.squares.begin();
      peaks.instant[first + i] =
          static_cast<int>(from + (std::find(begin, begin + instants, largest) - begin));
    }
  }
  peaks.von_mises.segment(first, count) = peaks.von_mises.segment(first, count).cwiseSqrt();
}

}  // namespace

StressPeaks stress_peaks(const Eigen::Ref<const Eigen::MatrixXd>& S,
                         const Eigen::Ref<const Eigen::MatrixXd>& D, const ProgressHook& progress) {
  LISSOM_ASSERT(S.rows() % 6 == 0 && S.cols() == D.rows() && D.cols() > 0 && D.rows() > 0);
  const Index n = S.rows() / 6, blocks = (n + block_nodes - 1) / block_nodes;
  StressPeaks peaks;
  peaks.von_mises.resize(n);
  peaks.instant = Eigen::VectorXi::Zero(n);
  const int threads = thread_count();
  const BlasThreads one_thread_each;
  // pieces between which the progress is told
  const Index piece = std::max<Index>(16, blocks / 50 + 1);
  for (Index begin = 0; begin < blocks; begin += piece) {
    if (progress) progress("stress over time", static_cast<double>(begin) / static_cast<double>(blocks));
    const Index end = std::min(begin + piece, blocks);
    SharedRange range(begin, 1);
    parallel_team(threads, [&](int, int) {
      Room room(S.cols());
      range.work(end, [&](Index b) {
        const Index first = b * block_nodes;
        peaks_of_block(S, D, first, std::min(block_nodes, n - first), room, peaks);
      });
    });
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
