// A reduced mechanism with the loads, sensors and run of its study, taken apart for programs that run without
// Lissom.
#pragma once

#include "lissom/export/export_model.hpp"
#include "lissom/study/mechanism.hpp"

namespace lissom {

// `name` becomes the model's in identifiers; empty: made from the title. Sensors and loads that have no
// counterpart in an exported model are left out with a warning, or, where the motion depends on them, an
// InputError by name. Test points and a short run are computed by the library. Throws InputError: a model
// that cannot be exported, a study without [simulate].
ExportModel export_model(const Mechanism& mechanism, const std::string& name, JobContext& context);

}  // namespace lissom
