#include "lissom/cms/reduction.hpp"

#include <Eigen/Dense>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lissom/cms/craig_bampton.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/fe/rigid_body.hpp"
#include "lissom/fe/rigid_motions.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/fe/vibration.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Modes beyond the range that the exact solution has too, so that none in range is missed.
constexpr int exact_beyond = 3;

// One column per load and direction: a unit force, shared evenly by the nodes.
MatrixXd load_vectors(const FeModel& model, const std::vector<InterfaceSpec>& specs,
                      const std::vector<Interface>& interfaces) {
  std::vector<char> is_interface(model.dof_count(), 0);
  for (const Interface& interface : interfaces)
    for (int row : interface.rows) is_interface[row] = 1;
  MatrixXd loads(model.dof_count(), 0);
  for (const Interface& load : find_interfaces(model, specs)) {
    for (int direction = 0; direction < 6; ++direction) {
      VectorXd force = VectorXd::Zero(model.dof_count());
      for (int row : load.rows)
        if (model.dofs[row].direction == direction) force[row] = 1.0 / static_cast<double>(load.nodes.size());
      if (force.isZero()) continue;
      for (int row : load.rows)
        if (is_interface[row])
          fail_input(
              "{}: the load '{}' acts on an interface, whose constraint modes answer it already; leave it "
              "out",
              model.source, load.name);
      loads.conservativeResize(Eigen::NoChange, loads.cols() + 1);
      loads.rightCols(1) = force;
    }
  }
  return loads;
}

// 6 by N: the frame's motion from the rows of its nodes. One node with six degrees of freedom tells it;
// several nodes by least squares.
void frame_motion(const FeModel& model, const Interface& interface, const MatrixXd& T, const MatrixXd& U,
                  InterfaceFrame& frame) {
  const Eigen::Index N = T.cols();
  frame.motion = MatrixXd::Zero(6, N);
  const auto rows = rows_of_nodes(model, interface.nodes, fmt::format("for interface '{}'", interface.name));
  if (interface.nodes.size() == 1) {
    for (int d = 0; d < 6; ++d)
      if (rows[0][d] >= 0) frame.motion.row(d) = T.row(rows[0][d]);
    frame.rotates = rows[0][3] >= 0 && rows[0][4] >= 0 && rows[0][5] >= 0;
    return;
  }
  if (!model.has_points()) return;
  const auto n = static_cast<Eigen::Index>(interface.nodes.size());
  MatrixXd D(3 * n, 6), u(3 * n, N);
  for (Eigen::Index k = 0; k < n; ++k) {
    const int node = interface.nodes[k];
    const Eigen::Vector3d r = model.points.col(node) - interface.origin;
    D.block<3, 3>(3 * k, 0).setIdentity();
    D.block<3, 3>(3 * k, 3) << 0, r[2], -r[1], -r[2], 0, r[0], r[1], -r[0], 0;
    u.middleRows(3 * k, 3) = U.middleRows(3 * node, 3);
  }
  const double size = std::max(1e-300, D.rightCols(3).cwiseAbs().maxCoeff());
  D.rightCols(3) /= size;
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> fit(D);
  fit.setThreshold(1e-6);
  frame.rotates = fit.rank() == 6;
  frame.motion = fit.solve(u);
  frame.motion.bottomRows(3) /= size;
  if (!frame.rotates) {
    frame.motion.bottomRows(3).setZero();
    frame.motion.topRows(3).setZero();
    for (Eigen::Index k = 0; k < n; ++k)
      frame.motion.topRows(3) += u.middleRows(3 * k, 3) / static_cast<double>(n);
  }
}

// Everything that follows from the basis T (dofs by N): modes and stress at the nodes kept, inertia,
// interface motion.
void fill_shapes(const FeModel& model, const Mesh* mesh, const ReductionOptions& options,
                 const std::vector<Interface>& interfaces, const MatrixXd& T, ReducedBody& body,
                 PhaseTimes& seconds, Diagnostics& diagnostics, const ProgressHook& progress) {
  if (progress) progress("modes at the nodes", -1);
  Timer timer;
  MatrixXd U = node_displacements(model, T);
  for (size_t i = 0; i < interfaces.size(); ++i) frame_motion(model, interfaces[i], T, U, body.interfaces[i]);
  const bool nodes_known = model.has_points() && U.rows() == 3 * model.points.cols();
  if (nodes_known && model.node_mass.size() == model.points.cols()) {
    body.inertia = inertia_invariants(model.points, model.node_mass, U);
  } else if (nodes_known) {
    diagnostics.warn(
        "reduce.inertia",
        "the mass matrix is not that of nodes with three displacements (m (x) I_3): the file will "
        "have no inertia invariants, and a floating frame cannot use it",
        {model.source, 0});
  } else {
    diagnostics.warn(
        "reduce.nodes",
        "the positions of the nodes are not known: the file will have neither modes at nodes nor "
        "inertia invariants, and a floating frame cannot use it",
        {model.source, 0});
  }
  seconds.add("inertia", timer.seconds());

  // the nodes kept
  std::vector<int> nodes;
  for (const std::string& what : options.nodes) {
    const auto named = named_nodes(model, what, "to keep modes at");
    nodes.insert(nodes.end(), named.begin(), named.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const bool all = options.nodes.empty();
  if (options.stress && mesh && nodes_known && mesh->node_count() == model.points.cols() &&
      mesh->element_count() > 0) {
    Timer stress_timer;
    NodalStress stress = recover_stress(
        *mesh, U, all ? std::nullopt : std::optional<std::span<const int>>(nodes), {}, progress);
    body.strain_modes = std::move(stress.strain);
    body.stress_modes = std::move(stress.stress);
    seconds.add("stress modes", stress_timer.seconds());
  }
  if (!nodes_known) {
    if (!all)
      fail_input(
          "{}: modes are to be kept at chosen nodes, but the positions of the nodes are not known; "
          "leave 'nodes' out, or give a mesh with the nodes",
          model.source);
    body.modes.resize(0, T.cols());
  } else if (all) {
    body.points = model.points;
    body.node_ids = model.node_ids;
    body.modes = std::move(U);
  } else {
    body.points = model.points(Eigen::all, nodes);
    body.modes.resize(3 * static_cast<Eigen::Index>(nodes.size()), U.cols());
    for (size_t k = 0; k < nodes.size(); ++k) {
      body.node_ids.push_back(model.node_ids[nodes[k]]);
      body.modes.middleRows(3 * static_cast<Eigen::Index>(k), 3) = U.middleRows(3 * nodes[k], 3);
    }
  }
}

std::vector<InterfaceFrame> frames_of(const FeModel& model, const std::vector<Interface>& interfaces) {
  std::vector<InterfaceFrame> frames;
  for (const Interface& interface : interfaces) {
    InterfaceFrame frame;
    frame.name = interface.name;
    for (int node : interface.nodes) frame.node_ids.push_back(model.node_ids[node]);
    frame.origin = interface.origin;
    frame.axes = interface.axes;
    frames.push_back(std::move(frame));
  }
  return frames;
}

// The whole body's flexible eigenvalues, a few more than asked for.
VectorXd exact_eigenvalues(const FeModel& model, int rigid_count, int range, Diagnostics& diagnostics,
                           const ProgressHook& progress) {
  VibrationOptions options;
  options.count = std::min(rigid_count + range + exact_beyond, model.dof_count());
  options.tolerance = 1e-10;
  options.allow_parts = true;
  const Vibration whole = compute_modes(model, options, diagnostics, progress);
  return whole.modes.eigenvalues.tail(std::max(0, options.count - rigid_count));
}

void label_coordinates(const FeModel& model, const CraigBampton& components, const CraigBamptonBasis& basis,
                       ReducedBody& body) {
  const int n_i = basis.pencil.interior();
  for (int j = 0; j < n_i; ++j) {
    ReducedCoordinate coordinate;
    coordinate.kind = j < basis.modes                     ? CoordinateKind::FixedInterface
                      : basis.attachment[j - basis.modes] ? CoordinateKind::Attachment
                                                          : CoordinateKind::Residual;
    coordinate.frequency_hz = hertz(basis.pencil.lambda[j]);
    if (basis.effective_mass.size() > 0) coordinate.effective_mass = basis.effective_mass.row(j).transpose();
    body.coordinates.push_back(coordinate);
  }
  int j = 0;
  for (size_t i = 0; i < components.interfaces().size(); ++i)
    for (int row : components.interfaces()[i].rows) {
      ReducedCoordinate coordinate;
      coordinate.kind = CoordinateKind::Constraint;
      coordinate.interface = static_cast<int>(i);
      coordinate.node_id = model.node_ids[model.dofs[row].node];
      coordinate.direction = model.dofs[row].direction;
      coordinate.frequency_hz = hertz(basis.pencil.K_b(j, j) / basis.pencil.M_b(j, j));
      body.interfaces[i].coordinates.push_back(static_cast<int>(body.coordinates.size()));
      body.coordinates.push_back(coordinate);
      ++j;
    }
}

// Natural modes of the reduced body and its damping.
void finish_dynamics(const Damping& damping, int rigid_count, int range, ReducedBody& body) {
  body.rigid_count = rigid_count;
  body.range = std::min<int>(range, static_cast<int>(body.eigenvalues.size()) - rigid_count);
  body.damping = damping;
  body.D = damping_matrix(damping, body.M, body.K, body.eigenvalues, body.eigenvectors, rigid_count);
}

// Paper 001, Eqs. 46-49: the flexible natural modes in range take the place of all coordinates.
void to_free_modes(ReducedBody& body, MatrixXd& T) {
  const MatrixXd Xi = body.free_modes();
  const int count = static_cast<int>(Xi.cols());
  MatrixXd reduced(T.rows(), count);
  gemm(false, false, 1, T, Xi, 0, reduced);
  T = std::move(reduced);
  const VectorXd values = body.eigenvalues.segment(body.rigid_count, count);
  body.M = MatrixXd::Identity(count, count);
  body.K = values.asDiagonal();
  body.eigenvalues = values;
  body.eigenvectors = MatrixXd::Identity(count, count);
  body.coordinates.clear();
  for (int j = 0; j < count; ++j) {
    ReducedCoordinate coordinate;
    coordinate.kind = CoordinateKind::FreeInterface;
    coordinate.frequency_hz = hertz(values[j]);
    body.coordinates.push_back(coordinate);
  }
  for (InterfaceFrame& frame : body.interfaces) frame.coordinates.clear();
}

Reduction reduce_craig_bampton(const FeModel& model, const Mesh* mesh, const ReductionOptions& options,
                               std::vector<Interface> interfaces, Diagnostics& diagnostics,
                               const ProgressHook& progress) {
  Reduction result;
  BasisLoads loads;
  loads.forces = load_vectors(model, options.loads, interfaces);
  // free modes are the natural modes and nothing besides
  if (options.basis != ReductionBasis::FreeModes) loads.inertia = inertia_loads(model);
  if (wants_inertia_answers(options)) loads.inertia_tolerance = options.inertia_tolerance;
  ReducedBody& body = result.body;
  body.interfaces = frames_of(model, interfaces);
  CraigBampton components(model, std::move(interfaces), diagnostics, progress);
  const auto spent = [&](const char* phase) {
    for (const auto& [name, seconds] : components.seconds().phases())
      if (name == phase) return seconds;
    return 0.0;
  };

  // the search; what is not eigenvectors in it is the estimator. The count of the modes that it rests on
  // comes last, because it takes the place of the factorisation; where modes were missed, all is done again
  const Timer search_timer;
  CraigBamptonBasis basis;
  double basis_seconds = 0;
  constexpr int most_rounds = 4;
  for (int round = 0;; ++round) {
    result.selection = select_modes(components, options.selection, diagnostics, progress);
    if (progress) progress("basis", -1);
    const Timer basis_timer;
    basis = components.basis(result.selection.choice, loads);
    basis_seconds += basis_timer.seconds();
    result.counted = components.count_modes();
    if (result.counted.missing() <= 0) break;
    if (round == most_rounds)
      fail(
          "{} fixed-interface modes lie below {:.6g} Hz by Sylvester's law of inertia, but the eigen-solver "
          "found {} of them",
          result.counted.counted, hertz(result.counted.below), result.counted.found);
    diagnostics.warn(
        "reduce.counted",
        fmt::format("the eigen-solver had missed {}, which the count below {:.6g} Hz told; they "
                    "were looked for again",
                    plural(result.counted.missing(), "fixed-interface mode"), hertz(result.counted.below)),
        {model.source, 0});
    components.restore(result.counted.missing());
  }
  if (result.counted.found >= 0 && !result.counted.confirmed())
    diagnostics.warn("reduce.count",
                     fmt::format("the count of the fixed-interface modes below {:.6g} Hz is no confirmation: "
                                 "round-off of the factorisation, whose pivots grew by {:.1e}, stands in the "
                                 "way",
                                 hertz(result.counted.below), result.counted.growth),
                     {model.source, 0});
  const double search = search_timer.seconds() - basis_seconds - spent("count"),
               modes = spent("fixed-interface modes");
  result.estimator_seconds = std::max(0.0, search - modes);
  for (const auto& [phase, seconds] : components.seconds().phases())
    if (phase != "residual terms") result.seconds.add(phase, seconds);
  result.seconds.add("error control", result.estimator_seconds);
  result.modes_computed = components.modes_known();
  result.worst_residual = components.worst_residual();

  // the reduced body
  Timer basis_timer;
  result.inertia = basis.inertia;
  body.K = basis.pencil.stiffness();
  body.M = basis.pencil.mass();
  ReducedModes natural = PencilSolver(basis.pencil).lowest(basis.pencil.size());
  body.eigenvalues = std::move(natural.values);
  body.eigenvectors = std::move(natural.vectors);
  label_coordinates(model, components, basis, body);
  result.selection.coordinates = basis.pencil.interior();  // attachments included
  const int rigid_count = components.rigid_count();
  body.rigid_count = rigid_count;
  body.range = std::min<int>(result.selection.range, static_cast<int>(body.eigenvalues.size()) - rigid_count);
  if (options.basis == ReductionBasis::FreeModes) to_free_modes(body, basis.T);
  finish_dynamics(options.damping, options.basis == ReductionBasis::FreeModes ? 0 : rigid_count,
                  result.selection.range, body);
  result.seconds.add("basis", basis_seconds + basis_timer.seconds());
  // modes and stress at the nodes take the place of the factorisation, unless a comparison still needs it
  if (options.compare.empty() && options.sweep.empty()) components.release();
  fill_shapes(model, mesh, options, components.interfaces(), basis.T, body, result.seconds, diagnostics,
              progress);

  // verification, on request
  result.factor = components.factor_stats();
  if (options.exact_errors || !options.compare.empty()) {
    Timer timer;
    result.exact = exact_eigenvalues(model, rigid_count, result.selection.range, diagnostics, progress);
    set_exact_errors(result.selection.errors.modes, result.exact);
    result.seconds.add("exact eigenvalues", timer.seconds());
  }
  if (!options.sweep.empty() || !options.compare.empty()) {
    Timer timer;
    components.restore();
    SweepOptions sweep;
    sweep.range = result.selection.range;
    // the sweep asked for, with bounds; the comparison goes on until the paper's rule has met its smallest
    // tolerance
    sweep.first = options.sweep.empty() ? options.selection.initial : options.sweep[0];
    if (!options.compare.empty()) sweep.first = std::min(sweep.first, options.selection.initial);
    sweep.last = options.sweep.empty() ? 0 : options.sweep[1];
    sweep.bounds_up_to = sweep.at_least = sweep.last;
    if (!options.compare.empty()) {
      sweep.last = std::max(sweep.last, options.compare_max_modes);
      sweep.stop_below = *std::min_element(options.compare.begin(), options.compare.end());
    }
    result.sweep = sweep_modes(components, sweep, result.exact, progress);
    if (!options.compare.empty())
      result.comparison = compare_methods(components, result.selection.range, options.compare, result.exact,
                                          result.sweep, options.compare_max_modes, progress);
    result.compared_tolerances = options.compare;
    result.seconds.add("comparison", timer.seconds());
  }
  body.errors = result.selection.errors;
  result.interior_size = components.interior_size();
  result.interface_size = components.interface_size();
  return result;
}

constexpr double no_tolerance = std::numeric_limits<double>::infinity();

// Of a free body under inertia loads, which its rigid motion balances. `k` and `m` are the Gram matrices in K
// and M of the answers Z less the modes kept, those to the loads last; `participation` (modes by loads) is
// what the loads have of the flexible modes kept, of eigenvalues `lambda`. Adds to `c` (columns of Z by those
// taken) the combinations that the others answer with an error above the tolerance.
InertiaAnswers join_inertia_answers(const MatrixXd& k, const MatrixXd& m,
                                    const Eigen::Ref<const VectorXd>& lambda, const MatrixXd& participation,
                                    double tolerance, MatrixXd& c) {
  const Eigen::Index loads = participation.cols();
  const MatrixXd of_modes = participation.transpose() * lambda.cwiseInverse().asDiagonal() * participation;
  const MatrixXd beyond = k.bottomRightCorner(loads, loads), energy = of_modes + beyond;
  // what the residual vectors of the columns taken so far leave: orthonormal in M, diagonal in K (theta), so
  // that their static answer has the coordinates v' f / theta, f = K z of the answer sought
  const auto left_out = [&] {
    const ResidualVectors taken =
        orthonormal_residuals(MatrixXd(c.transpose() * k * c), MatrixXd(c.transpose() * m * c));
    const MatrixXd V = c * taken.v;
    const MatrixXd f = V.transpose() * k.rightCols(loads);
    return MatrixXd(beyond - f.transpose() * taken.theta.cwiseInverse().asDiagonal() * f);
  };
  const InertiaDirections directions = directions_left_out(energy, left_out(), tolerance);
  InertiaAnswers result;
  result.without = result.error = directions.largest;
  result.vectors = static_cast<int>(directions.combinations.cols());
  if (result.vectors == 0) return result;
  c.conservativeResize(Eigen::NoChange, c.cols() + result.vectors);
  c.rightCols(result.vectors).setZero();
  c.bottomRightCorner(loads, result.vectors) = directions.combinations;
  result.error = directions_left_out(energy, left_out(), no_tolerance).largest;
  return result;
}

// Natural modes of the free body, and what the interfaces' unit forces move besides them.
Reduction reduce_free_interface(const FeModel& model, const Mesh* mesh, const ReductionOptions& options,
                                std::vector<Interface> interfaces, Diagnostics& diagnostics,
                                const ProgressHook& progress) {
  Reduction result;
  ReducedBody& body = result.body;
  body.interfaces = frames_of(model, interfaces);
  const MatrixXd interior_loads = load_vectors(model, options.loads, interfaces);
  int n_b = 0;
  for (const Interface& interface : interfaces) n_b += static_cast<int>(interface.rows.size());
  const MatrixXd inertia = inertia_loads(model);
  const Eigen::Index statics = n_b + interior_loads.cols();
  MatrixXd forces = MatrixXd::Zero(model.dof_count(), statics + inertia.cols());
  int column = 0;
  for (const Interface& interface : interfaces)
    for (int row : interface.rows) forces(row, column++) = 1;
  forces.middleCols(n_b, interior_loads.cols()) = interior_loads;
  forces.rightCols(inertia.cols()) = inertia;

  if (options.selection.up_to_hz > 0)
    fail_input(
        "up_to_hz goes with the bases craig-bampton and free-modes; give the number of modes for "
        "free-interface");
  VibrationOptions vibration;
  vibration.count = options.selection.range + 6;
  vibration.tolerance = 1e-10;
  vibration.forces = forces;
  vibration.allow_parts = true;  // reduce() has looked
  if (vibration.count > model.dof_count())
    fail_input("{}: {} flexible modes are asked for, but the body has only {} degrees of freedom",
               model.source, options.selection.range, model.dof_count());
  const Vibration natural = compute_modes(model, vibration, diagnostics, progress);
  const ModeSet& modes = natural.modes;
  const int rigid_count = modes.rigid_count;
  const int count = std::min(modes.count(), rigid_count + options.selection.range);
  for (const auto& [phase, seconds] : natural.seconds.phases()) result.seconds.add(phase, seconds);

  // Z = K^-1 f less the modes kept: residual flexibility
  Timer timer;
  MatrixXd Phi = modes.shapes.leftCols(count);
  MatrixXd Z = natural.answers;
  MatrixXd MZ(Z.rows(), Z.cols()), KZ(Z.rows(), Z.cols()), C(count, Z.cols());
  for (int pass = 0; pass < 2; ++pass) {
    multiply(model.M, Z, MZ);
    gemm(true, false, 1, Phi, MZ, 0, C);
    gemm(false, false, -1, Phi, C, 1, Z);
  }
  multiply(model.M, Z, MZ);
  multiply(model.K, Z, KZ);
  MatrixXd k(Z.cols(), Z.cols()), m(Z.cols(), Z.cols());
  gemm(true, false, 1, Z, KZ, 0, k);
  gemm(true, false, 1, Z, MZ, 0, m);
  k = (0.5 * (k + k.transpose())).eval();
  m = (0.5 * (m + m.transpose())).eval();
  // answers to inertia, as far as those to forces do not hold them: combinations c of the columns behind
  MatrixXd c = MatrixXd::Identity(Z.cols(), statics);
  if (inertia.cols() > 0) {
    result.inertia =
        join_inertia_answers(k, m, modes.eigenvalues.segment(rigid_count, count - rigid_count),
                             Phi.rightCols(count - rigid_count).transpose() * inertia,
                             wants_inertia_answers(options) ? options.inertia_tolerance : no_tolerance, c);
    // and what the answers themselves are off by, of modes beyond those kept
    const double last = std::max(0.0, modes.eigenvalues[count - 1]);
    result.inertia.error =
        std::min(1.0, result.inertia.error + std::pow(-modes.shift / (last - modes.shift), answer_terms));
    Z = (Z * c).eval();
    k = (c.transpose() * k * c).eval();
    m = (c.transpose() * m * c).eval();
  }
  const ResidualVectors residual = orthonormal_residuals(k, m);
  const int extra = static_cast<int>(residual.theta.size()), N = count + extra;
  MatrixXd T(model.dof_count(), N);
  T.leftCols(count) = Phi;
  gemm(false, false, 1, Z, residual.v, 0, T.rightCols(extra));

  body.eigenvalues.resize(N);
  body.eigenvalues << modes.eigenvalues.head(count), residual.theta;
  body.M = MatrixXd::Identity(N, N);
  body.K = body.eigenvalues.asDiagonal();
  body.eigenvectors = MatrixXd::Identity(N, N);
  for (int j = 0; j < N; ++j) {
    ReducedCoordinate coordinate;
    coordinate.kind = j < count ? CoordinateKind::FreeInterface : CoordinateKind::Residual;
    coordinate.frequency_hz = hertz(body.eigenvalues[j]);
    if (j < count && modes.effective_mass.size() > 0)
      coordinate.effective_mass = modes.effective_mass.row(j).transpose();
    body.coordinates.push_back(coordinate);
  }
  finish_dynamics(options.damping, rigid_count, options.selection.range, body);
  result.seconds.add("basis", timer.seconds());
  fill_shapes(model, mesh, options, interfaces, T, body, result.seconds, diagnostics, progress);

  // the modes are the body's own: their error is that of the eigen-solver
  ErrorTable& errors = result.selection.errors;
  errors.method = "eigen-solver";
  errors.tolerance = options.selection.tolerance;
  for (int j = rigid_count; j < count; ++j) {
    ModeError error;
    error.eigenvalue = modes.eigenvalues[j];
    // the residual of the solver, and what round-off of K's entries makes of it all
    error.bound = (modes.residuals[j] * (error.eigenvalue - modes.shift) +
                   2 * energy_roundoff(model.K, modes.shapes.col(j))[0]) /
                  error.eigenvalue;
    errors.modes.push_back(error);
  }
  errors.certified = errors.max_bound() <= errors.tolerance;
  body.errors = errors;
  result.selection.coordinates = N;
  result.worst_residual = modes.residuals.maxCoeff();
  result.factor = natural.factor;
  result.counted = natural.counted;
  result.interface_size = n_b;
  result.interior_size = model.dof_count() - n_b;
  return result;
}

}  // namespace

std::string_view name_of(ReductionBasis basis) {
  constexpr std::string_view names[] = {"craig-bampton", "free-modes", "free-interface"};
  return names[static_cast<int>(basis)];
}

bool wants_inertia_answers(const ReductionOptions& options) {
  return options.inertia_loads && options.basis != ReductionBasis::FreeModes;
}

Reduction reduce(const FeModel& model, const Mesh* mesh, const ReductionOptions& options,
                 Diagnostics& diagnostics, const ProgressHook& progress) {
  if (const auto problems = problems_of(options.selection); !problems.empty())
    fail_input("{}", problems.front());
  if (const auto problems = problems_of(options.damping); !problems.empty())
    fail_input("damping: {}", problems.front());
  const double cpu_before = cpu_seconds();
  std::vector<Interface> interfaces = find_interfaces(model, options.interfaces);
  refuse_parts(model, connected_parts(model.K), options.allow_parts, "allow_parts = true", "reduce.parts",
               diagnostics);
  Reduction result =
      options.basis == ReductionBasis::FreeInterface
          ? reduce_free_interface(model, mesh, options, std::move(interfaces), diagnostics, progress)
          : reduce_craig_bampton(model, mesh, options, std::move(interfaces), diagnostics, progress);
  result.body.basis = name_of(options.basis);
  result.body.source = model.source;
  result.full_size = model.dof_count();
  result.cpu_seconds = cpu_seconds() - cpu_before;
  return result;
}

}  // namespace lissom
