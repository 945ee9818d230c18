// SPDX-License-Identifier: Apache-2.0
#include "attack/chance.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "base/small_float.h"

namespace attack {

namespace {

// Values of string attributes, and texts that strings are.
constexpr std::string_view kWords[] = {
#include "attack/words.inc"
};

void fillStrings(TensorData& tensor, size_t count, Chance& chance) {
  tensor.raw.clear();
  tensor.strings.resize(count);
  for (std::string& text : tensor.strings) text = chance.text();
}

template <class T>
void fillNumbers(TensorData& tensor, size_t count, Chance& chance, bool isWild) {
  tensor.raw.resize(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    T value{};
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(isWild ? chance.number() : static_cast<float>(chance.within(-8, 8)) * 0.25f);
    else
      value = static_cast<T>(isWild ? chance.integer() : chance.within(0, 4));
    std::memcpy(tensor.raw.data() + i * sizeof(T), &value, sizeof(T));
  }
}

void fillNoise(std::string& raw, size_t bytes, Chance& chance) {
  raw.resize(bytes);
  for (char& byte : raw) byte = static_cast<char>(chance.next());
}

}  // namespace

int64_t Chance::integer() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  if (happens(80)) return within(-3, 8);
  return of({int64_t{16}, int64_t{17}, int64_t{64}, int64_t{255}, int64_t{1000}, int64_t{65536}, int64_t{1} << 20,
             int64_t{1} << 31, (int64_t{1} << 31) - 1, -(int64_t{1} << 31), int64_t{1} << 32, int64_t{1} << 40,
             int64_t{1} << 62, kMost, kLeast, kLeast + 1, -(int64_t{1} << 40), int64_t{-7}, int64_t{-100}});
}

float Chance::number() {
  if (happens(75)) return static_cast<float>(within(-16, 16)) * 0.25f;
  return of(
      {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e30f, -1e30f, 1e-30f, 3e9f, -3e9f, 1e19f, 255.5f, 1000.0f, 1e-45f});
}

std::string Chance::text() {
  if (happens(90)) return std::string(kWords[below(std::size(kWords))]);
  std::string noise(below(9), '\0');
  for (char& c : noise) c = static_cast<char>(next());
  return noise;
}

int64_t Chance::dimension() {
  if (happens(85)) return within(1, 6);
  return of(
      {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{8}, int64_t{9}, int64_t{16}, int64_t{17}, int64_t{33}, int64_t{64}});
}

int64_t Chance::type() {
  if (happens(60))
    return of({int64_t{1}, int64_t{1}, int64_t{7}, int64_t{6}, int64_t{9}, int64_t{8}, int64_t{2}, int64_t{10}});
  return within(1, 29);
}

std::vector<int64_t> Chance::shape(size_t rank) {
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) dim = dimension();
  // No elements, but enormous sizes.
  if (rank > 1 && happens(3)) {
    dims[below(rank)] = of({int64_t{1} << 40, int64_t{1} << 31, int64_t{1} << 20, int64_t{1} << 62});
    dims[below(rank)] = 0;
  }
  while (countOf(dims) > 4096) dims[below(rank)] = 1;
  return dims;
}

std::vector<int64_t> Chance::integers() {
  std::vector<int64_t> values(happens(90) ? below(6) : below(40));
  const bool isWild = happens(25);
  for (int64_t& value : values) value = isWild ? integer() : within(-2, 4);
  return values;
}

void fill(TensorData& tensor, Chance& chance) {
  const int64_t count = countOf(tensor.dims);
  tensor.raw.clear();
  tensor.strings.clear();
  const auto dtype = max::dtypeFromOnnx(tensor.type);
  if (count < 0 || count > 1 << 16 || !dtype) return;
  const auto size = static_cast<size_t>(count);
  const bool isWild = chance.happens(20);
  switch (*dtype) {
    case max::DType::String:
      return fillStrings(tensor, size, chance);
    case max::DType::Float32:
      return fillNumbers<float>(tensor, size, chance, isWild);
    case max::DType::Float64:
      return fillNumbers<double>(tensor, size, chance, isWild);
    case max::DType::Int64:
    case max::DType::UInt64:
      return fillNumbers<int64_t>(tensor, size, chance, isWild);
    case max::DType::Int32:
    case max::DType::UInt32:
      return fillNumbers<int32_t>(tensor, size, chance, isWild);
    case max::DType::Bool:
      fillNoise(tensor.raw, size, chance);
      if (!isWild)
        for (char& byte : tensor.raw) byte &= 1;
      return;
    default:
      return fillNoise(tensor.raw, max::bytesFor(*dtype, count), chance);
  }
}

TensorData listTensor(std::string name, const std::vector<int64_t>& values) {
  TensorData tensor{std::move(name), 7, {static_cast<int64_t>(values.size())}, {}, {}};
  tensor.raw.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  return tensor;
}

ValueData typeOf(const TensorData& tensor) {
  ValueData value;
  value.name = tensor.name;
  value.type = tensor.type;
  value.ranked = true;
  for (const int64_t dim : tensor.dims) value.dims.push_back({true, dim, ""});
  return value;
}

}  // namespace attack
