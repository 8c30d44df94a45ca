// Backward differentiation of orders 1 to 5 with controlled order and step, the formulas on the steps as they
// were (variable coefficients). With the polynomial through the new value and k past ones, and its slope
// alpha_0 y(n+1) + alpha_1 y(n) + ... at the new time:
//
//   index 3   v = slope of the q, a = slope of the v, Newton in q and lambda (paper 000, Sec. 6.1; Brenan,
//             Campbell, Petzold, Numerical Solution of Initial-Value Problems in DAEs, Sec. 3.2)
//   index 2   see stabilised_solver.hpp
//
// A start has no past. It takes one from the parabola of q, v and a there, consistent to second order, and
// begins with order 2 and a small step: order 1 would get accelerations and reactions wrong by half.
//
// Errors of a step come from the next divided difference. Those of velocities count by the displacement that they
// make in a time, see velocity_time(). Reactions are not controlled.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "lissom/time/largest_rows.hpp"
#include "lissom/time/newton_solver.hpp"
#include "lissom/time/stabilised_solver.hpp"
#include "lissom/time/step_control.hpp"
#include "lissom/time/stepper.hpp"

namespace lissom {

namespace {

constexpr int highest_order = 5;
constexpr int most_points = highest_order + 3;  // the newest state and what order + 1 looks back at

using Weights = std::array<double, most_points>;

class Bdf final : public Stepper {
 public:
  Bdf(Equations& equations, const IntegratorOptions& options, IntegrationSummary& summary)
      : equations_(equations),
        options_(options),
        summary_(summary),
        norm_(equations, options),
        deformations_(equations, options,
                      options.max_order <= 2 ? DeformationNorm::Use::Control : DeformationNorm::Use::Watch),
        most_(std::clamp(options.max_order, 1, highest_order)),
        least_(std::min(2, most_)) {
    if (options.index == 2 && !equations.is_ode())
      stabilised_.emplace(equations, options.newton, summary);
    else
      newton_.emplace(equations, options.newton, summary);
  }

  void start(const State& initial) override {
    norm_.start(initial.t);
    points_ = 1;
    history_[0] = history_[1] = initial;
    trial_ = initial;
    order_ = used_order_ = least_;
    // the parabola leaves errors of about 0.1 (h / T)^2 in the velocities: a hundredth of the tolerance
    h_ = options_.step > 0 ? options_.step
                           : 0.3 * std::sqrt(std::min(options_.tolerance, 1e-2)) * norm_.time_scale(initial);
    steps_as_now_ = 0;
    started_ = false;
    if (newton_) newton_->forget();
    if (stabilised_) stabilised_->forget();
  }

  void step(double stop) override {
    int rejections = 0;
    for (;;) {
      if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
      const TrimmedStep step = trim_step(history_[0].t, h_, stop);
      const double smallest = smallest_step(options_, history_[0].t, norm_.horizon());
      if (!started_) invent_past(step.h);
      // another step than the ones before
      if (started_ && std::abs(step.h - last_h_) > 1e-9 * last_h_) steps_as_now_ = 0;

      double factor = 0.25;
      const bool solved = attempt(step);
      const double err = solved ? error_of_trial(rejections) : 0;
      if (solved && err <= 1) {
        accept(step, err);
        return;
      }
      ++summary_.rejected;
      ++rejections;
      if (solved) {
        factor = std::clamp(std::pow(2 * err, -1.0 / (order_ + 1)), 0.2, 0.9);
        if (!std::isfinite(err)) factor = 0.1;
        if (rejections >= 2) order_ = std::max(least_, order_ - 1);
      }
      steps_as_now_ = 0;
      h_ = step.h * factor;
      if (h_ < smallest) {
        if (solved)
          fail(
              "bdf at {:.9g} s: the error of a step stays above the tolerance of {:g} even at {:.3g} s ({}). "
              "The loads may jump there: give their times in tables, smoothen them, or take a larger "
              "tolerance",
              history_[0].t, options_.tolerance, step.h, name_largest(equations_, trial_));
        fail(
            "bdf at {:.9g} s: no convergence even with a step of {:.3g} s: {}. Check loads and stiffnesses "
            "there, or whether the mechanism is at a dead centre",
            history_[0].t, step.h, newton_ ? newton_->failure() : stabilised_->failure());
      }
    }
  }

  const State& state() const override { return history_[0]; }
  const State& previous() const override { return history_[1]; }

  // The polynomial of the formula, of q, v, a and lambda each through their own values.
  void interpolate(double t, State& out) const override {
    Weights w{};
    for (int i = 0; i <= used_order_; ++i) {
      w[i] = 1;
      for (int j = 0; j <= used_order_; ++j)
        if (j != i) w[i] *= (t - history_[j].t) / (history_[i].t - history_[j].t);
    }
    out.t = t;
    combine(w, used_order_ + 1, &State::q, out.q);
    combine(w, used_order_ + 1, &State::v, out.v);
    combine(w, used_order_ + 1, &State::a, out.a);
    combine(w, used_order_ + 1, &State::lambda, out.lambda);
    out.turns = history_[1].turns;
  }

  void archive(Archive& archive) override {
    archive(norm_, deformations_, history_, points_, trial_, alpha_, order_, used_order_, steps_as_now_, h_,
            last_h_, started_);
    if (newton_) archive(*newton_);
    if (stabilised_) archive(*stabilised_);
  }

 private:
  // sum of w[i] times the i-th latest value; as differences to the latest, so that large constants cancel
  void combine(const Weights& w, int count, Eigen::VectorXd State::*part, Eigen::VectorXd& sum) const {
    double total = 0;
    for (int i = 0; i < count; ++i) total += w[i];
    sum = total * (history_[0].*part);
    for (int i = 1; i < count; ++i) sum += w[i] * (history_[i].*part - history_[0].*part);
  }

  // Two states before the start, h apart.
  void invent_past(double h) {
    for (int i = 1; i <= 2; ++i) {
      const double s = -i * h;
      State& past = history_[i];
      past = history_[0];
      past.t += s;
      past.q += s * past.v + s * s / 2 * past.a;
      past.v += s * past.a;
    }
    points_ = 3;
  }

  // Solves for the trial state at the end of the step.
  bool attempt(const TrimmedStep& step) {
    const int k = order_;
    const double t = step.end;
    LISSOM_ASSERT(points_ >= k + 1);
    // slope of the polynomial through (t, y) and the k latest: alpha_ y + the past
    Weights past{};
    alpha_ = 0;
    for (int i = 0; i < k; ++i) alpha_ += 1 / (t - history_[i].t);
    for (int i = 0; i < k; ++i) {
      double w = 1 / (history_[i].t - t);
      for (int j = 0; j < k; ++j)
        if (j != i) w *= (t - history_[j].t) / (history_[i].t - history_[j].t);
      past[i] = w;
    }
    // prediction by one point more
    Weights ahead{};
    for (int i = 0; i <= k; ++i) {
      ahead[i] = 1;
      for (int j = 0; j <= k; ++j)
        if (j != i) ahead[i] *= (t - history_[j].t) / (history_[i].t - history_[j].t);
    }
    combine(ahead, k + 1, &State::q, q_predicted_);
    combine(ahead, k + 1, &State::v, v_predicted_);
    trial_.t = t;
    trial_.lambda = history_[0].lambda;
    trial_.turns = history_[0].turns;
    // the weights add up to -alpha: y = past + alpha_ (y(n+1) - y(n)) with differences only
    slope_of_past(past, k, &State::q, q_slope_);
    slope_of_past(past, k, &State::v, v_slope_);
    if (newton_) {
      trial_.q = q_predicted_;
      trial_.v = q_slope_ + alpha_ * (trial_.q - history_[0].q);
      trial_.a = v_slope_ + alpha_ * (trial_.v - history_[0].v);
      return newton_->solve({t, alpha_, alpha_ * alpha_, 1, nullptr}, trial_);
    }
    trial_.v = v_predicted_;
    trial_.q = history_[0].q + (trial_.v - q_slope_) / alpha_;
    trial_.a = v_slope_ + alpha_ * (trial_.v - history_[0].v);
    return stabilised_->solve(alpha_, trial_);
  }

  void slope_of_past(const Weights& w, int count, Eigen::VectorXd State::*part,
                     Eigen::VectorXd& slope) const {
    slope.setZero((history_[0].*part).size());
    for (int i = 1; i < count; ++i) slope += w[i] * (history_[i].*part - history_[0].*part);
  }

  // Time that weighs errors of velocities with a formula of order k: of the k steps that it looks back to, which of a
  // smooth motion is about 1 / w of its frequency w, so that positions and velocities count alike. Over the time
  // scale T of the whole motion a stiff mode that all but rests, by less than what is allowed to positions, would be
  // asked for 1 / (w T) of that, and keep the steps at its own period for ever. In index 3 velocities are of one order
  // less across the constraints when the step changes, and go into the reactions alone: there over the step. In index
  // 2 over the time scale.
  double velocity_time(int k, double h) const {
    if (!newton_) return norm_.time_scale(history_[0]);
    return equations_.is_ode() ? k * h : h;
  }

  // Error of the trial, from what the prediction was off.
  double error_of_trial(int rejections) {
    const double factor = 1 / (alpha_ * (trial_.t - history_[order_].t));
    e_ = factor * (trial_.q - q_predicted_);
    double err = std::max(norm_.positions(e_), deformations_.error(trial_.q, e_, rejections));
    e_ = factor * (trial_.v - v_predicted_);
    err = std::max(err, norm_.velocities(e_, velocity_time(order_, trial_.t - history_[0].t)));
    return err;
  }

  // Error that the step just accepted would have had with another order k: the divided difference of k + 2
  // points times the product of the k latest distances, over alpha.
  double error_with(int k) {
    const double t = history_[0].t;
    Weights w{};
    for (int i = 0; i < k + 2; ++i) {
      w[i] = 1;
      for (int j = 0; j < k + 2; ++j)
        if (j != i) w[i] /= history_[i].t - history_[j].t;
    }
    double alpha = 0, product = 1;
    for (int i = 1; i <= k; ++i) {
      alpha += 1 / (t - history_[i].t);
      product *= t - history_[i].t;
    }
    combine(w, k + 2, &State::q, e_);
    e_ *= product / alpha;
    double err = std::max(norm_.positions(e_), most_ <= 2 ? deformations_.error(history_[0].q, e_, 0) : 0);
    combine(w, k + 2, &State::v, e_);
    return std::max(err, norm_.velocities(e_, velocity_time(k, t - history_[1].t)) * product / alpha);
  }

  void accept(const TrimmedStep& step, double err) {
    deformations_.accept(summary_);
    // the oldest makes room
    std::swap(history_[most_points - 1], trial_);
    std::rotate(history_.begin(), history_.end() - 1, history_.end());
    equations_.count_turns(history_[0]);
    points_ = std::min(points_ + 1, most_points);
    started_ = true;
    used_order_ = order_;
    const bool cut = step.h < h_;
    const double planned = h_;
    last_h_ = step.h;
    count_step(summary_, step.h);
    ++steps_as_now_;

    // the factor that leaves half the tolerance; a change of order must pay
    const auto growth = [](double error, int k, double bias) {
      return 1 / (bias * std::pow(2 * std::max(error, 1e-12), 1.0 / (k + 1)));
    };
    double factor = growth(err, order_, 1.0);
    if (steps_as_now_ > order_) {
      int best = order_;
      if (order_ > least_) {
        const double lower = growth(error_with(order_ - 1), order_ - 1, 1.1);
        if (lower > factor) {
          factor = lower;
          best = order_ - 1;
        }
      }
      if (order_ < most_ && points_ >= order_ + 3) {
        const double higher = growth(error_with(order_ + 1), order_ + 1, 1.2);
        if (higher > factor) {
          factor = higher;
          best = order_ + 1;
        }
      }
      if (best != order_) {
        order_ = best;
        steps_as_now_ = 0;
      }
      // steps as equal as possible: fewer matrices, smoother errors
      h_ = factor >= 1.3 ? step.h * std::min(factor, 2.0) : step.h;
    } else {
      h_ = step.h;
    }
    if (factor < 0.9) h_ = step.h * std::max(factor, 0.5);
    if (cut && h_ >= step.h) h_ = std::min(std::max(planned, h_), 2 * step.h);
  }

  Equations& equations_;
  const IntegratorOptions options_;
  IntegrationSummary& summary_;
  ErrorNorm norm_;
  DeformationNorm deformations_;
  const int most_, least_;  // orders
  std::optional<NewtonSolver> newton_;
  std::optional<StabilisedSolver> stabilised_;

  std::array<State, most_points> history_;  // latest first
  int points_ = 0;                          // of it that are filled
  State trial_;
  Eigen::VectorXd q_predicted_, v_predicted_, q_slope_, v_slope_, e_;
  double alpha_ = 0;
  int order_ = 1, used_order_ = 1;
  int steps_as_now_ = 0;  // steps since order or step changed
  double h_ = 0, last_h_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Stepper> make_bdf(Equations& equations, const IntegratorOptions& options,
                                  IntegrationSummary& summary) {
  return std::make_unique<Bdf>(equations, options, summary);
}

}  // namespace lissom
