#include "lissom/cms/gcms_model.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "tests/mbs/gcms_support.hpp"

namespace lissom::gcms_model_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

// S (x) I_3 written out
MatrixXd times_directions(const MatrixXd& S) {
  MatrixXd Phi = MatrixXd::Zero(3 * S.rows(), 3 * S.cols());
  for (int i = 0; i < S.rows(); ++i)
    for (int a = 0; a < S.cols(); ++a) Phi.block<3, 3>(3 * i, 3 * a).diagonal().setConstant(S(i, a));
  return Phi;
}

std::vector<GcmsSample> samples(const GcmsSampleOptions& options = {}) {
  std::vector<GcmsSample> result;
  result.push_back(gcms_sample(plate(MassKind::Consistent), MassKind::Consistent, options));
  result.push_back(gcms_sample(cylinder(MassKind::Lumped), MassKind::Lumped, options));
  result.push_back(gcms_sample(block(MassKind::Consistent), MassKind::Consistent, options));
  return result;
}

TEST(GcmsModel, FieldsAreOrthonormalAndStiffnessIsThatOfTheBareBody) {
  for (const GcmsSample& sample : samples()) {
    const GcmsModel& model = sample.model;
    const std::vector<int> nodes = moving_nodes(sample.bare);
    const MatrixXd S = model.S(nodes, Eigen::all), m = dense(sample.bare.node_mass)(nodes, nodes);
    const int s = model.fields();
    // round-off of sums over a hundred nodes
    EXPECT_LT((S.transpose() * m * S - MatrixXd::Identity(s, s)).cwiseAbs().maxCoeff(), 1e-12);
    const MatrixXd Phi = times_directions(S), K = Phi.transpose() * (dense(sample.bare.K) * Phi);
    EXPECT_LT((model.K_hat - K).cwiseAbs().maxCoeff(), 1e-11 * K.cwiseAbs().maxCoeff());
    EXPECT_NEAR(model.mass, m.sum(), 1e-12 * m.sum());
    // the first fields at all nodes, references of spiders included
    const MatrixXd affine = (model.points.colwise() - model.centre).transpose() * model.T;
    EXPECT_LT((model.S.middleCols<3>(1) - affine).cwiseAbs().maxCoeff(),
              1e-12 * affine.cwiseAbs().maxCoeff());
    EXPECT_LT((model.S.col(0).array() * std::sqrt(model.mass) - 1).abs().maxCoeff(), 1e-12);
  }
}

TEST(GcmsModel, HoldsTheModesAtAllNodes) {
  GcmsSampleOptions exact;
  exact.scalar.truncation = 1e-10;
  for (const GcmsSampleOptions& options : {GcmsSampleOptions{}, exact})
    for (const GcmsSample& sample : samples(options)) {
      const GcmsModel& model = sample.model;
      const MatrixXd Phi = sample.reduced().modes * model.Xi;
      const MatrixXd found = times_directions(model.S) * model.P.transpose();
      for (int k = 0; k < Phi.cols(); ++k) {
        // what the truncation takes away is small in energy, and smaller in displacement. Without it modes
        // are there to the accuracy of their own orthogonality to rigid motions
        const double tolerance = options.scalar.truncation > 1e-9 ? 1e-5 : 1e-8;
        EXPECT_LT((found.col(k) - Phi.col(k)).cwiseAbs().maxCoeff(),
                  tolerance * Phi.col(k).cwiseAbs().maxCoeff())
            << sample.body.name << " mode " << k;
        const VectorXd z = model.P.row(k);
        const double lambda = sample.reduced().eigenvalues[sample.reduced().rigid_count + k];
        EXPECT_NEAR(z.dot(model.K_hat * z), lambda, tolerance * lambda) << sample.body.name << " mode " << k;
      }
    }
}

TEST(GcmsModel, DampingIsThatOfTheReducedBody) {
  GcmsSampleOptions options;
  options.damping = UniformDamping{0.02};
  const GcmsSample sample = gcms_sample(plate(MassKind::Lumped), MassKind::Lumped, options);
  const MatrixXd& D = sample.model.D_modal;
  const VectorXd lambda = sample.reduced().eigenvalues.tail(D.rows());
  // 2 zeta omega for modes of unit mass
  const MatrixXd expected = (0.04 * lambda.cwiseSqrt()).asDiagonal();
  EXPECT_LT((D - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.maxCoeff());
  EXPECT_EQ(samples().front().model.D_modal.size(), 0);
}

TEST(GcmsModel, FramesAreMeansAndMomentsOfTheirNodes) {
  const GcmsSample sample = samples().front();
  const GcmsModel& model = sample.model;
  ASSERT_EQ(model.frames.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const GcmsFrame& frame = model.frames[i];
    EXPECT_EQ(frame.name, sample.body.specs[i].name);
    EXPECT_LT((frame.origin - sample.reduced().interfaces[i].origin).norm(), 1e-15);
    // at rest the nodes are where they are
    const Vector3d mean = std::sqrt(model.mass) * frame.position[0] * model.centre +
                          model.T.inverse().transpose() * frame.position.segment<3>(1);
    EXPECT_LT((mean - frame.mean).norm(), 1e-14);
  }
  EXPECT_TRUE(model.frames[0].rotates());
  EXPECT_TRUE(model.frames[1].rotates());
  // the spider's nodes, not its reference
  EXPECT_NEAR(model.frames[0].mean[0], 0, 1e-14);
  EXPECT_NEAR(model.frames[0].origin[0], -0.05, 1e-14);
  // two nodes lie on a line
  EXPECT_FALSE(gcms_frame(model, "pair", {0, 7}).rotates());
  EXPECT_FALSE(gcms_frame(model, "one", {4}).rotates());
}

TEST(GcmsModel, SaysWhatIsMissing) {
  const GcmsSample sample = samples().front();
  const auto message = [&](const FeModel& bare, const ReducedBody& reduced) -> std::string {
    try {
      make_gcms_model(bare, reduced, sample.tied);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  };
  const std::string with_spiders = message(sample.body.model, sample.reduced());
  EXPECT_NE(with_spiders.find("without its spiders"), std::string::npos) << with_spiders;
  FeModel bare = sample.bare;
  bare.node_mass = {};
  EXPECT_NE(message(bare, sample.reduced()).find("m (x) I_3"), std::string::npos);
  ReducedBody reduced = sample.reduced();
  reduced.points = reduced.points.leftCols(5).eval();
  reduced.node_ids.resize(5);
  reduced.modes = reduced.modes.topRows(15).eval();
  EXPECT_NE(message(sample.bare, reduced).find("reduce it without choosing nodes"), std::string::npos);
}

}  // namespace
}  // namespace lissom::gcms_model_test
