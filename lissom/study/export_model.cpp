#include "lissom/study/export_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lissom/linalg/schur.hpp"
#include "lissom/study/versions.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// The comparison run is short: as many samples, and at most so many steps in all.
constexpr int test_samples = 20;
constexpr int most_test_steps = 2000;

// Numbers in (-1, 1), the same every time.
class Scatter {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1;
  }

 private:
  unsigned long long state_ = 1;
};

const IntegratorOptions& run_of(const StudyFile& study) {
  if (!study.simulation || !study.simulation->simulate)
    fail_input("{}: there is no table [simulate], whose end and step an exported model has as its defaults",
               study.path.string());
  const IntegratorOptions& options = study.simulation->simulate->integrator;
  if (!(options.end > 0))
    fail_input(study.simulation->simulate->where, "simulate.end: is {} s, expected a time above 0 in an export",
               options.end);
  return options;
}

ExportModel begin_model(const Mechanism& mechanism, const std::string& name) {
  const IntegratorOptions& options = run_of(mechanism.study);
  ExportModel model;
  model.title = mechanism.title;
  model.name = identifier(name.empty() ? mechanism.title : name);
  model.made = fmt::format("exported by Lissom {}", version());
  model.end = options.end;
  // integrators that control their step have none
  model.step = options.step > 0 ? options.step : options.sample > 0 ? options.sample : options.end / 1000;
  model.sample = options.sample > 0 ? options.sample : model.step;
  model.rho_inf = options.rho_inf;
  return model;
}

// States on the way of the run, and beside it, with the inputs of the study and with others.
void add_points(Rom& rom, ExportModel& model) {
  const Index n = model.start.size(), p = static_cast<Index>(model.inputs.size()),
              k = static_cast<Index>(model.outputs.size());
  Scatter scatter;
  const VectorXd size = model.run->x.cwiseAbs().rowwise().maxCoeff();
  for (const Index at : {0, test_samples / 2, test_samples - 1})
    for (const bool beside : {false, true}) {
      ExportTestPoint point;
      point.t = model.run->t[at];
      point.x = model.run->x.col(at);
      point.u.resize(p);
      rom.inputs_at(point.t, point.u);
      if (beside) {
        for (Index i = 0; i < n; ++i) point.x[i] += 0.1 * size[i] * scatter();
        for (double& u : point.u) u = u * (1 + 0.3 * scatter()) + 0.1 * scatter();
      }
      point.f.resize(n);
      point.y.resize(k);
      point.J.resize(n, n);
      point.B.resize(n, p);
      rom.rhs(point.t, point.x, point.u, point.f);
      rom.jacobian(point.t, point.x, point.u, point.J);
      rom.input_matrix(point.t, point.x, point.B);
      rom.output(point.t, point.x, point.u, point.y);
      model.points.push_back(std::move(point));
    }
}

// How many steps there are from one sample of the comparison run to the next.
int steps_a_sample(const ExportModel& model) {
  const double steps = std::min<double>(most_test_steps, std::ceil(model.end / model.step - 1e-9));
  return std::max(1, static_cast<int>(steps) / test_samples);
}

ExportModel export_linear(const Mechanism& mechanism, const std::string& name, JobContext& context) {
  ExportModel model = begin_model(mechanism, name);
  LinearRom rom = linear_rom(mechanism.study, *mechanism.linear, context.diagnostics);
  const LinearModel& own = rom.model();
  model.method = fmt::format("linear, {} states", own.order());
  model.inputs = rom.inputs();
  model.outputs = rom.outputs();
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (rom.drives().empty())
      model.drives.push_back({{TimeFunction(own.u0[static_cast<Index>(i)])}, {1}});
    else
      model.drives.push_back({rom.drives()[i].functions, rom.drives()[i].weights});
  }
  model.start = own.x0;
  for (const double t : rom.break_times())
    if (t > 0) model.breaks.push_back(t);
  ExportLinear linear{own.A, own.B, own.C, own.D, own.u0, own.y0, {}};
  MatrixXd A = own.A;
  linear.scale = own.order() > 0 ? balance_rows_and_columns(A) : VectorXd();
  model.linear = std::move(linear);

  ExportTestRun run;
  run.step = model.step;
  LinearRunOptions how;
  how.step = model.step;
  how.sample = steps_a_sample(model) * model.step;
  how.end = test_samples * how.sample;
  std::vector<double> times;
  std::vector<VectorXd> states;
  how.output = [&](double t, const VectorXd& x, const VectorXd&, const VectorXd&) {
    if (t == 0) return;
    times.push_back(t);
    states.push_back(x);
  };
  run_linear(rom, how);
  run.t = Eigen::Map<const VectorXd>(times.data(), static_cast<Index>(times.size()));
  run.x.resize(own.order(), static_cast<Index>(states.size()));
  for (size_t i = 0; i < states.size(); ++i) run.x.col(static_cast<Index>(i)) = states[i];
  model.run = std::move(run);
  model.state_scale = model.run->x.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-12);
  add_points(rom, model);
  return model;
}

}  // namespace

ExportModel export_model(const Mechanism& mechanism, const std::string& name, JobContext& context) {
  if (mechanism.linear) return export_linear(mechanism, name, context);
  fail_input("{}: only linear models can be exported so far", mechanism.study.path.string());
}

}  // namespace lissom
