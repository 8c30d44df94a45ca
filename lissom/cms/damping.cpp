#include "lissom/cms/damping.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lissom/core/text.hpp"
#include "lissom/linalg/blas.hpp"

namespace lissom {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// comparisons that NaN fails
bool is_ratio(double ratio) {
  return ratio >= 0 && ratio <= 1;
}
bool not_negative(double value) {
  return value >= 0 && std::isfinite(value);
}

std::string bad_ratio(std::string_view what, double ratio) {
  return fmt::format("{} is {}, expected 0 to 1 (1 is critical damping; 2 % is 0.02)", what, ratio);
}

// Value at f of the line through (f0, r0) and (f1, r1), f0 < f1.
double interpolate(double f, double f0, double r0, double f1, double r1) {
  return r0 + (r1 - r0) * (f - f0) / (f1 - f0);
}

double at(const DampingTable& table, double f) {
  const auto& x = table.frequency_hz;
  const size_t above = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), f) - x.begin());
  if (above == 0) return table.ratio.front();
  if (above == x.size()) return table.ratio.back();
  return interpolate(f, x[above - 1], table.ratio[above - 1], x[above], table.ratio[above]);
}

double at(const DampingRamp& ramp, double f) {
  if (f <= ramp.from_hz) return ramp.ratio;
  if (f >= ramp.to_hz) return ramp.to_ratio;
  return interpolate(f, ramp.from_hz, ramp.ratio, ramp.to_hz, ramp.to_ratio);
}

void refuse_problems(const Damping& damping) {
  const std::vector<std::string> problems = problems_of(damping);
  if (!problems.empty()) fail_input("{}", fmt::join(problems, "\n"));
}

std::string percent(double ratio) {
  return fmt::format("{:.4g} %", 100 * ratio);
}

}  // namespace

std::vector<std::string> problems_of(const Damping& damping) {
  std::vector<std::string> problems;
  const auto check_ratio = [&](std::string_view what, double ratio) {
    if (!is_ratio(ratio)) problems.push_back(bad_ratio(what, ratio));
  };
  const auto check_not_negative = [&](std::string_view what, double value) {
    if (!not_negative(value))
      problems.push_back(fmt::format("{} is {}, expected zero or a positive number", what, value));
  };
  std::visit(
      Overloaded{
          [](std::monostate) {}, [&](const UniformDamping& d) { check_ratio("the damping ratio", d.ratio); },
          [&](const RatioPerMode& d) {
            if (d.ratios.empty())
              problems.emplace_back("the list of damping ratios per mode is empty, expected one or more");
            for (size_t i = 0; i < d.ratios.size(); ++i)
              check_ratio(fmt::format("the damping ratio of mode {}", i + 1), d.ratios[i]);
          },
          [&](const RayleighDamping& d) {
            check_not_negative("Rayleigh's alpha [1/s]", d.alpha);
            check_not_negative("Rayleigh's beta [s]", d.beta);
          },
          [&](const DampingTable& d) {
            if (d.frequency_hz.size() != d.ratio.size()) {
              problems.push_back(fmt::format("the damping table has {} frequencies and {} ratios",
                                             d.frequency_hz.size(), d.ratio.size()));
              return;
            }
            if (d.ratio.empty())
              problems.emplace_back("the damping table is empty, expected one line or more");
            for (size_t i = 0; i < d.ratio.size(); ++i) {
              check_not_negative(fmt::format("frequency {} of the damping table", i + 1), d.frequency_hz[i]);
              check_ratio(fmt::format("ratio {} of the damping table", i + 1), d.ratio[i]);
              if (i > 0 && !(d.frequency_hz[i] > d.frequency_hz[i - 1]))
                problems.push_back(fmt::format(
                    "the frequencies of the damping table must ascend, but {} Hz comes after {} Hz",
                    d.frequency_hz[i], d.frequency_hz[i - 1]));
            }
          },
          [&](const DampingRamp& d) {
            check_ratio("the damping ratio", d.ratio);
            check_ratio("the damping ratio at the ramp's end", d.to_ratio);
            check_not_negative("the frequency [Hz] at which the ramp begins", d.from_hz);
            if (!(d.to_hz > d.from_hz) || !std::isfinite(d.to_hz))
              problems.push_back(fmt::format(
                  "the ramp ends at {} Hz, expected more than its beginning, {} Hz", d.to_hz, d.from_hz));
          }},
      damping);
  return problems;
}

DampingTable read_damping_table(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::string_view text = bytes;
  // some editors begin a file with a byte-order mark
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  LineReader lines(text, path.string());
  DampingTable table;
  table.source = path.string();
  bool headings_allowed = true;
  std::string_view line;
  while (lines.next(line)) {
    std::string content(line.substr(0, line.find('#')));
    std::replace_if(
        content.begin(), content.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
    const std::vector<std::string_view> fields = split_blanks(content);
    if (fields.empty()) continue;
    // headings hold no number at all, but maybe blanks
    const bool any_number = std::any_of(
        fields.begin(), fields.end(), [](std::string_view field) { return parse_double(field).has_value(); });
    if (headings_allowed && !any_number) {
      headings_allowed = false;
      continue;
    }
    headings_allowed = false;
    if (fields.size() != 2)
      fail_input(lines.pos(),
                 "expected two columns, frequency in Hz and damping ratio, found {} in '{}' (numbers have a "
                 "decimal point, not a comma)",
                 fields.size(), printable(trim(line)));
    const double frequency = to_double(fields[0], lines.pos(), "a frequency in Hz");
    const double ratio = to_double(fields[1], lines.pos(), "a damping ratio");
    if (frequency < 0) fail_input(lines.pos(), "the frequency {} Hz is negative", frequency);
    if (!is_ratio(ratio)) fail_input(lines.pos(), "{}", bad_ratio("the damping ratio", ratio));
    if (!table.frequency_hz.empty() && !(frequency > table.frequency_hz.back()))
      fail_input(lines.pos(), "frequencies must ascend, but {} Hz comes after {} Hz", frequency,
                 table.frequency_hz.back());
    table.frequency_hz.push_back(frequency);
    table.ratio.push_back(ratio);
  }
  if (table.ratio.empty())
    fail_input("{}: the file has no line of frequency in Hz and damping ratio", path.string());
  return table;
}

VectorXd damping_ratios(const Damping& damping, const Eigen::Ref<const VectorXd>& frequencies_hz) {
  refuse_problems(damping);
  const Eigen::Index count = frequencies_hz.size();
  const auto from_frequency = [&](auto&& ratio) {
    return VectorXd(VectorXd::NullaryExpr(count, [&](Eigen::Index i) { return ratio(frequencies_hz[i]); }));
  };
  return std::visit(
      Overloaded{[&](std::monostate) { return VectorXd(VectorXd::Zero(count)); },
                 [&](const UniformDamping& d) { return VectorXd(VectorXd::Constant(count, d.ratio)); },
                 [&](const RatioPerMode& d) {
                   return VectorXd(VectorXd::NullaryExpr(count, [&](Eigen::Index i) {
                     return d.ratios[std::min<size_t>(static_cast<size_t>(i), d.ratios.size() - 1)];
                   }));
                 },
                 [&](const RayleighDamping& d) {
                   // 2 zeta omega = alpha + beta omega^2
                   return from_frequency([&](double f) {
                     const double omega = 2 * std::numbers::pi * f;
                     return d.alpha / (2 * omega) + d.beta * omega / 2;
                   });
                 },
                 [&](const DampingTable& d) { return from_frequency([&](double f) { return at(d, f); }); },
                 [&](const DampingRamp& d) { return from_frequency([&](double f) { return at(d, f); }); }},
      damping);
}

MatrixXd damping_matrix(const Damping& damping, const Eigen::Ref<const MatrixXd>& M,
                        const Eigen::Ref<const MatrixXd>& K, const Eigen::Ref<const VectorXd>& eigenvalues,
                        const Eigen::Ref<const MatrixXd>& eigenvectors, int rigid_count) {
  refuse_problems(damping);
  if (std::holds_alternative<std::monostate>(damping)) return {};
  if (const auto* d = std::get_if<RayleighDamping>(&damping)) return d->alpha * M + d->beta * K;

  const Eigen::Index N = M.rows(), flexible = eigenvalues.size() - rigid_count;
  LISSOM_ASSERT(eigenvectors.rows() == N && eigenvectors.cols() == eigenvalues.size() && flexible >= 0);
  const VectorXd omega = eigenvalues.tail(flexible).cwiseMax(0).cwiseSqrt();
  const VectorXd zeta = damping_ratios(damping, omega / (2 * std::numbers::pi));
  // D = B B' with B = M Xi diag(2 zeta omega)^1/2 is symmetric and dissipates, whatever round-off does
  MatrixXd B(N, flexible), D(N, N);
  gemm(false, false, 1, M, eigenvectors.rightCols(flexible), 0, B);
  B *= (2 * zeta.cwiseProduct(omega)).cwiseSqrt().asDiagonal();
  gemm(false, true, 1, B, B, 0, D);
  D.triangularView<Eigen::StrictlyUpper>() = D.transpose();
  return D;
}

std::string describe(const Damping& damping) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("none"); },
                 [](const UniformDamping& d) { return percent(d.ratio) + " on every mode"; },
                 [](const RatioPerMode& d) {
                   if (d.ratios.empty()) return std::string("a list of no ratios");
                   if (d.ratios.size() == 1) return percent(d.ratios[0]) + " on every mode";
                   std::vector<std::string> some;
                   for (size_t i = 0; i < std::min<size_t>(6, d.ratios.size()); ++i)
                     some.push_back(fmt::format("{:.4g}", 100 * d.ratios[i]));
                   return fmt::format("{}{} % on modes 1 to {}, {} above", fmt::join(some, ", "),
                                      d.ratios.size() > some.size() ? ", ..." : "", d.ratios.size(),
                                      percent(d.ratios.back()));
                 },
                 [](const RayleighDamping& d) {
                   return fmt::format("Rayleigh: alpha {:.6g} 1/s, beta {:.6g} s", d.alpha, d.beta);
                 },
                 [](const DampingTable& d) {
                   if (d.ratio.empty() || d.frequency_hz.empty()) return std::string("an empty table");
                   const auto [low, high] = std::minmax_element(d.ratio.begin(), d.ratio.end());
                   return fmt::format("table{} of {} points, {:.6g} to {:.6g} Hz, {} to {}",
                                      d.source.empty() ? "" : " " + d.source, d.ratio.size(),
                                      d.frequency_hz.front(), d.frequency_hz.back(), percent(*low),
                                      percent(*high));
                 },
                 [](const DampingRamp& d) {
                   return fmt::format("{} up to {:.6g} Hz, then growing to {} at {:.6g} Hz and above",
                                      percent(d.ratio), d.from_hz, percent(d.to_ratio), d.to_hz);
                 }},
      damping);
}

}  // namespace lissom
