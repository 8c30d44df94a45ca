#include "lissom/export/c_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lissom/core/error.hpp"
#include "lissom/export/c_writer_parts.hpp"

namespace lissom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* header_text = R"(@banner@
#ifndef @guard@
#define @guard@

#ifdef __cplusplus
extern "C" {
#endif

typedef @real@ @type@_real;

#define @GUARD@_STATES @n@
#define @GUARD@_INPUTS @p@
#define @GUARD@_OUTPUTS @k@
#define @GUARD@_PARAMETERS @r@

/* What functions return; @type@_message() says it in words. */
enum {
  @GUARD@_OK = 0,
  @GUARD@_NOT_CONVERGED = 1, /* the iterations of a step: take a shorter one */
  @GUARD@_SINGULAR = 2,
  @GUARD@_NOT_FINITE = 3,
  @GUARD@_NO_DIRECTION = 4, /* a spring whose ends meet, an angle that is not defined */
  @GUARD@_WRONG_STEP = 5
};
const char *@type@_message(int status);

/* x' = f(t, x, u), y = h(t, x, u), all in SI units.

   states x (@n@)@state_words@
@channels@
   In all functions p are the parameters (0: their defaults), u the inputs (0: what the study says that they are at the
   time; one that is not a number: this one as the study says). Matrices have their rows one after the other. */

/* Defaults of the parameters, the state at the start (t = 0), the inputs of the study. */
void @type@_parameters(@type@_real *p);
void @type@_initial(@type@_real *x);
void @type@_inputs(@type@_real t, @type@_real *u);
/* The first time after t at which a load or an input has a kink or a jump; infinite where there is none. */
@type@_real @type@_next_break(@type@_real t);

int @type@_rhs(const @type@_real *p, @type@_real t, const @type@_real *x, const @type@_real *u, @type@_real *f);
/* df/dx (@n@ by @n@) and df/du (@n@ by @p@), exact */
int @type@_jacobian(const @type@_real *p, @type@_real t, const @type@_real *x, const @type@_real *u, @type@_real *J);
int @type@_input_matrix(const @type@_real *p, @type@_real t, const @type@_real *x, @type@_real *B);
int @type@_outputs(const @type@_real *p, @type@_real t, const @type@_real *x, const @type@_real *u, @type@_real *y);
/* dh/dx (@k@ by @n@) and dh/du (@k@ by @p@)@output_words@ */
int @type@_output_matrices(const @type@_real *p, @type@_real t, const @type@_real *x, const @type@_real *u,
                           @type@_real *C, @type@_real *D);

/* A run over time. All that a run remembers is in here: a copy of it is a run that goes on from the same state. */
typedef struct {
  @type@_real t, x[@n1@], p[@r1@];
@run_fields@} @type@_run;

/* From time t and state x (0: the start of the model). */
int @type@_begin(@type@_run *run, const @type@_real *p, @type@_real t, const @type@_real *x);
/* One step of h, u held; kinks and jumps of the study's functions are not looked for. Where it returns anything but OK
   the run is as it was before. */
int @type@_step(@type@_run *run, @type@_real h, const @type@_real *u);
/* Steps of h up to a time, which end at kinks and jumps. Where it fails the run is at the last step that succeeded. */
int @type@_advance(@type@_run *run, @type@_real until, @type@_real h, const @type@_real *u);
/* The outputs of a run, here and now. */
int @type@_measure(const @type@_run *run, const @type@_real *u, @type@_real *y);

#ifdef __cplusplus
}
#endif

#endif
)";

constexpr const char* source_text = R"(@banner@
#include "@header@"

#include <math.h>
#include <string.h>

#define N @GUARD@_STATES
#define P @GUARD@_INPUTS
#define K @GUARD@_OUTPUTS
#define R @GUARD@_PARAMETERS
#define BREAKS @breaks@
@sizes@
#define OK @GUARD@_OK
#define NOT_CONVERGED @GUARD@_NOT_CONVERGED
#define SINGULAR @GUARD@_SINGULAR
#define NOT_FINITE @GUARD@_NOT_FINITE
#define NO_DIRECTION @GUARD@_NO_DIRECTION
#define WRONG_STEP @GUARD@_WRONG_STEP

typedef @type@_real real;
/* a function of libm in the precision of real */
#define REAL(name) @REAL@
@data@
@parameters@
@time_functions@
static int all_finite(const real *x, int n) {
  int i;
  for (i = 0; i < n; i++)
    if (!(x[i] - x[i] == 0)) return 0;
  return 1;
}

const char *@type@_message(int status) {
  switch (status) {
    case OK:
      return "done";
    case NOT_CONVERGED:
      return "the iterations of a step do not converge: take a shorter step";
    case SINGULAR:
      return "the matrix of a step is singular";
    case NOT_FINITE:
      return "a number is not finite: the state is out of range, or the model grows without bounds";
    case NO_DIRECTION:
      return "a spring, damper or bushing has no direction or angle: its ends meet, or it is turned by half a turn";
    case WRONG_STEP:
      return "the step is not a positive number, or too small for the time";
    default:
      return "unknown";
  }
}

void @type@_parameters(real *p) {
  int i;
  for (i = 0; i < R; i++) p[i] = defaults[i];
}

/* The inputs given, and the study's where none or no number is given. */
static const real *inputs_at(real t, const real *u, real *own) {
  int i;
  @type@_inputs(t, own);
  for (i = 0; u && i < P; i++)
    if (u[i] == u[i]) own[i] = u[i];
  return own;
}

void @type@_initial(real *x) { memcpy(x, initial, sizeof(real) * N); }

void @type@_inputs(real t, real *u) {
@drives@}

real @type@_next_break(real t) {
  int i;
  for (i = 0; i < BREAKS; i++)
    if (breaks[i] > t) return breaks[i];
  return (real)HUGE_VAL;
}
@functions@
int @type@_measure(const @type@_run *run, const real *u, real *y) {
  return @measure@;
}
)";

constexpr const char* test_text = R"(@banner@
/* Compares this model with what Lissom computed, and exits with 0 where they agree:
     cc -std=c99 -O2 @source@ @test@ -lm && ./a.out */
#include "@header@"

#include <math.h>
#include <stdio.h>

typedef @type@_real real;

@data@
static int wrong = 0;

/* The largest difference of n numbers over the largest of all that are expected. */
static void compare(const char *what, int points, int n, const real *found, const double *expected, double tolerance) {
  double largest = 0, worst = 0;
  int i;
  for (i = 0; i < points * n; i++) {
    const double difference = fabs((double)found[i] - expected[i]);
    if (fabs(expected[i]) > largest) largest = fabs(expected[i]);
    if (!(difference <= worst)) worst = difference;
  }
  if (points * n == 0) return;
  if (!(worst <= tolerance * largest)) wrong++;
  printf("%-16s differs by %.2e of %.3e%s\n", what, worst, largest, worst <= tolerance * largest ? "" : "  WRONG");
}

static void expect(const char *what, int status) {
  if (status == 0) return;
  printf("%s: %s\n", what, @type@_message(status));
  wrong++;
}

/* Each output by itself, because they have different units. */
static void compare_columns(const char *what, int points, int n, const real *found, const double *expected,
                            double tolerance) {
  double worst = 0;
  int i, j, bad = 0;
  for (j = 0; j < n; j++) {
    double largest = 0, difference = 0;
    for (i = 0; i < points; i++) {
      const double d = fabs((double)found[i * n + j] - expected[i * n + j]);
      if (fabs(expected[i * n + j]) > largest) largest = fabs(expected[i * n + j]);
      if (!(d <= difference)) difference = d;
    }
    if (!(difference <= tolerance * largest + @floor@)) bad++;
    if (largest > 0 && !(difference / largest <= worst)) worst = difference / largest;
  }
  if (points * n == 0) return;
  if (bad) wrong++;
  printf("%-16s differs by %.2e relative at most%s\n", what, worst, bad ? "  WRONG" : "");
}

int main(void) {
  static real f[@points@ * @n1@], J[@points@ * @nn@], B[@points@ * @np@], y[@points@ * @k1@];
  static real x[@n1@], u[@p1@], states[@samples@ * @n1@];
  static @type@_run run;
  int i, j;
  for (i = 0; i < @points@; i++) {
    const real t = (real)test_t[i];
    for (j = 0; j < @n@; j++) x[j] = (real)test_x[i * @n@ + j];
    for (j = 0; j < @p@; j++) u[j] = (real)test_u[i * @p@ + j];
    expect("rhs", @type@_rhs(0, t, x, u, f + i * @n@));
    expect("jacobian", @type@_jacobian(0, t, x, u, J + i * @n@ * @n@));
    expect("input_matrix", @type@_input_matrix(0, t, x, B + i * @n@ * @p@));
    expect("outputs", @type@_outputs(0, t, x, u, y + i * @k@));
  }
  compare("rhs", @points@, @n@, f, test_f, @tolerance@);
  compare("jacobian", @points@, @n@ * @n@, J, test_J, @tolerance@);
  compare("input_matrix", @points@, @n@ * @p@, B, test_B, @tolerance@);
  compare_columns("outputs", @points@, @k@, y, test_y, @tolerance@);

  /* a run under the inputs of the study */
  expect("begin", @type@_begin(&run, 0, 0, 0));
  for (i = 0; i < @samples@; i++) {
    expect("advance", @type@_advance(&run, (real)run_t[i], (real)@step@, 0));
    for (j = 0; j < @n@; j++) states[i * @n@ + j] = run.x[j];
  }
  compare("run", @samples@, @n@, states, run_x, @run_tolerance@);
  puts(wrong ? "WRONG" : "agrees with Lissom");
  return wrong ? 1 : 0;
}
)";

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string banner(const ExportModel& model) {
  std::string text = "/*";
  for (const std::string& line : licence_lines(model))
    text += (line.empty() ? "\n" : "\n   ") + in_comment(line);
  return text + " */";
}

// "   inputs u: push [N], motor [1]"
std::string channel_words(const std::string& what, const std::vector<RomChannel>& channels) {
  std::string text, line = "   " + what;
  for (size_t i = 0; i < channels.size(); ++i) {
    const std::string one = fmt::format(" {} [{}]{}", in_comment(channels[i].name),
                                        in_comment(channels[i].unit), i + 1 < channels.size() ? "," : "");
    if (line.size() + one.size() > 116) {
      text += line + "\n";
      line = "    ";
    }
    line += one;
  }
  return text + line + (channels.empty() ? " none\n" : "\n");
}

std::string double_array(const std::string& name, const std::vector<double>& values) {
  std::string text = c_array(name, values);
  const std::string real = "const real";
  return text.replace(text.find(real), real.size(), "const double");
}

void append(std::vector<double>& list, const MatrixXd& rows) {
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < rows.cols(); ++j) list.push_back(rows(i, j));
}

std::string test_data(const ExportModel& model) {
  std::vector<double> t, x, u, f, J, B, y, run_t, run_x;
  for (const ExportTestPoint& point : model.points) {
    t.push_back(point.t);
    append(x, point.x);
    append(u, point.u);
    append(f, point.f);
    append(J, point.J);
    append(B, point.B);
    append(y, point.y);
  }
  append(run_t, model.run->t);
  append(run_x, model.run->x.transpose());
  return double_array("test_t", t) + double_array("test_x", x) + double_array("test_u", u) +
         double_array("test_f", f) + double_array("test_J", J) + double_array("test_B", B) +
         double_array("test_y", y) + double_array("run_t", run_t) + double_array("run_x", run_x);
}

}  // namespace

std::vector<std::string> licence_lines(const ExportModel& model) {
  return {fmt::format("{}: a reduced mechanism ({}), {}", model.title, model.method, model.made),
          "",
          "Copyright (c) 2026, the Lissom authors. BSD 3-Clause License (SPDX: BSD-3-Clause).",
          "Redistribution and use in source and binary forms, with or without modification, are permitted "
          "provided that",
          "redistributions keep this notice, these conditions and the following disclaimer, in the source or "
          "in the",
          "documentation, and that neither the name of the copyright holders nor of contributors is used to "
          "endorse",
          "products without permission. THIS SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTIES OF ANY KIND, "
          "AND NO",
          "COPYRIGHT HOLDER OR CONTRIBUTOR IS LIABLE FOR ANY DAMAGES THAT ARISE FROM ITS USE."};
}

CFiles c_files(const ExportModel& model, const COptions& options) {
  LISSOM_ASSERT(model.linear.has_value() != model.mechanism.has_value() && model.run &&
                !model.points.empty());
  const int n = model.states(), p = static_cast<int>(model.inputs.size()),
            k = static_cast<int>(model.outputs.size()), r = static_cast<int>(model.parameters.size());
  const int order = model.linear ? n + 3 * p : n;
  if (order > largest_step_matrix)
    fail_input(
        "the model has {} states and {} inputs, and its steps a matrix of order {}, expected {} at most in "
        "an export; "
        "train a smaller one (order in [train])",
        n, p, order, largest_step_matrix);
  if (options.single_precision && model.mechanism)
    fail_input(
        "--float: strains of a mechanism are differences of squares of its positions, which single precision "
        "does not "
        "resolve (1e-7 of a position is as much as a strain); expected a linear model, or double precision");
  CTimeFunctions functions;
  const CParts parts = model.linear ? c_linear_parts(model, functions) : c_mechanism_parts(model, functions);

  std::string drives;
  for (int i = 0; i < p; ++i) {
    const ExportDrive& drive = model.drives[static_cast<size_t>(i)];
    drives += fmt::format("  u[{}] = {}; /* {} */\n", i, functions.call(drive.functions, drive.weights),
                          in_comment(model.inputs[static_cast<size_t>(i)].name));
  }
  drives += p == 0 ? "  (void)t;\n  (void)u;\n" : "";
  if (p > 0 && drives.find("(t)") == std::string::npos) drives += "  (void)t;\n";
  std::vector<double> defaults;
  for (const ExportParameter& parameter : model.parameters) defaults.push_back(parameter.value);

  const std::string type = "lissom_" + model.name, header = type + ".h", source = type + ".c",
                    test = type + "_test.c";
  std::string channels =
      channel_words("inputs u:", model.inputs) + channel_words("outputs y:", model.outputs);
  std::vector<RomChannel> named;
  for (const ExportParameter& one : model.parameters) named.push_back({one.name, one.unit});
  channels += channel_words("parameters p:", named);

  const auto number = [](int value) { return std::to_string(std::max(1, value)); };
  const int g = n + 3 * p;
  const auto samples = static_cast<int>(model.run->t.size()), points = static_cast<int>(model.points.size());
  const bool is_float = options.single_precision;
  std::vector<std::pair<std::string, std::string>> values = {
      {"banner", banner(model)},
      {"guard", upper(type) + "_H"},
      {"GUARD", upper(type)},
      {"type", type},
      {"real", is_float ? "float" : "double"},
      {"REAL", is_float ? "name##f" : "name"},
      {"eps", is_float ? "2e-7" : "1e-12"},
      {"same", is_float ? "1e-6" : "1e-10"},
      {"n", std::to_string(n)},
      {"p", std::to_string(p)},
      {"k", std::to_string(k)},
      {"r", std::to_string(r)},
      {"n1", number(n)},
      {"p1", number(p)},
      {"k1", number(k)},
      {"r1", number(r)},
      {"nn", number(n * n)},
      {"np", number(n * p)},
      {"gg", number(g * g)},
      {"breaks", std::to_string(model.breaks.size())},
      {"header", header},
      {"source", source},
      {"test", test},
      {"state_words", model.linear ? ": deviations from the operating point of the linearisation"
                                   : fmt::format(": {} coordinates, then their rates", n / 2)},
      {"output_words", model.linear ? ", exact" : ""},
      {"channels", channels},
      {"points", std::to_string(points)},
      {"samples", std::to_string(samples)},
      {"step", number_text(model.run->step)},
      {"tolerance", is_float       ? "1e-4"
                    : model.linear ? "1e-12"
                                   : "1e-8"},
      {"run_tolerance", is_float ? "1e-3" : "1e-9"},
      {"floor", is_float ? "1e-6" : "1e-12"},
      {"measure", model.linear ? type + "_outputs(run->p, run->t, run->x, u, y)" : "measure(run, u, y)"},
      {"sizes", model.linear ? "#define G (N + 3 * P)" : ""}};
  const auto fill = [&](const std::string& text) { return filled(text, values); };
  values.emplace_back("run_fields", fill(parts.run_fields));
  values.emplace_back("data", "");
  const auto set = [&](const std::string& key, const std::string& text) {
    for (auto& value : values)
      if (value.first == key) value.second = text;
  };

  CFiles files;
  files.header_name = header;
  files.source_name = source;
  files.test_name = test;
  files.header = fill(header_text);
  set("data", parts.data);
  values.emplace_back("parameters",
                      "\n/* defaults of the parameters, the start, kinks and jumps over time */\n" +
                          c_array("defaults", defaults) + c_array("initial", model.start) +
                          c_array("breaks", model.breaks));
  values.emplace_back("time_functions", functions.definitions());
  values.emplace_back("drives", drives);
  values.emplace_back("functions", fill(parts.functions));
  files.source = fill(source_text);
  set("data", test_data(model));
  files.test = fill(test_text);
  return files;
}

}  // namespace lissom
