#include "lissom/fe/assembly.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/check_materials.hpp"
#include "lissom/fe/jacobian_check.hpp"
#include "lissom/fe/spider.hpp"

namespace lissom {

namespace {

// Room for the element matrices that are computed before they are added up [bytes]: two of these buffers are
// small beside K, yet large enough that the threads seldom wait for each other.
constexpr std::int64_t chunk_bytes = 8 << 20;

// the constants of one material, ready for the kernels
struct PreparedMaterial {
  Elasticity elasticity;
  double density = 0;
};

double checked_density(const Material& material) {
  const std::string where = to_string(material.defined_at);
  if (!material.density)
    fail_input("{}{}material '{}' has no density; add it there, or give --material E=...,nu=...,rho=...",
               where, where.empty() ? "" : ": ", material.name);
  if (!(*material.density > 0))
    fail_input("{}{}material '{}' has the density {} kg/m3, expected a positive one", where,
               where.empty() ? "" : ": ", material.name, *material.density);
  return *material.density;
}

// one entry for each material of the mesh that an element uses, or one for the override
std::vector<PreparedMaterial> prepare_materials(const Mesh& mesh, const AssemblyOptions& options) {
  if (options.material) return {{elasticity(*options.material), checked_density(*options.material)}};

  std::vector<bool> used(mesh.materials.size(), false);
  int without = 0, first = -1;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const int m = mesh.element_material[e];
    LISSOM_ASSERT(m < static_cast<int>(mesh.materials.size()));
    if (m >= 0) {
      used[m] = true;
    } else if (without++ == 0) {
      first = e;
    }
  }
  if (without > 0)
    fail_input(
        "{}: {} of {} elements have no material (the first is element {}); give one for all elements with "
        "--material E=...,nu=...,rho=...",
        mesh.source, without, mesh.element_count(), mesh.element_ids[first]);
  std::vector<PreparedMaterial> prepared(mesh.materials.size());
  for (size_t m = 0; m < used.size(); ++m)
    if (used[m]) prepared[m] = {elasticity(mesh.materials[m]), checked_density(mesh.materials[m])};
  return prepared;
}

// The pattern by nodes, in the numbering of the nodes that have elements ("active" ones, in node order).
struct NodePattern {
  std::vector<int> first;           // of each mesh node its active number, or -1
  std::vector<int> node;            // of each active node its mesh node
  std::vector<std::int64_t> start;  // neighbours of active node b: rows[start[b] .. start[b+1])
  std::vector<int> rows;            // active numbers >= b, ascending; b itself is the first

  int size() const { return static_cast<int>(node.size()); }
  std::int64_t length(int b) const { return start[b + 1] - start[b]; }
  // where row a stands in column b
  std::int64_t find(int b, int a) const {
    return std::lower_bound(rows.begin() + start[b], rows.begin() + start[b + 1], a) - rows.begin() -
           start[b];
  }
};

NodePattern build_pattern(const Mesh& mesh) {
  NodePattern pattern;
  pattern.first.assign(mesh.node_count(), -1);
  for (const int node : mesh.connectivity) pattern.first[node] = 0;
  for (int i = 0; i < mesh.node_count(); ++i) {
    if (pattern.first[i] < 0) continue;
    pattern.first[i] = pattern.size();
    pattern.node.push_back(i);
  }

  // the elements of each active node, by counting
  const int n = pattern.size();
  std::vector<std::int64_t> element_start(n + 1, 0);
  for (const int node : mesh.connectivity) ++element_start[pattern.first[node] + 1];
  std::partial_sum(element_start.begin(), element_start.end(), element_start.begin());
  std::vector<int> elements(mesh.connectivity.size());
  {
    std::vector<std::int64_t> next(element_start.begin(), element_start.end() - 1);
    for (int e = 0; e < mesh.element_count(); ++e)
      for (const int node : mesh.element_nodes(e)) elements[next[pattern.first[node]]++] = e;
  }

  // neighbours of each column, once to count and once to store
  pattern.start.assign(n + 1, 0);
  for (const bool store : {false, true}) {
    if (store) {
      std::partial_sum(pattern.start.begin(), pattern.start.end(), pattern.start.begin());
      pattern.rows.resize(pattern.start.back());
    }
    SharedRange range(0, 512);
    parallel_team(thread_count(), [&](int, int) {
      std::vector<int> found;
      range.work(n, [&](std::int64_t b) {
        found.clear();
        for (auto k = element_start[b]; k < element_start[b + 1]; ++k)
          for (const int node : mesh.element_nodes(elements[k]))
            if (const int a = pattern.first[node]; a >= b) found.push_back(a);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        if (store)
          std::copy(found.begin(), found.end(), pattern.rows.begin() + pattern.start[b]);
        else
          pattern.start[b + 1] = static_cast<std::int64_t>(found.size());
      });
    });
  }
  return pattern;
}

// entries before the columns of node b: a diagonal block has 6 entries in the lower triangle, any other 9
std::int64_t k_offset(const NodePattern& pattern, int b) {
  return 9 * pattern.start[b] - 3 * std::int64_t(b);
}
// of K's column 3b + j, relative to that
std::int64_t k_column(std::int64_t length, int j) {
  return j * 3 * length - (j * (j - 1)) / 2;
}

// K's pattern: blocks 3 by 3, without the upper triangle of the diagonal ones
void shape_stiffness(const NodePattern& pattern, SparseMatrix& K) {
  const int n = pattern.size();
  const std::int64_t entries = k_offset(pattern, n);
  if (entries > std::numeric_limits<int>::max())
    fail(
        "the stiffness of {} nodes would have {} entries, more than the {} that Lissom can index; use a "
        "coarser mesh",
        n, entries, std::numeric_limits<int>::max());
  K.resize(3 * n, 3 * n);
  K.resizeNonZeros(entries);
  int* outer = K.outerIndexPtr();
  int* inner = K.innerIndexPtr();
  outer[3 * n] = static_cast<int>(entries);
  parallel_for(n, 0, [&](std::int64_t column) {
    const int b = static_cast<int>(column);
    const std::int64_t begin = pattern.start[b], length = pattern.length(b);
    for (int j = 0; j < 3; ++j) {
      std::int64_t at = k_offset(pattern, b) + k_column(length, j);
      outer[3 * b + j] = static_cast<int>(at);
      for (std::int64_t k = 0; k < length; ++k)
        for (int i = k == 0 ? j : 0; i < 3; ++i) inner[at++] = 3 * pattern.rows[begin + k] + i;
    }
  });
  std::fill_n(K.valuePtr(), entries, 0.0);
}

// M's pattern: equal directions only, or just the diagonal
void shape_mass(const NodePattern& pattern, bool diagonal, SparseMatrix& M) {
  const int n = pattern.size();
  const std::int64_t entries = diagonal ? 3 * std::int64_t(n) : 3 * pattern.start[n];
  M.resize(3 * n, 3 * n);
  M.resizeNonZeros(entries);
  int* outer = M.outerIndexPtr();
  int* inner = M.innerIndexPtr();
  outer[3 * n] = static_cast<int>(entries);
  parallel_for(n, 0, [&](std::int64_t column) {
    const int b = static_cast<int>(column);
    const std::int64_t begin = pattern.start[b], length = diagonal ? 1 : pattern.length(b);
    for (int j = 0; j < 3; ++j) {
      std::int64_t at = (diagonal ? 3 * std::int64_t(b) : 3 * begin) + j * length;
      outer[3 * b + j] = static_cast<int>(at);
      for (std::int64_t k = 0; k < length; ++k) inner[at++] = 3 * pattern.rows[begin + k] + j;
    }
  });
  std::fill_n(M.valuePtr(), entries, 0.0);
}

// The mass between all mesh nodes, from M before the spiders: the x direction of it.
SparseMatrix node_mass(const NodePattern& pattern, const SparseMatrix& M) {
  const int n = pattern.size(), nodes = static_cast<int>(pattern.first.size());
  SparseMatrix m(nodes, nodes);
  m.resizeNonZeros(M.nonZeros() / 3);
  int* outer = m.outerIndexPtr();
  int column = 0, at = 0;
  for (int b = 0; b < n; ++b) {
    for (; column <= pattern.node[b]; ++column) outer[column] = at;
    for (int k = M.outerIndexPtr()[3 * b]; k < M.outerIndexPtr()[3 * b + 1]; ++k, ++at) {
      m.innerIndexPtr()[at] = pattern.node[M.innerIndexPtr()[k] / 3];
      m.valuePtr()[at] = M.valuePtr()[k];
    }
  }
  for (; column <= nodes; ++column) outer[column] = at;
  return m;
}

// K_e and m_e of one element; returns the smallest scaled Jacobian
double compute_element(const Mesh& mesh, int e, const PreparedMaterial& material, MassKind kind, double* K,
                       double* m) {
  return visit_element_type(mesh.types[e], [&]<ElementType type>() {
    using Kernel = ElementKernel<type>;
    typename Kernel::Points x;
    const auto nodes = mesh.element_nodes(e);
    for (int a = 0; a < Kernel::n; ++a) x.col(a) = mesh.points.col(nodes[a]);
    Eigen::Map<typename Kernel::Stiffness> stiffness(K);
    Eigen::Map<typename Kernel::Mass> mass(m);
    const double of_stiffness = Kernel::stiffness(x, material.elasticity, stiffness);
    if (!(of_stiffness > jacobian_limit)) return of_stiffness;
    return std::min(of_stiffness, Kernel::mass(x, material.density, kind, mass));
  });
}

// adds column node `b` (local number) of an element to K and M
void scatter_column(const NodePattern& pattern, std::span<const int> active, int b, const double* K_e,
                    const double* m_e, bool diagonal_mass, double* K, double* M) {
  const int n = static_cast<int>(active.size()), B = active[b];
  const std::int64_t length = pattern.length(B);
  double* column[3];
  for (int j = 0; j < 3; ++j) column[j] = K + k_offset(pattern, B) + k_column(length, j);
  for (int a = 0; a < n; ++a) {
    if (active[a] < B) continue;
    const std::int64_t k = a == b ? 0 : pattern.find(B, active[a]);
    for (int j = 0; j < 3; ++j) {
      const double* from = K_e + (3 * b + j) * 3 * n + 3 * a;
      // the first block lacks the j entries above the diagonal
      double* to = column[j] + 3 * k - j;
      for (int i = k == 0 ? j : 0; i < 3; ++i) to[i] += from[i];
      if (!diagonal_mass) M[3 * pattern.start[B] + j * length + k] += m_e[b * n + a];
    }
  }
  if (diagonal_mass)
    for (int j = 0; j < 3; ++j) M[3 * std::int64_t(B) + j] += m_e[b * n + b];
}

}  // namespace

void check_materials(const Mesh& mesh, const AssemblyOptions& options) {
  prepare_materials(mesh, options);
}

FeModel assemble(const Mesh& mesh, const AssemblyOptions& options, Diagnostics& diagnostics) {
  const int elements = mesh.element_count();
  if (elements == 0)
    fail_input("{}: the mesh has no solid element (known: tet4, tet10, hex8, hex20, wedge6, wedge15)",
               mesh.source);
  check_elements(mesh);
  const std::vector<PreparedMaterial> materials = prepare_materials(mesh, options);

  FeModel model;
  model.source = mesh.source;
  model.points = mesh.points;
  model.node_ids = mesh.node_ids;
  model.node_sets = mesh.node_sets;
  const NodePattern pattern = build_pattern(mesh);
  const bool diagonal_mass = options.mass == MassKind::Lumped;
  shape_stiffness(pattern, model.K.lower);
  shape_mass(pattern, diagonal_mass, model.M.lower);
  double* K = model.K.lower.valuePtr();
  double* M = model.M.lower.valuePtr();

  // two buffers, each with room for the matrices of one chunk of elements
  int nodes_max = 0;
  for (const ElementType type : mesh.types) nodes_max = std::max(nodes_max, node_count(type));
  const std::int64_t K_size = 9 * nodes_max * nodes_max, stride = K_size + nodes_max * nodes_max;
  const int chunk = static_cast<int>(std::min<std::int64_t>(elements, chunk_bytes / (8 * stride)));
  std::vector<double> buffer(2 * chunk * stride);
  std::vector<double> scaled(elements);

  // Chunk by chunk, the threads share first the elements, then the columns: each thread adds what falls into
  // its own columns, in the order of the elements, so that no two threads write to the same place and the sum
  // of an entry is always formed in the same order. While one thread still adds up a chunk, another may
  // compute the next one into the other buffer.
  SharedRange range(0, 16);
  parallel_team(thread_count(), [&](int me, int threads) {
    for (int begin = 0, half = 0; begin < elements; begin += chunk, half = 1 - half) {
      const int end = std::min(begin + chunk, elements);
      const auto matrices = [&](int e) { return &buffer[(half * chunk + e - begin) * stride]; };
      range.work(end, [&](std::int64_t k) {
        const int e = static_cast<int>(k);
        const auto& material = materials[options.material ? 0 : mesh.element_material[e]];
        scaled[e] = compute_element(mesh, e, material, options.mass, matrices(e), matrices(e) + K_size);
      });
      team_barrier();
      for (int e = begin; e < end; ++e) {
        if (!(scaled[e] > jacobian_limit)) continue;
        int active[20];
        const auto nodes = mesh.element_nodes(e);
        for (size_t a = 0; a < nodes.size(); ++a) active[a] = pattern.first[nodes[a]];
        for (size_t b = 0; b < nodes.size(); ++b)
          if (active[b] % threads == me)
            scatter_column(pattern, {active, nodes.size()}, static_cast<int>(b), matrices(e),
                           matrices(e) + K_size, diagonal_mass, K, M);
      }
    }
  });
  // check_elements() has looked at the same points; what is left is round-off far from the origin
  for (int e = 0; e < elements; ++e)
    if (!(scaled[e] > jacobian_limit))
      fail_input("{}: element {} ({}) is flat to rounding: its scaled Jacobian is {:.3g}", mesh.source,
                 mesh.element_ids[e], name_of(mesh.types[e]), scaled[e]);

  model.node_mass.lower = node_mass(pattern, model.M.lower);
  // labels; the spiders then replace some
  model.dofs.resize(3 * static_cast<size_t>(pattern.size()));
  for (int b = 0; b < pattern.size(); ++b)
    for (int j = 0; j < 3; ++j) model.dofs[3 * b + j] = {pattern.node[b], j};
  apply_spiders(mesh, pattern.first, model, diagnostics);
  return model;
}

}  // namespace lissom
