// Blocks of a report in the making, found by their ids, also where they are folded.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lissom/report/report_parts.hpp"

namespace lissom {

template <class T>
void collect_blocks(const std::vector<ReportBlock>& blocks, std::vector<const T*>& out) {
  for (const ReportBlock& block : blocks) {
    if (const T* found = std::get_if<T>(&block)) out.push_back(found);
    if (const auto* details = std::get_if<ReportDetails>(&block)) collect_blocks(details->blocks, out);
  }
}

// All blocks of a kind on the page.
template <class T>
std::vector<const T*> blocks_of(const ReportDraft& draft) {
  std::vector<const T*> out;
  for (const ReportSection& section : draft.page.sections) collect_blocks(section.blocks, out);
  return out;
}

// The table, figure or view of this id; an empty one, and a failure, where there is none.
template <class T>
const T& block_of(const ReportDraft& draft, const std::string& id) {
  static const T none;
  std::string ids;
  for (const T* block : blocks_of<T>(draft)) {
    if (block->id == id) return *block;
    ids += " " + block->id;
  }
  ADD_FAILURE() << "no block " << id << ", there are" << ids;
  return none;
}

// The column of a table, or -1.
inline int column_of(const ReportTable& table, const std::string& name) {
  for (size_t k = 0; k < table.columns.size(); ++k)
    if (table.columns[k] == name) return static_cast<int>(k);
  return -1;
}

// The cell of a table; "?" where there is none.
inline ReportValue cell_of(const ReportTable& table, size_t row, const std::string& column) {
  const int k = column_of(table, column);
  return k < 0 || row >= table.rows.size() ? ReportValue("?") : table.rows[row][k];
}

inline const ReportSeries& series_of(const ReportFigure& figure, const std::string& name) {
  static const ReportSeries none;
  for (const ReportSeries& series : figure.series)
    if (series.name == name) return series;
  ADD_FAILURE() << "no series " << name << " in " << figure.id;
  return none;
}

inline std::vector<std::string> section_ids(const ReportDraft& draft) {
  std::vector<std::string> out;
  for (const ReportSection& section : draft.page.sections) out.push_back(section.id);
  return out;
}

// All texts of the page in one.
inline std::string texts_of(const ReportDraft& draft) {
  std::string all;
  for (const ReportText* text : blocks_of<ReportText>(draft)) all += text->text + "\n";
  return all;
}

// Every entry of the summary, one after another, is taken out, made null, and made something else.
inline void spoil(nlohmann::json& at, const std::string& path,
                  const std::function<void(const std::string&)>& look) {
  if (!at.is_structured()) return;
  std::vector<std::string> keys;
  if (at.is_object())
    for (const auto& [key, value] : at.items()) keys.push_back(key);
  const size_t count = at.size();
  for (size_t i = 0; i < count; ++i) {
    nlohmann::json& entry = at.is_object() ? at[keys[i]] : at[i];
    const nlohmann::json kept = entry;
    const std::string here = path + "/" + (at.is_object() ? keys[i] : std::to_string(i));
    for (const nlohmann::json& other :
         {nlohmann::json(), nlohmann::json("text"), nlohmann::json(-1.5), nlohmann::json::array(),
          nlohmann::json::object(), nlohmann::json::array({nlohmann::json()})}) {
      entry = other;
      look(here);
    }
    entry = kept;
    spoil(entry, here, look);
    if (at.is_object()) {
      at.erase(keys[i]);
      look(here);
      at[keys[i]] = kept;
    }
  }
}

}  // namespace lissom
