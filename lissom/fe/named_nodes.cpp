#include "lissom/fe/named_nodes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

// The reference node of the spider that ties `node`, or -1: the recovery knows what moves a node.
int tied_to(const FeModel& model, int node) {
  for (int column = 0; column < static_cast<int>(model.recovery.cols()); ++column) {
    if (model.dofs[column].node < 0) continue;
    for (SparseMatrix::InnerIterator it(model.recovery, column); it; ++it)
      if (it.row() / 3 == node && it.value() != 0) return model.dofs[column].node;
  }
  return -1;
}

[[noreturn]] void fail_without_rows(const FeModel& model, int node, std::string_view purpose) {
  const std::string what = fmt::format("{}: node {} {} has no degrees of freedom of its own", model.source,
                                       model.node_ids[node], purpose);
  const int reference = model.dofs.empty() ? -1 : tied_to(model, node);
  if (reference < 0)
    fail_input("{}: {}", what,
               model.dofs.empty() ? "the rows of the matrices are not known to belong to nodes; give the "
                                    "table of degrees of freedom with them"
                                  : "it belongs to no element and no spider; take another node");
  // a set that holds nothing but the reference has the spider's name
  std::string name;
  for (const auto& [set, nodes] : model.node_sets)
    if (name.empty() && nodes.size() == 1 && nodes.front() == reference) name = fmt::format("'{}', ", set);
  fail_input("{}: a spider ties it; use the spider's reference instead ({}node {})", what, name,
             model.node_ids[reference]);
}

}  // namespace

std::vector<int> named_nodes(const FeModel& model, const std::string& what, std::string_view purpose) {
  if (const auto it = model.node_sets.find(what); it != model.node_sets.end()) {
    if (it->second.empty()) fail_input("{}: the node set '{}' {} is empty", model.source, what, purpose);
    return it->second;
  }
  if (istarts_with(what, "node ")) {
    const auto id = parse_long(std::string_view(what).substr(5));
    const auto& ids = model.node_ids;
    const auto found = id ? std::find(ids.begin(), ids.end(), *id) : ids.end();
    if (found == ids.end()) {
      std::string there = "the body has no numbered nodes";
      if (!ids.empty())
        there =
            fmt::format("the body has {} nodes, numbered {} to {}", ids.size(),
                        *std::min_element(ids.begin(), ids.end()), *std::max_element(ids.begin(), ids.end()));
      fail_input("{}: there is no {} {}; {}", model.source, what, purpose, there);
    }
    return {static_cast<int>(found - ids.begin())};
  }
  std::vector<std::string> names;
  for (const auto& [name, nodes] : model.node_sets) names.push_back(name);
  fail_input("{}: there is no node set '{}' {}{}; the sets are: {}", model.source, what, purpose,
             did_you_mean(what, names), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::vector<NodeRows> rows_of_nodes(const FeModel& model, const std::vector<int>& nodes,
                                    std::string_view purpose) {
  constexpr NodeRows none = {-1, -1, -1, -1, -1, -1};
  std::vector<NodeRows> rows(nodes.size(), none);
  // place of each node in the list
  std::vector<int> place(std::max<size_t>(model.node_ids.size(), static_cast<size_t>(model.points.cols())),
                         -1);
  for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int>(k);
  for (int i = 0; i < static_cast<int>(model.dofs.size()); ++i) {
    const Dof dof = model.dofs[i];
    if (dof.node >= 0 && place[dof.node] >= 0) rows[place[dof.node]][dof.direction] = i;
  }
  for (size_t k = 0; k < nodes.size(); ++k)
    if (rows[place[nodes[k]]] == none) fail_without_rows(model, nodes[k], purpose);
  // a node that came twice
  for (size_t k = 0; k < nodes.size(); ++k) rows[k] = rows[place[nodes[k]]];
  return rows;
}

}  // namespace lissom
