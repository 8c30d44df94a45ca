#include "lissom/export/fmu_writer.hpp"

#include <fmt/ranges.h>
#include <minizip/zip.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/child_process.hpp"
#include "lissom/core/error.hpp"
#include "lissom/core/private_folder.hpp"
#include "lissom/export/c_writer.hpp"
#include "lissom/export/export_text.hpp"
#include "lissom/export/fmu_variables.hpp"

namespace lissom {

namespace {

namespace fs = std::filesystem;
using Kind = FmuVariableKind;

struct BaseUnit {
  const char* unit;
  const char* attributes;
};
constexpr BaseUnit base_units[] = {{"m", "m=\"1\""},
                                   {"m/s", "m=\"1\" s=\"-1\""},
                                   {"m/s2", "m=\"1\" s=\"-2\""},
                                   {"s", "s=\"1\""},
                                   {"1/s", "s=\"-1\""},
                                   {"1/s2", "s=\"-2\""},
                                   {"rad", "rad=\"1\""},
                                   {"kg", "kg=\"1\""},
                                   {"N", "kg=\"1\" m=\"1\" s=\"-2\""},
                                   {"N m", "kg=\"1\" m=\"2\" s=\"-2\""},
                                   {"J", "kg=\"1\" m=\"2\" s=\"-2\""},
                                   {"Pa", "kg=\"1\" m=\"-1\" s=\"-2\""}};

// One has none.
bool has_unit(const FmuVariable& one) {
  return !one.unit.empty() && one.unit != "1";
}

std::string unit_definitions(const std::vector<FmuVariable>& variables) {
  std::set<std::string> used;
  for (const FmuVariable& one : variables)
    if (has_unit(one)) used.insert(one.unit);
  if (used.empty()) return "";
  std::string text = "  <UnitDefinitions>\n";
  for (const std::string& unit : used) {
    std::string base;
    for (const BaseUnit& known : base_units)
      if (unit == known.unit) base = known.attributes;
    text += base.empty() ? fmt::format("    <Unit name=\"{}\"/>\n", xml_text(unit))
                         : fmt::format("    <Unit name=\"{}\"><BaseUnit {}/></Unit>\n", xml_text(unit), base);
  }
  return text + "  </UnitDefinitions>\n";
}

// Attributes that both versions have.
std::string attributes_of(const FmuVariable& one, bool description) {
  std::string text;
  if (description && !one.meaning.empty()) text += fmt::format(" description=\"{}\"", xml_text(one.meaning));
  switch (one.kind) {
    case Kind::Time:
      return text + " causality=\"independent\" variability=\"continuous\"";
    case Kind::State:
      return text + " causality=\"local\" variability=\"continuous\" initial=\"exact\"";
    case Kind::Rate:
      return text + " causality=\"local\" variability=\"continuous\" initial=\"calculated\"";
    case Kind::Input:
      return text + " causality=\"input\" variability=\"continuous\"";
    case Kind::Output:
      return text + " causality=\"output\" variability=\"continuous\" initial=\"calculated\"";
    case Kind::Parameter:
      return text + " causality=\"parameter\" variability=\"fixed\" initial=\"exact\"";
  }
  return text;
}

std::string value_attributes(const FmuVariable& one) {
  std::string text;
  if (has_unit(one)) text += fmt::format(" unit=\"{}\"", xml_text(one.unit));
  if (one.positive) text += " min=\"0\"";
  if (one.kind == Kind::State && one.nominal > 0)
    text += fmt::format(" nominal=\"{}\"", number_text(one.nominal));
  if (one.kind == Kind::State || one.kind == Kind::Input || one.kind == Kind::Parameter)
    text += fmt::format(" start=\"{}\"", number_text(one.start));
  return text;
}

std::string description3(const ExportModel& model) {
  const FmuNames names = fmu_names(model, 3);
  const std::vector<FmuVariable> variables = fmu_variables(model);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{0}\" instantiationToken=\"{1}\" "
      "generationTool=\"Lissom {2}\"\n"
      "    description=\"{3}\" copyright=\"the Lissom authors\" license=\"BSD-3-Clause\" "
      "variableNamingConvention=\"flat\">\n"
      "  <ModelExchange modelIdentifier=\"{4}\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"\n"
      "    providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\"/>\n"
      "  <CoSimulation modelIdentifier=\"{4}\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"\n"
      "    providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\"\n"
      "    canHandleVariableCommunicationStepSize=\"true\"/>\n",
      xml_text(model.title), names.token, model.made.substr(model.made.rfind(' ') + 1),
      xml_text(model.method), names.identifier);
  text += unit_definitions(variables);
  text += "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>\n";
  text += fmt::format(
      "  <DefaultExperiment startTime=\"0\" stopTime=\"{}\" stepSize=\"{}\"/>\n  <ModelVariables>\n",
      number_text(model.end), number_text(model.sample));
  const int n = model.states();
  for (size_t i = 0; i < variables.size(); ++i) {
    const FmuVariable& one = variables[i];
    const std::string state =
        one.kind == Kind::Rate ? fmt::format(" derivative=\"{}\"", static_cast<int>(i) - n) : "";
    text += fmt::format("    <Float64 name=\"{}\" valueReference=\"{}\"{}{}{}/>\n", xml_text(one.name), i,
                        attributes_of(one, true), value_attributes(one), state);
  }
  text += "  </ModelVariables>\n  <ModelStructure>\n";
  for (const auto& [kind, name] :
       {std::pair{Kind::Output, "Output"}, {Kind::Rate, "ContinuousStateDerivative"}})
    for (size_t i = 0; i < variables.size(); ++i)
      if (variables[i].kind == kind) text += fmt::format("    <{} valueReference=\"{}\"/>\n", name, i);
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].kind == Kind::Output || variables[i].kind == Kind::Rate)
      text += fmt::format("    <InitialUnknown valueReference=\"{}\"/>\n", i);
  return text + "  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string description2(const ExportModel& model) {
  const FmuNames names = fmu_names(model, 2);
  const std::vector<FmuVariable> variables = fmu_variables(model);
  const CFiles files = c_files(model);
  const std::string sources = fmt::format(
      "    <SourceFiles>\n      <File name=\"{}\"/>\n      <File name=\"fmi2.c\"/>\n    </SourceFiles>\n",
      files.source_name);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{0}\" guid=\"{1}\" generationTool=\"Lissom {2}\"\n"
      "    description=\"{3}\" copyright=\"the Lissom authors\" license=\"BSD-3-Clause\" "
      "variableNamingConvention=\"flat\"\n"
      "    numberOfEventIndicators=\"0\">\n"
      "  <ModelExchange modelIdentifier=\"{4}\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"\n"
      "    providesDirectionalDerivative=\"true\">\n{5}  </ModelExchange>\n"
      "  <CoSimulation modelIdentifier=\"{4}\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"\n"
      "    providesDirectionalDerivative=\"true\" canHandleVariableCommunicationStepSize=\"true\">\n{5}  "
      "</CoSimulation>\n",
      xml_text(model.title), names.token, model.made.substr(model.made.rfind(' ') + 1),
      xml_text(model.method), names.identifier, sources);
  text += unit_definitions(variables);
  text += "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>\n";
  text += fmt::format(
      "  <DefaultExperiment startTime=\"0\" stopTime=\"{}\" stepSize=\"{}\"/>\n  <ModelVariables>\n",
      number_text(model.end), number_text(model.sample));
  const int n = model.states();
  for (size_t i = 0; i < variables.size(); ++i) {
    const FmuVariable& one = variables[i];
    // counted from one
    const std::string state =
        one.kind == Kind::Rate ? fmt::format(" derivative=\"{}\"", static_cast<int>(i) - n + 1) : "";
    text +=
        fmt::format("    <ScalarVariable name=\"{}\" valueReference=\"{}\"{}><Real{}{}/></ScalarVariable>\n",
                    xml_text(one.name), i, attributes_of(one, true), value_attributes(one), state);
  }
  text += "  </ModelVariables>\n  <ModelStructure>\n";
  const auto unknowns = [&](const char* name, const std::vector<Kind>& kinds) {
    std::string list;
    for (size_t i = 0; i < variables.size(); ++i)
      if (std::find(kinds.begin(), kinds.end(), variables[i].kind) != kinds.end())
        list += fmt::format("      <Unknown index=\"{}\"/>\n", i + 1);
    if (!list.empty()) text += fmt::format("    <{0}>\n{1}    </{0}>\n", name, list);
  };
  unknowns("Outputs", {Kind::Output});
  unknowns("Derivatives", {Kind::Rate});
  unknowns("InitialUnknowns", {Kind::Output, Kind::Rate});
  return text + "  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string build_description(const ExportModel& model) {
  const FmuNames names = fmu_names(model, 3);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
      "  <BuildConfiguration modelIdentifier=\"{0}\">\n    <SourceFileSet language=\"C99\">\n"
      "      <SourceFile name=\"{0}.c\"/>\n      <SourceFile name=\"fmi3.c\"/>\n    </SourceFileSet>\n"
      "    <Library name=\"m\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n",
      names.identifier);
}

std::string documentation(const ExportModel& model, const std::string& summary) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title></head>\n<body>\n<h1>{0}</h1>\n"
      "<p>{1}; {2}.</p>\n<p>All in SI units. An input that is never set is what the study says that it is "
      "over time, so that "
      "the unit by itself repeats the study's run. Co-simulation takes steps of the parameter "
      "<code>step</code> within each "
      "communication step, {3}; a step that does not converge returns an error with a message, and the state "
      "stays "
      "as it was. Model exchange has time events where loads have a kink or a "
      "jump.</p>\n<h2>Variables</h2>\n<table>\n"
      "<tr><th>name</th><th>unit</th><th>start</th><th>meaning</th></tr>\n",
      xml_text(model.title), xml_text(model.method), xml_text(model.made),
      model.linear ? "each of them the exact solution for inputs that are parabolas over it"
                   : fmt::format("by the generalized-alpha method (spectral radius {} at infinite frequency)",
                                 model.rho_inf));
  for (const FmuVariable& one : fmu_variables(model)) {
    if (one.kind == Kind::Time || one.kind == Kind::Rate) continue;
    const char* what = one.kind == Kind::Input    ? "input"
                       : one.kind == Kind::Output ? "output"
                       : one.kind == Kind::State  ? "state"
                                                  : "parameter";
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}{}{}</td></tr>\n", xml_text(one.name),
                        xml_text(one.unit), one.kind == Kind::Output ? "" : number_text(one.start), what,
                        one.meaning.empty() ? "" : ": ", xml_text(one.meaning));
  }
  text += "</table>\n";
  if (!summary.empty())
    text += fmt::format("<h2>The model</h2>\n<pre>{}</pre>\n", [&] {
      std::string lines;
      std::istringstream stream(summary);
      for (std::string line; std::getline(stream, line);) lines += xml_text(line) + "\n";
      return lines;
    }());
  text += "<h2>Licence</h2>\n<pre>";
  for (const std::string& line : licence_lines(model)) text += xml_text(line) + "\n";
  return text + "</pre>\n</body></html>\n";
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file))
      return file.string();
  }
  return "";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

struct Platform {
  std::string name2, name3;            // as the two versions of the standard call it; empty: not known there
  std::vector<std::string> compilers;  // the first one that is there
  std::string extension;
  std::vector<std::string> flags;
};

std::vector<Platform> platforms() {
  utsname machine = {};
  ::uname(&machine);
  const std::string here = machine.machine;
  std::vector<Platform> list;
  const std::vector<std::string> own = {"cc", "gcc", "clang"};
  const auto linux = [&](const std::string& architecture, const std::string& name2) {
    list.push_back({name2,
                    architecture + "-linux",
                    here == architecture ? own : std::vector<std::string>{architecture + "-linux-gnu-gcc"},
                    ".so",
                    {"-fPIC"}});
  };
  linux("x86_64", "linux64");
  linux("aarch64", "");
  list.push_back({"win64", "x86_64-windows", {"x86_64-w64-mingw32-gcc"}, ".dll", {"-static-libgcc"}});
  return list;
}

// Compiles the sources in `folder`; the bytes of the library.
std::string compiled(const fs::path& folder, const std::string& compiler, const Platform& platform,
                     const std::vector<std::string>& sources, const std::string& library) {
  ChildOptions options;
  options.program = compiler;
  options.arguments = {"-std=c99", "-O2", "-shared", "-fvisibility=hidden"};
  options.arguments.insert(options.arguments.end(), platform.flags.begin(), platform.flags.end());
  options.arguments.insert(options.arguments.end(),
                           {"-o", (folder / library).string(), "-I", folder.string()});
  for (const std::string& source : sources) options.arguments.push_back((folder / source).string());
  options.arguments.emplace_back("-lm");
  options.messages = folder / "messages.txt";
  ChildProcess child(options);
  child.wait();
  if (child.exit_code() != 0)
    fail("the FMU cannot be compiled: {} {}: {}", compiler, child.how(), bytes_of(options.messages));
  return bytes_of(folder / library);
}

class ZipWriter {
 public:
  explicit ZipWriter(const fs::path& path)
      : file_(zipOpen64(path.c_str(), APPEND_STATUS_CREATE)), path_(path) {
    if (!file_) fail("{}: cannot be written", path.string());
  }
  ~ZipWriter() {
    if (file_) zipClose(file_, nullptr);
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void add(const std::string& name, const std::string& bytes, bool packed = true) {
    zip_fileinfo info = {};
    // the first day that the format knows, so that the same model makes the same bytes
    info.tmz_date.tm_year = 1980;
    info.tmz_date.tm_mday = 1;
    const int status = zipOpenNewFileInZip64(file_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                             packed ? Z_DEFLATED : 0, packed ? 6 : 0, 0);
    if (status != ZIP_OK ||
        zipWriteInFileInZip(file_, bytes.data(), static_cast<unsigned>(bytes.size())) != ZIP_OK ||
        zipCloseFileInZip(file_) != ZIP_OK)
      fail("{}: cannot be written: '{}'", path_.string(), name);
  }
  void close() {
    const int status = zipClose(file_, nullptr);
    file_ = nullptr;
    if (status != ZIP_OK) fail("{}: cannot be written", path_.string());
  }

 private:
  zipFile file_;
  fs::path path_;
};

}  // namespace

std::string model_description(const ExportModel& model, int version) {
  return version == 2 ? description2(model) : description3(model);
}

FmuReport write_fmu(const fs::path& path, const ExportModel& model, const FmuOptions& options,
                    Diagnostics& diagnostics) {
  LISSOM_ASSERT(options.version == 2 || options.version == 3);
  const CFiles files = c_files(model);
  const FmuNames names = fmu_names(model, options.version);
  const std::string interface = fmt::format("fmi{}.c", options.version);
  const std::vector<std::pair<std::string, std::string>> sources = {
      {files.header_name, files.header},
      {files.source_name, files.source},
      {interface, fmu_source(model, options.version)}};

  FmuReport report;
  std::vector<std::pair<std::string, std::string>> binaries;
  const PrivateFolder folder;
  for (const auto& [name, text] : sources) {
    std::ofstream file(folder.path() / name, std::ios::binary);
    file << text;
    file.close();
    if (!file) fail("{}: cannot be written", (folder.path() / name).string());
  }
  for (const Platform& platform : platforms()) {
    const std::string& name = options.version == 2 ? platform.name2 : platform.name3;
    if (name.empty()) continue;
    std::string compiler;
    for (const std::string& one : platform.compilers)
      if (compiler.empty()) compiler = find_program(one);
    if (compiler.empty()) {
      report.left_out.push_back(fmt::format("{} ({} is not installed)", name, platform.compilers.front()));
      continue;
    }
    const std::string library = names.identifier + platform.extension;
    binaries.emplace_back(
        fmt::format("binaries/{}/{}", name, library),
        compiled(folder.path(), compiler, platform, {files.source_name, interface}, library));
    report.platforms.push_back(name);
  }
  if (binaries.empty())
    diagnostics.warn("export.compiler",
                     fmt::format("the FMU has sources and no binary, because there is no C compiler: {}",
                                 fmt::join(report.left_out, ", ")));

  AtomicFile atomic(path);
  ZipWriter zip(atomic.temporary());
  zip.add("modelDescription.xml", model_description(model, options.version), false);
  for (const auto& [name, bytes] : binaries) zip.add(name, bytes);
  for (const auto& [name, text] : sources) zip.add("sources/" + name, text);
  if (options.version == 3) zip.add("sources/buildDescription.xml", build_description(model));
  zip.add("documentation/index.html", documentation(model, options.summary));
  zip.close();
  atomic.commit();
  return report;
}

}  // namespace lissom
