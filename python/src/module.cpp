#include "python/src/module.hpp"

#include <pybind11/stl.h>

#include <filesystem>

#include "lissom/core/error.hpp"
#include "lissom/core/private_folder.hpp"
#include "lissom/core/text.hpp"
#include "lissom/core/units.hpp"
#include "lissom/study/versions.hpp"
#include "python/src/session.hpp"

namespace py = pybind11;

namespace {

// The classes of lissom._errors, with the text that the command line prints.
void raise(const char* name, const std::exception& e) {
  const py::object type = py::module_::import("lissom._errors").attr(name);
  PyErr_SetString(type.ptr(), lissom::printable(e.what()).c_str());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const lissom::InputError& e) {
    raise("InputError", e);
  } catch (const lissom::Error& e) {
    raise("Error", e);
  } catch (const std::filesystem::filesystem_error& e) {
    raise("Error", e);
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  using namespace lissom::python;
  module.doc() = "What the package lissom calls; its classes are the interface, not these.";
  py::register_exception_translator(translate);
  py::class_<Session>(module, "Session")
      .def(py::init<const py::object&, const std::string&>(), py::arg("progress"), py::arg("program") = "")
      .def("warnings", &Session::warnings);
  py::class_<lissom::PrivateFolder>(module, "PrivateFolder")
      .def(py::init<>())
      .def_property_readonly("path",
                             [](const lissom::PrivateFolder& folder) { return folder.path().string(); });
  module.def("versions", &lissom::versions_text);
  module.def("unit_systems", [] {
    std::vector<std::string> names;
    for (const lissom::UnitSystem& units : lissom::unit_systems()) names.push_back(units.name);
    return names;
  });
  add_bodies(module);
  add_runs(module);
  add_jobs(module);
  add_ode(module);
}
