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

class DampedRider : public ElasticRider {
 public:
  void residual(const State& s, double w, Eigen::Ref<Eigen::VectorXd> r) override {
    ElasticRider::residual(s, w, r);
    r[1] += 2 * s.v[1];
  }

 protected:
  void derivatives(const State& s, double w) override {
    ElasticRider::derivatives(s, w);
    C_(1, 1) = 2;
  }
};

// Something deforms in it.
class ElasticPendulum : public CartesianPendulum {
 public:
  std::vector<std::string> deforming_parts() const override { return {"rod"}; }
};

TEST(ChooseIntegrator, TakesWhatTheEquationsAreMadeFor) {
  AnglePendulum rigid;
  EXPECT_EQ(choose_integrator(rigid, rigid.at(1), automatic(), false).options.integrator, Integrator::Bdf);
  ElasticRider ringing;
  const IntegratorChoice undamped = choose_integrator(ringing, ringing.at(0), automatic(), false);
  EXPECT_EQ(undamped.options.integrator, Integrator::GeneralizedAlpha);
  EXPECT_TRUE(undamped.options.adaptive);
  EXPECT_NE(undamped.reason.find("may ring"), std::string::npos);
  DampedRider damped;
  EXPECT_EQ(choose_integrator(damped, damped.at(0), automatic(), false).options.integrator, Integrator::Bdf);
  ElasticPendulum constrained;
  EXPECT_EQ(choose_integrator(constrained, constrained.at(1), automatic(), false).options.integrator,
            Integrator::Bdf);
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
