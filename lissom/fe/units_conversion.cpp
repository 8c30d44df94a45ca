#include "lissom/fe/units_conversion.hpp"

#include "lissom/core/error.hpp"

namespace lissom {

namespace {

int rotations(const Dof& dof) {
  return dof.direction >= 3 ? 1 : 0;
}

// Multiplies every entry with the factor for the number of rotations that its row and column have.
template <class Factor>
void scale(SymmetricMatrix& matrix, const std::vector<Dof>& dofs, Factor factor) {
  const double by_rotations[] = {factor(0), factor(1), factor(2)};
  for (int j = 0; j < matrix.lower.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(matrix.lower, j); entry; ++entry)
      entry.valueRef() *= by_rotations[rotations(dofs[entry.row()]) + rotations(dofs[j])];
}

}  // namespace

void convert_to_si(Mesh& mesh, const UnitSystem& units) {
  mesh.points *= units.length;
  const double stress = units.stress(), density = units.density();
  for (Material& material : mesh.materials) {
    if (material.isotropic) material.isotropic->E *= stress;
    if (Orthotropic* o = material.orthotropic ? &*material.orthotropic : nullptr)
      for (double* modulus : {&o->E1, &o->E2, &o->E3, &o->G12, &o->G13, &o->G23}) *modulus *= stress;
    if (material.density) *material.density *= density;
  }
}

void convert_to_si(FeModel& model, const UnitSystem& units) {
  const auto count = static_cast<int>(model.dofs.size());
  LISSOM_ASSERT(count == model.K.size() && count == model.M.size());
  model.points *= units.length;
  scale(model.K, model.dofs, [&](int n) { return units.stiffness(n); });
  scale(model.M, model.dofs, [&](int n) { return units.mass_entry(n); });
  model.node_mass.lower *= units.mass_entry(0);
  // u [m] = recovery * q: a column of a rotation holds lever arms
  LISSOM_ASSERT(model.recovery.size() == 0 || model.recovery.cols() == count);
  for (int j = 0; j < model.recovery.outerSize(); ++j)
    if (rotations(model.dofs[j]) == 1)
      for (SparseMatrix::InnerIterator entry(model.recovery, j); entry; ++entry)
        entry.valueRef() *= units.length;
}

}  // namespace lissom
