// The flags that say which mechanism a verb works on.
#pragma once

#include "apps/lissom/command.hpp"
#include "lissom/study/mechanism.hpp"

namespace lissom::app {

struct MechanismFlags {
  std::string file, study, case_name;
  SettingFlags settings;
  // Throws InputError like SettingFlags::settings().
  MechanismInput input() const;
};
void add_mechanism_flags(CLI::App& verb, MechanismFlags& flags);

}  // namespace lissom::app
