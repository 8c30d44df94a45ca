#include "lissom/mbs/linear_loads.hpp"

#include <Eigen/Geometry>

#include <cmath>

#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

// Four entries; arrays are aligned and their width is a multiple of four.
using FourNumbers = double __attribute__((vector_size(32), may_alias));
constexpr int four = 4;

LISSOM_INLINE const FourNumbers& four_at(const double* x) {
  return *reinterpret_cast<const FourNumbers*>(x);
}
LISSOM_INLINE FourNumbers& four_at(double* x) {
  return *reinterpret_cast<FourNumbers*>(x);
}
LISSOM_INLINE double sum_of(const FourNumbers& x) {
  return (x[0] + x[1]) + (x[2] + x[3]);
}

LISSOM_SIMD double dot_product(Index w, const double* a, const double* b) {
  FourNumbers sum = {};
  for (Index i = 0; i < w; i += four) sum += four_at(a + i) * four_at(b + i);
  return sum_of(sum);
}

// y += factor x
LISSOM_SIMD void add_multiple(Index w, double factor, const double* x, double* y) {
  for (Index i = 0; i < w; i += four) four_at(y + i) += factor * four_at(x + i);
}

// three rows of X times e and times its rate
LISSOM_SIMD void three_rows(Index w, const double* X, const double* e, const double* rate, double* x,
                            double* x_rate) {
  for (int d = 0; d < 3; ++d, X += w) {
    FourNumbers sum = {}, rates = {};
    for (Index i = 0; i < w; i += four) {
      sum += four_at(X + i) * four_at(e + i);
      rates += four_at(X + i) * four_at(rate + i);
    }
    x[d] = sum_of(sum);
    x_rate[d] = sum_of(rates);
  }
}

// y = alpha g + (a b c) X of three rows; y may be g
LISSOM_SIMD void mix_three_rows(Index w, const double* X, double a, double b, double c, double alpha,
                                const double* g, double* y) {
  for (Index i = 0; i < w; i += four)
    four_at(y + i) =
        alpha * four_at(g + i) + (a * four_at(X + i) + b * four_at(X + w + i) + c * four_at(X + 2 * w + i));
}

// s = S e, c = C e
LISSOM_SIMD void two_products(Index w, Index columns, const double* S, const double* C, const double* e,
                              double* s, double* c) {
  for (Index i = 0; i < w; i += four) {
    FourNumbers of_s = {}, of_c = {};
    for (Index k = 0; k < columns; ++k) {
      of_s += four_at(S + k * w + i) * e[k];
      of_c += four_at(C + k * w + i) * e[k];
    }
    four_at(s + i) = of_s;
    four_at(c + i) = of_c;
  }
}

// K += g h' + b N
LISSOM_SIMD void add_curved(Index w, Index columns, const double* g, const double* h, double b,
                            const double* N, double* K) {
  for (Index k = 1; k < columns; ++k) {
    const double factor = h[k];
    for (Index i = 0; i < w; i += four)
      four_at(K + k * w + i) += four_at(g + i) * factor + b * four_at(N + k * w + i);
  }
}

// K += by_s S + by_c C + g h' + s1 s2' + c1 c2'
LISSOM_SIMD void add_turning(Index w, Index columns, double by_s, const double* S, double by_c,
                             const double* C, const double* g, const double* h, const double* s1,
                             const double* s2, const double* c1, const double* c2, double* K) {
  for (Index k = 1; k < columns; ++k) {
    const double of_h = h[k], of_s = s2[k], of_c = c2[k];
    for (Index i = 0; i < w; i += four)
      four_at(K + k * w + i) += (by_s * four_at(S + k * w + i) + by_c * four_at(C + k * w + i)) +
                                (four_at(g + i) * of_h + four_at(s1 + i) * of_s + four_at(c1 + i) * of_c);
  }
}

bool is_nothing(const TimeFunction& f) {
  return f.is_constant() && f(0) == 0;
}

// D_1' d_2 of three rows each, symmetric
MatrixXd symmetric_product(const Matrix12Xd& A, int a, const Matrix12Xd& B, int b) {
  const MatrixXd P = A.middleRows<3>(3 * a).transpose() * B.middleRows<3>(3 * b);
  return 0.5 * (P + P.transpose());
}

}  // namespace

void LinearLoads::add_linear(const Drive& drive, const VectorXd& vector) {
  if (is_nothing(*drive.f)) return;
  has_linear_ = true;
  if (constant_.size() == 0) constant_ = VectorXd::Zero(n_);
  if (drive.f->is_constant() && drive.input < 0)
    constant_ += (*drive.f)(0) * vector;
  else
    vectors_.emplace_back(drive, vector);
}

void LinearLoads::add_linear(const Drive& drive, const MatrixXd& matrix) {
  if (is_nothing(*drive.f)) return;
  has_linear_ = has_matrix_ = true;
  if (constant_.size() == 0) constant_ = VectorXd::Zero(n_);
  if (constant_matrix_.size() == 0) constant_matrix_ = MatrixXd::Zero(n_, n_ + 1);
  if (drive.f->is_constant() && drive.input < 0)
    constant_matrix_ += (*drive.f)(0) * matrix;
  else
    matrices_.emplace_back(drive, matrix);
}

bool LinearLoads::add(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second, int input,
                      int turn) {
  LISSOM_ASSERT(first.cols() == n_ + 1 && second.cols() == n_ + 1);
  switch (load.kind) {
    case LoadKind::Force: {
      Eigen::Matrix3Xd P = first.topRows<3>();
      if (load.has_second) P -= second.topRows<3>();
      const MatrixXd Pq = P.rightCols(n_);
      for (int k = 0; k < 3; ++k) {
        const Drive drive{&load.components[static_cast<size_t>(k)], input};
        if (load.following)
          add_linear(drive, MatrixXd(Pq.transpose() * first.middleRows<3>(3 + 3 * k)));
        else
          add_linear(drive, VectorXd(Pq.row(k).transpose()));
      }
      return true;
    }
    case LoadKind::Torque: {
      if (load.following) return false;
      for (int i = 0; i < 3; ++i) {
        // forces T x d / 2 on the axes, T of length one along i
        MatrixXd B = MatrixXd::Zero(n_, n_ + 1);
        for (int marker = 0; marker < (load.has_second ? 2 : 1); ++marker) {
          const Matrix12Xd& L = marker == 0 ? first : second;
          for (int k = 3; k < 12; k += 3)
            for (int c = 0; c <= n_; ++c)
              B.col(c) +=
                  (marker == 0 ? 0.5 : -0.5) * (L.middleRows<3>(k).rightCols(n_).transpose() *
                                                Vector3d::Unit(i).cross(Vector3d(L.block<3, 1>(k, c))));
        }
        add_linear({&load.components[static_cast<size_t>(i)], input}, B);
      }
      return true;
    }
    case LoadKind::LineForce:
    case LoadKind::Spring: {
      const bool is_spring = load.kind == LoadKind::Spring;
      const TimeFunction& applied = is_spring ? load.preload : load.magnitude;
      Line line;
      line.load = &load;
      line.first = first;
      line.second = second;
      const MatrixXd X = second.topRows<3>() - first.topRows<3>();
      line.X = padded(X.transpose());
      line.N = padded(X.transpose() * X);
      if (is_spring) {
        line.k = load.stiffness;
        line.c = load.damping;
        line.length = load.length;
        line.direct = line.length == 0 && line.c == 0 && is_nothing(applied);
      }
      line.applied.input = is_spring ? -1 : input;
      if (applied.is_constant() && line.applied.input < 0)
        line.tension = is_spring ? applied(0) : -applied(0);
      else
        line.applied.f = &applied;
      lines_.push_back(std::move(line));
      return true;
    }
    case LoadKind::TorsionSpring: {
      Torsion spring;
      spring.load = &load;
      spring.first = first;
      spring.second = second;
      spring.S = padded(symmetric_product(second, 1, first, 2));
      spring.C = padded(symmetric_product(second, 1, first, 1));
      spring.turn = turn;
      if (load.preload.is_constant())
        spring.torque = load.preload(0);
      else
        spring.applied.f = &load.preload;
      springs_.push_back(std::move(spring));
      return true;
    }
    case LoadKind::Bushing:
      return false;
  }
  return false;
}

// A matrix of n + 1 rows, its columns `width` apart.
AlignedArray LinearLoads::padded(const MatrixXd& A) const {
  LISSOM_ASSERT(A.rows() == n_ + 1);
  AlignedArray out(width_ * A.cols());
  for (Index c = 0; c < A.cols(); ++c)
    for (Index i = 0; i <= n_; ++i) out[c * width_ + i] = A(i, c);
  return out;
}

void LinearLoads::finish() {
  force_ = constant_;
  matrix_ = constant_matrix_;
  for (AlignedArray* room : {&e_, &rate_, &g_, &h_, &s_, &c_, &ss_, &cc_, &sums_})
    *room = AlignedArray(width_);
  tangent_ = AlignedArray(width_ * (n_ + 1));
  e_[0] = 1;
}

void LinearLoads::set_state(const State& state) {
  std::copy(state.q.data(), state.q.data() + n_, e_.data() + 1);
  std::copy(state.v.data(), state.v.data() + n_, rate_.data() + 1);
}

void LinearLoads::set_time(double t, const VectorXd& u) {
  if (!vectors_.empty()) {
    force_ = constant_;
    for (const auto& [drive, vector] : vectors_) force_ += drive.value(t, u) * vector;
  }
  if (!matrices_.empty()) {
    matrix_ = constant_matrix_;
    for (const auto& [drive, matrix] : matrices_) matrix_ += drive.value(t, u) * matrix;
  }
  for (Line& line : lines_)
    if (line.applied.f)
      line.tension = (line.load->kind == LoadKind::Spring ? 1 : -1) * line.applied.value(t, u);
  for (Torsion& spring : springs_)
    if (spring.applied.f) spring.torque = spring.applied.value(t, u);
}

// The message of evaluate_load().
void LinearLoads::refuse(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second,
                         const State& state) const {
  VectorXd e(n_ + 1), rate = VectorXd::Zero(n_ + 1);
  e << 1, state.q;
  rate.tail(n_) = state.v;
  LoadEvaluation out;
  evaluate_load(load, state.t, first * e, first * rate, second * e, second * rate, false, out);
  fail("load '{}' is not defined at t = {} s", load.name, state.t);
}

// Leaves the gradient of the length in g_.
LinearLoads::LineState LinearLoads::evaluate(const Line& line, const State& state) {
  LineState at;
  three_rows(width_, line.X.data(), e_.data(), rate_.data(), at.x.data(), at.rates.data());
  at.length = at.x.norm();
  if (line.direct) return at;
  at.direction = at.x / at.length;
  if (!at.direction.allFinite()) refuse(*line.load, line.first, line.second, state);
  at.rate = at.direction.dot(at.rates);
  mix_three_rows(width_, line.X.data(), at.direction[0], at.direction[1], at.direction[2], 0, e_.data(),
                 g_.data());
  return at;
}

// Leaves the gradients of the two forms in s_ and c_, that of the angle in g_.
LinearLoads::AngleState LinearLoads::evaluate(const Torsion& spring, const State& state, const Turns* turns) {
  AngleState at;
  two_products(width_, n_ + 1, spring.S.data(), spring.C.data(), e_.data(), s_.data(), c_.data());
  const double s = dot_product(width_, s_.data(), e_.data()), c = dot_product(width_, c_.data(), e_.data());
  const double square = s * s + c * c;
  if (!(square > 1e-12)) refuse(*spring.load, spring.first, spring.second, state);
  at.by_s = c / square;
  at.by_c = -s / square;
  at.by_ss = -2 * at.by_s * s / square;
  at.by_sc = (s * s - c * c) / (square * square);
  double *s1 = s_.data(), *c1 = c_.data(), *g = g_.data();
  for (Index i = 0; i < width_; ++i) {
    s1[i] *= 2;
    c1[i] *= 2;
    g[i] = at.by_s * s1[i] + at.by_c * c1[i];
  }
  const double rate = dot_product(width_, g, rate_.data());
  double rest = spring.load->length;
  if (turns && spring.turn >= 0) {
    const CountedAngle last{turns->t, turns->angle[spring.turn], turns->rate[spring.turn]};
    rest = last.expected(state.t, rate);
  }
  at.angle = {state.t, at_nearest_turn(std::atan2(s, c), rest), rate};
  return at;
}

void LinearLoads::add(const State& state, const Turns* turns, double* r, double cq, double cv, double* J) {
  if (has_linear_ && r) {
    for (int i = 0; i < n_; ++i) r[i] -= force_[i];
    if (has_matrix_) {
      const double *A = matrix_.data(), *q = state.q.data();
      for (int i = 0; i < n_; ++i) r[i] -= A[i];
      for (int c = 0; c < n_; ++c) {
        A += n_;
        for (int i = 0; i < n_; ++i) r[i] -= A[i] * q[c];
      }
    }
  }
  if (has_matrix_ && J && cq != 0) {
    const double* A = matrix_.data() + n_;
    for (int i = 0; i < n_ * n_; ++i) J[i] -= cq * A[i];
  }
  if (lines_.empty() && springs_.empty()) return;

  set_state(state);
  const Index columns = n_ + 1;
  double *g = g_.data(), *h = h_.data(), *sums = sums_.data(), *K = tangent_.data();
  std::fill(sums, sums + width_, 0.0);
  if (J) std::fill(K, K + width_ * columns, 0.0);

  for (const Line& line : lines_) {
    const LineState at = evaluate(line, state);
    if (line.direct) {
      mix_three_rows(width_, line.X.data(), line.k * at.x[0], line.k * at.x[1], line.k * at.x[2], 1, sums,
                     sums);
      if (J) add_multiple(width_ * columns, cq * line.k, line.N.data(), K);
      continue;
    }
    const double tension = line.k * (at.length - line.length) + line.c * at.rate + line.tension;
    add_multiple(width_, tension, g, sums);
    if (!J) continue;
    // tension changes with k g + c d rate/dq, the direction of g with (N - g g') / l
    const double along = cq * (line.k - (line.c * at.rate + tension) / at.length) + cv * line.c;
    const Vector3d w = cq * line.c / at.length * at.rates;
    mix_three_rows(width_, line.X.data(), w[0], w[1], w[2], along, g, h);
    add_curved(width_, columns, g, h, cq * tension / at.length, line.N.data(), K);
  }

  for (const Torsion& spring : springs_) {
    const AngleState at = evaluate(spring, state, turns);
    const double k = spring.load->stiffness, c = spring.load->damping;
    const double torque = k * (at.angle.angle - spring.load->length) + c * at.angle.rate + spring.torque;
    add_multiple(width_, torque, g, sums);
    if (!J) continue;
    // H = d2 angle/dq2 = 2 by_s S + 2 by_c C + s1 s2' + c1 c2'; first what it does to the rates
    const double *s1 = s_.data(), *c1 = c_.data();
    double *s2 = ss_.data(), *c2 = cc_.data();
    const double damping = cq * c, factor = cq * torque;
    if (damping != 0) {
      two_products(width_, columns, spring.S.data(), spring.C.data(), rate_.data(), s2, c2);
      const double s_rate = dot_product(width_, s1, rate_.data());
      const double c_rate = dot_product(width_, c1, rate_.data());
      const double of_s = damping * (at.by_ss * s_rate + at.by_sc * c_rate);
      const double of_c = damping * (at.by_sc * s_rate - at.by_ss * c_rate);
      const double of_S = 2 * damping * at.by_s, of_C = 2 * damping * at.by_c;
      for (Index i = 0; i < width_; ++i)
        h[i] = (cq * k + cv * c) * g[i] + of_S * s2[i] + of_C * c2[i] + of_s * s1[i] + of_c * c1[i];
    } else {
      for (Index i = 0; i < width_; ++i) h[i] = (cq * k + cv * c) * g[i];
    }
    for (Index i = 0; i < width_; ++i) {
      s2[i] = factor * (at.by_ss * s1[i] + at.by_sc * c1[i]);
      c2[i] = factor * (at.by_sc * s1[i] - at.by_ss * c1[i]);
    }
    add_turning(width_, columns, 2 * factor * at.by_s, spring.S.data(), 2 * factor * at.by_c, spring.C.data(),
                g, h, s1, s2, c1, c2, K);
  }

  // without entry 0 of e, which stands still
  if (r)
    for (int i = 0; i < n_; ++i) r[i] += sums[i + 1];
  if (!J) return;
  for (int c = 0; c < n_; ++c) {
    const double* from = K + (c + 1) * width_ + 1;
    for (int i = 0; i < n_; ++i) J[c * n_ + i] += from[i];
  }
}

LinearLoads::Power LinearLoads::power(const State& state, const Turns* turns) {
  set_state(state);
  Power out;
  if (has_linear_) {
    out.applied = force_.dot(state.v);
    if (has_matrix_)
      out.applied += state.v.dot(matrix_.col(0)) + state.v.dot(matrix_.rightCols(n_).lazyProduct(state.q));
  }
  for (const Line& line : lines_) {
    const LineState at = evaluate(line, state);
    const double y = at.length - line.length;
    out.potential += line.k * y * y / 2;
    out.applied -= line.tension * at.rate;
    out.damping += line.c * at.rate * at.rate;
  }
  for (const Torsion& spring : springs_) {
    const CountedAngle angle = evaluate(spring, state, turns).angle;
    const double y = angle.angle - spring.load->length;
    out.potential += spring.load->stiffness * y * y / 2;
    out.applied -= spring.torque * angle.rate;
    out.damping += spring.load->damping * angle.rate * angle.rate;
  }
  return out;
}

void LinearLoads::count(const State& state, const Turns* turns, Turns& counted) {
  set_state(state);
  for (const Torsion& spring : springs_) {
    if (spring.turn < 0) continue;
    const CountedAngle angle = evaluate(spring, state, turns).angle;
    counted.angle[spring.turn] = angle.angle;
    counted.rate[spring.turn] = angle.rate;
  }
}

}  // namespace lissom
