// Our own style sheets and scripts of reports (lissom/report/page/), built into the program.
#pragma once

#include <string_view>
#include <vector>

namespace lissom {

struct PageAsset {
  std::string_view name;  // "plot.js"
  std::string_view text;
};

// In the order in which a page has them.
const std::vector<PageAsset>& page_assets();

}  // namespace lissom
