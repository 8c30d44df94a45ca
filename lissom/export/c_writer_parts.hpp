// Parts of a C source that depend on what kind of model it is. Texts have @keys@ (export_text.hpp).
#pragma once

#include <string>

#include "lissom/export/export_model.hpp"
#include "lissom/export/export_text.hpp"

namespace lissom {

struct CParts {
  std::string run_fields;  // of the struct of a run, beside t, x and parameters
  std::string data;        // constants
  std::string functions;   // static ones and those of the header
};

CParts c_linear_parts(const ExportModel& model, CTimeFunctions& functions);
CParts c_mechanism_parts(const ExportModel& model, CTimeFunctions& functions);

}  // namespace lissom
