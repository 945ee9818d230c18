// SPDX-License-Identifier: Apache-2.0
// What names are near others.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "base/nearest_name.h"

namespace max {
namespace {

std::string hintFor(std::string_view wanted, std::initializer_list<std::string_view> names) {
  return nearestOf(wanted, names);
}

TEST(NearestName, LettersThatAreWrongMissingOrSwapped) {
  EXPECT_EQ(hintFor("Reluu", {"Selu", "Relu", "Elu"}), "; did you mean 'Relu'?");
  EXPECT_EQ(hintFor("Mtamul", {"Mul", "MatMul"}), "; did you mean 'MatMul'?");
  EXPECT_EQ(hintFor("relu", {"Elu", "Relu"}), "; did you mean 'Relu'?");
  EXPECT_EQ(hintFor("X", {"y", "x"}), "; did you mean 'x'?");
}

TEST(NearestName, WhatIsNearestComesFirstAmongEquals) {
  EXPECT_EQ(hintFor("float31", {"float64", "float32", "float16"}), "; did you mean 'float32'?");
  EXPECT_EQ(hintFor("layer.0.weight", {"layer.1.weight", "layer.2.weight"}), "; did you mean 'layer.1.weight'?");
}

TEST(NearestName, NoNameIsNear) {
  EXPECT_EQ(hintFor("z", {"x", "y"}), "");
  EXPECT_EQ(hintFor("Fuse", {"Relu", "Conv"}), "");
  EXPECT_EQ(hintFor("", {"x"}), "");
  EXPECT_EQ(hintFor("x", {""}), "");
  EXPECT_EQ(hintFor("Relu", {"Relu"}), "");  // it exists, whatever was wrong
  EXPECT_EQ(hintFor(std::string(300, 'a'), {std::string(300, 'b')}), "");
}

TEST(NearestName, SomeNamesAreListedInstead) {
  NearestName none("z"), two("z"), many("z");
  EXPECT_EQ(none.hintOrList(), "; there are none");
  two.offer("a");
  two.offer("b");
  EXPECT_EQ(two.hintOrList(), "; known names: 'a', 'b'");
  std::vector<std::string> names;
  for (int i = 10; i < 20; ++i) names.push_back(std::to_string(i));
  for (const std::string& name : names) many.offer(name);
  EXPECT_EQ(many.hintOrList(), "; known names: '10', '11', '12', '13', '14', '15', '16', '17' and 2 more");
}

}  // namespace
}  // namespace max
