#include "lissom/cms/mode_selection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "lissom/fe/modes.hpp"

namespace lissom {

using Eigen::VectorXd;

namespace {

constexpr double guard_factor = 1.05;
// zeta_2 can be 1.8 times too small on the enriched basis
constexpr double estimate_safety = 2;
// modes of a close pair carry each other's error: zeta_2 is looked at so far beyond the range
constexpr int modes_beyond = 3;
// two spiders have twelve
constexpr int few_interface_dofs = 24;
constexpr double pair_width = 1.05;
// a search ends when so many extensions in a row, each by a sixth of the modes, have made the error that
// stands in the way no smaller by a tenth: even bases that converge slowly (a plain one: the error falls with
// the number of modes) gain more
constexpr int patience = 3;
constexpr double progress_factor = 0.9;

// One body, and the questions that a search asks of it.
class Search {
 public:
  Search(CraigBampton& body, int range, int max_modes, const ProgressHook& progress)
      : body_(body),
        range_(range),
        max_modes_(std::min(max_modes, body.interior_size())),
        progress_(progress),
        roundoff_(body.modes_known() > 0 ? body.roundoff(range) : VectorXd()) {}

  int max_modes() const { return max_modes_; }
  int evaluations() const { return evaluations_; }
  // Whether the last search ended because more modes did not help.
  bool stalled() const { return stalled_; }

  std::vector<ModeError> errors(const InteriorChoice& choice, bool bounds, double goal = 0, int beyond = 0) {
    ++evaluations_;
    EstimateOptions options = estimate_options(goal);
    options.range = range_ + beyond;
    options.bounds = bounds;
    return estimate_errors(body_.problem(choice), options);
  }

  // What round-off adds to the bounds of the modes given, at both ends of the enclosure, at least: the
  // largest of them. Without eigenvalues that are nothing but round-off.
  double finest(const std::vector<ModeError>& errors) const {
    double result = 0;
    for (size_t k = 0; k < errors.size() && roundoff_.size() > 0; ++k) {
      const double roundoff = roundoff_[std::min<Eigen::Index>(k, roundoff_.size() - 1)];
      if (errors[k].eigenvalue > 2 * roundoff) result = std::max(result, 2 * roundoff / errors[k].eigenvalue);
    }
    return result;
  }

  // Eigenvalue of the last mode in range; infinite where the reduced body has too few.
  double last_eigenvalue(const std::vector<ModeError>& errors) const {
    return static_cast<int>(errors.size()) >= range_ ? errors[range_ - 1].eigenvalue
                                                     : std::numeric_limits<double>::infinity();
  }

  // Number of fixed-interface modes that the guard wants, known ones only; more than are known if it wants
  // those too.
  int guard(double last) const {
    const VectorXd& kappa = body_.kappa();
    int count = 0;
    while (count < kappa.size() && kappa[count] <= guard_factor * last) ++count;
    return count == kappa.size() && count < body_.interior_size() ? count + 1 : count;
  }

  // The smallest number of lowest modes that the guard allows. Fewer modes raise chi_bar, so this is the
  // number that contents itself.
  int guarded_start(bool residuals) {
    int count = std::clamp(body_.modes_known() - 1, 1, max_modes_);
    for (;;) {
      body_.need_modes(count + 1);
      const auto found = errors(lowest_modes(std::min(count, body_.modes_known()), residuals), false);
      const int wanted = guard(last_eigenvalue(found));
      if (wanted <= count || count >= max_modes_) break;
      count = std::min(max_modes_, count + step(count));
    }
    // the guard of the body with so many modes, down to where it bites
    int low = 0, high = std::min(count, body_.modes_known());
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      const auto found = errors(lowest_modes(middle, residuals), false);
      (guard(last_eigenvalue(found)) <= middle ? high : low) = middle;
    }
    return high;
  }

  // Whether a choice is accepted by its bound, or by twice zeta_2. Notes what stands in the way.
  bool accepts(const InteriorChoice& choice, SelectionMethod method, double tolerance) {
    const bool certified = method == SelectionMethod::Certified;
    obstacle_ = {range_, std::numeric_limits<double>::infinity()};
    const auto found = errors(choice, certified, tolerance, certified ? 0 : modes_beyond);
    const double last = last_eigenvalue(found);
    if (!std::isfinite(last)) return false;
    // every mode that the guard wants is kept
    const VectorXd& kappa = body_.kappa();
    size_t kept = 0;
    for (int j = 0; j < kappa.size() && kappa[j] <= guard_factor * last; ++j, ++kept)
      if (kept >= choice.modes.size() || choice.modes[kept] != j) return false;
    if (static_cast<int>(kept) == kappa.size() && kappa.size() < body_.interior_size()) return false;
    if (certified) {
      // bounds were computed from the last mode down
      for (int k = range_ - 1; k >= 0; --k)
        if (!(found[k].bound <= bound_limit(estimate_options(tolerance), k, found[k].eigenvalue))) {
          obstacle_ = {k, found[k].bound};
          return false;
        }
      return true;
    }
    bool all = true;
    double largest = 0;
    for (size_t k = 0; k < found.size(); ++k) {
      const bool in_range = static_cast<int>(k) < range_;
      if (!in_range && found[k].eigenvalue > pair_width * last) continue;
      all = all && estimate_safety * found[k].zeta_2 <=
                       bound_limit(estimate_options(tolerance), static_cast<int>(k), found[k].eigenvalue);
      largest = std::max(largest, found[k].zeta_2);
    }
    obstacle_ = {0, largest};
    return all;
  }

  // The smallest count from `start` on that is accepted; -1 beyond the most. A body is judged in no time, a
  // mode costs solves: the modes known are tried first, then their number gallops by a sixth at a time, and
  // where it is accepted, bisection goes down. It also ends where more modes do not help.
  int smallest(int start, int most, const std::function<bool(int)>& accepted) {
    int low = start - 1, in_vain = 0;
    Obstacle best;
    stalled_ = false;
    for (;;) {
      body_.need_modes(std::min(start, most) + 1);
      const bool all = body_.modes_known() >= body_.interior_size();
      int high = std::clamp(body_.modes_known() - (all ? 0 : 1), start, std::max(start, most));
      tell(high);
      if (accepted(high)) {
        while (high - low > 1) {
          const int middle = (low + high) / 2;
          (accepted(middle) ? high : low) = middle;
        }
        return high;
      }
      if (high >= most) return -1;
      if (obstacle_.smaller_than(best))
        best = obstacle_, in_vain = 0;
      else if (++in_vain >= patience)
        stalled_ = true;
      if (stalled_) return -1;
      low = high;
      body_.need_modes(std::min(most, high + step(high)) + 1);
    }
  }

  // Modes known by falling contribution; those of the guard first, in any case. The contribution of mode j to
  // the error of mode n is what leaving it out costs, chi^2 (xi' a_j)^2 / (kappa_j (kappa_j - chi)).
  std::vector<int> ranking() {
    const InteriorChoice all = lowest_modes(body_.modes_known(), false);
    const ReducedProblem problem = body_.problem(all);
    EstimateOptions options;
    options.rigid_count = body_.rigid_count(), options.range = range_, options.bounds = false;
    ReducedModes modes;
    const auto found = estimate_errors(problem, options, &modes);
    const VectorXd& kappa = body_.kappa();
    const int n_b = body_.interface_size();
    VectorXd worth = VectorXd::Zero(kappa.size());
    const double last = found.empty() ? 0 : found.back().eigenvalue;
    for (int j = 0; j < kappa.size(); ++j) {
      if (kappa[j] <= guard_factor * last) {
        worth[j] = std::numeric_limits<double>::infinity();
        continue;
      }
      for (size_t n = 0; n < found.size(); ++n) {
        const auto xi = modes.vectors.col(body_.rigid_count() + static_cast<int>(n)).tail(n_b);
        const double chi = found[n].eigenvalue, c = problem.plain.P.row(j).dot(xi);
        worth[j] = std::max(worth[j], chi * chi * c * c / (kappa[j] * (kappa[j] - chi)));
      }
    }
    std::vector<int> order(kappa.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return worth[x] > worth[y]; });
    return order;
  }

  InteriorChoice first_of(const std::vector<int>& order, int count, bool residuals) const {
    InteriorChoice choice;
    choice.modes.assign(order.begin(), order.begin() + count);
    std::sort(choice.modes.begin(), choice.modes.end());
    choice.residuals = residuals;
    return choice;
  }

  // The smallest prefix of the ranking that is accepted, the pool of modes growing as needed; nothing when
  // max_modes came first.
  std::optional<InteriorChoice> smallest_ranked(int start, bool residuals,
                                                const std::function<bool(const InteriorChoice&)>& accepted,
                                                int most) {
    int in_vain = 0;
    Obstacle best;
    stalled_ = false;
    for (int pool = std::min(most, std::max(2 * start, start + 32));; pool = std::min(most, 2 * pool)) {
      body_.need_modes(pool);
      const std::vector<int> order = ranking();
      int low = start - 1;
      int high = std::min(most, body_.modes_known() - (body_.modes_known() < body_.interior_size() ? 1 : 0));
      if (high >= start && accepted(first_of(order, high, residuals))) {
        while (high - low > 1) {
          const int middle = (low + high) / 2;
          (accepted(first_of(order, middle, residuals)) ? high : low) = middle;
        }
        return first_of(order, high, residuals);
      }
      if (pool >= most) return std::nullopt;
      // the pool doubles, so that two extensions are enough to see it
      if (obstacle_.smaller_than(best))
        best = obstacle_, in_vain = 0;
      else if (++in_vain >= patience - 1)
        stalled_ = true;
      if (stalled_) return std::nullopt;
      tell(pool);
    }
  }

  int coordinates(const InteriorChoice& choice) const {
    int count = static_cast<int>(choice.modes.size());
    if (choice.residuals) {
      const ReducedProblem problem = body_.problem(choice);
      count += static_cast<int>(orthonormal_residuals(problem.residual).theta.size());
    }
    return count;
  }

  // Certified or estimated, with or without residual vectors, whichever needs fewer coordinates.
  std::optional<InteriorChoice> best(const SelectionOptions& options) {
    const auto accepted = [&](const InteriorChoice& choice) {
      return accepts(choice, options.method, options.tolerance);
    };
    // B costs as many coordinates as there are interface degrees of freedom: with many of them, modes alone
    // up to that number come first
    if (options.residuals && body_.interface_size() > few_interface_dofs) {
      const int start = guarded_start(false);
      const auto plain = [&](int n) { return accepted(lowest_modes(n, false)); };
      const int count = smallest(start, std::min(max_modes_, start + body_.interface_size()), plain);
      if (count >= 0) return lowest_modes(count, false);
    }
    const int start = guarded_start(options.residuals);
    std::optional<InteriorChoice> result;
    if (options.rank) {
      result = smallest_ranked(start, options.residuals, accepted, max_modes_);
    } else {
      const int count =
          smallest(start, max_modes_, [&](int n) { return accepted(lowest_modes(n, options.residuals)); });
      if (count >= 0) result = lowest_modes(count, options.residuals);
    }
    if (!result || !options.residuals) return result;
    // with a loose tolerance the plain basis may do with fewer modes
    const int limit = std::min(coordinates(*result) - 1, max_modes_);
    if (limit < start) return result;
    body_.need_modes(limit + 1);
    const int count =
        smallest(std::min(start, limit), limit, [&](int n) { return accepted(lowest_modes(n, false)); });
    if (count >= 0) result = lowest_modes(count, false);
    if (options.rank)
      if (const auto ranked = smallest_ranked(start, false, accepted, body_.modes_known());
          ranked && coordinates(*ranked) < coordinates(*result))
        result = ranked;
    return result;
  }

 private:
  EstimateOptions estimate_options(double goal) const {
    EstimateOptions options;
    options.rigid_count = body_.rigid_count();
    options.range = range_;
    options.bound_goal = goal;
    options.roundoff = roundoff_;
    return options;
  }

  // How many modes to add to so many: a sixth, or more where the residual terms of a large interface cost
  // more than modes.
  int step(int count) const { return std::max({4, count / 6, std::min(count, body_.interface_size() / 4)}); }

  void tell(int modes) const {
    if (progress_) progress_(fmt::format("error bounds with {} modes", modes), -1);
  }

  CraigBampton& body_;
  int range_, max_modes_;
  const ProgressHook& progress_;
  int evaluations_ = 0;
  VectorXd roundoff_;  // of the flexible eigenvalues in range [rad2/s2]

  // What made accepts() refuse: the last mode that is not good enough (bounds) or any (zeta_2), and its
  // error.
  struct Obstacle {
    int mode = std::numeric_limits<int>::max();
    double error = std::numeric_limits<double>::infinity();
    bool smaller_than(const Obstacle& other) const {
      return mode < other.mode || (mode == other.mode && error < progress_factor * other.error);
    }
  };
  Obstacle obstacle_;
  bool stalled_ = false;
};

bool all_below(const std::vector<ModeError>& errors, int range, double ModeError::*which, double tolerance) {
  if (static_cast<int>(errors.size()) < range) return false;
  return std::all_of(errors.begin(), errors.begin() + range,
                     [&](const ModeError& e) { return e.*which <= tolerance; });
}

void check_range(const CraigBampton& body, int range) {
  const int most = body.interior_size() + body.interface_size() - std::max(0, body.rigid_count());
  if (range > most)
    fail_input(
        "modes: {} flexible modes are asked for, but the body has only {} ({} degrees of freedom); ask for "
        "fewer",
        range, most, body.interior_size() + body.interface_size());
}

}  // namespace

std::string_view name_of(SelectionMethod method) {
  constexpr std::string_view names[] = {"certified", "estimate", "paper", "fixed"};
  return names[static_cast<int>(method)];
}

std::vector<std::string> problems_of(const SelectionOptions& options) {
  std::vector<std::string> problems;
  if (options.range < 1)
    problems.push_back(fmt::format("modes: is {}, expected 1 or more flexible modes", options.range));
  if (!(options.up_to_hz >= 0) || !std::isfinite(options.up_to_hz))
    problems.push_back(fmt::format("up_to_hz: is {}, expected a positive frequency", options.up_to_hz));
  if (options.method != SelectionMethod::Fixed && !(options.tolerance > 0 && options.tolerance < 1))
    problems.push_back(
        fmt::format("tolerance: is {}, expected a relative error of the eigenvalues between 0 and 1, both "
                    "excluded, e.g. 0.001 for 0.1 %",
                    options.tolerance));
  if (options.method == SelectionMethod::Fixed && options.count < 0)
    problems.push_back(fmt::format("count: is {}, expected 0 or more modes", options.count));
  if (options.initial < 1)
    problems.push_back(fmt::format("initial: is {}, expected 1 or more modes", options.initial));
  if (options.max_modes < 1)
    problems.push_back(fmt::format("max_modes: is {}, expected 1 or more", options.max_modes));
  if (options.rank && (options.method == SelectionMethod::Paper || options.method == SelectionMethod::Fixed))
    problems.push_back(
        fmt::format("ranking: goes with the methods certified and estimate only, the method is {}",
                    name_of(options.method)));
  return problems;
}

int range_up_to(CraigBampton& body, double hz, double tolerance, int max_modes) {
  const double limit = std::pow(2 * std::numbers::pi * hz, 2);
  for (int known = 20;; known += known / 2) {
    body.need_modes(std::min(known, max_modes));
    // all modes known and the residual vectors: accurate as far as the fixed-interface modes reach
    EstimateOptions options;
    options.rigid_count = body.rigid_count();
    options.range = body.modes_known() + body.interface_size();
    options.bounds = false;
    const bool all = body.modes_known() >= body.interior_size();
    const auto found = estimate_errors(body.problem(lowest_modes(body.modes_known(), true)), options);
    const auto beyond = std::find_if(found.begin(), found.end(), [&](const ModeError& error) {
      return error.eigenvalue > (1 + tolerance) * limit;
    });
    const bool reached = all || body.kappa()[body.modes_known() - 1] > guard_factor * limit;
    if (reached && beyond == found.begin())
      fail_input(
          "up_to_hz: no flexible mode lies below {:g} Hz, the first is at {:.6g} Hz; raise it, or give modes",
          hz, hertz(found.front().eigenvalue));
    if (reached && (all || beyond != found.end()))
      return static_cast<int>(beyond - found.begin()) + (beyond != found.end() ? 1 : 0);
    if (known >= max_modes)
      fail_input(
          "up_to_hz: {} fixed-interface modes, the most allowed (max_modes), reach up to {:.6g} Hz only; "
          "raise max_modes, or lower up_to_hz",
          body.modes_known(), hertz(body.kappa()[body.modes_known() - 1]));
  }
}

Selection select_modes(CraigBampton& body, const SelectionOptions& asked, Diagnostics& diagnostics,
                       const ProgressHook& progress) {
  if (const auto problems = problems_of(asked); !problems.empty()) fail_input("{}", problems.front());
  SelectionOptions options = asked;
  if (asked.up_to_hz > 0) options.range = range_up_to(body, asked.up_to_hz, asked.tolerance, asked.max_modes);
  check_range(body, options.range);
  // as many as a search usually looks at, in one go: beyond the range, and for the plain basis in the place
  // of B
  const int usual =
      options.range + options.range / 4 + 10 + std::min(body.interface_size(), few_interface_dofs);
  body.need_modes(options.method == SelectionMethod::Fixed ? options.count + 1
                                                           : std::min(usual, options.max_modes + 1));
  check_range(body, options.range);
  Search search(body, options.range, options.max_modes, progress);
  Selection result;
  result.range = options.range;
  std::optional<InteriorChoice> choice;
  switch (options.method) {
    case SelectionMethod::Fixed:
      if (options.count > body.interior_size())
        fail_input("{} modes are to be kept, but the interior has only {} degrees of freedom", options.count,
                   body.interior_size());
      choice = lowest_modes(options.count, options.residuals);
      break;
    case SelectionMethod::Paper: {
      SweepOptions sweep;
      sweep.range = options.range, sweep.first = options.initial;
      sweep.last = search.max_modes(), sweep.stop_below = options.tolerance;
      const auto points = sweep_modes(body, sweep, VectorXd(), progress);
      if (!points.empty() && points.back().guarded &&
          all_below(points.back().errors, options.range, &ModeError::paper_estimate, options.tolerance))
        choice = lowest_modes(points.back().modes, false);
      result.evaluations = static_cast<int>(points.size());
      break;
    }
    default:
      choice = search.best(options);
  }
  result.reached = choice.has_value();
  result.choice = choice ? *choice
                         : lowest_modes(std::min(search.max_modes(), body.modes_known()),
                                        options.residuals && options.method != SelectionMethod::Paper);
  auto errors = search.errors(result.choice, true);
  if (static_cast<int>(errors.size()) < options.range)
    diagnostics.warn(
        "reduce.range",
        fmt::format("the reduced body has only {} flexible modes of the {} in range: keep more modes",
                    errors.size(), options.range));
  result.evaluations += search.evaluations();
  result.coordinates = search.coordinates(result.choice);
  result.errors.modes = std::move(errors);
  result.errors.method = name_of(options.method);
  result.errors.tolerance = options.method == SelectionMethod::Fixed ? 0 : options.tolerance;
  result.errors.certified =
      options.method != SelectionMethod::Fixed &&
      all_below(result.errors.modes, options.range, &ModeError::bound, options.tolerance);
  const std::string proven =
      std::isfinite(result.errors.max_bound())
          ? fmt::format("the error is proven to be below {:.2g}", result.errors.max_bound())
          : "nothing is proven of the error";
  const double finest = search.finest(result.errors.modes);
  if (options.method != SelectionMethod::Fixed && finest > options.tolerance) {
    result.reached = false;
    diagnostics.warn(
        "reduce.roundoff",
        fmt::format("the tolerance of {:g} is below what round-off leaves of this body's eigenvalues "
                    "({:.1e}, from the entries of K); nothing smaller can be proven, and {}; ask for {:.0e} "
                    "or more",
                    options.tolerance, finest, proven, 3 * finest));
  } else if (!result.reached && search.stalled()) {
    diagnostics.warn(
        "reduce.stalled",
        fmt::format("the search for the tolerance of {:g} ended with {} modes, because more of them did not "
                    "make the {} any smaller; {}; raise the tolerance, ask for fewer modes, or add an "
                    "interface where the body is soft",
                    options.tolerance, result.choice.modes.size(),
                    options.method == SelectionMethod::Certified ? "bounds" : "estimates", proven));
  } else if (!result.reached) {
    diagnostics.warn("reduce.tolerance",
                     fmt::format("the tolerance of {:g} was not reached with {} modes, the most allowed; {}; "
                                 "raise max_modes or the tolerance",
                                 options.tolerance, result.choice.modes.size(), proven));
  }
  return result;
}

void set_exact_errors(std::vector<ModeError>& modes, const Eigen::Ref<const VectorXd>& chi) {
  for (size_t n = 0; n < modes.size() && static_cast<Eigen::Index>(n) < chi.size(); ++n)
    modes[n].exact = modes[n].eigenvalue / chi[static_cast<Eigen::Index>(n)] - 1;
}

std::vector<SweepPoint> sweep_modes(CraigBampton& body, const SweepOptions& options,
                                    const Eigen::Ref<const VectorXd>& chi, const ProgressHook& progress) {
  std::vector<SweepPoint> points;
  const int last = std::min(options.last, body.interior_size());
  VectorXd roundoff;
  for (int count = std::min(options.first, last); count <= last; ++count) {
    // modes are had in growing batches
    if (body.modes_known() < std::min(count + 1, body.interior_size()))
      body.need_modes(std::min(last + 1, count + std::max(16, count / 2)));
    EstimateOptions estimate;
    estimate.rigid_count = body.rigid_count(), estimate.range = options.range,
    estimate.bounds = count <= options.bounds_up_to;
    if (estimate.bounds && roundoff.size() == 0) roundoff = body.roundoff(options.range);
    estimate.roundoff = roundoff;
    SweepPoint point;
    point.modes = count;
    const ReducedProblem problem = body.problem(lowest_modes(count, false));
    point.errors = estimate_errors(problem, estimate);
    set_exact_errors(point.errors, chi);
    const bool full = static_cast<int>(point.errors.size()) >= options.range;
    point.guarded =
        full && problem.residual.kappa_next > guard_factor * point.errors[options.range - 1].eigenvalue;
    points.push_back(std::move(point));
    if (progress) progress("errors over the number of modes", static_cast<double>(count) / last);
    if (options.stop_below > 0 && count >= options.at_least && points.back().guarded &&
        all_below(points.back().errors, options.range, &ModeError::paper_estimate, options.stop_below))
      break;
  }
  return points;
}

std::vector<ComparedMethod> compare_methods(CraigBampton& body, int range,
                                            const std::vector<double>& tolerances,
                                            const Eigen::Ref<const VectorXd>& chi,
                                            const std::vector<SweepPoint>& sweep, int max_modes,
                                            const ProgressHook& progress) {
  Search search(body, range, max_modes, progress);
  const bool exact = chi.size() >= range;
  const auto judge = [&](const std::optional<InteriorChoice>& choice, double tolerance) {
    ComparedMethod::Entry entry;
    if (!choice) return entry;
    auto found = search.errors(*choice, true);
    if (exact) set_exact_errors(found, chi);
    entry.coordinates = search.coordinates(*choice);
    entry.exact = largest(found, &ModeError::exact);
    entry.certified = all_below(found, range, &ModeError::bound, tolerance);
    return entry;
  };
  const auto exact_enough = [&](const InteriorChoice& choice, double tolerance) {
    auto found = search.errors(choice, false);
    set_exact_errors(found, chi);
    return all_below(found, range, &ModeError::exact, tolerance);
  };
  std::vector<ComparedMethod> methods;
  const auto add = [&](const std::string& name,
                       const std::function<std::optional<InteriorChoice>(double)>& choose) {
    ComparedMethod method;
    method.name = name;
    for (double tolerance : tolerances) method.entries.push_back(judge(choose(tolerance), tolerance));
    methods.push_back(std::move(method));
  };

  // plain bases come from the sweep
  add("paper's rule, its estimate", [&](double tolerance) -> std::optional<InteriorChoice> {
    for (const SweepPoint& point : sweep)
      if (point.guarded && all_below(point.errors, range, &ModeError::paper_estimate, tolerance))
        return lowest_modes(point.modes, false);
    return std::nullopt;
  });
  if (exact) {
    add("lowest modes, exact error", [&](double tolerance) -> std::optional<InteriorChoice> {
      for (const SweepPoint& point : sweep)
        if (all_below(point.errors, range, &ModeError::exact, tolerance))
          return lowest_modes(point.modes, false);
      return std::nullopt;
    });
    const int start = search.guarded_start(false);
    add("ranked modes, exact error", [&](double tolerance) -> std::optional<InteriorChoice> {
      return search.smallest_ranked(
          start, false, [&](const InteriorChoice& choice) { return exact_enough(choice, tolerance); },
          search.max_modes());
    });
    add("modes and B, exact error", [&](double tolerance) -> std::optional<InteriorChoice> {
      const int count = search.smallest(
          1, search.max_modes(), [&](int n) { return exact_enough(lowest_modes(n, true), tolerance); });
      if (count < 0) return std::nullopt;
      return lowest_modes(count, true);
    });
  }
  const auto selected = [&](SelectionMethod method, bool residuals) {
    return [&search, method, residuals](double tolerance) {
      SelectionOptions options;
      options.method = method, options.tolerance = tolerance, options.residuals = residuals;
      return search.best(options);
    };
  };
  add("lowest modes, certified", selected(SelectionMethod::Certified, false));
  add("default basis, twice zeta_2", selected(SelectionMethod::Estimate, true));
  add("default: certified", selected(SelectionMethod::Certified, true));
  return methods;
}

}  // namespace lissom
