// Whether flexible bodies stay where linear elasticity holds. Bodies in a floating frame (FFRF, FNCF) and
// GCMS deform linearly about it, so that two things go wrong in silence:
//
//   spin      centrifugal forces stiffen a body that turns, by about (spin / first frequency)^2. The
//             frequency is the first one of the body as its joints hold it at the start, with all other
//             bodies at rest; its rigid motions do not count.
//   rotation  a node that turns by theta within the body moves by theta (1 + O(theta)): at 10 degrees
//             lengths are wrong by 1.5 %. Rotations are those of small groups of nodes beside each other,
//             spread over the body.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/archive.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/system.hpp"

namespace lissom {

// First frequency [rad/s] of a body that joints hold, as above; nothing where there is none.
std::optional<double> held_frequency(SystemEquations& equations, int body);

// A body that left the range: what passed its limit, when first, and the largest value with its time [s].
struct ElasticLimit {
  struct Passed {
    double since = 0, largest = 0, at = 0;
  };
  std::string body;
  std::optional<Passed> spin;      // [rad/s]
  double first_frequency = 0;      // [rad/s], where it spins too fast
  std::optional<Passed> rotation;  // [degrees]
  std::int64_t node = 0;           // of the largest rotation
};

class ElasticRange {
 public:
  static constexpr double largest_spin = 1.0 / 3;  // of the first frequency
  static constexpr double largest_rotation = 10;   // [degrees]

  explicit ElasticRange(SystemEquations& equations);
  // With every accepted step. What is expensive is computed once there is need of it.
  void step(const State& state);
  // One warning for each body, with times and places; `suffix` of its key.
  void warn(const std::string& suffix, Diagnostics& diagnostics) const;
  // Bodies that left it.
  std::vector<ElasticLimit> left() const;
  void archive(Archive& archive);

 private:
  // When a limit was passed first, and the largest value.
  struct Passed {
    std::optional<double> since;  // [s]
    double largest = 0, at = 0;
    std::int64_t node = 0;  // of the largest
    void see(double value, double limit, double t, std::int64_t where);
    void archive(Archive& archive);
  };
  struct Part {
    int body = 0;
    bool has_frequency = false, has_groups = false;
    std::optional<double> frequency;  // [rad/s]
    Eigen::MatrixXd rotations;        // 3 g by amplitudes: of g groups of nodes, for unit amplitudes
    std::vector<std::int64_t> nodes;  // in the middle of them
    Eigen::VectorXd amplitudes, scale, angles;
    Passed spin, rotation;  // [rad/s], [degrees]
  };
  void look_at_rotations(Part& part, const Eigen::Ref<const Eigen::VectorXd>& q, double t);
  void make_groups(Part& part) const;

  SystemEquations& equations_;
  std::vector<Part> parts_;
};

}  // namespace lissom
