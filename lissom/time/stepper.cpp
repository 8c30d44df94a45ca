#include "lissom/time/stepper.hpp"

#include "lissom/core/error.hpp"

namespace lissom {

void interpolate_hermite(const State& from, const State& to, double t, State& out) {
  const double h = to.t - from.t;
  LISSOM_ASSERT(h > 0);
  const double s = (t - from.t) / h, s2 = s * s, s3 = s2 * s, s4 = s3 * s, s5 = s4 * s;
  // quintic basis: value, slope and curvature at the beginning (0) and at the end (1)
  const double q0 = 1 - 10 * s3 + 15 * s4 - 6 * s5, q1 = 1 - q0;
  const double v0 = s - 6 * s3 + 8 * s4 - 3 * s5, v1 = -4 * s3 + 7 * s4 - 3 * s5;
  const double a0 = (s2 - 3 * s3 + 3 * s4 - s5) / 2, a1 = (s3 - 2 * s4 + s5) / 2;
  // its first and second derivatives with respect to s
  const double dq1 = 30 * (s2 - 2 * s3 + s4), dv0 = 1 - 18 * s2 + 32 * s3 - 15 * s4,
               dv1 = -12 * s2 + 28 * s3 - 15 * s4, da0 = s - 4.5 * s2 + 6 * s3 - 2.5 * s4,
               da1 = 1.5 * s2 - 4 * s3 + 2.5 * s4;
  const double ddq1 = 60 * (s - 3 * s2 + 2 * s3), ddv0 = -36 * s + 96 * s2 - 60 * s3,
               ddv1 = -24 * s + 84 * s2 - 60 * s3, dda0 = 1 - 9 * s + 18 * s2 - 10 * s3,
               dda1 = 3 * s - 12 * s2 + 10 * s3;
  out.t = t;
  out.q = q0 * from.q + q1 * to.q + h * (v0 * from.v + v1 * to.v) + h * h * (a0 * from.a + a1 * to.a);
  out.v = dq1 / h * (to.q - from.q) + dv0 * from.v + dv1 * to.v + h * (da0 * from.a + da1 * to.a);
  out.a = ddq1 / (h * h) * (to.q - from.q) + (ddv0 * from.v + ddv1 * to.v) / h + dda0 * from.a + dda1 * to.a;
  out.lambda = (1 - s) * from.lambda + s * to.lambda;
  out.turns = from.turns;
}

}  // namespace lissom
