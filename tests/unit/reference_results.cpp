// SPDX-License-Identifier: Apache-2.0
#include "reference_results.h"

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

namespace max::test {

namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

struct Memory {
  std::unordered_map<std::string, Results> results;
  size_t bytes = 0;
};
Memory* memory = nullptr;

// Fields, each after its length.
class Key {
 public:
  void add(std::string_view field) {
    addNumber(field.size());
    text_.append(field);
  }
  template <class T>
  void addNumber(T number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  template <class T>
  void addNumbers(const T& numbers) {
    addNumber(numbers.size());
    for (const auto& number : numbers) addNumber(number);
  }
  // Contents by their hash: they are long.
  void addTensor(const Ref<Tensor>& tensor) {
    addNumber(tensor ? tensor->dtype() : DType::Invalid);
    if (!tensor) return;
    addNumbers(tensor->shape().dims());
    addNumber(std::hash<std::string_view>()({static_cast<const char*>(tensor->data()), tensor->bytes()}));
  }
  // False if it has no such contents.
  bool addAttribute(const Attribute& attribute) {
    addNumber(attribute.index());
    return std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_arithmetic_v<T>)
            addNumber(value);
          else if constexpr (std::is_same_v<T, std::string>)
            add(value);
          else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>>)
            addNumbers(value);
          else
            return false;
          return true;
        },
        attribute);
  }
  std::string&& take() { return std::move(text_); }

 private:
  std::string text_;
};

// Empty if the node has contents of other kinds.
std::string keyOf(const Node& node, const Results& inputs, const std::vector<OutputType>& outputs) {
  if (node.expression || node.prepared || node.placed) return {};
  Key key;
  key.add(node.domain());
  key.add(node.op());
  key.addNumber(node.products);
  key.addNumber(node.productParts);
  for (const auto& [name, value] : node.attributes.entries()) {
    key.add(name);
    if (!key.addAttribute(value)) return {};
  }
  key.addNumber(inputs.size());
  for (const Ref<Tensor>& input : inputs) {
    if (input && (input->dtype() == DType::String || isObject(input->dtype()))) return {};
    key.addTensor(input);
  }
  for (const auto& [dtype, shape] : outputs) {
    key.addNumber(dtype);
    key.addNumbers(shape.dims());
  }
  return key.take();
}

}  // namespace

KeptResults::KeptResults() { memory = new Memory; }

KeptResults::~KeptResults() {
  delete memory;
  memory = nullptr;
}

Results referenceResults(const Node& node, const Results& inputs, const std::vector<OutputType>& outputs,
                         FunctionRef<Results()> compute) {
  const std::string key = memory ? keyOf(node, inputs, outputs) : std::string();
  if (key.empty()) return compute();
  const auto found = memory->results.find(key);
  if (found != memory->results.end()) return found->second;
  Results results = compute();
  for (const Ref<Tensor>& result : results) memory->bytes += result->bytes();
  if (memory->bytes <= kMostBytes) memory->results.emplace(key, results);
  return results;
}

}  // namespace max::test
