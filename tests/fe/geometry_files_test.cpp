#include "lissom/fe/geometry_files.hpp"

#include <gtest/gtest.h>

#include "gmsh_support.hpp"

namespace lissom::geometry_files_test {
namespace {

namespace fs = std::filesystem;

class GeometryFiles : public FolderTest {
 protected:
  std::string refusal(std::string_view text) const {
    const auto path = write("a.geo", text);
    return input_error_of([&] { collect_geometry(path); });
  }
  std::vector<std::string> names(const fs::path& path) const {
    std::vector<std::string> out;
    for (const GeometryFile& file : collect_geometry(path)) out.push_back(file.name.string());
    return out;
  }
};

TEST_F(GeometryFiles, OnlyTheGeometryAndWhatItNamesAreTaken) {
  fs::create_directory(folder_ / "sub");
  write("sub/deep.geo", "Include \"other.geo\"; // beside itself\n");
  write("sub/other.geo", "h = 1;\n");
  write("cad.step", "ISO-10303-21;\n");
  write("part.brep.opt", "System \"touch gone\";\n");
  write("part.brep", "DBRep_DrawableShape\n");
  write("numbers.txt", "1 2 3\n");
  const auto path =
      write("a.geo",
            "Include 'sub/deep.geo';\nMerge \"cad.step\";\nv() = ShapeFromFile(\"part.brep\");\n"
            "l() = ListFromFile[\"numbers.txt\"];\nInclude \"missing.geo\";\nInclude \"a.geo\";\n");
  EXPECT_EQ(names(path), (std::vector<std::string>{"a.geo", "sub/deep.geo", "cad.step", "part.brep",
                                                   "numbers.txt", "sub/other.geo"}));
  EXPECT_EQ(names(folder_ / "part.brep"), std::vector<std::string>{"part.brep"});
}

// gmsh knows .step and .STEP, and parses .Step as commands.
TEST_F(GeometryFiles, TheExtensionIsWrittenAsGmshKnowsIt) {
  EXPECT_EQ(names(write("Part.Step", "SystemCall \"touch gone\";")), std::vector<std::string>{"Part.step"});
  EXPECT_TRUE(contains(input_error_of([&] { names(write("Part.GEO", "SystemCall \"touch gone\";")); }),
                       {"Part.GEO:1: 'SystemCall' can run programs"}));
}

TEST_F(GeometryFiles, CommandsThatRunProgramsOrWriteFilesAreRefusedWithTheirLine) {
  for (const std::string command :
       {"SystemCall \"touch gone\";", "System 'touch gone';", "NonBlockingSystemCall \"touch gone\";",
        "OnelabRun(\"a\", \"touch gone\");", "StringToName[\"SystemCall\"] \"touch gone\";",
        "S2N[\"SystemCall\"] \"touch gone\";", "Field[1] = ExternalProcess;",
        "Field[1].CommandLine = \"touch\";", "Print \"gone\";", "Save \"gone\";", "Plugin(NewView).Run;",
        "Solver.Executable0 = \"touch\";", "Printf(\"(x) > %g\", 1) > \"gone\";",
        "Printf(\"x\") >> \"gone\";", "x = 1e5System \"touch gone\";",
        "If (0)\nEndIfSystem \"touch gone\";"}) {
    const std::string text = "// harmless\n" + command + "\n";
    const std::string message = refusal(text);
    EXPECT_TRUE(contains(message, {"a.geo:", "--trust-geometry"})) << command << "\n" << message;
    // where it is only spoken of, it is allowed
    if (command.find('\n') == std::string::npos) {
      EXPECT_EQ(refusal("// " + command + "\nh = 1; /* " + command + " */\n"), "(no InputError was thrown)");
    }
  }
  EXPECT_TRUE(contains(refusal("h = 1;\n\nSystemCall \"x\";"), {"a.geo:3: 'SystemCall' can run programs"}));
}

TEST_F(GeometryFiles, WhatOnlyLooksLikeThemIsAllowed) {
  EXPECT_EQ(
      refusal("Print.Text = 1; Mesh.SaveAll = 1; System = 3; t = \"SystemCall\"; Printf(\"1 > 2\", 3);\n"
              "If (a > b)\n Printf(\"(x)\"); EndIf\n/* Save the mesh,\n print it, and include all. */\n"),
      "(no InputError was thrown)");
}

// Loops and macros make gmsh go on at the beginning of a line: what was a comment before is none then.
TEST_F(GeometryFiles, CommandsInCommentsOfSeveralLinesAreRefusedToo) {
  EXPECT_TRUE(contains(refusal("Call F; /*\nSystemCall \"touch gone\";\n*/\n"),
                       {"a.geo:2: 'SystemCall' stands in a comment"}));
  EXPECT_TRUE(contains(refusal("Call F; /*\nSystem \"touch gone\"; */\n"), {"'System' stands in a comment"}));
  EXPECT_TRUE(contains(refusal("t = \"\nMerge \";\n"), {"'Merge' stands in a comment"}));
  EXPECT_TRUE(contains(refusal("Call F; //\rSystem name;\n"), {"'System' stands in a comment"}));
}

// There gmsh's scanner and ours would part ways.
TEST_F(GeometryFiles, ZeroBytesAndEndlessTextsAreRefused) {
  using namespace std::literals;
  EXPECT_TRUE(contains(refusal("h = 1;\n// \0\nSystemCall"sv), {"a.geo:2: a zero byte"}));
  EXPECT_TRUE(contains(refusal("t = \"" + std::string(1100, 'x') + "\";"), {"a text of 1100 characters"}));
  EXPECT_TRUE(contains(refusal("t = \"abc"), {"a text without an end"}));
  EXPECT_TRUE(contains(refusal("/* abc"), {"a comment without an end"}));
}

TEST_F(GeometryFiles, FilesElsewhereAndFilesThatAreProgramsAreRefused) {
  EXPECT_TRUE(contains(refusal("Include \"/etc/passwd\";"), {"outside of the folder", "--trust-geometry"}));
  EXPECT_TRUE(contains(refusal("Include \"../b.geo\";"), {"outside of the folder"}));
  EXPECT_TRUE(contains(refusal("Merge \"x.py\";"), {"for commands", "expected .geo"}));
  EXPECT_TRUE(contains(refusal("Merge \"x.pos\";"), {"for commands"}));
  EXPECT_TRUE(contains(refusal("Merge StrCat(\"x\", \".py\");"), {"the name of the file is computed"}));
  fs::create_symlink("/etc/hostname", folder_ / "link.geo");
  EXPECT_TRUE(contains(refusal("Include \"link.geo\";"), {"a link leads out of the folder"}));
}

}  // namespace
}  // namespace lissom::geometry_files_test
