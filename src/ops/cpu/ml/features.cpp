// SPDX-License-Identifier: Apache-2.0
// Feature preparation of ai.onnx.ml: Scaler, Normalizer, Binarizer, Imputer, OneHotEncoder and the choice of columns.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/interrupt_point.h"
#include "ops/cpu/element.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrain = 16384;

// Calls function(T{}) for the type of features.
template <class F>
void visitFeatures(DType dtype, F function) {
  switch (dtype) {
    case DType::Float32:
      return function(float{});
    case DType::Float64:
      return function(double{});
    case DType::Int64:
      return function(int64_t{});
    default:
      return function(int32_t{});
  }
}

// Elements one by one; a list of parameters has one for all or one for each column.
class FeatureOp : public OpKernel {
 public:
  explicit FeatureOp(const OpRequest& request)
      : dtype_(request.inputs[0].dtype),
        count_(request.inputs[0].shape.count()),
        columns_(request.inputs[0].shape.rank() ? request.inputs[0].shape.back() : 1) {}

 protected:
  void requireParameters(const Node& node, const char* name, size_t count) const {
    require(count == 1 || count == static_cast<size_t>(columns_), MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": attribute '", name, "' has ", count, " elements for ", columns_, " features");
  }
  // Calls body(row begin, row end): whole rows, so that parameters are easy to find.
  void forRows(const OpContext& context, FunctionRef<void(int64_t, int64_t)> body) const {
    if (columns_ == 0) return;
    context.parallelFor(count_ / columns_, grainOf(kGrain, {columns_}),
                        [&](int64_t begin, int64_t end, int) { body(begin, end); });
  }

  DType dtype_;
  int64_t count_, columns_;
};

class ScalerOp final : public FeatureOp {
 public:
  explicit ScalerOp(const OpRequest& request)
      : FeatureOp(request), offset_(ml::floatsOf(request.node, "offset")), scale_(ml::floatsOf(request.node, "scale")) {
    requireParameters(request.node, "offset", offset_.size());
    requireParameters(request.node, "scale", scale_.size());
  }

  void run(const OpContext& context) const override {
    forRows(context, [&](int64_t begin, int64_t end) {
      visitFeatures(dtype_, [&](auto zero) {
        using T = decltype(zero);
        using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
        const size_t offsetStep = offset_.size() > 1, scaleStep = scale_.size() > 1;
        for (int64_t row = begin; row < end; ++row) {
          const T* x = context.in<T>(0) + row * columns_;
          float* y = context.out<float>() + row * columns_;
          WorkCounter work;
          for (size_t k = 0; k < static_cast<size_t>(columns_); ++k, work.pass())
            y[k] = static_cast<float>((static_cast<Real>(x[k]) - offset_[k * offsetStep]) * scale_[k * scaleStep]);
        }
      });
    });
  }

 private:
  std::span<const float> offset_, scale_;
};

enum class Norm { Max, L1, L2 };
constexpr std::string_view kNorms[] = {"MAX", "L1", "L2"};

class NormalizerOp final : public FeatureOp {
 public:
  explicit NormalizerOp(const OpRequest& request) : FeatureOp(request) {
    const std::string name = request.node.attributes.getString("norm", "MAX");
    const auto* found = std::find(std::begin(kNorms), std::end(kNorms), name);
    require(found != std::end(kNorms), MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
            ": attribute 'norm' is '", name, "', not MAX, L1 or L2");
    norm_ = static_cast<Norm>(found - kNorms);
  }

  void run(const OpContext& context) const override {
    forRows(context, [&](int64_t begin, int64_t end) {
      visitFeatures(dtype_, [&](auto zero) {
        using T = decltype(zero);
        WorkCounter work;
        for (int64_t row = begin; row < end; ++row, work.pass(3 * columns_))
          normalise(context.in<T>(0) + row * columns_, context.out<float>() + row * columns_);
      });
    });
  }

 private:
  // A row with norm zero does not change.
  template <class T>
  void normalise(const T* x, float* y) const {
    double norm = 0;
    if (norm_ == Norm::Max) {
      norm = static_cast<double>(x[0]);
      inRow([&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) norm = std::max(norm, static_cast<double>(x[k]));
      });
    } else if (norm_ == Norm::L1) {
      norm = sumOf(x, [](double value) { return std::fabs(value); });
    } else {
      norm = std::sqrt(sumOf(x, [](double value) { return value * value; }));
    }
    if (norm == 0) norm = 1;
    inRow([&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) y[k] = static_cast<float>(static_cast<double>(x[k]) / norm);
    });
  }

  // Some sums side by side, since each addition waits for the one before.
  template <class T, class F>
  double sumOf(const T* x, F of) const {
    constexpr int64_t kSums = 8;
    double sums[kSums] = {};
    inRow([&](int64_t begin, int64_t end) {
      int64_t k = begin;
      for (; k + kSums <= end; k += kSums)
        for (int64_t i = 0; i < kSums; ++i) sums[i] += of(static_cast<double>(x[k + i]));
      for (; k < end; ++k) sums[0] += of(static_cast<double>(x[k]));
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    return sum;
  }

  // Long rows in parts; who runs over short ones counts their steps.
  template <class Body>
  void inRow(Body body) const {
    if (columns_ > kGrain) return inParts(columns_, 1, body);
    body(int64_t{0}, columns_);
  }

  Norm norm_;
};

class BinarizerOp final : public FeatureOp {
 public:
  explicit BinarizerOp(const OpRequest& request)
      : FeatureOp(request), threshold_(request.node.attributes.getFloat("threshold", 0)) {}

  void run(const OpContext& context) const override {
    visitFeatures(dtype_, [&](auto zero) {
      using T = decltype(zero);
      const T* x = context.in<T>(0);
      T* y = context.out<T>();
      context.parallelFor(count_, kGrain, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) y[i] = static_cast<T>(static_cast<double>(x[i]) > threshold_);
      });
    });
  }
  int inPlaceInput() const override { return 0; }

 private:
  double threshold_;
};

// Lists of floats are for floats, lists of integers for integers.
class ImputerOp final : public FeatureOp {
 public:
  explicit ImputerOp(const OpRequest& request)
      : FeatureOp(request),
        floats_(ml::floatsOf(request.node, "imputed_value_floats")),
        integers_(ml::integersOf(request.node, "imputed_value_int64s")),
        replacedFloat_(request.node.attributes.getFloat("replaced_value_float", 0)),
        replacedInteger_(request.node.attributes.getInt("replaced_value_int64", 0)) {
    if (isFloat(dtype_))
      requireParameters(request.node, "imputed_value_floats", floats_.size());
    else
      requireParameters(request.node, "imputed_value_int64s", integers_.size());
  }

  void run(const OpContext& context) const override {
    forRows(context, [&](int64_t begin, int64_t end) {
      visitFeatures(dtype_, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t row = begin; row < end; ++row)
          impute(context.in<T>(0) + row * columns_, context.out<T>() + row * columns_);
      });
    });
  }
  int inPlaceInput() const override { return 0; }

 private:
  template <class T>
  void impute(const T* x, T* y) const {
    const size_t step = (std::is_floating_point_v<T> ? floats_.size() : integers_.size()) > 1;
    WorkCounter work;
    for (size_t k = 0; k < static_cast<size_t>(columns_); ++k, work.pass()) {
      if constexpr (std::is_floating_point_v<T>) {
        const bool isReplaced = x[k] == static_cast<T>(replacedFloat_) || (x[k] != x[k] && std::isnan(replacedFloat_));
        y[k] = isReplaced ? static_cast<T>(floats_[k * step]) : x[k];
      } else {
        y[k] = x[k] == static_cast<T>(replacedInteger_) ? static_cast<T>(integers_[k * step]) : x[k];
      }
    }
  }

  std::span<const float> floats_;
  std::span<const int64_t> integers_;
  float replacedFloat_;
  int64_t replacedInteger_;
};

// Columns of the last axis, selected by indices.
class FeatureExtractorOp final : public OpKernel {
 public:
  explicit FeatureExtractorOp(const OpRequest& request)
      : node_(request.node),
        columns_(request.inputs[0].shape.back()),
        rows_(request.inputs[0].shape.product(0, request.inputs[0].shape.rank() - 1)),
        chosen_(request.inputs[1].shape.count()),
        bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))) {}

  void run(const OpContext& context) const override {
    const int64_t* indices = context.in<int64_t>(1);
    requireColumns(indices);
    visitElementBytes(bytes_, [&](auto size) {
      context.parallelFor(rows_, grainOf(kGrain, {chosen_}), [&](int64_t begin, int64_t end, int) {
        std::byte* y = context.out<std::byte>() + begin * chosen_ * size;
        const std::byte* x = context.in<std::byte>(0) + begin * columns_ * size;
        WorkCounter work;
        for (int64_t row = begin; row < end; ++row, x += columns_ * size)
          for (int64_t k = 0; k < chosen_; ++k, y += size, work.pass(2)) copyElement(size, y, x + indices[k] * size);
      });
    });
  }

 private:
  void requireColumns(const int64_t* indices) const {
    WorkCounter work;
    for (int64_t k = 0; k < chosen_; ++k, work.pass())
      if (indices[k] < 0 || indices[k] >= columns_) [[unlikely]]
        fail(MAX_STATUS_OUT_OF_RANGE, node_.description(), ": index ", indices[k], " is not in [0, ", columns_, ")");
  }

  const Node& node_;
  int64_t columns_, rows_, chosen_, bytes_;
};

// Rows of several inputs one after the other, each cut or filled with zeros to its width.
class FeatureVectorizerOp final : public OpKernel {
 public:
  explicit FeatureVectorizerOp(const OpRequest& request)
      : inputs_(request.inputs.begin(), request.inputs.end()),
        widths_(ml::readWidths(request.node)),
        rows_(request.outputs[0].shape[0]),
        columns_(request.outputs[0].shape[1]) {}

  void run(const OpContext& context) const override {
    int64_t at = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t stride = inputs_[i].shape.back(), width = widths_[i];
      visitFeatures(inputs_[i].dtype, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t row = 0; row < rows_; ++row, passWork(8 + width)) {
          float* y = context.out<float>() + row * columns_ + at;
          const T* x = context.in<T>(i) + row * stride;
          for (int64_t k = 0; k < width; ++k) y[k] = k < stride ? static_cast<float>(x[k]) : 0.0f;
        }
      });
      at += width;
    }
  }

 private:
  std::vector<Operand> inputs_;
  std::span<const int64_t> widths_;
  int64_t rows_, columns_;
};

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}
template <class K>
inline constexpr Implementation kOnly[] = {{"features", nullptr, make<K>}};

const OpRow kRows[] = {
    {"ai.onnx.ml", "ArrayFeatureExtractor", kOnly<FeatureExtractorOp>},
    {"ai.onnx.ml", "Binarizer", kOnly<BinarizerOp>},
    {"ai.onnx.ml", "FeatureVectorizer", kOnly<FeatureVectorizerOp>},
    {"ai.onnx.ml", "Imputer", kOnly<ImputerOp>},
    {"ai.onnx.ml", "Normalizer", kOnly<NormalizerOp>},
    {"ai.onnx.ml", "Scaler", kOnly<ScalerOp>},
};

}  // namespace

std::span<const OpRow> mlFeatureOps() { return kRows; }

}  // namespace max
