#include "lissom/fe/spider.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
// for matrices that are visited row by row
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// relative size below which a rigid motion of the face counts as no motion
constexpr double rank_tolerance = 1e-6;

Matrix3d cross(const Vector3d& v) {
  return (Matrix3d() << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0).finished();
}

std::string label(const Spider& spider) {
  const std::string where = to_string(spider.defined_at);
  return fmt::format("{}{}spider '{}'", where, where.empty() ? "" : ": ", spider.name);
}

// rigid motions of nodes about a point, 3n by 6
MatrixXd rigid_motions(const Mesh& mesh, const std::vector<int>& nodes, const Vector3d& about) {
  MatrixXd D(3 * nodes.size(), 6);
  for (size_t i = 0; i < nodes.size(); ++i) {
    D.block<3, 3>(3 * i, 0).setIdentity();
    D.block<3, 3>(3 * i, 3) = -cross(mesh.points.col(nodes[i]) - about);
  }
  return D;
}

// Six independent rigid motions need three nodes off a line. About the centroid and scaled by the face's
// size, so that neither the place of the reference nor the unit of length matters.
void check_rank(const Mesh& mesh, const Spider& spider, const std::vector<int>& nodes) {
  if (nodes.size() < 3)
    fail_input("{} ties {} node{} with elements, expected at least three that are not on a line",
               label(spider), nodes.size(), nodes.size() == 1 ? "" : "s");
  Vector3d centre = Vector3d::Zero();
  for (const int node : nodes) centre += mesh.points.col(node) / double(nodes.size());
  double size = 0;
  for (const int node : nodes) size = std::max(size, (mesh.points.col(node) - centre).norm());
  MatrixXd D = rigid_motions(mesh, nodes, centre);
  if (size > 0) D.rightCols<3>() /= size;
  const Eigen::VectorXd sigma = D.jacobiSvd().singularValues();
  if (!(sigma[5] > rank_tolerance * sigma[0]))
    fail_input(
        "{} ties {} nodes that all lie on a line, so that a rotation about it stays free; add nodes off "
        "the line",
        label(spider), nodes.size());
}

// who ties whom
void check_spiders(const Mesh& mesh) {
  std::vector<int> owner(mesh.node_count(), -1), reference_of(mesh.node_count(), -1);
  const auto id = [&](int node) { return mesh.node_ids[node]; };
  for (size_t s = 0; s < mesh.spiders.size(); ++s) {
    const Spider& spider = mesh.spiders[s];
    const auto in_mesh = [&](int node) { return node >= 0 && node < mesh.node_count(); };
    LISSOM_ASSERT(in_mesh(spider.reference) &&
                  std::all_of(spider.nodes.begin(), spider.nodes.end(), in_mesh));
    if (reference_of[spider.reference] >= 0)
      fail_input("{} has the reference node {}, which is already that of spider '{}'; give it one of its own",
                 label(spider), id(spider.reference), mesh.spiders[reference_of[spider.reference]].name);
    reference_of[spider.reference] = static_cast<int>(s);
    for (const int node : spider.nodes) {
      if (node == spider.reference)
        fail_input("{} ties its reference node {} to itself", label(spider), id(node));
      if (owner[node] == static_cast<int>(s)) fail_input("{} has node {} twice", label(spider), id(node));
      if (owner[node] >= 0)
        fail_input("{} ties node {}, which spider '{}' ties already; a node can follow one reference only",
                   label(spider), id(node), mesh.spiders[owner[node]].name);
      owner[node] = static_cast<int>(s);
    }
    if (!spider.weights.empty() && spider.weights.size() != spider.nodes.size())
      fail_input("{} has {} weights for {} nodes", label(spider), spider.weights.size(), spider.nodes.size());
    for (size_t i = 0; i < spider.weights.size(); ++i)
      if (!(spider.weights[i] > 0) || !std::isfinite(spider.weights[i]))
        fail_input(
            "{} gives node {} the weight {}, expected a positive one (leave the node out instead of 0)",
            label(spider), id(spider.nodes[i]), spider.weights[i]);
  }
  // a reference that is itself tied would need its ties resolved first
  for (const Spider& spider : mesh.spiders)
    if (owner[spider.reference] >= 0)
      fail_input(
          "{} has the reference node {}, which spider '{}' ties in turn; chains of spiders are not "
          "supported: tie the nodes of both faces to one reference",
          label(spider), id(spider.reference), mesh.spiders[owner[spider.reference]].name);
}

// One spider's part of u = T q: the nodes it moves (with elements or not) and the rows of T for them.
struct Tie {
  std::vector<int> nodes;
  RowMatrix T;               // 3 nodes by coordinates: the six of the reference, then z
  int first_coordinate = 0;  // among those of all spiders
};

Tie make_tie(const Mesh& mesh, const Spider& spider, const std::vector<int>& first,
             Diagnostics& diagnostics) {
  // only nodes with elements carry stiffness and mass
  std::vector<int> face;
  for (const int node : spider.nodes) {
    if (first[node] >= 0) {
      face.push_back(node);
    } else if (spider.kind == Spider::Kind::Averaging) {
      fail_input("{} averages over node {}, which belongs to no element; remove it from the spider",
                 label(spider), mesh.node_ids[node]);
    } else {
      diagnostics.warn("spider.node-without-element",
                       fmt::format("spider '{}' ties node {}, which belongs to no element; it follows the "
                                   "reference but carries nothing",
                                   spider.name, mesh.node_ids[node]),
                       spider.defined_at);
    }
  }
  const Vector3d reference = mesh.points.col(spider.reference);
  check_rank(mesh, spider, face);

  Tie tie;
  tie.nodes = spider.nodes;
  const MatrixXd D = rigid_motions(mesh, tie.nodes, reference);
  if (spider.kind == Spider::Kind::Rigid) {
    tie.T = D;
  } else {
    if (static_cast<int>(face.size()) > max_averaging_nodes)
      fail_input(
          "{} averages over {} nodes, more than the {} that are supported; select a part of the face, a "
          "coarser mesh there, or make the spider rigid",
          label(spider), face.size(), max_averaging_nodes);
    // the complement: Householder vectors of W^(1/2) D applied to the last 3n - 6 unit vectors
    const int n = static_cast<int>(face.size()), rows = 3 * n;
    Eigen::VectorXd root_weight = Eigen::VectorXd::Ones(rows);
    if (!spider.weights.empty()) {
      const Eigen::Map<const Eigen::VectorXd> w(spider.weights.data(), n);
      for (int i = 0; i < n; ++i) root_weight.segment<3>(3 * i).setConstant(std::sqrt(w[i] / w.mean()));
    }
    const Eigen::HouseholderQR<MatrixXd> qr(root_weight.asDiagonal() * D);
    MatrixXd N = MatrixXd::Zero(rows, rows - 6);
    N.bottomRows(rows - 6).setIdentity();
    N.applyOnTheLeft(qr.householderQ());
    tie.T.resize(rows, rows);
    tie.T << D, root_weight.cwiseInverse().asDiagonal() * N;
  }
  // the reference itself moves with its six coordinates, whether or not elements hang on it
  tie.nodes.push_back(spider.reference);
  tie.T.conservativeResize(tie.T.rows() + 3, Eigen::NoChange);
  tie.T.bottomRows<3>().setZero();
  tie.T.bottomRows<3>().leftCols<3>().setIdentity();
  return tie;
}

// Where a degree of freedom of the elements goes: to a new number, or to a row of a tie.
struct Place {
  int kept = -1;
  int tie = -1, row = -1;
};

// Calls tied_kept(place of the tied one, kept number, value) and tied_tied(place, place, value) for the
// entries of the lower triangle that touch a tie.
template <class TiedKept, class TiedTied>
void for_each_tied_entry(const SymmetricMatrix& A, const std::vector<Place>& places, TiedKept&& tied_kept,
                         TiedTied&& tied_tied) {
  for (int col = 0; col < A.size(); ++col) {
    const Place& c = places[col];
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it) {
      const Place& r = places[it.row()];
      if (r.kept >= 0 && c.kept >= 0) continue;
      if (r.kept >= 0) {
        tied_kept(c, r.kept, it.value());
      } else if (c.kept >= 0) {
        tied_kept(r, c.kept, it.value());
      } else {
        tied_tied(r, c, it.value());
        // the other triangle
        if (it.row() != col) tied_tied(c, r, it.value());
      }
    }
  }
}

// The new coordinates' part of T^T A T, with A = [A_kk A_kf; A_fk A_ff], T = [I 0; 0 T_f] and T_f =
// diag(T_s). Dense blocks, but only where ties meet elements of the same neighbourhood: a model may have
// hundreds of spiders.
struct Transformed {
  std::vector<std::vector<int>> columns;           // of each tie: the kept columns it couples with, ascending
  std::vector<MatrixXd> coupling;                  // of each tie: T_s^T A_sk, one column for each of those
  std::map<std::pair<int, int>, MatrixXd> blocks;  // (t, s) with t <= s: T_s^T A_st T_t
};

Transformed transform_ties(const SymmetricMatrix& A, const std::vector<Place>& places,
                           const std::vector<Tie>& ties) {
  Transformed result;
  result.columns.resize(ties.size());

  // which kept columns each tie touches
  for_each_tied_entry(
      A, places, [&](const Place& f, int kept, double) { result.columns[f.tie].push_back(kept); },
      [](const Place&, const Place&, double) {});
  for (size_t s = 0; s < ties.size(); ++s) {
    std::vector<int>& columns = result.columns[s];
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    result.coupling.push_back(MatrixXd::Zero(ties[s].T.cols(), static_cast<Eigen::Index>(columns.size())));
  }

  // T_s^T A_sk, and A_st T_t, entry by entry of A
  std::map<std::pair<int, int>, RowMatrix> A_T;
  for_each_tied_entry(
      A, places,
      [&](const Place& f, int kept, double value) {
        const std::vector<int>& columns = result.columns[f.tie];
        const auto column = std::lower_bound(columns.begin(), columns.end(), kept) - columns.begin();
        result.coupling[f.tie].col(column) += value * ties[f.tie].T.row(f.row).transpose();
      },
      [&](const Place& r, const Place& c, double value) {
        // of a pair of ties one order is enough
        if (c.tie > r.tie) return;
        RowMatrix& product = A_T[{c.tie, r.tie}];
        if (product.size() == 0) product = RowMatrix::Zero(ties[r.tie].T.rows(), ties[c.tie].T.cols());
        product.row(r.row) += value * ties[c.tie].T.row(c.row);
      });
  for (const auto& [pair, product] : A_T) {
    MatrixXd block = ties[pair.second].T.transpose() * product;
    // symmetric to the last digit
    if (pair.first == pair.second) block = MatrixXd((block + block.transpose()) / 2);
    result.blocks.emplace(pair, std::move(block));
  }
  return result;
}

// T^T A T: the untouched columns with the coupling below them, then the new coordinates.
SymmetricMatrix transform(const SymmetricMatrix& A, const std::vector<Place>& places,
                          const std::vector<Tie>& ties, int kept_count, int coordinates) {
  const Transformed parts = transform_ties(A, places, ties);

  // the ties below each kept column: (column, tie, column in the tie's coupling), in the order of storage
  std::vector<std::array<int, 3>> below;
  std::int64_t entries = A.lower.nonZeros();
  for (size_t s = 0; s < ties.size(); ++s) {
    for (size_t k = 0; k < parts.columns[s].size(); ++k)
      below.push_back({parts.columns[s][k], static_cast<int>(s), static_cast<int>(k)});
    entries += parts.coupling[s].size();
  }
  std::sort(below.begin(), below.end());
  for (const auto& [pair, block] : parts.blocks) entries += block.size();
  if (entries > std::numeric_limits<int>::max())
    fail(
        "the spiders would give the matrices {} entries, more than the {} that Lissom can index; use rigid "
        "spiders "
        "or smaller faces",
        entries, std::numeric_limits<int>::max());

  SymmetricMatrix result;
  result.lower.resize(kept_count + coordinates, kept_count + coordinates);
  result.lower.reserve(entries);
  int column = 0;
  // zeros of A's pattern stay, those of the products go
  const auto append = [&](int row, double value) {
    if (value != 0) result.lower.insertBack(row, column) = value;
  };
  auto next = below.begin();
  for (int col = 0; col < A.size(); ++col) {
    if (places[col].kept < 0) continue;
    result.lower.startVec(column);
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it)
      if (places[it.row()].kept >= 0) result.lower.insertBack(places[it.row()].kept, column) = it.value();
    for (; next != below.end() && (*next)[0] == column; ++next) {
      const auto [_, s, k] = *next;
      for (int q = 0; q < ties[s].T.cols(); ++q)
        append(kept_count + ties[s].first_coordinate + q, parts.coupling[s](q, k));
    }
    ++column;
  }
  for (size_t t = 0; t < ties.size(); ++t) {
    const auto first_block = parts.blocks.lower_bound({static_cast<int>(t), 0});
    const auto last_block = parts.blocks.lower_bound({static_cast<int>(t) + 1, 0});
    for (int q = 0; q < ties[t].T.cols(); ++q, ++column) {
      result.lower.startVec(column);
      for (auto it = first_block; it != last_block; ++it) {
        const auto& [pair, block] = *it;
        const int s = pair.second;
        for (int p = s == static_cast<int>(t) ? q : 0; p < block.rows(); ++p)
          append(kept_count + ties[s].first_coordinate + p, block(p, q));
      }
    }
  }
  result.lower.finalize();
  result.lower.makeCompressed();
  return result;
}

}  // namespace

void apply_spiders(const Mesh& mesh, const std::vector<int>& first, FeModel& model,
                   Diagnostics& diagnostics) {
  const int nodes = mesh.node_count();
  check_spiders(mesh);

  // the ties, and what they replace
  std::vector<Tie> ties;
  std::vector<bool> moved(nodes, false);
  for (const Spider& spider : mesh.spiders) {
    ties.push_back(make_tie(mesh, spider, first, diagnostics));
    for (const int node : ties.back().nodes) moved[node] = true;
  }

  // nodes that nothing moves: dropped, which the user should know
  int orphans = 0, first_orphan = -1;
  for (int i = 0; i < nodes; ++i)
    if (first[i] < 0 && !moved[i] && orphans++ == 0) first_orphan = i;
  if (orphans > 0)
    diagnostics.warn(
        "mesh.orphan-nodes",
        fmt::format("{} of {} nodes belong to no element and no spider (the first is node {}); they "
                    "get no degrees of freedom",
                    orphans, nodes, mesh.node_ids[first_orphan]),
        SourcePos{mesh.source, 0});
  if (ties.empty() && orphans == 0) return;

  // new numbers of the untouched coordinates
  std::vector<Place> places(model.dofs.size());
  std::vector<Dof> dofs;
  for (size_t i = 0; i < model.dofs.size(); ++i) {
    if (moved[model.dofs[i].node]) continue;
    places[i].kept = static_cast<int>(dofs.size());
    dofs.push_back(model.dofs[i]);
  }
  const int kept_count = static_cast<int>(dofs.size());

  // rows of the ties for the others, and the recovery u = R q of all nodes
  std::vector<Eigen::Triplet<double>> R_entries;
  for (int i = 0; i < kept_count; ++i) R_entries.emplace_back(3 * dofs[i].node + dofs[i].direction, i, 1.0);
  for (size_t s = 0; s < ties.size(); ++s) {
    Tie& tie = ties[s];
    const int begin = static_cast<int>(dofs.size());
    tie.first_coordinate = begin - kept_count;
    for (int j = 0; j < 6; ++j) dofs.push_back({mesh.spiders[s].reference, j});
    for (int j = 6; j < tie.T.cols(); ++j) dofs.push_back({-1, 0});
    for (int row = 0; row < tie.T.rows(); ++row) {
      const int node = tie.nodes[row / 3], direction = row % 3;
      if (first[node] >= 0) places[3 * first[node] + direction] = {-1, static_cast<int>(s), row};
      for (int j = 0; j < tie.T.cols(); ++j)
        if (tie.T(row, j) != 0) R_entries.emplace_back(3 * node + direction, begin + j, tie.T(row, j));
    }
  }
  model.recovery.resize(3 * nodes, static_cast<int>(dofs.size()));
  model.recovery.setFromTriplets(R_entries.begin(), R_entries.end());
  if (!ties.empty()) {
    const int coordinates = static_cast<int>(dofs.size()) - kept_count;
    model.K = transform(model.K, places, ties, kept_count, coordinates);
    model.M = transform(model.M, places, ties, kept_count, coordinates);
  }
  model.dofs = std::move(dofs);
}

int add_spider(Mesh& mesh, const std::string& name, Spider::Kind kind, std::vector<int> nodes,
               std::optional<Vector3d> reference, std::vector<double> weights) {
  for (const Spider& spider : mesh.spiders)
    if (spider.name == name) fail_input("spider '{}' exists already; give the new one another name", name);
  if (nodes.size() < 3)
    fail_input("spider '{}' ties {} nodes, expected at least three that are not on a line", name,
               nodes.size());
  if (!reference) {
    reference = Vector3d::Zero();
    for (const int node : nodes) *reference += mesh.points.col(node) / double(nodes.size());
  }
  // a new node behind the others keeps all indices valid
  const int node = mesh.node_count();
  mesh.points.conservativeResize(Eigen::NoChange, node + 1);
  mesh.points.col(node) = *reference;
  mesh.node_ids.push_back(*std::max_element(mesh.node_ids.begin(), mesh.node_ids.end()) + 1);
  mesh.spiders.push_back({name, kind, node, std::move(nodes), std::move(weights), {}});
  return node;
}

}  // namespace lissom
