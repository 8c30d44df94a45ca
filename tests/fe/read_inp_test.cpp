#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lissom/core/text.hpp"
#include "lissom/fe/mesh_reader.hpp"

namespace lissom::read_inp_test {
namespace {

struct Result {
  Mesh mesh;
  Diagnostics diagnostics;

  const Warning& warning(std::string_view key) const {
    static const Warning none = {"", "no such warning", {}, 0};
    const Warning* found = diagnostics.find(key);
    return found ? *found : none;
  }
  std::string all_warnings() const {
    std::string text;
    for (const Warning& warning : diagnostics.warnings()) text += to_string(warning) + "\n";
    return text;
  }
};

using Files = std::map<std::string, std::string>;

// Elements and constraints that are not read are skipped, unless a test asks how they are refused.
Result read(std::string_view text, const Files& files = {}, bool skip_elements = true) {
  Result result;
  const FileLoader load = [&](const std::filesystem::path& path) {
    const auto it = files.find(path.string());
    if (it == files.end()) fail_input("{}: no such file", path.string());
    return it->second;
  };
  result.mesh = read_inp(text, "dir/m.inp", load, result.diagnostics, skip_elements);
  return result;
}

std::string error_of(std::string_view text, const Files& files = {}, bool skip_elements = true) {
  try {
    read(text, files, skip_elements);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// ids of a set's members
std::set<std::int64_t> node_ids(const Mesh& mesh, const std::string& name) {
  std::set<std::int64_t> ids;
  const auto it = mesh.node_sets.find(name);
  if (it == mesh.node_sets.end()) return {-1};
  for (int i : it->second) ids.insert(mesh.node_ids[i]);
  return ids;
}
std::set<std::int64_t> element_ids(const Mesh& mesh, const std::string& name) {
  std::set<std::int64_t> ids;
  const auto it = mesh.element_sets.find(name);
  if (it == mesh.element_sets.end()) return {-1};
  for (int i : it->second) ids.insert(mesh.element_ids[i]);
  return ids;
}
using Ids = std::set<std::int64_t>;

// a tetrahedron and the tetrahedron mirrored at its face 2-3-4
const std::string tets = R"(*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
5, 1, 1, 1
)";
const std::string tet_elements = "*ELEMENT, TYPE=C3D4, ELSET=EALL\n1, 1, 2, 3, 4\n2, 2, 3, 4, 5\n";

TEST(Inp, KeywordsAreReadInAnyCaseWithBlanksCommentsAndContinuation) {
  const Result r = read(R"(** a comment
*Heading
 some text, with commas
*node , nset = All Nodes
  1 , 0. , 0. , 0.
** between data
2,1.0D0,,

3,0,1E0
4,0,0,1.,
*ELEMENT,
 type = c3d4 ,
** between
 ELSET="Body"
10,1,2,
3,4
)");
  ASSERT_EQ(r.mesh.node_count(), 4);
  ASSERT_EQ(r.mesh.element_count(), 1);
  EXPECT_EQ(r.mesh.points.col(1), Eigen::Vector3d(1, 0, 0));
  EXPECT_EQ(r.mesh.points.col(3), Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(r.mesh.element_ids[0], 10);
  EXPECT_EQ(node_ids(r.mesh, "All Nodes"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(element_ids(r.mesh, "Body"), (Ids{10}));
  EXPECT_TRUE(r.diagnostics.empty()) << r.all_warnings();
}

TEST(Inp, LineEndingsOfWindowsAndAByteOrderMarkAreRead) {
  const Result r = read("\xEF\xBB\xBF*NODE\r\n1,0,0,0\r\n2,1,0,0\r\n");
  EXPECT_EQ(r.mesh.node_count(), 2);
}

TEST(Inp, CylindricalNodesAreTurnedIntoCartesianOnes) {
  const Result r = read("*NODE, SYSTEM=C\n1, 2, 90, 3\n");
  // two rounded operations on numbers of size 2
  EXPECT_NEAR((r.mesh.points.col(0) - Eigen::Vector3d(0, 2, 3)).norm(), 0, 1e-15);
}

// Corners of the reference elements; mid-side nodes follow in the order of the manuals, which is written out
// here as pairs of corners (Abaqus, CalculiX: bottom edges, top edges, upright edges).
struct Reference {
  std::string type;
  ElementType expected;
  std::vector<Eigen::Vector3d> corners;
  std::vector<std::pair<int, int>> edges;
  // corners of S1, S2, ..., 1-based
  std::vector<std::vector<int>> faces;
};
std::vector<Reference> references() {
  const std::vector<Eigen::Vector3d> tet = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<Eigen::Vector3d> wedge = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                              {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const std::vector<Eigen::Vector3d> hex = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                            {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  const std::vector<std::pair<int, int>> tet_edges = {{1, 2}, {2, 3}, {3, 1}, {1, 4}, {2, 4}, {3, 4}};
  const std::vector<std::pair<int, int>> wedge_edges = {{1, 2}, {2, 3}, {3, 1}, {4, 5}, {5, 6},
                                                        {6, 4}, {1, 4}, {2, 5}, {3, 6}};
  const std::vector<std::pair<int, int>> hex_edges = {{1, 2}, {2, 3}, {3, 4}, {4, 1}, {5, 6}, {6, 7},
                                                      {7, 8}, {8, 5}, {1, 5}, {2, 6}, {3, 7}, {4, 8}};
  const std::vector<std::vector<int>> tet_faces = {{1, 2, 3}, {1, 2, 4}, {2, 3, 4}, {1, 3, 4}};
  const std::vector<std::vector<int>> wedge_faces = {
      {1, 2, 3}, {4, 5, 6}, {1, 2, 4, 5}, {2, 3, 5, 6}, {1, 3, 4, 6}};
  const std::vector<std::vector<int>> hex_faces = {{1, 2, 3, 4}, {5, 6, 7, 8}, {1, 2, 5, 6},
                                                   {2, 3, 6, 7}, {3, 4, 7, 8}, {1, 4, 5, 8}};
  return {{"C3D4", ElementType::Tet4, tet, {}, tet_faces},
          {"C3D10", ElementType::Tet10, tet, tet_edges, tet_faces},
          {"C3D6", ElementType::Wedge6, wedge, {}, wedge_faces},
          {"C3D15", ElementType::Wedge15, wedge, wedge_edges, wedge_faces},
          {"C3D8I", ElementType::Hex8, hex, {}, hex_faces},
          {"C3D20", ElementType::Hex20, hex, hex_edges, hex_faces}};
}

// The element as text, connectivity over lines of `per_line` numbers, and a surface FACE1, FACE2, ... each.
std::string deck_of(const Reference& reference, size_t per_line) {
  std::string text = "*NODE\n";
  std::vector<Eigen::Vector3d> x = reference.corners;
  for (const auto& [a, b] : reference.edges) x.push_back((x[a - 1] + x[b - 1]) / 2);
  for (size_t i = 0; i < x.size(); ++i)
    text += fmt::format("{}, {}, {}, {}\n", i + 1, x[i][0], x[i][1], x[i][2]);
  text += fmt::format("*ELEMENT, TYPE={}\n7", reference.type);
  for (size_t i = 0; i < x.size(); ++i)
    text += fmt::format(",{}{}", (i + 1) % per_line == 0 ? "\n" : " ", i + 1);
  text += "\n";
  for (size_t f = 0; f < reference.faces.size(); ++f)
    text += fmt::format("*SURFACE, NAME=FACE{}\n7, S{}\n", f + 1, f + 1);
  return text;
}

TEST(Inp, MidSideNodesOfAllElementsStandBetweenTheirCorners) {
  for (const Reference& reference : references())
    for (size_t per_line : {5, 16}) {
      const Result r = read(deck_of(reference, per_line));
      ASSERT_EQ(r.mesh.element_count(), 1) << reference.type;
      ASSERT_EQ(r.mesh.types[0], reference.expected);
      const auto nodes = r.mesh.element_nodes(0);
      const auto edges = mid_side_edges(reference.expected);
      ASSERT_EQ(edges.size(), reference.edges.size());
      for (size_t k = 0; k < edges.size(); ++k) {
        const Eigen::Vector3d middle =
            (r.mesh.points.col(nodes[edges[k][0]]) + r.mesh.points.col(nodes[edges[k][1]])) / 2;
        // halves are exact in binary
        EXPECT_EQ(r.mesh.points.col(nodes[corner_count(reference.expected) + static_cast<int>(k)]), middle)
            << reference.type << " edge " << k;
      }
      EXPECT_TRUE(r.diagnostics.empty()) << r.all_warnings();
    }
}

TEST(Inp, ElementFacesBecomeSetsOfTheirNodesWithTheMidSideOnes) {
  for (const Reference& reference : references()) {
    const Result r = read(deck_of(reference, 8));
    for (size_t f = 0; f < reference.faces.size(); ++f) {
      const auto& corners = reference.faces[f];
      Ids expected(corners.begin(), corners.end());
      for (size_t k = 0; k < reference.edges.size(); ++k) {
        const auto [a, b] = reference.edges[k];
        if (std::count(corners.begin(), corners.end(), a) && std::count(corners.begin(), corners.end(), b))
          expected.insert(static_cast<std::int64_t>(reference.corners.size() + k + 1));
      }
      EXPECT_EQ(node_ids(r.mesh, fmt::format("FACE{}", f + 1)), expected) << reference.type << " S" << f + 1;
    }
  }
}

TEST(Inp, ReducedAndHybridElementsAreMappedWithAWarning) {
  for (const char* type : {"C3D4H", "C3D4T", "c3d4h"}) {
    const Result r = read(tets + "*ELEMENT, TYPE=" + type + "\n1, 1, 2, 3, 4\n2, 2, 3, 4, 5\n");
    EXPECT_EQ(r.mesh.element_count(), 2);
    const Warning& warning = r.warning("inp.element." + to_upper(type));
    EXPECT_EQ(warning.message, fmt::format("2 elements of type {} are read as tet4, fully integrated in "
                                           "displacements alone",
                                           to_upper(type)));
    EXPECT_EQ(to_string(warning.where), "dir/m.inp:7");
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> variants = {
      {"C3D8I", {"C3D8", "C3D8R", "C3D8H", "C3D8RH", "C3D8T"}},
      {"C3D20", {"C3D20R", "C3D20RH", "C3D20H"}},
      {"C3D10", {"C3D10M", "C3D10H", "C3D10MH", "C3D10T", "C3D10HS"}},
      {"C3D15", {"C3D15H"}},
      {"C3D6", {"C3D6T"}}};
  for (Reference reference : references())
    for (const auto& [plain, types] : variants)
      if (plain == reference.type)
        for (const std::string& type : types) {
          Reference variant = reference;
          variant.type = type;
          const Result r = read(deck_of(variant, 16));
          EXPECT_EQ(r.mesh.types[0], reference.expected) << type;
          EXPECT_EQ(r.warning("inp.element." + type).count, 1) << type;
        }
}

TEST(Inp, SkippedElementsArePassedOverWithAllTheirLines) {
  // a heat element of 20 nodes without commas at line ends, a shell, a beam, a connector of instances
  const Result r = read(tets + R"(*ELEMENT, TYPE=DC3D20, ELSET=HEAT
90, 1,2,3,4,5,1,2,3,4,5,1,2,3,4,5
1,2,3,4,5
*ELEMENT, TYPE=S4R, ELSET=SHELLS
91, 1, 2, 3, 4
92, 1, 2, 3, 5
*ELEMENT, TYPE=B31
93, 1, 2
*ELEMENT, TYPE=CONN3D2
94, Part-1-1.1, 2, 0
*ELEMENT, TYPE=C3D5
95, 1,2,3,4,5
)" + tet_elements);
  EXPECT_EQ(r.mesh.element_count(), 2);
  EXPECT_EQ(r.warning("inp.element.DC3D20").message, "1 elements of type DC3D20 are skipped");
  EXPECT_EQ(r.warning("inp.element.S4R").message, "2 elements of type S4R are skipped");
  EXPECT_EQ(r.warning("inp.element.C3D5").message,
            "1 elements of type C3D5 are skipped: the body lacks them");
}

// C3D8I has incompatible modes, as hex8 has; C3D8 has not.
TEST(Inp, PlainBricksAreSaidToBeReadWithIncompatibleModes) {
  const std::string nodes = "*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n";
  const auto deck = [&](const std::string& type) {
    return nodes + "*ELEMENT, TYPE=" + type + "\n1, 1,2,3,4,5,6,7,8\n";
  };
  EXPECT_TRUE(read(deck("C3D8I")).diagnostics.empty()) << read(deck("C3D8I")).all_warnings();
  for (const std::string type : {"C3D8", "C3D8R"})
    EXPECT_EQ(read(deck(type)).warning("inp.element." + type).message,
              "1 elements of type " + type +
                  " are read as hex8, fully integrated and with incompatible modes, which is C3D8I");
}

TEST(Inp, PartsOfTheBodyThatAreNotReadAreAnErrorUnlessTheyAreSkipped) {
  const std::string whole = tets + tet_elements;
  EXPECT_EQ(
      error_of(whole +
                   "*ELEMENT, TYPE=S4R, ELSET=SHELLS\n91, 1, 2, 3, 4\n92, 1, 2, 3, 5\n*ELEMENT, TYPE=MASS\n"
                   "93, 1\n*TIE\nA, B\n*MPC\nLINK, 1, 2\n",
               {}, false),
      "dir/m.inp: parts of the body are not read: 1 *TIE (first at line 15), 1 *MPC of type LINK (first at "
      "line 18), 1 elements of type MASS (first at line 13), 2 elements of type S4R (first at line 10); "
      "without them it lacks stiffness, mass or constraints. Model them with solid elements and spiders, or "
      "leave them out with --skip-elements (in a study: skip_elements = true)");
  for (const std::string card :
       {"*ELEMENT, TYPE=B31\n93, 1, 2\n", "*ELEMENT, TYPE=SPRINGA\n93, 1, 2\n",
        "*ELEMENT, TYPE=C3D5\n93, 1,2,3,4,5\n", "*EQUATION\n2\n1,1,1.,2,1,-1.\n", "*CONTACT PAIR\nA, B\n",
        "*NONSTRUCTURAL MASS\n1.\n", "*KINEMATIC COUPLING, REF NODE=1\n2, 1, 2\n"}) {
    EXPECT_NE(error_of(whole + card, {}, false).find("parts of the body are not read: 1 "), std::string::npos)
        << card;
    EXPECT_EQ(error_of(whole + card), "no error") << card;
  }
  // what includes hold is found there
  EXPECT_NE(error_of(whole + "*INCLUDE, INPUT=more.inp\n",
                     {{"dir/more.inp", "*ELEMENT, TYPE=S3\n93, 1, 2, 3\n"}}, false)
                .find("1 elements of type S3 (first at dir/more.inp:1)"),
            std::string::npos);
}

// Gmsh writes faces and edges as CPS3 and T3D2; with a section they are a membrane and a truss.
TEST(Inp, ElementsThatMarkFacesAreNoPartOfTheBodyAsLongAsTheyHaveNoSection) {
  const std::string faces =
      "*ELEMENT, TYPE=CPS3, ELSET=FACE\n11, 1, 2, 3\n*ELEMENT, TYPE=T3D2, ELSET=EDGE\n12, 1, 2\n";
  EXPECT_EQ(error_of(tets + tet_elements + faces, {}, false), "no error");
  EXPECT_EQ(node_ids(read(tets + tet_elements + faces, {}, false).mesh, "FACE"), (Ids{1, 2, 3}));
  EXPECT_NE(
      error_of(tets + tet_elements + faces + "*MATERIAL, NAME=M\n*SOLID SECTION, ELSET=EDGE, MATERIAL=M\n",
               {}, false)
          .find("1 trusses or plane elements with the *SOLID SECTION of 'EDGE'"),
      std::string::npos);
}

TEST(Inp, SetsOfSkippedElementsBecomeNodeSetsAndMixedOnesLoseThem) {
  const Result r = read(tets + tet_elements + R"(*ELEMENT, TYPE=CPS3, ELSET=FACE
11, 1, 2, 3
*ELSET, ELSET=MIXED
1, 11
)");
  EXPECT_EQ(node_ids(r.mesh, "FACE"), (Ids{1, 2, 3}));
  EXPECT_FALSE(r.mesh.element_sets.contains("FACE"));
  EXPECT_EQ(element_ids(r.mesh, "MIXED"), (Ids{1}));
  EXPECT_EQ(r.warning("inp.set-of-skipped").count, 1);
  EXPECT_EQ(r.warning("inp.set-without-skipped").message,
            "element set 'MIXED' loses 1 elements of skipped types");
}

TEST(Inp, SetsAreMadeOfNumbersRangesAndOtherSets) {
  const Result r = read(tets + tet_elements + R"(*NSET, NSET=Odd, GENERATE
1, 5, 2
*NSET, NSET=mix, UNSORTED
4, ODD,
1
*NSET, NSET=later
whole, 1
*NSET, NSET=Whole, GENERATE
1, 4
*Nset, nset=MIX
2
*NSET, NSET=of elements, ELSET=second
*ELSET, ELSET=second
2
*ELSET, ELSET=both
second, 1
*SURFACE, TYPE=NODE, NAME=nodes
odd, 1.
2,
)");
  EXPECT_EQ(node_ids(r.mesh, "Odd"), (Ids{1, 3, 5}));
  EXPECT_EQ(node_ids(r.mesh, "mix"), (Ids{1, 2, 3, 4, 5}));
  EXPECT_FALSE(r.mesh.node_sets.contains("MIX"));
  EXPECT_EQ(node_ids(r.mesh, "later"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(node_ids(r.mesh, "of elements"), (Ids{2, 3, 4, 5}));
  EXPECT_EQ(element_ids(r.mesh, "both"), (Ids{1, 2}));
  EXPECT_EQ(node_ids(r.mesh, "nodes"), (Ids{1, 2, 3, 5}));
  EXPECT_TRUE(r.diagnostics.empty()) << r.all_warnings();
}

TEST(Inp, ARangeLargerThanTheMeshTakesWhatThereIs) {
  const Result r = read(tets + "*NSET, NSET=ALL, GENERATE\n1, 2000000000\n");
  EXPECT_EQ(node_ids(r.mesh, "ALL"), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(r.warning("inp.generate-holes").message,
            "set 'ALL' generates 2000000000 nodes, of which 1999999995 are not defined and left out");
}

TEST(Inp, SectionsFindMaterialsAndSetsThatComeLater) {
  const Result r = read(tets + R"(*SOLID SECTION, ELSET=Second, MATERIAL=Steel
1.,
*SOLID SECTION, ELSET=FIRST, MATERIAL=alu
)" + tet_elements + R"(*ELSET, ELSET=FIRST
1
*ELSET, ELSET=SECOND
2
*MATERIAL, NAME=ALU
*DENSITY
2700.,
*ELASTIC, TYPE=ISO
70e9, .33
*MATERIAL, NAME=STEEL
*ELASTIC
210e9, .3, 20
200e9, .31, 100
*DENSITY
7850, 20
7800, 100
)");
  ASSERT_EQ(r.mesh.materials.size(), 2u);
  EXPECT_EQ(r.mesh.element_material, (std::vector<int>{0, 1}));
  EXPECT_EQ(r.mesh.materials[0].density, 2700);
  EXPECT_EQ(r.mesh.materials[0].isotropic->nu, .33);
  EXPECT_EQ(r.mesh.materials[1].isotropic->E, 210e9);
  EXPECT_EQ(r.mesh.materials[1].density, 7850);
  EXPECT_EQ(r.warning("inp.table").count, 2);
  EXPECT_EQ(r.warning("inp.table").message,
            "*ELASTIC of material 'STEEL' is a table; its first row is taken");
}

TEST(Inp, ElementsInTwoSectionsKeepTheLastWithAWarning) {
  const Result r = read(tets + tet_elements +
                        "*MATERIAL, NAME=A\n*MATERIAL, NAME=B\n*SOLID SECTION, ELSET=EALL, MATERIAL=A\n"
                        "*ELSET, ELSET=X\n2\n*SOLID SECTION, ELSET=X, MATERIAL=B\n");
  EXPECT_EQ(r.mesh.element_material, (std::vector<int>{0, 1}));
  EXPECT_EQ(r.warning("inp.section-twice").count, 1);
}

TEST(Inp, EngineeringConstantsAndOrthotropicStiffnessMeanTheSame) {
  // without Poisson's ratios the stiffness is the moduli themselves; the third one is isotropic
  const Result r = read(tets + R"(*MATERIAL, NAME=EC
*ELASTIC, TYPE=ENGINEERING CONSTANTS
10., 20., 30., .1, .2, .3, 4., 5.,
6., 293.
*MATERIAL, NAME=ORTHO
*ELASTIC, TYPE=ORTHO
10., 0., 20., 0., 0., 30., 4., 5.,
6., 293.
*MATERIAL, NAME=ISO
** E = 1, nu = 0.25: D1111 = 1.2, D1122 = 0.4, G = 0.4
*ELASTIC, TYPE=ORTHOTROPIC
1.2, .4, 1.2, .4, .4, 1.2, .4, .4
.4
)");
  const Orthotropic& ec = *r.mesh.materials[0].orthotropic;
  EXPECT_EQ(ec.E3, 30);
  EXPECT_EQ(ec.nu12, .1);
  EXPECT_EQ(ec.nu13, .2);
  EXPECT_EQ(ec.nu23, .3);
  EXPECT_EQ(ec.G12, 4);
  EXPECT_EQ(ec.G13, 5);
  EXPECT_EQ(ec.G23, 6);
  const Orthotropic& ortho = *r.mesh.materials[1].orthotropic;
  // a 3 by 3 inverse of numbers of size 1: a few units in the last place
  EXPECT_NEAR(ortho.E1, 10, 1e-13);
  EXPECT_NEAR(ortho.E2, 20, 1e-13);
  EXPECT_NEAR(ortho.E3, 30, 1e-13);
  EXPECT_NEAR(ortho.nu12, 0, 1e-15);
  EXPECT_EQ(ortho.G23, 6);
  const Orthotropic& iso = *r.mesh.materials[2].orthotropic;
  for (double E : {iso.E1, iso.E2, iso.E3}) EXPECT_NEAR(E, 1, 1e-14);
  for (double nu : {iso.nu12, iso.nu13, iso.nu23}) EXPECT_NEAR(nu, .25, 1e-14);
}

const std::string wood = R"(*MATERIAL, NAME=WOOD
*ELASTIC, TYPE=ENGINEERING CONSTANTS
10., 20., 30., .1, .2, .3, 4., 5.,
6.
)";

TEST(Inp, OrientationsTurnTheAxesOfOrthotropicMaterials) {
  const Result r = read(tets + tet_elements + wood + R"(*ORIENTATION, NAME=OR1
0., 2., 0., -1., 1., 0.
*ORIENTATION, NAME=OR2, SYSTEM=Z RECTANGULAR
1., 0., 0., 1., 1., 0.
*ORIENTATION, NAME=OR3
2., 1., 1., 1., 2., 1., 1., 1., 1.
3, 90.
*ELSET, ELSET=A
1
*ELSET, ELSET=B
2
*SOLID SECTION, ELSET=A, MATERIAL=WOOD, ORIENTATION=or1
*SOLID SECTION, ELSET=B, MATERIAL=WOOD, ORIENTATION=OR2
*SOLID SECTION, ELSET=EMPTY, MATERIAL=WOOD, ORIENTATION=OR3
*ELSET, ELSET=EMPTY
)");
  ASSERT_EQ(r.mesh.materials.size(), 3u);
  EXPECT_EQ(r.mesh.element_material, (std::vector<int>{0, 1}));
  EXPECT_EQ(r.mesh.materials[0].name, "WOOD");
  EXPECT_EQ(r.mesh.materials[1].name, "WOOD@OR2");
  Eigen::Matrix3d first, second, third;
  first << 0, -1, 0, 1, 0, 0, 0, 0, 1;  // x' = y, y' = -x
  second << 0, 0, 1, 1, 0, 0, 0, 1, 0;  // z' = x, x' = y, y' = z
  third << 0, -1, 0, 1, 0, 0, 0, 0, 1;  // the global axes turned by 90 degrees about z
  // products of exact axes and one cosine of 90 degrees
  EXPECT_NEAR((r.mesh.materials[0].orthotropic->axes - first).norm(), 0, 1e-15);
  EXPECT_NEAR((r.mesh.materials[1].orthotropic->axes - second).norm(), 0, 1e-15);
  EXPECT_NEAR((r.mesh.materials[2].orthotropic->axes - third).norm(), 0, 1e-15);
}

// a part of one tetrahedron with its set and section
const std::string one_part = R"(*Part, name=Part-1
*Node
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
*Element, type=C3D4
1, 1, 2, 3, 4
*Nset, nset=Set-1
1, 2
*Elset, elset=Set-1
1
*Surface, type=ELEMENT, name=Surf
Set-1, S3
*Orientation, name=Ori
1,0,0, 0,1,0
*Solid Section, elset=Set-1, material=WOOD, orientation=Ori
,
*End Part
)";

TEST(Inp, ALoneInstanceKeepsItsIdsAndTheReferencePointMovesAside) {
  const Result r = read(one_part + R"(*Assembly, name=Assembly
*Instance, name=Part-1-1, part=part-1
10, 0, 0
10, 0, 0, 10, 0, 1, 90
*End Instance
*Node
1, 5, 5, 5
*Nset, nset=RP
1
*Nset, nset=Set-1, instance=Part-1-1
3, 4
*Nset, nset=far
part-1-1.Set-1, Part-1-1.4, RP
*Elset, elset=_Surf-2_S1, internal, instance=Part-1-1
Set-1
*Surface, name=Surf-2
_Surf-2_S1, S1
*Coupling, constraint name=C1, ref node=RP, surface=Part-1-1.Surf
*Kinematic
*Coupling, constraint name=C2, ref node=1, surface=Surf-2
*Distributing
*End Assembly
)" + wood);
  EXPECT_EQ(r.mesh.node_ids, (std::vector<std::int64_t>{1, 2, 3, 4, 11}));
  EXPECT_EQ(
      r.warning("inp.renumbered").message,
      "ids of different instances are the same; they are raised per instance: Part-1-1 +0, assembly +10");
  // moved by 10 along x, then turned by 90 degrees about the line x = 10, y = 0 along z
  // one rotation matrix with entries of 1e-16 times coordinates of 10
  EXPECT_NEAR((r.mesh.points.col(0) - Eigen::Vector3d(10, 0, 0)).norm(), 0, 1e-14);
  EXPECT_NEAR((r.mesh.points.col(1) - Eigen::Vector3d(10, 1, 0)).norm(), 0, 1e-14);
  EXPECT_NEAR((r.mesh.points.col(2) - Eigen::Vector3d(9, 0, 0)).norm(), 0, 1e-14);
  // the material turns along
  EXPECT_NEAR((r.mesh.materials.at(0).orthotropic->axes.col(0) - Eigen::Vector3d(0, 1, 0)).norm(), 0, 1e-15);
  EXPECT_EQ(r.mesh.element_material, (std::vector<int>{0}));
  // sets of the assembly and of the part
  EXPECT_EQ(node_ids(r.mesh, "RP"), (Ids{11}));
  EXPECT_EQ(node_ids(r.mesh, "Set-1"), (Ids{3, 4}));
  EXPECT_EQ(node_ids(r.mesh, "Part-1-1.Set-1"), (Ids{1, 2}));
  EXPECT_EQ(r.warning("inp.set-renamed").count, 1);
  EXPECT_EQ(node_ids(r.mesh, "far"), (Ids{1, 2, 4, 11}));
  EXPECT_EQ(node_ids(r.mesh, "Surf"), (Ids{2, 3, 4}));
  EXPECT_EQ(node_ids(r.mesh, "Surf-2"), (Ids{1, 2, 3}));
  // spiders
  ASSERT_EQ(r.mesh.spiders.size(), 2u);
  EXPECT_EQ(r.mesh.spiders[0].name, "C1");
  EXPECT_EQ(r.mesh.spiders[0].kind, Spider::Kind::Rigid);
  EXPECT_EQ(r.mesh.spiders[0].reference, 4);
  EXPECT_EQ(r.mesh.spiders[0].nodes, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(r.mesh.spiders[1].kind, Spider::Kind::Averaging);
  EXPECT_EQ(r.mesh.spiders[1].nodes, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(r.warning("inp.distributing-weights").count, 1);
}

TEST(Inp, SeveralInstancesOfAPartHaveTheirOwnIdsSetsAndMaterialAxes) {
  const Result r = read(wood + one_part + R"(*Assembly, name=A
*Instance, name=I-1, part=Part-1
*End Instance
*Instance, name=I-2, part=Part-1
0, 0, 5
0, 0, 0, 1, 0, 0, 90
*Nset, nset=inner
Set-1, 3
*End Instance
*End Assembly
)");
  EXPECT_EQ(r.mesh.node_ids, (std::vector<std::int64_t>{1, 2, 3, 4, 11, 12, 13, 14}));
  EXPECT_EQ(r.mesh.element_ids, (std::vector<std::int64_t>{1, 11}));
  EXPECT_EQ(r.warning("inp.renumbered").message,
            "ids of different instances are the same; they are raised per instance: I-1 +0, I-2 +10");
  EXPECT_EQ(node_ids(r.mesh, "I-1.Set-1"), (Ids{1, 2}));
  EXPECT_EQ(node_ids(r.mesh, "I-2.Set-1"), (Ids{11, 12}));
  EXPECT_EQ(node_ids(r.mesh, "I-2.inner"), (Ids{11, 12, 13}));
  EXPECT_EQ(element_ids(r.mesh, "I-2.Set-1"), (Ids{11}));
  // (0, 0, 5) turned by 90 degrees about x
  EXPECT_NEAR((r.mesh.points.col(4) - Eigen::Vector3d(0, -5, 0)).norm(), 0, 1e-14);
  ASSERT_EQ(r.mesh.materials.size(), 2u);
  EXPECT_EQ(r.mesh.element_material, (std::vector<int>{0, 1}));
  EXPECT_EQ(r.mesh.materials[1].name, "WOOD@Ori@I-2");
  EXPECT_NEAR((r.mesh.materials[1].orthotropic->axes.col(1) - Eigen::Vector3d(0, 0, 1)).norm(), 0, 1e-15);
}

TEST(Inp, PartsWithoutAnyInstanceAreTakenOnceAndUnusedOnesAreSkipped) {
  const Result alone = read(wood + one_part);
  EXPECT_EQ(alone.mesh.node_count(), 4);
  EXPECT_EQ(node_ids(alone.mesh, "Set-1"), (Ids{1, 2}));
  EXPECT_EQ(alone.warning("inp.no-instance").count, 1);
  const Result unused = read(wood + one_part + "*PART, NAME=P2\n*NODE\n1,0,0,0\n*END PART\n" +
                             "*INSTANCE, NAME=I, PART=P2\n*END INSTANCE\n");
  EXPECT_EQ(unused.mesh.node_count(), 1);
  EXPECT_EQ(unused.warning("inp.part-without-instance").message,
            "part 'Part-1' has no *INSTANCE and is skipped");
}

TEST(Inp, PartsWithDifferentIdsKeepThem) {
  const Result r = read(R"(*PART, NAME=A
*NODE
1,0,0,0
*END PART
*PART, NAME=B
*NODE
2,0,0,0
*END PART
)");
  EXPECT_EQ(r.mesh.node_ids, (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(r.diagnostics.find("inp.renumbered"));
}

TEST(Inp, RigidBodiesAndBeamConstraintsBecomeRigidSpiders) {
  const Result r = read(tets + tet_elements + R"(*NODE
6, 9, 9, 9
7, 9, 9, 9
*NSET, NSET=END
2, 3, 6
*RIGID BODY, NSET=END, REF NODE=6, ROT NODE=7
*MPC
BEAM, 1, 7
BEAM, END, 7
TIE, 4, 5
*KINEMATIC COUPLING, REF NODE=7
END, 1, 3
4
*KINEMATIC COUPLING, REF NODE=6
END, 1, 2
)");
  ASSERT_EQ(r.mesh.spiders.size(), 3u);
  EXPECT_EQ(r.mesh.spiders[0].nodes, (std::vector<int>{1, 2}));
  EXPECT_EQ(r.mesh.spiders[0].reference, 5);
  EXPECT_EQ(r.mesh.spiders[1].name, "MPC 7");
  EXPECT_EQ(r.mesh.spiders[1].nodes, (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(r.mesh.spiders[2].nodes, (std::vector<int>{1, 2, 3, 5}));
  EXPECT_EQ(r.warning("inp.mpc.TIE").count, 1);
  EXPECT_EQ(r.warning("inp.rot-node").count, 1);
  EXPECT_EQ(
      r.warning("inp.kinematic-directions").message,
      "kinematic coupling 'KINEMATIC COUPLING 6' is skipped: it ties some of the directions 1 to 3 only");
}

TEST(Inp, KinematicCouplingsOfAllDirectionsAreRigidAndOthersAreSkipped) {
  const std::string head =
      tets + tet_elements + "*SURFACE, NAME=S\n1, S1\n*COUPLING, REF NODE=5, SURFACE=S\n";
  EXPECT_EQ(read(head + "*KINEMATIC\n1, 6\n").mesh.spiders.size(), 1u);
  EXPECT_EQ(read(head + "*KINEMATIC\n1\n2\n3\n").mesh.spiders.size(), 1u);
  EXPECT_EQ(read(head + "*KINEMATIC\n1, 2\n").mesh.spiders.size(), 0u);
}

TEST(Inp, StepsAreSkippedAndBoundariesOfTheModelBecomeASet) {
  const Result r = read(tets + R"(*BOUNDARY
1, 1, 3
GRIP, ENCASTRE
*NSET, NSET=GRIP
2
*STEP, NLGEOM
*STATIC
*INCLUDE, INPUT=missing.inp
*CLOAD
99, 1, 5.
*END STEP
*NSET, NSET=AFTER
3
)");
  EXPECT_EQ(node_ids(r.mesh, "BOUNDARY"), (Ids{1, 2}));
  EXPECT_EQ(node_ids(r.mesh, "AFTER"), (Ids{3}));
  EXPECT_EQ(r.diagnostics.warnings().size(), 1u) << r.all_warnings();
}

TEST(Inp, UnknownKeywordsAreWarnedAboutOncePerKeyword) {
  const Result r = read(tets + "*PLASTIC\n1,2\n*Plastic\n*TIE\nA, B\n");
  EXPECT_EQ(r.warning("inp.keyword.PLASTIC").message, "keyword *PLASTIC is not understood and skipped");
  EXPECT_EQ(r.warning("inp.keyword.PLASTIC").count, 2);
  EXPECT_EQ(to_string(r.warning("inp.keyword.PLASTIC").where), "dir/m.inp:7");
  EXPECT_EQ(r.warning("inp.keyword.TIE").message, "*TIE is not applied: what it joins stays apart");
}

TEST(Inp, IncludesAreRelativeToTheirFileAndMayStandInTheMiddleOfData) {
  const Files files = {{"dir/sub/nodes.txt", "2, 1, 0, 0\n*include, input=\"more nodes.txt\"\n"},
                       {"dir/sub/more nodes.txt", "3, 0, 1, 0\n"},
                       {"dir/elements.txt", "1, 1, 2, 3, 4\n"}};
  const Result r = read(
      "*NODE\n1, 0, 0, 0\n*INCLUDE, INPUT=sub\\nodes.txt\n4, 0, 0, 1\n"
      "*ELEMENT, TYPE=C3D4, INPUT=elements.txt\n",
      files);
  EXPECT_EQ(r.mesh.node_ids, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(r.mesh.element_count(), 1);
}

TEST(Inp, ErrorsInIncludedFilesNameThem) {
  EXPECT_EQ(error_of("*NODE\n*INCLUDE, INPUT=n.txt\n", {{"dir/n.txt", "1, 0, 0, 0\n2, x\n"}}),
            "dir/n.txt:2: expected a coordinate, found 'x'");
  EXPECT_EQ(error_of("*INCLUDE, INPUT=gone.txt\n"),
            "dir/m.inp:1: included file cannot be had: dir/gone.txt: no such file");
  EXPECT_EQ(error_of("*INCLUDE\n"), "dir/m.inp:1: *INCLUDE names no file; expected INPUT=file");
  EXPECT_EQ(error_of("*INCLUDE, INPUT=a\n", {{"dir/a", "\n*INCLUDE, INPUT=../dir/m.inp\n"}}),
            "dir/a:2: 'dir/m.inp' includes itself: dir/m.inp -> dir/a -> dir/m.inp");
  Files chain;
  for (int i = 0; i < 40; ++i) chain[fmt::format("dir/{}", i)] = fmt::format("*INCLUDE, INPUT={}\n", i + 1);
  EXPECT_EQ(error_of("*INCLUDE, INPUT=0\n", chain),
            "dir/19:1: files are included more than 20 deep: dir/m.inp -> dir/0 -> dir/1 -> ... (16 files) "
            "-> dir/18 -> dir/19 -> dir/20");
  Files doubling;
  for (int i = 0; i < 20; ++i)
    doubling[fmt::format("dir/{}", i)] = fmt::format("*INCLUDE, INPUT={0}\n*INCLUDE, INPUT={0}\n", i + 1);
  doubling["dir/15"] = "";
  EXPECT_NE(error_of("*INCLUDE, INPUT=0\n", doubling).find("more than 1000 files are included"),
            std::string::npos);
}

TEST(Inp, WrongNodesAndElementsAreReportedWithTheirLine) {
  EXPECT_EQ(error_of("*HEADING\n"), "dir/m.inp: the file defines no node");
  EXPECT_EQ(error_of("1, 2\n"), "dir/m.inp:1: expected a keyword line that begins with '*', found '1, 2'");
  EXPECT_EQ(error_of("*NODE\nA, 1\n"), "dir/m.inp:2: expected a node id, found 'A'");
  EXPECT_EQ(error_of("*NODE\n0, 1\n"), "dir/m.inp:2: a node id is 0, expected a number from 1 to 2147483647");
  EXPECT_EQ(error_of("*NODE, SYSTEM=S\n1, 1\n"),
            "dir/m.inp:1: *NODE, SYSTEM=S is not supported; expected R or C");
  EXPECT_EQ(error_of(tets + "*NODE\n1, 1, 1, 1\n"),
            "dir/m.inp:8: node 1 is defined a second time with other coordinates");
  EXPECT_EQ(error_of(tets + "*ELEMENT\n1, 1\n"), "dir/m.inp:7: *ELEMENT without TYPE=");
  EXPECT_EQ(error_of(tets + "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4\n"),
            "dir/m.inp:8: element 1 of type C3D10 has 4 nodes, expected 10");
  EXPECT_EQ(error_of(tets + "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4, 5\n"),
            "dir/m.inp:8: element 1 of type C3D4 has 5 nodes, expected 4");
  EXPECT_EQ(error_of(tets + "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, x\n"),
            "dir/m.inp:8: expected a node id, found 'x'");
  EXPECT_EQ(error_of(tets + "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 9\n"),
            "dir/m.inp:8: element 1 refers to node 9, which is not defined");
  EXPECT_EQ(error_of(tets + tet_elements + "*ELEMENT, TYPE=S3\n2, 1, 2, 3\n"),
            "dir/m.inp:11: element 2 is defined a second time");
  EXPECT_EQ(error_of(tets + "*NGEN\n1, 5\n"),
            "dir/m.inp:7: *NGEN is not supported: export the mesh with its nodes and elements written out");
}

TEST(Inp, WrongSetsAndSurfacesAreReportedWithTheirLine) {
  const std::string head = tets + tet_elements;  // nine lines
  EXPECT_EQ(error_of(head + "*NSET\n1\n"), "dir/m.inp:10: *NSET without NSET=");
  EXPECT_EQ(error_of(head + "*NSET, NSET=A\n1, 2\n3, 99\n"),
            "dir/m.inp:12: set 'A' refers to node 99, which is not defined");
  EXPECT_EQ(error_of(head + "*ELSET, ELSET=A\n3\n"),
            "dir/m.inp:11: set 'A' refers to element 3, which is not defined");
  EXPECT_EQ(error_of(head + "*NSET, NSET=GRIPS\n1\n*NSET, NSET=A\nGRIP\n"),
            "dir/m.inp:12: node set 'GRIP' is not defined; did you mean 'GRIPS'?");
  EXPECT_EQ(error_of(head + "*NSET, NSET=A\nB\n*NSET, NSET=B\nA\n"),
            "dir/m.inp:10: node set 'A' contains itself");
  EXPECT_EQ(error_of(head + "*NSET, NSET=A, GENERATE\n5, 1\n"),
            "dir/m.inp:11: GENERATE goes from 5 down to 1; expected first <= last");
  EXPECT_EQ(error_of(head + "*NSET, NSET=A, GENERATE\n5\n"),
            "dir/m.inp:11: GENERATE expects first, last, step; found '5'");
  EXPECT_EQ(error_of(head + "*NSET, NSET=A, INSTANCE=I\n5\n"),
            "dir/m.inp:10: set 'A' is of instance 'I', which is not defined");
  EXPECT_EQ(error_of(head + "*SURFACE, NAME=S\n1, S5\n"),
            "dir/m.inp:11: surface 'S': element 1 (tet4) has no face 'S5', expected S1 to S4");
  EXPECT_EQ(error_of(head + "*SURFACE, NAME=S\nX, S1\n"), "dir/m.inp:11: element set 'X' is not defined");
  EXPECT_EQ(error_of(head + "*SURFACE, NAME=S, TYPE=NODE\n77\n"), "dir/m.inp:11: node 77 is not defined");
  std::string chain = head;
  for (int i = 0; i < 200; ++i) chain += fmt::format("*NSET, NSET=S{:03}\nS{:03}\n", i, i + 1);
  EXPECT_NE(error_of(chain + "*NSET, NSET=S200\n1\n").find("sets are nested more than 100 deep"),
            std::string::npos);
}

TEST(Inp, WrongMaterialsAndSectionsAreReportedWithTheirLine) {
  const std::string head = tets + tet_elements;
  EXPECT_EQ(error_of(head + "*ELASTIC\n1, .3\n"), "dir/m.inp:10: *ELASTIC before any *MATERIAL");
  EXPECT_EQ(
      error_of(head + "*MATERIAL, NAME=M\n*ELASTIC\n1\n"),
      "dir/m.inp:12: *ELASTIC of material 'M' has 1 numbers, expected 2: Young's modulus, Poisson's ratio");
  EXPECT_EQ(error_of(head + "*MATERIAL, NAME=M\n*ELASTIC\nstiff, .3\n"),
            "dir/m.inp:12: expected Young's modulus, Poisson's ratio, found 'stiff'");
  EXPECT_EQ(error_of(head + "*MATERIAL, NAME=M\n*MATERIAL, NAME=m\n"),
            "dir/m.inp:11: material 'm' is defined a second time; first at dir/m.inp:10");
  EXPECT_EQ(error_of(head + "*SOLID SECTION, ELSET=EALL\n"),
            "dir/m.inp:10: *SOLID SECTION without MATERIAL=");
  EXPECT_EQ(error_of(head + "*SOLID SECTION, MATERIAL=M\n"), "dir/m.inp:10: *SOLID SECTION without ELSET=");
  EXPECT_EQ(error_of(head + "*MATERIAL, NAME=STEEL\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEAL\n"),
            "dir/m.inp:11: *SOLID SECTION has material 'STEAL', which is not defined; did you mean 'STEEL'?");
  EXPECT_EQ(error_of(head + "*MATERIAL, NAME=M\n*SOLID SECTION, ELSET=EAL, MATERIAL=M\n"),
            "dir/m.inp:11: element set 'EAL' is not defined; did you mean 'EALL'?");
  EXPECT_EQ(error_of(head + wood + "*SOLID SECTION, ELSET=EALL, MATERIAL=WOOD, ORIENTATION=O\n"),
            "dir/m.inp:14: *SOLID SECTION has orientation 'O', which is not defined");
  EXPECT_EQ(
      error_of(head + wood +
               "*ORIENTATION, NAME=O, SYSTEM=CYLINDRICAL\n0,0,0,0,0,1\n"
               "*SOLID SECTION, ELSET=EALL, MATERIAL=WOOD, ORIENTATION=O\n"),
      "dir/m.inp:16: material 'WOOD' is orthotropic, and orientation 'O' is given by SYSTEM=CYLINDRICAL; "
      "expected SYSTEM=RECTANGULAR with coordinates");
  EXPECT_EQ(error_of(head + "*ORIENTATION, NAME=O\n1,0,0,2,0,0\n"),
            "dir/m.inp:10: points of orientation 'O' lie on one line; expected a on the first axis and b "
            "beside it");
  EXPECT_NE(error_of(head + "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ORTHO\n1,1,1,1,1,1,1,1\n1\n")
                .find("dir/m.inp:11: the stiffness of material 'M' is singular"),
            std::string::npos);
}

TEST(Inp, WrongPartsAndCouplingsAreReportedWithTheirLine) {
  EXPECT_EQ(error_of("*PART, NAME=A\n*NODE\n1\n"), "dir/m.inp:1: part 'A' has no *END PART");
  EXPECT_EQ(error_of("*PART, NAME=A\n*PART, NAME=B\n"), "dir/m.inp:2: *PART before the *END PART of 'A'");
  EXPECT_EQ(error_of("*END PART\n"), "dir/m.inp:1: *END PART without *PART");
  EXPECT_EQ(error_of("*PART, NAME=Rod\n*END PART\n*INSTANCE, NAME=I, PART=Rad\n"),
            "dir/m.inp:3: instance 'I' is of part 'Rad', which is not defined; did you mean 'Rod'?");
  EXPECT_EQ(error_of(one_part + "*INSTANCE, NAME=I, PART=Part-1\n0,0,0\n1,1,1,1,1,1,90\n"),
            "dir/m.inp:22: the axis of instance 'I' has no length");
  EXPECT_EQ(error_of(one_part + "*INSTANCE, NAME=I, PART=Part-1\n0,0,0\n1,1,1\n"),
            "dir/m.inp:22: the rotation of instance 'I' has 3 numbers, expected 7: two points of the axis, "
            "degrees");
  EXPECT_EQ(error_of(tets + "*KINEMATIC\n1\n"), "dir/m.inp:7: *KINEMATIC does not follow a *COUPLING");
  EXPECT_EQ(error_of(tets + "*COUPLING, CONSTRAINT NAME=C, REF NODE=1, SURFACE=S\n"),
            "dir/m.inp:7: *COUPLING 'C' is not followed by *KINEMATIC or *DISTRIBUTING");
  EXPECT_EQ(error_of(tets + "*COUPLING, CONSTRAINT NAME=C, REF NODE=1, SURFACE=S\n*KINEMATIC\n"),
            "dir/m.inp:7: coupling 'C' has surface 'S', which is not defined");
  EXPECT_EQ(error_of(tets + "*NSET, NSET=R\n1, 2\n*RIGID BODY, NSET=R, REF NODE=R\n"),
            "dir/m.inp:9: coupling 'RIGID BODY R' has reference 'R' of 2 nodes, expected one");
}

}  // namespace
}  // namespace lissom::read_inp_test
