#include "lissom/io/study_changes.hpp"

#include <gtest/gtest.h>

namespace lissom::study_changes_test {
namespace {

using Lines = std::vector<std::string>;

const char* const before = R"(
title = "a"
gravity = [0, 0, -9.81]
[bodies.arm]
mesh = "arm.msh"
[[loads]]
name = "push"
factor = 1
[simulate]
step = 2e-3
[[cases]]
name = "fine"
set = { "simulate.step" = 1e-3 }
[[cases]]
name = "other"
set = { "simulate.end" = 1 }
)";

TEST(StudyChanges, CommentsOrderAndTitleAreNone) {
  const char* now = R"(
# the same
title = "b"
[simulate]
step = 0.002   # still
[[loads]]
factor = 1.0
name = "push"
[bodies.arm]
mesh = 'arm.msh'
)";
  const Lines found = study_changes(now, before, "");
  EXPECT_EQ(found, (Lines{"gravity: is gone, was [0, 0, -9.81]"}));
}

TEST(StudyChanges, NameTheKeyWithBothValues) {
  std::string now = before;
  now.replace(now.find("step = 2e-3"), 11, "step = 1e-3\nrho_inf = 0.5");
  now.replace(now.find("factor = 1"), 10, "factor = \"sin(t)\"");
  EXPECT_EQ(study_changes(now, before, ""),
            (Lines{"loads.push.factor: \"sin(t)\", was 1", "simulate.rho_inf: 0.5, is new",
                   "simulate.step: 0.001, was 0.002"}));
}

TEST(StudyChanges, OfACaseCountForThatCaseOnly) {
  std::string now = before;
  now.replace(now.find("\"simulate.step\" = 1e-3"), 22, "\"simulate.step\" = 5e-4");
  EXPECT_EQ(study_changes(now, before, ""), Lines{});
  EXPECT_EQ(study_changes(now, before, "other"), Lines{});
  EXPECT_EQ(study_changes(now, before, "fine"), (Lines{"cases.fine.set.simulate.step: 0.0005, was 0.001"}));
}

}  // namespace
}  // namespace lissom::study_changes_test
