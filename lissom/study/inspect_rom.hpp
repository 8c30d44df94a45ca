// What is in a reduced mechanism, for `lissom inspect`.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "lissom/io/rom_file.hpp"

namespace lissom {

// Order, parts with their places and nodes, frequencies, and how far each coordinate went in training.
std::string describe_rom(const RomFile& rom);
nlohmann::json rom_json(const RomFile& rom);

}  // namespace lissom
