#include "lissom/study/compare_job.hpp"

#include <nlohmann/json.hpp>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/own_file.hpp"

namespace lissom {

CompareResult run_compare_job(const CompareJob& job, JobContext& context) {
  const InputGuard inputs({job.a, job.b});
  if (!job.out.empty())
    for (const char* name : {"differences.csv", "comparison.json"}) expect_replaceable(job.out / name);
  if (context.progress) context.progress("reading", -1);
  const ComparedResult a = read_compared(job.a, job.units_a, context.diagnostics);
  const ComparedResult b = read_compared(job.b, job.units_b, context.diagnostics);
  CompareResult result;
  result.comparison = compare(a, b, job.options, context.progress);
  check_compared(result.comparison, a, b);
  result.text = describe_comparison(result.comparison, a, b);
  result.json = comparison_json(result.comparison);
  result.json["a"] = a.source;
  result.json["b"] = b.source;
  if (job.out.empty()) return result;

  std::error_code ec;
  std::filesystem::create_directories(job.out, ec);
  if (ec) fail("{}: the folder cannot be made: {}", job.out.string(), ec.message());
  result.json["out"] = job.out.string();
  result.json["files"] = {"differences.csv", "comparison.json"};
  AtomicFile file(job.out / "comparison.json");
  file.write(result.json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file.commit();
  // second: the summary beside it says whose table it is
  write_differences(result.comparison, job.out / "differences.csv");
  result.text += fmt::format("wrote {}\nwrote {}\n", (job.out / "differences.csv").string(),
                             (job.out / "comparison.json").string());
  return result;
}

}  // namespace lissom
