#include "lissom/io/train_spec.hpp"

#include <gtest/gtest.h>

#include "lissom/io/study_file.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::train_spec_test {
namespace {

struct Parser {
  TemporaryFolder folder;
  Parser() {
    for (const char* name : {"a.msh", "run.h5", "a.npy", "b.npy", "t.npy", "model.rom.h5"})
      folder.write(name, "x");
  }
  StudyFile operator()(const std::string& text, const std::filesystem::path& rom = {}) const {
    return parse_study(text, folder.path() / "s.toml", rom);
  }
  std::string problems(const std::string& text) const {
    try {
      (*this)(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no problem";
  }
  void expect(const std::string& text, const std::vector<std::string>& messages) const {
    const std::string found = problems(text);
    for (const std::string& message : messages)
      EXPECT_NE(found.find(message), std::string::npos) << message << "\nin\n" << found;
  }
};

// Two links; meshes are not looked at here.
const std::string mechanism = R"(
[bodies.a]
mesh = "a.msh"
reduce = { interfaces = ["hub", "pin"] }
[bodies."b.c"]
mesh = "a.msh"
reduce = { interfaces = ["pin", "tip"] }
[[joints]]
name = "hinge"
kind = "spherical"
between = ["ground", "a.hub"]
)";
const std::string run = "[simulate]\nend = 1\nstep = 1e-3\n";

TEST(TrainSpec, AnEmptyTableTrainsOnTheStudyItself) {
  const Parser parse;
  const StudyFile study = parse(mechanism + run + "[train]\n");
  ASSERT_TRUE(study.train.has_value());
  EXPECT_EQ(study.train->runs, (std::vector<std::string>{""}));
  EXPECT_FALSE(study.train->order.has_value());
  EXPECT_EQ(study.train->max_order, 20);
  EXPECT_TRUE(study.train->project_on_joints);
  EXPECT_TRUE(study.train->component_modes);
  EXPECT_TRUE(study.train->reconstruct);
  EXPECT_TRUE(study.train->recovery);
  EXPECT_FALSE(study.simulation->simulate->is_reduced());
  EXPECT_FALSE(parse(mechanism + run).train.has_value());
}

TEST(TrainSpec, EveryKeyIsReadInTheUnitsOfTheStudy) {
  const Parser parse;
  const StudyFile study = parse("units = \"mm-kg-ms\"\n" + mechanism + run + R"(
[train]
order = 8
max_order = 12
tolerance = 0.5
noise = 0.25
mass_damping = 2
runs = ["study", "other way"]
joints = "data"
modes = "data"
reconstruct = false
recovery = false
places = ["a.node 17", "b.c.tip"]
[[cases]]
name = "other way"
set = { "simulate.step" = 1e-4 }
)");
  const TrainSpec& train = *study.train;
  EXPECT_EQ(train.order, 8);
  EXPECT_EQ(train.max_order, 12);
  EXPECT_DOUBLE_EQ(train.tolerance, 0.5e-3);
  EXPECT_DOUBLE_EQ(train.noise, 0.25e-3);
  EXPECT_DOUBLE_EQ(train.mass_damping, 2000);
  EXPECT_EQ(train.runs, (std::vector<std::string>{"", "other way"}));
  EXPECT_FALSE(train.project_on_joints);
  EXPECT_FALSE(train.component_modes);
  EXPECT_FALSE(train.reconstruct);
  EXPECT_FALSE(train.recovery);
  EXPECT_EQ(train.places, (std::vector<std::string>{"a.node 17", "b.c.tip"}));
}

TEST(TrainSpec, TrajectoriesComeFromOneFileOrFromOnePerBody) {
  const Parser parse;
  const StudyFile study = parse(mechanism + R"(
[train]
[[train.trajectories]]
name = "Exudyn"
file = "run.h5"
bodies = { a = "left/x", "b.c" = "right/x" }
nodes = { a = "left/ids" }
time = "t"
displacements = true
units = "mm-t-s"
[[train.trajectories]]
bodies = { a = "a.npy", "b.c" = "b.npy" }
time = "t.npy"
)");
  ASSERT_EQ(study.train->trajectories.size(), 2);
  EXPECT_TRUE(study.train->runs.empty());
  const TrajectorySpec &one = study.train->trajectories[0], &two = study.train->trajectories[1];
  EXPECT_EQ(one.name, "Exudyn");
  EXPECT_EQ(one.file, parse.folder.path() / "run.h5");
  EXPECT_EQ(one.bodies.at("b.c"), "right/x");
  EXPECT_EQ(one.nodes.at("a"), "left/ids");
  EXPECT_EQ(one.time, "t");
  EXPECT_TRUE(one.displacements);
  EXPECT_DOUBLE_EQ(one.units.length, 1e-3);
  EXPECT_TRUE(two.file.empty());
  EXPECT_EQ(two.bodies.at("b.c"), (parse.folder.path() / "b.npy").string());
  EXPECT_EQ(two.time, (parse.folder.path() / "t.npy").string());
  EXPECT_FALSE(two.displacements);
  EXPECT_DOUBLE_EQ(two.units.length, 1);
}

TEST(TrainSpec, AllProblemsAreListedAtOnceWithLineAndKey) {
  const Parser parse;
  parse.expect(mechanism + run + R"([train]
order = 21
tolerance = -1
noise = "much"
joints = "projct"
ordr = 3
runs = ["study", "study"]
places = ["d.tip", "a."]
[[train.trajectories]]
bodies = { a = "none.npy", d = "a.npy" }
time = "none.npy"
)",
               {"s.toml:16: train.order: is 21, expected 1 to 20 (max_order)",
                "s.toml:17: train.tolerance: is -1, expected 0 or more",
                "s.toml:18: train.noise: expected a number, found \"much\"",
                "s.toml:19: train.joints: 'projct' is none of project, data; did you mean 'project'?",
                "s.toml:20: train.ordr: unknown key; did you mean 'order'?",
                "s.toml:21: train.runs: 'study' comes twice", "train.runs: does not go with 'trajectories'",
                "s.toml:22: train.places: 'd.tip': there is no body 'd'",
                "'a.': expected a place of the body behind the dot",
                "s.toml:24: train.trajectories[1].bodies: there is no file", "there is no body 'd'",
                "the body 'b.c' has no file", "s.toml:25: train.trajectories[1].time: there is no file"});
  parse.expect(mechanism + run + "[train]\nmax_order = 4\norder = 5\n", {"order: is 5, expected 1 to 4"});
  parse.expect(mechanism + run + "[train]\norder = 0\n", {"order: is 0, expected 1 to 20"});
  parse.expect(mechanism + run + "[train]\nruns = []\n", {"train.runs: the list is empty"});
  parse.expect(mechanism + run + "[train]\n[[train.trajectories]]\nname = \"x\"\n", {"file: is missing"});
  const size_t joints = mechanism.find("[[joints]]");
  parse.expect(mechanism.substr(0, joints) + run + "[train]\n",
               {"train.joints: the study has no [[joints]]"});
  EXPECT_EQ(parse.problems(mechanism.substr(0, joints) + run + "[train]\njoints = \"data\"\n"), "no problem");
}

TEST(TrainSpec, RunsAreCasesWithASimulationOfTheBodiesThemselves) {
  const Parser parse;
  const std::string cases = R"(
[[cases]]
name = "reversed"
set = { "simulate.step" = 1e-4 }
[[cases]]
name = "small"
set = { "simulate.model" = "slap", "train.order" = 8 }
)";
  const StudyFile study = parse(mechanism + run + "[train]\nruns = [\"study\", \"reversed\"]\n" + cases);
  EXPECT_EQ(study.train->runs, (std::vector<std::string>{"", "reversed"}));
  EXPECT_FALSE(study.train->order.has_value());
  EXPECT_FALSE(study.cases[0].study.simulation->simulate->is_reduced());
  EXPECT_TRUE(study.cases[1].study.simulation->simulate->is_reduced());
  EXPECT_EQ(study.cases[1].study.train->order, 8);
  parse.expect(mechanism + run + "[train]\nruns = [\"revrsed\"]\n" + cases,
               {"train.runs: there is no case 'revrsed' (did you mean 'reversed'?)", "are: study, reversed"});
  parse.expect(mechanism + run + "[train]\nruns = [\"small\"]\n" + cases,
               {"train.runs: the case 'small' is simulated with model = \"slap\""});
  parse.expect(mechanism + run + "model = \"slap\"\n[train]\n",
               {"train.runs: the study itself is simulated with model = \"slap\""});
  parse.expect(mechanism + "[train]\n", {"train.runs: the study itself has no [simulate]"});
  // and each case has its own
  parse.expect(mechanism + run + "[train]\n[[cases]]\nname = \"x\"\nset = { \"train.runs\" = [\"y\"] }\n",
               {"there is no case 'y'", "(case 'x')"});
}

TEST(TrainSpec, ASlapModelComesFromTrainingOrFromAFile) {
  const Parser parse;
  parse.expect(mechanism + run + "model = \"slap\"\n", {":15: simulate.model: \"slap\" needs a model"});
  parse.expect(mechanism + run + "model = \"slp\"\n",
               {"'slp' is none of full, slap, pod, linear; did you mean 'slap'?"});
  parse.expect(mechanism + run + "[[cases]]\nname = \"x\"\nset = { \"simulate.model\" = \"slap\" }\n",
               {"simulate.model: \"slap\" needs a model", "(case 'x')"});
  parse.expect(mechanism + run + "[[cases]]\nname = \"x\"\nset = { \"train.order\" = 8 }\n",
               {"there is no 'train'"});
}

TEST(TrainSpec, LinearModelsHaveKeysOfTheirOwn) {
  const Parser parse;
  const std::string linear = mechanism + run + "[train]\nmethod = \"linear\"\n";
  const StudyFile study = parse("units = \"mm-kg-ms\"\n" + linear +
                                "about = 500\ntruncation = \"frequency\"\nhighest = 80\nstatics = false\n");
  ASSERT_TRUE(study.train && study.train->linear);
  EXPECT_FALSE(study.train->is_slap());
  EXPECT_EQ(study.train->method(), "linear");
  EXPECT_EQ(study.train->linear->about, LineariseSpec::About::Time);
  EXPECT_DOUBLE_EQ(study.train->linear->time, 0.5);
  const LinearOptions& options = study.train->linear->options;
  EXPECT_EQ(options.truncation, LinearTruncation::Frequency);
  EXPECT_EQ(options.highest, 80);
  EXPECT_FALSE(options.statics);
  const LinearOptions given = parse(linear).train->linear->options;
  EXPECT_EQ(given.truncation, LinearTruncation::Balanced);
  EXPECT_EQ(given.tolerance, 1e-3);
  EXPECT_TRUE(given.statics);
  EXPECT_FALSE(given.order || given.highest);
  EXPECT_EQ(parse(linear + "about = \"static\"\n").train->linear->about, LineariseSpec::About::Static);

  parse.expect(linear + "order = 4\ntolerance = 0.1\n", {"train.tolerance: does not go with order"});
  parse.expect(linear + "truncation = \"frequency\"\n", {"needs highest [Hz], or order"});
  parse.expect(linear + "truncation = \"none\"\norder = 3\n", {"order does not go with truncation"});
  parse.expect(linear + "max_order = 3\n", {"max_order"});
  parse.expect(mechanism + "[train]\nmethod = \"linear\"\nabout = 2\n",
               {"train.about: is a time, and the study has no [simulate]"});
  parse.expect(linear + "[[cases]]\nname = \"x\"\nset = { \"simulate.model\" = \"slap\" }\n",
               {"is \"slap\", but [train] has method = \"linear\""});
  parse.expect(mechanism + run + "model = \"linear\"\n",
               {"\"linear\" needs a model: add [train] with method = \"linear\""});
}

const std::string with_rom = R"(
rom = "model.rom.h5"
[[loads]]
name = "push"
kind = "force"
on = "b.c.tip"
force = [1, 0, 0]
[[loads]]
name = "spring"
kind = "spring"
between = ["b.c.tip", "b.d.node 17"]
stiffness = 1
[[sensors]]
name = "hold"
kind = "reaction"
of = "hinge"
[[sensors]]
name = "tip"
kind = "position"
of = "a.nodes 3 4"
)";

TEST(TrainSpec, AStudyOfARomHasNoBodies) {
  const Parser parse;
  const StudyFile study = parse(with_rom + run + "nodes = [\"b.c\"]\n");
  EXPECT_EQ(study.rom, parse.folder.path() / "model.rom.h5");
  EXPECT_TRUE(study.bodies.empty());
  const SimulationSpec& spec = *study.simulation;
  EXPECT_TRUE(spec.simulate->is_reduced());
  // which parts there are only the model knows
  EXPECT_FALSE(spec.loads[0].first.is_ground());
  EXPECT_EQ(spec.loads[0].first.text, "b.c.tip");
  EXPECT_EQ(spec.sensors[1].place->part, "a");
  EXPECT_EQ(spec.sensors[1].place->body, -1);
  EXPECT_EQ(spec.sensors[1].place->marker.node_ids, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(spec.simulate->nodes, (std::vector<std::string>{"b.c"}));
  EXPECT_TRUE(parse(with_rom + run + "nodes = true\n").simulation->simulate->all_nodes);

  parse.expect("rom = \"none.rom.h5\"\n" + run, {"s.toml:1: rom: there is no file"});
  parse.expect("rom = \"model.rom.h5\"\n" + run + "model = \"full\"\n",
               {":5: simulate.model: is \"full\", but 'rom' is a reduced mechanism"});
  parse.expect(
      "rom = \"model.rom.h5\"\n" + mechanism + run + "[train]\n",
      {"bodies: does not go with 'rom'", "joints: does not go with 'rom'", "train: does not go with"});
  parse.expect(with_rom + "[[sensors]]\nname = \"x\"\nkind = \"position\"\nof = \"a\"\n",
               {"'a': expected a place of the model"});
  parse.expect("title = \"x\"\n" + run, {"bodies: is missing: a study needs [bodies.NAME], or rom"});
}

TEST(TrainSpec, ReadForAModelOnlyLoadsSensorsAndSimulateCount) {
  const Parser parse;
  // meshes and trajectories of the training need not be there any more
  const std::string text = R"(
gravity = [0, 0, -9.81]
[bodies.a]
mesh = "gone.msh"
[[joints]]
name = "hinge"
kind = "spherical"
between = ["ground", "a.hub"]
[[loads]]
name = "push"
kind = "force"
on = "a.tip"
force = [1, 0, 0]
[train]
[[train.trajectories]]
file = "gone.h5"
)" + run + "[[cases]]\nname = \"x\"\nset = { \"loads.push.force\" = [-1, 0, 0] }\n";
  EXPECT_NE(parse.problems(text).find("gone.msh"), std::string::npos);
  const StudyFile study = parse(text, "model.rom.h5");
  EXPECT_EQ(study.rom, "model.rom.h5");
  EXPECT_TRUE(study.bodies.empty());
  EXPECT_FALSE(study.train.has_value());
  EXPECT_TRUE(study.simulation->simulate->is_reduced());
  ASSERT_EQ(study.cases.size(), 1);
  EXPECT_EQ(study.cases[0].study.rom, "model.rom.h5");
  EXPECT_EQ(study.cases[0].study.simulation->loads[0].load.components[0](0), -1);
}

TEST(TrainSpec, PlacesAreSplitAtTheLongestNameThatFits) {
  std::string rest;
  EXPECT_EQ(split_place("a.b.c", {"a", "a.b", "b"}, rest), 1);
  EXPECT_EQ(rest, "c");
  EXPECT_EQ(split_place("a.bc", {"a", "a.b"}, rest), 0);
  EXPECT_EQ(rest, "bc");
  EXPECT_EQ(split_place("c.d", {"a"}, rest), -1);
  EXPECT_EQ(node_numbers("nodes 3 14"), (std::vector<std::int64_t>{3, 14}));
  EXPECT_TRUE(node_numbers("node set").empty());
  EXPECT_THROW(node_numbers("nodes 3 x"), InputError);
}

}  // namespace
}  // namespace lissom::train_spec_test
