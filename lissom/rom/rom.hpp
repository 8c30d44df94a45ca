// What every reduced mechanism is, however it was made: a system of ordinary differential equations with inputs
// and outputs,
//
//   x' = f(t, x, u),     y = h(t, x, u),     x (n),  u (p),  y (k),
//
// all in SI units. Integrators, controllers and analyses speak to this and need not know the method. Instances
// have their room for evaluations: one thread at a time. Nothing but the names allocates.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lissom {

// One column of u or y.
struct RomChannel {
  std::string name, unit;  // "push", "N"; "tip.x", "m"
};

// Nodes that a model can give back: those of one part, `numbers` in the order of nodes().
struct RomNodes {
  std::string name;
  std::vector<std::int64_t> numbers;
};

class Rom {
 public:
  using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
  using Vector = Eigen::Ref<Eigen::VectorXd>;
  using Matrix = Eigen::Ref<Eigen::MatrixXd>;

  virtual ~Rom() = default;

  // "slap", "pod", "linear", or "full": a mechanism that has no constraints although nobody reduced it.
  virtual std::string_view method() const = 0;
  virtual int states() const = 0;  // n
  virtual const std::vector<RomChannel>& inputs() const = 0;
  virtual const std::vector<RomChannel>& outputs() const = 0;

  virtual double start_time() const = 0;                // [s]
  virtual const Eigen::VectorXd& start() const = 0;     // x there (n)
  virtual std::vector<double> break_times() const = 0;  // [s] where what the study says has a kink or jump
  // What the study says that inputs are at a time (p), zero where it says nothing.
  virtual void inputs_at(double t, Vector u) const = 0;

  // In all that follows u has p numbers, or none: then inputs are those of inputs_at(t). Throws Error where f
  // or h is not finite or cannot be computed.
  virtual void rhs(double t, const ConstVector& x, const ConstVector& u, Vector f) = 0;
  virtual void jacobian(double t, const ConstVector& x, const ConstVector& u, Matrix J) = 0;  // df/dx, exact
  virtual void input_matrix(double t, const ConstVector& x, Matrix B) = 0;                    // df/du, exact
  virtual void output(double t, const ConstVector& x, const ConstVector& u, Vector y) = 0;
  // dh/dx (k by n) and dh/du (k by p).
  virtual void output_derivatives(double t, const ConstVector& x, const ConstVector& u, Matrix C,
                                  Matrix D) = 0;
  // Whether dh/dx is exact, or made of central differences (about nine digits).
  virtual bool has_exact_outputs() const = 0;

  // What not every method knows; by default nothing.
  // Kinetic, elastic, of gravity and of springs [J].
  virtual std::optional<double> energy(double t, const ConstVector& x) {
    (void)t, (void)x;
    return std::nullopt;
  }
  // How far x has left what the model was made of: 1 as far as its training states are apart from each other, or, of a
  // linear one, points moved by the size of the mechanism.
  virtual std::optional<double> distance(double t, const ConstVector& x, const ConstVector& u) {
    (void)t, (void)x, (void)u;
    return std::nullopt;
  }
  // The parts whose nodes it keeps, and where all of them are (3 by n) [m], part after part.
  virtual std::vector<RomNodes> node_groups() const { return {}; }
  virtual Eigen::Matrix3Xd nodes(const ConstVector& x) const {
    (void)x;
    return Eigen::Matrix3Xd(3, 0);
  }
};

}  // namespace lissom
