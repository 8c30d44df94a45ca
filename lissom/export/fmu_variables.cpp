#include "lissom/export/fmu_variables.hpp"

#include <fmt/format.h>

#include <set>

#include "lissom/export/c_writer.hpp"
#include "lissom/export/export_text.hpp"

namespace lissom {

namespace {

// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::string& text, std::uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace

FmuNames fmu_names(const ExportModel& model, int version) {
  FmuNames names;
  names.identifier = "lissom_" + model.name;
  names.upper = names.identifier;
  for (char& c : names.upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const CFiles files = c_files(model);
  const std::string all = fmt::format("FMI {}", version) + files.header + files.source;
  const std::uint64_t a = hash_of(all, 14695981039346656037ULL), b = hash_of(all, 1469598103934665603ULL ^ a);
  names.token = fmt::format("{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}", a >> 32, a >> 16 & 0xffff, a & 0xffff,
                            b >> 48, b & 0xffffffffffffULL);
  return names;
}

std::vector<FmuVariable> fmu_variables(const ExportModel& model) {
  std::vector<FmuVariable> list;
  std::set<std::string> taken;
  const auto add = [&](std::string name, const std::string& unit, const std::string& meaning,
                       FmuVariableKind kind, double start, double nominal = 0) {
    while (!taken.insert(name).second) name += "_";
    list.push_back({name, unit, meaning, kind, start, nominal});
  };
  using Kind = FmuVariableKind;
  // names that users gave are kept as they are: others make way
  for (const RomChannel& one : model.inputs) taken.insert(one.name);
  for (const RomChannel& one : model.outputs) taken.insert(one.name);
  const int n = model.states();
  add("time", "s", "", Kind::Time, 0);
  for (int i = 0; i < n; ++i)
    add(fmt::format("x[{}]", i + 1), "",
        model.linear ? "deviation from the operating point"
                     : (i < n / 2 ? fmt::format("coordinate {}", i + 1)
                                  : fmt::format("rate of coordinate {}", i + 1 - n / 2)),
        Kind::State, model.start[i], model.state_scale[i]);
  for (int i = 0; i < n; ++i) add(fmt::format("der(x[{}])", i + 1), "", "", Kind::Rate, 0);
  taken.clear();
  for (const FmuVariable& one : list) taken.insert(one.name);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    double start = 0;
    for (size_t k = 0; k < model.drives[i].functions.size(); ++k)
      if (model.drives[i].weights[k] != 0)
        start += model.drives[i].weights[k] * model.drives[i].functions[k](0);
    add(model.inputs[i].name, model.inputs[i].unit, "until it is set it is what the study says", Kind::Input,
        start);
  }
  for (const RomChannel& one : model.outputs) add(one.name, one.unit, "", Kind::Output, 0);
  for (const ExportParameter& one : model.parameters)
    add(one.name, one.unit, one.meaning, Kind::Parameter, one.value);
  add("step", "s", "step of co-simulation within a communication step", Kind::Parameter, model.step);
  list.back().positive = true;
  return list;
}

}  // namespace lissom
