// The schema is described in docs/reference/result-file.md; names here and there agree by a test.
#include "lissom/io/result_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include <nlohmann/json.hpp>

#include "lissom/core/atomic_file.hpp"
#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;
using nlohmann::json;

constexpr const char* result_format = "lissom-result";

// The numbers of a balance that are single ones.
struct BalanceColumn {
  const char* name;
  double (*get)(const BalanceSample&);
  void (*set)(BalanceSample&, double);
};
#define LISSOM_COLUMN(name, member)                                  \
  BalanceColumn {                                                    \
    name, [](const BalanceSample& b) -> double { return b.member; }, \
        [](BalanceSample& b, double value) { b.member = value; }     \
  }
constexpr std::array balance_columns = {LISSOM_COLUMN("kinetic", energy.kinetic),
                                        LISSOM_COLUMN("elastic", energy.elastic),
                                        LISSOM_COLUMN("gravity", energy.gravity),
                                        LISSOM_COLUMN("springs", energy.springs),
                                        LISSOM_COLUMN("load_power", energy.load_power),
                                        LISSOM_COLUMN("motion_power", energy.motion_power),
                                        LISSOM_COLUMN("damping_power", energy.damping_power),
                                        LISSOM_COLUMN("work_in", work_in),
                                        LISSOM_COLUMN("dissipated", dissipated),
                                        LISSOM_COLUMN("energy_drift", energy_drift),
                                        LISSOM_COLUMN("constraint_drift", constraint_drift)};
#undef LISSOM_COLUMN

// Statistics of the integrator: datasets of /run, and attributes of it in files of version 1.
struct Counter {
  const char* name;
  long IntegrationSummary::*value;
};
constexpr Counter counters[] = {{"steps", &IntegrationSummary::steps},
                                {"rejected", &IntegrationSummary::rejected},
                                {"newton_iterations", &IntegrationSummary::newton_iterations},
                                {"residuals", &IntegrationSummary::residuals},
                                {"jacobians", &IntegrationSummary::jacobians},
                                {"factorisations", &IntegrationSummary::factorisations}};
struct Figure {
  const char* name;
  double IntegrationSummary::*value;
};
constexpr Figure figures[] = {{"smallest_step", &IntegrationSummary::smallest_step},
                              {"largest_step", &IntegrationSummary::largest_step},
                              {"seconds", &IntegrationSummary::seconds},
                              {"output_seconds", &IntegrationSummary::output_seconds}};

constexpr std::string_view status_names[] = {"running", "complete", "stopped", "failed"};

// rows wait for each other until they are worth a call of HDF5 for every dataset
constexpr std::uint64_t enough_bytes = 1 << 20;

// CRC-32 of numbers one after the other.
class Checksum {
 public:
  void add(std::span<const double> values) { add(std::as_bytes(values)); }
  void add(std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += 1 << 30)
      value_ = crc32(value_, reinterpret_cast<const Bytef*>(bytes.data() + at),
                     static_cast<uInt>(std::min<size_t>(bytes.size() - at, 1 << 30)));
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(value_); }

 private:
  uLong value_ = crc32(0, nullptr, 0);
};

std::span<const double> span_of(const Eigen::Ref<const VectorXd>& v) {
  return {v.data(), static_cast<size_t>(v.size())};
}

// The first number of a sample's checksums: of all but its nodes.
std::uint32_t checksum_of(const State& state, std::span<const double> sensors, const BalanceSample& balance,
                          const double* trust) {
  Checksum sum;
  sum.add({&state.t, 1});
  for (const VectorXd* part : {&state.q, &state.v, &state.a, &state.lambda}) sum.add(span_of(*part));
  sum.add(sensors);
  for (const BalanceColumn& column : balance_columns) {
    const double value = column.get(balance);
    sum.add({&value, 1});
  }
  sum.add(span_of(balance.energy.momentum));
  sum.add(span_of(balance.energy.angular_momentum));
  if (trust) sum.add({trust, 1});
  return sum.value();
}

// Of the statistics of a sample.
std::uint32_t checksum_of(const IntegrationSummary& summary) {
  Checksum sum;
  for (const Counter& counter : counters) {
    const std::int64_t value = summary.*counter.value;
    sum.add(std::as_bytes(std::span(&value, 1)));
  }
  for (const Figure& figure : figures) sum.add({&(summary.*figure.value), 1});
  return sum.value();
}

std::uint32_t checksum_of(std::span<const double> values) {
  Checksum sum;
  sum.add(values);
  return sum.value();
}

std::uint32_t checksum_of(std::string_view text) {
  Checksum sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.value();
}

// A line of /run/status: its checksum and JSON.
std::string status_line(const ResultEnd& end) {
  json integration = {{"end", end.summary.end}};
  for (const Counter& counter : counters) integration[counter.name] = end.summary.*counter.value;
  for (const Figure& figure : figures) integration[figure.name] = end.summary.*figure.value;
  const json line = {
      {"status", name_of(end.status)},    {"failure", end.failure}, {"integration", std::move(integration)},
      {"lissom_version", LISSOM_VERSION}, {"report", end.report},   {"text", end.text}};
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{:08x} {}\n", checksum_of(text), text);
}

}  // namespace

// ---------------------------------------------------------------------------------------------- writing

std::string_view name_of(RunStatus status) {
  return status_names[static_cast<size_t>(status)];
}

struct ResultWriter::Impl {
  hdf5::File file;
  hdf5::GrowingDataset time, q, v, a, lambda, sensors, momentum, angular_momentum, checksums, run_checksums,
      status;
  std::vector<hdf5::GrowingDataset> balance, trust, run_counters, run_figures;  // trust: one or none
  std::vector<hdf5::GrowingDataset> nodes, node_checksums;
  std::optional<double> last, flushed;
  bool closed = false;
  bool broken = false;  // something could not be written

  explicit Impl(hdf5::File f) : file(std::move(f)) {}

  // All but time, which comes last: a time that is there has all of its sample.
  std::vector<hdf5::GrowingDataset*> others() {
    std::vector<hdf5::GrowingDataset*> list = {
        &q, &v, &a, &lambda, &sensors, &momentum, &angular_momentum, &checksums, &run_checksums};
    for (auto* datasets : {&balance, &nodes, &node_checksums, &trust, &run_counters, &run_figures})
      for (auto& dataset : *datasets) list.push_back(&dataset);
    return list;
  }

  // Makes all datasets, or opens them to go on.
  template <class Make>
  void make_datasets(Group& root, const ResultHeader& header, Make&& make) {
    using hdf5::GrowingType;
    std::uint64_t n = 0;
    for (const auto& body : header.bodies) n += static_cast<std::uint64_t>(body.coordinates);
    time = make(root, "time", {}, GrowingType::Double);
    Group states = root.group("states"), of_sensors = root.group("sensors"),
          of_balance = root.group("balance"), of_nodes = root.group("nodes"), run = root.group("run");
    q = make(states, "q", {n}, GrowingType::Double);
    v = make(states, "v", {n}, GrowingType::Double);
    a = make(states, "a", {n}, GrowingType::Double);
    lambda = make(states, "lambda", {header.constraints.size()}, GrowingType::Double);
    sensors = make(of_sensors, "values", {header.sensors.size()}, GrowingType::Double);
    for (const BalanceColumn& column : balance_columns)
      balance.push_back(make(of_balance, column.name, {}, GrowingType::Double));
    momentum = make(of_balance, "momentum", {3}, GrowingType::Double);
    angular_momentum = make(of_balance, "angular_momentum", {3}, GrowingType::Double);
    for (const auto& entry : header.nodes) {
      Group body = of_nodes.group(entry.body);
      nodes.push_back(make(body, "positions", {entry.ids.size(), 3}, GrowingType::Double));
      node_checksums.push_back(make(body, "checksums", {}, GrowingType::Checksum));
    }
    if (header.has_trust) trust.push_back(make(root, "trust", {}, GrowingType::Double));
    checksums = make(root, "checksums", {}, GrowingType::Checksum);
    for (const Counter& counter : counters)
      run_counters.push_back(make(run, counter.name, {}, GrowingType::Integer));
    for (const Figure& figure : figures)
      run_figures.push_back(make(run, figure.name, {}, GrowingType::Double));
    run_checksums = make(run, "checksums", {}, GrowingType::Checksum);
  }

  template <class Function>
  void guarded(Function&& write) {
    LISSOM_ASSERT(!broken && !closed);
    try {
      write();
    } catch (...) {
      broken = true;
      throw;
    }
  }

  void write() {
    guarded([&] {
      for (hdf5::GrowingDataset* dataset : others()) dataset->write();
      time.write();
    });
  }

  void flush() {
    guarded([&] {
      for (hdf5::GrowingDataset* dataset : others()) dataset->flush();
      time.flush();
      status.flush();
    });
    flushed = last;
  }

  // HDF5 1.10 may crash when it is made to close what it could not write; such a file stays open until the
  // program ends.
  static void bury(std::unique_ptr<Impl> impl) {
    static auto* const graves = new std::vector<Impl*>;
    graves->push_back(impl.release());
  }
};

ResultWriter::ResultWriter(const std::filesystem::path& path, const ResultHeader& header) {
  AtomicFile place(path);
  impl_ = std::make_unique<Impl>(hdf5::File::create(place.temporary(), path.string()));
  try {
    create(header);
    place.commit();
  } catch (...) {
    Impl::bury(std::move(impl_));
    throw;
  }
}

void ResultWriter::create(const ResultHeader& header) {
  Impl& impl = *impl_;
  Group root = impl.file.root();
  write_format(root, result_format, result_file_version);
  root.write_attribute("title", header.title);
  root.write_attribute("case", header.case_name);
  root.write_attribute("integrator", header.integrator);
  root.write("study", std::vector<std::string>{header.study});

  std::vector<std::string> names, formulations;
  std::vector<int> first, coordinates, modes;
  for (const auto& body : header.bodies) {
    names.push_back(body.name);
    formulations.push_back(body.formulation);
    first.push_back(body.first);
    coordinates.push_back(body.coordinates);
    modes.push_back(body.modes);
  }
  Group bodies = root.create_group("bodies");
  bodies.write("names", names);
  bodies.write("formulations", formulations);
  bodies.write("first", first);
  bodies.write("coordinates", coordinates);
  bodies.write("modes", modes);
  root.create_group("states").write("constraints", header.constraints);
  Group sensors = root.create_group("sensors");
  sensors.write("names", header.sensors);
  sensors.write("units", header.sensor_units);
  root.create_group("balance");
  Group nodes = root.create_group("nodes");
  for (const auto& entry : header.nodes) nodes.create_group(entry.body).write("ids", entry.ids);
  Group run = root.create_group("run");
  impl.make_datasets(root, header,
                     [](Group& group, const char* name, hdf5::Shape row, hdf5::GrowingType type) {
                       return group.create_growing(name, std::move(row), type);
                     });
  impl.status = run.create_growing("status", {}, hdf5::GrowingType::Text);
  impl.status.append(status_line({}));
  impl.file.start_growing();
  flush();
}

ResultWriter::ResultWriter(const std::filesystem::path& path, const ResultHeader& header,
                           std::uint64_t samples)
    : impl_(std::make_unique<Impl>(hdf5::File::reopen(path))) {
  Impl& impl = *impl_;
  Group root = impl.file.root();
  expect_format(root, path, result_format, "the result of a simulation", result_file_version);
  impl.make_datasets(root, header,
                     [&](Group& group, const char* name, hdf5::Shape row, hdf5::GrowingType type) {
                       return group.open_growing(name, samples, std::move(row), type);
                     });
  const Group run = root.group("run");
  impl.status =
      root.group("run").open_growing("status", run.info("status").size(), {}, hdf5::GrowingType::Text);
  impl.status.append(status_line({}));
  flush();
}

ResultWriter::~ResultWriter() {
  if (!impl_->broken && !impl_->closed) {
    try {
      flush();
      impl_->guarded([&] { impl_->file.close(); });
    } catch (const std::exception&) {
      // on the way out of another failure, which has told the user
    }
  }
  if (impl_->broken) Impl::bury(std::move(impl_));
}

void ResultWriter::add(const State& state, const VectorXd& sensors, const BalanceSample& balance,
                       const std::vector<Eigen::Matrix3Xd>& nodes, const IntegrationSummary& summary,
                       double trust) {
  Impl& impl = *impl_;
  LISSOM_ASSERT(nodes.size() == impl.nodes.size());
  impl.q.append(span_of(state.q));
  impl.v.append(span_of(state.v));
  impl.a.append(span_of(state.a));
  impl.lambda.append(span_of(state.lambda));
  impl.sensors.append(span_of(sensors));
  for (size_t i = 0; i < balance_columns.size(); ++i) {
    const double value = balance_columns[i].get(balance);
    impl.balance[i].append(std::span(&value, 1));
  }
  impl.momentum.append(span_of(balance.energy.momentum));
  impl.angular_momentum.append(span_of(balance.energy.angular_momentum));
  const std::uint32_t sum =
      checksum_of(state, span_of(sensors), balance, impl.trust.empty() ? nullptr : &trust);
  impl.checksums.append(std::span(&sum, 1));
  std::uint64_t waiting = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::span<const double> points(nodes[i].data(), static_cast<size_t>(nodes[i].size()));
    impl.nodes[i].append(points);
    const std::uint32_t of_points = checksum_of(points);
    impl.node_checksums[i].append(std::span(&of_points, 1));
    waiting += impl.nodes[i].pending();
  }
  for (auto& dataset : impl.trust) dataset.append(std::span<const double>(&trust, 1));
  for (size_t i = 0; i < impl.run_counters.size(); ++i) {
    const std::int64_t value = summary.*counters[i].value;
    impl.run_counters[i].append(std::span(&value, 1));
  }
  for (size_t i = 0; i < impl.run_figures.size(); ++i)
    impl.run_figures[i].append(std::span(&(summary.*figures[i].value), 1));
  const std::uint32_t run_sum = checksum_of(summary);
  impl.run_checksums.append(std::span(&run_sum, 1));
  impl.time.append(std::span(&state.t, 1));
  impl.last = state.t;
  for (const auto* dataset : {&impl.q, &impl.v, &impl.a, &impl.lambda, &impl.sensors})
    waiting += dataset->pending();
  if (waiting > enough_bytes) impl.write();
}

void ResultWriter::flush() {
  impl_->flush();
}

std::uint64_t ResultWriter::samples() const {
  return impl_->time.rows();
}

std::optional<double> ResultWriter::flushed_until() const {
  return impl_->flushed;
}

void ResultWriter::finish(const ResultEnd& end) {
  Impl& impl = *impl_;
  impl.status.append(status_line(end));
  impl.flush();
  impl.guarded([&] { impl.file.close(); });
  impl.closed = true;
}

// ---------------------------------------------------------------------------------------------- reading

namespace {

// The first k rows of a dataset of rows by `columns`; datasets may be ahead of each other by a sample.
MatrixXd read_samples(const Group& group, const char* name, std::uint64_t k, std::uint64_t columns) {
  const hdf5::Shape shape = group.info(name).shape;
  if (shape.size() != 2 || shape[0] < k || shape[1] != columns)
    fail_input("{}: expected {} samples of {} numbers, found ({}); the file is damaged", group.where(name), k,
               columns, fmt::join(shape, ", "));
  std::vector<double> values(k * columns);
  group.read_slab(name, {0, 0}, {k, columns}, values);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(k),
                                    static_cast<Eigen::Index>(columns));
}

// The first k of single numbers.
std::vector<double> read_counted(const Group& group, const char* name, std::uint64_t k) {
  const hdf5::Shape shape = group.info(name).shape;
  if (shape.size() != 1 || shape[0] < k)
    fail_input("{}: expected {} values, found ({}); the file is damaged", group.where(name), k,
               fmt::join(shape, ", "));
  std::vector<double> values(k);
  group.read_slab(name, {0}, {k}, values);
  return values;
}

// The samples that are in all datasets: those of a run that goes on, or was killed, differ for a moment.
std::uint64_t common_samples(const Group& group) {
  std::uint64_t k = std::numeric_limits<std::uint64_t>::max();
  const auto look = [&](const Group& at, std::string_view name) {
    const hdf5::Shape shape = at.info(name).shape;
    k = std::min(k, shape.empty() ? 0 : shape[0]);
  };
  for (const char* name : {"q", "v", "a", "lambda"}) look(group.group("states"), name);
  look(group.group("sensors"), "values");
  const Group balance = group.group("balance"), nodes = group.group("nodes"), run = group.group("run");
  for (const std::string& name : balance.names()) look(balance, name);
  for (const std::string& name : nodes.names())
    for (const char* part : {"positions", "checksums"}) look(nodes.group(name), part);
  for (const std::string& name : run.names())
    if (name != "status") look(run, name);
  if (group.has("trust")) look(group, "trust");
  look(group, "checksums");
  look(group, "time");
  return k;
}

// The last line says how the run is.
ResultEnd read_status(const Group& run) {
  const auto bytes = run.read_longs("status");
  std::string text(bytes.begin(), bytes.end());
  const auto damaged = [&] { fail_input("{}: cannot be read; the file is damaged", run.where("status")); };
  if (!text.ends_with('\n')) damaged();
  text.pop_back();
  const size_t start = text.rfind('\n') + 1;  // 0 where there is one line
  const std::string line = text.substr(start);
  if (line.size() < 10 ||
      line.substr(0, 8) != fmt::format("{:08x}", checksum_of(std::string_view(line).substr(9))))
    damaged();
  ResultEnd end;
  try {
    const json entry = json::parse(line.substr(9));
    const auto found =
        std::find(std::begin(status_names), std::end(status_names), entry.at("status").get<std::string>());
    if (found == std::end(status_names)) damaged();
    end.status = static_cast<RunStatus>(found - std::begin(status_names));
    end.failure = entry.at("failure");
    end.report = entry.at("report");
    end.text = entry.at("text");
    const json& integration = entry.at("integration");
    for (const Counter& counter : counters)
      end.summary.*counter.value = integration.at(counter.name).get<long>();
    for (const Figure& figure : figures) end.summary.*figure.value = integration.at(figure.name);
    end.summary.end = integration.at("end");
  } catch (const json::exception&) {
    damaged();
  }
  end.summary.stopped = end.status == RunStatus::Stopped;
  return end;
}

ResultEnd read_status_1(const Group& root) {
  ResultEnd end;
  if (!root.has("run")) return end;
  const Group run = root.group("run");
  for (const Counter& counter : counters)
    end.summary.*counter.value = static_cast<long>(run.long_attribute(counter.name));
  for (const Figure& figure : figures) end.summary.*figure.value = run.double_attribute(figure.name);
  end.summary.end = run.double_attribute("end");
  end.summary.stopped = run.long_attribute("stopped") != 0;
  end.failure = run.string_attribute("failure");
  end.status = end.summary.stopped    ? RunStatus::Stopped
               : !end.failure.empty() ? RunStatus::Failed
                                      : RunStatus::Complete;
  return end;
}

// What was written is what was read.
void check_samples(const ResultFile& result, const Group& root) {
  const auto k = static_cast<std::uint64_t>(result.samples());
  const auto expect = [](double written, std::uint32_t read, std::uint64_t i, const std::string& where) {
    if (written != static_cast<double>(read))
      fail_input("{}: sample {} is not what was written; the file is damaged", where, i);
  };
  const Group run = root.group("run"), nodes = root.group("nodes");
  const std::vector<double> sums = read_counted(root, "checksums", k),
                            run_sums = read_counted(run, "checksums", k);
  State state;
  VectorXd sensors;
  for (std::uint64_t i = 0; i < k; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    state.t = result.time[row];
    state.q = result.q.row(row);
    state.v = result.v.row(row);
    state.a = result.a.row(row);
    state.lambda = result.lambda.row(row);
    sensors = result.sensors.row(row);
    const double* trust = result.header.has_trust ? &result.trust[row] : nullptr;
    expect(sums[i], checksum_of(state, span_of(sensors), result.balance[i], trust), i, root.where());
    expect(run_sums[i], checksum_of(result.statistics[i]), i, run.where());
  }
  for (size_t body = 0; body < result.nodes.size(); ++body) {
    const Group group = nodes.group(result.header.nodes[body].body);
    const std::vector<double> node_sums = read_counted(group, "checksums", k);
    for (std::uint64_t i = 0; i < k; ++i) {
      const Eigen::Matrix3Xd& points = result.nodes[body][i];
      const std::span<const double> values(points.data(), static_cast<size_t>(points.size()));
      expect(node_sums[i], checksum_of(values), i, group.where("positions"));
    }
  }
}

}  // namespace

bool is_result_file(const std::filesystem::path& path) {
  return has_format(path, result_format);
}

ResultFile read_result_file(const std::filesystem::path& path, Diagnostics& diagnostics,
                            const ResultReadOptions& options) {
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  expect_format(root, path, result_format, "the result of a simulation", result_file_version);
  const bool first_version = root.long_attribute("schema_version") == 1;
  constexpr std::string_view known[] = {"balance", "bodies", "checksums", "nodes", "run",
                                        "sensors", "states", "study",     "time",  "trust"};
  for (const std::string& name : root.names())
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      diagnostics.warn("result-file.unknown-entry",
                       fmt::format("the entry '{}' is not known and was left out", name), {path.string(), 0});
  ResultFile result;
  ResultHeader& header = result.header;
  result.lissom_version = root.string_attribute("lissom_version");
  header.title = root.string_attribute("title");
  header.case_name = root.string_attribute("case");
  header.integrator = root.string_attribute("integrator");
  const auto study = root.read_strings("study");
  expect_size(root, "study", study, 1);
  header.study = study.front();

  const Group bodies = root.group("bodies");
  const auto names = bodies.read_strings("names"), formulations = bodies.read_strings("formulations");
  const auto first = bodies.read_ints("first"), coordinates = bodies.read_ints("coordinates"),
             modes = bodies.read_ints("modes");
  expect_size(bodies, "formulations", formulations, names.size());
  expect_size(bodies, "first", first, names.size());
  expect_size(bodies, "coordinates", coordinates, names.size());
  expect_size(bodies, "modes", modes, names.size());
  std::uint64_t n = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (coordinates[i] < 0 || static_cast<std::uint64_t>(first[i]) != n)
      fail_input("{}: the coordinates of the bodies do not follow each other; the file is damaged",
                 bodies.where("first"));
    header.bodies.push_back({names[i], formulations[i], first[i], coordinates[i], modes[i]});
    n += static_cast<std::uint64_t>(coordinates[i]);
  }

  std::uint64_t k = first_version ? root.info("time").size() : common_samples(root);
  if (!options.samples) k = 0;
  const auto time = read_counted(root, "time", k);
  result.time = Eigen::Map<const VectorXd>(time.data(), static_cast<Eigen::Index>(k));
  const Group states = root.group("states");
  header.constraints = states.read_strings("constraints");
  result.q = read_samples(states, "q", k, n);
  result.v = read_samples(states, "v", k, n);
  result.a = read_samples(states, "a", k, n);
  result.lambda = read_samples(states, "lambda", k, header.constraints.size());

  const Group sensors = root.group("sensors");
  header.sensors = sensors.read_strings("names");
  header.sensor_units = sensors.read_strings("units");
  expect_size(sensors, "units", header.sensor_units, header.sensors.size());
  result.sensors = read_samples(sensors, "values", k, header.sensors.size());

  const Group balance = root.group("balance");
  result.balance.resize(k);
  for (const BalanceColumn& column : balance_columns) {
    const auto values = read_counted(balance, column.name, k);
    for (size_t i = 0; i < k; ++i) column.set(result.balance[i], values[i]);
  }
  const MatrixXd momentum = read_samples(balance, "momentum", k, 3),
                 angular = read_samples(balance, "angular_momentum", k, 3);
  for (size_t i = 0; i < k; ++i) {
    result.balance[i].energy.momentum = momentum.row(static_cast<Eigen::Index>(i));
    result.balance[i].energy.angular_momentum = angular.row(static_cast<Eigen::Index>(i));
  }

  const Group nodes = root.group("nodes");
  for (const std::string& name : nodes.names()) {
    const Group body = nodes.group(name);
    header.nodes.push_back({name, body.read_longs("ids")});
    const std::uint64_t count = header.nodes.back().ids.size();
    const hdf5::Shape shape = body.info("positions").shape;
    if (shape.size() != 3 || shape[0] < k || shape[1] != count || shape[2] != 3)
      fail_input("{}: expected {} samples of {} points; the file is damaged", body.where("positions"), k,
                 count);
    if (!options.nodes) continue;
    std::vector<double> values(3 * count * k);
    body.read_slab("positions", {0, 0, 0}, {k, count, 3}, values);
    auto& list = result.nodes.emplace_back();
    for (std::uint64_t i = 0; i < k; ++i)
      list.emplace_back(Eigen::Map<const Eigen::Matrix3Xd>(values.data() + 3 * count * i, 3,
                                                           static_cast<Eigen::Index>(count)));
  }

  header.has_trust = root.has("trust");
  if (header.has_trust) {
    const auto values = read_counted(root, "trust", k);
    result.trust = Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(k));
  }
  if (first_version) {
    result.end = read_status_1(root);
    return result;
  }
  const Group run = root.group("run");
  result.end = read_status(run);
  result.statistics.resize(k);
  for (const Counter& counter : counters) {
    const auto values = read_counted(run, counter.name, k);
    for (size_t i = 0; i < k; ++i) result.statistics[i].*counter.value = static_cast<long>(values[i]);
  }
  for (const Figure& figure : figures) {
    const auto values = read_counted(run, figure.name, k);
    for (size_t i = 0; i < k; ++i) result.statistics[i].*figure.value = values[i];
  }
  for (size_t i = 0; i < k; ++i) result.statistics[i].end = time[i];
  check_samples(result, root);
  return result;
}

ResultFrames read_result_frames(const std::filesystem::path& path, const std::vector<Eigen::Index>& samples) {
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  expect_format(root, path, result_format, "the result of a simulation", result_file_version);
  const Group states = root.group("states");
  const hdf5::Shape shape = states.info("q").shape;
  const std::uint64_t k = std::min(root.info("time").size(), shape.size() == 2 ? shape[0] : 0);
  ResultFrames frames;
  frames.time.resize(static_cast<Eigen::Index>(samples.size()));
  frames.q.resize(shape.size() == 2 ? static_cast<Eigen::Index>(shape[1]) : 0, frames.time.size());
  std::vector<double> time(1), q(static_cast<size_t>(frames.q.rows()));
  for (Eigen::Index i = 0; i < frames.time.size(); ++i) {
    const auto row = static_cast<std::uint64_t>(samples[static_cast<size_t>(i)]);
    if (row >= k) fail_input("{}: has {} samples, and number {} is asked for", path.string(), k, row);
    root.read_slab("time", {row}, {1}, time);
    states.read_slab("q", {row, 0}, {1, q.size()}, q);
    frames.time[i] = time[0];
    frames.q.col(i) = Eigen::Map<const VectorXd>(q.data(), frames.q.rows());
  }
  return frames;
}

}  // namespace lissom
