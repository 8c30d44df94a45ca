// What is wrong with one thing of several that were handed over together: the fourth joint, the second body. The
// message names it; who knows where it came from (a line of a study file) can find it by kind and number, and say so.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lissom/core/error.hpp"

namespace lissom {

struct Subject {
  enum class Kind : std::uint8_t { Options, Body, Joint, Load, Place, Run } kind = Kind::Options;
  int index = -1;  // -1: all of them
};

class SubjectError : public InputError {
 public:
  // `label` is the thing as messages name it, "joint 'pin'".
  SubjectError(Subject subject, const std::string& label, const std::string& problem)
      : InputError(label + ": " + problem), subject_(subject), problem_(problem) {}
  const Subject& subject() const { return subject_; }
  const std::string& problem() const { return problem_; }  // without the label

 private:
  Subject subject_;
  std::string problem_;
};

// What `work` returns; wrong input that it finds becomes one of the subject.
template <class Work>
decltype(auto) about(Subject subject, const std::string& label, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const SubjectError&) {
    throw;
  } catch (const InputError& e) {
    throw SubjectError(subject, label, e.what());
  }
}

}  // namespace lissom
