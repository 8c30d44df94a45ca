// The only unit that is told the checkout's place, so that compilations of all others can be shared between checkouts.
#include "tests/paths.hpp"

namespace lissom::test {

std::filesystem::path source_folder() {
  return LISSOM_SOURCE_FOLDER;
}

std::filesystem::path test_data() {
  return source_folder() / "tests/data";
}

std::filesystem::path shared_folder() {
  return source_folder() / "../shared";
}

}  // namespace lissom::test
