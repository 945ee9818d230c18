// SPDX-License-Identifier: Apache-2.0
// Intrusive reference counts. Handles of the C API derive from Handle, which the live-object counter counts; internal
// objects derive from RefCounted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace max {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // For weak tables: false if the last reference is already gone.
  bool tryRetain() const noexcept {
    int64_t count = count_.load(std::memory_order_relaxed);
    while (count > 0)
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
    return false;
  }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<RefCounted*>(this)->dispose();
  }
  // Whether the caller's reference is the only one; everything former holders did happened before.
  bool isUnique() const noexcept { return count_.load(std::memory_order_acquire) == 1; }
  int64_t referenceCount() const noexcept { return count_.load(std::memory_order_relaxed); }

 protected:
  virtual ~RefCounted() = default;
  // Called when the last reference is gone; pooled objects go back to their pool
  // (and call revive() when they are handed out again).
  virtual void dispose() noexcept { delete this; }
  void revive() noexcept { count_.store(1, std::memory_order_relaxed); }

 private:
  mutable std::atomic<int64_t> count_{1};
};

// Number of live handles; tests check that it returns to zero.
int64_t liveObjectCount() noexcept;
void addLiveObjects(int64_t delta) noexcept;

class Handle : public RefCounted {
 protected:
  Handle() noexcept { addLiveObjects(1); }
  ~Handle() override { addLiveObjects(-1); }
};

// Owning pointer to a RefCounted object. A new object starts with one reference,
// which Ref::adopt takes; makeRef does both.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}
  template <class U>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  ~Ref() {
    if (object_) object_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Passes the reference to the caller.
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }
  void reset() noexcept { *this = Ref(); }

  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> makeRef(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace max
