// Flags that several verbs share.
#pragma once

#include <filesystem>

#include "apps/lissom/verb.hpp"

namespace lissom {
struct BodySpec;
struct MechanismInput;
struct ResumeOptions;
struct StudySetting;
}  // namespace lissom

namespace lissom::app {

// A study, by its place.
Argument study_argument(std::string& target, std::string meaning = "The study file (.toml)");
Argument out_folder(std::filesystem::path& target,
                    std::string meaning = "Folder for the results (default: NAME.out)");
Argument case_flag(std::string& target);
// --trust-geometry, of all verbs that read meshes.
Argument geometry_flag();
// Of verbs that simulate: --resume and --checkpoint.
Arguments resume_flags(ResumeOptions& options);
// --set KEY=VALUE. Throws InputError where that is given otherwise.
Argument set_flag(std::vector<StudySetting>& settings);
// Which mechanism a verb works on: FILE, --case, --study, --set, --strict.
Arguments mechanism_flags(MechanismInput& mechanism);
Argument strict_flag(MechanismInput& mechanism);
Argument rom_study_flag(MechanismInput& mechanism, const std::string& what);

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
