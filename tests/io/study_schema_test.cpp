#include "lissom/io/study_schema.hpp"

#include <gtest/gtest.h>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lissom/io/study_file.hpp"
#include "lissom/io/study_json_schema.hpp"
#include "lissom/io/study_page.hpp"
#include "lissom/io/toml_table.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::study_schema_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

fs::path source() {
  return test::source_folder();
}

// Reads a study and does not mind what is wrong with it.
void read_anyhow(const std::string& text, const fs::path& path) {
  try {
    parse_study(text, path);
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find("is no valid TOML"), std::string::npos) << e.what();
  }
}

// A value of a kind that the key takes.
std::string sample_value(const KeySchema& key, int depth);

std::string sample_table(const TableSchema& table, const std::string& word, int depth) {
  std::string text = "{ ";
  std::set<std::string> done;
  for (const std::string& name : table.names()) {
    const KeySchema* key = table.find(name, word);
    if (!key) continue;
    text +=
        fmt::format("{}{} = {}", done.empty() ? "" : ", ", name,
                    name == table.depends_on ? fmt::format("\"{}\"", word) : sample_value(*key, depth + 1));
    done.insert(name);
  }
  for (const KeySchema& key : table.others)
    text += fmt::format("{}x = {}", done.empty() ? "" : ", ", sample_value(key, depth + 1));
  return text + " }";
}

std::string sample_value(const KeySchema& key, int depth) {
  EXPECT_LT(depth, 10);
  if (key.has(kind::table)) return sample_table(*key.table, "", depth);
  if (key.has(kind::tables)) return "[" + sample_table(*key.table, "", depth) + "]";
  if (key.has(kind::named_tables)) return "{ a = " + sample_table(*key.table, "", depth) + " }";
  if (key.has(kind::number | kind::numbers)) return "1.0";
  if (key.has(kind::integer)) return "1";
  if (key.has(kind::boolean)) return "true";
  if (key.has(kind::vector)) return "[1, 2, 3]";
  if (key.has(kind::integers)) return "[1]";
  if (key.has(kind::functions)) return "[{ table = [[0, 1], [1, 2]], interpolation = \"cubic\" }, 0, 0]";
  if (key.has(kind::function)) return "{ file = \"none.csv\" }";
  if (key.has(kind::matrix)) return "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]";
  if (key.has(kind::word | kind::words)) return fmt::format("\"{}\"", key.choices.front().word);
  return "\"a\"";
}

// The whole study with every word of every table that depends on one.
std::vector<std::string> sample_studies() {
  std::vector<std::string> studies;
  const auto words = [](const TableSchema& table) {
    std::vector<std::string> list;
    for (const WordSchema& choice : table.find(table.depends_on).front()->choices)
      list.push_back(choice.word);
    return list;
  };
  const auto add = [&](const std::string& key, const std::string& value) {
    std::string text = "title = \"a\"\n";
    for (const std::string& name : study_schema().names()) {
      if (name == "title" || name == "rom" || name == "include" || name == "parameters") continue;
      text += fmt::format("{} = {}\n", name,
                          name == key ? value : sample_value(*study_schema().find(name).front(), 0));
    }
    studies.push_back(text);
  };
  for (const std::string& word : words(body_schema()))
    add("bodies", "{ a = " + sample_table(body_schema(), word, 0) + " }");
  for (const std::string& word : words(joint_schema()))
    add("joints", "[" + sample_table(joint_schema(), word, 0) + "]");
  for (const std::string& word : words(load_schema()))
    add("loads", "[" + sample_table(load_schema(), word, 0) + "]");
  for (const std::string& word : words(sensor_schema()))
    add("sensors", "[" + sample_table(sensor_schema(), word, 0) + "]");
  for (const std::string& word : words(train_schema())) add("train", sample_table(train_schema(), word, 0));
  // what goes only with some other keys
  studies.push_back("[bodies.a]\nformulation = \"ancf\"\ndamping = { beta = 1 }\n");
  studies.push_back("[bodies.a]\nrigid = { mass = 1, inertia = [1, 1, 1] }\npoints = { p = [0, 0, 0] }\n");
  studies.push_back(
      "[bodies.a]\nmesh = \"a.msh\"\nmaterial = { E1 = 1, axis1 = [1, 0, 0] }\nrotation = { axis = [0, 0, "
      "1], angle = 1 }\n");
  for (const char* plan : {"list", "greedy", "latin-hypercube"})
    studies.push_back(
        fmt::format("[train]\nmethod = \"pod\"\nplan = \"{}\"\nsamples = 3\n[train.parameters.a]\nkey = "
                    "\"b\"\n[bodies.a]\nmesh = \"a\"\n",
                    plan));
  studies.push_back(
      "[train]\nmethod = \"pod\"\nplan = \"list\"\nsamples = [{ a = 1 }]\n[train.parameters.a]\nkey = "
      "\"b\"\n[[train.test]]\na = "
      "1\n[bodies.a]\nmesh = \"a\"\n");
  studies.push_back("[bodies.a]\nmesh = \"a\"\n[linearise]\nabout = \"static\"\n");
  studies.push_back(
      "[bodies.a]\nmesh = \"a\"\n[[cases]]\nname = \"c\"\nset = { title = \"b\" }\n[sweep]\nparameters = [{ "
      "key = "
      "\"title\", values = [\"x\"] }]\n");
  studies.push_back(
      "[bodies.a]\nmesh = \"a\"\n[train]\ntrajectories = [{ file = \"f\", bodies = { a = \"x\" }, nodes = { "
      "a = \"y\" } }]\n");
  return studies;
}

TEST(StudySchema, ReadersAskForEveryKey) {
  const TemporaryFolder folder;
  std::vector<const KeySchema*> asked;
  record_asked_keys(&asked);
  for (const std::string& text : sample_studies()) read_anyhow(text, folder / "s.toml");
  for (const auto& entry : fs::directory_iterator(source() / "examples"))
    if (const fs::path study = entry.path() / "study.toml"; fs::exists(study))
      read_anyhow(text_of(study), study);
  folder.write("b.toml", "title = \"b\"\n");
  read_anyhow("include = \"b.toml\"\n[parameters]\na = 1\n", folder / "s.toml");
  record_asked_keys(nullptr);
  const std::set<const KeySchema*> known(asked.begin(), asked.end());
  // read by other means: functions of time, names that the user chooses, and values for other keys
  const std::set<std::string> apart = {"FUNCTION", "FACTOR", "parameters", "cases.set"};
  for (const TableSchema* table : all_tables(study_schema())) {
    if (apart.contains(table->name)) continue;
    for (const auto* entries : {&table->keys, &table->others})
      for (const KeySchema& key : *entries)
        EXPECT_TRUE(known.contains(&key)) << "nobody asks for '" << key.name << "' of [" << table->name
                                          << "] " << fmt::format("{}", fmt::join(key.when, ","));
  }
}

TEST(StudySchema, AKeyThatTheSchemaDoesNotHaveIsABugOfOurs) {
  TomlProblems problems;
  const TomlValue table = TomlValue::Table{{"count", 3}};
  TomlTable modes(table, *body_schema().find("modes").front()->table, "bodies.a.modes", "s.toml", problems);
  EXPECT_THROW(modes.number("cuont"), std::logic_error);
  EXPECT_THROW(modes.text("count"), std::logic_error);
  int value = 0;
  EXPECT_THROW(modes.choice<int>("count", {{"a", 1}}, value), std::logic_error);
  EXPECT_EQ(modes.integer("count"), 3);
  EXPECT_TRUE(problems.empty());
}

TEST(StudySchema, WordsOfAReaderThatTheSchemaDoesNotHaveAreABugOfOurs) {
  TomlProblems problems;
  const TomlValue table = TomlValue::Table{{"kind", "rigid"}};
  TomlTable spider(table, *body_schema().find("spiders").front()->table, "s", "s.toml", problems);
  int value = 0;
  EXPECT_THROW(spider.choice<int>("kind", {{"rigid", 1}, {"soft", 2}}, value), std::logic_error);
}

TEST(StudySchema, DefaultsAreThoseOfTheSchema) {
  TomlProblems problems;
  const TomlValue table = TomlValue::Table{};
  TomlTable modes(table, *body_schema().find("modes").front()->table, "bodies.a.modes", "s.toml", problems);
  EXPECT_EQ(modes.integer("count"), 12);
  EXPECT_EQ(modes.number("tolerance"), 1e-9);
  EXPECT_EQ(modes.boolean("paraview"), true);
  EXPECT_FALSE(modes.texts("fix").has_value());
}

TEST(StudySchema, DefaultsAreThoseOfTheOptions) {
  const TemporaryFolder folder;
  folder.write("a.msh", "x");
  const StudyFile study = parse_study(
      "[bodies.a]\nmesh = \"a.msh\"\n[bodies.a.modes]\n[bodies.a.reduce]\ninterfaces = "
      "\"x\"\n[bodies.a.gcms]\n"
      "[simulate]\nend = 1\nstep = 0.1\n[simulate.stress]\n[train]\njoints = \"data\"\n[linearise]\n"
      "[response]\nfrom = 1\nto = 2\n",
      folder / "s.toml");
  const BodySpec& body = study.bodies[0];
  EXPECT_EQ(body.modes->count, VibrationOptions().count);
  EXPECT_EQ(body.modes->tolerance, VibrationOptions().tolerance);
  EXPECT_EQ(body.modes->allow_parts, VibrationOptions().allow_parts);
  const SelectionOptions selection;
  const SelectionOptions& own = body.reduce->options.selection;
  EXPECT_EQ(own.range, selection.range);
  EXPECT_EQ(own.tolerance, selection.tolerance);
  EXPECT_EQ(own.method, selection.method);
  EXPECT_EQ(own.initial, selection.initial);
  EXPECT_EQ(own.max_modes, selection.max_modes);
  EXPECT_EQ(own.residuals, selection.residuals);
  EXPECT_EQ(own.rank, selection.rank);
  const ReductionOptions options;
  EXPECT_EQ(body.reduce->options.basis, options.basis);
  EXPECT_EQ(body.reduce->options.stress, options.stress);
  EXPECT_EQ(body.reduce->options.exact_errors, options.exact_errors);
  EXPECT_EQ(body.reduce->options.compare_max_modes, options.compare_max_modes);
  const GcmsSpec gcms;
  EXPECT_EQ(body.gcms->scalar, gcms.scalar);
  EXPECT_EQ(body.gcms->algorithm_1, gcms.algorithm_1);
  EXPECT_EQ(body.gcms->scalar_options.truncation, gcms.scalar_options.truncation);
  EXPECT_EQ(body.gcms->algorithm_1_options.threshold, gcms.algorithm_1_options.threshold);
  EXPECT_EQ(body.gcms->algorithm_1_options.desired_condition, gcms.algorithm_1_options.desired_condition);
  const IntegratorOptions o;
  const IntegratorOptions& i = study.simulation->simulate->integrator;
  EXPECT_EQ(i.integrator, o.integrator);
  EXPECT_EQ(i.rho_inf, o.rho_inf);
  EXPECT_EQ(i.alpha, o.alpha);
  EXPECT_EQ(i.index, o.index);
  EXPECT_EQ(i.max_order, o.max_order);
  EXPECT_EQ(i.adaptive, o.adaptive);
  EXPECT_EQ(i.tolerance, o.tolerance);
  EXPECT_EQ(i.newton.tolerance, o.newton.tolerance);
  EXPECT_EQ(i.newton.max_iterations, o.newton.max_iterations);
  EXPECT_EQ(i.newton.reuse_rate, o.newton.reuse_rate);
  const SimulateSpec simulate;
  EXPECT_EQ(study.simulation->simulate->share, simulate.share);
  EXPECT_EQ(study.simulation->simulate->assemble, simulate.assemble);
  EXPECT_EQ(study.simulation->simulate->start_static, simulate.start_static);
  EXPECT_EQ(study.simulation->simulate->stress->maximum, StressSpec().maximum);
  EXPECT_EQ(study.train->max_order, TrainSpec().max_order);
  EXPECT_EQ(study.train->reference, TrainSpec().reference);
  EXPECT_EQ(study.train->reconstruct, TrainSpec().reconstruct);
  EXPECT_EQ(study.linearise->modes, LineariseSpec().modes);
  EXPECT_EQ(study.linearise->paraview, LineariseSpec().paraview);
  EXPECT_EQ(study.response->points, ResponseSpec().points);
  EXPECT_EQ(study.response->logarithmic, ResponseSpec().logarithmic);
}

TEST(StudySchema, BoundsAndMissingKeysAreSeenWhereNobodyElseSaysSo) {
  TomlProblems problems;
  const TomlValue table = TomlValue::Table{{"every", 0}};
  const TableSchema& simulate = simulate_schema();
  TomlTable paraview(table, *simulate.find("paraview").front()->table, "simulate.paraview", "s.toml",
                     problems);
  paraview.integer("every");
  paraview.finish();
  ASSERT_EQ(problems.list().size(), 1U);
  EXPECT_EQ(problems.list()[0].message, "is 0, expected 1 or more");
  EXPECT_EQ(problems.list()[0].key, "simulate.paraview.every");
}

TEST(StudySchema, EveryEntryMakesSense) {
  for (const TableSchema* table : all_tables(study_schema())) {
    SCOPED_TRACE(table->name);
    EXPECT_FALSE(table->meaning.empty());
    EXPECT_LE(table->others.size(), 1U);
    for (const KeySchema& key : table->keys) {
      SCOPED_TRACE(key.name);
      EXPECT_FALSE(key.meaning.empty());
      EXPECT_EQ(key.has(kind::word | kind::words), !key.choices.empty());
      EXPECT_EQ(key.has(kind::table | kind::tables | kind::named_tables | kind::function | kind::functions),
                key.table != nullptr);
      EXPECT_FALSE(key.required && key.has_fallback());
      // a default that is a word is one of them, and one that is a number is within its bounds
      if (const auto* word = std::get_if<std::string>(&key.fallback); word && key.has(kind::word)) {
        EXPECT_TRUE(std::any_of(key.choices.begin(), key.choices.end(),
                                [&](const WordSchema& choice) { return choice.word == *word; }));
      }
      if (const auto* number = std::get_if<double>(&key.fallback)) {
        EXPECT_TRUE(key.has(kind::number));
        EXPECT_TRUE(key.bounds.contains(*number));
      }
      if (const auto* number = std::get_if<long>(&key.fallback)) {
        EXPECT_TRUE(key.has(kind::integer));
        EXPECT_TRUE(key.bounds.contains(static_cast<double>(*number)));
      }
      if (!key.when.empty()) {
        ASSERT_FALSE(table->depends_on.empty());
        const auto& choices = table->find(table->depends_on).front()->choices;
        for (const std::string& word : key.when)
          EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const WordSchema& choice) {
            return choice.word == word;
          })) << word;
      }
    }
  }
}

TEST(StudySchema, TheReferencePageIsThatOfTheSchema) {
  EXPECT_TRUE(text_of(source() / "docs/reference/study-file.md") == study_page())
      << "docs/reference/study-file.md is not what the schema says: run\n"
         "  make schema   (build/lissom schema --markdown > docs/reference/study-file.md)";
}

TEST(StudySchema, TheSchemaForEditorsIsThatOfTheSchema) {
  EXPECT_TRUE(text_of(source() / "docs/reference/study.schema.json") == study_json_schema().dump(1) + "\n")
      << "docs/reference/study.schema.json is not what the schema says: run\n"
         "  make schema   (build/lissom schema > docs/reference/study.schema.json)";
}

}  // namespace
}  // namespace lissom::study_schema_test
