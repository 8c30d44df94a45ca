// What an Abaqus or CalculiX input file says, card by card, before anything is looked up: parts with nodes,
// elements and sets by the file's own ids and names. read_inp.cpp places the parts and makes the mesh of it.
//
// Terms: a card is a keyword line with its data lines. A part is a name space of ids and sets; parts[0] is
// what stands outside of *PART, which is all of a flat file and the *ASSEMBLY of a file with parts. Names are
// compared without regard to case, so maps are keyed by the name in upper case and keep the first spelling.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/fe/left_out.hpp"
#include "lissom/fe/mesh.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom::inp {

// A line of one of the files (eight bytes, since every element has one).
struct Place {
  int file = 0;  // index into Deck::files
  int line = 0;
};

struct Element {
  std::int64_t id = 0;
  std::optional<ElementType> type;  // nothing for shells, beams and whatever else Lissom has no element for
  size_t first_node = 0;            // nodes are Part::connectivity[first_node .. first_node + nodes)
  int nodes = 0;
  Place place;
};

// The members that one card adds to a set.
struct SetCard {
  std::string instance;  // INSTANCE=: whose ids and names are meant; empty for the part's own
  std::vector<std::int64_t> ids;
  std::vector<std::array<std::int64_t, 3>> ranges;  // GENERATE: first, last, step > 0
  std::vector<std::string> names;                   // other sets, or "instance.set", "instance.id"
  std::string nodes_of;                             // *NSET, ELSET=: all nodes of this element set
  Place place;
  // where each data line's ids begin, so that a wrong id is reported at its own line
  std::vector<std::pair<size_t, Place>> rows;
};
struct Set {
  std::string name;
  std::vector<SetCard> cards;
};

struct Surface {
  struct Row {
    std::string target;  // element set or element id; node set or node id when of_nodes
    std::string face;    // "S1" .. "S6", upper case
    Place place;
  };
  std::string name;
  bool of_nodes = false;
  std::vector<Row> rows;
  Place place;
};

struct Section {
  std::string element_set, material, orientation;
  Place place;
};

struct Orientation {
  std::string name;
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  // columns: local axes in the part's coordinates
  std::string problem;  // why there are no constant axes, e.g. "SYSTEM=CYLINDRICAL"; empty when there are
  Place place;
};

// A spider to be: *COUPLING, *RIGID BODY, or the rows of an *MPC or *KINEMATIC COUPLING with one reference.
struct Coupling {
  enum class Target : std::uint8_t { Surface, Nodes, Elements };
  std::string name;
  std::optional<Spider::Kind> kind;  // nothing until *KINEMATIC or *DISTRIBUTING tells
  std::string reference;             // node id, or a node set of one node
  std::vector<std::pair<Target, std::string>> targets;
  bool dropped = false;  // warned about already
  Place place;
};

template <class T>
using ByName = std::map<std::string, T>;

struct Part {
  std::string name;  // empty for parts[0]
  Place place;
  std::vector<std::int64_t> node_ids;
  std::vector<Eigen::Vector3d> points;
  std::vector<Place> node_places;
  std::vector<Element> elements;
  std::vector<std::int64_t> connectivity;
  ByName<Set> node_sets, element_sets;
  ByName<Surface> surfaces;
  ByName<Orientation> orientations;
  std::vector<Section> sections;
  std::vector<Coupling> couplings;
};

// A part in the assembly: x -> rotation x + translation.
struct Instance {
  std::string name, part;
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
  Place place;
};

struct Deck {
  std::vector<std::string> files;
  std::vector<Part> parts = std::vector<Part>(1);
  std::vector<Instance> instances;  // in file order
  std::vector<Material> materials;
  LeftOut left_out;  // elements and constraints that are not read

  SourcePos pos(const Place& place) const { return {files[place.file], place.line}; }
};

// Reads the cards of a file and of the files that it includes. Throws InputError for whatever is malformed;
// warns about elements and keywords that are skipped or mapped. (inp_deck.cpp)
Deck read_deck(std::string_view bytes, const std::string& path, const FileLoader& load,
               Diagnostics& diagnostics);

// The faces of a solid as Abaqus and CalculiX number them, S1 first: corners by 0-based local index, -1 pads
// the triangles.
std::vector<std::array<int, 4>> faces_of(ElementType type);

}  // namespace lissom::inp
