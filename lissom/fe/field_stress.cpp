#include "lissom/fe/field_stress.hpp"

#include <unordered_map>

namespace lissom {

StressModes field_stress_modes(const Mesh& mesh, const std::vector<std::int64_t>& node_ids,
                               const Eigen::Ref<const Eigen::MatrixXd>& fields, const StressOptions& options,
                               const ProgressHook& progress) {
  if (mesh.element_count() == 0)
    fail_input(
        "stress is computed from elements, and this body has matrices but no mesh; give it one with mesh = "
        "\"FILE\"");
  std::unordered_map<std::int64_t, int> index;
  for (int i = 0; i < mesh.node_count(); ++i) index[mesh.node_ids[i]] = i;
  std::vector<int> nodes;
  for (const std::int64_t id : node_ids) {
    const auto found = index.find(id);
    if (found == index.end())
      fail_input("stress is computed from elements, and the mesh '{}' has no node {}, which the body has",
                 mesh.source, id);
    nodes.push_back(found->second);
  }
  NodalStress result = recover_field_stress(mesh, fields, nodes, options, progress);
  StressModes modes;
  if (options.strain) modes.strain = std::make_shared<Eigen::MatrixXd>(std::move(result.strain));
  if (options.stress) modes.stress = std::make_shared<Eigen::MatrixXd>(std::move(result.stress));
  return modes;
}

}  // namespace lissom
