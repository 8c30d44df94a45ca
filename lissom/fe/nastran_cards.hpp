// The lowest layer of the Nastran reader: from bytes to bulk-data cards. Knows lines, fields, continuations,
// INCLUDE and the sections of a file, but no card's meaning (that is read_nastran.cpp).
//
// A line holds ten fields: the card's name, eight data fields and a continuation mark. In small format they
// are 8 columns wide; in large format (NAME*, and * in front of continuations) 16 columns, four to a line; in
// free format they are separated by commas. A card goes on with every following line whose first field is
// blank or begins with + or *.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom {

// One card with all its continuations. fields[0] is the field after the name (Nastran's field 2); marks of
// continuation are gone, so that fields[8] is the first one of the second (small) line.
struct NastranCard {
  std::string name;                      // upper case, without *
  std::vector<std::string_view> fields;  // trimmed; valid until the next card is read
  SourcePos pos;                         // of the card's first line

  // A field, empty where it is blank or beyond the card's end.
  std::string_view operator[](size_t i) const { return i < fields.size() ? fields[i] : std::string_view(); }
  // The fields from the i-th on.
  std::span<const std::string_view> from(size_t i) const {
    return i < fields.size() ? std::span(fields).subspan(i) : std::span<const std::string_view>();
  }
};

// SET n = ... of the case control section; it does not say what its numbers are numbers of.
struct NastranCaseSet {
  long id = 0;
  std::string text;  // what stands behind the equals sign, all lines joined, upper case
  SourcePos pos;
};

// Reads card by card. `bytes` must outlive the reader.
class NastranCards {
 public:
  NastranCards(std::string_view bytes, const std::string& path, const FileLoader& load,
               Diagnostics& diagnostics);

  // The next card; false after the last one or at ENDDATA. Throws InputError for lines that are no card, for
  // continuations without one, and for files that cannot be included.
  bool next(NastranCard& card);

  // The case control's sets, complete once the first card was read.
  const std::vector<NastranCaseSet>& case_sets() const { return case_sets_; }

 private:
  bool next_line(std::string_view& line);
  void hold() { held_ = true; }
  void include(std::string_view line);
  void open(const std::string& path, std::string_view bytes);
  void skip_case_control();
  void read_case_set(std::string_view line);
  void append(std::string_view line, NastranCard& card);
  void append_free(std::string_view line, NastranCard& card);
  void append_fixed(std::string_view line, NastranCard& card);
  bool begin_line(std::string_view first, NastranCard& card);
  SourcePos pos() const;

  const FileLoader& load_;
  Diagnostics& diagnostics_;
  std::vector<LineReader> readers_;   // the file and, above it, what it includes
  std::deque<std::string> texts_;     // bytes of included files; cards point into them
  std::deque<std::string> expanded_;  // lines of the present card whose tabs were expanded
  std::vector<NastranCaseSet> case_sets_;
  std::string_view line_;  // returned last by next_line()
  SourcePos line_pos_;
  bool held_ = false;      // line_ is to be returned again
  bool in_bulk_ = false;   // behind BEGIN BULK
  bool began_ = false;     // BEGIN BULK was there, so ENDDATA is expected
  bool ended_ = false;     // behind ENDDATA
  int large_lines_ = 0;    // of the present card, to know whether its row of eight is half full
  std::string_view mark_;  // field 10 of the card's last line
};

}  // namespace lissom
