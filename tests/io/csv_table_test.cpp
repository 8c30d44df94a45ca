#include "lissom/io/csv_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lissom/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::csv_table_test {
namespace {

TEST(CsvText, KeepsTextsAndMakesNumbersOfWhatIsOne) {
  const TemporaryFolder folder;
  folder.write("a.csv", "name,\"value, [m]\",note\n# passed over\n\"a, \"\"b\"\"\",1.5,\nc,,later\nd,inf,\n");
  const CsvText table = read_csv_text(folder / "a.csv");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"name", "value, [m]", "note"}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0], "a, \"b\"");
  EXPECT_EQ(table.rows[1][2], "later");
  EXPECT_EQ(table.find("value, [m]"), 1);
  EXPECT_EQ(table.find("other"), -1);
  const std::vector<double> values = table.numbers(1);
  EXPECT_EQ(values[0], 1.5);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FALSE(std::isfinite(values[2]));
  // of a column that is not there nothing is known
  EXPECT_TRUE(std::isnan(table.numbers(-1).at(2)));
}

TEST(CsvText, ARowThatIsCutOffIsNamedWithItsLine) {
  const TemporaryFolder folder;
  folder.write("a.csv", "a,b\n1,x\n2\n");
  EXPECT_NE(message_of<InputError>([&] {
              read_csv_text(folder / "a.csv");
            }).find("a.csv:3: has 1 fields, the heading has 2; the file may be truncated"),
            std::string::npos);
  folder.write("b.csv", "a,b\n");
  EXPECT_NE(message_of<InputError>([&] { read_csv_text(folder / "b.csv"); }).find("has no line"),
            std::string::npos);
}

}  // namespace
}  // namespace lissom::csv_table_test
