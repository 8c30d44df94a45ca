// Small meshes for tests: boxes of every element type, straight, distorted or curved.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "lissom/fe/mesh.hpp"
#include "lissom/fe/shape_functions.hpp"

namespace lissom::test {

inline Material steel() {
  Material material;
  material.name = "steel";
  material.isotropic = Isotropic{210e9, 0.3};
  material.density = 7850;
  return material;
}

struct BoxOptions {
  std::array<int, 3> cells = {2, 2,
                              2};    // bricks in x, y, z; a tet mesh has 6 tets, a wedge mesh 2 wedges each
  Eigen::Vector3d size = {1, 1, 1};  // [m]
  // Random shift of the inner corners, as a fraction of a cell (up to about 0.2); sides stay straight and
  // mid-side nodes in their middle. The box keeps its outline.
  double distortion = 0;
  // Applied to every node, mid-side nodes included, so that a non-linear map gives curved elements.
  std::function<Eigen::Vector3d(const Eigen::Vector3d&)> map;
};

// The box [0, size] with one material, steel(). Node ids 1.., element ids 1.. . Node sets "x0", "x1", "y0",
// ... hold the nodes of the six faces.
inline Mesh box_mesh(ElementType type, const BoxOptions& options = {}) {
  using Lattice = std::array<int, 3>;  // twice the cell index, so that mid-side nodes are integers too
  // corners of the elements that a unit brick is cut into
  std::vector<std::vector<Lattice>> pieces;
  const int corners = corner_count(type);
  if (corners == 8) {
    pieces = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
  } else if (corners == 6) {
    pieces = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}},
              {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
  } else {
    // Kuhn's six tets along the diagonal; odd permutations have two nodes exchanged to stay positive
    constexpr int permutations[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (int k = 0; k < 6; ++k) {
      std::vector<Lattice> tet = {{0, 0, 0}};
      for (const int direction : permutations[k]) {
        tet.push_back(tet.back());
        tet.back()[direction] = 1;
      }
      if (k >= 3) std::swap(tet[1], tet[2]);
      pieces.push_back(tet);
    }
  }

  // elements over lattice points; nodes are numbered as they come
  MeshBuilder builder("box");
  builder.mesh().materials.push_back(steel());
  std::map<Lattice, std::int64_t> ids;
  std::int64_t element_id = 0;
  for (int k = 0; k < options.cells[2]; ++k)
    for (int j = 0; j < options.cells[1]; ++j)
      for (int i = 0; i < options.cells[0]; ++i)
        for (const auto& piece : pieces) {
          std::vector<Lattice> points;
          for (const Lattice& c : piece) points.push_back({2 * (i + c[0]), 2 * (j + c[1]), 2 * (k + c[2])});
          for (const auto& [a, b] : mid_side_edges(type))
            points.push_back({(points[a][0] + points[b][0]) / 2, (points[a][1] + points[b][1]) / 2,
                              (points[a][2] + points[b][2]) / 2});
          std::vector<std::int64_t> nodes;
          for (const Lattice& p : points)
            nodes.push_back(ids.try_emplace(p, static_cast<std::int64_t>(ids.size()) + 1).first->second);
          builder.add_element(type, ++element_id, nodes, 0, {"box", 0});
        }

  // corner positions with their shifts
  const Eigen::Vector3d cell(options.size[0] / options.cells[0], options.size[1] / options.cells[1],
                             options.size[2] / options.cells[2]);
  const auto corner = [&](const Lattice& p) {
    // the random numbers depend on the lattice point only, so that all types get the same corners
    std::minstd_rand random(1 + 7919 * p[0] + 104729 * p[1] + 1299709 * p[2]);
    random.discard(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Eigen::Vector3d x;
    for (int d = 0; d < 3; ++d) {
      const double shift = options.distortion * uniform(random);
      const bool inner = p[d] > 0 && p[d] < 2 * options.cells[d];
      x[d] = cell[d] * (p[d] / 2 + (inner ? shift : 0.0));
    }
    return x;
  };
  std::vector<const Lattice*> by_id(ids.size());
  for (const auto& [p, id] : ids) by_id[id - 1] = &p;
  for (size_t n = 0; n < by_id.size(); ++n) {
    // a mid-side node lies between the two corners at its odd coordinates, whose other end is in line
    const Lattice& p = *by_id[n];
    Lattice low = p, high = p;
    for (int d = 0; d < 3; ++d) {
      low[d] -= p[d] % 2;
      high[d] += p[d] % 2;
    }
    const Eigen::Vector3d x = (corner(low) + corner(high)) / 2;
    const std::int64_t id = static_cast<std::int64_t>(n) + 1;
    builder.add_node(id, options.map ? options.map(x) : x, {"box", 0});
    const char* names[3][2] = {{"x0", "x1"}, {"y0", "y1"}, {"z0", "z1"}};
    for (int d = 0; d < 3; ++d) {
      if (p[d] == 0) builder.add_to_node_set(names[d][0], {&id, 1}, {"box", 0});
      if (p[d] == 2 * options.cells[d]) builder.add_to_node_set(names[d][1], {&id, 1}, {"box", 0});
    }
  }
  return builder.finish();
}

// A smooth map that bends, twists and bulges a box of about unit size: curved sides, varying Jacobian.
inline Eigen::Vector3d curved(const Eigen::Vector3d& x) {
  return {x[0] + 0.12 * x[1] * x[1] - 0.05 * x[2] * x[0], x[1] + 0.1 * std::sin(2 * x[0]) + 0.06 * x[2],
          x[2] + 0.08 * x[0] * x[1] - 0.07 * x[1] * x[1]};
}

// One element: the natural one, sheared and with its corners shifted; mid-side nodes of quadratic elements
// are moved off their straight sides by `bulge`.
inline Mesh single_element(ElementType type, double shift = 0.1, double bulge = 0.05) {
  Eigen::Matrix3Xd x = node_coordinates(type);
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto noise = [&] { return Eigen::Vector3d(uniform(random), uniform(random), uniform(random)); };
  const int corners = corner_count(type);
  for (int a = 0; a < corners; ++a) x.col(a) += shift * noise();
  int mid = corners;
  for (const auto& [i, j] : mid_side_edges(type)) x.col(mid++) = (x.col(i) + x.col(j)) / 2 + bulge * noise();
  Eigen::Matrix3d shear;
  shear << 1, 0.2, 0.1, -0.1, 0.9, 0.15, 0.05, -0.2, 1.1;
  x = shear * x;
  MeshBuilder builder("single");
  builder.mesh().materials.push_back(steel());
  std::vector<std::int64_t> nodes;
  for (int a = 0; a < x.cols(); ++a) {
    builder.add_node(a + 1, x.col(a), {"single", 0});
    nodes.push_back(a + 1);
  }
  builder.add_element(type, 1, nodes, 0, {"single", 0});
  return builder.finish();
}

// The points of one element, 3 by n.
inline Eigen::Matrix3Xd element_points(const Mesh& mesh, int e) {
  Eigen::Matrix3Xd x(3, mesh.element_nodes(e).size());
  int a = 0;
  for (const int node : mesh.element_nodes(e)) x.col(a++) = mesh.points.col(node);
  return x;
}

}  // namespace lissom::test
