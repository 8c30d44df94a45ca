#include "apps/lissom/mechanism.hpp"

namespace lissom::app {

MechanismInput MechanismFlags::input() const {
  MechanismInput input;
  input.main = {file, {}, settings.settings()};
  if (!study.empty()) input.study = StudyInput{study, {}, {}};
  input.case_name = case_name;
  input.strict = settings.strict;
  return input;
}

void add_mechanism_flags(CLI::App& verb, MechanismFlags& flags) {
  verb.add_option("FILE", flags.file, "The study file (.toml), or a reduced mechanism (.rom.h5)")->required();
  verb.add_option("--case", flags.case_name, "This case of the study instead of the study itself")
      ->check(not_empty());
  verb.add_option("--study", flags.study,
                  "Of a reduced mechanism: the loads and sensors of this study in place of its own")
      ->check(not_empty());
  add_setting_flags(verb, flags.settings);
  add_geometry_flag(verb);
}

}  // namespace lissom::app
