// How often malloc was called so far; counted in tests/fe/allocation_test.cpp, and not with sanitizers.
#pragma once

#include <atomic>

#if defined(__SANITIZE_ADDRESS__)
#define LISSOM_COUNTS_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LISSOM_COUNTS_MALLOC 0
#endif
#endif
#ifndef LISSOM_COUNTS_MALLOC
#define LISSOM_COUNTS_MALLOC 1
#endif

#if LISSOM_COUNTS_MALLOC
namespace lissom::test {
extern std::atomic<long> allocations;
}
#endif
