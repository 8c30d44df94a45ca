// Hot loops do not allocate: malloc is counted while they run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "lissom/fe/assembly.hpp"
#include "lissom/fe/element.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "lissom/mbs/gcms_body.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/linalg/test_matrices.hpp"
#include "tests/mbs/full_corotated.hpp"
#include "tests/mbs/system_support.hpp"

#if LISSOM_COUNTS_MALLOC

namespace lissom::test {
std::atomic<long> allocations = 0;
}
using lissom::test::allocations;

// glibc's own, behind the name that everybody calls
extern "C" void* __libc_malloc(size_t size);
extern "C" void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}

namespace lissom::allocation_test {
namespace {

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  void* volatile memory = std::malloc(100);
  EXPECT_EQ(allocations - before, 1);
  std::free(memory);
}

TEST(Allocation, ElementKernelsDoNotAllocate) {
  const Elasticity steel = elasticity(test::steel());
  for (ElementType type : all_element_types) {
    visit_element_type(type, [&]<ElementType t>() {
      using Kernel = ElementKernel<t>;
      const typename Kernel::Points x = test::element_points(test::single_element(t), 0);
      static typename Kernel::Stiffness K;
      static typename Kernel::Mass m;
      Kernel::stiffness(x, steel, K);  // tables are made on the first call
      for (MassKind kind : {MassKind::Consistent, MassKind::Lumped, MassKind::Calculix})
        Kernel::mass(x, 7850, kind, m);
      const long before = allocations;
      for (int repeat = 0; repeat < 10; ++repeat) {
        Kernel::stiffness(x, steel, K);
        for (MassKind kind : {MassKind::Consistent, MassKind::Lumped, MassKind::Calculix})
          Kernel::mass(x, 7850, kind, m);
      }
      EXPECT_EQ(allocations - before, 0) << name_of(t);
    });
  }
}

TEST(Allocation, SolvesDoNotAllocateOnceWarm) {
  const SymmetricMatrix A = test::laplacian(20, 20, 20);
  const Cholesky factor(A);
  Eigen::MatrixXd X = Eigen::MatrixXd::Random(A.size(), 8);
  factor.solve_in_place(X);
  const long before = allocations;
  for (int repeat = 0; repeat < 10; ++repeat) factor.solve_in_place(X);
  EXPECT_EQ(allocations - before, 0);
}

TEST(Allocation, GcmsBodiesDoNotAllocate) {
  test::BoxOptions box;
  box.cells = {12, 1, 1};
  const Mesh mesh = test::box_mesh(ElementType::Hex8, box);
  Diagnostics diagnostics;
  GcmsModel model = test::full_corotated(assemble(mesh, {}, diagnostics), {{"end", mesh.node_sets.at("x1")}});
  const int n = 3 * model.fields();
  for (const bool damping : {false, true}) {
    if (damping) {
      model.P = Eigen::MatrixXd::Random(9, n);
      model.D_modal = Eigen::MatrixXd::Identity(9, 9);
    }
    const auto body = make_gcms_body("body", model);
    const auto room = body->workspace();
    MarkerSpec end;
    end.name = "end";
    const int marker = body->add_marker(end);
    Eigen::VectorXd q(n), v(n), r = Eigen::VectorXd::Zero(n);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(n, n);
    const Eigen::Vector3d gravity(0, 0, -9.81);
    body->place({}, q, v);
    MarkerKinematics kinematics;
    body->marker(marker, q, v, true, *room, kinematics);
    const long before = allocations;
    body->add_residual(q, v, v, 1, gravity, *room, r);
    EXPECT_EQ(allocations - before, 0) << "residual";
    body->jacobian(q, v, v, 1, gravity, 1, 1, 1, *room, J);
    EXPECT_EQ(allocations - before, 0) << "jacobian";
    body->marker(marker, q, v, true, *room, kinematics);
    body->add_marker_hessian(marker, q, Vector12d::Ones(), 1, *room, J);
    EXPECT_EQ(allocations - before, 0) << "markers";
    body->energy(q, v, gravity, *room);
    EXPECT_EQ(allocations - before, 0) << "energy";
  }
}

TEST(Allocation, StressRecoveryAllocatesNoMoreForMoreElementsOrColumns) {
  const auto count = [](ElementType type, int cells, int columns) {
    test::BoxOptions options;
    options.cells = {cells, cells, cells};
    const Mesh mesh = test::box_mesh(type, options);
    const Eigen::MatrixXd u = Eigen::MatrixXd::Random(3 * mesh.node_count(), columns);
    recover_stress(mesh, u);  // tables and threads are made on the first call
    const long before = allocations;
    recover_stress(mesh, u);
    return allocations - before;
  };
  for (const ElementType type : all_element_types) {
    const long small = count(type, 2, 20);
    EXPECT_EQ(count(type, 2, 160), small) << name_of(type);
    // 27 times the elements: lists that double when they are full, five times each
    EXPECT_LT(count(type, 6, 20), small + 30) << name_of(type);
  }
}

TEST(Allocation, SystemsDoNotAllocatePerEvaluation) {
  System system;
  system.set_gravity({0, -9.81, 0});
  const int a = test::add_bar(system, "a", 1, {0, 0, 0}, {1, 0, 0});
  const int b = test::add_bar(system, "b", 1, {1, 0, 0}, {1, 1, 0});
  test::join_at(system, "hinge", JointKind::Revolute, -1, a, {0, 0, 0});
  test::join_at(system, "elbow", JointKind::Universal, a, b, {1, 0, 0});
  Load load;
  load.kind = LoadKind::Bushing;
  load.first = test::point(system, a, {0.1, 0, 0});
  load.second = test::point(system, b, {0.2, 0, 0});
  load.K = load.k = load.C = load.c = Eigen::Vector3d(3, 2, 1);
  system.add_load(load);
  SystemEquations equations(system);
  const State state = test::start(system, equations);
  const int n = equations.coordinates(), m = equations.constraints();
  Eigen::VectorXd r(n), g(m);
  Eigen::MatrixXd G(m, n);
  NewtonMatrix matrix(n + m, equations.blocks());
  const auto evaluate = [&] {
    equations.residual(state, 1, r);
    equations.jacobian(state, 1, {1, 2, 3, 1, 1}, matrix);
    equations.constraint(0, state.q, g);
    equations.constraint_gradient(0, state.q, G);
    equations.constraint_rate(0, state.q, state.v, g);
    equations.constraint_rate_gradient(0, state.q, state.v, G);
    equations.constraint_curvature(0, state.q, state.v, g);
  };
  evaluate();
  const long before = allocations;
  for (int repeat = 0; repeat < 10; ++repeat) evaluate();
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace lissom::allocation_test

#endif
