#include "lissom/io/csv_table.hpp"

#include <gtest/gtest.h>

#include "lissom/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom {
namespace {

TEST(CsvText, KeepsTextsAndEmptyFields) {
  const TemporaryFolder folder;
  folder.write("a.csv", "name,\"value, [m]\",note\n# passed over\n\"a, \"\"b\"\"\",1.5,\nc,,later\nd,inf,\n");
  const CsvText table = read_csv_text(folder / "a.csv");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"name", "value, [m]", "note"}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0], "a, \"b\"");
  EXPECT_EQ(table.rows[1][2], "later");
  EXPECT_EQ(table.rows[1][1], "");
}

TEST(CsvText, ARowThatIsCutOffIsNamedWithItsLine) {
  const TemporaryFolder folder;
  folder.write("a.csv", "a,b\n1,x\n2\n");
  EXPECT_NE(message_of<InputError>([&] {
              read_csv_text(folder / "a.csv");
            }).find("a.csv:3: has 1 fields, the heading has 2; the file may be truncated"),
            std::string::npos);
  folder.write("b.csv", "a,b\n");
  EXPECT_TRUE(read_csv_text(folder / "b.csv").rows.empty());
}

}  // namespace
}  // namespace lissom
