// A body of few coordinates whose markers are linear in them, as a mechanism reduced as a whole is: a
// constant mass matrix, an elastic energy of fourth order, damping. With `plain` it does not say that its
// markers are linear.
#pragma once

#include <Eigen/Dense>

#include "lissom/mbs/body.hpp"
#include "tests/mbs/marker_support.hpp"

namespace lissom::test {

class LinearBody final : public Body {
 public:
  LinearBody(int n, bool plain, unsigned seed = 3) : Body("mechanism"), n_(n), plain_(plain), random_(seed) {
    Eigen::MatrixXd A(n, n), B(n, n);
    for (int i = 0; i < n; ++i) {
      A.col(i) = random_.vector(n);
      B.col(i) = random_.vector(n);
    }
    M_ = Eigen::MatrixXd::Identity(n, n) + 0.2 * A * A.transpose();
    K_ = 40 * (Eigen::MatrixXd::Identity(n, n) + 0.2 * B * B.transpose());
    start_ = 0.2 * random_.vector(n);
    rate_ = random_.vector(n);
  }

  std::string formulation() const override { return "linear"; }
  std::vector<std::string> part_names() const override { return {"mechanism"}; }
  int coordinates() const override { return n_; }
  int own_constraints() const override { return 0; }
  int flexible_modes() const override { return n_; }
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }
  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                    const Eigen::Vector3d& gravity, Workspace&,
                    Eigen::Ref<Eigen::VectorXd> r) const override {
    r.noalias() += w * M_.lazyProduct(a) + 0.01 * K_.lazyProduct(v) + K_.lazyProduct(q);
    r += 30 * q.squaredNorm() * q;
    r[0] -= gravity.z();
  }
  void jacobian(const Vector& q, const Vector&, const Vector&, double w, const Eigen::Vector3d&, double cq,
                double cv, double ca, Workspace&, Eigen::Ref<Eigen::MatrixXd> J) const override {
    J = ca * w * M_ + (0.01 * cv + cq) * K_;
    J.noalias() += 60 * cq * q.lazyProduct(q.transpose());
    J.diagonal().array() += 30 * cq * q.squaredNorm();
  }
  void mass(const Vector&, Workspace&, Eigen::Ref<Eigen::MatrixXd> M) const override { M = M_; }

  int add_marker(const MarkerSpec&) override {
    // near to axes of length one: at a rotation, all else in proportion to the coordinates
    Matrix12Xd L(12, n_ + 1);
    L.col(0) = marker_at(random_.vector(3), random_.rotation(0.3));
    for (int i = 1; i <= n_; ++i) L.col(i) = 0.3 * random_.vector(12);
    markers_.push_back(L);
    return static_cast<int>(markers_.size()) - 1;
  }
  bool marker_rotates(int) const override { return true; }
  void marker(int marker, const Vector& q, const Vector& v, bool, Workspace&,
              MarkerKinematics& out) const override {
    const Matrix12Xd& L = markers_[static_cast<size_t>(marker)];
    out.J = L.rightCols(n_);
    out.V = Matrix12Xd::Zero(12, n_);
    out.m = L.col(0) + out.J * q;
    out.rate = out.J * v;
    out.rotates = true;
  }
  void add_marker_hessian(int, const Vector&, const Vector12d&, double, Workspace&,
                          Eigen::Ref<Eigen::MatrixXd>) const override {}
  const Matrix12Xd* linear_marker(int marker) const override {
    return plain_ ? nullptr : &markers_[static_cast<size_t>(marker)];
  }

  void place(const Placement&, Eigen::Ref<Eigen::VectorXd> q, Eigen::Ref<Eigen::VectorXd> v) const override {
    q = start_;
    v = rate_;
  }
  double mass() const override { return 1; }
  Energy energy(const Vector& q, const Vector& v, const Eigen::Vector3d& gravity, Workspace&) const override {
    Energy out;
    out.kinetic = v.dot(M_.lazyProduct(v)) / 2;
    out.elastic = q.dot(K_.lazyProduct(q)) / 2 + 7.5 * q.squaredNorm() * q.squaredNorm();
    out.gravity = -gravity.z() * q[0];
    out.damping_power = 0.01 * v.dot(K_.lazyProduct(v));
    return out;
  }
  Eigen::Matrix3Xd node_positions(const Vector&) const override { return Eigen::Matrix3Xd::Zero(3, 0); }
  Eigen::Matrix3Xd node_velocities(const Vector&, const Vector&) const override {
    return Eigen::Matrix3Xd::Zero(3, 0);
  }
  const std::vector<std::int64_t>& node_ids() const override { return ids_; }
  void displacement_scale(Eigen::Ref<Eigen::VectorXd> scale) const override { scale.setOnes(); }
  std::string coordinate_name(int i) const override { return "mode " + std::to_string(i + 1); }
  double radius() const override { return 1; }

 private:
  int n_;
  bool plain_;
  Random random_;
  Eigen::MatrixXd M_, K_;
  Eigen::VectorXd start_, rate_;
  std::vector<Matrix12Xd> markers_;
  std::vector<std::int64_t> ids_;
};

}  // namespace lissom::test
