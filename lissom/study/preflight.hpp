// What can be known of a study before anything is computed or written: from its text, its files, and the
// nodes and sets of its meshes. 'lissom check' and 'lissom run' both ask here, so that what the one lets pass
// the other carries out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/core/progress.hpp"
#include "lissom/io/toml_table.hpp"
#include "lissom/study/body_places.hpp"

namespace lissom {

class Preflight {
 public:
  // Who goes on with the bodies that are read: nobody, or a run, which then tells what the bodies and systems
  // have to be warned of itself.
  enum class For : std::uint8_t { Check, Run };
  Preflight(For who, Diagnostics& diagnostics, const ProgressHook& progress);

  // The study and its cases. Reads every mesh, matrix and model once; mechanisms are put together with rigid
  // stand-ins in the place of bodies that are to be reduced.
  void look(const StudyFile& study);

  const std::vector<TomlProblem>& problems() const { return problems_; }
  // Throws InputError with a line for each.
  void throw_if_any() const;
  // "120 nodes, 64 elements", by body.
  const std::map<std::string, std::string>& sizes() const { return sizes_; }
  // The bodies that were read, by BodySpec::reduction_key; of a run only.
  std::map<std::string, FeBody>& bodies() { return bodies_; }

 private:
  // A body before its reduction.
  struct Read {
    FeModel labels;  // body_labels()
    bool has_elements = false;
    std::set<std::int64_t> without_element;
    RigidBodySpec rigid;                          // with its interfaces and sets as points
    std::map<std::string, Eigen::Matrix3d> axes;  // of interfaces that have their own
    bool placed = false;                          // its nodes have positions, and its interfaces were found
  };

  void look_at(const StudyFile& study);
  void look_at_body(const BodySpec& spec);
  void make_stand_in(const FeBody& body, Read& read) const;
  void look_at_rom(const StudyFile& study);
  void look_at_system(const StudyFile& study);
  void look_at_stand_ins(const StudyFile& study);
  void look_at_built(const StudyFile& study, const StudySystem& built);
  void look_at_stress(const StudyFile& study);
  void look_at_axes(const StudyFile& study);
  bool turns(const StudyFile& study, const PlaceSpec& place) const;
  StudyFile with_stand_ins(const StudyFile& study) const;
  const Read* read_of(const BodySpec& body) const;
  void add(const SourcePos& where, const std::string& key, const std::string& message,
           const std::string& case_name = "");

  For who_;
  Diagnostics& diagnostics_;
  const ProgressHook& progress_;
  std::vector<TomlProblem> problems_;
  std::set<std::string> seen_;        // bodies, by reduction key
  std::map<std::string, Read> read_;  // the same
  std::map<std::string, FeBody> bodies_;
  BodyPlaces places_;
  std::map<std::string, std::string> sizes_;
};

// "study.toml:12: KEY: message" taken apart; what has no place of its own stands at `where`.
TomlProblem problem_of(const std::string& line, const SourcePos& where, const std::string& key);

}  // namespace lissom
