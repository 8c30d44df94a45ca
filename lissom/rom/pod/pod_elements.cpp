// The forms of the reduced force that evaluate elements: all of them (direct), or those that touch a few
// nodal rows (DEIM, Chaturantabut and Sorensen 2010).
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tall_svd.hpp"
#include "lissom/rom/pod/pod_points.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <int D>
using ElementVector = Eigen::Matrix<double, 4 * D, 1>;
template <int D>
using ElementMatrix = Eigen::Matrix<double, 4 * D, 4 * D>;

// Rows of Z that an element reads, 4 D by columns.
template <int D>
MatrixXd element_rows(const MatrixXd& Z, const AncfElementPlace& place) {
  MatrixXd rows(4 * D, Z.cols());
  rows << Z.middleRows(place.first, 2 * D), Z.middleRows(place.second, 2 * D);
  return rows;
}

template <int D>
class DirectForce final : public PodForceModel {
 public:
  using Columns = Eigen::Matrix<double, 4 * D, Eigen::Dynamic>;

  explicit DirectForce(const PodElements& model)
      : law_(model.law), r_(model.order()), damped_(model.damped()) {
    const MatrixXd Z = pod_columns(model);
    Z_.resize(4 * D, static_cast<Index>(model.elements.size()) * (r_ + 1));
    for (const AncfElementPlace& place : model.elements) {
      Z_.middleCols(static_cast<Index>(properties_.size()) * (r_ + 1), r_ + 1) = element_rows<D>(Z, place);
      properties_.push_back(place.properties);
    }
  }

  std::unique_ptr<Room> room() const override { return std::make_unique<Work>(r_); }

  void add_force(const Vector& xi, const Vector& v, Room&, Eigen::Ref<VectorXd> f) const override {
    ElementVector<D> force;
    for (Index e = 0; e < size(); ++e) {
      const ElementVector<D> x = state(e, xi);
      ancf_elastic<D>(law_, properties_[e], x, force, nullptr);
      f.noalias() += basis(e).transpose().lazyProduct(force);
      if (properties_[e].damping == 0) continue;
      const ElementVector<D> rate = basis(e).lazyProduct(v);
      ancf_damping<D>(law_, properties_[e], x, rate, force, nullptr, nullptr);
      f.noalias() += basis(e).transpose().lazyProduct(force);
    }
  }

  void tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
               Eigen::Ref<MatrixXd> K) const override {
    Work& work = static_cast<Work&>(room);
    ElementVector<D> force;
    ElementMatrix<D> tangent, by_e, by_rate;
    K.setZero();
    for (Index e = 0; e < size(); ++e) {
      const ElementVector<D> x = state(e, xi);
      ancf_elastic<D>(law_, properties_[e], x, force, &tangent);
      tangent *= cq;
      if (properties_[e].damping != 0) {
        const ElementVector<D> rate = basis(e).lazyProduct(v);
        ancf_damping<D>(law_, properties_[e], x, rate, force, &by_e, &by_rate);
        tangent += cq * by_e + cv * by_rate;
      }
      work.T.noalias() = tangent.lazyProduct(basis(e));
      K.noalias() += basis(e).transpose().lazyProduct(work.T);
    }
  }

  double energy(const Vector& xi, Room&) const override {
    ElementVector<D> force;
    double sum = 0;
    for (Index e = 0; e < size(); ++e)
      sum += ancf_elastic<D>(law_, properties_[e], state(e, xi), force, nullptr);
    return sum;
  }
  double damping_power(const Vector& xi, const Vector& v, Room&) const override {
    ElementVector<D> force;
    double sum = 0;
    for (Index e = 0; e < size(); ++e)
      if (properties_[e].damping != 0) {
        const ElementVector<D> rate = basis(e).lazyProduct(v);
        sum += ancf_damping<D>(law_, properties_[e], state(e, xi), rate, force, nullptr, nullptr);
      }
    return sum;
  }
  bool symmetric() const override { return !damped_; }
  double cost() const override {
    return direct_cost(static_cast<int>(r_), D, static_cast<int>(size()), law_);
  }
  int points() const override {
    return static_cast<int>(size()) *
           static_cast<int>(ancf_axial_points().size() + ancf_bending_points(law_).size());
  }

 private:
  struct Work : Room {
    explicit Work(Index r) : T(4 * D, r) {}
    Columns T;
  };
  Index size() const { return static_cast<Index>(properties_.size()); }
  auto basis(Index e) const { return Z_.middleCols(e * (r_ + 1) + 1, r_); }
  ElementVector<D> state(Index e, const Vector& xi) const {
    return Z_.col(e * (r_ + 1)) + basis(e).lazyProduct(xi);
  }

  AncfLaw law_;
  Index r_;
  bool damped_;
  std::vector<AncfProperties> properties_;
  Columns Z_;  // 4 D by (r + 1) elements
};

// Nodal forces that are not linear in E: without the bending of the second-derivative law.
AncfProperties nonlinear_part(const AncfLaw& law, AncfProperties properties) {
  if (law.bending == BendingStrain::SecondDerivative) properties.EI = 0;
  return properties;
}

// Entries of U (N by m), one for each column, where interpolation through those before is worst.
std::vector<Index> interpolation_rows(const MatrixXd& U) {
  std::vector<Index> rows;
  for (Index j = 0; j < U.cols(); ++j) {
    VectorXd rest = U.col(j);
    if (j > 0) {
      MatrixXd at(j, j);
      VectorXd value(j);
      for (Index i = 0; i < j; ++i) {
        at.row(i) = U.row(rows[static_cast<size_t>(i)]).head(j);
        value[i] = U(rows[static_cast<size_t>(i)], j);
      }
      rest -= U.leftCols(j) * at.partialPivLu().solve(value);
    }
    Index worst = 0;
    rest.cwiseAbs().maxCoeff(&worst);
    rows.push_back(worst);
  }
  return rows;
}

template <int D>
class DeimForce final : public PodForceModel {
 public:
  DeimForce(const PodElements& model, const MatrixXd& xi, int count) : law_(model.law), r_(model.order()) {
    const MatrixXd Z = pod_columns(model);
    const MatrixXd F = nodal_forces(model, Z, xi);
    const TallSvd svd = dense_svd(F);
    Index rank = 0;
    while (rank < svd.sigma.size() && svd.sigma[rank] > 1e-13 * svd.sigma[0]) ++rank;
    if (count > rank)
      fail_input(
          "deim with {} points is not possible: the forces at the {} training states have {} independent "
          "ones; take fewer points or more states",
          count, xi.cols(), rank);
    const MatrixXd U = svd.W.leftCols(count);
    const std::vector<Index> rows = interpolation_rows(U);
    MatrixXd at(count, count);
    for (Index i = 0; i < count; ++i) at.row(i) = U.row(rows[static_cast<size_t>(i)]);
    // Psi' U (P' U)^-1
    const MatrixXd projected = transposed_product(model.Psi, U);
    Q_ = at.transpose().partialPivLu().solve(projected.transpose()).transpose();
    K_ = MatrixXd::Zero(r_ + 1, r_ + 1);
    if (law_.bending == BendingStrain::SecondDerivative) K_ = pod_bending(model, Z, false);

    // each element that has one of the rows, once
    for (const AncfElementPlace& place : model.elements) {
      Element element;
      for (Index i = 0; i < count; ++i) {
        const Index row = rows[static_cast<size_t>(i)];
        if (row >= place.first && row < place.first + 2 * D)
          element.rows.push_back({static_cast<int>(row - place.first), static_cast<int>(i)});
        if (row >= place.second && row < place.second + 2 * D)
          element.rows.push_back({static_cast<int>(row - place.second + 2 * D), static_cast<int>(i)});
      }
      if (element.rows.empty()) continue;
      element.properties = nonlinear_part(law_, place.properties);
      element.Z = element_rows<D>(Z, place);
      elements_.push_back(std::move(element));
    }
  }

  std::unique_ptr<Room> room() const override { return std::make_unique<Work>(r_); }

  void add_force(const Vector& xi, const Vector&, Room&, Eigen::Ref<VectorXd> f) const override {
    f += K_.col(0).tail(r_);
    f.noalias() += K_.bottomRightCorner(r_, r_).lazyProduct(xi);
    ElementVector<D> force;
    for (const Element& element : elements_) {
      ancf_elastic<D>(law_, element.properties, element.state(xi), force, nullptr);
      for (const Row& row : element.rows) f += force[row.local] * Q_.col(row.point);
    }
  }
  void tangent(const Vector& xi, const Vector&, double cq, double, Room& room,
               Eigen::Ref<MatrixXd> K) const override {
    Work& work = static_cast<Work&>(room);
    K = cq * K_.bottomRightCorner(r_, r_);
    ElementVector<D> force;
    ElementMatrix<D> own;
    for (const Element& element : elements_) {
      ancf_elastic<D>(law_, element.properties, element.state(xi), force, &own);
      for (const Row& row : element.rows) {
        work.row.noalias() = cq * own.row(row.local).lazyProduct(element.Z.rightCols(r_));
        K.noalias() += Q_.col(row.point).lazyProduct(work.row);
      }
    }
  }
  // There is no energy that these forces belong to.
  double energy(const Vector&, Room&) const override { return std::numeric_limits<double>::quiet_NaN(); }
  double damping_power(const Vector&, const Vector&, Room&) const override { return 0; }
  bool symmetric() const override { return false; }
  double cost() const override {
    double rows = 0;
    for (const Element& element : elements_) rows += static_cast<double>(element.rows.size());
    const double n = static_cast<double>(r_), m = 4 * D;
    return rows * (m * n + n * n) + direct_cost(0, D, static_cast<int>(elements_.size()), law_) + n * n;
  }
  int points() const override { return static_cast<int>(elements_.size() * ancf_axial_points().size()); }

 private:
  struct Work : Room {
    explicit Work(Index r) : row(r) {}
    Eigen::RowVectorXd row;
  };
  struct Row {
    int local, point;
  };
  struct Element {
    AncfProperties properties;
    Eigen::Matrix<double, 4 * D, Eigen::Dynamic> Z;
    std::vector<Row> rows;
    ElementVector<D> state(const Vector& xi) const {
      return Z.col(0) + Z.rightCols(Z.cols() - 1).lazyProduct(xi);
    }
  };

  static MatrixXd nodal_forces(const PodElements& model, const MatrixXd& Z, const MatrixXd& xi) {
    MatrixXd E = product(Z.rightCols(Z.cols() - 1), xi), F = MatrixXd::Zero(E.rows(), E.cols());
    E.colwise() += model.E_ref;
    ElementVector<D> x, force;
    for (Index s = 0; s < E.cols(); ++s)
      for (const AncfElementPlace& place : model.elements) {
        x << E.col(s).segment<2 * D>(place.first), E.col(s).segment<2 * D>(place.second);
        ancf_elastic<D>(model.law, nonlinear_part(model.law, place.properties), x, force, nullptr);
        F.col(s).segment<2 * D>(place.first) += force.template head<2 * D>();
        F.col(s).segment<2 * D>(place.second) += force.template tail<2 * D>();
      }
    return F;
  }

  AncfLaw law_;
  Index r_;
  MatrixXd Q_;  // r by points
  MatrixXd K_;  // r + 1 square: bending where it is linear
  std::vector<Element> elements_;
};

}  // namespace

double direct_cost(int r, int dimension, int elements, const AncfLaw& law) {
  const double m = 4 * dimension,
               points = static_cast<double>(ancf_axial_points().size() + ancf_bending_points(law).size());
  // state and force, its tangent at the points, and projected
  return elements * (2 * m * (r + 1) + points * m * m + m * m * r + m * r * r);
}

std::unique_ptr<PodForceModel> make_direct_force(const PodElements& model) {
  if (model.dimension == 2) return std::make_unique<DirectForce<2>>(model);
  return std::make_unique<DirectForce<3>>(model);
}

std::unique_ptr<PodForceModel> make_deim_force(const PodElements& model, const MatrixXd& xi, int count) {
  if (model.damped())
    fail_input("deim has no damping of its own: take tensor, ecsw or direct, or beams without damping");
  if (count < 1) fail_input("deim needs one point or more, and {} are asked for", count);
  if (model.dimension == 2) return std::make_unique<DeimForce<2>>(model, xi, count);
  return std::make_unique<DeimForce<3>>(model, xi, count);
}

}  // namespace lissom
