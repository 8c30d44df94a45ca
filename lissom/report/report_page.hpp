// A report as one HTML file that needs nothing else: texts, tables, figures and moving pictures, with the
// libraries that draw them inlined. docs/reference/report-page.md says what the page holds; change the two
// together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/view_file.hpp"

namespace lissom {

// What is shown, and the number behind it where there is one, which the page keeps with all digits.
struct ReportValue {
  std::string text;
  std::optional<double> value;
  ReportValue() = default;
  ReportValue(std::string shown) : text(std::move(shown)) {}
  ReportValue(const char* shown) : text(shown) {}
  ReportValue(std::string shown, double number) : text(std::move(shown)), value(number) {}
};
// With the digits asked for, and a unit behind it: "1.23e-05 m"; "-" where it is no finite number.
ReportValue report_number(double value, int digits = 4, const std::string& unit = "");

struct ReportText {
  std::string text;  // a paragraph
};
struct ReportCode {
  std::string text;  // commands, or an output of fixed width
};
struct ReportFacts {
  std::vector<std::pair<std::string, ReportValue>> rows;
};
struct ReportTable {
  std::string id;       // unique on the page; files that are exported are called so
  std::string caption;  // may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<ReportValue>> rows;
};

struct ReportSeries {
  enum class Style : std::uint8_t { Line, Dashed, Points, LinePoints };
  std::string name;
  std::vector<double> x, y;  // not finite: a gap
  Style style = Style::Line;
};
struct ReportMark {
  bool vertical = true;
  double at = 0;
  std::string label;
};
struct ReportAxis {
  std::string label;  // with its unit: "time [s]"
  bool log = false;   // at first; the reader may change it
};
struct ReportFigure {
  std::string id, title, caption;
  ReportAxis x, y;
  std::vector<ReportSeries> series;
  std::vector<ReportMark> marks;
};

// A number for each pair of a row and a column, shown as colours.
struct ReportMatrix {
  std::string id, title, caption;
  std::string row_label, column_label;  // what rows and columns are
  std::string value_label;              // what the numbers are, with their unit
  std::vector<std::string> rows, columns;
  std::vector<double> values;  // row by row; not finite: no colour
  double low = 0, high = 1;    // ends of the scale of colours, low < high; beyond them the colour stays
  bool log = false;            // colours by the logarithm; low > 0
  // Rows and columns, counted from 0, that stand out, and why.
  std::vector<size_t> marked_rows, marked_columns;
  std::string mark;
};

// One or several motions of one mechanism (full and reduced), or modes.
struct ReportView {
  std::string id, title, caption;
  struct Run {
    std::string label;
    std::shared_ptr<const View> view;
  };
  std::vector<Run> runs;             // the first one is shown, others beside or over it
  std::vector<ReportFigure> curves;  // of the views' sensors, by ViewSensor::name == ReportFigure::title
  std::vector<std::string> left_out = {};  // labels of runs that had to go, to keep the page small
};

struct ReportDetails;  // folded until it is asked for
using ReportBlock = std::variant<ReportText, ReportCode, ReportFacts, ReportTable, ReportFigure, ReportMatrix,
                                 ReportView, ReportDetails>;
struct ReportDetails {
  std::string title;
  std::vector<ReportBlock> blocks;
};

struct ReportSection {
  std::string id, title;
  std::string lead;  // what is to be seen here, in a sentence or two; may be empty
  std::vector<ReportBlock> blocks;
};

// What a reader looks at first.
struct ReportCard {
  enum class Mood : std::uint8_t { Plain, Good, Bad };
  std::string label;
  ReportValue value;
  std::string note;  // small, below; may be empty
  Mood mood = Mood::Plain;
};

struct ReportPage {
  std::string title, subtitle;
  std::string summary;  // in words, a paragraph: what was computed, how accurate it is, how much faster
  std::vector<ReportCard> cards;
  std::vector<std::string> warnings;
  std::vector<ReportSection> sections;
  std::string footer;
};

struct PageOptions {
  std::int64_t max_bytes = 20'000'000;  // of the file; views are thinned out to keep to it, and say so
  // Where three.min.js, OrbitControls.js and d3.min.js are (d3 of version 5 or later); empty: $LISSOM_JS, then
  // Debian's folders.
  std::filesystem::path libraries;
};

struct WrittenPage {
  std::int64_t bytes = 0;
  std::vector<std::string> notes;  // what had to be left out to keep to the size
};

// Writes the page under another name and renames it. Without one of the libraries, or with a d3 before
// version 5, figures or views are left out with a warning that says which package has it. Names are escaped.
// Throws Error: the disk.
WrittenPage write_page(const ReportPage& page, const std::filesystem::path& path, Diagnostics& diagnostics,
                       const PageOptions& options = {});

}  // namespace lissom
