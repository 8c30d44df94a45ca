#include "lissom/fe/nastran_cards.hpp"

#include <algorithm>
#include <filesystem>

#include "lissom/core/include_chain.hpp"

namespace lissom {

namespace {

// includes inside includes, and included files altogether; far beyond what people write, and small enough to
// stop a file that includes itself under another name
constexpr size_t max_depth = 16;
constexpr size_t max_card_files = 1000;
// lines over which one INCLUDE statement may be split
constexpr int max_include_lines = 32;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_comment(std::string_view line) {
  return line.substr(0, line.find('$'));
}

// "INCLUDE" as a word of its own at the start of a line.
bool is_include(std::string_view trimmed) {
  constexpr size_t n = 7;
  if (!istarts_with(trimmed, "INCLUDE")) return false;
  return trimmed.size() == n || is_blank(trimmed[n]) || trimmed[n] == '\'' || trimmed[n] == '"' ||
         trimmed[n] == '=';
}

// BEGIN BULK, BEGIN SUPER=n, or BEGIN alone.
bool is_begin(std::string_view line) {
  const std::string_view text = trim(line);
  return istarts_with(text, "BEGIN") && (text.size() == 5 || !is_letter(text[5]));
}

// Whether anything stands in front of the bulk data (BEGIN BULK itself may be in an included file, but not
// CEND). The search ends at the first GRID, which no other section has, so that a large file of bulk data
// alone is not gone through twice.
bool has_case_control(std::string_view bytes) {
  LineReader reader(bytes, "");
  std::string_view line;
  while (reader.next(line)) {
    if (is_begin(line) || iequals(trim(line), "CEND")) return true;
    if (istarts_with(line, "GRID")) return false;
  }
  return false;
}

// The first field: up to a comma, a tab or the eighth column.
std::string_view first_field(std::string_view line) {
  const size_t comma = line.find(',');
  if (comma != std::string_view::npos) return trim(line.substr(0, comma));
  return trim(line.substr(0, std::min<size_t>(8, line.find('\t'))));
}

bool is_continuation(std::string_view line) {
  const std::string_view field = first_field(line);
  return field.empty() || field.front() == '+' || field.front() == '*';
}

// Field 10 and field 1 of the next line, without their + or *.
std::string_view bare_mark(std::string_view mark) {
  if (!mark.empty() && (mark.front() == '+' || mark.front() == '*')) mark.remove_prefix(1);
  return trim(mark);
}

}  // namespace

NastranCards::NastranCards(std::string_view bytes, const std::string& path, const FileLoader& load,
                           Diagnostics& diagnostics)
    : load_(load), diagnostics_(diagnostics) {
  // editors on Windows may put a byte-order mark in front
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  in_bulk_ = !has_case_control(bytes);
  open(path, bytes);
}

void NastranCards::open(const std::string& path, std::string_view bytes) {
  readers_.emplace_back(bytes, path);
}

SourcePos NastranCards::pos() const {
  return line_pos_;
}

// The next line that is neither blank nor comment nor INCLUDE, without its comment.
bool NastranCards::next_line(std::string_view& line) {
  if (held_) {
    held_ = false;
    line = line_;
    return true;
  }
  while (!readers_.empty()) {
    std::string_view raw;
    if (!readers_.back().next(raw)) {
      readers_.pop_back();
      continue;
    }
    const std::string_view text = without_comment(raw);
    const std::string_view trimmed = trim(text);
    if (trimmed.empty()) continue;
    // the file name is assigned only when it changes: this runs once a line
    line_pos_.line = readers_.back().line();
    if (line_pos_.file != readers_.back().file()) line_pos_.file = readers_.back().file();
    if (is_include(trimmed)) {
      include(raw);
      continue;
    }
    line_ = line = text;
    return true;
  }
  return false;
}

// INCLUDE 'path', "path" or path; a quoted path may be split over lines, whose blanks at either end do not
// count.
void NastranCards::include(std::string_view line) {
  const SourcePos where = pos();
  std::string_view rest = trim(trim(line).substr(7));
  if (!rest.empty() && rest.front() == '=') rest = trim(rest.substr(1));
  std::string name;
  const char quote = rest.empty() ? '\0' : rest.front();
  if (quote == '\'' || quote == '"') {
    rest.remove_prefix(1);
    size_t end = rest.find(quote);
    for (int lines = 1; end == std::string_view::npos; ++lines) {
      name += trim(rest);
      if (lines == max_include_lines || !readers_.back().next(rest))
        fail_input(where, "INCLUDE: the quote {} is not closed", quote);
      end = rest.find(quote);
    }
    name += trim(rest.substr(0, end));
  } else {
    name = trim(without_comment(rest));
  }
  if (name.empty()) fail_input(where, "INCLUDE names no file, expected INCLUDE 'file'");

  // a path written on Windows has backslashes
  std::replace(name.begin(), name.end(), '\\', '/');
  std::filesystem::path path(name);
  if (path.is_relative()) path = std::filesystem::path(where.file).parent_path() / path;
  path = path.lexically_normal();

  const auto chain = [&] {
    std::vector<std::string> files;
    for (const LineReader& reader : readers_) files.push_back(reader.file());
    files.push_back(path.string());
    return shown_chain(files);
  };
  // files that include themselves, by their own name or through others
  for (const LineReader& reader : readers_)
    if (std::filesystem::path(reader.file()).lexically_normal() == path)
      fail_input(where, "INCLUDE: {} includes itself ({}); take out one of the INCLUDE lines", path.string(),
                 chain());
  if (readers_.size() > max_depth)
    fail_input(where, "INCLUDE: files are included more than {} levels deep ({}); does {} include itself?",
               max_depth, chain(), path.string());
  if (texts_.size() >= max_card_files)
    fail_input(where, "INCLUDE: more than {} files are included ({}); does one include itself?",
               max_card_files, chain());

  try {
    texts_.push_back(load_(path));
  } catch (const InputError& error) {
    fail_input(where, "INCLUDE: {} (paths are relative to the file that includes)", error.what());
  }
  open(path.string(), texts_.back());
}

// Everything in front of BEGIN BULK: only its sets are of use.
void NastranCards::skip_case_control() {
  std::string_view line;
  while (next_line(line)) {
    if (is_begin(line)) {
      in_bulk_ = true;
      hold();
      return;
    }
    const std::string_view text = trim(line);
    if (text.size() > 4 && istarts_with(text, "SET") && is_blank(text[3])) read_case_set(text);
  }
  fail_input(pos(), "the file ends in its case control section; expected BEGIN BULK behind CEND");
}

// SET 5 = 1, 2,
//   5 THRU 10
void NastranCards::read_case_set(std::string_view line) {
  NastranCaseSet set;
  set.pos = pos();
  const size_t equals = line.find('=');
  // SET 5 ALL and the like belong to plots
  if (equals == std::string_view::npos) return;
  const auto id = parse_long(line.substr(3, equals - 3));
  if (!id) return;
  set.id = *id;
  set.text = to_upper(trim(line.substr(equals + 1)));
  while (!set.text.empty() && set.text.back() == ',' && next_line(line)) {
    if (is_begin(line)) {
      hold();
      break;
    }
    set.text += to_upper(trim(line));
  }
  case_sets_.push_back(std::move(set));
}

bool NastranCards::next(NastranCard& card) {
  if (ended_) return false;
  if (!in_bulk_) skip_case_control();
  expanded_.clear();
  card.fields.clear();
  large_lines_ = 0;
  mark_ = {};

  // the first line
  std::string_view line;
  while (true) {
    if (!next_line(line)) {
      if (began_)
        diagnostics_.warn("nastran.no-enddata", "BEGIN BULK has no ENDDATA: is the rest of the file missing?",
                          pos());
      return false;
    }
    if (!is_begin(line)) break;
    began_ = true;
    if (!iequals(trim(trim(line).substr(5)), "BULK"))
      diagnostics_.warn("nastran.begin",
                        fmt::format("'{}' is read as BEGIN BULK: parts of a model are not kept apart",
                                    trim(line).substr(0, 40)),
                        pos());
  }
  std::string_view name = first_field(line);
  if (is_continuation(line))
    fail_input(pos(), "this line continues a card, but there is none before it: '{}'",
               trim(line).substr(0, 40));
  if (name.front() == '=') fail_input(pos(), "cards repeated with '=' are not read; write the cards out");
  if (name.back() == '*') name = trim(name.substr(0, name.size() - 1));
  const bool is_name =
      !name.empty() && name.size() <= 8 && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
  if (!is_name)
    fail_input(pos(),
               "expected the name of a card in the first field, found '{}'; fields are 8 columns wide (16 "
               "behind NAME*) or separated by commas",
               first_field(line).substr(0, 40));
  card.name = to_upper(name);
  card.pos.line = line_pos_.line;
  if (card.pos.file != line_pos_.file) card.pos.file = line_pos_.file;
  if (card.name == "ENDDATA") {
    ended_ = true;
    return false;
  }

  // the lines that continue it
  append(line, card);
  while (next_line(line)) {
    if (!is_continuation(line)) {
      hold();
      break;
    }
    append(line, card);
  }
  return true;
}

void NastranCards::append(std::string_view line, NastranCard& card) {
  if (line.find(',') != std::string_view::npos)
    append_free(line, card);
  else
    append_fixed(line, card);
}

// Takes the first field of a line and says whether the line is of large format.
bool NastranCards::begin_line(std::string_view first, NastranCard& card) {
  const bool continues = !card.fields.empty();
  const bool large = !first.empty() && (continues ? first.front() == '*' : first.back() == '*');
  // a line may be continued by any that follows; where both marks are written and differ, the file may be one
  // of those, long out of use, whose lines stand in any order
  const std::string_view expected = bare_mark(mark_), found = bare_mark(first);
  if (continues && !expected.empty() && !found.empty() && expected != found)
    diagnostics_.warn("nastran.continuation",
                      fmt::format("the card is to be continued at '{}' but this line is marked '{}'; it is "
                                  "taken as the continuation of the card before it",
                                  mark_, first),
                      pos());
  // a small line always begins a row of eight, of which a large line fills half
  if (!large && large_lines_ % 2 == 1) {
    card.fields.resize(card.fields.size() + 4);
    large_lines_ = 0;
  }
  large_lines_ += large;
  return large;
}

void NastranCards::append_free(std::string_view line, NastranCard& card) {
  // the first field, and with it the number of data fields
  size_t comma = line.find(',');
  const std::string_view first = trim(line.substr(0, comma));
  const size_t width = begin_line(first, card) ? 4 : 8;

  // the others
  const size_t begin = card.fields.size();
  while (comma != std::string_view::npos) {
    line.remove_prefix(comma + 1);
    comma = line.find(',');
    card.fields.push_back(trim(line.substr(0, comma)));
  }
  while (card.fields.size() > begin + width + 1 && card.fields.back().empty()) card.fields.pop_back();
  const size_t count = card.fields.size() - begin;
  mark_ = {};
  if (count <= width) {
    card.fields.resize(begin + width);
  } else if (count == width + 1) {
    // what stands in the place of the mark is none if it is a number
    mark_ = card.fields.back();
    card.fields.pop_back();
    if (parse_double(mark_) && mark_.front() != '+')
      diagnostics_.warn(
          "nastran.field-10",
          fmt::format("'{}' stands in the last field, which marks continuations, and is not read "
                      "as data",
                      mark_),
          pos());
  } else {
    // everything on one line, as some programs write it
    diagnostics_.warn("nastran.long-line",
                      fmt::format("the line has more than {} data fields; all are read", width), pos());
    if (card.fields.back().front() == '+' || card.fields.back().front() == '*') {
      mark_ = card.fields.back();
      card.fields.pop_back();
    }
  }
}

void NastranCards::append_fixed(std::string_view line, NastranCard& card) {
  // tabs lead to the next multiple of eight columns
  if (line.find('\t') != std::string_view::npos) {
    std::string& text = expanded_.emplace_back();
    for (char c : line) {
      if (c != '\t')
        text += c;
      else
        text.resize((text.size() / 8 + 1) * 8, ' ');
    }
    line = text;
  }
  const size_t width = begin_line(trim(line.substr(0, 8)), card) ? 16 : 8;
  for (size_t column = 8; column < 72; column += width)
    card.fields.push_back(column < line.size() ? trim(line.substr(column, width)) : std::string_view());
  mark_ = line.size() > 72 ? trim(line.substr(72, 8)) : std::string_view();
}

}  // namespace lissom
