// A reduced mechanism made by hand whose motion is known: two cubes of eight nodes and edge 1 m, "block" and
// "slider.2" (1 m above it, of twice its mass), that move together along x with eta_1 [m]; the block
// stretches along its own y with eta_2, which holds k eta_2^2 / 2.
#pragma once

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <string>

#include "lissom/io/rom_file.hpp"

namespace lissom::test {

struct Cubes {
  double mass = 3;                                       // of the block [kg]; the slider has twice that
  double stiffness = 48;                                 // k [J]; omega^2 = k / (mass / 4)
  Eigen::Matrix3d turned = Eigen::Matrix3d::Identity();  // the block's rotation in the reference
  bool recovery = true;
};

inline SlapModel make_cubes(const Cubes& cubes = {}) {
  constexpr int m = 2, nodes = 8;
  SlapModel model;
  model.title = "cubes";
  model.M = Eigen::MatrixXd::Zero(m, m);
  model.centre = Eigen::MatrixXd::Zero(3, m + 1);
  model.angular = Eigen::MatrixXd::Zero(3, (m + 1) * (m + 1));
  for (const bool block : {true, false}) {
    SlapPart part;
    part.name = block ? "block" : "slider.2";
    part.mass = (block ? 1 : 2) * cubes.mass;
    Eigen::Matrix3Xd X(3, nodes);
    for (int i = 0; i < nodes; ++i) X.col(i) << (i & 1) - 0.5, ((i >> 1) & 1) - 0.5, ((i >> 2) & 1) - 0.5;
    const Eigen::Matrix3d Q = block ? cubes.turned : Eigen::Matrix3d::Identity();
    // x y z of node after node for the reference and the modes
    Eigen::MatrixXd phi = Eigen::MatrixXd::Zero(3 * nodes, m + 1);
    for (int i = 0; i < nodes; ++i) {
      phi.col(0).segment<3>(3 * i) = Q * X.col(i);
      if (!block) phi(3 * i + 2, 0) += 1;
      phi(3 * i, 1) = 1;
      if (block) phi.col(2).segment<3>(3 * i) = X(1, i) * Q.col(1);
    }
    const double share = part.mass / nodes;
    for (int i = 0; i < nodes; ++i) {
      const auto p = phi.middleRows<3>(3 * i);
      model.M += share * p.rightCols(m).transpose() * p.rightCols(m);
      model.centre += share * p;
      for (int a = 0; a <= m; ++a)
        for (int b = 0; b <= m; ++b)
          model.angular.col(a * (m + 1) + b) +=
              share * Eigen::Vector3d(p.col(a)).cross(Eigen::Vector3d(p.col(b)));
    }
    part.S0 = X * X.transpose();
    part.A = Eigen::MatrixXd::Zero(9, m + 1);
    for (int q = 0; q <= m; ++q) {
      const Eigen::Map<const Eigen::Matrix3Xd> x(phi.col(q).data(), 3, nodes);
      const Eigen::Matrix3d A = x * X.transpose() * part.S0.inverse();
      part.A.col(q) = Eigen::Map<const Eigen::VectorXd>(A.data(), 9);
    }
    part.C = Eigen::MatrixXd::Zero(block ? 1 : 0, 9 * (m + 2));
    if (block) part.C(0, 4) = std::sqrt(cubes.stiffness);  // E_yy
    if (cubes.recovery) {
      for (int i = 0; i < nodes; ++i) part.node_ids.push_back(i + 1);
      part.fields = Eigen::MatrixXd::Identity(nodes, nodes);
      part.coefficients = phi;
      part.points = X;
    }
    // its upper face, and one node of it
    SlapFrame face, corner;
    face.name = "face";
    corner.name = "node 8";
    face.part = corner.part = block ? 0 : 1;
    face.position = Eigen::MatrixXd::Zero(3, m + 1);
    face.moment = Eigen::MatrixXd::Zero(9, m + 1);
    for (int i = 4; i < nodes; ++i) {
      face.position += phi.middleRows<3>(3 * i) / 4;
      for (int j = 0; j < 3; ++j)
        face.moment.middleRows<3>(3 * j) += phi.middleRows<3>(3 * i) * (X(j, i) - (j == 2 ? 0.5 : 0)) / 4;
    }
    corner.position = phi.bottomRows<3>();
    model.frames.push_back(face);
    model.frames.push_back(corner);
    model.parts.push_back(std::move(part));
  }
  model.start = model.start_rate = Eigen::VectorXd::Zero(m);
  model.scale = Eigen::VectorXd::Ones(m);
  model.radius = 2;
  // eta_1 from 0 to 1 m in steps of 0.1 m
  model.training.samples = Eigen::MatrixXd::Zero(m, 11);
  model.training.samples.row(0) = Eigen::RowVectorXd::LinSpaced(11, 0, 1);
  model.training.spread = Eigen::VectorXd::Ones(m);
  model.training.reach = 0.1;
  return model;
}

}  // namespace lissom::test
