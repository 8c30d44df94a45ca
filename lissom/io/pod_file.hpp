// A parametric model of a mechanism of beams in one HDF5 file, in SI units: bases of the training samples,
// what is made of them, and the study it came from, which gives everything else once the parameters are
// known. The same format as SLAP models, of kind "pod". The schema is docs/reference/rom-file.md; change the
// two together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/pod_train_spec.hpp"

namespace lissom {

struct PodFile {
  std::string title;
  std::string study;       // text of the study file
  std::string study_path;  // where it was, for file names in it
  std::string case_name;   // of the study, whose loads are the model's own; empty: the study itself
  std::vector<StudyParameter> parameters;
  std::vector<std::string> beams;  // whose nodal coordinates follow each other
  PodLibrary library;
  PodRule rule = PodRule::SingularValues;
  double fraction = 0.999;
  int order = 0;  // r that is used unless another is asked for
  std::string why;
  PodBodyOptions body;
  SlapAccuracy accuracy;  // of reduced runs of some of the samples
  std::string lissom_version;
};

// The first thing that is wrong, as a sentence; empty if nothing is.
std::string inconsistency_of(const PodFile& file);

// Written to a temporary name and renamed. Throws Error.
void write_pod_file(const std::filesystem::path& path, const PodFile& file);
// Throws InputError: no such file, not such a model, newer, truncated, damaged, inconsistent. Entries that
// this version does not know are warnings.
PodFile read_pod_file(const std::filesystem::path& path, Diagnostics& diagnostics);
// Whether it is there, and a model of this kind.
bool is_pod_file(const std::filesystem::path& path);

}  // namespace lissom
