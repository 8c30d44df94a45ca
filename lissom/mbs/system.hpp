// A multibody system: bodies, joints, loads, gravity. The System is what was modelled and does not change in
// a run; SystemEquations are its equations of motion with the room to evaluate them.
//
// Coordinates: those of the bodies, one after the other. Multipliers: those of the joints in their order,
// then the bodies' own constraints; redundant rows, once found, are not among them.
#pragma once

#include <Eigen/SparseCore>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/time_function.hpp"
#include "lissom/mbs/body.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/mbs/joint.hpp"
#include "lissom/mbs/load.hpp"

namespace lissom {

// A number u that comes from outside while a system moves: a controller's command, a measured force. It is the
// factor of every load that names it, so it has no unit of its own.
struct Input {
  std::string name;
  std::optional<TimeFunction> value;  // where nobody holds it otherwise (SystemEquations::hold_inputs)
};

class System {
 public:
  int add_body(std::unique_ptr<Body> body, const Placement& placement = {});
  // A marker of a body; of the ground a fixed position and axes.
  MarkerRef add_marker(int body, const MarkerSpec& spec);
  MarkerRef add_ground_marker(const Eigen::Vector3d& position,
                              const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity());
  // Throw InputError where a joint or load uses the axes of a marker that has none (a single node), where it
  // has the ground on both sides, or (joints) the same marker, or a constant distance that is not positive.
  void add_joint(Joint joint);
  void add_load(Load load);
  // What an input is as a function of time. Throws InputError where no load has such an input.
  void set_input(const std::string& name, TimeFunction value);
  void set_gravity(const Eigen::Vector3d& gravity) { gravity_ = gravity; }

  const std::vector<std::unique_ptr<Body>>& bodies() const { return bodies_; }
  const std::vector<Joint>& joints() const { return joints_; }
  const std::vector<Load>& loads() const { return loads_; }
  // In the order in which loads name them first: u (k).
  const std::vector<Input>& inputs() const { return inputs_; }
  const Eigen::Vector3d& gravity() const { return gravity_; }
  const Placement& placement(int body) const { return placements_[body]; }
  // Of marker -1, which is the ground where nothing was said: the origin and the axes of space.
  Vector12d ground_marker(int marker) const;
  bool marker_rotates(MarkerRef ref) const;
  // What a body's marker was made of.
  const MarkerSpec& marker_spec(MarkerRef ref) const;

  int coordinates() const { return coordinates_; }       // n
  int offset(int body) const { return offsets_[body]; }  // of the body's first coordinate
  int joint_constraints() const { return joint_rows_; }
  int own_constraints() const { return own_rows_; }
  int constraint_rows() const { return joint_rows_ + own_rows_; }  // with redundant ones
  int joint_row(int joint) const { return joint_offsets_[joint]; }
  int own_row(int body) const { return joint_rows_ + own_offsets_[body]; }

  // The placements as coordinates and velocities (n each).
  void initial(Eigen::VectorXd& q, Eigen::VectorXd& v) const;

  // Index of the body, joint, load or input of that name; -1 if there is none.
  int find_body(const std::string& name) const;
  int find_joint(const std::string& name) const;
  int find_load(const std::string& name) const;
  int find_input(const std::string& name) const;

 private:
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<Placement> placements_;
  std::vector<Vector12d> ground_markers_;
  std::vector<std::vector<MarkerSpec>> marker_specs_;  // by body, by number
  std::vector<Joint> joints_;
  std::vector<Load> loads_;
  std::vector<Input> inputs_;
  Eigen::Vector3d gravity_ = Eigen::Vector3d::Zero();
  std::vector<int> offsets_, joint_offsets_, own_offsets_;
  int coordinates_ = 0, joint_rows_ = 0, own_rows_ = 0;
};

// What the balance of a system says at a state.
struct SystemEnergy {
  double kinetic = 0, elastic = 0, gravity = 0, springs = 0;  // [J]
  double total() const { return kinetic + elastic + gravity + springs; }
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero();          // [kg m/s]
  Eigen::Vector3d angular_momentum = Eigen::Vector3d::Zero();  // about the origin [kg m2/s]
  // Power that goes in through applied loads (not springs) and prescribed motions, and out through damping
  // of bodies, springs and bushings [W]: d total / dt = load_power + motion_power - damping_power.
  double load_power = 0, motion_power = 0, damping_power = 0;
};

class SystemEquations final : public Equations {
 public:
  // `kept` are the constraint rows that count, ascending; all of them where it is not given.
  explicit SystemEquations(const System& system, std::optional<std::vector<int>> kept = std::nullopt);
  ~SystemEquations() override;

  const System& system() const;
  const std::vector<int>& kept_rows() const;
  // Other rows, as many, in their place; what choose_rows() knows is forgotten.
  void keep_rows(const std::vector<int>& kept);

  int coordinates() const override;
  int constraints() const override;
  bool constant_mass() const override;
  bool symmetric() const override;
  void residual(const State& state, double inertia_weight, Eigen::Ref<Eigen::VectorXd> r) override;
  void constraint(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override;
  std::vector<MatrixBlock> blocks() const override;
  void jacobian(const State& state, double inertia_weight, const JacobianWeights& weights,
                NewtonMatrix& matrix) override;
  // One body without constraints (a mechanism reduced as a whole). Loads between markers that are linear in its
  // coordinates are forms of these then (linear_loads.hpp), also where they are asked for otherwise.
  bool is_compact() const override;
  void linearise(const State& state, double inertia_weight, const JacobianWeights& weights,
                 Eigen::VectorXd& r, Eigen::MatrixXd& J) override;
  void constraint_gradient(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G) override;
  void constraint_rate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override;
  void constraint_rate_gradient(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                Eigen::Ref<Eigen::MatrixXd> gradient) override;
  void constraint_curvature(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                            Eigen::Ref<Eigen::VectorXd> curvature) override;
  const Eigen::VectorXd& displacement_scale() const override;
  double length() const override;
  double typical_mass() const override;
  void count_turns(State& state) override;
  // Where rows are left out as redundant, the smallest part of a row kept that the others do not say is looked at
  // whenever a body has moved far enough to change it; once it has come down to a tenth of the largest that it was since
  // the rows were chosen, they are chosen anew.
  bool choose_rows(const State& state) override;
  void archive_rows(Archive& archive) override;
  std::vector<double> break_times() const override;
  // Prescribed motions stop at all of theirs: where a path has a kink, velocities jump.
  std::vector<double> breaks_above(double tolerance) const override;
  // Flexible bodies; a reduced mechanism is one of them.
  std::vector<std::string> deforming_parts() const override;
  void elastic_energies(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> energies) override;
  std::string row_name(int row) const override;
  bool is_joint_row(int row) const override;

  // What State::turns counts, in its order: "torsion-spring 'clutch'".
  std::vector<std::string> turn_names() const;

  // All constraint rows, redundant ones included (System::constraint_rows()).
  void all_constraints(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g);
  void all_gradients(double t, const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> G);
  Eigen::SparseMatrix<double, Eigen::RowMajor> all_gradients(double t, const Eigen::VectorXd& q);
  // For each of them a number that the rows of one joint, or of one body, have in common.
  const std::vector<int>& row_groups() const;
  std::string constraint_name(int all_row) const;

  SystemEnergy energy(const State& state);

  // Inputs (k) are functions of time as the system has them, zero where it has none, until they are held:
  // from then on they are these numbers, whatever the time, until they are held anew; without numbers they are
  // functions of time again.
  void hold_inputs(const Eigen::Ref<const Eigen::VectorXd>& u);
  Eigen::VectorXd inputs(double t) const;
  // Forces on the coordinates of a unit of each input (n by k): the derivative of -residual with respect to u,
  // exact. The residual is linear in u.
  void input_forces(const State& state, Eigen::Ref<Eigen::MatrixXd> F);

  // A marker with its kinematics; of the ground too (J has then no columns). marker_columns() are the
  // system's coordinates that the columns of its J belong to.
  std::vector<int> marker_columns(MarkerRef ref) const;
  void marker(MarkerRef ref, const Eigen::VectorXd& q, const Eigen::VectorXd& v, bool gradients,
              MarkerKinematics& out);

  // Multipliers of all rows with the smallest norm among those that give the same forces; where nothing is
  // redundant these are the state's own.
  Eigen::VectorXd all_multipliers(const State& state);
  // Force and torque (about the second marker) that joint exerts on its second body, global axes [N, N m].
  void reaction(int joint, const State& state, const Eigen::VectorXd& all_multipliers, Eigen::Vector3d& force,
                Eigen::Vector3d& torque);
  double load_magnitude(int load, const State& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What is to be known before a run.
struct SystemCheck {
  int coordinates = 0, joint_constraints = 0, own_constraints = 0;  // without those `in_plane`
  int rank = 0;                                                     // of all constraints
  int degrees_of_freedom = 0;                                       // coordinates - rank
  int rigid_degrees_of_freedom = 0;  // with every body rigid; of a reduced mechanism not known, and 0
  bool has_mechanism = false;        // one body is a whole mechanism, reduced with its joints
  std::vector<int> kept;             // rows that are independent of each other, those of bodies always
  // What the rank was decided by (rows of length one): the smallest part of a row kept and the largest part
  // of one left out that the others do not say already; between them lies 1e-8. A small first one is a joint
  // that all but repeats what others say.
  double smallest_kept = 1, largest_dropped = 0;
  // More rows are redundant here than next to here: a dead centre or another singular position. `rank` and
  // `kept` are those of the positions next to it.
  bool singular_position = false;
  // Rows of joints between planar bodies that no motion in the plane changes (z, rotations about x and y);
  // they are not counted as constraints.
  std::vector<int> in_plane;
  // Other rows of joints that the bodies' coordinates satisfy whatever their values: pins that are part of a
  // basis. Not among the redundant ones.
  int satisfied = 0;
  struct Redundant {
    int row = 0;
    std::string joint;              // whose row it is
    std::vector<std::string> with;  // joints whose rows together say the same
  };
  std::vector<Redundant> redundant;
  struct Gap {
    std::string joint;
    double distance = 0;  // [m], or sine of the angle (1 beyond a right angle)
    bool is_angle = false;
  };
  std::vector<Gap> gaps;                         // joints whose frames do not meet, largest first
  std::vector<std::string> free_bodies;          // that neither joint nor spring holds, nor a mechanism
  std::vector<std::string> massless_directions;  // directions without inertia and without constraint
  bool is_driven = false;                        // by a prescribed motion that is not constant
  bool moves() const { return degrees_of_freedom > 0; }
};
// At the initial positions. `gap_tolerance` is relative to the size of the system.
SystemCheck check_system(const System& system, double t, const Eigen::VectorXd& q,
                         double gap_tolerance = 1e-6);

// The rows that are independent at a position, as in a SystemCheck, and the smallest part of one of them beyond the
// others.
struct IndependentRows {
  std::vector<int> kept;
  double smallest_kept = 1;
};
IndependentRows independent_rows(SystemEquations& equations, double t, const Eigen::VectorXd& q);
// The same of given rows: their smallest part beyond the others among them.
double smallest_part(SystemEquations& equations, double t, const Eigen::VectorXd& q,
                     const std::vector<int>& kept);

// For people: the table that `lissom inspect` shows, and the words on redundancy, gaps and free bodies.
std::string describe(const System& system, const SystemCheck& check);

}  // namespace lissom
