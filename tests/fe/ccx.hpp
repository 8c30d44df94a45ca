// CalculiX as an independent witness: its matrices (*FREQUENCY, SOLVER=MATRIXSTORAGE) and its frequencies.
#pragma once

#include <Eigen/Core>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "lissom/core/text.hpp"
#include "lissom/fe/mesh.hpp"

namespace lissom::test {

inline bool has_ccx() {
  return std::system("command -v ccx > /dev/null 2>&1") == 0;
}

// Writes the mesh with CalculiX's name for its element type (e.g. "C3D10"; all elements alike), what else the
// model has, and `step`, and runs ccx in a new folder, which it returns; files are job.* there.
inline std::filesystem::path run_ccx(const Mesh& mesh, const std::string& ccx_type, const std::string& step,
                                     const std::string& model = "") {
  namespace fs = std::filesystem;
  static int run = 0;
  const fs::path folder = fs::temp_directory_path() / fmt::format("lissom_ccx_{}_{}", ::getpid(), run++);
  fs::create_directories(folder);
  {
    std::ofstream out(folder / "job.inp");
    out << "*NODE, NSET=NALL\n";
    for (int i = 0; i < mesh.node_count(); ++i)
      out << fmt::format("{}, {:.17g}, {:.17g}, {:.17g}\n", mesh.node_ids[i], mesh.points(0, i),
                         mesh.points(1, i), mesh.points(2, i));
    out << "*ELEMENT, ELSET=EALL, TYPE=" << ccx_type << "\n";
    for (int e = 0; e < mesh.element_count(); ++e) {
      out << mesh.element_ids[e];
      int on_line = 1;
      for (const int node : mesh.element_nodes(e)) {
        // a line holds 16 numbers at most
        out << (on_line == 15 ? ",\n" : ", ") << mesh.node_ids[node];
        on_line = on_line == 15 ? 1 : on_line + 1;
      }
      out << "\n";
    }
    const Material& material = mesh.materials.at(0);
    out << "*MATERIAL, NAME=M\n";
    if (material.isotropic) {
      out << fmt::format("*ELASTIC\n{:.17g}, {:.17g}\n", material.isotropic->E, material.isotropic->nu);
    } else {
      const Orthotropic& o = *material.orthotropic;
      out << fmt::format(
          "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, "
          "{:.17g}, "
          "{:.17g}\n{:.17g}\n",
          o.E1, o.E2, o.E3, o.nu12, o.nu13, o.nu23, o.G12, o.G13, o.G23);
    }
    out << fmt::format("*DENSITY\n{:.17g}\n*SOLID SECTION, ELSET=EALL, MATERIAL=M", *material.density);
    if (material.orthotropic) out << ", ORIENTATION=O";
    out << "\n";
    if (material.orthotropic) {
      // a rectangular system by a point on axis 1 and one in the plane of 1 and 2
      const Eigen::Matrix3d& axes = material.orthotropic->axes;
      out << fmt::format(
          "*ORIENTATION, NAME=O, SYSTEM=RECTANGULAR\n{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, "
          "{:.17g}\n",
          axes(0, 0), axes(1, 0), axes(2, 0), axes(0, 1), axes(1, 1), axes(2, 1));
    }
    for (const auto& [name, nodes] : mesh.node_sets) {
      out << "*NSET, NSET=" << name << "\n";
      for (const int node : nodes) out << mesh.node_ids[node] << ",\n";
    }
    out << model << "*STEP\n" << step << "*END STEP\n";
  }
  const std::string command =
      fmt::format("cd '{}' && OMP_NUM_THREADS=1 ccx job > job.log 2>&1", folder.string());
  if (std::system(command.c_str()) != 0) throw Error("ccx failed in " + folder.string());
  return folder;
}

struct CcxMatrices {
  Eigen::MatrixXd K, M;  // full, 3 per node in node order; nodes that ccx adds (C3D8I) come last
};

inline CcxMatrices ccx_matrices(const Mesh& mesh, const std::string& ccx_type) {
  const auto folder = run_ccx(mesh, ccx_type, "*FREQUENCY, SOLVER=MATRIXSTORAGE\n10\n");
  // job.dof: "node.direction" of each row; .sti and .mas: row, column, value of the upper triangle
  std::vector<int> dof_of_row;
  std::ifstream dofs(folder / "job.dof");
  std::string word;
  while (dofs >> word) {
    const size_t dot = word.find('.');
    const long id = std::stol(word.substr(0, dot)), direction = std::stol(word.substr(dot + 1));
    int node = -1;
    for (int i = 0; i < mesh.node_count(); ++i)
      if (mesh.node_ids[i] == id) node = i;
    dof_of_row.push_back(node < 0 ? -1 : 3 * node + static_cast<int>(direction) - 1);
  }
  // rows of nodes that ccx adds (inner nodes of C3D8I) go behind the mesh's own
  int size = 3 * mesh.node_count();
  for (int& dof : dof_of_row)
    if (dof < 0) dof = size++;
  CcxMatrices result;
  const auto read = [&](const char* name) {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
    std::ifstream in(folder / name);
    long row, col;
    double value;
    while (in >> row >> col >> value) {
      A(dof_of_row.at(row - 1), dof_of_row.at(col - 1)) = value;
      A(dof_of_row.at(col - 1), dof_of_row.at(row - 1)) = value;
    }
    return A;
  };
  result.K = read("job.sti");
  result.M = read("job.mas");
  std::filesystem::remove_all(folder);
  return result;
}

// The lowest frequencies [Hz] with a node or all nodes of a node set clamped and with what else the model has
// (equations), as ccx prints them (seven digits).
inline Eigen::VectorXd ccx_frequencies(const Mesh& mesh, const std::string& ccx_type,
                                       const std::string& clamped, int count, const std::string& model = "") {
  const auto folder =
      run_ccx(mesh, ccx_type, fmt::format("*BOUNDARY\n{}, 1, 3\n*FREQUENCY\n{}\n", clamped, count), model);
  // lines "mode  eigenvalue  rad/s  cycles/s  imaginary" after the first heading
  std::ifstream in(folder / "job.dat");
  Eigen::VectorXd frequencies(count);
  int found = 0;
  for (std::string line; found < count && std::getline(in, line);) {
    const auto words = split_blanks(line);
    if (words.size() == 5 && parse_long(words[0]) == found + 1)
      frequencies[found++] = *parse_double(words[3]);
  }
  if (found < count) throw Error("ccx printed too few frequencies in " + folder.string());
  std::filesystem::remove_all(folder);
  return frequencies;
}

}  // namespace lissom::test
