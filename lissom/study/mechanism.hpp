// What a job works on: the mechanism of a study or of one of its cases, or one that was reduced as a whole.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lissom/io/rom_file.hpp"
#include "lissom/rom/mechanism_ode.hpp"
#include "lissom/study/build_system.hpp"
#include "lissom/study/job.hpp"
#include "lissom/study/linear_run.hpp"
#include "lissom/study/linear_training.hpp"
#include "lissom/study/study_inputs.hpp"

namespace lissom {

struct MechanismInput {
  StudyInput main;  // a study, or the file of a reduced mechanism (with settings of its study)
  std::optional<StudyInput> study;  // of a reduced mechanism: loads and sensors of this one, not of its own
  std::string case_name;            // empty: the study itself
  bool strict = false;  // parameters outside of what a parametric model was trained on are an error

  bool is_study() const { return main.text || lissom::is_study(main.file); }
};

struct Mechanism {
  StudyFile study;  // or the case
  std::string title;
  std::function<StudySystem()> make;              // reduces bodies as needed, once
  std::shared_ptr<const LinearMechanism> linear;  // in its place: bodies are not known any more
  std::shared_ptr<const InputGuard> inputs;       // no file that it comes from is replaced
};
// Trains the model where the study simulates one that is to be trained. `context` must outlive the result.
// Throws InputError: no such file or case, a file that is neither.
Mechanism open_mechanism(const MechanismInput& input, JobContext& context);

// The study itself (by name: "study"), or the case that was asked for.
const StudyFile& chosen_case(const StudyFile& study, const std::string& name);
// The study whose loads, sensors and [simulate] a model runs: its own, or that of the input. `own` is the
// text of its own, `path` where that was.
StudyFile study_of_rom(const std::string& own, const std::string& path, const MechanismInput& input);
// A parametric model in place of a case's bodies.
StudySystem pod_system(const StudyFile& variant, const PodFile& model, bool strict, JobContext& context);
// The linear model of a study or of a case of it.
LinearTraining trained_linear(const StudyFile& variant, JobContext& context);
// A mechanism without constraints under the loads of a study. Throws InputError where some are left, and what
// study_start() throws.
MechanismOde study_ode(const StudyFile& study, StudySystem built, Diagnostics& diagnostics,
                       const ProgressHook& progress = {});
// Whichever it is, as an ordinary differential equation. Throws InputError as study_ode() and linear_rom() do.
std::unique_ptr<Rom> open_rom(const Mechanism& mechanism, JobContext& context);
// The parametric model that a study or its case is to be trained for; files where `folder` is given.
PodTraining trained_pod(const StudyInput& input, const StudyFile& study, const StudyFile& variant,
                        const std::filesystem::path& folder, const ResumeOptions& resume,
                        JobContext& context);

}  // namespace lissom
