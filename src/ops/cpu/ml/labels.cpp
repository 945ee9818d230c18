// SPDX-License-Identifier: Apache-2.0
// LabelEncoder, CategoryMapper and OneHotEncoder of ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/interrupt_point.h"
#include "ops/cpu/element.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/ml/lookup.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrain = 4096;

Ref<Tensor> integerList(std::span<const int64_t> values) {
  return Tensor::copyOf(DType::Int64, Shape{static_cast<int64_t>(values.size())}, values.data());
}

// The attributes "keys_..." or "values_...".
Ref<Tensor> listNamed(const Node& node, const std::string& prefix) {
  if (const Ref<Tensor> tensor = node.attributes.getTensor(prefix + "tensor")) {
    require(ml::isLookupType(tensor->dtype()), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute '", prefix,
            "tensor' is ", tensor->dtype());
    return tensor->reshaped(Shape{tensor->count()});
  }
  if (const auto texts = ml::stringsOf(node, prefix + "strings"); !texts.empty()) return ml::stringList(texts);
  if (const auto integers = ml::integersOf(node, prefix + "int64s"); !integers.empty()) return integerList(integers);
  const auto floats = ml::floatsOf(node, prefix + "floats");
  return Tensor::copyOf(DType::Float32, Shape{static_cast<int64_t>(floats.size())}, floats.data());
}

template <class T>
Ref<Tensor> scalarOf(DType dtype, T value) {
  return Tensor::copyOf(dtype, Shape{}, &value);
}

// The value for keys that are not in the list.
Ref<Tensor> defaultOf(const Node& node, DType dtype) {
  const Attributes& attributes = node.attributes;
  if (const Ref<Tensor> tensor = attributes.getTensor("default_tensor")) {
    require(tensor->dtype() == dtype && tensor->count() == 1, MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": attribute 'default_tensor' is ", tensor->dtype(), tensor->shape(), ", needs one ", dtype);
    return tensor;
  }
  const int64_t integer = attributes.getInt("default_int64", -1);
  const float number = attributes.getFloat("default_float", -0.0f);
  switch (dtype) {
    case DType::String: {
      const std::string text = attributes.getString("default_string", "_Unused");
      return ml::stringList({&text, 1});
    }
    case DType::Float32:
      return scalarOf(dtype, number);
    case DType::Float64:
      return scalarOf(dtype, static_cast<double>(number));
    case DType::Int16:
      return scalarOf(dtype, static_cast<int16_t>(integer));
    case DType::Int32:
      return scalarOf(dtype, static_cast<int32_t>(integer));
    default:
      return scalarOf(dtype, integer);
  }
}

// A table from keys to values, built at load.
class Encoding final : public Prepared {
 public:
  Encoding(const Node& node, Ref<Tensor> keys, Ref<Tensor> values)
      : lookup_(keys), values_(std::move(values)), fallback_(defaultOf(node, values_->dtype())) {
    require(keys->count() == values_->count(), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": has ", keys->count(),
            " keys for ", values_->count(), " values");
  }

  size_t bytes() const override { return lookup_.bytes() + values_->bytes(); }
  DType dtype() const { return values_->dtype(); }

  // Before elements are written, in the thread of the run.
  void keep() const {
    if (dtype() != DType::String) return;
    ObjectPool::current().keep(values_->storage());
    ObjectPool::current().keep(fallback_->storage());
  }

  template <class Size>
  void encode(Size bytes, DType dtype, const void* in, int64_t i, std::byte* out) const {
    const int64_t found = lookup_.find(dtype, in, i);
    const std::byte* value = found < 0 ? fallback_->as<std::byte>() : values_->as<std::byte>() + found * bytes;
    copyElement(bytes, out + i * bytes, value);
  }

 private:
  ml::Lookup lookup_;
  Ref<Tensor> values_, fallback_;
};

// Version 1 of LabelEncoder numbers a list of strings; CategoryMapper has the numbers in a list.
Ref<Encoding> encodingOfPairs(const Node& node, Ref<Tensor> texts, Ref<Tensor> numbers, DType input) {
  if (input == DType::String) return makeRef<Encoding>(node, std::move(texts), std::move(numbers));
  return makeRef<Encoding>(node, std::move(numbers), std::move(texts));
}

Ref<Encoding> encodingOf(const Node& node, DType input) {
  if (node.op() == "CategoryMapper")
    return encodingOfPairs(node, ml::stringList(ml::stringsOf(node, "cats_strings")),
                           integerList(ml::integersOf(node, "cats_int64s")), input);
  const auto classes = ml::stringsOf(node, "classes_strings");
  if (classes.empty()) return makeRef<Encoding>(node, listNamed(node, "keys_"), listNamed(node, "values_"));
  std::vector<int64_t> numbers(classes.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  return encodingOfPairs(node, ml::stringList(classes), integerList(numbers), input);
}

Ref<Prepared> prepareEncoding(const Node& node, std::span<const Tensor* const>) {
  const Value* input = node.input(0);
  if (!input || input->type.dtype == DType::Invalid) return nullptr;
  return encodingOf(node, input->type.dtype);
}

class EncoderOp final : public OpKernel {
 public:
  explicit EncoderOp(const OpRequest& request)
      : dtype_(request.inputs[0].dtype), count_(request.inputs[0].shape.count()) {
    encoding_ = Ref<const Encoding>(static_cast<const Encoding*>(request.node.prepared.get()));
    if (!encoding_) encoding_ = encodingOf(request.node, dtype_);
  }

  void run(const OpContext& context) const override {
    encoding_->keep();
    visitElementBytes(static_cast<int64_t>(sizeOf(encoding_->dtype())), [&](auto bytes) {
      context.parallelFor(count_, kGrain, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
          encoding_->encode(bytes, dtype_, context.inputs[0], i, context.out<std::byte>());
      });
    });
  }

 private:
  DType dtype_;
  int64_t count_;
  Ref<const Encoding> encoding_;
};

class Categories final : public Prepared {
 public:
  explicit Categories(const Node& node) {
    const auto texts = ml::stringsOf(node, "cats_strings");
    lookup_ = ml::Lookup(texts.empty() ? integerList(ml::integersOf(node, "cats_int64s")) : ml::stringList(texts));
  }
  size_t bytes() const override { return lookup_.bytes(); }
  const ml::Lookup& lookup() const { return lookup_; }

 private:
  ml::Lookup lookup_;
};

Ref<Prepared> prepareCategories(const Node& node, std::span<const Tensor* const>) { return makeRef<Categories>(node); }

class OneHotOp final : public OpKernel {
 public:
  explicit OneHotOp(const OpRequest& request)
      : node_(request.node),
        dtype_(request.inputs[0].dtype),
        count_(request.inputs[0].shape.count()),
        width_(request.outputs[0].shape.back()),
        allowsOthers_(request.node.attributes.getInt("zeros", 1) != 0) {
    categories_ = Ref<const Categories>(static_cast<const Categories*>(request.node.prepared.get()));
    if (!categories_) categories_ = makeRef<Categories>(request.node);
  }

  void run(const OpContext& context) const override {
    context.parallelFor(count_, grainOf(kGrain, {width_}), [&](int64_t begin, int64_t end, int) {
      fillParts(context.out<float>() + begin * width_, (end - begin) * width_, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t found = categoryOf(context.inputs[0], i);
        if (found >= 0)
          context.out<float>()[i * width_ + found] = 1;
        else if (!allowsOthers_)
          invalidArgument(node_.description(), ": element ", i, " is not one of the categories, and 'zeros' is 0");
      }
    });
  }

 private:
  // Numbers are truncated to integers; other values are not a category.
  int64_t categoryOf(const void* data, int64_t i) const {
    if (!isFloat(dtype_)) return categories_->lookup().find(dtype_, data, i);
    const double value = dtype_ == DType::Float32 ? static_cast<double>(static_cast<const float*>(data)[i])
                                                  : static_cast<const double*>(data)[i];
    if (!(std::fabs(value) < 9.2e18)) return -1;
    const auto integer = static_cast<int64_t>(value);
    return categories_->lookup().find(DType::Int64, &integer, 0);
  }

  const Node& node_;
  DType dtype_;
  int64_t count_, width_;
  bool allowsOthers_;
  Ref<const Categories> categories_;
};

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kEncoder[] = {{"lookup", nullptr, make<EncoderOp>}};
constexpr Implementation kOneHot[] = {{"lookup", nullptr, make<OneHotOp>}};

const OpRow kRows[] = {
    {"ai.onnx.ml", "LabelEncoder", kEncoder, prepareEncoding},
    {"ai.onnx.ml", "CategoryMapper", kEncoder, prepareEncoding},
    {"ai.onnx.ml", "OneHotEncoder", kOneHot, prepareCategories},
};

}  // namespace

std::span<const OpRow> mlLabelOps() { return kRows; }

}  // namespace max
