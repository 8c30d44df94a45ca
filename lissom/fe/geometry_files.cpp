// The words of a .geo are split as gmsh's own scanner does (src/parser/Gmsh.l): texts in either quote without
// escapes, // to the end of the line, /* to */. Where that scanner behaves in another way, at a zero byte and
// in texts of more than 1023 characters, the file is refused, so that what is a text or a comment here is one
// there too. One more way is left: loops and macros make gmsh go on at the beginning of a line, whatever that
// line was part of before. So lines that begin within a comment or a text are looked at once more, by
// themselves.
#include "lissom/fe/geometry_files.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "lissom/core/file_kind.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;

constexpr size_t max_geometry_files = 1000;
constexpr size_t max_text = 1000;  // characters; gmsh ends a text after 1023

constexpr const char* advice =
    "if you trust this file, let gmsh have it as it is, where it is, with --trust-geometry";

// Commands that run programs, that write files, or that make names of commands out of texts. Print and Save
// write a file of any name; Plugin and Solver lead to both.
const std::set<std::string_view> forbidden = {"System",
                                              "SystemCall",
                                              "NonBlockingSystemCall",
                                              "OnelabRun",
                                              "OnelabAction",
                                              "StringToName",
                                              "S2N",
                                              "ExternalProcess",
                                              "CommandLine",
                                              "Print",
                                              "Save",
                                              "Plugin",
                                              "Solver",
                                              "Open"};
// Commands that read the file whose name follows.
const std::set<std::string_view> readers = {"Include", "Merge", "MergeWithBoundingBox", "ShapeFromFile",
                                            "ListFromFile"};
// Extensions of what they may read: geometry, which is data, and .geo, which is looked through in turn.
const std::set<std::string_view> data = {".step", ".stp", ".brep", ".iges", ".igs", ".stl"};

struct Word {
  enum class Kind { Name, Text, Sign } kind = Kind::Sign;
  std::string_view text;  // of a text what stands between its quotes
  long line = 0;
};

bool is_one_of(char c, std::string_view list) {
  return list.find(c) != std::string_view::npos;
}
bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Characters of the number that the text begins with: 1, 1., .1, 1e5, 1.5E-3; 0 for none.
size_t number_length(std::string_view text) {
  const auto digits = [&](size_t i) {
    const size_t from = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - from;
  };
  size_t i = digits(0);
  if (i < text.size() && text[i] == '.' && (i > 0 || digits(1) > 0)) i += 1 + digits(i + 1);
  if (i == 0) return 0;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const size_t sign = i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-') ? 1 : 0;
    if (const size_t exponent = digits(i + 1 + sign)) i += 1 + sign + exponent;
  }
  return i;
}

// The words of a .geo, without comments. `hidden` gets the lines that begin within a comment or a text.
std::vector<Word> split_words(std::string_view bytes, const std::string& file,
                              std::vector<Word>* hidden = nullptr) {
  std::vector<Word> words;
  long line = 1;
  const bool strict = hidden != nullptr;  // else a single line, of which anything may be missing
  for (size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    const std::string_view rest = bytes.substr(i);
    size_t length = 1;
    bool closed = false;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
      closed = true;
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos && strict)
        fail_input(SourcePos{file, line}, "a comment without an end");
      length = end == std::string_view::npos ? rest.size() : end + 2;
      closed = true;
    } else if (c == '"' || c == '\'') {
      const size_t end = std::min(rest.find(c, 1), rest.size());
      if (end == rest.size() && strict) fail_input(SourcePos{file, line}, "a text without an end");
      if (end > max_text && strict)
        fail_input(SourcePos{file, line}, "a text of {} characters, expected {} at most", end - 1, max_text);
      words.push_back({Word::Kind::Text, rest.substr(1, end - 1), line});
      length = std::min(end + 1, rest.size());
      closed = true;
    } else if (begins_name(c)) {
      while (length < rest.size() && (begins_name(rest[length]) || is_digit(rest[length]))) ++length;
      words.push_back({Word::Kind::Name, rest.substr(0, length), line});
    } else if (const size_t number = number_length(rest)) {
      length = number;
      words.push_back({Word::Kind::Sign, "0", line});
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      words.push_back({Word::Kind::Sign, rest.substr(0, 1), line});
    }
    const std::string_view passed = rest.substr(0, length);
    if (passed.find('\0') != std::string_view::npos)
      fail_input(SourcePos{file, line}, "a zero byte; a .geo is a text");
    for (size_t k = 0; k < passed.size(); ++k) {
      line += passed[k] == '\n';
      if (!strict || !closed || (passed[k] != '\n' && passed[k] != '\r')) continue;
      // up to the end of the line, beyond that of the comment
      const std::string_view begun = rest.substr(k + 1);
      hidden->push_back({Word::Kind::Text, begun.substr(0, begun.find_first_of("\r\n")), line});
    }
    i += length;
  }
  return words;
}

// Where a branch that is not taken ends, gmsh may go on behind the word in the middle of a longer one.
std::string_view without_keyword(std::string_view name) {
  for (const std::string_view word : {"EndIf", "EndFor", "ElseIf", "Else", "Return"})
    if (name.starts_with(word) && name.size() > word.size()) return name.substr(word.size());
  return name;
}

class GeometryCollector {
 public:
  explicit GeometryCollector(const fs::path& geometry)
      : shown_(geometry.string()), folder_(geometry.parent_path().empty() ? "." : geometry.parent_path()) {
    fs::path name = geometry.filename();
    name.replace_extension(to_lower(name.extension().string()));
    take(name, read_file(geometry));
    // files grow while they are looked through
    for (size_t k = 0; k < files_.size(); ++k)
      if (files_[k].name.extension() == ".geo") look_through(k);
  }

  std::vector<GeometryFile> files() { return std::move(files_); }

 private:
  void take(const fs::path& name, std::string bytes) {
    files_.push_back({name, std::move(bytes)});
    known_.insert(name.string());
  }
  std::string shown(size_t k) const { return k == 0 ? shown_ : (folder_ / files_[k].name).string(); }

  void look_through(size_t k) {
    // the bytes stay where they are, though the list of files grows
    const std::string bytes = files_[k].bytes;
    const std::string file = shown(k);
    std::vector<Word> hidden;
    const std::vector<Word> words = split_words(bytes, file, &hidden);
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].kind != Word::Kind::Name) continue;
      const std::string_view name = without_keyword(words[i].text);
      const SourcePos pos{file, words[i].line};
      if (forbidden.contains(name) && is_command(words, i))
        fail_input(pos,
                   "'{}' can run programs or write files, which the geometry of a stranger must not; take it "
                   "out, or, {}",
                   name, advice);
      if (writes_file(words, i))
        fail_input(pos,
                   "'Printf(...) >' writes a file, which the geometry of a stranger must not; take it out, "
                   "or, {}",
                   advice);
      if (readers.contains(name) && is_command(words, i)) follow(k, words, i, pos);
    }
    for (const Word& begun : hidden) {
      const std::vector<Word> line = split_words(begun.text, file);
      for (size_t i = 0; i < line.size(); ++i)
        if (could_be_command(line, i))
          fail_input(SourcePos{file, begun.line},
                     "'{}' stands in a comment or a text of several lines, where gmsh may yet obey it; take "
                     "it out, or, {}",
                     line[i].text, advice);
    }
  }

  static char sign_at(const std::vector<Word>& words, size_t i) {
    return i < words.size() && words[i].kind == Word::Kind::Sign ? words[i].text[0] : '\0';
  }

  // "Print.Text = 1" is an option and "System = 3" a variable; the options of Solver name programs, and
  // Field[1].CommandLine = "..." is one.
  static bool is_command(const std::vector<Word>& words, size_t i) {
    const std::string_view name = without_keyword(words[i].text);
    if (name == "Solver" || name == "CommandLine") return true;
    return sign_at(words, i + 1) != '.' && sign_at(words, i + 1) != '=';
  }

  // The same in a line that is prose as like as not.
  static bool could_be_command(const std::vector<Word>& words, size_t i) {
    if (words[i].kind != Word::Kind::Name) return false;
    const std::string_view name = without_keyword(words[i].text);
    if (name == "Printf") return writes_file(words, i);
    if (!forbidden.contains(name) && !readers.contains(name)) return false;
    if (name.size() > 8 && forbidden.contains(name)) return true;  // no word of any language
    if (i + 1 >= words.size() || words[i + 1].kind == Word::Kind::Text) return true;
    const char next = sign_at(words, i + 1), after = sign_at(words, i + 2);
    return next == '(' || next == '[' || (next == '\0' && is_one_of(after, ";([~."));
  }

  // Printf("...", ...) > "file"
  static bool writes_file(const std::vector<Word>& words, size_t i) {
    if (without_keyword(words[i].text) != "Printf") return false;
    for (; i < words.size() && sign_at(words, i) != ';'; ++i)
      if (sign_at(words, i) == ')' && sign_at(words, i + 1) == '>') return true;
    return false;
  }

  // Include "a.geo"; ShapeFromFile("a.step")
  void follow(size_t k, const std::vector<Word>& words, size_t i, const SourcePos& pos) {
    const std::string command(words[i].text);
    size_t at = i + 1;
    if (at < words.size() && (words[at].text == "(" || words[at].text == "[")) ++at;
    const bool plain = at + 1 < words.size() && words[at].kind == Word::Kind::Text &&
                       is_one_of(sign_at(words, at + 1), ";)]");
    if (!plain)
      fail_input(pos, "{}: the name of the file is computed; write it in quotes, or, {}", command, advice);
    const fs::path wanted(words[at].text);
    const fs::path name = (files_[k].name.parent_path() / wanted).lexically_normal();
    if (wanted.is_absolute() || name.empty() || *name.begin() == "..")
      fail_input(pos, "{} \"{}\": the file lies outside of the folder of {}; copy it there, or, {}", command,
                 wanted.string(), shown_, advice);
    const std::string extension = name.extension().string();
    const bool numbers = command == "ListFromFile";
    if (!numbers && extension != ".geo" && !data.contains(extension))
      fail_input(pos,
                 "{} \"{}\": gmsh may take a file of this kind for commands; expected .geo, .step, .stp, "
                 ".brep, .iges, .igs or .stl; rename it, or, {}",
                 command, wanted.string(), advice);
    if (known_.contains(name.string()) || !is_there(folder_ / name)) return;  // gmsh says so if it needs it
    if (files_.size() >= max_geometry_files)
      fail_input(pos, "{} \"{}\": more than {} files are included", command, wanted.string(),
                 max_geometry_files);
    // links inside of the folder may lead out of it
    std::error_code ec;
    const fs::path root = fs::canonical(folder_, ec), there = fs::canonical(folder_ / name, ec);
    if (ec)
      fail_input(pos, "{} \"{}\": {}: {}", command, wanted.string(), (folder_ / name).string(), ec.message());
    if (std::mismatch(root.begin(), root.end(), there.begin(), there.end()).first != root.end())
      fail_input(pos, "{} \"{}\": a link leads out of the folder of {}; copy the file there, or, {}", command,
                 wanted.string(), shown_, advice);
    take(name, read_file(there));
  }

  std::string shown_;
  fs::path folder_;
  std::vector<GeometryFile> files_;
  std::set<std::string> known_;
};

}  // namespace

std::vector<GeometryFile> collect_geometry(const fs::path& geometry) {
  return GeometryCollector(geometry).files();
}

}  // namespace lissom
