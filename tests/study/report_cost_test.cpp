// What a report costs where a study has very many sensors, in calls of malloc: seconds would be no test.
#include <gtest/gtest.h>

#include "lissom/io/result_file.hpp"
#include "lissom/io/view_file.hpp"
#include "lissom/report/report.hpp"
#include "lissom/report/report_runs.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/study/report_found.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::report_cost_test {
namespace {

// Too long for a text without memory of its own.
std::string sensor_name(int i) {
  return fmt::format("accelerometer on the rod, number {}", i);
}

// Three samples of `count` sensors that measure places, with a view that has them all.
void write_run(const std::filesystem::path& folder, int count) {
  ResultHeader header;
  header.title = "a rod full of sensors";
  header.study = "units = \"SI\"\n";
  header.integrator = "hht-i3";
  header.bodies = {{"rod", "ffrf", 0, 2, 1}};
  View view;
  view.title = header.title;
  ViewPart part;
  part.name = "rod";
  part.points = Eigen::Matrix3Xf::Identity(3, 3);
  part.node_ids = {1, 2, 3};
  part.triangles = {0, 1, 2};
  view.parts = {part};
  ViewMotion motion;
  motion.time = Eigen::VectorXd::LinSpaced(3, 0, 0.2);
  ViewMotion::Part moving;
  moving.position = Eigen::Matrix3Xd::Zero(3, 3);
  moving.rotation = Eigen::Vector4d(0, 0, 0, 1).replicate(1, 3);
  moving.displacement.basis.resize(9, 0);
  moving.displacement.amplitudes.resize(0, 3);
  motion.parts = {moving};
  view.motion = motion;
  for (int i = 0; i < count; ++i) {
    ViewSensor sensor;
    sensor.name = sensor_name(i);
    for (const char* axis : {".x", ".y", ".z"}) {
      sensor.columns.push_back(sensor.name + axis);
      header.sensors.push_back(sensor.columns.back());
      header.sensor_units.push_back("m");
    }
    view.sensors.push_back(sensor);
  }
  write_view_file(folder / "motion.view.h5", view);
  ResultWriter writer(folder / "result.h5", header);
  for (int k = 0; k < 3; ++k) {
    State state;
    state.t = 0.1 * k;
    state.q = state.v = state.a = Eigen::VectorXd::Constant(2, k);
    state.lambda = Eigen::VectorXd(0);
    writer.add(state, Eigen::VectorXd::Constant(3 * count, 1.0 + k), {}, {}, {}, 0);
  }
  ResultEnd end;
  end.status = RunStatus::Complete;
  writer.finish(end);
}

TEST(ReportCost, EverySensorHasItsFigureAndItsCurveInTheView) {
  const TemporaryFolder folder;
  write_run(folder.path(), 40);
  Diagnostics diagnostics;
  ReportDraft draft;
  draft.page = make_report(folder.path(), diagnostics);
  const auto& view = block_of<ReportView>(draft, "motion");
  ASSERT_EQ(view.curves.size(), 40U);
  EXPECT_EQ(view.curves[17].title, sensor_name(17));
  EXPECT_EQ(view.curves[17].series.size(), 3U);
  const auto& figure = block_of<ReportFigure>(draft, "sensor-" + report_id(sensor_name(39) + " m"));
  EXPECT_EQ(series_of(figure, sensor_name(39) + ".z").y, (std::vector<double>{1, 2, 3}));
}

#if LISSOM_COUNTS_MALLOC
// Four times the sensors take four times the work; 16 times where every sensor looks at all others.
TEST(ReportCost, GrowsInProportionToTheSensors) {
  const auto cost = [](int count) {
    const TemporaryFolder folder;
    write_run(folder.path(), count);
    Diagnostics diagnostics;
    const long before = test::allocations;
    write_report(folder.path(), folder / "report.html", diagnostics);
    return test::allocations - before;
  };
  const long few = cost(100), many = cost(400);
  EXPECT_GT(few, 100);
  EXPECT_LT(many, 6 * few);
}
#endif

}  // namespace
}  // namespace lissom::report_cost_test
