#include "lissom/study/response.hpp"

#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/text.hpp"
#include "lissom/io/table.hpp"
#include "lissom/study/analysis_names.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

using Complex = std::complex<double>;
constexpr int most_peaks = 10;

// The columns that were asked for: by name, or all components of a sensor.
std::vector<int> chosen_channels(const std::vector<std::string>& all, const std::vector<std::string>& asked,
                                 const char* what, const SourcePos& where) {
  std::vector<int> list;
  const std::string place = where.file.empty() ? "" : to_string(where) + ": ";
  if (all.empty())
    fail_input("{}response: the mechanism has no {}", place,
               what[0] == 'i' ? "input: add a force, torque or line force; one that is zero at all times has "
                                "no direction and is none"
                              : "output: add a sensor");
  for (const std::string& name : asked) {
    const size_t before = list.size();
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] == name || all[i].starts_with(name + ".")) list.push_back(static_cast<int>(i));
    if (list.size() == before)
      fail_input("{}response.{}: there is no '{}'{}; there are: {}", place, what, name,
                 did_you_mean(name, all), fmt::join(all, ", "));
  }
  if (asked.empty())
    for (size_t i = 0; i < all.size(); ++i) list.push_back(static_cast<int>(i));
  return list;
}

// The grid that was asked for, and at every resonance its top and slopes, which a grid may miss.
VectorXd sweep_frequencies(const Linearisation& model, const ResponseSpec& spec) {
  std::vector<double> list;
  for (int i = 0; i + 1 < spec.points; ++i) {
    const double s = static_cast<double>(i) / (spec.points - 1);
    list.push_back(spec.logarithmic ? spec.from * std::pow(spec.to / spec.from, s)
                                    : spec.from + s * (spec.to - spec.from));
  }
  list.push_back(spec.to);
  for (const LinearMode& mode : model.modes) {
    const double f = std::abs(mode.eigenvalue.imag()) / (2 * std::numbers::pi);
    // undamped ones have no top
    if (!(mode.damping > 1e-12 && mode.damping < 0.3)) continue;
    for (const double widths : {-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0})
      if (const double at = f * (1 + widths * mode.damping); at > spec.from && at < spec.to)
        list.push_back(at);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return Eigen::Map<const VectorXd>(list.data(), static_cast<Index>(list.size()));
}

// X = (s - H)^-1 X for an upper Hessenberg H: elimination with exchanges of neighbours.
void solve_hessenberg(const MatrixXd& H, Complex s, MatrixXcd& T, MatrixXcd& X) {
  const Index n = H.rows();
  T = -H.cast<Complex>();
  T.diagonal().array() += s;
  for (Index k = 0; k + 1 < n; ++k) {
    if (std::abs(T(k + 1, k)) > std::abs(T(k, k))) {
      T.row(k).tail(n - k).swap(T.row(k + 1).tail(n - k));
      X.row(k).swap(X.row(k + 1));
    }
    if (T(k + 1, k) == Complex(0)) continue;
    const Complex factor = T(k + 1, k) / T(k, k);
    T.row(k + 1).tail(n - k) -= factor * T.row(k).tail(n - k);
    X.row(k + 1) -= factor * X.row(k);
  }
  T.triangularView<Eigen::Upper>().solveInPlace(X);
}

double phase_degrees(Complex h) {
  return std::arg(h) * 180 / std::numbers::pi;
}

}  // namespace

void expect_response_names(const ResponseSpec& spec, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  chosen_channels(inputs, spec.inputs, "inputs", spec.where);
  chosen_channels(outputs, spec.outputs, "outputs", spec.where);
}

FrequencyResponse frequency_response(const Linearisation& model, const ResponseSpec& spec) {
  if (const auto problems = spec.problems(); !problems.empty())
    fail_input("response: {}", fmt::join(problems, "; "));
  const std::vector<int> inputs = chosen_channels(model.inputs, spec.inputs, "inputs", spec.where);
  const std::vector<int> outputs = chosen_channels(model.outputs, spec.outputs, "outputs", spec.where);
  const Index n = model.A.rows();
  FrequencyResponse out;
  out.frequencies = sweep_frequencies(model, spec);
  const Index points = out.frequencies.size();

  // velocities in the size of displacements, so that no large number hides small ones
  const Index d = n / 2;
  const double omega = d > 0 ? std::max(1.0, std::sqrt(model.A.bottomLeftCorner(d, d).norm())) : 1;
  MatrixXd A = model.A, B(n, static_cast<Index>(inputs.size())), C(static_cast<Index>(outputs.size()), n);
  for (size_t i = 0; i < inputs.size(); ++i) B.col(static_cast<Index>(i)) = model.B.col(inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) C.row(static_cast<Index>(i)) = model.C.row(outputs[i]);
  A.topRightCorner(d, d) *= omega;
  A.bottomLeftCorner(d, d) /= omega;
  B.bottomRows(d) /= omega;
  C.rightCols(d) *= omega;
  MatrixXd H = A;
  if (n > 2) {
    const Eigen::HessenbergDecomposition<MatrixXd> decomposition(A);
    const MatrixXd Q = decomposition.matrixQ();
    H = decomposition.matrixH();
    B = (Q.transpose() * B).eval();
    C = (C * Q).eval();
  }

  for (const int input : inputs)
    for (const int output : outputs) {
      ResponsePair pair;
      pair.input = model.inputs[input];
      pair.output = model.outputs[output];
      const bool compound = model.input_units[input].find(' ') != std::string::npos;
      const std::string& by = model.input_units[input];
      pair.unit = model.output_units[output] + "/" + (compound ? "(" + by + ")" : by);
      pair.H.resize(points);
      out.pairs.push_back(std::move(pair));
    }
  MatrixXcd T(n, n), X, response;
  const MatrixXcd from = B.cast<Complex>(), to = C.cast<Complex>();
  for (Index i = 0; i < points; ++i) {
    X = from;
    const Complex s(0, 2 * std::numbers::pi * out.frequencies[i]);
    if (n > 0) solve_hessenberg(H, s, T, X);
    response = to * X;
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

json response_json(const FrequencyResponse& response) {
  json pairs = json::array();
  for (const ResponsePair& pair : response.pairs) {
    json magnitude = json::array(), phase = json::array(), peaks = json::array();
    for (const Complex& h : pair.H) {
      // exactly at an undamped frequency
      magnitude.push_back(std::isfinite(std::abs(h)) ? json(std::abs(h)) : json(nullptr));
      phase.push_back(std::isfinite(std::abs(h)) ? json(phase_degrees(h)) : json(nullptr));
    }
    for (const ResponsePeak& peak : pair.peaks)
      peaks.push_back(
          {{"frequency_hz", peak.frequency}, {"magnitude", peak.magnitude}, {"phase_deg", peak.phase}});
    pairs.push_back({{"input", pair.input},
                     {"output", pair.output},
                     {"unit", pair.unit},
                     {"magnitude", std::move(magnitude)},
                     {"phase_deg", std::move(phase)},
                     {"peaks", std::move(peaks)}});
  }
  return {{"frequencies_hz", std::vector<double>(response.frequencies.begin(), response.frequencies.end())},
          {"pairs", std::move(pairs)}};
}

std::string describe_response(const FrequencyResponse& response) {
  std::string text =
      fmt::format("frequency response, {:.6g} to {:.6g} Hz, {} points\n", response.frequencies[0],
                  response.frequencies[response.frequencies.size() - 1], response.frequencies.size());
  Table table({"input", "output", "peak at", "magnitude", "phase"});
  for (const ResponsePair& pair : response.pairs)
    for (size_t i = 0; i < std::min<size_t>(3, pair.peaks.size()); ++i)
      table.add({pair.input, pair.output, fmt::format("{:.6g} Hz", pair.peaks[i].frequency),
                 fmt::format("{:.4g} {}", pair.peaks[i].magnitude, pair.unit),
                 fmt::format("{:.1f} deg", pair.peaks[i].phase)});
  return text + table.str();
}

void write_response(const FrequencyResponse& response, const std::filesystem::path& path) {
  AtomicFile file(path);
  // names may have commas and quotes
  const auto quoted = [](std::string name) {
    for (size_t i = name.find('"'); i != std::string::npos; i = name.find('"', i + 2)) name.insert(i, 1, '"');
    return '"' + name + '"';
  };
  std::string line = "f";
  for (const ResponsePair& pair : response.pairs) {
    const std::string name = fmt::format("{} by {}", pair.output, pair.input);
    line += "," + quoted(name + " magnitude") + "," + quoted(name + " phase");
  }
  file.write(line + "\n");
  for (Index i = 0; i < response.frequencies.size(); ++i) {
    line = fmt::format("{}", response.frequencies[i]);
    for (const ResponsePair& pair : response.pairs)
      line += fmt::format(",{},{}", std::abs(pair.H[i]), phase_degrees(pair.H[i]));
    file.write(line + "\n");
  }
  file.commit();
}

}  // namespace lissom
