#include "lissom/io/analysis_files.hpp"

#include <fmt/format.h>
#include <matio.h>

#include <memory>

#include "lissom/core/atomic_file.hpp"

namespace lissom {

using Eigen::Index;
using Eigen::MatrixXd;

void write_linearisation(const Linearisation& model, const std::filesystem::path& path) {
  AtomicFile target(path);
  const std::string written_by = fmt::format("MATLAB 5.0 MAT-file, written by Lissom {}", LISSOM_VERSION);
  const std::string temporary = target.temporary().string();
  std::unique_ptr<mat_t, int (*)(mat_t*)> file(
      Mat_CreateVer(temporary.c_str(), written_by.c_str(), MAT_FT_MAT5), Mat_Close);
  if (!file) fail("{}: cannot be written", path.string());
  const auto add = [&](matvar_t* made) {
    std::unique_ptr<matvar_t, void (*)(matvar_t*)> variable(made, Mat_VarFree);
    if (!variable || Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) != 0)
      fail("{}: cannot be written", path.string());
  };
  const auto matrix = [&](const char* name, const MatrixXd& values) {
    size_t dims[2] = {static_cast<size_t>(values.rows()), static_cast<size_t>(values.cols())};
    add(Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, const_cast<double*>(values.data()), 0));
  };
  const auto names = [&](const char* name, const std::vector<std::string>& texts) {
    size_t dims[2] = {texts.size(), 1};
    matvar_t* cell = Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, dims, nullptr, 0);
    for (size_t i = 0; cell && i < texts.size(); ++i) {
      size_t length[2] = {1, texts[i].size()};
      Mat_VarSetCell(
          cell, static_cast<int>(i),
          Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, length, const_cast<char*>(texts[i].c_str()), 0));
    }
    add(cell);
  };
  matrix("A", model.A);
  matrix("B", model.B);
  matrix("C", model.C);
  matrix("D", model.D);
  matrix("eta", model.q);
  matrix("eta_rate", model.v);
  matrix("N", model.N);
  matrix("shapes_real", model.shapes.real());
  matrix("shapes_imaginary", model.shapes.imag());
  matrix("t", MatrixXd::Constant(1, 1, model.t));
  names("states", model.states);
  names("inputs", model.inputs);
  names("outputs", model.outputs);
  // a full disk may show only here
  if (Mat_Close(file.release()) != 0) fail("{}: cannot be written", path.string());
  target.commit();
}

void write_response(const FrequencyResponse& response, const std::filesystem::path& path) {
  AtomicFile file(path);
  // names may have commas and quotes
  const auto quoted = [](std::string name) {
    for (size_t i = name.find('"'); i != std::string::npos; i = name.find('"', i + 2)) name.insert(i, 1, '"');
    return '"' + name + '"';
  };
  std::string line = "f";
  for (const ResponsePair& pair : response.pairs) {
    const std::string name = fmt::format("{} by {}", pair.output, pair.input);
    line += "," + quoted(name + " magnitude") + "," + quoted(name + " phase");
  }
  file.write(line + "\n");
  for (Index i = 0; i < response.frequencies.size(); ++i) {
    line = fmt::format("{}", response.frequencies[i]);
    for (const ResponsePair& pair : response.pairs)
      line += fmt::format(",{},{}", std::abs(pair.H[i]), phase_degrees(pair.H[i]));
    file.write(line + "\n");
  }
  file.commit();
}

}  // namespace lissom
