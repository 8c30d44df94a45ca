#include "lissom/fe/jacobian_check.hpp"

#include <gtest/gtest.h>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/assembly.hpp"
#include "test_meshes.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::jacobian_check_test {
namespace {

using test::box_mesh;

test::BoxOptions cells(int x, int y, int z) {
  test::BoxOptions options;
  options.cells = {x, y, z};
  return options;
}

TEST(JacobianCheck, BoxesAreSoundAndTheirMirrorImagesAreNot) {
  for (const ElementType type : all_element_types) {
    test::BoxOptions options;
    options.distortion = 0.2;
    Mesh mesh = box_mesh(type, options);
    EXPECT_EQ(find_unsound_elements(mesh).count, 0) << name_of(type);
    check_elements(mesh);
    mesh.points.row(1) *= -1;
    EXPECT_EQ(find_unsound_elements(mesh).count, mesh.element_count()) << name_of(type);
    EXPECT_NE(message_of<InputError>([&] { check_elements(mesh); }).find("probably not the file format's"),
              std::string::npos);
  }
}

// On the edge from corner a to corner b with its mid-side node at a + t (b - a), dx/dxi at a is (4 t - 1) times
// the edge: it vanishes at the quarter point, and beyond it the element is folded over.
TEST(JacobianCheck, AnEdgeIsFoldedOverWhereItsMidSideNodeIsBeyondTheQuarterPoint) {
  for (const ElementType type : {ElementType::Tet10, ElementType::Hex20, ElementType::Wedge15})
    for (const double t : {0.2, 0.24, 0.25, 0.26, 0.5, 0.74, 0.75, 0.76}) {
      Mesh mesh = box_mesh(type, cells(2, 1, 1));
      const auto nodes = mesh.element_nodes(0);
      const auto [a, b] = mid_side_edges(type)[0];
      mesh.points.col(nodes[static_cast<size_t>(corner_count(type))]) =
          (1 - t) * mesh.points.col(nodes[a]) + t * mesh.points.col(nodes[b]);
      const bool sound = t >= 0.25 && t <= 0.75;
      EXPECT_EQ(JacobianCheck()(mesh, 0).sound, sound) << name_of(type) << " " << t;
      if (sound) continue;
      // its matrices can be computed all the same: the integration points lie inside
      Eigen::Matrix3Xd x(3, nodes.size());
      for (size_t k = 0; k < nodes.size(); ++k) x.col(static_cast<int>(k)) = mesh.points.col(nodes[k]);
      EXPECT_NO_THROW(element_stiffness(type, x, test::steel())) << name_of(type) << " " << t;
      Diagnostics diagnostics;
      const std::string message = message_of<InputError>([&] { assemble(mesh, {}, diagnostics); });
      EXPECT_NE(message.find("elements have a zero or negative Jacobian: 1"), std::string::npos) << message;
      EXPECT_NE(message.find("mid-side nodes"), std::string::npos) << message;
    }
}

TEST(JacobianCheck, FlatElementsAndCoordinatesThatAreNoNumbersAreNotSound) {
  Mesh flat = box_mesh(ElementType::Tet4, cells(1, 1, 1));
  flat.points.row(2).setZero();
  EXPECT_EQ(find_unsound_elements(flat).count, flat.element_count());
  Mesh mesh = box_mesh(ElementType::Hex8, cells(3, 1, 1));
  mesh.points(0, mesh.element_nodes(0)[0]) = std::nan("");
  EXPECT_EQ(find_unsound_elements(mesh).first, std::vector<int>{0});
}

TEST(JacobianCheck, TheMessageNamesFileCountTenElementsAndTheWorst) {
  Mesh mesh = box_mesh(ElementType::Tet4);
  mesh.source = "part.inp";
  for (int e = 0; e < 12; ++e) std::swap(mesh.connectivity[4 * e + 1], mesh.connectivity[4 * e + 2]);
  const std::string message = message_of<InputError>([&] { check_elements(mesh); });
  EXPECT_EQ(message.find("part.inp: 12 of 48 elements have a zero or negative Jacobian: 1, 2, 3, 4, 5, 6, 7, "
                         "8, 9, 10, ...; the worst is element "),
            0u)
      << message;
  EXPECT_NE(message.find("(tet4) with -"), std::string::npos) << message;
}

}  // namespace
}  // namespace lissom::jacobian_check_test
