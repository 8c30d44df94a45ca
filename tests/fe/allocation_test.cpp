// Hot loops do not allocate: malloc is counted while they run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "lissom/fe/element.hpp"
#include "lissom/fe/stress_recovery.hpp"
#include "lissom/linalg/cholesky.hpp"
#include "tests/allocation_counter.hpp"
#include "tests/fe/test_meshes.hpp"
#include "tests/linalg/test_matrices.hpp"

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

namespace lissom {
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

}  // namespace
}  // namespace lissom

#endif
