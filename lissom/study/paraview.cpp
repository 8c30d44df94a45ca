#include "lissom/study/paraview.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <numbers>
#include <unordered_map>

#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/study/stress.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Whether elements use a node that the mechanism does not have.
bool misses_nodes(const Mesh& mesh, const std::vector<int>& at) {
  const bool any = std::any_of(at.begin(), at.end(), [](int node) { return node >= 0; });
  return !any || std::any_of(mesh.connectivity.begin(), mesh.connectivity.end(),
                             [&](int node) { return at[node] < 0; });
}

// The nodes of a beam, which have no elements of a mesh.
std::shared_ptr<const Mesh> beam_mesh(const Body& body, const NodeGroup& group) {
  auto mesh = std::make_shared<Mesh>();
  mesh->source = group.name;
  mesh->points.setZero(3, group.count);
  const auto first = body.node_ids().begin() + group.first;
  mesh->node_ids.assign(first, first + group.count);
  return mesh;
}

// Stress on the nodes of a scene, some frames at a time, because modes are read from memory for each product.
class SceneStress {
 public:
  SceneStress(const Scene& scene, const StudySystem& built, const MatrixXd& q, int every)
      : scene_(scene), field_(built), q_(q), every_(every), of_part_(scene.parts().size(), -1) {
    for (size_t p = 0; p < of_part_.size(); ++p)
      for (int g = 0; g < field_.groups(); ++g)
        if (field_.group(g).body == scene.parts()[p].body &&
            field_.group(g).group == scene.parts()[p].group_index)
          of_part_[p] = g;
    blocks_.resize(of_part_.size());
  }

  // Of sample k, a multiple of `every` not before the last one: 1 by nodes and 6 by nodes [Pa], zero where no
  // stress is known.
  void at(Index k, MatrixXd& von_mises_stress, MatrixXd& stress) {
    if (k >= end_) fill(k);
    const Index column = (k - first_) / every_;
    von_mises_stress.setZero(1, scene_.nodes());
    stress.setZero(6, scene_.nodes());
    for (size_t p = 0; p < of_part_.size(); ++p) {
      if (of_part_[p] < 0) continue;
      const Scene::Part& part = scene_.parts()[p];
      for (size_t i = 0; i < part.at.size(); ++i) {
        if (part.at[i] < 0) continue;
        const Index node = part.first + static_cast<Index>(i);
        stress.col(node) = blocks_[p].col(column).segment<6>(6 * static_cast<Index>(part.at[i]));
        von_mises_stress(0, node) = von_mises(Vector6d(stress.col(node)));
      }
    }
  }

 private:
  void fill(Index k) {
    constexpr Index at_once = 16;
    std::vector<Index> samples;
    for (first_ = k; k < q_.cols() && static_cast<Index>(samples.size()) < at_once; k += every_)
      samples.push_back(k);
    end_ = k;
    const MatrixXd q = q_(Eigen::all, samples);
    for (size_t p = 0; p < of_part_.size(); ++p) {
      if (of_part_[p] < 0) continue;
      blocks_[p].resize(6 * static_cast<Index>(field_.node_ids(of_part_[p]).size()), q.cols());
      field_.evaluate(of_part_[p], q, blocks_[p]);
    }
  }

  const Scene& scene_;
  StressField field_;
  const MatrixXd& q_;
  int every_;
  std::vector<int> of_part_;      // group of the field, or -1
  std::vector<MatrixXd> blocks_;  // 6 n by frames
  Index first_ = 0, end_ = 0;
};

}  // namespace

Scene::Scene(const System& system, const BodyMeshes& meshes, const std::vector<std::string>& chosen,
             const SourcePos& where, const LeftOut& left_out, bool whole)
    : system_(system) {
  std::vector<std::string> names;
  const auto asked = [&](const std::string& name) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
  };
  for (size_t b = 0; b < system.bodies().size(); ++b) {
    const Body& body = *system.bodies()[b];
    const std::vector<NodeGroup> groups = body.node_groups();
    for (size_t g = 0; g < groups.size(); ++g) {
      const NodeGroup& group = groups[g];
      names.push_back(group.name);
      if (!asked(group.name)) continue;
      const bool beam = body.is_beam();
      const auto found = meshes.find(group.name);
      if (!beam && (found == meshes.end() || !found->second || found->second->node_count() == 0)) {
        // bodies of numbers have none, unless they were asked for by name
        if (!chosen.empty() || body.flexible_modes() > 0 || group.count > 0)
          left_out(group.name, "it has no mesh");
        continue;
      }
      Part part;
      part.body = static_cast<int>(b);
      part.group = group;
      part.group_index = static_cast<int>(g);
      part.beam = beam;
      part.mesh = beam ? beam_mesh(body, group) : found->second;
      std::unordered_map<std::int64_t, int> index;
      for (int i = 0; i < group.count; ++i) index[body.node_ids()[group.first + i]] = i;
      for (const std::int64_t id : part.mesh->node_ids) {
        const auto node = index.find(id);
        part.at.push_back(node == index.end() ? -1 : node->second);
      }
      part.complete = !misses_nodes(*part.mesh, part.at);
      if (!part.complete && whole) {
        left_out(group.name, "the mechanism does not have all nodes of its mesh; keep them");
        continue;
      }
      part.first = nodes_;
      nodes_ += part.mesh->node_count();
      parts_.push_back(std::move(part));
    }
    // parts of a mechanism that was kept without their nodes
    for (const std::string& name : body.part_names()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      names.push_back(name);
      if (asked(name)) left_out(name, "it was kept without its nodes");
    }
  }
  for (const std::string& name : chosen)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail_input(where, "simulate.paraview.bodies: there is no body '{}'{}; there are: {}", name,
                 did_you_mean(name, names), fmt::join(names, ", "));
}

template <class Nodes>
void Scene::gather(const Nodes& of_body, MatrixXd& x) const {
  x.setZero(3, nodes_);
  Eigen::Matrix3Xd nodes;
  int body = -1;
  for (const Part& part : parts_) {
    if (part.body != body) nodes = of_body(body = part.body);
    for (size_t i = 0; i < part.at.size(); ++i)
      if (part.at[i] >= 0)
        x.col(part.first + static_cast<Index>(i)) = nodes.col(part.group.first + part.at[i]);
  }
}

void Scene::positions(const Eigen::Ref<const VectorXd>& q, MatrixXd& x) const {
  gather(
      [&](int b) {
        const Body& body = *system_.bodies()[b];
        return body.node_positions(q.segment(system_.offset(b), body.coordinates()));
      },
      x);
}

void Scene::velocities(const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& v,
                       MatrixXd& x) const {
  gather(
      [&](int b) {
        const Body& body = *system_.bodies()[b];
        const Index first = system_.offset(b), n = body.coordinates();
        return body.node_velocities(q.segment(first, n), v.segment(first, n));
      },
      x);
}

std::vector<ExodusPart> Scene::exodus_parts(const MatrixXd& x) const {
  std::vector<ExodusPart> parts;
  for (const Part& part : parts_)
    parts.push_back(
        {part.group.name, part.mesh.get(), x.middleCols(part.first, part.mesh->node_count()), part.beam});
  return parts;
}

Scene paraview_scene(const System& system, const BodyMeshes& meshes, const std::vector<std::string>& chosen,
                     const SourcePos& where, Diagnostics& diagnostics) {
  Scene scene(system, meshes, chosen, where, [&](const std::string& name, const std::string& why) {
    diagnostics.warn("paraview." + name,
                     fmt::format("the body '{}' is not shown in ParaView: {}", name, why));
  });
  if (scene.parts().empty())
    fail_input(where, "simulate.paraview: no body has a mesh to be shown; give one a mesh, or leave it out");
  return scene;
}

bool wants_paraview(const StudyFile& study) {
  const auto wants = [](const StudyFile& one) {
    return (one.linearise && one.linearise->paraview) ||
           (one.simulation && one.simulation->simulate && one.simulation->simulate->paraview);
  };
  return wants(study) || std::any_of(study.cases.begin(), study.cases.end(),
                                     [&](const StudyCase& variant) { return wants(variant.study); });
}

BodyMeshes meshes_to_show(const StudyFile& study, BodyStore& store, Diagnostics& diagnostics,
                          const ProgressHook& progress) {
  BodyMeshes meshes;
  for (const BodySpec& body : study.bodies) meshes[body.name] = store.mesh(body, diagnostics, progress);
  return meshes;
}

void write_motion(SimulationRun& run, const ParaviewSpec& spec, const BodyMeshes& meshes,
                  const std::filesystem::path& folder, Diagnostics& diagnostics,
                  const ProgressHook& progress) {
  const Timer timer;
  const System& system = *run.built->system;
  const Scene scene = paraview_scene(system, meshes, spec.bodies, spec.where, diagnostics);
  const Index samples = run.q.cols();
  MatrixXd start;
  scene.positions(run.q.col(0), start);
  std::vector<ExodusField> fields = {{"displacement", 3}};
  if (spec.velocity) fields.push_back({"velocity", 3});
  const size_t first_stress = fields.size();
  if (spec.stress) {
    fields.push_back({"von_mises", 1});
    fields.push_back({"stress", 6});
  }
  const std::string name = "motion.exo";
  ExodusWriter file(folder / name, "motion", scene.exodus_parts(start), fields, {}, diagnostics);
  std::vector<MatrixXd> values(fields.size());
  SceneStress stress(scene, *run.built, run.q, spec.every);
  for (Index k = 0; k < samples; k += spec.every) {
    if (progress) progress("ParaView file", static_cast<double>(k) / static_cast<double>(samples));
    scene.positions(run.q.col(k), values[0]);
    values[0] -= start;
    if (spec.velocity) scene.velocities(run.q.col(k), run.v.col(k), values[1]);
    if (spec.stress) stress.at(k, values[first_stress], values[first_stress + 1]);
    file.add(run.t[k], values);
  }
  file.finish();
  run.summary["paraview"] = {{"file", name},
                             {"frames", file.times()},
                             {"nodes", scene.nodes()},
                             {"frame_bytes", file.record_bytes()},
                             {"seconds", timer.seconds()}};
  if (run.summary.contains("files")) run.summary["files"].push_back(name);
  run.text += fmt::format("{:<18}{}, {} frames of {} nodes\n", "ParaView", (folder / name).string(),
                          file.times(), scene.nodes());
}

void write_system_modes(const System& system, const Eigen::Ref<const VectorXd>& q,
                        const Eigen::Ref<const Eigen::MatrixXcd>& shapes,
                        const Eigen::Ref<const VectorXd>& frequencies_hz,
                        const Eigen::Ref<const VectorXd>& damping, const BodyMeshes& meshes,
                        const std::filesystem::path& path, Diagnostics& diagnostics,
                        const SystemModesOptions& options) {
  LISSOM_ASSERT(q.size() == system.coordinates() && shapes.rows() == q.size());
  LISSOM_ASSERT(frequencies_hz.size() == shapes.cols() && options.phases >= 1);
  LISSOM_ASSERT(damping.size() == 0 || damping.size() == shapes.cols());
  const Scene scene = paraview_scene(system, meshes, {}, {}, diagnostics);
  MatrixXd points, real, imaginary;
  scene.positions(q, points);
  ExodusWriter file(path, "modes of the mechanism", scene.exodus_parts(points),
                    {{"displacement", 3}, {"quadrature", 3}},
                    {"frequency_hz", "damping_ratio", "displacement_scale"}, diagnostics);
  std::vector<MatrixXd> values(2);
  for (Index j = 0; j < shapes.cols(); ++j) {
    scene.velocities(q, shapes.col(j).real(), real);
    scene.velocities(q, shapes.col(j).imag(), imaginary);
    const double largest =
        std::sqrt((real.colwise().squaredNorm() + imaginary.colwise().squaredNorm()).maxCoeff());
    const double scale = mode_scale(options.scaling, largest, points);
    for (int k = 0; k < options.phases; ++k) {
      const double s = static_cast<double>(k) / options.phases;
      const std::complex<double> turn = std::polar(scale, 2 * std::numbers::pi * s);
      values[0] = turn.real() * real - turn.imag() * imaginary;
      values[1] = turn.imag() * real + turn.real() * imaginary;
      const double globals[] = {frequencies_hz[j], damping.size() > 0 ? damping[j] : 0, scale};
      file.add(static_cast<double>(j + 1) + s, values, globals);
    }
  }
  file.finish();
}

}  // namespace lissom
