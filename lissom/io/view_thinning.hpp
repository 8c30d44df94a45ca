// Views made smaller, so that a report keeps to the size that was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lissom/report/report_page.hpp"

namespace lissom {

// The numbers of a view on a page, about.
std::int64_t encoded_bytes(const ReportView& view);

// Takes one step towards `factor` of the bytes: coarser surfaces, fewer frames, fewer runs, whichever costs
// least to the eye; says in the views' notes and in `notes` what was done. False: nothing is left to take.
bool thin_views(const std::vector<ReportView*>& views, double factor, std::vector<std::string>& notes);

// The view with at most so many points (fe/surface.hpp, simplify). Sensors go to the nearest point left.
View with_fewer_points(const View& view, std::int64_t most);
// Every so many frames, and the last one.
View with_fewer_frames(const View& view, int every);

}  // namespace lissom
