#include "lissom/time/choose_integrator.hpp"

#include <algorithm>
#include <cmath>

namespace lissom {

namespace {

// A multistep method needs some fifteen steps after a kink to be as quick as before.
constexpr long most_breaks = 40;

// Whether anything takes energy out: r depends on velocities where all are zero. Terms of inertia are quadratic in
// them.
bool is_damped(Equations& equations, State state) {
  state.v.setZero();
  state.a.setZero();
  state.lambda.setZero();
  const int n = equations.coordinates(), size = n + equations.constraints();
  NewtonMatrix matrix(size, equations.blocks(), NewtonMatrix::Storage::Automatic, equations.symmetry());
  equations.jacobian(state, 1, {0, 1, 0, 0, 0}, matrix);
  // any vector will do that is in no special direction
  Eigen::VectorXd x(size), y(size);
  for (int i = 0; i < size; ++i) x[i] = 1 + 0.5 * std::sin(7.0 * i + 1);
  matrix.multiply(x, y);
  return y.cwiseAbs().maxCoeff() > 0;
}

}  // namespace

IntegratorChoice choose_integrator(Equations& equations, const State& initial,
                                   const IntegratorOptions& options, bool controlled) {
  IntegratorChoice choice{options, {}};
  if (options.integrator != Integrator::Auto) return choice;
  const auto take = [&](Integrator integrator, const char* reason) {
    choice.options.integrator = integrator;
    choice.options.adaptive = integrator != Integrator::Bdf;
    choice.reason = reason;
    return choice;
  };
  const std::vector<double> breaks = equations.breaks_above(options.tolerance);
  const auto within =
      std::count_if(breaks.begin(), breaks.end(), [&](double t) { return t > initial.t && t < options.end; });
  if (controlled) return take(Integrator::GeneralizedAlpha, "a controller changes inputs again and again");
  if (within > most_breaks) return take(Integrator::GeneralizedAlpha, "loads have many kinks");
  if (equations.deforming_parts().empty()) return take(Integrator::Bdf, "nothing in it deforms");
  if (!equations.is_ode()) return take(Integrator::Bdf, "constraints are part of the equations");
  if (is_damped(equations, initial)) return take(Integrator::Bdf, "what deforms is damped");
  return take(Integrator::GeneralizedAlpha, "no constraints, and what deforms is not damped: it may ring");
}

}  // namespace lissom
