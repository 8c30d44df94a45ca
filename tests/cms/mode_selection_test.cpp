#include "lissom/cms/mode_selection.hpp"

#include <gtest/gtest.h>

#include "tests/cms/reduction_support.hpp"

namespace lissom::mode_selection_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

int range_of(const SampleBody& body) {
  return body.name.starts_with("cylinder") ? 20 : 10;
}

VectorXd flexible_eigenvalues(const SampleBody& body) {
  const VectorXd chi = exact_eigenvalues(dense_body(body.model, body.interfaces));
  return chi.tail(chi.size() - 6);
}

double largest_exact(Selection& selection, const VectorXd& chi) {
  set_exact_errors(selection.errors.modes, chi);
  return selection.errors.max_exact();
}

// Whether so many modes do, by the bound alone and with the guard, asked of a body of its own.
bool certified_with(CraigBampton& reduction, const InteriorChoice& choice, int range, double tolerance) {
  EstimateOptions options;
  options.rigid_count = reduction.rigid_count(), options.range = range;
  const auto errors = estimate_errors(reduction.problem(choice), options);
  if (static_cast<int>(errors.size()) < range) return false;
  const int kept = static_cast<int>(choice.modes.size());
  if (kept < reduction.modes_known() && reduction.kappa()[kept] <= 1.05 * errors.back().eigenvalue)
    return false;
  return std::all_of(errors.begin(), errors.end(), [&](const ModeError& e) { return e.bound <= tolerance; });
}

TEST(ModeSelection, ARangeInHertzHoldsEveryModeUpToItAndProvesThatNoneIsMissing) {
  for (const SampleBody& body : sample_bodies()) {
    const VectorXd chi = flexible_eigenvalues(body);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    SelectionOptions options;
    options.tolerance = 1e-3;
    // between modes 8 and 9, further apart than the tolerance on every body
    ASSERT_GT(chi[8], (1 + 3 * options.tolerance) * chi[7]) << body.name;
    const double limit = (1 + 1.5 * options.tolerance) * chi[7];
    options.up_to_hz = std::sqrt(limit) / (2 * std::acos(-1.0));
    const Selection found = select_modes(reduction, options, diagnostics);
    EXPECT_EQ(found.range, 9) << body.name;
    EXPECT_TRUE(found.errors.certified) << body.name;
    // the ninth mode is proven to lie above
    ASSERT_EQ(found.errors.modes.size(), 9u);
    EXPECT_GT(found.errors.modes[8].eigenvalue / (1 + found.errors.modes[8].bound), limit) << body.name;
    EXPECT_LT(found.errors.modes[7].eigenvalue, (1 + options.tolerance) * limit) << body.name;
  }
}

TEST(ModeSelection, ARangeInHertzBelowEveryModeOrBeyondTheModesAllowedIsRefused) {
  const SampleBody body = sample_bodies().front();
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  const auto message = [&](double hz, int max_modes) -> std::string {
    try {
      range_up_to(reduction, hz, 1e-3, max_modes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  };
  EXPECT_NE(message(1e-3, 100).find("no flexible mode lies below 0.001 Hz, the first is at"),
            std::string::npos)
      << message(1e-3, 100);
  EXPECT_NE(message(1e9, 30).find("the most allowed (max_modes), reach up to"), std::string::npos)
      << message(1e9, 30);
  SelectionOptions options;
  options.up_to_hz = -5;
  EXPECT_EQ(problems_of(options).front(), "up_to_hz: is -5, expected a positive frequency");
}

TEST(ModeSelection, TheDefaultMeetsEveryToleranceWithTheFewestModes) {
  for (const SampleBody& body : sample_bodies()) {
    const VectorXd chi = flexible_eigenvalues(body);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    SelectionOptions options;
    options.range = range_of(body);
    int before = 0;
    std::string counts;
    for (const double tolerance : {0.1, 0.01, 1e-3, 1e-4}) {
      options.tolerance = tolerance;
      Selection found = select_modes(reduction, options, diagnostics);
      const auto note = [&] { return fmt::format("{} at {:g}", body.name, tolerance); };
      EXPECT_TRUE(found.reached) << note();
      EXPECT_TRUE(found.errors.certified) << note();
      EXPECT_EQ(static_cast<int>(found.errors.modes.size()), options.range);
      EXPECT_LE(found.errors.max_bound(), tolerance) << note();
      EXPECT_LE(largest_exact(found, chi), tolerance) << note();
      EXPECT_GE(found.coordinates, before) << note();
      before = found.coordinates;
      const int kept = static_cast<int>(found.choice.modes.size());
      counts += fmt::format(" {}{}", found.coordinates, found.choice.residuals ? "B" : "");
      EXPECT_EQ(found.choice.modes, lowest_modes(kept, false).modes) << note();
      EXPECT_EQ(found.coordinates - kept, found.choice.residuals ? reduction.interface_size() : 0) << note();
      // one fewer does not
      reduction.need_modes(kept + 1);
      EXPECT_TRUE(certified_with(reduction, found.choice, options.range, tolerance)) << note();
      EXPECT_FALSE(
          certified_with(reduction, lowest_modes(kept - 1, found.choice.residuals), options.range, tolerance))
          << note();
      // nor does the other basis with fewer coordinates
      const int plain =
          found.choice.residuals ? found.coordinates - 1 : kept - reduction.interface_size() - 1;
      if (plain > 0) {
        reduction.need_modes(plain + 1);
        EXPECT_FALSE(
            certified_with(reduction, lowest_modes(plain, !found.choice.residuals), options.range, tolerance))
            << note();
      }
    }
    fmt::print("{:26} interior coordinates for 10, 1, 0.1, 0.01 %:{}\n", body.name, counts);
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST(ModeSelection, OtherMethodsStopAsTheySay) {
  const SampleBody body = plate(MassKind::Consistent);
  const VectorXd chi = flexible_eigenvalues(body);
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  SelectionOptions options;
  options.range = 8, options.tolerance = 0.01;

  options.method = SelectionMethod::Estimate;
  Selection estimate = select_modes(reduction, options, diagnostics);
  EXPECT_EQ(estimate.errors.method, "estimate");
  EXPECT_LE(2 * estimate.errors.max_zeta_2(), 0.01);
  EXPECT_LE(largest_exact(estimate, chi), 0.01);

  options.method = SelectionMethod::Paper;
  Selection paper = select_modes(reduction, options, diagnostics);
  EXPECT_TRUE(paper.reached);
  EXPECT_FALSE(paper.choice.residuals);
  EXPECT_EQ(paper.errors.method, "paper");
  EXPECT_LE(paper.errors.max_paper_estimate(), 0.01);
  // one by one: with one fewer the estimate is above, or the guard fails
  {
    const int kept = static_cast<int>(paper.choice.modes.size());
    ASSERT_GT(kept, options.initial);
    EstimateOptions one;
    one.rigid_count = 6, one.range = 8, one.bounds = false;
    ErrorTable fewer;
    fewer.modes = estimate_errors(reduction.problem(lowest_modes(kept - 1, false)), one);
    EXPECT_TRUE(fewer.max_paper_estimate() > 0.01 ||
                reduction.kappa()[kept - 1] <= 1.05 * fewer.modes.back().eigenvalue);
  }
  // a later start is a later stop
  options.initial = static_cast<int>(paper.choice.modes.size()) + 3;
  EXPECT_EQ(select_modes(reduction, options, diagnostics).choice.modes.size(), paper.choice.modes.size() + 3);
  options.initial = 5;

  options.method = SelectionMethod::Fixed, options.count = 13;
  Selection fixed = select_modes(reduction, options, diagnostics);
  EXPECT_EQ(fixed.choice.modes.size(), 13u);
  EXPECT_TRUE(fixed.choice.residuals);
  EXPECT_FALSE(fixed.errors.certified);
  EXPECT_EQ(fixed.errors.tolerance, 0);
  options.count = 0, options.residuals = false;
  EXPECT_EQ(select_modes(reduction, options, diagnostics).coordinates, 0);
  EXPECT_TRUE(diagnostics.empty());

  // without residual vectors the certified search needs more
  options = {};
  options.range = 8, options.tolerance = 1e-3;
  const Selection enriched = select_modes(reduction, options, diagnostics);
  options.residuals = false;
  Selection plain = select_modes(reduction, options, diagnostics);
  EXPECT_FALSE(plain.choice.residuals);
  EXPECT_LE(largest_exact(plain, chi), 1e-3);
  EXPECT_GT(plain.coordinates, enriched.coordinates);
}

TEST(ModeSelection, RankingNeedsNoMoreModesAndMeetsTheTolerance) {
  for (const SampleBody& body : {plate(MassKind::Lumped), cylinder(MassKind::Consistent)}) {
    const VectorXd chi = flexible_eigenvalues(body);
    Diagnostics diagnostics;
    CraigBampton reduction(body.model, body.interfaces, diagnostics);
    SelectionOptions options;
    options.range = 8, options.tolerance = 0.003, options.residuals = false;
    const Selection lowest = select_modes(reduction, options, diagnostics);
    options.rank = true;
    Selection ranked = select_modes(reduction, options, diagnostics);
    EXPECT_TRUE(ranked.errors.certified);
    EXPECT_LE(largest_exact(ranked, chi), 0.003);
    EXPECT_LE(ranked.coordinates, lowest.coordinates) << body.name;
    EXPECT_NE(ranked.choice.modes, lowest_modes(ranked.coordinates, false).modes) << body.name;
    EXPECT_TRUE(std::is_sorted(ranked.choice.modes.begin(), ranked.choice.modes.end()));
    options.residuals = true, options.method = SelectionMethod::Estimate;
    Selection estimated = select_modes(reduction, options, diagnostics);
    EXPECT_LE(largest_exact(estimated, chi), 0.003);
  }
}

TEST(ModeSelection, TooFewModesAllowedIsAWarning) {
  const SampleBody body = plate(MassKind::Consistent);
  for (const SelectionMethod method :
       {SelectionMethod::Certified, SelectionMethod::Estimate, SelectionMethod::Paper})
    for (const bool rank : {false, true}) {
      Diagnostics diagnostics;
      CraigBampton reduction(body.model, body.interfaces, diagnostics);
      SelectionOptions options;
      options.method = method, options.range = 10, options.tolerance = 1e-6, options.max_modes = 12;
      options.rank = rank && method != SelectionMethod::Paper;
      const Selection found = select_modes(reduction, options, diagnostics);
      EXPECT_FALSE(found.reached);
      EXPECT_FALSE(found.errors.certified);
      EXPECT_EQ(found.choice.modes.size(), 12u);
      ASSERT_NE(diagnostics.find("reduce.tolerance"), nullptr);
      EXPECT_NE(diagnostics.find("reduce.tolerance")
                    ->message.find("the tolerance of 1e-06 was not reached with 12 modes, the most allowed"),
                std::string::npos)
          << diagnostics.find("reduce.tolerance")->message;
    }
}

TEST(ModeSelection, AReducedBodyWithTooFewModesIsNeverCertified) {
  const SampleBody body = cylinder(MassKind::Lumped);
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  SelectionOptions options;
  options.range = 30, options.tolerance = 0.9, options.max_modes = 6, options.residuals = false;
  const Selection found = select_modes(reduction, options, diagnostics);
  EXPECT_FALSE(found.reached);
  EXPECT_LT(found.errors.modes.size(), 30u);
  EXPECT_FALSE(found.errors.certified);
  ASSERT_NE(diagnostics.find("reduce.range"), nullptr);
  EXPECT_NE(diagnostics.find("reduce.range")->message.find("only 6 flexible modes of the 30 in range"),
            std::string::npos)
      << diagnostics.find("reduce.range")->message;
}

std::string refusal(CraigBampton& reduction, const SelectionOptions& options) {
  try {
    Diagnostics diagnostics;
    select_modes(reduction, options, diagnostics);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(ModeSelection, NumbersThatMakeNoSenseAreRefused) {
  const SampleBody body = square_beam(MassKind::Lumped, 1);
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  const auto refused = [&](const std::function<void(SelectionOptions&)>& change, const std::string& part) {
    SelectionOptions options;
    options.range = 5;
    change(options);
    const std::string message = refusal(reduction, options);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  for (const double tolerance :
       {0.0, 1.0, -1.0, 1.5, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    refused([&](SelectionOptions& o) { o.tolerance = tolerance; },
            fmt::format("tolerance: is {}, expected a relative error of the eigenvalues between 0 and 1",
                        tolerance));
  refused([](SelectionOptions& o) { o.range = 0; }, "modes: is 0");
  refused([](SelectionOptions& o) { o.initial = 0; }, "initial: is 0");
  refused([](SelectionOptions& o) { o.max_modes = -3; }, "max_modes: is -3");
  refused([](SelectionOptions& o) { o.method = SelectionMethod::Fixed, o.count = -1; }, "count: is -1");
  refused([](SelectionOptions& o) { o.method = SelectionMethod::Paper, o.rank = true; },
          "ranking: goes with");
  // 54 degrees of freedom, 6 of them rigid
  refused([](SelectionOptions& o) { o.range = 1000; },
          "1000 flexible modes are asked for, but the body has only");
  refused([](SelectionOptions& o) { o.range = 49; },
          "49 flexible modes are asked for, but the body has only 48");
  refused([](SelectionOptions& o) { o.method = SelectionMethod::Fixed, o.count = 43; },
          "43 modes are to be kept, but the interior has only 42");
}

TEST(ModeSelection, EveryModeOfABodyMayBeInRange) {
  const SampleBody body = square_beam(MassKind::Consistent, 1);
  const VectorXd chi = flexible_eigenvalues(body);
  for (const int range : {30, 47, 48})
    for (const bool residuals : {true, false}) {
      Diagnostics diagnostics;
      CraigBampton reduction(body.model, body.interfaces, diagnostics);
      SelectionOptions options;
      options.range = range, options.tolerance = 1e-3, options.residuals = residuals;
      Selection found = select_modes(reduction, options, diagnostics);
      EXPECT_TRUE(found.errors.certified) << range;
      EXPECT_LE(largest_exact(found, chi), 1e-3) << range;
      EXPECT_LE(found.coordinates, 42) << range;
    }
}

// A coordinate of its own, tied to nothing of the rest: as a fixed-interface mode it is not coupled to the
// interface, and no estimate sees it.
SampleBody with_resonator(double eigenvalue) {
  SampleBody body = block(MassKind::Lumped);
  FeModel& model = body.model;
  const int n = model.dof_count();
  for (SymmetricMatrix* A : {&model.K, &model.M}) {
    SparseMatrix larger(n + 1, n + 1);
    std::vector<Eigen::Triplet<double>> entries;
    for (int col = 0; col < n; ++col)
      for (SparseMatrix::InnerIterator it(A->lower, col); it; ++it)
        entries.emplace_back(it.row(), col, it.value());
    const double mass = 0.1 * model.M.diagonal()[n / 2];
    entries.emplace_back(n, n, A == &model.K ? mass * eigenvalue : mass);
    larger.setFromTriplets(entries.begin(), entries.end());
    A->lower = larger;
  }
  // a coordinate without node, as the flexible motion of a face is
  model.dofs.push_back({-1, 0});
  model.recovery.resize(3 * static_cast<int>(model.points.cols()), n + 1);
  for (int i = 0; i < n; ++i) model.recovery.insert(3 * model.dofs[i].node + model.dofs[i].direction, i) = 1;
  return body;
}

TEST(ModeSelection, AModeThatTheInterfaceDoesNotSeeIsNotLost) {
  // it is the last in range, below the widest gap among the first modes: its loss is an error as large as the
  // gap
  const VectorXd plain = flexible_eigenvalues(block(MassKind::Lumped));
  int range = 2;
  for (int n = 3; n < 10; ++n)
    if (plain[n] / plain[n - 1] > plain[range - 1] / plain[range - 2]) range = n + 1;
  const double hidden = 1.02 * plain[range - 2];
  const double tolerance = 0.7 * (plain[range - 1] / hidden - 1);
  ASSERT_LT(tolerance, 1);
  const SampleBody body = with_resonator(hidden);
  const VectorXd chi = flexible_eigenvalues(body);
  ASSERT_NEAR(chi[range - 1], hidden, 1e-9 * hidden);

  // estimates alone would lose it: small numbers of modes that they accept, with a large exact error
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  reduction.need_modes(40);
  EstimateOptions estimate;
  estimate.rigid_count = 6, estimate.range = range;
  int traps = 0;
  for (int count = 0; count < 30; ++count)
    for (const bool residuals : {false, true}) {
      ErrorTable table;
      table.modes = estimate_errors(reduction.problem(lowest_modes(count, residuals)), estimate);
      set_exact_errors(table.modes, chi);
      if (static_cast<int>(table.modes.size()) < range || table.max_exact() <= tolerance) continue;
      traps += 2 * table.max_zeta_2() <= tolerance;
      EXPECT_GT(table.max_bound(), tolerance) << "the enclosure cannot be trapped";
    }
  EXPECT_GT(traps, 0);

  for (const SelectionMethod method :
       {SelectionMethod::Certified, SelectionMethod::Estimate, SelectionMethod::Paper})
    for (const bool rank : {false, true})
      for (const bool residuals : {false, true}) {
        if (rank && method == SelectionMethod::Paper) continue;
        CraigBampton fresh(body.model, body.interfaces, diagnostics);
        SelectionOptions options;
        options.method = method, options.rank = rank, options.residuals = residuals;
        options.range = range, options.tolerance = tolerance, options.initial = 1;
        Selection found = select_modes(fresh, options, diagnostics);
        EXPECT_LE(largest_exact(found, chi), tolerance) << name_of(method);
        bool kept = false;
        for (const int j : found.choice.modes) kept = kept || std::abs(fresh.kappa()[j] / hidden - 1) < 1e-8;
        EXPECT_TRUE(kept) << name_of(method);
      }
}

TEST(ModeSelection, ASweepStopsWhereThePapersRuleDoesAndHoldsTheExactErrors) {
  const SampleBody body = plate(MassKind::Lumped);
  const VectorXd chi = flexible_eigenvalues(body);
  Diagnostics diagnostics;
  CraigBampton reduction(body.model, body.interfaces, diagnostics);
  SelectionOptions paper;
  paper.method = SelectionMethod::Paper, paper.range = 6, paper.tolerance = 0.02;
  const Selection selected = select_modes(reduction, paper, diagnostics);
  SweepOptions options;
  options.range = 6, options.first = 5, options.last = 80, options.stop_below = 0.02,
  options.bounds_up_to = 8;
  const auto points = sweep_modes(reduction, options, chi);
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points.front().modes, 5);
  EXPECT_EQ(points.back().modes, static_cast<int>(selected.choice.modes.size()));
  double last = HUGE_VAL;
  for (const SweepPoint& point : points) {
    EXPECT_EQ(std::isnan(point.errors[0].bound), point.modes > 8);
    // exact errors fall with every mode
    double largest = 0;
    for (const ModeError& e : point.errors) largest = std::max(largest, e.exact);
    EXPECT_LE(largest, last * (1 + 1e-9));
    last = largest;
  }

  const std::vector<double> tolerances = {0.1, 0.02};
  const auto compared = compare_methods(reduction, 6, tolerances, chi, points, 100);
  ASSERT_GE(compared.size(), 6u);
  for (const ComparedMethod& method : compared) {
    ASSERT_EQ(method.entries.size(), 2u) << method.name;
    for (int k = 0; k < 2; ++k) {
      EXPECT_GE(method.entries[k].coordinates, 1) << method.name;
      EXPECT_LE(method.entries[k].exact, tolerances[k]) << method.name;
    }
    EXPECT_LE(method.entries[0].coordinates, method.entries[1].coordinates) << method.name;
  }
  EXPECT_EQ(compared.front().entries[1].coordinates, points.back().modes);
  EXPECT_TRUE(compared.back().entries[1].certified);
}

}  // namespace
}  // namespace lissom::mode_selection_test
