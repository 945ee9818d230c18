// SPDX-License-Identifier: Apache-2.0
// Symbolic shapes through the chains that exporters write. Single operators are compared with ONNX's
// node tests in tests/onnx/test_shape_inference.py.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "graph/schema.h"

namespace max {
namespace {

class InferTest : public testing::Test {
 protected:
  using Ints = std::vector<int64_t>;

  Value* input(std::string_view name, SymbolicShape dims, DType dtype = DType::Float32) {
    return graph->addInput(name, TensorType::of(dtype, std::move(dims)));
  }
  Value* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return graph->addNode("", op, std::move(inputs), std::move(attributes), 1, "n")->output();
  }
  Value* list(const Ints& values) {
    return graph->addConstant(Tensor::copyOf(DType::Int64, Shape{static_cast<int64_t>(values.size())}, values.data()));
  }
  Value* scalar(int64_t value) { return graph->addConstant(Tensor::of<int64_t>(DType::Int64, {}, {value})); }
  static Attributes with(std::string_view name, Attribute value) {
    Attributes attributes;
    attributes.set(name, std::move(value));
    return attributes;
  }
  // Unsqueeze(Gather(Shape(x), axis), 0): one dimension as a list.
  Value* dimOf(Value* x, int64_t axis) {
    return add("Unsqueeze", {add("Gather", {add("Shape", {x}), scalar(axis)}), list({0})});
  }
  Value* join(std::vector<Value*> parts) { return add("Concat", std::move(parts), with("axis", int64_t{0})); }
  std::string messageOf(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}) {
    try {
      add(op, std::move(inputs), std::move(attributes));
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  Ref<Graph> graph = makeRef<Graph>("g");
  Dim batch = graph->dimTable().symbol("batch");
  Dim seq = graph->dimTable().symbol("seq");
};

#define EXPECT_TYPE(value, expected) EXPECT_EQ(concat((value)->type), expected)

TEST_F(InferTest, AttentionReshapes) {
  Value* x = input("x", {batch, seq, 768});
  Value* heads = add("Reshape", {x, join({dimOf(x, 0), dimOf(x, 1), list({12, 64})})});
  EXPECT_TYPE(heads, "float32[batch, seq, 12, 64]");
  Value* q = add("Transpose", {heads}, with("perm", Ints{0, 2, 1, 3}));
  Value* k = add("Transpose", {heads}, with("perm", Ints{0, 2, 3, 1}));
  EXPECT_TYPE(add("MatMul", {q, k}), "float32[batch, 12, seq, seq]");
  Value* merged = add("Reshape", {add("Transpose", {q}, with("perm", Ints{0, 2, 1, 3})), list({0, 0, -1})});
  EXPECT_TYPE(merged, "float32[batch, seq, 768]");
  EXPECT_TYPE(add("Reshape", {x, join({list({-1}), dimOf(x, 2)})}), "float32[batch*seq, 768]");
  EXPECT_TYPE(add("Reshape", {x, join({dimOf(x, 0), list({-1, 12, 64})})}), "float32[batch, seq, 12, 64]");
}

// PyTorch writes Expand targets as Where(Equal(shape, -1), ones, shape).
TEST_F(InferTest, ExpandThroughWhere) {
  Value* x = input("x", {batch, 1, 64});
  Value* shape = join({dimOf(x, 0), list({5, -1})});
  Value* ones = add("ConstantOfShape", {list({3})}, with("value", Tensor::of<int64_t>(DType::Int64, {1}, {1})));
  Value* minus = add("Mul", {ones, list({-1})});
  Value* target = add("Where", {add("Equal", {shape, minus}), ones, shape});
  EXPECT_TYPE(add("Expand", {x, target}), "float32[batch, 5, 64]");
}

TEST_F(InferTest, SlicesOfShapes) {
  Value* x = input("x", {batch, seq, 768});
  Value* front = add("Slice", {add("Shape", {x}), list({0}), list({-1}), list({0})});
  EXPECT_TYPE(add("Reshape", {x, join({front, list({12, 64})})}), "float32[batch, seq, 12, 64]");
  const auto sliced = [&](Value* start, Value* end) { return add("Slice", {x, start, end, list({1})}); };
  EXPECT_TYPE(sliced(list({1}), list({INT64_MAX})), "float32[batch, max(seq - 1, 0), 768]");
  EXPECT_TYPE(sliced(list({0}), dimOf(x, 1)), "float32[batch, seq, 768]");
  EXPECT_TYPE(sliced(list({-1}), list({INT64_MAX})), "float32[batch, min(seq, 1), 768]");
  Value* positions = graph->addConstant(Tensor::allocate(DType::Int64, {1, 512}, true));
  Value* taken = add("Slice", {positions, list({0}), dimOf(x, 1), list({1})});
  EXPECT_TYPE(taken, "int64[1, min(seq, 512)]");
  EXPECT_TYPE(add("Gather", {input("table", {512, 8}), taken}), "float32[1, min(seq, 512), 8]");
  EXPECT_TYPE(add("Add", {input("y", {batch, seq}, DType::Int64), taken}), "int64[batch, seq]");
}

TEST_F(InferTest, ArithmeticOnDimensions) {
  Value* x = input("x", {batch, seq, 768});
  Value* length = add("Gather", {add("Shape", {x}), scalar(1)});
  Value* half = add("Div", {length, scalar(2)});
  EXPECT_TYPE(add("Range", {scalar(0), length, scalar(1)}), "int64[seq]");
  EXPECT_TYPE(add("Range", {scalar(0), half, scalar(1)}), "int64[floordiv(seq, 2)]");
  Value* target = join({add("Unsqueeze", {add("Sub", {add("Add", {length, scalar(3)}), scalar(1)}), list({0})})});
  EXPECT_TYPE(add("ConstantOfShape", {target}), "float32[seq + 2]");
}

TEST_F(InferTest, ConvolutionsOfSymbols) {
  const Dim h = graph->dimTable().symbol("h");
  Value* x = input("x", {batch, 3, h, 224});
  Value* w = input("w", {64, 3, 7, 7});
  Attributes attributes = with("strides", Ints{2, 2});
  attributes.set("pads", Ints{3, 3, 3, 3});
  EXPECT_TYPE(add("Conv", {x, w}, attributes), "float32[batch, 64, floordiv(h + 1, 2), 112]");
  attributes.set("ceil_mode", int64_t{1});
  attributes.set("kernel_shape", Ints{3, 3});
  attributes.set("pads", Ints{0, 0, 0, 0});
  Value* pooled = add("MaxPool", {input("y", {1, 64, 112, 113})}, attributes);
  EXPECT_TYPE(pooled, "float32[1, 64, 56, 56]");
}

// In float64, 40 * 2.3f is less than 92; in float32, 2^24 + 1 is not a number.
TEST_F(InferTest, ScaledSizesAreProductsOfFloat32) {
  const std::vector<float> scales{1, 2.3f, 0.5f, 2};
  Value* factors = graph->addConstant(Tensor::copyOf(DType::Float32, {4}, scales.data()));
  Value* x = input("x", {batch, 40, seq, (1 << 24) + 1});
  EXPECT_TYPE(add("Resize", {x, nullptr, factors}), "float32[batch, 92, floordiv(seq, 2), 33554434]");
}

// At a plan all is known, no table exists, and what is not known says so.
TEST_F(InferTest, PlansWithoutTable) {
  Value* x = input("x", {batch, seq});
  Value* y = add("Reshape", {x, input("shape", {3}, DType::Int64)});
  std::vector<InputType> inputs(2);
  inputs[0] = {true, TensorType::of(DType::Float32, {2, 12}), nullptr, nullptr};
  inputs[1] = {true, TensorType::of(DType::Int64, {3}), nullptr, nullptr};
  std::vector<InferContext::Output> outputs = inferNode(*y->producer, nullptr, inputs);
  EXPECT_EQ(concat(outputs[0].type), "float32[?, ?, ?]");
  const Ref<Tensor> shape = Tensor::of<int64_t>(DType::Int64, {3}, {3, -1, 4});
  inputs[1].constant = shape.get();
  outputs = inferNode(*y->producer, nullptr, inputs);
  EXPECT_EQ(concat(outputs[0].type), "float32[3, 2, 4]");
}

TEST_F(InferTest, MessagesNameWhatDisagrees) {
  Value* x = input("x", {2, 6});
  EXPECT_EQ(messageOf("Reshape", {x, list({5, -1})}),
            "node 'n' (Reshape): shape [2, 6] cannot become [5, -1]: 12 elements are not divisible by 5; inputs: 'x' "
            "float32[2, 6], 'constant' int64[2]");
  EXPECT_NE(messageOf("Reshape", {x, list({3, 5})}).find("numbers of elements disagree: 12 and 15"), std::string::npos);
  EXPECT_NE(messageOf("Softmax", {x}, with("axis", int64_t{2})).find("axis 2 is out of range for rank 2"),
            std::string::npos);
  EXPECT_NE(messageOf("Gather", {add("Shape", {x}), list({2})}).find("index 2 is out of range [-2, 1] of axis 0"),
            std::string::npos);
  EXPECT_NE(messageOf("Transpose", {x}, with("perm", Ints{0, 0})).find("axis 0 occurs twice"), std::string::npos);
  EXPECT_NE(messageOf("Conv", {x, x}).find("at least 3 dimensions"), std::string::npos);
  EXPECT_NE(messageOf("Softmax", {x}, with("axis", 1.0f)).find("node 'n' (Softmax): attribute 'axis' has type float"),
            std::string::npos);
}

TEST_F(InferTest, SchemasAreFound) {
  ASSERT_NE(findSchema("", "Conv"), nullptr);
  ASSERT_NE(findSchema(kMaxDomain, "Conv"), nullptr);
  EXPECT_EQ(findSchema("", "Nothing"), nullptr);
  EXPECT_TRUE(findSchema("", "Reshape")->has(kTraitView));
  EXPECT_EQ(findSchema("", "Reshape")->shapeInputs, 2u);
  EXPECT_TRUE(findSchema("", "Split")->hasOutputList());
}

// An extension's row joins the registry; a second one of the same name does not.
TEST_F(InferTest, ExtensionsAddSchemas) {
  static const OpSchema row = {"test.infer",
                               "Twice",
                               1,
                               1,
                               1,
                               1,
                               "T->T; T=float",
                               [](InferContext& context) { context.setOutputLike(0, 0); },
                               kTraitElementwise,
                               0};
  registerSchema(row);
  EXPECT_THROW(registerSchema(row), Error);
  Value* y = graph->addNode("test.infer", "Twice", {input("x", {batch})})->output();
  EXPECT_TYPE(y, "float32[batch]");
}

// Softmax of bytes: one scale each, zero points of the types of what they belong to, and an axis.
TEST_F(InferTest, QuantizedSoftmax) {
  Value *scale = input("s", {}, DType::Float32), *unsignedZero = input("u", {}, DType::UInt8),
        *signedZero = input("i", {}, DType::Int8);
  const auto typeOf = [&](std::vector<Value*> inputs) -> std::string {
    try {
      return concat(graph->addNode(kMaxDomain, "QLinearSoftmax", std::move(inputs), {}, 1, "n")->output()->type);
    } catch (const Error& error) {
      return error.message();
    }
  };
  Value* x = input("x", {batch, 7}, DType::UInt8);
  EXPECT_EQ(typeOf({x, scale, unsignedZero, scale, signedZero}), "int8[batch, 7]");
  const std::string otherType = typeOf({x, scale, signedZero, scale, signedZero});
  EXPECT_NE(otherType.find("input 2"), std::string::npos) << otherType;
  const std::string noAxis = typeOf({unsignedZero, scale, unsignedZero, scale, signedZero});
  EXPECT_NE(noAxis.find("at least 1 dimensions"), std::string::npos) << noAxis;
  const std::string noScale = typeOf({x, input("e", {0}), unsignedZero, scale, signedZero});
  EXPECT_NE(noScale.find("needs one element"), std::string::npos) << noScale;
  const std::string wide = typeOf({x, scale, unsignedZero, scale, input("w", {}, DType::Int32)});
  EXPECT_NE(wide.find("input 4"), std::string::npos) << wide;
}

}  // namespace
}  // namespace max
