// Stress and strain of a run from the modes of its bodies: at any state, over all samples, as a file.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lissom/study/simulate.hpp"

namespace lissom {

// The bodies (or parts of a reduced mechanism) whose stress the study asks for, StudySystem::stress, which
// must outlive it. Six components xx yy zz xy yz zx of node after node, in the axes of the body's mesh.
class StressField {
 public:
  explicit StressField(const StudySystem& built) : built_(&built) {}

  int groups() const { return static_cast<int>(built_->stress.size()); }
  const GroupStress& group(int g) const { return built_->stress.at(static_cast<size_t>(g)); }
  const Body& body(int g) const { return *built_->system->bodies()[static_cast<size_t>(group(g).body)]; }
  std::span<const std::int64_t> node_ids(int g) const;                       // n
  int offset(int g) const { return built_->system->offset(group(g).body); }  // of the body's coordinates

  // Amplitudes of the deformation, c by k, at k states of the whole system (coordinates by k).
  Eigen::MatrixXd amplitudes(int g, const Eigen::Ref<const Eigen::MatrixXd>& q) const;
  // Averages over the elements of a node, 6 n by k; zero at nodes without element. The modes must be there:
  // group(g).modes.
  void evaluate(int g, const Eigen::Ref<const Eigen::MatrixXd>& q, Eigen::Ref<Eigen::MatrixXd> stress) const;
  void evaluate_strain(int g, const Eigen::Ref<const Eigen::MatrixXd>& q,
                       Eigen::Ref<Eigen::MatrixXd> strain) const;

 private:
  const StudySystem* built_;
};

// Stress of each element at its nodes, without averages.
struct ElementStress {
  std::vector<std::int64_t> element_ids, offsets,
      node_ids;            // those of element e: offsets[e] .. offsets[e + 1]
  Eigen::MatrixXd stress;  // 6 (number of node_ids) by k [Pa]
};
// Throws InputError where the mesh is not known, or a node of an element is not kept.
ElementStress element_stress_of(const StressField& field, int g, const Eigen::Ref<const Eigen::MatrixXd>& q);

// Before a run: throws InputError where the report below could not be made.
void check_stress(const StressSpec& spec, const StudySystem& built);

// What [simulate.stress] asks for: fills run.summary["stress"] and a line of run.text for each body, and
// writes stress.h5 into the folder, if that is not empty. Instants between samples are those of the nearest
// sample, with a warning.
void report_stress(const StudyFile& study, const std::filesystem::path& folder, SimulationRun& run,
                   Diagnostics& diagnostics, const ProgressHook& progress = {});

}  // namespace lissom
