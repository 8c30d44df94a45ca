#include "lissom/fe/geometry_trust.hpp"

#include <atomic>

namespace lissom {

namespace {
std::atomic<bool> trust = false;
}

void trust_geometry(bool trusted) {
  trust = trusted;
}

bool geometry_is_trusted() {
  return trust;
}

}  // namespace lissom
