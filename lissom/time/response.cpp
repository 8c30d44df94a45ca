#include "lissom/time/response.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/core/error.hpp"
#include "lissom/core/text.hpp"
#include "lissom/linalg/transfer_function.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Complex = std::complex<double>;
constexpr int most_peaks = 10;

// The columns that were asked for: by name, or all components of a sensor.
std::vector<int> chosen_channels(const std::vector<std::string>& all, const std::vector<std::string>& asked,
                                 const char* what) {
  std::vector<int> list;
  if (all.empty())
    fail_input("response: the mechanism has no {}",
               what[0] == 'i' ? "input: add a force, torque or line force; one that is zero at all times has "
                                "no direction and is none"
                              : "output: add a sensor");
  for (const std::string& name : asked) {
    const size_t before = list.size();
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] == name || all[i].starts_with(name + ".")) list.push_back(static_cast<int>(i));
    if (list.size() == before)
      fail_input("response.{}: there is no '{}'{}; there are: {}", what, name, did_you_mean(name, all),
                 fmt::join(all, ", "));
  }
  if (asked.empty())
    for (size_t i = 0; i < all.size(); ++i) list.push_back(static_cast<int>(i));
  return list;
}

// The grid that was asked for, and at every resonance its top and slopes, which a grid may miss.
VectorXd sweep_frequencies(const Linearisation& model, const ResponseOptions& options) {
  std::vector<double> list;
  for (int i = 0; i + 1 < options.points; ++i) {
    const double s = static_cast<double>(i) / (options.points - 1);
    list.push_back(options.logarithmic ? options.from * std::pow(options.to / options.from, s)
                                       : options.from + s * (options.to - options.from));
  }
  list.push_back(options.to);
  for (const LinearMode& mode : model.modes) {
    const double f = std::abs(mode.eigenvalue.imag()) / (2 * std::numbers::pi);
    // undamped ones have no top
    if (!(mode.damping > 1e-12 && mode.damping < 0.3)) continue;
    for (const double widths : {-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0})
      if (const double at = f * (1 + widths * mode.damping); at > options.from && at < options.to)
        list.push_back(at);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return Eigen::Map<const VectorXd>(list.data(), static_cast<Index>(list.size()));
}

}  // namespace

double phase_degrees(const std::complex<double>& h) {
  return std::arg(h) * 180 / std::numbers::pi;
}

std::vector<std::string> ResponseOptions::problems() const {
  std::vector<std::string> list;
  if (!(from >= 0 && std::isfinite(from)))
    list.push_back(fmt::format("from is {}, expected a frequency [Hz]", from));
  if (!(to > from && std::isfinite(to)))
    list.push_back(fmt::format("to is {}, expected a frequency [Hz] above from = {}", to, from));
  if (logarithmic && from == 0)
    list.emplace_back("from is 0, which a logarithmic scale does not reach; take scale = \"linear\"");
  if (points < 2 || points > 10000000) list.push_back(fmt::format("points is {}, expected 2 to 1e7", points));
  return list;
}

void expect_response_names(const ResponseOptions& options, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  chosen_channels(inputs, options.inputs, "inputs");
  chosen_channels(outputs, options.outputs, "outputs");
}

FrequencyResponse frequency_response(const Linearisation& model, const ResponseOptions& options) {
  if (const auto problems = options.problems(); !problems.empty())
    fail_input("response: {}", fmt::join(problems, "; "));
  const std::vector<int> inputs = chosen_channels(model.inputs, options.inputs, "inputs");
  const std::vector<int> outputs = chosen_channels(model.outputs, options.outputs, "outputs");
  const Index n = model.A.rows();
  FrequencyResponse out;
  out.frequencies = sweep_frequencies(model, options);
  const Index points = out.frequencies.size();

  // velocities in the size of displacements, so that no large number hides small ones; states of a truncated
  // model are neither, and of like size
  const bool mechanical = n % 2 == 0 && model.A.topLeftCorner(n / 2, n / 2).isZero(0) &&
                          model.A.topRightCorner(n / 2, n / 2).isIdentity(0);
  const Index d = mechanical ? n / 2 : 0;
  const double omega = d > 0 ? std::max(1.0, std::sqrt(model.A.bottomLeftCorner(d, d).norm())) : 1;
  MatrixXd A = model.A, B(n, static_cast<Index>(inputs.size())), C(static_cast<Index>(outputs.size()), n);
  for (size_t i = 0; i < inputs.size(); ++i) B.col(static_cast<Index>(i)) = model.B.col(inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) C.row(static_cast<Index>(i)) = model.C.row(outputs[i]);
  A.topRightCorner(d, d) *= omega;
  A.bottomLeftCorner(d, d) /= omega;
  B.bottomRows(d) /= omega;
  C.rightCols(d) *= omega;
  TransferFunction transfer(A, B, C);

  for (const int input : inputs)
    for (const int output : outputs) {
      ResponsePair pair;
      pair.input = model.inputs[input];
      pair.output = model.outputs[output];
      const bool compound = model.input_units[input].find(' ') != std::string::npos;
      const std::string& by = model.input_units[input];
      pair.unit = model.output_units[output];
      if (by != "1") pair.unit += "/" + (compound ? "(" + by + ")" : by);
      pair.H.resize(points);
      out.pairs.push_back(std::move(pair));
    }
  for (Index i = 0; i < points; ++i) {
    const MatrixXcd& response = transfer(Complex(0, 2 * std::numbers::pi * out.frequencies[i]));
    size_t pair = 0;
    for (size_t u = 0; u < inputs.size(); ++u)
      for (size_t y = 0; y < outputs.size(); ++y, ++pair)
        out.pairs[pair].H[i] =
            response(static_cast<Index>(y), static_cast<Index>(u)) + model.D(outputs[y], inputs[u]);
  }
  for (ResponsePair& pair : out.pairs) {
    const VectorXd size = pair.H.cwiseAbs();
    // round-off has peaks, too
    const double floor = 1e-9 * size.maxCoeff();
    for (Index i = 1; i + 1 < points; ++i)
      if (size[i] > size[i - 1] && size[i] >= size[i + 1] && size[i] > floor)
        pair.peaks.push_back({out.frequencies[i], size[i], phase_degrees(pair.H[i])});
    std::stable_sort(pair.peaks.begin(), pair.peaks.end(),
                     [](const ResponsePeak& a, const ResponsePeak& b) { return a.magnitude > b.magnitude; });
    if (pair.peaks.size() > most_peaks) pair.peaks.resize(most_peaks);
  }
  return out;
}

}  // namespace lissom
