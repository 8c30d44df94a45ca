// A linear model as a system of ordinary differential equations, and its exact solution in time.
#pragma once

#include <functional>
#include <list>

#include "lissom/core/time_function.hpp"
#include "lissom/rom/linear/linear_model.hpp"
#include "lissom/rom/rom.hpp"

namespace lissom {

// What an input is over time: a sum of functions with weights, so that the components of a load become its size.
struct LinearDrive {
  std::vector<TimeFunction> functions;
  std::vector<double> weights;
  double operator()(double t) const;
};

class LinearRom final : public Rom {
 public:
  // `drives` of all inputs; without any they stay what they are at the operating point. It starts at x0 and t = 0.
  explicit LinearRom(LinearModel model, std::vector<LinearDrive> drives = {});

  const LinearModel& model() const { return model_; }
  const std::vector<LinearDrive>& drives() const { return drives_; }

  std::string_view method() const override { return "linear"; }
  int states() const override { return model_.order(); }
  const std::vector<RomChannel>& inputs() const override { return inputs_; }
  const std::vector<RomChannel>& outputs() const override { return outputs_; }
  double start_time() const override { return 0; }
  const Eigen::VectorXd& start() const override { return model_.x0; }
  std::vector<double> break_times() const override;
  void inputs_at(double t, Vector u) const override;
  void rhs(double t, const ConstVector& x, const ConstVector& u, Vector f) override;
  void jacobian(double t, const ConstVector& x, const ConstVector& u, Matrix J) override;
  void input_matrix(double t, const ConstVector& x, Matrix B) override;
  void output(double t, const ConstVector& x, const ConstVector& u, Vector y) override;
  void output_derivatives(double t, const ConstVector& x, const ConstVector& u, Matrix C, Matrix D) override;
  bool has_exact_outputs() const override { return true; }
  std::optional<double> distance(double t, const ConstVector& x, const ConstVector& u) override {
    return range(t, x, u);
  }

  // How far points are from the operating point, over the size of the mechanism, at most; and which coordinate.
  double range(double t, const ConstVector& x, const ConstVector& u, int* coordinate = nullptr);

 private:
  void set_deviation(double t, const ConstVector& u);

  LinearModel model_;
  std::vector<LinearDrive> drives_;
  std::vector<RomChannel> inputs_, outputs_;
  Eigen::VectorXd du_, moved_;  // room
};

// x(t + h) from x(t), exact for inputs that are held, or quadratic over the step: with phi_j(z) = sum z^k / (k + j)!
//   x+ = e^(hA) x + h phi_1(hA) B c0 + h phi_2(hA) B c1 + 2 h phi_3(hA) B c2,   u(s) = c0 + c1 s/h + c2 (s/h)^2.  (7)
class LinearStepper {
 public:
  LinearStepper(const LinearModel& model, double step);
  double step() const { return step_; }
  // Deviations u - u0 at the beginning, in the middle and at the end; one that is held. Allocate nothing.
  void quadratic(Rom::ConstVector begin, Rom::ConstVector middle, Rom::ConstVector end, Rom::Vector x);
  void held(Rom::ConstVector du, Rom::Vector x);

 private:
  double step_;
  Eigen::MatrixXd E_, held_, begin_, middle_, end_;
  Eigen::VectorXd next_;
};

struct LinearRunOptions {
  double end = 0;     // [s]
  double step = 0;    // [s] within which inputs are taken as parabolas
  double sample = 0;  // [s] interval of output; 0: every step
  // With every sample, at the start and at the end too.
  std::function<void(double t, const Eigen::VectorXd& x, const Eigen::VectorXd& u, const Eigen::VectorXd& y)>
      output;
  std::function<bool()> stop;  // asked before every step
  // Sample and hold: called at the start and every `period` [s] with the outputs just before; sets what inputs are
  // from then on (p), NaN for those that stay as rom.inputs_at() says.
  struct Control {
    double period = 0;
    std::function<void(double t, const Eigen::VectorXd& y, Eigen::VectorXd& held)> act;
  } control;
};

struct LinearRunSummary {
  long steps = 0, samples = 0, propagators = 0;  // step sizes that were prepared
  double end = 0, seconds = 0;
  double range = 0, range_time = 0;  // LinearRom::range() at most, over the samples
  int range_coordinate = 0;
  bool stopped = false;
};

// From the start under the model's own inputs; steps end at their kinks and jumps. Throws Error where a number is
// not finite.
LinearRunSummary run_linear(LinearRom& rom, const LinearRunOptions& options);

}  // namespace lissom
