// The small four-bar mechanism of tests/mbs/four_bar.hpp, simulated, as the space and the data of a training;
// and SLAP by its plain definition for the same basis (nodal_slap.hpp).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lissom/linalg/blas.hpp"
#include "lissom/rom/slap/slap_body.hpp"
#include "lissom/rom/slap/slap_space.hpp"
#include "lissom/rom/slap/slap_training.hpp"
#include "tests/fe/small_eigen.hpp"
#include "tests/mbs/four_bar.hpp"
#include "tests/mbs/system_motion.hpp"
#include "tests/rom/nodal_slap.hpp"

namespace lissom::test {

// A part with all flexible natural modes of a reduced body, as a study makes it.
inline SlapSpacePart part_of_bar(const std::string& name, const SampleBar& bar) {
  const ReducedBody& reduced = bar.reduced;
  const Eigen::MatrixXd Xi = reduced.eigenvectors.rightCols(reduced.size() - reduced.rigid_count);
  const Eigen::MatrixXd damping =
      reduced.D.size() > 0 ? Eigen::MatrixXd(Xi.transpose() * reduced.D * Xi) : Eigen::MatrixXd();
  return make_slap_part(name, bar.model, reduced.modes * Xi, damping);
}

inline int index_of(const SlapSpacePart& part, std::int64_t id) {
  const auto found = std::find(part.node_ids.begin(), part.node_ids.end(), id);
  EXPECT_NE(found, part.node_ids.end());
  return static_cast<int>(found - part.node_ids.begin());
}

inline SlapPlace node_place(const SlapSpacePart& part, int index, std::int64_t id) {
  return make_weighted_place(part, index, "node " + std::to_string(id), {index_of(part, id)},
                             Eigen::VectorXd::Ones(1));
}

struct TrainedFourBar {
  FourBarOptions options;
  std::unique_ptr<System> system;
  std::vector<SampleBar> bars;  // left, coupler, right
  SystemMotion motion;
  Eigen::VectorXd times;
  Eigen::MatrixXd q;

  TrainedFourBar(const FourBarOptions& given, double end, double step, int samples) : options(given) {
    options.formulation = "gcms";
    system = four_bar(options);
    const SampleBar side = sample_bar(2, options);
    bars = {side, sample_bar(1, options), side};
    motion = move(*system, exact(end, step, samples));
    times.resize(static_cast<Eigen::Index>(motion.states.size()));
    q.resize(motion.states.front().q.size(), times.size());
    for (Eigen::Index k = 0; k < times.size(); ++k) {
      times[k] = motion.states[k].t;
      q.col(k) = motion.states[k].q;
    }
  }

  static IntegratorOptions exact(double end, double step, int samples) {
    IntegratorOptions integrator = fixed_step(end, step);
    integrator.sample = end / samples;
    // to round-off: what is compared is 1e-10 m and less
    integrator.newton.tolerance = 1e-14;
    integrator.newton.reuse_rate = 0;
    return integrator;
  }

  std::vector<SlapSpacePart> parts() const {
    return {part_of_bar("left", bars[0]), part_of_bar("coupler", bars[1]), part_of_bar("right", bars[2])};
  }

  SlapSpace space(bool project = true) const {
    std::vector<SlapSpacePart> all = parts();
    std::vector<SlapPair> pairs;
    const auto hinge = [&](int part, int end, int other, int other_end) {
      for (int k = 0; k < 2; ++k) {
        SlapPair pair;
        pair.joint = "hinge " + std::to_string(pairs.size() + 1);
        pair.first = node_place(all[part], part, bars[part].hinges[end + k]);
        if (other >= 0)
          pair.second = node_place(all[other], other, bars[other].hinges[other_end + k]);
        else
          pair.second.ground = {0.05 * k, 0.0075 + (part == 2 ? four_bar_length : 0), 0};
        pairs.push_back(pair);
      }
    };
    hinge(0, 0, -1, 0);
    hinge(0, 2, 1, 0);
    hinge(2, 0, -1, 0);
    hinge(2, 2, 1, 2);
    // where the load acts, the end of the coupler, one node of each
    std::vector<SlapPlace> places;
    places.push_back(node_place(all[0], 0, bars[0].hinges[3]));
    places.back().name = "load";
    std::vector<int> end;
    for (int i = 0; i < all[1].points.cols(); ++i)
      if (all[1].points(1, i) > four_bar_length - 1e-9) end.push_back(i);
    const Eigen::Matrix3d axes =
        Eigen::AngleAxisd(0.3, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
    places.push_back(make_slap_place(all[1], 1, "end", end, {0.02, four_bar_length, 0.01}, axes));
    return make_slap_space(std::move(all), std::move(places), std::move(pairs), project);
  }

  TrainingRuns runs() const {
    TrainingRuns all;
    all.push_back(make_system_snapshots("run", *system, times, q));
    return all;
  }

  SlapBasis basis(const SlapSpace& space, int modes = 20) const {
    TrainingRuns all = runs();
    SlapBasisOptions options_of_basis;
    options_of_basis.max_modes = modes;
    Diagnostics diagnostics;
    const SlapBasis basis = slap_basis(space, all, options_of_basis, diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
    return basis;
  }

  // The mechanism as a SLAP body under the same load and gravity.
  std::unique_ptr<System> reduced(const SlapModel& model) const {
    auto rom = std::make_unique<System>();
    const int body = rom->add_body(make_slap_body("mechanism", model), {});
    MarkerSpec spec;
    spec.part = "left";
    spec.name = "load";
    Load load = system->loads().front();
    load.first = rom->add_marker(body, spec);
    load.second = {};
    rom->add_load(load);
    rom->set_gravity(system->gravity());
    return rom;
  }
};

// A run that several tests look at: quarter of a turn and less, 0.15 s.
inline const TrainedFourBar& pushed_four_bar() {
  static const TrainedFourBar four_bar({}, 0.15, 5e-4, 100);
  return four_bar;
}

// The basis at the nodes.
inline NodalSlap nodal_slap(const SlapSpace& space, const std::vector<const FeModel*>& models,
                            const SlapBasis& basis, int m) {
  NodalSlap slap;
  slap.m = m;
  for (size_t p = 0; p < space.parts.size(); ++p) {
    const SlapSpacePart& part = space.parts[p];
    NodalPart nodal;
    nodal.name = part.name;
    nodal.points = part.points;
    nodal.K = dense(models[p]->K);
    nodal.mass = models[p]->node_mass.diagonal();
    for (int c = 0; c <= m; ++c) {
      const Eigen::VectorXd column = c == 0 ? basis.rho : Eigen::VectorXd(basis.W.col(c - 1));
      const Eigen::VectorXd y = column.segment(space.offsets[p], 3 * part.fields());
      nodal.columns.push_back(Eigen::Map<const Eigen::Matrix3Xd>(y.data(), 3, part.fields()) *
                              part.Q.transpose());
    }
    slap.parts.push_back(std::move(nodal));
  }
  return slap;
}

// The elastic energy of it with 19 digits, so that differences are good to 1e-12 at deformations of 1e-7.
class LongNodalEnergy {
 public:
  using Scalar = long double;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  // Nodes are where the space's coordinates put them, at rest as well.
  LongNodalEnergy(const SlapSpace& space, const std::vector<const FeModel*>& models, const SlapBasis& basis,
                  int m)
      : m_(m) {
    for (size_t p = 0; p < space.parts.size(); ++p) {
      const SlapSpacePart& of = space.parts[p];
      const Fields Q = of.Q.cast<Scalar>();
      const auto centred = [&](const Eigen::MatrixXd& Y) {
        const Points x = Y.cast<Scalar>() * Q.transpose();
        return Points(x.colwise() - x.rowwise().mean());
      };
      Part part;
      part.x0 = centred(of.rest.transpose());
      part.K = SparseMatrix(models[p]->K.full()).cast<Scalar>();
      for (int c = 0; c <= m; ++c) {
        const Eigen::VectorXd column = c == 0 ? basis.rho : Eigen::VectorXd(basis.W.col(c - 1));
        const Eigen::VectorXd y = column.segment(space.offsets[p], 3 * of.fields());
        part.columns.push_back(centred(Eigen::Map<const Eigen::Matrix3Xd>(y.data(), 3, of.fields())));
      }
      parts_.push_back(std::move(part));
    }
  }

  Scalar operator()(const Vector& eta) const {
    Scalar V = 0;
    for (const Part& part : parts_) {
      Points x = part.columns[0];
      for (int r = 0; r < m_; ++r) x += eta[r] * part.columns[1 + r];
      const Matrix3 moment = x * part.x0.transpose();
      const Eigen::JacobiSVD<Matrix3> svd(moment, Eigen::ComputeFullU | Eigen::ComputeFullV);
      Eigen::Matrix<Scalar, 3, 1> signs(1, 1, (svd.matrixV() * svd.matrixU().transpose()).determinant());
      const Matrix3 R = svd.matrixV() * signs.asDiagonal() * svd.matrixU().transpose();
      const Points d = R * x - part.x0;
      const Eigen::Map<const Vector> all(d.data(), d.size());
      V += all.dot(part.K * all) / 2;
    }
    return V;
  }

  // By differences that are exact for polynomials of fourth degree.
  Eigen::VectorXd force(const Eigen::VectorXd& eta, const Eigen::VectorXd& steps) const {
    Eigen::VectorXd g(m_);
    for (int r = 0; r < m_; ++r) {
      const auto at = [&](int k) {
        Vector moved = eta.cast<Scalar>();
        moved[r] += static_cast<Scalar>(k) * static_cast<Scalar>(steps[r]);
        return (*this)(moved);
      };
      g[r] = static_cast<double>((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * Scalar(steps[r])));
    }
    return g;
  }

 private:
  using Points = Eigen::Matrix<Scalar, 3, Eigen::Dynamic>;
  using Fields = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Matrix3 = Eigen::Matrix<Scalar, 3, 3>;
  struct Part {
    Points x0;
    Eigen::SparseMatrix<Scalar> K;
    std::vector<Points> columns;
  };
  int m_ = 0;
  std::vector<Part> parts_;
};

}  // namespace lissom::test
