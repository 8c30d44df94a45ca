// Beams in absolute nodal coordinates (ANCF) as a body of a System: one beam, or several that share the
// coordinates of the nodes where they are pinned to each other, with supports taken out, so that nothing is
// left of the constraints, the mass matrix is constant and the Newton matrix banded and positive definite.
//
// Nodal coordinates E (N): beam after beam, node after node (r, r') with D components each: N = 2 D sum
// (elements + 1), the same whatever is shared. The body's coordinates q (n <= N): E = E0 + T q, in the order
// of E with what is shared (it belongs to the first beam that has it) and what is supported left out.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lissom/linalg/sparse.hpp"
#include "lissom/mbs/ancf_element.hpp"
#include "lissom/mbs/ancf_marker.hpp"
#include "lissom/mbs/body.hpp"

namespace lissom {

// A straight beam of equal elements, as it is at the start, in the global frame. Planar ones lie in a plane
// of constant z and move in it.
struct AncfBeam {
  std::string name;
  int elements = 1;
  Eigen::Vector3d from = Eigen::Vector3d::Zero(), to = Eigen::Vector3d::UnitX();  // [m]
  AncfProperties properties;  // length that of an element at rest; 0: that of the start
  // of the start: at `from` [m/s], and turning about it [rad/s]
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero(), angular_velocity = Eigen::Vector3d::Zero();
};

struct AncfNode {
  int beam = 0, node = 0;  // 0 .. elements
  bool operator==(const AncfNode&) const = default;
};

// Held in space as it is at the start: its position, and if clamped the direction of its slope (its length is
// free: a clamped end can be stretched).
struct AncfSupport {
  AncfNode at;
  bool clamped = false;
};

struct AncfModel {
  int dimension = 2;  // D
  AncfLaw law;
  std::vector<AncfBeam> beams;
  std::vector<std::pair<AncfNode, AncfNode>> pins;  // nodes at the same place, which share their position
  std::vector<AncfSupport> supports;
};

// An element among the nodal coordinates: it reads E[first .. first + 2 D) and E[second .. second + 2 D).
struct AncfElementPlace {
  int beam = 0, element = 0;
  int first = 0, second = 0;
  AncfProperties properties;
};

class AncfBody : public Body {
 public:
  // Names are "start" (node 1), "end" (node elements + 1) and "node K" for markers; MarkerSpec::part is the
  // beam where there are several. Throws InputError: no beams, no elements, an element of zero length,
  // stiffness or mass that is not positive, a planar beam out of its plane, pins that do not meet, velocities
  // at the start that do not fit to pins and supports.
  AncfBody(std::string name, AncfModel model);
  ~AncfBody() override;

  const AncfModel& model() const;
  int nodal_coordinates() const;                          // N
  const std::vector<AncfElementPlace>& elements() const;  // beam after beam
  int node_offset(AncfNode node) const;                   // of its first entry in E
  // E = E0 + T q, dE/dt = T v, and the other way: the q nearest to E (exact where E fits).
  Eigen::VectorXd nodal(const Vector& q) const;
  Eigen::VectorXd nodal_rate(const Vector& v) const;
  Eigen::VectorXd from_nodal(const Vector& E) const;
  // Nodal forces of gravity are -mass_matrix * (gravity, 0) of every node. N by N, positive definite.
  SymmetricMatrix nodal_mass() const;

  std::string formulation() const override { return "ancf"; }
  std::vector<std::string> part_names() const override;  // of several beams, or a supported one
  int coordinates() const override;
  int own_constraints() const override { return 0; }
  int flexible_modes() const override;
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override;
  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                    const Eigen::Vector3d& gravity, Workspace& workspace,
                    Eigen::Ref<Eigen::VectorXd> r) const override;
  void jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Eigen::Vector3d& gravity,
                double cq, double cv, double ca, Workspace& workspace,
                Eigen::Ref<Eigen::MatrixXd> J) const override;
  void mass(const Vector& q, Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> M) const override;
  std::vector<std::vector<int>> cells() const override;  // one per element
  void add_cells(const Vector& q, const Vector& v, const Vector& a, double w, const Eigen::Vector3d& gravity,
                 double cq, double cv, double ca, Workspace& workspace, const CellWriter& out) const override;
  void mass_diagonal(const Vector& q, Workspace& workspace,
                     Eigen::Ref<Eigen::VectorXd> diagonal) const override;
  bool symmetric() const override;  // without damping
  bool planar() const override;
  bool is_beam() const override { return true; }
  bool is_supported() const override;
  int add_marker(const MarkerSpec& spec) override;
  bool marker_rotates(int marker) const override;
  std::vector<int> marker_coordinates(int marker) const override;
  void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
              MarkerKinematics& out) const override;
  void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                          Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> H) const override;
  void place(const Placement& placement, Eigen::Ref<Eigen::VectorXd> q,
             Eigen::Ref<Eigen::VectorXd> v) const override;  // moves the whole from where the model has it
  double mass() const override;
  Energy energy(const Vector& q, const Vector& v, const Eigen::Vector3d& gravity,
                Workspace& workspace) const override;
  Eigen::Matrix3Xd node_positions(const Vector& q) const override;
  Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const override;
  const std::vector<std::int64_t>& node_ids() const override;  // 1 .. elements + 1 of every beam
  std::vector<NodeGroup> node_groups() const override;         // the beams
  void displacement_scale(Eigen::Ref<Eigen::VectorXd> scale) const override;
  std::string coordinate_name(int i) const override;  // "beam 'rod', node 3, slope y"
  double radius() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
