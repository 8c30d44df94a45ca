// The parts of the module lissom._core, each registered by a file of its own. What users see is the package
// python/lissom, which calls these.
#pragma once

#include <pybind11/pybind11.h>

namespace lissom::python {

void add_bodies(pybind11::module_& module);
void add_jobs(pybind11::module_& module);
void add_runs(pybind11::module_& module);
void add_ode(pybind11::module_& module);

}  // namespace lissom::python
