#include "apps/lissom/shared_flags.hpp"

#include "lissom/core/text.hpp"
#include "lissom/fe/geometry_trust.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/reduced_body_file.hpp"
#include "lissom/study/mechanism.hpp"

namespace lissom::app {

Argument study_argument(std::string& target, std::string meaning) {
  return input("STUDY", target, std::move(meaning));
}

Argument out_folder(std::filesystem::path& target, std::string meaning) {
  return text("--out", target, std::move(meaning), ArgumentKind::Folder);
}

Argument case_flag(std::string& target) {
  return text("--case", target, "This case of the study instead of the study itself", ArgumentKind::Case);
}

Argument geometry_flag() {
  return flag(
      "--trust-geometry", [] { trust_geometry(true); },
      "Let gmsh run where a geometry (.geo .step .brep .iges) lies, with all that the file may do: run "
      "programs, read and write files");
}

Arguments resume_flags(ResumeOptions& options) {
  return {flag("--resume", options.resume,
               "Go on where a run ended that was stopped or killed, or whose disk was full"),
          number("--checkpoint", options.checkpoint, "Seconds of computing between checkpoints (default 5)",
                 {.from = 0})};
}

Argument set_flag(std::vector<StudySetting>& settings) {
  const auto take = [&settings](const std::vector<std::string>& given) {
    for (const std::string& text : given) try {
        settings.push_back(parse_setting(text));
      } catch (const InputError& e) {
        fail_input("--set: {}", e.what());
      }
  };
  Argument made = texts("--set", take, "KEY=VALUE",
                        "KEY=VALUE: a key of the study (bodies.rod.mass=0.3) or a training parameter "
                        "(mass1=0.3) set otherwise; may be repeated");
  made.kind = ArgumentKind::Setting;
  return made;
}

Argument strict_flag(MechanismInput& mechanism) {
  return flag("--strict", mechanism.strict,
              "Refuse parameters outside of what a reduced mechanism was trained on");
}

Argument rom_study_flag(MechanismInput& mechanism, const std::string& what) {
  return text_flag(
      "--study",
      [&mechanism](const std::string& file) {
        mechanism.study = StudyInput{file, {}, {}};
      },
      "Of a reduced mechanism: the " + what + " of this study in place of its own", ArgumentKind::File);
}

Arguments mechanism_flags(MechanismInput& mechanism) {
  return {input("FILE", mechanism.main.file, "The study file (.toml), or a reduced mechanism (.rom.h5)"),
          case_flag(mechanism.case_name),
          rom_study_flag(mechanism, "loads and sensors"),
          set_flag(mechanism.main.settings),
          strict_flag(mechanism),
          geometry_flag()};
}

Argument units_flag(const std::string& name, std::string& target, std::string meaning) {
  std::vector<std::string> names;
  for (const UnitSystem& system : unit_systems()) names.push_back(system.name);
  return choice(name, target, names, std::move(meaning));
}

Arguments body_flags(BodyFlags& flags) {
  Arguments matrices = {
      text("--mass-matrix", flags.mass_matrix, "File that holds M, if FILE holds K only", ArgumentKind::File),
      text("--stiffness-name", flags.stiffness_name, "Name of K in a file of several matrices"),
      text("--mass-name", flags.mass_name, "Name of M in a file of several matrices"),
      text("--dofs", flags.dofs,
           "File that names node and direction of every row, for formats without labels", ArgumentKind::File),
      text("--mesh", flags.mesh, "Mesh that gives the coordinates of the nodes", ArgumentKind::File),
      flag("--permit-massless", flags.permit_massless, "Accept degrees of freedom without mass"),
      flag("--drop-empty-rows", flags.drop_empty_rows, "Remove rows that are zero in K and M")};
  for (Argument& argument : matrices) argument.group = "Matrices";
  Argument units = units_flag("--units", flags.units,
                              "Units of the file and of --material: SI, mm-t-s, mm-kg-ms, ... (default SI)");
  units.check = {};  // body_spec() says more
  return {input("FILE", flags.file,
                "A mesh (.msh .bdf .nas .dat .inp), a geometry (.geo .step .stp .brep .iges), matrices (.mtx "
                ".sti .pch .op4 .mat .h5) or a study (.toml)"),
          text("--material", flags.material,
               "For all elements: E=210e9,nu=0.3,rho=7850 (or E1=..,E2=..,E3=..,nu12=..,nu13=..,nu23=..,"
               "G12=..,G13=..,G23=..,rho=..)"),
          units,
          number("--mesh-size", flags.mesh_size, "Element size for a geometry, in its unit of length",
                 {.from = 0, .above_from = true}),
          whole_number("--mesh-order", flags.mesh_order,
                       "1 linear, 2 quadratic elements for a geometry (default 2)", 1, 2),
          flag("--skip-elements", flags.skip_elements,
               "Leave out shells, beams, masses, ties and whatever else of a mesh file is not read"),
          geometry_flag(),
          matrices};
}

BodySpec body_spec(const BodyFlags& flags) {
  BodySpec spec;
  const std::filesystem::path path = flags.file;
  spec.name = path.stem().string().empty() ? "body" : path.stem().string();
  spec.units = parse_unit_system(flags.units);
  spec.gmsh.size = flags.mesh_size;
  spec.gmsh.order = flags.mesh_order;
  spec.skip_elements = flags.skip_elements;
  if (!std::filesystem::exists(path)) fail_input("{}: no such file", flags.file);
  if (is_reduced_body_file(path))
    fail_input(
        "{}: is a reduced body, which 'lissom reduce' wrote; expected a mesh, matrices, or a body file",
        flags.file);
  if (is_rom(flags.file))
    fail_input("{}: is a reduced mechanism, which 'lissom simulate' runs and 'lissom inspect' describes",
               flags.file);
  if (is_body_file(path)) {
    spec.body_file = path;
    if (spec.units.name != "SI") fail_input("--units: {} is a body file, which is in SI units", flags.file);
    if (!flags.material.empty())
      fail_input("--material: {} is a body file, which has its material", flags.file);
    if (!flags.mass.empty()) fail_input("--mass: {} is a body file, which has its M", flags.file);
  } else if (is_matrix_file(path)) {
    spec.stiffness = path;
    spec.mass_matrix = flags.mass_matrix;
    spec.dofs = flags.dofs;
    spec.mesh = flags.mesh;
    spec.stiffness_name = flags.stiffness_name;
    spec.mass_name = flags.mass_name;
    spec.permit_massless = flags.permit_massless;
    spec.drop_empty_rows = flags.drop_empty_rows;
    if (!flags.material.empty())
      fail_input("--material: {} holds matrices, which have the material built in", flags.file);
    if (!flags.mass.empty() && flags.mass != "consistent")
      fail_input("--mass: {} holds matrices, M among them", flags.file);
  } else {
    spec.mesh = path;
    const std::pair<const char*, bool> given[] = {{"--mass-matrix", !flags.mass_matrix.empty()},
                                                  {"--stiffness-name", !flags.stiffness_name.empty()},
                                                  {"--mass-name", !flags.mass_name.empty()},
                                                  {"--dofs", !flags.dofs.empty()},
                                                  {"--mesh", !flags.mesh.empty()},
                                                  {"--permit-massless", flags.permit_massless},
                                                  {"--drop-empty-rows", flags.drop_empty_rows}};
    for (const auto& [flag, is_given] : given)
      if (is_given) fail_input("{} goes with a matrix file, and {} is none", flag, flags.file);
  }
  if (!flags.material.empty()) spec.material = parse_material(flags.material);
  const auto mass = mass_kind_from_name(flags.mass.empty() ? "consistent" : flags.mass);
  if (!mass) fail_input("--mass: '{}' is none of consistent, lumped, calculix", flags.mass);
  spec.mass = *mass;
  return spec;
}

}  // namespace lissom::app
