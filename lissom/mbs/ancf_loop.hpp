// The loops over the elements of ANCF beams: forces, and tangents that are added to a Newton matrix, several
// elements side by side (with the processor's AVX2 where it has it).
//
// Nodes of all beams are numbered one after the other; node values are kept component by component, so that
// those of neighbouring elements are neighbours in memory.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "lissom/mbs/ancf_element.hpp"
#include "lissom/mbs/body.hpp"

namespace lissom {

// A beam of the loops: elements between nodes first_node, first_node + 1, ...
struct AncfLoopBeam {
  int first_node = 0, first_element = 0, elements = 0;
  AncfProperties properties;
  Eigen::Matrix4d mass;  // of an element
};

// How an element's 4 D coordinates e stand in its cell: entry e_i is factor[i] times coordinate local[i] of
// the cell (-1: held). `plain`: all are there, one after the other, with factor one.
struct AncfCellMap {
  bool plain = true;
  int size = 0;
  signed char local[12] = {};
  double factor[12] = {};
};

// Node values (2 D components by nodes): positions, then slopes.
class AncfNodeValues {
 public:
  AncfNodeValues(int components, int nodes)
      : stride_(nodes), data_(components * static_cast<size_t>(nodes)) {}
  double* component(int k) { return data_.data() + k * stride_; }
  const double* component(int k) const { return data_.data() + k * stride_; }

 private:
  size_t stride_;
  std::vector<double> data_;
};

struct AncfLoopRoom {
  AncfLoopRoom(int dimension, int nodes)
      : E(2 * dimension, nodes),
        V(2 * dimension, nodes),
        A(2 * dimension, nodes),
        first(2 * dimension, nodes),
        second(2 * dimension, nodes) {}
  AncfNodeValues E, V, A;        // coordinates, their rates (with damping), accelerations
  AncfNodeValues first, second;  // forces of the element that begins at a node, and of that which ends there
};

// Fills room.first and room.second: elastic and damping forces of room.E, room.V, and the mass times room.A.
void ancf_forces(int dimension, const AncfLaw& law, std::span<const AncfLoopBeam> beams, AncfLoopRoom& room);
// Adds cq df/de + cv df/de' + ca M of every element to its cell.
void ancf_tangents(int dimension, const AncfLaw& law, std::span<const AncfLoopBeam> beams, double cq,
                   double cv, double ca, const AncfLoopRoom& room, std::span<const AncfCellMap> maps,
                   const CellWriter& out);

}  // namespace lissom
