// Expressions of t that a user writes, compiled once and evaluated with exact derivatives.
//
// Language, from what binds loosest to what binds tightest:
//   c ? a : b                   the branch is taken by c != 0; others are not evaluated
//   ||   &&                     1 or 0
//   < <= > >= == !=             1 or 0, from left to right
//   + -   * /                   from left to right
//   - +                         one sign before an operand: -2^2 = -4, 2^-1 = 0.5
//   ^                           from right to left: 2^3^2 = 512
// Numbers (2, .5, 1e-3), t, pi (also _pi), _e, and functions:
//   sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log ln log2 log10 sqrt abs sign
//   rint (to the next integer, halves upwards), atan2(y, x), min max sum avg (of one argument or more),
//   ramp(x, a, b), step(x, a, b): 0 before a, 1 after b, between them s = (x - a) / (b - a), and
//   10 s^3 - 15 s^4 + 6 s^5; a jump at a where b <= a.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/error.hpp"

namespace lissom {

// A value with its first and second derivative in t. `constant`: it does not change beside t, so that an
// infinite slope of what is done with it (sqrt at 0) does not matter.
struct Jet {
  double value, first, second;
  bool constant;
};

// How an expression is said in another language: each call gives the text of a value, of which the texts of its
// operands are parts.
class ExpressionWriter {
 public:
  virtual ~ExpressionWriter() = default;
  virtual std::string number(double value) const = 0;
  virtual std::string time() const = 0;
  // By its name in the language above: "+", "<=", "&&", "^", "sin", "log", "ramp", "min"; "neg" of a sign. One to
  // three operands; of min and max always two.
  virtual std::string apply(std::string_view name, std::span<const std::string> operands) const = 0;
  virtual std::string choice(const std::string& condition, const std::string& then,
                             const std::string& otherwise) const = 0;
};

class Expression {
 public:
  // Throws InputError: empty, a control character, or what does not parse, with the text, a caret under the
  // place, what was expected there and, for names, what may have been meant.
  explicit Expression(const std::string& text);

  // Finite or not. Allocates nothing, and several threads may ask.
  double value(double t) const;
  // The same value, and derivatives by the chain rule: exact but for rounding. At kinks (abs, min, max, ramp)
  // they are those from the right, at jumps (comparisons, sign, rint) those of the side that gives the value.
  // Not finite where the chain rule finds none, as of sqrt(t) at 0.
  Jet jet(double t) const;

  // Whether t occurs in it.
  bool uses_time() const { return uses_time_; }
  // As it was given, with blanks for line ends and tabs.
  const std::string& text() const { return text_; }
  // a and b of every ramp(x, a, b), as times, in the order in which they are written: of those whose a and b
  // are numbers and whose x goes with t along a line.
  std::vector<double> ramp_corners() const;
  std::string write(const ExpressionWriter& writer) const;

  enum class Op : std::uint8_t;
  // One step of the program, for a stack of values. `number`: of a constant; `target`: of a jump.
  struct Instruction {
    Op op;
    std::uint32_t target = 0;
    double number = 0;
  };
  // Where the program of an argument stands.
  struct Range {
    size_t begin = 0, end = 0;
  };

 private:
  std::string write(Range range, const ExpressionWriter& writer) const;
  class Compiler;
  struct Ramp {
    Range x, a, b;
  };
  std::string text_;
  std::vector<Instruction> code_;
  std::vector<Ramp> ramps_;
  bool uses_time_ = false;
};

}  // namespace lissom
