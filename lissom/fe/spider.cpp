#include "lissom/fe/spider.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>

namespace lissom {

namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

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

// checks that do not need K; fills `owner` (spider of each face node, or -1)
std::vector<int> check_spiders(const Mesh& mesh) {
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
  for (const Spider& spider : mesh.spiders)
    if (owner[spider.reference] >= 0)
      fail_input(
          "{} has the reference node {}, which spider '{}' ties in turn; chains of spiders are not "
          "supported: tie the nodes of both faces to one reference",
          label(spider), id(spider.reference), mesh.spiders[owner[spider.reference]].name);
  return owner;
}

// One spider's part of u = T q: the nodes it moves (with elements or not) and the rows of T for them.
struct Tie {
  std::vector<int> nodes;
  MatrixXd T;  // 3 nodes by coordinates: the six of the reference, then z
};

Tie make_tie(const Mesh& mesh, const Spider& spider, const std::vector<int>& first,
             Diagnostics& diagnostics) {
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

// T^T A T where T keeps the coordinates with kept[i] >= 0 (their new number) and takes the others through the
// rows of `tied`: A = [A_kk A_kf; A_fk A_ff], T = [I 0; 0 T_f].
SymmetricMatrix transform(const SymmetricMatrix& A, const std::vector<int>& kept,
                          const std::vector<int>& tied, int kept_count, const SparseMatrix& T_f) {
  // sort the entries of the lower triangle into A_fk and A_ff (full)
  const int f_count = static_cast<int>(T_f.rows()), q_count = static_cast<int>(T_f.cols());
  std::vector<Eigen::Triplet<double>> fk, ff;
  for (int col = 0; col < A.size(); ++col) {
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it) {
      const int row = static_cast<int>(it.row());
      if (kept[row] >= 0 && kept[col] >= 0) continue;
      if (kept[row] >= 0) {
        fk.emplace_back(tied[col], kept[row], it.value());
      } else if (kept[col] >= 0) {
        fk.emplace_back(tied[row], kept[col], it.value());
      } else {
        ff.emplace_back(tied[row], tied[col], it.value());
        if (row != col) ff.emplace_back(tied[col], tied[row], it.value());
      }
    }
  }
  SparseMatrix A_fk(f_count, kept_count), A_ff(f_count, f_count);
  A_fk.setFromTriplets(fk.begin(), fk.end());
  A_ff.setFromTriplets(ff.begin(), ff.end());
  const SparseMatrix T_t = T_f.transpose();
  const SparseMatrix coupling = T_t * A_fk;
  SparseMatrix right = T_t * A_ff * T_f;
  // symmetric to the last digit
  right = SparseMatrix(0.5 * (right + SparseMatrix(right.transpose())));

  // put together: untouched columns with the coupling below, then the new coordinates
  SymmetricMatrix result;
  const int size = kept_count + q_count;
  std::vector<int> counts(size, 0);
  for (int col = 0; col < A.size(); ++col) {
    if (kept[col] < 0) continue;
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it) counts[kept[col]] += kept[it.row()] >= 0;
    counts[kept[col]] += coupling.outerIndexPtr()[kept[col] + 1] - coupling.outerIndexPtr()[kept[col]];
  }
  for (int q = 0; q < q_count; ++q)
    for (SparseMatrix::InnerIterator it(right, q); it; ++it) counts[kept_count + q] += it.row() >= q;
  result.lower.resize(size, size);
  result.lower.reserve(counts);
  for (int col = 0; col < A.size(); ++col) {
    if (kept[col] < 0) continue;
    for (SparseMatrix::InnerIterator it(A.lower, col); it; ++it)
      if (kept[it.row()] >= 0) result.lower.insert(kept[it.row()], kept[col]) = it.value();
    for (SparseMatrix::InnerIterator it(coupling, kept[col]); it; ++it)
      result.lower.insert(kept_count + static_cast<int>(it.row()), kept[col]) = it.value();
  }
  for (int q = 0; q < q_count; ++q)
    for (SparseMatrix::InnerIterator it(right, q); it; ++it)
      if (it.row() >= q)
        result.lower.insert(kept_count + static_cast<int>(it.row()), kept_count + q) = it.value();
  result.lower.makeCompressed();
  return result;
}

}  // namespace

void apply_spiders(const Mesh& mesh, const std::vector<int>& first, FeModel& model,
                   Diagnostics& diagnostics) {
  const int nodes = mesh.node_count();
  const std::vector<int> owner = check_spiders(mesh);

  // the ties, and what they replace
  std::vector<Tie> ties;
  std::vector<bool> moved(nodes, false);
  for (const Spider& spider : mesh.spiders) {
    ties.push_back(make_tie(mesh, spider, first, diagnostics));
    for (const int node : ties.back().nodes) moved[node] = true;
  }

  // nodes that nothing moves
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

  // new numbers of the untouched coordinates; rows of T_f for the others
  std::vector<int> kept(model.dofs.size(), -1), tied(model.dofs.size(), -1);
  std::vector<Dof> dofs;
  for (size_t i = 0; i < model.dofs.size(); ++i) {
    if (moved[model.dofs[i].node]) continue;
    kept[i] = static_cast<int>(dofs.size());
    dofs.push_back(model.dofs[i]);
  }
  const int kept_count = static_cast<int>(dofs.size());

  // T_f and the recovery u = R q of all nodes
  std::vector<Eigen::Triplet<double>> T_entries, R_entries;
  for (int i = 0; i < kept_count; ++i) R_entries.emplace_back(3 * dofs[i].node + dofs[i].direction, i, 1.0);
  int f_count = 0;
  for (size_t s = 0; s < ties.size(); ++s) {
    const Tie& tie = ties[s];
    const int begin = static_cast<int>(dofs.size());
    for (int j = 0; j < 6; ++j) dofs.push_back({mesh.spiders[s].reference, j});
    for (int j = 6; j < tie.T.cols(); ++j) dofs.push_back({-1, 0});
    for (size_t i = 0; i < tie.nodes.size(); ++i) {
      for (int d = 0; d < 3; ++d) {
        const int base = first[tie.nodes[i]];
        if (base >= 0) tied[3 * base + d] = f_count;
        for (int j = 0; j < tie.T.cols(); ++j) {
          const double value = tie.T(3 * i + d, j);
          if (value == 0) continue;
          R_entries.emplace_back(3 * tie.nodes[i] + d, begin + j, value);
          if (base >= 0) T_entries.emplace_back(f_count, begin + j - kept_count, value);
        }
        f_count += base >= 0;
      }
    }
  }
  SparseMatrix T_f(f_count, static_cast<int>(dofs.size()) - kept_count);
  T_f.setFromTriplets(T_entries.begin(), T_entries.end());
  model.recovery.resize(3 * nodes, static_cast<int>(dofs.size()));
  model.recovery.setFromTriplets(R_entries.begin(), R_entries.end());
  if (!ties.empty()) {
    model.K = transform(model.K, kept, tied, kept_count, T_f);
    model.M = transform(model.M, kept, tied, kept_count, T_f);
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
  const int node = mesh.node_count();
  mesh.points.conservativeResize(Eigen::NoChange, node + 1);
  mesh.points.col(node) = *reference;
  mesh.node_ids.push_back(*std::max_element(mesh.node_ids.begin(), mesh.node_ids.end()) + 1);
  mesh.spiders.push_back({name, kind, node, std::move(nodes), std::move(weights), {}});
  return node;
}

}  // namespace lissom
