// One bare CHOLMOD factorisation (METIS ordering, supernodal) of K + s M of a mesh: what every ratio is measured against.
// Usage: bare_cholmod MESH UNITS MATERIAL SHIFT     (OMP_NUM_THREADS sets the threads of BLAS)
// Prints a JSON object with seconds of analysis and of the numerical factorisation, nonzeros and flops.
#include <cholmod.h>
#include <fmt/format.h>

#include <cstdlib>

#include "lissom/core/resources.hpp"
#include "lissom/core/units.hpp"
#include "lissom/fe/assembly.hpp"
#include "lissom/fe/mesh_reader.hpp"
#include "lissom/fe/units_conversion.hpp"

using namespace lissom;

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bare_cholmod MESH UNITS MATERIAL SHIFT\n");
    return 2;
  }
  // the matrix
  Diagnostics diagnostics;
  Mesh mesh = read_mesh(argv[1], {}, diagnostics);
  mesh.materials = {parse_material(argv[3])};
  std::fill(mesh.element_material.begin(), mesh.element_material.end(), 0);
  convert_to_si(mesh, parse_unit_system(argv[2]));
  const FeModel model = assemble(mesh, {}, diagnostics);
  const SymmetricMatrix A = add(model.K, -std::atof(argv[4]), model.M);

  // CHOLMOD as anybody would call it
  cholmod_common common;
  cholmod_l_start(&common);
  common.supernodal = CHOLMOD_SUPERNODAL;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_METIS;
  const auto n = static_cast<size_t>(A.size());
  const auto entries = static_cast<size_t>(A.lower.nonZeros());
  cholmod_sparse* matrix = cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &common);
  std::copy_n(A.lower.outerIndexPtr(), n + 1, static_cast<SuiteSparse_long*>(matrix->p));
  std::copy_n(A.lower.innerIndexPtr(), entries, static_cast<SuiteSparse_long*>(matrix->i));
  std::copy_n(A.lower.valuePtr(), entries, static_cast<double*>(matrix->x));
  Timer analysis;
  cholmod_factor* L = cholmod_l_analyze(matrix, &common);
  const double analysis_seconds = analysis.seconds();
  Timer numeric;
  cholmod_l_factorize(matrix, L, &common);
  const double numeric_seconds = numeric.seconds();
  const bool good = common.status == CHOLMOD_OK;
  fmt::print(
      "{{\"n\": {}, \"analysis_seconds\": {}, \"numeric_seconds\": {}, \"nonzeros\": {}, \"flops\": {}, "
      "\"peak_memory_bytes\": {}}}\n",
      n, analysis_seconds, numeric_seconds, common.lnz, common.fl, peak_memory_bytes());
  cholmod_l_free_factor(&L, &common);
  cholmod_l_free_sparse(&matrix, &common);
  cholmod_l_finish(&common);
  return good ? 0 : 1;
}
