#include "lissom/study/linearise.hpp"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "lissom/io/table.hpp"
#include "lissom/study/simulate.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using nlohmann::json;

StudyState state_of_study(const StudyFile& study, LineariseSpec::About about, double time,
                          const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                          const ProgressHook& progress, const std::function<bool()>& stop) {
  if (!study.simulation)
    fail_input("{}: has no loads, sensors or joints to be linearised", study.path.string());
  StudyState out;
  out.built = make();
  // problems of the start itself are told once
  Diagnostics told_before;
  const auto start_here = [&](std::optional<double> static_at, Diagnostics& to) {
    return study_start(out.built, study, to, static_at, progress);
  };
  if (about == LineariseSpec::About::Time) {
    if (!study.simulation->simulate)
      fail_input("{}: has no [simulate] that leads to t = {:g} s", study.path.string(), time);
    if (!(time > 0)) fail_input("the time to linearise at is {} s, expected one from 0 on", time);
    StudyFile asked = study;
    asked.simulation->simulate->integrator.end = time;
    SimulationOptions options;
    options.write_files = false;
    options.stop = stop;
    const SimulationRun run = simulate(asked, {}, make(), diagnostics, progress, options);
    const Index last = run.t.size() - 1;
    const SystemCheck check = check_system(*out.built.system, 0, out.built.q);
    out.equations = std::make_unique<SystemEquations>(*out.built.system, check.kept);
    out.state =
        make_consistent(*out.equations, run.t[last], run.q.col(last), run.v.col(last), {}, run.turns_at(last))
            .state;
    out.reference = out.start = start_here(std::nullopt, told_before).initial.state;
    return out;
  }
  const bool statics = about == LineariseSpec::About::Static;
  Start start = start_here(statics ? std::optional<double>(0) : std::nullopt, diagnostics);
  out.state = start.initial.state;
  out.equations = std::move(start.equations);
  out.reference = start.reference();
  out.start = out.state;
  if (statics) {
    const Start own = start_here(std::nullopt, told_before);
    out.reference = own.reference();
    out.start = own.initial.state;
  }
  return out;
}

Linearisation linearise_study(const StudyFile& study, const LineariseSpec& spec,
                              const std::function<StudySystem()>& make, Diagnostics& diagnostics,
                              const ProgressHook& progress, const std::function<bool()>& stop) {
  const StudyState at = state_of_study(study, spec.about, spec.time, make, diagnostics, progress, stop);
  Linearisation model = linearise(*at.equations, at.built.sensors, at.state);
  if (model.moving)
    diagnostics.warn(
        "linearise.moving",
        fmt::format("at t = {:.6g} s the mechanism moves or is not in equilibrium: A, B, C and D are "
                    "those of this moment, and so are the frequencies",
                    at.state.t));
  return model;
}

json linearisation_json(const Linearisation& model) {
  const auto rows = [](const MatrixXd& matrix) {
    json list = json::array();
    for (Index i = 0; i < matrix.rows(); ++i) {
      json row = json::array();
      for (Index k = 0; k < matrix.cols(); ++k) row.push_back(matrix(i, k));
      list.push_back(std::move(row));
    }
    return list;
  };
  json eigenvalues = json::array();
  for (const std::complex<double>& value : model.eigenvalues)
    eigenvalues.push_back({value.real(), value.imag()});
  json modes = json::array();
  for (const LinearMode& mode : model.modes) {
    json bodies = json::object();
    for (const auto& [body, share] : mode.bodies) bodies[model.bodies[body]] = share;
    modes.push_back({{"frequency_hz", mode.frequency},
                     {"damping_ratio", mode.damping},
                     {"eigenvalue", {mode.eigenvalue.real(), mode.eigenvalue.imag()}},
                     {"bodies", std::move(bodies)}});
  }
  return {{"t", model.t},
          {"q", std::vector<double>(model.q.begin(), model.q.end())},
          {"v", std::vector<double>(model.v.begin(), model.v.end())},
          {"states", model.states},
          {"N", rows(model.N)},
          {"A", rows(model.A)},
          {"B", rows(model.B)},
          {"C", rows(model.C)},
          {"D", rows(model.D)},
          {"inputs", model.inputs},
          {"input_units", model.input_units},
          {"outputs", model.outputs},
          {"output_units", model.output_units},
          {"eigenvalues", std::move(eigenvalues)},
          {"modes", std::move(modes)},
          {"stable", model.stable()},
          {"growth", model.growth},
          {"moving", model.moving}};
}

std::string describe_linearisation(const Linearisation& model, int modes) {
  std::string text = fmt::format("linearised at t = {:.6g} s: states {}, inputs {}, outputs {}\n", model.t,
                                 model.A.rows(), model.inputs.size(), model.outputs.size());
  text += model.stable() ? "no part of it grows\n"
                         : fmt::format("unstable: a part of it grows as exp({:.4g} t)\n", model.growth);
  Table table({"mode", "frequency", "damping ratio", "real part", "bodies"});
  const int shown = std::min<int>(modes, static_cast<int>(model.modes.size()));
  for (int i = 0; i < shown; ++i) {
    const LinearMode& mode = model.modes[i];
    std::vector<std::string> bodies;
    for (const auto& [body, share] : mode.bodies)
      if (share > 0.01) bodies.push_back(fmt::format("{} {:.0f} %", model.bodies[body], 100 * share));
    table.add({std::to_string(i + 1), fmt::format("{:.6g} Hz", mode.frequency),
               fmt::format("{:.4g}", mode.damping), fmt::format("{:.4g} 1/s", mode.eigenvalue.real()),
               fmt::format("{}", fmt::join(bodies, ", "))});
  }
  text += table.str();
  if (shown < static_cast<int>(model.modes.size()))
    text += fmt::format("and {} more\n", static_cast<int>(model.modes.size()) - shown);
  return text;
}

FrequencyResponse study_response(const Linearisation& model, const ResponseSpec& spec) {
  try {
    return frequency_response(model, spec);
  } catch (const InputError& e) {
    if (spec.where.file.empty()) throw;
    fail_input(spec.where, "{}", e.what());
  }
}

json response_json(const FrequencyResponse& response) {
  json pairs = json::array();
  for (const ResponsePair& pair : response.pairs) {
    json magnitude = json::array(), phase = json::array(), peaks = json::array();
    for (const std::complex<double>& h : pair.H) {
      // exactly at an undamped frequency
      magnitude.push_back(std::isfinite(std::abs(h)) ? json(std::abs(h)) : json(nullptr));
      phase.push_back(std::isfinite(std::abs(h)) ? json(phase_degrees(h)) : json(nullptr));
    }
    for (const ResponsePeak& peak : pair.peaks)
      peaks.push_back(
          {{"frequency_hz", peak.frequency}, {"magnitude", peak.magnitude}, {"phase_deg", peak.phase}});
    pairs.push_back({{"input", pair.input},
                     {"output", pair.output},
                     {"unit", pair.unit},
                     {"magnitude", std::move(magnitude)},
                     {"phase_deg", std::move(phase)},
                     {"peaks", std::move(peaks)}});
  }
  return {{"frequencies_hz", std::vector<double>(response.frequencies.begin(), response.frequencies.end())},
          {"pairs", std::move(pairs)}};
}

std::string describe_response(const FrequencyResponse& response) {
  std::string text =
      fmt::format("frequency response, {:.6g} to {:.6g} Hz, {} points\n", response.frequencies[0],
                  response.frequencies[response.frequencies.size() - 1], response.frequencies.size());
  Table table({"input", "output", "peak at", "magnitude", "phase"});
  for (const ResponsePair& pair : response.pairs)
    for (size_t i = 0; i < std::min<size_t>(3, pair.peaks.size()); ++i)
      table.add({pair.input, pair.output, fmt::format("{:.6g} Hz", pair.peaks[i].frequency),
                 fmt::format("{:.4g} {}", pair.peaks[i].magnitude, pair.unit),
                 fmt::format("{:.1f} deg", pair.peaks[i].phase)});
  return text + table.str();
}

}  // namespace lissom
