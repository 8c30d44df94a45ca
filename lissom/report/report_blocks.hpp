// Pieces that the parts of a report share: ids, cells of tables, series, views.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/io/csv_table.hpp"
#include "lissom/report/report_parts.hpp"

namespace lissom {

// Letters, digits and hyphens of a name, and a number behind it where the page has this id already.
std::string unique_id(const ReportDraft& draft, const std::string& name);

// A count with all its digits; "" where it is not known.
ReportValue count_cell(double count);
// report_number(), but "" where it is not known.
ReportValue number_cell(double value, int digits = 4);
// "0.093 %" of 0.00093.
std::string percent_text(double fraction);

// Takes out columns that are empty in every row, but never the first.
void drop_empty_columns(ReportTable& table);

// For logarithms, which have no place for zero: what is not above `floor` is a gap. Relative errors below
// rounding_error say nothing and would only stretch the axis.
std::vector<double> positive(std::vector<double> values, double floor = 0);
inline constexpr double rounding_error = 1e-16;
bool any_finite(const std::vector<double>& values);
std::vector<double> numbers_from(double first, size_t count);  // first, first + 1, ..

// Phases of "seconds" of a summary, the longest first, with their share of all.
ReportTable timing_table(const ReportDraft& draft, const nlohmann::json& seconds, const std::string& id,
                         const std::string& caption);

// A table of the run, which must have this column; without rows, and a warning of the report, where it is
// missing or damaged.
CsvText read_report_csv(ReportDraft& draft, const std::filesystem::path& file, const char* column);

// Views among the files of a summary's "files", in `folder`. Those that are not there are passed over,
// damaged ones are warned of.
std::vector<ReportView> report_views(ReportDraft& draft, const nlohmann::json& files,
                                     const std::filesystem::path& folder, const std::string& title,
                                     const std::string& caption);

// Appends blocks: as they are, or folded under a title.
void append(std::vector<ReportBlock>& to, std::vector<ReportBlock> blocks, bool folded,
            const std::string& title);

}  // namespace lissom
