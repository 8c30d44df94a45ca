#include "lissom/report/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/io/result_file.hpp"
#include "lissom/report/report_runs.hpp"
#include "tests/study/report_found.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::report_test {
namespace {

using nlohmann::json;

// A point that swings, sampled ten times; `shift` moves it.
void write_result(const std::filesystem::path& path, const std::string& case_name, double shift,
                  const std::string& study = "units = \"SI\"\n", bool finished = true, bool trust = false) {
  std::filesystem::create_directories(path.parent_path());
  ResultHeader header;
  header.title = "a swing";
  header.case_name = case_name;
  header.study = study;
  header.integrator = "hht-i3";
  header.bodies = {{"rod", trust ? "slap" : "ffrf", 0, 2, 1}};
  header.sensors = {"tip <i>.x", "tip <i>.y", "tip <i>.z", "energy.total"};
  header.sensor_units = {"m", "m", "m", "J"};
  header.has_trust = trust;
  ResultWriter writer(path, header);
  for (int i = 0; i < 10; ++i) {
    State state;
    state.t = 0.1 * i;
    state.q = state.v = state.a = Eigen::VectorXd::Constant(2, i);
    state.lambda = Eigen::VectorXd(0);
    BalanceSample balance;
    balance.energy.kinetic = i;
    balance.energy_drift = 1e-9 * i;
    balance.constraint_drift = 1e-12 * (i + 1);
    IntegrationSummary statistics;
    statistics.steps = 7 * i;
    Eigen::VectorXd sensors(4);
    sensors << std::cos(state.t) + shift, std::sin(state.t), 0, i;
    writer.add(state, sensors, balance, {}, statistics, 0.25 * i);
  }
  writer.flush();
  if (!finished) return;
  ResultEnd end;
  end.status = RunStatus::Complete;
  end.summary.steps = 63;
  writer.finish(end);
}

json simulation_of(const char* formulation, int coordinates) {
  return {{"bodies", {{{"name", "rod"}, {"formulation", formulation}, {"coordinates", coordinates}}}},
          {"coordinates", coordinates},
          {"constraints", formulation == std::string("slap") ? 0 : 3},
          {"end", 0.9},
          {"steps", 63},
          {"seconds", 2.5},
          {"energy_drift", 3e-8},
          {"constraint_drift", 1e-11},
          {"joints",
           {{{"name", "hinge"}, {"kind", "revolute"}, {"between", {"ground", "rod"}}, {"constraints", 5}}}}};
}

// What a run of two models leaves.
json two_models(const std::string& small) {
  json summary = {{"title", "a swing </script>"},
                  {"study", "swing.toml"},
                  {"lissom_version", "0.0.1"},
                  {"bodies", {{"rod", {{"nodes", 20}, {"reduce", {{"degrees_of_freedom", 1234}}}}}}},
                  {"simulation", simulation_of("ffrf", 17)},
                  {"warnings",
                   {{{"key", "a"}, {"message", "a joint is loose"}, {"count", 1}},
                    {{"key", "b"}, {"message", "a joint is loose"}, {"count", 1}}}}};
  summary["cases"][small] = {{"simulation", simulation_of("slap", 4)},
                             {"changes", {"simulate.model = \"slap\""}}};
  summary["comparison"] = {{"reference", ""}, {"cases", json::object()}};
  summary["comparison"]["cases"][small] = {
      {"against", ""},
      {"common_times", 10},
      {"sensors", {{"tip <i>.x", {{"largest", 0.0009765625}, {"at", 0.3}, {"rms", 1e-4}, {"scale", 1.0}}}}}};
  summary["models"]["study"] = {{"unknowns", 20}, {"seconds", 2.0}, {"real_time_factor", 0.45}};
  summary["models"][small] = {{"unknowns", 4},
                              {"seconds", 0.01},
                              {"real_time_factor", 90.0},
                              {"against", ""},
                              {"epsilon", 0.0008},
                              {"times_faster", 200.0},
                              {"largest_error", 0.00123456789},
                              {"motion", 0.5},
                              {"trust", {{"largest", 2.25}, {"threshold", 3.0}, {"outside_since", nullptr}}}};
  return summary;
}

ReportDraft drafted(const std::filesystem::path& run) {
  Diagnostics diagnostics;
  ReportDraft draft;
  draft.page = make_report(run, diagnostics);
  return draft;
}

std::string problem_of(const std::filesystem::path& run) {
  try {
    drafted(run);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string all_warnings(const ReportDraft& draft) {
  std::string text;
  for (const std::string& warning : draft.page.warnings) text += warning + "\n";
  return text;
}

TEST(Report, OfAFolderHasTheNumbersOfItsFiles) {
  const TemporaryFolder folder;
  const std::string small = "m4 <b>&";
  folder.write("summary.json", two_models(small).dump());
  write_result(folder / "result.h5", "", 0);
  write_result(folder / small / "result.h5", small, 0.0009765625, "units = \"SI\"\n", true, true);
  folder.write(small + "/differences.csv", "t,tip <i>.x,tip <i>.y\n0,0.0009765625,0\n0.1,-0.3,0.4\n");
  const ReportDraft draft = drafted(folder.path());

  EXPECT_EQ(draft.page.title, "a swing </script>");
  EXPECT_EQ(draft.page.warnings, std::vector<std::string>{"a joint is loose"});
  // the whole story in one paragraph
  for (const char* words : {"1 body (rod)", "0.9 s", "1,234 degrees of freedom", "20 unknowns", "4 unknowns",
                            "0.0012 m", "0.247 %", "200 times faster"})
    EXPECT_NE(draft.page.summary.find(words), std::string::npos) << words << " in " << draft.page.summary;

  const auto& models = block_of<ReportTable>(draft, "models");
  ASSERT_EQ(models.rows.size(), 2u);
  EXPECT_EQ(cell_of(models, 0, "model").text, "the study itself");
  EXPECT_EQ(cell_of(models, 0, "equations").text, "DAE");
  EXPECT_EQ(cell_of(models, 1, "model").text, small);
  EXPECT_EQ(cell_of(models, 1, "equations").text, "ODE");
  EXPECT_EQ(cell_of(models, 1, "times faster").value, 200.0);
  EXPECT_EQ(cell_of(models, 1, "largest error of a node [m]").value, 0.00123456789);
  // 20 nodes at 10 times
  EXPECT_EQ(cell_of(models, 1, "rms of nodes [m]").value, std::sqrt(0.0008 / (20.0 * 10.0)));

  // curves: numbers of the file, reduced ones dashed, nothing of what is zero
  const auto& tip = block_of<ReportFigure>(draft, "sensor-tip-i-m");
  ASSERT_EQ(tip.series.size(), 4u);
  EXPECT_EQ(tip.title, "tip <i>");
  EXPECT_NE(tip.caption.find("tip <i>.z"), std::string::npos);
  const ReportSeries& x = series_of(tip, "tip <i>.x, the study itself");
  const ReportSeries& moved = series_of(tip, "tip <i>.x, " + small);
  ASSERT_EQ(x.y.size(), 10u);
  EXPECT_EQ(x.y[3], std::cos(0.1 * 3));
  EXPECT_EQ(moved.y[3], std::cos(0.1 * 3) + 0.0009765625);
  EXPECT_EQ(moved.style, ReportSeries::Style::Dashed);

  const auto& difference = block_of<ReportFigure>(draft, "difference-tip-i-m");
  ASSERT_EQ(difference.series.size(), 1u);
  EXPECT_DOUBLE_EQ(difference.series[0].y[1], 0.5);
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "differences"), 0, "largest difference").value,
            0.0009765625);
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "joints"), 0, "between").text, "ground, rod");

  const auto& trust = block_of<ReportFigure>(draft, "trust");
  ASSERT_EQ(trust.marks.size(), 1u);
  EXPECT_EQ(trust.marks[0].at, 3.0);
  EXPECT_EQ(trust.series.at(0).y[4], 1.0);
  // without a view it says what to do
  EXPECT_NE(std::get<ReportText>(draft.page.sections.at(0).blocks.at(0)).text.find("run the study again"),
            std::string::npos);
}

TEST(Report, ComparisonsInOtherUnitsAreShownInMetres) {
  const TemporaryFolder folder;
  json summary = two_models("small");
  summary["cases"]["small"]["simulation"]["bodies"][0]["formulation"] = "ffrf";
  folder.write("summary.json", summary.dump());
  const std::string study = "units = \"mm-t-s\"\n";
  write_result(folder / "result.h5", "", 0, study);
  write_result(folder / "small" / "result.h5", "small", 0, study);
  const ReportDraft draft = drafted(folder.path());
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "differences"), 0, "largest difference").value,
            0.001 * 0.0009765625);
}

TEST(Report, OfARunThatWasKilledShowsWhatThereIsWithAWarningFirst) {
  const TemporaryFolder folder;
  write_result(folder / "result.h5", "", 0, "units = \"SI\"\n", false);
  write_result(folder / "a" / "b" / "result.h5", "a/b", 0);
  const ReportDraft draft = drafted(folder.path());
  ASSERT_GE(draft.page.warnings.size(), 2u);
  EXPECT_NE(draft.page.warnings[0].find("not complete"), std::string::npos);
  EXPECT_NE(draft.page.warnings[0].find("10 samples until t = 0.9 s"), std::string::npos);
  EXPECT_NE(draft.page.warnings[1].find("no summary.json"), std::string::npos);
  EXPECT_EQ(draft.page.title, "a swing");
  EXPECT_EQ(draft.page.cards.at(0).label, "State");
  EXPECT_EQ(draft.page.cards.at(0).mood, ReportCard::Mood::Bad);
  EXPECT_EQ(block_of<ReportTable>(draft, "timing").rows.size(), 2u);
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "timing"), 0, "state").text, "running");
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "sensor-tip-i-m"), "tip <i>.y, a/b").y[9], std::sin(0.9));
}

TEST(Report, OfAResultAloneHasItsCurves) {
  const TemporaryFolder folder;
  write_result(folder / "result.h5", "", 0.5);
  const ReportDraft draft = drafted(folder / "result.h5");
  EXPECT_TRUE(draft.page.warnings.empty()) << all_warnings(draft);
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "sensor-tip-i-m"), "tip <i>.x").y[0], 1.5);
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "energy"), "kinetic").y[9], 9);
}

TEST(Report, OfNothingSaysWhatWasLookedFor) {
  const TemporaryFolder folder;
  EXPECT_NE(problem_of(folder.path()).find("lissom run"), std::string::npos);
  EXPECT_NE(problem_of(folder / "nowhere").find("no such file or folder"), std::string::npos);
  folder.write("study.toml", "title = \"x\"\n");
  EXPECT_NE(problem_of(folder / "study.toml").find("'lissom run' carries out a study"), std::string::npos);
  folder.write("empty.h5", "");
  EXPECT_NE(problem_of(folder / "empty.h5").find("is empty"), std::string::npos);
}

TEST(Report, OfADamagedSummaryNamesIt) {
  const TemporaryFolder folder;
  folder.write("summary.json", "");
  EXPECT_NE(problem_of(folder.path()).find("summary.json: is empty"), std::string::npos);
  const std::string text = two_models("small").dump();
  folder.write("summary.json", text.substr(0, text.size() / 2));
  EXPECT_NE(problem_of(folder.path()).find("summary.json: is damaged"), std::string::npos);
  folder.write("summary.json", "[1, 2]");
  EXPECT_NE(problem_of(folder.path()).find("no object"), std::string::npos);
}

TEST(Report, TakesWhatItKnowsOfASummaryOfAnotherForm) {
  const TemporaryFolder folder;
  const json summary = two_models("small");
  write_result(folder / "result.h5", "", 0);
  // every entry in turn is something else
  for (const auto& [key, value] : summary.items())
    for (const json& other :
         {json(7), json("text"), json(nullptr), json({1, "a", nullptr}), json({{"x", 3}})}) {
      json changed = summary;
      changed[key] = other;
      folder.write("summary.json", changed.dump());
      EXPECT_EQ(problem_of(folder.path()), "") << key << " is " << other.dump();
    }
  json newer = summary;
  newer["lissom_version"] = "99.0.0";
  folder.write("summary.json", newer.dump());
  EXPECT_NE(all_warnings(drafted(folder.path())).find("newer than this program"), std::string::npos);
}

TEST(Report, ADamagedResultCostsItsOwnCurvesOnly) {
  const TemporaryFolder folder;
  folder.write("summary.json", two_models("small").dump());
  write_result(folder / "result.h5", "", 0);
  std::filesystem::create_directories(folder / "small");
  folder.write("small/result.h5", "not HDF5 at all");
  const ReportDraft draft = drafted(folder.path());
  EXPECT_NE(all_warnings(draft).find("its curves are left out"), std::string::npos) << all_warnings(draft);
  EXPECT_EQ(block_of<ReportFigure>(draft, "sensor-tip-i-m").series.size(), 2u);
}

TEST(Report, IdsAreUniqueWhateverTheNames) {
  const TemporaryFolder folder;
  json summary = two_models("a b");
  summary["cases"]["a-b"] = summary["cases"]["a b"];
  const json training = {{"order", 2},
                         {"orders", {{{"m", 1}, {"rms_error", 0.5}}, {{"m", 2}, {"rms_error", 0.1}}}}};
  summary["training"] = training;
  summary["cases"]["a b"]["training"] = summary["cases"]["a-b"]["training"] = training;
  folder.write("summary.json", summary.dump());
  const ReportDraft draft = drafted(folder.path());
  std::set<std::string> ids;
  for (const ReportFigure* figure : blocks_of<ReportFigure>(draft))
    EXPECT_TRUE(ids.insert(figure->id).second) << figure->id;
  EXPECT_TRUE(ids.contains("training-a-b-error"));
  EXPECT_TRUE(ids.contains("training-a-b-error-2"));
}

TEST(Report, OfATrainingReadsItsTables) {
  const TemporaryFolder folder;
  folder.write(
      "modes.csv",
      "mode,singular_value,singular_value_of_nodes,joint_violation\n1,15.5,15.25,1e-30\n2,0.5,,2e-30\n"
      "3,0,,\n");
  folder.write("orders.csv",
               "m,epsilon,rms_error,largest_error,left_out,spurious,seconds,frequencies_hz\n"
               "1,2.5,0.5,0.75,0.25,0,0.01,5070.5\n2,,,,1e-3,1,0.02,0.0125 16000.5\n");
  const ReportDraft draft = drafted(folder.path());
  const auto& values = block_of<ReportFigure>(draft, "training-singular-values");
  const ReportSeries& own = series_of(values, "in the space of component modes");
  EXPECT_EQ(own.y[0], 15.5);
  EXPECT_TRUE(std::isnan(own.y[2]));  // zero on a logarithmic axis
  EXPECT_EQ(series_of(values, "of all nodal coordinates").y, std::vector<double>{15.25});
  const auto& orders = block_of<ReportTable>(draft, "training-orders");
  EXPECT_EQ(cell_of(orders, 0, "largest error [m]").value, 0.75);
  EXPECT_EQ(cell_of(orders, 1, "joint violation").value, 2e-30);
  EXPECT_EQ(cell_of(orders, 1, "largest error [m]").text, "-");
  const auto& frequencies = block_of<ReportFigure>(draft, "training-frequencies");
  // without the number of free motions it is not known which frequency is the spurious one
  const auto mark = std::find_if(frequencies.marks.begin(), frequencies.marks.end(),
                                 [](const ReportMark& m) { return m.label == "spurious motions"; });
  ASSERT_NE(mark, frequencies.marks.end());
  EXPECT_EQ(mark->at, 2);
}

TEST(Report, OfAParametricTrainingReadsItsTables) {
  const TemporaryFolder folder;
  folder.write("samples.csv",
               "sample,\"mass, upper\",E,snapshots,seconds,rank,r_singular_values,r_energy,"
               "r_singular_values_centred,r_energy_centred\n1,0.15,2e9,100,0.5,3,2,1,2,1\n2,0.25,3e9,100,0."
               "75,3,2,1,2,1\n");
  folder.write("singular_values.csv", "mode,sample_1,sample_2\n1,8,9\n2,0.5,0.25\n3,0.125,\n");
  folder.write("principal_angles.csv", "sample,1,2\n1,0,12.5\n2,12.5,0\n");
  folder.write(
      "pod_test.csv",
      "test,\"mass, upper\",E,combination,order,force,error tip.x,error tip.y,error energy.total,"
      "largest_angle_deg,constraints,trust,full_seconds,seconds,setup_seconds,times_faster,fallback,problem\n"
      "\"new, one\",0.2,2.5e9,grassmann,5,tensor,0.25,0.125,3,10,0,1.5,2,0.5,0.1,4,,\n"
      "\"new, one\",0.2,2.5e9,grassmann,8,tensor,0.0625,0.03125,3,10,0,1.5,2,1,0.1,2,,it did not converge\n");
  const ReportDraft draft = drafted(folder.path());
  const ReportFigure& error = block_of<ReportFigure>(draft, "pod-error");
  // the worst sensor; energies are none
  EXPECT_EQ(series_of(error, "grassmann").x, (std::vector<double>{5, 8}));
  EXPECT_EQ(series_of(error, "grassmann").y, (std::vector<double>{0.25, 0.0625}));
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "pod-singular-values"), "sample 2").y[1], 0.25);
  EXPECT_EQ(block_of<ReportTable>(draft, "principal-angles").rows.at(0).at(2).value, 12.5);
  const auto& tests = block_of<ReportTable>(draft, "pod-tests");
  EXPECT_EQ(cell_of(tests, 0, "test").text, "new, one");
  EXPECT_EQ(cell_of(tests, 1, "note").text, "it did not converge");
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "pod-samples"), "full simulations (training)").y[1],
            0.25);
}

TEST(Report, OfAComparisonHasItsDifferences) {
  const TemporaryFolder folder;
  const json comparison = {
      {"a", "full/result.h5"},
      {"b", "<b>.csv"},
      {"times", {{"count", 2}, {"first", 0}, {"last", 1}, {"interpolated", true}}},
      {"sensors",
       {{"tip.x",
         {{"largest", 0.5}, {"at", 1.0}, {"rms", 0.25}, {"scale", 2.0}, {"relative", 0.25}, {"unit", "m"}}}}},
      {"energies", json::object()},
      {"nodes",
       {{"rod",
         {{"nodes", 7},
          {"largest", 0.125},
          {"at", 1.0},
          {"node", 12345678},
          {"rms", 0.1},
          {"epsilon", 1e-3}}}}},
      {"only_a", {"c.x"}}};
  folder.write("comparison.json", comparison.dump());
  folder.write("differences.csv", "t,tip.x,rod rms,rod max\n0,0,0,0\n1,-0.5,0.1,0.125\n");
  const ReportDraft draft = drafted(folder.path());
  const auto& figure = block_of<ReportFigure>(draft, "difference-tip-m");
  EXPECT_EQ(figure.series.at(0).y[1], 0.5);
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "nodes"), 0, "at node").text, "12345678");
  EXPECT_NE(draft.page.summary.find("tip.x: 25 %"), std::string::npos) << draft.page.summary;
}

// A rod that is bent step by step: a sensor with an axis of mere rounding, an angle, the number of a node.
TEST(Report, OfEquilibriaHasNoMotionAndNoDriftAndDrawsNoRounding) {
  const TemporaryFolder folder;
  ResultHeader header;
  header.integrator = "static";
  header.study = "units = \"SI\"\n";
  header.bodies = {{"rod", "ffrf", 0, 2, 1}};
  header.sensors = {"tip.x", "tip.y", "turn.angle", "stress.value", "stress.node"};
  header.sensor_units = {"m", "m", "1", "Pa", "1"};
  {
    ResultWriter writer(folder / "result.h5", header);
    for (int i = 0; i < 5; ++i) {
      State state;
      state.t = i;
      state.q = state.v = state.a = Eigen::VectorXd::Zero(2);
      state.lambda = Eigen::VectorXd(0);
      BalanceSample balance;
      balance.energy.elastic = balance.energy_drift = i;
      Eigen::VectorXd sensors(5);
      // rounding of a place of about 2 m
      sensors << 1.5 + 0.1 * i, 2e-16 * (i % 2), 0.3 * i, 1e6 * i, 17 + i;
      writer.add(state, sensors, balance, {}, {}, 0);
    }
    ResultEnd end;
    end.status = RunStatus::Complete;
    writer.finish(end);
  }
  json simulation = simulation_of("ffrf", 17);
  simulation["integrator"] = "static";
  simulation["energy_drift"] = nullptr;
  simulation["constraints"] = 0;
  simulation["constraint_drift"] = 0.0;
  const json linear = {{"stable", true},
                       {"modes",
                        {{{"frequency_hz", 1e-9}, {"damping_ratio", 0.0}},
                         {{"frequency_hz", 3.0}, {"damping_ratio", 1.0}},
                         {{"frequency_hz", 12.5}, {"damping_ratio", 0.01}}}}};
  folder.write("summary.json", json({{"title", "bent"},
                                     {"bodies", {{"rod", {{"nodes", 20}}}}},
                                     {"simulation", simulation},
                                     {"linearisation", linear}})
                                   .dump());
  const ReportDraft draft = drafted(folder.path());
  for (const char* words : {"Equilibria of 1 body", "lowest vibration has 12.5 Hz"})
    EXPECT_NE(draft.page.summary.find(words), std::string::npos) << words << " in " << draft.page.summary;
  for (const ReportCard& card : draft.page.cards) {
    EXPECT_NE(card.label, "Gaps of joints");
    EXPECT_NE(card.label, "Energy drift");
  }
  const auto& tip = block_of<ReportFigure>(draft, "sensor-tip-m");
  ASSERT_EQ(tip.series.size(), 1u);
  EXPECT_EQ(tip.series[0].name, "tip.x");
  EXPECT_NE(tip.caption.find("Zero but for rounding: tip.y."), std::string::npos) << tip.caption;
  EXPECT_EQ(block_of<ReportFigure>(draft, "sensor-turn-rad").y.label, "turn [rad]");
  for (const ReportFigure* figure : blocks_of<ReportFigure>(draft)) {
    EXPECT_NE(figure->id, "energy-drift");
    for (const ReportSeries& series : figure->series) EXPECT_NE(series.name, "stress.node");
  }
}

TEST(Report, LongSeriesKeepTheirPeaks) {
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(1e-3 * i));
  }
  y[77777] = 50;
  y[4321] = -60;
  EXPECT_TRUE(thin_out(x, y));
  EXPECT_LE(x.size(), 5000u);
  EXPECT_EQ(x.size(), y.size());
  EXPECT_EQ(x.front(), 0);
  EXPECT_EQ(x.back(), 99999);
  EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), 50);
  EXPECT_EQ(*std::min_element(y.begin(), y.end()), -60);
  std::vector<double> few = {1, 2, 3}, of = {4, 5, 6};
  EXPECT_FALSE(thin_out(few, of));
}

}  // namespace
}  // namespace lissom::report_test
