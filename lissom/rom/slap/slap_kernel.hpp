// Internal forces of a SLAP model (slap_model.hpp; 000, Sec. 4 and errata): elastic ones, the gradient of
// V = sum |C z|^2 / 2, and those of the damping |C_damping z'|^2, with exact tangents. The cost does not
// depend on the meshes, and nothing is allocated after a Room was made.
//
// The rotation has no iteration over R and no memory: from E + E' + E'E = A'A - I and E S0 = S0 E', E is
// found by a fixed point that gains the size of the strain with each pass, and R = (I + E) A^-1. As A'A - I
// is known to its own last digit (affine_strain.hpp), so is E, whatever the rotation. Where the strain is
// above 0.02, R is the polar factor of A S0 instead, and E = R A - I.
#pragma once

#include <Eigen/Core>

#include <vector>

#include "lissom/rom/slap/affine_strain.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

class SlapKernel {
 public:
  using Vector = Eigen::Ref<const Eigen::VectorXd>;

  // Of a model without inconsistency; its damping may be left out.
  explicit SlapKernel(const SlapModel& model, bool damping = true);

  class Room;
  bool damped() const { return damped_; }

  // Rotations, deformations and forces at eta, and with damping at its rate v (m). Nothing is done where
  // `room` was filled for the same numbers. Throws Error where no rotation is nearest to a part.
  void update(const Vector& eta, const Vector& v, Room& room) const;

  // All of these at what update() was called with last.
  double energy(const Room& room) const;         // V [J]
  double damping_power(const Room& room) const;  // [W]
  void add_force(const Room& room, Eigen::Ref<Eigen::VectorXd> g) const;
  // J (m by m) += cq dg/deta + cv dg/dv.
  void add_tangent(double cq, double cv, Room& room, Eigen::Ref<Eigen::MatrixXd> J) const;
  // R and E of a part.
  const Eigen::Matrix3d& rotation(const Room& room, size_t part) const;
  const Eigen::Matrix3d& strain(const Room& room, size_t part) const;

 private:
  struct Part;
  struct PartRoom;
  void find_rotation(const Part& part, const double* eta, PartRoom& room) const;
  void find_forces(const Part& part, const Vector& eta, PartRoom& room) const;
  void find_damping(const Part& part, const Vector& eta, const Vector& v, PartRoom& room) const;

  struct Part {
    std::string name;
    Eigen::Matrix3d S0;
    Eigen::MatrixXd A;                   // 9 by m + 1
    AffineMaps maps;                     // the same
    Eigen::Matrix<double, 9, 6> spread;  // E of E + E' = X with E S0 symmetric
    PaddedRows C, C_damping;
    bool damped = false;
  };
  struct PartRoom {
    Eigen::Matrix3d R, E, RA, P, H_inverse;
    AlignedArray z, y, f;
    Eigen::VectorXd g;                                  // m, damping included
    Eigen::Vector3d tau = Eigen::Vector3d::Zero();      // of all forces
    Eigen::Vector3d theta = Eigen::Vector3d::Zero();    // rate of rotation
    Eigen::Matrix3d RA_rate = Eigen::Matrix3d::Zero();  // R sum v_q A_q
    AlignedArray z_rate, y_rate, f_damping;
    PaddedRows Y, Y_damping, Y_rate;  // rows C z_r; C_damping z_r; C_damping dz'/deta_r
    double energy = 0, power = 0;
  };

 public:
  class Room {
   public:
    explicit Room(const SlapKernel& kernel);

   private:
    friend class SlapKernel;
    std::vector<PartRoom> parts_;
    Eigen::VectorXd eta_, v_;
    bool filled_ = false;
    // of the tangent
    Eigen::Matrix3Xd G_, Lambda_;
    PaddedRows Z_, Z_rate_, product_;
  };

 private:
  int m_;
  bool damped_ = false;
  std::vector<Part> parts_;
};

}  // namespace lissom
