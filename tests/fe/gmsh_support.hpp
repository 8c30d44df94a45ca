// What the tests of the Gmsh reader share: a folder for files, the real gmsh program, and geometrical checks
// that do not depend on how the reader orders nodes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <Eigen/Dense>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom {

// A folder of its own for each test, removed at the end.
class FolderTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    return temporary_.write(name, text);
  }
  // The mesh file that the gmsh program makes of a geometry.
  std::string run_gmsh(const std::string& geometry, const std::string& options) const {
    const auto geo = write("model.geo", geometry), msh = folder_ / "model.msh";
    std::filesystem::remove(msh);
    const std::string command =
        "gmsh " + geo.string() + " " + options + " -v 0 -o " + msh.string() + " >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return read_file(msh);
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

// The text of the InputError that the call throws.
template <class Call>
std::string input_error_of(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no InputError was thrown)";
}

// Whether the text has all of the parts, in this order.
inline testing::AssertionResult contains(const std::string& text,
                                         std::initializer_list<std::string_view> parts) {
  size_t from = 0;
  for (std::string_view part : parts) {
    from = text.find(part, from);
    if (from == std::string::npos)
      return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
  }
  return testing::AssertionSuccess();
}
// The same, where the text begins with the first of them.
inline testing::AssertionResult begins_with(const std::string& text,
                                            std::initializer_list<std::string_view> parts) {
  if (!text.starts_with(*parts.begin())) return testing::AssertionFailure() << "does not begin so: " << text;
  return contains(text, parts);
}

// Volume of an element with flat faces from its corners, split into tetrahedra; negative when it is inside
// out.
inline double corner_volume(const Mesh& mesh, int e) {
  static const std::vector<std::array<int, 4>> tet = {{0, 1, 2, 3}},
                                               wedge = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}},
                                               hex = {{0, 1, 3, 4},
                                                      {1, 2, 3, 6},
                                                      {1, 3, 4, 6},
                                                      {1, 4, 5, 6},
                                                      {3, 4, 6, 7}};
  const int corners = corner_count(mesh.types[e]);
  const auto nodes = mesh.element_nodes(e);
  const auto x = [&](int i) -> Eigen::Vector3d { return mesh.points.col(nodes[i]); };
  double volume = 0;
  for (const auto& t : corners == 4 ? tet : corners == 6 ? wedge : hex) {
    const double v = (x(t[1]) - x(t[0])).cross(x(t[2]) - x(t[0])).dot(x(t[3]) - x(t[0])) / 6;
    // all pieces of a sound element have one sign; the splits above are written without regard to it
    volume += std::abs(v);
  }
  // orientation: the first three corners, seen from the one above them
  const int above = corners == 4 ? 3 : corners == 6 ? 3 : 4, third = corners == 8 ? 3 : 2;
  const bool positive = (x(1) - x(0)).cross(x(third) - x(0)).dot(x(above) - x(0)) > 0;
  return positive ? volume : -volume;
}

inline double corner_volume(const Mesh& mesh) {
  double volume = 0;
  for (int e = 0; e < mesh.element_count(); ++e) volume += corner_volume(mesh, e);
  return volume;
}

// The farthest that any mid-side node lies from the middle of its two corners, in lengths of that edge.
inline double worst_mid_side_offset(const Mesh& mesh) {
  double worst = 0;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    const auto edges = mid_side_edges(mesh.types[e]);
    for (size_t k = 0; k < edges.size(); ++k) {
      const Eigen::Vector3d a = mesh.points.col(nodes[edges[k][0]]), b = mesh.points.col(nodes[edges[k][1]]);
      const Eigen::Vector3d m = mesh.points.col(nodes[corner_count(mesh.types[e]) + k]);
      worst = std::max(worst, (m - (a + b) / 2).norm() / (a - b).norm());
    }
  }
  return worst;
}

}  // namespace lissom
