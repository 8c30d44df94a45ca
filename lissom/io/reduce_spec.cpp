#include "lissom/io/reduce_spec.hpp"

#include <Eigen/Geometry>

#include "lissom/io/toml_table.hpp"

namespace lissom {

namespace {

// More modes than any body has degrees of freedom that this program can reduce.
constexpr int most = 100'000'000;

// An integer in a range, or the value as it was with a problem noted.
void read_integer(TomlTable& table, const char* key, int least, int& value) {
  const auto number = table.integer(key);
  if (!number) return;
  if (*number < least)
    table.problem(key, fmt::format("is {}, expected {} or more", *number, least));
  else if (*number > most)
    table.problem(key, fmt::format("is {}, expected {} to {}", *number, least, most));
  else
    value = static_cast<int>(*number);
}

// [[interface]] and [[load]]: name, at = ["set", "node 17"], directions = "xyz", and the frame's axes x and
// z.
InterfaceSpec read_place(TomlTable table, bool axes) {
  InterfaceSpec spec;
  spec.where = table.where();
  spec.what = table.texts("at").value_or(std::vector<std::string>{});
  if (spec.what.empty() && !table.has("at"))
    table.problem("at", "is missing: a spider, a node set, \"node 17\", or a list of them");
  spec.name = table.text("name").value_or(spec.what.empty() ? "" : spec.what.front());
  spec.directions = table.text("directions").value_or("");
  if (axes && (table.has("x_axis") || table.has("z_axis"))) {
    const Eigen::Vector3d x = table.vector3("x_axis").value_or(Eigen::Vector3d::Zero());
    const Eigen::Vector3d z = table.vector3("z_axis").value_or(Eigen::Vector3d::Zero());
    const Eigen::Vector3d y = z.cross(x);
    if (!(y.norm() > 1e-6 * z.norm() * x.norm())) {
      table.problem("x_axis", "both x_axis and z_axis are needed for a frame, and they must not be parallel");
    } else {
      Eigen::Matrix3d A;
      A.col(2) = z.normalized();
      A.col(1) = y.normalized();
      A.col(0) = A.col(1).cross(A.col(2));
      spec.axes = A;
    }
  }
  table.finish();
  return spec;
}

Damping read_damping(TomlTable table, const std::filesystem::path& folder) {
  // all keys are asked for first, so that a misspelt one finds its suggestion
  const auto ratio = table.number("ratio"), from = table.number("ramp_from_hz"),
             to = table.number("ramp_to_hz"), to_ratio = table.number("ramp_to_ratio"),
             alpha = table.number("alpha"), beta = table.number("beta");
  const auto ratios = table.numbers("ratios");
  const auto file = table.text("table");
  const bool ramp = from || to || to_ratio;
  const int kinds = (ratio ? 1 : 0) + (ratios ? 1 : 0) + (alpha || beta ? 1 : 0) + (file ? 1 : 0);
  Damping damping;
  if (ratio) damping = UniformDamping{*ratio};
  if (ratio && ramp) damping = DampingRamp{*ratio, from.value_or(0), to.value_or(0), to_ratio.value_or(1)};
  if (!ratio && ramp) table.problem("ramp_from_hz", "a ramp begins at 'ratio', which is missing");
  if (ratios) damping = RatioPerMode{*ratios};
  if (alpha || beta) damping = RayleighDamping{alpha.value_or(0), beta.value_or(0)};
  if (file) {
    try {
      damping = read_damping_table(folder / *file);
    } catch (const InputError& e) {
      table.problem("table", e.what());
    }
  }
  if (kinds != 1)
    table.problem_here("exactly one of ratio, ratios, alpha and beta, and table is expected");
  else
    for (const std::string& problem : problems_of(damping)) table.problem_here(problem);
  table.finish();
  return damping;
}

}  // namespace

ReduceSpec read_reduce_spec(TomlTable& table, const std::filesystem::path& folder) {
  ReduceSpec spec;
  spec.where = table.where();
  ReductionOptions& options = spec.options;
  SelectionOptions& selection = options.selection;

  // interfaces: names, and tables for those with a name or directions of their own
  for (const std::string& what : table.texts("interfaces").value_or(std::vector<std::string>{})) {
    InterfaceSpec interface;
    interface.name = what;
    interface.what = {what};
    interface.where = table.where("interfaces");
    options.interfaces.push_back(std::move(interface));
  }
  for (TomlTable& place : table.tables("interface")) options.interfaces.push_back(read_place(place, true));
  if (options.interfaces.empty() && !table.has("interfaces"))
    table.problem("interfaces", "is missing: spiders, node sets or \"node 17\" by which the body is joined");
  for (TomlTable& place : table.tables("load")) options.loads.push_back(read_place(place, false));

  table.choice<ReductionBasis>("basis",
                               {{"craig-bampton", ReductionBasis::CraigBampton},
                                {"free-modes", ReductionBasis::FreeModes},
                                {"free-interface", ReductionBasis::FreeInterface}},
                               options.basis);
  table.choice<SelectionMethod>("method",
                                {{"certified", SelectionMethod::Certified},
                                 {"estimate", SelectionMethod::Estimate},
                                 {"paper", SelectionMethod::Paper},
                                 {"fixed", SelectionMethod::Fixed}},
                                selection.method);
  read_integer(table, "modes", 1, selection.range);
  if (const auto hz = table.number("up_to_hz")) {
    selection.up_to_hz = *hz;
    if (*hz == 0) table.problem("up_to_hz", "is 0, expected a positive frequency");
    if (table.has("modes")) table.problem("up_to_hz", "says the same as 'modes': give one of the two");
  }
  if (const auto tolerance = table.number("tolerance")) selection.tolerance = *tolerance;
  read_integer(table, "count", 0, selection.count);
  read_integer(table, "initial", 1, selection.initial);
  read_integer(table, "max_modes", 1, selection.max_modes);
  selection.residuals = table.boolean("residual_vectors").value_or(true);
  table.choice<bool>("ranking", {{"frequency", false}, {"contribution", true}}, selection.rank);
  // each problem begins with the key
  for (const std::string& problem : problems_of(selection)) {
    const size_t colon = problem.find(": ");
    table.problem(problem.substr(0, colon), problem.substr(colon + 2));
  }
  if (selection.method == SelectionMethod::Fixed && !table.has("count"))
    table.problem("count", "is missing: method = \"fixed\" keeps a number of modes that you give");
  if (selection.method != SelectionMethod::Fixed && table.has("count"))
    table.problem("count", "goes with method = \"fixed\" only; otherwise the tolerance decides");

  options.inertia_loads = table.boolean("inertia_loads").value_or(false);
  if (options.inertia_loads && options.basis == ReductionBasis::FreeModes)
    table.problem("inertia_loads",
                  "is true, but the basis 'free-modes' has nothing but natural modes; take 'craig-bampton'");
  if (auto damping = table.table("damping")) options.damping = read_damping(*damping, folder);
  options.allow_parts = table.boolean("allow_parts").value_or(false);
  options.exact_errors = table.boolean("exact").value_or(false);
  options.stress = table.boolean("stress").value_or(true);
  options.nodes = table.texts("nodes").value_or(std::vector<std::string>{});
  options.compare = table.numbers("compare").value_or(std::vector<double>{});
  for (const double tolerance : options.compare)
    if (!(tolerance > 0 && tolerance < 1))
      table.problem("compare",
                    fmt::format("{} is no tolerance, expected numbers between 0 and 1", tolerance));
  read_integer(table, "compare_max_modes", 1, options.compare_max_modes);
  if (const auto sweep = table.integers("sweep")) {
    if (sweep->size() != 2 || (*sweep)[0] < 1 || (*sweep)[1] < (*sweep)[0] || (*sweep)[1] > 100000)
      table.problem("sweep", "expected [first, last] number of modes, e.g. [5, 100]");
    else
      options.sweep = {static_cast<int>((*sweep)[0]), static_cast<int>((*sweep)[1])};
  }
  if (options.basis == ReductionBasis::FreeInterface && (!options.compare.empty() || !options.sweep.empty()))
    table.problem("basis",
                  "'free-interface' has exact natural modes: 'compare' and 'sweep' go with craig-bampton");
  spec.gcms = table.boolean("gcms").value_or(false);
  table.renamed("vtu", "paraview");
  spec.paraview = table.boolean("paraview").value_or(true);
  table.finish();
  return spec;
}

}  // namespace lissom
