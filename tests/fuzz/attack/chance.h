// SPDX-License-Identifier: Apache-2.0
// Random choices that depend on nothing but their seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "attack/onnx_model.h"

namespace attack {

class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) { next(); }
  Chance(uint64_t seed, uint64_t number) : Chance(seed * 0x9e3779b97f4a7c15u + number) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t count) { return count == 0 ? 0 : static_cast<size_t>(next() % count); }
  int64_t within(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<size_t>(most - least + 1)));
  }
  bool happens(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  template <class List>
  auto& of(List& list) {
    return list[below(list.size())];
  }

  int64_t integer();    // mostly small, sometimes at the end of a range
  float number();       // mostly small, sometimes infinite or no number
  std::string text();   // a word that some operator knows, or noise
  int64_t dimension();  // mostly small
  int64_t type();       // TensorProto.DataType
  std::vector<int64_t> shape(size_t rank);
  std::vector<int64_t> integers();  // a list

 private:
  uint64_t state_;
};

// Elements that fit the type and the dimensions, or nothing if these are too large for a file.
void fill(TensorData& tensor, Chance& chance);
TensorData listTensor(std::string name, const std::vector<int64_t>& values);
ValueData typeOf(const TensorData& tensor);

}  // namespace attack
