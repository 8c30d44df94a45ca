// Forces and tangents of a SLAP model, from its polynomial and from the exact kernel, without anything around
// them. Prints JSON, in microseconds of processor time a call, the best of some rounds.
//   slap_forces MODEL.rom.h5          both kernels, and how far they are apart at the training states
//   slap_forces M ROWS DAMPING_ROWS   a polynomial of these sizes, random numbers
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>

#include "lissom/io/rom_file.hpp"
#include "lissom/rom/slap/polynomial_kernel.hpp"
#include "lissom/rom/slap/slap_kernel.hpp"

using namespace lissom;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double best_microseconds(int count, const Work& work) {
  double best = 1e300;
  for (int round = 0; round < 20; ++round) {
    const double begin = processor_seconds();
    for (int i = 0; i < count; ++i) work(i);
    best = std::min(best, (processor_seconds() - begin) / count);
  }
  return 1e6 * best;
}

// Force alone, and force with tangent, at states that differ from call to call.
template <class Kernel>
std::string cost_of(const Kernel& kernel, VectorXd eta, const VectorXd& v, int count) {
  typename Kernel::Room room(kernel);
  const double first = eta[0];
  VectorXd g = VectorXd::Zero(eta.size());
  MatrixXd J = MatrixXd::Zero(eta.size(), eta.size());
  const auto force = [&](int i) {
    eta[0] = first + 1e-9 * i;
    kernel.update(eta, v, room);
    kernel.add_force(room, g);
  };
  const double alone = best_microseconds(count, force);
  const double both = best_microseconds(count, [&](int i) {
    force(i);
    kernel.add_tangent(1, 1, room, J);
  });
  return fmt::format("{{\"force\": {:.4f}, \"force_and_tangent\": {:.4f}}}", alone, both);
}

MatrixXd random_rows(int rows, int m) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, (m + 1) * (m + 2) / 2, [&] { return normal(random); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) {
    const int m = std::atoi(argv[1]), rows = std::atoi(argv[2]), damping_rows = std::atoi(argv[3]);
    SlapPolynomial form;
    form.S = random_rows(rows, m);
    if (damping_rows > 0) form.S_damping = random_rows(damping_rows, m);
    const VectorXd eta = VectorXd::LinSpaced(m, -1, 1), v = VectorXd::LinSpaced(m, 1, 2);
    fmt::print("{{\"order\": {}, \"rows\": {}, \"damping_rows\": {}, \"polynomial\": {}}}\n", m, rows,
               damping_rows, cost_of(PolynomialKernel(form, m), eta, v, 20000));
    return 0;
  }
  if (argc != 2) return 2;
  Diagnostics diagnostics;
  const RomFile rom = read_rom_file(argv[1], diagnostics);
  const SlapModel& model = rom.model;
  const int m = model.order();
  const VectorXd eta = model.training.samples.col(model.training.samples.cols() / 2);
  const VectorXd v = model.training.spread;
  fmt::print("{{\"order\": {}, \"exact\": {}", m, cost_of(SlapKernel(model), eta, v, 2000));
  if (model.polynomial)
    fmt::print(", \"rows\": {}, \"damping_rows\": {}, \"displacement\": {}, \"polynomial\": {}",
               model.polynomial->S.rows(), model.polynomial->S_damping.rows(), model.polynomial->displacement,
               cost_of(PolynomialKernel(*model.polynomial, m), eta, v, 20000));
  fmt::print("}}\n");
}
