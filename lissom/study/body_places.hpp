// The places that bodies have once their meshes are read, and those that joints, loads and sensors name: what
// is wrong is known before anything is reduced or written.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/study/body.hpp"

namespace lissom {

// Node numbers and node sets of a loaded body, its spiders included, without K and M: for named_nodes().
FeModel nodes_by_name(const BodySpec& spec, const FeBody& body);

class BodyPlaces {
 public:
  void add(const BodySpec& spec, const FeBody& body);

  struct Problem {
    SourcePos where;
    std::string key, message;  // "joints.hinge.between", "'bar.lft': body 'bar' has no ..."
  };
  // Places of bodies that were added, and that these do not have.
  std::vector<Problem> missing(const StudyFile& study) const;

 private:
  struct Names {
    std::vector<std::string> sets;
    std::set<std::int64_t> ids;
  };
  std::map<std::string, Names> bodies_;  // by name
};

}  // namespace lissom
