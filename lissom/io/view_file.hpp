// A picture that moves: surfaces of bodies, and their motion or modes as few shapes and many amplitudes, so
// that a browser can expand any frame by itself. Views are written beside results (*.view.h5, schema in
// docs/reference/view-file.md; change the two together) and read by the report.
//
// A point X of a part is shown at x = p + R (X + s u), with p and R the part's place at the frame, s the
// scale of deformation, and u = basis * amplitudes. SI units.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"

namespace lissom {

inline constexpr int view_file_version = 1;

// The surface of a body (n points).
struct ViewPart {
  std::string name;
  Eigen::Matrix3Xf points;               // in the part's own axes, undeformed [m]
  std::vector<std::int64_t> node_ids;    // n; -1 of points that are no nodes (the skin of a beam)
  std::vector<std::uint32_t> triangles;  // three points each, counter-clockwise from outside
  std::vector<std::uint32_t> edges;      // two points each: the elements' edges
  std::int64_t mesh_nodes = 0;           // of the whole body, of which the surface is a part
  bool operator==(const ViewPart&) const = default;
};

// Fields on the points at all frames: basis (c n by r, the c components of point after point) times
// amplitudes (r by frames). r = 0: zero, or not known.
struct ViewSeries {
  Eigen::MatrixXf basis, amplitudes;
  double largest = 0;  // of a point over all frames: |u| [m], or von Mises stress [Pa]
  double error = 0;    // largest difference from the field that it stands for, in the same measure
  int rank() const { return static_cast<int>(basis.cols()); }
};

struct ViewMotion {
  Eigen::VectorXd time;  // frames [s], ascending
  struct Part {
    Eigen::Matrix3Xd position;  // p at the frames
    Eigen::Matrix4Xd rotation;  // R as a unit quaternion x y z w, neighbours in one half of the sphere
    ViewSeries displacement;    // 3 n by r [m]
    ViewSeries stress;          // 6 n by r, xx yy zz xy yz zx [Pa]; r = 0 where it is not known
    bool has_stress = false;
  };
  std::vector<Part> parts;  // one for each of the view
};

// Modes of a body, or of a mechanism that was linearised: u(t) = Re((real + i imaginary) exp(i t)).
struct ViewShapes {
  struct Mode {
    std::string label;  // "mode 3"
    double frequency_hz = 0, damping_ratio = 0;
  };
  std::vector<Mode> modes;
  struct Part {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Eigen::Vector4d rotation = {0, 0, 0, 1};
    Eigen::MatrixXf real, imaginary;  // 3 n by modes, largest |u| over all parts 1; no imaginary: zero
  };
  std::vector<Part> parts;
};

// A sensor that sits on a part: picking it shows its curves.
struct ViewSensor {
  std::string name;
  int part = 0;
  std::uint32_t point = 0;           // of the part's points, the nearest one
  std::vector<std::string> columns;  // of the result: "tip.x"
};

struct View {
  std::string title;
  std::vector<ViewPart> parts;
  std::optional<ViewMotion> motion;
  std::optional<ViewShapes> shapes;
  std::vector<ViewSensor> sensors;
  std::vector<std::string> notes;  // what was left out or simplified, in whole sentences
  std::int64_t points() const;
  // The points of the first frame, or of the modes' places, lie in this box; both zero without points.
  std::pair<Eigen::Vector3d, Eigen::Vector3d> box() const;
};

void write_view_file(const std::filesystem::path& path, const View& view);
// Throws InputError: no such file, not a view, newer, truncated, damaged.
View read_view_file(const std::filesystem::path& path, Diagnostics& diagnostics);
bool is_view_file(const std::filesystem::path& path);

}  // namespace lissom
