// The ANCF element against energies written down independently, differentiated by complex steps and by
// hyper-dual numbers (exact to round-off), and against the closed form of paper 004.
#include "lissom/mbs/ancf_element.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "tests/mbs/marker_support.hpp"

namespace lissom::ancf_element_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector4d;
using Eigen::VectorXd;
using test::Random;

// a + x e1 + y e2 + xy e1 e2 with e1^2 = e2^2 = 0
struct Hyper {
  double a = 0, x = 0, y = 0, xy = 0;
  Hyper() = default;
  Hyper(double value) : a(value) {}  // NOLINT: numbers are numbers
  Hyper(double a_, double x_, double y_, double xy_) : a(a_), x(x_), y(y_), xy(xy_) {}
  static Hyper map(const Hyper& u, double f, double f1, double f2) {
    return {f, f1 * u.x, f1 * u.y, f1 * u.xy + f2 * u.x * u.y};
  }
};
Hyper operator+(const Hyper& u, const Hyper& v) {
  return {u.a + v.a, u.x + v.x, u.y + v.y, u.xy + v.xy};
}
Hyper operator-(const Hyper& u, const Hyper& v) {
  return {u.a - v.a, u.x - v.x, u.y - v.y, u.xy - v.xy};
}
Hyper operator*(const Hyper& u, const Hyper& v) {
  return {u.a * v.a, u.a * v.x + u.x * v.a, u.a * v.y + u.y * v.a,
          u.a * v.xy + u.x * v.y + u.y * v.x + u.xy * v.a};
}
Hyper operator/(const Hyper& u, const Hyper& v) {
  return u * Hyper::map(v, 1 / v.a, -1 / (v.a * v.a), 2 / (v.a * v.a * v.a));
}
Hyper sqrt(const Hyper& u) {
  const double r = std::sqrt(u.a);
  return Hyper::map(u, r, 1 / (2 * r), -1 / (4 * r * u.a));
}

struct Abscissa {
  double x, weight;
};
// Gauss-Legendre on [0, 1] from the closed forms
std::vector<Abscissa> five_points() {
  const double in = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3,
               out = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
  const double w_in = (322 + 13 * std::sqrt(70.0)) / 1800, w_out = (322 - 13 * std::sqrt(70.0)) / 1800;
  return {{(1 - out) / 2, w_out},
          {(1 - in) / 2, w_in},
          {0.5, 64.0 / 225},
          {(1 + in) / 2, w_in},
          {(1 + out) / 2, w_out}};
}
std::vector<Abscissa> three_points() {
  const double out = std::sqrt(0.6);
  return {{(1 - out) / 2, 5.0 / 18}, {0.5, 4.0 / 9}, {(1 + out) / 2, 5.0 / 18}};
}

template <class S>
using Vec = std::array<S, 3>;
template <class S>
S dot(const Vec<S>& u, const Vec<S>& v) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}
template <class S>
Vec<S> cross(const Vec<S>& u, const Vec<S>& v) {
  return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

// sum of weights times nodal vectors, in space
template <class S>
Vec<S> combine(const Vector4d& weights, const std::vector<S>& e, int D) {
  Vec<S> r = {S(0.0), S(0.0), S(0.0)};
  for (int a = 0; a < 4; ++a)
    for (int k = 0; k < D; ++k) r[k] = r[k] + S(weights[a]) * e[a * D + k];
  return r;
}
Vector4d slope_weights(double xi, double l) {
  return {(-6 * xi + 6 * xi * xi) / l, 1 - 4 * xi + 3 * xi * xi, (6 * xi - 6 * xi * xi) / l,
          3 * xi * xi - 2 * xi};
}
Vector4d curvature_weights(double xi, double l) {
  return {(-6 + 12 * xi) / (l * l), (-4 + 6 * xi) / l, (6 - 12 * xi) / (l * l), (6 * xi - 2) / l};
}

template <class S>
S energy_of(const AncfLaw& law, const AncfProperties& p, const std::vector<S>& e, int D) {
  using std::sqrt;
  S sum(0.0);
  for (const Abscissa& g : five_points()) {
    const Vec<S> s = combine(slope_weights(g.x, p.length), e, D);
    const S strain =
        law.axial == AxialStrain::Green ? (dot(s, s) - S(1.0)) / S(2.0) : sqrt(dot(s, s)) - S(1.0);
    sum = sum + S(g.weight * p.length * p.EA / 2) * strain * strain;
  }
  for (const Abscissa& g : three_points()) {
    const Vec<S> s = combine(slope_weights(g.x, p.length), e, D);
    const Vec<S> c = combine(curvature_weights(g.x, p.length), e, D);
    const Vec<S> n = cross(s, c);
    const S square =
        law.bending == BendingStrain::SecondDerivative ? dot(c, c) : dot(n, n) / (dot(s, s) * dot(s, s));
    sum = sum + S(g.weight * p.length * p.EI / 2) * square;
  }
  return sum;
}

// half the power that damping takes out, by rates of strain written with cross products
template <class S>
S dissipation_of(const AncfLaw& law, const AncfProperties& p, const std::vector<S>& e,
                 const std::vector<S>& rate, int D) {
  using std::sqrt;
  S sum(0.0);
  for (const Abscissa& g : five_points()) {
    const Vec<S> s = combine(slope_weights(g.x, p.length), e, D);
    const Vec<S> v = combine(slope_weights(g.x, p.length), rate, D);
    const S strain = law.axial == AxialStrain::Green ? dot(s, v) : dot(s, v) / sqrt(dot(s, s));
    sum = sum + S(g.weight * p.length * p.EA * p.damping / 2) * strain * strain;
  }
  for (const Abscissa& g : three_points()) {
    const Vec<S> s = combine(slope_weights(g.x, p.length), e, D);
    const Vec<S> c = combine(curvature_weights(g.x, p.length), e, D);
    const Vec<S> v = combine(slope_weights(g.x, p.length), rate, D);
    Vec<S> change = combine(curvature_weights(g.x, p.length), rate, D);
    if (law.bending == BendingStrain::MaterialCurvature) {
      // kappa' - omega x kappa
      const S m = dot(s, s);
      const Vec<S> one = cross(v, c), other = cross(s, change), sc = cross(s, c), sv = cross(s, v);
      Vec<S> kappa, omega;
      for (int k = 0; k < 3; ++k) {
        kappa[k] = sc[k] / m;
        omega[k] = sv[k] / m;
      }
      const Vec<S> turned = cross(omega, kappa);
      for (int k = 0; k < 3; ++k)
        change[k] = (one[k] + other[k]) / m - S(2.0) * kappa[k] * dot(s, v) / m - turned[k];
    }
    sum = sum + S(g.weight * p.length * p.EI * p.damping / 2) * dot(change, change);
  }
  return sum;
}

std::vector<AncfLaw> all_laws() {
  std::vector<AncfLaw> laws;
  for (const auto& axial : axial_strain_names())
    for (const auto& bending : bending_strain_names()) laws.push_back({axial.second, bending.second});
  return laws;
}

const AncfProperties properties{0.4, 700, 3, 0.9, 0.02};

// an element somewhere in space, bent and stretched by tens of percent
template <int D>
Eigen::Matrix<double, 4 * D, 1> bent(Random& random) {
  Eigen::Matrix<double, 4 * D, 1> e = 0.3 * random.vector(4 * D);
  const VectorXd direction = random.vector(D).normalized(), place = random.vector(D);
  e.template segment<D>(0) = place + 0.02 * random.vector(D);
  e.template segment<D>(D) += direction;
  e.template segment<D>(2 * D) = place + properties.length * direction + 0.05 * random.vector(D);
  e.template segment<D>(3 * D) += direction;
  return e;
}

template <int D>
struct ElementErrors {
  double energy = 0, force = 0, tangent = 0, density = 0;
};

template <int D>
ElementErrors<D> elastic_errors(const AncfLaw& law, Random& random) {
  constexpr int n = 4 * D;
  using Vector = Eigen::Matrix<double, n, 1>;
  using Matrix = Eigen::Matrix<double, n, n>;
  const Vector e = bent<D>(random);
  Vector f, f_only, expected;
  Matrix K, expected_K;
  const double U = ancf_elastic<D>(law, properties, e, f, &K);
  EXPECT_EQ(ancf_elastic<D>(law, properties, e, f_only, nullptr), U);
  EXPECT_EQ(f, f_only);
  const double expected_U =
      energy_of<double>(law, properties, std::vector<double>(e.data(), e.data() + n), D);
  for (int i = 0; i < n; ++i) {
    std::vector<std::complex<double>> z(e.data(), e.data() + n);
    z[i] += std::complex<double>(0, 1e-30);
    expected[i] = energy_of(law, properties, z, D).imag() / 1e-30;
    for (int j = 0; j < n; ++j) {
      std::vector<Hyper> h(e.data(), e.data() + n);
      h[i].x = 1;
      h[j].y = 1;
      expected_K(i, j) = energy_of(law, properties, h, D).xy;
    }
  }

  // from the densities at the points
  Vector sampled = Vector::Zero();
  Matrix sampled_K = Matrix::Zero();
  double sampled_U = 0;
  for (const bool axial : {true, false})
    for (const GaussPoint& g : axial ? ancf_axial_points() : ancf_bending_points(law)) {
      Eigen::Matrix<double, 2 * D, n> B = Eigen::Matrix<double, 2 * D, n>::Zero();
      for (int a = 0; a < 4; ++a) {
        B.template block<D, D>(0, a * D).diagonal().setConstant(ancf_shape_slope(g.xi, properties.length)[a]);
        B.template block<D, D>(D, a * D).diagonal().setConstant(
            ancf_shape_curvature(g.xi, properties.length)[a]);
      }
      Eigen::Matrix<double, 2 * D, 1> gradient;
      Eigen::Matrix<double, 2 * D, 2 * D> hessian;
      const double w = g.weight * properties.length;
      const Eigen::Matrix<double, 2 * D, 1> x = B * e;
      sampled_U +=
          w * ancf_density<D>(law, axial, axial ? properties.EA : properties.EI, x, gradient, &hessian);
      sampled += w * B.transpose() * gradient;
      sampled_K += w * B.transpose() * hessian * B;
    }
  const double density = std::max(
      {std::abs(sampled_U - U) / U, (sampled - f).norm() / f.norm(), (sampled_K - K).norm() / K.norm()});
  return {std::abs(U - expected_U) / expected_U, (f - expected).norm() / expected.norm(),
          (K - expected_K).norm() / expected_K.norm(), density};
}

template <int D>
void check_elastic() {
  Random random(7);
  for (const AncfLaw& law : all_laws())
    for (int sample = 0; sample < 5; ++sample) {
      const ElementErrors<D> errors = elastic_errors<D>(law, random);
      // round-off, of terms that are up to a hundred times the result
      EXPECT_LT(errors.energy, 1e-12);
      EXPECT_LT(errors.force, 1e-12);
      EXPECT_LT(errors.tangent, 1e-12);
      EXPECT_LT(errors.density, 1e-12);
    }
}

TEST(AncfElement, ForceAndTangentOfPlanarElementsAreDerivativesOfTheEnergy) {
  check_elastic<2>();
}
TEST(AncfElement, ForceAndTangentOfSpatialElementsAreDerivativesOfTheEnergy) {
  check_elastic<3>();
}

template <int D>
void check_damping() {
  constexpr int n = 4 * D;
  Random random(8);
  for (const AncfLaw& law : all_laws())
    for (int sample = 0; sample < 5; ++sample) {
      const Eigen::Matrix<double, n, 1> e = bent<D>(random), rate = random.vector(n);
      Eigen::Matrix<double, n, 1> f, expected;
      Eigen::Matrix<double, n, n> by_e, by_rate, expected_e, expected_rate;
      const double power = ancf_damping<D>(law, properties, e, rate, f, &by_e, &by_rate);
      const std::vector<Hyper> e0(e.data(), e.data() + n), v0(rate.data(), rate.data() + n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          std::vector<Hyper> x = e0, v = v0;
          v[i].x = 1;
          x[j].y = 1;
          const Hyper mixed = dissipation_of(law, properties, x, v, D);
          expected[i] = mixed.x;
          expected_e(i, j) = mixed.xy;
          v[j].y = 1;
          expected_rate(i, j) = dissipation_of(law, properties, e0, v, D).xy;
        }
      // round-off as above
      EXPECT_LT((f - expected).norm(), 1e-12 * f.norm());
      EXPECT_LT((by_e - expected_e).norm(), 1e-12 * by_rate.norm() * rate.norm());
      EXPECT_LT((by_rate - expected_rate).norm(), 1e-12 * by_rate.norm());
      EXPECT_NEAR(power, f.dot(rate), 1e-12 * power);
      EXPECT_GT(power, 0);
      // no motion is driven by damping
      const double smallest =
          Eigen::SelfAdjointEigenSolver<MatrixXd>(MatrixXd(by_rate)).eigenvalues().minCoeff();
      EXPECT_GT(smallest, -1e-12 * by_rate.norm());
    }
}

TEST(AncfElement, DampingOfPlanarElementsIsTheDerivativeOfTheDissipation) {
  check_damping<2>();
}
TEST(AncfElement, DampingOfSpatialElementsIsTheDerivativeOfTheDissipation) {
  check_damping<3>();
}

TEST(AncfElement, TheForceIsThatOfThePapersClosedForm) {
  Random random(9);
  const AncfProperties& p = properties;
  const double l = p.length;
  for (int sample = 0; sample < 10; ++sample) {
    const Eigen::Matrix<double, 8, 1> e = bent<2>(random);
    const Eigen::Vector2d d = e.segment<2>(4) - e.segment<2>(0), a = l * e.segment<2>(2),
                          b = l * e.segment<2>(6);
    const double aa = a.dot(a), bb = b.dot(b), dd = d.dot(d), ab = a.dot(b), ad = a.dot(d), bd = b.dot(d);
    // Eq. 12
    const double A = 3 / (70 * l * l) * (aa + bb - 14 * l * l - 6 * ad - 6 * bd + 24 * dd);
    const double B = 1 / (280 * l) * (bb - aa + 2 * ab - 14 * l * l - 24 * ad + 36 * dd);
    const double C = 1 / (280 * l) * (aa - bb + 2 * ab - 14 * l * l - 24 * bd + 36 * dd);
    const double Dd = 1.0 / 420 * (12 * aa + bb - 3 * ab - 28 * l * l + 3 * ad - 3 * bd + 18 * dd);
    const double E = -1.0 / 840 * (3 * aa + 3 * bb - 4 * ab - 14 * l * l + 6 * ad + 6 * bd);
    const double F = 1.0 / 420 * (aa + 12 * bb - 3 * ab - 28 * l * l - 3 * ad + 3 * bd + 18 * dd);
    // Eq. 11, corrected
    Eigen::Matrix4d Kl, Kt;
    Kl << A, B, -A, C, B, Dd, -B, E, -A, -B, A, -C, C, E, -C, F;
    Kl *= p.EA / l;
    Kt << 12, 6 * l, -12, 6 * l, 6 * l, 4 * l * l, -6 * l, 2 * l * l, -12, -6 * l, 12, -6 * l, 6 * l,
        2 * l * l, -6 * l, 4 * l * l;
    Kt *= p.EI / (l * l * l);
    EXPECT_LT((ancf_bending_stiffness(p) - Kt).norm(), 1e-15 * Kt.norm());
    Eigen::Matrix<double, 8, 1> expected, f;
    for (int k = 0; k < 2; ++k) {
      Vector4d x;
      for (int i = 0; i < 4; ++i) x[i] = e[2 * i + k];
      const Vector4d y = (Kl + Kt) * x;
      for (int i = 0; i < 4; ++i) expected[2 * i + k] = y[i];
    }
    ancf_elastic<2>({}, p, e, f, nullptr);
    // round-off: the stretch is tens of percent, so that little cancels in the closed form
    EXPECT_LT((f - expected).norm(), 1e-12 * f.norm());
  }
}

TEST(AncfElement, TheMassMatrixIsThatOfThePaper) {
  const AncfProperties& p = properties;
  const double l = p.length, m = p.mass * l;
  // Eq. 9
  Eigen::Matrix4d expected;
  expected << 13.0 / 35, 11 * l / 210, 9.0 / 70, -13 * l / 420,  //
      11 * l / 210, l * l / 105, 13 * l / 420, -l * l / 140,     //
      9.0 / 70, 13 * l / 420, 13.0 / 35, -11 * l / 210,          //
      -13 * l / 420, -l * l / 140, -11 * l / 210, l * l / 105;
  EXPECT_LT((ancf_mass(p) - m * expected).norm(), 1e-15 * m);
  // and that of the shape functions: products of sixth degree, for which five points are exact
  Eigen::Matrix4d integral = Eigen::Matrix4d::Zero();
  for (const Abscissa& g : five_points())
    integral += m * g.weight * ancf_shape(g.x, l) * ancf_shape(g.x, l).transpose();
  EXPECT_LT((ancf_mass(p) - integral).norm(), 1e-14 * m);
}

TEST(AncfElement, ShapeFunctionsHaveTheirDerivatives) {
  const double l = 0.7, h = 1e-2;
  for (const double xi : {0.1, 0.35, 0.9}) {
    const auto slope = [&](auto f) {
      return Vector4d((8 * (f(xi + h, l) - f(xi - h, l)) - (f(xi + 2 * h, l) - f(xi - 2 * h, l))) /
                      (12 * h * l));
    };
    // exact of cubic functions, up to round-off over the step
    EXPECT_LT((slope(ancf_shape) - ancf_shape_slope(xi, l)).norm(), 1e-12);
    EXPECT_LT((slope(ancf_shape_slope) - ancf_shape_curvature(xi, l)).norm(), 1e-11);
  }
}

// a bent element and its rates in a rigid motion
template <int D>
void check_rigid(const AncfLaw& law, bool damping_is_objective) {
  Random random(10);
  constexpr int n = 4 * D;
  Eigen::Matrix<double, n, 1> e = Eigen::Matrix<double, n, 1>::Zero(), f;
  e[D] = e[3 * D] = 1;
  e[2 * D] = properties.length;
  // turned and moved: no strain
  const Eigen::Matrix3d R =
      D == 2 ? Eigen::AngleAxisd(2.1, Eigen::Vector3d::UnitZ()).toRotationMatrix() : random.rotation(2.1);
  const Eigen::Vector3d shift = Eigen::Vector3d(1, -2, 3);
  const auto move = [&](const Eigen::Matrix<double, n, 1>& x) {
    Eigen::Matrix<double, n, 1> y;
    for (int a = 0; a < 4; ++a) {
      y.template segment<D>(a * D) = R.topLeftCorner<D, D>() * x.template segment<D>(a * D);
      if (a % 2 == 0) y.template segment<D>(a * D) += shift.head<D>();
    }
    return y;
  };
  EXPECT_LT(ancf_elastic<D>(law, properties, move(e), f, nullptr), 1e-27 * properties.EA);
  // strain of round-off: 1e-16 of positions of some metres over the length
  EXPECT_LT(f.norm(), 1e-13 * properties.EA);

  const Eigen::Matrix<double, n, 1> x = bent<D>(random);
  Eigen::Matrix<double, n, 1> f_moved;
  const double U = ancf_elastic<D>(law, properties, x, f, nullptr);
  EXPECT_NEAR(ancf_elastic<D>(law, properties, move(x), f_moved, nullptr), U, 1e-13 * U);

  // rates of translation and of turning about z
  Eigen::Matrix<double, n, 1> translation, turning;
  for (int a = 0; a < 4; ++a) {
    translation.template segment<D>(a * D) = (a % 2 == 0 ? 1.0 : 0.0) * shift.head<D>();
    turning.template segment<D>(a * D).setZero();
    turning[a * D] = -x[a * D + 1];
    turning[a * D + 1] = x[a * D];
  }
  EXPECT_LT(ancf_damping<D>(law, properties, x, translation, f, nullptr, nullptr), 1e-24);
  const double power = ancf_damping<D>(law, properties, x, turning, f, nullptr, nullptr);
  if (damping_is_objective)
    EXPECT_LT(power, 1e-24);
  else
    EXPECT_GT(power, 1e-3);
}

TEST(AncfElement, RigidMotionsAreFree) {
  for (const AncfLaw& law : all_laws()) {
    // r'' of a bent beam turns with it, which its damping brakes
    check_rigid<2>(law, law.bending == BendingStrain::MaterialCurvature);
  }
  // in space a bent beam that turns about its tangent bends in ever other directions
  for (const AncfLaw& law : all_laws()) check_rigid<3>(law, false);
}

TEST(AncfElement, ABeamBentInAPlaneOfSpaceTurnsThereWithoutDamping) {
  Random random(11);
  const Eigen::Matrix3d R = random.rotation(1.3);
  const Eigen::Matrix<double, 8, 1> flat = bent<2>(random);
  Eigen::Matrix<double, 12, 1> e, rate, f;
  const Eigen::Vector3d omega = 3 * R.col(2);
  for (int a = 0; a < 4; ++a) {
    e.segment<3>(3 * a) = R * Eigen::Vector3d(flat[2 * a], flat[2 * a + 1], 0);
    rate.segment<3>(3 * a) = omega.cross(Eigen::Vector3d(e.segment<3>(3 * a)));
  }
  const AncfLaw law{AxialStrain::Engineering, BendingStrain::MaterialCurvature};
  // squares of rates of round-off
  EXPECT_LT(ancf_damping<3>(law, properties, e, rate, f, nullptr, nullptr), 1e-24);
}

}  // namespace
}  // namespace lissom::ancf_element_test
