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

// One text in many places is one in copies, and what owns its texts is not copied.
TEST(Object, CopiesKeepSharedTextsShared) {
  const std::string large(1 << 20, 'x');
  const Ref<Tensor> one = stringTensor(Shape{2}, std::vector<std::string_view>{large, "b"});
  EXPECT_EQ(selfContained(*one), one);
  const auto* cells = one->as<const StringCell*>();
  std::vector<const StringCell*> many(10000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i % 3 == 2 ? nullptr : cells[i % 3];
  const Tensor view(DType::String, Shape{10000}, many.data(), nullptr);
  const Ref<Tensor> copy = selfContained(view);
  EXPECT_LT(copy->storage()->size(), 2 * large.size());
  for (int64_t i = 0; i < 10000; ++i) ASSERT_EQ(textAt(*copy, i), textAt(view, i)) << i;
  EXPECT_NE(copy->as<const StringCell*>()[0], cells[0]);
  EXPECT_EQ(selfContained(*copy), copy);
  const Tensor none(DType::String, Shape{0}, many.data(), nullptr);
  EXPECT_EQ(selfContained(none)->count(), 0);
}

}  // namespace
}  // namespace max
