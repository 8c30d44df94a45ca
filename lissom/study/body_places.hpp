// The places that bodies have once their meshes are read, and those that joints, loads and sensors name: what
// is wrong is known before anything is reduced or written.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lissom/io/study_file.hpp"
#include "lissom/study/build_system.hpp"

namespace lissom {

class BodyPlaces {
 public:
  // With the nodes and sets of body_labels().
  void add(const BodySpec& spec, const FeModel& labels);

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
  std::map<std::string, Names> bodies_;  // by BodySpec::reduction_key
};

}  // namespace lissom
