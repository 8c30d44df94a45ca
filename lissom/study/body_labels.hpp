// A body's nodes and degrees of freedom by name, before K and M are assembled: enough to know whether what is
// asked of it can be.
#pragma once

#include "lissom/io/toml_table.hpp"
#include "lissom/study/body.hpp"

namespace lissom {

// Points, node numbers, node sets and the labels of the degrees of freedom that the body's matrices will
// have; which reference moves a tied node stands in `recovery`. K and M are empty. Of matrices: those labels
// themselves.
FeModel body_labels(const FeBody& body);

// What is wrong with [modes], [reduce] and [gcms] of a loaded body that can be known without K and M:
// materials, nodes and interfaces that are not there or overlap, numbers of modes that it does not have. With
// keys and lines.
std::vector<TomlProblem> problems_of_body(const FeBody& body, const FeModel& labels);

}  // namespace lissom
