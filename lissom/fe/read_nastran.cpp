// Nastran bulk data: what the cards mean. How bytes become cards is in nastran_cards.hpp.
//
//   GRID GRDSET CORD1R/C/S CORD2R/C/S     nodes, in the basic system
//   CTETRA CHEXA CPENTA                   elements; element sets "PSOLID <pid>"
//   PSOLID MAT1 MAT9 MAT9OR MAT11 MAT12   materials "MAT1 <mid>"
//   RBE2 RBE3                             spiders "RBE2 <eid>", "RBE3 <eid>"
//   SPC SPC1, PS of GRID                  node sets "SPC <sid>" and "GRID PS" of nodes held in 1, 2 and 3;
//   those
//                                         held in fewer translations get a set of their own, "SPC <sid> (12)"
//   SET1 SET3                             sets "SET <sid>"
//   SET n = of the case control           sets "CASE SET <n>"
//
// SET1 and the case control do not say whether they list nodes or elements: such a list becomes a node set if
// every id in it is a node's, an element set if every one is an element's, and often both. Settings of the
// analysis are passed over. Elements, masses and constraints that are not read are an error unless they are
// to be skipped (left_out.hpp); everything else that is not read is a warning.
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "lissom/fe/left_out.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/fe/nastran_cards.hpp"
#include "lissom/fe/nastran_coordinates.hpp"
#include "lissom/fe/nastran_ids.hpp"

namespace lissom {

namespace {

// A file with more unknown names of cards than this is something else.
constexpr size_t max_unknown_cards = 200;

// Cards that say how to analyse or what to print, not what the body is.
const std::unordered_set<std::string_view> settings = {
    "ECHOON",  "ECHOOFF", "EIGB",    "EIGC",    "EIGP",    "EIGR",    "EIGRL",   "FREQ",
    "FREQ1",   "FREQ2",   "FREQ3",   "FREQ4",   "FREQ5",   "MPCADD",  "NLPARM",  "NLPCI",
    "PLOTEL",  "SPCADD",  "TABDMP1", "TABLED1", "TABLED2", "TABLED3", "TABLED4", "TABLEM1",
    "TABLEM2", "TABLEM3", "TABLEM4", "TABLES1", "TF",      "TIC",     "TSTEP",   "TSTEPNL"};

const std::unordered_set<std::string_view> loads = {
    "ACCEL",  "ACCEL1", "DAREA",  "DELAY",  "DLOAD",   "DPHASE",  "FORCE", "FORCE1", "FORCE2",
    "GRAV",   "LOAD",   "LSEQ",   "MOMENT", "MOMENT1", "MOMENT2", "PLOAD", "PLOAD1", "PLOAD2",
    "PLOAD4", "RFORCE", "RLOAD1", "RLOAD2", "SPCD",    "TEMP",    "TEMPD", "TLOAD1", "TLOAD2"};

// Elements, masses and constraints: parts of the body that are missing from the mesh.
const std::unordered_set<std::string_view> cards_of_parts = {
    "BCONP",   "BCTABLE", "CBAR",   "CBEAM",   "CBEAM3",  "CBEND",  "CBUSH",  "CBUSH1D", "CBUSH2D", "CDAMP1",
    "CDAMP2",  "CDAMP3",  "CDAMP4", "CDAMP5",  "CELAS1",  "CELAS2", "CELAS3", "CELAS4",  "CFAST",   "CGAP",
    "CGASK12", "CGASK16", "CGASK6", "CGASK8",  "CMASS1",  "CMASS2", "CMASS3", "CMASS4",  "CONM1",   "CONM2",
    "CONROD",  "CONTACT", "CQUAD",  "CQUAD4",  "CQUAD8",  "CQUADR", "CQUADX", "CROD",    "CSEAM",   "CSHEAR",
    "CTRIA3",  "CTRIA6",  "CTRIAR", "CTRIAX",  "CTRIAX6", "CTUBE",  "CVISC",  "CWELD",   "DMIG",    "GENEL",
    "MPC",     "NSM",     "NSM1",   "NSML",    "NSML1",   "RBAR",   "RBAR1",  "RBE1",    "RJOINT",  "RROD",
    "RSPLINE", "RSSCON",  "RTRPLT", "RTRPLT1", "TIE"};

// Those of them that are nothing without the card of their property. Mesh generators write faces and edges so
// (Gmsh: CTRIA6, CBAR), without one: then they only mark them.
const std::unordered_set<std::string_view> with_property = {
    "CBAR", "CBEAM",  "CBEAM3", "CBEND",  "CQUAD",  "CQUAD4", "CQUAD8",  "CQUADR", "CQUADX",
    "CROD", "CSHEAR", "CTRIA3", "CTRIA6", "CTRIAR", "CTRIAX", "CTRIAX6", "CTUBE"};
const std::unordered_set<std::string_view> property_cards = {
    "PBAR",  "PBARL",  "PBCOMP",  "PBEAM", "PBEAM3", "PBEAML", "PBEND",
    "PCOMP", "PCOMPG", "PLPLANE", "PROD",  "PSHEAR", "PSHELL", "PTUBE"};

const std::unordered_set<std::string_view> material_tables = {"MATT1", "MATT9", "MATT11", "MATS1"};

// Degrees of freedom as bits, 1 being bit 0.
constexpr unsigned translations = 0b000111;
constexpr unsigned all_components = 0b111111;

std::string to_string(unsigned components) {
  std::string text;
  for (int k = 0; k < 6; ++k)
    if (components >> k & 1) text += static_cast<char>('1' + k);
  return text;
}

class NastranReader {
 public:
  NastranReader(std::string_view bytes, const std::string& path, const FileLoader& load,
                Diagnostics& diagnostics)
      : path_(path), diagnostics_(diagnostics), cards_(bytes, path, load, diagnostics), builder_(path) {}

  Mesh read(bool skip_elements);

 private:
  // fields of the present card
  bool blank(size_t i) const { return card_[i].empty(); }
  [[noreturn]] void wrong(size_t i, std::string_view what, std::string_view expected) const;
  std::int64_t integer(size_t i, std::string_view what) const;
  std::int64_t id(size_t i, std::string_view what) const;
  double real(size_t i, std::string_view what) const;
  std::optional<double> real_or_blank(size_t i, std::string_view what) const;
  unsigned components(size_t i, std::string_view what) const;
  NastranIds ids(std::span<const std::string_view> words) const;

  // cards
  void grid();
  void grdset();
  void element();
  void cord1();
  void cord2();
  void psolid();
  void mat1();
  void mat9();
  void mat11();
  void mat12();
  void rbe2();
  void rbe3();
  void spc();
  void spc1();
  void set1();
  void set3();
  void param();
  void other();

  // what several cards share
  void add_material(std::optional<Isotropic> isotropic, std::optional<Orthotropic> orthotropic,
                    std::optional<double> density);
  void hold(const std::string& name, unsigned held, const NastranIds& nodes);
  void check_spider_components(unsigned found, std::string_view what);

  // what can be done only when all cards are known
  void place_nodes();
  void finish_sets();
  void finish_spiders();
  void finish_materials();
  int material_of(std::int64_t pid);
  std::int64_t system_of(std::int64_t node) const;

  // A set whose ids are still to be looked up.
  struct PendingSet {
    enum class Of { Either, Nodes, Elements, Properties };
    std::string name;
    Of of;
    NastranIds ids;
    SourcePos pos;
  };
  void finish_set(const PendingSet& set);
  void add_pending(PendingSet set);

  struct PendingSpider {
    struct Group {
      double weight = 1;
      NastranIds nodes;
    };
    std::string name;
    Spider::Kind kind;
    std::int64_t reference;
    std::vector<Group> groups;
    SourcePos pos;
  };
  void add_pending(PendingSpider spider);

  struct Property {
    std::int64_t material = 0;
    std::int64_t system = 0;  // of the material's axes; -1: the element's own
    SourcePos pos;
  };
  struct SystemUser {
    std::int64_t node;
    SourcePos pos;
  };
  struct Grdset {
    std::int64_t system;
    SourcePos pos;
  };

  std::string path_;
  Diagnostics& diagnostics_;
  NastranCards cards_;
  NastranCard card_;
  MeshBuilder builder_;

  NastranSystems systems_;
  std::unordered_map<std::int64_t, std::int64_t> node_system_;  // of nodes that are not in the basic system
  std::vector<std::int64_t> nodes_without_system_;              // whose CP is blank
  std::map<std::int64_t, SystemUser> system_users_;             // the first node of each system
  std::optional<Grdset> grdset_;

  std::vector<std::int64_t> element_properties_;
  std::map<std::int64_t, Property> properties_;
  std::map<std::int64_t, int> materials_;                                  // index by MID
  std::map<std::pair<std::int64_t, std::int64_t>, int> turned_materials_;  // index by MID and system

  std::vector<PendingSet> sets_;
  std::map<std::string, PendingSet> held_ranges_;  // THRU of SPC1, by set
  std::set<std::string> set_names_;
  std::vector<PendingSpider> spiders_;
  std::set<std::string> spider_names_;
  std::vector<std::int64_t> sorted_nodes_, sorted_elements_;
  std::set<std::string, std::less<>> unknown_;
  LeftOut left_out_;
  struct ElementLeftOut {
    std::string name, property;
    SourcePos pos;
  };
  std::vector<ElementLeftOut> elements_left_out_;
  std::set<std::string> other_properties_;  // ids of properties of shells, bars and beams
};

// fields ----------------------------------------------------------------------------------------------------

void NastranReader::wrong(size_t i, std::string_view what, std::string_view expected) const {
  if (blank(i)) fail_input(card_.pos, "{}: {} is blank, expected {}", card_.name, what, expected);
  fail_input(card_.pos, "{}: {} is '{}', expected {}", card_.name, what, card_[i].substr(0, 40), expected);
}

std::int64_t NastranReader::integer(size_t i, std::string_view what) const {
  const auto value = parse_long(card_[i]);
  if (!value) wrong(i, what, "an integer");
  return *value;
}

std::int64_t NastranReader::id(size_t i, std::string_view what) const {
  const auto value = parse_long(card_[i]);
  if (!value || *value <= 0) wrong(i, what, "a positive integer");
  return *value;
}

double NastranReader::real(size_t i, std::string_view what) const {
  const auto value = parse_double(card_[i]);
  if (!value) wrong(i, what, "a number");
  return *value;
}

std::optional<double> NastranReader::real_or_blank(size_t i, std::string_view what) const {
  if (blank(i)) return std::nullopt;
  return real(i, what);
}

// Digits 1 to 6 in any order; blank and 0 are no component.
unsigned NastranReader::components(size_t i, std::string_view what) const {
  unsigned bits = 0;
  for (char c : card_[i]) {
    if (c < '0' || c > '6') wrong(i, what, "components, digits out of 123456");
    if (c != '0') bits |= 1u << (c - '1');
  }
  return bits;
}

NastranIds NastranReader::ids(std::span<const std::string_view> words) const {
  NastranIds list;
  const std::string problem = parse_ids(words, list);
  if (!problem.empty()) fail_input(card_.pos, "{}: {}", card_.name, problem);
  return list;
}

// nodes -----------------------------------------------------------------------------------------------------

// GRID ID CP X1 X2 X3 CD PS SEID
void NastranReader::grid() {
  const std::int64_t node = id(0, "ID");
  const std::int64_t system = blank(1) ? -1 : integer(1, "CP");
  if (!blank(1) && system < 0) wrong(1, "CP", "the id of a coordinate system or 0");
  Eigen::Vector3d x;
  for (int k = 0; k < 3; ++k) {
    constexpr std::string_view names[] = {"X1", "X2", "X3"};
    x(k) = real_or_blank(2 + k, names[k]).value_or(0);
  }

  const bool repeated = builder_.has_node(node);
  builder_.add_node(node, x, card_.pos);
  if (repeated) {
    if (system_of(node) != std::max<std::int64_t>(system, 0))
      fail_input(card_.pos, "node {} is defined a second time in another coordinate system", node);
    return;
  }
  if (system > 0) {
    node_system_.emplace(node, system);
    if (!system_users_.contains(system)) system_users_.emplace(system, SystemUser{node, card_.pos});
  } else if (system < 0) {
    nodes_without_system_.push_back(node);
  }

  if (!blank(5) && integer(5, "CD") != 0)
    diagnostics_.warn("nastran.displacement-system",
                      fmt::format("{}: CD is ignored; displacements are in the basic system", card_.name),
                      card_.pos);
  if (!blank(7) && integer(7, "SEID") != 0)
    diagnostics_.warn("nastran.superelement", "GRID: SEID is ignored; superelements are not kept apart",
                      card_.pos);
  if (!blank(6)) {
    NastranIds nodes;
    nodes.single.push_back(node);
    hold("GRID PS", components(6, "PS"), nodes);
  }
}

// GRDSET - CP - - - CD PS SEID: what a GRID has where its field is blank
void NastranReader::grdset() {
  if (grdset_) fail_input(card_.pos, "GRDSET stands in the file a second time");
  grdset_ = Grdset{blank(1) ? 0 : integer(1, "CP"), card_.pos};
  if (grdset_->system < 0) wrong(1, "CP", "the id of a coordinate system or 0");
  if ((!blank(5) && integer(5, "CD") != 0) || (components(6, "PS") & translations))
    diagnostics_.warn("nastran.grdset", "GRDSET: only CP is read; CD and PS are ignored", card_.pos);
}

// The system that a node's coordinates are given in.
std::int64_t NastranReader::system_of(std::int64_t node) const {
  const auto it = node_system_.find(node);
  return it == node_system_.end() ? 0 : it->second;
}

NastranSystem::Kind system_kind(const NastranCard& card) {
  // the last letter of CORD1R, CORD2C, ...
  switch (card.name.back()) {
    case 'R':
      return NastranSystem::Kind::Rectangular;
    case 'C':
      return NastranSystem::Kind::Cylindrical;
    default:
      return NastranSystem::Kind::Spherical;
  }
}

// CORD1R CIDA G1A G2A G3A CIDB G1B G2B G3B: one or two systems by nodes
void NastranReader::cord1() {
  for (size_t i = 0; i < 8; i += 4) {
    if (i > 0 && blank(i)) break;
    NastranSystem system;
    system.kind = system_kind(card_);
    system.pos = card_.pos;
    system.by_nodes = true;
    system.nodes = {id(i + 1, "G1"), id(i + 2, "G2"), id(i + 3, "G3")};
    systems_.add(id(i, "CID"), std::move(system));
  }
}

// CORD2R CID RID A1 A2 A3 B1 B2 B3 / C1 C2 C3
void NastranReader::cord2() {
  NastranSystem system;
  system.kind = system_kind(card_);
  system.pos = card_.pos;
  system.reference = blank(1) ? 0 : integer(1, "RID");
  for (size_t k = 0; k < 9; ++k) {
    constexpr std::string_view names[] = {"A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"};
    system.points(k % 3, k / 3) = real_or_blank(2 + k, names[k]).value_or(0);
  }
  systems_.add(id(0, "CID"), std::move(system));
}

void NastranReader::place_nodes() {
  if (grdset_ && grdset_->system > 0) {
    const std::int64_t system = grdset_->system;
    systems_.at(system, "GRDSET", grdset_->pos);
    for (std::int64_t node : nodes_without_system_) node_system_.emplace(node, system);
  }
  for (const auto& [system, user] : system_users_)
    systems_.at(system, fmt::format("GRID {}", user.node), user.pos);

  systems_.resolve([this](std::int64_t node, const SourcePos& pos) {
    if (!builder_.has_node(node))
      fail_input(pos, "a coordinate system refers to node {}, which is not defined", node);
    return NastranSystems::NodePosition{builder_.point(node), system_of(node)};
  });
  for (const auto& [node, system] : node_system_) {
    Eigen::Vector3d& x = builder_.point(node);
    x = systems_.at(system, "GRID", {path_}).to_basic(x);
    if (!x.allFinite()) fail_input(SourcePos{path_}, "GRID {}: its coordinates are too large", node);
  }
}

// elements --------------------------------------------------------------------------------------------------

// CTETRA EID PID G1 ... G10, and CHEXA with up to 20 and CPENTA with up to 15 nodes
void NastranReader::element() {
  struct Shape {
    ElementType linear, quadratic;
    int bottom;  // mid-side nodes of the bottom; 0: same order as ours
  };
  const Shape shape = card_.name == "CTETRA"  ? Shape{ElementType::Tet4, ElementType::Tet10, 0}
                      : card_.name == "CHEXA" ? Shape{ElementType::Hex8, ElementType::Hex20, 4}
                                              : Shape{ElementType::Wedge6, ElementType::Wedge15, 3};
  const int corners = node_count(shape.linear), all = node_count(shape.quadratic);
  const std::int64_t element = id(0, "EID");
  const std::int64_t property = blank(1) ? element : id(1, "PID");

  // nodes; a mid-side node that is blank or 0 does not exist
  std::array<std::int64_t, 20> nodes = {};
  int mid_sides = 0;
  for (int k = 0; k < all; ++k) {
    const std::string_view field = card_[2 + k];
    if (k >= corners && (field.empty() || field == "0")) continue;
    const auto node = parse_long(field);
    if (!node || *node <= 0) wrong(2 + k, fmt::format("G{}", k + 1), "the id of a node");
    nodes[k] = *node;
    mid_sides += k >= corners;
  }
  for (size_t k = 2 + all; k < card_.fields.size(); ++k)
    if (!blank(k))
      fail_input(card_.pos, "{} {} has more than {} nodes: '{}'", card_.name, element, all, card_[k]);
  if (mid_sides != 0 && mid_sides != all - corners)
    fail_input(card_.pos,
               "{} {} has {} of its {} mid-side nodes; elements with some of them are not read: write all of "
               "them or none",
               card_.name, element, mid_sides, all - corners);

  // Nastran counts the upright edges before those of the top
  const int b = shape.bottom;
  if (mid_sides != 0 && b != 0)
    std::swap_ranges(&nodes[corners + b], &nodes[corners + 2 * b], &nodes[corners + 2 * b]);
  const ElementType type = mid_sides == 0 ? shape.linear : shape.quadratic;
  builder_.add_element(type, element, std::span(nodes).first(node_count(type)), -1, card_.pos);
  element_properties_.push_back(property);
}

// materials -------------------------------------------------------------------------------------------------

// PSOLID PID MID CORDM IN STRESS ISOP FCTN
void NastranReader::psolid() {
  const std::int64_t pid = id(0, "PID");
  Property property{id(1, "MID"), blank(2) ? 0 : integer(2, "CORDM"), card_.pos};
  if (!blank(6) && !iequals(card_[6], "SMECH"))
    fail_input(card_.pos, "PSOLID {}: FCTN is '{}'; only structures (SMECH) are read, no fluids", pid,
               card_[6].substr(0, 40));
  if (!properties_.try_emplace(pid, std::move(property)).second)
    fail_input(card_.pos, "PSOLID {} is defined a second time", pid);
}

void NastranReader::add_material(std::optional<Isotropic> isotropic, std::optional<Orthotropic> orthotropic,
                                 std::optional<double> density) {
  const std::int64_t mid = id(0, "MID");
  std::vector<Material>& materials = builder_.mesh().materials;
  if (!materials_.try_emplace(mid, static_cast<int>(materials.size())).second)
    fail_input(card_.pos, "material {} is defined a second time", mid);
  materials.push_back({fmt::format("{} {}", card_.name, mid), std::move(isotropic), std::move(orthotropic),
                       density, card_.pos});
}

// MAT1 MID E G NU RHO A TREF GE, where E = 2 (1 + NU) G gives the one of the three that is blank
void NastranReader::mat1() {
  std::optional<double> E = real_or_blank(1, "E"), nu = real_or_blank(3, "NU");
  const std::optional<double> G = real_or_blank(2, "G"), density = real_or_blank(4, "RHO");
  const std::int64_t mid = id(0, "MID");
  if (!E && !G) fail_input(card_.pos, "MAT1 {}: E and G are both blank; give two of E, G and NU", mid);
  if (E && !nu && G) {
    if (!(*G > 0)) wrong(2, "G", "a positive number");
    nu = *E / (2 * *G) - 1;
  } else if (!E && nu) {
    E = 2 * (1 + *nu) * *G;
  } else if (E && !nu) {
    nu = 0;
    diagnostics_.warn("nastran.mat1-nu", fmt::format("MAT1 {}: NU and G are blank; NU is 0", mid), card_.pos);
  } else if (!E) {
    diagnostics_.warn("nastran.mat1-e",
                      fmt::format("MAT1 {}: E and NU are blank; the material has no stiffness", mid),
                      card_.pos);
    return add_material(std::nullopt, std::nullopt, density);
  } else if (G && !(std::abs(*E - 2 * (1 + *nu) * *G) <= 0.01 * std::abs(*E))) {
    // the tolerance is Nastran's own
    diagnostics_.warn("nastran.mat1-g",
                      fmt::format("MAT1 {}: E, G and NU contradict each other; solids use E and NU", mid),
                      card_.pos);
  }
  if (!std::isfinite(*E) || !std::isfinite(*nu))
    fail_input(card_.pos, "MAT1 {}: E, G and NU give no finite stiffness", mid);
  add_material(Isotropic{*E, *nu}, std::nullopt, density);
}

// MAT9 MID G11 G12 G13 G14 G15 G16 G22 / G23 G24 G25 G26 G33 G34 G35 G36 / G44 G45 G46 G55 G56 G66 RHO: the
// upper triangle of the stiffness in the order xx yy zz xy yz zx
void NastranReader::mat9() {
  Eigen::Matrix<double, 6, 6> D = Eigen::Matrix<double, 6, 6>::Zero();
  size_t field = 1;
  for (int i = 0; i < 6; ++i)
    for (int j = i; j < 6; ++j) D(i, j) = D(j, i) = real_or_blank(field++, "Gij").value_or(0);
  const std::optional<double> density = real_or_blank(field, "RHO");

  // orthotropic materials have no terms between stretch and shear, nor between shears
  Eigen::Matrix<double, 6, 6> coupling = D;
  coupling.topLeftCorner<3, 3>().setZero();
  coupling.diagonal().setZero();
  if (!coupling.isZero(0)) {
    diagnostics_.warn(
        "nastran.mat9",
        fmt::format("MAT9 {} couples stretch with shear; only orthotropic materials are read, and "
                    "it is left without stiffness",
                    id(0, "MID")),
        card_.pos);
    return add_material(std::nullopt, std::nullopt, density);
  }

  // the compliance S holds 1/E_i on its diagonal and -nu_ij/E_i beside it
  const Eigen::Matrix3d S = D.topLeftCorner<3, 3>().inverse();
  Orthotropic m;
  m.E1 = 1 / S(0, 0), m.E2 = 1 / S(1, 1), m.E3 = 1 / S(2, 2);
  m.nu12 = -S(0, 1) * m.E1, m.nu13 = -S(0, 2) * m.E1, m.nu23 = -S(1, 2) * m.E2;
  m.G12 = D(3, 3), m.G23 = D(4, 4), m.G13 = D(5, 5);
  for (double value : {m.E1, m.E2, m.E3, m.nu12, m.nu13, m.nu23})
    if (!std::isfinite(value))
      fail_input(card_.pos, "MAT9 {}: the matrix of G11 to G33 is singular", id(0, "MID"));
  add_material(std::nullopt, m, density);
}

// MAT11 MID E1 E2 E3 NU12 NU13 NU23 G12 / G13 G23 RHO
void NastranReader::mat11() {
  Orthotropic m;
  m.E1 = real(1, "E1"), m.E2 = real(2, "E2"), m.E3 = real(3, "E3");
  m.nu12 = real(4, "NU12"), m.nu13 = real(5, "NU13"), m.nu23 = real(6, "NU23");
  m.G12 = real(7, "G12"), m.G13 = real(8, "G13"), m.G23 = real(9, "G23");
  add_material(std::nullopt, m, real_or_blank(10, "RHO"));
}

// MAT12 and OptiStruct's MAT9OR: MID E1 E2 E3 NU12 NU23 NU31 RHO / G12 G23 G31
void NastranReader::mat12() {
  Orthotropic m;
  m.E1 = real(1, "E1"), m.E2 = real(2, "E2"), m.E3 = real(3, "E3");
  if (m.E3 == 0) wrong(3, "E3", "a positive number");
  m.nu12 = real(4, "NU12"), m.nu23 = real(5, "NU23");
  // nu13/E1 = nu31/E3
  m.nu13 = real(6, "NU31") * m.E1 / m.E3;
  m.G12 = real(8, "G12"), m.G23 = real(9, "G23"), m.G13 = real(10, "G31");
  add_material(std::nullopt, m, real_or_blank(7, "RHO"));
}

// Index of the material of a property, or -1 with a warning.
int NastranReader::material_of(std::int64_t pid) {
  const auto it = properties_.find(pid);
  if (it == properties_.end()) {
    diagnostics_.warn("nastran.no-property",
                      fmt::format("there is no PSOLID {}; its elements have no material", pid), {path_});
    return -1;
  }
  const Property& property = it->second;
  const auto material = materials_.find(property.material);
  if (material == materials_.end()) {
    diagnostics_.warn(
        "nastran.no-material",
        fmt::format("PSOLID {} refers to material {}, which is not defined by a card that is read; "
                    "its elements have no material",
                    pid, property.material),
        property.pos);
    return -1;
  }

  // an orthotropic material needs its axes
  std::vector<Material>& materials = builder_.mesh().materials;
  if (!materials[material->second].orthotropic || property.system == 0) return material->second;
  const std::string user = fmt::format("PSOLID {}", pid);
  const NastranSystem* system =
      property.system < 0 ? nullptr : &systems_.at(property.system, user, property.pos);
  if (system == nullptr || system->kind != NastranSystem::Kind::Rectangular) {
    diagnostics_.warn(
        "nastran.material-axes",
        fmt::format("{} turns an orthotropic material from element to element; only rectangular "
                    "coordinate systems are read, and its elements have no material",
                    user),
        property.pos);
    return -1;
  }
  const auto [turned, is_new] =
      turned_materials_.try_emplace({property.material, property.system}, static_cast<int>(materials.size()));
  if (is_new) {
    Material copy = materials[material->second];
    copy.name += fmt::format(" in system {}", property.system);
    copy.orthotropic->axes = system->axes;
    materials.push_back(std::move(copy));
  }
  return turned->second;
}

void NastranReader::finish_materials() {
  Mesh& mesh = builder_.mesh();
  std::map<std::int64_t, std::vector<std::int64_t>> elements;
  std::map<std::int64_t, int> known;
  for (int e = 0; e < mesh.element_count(); ++e) {
    const std::int64_t pid = element_properties_[e];
    auto it = known.find(pid);
    if (it == known.end()) it = known.emplace(pid, material_of(pid)).first;
    mesh.element_material[e] = it->second;
    elements[pid].push_back(mesh.element_ids[e]);
  }
  for (const auto& [pid, members] : elements)
    builder_.add_to_element_set(fmt::format("PSOLID {}", pid), members, {path_});
}

// spiders ---------------------------------------------------------------------------------------------------

void NastranReader::check_spider_components(unsigned found, std::string_view what) {
  if (found != translations && found != all_components)
    diagnostics_.warn(fmt::format("nastran.{}-components", to_lower(card_.name)),
                      fmt::format("{} {}: {} is '{}'; it is read as if it were 123456", card_.name, card_[0],
                                  what, to_string(found)),
                      card_.pos);
}

void NastranReader::add_pending(PendingSpider spider) {
  if (!spider_names_.insert(spider.name).second)
    fail_input(card_.pos, "{} is defined a second time", spider.name);
  spiders_.push_back(std::move(spider));
}

bool is_real(std::string_view word) {
  return !parse_long(word) && parse_double(word);
}

// RBE2 EID GN CM GM1 GM2 ... ALPHA
void NastranReader::rbe2() {
  const std::int64_t eid = id(0, "EID"), reference = id(1, "GN");
  check_spider_components(components(2, "CM"), "CM");
  // a real number behind the nodes is a coefficient of thermal expansion
  std::span<const std::string_view> words = card_.from(3);
  words = words.first(std::find_if(words.begin(), words.end(), is_real) - words.begin());
  add_pending(PendingSpider{
      fmt::format("RBE2 {}", eid), Spider::Kind::Rigid, reference, {{1, ids(words)}}, card_.pos});
}

// RBE3 EID - REFGRID REFC WT1 C1 G1,1 G1,2 ... WT2 C2 G2,1 ... UM ... ALPHA ...
void NastranReader::rbe3() {
  PendingSpider spider{
      fmt::format("RBE3 {}", id(0, "EID")), Spider::Kind::Averaging, id(2, "REFGRID"), {}, card_.pos};
  check_spider_components(components(3, "REFC"), "REFC");

  // groups, each begun by a real number: its weight
  size_t i = 4;
  const auto ends_list = [&] { return iequals(card_[i], "UM") || iequals(card_[i], "ALPHA"); };
  while (i < card_.fields.size() && !ends_list()) {
    if (!spider.groups.empty() && blank(i)) {
      ++i;
      continue;
    }
    PendingSpider::Group group;
    if (blank(i))
      diagnostics_.warn("nastran.rbe3-weight", fmt::format("{}: WT1 is blank and taken as 1", spider.name),
                        card_.pos);
    else
      group.weight = real(i, "WT");
    if (!(group.weight > 0)) wrong(i, "WT", "a positive weight");
    check_spider_components(components(i + 1, "C"), "C");
    i += 2;
    const size_t first = i;
    while (i < card_.fields.size() && !ends_list() && !is_real(card_[i])) ++i;
    group.nodes = ids(card_.from(first).first(i - first));
    spider.groups.push_back(std::move(group));
  }
  if (i < card_.fields.size() && iequals(card_[i], "UM"))
    diagnostics_.warn("nastran.rbe3-um", fmt::format("{}: UM is ignored", spider.name), card_.pos);
  add_pending(std::move(spider));
}

void NastranReader::finish_spiders() {
  for (PendingSpider& spider : spiders_) {
    std::vector<std::int64_t> nodes;
    std::vector<double> weights;
    std::unordered_map<std::int64_t, size_t> place;
    const auto add = [&](std::int64_t node, double weight) {
      if (node == spider.reference)
        fail_input(spider.pos, "{}: node {} is its reference node and depends on itself", spider.name, node);
      const auto [it, is_new] = place.try_emplace(node, nodes.size());
      if (is_new) {
        nodes.push_back(node);
        weights.push_back(weight);
        return;
      }
      diagnostics_.warn(
          "nastran.spider-repeats",
          fmt::format("{}: node {} is listed more than once; it is taken once, with the sum of its "
                      "weights",
                      spider.name, node),
          spider.pos);
      weights[it->second] += weight;
    };
    for (const PendingSpider::Group& group : spider.groups) {
      for (std::int64_t node : group.nodes.single) add(node, group.weight);
      for (std::int64_t node : in_ranges(group.nodes, sorted_nodes_)) add(node, group.weight);
    }
    if (nodes.empty()) fail_input(spider.pos, "{} ties no node to its reference node", spider.name);
    if (spider.kind == Spider::Kind::Rigid) weights.clear();
    builder_.add_spider(spider.name, spider.kind, spider.reference, std::move(nodes), std::move(weights),
                        spider.pos);
  }
}

// sets ------------------------------------------------------------------------------------------------------

// Puts nodes into the set of those that a constraint holds.
void NastranReader::hold(const std::string& name, unsigned held, const NastranIds& nodes) {
  const unsigned moved = held & translations;
  if (moved == 0) {
    // solids have no rotations, and the set would fix what the file leaves free
    diagnostics_.warn(
        "nastran.spc-rotations",
        fmt::format("{} of nodes in '{}' holds no translation and is left out", name, to_string(held)),
        card_.pos);
    return;
  }
  std::string set = name;
  if (moved != translations) {
    set += fmt::format(" ({})", to_string(moved));
    diagnostics_.warn("nastran.spc-components",
                      fmt::format("{} holds nodes in '{}' only; they are put into a set of their own, '{}'",
                                  name, to_string(held), set),
                      card_.pos);
  }
  if (!nodes.single.empty()) builder_.add_to_node_set(set, nodes.single, card_.pos);
  if (!nodes.ranges.empty()) {
    auto& ranges = held_ranges_.try_emplace(set, PendingSet{set, PendingSet::Of::Nodes, {}, card_.pos})
                       .first->second.ids.ranges;
    ranges.insert(ranges.end(), nodes.ranges.begin(), nodes.ranges.end());
  }
}

// SPC SID G1 C1 D1 G2 C2 D2
void NastranReader::spc() {
  const std::string name = fmt::format("SPC {}", id(0, "SID"));
  for (size_t i = 1; i < 7; i += 3) {
    if (i > 1 && blank(i)) break;
    NastranIds node;
    node.single.push_back(id(i, "G"));
    hold(name, components(i + 1, "C"), node);
    if (real_or_blank(i + 2, "D").value_or(0) != 0)
      diagnostics_.warn(
          "nastran.spc-displacement",
          fmt::format("{} prescribes a displacement, which is ignored; the node is put into the set", name),
          card_.pos);
  }
}

// SPC1 SID C G1 G2 ... or SPC1 SID C G1 THRU G2
void NastranReader::spc1() {
  const NastranIds nodes = ids(card_.from(2));
  if (nodes.empty()) wrong(2, "G1", "the id of a node");
  hold(fmt::format("SPC {}", id(0, "SID")), components(1, "C"), nodes);
}

// SET1 SID ID1 ID2 ...
void NastranReader::set1() {
  PendingSet set{fmt::format("SET {}", id(0, "SID")), PendingSet::Of::Either, {}, card_.pos};
  const std::string problem = parse_ids(card_.from(1), set.ids);
  if (problem.empty()) return add_pending(std::move(set));
  diagnostics_.warn("nastran.set", fmt::format("{} is left out: {}", set.name, problem), card_.pos);
}

// SET3 SID DES ID1 ID2 ...
void NastranReader::set3() {
  using Of = PendingSet::Of;
  PendingSet set{fmt::format("SET {}", id(0, "SID")), Of::Nodes, {}, card_.pos};
  if (iequals(card_[1], "GRID")) {
    set.of = Of::Nodes;
  } else if (iequals(card_[1], "ELEM") || iequals(card_[1], "ELEMENT")) {
    set.of = Of::Elements;
  } else if (iequals(card_[1], "PROP")) {
    set.of = Of::Properties;
  } else {
    diagnostics_.warn("nastran.set",
                      fmt::format("{} is left out: it lists '{}', only GRID, ELEM and PROP are read",
                                  set.name, card_[1].substr(0, 40)),
                      card_.pos);
    return;
  }
  set.ids = ids(card_.from(2));
  add_pending(std::move(set));
}

void NastranReader::add_pending(PendingSet set) {
  if (set_names_.insert(set.name).second)
    sets_.push_back(std::move(set));
  else
    diagnostics_.warn("nastran.set-again",
                      fmt::format("{} is defined a second time; the first one is kept", set.name), set.pos);
}

void NastranReader::finish_set(const PendingSet& set) {
  using Of = PendingSet::Of;
  const auto is_node = [&](std::int64_t member) { return builder_.has_node(member); };
  const auto is_element = [&](std::int64_t member) { return builder_.element_index(member) >= 0; };
  const auto keep = [&](const auto& exists, std::span<const std::int64_t> sorted) {
    std::vector<std::int64_t> members = in_ranges(set.ids, sorted);
    std::copy_if(set.ids.single.begin(), set.ids.single.end(), std::back_inserter(members), exists);
    return members;
  };
  const auto& single = set.ids.single;

  if (set.of == Of::Properties) {
    // the elements of every property listed
    std::vector<std::int64_t> pids = element_properties_;
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    const auto members =
        keep([&](auto pid) { return std::binary_search(pids.begin(), pids.end(), pid); }, pids);
    const std::set<std::int64_t> wanted(members.begin(), members.end());
    std::vector<std::int64_t> elements;
    for (size_t e = 0; e < element_properties_.size(); ++e)
      if (wanted.contains(element_properties_[e])) elements.push_back(builder_.mesh().element_ids[e]);
    return builder_.add_to_element_set(set.name, elements, set.pos);
  }

  if (set.of == Of::Either) {
    const auto nodes = keep(is_node, sorted_nodes_);
    const auto elements = keep(is_element, sorted_elements_);
    const bool of_nodes = !nodes.empty() && std::all_of(single.begin(), single.end(), is_node);
    const bool of_elements = !elements.empty() && std::all_of(single.begin(), single.end(), is_element);
    if (of_nodes) builder_.add_to_node_set(set.name, nodes, set.pos);
    if (of_elements) builder_.add_to_element_set(set.name, elements, set.pos);
    if (!of_nodes && !of_elements)
      diagnostics_.warn(
          "nastran.set",
          fmt::format("{} is left out: its ids are neither all nodes nor all elements", set.name), set.pos);
    return;
  }

  // nodes or elements: those that were not read are left out
  const bool of_nodes = set.of == Of::Nodes;
  const auto members = of_nodes ? keep(is_node, sorted_nodes_) : keep(is_element, sorted_elements_);
  const auto missing = of_nodes ? std::find_if_not(single.begin(), single.end(), is_node)
                                : std::find_if_not(single.begin(), single.end(), is_element);
  if (missing != single.end())
    diagnostics_.warn("nastran.set-member",
                      fmt::format("{} lists {} {}, which was not read; such members are left out", set.name,
                                  of_nodes ? "node" : "element", *missing),
                      set.pos);
  if (members.empty())
    diagnostics_.warn("nastran.set-empty", fmt::format("{} has no member that was read", set.name), set.pos);
  if (of_nodes)
    builder_.add_to_node_set(set.name, members, set.pos);
  else
    builder_.add_to_element_set(set.name, members, set.pos);
}

void NastranReader::finish_sets() {
  for (const NastranCaseSet& found : cards_.case_sets()) {
    if (found.text == "ALL") continue;
    PendingSet set{fmt::format("CASE SET {}", found.id), PendingSet::Of::Either, {}, found.pos};
    std::string words = found.text;
    std::replace(words.begin(), words.end(), ',', ' ');
    const std::string problem = parse_ids(split_blanks(words), set.ids);
    if (problem.empty())
      add_pending(std::move(set));
    else
      diagnostics_.warn("nastran.set", fmt::format("{} is left out: {}", set.name, problem), found.pos);
  }
  for (const PendingSet& set : sets_) finish_set(set);
  for (const auto& [name, set] : held_ranges_) finish_set(set);
}

// everything else -------------------------------------------------------------------------------------------

void NastranReader::param() {
  if (iequals(card_[0], "WTMASS") && parse_double(card_[1]) != 1.0)
    diagnostics_.warn(
        "nastran.wtmass",
        fmt::format("PARAM,WTMASS,{} is ignored: densities are those of the material cards", card_[1]),
        card_.pos);
}

void NastranReader::other() {
  if (settings.contains(card_.name)) return;
  if (card_.name == "CPYRAM" || card_.name == "CPYRA")
    fail_input(card_.pos, "{}: pyramids are not read; mesh the body with CTETRA, CHEXA and CPENTA only",
               card_.name);
  if (loads.contains(card_.name)) {
    diagnostics_.warn("nastran.loads", fmt::format("loads such as {} are not read", card_.name), card_.pos);
  } else if (material_tables.contains(card_.name)) {
    diagnostics_.warn(
        "nastran.material-tables",
        fmt::format("{}: a material's change with temperature or strain is not read", card_.name), card_.pos);
  } else if (cards_of_parts.contains(card_.name)) {
    if (with_property.contains(card_.name))
      elements_left_out_.push_back({card_.name, std::string(card_[blank(1) ? 0 : 1]), card_.pos});
    else
      left_out_.add(card_.name, card_.pos);
    diagnostics_.warn(
        "nastran.unknown-card." + card_.name,
        fmt::format("{} is left out of the mesh: only solid elements (CTETRA, CHEXA, CPENTA) and "
                    "spiders (RBE2, RBE3) are read",
                    card_.name),
        card_.pos);
  } else {
    if (property_cards.contains(card_.name)) other_properties_.emplace(card_[0]);
    unknown_.insert(card_.name);
    if (unknown_.size() > max_unknown_cards)
      fail_input(card_.pos, "more than {} different cards are unknown; is this a Nastran file?",
                 max_unknown_cards);
    diagnostics_.warn("nastran.unknown-card." + card_.name,
                      fmt::format("the card {} is not known and is left out", card_.name), card_.pos);
  }
}

Mesh NastranReader::read(bool skip_elements) {
  using Handler = void (NastranReader::*)();
  static const std::unordered_map<std::string_view, Handler> handlers = {
      {"GRID", &NastranReader::grid},      {"GRDSET", &NastranReader::grdset},
      {"CTETRA", &NastranReader::element}, {"CHEXA", &NastranReader::element},
      {"CPENTA", &NastranReader::element}, {"CORD1R", &NastranReader::cord1},
      {"CORD1C", &NastranReader::cord1},   {"CORD1S", &NastranReader::cord1},
      {"CORD2R", &NastranReader::cord2},   {"CORD2C", &NastranReader::cord2},
      {"CORD2S", &NastranReader::cord2},   {"PSOLID", &NastranReader::psolid},
      {"MAT1", &NastranReader::mat1},      {"MAT9", &NastranReader::mat9},
      {"MAT9OR", &NastranReader::mat12},   {"MAT9ORT", &NastranReader::mat12},
      {"MAT11", &NastranReader::mat11},    {"MAT12", &NastranReader::mat12},
      {"RBE2", &NastranReader::rbe2},      {"RBE3", &NastranReader::rbe3},
      {"SPC", &NastranReader::spc},        {"SPC1", &NastranReader::spc1},
      {"SET1", &NastranReader::set1},      {"SET3", &NastranReader::set3},
      {"PARAM", &NastranReader::param}};
  while (cards_.next(card_)) {
    const auto it = handlers.find(card_.name);
    (this->*(it == handlers.end() ? &NastranReader::other : it->second))();
  }

  for (const ElementLeftOut& element : elements_left_out_)
    if (other_properties_.contains(element.property)) left_out_.add(element.name, element.pos);
  left_out_.check(skip_elements, path_);

  // what refers to cards that may come later
  place_nodes();
  sorted_nodes_ = builder_.mesh().node_ids;
  sorted_elements_ = builder_.mesh().element_ids;
  std::sort(sorted_nodes_.begin(), sorted_nodes_.end());
  std::sort(sorted_elements_.begin(), sorted_elements_.end());
  finish_sets();
  finish_spiders();
  finish_materials();
  return builder_.finish();
}

}  // namespace

Mesh read_nastran(std::string_view bytes, const std::string& path, const FileLoader& load,
                  Diagnostics& diagnostics, bool skip_elements) {
  return NastranReader(bytes, path, load, diagnostics).read(skip_elements);
}

}  // namespace lissom
