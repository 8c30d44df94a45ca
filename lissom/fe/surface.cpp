#include "lissom/fe/surface.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace lissom {

namespace {

using Face = std::array<int, 4>;  // corners counter-clockwise from outside; a triangle's last one is -1

constexpr Face tet_faces[] = {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {2, 0, 3, -1}};
constexpr Face hex_faces[] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                              {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
constexpr Face wedge_faces[] = {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};

std::span<const Face> faces_of(ElementType type) {
  switch (corner_count(type)) {
    case 4:
      return tet_faces;
    case 8:
      return hex_faces;
    default:
      return wedge_faces;
  }
}

// A face of an element, with its corners in ascending order to know it by.
struct FaceKey {
  Face corners;  // node indices, -1 first of a triangle
  int element = 0, face = 0;
};

// Faces that occur once. Sorted by their smallest node first (counting), then within the few of each node.
std::vector<FaceKey> boundary_faces(const Mesh& mesh) {
  std::vector<FaceKey> all;
  std::vector<std::int64_t> begin(static_cast<size_t>(mesh.node_count()) + 2, 0);
  const auto smallest = [](const FaceKey& key) { return key.corners[key.corners[0] < 0 ? 1 : 0]; };
  size_t count = 0;
  for (const ElementType type : mesh.types) count += faces_of(type).size();
  all.reserve(count);
  for (int e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    const auto faces = faces_of(mesh.types[static_cast<size_t>(e)]);
    for (size_t f = 0; f < faces.size(); ++f) {
      FaceKey key{faces[f], e, static_cast<int>(f)};
      for (int& corner : key.corners)
        if (corner >= 0) corner = nodes[static_cast<size_t>(corner)];
      std::sort(key.corners.begin(), key.corners.end());
      ++begin[static_cast<size_t>(smallest(key)) + 2];
      all.push_back(key);
    }
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<FaceKey> sorted(all.size());
  for (const FaceKey& key : all)
    sorted[static_cast<size_t>(begin[static_cast<size_t>(smallest(key)) + 1]++)] = key;
  all = std::vector<FaceKey>();

  std::vector<FaceKey> once;
  for (int node = 0; node < mesh.node_count(); ++node) {
    const auto first = sorted.begin() + begin[static_cast<size_t>(node)];
    const auto last = sorted.begin() + begin[static_cast<size_t>(node) + 1];
    std::sort(first, last, [](const FaceKey& a, const FaceKey& b) { return a.corners < b.corners; });
    for (auto it = first; it != last;) {
      const auto next =
          std::find_if(it, last, [&](const FaceKey& other) { return other.corners != it->corners; });
      if (next - it == 1) once.push_back(*it);
      it = next;
    }
  }
  // as the elements come
  std::sort(once.begin(), once.end(), [](const FaceKey& a, const FaceKey& b) {
    return std::pair(a.element, a.face) < std::pair(b.element, b.face);
  });
  return once;
}

// The node between two corners of an element; -1: there is none.
int mid_node(ElementType type, int a, int b) {
  const auto edges = mid_side_edges(type);
  for (size_t i = 0; i < edges.size(); ++i)
    if ((edges[i][0] == a && edges[i][1] == b) || (edges[i][0] == b && edges[i][1] == a))
      return corner_count(type) + static_cast<int>(i);
  return -1;
}

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
}

// Each edge once.
std::vector<std::uint32_t> edges_of(std::vector<std::uint64_t> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::uint32_t> edges;
  edges.reserve(2 * keys.size());
  for (const std::uint64_t key : keys) {
    edges.push_back(static_cast<std::uint32_t>(key >> 32));
    edges.push_back(static_cast<std::uint32_t>(key));
  }
  return edges;
}

// Collects triangles and edges of mesh nodes.
struct EdgeCollector {
  std::vector<std::uint32_t> triangles;
  std::vector<std::uint64_t> edges;

  void triangle(int a, int b, int c) {
    for (const int node : {a, b, c}) triangles.push_back(static_cast<std::uint32_t>(node));
  }
  void edge(int a, int b) {
    edges.push_back(pair_key(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
  }

  void plane_face(std::span<const int> c) {
    triangle(c[0], c[1], c[2]);
    if (c.size() == 4) triangle(c[0], c[2], c[3]);
    for (size_t i = 0; i < c.size(); ++i) edge(c[i], c[(i + 1) % c.size()]);
  }

  // m[i] lies between c[i] and c[i + 1]
  void curved_face(std::span<const int> c, std::span<const int> m) {
    const size_t n = c.size();
    for (size_t i = 0; i < n; ++i) {
      triangle(c[i], m[i], m[(i + n - 1) % n]);
      edge(c[i], m[i]);
      edge(m[i], c[(i + 1) % n]);
    }
    triangle(m[0], m[1], m[2]);
    if (n == 4) triangle(m[0], m[2], m[3]);
  }
};

// From nodes of the mesh to points.
void number_points(Surface& surface, int nodes) {
  std::vector<int> point(static_cast<size_t>(nodes), -1);
  for (const std::uint32_t node : surface.triangles) point[node] = 0;
  for (int node = 0; node < nodes; ++node) {
    if (point[static_cast<size_t>(node)] < 0) continue;
    point[static_cast<size_t>(node)] = surface.points();
    surface.nodes.push_back(node);
  }
  for (auto* list : {&surface.triangles, &surface.edges})
    for (std::uint32_t& node : *list) node = static_cast<std::uint32_t>(point[node]);
}

// A grid over the box from `lower` on with cells of these edges: the cells that the points lie in, as a
// number for each point, 0 .. count - 1.
struct Grid {
  std::vector<int> cell;
  int count = 0;

  Grid(const Surface& surface, const Eigen::Ref<const Eigen::Matrix3Xd>& points, const Eigen::Vector3d& lower,
       const Eigen::Vector3d& edges) {
    std::vector<std::pair<std::uint64_t, int>> keys;
    keys.reserve(surface.nodes.size());
    for (int i = 0; i < surface.points(); ++i) {
      std::uint64_t key = 0;
      // 21 bits each
      for (int d = 0; d < 3; ++d) {
        const double at = (points(d, surface.nodes[static_cast<size_t>(i)]) - lower[d]) / edges[d];
        key = key << 21 | static_cast<std::uint64_t>(std::clamp(at, 0.0, 2097151.0));
      }
      keys.emplace_back(key, i);
    }
    std::sort(keys.begin(), keys.end());
    cell.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i > 0 && keys[i].first != keys[i - 1].first) ++count;
      cell[static_cast<size_t>(keys[i].second)] = count;
    }
    if (!keys.empty()) ++count;
  }
};

// Of each cell the point nearest to the mean of its points.
std::vector<int> chosen_points(const Surface& surface, const Eigen::Ref<const Eigen::Matrix3Xd>& points,
                               const Grid& grid) {
  Eigen::Matrix3Xd mean = Eigen::Matrix3Xd::Zero(3, grid.count);
  std::vector<int> size(static_cast<size_t>(grid.count), 0), chosen(static_cast<size_t>(grid.count), -1);
  for (size_t i = 0; i < grid.cell.size(); ++i) {
    mean.col(grid.cell[i]) += points.col(surface.nodes[i]);
    ++size[static_cast<size_t>(grid.cell[i])];
  }
  for (int c = 0; c < grid.count; ++c) mean.col(c) /= size[static_cast<size_t>(c)];
  std::vector<double> distance(static_cast<size_t>(grid.count), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < grid.cell.size(); ++i) {
    const auto c = static_cast<size_t>(grid.cell[i]);
    const double d = (points.col(surface.nodes[i]) - mean.col(grid.cell[i])).squaredNorm();
    if (d >= distance[c]) continue;
    distance[c] = d;
    chosen[c] = static_cast<int>(i);
  }
  return chosen;
}

}  // namespace

Surface surface_of(const Mesh& mesh, const SurfaceOptions& options) {
  EdgeCollector found;
  for (const FaceKey& key : boundary_faces(mesh)) {
    const ElementType type = mesh.types[static_cast<size_t>(key.element)];
    const auto nodes = mesh.element_nodes(key.element);
    const Face& face = faces_of(type)[static_cast<size_t>(key.face)];
    const size_t n = face[3] < 0 ? 3 : 4;
    int corners[4] = {}, mids[4] = {};
    const bool curved = is_quadratic(type) && !options.corners_only;
    for (size_t i = 0; i < n; ++i) {
      corners[i] = nodes[static_cast<size_t>(face[i])];
      if (curved) mids[i] = nodes[static_cast<size_t>(mid_node(type, face[i], face[(i + 1) % n]))];
    }
    if (curved)
      found.curved_face({corners, n}, {mids, n});
    else
      found.plane_face({corners, n});
  }
  Surface surface;
  surface.triangles = std::move(found.triangles);
  surface.edges = edges_of(std::move(found.edges));
  number_points(surface, mesh.node_count());
  return surface;
}

Surface simplify(const Surface& surface, const Eigen::Ref<const Eigen::Matrix3Xd>& points, int max_points) {
  LISSOM_ASSERT(max_points >= 8);
  if (surface.points() <= max_points) return surface;
  Eigen::Vector3d lower = points.col(surface.nodes.front()), upper = lower;
  for (const int node : surface.nodes) {
    lower = lower.cwiseMin(points.col(node));
    upper = upper.cwiseMax(points.col(node));
  }
  // the smallest cells that are few enough, by halving; at least two in each direction, so that a slender
  // body keeps its section
  const Eigen::Vector3d half = (0.5001 * (upper - lower)).cwiseMax(1e-300);
  double large = half.maxCoeff(), small = 0;
  for (int step = 0; step < 20; ++step) {
    const double size = small > 0 ? std::sqrt(small * large) : large / 16;
    if (Grid(surface, points, lower, half.cwiseMin(size)).count <= max_points)
      large = size;
    else
      small = size;
    if (small > 0 && large < 1.02 * small) break;
  }
  const Grid grid(surface, points, lower, half.cwiseMin(large));
  const std::vector<int> chosen = chosen_points(surface, points, grid);

  // by nodes of the mesh again; of triangles that repeat or lie back to back the first one stays
  Surface simple;
  const auto moved = [&](std::uint32_t point) {
    return static_cast<std::uint32_t>(
        surface.nodes[static_cast<size_t>(chosen[static_cast<size_t>(grid.cell[point])])]);
  };
  std::vector<std::pair<std::array<std::uint32_t, 3>, size_t>> kept;
  for (size_t t = 0; t + 2 < surface.triangles.size(); t += 3) {
    std::array<std::uint32_t, 3> key = {moved(surface.triangles[t]), moved(surface.triangles[t + 1]),
                                        moved(surface.triangles[t + 2])};
    if (key[0] == key[1] || key[1] == key[2] || key[2] == key[0]) continue;
    std::sort(key.begin(), key.end());
    kept.emplace_back(key, t);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(
      std::unique(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      kept.end());
  std::vector<std::uint64_t> edges;
  std::vector<bool> used(static_cast<size_t>(points.cols()), false);
  for (const auto& [key, t] : kept)
    for (size_t i = 0; i < 3; ++i) {
      simple.triangles.push_back(moved(surface.triangles[t + i]));
      used[simple.triangles.back()] = true;
    }
  for (size_t e = 0; e + 1 < surface.edges.size(); e += 2) {
    const std::uint32_t a = moved(surface.edges[e]), b = moved(surface.edges[e + 1]);
    if (a != b && used[a] && used[b]) edges.push_back(pair_key(a, b));
  }
  simple.edges = edges_of(std::move(edges));
  number_points(simple, static_cast<int>(points.cols()));
  return simple;
}

}  // namespace lissom
