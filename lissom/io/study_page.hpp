// The reference page of study files, docs/reference/study-file.md, made of the schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lissom/io/study_schema.hpp"

namespace lissom {

// The page as it is written by hand, with lines that stand for tables:
//   @keys TABLE [WORD]   its keys, those that go with the word of its `depends_on`
//   @only TABLE WORD     the keys that go with the word and not with all
//   @words TABLE KEY     the words of a key and their meanings
extern const std::string_view study_page_prose;

// The page. Every key of the schema is in it: an unknown table in the prose, and a key that no table has, are
// bugs of ours.
std::string study_page();

}  // namespace lissom
