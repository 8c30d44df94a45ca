// How many modes: the searches that end when the asked accuracy is reached.
//
// The default ("certified") takes the lowest fixed-interface modes and the residual vectors B, and raises the
// number of modes, galloping and then bisecting, until the enclosure of error_estimate.hpp proves the
// tolerance for every flexible mode in range; where the plain basis without B proves it with fewer
// coordinates, it is taken instead. "estimate" stops on twice zeta_2, which is cheaper and not proven.
// "paper" is the iteration of paper 001, Sec. 4: the lowest modes one by one until Eqs. 42-43 are below the
// tolerance. "fixed" takes what the user says.
//
// Guard, for all of them (errata): every fixed-interface mode up to 1.05 chi_bar of the last mode in range is
// kept, because a mode that does not couple to the interface is invisible to every estimate.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "lissom/cms/craig_bampton.hpp"
#include "lissom/cms/error_table.hpp"

namespace lissom {

enum class SelectionMethod : std::uint8_t { Certified, Estimate, Paper, Fixed };
std::string_view name_of(SelectionMethod method);  // "certified", "estimate", "paper", "fixed"

struct SelectionOptions {
  SelectionMethod method = SelectionMethod::Certified;
  int range = 10;  // N_m: flexible modes that must meet the tolerance
  // Instead of `range`, if positive: all flexible modes up to this frequency [Hz], and the next one, whose
  // bound proves that none is missing.
  double up_to_hz = 0;
  double tolerance = 1e-3;  // on the relative error of their eigenvalues, between 0 and 1
  int count = 0;            // modes to keep, with Fixed
  int initial = 5;          // N_init, where Paper starts
  bool residuals = true;    // the vectors B may join the basis (not with Paper)
  bool rank = false;  // take modes by their contribution instead of by frequency (not with Paper and Fixed)
  int max_modes = 2000;  // give up beyond
};
// What is wrong with the numbers, one line each, each beginning with the field's name; empty if nothing is.
std::vector<std::string> problems_of(const SelectionOptions& options);

struct Selection {
  InteriorChoice choice;
  int range = 0;        // flexible modes that the tolerance was asked for
  ErrorTable errors;    // of the modes in range, bounds included
  bool reached = true;  // false: max_modes came first
  int coordinates = 0;  // interior ones
  int evaluations = 0;  // reduced bodies looked at
};

// The number of flexible modes up to a frequency, and one more: what `up_to_hz` makes of the range. chi_bar
// is an upper bound of chi, so that modes are counted up to the frequency and the tolerance above it. Throws
// InputError where there is none.
int range_up_to(CraigBampton& body, double hz, double tolerance, int max_modes);

// Throws InputError where the body has fewer flexible modes than the range asks for. Warns (and says so in
// the result) where the tolerance was not reached within max_modes.
Selection select_modes(CraigBampton& body, const SelectionOptions& options, Diagnostics& diagnostics,
                       const ProgressHook& progress = {});

// Fills ErrorTable::modes[].exact: chi are the flexible eigenvalues of the whole body, ascending, as many as
// there are.
void set_exact_errors(std::vector<ModeError>& modes, const Eigen::Ref<const Eigen::VectorXd>& chi);

// Errors over the number of modes of the plain basis, in frequency order (the paper's Figs. 4 and 14).
struct SweepPoint {
  int modes = 0;
  std::vector<ModeError> errors;  // of the flexible modes in range that there are
  bool guarded = false;           // the guard holds
};
struct SweepOptions {
  int range = 10;
  int first = 5, last = 100;
  int bounds_up_to = 0;  // so many modes with the enclosure, which costs an eigenvalue per mode in range
  // ends the sweep, at `at_least` modes or later, when the guard holds and the paper's estimate of all modes
  // in range is below
  double stop_below = 0;
  int at_least = 0;
};
std::vector<SweepPoint> sweep_modes(CraigBampton& body, const SweepOptions& options,
                                    const Eigen::Ref<const Eigen::VectorXd>& chi,
                                    const ProgressHook& progress = {});

// Interior coordinates that each way of choosing needs for each tolerance, side by side.
struct ComparedMethod {
  std::string name;
  struct Entry {
    int coordinates = -1;          // -1: not reached within max_modes
    double exact = unknown_error;  // largest exact error in range of that body
    bool certified = false;
  };
  std::vector<Entry> entries;  // one per tolerance
};
// `chi` as above; without it (0 rows) the rows that stop on the exact error are left out. `sweep` holds the
// plain bases from the first one on.
std::vector<ComparedMethod> compare_methods(CraigBampton& body, int range,
                                            const std::vector<double>& tolerances,
                                            const Eigen::Ref<const Eigen::VectorXd>& chi,
                                            const std::vector<SweepPoint>& sweep, int max_modes,
                                            const ProgressHook& progress = {});

}  // namespace lissom
