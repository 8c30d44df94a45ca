// lissom schema: the keys of study files, for editors and as the reference page.
#include <nlohmann/json.hpp>

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/io/study_json_schema.hpp"
#include "lissom/io/study_page.hpp"

namespace lissom::app {

namespace {

void print_schema(bool markdown, Command& command) {
  if (markdown) {
    command.text = study_page();
    command.json = {{"markdown", command.text}};
    return;
  }
  const nlohmann::ordered_json schema = study_json_schema();
  command.text = schema.dump(1) + "\n";
  command.json = nlohmann::json::parse(schema.dump());
}

}  // namespace

Verb schema_verb() {
  const auto markdown = std::make_shared<bool>(false);
  return {.name = "schema",
          .summary = "Print the JSON Schema of study files, for editors",
          .footer = "Example:\n  lissom schema > study.schema.json",
          .arguments = {flag("--markdown", *markdown, "Print the reference page of study files instead")},
          .run = [markdown](Command& command) { print_schema(*markdown, command); },
          .has_work = false};
}

}  // namespace lissom::app
