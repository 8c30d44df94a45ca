// The schema is described in docs/reference/result-file.md; names here and there agree by a test.
#include "lissom/io/result_file.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "lissom/io/hdf5_schema.hpp"

namespace lissom {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using hdf5::Group;

constexpr const char* format_name = "lissom-result";

// The numbers of a balance that are single ones.
struct BalanceColumn {
  const char* name;
  double (*get)(const ResultBalance&);
  void (*set)(ResultBalance&, double);
};
#define LISSOM_COLUMN(name, member)                                  \
  BalanceColumn {                                                    \
    name, [](const ResultBalance& b) -> double { return b.member; }, \
        [](ResultBalance& b, double value) { b.member = value; }     \
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

// Counters of the integrator, as attributes of /run.
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
                              {"output_seconds", &IntegrationSummary::output_seconds},
                              {"end", &IntegrationSummary::end}};

std::span<const double> span_of(const Eigen::Ref<const VectorXd>& v) {
  return {v.data(), static_cast<size_t>(v.size())};
}

}  // namespace

// ---------------------------------------------------------------------------------------------- writing

struct ResultWriter::Impl {
  hdf5::File file;
  hdf5::GrowingDataset time, q, v, a, lambda, sensors, momentum, angular_momentum;
  std::vector<hdf5::GrowingDataset> balance, nodes, trust;  // the last: one or none
  bool closed = false;

  std::vector<hdf5::GrowingDataset*> all() {
    std::vector<hdf5::GrowingDataset*> list = {&q, &v, &a, &lambda, &sensors, &momentum, &angular_momentum};
    for (auto& dataset : balance) list.push_back(&dataset);
    for (auto& dataset : nodes) list.push_back(&dataset);
    for (auto& dataset : trust) list.push_back(&dataset);
    list.push_back(&time);  // last: a time that is there has all of its sample
    return list;
  }
};

ResultWriter::ResultWriter(const std::filesystem::path& path, const ResultHeader& header)
    : impl_(new Impl{hdf5::File::create(path), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, false}) {
  Impl& impl = *impl_;
  Group root = impl.file.root();
  write_format(root, format_name, result_file_version);
  root.write_attribute("title", header.title);
  root.write_attribute("case", header.case_name);
  root.write_attribute("integrator", header.integrator);
  root.write("study", std::vector<std::string>{header.study});

  std::vector<std::string> names, formulations;
  std::vector<int> first, coordinates, modes;
  std::uint64_t n = 0;
  for (const auto& body : header.bodies) {
    names.push_back(body.name);
    formulations.push_back(body.formulation);
    first.push_back(body.first);
    coordinates.push_back(body.coordinates);
    modes.push_back(body.modes);
    n += static_cast<std::uint64_t>(body.coordinates);
  }
  Group bodies = root.create_group("bodies");
  bodies.write("names", names);
  bodies.write("formulations", formulations);
  bodies.write("first", first);
  bodies.write("coordinates", coordinates);
  bodies.write("modes", modes);

  impl.time = root.create_growing("time");
  Group states = root.create_group("states");
  impl.q = states.create_growing("q", {n});
  impl.v = states.create_growing("v", {n});
  impl.a = states.create_growing("a", {n});
  impl.lambda = states.create_growing("lambda", {header.constraints.size()});
  states.write("constraints", header.constraints);

  Group sensors = root.create_group("sensors");
  sensors.write("names", header.sensors);
  sensors.write("units", header.sensor_units);
  impl.sensors = sensors.create_growing("values", {header.sensors.size()});

  Group balance = root.create_group("balance");
  for (const BalanceColumn& column : balance_columns)
    impl.balance.push_back(balance.create_growing(column.name));
  impl.momentum = balance.create_growing("momentum", {3});
  impl.angular_momentum = balance.create_growing("angular_momentum", {3});

  Group nodes = root.create_group("nodes");
  for (const auto& entry : header.nodes) {
    Group body = nodes.create_group(entry.body);
    body.write("ids", entry.ids);
    impl.nodes.push_back(body.create_growing("positions", {entry.ids.size(), 3}));
  }
  if (header.has_trust) impl.trust.push_back(root.create_growing("trust"));
  flush();
}

ResultWriter::~ResultWriter() {
  if (!impl_ || impl_->closed) return;
  try {
    flush();
    impl_->file.close();
  } catch (const std::exception&) {
    // on the way out of another failure, which has told the user
  }
}

void ResultWriter::add(const State& state, const VectorXd& sensors, const ResultBalance& balance,
                       const std::vector<Eigen::Matrix3Xd>& nodes, double trust) {
  Impl& impl = *impl_;
  LISSOM_ASSERT(nodes.size() == impl.nodes.size());
  impl.q.append(span_of(state.q));
  impl.v.append(span_of(state.v));
  impl.a.append(span_of(state.a));
  impl.lambda.append(span_of(state.lambda));
  impl.sensors.append(span_of(sensors));
  for (size_t i = 0; i < balance_columns.size(); ++i) {
    const double value = balance_columns[i].get(balance);
    impl.balance[i].append({&value, 1});
  }
  impl.momentum.append(span_of(balance.energy.momentum));
  impl.angular_momentum.append(span_of(balance.energy.angular_momentum));
  for (size_t i = 0; i < nodes.size(); ++i)
    impl.nodes[i].append({nodes[i].data(), static_cast<size_t>(nodes[i].size())});
  for (auto& dataset : impl.trust) dataset.append({&trust, 1});
  impl.time.append({&state.t, 1});
}

void ResultWriter::flush() {
  for (hdf5::GrowingDataset* dataset : impl_->all()) dataset->flush();
  impl_->file.flush();
}

void ResultWriter::finish(const IntegrationSummary& summary, const std::string& failure) {
  Impl& impl = *impl_;
  for (hdf5::GrowingDataset* dataset : impl.all()) dataset->flush();
  Group run = impl.file.root().create_group("run");
  for (const Counter& counter : counters)
    run.write_attribute(counter.name, std::int64_t{summary.*counter.value});
  for (const Figure& figure : figures) run.write_attribute(figure.name, summary.*figure.value);
  run.write_attribute("complete", std::int64_t{failure.empty() && !summary.stopped ? 1 : 0});
  run.write_attribute("stopped", std::int64_t{summary.stopped ? 1 : 0});
  run.write_attribute("failure", without_nul(failure));
  impl.closed = true;
  impl.file.close();
}

// ---------------------------------------------------------------------------------------------- reading

namespace {

// The first k rows of a dataset of rows by `columns`; datasets may be ahead of each other by a sample.
MatrixXd read_rows(const Group& group, const char* name, std::uint64_t k, std::uint64_t columns) {
  const hdf5::Shape shape = group.info(name).shape;
  if (shape.size() != 2 || shape[0] < k || shape[1] != columns)
    fail_input("{}: expected {} samples of {} numbers, found ({}); the file is damaged", group.where(name), k,
               columns, fmt::join(shape, ", "));
  const auto values = group.read_doubles(name);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), static_cast<Eigen::Index>(k),
                                    static_cast<Eigen::Index>(columns));
}

}  // namespace

bool is_result_file(const std::filesystem::path& path) {
  return has_format(path, format_name);
}

ResultFile read_result_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const hdf5::File file = hdf5::File::open(path);
  const Group root = file.root();
  expect_format(root, path, format_name, "the result of a simulation", result_file_version);
  constexpr std::string_view known[] = {"balance", "bodies", "nodes", "run",  "sensors",
                                        "states",  "study",  "time",  "trust"};
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

  const auto time = root.read_doubles("time");
  const std::uint64_t k = time.size();
  result.time = Eigen::Map<const VectorXd>(time.data(), static_cast<Eigen::Index>(k));
  const Group states = root.group("states");
  header.constraints = states.read_strings("constraints");
  result.q = read_rows(states, "q", k, n);
  result.v = read_rows(states, "v", k, n);
  result.a = read_rows(states, "a", k, n);
  result.lambda = read_rows(states, "lambda", k, header.constraints.size());

  const Group sensors = root.group("sensors");
  header.sensors = sensors.read_strings("names");
  header.sensor_units = sensors.read_strings("units");
  expect_size(sensors, "units", header.sensor_units, header.sensors.size());
  result.sensors = read_rows(sensors, "values", k, header.sensors.size());

  const Group balance = root.group("balance");
  result.balance.resize(k);
  for (const BalanceColumn& column : balance_columns) {
    const auto values = balance.read_doubles(column.name);
    if (values.size() < k) expect_size(balance, column.name, values, k);
    for (size_t i = 0; i < k; ++i) column.set(result.balance[i], values[i]);
  }
  const MatrixXd momentum = read_rows(balance, "momentum", k, 3),
                 angular = read_rows(balance, "angular_momentum", k, 3);
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
    const auto values = body.read_doubles("positions");
    auto& list = result.nodes.emplace_back();
    for (std::uint64_t i = 0; i < k; ++i)
      list.emplace_back(Eigen::Map<const Eigen::Matrix3Xd>(values.data() + 3 * count * i, 3,
                                                           static_cast<Eigen::Index>(count)));
  }

  header.has_trust = root.has("trust");
  if (header.has_trust) {
    const auto values = root.read_doubles("trust");
    if (values.size() < k) expect_size(root, "trust", values, k);
    result.trust = Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(k));
  }

  result.finished = root.has("run");
  if (!result.finished) return result;
  const Group run = root.group("run");
  for (const Counter& counter : counters)
    result.summary.*counter.value = static_cast<long>(run.long_attribute(counter.name));
  for (const Figure& figure : figures) result.summary.*figure.value = run.double_attribute(figure.name);
  result.summary.stopped = run.long_attribute("stopped") != 0;
  result.failure = run.string_attribute("failure");
  return result;
}

}  // namespace lissom
