#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

using hdf5::Group;

void write_format(Group& root, std::string_view format, int version) {
  root.write_attribute("format", format);
  root.write_attribute("schema_version", std::int64_t{version});
  root.write_attribute("lissom_version", LISSOM_VERSION);
  root.write_attribute("units", "SI");
}

bool has_format(const std::filesystem::path& path, std::string_view format) {
  if (!hdf5::is_hdf5(path)) return false;
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  return root.has_attribute("format") && root.string_attribute("format") == format;
}

void expect_format(const Group& root, const std::filesystem::path& path, std::string_view format,
                   std::string_view called, int newest) {
  const std::string found = root.has_attribute("format") ? root.string_attribute("format") : "";
  if (found != format) {
    // our own files are told apart by name
    const char* other = found == "lissom-body" ? "; it is a body file, not yet reduced: reduce it first"
                        : found == "lissom-reduced-body" ? "; it is a reduced body"
                        : found == "lissom-rom" ? "; it is a reduced mechanism: 'lissom simulate' runs it"
                                                : "";
    fail_input("{}: is an HDF5 file, but not {} (attribute format = \"{}\"){}", path.string(), called, format,
               other);
  }
  const std::int64_t version = root.long_attribute("schema_version");
  if (version > newest)
    fail_input(
        "{}: has schema version {} (written by Lissom {}), this is Lissom {} and reads versions up to {}; "
        "use a newer Lissom",
        path.string(), version,
        root.has_attribute("lissom_version") ? root.string_attribute("lissom_version") : "?", LISSOM_VERSION,
        newest);
  if (version < 1) fail_input("{}: has the unknown schema version {}", path.string(), version);
  if (const std::string units = root.string_attribute("units"); units != "SI")
    fail_input("{}: is in the units '{}', expected SI", path.string(), units);
}

}  // namespace lissom
