#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "gmsh_support.hpp"
#include "lissom/fe/jacobian_check.hpp"
#include "lissom/fe/mesh_report.hpp"

namespace lissom::mesh_with_gmsh_test {
namespace {

namespace fs = std::filesystem;

// Gives the temporary files a folder of their own, so that a test can see whether anything is left there.
class MeshWithGmsh : public FolderTest {
 protected:
  MeshWithGmsh() : temporary_(folder_ / "tmp") {
    fs::create_directory(temporary_);
    if (const char* old = std::getenv("TMPDIR")) old_ = old;
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  ~MeshWithGmsh() override {
    EXPECT_TRUE(fs::is_empty(temporary_)) << "temporary files were left behind";
    old_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", old_.c_str(), 1);
  }

  fs::path temporary_;
  std::string old_;
};

constexpr const char* box = R"(
  SetFactory("OpenCASCADE");
  Box(1) = {0, 0, 0, 2, 1, 3};
  Physical Volume("body") = {1};
  Physical Surface("far end") = {6};
)";

TEST_F(MeshWithGmsh, AGeometryBecomesAMeshOfTheOrderAskedFor) {
  const auto path = write("a box.geo", box);
  for (int order : {1, 2}) {
    Diagnostics diagnostics;
    const Mesh mesh = mesh_with_gmsh(path, {.order = order, .size = 0.8}, diagnostics);
    EXPECT_EQ(mesh.source, path.string());
    EXPECT_EQ(mesh.types.front(), order == 1 ? ElementType::Tet4 : ElementType::Tet10);
    EXPECT_NEAR(corner_volume(mesh), 6, 1e-10);
    EXPECT_LT(worst_mid_side_offset(mesh), 1e-10);
    for (int node : mesh.node_sets.at("far end")) EXPECT_NEAR(mesh.points(2, node), 3, 1e-12);
    EXPECT_TRUE(diagnostics.empty());
  }
}

TEST_F(MeshWithGmsh, TheSizeAskedForHoldsWhateverTheFileSays) {
  const auto path = write("box.geo", std::string(box) + "Mesh.CharacteristicLengthMax = 0.05;\n");
  Diagnostics diagnostics;
  // edges of about the size asked for: a box of 6 has 6 / (h^3 / (6 sqrt 2)) regular tetrahedra
  for (double h : {1.0, 0.5}) {
    const Mesh mesh = mesh_with_gmsh(path, {.order = 1, .size = h}, diagnostics);
    const double regular = 6 / (h * h * h / (6 * std::sqrt(2)));
    EXPECT_GT(mesh.element_count(), regular / 2);
    EXPECT_LT(mesh.element_count(), regular * 3);
  }
}

TEST_F(MeshWithGmsh, OptionsInTheFileDoNotDisturbTheReader) {
  const auto path = write("box.geo", R"(
    Point(1) = {0, 0, 0};
    Extrude {2, 0, 0} { Point{1}; Layers{2}; }
    Extrude {0, 1, 0} { Curve{1}; Layers{1}; Recombine; }
    Extrude {0, 0, 3} { Surface{5}; Layers{3}; Recombine; }
    Mesh.ElementOrder = 1;
    Mesh.SecondOrderIncomplete = 0;
    Mesh.MshFileVersion = 4.0;
    Mesh.Binary = 0;
    Mesh.Format = 39;
  )");
  Diagnostics diagnostics;
  const Mesh mesh = mesh_with_gmsh(path, {}, diagnostics);
  ASSERT_EQ(mesh.element_count(), 6);
  EXPECT_EQ(mesh.types[0], ElementType::Hex20);
  EXPECT_NEAR(corner_volume(mesh), 6, 1e-10);
  EXPECT_LT(worst_mid_side_offset(mesh), 1e-10);
}

TEST_F(MeshWithGmsh, FilesThatTheGeometryIncludesAreFoundBesideIt) {
  fs::create_directory(folder_ / "parts");
  write("parts/size.geo", "width = 5;\n");
  const auto path =
      write("parts/main.geo",
            "Include \"size.geo\";\nSetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, width, 1, 1};\n");
  Diagnostics diagnostics;
  EXPECT_NEAR(corner_volume(mesh_with_gmsh(path, {.size = 1}, diagnostics)), 5, 1e-10);
}

// Beside a harmless BREP file lies what gmsh would read with it; and a .geo may do anything.
TEST_F(MeshWithGmsh, AGeometryRunsNothing) {
  const fs::path gone = folder_ / "gone";
  const std::string command = "System \"touch " + gone.string() + "\";\n";
  const auto cad = write("cad.geo", "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 2, 1, 3};\n");
  const std::string make = "gmsh " + cad.string() + " -0 -v 0 -o " + (folder_ / "part.brep").string();
  ASSERT_EQ(std::system((make + " >/dev/null").c_str()), 0);
  write("part.brep.opt", command);
  Diagnostics diagnostics;
  EXPECT_NEAR(corner_volume(mesh_with_gmsh(folder_ / "part.brep", {.size = 1}, diagnostics)), 6, 1e-9);
  EXPECT_FALSE(fs::exists(gone));
  const auto geo = write("box.geo", box + command);
  EXPECT_TRUE(contains(input_error_of([&] { mesh_with_gmsh(geo, {.size = 1}, diagnostics); }),
                       {"box.geo:6: 'System' can run programs", "--trust-geometry"}));
  EXPECT_FALSE(fs::exists(gone));
  // trusted, both run: the test would see it
  for (const fs::path& path : {folder_ / "part.brep", geo}) {
    mesh_with_gmsh(path, {.trust = true, .size = 1}, diagnostics);
    EXPECT_TRUE(fs::exists(gone)) << path;
    fs::remove(gone);
  }
}

// Coarse quadratic tetrahedra around a bore: the mid-side nodes go to the curved face, and through the opposite
// one. gmsh's optimisation moves nodes until all Jacobians are positive.
TEST_F(MeshWithGmsh, CurvedElementsAreTurnedOutsideOutAgain) {
  const auto path = write("plate.geo", R"(
    SetFactory("OpenCASCADE");
    Box(1) = {-1.05, -1.05, 0, 2.1, 2.1, 0.1};
    Cylinder(2) = {0, 0, -1, 0, 0, 2, 1};
    BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
    Mesh.CharacteristicLengthMin = 2;
    Mesh.CharacteristicLengthMax = 2;
    Mesh.MeshSizeFromCurvature = 0;
  )");
  Diagnostics diagnostics;
  const Mesh mesh = mesh_with_gmsh(path, {}, diagnostics);
  EXPECT_EQ(find_unsound_elements(mesh).count, 0);
  const Warning* warning = diagnostics.find("gmsh.optimised");
  ASSERT_TRUE(warning) << "gmsh's first mesh was sound: the test needs another geometry";
  EXPECT_TRUE(
      contains(warning->message, {"elements were turned inside out by curved faces", "has left none"}));
  // the plate less a circle; moved nodes are still near it: elements that overlap would count twice
  const double exact = 0.1 * (2.1 * 2.1 - std::numbers::pi);
  EXPECT_NEAR(report_mesh(mesh).volume, exact, 0.02 * exact);
}

TEST_F(MeshWithGmsh, StepAndBrepFilesAreMeshedInMillimetres) {
  // gmsh itself writes the STEP and BREP files; its STEP is in millimetres
  write("cad.geo", "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 2, 1, 3};\n");
  for (const char* name : {"box.step", "box.brep"}) {
    const std::string command =
        "gmsh " + (folder_ / "cad.geo").string() + " -0 -v 0 -o " + (folder_ / name).string() + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
    Diagnostics diagnostics;
    const Mesh mesh = mesh_with_gmsh(folder_ / name, {.size = 1}, diagnostics);
    EXPECT_EQ(mesh.types.front(), ElementType::Tet10);
    EXPECT_NEAR(corner_volume(mesh), 6, 1e-9);
    EXPECT_TRUE(mesh.node_sets.empty());
  }

  // the same STEP file with its lengths declared to be metres
  std::string step = read_file(folder_ / "box.step");
  const size_t unit = step.find("SI_UNIT(.MILLI.,.METRE.)");
  ASSERT_NE(unit, std::string::npos) << step;
  step.replace(unit, std::string("SI_UNIT(.MILLI.,.METRE.)").size(), "SI_UNIT($,.METRE.)");
  Diagnostics diagnostics;
  const Mesh mesh = mesh_with_gmsh(write("metres.STEP", step), {.size = 1000}, diagnostics);
  EXPECT_NEAR(corner_volume(mesh) / 1e9, 6, 1e-9);
}

TEST_F(MeshWithGmsh, GmshsOwnWordsTellWhatIsWrongWithAGeometry) {
  Diagnostics diagnostics;
  const auto path = write("bad.geo", "Box(1) = {0, 0, 0;\n");
  EXPECT_TRUE(begins_with(
      input_error_of([&] { mesh_with_gmsh(path, {}, diagnostics); }),
      {path.string() + ": gmsh could not mesh this geometry; it says:\n  ", "line 1: syntax error"}));
  const auto step = write("bad.step", "garbage\n");
  EXPECT_TRUE(contains(input_error_of([&] { mesh_with_gmsh(step, {}, diagnostics); }),
                       {"gmsh could not mesh", "Incorrect syntax", "Could not read file"}));
}

TEST_F(MeshWithGmsh, AGeometryWithoutPhysicalVolumeSaysSo) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", R"(
    SetFactory("OpenCASCADE");
    Box(1) = {0, 0, 0, 2, 1, 3};
    Physical Surface("far end") = {6};
  )");
  EXPECT_TRUE(begins_with(
      input_error_of([&] { mesh_with_gmsh(path, {.size = 1}, diagnostics); }),
      {path.string() + " (meshed by gmsh): the file has no volume elements", "add a Physical Volume"}));
}

// Quadrangles on one face of a body of tetrahedra make gmsh put pyramids between them.
TEST_F(MeshWithGmsh, PyramidsThatGmshPutsBehindQuadranglesAreRefused) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", std::string(box) + "Recombine Surface{6};\n");
  for (int order : {1, 2})
    EXPECT_TRUE(
        contains(input_error_of([&] { mesh_with_gmsh(path, {.order = order, .size = 1}, diagnostics); }),
                 {"box.geo (meshed by gmsh): ", "is a pyramid", "no Recombine"}));
}

TEST_F(MeshWithGmsh, WithoutAFolderForTemporaryFilesNothingIsTried) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", box);
  setenv("TMPDIR", "/nowhere", 1);
  EXPECT_THROW(mesh_with_gmsh(path, {.size = 1}, diagnostics), Error);
}

TEST_F(MeshWithGmsh, GmshsWarningsArePassedOn) {
  Diagnostics diagnostics;
  mesh_with_gmsh(write("box.geo", std::string(box) + "Warning(\"thin wall\");\n"), {.size = 1}, diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 1u);
  EXPECT_TRUE(contains(diagnostics.warnings()[0].message, {"gmsh warns: ", "thin wall"}));
}

TEST_F(MeshWithGmsh, AMissingProgramIsAnErrorThatNamesThePackage) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", box);
  try {
    mesh_with_gmsh(path, {.program = "/nowhere/gmsh"}, diagnostics);
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    FAIL() << "not the fault of the input: " << error.what();
  } catch (const Error& error) {
    EXPECT_TRUE(begins_with(error.what(),
                            {"the program '/nowhere/gmsh' cannot be run: No such file", "apt install gmsh"}));
  }
}

TEST_F(MeshWithGmsh, AProgramThatDiesIsAnError) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", box), program = write("dying", "#!/bin/sh\nkill -SEGV $$\n");
  fs::permissions(program, fs::perms::owner_all);
  try {
    mesh_with_gmsh(path, {.program = program.string()}, diagnostics);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), {path.string() + ": gmsh was ended by signal 11"}));
  }
}

TEST_F(MeshWithGmsh, NothingInAFileNameIsTakenForACommand) {
  Diagnostics diagnostics;
  const auto path = write("$(touch gone); 'x' -v.geo", box);
  EXPECT_NEAR(corner_volume(mesh_with_gmsh(path, {.size = 1}, diagnostics)), 6, 1e-10);
}

TEST_F(MeshWithGmsh, OptionsOutOfRangeAndMissingFilesAreRefused) {
  Diagnostics diagnostics;
  const auto path = write("box.geo", box);
  EXPECT_EQ(input_error_of([&] { mesh_with_gmsh(path, {.order = 3}, diagnostics); }),
            "gmsh: expected order 1 (linear) or 2 (quadratic), found 3");
  EXPECT_TRUE(begins_with(input_error_of([&] { mesh_with_gmsh(path, {.size = -1}, diagnostics); }),
                          {"gmsh: expected an element size", "found -1"}));
  EXPECT_EQ(input_error_of([&] { mesh_with_gmsh("/nowhere/x.geo", {}, diagnostics); }),
            "/nowhere/x.geo: no such file");
  EXPECT_EQ(input_error_of([&] { mesh_with_gmsh(folder_, {}, diagnostics); }),
            folder_.string() + ": is a folder, expected a file");
}

}  // namespace
}  // namespace lissom::mesh_with_gmsh_test
