// Markers at random places, and differences of functions of them.
#pragma once

#include <Eigen/Geometry>

#include <random>

#include "lissom/mbs/marker.hpp"

namespace lissom::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double number() { return distribution_(engine_); }  // in -1 .. 1
  Eigen::VectorXd vector(int n) {
    Eigen::VectorXd x(n);
    for (double& value : x) value = number();
    return x;
  }
  Eigen::Matrix3d rotation(double angle) {
    return Eigen::AngleAxisd(angle, vector(3).normalized()).toRotationMatrix();
  }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> distribution_{-1, 1};
};

inline Vector12d marker_at(const Eigen::Vector3d& p,
                           const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity()) {
  Vector12d m;
  m.head<3>() = p;
  Eigen::Map<Eigen::Matrix3d>(m.data() + 3) = axes;
  return m;
}

// rate of a marker that moves rigidly
inline Vector12d rigid_rate(const Vector12d& m, const Eigen::Vector3d& v, const Eigen::Vector3d& omega) {
  Vector12d rate;
  rate.head<3>() = v;
  for (int k = 3; k < 12; k += 3) rate.segment<3>(k) = omega.cross(Eigen::Vector3d(m.segment<3>(k)));
  return rate;
}

// derivative of y(x) by central differences of fourth order; the error is about (1e-16)^(4/5) of y for
// numbers of size one, 1e-11 in what follows
template <class Function>
Eigen::MatrixXd differences(const Function& y, const Eigen::VectorXd& x, double h = 1e-3) {
  const Eigen::VectorXd y0 = y(x);
  Eigen::MatrixXd J(y0.size(), x.size());
  for (int i = 0; i < x.size(); ++i) {
    const auto at = [&](double step) {
      Eigen::VectorXd moved = x;
      moved[i] += step;
      return Eigen::VectorXd(y(moved));
    };
    J.col(i) = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }
  return J;
}

}  // namespace lissom::test
