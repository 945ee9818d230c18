// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX files for tests, malformed ones included.
#pragma once

#include <cstring>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"

namespace max::test {

using Names = std::initializer_list<std::string_view>;

inline std::string message(std::initializer_list<std::pair<int, std::string_view>> fields) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const auto& [tag, value] : fields)
    writer.add_bytes(static_cast<protozero::pbf_tag_type>(tag), value.data(), value.size());
  return bytes;
}

inline std::string intAttribute(std::string_view name, int64_t value) {
  std::string bytes = message({{1, name}});
  protozero::pbf_writer writer(bytes);
  writer.add_int64(3, value);
  writer.add_int64(20, 2);
  return bytes;
}

inline std::string intsAttribute(std::string_view name, const std::vector<int64_t>& values) {
  std::string bytes = message({{1, name}});
  protozero::pbf_writer writer(bytes);
  writer.add_packed_int64(8, values.begin(), values.end());
  writer.add_int64(20, 7);
  return bytes;
}

inline std::string messageAttribute(std::string_view name, int tag, int64_t type, std::string_view value) {
  std::string bytes = message({{1, name}, {tag, value}});
  protozero::pbf_writer(bytes).add_int64(20, type);
  return bytes;
}

inline std::string node(std::string_view op, Names inputs, Names outputs, std::vector<std::string> attributes = {},
                        std::string_view name = "n", std::string_view domain = "") {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (std::string_view input : inputs) writer.add_bytes(1, input.data(), input.size());
  for (std::string_view output : outputs) writer.add_bytes(2, output.data(), output.size());
  writer.add_bytes(3, name.data(), name.size());
  writer.add_bytes(4, op.data(), op.size());
  writer.add_bytes(7, domain.data(), domain.size());
  for (const std::string& attribute : attributes) writer.add_message(5, attribute);
  return bytes;
}

// Dimensions: a number, or a symbol name.
struct TestDim {
  TestDim(int64_t number) : value(number) {}
  TestDim(const char* name) : symbol(name) {}
  int64_t value = 0;
  std::string_view symbol;
};

inline std::string valueInfo(std::string_view name, int64_t elementType, std::vector<TestDim> dims) {
  std::string shape;
  for (const TestDim& dim : dims) {
    std::string one;
    if (dim.symbol.empty())
      protozero::pbf_writer(one).add_int64(1, dim.value);
    else
      one = message({{2, dim.symbol}});
    protozero::pbf_writer(shape).add_message(1, one);
  }
  std::string tensor;
  protozero::pbf_writer writer(tensor);
  writer.add_int64(1, elementType);
  writer.add_message(2, shape);
  return message({{1, name}, {2, message({{1, tensor}})}});
}

inline std::string rawTensor(std::string_view name, int64_t dataType, const std::vector<int64_t>& dims,
                             std::string_view raw) {
  std::string bytes = message({{8, name}, {9, raw}});
  protozero::pbf_writer writer(bytes);
  writer.add_packed_int64(1, dims.begin(), dims.end());
  writer.add_int64(2, dataType);
  return bytes;
}

template <class T>
std::string_view rawOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct GraphParts {
  std::vector<std::string> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> initializers = {};
};

inline std::string graphMessage(const GraphParts& parts) {
  std::string bytes = message({{2, "g"}});
  protozero::pbf_writer writer(bytes);
  for (const auto& part : parts.nodes) writer.add_message(1, part);
  for (const auto& part : parts.initializers) writer.add_message(5, part);
  for (const auto& part : parts.inputs) writer.add_message(11, part);
  for (const auto& part : parts.outputs) writer.add_message(12, part);
  return bytes;
}

inline std::string model(const GraphParts& parts, int64_t opset = 21) {
  std::string version;
  protozero::pbf_writer(version).add_int64(2, opset);
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int64(1, 10);
  writer.add_message(7, graphMessage(parts));
  writer.add_message(8, version);
  return bytes;
}

inline Ref<Storage> storageOf(std::string_view bytes) {
  Ref<Storage> storage = allocateStorage(bytes.size());
  std::memcpy(storage->data(), bytes.data(), bytes.size());
  return storage;
}

}  // namespace max::test
