// The surface of a solid mesh as triangles, for pictures.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "lissom/fe/mesh.hpp"

namespace lissom {

// Points are nodes of the mesh, numbered from 0 on.
struct Surface {
  std::vector<int> nodes;                // of each point its node of the mesh (index), ascending
  std::vector<std::uint32_t> triangles;  // three points each, counter-clockwise from outside
  std::vector<std::uint32_t> edges;      // two points each, the smaller first: edges of elements, each once
  int points() const { return static_cast<int>(nodes.size()); }
};

struct SurfaceOptions {
  // Of quadratic elements the corners alone, so that faces are plane; otherwise their faces and edges are
  // divided at the mid-side nodes.
  bool corners_only = false;
};

// The faces that one element alone has, known by their corners. Where neighbours are of the same order the
// surface is closed. Time and memory are of the order of the number of elements: about 0.3 s for a million
// nodes (hex8).
Surface surface_of(const Mesh& mesh, const SurfaceOptions& options = {});

// The same with at most `max_points` points (8 or more): those of a cell of a grid become one, that of them
// nearest to their mean; triangles and edges that vanish thereby, and repeated ones, go. `points` are the
// mesh's (3 by nodes). A surface that is small enough stays as it is.
Surface simplify(const Surface& surface, const Eigen::Ref<const Eigen::Matrix3Xd>& points, int max_points);

}  // namespace lissom
