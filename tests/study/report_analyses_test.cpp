#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

#include "tests/study/report_found.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::report_analyses_test {
namespace {

using nlohmann::json;

json linearised(double shift) {
  json j = json::parse(
      R"({"t": 0.5, "stable": true, "growth": 0.0, "moving": false, "states": ["a", "b", "c", "d"],
    "inputs": ["push"], "input_units": ["N"], "outputs": ["tip.z"], "output_units": ["m"], "files": ["linearisation.json"],
    "modes": [
      {"frequency_hz": 6.701004944235229, "damping_ratio": 0.0042102932886966885, "eigenvalue": [-0.17726873948204513, 42.103282630610686],
       "bodies": {"fore": 0.05, "payload <i>": 0.945, "motor": 0.005}},
      {"frequency_hz": 43.12484793240054, "damping_ratio": 1.0, "eigenvalue": [-7.342004901342236, 0], "bodies": {}}]})");
  j["modes"][0]["eigenvalue"][0] = -0.17726873948204513 + shift;
  return j;
}

json response() {
  return json::parse(
      R"({"frequencies_hz": {"from": 1, "to": 3, "points": 3}, "pairs": [{"input": "push", "output": "tip, z", "unit": "m/N",
    "peaks": [{"frequency_hz": 2.0, "magnitude": 0.019136569109339585, "phase_deg": -89.87793899360926}]}]})");
}

json whole_summary() {
  json summary;
  summary["simulation"] = json::parse(
      R"({"integrator": "static", "steps": 80, "samples": 81, "newton_iterations": 160, "end": 1.6,
    "equilibrium": {"t": 0.0, "iterations": 3, "residual": 4.679003005502818e-13, "force": 3081.1021472918937,
      "moved": 0.006463454145433538, "stable": true, "lowest_eigenvalue": 1772.7178324445263, "followed_forces": false, "free": []}})");
  summary["linearisation"] = linearised(0);
  summary["response"] = response();
  summary["cases"]["bent"] = {{"linearisation", linearised(0.5)}, {"response", response()}};
  summary["cases"]["bent"]["linearisation"]["stable"] = false;
  summary["cases"]["bent"]["linearisation"]["growth"] = 0.32273126051795487;
  summary["sweep"] = json::parse(
      R"({"parameters": ["mass"], "columns": ["tip.z last", "tip.z max", "frequency 1 [Hz]", "frequency 2 [Hz]", "arm max von Mises [Pa]", "growth [1/s]"],
    "failed": 1, "files": ["sweep.csv"], "points": [
      {"parameters": {"mass": 2.0}, "values": {"tip.z last": 0.39208757068352645, "tip.z max": 0.4, "frequency 1 [Hz]": 10.0, "frequency 2 [Hz]": 20.0, "arm max von Mises [Pa]": 792192.852527585, "growth [1/s]": 0}},
      {"parameters": {"mass": 1.0}, "values": {"tip.z last": 0.5, "tip.z max": 0.6, "frequency 1 [Hz]": 15.624707027610448}},
      {"parameters": {"mass": 3.0}, "error": "the steps <became> too small"}]})");
  return summary;
}

void write_responses(const TemporaryFolder& folder) {
  const std::string text =
      "f,\"tip, z by push magnitude\",\"tip, z by push phase\"\n"
      "1,0.00016528104589143297,-0.07\n2,0.019136569109339585,-89.87793899360926\n3,inf,nan\n";
  folder.write("response.csv", text);
  std::filesystem::create_directories(folder / "bent");
  folder.write("bent/response.csv", text);
}

TEST(ReportAnalyses, ValuesAreThoseOfTheRun) {
  const TemporaryFolder folder;
  write_responses(folder);
  ReportDraft draft;
  draft.folder = folder.path();
  report_analyses(draft, whole_summary());
  EXPECT_EQ(section_ids(draft), (std::vector<std::string>{"statics", "linearisation", "response", "sweep"}));
  for (const ReportSection& section : draft.page.sections) EXPECT_FALSE(section.lead.empty()) << section.id;

  const auto& rest = block_of<ReportTable>(draft, "equilibria");
  EXPECT_EQ(cell_of(rest, 0, "iterations").value, 3);
  EXPECT_EQ(cell_of(rest, 0, "residual [N]").value, 4.679003005502818e-13);
  EXPECT_EQ(cell_of(rest, 0, "largest displacement [m]").value, 0.006463454145433538);
  EXPECT_EQ(cell_of(rest, 0, "stability").text, "stable");
  EXPECT_EQ(cell_of(block_of<ReportTable>(draft, "static-steps"), 0, "iterations for each step").value, 2);

  const auto& modes = block_of<ReportTable>(draft, "system-modes");
  ASSERT_EQ(modes.rows.size(), 2u);
  EXPECT_EQ(cell_of(modes, 0, "frequency [Hz]").value, 6.701004944235229);
  EXPECT_EQ(cell_of(modes, 0, "damping ratio").value, 0.0042102932886966885);
  EXPECT_EQ(cell_of(modes, 0, "what moves (kinetic energy)").text, "payload <i> 94 %, fore 5 %");
  // both runs in one plane
  const auto& plane = block_of<ReportFigure>(draft, "eigenvalues");
  EXPECT_EQ(series_of(plane, "the study itself").x,
            (std::vector<double>{-0.17726873948204513, -7.342004901342236}));
  EXPECT_EQ(series_of(plane, "the study itself").y, (std::vector<double>{42.103282630610686, 0}));
  EXPECT_EQ(series_of(plane, "bent").x[0], -0.17726873948204513 + 0.5);
  // a mode that does not oscillate has no place over frequency
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "damping-over-frequency"), "the study itself").x,
            (std::vector<double>{6.701004944235229}));
  // what grows is said first
  ASSERT_EQ(draft.page.warnings.size(), 1u);
  EXPECT_NE(draft.page.warnings[0].find("bent: unstable, a motion grows as exp(0.3227 t)"),
            std::string::npos);
}

TEST(ReportAnalyses, AResponseIsDrawnFromItsFileWithCasesTogether) {
  const TemporaryFolder folder;
  write_responses(folder);
  ReportDraft draft;
  draft.folder = folder.path();
  report_analyses(draft, whole_summary());
  const auto& size = block_of<ReportFigure>(draft, "response-tip-z-by-push");
  EXPECT_TRUE(size.x.log);
  EXPECT_TRUE(size.y.log);
  EXPECT_EQ(size.y.label, "magnitude [m/N]");
  ASSERT_EQ(size.series.size(), 2u);
  const ReportSeries& study = series_of(size, "the study itself");
  EXPECT_EQ(study.x, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(study.y[0], 0.00016528104589143297);
  EXPECT_EQ(study.y[1], 0.019136569109339585);
  // exactly at an undamped frequency: a gap
  EXPECT_FALSE(std::isfinite(study.y[2]));
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "response-tip-z-by-push-phase"), "bent").y[1],
            -89.87793899360926);
  const auto& peaks = block_of<ReportTable>(draft, "response-peaks");
  ASSERT_EQ(peaks.rows.size(), 2u);
  EXPECT_EQ(cell_of(peaks, 1, "run").text, "bent");
  EXPECT_EQ(cell_of(peaks, 1, "magnitude").value, 0.019136569109339585);

  // without the file the peaks are still there
  ReportDraft without;
  without.folder = folder / "elsewhere";
  report_analyses(without, whole_summary());
  EXPECT_EQ(block_of<ReportTable>(without, "response-peaks").rows.size(), 2u);
  std::string all;
  for (const std::string& warning : without.page.warnings) all += warning + "\n";
  EXPECT_NE(all.find("response.csv"), std::string::npos) << all;
}

TEST(ReportAnalyses, ASweepIsDrawnOverItsParameterInAscendingOrder) {
  ReportDraft draft;
  report_analyses(draft, whole_summary());
  const auto& tip = block_of<ReportFigure>(draft, "sweep-tip-z");
  EXPECT_EQ(tip.x.label, "mass");
  EXPECT_EQ(tip.y.label, "tip.z [m]");
  EXPECT_EQ(series_of(tip, "last").x, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(series_of(tip, "last").y[0], 0.5);
  EXPECT_EQ(series_of(tip, "last").y[1], 0.39208757068352645);
  EXPECT_TRUE(std::isnan(series_of(tip, "last").y[2]));
  EXPECT_EQ(series_of(tip, "max").y[1], 0.4);
  const auto& frequencies = block_of<ReportFigure>(draft, "sweep-frequencies-of-the-mechanism");
  EXPECT_EQ(series_of(frequencies, "mode 1").y[0], 15.624707027610448);
  EXPECT_TRUE(std::isnan(series_of(frequencies, "mode 2").y[0]));
  EXPECT_EQ(series_of(block_of<ReportFigure>(draft, "sweep-largest-von-mises-stress"), "arm").y[1],
            792192.852527585);
  const auto& table = block_of<ReportTable>(draft, "sweep");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(cell_of(table, 0, "mass").value, 2.0);
  EXPECT_EQ(cell_of(table, 1, "frequency 1 [Hz]").value, 15.624707027610448);
  EXPECT_EQ(cell_of(table, 2, "problem").text, "the steps <became> too small");
  EXPECT_NE(texts_of(draft).find("1 of 3 points failed"), std::string::npos);
}

TEST(ReportAnalyses, OfSeveralParametersTheFirstNumberIsTheAxisAndTheOthersMakeCurves) {
  json summary;
  summary["sweep"] = json::parse(R"({"parameters": ["method", "mass"], "columns": ["f [Hz]"], "points": [
    {"parameters": {"method": "a", "mass": 1}, "values": {"f [Hz]": 10}}, {"parameters": {"method": "b", "mass": 1}, "values": {"f [Hz]": 11}},
    {"parameters": {"method": "a", "mass": 2}, "values": {"f [Hz]": 20}}, {"parameters": {"method": "b", "mass": 2}, "values": {"f [Hz]": 21}}]})");
  ReportDraft draft;
  report_analyses(draft, summary);
  const auto& figure = block_of<ReportFigure>(draft, "sweep-f-hz");
  EXPECT_EQ(figure.x.label, "mass");
  EXPECT_EQ(series_of(figure, "method = a").y, (std::vector<double>{10, 20}));
  EXPECT_EQ(series_of(figure, "method = b").y, (std::vector<double>{11, 21}));
}

TEST(ReportAnalyses, NothingThatIsMissingOrOfAnotherTypeThrows) {
  const TemporaryFolder folder;
  write_responses(folder);
  json summary = whole_summary();
  spoil(summary, "", [&](const std::string& path) {
    ReportDraft draft;
    draft.folder = folder.path();
    draft.summary = summary;
    EXPECT_NO_THROW(report_analyses(draft, summary)) << path;
    std::set<std::string> ids;
    for (const auto* figure : blocks_of<ReportFigure>(draft))
      EXPECT_TRUE(ids.insert(figure->id).second) << figure->id;
    for (const auto* table : blocks_of<ReportTable>(draft))
      EXPECT_TRUE(ids.insert(table->id).second) << table->id;
  });
  for (const json& other : {json(), json(3), json::array({1}), json("text"), json::object()}) {
    ReportDraft draft;
    EXPECT_NO_THROW(report_analyses(draft, other));
    EXPECT_TRUE(draft.page.sections.empty());
  }
}

}  // namespace
}  // namespace lissom::report_analyses_test
