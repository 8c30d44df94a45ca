#include "lissom/time/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "lissom/core/error.hpp"
#include "lissom/mbs/archive_state.hpp"

namespace lissom {

using Eigen::Vector3d;

Balance::Balance(SystemEquations& equations, const State& initial, double end)
    : equations_(equations), end_(end), strided_(equations.is_compact()) {
  g_.resize(equations.system().constraint_rows());
  const SystemEnergy energy = equations.energy(initial);
  initial_ = energy;
  last_ = previous_ = before_ = record(initial.t, energy);
  start_ = initial.t;
  track(energy);
  constraint_drift_ = largest_constraint(initial);
  mass_ = 0;
  for (const auto& body : equations.system().bodies()) mass_ += body->mass();
  isolated_ = is_isolated();
  breaks_ = equations.break_times();
}

void Balance::step(const State& state) {
  if (state.t == last_.t) return;
  if (strided_ && ++since_ < stride_ && state.t < end_ && !is_break(state.t)) return;
  take(state);
}

void Balance::jump_after(const State& state) {
  if (state.t != last_.t) take(state);
  before_jump_ = state;
}

void Balance::take(const State& state) {
  pass_jump();
  const SystemEnergy energy = equations_.energy(state);
  before_ = previous_;
  previous_ = last_;
  last_ = record(state.t, energy);
  last_.work_in = previous_.work_in + by_line(previous_, last_, &Record::power_in) +
                  by_curve(before_, previous_, last_, &Record::power_in);
  last_.dissipated = previous_.dissipated + by_line(previous_, last_, &Record::power_out) +
                     by_curve(before_, previous_, last_, &Record::power_out);
  if (is_break(state.t)) before_jump_ = state;
  track(energy);
  through_ = std::max({through_, std::abs(last_.work_in), std::abs(last_.dissipated)});
  if (strided_) choose_stride();
  if (const double now = drift(energy, last_); std::abs(now) > energy_drift_) {
    energy_drift_ = std::abs(now);
    signed_drift_ = now;
    largest_drift_at_ = state.t;
    const int k = std::ilogb(energy_drift_);
    if (levels_.empty() || k > levels_.back().k) levels_.push_back({k, state.t});
  }
  constraint_drift_ = std::max(constraint_drift_, largest_constraint(state));
  check_left_out(state.t);
  const Vector3d impulse = mass_ * equations_.system().gravity() * (state.t - start_);
  momentum_drift_ = std::max(momentum_drift_, (energy.momentum - initial_.momentum - impulse).norm());
  angular_drift_ = std::max(angular_drift_, (energy.angular_momentum - initial_.angular_momentum).norm());
}

BalanceSample Balance::at(const State& state) {
  BalanceSample out;
  out.energy = equations_.energy(state);
  const Record& from = last_.t <= state.t ? last_ : previous_;
  const Record now = record(state.t, out.energy);
  out.work_in = from.work_in + by_line(from, now, &Record::power_in);
  out.dissipated = from.dissipated + by_line(from, now, &Record::power_out);
  if (strided_) {
    // a sample may lie several steps after the last balance
    const Record& before = &from == &last_ ? previous_ : before_;
    out.work_in += by_curve(before, from, now, &Record::power_in);
    out.dissipated += by_curve(before, from, now, &Record::power_out);
  }
  Record there = now;
  there.work_in = out.work_in;
  there.dissipated = out.dissipated;
  out.energy_drift = drift(out.energy, there);
  out.constraint_drift = largest_constraint(state);
  return out;
}

std::optional<Balance::Drift> Balance::drift_above_limit() const {
  const double weight = mass_ * equations_.system().gravity().norm() * equations_.length();
  const double limit = std::max({drift_limit * scale_, 1e-5 * through_, 1e-10 * (size_ + weight)});
  if (!(scale_ > 0) || !(energy_drift_ > limit)) return std::nullopt;
  const auto level = std::find_if(levels_.begin(), levels_.end(),
                                  [&](const Level& one) { return std::ldexp(1.0, one.k + 1) > limit; });
  return Drift{signed_drift_ / scale_, level != levels_.end() ? level->t : largest_drift_at_,
               largest_drift_at_};
}

BalanceSummary Balance::summary() const {
  BalanceSummary out;
  out.energy_drift = scale_ > 0 ? energy_drift_ / scale_ : energy_drift_;
  out.energy_scale = scale_;
  out.constraint_drift = constraint_drift_;
  out.momentum_drift = momentum_drift();
  out.angular_momentum_drift = angular_momentum_drift();
  out.initial = initial_;
  out.work_in = last_.work_in;
  out.dissipated = last_.dissipated;
  return out;
}

std::optional<double> Balance::momentum_drift() const {
  const double scale = std::sqrt(2 * mass_ * kinetic_);
  if (!isolated_ || !(scale > 0)) return std::nullopt;
  return momentum_drift_ / scale;
}

std::optional<double> Balance::angular_momentum_drift() const {
  if (!isolated_ || !equations_.system().gravity().isZero(0) || !(angular_ > 0)) return std::nullopt;
  return angular_drift_ / angular_;
}

Balance::Record Balance::record(double t, const SystemEnergy& e) {
  return {t, e.load_power + e.motion_power, e.damping_power, 0, 0};
}

double Balance::drift(const SystemEnergy& energy, const Record& r) const {
  return energy.total() - initial_.total() - r.work_in + r.dissipated;
}

bool Balance::is_break(double t) const {
  const auto next = std::upper_bound(breaks_.begin(), breaks_.end(), t);
  return next != breaks_.end() && *next - t <= 1e-12 * std::abs(*next);
}

void Balance::pass_jump() {
  if (!before_jump_) return;
  State& state = *before_jump_;
  state.t = std::nextafter(state.t, std::numeric_limits<double>::infinity());
  Record after = record(state.t, equations_.energy(state));
  after.work_in = last_.work_in;
  after.dissipated = last_.dissipated;
  last_ = previous_ = after;
  before_jump_.reset();
}

double Balance::by_line(const Record& b, const Record& c, double Record::*power) {
  return (c.t - b.t) * (b.*power + c.*power) / 2;
}

double Balance::by_curve(const Record& a, const Record& b, const Record& c, double Record::*power) {
  const double h = c.t - b.t, k = b.t - a.t;
  if (!(k > 0) || !(h > 0)) return 0;
  const double second = ((c.*power - b.*power) / h - (b.*power - a.*power) / k) / (h + k);
  return -second * h * h * h / 6;
}

void Balance::choose_stride() {
  since_ = 0;
  const double off = std::max(std::abs(by_curve(before_, previous_, last_, &Record::power_in)),
                              std::abs(by_curve(before_, previous_, last_, &Record::power_out)));
  const double size = 1e-6 * std::max(scale_, through_);
  if (off > size)
    stride_ = std::max(1, stride_ / 2);
  else if (off < size / 10 && before_.t < previous_.t)
    stride_ = std::min(16, 2 * stride_);
}

void Balance::track(const SystemEnergy& e) {
  scale_ = std::max(scale_, e.kinetic + e.elastic + std::abs(e.gravity - initial_.gravity) + e.springs);
  size_ = std::max(size_, e.kinetic + e.elastic + std::abs(e.gravity) + e.springs);
  kinetic_ = std::max(kinetic_, e.kinetic);
  angular_ = std::max(angular_, e.angular_momentum.norm());
}

double Balance::largest_constraint(const State& state) {
  if (g_.size() == 0) return 0;
  equations_.all_constraints(state.t, state.q, g_);
  return g_.cwiseAbs().maxCoeff();
}

void Balance::check_left_out(double t) const {
  const std::vector<int>& kept = equations_.kept_rows();
  if (static_cast<Eigen::Index>(kept.size()) == g_.size()) return;
  auto next = kept.begin();
  for (int row = 0; row < g_.size(); ++row) {
    if (next != kept.end() && *next == row) {
      ++next;
      continue;
    }
    if (std::abs(g_[row]) > 1e-5 * equations_.length())
      fail(
          "at {:.6g} s {} contradicts the others: it was left out as redundant, and is now {:.3g} m (or "
          "sine "
          "of the angle) away from what it asks for; check its motion and the directions of the axes",
          t, equations_.constraint_name(row), std::abs(g_[row]));
  }
}

bool Balance::is_isolated() const {
  const System& system = equations_.system();
  for (const Joint& joint : system.joints())
    if (joint.first.body < 0 || joint.second.body < 0) return false;
  for (const Load& load : system.loads())
    if (!load.has_second || load.first.body < 0 || load.second.body < 0) return false;
  // supports that beams have taken out, or a basis has built in
  return std::none_of(system.bodies().begin(), system.bodies().end(),
                      [](const auto& body) { return body->is_supported(); });
}

void Balance::Record::archive(Archive& archive) {
  archive(t, power_in, power_out, work_in, dissipated);
}

void Balance::archive(Archive& archive) {
  archive(last_, previous_, before_, before_jump_, scale_, kinetic_, angular_, energy_drift_,
          constraint_drift_, momentum_drift_, angular_drift_, signed_drift_, largest_drift_at_, size_,
          through_, levels_, stride_, since_);
}

namespace {

// What makes the drift smaller.
std::string advice(const IntegratorOptions& o) {
  const std::string smaller = o.adaptive
                                  ? fmt::format("a smaller tolerance (now {:g})", o.tolerance)
                                  : fmt::format("a smaller step (now {:g} s) or adaptive = true", o.step);
  switch (o.integrator) {
    case Integrator::GeneralizedAlpha:
      if (o.rho_inf < 0.95)
        return smaller + fmt::format(", or rho_inf nearer to 1 (now {:g}), which damps less", o.rho_inf);
      return smaller + fmt::format(
                           ", or rho_inf = 0.8 (now {:g}), so that what the steps do not resolve dies out "
                           "instead of growing",
                           o.rho_inf);
    case Integrator::HhtI3:
      return smaller + fmt::format(", or alpha nearer to 0 (now {:g}), which damps less", o.alpha);
    case Integrator::ExtrapolatedAlpha:
      return fmt::format("a smaller step (now {:g} s)", o.step);
    case Integrator::CentralDifferences:
      return fmt::format("a smaller step (now {:g} s), or generalized-alpha", o.step);
    default:
      return fmt::format("a smaller tolerance (now {:g})", o.tolerance);
  }
}

}  // namespace

void warn_of_drift(const Balance& balance, const IntegratorOptions& options, const std::string& suffix,
                   Diagnostics& diagnostics) {
  // equilibria have no motion that would do work; prescribed motions are exact, and only their work is summed
  if (options.integrator == Integrator::Static || options.integrator == Integrator::Kinematics) return;
  const auto drift = balance.drift_above_limit();
  if (!drift) return;
  diagnostics.warn(
      "simulate.energy-drift" + suffix,
      fmt::format(
          "energy drifts: {:.2g} of the largest energy ({:.4g} J) is {} at t = {:.6g} s, beyond {:g} from t "
          "= {:.6g} s on. Either the motion is wrong by about as much, or the steps damp a ringing that they "
          "do not resolve (after a sudden load, say), or the power of loads and dampers changes much within "
          "a step. Try {}, and see whether the sensors change",
          std::abs(drift->relative), balance.energy_scale(), drift->relative < 0 ? "lost" : "gained",
          drift->largest_at, Balance::drift_limit, drift->since, advice(options)));
}

}  // namespace lissom
