// SPDX-License-Identifier: Apache-2.0
// Strings and objects in memory: who owns what, and for how long.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/object.h"

namespace max {
namespace {

using Texts = std::vector<std::string_view>;

TEST(Object, StringTensorsOwnTheirStrings) {
  Ref<Tensor> tensor;
  {
    const std::string long_text(1000, 'x');
    tensor = stringTensor({2, 2}, Texts{"one", "", long_text, std::string_view("a\0b", 3)});
  }
  EXPECT_EQ(textAt(*tensor, 0), "one");
  EXPECT_EQ(textAt(*tensor, 1), "");
  EXPECT_EQ(textAt(*tensor, 2).size(), 1000u);
  EXPECT_EQ(textAt(*tensor, 3), std::string_view("a\0b", 3));
  EXPECT_EQ(textAt(*tensor, 0).data()[3], '\0');
  EXPECT_EQ(tensor->bytes(), 4 * sizeof(void*));
  EXPECT_THROW(stringTensor({3}, Texts{"one"}), Error);
}

TEST(Object, CopiesOfStringsLiveLongerThanTheOriginal) {
  Ref<Tensor> original = stringTensor({2}, Texts{"one", "two"});
  const Ref<Tensor> bytes = Tensor::copyOf(DType::String, {2}, original->data());  // pointers only
  const Ref<Tensor> copy = selfContained(*bytes);
  original.reset();
  EXPECT_EQ(textsOf(*copy), (Texts{"one", "two"}));
}

TEST(Object, SequencesShareTheirElements) {
  const Ref<Tensor> element = Tensor::of<float>(DType::Float32, {2}, {1, 2});
  Ref<Tensor> sequence = objectTensor(DType::Sequence, {element, element});
  EXPECT_EQ(element->referenceCount(), 3);
  Ref<Tensor> copy = selfContained(*Tensor::copyOf(DType::Sequence, {}, sequence->data()));
  EXPECT_EQ(element->referenceCount(), 3);
  sequence.reset();
  EXPECT_EQ(partsOf(*copy).size(), 2u);
  copy.reset();
  EXPECT_EQ(element->referenceCount(), 1);
}

TEST(Object, NothingIsTheEmptyValue) {
  const void* null = nullptr;
  EXPECT_TRUE(partsOf(Tensor(DType::Sequence, {}, &null, nullptr)).empty());
  EXPECT_EQ(textAt(Tensor(DType::String, {1}, &null, nullptr), 0), "");
  EXPECT_TRUE(partsOf(*selfContained(Tensor(DType::Optional, {}, &null, nullptr))).empty());
}

TEST(Object, TensorsWithoutOwnerAreCopied) {
  const int64_t number = 5;
  const Tensor borrowed(DType::Int64, {}, &number, nullptr);
  EXPECT_NE(selfContained(borrowed)->data(), borrowed.data());
  const Ref<Tensor> owned = selfContained(borrowed);
  EXPECT_EQ(selfContained(*owned), owned);
}

TEST(Object, PoolsOfScopesAreNested) {
  EXPECT_THROW(ObjectPool::current(), Error);
  const Ref<Tensor> kept = Tensor::of<int64_t>(DType::Int64, {}, {1});
  {
    const PoolScope outer;
    ObjectPool* pool = &ObjectPool::current();
    {
      const PoolScope inner;
      EXPECT_NE(&ObjectPool::current(), pool);
      ObjectPool::current().keep(kept);
      EXPECT_EQ(kept->referenceCount(), 2);
    }
    EXPECT_EQ(kept->referenceCount(), 1);
    EXPECT_EQ(&ObjectPool::current(), pool);
  }
  EXPECT_THROW(ObjectPool::current(), Error);
}

}  // namespace
}  // namespace max
