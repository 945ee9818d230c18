// SPDX-License-Identifier: Apache-2.0
#include "compiler/aligned_weights.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/fork.h"

namespace max {

namespace {

struct Place {
  FileIdentity file;
  size_t offset;
  size_t bytes;
  bool operator==(const Place&) const = default;
};

class AlignedCopy;

// Never destroyed: models may be released while the process exits. Guarded by processMutex().
std::vector<AlignedCopy*>& copies() {
  static auto& all = *new std::vector<AlignedCopy*>;
  return all;
}

class AlignedCopy final : public Storage {
 public:
  AlignedCopy(const Place& place, Ref<Storage> memory)
      : Storage(memory->data(), memory->size()), place_(place), memory_(std::move(memory)) {}
  ~AlignedCopy() override {
    const std::lock_guard lock(processMutex());
    std::erase(copies(), this);
  }

  static Ref<Storage> find(const Place& place) {
    const std::lock_guard lock(processMutex());
    for (AlignedCopy* copy : copies())
      if (copy->place_ == place && copy->tryRetain()) return Ref<Storage>::adopt(copy);
    return nullptr;
  }
  void enter() {
    const std::lock_guard lock(processMutex());
    copies().push_back(this);
  }

 private:
  Place place_;
  Ref<Storage> memory_;
};

}  // namespace

Ref<Tensor> alignedWeight(const Tensor& tensor) {
  const FileIdentity* file = tensor.storage() ? tensor.storage()->file() : nullptr;
  if (tensor.storage() && tensor.storage()->isTransient()) return tensor.copied();
  if (tensor.isAligned() || !file) return tensor.aligned();
  const auto offset = static_cast<size_t>(tensor.as<std::byte>() - static_cast<std::byte*>(tensor.storage()->data()));
  const Place place{*file, offset, tensor.bytes()};
  Ref<Storage> copy = AlignedCopy::find(place);
  if (!copy) {
    Ref<Storage> memory = allocateLastingStorage(tensor.bytes());
    tensor.copyTo(memory->data());
    const auto made = makeRef<AlignedCopy>(place, std::move(memory));
    made->enter();
    copy = made;
  }
  const void* data = copy->data();
  return makeRef<Tensor>(tensor.dtype(), tensor.shape(), data, std::move(copy));
}

}  // namespace max
