#include "lissom/rom/slap/rigid_noise.hpp"

#include <Eigen/Geometry>

#include <cmath>

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;

// A number in -1..1 from a few integers (splitmix64): noise does not depend on the order of reading.
double random_number(std::uint64_t seed, std::uint64_t sample, std::uint64_t part, std::uint64_t number) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ULL * (1 + number + 8 * (part + 4096 * sample));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return 2 * (static_cast<double>(x >> 11) * 0x1p-53) - 1;
}

class NoisyRun final : public SnapshotSource {
 public:
  NoisyRun(std::unique_ptr<SnapshotSource> run, double amplitude, std::uint64_t seed)
      : run_(std::move(run)), amplitude_(amplitude), seed_(seed) {
    name_ = run_->name();
    parts_ = run_->parts();
    times_ = run_->times();
  }

  void read(int part, int first, int count, Eigen::Ref<MatrixXd> X) override {
    run_->read(part, first, count, X);
    const Index n = X.rows() / 3;
    for (Index c = 0; c < count; ++c) {
      Eigen::Map<Eigen::Matrix3Xd> x(X.col(c).data(), 3, n);
      const Vector3d centre = x.rowwise().mean();
      const double radius = (x.colwise() - centre).colwise().norm().maxCoeff();
      Vector3d shift, turn;
      for (int l = 0; l < 3; ++l) {
        shift[l] = amplitude_ * number(first + c, part, l);
        turn[l] = amplitude_ / radius * number(first + c, part, 3 + l);
      }
      for (Index i = 0; i < n; ++i) x.col(i) += shift + turn.cross(x.col(i) - centre);
    }
  }

 private:
  double number(Index sample, int part, int l) const {
    return random_number(seed_, static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(part),
                         static_cast<std::uint64_t>(l));
  }
  std::unique_ptr<SnapshotSource> run_;
  double amplitude_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<SnapshotSource> with_rigid_noise(std::unique_ptr<SnapshotSource> run, double amplitude,
                                                 std::uint64_t seed) {
  return std::make_unique<NoisyRun>(std::move(run), amplitude, seed);
}

}  // namespace lissom
