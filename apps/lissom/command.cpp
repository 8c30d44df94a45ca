#include "apps/lissom/command.hpp"

#include <cmath>
#include <csignal>

#include "apps/lissom/numbers.hpp"
#include "lissom/core/child_process.hpp"
#include "lissom/core/text.hpp"
#include "lissom/fe/matrix_reader.hpp"
#include "lissom/io/body_file.hpp"
#include "lissom/io/reduced_body_file.hpp"

namespace lissom::app {

namespace {
volatile std::sig_atomic_t interrupted = 0;
}

ProgressHook Command::progress() {
  if (quiet) return {};
  if (!printer_) printer_ = std::make_unique<ProgressPrinter>();
  return printer_->hook();
}

JobContext Command::context() {
  // from the first time that a job asks; before that Ctrl-C ends the program
  const std::function<bool()> stop = [] {
    static const std::function<bool()> asked = stop_on_interrupt();
    return asked();
  };
  return {diagnostics, progress(), stop, this_program()};
}

void add_common_flags(CLI::App& verb, Command& command) {
  verb.add_flag("--json", command.json_output, "Print the result as JSON on standard output");
  verb.add_flag("-q,--quiet", command.quiet, "No progress on standard error");
}

void add_resume_flags(CLI::App& verb, ResumeFlags& flags) {
  verb.add_flag("--resume", flags.resume,
                "Go on where a run ended that was stopped or killed, or whose disk was full");
  verb.add_option("--checkpoint", flags.checkpoint, "Seconds of computing between checkpoints (default 5)")
      ->check(finite_number(0));
}

void add_set_flag(CLI::App& verb, SettingFlags& flags) {
  verb.add_option(
          "--set", flags.set,
          "KEY=VALUE: a key of the study (bodies.rod.mass=0.3) or a training parameter (mass1=0.3) set "
          "otherwise; may be repeated")
      ->check(not_empty())
      ->allow_extra_args(false);
}

void add_setting_flags(CLI::App& verb, SettingFlags& flags) {
  add_set_flag(verb, flags);
  verb.add_flag("--strict", flags.strict,
                "Refuse parameters outside of what a reduced mechanism was trained on");
}

std::vector<StudySetting> SettingFlags::settings() const {
  std::vector<StudySetting> settings;
  for (const std::string& text : set) try {
      settings.push_back(parse_setting(text));
    } catch (const InputError& e) {
      fail_input("--set: {}", e.what());
    }
  return settings;
}

void add_body_flags(CLI::App& verb, BodyFlags& flags) {
  verb.add_option("FILE", flags.file,
                  "A mesh (.msh .bdf .nas .dat .inp), a geometry (.geo .step .stp .brep .iges), matrices "
                  "(.mtx .sti .pch "
                  ".op4 .mat .h5) or a study (.toml)")
      ->required();
  verb.add_option("--material", flags.material,
                  "For all elements: E=210e9,nu=0.3,rho=7850 (or "
                  "E1=..,E2=..,E3=..,nu12=..,nu13=..,nu23=..,G12=..,G13=..,"
                  "G23=..,rho=..)")
      ->check(not_empty());
  verb.add_option("--units", flags.units,
                  "Units of the file and of --material: SI, mm-t-s, mm-kg-ms, ... (default SI)");
  verb.add_option("--mesh-size", flags.mesh_size, "Element size for a geometry, in its unit of length")
      ->check(positive_number());
  verb.add_option("--mesh-order", flags.mesh_order,
                  "1 linear, 2 quadratic elements for a geometry (default 2)")
      ->check(CLI::Range(1, 2));
  const std::string matrices = "Matrices";
  verb.add_option("--mass-matrix", flags.mass_matrix, "File that holds M, if FILE holds K only")
      ->group(matrices);
  verb.add_option("--stiffness-name", flags.stiffness_name, "Name of K in a file of several matrices")
      ->group(matrices);
  verb.add_option("--mass-name", flags.mass_name, "Name of M in a file of several matrices")->group(matrices);
  verb.add_option("--dofs", flags.dofs,
                  "File that names node and direction of every row, for formats without labels")
      ->group(matrices);
  verb.add_option("--mesh", flags.mesh, "Mesh that gives the coordinates of the nodes")->group(matrices);
  verb.add_flag("--permit-massless", flags.permit_massless, "Accept degrees of freedom without mass")
      ->group(matrices);
  verb.add_flag("--drop-empty-rows", flags.drop_empty_rows, "Remove rows that are zero in K and M")
      ->group(matrices);
}

namespace {

CLI::Validator number(const std::string& expected, const std::function<bool(double)>& good) {
  return CLI::Validator(
      [expected, good](std::string& text) {
        const auto value = parse_double(text);
        return value && std::isfinite(*value) && good(*value)
                   ? std::string()
                   : fmt::format("is '{}', expected {}", text, expected);
      },
      "");
}

}  // namespace

CLI::Validator finite_number(double least, double most) {
  const bool low = least > std::numeric_limits<double>::lowest(),
             high = most < std::numeric_limits<double>::max();
  return number(low && high ? fmt::format("a number from {:g} to {:g}", least, most)
                : low       ? fmt::format("a number of {:g} or more", least)
                            : "a number",
                [least, most](double value) { return value >= least && value <= most; });
}

CLI::Validator positive_number() {
  return number("a positive number", [](double value) { return value > 0; });
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? "is empty, expected a text" : std::string(); }, "");
}

std::function<bool()> stop_on_interrupt() {
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
  });
  return [] { return interrupted != 0; };
}

BodySpec body_spec(const BodyFlags& flags) {
  BodySpec spec;
  const std::filesystem::path path = flags.file;
  spec.name = path.stem().string().empty() ? "body" : path.stem().string();
  spec.units = parse_unit_system(flags.units);
  spec.gmsh.size = flags.mesh_size;
  spec.gmsh.order = flags.mesh_order;
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
