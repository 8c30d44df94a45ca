// libFuzzer target of the matrix readers: the first byte selects the format, the rest is the file. Whatever
// is read goes on through alignment, symmetrisation and the checks, as K and as M.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lissom/core/error.hpp"
#include "lissom/fe/matrix_checks.hpp"
#include "lissom/fe/matrix_reader.hpp"

namespace {

using namespace lissom;

std::vector<ImportedMatrix> read(char format, std::string_view bytes, Diagnostics& diagnostics) {
  switch (format) {
    case 'm':
      return {read_matrix_market(bytes, "fuzz", diagnostics)};
    case 'a':
      return {read_abaqus_mtx(bytes, "fuzz", diagnostics)};
    case 'd':
      return read_dmig(bytes, "fuzz", diagnostics);
    case 'o':
      return read_output4(bytes, "fuzz", diagnostics);
    case 'c': {
      // labels and entries in one file, parted by '#'
      const size_t end = std::min(bytes.find('#'), bytes.size());
      return {read_calculix_matrix(bytes.substr(std::min(end + 1, bytes.size())), "fuzz",
                                   read_calculix_dofs(bytes.substr(0, end), "fuzz"))};
    }
    default:
      return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  looks_like_output4(bytes.substr(1));
  try {
    const auto matrices = read(bytes[0], bytes.substr(1), diagnostics);
    if (matrices.empty()) return 0;
    MatrixImport request;
    request.permit_massless = request.drop_empty_rows = true;
    const FeModel model = make_fe_model(matrices.front(), matrices.back(), request, diagnostics);
    to_string(check_matrices(model));
  } catch (const InputError&) {
    // the only way in which a bad file may end
  }
  return 0;
}
