#include "lissom/rom/linear/linear_rom.hpp"

#include <unsupported/Eigen/MatrixFunctions>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/core/resources.hpp"
#include "lissom/linalg/schur.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double LinearDrive::operator()(double t) const {
  double sum = 0;
  for (size_t i = 0; i < functions.size(); ++i)
    if (weights[i] != 0) sum += weights[i] * functions[i](t);
  return sum;
}

LinearRom::LinearRom(LinearModel model, std::vector<LinearDrive> drives)
    : model_(std::move(model)),
      drives_(std::move(drives)),
      du_(model_.u0.size()),
      moved_(model_.range.rows()) {
  LISSOM_ASSERT(inconsistency_of(model_).empty());
  LISSOM_ASSERT(drives_.empty() || drives_.size() == model_.inputs.size());
  for (const LinearInput& input : model_.inputs) inputs_.push_back({input.name, input.unit});
  for (const SensorColumn& output : model_.outputs) outputs_.push_back({output.name, si_unit(output)});
}

std::vector<double> LinearRom::break_times() const {
  std::vector<double> times;
  for (const LinearDrive& drive : drives_)
    for (size_t i = 0; i < drive.functions.size(); ++i)
      if (drive.weights[i] != 0)
        for (const double t : drive.functions[i].break_times()) times.push_back(t);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

void LinearRom::inputs_at(double t, Vector u) const {
  if (drives_.empty()) {
    u = model_.u0;
    return;
  }
  for (size_t i = 0; i < drives_.size(); ++i) u[static_cast<Index>(i)] = drives_[i](t);
}

void LinearRom::set_deviation(double t, const ConstVector& u) {
  if (u.size() > 0)
    du_ = u;
  else
    inputs_at(t, du_);
  du_ -= model_.u0;
}

void LinearRom::rhs(double t, const ConstVector& x, const ConstVector& u, Vector f) {
  set_deviation(t, u);
  f.noalias() = model_.A * x;
  f.noalias() += model_.B * du_;
}

void LinearRom::jacobian(double, const ConstVector&, const ConstVector&, Matrix J) {
  J = model_.A;
}

void LinearRom::input_matrix(double, const ConstVector&, Matrix B) {
  B = model_.B;
}

void LinearRom::output(double t, const ConstVector& x, const ConstVector& u, Vector y) {
  set_deviation(t, u);
  y = model_.y0;
  y.noalias() += model_.C * x;
  y.noalias() += model_.D * du_;
}

void LinearRom::output_derivatives(double, const ConstVector&, const ConstVector&, Matrix C, Matrix D) {
  C = model_.C;
  D = model_.D;
}

double LinearRom::range(double t, const ConstVector& x, const ConstVector& u, int* coordinate) {
  if (moved_.size() == 0) return 0;
  set_deviation(t, u);
  moved_.noalias() = model_.range * x;
  moved_.noalias() += model_.range_inputs * du_;
  Index at = 0;
  const double most = moved_.cwiseAbs().maxCoeff(&at);
  if (coordinate) *coordinate = static_cast<int>(at);
  return most;
}

LinearStepper::LinearStepper(const LinearModel& model, double step) : step_(step), next_(model.order()) {
  LISSOM_ASSERT(step > 0);
  const Index n = model.order(), p = model.B.cols();
  // rows and columns of like size, and inputs as large as the rest: squarings cost digits
  MatrixXd A = model.A;
  const VectorXd scale = balance_rows_and_columns(A);
  MatrixXd B = step * (scale.cwiseInverse().asDiagonal() * model.B);
  VectorXd size(p);
  for (Index j = 0; j < p; ++j) {
    const double norm = B.col(j).norm();
    size[j] = norm > 0 ? norm : 1;
    B.col(j) /= size[j];
  }
  // exp of [hA hB 0 0; 0 0 1 0; 0 0 0 1; 0 0 0 0] has the phi functions in its first rows
  MatrixXd augmented = MatrixXd::Zero(n + 3 * p, n + 3 * p);
  augmented.topLeftCorner(n, n) = step * A;
  augmented.block(0, n, n, p) = B;
  augmented.block(n, n + p, 2 * p, 2 * p).setIdentity();
  MatrixXd all = augmented;
  if (augmented.size() > 0) all = augmented.exp();
  const auto block = [&](Index k) -> MatrixXd {
    return scale.asDiagonal() * all.block(0, n + k * p, n, p) * size.asDiagonal();
  };
  E_ = scale.asDiagonal() * all.topLeftCorner(n, n) * scale.cwiseInverse().asDiagonal();
  held_ = block(0);
  const MatrixXd second = block(1), third = 2 * block(2);
  // c0 = begin, c1 = -3 begin + 4 middle - end, c2 = 2 begin - 4 middle + 2 end
  begin_ = held_ - 3 * second + 2 * third;
  middle_ = 4 * second - 4 * third;
  end_ = 2 * third - second;
  if (!E_.allFinite() || !begin_.allFinite())
    fail(
        "the solution over a step of {:g} s is not finite: the mechanism grows too fast, take a shorter step",
        step);
}

void LinearStepper::quadratic(Rom::ConstVector begin, Rom::ConstVector middle, Rom::ConstVector end,
                              Rom::Vector x) {
  next_.noalias() = E_ * x;
  next_.noalias() += begin_ * begin;
  next_.noalias() += middle_ * middle;
  next_.noalias() += end_ * end;
  x = next_;
}

void LinearStepper::held(Rom::ConstVector du, Rom::Vector x) {
  next_.noalias() = E_ * x;
  next_.noalias() += held_ * du;
  x = next_;
}

namespace {

// Steppers by their step; the latest are kept.
class StepperCache {
 public:
  explicit StepperCache(const LinearModel& model) : model_(model) {}
  LinearStepper& get(double step) {
    for (auto it = steppers_.begin(); it != steppers_.end(); ++it)
      // the same step but for round-off of its ends
      if (std::abs(it->step() - step) <= 1e-10 * step) {
        steppers_.splice(steppers_.begin(), steppers_, it);
        return steppers_.front();
      }
    if (steppers_.size() == most_) steppers_.pop_back();
    steppers_.emplace_front(model_, step);
    ++made_;
    return steppers_.front();
  }
  long made() const { return made_; }

 private:
  static constexpr size_t most_ = 16;
  const LinearModel& model_;
  std::list<LinearStepper> steppers_;
  long made_ = 0;
};

}  // namespace

LinearRunSummary run_linear(LinearRom& rom, const LinearRunOptions& options) {
  LISSOM_ASSERT(options.end > 0 && options.step > 0 && options.sample >= 0);
  const Timer timer;
  const LinearModel& model = rom.model();
  const Index p = model.u0.size();
  const double start = rom.start_time(), round_off = 1e-12 * options.end;
  const double sample = options.sample > 0 ? options.sample : options.step;
  std::vector<double> breaks;
  for (const double t : rom.break_times())
    if (t > start + round_off && t < options.end - round_off) breaks.push_back(t);

  LinearRunSummary summary;
  StepperCache steppers(model);
  VectorXd x = rom.start(), u(p), begin(p), middle(p), end(p), y(model.y0.size());
  VectorXd held = VectorXd::Constant(p, std::numeric_limits<double>::quiet_NaN());
  const auto inputs = [&](double t, VectorXd& values) {
    rom.inputs_at(t, values);
    for (Index k = 0; k < p; ++k)
      if (!std::isnan(held[k])) values[k] = held[k];
  };
  // counted, so that nothing adds up; none at the end
  long instants = 0;
  const auto next_instant = [&] {
    const double at = start + static_cast<double>(instants) * options.control.period;
    return options.control.act && at < options.end - round_off ? at : std::numeric_limits<double>::infinity();
  };
  const auto control = [&](double t) {
    if (next_instant() > t + round_off) return;
    inputs(t, u);
    rom.output(t, x, u, y);
    options.control.act(t, y, held);
    ++instants;
  };
  const auto give = [&](double t) {
    inputs(t, u);
    rom.output(t, x, u, y);
    if (!x.allFinite() || !y.allFinite())
      fail("the linear model is not finite at t = {:.6g} s: it grows without bounds", t);
    int coordinate = 0;
    if (const double moved = rom.range(t, x, u, &coordinate); moved > summary.range) {
      summary.range = moved;
      summary.range_time = t;
      summary.range_coordinate = coordinate;
    }
    ++summary.samples;
    if (options.output) options.output(t, x, u, y);
  };
  // deviations from inside of a piece, whose ends may be jumps
  const auto deviation = [&](double t, VectorXd& du) {
    inputs(t, du);
    du -= model.u0;
  };
  control(start);
  give(start);
  double t = start;
  size_t next_break = 0;
  for (long k = 1; t < options.end - round_off && !summary.stopped; ++k) {
    const double until = std::min(options.end, start + static_cast<double>(k) * sample);
    const double target = options.end - until < round_off ? options.end : until;
    while (t < target - round_off) {
      double to = target;
      while (next_break < breaks.size() && breaks[next_break] <= t + round_off) ++next_break;
      if (next_break < breaks.size() && breaks[next_break] < target + round_off) to = breaks[next_break];
      to = std::min(to, next_instant());
      // equal steps of at most `step` through the piece
      const double piece = to - t;
      const auto count = std::max(1L, std::lround(std::ceil(piece / options.step - 1e-9)));
      LinearStepper& stepper = steppers.get(piece / static_cast<double>(count));
      for (long i = 0; i < count; ++i) {
        if (options.stop && options.stop()) {
          summary.stopped = true;
          break;
        }
        const double from = t + piece * static_cast<double>(i) / static_cast<double>(count);
        const double there =
            i + 1 == count ? to : t + piece * static_cast<double>(i + 1) / static_cast<double>(count);
        deviation(i == 0 ? std::nextafter(from, there) : from, begin);
        deviation((from + there) / 2, middle);
        deviation(i + 1 == count ? std::nextafter(there, from) : there, end);
        stepper.quadratic(begin, middle, end, x);
        ++summary.steps;
      }
      if (summary.stopped) break;
      t = to;
      control(t);
    }
    if (summary.stopped) break;
    t = target;
    give(t);
  }
  summary.end = t;
  summary.propagators = steppers.made();
  summary.seconds = timer.seconds();
  return summary;
}

}  // namespace lissom
