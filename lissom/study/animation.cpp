#include "lissom/study/animation.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/vtu.hpp"

namespace lissom {

namespace {

// A body, or a part of one, with its mesh.
struct Scene {
  int body = 0;
  NodeGroup group;
  Mesh mesh;               // its points are moved
  std::vector<int> at;     // of each node of the mesh: place among the body's nodes, -1 without
  Eigen::Matrix3Xd first;  // points at the first sample
};

}  // namespace

std::string write_animation(const SimulationRun& run,
                            const std::map<std::string, std::shared_ptr<const Mesh>>& meshes,
                            const std::filesystem::path& folder, Diagnostics& diagnostics,
                            const ProgressHook& progress) {
  const System& system = *run.built->system;
  std::vector<Scene> scenes;
  for (size_t b = 0; b < system.bodies().size(); ++b)
    for (const NodeGroup& group : system.bodies()[b]->node_groups()) {
      const auto found = meshes.find(group.name);
      if (found == meshes.end() || !found->second || found->second->node_count() == 0 || group.count == 0) {
        diagnostics.warn(
            "simulate.vtu." + group.name,
            fmt::format("the body '{}' has no mesh or no nodes to be shown in the animation", group.name));
        continue;
      }
      Scene scene;
      scene.body = static_cast<int>(b);
      scene.group = group;
      scene.mesh = *found->second;
      std::unordered_map<std::int64_t, int> index;
      const auto& ids = system.bodies()[b]->node_ids();
      for (int i = 0; i < group.count; ++i) index[ids[group.first + i]] = group.first + i;
      for (const std::int64_t id : scene.mesh.node_ids) {
        const auto node = index.find(id);
        scene.at.push_back(node == index.end() ? -1 : node->second);
      }
      scenes.push_back(std::move(scene));
    }

  const std::filesystem::path out = folder / "animation";
  std::error_code ec;
  std::filesystem::create_directories(out, ec);
  if (ec) fail("{}: the folder cannot be made: {}", out.string(), ec.message());
  std::string list;
  const Eigen::Index samples = run.q.cols();
  for (Eigen::Index k = 0; k < samples; ++k) {
    if (progress) progress("animation", static_cast<double>(k) / static_cast<double>(samples));
    for (size_t i = 0; i < scenes.size(); ++i) {
      Scene& scene = scenes[i];
      const Body& body = *system.bodies()[scene.body];
      const Eigen::Matrix3Xd x =
          body.node_positions(run.q.col(k).segment(system.offset(scene.body), body.coordinates()));
      Eigen::Matrix3Xd& points = scene.mesh.points;
      for (size_t node = 0; node < scene.at.size(); ++node)
        if (scene.at[node] >= 0) points.col(static_cast<Eigen::Index>(node)) = x.col(scene.at[node]);
      if (k == 0) scene.first = points;
      const Eigen::Matrix3Xd moved = points - scene.first;
      VtuData data;
      data.points.push_back({"displacement", 3, std::span<const double>(moved.data(), moved.size())});
      const std::string name = fmt::format("{}_{:05}.vtu", i + 1, k);
      write_vtu(out / name, scene.mesh, data);
      list += fmt::format("    <DataSet timestep=\"{}\" part=\"{}\" name=\"{}\" file=\"{}\"/>\n",
                          run.sample_times[k], i, i + 1, name);
    }
  }
  AtomicFile file(out / "motion.pvd");
  file.write(
      fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n  <Collection>\n{}"
                  "  </Collection>\n</VTKFile>\n",
                  list));
  file.commit();
  return "animation/motion.pvd";
}

}  // namespace lissom
