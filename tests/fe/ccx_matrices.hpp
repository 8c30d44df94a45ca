// K and M of a mesh as CalculiX assembles them, by running it (*FREQUENCY, SOLVER=MATRIXSTORAGE).
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

struct CcxMatrices {
  Eigen::MatrixXd K, M;  // full, 3 per node in node order
};

// Writes the mesh with CalculiX's name for its element type (e.g. "C3D10"; all elements alike), runs ccx in a
// folder of its own and reads the matrices. Throws Error where ccx fails.
inline CcxMatrices ccx_matrices(const Mesh& mesh, const std::string& ccx_type) {
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
    out << "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n10\n*END STEP\n";
  }
  const std::string command =
      fmt::format("cd '{}' && OMP_NUM_THREADS=1 ccx job > job.log 2>&1", folder.string());
  [[maybe_unused]] const int status = std::system(command.c_str());
  if (!fs::exists(folder / "job.sti") || !fs::exists(folder / "job.mas"))
    throw Error("ccx wrote no matrices in " + folder.string());

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
  fs::remove_all(folder);
  return result;
}

}  // namespace lissom::test
