// A body of a multibody system, whichever its formulation: rigid, floating frame (FFRF), natural coordinates
// (FNCF), generalized component modes (GCMS), beams in absolute nodal coordinates (ANCF), or a mechanism that
// was reduced as a whole.
//
// Notation: q (n) its coordinates, v = q', a = q''; its equations of motion alone are
//   r = w M(q) a + h(q, v) + G' lambda,   h = quadratic velocity terms + elastic + damping - gravity,
// with own constraints g(q) = 0 where the coordinates are redundant (|p|^2 = 1, R'R = I).
// Methods are const; what they need room for is in a Workspace that the caller keeps, one per thread.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lissom/mbs/marker.hpp"

namespace lissom {

// Where a body is and how it moves at the start, undeformed: x = position + rotation X for a point X of the
// body's own frame (that of its mesh or file).
struct Placement {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();          // of the frame's origin [m]
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();      // body to global
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();          // of the origin [m/s]
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();  // in the global frame [rad/s]
};

// Nodes of a body that belong together, of node_ids(): `count` of them from `first` on.
struct NodeGroup {
  std::string name;
  int first = 0, count = 0;
};

// Where the entries of a body's cells stand in a Newton matrix: entry (i, j) of cell c is
// values[at[c][i + j * size of the cell]]. Of a symmetric matrix, where `lower` is set, entries above the
// diagonal of a cell need not be added: they lead nowhere.
struct CellWriter {
  double* values = nullptr;
  const int* const* at = nullptr;
  bool lower = false;
};

class Body {
 public:
  // Room for intermediate results; each formulation has its own kind.
  struct Workspace {
    virtual ~Workspace() = default;
  };
  using Vector = Eigen::Ref<const Eigen::VectorXd>;

  explicit Body(std::string name) : name_(std::move(name)) {}
  virtual ~Body() = default;

  const std::string& name() const { return name_; }
  virtual std::string formulation() const = 0;  // "rigid", "ffrf", "fncf", "gcms", "slap", "ancf", "pod"
  // Names of the bodies of a whole mechanism, reduced with its joints, so that what holds it is part of it;
  // none of a single body.
  virtual std::vector<std::string> part_names() const { return {}; }
  bool is_mechanism() const { return !part_names().empty(); }
  virtual int coordinates() const = 0;      // n
  virtual int own_constraints() const = 0;  // 0, 1 or 6
  virtual int flexible_modes() const = 0;   // deformation modes; of GCMS coordinates beyond the rigid ones
  virtual bool constant_mass() const = 0;
  virtual std::unique_ptr<Workspace> workspace() const = 0;

  // r += w M a + h, gravity [m/s2] included. G' lambda of the own constraints is not.
  virtual void add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                            const Eigen::Vector3d& gravity, Workspace& workspace,
                            Eigen::Ref<Eigen::VectorXd> r) const = 0;
  // J (n by n) = cq dr/dq + cv dr/dv + ca w M, exact, of the same r. Overwrites J.
  virtual void jacobian(const Vector& q, const Vector& v, const Vector& a, double w,
                        const Eigen::Vector3d& gravity, double cq, double cv, double ca, Workspace& workspace,
                        Eigen::Ref<Eigen::MatrixXd> J) const = 0;
  virtual void mass(const Vector& q, Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> M) const = 0;

  // A body of many coordinates whose matrix is mostly zero gives it as a sum of small dense blocks: cells()
  // are their sets of coordinates, the same at all times (none: the matrix is full). add_cells() adds the
  // blocks of the J above to where `out` says. The full forms of such a body are for tests and small ones.
  virtual std::vector<std::vector<int>> cells() const { return {}; }
  virtual void add_cells(const Vector& q, const Vector& v, const Vector& a, double w,
                         const Eigen::Vector3d& gravity, double cq, double cv, double ca,
                         Workspace& workspace, const CellWriter& out) const;
  // The diagonal of M (n).
  virtual void mass_diagonal(const Vector& q, Workspace& workspace,
                             Eigen::Ref<Eigen::VectorXd> diagonal) const;
  // Whether J is symmetric whatever cq, cv, ca.
  virtual bool symmetric() const { return false; }
  // Whether it is made of beams: lines of nodes without a mesh, which are there to deform.
  virtual bool is_beam() const { return false; }
  // Whether its coordinates leave out what supports hold, so that the ground takes momentum from it.
  virtual bool is_supported() const { return false; }
  // Whether all its markers move in the x-y plane and turn about z, so that torques have a symmetric tangent.
  virtual bool planar() const { return false; }

  // Own constraints (k of them; default: none): g (k); G (k by n), overwritten; H (n by n) += factor sum_i
  // lambda_i d2g_i/dq2, constant. As they are quadratic, d2g/dt2 - G a = v' (d2g/dq2) v.
  virtual void own_constraint(const Vector& q, Eigen::Ref<Eigen::VectorXd> g) const;
  virtual void own_gradient(const Vector& q, Eigen::Ref<Eigen::MatrixXd> G) const;
  virtual void add_own_hessian(const Vector& lambda, double factor, Eigen::Ref<Eigen::MatrixXd> H) const;

  // Makes a marker and returns its number. Throws InputError: no such interface, node or point (with the
  // nearest name, and those there are).
  virtual int add_marker(const MarkerSpec& spec) = 0;
  virtual bool marker_rotates(int marker) const = 0;
  // The coordinates that a marker depends on (k, ascending): J and V of marker() have a column for each of
  // them, and H of add_marker_hessian() is k by k. By default all n.
  virtual std::vector<int> marker_coordinates(int marker) const;
  // `gradients` also fills V.
  virtual void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
                      MarkerKinematics& out) const = 0;
  // H (k by k) += factor sum_i w_i d2m_i/dq2.
  virtual void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                                  Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> H) const = 0;

  virtual void place(const Placement& placement, Eigen::Ref<Eigen::VectorXd> q,
                     Eigen::Ref<Eigen::VectorXd> v) const = 0;

  virtual double mass() const = 0;  // [kg]
  struct Energy {
    double kinetic = 0, elastic = 0, gravity = 0;                // [J]; gravity about the global origin
    Eigen::Vector3d momentum = Eigen::Vector3d::Zero();          // [kg m/s]
    Eigen::Vector3d angular_momentum = Eigen::Vector3d::Zero();  // about the global origin [kg m2/s]
    double damping_power = 0;                                    // taken out by the body's damping [W]
  };
  virtual Energy energy(const Vector& q, const Vector& v, const Eigen::Vector3d& gravity,
                        Workspace& workspace) const = 0;

  // The nodes kept (or named points of a rigid body) in the global frame, 3 by nodes, in the order of
  // node_ids() (empty of a rigid body from numbers).
  virtual Eigen::Matrix3Xd node_positions(const Vector& q) const = 0;
  // Their velocities, d node_positions / dq v: linear in v, so that a small motion dq moves them by
  // node_velocities(q, dq).
  virtual Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const = 0;
  virtual const std::vector<std::int64_t>& node_ids() const = 0;
  // One after the other, all nodes: one group of the body's name, or the parts of a reduced mechanism, in
  // which node numbers may repeat.
  virtual std::vector<NodeGroup> node_groups() const;

  // Deformation of a node group (by its place in node_groups()), for stress: amplitudes d (c) of which the
  // nodes' displacements in the group's own axes, those of its mesh, are a linear function, exactly, up to a
  // rigid motion. None of rigid bodies.
  enum class DeformationKind : std::uint8_t {
    None,
    Modes,  // d are the reduced body's coordinates p, c = N
    Fields  // scalar fields times x y z: d[3 a + l] is field a along l, c = 3 s
  };
  struct DeformationBasis {
    DeformationKind kind = DeformationKind::None;
    int size = 0;                             // c
    const Eigen::MatrixXd* fields = nullptr;  // n by s; null of modes
  };
  virtual DeformationBasis deformation_basis(int group) const;
  virtual void deformation(int group, const Vector& q, Eigen::Ref<Eigen::VectorXd> d) const;
  // The displacements themselves, 3 by n [m].
  virtual Eigen::Matrix3Xd local_displacements(int group, const Vector& q) const;

  // Of a body that deforms linearly about a frame of its own (FFRF, FNCF, GCMS): the frame's angular velocity
  // [rad/s], in global axes. Nothing of others.
  virtual std::optional<Eigen::Vector3d> frame_spin(const Vector& q, const Vector& v) const;

  // For each coordinate how far its unit moves points of the body, at most [m]; and what a coordinate is:
  // "position", "rotation", "mode 3".
  virtual void displacement_scale(Eigen::Ref<Eigen::VectorXd> scale) const = 0;
  virtual std::string coordinate_name(int i) const = 0;
  // Largest distance of a point from the centre of mass at rest [m].
  virtual double radius() const = 0;

  // Of a marker whose twelve numbers are linear in the coordinates, m = L (1, q): L (12 by n + 1), the same
  // for all states; it stays where it is until another marker is made. Null otherwise.
  virtual const Matrix12Xd* linear_marker(int) const { return nullptr; }

  // What a residual asks of a marker: m and its rate alone, of their axes only where somebody uses them, and r (n) +=
  // J' f of forces f on it. By default markers come with J, and the System multiplies with it; bodies that say
  // `projects_forces` are spared that.
  virtual bool projects_forces() const { return false; }
  virtual void marker_motion(int marker, const Vector& q, const Vector& v, [[maybe_unused]] bool axes,
                             Workspace& workspace, MarkerKinematics& out) const {
    this->marker(marker, q, v, false, workspace, out);
  }
  virtual void add_marker_force(int marker, const Vector& q, const Vector& v, const Vector12d& f,
                                Workspace& workspace, Eigen::Ref<Eigen::VectorXd> r) const;

 private:
  std::string name_;
};

}  // namespace lissom
