// Studies and mechanisms as Python gives them.
#pragma once

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lissom/study/mechanism.hpp"

namespace lissom::python {

// file, text in place of the file's, settings
using PyStudy =
    std::tuple<std::string, std::optional<std::string>, std::vector<std::pair<std::string, std::string>>>;
// study or reduced mechanism, study of the latter, case, strict
using PyMechanism = std::tuple<PyStudy, std::optional<PyStudy>, std::string, bool>;

inline StudyInput study_input(const PyStudy& given) {
  StudyInput input;
  input.file = std::get<0>(given);
  input.text = std::get<1>(given);
  for (const auto& [key, value] : std::get<2>(given)) input.settings.push_back({key, value});
  return input;
}

inline MechanismInput mechanism_input(const PyMechanism& given) {
  MechanismInput input;
  input.main = study_input(std::get<0>(given));
  if (std::get<1>(given)) input.study = study_input(*std::get<1>(given));
  input.case_name = std::get<2>(given);
  input.strict = std::get<3>(given);
  return input;
}

}  // namespace lissom::python
