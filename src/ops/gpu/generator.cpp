// SPDX-License-Identifier: Apache-2.0
// Tensors made of shapes and a few numbers: ConstantOfShape, Range, EyeLike, OneHot, Trilu.
#include "graph/readers/generator.h"

#include <cstring>

#include "base/error.h"
#include "graph/schema.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr const char* kFill = R"(
extern "C" __global__ void gpu_fill(Element* out, long long count, unsigned long long value) {
  EACH(i, count) out[i] = (Element)value;
}
)";

std::unique_ptr<OpKernel> createFill(const Placed& placed, const OpRequest& request) {
  uint64_t bits = 0;
  const Ref<Tensor> value = readers::readFillValue(*RequestInputs(request));
  if (value) std::memcpy(&bits, value->data(), sizeOf(value->dtype()));
  return elementLaunch(placed, request, request.outputs[0].shape.count(), bits);
}

Ref<Placed> placeFill(const Node& node) {
  const DType dtype = node.output(0)->type.dtype;
  if (!isMovable(dtype) || sizeOf(dtype) > sizeof(uint64_t)) return nullptr;
  return placedAs(movedSource(dtype) + kFill, {"gpu_fill"}, createFill, 0);
}

// Integers wrap.
constexpr const char* kRange = R"(
extern "C" __global__ void gpu_range(const Element* start, const Element* delta, Element* out, long long count) {
  EACH(i, count) out[i] = (Element)((Wrapped)start[0] + (Wrapped)delta[0] * (Wrapped)i);
}
)";

std::unique_ptr<OpKernel> createRange(const Placed& placed, const OpRequest& request) {
  return elementLaunch(placed, request, request.outputs[0].shape.count());
}

Ref<Placed> placeRange(const Node& node) {
  const DType dtype = node.output(0)->type.dtype;
  // Plans compute short ones with the CPU's, which knows no others; for float16 it works in float32.
  if (!kernelType(dtype).element || dtype == DType::Float16 || dtype == DType::BFloat16) return nullptr;
  return placedAs(
      concat(typesSource(dtype), "typedef ", isFloat(dtype) ? "Sum" : "unsigned long long", " Wrapped;\n", kRange),
      {"gpu_range"}, createRange, 0b101);
}

constexpr const char* kEye = R"(
extern "C" __global__ void gpu_eye(Element* out, long long count, long long columns, long long diagonal) {
  EACH(i, count) out[i] = (Element)(i % columns - i / columns == diagonal ? 1 : 0);
}
)";

std::unique_ptr<OpKernel> createEye(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  return elementLaunch(placed, request, shape.count(), shape[1], readers::readDiagonal(request.node.attributes));
}

Ref<Placed> placeEye(const Node& node) {
  const DType dtype = node.output(0)->type.dtype == DType::Bool ? DType::UInt8 : node.output(0)->type.dtype;
  return kernelType(dtype).element ? placedAs(typesSource(dtype) + kEye, {"gpu_eye"}, createEye, 0) : nullptr;
}

constexpr const char* kOneHot = R"(
extern "C" __global__ void gpu_one_hot(const Index* indices, const Element* values, Element* out, long long count,
                                       long long depth, long long inner) {
  EACH(i, count) {
    const Index given = indices[i / inner / depth * inner + i % inner];
    long long index = IS_INTEGER || fabs((double)given) < 4611686018427387904.0 ? (long long)given : depth;
    if (index < 0) index += depth;
    out[i] = values[i / inner % depth == index];
  }
}
)";

std::unique_ptr<OpKernel> createOneHot(const Placed& placed, const OpRequest& request) {
  const Shape& out = request.outputs[0].shape;
  const int axis = readers::readOneHotAxis(*RequestInputs(request));
  return elementLaunch(placed, request, out.count(), out[axis], out.product(axis + 1, out.rank()));
}

Ref<Placed> placeOneHot(const Node& node) {
  const DType index = node.input(0)->type.dtype, dtype = node.input(2)->type.dtype;
  if (!kernelType(index).element || !isMovable(dtype)) return nullptr;
  return placedAs(
      concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", kernelType(index).element,
             " Index;\n#define IS_INTEGER ", isFloat(index) ? "false" : "true", "\n", movedSource(dtype), kOneHot),
      {"gpu_one_hot"}, createOneHot, 0b101);
}

constexpr const char* kTriangle = R"(
extern "C" __global__ void gpu_triangle(const Element* in DIAGONAL, Element* out, long long count, long long rows,
                                        long long columns) {
  EACH(i, count) {
    const long long distance = i % columns - i / columns % rows;
    out[i] = distance == (SHIFT) || (distance > (SHIFT)) == KEEPS_UPPER ? in[i] : Element();
  }
}
)";

std::unique_ptr<OpKernel> createTriangle(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  return elementLaunch(placed, request, shape.count(), shape[shape.rank() - 2], shape.back());
}

Ref<Placed> placeTriangle(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isMovable(dtype)) return nullptr;
  const std::vector<InputType> types = inputTypes(node);
  return placedAs(
      movedSource(dtype) +
          filledIn(kTriangle, {{"DIAGONAL", node.input(1) ? ", const long long* diagonal" : ""},
                               {"SHIFT", node.input(1) ? "*diagonal" : "0"},
                               {"KEEPS_UPPER", readers::keepsUpper(NodeInputs(node, types)) ? "true" : "false"}}),
      {"gpu_triangle"}, createTriangle);
}

constexpr PlaceRow kRows[] = {{"", "ConstantOfShape", placeFill},
                              {"", "Range", placeRange},
                              {"", "EyeLike", placeEye},
                              {"", "OneHot", placeOneHot},
                              {"", "Trilu", placeTriangle}};

}  // namespace

std::span<const PlaceRow> gpuGenerators() { return kRows; }

}  // namespace max
