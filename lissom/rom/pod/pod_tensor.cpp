// The reduced elastic force as the cubic polynomial that it is (errata of 004):
//   K_1 = K_bending - 1/2 sum c_g A_g,  S = 1/2 sum c_g A_g (x) A_g, symmetric in all four slots,
//   G_ij = S_ijkl x_k x_l;  force (K_1 + G) x, tangent K_1 + 3 G, both without the first entry.
// Pairs (i, j), i >= j, stand column by column; S is a symmetric matrix over pairs, of which one product with
// y_kl = x_k x_l (twice where k != l) gives G.
//
// Damping: W = sum beta_g c_g A_g (x) A_g, symmetric within and between the pairs only. Force F x with
// F_ij = W_ij,kl x_k v_l, plus the damping matrix of bending times v. With U_i,mk = W_ij,mk x_j, one
// contraction, df/dv_m = U_i,mk x_k and df/dx_m = F_im + U_i,mk v_k.
#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/linalg/blas.hpp"
#include "lissom/linalg/tile_products.hpp"
#include "lissom/rom/pod/pod_points.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Index pairs_of(Index n) {
  return n * (n + 1) / 2;
}
// of pair (i, j), i >= j
Index pair(Index n, Index i, Index j) {
  return j * n - j * (j - 1) / 2 + i - j;
}
Index any_pair(Index n, Index i, Index j) {
  return i >= j ? pair(n, i, j) : pair(n, j, i);
}

VectorXd packed(const MatrixXd& A) {
  const Index n = A.rows();
  VectorXd out(pairs_of(n));
  for (Index j = 0; j < n; ++j) out.segment(pair(n, j, j), n - j) = A.col(j).tail(n - j);
  return out;
}

// f (n) = the symmetric matrix by its pairs times x, without f_0.
void packed_product(Index n, const double* A, const double* x, double* f) {
  std::fill(f, f + n, 0.0);
  for (Index j = 0; j < n; ++j) {
    const double xj = x[j];
    double sum = A[0] * xj;
    for (Index i = 1; i < n - j; ++i) {
      f[j + i] += A[i] * xj;
      sum += A[i] * x[j + i];
    }
    f[j] += sum;
    A += n - j;
  }
}

class TensorForce final : public PodForceModel {
 public:
  explicit TensorForce(const PodElements& model);

  std::unique_ptr<Room> room() const override { return std::make_unique<Work>(*this); }
  void add_force(const Vector& xi, const Vector& v, Room& room, Eigen::Ref<VectorXd> f) const override;
  void tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
               Eigen::Ref<MatrixXd> K) const override;
  double energy(const Vector& xi, Room& room) const override;
  double damping_power(const Vector& xi, const Vector& v, Room& room) const override;
  bool symmetric() const override { return !damped_; }
  double cost() const override { return tensor_cost(static_cast<int>(r_), damped_); }
  int points() const override { return 0; }

 private:
  struct Work : Room {
    explicit Work(const TensorForce& owner)
        : x(owner.n_ + 4), y(owner.S_.padded()), G(owner.S_.padded()), f(owner.n_ + 4) {
      if (!owner.damped_) return;
      rate = AlignedArray(owner.n_ + 4);
      F = AlignedArray(owner.S_.padded());
      U.resize(owner.pairs_, owner.n_);
    }
    bool at(const Vector& xi) const {
      return valid && std::equal(xi.data(), xi.data() + xi.size(), x.data() + 1);
    }
    AlignedArray x, y, G, f, rate, F;
    MatrixXd U;  // pairs by n
    bool valid = false;
  };

  void update(const Vector& xi, Work& work) const;
  void damping_matrix(const Vector& v, Work& work) const;

  Index r_, n_, pairs_;
  bool damped_;
  VectorXd K_;        // pairs: K_1
  SymmetricTiles S_;  // pairs square
  SymmetricTiles W_;  // damping
  MatrixXd W_full_;
  VectorXd C_;  // pairs: damping of bending
};

TensorForce::TensorForce(const PodElements& model)
    : r_(model.order()), n_(r_ + 1), pairs_(pairs_of(n_)), damped_(model.damped()) {
  const MatrixXd Z = pod_columns(model);
  const Index D = model.dimension;
  MatrixXd stiffness = MatrixXd::Zero(pairs_, pairs_), damping;
  if (damped_) damping = stiffness;
  VectorXd axial = VectorXd::Zero(pairs_);
  double total = 0;

  // A_g of some hundred points at a time, as rows
  constexpr int at_a_time = 256;
  const int count = static_cast<int>(model.elements.size());
  for (int first = 0; first < count; first += at_a_time) {
    const PodPoints points =
        pod_points(model, Z, ancf_axial_points(), first, std::min(at_a_time, count - first), false);
    const Index m = points.weight.size();
    MatrixXd A = MatrixXd::Zero(m, pairs_);
    for (Index j = 0; j < n_; ++j)
      for (Index i = j; i < n_; ++i) {
        const double *pi = points.slope.col(i).data(), *pj = points.slope.col(j).data();
        double* a = A.col(pair(n_, i, j)).data();
        for (Index g = 0; g < m; ++g)
          for (Index d = 0; d < D; ++d) a[g] += pi[D * g + d] * pj[D * g + d];
      }
    VectorXd c(m), beta(m);
    for (Index g = 0; g < m; ++g) {
      const AncfProperties& p = model.elements[static_cast<size_t>(points.element[g])].properties;
      c[g] = p.EA * points.weight[g];
      beta[g] = p.damping * c[g];
    }
    axial += A.transpose() * c;
    total += c.sum();
    gemm(true, false, 0.5, A, c.asDiagonal() * A, 1, stiffness);
    if (damped_) gemm(true, false, 1, A, beta.asDiagonal() * A, 1, damping);
  }
  K_ = packed(pod_bending(model, Z, false)) - 0.5 * axial;
  // the constant of the energy, 1/8 sum c_g: no force knows of it
  K_[0] += 0.25 * total;

  MatrixXd S(pairs_, pairs_);
  for (Index l = 0; l < n_; ++l)
    for (Index k = l; k < n_; ++k)
      for (Index j = 0; j < n_; ++j)
        for (Index i = j; i < n_; ++i)
          S(pair(n_, i, j), pair(n_, k, l)) =
              (stiffness(pair(n_, i, j), pair(n_, k, l)) + stiffness(any_pair(n_, i, k), any_pair(n_, j, l)) +
               stiffness(any_pair(n_, i, l), any_pair(n_, j, k))) /
              3;
  S_ = SymmetricTiles(S);
  if (damped_) {
    W_full_ = 0.5 * (damping + damping.transpose());
    W_ = SymmetricTiles(W_full_);
    C_ = packed(pod_bending(model, Z, true));
  }
}

void TensorForce::update(const Vector& xi, Work& work) const {
  if (work.at(xi)) return;
  double* x = work.x.data();
  x[0] = 1;
  std::copy(xi.data(), xi.data() + r_, x + 1);
  double* y = work.y.data();
  for (Index j = 0; j < n_; ++j) {
    const double twice = 2 * x[j];
    for (Index i = 0; i < n_ - j; ++i) y[i] = twice * x[j + i];
    y[0] *= 0.5;
    y += n_ - j;
  }
  S_.multiply(work.y.data(), work.G.data());
  work.valid = true;
}

// F = W (x v' + v x')/2, at the state of the last update.
void TensorForce::damping_matrix(const Vector& v, Work& work) const {
  const double* x = work.x.data();
  double *rate = work.rate.data(), *y = work.y.data();
  rate[0] = 0;
  std::copy(v.data(), v.data() + r_, rate + 1);
  for (Index j = 0; j < n_; ++j) {
    for (Index i = 0; i < n_ - j; ++i) y[i] = x[j] * rate[j + i] + rate[j] * x[j + i];
    y[0] *= 0.5;
    y += n_ - j;
  }
  W_.multiply(work.y.data(), work.F.data());
}

void TensorForce::add_force(const Vector& xi, const Vector& v, Room& room, Eigen::Ref<VectorXd> f) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  double *H = work.y.data(), *out = work.f.data();
  const double *G = work.G.data(), *K = K_.data();
  for (Index p = 0; p < pairs_; ++p) H[p] = K[p] + G[p];
  packed_product(n_, H, work.x.data(), out);
  for (Index i = 0; i < r_; ++i) f[i] += out[i + 1];
  if (!damped_) return;
  damping_matrix(v, work);
  packed_product(n_, work.F.data(), work.x.data(), out);
  for (Index i = 0; i < r_; ++i) f[i] += out[i + 1];
  packed_product(n_, C_.data(), work.rate.data(), out);
  for (Index i = 0; i < r_; ++i) f[i] += out[i + 1];
}

void TensorForce::tangent(const Vector& xi, const Vector& v, double cq, double cv, Room& room,
                          Eigen::Ref<MatrixXd> K) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  const double *G = work.G.data() + n_, *K1 = K_.data() + n_;
  for (Index j = 0; j < r_; ++j) {
    double* column = &K(j, j);
    for (Index i = 0; i < r_ - j; ++i) column[i] = cq * (K1[i] + 3 * G[i]);
    for (Index i = 1; i < r_ - j; ++i) K(j, j + i) = column[i];
    G += r_ - j;
    K1 += r_ - j;
  }
  if (!damped_) return;
  damping_matrix(v, work);
  const double *x = work.x.data(), *rate = work.rate.data();
  for (Index i = 0; i < n_; ++i) {
    work.U.col(i).noalias() = x[0] * W_full_.col(any_pair(n_, i, 0));
    for (Index j = 1; j < n_; ++j) work.U.col(i) += x[j] * W_full_.col(any_pair(n_, i, j));
  }
  for (Index m = 1; m < n_; ++m)
    for (Index i = 1; i < n_; ++i) {
      const double* U = work.U.col(i).data();
      double by_x = 0, by_v = 0;
      for (Index k = 0; k < n_; ++k) {
        const double u = U[any_pair(n_, m, k)];
        by_v += u * x[k];
        by_x += u * rate[k];
      }
      const Index im = any_pair(n_, i, m);
      K(i - 1, m - 1) += cq * (work.F[im] + by_x) + cv * (by_v + C_[im]);
    }
}

double TensorForce::energy(const Vector& xi, Room& room) const {
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  double *H = work.y.data(), *f = work.f.data();
  for (Index p = 0; p < pairs_; ++p) H[p] = 0.5 * K_[p] + 0.25 * work.G[p];
  packed_product(n_, H, work.x.data(), f);
  double sum = 0;
  for (Index i = 0; i < n_; ++i) sum += f[i] * work.x[i];
  return sum;
}

double TensorForce::damping_power(const Vector& xi, const Vector& v, Room& room) const {
  if (!damped_) return 0;
  Work& work = static_cast<Work&>(room);
  update(xi, work);
  damping_matrix(v, work);
  double sum = 0;
  packed_product(n_, work.F.data(), work.x.data(), work.f.data());
  for (Index i = 0; i < n_; ++i) sum += work.f[i] * work.rate[i];
  packed_product(n_, C_.data(), work.rate.data(), work.f.data());
  for (Index i = 0; i < n_; ++i) sum += work.f[i] * work.rate[i];
  return sum;
}

}  // namespace

double tensor_cost(int r, bool damped) {
  const double n = r + 1, pairs = static_cast<double>(pairs_of(r + 1));
  const double elastic = pairs * pairs + 2 * pairs;
  // F, and U for the tangent
  return damped ? 2 * elastic + 3 * n * n * pairs : elastic;
}

std::unique_ptr<PodForceModel> make_tensor_force(const PodElements& model) {
  if (!model.law.polynomial())
    fail_input(
        "the tensor form of the reduced force needs Green's strain and the second derivative as curvature, "
        "whose energy is a polynomial; with the law given use ecsw or direct");
  return std::make_unique<TensorForce>(model);
}

}  // namespace lissom
