#include "lissom/io/view_file.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lissom/core/text.hpp"
#include "lissom/io/hdf5_schema.hpp"
#include "tests/io/hdf5_file_checks.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::view_file_test {
namespace {

using Eigen::MatrixXf;
using test::expect_same;

MatrixXf floats(Eigen::Index rows, Eigen::Index cols) {
  static std::mt19937 random(3);
  std::normal_distribution<float> normal;
  return MatrixXf::NullaryExpr(rows, cols, [&] { return normal(random); });
}

ViewSeries some_series(Eigen::Index rows, Eigen::Index rank, Eigen::Index frames) {
  ViewSeries series;
  series.basis = floats(rows, rank);
  series.amplitudes = floats(rank, frames);
  series.largest = 0.3;
  series.error = 1e-5;
  return series;
}

// A tetrahedron with everything, and a triangle that only moves.
View sample_view() {
  View view;
  view.title = "four-bar <b>&\"</b>";
  ViewPart tet;
  tet.name = "rod/1";
  tet.points = floats(3, 4);
  tet.node_ids = {3, 1, 4'000'000'000, 7};
  tet.triangles = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  tet.edges = {0, 1, 1, 2};
  tet.mesh_nodes = 12;
  ViewPart plate;
  plate.name = "plate";
  plate.points = floats(3, 3);
  plate.node_ids = {-1, -1, -1};
  plate.triangles = {0, 1, 2};
  view.parts = {tet, plate};
  ViewMotion motion;
  motion.time = Eigen::VectorXd::LinSpaced(5, 0, 0.4);
  for (const ViewPart& part : view.parts) {
    ViewMotion::Part moving;
    moving.position = floats(3, 5).cast<double>();
    moving.rotation = floats(4, 5).cast<double>().colwise().normalized();
    const Eigen::Index n = part.points.cols();
    moving.has_stress = n == 4;
    moving.displacement = some_series(3 * n, moving.has_stress ? 2 : 0, 5);
    if (moving.has_stress) moving.stress = some_series(6 * n, 3, 5);
    motion.parts.push_back(moving);
  }
  view.motion = motion;
  ViewShapes shapes;
  shapes.modes = {{"mode 1", 12.5, 0.01}, {"mode 2", 99, 0}};
  for (const ViewPart& part : view.parts) {
    ViewShapes::Part shape;
    shape.position = {1, 2, 3};
    shape.rotation = {0.6, 0, 0, 0.8};
    shape.real = floats(3 * part.points.cols(), 2);
    if (part.points.cols() == 4) shape.imaginary = floats(12, 2);
    shapes.parts.push_back(shape);
  }
  view.shapes = shapes;
  view.sensors = {{"tip", 0, 3, {"tip.x", "tip.y"}}, {"plate", 1, 0, {}}};
  view.notes = {"Half of it was left out.", "So was the rest."};
  return view;
}

void expect_same_series(const ViewSeries& a, const ViewSeries& b) {
  expect_same(a.basis, b.basis);
  expect_same(a.amplitudes, b.amplitudes);
  expect_same(a.largest, b.largest);
  expect_same(a.error, b.error);
}

void expect_same_view(const View& a, const View& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.notes, b.notes);
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (size_t p = 0; p < a.parts.size(); ++p) EXPECT_EQ(a.parts[p], b.parts[p]);
  ASSERT_EQ(a.motion.has_value(), b.motion.has_value());
  if (a.motion) {
    expect_same(a.motion->time, b.motion->time);
    ASSERT_EQ(a.motion->parts.size(), b.motion->parts.size());
    for (size_t p = 0; p < a.motion->parts.size(); ++p) {
      const ViewMotion::Part &x = a.motion->parts[p], &y = b.motion->parts[p];
      expect_same(x.position, y.position);
      expect_same(x.rotation, y.rotation);
      expect_same_series(x.displacement, y.displacement);
      ASSERT_EQ(x.has_stress, y.has_stress);
      if (x.has_stress) expect_same_series(x.stress, y.stress);
    }
  }
  ASSERT_EQ(a.shapes.has_value(), b.shapes.has_value());
  if (a.shapes) {
    ASSERT_EQ(a.shapes->modes.size(), b.shapes->modes.size());
    for (size_t k = 0; k < a.shapes->modes.size(); ++k) {
      EXPECT_EQ(a.shapes->modes[k].label, b.shapes->modes[k].label);
      expect_same(a.shapes->modes[k].frequency_hz, b.shapes->modes[k].frequency_hz);
      expect_same(a.shapes->modes[k].damping_ratio, b.shapes->modes[k].damping_ratio);
    }
    for (size_t p = 0; p < a.shapes->parts.size(); ++p) {
      expect_same(a.shapes->parts[p].position, b.shapes->parts[p].position);
      expect_same(a.shapes->parts[p].rotation, b.shapes->parts[p].rotation);
      expect_same(a.shapes->parts[p].real, b.shapes->parts[p].real);
      expect_same(a.shapes->parts[p].imaginary, b.shapes->parts[p].imaginary);
    }
  }
  ASSERT_EQ(a.sensors.size(), b.sensors.size());
  for (size_t i = 0; i < a.sensors.size(); ++i) {
    EXPECT_EQ(a.sensors[i].name, b.sensors[i].name);
    EXPECT_EQ(a.sensors[i].part, b.sensors[i].part);
    EXPECT_EQ(a.sensors[i].point, b.sensors[i].point);
    EXPECT_EQ(a.sensors[i].columns, b.sensors[i].columns);
  }
}

View read_back(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  View view = read_view_file(path, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return view;
}

std::string refusal_of_view(const std::filesystem::path& path) {
  return message_of<InputError>([&] {
    Diagnostics diagnostics;
    read_view_file(path, diagnostics);
  });
}

TEST(ViewFile, ComesBackBitByBit) {
  const TemporaryFolder folder;
  const View view = sample_view();
  write_view_file(folder / "motion.view.h5", view);
  EXPECT_TRUE(is_view_file(folder / "motion.view.h5"));
  expect_same_view(view, read_back(folder / "motion.view.h5"));
  // an empty one, and one of modes alone
  write_view_file(folder / "empty.view.h5", View{});
  expect_same_view(View{}, read_back(folder / "empty.view.h5"));
  View modes = view;
  modes.motion.reset();
  modes.notes.clear();
  modes.sensors.clear();
  write_view_file(folder / "modes.view.h5", modes);
  expect_same_view(modes, read_back(folder / "modes.view.h5"));
}

TEST(ViewFile, TheBoxIsThatOfTheFirstFrame) {
  View view;
  ViewPart part;
  part.points.setZero(3, 2);
  part.points.col(1) << 1, 0, 0;
  part.node_ids = {1, 2};
  view.parts = {part};
  EXPECT_EQ(view.points(), 2);
  EXPECT_EQ(view.box().second, Eigen::Vector3d(1, 0, 0));
  ViewMotion motion;
  motion.time = Eigen::VectorXd::Zero(1);
  ViewMotion::Part moving;
  moving.position = Eigen::Vector3d(1, 1, 1);
  moving.rotation = Eigen::Vector4d(0, 0, std::sqrt(0.5), std::sqrt(0.5));  // x becomes y
  moving.displacement.basis = MatrixXf::Zero(6, 1);
  moving.displacement.basis(3, 0) = 1;
  moving.displacement.amplitudes = MatrixXf::Constant(1, 1, 0.5F);
  motion.parts = {moving};
  view.motion = motion;
  const auto box = view.box();
  EXPECT_TRUE(box.first.isApprox(Eigen::Vector3d(1, 1, 1), 1e-12));
  EXPECT_TRUE(box.second.isApprox(Eigen::Vector3d(1, 2.5, 1), 1e-12));
  EXPECT_EQ(View{}.box().second, Eigen::Vector3d(0, 0, 0));
}

TEST(ViewFile, EveryDatasetIsInTheReferencePage) {
  const TemporaryFolder folder;
  write_view_file(folder / "v.h5", sample_view());
  // parts are numbered, and the page calls the number P
  const std::string page = test::reference_page("view-file");
  std::string all = page;
  for (const char* number : {"0", "1"}) {
    std::string one = page;
    for (size_t at; (at = one.find("/P/")) != std::string::npos;) one.replace(at + 1, 1, number);
    all += one;
  }
  EXPECT_EQ(test::expect_datasets_documented(folder / "v.h5", all), 35);
}

TEST(ViewFile, DamagedNewerAndOtherFilesAreRefused) {
  const TemporaryFolder folder;
  const View view = sample_view();
  write_view_file(folder / "v.h5", view);
  test::expect_truncations_refused(folder, folder / "v.h5", 1511, refusal_of_view);
  // refused, or the same
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "v.h5", 97, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        expect_same_view(view, read_view_file(path, diagnostics));
      });
  EXPECT_GT(refused, 50);
  EXPECT_NE(refusal_of_view(folder / "none.h5").find("no such file"), std::string::npos);
  write_bytes(folder / "text.h5", "time,tip.x\n");
  EXPECT_FALSE(is_view_file(folder / "text.h5"));
  EXPECT_NE(refusal_of_view(folder / "text.h5"), "");
  for (const bool newer : {true, false}) {
    hdf5::File h5 = hdf5::File::create(folder / "other.h5");
    {
      hdf5::Group root = h5.root();
      write_format(root, newer ? "lissom-view" : "lissom-stress", view_file_version + 1);
    }
    h5.close();
    EXPECT_NE(refusal_of_view(folder / "other.h5").find(newer ? "newer" : "view"), std::string::npos);
  }
}

TEST(ViewFile, PointsThatAreNotThereAndNumbersThatCannotBeDrawnAreRefused) {
  const TemporaryFolder folder;
  View view = sample_view();
  view.parts[0].triangles[4] = 4;
  write_view_file(folder / "v.h5", view);
  EXPECT_NE(refusal_of_view(folder / "v.h5").find("the index 4 is outside 0 .. 3"), std::string::npos);
  view = sample_view();
  view.sensors[0].point = 4;
  write_view_file(folder / "v.h5", view);
  EXPECT_NE(refusal_of_view(folder / "v.h5").find("/sensors/point"), std::string::npos);
  view = sample_view();
  view.motion->parts[0].displacement.basis(2, 1) = std::nanf("");
  write_view_file(folder / "v.h5", view);
  EXPECT_NE(refusal_of_view(folder / "v.h5").find("not finite"), std::string::npos);
  view = sample_view();
  view.motion->time[2] = -1;
  write_view_file(folder / "v.h5", view);
  EXPECT_NE(refusal_of_view(folder / "v.h5").find("do not ascend"), std::string::npos);
}

}  // namespace
}  // namespace lissom::view_file_test
