// Matrices with known eigenvalues, for the tests of factorisation and eigen-solver.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lissom/linalg/sparse.hpp"

namespace lissom::test {

// The seven-point Laplacian on a box of nx by ny by nz points with zero values outside: a cube has
// eigenvalues of multiplicity three and six.
inline SymmetricMatrix laplacian(int nx, int ny, int nz) {
  const auto index = [&](int i, int j, int k) { return i + nx * (j + ny * k); };
  std::vector<Eigen::Triplet<double>> entries;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        const int me = index(i, j, k);
        entries.emplace_back(me, me, 6.0);
        if (i + 1 < nx) entries.emplace_back(index(i + 1, j, k), me, -1.0);
        if (j + 1 < ny) entries.emplace_back(index(i, j + 1, k), me, -1.0);
        if (k + 1 < nz) entries.emplace_back(index(i, j, k + 1), me, -1.0);
      }
  SymmetricMatrix A{SparseMatrix(nx * ny * nz, nx * ny * nz)};
  A.lower.setFromTriplets(entries.begin(), entries.end());
  return A;
}

// Its eigenvalues, ascending.
inline std::vector<double> laplacian_eigenvalues(int nx, int ny, int nz) {
  const auto line = [](int i, int n) { return 2 - 2 * std::cos(M_PI * (i + 1) / (n + 1)); };
  std::vector<double> values;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) values.push_back(line(i, nx) + line(j, ny) + line(k, nz));
  std::sort(values.begin(), values.end());
  return values;
}

inline SymmetricMatrix diagonal_matrix(const Eigen::VectorXd& d) {
  SymmetricMatrix A{SparseMatrix(d.size(), d.size())};
  A.lower.setIdentity();
  A.lower.makeCompressed();
  for (Eigen::Index i = 0; i < d.size(); ++i) A.lower.valuePtr()[i] = d[i];
  return A;
}

}  // namespace lissom::test
