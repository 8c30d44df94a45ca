// Verbs as data: what each is called, what it is given and what it does. Its parser, its help, the completion
// of shells and the manual page are all made from this.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lissom::app {

struct Command;

// What stands behind a flag or is given by its place. Cases, bodies and settings are those of the study in
// the same command line.
enum class ArgumentKind : std::uint8_t { None, Text, Number, File, Folder, Case, Body, Setting, Choice };

// A flag, or what is given by its place: made by the functions below.
struct Argument {
  std::vector<std::string>
      names;  // "-q", "--quiet"; of what is given by its place one without dashes: "FILE"
  ArgumentKind kind = ArgumentKind::None;
  std::string type;  // what the help shows behind the name: "DIR", "FLOAT"; empty: a flag alone
  std::string meaning;
  std::vector<std::string> choices = {};
  bool required = false;
  bool repeated = false;          // may be given several times, and
  bool several = false;           // one after the other behind one flag
  std::string group = "Options";  // the heading in the help; empty: not shown at all
  std::string shown_default = {};
  std::string excludes = {};  // the flag that does not go with it

  // Says what is wrong with a text; empty: nothing is.
  std::function<std::string(const std::string& text)> check = {};
  // Takes the texts that were given, or of a flag alone that it was given (then there are none).
  std::function<void(const std::vector<std::string>& texts)> take = {};

  bool by_place() const { return !names.front().starts_with('-'); }
  // What completion and the manual page call its value: "DIR", "NUMBER", "WORD"; the name of what is given by
  // its place; empty: a flag alone.
  std::string value() const;
};

// A list in which other lists, such as the flags that several verbs share, stand like single arguments.
struct Arguments : std::vector<Argument> {
  Arguments() = default;
  Arguments(Argument one) { push_back(std::move(one)); }
  Arguments(std::initializer_list<Arguments> parts) {
    for (const Arguments& part : parts) insert(end(), part.begin(), part.end());
  }
};

struct Verb {
  std::string name, summary;
  std::string footer;  // below the flags in the help: details and examples
  Arguments arguments;
  std::function<void(Command&)> run;
  bool listed = true;    // in the help
  bool has_work = true;  // for several threads
};

// `names` of all the following: "--out", or several with commas between: "-q,--quiet".

// A flag alone, which makes the target true, or false.
Argument flag(const std::string& names, bool& target, std::string meaning, bool value = true);
Argument flag(const std::string& names, std::function<void()> given, std::string meaning);

// A text: any, the name of a file or folder, a name that the study has. It may not be empty, which would
// silently mean that the flag was not given.
Argument text_flag(const std::string& names, std::function<void(const std::string&)> take,
                   std::string meaning, ArgumentKind kind);
template <class T>  // a text or a path
Argument text(const std::string& names, T& target, std::string meaning,
              ArgumentKind kind = ArgumentKind::Text) {
  return text_flag(
      names, [&target](const std::string& given) { target = given; }, std::move(meaning), kind);
}
// Several, each called `type` in the help; `several`: one after the other behind one flag.
Argument texts(const std::string& names, std::vector<std::string>& target, std::string type,
               std::string meaning, bool several = false);
Argument texts(const std::string& names, std::function<void(const std::vector<std::string>&)> take,
               std::string type, std::string meaning);
// One of these words; whoever uses it checks that.
Argument choice(const std::string& names, std::string& target, std::vector<std::string> words,
                std::string meaning);

// Given by its place, and required: a file, or one of these words.
template <class T>
Argument input(const std::string& name, T& target, std::string meaning) {
  Argument made = text(name, target, std::move(meaning), ArgumentKind::File);
  made.type = "TEXT";
  made.check = {};
  made.required = true;
  return made;
}
Argument input(const std::string& name, std::string& target, std::vector<std::string> words,
               std::string meaning);

// The numbers that a flag takes: finite ones, all or those of a range.
struct FlagNumbers {
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  bool above_from = false;  // without `from` itself
};
// Plain decimal numbers in that range, and nothing else: no nan, inf, hexadecimal nor octal ones, none too
// large or too small for a double (1e-310 has lost digits). Others are refused with the text found and what
// is expected.
Argument number_flag(const std::string& names, std::function<void(double)> take, std::string meaning,
                     const FlagNumbers& numbers);
Argument whole_number_flag(const std::string& names, std::function<void(int)> take, std::string meaning,
                           int from, int to);

// `target` is a number or an optional one.
template <class T>
Argument number(const std::string& names, T& target, std::string meaning, const FlagNumbers& numbers = {}) {
  return number_flag(
      names, [&target](double value) { target = value; }, std::move(meaning), numbers);
}
template <class T>
Argument whole_number(const std::string& names, T& target, std::string meaning, int from,
                      int to = std::numeric_limits<int>::max()) {
  return whole_number_flag(
      names, [&target](int value) { target = value; }, std::move(meaning), from, to);
}

}  // namespace lissom::app
