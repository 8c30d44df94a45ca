#include "lissom/study/summary_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/error.hpp"

namespace lissom {

using nlohmann::json;

json json_number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json json_number(const std::optional<double>& value) {
  return value ? json_number(*value) : json(nullptr);
}

json json_numbers(const Eigen::Ref<const Eigen::VectorXd>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) fail("{}: the folder cannot be made: {}", folder.string(), ec.message());
}

void write_json(const json& content, const std::filesystem::path& path, int indent) {
  AtomicFile file(path);
  file.write(content.dump(indent, ' ', false, json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace lissom
