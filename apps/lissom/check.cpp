// lissom check: every problem of a study at once, or what it would do.
#include "apps/lissom/command.hpp"
#include "apps/lissom/shared_flags.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/study/check_study.hpp"

namespace lissom::app {

namespace {

struct CheckFlags {
  std::string study;
  std::vector<StudySetting> settings;
  bool quick = false;
};

void run_check(const CheckFlags& flags, Command& command) {
  const StudyCheck check =
      check_study(flags.study, flags.settings, flags.quick, command.diagnostics, command.progress());
  command.text = check.text;
  command.json = {{"problems", check.problems_json()}, {"study", check.summary}};
  if (!check.problems.empty()) command.exit_code = exit_wrong_input;
}

}  // namespace

Verb check_verb() {
  const auto flags = std::make_shared<CheckFlags>();
  return {"check",
          "List every problem of a study, or say what it would do",
          "Example:\n  lissom check study.toml",
          {study_argument(flags->study), set_flag(flags->settings),
           flag("--quick", flags->quick, "Look at the text only, not into meshes and other files"),
           geometry_flag()},
          [flags](Command& command) { run_check(*flags, command); }};
}

}  // namespace lissom::app
