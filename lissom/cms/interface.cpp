#include "lissom/cms/interface.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/fe/named_nodes.hpp"

namespace lissom {

namespace {

// The message with the place of the definition in front, if it is known.
template <class... Args>
[[noreturn]] void refuse(const InterfaceSpec& spec, fmt::format_string<Args...> format, Args&&... args) {
  const std::string message = fmt::format(format, std::forward<Args>(args)...);
  if (spec.where.file.empty()) fail_input("{}", message);
  fail_input(spec.where, "{}", message);
}

// Directions asked for, ascending; none for an empty text.
std::vector<int> parse_directions(const InterfaceSpec& spec) {
  const auto not_understood = [&](std::string_view word) {
    refuse(spec,
           "interface '{}': expected directions among x y z rx ry rz, as in \"xyz\" or \"x z ry\", found "
           "'{}'",
           spec.name, word);
  };
  std::string text = to_lower(spec.directions);
  std::replace(text.begin(), text.end(), ',', ' ');
  std::set<int> directions;
  for (const std::string_view word : split_blanks(text)) {
    // rotations are words of two letters, displacements may stand together
    const bool rotation = word.front() == 'r';
    if (rotation && word.size() != 2) not_understood(word);
    for (const char letter : word.substr(rotation ? 1 : 0)) {
      if (letter < 'x' || letter > 'z') not_understood(word);
      const int direction = letter - 'x' + (rotation ? 3 : 0);
      if (!directions.insert(direction).second)
        refuse(spec, "interface '{}': the direction {} comes twice in '{}'", spec.name,
               direction_names[direction], spec.directions);
    }
  }
  return {directions.begin(), directions.end()};
}

std::string list_of(const NodeRows& rows) {
  std::string list;
  for (int d = 0; d < 6; ++d)
    if (rows[d] >= 0) list += fmt::format("{}{}", list.empty() ? "" : " ", direction_names[d]);
  return list;
}

Interface find_interface(const FeModel& model, const InterfaceSpec& spec) {
  if (spec.name.empty()) refuse(spec, "an interface has no name; give it one");
  if (spec.what.empty())
    refuse(spec, "interface '{}' has no nodes; give a spider, a node set, or \"node 17\"", spec.name);
  Interface interface;
  interface.name = spec.name;
  const std::vector<int> directions = parse_directions(spec);
  if (spec.axes) {
    const Eigen::Matrix3d& axes = *spec.axes;
    // negated, so that NaN does not pass
    if (!((axes.transpose() * axes - Eigen::Matrix3d::Identity()).norm() < 1e-6) || axes.determinant() < 0)
      refuse(spec,
             "interface '{}': its axes are not orthonormal and right-handed; the columns must be unit "
             "vectors at right angles",
             spec.name);
    interface.axes = axes;
  }

  const std::string purpose = fmt::format("for interface '{}'", spec.name);
  std::vector<NodeRows> rows;
  try {
    for (const std::string& what : spec.what) {
      const std::vector<int> named = named_nodes(model, what, purpose);
      interface.nodes.insert(interface.nodes.end(), named.begin(), named.end());
    }
    std::sort(interface.nodes.begin(), interface.nodes.end());
    interface.nodes.erase(std::unique(interface.nodes.begin(), interface.nodes.end()), interface.nodes.end());
    rows = rows_of_nodes(model, interface.nodes, purpose);
  } catch (const InputError& error) {
    refuse(spec, "{}", error.what());
  }
  // without directions a node gives all it has, with directions it must have them
  for (size_t k = 0; k < rows.size(); ++k)
    for (const int direction : directions.empty() ? std::vector<int>{0, 1, 2, 3, 4, 5} : directions) {
      const int row = rows[k][direction];
      if (row >= 0) {
        interface.rows.push_back(row);
      } else if (!directions.empty()) {
        refuse(spec, "{}: node {} for interface '{}' has no {} {}; its directions are {}", model.source,
               model.node_ids[interface.nodes[k]], spec.name, direction < 3 ? "displacement" : "rotation",
               direction_names[direction], list_of(rows[k]));
      }
    }
  if (model.has_points()) {
    for (const int node : interface.nodes) interface.origin += model.points.col(node);
    interface.origin /= static_cast<double>(interface.nodes.size());
  }
  return interface;
}

}  // namespace

std::vector<Interface> find_interfaces(const FeModel& model, const std::vector<InterfaceSpec>& specs) {
  std::vector<Interface> interfaces;
  std::vector<int> owner(model.dofs.size(), -1);
  for (const InterfaceSpec& spec : specs) {
    for (const Interface& other : interfaces)
      if (other.name == spec.name)
        refuse(spec, "two interfaces are called '{}'; give one of them another name", spec.name);
    interfaces.push_back(find_interface(model, spec));
    for (const int row : interfaces.back().rows) {
      const Dof dof = model.dofs[row];
      if (owner[row] >= 0)
        refuse(spec,
               "node {} direction {} is in the interfaces '{}' and '{}'; it can belong to one only: take it "
               "out of the other",
               model.node_ids[dof.node], direction_names[dof.direction], interfaces[owner[row]].name,
               spec.name);
      owner[row] = static_cast<int>(interfaces.size()) - 1;
    }
  }
  return interfaces;
}

}  // namespace lissom
