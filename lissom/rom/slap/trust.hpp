// How far the states of a run are from what a reduced mechanism was trained on.
#pragma once

#include <optional>
#include <string>

#include "lissom/core/archive.hpp"
#include "lissom/core/diagnostics.hpp"
#include "lissom/mbs/equations.hpp"
#include "lissom/rom/slap/slap_model.hpp"

namespace lissom {

// A state further from the training than this many of its own distances has left it.
inline constexpr double trust_threshold = 3;

// How far a reduced mechanism has left its training.
class Trust {
 public:
  // `training` outlives it, and is null of a full model; `advice` says how the training could be extended.
  explicit Trust(const SlapTraining* training, std::string advice = "")
      : training_(training), advice_(std::move(advice)) {}
  bool known() const { return training_ && training_->samples.cols() > 0; }

  // The distance at a sample; 0 where nothing is known.
  double at(const State& state);

  void warn(Diagnostics& diagnostics) const;
  // For the message of a run that fails: it may be why.
  std::string left_before() const;
  double largest() const { return largest_; }
  double largest_at() const { return at_; }                               // [s]
  std::optional<double> outside_since() const { return outside_since_; }  // [s]
  std::string text() const;
  // What later samples depend on.
  void archive(Archive& archive) { archive(any_, largest_, at_, first_outside_, outside_since_); }

 private:
  const SlapTraining* training_;
  std::string advice_;
  bool any_ = false;
  double largest_ = 0, at_ = 0, first_outside_ = 0;
  std::optional<double> outside_since_;
};

}  // namespace lissom
