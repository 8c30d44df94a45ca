// libFuzzer target of the text of studies: TOML, includes, parameters with their expressions, numbers with
// units, keys set from outside, and the strict reading by the schema. Any text is taken or refused by an
// InputError; what is taken can be written, and is then the same again. What the values mean is read above
// this, by the *_spec.cpp, which would need most of the library to be linked: `make sanitize` runs those, on
// the corpus of wrong studies.
//
// What stands behind a line of "%%%" is the file that include = "100" names, behind a second one settings as
// --set takes them, a line each.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "lissom/core/text.hpp"
#include "lissom/io/study_keys.hpp"
#include "lissom/io/study_resolve.hpp"
#include "lissom/io/study_schema.hpp"
#include "lissom/io/toml_table.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace lissom;

// Asks for every key that the schema has, as what it is, through all tables.
void read_by_schema(TomlTable table, const TableSchema& schema) {
  std::set<std::string> done;
  for (const KeySchema& key : schema.keys) {
    if (!done.insert(key.name).second) continue;
    Kinds kinds = 0;
    const TableSchema* inner = nullptr;
    for (const KeySchema* one : schema.find(key.name)) {
      kinds |= one->kinds;
      if (one->table) inner = one->table;
    }
    const std::string& name = key.name;
    if (kinds & (kind::text | kind::file | kind::word)) table.text(name);
    if (kinds & kind::number) table.number(name);
    if (kinds & kind::integer) table.integer(name);
    if (kinds & kind::boolean) table.boolean(name);
    if (kinds & kind::vector) table.vector3(name);
    if (kinds & kind::numbers) table.numbers(name);
    if (kinds & kind::integers) table.integers(name);
    if (kinds & (kind::texts | kind::words)) table.texts(name);
    if (kinds & (kind::function | kind::functions | kind::matrix | kind::any)) table.value(name);
    if (!inner) continue;
    if (kinds & kind::table)
      if (auto one = table.table(name)) read_by_schema(*one, *inner);
    if (kinds & kind::tables)
      for (TomlTable& one : table.tables(name)) read_by_schema(one, *inner);
    if (kinds & kind::named_tables)
      for (auto& [own, one] : table.named_tables(name)) read_by_schema(one, *inner);
  }
  table.finish();
}

void read_study(const std::string& text, std::string_view settings, const std::filesystem::path& path) {
  TomlValue root = parse_toml(text, path);
  TomlProblems problems;
  merge_includes(root, path, problems);
  LineReader lines(settings, "");
  for (std::string_view line; lines.next(line);) {
    const StudySetting setting = parse_setting(std::string(line));
    set_study_key(root, setting.key, setting_value(setting.value), problems, {"--set", 0}, setting.key);
    std::string problem;
    study_number(root, setting.key, problem);
  }
  // what results keep is the same study
  const std::string written = write_study(root);
  LISSOM_ASSERT(canonical(parse_toml(written, path)) == canonical(root));
  resolve_numbers(root, path.string(), problems);
  read_by_schema(TomlTable(root, study_schema(), "", path.string(), problems), study_schema());
  problems.throw_if_any();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  static const int number = dup2(file.handle(), 100);
  LISSOM_ASSERT(number == 100);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::string_view parts[3];
  for (std::string_view& part : parts) {
    const size_t end = std::min(rest.find("%%%\n"), rest.size());
    part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 4, rest.size()));
  }
  file.set(parts[1]);
  try {
    read_study(std::string(parts[0]), parts[2], "/proc/self/fd/fuzz.toml");
  } catch (const InputError&) {
    // what a user would be told
  }
  return 0;
}
