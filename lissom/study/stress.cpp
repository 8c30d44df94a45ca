#include "lissom/study/stress.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lissom/core/parallel.hpp"
#include "lissom/fe/stress_history.hpp"
#include "lissom/io/stress_file.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

// An instant that is further from a sample, relative to the run's length, is not that sample.
constexpr double same_instant = 1e-9;

// Samples nearest to the instants.
std::vector<Index> samples_at(const StressSpec& spec, const VectorXd& times, Diagnostics& diagnostics) {
  std::vector<Index> samples;
  const double length = times[times.size() - 1] - times[0];
  for (const double t : spec.at) {
    if (t < times[0] - same_instant * length || t > times[times.size() - 1] + same_instant * length) {
      diagnostics.warn(
          "simulate.stress-instant",
          fmt::format("stress is asked for at t = {:.6g} s, which the run from {:.6g} to {:.6g} s "
                      "does not have; it was left out",
                      t, times[0], times[times.size() - 1]),
          spec.where);
      continue;
    }
    Index sample = 0;
    const double distance = (times.array() - t).abs().minCoeff(&sample);
    if (distance > same_instant * length)
      diagnostics.warn(
          "simulate.stress-instant",
          fmt::format("stress is asked for at t = {:.6g} s, where there is no sample; that of t = "
                      "{:.6g} s is taken",
                      t, times[sample]),
          spec.where);
    samples.push_back(sample);
  }
  return samples;
}

// Place of each node of the mesh among those of the group, -1 where it is not kept.
std::vector<int> kept_nodes(const StressField& field, int g) {
  std::unordered_map<std::int64_t, int> index;
  const auto ids = field.node_ids(g);
  for (size_t i = 0; i < ids.size(); ++i) index[ids[i]] = static_cast<int>(i);
  std::vector<int> kept;
  for (const std::int64_t id : field.group(g).mesh->node_ids) {
    const auto found = index.find(id);
    kept.push_back(found == index.end() ? -1 : found->second);
  }
  return kept;
}

void check_element_stress(const StressField& field, int g) {
  const GroupStress& group = field.group(g);
  if (!group.mesh || group.mesh->element_count() == 0)
    fail_input(
        "simulate.stress.unaveraged: values of elements without averages need the mesh of '{}', which a file "
        "of a reduced body or "
        "mechanism does not have; leave out unaveraged = true, or run the study from its meshes",
        group.name);
  const std::vector<int> kept = kept_nodes(field, g);
  for (int e = 0; e < group.mesh->element_count(); ++e)
    for (const int node : group.mesh->element_nodes(e))
      if (kept[static_cast<size_t>(node)] < 0)
        fail_input(
            "values of elements without averages need all nodes of '{}', and node {} is not kept; leave out "
            "'nodes' of [bodies.{}.reduce]",
            group.name, group.mesh->node_ids[static_cast<size_t>(node)], group.name);
}

// Of the bodies that [simulate.stress] names; sensors may ask for further ones.
bool is_wanted(const StressSpec& spec, const GroupStress& group) {
  return spec.all || std::find(spec.bodies.begin(), spec.bodies.end(), group.name) != spec.bodies.end();
}

}  // namespace

std::span<const std::int64_t> StressField::node_ids(int g) const {
  const NodeGroup nodes = body(g).node_groups()[static_cast<size_t>(group(g).group)];
  return {body(g).node_ids().data() + nodes.first, static_cast<size_t>(nodes.count)};
}

MatrixXd StressField::amplitudes(int g, const Eigen::Ref<const MatrixXd>& q) const {
  const GroupStress& of = group(g);
  const int first = offset(g), n = body(g).coordinates();
  MatrixXd D(body(g).deformation_basis(of.group).size, q.cols());
  for (Index k = 0; k < q.cols(); ++k) body(g).deformation(of.group, q.col(k).segment(first, n), D.col(k));
  return D;
}

void StressField::evaluate(int g, const Eigen::Ref<const MatrixXd>& q, Eigen::Ref<MatrixXd> stress) const {
  LISSOM_ASSERT(group(g).modes.stress);
  gemm(false, false, 1, *group(g).modes.stress, amplitudes(g, q), 0, stress);
}

void StressField::evaluate_strain(int g, const Eigen::Ref<const MatrixXd>& q,
                                  Eigen::Ref<MatrixXd> strain) const {
  LISSOM_ASSERT(group(g).modes.strain);
  gemm(false, false, 1, *group(g).modes.strain, amplitudes(g, q), 0, strain);
}

ElementStress element_stress_of(const StressField& field, int g, const Eigen::Ref<const MatrixXd>& q) {
  check_element_stress(field, g);
  const GroupStress& group = field.group(g);
  const Mesh& mesh = *group.mesh;
  const std::vector<int> kept = kept_nodes(field, g);
  ElementStress out;
  out.offsets.push_back(0);
  for (int e = 0; e < mesh.element_count(); ++e) {
    out.element_ids.push_back(mesh.element_ids[e]);
    for (const int node : mesh.element_nodes(e)) out.node_ids.push_back(mesh.node_ids[node]);
    out.offsets.push_back(static_cast<std::int64_t>(out.node_ids.size()));
  }
  const Body& body = field.body(g);
  const int n = body.coordinates(), offset = field.offset(g);
  const Index columns = q.cols();
  std::vector<Eigen::Matrix3Xd> u;
  for (Index k = 0; k < columns; ++k)
    u.push_back(body.local_displacements(group.group, q.col(k).segment(offset, n)));
  out.stress.resize(6 * out.offsets.back(), columns);
  parallel_for(mesh.element_count(), 64, [&](Index element) {
    const int e = static_cast<int>(element);
    const auto nodes = mesh.element_nodes(e);
    MatrixXd of_element(3 * nodes.size(), columns);
    for (size_t a = 0; a < nodes.size(); ++a)
      for (Index k = 0; k < columns; ++k)
        of_element.col(k).segment<3>(3 * static_cast<Index>(a)) =
            u[static_cast<size_t>(k)].col(kept[static_cast<size_t>(nodes[a])]);
    out.stress.middleRows(6 * out.offsets[static_cast<size_t>(e)], 6 * static_cast<Index>(nodes.size())) =
        element_stress(mesh, e, of_element, {false, true}).stress;
  });
  return out;
}

void check_stress(const StressSpec& spec, const StudySystem& built) {
  if (!spec.unaveraged) return;
  const StressField field(built);
  for (int g = 0; g < field.groups(); ++g)
    if (is_wanted(spec, field.group(g))) check_element_stress(field, g);
}

void report_stress(const StudyFile& study, const std::filesystem::path& folder, SimulationRun& run,
                   Diagnostics& diagnostics, const ProgressHook& progress) {
  const StressSpec& spec = *study.simulation->simulate->stress;
  const StressField field(*run.built);
  const std::vector<Index> samples = samples_at(spec, run.t, diagnostics);
  const MatrixXd q = run.q(Eigen::all, samples);
  const auto k = static_cast<Index>(samples.size());

  StressFile file;
  file.title = study.title;
  file.case_name = study.case_name;
  file.study = study.text;
  file.samples = run.t.size();
  file.at = run.t(samples);
  json& summary = run.summary["stress"];
  summary = json::object();
  for (int g = 0; g < field.groups(); ++g) {
    const GroupStress& group = field.group(g);
    if (!is_wanted(spec, group)) continue;
    StressFileBody body;
    body.name = group.name;
    body.formulation = field.body(g).formulation();
    const auto ids = field.node_ids(g);
    body.node_ids.assign(ids.begin(), ids.end());
    json& entry = summary[group.name];
    entry = {{"nodes", ids.size()}};
    if (spec.maximum) {
      const StressPeaks peaks = stress_peaks(*group.modes.stress, field.amplitudes(g, run.q), progress);
      body.peak = peaks.von_mises;
      body.peak_time = run.t(peaks.instant);
      Index node = 0;
      const double largest = body.peak.maxCoeff(&node);
      entry["max_von_mises"] = largest;
      entry["node"] = ids[static_cast<size_t>(node)];
      entry["t"] = body.peak_time[node];
      run.text += fmt::format("{:<18}von Mises {:.5g} Pa at most, '{}' at node {}, t = {:.6g} s\n", "stress",
                              largest, group.name, ids[static_cast<size_t>(node)], body.peak_time[node]);
    }
    if (k > 0) {
      body.stress.resize(6 * static_cast<Index>(ids.size()), k);
      field.evaluate(g, q, body.stress);
      if (spec.strain) {
        body.strain.resize(body.stress.rows(), k);
        field.evaluate_strain(g, q, body.strain);
      }
      const MatrixXd von_mises = von_mises_of(body.stress);
      entry["at"] = json::array();
      for (Index i = 0; i < k; ++i) {
        Index node = 0;
        const double largest = von_mises.col(i).maxCoeff(&node);
        entry["at"].push_back(
            {{"t", file.at[i]}, {"max_von_mises", largest}, {"node", ids[static_cast<size_t>(node)]}});
      }
    }
    if (spec.unaveraged) {
      if (progress) progress("stress of elements", -1);
      ElementStress elements = element_stress_of(field, g, q);
      entry["max_element_von_mises"] = von_mises_of(elements.stress).maxCoeff();
      body.element_ids = std::move(elements.element_ids);
      body.element_offsets = std::move(elements.offsets);
      body.element_nodes = std::move(elements.node_ids);
      body.element_stress = std::move(elements.stress);
    }
    file.bodies.push_back(std::move(body));
  }
  if (folder.empty()) return;
  write_stress_file(folder / "stress.h5", file);
  run.summary["files"].push_back("stress.h5");
}

}  // namespace lissom
