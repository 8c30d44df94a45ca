#include "lissom/core/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <span>
#include <string_view>

#include "lissom/core/expression_names.hpp"
#include "lissom/core/text.hpp"

namespace lissom {

enum class Expression::Op : std::uint8_t {
  // operands
  Number,
  Time,
  // jumps; the first takes the condition from the stack
  JumpIfZero,
  Jump,
  // of two values
  Or,
  And,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  Atan2,
  Min,
  Max,
  // of three
  Ramp,
  Step,
  // of one
  Negate,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Exp,
  Log,
  Log2,
  Log10,
  Sqrt,
  Abs,
  Sign,
  Rint,
};

namespace {

using Op = Expression::Op;
using Instruction = Expression::Instruction;

// the stack of an evaluation, and parentheses in each other: enough for any formula that is written by hand
constexpr size_t stack_size = 256;
constexpr int deepest = 100;

int operands(Op op) {
  if (op <= Op::Jump) return 0;
  if (op <= Op::Max) return 2;
  return op <= Op::Step ? 3 : 1;
}

// ------------------------------------------------------------------------------------ functions of one value

double outer(Op op, double x) {
  switch (op) {
    case Op::Negate:
      return -x;
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Asin:
      return std::asin(x);
    case Op::Acos:
      return std::acos(x);
    case Op::Atan:
      return std::atan(x);
    case Op::Sinh:
      return std::sinh(x);
    case Op::Cosh:
      return std::cosh(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Asinh:
      return std::asinh(x);
    case Op::Acosh:
      return std::acosh(x);
    case Op::Atanh:
      return std::atanh(x);
    case Op::Exp:
      return std::exp(x);
    case Op::Log:
      return std::log(x);
    case Op::Log2:
      return std::log2(x);
    case Op::Log10:
      return std::log10(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Abs:
      return std::abs(x);
    case Op::Sign:
      return (x > 0) - (x < 0);
    case Op::Rint:
      return std::floor(x + 0.5);
    default:
      LISSOM_ASSERT(false);
      return 0;
  }
}

struct Slopes {
  double first, second;
};

// First and second derivative of a function with the value f at x; abs, sign and rint are done elsewhere.
Slopes slopes(Op op, double x, double f) {
  switch (op) {
    case Op::Negate:
      return {-1, 0};
    case Op::Sin:
      return {std::cos(x), -f};
    case Op::Cos:
      return {-std::sin(x), -f};
    case Op::Tan:
      return {1 + f * f, 2 * f * (1 + f * f)};
    case Op::Asin: {
      const double d = 1 / std::sqrt((1 - x) * (1 + x));
      return {d, x * d * d * d};
    }
    case Op::Acos: {
      const double d = 1 / std::sqrt((1 - x) * (1 + x));
      return {-d, -x * d * d * d};
    }
    case Op::Atan: {
      const double d = 1 / (1 + x * x);
      return {d, -2 * x * d * d};
    }
    case Op::Sinh:
      return {std::cosh(x), f};
    case Op::Cosh:
      return {std::sinh(x), f};
    case Op::Tanh: {
      const double d = 1 / std::cosh(x);  // not 1 - f^2, which cancels
      return {d * d, -2 * f * d * d};
    }
    case Op::Asinh: {
      const double d = 1 / std::hypot(1, x);
      return {d, -x * d * d * d};
    }
    case Op::Acosh: {
      const double d = 1 / std::sqrt((x - 1) * (x + 1));
      return {d, -x * d * d * d};
    }
    case Op::Atanh: {
      const double d = 1 / ((1 - x) * (1 + x));
      return {d, 2 * x * d * d};
    }
    case Op::Exp:
      return {f, f};
    case Op::Log:
      return {1 / x, -1 / (x * x)};
    case Op::Log2:
      return {1 / (std::numbers::ln2 * x), -1 / (std::numbers::ln2 * x * x)};
    case Op::Log10:
      return {1 / (std::numbers::ln10 * x), -1 / (std::numbers::ln10 * x * x)};
    case Op::Sqrt:
      return {0.5 / f, -0.25 / (f * x)};
    default:
      LISSOM_ASSERT(false);
      return {0, 0};
  }
}

// ----------------------------------------------------------------------------- the same for numbers and jets

Jet number_jet(double value) {
  return {value, 0, 0, true};
}

double value_of(double x) {
  return x;
}
double value_of(const Jet& x) {
  return x.value;
}

template <class X>
X make(double value) {
  if constexpr (std::is_same_v<X, Jet>)
    return number_jet(value);
  else
    return value;
}

template <class X>
X make_time(double t) {
  if constexpr (std::is_same_v<X, Jet>)
    return {t, 1, 0, false};
  else
    return t;
}

// Whether a is below b, at t or, where they meet, just after it.
bool below(double a, double b) {
  return a < b;
}
bool below(const Jet& a, const Jet& b) {
  if (a.value != b.value) return a.value < b.value;
  if (a.first != b.first) return a.first < b.first;
  return a.second < b.second;
}

Jet operator-(const Jet& a) {
  return {-a.value, -a.first, -a.second, a.constant};
}
Jet operator+(const Jet& a, const Jet& b) {
  return {a.value + b.value, a.first + b.first, a.second + b.second, a.constant && b.constant};
}
Jet operator-(const Jet& a, const Jet& b) {
  return {a.value - b.value, a.first - b.first, a.second - b.second, a.constant && b.constant};
}
Jet operator*(const Jet& a, const Jet& b) {
  return {a.value * b.value, a.first * b.value + a.value * b.first,
          a.second * b.value + 2 * a.first * b.first + a.value * b.second, a.constant && b.constant};
}
// q b = a, differentiated twice
Jet operator/(const Jet& a, const Jet& b) {
  const double q = a.value / b.value;
  if (a.constant && b.constant) return number_jet(q);
  const double first = (a.first - q * b.first) / b.value;
  return {q, first, (a.second - 2 * first * b.first - q * b.second) / b.value, false};
}

double chain(Op op, double x) {
  return outer(op, x);
}
Jet chain(Op op, const Jet& x) {
  const double f = outer(op, x.value);
  if (x.constant || op == Op::Sign || op == Op::Rint) return number_jet(f);
  if (op == Op::Abs) {
    const double side = below(x, -x) ? -1 : 1;
    return {f, side * x.first, side * x.second, false};
  }
  const Slopes d = slopes(op, x.value, f);
  return {f, d.first * x.first, d.second * x.first * x.first + d.first * x.second, false};
}

double power(double b, double e) {
  // the usual ones, and those of their derivatives, without the general power
  if (e == 2) return b * b;
  if (e == 1) return b;
  return e == 0 ? 1 : std::pow(b, e);
}

// b^x (ln b)^k, with its limit 0 at b = 0 for x > 0
double power_log(double b, double x, int k) {
  if (b == 0 && x > 0) return 0;
  return std::pow(b, x) * std::pow(std::log(b), k);
}

Jet power(const Jet& b, const Jet& e) {
  const double f = power(b.value, e.value), n = e.value;
  Jet out = {f, 0, 0, b.constant && e.constant};
  if (!b.constant) {
    // a factor n or n - 1 of zero leaves nothing, also of an infinite power of zero
    const double d = n == 0 ? 0 : n * power(b.value, n - 1);
    const double dd = n == 0 || n == 1 ? 0 : n * (n - 1) * power(b.value, n - 2);
    out.first += d * b.first;
    out.second += dd * b.first * b.first + d * b.second;
  }
  // of an exponent that stands still nothing is asked of the logarithm: the base may be negative
  if (!e.constant && (e.first != 0 || e.second != 0)) {
    const double d = power_log(b.value, n, 1), dd = power_log(b.value, n, 2);
    out.first += d * e.first;
    out.second += dd * e.first * e.first + d * e.second;
    if (!b.constant)
      out.second += 2 * (std::pow(b.value, n - 1) + n * power_log(b.value, n - 1, 1)) * b.first * e.first;
  }
  return out;
}

double arc(double y, double x) {
  return std::atan2(y, x);
}
Jet arc(const Jet& y, const Jet& x) {
  const double f = std::atan2(y.value, x.value);
  if (x.constant && y.constant) return number_jet(f);
  const double r = std::hypot(x.value, y.value), c = x.value / r, s = y.value / r;
  const double first = (c * y.first - s * x.first) / r;
  const double stretch = (c * x.first + s * y.first) / r;
  return {f, first, (c * y.second - s * x.second) / r - 2 * first * stretch, false};
}

// Share of the way from a to b, 0 before and 1 after; a jump where b is not beyond a.
template <class X>
X share(const X& x, const X& a, const X& b) {
  if (!(value_of(a) < value_of(b))) return make<X>(value_of(x) < value_of(a) ? 0 : 1);
  const X s = (x - a) / (b - a);
  const bool inside = !below(s, make<X>(0)) && below(s, make<X>(1));
  if (inside || std::isnan(value_of(s))) return s;
  return make<X>(std::clamp(value_of(s), 0.0, 1.0));
}

double smooth(double s) {
  return s * s * s * (10 + s * (6 * s - 15));
}
Jet smooth(const Jet& s) {
  const double x = s.value, d = 30 * x * x * (1 - x) * (1 - x), dd = 60 * x * (1 - x) * (1 - 2 * x);
  return {smooth(x), d * s.first, dd * s.first * s.first + d * s.second, s.constant};
}

double smaller(double a, double b) {
  return std::min(a, b);
}
Jet smaller(const Jet& a, const Jet& b) {
  Jet out = below(b, a) ? b : a;
  out.value = std::min(a.value, b.value);
  if (a.value == b.value) out.constant = a.constant && b.constant;
  return out;
}

template <class X>
X combine(Op op, const X& a, const X& b) {
  const double x = value_of(a), y = value_of(b);
  switch (op) {
    case Op::Or:
      return make<X>(x != 0 || y != 0);
    case Op::And:
      return make<X>(x != 0 && y != 0);
    case Op::Less:
      return make<X>(x < y);
    case Op::LessEqual:
      return make<X>(x <= y);
    case Op::Greater:
      return make<X>(x > y);
    case Op::GreaterEqual:
      return make<X>(x >= y);
    case Op::Equal:
      return make<X>(x == y);
    case Op::NotEqual:
      return make<X>(x != y);
    case Op::Add:
      return a + b;
    case Op::Subtract:
      return a - b;
    case Op::Multiply:
      return a * b;
    case Op::Divide:
      return a / b;
    case Op::Power:
      return power(a, b);
    case Op::Atan2:
      return arc(a, b);
    case Op::Min:
      return smaller(a, b);
    case Op::Max:
      return -smaller(-a, -b);
    default:
      LISSOM_ASSERT(false);
      return a;
  }
}

template <class X>
X run(std::span<const Instruction> code, Expression::Range range, double t) {
  std::array<X, stack_size> stack;
  size_t n = 0;  // how many are on it
  for (size_t i = range.begin; i < range.end; ++i) {
    const Instruction& step = code[i];
    switch (step.op) {
      case Op::Number:
        stack[n++] = make<X>(step.number);
        break;
      case Op::Time:
        stack[n++] = make_time<X>(t);
        break;
      case Op::JumpIfZero:
        if (value_of(stack[--n]) == 0) i = step.target - 1;
        break;
      case Op::Jump:
        i = step.target - 1;
        break;
      case Op::Ramp:
        n -= 2;
        stack[n - 1] = share(stack[n - 1], stack[n], stack[n + 1]);
        break;
      case Op::Step:
        n -= 2;
        stack[n - 1] = smooth(share(stack[n - 1], stack[n], stack[n + 1]));
        break;
      default:
        if (operands(step.op) == 2) {
          --n;
          stack[n - 1] = combine(step.op, stack[n - 1], stack[n]);
        } else {
          stack[n - 1] = chain(step.op, stack[n - 1]);
        }
    }
  }
  return stack[0];
}

// -------------------------------------------------------------------------------------------------- language

struct Function {
  std::string_view name;
  Op op;
  int arguments;  // 0: one or more, taken two by two
};

// sum and avg add
constexpr Function functions[] = {
    {"sin", Op::Sin, 1},     {"cos", Op::Cos, 1},     {"tan", Op::Tan, 1},     {"asin", Op::Asin, 1},
    {"acos", Op::Acos, 1},   {"atan", Op::Atan, 1},   {"sinh", Op::Sinh, 1},   {"cosh", Op::Cosh, 1},
    {"tanh", Op::Tanh, 1},   {"asinh", Op::Asinh, 1}, {"acosh", Op::Acosh, 1}, {"atanh", Op::Atanh, 1},
    {"exp", Op::Exp, 1},     {"log", Op::Log, 1},     {"ln", Op::Log, 1},      {"log2", Op::Log2, 1},
    {"log10", Op::Log10, 1}, {"sqrt", Op::Sqrt, 1},   {"abs", Op::Abs, 1},     {"sign", Op::Sign, 1},
    {"rint", Op::Rint, 1},   {"atan2", Op::Atan2, 2}, {"min", Op::Min, 0},     {"max", Op::Max, 0},
    {"sum", Op::Add, 0},     {"avg", Op::Add, 0},     {"ramp", Op::Ramp, 3},   {"step", Op::Step, 3},
};

struct Constant {
  std::string_view name;
  double value;
};
constexpr Constant constants[] = {
    {"pi", std::numbers::pi}, {"_pi", std::numbers::pi}, {"_e", std::numbers::e}};

struct Operator {
  std::string_view sign;
  Op op;
  int level;
};
// the longer ones first
constexpr Operator operators[] = {
    {"||", Op::Or, 0},    {"&&", Op::And, 1},      {"<=", Op::LessEqual, 2}, {">=", Op::GreaterEqual, 2},
    {"==", Op::Equal, 2}, {"!=", Op::NotEqual, 2}, {"<", Op::Less, 2},       {">", Op::Greater, 2},
    {"+", Op::Add, 3},    {"-", Op::Subtract, 3},  {"*", Op::Multiply, 4},   {"/", Op::Divide, 4},
    {"^", Op::Power, 5},
};
constexpr int sign_level = 5;  // from here on an operand may have a sign

constexpr std::string_view operand_expected = "expected a number, t, a function or '('";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::vector<std::string> expression_names() {
  std::vector<std::string> names = {"t"};
  for (const Constant& constant : constants) names.emplace_back(constant.name);
  for (const Function& function : functions) names.emplace_back(function.name);
  return names;
}

// Recursive descent over the text; the program grows as it is read.
class Expression::Compiler {
 public:
  explicit Compiler(Expression& out) : out_(out), text_(out.text_) {}

  void compile() {
    read_choice();
    if (peek() == '\0') return;
    if (text_[at_] == ')') fail_here("this parenthesis closes nothing");
    if (text_[at_] == ':') fail_here("':' without a '?' before it");
    if (text_[at_] == ',')
      fail_here("a formula has one result, found a comma (numbers have a decimal point, as 1.5)");
    fail_after_operand();
  }

 private:
  // ---- text

  // The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  const Operator* peek_operator() {
    peek();
    for (const Operator& candidate : operators)
      if (text_.substr(at_).starts_with(candidate.sign)) return &candidate;
    return nullptr;
  }

  std::string_view name_at(size_t at) const {
    size_t end = at;
    while (end < text_.size() && (begins_name(text_[end]) || is_digit(text_[end]))) ++end;
    return text_.substr(at, end - at);
  }

  // The character there with all of its bytes.
  std::string character_at(size_t at) const {
    size_t end = at + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return printable(text_.substr(at, end - at));
  }

  // ---- messages

  [[noreturn]] void fail_at(size_t position, const std::string& why) const {
    // the caret stands under characters, not bytes
    size_t column = 0;
    for (size_t i = 0; i < std::min(position, text_.size()); ++i)
      column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    fail_input("expression does not parse: {}\n  {}\n  {}^", why, text_, std::string(column, ' '));
  }
  [[noreturn]] void fail_here(const std::string& why) const { fail_at(at_, why); }

  void refuse_assignment() const {
    if (text_[at_] != '=' || text_.substr(at_).starts_with("==")) return;
    if (text_.substr(at_).starts_with("=>")) fail_here("unexpected '=>'; is >= meant?");
    if (text_.substr(at_).starts_with("=<")) fail_here("unexpected '=<'; is <= meant?");
    fail_here("nothing can be assigned; is == meant?");
  }

  // What stands where an operand must begin is none.
  [[noreturn]] void fail_operand() {
    if (peek() == '\0') fail_at(trimmed_end(), fmt::format("it ends too early; {}", operand_expected));
    refuse_assignment();
    if (const Operator* found = peek_operator()) {
      const bool sign = found->op == Op::Add || found->op == Op::Subtract;
      const bool stars = found->op == Op::Multiply && at_ > 0 && text_[at_ - 1] == '*';
      fail_here(fmt::format("unexpected operator '{}'; {}", found->sign,
                            stars  ? "powers are written with ^"
                            : sign ? "a second sign needs parentheses, as 2 - (-t)"
                                   : operand_expected));
    }
    fail_here(fmt::format("unexpected '{}'; {}", character_at(at_), operand_expected));
  }

  // What follows an operand continues nothing.
  [[noreturn]] void fail_after_operand() {
    const char c = peek();
    refuse_assignment();
    if (begins_name(c)) {
      const std::string_view name = name_at(at_);
      require_known(name);
      fail_here(fmt::format("unexpected '{}'; is an operator missing before it?", name));
    }
    if (is_digit(c) || c == '.') {
      size_t end = at_;
      while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
      fail_here(fmt::format("unexpected number '{}'; is an operator missing before it?",
                            text_.substr(at_, end - at_)));
    }
    if (c == '(') fail_here("unexpected '('; is an operator missing before it?");
    if (c == '&' || c == '|') fail_here(fmt::format("unexpected '{0}'; is {0}{0} meant?", c));
    fail_here(fmt::format("unexpected '{}'; expected an operator or the end", character_at(at_)));
  }

  size_t trimmed_end() const {
    const size_t last = text_.find_last_not_of(' ');
    return last == std::string_view::npos ? 0 : last + 1;
  }

  void require_known(std::string_view name) const {
    if (name == "t") return;
    const std::vector<std::string> names = expression_names();
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const std::string meant = did_you_mean(name, names);
    fail_here(fmt::format(
        "'{}' is not known{}", name,
        meant.empty() ? "; the time is t, functions are sin, exp, ramp, step and the like" : meant));
  }

  // ---- program

  void emit(Op op, double number = 0) {
    auto& code = out_.code_;
    const size_t count = static_cast<size_t>(operands(op));
    const auto is_number = [](const Instruction& step) { return step.op == Op::Number; };
    // operands that are numbers: the result is one. Not across the target of a jump
    if (count > 0 && code.size() >= foldable_ + count &&
        std::all_of(code.end() - static_cast<std::ptrdiff_t>(count), code.end(), is_number)) {
      code.push_back({op});
      const double value = run<double>(code, {code.size() - 1 - count, code.size()}, 0);
      code.resize(code.size() - 1 - count);
      code.push_back({Op::Number, 0, value});
    } else {
      code.push_back({op, 0, number});
    }
    if (op == Op::JumpIfZero) --depth_;
    if (op == Op::Number || op == Op::Time) ++depth_;
    if (count > 0) depth_ -= count - 1;
    if (depth_ > stack_size) fail_here("it is nested too deeply");
  }

  // A jump whose target is not known yet.
  size_t emit_jump(Op op) {
    emit(op);
    return out_.code_.size() - 1;
  }
  void land(size_t jump) {
    out_.code_[jump].target = static_cast<std::uint32_t>(out_.code_.size());
    foldable_ = out_.code_.size();
  }

  // ---- grammar

  // Counts what is inside what, for both stacks are finite.
  struct Nested {
    explicit Nested(Compiler& owner) : compiler(owner) {
      if (++compiler.nesting_ > deepest)
        compiler.fail_here(fmt::format("it is nested too deeply, more than {} levels", deepest));
    }
    ~Nested() { --compiler.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Compiler& compiler;
  };

  // c ? a : b; of a chain c ? a : d ? b : ... each is a turn of the loop
  void read_choice() {
    const Nested nested(*this);
    std::vector<size_t> to_end;
    while (true) {
      read_binary(0);
      if (peek() != '?') break;
      const size_t question = at_++;
      const size_t to_else = emit_jump(Op::JumpIfZero);
      read_choice();
      if (peek() != ':') {
        if (peek() == '\0' || text_[at_] == ')' || text_[at_] == ',')
          fail_at(question, "this '?' has no ':'; a choice is written c ? a : b");
        fail_after_operand();
      }
      ++at_;
      to_end.push_back(emit_jump(Op::Jump));
      land(to_else);
      --depth_;  // one of the two values is there
    }
    for (const size_t jump : to_end) land(jump);
  }

  // Operators of this level and of those that bind tighter, from left to right.
  void read_binary(int level) {
    if (level == sign_level) return read_signed();
    read_binary(level + 1);
    for (const Operator* found = peek_operator(); found && found->level == level; found = peek_operator()) {
      at_ += found->sign.size();
      read_binary(level + 1);
      emit(found->op);
    }
  }

  void read_signed() {
    const char sign = peek();
    if (sign == '-' || sign == '+') ++at_;
    read_power();
    if (sign == '-') emit(Op::Negate);
  }

  void read_power() {
    read_operand();
    if (peek() != '^') return;
    ++at_;
    const Nested nested(*this);
    read_signed();
    emit(Op::Power);
  }

  void read_operand() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      read_number();
    } else if (begins_name(c)) {
      read_name();
    } else if (c == '(') {
      const size_t open = at_++;
      read_choice();
      if (peek() == ',') fail_here("a comma stands between the arguments of a function only");
      close(open);
    } else {
      fail_operand();
    }
  }

  void close(size_t open) {
    if (peek() == '\0') fail_at(open, "a parenthesis is not closed");
    if (text_[at_] == ':') fail_here("':' without a '?' before it");
    if (text_[at_] != ')') fail_after_operand();
    ++at_;
  }

  void read_number() {
    size_t end = at_;
    const auto digits = [&] {
      const size_t first = end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
      return end > first;
    };
    digits();
    if (end < text_.size() && text_[end] == '.') {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      if (!digits()) {
        const std::string number(text_.substr(at_, end - at_));
        fail_at(end, fmt::format("the exponent of '{}' has no digits", number));
      }
    }
    double value = 0;
    const auto parsed = std::from_chars(text_.data() + at_, text_.data() + end, value);
    if (parsed.ec != std::errc() || parsed.ptr != text_.data() + end)
      fail_here(fmt::format("the number '{}' is beyond the range of double precision",
                            text_.substr(at_, end - at_)));
    at_ = end;
    emit(Op::Number, value);
  }

  void read_name() {
    const std::string_view name = name_at(at_);
    require_known(name);
    for (const Function& function : functions)
      if (name == function.name) return read_call(function);
    if (name == "t") {
      out_.uses_time_ = true;
      emit(Op::Time);
    }
    for (const Constant& constant : constants)
      if (name == constant.name) emit(Op::Number, constant.value);
    at_ += name.size();
  }

  void read_call(const Function& function) {
    const size_t begin = at_;
    at_ += function.name.size();
    if (peek() != '(')
      fail_at(begin, fmt::format("'{0}' is a function; expected its arguments, as {0}({1})", function.name,
                                 function.arguments == 3   ? "t, 0, 1"
                                 : function.arguments == 1 ? "t"
                                                           : "t, 1"));
    const size_t open = at_++;
    // ramps are noted in the order of their names, outer ones before inner ones
    const bool is_ramp = function.op == Op::Ramp;
    const size_t ramp = out_.ramps_.size();
    if (is_ramp) out_.ramps_.emplace_back();
    std::array<Range, 3> ranges;
    int count = 0;
    if (peek() == ')') {
      ++at_;
    } else {
      do {
        if (count > 0) ++at_;  // the comma
        const size_t first = out_.code_.size();
        read_choice();
        if (count < 3) ranges[static_cast<size_t>(count)] = {first, out_.code_.size()};
        if (function.arguments == 0 && count > 0) emit(function.op);
        ++count;
      } while (peek() == ',');
      close(open);
    }
    if (count == 0 || (function.arguments > 0 && count != function.arguments))
      wrong_count(function, begin, count);
    if (function.arguments > 0) emit(function.op);
    if (function.name == "avg") {
      emit(Op::Number, count);
      emit(Op::Divide);
    }
    // one of numbers alone is a number now, and has no program
    if (is_ramp && out_.code_.size() > ranges[2].end) out_.ramps_[ramp] = {ranges[0], ranges[1], ranges[2]};
  }

  [[noreturn]] void wrong_count(const Function& function, size_t begin, int found) const {
    const bool any = function.arguments == 0;
    fail_at(begin, fmt::format("too {} arguments of '{}': it takes {}, found {}",
                               any || found < function.arguments ? "few" : "many", function.name,
                               any ? "one or more" : std::to_string(function.arguments), found));
  }

  Expression& out_;
  std::string_view text_;
  size_t at_ = 0;
  size_t foldable_ = 0;  // the program from here on has no target of a jump inside
  size_t depth_ = 0;     // of the stack after what was emitted
  int nesting_ = 0;
};

Expression::Expression(const std::string& text) : text_(text) {
  for (char& c : text_) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (static_cast<unsigned char>(c) < 0x20)
      fail_input("expression has a control character: '{}'", printable(text));
  }
  if (trim(text_).empty()) fail_input("expression is empty; expected a formula of t such as 5 * sin(t)");
  Compiler(*this).compile();
}

double Expression::value(double t) const {
  return run<double>(code_, {0, code_.size()}, t);
}

Jet Expression::jet(double t) const {
  return run<Jet>(code_, {0, code_.size()}, t);
}

std::vector<double> Expression::ramp_corners() const {
  std::vector<double> times;
  for (const Ramp& ramp : ramps_) {
    const auto x = [&](double t) { return run<double>(code_, ramp.x, t); };
    const auto is_number = [&](Range range) {
      return std::none_of(code_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                          code_.begin() + static_cast<std::ptrdiff_t>(range.end),
                          [](const Instruction& step) { return step.op == Op::Time; });
    };
    if (!is_number(ramp.a) || !is_number(ramp.b) || is_number(ramp.x)) continue;
    const double from = x(0), slope = x(1) - from;
    const bool line = std::abs(x(2) - from - 2 * slope) <= 1e-12 * (std::abs(from) + std::abs(slope));
    if (!line || slope == 0 || !std::isfinite(from + slope)) continue;
    times.push_back((run<double>(code_, ramp.a, 0) - from) / slope);
    times.push_back((run<double>(code_, ramp.b, 0) - from) / slope);
  }
  return times;
}

namespace {

std::string_view written_name(Op op) {
  if (op == Op::Negate) return "neg";
  for (const Operator& one : operators)
    if (one.op == op) return one.sign;
  // log, the first of its two names; sum and avg are signs already
  for (const Function& one : functions)
    if (one.op == op) return one.name;
  LISSOM_ASSERT(false);
  return {};
}

}  // namespace

std::string Expression::write(const ExpressionWriter& writer) const {
  return write({0, code_.size()}, writer);
}

// As run() does it, with texts on the stack. A choice is a jump over the first value, which ends with a jump over
// the second one.
std::string Expression::write(Range range, const ExpressionWriter& writer) const {
  std::vector<std::string> stack;
  for (size_t i = range.begin; i < range.end; ++i) {
    const Instruction& step = code_[i];
    if (step.op == Op::Number) {
      stack.push_back(writer.number(step.number));
    } else if (step.op == Op::Time) {
      stack.push_back(writer.time());
    } else if (step.op == Op::JumpIfZero) {
      const size_t otherwise = step.target, end = code_[otherwise - 1].target;
      LISSOM_ASSERT(code_[otherwise - 1].op == Op::Jump && end > otherwise && end <= range.end);
      stack.back() =
          writer.choice(stack.back(), write({i + 1, otherwise - 1}, writer), write({otherwise, end}, writer));
      i = end - 1;
    } else {
      const auto count =
          static_cast<size_t>(step.op == Op::Ramp || step.op == Op::Step ? 3 : operands(step.op));
      LISSOM_ASSERT(stack.size() >= count);
      std::string text = writer.apply(written_name(step.op), std::span(stack).last(count));
      stack.resize(stack.size() - count);
      stack.push_back(std::move(text));
    }
  }
  LISSOM_ASSERT(stack.size() == 1);
  return stack.front();
}

}  // namespace lissom
