#include "lissom/io/study_resolve.hpp"

#include <gtest/gtest.h>

#include "lissom/io/study_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::study_resolve_test {
namespace {

struct ResolveParser {
  TemporaryFolder folder;
  StudyFile operator()(const std::string& text, const std::vector<StudySetting>& settings = {}) const {
    return parse_study(text, folder / "s.toml", {}, settings);
  }
  std::string problems(const std::string& text) const {
    try {
      (*this)(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no problem";
  }
  void expect(const std::string& text, const std::string& message) const {
    const std::string found = problems(text);
    EXPECT_NE(found.find(message), std::string::npos) << message << "\nin\n" << found;
  }
};

std::string rigid_body(const std::string& name, const std::string& mass) {
  return "[bodies." + name + "]\nrigid = { mass = " + mass +
         ", inertia = [1, 1, 1] }\npoints = { hub = [0, 0, 0] }\n";
}

// ---- units

TEST(StudyUnits, NumbersWithUnitsAreThoseOfTheStudyOrTheBody) {
  const ResolveParser parse;
  const StudyFile study = parse("units = \"mm-t-s\"\ngravity = [0, \"-9.81 m/s^2\", 0]\n" +
                                rigid_body("a", "\"2 kg\"") + rigid_body("b", "\"2 kg\"") +
                                "units = \"SI\"\nposition = [\"10 mm\", 2, 3]\n"
                                "rotation = { axis = [0, 0, 1], angle_deg = \"1.5707963267948966 rad\" }\n" +
                                "[simulate]\nend = \"20 ms\"\nstep = 1e-3\n");
  // the same in SI units, to the rounding of the conversion there and back
  EXPECT_NEAR(study.bodies[0].rigid->mass, 2, 1e-14);
  EXPECT_NEAR(study.bodies[1].rigid->mass, 2, 1e-14);
  EXPECT_NEAR(study.bodies[1].placement.position.x(), 0.01, 1e-16);
  EXPECT_EQ(study.bodies[1].placement.position.y(), 2);
  EXPECT_NEAR(study.bodies[1].placement.rotation(1, 0), 1, 1e-14);
  EXPECT_NEAR(study.simulation->gravity.y(), -9.81, 1e-14);
  EXPECT_NEAR(study.simulation->simulate->integrator.end, 0.02, 1e-16);
}

TEST(StudyUnits, LoadsAndMotionsHaveTheUnitsOfTheirKind) {
  const ResolveParser parse;
  const StudyFile study = parse(rigid_body("a", "1") + R"(
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "a.hub"]
motion = "30 deg"
[[loads]]
name = "spring"
kind = "spring"
between = ["ground", "a.hub"]
stiffness = "2 N/mm"
[[loads]]
name = "torsion"
kind = "torsion-spring"
between = ["ground", "a.hub"]
stiffness = "2 N*m/rad"
angle = "90 deg"
[[loads]]
name = "push"
kind = "force"
on = "a.hub"
force = ["2 kN", 0, { table = [["0 ms", "1 kN"], ["10 ms", 2]] }]
)");
  EXPECT_NEAR(study.simulation->joints[0].motion->operator()(0), 0.5235987755982988, 1e-15);
  EXPECT_NEAR(study.simulation->loads[0].load.stiffness, 2000, 1e-10);
  EXPECT_NEAR(study.simulation->loads[1].load.stiffness, 2, 1e-14);
  EXPECT_NEAR(study.simulation->loads[1].load.length, 1.5707963267948966, 1e-15);
  EXPECT_NEAR(study.simulation->loads[2].load.components[0](0), 2000, 1e-10);
  EXPECT_NEAR(study.simulation->loads[2].load.components[2](0), 1000, 1e-10);
  EXPECT_NEAR(study.simulation->loads[2].load.components[2](0.01), 2, 1e-10);
}

TEST(StudyUnits, AWrongUnitIsOneProblemAtItsLine) {
  const ResolveParser parse;
  const std::string found = parse.problems(rigid_body("a", "\"2 mm\""));
  EXPECT_NE(found.find(":2: bodies.a.rigid.mass: \"2 mm\" is a length, expected a mass (in kg, g, t)"),
            std::string::npos)
      << found;
  EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  parse.expect(rigid_body("a", "\"2\""),
               "bodies.a.rigid.mass: expected a number, found \"2\": leave out the quotes");
  parse.expect(rigid_body("a", "\"two\""), "bodies.a.rigid.mass: expected a number, found \"two\"");
  parse.expect(rigid_body("a", "\"2 kgs\""), "there is no unit 'kgs' (did you mean 'kg'?)");
  parse.expect(rigid_body("a", "1") + "[bodies.a.modes]\ncount = \"5 mm\"\n", "expected a whole number");
}

// ---- parameters

TEST(StudyParameters, ExpressionsOfThemStandForNumbers) {
  const ResolveParser parse;
  const StudyFile study =
      parse("[parameters]\nm = 3\nhalf = \"= m/2\"\nomega = \"= 2*half\"\n" + rigid_body("a", "\"= half\"") +
            "position = [\"= 2*m\", 0, \"= sqrt(m + 1)\"]\n" + R"(
[[joints]]
name = "hinge"
kind = "revolute"
between = ["ground", "a.hub"]
motion = "omega*t"
)");
  EXPECT_EQ(study.bodies[0].rigid->mass, 1.5);
  EXPECT_EQ(study.bodies[0].placement.position, Eigen::Vector3d(6, 0, 2));
  EXPECT_EQ(study.simulation->joints[0].motion->operator()(2), 6);
}

TEST(StudyParameters, OnesWithUnitsFollowTheUnitsOfWhereTheyAreUsed) {
  const ResolveParser parse;
  const StudyFile study = parse("units = \"mm-t-s\"\n[parameters]\nl = \"5 mm\"\n" + rigid_body("a", "1") +
                                "position = [\"= l\", 0, 0]\n" + rigid_body("b", "1") +
                                "units = \"SI\"\nposition = [\"= 2*l\", 0, 0]\n");
  EXPECT_NEAR(study.bodies[0].placement.position.x(), 0.005, 1e-17);
  EXPECT_NEAR(study.bodies[1].placement.position.x(), 0.01, 1e-17);
}

TEST(StudyParameters, TheyAreSetFromOutsideByTheirNames) {
  const ResolveParser parse;
  const std::string text = "[parameters]\nm = 3\n" + rigid_body("a", "\"= 2*m\"");
  EXPECT_EQ(parse(text, {{"m", "5"}}).bodies[0].rigid->mass, 10);
  EXPECT_EQ(parse(text, {{"parameters.m", "5"}}).bodies[0].rigid->mass, 10);
  const StudyFile study =
      parse(text +
            "[simulate]\nend = 1\nstep = 0.1\n[[cases]]\nname = \"c\"\nset = { \"parameters.m\" = 4 "
            "}\n[sweep]\nparameters = [{ key = \"parameters.m\", "
            "values = [1, \"= 2*3\"] }]\n");
  EXPECT_EQ(study.cases[0].study.bodies[0].rigid->mass, 8);
  EXPECT_EQ(study.sweep[0].study.bodies[0].rigid->mass, 2);
  EXPECT_EQ(study.sweep[1].study.bodies[0].rigid->mass, 12);
}

TEST(StudyParameters, ProblemsNameTheParameter) {
  const ResolveParser parse;
  const std::string body = rigid_body("a", "\"= lenght\"");
  parse.expect("[parameters]\nlength = 1\n" + body,
               ":4: bodies.a.rigid.mass: there is no parameter 'lenght' (did you mean 'length'?)");
  parse.expect(body, "[parameters] has none");
  parse.expect("[parameters]\na = \"= b\"\nb = \"= a\"\n" + rigid_body("a", "1"),
               "depends on itself: a -> b -> a");
  parse.expect("[parameters]\nsin = 1\n" + rigid_body("a", "1"),
               ":2: parameters.sin: 'sin' means something else");
  parse.expect("[parameters]\n\"a b\" = 1\n" + rigid_body("a", "1"), "the name is to be of letters");
  parse.expect("[parameters]\na = [1]\n" + rigid_body("a", "1"), ":2: parameters.a: expected a number");
  parse.expect("[parameters]\na = 0\n" + rigid_body("a", "\"= 1/a\""), "expected a finite number");
  parse.expect(rigid_body("a", "\"= t\""), "t is known in functions of time only");
  parse.expect(rigid_body("a", "\"= 2*(\""), "bodies.a.rigid.mass");
  parse.expect("parameters = 3\n" + rigid_body("a", "1"), "parameters: expected a table");
}

TEST(StudyParameters, WholeNumbersMustBeWhole) {
  const ResolveParser parse;
  const std::string beam =
      "[bodies.a]\nformulation = \"ancf\"\nfrom = [0, 0]\nto = [1, 0]\nsection = { circle = 0.1 }\nyoung = "
      "1e6\nmass = 1\n";
  EXPECT_EQ(parse("[parameters]\nn = 4\n" + beam + "elements = \"= 2*n\"\n").bodies[0].ancf->beam.elements,
            8);
  parse.expect("[parameters]\nn = 4\n" + beam + "elements = \"= n/3\"\n", "expected a whole number");
}

// Latin-1 and the like: the message says what to do.
TEST(StudyText, IsUtf8) {
  const ResolveParser parse;
  for (const char* quotes : {"'", "\"", "\'\'\'", "\"\"\""})
    parse.expect(rigid_body("a", "1") + "\n" + "title = " + quotes + "Tr\xE4ger" + quotes + "\n",
                 "s.toml:5: is no valid TOML: the byte 0xe4 is no character of UTF-8; save the file as UTF-");
  // cut, longer than needed, half of a pair, beyond the last character, alone
  for (const char* bytes : {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "\xE2\x82"})
    parse.expect(rigid_body("a", "1") + "# " + bytes, "s.toml:4: is no valid TOML: the byte");
  const std::string title = "Tr\xC3\xA4ger \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(parse("title = \"" + title + "\"\n" + rigid_body("a", "1")).title, title);
}

// ---- includes

TEST(StudyIncludes, TheStudysOwnKeysCountMore) {
  const ResolveParser parse;
  std::filesystem::create_directory(parse.folder / "common");
  parse.folder.write(
      "common/base.toml",
      "title = \"base\"\ngravity = [0, 0, -1]\n" + rigid_body("a", "1") + rigid_body("b", "2") +
          "[[joints]]\nname = \"j\"\nkind = \"spherical\"\nbetween = [\"ground\", \"a.hub\"]\n"
          "[[joints]]\nname = \"k\"\nkind = \"spherical\"\nbetween = [\"ground\", \"b.hub\"]\n");
  const StudyFile study = parse(
      "include = \"common/base.toml\"\ntitle = \"own\"\n[bodies.b]\nposition = [1, 2, 3]\n"
      "[[joints]]\nname = \"k\"\nkind = \"fixed\"\n");
  EXPECT_EQ(study.title, "own");
  EXPECT_EQ(study.simulation->gravity.z(), -1);
  ASSERT_EQ(study.bodies.size(), 2U);
  EXPECT_EQ(study.bodies[0].name, "a");
  EXPECT_EQ(study.bodies[1].rigid->mass, 2);
  EXPECT_EQ(study.bodies[1].placement.position.y(), 2);
  ASSERT_EQ(study.simulation->joints.size(), 2U);
  EXPECT_EQ(study.simulation->joints[1].kind, JointKind::Fixed);
}

TEST(StudyIncludes, TheTextThatIsKeptStandsForItself) {
  const ResolveParser parse;
  std::filesystem::create_directory(parse.folder / "common");
  parse.folder.write("common/a.msh", "x");
  parse.folder.write("common/base.toml",
                     "[parameters]\nsize = 3\n[bodies.a]\nmesh = \"a.msh\"\nmesh_size = \"= size\"\n");
  const StudyFile study = parse("include = \"common/base.toml\"\n[parameters]\nsize = 4\n");
  EXPECT_EQ(study.bodies[0].mesh, parse.folder / "common/a.msh");
  EXPECT_EQ(study.text.find("include"), std::string::npos);
  std::filesystem::remove(parse.folder / "common/base.toml");
  const StudyFile again = parse(study.text);
  EXPECT_EQ(again.bodies[0].mesh, parse.folder / "common/a.msh");
  EXPECT_EQ(again.bodies[0].gmsh.size, 4);
}

TEST(StudyIncludes, TablesThatSayOneThingAreTakenAsAWhole) {
  const ResolveParser parse;
  parse.folder.write("base.toml", rigid_body("a", "1") + "rotation = { axis = [0, 0, 1], angle_deg = 30 }\n");
  const StudyFile study = parse("include = [\"base.toml\"]\n[bodies.a]\nrotation = { vector = [0, 0, 0] }\n");
  EXPECT_EQ(study.bodies[0].placement.rotation(0, 0), 1);
}

TEST(StudyIncludes, ProblemsNameTheFileAndLineOfTheKey) {
  const ResolveParser parse;
  parse.folder.write("base.toml", "\n\n[bodies.a]\nrigid = { mass = -1, inertia = [1, 1, 1] }\n");
  parse.expect("include = \"base.toml\"\n", "base.toml:4: bodies.a.rigid.mass: is -1");
  parse.expect("include = \"none.toml\"\n" + rigid_body("a", "1"), "s.toml:1: include: there is no file");
  parse.expect("include = 3\n" + rigid_body("a", "1"), "include: expected a text or a list of texts");
  parse.folder.write("one.toml", "include = \"two.toml\"\n");
  parse.folder.write("two.toml", "include = \"one.toml\"\n");
  parse.expect("include = \"one.toml\"\n" + rigid_body("a", "1"),
               "two.toml:1: include: files include each other: one.toml -> two.toml -> one.toml");
  parse.expect("include = \"s.toml\"\n" + rigid_body("a", "1"), "there is no file");
  // names that the system does not even look up
  parse.expect("include = \"" + std::string(5000, 'a') + "\"\n" + rigid_body("a", "1"),
               "s.toml:1: include: there is no file");
  std::filesystem::create_symlink("loop.toml", parse.folder / "loop.toml");
  parse.expect("include = \"loop.toml\"\n" + rigid_body("a", "1"), "s.toml:1: include: there is no file");
  parse.folder.write("bad.toml", "a = \n");
  parse.expect("include = \"bad.toml\"\n" + rigid_body("a", "1"), "is no valid TOML");
}

TEST(StudyIncludes, LaterFilesCountMore) {
  const ResolveParser parse;
  parse.folder.write("one.toml", "title = \"one\"\n" + rigid_body("a", "1"));
  parse.folder.write("two.toml", "title = \"two\"\n");
  EXPECT_EQ(parse("include = [\"one.toml\", \"two.toml\"]\n").title, "two");
}

// Each file includes the next one twice: read again for every mention, 22 levels are four million files, and
// what has no name at the bottom is there as many times.
TEST(StudyIncludes, AFileThatIsMetTwiceCountsOnce) {
  const ResolveParser parse;
  std::filesystem::create_directory(parse.folder / "d");
  for (int i = 0; i < 22; ++i)
    parse.folder.write(fmt::format("d/{}.toml", i),
                       fmt::format("include = [\"{0}.toml\", \"../d/{0}.toml\"]\n", i + 1));
  parse.folder.write("d/22.toml", rigid_body("a", "1") + R"(
[simulate]
end = 1
step = 0.1
[[sensors]]
name = "at"
kind = "position"
of = "a.hub"
[[sweep.parameters]]
key = "bodies.a.rigid.mass"
values = [1, 2]
)");
  const StudyFile study = parse("include = \"d/0.toml\"\n");
  EXPECT_EQ(study.bodies.size(), 1U);
  EXPECT_EQ(study.simulation->sensors.size(), 1U);
  // entries without a name
  EXPECT_EQ(study.sweep_keys, std::vector<std::string>{"bodies.a.rigid.mass"});
  // two that say the same in one file are two
  parse.folder.write("twice.toml", rigid_body("a", "1") + "[simulate]\nend = 1\nstep = 0.1\n" +
                                       "[[sweep.parameters]]\nkey = \"title\"\nvalues = [\"u\"]\n"
                                       "[[sweep.parameters]]\nkey = \"title\"\nvalues = [\"u\"]\n");
  EXPECT_EQ(parse("include = [\"twice.toml\", \"twice.toml\"]\n").sweep_keys.size(), 2U);
}

// What is below counts where it comes last: the bottom's title is that of 'right', which comes after 'left'.
TEST(StudyIncludes, AFileThatIsMetTwiceHasTheRankOfTheLastTime) {
  const ResolveParser parse;
  parse.folder.write("bottom.toml", "title = \"bottom\"\n" + rigid_body("a", "1"));
  parse.folder.write("left.toml", "include = \"bottom.toml\"\ntitle = \"left\"\n");
  parse.folder.write("right.toml", "include = \"bottom.toml\"\n");
  EXPECT_EQ(parse("include = [\"left.toml\", \"right.toml\"]\n").title, "bottom");
  EXPECT_EQ(parse("include = [\"right.toml\", \"left.toml\"]\n").title, "left");
}

TEST(StudyIncludes, ANameThatComesTwiceIsToldWithAndWithoutIncludes) {
  const ResolveParser parse;
  const std::string sensor = "[[sensors]]\nname = \"at\"\nkind = \"position\"\nof = \"a.hub\"\n";
  parse.folder.write("one.toml", rigid_body("a", "1"));
  parse.folder.write("two.toml", rigid_body("a", "1") + sensor);
  parse.expect(rigid_body("a", "1") + sensor + sensor, "comes twice");
  parse.expect("include = \"one.toml\"\n" + sensor + sensor, "comes twice");
  parse.expect("include = \"two.toml\"\n" + sensor + sensor, "comes twice");
}

TEST(StudyIncludes, AChainIsBoundedAndToldByItsEnds) {
  const ResolveParser parse;
  for (int i = 0; i < 200; ++i)
    parse.folder.write(fmt::format("{}.toml", i), fmt::format("include = \"{}.toml\"\n", i + 1));
  parse.folder.write("200.toml", rigid_body("a", "1"));
  parse.expect("include = \"0.toml\"\n",
               "31.toml:1: include: files include each other more than 32 deep: s.toml -> 0.toml -> 1.toml "
               "-> ... (28 files) -> 30.toml -> 31.toml -> 32.toml; include them from one file side by side");
  EXPECT_EQ(parse("include = \"169.toml\"\n").bodies.size(), 1U);
}

TEST(StudyIncludes, TheNumberOfIncludesIsBounded) {
  const ResolveParser parse;
  parse.folder.write("base.toml", rigid_body("a", "1"));
  std::string list = "\"base.toml\"";
  for (int i = 1; i < 1000; ++i) list += ", \"base.toml\"";
  EXPECT_EQ(parse("include = [" + list + "]\n").bodies.size(), 1U);
  parse.expect("include = [" + list + ", \"base.toml\"]\n",
               "s.toml:1: include: more than 1000 files are included in all; this is too much: s.toml -> "
               "base.toml");
}

}  // namespace
}  // namespace lissom::study_resolve_test
