// What every reduced mechanism is, however it was made: a system of ordinary differential equations with inputs
// and outputs,
//
//   x' = f(t, x, u),     y = h(t, x, u),     x (n),  u (p),  y (k),
//
// all in SI units. Integrators, controllers and analyses speak to this and need not know the method. Instances
// have their room for evaluations: one thread at a time. Nothing but the names allocates.
#pragma once

#include <Eigen/Core>

#include <string>
#include <string_view>
#include <vector>

namespace lissom {

// One column of u or y.
struct RomChannel {
  std::string name, unit;  // "push", "N"; "tip.x", "m"
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
};

}  // namespace lissom
