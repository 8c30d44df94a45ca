// Stress over a whole mesh for many instants: von Mises' maximum of every node from stress modes, against one
// pass through memory over as many numbers as the stress would have. Prints JSON; run.py takes it.
//   stress_peaks [nodes modes instants repeat]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "lissom/core/parallel.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/fe/stress_history.hpp"

using namespace lissom;
using Eigen::Index;

int main(int argc, char** argv) {
  const auto argument = [&](int i, long value) { return argc > i ? std::atol(argv[i]) : value; };
  const Index nodes = argument(1, 50000), modes = argument(2, 40), instants = argument(3, 1000);
  const long repeat = argument(4, 5);
  Eigen::MatrixXd S(6 * nodes, modes), D(modes, instants);
  for (Index j = 0; j < modes; ++j)
    for (Index i = 0; i < S.rows(); ++i) S(i, j) = std::sin(0.7 * double(i % 997) + 1.3 * double(j));
  for (Index k = 0; k < instants; ++k)
    for (Index j = 0; j < modes; ++j) D(j, k) = std::cos(0.01 * double(k) * double(j + 1));

  double best = 1e300, check = 0;
  for (long r = 0; r < repeat; ++r) {
    Timer timer;
    const StressPeaks peaks = stress_peaks(S, D);
    best = std::min(best, timer.seconds());
    check = peaks.von_mises.maxCoeff();
  }

  // write all 6 nodes by instants numbers once and read them once, in pieces that are allocated beforehand
  // and larger than any cache
  const Index piece = 1 << 25, count = 6 * nodes * instants;
  std::vector<double> room(static_cast<size_t>(std::min(piece, count)), 1.0);
  double memory = 1e300, sum = 0;
  for (long r = 0; r < repeat; ++r) {
    Timer timer;
    for (Index done = 0; done < count; done += piece) {
      const Index now = std::min(piece, count - done);
      double* x = room.data();
      double part = 0;
      const double value = double(r + done);
#pragma omp parallel for simd schedule(static)
      for (Index i = 0; i < now; ++i) x[i] = value;
#pragma omp parallel for simd schedule(static) reduction(+ : part)
      for (Index i = 0; i < now; ++i) part += x[i];
      sum += part;
    }
    memory = std::min(memory, timer.seconds());
  }
  const double flops = 2.0 * 6 * double(nodes) * double(modes) * double(instants);
  fmt::print(
      "{{\"nodes\": {}, \"modes\": {}, \"instants\": {}, \"threads\": {}, \"seconds\": {}, "
      "\"memory_seconds\": {}, "
      "\"gigabytes_per_second\": {}, \"gigaflops\": {}, \"largest\": {}, \"sum\": {}}}\n",
      nodes, modes, instants, thread_count(), best, memory, 16e-9 * double(count) / memory,
      1e-9 * flops / best, check, sum);
  return 0;
}
