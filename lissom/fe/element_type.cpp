#include "lissom/fe/element_type.hpp"

namespace lissom {

namespace {

constexpr std::array<int, 2> tet_edges[] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
constexpr std::array<int, 2> hex_edges[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                            {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
constexpr std::array<int, 2> wedge_edges[] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5},
                                              {5, 3}, {0, 3}, {1, 4}, {2, 5}};

}  // namespace

std::string_view name_of(ElementType type) {
  constexpr std::string_view names[] = {"tet4", "tet10", "hex8", "hex20", "wedge6", "wedge15"};
  return names[static_cast<int>(type)];
}

std::optional<ElementType> element_type_from_name(std::string_view name) {
  for (ElementType type : all_element_types)
    if (name_of(type) == name) return type;
  return std::nullopt;
}

std::span<const std::array<int, 2>> mid_side_edges(ElementType type) {
  switch (type) {
    case ElementType::Tet10:
      return tet_edges;
    case ElementType::Hex20:
      return hex_edges;
    case ElementType::Wedge15:
      return wedge_edges;
    default:
      return {};
  }
}

}  // namespace lissom
