// SPDX-License-Identifier: Apache-2.0
// The steps that random graphs are made of: one function each, and the table of all.
#pragma once

#include <algorithm>

#include "random_graphs.h"

namespace max::test::steps {

inline int64_t axisOf(GraphSource& source, const Entry& x) { return source.integer(-x.rank(), x.rank() - 1); }

inline Attributes with1(const char* name, Attribute value) { return with({{name, std::move(value)}}); }

// An axis whose size is known; fails if there is none.
inline int knownAxis(GraphSource& source, const Entry& x) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (x.knows(i) && x.dim(i).value() > 0) axes.push_back(i);
  require(!axes.empty(), MAX_STATUS_NOT_FOUND, "no axis is known");
  return axes[static_cast<size_t>(source.integer(0, static_cast<int64_t>(axes.size()) - 1))];
}

inline Entry movable(GraphSource& source, int leastRank = 1) {
  return source.any([&](const Entry& entry) { return entry.rank() >= leastRank; });
}

// A constant that broadcasts to x, of the sizes that are known at its end.
inline Value* constantFor(GraphSource& source, const Entry& x, double bound = 1) {
  Shape shape;
  for (int i = x.rank(); i-- > 0 && x.knows(i) && source.chance(70);)
    shape.insert(0, source.chance(80) ? x.dim(i).value() : 1);
  return source.weight(shape, bound, x.dtype());
}

inline void unary(GraphSource& source) {
  struct Row {
    const char* op;
    double bound;  // 0 = that of the input
  };
  const Row row = source.pick<Row>({{"Relu", 0},
                                    {"LeakyRelu", 0},
                                    {"Sigmoid", 1},
                                    {"Tanh", 1},
                                    {"Neg", 0},
                                    {"Abs", 0},
                                    {"Erf", 1},
                                    {"Gelu", 0},
                                    {"HardSwish", 0},
                                    {"HardSigmoid", 1},
                                    {"Softsign", 1},
                                    {"Sin", 1},
                                    {"Identity", 0},
                                    {"Elu", 0},
                                    {"Mish", 0},
                                    {"Swish", 0},
                                    {"Cos", 1},
                                    {"Atan", 2}});
  const Entry x = source.floats();
  source.add(source.node(row.op, {x.value}), row.bound == 0 ? x.bound : row.bound);
}

// Functions that are defined for part of the numbers.
inline void partialUnary(GraphSource& source) {
  const Entry x = source.floats();
  Value* positive = source.node("Add", {source.node("Abs", {x.value}), source.scalar(0.5)});
  const std::string_view op = source.pick<std::string_view>({"Sqrt", "Log", "Reciprocal"});
  source.add(source.node(op, {positive}), std::max(2.0, x.bound));
}

inline void halfUnary(GraphSource& source) {
  const Entry x = source.any([](const Entry& entry) { return entry.dtype() == DType::Float16; });
  const std::string_view op = source.pick<std::string_view>({"Relu", "Sigmoid", "Tanh", "Neg", "Softmax"});
  source.add(source.node(op, {x.value}), std::max(1.0, x.bound));
}

inline void halfMatMul(GraphSource& source) {
  const Entry x = source.any(
      [](const Entry& entry) { return entry.dtype() == DType::Float16 && entry.rank() > 0 && entry.knows(-1); });
  const int64_t inner = x.dim(-1).value();
  Value* y = source.node("MatMul", {x.value, source.weight({inner, 6}, 0.5, DType::Float16)});
  if (source.chance(50))
    y = source.node("LayerNormalization", {y, source.weight({6}, 1, DType::Float16)}, with({{"epsilon", 0.05f}}));
  source.add(y, std::max(6.0, x.bound * static_cast<double>(inner)));
}

inline void castFloat(GraphSource& source) {
  const Entry x =
      source.any([](const Entry& entry) { return entry.dtype() == DType::Float16 || entry.dtype() == DType::Float32; });
  const bool toHalf = x.dtype() == DType::Float32;
  source.add(source.node("Cast", {x.value}, with1("to", int64_t{toHalf ? 10 : 1})), x.bound, x.exact);
}

inline void binaryWithConstant(GraphSource& source) {
  const Entry x = source.any([](const Entry& entry) { return isFloat(entry.dtype()); });
  const std::string_view op = source.pick<std::string_view>({"Add", "Sub", "Mul", "Max", "Min", "Div", "Add", "Mul"});
  const bool isDiv = op == "Div";
  Value* other = isDiv || source.chance(30) ? source.scalar(source.pick({0.5, 1.0, 2.0, -1.5}), x.dtype())
                                            : constantFor(source, x);
  const bool swapped = !isDiv && source.chance(40);
  Value* y = swapped ? source.node(op, {other, x.value}) : source.node(op, {x.value, other});
  source.add(y, 2 * x.bound + 2);
}

inline void binary(GraphSource& source) {
  const Entry x = source.floats();
  const Entry y = source.any([&](const Entry& entry) {
    return entry.dtype() == DType::Float32 && entry.rank() <= x.rank() &&
           std::equal(entry.dims().rbegin(), entry.dims().rend(), x.dims().rbegin());
  });
  const std::string_view op = source.pick<std::string_view>({"Add", "Sub", "Mul", "Max", "Min", "Sum", "Mean"});
  source.add(source.node(op, {x.value, y.value}), op == "Mul" ? x.bound * y.bound : x.bound + y.bound);
}

inline void clip(GraphSource& source) {
  const Entry x = source.floats();
  Value* low = source.chance(70) ? source.scalar(-1) : nullptr;
  source.add(source.node("Clip", {x.value, low, source.scalar(2)}), x.bound);
}

inline void power(GraphSource& source) {
  const Entry x = source.floats();
  source.add(source.node("Pow", {x.value, source.scalar(source.pick({1.0, 2.0, 3.0}))}),
             x.bound * x.bound * x.bound + 1);
}

inline void softmax(GraphSource& source) {
  const Entry x = source.floats(1);
  source.add(source.node("Softmax", {x.value}, with1("axis", axisOf(source, x))), 1);
}

inline void reduce(GraphSource& source) {
  const Entry x = source.floats(1);
  const std::string_view op =
      source.pick<std::string_view>({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"});
  Ints axes{axisOf(source, x)};
  if (x.rank() > 1 && source.chance(30)) axes = {-1, -2};
  const Attributes attributes = with1("keepdims", source.integer(0, 1));
  source.add(source.node(op, {x.value, source.list(axes)}, attributes),
             x.bound * (op == "ReduceSum" || op == "ReduceL2" ? 60 : 1));
}

inline void matMul(GraphSource& source) {
  const Entry x = source.floats(1);
  require(x.knows(-1), MAX_STATUS_NOT_FOUND, "not known");
  const int64_t inner = x.dim(-1).value(), columns = source.pick<int64_t>({1, 4, 6, 8, 17});
  Value* y = source.node("MatMul", {x.value, source.weight({inner, columns})});
  if (source.chance(60)) y = source.node("Add", {y, source.weight({columns})});
  source.add(y, x.bound * static_cast<double>(inner) + 1);
}

inline void matMulOfTwo(GraphSource& source) {
  const Entry x = source.floats(2, 4);
  Ints perm;
  for (int64_t i = 0; i < x.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  Value* transposed = source.node("Transpose", {x.value}, with1("perm", perm));
  Value* y =
      source.chance(50) ? source.node("MatMul", {x.value, transposed}) : source.node("MatMul", {transposed, x.value});
  if (source.chance(40)) y = source.node("Softmax", {source.node("Div", {y, source.scalar(4)})});
  source.add(y, x.bound * x.bound * 10);
}

inline void gemm(GraphSource& source) {
  const Entry x = source.floats(2, 2);
  const bool transA = !x.knows(1), transB = source.chance(50);
  require(x.knows(transA ? 0 : 1), MAX_STATUS_NOT_FOUND, "not known");
  const int64_t inner = x.dim(transA ? 0 : 1).value(), columns = source.pick<int64_t>({1, 5, 8});
  Value* w = source.weight(transB ? Shape{columns, inner} : Shape{inner, columns});
  const Attributes attributes = with(
      {{"transA", int64_t{transA}}, {"transB", int64_t{transB}}, {"alpha", source.pick({1.0f, 0.5f})}, {"beta", 1.0f}});
  source.add(source.node("Gemm", {x.value, w, source.weight({columns})}, attributes),
             x.bound * static_cast<double>(inner) + 1);
}

// Scale, bias, mean and variance of batch normalisation.
inline Value* batchNormalization(GraphSource& source, Value* x, int64_t channels) {
  Value* variance = source.node("Add", {source.node("Abs", {source.weight({channels})}), source.scalar(0.5)});
  return source.node("BatchNormalization",
                     {x, source.weight({channels}), source.weight({channels}), source.weight({channels}), variance});
}

inline void conv(GraphSource& source) {
  const Entry x = source.image();
  const int64_t channels = x.dim(1).value(), kernel = source.pick<int64_t>({1, 3, 3}), spatial = x.rank() - 2;
  const bool depthwise = source.chance(30);
  const int64_t outputs = depthwise ? channels : source.pick<int64_t>({3, 4, 8});
  Shape shape{outputs, depthwise ? 1 : channels};
  for (int64_t i = 0; i < spatial; ++i) shape.push(kernel);
  Attributes attributes =
      with({{"pads", Ints(static_cast<size_t>(2 * spatial), kernel / 2)}, {"group", depthwise ? channels : 1}});
  if (source.chance(30)) attributes.set("strides", Ints(static_cast<size_t>(spatial), 2));
  std::vector<Value*> values{x.value, source.weight(shape)};
  if (source.chance(60)) values.push_back(source.weight({outputs}));
  Value* y = source.node("Conv", values, attributes);
  if (source.chance(30)) y = batchNormalization(source, y, outputs);
  if (y->type.dims == x.dims() && source.chance(40)) y = source.node("Add", {y, x.value});
  if (source.chance(40)) y = source.node(source.pick<std::string_view>({"Relu", "HardSwish", "Sigmoid"}), {y});
  source.add(y, x.bound * static_cast<double>(shape.count() / outputs) * 2 + 2);
}

inline void convTranspose(GraphSource& source) {
  const Entry x = source.image(4);
  const int64_t channels = x.dim(1).value();
  if (source.chance(40)) {
    const Attributes attributes = with({{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"group", channels}});
    Value* y = source.node("ConvTranspose", {x.value, source.weight({channels, 1, 4, 4})}, attributes);
    return source.add(y, x.bound * 4);
  }
  Value* y = source.node("ConvTranspose", {x.value, source.weight({channels, 3, 2, 2})}, with1("strides", Ints{2, 2}));
  source.add(y, x.bound * static_cast<double>(channels) * 4);
}

inline void pool(GraphSource& source) {
  const Entry x = source.image();
  const size_t spatial = static_cast<size_t>(x.rank() - 2);
  if (source.chance(25)) {
    source.add(source.node(source.pick<std::string_view>({"GlobalAveragePool", "GlobalMaxPool"}), {x.value}), x.bound);
    return;
  }
  const Attributes attributes = with({{"kernel_shape", Ints(spatial, 3)},
                                      {"pads", Ints(2 * spatial, 1)},
                                      {"strides", Ints(spatial, source.integer(1, 2))}});
  source.add(source.node(source.pick<std::string_view>({"MaxPool", "AveragePool"}), {x.value}, attributes), x.bound);
}

inline void layerNormalization(GraphSource& source) {
  const Entry x = source.floats(2);
  require(x.knows(-1) && x.dim(-1).value() > 1, MAX_STATUS_NOT_FOUND, "not known");
  const int64_t size = x.dim(-1).value();
  const std::string_view op = source.pick<std::string_view>({"LayerNormalization", "RMSNormalization"});
  const Attributes attributes = with({{"axis", int64_t{-1}}, {"epsilon", 0.01f}});
  source.add(source.node(op, {x.value, source.weight({size})}, attributes), 4);
}

// As exporters write it: (x - mean) / sqrt(mean of squares + epsilon) * scale + bias.
inline void writtenOutNormalization(GraphSource& source) {
  const Entry x = source.floats(2);
  require(x.knows(-1) && x.dim(-1).value() > 1, MAX_STATUS_NOT_FOUND, "not known");
  Value* axes = source.list({-1});
  Value* centred = source.node("Sub", {x.value, source.node("ReduceMean", {x.value, axes})});
  Value* square =
      source.chance(50) ? source.node("Pow", {centred, source.scalar(2)}) : source.node("Mul", {centred, centred});
  Value* root =
      source.node("Sqrt", {source.node("Add", {source.node("ReduceMean", {square, axes}), source.scalar(0.01)})});
  Value* y = source.node("Mul", {source.node("Div", {centred, root}), source.weight({x.dim(-1).value()})});
  source.add(source.node("Add", {y, source.weight({x.dim(-1).value()})}), 5);
}

inline void channelNormalization(GraphSource& source) {
  const Entry x = source.image();
  const int64_t channels = x.dim(1).value();
  Value* scale = source.weight({channels});
  Value* bias = source.weight({channels});
  if (source.chance(40)) return source.add(batchNormalization(source, x.value, channels), x.bound * 3 + 1);
  if (source.chance(50))
    return source.add(source.node("InstanceNormalization", {x.value, scale, bias}, with1("epsilon", 0.05f)), 8);
  const Attributes attributes = with({{"num_groups", int64_t{channels % 2 ? 1 : 2}}, {"epsilon", 0.05f}});
  source.add(source.node("GroupNormalization", {x.value, scale, bias}, attributes), 8);
}

inline void activation(GraphSource& source) {
  const Entry x = source.floats();
  Value* y = nullptr;
  switch (source.integer(0, 3)) {
    case 0:  // Gelu
      y = source.node("Erf", {source.node("Div", {x.value, source.scalar(1.41421356)})});
      y = source.node("Mul",
                      {source.node("Mul", {x.value, source.node("Add", {y, source.scalar(1)})}), source.scalar(0.5)});
      break;
    case 1:  // Swish
      y = source.node("Mul", {x.value, source.node("Sigmoid", {x.value})});
      break;
    case 2:  // HardSwish
      y = source.node("Clip", {source.node("Add", {x.value, source.scalar(3)}), source.scalar(0), source.scalar(6)});
      y = source.node("Div", {source.node("Mul", {x.value, y}), source.scalar(6)});
      break;
    default:  // Softplus, tanh
      y = source.node("Mul", {x.value, source.node("Tanh", {source.node("Softplus", {x.value})})});
  }
  source.add(y, x.bound + 1);
}

// softmax(Q K' + mask) V with one or two heads.
inline void attention(GraphSource& source) {
  const Entry x = source.any([](const Entry& entry) {
    return entry.dtype() == DType::Float32 && entry.rank() == 3 && entry.knows(2) && entry.dim(2).value() % 2 == 0;
  });
  const int64_t width = x.dim(2).value(), heads = source.integer(1, 2);
  const auto project = [&](const Ints& perm) {
    Value* y = source.node("MatMul", {x.value, source.weight({width, width}, 0.5)});
    y = source.node("Reshape", {y, source.list({0, -1, heads, width / heads})});
    return source.node("Transpose", {y}, with1("perm", perm));
  };
  Value* scores = source.node("MatMul", {project({0, 2, 1, 3}), project({0, 2, 3, 1})});
  scores = source.node("Softmax", {source.node("Mul", {scores, source.scalar(0.3)})}, with1("axis", int64_t{-1}));
  Value* y = source.node("MatMul", {scores, project({0, 2, 1, 3})});
  y = source.node("Reshape",
                  {source.node("Transpose", {y}, with1("perm", Ints{0, 2, 1, 3})), source.list({0, -1, width})});
  source.add(y, x.bound * static_cast<double>(width));
}

inline void squeezeAndExcite(GraphSource& source) {
  const Entry x = source.image(4);
  const int64_t channels = x.dim(1).value();
  Value* mean = source.chance(50) ? source.node("GlobalAveragePool", {x.value})
                                  : source.node("ReduceMean", {x.value, source.list({2, 3})});
  Value* gate = source.node("Relu", {source.node("Conv", {mean, source.weight({2, channels, 1, 1})})});
  gate = source.node("HardSigmoid", {source.node("Conv", {gate, source.weight({channels, 2, 1, 1})})});
  source.add(source.node("Mul", {x.value, gate}), x.bound);
}

inline void transpose(GraphSource& source) {
  const Entry x = movable(source, 2);
  Ints perm;
  for (int64_t i = 0; i < x.rank(); ++i) perm.push_back(i);
  for (size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<size_t>(source.integer(0, static_cast<int64_t>(i)))]);
  source.add(source.node("Transpose", {x.value}, with1("perm", perm)), x.bound, x.exact);
}

inline void reshape(GraphSource& source) {
  const Entry x = movable(source);
  switch (source.integer(0, 3)) {
    case 0:
      return source.add(source.node("Flatten", {x.value}, with1("axis", source.integer(0, x.rank()))), x.bound,
                        x.exact);
    case 1:
      return source.add(source.node("Reshape", {x.value, source.list({0, -1})}), x.bound, x.exact);
    case 2:
      return source.add(source.node("Reshape", {x.value, source.list({-1})}), x.bound, x.exact);
    default: {
      const int axis = knownAxis(source, x);
      require(x.dim(axis).value() % 2 == 0, MAX_STATUS_NOT_FOUND, "odd");
      Ints target(static_cast<size_t>(axis), 0);
      target.insert(target.end(), {x.dim(axis).value() / 2, 2});
      for (int i = axis + 1; i < x.rank(); ++i) {
        require(x.knows(i), MAX_STATUS_NOT_FOUND, "not known");
        target.push_back(x.dim(i).value());
      }
      source.add(source.node("Reshape", {x.value, source.list(target)}), x.bound, x.exact);
    }
  }
}

inline void unsqueeze(GraphSource& source) {
  const Entry x = movable(source, 0);
  const int64_t axis = source.integer(0, x.rank());
  Value* wide = source.node("Unsqueeze", {x.value, source.list({axis})});
  source.add(source.chance(40) ? source.node("Squeeze", {wide, source.list({axis})}) : wide, x.bound, x.exact);
}

inline void concatenate(GraphSource& source) {
  const Entry x = movable(source);
  const Entry y =
      source.any([&](const Entry& entry) { return entry.dtype() == x.dtype() && entry.dims() == x.dims(); });
  std::vector<Value*> values{x.value, y.value};
  if (source.chance(30)) values.push_back(x.value);
  source.add(source.node("Concat", values, with1("axis", axisOf(source, x))), std::max(x.bound, y.bound),
             x.exact && y.exact);
}

inline void slice(GraphSource& source) {
  const Entry x = movable(source);
  const int64_t axis = knownAxis(source, x), size = x.dim(static_cast<int>(axis)).value();
  const int64_t start = source.integer(0, size - 1);
  const bool backwards = source.chance(20);
  Value* y =
      backwards
          ? source.node("Slice",
                        {x.value, source.list({-1}), source.list({-100}), source.list({axis}), source.list({-1})})
          : source.node("Slice", {x.value, source.list({start}), source.list({source.integer(start + 1, size + 2)}),
                                  source.list({axis}), source.list({source.integer(1, 2)})});
  source.add(y, x.bound, x.exact);
}

inline void split(GraphSource& source) {
  const Entry x = movable(source);
  const int64_t axis = knownAxis(source, x), size = x.dim(static_cast<int>(axis)).value();
  require(size > 1, MAX_STATUS_NOT_FOUND, "too small");
  const int64_t first = source.integer(1, size - 1);
  const Node* node = source.nodes("Split", {x.value, source.list({first, size - first})}, with1("axis", axis), 2);
  source.add(node->output(0), x.bound, x.exact);
  if (source.chance(60)) source.add(node->output(1), x.bound, x.exact);
}

inline void gather(GraphSource& source) {
  const Entry x = movable(source);
  const int64_t axis = knownAxis(source, x), size = x.dim(static_cast<int>(axis)).value();
  Value* indices = source.list({source.integer(-size, size - 1), source.integer(0, size - 1)});
  if (source.chance(40)) indices = source.scalar(static_cast<double>(source.integer(0, size - 1)), DType::Int64);
  source.add(source.node("Gather", {x.value, indices}, with1("axis", axis)), x.bound, x.exact);
}

inline void pad(GraphSource& source) {
  const Entry x = movable(source);
  Ints pads(static_cast<size_t>(2 * x.rank()), 0);
  pads[static_cast<size_t>(source.integer(0, 2 * x.rank() - 1))] = source.integer(1, 2);
  source.add(source.node("Pad", {x.value, source.list(pads)}), x.bound, x.exact);
}

inline void tile(GraphSource& source) {
  const Entry x = movable(source);
  Ints repeats(static_cast<size_t>(x.rank()), 1);
  repeats[static_cast<size_t>(source.integer(0, x.rank() - 1))] = 2;
  source.add(source.node("Tile", {x.value, source.list(repeats)}), x.bound, x.exact);
}

inline void resize(GraphSource& source) {
  const Entry x = source.image(4);
  Ref<Tensor> scales = Tensor::of<float>(DType::Float32, {4}, {1, 1, 2, 2});
  const std::string mode = source.pick<std::string>({"nearest", "linear"});
  source.add(source.node("Resize", {x.value, nullptr, source.graph().addConstant(scales)}, with1("mode", mode)),
             x.bound);
}

// The shape of one value for another: Shape, a part of it, arithmetic, and a use.
inline void shapeArithmetic(GraphSource& source) {
  const Entry x = source.floats(2);
  Value* shape = source.node("Shape", {x.value});
  Value* first = source.node("Gather", {shape, source.list({0})});
  if (source.chance(30)) {
    Value* twice = source.node("Mul", {first, source.list({2})});
    first = source.node("Div", {source.node("Add", {twice, source.list({0})}), source.list({2})});
  }
  if (source.chance(50)) {
    Value* target = source.node("Concat", {first, source.list({-1})}, with1("axis", int64_t{0}));
    return source.add(source.node("Reshape", {x.value, target}), x.bound, x.exact);
  }
  Value* zeros = source.node("ConstantOfShape", {shape});
  Value* ones = source.node("Expand", {source.scalar(0.5), shape});
  source.add(source.node("Add", {source.node("Add", {zeros, ones}), x.value}), x.bound + 1);
}

inline void range(GraphSource& source) {
  const Entry x = movable(source);
  Value* size = source.node("Gather", {source.node("Shape", {x.value}), source.scalar(0, DType::Int64)});
  Value* numbers = source.node("Range", {source.scalar(0, DType::Int64), size, source.scalar(1, DType::Int64)});
  source.add(numbers, 64, true);
}

inline void integers(GraphSource& source) {
  const DType dtype = source.pick({DType::Int64, DType::Int32});
  const Entry x = source.exact(dtype);
  const std::string_view op = source.pick<std::string_view>({"Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"});
  source.add(source.node(op, {x.value, source.scalar(static_cast<double>(source.integer(1, 5)), dtype)}), 1e6, true);
}

inline void castExact(GraphSource& source) {
  const DType from = source.pick({DType::Int64, DType::Int32, DType::Bool});
  const Entry x = source.exact(from);
  if (from != DType::Bool && x.bound > 100) return;
  source.add(source.node("Cast", {x.value}, with1("to", source.pick<int64_t>({1, 6, 7}))), x.bound, true);
}

inline void compare(GraphSource& source) {
  const DType dtype = source.pick({DType::Float32, DType::Int64});
  const Entry x = source.exact(dtype);
  const std::string_view op =
      source.pick<std::string_view>({"Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"});
  source.add(source.node(op, {x.value, source.scalar(static_cast<double>(source.integer(-1, 1)), dtype)}), 1, true);
}

inline void logic(GraphSource& source) {
  const Entry x = source.exact(DType::Bool);
  if (source.chance(40)) return source.add(source.node("Not", {x.value}), 1, true);
  const Entry y =
      source.any([&](const Entry& entry) { return entry.dtype() == DType::Bool && entry.dims() == x.dims(); });
  source.add(source.node(source.pick<std::string_view>({"And", "Or", "Xor"}), {x.value, y.value}), 1, true);
}

inline void where(GraphSource& source) {
  const Entry condition = source.exact(DType::Bool, 1);
  const Entry x =
      source.any([&](const Entry& entry) { return isFloat(entry.dtype()) && entry.dims() == condition.dims(); });
  Value* other = source.chance(50) ? source.scalar(0, x.dtype()) : constantFor(source, x);
  Value* y = source.chance(50) ? source.node("Where", {condition.value, x.value, other})
                               : source.node("Where", {condition.value, other, x.value});
  source.add(y, x.bound + 1);
}

inline void topK(GraphSource& source) {
  const Entry x = source.exact(DType::Float32, 1);
  require(x.knows(-1), MAX_STATUS_NOT_FOUND, "not known");
  const Node* node = source.nodes("TopK", {x.value, source.list({source.integer(1, x.dim(-1).value())})}, {}, 2);
  source.add(node->output(0), x.bound, true);
  source.add(node->output(1), 64, true);
}

inline void argMax(GraphSource& source) {
  const Entry x = source.exact(DType::Float32, 1);
  source.add(
      source.node(source.pick<std::string_view>({"ArgMax", "ArgMin"}), {x.value}, with1("axis", axisOf(source, x))), 64,
      true);
}

inline void constants(GraphSource& source) {
  Value* a = source.weight({4, 6});
  Value* b = source.node("Transpose", {source.node("Exp", {source.weight({6, 4})})});
  source.add(source.node("Add", {a, b}), 4);
}

inline void quantize(GraphSource& source) {
  const Entry x = source.exact(DType::Float32);
  Value* scale = source.scalar(0.05);
  Value* zero = source.scalar(3, DType::UInt8);
  source.add(source.node("DequantizeLinear", {source.node("QuantizeLinear", {x.value, scale, zero}), scale, zero}),
             x.bound + 1);
}

// Both branches give tensors of one type and use outer values; conditions are inputs, constants or computed.
inline void branch(GraphSource& source) {
  const Entry x = source.floats();
  Value* condition = source.chance(30) ? source.scalar(source.pick({0.0, 1.0}), DType::Bool) : nullptr;
  if (!condition)
    condition = source.any([](const Entry& entry) { return entry.dtype() == DType::Bool && entry.rank() == 0; }).value;
  const std::string_view ops[] = {source.pick<std::string_view>({"Relu", "Sigmoid", "Tanh"}),
                                  source.pick<std::string_view>({"Neg", "Abs", "Identity"})};
  Attributes attributes;
  for (int i = 0; i < 2; ++i) {
    Ref<Graph> body = makeRef<Graph>(source.graph(), i == 0 ? "then" : "else");
    source.enter(body.get());
    Value* y = source.node(ops[i], {x.value});
    if (source.chance(50)) y = source.node("Add", {y, source.scalar(i + 1)});
    body->addOutput(y);
    body->sort();
    attributes.set(i == 0 ? "then_branch" : "else_branch", body);
  }
  source.enter(nullptr);
  source.add(source.node("If", {condition}, attributes), x.bound + 2);
}

// A state that is updated two or three times with an outer value.
inline void loop(GraphSource& source) {
  const Entry x = source.floats(1);
  Ref<Graph> body = makeRef<Graph>(source.graph(), "body");
  body->addInput("i", TensorType::of(DType::Int64, {}));
  Value* go = body->addInput("go", TensorType::of(DType::Bool, {}));
  Value* state = body->addInput("state", TensorType::of(DType::Float32, x.dims()));
  source.enter(body.get());
  Value* next = source.node("Tanh", {source.node("Add", {state, source.node("Mul", {x.value, source.scalar(0.5)})})});
  body->addOutput(source.node("Identity", {go}));
  body->addOutput(next);
  source.enter(nullptr);
  body->sort();
  Value* trips = source.scalar(static_cast<double>(source.integer(0, 3)), DType::Int64);
  source.add(source.node("Loop", {trips, nullptr, x.value}, with1("body", body)), x.bound);
}

inline constexpr Generator kAll[] = {unary,
                                     unary,
                                     unary,
                                     partialUnary,
                                     halfUnary,
                                     halfMatMul,
                                     castFloat,
                                     binaryWithConstant,
                                     binaryWithConstant,
                                     binary,
                                     binary,
                                     clip,
                                     power,
                                     softmax,
                                     reduce,
                                     reduce,
                                     matMul,
                                     matMul,
                                     matMulOfTwo,
                                     gemm,
                                     conv,
                                     conv,
                                     conv,
                                     convTranspose,
                                     pool,
                                     layerNormalization,
                                     writtenOutNormalization,
                                     channelNormalization,
                                     activation,
                                     attention,
                                     squeezeAndExcite,
                                     transpose,
                                     transpose,
                                     transpose,
                                     reshape,
                                     reshape,
                                     unsqueeze,
                                     concatenate,
                                     concatenate,
                                     slice,
                                     split,
                                     gather,
                                     pad,
                                     tile,
                                     resize,
                                     shapeArithmetic,
                                     shapeArithmetic,
                                     range,
                                     integers,
                                     castExact,
                                     compare,
                                     logic,
                                     where,
                                     topK,
                                     argMax,
                                     constants,
                                     quantize,
                                     branch,
                                     loop};

}  // namespace max::test::steps
