#include "lissom/mbs/linear_loads.hpp"

#include <Eigen/Geometry>

#include <cmath>

#include "lissom/core/simd.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// y (rows) += A x, A rows by columns
LISSOM_SIMD void add_product(int rows, int columns, const double* A, const double* x, double* y) {
  for (int c = 0; c < columns; ++c, A += rows) {
    const double factor = x[c];
#pragma omp simd
    for (int i = 0; i < rows; ++i) y[i] += A[i] * factor;
  }
}

// J (n by n) += a g h' + b N, N with `stride` from column to column
LISSOM_SIMD void add_curved(int n, const double* g, const double* h, double b, const double* N, int stride, double* J) {
  for (int c = 0; c < n; ++c, J += n, N += stride) {
    const double factor = h[c];
#pragma omp simd
    for (int i = 0; i < n; ++i) J[i] += g[i] * factor + b * N[i];
  }
}

// J += by_s S + by_c C + g h' + s1 s2' + c1 c2'
LISSOM_SIMD void add_turning(int n, double by_s, const double* S, double by_c, const double* C, const double* g,
                             const double* h, const double* s1, const double* s2, const double* c1,
                             const double* c2, double* J) {
  const int stride = n + 1;
  for (int c = 0; c < n; ++c, J += n, S += stride, C += stride) {
    const double hc = h[c], sc = s2[c], cc = c2[c];
#pragma omp simd
    for (int i = 0; i < n; ++i) J[i] += by_s * S[i] + by_c * C[i] + g[i] * hc + s1[i] * sc + c1[i] * cc;
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

bool LinearLoads::add(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second, int input, int turn) {
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
              B.col(c) += (marker == 0 ? 0.5 : -0.5) *
                          (L.middleRows<3>(k).rightCols(n_).transpose() *
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
      line.X = (second.topRows<3>() - first.topRows<3>()).transpose();
      line.N = line.X.bottomRows(n_) * line.X.bottomRows(n_).transpose();
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
      spring.S = symmetric_product(second, 1, first, 2);
      spring.C = symmetric_product(second, 1, first, 1);
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

void LinearLoads::finish() {
  force_ = constant_;
  matrix_ = constant_matrix_;
  e_ = VectorXd::Ones(n_ + 1);
  for (VectorXd* room : {&g_, &h_, &s_, &c_, &ss_, &cc_}) *room = VectorXd::Zero(n_ + 1);
}

void LinearLoads::set_time(double t, const VectorXd& u) {
  t_ = t;
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
void LinearLoads::refuse(const Load& load, const Matrix12Xd& first, const Matrix12Xd& second, const State& state) const {
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
  const double *X = line.X.data(), *v = state.v.data();
  const int stride = n_ + 1;
  for (int d = 0; d < 3; ++d) {
    at.x[d] = dot(stride, X + d * stride, e_.data());
    at.rates[d] = dot(n_, X + d * stride + 1, v);
  }
  at.length = at.x.norm();
  if (line.direct) return at;
  at.direction = at.x / at.length;
  if (!at.direction.allFinite()) refuse(*line.load, line.first, line.second, state);
  at.rate = at.direction.dot(at.rates);
  const double a = at.direction[0], b = at.direction[1], c = at.direction[2];
  const double *x = X + 1, *y = x + stride, *z = y + stride;
  double* g = g_.data();
  for (int i = 0; i < n_; ++i) g[i] = a * x[i] + b * y[i] + c * z[i];
  return at;
}

// Leaves the gradients of the two forms in s_ and c_ (from their second entry on), that of the angle in g_.
LinearLoads::AngleState LinearLoads::evaluate(const Torsion& spring, const State& state, const Turns* turns) {
  AngleState at;
  s_.setZero();
  c_.setZero();
  add_product(n_ + 1, n_ + 1, spring.S.data(), e_.data(), s_.data());
  add_product(n_ + 1, n_ + 1, spring.C.data(), e_.data(), c_.data());
  const double s = s_.dot(e_), c = c_.dot(e_), square = s * s + c * c;
  if (!(square > 1e-12)) refuse(*spring.load, spring.first, spring.second, state);
  at.by_s = c / square;
  at.by_c = -s / square;
  at.by_ss = -2 * s * c / (square * square);
  at.by_sc = (s * s - c * c) / (square * square);
  double *s1 = s_.data() + 1, *c1 = c_.data() + 1, *g = g_.data();
  for (int i = 0; i < n_; ++i) {
    s1[i] *= 2;
    c1[i] *= 2;
    g[i] = at.by_s * s1[i] + at.by_c * c1[i];
  }
  const double rate = dot(n_, g, state.v.data());
  double rest = spring.load->length;
  if (turns && spring.turn >= 0) {
    const CountedAngle last{turns->t, turns->angle[spring.turn], turns->rate[spring.turn]};
    rest = last.expected(state.t, rate);
  }
  at.angle = {state.t, at_nearest_turn(std::atan2(s, c), rest), rate};
  return at;
}

void LinearLoads::add(const State& state, const Turns* turns, double* r, double cq, double cv, double* J) {
  const double *q = state.q.data(), *v = state.v.data();
  std::copy(q, q + n_, e_.data() + 1);
  double *g = g_.data(), *h = h_.data();

  if (has_linear_ && r) {
    for (int i = 0; i < n_; ++i) r[i] -= force_[i];
    if (has_matrix_) {
      std::fill(h, h + n_, 0.0);
      add_product(n_, n_ + 1, matrix_.data(), e_.data(), h);
      for (int i = 0; i < n_; ++i) r[i] -= h[i];
    }
  }
  if (has_matrix_ && J && cq != 0) {
    const double* A = matrix_.data() + n_;
    for (int i = 0; i < n_ * n_; ++i) J[i] -= cq * A[i];
  }

  for (const Line& line : lines_) {
    const LineState at = evaluate(line, state);
    const double* X = line.X.data() + 1;
    const int stride = n_ + 1;
    if (line.direct) {
      if (r)
        for (int d = 0; d < 3; ++d)
          for (int i = 0; i < n_; ++i) r[i] += line.k * at.x[d] * X[d * stride + i];
      if (J)
        for (int i = 0; i < n_ * n_; ++i) J[i] += cq * line.k * line.N.data()[i];
      continue;
    }
    const double tension = line.k * (at.length - line.length) + line.c * at.rate + line.tension;
    if (r)
      for (int i = 0; i < n_; ++i) r[i] += tension * g[i];
    if (!J) continue;
    // tension changes with k g + c d rate/dq, the direction of g with (N - g g') / l
    const double along = cq * (line.k - (line.c * at.rate + tension) / at.length) + cv * line.c;
    const double across = cq * line.c / at.length;
    const Vector3d w = across * at.rates;
    for (int i = 0; i < n_; ++i)
      h[i] = along * g[i] + (w[0] * X[i] + w[1] * X[stride + i] + w[2] * X[2 * stride + i]);
    add_curved(n_, g, h, cq * tension / at.length, line.N.data(), n_, J);
  }

  for (const Torsion& spring : springs_) {
    const AngleState at = evaluate(spring, state, turns);
    const double k = spring.load->stiffness, c = spring.load->damping;
    const double torque = k * (at.angle.angle - spring.load->length) + c * at.angle.rate + spring.torque;
    if (r)
      for (int i = 0; i < n_; ++i) r[i] += torque * g[i];
    if (!J) continue;
    // with H = d2 angle/dq2 = 2 by_s S + 2 by_c C + s1 s2' + c1 c2'
    const double *s1 = s_.data() + 1, *c1 = c_.data() + 1;
    double *s2 = ss_.data(), *c2 = cc_.data();
    for (int i = 0; i < n_; ++i) {
      s2[i] = at.by_ss * s1[i] + at.by_sc * c1[i];
      c2[i] = at.by_sc * s1[i] - at.by_ss * c1[i];
    }
    const double* S = spring.S.data() + n_ + 2;
    const double* C = spring.C.data() + n_ + 2;
    for (int i = 0; i < n_; ++i) h[i] = (cq * k + cv * c) * g[i];
    if (c != 0 && cq != 0) {
      const double s_rate = dot(n_, s1, v), c_rate = dot(n_, c1, v);
      for (int i = 0; i < n_; ++i)
        h[i] += cq * c *
                (2 * (at.by_s * dot(n_, S + i * (n_ + 1), v) + at.by_c * dot(n_, C + i * (n_ + 1), v)) +
                 s_rate * s2[i] + c_rate * c2[i]);
    }
    const double factor = cq * torque;
    for (int i = 0; i < n_; ++i) {
      s2[i] *= factor;
      c2[i] *= factor;
    }
    add_turning(n_, 2 * factor * at.by_s, S, 2 * factor * at.by_c, C, g, h, s1, s2, c1, c2, J);
  }
}

LinearLoads::Power LinearLoads::power(const State& state, const Turns* turns) {
  e_.tail(n_) = state.q;
  Power out;
  if (has_linear_) {
    out.applied = force_.dot(state.v);
    if (has_matrix_) out.applied += state.v.dot(matrix_.lazyProduct(e_));
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
  e_.tail(n_) = state.q;
  for (const Torsion& spring : springs_) {
    if (spring.turn < 0) continue;
    const CountedAngle angle = evaluate(spring, state, turns).angle;
    counted.angle[spring.turn] = angle.angle;
    counted.rate[spring.turn] = angle.rate;
  }
}

}  // namespace lissom
