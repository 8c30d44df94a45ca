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

void write_vector(Group& group, const char* name, const Eigen::Ref<const Eigen::VectorXd>& values) {
  group.write(name, std::span<const double>(values.data(), static_cast<size_t>(values.size())));
}

Eigen::VectorXd read_vector(const Group& group, const char* name) {
  const hdf5::Shape shape = group.info(name).shape;
  return read_vector(group, name, shape.empty() ? 0 : shape.front());
}

Eigen::VectorXd read_vector(const Group& group, const char* name, std::uint64_t size) {
  expect_shape(group, name, {size});
  const std::vector<double> values = group.read_doubles(name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::string read_text(const Group& group, const char* name) {
  const std::vector<std::string> texts = group.read_strings(name);
  expect_size(group, name, texts, 1);
  return texts.front();
}

}  // namespace lissom
