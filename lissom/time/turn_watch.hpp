// Whether the turns of springs that wind up could be counted: a step in which an angle goes elsewhere than
// its speeds at both ends let expect may hide a turn.
#pragma once

#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/mbs/turns.hpp"

namespace lissom {

class Archive;

class TurnWatch {
 public:
  // With every accepted step.
  void step(const State& state);
  // `names` of the angles, in their order.
  void warn(const std::vector<std::string>& names, Diagnostics& diagnostics) const;
  void archive(Archive& archive);

 private:
  Turns last_;
  TurnDoubt doubt_;
};

}  // namespace lissom
