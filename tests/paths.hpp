// Where the tests find their files.
#pragma once

#include <filesystem>

namespace lissom::test {

std::filesystem::path source_folder();  // the root of the checkout
std::filesystem::path test_data();      // tests/data
std::filesystem::path shared_folder();  // ../shared, which may be absent

}  // namespace lissom::test
