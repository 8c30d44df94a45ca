#include "lissom/time/choose_integrator.hpp"

#include <gtest/gtest.h>

#include "tests/time/angle_pendulum.hpp"

namespace lissom::choose_integrator_test {
namespace {

using namespace test;

IntegratorOptions automatic() {
  IntegratorOptions o;
  o.integrator = Integrator::Auto;
  o.end = 1;
  return o;
}

// A spring between two masses that slide on a line, one of them held; the spring is what deforms.
class HeldSpring : public SmallEquations {
 public:
  double damping = 0;
  HeldSpring() : SmallEquations(2, 1, 1, 1) {}
  bool constant_mass() const override { return true; }
  std::vector<std::string> deforming_parts() const override { return {"spring"}; }
  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    const double f = 50 * (s.q[0] - s.q[1]) + damping * (s.v[0] - s.v[1]);
    r[0] = w * s.a[0] + f + s.lambda[0];
    r[1] = w * s.a[1] - f;
  }
  void constraint(double, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> g) override { g[0] = q[0]; }
  void constraint_gradient(double, const Eigen::VectorXd&, Eigen::Ref<Eigen::MatrixXd> G) override {
    G << 1, 0;
  }
  void constraint_rate(double, const Eigen::VectorXd&, const Eigen::VectorXd& v,
                       Eigen::Ref<Eigen::VectorXd> rate) override {
    rate[0] = v[0];
  }
  State start() { return make_consistent(*this, 0, Eigen::Vector2d(0, 0.1), Eigen::Vector2d(0, 0)).state; }

 protected:
  void derivatives(const State&, double w) override {
    K_ << 50, -50, -50, 50;
    C_ << damping, -damping, -damping, damping;
    M_.setIdentity();
    M_ *= w;
  }
};

TEST(ChooseIntegrator, TakesWhatTheEquationsAreMadeFor) {
  AnglePendulum rigid;
  EXPECT_EQ(choose_integrator(rigid, rigid.at(1), automatic(), false).options.integrator, Integrator::Bdf);
  ElasticRider free;
  EXPECT_EQ(choose_integrator(free, free.at(0), automatic(), false).reason, "no constraints");
  HeldSpring spring;
  const IntegratorChoice undamped = choose_integrator(spring, spring.start(), automatic(), false);
  EXPECT_EQ(undamped.options.integrator, Integrator::ExtrapolatedAlpha);
  EXPECT_TRUE(undamped.options.adaptive);
  spring.damping = 0.1;
  EXPECT_EQ(choose_integrator(spring, spring.start(), automatic(), false).options.integrator, Integrator::Bdf);
}

TEST(ChooseIntegrator, TakesOneStepMethodsWhereTheyBeginAgainAndAgain) {
  AnglePendulum pendulum;
  EXPECT_EQ(choose_integrator(pendulum, pendulum.at(1), automatic(), true).options.integrator,
            Integrator::GeneralizedAlpha);
  for (int k = 1; k < 100; ++k) pendulum.breaks.push_back(0.01 * k);
  EXPECT_EQ(choose_integrator(pendulum, pendulum.at(1), automatic(), false).reason, "loads have many kinks");
  // those after the end do not count
  IntegratorOptions o = automatic();
  o.end = 0.3;
  EXPECT_EQ(choose_integrator(pendulum, pendulum.at(1), o, false).options.integrator, Integrator::Bdf);
}

TEST(ChooseIntegrator, LeavesWhatWasChosen) {
  AnglePendulum pendulum;
  for (const auto& [name, integrator] : integrator_names()) {
    if (integrator == Integrator::Auto) continue;
    IntegratorOptions o = automatic();
    o.integrator = integrator;
    const IntegratorChoice choice = choose_integrator(pendulum, pendulum.at(1), o, true);
    EXPECT_EQ(choice.options.integrator, integrator) << name;
    EXPECT_TRUE(choice.reason.empty()) << name;
  }
}

TEST(ChooseIntegrator, IsSaidByTheSummary) {
  AnglePendulum pendulum;
  const Recording chosen = run(pendulum, pendulum.at(1), automatic());
  EXPECT_EQ(chosen.summary.integrator, Integrator::Bdf);
  EXPECT_EQ(chosen.summary.choice, "nothing in it deforms");
  IntegratorOptions o = automatic();
  o.integrator = Integrator::Bdf;
  const Recording same = run(pendulum, pendulum.at(1), o);
  EXPECT_EQ(chosen.last().q, same.last().q);
  EXPECT_TRUE(same.summary.choice.empty());
}

}  // namespace
}  // namespace lissom::choose_integrator_test
