// integrator = "auto": which one, by what the equations are. The rules were measured, see
// docs/theory/integrators.md.
#pragma once

#include <string>

#include "lissom/time/integrate.hpp"

namespace lissom {

struct IntegratorChoice {
  IntegratorOptions options;  // of an integrator, no longer Auto; as they were where it was not
  std::string reason;         // a clause: "no constraints"; empty where nothing was to be chosen
};

// `controlled`: a controller changes inputs again and again.
IntegratorChoice choose_integrator(Equations& equations, const State& initial,
                                   const IntegratorOptions& options, bool controlled);

}  // namespace lissom
