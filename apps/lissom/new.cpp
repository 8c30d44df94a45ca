// lissom new: a study to begin with.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/atomic_file.hpp"
#include "lissom/core/file_kind.hpp"
#include "lissom/io/new_study.hpp"
#include "lissom/io/study_json_schema.hpp"

namespace lissom::app {

namespace {

namespace fs = std::filesystem;

struct NewFlags {
  std::string name, kind = new_study_kinds().front().name;
  bool list = false;
};

void list_kinds(Command& command) {
  command.json["kinds"] = nlohmann::json::array();
  for (const NewStudyKind& kind : new_study_kinds()) {
    command.text += fmt::format("{:<10}  {}\n", kind.name, kind.meaning);
    command.json["kinds"].push_back({{"name", kind.name}, {"meaning", kind.meaning}});
  }
}

// Where editors find the schema: beside the study.
constexpr const char* schema_file = "study.schema.json";

void make_study(const NewFlags& flags, Command& command) {
  if (flags.list) return list_kinds(command);
  if (flags.name.empty())
    fail_input("a name is expected: lissom new NAME; lissom new --list shows the kinds");
  const fs::path folder(flags.name);
  const std::string name = folder.filename().string();
  if (name.empty() || name == "." || name == ".." || name.front() == '-')
    fail_input("'{}' is no name of a folder that could be made", flags.name);
  if (is_there(folder)) fail_input("'{}' is there already; take another name, or remove it", flags.name);
  auto files = new_study(flags.kind, name, schema_file);
  files.emplace_back(schema_file, study_json_schema().dump(1) + "\n");
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) fail_input("the folder '{}' cannot be made: {}", flags.name, ec.message());
  command.json["files"] = nlohmann::json::array();
  for (const auto& [file, text] : files) {
    AtomicFile out(folder / file);
    out.write(text);
    out.commit();
    command.json["files"].push_back((folder / file).string());
    command.text += fmt::format("wrote {}\n", (folder / file).string());
  }
  const std::string study = (folder / files.front().first).string();
  command.json["study"] = study;
  command.text += fmt::format("\nnext:\n  lissom check {}\n  lissom run {} --out {}\n", study, study,
                              (folder / "results").string());
}

}  // namespace

Verb new_verb() {
  const auto flags = std::make_shared<NewFlags>();
  std::vector<std::string> kinds;
  for (const NewStudyKind& kind : new_study_kinds()) kinds.push_back(kind.name);
  Argument name = input("NAME", flags->name, "The folder that is made, and the study in it");
  name.required = false;
  return {.name = "new",
          .summary = "Write a commented study to begin with",
          .footer = "Example:\n  lissom new pendulum --kind mechanism",
          .arguments = {name,
                        choice("--kind", flags->kind, kinds,
                               "What the study is about (default: " + flags->kind + ")"),
                        flag("--list", flags->list, "List the kinds")},
          .run = [flags](Command& command) { make_study(*flags, command); },
          .has_work = false};
}

}  // namespace lissom::app
