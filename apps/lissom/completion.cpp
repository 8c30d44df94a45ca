// lissom completion: scripts with which a shell completes command lines, made from the table of verbs. Names
// of cases, bodies and keys are those of the study in the command line: the scripts ask `lissom complete`.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/text.hpp"

namespace lissom::app {

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The kinds whose words come from the study.
const char* asked_of_study(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Case:
      return "cases";
    case ArgumentKind::Body:
      return "bodies";
    case ArgumentKind::Setting:
      return "keys";
    default:
      return nullptr;
  }
}

// Of a file the extensions that its meaning names, "A mesh (.msh .bdf) or a result.h5": msh, bdf, h5.
std::vector<std::string> extensions_of(const Argument& argument) {
  std::string text = argument.meaning;
  for (char& c : text)
    if (std::string_view("(),;|").find(c) != std::string_view::npos) c = ' ';
  std::vector<std::string> found;
  for (std::string_view name : split_blanks(text)) {
    while (name.ends_with('.')) name.remove_suffix(1);
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos || dot + 1 == name.size()) continue;
    const std::string extension(name.substr(dot + 1));
    if (extension.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.") != std::string::npos) continue;
    if (std::find(found.begin(), found.end(), extension) == found.end()) found.push_back(extension);
  }
  if (found.empty() && argument.value() == "STUDY") found = {"toml"};
  return found;
}

// One call of a function of the script that makes the words for an argument; nothing where there are none to
// offer.
std::string bash_action(const Argument& argument) {
  if (const char* what = asked_of_study(argument.kind)) return fmt::format("_lissom_names {}", what);
  switch (argument.kind) {
    case ArgumentKind::Choice:
      return fmt::format("_lissom_words {}", fmt::join(argument.choices, " "));
    case ArgumentKind::Folder:
      return "_lissom_folders";
    case ArgumentKind::File:
      return fmt::format("_lissom_files {}", fmt::join(extensions_of(argument), " "));
    default:
      return ":";
  }
}

constexpr const char* bash_functions = R"sh(# Completion of lissom for bash: eval "$(lissom completion bash)"
_lissom_words() {
  local word
  for word in "$@"; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
}

_lissom_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

# files with one of these extensions, or all; folders lead to more of them
_lissom_files() {
  local name extension
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do
    if [[ -d $name || $# == 0 ]]; then COMPREPLY+=("$name"); continue; fi
    for extension in "$@"; do [[ $name == *."$extension" ]] && COMPREPLY+=("$name") && break; done
  done < <(compgen -f -- "$cur")
}

# what the study in the command line has: cases, bodies or keys
_lissom_names() {
  local name study= word
  for word in "${COMP_WORDS[@]:2}"; do [[ $word == *.toml ]] && study=$word; done
  [[ $study ]] || return 0
  [[ $1 == keys ]] && compopt -o nospace 2>/dev/null
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] && COMPREPLY+=("$(printf %q "$name")")
  done < <("${COMP_WORDS[0]}" complete "$1" "${study/#\~/$HOME}" 2>/dev/null)
}

_lissom() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} word place=0 i
  COMPREPLY=()
  # bash makes three words of --flag=value
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
)sh";

std::string bash_script(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  for (const Argument& argument : program_flags())
    names.insert(names.end(), argument.names.begin(), argument.names.end());
  std::string values, flags, places;
  for (const Verb& verb : verbs) {
    std::vector<std::string> words, with_value;
    std::string by_place;
    int place = 0;
    for (const Argument& argument : verb.arguments) {
      if (!argument.by_place()) words.insert(words.end(), argument.names.begin(), argument.names.end());
      if (argument.by_place()) {
        // what may be repeated stays for all places behind
        by_place +=
            fmt::format("      \"{} {}\"{}) {} ;;\n", verb.name, place++,
                        argument.repeated ? fmt::format("|\"{} \"*", verb.name) : "", bash_action(argument));
      } else if (argument.kind != ArgumentKind::None) {
        std::vector<std::string> patterns;
        for (const std::string& name : argument.names)
          patterns.push_back(fmt::format("\"{} {}\"", verb.name, name));
        values += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), bash_action(argument));
        with_value.insert(with_value.end(), argument.names.begin(), argument.names.end());
      }
    }
    flags += fmt::format("    {}) flags=\"{}\"; valued=\" {} \" ;;\n", verb.name, fmt::join(words, " "),
                         fmt::join(with_value, " "));
    places += by_place;
  }
  return fmt::format(
      R"sh({}  if (( COMP_CWORD == 1 )); then
    _lissom_words {}
    return
  fi
  # the value of a flag
  case "$verb $prev" in
{}  esac
  # behind --set KEY= there is nothing to offer
  [[ ${{COMP_WORDS[COMP_CWORD-1]}} == "=" || ${{COMP_WORDS[COMP_CWORD]}} == "=" ]] && return
  local flags= valued=
  case "$verb" in
{}  esac
  if [[ $cur == -* ]]; then
    _lissom_words $flags
    return
  fi
  # what is given by its place: count those before
  for ((i = 2; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    if [[ $word == "=" ]]; then ((++i))
    elif [[ $valued == *" $word "* ]]; then [[ ${{COMP_WORDS[i+1]}} == "=" ]] || ((++i))
    elif [[ $word != -* ]]; then ((++place))
    fi
  done
  case "$verb $place" in
{}  esac
}}
complete -F _lissom lissom
)sh",
      bash_functions, fmt::join(names, " "), values, flags, places);
}

// A text inside single quotes, and inside the brackets and between the colons of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh_action(const Argument& argument) {
  // the blank keeps zsh from adding words of its own
  if (const char* what = asked_of_study(argument.kind)) return fmt::format(" _lissom_names {}", what);
  switch (argument.kind) {
    case ArgumentKind::Choice:
      return fmt::format("({})", fmt::join(argument.choices, " "));
    case ArgumentKind::Folder:
      return "_files -/";
    case ArgumentKind::File:
      if (const auto extensions = extensions_of(argument); !extensions.empty())
        return fmt::format("_files -g \"*.({})(-.)\"", fmt::join(extensions, "|"));
      return "_files";
    default:
      return " ";
  }
}

std::vector<std::string> zsh_specs(const std::vector<Argument>& arguments) {
  std::vector<std::string> specs;
  for (const Argument& argument : arguments) {
    const std::string value = argument.kind == ArgumentKind::None
                                  ? ""
                                  : fmt::format(":{}:{}", zsh_text(argument.value()), zsh_action(argument));
    if (argument.by_place()) specs.push_back(fmt::format("'{}{}'", argument.repeated ? "*" : "", value));
    // -q and --quiet exclude each other; what may be repeated excludes nothing
    else
      for (const std::string& name : argument.names)
        specs.push_back(fmt::format(
            "{}'{}{}[{}]{}'",
            argument.repeated ? "'*'" : fmt::format("'({})'", fmt::join(argument.names, " ")), name,
            !value.empty() && name.starts_with("--") ? "=" : "", zsh_text(argument.meaning), value));
  }
  return specs;
}

std::string zsh_script(const std::vector<Verb>& verbs) {
  std::string names, cases;
  for (const Verb& verb : verbs) {
    names += fmt::format("    '{}:{}'\n", verb.name, replaced(verb.summary, "'", "'\\''"));
    cases += fmt::format("        {})\n          _arguments -s {} ;;\n", verb.name,
                         fmt::join(zsh_specs(verb.arguments), " \\\n            "));
  }
  return fmt::format(
      R"sh(#compdef lissom
# Completion of lissom for zsh: in a folder of $fpath as _lissom, or eval "$(lissom completion zsh)" behind compinit

# what the study in the command line has: cases, bodies or keys
_lissom_names() {{
  local study=${{words[(r)*.toml]}}
  local -a found
  [[ -n $study ]] || return 1
  found=(${{(f)"$($_lissom_program complete $1 ${{~study}} 2>/dev/null)"}})
  if [[ $1 == keys ]]; then compadd -S '' -a found; else compadd -a found; fi
}}

_lissom() {{
  local context state line _lissom_program=$words[1]
  local -A opt_args
  local -a verbs
  verbs=(
{}  )
  _arguments -C {} '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb) _describe verb verbs ;;
    argument)
      case $words[1] in
{}      esac ;;
  esac
}}

if [[ $funcstack[1] == _lissom ]]; then _lissom "$@"; else compdef _lissom lissom; fi
)sh",
      names, fmt::join(zsh_specs(program_flags()), " "), cases);
}

}  // namespace

Verb completion_verb() {
  const auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .summary = "Print a script with which a shell completes command lines",
          .footer =
              "Examples:\n"
              "  eval \"$(lissom completion bash)\"\n"
              "  lissom completion zsh > ~/.zfunc/_lissom",
          .arguments = {input("SHELL", *shell, {"bash", "zsh"}, "The shell")},
          .run =
              [shell](Command& command) {
                const std::vector<Verb> verbs = listed_verbs(command);
                command.text = *shell == "bash" ? bash_script(verbs) : zsh_script(verbs);
                command.json = {{"shell", *shell}, {"script", command.text}};
              },
          .has_work = false};
}

}  // namespace lissom::app
