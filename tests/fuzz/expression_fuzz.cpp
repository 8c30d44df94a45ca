// libFuzzer target of expressions: any text is refused by an InputError or compiled, and what is compiled has
// a value, the same with and without derivatives, at any time.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "lissom/core/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lissom;
  try {
    const Expression expression(std::string(reinterpret_cast<const char*>(data), size));
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double t : {0.0, -0.0, 1.0, 0.3, -2.5, 1e300, 5e-324, infinite, -infinite, std::nan("")}) {
      const double value = expression.value(t);
      const Jet jet = expression.jet(t);
      LISSOM_ASSERT(jet.value == value || (std::isnan(jet.value) && std::isnan(value)));
    }
    for (const double corner : expression.ramp_corners()) LISSOM_ASSERT(!std::isnan(corner));
    // what it keeps of the text is the same expression
    const Expression again(expression.text());
    LISSOM_ASSERT(again.uses_time() == expression.uses_time());
  } catch (const InputError&) {
    // what a user would be told
  }
  return 0;
}
