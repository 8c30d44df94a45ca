// lissom schema: the keys of study files, for editors and as the reference page.
#include "apps/lissom/command.hpp"

#include <nlohmann/json.hpp>
#include "lissom/io/study_json_schema.hpp"
#include "lissom/io/study_page.hpp"

namespace lissom::app {

void add_schema(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("schema", "Print the JSON Schema of study files, for editors");
  auto markdown = std::make_shared<bool>(false);
  verb->add_flag("--markdown", *markdown, "Print the reference page of study files instead");
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom schema > study.schema.json");
  verb->callback([markdown, &command] {
    if (*markdown) {
      command.text = study_page();
      command.json = {{"markdown", command.text}};
      return;
    }
    const nlohmann::ordered_json schema = study_json_schema();
    command.text = schema.dump(1) + "\n";
    command.json = nlohmann::json::parse(schema.dump());
  });
}

}  // namespace lissom::app
