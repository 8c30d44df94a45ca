// Which of several equal processes this one is, where mpirun or srun started them. No MPI: environment
// variables say it.
#pragma once

#include <functional>
#include <string>

namespace lissom {

struct Launch {
  int rank = 0, size = 1;
  int local_size = 1;  // processes on this machine
  std::string id;      // the same for all of them and for no other start; empty where nothing tells
  bool several() const { return size > 1; }
};

// From OMPI_COMM_WORLD_*, PMI_*, PMIX_* or SLURM_*. Throws InputError naming a variable that makes no sense.
Launch find_launch();
// The same with variables given by a function, nullptr for those that there are not.
Launch find_launch(const std::function<const char*(const char*)>& variable);

}  // namespace lissom
