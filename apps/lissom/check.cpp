// lissom check: every problem of a study at once, or what it would do.
#include "apps/lissom/command.hpp"
#include "lissom/study/check_study.hpp"

namespace lissom::app {

namespace {

struct CheckFlags {
  std::string study;
  SettingFlags settings;
  bool quick = false;
};

void run_check(const CheckFlags& flags, Command& command) {
  const StudyCheck check = check_study(flags.study, flags.settings.settings(), flags.quick,
                                       command.diagnostics, command.progress());
  command.text = check.text;
  command.json = {{"problems", check.problems_json()}, {"study", check.summary}};
  if (!check.problems.empty()) command.exit_code = exit_wrong_input;
}

}  // namespace

void add_check(CLI::App& program, Command& command) {
  CLI::App* verb = program.add_subcommand("check", "List every problem of a study, or say what it would do");
  auto flags = std::make_shared<CheckFlags>();
  verb->add_option("STUDY", flags->study, "The study file (.toml)")->required();
  add_set_flag(*verb, flags->settings);
  verb->add_flag("--quick", flags->quick, "Look at the text only, not into meshes and other files");
  add_geometry_flag(*verb);
  add_common_flags(*verb, command);
  verb->footer("Example:\n  lissom check study.toml");
  verb->callback([flags, &command] { run_check(*flags, command); });
}

}  // namespace lissom::app
