// The polynomial form of a SLAP model (SlapPolynomial), made from its parts and the states of its training.
//
// R is orthogonal, and with a frame B(e) that turns with the part (linear_frames.hpp), R B = I + F, Delta = B -
// A, it drops out of the rows y = c_E : E + sum_q e_q c_q : R of a part but for terms of second order in F:
//   R ~ B',   sym E ~ (B' B - I) / 2 - sym(B' Delta),   y_r = e' S_r e,
//   S_r[q, p] = sym_qp { c_E : B_q' B_p / 2 - c_E : B_p' Delta_q + c_q : B_p' } - tr(c_E) / 2 [q = p = 0].
// The rows of all parts stand in one matrix, whose QR decomposition leaves at most (m + 1)(m + 2) / 2 of them,
// however many parts there are, and of which only what the training needs is kept.
#pragma once

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

struct PolynomialOptions {
  // Rows span the derivatives of y at the training states, and y, to this, relative to their largest. 1e-4 is
  // a quarter quicker and costs a factor of two where the training is left; 0 keeps all.
  double cut = 1e-6;
  // Places turn with axes that are linear in e only if that moves them by less than this [m].
  double tolerance = 1e-9;
};

// Of w of each part see linear_frames.hpp; states (m by k) are those of the training. Gives model.polynomial,
// with its measures, and the linear axes of frames. Throws Error where a state has no rotation.
void add_polynomial(SlapModel& model, const std::vector<Eigen::MatrixXd>& w,
                    const Eigen::Ref<const Eigen::MatrixXd>& states, const PolynomialOptions& options = {});

// What speaks against running a model on its polynomial, as the end of a sentence; empty where nothing does: it
// moves a node by more than `limit` [m] in the training states, or bodies are too strained, or there are too
// many unknowns.
inline constexpr double polynomial_misfit_limit = 1e-3;
inline constexpr int polynomial_largest_order = 60;
std::string too_far_for_polynomial(const SlapModel& model, double limit);

// How far the polynomial is from the exact kernel at a state: u = (J'J + w0^2 M)^-1 (g_polynomial - g_exact)
// with J = dy/deta and w0 = 2 pi 10 Hz, which stands for motions that meet no stiffness, in metres by the
// model's scale (root of the sum of squares); and the same of the exact force itself, to compare with.
struct PolynomialError {
  double displacement = 0;  // [m]
  double relative = 0;      // |g_polynomial - g_exact| / |g_exact|, in the same measure; 0 where both vanish
};
class PolynomialCheck {
 public:
  // The model outlives it and has a polynomial.
  explicit PolynomialCheck(const SlapModel& model);
  ~PolynomialCheck();
  PolynomialCheck(PolynomialCheck&&) noexcept;
  PolynomialCheck& operator=(PolynomialCheck&&) noexcept;
  // Throws Error where the exact kernel finds no rotation.
  PolynomialError at(const Eigen::Ref<const Eigen::VectorXd>& eta);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lissom
