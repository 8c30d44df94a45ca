// What summaries are made of.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>

namespace lissom {

// Null where there is no finite number.
nlohmann::json json_number(double value);
nlohmann::json json_number(const std::optional<double>& value);
nlohmann::json json_numbers(const Eigen::Ref<const Eigen::VectorXd>& values);

// Throws where the folder cannot be made.
void make_folder(const std::filesystem::path& folder);
// All of it or, where that fails, nothing; `indent` as nlohmann has it: -1 for one line.
void write_json(const nlohmann::json& content, const std::filesystem::path& path, int indent = 1);

}  // namespace lissom
