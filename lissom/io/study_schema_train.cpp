// The keys of [train], of all methods.
#include "lissom/io/study_schema.hpp"

namespace lissom {

namespace {

namespace d = dimensions;

const std::vector<std::string> for_slap = {"slap"};
const std::vector<std::string> for_pod = {"pod"};
const std::vector<std::string> for_linear = {"linear"};

const TableSchema& sources_schema() {
  static const TableSchema schema = {
      .name = "train.trajectories.bodies",
      .meaning = "Arrays, or files, of the bodies.",
      .others = {
          {.name = "BODY", .kinds = kind::text, .meaning = "array in `file`; without `file`, a file"}}};
  return schema;
}

const TableSchema& node_sources_schema() {
  static const TableSchema schema = {
      .name = "train.trajectories.nodes",
      .meaning = "Arrays, or files, of node numbers.",
      .others = {
          {.name = "BODY", .kinds = kind::text, .meaning = "array in `file`; without `file`, a file"}}};
  return schema;
}

const TableSchema& trajectory_schema() {
  static const TableSchema schema = {
      .name = "train.trajectories",
      .meaning = "A motion from a file.",
      .keys = {
          {.name = "file",
           .kinds = kind::file,
           .meaning = "HDF5, `.npz`, `.mat` or CSV file with all bodies, or a `result.h5` of Lissom"},
          {.name = "bodies",
           .kinds = kind::table,
           .otherwise = "names of the bodies",
           .table = &sources_schema(),
           .meaning =
               "`{ left = \"x_left\" }`: array of each body in `file`; without `file`, a file of each"},
          {.name = "time",
           .kinds = kind::text,
           .otherwise = "`\"time\"`, `\"t\"`",
           .meaning = "array of times; without `file`, a file"},
          {.name = "nodes",
           .kinds = kind::table,
           .otherwise = "the mesh's order",
           .table = &node_sources_schema(),
           .meaning = "`{ left = \"ids_left\" }`: arrays (or files) of node numbers"},
          {.name = "displacements",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning = "the data are displacements from the start, not positions"},
          {.name = "at_rest",
           .kinds = kind::boolean,
           .fallback = false,
           .meaning =
               "nothing moves at the first sample; otherwise the velocities there come from the first five "
               "samples"},
          {.name = "units",
           .kinds = kind::text,
           .otherwise = "the study's",
           .meaning = "of the data; results of Lissom are in SI units"},
          {.name = "name", .kinds = kind::text, .otherwise = "the file's", .meaning = "for messages"},
      }};
  return schema;
}

const TableSchema& parameter_schema() {
  static const TableSchema schema = {
      .name = "train.parameters.NAME",
      .meaning = "A number of the study on which the basis depends.",
      .keys = {
          {.name = "key",
           .kinds = kind::text,
           .otherwise = "required, or `keys`",
           .meaning = "the number that varies, by its path as in [`[sweep]`](#sweep)"},
          {.name = "keys", .kinds = kind::texts, .meaning = "several that all get the value"},
          {.name = "scale",
           .kinds = kind::number,
           .fallback = 1.0,
           .meaning = "what the value is multiplied with"},
          {.name = "values", .kinds = kind::numbers, .meaning = "of plans list and factorial"},
          {.name = "range",
           .kinds = kind::numbers,
           .shown_kind = "`[smallest, largest]`",
           .meaning = "of the other plans"},
      }};
  return schema;
}

const TableSchema& sample_schema() {
  static const TableSchema schema = {
      .name = "train.samples",
      .meaning = "A value of every parameter.",
      .others = {{.name = "PARAMETER", .kinds = kind::number, .meaning = "its value"}}};
  return schema;
}

// Words of the forces and combinations, which tests take lists of.
const std::vector<WordSchema> combinations = {{"grassmann", "bases interpolated on the Grassmann manifold"},
                                              {"global", "one basis from all samples"},
                                              {"nearest", "that of the nearest sample"}};
const std::vector<WordSchema> forces = {
    {"automatic", "tensor, ecsw or direct, the cheapest by estimated cost"},
    {"tensor", "exact cubic polynomial"},
    {"ecsw", "at few points with non-negative weights"},
    {"deim", "for comparison"},
    {"direct", "all elements"}};

const TableSchema& test_schema() {
  static const TableSchema schema = {
      .name = "train.test",
      .meaning = "Parameters at which full and reduced model are compared.",
      .keys =
          {
              {.name = "name", .kinds = kind::text, .otherwise = "`test-1` ..", .meaning = "of its folder"},
              {.name = "end",
               .kinds = kind::number,
               .dimension = d::time,
               .otherwise = "that of `[simulate]`",
               .bounds = above(0),
               .meaning = "of both runs"},
              {.name = "orders",
               .kinds = kind::integers,
               .otherwise = "that of the model",
               .bounds = at_least(1),
               .meaning = "one reduced run each"},
              {.name = "combinations",
               .kinds = kind::words,
               .otherwise = "all three",
               .choices = combinations,
               .meaning = "as `combination` of `[train]`"},
              {.name = "forces",
               .kinds = kind::words,
               .otherwise = "`force`",
               .choices = forces,
               .meaning = "as `force` of `[train]`"},
          },
      .others = {{.name = "PARAMETER", .kinds = kind::number, .meaning = "its value"}}};
  return schema;
}

}  // namespace

const TableSchema& train_schema() {
  static const TableSchema schema = {
      .name = "train",
      .meaning = "The mechanism reduced as a whole.",
      .depends_on = "method",
      .keys = {
          {.name = "method",
           .kinds = kind::word,
           .fallback = "slap",
           .choices = {{"slap", "system-level affine projection"},
                       {"pod",
                        "a mechanism of beams on a basis of its own motions, "
                        "[below](#train-with-method--pod)"},
                       {"linear",
                        "the mechanism linearised about an equilibrium and truncated, "
                        "[below](#train-with-method--linear)"}},
           .meaning = "of reduction"},
          {.name = "order",
           .kinds = kind::integer,
           .otherwise = "proposed",
           .bounds = between(1, 500),
           .when = for_slap,
           .meaning = "modes of the model, up to `max_order`"},
          {.name = "max_order",
           .kinds = kind::integer,
           .fallback = 20,
           .bounds = between(1, 500),
           .when = for_slap,
           .meaning = "orders that are looked at"},
          {.name = "reference",
           .kinds = kind::integer,
           .fallback = 1,
           .bounds = between(1, 1000000),
           .when = for_slap,
           .meaning =
               "sample of the first run, from one, that is the reference configuration; it must satisfy the "
               "joints"},
          {.name = "tolerance",
           .kinds = kind::number,
           .dimension = d::length,
           .otherwise = "1.5e-10 of the size",
           .bounds = at_least(0),
           .when = for_slap,
           .meaning = "error of the reconstruction (root of the mean square over nodes and samples) that the "
                      "proposed order is to reach; a length"},
          {.name = "runs",
           .kinds = kind::texts,
           .otherwise = "`[\"study\"]`",
           .when = for_slap,
           .shown_kind = "list of names",
           .meaning =
               "cases whose motions train; `\"study\"` is the study itself. They have a `[simulate]` with "
               "`model = \"full\"`"},
          {.name = "trajectories",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &trajectory_schema(),
           .when = for_slap,
           .meaning = "motions from files, in place of `runs`, see below"},
          {.name = "joints",
           .kinds = kind::word,
           .fallback = "project",
           .choices = {{"project", "modes satisfy linear joints exactly"},
                       {"data", "as well as the data do"}},
           .when = for_slap,
           .meaning = "how the model keeps joints"},
          {.name = "modes",
           .kinds = kind::word,
           .fallback = "component",
           .choices = {{"component", "data are compressed by the bodies' component modes"},
                       {"data", "from the data alone"}},
           .when = for_slap,
           .meaning = "where modes come from"},
          {.name = "kernel",
           .kinds = kind::word,
           .fallback = "auto",
           .choices =
               {{"auto",
                 "a polynomial of the unknowns where it is near enough to the exact kernel: below a tenth "
                 "of the model's own error"},
                {"polynomial", "always the polynomial"},
                {"exact", "rotations and deformations of every body: for large strains"}},
           .when = for_slap,
           .meaning = "what forces of the model come from"},
          {.name = "reconstruct",
           .kinds = kind::boolean,
           .fallback = true,
           .when = for_slap,
           .meaning = "simulate the training runs with every order, for its error"},
          {.name = "recovery",
           .kinds = kind::boolean,
           .fallback = true,
           .when = for_slap,
           .meaning =
               "keep the nodes in the ROM file: for output on the whole mesh, and loads and sensors at any "
               "node"},
          {.name = "stress",
           .kinds = kind::boolean,
           .otherwise = "what the study needs",
           .when = for_slap,
           .meaning =
               "keep strain and stress modes of all nodes in the ROM file, for stress of later runs: 6 n by "
               "3 s numbers of each, hundreds of megabytes for a large mesh. Without the key they are kept "
               "where the study or one of its cases has stress sensors or `[simulate.stress]`"},
          {.name = "places",
           .kinds = kind::texts,
           .otherwise = "none",
           .when = for_slap,
           .shown_kind = "list of places",
           .meaning =
               "further `\"BODY.PLACE\"` where later studies put loads and sensors; those of this study are "
               "kept anyway"},
          {.name = "mass_damping",
           .kinds = kind::number,
           .dimension = d::rate,
           .fallback = 0.0,
           .bounds = at_least(0),
           .when = for_slap,
           .meaning = "zeta of the damping force zeta M eta'"},
          {.name = "noise",
           .kinds = kind::number,
           .dimension = d::length,
           .fallback = 0.0,
           .bounds = at_least(0),
           .when = for_slap,
           .meaning =
               "rigid noise of this amplitude (a length) added to the data, body by body: for experiments"},
          // method = "pod"
          {.name = "parameters",
           .kinds = kind::named_tables,
           .otherwise = "none",
           .table = &parameter_schema(),
           .when = for_pod,
           .meaning =
               "`[train.parameters.NAME]`, see below; without any, the study's own run is the only sample"},
          {.name = "plan",
           .kinds = kind::word,
           .fallback = "factorial",
           .choices = {{"factorial", "all combinations of the values"},
                       {"list", "first values, second values and so on, or `samples`"},
                       {"latin-hypercube", "scattered evenly in the box"},
                       {"greedy", "where the model is worst"}},
           .when = for_pod,
           .meaning = "at which parameters full simulations are run"},
          {.name = "samples",
           .kinds = kind::tables | kind::integer,
           .table = &sample_schema(),
           .when = for_pod,
           .shown_kind = "list or number",
           .meaning =
               "of a list: `[{ mass1 = 0.2, stiffness = 1 }, ..]`; of a Latin hypercube how many; of a "
               "greedy plan how many at most"},
          {.name = "seed",
           .kinds = kind::integer,
           .fallback = 1,
           .bounds = between(0, 1000000000),
           .when = for_pod,
           .meaning = "of the random plans: the same samples for the same seed, on every machine"},
          {.name = "candidates",
           .kinds = kind::integer,
           .fallback = 30,
           .bounds = between(1, 100000),
           .when = for_pod,
           .meaning = "of a greedy plan: points, a Latin hypercube, among which the next sample is chosen"},
          {.name = "tolerance",
           .kinds = kind::number,
           .fallback = 1e-3,
           .bounds = above(0),
           .when = for_pod,
           .meaning = "of a greedy plan: it ends where the largest indicator is below"},
          {.name = "offset",
           .kinds = kind::word,
           .fallback = "initial",
           .choices = {{"initial",
                        "where the motion begins (every pin that it satisfies is then satisfied by the "
                        "basis)"},
                       {"mean", "of the motion"},
                       {"none", "zero"}},
           .when = for_pod,
           .meaning = "E_ref of E = E_ref + Psi xi"},
          {.name = "weight",
           .kinds = kind::word,
           .fallback = "none",
           .choices = {{"none", "bases are orthonormal"},
                       {"mass", "bases are orthonormal in the mass matrix of the study as it is written"}},
           .when = for_pod,
           .meaning = "of the bases"},
          {.name = "order",
           .kinds = kind::integer,
           .otherwise = "by the rule",
           .bounds = between(1, 500),
           .when = for_pod,
           .meaning = "modes of the model, up to `max_order`"},
          {.name = "rule",
           .kinds = kind::word,
           .fallback = "singular-values",
           .choices = {{"singular-values", "`fraction` of the sum of the singular values"},
                       {"energy", "of their squares, the variance, which is far too few for beams"}},
           .when = for_pod,
           .meaning = "smallest order that has it, the largest over the samples"},
          {.name = "fraction",
           .kinds = kind::number,
           .fallback = 0.999,
           .bounds = inside(0, 1),
           .when = for_pod,
           .meaning = "of the rule"},
          {.name = "max_order",
           .kinds = kind::integer,
           .fallback = 60,
           .bounds = between(1, 500),
           .when = for_pod,
           .meaning = "modes kept of every sample"},
          {.name = "keep",
           .kinds = kind::integer,
           .fallback = 60,
           .bounds = between(2, 100000),
           .when = for_pod,
           .meaning = "snapshots kept of every sample, for sampled forces and trust"},
          {.name = "combination",
           .kinds = kind::word,
           .otherwise = "`\"grassmann\"`; `\"global\"` of scattered samples of several parameters (Latin "
                        "hypercube, greedy), between which polynomials are wild",
           .choices = combinations,
           .when = for_pod,
           .meaning = "the basis for the parameters of a run"},
          {.name = "reference",
           .kinds = kind::integer,
           .otherwise = "nearest to the middle",
           .bounds = at_least(1),
           .when = for_pod,
           .meaning = "sample, from one, about which is interpolated"},
          {.name = "force",
           .kinds = kind::word,
           .fallback = "automatic",
           .choices = forces,
           .when = for_pod,
           .meaning = "how the reduced forces are computed"},
          {.name = "ecsw_tolerance",
           .kinds = kind::number,
           .fallback = 1e-4,
           .bounds = inside(0, 1),
           .when = for_pod,
           .meaning = "relative error of the sampled forces over the snapshots"},
          {.name = "deim_points",
           .kinds = kind::integer,
           .otherwise = "`order`",
           .bounds = between(1, 1000000),
           .when = for_pod,
           .meaning = "points of `force = \"deim\"`"},
          {.name = "processes",
           .kinds = kind::integer,
           .otherwise = "the machine's cores",
           .bounds = between(1, 1000),
           .when = for_pod,
           .meaning = "full simulations at a time, each a process of one thread"},
          {.name = "test",
           .kinds = kind::tables,
           .otherwise = "none",
           .table = &test_schema(),
           .when = for_pod,
           .meaning = "`[[train.test]]`, see below"},
          // method = "linear"
          {.name = "about",
           .kinds = kind::word | kind::number,
           .dimension = d::time,
           .otherwise = "`\"start\"`",
           .bounds = at_least(0),
           .choices = {{"start", "where the run begins"}, {"static", "the equilibrium at t = 0"}},
           .when = for_linear,
           .shown_kind = "text or time",
           .meaning = "the state that is linearised, which must be at rest and in equilibrium; a number is a "
                      "time of "
                      "the run of `[simulate]`"},
          {.name = "truncation",
           .kinds = kind::word,
           .fallback = "balanced",
           .choices =
               {{"balanced",
                 "what matters least between inputs and outputs is left out, with a bound of the error"},
                {"frequency", "modes up to `highest`, or the `order` lowest states"},
                {"none", "nothing is left out"}},
           .when = for_linear,
           .meaning = "what is left out"},
          {.name = "order",
           .kinds = kind::integer,
           .otherwise = "by `tolerance` or `highest`",
           .bounds = between(1, 4000),
           .when = for_linear,
           .meaning = "states of the model, twice the degrees of freedom at most; a pair of conjugate modes "
                      "is not cut"},
          {.name = "tolerance",
           .kinds = kind::number,
           .fallback = 1e-3,
           .bounds = inside(0, 1),
           .when = for_linear,
           .meaning = "of balanced truncation: the bound of the error of any harmonic response, over the "
                      "largest one"},
          {.name = "highest",
           .kinds = kind::number,
           .otherwise = "required with `\"frequency\"`, or `order`",
           .bounds = above(0),
           .when = for_linear,
           .meaning = "of truncation by frequency: the highest one that is kept [Hz]"},
          {.name = "statics",
           .kinds = kind::boolean,
           .fallback = true,
           .when = for_linear,
           .meaning = "what is left out follows the loads at once, so that static answers stay exact; "
                      "otherwise it is "
                      "cut off"},
      }};
  return schema;
}

}  // namespace lissom
