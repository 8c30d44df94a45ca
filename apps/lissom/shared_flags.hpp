// Flags that several verbs share.
#pragma once

#include "apps/lissom/verb.hpp"

namespace lissom {
struct BodySpec;
struct MechanismInput;
struct ResumeOptions;
struct StudyInput;
struct StudySetting;
}  // namespace lissom

namespace lissom::app {

// A study, by its place.
Argument study_argument(std::string& target, std::string meaning = "The study file (.toml)");
Argument out_folder(std::string& target, std::string meaning = "Folder for the results (default: NAME.out)");
Argument case_flag(std::string& target);
// --trust-geometry, of all verbs that read meshes.
Argument geometry_flag();
// Of verbs that simulate: --resume and --checkpoint.
Arguments resume_flags(ResumeOptions& options);

// Of verbs that work on a mechanism: --set KEY=VALUE and --strict.
struct SettingFlags {
  std::vector<std::string> set;
  bool strict = false;
  // Throws InputError where one is not KEY=VALUE.
  std::vector<StudySetting> settings() const;
};
Arguments setting_flags(SettingFlags& flags);
// --set alone.
Argument set_flag(SettingFlags& flags);

// Which mechanism a verb works on.
struct MechanismFlags {
  std::string file, study, case_name;
  SettingFlags settings;
  // Throws InputError like SettingFlags::settings().
  MechanismInput input() const;
};
Arguments mechanism_flags(MechanismFlags& flags);

// What a body is: FILE, --material, --units, --mass-matrix and so on.
struct BodyFlags {
  std::string file;
  std::string material, units = "SI", mesh;
  std::string mass_matrix, dofs, stiffness_name, mass_name;
  bool permit_massless = false, drop_empty_rows = false;
  bool skip_elements = false;
  double mesh_size = 0;
  int mesh_order = 2;
  std::string mass;  // empty: consistent, or that of the matrices
};
Arguments body_flags(BodyFlags& flags);
// Throws InputError naming the flag.
BodySpec body_spec(const BodyFlags& flags);

Argument units_flag(const std::string& name, std::string& target, std::string meaning);

}  // namespace lissom::app
