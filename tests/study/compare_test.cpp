#include "lissom/study/compare.hpp"

#include <gtest/gtest.h>

#include "lissom/core/text.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom {
namespace {

SimulationRun run_of(std::vector<std::string> columns, std::vector<double> times) {
  SimulationRun run;
  run.columns = std::move(columns);
  run.time = Eigen::Map<const Eigen::VectorXd>(times.data(), static_cast<Eigen::Index>(times.size()));
  run.sensors = Eigen::MatrixXd::Zero(run.time.size(), static_cast<Eigen::Index>(run.columns.size()));
  return run;
}

TEST(CompareSensors, TakesTheTimesAndColumnsThatBothHave) {
  SimulationRun reference = run_of({"a.x", "b.x"}, {0, 0.1, 0.2, 0.3});
  // one time differs by round-off, one is of another grid
  SimulationRun run = run_of({"b.x", "c.x"}, {0, 0.1 + 1e-17, 0.15, 0.3});
  reference.sensors.col(1) << 1, 2, 3, -4;
  run.sensors.col(0) << 1, 2.5, 100, -1;
  const SensorComparison comparison = compare_sensors(reference, run);
  ASSERT_EQ(comparison.time.size(), 3);
  EXPECT_EQ(comparison.time[1], 0.1);
  ASSERT_EQ(comparison.sensors.size(), 1u);
  const SensorDifference& b = comparison.sensors[0];
  EXPECT_EQ(b.column, "b.x");
  EXPECT_EQ(b.largest, 3);
  EXPECT_EQ(b.at, 0.3);
  EXPECT_EQ(b.scale, 4);
  EXPECT_DOUBLE_EQ(b.rms, std::sqrt((0.25 + 9) / 3));
  EXPECT_EQ(comparison.missing, (std::vector<std::string>{"a.x", "c.x"}));

  const TemporaryFolder folder;
  write_differences(comparison, folder / "d.csv");
  EXPECT_EQ(read_file(folder / "d.csv"), "t,b.x\n0,0\n0.1,0.5\n0.3,3\n");
}

TEST(CompareSensors, RunsWithoutCommonTimesHaveNoDifferences) {
  const SensorComparison comparison = compare_sensors(run_of({"a"}, {0.5, 1}), run_of({"a"}, {0.6, 0.7}));
  EXPECT_EQ(comparison.time.size(), 0);
  EXPECT_EQ(comparison.sensors.at(0).largest, 0);
}

}  // namespace
}  // namespace lissom
