// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits with constant weights, which are packed, against sums in float64.
#include <algorithm>
#include <array>

#include "base/align.h"
#include "ops/cpu/matrix/nbits_packed.h"
#include "weights_harness.h"

namespace max {
namespace {

enum class Zeros { None, Packed, Real };

struct Sizes {
  int64_t rows, depth, columns, bits, block;
  int64_t blocks() const { return ceilDiv(depth, block); }
};

Ref<Tensor> randomBytes(RandomTensors& random, const Shape& shape) {
  Ref<Tensor> tensor = Tensor::allocate(DType::UInt8, shape);
  auto* bytes = static_cast<uint8_t*>(tensor->mutableData());
  for (int64_t i = 0; i < tensor->count(); ++i) bytes[i] = static_cast<uint8_t>(random.integer(0, 255));
  return tensor;
}

int64_t elementOf(const Tensor& packed, int64_t bit, int64_t bits) {
  return packed.as<uint8_t>()[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
}

class NBitsCase {
 public:
  NBitsCase(RandomTensors& random, const Sizes& sizes, Zeros zeros) : s_(sizes), zeros_(zeros) {
    const int64_t blocks = s_.blocks(), zeroBytes = s_.columns * ceilDiv(blocks * s_.bits, 8);
    inputs_ = {random.floats({s_.rows, s_.depth}), randomBytes(random, {s_.columns, blocks, s_.block * s_.bits / 8}),
               random.floats({s_.columns * blocks})};
    if (zeros == Zeros::Packed) inputs_.push_back(randomBytes(random, {zeroBytes}));
    if (zeros == Zeros::Real) inputs_.push_back(random.floats({s_.columns * blocks}));
    computeSums();
  }

  Tensors run(int64_t level, int lanes, unsigned constants = 0b1110, bool isMedium = false) const {
    NodeUnderTest node("max", "MatMulNBits");
    if (isMedium) node->products = DType::BFloat16;
    node->attributes.set("K", s_.depth);
    node->attributes.set("N", s_.columns);
    node->attributes.set("bits", s_.bits);
    node->attributes.set("block_size", s_.block);
    node->attributes.set("accuracy_level", level);
    const char* implementation = constants ? "matmul_nbits_packed" : "";
    return node.run(inputs_, {{s_.rows, s_.columns}}, implementation, lanes, constants);
  }

  void check(const Tensor& result, int64_t level) const {
    for (size_t i = 0; i < sums_.size(); ++i)
      ASSERT_NEAR(double{result.as<float>()[i]}, sums_[i].value, sums_[i].error + (level == 4 ? sums_[i].rounding : 0))
          << "result " << i << " of " << s_.rows << " x " << s_.depth << " x " << s_.columns << ", " << s_.bits
          << " bits, blocks of " << s_.block << ", zero points " << static_cast<int>(zeros_) << ", level " << level;
  }

 private:
  double scaleOf(int64_t n, int64_t k) const { return double{inputs_[2]->as<float>()[n * s_.blocks() + k / s_.block]}; }
  double weightOf(int64_t n, int64_t k) const {
    const int64_t blocks = s_.blocks(), block = k / s_.block;
    double zero = 1 << (s_.bits - 1);
    if (zeros_ == Zeros::Packed)
      zero = static_cast<double>(elementOf(*inputs_[3], n * alignUp(blocks * s_.bits, 8) + block * s_.bits, s_.bits));
    if (zeros_ == Zeros::Real) zero = double{inputs_[3]->as<float>()[n * blocks + block]};
    const int64_t element = elementOf(*inputs_[1], (n * blocks * s_.block + k) * s_.bits, s_.bits);
    return (static_cast<double>(element) - zero) * scaleOf(n, k);
  }
  double largest(int64_t m, int64_t block) const {
    const auto* row = inputs_[0]->as<float>() + m * s_.depth;
    double most = 0;
    for (int64_t k = block * s_.block; k < std::min((block + 1) * s_.block, s_.depth); ++k)
      most = std::max(most, std::abs(double{row[k]}));
    return most;
  }

  // At level 4 a row may be rounded: an element by half of a 127th of its block's largest magnitude.
  void computeSums() {
    std::vector<double> weights, largestOf;
    for (int64_t n = 0; n < s_.columns; ++n)
      for (int64_t k = 0; k < s_.depth; ++k) weights.push_back(weightOf(n, k));
    for (int64_t m = 0; m < s_.rows; ++m)
      for (int64_t block = 0; block < s_.blocks(); ++block) largestOf.push_back(largest(m, block));
    for (int64_t m = 0; m < s_.rows; ++m)
      for (int64_t n = 0; n < s_.columns; ++n) {
        Sum sum;
        for (int64_t k = 0; k < s_.depth; ++k) {
          const double a = double{inputs_[0]->as<float>()[m * s_.depth + k]};
          const double weight = weights[static_cast<size_t>(n * s_.depth + k)];
          sum.value += a * weight;
          sum.error += 1e-6 * std::abs(a) * (std::abs(weight) + std::abs(scaleOf(n, k)) * (1 << s_.bits));
          sum.rounding += std::abs(weight) * largestOf[static_cast<size_t>(m * s_.blocks() + k / s_.block)] / 253.9;
        }
        sums_.push_back(sum);
      }
  }

  struct Sum {
    double value = 0, error = 0, rounding = 0;
  };
  Sizes s_;
  Zeros zeros_;
  Tensors inputs_;
  std::vector<Sum> sums_;
};

void checkOnAllTargets(const Sizes& sizes) {
  RandomTensors random(91);
  for (const Zeros zeros : {Zeros::None, Zeros::Packed, Zeros::Real}) {
    const NBitsCase product(random, sizes, zeros);
    forEachCpuTarget([&](CpuTarget target) {
      SCOPED_TRACE(nameOf(target));
      for (const int64_t level : {0, 4}) {
        const Tensors one = product.run(level, 1), three = product.run(level, 3);
        product.check(*one[0], level);
        if (testing::Test::HasFatalFailure()) return;
        EXPECT_EQ(std::memcmp(one[0]->data(), three[0]->data(), one[0]->bytes()), 0) << "other bits with three lanes";
      }
      const Tensors rounded = product.run(4, 1), medium = product.run(0, 1, 0b1110, true);
      EXPECT_EQ(std::memcmp(rounded[0]->data(), medium[0]->data(), medium[0]->bytes()), 0) << "other bits at medium";
    });
  }
}

TEST(MatMulNBits, FewRows) {
  for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const int64_t bits : {2, 4, 8}) checkOnAllTargets({rows, 96, 37, bits, 32});
}

TEST(MatMulNBits, Blocks) {
  for (const int64_t block : {16, 64, 128, 256, 512})
    for (const int64_t rows : {1, 21}) checkOnAllTargets({rows, 600, 35, 4, block});
}

// A partial last block, a single vector of columns, several pieces of the depth, several blocks of rows.
TEST(MatMulNBits, ManyRows) {
  for (const int64_t bits : {2, 4, 8}) {
    checkOnAllTargets({17, 50, 13, bits, 16});
    checkOnAllTargets({19, 1100, 16, bits, 32});
  }
  checkOnAllTargets({300, 80, 410, 4, 32});
}

TEST(MatMulNBits, TinyNumbersRoundToZeros) {
  const NBitsByteTable* table = nBitsByteTable();
  if (!table) GTEST_SKIP() << "no fast products of bytes";
  std::array<float, 16> row;
  row.fill(1e-38f);
  std::array<int8_t, 16> bytes;
  float scale;
  int32_t sum;
  table->round(row.data(), 16, 16, 1, {bytes.data(), &scale, &sum, 16, 1});
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 16);
  EXPECT_EQ(sum, 0);
}

TEST(MatMulNBits, WeightsThatAreNotConstant) {
  RandomTensors random(92);
  for (const Zeros zeros : {Zeros::None, Zeros::Packed, Zeros::Real}) {
    const NBitsCase product(random, {5, 70, 19, 4, 32}, zeros);
    product.check(*product.run(4, 1, 0)[0], 0);
  }
}

}  // namespace
}  // namespace max
