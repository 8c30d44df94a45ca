// Bodies as the parts of a report about them share them.
#pragma once

#include <memory>

#include "lissom/io/gcms_file.hpp"
#include "lissom/report/report_blocks.hpp"

namespace lissom {

struct ReportedBody {
  std::string name;               // that its files begin with
  std::string title;              // with the case that it belongs to
  std::filesystem::path folder;   // of its files
  const nlohmann::json* summary;  // never null
  // where they are known without their files
  CsvText coordinates;
  std::shared_ptr<const GcmsFile> gcms;
};

// The file that ends so among the body's "files"; empty where there is none.
std::filesystem::path file_of(const ReportedBody& body, const std::string& ending);

// Views of modes among the body's "files": of the whole body, or of the reduced one
// (NAME_free_modes.view.h5).
nlohmann::json view_files(const ReportedBody& body, bool reduced);

void report_reductions(ReportDraft& draft, const std::vector<ReportedBody>& bodies);
void report_component_modes(ReportDraft& draft, const std::vector<ReportedBody>& bodies);

}  // namespace lissom
