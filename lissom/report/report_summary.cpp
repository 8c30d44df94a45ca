// What a newcomer reads first.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lissom/core/resources.hpp"
#include "lissom/core/text.hpp"
#include "lissom/report/report_blocks.hpp"
#include "lissom/report/report_json.hpp"
#include "lissom/report/report_parts.hpp"
#include "lissom/report/report_runs.hpp"

namespace lissom {

using nlohmann::json;

namespace {

std::string few(const std::vector<std::string>& names, size_t most = 6) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(most), ", "),
                     names.size() - most);
}

// A fraction of the motion, for people.
std::string share_text(double fraction) {
  return fraction < 1e-6 ? "less than a millionth" : percent_text(fraction);
}

// "1,120", "52.3".
std::string times_text(double factor) {
  return factor >= 1000 ? with_commas(factor) : fmt::format("{:.3g}", factor);
}

// Finite element degrees of freedom that component modes stand for; 0 where nothing was reduced.
double fe_unknowns(const json& bodies) {
  double sum = 0;
  for (const json& body : bodies)
    if (const double n = number_in(part_of(body, "reduce"), "degrees_of_freedom"); std::isfinite(n)) sum += n;
  return sum;
}

double unknowns_of(const ReportRun& run) {
  if (const double n = number_in(run.model, "unknowns"); std::isfinite(n)) return n;
  return number_in(run.simulation, "coordinates") +
         (run.reduced ? 0 : number_in(run.simulation, "constraints"));
}

void reduction_card(ReportPage& page, const json& bodies) {
  int reduced = 0, proven = 0, met = 0;
  double bound = 0, estimate = 0, tolerance = 0;
  for (const json& body : bodies) {
    const json& reduce = part_of(body, "reduce");
    if (!reduce.is_object()) continue;
    const json& largest = part_of(reduce, "largest");
    ++reduced;
    if (part_of(reduce, "certified") == json(true)) ++proven;
    if (part_of(reduce, "reached") == json(true) && number_in(reduce, "tolerance") > 0) ++met;
    tolerance = std::max(tolerance, number_in(reduce, "tolerance"));
    bound = std::max(bound, number_in(largest, "bound"));
    estimate = std::max(estimate, number_in(largest, "zeta_2"));
  }
  if (reduced == 0) return;
  ReportCard card;
  card.label = "Error of the component modes";
  if (proven == reduced && bound > 0) {
    card.value = ReportValue("below " + percent_text(bound), bound);
    card.note = "proven, of the squared natural frequencies in range";
    card.mood = ReportCard::Mood::Good;
  } else if (estimate > 0) {
    card.value = ReportValue("about " + percent_text(estimate), estimate);
    card.note = met == reduced
                    ? fmt::format("estimated; {} were asked for", percent_text(tolerance))
                    : "estimated, of the squared natural frequencies in range; the number of modes "
                      "was given, nothing is proven";
  } else {
    return;
  }
  page.cards.push_back(std::move(card));
}

std::string speed(const ReportRun& run) {
  const double factor = number_in(run.model, "real_time_factor");
  if (!(factor > 0)) return "";
  return factor >= 1 ? fmt::format("{:.3g} times faster than real time", factor)
                     : fmt::format("{:.3g} times slower than real time", 1 / factor);
}

// Another full run that does what the reference does, in less time: the one to measure a speed-up by.
const ReportRun* quickest_full(const ReportRuns& runs, const ReportRun& reference) {
  const auto flexible = [](const ReportRun& run) {
    const json& bodies = part_of(run.simulation, "bodies");
    return bodies.is_array() && std::any_of(bodies.begin(), bodies.end(),
                                            [](const json& body) { return number_in(body, "modes") > 0; });
  };
  const ReportRun* best = nullptr;
  double least = number_in(reference.model, "seconds");
  for (const ReportRun& run : runs.all) {
    if (run.reduced || &run == &reference || runs.reference_of(run) != &reference || !flexible(run)) continue;
    const std::optional<SensorError> error = place_error(runs, run);
    const double seconds = number_in(run.model, "seconds");
    if (!error || !(error->motion > 0) || error->relative() > 1e-3 || !(seconds < least)) continue;
    best = &run;
    least = seconds;
  }
  return best;
}

// The reduced mechanism against the full one.
std::string reduced_words(const ReportDraft& draft, const ReportRuns& runs, ReportPage& page) {
  const ReportRun& run = *runs.proposed();
  const ReportRun* reference = runs.reference_of(run);
  const double faster = number_in(run.model, "times_faster"), nodes = node_error(draft, run);
  const std::optional<SensorError> error = place_error(runs, run);
  std::string words = fmt::format(" The whole mechanism was then reduced to {:.0f} unknowns (case {})",
                                  unknowns_of(run), run.label);
  ReportCard card;
  card.label = "Error of the reduced model";
  // of all nodes where the results have it, else of the sensors
  const double furthest = number_in(run.model, "largest_error"), moved = number_in(run.model, "motion");
  double relative = std::nan("");
  if (std::isfinite(furthest)) {
    words += fmt::format(
        ", none of whose nodes is ever further than {:.2g} m from where the full model has it", furthest);
    card.value = report_number(furthest, 2, "m");
    card.note = "largest distance of any node from where the full model has it, at any time";
    if (moved > 0) {
      relative = furthest / moved;
      words += fmt::format(" ({} of the {:.2g} m that they move)", share_text(relative), moved);
      card.note +=
          fmt::format("; nodes move up to {:.2g} m, of which this is {}", moved, share_text(relative));
    }
  } else if (error) {
    words += fmt::format(", whose sensors stay within {:.2g} m of the full model", error->largest);
    card.value = report_number(error->largest, 2, "m");
    card.note = fmt::format("largest difference of a sensor from the full model ({})", error->column);
    if (error->motion > 0) {
      relative = error->relative();
      words += fmt::format(", {} of the motion", share_text(relative));
      card.note += fmt::format("; {} of its motion of {:.3g} m", share_text(relative), error->motion);
    }
  } else if (std::isfinite(nodes)) {
    words += fmt::format(", whose nodes are {:.2g} m from the full model's (root mean square)", nodes);
    card.value = report_number(nodes, 2, "m");
    card.note = "root mean square distance of all nodes from the full model";
  }
  if (relative < 0.01) card.mood = ReportCard::Mood::Good;
  if (relative > 0.1) card.mood = ReportCard::Mood::Bad;
  if (!card.note.empty()) page.cards.push_back(std::move(card));
  if (faster > 0) {
    words += fmt::format(", and which is {} times faster", times_text(faster));
    const std::string instead =
        reference ? fmt::format("{} instead of {}", format_seconds(number_in(run.model, "seconds")),
                                format_seconds(number_in(reference->model, "seconds")))
                  : "";
    if (!instead.empty())
      words += fmt::format(" ({} for {:.4g} s of motion)", instead, number_in(run.simulation, "end"));
    std::string note = fmt::format("{}{}{}", instead, instead.empty() ? "" : "; ", speed(run));
    words += ".";
    if (const ReportRun* quick = reference ? quickest_full(runs, *reference) : nullptr) {
      const double seconds = number_in(quick->model, "seconds");
      const std::string ratio = times_text(seconds / number_in(run.model, "seconds"));
      words += fmt::format(" Against the quickest full run (case {}, {}) it is {} times faster.",
                           quick->label, format_seconds(seconds), ratio);
      note += fmt::format("; {} times against the quickest full run ({})", ratio, quick->label);
    }
    page.cards.push_back(
        {"Faster by", ReportValue(times_text(faster) + " times", faster), note, ReportCard::Mood::Good});
  } else {
    words += ".";
  }
  if (const json& trust = part_of(run.model, "trust"); trust.is_object()) {
    const bool outside = part_of(trust, "outside_since").is_number();
    page.cards.push_back({"Distance from the training", report_number(number_in(trust, "largest"), 2),
                          outside ? fmt::format("left what it was trained on at t = {:.4g} s",
                                                number_in(trust, "outside_since"))
                                  : fmt::format("stays within what it was trained on (limit {:.2g})",
                                                number_in(trust, "threshold")),
                          outside ? ReportCard::Mood::Bad : ReportCard::Mood::Good});
  }
  return words;
}

// Cases that are no reduced mechanisms.
std::string compared_words(const ReportRuns& runs, ReportPage& page) {
  const ReportRun* worst = nullptr;
  std::optional<SensorError> error;
  int compared = 0;
  for (const ReportRun& run : runs.all) {
    const std::optional<SensorError> own = place_error(runs, run);
    if (!own) continue;
    ++compared;
    if (error && error->largest >= own->largest) continue;
    error = own;
    worst = &run;
  }
  if (!worst) return "";
  const ReportRun* reference = runs.reference_of(*worst);
  const std::string of_motion =
      error->motion > 0 ? fmt::format(", {} of its motion", share_text(error->relative())) : "";
  page.cards.push_back({"Largest difference of the cases", report_number(error->largest, 2, "m"),
                        fmt::format("{} of case {} against {}{}", error->column, worst->label,
                                    reference ? reference->label : "", of_motion)});
  return fmt::format(" {} case{} compared with {}: {} differs most, by {:.2g} m in {}{}.", compared,
                     compared == 1 ? " was" : "s were", reference ? reference->label : "the reference",
                     compared == 1 ? "it" : fmt::format("case {}", worst->label), error->largest,
                     error->column, of_motion);
}

// What was computed beside the motion.
std::string analysis_words(const json& summary, ReportPage& page) {
  std::string words;
  if (const json& linear = part_of(summary, "linearisation"); linear.is_object()) {
    const json& modes = part_of(linear, "modes");
    // of those that oscillate; free motions have the frequency 0, but for rounding
    double lowest = std::nan(""), highest = 0;
    for (const json& mode : modes) highest = std::max(highest, number_in(mode, "frequency_hz"));
    for (const json& mode : modes)
      if (const double f = number_in(mode, "frequency_hz");
          f > 1e-6 * highest && !(lowest <= f) && !(number_in(mode, "damping_ratio") >= 1))
        lowest = f;
    const bool stable = part_of(linear, "stable") != json(false);
    words += fmt::format(" Linearised about a state, the mechanism is {}", stable ? "stable" : "unstable");
    if (std::isfinite(lowest)) {
      words += fmt::format("; its lowest vibration has {:.4g} Hz", lowest);
      page.cards.push_back({"Lowest vibration", report_number(lowest, 4, "Hz"), "of the linearised mechanism",
                            stable ? ReportCard::Mood::Plain : ReportCard::Mood::Bad});
    }
    words += ".";
  }
  if (const json& points = part_of(part_of(summary, "sweep"), "points"); points.is_array())
    words += fmt::format(" The study was repeated for {} values of its parameters.", points.size());
  return words;
}

// Runs without a simulation: bodies, trainings, sweeps.
std::string other_words(const ReportDraft& draft, ReportPage& page) {
  const json& bodies = part_of(draft.summary, "bodies");
  std::vector<std::string> names;
  double nodes = 0, dofs = 0, coordinates = 0, lowest = std::nan("");
  int reduced = 0, modes = 0;
  std::string slowest;
  for (const auto& [name, body] : bodies.items()) {
    names.push_back(name);
    if (const double n = number_in(body, "nodes"); std::isfinite(n)) nodes += n;
    if (const json& found = part_of(body, "frequencies_hz"); found.is_array()) {
      ++modes;
      // those of the body as a whole come first
      const size_t first = count_of(number_in(body, "rigid_modes"), found.size());
      if (first < found.size() && !(lowest <= number_of(found[first]))) {
        lowest = number_of(found[first]);
        slowest = name;
      }
    }
    const json& reduce = part_of(body, "reduce");
    if (!reduce.is_object()) continue;
    ++reduced;
    dofs += number_in(reduce, "degrees_of_freedom");
    coordinates += number_in(reduce, "coordinates");
  }
  std::string words;
  if (!names.empty()) {
    words = fmt::format("{} bod{} computed ({})", names.size(), names.size() == 1 ? "y was" : "ies were",
                        few(names));
    if (nodes > 0) words += fmt::format(", with {} nodes in the finite element meshes", with_commas(nodes));
    words += ".";
    page.cards.push_back({names.size() == 1 ? "Body" : "Bodies",
                          ReportValue(fmt::format("{}", names.size()), static_cast<double>(names.size())),
                          few(names)});
    if (nodes > 0) page.cards.push_back({"Nodes", ReportValue(with_commas(nodes), nodes), "of all meshes"});
  }
  if (modes > 0) {
    words += fmt::format(
        " Natural frequencies and modes were computed of {}: the lowest vibration of {} has "
        "{:.4g} Hz.",
        modes == static_cast<int>(names.size()) ? names.size() == 1 ? "it" : "all"
                                                : fmt::format("{} of them", modes),
        slowest, lowest);
    page.cards.push_back({"Lowest vibration", report_number(lowest, 4, "Hz"), slowest});
  }
  if (reduced > 0) {
    words += fmt::format(" {} degrees of freedom were reduced to {} coordinates.", with_commas(dofs),
                         with_commas(coordinates));
    page.cards.push_back(
        {"Reduced",
         ReportValue(fmt::format("{} \u2192 {}", with_commas(dofs), with_commas(coordinates)), coordinates),
         "degrees of freedom \u2192 coordinates"});
    reduction_card(page, bodies);
  }
  if (const json& training = part_of(draft.summary, "training"); part_of(training, "order").is_number()) {
    const double order = number_in(training, "order");
    const std::string why = text_in(training, "why");
    words += fmt::format(" A mechanism was reduced as a whole to {:.0f} unknowns{}.", order,
                         why.empty() ? "" : fmt::format(" ({})", why));
    page.cards.push_back({"Unknowns", report_number(order, 9), "of the small model"});
  }
  if (const json& points = part_of(part_of(draft.summary, "sweep"), "points"); points.is_array()) {
    words += fmt::format(" The study was carried out for {} values of its parameters.", points.size());
    page.cards.push_back({"Points of the sweep",
                          ReportValue(fmt::format("{}", points.size()), static_cast<double>(points.size())),
                          ""});
  }
  return words;
}

}  // namespace

void report_summary(ReportDraft& draft, const ReportRuns& runs) {
  ReportPage& page = draft.page;
  const json& bodies = part_of(draft.summary, "bodies");
  const double fe = fe_unknowns(bodies);
  if (runs.all.empty()) {
    if (page.summary.empty()) page.summary = std::string(trim(other_words(draft, page)));
    return;
  }
  const ReportRun* full = runs.proposed() ? runs.reference_of(*runs.proposed()) : &runs.all.front();
  if (!full) full = &runs.all.front();

  std::vector<std::string> names;
  for (const auto& [name, body] : bodies.items()) names.push_back(name);
  if (names.empty())
    for (const json& body : part_of(full->simulation, "bodies")) names.push_back(text_in(body, "name"));
  const double end = number_in(full->simulation, "end"), unknowns = unknowns_of(*full);
  std::string words = fmt::format("{} of {} bod{} ({})", is_static(*full) ? "Equilibria" : "The motion",
                                  names.size(), names.size() == 1 ? "y" : "ies", few(names));
  if (std::isfinite(end))
    words += is_static(*full) ? fmt::format(" were followed while loads and drives change over {:.4g} s", end)
                              : fmt::format(" was simulated over {:.4g} s", end);
  words += fe > 0 ? fmt::format(
                        ". The finite element meshes have {} degrees of freedom; with component modes "
                        "{} unknowns are left",
                        with_commas(fe), with_commas(unknowns))
                  : fmt::format(" with {} unknowns", with_commas(unknowns));
  words += ".";

  page.cards.push_back({names.size() == 1 ? "Body" : "Bodies",
                        ReportValue(fmt::format("{}", names.size()), static_cast<double>(names.size())),
                        few(names)});
  ReportCard size{"Unknowns", ReportValue(with_commas(unknowns), unknowns), "", ReportCard::Mood::Plain};
  std::vector<std::string> chain, what;
  if (fe > 0) {
    chain.push_back(with_commas(fe));
    what.emplace_back("finite elements");
  }
  chain.push_back(with_commas(unknowns));
  what.emplace_back(fe > 0 ? "with component modes" : "full model");
  if (runs.proposed()) {
    chain.push_back(with_commas(unknowns_of(*runs.proposed())));
    what.emplace_back("reduced as a whole");
  }
  if (chain.size() > 1) {
    size.value.text = fmt::format("{}", fmt::join(chain, " \u2192 "));
    if (runs.proposed()) size.value.value = unknowns_of(*runs.proposed());
  }
  size.note = fmt::format("{}", fmt::join(what, " \u2192 "));
  page.cards.push_back(std::move(size));

  words += runs.proposed() ? reduced_words(draft, runs, page) : compared_words(runs, page);
  reduction_card(page, bodies);

  // of all runs, because one bad one matters
  double energy = std::nan(""), gap = std::nan("");
  std::string of_energy, of_gap;
  for (const ReportRun& run : runs.all) {
    if (const double drift = number_in(run.simulation, "energy_drift");
        !(energy >= drift) && std::isfinite(drift)) {
      energy = drift;
      of_energy = run.label;
    }
    if (const double drift = number_in(run.simulation, "constraint_drift");
        !(gap >= drift) && std::isfinite(drift) && number_in(run.simulation, "constraints") != 0) {
      gap = drift;
      of_gap = run.label;
    }
  }
  const auto of_run = [&](const std::string& label) {
    return runs.all.size() > 1 ? fmt::format(" (worst run: {})", label) : std::string();
  };
  if (std::isfinite(energy))
    page.cards.push_back({"Energy drift", ReportValue(percent_text(energy), energy),
                          "energy that appeared or vanished, of the largest energy" + of_run(of_energy)});
  if (std::isfinite(gap))
    page.cards.push_back({"Gaps of joints", report_number(gap, 2, "m"), "largest" + of_run(of_gap)});
  for (const ReportRun& run : runs.all)
    if (run.result && !run.complete()) {
      page.cards.insert(page.cards.begin(),
                        {"State", ReportValue(std::string(name_of(run.result->end.status))),
                         "not all simulations are complete; see the warnings", ReportCard::Mood::Bad});
      break;
    }
  page.summary = words + analysis_words(draft.summary, page) + page.summary;
}

}  // namespace lissom
