// Two results side by side, of this program or another.
#pragma once

#include <map>

#include "lissom/study/compare.hpp"
#include "lissom/study/job.hpp"

namespace lissom {

struct CompareJob {
  std::filesystem::path a, b;                  // see read_compared(); a is the reference
  std::optional<UnitSystem> units_a, units_b;  // of tables
  CompareOptions options;
  std::filesystem::path out;  // folder for differences.csv and comparison.json; empty: none
};
struct CompareResult : JobResult {
  Comparison comparison;
};
// Throws InputError like read_compared(), compare() and check_compared().
CompareResult run_compare_job(const CompareJob& job, JobContext& context);

}  // namespace lissom
