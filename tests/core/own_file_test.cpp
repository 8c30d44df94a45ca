#include "lissom/core/own_file.hpp"

#include <gtest/gtest.h>

#include "lissom/core/atomic_file.hpp"
#include "lissom/core/error.hpp"
#include "lissom/core/hdf5.hpp"
#include "lissom/core/read_files.hpp"
#include "lissom/core/text.hpp"
#include "tests/temporary_folder.hpp"

namespace lissom::own_file_test {
namespace {

void write_hdf5(const std::filesystem::path& path, const std::string& format) {
  hdf5::File file = hdf5::File::create(path, path.string());
  hdf5::Group root = file.root();
  root.write_attribute("format", format);
  root.write("numbers", std::vector<int>(1000, 3));
  file.close();
}

// As users have them, and as Lissom writes them, this version and earlier ones.
TEST(OwnFile, IsKnownByItsContent) {
  const TemporaryFolder folder;
  const auto kind = [&](const char* name, const std::string& content) {
    return own_file(folder.write(name, content));
  };
  EXPECT_EQ(own_file(folder / "nothing"), OwnFile::None);
  EXPECT_EQ(own_file(folder.path()), OwnFile::None);
  EXPECT_EQ(kind("a", ""), OwnFile::None);
  EXPECT_EQ(kind("a", "title = \"a study\"\n"), OwnFile::None);
  EXPECT_EQ(kind("a", "lissom checkpoint\n1234"), OwnFile::Checkpoint);
  const std::string head = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  EXPECT_EQ(kind("a", head + "<meta name=\"generator\" content=\"lissom 0.1\">\n"), OwnFile::Page);
  EXPECT_EQ(kind("a", head + "<meta name=\"generator\" content=\"hand\">\n"), OwnFile::None);
  EXPECT_EQ(kind("a", std::string("CDF\2\0\0\0", 7) + "title written_by Lissom 1.0"), OwnFile::Exodus);
  EXPECT_EQ(kind("a", std::string("CDF\2\0\0\0", 7) + "title written_by Cubit"), OwnFile::None);

  EXPECT_EQ(kind("a", R"({"bodies": {"lissom_version": 1}, "lissom_version": "1.0"})"), OwnFile::Json);
  EXPECT_EQ(kind("a", R"({"bodies": {"lissom_version": 1}})"), OwnFile::None);
  EXPECT_EQ(kind("a", R"({"format": "lissom sweep", "points": []})"), OwnFile::Json);
  EXPECT_EQ(kind("a", R"({"A": [[1]], "eigenvalues": [], "growth": 0, "moving": false, "states": []})"),
            OwnFile::Json);
  EXPECT_EQ(kind("a", R"({"frequencies_hz": [1], "pairs": []})"), OwnFile::Json);
  EXPECT_EQ(kind("a", R"({"frequencies_hz": [1]})"), OwnFile::None);
  EXPECT_EQ(kind("a", R"([{"lissom_version": 1}])"), OwnFile::None);
  EXPECT_EQ(kind("a", R"({"half": )"), OwnFile::None);

  EXPECT_EQ(kind("a", "mode,frequency_hz,residual,effective_mass_x,effective_mass_y\n1,2\n"), OwnFile::Table);
  EXPECT_EQ(kind("a", "mode,frequency_hz\n1,2\n"), OwnFile::None);
  EXPECT_EQ(kind("a", "f,\"tip.x by push magnitude\",\"tip.x by push phase\"\n"), OwnFile::Response);
  EXPECT_EQ(kind("a", "f,magnitude,phase\n"), OwnFile::None);
}

TEST(OwnFile, HDF5FilesSayTheirFormatAlsoWhenTheyAreDamaged) {
  const TemporaryFolder folder;
  write_hdf5(folder / "ours.h5", "lissom-result");
  write_hdf5(folder / "other.h5", "other");
  EXPECT_EQ(own_file(folder / "ours.h5"), OwnFile::Hdf5);
  EXPECT_EQ(own_file(folder / "other.h5"), OwnFile::None);
  const std::string bytes = read_file(folder / "ours.h5");
  EXPECT_EQ(own_file(folder.write("half.h5", bytes.substr(0, bytes.size() - 100))), OwnFile::Hdf5);
}

// Columns have the names that the user gives to sensors, so that the table alone does not say whose it is.
TEST(OwnFile, TablesOfSensorsAreKnownByTheResultBesideThem) {
  const TemporaryFolder folder;
  const auto table = folder.write("sensors.csv", "t,tip.x\n0,1\n");
  EXPECT_EQ(own_file(table), OwnFile::None);
  write_hdf5(folder / "result.h5", "other");
  EXPECT_EQ(own_file(table), OwnFile::None);
  write_hdf5(folder / "result.h5", "lissom-result");
  EXPECT_EQ(own_file(table), OwnFile::Table);
  folder.write("sensors.csv", "my own table\n");
  EXPECT_EQ(own_file(table), OwnFile::None);
  // a run that was stopped writes this file, whatever has become of it
  folder.write("checkpoint.lissom", "lissom checkpoint\n");
  EXPECT_EQ(own_file(table), OwnFile::Table);
}

TEST(OwnFile, WritersReplaceNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.txt", "my notes").string();
  EXPECT_EQ(message_of<InputError>([&] { AtomicFile file(path); }),
            path +
                ": is there already, and Lissom did not write it (or it is damaged): it is not replaced; "
                "move it away, or give another name with --out");
  EXPECT_EQ(read_file(path), "my notes");
  EXPECT_EQ(folder.names().size(), 1u);
  folder.write("out.txt", "lissom checkpoint\n");
  EXPECT_EQ(message_of<InputError>([&] { expect_replaceable(path, OwnFile::Page); }),
            path +
                ": is a checkpoint that Lissom wrote, and would be replaced by a report; give another name "
                "with --out");
  AtomicFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(path), "new");
}

TEST(OwnFile, InputsOfARunAreSafeByEveryNameAsLongAsItRuns) {
  const TemporaryFolder folder;
  const auto input = folder.write("in.txt", "lissom checkpoint\n");
  std::filesystem::create_symlink(input, folder / "soft.txt");
  std::filesystem::create_hard_link(input, folder / "hard.txt");
  {
    const InputGuard outer({input, folder / "nothing"});
    { const InputGuard inner({input}); }
    for (const char* name : {"in.txt", "soft.txt", "hard.txt", "./in.txt"})
      EXPECT_EQ(message_of<InputError>([&] { AtomicFile file(folder / name); }),
                (folder / name).string() +
                    ": is read by this run, and would be replaced by its results; give another name with "
                    "--out");
  }
  AtomicFile file(input);
  file.commit();
}

TEST(ReadFiles, NotesWhatIsReadMeanwhile) {
  const TemporaryFolder folder;
  const auto a = folder.write("a", "1"), b = folder.write("b", "2");
  read_file(a);
  const ReadFiles outer;
  read_file(b);
  {
    const ReadFiles inner;
    read_file(a);
    EXPECT_EQ(inner.paths(), std::vector{a});
  }
  EXPECT_EQ(outer.paths(), std::vector{b});
}

}  // namespace
}  // namespace lissom::own_file_test
