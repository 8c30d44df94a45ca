// Tables for the terminal.
#pragma once

#include <string>
#include <vector>

namespace lissom {

// Columns are as wide as their widest cell; numbers are right-aligned, so is everything in a column of
// numbers.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lissom
