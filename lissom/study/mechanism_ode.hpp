// A mechanism without constraints as an ordinary differential equation of first order, for integrators of
// others:
//   x' = f(t, x, u),   y = h(t, x, u),   x = (q, q'),
// with the loads, inputs u, sensors y and start of a study. What reduced mechanisms are made for; constraints that are
// left make it a differential-algebraic system, which is refused.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

#include "lissom/study/build_system.hpp"

namespace lissom {

class MechanismOde {
 public:
  // Throws InputError where constraints are left, and what study_start() throws.
  MechanismOde(const StudyFile& study, StudySystem built, Diagnostics& diagnostics,
               const ProgressHook& progress = {});
  ~MechanismOde();

  int coordinates() const;  // m
  const StudySystem& built() const;
  const State& initial() const;             // at t = 0, consistent with the loads
  std::vector<double> break_times() const;  // [s] where loads have a kink or jump

  // Names of the inputs of loads (k), in the order of u.
  std::vector<std::string> inputs() const;
  // What u is from now on in all that follows, whatever the time; before, and with no numbers at all, inputs are
  // the functions of time that the study says, zero where it says nothing. Throws InputError: another number
  // of them.
  void hold_inputs(const Eigen::Ref<const Eigen::VectorXd>& u);

  // f (2 m) at x (2 m). Allocates nothing. Throws Error where M is singular or a load is not finite.
  void rhs(double t, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> f);
  // df/dx (2 m by 2 m), exact.
  void jacobian(double t, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::MatrixXd> J);
  // df/du (2 m by k), exact; f is linear in u.
  void input_matrix(double t, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::MatrixXd> B);
  // M at x (m by m) [kg and what belongs to the coordinates].
  void mass(double t, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::MatrixXd> M);

  // Names and SI units of the sensors' columns, and their values (columns by k) at k states (2 m by k), in
  // the order of time, turns counted from the start.
  const std::vector<std::string>& columns() const;
  const std::vector<std::string>& units() const;
  void sensors(const Eigen::Ref<const Eigen::VectorXd>& t, const Eigen::Ref<const Eigen::MatrixXd>& x,
               Eigen::Ref<Eigen::MatrixXd> values);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
