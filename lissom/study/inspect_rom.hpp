// What is in a reduced mechanism, for `lissom inspect`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "lissom/io/pod_file.hpp"
#include "lissom/io/rom_file.hpp"

namespace lissom {

// Order, parts with their places and nodes, frequencies, and how far each coordinate went in training.
std::string describe_rom(const RomFile& rom);
nlohmann::json rom_json(const RomFile& rom);
// Which kernel a SLAP model runs on, and how far its polynomial is from the exact one.
nlohmann::json forces_json(const SlapModel& model);
// Of a parametric one: parameters with their ranges and keys, samples, singular values, what is made of them.
std::string describe_rom(const PodFile& rom);
nlohmann::json rom_json(const PodFile& rom);

}  // namespace lissom
