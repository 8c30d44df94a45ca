// Calls of malloc so far, in the whole program (tests/fe/allocation_test.cpp); -1 under the sanitizers, which
// have a malloc of their own.
#pragma once

namespace lissom::test {
long allocation_count();
}
