#include "lissom/mbs/ancf_element.hpp"

#include "lissom/mbs/ancf_kernel.hpp"

namespace lissom {

namespace kernel = ancf_kernel;

const std::vector<std::pair<std::string, AxialStrain>>& axial_strain_names() {
  static const std::vector<std::pair<std::string, AxialStrain>> names = {
      {"green", AxialStrain::Green}, {"engineering", AxialStrain::Engineering}};
  return names;
}

const std::vector<std::pair<std::string, BendingStrain>>& bending_strain_names() {
  static const std::vector<std::pair<std::string, BendingStrain>> names = {
      {"second-derivative", BendingStrain::SecondDerivative},
      {"material-curvature", BendingStrain::MaterialCurvature}};
  return names;
}

Eigen::Vector4d ancf_shape(double xi, double l) {
  const double x2 = xi * xi, x3 = x2 * xi;
  return {1 - 3 * x2 + 2 * x3, l * (xi - 2 * x2 + x3), 3 * x2 - 2 * x3, l * (x3 - x2)};
}

Eigen::Vector4d ancf_shape_slope(double xi, double l) {
  const double h = 6 * xi * (1 - xi);
  return {-h / l, 1 - xi * (4 - 3 * xi), h / l, xi * (3 * xi - 2)};
}

Eigen::Vector4d ancf_shape_curvature(double xi, double l) {
  const double k = (6 - 12 * xi) / (l * l);
  return {-k, (6 * xi - 4) / l, k, (6 * xi - 2) / l};
}

namespace {

template <size_t n>
std::vector<GaussPoint> points_of(const kernel::Point (&rule)[n]) {
  std::vector<GaussPoint> points;
  for (const kernel::Point& g : rule) points.push_back({g.xi, g.weight});
  return points;
}

template <int D>
kernel::Differences<double, D> differences_of(const Eigen::Matrix<double, 4 * D, 1>& e, double l) {
  kernel::Differences<double, D> z;
  for (int i = 0; i < D; ++i) {
    z.d[i] = e[2 * D + i] - e[i];
    z.u[i] = l * e[D + i] - z.d[i];
    z.w[i] = l * e[3 * D + i] - z.d[i];
  }
  return z;
}

template <int D>
void to_nodes(const kernel::Forces<double, D>& in, double l, Eigen::Matrix<double, 4 * D, 1>& force) {
  double f[4 * D];
  kernel::to_nodes<double, D>(in, l, f);
  for (int i = 0; i < 4 * D; ++i) force[i] = f[i];
}

template <int D>
void to_nodes(const kernel::Forces<double, D>& in, double l, Eigen::Matrix<double, 4 * D, 4 * D>& tangent) {
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j)
          tangent(a * D + i, b * D + j) = kernel::factor_of(a, l) * kernel::factor_of(b, l) *
                                          in.K[kernel::block_of[a] * D + i][kernel::block_of[b] * D + j];
}

}  // namespace

std::span<const GaussPoint> ancf_axial_points() {
  static const std::vector<GaussPoint> points = points_of(kernel::five);
  return points;
}

// Three points for both laws. r'' is linear, so that they are exact for the second derivative. The material
// curvature is no polynomial; where |r'| is constant along the element it is integrated exactly too, and the
// error is otherwise of sixth order in l, two more than that of the element itself. Exudyn takes the same.
std::span<const GaussPoint> ancf_bending_points(const AncfLaw&) {
  static const std::vector<GaussPoint> points = points_of(kernel::three);
  return points;
}

template <int D>
double ancf_density(const AncfLaw& law, bool axial, double stiffness,
                    const Eigen::Matrix<double, 2 * D, 1>& x, Eigen::Matrix<double, 2 * D, 1>& gradient,
                    Eigen::Matrix<double, 2 * D, 2 * D>* hessian) {
  double s[D], c[D], by_s[D], by_c[D], ss[D][D], cs[D][D], cc[D][D];
  for (int i = 0; i < D; ++i) {
    s[i] = x[i];
    c[i] = x[D + i];
    by_c[i] = 0;
    for (int j = 0; j < D; ++j) ss[i][j] = cs[i][j] = cc[i][j] = 0;
  }
  double value = 0;
  if (axial) {
    value = law.axial == AxialStrain::Green
                ? kernel::axial_density<AxialStrain::Green, true, double, D>(s, by_s, ss)
                : kernel::axial_density<AxialStrain::Engineering, true, double, D>(s, by_s, ss);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < i; ++j) ss[j][i] = ss[i][j];
  } else if (law.bending == BendingStrain::SecondDerivative) {
    value = kernel::dot<double, D>(c, c) / 2;
    for (int i = 0; i < D; ++i) {
      by_s[i] = 0;
      by_c[i] = c[i];
      cc[i][i] = 1;
    }
  } else {
    value = kernel::curvature_density<true, double, D>(s, c, by_s, by_c, ss, cs, cc);
  }
  for (int i = 0; i < D; ++i) {
    gradient[i] = stiffness * by_s[i];
    gradient[D + i] = stiffness * by_c[i];
    if (!hessian) continue;
    for (int j = 0; j < D; ++j) {
      (*hessian)(i, j) = stiffness * ss[i][j];
      (*hessian)(D + i, j) = (*hessian)(j, D + i) = stiffness * cs[i][j];
      (*hessian)(D + i, D + j) = stiffness * cc[i][j];
    }
  }
  return stiffness * value;
}

// paper 004, Eq. 9
Eigen::Matrix4d ancf_mass(const AncfProperties& p) {
  const double l = p.length;
  Eigen::Matrix4d M;
  M << 156, 22 * l, 54, -13 * l,              //
      22 * l, 4 * l * l, 13 * l, -3 * l * l,  //
      54, 13 * l, 156, -22 * l,               //
      -13 * l, -3 * l * l, -22 * l, 4 * l * l;
  return p.mass * l / 420 * M;
}

Eigen::Matrix4d ancf_bending_stiffness(const AncfProperties& p) {
  const double l = p.length;
  Eigen::Matrix4d K;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      K(a, b) = p.EI / (l * l * l) * kernel::factor_of(a, l) * kernel::factor_of(b, l) *
                kernel::bending_matrix[kernel::block_of[a]][kernel::block_of[b]];
  return K;
}

template <int D>
double ancf_elastic(const AncfLaw& law, const AncfProperties& p, const Eigen::Matrix<double, 4 * D, 1>& e,
                    Eigen::Matrix<double, 4 * D, 1>& force, Eigen::Matrix<double, 4 * D, 4 * D>* tangent) {
  const kernel::Differences<double, D> z = differences_of<D>(e, p.length);
  kernel::Forces<double, D> sum;
  if (tangent) {
    sum.template clear<true>();
    kernel::add_elastic<true>(law, p, z, 1, sum);
    sum.mirror();
    to_nodes<D>(sum, p.length, *tangent);
  } else {
    sum.template clear<false>();
    kernel::add_elastic<false>(law, p, z, 1, sum);
  }
  to_nodes<D>(sum, p.length, force);
  return sum.energy;
}

template <int D>
double ancf_damping(const AncfLaw& law, const AncfProperties& p, const Eigen::Matrix<double, 4 * D, 1>& e,
                    const Eigen::Matrix<double, 4 * D, 1>& rate, Eigen::Matrix<double, 4 * D, 1>& force,
                    Eigen::Matrix<double, 4 * D, 4 * D>* by_e, Eigen::Matrix<double, 4 * D, 4 * D>* by_rate) {
  const kernel::Differences<double, D> z = differences_of<D>(e, p.length),
                                       v = differences_of<D>(rate, p.length);
  kernel::Forces<double, D> sum;
  const auto derivative = [&](Eigen::Matrix<double, 4 * D, 4 * D>* to, double cq, double cv) {
    if (!to) return;
    sum.template clear<true>();
    kernel::add_damping<true>(law, p, z, v, cq, cv, sum);
    to_nodes<D>(sum, p.length, *to);
  };
  derivative(by_e, 1, 0);
  derivative(by_rate, 0, 1);
  sum.template clear<false>();
  kernel::add_damping<false>(law, p, z, v, 0, 0, sum);
  to_nodes<D>(sum, p.length, force);
  return sum.power;
}

#define LISSOM_ANCF(D)                                                                                      \
  template double ancf_density<D>(const AncfLaw&, bool, double, const Eigen::Matrix<double, 2 * D, 1>&,     \
                                  Eigen::Matrix<double, 2 * D, 1>&, Eigen::Matrix<double, 2 * D, 2 * D>*);  \
  template double ancf_elastic<D>(const AncfLaw&, const AncfProperties&,                                    \
                                  const Eigen::Matrix<double, 4 * D, 1>&, Eigen::Matrix<double, 4 * D, 1>&, \
                                  Eigen::Matrix<double, 4 * D, 4 * D>*);                                    \
  template double ancf_damping<D>(                                                                          \
      const AncfLaw&, const AncfProperties&, const Eigen::Matrix<double, 4 * D, 1>&,                        \
      const Eigen::Matrix<double, 4 * D, 1>&, Eigen::Matrix<double, 4 * D, 1>&,                             \
      Eigen::Matrix<double, 4 * D, 4 * D>*, Eigen::Matrix<double, 4 * D, 4 * D>*)
LISSOM_ANCF(2);
LISSOM_ANCF(3);
#undef LISSOM_ANCF

}  // namespace lissom
