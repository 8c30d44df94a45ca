// A mechanism of ANCF beams projected onto a basis: E = E_ref + Psi xi, as one body of a System with r
// coordinates xi and a constant mass matrix. Joints of the mechanism are joints of the System between its
// markers; those that the basis satisfies of itself drop out as redundant (check_system).
//
// The columns of Psi are made orthonormal in the mass, Psi <- Psi L^-T with L L' = Psi' M Psi: the reduced
// mass matrix is the identity, and xi are coordinates in the same space as those of the basis that was given,
// but not the same numbers. nodal() and from_nodal() go by Psi as it is then.
//
// The elastic force in one of these ways, all but the last free of the number of elements:
//   tensor   the exact cubic polynomial (errata of 004), polynomial laws only
//   ecsw     the energy at few quadrature points with non-negative weights (energy-conserving sampling and
//            weighting), bending of the second-derivative law exact
//   deim     the discrete empirical interpolation method: for comparison, neither exact nor conservative
//   direct   all elements
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/ancf_body.hpp"
#include "lissom/mbs/body.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

enum class PodForce : std::uint8_t { Automatic, Tensor, Ecsw, Deim, Direct };
const std::vector<std::pair<std::string, PodForce>>& pod_force_names();  // "automatic", "tensor", ..

struct PodBodyOptions {
  // Automatic: the cheapest of tensor (up to 40 modes), ecsw (if it reaches its tolerance) and direct by
  // estimated cost, a product of ecsw counting one and a half; ecsw is trained only where it may be that
  PodForce force = PodForce::Automatic;
  double ecsw_tolerance = 1e-4;  // relative, of the sampled forces over the snapshots
  int deim_points = 0;           // 0: as many as deim modes = r
};

struct PodReport {
  PodForce force = PodForce::Direct;  // what is used
  std::string why;                    // "tensor: 6,006 products per evaluation, ecsw 2,310"
  double tensor_cost = 0, ecsw_cost = 0,
         direct_cost = 0;          // multiply-adds per force and tangent; 0: not there
  int points = 0, all_points = 0;  // quadrature points used (ecsw, deim) and there
  double ecsw_error = 0;           // over all snapshots, relative
  double ecsw_damping_error = 0;   // the same of the damping forces; 0 without damping
};

// `bodies` are those of the mechanism (AncfBody, all of one dimension and law), in the order in which E was
// put together; their pins and supports are not looked at. `snapshots` (N by k) train ecsw and deim; xi at
// them is what trust compares with. Throws InputError: mixed laws or dimensions, sizes that do not fit,
// tensor asked for a law that is not polynomial, deim asked for damped beams, a basis whose reduced mass is
// singular. Warns: ecsw asked for that does not reach its tolerance.
class PodBody : public Body {
 public:
  PodBody(std::string name, const std::vector<const AncfBody*>& bodies, Eigen::VectorXd E_ref,
          Eigen::MatrixXd Psi, const Eigen::MatrixXd& snapshots, const PodBodyOptions& options,
          Diagnostics& diagnostics);
  ~PodBody() override;

  const PodReport& report() const;
  const SlapTraining& training() const;               // xi of the snapshots: distance_from_training()
  Eigen::VectorXd nodal(const Vector& xi) const;      // E
  Eigen::VectorXd from_nodal(const Vector& E) const;  // xi nearest to E in the mass
  Eigen::VectorXd from_nodal_rate(const Vector& rate) const;
  // Elastic force (r), tangent (r by r, may be null); returns the energy (not a number of deim, which has
  // none). For tests.
  double elastic(const Vector& xi, Eigen::Ref<Eigen::VectorXd> force, Eigen::MatrixXd* tangent) const;

  std::string formulation() const override { return "pod"; }
  std::vector<std::string> part_names() const override;  // the beams
  int coordinates() const override;                      // r
  int own_constraints() const override { return 0; }
  int flexible_modes() const override { return coordinates(); }
  bool constant_mass() const override { return true; }
  std::unique_ptr<Workspace> workspace() const override;
  void add_residual(const Vector& q, const Vector& v, const Vector& a, double w,
                    const Eigen::Vector3d& gravity, Workspace& workspace,
                    Eigen::Ref<Eigen::VectorXd> r) const override;
  void jacobian(const Vector& q, const Vector& v, const Vector& a, double w, const Eigen::Vector3d& gravity,
                double cq, double cv, double ca, Workspace& workspace,
                Eigen::Ref<Eigen::MatrixXd> J) const override;
  void mass(const Vector& q, Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> M) const override;
  bool symmetric() const override;
  bool planar() const override;
  bool is_beam() const override { return true; }
  // the basis has built in what holds the beams
  bool is_supported() const override { return true; }
  int add_marker(const MarkerSpec& spec) override;
  bool marker_rotates(int marker) const override;
  void marker(int marker, const Vector& q, const Vector& v, bool gradients, Workspace& workspace,
              MarkerKinematics& out) const override;
  void add_marker_hessian(int marker, const Vector& q, const Vector12d& w, double factor,
                          Workspace& workspace, Eigen::Ref<Eigen::MatrixXd> H) const override;
  void place(const Placement& placement, Eigen::Ref<Eigen::VectorXd> q,
             Eigen::Ref<Eigen::VectorXd> v) const override;  // the start of the bodies, projected
  double mass() const override;
  Energy energy(const Vector& q, const Vector& v, const Eigen::Vector3d& gravity,
                Workspace& workspace) const override;
  Eigen::Matrix3Xd node_positions(const Vector& q) const override;
  Eigen::Matrix3Xd node_velocities(const Vector& q, const Vector& v) const override;
  const std::vector<std::int64_t>& node_ids() const override;
  std::vector<NodeGroup> node_groups() const override;
  void displacement_scale(Eigen::Ref<Eigen::VectorXd> scale) const override;
  std::string coordinate_name(int i) const override;
  double radius() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
