// Nodes of a body by what the user calls them, and the rows of K and M that they have.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/fe/fe_model.hpp"

namespace lissom {

// The nodes that `what` names: a node set (also a spider, whose set holds its reference node), or one node by
// its id, as in "node 17". `purpose` tells in messages what they are for: "to fix", "for interface 'left'".
// Throws InputError: no such set (with the nearest name and all there are) or node, an empty set.
std::vector<int> named_nodes(const FeModel& model, const std::string& what, std::string_view purpose);

// What the user calls the directions of Dof.
inline constexpr const char* direction_names[] = {"x", "y", "z", "rx", "ry", "rz"};

// Rows of a node by direction (Dof), -1 where it has none.
using NodeRows = std::array<int, 6>;

// The rows of each of the nodes. Throws InputError for a node without any: a spider ties it (the message
// names the spider's reference node), it belongs to no element, or the rows of the matrices belong to no
// nodes.
std::vector<NodeRows> rows_of_nodes(const FeModel& model, const std::vector<int>& nodes,
                                    std::string_view purpose);

}  // namespace lissom
