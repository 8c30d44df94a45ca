// The schema of study files as JSON Schema (draft-07), for editors: docs/reference/study.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lissom {

// Keys in the order of the page. It is a little more generous than the program: keys that depend on others
// (the kind of a load) may all be there.
nlohmann::ordered_json study_json_schema();

}  // namespace lissom
