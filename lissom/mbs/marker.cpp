#include "lissom/mbs/marker.hpp"

#include <Eigen/Geometry>

namespace lissom {

Eigen::Matrix3d MarkerKinematics::axes() const {
  return Eigen::Map<const Eigen::Matrix3d>(m.data() + 3);
}

Eigen::Vector3d MarkerKinematics::angular_velocity() const {
  Eigen::Vector3d omega = Eigen::Vector3d::Zero();
  for (int k = 3; k < 12; k += 3) omega += m.segment<3>(k).cross(rate.segment<3>(k)) / 2;
  return omega;
}

Vector12d torque_on_axes(const Eigen::Vector3d& T, const Vector12d& m) {
  Vector12d f = Vector12d::Zero();
  for (int k = 3; k < 12; k += 3) f.segment<3>(k) = T.cross(m.segment<3>(k)) / 2;
  return f;
}

Eigen::Vector3d torque_of(const Vector12d& f, const Vector12d& m) {
  Eigen::Vector3d T = Eigen::Vector3d::Zero();
  for (int k = 3; k < 12; k += 3) T += m.segment<3>(k).cross(f.segment<3>(k));
  return T;
}

}  // namespace lissom
