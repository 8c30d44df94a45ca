// Parts of a body that a mesh file has and Lissom does not read: shells, beams, point masses, ties. Without
// them the body lacks stiffness, mass or constraints, and every number that follows is that of another body.
// So they are an error, unless the user says that he wants the body without them.
#pragma once

#include <string>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

class LeftOut {
 public:
  // `kind` in the plural or as the file calls it: "elements of type S4", "*TIE", "CONM2". Of each kind the
  // first place is kept.
  void add(const std::string& kind, const SourcePos& pos, long count = 1);
  // Throws InputError with every kind, its count and its first place, if there is any and `skip` does not
  // hold. `path` is the file that was asked for.
  void check(bool skip, const std::string& path) const;

 private:
  struct Kind {
    std::string name;
    SourcePos first;
    long count = 0;
  };
  std::vector<Kind> kinds_;  // in the order of the file
};

}  // namespace lissom
