// Notation: a, b nodes; g_a = grad N_a, times the square root of weight and det J; V = [g_a] stacked, 3n by
// points. All the geometry enters the stiffness through W = V V^T, whose 3 by 3 blocks are W_ab = sum g_a
// g_b^T:
//   isotropic  K_ab = lambda W_ab + mu W_ab^T + mu tr(W_ab) I
//   general    K_ab,ij = C_ikjl W_ab,kl
#include "lissom/fe/element.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>

#include "lissom/fe/quadrature.hpp"
#include "lissom/fe/shape_functions.hpp"

namespace lissom {

namespace {

using Eigen::Matrix3d;

// shape functions and their derivatives at the points of a rule
template <int n, int points>
struct Table {
  std::array<Eigen::Matrix<double, n, 1>, points> N;
  std::array<Eigen::Matrix<double, 3, n>, points> dN;
  std::array<Eigen::Vector3d, points> xi;
  std::array<double, points> weight;

  Table(ElementType type, const Quadrature& rule) {
    LISSOM_ASSERT(rule.size() == points);
    for (int p = 0; p < points; ++p) {
      N[p] = shape_values(type, rule[p].xi);
      dN[p] = shape_gradients(type, rule[p].xi);
      xi[p] = rule[p].xi;
      weight[p] = rule[p].weight;
    }
  }
};

constexpr int stiffness_points(ElementType type) {
  constexpr int points[] = {1, 4, 8, 27, 6, 9};
  return points[static_cast<int>(type)];
}
constexpr int mass_points(ElementType type) {
  constexpr int points[] = {4, 15, 27, 27, 21, 21};
  return points[static_cast<int>(type)];
}

// built at first use; thread-safe
template <ElementType type>
const auto& stiffness_table() {
  static const Table<node_count(type), stiffness_points(type)> table(type, stiffness_rule(type));
  return table;
}
template <ElementType type>
const auto& mass_table() {
  static const Table<node_count(type), mass_points(type)> table(type, mass_rule(type));
  return table;
}

// gradients of the incompatible modes of hex8 at one point, scaled as element.hpp says
Matrix3d incompatible_gradients(const Eigen::Vector3d& xi, const Matrix3d& centre_inverse_transposed,
                                double det_ratio) {
  return det_ratio * centre_inverse_transposed * Matrix3d((-2 * xi).asDiagonal());
}

// the stiffness blocks from the sums W of gradient products
template <int rows>
void material_blocks(const Elasticity& elasticity, const Eigen::Matrix<double, rows, rows>& W,
                     Eigen::Ref<Eigen::Matrix<double, rows, rows>> K) {
  // lower triangle of blocks, mirrored
  for (int b = 0; b < rows; b += 3) {
    for (int a = b; a < rows; a += 3) {
      const Matrix3d w = W.template block<3, 3>(a, b);
      Matrix3d k;
      if (elasticity.isotropic) {
        k = elasticity.lambda * w + elasticity.mu * w.transpose();
        k.diagonal().array() += elasticity.mu * w.trace();
      } else {
        Eigen::Map<Eigen::Matrix<double, 9, 1>>(k.data()) =
            elasticity.tensor * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(w.data());
      }
      K.template block<3, 3>(a, b) = k;
      if (a != b) K.template block<3, 3>(b, a) = k.transpose();
    }
  }
}

// sizes of the gradients of one type; hex8 has those of its incompatible modes behind the nodes'
template <ElementType type>
struct Gradients {
  static constexpr bool incompatible = type == ElementType::Hex8;
  static constexpr int n = node_count(type), points = stiffness_points(type);
  static constexpr int columns = n + (incompatible ? 3 : 0), rows = 3 * columns;
  using V = Eigen::Matrix<double, rows, points>;
  using W = Eigen::Matrix<double, rows, rows>;
};

// V, the gradients at the points of the stiffness, times the square root of weight and det J; returns the
// smallest scaled Jacobian
template <ElementType type>
double weighted_gradients(const typename ElementKernel<type>::Points& x, typename Gradients<type>::V& V) {
  using G = Gradients<type>;
  const auto& table = stiffness_table<type>();

  // the centre of hex8, for its incompatible modes
  Matrix3d centre_inverse_transposed = Matrix3d::Identity();
  double centre_det = 1;
  if constexpr (G::incompatible) {
    static const typename ElementKernel<type>::Points dN0 = shape_gradients(type, Eigen::Vector3d::Zero());
    const Jacobian centre(x * dN0.transpose());
    if (!(centre.scaled > jacobian_limit)) return centre.scaled;
    centre_inverse_transposed = centre.J.inverse().transpose();
    centre_det = centre.det;
  }

  double smallest = 1;
  for (int p = 0; p < G::points; ++p) {
    const Jacobian jacobian(x * table.dN[p].transpose());
    smallest = std::min(smallest, jacobian.scaled);
    if (!(jacobian.scaled > jacobian_limit)) return smallest;
    Eigen::Map<Eigen::Matrix<double, 3, G::columns>> g(V.col(p).data());
    const Matrix3d inverse_transposed = jacobian.J.inverse().transpose();
    const double scale = std::sqrt(table.weight[p] * jacobian.det);
    g.template leftCols<G::n>().noalias() = scale * inverse_transposed * table.dN[p];
    if constexpr (G::incompatible)
      g.template rightCols<3>() =
          scale * incompatible_gradients(table.xi[p], centre_inverse_transposed, centre_det / jacobian.det);
  }
  return smallest;
}

// m = rho int N N^T dV over the points of a table; returns the smallest scaled Jacobian
template <class TableType, class Points, class Mass>
double integrate_mass(const TableType& table, const Points& x, double density, Mass& m) {
  m.setZero();
  double smallest = 1;
  for (size_t p = 0; p < table.weight.size(); ++p) {
    const Jacobian jacobian(x * table.dN[p].transpose());
    smallest = std::min(smallest, jacobian.scaled);
    if (!(jacobian.scaled > jacobian_limit)) return smallest;
    m.noalias() +=
        (density * table.weight[p] * jacobian.det) * table.N[p].lazyProduct(table.N[p].transpose());
  }
  return smallest;
}

}  // namespace

Jacobian::Jacobian(const Matrix3d& jacobian) : J(jacobian), det(J.determinant()) {
  const double bound = J.col(0).norm() * J.col(1).norm() * J.col(2).norm();
  // points that are no numbers count as a flat element
  scaled = std::isfinite(det) && std::isfinite(det / bound) ? det / bound : 0;
}

std::string_view name_of(MassKind kind) {
  constexpr std::string_view names[] = {"consistent", "lumped", "calculix"};
  return names[static_cast<int>(kind)];
}

std::optional<MassKind> mass_kind_from_name(std::string_view name) {
  for (MassKind kind : {MassKind::Consistent, MassKind::Lumped, MassKind::Calculix})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

Elasticity elasticity(const Material& material) {
  const Eigen::Matrix<double, 6, 6> D = elasticity_matrix(material);
  Elasticity result;
  result.isotropic = material.isotropic.has_value();
  result.lambda = D(0, 1);
  result.mu = D(3, 3);
  constexpr int component[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) result.tensor(i + 3 * j, k + 3 * l) = D(component[i][k], component[j][l]);
  return result;
}

template <ElementType type>
double ElementKernel<type>::stiffness(const Points& x, const Elasticity& elasticity,
                                      Eigen::Ref<Stiffness> K) {
  using G = Gradients<type>;
  constexpr int rows = G::rows;
  typename G::V V;
  const double smallest = weighted_gradients<type>(x, V);
  if (!(smallest > jacobian_limit)) return smallest;

  // W = V V^T, then the material
  typename G::W W;
  W.noalias() = V * V.transpose();
  if constexpr (!G::incompatible) {
    material_blocks<rows>(elasticity, W, K);
  } else {
    // condense the nine incompatible amplitudes
    typename G::W full;
    material_blocks<rows>(elasticity, W, full);
    const Eigen::Matrix<double, 9, 9> inner = full.template bottomRightCorner<9, 9>();
    const Eigen::Matrix<double, 9, 3 * n> coupling = full.template bottomLeftCorner<9, 3 * n>();
    // L^-1 coupling, so that what is subtracted is symmetric to the last digit
    Eigen::Matrix<double, 9, 3 * n> half = coupling;
    inner.llt().matrixL().solveInPlace(half);
    K = full.template topLeftCorner<3 * n, 3 * n>();
    K.noalias() -= half.transpose() * half;
  }
  return smallest;
}

double incompatible_modes(const ElementKernel<ElementType::Hex8>::Points& x, const Elasticity& elasticity,
                          IncompatibleModes& modes) {
  using G = Gradients<ElementType::Hex8>;
  G::V V;
  const double smallest = weighted_gradients<ElementType::Hex8>(x, V);
  if (!(smallest > jacobian_limit)) return smallest;

  // the second row of the full stiffness: coupling u + inner amplitudes = 0
  G::W W, full;
  W.noalias() = V * V.transpose();
  material_blocks<G::rows>(elasticity, W, full);
  const Eigen::Matrix<double, 9, 9> inner = full.bottomRightCorner<9, 9>();
  modes.amplitudes = -full.bottomLeftCorner<9, 24>();
  inner.llt().solveInPlace(modes.amplitudes);

  // gradients without the weights that V carries
  const auto& table = stiffness_table<ElementType::Hex8>();
  for (int p = 0; p < G::points; ++p) {
    const Jacobian jacobian(x * table.dN[p].transpose());
    const Eigen::Map<const Matrix3d> g(V.col(p).data() + 24);
    modes.gradients[p] = g / std::sqrt(table.weight[p] * jacobian.det);
  }
  return smallest;
}

template <ElementType type>
double ElementKernel<type>::mass(const Points& x, double density, MassKind kind, Eigen::Ref<Mass> m) {
  if (kind == MassKind::Calculix) return integrate_mass(stiffness_table<type>(), x, density, m);
  const double smallest = integrate_mass(mass_table<type>(), x, density, m);
  if (kind == MassKind::Lumped && smallest > jacobian_limit) {
    Eigen::Matrix<double, n, 1> diagonal = m.rowwise().sum();
    if constexpr (is_quadratic(type)) diagonal = m.diagonal();
    diagonal *= m.sum() / diagonal.sum();
    m = diagonal.asDiagonal();
  }
  return smallest;
}

template struct ElementKernel<ElementType::Tet4>;
template struct ElementKernel<ElementType::Tet10>;
template struct ElementKernel<ElementType::Hex8>;
template struct ElementKernel<ElementType::Hex20>;
template struct ElementKernel<ElementType::Wedge6>;
template struct ElementKernel<ElementType::Wedge15>;

Eigen::MatrixXd element_stiffness(ElementType type, const Eigen::Matrix3Xd& x, const Material& material) {
  return visit_element_type(type, [&]<ElementType t>() -> Eigen::MatrixXd {
    typename ElementKernel<t>::Stiffness K;
    const double smallest = ElementKernel<t>::stiffness(x, elasticity(material), K);
    if (!(smallest > jacobian_limit)) fail("a {} has the scaled Jacobian {:.3g}", name_of(t), smallest);
    return K;
  });
}

Eigen::MatrixXd element_mass(ElementType type, const Eigen::Matrix3Xd& x, double density, MassKind kind) {
  return visit_element_type(type, [&]<ElementType t>() -> Eigen::MatrixXd {
    typename ElementKernel<t>::Mass m;
    const double smallest = ElementKernel<t>::mass(x, density, kind, m);
    if (!(smallest > jacobian_limit)) fail("a {} has the scaled Jacobian {:.3g}", name_of(t), smallest);
    return m;
  });
}

}  // namespace lissom
