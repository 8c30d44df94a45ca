// Text of programs: numbers, arrays, expressions, templates.
#pragma once

#include <Eigen/Core>

#include <string>
#include <utility>
#include <vector>

#include "lissom/core/time_function.hpp"

namespace lissom {

// Replaces every @key@ of a text. A key that nobody knows is our bug.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

// "0.1", "-2.0": the shortest text that reads as the same double.
std::string number_text(double value);

// "static const real NAME[n] = {...};" of all numbers, rows one after the other; one zero where there are
// none.
std::string c_array(const std::string& name, const Eigen::Ref<const Eigen::MatrixXd>& rows);
std::string c_array(const std::string& name, const std::vector<double>& values);
// A text in quotes, with what C does not take between quotes escaped.
std::string c_string(const std::string& text);
// In a comment: without the end of one, on one line.
std::string in_comment(const std::string& text);
std::string xml_text(const std::string& text);

// Functions of time in C: each becomes "static real NAME(real t)"; `helpers` are the functions that they
// need.
class CTimeFunctions {
 public:
  // An expression of t for the value: a number, or a call of a function that is made.
  std::string call(const TimeFunction& function, const std::string& t = "t");
  // The weighted sum.
  std::string call(const std::vector<TimeFunction>& functions, const std::vector<double>& weights,
                   const std::string& t = "t");
  std::string definitions() const;  // helpers first

 private:
  std::string body_;
  bool ramp_ = false, smooth_ = false, table_ = false, sign_ = false, power_ = false, smaller_ = false;
  int count_ = 0;
};

}  // namespace lissom
