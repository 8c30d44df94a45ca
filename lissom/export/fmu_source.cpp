// The interface of the FMI standard on top of the C source of a model: what both versions share, then the
// functions of each. Names, types and the order of arguments are those that the standard prescribes.
#include <fmt/format.h>

#include "lissom/core/error.hpp"
#include "lissom/export/c_writer.hpp"
#include "lissom/export/export_text.hpp"
#include "lissom/export/fmu_variables.hpp"
#include "lissom/export/fmu_writer.hpp"

namespace lissom {

namespace {

constexpr const char* fmu_core = R"(
#include "@type@.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N @GUARD@_STATES
#define P @GUARD@_INPUTS
#define K @GUARD@_OUTPUTS
#define R @GUARD@_PARAMETERS
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* value references: time, then states, their derivatives, inputs, outputs, parameters, the step of co-simulation */
enum {
  STATE = 1,
  RATE = STATE + N,
  INPUT = RATE + N,
  OUTPUT = INPUT + P,
  PARAMETER = OUTPUT + K,
  STEP = PARAMETER + R,
  END = STEP + 1
};
static const char token[] = "@token@";
static const double nominal[AT_LEAST_ONE(N)] = {@nominal@};

typedef @type@_run model_run;

/* All that a unit remembers; without pointers, so that its bytes can be kept. */
typedef struct {
  model_run run;
  double u[AT_LEAST_ONE(P)]; /* no number: nobody has set it, and it is what the study says */
  double step;
  int begun;
} content;

typedef struct {
  content now;
  int co_simulation, logging;
  char *name;
  void *environment;
  void *logger;
} unit;

static void complain(const unit *one, const char *message);

static int check(const unit *one, int status) {
  if (status == @GUARD@_OK) return 1;
  complain(one, @type@_message(status));
  return 0;
}

static void reset(unit *one) {
  int i;
  memset(&one->now, 0, sizeof one->now);
  @type@_parameters(one->now.run.p);
  @type@_initial(one->now.run.x);
  for (i = 0; i < AT_LEAST_ONE(P); i++) one->now.u[i] = NAN;
  one->now.step = @step@;
}

static unit *make(const char *name, const char *given_token, int co_simulation, int logging, void *environment,
                  void *logger) {
  unit *one = (unit *)calloc(1, sizeof *one);
  if (!one) return 0;
  one->co_simulation = co_simulation;
  one->logging = logging;
  one->environment = environment;
  one->logger = logger;
  if (!name) name = "";
  one->name = (char *)calloc(strlen(name) + 1, 1);
  if (one->name) strcpy(one->name, name);
  if (!one->name || !given_token || strcmp(given_token, token) != 0) {
    if (one->name) complain(one, "the unit is another one than its description says: their tokens differ");
    free(one->name);
    free(one);
    return 0;
  }
  reset(one);
  return one;
}

static void destroy(unit *one) {
  if (!one) return;
  free(one->name);
  free(one);
}

/* Steps count from here; what was set before holds. */
static int begin(unit *one) {
  const model_run before = one->now.run;
  if (!(one->now.step > 0)) {
    complain(one, "the parameter 'step' is not positive");
    return 0;
  }
  if (!check(one, @type@_begin(&one->now.run, before.p, before.t, before.x))) {
    one->now.run = before;
    return 0;
  }
  one->now.begun = 1;
  return 1;
}

static int outputs(unit *one, double *y) {
  const model_run *run = &one->now.run;
  if (one->co_simulation && one->now.begun) return check(one, @type@_measure(run, one->now.u, y));
  return check(one, @type@_outputs(run->p, run->t, run->x, one->now.u, y));
}

static int rates(unit *one, double *f) {
  const model_run *run = &one->now.run;
  return check(one, @type@_rhs(run->p, run->t, run->x, one->now.u, f));
}

static int get_numbers(unit *one, const uint32_t *which, size_t count, double *values) {
  double y[AT_LEAST_ONE(K)], f[AT_LEAST_ONE(N)], u[AT_LEAST_ONE(P)];
  int has_y = 0, has_f = 0;
  size_t i;
  for (i = 0; i < count; i++) {
    const uint32_t at = which[i];
    if (at == 0) {
      values[i] = one->now.run.t;
    } else if (at < RATE) {
      values[i] = one->now.run.x[at - STATE];
    } else if (at < INPUT) {
      if (!has_f && !rates(one, f)) return 0;
      has_f = 1;
      values[i] = f[at - RATE];
    } else if (at < OUTPUT) {
      const double given = one->now.u[at - INPUT];
      @type@_inputs(one->now.run.t, u);
      values[i] = given == given ? given : u[at - INPUT];
    } else if (at < PARAMETER) {
      if (!has_y && !outputs(one, y)) return 0;
      has_y = 1;
      values[i] = y[at - OUTPUT];
    } else if (at < STEP) {
      values[i] = one->now.run.p[at - PARAMETER];
    } else if (at == STEP) {
      values[i] = one->now.step;
    } else {
      complain(one, "there is no variable with this value reference");
      return 0;
    }
  }
  return 1;
}

static int set_numbers(unit *one, const uint32_t *which, size_t count, const double *values) {
  size_t i;
  for (i = 0; i < count; i++) {
    const uint32_t at = which[i];
    if (!(values[i] - values[i] == 0)) {
      complain(one, "a value that is set is not a finite number");
      return 0;
    }
    if (at >= STATE && at < RATE) {
      one->now.run.x[at - STATE] = values[i];
    } else if (at >= INPUT && at < OUTPUT) {
      one->now.u[at - INPUT] = values[i];
    } else if (at >= PARAMETER && at < STEP) {
      one->now.run.p[at - PARAMETER] = values[i];
    } else if (at == STEP) {
      if (!(values[i] > 0)) {
        complain(one, "the parameter 'step' must be positive");
        return 0;
      }
      one->now.step = values[i];
    } else {
      complain(one, "a variable with this value reference cannot be set");
      return 0;
    }
  }
  return 1;
}

/* To a time, in steps of its own; where that fails it is where it was. */
static int do_step(unit *one, double from, double length) {
  const model_run before = one->now.run;
  const double here = before.t, size = fabs(from) + fabs(here) + fabs(length);
  if (!one->now.begun || !(fabs(from - here) <= 1e-9 * size)) {
    complain(one, "the communication point is not where the last step ended");
    return 0;
  }
  if (!(length >= 0)) {
    complain(one, "the communication step is negative or not a number");
    return 0;
  }
  if (!check(one, @type@_advance(&one->now.run, from + length, one->now.step, one->now.u))) {
    one->now.run = before;
    return 0;
  }
  return 1;
}

/* The matrix of derivatives of all that is computed by all that it depends on, one entry. */
typedef struct {
  double J[AT_LEAST_ONE(N * N)], B[AT_LEAST_ONE(N * P)], C[AT_LEAST_ONE(K * N)], D[AT_LEAST_ONE(K * P)];
} matrices;

static int make_matrices(unit *one, matrices *all) {
  const model_run *run = &one->now.run;
  const double *u = one->now.u;
  return check(one, @type@_jacobian(run->p, run->t, run->x, u, all->J)) &&
         check(one, @type@_input_matrix(run->p, run->t, run->x, all->B)) &&
         check(one, @type@_output_matrices(run->p, run->t, run->x, u, all->C, all->D));
}

static int derivative(unit *one, const matrices *all, uint32_t unknown, uint32_t known, double *value) {
  const int is_rate = unknown >= RATE && unknown < INPUT, is_output = unknown >= OUTPUT && unknown < PARAMETER;
  const int is_state = known >= STATE && known < RATE, is_input = known >= INPUT && known < OUTPUT;
  const int row = (int)(is_rate ? unknown - RATE : unknown - OUTPUT);
  const int column = (int)(is_state ? known - STATE : known - INPUT);
  if ((!is_rate && !is_output) || (!is_state && !is_input)) {
    complain(one, "derivatives are those of state derivatives and outputs by states and inputs");
    return 0;
  }
  if (is_state)
    *value = is_rate ? all->J[row * N + column] : all->C[row * N + column];
  else
    *value = is_rate ? all->B[row * P + column] : all->D[row * P + column];
  return 1;
}

static int directional(unit *one, const uint32_t *unknowns, size_t rows, const uint32_t *knowns, size_t columns,
                       const double *seed, double *result, int adjoint) {
  matrices all;
  size_t i, j;
  if (!make_matrices(one, &all)) return 0;
  for (i = 0; i < (adjoint ? columns : rows); i++) result[i] = 0;
  for (i = 0; i < rows; i++)
    for (j = 0; j < columns; j++) {
      double value = 0;
      if (!derivative(one, &all, unknowns[i], knowns[j], &value)) return 0;
      if (adjoint)
        result[j] += value * seed[i];
      else
        result[i] += value * seed[j];
    }
  return 1;
}

static double next_event(const unit *one) { return @type@_next_break(one->now.run.t); }

/* bytes of a state: how many they are, then itself */
static const size_t kept_bytes = sizeof(size_t) + sizeof(content);

static void keep(const content *from, void *to) {
  const size_t size = sizeof *from;
  memcpy(to, &size, sizeof size);
  memcpy((char *)to + sizeof size, from, sizeof *from);
}

static int restore(const void *from, size_t count, content *to) {
  size_t size = 0;
  if (count != kept_bytes) return 0;
  memcpy(&size, from, sizeof size);
  if (size != sizeof *to) return 0;
  memcpy(to, (const char *)from + sizeof size, sizeof *to);
  return 1;
}
)";

constexpr const char* fmi3_functions = R"(
/* ------------------------------------------------------------------------------------------------ FMI 3.0 */

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Boolean, fmi3Clock;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, double, bool, bool, bool, bool, bool, bool *,
                                               double *);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#ifdef FMI3_FUNCTION_PREFIX
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define NAME(name) name
#endif
#define API(result, name) EXPORT result NAME(name)

typedef struct {
  fmi3LogMessageCallback log;
} callbacks;

static void complain(const unit *one, const char *message) {
  callbacks back;
  memcpy(&back, &one->logger, sizeof one->logger);
  if (back.log && one->logging) back.log(one->environment, fmi3Error, "logStatusError", message);
}
#define RESULT(done) ((done) ? fmi3OK : fmi3Error)
#define ONE ((unit *)instance)
static fmi3Status unsupported(fmi3Instance instance) {
  complain(ONE, "the unit has no variables of this type, no clocks and no partitions");
  return fmi3Error;
}

API(const char *, fmi3GetVersion)(void) { return "3.0"; }

API(fmi3Status, fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String categories[]) {
  (void)count; (void)categories;
  ONE->logging = on;
  return fmi3OK;
}

static void *pointer_of(fmi3LogMessageCallback log) {
  callbacks back;
  void *pointer = 0;
  back.log = log;
  memcpy(&pointer, &back, sizeof pointer);
  return pointer;
}

API(fmi3Instance, fmi3InstantiateModelExchange)(fmi3String name, fmi3String given_token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)resources; (void)visible;
  return make(name, given_token, 0, logging, environment, pointer_of(log));
}

API(fmi3Instance, fmi3InstantiateCoSimulation)(fmi3String name, fmi3String given_token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early_return,
    const fmi3ValueReference required[], size_t count, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update) {
  (void)resources; (void)visible; (void)events; (void)early_return; (void)required; (void)count; (void)update;
  return make(name, given_token, 1, logging, environment, pointer_of(log));
}

API(fmi3Instance, fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String given_token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
  (void)name; (void)given_token; (void)resources; (void)visible; (void)update; (void)lock; (void)unlock;
  if (log && logging) log(environment, fmi3Error, "logStatusError", "the unit has no scheduled execution");
  return 0;
}

API(void, fmi3FreeInstance)(fmi3Instance instance) { destroy(ONE); }

API(fmi3Status, fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance, double tolerance, double start,
    fmi3Boolean has_stop, double stop) {
  (void)has_tolerance; (void)tolerance; (void)has_stop; (void)stop;
  ONE->now.run.t = start;
  return fmi3OK;
}
API(fmi3Status, fmi3ExitInitializationMode)(fmi3Instance instance) { return RESULT(begin(ONE)); }
API(fmi3Status, fmi3EnterEventMode)(fmi3Instance instance) { (void)instance; return fmi3OK; }
API(fmi3Status, fmi3Terminate)(fmi3Instance instance) { (void)instance; return fmi3OK; }
API(fmi3Status, fmi3Reset)(fmi3Instance instance) { reset(ONE); return fmi3OK; }

API(fmi3Status, fmi3GetFloat64)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, double values[],
    size_t size) {
  (void)size;
  return RESULT(get_numbers(ONE, which, count, values));
}
API(fmi3Status, fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, const double values[],
    size_t size) {
  (void)size;
  return RESULT(set_numbers(ONE, which, count, values));
}

/* there are no others */
#define NONE(type, name)                                                                                              \
  API(fmi3Status, fmi3Get##name)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, type values[], \
                                 size_t size) {                                                                       \
    (void)which; (void)values; (void)size;                                                                            \
    return count == 0 ? fmi3OK : unsupported(instance);                                                               \
  }                                                                                                                   \
  API(fmi3Status, fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,               \
                                 const type values[], size_t size) {                                                  \
    (void)which; (void)values; (void)size;                                                                            \
    return count == 0 ? fmi3OK : unsupported(instance);                                                               \
  }
NONE(float, Float32)
NONE(int8_t, Int8)
NONE(uint8_t, UInt8)
NONE(int16_t, Int16)
NONE(uint16_t, UInt16)
NONE(int32_t, Int32)
NONE(uint32_t, UInt32)
NONE(int64_t, Int64)
NONE(uint64_t, UInt64)
NONE(fmi3Boolean, Boolean)
NONE(fmi3String, String)

API(fmi3Status, fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, size_t sizes[],
    fmi3Binary values[], size_t size) {
  (void)which; (void)sizes; (void)values; (void)size;
  return count == 0 ? fmi3OK : unsupported(instance);
}
API(fmi3Status, fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, const size_t sizes[],
    const fmi3Binary values[], size_t size) {
  (void)which; (void)sizes; (void)values; (void)size;
  return count == 0 ? fmi3OK : unsupported(instance);
}
API(fmi3Status, fmi3GetClock)(fmi3Instance instance, const fmi3ValueReference which[], size_t count, fmi3Clock values[]) {
  (void)which; (void)values;
  return count == 0 ? fmi3OK : unsupported(instance);
}
API(fmi3Status, fmi3SetClock)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const fmi3Clock values[]) {
  (void)which; (void)values;
  return count == 0 ? fmi3OK : unsupported(instance);
}

API(fmi3Status, fmi3GetNumberOfVariableDependencies)(fmi3Instance instance, fmi3ValueReference which, size_t *count) {
  (void)which; (void)count;
  complain(ONE, "dependencies are those of the model description");
  return fmi3Error;
}
API(fmi3Status, fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference dependent, size_t elements[],
    fmi3ValueReference independents[], size_t elements_of[], fmi3DependencyKind kinds[], size_t count) {
  (void)dependent; (void)elements; (void)independents; (void)elements_of; (void)kinds; (void)count;
  complain(ONE, "dependencies are those of the model description");
  return fmi3Error;
}

API(fmi3Status, fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state) {
  if (!*state) *state = malloc(sizeof(content));
  if (!*state) {
    complain(ONE, "there is no memory left");
    return fmi3Error;
  }
  memcpy(*state, &ONE->now, sizeof(content));
  return fmi3OK;
}
API(fmi3Status, fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state) {
  memcpy(&ONE->now, state, sizeof(content));
  return fmi3OK;
}
API(fmi3Status, fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state) {
  (void)instance;
  if (!state) return fmi3OK;
  free(*state);
  *state = 0;
  return fmi3OK;
}
API(fmi3Status, fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size) {
  (void)instance; (void)state;
  *size = kept_bytes;
  return fmi3OK;
}
API(fmi3Status, fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  if (size < kept_bytes) {
    complain(ONE, "there is too little room for the state");
    return fmi3Error;
  }
  keep((const content *)state, bytes);
  return fmi3OK;
}
API(fmi3Status, fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
  content found;
  if (!restore(bytes, size, &found)) {
    complain(ONE, "these bytes are no state of this unit");
    return fmi3Error;
  }
  if (!*state) *state = malloc(sizeof(content));
  if (!*state) return fmi3Error;
  memcpy(*state, &found, sizeof found);
  return fmi3OK;
}

API(fmi3Status, fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t rows,
    const fmi3ValueReference knowns[], size_t columns, const double seed[], size_t seeds, double result[], size_t results) {
  (void)seeds; (void)results;
  return RESULT(directional(ONE, unknowns, rows, knowns, columns, seed, result, 0));
}
API(fmi3Status, fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t rows,
    const fmi3ValueReference knowns[], size_t columns, const double seed[], size_t seeds, double result[], size_t results) {
  (void)seeds; (void)results;
  return RESULT(directional(ONE, unknowns, rows, knowns, columns, seed, result, 1));
}

API(fmi3Status, fmi3EnterConfigurationMode)(fmi3Instance instance) { return unsupported(instance); }
API(fmi3Status, fmi3ExitConfigurationMode)(fmi3Instance instance) { return unsupported(instance); }
API(fmi3Status, fmi3GetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    double intervals[], fmi3IntervalQualifier qualifiers[]) {
  (void)which; (void)count; (void)intervals; (void)qualifiers;
  return unsupported(instance);
}
API(fmi3Status, fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    uint64_t counters[], uint64_t resolutions[], fmi3IntervalQualifier qualifiers[]) {
  (void)which; (void)count; (void)counters; (void)resolutions; (void)qualifiers;
  return unsupported(instance);
}
API(fmi3Status, fmi3GetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    double shifts[]) {
  (void)which; (void)count; (void)shifts;
  return unsupported(instance);
}
API(fmi3Status, fmi3GetShiftFraction)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    uint64_t counters[], uint64_t resolutions[]) {
  (void)which; (void)count; (void)counters; (void)resolutions;
  return unsupported(instance);
}
API(fmi3Status, fmi3SetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const double intervals[]) {
  (void)which; (void)count; (void)intervals;
  return unsupported(instance);
}
API(fmi3Status, fmi3SetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const uint64_t counters[], const uint64_t resolutions[]) {
  (void)which; (void)count; (void)counters; (void)resolutions;
  return unsupported(instance);
}
API(fmi3Status, fmi3SetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const double shifts[]) {
  (void)which; (void)count; (void)shifts;
  return unsupported(instance);
}
API(fmi3Status, fmi3SetShiftFraction)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const uint64_t counters[], const uint64_t resolutions[]) {
  (void)which; (void)count; (void)counters; (void)resolutions;
  return unsupported(instance);
}
API(fmi3Status, fmi3EvaluateDiscreteStates)(fmi3Instance instance) { (void)instance; return fmi3OK; }

API(fmi3Status, fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *ends, fmi3Boolean *nominals,
    fmi3Boolean *values, fmi3Boolean *has_event, double *event) {
  const double next = next_event(ONE);
  *again = *ends = *nominals = *values = false;
  *has_event = next - next == 0;
  *event = *has_event ? next : 0;
  return fmi3OK;
}
API(fmi3Status, fmi3EnterContinuousTimeMode)(fmi3Instance instance) { (void)instance; return fmi3OK; }
API(fmi3Status, fmi3CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_return, fmi3Boolean *event,
    fmi3Boolean *ends) {
  (void)instance; (void)no_return;
  *event = *ends = false;
  return fmi3OK;
}
API(fmi3Status, fmi3SetTime)(fmi3Instance instance, double t) {
  ONE->now.run.t = t;
  return fmi3OK;
}
API(fmi3Status, fmi3SetContinuousStates)(fmi3Instance instance, const double x[], size_t count) {
  size_t i;
  if (count != N) return fmi3Error;
  for (i = 0; i < count; i++) ONE->now.run.x[i] = x[i];
  return fmi3OK;
}
API(fmi3Status, fmi3GetContinuousStateDerivatives)(fmi3Instance instance, double f[], size_t count) {
  if (count != N) return fmi3Error;
  return RESULT(rates(ONE, f));
}
API(fmi3Status, fmi3GetEventIndicators)(fmi3Instance instance, double values[], size_t count) {
  (void)instance; (void)values;
  return RESULT(count == 0);
}
API(fmi3Status, fmi3GetContinuousStates)(fmi3Instance instance, double x[], size_t count) {
  size_t i;
  if (count != N) return fmi3Error;
  for (i = 0; i < count; i++) x[i] = ONE->now.run.x[i];
  return fmi3OK;
}
API(fmi3Status, fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, double values[], size_t count) {
  size_t i;
  (void)instance;
  if (count != N) return fmi3Error;
  for (i = 0; i < count; i++) values[i] = nominal[i];
  return fmi3OK;
}
API(fmi3Status, fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count) {
  (void)instance;
  *count = 0;
  return fmi3OK;
}
API(fmi3Status, fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count) {
  (void)instance;
  *count = N;
  return fmi3OK;
}

API(fmi3Status, fmi3EnterStepMode)(fmi3Instance instance) { (void)instance; return fmi3OK; }
API(fmi3Status, fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference which[], size_t count,
    const int32_t orders[], double values[], size_t size) {
  (void)which; (void)orders; (void)values; (void)size;
  return count == 0 ? fmi3OK : unsupported(instance);
}
API(fmi3Status, fmi3DoStep)(fmi3Instance instance, double from, double length, fmi3Boolean no_return, fmi3Boolean *event,
    fmi3Boolean *ends, fmi3Boolean *early, double *reached) {
  const int done = do_step(ONE, from, length);
  (void)no_return;
  *event = *ends = *early = false;
  *reached = done ? from + length : ONE->now.run.t;
  return RESULT(done);
}
API(fmi3Status, fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, double t) {
  (void)clock; (void)t;
  return unsupported(instance);
}
)";

constexpr const char* fmi2_functions = R"(
/* ------------------------------------------------------------------------------------------------ FMI 2.0 */

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef struct {
  void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
  void *(*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void *);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
  fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged,
      valuesOfContinuousStatesChanged, nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;

#ifdef FMI2_FUNCTION_PREFIX
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define NAME(name) name
#endif
#define API(result, name) EXPORT result NAME(name)

/* the logger is that of the callbacks, which stay where they are as long as the unit does */
static void complain(const unit *one, const char *message) {
  const fmi2CallbackFunctions *back = (const fmi2CallbackFunctions *)one->logger;
  if (back && back->logger && one->logging)
    back->logger(back->componentEnvironment, one->name, fmi2Error, "logStatusError", "%s", message);
}
#define RESULT(done) ((done) ? fmi2OK : fmi2Error)
#define ONE ((unit *)component)
static fmi2Status unsupported(fmi2Component component) {
  complain(ONE, "the unit has no variables of this type, and no such function");
  return fmi2Error;
}

API(const char *, fmi2GetTypesPlatform)(void) { return "default"; }
API(const char *, fmi2GetVersion)(void) { return "2.0"; }
API(fmi2Status, fmi2SetDebugLogging)(fmi2Component component, fmi2Boolean on, size_t count, const fmi2String categories[]) {
  (void)count; (void)categories;
  ONE->logging = on;
  return fmi2OK;
}

API(fmi2Component, fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String given_token, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  union {
    const fmi2CallbackFunctions *given;
    void *kept;
  } back;
  (void)resources; (void)visible;
  back.kept = 0;
  back.given = functions;
  return make(name, given_token, type == fmi2CoSimulation, logging, 0, back.kept);
}
API(void, fmi2FreeInstance)(fmi2Component component) { destroy(ONE); }

API(fmi2Status, fmi2SetupExperiment)(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean has_stop, fmi2Real stop) {
  (void)has_tolerance; (void)tolerance; (void)has_stop; (void)stop;
  ONE->now.run.t = start;
  return fmi2OK;
}
API(fmi2Status, fmi2EnterInitializationMode)(fmi2Component component) { (void)component; return fmi2OK; }
API(fmi2Status, fmi2ExitInitializationMode)(fmi2Component component) { return RESULT(begin(ONE)); }
API(fmi2Status, fmi2Terminate)(fmi2Component component) { (void)component; return fmi2OK; }
API(fmi2Status, fmi2Reset)(fmi2Component component) { reset(ONE); return fmi2OK; }

API(fmi2Status, fmi2GetReal)(fmi2Component component, const fmi2ValueReference which[], size_t count, fmi2Real values[]) {
  return RESULT(get_numbers(ONE, which, count, values));
}
API(fmi2Status, fmi2SetReal)(fmi2Component component, const fmi2ValueReference which[], size_t count,
    const fmi2Real values[]) {
  return RESULT(set_numbers(ONE, which, count, values));
}
#define NONE(type, name)                                                                                                  \
  API(fmi2Status, fmi2Get##name)(fmi2Component component, const fmi2ValueReference which[], size_t count, type values[]) { \
    (void)which; (void)values;                                                                                            \
    return count == 0 ? fmi2OK : unsupported(component);                                                                  \
  }                                                                                                                       \
  API(fmi2Status, fmi2Set##name)(fmi2Component component, const fmi2ValueReference which[], size_t count,                 \
                                 const type values[]) {                                                                   \
    (void)which; (void)values;                                                                                            \
    return count == 0 ? fmi2OK : unsupported(component);                                                                  \
  }
NONE(fmi2Integer, Integer)
NONE(fmi2Boolean, Boolean)
NONE(fmi2String, String)

API(fmi2Status, fmi2GetFMUstate)(fmi2Component component, fmi2FMUstate *state) {
  if (!*state) *state = malloc(sizeof(content));
  if (!*state) {
    complain(ONE, "there is no memory left");
    return fmi2Error;
  }
  memcpy(*state, &ONE->now, sizeof(content));
  return fmi2OK;
}
API(fmi2Status, fmi2SetFMUstate)(fmi2Component component, fmi2FMUstate state) {
  memcpy(&ONE->now, state, sizeof(content));
  return fmi2OK;
}
API(fmi2Status, fmi2FreeFMUstate)(fmi2Component component, fmi2FMUstate *state) {
  (void)component;
  if (!state) return fmi2OK;
  free(*state);
  *state = 0;
  return fmi2OK;
}
API(fmi2Status, fmi2SerializedFMUstateSize)(fmi2Component component, fmi2FMUstate state, size_t *size) {
  (void)component; (void)state;
  *size = kept_bytes;
  return fmi2OK;
}
API(fmi2Status, fmi2SerializeFMUstate)(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (size < kept_bytes) {
    complain(ONE, "there is too little room for the state");
    return fmi2Error;
  }
  keep((const content *)state, bytes);
  return fmi2OK;
}
API(fmi2Status, fmi2DeSerializeFMUstate)(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  content found;
  if (!restore(bytes, size, &found)) {
    complain(ONE, "these bytes are no state of this unit");
    return fmi2Error;
  }
  if (!*state) *state = malloc(sizeof(content));
  if (!*state) return fmi2Error;
  memcpy(*state, &found, sizeof found);
  return fmi2OK;
}
API(fmi2Status, fmi2GetDirectionalDerivative)(fmi2Component component, const fmi2ValueReference unknowns[], size_t rows,
    const fmi2ValueReference knowns[], size_t columns, const fmi2Real seed[], fmi2Real result[]) {
  return RESULT(directional(ONE, unknowns, rows, knowns, columns, seed, result, 0));
}

API(fmi2Status, fmi2EnterEventMode)(fmi2Component component) { (void)component; return fmi2OK; }
API(fmi2Status, fmi2NewDiscreteStates)(fmi2Component component, fmi2EventInfo *info) {
  const double next = next_event(ONE);
  memset(info, 0, sizeof *info);
  info->nextEventTimeDefined = next - next == 0;
  info->nextEventTime = info->nextEventTimeDefined ? next : 0;
  return fmi2OK;
}
API(fmi2Status, fmi2EnterContinuousTimeMode)(fmi2Component component) { (void)component; return fmi2OK; }
API(fmi2Status, fmi2CompletedIntegratorStep)(fmi2Component component, fmi2Boolean no_return, fmi2Boolean *event,
    fmi2Boolean *ends) {
  (void)component; (void)no_return;
  *event = *ends = 0;
  return fmi2OK;
}
API(fmi2Status, fmi2SetTime)(fmi2Component component, fmi2Real t) {
  ONE->now.run.t = t;
  return fmi2OK;
}
API(fmi2Status, fmi2SetContinuousStates)(fmi2Component component, const fmi2Real x[], size_t count) {
  size_t i;
  if (count != N) return fmi2Error;
  for (i = 0; i < count; i++) ONE->now.run.x[i] = x[i];
  return fmi2OK;
}
API(fmi2Status, fmi2GetDerivatives)(fmi2Component component, fmi2Real f[], size_t count) {
  if (count != N) return fmi2Error;
  return RESULT(rates(ONE, f));
}
API(fmi2Status, fmi2GetEventIndicators)(fmi2Component component, fmi2Real values[], size_t count) {
  (void)component; (void)values;
  return RESULT(count == 0);
}
API(fmi2Status, fmi2GetContinuousStates)(fmi2Component component, fmi2Real x[], size_t count) {
  size_t i;
  if (count != N) return fmi2Error;
  for (i = 0; i < count; i++) x[i] = ONE->now.run.x[i];
  return fmi2OK;
}
API(fmi2Status, fmi2GetNominalsOfContinuousStates)(fmi2Component component, fmi2Real values[], size_t count) {
  size_t i;
  (void)component;
  if (count != N) return fmi2Error;
  for (i = 0; i < count; i++) values[i] = nominal[i];
  return fmi2OK;
}

API(fmi2Status, fmi2SetRealInputDerivatives)(fmi2Component component, const fmi2ValueReference which[], size_t count,
    const fmi2Integer orders[], const fmi2Real values[]) {
  (void)which; (void)orders; (void)values;
  return count == 0 ? fmi2OK : unsupported(component);
}
API(fmi2Status, fmi2GetRealOutputDerivatives)(fmi2Component component, const fmi2ValueReference which[], size_t count,
    const fmi2Integer orders[], fmi2Real values[]) {
  (void)which; (void)orders; (void)values;
  return count == 0 ? fmi2OK : unsupported(component);
}
API(fmi2Status, fmi2DoStep)(fmi2Component component, fmi2Real from, fmi2Real length, fmi2Boolean no_return) {
  (void)no_return;
  return RESULT(do_step(ONE, from, length));
}
API(fmi2Status, fmi2CancelStep)(fmi2Component component) { return unsupported(component); }
API(fmi2Status, fmi2GetStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value) {
  (void)kind; (void)value;
  (void)component;
  return fmi2Discard;
}
API(fmi2Status, fmi2GetRealStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value) {
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = ONE->now.run.t;
  return fmi2OK;
}
API(fmi2Status, fmi2GetIntegerStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value) {
  (void)component; (void)kind; (void)value;
  return fmi2Discard;
}
API(fmi2Status, fmi2GetBooleanStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value) {
  (void)component;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = 0;
  return fmi2OK;
}
API(fmi2Status, fmi2GetStringStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2String *value) {
  (void)component; (void)kind; (void)value;
  return fmi2Discard;
}
)";

}  // namespace

std::string fmu_source(const ExportModel& model, int version) {
  const FmuNames names = fmu_names(model, version);
  std::string nominal;
  for (const double size : model.state_scale) nominal += (nominal.empty() ? "" : ", ") + number_text(size);
  if (nominal.empty()) nominal = "1";
  std::string banner = "/*";
  for (const std::string& line : licence_lines(model))
    banner += (line.empty() ? "\n" : "\n   ") + in_comment(line);
  return banner + " */" +
         filled(std::string(fmu_core) + (version == 2 ? fmi2_functions : fmi3_functions),
                {{"type", names.identifier},
                 {"GUARD", names.upper},
                 {"token", names.token},
                 {"nominal", nominal},
                 {"step", number_text(model.step)}});
}

}  // namespace lissom
