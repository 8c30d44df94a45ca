#include "lissom/study/launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

namespace {

struct Names {
  const char *rank, *size, *local_size;
};

// in this order: srun sets SLURM_* also where an MPI starts processes in its steps
constexpr Names known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                           {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
                           {"PMIX_RANK", "SLURM_NTASKS", nullptr},
                           {"SLURM_PROCID", "SLURM_NTASKS", nullptr}};

}  // namespace

Launch find_launch(const std::function<const char*(const char*)>& variable) {
  const auto number = [&](const char* name, long least) -> std::optional<int> {
    const char* text = name ? variable(name) : nullptr;
    if (!text || !*text) return std::nullopt;
    const auto value = parse_long(text);
    if (!value || *value < least || *value > 10000000)
      fail_input("{}: the environment variable is '{}', expected a number of {} or more", name, text, least);
    return static_cast<int>(*value);
  };
  Launch launch;
  for (const Names& names : known) {
    const auto rank = number(names.rank, 0);
    if (!rank) continue;
    launch.rank = *rank;
    launch.size = std::max(number(names.size, 1).value_or(1), *rank + 1);
    launch.local_size = number(names.local_size, 1).value_or(0);
    if (launch.local_size == 0) {
      const int machines = number("SLURM_JOB_NUM_NODES", 1).value_or(1);
      launch.local_size = (launch.size + machines - 1) / machines;
    }
    break;
  }
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* text = variable(name); text && *text)
      launch.id += fmt::format("{}{}={}", launch.id.empty() ? "" : " ", name, text);
  return launch;
}

Launch find_launch() {
  return find_launch([](const char* name) { return std::getenv(name); });
}

}  // namespace lissom
