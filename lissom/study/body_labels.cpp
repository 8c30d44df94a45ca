#include "lissom/study/body_labels.hpp"

#include <algorithm>

#include "lissom/cms/interface.hpp"
#include "lissom/fe/check_materials.hpp"
#include "lissom/fe/named_nodes.hpp"
#include "lissom/study/preflight.hpp"

namespace lissom {

namespace {

// Solid elements in one piece that nothing holds move as a rigid body in so many ways.
constexpr int rigid_motion_count = 6;

class Look {
 public:
  Look(const FeBody& body, const FeModel& labels, std::vector<TomlProblem>& problems)
      : spec_(body.spec), body_(body), labels_(labels), problems_(problems) {}

  void materials() {
    AssemblyOptions options;
    options.mass = spec_.mass;
    attempt(spec_.where, "bodies." + spec_.name, [&] { check_materials(body_.mesh, options); });
  }

  void modes() {
    const std::string key = "bodies." + spec_.name + ".modes";
    std::vector<char> held(labels_.dofs.size(), 0);
    bool found = true;
    for (const std::string& name : spec_.modes->fix)
      found = attempt(spec_.where, key + ".fix",
                      [&] {
                        for (const NodeRows& rows :
                             rows_of_nodes(labels_, named_nodes(labels_, name, "to fix"), "to fix"))
                          for (const int row : rows)
                            if (row >= 0) held[static_cast<size_t>(row)] = 1;
                      }) &&
              found;
    const long free = std::count(held.begin(), held.end(), 0);
    if (found && known() && spec_.modes->count > free)
      add(spec_.where, key + ".count",
          fmt::format("is {}, but the body has only {} free degrees of freedom", spec_.modes->count, free));
  }

  void reduce() {
    const ReductionOptions& options = spec_.reduce->options;
    const SourcePos& where = spec_.reduce->where;
    const std::string key = "bodies." + spec_.name + ".reduce";
    if (spec_.reduce->gcms || spec_.formulation == Formulation::Gcms)
      if (!options.nodes.empty())
        add(where, key + ".nodes",
            "component modes need the modes at all nodes: leave it out, or choose another formulation");
    for (const std::string& name : options.nodes)
      attempt(where, key + ".nodes", [&] { named_nodes(labels_, name, "to keep modes at"); });
    std::vector<char> on_interface(labels_.dofs.size(), 0);
    bool found = true;
    // each by itself, so that all of them are told
    for (const InterfaceSpec& interface : options.interfaces)
      found = attempt(interface.where, key + ".interfaces", [&] { find_interfaces(labels_, {interface}); }) &&
              found;
    found = found && attempt(where, key + ".interfaces", [&] {
              for (const Interface& interface : find_interfaces(labels_, options.interfaces))
                for (const int row : interface.rows) on_interface[static_cast<size_t>(row)] = 1;
            });
    for (const InterfaceSpec& load : options.loads)
      attempt(load.where, key + ".load", [&] {
        for (const Interface& one : find_interfaces(labels_, {load}))
          for (const int row : one.rows)
            if (on_interface[static_cast<size_t>(row)])
              fail_input(
                  "the load '{}' acts on an interface, whose constraint modes answer it already; leave it "
                  "out",
                  load.name);
      });
    if (!found || !known()) return;
    const long all = static_cast<long>(labels_.dofs.size());
    const long interior = std::count(on_interface.begin(), on_interface.end(), 0);
    if (interior == 0)
      add(where, key + ".interfaces",
          "every degree of freedom belongs to an interface, nothing is left to reduce");
    // matrices may be those of a body that is held
    const long flexible = spec_.has_matrices() ? all : all - rigid_motion_count;
    if (!(options.selection.up_to_hz > 0) && options.selection.range > flexible)
      add(where, key + ".modes",
          fmt::format("{} flexible modes are asked for, but the body has only {} ({} degrees of freedom); "
                      "ask for fewer",
                      options.selection.range, flexible, all));
    if (options.selection.method == SelectionMethod::Fixed && options.selection.count > interior)
      add(where, key + ".count",
          fmt::format("{} modes are to be kept, but the interior has only {} degrees of freedom",
                      options.selection.count, interior));
  }

  void gcms() {
    const GcmsSpec& spec = *spec_.gcms;
    const std::string key = "bodies." + spec_.name + ".gcms.modes";
    // what matrices are good for shows when they are looked at
    if (spec.modes.empty() || spec_.has_matrices()) return;
    // nodes of elements
    std::vector<char> used(static_cast<size_t>(body_.mesh.node_count()), 0);
    for (const int node : body_.mesh.connectivity) used[static_cast<size_t>(node)] = 1;
    const long nodes = std::count(used.begin(), used.end(), 1);
    const long count = static_cast<long>(spec.modes.size()), fields = 4 + 3 * count;
    const long highest = *std::max_element(spec.modes.begin(), spec.modes.end()) + (spec.pair_angle ? 1 : 0);
    if (nodes > 0 && fields > nodes)
      add(spec.where, key,
          fmt::format("GCMS of {} modes has {} fields, but the body has {} nodes only; use fewer modes",
                      count, fields, nodes));
    else if (nodes > 0 && highest + rigid_motion_count > 3 * nodes)
      add(spec.where, key,
          fmt::format("mode {} is asked for, but the body has {} flexible modes only", highest,
                      3 * nodes - rigid_motion_count));
  }

 private:
  // Whether rows belong to nodes that we know.
  bool known() const { return !labels_.dofs.empty(); }

  void add(const SourcePos& where, const std::string& key, const std::string& message) {
    problems_.push_back({where, key, message});
  }

  // Whether it went well.
  template <class Work>
  bool attempt(const SourcePos& where, const std::string& key, Work work) {
    try {
      work();
      return true;
    } catch (const InputError& e) {
      problems_.push_back(problem_of(e.what(), where, key));
      return false;
    }
  }

  const BodySpec& spec_;
  const FeBody& body_;
  const FeModel& labels_;
  std::vector<TomlProblem>& problems_;
};

}  // namespace

FeModel body_labels(const FeBody& body) {
  FeModel labels;
  if (body.spec.has_matrices()) {
    labels.source = body.model.source;
    labels.points = body.model.points;
    labels.node_ids = body.model.node_ids;
    labels.node_sets = body.model.node_sets;
    labels.dofs = body.model.dofs;
    labels.recovery = body.model.recovery;
    return labels;
  }
  const Mesh& mesh = body.mesh;
  labels.source = mesh.source;
  labels.points = mesh.points;
  labels.node_ids = mesh.node_ids;
  labels.node_sets = mesh.node_sets;
  // as assemble() and apply_spiders() number them: nodes of elements that no spider ties, then the references
  const auto nodes = static_cast<size_t>(mesh.node_count());
  std::vector<char> has_element(nodes, 0), moved(nodes, 0);
  for (const int node : mesh.connectivity) has_element[static_cast<size_t>(node)] = 1;
  for (const Spider& spider : mesh.spiders) {
    moved[static_cast<size_t>(spider.reference)] = 1;
    for (const int node : spider.nodes) moved[static_cast<size_t>(node)] = 1;
  }
  for (size_t node = 0; node < nodes; ++node)
    for (int d = 0; d < 3 && has_element[node] && !moved[node]; ++d)
      labels.dofs.push_back({static_cast<int>(node), d});
  std::vector<Eigen::Triplet<double, int>> ties;
  for (const Spider& spider : mesh.spiders) {
    for (const int node : spider.nodes)
      ties.emplace_back(3 * node, static_cast<int>(labels.dofs.size()), 1.0);
    for (int d = 0; d < 6; ++d) labels.dofs.push_back({spider.reference, d});
    if (spider.kind == Spider::Kind::Averaging && spider.nodes.size() > 2)
      labels.dofs.resize(labels.dofs.size() + 3 * spider.nodes.size() - 6, Dof{-1, 0});
  }
  labels.recovery.resize(3 * mesh.node_count(), static_cast<int>(labels.dofs.size()));
  labels.recovery.setFromTriplets(ties.begin(), ties.end());
  return labels;
}

std::vector<TomlProblem> problems_of_body(const FeBody& body, const FeModel& labels) {
  std::vector<TomlProblem> problems;
  Look look(body, labels, problems);
  if (!body.spec.has_matrices() && (body.spec.modes || body.spec.reduce || body.spec.gcms)) look.materials();
  if (body.spec.modes) look.modes();
  if (body.spec.reduce) look.reduce();
  if (body.spec.gcms) look.gcms();
  return problems;
}

}  // namespace lissom
