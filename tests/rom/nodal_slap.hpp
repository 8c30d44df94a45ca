// SLAP by its plain definition at the nodes, and the model that belongs to it: positions of some meshed parts
// as rho + Phi eta, rotations by the singular value decomposition, energies d'Kd/2.
#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "lissom/fe/assembly.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "tests/fe/test_meshes.hpp"

namespace lissom::test {

struct NodalPart {
  std::string name;
  Mesh mesh;
  Eigen::Matrix3Xd points;  // at rest, own frame
  Eigen::MatrixXd K;        // 3n by 3n, node by node
  Eigen::VectorXd mass;     // n, lumped
  // positions: 3 by n for each of e = (1, eta)
  std::vector<Eigen::Matrix3Xd> columns;

  int nodes() const { return static_cast<int>(points.cols()); }
};

struct NodalSlap {
  std::vector<NodalPart> parts;
  int m = 0;

  Eigen::Matrix3Xd positions(int part, const Eigen::VectorXd& eta) const {
    const NodalPart& p = parts[part];
    Eigen::Matrix3Xd x = p.columns[0];
    for (int r = 0; r < m; ++r) x += eta[r] * p.columns[1 + r];
    return x;
  }

  // R (global to part) and the deformation in the part's axes, 3n.
  Eigen::VectorXd deformation(int part, const Eigen::VectorXd& eta,
                              Eigen::Matrix3d* rotation = nullptr) const {
    const Eigen::Matrix3Xd x = positions(part, eta);
    const Eigen::Matrix3Xd x0 = parts[part].points.colwise() - parts[part].points.rowwise().mean();
    const Eigen::Matrix3Xd xc = x.colwise() - x.rowwise().mean();
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(Eigen::Matrix3d(xc * x0.transpose()),
                                                Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Matrix3d U = svd.matrixU(), V = svd.matrixV();
    const Eigen::Matrix3d R =
        V * Eigen::Vector3d(1, 1, (V * U.transpose()).determinant()).asDiagonal() * U.transpose();
    if (rotation) *rotation = R;
    const Eigen::Matrix3Xd d = R * xc - x0;
    return Eigen::Map<const Eigen::VectorXd>(d.data(), d.size());
  }

  double energy(const Eigen::VectorXd& eta) const {
    double V = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Eigen::VectorXd d = deformation(static_cast<int>(i), eta);
      V += 0.5 * d.dot(parts[i].K * d);
    }
    return V;
  }
};

inline NodalPart nodal_part(const std::string& name, const Eigen::Vector3d& size, std::array<int, 3> cells,
                            ElementType type = ElementType::Hex8) {
  NodalPart part;
  part.name = name;
  BoxOptions box;
  box.size = size;
  box.cells = cells;
  part.mesh = box_mesh(type, box);
  part.points = part.mesh.points;
  // rubber, so that motions of a second show vibration
  AssemblyOptions options;
  options.mass = MassKind::Lumped;
  Material rubber = steel();
  rubber.isotropic = Isotropic{1e7, 0.3};
  rubber.density = 1000;
  options.material = rubber;
  Diagnostics diagnostics;
  const FeModel model = assemble(part.mesh, options, diagnostics);
  const SparseMatrix K = model.K.full();
  part.K = Eigen::MatrixXd(K);
  part.mass = model.node_mass.diagonal();
  return part;
}

// Three boxes beside each other, without a basis yet.
inline NodalSlap three_boxes() {
  NodalSlap slap;
  slap.parts.push_back(nodal_part("left", {0.2, 0.3, 1.0}, {1, 1, 4}));
  slap.parts.push_back(nodal_part("top", {0.2, 1.2, 0.3}, {1, 4, 1}, ElementType::Tet4));
  slap.parts.push_back(nodal_part("right", {0.3, 0.2, 0.9}, {1, 1, 3}));
  return slap;
}

// Smooth deformations of a box, 3 by n: bending, stretch, twist
inline std::vector<Eigen::Matrix3Xd> smooth_fields(const NodalPart& part) {
  std::vector<Eigen::Matrix3Xd> fields(3, Eigen::Matrix3Xd::Zero(3, part.nodes()));
  const Eigen::Vector3d centre = part.points.rowwise().mean();
  for (int i = 0; i < part.nodes(); ++i) {
    const Eigen::Vector3d X = part.points.col(i) - centre;
    fields[0].col(i) = Eigen::Vector3d(0.2 * X[1] * X[2], X[2] * X[2], -2 * X[1] * X[2] + X[1] * X[1]);
    fields[1].col(i) = Eigen::Vector3d(-0.3 * X[0], 0.1 * X[2], X[2] - 0.4 * X[1] * X[1]);
    fields[2].col(i) = Eigen::Vector3d(-X[1] * X[2], X[0] * X[2], X[0] * X[1]);
  }
  return fields;
}

inline Eigen::Matrix3d about_x(double angle) {
  return Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitX()).toRotationMatrix();
}

// Parts that turn about x by t, -0.6 t and 0.8 t, bend and move: the whole configuration at t, 3 n_i columns
// of each.
inline std::vector<Eigen::Matrix3Xd> configuration(const NodalSlap& slap, double t, double deformation) {
  std::vector<Eigen::Matrix3Xd> result;
  const double speed[3] = {1, -0.6, 0.8};
  for (size_t i = 0; i < slap.parts.size(); ++i) {
    const NodalPart& part = slap.parts[i];
    const auto fields = smooth_fields(part);
    const Eigen::Matrix3Xd X = part.points + deformation * (std::sin(3 * t) * fields[0] +
                                                            std::sin(2 * t + double(i)) * 0.3 * fields[1] +
                                                            (std::cos(4 * t) - 1) * fields[2]);
    const Eigen::Vector3d place(0.4 * double(i), std::sin(t) * double(i), 0.3 * (1 - std::cos(t)));
    result.push_back((about_x(speed[i] * t) * X).colwise() + place);
  }
  return result;
}

inline Eigen::VectorXd stacked(const std::vector<Eigen::Matrix3Xd>& x) {
  Eigen::Index size = 0, at = 0;
  for (const auto& part : x) size += part.size();
  Eigen::VectorXd result(size);
  for (const auto& part : x) {
    result.segment(at, part.size()) = Eigen::Map<const Eigen::VectorXd>(part.data(), part.size());
    at += part.size();
  }
  return result;
}

inline void set_columns(NodalSlap& slap, const Eigen::VectorXd& rho, const Eigen::MatrixXd& Phi) {
  slap.m = static_cast<int>(Phi.cols());
  Eigen::Index at = 0;
  for (NodalPart& part : slap.parts) {
    const Eigen::Index n = part.points.size();
    part.columns.clear();
    for (int q = 0; q <= slap.m; ++q) {
      const Eigen::VectorXd x = q == 0 ? rho.segment(at, n) : Eigen::VectorXd(Phi.col(q - 1).segment(at, n));
      part.columns.push_back(Eigen::Map<const Eigen::Matrix3Xd>(x.data(), 3, n / 3));
    }
    at += n;
  }
}

// The basis of a motion, by singular values as a training makes it. `spread` (m) are the amplitudes and
// `state` the coordinates at t = 1.
inline NodalSlap trained_slap(int m, double deformation, Eigen::VectorXd& spread, Eigen::VectorXd& state) {
  NodalSlap slap = three_boxes();
  const int count = 60;
  const Eigen::VectorXd rho = stacked(configuration(slap, 0, deformation));
  Eigen::MatrixXd data(rho.size(), count);
  for (int k = 0; k < count; ++k)
    data.col(k) = stacked(configuration(slap, 1.2 * (k + 1) / count, deformation)) - rho;
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(data, Eigen::ComputeThinU);
  set_columns(slap, rho, svd.matrixU().leftCols(m));
  spread = svd.singularValues().head(m) / std::sqrt(double(count));
  state = svd.matrixU().leftCols(m).transpose() * (stacked(configuration(slap, 1, deformation)) - rho);
  return slap;
}

// Six translations and rotations of all parts together about x, and deformations that turn with them: 2 + 3 +
// 3 modes, so that the turn by any angle about x is among the states.
inline NodalSlap turning_slap() {
  NodalSlap slap = three_boxes();
  std::vector<std::vector<Eigen::Matrix3Xd>> columns(9);
  for (size_t i = 0; i < slap.parts.size(); ++i) {
    const NodalPart& part = slap.parts[i];
    const Eigen::Matrix3Xd X = part.points.colwise() + Eigen::Vector3d(0.4 * double(i), 0, 0);
    const Eigen::Matrix3Xd psi = smooth_fields(part)[i] + 0.4 * smooth_fields(part)[0];
    const Eigen::Matrix3d along = Eigen::Vector3d(1, 0, 0).asDiagonal(),
                          across = Eigen::Vector3d(0, 1, 1).asDiagonal();
    Eigen::Matrix3d turn = Eigen::Matrix3d::Zero();
    turn(2, 1) = 1;
    turn(1, 2) = -1;
    columns[0].push_back(X);
    columns[1].push_back(across * X);
    columns[2].push_back(turn * X);
    for (int k = 0; k < 3; ++k)
      columns[3 + k].push_back(Eigen::Vector3d::Unit(k) * Eigen::RowVectorXd::Ones(part.nodes()));
    columns[6].push_back(along * psi);
    columns[7].push_back(across * psi);
    columns[8].push_back(turn * psi);
  }
  Eigen::MatrixXd Phi(stacked(columns[0]).size(), 8);
  for (int r = 0; r < 8; ++r) Phi.col(r) = stacked(columns[1 + r]);
  set_columns(slap, stacked(columns[0]), Phi);
  return slap;
}
// The coordinates of it turned by an angle about x and moved by c, with deformation a.
inline Eigen::VectorXd turned_state(double angle, const Eigen::Vector3d& c, double a) {
  Eigen::VectorXd eta(8);
  eta << std::cos(angle) - 1, std::sin(angle), c, a, a * std::cos(angle), a * std::sin(angle);
  return eta;
}

// A factor of a symmetric positive semidefinite matrix: C'C, rows below `tolerance` left out.
inline Eigen::MatrixXd factor_of(const Eigen::MatrixXd& B, double tolerance = 1e-15) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(B);
  const Eigen::VectorXd values = eigen.eigenvalues();
  const double largest = values.maxCoeff();
  const int kept = static_cast<int>((values.array() > tolerance * largest).count());
  return values.tail(kept).cwiseSqrt().asDiagonal() * eigen.eigenvectors().rightCols(kept).transpose();
}

struct NodalModelOptions {
  double damping_ratio = 0;  // damping = ratio * K in each part's axes [s]
  double mass_damping = 0;   // [1/s]
  bool recovery = true;
  Eigen::VectorXd spread;  // C is factorised with coordinates scaled by it
};

// All of a SlapModel from the nodes by definition.
inline SlapModel model_of(const NodalSlap& slap, const NodalModelOptions& options = {}) {
  const int m = slap.m;
  SlapModel model;
  model.title = "boxes";
  model.M = Eigen::MatrixXd::Zero(m, m);
  model.mass_damping = options.mass_damping;
  model.centre = Eigen::MatrixXd::Zero(3, m + 1);
  model.angular = Eigen::MatrixXd::Zero(3, (m + 1) * (m + 1));
  model.start = model.start_rate = Eigen::VectorXd::Zero(m);
  model.scale = Eigen::VectorXd::Zero(m);
  for (size_t i = 0; i < slap.parts.size(); ++i) {
    const NodalPart& nodal = slap.parts[i];
    const int n = nodal.nodes();
    SlapPart part;
    part.name = nodal.name;
    part.mass = nodal.mass.sum();
    const Eigen::Matrix3Xd x0 = nodal.points.colwise() - nodal.points.rowwise().mean();
    part.S0 = x0 * x0.transpose();
    part.A.resize(9, m + 1);
    // columns of B: unit matrices times x0, then times w_q
    Eigen::MatrixXd B(3 * n, 9 * (m + 2));
    const auto put = [&](int block, const Eigen::Matrix3Xd& x) {
      for (int k = 0; k < 9; ++k) {
        Eigen::Matrix3Xd turned = Eigen::Matrix3Xd::Zero(3, n);
        turned.row(k % 3) = x.row(k / 3);
        B.col(9 * block + k) = Eigen::Map<const Eigen::VectorXd>(turned.data(), 3 * n);
      }
    };
    put(0, x0);
    for (int q = 0; q <= m; ++q) {
      const Eigen::Matrix3Xd phi = nodal.columns[q].colwise() - nodal.columns[q].rowwise().mean();
      const Eigen::Matrix3d A = phi * x0.transpose() * part.S0.inverse();
      part.A.col(q) = Eigen::Map<const Eigen::VectorXd>(A.data(), 9);
      put(1 + q, phi - A * x0);
    }
    Eigen::VectorXd D = Eigen::VectorXd::Ones(9 * (m + 2));
    if (options.spread.size() > 0)
      for (int q = 0; q < m; ++q) D.segment<9>(9 * (q + 2)).setConstant(options.spread[q]);
    Eigen::MatrixXd KB = D.asDiagonal() * B.transpose() * nodal.K * B * D.asDiagonal();
    part.C = factor_of(0.5 * (KB + KB.transpose())) * D.cwiseInverse().asDiagonal();
    // exactly without rotations
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < a; ++b) {
        const Eigen::VectorXd mean = 0.5 * (part.C.col(3 * a + b) + part.C.col(3 * b + a));
        part.C.col(3 * a + b) = part.C.col(3 * b + a) = mean;
      }
    if (options.damping_ratio > 0) part.C_damping = std::sqrt(options.damping_ratio) * part.C;

    for (int q = 0; q <= m; ++q) {
      const Eigen::Matrix3Xd& phi = nodal.columns[q];
      model.centre.col(q) += phi * nodal.mass;
      for (int p = 0; p <= m; ++p) {
        const Eigen::Matrix3Xd& other = nodal.columns[p];
        for (int k = 0; k < n; ++k)
          model.angular.col(q * (m + 1) + p) +=
              nodal.mass[k] * Eigen::Vector3d(phi.col(k)).cross(Eigen::Vector3d(other.col(k)));
        if (p > 0 && q > 0) model.M(q - 1, p - 1) += (phi.cwiseProduct(other) * nodal.mass).sum();
      }
      if (q > 0) model.scale[q - 1] = std::max(model.scale[q - 1], phi.colwise().norm().maxCoeff());
    }
    if (options.recovery) {
      part.node_ids = nodal.mesh.node_ids;
      part.points = nodal.points;
      // a field for every node
      part.fields = Eigen::MatrixXd::Identity(n, n);
      part.coefficients.resize(3 * n, m + 1);
      for (int q = 0; q <= m; ++q)
        part.coefficients.col(q) = Eigen::Map<const Eigen::VectorXd>(nodal.columns[q].data(), 3 * n);
    }
    model.parts.push_back(std::move(part));

    // the ends, and one node
    const int end_axis = nodal.name == "top" ? 1 : 2;
    const std::string sets[2] = {end_axis == 1 ? "y0" : "z0", end_axis == 1 ? "y1" : "z1"};
    for (int end = 0; end < 2; ++end) {
      const std::vector<int>& nodes = nodal.mesh.node_sets.at(sets[end]);
      SlapFrame frame;
      frame.name = end == 0 ? "begin" : "end";
      frame.part = static_cast<int>(i);
      frame.position = Eigen::MatrixXd::Zero(3, m + 1);
      frame.moment = Eigen::MatrixXd::Zero(9, m + 1);
      frame.arm = Eigen::Vector3d(0.01, -0.02, 0.03);
      const Eigen::Matrix3Xd X = nodal.points(Eigen::all, nodes);
      const Eigen::Matrix3Xd arms = X.colwise() - X.rowwise().mean();
      for (int q = 0; q <= m; ++q) {
        const Eigen::Matrix3Xd phi = nodal.columns[q](Eigen::all, nodes);
        frame.position.col(q) = phi.rowwise().mean();
        const Eigen::Matrix3d moment = phi * arms.transpose() / double(nodes.size());
        frame.moment.col(q) = Eigen::Map<const Eigen::VectorXd>(moment.data(), 9);
      }
      model.frames.push_back(frame);
    }
    SlapFrame node;
    node.name = "node 1";
    node.part = static_cast<int>(i);
    node.position.resize(3, m + 1);
    for (int q = 0; q <= m; ++q) node.position.col(q) = nodal.columns[q].col(0);
    model.frames.push_back(node);
  }
  model.M = (0.5 * (model.M + model.M.transpose())).eval();
  model.radius = 1;
  return model;
}

}  // namespace lissom::test
