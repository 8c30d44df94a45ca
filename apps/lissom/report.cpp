// lissom report: results as one HTML file.
#include "lissom/report/report.hpp"

#include "apps/lissom/command.hpp"
#include "apps/lissom/verbs.hpp"
#include "lissom/core/resources.hpp"

namespace lissom::app {

namespace {

struct ReportFlags {
  std::string run, out;
  double max_size = 20;  // [MB]
};

void report(const ReportFlags& flags, Command& command) {
  ReportOptions options;
  options.page.max_bytes = static_cast<std::int64_t>(flags.max_size * 1e6);
  const WrittenReport written =
      write_report(flags.run, flags.out, command.diagnostics, command.progress(), options);
  command.json = written.summary;
  const auto count = [&](const char* what) { return written.summary.at(what).size(); };
  command.text = fmt::format("{}\n{} sections, {} figures, {} tables, {} views, {} warnings\n",
                             written.summary.at("title").get<std::string>(), count("sections"),
                             count("figures"), count("tables"), count("views"), count("page_warnings"));
  for (const std::string& note : written.page.notes) command.text += note + "\n";
  command.text += fmt::format("wrote {} ({})\n", written.file.string(),
                              format_bytes(static_cast<double>(written.page.bytes)));
}

}  // namespace

Verb report_verb() {
  const auto flags = std::make_shared<ReportFlags>();
  Argument max_size =
      number("--max-size", flags->max_size, "Largest size of the page in MB; pictures are thinned out",
             {.from = 1, .to = 2000});
  max_size.shown_default = fmt::format("{}", flags->max_size);
  return {
      "report",
      "Results as one HTML file that needs nothing else",
      "Examples:\n"
      "  lissom report results\n"
      "  lissom report results/result.h5 --out motion.html\n"
      "  lissom report results --max-size 5 --json",
      {input("RUN", flags->run,
             "A folder that 'lissom run', simulate, train, compare, sweep or another verb has left, or one "
             "file of it (result.h5, *.rom.h5, *.reduced.h5, ...)"),
       text("--out", flags->out,
            "The page (default: report.html in the folder, NAME.report.html beside a file)",
            ArgumentKind::File),
       max_size},
      [flags](Command& command) { report(*flags, command); }};
}

}  // namespace lissom::app
