#include "lissom/io/result_file.hpp"

#include <gtest/gtest.h>

#include "tests/io/hdf5_file_checks.hpp"
#include "tests/packages.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::result_file_test {
namespace {

using test::expect_same;

ResultHeader sample_header() {
  ResultHeader header;
  header.title = "a pendulum";
  header.case_name = "small steps";
  header.study = "title = \"a pendulum\"\n";
  header.integrator = "hht-i3";
  header.bodies = {{"rod", "ffrf", 0, 3, 1}, {"disc", "rigid", 3, 2, 0}};
  header.constraints = {"joint 'hinge'", "body 'rod', rotation"};
  header.sensors = {"tip.x", "tip.y", "hinge.fx"};
  header.sensor_units = {"m", "m", "N"};
  header.nodes = {{"disc", {7}}, {"rod", {1, 2, 30}}};
  return header;
}

// A sample like no other one.
struct Sample {
  State state;
  Eigen::VectorXd sensors = Eigen::VectorXd::Random(3);
  BalanceSample balance;
  std::vector<Eigen::Matrix3Xd> nodes = {Eigen::Matrix3Xd::Random(3, 1), Eigen::Matrix3Xd::Random(3, 3)};
  explicit Sample(double t) {
    state.t = t;
    state.q = Eigen::VectorXd::Random(5);
    state.v = Eigen::VectorXd::Random(5);
    state.a = Eigen::VectorXd::Random(5);
    state.lambda = Eigen::VectorXd::Random(2);
    SystemEnergy& e = balance.energy;
    double value = t + 1.0 / 3;
    for (double* number :
         {&e.kinetic, &e.elastic, &e.gravity, &e.springs, &e.load_power, &e.motion_power, &e.damping_power,
          &balance.work_in, &balance.dissipated, &balance.energy_drift, &balance.constraint_drift})
      *number = value *= -1.1;
    e.momentum = Eigen::Vector3d::Random();
    e.angular_momentum = Eigen::Vector3d::Random();
  }
  IntegrationSummary summary() const {
    IntegrationSummary s;
    s.steps = static_cast<long>(10 * state.t) + 12345678901;
    s.residuals = 3;
    s.smallest_step = state.t / 3;
    return s;
  }
  void add_to(ResultWriter& writer) const { writer.add(state, sensors, balance, nodes, summary()); }
};

void expect_sample(const Sample& expected, const ResultFile& file, int i) {
  expect_same(expected.state.t, file.time[i]);
  expect_same(expected.state.q, Eigen::VectorXd(file.q.row(i)));
  expect_same(expected.state.v, Eigen::VectorXd(file.v.row(i)));
  expect_same(expected.state.a, Eigen::VectorXd(file.a.row(i)));
  expect_same(expected.state.lambda, Eigen::VectorXd(file.lambda.row(i)));
  expect_same(expected.sensors, Eigen::VectorXd(file.sensors.row(i)));
  const BalanceSample &a = expected.balance, &b = file.balance[i];
  expect_same(a.energy.kinetic, b.energy.kinetic);
  expect_same(a.energy.elastic, b.energy.elastic);
  expect_same(a.energy.gravity, b.energy.gravity);
  expect_same(a.energy.springs, b.energy.springs);
  expect_same(a.energy.load_power, b.energy.load_power);
  expect_same(a.energy.motion_power, b.energy.motion_power);
  expect_same(a.energy.damping_power, b.energy.damping_power);
  expect_same(a.work_in, b.work_in);
  expect_same(a.dissipated, b.dissipated);
  expect_same(a.energy_drift, b.energy_drift);
  expect_same(a.constraint_drift, b.constraint_drift);
  expect_same(a.energy.momentum, b.energy.momentum);
  expect_same(a.energy.angular_momentum, b.energy.angular_momentum);
  EXPECT_EQ(expected.summary().steps, file.statistics[i].steps);
  EXPECT_EQ(expected.summary().residuals, file.statistics[i].residuals);
  expect_same(expected.summary().smallest_step, file.statistics[i].smallest_step);
  for (size_t body = 0; body < expected.nodes.size(); ++body)
    expect_same(expected.nodes[body], file.nodes[body][i]);
}

ResultFile read(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  ResultFile file = read_result_file(path, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  return file;
}

std::string refusal(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  try {
    read_result_file(path, diagnostics);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// Some samples, more than a chunk of times holds if there are many.
std::vector<Sample> write_sample(const std::filesystem::path& path, int count,
                                 const std::string& failure = "") {
  std::vector<Sample> samples;
  ResultWriter writer(path, sample_header());
  for (int i = 0; i < count; ++i) {
    samples.emplace_back(0.1 * i);
    samples.back().add_to(writer);
    if (i % 700 == 3) writer.flush();
  }
  ResultEnd end;
  end.status = failure.empty() ? RunStatus::Complete : RunStatus::Failed;
  end.failure = failure;
  end.report = "{\"steps\": 3}";
  end.text = "all is well\n";
  IntegrationSummary& summary = end.summary;
  summary.steps = 12345678901;
  summary.rejected = 2;
  summary.newton_iterations = 3;
  summary.residuals = 4;
  summary.jacobians = 5;
  summary.factorisations = 6;
  summary.smallest_step = 1.0 / 3;
  summary.largest_step = 2.0 / 3;
  summary.seconds = 0.7;
  summary.output_seconds = 0.1;
  summary.end = 9;
  writer.finish(end);
  return samples;
}

TEST(ResultFile, EverythingComesBackBitByBit) {
  const TemporaryFolder folder;
  for (const int count : {0, 1, 2500}) {
    const auto samples = write_sample(folder / "r.h5", count);
    const ResultFile file = read(folder / "r.h5");
    ASSERT_EQ(file.samples(), count);
    for (int i = 0; i < count; ++i) expect_sample(samples[i], file, i);
    const ResultHeader expected = sample_header();
    EXPECT_EQ(file.header.title, expected.title);
    EXPECT_EQ(file.header.case_name, expected.case_name);
    EXPECT_EQ(file.header.study, expected.study);
    EXPECT_EQ(file.header.integrator, expected.integrator);
    EXPECT_EQ(file.header.constraints, expected.constraints);
    EXPECT_EQ(file.header.sensors, expected.sensors);
    EXPECT_EQ(file.header.sensor_units, expected.sensor_units);
    ASSERT_EQ(file.header.bodies.size(), 2u);
    EXPECT_EQ(file.header.bodies[1].name, "disc");
    EXPECT_EQ(file.header.bodies[1].formulation, "rigid");
    EXPECT_EQ(file.header.bodies[1].first, 3);
    EXPECT_EQ(file.header.bodies[0].modes, 1);
    ASSERT_EQ(file.header.nodes.size(), 2u);
    EXPECT_EQ(file.header.nodes[1].ids, (std::vector<std::int64_t>{1, 2, 30}));
    EXPECT_EQ(file.end.status, RunStatus::Complete);
    EXPECT_EQ(file.end.failure, "");
    EXPECT_EQ(file.end.report, "{\"steps\": 3}");
    EXPECT_EQ(file.end.text, "all is well\n");
    EXPECT_EQ(file.end.summary.steps, 12345678901);
    EXPECT_EQ(file.end.summary.factorisations, 6);
    expect_same(file.end.summary.smallest_step, 1.0 / 3);
    EXPECT_EQ(file.end.summary.end, 9);
    EXPECT_TRUE(is_result_file(folder / "r.h5"));
  }
}

TEST(ResultFile, ARunThatFailedHasItsSamplesAndItsReason) {
  const TemporaryFolder folder;
  const auto samples = write_sample(folder / "r.h5", 17, "the step did not converge");
  const ResultFile file = read(folder / "r.h5");
  ASSERT_EQ(file.samples(), 17);
  expect_sample(samples[16], file, 16);
  EXPECT_EQ(file.end.status, RunStatus::Failed);
  EXPECT_EQ(file.end.failure, "the step did not converge");
}

TEST(ResultFile, AWriterThatIsGivenUpLeavesWhatItHad) {
  const TemporaryFolder folder;
  std::vector<Sample> samples;
  {
    ResultWriter writer(folder / "r.h5", sample_header());
    for (int i = 0; i < 5; ++i) {
      samples.emplace_back(i);
      samples.back().add_to(writer);
    }
  }
  const ResultFile file = read(folder / "r.h5");
  EXPECT_EQ(file.end.status, RunStatus::Running);
  ASSERT_EQ(file.samples(), 5);
  for (int i = 0; i < 5; ++i) expect_sample(samples[i], file, i);
}

TEST(ResultFile, IsReadableAfterEveryFlushWhileItIsWritten) {
  const TemporaryFolder folder;
  std::vector<Sample> samples;
  ResultWriter writer(folder / "r.h5", sample_header());
  EXPECT_EQ(read(folder / "r.h5").samples(), 0);
  for (int i = 0; i < 40; ++i) {
    samples.emplace_back(i);
    samples.back().add_to(writer);
    if (i % 13 > 0) continue;
    writer.flush();
    const ResultFile file = read(folder / "r.h5");
    EXPECT_EQ(file.end.status, RunStatus::Running);
    ASSERT_EQ(file.samples(), i + 1);
    for (int k = 0; k <= i; ++k) expect_sample(samples[k], file, k);
  }
}

TEST(ResultFile, GoesOnBehindItsFirstSamples) {
  const TemporaryFolder folder;
  // as a killed process leaves it: a copy while it is open
  std::vector<Sample> samples;
  for (int i = 0; i < 3000; ++i) samples.emplace_back(0.1 * i);
  {
    ResultWriter writer(folder / "r.h5", sample_header());
    for (int i = 0; i < 1500; ++i) samples[i].add_to(writer);
    writer.flush();
    std::filesystem::copy_file(folder / "r.h5", folder / "killed.h5");
    writer.finish({});
  }
  for (const char* name : {"killed.h5", "r.h5"}) {
    {
      ResultWriter writer(folder / name, sample_header(), 1200);
      for (int i = 1200; i < 3000; ++i) {
        samples[i].add_to(writer);
        if (i % 500 != 0) continue;
        writer.flush();
        // what was there stays there
        EXPECT_GE(read(folder / name).samples(), 1500);
      }
      EXPECT_EQ(writer.samples(), 3000u);
      ResultEnd end;
      end.status = RunStatus::Complete;
      writer.finish(end);
    }
    const ResultFile file = read(folder / name);
    ASSERT_EQ(file.samples(), 3000);
    EXPECT_EQ(file.end.status, RunStatus::Complete);
    for (int i = 0; i < 3000; ++i) expect_sample(samples[i], file, i);
  }
  ResultHeader other = sample_header();
  other.sensors.pop_back();
  EXPECT_THROW(ResultWriter(folder / "r.h5", other, 10), InputError);
  EXPECT_THROW(ResultWriter(folder / "r.h5", sample_header(), 4000), InputError);
  EXPECT_EQ(read(folder / "r.h5").samples(), 3000);
}

TEST(ResultFile, ASystemWithoutConstraintsOrSensorsHasAFileToo) {
  const TemporaryFolder folder;
  ResultHeader header;
  header.bodies = {{"ball", "rigid", 0, 7, 0}};
  State state;
  state.q = state.v = state.a = Eigen::VectorXd::Ones(7);
  {
    ResultWriter writer(folder / "r.h5", header);
    writer.add(state, Eigen::VectorXd(), {}, {}, {});
    writer.finish({});
  }
  const ResultFile file = read(folder / "r.h5");
  EXPECT_EQ(file.samples(), 1);
  EXPECT_EQ(file.lambda.cols(), 0);
  EXPECT_EQ(file.sensors.cols(), 0);
}

TEST(ResultFile, TruncatedFilesAreRefused) {
  const TemporaryFolder folder;
  write_sample(folder / "r.h5", 3);
  test::expect_truncations_refused(folder, folder / "r.h5", 1009, refusal);
}

TEST(ResultFile, ChangedBytesAreRefusedOrHarmless) {
  const TemporaryFolder folder;
  const auto samples = write_sample(folder / "r.h5", 3);
  const int refused = test::expect_changed_bytes_harmless(
      folder, folder / "r.h5", 887, [&](const std::filesystem::path& path) {
        Diagnostics diagnostics;
        const ResultFile file = read_result_file(path, diagnostics);
        ASSERT_EQ(file.samples(), 3);
        for (int i = 0; i < 3; ++i) expect_sample(samples[i], file, i);
      });
  EXPECT_GT(refused, 0);
}

TEST(ResultFile, OtherFilesAreRefusedByName) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder / "no.h5"), (folder / "no.h5").string() + ": no such file");
  write_bytes(folder / "text.h5", "hello");
  EXPECT_NE(refusal(folder / "text.h5").find("is not an HDF5 file"), std::string::npos);
  hdf5::File other = hdf5::File::create(folder / "other.h5");
  other.root().write_attribute("format", "lissom-body");
  other.close();
  EXPECT_NE(refusal(folder / "other.h5").find("not the result of a simulation"), std::string::npos);
}

TEST(ResultFile, AFullDiskIsAnError) {
  const TemporaryFolder folder;
  const std::string message = test::message_on_full_disk([&] { write_sample(folder / "r.h5", 20000); });
  EXPECT_EQ(message.find((folder / "r.h5").string()), 0) << message;
  // no room for the first samples, but readable all the same
  EXPECT_EQ(read(folder / "r.h5").end.status, RunStatus::Running);
}

TEST(ResultFile, TheReferencePageTellsTheTruth) {
  const TemporaryFolder folder;
  ResultHeader header = sample_header();
  // the page calls the bodies NAME
  header.nodes = {{"NAME", {1}}};
  {
    ResultWriter writer(folder / "result.h5", header);
    Sample sample(0.5);
    writer.add(sample.state, sample.sensors, sample.balance, {Eigen::Matrix3Xd::Random(3, 1)}, {});
    ResultEnd end;
    end.status = RunStatus::Complete;
    writer.finish(end);
  }
  const std::string page = test::reference_page("result-file");
  EXPECT_GT(test::expect_datasets_documented(folder / "result.h5", page), 25);
  const auto missing = test::run_python_of_page(folder, page,
                                                "assert t.tolist() == [0.5] and energy.shape == (1,) and "
                                                "complete\nassert sensors['hinge.fx'].shape == (1,)\n");
  EXPECT_FALSE(missing) << "a module of Python" << test::install_hint << *missing;
}

}  // namespace
}  // namespace lissom::result_file_test
