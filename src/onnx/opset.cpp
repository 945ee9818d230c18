// SPDX-License-Identifier: Apache-2.0
#include "onnx/opset.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/error.h"
#include "graph/composite.h"
#include "onnx/attribute_versions.h"
#include "onnx/import.h"

namespace max::onnx {

void PendingNode::fail(MaxStatus status, const std::string& text) const {
  max::fail(status, "node '", name, "' (", op, "): ", text);
}

namespace {

Value* constantInts(PendingNode& node, const std::vector<int64_t>& values) {
  return node.graph.addConstant(
      Tensor::copyOf(DType::Int64, Shape{static_cast<int64_t>(values.size())}, values.data()));
}

Value* constantFloats(PendingNode& node, const std::vector<float>& values) {
  return node.graph.addConstant(
      Tensor::copyOf(DType::Float32, Shape{static_cast<int64_t>(values.size())}, values.data()));
}

Value* emit(PendingNode& node, std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}) {
  return node.graph.addNode("", op, std::move(inputs), std::move(attributes), 1, node.name)->output();
}

void setInput(PendingNode& node, size_t index, Value* value) {
  if (node.inputs.size() <= index) node.inputs.resize(index + 1, nullptr);
  node.inputs[index] = value;
}

// Moves an integer attribute to an input.
void attributeToInput(PendingNode& node, std::string_view attribute, size_t index) {
  if (!node.attributes.has(attribute)) return;
  setInput(node, index, constantInts(node, node.attributes.getInts(attribute)));
  node.attributes.erase(attribute);
}

void axesToInput(PendingNode& node) { attributeToInput(node, "axes", 1); }

void splitToInput(PendingNode& node) { attributeToInput(node, "split", 1); }

// Before opset 18 a Split without sizes makes one equal part per output.
void equalSplit(PendingNode& node) {
  const bool hasSizes = node.inputs.size() > 1 && node.inputs[1];
  if (!hasSizes && !node.attributes.has("num_outputs"))
    node.attributes.set("num_outputs", static_cast<int64_t>(node.outputs.size()));
}

void sliceToInputs(PendingNode& node) {
  attributeToInput(node, "starts", 1);
  attributeToInput(node, "ends", 2);
  attributeToInput(node, "axes", 3);
}

// A bound is a scalar of the input's own type; the attribute is float32.
Value* boundOf(PendingNode& node, float value) {
  Value* scalar = node.graph.addConstant(Tensor::copyOf(DType::Float32, Shape{}, &value));
  const DType dtype = node.inputs[0]->type.dtype;
  if (dtype == DType::Float32) return scalar;
  Attributes to;
  to.set("to", onnxFromDType(dtype));
  return emit(node, "Cast", {scalar}, std::move(to));
}

void clipToInputs(PendingNode& node) {
  if (node.inputs.empty() || !node.inputs[0]) return;
  const char* names[] = {"min", "max"};
  for (size_t i = 0; i < 2; ++i) {
    if (!node.attributes.has(names[i])) continue;
    setInput(node, i + 1, boundOf(node, node.attributes.getFloat(names[i], 0)));
    node.attributes.erase(names[i]);
  }
}

void padToInputs(PendingNode& node) {
  if (node.inputs.empty() || !node.inputs[0]) return;
  attributeToInput(node, "pads", 1);
  setInput(node, 2, boundOf(node, node.attributes.getFloat("value", 0)));
  node.attributes.erase("value");
}

void topKToInput(PendingNode& node) {
  if (!node.attributes.has("k")) return;
  setInput(node, 1, constantInts(node, {node.attributes.getInt("k", 0)}));
  node.attributes.erase("k");
}

// Resize in opset 10 and Upsample: coordinates are scaled without an offset and rounded down.
void asymmetricResize(PendingNode& node) {
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string("floor"));
  if (node.inputs.size() == 2) node.inputs.insert(node.inputs.begin() + 1, nullptr);
}

void upsampleToResize(PendingNode& node) {
  if (node.attributes.has("scales")) {
    setInput(node, 1, constantFloats(node, node.attributes.getFloats("scales")));
    node.attributes.erase("scales");
  }
  node.op = "Resize";
  asymmetricResize(node);
}

void renameScatter(PendingNode& node) { node.op = "ScatterElements"; }

// Before opset 13 Softmax and its variants work on the matrix from flattening at the axis.
void flattenAtAxis(PendingNode& node) {
  Value* input = node.inputs.empty() ? nullptr : node.inputs[0];
  if (!input) return;
  const int64_t axis = node.attributes.getInt("axis", 1);
  if (input->type.ranked && (axis == -1 || axis == input->type.rank() - 1)) {
    node.attributes.set("axis", static_cast<int64_t>(-1));
    return;
  }
  Attributes flatten;
  flatten.set("axis", axis);
  Value* matrix = emit(node, "Flatten", {input}, std::move(flatten));
  Attributes last;
  last.set("axis", static_cast<int64_t>(-1));
  Value* result = emit(node, node.op, {matrix}, std::move(last));
  node.op = "Reshape";
  node.attributes = {};
  node.attributes.set("allowzero", int64_t{1});
  node.inputs = {result, emit(node, "Shape", {input})};
}

// Before opset 21 scale and bias have one element per group, since then one per channel.
void groupParametersToChannels(PendingNode& node) {
  const Value* input = node.inputs.empty() ? nullptr : node.inputs[0];
  const int64_t groups = node.attributes.getInt("num_groups", 0);
  if (!input || !input->type.ranked || input->type.rank() < 2 || !input->type.dims[1].isKnown() || groups <= 0)
    node.fail(MAX_STATUS_UNIMPLEMENTED, "before opset 21 the number of channels must be known");
  const int64_t channels = input->type.dims[1].value();
  for (size_t i = 1; i < 3 && i < node.inputs.size(); ++i) {
    Value* column = emit(node, "Reshape", {node.inputs[i], constantInts(node, {groups, 1})});
    Value* wide = emit(node, "Expand", {column, constantInts(node, {groups, channels / groups})});
    node.inputs[i] = emit(node, "Reshape", {wide, constantInts(node, {channels})});
  }
}

// Before opset 20 the axis of a DFT is an attribute.
void dftAxisToInput(PendingNode& node) {
  setInput(node, 2, constantInts(node, {node.attributes.getInt("axis", 1)}));
  node.attributes.erase("axis");
}

// Before opset 16 RoiAlign does not shift coordinates by half a pixel.
void roiAlignWithoutShift(PendingNode& node) {
  node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
}

// Before opset 14 more than one output means training mode.
void batchNormalizationByOutputs(PendingNode& node) {
  if (node.attributes.getInt("spatial", 1) != 1)
    node.fail(MAX_STATUS_UNIMPLEMENTED, "statistics per element (spatial = 0) are not supported");
  while (!node.outputs.empty() && node.outputs.back().empty()) node.outputs.pop_back();
  if (node.outputs.size() < 2) return;
  if (node.outputs.size() > 3)
    node.fail(MAX_STATUS_UNIMPLEMENTED, "statistics of the batch (outputs 3 and 4) are not supported");
  node.attributes.set("training_mode", static_cast<int64_t>(1));
}

// Before opset 20 the modes linear and cubic have other names.
void gridSampleModes(PendingNode& node) {
  const std::string mode = node.attributes.getString("mode", "bilinear");
  if (mode == "bilinear") node.attributes.set("mode", std::string("linear"));
  if (mode == "bicubic") node.attributes.set("mode", std::string("cubic"));
}

constexpr int64_t kNewest = INT64_MAX;  // the operator itself was removed: every version

struct Rule {
  std::string_view op;
  int64_t before;  // applies to lower versions
  void (*rewrite)(PendingNode&);
};

// Rules of one operator run in table order.
constexpr Rule kRules[] = {
    {"Add", 7, broadcastFromAxis},
    {"And", 7, broadcastFromAxis},
    {"BatchNormalization", 14, batchNormalizationByOutputs},
    {"Clip", 11, clipToInputs},
    {"DFT", 20, dftAxisToInput},
    {"Div", 7, broadcastFromAxis},
    {"Equal", 7, broadcastFromAxis},
    {"Greater", 7, broadcastFromAxis},
    {"GridSample", 20, gridSampleModes},
    {"GroupNormalization", 21, groupParametersToChannels},
    {"Hardmax", 13, flattenAtAxis},
    {"Less", 7, broadcastFromAxis},
    {"LogSoftmax", 13, flattenAtAxis},
    {"Mul", 7, broadcastFromAxis},
    {"Or", 7, broadcastFromAxis},
    {"PRelu", 7, slopePerChannel},
    {"Pad", 11, padToInputs},
    {"Pow", 7, broadcastFromAxis},
    {"ReduceL1", 18, axesToInput},
    {"ReduceL2", 18, axesToInput},
    {"ReduceLogSum", 18, axesToInput},
    {"ReduceLogSumExp", 18, axesToInput},
    {"ReduceMax", 18, axesToInput},
    {"ReduceMean", 18, axesToInput},
    {"ReduceMin", 18, axesToInput},
    {"ReduceProd", 18, axesToInput},
    {"ReduceSum", 13, axesToInput},
    {"ReduceSumSquare", 18, axesToInput},
    {"Resize", 11, asymmetricResize},
    {"RoiAlign", 16, roiAlignWithoutShift},
    {"Scan", 9, scanOfOpset8},
    {"Scatter", kNewest, renameScatter},
    {"Slice", 10, sliceToInputs},
    {"Softmax", 13, flattenAtAxis},
    {"Split", 13, splitToInput},
    {"Split", 18, equalSplit},
    {"Squeeze", 13, axesToInput},
    {"Sub", 7, broadcastFromAxis},
    {"TopK", 10, topKToInput},
    {"Unsqueeze", 13, axesToInput},
    {"Upsample", kNewest, upsampleToResize},
    {"Xor", 7, broadcastFromAxis},
};
static_assert(std::ranges::is_sorted(kRules, std::less(), &Rule::op));

// Operators whose definition in opset kOldestOpset dates from this version.
struct OldOperators {
  int64_t since;
  std::string_view names;  // each followed by a space
};

constexpr OldOperators kOldOperators[] = {
    {1,
     "Add And AveragePool BatchNormalization Div Dropout Equal Gemm Greater Less Mul Or Pow PRelu Sub Xor "
     "ArgMax ArgMin Constant Conv ConvTranspose DepthToSpace Flatten Gather "
     "GlobalAveragePool GlobalMaxPool Hardmax Identity If LRN LogSoftmax Loop "
     "LpNormalization MatMul MaxPool Not RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Shape Size Slice Softmax Softplus Softsign "
     "SpaceToDepth Squeeze TopK Transpose Unsqueeze "},
    {2, "GlobalLpPool LpPool Pad Split "},
    {4, "Concat "},
    {5, "Reshape "},
    {6,
     "Abs Cast Ceil Clip Elu Exp Floor HardSigmoid "
     "InstanceNormalization LeakyRelu Log Max Mean Min Neg Reciprocal "
     "Relu Selu Sigmoid Sqrt Sum Tanh Tile "},
};

bool isListed(std::string_view names, std::string_view op) {
  for (size_t at = names.find(op); at != names.npos; at = names.find(op, at + 1))
    if ((at == 0 || names[at - 1] == ' ') && names[at + op.size()] == ' ') return true;
  return false;
}

}  // namespace

bool isReadable(std::string_view domain, std::string_view op, int64_t version) {
  if (!domain.empty() || version >= kOldestOpset) return true;
  for (const OldOperators& old : kOldOperators)
    if (version >= old.since && isListed(old.names, op)) return true;
  return false;
}

void normalise(PendingNode& node) {
  if (!node.domain.empty()) return;
  const std::string op = node.op;
  const Rule* rule = std::ranges::lower_bound(kRules, std::string_view(op), std::less(), &Rule::op);
  for (; rule != std::end(kRules) && rule->op == op; ++rule)
    if (node.version < rule->before) rule->rewrite(node);
  dropOldAttributes("", op, node.version, node.attributes);
}

const AttributeRules* attributesOfNewest(std::string_view domain, std::string_view op) {
  const std::string_view name = newestName(domain, op);
  if (const Composite* composite = findComposite(domain, name)) return composite->schema.attributeRules();
  const OpSchema* schema = findSchema(domain, name);
  return schema ? schema->attributeRules() : nullptr;
}

std::string_view newestName(std::string_view domain, std::string_view op) {
  if (!domain.empty()) return op;
  if (op == "Upsample") return "Resize";
  return op == "Scatter" ? "ScatterElements" : op;
}

}  // namespace max::onnx
