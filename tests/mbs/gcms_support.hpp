// Bodies in generalized component modes for tests, made as a study makes them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/cms/reduction.hpp"
#include "tests/cms/reduction_support.hpp"

namespace lissom::test {

struct GcmsSample {
  SampleBody body;
  FeModel bare;                        // without spiders; their references are there as nodes
  std::vector<std::vector<int>> tied;  // by interface
  Reduction reduction;
  GcmsModel model;

  const ReducedBody& reduced() const { return reduction.body; }
};

inline FeModel without_spiders(const SampleBody& body, MassKind mass) {
  Mesh mesh = body.mesh;
  mesh.spiders.clear();
  AssemblyOptions options;
  options.mass = mass;
  Diagnostics diagnostics;
  return assemble(mesh, options, diagnostics);
}

inline std::vector<std::vector<int>> tied_nodes(const SampleBody& body) {
  std::vector<std::vector<int>> tied(body.specs.size());
  for (size_t i = 0; i < tied.size(); ++i)
    for (const Spider& spider : body.mesh.spiders)
      if (spider.name == body.specs[i].what.front()) tied[i] = spider.nodes;
  return tied;
}

struct GcmsSampleOptions {
  ReductionBasis basis = ReductionBasis::FreeModes;
  int range = 6;
  double tolerance = 1e-4;
  Damping damping;
  ScalarGcmsOptions scalar = {1e-6};
};

inline GcmsSample gcms_sample(SampleBody body, MassKind mass, const GcmsSampleOptions& options = {}) {
  GcmsSample sample;
  ReductionOptions reduction;
  reduction.basis = options.basis;
  reduction.interfaces = body.specs;
  reduction.selection.range = options.range;
  reduction.selection.tolerance = options.tolerance;
  reduction.damping = options.damping;
  reduction.exact_errors = true;
  reduction.stress = false;
  Diagnostics diagnostics;
  sample.reduction = reduce(body.model, nullptr, reduction, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << to_string(diagnostics.warnings().front());
  sample.bare = without_spiders(body, mass);
  sample.tied = tied_nodes(body);
  sample.model = make_gcms_model(sample.bare, sample.reduction.body, sample.tied, options.scalar);
  sample.body = std::move(body);
  return sample;
}

// The nodes that have degrees of freedom of their own.
inline std::vector<int> moving_nodes(const FeModel& bare) {
  std::vector<int> nodes;
  for (int i = 0; i < bare.dof_count(); i += 3) nodes.push_back(bare.dofs[i].node);
  return nodes;
}

}  // namespace lissom::test
