#include "lissom/fe/mesh_reader.hpp"

#include <gtest/gtest.h>

#include "gmsh_support.hpp"

namespace lissom::mesh_reader_test {
namespace {

// The formats are told apart by what comes back: the Gmsh file holds a tet4, Nastran's a wedge6, Abaqus' a
// hex8.
constexpr const char* gmsh_text =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n";
constexpr const char* nastran_text =
    "$ a wedge\nSOL 103\nCEND\nBEGIN "
    "BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\n"
    "GRID,5,,1.,0.,1.\nGRID,6,,0.,1.,1.\nPSOLID,1,1\nMAT1,1,2.+11,,.3,7850.\nCPENTA,1,1,1,2,3,4,5,"
    "6\nENDDATA\n";
constexpr const char* inp_text =
    "** a cube\n*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
    "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1,1,2,3,4,5,6,7,8\n";

class ReadMesh : public FolderTest {
 protected:
  ElementType type_in(const std::string& name, std::string_view text) {
    Diagnostics diagnostics;
    const Mesh mesh = read_mesh(write(name, text), {}, diagnostics);
    EXPECT_EQ(mesh.element_count(), 1);
    return mesh.types.at(0);
  }
};

TEST_F(ReadMesh, TheExtensionChoosesTheReader) {
  EXPECT_EQ(type_in("a.msh", gmsh_text), ElementType::Tet4);
  EXPECT_EQ(type_in("A.MSH", gmsh_text), ElementType::Tet4);
  for (const char* name : {"a.bdf", "a.nas", "a.BDF", "a.blk", "a.pch"})
    EXPECT_EQ(type_in(name, nastran_text), ElementType::Wedge6) << name;
  EXPECT_EQ(type_in("a.inp", inp_text), ElementType::Hex8);
}

TEST_F(ReadMesh, ADatFileIsJudgedByItsContent) {
  EXPECT_EQ(type_in("a.dat", nastran_text), ElementType::Wedge6);
  EXPECT_EQ(type_in("a.dat", inp_text), ElementType::Hex8);
}

TEST_F(ReadMesh, AFileWithAnUnknownExtensionIsJudgedByItsContent) {
  EXPECT_EQ(type_in("mesh", gmsh_text), ElementType::Tet4);
  EXPECT_EQ(type_in("mesh.txt", nastran_text), ElementType::Wedge6);
  EXPECT_EQ(type_in("mesh.ccx", inp_text), ElementType::Hex8);
}

TEST_F(ReadMesh, AGeometryIsMeshedOnTheWay) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 2, 1, 3};\n");
  const Mesh mesh = read_mesh(path, {.order = 1, .size = 1}, diagnostics);
  EXPECT_EQ(mesh.types.at(0), ElementType::Tet4);
  EXPECT_NEAR(corner_volume(mesh), 6, 1e-10);
}

TEST_F(ReadMesh, WhatNobodyUnderstandsIsRefusedWithAListOfWhatIs) {
  Diagnostics diagnostics;
  for (std::string_view text : {"", "hello\n", "1 2 3\n",
                                "\x7f"
                                "ELF"}) {
    const auto path = write("a.dat", text);
    EXPECT_TRUE(begins_with(
        input_error_of([&] { read_mesh(path, {}, diagnostics); }),
        {path.string() + ": neither the extension nor the content", ".msh", ".bdf", ".inp", ".step"}));
  }
  EXPECT_EQ(input_error_of([&] { read_mesh("/nowhere/a.msh", {}, diagnostics); }),
            "/nowhere/a.msh: no such file");
  EXPECT_EQ(input_error_of([&] { read_mesh("/nowhere/a.step", {}, diagnostics); }),
            "/nowhere/a.step: no such file");
}

}  // namespace
}  // namespace lissom::mesh_reader_test
