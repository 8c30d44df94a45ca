#include "lissom/report/run_summary.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "tests/temporary_folder.hpp"

namespace lissom::run_summary_test {
namespace {

using nlohmann::json;

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

json reduced_body(double bound) {
  return {{"nodes", 419},
          {"mass", 0.5},
          {"seconds", {{"total", 0.25}}},
          {"reduce",
           {{"degrees_of_freedom", 1257},
            {"coordinates", 16},
            {"errors", json::array({{{"bound", bound / 2}, {"zeta_2", 0.01}},
                                    {{"bound", bound}, {"zeta_2", 0.02}}})}}}};
}

TEST(RunSummary, ShowsAReductionWithItsProvenError) {
  const json summary = {{"title", "rod"}, {"bodies", {{"rod", reduced_body(0.00024)}}}};
  const std::string text = run_summary(summary, {}, {});
  EXPECT_NE(text.find("1257 -> 16 coordinates"), std::string::npos) << text;
  EXPECT_NE(text.find("proven below 0.024 %"), std::string::npos) << text;
}

TEST(RunSummary, SaysThatAnErrorIsAnEstimateWhereOneModeHasNoBound) {
  json body = reduced_body(0.1);
  body["reduce"]["errors"][0]["bound"] = nullptr;
  const std::string text = run_summary({{"title", "rod"}, {"bodies", {{"rod", body}}}}, {}, {});
  EXPECT_NE(text.find("2 % by estimate"), std::string::npos) << text;
  EXPECT_EQ(text.find("proven"), std::string::npos) << text;
}

TEST(RunSummary, FitsOneScreenWhateverTheNumberOfBodiesAndCases) {
  json summary = {{"title", "many"}, {"bodies", json::object()}, {"models", json::object()}};
  for (int k = 0; k < 100; ++k) {
    summary["bodies"]["body " + std::to_string(k)] = reduced_body(0.1);
    summary["models"]["model " + std::to_string(k)] = {
        {"unknowns", k}, {"seconds", 1.0}, {"real_time_factor", 2.0}};
  }
  const std::string text = run_summary(summary, {}, {});
  EXPECT_LE(lines(text), 40) << text;
  EXPECT_NE(text.find("... and 92 more"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 88 more"), std::string::npos) << text;
}

TEST(RunSummary, NamesModelsFarFromTheirTraining) {
  json summary = {{"title", "t"}};
  summary["models"]["m6"] = {{"unknowns", 6},
                             {"largest_error", 1.5e-8},
                             {"motion", 0.087},
                             {"times_faster", 522.07},
                             {"seconds", 0.01},
                             {"real_time_factor", 16.7},
                             {"trust", {{"largest", 376.0}, {"threshold", 3.0}}}};
  summary["models"]["study"] = {{"unknowns", 330}, {"seconds", 6.2}, {"real_time_factor", 0.03}};
  const std::string text = run_summary(summary, {}, {});
  EXPECT_NE(text.find("1.5e-08 of 0.087 m"), std::string::npos) << text;
  EXPECT_NE(text.find("522.1"), std::string::npos) << text;
  EXPECT_NE(text.find("not to be trusted: m6"), std::string::npos) << text;
  EXPECT_LT(text.find("the study itself"), text.find("m6 ")) << "the reference comes first";
}

TEST(RunSummary, DrawsTheFirstSensorOfTheRun) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "sensors.csv") << "t,tip.x,tip.y,other.x\n0,0,5,1\n1,1,5,2\n2,2,5,3\n";
  Terminal terminal;
  terminal.unicode = true;
  const std::string text = run_summary({{"title", "t"}}, folder.path(), terminal);
  EXPECT_NE(text.find("tip.x             ▁▅█  0 to 2"), std::string::npos) << text;
  EXPECT_EQ(text.find("tip.y"), std::string::npos) << "it does not move";
  EXPECT_EQ(text.find("other.x"), std::string::npos) << text;
}

TEST(RunSummary, EscapesWhatATerminalWouldObey) {
  const std::string text = run_summary({{"title", "a\x1b[31mb"}}, {}, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(RunSummary, TakesSummariesThatLackEverything) {
  for (const json& summary :
       {json::object(), json(nullptr), json::array(), json{{"bodies", {{"a", nullptr}}}},
        json{{"models", {{"a", nullptr}}}, {"training", json::object()}},
        json{{"linearisation", json::object()}, {"response", json::object()}, {"sweep", json::object()}}})
    EXPECT_NO_THROW(run_summary(summary, {}, {})) << summary;
}

}  // namespace
}  // namespace lissom::run_summary_test
