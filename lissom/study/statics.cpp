#include "lissom/study/statics.hpp"

#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/io/table.hpp"

namespace lissom {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

Matrix3d turn(const Vector3d& r) {
  const double angle = r.norm();
  return angle > 0 ? Eigen::AngleAxisd(angle, r / angle).toRotationMatrix() : Matrix3d::Identity();
}

json vector_json(const Vector3d& x) {
  return {x.x(), x.y(), x.z()};
}

std::string triple(const Vector3d& x) {
  return fmt::format("[{:.9g}, {:.9g}, {:.9g}]", x.x() + 0.0, x.y() + 0.0, x.z() + 0.0);
}

// Round-off is no position.
Vector3d clean(Vector3d x, double size) {
  for (double& value : x)
    if (std::abs(value) < 1e-12 * size) value = 0;
  return x;
}

// Where the bodies are: single ones by their placement, parts of a reduced mechanism by their nodes.
struct PositionTable {
  Table table{{"body", "position", "rotation vector", "largest displacement", "largest deformation"}};
  json bodies = json::array();
};

double largest_distance(const Eigen::Matrix3Xd& a, const Eigen::Matrix3Xd& b) {
  return a.cols() == 0 ? 0 : std::sqrt((a - b).colwise().squaredNorm().maxCoeff());
}

PositionTable positions(const System& system, const VectorXd& q, const VectorXd& q0, double unit,
                        double length) {
  PositionTable out;
  const auto number = [](double x) { return fmt::format("{:.4g}", x); };
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const int index = static_cast<int>(b);
    const VectorXd now = q.segment(system.offset(index), body.coordinates());
    const VectorXd before = q0.segment(system.offset(index), body.coordinates());
    const Eigen::Matrix3Xd x = body.node_positions(now), x0 = body.node_positions(before);
    if (body.is_mechanism()) {
      for (const NodeGroup& group : body.node_groups()) {
        const double moved =
            largest_distance(x.middleCols(group.first, group.count), x0.middleCols(group.first, group.count));
        out.table.add({group.name, "-", "-", number(moved / unit), "-"});
        out.bodies.push_back({{"name", group.name}, {"displacement", moved}});
      }
      continue;
    }
    BodyPosition found = body_position(body, now, system.placement(index));
    found.placement.position = clean(found.placement.position, length);
    const Eigen::AngleAxisd rotation(found.placement.rotation);
    const Vector3d vector = clean(rotation.angle() * rotation.axis(), 1);
    // bodies of numbers have no nodes
    VectorXd scale(body.coordinates());
    body.displacement_scale(scale);
    const double moved =
        x.cols() > 0 ? largest_distance(x, x0) : scale.cwiseProduct(now - before).lpNorm<Eigen::Infinity>();
    const bool flexible = body.flexible_modes() > 0;
    out.table.add({body.name(), triple(found.placement.position / unit), triple(vector), number(moved / unit),
                   flexible ? number(found.deformation / unit) : "-"});
    json entry = {{"name", body.name()},
                  {"position", vector_json(found.placement.position)},
                  {"rotation_vector", vector_json(vector)},
                  {"displacement", moved}};
    if (flexible) entry["deformation"] = found.deformation;
    out.bodies.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

BodyPosition body_position(const Body& body, const VectorXd& q, const Placement& guess) {
  const int n = body.coordinates();
  VectorXd scale(n), at(n), rate(n), moved(n);
  body.displacement_scale(scale);
  BodyPosition out;
  Placement& placement = out.placement;
  placement.position = guess.position;
  placement.rotation = guess.rotation;
  const double size = std::max(body.radius(), 1e-9);
  // Euler parameters of both signs are the same rotation
  const auto place = [&](const Placement& where, VectorXd& coordinates) {
    body.place(where, coordinates, rate);
    double dot = 0;
    int rotations = 0;
    for (int i = 0; i < n; ++i)
      if (body.coordinate_name(i) == "rotation") {
        dot += coordinates[i] * q[i];
        ++rotations;
      }
    if (rotations == 4 && dot < 0)
      for (int i = 0; i < n; ++i)
        if (body.coordinate_name(i) == "rotation") coordinates[i] *= -1;
  };
  // Gauss-Newton on the six numbers of a placement
  Eigen::MatrixXd J(n, 6);
  for (int k = 0; k < 50; ++k) {
    place(placement, at);
    const VectorXd error = scale.cwiseProduct(q - at);
    constexpr double h = 1e-6;
    for (int i = 0; i < 6; ++i) {
      Placement beside = placement;
      Vector3d unit = Vector3d::Zero();
      unit[i % 3] = h;
      if (i < 3)
        beside.position += size * unit;
      else
        beside.rotation = turn(unit) * placement.rotation;
      place(beside, moved);
      J.col(i) = scale.cwiseProduct(moved - at) / h;
    }
    const VectorXd step = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(J).solve(error);
    placement.position += size * step.head<3>();
    Vector3d angle = step.tail<3>();
    if (angle.norm() > 0.5) angle *= 0.5 / angle.norm();
    placement.rotation = turn(angle) * placement.rotation;
    if (step.norm() < 1e-12) break;
  }
  placement.rotation = Eigen::Quaterniond(placement.rotation).normalized().toRotationMatrix();
  place(placement, at);
  out.deformation = largest_distance(body.node_positions(q), body.node_positions(at));
  return out;
}

json equilibrium_json(const Equilibrium& equilibrium) {
  json j = {{"t", equilibrium.state.t},
            {"iterations", equilibrium.iterations},
            {"residual", equilibrium.residual},
            {"force", equilibrium.force},
            {"moved", equilibrium.moved},
            {"stable", equilibrium.stable},
            {"lowest_eigenvalue", equilibrium.lowest},
            {"followed_forces", equilibrium.followed},
            {"free", equilibrium.free_directions}};
  if (!equilibrium.stable) j["unstable"] = equilibrium.unstable_direction;
  return j;
}

SimulationRun static_analysis(const StudyFile& given, double t, const std::filesystem::path& folder,
                              StudySystem built, Diagnostics& diagnostics, const ProgressHook& progress) {
  StudyFile study = given;
  if (!study.simulation)
    fail_input("{}: has no joints, loads or sensors to be in equilibrium", study.path.string());
  SimulateSpec simulate_spec = study.simulation->simulate.value_or(SimulateSpec{});
  simulate_spec.integrator.integrator = Integrator::Static;
  simulate_spec.integrator.adaptive = false;
  simulate_spec.integrator.step = 1;
  simulate_spec.integrator.sample = 0;
  simulate_spec.begin = simulate_spec.integrator.end = t;
  study.simulation->simulate = simulate_spec;
  SimulationOptions options;
  options.write_files = !folder.empty();
  SimulationRun run = simulate(study, folder, std::move(built), diagnostics, progress, options);

  const System& system = *run.built->system;
  const UnitSystem& units = study.simulation->units;
  SystemCheck check = check_system(system, t, run.q.col(0));
  SystemEquations equations(system, check.kept);
  const PositionTable where = positions(system, run.q.col(0), run.built->q, units.length, equations.length());
  json reactions = json::object();
  Table reaction_table({"joint", "force on its second body", "torque"});
  // multipliers of the sample once more, from its balance
  State state{
      t, run.q.col(0), run.v.col(0), run.a.col(0), VectorXd::Zero(equations.constraints()), run.turns_at(0)};
  // joints that a basis satisfies of itself have none
  if (equations.constraints() > 0 && !system.joints().empty()) {
    VectorXd r(equations.coordinates());
    equations.residual(state, 1, r);
    Eigen::MatrixXd G(equations.constraints(), equations.coordinates());
    equations.constraint_gradient(t, state.q, G);
    state.lambda = -Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(G.transpose()).solve(r);
    const VectorXd all = equations.all_multipliers(state);
    const double force = units.force(), torque = units.force() * units.length;
    for (size_t i = 0; i < system.joints().size(); ++i) {
      Vector3d f, T;
      equations.reaction(static_cast<int>(i), state, all, f, T);
      const double size = std::max(f.norm(), T.norm() / equations.length());
      reactions[system.joints()[i].name] = {{"force", vector_json(f)}, {"torque", vector_json(T)}};
      reaction_table.add({system.joints()[i].name, triple(clean(f, 1e2 * size) / force),
                          triple(clean(T, 1e2 * size * equations.length()) / torque)});
    }
  }
  const json equilibrium = run.summary.at("equilibrium");
  json sensors = json::object();
  Table sensor_table({"sensor", "value"});
  for (size_t c = 0; c < run.columns.size(); ++c) {
    const double value = run.sensors(0, static_cast<Eigen::Index>(c));
    sensors[run.columns[c]] = value;
    sensor_table.add({run.columns[c], fmt::format("{:.9g}", value)});
  }
  run.text = fmt::format("static equilibrium at t = {:.6g} s\n", t);
  run.text += fmt::format("iterations        {}{}\n", equilibrium.at("iterations").get<int>(),
                          equilibrium.at("followed_forces").get<bool>() ? ", following the forces" : "");
  run.text += fmt::format("residual          {:.2e} N of {:.4g} N\n",
                          equilibrium.at("residual").get<double>(), equilibrium.at("force").get<double>());
  run.text += fmt::format("stability         {}\n",
                          equilibrium.at("stable").get<bool>()
                              ? (equilibrium.at("free").empty() ? "stable" : "free in places")
                              : "unstable");
  run.text += fmt::format("\nlengths in {:g} m\n{}", units.length, where.table.str());
  if (!run.columns.empty()) run.text += "\n" + sensor_table.str();
  if (!system.joints().empty()) run.text += "\n" + reaction_table.str();
  run.summary["bodies"] = where.bodies;
  run.summary["sensor_values"] = std::move(sensors);
  run.summary["reactions"] = std::move(reactions);
  return run;
}

SimulationRun assembly_analysis(const StudyFile& given, StudySystem built, Diagnostics& diagnostics) {
  StudyFile study = given;
  if (!study.simulation || study.simulation->joints.empty())
    fail_input("{}: has no [[joints]] that would put its bodies together", study.path.string());
  if (!study.simulation->simulate) study.simulation->simulate = SimulateSpec{};
  SimulateSpec& spec = *study.simulation->simulate;
  spec.assemble = true;
  spec.start_static = false;
  spec.integrator.integrator = Integrator::GeneralizedAlpha;
  const SystemCheck before = check_system(*built.system, 0, built.q);
  const Start start = study_start(built, study, diagnostics);
  const System& system = *built.system;
  const UnitSystem& units = study.simulation->units;
  const State& state = start.initial.state;
  SimulationRun run;
  run.summary = system_json(system, start.check);
  run.summary["iterations"] = start.initial.iterations;
  run.summary["moved"] = start.initial.moved;
  json& gaps = run.summary["gaps_before"] = json::array();
  for (const SystemCheck::Gap& gap : before.gaps)
    gaps.push_back({{"joint", gap.joint}, {"distance", gap.distance}, {"is_angle", gap.is_angle}});
  VectorXd g(system.constraint_rows());
  start.equations->all_constraints(0, state.q, g);
  run.summary["largest_gap"] = g.size() > 0 ? g.lpNorm<Eigen::Infinity>() : 0;
  const PositionTable where = positions(system, state.q, built.q, units.length, start.equations->length());
  run.summary["bodies"] = where.bodies;
  run.text =
      fmt::format("{} iterations, moved by up to {:.4g} m, largest gap left {:.2e} m\n",
                  start.initial.iterations, start.initial.moved, run.summary["largest_gap"].get<double>());
  if (!before.gaps.empty()) {
    Table table({"joint", "open before"});
    for (const SystemCheck::Gap& gap : before.gaps)
      table.add({gap.joint, gap.is_angle ? fmt::format("sine {:.4g}", gap.distance)
                                         : fmt::format("{:.4g} m", gap.distance)});
    run.text += "\n" + table.str();
  }
  run.text += fmt::format("\nlengths in {:g} m\n{}\n", units.length, where.table.str());
  // ready to be pasted
  std::string lines;
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const int index = static_cast<int>(b);
    const auto spec_of = std::find_if(study.bodies.begin(), study.bodies.end(),
                                      [&](const BodySpec& one) { return one.name == body.name(); });
    const double unit = spec_of == study.bodies.end() ? 1 : spec_of->units.length;
    const BodyPosition found = body_position(body, state.q.segment(system.offset(index), body.coordinates()),
                                             system.placement(index));
    const Eigen::AngleAxisd rotation(found.placement.rotation);
    const Vector3d vector = clean(rotation.angle() * rotation.axis(), 1);
    const Vector3d x = clean(found.placement.position, start.equations->length()) / unit;
    const bool bare =
        body.name().find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
        std::string::npos;
    lines += fmt::format("[bodies.{}]\nposition = [{:.17g}, {:.17g}, {:.17g}]\n",
                         bare ? body.name() : fmt::format("\"{}\"", body.name()), x.x(), x.y(), x.z());
    if (!vector.isZero(0))
      lines += fmt::format("rotation = {{ vector = [{:.17g}, {:.17g}, {:.17g}] }}\n", vector.x(), vector.y(),
                           vector.z());
  }
  run.text += lines;
  run.summary["toml"] = lines;
  return run;
}

}  // namespace lissom
