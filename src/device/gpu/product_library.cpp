// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/product_library.h"

#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "device/gpu/gpu_stream.h"

namespace max::gpu {

namespace {

// cudaDataType and hipDataType.
constexpr int kFloat32 = 0;
constexpr int kFloat16 = 2;
constexpr int kBFloat16 = 14;
constexpr int kMostWorkspace = 1;    // of a preference, in both libraries
constexpr int kRelu = 2, kBias = 4;  // what a product may end with: cublasLtEpilogue_t

constexpr uintptr_t kAlignment = 256;  // of buffers
constexpr uint64_t kWorkspaceBytes = uint64_t{8} << 20;

int typeOf(DType dtype) {
  if (dtype == DType::Float16) return kFloat16;
  return dtype == DType::BFloat16 ? kBFloat16 : kFloat32;
}

struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): parameters of a function
#define MAX_PRODUCT_MEMBER(member, name, parameters) Symbol<int parameters> member;
  MAX_PRODUCT_LIBRARY_SYMBOLS(MAX_PRODUCT_MEMBER)
#undef MAX_PRODUCT_MEMBER
};

// An API's library, opened once and never closed.
class ProductLibrary : public Functions {
 public:
  explicit ProductLibrary(const Api& api) : numbers_(api.products) {
    const char* chosen = numbers_.prefix ? secure_getenv(numbers_.variable) : "";
    if (chosen && !*chosen) return;  // none is wanted
    library_.emplace(numbers_.variable, numbers_.libraries);
    if (!library_->isOpen()) return;
    isReady_ = true;
#define MAX_PRODUCT_BIND(member, suffix, parameters) bind(member, suffix);
    MAX_PRODUCT_LIBRARY_SYMBOLS(MAX_PRODUCT_BIND)
#undef MAX_PRODUCT_BIND
    if (!isReady_) logMessage(MAX_LOG_LEVEL_WARNING, library_->name(), " lacks functions and is not used");
  }

  bool isReady() const { return isReady_; }
  const ProductNumbers& numbers() const { return numbers_; }
  const std::string& name() const { return library_->name(); }
  // The version of a library whose first handle this is; 0 = it does not tell.
  MAX_GPU_FOREIGN_CALL int64_t versionOf(void* handle) const {
    void* function = library_->symbol((std::string(numbers_.prefix) + "GetVersion").c_str());
    if (!function) return 0;
    if (!numbers_.versionNeedsHandle) return static_cast<int64_t>(reinterpret_cast<size_t (*)()>(function)());
    int version = 0;
    return reinterpret_cast<int (*)(void*, int*)>(function)(handle, &version) == kSuccess ? version : 0;
  }

 private:
  template <class Function>
  void bind(Symbol<Function>& symbol, const char* suffix) {
    symbol.name = names_.emplace_back(std::string(numbers_.prefix) + suffix).c_str();
    library_->bind(symbol.name, symbol.function);
    isReady_ = isReady_ && symbol.function;
  }

  const ProductNumbers& numbers_;
  std::optional<Library> library_;
  std::deque<std::string> names_;
  bool isReady_ = false;
};

const ProductLibrary& libraryOf(const Api& api) {
  static auto& mutex = *new std::mutex;
  static auto& opened = *new std::map<const Api*, ProductLibrary>;
  const std::lock_guard lock(mutex);
  return opened.try_emplace(&api, api).first->second;
}

// What the library made, of one kind.
class Object {
 public:
  using Destroy = Symbol<int(void*)>;
  Object(const Context& context, const Destroy& destroy) : context_(context), destroy_(destroy) {}
  ~Object() {
    if (handle_) static_cast<void>(context_.tryCall(destroy_, handle_));
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void** out() { return &handle_; }
  void* get() const { return handle_; }

 private:
  const Context& context_;
  const Destroy& destroy_;
  void* handle_ = nullptr;
};

// Throws the library's status, which is no error of the driver.
template <class... Parameters, class... Arguments>
void check(const Context& context, const Symbol<int(Parameters...)>& symbol, Arguments... arguments) {
  const int status = context.query(symbol, arguments...);
  require(status == kSuccess, MAX_STATUS_INTERNAL, symbol.name, ": status ", status, " on ", context.displayName());
}

class ProductHandle final : public Products {
 public:
  ProductHandle(Ref<Context> context, const ProductLibrary& library)
      : context_(std::move(context)), library_(library), handle_(*context_, library.destroy) {}

  void open() {
    check(*context_, library_.create, handle_.out());
    const int64_t version = library_.versionOf(handle_.get()), oldest = library_.numbers().oldestVersion;
    isReady_ = version >= oldest;
    if (!isReady_)
      logMessage(MAX_LOG_LEVEL_WARNING, library_.name(), " is version ", version, "; from ", oldest,
                 " on it is used for products");
  }

  Ref<DeviceProduct> make(const DeviceProductShape& shape) const override;
  const Context& context() const { return *context_; }
  const ProductLibrary& library() const { return library_; }
  void* get() const { return handle_.get(); }

 private:
  const Ref<Context> context_;
  const ProductLibrary& library_;
  Object handle_;
  bool isReady_ = false;
};

// The library's part of one product. To it matrices are stored column after column, so that it is given the transposed
// product: what is the left factor here is its right one.
class LibraryProduct final : public DeviceProduct {
 public:
  explicit LibraryProduct(Ref<const ProductHandle> handle)
      : handle_(std::move(handle)),
        library_(handle_->library()),
        product_(context(), library_.productDestroy),
        left_(context(), library_.layoutDestroy),
        right_(context(), library_.layoutDestroy),
        result_(context(), library_.layoutDestroy) {}

  // False if the library has nothing for it.
  bool choose(const DeviceProductShape& shape) {
    const ProductNumbers& numbers = library_.numbers();
    check(context(), library_.productCreate, product_.out(), numbers.computeTypes[shape.precision], kFloat32);
    setTransposed(numbers.transposeA, shape.transposesB);
    setTransposed(numbers.transposeB, shape.transposesA);
    if (!setFinish(shape)) return false;
    const int factors = typeOf(shape.factors);
    makeLayout(left_, factors, shape.transposesB ? shape.depth : shape.columns,
               shape.transposesB ? shape.columns : shape.depth, shape.bStride, shape.batch, shape.bBatch);
    makeLayout(right_, factors, shape.transposesA ? shape.rows : shape.depth,
               shape.transposesA ? shape.depth : shape.rows, shape.aStride, shape.batch, shape.aBatch);
    makeLayout(result_, typeOf(shape.results), shape.columns, shape.rows, shape.columns, shape.batch,
               shape.rows * shape.columns);
    Object preference(context(), library_.preferenceDestroy);
    check(context(), library_.preferenceCreate, preference.out());
    check(context(), library_.preferenceSet, preference.get(), kMostWorkspace,
          static_cast<const void*>(&kWorkspaceBytes), sizeof kWorkspaceBytes);
    int found = 0;
    const int status =
        context().query(library_.choose, handle_->get(), product_.get(), left_.get(), right_.get(), result_.get(),
                        result_.get(), preference.get(), 1, static_cast<void*>(algorithm_.data()), &found);
    return status == kSuccess && found > 0;
  }

  const char* name() const override { return library_.numbers().prefix; }
  size_t workspaceBytes() const override { return kWorkspaceBytes; }
  void launch(MaxStream& stream, const DeviceProductOperands& operands) const override {
    const float beta = operands.addend ? 1 : 0;
    auto& queue = static_cast<GpuStream&>(stream);
    queue.check();
    queue.noteCode(*this);
    const auto multiply = [&] {
      check(context(), library_.multiply, handle_->get(), product_.get(), static_cast<const void*>(&alpha_), operands.b,
            left_.get(), operands.a, right_.get(), static_cast<const void*>(&beta),
            operands.addend ? operands.addend : static_cast<const void*>(operands.results), result_.get(),
            operands.results, result_.get(), static_cast<const void*>(algorithm_.data()), operands.workspace,
            workspaceBytes(), queue.handle());
    };
    if (operands.bias) {
      const std::lock_guard lock(mutex_);
      setAttribute(library_.numbers().bias, operands.bias);
      multiply();
    } else {
      multiply();
    }
    queue.noteQueued();
  }

 private:
  const Context& context() const { return handle_->context(); }

  // CUBLAS_OP_N and CUBLAS_OP_T, or HIPBLAS_OP_N and HIPBLAS_OP_T.
  void setTransposed(int attribute, bool isTransposed) {
    setAttribute(attribute, library_.numbers().notTransposed + (isTransposed ? 1 : 0));
  }
  template <class T>
  void setAttribute(int attribute, const T& value) const {
    check(context(), library_.productSet, product_.get(), attribute, static_cast<const void*>(&value), sizeof value);
  }

  bool setFinish(const DeviceProductShape& shape) {
    alpha_ = shape.alpha;
    if (!shape.hasBias && !shape.hasRelu) return true;
    const ProductNumbers& numbers = library_.numbers();
    if (numbers.finish == 0) return false;
    setAttribute(numbers.finish, (shape.hasRelu ? kRelu : 0) + (shape.hasBias ? kBias : 0));
    if (!shape.hasBias) return true;
    if (shape.batch > 1) setAttribute(numbers.biasDistance, shape.biasBatch);
    setAttribute(numbers.bias, reinterpret_cast<const void*>(kAlignment));  // like the calls'; it is not read
    return true;
  }

  void makeLayout(Object& layout, int type, int64_t rows, int64_t columns, int64_t stride, int64_t batch,
                  int64_t distance) {
    check(context(), library_.layoutCreate, layout.out(), type, static_cast<uint64_t>(rows),
          static_cast<uint64_t>(columns), stride);
    if (batch == 1) return;
    const auto count = static_cast<int32_t>(batch);
    const ProductNumbers& numbers = library_.numbers();
    check(context(), library_.layoutSet, layout.get(), numbers.batchCount, static_cast<const void*>(&count),
          sizeof count);
    check(context(), library_.layoutSet, layout.get(), numbers.batchDistance, static_cast<const void*>(&distance),
          sizeof distance);
  }

  // One result of the search, which begins with the algorithm; larger than any version's.
  static constexpr size_t kResultBytes = 1024;

  const Ref<const ProductHandle> handle_;
  const ProductLibrary& library_;
  Object product_, left_, right_, result_;
  mutable std::mutex mutex_;  // of the bias, which is a part of what describes the product
  float alpha_ = 1;
  alignas(16) std::array<std::byte, kResultBytes> algorithm_ = {};
};

// The library's failures leave products to our kernels.
template <class Work>
void withoutFailure(const ProductLibrary& library, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.status() != MAX_STATUS_INTERNAL) throw;
    logMessage(MAX_LOG_LEVEL_WARNING, "Products are computed without ", library.name(), ": ", error.message());
  }
}

Ref<DeviceProduct> ProductHandle::make(const DeviceProductShape& shape) const {
  if (!isReady_) return nullptr;
  auto product = makeRef<LibraryProduct>(Ref<const ProductHandle>(this));
  bool isChosen = false;
  withoutFailure(library_, [&] { isChosen = product->choose(shape); });
  if (isChosen) return product;
  logMessage(MAX_LOG_LEVEL_DEBUG, library_.name(), " has nothing for a product of ", shape.rows, " x ", shape.depth,
             " x ", shape.columns);
  return nullptr;
}

}  // namespace

Ref<Products> openProducts(const Ref<Context>& context) {
  const ProductLibrary& library = libraryOf(context->api());
  auto handle = makeRef<ProductHandle>(context, library);
  if (library.isReady()) withoutFailure(library, [&] { handle->open(); });
  return handle;
}

}  // namespace max::gpu
