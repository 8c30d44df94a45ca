#include "lissom/rom/pod/pod_points.hpp"

#include <algorithm>

#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector4d;

bool PodElements::damped() const {
  return std::any_of(elements.begin(), elements.end(),
                     [](const AncfElementPlace& place) { return place.properties.damping != 0; });
}

MatrixXd pod_columns(const PodElements& model) {
  MatrixXd Z(model.Psi.rows(), model.Psi.cols() + 1);
  Z.col(0) = model.E_ref;
  Z.rightCols(model.Psi.cols()) = model.Psi;
  return Z;
}

// s_1' = -s_3' and s_1'' = -s_3'': positions enter by their difference, so that short elements far from the
// origin lose no digits.
PodPoints pod_points(const PodElements& model, const MatrixXd& Z, std::span<const GaussPoint> rule,
                     int first_element, int elements, bool curvature) {
  const Index D = model.dimension, n = Z.cols(), count = static_cast<Index>(rule.size()) * elements;
  PodPoints out;
  out.slope.resize(D * count, n);
  if (curvature) out.curvature.resize(D * count, n);
  out.weight.resize(count);
  Index g = 0;
  for (int e = first_element; e < first_element + elements; ++e) {
    const AncfElementPlace& place = model.elements[static_cast<size_t>(e)];
    const double l = place.properties.length;
    const MatrixXd apart = Z.middleRows(place.second, D) - Z.middleRows(place.first, D);
    const auto start = Z.middleRows(place.first + D, D), end = Z.middleRows(place.second + D, D);
    for (const GaussPoint& point : rule) {
      const Vector4d s = ancf_shape_slope(point.xi, l);
      out.slope.middleRows(D * g, D) = s[2] * apart + s[1] * start + s[3] * end;
      if (curvature) {
        const Vector4d k = ancf_shape_curvature(point.xi, l);
        out.curvature.middleRows(D * g, D) = k[2] * apart + k[1] * start + k[3] * end;
      }
      out.weight[g] = l * point.weight;
      out.element.push_back(e);
      ++g;
    }
  }
  return out;
}

MatrixXd pod_bending(const PodElements& model, const MatrixXd& Z, bool damping) {
  constexpr int at_a_time = 512;
  const int count = static_cast<int>(model.elements.size());
  const std::span<const GaussPoint> rule = ancf_bending_points(AncfLaw{});
  MatrixXd K = MatrixXd::Zero(Z.cols(), Z.cols());
  for (int first = 0; first < count; first += at_a_time) {
    const PodPoints points = pod_points(model, Z, rule, first, std::min(at_a_time, count - first), true);
    MatrixXd scaled = points.curvature;
    for (Index g = 0; g < points.weight.size(); ++g) {
      const AncfProperties& p = model.elements[static_cast<size_t>(points.element[g])].properties;
      scaled.middleRows(model.dimension * g, model.dimension) *=
          p.EI * points.weight[g] * (damping ? p.damping : 1);
    }
    gemm(true, false, 1, points.curvature, scaled, 1, K);
  }
  return 0.5 * (K + K.transpose());
}

}  // namespace lissom
