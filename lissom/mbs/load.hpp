// Loads: forces and torques at markers, springs, dampers and bushings between two markers, as functions of
// the markers (marker.hpp) and of time. Gravity belongs to the bodies.
//
// Notation: p, d_k of the first marker, P, D_k of the second, e = (P - p)/|P - p|, l = |P - p|.
//   force           F = f(t) direction on `first`, in space or following the marker's axes; with `second` the
//                   opposite force on it (a force between two bodies along fixed directions or axes of first)
//   torque          the same with a torque
//   line-force      f(t) e pulls the markers apart where positive
//   spring          force k (l - l0) + c l' pulls them together
//   torsion-spring  torque k (angle - angle0) + c rate about the first marker's axis 3, angle that of D_1
//                   against d_1
//   bushing         in the axes of first: force K (P - p)_local + C rate, torque k theta + c theta', theta
//                   three angles of second against first, small ones alike:
//                     no axis special   the rotation vector
//                     one axis special  R = swing twist about it: the rotation vector of the swing, which
//                                       turns d_a into D_a, and the angle of the twist
//                   Special is the one axis without stiffness (a bearing's), else the one axis with it (a
//                   shaft's); without any stiffness the one without damper, else the one with it.
//
// A force, torque or line force may be driven from outside: its f(t) is then multiplied with an input u of the
// system (system.hpp).
//
// Forces of springs and bushings are gradients of their potential: of the markers' 24 numbers, so that the
// moment of a bushing's force about the first marker is among them.
//
// Torsion springs, and bushings with stiffness against twist alone, wind up over any number of turns: these
// are counted (turns.hpp) from within half a turn of rest at the start. A bearing turns for ever. A bushing
// ends with an Error where its rotation vector, or its swing, comes to half a turn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lissom/core/time_function.hpp"
#include "lissom/mbs/joint.hpp"
#include "lissom/mbs/turns.hpp"

namespace lissom {

enum class LoadKind : std::uint8_t { Force, Torque, LineForce, Spring, TorsionSpring, Bushing };
const std::vector<std::pair<std::string, LoadKind>>& load_names();
std::string_view name_of(LoadKind kind);
bool needs_rotation(const struct Load& load, int marker);  // whether it uses the axes of marker 0 or 1
bool is_damped(const struct Load& load);                   // whether it depends on rates
bool holds(LoadKind kind);                                 // springs and bushings
bool counts_turns(const struct Load& load);                // whether it has an angle that winds up
bool takes_input(LoadKind kind);                           // forces, torques, line forces

struct Load {
  std::string name;
  LoadKind kind = LoadKind::Force;
  MarkerRef first, second;                           // second is the ground by default
  bool has_second = false;                           // of Force and Torque: the opposite acts there
  bool following = false;                            // components along the axes of first
  std::vector<TimeFunction> components = {0, 0, 0};  // of Force [N] and Torque [N m]
  TimeFunction magnitude;                            // of LineForce [N]
  std::string input;                                 // multiplies these; empty: none
  double stiffness = 0, damping = 0;                 // of springs [N/m, N s/m; N m/rad, N m s/rad]
  double length = 0;                                 // l0 [m] or angle0 [rad]
  TimeFunction preload;  // of springs, added to the force [N, N m]; an applied load, not in the potential
  Eigen::Vector3d K = Eigen::Vector3d::Zero(), C = Eigen::Vector3d::Zero();  // of Bushing, along its axes
  Eigen::Vector3d k = Eigen::Vector3d::Zero(), c = Eigen::Vector3d::Zero();  // about its axes
};

// The generalised forces on the 24 numbers of both markers, their derivatives with respect to these numbers
// and to their rates (24 by 24, overwritten), and the potential energy of springs and bushings [J].
struct LoadEvaluation {
  Eigen::Matrix<double, 24, 1> force;
  Eigen::Matrix<double, 24, 24> by_position, by_rate;
  double potential = 0;
  double magnitude = 0;      // spring force [N], torque [N m]; |F| otherwise
  double applied_power = 0;  // of forces and preloads on the markers [W]
  double damping_power = 0;  // taken out by dampers [W]
  CountedAngle angle;        // of one that counts turns: here and now
};
// `derivatives` also fills by_position and by_rate. `factor` is the input of a load that has one. `last` is the
// angle of one that counts turns as it was counted last; without, it is within half a turn of where it is at
// rest. Throws Error when a spring's markers coincide and its direction is not defined.
void evaluate_load(const Load& load, double t, const Vector12d& first, const Vector12d& first_rate,
                   const Vector12d& second, const Vector12d& second_rate, bool derivatives,
                   LoadEvaluation& out, double factor = 1, const CountedAngle* last = nullptr);

}  // namespace lissom
