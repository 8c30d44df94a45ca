// Mechanisms in C: elastic and damping rows, loads on places that are linear in the coordinates, sensors
// there, and generalized-alpha with the steps, predictions and corrections of time/generalized_alpha.cpp.
#include <fmt/format.h>
#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/export/c_writer_parts.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr const char* mechanism_run_fields =
    R"(  /* accelerations and those of the integrator, here and one step before; the last step; the inputs held in it; backward
     differences of the accelerations over equal steps, and how far predictions by them were off */
  @type@_real a[@m@], a_before[@m@], alpha[@m@], alpha_before[@m@], last_h, t0, curvature, held[@p1@];
  @type@_real differences[5][@m@], offs[4];
  @type@_real turns[@turn_numbers@]; /* time, angle and rate of those that wind up, as counted last */
  int is_held, known, guess;
)";

constexpr const char* rows_functions = R"(
/* T[q][r] = sum_p S[q][p][r] e_p */
static void row_products(const real *S, int rows, const real *e, real *T) {
  int q, p, r;
  for (q = 0; q < E; q++) {
    real *t = T + q * rows;
    for (r = 0; r < rows; r++) t[r] = 0;
    for (p = 0; p < E; p++) {
      const real *s = S + (q * E + p) * rows;
      const real x = e[p];
      for (r = 0; r < rows; r++) t[r] += s[r] * x;
    }
  }
}

/* sum a b, of numbers that are four times as many as n, with four sums that do not wait for each other */
static real product(const real *a, const real *b, int n) {
  real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i;
  for (i = 0; i < n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  return (s0 + s1) + (s2 + s3);
}
)";

constexpr const char* elastic_functions = R"(
/* h += 2 sum y_r T_r, its derivative K = sum 4 T_r T_r' + 2 y_r S_r; returns the energy sum y_r^2 / 2 */
static real elastic(const real *e, real *h, real *Kq) {
  real T[E * ROWS], y[ROWS];
  int q, p, r;
  row_products(S_elastic, ROWS, e, T);
  for (r = 0; r < ROWS; r++) y[r] = 0;
  for (q = 0; q < E; q++)
    for (r = 0; r < ROWS; r++) y[r] += e[q] * T[q * ROWS + r];
  if (h)
    for (q = 0; q < M; q++) h[q] += 2 * product(y, T + (q + 1) * ROWS, ROWS);
  if (Kq)
    for (q = 0; q < M; q++)
      for (p = 0; p <= q; p++) {
        const real k = 4 * product(T + (q + 1) * ROWS, T + (p + 1) * ROWS, ROWS) +
                       2 * product(y, S_elastic + ((q + 1) * E + p + 1) * ROWS, ROWS);
        Kq[q * M + p] += k;
        if (p < q) Kq[p * M + q] += k;
      }
  return product(y, y, ROWS) / 2;
}
)";

constexpr const char* damping_functions = R"(
/* z_r = 2 w' D_r e: h += 2 sum z_r T_r, with derivatives 4 T_r (D_r w)' + 2 z_r D_r and 4 T_r T_r' */
static void damping(const real *e, const real *w, real *h, real *Kq, real *Kv) {
  real T[E * DAMPING_ROWS], W[E * DAMPING_ROWS], z[DAMPING_ROWS];
  int q, p, r;
  row_products(S_damping, DAMPING_ROWS, e, T);
  row_products(S_damping, DAMPING_ROWS, w, W);
  for (r = 0; r < DAMPING_ROWS; r++) z[r] = 0;
  for (q = 1; q < E; q++)
    for (r = 0; r < DAMPING_ROWS; r++) z[r] += 2 * w[q] * T[q * DAMPING_ROWS + r];
  for (q = 0; q < M; q++) h[q] += 2 * product(z, T + (q + 1) * DAMPING_ROWS, DAMPING_ROWS);
  if (Kq)
    for (q = 0; q < M; q++)
      for (p = 0; p < M; p++)
        Kq[q * M + p] += 4 * product(T + (q + 1) * DAMPING_ROWS, W + (p + 1) * DAMPING_ROWS, DAMPING_ROWS) +
                         2 * product(z, S_damping + ((q + 1) * E + p + 1) * DAMPING_ROWS, DAMPING_ROWS);
  if (Kv)
    for (q = 0; q < M; q++)
      for (p = 0; p < M; p++)
        Kv[q * M + p] += 4 * product(T + (q + 1) * DAMPING_ROWS, T + (p + 1) * DAMPING_ROWS, DAMPING_ROWS);
}
)";

constexpr const char* form_values_function = R"(
/* z = X e, n rows */
static void form_values(const real *X, int n, const real *e, real *z) {
  int i, j;
  for (i = 0; i < n; i++) {
    z[i] = 0;
    for (j = 0; j < E; j++) z[i] += X[i * E + j] * e[j];
  }
}
)";

constexpr const char* add_load_function = R"(
/* Forces F on n numbers z = X e, dF/dz and dF/dz' (0: zero): h -= X' F, Kq -= X' FK X, Kv -= X' FV X */
static void add_load(const real *X, int n, const real *F, const real *FK, const real *FV, real *h, real *Kq, real *Kv) {
  real W[24 * M];
  int i, j, k, both;
  for (i = 0; i < n; i++)
    for (j = 0; j < M; j++) h[j] -= X[i * E + j + 1] * F[i];
  for (both = 0; both < 2; both++) {
    const real *D = both ? FV : FK;
    real *J = both ? Kv : Kq;
    if (!D || !J) continue;
    for (i = 0; i < n; i++) {
      for (j = 0; j < M; j++) W[i * M + j] = 0;
      for (k = 0; k < n; k++)
        if (D[i * n + k] != 0)
          for (j = 0; j < M; j++) W[i * M + j] += D[i * n + k] * X[k * E + j + 1];
    }
    for (i = 0; i < n; i++)
      for (k = 0; k < M; k++)
        for (j = 0; j < M; j++) J[k * M + j] -= X[i * E + k + 1] * W[i * M + j];
  }
}
)";

constexpr const char* torque_function = R"(
/* A torque on axes d (9 numbers of z), the opposite on those of a second place (9 more): T x d / 2 on each axis. */
static real torque(const real *z, const real *f, int follows, int n, real *F, real *FK) {
  real t[3];
  int i, j, k, row;
  for (i = 0; i < 3; i++) t[i] = follows ? f[0] * z[i] + f[1] * z[3 + i] + f[2] * z[6 + i] : f[i];
  for (i = 0; i < n * n; i++) FK[i] = 0;
  for (row = 0; row < n; row += 3) {
    const real c = row < 9 ? (real)0.5 : (real)-0.5;
    const real *d = z + row;
    for (i = 0; i < 3; i++) {
      j = (i + 1) % 3;
      k = (i + 2) % 3;
      F[row + i] = c * (t[j] * d[k] - t[k] * d[j]);
      FK[(row + i) * n + row + k] += c * t[j];
      FK[(row + i) * n + row + j] -= c * t[k];
    }
    if (follows) {
      int s;
      for (s = 0; s < 3; s++)
        for (i = 0; i < 3; i++) {
          j = (i + 1) % 3;
          k = (i + 2) % 3;
          FK[(row + i) * n + 3 * s + j] += c * f[s] * d[k];
          FK[(row + i) * n + 3 * s + k] -= c * f[s] * d[j];
        }
    }
  }
  return REAL(sqrt)(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
}
)";

constexpr const char* line_function = R"(
/* A tension k (l - l0) + c l' + applied along x = P - p pulls the places together. */
static int line(const real *x, const real *w, real k, real c, real l0, real applied, real *F, real *FK, real *FV,
                real *tension, real *potential) {
  const real l = REAL(sqrt)(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  real d[3], rate, g[3];
  int i, j;
  for (i = 0; i < 9; i++) FK[i] = FV[i] = 0;
  if (l0 == 0 && c == 0 && applied == 0) {
    for (i = 0; i < 3; i++) {
      F[i] = -k * x[i];
      FK[4 * i] = -k;
    }
    *tension = k * l;
    *potential += k * l * l / 2;
    return OK;
  }
  if (!(l > 0)) return NO_DIRECTION;
  for (i = 0; i < 3; i++) d[i] = x[i] / l;
  rate = d[0] * w[0] + d[1] * w[1] + d[2] * w[2];
  *tension = k * (l - l0) + c * rate + applied;
  *potential += k * (l - l0) * (l - l0) / 2;
  for (i = 0; i < 3; i++) g[i] = k * d[i] + c * (w[i] - d[i] * rate) / l;
  for (i = 0; i < 3; i++) {
    F[i] = -*tension * d[i];
    for (j = 0; j < 3; j++) {
      FK[3 * i + j] = -d[i] * g[j] - *tension * ((i == j ? 1 : 0) - d[i] * d[j]) / l;
      FV[3 * i + j] = -c * d[i] * d[j];
    }
  }
  return OK;
}
)";

constexpr const char* form_functions = R"(
/* Sums of products c a.b of segments a and b of three numbers of z, and a constant. */
typedef struct {
  int n, a[4], b[4];
  real c[4], constant;
} form;

static real form_value(const form *f, const real *z) {
  real sum = f->constant;
  int i;
  for (i = 0; i < f->n; i++) {
    const real *a = z + 3 * f->a[i], *b = z + 3 * f->b[i];
    sum += f->c[i] * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  }
  return sum;
}

/* y += factor H x with the second derivatives H; the gradient where x = z */
static void form_times(const form *f, real factor, const real *x, real *y) {
  int i, k;
  for (i = 0; i < f->n; i++)
    for (k = 0; k < 3; k++) {
      y[3 * f->a[i] + k] += factor * f->c[i] * x[3 * f->b[i] + k];
      y[3 * f->b[i] + k] += factor * f->c[i] * x[3 * f->a[i] + k];
    }
}

static void form_second(const form *f, real factor, int n, real *H) {
  int i, k;
  for (i = 0; i < f->n; i++)
    for (k = 0; k < 3; k++) {
      const int a = 3 * f->a[i] + k, b = 3 * f->b[i] + k;
      H[a * n + b] += factor * f->c[i];
      H[b * n + a] += factor * f->c[i];
    }
}

static real dot(const real *a, const real *b, int n) {
  real sum = 0;
  int i;
  for (i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* The force -(k y + c y' + applied) dy/dz of a coordinate y with its gradient g and its second derivatives times the
   rates, s; returns k y + c y' + applied, whose second derivatives the caller adds. */
static real coordinate(int n, real y, const real *g, const real *s, real k, real c, real applied, const real *w, real *F,
                       real *FK, real *FV, real *potential) {
  const real tension = k * y + c * dot(g, w, n) + applied;
  int i, j;
  *potential += k * y * y / 2;
  for (i = 0; i < n; i++) {
    F[i] -= tension * g[i];
    for (j = 0; j < n; j++) {
      FK[i * n + j] -= g[i] * (k * g[j] + c * s[j]);
      FV[i * n + j] -= c * g[i] * g[j];
    }
  }
  return tension;
}

)";

constexpr const char* angle_function = R"(
/* A spring about the angle atan2(s, c) of two forms, at the turn that belongs to what was counted last, or to rest. */
static int angle_spring(int n, const form *fs, const form *fc, const real *z, const real *w, real k, real c, real free_angle,
                        real rest, real applied, real t, const real *last, real *now, real *F, real *FK, real *FV,
                        real *tension, real *potential) {
  const real full = (real)6.283185307179586477, s = form_value(fs, z), cs = form_value(fc, z), square = s * s + cs * cs;
  real s1[24], c1[24], g[24], second[24], by_s, by_c, by_ss, by_sc, s_rate, c_rate, rate, angle, expected;
  int i, j;
  if (!(square > (real)1e-12)) return NO_DIRECTION;
  for (i = 0; i < n; i++) s1[i] = c1[i] = 0;
  form_times(fs, 1, z, s1);
  form_times(fc, 1, z, c1);
  by_s = cs / square;
  by_c = -s / square;
  by_ss = -2 * s * cs / (square * square);
  by_sc = (s * s - cs * cs) / (square * square);
  s_rate = dot(s1, w, n);
  c_rate = dot(c1, w, n);
  for (i = 0; i < n; i++) {
    g[i] = by_s * s1[i] + by_c * c1[i];
    second[i] = (by_ss * s_rate + by_sc * c_rate) * s1[i] + (by_sc * s_rate - by_ss * c_rate) * c1[i];
  }
  form_times(fs, by_s, w, second);
  form_times(fc, by_c, w, second);
  rate = dot(g, w, n);
  angle = REAL(atan2)(s, cs);
  expected = last ? last[1] + (last[2] + rate) / 2 * (t - last[0]) : rest;
  angle += full * REAL(floor)((expected - angle) / full + (real)0.5);
  if (now) {
    now[0] = t;
    now[1] = angle;
    now[2] = rate;
  }
  *tension = coordinate(n, angle - free_angle, g, second, k, c, applied, w, F, FK, FV, potential);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      FK[i * n + j] -= *tension * (s1[i] * (by_ss * s1[j] + by_sc * c1[j]) + c1[i] * (by_sc * s1[j] - by_ss * c1[j]));
  form_second(fs, -*tension * by_s, n, FK);
  form_second(fc, -*tension * by_c, n, FK);
  return OK;
}
)";

constexpr const char* bushing_function = R"(
/* angle / sin(angle) as a function of z = 1 - cos(angle), with two derivatives by the cosine. */
static void angle_over_sine(real z, real *h, real *h1, real *h2) {
  if (REAL(fabs)(z) < (real)0.2) {
    real a = (real)(1.0 / 3), power = 1;
    int n;
    *h = 1 + z / 3;
    *h1 = (real)(-1.0 / 3);
    *h2 = 0;
    for (n = 2; n < 18; n++) {
      a *= (real)n / (real)(2 * n + 1);
      *h2 += (real)(n * (n - 1)) * a * power;
      *h1 -= (real)n * a * power * z;
      *h += a * power * z * z;
      power *= z;
    }
  } else {
    const real c = 1 - z, square = z * (2 - z);
    *h = REAL(acos)(c < -1 ? -1 : c) / REAL(sqrt)(square);
    *h1 = (c * *h - 1) / square;
    *h2 = (*h + 3 * c * *h1) / square;
  }
}

/* z = (P - p, d, D), 21 numbers: stiffness and damping along the axes d and about them, as rotation vector, or taken
   apart into swing and twist about axis `special` (0..2; -1: none). */
static int bushing(const real *z, const real *w, const real *Kt, const real *Ct, const real *kr, const real *cr,
                   int special, real t, const real *last, real *now, real *F, real *FK, real *FV, real *magnitude,
                   real *potential) {
  enum { n = 21 };
  form u[3], cosine;
  real c1[n], cw[n], f, f1, f2, c_rate, value, twist;
  int i, j, k, acts = 0;
  for (i = 0; i < n; i++) F[i] = 0;
  for (i = 0; i < n * n; i++) FK[i] = FV[i] = 0;
  memset(u, 0, sizeof u);
  memset(&cosine, 0, sizeof cosine);
  for (i = 0; i < 3; i++) {
    real g[n], s[n], tension;
    if (Kt[i] == 0 && Ct[i] == 0) continue;
    u[0].n = 1;
    u[0].a[0] = 0;
    u[0].b[0] = 1 + i;
    u[0].c[0] = 1;
    for (j = 0; j < n; j++) g[j] = s[j] = 0;
    form_times(u, 1, z, g);
    form_times(u, 1, w, s);
    tension = coordinate(n, form_value(u, z), g, s, Kt[i], Ct[i], 0, w, F, FK, FV, potential);
    form_second(u, -tension, n, FK);
  }
  /* the force on P - p */
  *magnitude = REAL(sqrt)(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
  if (special >= 0 && (kr[special] != 0 || cr[special] != 0)) {
    const int b = (special + 1) % 3, c = (special + 2) % 3;
    form fs, fc;
    int status;
    memset(&fs, 0, sizeof fs);
    memset(&fc, 0, sizeof fc);
    fs.n = fc.n = 2;
    fs.a[0] = 4 + b; fs.b[0] = 1 + c; fs.c[0] = 1;
    fs.a[1] = 4 + c; fs.b[1] = 1 + b; fs.c[1] = -1;
    fc.a[0] = 4 + b; fc.b[0] = 1 + b; fc.c[0] = 1;
    fc.a[1] = 4 + c; fc.b[1] = 1 + c; fc.c[1] = 1;
    status = angle_spring(n, &fs, &fc, z, w, kr[special], cr[special], 0, 0, 0, t, last, now, F, FK, FV, &twist, potential);
    if (status != OK) return status;
  }
  for (i = 0; i < 3; i++) acts = acts || (i != special && (kr[i] != 0 || cr[i] != 0));
  if (!acts) return OK;
  memset(u, 0, sizeof u);
  if (special < 0) {
    cosine.constant = (real)-0.5;
    cosine.n = 3;
    for (i = 0; i < 3; i++) {
      j = (i + 1) % 3;
      k = (i + 2) % 3;
      u[i].n = 2;
      u[i].a[0] = 1 + k; u[i].b[0] = 4 + j; u[i].c[0] = (real)0.5;
      u[i].a[1] = 1 + j; u[i].b[1] = 4 + k; u[i].c[1] = (real)-0.5;
      cosine.a[i] = 1 + i; cosine.b[i] = 4 + i; cosine.c[i] = (real)0.5;
    }
  } else {
    const int b = (special + 1) % 3, c = (special + 2) % 3;
    cosine.n = u[b].n = u[c].n = 1;
    cosine.a[0] = 1 + special; cosine.b[0] = 4 + special; cosine.c[0] = 1;
    u[b].a[0] = 4 + special; u[b].b[0] = 1 + c; u[b].c[0] = -1;
    u[c].a[0] = 4 + special; u[c].b[0] = 1 + b; u[c].c[0] = 1;
  }
  value = form_value(&cosine, z);
  if (!(value > (real)(-1 + 1e-9))) return NO_DIRECTION;
  angle_over_sine(1 - value, &f, &f1, &f2);
  for (i = 0; i < n; i++) c1[i] = cw[i] = 0;
  form_times(&cosine, 1, z, c1);
  form_times(&cosine, 1, w, cw);
  c_rate = dot(c1, w, n);
  for (k = 0; k < 3; k++) {
    real ui, u1[n], g[n], s[n], u_rate, tension;
    if (k == special || (kr[k] == 0 && cr[k] == 0)) continue;
    ui = form_value(u + k, z);
    for (i = 0; i < n; i++) {
      u1[i] = 0;
      s[i] = f1 * ui * cw[i];
    }
    form_times(u + k, 1, z, u1);
    form_times(u + k, f, w, s);
    u_rate = dot(u1, w, n);
    for (i = 0; i < n; i++) {
      s[i] += f1 * c_rate * u1[i] + (f1 * u_rate + f2 * ui * c_rate) * c1[i];
      g[i] = f * u1[i] + f1 * ui * c1[i];
    }
    tension = coordinate(n, f * ui, g, s, kr[k], cr[k], 0, w, F, FK, FV, potential);
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++) FK[i * n + j] -= tension * (f1 * u1[i] * c1[j] + c1[i] * (f1 * u1[j] + f2 * ui * c1[j]));
    form_second(u + k, -tension * f, n, FK);
    form_second(&cosine, -tension * f1 * ui, n, FK);
  }
  return OK;
}
)";

constexpr const char* dynamics_functions = R"(
/* e = (1, q), w = (0, v) */
static void set_e(const real *x, real *e, real *w) {
  int i;
  e[0] = 1;
  w[0] = 0;
  for (i = 0; i < M; i++) {
    e[i + 1] = x[i];
    w[i + 1] = x[M + i];
  }
}

/* M q'' + h = 0: h, and where they are asked for dh/dq and dh/dq' */
static int forces(const real *p, real t, const real *x, const real *u, const real *turns, real *h, real *Kq, real *Kv,
                  beside *also) {
  real e[E], w[E], own[@p1@];
  int i, j;
  u = inputs_at(t, u, own);
  set_e(x, e, w);
  for (i = 0; i < M; i++) h[i] = 0;
  for (i = 0; Kq && i < M * M; i++) Kq[i] = 0;
  for (i = 0; Kv && i < M * M; i++) Kv[i] = MASS_DAMPING * mass[i];
  elastic(e, h, Kq);
@damping@  for (i = 0; i < M; i++)
    for (j = 0; j < M; j++) h[i] += MASS_DAMPING * mass[i * M + j] * w[j + 1];
  for (i = 0; i < 3; i++)
    for (j = 0; j < M; j++) h[j] -= p[GRAVITY + i] * centre[i * E + j + 1];
  return loads(p, t, e, w, u, -1, turns, h, Kq, Kv, also);
}

/* b = mass^-1 b, by its Cholesky factor */
static void solve_mass(real *b, int stride) {
  int i, j;
  for (i = 0; i < M; i++) {
    for (j = 0; j < i; j++) b[i * stride] -= mass_factor[i * M + j] * b[j * stride];
    b[i * stride] /= mass_factor[i * M + i];
  }
  for (i = M - 1; i >= 0; i--) {
    for (j = i + 1; j < M; j++) b[i * stride] -= mass_factor[j * M + i] * b[j * stride];
    b[i * stride] /= mass_factor[i * M + i];
  }
}

/* A x = b with pivots, both overwritten; 0 where A is singular */
static int solve(real *A, real *b) {
  int i, j, k;
  for (k = 0; k < M; k++) {
    int pivot = k;
    for (i = k + 1; i < M; i++)
      if (REAL(fabs)(A[i * M + k]) > REAL(fabs)(A[pivot * M + k])) pivot = i;
    if (!(REAL(fabs)(A[pivot * M + k]) > 0)) return 0;
    if (pivot != k) {
      real swap = b[k];
      b[k] = b[pivot];
      b[pivot] = swap;
      for (j = k; j < M; j++) {
        swap = A[k * M + j];
        A[k * M + j] = A[pivot * M + j];
        A[pivot * M + j] = swap;
      }
    }
    for (i = k + 1; i < M; i++) {
      const real factor = A[i * M + k] / A[k * M + k];
      for (j = k + 1; j < M; j++) A[i * M + j] -= factor * A[k * M + j];
      b[i] -= factor * b[k];
    }
  }
  for (i = M - 1; i >= 0; i--) {
    for (j = i + 1; j < M; j++) b[i] -= A[i * M + j] * b[j];
    b[i] /= A[i * M + i];
  }
  return 1;
}

static int accelerations(const real *p, real t, const real *x, const real *u, const real *turns, real *a) {
  int i, status = forces(p, t, x, u, turns, a, 0, 0, 0);
  if (status != OK) return status;
  for (i = 0; i < M; i++) a[i] = -a[i];
  solve_mass(a, 1);
  return all_finite(a, M) ? OK : NOT_FINITE;
}

int @type@_rhs(const real *p, real t, const real *x, const real *u, real *f) {
  int i;
  for (i = 0; i < M; i++) f[i] = x[M + i];
  return accelerations(p ? p : defaults, t, x, u, 0, f + M);
}

int @type@_jacobian(const real *p, real t, const real *x, const real *u, real *J) {
  real h[M], Kq[M * M], Kv[M * M];
  int i, j, status = forces(p ? p : defaults, t, x, u, 0, h, Kq, Kv, 0);
  if (status != OK) return status;
  for (i = 0; i < M; i++) {
    solve_mass(Kq + i, M);
    solve_mass(Kv + i, M);
  }
  for (i = 0; i < M; i++)
    for (j = 0; j < M; j++) {
      J[i * N + j] = 0;
      J[i * N + M + j] = i == j ? 1 : 0;
      J[(M + i) * N + j] = -Kq[i * M + j];
      J[(M + i) * N + M + j] = -Kv[i * M + j];
    }
  return all_finite(J, N * N) ? OK : NOT_FINITE;
}

int @type@_input_matrix(const real *p, real t, const real *x, real *B) {
  real e[E], w[E], h[M], u[@p1@];
  int i, k, status;
  set_e(x, e, w);
  for (k = 0; k < P; k++) {
    for (i = 0; i < P; i++) u[i] = i == k ? 1 : 0;
    for (i = 0; i < M; i++) h[i] = 0;
    /* only loads that have this input */
    status = loads(p ? p : defaults, t, e, w, u, k, 0, h, 0, 0, 0);
    if (status != OK) return status;
    solve_mass(h, 1);
    for (i = 0; i < M; i++) {
      B[i * P + k] = 0;
      B[(M + i) * P + k] = -h[i];
    }
  }
  return all_finite(B, N * P) ? OK : NOT_FINITE;
}
@sensors@
int @type@_outputs(const real *p, real t, const real *x, const real *u, real *y) {
  real a[M];
  int status;
  if (!p) p = defaults;
  status = accelerations(p, t, x, u, 0, a);
  return status != OK ? status : measured(p, t, x, a, u, 0, y);
}

static int measure(const @type@_run *run, const real *u, real *y) {
  return measured(run->p, run->t, run->x, run->a, u, run->turns, y);
}

/* By central differences, and exactly where outputs are linear in the state. */
int @type@_output_matrices(const real *p, real t, const real *x, const real *u, real *C, real *D) {
  real at[N], held[@p1@], above[@k1@], below[@k1@], speed = (real)1e-3 * SIZE;
  int i, j, status;
  if (!p) p = defaults;
  (void)inputs_at(t, u, held);
  for (j = 0; j < P; j++) {
    const real was = held[j], step = 1 + REAL(fabs)(was);
    held[j] = was + step;
    status = @type@_outputs(p, t, x, held, above);
    if (status != OK) return status;
    held[j] = was - step;
    status = @type@_outputs(p, t, x, held, below);
    if (status != OK) return status;
    held[j] = was;
    for (i = 0; i < K; i++) D[i * P + j] = (above[i] - below[i]) / (2 * step);
  }
  for (i = 0; i < M; i++) {
    const real here = REAL(fabs)(scale[i] * x[M + i]);
    if (here > speed) speed = here;
  }
  for (i = 0; i < N; i++) at[i] = x[i];
  for (j = 0; j < N; j++) {
    const real step = (j < M ? (real)1e-6 * SIZE : (real)1e-4 * speed) / scale[j % M];
    at[j] = x[j] + step;
    status = @type@_outputs(p, t, at, held, above);
    if (status != OK) return status;
    at[j] = x[j] - step;
    status = @type@_outputs(p, t, at, held, below);
    if (status != OK) return status;
    at[j] = x[j];
    for (i = 0; i < K; i++) C[i * N + j] = (above[i] - below[i]) / (2 * step);
  }
@exact@  return OK;
}

/* r = M a + h at a state, and J = M + cq dh/dq + cv dh/dq' */
static int residual(const real *p, real t, const real *x, const real *a, const real *u, const real *turns, real cq, real cv,
                    real *r, real *J) {
  real Kq[M * M], Kv[M * M];
  int i, j, status = forces(p, t, x, u, turns, r, J ? Kq : 0, J ? Kv : 0, 0);
  if (status != OK) return status;
  for (i = 0; i < M; i++)
    for (j = 0; j < M; j++) r[i] += mass[i * M + j] * a[j];
  for (i = 0; J && i < M * M; i++) J[i] = mass[i] + cq * Kq[i] + cv * Kv[i];
  return all_finite(r, M) && (!J || all_finite(J, M * M)) ? OK : NOT_FINITE;
}

/* Nothing is known of the accelerations but these. */
static void begin_history(@type@_run *run) {
  memset(run->differences, 0, sizeof run->differences);
  memset(run->offs, 0, sizeof run->offs);
  memcpy(run->differences[0], run->a, sizeof run->a);
  run->last_h = 0;
  run->known = 0;
  run->guess = 1;
}

/* The accelerations at the end of a step h among the differences: the (p + 1)-th is what a prediction of order p was off
   by, and the order that was nearest of late is taken next. */
static void extend_history(@type@_run *run, const real *a, real h) {
  real newer[M], older[M];
  int i, k, orders;
  if (run->last_h > 0 && h != run->last_h) run->known = 0;
  orders = run->known < 3 ? run->known : 3;
  memcpy(newer, a, sizeof newer);
  for (k = 0; k <= orders + 1; k++) {
    real off = 0;
    memcpy(older, run->differences[k], sizeof older);
    memcpy(run->differences[k], newer, sizeof newer);
    for (i = 0; i < M; i++) newer[i] -= older[i];
    if (k > orders) break;
    for (i = 0; i < M; i++)
      if (scale[i] * REAL(fabs)(newer[i]) > off) off = scale[i] * REAL(fabs)(newer[i]);
    run->offs[k] = off > (real)0.7 * run->offs[k] ? off : (real)0.7 * run->offs[k];
  }
  run->known = run->known < 3 ? run->known + 1 : 4;
  run->guess = 0;
  for (k = 1; k <= orders; k++)
    if (run->offs[k] < run->offs[run->guess]) run->guess = k;
}

/* As if nothing had been before: accelerations of the state here. */
static int start_again(@type@_run *run, real t, const real *u) {
  real a[M];
  int i, status;
  status = count_turns(run->p, t, run->x, u, run->turns);
  if (status == OK) status = accelerations(run->p, t, run->x, u, run->turns, a);
  if (status != OK) return status;
  for (i = 0; i < M; i++) run->a[i] = run->a_before[i] = run->alpha[i] = run->alpha_before[i] = a[i];
  run->t = t;
  begin_history(run);
  return OK;
}

int @type@_begin(@type@_run *run, const real *p, real t, const real *x) {
  int i;
  memset(run, 0, sizeof *run);
  run->t0 = t;
  @type@_parameters(run->p);
  if (p)
    for (i = 0; i < R; i++) run->p[i] = p[i];
  @type@_initial(run->x);
  if (x)
    for (i = 0; i < N; i++) run->x[i] = x[i];
  if (!all_finite(run->x, N)) return NOT_FINITE;
  i = first_turns(run->p, t, run->x, run->turns);
  return i != OK ? i : start_again(run, t, 0);
}

/* Where inputs have changed: accelerations follow as the step h itself lets them, (M + h^2 K / 4 + h D / 2) da = -r. */
static int follow_inputs(@type@_run *run, real h, const real *u) {
  real r[M], J[M * M];
  int i, changed = (u != 0) != run->is_held, status;
  /* no number is equal to itself alone: such an input is the study's, before and now */
  for (i = 0; u && i < P; i++)
    changed = changed || (u[i] == u[i] ? !(u[i] == run->held[i]) : run->held[i] == run->held[i]);
  if (!changed) return OK;
  status = residual(run->p, run->t, run->x, run->a, u, run->turns, h * h / 4, h / 2, r, J);
  if (status != OK) return status;
  if (!solve(J, r)) return SINGULAR;
  if (!all_finite(r, M)) return NOT_FINITE;
  for (i = 0; i < M; i++) {
    run->a[i] -= r[i];
    run->a_before[i] = run->alpha[i] = run->alpha_before[i] = run->a[i];
  }
  for (i = 0; u && i < P; i++) run->held[i] = u[i];
  run->is_held = u != 0;
  begin_history(run);
  return OK;
}

static int one_step(@type@_run *run, real h, real end, const real *u) {
  const real ca = (1 - ALPHA_M) / ((1 - ALPHA_F) * BETA * h * h), cv = GAMMA / (BETA * h);
  const real *q = run->x, *v = run->x + M, *a = run->a;
  real x[N], a1[M], from[M], to[M], r[M], J[M * M], turns[@turn_numbers@], previous = 0, curvature;
  int i, k, status, done = 0;
  /* the integrator's accelerations for a step of this length */
  for (i = 0; i < M; i++) from[i] = run->alpha[i];
  if (run->last_h == 0) {
    /* from the rate of the accelerations, by how the residual changes a little later */
    const real ahead = (real)0.01 * h;
    real later[M];
    for (i = 0; i < M; i++) {
      x[i] = q[i] + ahead * (v[i] + ahead / 2 * a[i]);
      x[M + i] = v[i] + ahead * a[i];
    }
    status = residual(run->p, run->t, run->x, a, u, run->turns, 1 / ca, cv / ca, r, J);
    if (status == OK) status = residual(run->p, run->t + ahead, x, a, u, run->turns, 0, 0, later, 0);
    if (status != OK) return status;
    for (i = 0; i < M; i++) r[i] = (r[i] - later[i]) / ahead;
    if (solve(J, r) && all_finite(r, M))
      for (i = 0; i < M; i++) from[i] = a[i] + (ALPHA_M - ALPHA_F) * h * r[i];
  } else if (h != run->last_h) {
    for (i = 0; i < M; i++)
      from[i] += (ALPHA_M - ALPHA_F) * (h / run->last_h - 1) * (run->alpha[i] - run->alpha_before[i]);
  }
  /* prediction: the polynomial of the order that was nearest of late, over equal steps; otherwise along a line */
  for (i = 0; i < M; i++) {
    a1[i] = a[i];
    if (run->last_h > 0 && run->guess > 0 && h != run->last_h) a1[i] += h / run->last_h * (a[i] - run->a_before[i]);
    if (run->last_h > 0 && h == run->last_h)
      for (k = 1; k <= run->guess && k <= run->known; k++) a1[i] += run->differences[k][i];
    to[i] = ((1 - ALPHA_F) * a1[i] + ALPHA_F * a[i] - ALPHA_M * from[i]) / (1 - ALPHA_M);
    x[i] = q[i] + h * v[i] + h * h * (((real)0.5 - BETA) * from[i] + BETA * to[i]);
    x[M + i] = v[i] + h * ((1 - GAMMA) * from[i] + GAMMA * to[i]);
  }
  curvature = (real)0.99 * run->curvature;
  if (curvature < 10) curvature = 10;
  for (k = 0; k < MOST_ITERATIONS && !done; k++) {
    real increment = 0, theta;
    status = residual(run->p, end, x, a1, u, run->turns, 1 / ca, cv / ca, r, J);
    if (status != OK) return status;
    if (!solve(J, r)) return SINGULAR;
    for (i = 0; i < M; i++) {
      const real d = -r[i] / ca, size = REAL(fabs)(d) * scale[i];
      x[i] += d;
      x[M + i] += cv * d;
      a1[i] += ca * d;
      if (!(size <= increment)) increment = size;
    }
    if (!all_finite(x, N)) return NOT_FINITE;
    /* exact derivatives: the next increment is about the square of this one, times a curvature that was seen */
    theta = k > 0 ? increment / previous : (real)0.5;
    if (k > 0 && 2 * theta * SIZE / previous > curvature) curvature = 2 * theta * SIZE / previous;
    if (curvature * increment / SIZE < theta) theta = curvature * increment / SIZE;
    done = increment <= 16 * EPSILON * SIZE || (theta < 1 && theta / (1 - theta) * increment <= TOLERANCE * SIZE);
    previous = increment;
  }
  if (!done) return NOT_CONVERGED;
  memcpy(turns, run->turns, sizeof turns);
  status = count_turns(run->p, end, x, u, turns);
  if (status != OK) return status;
  memcpy(run->turns, turns, sizeof turns);
  extend_history(run, a1, h);
  for (i = 0; i < M; i++) {
    to[i] = ((1 - ALPHA_F) * a1[i] + ALPHA_F * a[i] - ALPHA_M * from[i]) / (1 - ALPHA_M);
    run->a_before[i] = run->a[i];
    run->a[i] = a1[i];
    run->alpha_before[i] = from[i];
    run->alpha[i] = to[i];
  }
  memcpy(run->x, x, sizeof x);
  run->t = end;
  run->last_h = h;
  run->curvature = curvature;
  return OK;
}

static int try_step(@type@_run *run, real h, real end, const real *u) {
  const @type@_run before = *run;
  int status = follow_inputs(run, h, u);
  if (status == OK) status = one_step(run, h, end, u);
  if (status != OK) *run = before;
  return status;
}

int @type@_step(@type@_run *run, real h, const real *u) {
  if (!(h > 0) || !(h - h == 0) || !(run->t + h > run->t)) return WRONG_STEP;
  return try_step(run, h, run->t + h, u);
}

int @type@_advance(@type@_run *run, real until, real h, const real *u) {
  const real round_off = 8 * EPSILON * (REAL(fabs)(until) + REAL(fabs)(run->t));
  real most;
  long k, limit;
  int status;
  if (!(h > 0) || !(h - h == 0) || !(until - until == 0)) return WRONG_STEP;
  most = (until - run->t) / h + 2 * BREAKS + 4;
  if (!(most < (real)1e9)) return WRONG_STEP;
  limit = (long)most;
  /* on the grid t0 + k h, where steps end that were cut short at a kink or jump */
  for (k = 0; k < limit && run->t < until - round_off; k++) {
    const real next = @type@_next_break(run->t + round_off);
    const int jumps = next <= until + round_off;
    const real stop = jumps ? REAL(nextafter)(next, run->t) : until;
    real target = run->t0 + (REAL(floor)((run->t - run->t0) / h + (real)1e-3) + 1) * h, remaining, pieces, dt;
    if (target > stop - (real)1e-3 * h) target = stop;
    remaining = target - run->t;
    pieces = REAL(ceil)(remaining / h - (real)2e-3);
    if (pieces < 1) pieces = 1;
    dt = remaining / pieces;
    if (pieces > 1) target = run->t + dt;
    if (REAL(fabs)(dt - h) < (real)1e-9 * h) dt = h;
    status = try_step(run, dt, target, u);
    if (status == OK && jumps && target == stop) status = start_again(run, REAL(nextafter)(next, (real)HUGE_VAL), u);
    if (status != OK) return status;
  }
  return OK;
}
)";

constexpr const char* no_turns = R"(
static int count_turns(const real *p, real t, const real *x, const real *u, real *turns) {
  (void)p; (void)t; (void)x; (void)u; (void)turns;
  return OK;
}
static int first_turns(const real *p, real t, const real *x, real *turns) {
  return count_turns(p, t, x, 0, turns);
}
)";

constexpr const char* some_turns = R"(
static int turns_at(const real *p, real t, const real *x, const real *u, const real *last, real *turns) {
  real e[E], w[E], h[M], own[@p1@];
  beside also;
  int i, status;
  u = inputs_at(t, u, own);
  set_e(x, e, w);
  for (i = 0; i < M; i++) h[i] = 0;
  status = loads(p, t, e, w, u, -1, last, h, 0, 0, &also);
  if (status == OK) memcpy(turns, also.turns, sizeof also.turns);
  return status;
}
static int count_turns(const real *p, real t, const real *x, const real *u, real *turns) {
  return turns_at(p, t, x, u, turns, turns);
}
static int first_turns(const real *p, real t, const real *x, real *turns) {
  return turns_at(p, t, x, 0, 0, turns);
}
)";

// Rows [q][p][r], as many as make a multiple of four.
std::string rows_array(const std::string& name, const std::vector<MatrixXd>& rows, Index padded) {
  std::vector<double> values;
  const Index e = rows.front().rows();
  for (Index q = 0; q < e; ++q)
    for (Index p = 0; p < e; ++p)
      for (Index r = 0; r < padded; ++r)
        values.push_back(r < static_cast<Index>(rows.size()) ? rows[static_cast<size_t>(r)](q, p) : 0);
  return c_array(name, values);
}

Index padded_rows(const std::vector<MatrixXd>& rows) {
  return std::max<Index>(4, (static_cast<Index>(rows.size()) + 3) / 4 * 4);
}

// The axis about which a bushing is taken apart, as load.cpp has it.
int taken_apart_about(const Load& load) {
  for (const Vector3d* values : {&load.k, &load.c}) {
    const auto zeros = (values->array() == 0).count();
    if (zeros == 3) continue;
    if (zeros == 0) return -1;
    for (int i = 0; i < 3; ++i)
      if (((*values)[i] == 0) == (zeros == 1)) return i;
  }
  return -1;
}

// Loads one after the other, with the functions that they need.
class LoadWriter {
 public:
  LoadWriter(const ExportMechanism& mechanism, CTimeFunctions& functions)
      : mechanism_(mechanism), functions_(functions) {
    for (size_t i = 0; i < mechanism.loads.size(); ++i) add(static_cast<int>(i));
  }

  int turns() const { return turns_; }
  std::string data() const { return data_; }
  std::string functions() const {
    std::string text;
    if (loads_) text += add_load_function;
    if (torques_) text += torque_function;
    if (lines_) text += line_function;
    if (angles_) text += std::string(form_functions) + angle_function;
    if (bushings_) text += bushing_function;
    text += R"(
/* What loads tell beside their forces. */
typedef struct {
  real magnitude[@load_numbers@], potential, turns[@turn_numbers@];
} beside;

/* Loads into h and its derivatives; of one input alone where `only` is its number. */
static int loads(const real *p, real t, const real *e, const real *w, const real *u, int only, const real *turns, real *h,
                 real *Kq, real *Kv, beside *also) {
  real z[24], rates[24], F[24], FK[576], FV[576], potential = 0, magnitude = 0;
  int status = OK;
  (void)p; (void)t; (void)e; (void)w; (void)u; (void)only; (void)turns; (void)h; (void)Kq; (void)Kv;
  (void)z; (void)rates; (void)F; (void)FK; (void)FV; (void)magnitude;
  if (also) memset(also, 0, sizeof *also);
)";
    return text + body_ + "  if (also) also->potential = potential;\n  return status;\n}\n";
  }

 private:
  MatrixXd form(const ExportLoad& one, bool first, int row, int rows) const {
    const int place = first ? one.first : one.second;
    return mechanism_.places[static_cast<size_t>(place)].form.middleRows(row, rows);
  }

  // Named rows of both places.
  void rows_of(const std::string& name, const std::vector<MatrixXd>& parts) {
    Index count = 0;
    for (const MatrixXd& part : parts) count += part.rows();
    MatrixXd all(count, parts.front().cols());
    count = 0;
    for (const MatrixXd& part : parts) {
      all.middleRows(count, part.rows()) = part;
      count += part.rows();
    }
    data_ += c_array(name, all);
  }

  void add(int number) {
    const ExportLoad& one = mechanism_.loads[static_cast<size_t>(number)];
    const Load& load = one.load;
    const std::string X = fmt::format("load_{}", number + 1);
    const bool applied = !holds(load.kind);
    loads_ = true;
    std::string factor = "1";
    if (one.factor >= 0) factor = fmt::format("p[{}]", one.factor);
    // of the one input that is asked for, by itself
    if (one.input >= 0) factor += fmt::format(" * u[{}]", one.input);
    data_ += fmt::format("/* {} '{}' */\n", name_of(load.kind), in_comment(load.name));
    body_ += fmt::format("  /* {} '{}' */\n", name_of(load.kind), in_comment(load.name));
    body_ +=
        one.input >= 0 ? fmt::format("  if (only < 0 || only == {}) {{\n", one.input) : "  if (only < 0) {\n";
    if (applied) body_ += fmt::format("    const real factor = {};\n", factor);
    const auto components = [&] {
      std::string text = "    const real f[3] = {";
      for (size_t i = 0; i < 3; ++i)
        text += fmt::format("{}factor * {}", i > 0 ? ", " : "", functions_.call(load.components[i]));
      return text + "};\n";
    };
    std::string take, values;  // forces into h; the numbers that loads are functions of
    const auto evaluate = [&](int rows, bool rates) {
      values = fmt::format("    form_values({}, {}, e, z);\n", X, rows);
      if (rates) values += fmt::format("    form_values({}, {}, w, rates);\n", X, rows);
    };
    switch (load.kind) {
      case LoadKind::Force: {
        MatrixXd position = form(one, true, 0, 3);
        if (load.has_second) position -= form(one, false, 0, 3);
        body_ += components();
        if (load.following) {
          rows_of(X, {position, form(one, true, 3, 9)});
          evaluate(12, false);
          body_ += values + R"(    int i, k;
    for (i = 0; i < 144; i++) FK[i] = 0;
    for (i = 0; i < 12; i++) F[i] = 0;
    for (k = 0; k < 3; k++)
      for (i = 0; i < 3; i++) {
        F[i] += f[k] * z[3 + 3 * k + i];
        FK[i * 12 + 3 + 3 * k + i] = f[k];
      }
    magnitude = REAL(sqrt)(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
)";
          // declarations stand before statements
          take = fmt::format("    add_load({}, 12, F, FK, 0, h, Kq, Kv);\n", X);
        } else {
          rows_of(X, {position});
          body_ += "    magnitude = REAL(sqrt)(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);\n";
          take = fmt::format("    add_load({}, 3, f, 0, 0, h, Kq, Kv);\n", X);
        }
        break;
      }
      case LoadKind::Torque: {
        torques_ = true;
        const int rows = load.has_second ? 18 : 9;
        if (load.has_second)
          rows_of(X, {form(one, true, 3, 9), form(one, false, 3, 9)});
        else
          rows_of(X, {form(one, true, 3, 9)});
        evaluate(rows, false);
        body_ += components() + values;
        body_ += fmt::format("    magnitude = torque(z, f, {}, {}, F, FK);\n", load.following ? 1 : 0, rows);
        take = fmt::format("    add_load({}, {}, F, FK, 0, h, Kq, Kv);\n", X, rows);
        break;
      }
      case LoadKind::LineForce:
      case LoadKind::Spring: {
        lines_ = true;
        rows_of(X, {form(one, false, 0, 3) - form(one, true, 0, 3)});
        evaluate(3, true);
        body_ += values;
        const bool spring = load.kind == LoadKind::Spring;
        body_ += fmt::format(
            "    status = line(z, rates, {}, {}, {}, {}, F, FK, FV, &magnitude, &potential);\n    if (status "
            "!= OK) "
            "return status;\n",
            number_text(spring ? load.stiffness : 0), number_text(spring ? load.damping : 0),
            number_text(spring ? load.length : 0),
            spring ? functions_.call(load.preload) : "-factor * " + functions_.call(load.magnitude));
        if (!spring) body_ += "    magnitude = REAL(fabs)(magnitude);\n";
        take = fmt::format("    add_load({}, 3, F, FK, FV, h, Kq, Kv);\n", X);
        break;
      }
      case LoadKind::TorsionSpring:
        angles_ = true;
        rows_of(X, {form(one, true, 3, 6), form(one, false, 3, 3)});
        evaluate(9, true);
        // c = D_1.d_1, s = D_1.d_2
        body_ += "    static const form s = {1, {2}, {1}, {1}, 0}, c = {1, {2}, {0}, {1}, 0};\n    int i;\n" +
                 values +
                 "    for (i = 0; i < 9; i++) F[i] = 0;\n    for (i = 0; i < 81; i++) FK[i] = FV[i] = 0;\n";
        body_ += fmt::format(
            "    status = angle_spring(9, &s, &c, z, rates, {}, {}, {}, {}, {}, t, {}, {}, F, FK, FV, "
            "&magnitude, "
            "&potential);\n    if (status != OK) return status;\n",
            number_text(load.stiffness), number_text(load.damping), number_text(load.length),
            number_text(load.length), functions_.call(load.preload), last(one), now(one));
        take = fmt::format("    add_load({}, 9, F, FK, FV, h, Kq, Kv);\n", X);
        break;
      case LoadKind::Bushing: {
        angles_ = bushings_ = true;
        rows_of(X, {form(one, false, 0, 3) - form(one, true, 0, 3), form(one, true, 3, 9),
                    form(one, false, 3, 9)});
        evaluate(21, true);
        const auto three = [](const Vector3d& x) {
          return fmt::format("{{{}, {}, {}}}", number_text(x[0]), number_text(x[1]), number_text(x[2]));
        };
        body_ += fmt::format("    static const real Kt[3] = {}, Ct[3] = {}, kr[3] = {}, cr[3] = {};\n",
                             three(load.K), three(load.C), three(load.k), three(load.c)) +
                 values;
        body_ += fmt::format(
            "    status = bushing(z, rates, Kt, Ct, kr, cr, {}, t, {}, {}, F, FK, FV, &magnitude, "
            "&potential);\n    if "
            "(status != OK) return status;\n",
            taken_apart_about(load), last(one), now(one));
        take = fmt::format("    add_load({}, 21, F, FK, FV, h, Kq, Kv);\n", X);
        break;
      }
    }
    body_ += take + fmt::format("    if (also) also->magnitude[{}] = magnitude;\n  }}\n", number);
    if (one.counts) ++turns_;
  }

  std::string last(const ExportLoad& one) const {
    return one.counts ? fmt::format("turns ? turns + {} : 0", 3 * turns_) : "0";
  }
  std::string now(const ExportLoad& one) const {
    return one.counts ? fmt::format("also ? also->turns + {} : 0", 3 * turns_) : "0";
  }

  const ExportMechanism& mechanism_;
  CTimeFunctions& functions_;
  std::string data_, body_;
  int turns_ = 0;
  bool loads_ = false, torques_ = false, lines_ = false, angles_ = false, bushings_ = false;
};

// Sensors: their values, and the derivatives of those that are linear in the state.
struct SensorText {
  std::string data, values, exact;
  bool energy = false;
};

SensorText sensor_text(const ExportMechanism& mechanism) {
  SensorText text;
  int column = 0;
  std::vector<bool> made(mechanism.places.size(), false);
  const auto place_name = [&](int place) {
    const auto at = static_cast<size_t>(place);
    if (!made[at]) {
      made[at] = true;
      text.data += c_array(fmt::format("place_{}", place + 1), mechanism.places[at].form);
    }
    return fmt::format("place_{}", place + 1);
  };
  for (const ExportSensor& one : mechanism.sensors) {
    const SensorKind kind = one.sensor.kind;
    text.values += fmt::format("  /* {} '{}' */\n", traits(kind).name, in_comment(one.sensor.name));
    int size = 3;
    switch (kind) {
      case SensorKind::Position:
      case SensorKind::Displacement: {
        const std::string X = place_name(one.place);
        text.values += fmt::format("  form_values({}, 3, e, y + {});\n", X, column);
        if (kind == SensorKind::Displacement)
          for (int i = 0; i < 3; ++i)
            text.values += fmt::format("  y[{}] -= (real){};\n", column + i, number_text(one.reference[i]));
        text.exact += fmt::format("  exact_rows({}, 0, C + {} * N, D + {} * P);\n", X, column, column);
        break;
      }
      case SensorKind::Velocity: {
        const std::string X = place_name(one.place);
        text.values += fmt::format("  form_values({}, 3, w, y + {});\n", X, column);
        text.exact += fmt::format("  exact_rows({}, M, C + {} * N, D + {} * P);\n", X, column, column);
        break;
      }
      case SensorKind::Acceleration:
        text.values += fmt::format("  form_values({}, 3, ea, y + {});\n", place_name(one.place), column);
        break;
      case SensorKind::AngularVelocity:
      case SensorKind::AngularAcceleration: {
        const bool of_rates = kind == SensorKind::AngularVelocity;
        const std::string X = place_name(one.place);
        text.values += fmt::format(
            "  form_values({0} + 3 * E, 9, e, axes);\n  form_values({0} + 3 * E, 9, {1}, turning);\n  "
            "half_cross(axes, "
            "turning, y + {2});\n",
            X, of_rates ? "w" : "ea", column);
        break;
      }
      case SensorKind::LoadValue:
        size = 1;
        text.values += fmt::format("  y[{}] = also.magnitude[{}];\n", column, one.load);
        break;
      case SensorKind::Energy:
        size = 5;
        text.energy = true;
        text.values += fmt::format("  energies(p, e, w, also.potential, y + {});\n", column);
        break;
      default:
        LISSOM_ASSERT(false);
    }
    column += size;
  }
  return text;
}

constexpr const char* energies_function = R"(
/* kinetic, elastic, of gravity, of springs, and their sum */
static void energies(const real *p, const real *e, const real *w, real potential, real *y) {
  int i, j;
  y[0] = y[2] = 0;
  for (i = 0; i < M; i++)
    for (j = 0; j < M; j++) y[0] += w[i + 1] * mass[i * M + j] * w[j + 1] / 2;
  y[1] = elastic(e, 0, 0);
  for (i = 0; i < 3; i++)
    for (j = 0; j < E; j++) y[2] -= p[GRAVITY + i] * centre[i * E + j] * e[j];
  y[3] = potential;
  y[4] = y[0] + y[1] + y[2] + y[3];
}
)";

constexpr const char* half_cross_function = R"(
/* sum d_k x r_k / 2 */
static void half_cross(const real *d, const real *r, real *y) {
  int i, k;
  for (i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    y[i] = 0;
    for (k = 0; k < 9; k += 3) y[i] += (d[k + a] * r[k + b] - d[k + b] * r[k + a]) / 2;
  }
}
)";

constexpr const char* exact_rows_function = R"(
/* Three outputs that are X times (1, q), or times (0, q'): their rows of the matrices. */
static void exact_rows(const real *X, int first, real *C, real *D) {
  int i, j;
  for (i = 0; i < 3; i++) {
    for (j = 0; j < N; j++) C[i * N + j] = 0;
    for (j = 0; j < M; j++) C[i * N + first + j] = X[i * E + j + 1];
    for (j = 0; j < P; j++) D[i * P + j] = 0;
  }
}
)";

constexpr const char* measured_function = R"(
static int measured(const real *p, real t, const real *x, const real *a, const real *u, const real *turns, real *y) {
  real e[E], w[E], ea[E], h[M], own[@p1@], axes[9], turning[9];
  beside also;
  int i, status;
  u = inputs_at(t, u, own);
  set_e(x, e, w);
  ea[0] = 0;
  for (i = 0; i < M; i++) {
    h[i] = 0;
    ea[i + 1] = a[i];
  }
  (void)ea; (void)axes; (void)turning;
  status = loads(p, t, e, w, u, -1, turns, h, 0, 0, &also);
  if (status != OK) return status;
@values@  return all_finite(y, K) ? OK : NOT_FINITE;
}
)";

}  // namespace

CParts c_mechanism_parts(const ExportModel& model, CTimeFunctions& functions) {
  const ExportMechanism& mechanism = *model.mechanism;
  const Index m = mechanism.M.rows(), rows = padded_rows(mechanism.rows);
  const Eigen::LLT<MatrixXd> cholesky(mechanism.M);
  if (cholesky.info() != Eigen::Success) fail_input("the mass matrix of the reduced mechanism is singular");
  const LoadWriter loads(mechanism, functions);
  const SensorText sensors = sensor_text(mechanism);
  const bool damped = !mechanism.damping_rows.empty();
  const Index damping_rows = damped ? padded_rows(mechanism.damping_rows) : 0;

  const double rho = model.rho_inf, am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1),
               gamma = 0.5 - am + af, beta = (gamma + 0.5) * (gamma + 0.5) / 4;
  CParts parts;
  parts.run_fields = mechanism_run_fields;
  const auto define = [&](const std::string& name, double value) {
    parts.data += fmt::format("#define {} ((real){})\n", name, number_text(value));
  };
  parts.data += fmt::format("\n#define M {}\n#define E (M + 1)\n#define ROWS {}\n", m, rows);
  if (damped) parts.data += fmt::format("#define DAMPING_ROWS {}\n", damping_rows);
  parts.data += fmt::format("#define GRAVITY {}\n\n", mechanism.gravity);
  parts.data +=
      fmt::format("/* generalized-alpha with a spectral radius of {} at infinite frequency */\n", rho);
  define("ALPHA_M", am);
  define("ALPHA_F", af);
  define("BETA", beta);
  define("GAMMA", gamma);
  parts.data += fmt::format("#define MOST_ITERATIONS {}\n", model.newton_iterations);
  define("TOLERANCE", model.newton_tolerance);
  define("EPSILON", 2.220446049250313e-16);
  parts.data += "/* size of the mechanism [m] */\n";
  define("SIZE", mechanism.length);
  define("MASS_DAMPING", mechanism.mass_damping);
  parts.data +=
      "\n/* mass matrix, its Cholesky factor, mass times position is centre e, metres a unit of coordinates "
      "*/\n";
  parts.data += c_array("mass", mechanism.M) + c_array("mass_factor", MatrixXd(cholesky.matrixL())) +
                c_array("centre", mechanism.centre) + c_array("scale", mechanism.scale);
  parts.data +=
      fmt::format("\n/* elastic rows: the energy is the sum of (e' S_r e)^2 / 2, S[q][p][r], {} rows */\n",
                  mechanism.rows.size());
  parts.data += rows_array("S_elastic", mechanism.rows, rows);
  if (damped) {
    parts.data += fmt::format("\n/* damping rows, {} */\n", mechanism.damping_rows.size());
    parts.data += rows_array("S_damping", mechanism.damping_rows, damping_rows);
  }
  if (!loads.data().empty()) parts.data += "\n/* places of loads, as forms of e */\n" + loads.data();
  if (!sensors.data.empty()) parts.data += "\n/* places of sensors: position and axes */\n" + sensors.data;

  // what is not known to the texts of the caller
  const std::vector<std::pair<std::string, std::string>> own = {
      {"m", std::to_string(m)},
      {"turn_numbers", std::to_string(std::max(1, 3 * loads.turns()))},
      {"load_numbers", std::to_string(std::max<size_t>(1, mechanism.loads.size()))},
      {"damping", damped ? "  damping(e, w, h, Kq, Kv);\n" : ""},
      {"values", sensors.values},
      {"exact", sensors.exact}};
  std::vector<std::pair<std::string, std::string>> all = own;
  // pass on what the caller fills
  for (const char* key : {"type", "p1", "k1", "n1"}) all.emplace_back(key, fmt::format("@{}@", key));
  parts.run_fields = filled(parts.run_fields, all);
  std::string before = std::string(rows_functions) + elastic_functions;
  if (damped) before += damping_functions;
  const bool forms = !sensors.data.empty() ||
                     std::any_of(mechanism.loads.begin(), mechanism.loads.end(), [](const auto& one) {
                       return one.load.kind != LoadKind::Force || one.load.following;
                     });
  if (forms) before += form_values_function;
  before += loads.functions();
  std::string sensor_functions;
  if (sensors.energy) sensor_functions += energies_function;
  if (sensors.values.find("half_cross") != std::string::npos) sensor_functions += half_cross_function;
  if (!sensors.exact.empty()) sensor_functions += exact_rows_function;
  sensor_functions += measured_function;
  std::string dynamics = dynamics_functions;
  const std::string turns = loads.turns() > 0 ? some_turns : no_turns;
  const std::string marker = "@sensors@";
  dynamics.replace(dynamics.find(marker), marker.size(), sensor_functions + turns);
  parts.functions = filled(before + dynamics, all);
  return parts;
}

}  // namespace lissom
