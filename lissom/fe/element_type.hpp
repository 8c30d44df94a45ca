// The six solid elements and their node order.
//
// Lissom's order is Abaqus' and CalculiX' (and VTK's, except that VTK turns wedges the other way round): corners
// first, then the mid-side nodes
//   tet10    edges 01 12 20 | 03 13 23
//   hex20    edges 01 12 23 30 (bottom) | 45 56 67 74 (top) | 04 15 26 37 (upright)
//   wedge15  edges 01 12 20 (bottom)    | 34 45 53 (top)    | 03 14 25 (upright)
// Gmsh swaps the last two of tet10 and orders hex20 and wedge15 edge by edge; Nastran has the upright edges
// before the top ones. Readers permute into this order; nothing behind them knows another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lissom {

enum class ElementType : std::uint8_t { Tet4, Tet10, Hex8, Hex20, Wedge6, Wedge15 };

inline constexpr std::array<ElementType, 6> all_element_types = {ElementType::Tet4,   ElementType::Tet10,
                                                                 ElementType::Hex8,   ElementType::Hex20,
                                                                 ElementType::Wedge6, ElementType::Wedge15};

// Nodes of an element of this type: 4, 10, 8, 20, 6, 15.
constexpr int node_count(ElementType type) {
  constexpr int counts[] = {4, 10, 8, 20, 6, 15};
  return counts[static_cast<int>(type)];
}
// Corner nodes: 4, 8 or 6; they are the first ones.
constexpr int corner_count(ElementType type) {
  constexpr int counts[] = {4, 4, 8, 8, 6, 6};
  return counts[static_cast<int>(type)];
}
constexpr bool is_quadratic(ElementType type) {
  return node_count(type) != corner_count(type);
}

// "tet4", "tet10", "hex8", "hex20", "wedge6", "wedge15".
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_from_name(std::string_view name);

// The two corners that each mid-side node lies between, in node order; empty for linear elements.
std::span<const std::array<int, 2>> mid_side_edges(ElementType type);

}  // namespace lissom
