// lissom manual: the manual page lissom(1) in mdoc, made from the table of verbs. Not listed: the
// page is made and installed by the build.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <sstream>

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"

namespace lissom::app {

namespace {

// A text in which no character is one of mdoc's; every sentence begins a line.
std::string text_line(const std::string& text) {
  std::string out;
  if (!text.empty() && (text[0] == '.' || text[0] == '\'')) out = "\\&";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool new_sentence = c == ' ' && i > 0 && text[i - 1] == '.' && i + 1 < text.size() &&
                              std::isupper(static_cast<unsigned char>(text[i + 1])) != 0;
    if (c == '\\')
      out += "\\e";
    else if (new_sentence)
      out += '\n';
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

// A word behind a macro: never taken for a macro itself, nor cut at blanks.
std::string word(const std::string& text) {
  return fmt::format("\"\\&{}\"", [&] {
    std::string out;
    for (const char c : text_line(text)) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out;
  }());
}

std::string choices_of(const Argument& argument) {
  return argument.kind == ArgumentKind::Choice ? fmt::format(" One of {}.", fmt::join(argument.choices, ", "))
                                               : "";
}

// The entry of a flag or argument in a list.
std::string entry_of(const Argument& argument) {
  std::string head = ".It";
  for (size_t i = 0; !argument.by_place() && i < argument.names.size(); ++i) {
    head += fmt::format(" Fl {}", word(argument.names[i].substr(1)));
    if (i + 1 < argument.names.size()) head += " ,";
  }
  if (!argument.value().empty()) head += fmt::format(" Ar {}", word(argument.value()));
  std::string text = argument.meaning;
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return fmt::format("{}\n{}\n", head, text_line(text + choices_of(argument)));
}

// A verb's footer: what is indented are commands, other lines are text.
std::string footer_of(const std::string& footer) {
  std::string out;
  bool literal = false;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    const bool command = line.starts_with("  ");
    if (command && !literal) out += ".Bd -literal -offset indent\n";
    if (!command && literal) out += ".Ed\n";
    if (!command && !line.empty()) out += ".Pp\n";
    literal = command;
    if (!line.empty()) out += text_line(command ? line.substr(2) : line) + "\n";
  }
  return out + (literal ? ".Ed\n" : "");
}

std::string section_of(const Verb& verb) {
  std::string out = fmt::format(".Ss lissom {}\n{}.\n", word(verb.name), text_line(verb.summary));
  out += ".Bl -tag -width Ds\n";
  for (const Argument& argument : verb.arguments) out += entry_of(argument);
  return out + ".El\n" + footer_of(verb.footer);
}

std::string synopsis_of(const Verb& verb) {
  std::string out = fmt::format(".Nm lissom\n.Cm {}\n", word(verb.name));
  for (const Argument& argument : verb.arguments) {
    if (!argument.by_place()) continue;
    out += fmt::format("{} {}{}\n", argument.required ? ".Ar" : ".Op Ar", word(argument.value()),
                       argument.repeated ? " ..." : "");
  }
  return out + ".Op Ar flags\n";
}

// 2026-11-16 as mdoc wants it
std::string date_of(const std::string& iso) {
  static const char* const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
  return fmt::format("{} {}, {}", months[std::stoi(iso.substr(5, 2)) - 1], std::stoi(iso.substr(8, 2)),
                     iso.substr(0, 4));
}

constexpr const char* other_sections = R"(.Sh ENVIRONMENT
.Bl -tag -width Ds
.It Ev OMP_NUM_THREADS
Number of threads.
All cores by default.
.It Ev OMP_WAIT_POLICY
Idle threads sleep;
.Cm active
lets them spin.
.It Ev LISSOM_JS
A folder with three.min.js, OrbitControls.js and d3.min.js (version 5 or later) for reports, looked at
before those of Debian's packages libjs-three and node-d3.
.It Ev NO_COLOR
If not empty, summaries on a terminal have no colours.
.It Ev LC_ALL , LC_CTYPE , LANG
Whether the terminal shows UTF-8.
.It Ev COLUMNS
Width of summaries where the output is no terminal.
.El
.Sh FILES
.Bl -tag -width Ds
.It Pa study.toml
A study: bodies, joints, loads, sensors and what is to be computed.
.It Pa summary.json
Everything that a run found, in numbers.
.It Pa report.html
The same as one page for a browser.
.It Pa result.h5 , sensors.csv
The motion that was simulated.
.It Pa NAME.body.h5 , NAME.reduced.h5
A body and a reduced body.
.It Pa model.rom.h5
A mechanism reduced as a whole.
.El
.Pp
Without
.Fl -out
results go to the folder
.Pa NAME.out
in the current one.
.Sh EXIT STATUS
.Bl -tag -width Ds
.It 0
Done.
.It 1
The computation failed.
.It 2
Wrong input: a file, a flag or a study.
.El
.Pp
Progress and messages go to standard error, results to standard output.
With
.Fl -json
the result is one JSON object; an error is an object with
.Cm error
and
.Cm exit_code .
)";

std::string manual(const std::vector<Verb>& verbs) {
  std::string out = fmt::format(
      ".\\\" made by 'lissom manual' from the definitions of its verbs and flags\n"
      ".Dd {}\n.Dt LISSOM 1\n.Os\n.Sh NAME\n.Nm lissom\n.Nd flexible multibody dynamics and its model-order "
      "reduction\n"
      ".Sh SYNOPSIS\n",
      date_of(LISSOM_DATE));
  for (const Verb& verb : verbs) out += synopsis_of(verb);
  out += fmt::format(".Sh DESCRIPTION\n{}\n.Pp\nFlags that belong to no verb:\n.Bl -tag -width Ds\n",
                     text_line(program_summary));
  for (const Argument& argument : program_flags()) out += entry_of(argument);
  out += ".El\n";
  for (const Verb& verb : verbs) out += section_of(verb);
  out += other_sections;
  out +=
      ".Sh EXAMPLES\n"
      "From a mesh to natural frequencies, and from a study to a small model and its report:\n"
      ".Bd -literal -offset indent\n"
      "lissom modes part.bdf --count 20\n"
      "lissom run study.toml --out results\n"
      "lissom simulate results/model.rom.h5\n"
      ".Ed\n"
      ".Sh SEE ALSO\n"
      ".Xr ccx 1 ,\n.Xr gmsh 1\n";
  return out;
}

}  // namespace

Verb manual_verb() {
  return {.name = "manual",
          .summary = "Print the manual page (mdoc)",
          .footer = "",
          .arguments = {},
          .run =
              [](Command& command) {
                command.text = manual(listed_verbs(command));
                command.json = {{"page", command.text}};
              },
          .listed = false,
          .has_work = false};
}

}  // namespace lissom::app
