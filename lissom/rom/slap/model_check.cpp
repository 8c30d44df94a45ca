#include "lissom/rom/slap/model_check.hpp"

#include <Eigen/LU>

#include <algorithm>

#include "lissom/linalg/blas.hpp"
#include "lissom/rom/slap/slap_body.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<ModelCheck> check_model(
    const SlapReduction& training, const Trajectory& run, const std::vector<double>& times,
    const SlapTraining* trained,
    const std::function<std::unique_ptr<System>(const SlapModel& full)>& make_system) {
  const Index m = run.q.rows();
  MatrixXd T;  // eta to the full model's coordinates
  const SlapModel full =
      make_full_model(training.space, training.basis, training.model_options, static_cast<int>(m), T);
  const std::unique_ptr<System> system = make_system(full);
  SystemEquations equations(*system);
  const Index n = equations.coordinates();
  NewtonMatrix matrix(static_cast<int>(n), equations.blocks(), NewtonMatrix::Storage::Dense);
  const MatrixXd MT = product(full.M, T);

  std::vector<ModelCheck> checks;
  for (const double time : times) {
    Index sample = 0;
    (run.t.array() - time).abs().minCoeff(&sample);
    ModelCheck check;
    State state;
    check.t = state.t = run.t[sample];
    state.q = product(T, run.q.col(sample));
    state.v = product(T, run.v.col(sample));
    state.a = product(T, run.a.col(sample));
    state.turns = run.turns_at(sample);
    state.lambda.resize(0);
    VectorXd r(n), inertia = product(full.M, MatrixXd(state.a)), without(n), internal(n);
    equations.residual(state, 1, r);
    MatrixXd tangent;
    slap_elastic(full, state.q, internal, &tangent);
    without = r - inertia - internal;  // applied and damping forces
    const double scale = std::max({inertia.norm(), internal.norm(), without.norm()});
    check.residual = scale > 0 ? r.norm() / scale : 0;
    // K u = -r among displacements that the model does not have already: [K MT; T'M 0]
    MatrixXd bordered = MatrixXd::Zero(n + m, n + m);
    bordered.topLeftCorner(n, n) = tangent;
    bordered.topRightCorner(n, m) = MT;
    bordered.bottomLeftCorner(m, n) = MT.transpose();
    VectorXd right = VectorXd::Zero(n + m);
    right.head(n) = -r;
    const VectorXd u = bordered.partialPivLu().solve(right).head(n);
    const VectorXd y = training.space.Z.size() > 0 ? VectorXd(training.space.Z * u) : u;
    for (size_t p = 0; p < training.space.parts.size(); ++p) {
      const SlapSpacePart& part = training.space.parts[p];
      const VectorXd of_part = y.segment(training.space.offsets[p], 3 * part.fields());
      check.missing = std::max(check.missing, node_positions(part, of_part).colwise().norm().maxCoeff());
    }
    if (trained) check.distance = distance_from_training(*trained, run.q.col(sample));
    checks.push_back(check);
  }
  return checks;
}

}  // namespace lissom
