#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

#include "lissom/io/body_file.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/report/report_blocks.hpp"
#include "lissom/study/body.hpp"
#include "lissom/study/gcms.hpp"
#include "lissom/study/reduce.hpp"
#include "tests/study/report_found.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::report_bodies_test {
namespace {

using nlohmann::json;

// One body with modes and one with a reduction, as runs write them; numbers with all digits.
json two_bodies() {
  return json::parse(R"({
  "held <b>": {
    "nodes": 1503, "elements": {"tet4": 4395, "hex8": 2}, "mass": 0.0605473139076691, "volume": 2.23421822537523e-05,
    "bounding_box": [[-0.021, -0.02, 0], [0.118, 0.02, 0.01]], "center": [0.038, 6e-07, 0.005],
    "materials": [{"name": "alu & co", "E": 7.0e10, "nu": 0.33, "rho": 2709.9999999999995, "elements": 4397}],
    "quality": {"smallest_jacobian_ratio": 0.22146464282365846, "worst_element": 440, "negative_elements": 3},
    "spiders": [{"name": "pin", "kind": "rigid", "nodes": 167}], "sets": {"bore": {"nodes": 93}},
    "frequencies_hz": [227.1180471008286, 397.3086922022344, 397.3086922022345], "residuals": [7.46e-16, 9.8e-16, 2e-14],
    "rigid_modes": 0, "fixed": ["pin"], "effective_mass": [[0, 0.03, 0, 0, 0, 1e-6], [0.01, 0.02, 0, 0, 0, 0], [0, 0, 0.05, 0, 0, 0]],
    "seconds": {"assembly": 0.5, "eigenvalues": 1.5, "total": 2.0}},
  "rod": {
    "nodes": 20, "mass": 2.0, "files": ["rod_coordinates.csv", "rod_sweep.csv", "rod_errors.csv"],
    "reduce": {"degrees_of_freedom": 3735, "coordinates": 3, "kinds": {"fixed-interface": 2, "constraint": 1},
      "method": "certified", "certified": true, "reached": true, "tolerance": 0.001, "range": 2, "rigid_modes": 1,
      "frequencies_hz": [0.0, 100.0, 200.0], "damping": "1 % on every mode",
      "largest": {"bound": 0.0002401786409227391, "zeta_2": 0.0002077, "exact": null},
      "errors": [
        {"mode": 1, "frequency_hz": 2267.001949914483, "bound": 4.270805931128052e-11, "zeta_2": 5.08e-12, "exact": 6.28e-12, "paper_estimate": null, "lower_estimate": null},
        {"mode": 2, "frequency_hz": 3440.9284892651813, "bound": 0.0002401786409227391, "zeta_2": 0.0002077, "exact": null, "paper_estimate": null, "lower_estimate": null}],
      "interfaces": [{"name": "crank pin", "nodes": 1, "origin": [0, 0, 0], "coordinates": [2]}],
      "comparison": {"tolerances": [0.1, 0.01], "methods": [
        {"name": "lowest modes", "coordinates": [8, null], "exact": [0.0899, null], "certified": [true, false]}]},
      "seconds": {"basis": 0.25, "inertia": 0.75, "total": 1.0}}}})");
}

void write_rod_files(const TemporaryFolder& folder) {
  folder.write("rod_coordinates.csv",
               "coordinate,kind,interface,node,direction,frequency_hz,effective_mass_x,effective_mass_y,"
               "effective_mass_z\n"
               "1,fixed-interface,\"\",,,3538.04808744,0.5,0,1\n"
               "2,fixed-interface,\"\",,,3726.87813933,0.5,0,0\n"
               "3,constraint,\"crank, \"\"pin\"\"\",17,rx,5,,,\n");
  folder.write("rod_sweep.csv",
               "modes,mode,frequency_hz,lower_estimate,paper_estimate,zeta_2,bound,exact\n"
               "5,1,10,0.1,0.3,0.2,0.25,0.2\n5,2,20,0.2,0.4,0.3,,0.3\n"
               "6,1,10,0.01,0.03,0.02,0.025,0.02\n6,2,20,0.02,0.04,0.01,0.03,0.03\n");
}

TEST(ReportBodies, ValuesOfTheTablesAreThoseOfTheSummary) {
  const TemporaryFolder folder;
  write_rod_files(folder);
  ReportDraft draft;
  draft.folder = folder.path();
  draft.summary["bodies"] = two_bodies();
  report_bodies(draft, draft.summary["bodies"]);
  EXPECT_EQ(section_ids(draft), (std::vector<std::string>{"bodies", "modes", "reduction"}));
  for (const ReportSection& section : draft.page.sections) EXPECT_FALSE(section.lead.empty()) << section.id;

  const auto& bodies = block_of<ReportTable>(draft, "bodies");
  ASSERT_EQ(bodies.rows.size(), 2u);
  // names as they are: escaping is the page's
  EXPECT_EQ(cell_of(bodies, 0, "body").text, "held <b>");
  EXPECT_EQ(cell_of(bodies, 0, "nodes").value, 1503);
  EXPECT_EQ(cell_of(bodies, 0, "nodes").text, "1503");
  EXPECT_EQ(cell_of(bodies, 0, "elements").text, "2 hex8, 4395 tet4");
  EXPECT_EQ(cell_of(bodies, 0, "mass [kg]").value, 0.0605473139076691);
  EXPECT_EQ(cell_of(bodies, 0, "volume [m3]").value, 2.23421822537523e-05);
  EXPECT_EQ(cell_of(bodies, 0, "worst Jacobian ratio").value, 0.22146464282365846);
  EXPECT_EQ(cell_of(bodies, 1, "interfaces").text, "crank pin");
  EXPECT_EQ(cell_of(bodies, 1, "volume [m3]").text, "");
  const auto& materials = block_of<ReportTable>(draft, "materials");
  EXPECT_EQ(cell_of(materials, 0, "material").text, "alu & co");
  EXPECT_EQ(cell_of(materials, 0, "E [Pa]").value, 7.0e10);
  EXPECT_EQ(cell_of(materials, 0, "rho [kg/m3]").value, 2709.9999999999995);
  // what is wrong comes first on the page
  ASSERT_EQ(draft.page.warnings.size(), 1u);
  EXPECT_EQ(draft.page.warnings[0], "Body held <b>: 3 elements are turned inside out");
}

TEST(ReportBodies, ModesShowFrequenciesResidualsAndEqualOnes) {
  ReportDraft draft;
  report_bodies(draft, two_bodies());
  const auto& modes = block_of<ReportTable>(draft, "held-b-modes");
  ASSERT_EQ(modes.rows.size(), 3u);
  EXPECT_EQ(cell_of(modes, 1, "frequency [Hz]").value, 397.3086922022344);
  EXPECT_EQ(cell_of(modes, 2, "residual").value, 2e-14);
  EXPECT_EQ(cell_of(modes, 0, "equal frequencies").text, "");
  EXPECT_EQ(cell_of(modes, 1, "equal frequencies").text, "1 of 2");
  EXPECT_EQ(cell_of(modes, 2, "equal frequencies").text, "2 of 2");
  EXPECT_EQ(cell_of(modes, 0, "y [kg]").value, 0.03);
  // the sum of the masses, as a share of the whole
  const auto& mass = block_of<ReportFigure>(draft, "held-b-effective-mass");
  EXPECT_EQ(
      series_of(mass, "along y").y,
      (std::vector<double>{0.03 / 0.0605473139076691, 0.05 / 0.0605473139076691, 0.05 / 0.0605473139076691}));
}

TEST(ReportBodies, AReductionShowsItsErrorsConvergenceAndCoordinates) {
  const TemporaryFolder folder;
  write_rod_files(folder);
  ReportDraft draft;
  draft.folder = folder.path();
  report_bodies(draft, two_bodies());
  const std::string text = texts_of(draft);
  EXPECT_NE(text.find("3735 degrees of freedom became 3 coordinates"), std::string::npos);
  EXPECT_NE(text.find("within 0.1 %. Certified"), std::string::npos);
  EXPECT_NE(text.find("largest error below 0.024 %"), std::string::npos);

  const auto& errors = block_of<ReportFigure>(draft, "rod-errors");
  EXPECT_TRUE(errors.y.log);
  EXPECT_EQ(series_of(errors, "proven bound").x, (std::vector<double>{1, 2}));
  EXPECT_EQ(series_of(errors, "proven bound").y,
            (std::vector<double>{4.270805931128052e-11, 0.0002401786409227391}));
  // unknown of the second mode: a gap
  ASSERT_EQ(series_of(errors, "exact error").y.size(), 2u);
  EXPECT_EQ(series_of(errors, "exact error").y[0], 6.28e-12);
  EXPECT_TRUE(std::isnan(series_of(errors, "exact error").y[1]));
  // kinds that nobody computed are not there
  EXPECT_EQ(errors.series.size(), 3u);
  ASSERT_EQ(errors.marks.size(), 1u);
  EXPECT_FALSE(errors.marks[0].vertical);
  EXPECT_EQ(errors.marks[0].at, 0.001);

  // the largest over the modes for each number kept; no bound where one mode has none
  const auto& convergence = block_of<ReportFigure>(draft, "rod-convergence");
  EXPECT_EQ(series_of(convergence, "exact error").x, (std::vector<double>{5, 6}));
  EXPECT_EQ(series_of(convergence, "exact error").y, (std::vector<double>{0.3, 0.03}));
  EXPECT_EQ(series_of(convergence, "estimate (zeta_2)").y, (std::vector<double>{0.3, 0.02}));
  EXPECT_TRUE(std::isnan(series_of(convergence, "proven bound").y[0]));
  EXPECT_EQ(series_of(convergence, "proven bound").y[1], 0.03);

  const auto& comparison = block_of<ReportFigure>(draft, "rod-coordinates-for-a-tolerance");
  EXPECT_EQ(series_of(comparison, "lowest modes").x, (std::vector<double>{0.1, 0.01}));
  EXPECT_EQ(series_of(comparison, "lowest modes").y[0], 8);
  EXPECT_TRUE(std::isnan(series_of(comparison, "lowest modes").y[1]));
  const auto& counts = block_of<ReportTable>(draft, "rod-comparison");
  EXPECT_EQ(cell_of(counts, 0, "for 10 %").text, "8 c");
  EXPECT_EQ(cell_of(counts, 0, "for 1 %").text, "not reached");

  const auto& coordinates = block_of<ReportTable>(draft, "rod-coordinates");
  ASSERT_EQ(coordinates.rows.size(), 3u);
  EXPECT_EQ(cell_of(coordinates, 1, "frequency [Hz]").value, 3726.87813933);
  EXPECT_EQ(cell_of(coordinates, 2, "interface").text, "crank, \"pin\"");
  EXPECT_EQ(cell_of(coordinates, 2, "z [kg]").text, "");
  EXPECT_NE(text.find("carry 50 % of the mass along x, 0 % along y and 50 % along z"), std::string::npos);

  const auto& time = block_of<ReportTable>(draft, "rod-reduction-time");
  EXPECT_EQ(cell_of(time, 0, "phase").text, "inertia");
  EXPECT_EQ(cell_of(time, 0, "time [s]").value, 0.75);
  EXPECT_EQ(cell_of(time, 2, "time [s]").value, 1.0);
  EXPECT_TRUE(draft.page.warnings.empty() || draft.page.warnings.size() == 1);
}

TEST(ReportBodies, AnAccuracyThatWasNotReachedIsAWarning) {
  json bodies = two_bodies();
  bodies["rod"]["reduce"]["certified"] = false;
  bodies["rod"]["reduce"]["reached"] = false;
  ReportDraft draft;
  report_bodies(draft, bodies);
  std::string all;
  for (const std::string& warning : draft.page.warnings) all += warning + "\n";
  EXPECT_NE(all.find("Body rod: the accuracy asked for, 0.1 %, was not reached"), std::string::npos) << all;
  EXPECT_NE(texts_of(draft).find("NOT reached"), std::string::npos);
}

TEST(ReportBodies, FilesThatAreMissingOrDamagedAreNamedAndTheRestIsShown) {
  const TemporaryFolder folder;
  folder.write("rod_sweep.csv", "modes,mode\n5,1\n6\n");
  ReportDraft draft;
  draft.folder = folder.path();
  report_bodies(draft, two_bodies());
  std::string all;
  for (const std::string& warning : draft.page.warnings) all += warning + "\n";
  EXPECT_NE(all.find("rod_coordinates.csv"), std::string::npos) << all;
  EXPECT_NE(all.find("rod_sweep.csv"), std::string::npos) << all;
  EXPECT_EQ(block_of<ReportFigure>(draft, "rod-errors").series.size(), 3u);
}

TEST(ReportBodies, NothingThatIsMissingOrOfAnotherTypeThrows) {
  const TemporaryFolder folder;
  write_rod_files(folder);
  json bodies = two_bodies();
  int looked = 0;
  spoil(bodies, "", [&](const std::string& path) {
    ReportDraft draft;
    draft.folder = folder.path();
    draft.summary = {{"bodies", bodies}};
    ++looked;
    EXPECT_NO_THROW(report_bodies(draft, bodies)) << path;
  });
  EXPECT_GT(looked, 500);
  for (const json& other : {json(), json(3), json::array({1}), json("text")}) {
    ReportDraft draft;
    EXPECT_NO_THROW(report_bodies(draft, other));
    EXPECT_TRUE(draft.page.sections.empty());
  }
}

TEST(ReportBodies, BodiesOfCasesAreShownWithTheirNameAndIdsStayUnique) {
  ReportDraft draft;
  draft.summary["bodies"] = two_bodies();
  draft.summary["cases"]["tol 1"]["bodies"] = two_bodies();
  report_bodies(draft, draft.summary["bodies"]);
  EXPECT_EQ(block_of<ReportTable>(draft, "bodies").rows[3][0].text, "rod, case tol 1");
  std::set<std::string> ids;
  for (const auto* figure : blocks_of<ReportFigure>(draft))
    EXPECT_TRUE(ids.insert(figure->id).second) << figure->id;
  for (const auto* table : blocks_of<ReportTable>(draft))
    EXPECT_TRUE(ids.insert(table->id).second) << table->id;
  EXPECT_TRUE(ids.contains("rod-case-tol-1-errors"));
}

// --- files alone ---

// A cube of 3 by 3 by 3 hexahedra with two small faces as interfaces.
FeBody small_body() {
  constexpr int n = 3;
  std::string text = "*NODE\n";
  const auto id = [](int i, int j, int k) { return 1 + i + (n + 1) * (j + (n + 1) * k); };
  for (int k = 0; k <= n; ++k)
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i)
        text += fmt::format("{}, {}, {}, {}\n", id(i, j, k), 0.1 * i, 0.02 * j, 0.015 * k);
  text += "*ELEMENT, TYPE=C3D8I, ELSET=ALL\n";
  int e = 1;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        text += fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}\n", e++, id(i, j, k), id(i + 1, j, k),
                            id(i + 1, j + 1, k), id(i, j + 1, k), id(i, j, k + 1), id(i + 1, j, k + 1),
                            id(i + 1, j + 1, k + 1), id(i, j + 1, k + 1));
  text += fmt::format("*NSET, NSET=LEFT\n{}, {}, {}\n", id(0, 0, 0), id(0, n, 0), id(0, 0, n));
  text +=
      "*MATERIAL, NAME=STEEL\n*ELASTIC\n2.1e11, 0.3\n*DENSITY\n7850\n*SOLID SECTION, ELSET=ALL, "
      "MATERIAL=STEEL\n";
  const TemporaryFolder folder;
  folder.write("cube.inp", text);
  BodySpec spec;
  spec.name = "cube";
  spec.mesh = folder / "cube.inp";
  Diagnostics diagnostics;
  FeBody body = load_body(spec, diagnostics);
  build_model(body, diagnostics);
  return body;
}

TEST(ReportBodies, ABodyFileAloneShowsItsMeshAndModes) {
  const TemporaryFolder folder;
  FeBody body = small_body();
  Diagnostics diagnostics;
  solve_modes(body, diagnostics);
  BodyFile file;
  file.mesh = body.mesh;
  file.model = body.model;
  file.modes = body.vibration->modes;
  write_body_file(folder / "cube.body.h5", file);
  ReportDraft draft;
  draft.folder = folder.path();
  draft.diagnostics = &diagnostics;
  report_body_file(draft, folder / "cube.body.h5");
  const auto& table = block_of<ReportTable>(draft, "bodies");
  EXPECT_EQ(cell_of(table, 0, "nodes").value, 64);
  EXPECT_EQ(cell_of(table, 0, "elements").text, "27 hex8");
  // rho times the box, to rounding
  EXPECT_NEAR(*cell_of(table, 0, "mass [kg]").value, 7850 * 0.3 * 0.06 * 0.045, 1e-12);
  const auto& modes = block_of<ReportTable>(draft, "cube-modes");
  ASSERT_EQ(static_cast<int>(modes.rows.size()), body.vibration->modes.count());
  EXPECT_EQ(cell_of(modes, 8, "frequency [Hz]").value, body.vibration->modes.frequencies_hz[8]);
  EXPECT_EQ(draft.page.title, "Body cube");
}

TEST(ReportBodies, AReducedBodyAndComponentModesAloneShowWhatTheyAre) {
  const TemporaryFolder folder;
  FeBody body = small_body();
  Diagnostics diagnostics;
  ReduceSpec spec;
  InterfaceSpec left;
  left.name = "left";
  left.what = {"LEFT"};
  spec.options.interfaces = {left};
  spec.options.selection.range = 3;
  body.spec.reduce = spec;
  const Reduction reduction = reduce_body(body, diagnostics);
  write_reduced_body_file(folder / "cube.reduced.h5", reduction.body, {"study: cube.toml"});
  ReportDraft draft;
  draft.folder = folder.path();
  report_body_file(draft, folder / "cube.reduced.h5");
  const auto& coordinates = block_of<ReportTable>(draft, "cube-coordinates");
  ASSERT_EQ(static_cast<int>(coordinates.rows.size()), reduction.body.size());
  EXPECT_EQ(cell_of(coordinates, 0, "frequency [Hz]").value, reduction.body.coordinates[0].frequency_hz);
  const auto& errors = block_of<ReportFigure>(draft, "cube-errors");
  ASSERT_EQ(series_of(errors, "proven bound").y.size(), 3u);
  EXPECT_EQ(series_of(errors, "proven bound").y[0], reduction.body.errors.modes[0].bound);
  EXPECT_NE(texts_of(draft).find("Certified"), std::string::npos);

  GcmsSpec gcms;
  gcms.modes = {1, 2, 3};
  gcms.algorithm_1 = true;
  body.spec.gcms = gcms;
  const GcmsResult result = compute_gcms(body, diagnostics);
  write_gcms_file(folder / "cube.gcms.h5", result.file);
  ReportDraft alone;
  alone.folder = folder.path();
  report_body_file(alone, folder / "cube.gcms.h5");
  const auto& values = block_of<ReportFigure>(alone, "cube-singular-values");
  const std::vector<double>& shown = series_of(values, "flexible fields").y;
  ASSERT_EQ(static_cast<Eigen::Index>(shown.size()), result.file.scalar->singular_values.size());
  EXPECT_EQ(shown[1], result.file.scalar->singular_values[1]);
  // the largest cosine of each field, kept and removed ones together
  const auto& similarity = block_of<ReportFigure>(alone, "cube-similarity");
  size_t points = 0;
  for (const ReportSeries& series : similarity.series)
    for (size_t i = 0; i < series.x.size(); ++i, ++points) {
      const auto field = static_cast<Eigen::Index>(series.x[i]) - 1;
      double largest = 0;
      for (Eigen::Index k = 0; k < 9; ++k)
        if (k != field) largest = std::max(largest, result.file.cosine(field, k));
      EXPECT_EQ(series.y[i], largest);
    }
  EXPECT_EQ(points, 9u);
  const auto& cosines = block_of<ReportMatrix>(alone, "cube-cosines");
  ASSERT_EQ(cosines.values.size(), 81u);
  EXPECT_EQ(cosines.rows, cosines.columns);
  for (Eigen::Index i = 0; i < 9; ++i)
    for (Eigen::Index k = 0; k < 9; ++k)
      EXPECT_EQ(cosines.values[static_cast<size_t>(9 * i + k)], result.file.cosine(i, k));
  EXPECT_EQ(block_of<ReportTable>(alone, "cube-mode-errors").rows.size(), 3u);

  // in a run the thresholds are known as well, and damaged files are named
  ReportDraft draft_of_run;
  draft_of_run.folder = folder.path();
  json bodies;
  bodies["cube"] = {{"gcms", gcms_json(result)}, {"files", {"cube.gcms.h5"}}};
  report_bodies(draft_of_run, bodies);
  EXPECT_EQ(block_of<ReportFigure>(draft_of_run, "cube-singular-values").marks[0].at,
            gcms.scalar_options.truncation);
  EXPECT_EQ(block_of<ReportFigure>(draft_of_run, "cube-similarity").marks[0].at,
            gcms.algorithm_1_options.threshold);
  // those that Algorithm 1 took out are marked in the matrix
  const auto& marked = block_of<ReportMatrix>(draft_of_run, "cube-cosines");
  std::set<std::string> removed, shown_removed;
  for (const json& entry : bodies["cube"]["gcms"]["algorithm_1"]["removed"])
    removed.insert(entry["column"].get<std::string>());
  for (const size_t row : marked.marked_rows) shown_removed.insert(marked.rows[row]);
  EXPECT_EQ(shown_removed, removed);
  EXPECT_EQ(marked.marked_columns, marked.marked_rows);
  write_bytes(folder / "cube.gcms.h5", "no HDF5");
  ReportDraft damaged;
  damaged.folder = folder.path();
  report_bodies(damaged, bodies);
  ASSERT_EQ(damaged.page.warnings.size(), 1u);
  EXPECT_NE(damaged.page.warnings[0].find("cube.gcms.h5"), std::string::npos);
  EXPECT_EQ(message_of<InputError>([&] {
              ReportDraft other;
              report_body_file(other, folder / "cube.gcms.h5");
            }).find("no exception"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::report_bodies_test
