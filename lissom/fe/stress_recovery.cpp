// Notation: a node, p sample point, l derivative, d direction of displacement, w column of a block.
//   displacement gradient  H_p(l, d) = sum_a g_a,l(p) u_a,d    (hex8: with its incompatible modes behind the
//                                                               nodes)
//   strain at the points   e_p = sym H_p
//   strain at node a       e_a = sum_p E_ap e_p
// All columns of a block of displacements are treated at once, w running fastest, so that the products are
// long enough and nodes keep together what belongs to them.
#include "lissom/fe/stress_recovery.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <vector>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/element.hpp"
#include "lissom/fe/quadrature.hpp"
#include "lissom/fe/shape_functions.hpp"

namespace lissom {

namespace {

using Matrix6d = Eigen::Matrix<double, 6, 6>;

// columns of a block: enough that the geometry of an element costs less than the product with it
constexpr int width = 16;
// strains that are computed before they are added up [bytes], see recover_block()
constexpr std::int64_t stress_chunk_bytes = 4 << 20;

template <int rows>
using Block = Eigen::Matrix<double, rows, width, Eigen::RowMajor>;

constexpr int sample_points(ElementType type) {
  constexpr int points[] = {1, 4, 8, 8, 6, 6};
  return points[static_cast<int>(type)];
}

// Where the strain of an interpolated displacement is one order better than elsewhere, or nearly so: the
// Gauss points of one order less than full integration. The incompatible modes of hex8 are known at its own.
Quadrature sample_rule(ElementType type) {
  switch (type) {
    case ElementType::Tet4:
      return tet_rule(1);
    case ElementType::Tet10:
      return tet_rule(4);
    case ElementType::Hex8:
    case ElementType::Hex20:
      return hex_rule(2);
    default:
      return wedge_rule(3, 2);
  }
}

// the element whose shape functions pass through the sample points
ElementType linear_type(ElementType type) {
  switch (corner_count(type)) {
    case 4:
      return ElementType::Tet4;
    case 8:
      return ElementType::Hex8;
    default:
      return ElementType::Wedge6;
  }
}

template <ElementType type>
struct SampleTable {
  static constexpr int n = node_count(type), points = sample_points(type);
  std::array<Eigen::Matrix<double, 3, n>, points> dN;
  Eigen::Matrix<double, n, points> E;

  SampleTable() {
    const Quadrature rule = sample_rule(type);
    LISSOM_ASSERT(rule.size() == points);
    for (int p = 0; p < points; ++p) dN[p] = shape_gradients(type, rule[p].xi);
    if constexpr (points == 1) {
      E.setOnes();
    } else {
      const ElementType linear = linear_type(type);
      LISSOM_ASSERT(node_count(linear) == points);
      Eigen::Matrix<double, points, points> at_points;
      for (int p = 0; p < points; ++p) at_points.row(p) = shape_values(linear, rule[p].xi);
      const Eigen::Matrix3Xd xi = node_coordinates(type);
      Eigen::Matrix<double, n, points> at_nodes;
      for (int a = 0; a < n; ++a) at_nodes.row(a) = shape_values(linear, xi.col(a));
      E = at_nodes * at_points.inverse();
    }
  }
};

// built at first use; thread-safe
template <ElementType type>
const SampleTable<type>& sample_table() {
  static const SampleTable<type> table;
  return table;
}

// Strain at the sample points, 6 rows a point, from displacements that u(a) points to, 3 rows of `width`.
// Returns the smallest scaled Jacobian; where it is not above the limit nothing is set.
template <ElementType type, class Displacement>
double sample_strains(const typename ElementKernel<type>::Points& x, const Elasticity& elasticity,
                      const Displacement& u, double* strains) {
  constexpr bool incompatible = type == ElementType::Hex8;
  constexpr int n = node_count(type), points = sample_points(type), columns = n + (incompatible ? 3 : 0);
  const auto& table = sample_table<type>();

  // gradients of the shape functions, three rows a point
  Eigen::Matrix<double, 3 * points, columns, Eigen::RowMajor> g;
  double smallest = 1;
  for (int p = 0; p < points; ++p) {
    const Jacobian jacobian(x * table.dN[p].transpose());
    smallest = std::min(smallest, jacobian.scaled);
    if (!(jacobian.scaled > jacobian_limit)) return smallest;
    const Eigen::Matrix3d inverse_transposed = jacobian.J.inverse().transpose();
    g.template block<3, n>(3 * p, 0) = inverse_transposed.lazyProduct(table.dN[p]);
  }

  // displacements of all nodes, one row a node
  Eigen::Matrix<double, columns, 3 * width, Eigen::RowMajor> U;
  for (int a = 0; a < n; ++a) std::copy_n(u(a), 3 * width, U.row(a).data());
  if constexpr (incompatible) {
    IncompatibleModes modes;
    const double of_modes = incompatible_modes(x, elasticity, modes);
    smallest = std::min(smallest, of_modes);
    if (!(smallest > jacobian_limit)) return smallest;
    for (int p = 0; p < points; ++p) g.template block<3, 3>(3 * p, n) = modes.gradients[p];
    // the same numbers as one row a degree of freedom
    const Eigen::Map<const Block<3 * n>> of_nodes(U.data());
    Eigen::Map<Block<9>>(U.data() + 3 * n * width).noalias() = modes.amplitudes * of_nodes;
  }

  Eigen::Matrix<double, 3 * points, 3 * width, Eigen::RowMajor> H;
  H.noalias() = g * U;
  for (int p = 0; p < points; ++p) {
    const auto h = [&](int l, int d) { return H.template block<1, width>(3 * p + l, d * width); };
    Eigen::Map<Block<6>> e(strains + 6 * width * p);
    e.row(0) = h(0, 0);
    e.row(1) = h(1, 1);
    e.row(2) = h(2, 2);
    e.row(3) = h(1, 0) + h(0, 1);
    e.row(4) = h(2, 1) + h(1, 2);
    e.row(5) = h(0, 2) + h(2, 0);
  }
  return smallest;
}

// to += the strain at node a of an element, from those at its points
template <ElementType type>
void add_extrapolated(const double* strains, int a, double* to) {
  const auto& E = sample_table<type>().E;
  Eigen::Map<Block<6>> sum(to);
  for (int p = 0; p < sample_points(type); ++p)
    sum += E(a, p) * Eigen::Map<const Block<6>>(strains + 6 * width * p);
}

// the constants of one material in both forms
struct StressMaterial {
  Elasticity elasticity;
  Matrix6d D = Matrix6d::Zero();
};

int checked_material(const Mesh& mesh, int e) {
  const int m = mesh.element_material[e];
  if (m < 0)
    fail_input("{}: element {} has no material, hence no stress; give one with --material E=...,nu=...",
               mesh.source, mesh.element_ids[e]);
  LISSOM_ASSERT(m < static_cast<int>(mesh.materials.size()));
  return m;
}

[[noreturn]] void fail_jacobian(const Mesh& mesh, int e, double scaled) {
  fail_input(
      "{}: element {} ({}) has the scaled Jacobian {:.3g} where its strain is taken, expected a positive one "
      "(1 is a brick, 0 flat, negative inside out); check its node order and mid-side nodes, or mesh again",
      mesh.source, mesh.element_ids[e], name_of(mesh.types[e]), scaled);
}

template <ElementType type>
typename ElementKernel<type>::Points points_of(const Mesh& mesh, int e) {
  typename ElementKernel<type>::Points x;
  const auto nodes = mesh.element_nodes(e);
  for (int a = 0; a < node_count(type); ++a) x.col(a) = mesh.points.col(nodes[a]);
  return x;
}

// What is to be visited. Strain is summed per place: a pair of a wanted node and a material around it. As D
// is applied to these sums only, it costs next to nothing.
struct Plan {
  std::vector<int> elements;                // ascending
  std::vector<std::array<int, 20>> places;  // of each of the elements' nodes; -1 where it is not wanted
  std::vector<std::array<int, 20>> rows;    // of each of the elements' nodes, among the nodes with elements
  std::vector<int> nodes;                   // nodes of the elements, ascending
  std::vector<int> place_start;             // of each wanted node; one more at the end
  std::vector<int> place_material;
  std::vector<int> element_count;  // around each wanted node
  std::vector<StressMaterial> materials;
};

Plan make_plan(const Mesh& mesh, std::optional<std::span<const int>> wanted) {
  // position of each node among the wanted ones
  std::vector<int> position(mesh.node_count(), wanted ? -1 : 0);
  int count = 0;
  if (wanted) {
    int previous = -1;
    for (const int node : *wanted) {
      LISSOM_ASSERT(node > previous && node < mesh.node_count());
      position[previous = node] = count++;
    }
  } else {
    for (int& p : position) p = count++;
  }

  // their elements, and the pairs of node and material
  Plan plan;
  plan.element_count.assign(count, 0);
  plan.materials.resize(mesh.materials.size());
  const std::int64_t material_count = static_cast<std::int64_t>(mesh.materials.size());
  std::vector<std::int64_t> pairs;
  std::vector<bool> prepared(mesh.materials.size(), false);
  std::vector<int> row(mesh.node_count(), -1);
  for (int e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    if (std::none_of(nodes.begin(), nodes.end(), [&](int node) { return position[node] >= 0; })) continue;
    plan.elements.push_back(e);
    const int m = checked_material(mesh, e);
    if (!prepared[m])
      plan.materials[m] = {elasticity(mesh.materials[m]), elasticity_matrix(mesh.materials[m])};
    prepared[m] = true;
    for (const int node : nodes) {
      row[node] = 0;
      if (position[node] < 0) continue;
      ++plan.element_count[position[node]];
      pairs.push_back(position[node] * material_count + m);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  plan.place_start.assign(count + 1, 0);
  for (const std::int64_t pair : pairs) {
    ++plan.place_start[pair / material_count + 1];
    plan.place_material.push_back(static_cast<int>(pair % material_count));
  }
  for (int i = 0; i < count; ++i) plan.place_start[i + 1] += plan.place_start[i];

  for (int node = 0; node < mesh.node_count(); ++node) {
    if (row[node] < 0) continue;
    row[node] = static_cast<int>(plan.nodes.size());
    plan.nodes.push_back(node);
  }
  plan.places.resize(plan.elements.size());
  plan.rows.resize(plan.elements.size());
  for (size_t k = 0; k < plan.elements.size(); ++k) {
    const auto nodes = mesh.element_nodes(plan.elements[k]);
    const int m = mesh.element_material[plan.elements[k]];
    for (size_t a = 0; a < nodes.size(); ++a) {
      const int p = position[nodes[a]];
      plan.rows[k][a] = row[nodes[a]];
      plan.places[k][a] = -1;
      if (p < 0) continue;
      int place = plan.place_start[p];
      while (plan.place_material[place] != m) ++place;
      plan.places[k][a] = place;
    }
  }
  return plan;
}

// Room that all blocks of columns share.
struct Workspace {
  std::vector<double> u;       // displacements, 3 by width a node of the plan
  std::vector<double> sums;    // strain sums, 6 by width a place
  std::vector<double> buffer;  // two chunks of strains at points
  std::vector<double> scaled;  // Jacobian of each element
};

// Sums the strains of one block of displacements over the elements.
//
// As in assembly, chunk by chunk: the threads share first the elements, then the places, each adding up what
// falls into its own ones in the order of the elements. No two threads write to the same place, and the order
// of a sum is always the same.
void recover_block(const Mesh& mesh, const Plan& plan, Workspace& work) {
  const int elements = static_cast<int>(plan.elements.size());
  int points = 1;
  for (const int e : plan.elements) points = std::max(points, sample_points(mesh.types[e]));
  const std::int64_t stride = 6 * width * points;
  const int chunk = static_cast<int>(std::min<std::int64_t>(elements, stress_chunk_bytes / (8 * stride)));
  work.buffer.resize(2 * chunk * stride);
  work.scaled.resize(elements);
  work.sums.assign(6 * width * plan.place_material.size(), 0.0);
  const double* u = work.u.data();
  SharedRange range(0, 16);
  parallel_team(thread_count(), [&](int me, int threads) {
    for (int begin = 0, half = 0; begin < elements; begin += chunk, half = 1 - half) {
      const int end = std::min(begin + chunk, elements);
      const auto strains = [&](std::int64_t k) { return &work.buffer[(half * chunk + k - begin) * stride]; };
      range.work(end, [&](std::int64_t k) {
        const int e = plan.elements[k];
        const auto& material = plan.materials[mesh.element_material[e]];
        work.scaled[k] = visit_element_type(mesh.types[e], [&]<ElementType type>() {
          const auto of_node = [&](int a) { return u + 3 * width * std::int64_t(plan.rows[k][a]); };
          return sample_strains<type>(points_of<type>(mesh, e), material.elasticity, of_node, strains(k));
        });
      });
      team_barrier();
      for (int k = begin; k < end; ++k) {
        if (!(work.scaled[k] > jacobian_limit)) continue;
        visit_element_type(mesh.types[plan.elements[k]], [&]<ElementType type>() {
          for (int a = 0; a < node_count(type); ++a) {
            const int place = plan.places[k][a];
            if (place >= 0 && place % threads == me)
              add_extrapolated<type>(strains(k), a, &work.sums[6 * width * std::int64_t(place)]);
          }
        });
      }
    }
  });
  for (int k = 0; k < elements; ++k)
    if (!(work.scaled[k] > jacobian_limit)) fail_jacobian(mesh, plan.elements[k], work.scaled[k]);
}

// columns [first, first + count) of the displacements, node by node; columns up to `width` are zero
void load_block(const Eigen::Ref<const Eigen::MatrixXd>& displacements, int first, int count,
                const std::vector<int>& nodes, std::vector<double>& u) {
  u.assign(3 * width * nodes.size(), 0.0);
  parallel_for(std::ssize(nodes), 0, [&](std::int64_t i) {
    Eigen::Map<Block<3>>(&u[3 * width * i]).leftCols(count) =
        displacements.block(3 * nodes[i], first, 3, count);
  });
}

// means of the sums, and D times them
void store_block(const Plan& plan, const std::vector<double>& sums, int first, int count,
                 const StressOptions& options, NodalStress& result) {
  parallel_for(std::ssize(plan.element_count), 0, [&](std::int64_t i) {
    Block<6> strain = Block<6>::Zero(), stress = Block<6>::Zero();
    for (int place = plan.place_start[i]; place < plan.place_start[i + 1]; ++place) {
      const Eigen::Map<const Block<6>> sum(&sums[6 * width * std::int64_t(place)]);
      strain += sum;
      if (options.stress) stress += plan.materials[plan.place_material[place]].D.lazyProduct(sum);
    }
    const double elements = std::max(1, plan.element_count[i]);
    if (options.strain) result.strain.block(6 * i, first, 6, count) = strain.leftCols(count) / elements;
    if (options.stress) result.stress.block(6 * i, first, 6, count) = stress.leftCols(count) / elements;
  });
}

NodalStress sized_result(std::int64_t nodes, Eigen::Index columns, const StressOptions& options) {
  NodalStress result;
  if (options.strain) result.strain.resize(6 * nodes, columns);
  if (options.stress) result.stress.resize(6 * nodes, columns);
  return result;
}

}  // namespace

NodalStress recover_stress(const Mesh& mesh, const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                           std::optional<std::span<const int>> nodes, const StressOptions& options,
                           const ProgressHook& progress) {
  LISSOM_ASSERT(displacements.rows() == 3 * mesh.node_count());
  const Plan plan = make_plan(mesh, nodes);
  const int columns = static_cast<int>(displacements.cols());
  NodalStress result = sized_result(plan.element_count.size(), columns, options);
  Workspace work;
  for (int first = 0; first < columns; first += width) {
    if (progress) progress("stress recovery", double(first) / columns);
    const int count = std::min(width, columns - first);
    load_block(displacements, first, count, plan.nodes, work.u);
    recover_block(mesh, plan, work);
    store_block(plan, work.sums, first, count, options, result);
  }
  return result;
}

NodalStress element_stress(const Mesh& mesh, int element,
                           const Eigen::Ref<const Eigen::MatrixXd>& displacements,
                           const StressOptions& options) {
  LISSOM_ASSERT(element >= 0 && element < mesh.element_count());
  const Material& material = mesh.materials[checked_material(mesh, element)];
  const StressMaterial prepared = {elasticity(material), elasticity_matrix(material)};
  return visit_element_type(mesh.types[element], [&]<ElementType type>() {
    constexpr int n = node_count(type);
    LISSOM_ASSERT(displacements.rows() == 3 * n);
    const int columns = static_cast<int>(displacements.cols());
    NodalStress result = sized_result(n, columns, options);
    for (int first = 0; first < columns; first += width) {
      const int count = std::min(width, columns - first);
      Block<3 * n> u = Block<3 * n>::Zero();
      u.leftCols(count) = displacements.middleCols(first, count);
      Block<6 * sample_points(type)> strains;
      const double smallest = sample_strains<type>(
          points_of<type>(mesh, element), prepared.elasticity,
          [&](int a) { return u.data() + 3 * width * a; }, strains.data());
      if (!(smallest > jacobian_limit)) fail_jacobian(mesh, element, smallest);
      for (int a = 0; a < n; ++a) {
        Block<6> strain = Block<6>::Zero();
        add_extrapolated<type>(strains.data(), a, strain.data());
        if (options.strain) result.strain.block(6 * a, first, 6, count) = strain.leftCols(count);
        if (options.stress) result.stress.block(6 * a, first, 6, count) = prepared.D * strain.leftCols(count);
      }
    }
    return result;
  });
}

NodalStress recover_field_stress(const Mesh& mesh, const Eigen::Ref<const Eigen::MatrixXd>& fields,
                                 std::span<const int> nodes, const StressOptions& options,
                                 const ProgressHook& progress) {
  const Eigen::Index n = fields.rows(), s = fields.cols();
  LISSOM_ASSERT(n == static_cast<Eigen::Index>(nodes.size()));
  std::vector<int> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  // place of each of the nodes among the sorted ones
  std::vector<Eigen::Index> place;
  for (const int node : nodes)
    place.push_back(std::lower_bound(sorted.begin(), sorted.end(), node) - sorted.begin());

  // some fields at a time: displacements of all of them would take half the room of the result
  constexpr Eigen::Index most = 16;
  NodalStress result = sized_result(n, 3 * s, options);
  Eigen::MatrixXd u;
  for (Eigen::Index first = 0; first < s; first += most) {
    if (progress) progress("stress modes", static_cast<double>(first) / static_cast<double>(s));
    const Eigen::Index count = std::min(most, s - first);
    u.setZero(3 * mesh.node_count(), 3 * count);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index a = 0; a < count; ++a)
        for (int l = 0; l < 3; ++l) u(3 * nodes[i] + l, 3 * a + l) = fields(i, first + a);
    const NodalStress block = recover_stress(mesh, u, sorted, options);
    for (Eigen::Index i = 0; i < n; ++i) {
      if (options.strain)
        result.strain.block(6 * i, 3 * first, 6, 3 * count) = block.strain.middleRows(6 * place[i], 6);
      if (options.stress)
        result.stress.block(6 * i, 3 * first, 6, 3 * count) = block.stress.middleRows(6 * place[i], 6);
    }
  }
  return result;
}

Eigen::Vector3d principal(const Eigen::Ref<const Vector6d>& s) {
  Eigen::Matrix3d tensor;
  tensor << s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2];
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(tensor, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().reverse();
}

}  // namespace lissom
