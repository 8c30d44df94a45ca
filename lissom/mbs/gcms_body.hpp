// Generalized component modes: constant mass matrix, co-rotated stiffness (paper 002, Sec. 2, with the polar
// rotation and its true derivative of the errata).
//
// Notation: s scalar fields, coordinates q = (q_1, .., q_s) with q_a in R^3, a node is at sum_a S_a(node)
// q_a; M_hat = I; field 0 is constant, 1..3 are affine, (X - x_c) T. Q = [q_1 q_2 q_3], C = Q T^-1, A =
// polar(C). z_a = A' q_a - (rest)_a, V = z' K_hat z / 2.
#pragma once

#include <memory>
#include <string>

#include "lissom/cms/gcms_model.hpp"
#include "lissom/mbs/body.hpp"

namespace lissom {

// Throws InputError where the model is not one of the mass-orthonormal scalar basis.
std::unique_ptr<Body> make_gcms_body(const std::string& name, const GcmsModel& model);

}  // namespace lissom
