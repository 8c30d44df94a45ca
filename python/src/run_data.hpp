// The samples of a run: computed just now, or read from a file.
#pragma once

#include <memory>

#include "lissom/study/simulate.hpp"

namespace lissom::python {

struct RunData {
  std::shared_ptr<const SimulationRun> run;  // one of the two
  std::shared_ptr<const ResultFile> file;
};

}  // namespace lissom::python
