// Linear models in C: A x + B du, and the exact solution over a step as LinearStepper has it
// (rom/linear/linear_rom.hpp), whose matrices a run makes when its step changes.
#include "lissom/export/c_writer_parts.hpp"

namespace lissom {

namespace {

constexpr const char* linear_run_fields =
    R"(  /* for steps of h: x+ = E x + first du(t) + middle du(t + h/2) + last du(t + h) */
  @type@_real h, E[@nn@], first[@np@], middle[@np@], last[@np@];
)";

constexpr const char* linear_functions = R"(
/* u - u0, of the study where nothing is given. */
static void deviation(real t, const real *u, real *du) {
  int i;
  (void)inputs_at(t, u, du);
  for (i = 0; i < P; i++) du[i] -= u_rest[i];
}

/* y += X x, X rows by columns */
static void add_product(const real *X, int rows, int columns, const real *x, real *y) {
  int i, j;
  for (i = 0; i < rows; i++)
    for (j = 0; j < columns; j++) y[i] += X[i * columns + j] * x[j];
}

int @type@_rhs(const real *p, real t, const real *x, const real *u, real *f) {
  real du[@p1@];
  int i;
  (void)p;
  deviation(t, u, du);
  for (i = 0; i < N; i++) f[i] = 0;
  add_product(A, N, N, x, f);
  add_product(B, N, P, du, f);
  return all_finite(f, N) ? OK : NOT_FINITE;
}

int @type@_jacobian(const real *p, real t, const real *x, const real *u, real *J) {
  (void)p; (void)t; (void)x; (void)u;
  memcpy(J, A, sizeof(real) * N * N);
  return OK;
}

int @type@_input_matrix(const real *p, real t, const real *x, real *Bu) {
  (void)p; (void)t; (void)x;
  memcpy(Bu, B, sizeof(real) * N * P);
  return OK;
}

int @type@_outputs(const real *p, real t, const real *x, const real *u, real *y) {
  real du[@p1@];
  int i;
  (void)p;
  deviation(t, u, du);
  for (i = 0; i < K; i++) y[i] = y_rest[i];
  add_product(C, K, N, x, y);
  add_product(D, K, P, du, y);
  return all_finite(y, K) ? OK : NOT_FINITE;
}

int @type@_output_matrices(const real *p, real t, const real *x, const real *u, real *Cx, real *Du) {
  (void)p; (void)t; (void)x; (void)u;
  memcpy(Cx, C, sizeof(real) * K * N);
  memcpy(Du, D, sizeof(real) * K * P);
  return OK;
}

/* W = X Y, all G by G */
static void multiply(const double *X, const double *Y, double *W) {
  int i, j, k;
  for (i = 0; i < G; i++) {
    for (j = 0; j < G; j++) W[i * G + j] = 0;
    for (k = 0; k < G; k++) {
      const double x = X[i * G + k];
      if (x != 0)
        for (j = 0; j < G; j++) W[i * G + j] += x * Y[k * G + j];
    }
  }
}

/* The matrices of a step. The exponential of [h A, h B, 0, 0; 0, 0, 1, 0; 0, 0, 0, 1; 0, 0, 0, 0] has in its first rows
   e^(hA) and the integrals that inputs of degree 0, 1 and 2 are answered with. Scaled to a norm below 1, by its series,
   and squared; in double precision. */
static int prepare(@type@_run *run, real step) {
  double X[@gg@], S[@gg@], W[@gg@], size[@p1@], norm = 0;
  const double h = (double)step;
  int i, j, k, squarings = 0;
  if (REAL(fabs)(step - run->h) <= (real)@same@ * step) return OK;
  for (i = 0; i < G * G; i++) X[i] = 0;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) X[i * G + j] = h * (double)A[i * N + j] * (double)scale[j] / (double)scale[i];
  for (j = 0; j < P; j++) {
    double sum = 0;
    for (i = 0; i < N; i++) {
      const double b = h * (double)B[i * P + j] / (double)scale[i];
      sum += b * b;
    }
    size[j] = sum > 0 ? sqrt(sum) : 1;
    for (i = 0; i < N; i++) X[i * G + N + j] = h * (double)B[i * P + j] / (double)scale[i] / size[j];
  }
  for (i = 0; i < 2 * P; i++) X[(N + i) * G + N + P + i] = 1;
  for (i = 0; i < G; i++) {
    double sum = 0;
    for (j = 0; j < G; j++) sum += fabs(X[i * G + j]);
    if (!(sum <= norm)) norm = sum;
  }
  if (!(norm - norm == 0)) return NOT_FINITE;
  for (k = 0; k < 1000 && norm > 1; k++) {
    norm /= 2;
    squarings++;
  }
  for (i = 0; i < G * G; i++) X[i] = ldexp(X[i], -squarings);
  /* 1 + X (1 + X/2 (1 + X/3 (...))) */
  for (i = 0; i < G * G; i++) S[i] = i % (G + 1) == 0 ? 1 : 0;
  for (k = 20; k >= 1; k--) {
    multiply(X, S, W);
    for (i = 0; i < G * G; i++) S[i] = W[i] / k + (i % (G + 1) == 0 ? 1 : 0);
  }
  for (k = 0; k < squarings; k++) {
    multiply(S, S, W);
    memcpy(S, W, sizeof S);
  }
  for (i = 0; i < N; i++) {
    for (j = 0; j < N; j++) run->E[i * N + j] = (real)((double)scale[i] * S[i * G + j] / (double)scale[j]);
    for (j = 0; j < P; j++) {
      const double factor = (double)scale[i] * size[j], one = factor * S[i * G + N + j];
      const double two = factor * S[i * G + N + P + j], three = 2 * factor * S[i * G + N + 2 * P + j];
      run->first[i * P + j] = (real)(one - 3 * two + 2 * three);
      run->middle[i * P + j] = (real)(4 * two - 4 * three);
      run->last[i * P + j] = (real)(2 * three - two);
    }
  }
  run->h = 0;
  if (!all_finite(run->E, N * N) || !all_finite(run->first, N * P)) return NOT_FINITE;
  run->h = step;
  return OK;
}

int @type@_begin(@type@_run *run, const real *p, real t, const real *x) {
  int i;
  memset(run, 0, sizeof *run);
  run->t = t;
  @type@_parameters(run->p);
  if (p)
    for (i = 0; i < R; i++) run->p[i] = p[i];
  @type@_initial(run->x);
  if (x)
    for (i = 0; i < N; i++) run->x[i] = x[i];
  return all_finite(run->x, N) ? OK : NOT_FINITE;
}

/* The end of the step is told, so that equal steps do not add up their round-off. */
static int step_to(@type@_run *run, real h, real end, const real *u) {
  real next[@n1@], du[@p1@];
  int i, status = prepare(run, h);
  if (status != OK) return status;
  for (i = 0; i < N; i++) next[i] = 0;
  add_product(run->E, N, N, run->x, next);
  /* from inside of the step, whose ends may be jumps */
  deviation(REAL(nextafter)(run->t, end), u, du);
  add_product(run->first, N, P, du, next);
  deviation((run->t + end) / 2, u, du);
  add_product(run->middle, N, P, du, next);
  deviation(REAL(nextafter)(end, run->t), u, du);
  add_product(run->last, N, P, du, next);
  if (!all_finite(next, N)) return NOT_FINITE;
  for (i = 0; i < N; i++) run->x[i] = next[i];
  run->t = end;
  return OK;
}

int @type@_step(@type@_run *run, real h, const real *u) {
  if (!(h > 0) || !(h - h == 0) || !(run->t + h > run->t)) return WRONG_STEP;
  return step_to(run, h, run->t + h, u);
}

int @type@_advance(@type@_run *run, real until, real h, const real *u) {
  const real round_off = (real)@eps@ * (REAL(fabs)(until) + REAL(fabs)(run->t));
  int piece, status = OK;
  if (!(h > 0) || !(h - h == 0) || !(until - until == 0)) return WRONG_STEP;
  /* from one jump or kink of the inputs to the next, in equal steps */
  for (piece = 0; piece <= BREAKS && run->t < until - round_off; piece++) {
    const real from = run->t, next = @type@_next_break(from + round_off);
    const real to = next < until - round_off ? next : until, length = to - from;
    const real pieces = REAL(ceil)(length / h - (real)1e-9);
    const long count = pieces < 1 ? 1 : pieces > (real)1e9 ? 1000000000L : (long)pieces;
    long k;
    for (k = 1; k <= count; k++) {
      status = step_to(run, length / (real)count, k == count ? to : from + length * (real)k / (real)count, u);
      if (status != OK) return status;
    }
  }
  return status;
}
)";

}  // namespace

CParts c_linear_parts(const ExportModel& model, CTimeFunctions&) {
  const ExportLinear& linear = *model.linear;
  CParts parts;
  parts.run_fields = linear_run_fields;
  parts.data =
      "\n/* x' = A x + B (u - u_rest), y = y_rest + C x + D (u - u_rest), rows one after the other */\n";
  parts.data +=
      c_array("A", linear.A) + c_array("B", linear.B) + c_array("C", linear.C) + c_array("D", linear.D);
  parts.data += c_array("u_rest", linear.u0) + c_array("y_rest", linear.y0);
  parts.data += "/* states over these make rows and columns of A alike */\n" + c_array("scale", linear.scale);
  parts.functions = linear_functions;
  return parts;
}

}  // namespace lissom
