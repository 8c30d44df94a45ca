// The trajectory of one body as text: a line a sample, "t" first, then x y z of node after node. Fields are
// separated by commas, semicolons, tabs or blanks; lines that begin with # are passed over; a heading may
// name the columns "t,17.x,17.y,17.z,...".
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lissom/core/diagnostics.hpp"
#include "lissom/io/byte_source.hpp"

namespace lissom {

class CsvTrajectory {
 public:
  // Goes through the file once and keeps where its lines are, and their times. Throws InputError with the
  // line: another number of fields, no number, a heading whose nodes are not x y z in turn.
  CsvTrajectory(const std::filesystem::path& path, Diagnostics& diagnostics);

  const std::vector<double>& times() const { return times_; }         // as the file has them
  const std::vector<std::int64_t>& node_ids() const { return ids_; }  // of the heading, or empty
  int nodes() const { return nodes_; }
  // X (3 nodes by count). Throws InputError with line and column.
  void read(int first, int count, Eigen::Ref<Eigen::MatrixXd> X) const;

 private:
  struct Line {
    std::uint64_t offset = 0, bytes = 0;
    long number = 0;
  };
  void take_line(std::string_view text, const Line& line, Diagnostics& diagnostics);
  void take_heading(std::string_view text, long number, Diagnostics& diagnostics);

  std::shared_ptr<ByteSource> bytes_;
  std::string file_;
  std::vector<Line> lines_;
  std::vector<double> times_;
  std::vector<std::int64_t> ids_;
  int nodes_ = -1;  // not known yet
  char separator_ = 0;
  bool heading_ = false;
};

// All numbers of a text file, with whatever of these separators between them; a first line that is no number
// is taken for a heading. Throws InputError.
std::vector<double> read_numbers(const std::filesystem::path& path);

}  // namespace lissom
