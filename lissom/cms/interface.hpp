// Interfaces: the degrees of freedom by which a reduced body is joined and loaded, and which reduction keeps.
#pragma once

#include <Eigen/Core>

#include <optional>
#include <string>
#include <vector>

#include "lissom/core/error.hpp"
#include "lissom/fe/fe_model.hpp"

namespace lissom {

// What the user asks for.
struct InterfaceSpec {
  std::string name;
  std::vector<std::string> what;  // spiders or node sets, or "node 17"; several are joined
  // Some of x y z (displacement) and rx ry rz (rotation), as in "xyz" or "x z ry", along the axes of the body
  // whatever `axes` says; empty: all that a node has.
  std::string directions;
  std::optional<Eigen::Matrix3d> axes;  // of the frame, as columns, right-handed; the body's if not given
  SourcePos where;
};

struct Interface {
  std::string name;
  std::vector<int> nodes;                            // indices, ascending
  std::vector<int> rows;                             // of the model, node by node, direction by direction
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();  // mean of the nodes [m]; zero where no points are known
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
};

// Throws InputError: a name that is empty or comes twice; a set, spider or node that is not there, an empty
// set, a node that a spider ties or that has no degrees of freedom (named_nodes.hpp); directions that are not
// understood or that a node lacks; axes that are not orthonormal to 1e-6; a degree of freedom in two
// interfaces.
std::vector<Interface> find_interfaces(const FeModel& model, const std::vector<InterfaceSpec>& specs);

}  // namespace lissom
