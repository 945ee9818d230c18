// SPDX-License-Identifier: Apache-2.0
// Values that are not numbers: strings, and objects (sequences, optionals and maps), which are scalars.
//
// In memory such an element is a pointer to something immutable; NULL is the empty string, the empty sequence or map,
// or the optional without a value. So operators that move elements treat it as eight bytes. The target of a pointer is
// owned by its tensor's storage if that is long-lived (a constant, a result, an element of a sequence: a self-contained
// tensor), or, for intermediate values, by the pool of the run.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/memory_account.h"
#include "base/tensor.h"

namespace max {

// An element of a string tensor: its bytes and a NUL follow the length.
struct StringCell {
  size_t length;

  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), length}; }
};
inline std::string_view textOf(const StringCell* cell) { return cell ? cell->text() : std::string_view(""); }

// A sequence's elements; an optional's value, if there is one; a map's keys (strings or int64) and its values, two
// tensors of the same length. All are self-contained.
inline constexpr size_t kPartBytes = 384;  // of a small tensor besides its elements, with its storage and references

class Object final : public RefCounted {
 public:
  explicit Object(std::vector<Ref<Tensor>> parts);
  const std::vector<Ref<Tensor>>& parts() const { return parts_; }

 private:
  std::vector<Ref<Tensor>> parts_;
  const MemoryLease lease_;
};
const std::vector<Ref<Tensor>>& partsOf(const Object* object);

// Self-contained tensors.
Ref<Tensor> stringTensor(const Shape& shape, std::span<const std::string_view> texts);
// `length(i)` is the number of bytes of element i, `write(i, to)` writes them.
Ref<Tensor> stringTensor(const Shape& shape, FunctionRef<size_t(size_t)> length,
                         FunctionRef<void(size_t, char*)> write);
Ref<Tensor> objectTensor(DType kind, std::vector<Ref<Tensor>> parts);
// The tensor itself if it owns its memory and has no pointers; otherwise a copy.
Ref<Tensor> selfContained(const Tensor& tensor);

inline std::string_view textAt(const Tensor& tensor, int64_t i) { return textOf(tensor.as<const StringCell*>()[i]); }
std::vector<std::string_view> textsOf(const Tensor& tensor);
inline const std::vector<Ref<Tensor>>& partsOf(const Tensor& object) { return partsOf(*object.as<const Object*>()); }

// Owns the strings and objects that a run's steps create. They live until the innermost scope ends.
class ObjectPool {
 public:
  // This thread's; INTERNAL if no run is in progress.
  static ObjectPool& current();

  // Keeps the storage of a self-contained tensor, which its elements point into.
  void keep(Ref<const RefCounted> owner) {
    if (kept_.size() == kept_.capacity()) grow();
    kept_.push_back(std::move(owner));
  }

 private:
  void grow();

  std::vector<Ref<const RefCounted>> kept_;
  std::list<MemoryLease> leases_;  // for what is kept, besides its elements
};

// Makes a pool the thread's current one while this exists.
class PoolScope {
 public:
  PoolScope();
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  ObjectPool pool_;
  ObjectPool* outer_;
};

}  // namespace max
