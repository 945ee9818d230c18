// SPDX-License-Identifier: Apache-2.0
// The kernels of operators on accelerators, compiled with the vendors' own compilers. Skipped where they are not
// installed. Some of the sources; with MAX_TEST_ALL set, all of them.
#include <set>

#include "interpreter.h"
#include "kernel/gpu_compilers.h"
#include "ops/gpu/gpu_operators.h"
#include "vendor_compilers.h"

namespace max::test {
namespace {

std::vector<PlaceRow> allRows() {
  std::vector<PlaceRow> rows;
#define MAX_ADD(function) \
  for (const PlaceRow& row : function()) rows.push_back(row);
  MAX_FOR_EACH_GPU_FAMILY(MAX_ADD)
#undef MAX_ADD
  return rows;
}

class Sources {
 public:
  // Compiles the graph and adds what its nodes would run.
  void add(Builder& builder) {
    builder.graph->sort();
    compile(*builder.graph, {});
    for (const Node* node : builder.graph->nodes()) {
      bool isPlaced = false;
      for (const PlaceRow& row : rows_) {
        if (row.domain != node->domain() || row.op != node->op()) continue;
        const Ref<Placed> placed = row.place(*node);
        isPlaced = isPlaced || placed;
        if (placed) texts_.insert(placed->source());
      }
      EXPECT_TRUE(isPlaced || node->is("Identity") || node->is("Reshape")) << node->description();
    }
  }
  std::vector<std::string> texts() const { return {texts_.begin(), texts_.end()}; }

 private:
  std::vector<PlaceRow> rows_ = allRows();
  std::set<std::string> texts_;
};

Value* inputOf(Builder& b, DType dtype, const Shape& shape) {
  return b.graph->addInput(concat("x", b.graph->inputs().size()), TensorType::of(dtype, symbolic(shape)));
}

// Every operator with one input, then those with two.
void addFloats(Sources& sources, DType dtype) {
  for (const bool isFirst : {true, false}) {
    Builder b;
    Value *x = inputOf(b, dtype, {3, 5}), *y = inputOf(b, dtype, {5}), *value = x;
    if (isFirst)
      for (const char* op :
           {"Abs",       "Acos", "Acosh", "Asin", "Asinh",      "Atan",  "Atanh", "Ceil",        "Celu",
            "Cos",       "Cosh", "Elu",   "Erf",  "Exp",        "Floor", "Gelu",  "HardSigmoid", "HardSwish",
            "LeakyRelu", "Log",  "Mish",  "Neg",  "Reciprocal", "Relu",  "Round", "Selu"})
        value = b.op(op, {value});
    else
      for (const char* op : {"Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
                             "ThresholdedRelu"})
        value = b.op(op, {value});
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod", "PRelu"})
      value = op == std::string_view("Mod") ? b.node("Mod", {value, y}, attrs({{"fmod", int64_t{1}}}), 1)->output()
                                            : b.op(op, {value, y});
    b.output(b.op("Where", {b.op("Less", {value, y}), value, b.op("Where", {b.op("IsNaN", {x}), y, x})}));
    b.output(b.op("Cast", {value}, attrs({{"to", onnxFromDType(DType::Int32)}})));
    sources.add(b);
  }
}

void addIntegers(Sources& sources, DType dtype) {
  Builder b;
  Value *x = inputOf(b, dtype, {3, 50}), *y = inputOf(b, dtype, {50}), *value = b.op("Abs", {x});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    value = b.op(op, {value, y});
  if (dtype == DType::Int32 || dtype == DType::Int64) value = b.op("Pow", {value, y});
  value = b.op("BitwiseNot", {value});
  Value* equal = b.op("And", {b.op("Equal", {value, y}), b.op("Not", {b.op("Greater", {x, y})})});
  b.output(b.op("Where", {equal, value, x}));
  b.output(b.op("Cast", {value}, attrs({{"to", onnxFromDType(DType::Float16)}})));
  b.output(b.op("Cast", {value}, attrs({{"to", onnxFromDType(DType::BFloat16)}})));
  sources.add(b);
}

void addOthers(Sources& sources, DType dtype) {
  Builder b;
  Value* x = inputOf(b, dtype, {2, 8, 6, 6});
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum"})
    b.output(b.op(op, {x, b.ints({1, 3})}));
  b.output(b.op("Softmax", {x}, attrs({{"axis", int64_t{1}}})));
  b.output(b.op("LogSoftmax", {x}));
  b.output(b.op("Transpose", {x}, attrs({{"perm", list({2, 0, 3, 1})}})));
  b.output(b.op("Gather", {x, inputOf(b, DType::Int64, {40})}, attrs({{"axis", int64_t{3}}})));
  Value* scale = inputOf(b, dtype, {6});
  b.output(b.op("LayerNormalization", {x, scale, scale}));
  b.output(b.op("RMSNormalization", {x, scale}));
  b.output(b.op("MatMul", {x, inputOf(b, dtype, {6, 7})}));
  b.output(b.op("Gelu", {b.op("Add", {b.op("MatMul", {x, inputOf(b, dtype, {6, 9})}), inputOf(b, dtype, {9})})}));
  b.output(b.op("MaxPool", {x}, attrs({{"kernel_shape", list({2, 2})}})));
  b.output(b.op("AveragePool", {x}, attrs({{"kernel_shape", list({3, 3})}, {"pads", list({1, 1, 1, 1})}})));
  b.output(b.op("Relu", {b.op("Conv", {x, inputOf(b, dtype, {4, 8, 3, 3}), inputOf(b, dtype, {4})})}));
  b.output(b.op("ConvTranspose", {x, inputOf(b, dtype, {8, 4, 3, 3})}, attrs({{"strides", list({2, 2})}})));
  const float scales[] = {1, 1, 2, 2};
  Value* factors = b.graph->addConstant(Tensor::copyOf(DType::Float32, {4}, scales));
  for (const char* mode : {"nearest", "linear", "cubic"})
    b.output(b.op("Resize", {x, nullptr, factors}, attrs({{"mode", std::string(mode)}})));
  b.output(b.op("Pad", {x, b.ints({0, 0, 1, 1, 0, 0, 2, 1})}, attrs({{"mode", std::string("reflect")}})));
  if (dtype == DType::Float32) {  // of which the weights are
    Value* wide = b.op("Relu", {b.op("Conv", {x, b.random({16, 8, 1, 1})})});
    b.output(wide);  // so that the two stay apart, as they do for an accelerator
    b.output(b.op("Conv", {wide, b.random({16, 1, 3, 3})}, attrs({{"group", int64_t{16}}})));
  }
  sources.add(b);
}

// What reads or writes at computed places, sorts, samples, draws, or has a state.
void addIndexed(Sources& sources, DType dtype) {
  Builder b;
  Value *x = inputOf(b, dtype, {2, 8, 6, 6}), *indices = inputOf(b, DType::Int64, {2, 8, 6, 6});
  for (const char* op : {"ArgMax", "ArgMin"}) b.output(b.op(op, {x}, attrs({{"axis", int64_t{1}}})));
  b.output(b.node("TopK", {x, b.ints({3})}, {}, 2)->output(1));
  b.output(b.op("CumSum", {x, inputOf(b, DType::Int64, {1})}, attrs({{"reverse", int64_t{1}}})));
  b.output(b.op("GatherElements", {x, indices}));
  b.output(b.op("GatherND", {x, inputOf(b, DType::Int64, {20, 2})}));
  b.output(b.op("ScatterElements", {x, indices, x}, attrs({{"reduction", std::string("mul")}})));
  for (const char* reduction : {"none", "max"})
    b.output(b.op("ScatterND", {x, inputOf(b, DType::Int64, {20, 2}), inputOf(b, dtype, {20, 6, 6})},
                  attrs({{"reduction", std::string(reduction)}})));
  b.output(b.op("ReverseSequence", {x, inputOf(b, DType::Int64, {8})}));
  b.output(b.op("Trilu", {x}));
  b.output(b.op("OneHot", {indices, b.ints({20}), inputOf(b, dtype, {2})}));
  b.output(b.op("TensorScatter", {x, inputOf(b, dtype, {2, 8, 3, 6}), inputOf(b, DType::Int64, {2})}));
  sources.add(b);
}

void addLayers(Sources& sources, DType dtype) {
  Builder b;
  Value *x = inputOf(b, dtype, {2, 8, 6, 6}), *channels = inputOf(b, dtype, {8});
  b.output(b.op("BatchNormalization", {x, channels, channels, channels, channels}));
  b.output(b.op("LRN", {x}, attrs({{"size", int64_t{3}}})));
  for (const char* op : {"MeanVarianceNormalization", "GlobalMaxPool", "GlobalLpPool", "Det"}) b.output(b.op(op, {x}));
  for (const char* op : {"Hardmax", "LpNormalization"}) b.output(b.op(op, {x}, attrs({{"axis", int64_t{1}}})));
  b.output(b.op("LpPool", {x}, attrs({{"kernel_shape", list({2, 2})}})));
  b.output(b.node("MaxPool", {x}, attrs({{"kernel_shape", list({2, 2})}}), 2)->output(1));
  for (const char* mode : {"nearest", "linear", "cubic"})
    b.output(b.op("GridSample", {x, inputOf(b, dtype, {2, 5, 5, 2})}, attrs({{"mode", std::string(mode)}})));
  b.output(b.op("RoiAlign", {x, inputOf(b, dtype, {9, 4}), inputOf(b, DType::Int64, {9})}));
  b.output(b.op("MaxRoiPool", {x, inputOf(b, dtype, {9, 5})}, attrs({{"pooled_shape", list({2, 2})}})));
  b.output(b.op("DeformConv", {x, inputOf(b, dtype, {4, 8, 3, 3}), inputOf(b, dtype, {2, 18, 4, 4})}));
  b.output(b.op("DFT", {inputOf(b, dtype, {3, 20, 1})}));
  for (const auto& [op, gates] : {std::pair{"LSTM", int64_t{4}}, {"GRU", int64_t{3}}, {"RNN", int64_t{1}}})
    b.output(b.node(op,
                    {inputOf(b, dtype, {5, 2, 3}), inputOf(b, dtype, {1, gates * 7, 3}),
                     inputOf(b, dtype, {1, gates * 7, 7}), inputOf(b, dtype, {1, gates * 14})},
                    attrs({{"hidden_size", int64_t{7}}}), 1)
                 ->output());
  for (const char* op : {"RandomNormalLike", "RandomUniformLike", "Bernoulli"})
    b.output(b.op(op, {x}, attrs({{"seed", 1.0f}})));
  b.output(b.op("Multinomial", {inputOf(b, dtype, {4, 30})}, attrs({{"sample_size", int64_t{20}}})));
  sources.add(b);
}

void addQuantised(Sources& sources, DType dtype) {
  Builder b;
  Value *x = inputOf(b, dtype, {2, 6, 9, 8}), *w = inputOf(b, DType::Int8, {4, 6, 3, 3});
  Value *number = inputOf(b, DType::Float32, {1}), *zero = inputOf(b, dtype, {1}),
        *wZero = inputOf(b, DType::Int8, {1});
  Value *left = inputOf(b, dtype, {30, 40}), *right = inputOf(b, DType::Int8, {40, 50});
  b.output(b.op("QuantizeLinear", {inputOf(b, DType::Float32, {2, 50}), number, zero}));
  b.output(b.op("DequantizeLinear", {x, number, zero}));
  b.output(b.op("MatMulInteger", {left, right, zero, wZero}));
  b.output(b.op("QLinearMatMul", {left, number, zero, right, number, wZero, number, zero}));
  b.output(b.op("ConvInteger", {x, w, zero}));
  b.output(b.op("QLinearConv", {x, number, zero, w, number, wZero, number, zero, inputOf(b, DType::Int32, {4})}));
  if (dtype == DType::UInt8)
    b.output(b.node("DynamicQuantizeLinear", {inputOf(b, DType::Float32, {50})}, {}, 3)->output());
  sources.add(b);
}

struct Vendor {
  const char* name;
  const KernelCompiler& (*compiler)();
  const char* architecture;
};
void PrintTo(const Vendor& vendor, std::ostream* out) { *out << vendor.name; }

class GpuOperators : public testing::TestWithParam<Vendor> {};

TEST_P(GpuOperators, EveryKernelCompiles) {
  if (kSanitized) GTEST_SKIP() << "the vendors' libraries are not made for sanitizers";
  nameNvrtc();
  Sources sources;
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Float64}) {
    addFloats(sources, dtype);
    addOthers(sources, dtype);
    addIndexed(sources, dtype);
    addLayers(sources, dtype);
  }
  for (const DType dtype : {DType::Int8, DType::UInt8}) addQuantised(sources, dtype);
  for (const DType dtype : {DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt8, DType::UInt32})
    addIntegers(sources, dtype);
  const std::vector<std::string> texts = sources.texts();
  EXPECT_GT(texts.size(), 40u);
  KernelSource source;
  source.name = "operator.cu";
  source.architecture = GetParam().architecture;
  const size_t step = getenv("MAX_TEST_ALL") ? 1 : texts.size() / 3;
  for (size_t i = 0; i < texts.size(); i += step) {
    source.text = texts[i];
    try {
      const KernelCompiler& compiler = GetParam().compiler();
      EXPECT_FALSE(compiler.compile(source, compiler.executableKind(source)).bytes.empty());
    } catch (const Error& error) {
      if (error.status() == MAX_STATUS_UNAVAILABLE) GTEST_SKIP() << error.message();
      ADD_FAILURE() << error.message() << "\n" << texts[i].substr(texts[i].find("extern"));
      if (!getenv("MAX_TEST_ALL")) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vendors, GpuOperators,
                         testing::Values(Vendor{"nvrtc", nvrtcCompiler, "sm_80"},
                                         Vendor{"hiprtc", hiprtcCompiler, "gfx90a"}));

}  // namespace
}  // namespace max::test
