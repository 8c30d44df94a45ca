// A mechanism without constraints as an ordinary differential equation of first order (rom/rom.hpp), for
// integrators of others and for controllers:
//   x' = f(t, x, u),   y = h(t, x, u),   x = (q, q'),
// with its loads, inputs u, sensors y and start. What reduced mechanisms are made for; constraints that are
// left make it a differential-algebraic system, which is refused.
#pragma once

#include <memory>

#include "lissom/mbs/sensor.hpp"
#include "lissom/rom/rom.hpp"
#include "lissom/rom/slap/slap_model.hpp"
#include "lissom/time/start.hpp"

namespace lissom {

class MechanismOde final : public Rom {
 public:
  // What the right-hand side is made of. `training` says where it holds; null: not known, or everywhere.
  struct Mechanism {
    std::shared_ptr<const System> system;
    std::vector<Sensor> sensors;
    std::string method = "full";
    std::shared_ptr<const SlapTraining> training;
  };
  // `start` is one of the mechanism's system. Throws InputError where constraints are left.
  MechanismOde(Mechanism mechanism, Start start, Diagnostics& diagnostics);
  ~MechanismOde() override;
  MechanismOde(MechanismOde&&) noexcept;

  int coordinates() const;       // m
  const State& initial() const;  // at t = 0, consistent with the loads

  std::string_view method() const override;
  int states() const override;                              // 2 m
  const std::vector<RomChannel>& inputs() const override;   // those of loads, factors without a unit
  const std::vector<RomChannel>& outputs() const override;  // the sensors' columns
  double start_time() const override;
  const Eigen::VectorXd& start() const override;
  std::vector<double> break_times() const override;
  void inputs_at(double t, Vector u) const override;

  // Throws Error where M is singular or a load is not finite.
  void rhs(double t, const ConstVector& x, const ConstVector& u, Vector f) override;
  void jacobian(double t, const ConstVector& x, const ConstVector& u, Matrix J) override;
  void input_matrix(double t, const ConstVector& x, Matrix B) override;  // f is linear in u
  // Of one state, angles within half a turn of where their rates would have brought them since the start.
  void output(double t, const ConstVector& x, const ConstVector& u, Vector y) override;
  // Both by differences.
  void output_derivatives(double t, const ConstVector& x, const ConstVector& u, Matrix C, Matrix D) override;
  bool has_exact_outputs() const override { return false; }
  std::optional<double> energy(double t, const ConstVector& x) override;
  std::optional<double> distance(double t, const ConstVector& x, const ConstVector& u) override;
  std::vector<RomNodes> node_groups() const override;
  Eigen::Matrix3Xd nodes(const ConstVector& x) const override;

  // M at x (m by m) [kg and what belongs to the coordinates].
  void mass(double t, const ConstVector& x, Matrix M);
  // Outputs (columns by k) at k states (2 m by k), in the order of time, turns counted from the start.
  void sensors(const ConstVector& t, const Eigen::Ref<const Eigen::MatrixXd>& x, const ConstVector& u,
               Matrix values);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
