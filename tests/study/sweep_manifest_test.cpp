#include "lissom/study/sweep_manifest.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "lissom/study/launch.hpp"
#include "lissom/study/sweep_claims.hpp"
#include "lissom/study/sweep_table.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::sweep_manifest_test {
namespace {

using nlohmann::json;

SweepManifest small_manifest() {
  SweepManifest manifest;
  manifest.id = "0123456789abcdef";
  manifest.study = "arm.toml";
  manifest.title = "An arm";
  manifest.text = "title = \"An arm\"\n";
  manifest.settings = {{"simulate.end", "2"}};
  manifest.lissom_version = "0.1.0";
  manifest.started = "2026-11-16 04:31 UTC";
  manifest.launch = "SLURM_JOB_ID=3";
  manifest.launched = 1794800000;
  manifest.keys = {"loads.push.factor"};
  for (const char* value : {"1", "2", "3", "4"}) {
    StudyPoint point;
    point.parameters = {value};
    manifest.points.push_back(point);
  }
  StudyPoint& done = manifest.points[0];
  done.status = PointStatus::Done;
  // the values that texts get wrong first: no sum of few powers of two, the smallest one, signed zero, none
  done.values = {{"tip.x last", 0.1 + 0.2},
                 {"tip.x max", std::numeric_limits<double>::denorm_min()},
                 {"tip.x min", -0.0},
                 {"growth [1/s]", std::numeric_limits<double>::infinity()},
                 {"damping 1", std::numeric_limits<double>::quiet_NaN()}};
  done.warnings = {{"a.b", "something", SourcePos{"arm.toml", 7}, 3}};
  done.seconds = 1.25, done.host = "here", done.pid = 11, done.attempts = 2, done.threads = 1;
  manifest.points[1].status = PointStatus::Failed;
  manifest.points[1].problem = "no, \"never\"\nagain";
  manifest.points[2].status = PointStatus::Running;
  manifest.points[2].host = "there";
  return manifest;
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(SweepManifest, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const SweepManifest manifest = small_manifest();
  write_sweep_manifest(manifest, folder / "sweep.json");
  const SweepManifest back = read_sweep_manifest(folder / "sweep.json");
  EXPECT_EQ(back.id, manifest.id);
  EXPECT_EQ(back.text, manifest.text);
  EXPECT_EQ(back.settings, manifest.settings);
  EXPECT_EQ(back.launch, manifest.launch);
  EXPECT_EQ(back.launched, manifest.launched);
  EXPECT_EQ(back.keys, manifest.keys);
  ASSERT_EQ(back.points.size(), 4u);
  const StudyPoint &a = back.points[0], &b = manifest.points[0];
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_EQ(a.values[i].first, b.values[i].first);
    EXPECT_TRUE(same_bits(a.values[i].second, b.values[i].second)) << a.values[i].first;
  }
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_EQ(to_string(a.warnings[0]), to_string(b.warnings[0]));
  EXPECT_EQ(a.attempts, 2);
  EXPECT_EQ(back.points[1].problem, manifest.points[1].problem);
  EXPECT_EQ(back.points[2].status, PointStatus::Running);
  EXPECT_EQ(back.points[2].host, "there");
  EXPECT_EQ(back.points[3].status, PointStatus::Pending);
  EXPECT_FALSE(back.complete());
  EXPECT_EQ(back.count(PointStatus::Done), 1);
}

TEST(SweepManifest, DamageIsRefusedWithFileAndPlace) {
  const TemporaryFolder folder;
  const auto path = folder / "sweep.json";
  write_sweep_manifest(small_manifest(), path);
  const json good = json::parse(read_file(path));
  const std::pair<std::function<void(json&)>, const char*> cases[] = {
      {[](json& j) { j.erase("points"); }, "'points' is missing"},
      {[](json& j) { j["points"] = 3; }, "'points' is no list"},
      {[](json& j) { j["version"] = 2; }, "version 2"},
      {[](json& j) { j["version"] = "one"; }, "'version' is of the wrong kind"},
      {[](json& j) { j["format"] = "lissom checkpoint"; }, "no manifest of a sweep"},
      {[](json& j) { j["text"] = "title = 3"; }, "'text_hash' is not that of 'text'"},
      {[](json& j) { j["settings"] = {1}; }, "one of 'settings' is no object"},
      {[](json& j) { j["points"][1]["status"] = "dnoe"; }, "point 2: 'status' is 'dnoe'"},
      {[](json& j) { j["points"][1]["problem"] = ""; }, "point 2: 'problem' is empty"},
      {[](json& j) { j["points"][0].erase("values"); }, "point 1: 'values' is missing"},
      {[](json& j) { j["points"][0]["values"][0][1] = "many"; }, "point 1: one of 'values' is no number"},
      {[](json& j) {
         j["points"][0]["values"][0] = {1, 2, 3};
       },
       "no pair of name and number"},
      {[](json& j) {
         j["points"][3]["parameters"] = {"1", "2"};
       },
       "point 4: 'parameters' has 2 values"},
      {[](json& j) { j["points"][3] = nullptr; }, "point 4: is no object"},
      {[](json& j) { j = json::array(); }, "no manifest of a sweep"}};
  for (const auto& [change, message] : cases) {
    json changed = good;
    change(changed);
    folder.write("sweep.json", changed.dump());
    try {
      read_sweep_manifest(path);
      ADD_FAILURE() << "was read: " << message;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("sweep.json"), std::string::npos) << e.what();
    }
  }
}

TEST(SweepManifest, CutOrWithAChangedByteItIsRefusedOrStillMakesSense) {
  const TemporaryFolder folder;
  write_sweep_manifest(small_manifest(), folder / "sweep.json");
  const std::string good = read_file(folder / "sweep.json");
  for (size_t length = 0; length + 2 < good.size(); length += 23) {
    folder.write("cut.json", good.substr(0, length));
    EXPECT_THROW(read_sweep_manifest(folder / "cut.json"), InputError) << length;
  }
  int refused = 0;
  int changes = 0;
  for (size_t at = 0; at < good.size(); at += 5) {
    ++changes;
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    folder.write("changed.json", changed);
    try {
      EXPECT_LE(read_sweep_manifest(folder / "changed.json").points.size(), 4u);
    } catch (const InputError&) {
      ++refused;
    }
  }
  // most bytes are structure, names or the text of the study
  EXPECT_GT(refused, changes / 2);
}

TEST(SweepManifest, APointOfAnotherSweepIsRefused) {
  const TemporaryFolder folder;
  const SweepManifest manifest = small_manifest();
  const auto path = folder / "000001.json";
  write_point_file(manifest.points[0], manifest.id, 0, path);
  EXPECT_EQ(read_point_file(path, manifest.id, 0).values[0].second, 0.1 + 0.2);
  EXPECT_THROW(read_point_file(path, "another", 0), InputError);
  EXPECT_THROW(read_point_file(path, manifest.id, 1), InputError);
  write_point_file(manifest.points[2], manifest.id, 2, path);
  EXPECT_THROW(read_point_file(path, manifest.id, 2), InputError);  // it runs
  EXPECT_THROW(read_point_file(folder / "none.json", manifest.id, 0), InputError);
}

TEST(SweepManifest, ItsTableHasTheColumnsOfAllPointsInTheirOrder) {
  SweepManifest manifest = small_manifest();
  manifest.points.resize(3);
  manifest.points[0].values = {{"a", 1}, {"b", 2}};
  manifest.points[2].status = PointStatus::Done;
  manifest.points[2].values = {{"b", 3}, {"c", 4}};
  const SweepTable table = sweep_table(manifest);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[2].values[1], 3);
  EXPECT_FALSE(table.rows[2].values[0].has_value());
  EXPECT_FALSE(table.rows[1].values[2].has_value());
  EXPECT_EQ(table.failed(), 1);
}

TEST(SweepClaims, OnlyOneHoldsAClaimUntilItIsReleased) {
  const TemporaryFolder folder;
  ClaimWatch watch(60);
  auto claim = Claim::take(folder / "a.claim", 3);
  ASSERT_TRUE(claim.has_value());
  EXPECT_FALSE(Claim::take(folder / "a.claim").has_value());
  EXPECT_EQ(watch.look(folder / "a.claim"), ClaimWatch::State::Alive);
  EXPECT_EQ(read_claim(folder / "a.claim"), own_holder(3));
  EXPECT_TRUE(claim->beat());
  claim.reset();
  EXPECT_EQ(watch.look(folder / "a.claim"), ClaimWatch::State::Free);
  EXPECT_TRUE(Claim::take(folder / "a.claim").has_value());
  // without the folder there is nothing to be claimed
  EXPECT_FALSE(Claim::take(folder / "gone" / "a.claim").has_value());
}

TEST(SweepClaims, OneThatAnotherHasTakenOverIsGivenUp) {
  const TemporaryFolder folder;
  auto claim = Claim::take(folder / "a.claim");
  ASSERT_TRUE(claim.has_value());
  const std::string other = R"({"host": "far", "machine": "m", "pid": 4, "born": 5, "attempt": 2})";
  folder.write("a.claim", other);
  EXPECT_FALSE(claim->beat());
  claim.reset();
  EXPECT_EQ(read_file(folder / "a.claim"), other);
}

TEST(SweepClaims, AProcessOfThisMachineThatIsGoneHasNone) {
  const TemporaryFolder folder;
  ClaimHolder gone = own_holder(2);
  gone.born += 1;  // the same pid, another process
  folder.write("a.claim", json{{"host", gone.host},
                               {"machine", gone.machine},
                               {"pid", gone.pid},
                               {"born", gone.born},
                               {"attempt", gone.attempt}}
                              .dump());
  ClaimWatch watch(3600);
  EXPECT_EQ(watch.look(folder / "a.claim"), ClaimWatch::State::Dead);
  EXPECT_EQ(watch.bury(folder / "a.claim"), 2);
  EXPECT_EQ(watch.look(folder / "a.claim"), ClaimWatch::State::Free);
  EXPECT_FALSE(watch.bury(folder / "a.claim").has_value());
}

TEST(SweepClaims, WhoWasQuickerKeepsItsClaim) {
  const TemporaryFolder folder;
  folder.write("a.claim", R"({"host": "far", "machine": "m", "pid": 4, "born": 5, "attempt": 2})");
  ClaimWatch watch(0);
  watch.look(folder / "a.claim");
  const std::string other = R"({"host": "near", "machine": "n", "pid": 6, "born": 7, "attempt": 3})";
  folder.write("a.claim", other);
  EXPECT_FALSE(watch.bury(folder / "a.claim").has_value());
  EXPECT_EQ(read_file(folder / "a.claim"), other);
}

TEST(Launch, IsFoundInTheVariablesOfEveryStarter) {
  using Variables = std::map<std::string, std::string>;
  const auto found = [](const Variables& variables) {
    return find_launch([&](const char* name) {
      const auto it = variables.find(name);
      return it == variables.end() ? nullptr : it->second.c_str();
    });
  };
  EXPECT_EQ(found({}).size, 1);
  EXPECT_FALSE(found({}).several());
  const Launch open_mpi = found({{"OMPI_COMM_WORLD_RANK", "2"},
                                 {"OMPI_COMM_WORLD_SIZE", "8"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                 {"PMIX_NAMESPACE", "77"},
                                 {"SLURM_PROCID", "0"}});
  EXPECT_EQ(open_mpi.rank, 2);
  EXPECT_EQ(open_mpi.size, 8);
  EXPECT_EQ(open_mpi.local_size, 4);
  EXPECT_EQ(open_mpi.id, "PMIX_NAMESPACE=77");
  const Launch mpich = found({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}});
  EXPECT_EQ(mpich.rank, 1);
  EXPECT_EQ(mpich.local_size, 3);
  const Launch slurm = found({{"SLURM_PROCID", "5"},
                              {"SLURM_NTASKS", "6"},
                              {"SLURM_JOB_NUM_NODES", "3"},
                              {"SLURM_JOB_ID", "9"},
                              {"SLURM_STEP_ID", "1"}});
  EXPECT_EQ(slurm.rank, 5);
  EXPECT_EQ(slurm.local_size, 2);
  EXPECT_EQ(slurm.id, "SLURM_JOB_ID=9 SLURM_STEP_ID=1");
  EXPECT_THROW(found({{"PMI_RANK", "-1"}}), InputError);
  EXPECT_THROW(found({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "none"}}), InputError);
}

}  // namespace
}  // namespace lissom::sweep_manifest_test
