#include "lissom/core/archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/io/hdf5_file_checks.hpp"

namespace lissom::archive_test {
namespace {

enum class Fruit : std::uint8_t { Apple, Pear };

struct Basket {
  double weight = 0;
  std::vector<int> counts;
  void archive(Archive& archive) { archive(weight, counts); }
};

struct Everything {
  double number = 0;
  long count = 0;
  bool flag = false;
  Fruit fruit = Fruit::Apple;
  std::string text;
  std::vector<double> list;
  std::vector<Basket> baskets;
  std::array<Basket, 2> two;
  std::optional<double> some, none = 1.0;
  std::optional<Basket> basket;
  Eigen::VectorXd vector;
  Eigen::MatrixXd matrix, empty = Eigen::MatrixXd(1, 1);
  Eigen::Matrix3d fixed = Eigen::Matrix3d::Zero();
  void archive(Archive& a) {
    a(number, count, flag, fruit, text, list, baskets, two, some, none, basket, vector, matrix, empty, fixed);
  }
};

Everything sample() {
  Everything e;
  e.number = -0.0;
  e.count = -1234567890123;
  e.flag = true;
  e.fruit = Fruit::Pear;
  e.text = std::string("a\0b", 3);
  e.list = {1.0 / 3, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::denorm_min()};
  e.baskets = {{1, {}}, {2, {3, 4}}};
  e.two[1].weight = 7;
  e.some = 2.5;
  e.none.reset();
  e.basket = Basket{5, {6}};
  e.vector = Eigen::VectorXd::Random(4);
  e.matrix = Eigen::MatrixXd::Random(2, 3);
  e.empty.resize(5, 0);
  e.fixed = Eigen::Matrix3d::Random();
  return e;
}

TEST(Archive, GivesBackEverythingBitByBit) {
  Everything written = sample(), read;
  Archive out;
  out(written);
  Archive in(out.bytes());
  in(read);
  EXPECT_NO_THROW(in.finish());
  EXPECT_TRUE(std::signbit(read.number));
  EXPECT_EQ(read.count, written.count);
  EXPECT_TRUE(read.flag);
  EXPECT_EQ(read.fruit, Fruit::Pear);
  EXPECT_EQ(read.text, written.text);
  EXPECT_EQ(std::memcmp(read.list.data(), written.list.data(), 3 * sizeof(double)), 0);
  ASSERT_EQ(read.baskets.size(), 2u);
  EXPECT_EQ(read.baskets[1].counts, (std::vector<int>{3, 4}));
  EXPECT_EQ(read.two[1].weight, 7);
  EXPECT_EQ(read.some, 2.5);
  EXPECT_FALSE(read.none);
  EXPECT_EQ(read.basket->counts, std::vector<int>{6});
  test::expect_same(read.vector, written.vector);
  test::expect_same(read.matrix, written.matrix);
  EXPECT_EQ(read.empty.rows(), 5);
  EXPECT_EQ(read.empty.cols(), 0);
  test::expect_same(read.fixed, written.fixed);
  // and once more the same bytes
  Archive again;
  again(read);
  EXPECT_EQ(again.bytes(), out.bytes());
}

TEST(Archive, RefusesEveryBeginningOfItselfAndWhatIsLeftOver) {
  Everything written = sample();
  Archive out;
  out(written);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    Archive in(out.bytes().substr(0, size));
    Everything read;
    EXPECT_THROW(in(read), InputError) << size;
  }
  Archive in(out.bytes() + "x");
  Everything read;
  in(read);
  EXPECT_THROW(in.finish(), InputError);
}

TEST(Archive, TakesNoMatrixOfAnotherShape) {
  Eigen::VectorXd three = Eigen::VectorXd::Ones(3);
  Archive out;
  out(three);
  Eigen::Matrix3d square;
  Archive in(out.bytes());
  EXPECT_THROW(in(square), InputError);
}

}  // namespace
}  // namespace lissom::archive_test
