// The reference page of study files: its prose, with the places where tables of keys go (study_page.cpp).
#include "lissom/io/study_page.hpp"

namespace lissom {

// clang-format off
const std::string_view study_page_prose = R"page(# Study files

A study file is TOML. It says what is to be done; `lissom run STUDY --out DIR` does it and leaves `summary.json` in DIR.
File names are relative to the study file. An unknown key is an error with a suggestion, and all problems of a file are
listed at once, each with its line; [`lissom check`](command-line.md#lissom-check-study) does nothing else. [`lissom new`](command-line.md#lissom-new-name) writes a
study to begin with. Editors complete and check keys by [study.schema.json](study.schema.json): [how to](../howto/write-a-study.md). This page is made by
`lissom schema --markdown`.

    title = "Modes of a connecting rod"
    units = "mm-t-s"

    [bodies.rod]
    mesh = "rod.step"
    mesh_size = 4
    material = { name = "aluminium", E = 70e3, nu = 0.33, rho = 2.71e-9 }

    [[bodies.rod.spiders]]
    name = "crank pin"
    kind = "rigid"
    cylinder = { point = [0, 0, 0], axis = [0, 0, 1], radius = 26 }

    [bodies.rod.modes]
    count = 20
    fix = ["crank pin"]

## The file

@keys ROOT

Unit systems: `SI` (m, kg, s), `mm-t-s` (N, MPa, t/mm3), `mm-kg-ms` (kN, GPa, kg/mm3), `mm-g-ms`, `mm-kg-s`, `cm-g-s`,
`in-lbf-s`, `ft-lbf-s`. They hold for the files and for every number of the body: E, rho, radii, points. Results are in SI.

### Numbers with units

A number of a key that measures something may have a unit of its own, in quotes; it is converted to the units of the study, or of the body that it stands in:

    radius = "26 mm"
    material = { E = "210 GPa", nu = 0.3, rho = "7850 kg/m^3" }
    position = ["10 cm", 0, 0]
    rotation = { axis = [0, 0, 1], angle_deg = "0.5 rad" }

Units are m, km, dm, cm, mm, um, nm, in, ft; kg, g, mg, t, lb, slug; s, ms, us, ns, min, h; N, mN, kN, MN, lbf, dyn; Nm, kNm, Nmm, J; Pa, kPa, MPa, GPa, bar, psi, ksi; rad, mrad, deg, rpm; Hz, kHz; and % of
plain numbers. They are joined by `*` (or a blank) and `/`, with powers, `m/s^2`, `kg*m^2`, `N*s/mm`; a `/` holds for the unit behind it only. A unit that measures something else is an error that names those that would do.
Functions of time may be a number with a unit (`motion = "30 deg"`, `force = ["2 kN", 0, 0]`); numbers within an expression are in the study's units.

### Parameters

    [parameters]
    length = 0.3
    radius = "= length/10"
    thickness = "2 mm"

@keys parameters

A text that begins with `=` is an [expression](#joints) of these names wherever a number is expected, also in lists: `mesh_size = "= radius/4"`, `position = ["= length/2", 0, 0]`. Functions of time know the names, too:
`motion = "amplitude*sin(omega*t)"`. Names are of letters, digits and `_`, and none of those that expressions have. A plain number is taken as it is; one with a unit follows the units of where it is used. `--set length=0.5` sets one on the
command line, `parameters.length` is its key in [`[sweep]`](#sweep), [`[[cases]]`](#cases) and [`[train]`](#train-with-method--pod).

### Includes

    include = ["../common/rod.toml", "../common/run.toml"]

The keys of these files hold where the study itself has none. Tables are put together key by key, `[[joints]]` and other lists of tables by the names of their entries (entries without a name are added, the included ones first). Everything else
is taken as a whole: numbers, texts, lists, and the tables `material`, `rotation`, `rigid`, `section`, `damping`, `cylinder` and `box`. Of several files the last one counts. Files may include others, up to 32 deep and 1000 in all; one that is met several times counts once, in the place where it was met last. File names in an included file are
relative to it (but not those within `set` of a case and `values` of a sweep). Messages name the file and line of the key. What is kept in results and models is the study with its includes put together.

## `[bodies.NAME]`

@keys bodies.NAME ffrf

## `material`

Isotropic: `E`, `nu`, `rho`. Orthotropic: `E1 E2 E3 nu12 nu13 nu23 G12 G13 G23 rho`, and, where the material's axes are not
the mesh's, `axis1` and `axis2` as `[x, y, z]` (axis 2 is made normal to axis 1). `name` is optional.

@keys material

## `rigid` and `points`

@keys bodies.NAME.rigid

@keys bodies.NAME.points

## `[[bodies.NAME.spiders]]`

@keys bodies.NAME.spiders

`cylinder`:

@keys bodies.NAME.spiders.cylinder

`box`:

@keys bodies.NAME.spiders.box

## `[bodies.NAME.modes]`

@keys bodies.NAME.modes

## `[bodies.NAME.reduce]`

Craig-Bampton reduction until the natural modes in range have the accuracy asked for ([theory](../theory/reduction.md),
[how to](../howto/reduce-a-body.md)). It needs no `[bodies.NAME.modes]`.

    [bodies.rod.reduce]
    interfaces = ["crank pin", "piston pin"]
    modes = 10
    tolerance = 0.001
    damping = { ratio = 0.01 }

@keys bodies.NAME.reduce

`exact`, `compare` and `sweep` are for verification and cost far more than the reduction. `compare` continues the sweep up to
`compare_max_modes` modes, without the enclosure, and begins it with `initial` modes if no `sweep` is given. Neither goes with
`basis = "free-interface"`, which does not use `method`, `count`, `max_modes` and `ranking` either.

`[[bodies.NAME.reduce.interface]]`:

@keys bodies.NAME.reduce.interface

`[[bodies.NAME.reduce.load]]`:

@keys bodies.NAME.reduce.load

A load is a unit force (or moment, about `rx ry rz`) for each direction, shared evenly by the nodes; they must not belong to
an interface.

`damping`, one of `ratio` (alone or with a ramp), `ratios`, `alpha` and `beta`, and `table`:

@keys bodies.NAME.reduce.damping

Leaves in DIR:

| file | holds |
|---|---|
| `NAME.reduced.h5` | the reduced body ([schema](reduced-body-file.md)) |
| `NAME_coordinates.csv` | the mode table: kind, interface, node and direction, frequency, effective mass and inertia of each coordinate |
| `NAME_errors.csv` | `mode, frequency_hz, lower_estimate, paper_estimate, zeta_2, bound, exact` of each flexible mode in range; an empty field was not computed, `inf` is no bound |
| `NAME_sweep.csv` | the same with the number of modes kept in front; with `sweep` or `compare` |
| `NAME_free_modes.exo` | the natural modes in range for [ParaView](paraview-files.md) |
| `NAME_free_modes.view.h5` | the same as a [view](view-file.md) for the report; needs all nodes |

and in `summary.json`, as `bodies.NAME.reduce` (what is not known, or infinite, is `null`):

| key | meaning |
|---|---|
| `degrees_of_freedom`, `interior`, `interface` | of the whole body, and how they were split |
| `basis`, `method`, `tolerance`, `range` | as asked for |
| `coordinates`, `interior_coordinates`, `kinds` | of the reduced body; modes and residual vectors alone; kind to count |
| `reached`, `certified` | the search met the tolerance; the bounds of all modes in range are below it |
| `rigid_modes`, `frequencies_hz` | of the reduced body: rigid ones first, then the range |
| `errors` | per flexible mode: `mode`, `frequency_hz`, `eigenvalue`, `bound`, `zeta_2`, `lower_estimate`, `paper_estimate`, `exact` |
| `largest` | the largest of each over the range |
| `damping` | in words |
| `interfaces` | `name`, `nodes`, `origin`, indices of its `coordinates` |
| `comparison` | `tolerances`, and for each of `methods` a `name` and, per tolerance, `coordinates` (null: not reached), `exact`, `certified` |
| `solver` | `modes_computed`, `largest_residual`, `bodies_evaluated`, `factor_nonzeros`, `factor_bytes` |
| `seconds`, `estimator_seconds` | per phase; of residual terms, estimates and bounds |

## `[bodies.NAME.gcms]`

The basis of generalized component modes ([theory](../theory/gcms.md)) of the free body without its spiders. It needs no
`[bodies.NAME.modes]`; modes that are there are used if they are those of the free body and enough.

@keys bodies.NAME.gcms

Leaves `NAME.gcms.h5` ([schema](gcms-file.md)) and, in `summary.json`, `bodies.NAME.gcms`: `as_they_are`, `scalar` and `algorithm_1` with
`steps` (`columns`, `condition`, `flexible_condition`, `mass_condition`), `modes` (`frequency_hz`, `ritz_frequency_hz`,
`eigenvalue_error`, `mac`), `max_eigenvalue_error`, `coordinates`, `singular_values`, `removed`, `faint`; `sweep`; `nodes_left_out`.
A condition number of a singular matrix is `null`.

## Simulation

Step by step: [how to simulate a mechanism](../howto/simulate-a-mechanism.md); what is computed: [theory](../theory/multibody.md), [integrators](../theory/integrators.md).

    gravity = [0, 0, -9.81]

    [bodies.rod]
    mesh = "rod.msh"
    formulation = "ffrf"
    position = [0.1, 0, 0]
    rotation = { axis = [0, 0, 1], angle_deg = 30 }
    # ... material, spiders, [bodies.rod.reduce]

    [bodies.crank]
    rigid = { mass = 1.2, inertia = [1e-3, 2e-3, 2e-3] }
    points = { hub = [0, 0, 0], pin = [0.1, 0, 0] }

    [[joints]]
    name = "bearing"
    kind = "revolute"
    between = ["ground", "crank.hub"]
    axis = [0, 0, 1]
    motion = "20*pi*t"

    [[joints]]
    name = "crank pin"
    kind = "revolute"
    between = ["crank.pin", "rod.big end"]
    axis = [0, 0, 1]

    [[sensors]]
    name = "end"
    kind = "position"
    of = "rod.small end"

    [simulate]
    end = 0.1
    step = 1e-4
    sample = 1e-3

Numbers are in the study's units (those of a body in the body's), angles in radians where a key does not end in `_deg`, `t` in expressions in the
study's unit of time. `lissom simulate` writes `sensors.csv` in the study's units and [`result.h5`](result-file.md) in SI units.

### The body in a simulation

`formulation`, one word of:

@words bodies.NAME formulation

The flexible ones come from `[bodies.NAME.reduce]` or from a file (`reduced`) and have the flexible natural modes in range as deformation.
`position` is where the origin of the body's own frame (that of its mesh or file) is at the start; `rotation` is one of
`{ axis = [0, 0, 1], angle_deg = 30 }` (or `angle`), `{ vector = [0, 0, 0.5] }` (rotation vector), `{ matrix = [[..], [..], [..]] }`:

@keys bodies.NAME.rotation

### Beams

A body with `formulation = "ancf"` is a straight Euler-Bernoulli beam ([theory](../theory/ancf.md)) and has these keys, with `units`, `velocity` (at `from`) and
`angular_velocity`, in place of all others:

@only bodies.NAME ancf

`section`, one of:

@keys bodies.NAME.section

`damping`:

@keys bodies.NAME.damping

With `axial = "green"` and `bending = "second-derivative"` the forces are polynomials, which makes reduced models of beams fast. Places are `"BEAM.start"`, `"BEAM.end"` and `"BEAM.node 7"` (1
to elements + 1). They have axes, those of space at the start, which turn with the beam's tangent.

Beams that are pinned to each other share the coordinates of their nodes there, and supports are taken out, so that nothing is left of these joints: `spherical`, and in the plane `revolute` about z,
between two beams of the same dimension and strains; the same and `fixed` (a clamp) between a beam and the ground. Such beams are one body of the system, `a+b+c`. A joint that is
driven, measured (`reaction`, `joint-angle`, ..) or has `share = false` keeps its Lagrange multipliers; so do joints with bodies of other formulations. In the plane, constraints about z and
the rotations about x and y are not counted, as no motion violates them. A beam in space cannot be `fixed` to a moving body: take `revolute` with the beam as the first place and
`axis` along it. Stress of beams is not computed.

### Places

| text | meaning |
|---|---|
| `"BODY.INTERFACE"` | an interface of its reduction; of a rigid mesh without reduction a spider or node set |
| `"BODY.SET"` | the mean motion of a node set of its mesh (not of bodies from reduced-body files, which have no sets) |
| `"BODY.POINT"` | a named point of a rigid body from numbers |
| `"BODY.node 17"` | a node; it has a position, but no rotation (nodes of beams have one) |
| `"BEAM.start"`, `"BEAM.end"` | the ends of a beam |
| `"BODY.nodes 17 18 19"` | the mean motion of several nodes |
| `"ground"` | what does not move; `at` says where, by default where the other place is at the start |

### `[[joints]]`

@keys joints

@words joints kind

The frames of both places have the same axes at the start. They must meet there (to 1e-6 of the size of the mechanism), unless `assemble = true`. A driven
joint NAME has the constraint of its motion as NAME.motion, whose reaction is the drive. A prescribed angle counts from what it is at t = 0.

A **function** is a number, an expression of `t` in quotes (`"5*sin(2*pi*t)"`), `{ table = [[t, value], ...], interpolation = "cubic" }` (default `"linear"`)
or `{ file = "x.csv" }` with two columns. Tables are constant outside.

@keys FUNCTION

An **expression** has, from what binds loosest to what binds tightest:

| | |
|---|---|
| `c ? a : b` | a where c is not zero, else b; chains `c ? a : d ? b : e` are read as they look |
| `\|\|`, then `&&` | 1 or 0 |
| `<` `<=` `>` `>=` `==` `!=` | 1 or 0, from left to right |
| `+` `-`, then `*` `/` | from left to right |
| a sign `-` or `+` | `-2^2` is -4, `2^-1` is 0.5; a second sign needs parentheses |
| `^` | from right to left: `2^3^2` is 512 |
| numbers, `t`, `pi`, `_e` | `2`, `.5`, `1e-3`; `_pi` is `pi` |
| `sin` `cos` `tan` `asin` `acos` `atan` `atan2(y, x)` | in radians |
| `sinh` `cosh` `tanh` `asinh` `acosh` `atanh` `exp` `log` (also `ln`) `log2` `log10` `sqrt` | `log` is the natural logarithm |
| `abs` `sign` `rint` | `rint` goes to the next integer, halves upwards |
| `min` `max` `sum` `avg` | of one argument or more |
| `ramp(x, a, b)` | 0 before a, 1 after b, a line between; a jump at a where b is not beyond it |
| `step(x, a, b)` | the same, along 10 s³ - 15 s⁴ + 6 s⁵: its first two derivatives are continuous |

Velocities and accelerations of prescribed motions are exact derivatives of the expression, by the chain rule: `1 - cos(3*t)` starts from rest with all digits. At kinks
(`abs`, `min`, `max`, `ramp`) they are those from the right; a motion that has none at some time (`sqrt(t)` at 0) is an error there.

### `[[loads]]`

@words loads kind

@keys loads

The `factor` of a force, torque or line force may be an **input**, `{ input = "push" }`: a number that comes from outside while the mechanism moves, from a controller
([how to](../howto/control-a-mechanism.md)) or from `[simulate.inputs]`. Loads that name the same input share it.

@keys FACTOR

All have `at`, `axis` and `reference` as joints do.

### `[[sensors]]`

@keys sensors

@words sensors kind

Stress and strain are averages over the elements of a node, in the axes of the body's mesh, which turn with it; shear strains are engineering ones, p1 to p3 the principal values, the largest first,
and `von_mises` of a strain is sqrt(2/3 e : e) of its deviator. `components = ["von_mises", "xx"]` chooses columns. `of` is `"BODY.node 17"`; of several nodes (`"BODY.nodes 17 18"`, a node set,
an interface of nodes) the values are those of the node with the largest von Mises stress at the time, whose number is in the column `node`. It takes stress modes: those of the body's reduction
(`stress = true`, the default), of a GCMS body its mesh, of a reduced mechanism `stress = true` of its training. What is exact about it: [theory](../theory/stress.md).

### `[simulate]`

@keys simulate

`paraview` as a table:

@keys simulate.paraview

### `[simulate.inputs]`

    [simulate.inputs]
    push = "5*sin(2*pi*t)"

@keys simulate.inputs

### `[simulate.stress]`

    [simulate.stress]
    bodies = ["rod"]
    at = [0.01, 0.02]

Stress of all nodes kept, in [`stress.h5`](stress-file.md): its maximum over time with when and where, and all six components at chosen instants. It is computed after the run from the
samples (`sample` says how close they are), by one product of matrices a body. `stress` of the summary has the largest von Mises stress of each body with its node and time.

@keys simulate.stress

### `[train]`

Reduces the mechanism as a whole to an ordinary differential equation of a few unknowns (system-level affine projection, SLAP), from motions of the full mechanism. An empty table
trains on the study's own simulation and chooses the order itself. `lissom train` does it, and `lissom run` and `lissom simulate` where a simulation has `model = "slap"`.
Step by step: [how to reduce a mechanism](../howto/reduce-a-mechanism.md); what is computed: [theory](../theory/slap.md).

    [train]
    runs = ["study", "reversed"]
    places = ["right.node 17"]

    [[cases]]
    name = "reversed"
    set = { "loads.push.force" = [0, -1, 0] }

    [[cases]]
    name = "small"
    set = { "simulate.model" = "slap", "train.order" = 8 }

@keys train slap

`[[train.trajectories]]`, one a run, in the order in which they are put together ([how to](../howto/bring-trajectories.md)):

@keys train.trajectories

`bodies` and `nodes` have a key for each body:

@keys train.trajectories.bodies

@keys train.trajectories.nodes

### `[train]` with `method = "pod"`

A mechanism of beams (`formulation = "ancf"`, all bodies) on a basis of its own motions (proper orthogonal decomposition) that depends on parameters: any numbers of the study. Full
simulations at the samples of a plan give bases, and these one for the parameters of each later run. Step by step: [how to](../howto/reduce-large-deformation.md).

    [train]
    method = "pod"
    order = 11

    [train.parameters.mass1]
    key = "bodies.upper.mass"
    values = [0.152, 0.304, 0.456]

    [train.parameters.stiffness]
    keys = ["bodies.upper.young", "bodies.lower.young"]
    scale = 1e6
    values = [1, 2]

    [[train.test]]
    mass1 = 0.2642
    stiffness = 1.3
    orders = [11, 15]

@only train pod

`[train.parameters.NAME]`:

@keys train.parameters.NAME

`key` is the number that varies, by its path as in [`[sweep]`](#sweep), or `keys` are several that all get the value; `scale` (default 1) is what the value is multiplied with; `values`
of plans list and factorial, `range = [smallest, largest]` of the others. The keys are in the study as numbers: a study and each of its cases thereby have values of the parameters, for which `model = "pod"`
makes the basis. Outside of the samples' range there is a warning (`--strict` refuses).

A greedy plan begins with the corners of the box and its middle (where `samples` allows; otherwise with a Latin hypercube of twice the number of parameters and one), and adds the candidate with the largest
indicator. This is cheap, without a full run: the reduced model is simulated at the candidate, and at 20 samples of its motion, evenly spaced, the equations of motion of the full one are evaluated with positions,
velocities and accelerations of the reduced one. What is left over, r, would move the full one by d with (K + w² M) d = r, K its tangent there and w the rate of the motion (the norm of the accelerations over that of
the velocities). The indicator is the largest displacement of d over the size of the mechanism, as the root of the mean square over the samples. It ranks candidates; it is no bound of the error.

`samples` of a list are tables with a value of every parameter:

@keys train.samples

`[[train.test]]`: a value of every parameter, and

@keys train.test

Full and reduced model run at these parameters. Errors are relative L2 norms of each sensor's column over time: that of the difference over that of the full model's column. They are in the table, in `training.tests` of
`summary.json` and in `pod_test.csv`, with the seconds of both integrations without output; motions are in `tests/NAME`. `samples.csv`, `singular_values.csv`, `principal_angles.csv` (largest angle between the
bases of two samples, degrees) and, of a greedy plan, `greedy.csv` are the numbers of the figures. Full simulations stay in `training/001` and so on; with `--resume` those that are complete are read.

### `[train]` with `method = "linear"`

The mechanism linearised about an equilibrium and truncated: small motions under its loads and inputs, which is what controllers are designed with. Nothing is simulated.
[Theory](../theory/linear.md).

    [train]
    method = "linear"
    about = "static"
    tolerance = 1e-4

@only train linear

Inputs are the forces, torques and line forces, each by its size along its own direction, then the inputs of loads; outputs the columns of the sensors, without those of `energy`, which have no linear
part. Springs, dampers, gravity and joints are part of the model. Simulations (`model = "linear"`, or `lissom simulate` of the model) are solved exactly, with loads as parabolas over every
`step`; a load whose direction changes is refused. Displacements count from where the study starts.

### A study of a reduced mechanism

    rom = "four-bar.rom.h5"

    [[loads]]
    name = "push"
    kind = "force"
    on = "right.top right"
    force = [0, "-1*ramp(t, 0, 0.1)", 0]

    [simulate]
    end = 0.2
    step = 1e-3

`rom` stands in place of `[bodies]`, `[[joints]]` and `[train]`, which are part of the model. Places are `"BODY.PLACE"` of the model (`lissom inspect` lists them) and, where it has the nodes,
`"BODY.node 17"` and `"BODY.nodes 17 18 19"`. It starts where its training did. Sensors of joints (`reaction`, `joint-angle`, `joint-displacement`) are left out with a warning. At every sample
the model says how far it is from the states it was trained on: 1 is as far as these are apart at most, beyond 3 there is a warning (`trust` in the summary and in [`result.h5`](result-file.md)).

With a model of kind `"pod"` the bodies, joints and parameters are those of the study in the model, and the study that names it has the same units; places are `"BEAM.start"`, `"BEAM.end"` and `"BEAM.node 7"`.

### `[linearise]`

The mechanism, full or reduced, linearised about a state: x' = A x + B u, y = C x + D u. `lissom run` leaves `linearisation.json` and `linearisation.mat`, and `linearisation` in `summary.json`.

@keys linearise

### `[response]`

The frequency response of the mechanism as `[linearise]` (or its start) has it; leaves `response.csv` (f [Hz], then magnitude and phase [deg] of every pair, SI units) and `response.json`.

@keys response

### `[sweep]`

Whatever the study asks for (`[simulate]`, `[linearise]`, `[response]`) for all combinations of some parameters. `sweep.csv` has a line for each: the parameters, the last, largest and smallest
value of each sensor, frequencies and damping ratios, the highest peak of each response; and a `problem` where a point failed, while the others go on. `lissom sweep` does nothing else; [how to](../howto/sweep-parameters.md).

@keys sweep

`[[sweep.parameters]]`:

@keys sweep.parameters

### `[[cases]]`

Variants of the study, each in the folder DIR/NAME. `set` names keys of the file by their dotted path; entries of `[[joints]]` and the like go by their
names, and `*` stands for all of them: for those that have the key or, if none has, for every one. `joints = [...]` replaces the whole list, which is the way to leave something out, as a motion.

@keys cases

@keys cases.set

    [[cases]]
    name = "gcms, small steps"
    set = { "bodies.*.formulation" = "gcms", "simulate.step" = 1e-5, "joints.bearing.motion" = "10*pi*t" }

`[compare]`:

@keys compare

`lissom run` carries out the study and then every case. Bodies are reduced once for all cases in which only formulation and place differ. Sensors are compared with
the reference at the times that both have: DIR/NAME/differences.csv, a table, and `comparison` in `summary.json` (`largest`, `at`, `rms`, `scale` for every column).

In `summary.json`, `simulation` and `cases.NAME.simulation` have the [keys](command-line.md#lissom-simulate-study) that `lissom simulate --json` prints.

## Results in DIR

`NAME.body.h5` ([schema](body-file.md)), `NAME_modes.csv`, `NAME_modes.exo` for [ParaView](paraview-files.md) and `NAME_modes.view.h5`, if modes were
asked for; `motion.view.h5` and `system_modes.view.h5` ([views](view-file.md) for the report) of simulations and of `[linearise]`; the files named above for `reduce` and `gcms`; `model.rom.h5` ([schema](rom-file.md)) of a training; `sensors.csv`, [`result.h5`](result-file.md) and [`stress.h5`](stress-file.md) (with `[simulate.stress]`) of a simulation; `linearisation.json`, `linearisation.mat`, `response.csv`, `response.json` and `sweep.csv` of analyses; and `summary.json` (written last: if it is there, the run was complete).
)page";
// clang-format on

}  // namespace lissom
