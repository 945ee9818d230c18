// SPDX-License-Identifier: Apache-2.0
#include "base/object.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"

namespace max {

namespace {

// Bytes of a string with its length and its NUL, so that the next one is aligned.
size_t cellBytes(size_t length) {
  if (length == 0) return 0;
  constexpr size_t kAlignment = alignof(StringCell);
  return checkedAdd(length, sizeof(StringCell) + kAlignment) / kAlignment * kAlignment;
}

const StringCell* writeCell(std::byte* at, std::string_view text) {
  auto* cell = new (at) StringCell{text.size()};
  auto* bytes = reinterpret_cast<char*>(at + sizeof(StringCell));
  std::copy(text.begin(), text.end(), bytes);
  bytes[text.size()] = '\0';
  return cell;
}

class ObjectStorage final : public Storage {
 public:
  explicit ObjectStorage(Ref<const Object> object) : object_(std::move(object)), element_(object_.get()) {
    data_ = &element_;
    size_ = sizeof(void*);
  }

 private:
  Ref<const Object> object_;
  const Object* element_;
};

Ref<Tensor> tensorOf(DType kind, Ref<const Object> object) {
  auto storage = makeRef<ObjectStorage>(std::move(object));
  const void* data = storage->data();
  return makeRef<Tensor>(kind, Shape{}, data, std::move(storage));
}

thread_local ObjectPool* currentPool = nullptr;

// Whether the storage of a string tensor also holds its strings.
bool ownsStrings(const Tensor& tensor) {
  const Storage* storage = tensor.storage().get();
  if (!storage) return false;
  const auto begin = reinterpret_cast<uintptr_t>(storage->data()), end = begin + storage->size();
  const auto* cells = tensor.as<const StringCell*>();
  return std::all_of(cells, cells + tensor.count(), [&](const StringCell* cell) {
    const auto at = reinterpret_cast<uintptr_t>(cell);
    return !cell || (at >= begin && at < end);
  });
}

// A copy in which shared strings stay shared: a million elements may be the same large string.
Ref<Tensor> copyStrings(const Tensor& tensor) {
  const auto* cells = tensor.as<const StringCell*>();
  const auto count = static_cast<size_t>(tensor.count());
  WorkVector<const StringCell*> distinct(cells, cells + count);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const size_t pointers = bytesFor(DType::String, tensor.count());
  size_t bytes = pointers;
  for (const StringCell* cell : distinct) bytes = checkedAdd(bytes, cellBytes(textOf(cell).size()));
  Ref<Storage> block = allocateStorage(bytes);
  WorkVector<const StringCell*> copies;
  auto* at = static_cast<std::byte*>(block->data()) + pointers;
  for (const StringCell* cell : distinct) {
    const std::string_view text = textOf(cell);
    copies.push_back(text.empty() ? nullptr : writeCell(at, text));
    at += cellBytes(text.size());
  }
  auto* elements = static_cast<const StringCell**>(block->data());
  for (size_t i = 0; i < count; ++i)
    elements[i] =
        copies[static_cast<size_t>(std::lower_bound(distinct.begin(), distinct.end(), cells[i]) - distinct.begin())];
  const void* data = block->data();
  return makeRef<Tensor>(DType::String, tensor.shape(), data, std::move(block));
}

}  // namespace

Object::Object(std::vector<Ref<Tensor>> parts)
    : parts_(std::move(parts)), lease_(activeMemory(), checkedMultiply(parts_.size(), kPartBytes)) {}

const std::vector<Ref<Tensor>>& partsOf(const Object* object) {
  static const std::vector<Ref<Tensor>> none;
  return object ? object->parts() : none;
}

void ObjectPool::grow() {
  constexpr size_t kFew = 64;
  const size_t more = kFew + kept_.size() / 4;
  if (kept_.size() >= kFew) leases_.emplace_back(activeMemory(), more * kPartBytes);
  kept_.reserve(kept_.size() + more);
}

// One block: the pointers, then the strings that are not empty.
Ref<Tensor> stringTensor(const Shape& shape, FunctionRef<size_t(size_t)> length,
                         FunctionRef<void(size_t, char*)> write) {
  const auto count = static_cast<size_t>(shape.count());
  const size_t pointers = bytesFor(DType::String, shape.count());
  size_t bytes = pointers;
  WorkCounter work;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = length(i);
    work.pass(16);
    bytes = checkedAdd(bytes, cellBytes(size));
  }
  Ref<Storage> block = allocateStorage(bytes);
  auto* elements = static_cast<const StringCell**>(block->data());
  auto* at = static_cast<std::byte*>(block->data()) + pointers;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = length(i);
    work.pass(16 + static_cast<int64_t>(size));
    elements[i] = size > 0 ? new (at) StringCell{size} : nullptr;
    if (size == 0) continue;
    char* text = reinterpret_cast<char*>(at + sizeof(StringCell));
    write(i, text);
    text[size] = '\0';
    at += cellBytes(size);
  }
  const void* data = block->data();
  return makeRef<Tensor>(DType::String, shape, data, std::move(block));
}

Ref<Tensor> stringTensor(const Shape& shape, std::span<const std::string_view> texts) {
  require(shape.count() == static_cast<int64_t>(texts.size()), MAX_STATUS_INVALID_ARGUMENT, texts.size(),
          " strings for the shape ", shape);
  return stringTensor(
      shape, [&](size_t i) { return texts[i].size(); },
      [&](size_t i, char* to) { std::copy(texts[i].begin(), texts[i].end(), to); });
}

Ref<Tensor> objectTensor(DType kind, std::vector<Ref<Tensor>> parts) {
  return tensorOf(kind, makeRef<Object>(std::move(parts)));
}

std::vector<std::string_view> textsOf(const Tensor& tensor) {
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<size_t>(tensor.count()));
  WorkCounter work;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    texts.push_back(textAt(tensor, i));
    work.pass(4);
  }
  return texts;
}

Ref<Tensor> selfContained(const Tensor& tensor) {
  if (tensor.dtype() == DType::String)
    return ownsStrings(tensor) ? Ref<Tensor>(const_cast<Tensor*>(&tensor)) : copyStrings(tensor);
  if (isObject(tensor.dtype())) {
    require(tensor.count() == 1, MAX_STATUS_INTERNAL, "A ", tensor.dtype(), " is a scalar, not of shape ",
            tensor.shape());
    return tensorOf(tensor.dtype(), Ref<const Object>(*tensor.as<const Object*>()));
  }
  if (tensor.storage()) return Ref<Tensor>(const_cast<Tensor*>(&tensor));
  return Tensor::copyOf(tensor.dtype(), tensor.shape(), tensor.data());
}

ObjectPool& ObjectPool::current() {
  require(currentPool != nullptr, MAX_STATUS_INTERNAL, "Strings and sequences created outside a run");
  return *currentPool;
}

PoolScope::PoolScope() : outer_(std::exchange(currentPool, &pool_)) {}

PoolScope::~PoolScope() { currentPool = outer_; }

}  // namespace max
