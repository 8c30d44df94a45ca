// The verbs of the program, each made by the file of its name.
#pragma once

#include "apps/lissom/verb.hpp"

namespace lissom::app {

// In the order of the help, with the flags that all have in common: --help, --json and --quiet.
std::vector<Verb> all_verbs(Command& command);
// Of these what the help shows.
std::vector<Verb> listed_verbs(Command& command);
// The flags of the program itself.
Arguments program_flags();
inline constexpr const char* program_summary =
    "Flexible multibody dynamics and its model-order reduction: from FE meshes to small models whose error "
    "is known.";

Verb new_verb();
Verb check_verb();
Verb inspect_verb();
Verb modes_verb();
Verb reduce_verb();
Verb simulate_verb();
Verb train_verb();
Verb assemble_verb();
Verb static_verb();
Verb linearise_verb();
Verb response_verb();
Verb export_verb();
Verb sweep_verb();
Verb compare_verb();
Verb report_verb();
Verb run_verb();
Verb schema_verb();
Verb completion_verb();
Verb complete_verb();
Verb manual_verb();

}  // namespace lissom::app
