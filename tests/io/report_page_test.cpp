#include "lissom/report/report_page.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/io/view_thinning.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::report_page_test {
namespace {

using nlohmann::json;

// What a browser would do with a page, in small.
class OpenedPage {
 public:
  explicit OpenedPage(const std::filesystem::path& path) : text(read_file(path)) {}

  // What stands between two texts, from a place on.
  std::string between(const std::string& before, const std::string& after, size_t from = 0) const {
    const size_t first = text.find(before, from);
    if (first == std::string::npos) return "";
    const size_t start = first + before.size();
    return text.substr(start, text.find(after, start) - start);
  }
  json figure(const std::string& id) const {
    return json::parse(between("id=\"" + id + "\"><script type=\"application/json\">", "</script>"));
  }
  template <class T>
  std::vector<T> array(const json& a) const {
    const std::string coded =
        between("<script type=\"application/octet-stream\" id=\"" + a.at("blob").get<std::string>() + "\">",
                "</script>");
    const std::string bytes = inflated(decoded(coded));
    std::vector<T> values(a.at("count").get<size_t>());
    const size_t at = a.at("at").get<size_t>();
    EXPECT_LE(at + values.size() * sizeof(T), bytes.size());
    std::memcpy(values.data(), bytes.data() + at, values.size() * sizeof(T));
    return values;
  }
  size_t count(const std::string& what) const {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
  std::string text;

 private:
  static std::string decoded(const std::string& coded) {
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char c : coded) {
      int value = -1;
      if (c >= 'A' && c <= 'Z') value = c - 'A';
      if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
      if (c >= '0' && c <= '9') value = c - '0' + 52;
      if (c == '+') value = 62;
      if (c == '/') value = 63;
      if (value < 0) break;
      bits = bits << 6 | static_cast<unsigned>(value);
      if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
    }
    return bytes;
  }
  static std::string inflated(const std::string& bytes) {
    std::string out(64'000'000, 0);
    uLongf size = out.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                         reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
              Z_OK);
    out.resize(size);
    return out;
  }
};

ReportPage page_with(ReportBlock block) {
  ReportPage page;
  page.title = "a page";
  page.sections.push_back({"one", "One", "", {std::move(block)}});
  return page;
}

// A sheet of n by n points in a cell of one metre, bent by one shape over the frames.
View sheet(int n, int frames) {
  View view;
  view.title = "sheet";
  ViewPart part;
  part.name = "sheet";
  part.points.resize(3, n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      part.points.col(i * n + j) << static_cast<float>(i) / static_cast<float>(n - 1),
          static_cast<float>(j) / static_cast<float>(n - 1), 0;
      part.node_ids.push_back(i * n + j + 1);
      const auto at = static_cast<std::uint32_t>(i * n + j), m = static_cast<std::uint32_t>(n);
      if (i + 1 < n && j + 1 < n) {
        for (const auto k : {at, at + m, at + m + 1, at, at + m + 1, at + 1}) part.triangles.push_back(k);
        for (const auto k : {at, at + 1, at, at + m}) part.edges.push_back(k);
      }
    }
  part.mesh_nodes = n * n;
  ViewMotion motion;
  motion.time = Eigen::VectorXd::LinSpaced(frames, 0, 1);
  ViewMotion::Part moving;
  moving.position.setZero(3, frames);
  moving.rotation.setZero(4, frames);
  moving.rotation.row(3).setOnes();
  moving.displacement.basis.setZero(3 * n * n, 1);
  for (int p = 0; p < n * n; ++p)
    moving.displacement.basis(3 * p + 2, 0) =
        std::sin(3 * part.points(0, p)) * std::cos(2 * part.points(1, p));
  moving.displacement.amplitudes = Eigen::MatrixXf::Random(1, frames);
  moving.displacement.largest = 1;
  motion.parts.push_back(moving);
  view.parts.push_back(std::move(part));
  view.motion = std::move(motion);
  view.sensors.push_back({"corner", 0, static_cast<std::uint32_t>(n * n - 1), {"corner.z"}});
  return view;
}

TEST(ReportPage, NeedsNothingFromElsewhere) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  ReportFigure figure{"f", "figure", "", {"x", false}, {"y", true}, {{"s", {1, 2}, {3, 4}}}, {}};
  write_page(page_with(figure), folder.path() / "r.html", diagnostics);
  const OpenedPage page(folder.path() / "r.html");
  EXPECT_EQ(page.count(" src="), 0u);
  EXPECT_EQ(page.count("<link"), 0u);
  EXPECT_EQ(page.count("default-src 'none'"), 1u);
}

TEST(ReportPage, ShowsMarkupInNamesAsText) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const std::string evil = "</script><script>alert(1)</script><b>&\"'\xff";
  ReportPage page = page_with(ReportTable{evil, evil, {evil}, {{ReportValue(evil)}}});
  page.title = page.subtitle = page.summary = page.footer = evil;
  page.warnings = {evil};
  page.cards = {{evil, {evil, 1.0}, evil}};
  auto& blocks = page.sections[0].blocks;
  page.sections[0].title = page.sections[0].lead = page.sections[0].id = evil;
  blocks.push_back(ReportText{evil});
  blocks.push_back(ReportCode{evil});
  blocks.push_back(ReportFacts{{{evil, evil}}});
  blocks.push_back(ReportFigure{evil, evil, evil, {evil}, {evil}, {{evil, {1}, {1}}}, {{true, 1, evil}}});
  auto view = std::make_shared<View>(sheet(3, 2));
  view->title = view->parts[0].name = view->sensors[0].name = evil;
  view->notes = {evil};
  blocks.push_back(ReportView{evil, evil, evil, {{evil, view}}, {}});
  blocks.push_back(ReportDetails{evil, {ReportText{evil}}});
  write_page(page, folder.path() / "r.html", diagnostics);
  const OpenedPage opened(folder.path() / "r.html");
  EXPECT_EQ(opened.count("<script>alert"), 0u);
  EXPECT_EQ(opened.count("<b>&"), 0u);
  // scripts are opened and closed as often
  EXPECT_EQ(opened.count("<script"), opened.count("</script>"));
  EXPECT_GE(opened.count("&lt;script&gt;alert(1)"), 14u);
}

TEST(ReportPage, KeepsAllDigitsOfNumbersInTables) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const double third = 1.0 / 3;
  write_page(page_with(ReportTable{"t", "", {"a", "b"}, {{report_number(third, 3, "m"), "-"}}}),
             folder.path() / "r.html", diagnostics);
  const OpenedPage page(folder.path() / "r.html");
  EXPECT_EQ(page.count(">0.333 m</td>"), 1u);
  EXPECT_EQ(std::stod(page.between("data-value=\"", "\"")), third);
}

TEST(ReportPage, MatricesKeepAllDigitsRowByRow) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  ReportMatrix matrix;
  matrix.id = "a <b>";
  matrix.title = matrix.mark = "<b>";
  matrix.row_label = "field";
  matrix.column_label = "mode";
  matrix.value_label = "|cosine|";
  matrix.rows = {"r0", "</script>"};
  matrix.columns = {"c0", "c1", "c2"};
  matrix.values = {1, 1.0 / 3, 0, std::nan(""), 0.1, 1e-300};
  matrix.low = 1e-3;
  matrix.log = true;
  matrix.marked_rows = {1};
  matrix.marked_columns = {0, 2};
  write_page(page_with(matrix), folder.path() / "r.html", diagnostics);
  const OpenedPage page(folder.path() / "r.html");
  const json read = page.figure("f-a--b-");
  EXPECT_EQ(read["x"]["label"], "mode");
  EXPECT_EQ(read["y"]["label"], "field");
  const json& m = read["matrix"];
  EXPECT_EQ(m["rows"], json({"r0", "</script>"}));
  EXPECT_EQ(m["columns"], json({"c0", "c1", "c2"}));
  const auto values = page.array<double>(m["values"]);
  ASSERT_EQ(values.size(), 6u);
  for (const size_t i : {0, 1, 2, 4, 5}) EXPECT_EQ(values[i], matrix.values[i]);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(m["low"], 1e-3);
  EXPECT_EQ(m["high"], 1);
  EXPECT_EQ(m["log"], true);
  EXPECT_EQ(m["marked_rows"], json({1}));
  EXPECT_EQ(m["marked_columns"], json({0, 2}));
  // it is drawn with the library of figures
  EXPECT_EQ(page.count("/* d3, "), 1u);
  EXPECT_EQ(page.count("<script"), page.count("</script>"));
}

TEST(ReportPage, FiguresShareTheirAbscissaAndKeepGaps) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const std::vector<double> x = {0, 0.1, 0.2}, y = {1, std::numeric_limits<double>::quiet_NaN(), 3};
  ReportFigure figure{"f",
                      "figure",
                      "",
                      {"t [s]"},
                      {"x [m]", true},
                      {{"a", x, y}, {"b", x, {4, 5, 6}}},
                      {{false, 2, "limit"}}};
  write_page(page_with(figure), folder.path() / "r.html", diagnostics);
  const OpenedPage page(folder.path() / "r.html");
  const json read = page.figure("f-f");
  ASSERT_EQ(read["xs"].size(), 1u);
  EXPECT_EQ(page.array<double>(read["xs"][0]), x);
  const auto a = page.array<double>(read["series"][0]["y"]);
  EXPECT_EQ(a[0], 1);
  EXPECT_TRUE(std::isnan(a[1]));
  EXPECT_EQ(page.array<double>(read["series"][1]["y"]), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(read["y"]["log"], true);
  EXPECT_EQ(read["marks"][0], (json{{"axis", "y"}, {"at", 2.0}, {"label", "limit"}}));
}

TEST(ReportPage, ViewsTravelOnceAndWithinTheResolutionOfSixteenBits) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const auto view = std::make_shared<View>(sheet(80, 10));
  write_page(page_with(ReportView{"v", "view", "", {{"one", view}, {"two", view}}, {}}),
             folder.path() / "r.html", diagnostics);
  const OpenedPage page(folder.path() / "r.html");
  const json read = page.figure("v-v");
  const json &one = read["runs"][0], &two = read["runs"][1];
  // the second run has the same numbers
  EXPECT_EQ(one["parts"][0]["points"]["blob"], two["parts"][0]["points"]["blob"]);
  EXPECT_EQ(one["motion"]["parts"][0]["displacement"]["basis"]["blob"],
            two["motion"]["parts"][0]["displacement"]["basis"]["blob"]);
  const json& series = one["motion"]["parts"][0]["displacement"];
  const auto basis = page.array<std::int16_t>(series["basis"]);
  const double scale = series["scales"][0];
  const auto& truth = view->motion->parts[0].displacement.basis;
  ASSERT_EQ(basis.size(), static_cast<size_t>(truth.size()));
  double worst = 0;
  for (size_t i = 0; i < basis.size(); ++i)
    worst = std::max(worst, std::abs(scale * basis[i] / 32767 - truth(static_cast<Eigen::Index>(i), 0)));
  // half a step, and the rounding of a float
  EXPECT_LE(worst, scale * (0.5 / 32767 + 1e-6));
  EXPECT_EQ(page.array<std::uint32_t>(one["parts"][0]["triangles"]), view->parts[0].triangles);
  const auto amplitudes = page.array<float>(series["amplitudes"]);
  EXPECT_EQ(amplitudes[7], view->motion->parts[0].displacement.amplitudes(0, 7));
}

TEST(ReportPage, WithoutALibraryItSaysWhichPackageHasIt) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  PageOptions options;
  options.libraries = folder.path();
  ReportFigure figure{"f", "figure", "", {"x"}, {"y"}, {{"s", {1, 2}, {3, 4}}}, {}};
  write_page(page_with(figure), folder.path() / "r.html", diagnostics, options);
  ASSERT_EQ(diagnostics.warnings().size(), 1u);
  EXPECT_NE(diagnostics.warnings()[0].message.find("node-d3"), std::string::npos);
  EXPECT_EQ(OpenedPage(folder.path() / "r.html").count("class=\"missing\""), 1u);
}

TEST(ReportPage, AnOldLibraryIsNamedWithItsVersionAndLeftOut) {
  ReportFigure figure{"f", "figure", "", {"x"}, {"y"}, {{"s", {1, 2}, {3, 4}}}, {}};
  // as the minified scripts of the versions 3, 4 and 5 have it, and one that does not say its version
  const std::vector<std::pair<std::string, bool>> scripts = {{"var d3={version:\"3.5.16\"};", false},
                                                             {"t.versions=[];t.version=\"4.13.0\";", false},
                                                             {"t.version=\"5.16.0\";", true},
                                                             {"t.version = '12.0.1';", true},
                                                             {"t.subversion(\"3\");", true}};
  for (const auto& [script, drawn] : scripts) {
    SCOPED_TRACE(script);
    const TemporaryFolder folder;
    Diagnostics diagnostics;
    PageOptions options;
    options.libraries = folder.path();
    std::ofstream(folder.path() / "d3.min.js") << script;
    write_page(page_with(figure), folder.path() / "r.html", diagnostics, options);
    const OpenedPage page(folder.path() / "r.html");
    EXPECT_EQ(page.count(script), drawn ? 1u : 0u);
    EXPECT_EQ(page.count("class=\"missing\""), drawn ? 0u : 1u);
    ASSERT_EQ(diagnostics.warnings().size(), drawn ? 0u : 1u);
    if (drawn) continue;
    const std::string& message = diagnostics.warnings()[0].message;
    EXPECT_NE(message.find((folder.path() / "d3.min.js").string()), std::string::npos) << message;
    EXPECT_NE(message.find("version 5"), std::string::npos) << message;
    EXPECT_NE(message.find("node-d3"), std::string::npos) << message;
  }
}

TEST(ReportPage, KeepsToTheSizeAskedForAndSaysWhatWasLeftOut) {
  const TemporaryFolder folder;
  Diagnostics diagnostics;
  const auto view = std::make_shared<View>(sheet(300, 50));
  const ReportPage page = page_with(ReportView{"v", "view", "", {{"one", view}}, {}});
  const WrittenPage whole = write_page(page, folder.path() / "whole.html", diagnostics);
  EXPECT_TRUE(whole.notes.empty());
  EXPECT_EQ(whole.bytes, static_cast<std::int64_t>(std::filesystem::file_size(folder.path() / "whole.html")));
  PageOptions options;
  // the libraries alone take 1.2 MB
  options.max_bytes = 1'700'000;
  ASSERT_GT(whole.bytes, options.max_bytes);
  const WrittenPage small = write_page(page, folder.path() / "small.html", diagnostics, options);
  EXPECT_LE(small.bytes, options.max_bytes);
  ASSERT_FALSE(small.notes.empty());
  EXPECT_NE(small.notes[0].find("coarser than the mesh"), std::string::npos) << small.notes[0];
  EXPECT_EQ(OpenedPage(folder.path() / "small.html").figure("v-v")["runs"][0]["notes"].size(),
            small.notes.size());
  EXPECT_TRUE(diagnostics.empty());
}

TEST(ViewThinning, FewerPointsAreOldPointsWithTheirMotionAndNoHoles) {
  const View view = sheet(100, 5), coarse = with_fewer_points(view, 1000);
  const ViewPart &part = coarse.parts[0], &whole = view.parts[0];
  EXPECT_LE(part.points.cols(), 1001);
  EXPECT_GT(part.points.cols(), 300);
  ASSERT_EQ(static_cast<size_t>(part.points.cols()), part.node_ids.size());
  for (Eigen::Index i = 0; i < part.points.cols(); ++i) {
    const Eigen::Index old = part.node_ids[static_cast<size_t>(i)] - 1;
    EXPECT_EQ(part.points.col(i), whole.points.col(old));
    EXPECT_EQ(coarse.motion->parts[0].displacement.basis(3 * i + 2, 0),
              view.motion->parts[0].displacement.basis(3 * old + 2, 0));
  }
  // the sensor stays near: within the diagonal of a cell, some 1 / sqrt(1000) wide
  EXPECT_LT((part.points.col(coarse.sensors[0].point) - whole.points.col(view.sensors[0].point)).norm(),
            0.06);
  // the triangles cover the sheet as before, but for its rim
  double area = 0;
  for (size_t t = 0; t < part.triangles.size(); t += 3) {
    const Eigen::Vector3f a = part.points.col(part.triangles[t]), b = part.points.col(part.triangles[t + 1]),
                          c = part.points.col(part.triangles[t + 2]);
    const Eigen::Vector3f p = b - a, q = c - a;
    area += std::abs(p[0] * q[1] - p[1] * q[0]) / 2;
  }
  EXPECT_GT(area, 0.9);
  EXPECT_LT(area, 1.05);
}

TEST(ViewThinning, FewerFramesKeepTheFirstAndTheLast) {
  const View view = sheet(3, 11), fewer = with_fewer_frames(view, 4);
  ASSERT_EQ(fewer.motion->time.size(), 4);
  EXPECT_EQ(fewer.motion->time[0], 0);
  EXPECT_EQ(fewer.motion->time[1], view.motion->time[4]);
  EXPECT_EQ(fewer.motion->time[3], 1);
  EXPECT_EQ(fewer.motion->parts[0].displacement.amplitudes(0, 3),
            view.motion->parts[0].displacement.amplitudes(0, 10));
}

}  // namespace
}  // namespace lissom::report_page_test
