// The keys of joints, loads, sensors and [simulate].
#include "lissom/io/study_schema.hpp"

namespace lissom {

namespace {

namespace d = dimensions;

using Words = std::vector<std::string>;

// What joints and loads say of their frames.
void add_frame(std::vector<KeySchema>& keys) {
  keys.push_back({.name = "at",
                  .kinds = kind::vector,
                  .dimension = d::length,
                  .otherwise = "at the other place",
                  .meaning = "of the ground's frame"});
  keys.push_back({.name = "axis",
                  .kinds = kind::vector,
                  .otherwise = "z of the first place",
                  .meaning = "axis of the joint at the start, in global axes"});
  keys.push_back({.name = "reference",
                  .kinds = kind::vector,
                  .otherwise = "x of the first place",
                  .meaning = "direction of the first axis: of a universal joint's first arm, of angle zero"});
}

const Words springs = {"spring", "damper"};
const Words torsion_springs = {"torsion-spring", "torsion-damper"};
const Words bushing = {"bushing"};
const Words on_place = {"force", "torque"};
const Words applied = {"force", "torque", "line-force"};
const Words between_places = {"line-force", "spring", "torsion-spring",
                              "bushing",    "damper", "torsion-damper"};

const TableSchema& stress_schema() {
  static const TableSchema schema = {
      .name = "simulate.stress",
      .meaning = "Stress of all nodes kept, in stress.h5.",
      .keys = {
          {.name = "bodies",
           .kinds = kind::texts | kind::boolean,
           .fallback = true,
           .shown_kind = "list of bodies, or true",
           .meaning = "true: all flexible ones; of a reduced mechanism its parts"},
          {.name = "maximum",
           .kinds = kind::boolean,
           .fallback = true,
           .meaning = "von Mises stress at its largest over all samples, node by node, and when"},
          {.name = "at",
           .kinds = kind::numbers,
           .dimension = d::time,
           .otherwise = "none",
           .bounds = at_least(0),
           .shown_kind = "list of times",
           .meaning =
               "instants for all components; between samples the nearest one is taken, with a warning"},
          {.name = "strain",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning = "strain at the instants, too"},
          {.name = "unaveraged",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning =
               "also the values of each element at its nodes, at the instants; takes the body's mesh, with "
               "all nodes kept; of a reduced mechanism in the `lissom run` that trains it"},
      }};
  return schema;
}

const TableSchema& paraview_schema() {
  static const TableSchema schema = {
      .name = "simulate.paraview",
      .meaning = "Which samples, fields and bodies motion.exo has.",
      .keys = {
          {.name = "every",
           .kinds = kind::integer,
           .fallback = 1,
           .bounds = at_least(1),
           .meaning = "every so many samples"},
          {.name = "velocity", .kinds = kind::boolean, .fallback = true, .meaning = "with velocities"},
          {.name = "stress", .kinds = kind::boolean, .fallback = false, .meaning = "with stress"},
          {.name = "bodies",
           .kinds = kind::texts,
           .otherwise = "all",
           .shown_kind = "list of bodies",
           .meaning = "these only"},
      }};
  return schema;
}

}  // namespace

const TableSchema& function_schema() {
  static const TableSchema schema = {
      .name = "FUNCTION",
      .meaning = "A function of time from points.",
      .keys = {
          {.name = "table", .kinds = kind::any, .shown_kind = "list of `[t, value]`", .meaning = "points"},
          {.name = "file", .kinds = kind::file, .meaning = "in place of it: a file with two columns"},
          {.name = "interpolation",
           .kinds = kind::word,
           .fallback = "linear",
           .choices = {{"linear", "straight lines"},
                       {"cubic", "a spline with continuous second derivatives"}},
           .meaning = "between the points"},
      }};
  return schema;
}

namespace {

// What multiplies a load.
const TableSchema& factor_schema() {
  static const TableSchema schema = [] {
    TableSchema s = function_schema();
    s.name = "FACTOR";
    s.meaning = "A function of time from points, or an input.";
    s.keys.insert(s.keys.begin(),
                  {.name = "input",
                   .kinds = kind::text,
                   .meaning = "name of a number from outside: of a controller, or of `[simulate.inputs]`"});
    return s;
  }();
  return schema;
}

const TableSchema& inputs_schema() {
  static const TableSchema schema = {
      .name = "simulate.inputs",
      .meaning = "What the inputs of loads are, where no controller says it.",
      .others = {{.name = "NAME",
                  .kinds = kind::function,
                  .table = &function_schema(),
                  .meaning = "the factor of every load that names this input"}}};
  return schema;
}

}  // namespace

const TableSchema& joint_schema() {
  static const TableSchema schema = [] {
    TableSchema s = {
        .name = "joints",
        .meaning = "What holds two bodies together.",
        .depends_on = "kind",
        .keys = {
            {.name = "name",
             .kinds = kind::text,
             .required = true,
             .meaning = "for sensors, cases and messages"},
            {.name = "kind",
             .kinds = kind::word,
             .required = true,
             .choices =
                 {{"spherical", "three rotations (3 constraints)"},
                  {"revolute", "rotation about the axis (5 constraints)"},
                  {"cylindrical", "rotation about and motion along the axis (4 constraints)"},
                  {"prismatic", "motion along the axis (5 constraints)"},
                  {"universal",
                   "two rotations: about `reference` of the first and about axis x reference of the second "
                   "(4 constraints)"},
                  {"fixed", "nothing (6 constraints)"},
                  {"planar", "motion in the plane normal to the axis and rotation about it (3 constraints)"},
                  {"point-on-line", "the second place stays on the axis of the first (2 constraints)"},
                  {"point-on-plane",
                   "the second place stays in the plane normal to the axis of the first (1 constraint)"},
                  {"distance", "the two places keep their distance, or that of `motion` (1 constraint)"},
                  {"angle", "a prescribed rotation about the axis alone (1 constraint)"},
                  {"displacement", "a prescribed motion along the axis alone (1 constraint)"}},
             .meaning = "what it leaves free, see below"},
            {.name = "between",
             .kinds = kind::texts,
             .required = true,
             .shown_kind = "two places",
             .meaning = "`[\"BODY.INTERFACE\", \"ground\"]`, see [places](#places)"},
        }};
    add_frame(s.keys);
    s.keys.push_back({.name = "motion",
                      .kinds = kind::function,
                      .dimension = d::angle,
                      .otherwise = "none",
                      .table = &function_schema(),
                      .when = {"revolute", "angle"},
                      .meaning = "prescribed angle, in radians"});
    s.keys.push_back({.name = "motion",
                      .kinds = kind::function,
                      .dimension = d::length,
                      .otherwise = "none",
                      .table = &function_schema(),
                      .when = {"prismatic", "cylindrical", "displacement", "distance"},
                      .meaning = "prescribed length"});
    s.keys.push_back({.name = "share",
                      .kinds = kind::boolean,
                      .otherwise = "that of `[simulate]`",
                      .meaning = "whether beams may share coordinates in place of this joint"});
    s.keys.push_back({.name = "and_between",
                      .kinds = kind::texts,
                      .otherwise = "none",
                      .shown_kind = "two places",
                      .meaning =
                          "makes a revolute joint of two spherical ones, `NAME.1` and `NAME.2`, at nodes on "
                          "the axis"});
    return s;
  }();
  return schema;
}

const TableSchema& load_schema() {
  static const TableSchema schema = [] {
    TableSchema s = {.name = "loads",
                     .meaning = "What acts on the bodies.",
                     .depends_on = "kind",
                     .keys = {
                         {.name = "name",
                          .kinds = kind::text,
                          .required = true,
                          .meaning = "for sensors, cases and messages"},
                         {.name = "kind",
                          .kinds = kind::word,
                          .required = true,
                          .choices = {{"force", "on a place"},
                                      {"torque", "on a place"},
                                      {"line-force", "pushes two places apart"},
                                      {"spring", "along the line between two places"},
                                      {"torsion-spring", "about an axis, over any number of turns"},
                                      {"bushing", "along and about the axes of the first place"},
                                      {"damper", "a spring that has `damping` alone"},
                                      {"torsion-damper", "a torsion spring that has `damping` alone"}},
                          .meaning = "see below"},
                         {.name = "on",
                          .kinds = kind::text,
                          .required = true,
                          .when = on_place,
                          .shown_kind = "place",
                          .meaning = "where it acts"},
                         {.name = "force",
                          .kinds = kind::functions,
                          .dimension = d::force,
                          .required = true,
                          .table = &function_schema(),
                          .when = {"force"},
                          .meaning = "along x, y and z"},
                         {.name = "torque",
                          .kinds = kind::functions,
                          .dimension = d::torque,
                          .required = true,
                          .table = &function_schema(),
                          .when = {"torque"},
                          .meaning = "about x, y and z"},
                         {.name = "factor",
                          .kinds = kind::function,
                          .otherwise = "1",
                          .table = &factor_schema(),
                          .when = applied,
                          .meaning = "multiplies the load; `{ input = \"NAME\" }`: a number from outside"},
                         {.name = "following",
                          .kinds = kind::boolean,
                          .fallback = false,
                          .when = on_place,
                          .meaning = "along the axes of the place, which turn with it"},
                         {.name = "reaction",
                          .kinds = kind::text,
                          .otherwise = "none",
                          .when = on_place,
                          .shown_kind = "place",
                          .meaning = "where the opposite acts"},
                         {.name = "between",
                          .kinds = kind::texts,
                          .required = true,
                          .when = between_places,
                          .shown_kind = "two places",
                          .meaning = "between which it acts"},
                         {.name = "force",
                          .kinds = kind::function,
                          .dimension = d::force,
                          .required = true,
                          .table = &function_schema(),
                          .when = {"line-force"},
                          .meaning = "pushes the places apart"},
                         {.name = "stiffness",
                          .kinds = kind::number,
                          .dimension = d::stiffness,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = springs,
                          .meaning = "force per length"},
                         {.name = "damping",
                          .kinds = kind::number,
                          .dimension = d::damping,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = springs,
                          .meaning = "force per velocity"},
                         {.name = "length",
                          .kinds = kind::number,
                          .dimension = d::length,
                          .otherwise = "that of the start",
                          .bounds = at_least(0),
                          .when = springs,
                          .meaning = "at which it is free"},
                         {.name = "preload",
                          .kinds = kind::function,
                          .dimension = d::force,
                          .otherwise = "none",
                          .table = &function_schema(),
                          .when = springs,
                          .meaning = "a force in addition"},
                         {.name = "stiffness",
                          .kinds = kind::number,
                          .dimension = d::torsion_stiffness,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = torsion_springs,
                          .meaning = "torque per angle"},
                         {.name = "damping",
                          .kinds = kind::number,
                          .dimension = d::torsion_damping,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = torsion_springs,
                          .meaning = "torque per angular velocity"},
                         {.name = "angle",
                          .kinds = kind::number,
                          .dimension = d::angle,
                          .otherwise = "0",
                          .when = torsion_springs,
                          .meaning = "in radians, at which it is free"},
                         {.name = "angle_deg",
                          .kinds = kind::number,
                          .dimension = d::degrees,
                          .otherwise = "0",
                          .when = torsion_springs,
                          .meaning = "the same in degrees, in place of `angle`"},
                         {.name = "preload",
                          .kinds = kind::function,
                          .dimension = d::torque,
                          .otherwise = "none",
                          .table = &function_schema(),
                          .when = torsion_springs,
                          .meaning = "a torque in addition"},
                         {.name = "stiffness",
                          .kinds = kind::numbers,
                          .dimension = d::stiffness,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = bushing,
                          .shown_kind = "one number or three",
                          .meaning = "along the axes of the first place"},
                         {.name = "damping",
                          .kinds = kind::numbers,
                          .dimension = d::damping,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = bushing,
                          .shown_kind = "one number or three",
                          .meaning = "along the axes of the first place"},
                         {.name = "rotational_stiffness",
                          .kinds = kind::numbers,
                          .dimension = d::torsion_stiffness,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = bushing,
                          .shown_kind = "one number or three",
                          .meaning = "about the axes of the first place"},
                         {.name = "rotational_damping",
                          .kinds = kind::numbers,
                          .dimension = d::torsion_damping,
                          .otherwise = "0",
                          .bounds = at_least(0),
                          .when = bushing,
                          .shown_kind = "one number or three",
                          .meaning = "about the axes of the first place"},
                     }};
    add_frame(s.keys);
    return s;
  }();
  return schema;
}

const TableSchema& sensor_schema() {
  static const TableSchema schema = {
      .name = "sensors",
      .meaning = "What is measured, sample by sample.",
      .depends_on = "kind",
      .keys = {
          {.name = "name",
           .kinds = kind::text,
           .required = true,
           .meaning = "begins the names of its columns"},
          {.name = "kind",
           .kinds = kind::word,
           .required = true,
           .choices = {{"position", "of a place: `x y z`"},
                       {"displacement", "of a place, since the start: `x y z`"},
                       {"velocity", "of a place: `x y z`"},
                       {"acceleration", "of a place: `x y z`"},
                       {"rotation", "of a place with rotation: `rx ry rz`, rotation vector since the start"},
                       {"angular-velocity", "of a place with rotation: `wx wy wz`"},
                       {"angular-acceleration", "of a place with rotation: `ax ay az`"},
                       {"reaction", "of a joint: `fx fy fz tx ty tz` on the second body, global axes"},
                       {"joint-angle", "of a joint: `angle`, turns counted at every step"},
                       {"joint-displacement", "of a joint: `distance`"},
                       {"drive",
                        "of a driven joint: `value`, torque about its axis, or force along it, that the "
                        "motion exerts on the second body"},
                       {"load", "of a load: `value`"},
                       {"energy", "of the system: `kinetic elastic gravity springs total`"},
                       {"stress",
                        "of a node of a flexible body: `xx yy zz xy yz zx von_mises p1 p2 p3`, and `node` "
                        "of several"},
                       {"strain", "of a node of a flexible body: the same columns"}},
           .meaning = "see below"},
          {.name = "of",
           .kinds = kind::text,
           .otherwise = "required, but of `energy`",
           .shown_kind = "place, joint or load",
           .meaning = "what is measured"},
          {.name = "components",
           .kinds = kind::words,
           .otherwise = "all",
           .choices = {{"xx", ""},
                       {"yy", ""},
                       {"zz", ""},
                       {"xy", ""},
                       {"yz", ""},
                       {"zx", ""},
                       {"von_mises", ""},
                       {"p1", ""},
                       {"p2", ""},
                       {"p3", ""}},
           .when = {"stress", "strain"},
           .shown_kind = "list of columns",
           .meaning = "of `stress` and `strain`: these columns only"},
      }};
  return schema;
}

const TableSchema& simulate_schema() {
  static const TableSchema schema = {
      .name = "simulate",
      .meaning = "The simulation: how long, by which method, and what is written.",
      .keys = {
          {.name = "end",
           .kinds = kind::number,
           .dimension = d::time,
           .required = true,
           .meaning = "time of the end; it begins at 0"},
          {.name = "model",
           .kinds = kind::word,
           .otherwise = "`\"full\"`; with `rom` the model's",
           .choices = {{"full", "the bodies and their joints"},
                       {"slap", "the mechanism reduced as a whole, by `[train]` of this study or from `rom`"},
                       {"pod",
                        "a mechanism of beams on a basis for its parameters, by `[train]` with "
                        "`method = \"pod\"` or from `rom`"},
                       {"linear",
                        "small motions about an equilibrium, by `[train]` with `method = \"linear\"` or from "
                        "`rom`"}},
           .meaning = "what is simulated"},
          {.name = "kernel",
           .kinds = kind::word,
           .fallback = "model",
           .choices = {{"model", "the polynomial, where the model has one"},
                       {"exact",
                        "rotations and deformations of every body, which the polynomial approximates"}},
           .meaning = "what the forces of a model of kind SLAP come from"},
          {.name = "step",
           .kinds = kind::number,
           .dimension = d::time,
           .meaning = "step of fixed-step methods, first one of the others"},
          {.name = "sample",
           .kinds = kind::number,
           .dimension = d::time,
           .otherwise = "every step",
           .meaning = "interval of the output, independent of the step"},
          {.name = "integrator",
           .kinds = kind::word,
           .fallback = "generalized-alpha",
           .choices = {{"generalized-alpha", "index 3, second order, damping by `rho_inf`"},
                       {"extrapolated-alpha",
                        "generalized-alpha in steps and half steps, combined to fourth order; smooth loads"},
                       {"hht-i3", "index 3, damping by `alpha`"},
                       {"bdf", "order and step controlled; `index`, `max_order`"},
                       {"central-differences", "explicit, without constraints only"},
                       {"runge-kutta", "Dormand-Prince 5(4)"},
                       {"cvode", "SUNDIALS CVODE"},
                       {"static", "no integration: the equilibrium under the loads of every step, v = a = 0"},
                       {"kinematics",
                        "no integration: mechanisms without degrees of freedom, prescribed motion, and "
                        "the drives' forces"},
                       {"auto", "one of these by what the mechanism is; the summary says which, and why"}},
           .meaning = "the method, see [integrators](../theory/integrators.md)"},
          {.name = "rho_inf",
           .kinds = kind::number,
           .fallback = 0.8,
           .bounds = between(0, 1),
           .meaning = "generalized-alpha, extrapolated-alpha: 1 damps nothing, 0 high frequencies at once"},
          {.name = "alpha",
           .kinds = kind::number,
           .fallback = -0.1,
           .bounds = between(-0.3, 0),
           .meaning = "hht-i3: -0.3 to 0"},
          {.name = "index", .kinds = kind::integer, .fallback = 3, .bounds = between(2, 3), .meaning = "bdf"},
          {.name = "max_order",
           .kinds = kind::integer,
           .fallback = 5,
           .bounds = between(1, 5),
           .meaning = "bdf"},
          {.name = "adaptive",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning = "step control of generalized-alpha and hht-i3; bdf, runge-kutta and cvode have it"},
          {.name = "tolerance",
           .kinds = kind::number,
           .fallback = 1e-6,
           .meaning = "error of a step, relative to the size of the mechanism; kinks of a table that change "
                      "the load by less than this much of its largest value are none"},
          {.name = "elastic_tolerance",
           .kinds = kind::number,
           .fallback = 0.03,
           .bounds = between(1e-12, 1),
           .meaning = "error of a step in the deformation of each flexible body, relative to its largest so "
                      "far (root of elastic energies); not bdf beyond order 2, nor cvode"},
          {.name = "min_step",
           .kinds = kind::number,
           .dimension = d::time,
           .otherwise = "none",
           .meaning = "of controlled steps"},
          {.name = "max_step",
           .kinds = kind::number,
           .dimension = d::time,
           .otherwise = "none",
           .meaning = "of controlled steps"},
          {.name = "newton_tolerance",
           .kinds = kind::number,
           .fallback = 1e-11,
           .meaning = "of the nonlinear equations, relative to the size"},
          {.name = "newton_iterations", .kinds = kind::integer, .fallback = 12, .meaning = "at most"},
          {.name = "newton_reuse",
           .kinds = kind::number,
           .otherwise = "0.3 (`slap`, `pod`: 0)",
           .meaning = "convergence rate up to which a factorisation is kept"},
          {.name = "check_at",
           .kinds = kind::numbers,
           .dimension = d::time,
           .otherwise = "none",
           .bounds = at_least(0),
           .shown_kind = "list of times",
           .meaning =
               "with `model = \"slap\"`, in a `lissom run` that trains: the residual of the full model at "
               "these instants, and how far it would move a node"},
          {.name = "paraview",
           .kinds = kind::boolean | kind::table,
           .fallback = false,
           .table = &paraview_schema(),
           .meaning =
               "`motion.exo`, the motion on the meshes for [ParaView](paraview-files.md); the table "
               "`{ every = 2, velocity = true, stress = false, bodies = [\"rod\"] }` says which samples, "
               "fields and bodies"},
          {.name = "share",
           .kinds = kind::boolean,
           .fallback = true,
           .meaning = "beams share coordinates at their joints where they can, see [beams](#beams)"},
          {.name = "assemble",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning = "bodies may be moved so that the joints meet"},
          {.name = "start",
           .kinds = kind::word,
           .fallback = "placed",
           .choices = {{"placed", "where the bodies are put"},
                       {"static", "the run begins at rest in the static equilibrium at t = 0"}},
           .meaning = "where it begins"},
          {.name = "nodes",
           .kinds = kind::texts | kind::boolean,
           .otherwise = "none",
           .shown_kind = "list of bodies, or true",
           .meaning = "whose nodal positions go into `result.h5`"},
          {.name = "stress",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &stress_schema(),
           .meaning = "stress over whole meshes, see below"},
          {.name = "inputs",
           .kinds = kind::table,
           .otherwise = "none",
           .table = &inputs_schema(),
           .meaning = "what the inputs of loads are"},
      }};
  return schema;
}

}  // namespace lissom
