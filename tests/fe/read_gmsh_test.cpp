#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gmsh_support.hpp"

namespace lissom::read_gmsh_test {
namespace {

using Ints = std::vector<int>;
using Ids = std::vector<std::int64_t>;

Mesh read(std::string_view bytes, Diagnostics& diagnostics) {
  return read_gmsh(bytes, "part.msh", diagnostics);
}
Mesh read(std::string_view bytes) {
  Diagnostics diagnostics;
  return read(bytes, diagnostics);
}
std::string error_of(std::string_view bytes) {
  return input_error_of([&] { read(bytes); });
}

// Replaces the one occurrence of `from`.
std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// ---- files written by hand: one tetrahedron and one of its faces ----

constexpr const char* tet_22 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 5 "the base"
3 6 "body"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
14 0 0 1
$EndNodes
$Elements
2
1 2 2 5 1 1 2 3
2 4 2 6 1 1 2 3 14
$EndElements
)";

constexpr const char* tet_41 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 5 "the base"
3 6 "body"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 5 0
1 0 0 0 1 1 1 1 6 1 1
$EndEntities
$Nodes
2 4 1 14
2 1 0 3
1
2
3
0 0 0
1 0 0
0 1 0
3 1 0 1
14
0 0 1
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 2 3
3 1 4 1
2 1 2 3 14
$EndElements
)";

void expect_is_tet(const Mesh& mesh) {
  EXPECT_EQ(mesh.node_ids, (Ids{1, 2, 3, 14}));
  EXPECT_EQ(mesh.types, std::vector<ElementType>{ElementType::Tet4});
  EXPECT_EQ(mesh.element_ids, (Ids{2}));
  EXPECT_EQ(mesh.element_material, (Ints{-1}));
  EXPECT_EQ(mesh.connectivity, (Ints{0, 1, 2, 3}));
  EXPECT_EQ(mesh.points.col(3), Eigen::Vector3d(0, 0, 1));
  ASSERT_EQ(mesh.node_sets.size(), 2u);
  EXPECT_EQ(mesh.node_sets.at("the base"), (Ints{0, 1, 2}));
  EXPECT_EQ(mesh.node_sets.at("body"), (Ints{0, 1, 2, 3}));
  ASSERT_EQ(mesh.element_sets.size(), 1u);
  EXPECT_EQ(mesh.element_sets.at("body"), (Ints{0}));
}

TEST(Gmsh, AsciiFilesOfBothVersionsAreRead) {
  for (const char* text : {tet_22, tet_41}) {
    Diagnostics diagnostics;
    const Mesh mesh = read(text, diagnostics);
    EXPECT_EQ(mesh.source, "part.msh");
    expect_is_tet(mesh);
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST(Gmsh, WindowsLineEndsAndBlankLinesMakeNoDifference) {
  for (const std::string text : {tet_22, tet_41}) {
    std::string windows;
    for (char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    expect_is_tet(read("\r\n" + windows + "\r\n\r\n"));
  }
}

// Writes numbers as bytes, in this machine's order or the other one.
struct ByteWriter {
  bool swapped = false;
  std::string bytes;

  ByteWriter& text(std::string_view t) {
    bytes += t;
    return *this;
  }
  template <class T>
  ByteWriter& put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (swapped) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
    return *this;
  }
  template <class T>
  ByteWriter& all(std::initializer_list<double> values) {
    for (double value : values) put(static_cast<T>(value));
    return *this;
  }
};

constexpr const char* tet_names =
    "$EndMeshFormat\n$PhysicalNames\n2\n2 5 \"the base\"\n3 6 \"body\"\n$EndPhysicalNames\n";

std::string binary_tet_22(bool swapped) {
  ByteWriter w{swapped, "$MeshFormat\n2.2 1 8\n"};
  w.put<int>(1).text("\n").text(tet_names).text("$Nodes\n4\n");
  w.put<int>(1).all<double>({0, 0, 0}).put<int>(2).all<double>({1, 0, 0});
  w.put<int>(3).all<double>({0, 1, 0}).put<int>(14).all<double>({0, 0, 1});
  w.text("\n$EndNodes\n$Elements\n2\n");
  w.all<int>({2, 1, 2, /**/ 1, 5, 1, 1, 2, 3}).all<int>({4, 1, 2, /**/ 2, 6, 1, 1, 2, 3, 14});
  return w.text("\n$EndElements\n").bytes;
}

std::string binary_tet_41(bool swapped) {
  using size = std::int64_t;
  ByteWriter w{swapped, "$MeshFormat\n4.1 1 8\n"};
  w.put<int>(1).text("\n").text(tet_names).text("$Entities\n").all<size>({0, 0, 1, 1});
  w.put<int>(1).all<double>({0, 0, 0, 1, 1, 0}).put<size>(1).put<int>(5).put<size>(0);
  w.put<int>(1).all<double>({0, 0, 0, 1, 1, 1}).put<size>(1).put<int>(6).put<size>(1).put<int>(1);
  w.text("\n$EndEntities\n$Nodes\n").all<size>({2, 4, 1, 14});
  w.all<int>({2, 1, 0}).all<size>({3, 1, 2, 3}).all<double>({0, 0, 0, 1, 0, 0, 0, 1, 0});
  w.all<int>({3, 1, 0}).all<size>({1, 14}).all<double>({0, 0, 1});
  w.text("\n$EndNodes\n$Elements\n").all<size>({2, 2, 1, 2});
  w.all<int>({2, 1, 2}).all<size>({1, 1, 1, 2, 3}).all<int>({3, 1, 4}).all<size>({1, 2, 1, 2, 3, 14});
  return w.text("\n$EndElements\n").bytes;
}

TEST(Gmsh, BinaryFilesOfEitherByteOrderAreRead) {
  for (bool swapped : {false, true}) {
    expect_is_tet(read(binary_tet_22(swapped)));
    expect_is_tet(read(binary_tet_41(swapped)));
  }
}

TEST(Gmsh, GroupsWithoutNamesAreCalledByDimensionAndTag) {
  const std::string text =
      with(tet_22, "$PhysicalNames\n2\n2 5 \"the base\"\n3 6 \"body\"\n$EndPhysicalNames\n", "");
  const Mesh mesh = read(text);
  EXPECT_EQ(mesh.node_sets.at("physical 2 5"), (Ints{0, 1, 2}));
  EXPECT_EQ(mesh.element_sets.at("physical 3 6"), (Ints{0}));
}

TEST(Gmsh, GroupsOfPointsAndCurvesBecomeNodeSets) {
  const Mesh mesh =
      read(with(tet_22, "2\n1 2 2 5 1 1 2 3\n", "4\n1 2 2 5 1 1 2 3\n7 15 2 9 1 14\n8 1 2 9 1 3 2\n"));
  EXPECT_EQ(mesh.node_sets.at("physical 0 9"), (Ints{3}));
  EXPECT_EQ(mesh.node_sets.at("physical 1 9"), (Ints{1, 2}));
}

TEST(Gmsh, GroupsThatShareANameAreKeptApart) {
  for (const char* text : {tet_22, tet_41}) {
    Diagnostics diagnostics;
    const Mesh mesh = read(with(text, "the base", "body"), diagnostics);
    EXPECT_EQ(mesh.node_sets.at("body"), (Ints{0, 1, 2}));
    EXPECT_EQ(mesh.node_sets.at("physical 3 6"), (Ints{0, 1, 2, 3}));
    EXPECT_EQ(mesh.element_sets.at("physical 3 6"), (Ints{0}));
    ASSERT_NE(diagnostics.find("gmsh.shared-name"), nullptr);
    EXPECT_TRUE(contains(diagnostics.find("gmsh.shared-name")->message, {"'body'", "'physical 3 6'"}));
  }
}

TEST(Gmsh, SectionsWithoutMeaningForABodyAreSkipped) {
  Diagnostics diagnostics;
  const std::string extra =
      "$Periodic\n1\n0 2 1\n$EndPeriodic\n$NodeData\n1\n\"T\"\n$EndNodeData\n$Parametrizations\n0 "
      "0\n$EndParametrizations\n";
  expect_is_tet(read("$Comments\nmade by hand\n$EndComments\n" + std::string(tet_41) + extra, diagnostics));
  expect_is_tet(read(binary_tet_41(false) + extra, diagnostics));
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Gmsh, AnUnknownSectionIsSkippedWithAWarning) {
  Diagnostics diagnostics;
  expect_is_tet(read(with(tet_22, "$Nodes\n", "$Colours\n1 2 3\n$EndColours\n$Nodes\n"), diagnostics));
  ASSERT_EQ(diagnostics.warnings().size(), 1u);
  EXPECT_EQ(to_string(diagnostics.warnings()[0]),
            "part.msh:9: section $Colours is not known and was skipped");
}

TEST(Gmsh, AnElementListedTwiceInOneGroupIsTakenOnceWithAWarning) {
  Diagnostics diagnostics;
  const Mesh mesh =
      read(with(tet_22, "2\n1 2 2 5 1 1 2 3\n", "3\n1 2 2 5 1 1 2 3\n9 4 2 6 1 1 2 3 14\n"), diagnostics);
  EXPECT_EQ(mesh.element_ids, (Ids{9}));
  ASSERT_EQ(diagnostics.warnings().size(), 1u);
  EXPECT_EQ(to_string(diagnostics.warnings()[0]),
            "part.msh:20: element 2 has the nodes of element 9 and is in the same physical group; it was "
            "taken once");
}

TEST(Gmsh, AnEntityThatIsNotListedBelongsToNoGroup) {
  Diagnostics diagnostics;
  const Mesh mesh = read(with(tet_41, "2 1 2 1\n1 1 2 3\n", "2 8 2 1\n1 1 2 3\n"), diagnostics);
  EXPECT_FALSE(mesh.node_sets.contains("the base"));
  ASSERT_EQ(diagnostics.warnings().size(), 2u);
  EXPECT_EQ(to_string(diagnostics.warnings()[0]),
            "part.msh:29: entity 8 of dimension 2 has elements but is not in $Entities; they are in no "
            "physical group");
  EXPECT_EQ(to_string(diagnostics.warnings()[1]),
            "part.msh: physical group 'the base' (dimension 2, tag 5) has no elements in the file; there is "
            "no set for it");
}

// ---- mistakes ----

TEST(GmshErrors, OtherVersionsAreRefusedWithAWayToConvert) {
  for (const char* version : {"4", "4.0", "4.2", "2", "3.7"}) {
    const std::string message = error_of(with(tet_22, "2.2 0 8", std::string(version) + " 0 8"));
    EXPECT_TRUE(begins_with(message, {"part.msh:2: Gmsh's mesh format ", "only 2.2 and 4.1",
                                      "gmsh old.msh -save -format msh41"}));
  }
  EXPECT_TRUE(begins_with(error_of("$NOD\n1\n1 0 0 0\n$ENDNOD\n"),
                          {"part.msh:1: Gmsh's mesh format 1 is not read", "-format msh41"}));
}

TEST(GmshErrors, WhatIsNotAGmshMeshIsSaid) {
  EXPECT_EQ(error_of(""), "part.msh: expected a Gmsh mesh that begins with $MeshFormat, found no such line");
  EXPECT_EQ(error_of("\n(0 \"Fluent\")\n"),
            "part.msh:2: expected a Gmsh mesh that begins with $MeshFormat, found '(0 \"Fluent\")'");
  EXPECT_EQ(
      error_of(with(tet_22, "2.2 0 8", "2.2 0 4")).find("part.msh:2: expected numbers of 8 bytes, found 4"),
      0u);
  EXPECT_EQ(error_of(with(tet_22, "2.2 0 8", "2.2 3 8")),
            "part.msh:2: expected 0 (ASCII) or 1 (binary), found 3");
  EXPECT_EQ(error_of(with(tet_22, "2.2 0 8", "two")),
            "part.msh:2: expected the version of the format, found 'two'");
  EXPECT_TRUE(contains(error_of("$MeshFormat\n4.1 1 8\nabcd\n"), {"the number 1 that tells the byte order"}));
}

TEST(GmshErrors, AnUndefinedNodeIsNamedWithElementAndLine) {
  EXPECT_EQ(error_of(with(tet_22, "1 1 2 3 14", "1 1 2 3 4")),
            "part.msh:19: element 2 refers to node 4, which is not defined");
  EXPECT_EQ(error_of(with(tet_22, "5 1 1 2 3", "5 1 1 2 99")),
            "part.msh:18: element 1 refers to node 99, which is not defined");
  EXPECT_EQ(error_of(with(tet_41, "2 1 2 3 14", "2 1 2 3 15")),
            "part.msh:32: element 2 refers to node 15, which is not defined");
}

TEST(GmshErrors, ElementsThatLissomDoesNotHaveAreRefusedWithAdvice) {
  const auto type = [](const char* number) {
    return error_of(with(tet_41, "3 1 4 1\n", "3 1 " + std::string(number) + " 1\n"));
  };
  EXPECT_TRUE(begins_with(type("7"), {"part.msh:31: element type 7 is a pyramid", "Recombine"}));
  EXPECT_TRUE(contains(type("19"), {"pyramid"}));
  EXPECT_TRUE(contains(type("12"), {"set Mesh.SecondOrderIncomplete = 1 to get hex20"}));
  EXPECT_TRUE(contains(type("13"), {"set Mesh.SecondOrderIncomplete = 1 to get wedge15"}));
  EXPECT_TRUE(contains(type("29"), {"set Mesh.ElementOrder = 2"}));
  EXPECT_TRUE(contains(type("0"), {"element type 0 is not read"}));
  EXPECT_TRUE(contains(type("-4"), {"element type -4 is not read"}));
  EXPECT_TRUE(contains(type("4711"), {"element type 4711 is not read; expected tetrahedra"}));
  EXPECT_TRUE(contains(type("2"), {"elements of type 2 have dimension 2, but their entity has 3"}));
}

TEST(GmshErrors, RecordsThatAreTooShortOrTooLongAreFoundOnTheirLine) {
  EXPECT_EQ(error_of(with(tet_22, "2 1 0 0\n", "2 1 0\n")),
            "part.msh:12: the line ends where a coordinate is expected");
  EXPECT_EQ(error_of(with(tet_22, "2 1 0 0\n", "2 1 0 0 7\n")),
            "part.msh:12: expected the end of the line, found '7'");
  EXPECT_EQ(error_of(with(tet_22, "2 1 0 0\n", "2 1 zero 0\n")),
            "part.msh:12: expected a coordinate, found 'zero'");
  EXPECT_EQ(error_of(with(tet_22, "2 1 0 0\n", "-2 1 0 0\n")),
            "part.msh:12: expected a node number (1 or more), found -2");
  EXPECT_EQ(error_of(with(tet_22, "1 1 2 3 14\n", "1 1 2 3\n")),
            "part.msh:19: the line ends where a node number is expected");
  EXPECT_EQ(error_of(with(tet_41, "3 6 \"body\"", "3 6 body")),
            "part.msh:7: expected dimension, tag and \"name\" of a physical group, found '3 6 body'");
  EXPECT_TRUE(contains(error_of(with(tet_41, "3 6 \"body\"", "4 6 \"body\"")), {"dimension (0 to 3)"}));
}

TEST(GmshErrors, CountsThatDoNotFitAreFound) {
  EXPECT_EQ(error_of(with(tet_22, "$Nodes\n4\n", "$Nodes\n3\n")),
            "part.msh:14: expected $EndNodes, found '14 0 0 1'");
  EXPECT_EQ(error_of(with(tet_22, "$Nodes\n4\n", "$Nodes\n5\n")),
            "part.msh:15: expected a node number, found '$EndNodes'");
  EXPECT_TRUE(
      begins_with(error_of(with(tet_22, "$Nodes\n4\n", "$Nodes\n4000000000\n")),
                  {"part.msh:10: expected the number of nodes, found 4000000000", "cut off or corrupt"}));
  EXPECT_EQ(error_of(with(tet_22, "$Nodes\n4\n", "$Nodes\n-1\n")),
            "part.msh:10: expected the number of nodes, found -1");
  EXPECT_EQ(error_of(with(tet_41, "2 4 1 14\n", "2 5 1 14\n")),
            "part.msh:25: $Nodes announces 5 nodes, but its blocks hold 4");
  EXPECT_EQ(error_of(with(tet_41, "2 2 1 2\n", "2 1 1 2\n")),
            "part.msh:32: $Elements announces 1 elements, but its blocks hold 2");
  // a run of more elements than the section has left
  std::string binary = binary_tet_22(false);
  const size_t run = binary.find("$Elements\n2\n") + std::strlen("$Elements\n2\n") + 4;
  binary[run] = 77;
  EXPECT_TRUE(begins_with(error_of(binary), {"part.msh: at byte ", "1 to 2 elements to follow, found 77"}));
}

TEST(GmshErrors, AFileWithoutVolumesSaysHowToGetThem) {
  const std::string message =
      error_of(with(tet_22, "2\n1 2 2 5 1 1 2 3\n2 4 2 6 1 1 2 3 14\n", "1\n1 2 2 5 1 1 2 3\n"));
  EXPECT_TRUE(begins_with(
      message, {"part.msh: the file has no volume elements (but 1 point", "gmsh -3", "Physical Volume"}));
}

TEST(GmshErrors, ParametricNodesOfVersion22AreRefused) {
  EXPECT_TRUE(
      contains(error_of(with(tet_22, "$Nodes\n", "$ParametricNodes\n")), {"Mesh.SaveParametric = 0"}));
}

TEST(GmshErrors, TextBetweenSectionsIsFound) {
  EXPECT_EQ(error_of(with(tet_22, "$Nodes\n", "hello\n$Nodes\n")),
            "part.msh:9: expected a section such as $Nodes, found 'hello'");
}

// Cut at any byte before the last section is complete, a file is never taken for whole and nothing but
// InputError comes out.
TEST(GmshErrors, AFileCutOffAnywhereIsRefused) {
  for (const std::string& text : {std::string(tet_22), std::string(tet_41), binary_tet_22(false),
                                  binary_tet_41(false), binary_tet_41(true)}) {
    const size_t whole = text.rfind("$EndElements") + std::strlen("$EndElements");
    for (size_t n = 0; n < whole; ++n) EXPECT_THROW(read(text.substr(0, n)), InputError) << n;
    EXPECT_NO_THROW(read(text.substr(0, whole)));
  }
}

// One wrong byte anywhere gives a mesh or an InputError, never anything else.
TEST(GmshErrors, OneWrongByteNeverDoesMoreThanAnInputError) {
  for (const std::string& text :
       {std::string(tet_22), std::string(tet_41), binary_tet_22(false), binary_tet_41(false)}) {
    int refused = 0;
    for (size_t n = 0; n < text.size(); ++n) {
      for (char wrong : {'\x00', '\x7f', '\xff', '9', '-', '\n', '$'}) {
        std::string damaged = text;
        damaged[n] = wrong;
        try {
          read(damaged);
        } catch (const InputError&) {
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, static_cast<int>(text.size()));
  }
}

// ---- files written by the gmsh program ----

class GmshFiles : public FolderTest {};

const std::vector<std::string> formats = {"-format msh22", "-format msh22 -bin", "-format msh41",
                                          "-format msh41 -bin"};

// A box of 2 by 1 by 3 and a prism that is half of it, in layers; the names have blanks.
std::string box(bool hexahedra) {
  return std::string(R"(
    Point(1) = {0, 0, 0};
    Extrude {2, 0, 0} { Point{1}; Layers{2}; }
    Extrude {0, 1, 0} { Curve{1}; Layers{2}; )") +
         (hexahedra ? "Recombine; " : "") + R"(}
    out[] = Extrude {0, 0, 3} { Surface{5}; Layers{3}; Recombine; };
    Physical Volume("the whole body") = {out[1]};
    Physical Surface("far end") = {out[0]};
    Physical Curve("first edge") = {1};
    Physical Point("corner") = {1};
  )";
}
constexpr const char* tet_box = R"(
    SetFactory("OpenCASCADE");
    Box(1) = {0, 0, 0, 2, 1, 3};
    Mesh.CharacteristicLengthMax = 0.7;
    Physical Volume("the whole body") = {1};
    Physical Surface("far end") = {6};
    Physical Curve("first edge") = {9};
    Physical Point("corner") = {2};
  )";

struct Model {
  std::string geometry, options;
  ElementType type;
};

TEST_F(GmshFiles, AllElementTypesReadTheSameFromAllFormats) {
  const std::vector<Model> models = {
      {tet_box, "-order 1", ElementType::Tet4},      {tet_box, "-order 2", ElementType::Tet10},
      {box(true), "-order 1", ElementType::Hex8},    {box(true), "-order 2", ElementType::Hex20},
      {box(false), "-order 1", ElementType::Wedge6}, {box(false), "-order 2", ElementType::Wedge15}};
  for (const Model& model : models) {
    std::optional<Mesh> first;
    for (const std::string& format : formats) {
      SCOPED_TRACE(std::string(name_of(model.type)) + " " + format);
      Diagnostics diagnostics;
      const Mesh mesh = read(run_gmsh(model.geometry, "-3 -setnumber Mesh.SecondOrderIncomplete 1 " +
                                                          model.options + " " + format),
                             diagnostics);
      EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings()[0]);

      // a sound mesh of the box: right type and orientation, mid-side nodes between their corners, volume 6;
      // Gmsh places the nodes of extruded curves to 1e-12 or so
      ASSERT_GT(mesh.element_count(), 5);
      for (int e = 0; e < mesh.element_count(); ++e) {
        ASSERT_EQ(mesh.types[e], model.type);
        ASSERT_GT(corner_volume(mesh, e), 0);
      }
      EXPECT_NEAR(corner_volume(mesh), 6, 1e-10);
      EXPECT_LT(worst_mid_side_offset(mesh), 1e-10);

      // sets hold exactly the nodes that lie there
      const auto where = [&](auto&& is_there) {
        std::vector<int> nodes;
        for (int i = 0; i < mesh.node_count(); ++i)
          if (is_there(mesh.points.col(i))) nodes.push_back(i);
        return nodes;
      };
      EXPECT_EQ(mesh.node_sets.at("far end"), where([](const auto& x) { return x[2] > 3 - 1e-9; }));
      EXPECT_EQ(mesh.node_sets.at("first edge"),
                where([](const auto& x) { return std::abs(x[1]) + std::abs(x[2]) < 1e-9; }));
      EXPECT_EQ(mesh.node_sets.at("corner"), where([](const auto& x) { return x.norm() < 1e-9; }));
      EXPECT_EQ(mesh.node_sets.at("the whole body"), where([](const auto&) { return true; }));
      EXPECT_EQ(mesh.element_sets.at("the whole body").size(), size_t(mesh.element_count()));
      EXPECT_EQ(mesh.node_sets.size(), 4u);
      EXPECT_EQ(mesh.element_sets.size(), 1u);

      // the same in all formats; ASCII has 16 digits, one too few for the last bit
      if (!first) first = mesh;
      ASSERT_EQ(mesh.node_ids, first->node_ids);
      EXPECT_LT((mesh.points - first->points).cwiseAbs().maxCoeff(), 1e-15);
      EXPECT_EQ(mesh.connectivity, first->connectivity);
      EXPECT_EQ(mesh.node_sets, first->node_sets);
      EXPECT_EQ(mesh.element_sets, first->element_sets);
    }
  }
}

TEST_F(GmshFiles, NodesOnACurvedFaceStayBetweenTheirCorners) {
  const std::string cylinder = R"(
    SetFactory("OpenCASCADE");
    Cylinder(1) = {0, 0, 0, 0, 0, 1, 0.5};
    Mesh.CharacteristicLengthMax = 0.25;
    Physical Volume("body") = {1};
    Physical Surface("side") = {1};
  )";
  for (const std::string& format : formats) {
    const Mesh mesh = read(run_gmsh(cylinder, "-3 -order 2 " + format));
    for (int node : mesh.node_sets.at("side")) EXPECT_NEAR(mesh.points.col(node).head<2>().norm(), 0.5, 1e-6);
    // an arc of 30 degrees or so rises by tan(30/4)/2 = 0.066 of its chord; a node of another edge would be
    // half an edge away
    EXPECT_LT(worst_mid_side_offset(mesh), 0.1);
    EXPECT_GT(worst_mid_side_offset(mesh), 0.01);
  }
}

TEST_F(GmshFiles, AnElementInSeveralGroupsIsOneElement) {
  const std::string two_boxes = R"(
    SetFactory("OpenCASCADE");
    Box(1) = {0, 0, 0, 1, 1, 1};
    Box(2) = {1, 0, 0, 1, 1, 1};
    Coherence;
    Mesh.CharacteristicLengthMax = 1;
    Physical Volume("both") = {1, 2};
    Physical Volume("first") = {1};
    Physical Volume("first turned round") = {-1};
    Physical Surface("left") = {1};
    Physical Surface("left turned round") = {-1};
  )";
  std::optional<Mesh> first;
  for (const std::string& format : formats) {
    SCOPED_TRACE(format);
    Diagnostics diagnostics;
    const Mesh mesh = read(run_gmsh(two_boxes, "-3 -order 2 " + format), diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_NEAR(corner_volume(mesh), 2, 1e-12);
    EXPECT_EQ(mesh.element_sets.at("both").size(), size_t(mesh.element_count()));
    EXPECT_LT(mesh.element_sets.at("first").size(), size_t(mesh.element_count()));
    EXPECT_EQ(mesh.element_sets.at("first"), mesh.element_sets.at("first turned round"));
    EXPECT_EQ(mesh.node_sets.at("left"), mesh.node_sets.at("left turned round"));
    for (int node : mesh.node_sets.at("first")) EXPECT_LT(mesh.points(0, node), 1 + 1e-9);
    if (!first) first = mesh;
    EXPECT_EQ(mesh.connectivity, first->connectivity);
    EXPECT_EQ(mesh.node_sets, first->node_sets);
    EXPECT_EQ(mesh.element_sets, first->element_sets);
  }
}

TEST_F(GmshFiles, PartitionedMeshesKeepTheirGroups) {
  const Mesh whole = read(run_gmsh(tet_box, "-3 -format msh41"));
  for (const std::string& format : formats) {
    SCOPED_TRACE(format);
    Diagnostics diagnostics;
    const Mesh mesh = read(run_gmsh(tet_box, "-3 -part 3 -part_ghosts " + format), diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings()[0]);
    EXPECT_EQ(mesh.element_count(), whole.element_count());
    EXPECT_NEAR(corner_volume(mesh), 6, 1e-12);
    for (const auto& [name, nodes] : whole.node_sets)
      EXPECT_EQ(mesh.node_sets.at(name).size(), nodes.size()) << name;
    EXPECT_EQ(mesh.element_sets.at("the whole body").size(), size_t(whole.element_count()));
  }
}

TEST_F(GmshFiles, MeshesWithoutGroupsHaveNoSets) {
  for (const std::string& format : formats) {
    Diagnostics diagnostics;
    const Mesh mesh = read(
        run_gmsh("SetFactory(\"OpenCASCADE\"); Box(1) = {0, 0, 0, 2, 1, 3};", "-3 " + format), diagnostics);
    EXPECT_NEAR(corner_volume(mesh), 6, 1e-12);
    EXPECT_TRUE(mesh.node_sets.empty());
    EXPECT_TRUE(mesh.element_sets.empty());
    EXPECT_TRUE(diagnostics.empty());
  }
}

// With Mesh.SaveAll Gmsh drops the groups of version 2.2 but not their names.
TEST_F(GmshFiles, GroupsThatSavingAllDropsAreWarnedAbout) {
  Diagnostics old_format, new_format;
  const Mesh old_mesh = read(run_gmsh(tet_box, "-3 -save_all -format msh22"), old_format);
  const Mesh new_mesh = read(run_gmsh(tet_box, "-3 -save_all -format msh41"), new_format);
  EXPECT_EQ(old_mesh.connectivity, new_mesh.connectivity);
  EXPECT_TRUE(old_mesh.node_sets.empty());
  EXPECT_EQ(old_format.warnings().size(), 4u);
  EXPECT_EQ(new_mesh.node_sets.size(), 4u);
  EXPECT_TRUE(new_format.empty());
}

TEST_F(GmshFiles, ParametricCoordinatesAreSkipped) {
  const Mesh plain = read(run_gmsh(tet_box, "-3 -format msh41"));
  for (const std::string& format : {formats[2], formats[3]}) {
    const Mesh mesh = read(run_gmsh(tet_box, "-3 -parametric " + format));
    EXPECT_EQ(mesh.connectivity, plain.connectivity);
    EXPECT_LT((mesh.points - plain.points).cwiseAbs().maxCoeff(), 1e-15);
  }
}

TEST_F(GmshFiles, ElementsWithFaceNodesAndOfThirdOrderAreRefused) {
  for (const std::string& format : formats) {
    SCOPED_TRACE(format);
    EXPECT_TRUE(contains(error_of(run_gmsh(box(true), "-3 -order 2 " + format)), {"to get hex20"}));
    EXPECT_TRUE(contains(error_of(run_gmsh(box(false), "-3 -order 2 " + format)), {"to get wedge15"}));
    EXPECT_TRUE(
        contains(error_of(run_gmsh(tet_box, "-3 -order 3 " + format)), {"set Mesh.ElementOrder = 2"}));
  }
}

TEST_F(GmshFiles, Format40IsRefused) {
  EXPECT_TRUE(contains(error_of(run_gmsh(tet_box, "-3 -format msh40")), {"-save -format msh41"}));
}

// The cure that the messages prescribe does what they say.
TEST_F(GmshFiles, TheAdvisedConversionWorks) {
  run_gmsh(tet_box, "-3 -format msh40");
  const auto converted = folder_ / "new.msh";
  const std::string command = "gmsh " + (folder_ / "model.msh").string() + " -save -format msh41 -v 0 -o " +
                              converted.string() + " >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Mesh mesh = read(read_file(converted));
  EXPECT_NEAR(corner_volume(mesh), 6, 1e-12);
  EXPECT_EQ(mesh.node_sets.size(), 4u);
}

TEST_F(GmshFiles, FilesOfTheProgramCutOffAreRefused) {
  for (const std::string& format : formats) {
    const std::string bytes = run_gmsh(box(true), "-3 " + format);
    const size_t whole = bytes.rfind("$EndElements") + std::strlen("$EndElements");
    for (size_t n = 0; n < whole; n += 13)
      EXPECT_THROW(read(std::string_view(bytes).substr(0, n)), InputError) << n;
  }
}

}  // namespace
}  // namespace lissom::read_gmsh_test
