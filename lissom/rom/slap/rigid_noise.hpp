// Training data with errors as a multibody program leaves them: joints that hold to a tolerance only.
#pragma once

#include <cstdint>
#include <memory>

#include "lissom/rom/slap/snapshots.hpp"

namespace lissom {

// The run with every part moved rigidly, sample by sample, by random translations of size `amplitude` [m] and
// rotations that move its nodes as far. The same seed gives the same noise.
std::unique_ptr<SnapshotSource> with_rigid_noise(std::unique_ptr<SnapshotSource> run, double amplitude,
                                                 std::uint64_t seed = 1);

}  // namespace lissom
