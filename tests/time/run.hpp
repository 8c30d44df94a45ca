// Runs an integrator and keeps what it gives.
#pragma once

#include <vector>

#include "lissom/time/integrate.hpp"

namespace lissom::test {

struct Recording {
  std::vector<State> steps, samples;
  IntegrationSummary summary;
  Diagnostics diagnostics;
  const State& last() const { return steps.back(); }
};

inline Recording run(Equations& equations, const State& initial, const IntegratorOptions& options) {
  Recording result;
  IntegrationOutput output;
  output.step = [&](const State& state) { result.steps.push_back(state); };
  output.sample = [&](const State& state) { result.samples.push_back(state); };
  integrate(equations, initial, options, output, result.summary, result.diagnostics);
  return result;
}

}  // namespace lissom::test
