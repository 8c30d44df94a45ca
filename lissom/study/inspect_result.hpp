// What `lissom inspect` says of a result file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "lissom/io/result_file.hpp"

namespace lissom {

// For people and for programs: bodies, sensors, samples, until when, how the run went.
std::string describe_result(const ResultFile& result);
nlohmann::json result_json(const ResultFile& result);

}  // namespace lissom
