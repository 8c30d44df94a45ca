#include "lissom/core/diagnostics.hpp"

namespace lissom {

std::string to_string(const Warning& warning) {
  std::string text = to_string(warning.where);
  if (!text.empty()) text += ": ";
  text += warning.message;
  if (warning.count > 1) text += fmt::format(" ({} times)", warning.count);
  return text;
}

void Diagnostics::warn(std::string_view key, std::string message, SourcePos where) {
  for (Warning& known : warnings_) {
    if (known.key == key) {
      ++known.count;
      return;
    }
  }
  warnings_.push_back({std::string(key), std::move(message), std::move(where), 1});
}

const Warning* Diagnostics::find(std::string_view key) const {
  for (const Warning& known : warnings_)
    if (known.key == key) return &known;
  return nullptr;
}

}  // namespace lissom
