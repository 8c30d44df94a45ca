// Strain and stress of a body whose displacements are scalar fields times the three directions.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "lissom/core/progress.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/fe/stress_recovery.hpp"

namespace lissom {

// Strain and stress modes of scalar fields (n by s) at nodes of the mesh, by number. Throws InputError where
// the mesh has no elements or not these nodes.
StressModes field_stress_modes(const Mesh& mesh, const std::vector<std::int64_t>& node_ids,
                               const Eigen::Ref<const Eigen::MatrixXd>& fields, const StressOptions& options,
                               const ProgressHook& progress = {});

}  // namespace lissom
