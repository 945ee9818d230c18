// SPDX-License-Identifier: Apache-2.0
// Operators on strings: StringConcat, StringSplit, StringNormalizer, and strings in Equal and Where.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/interrupt_point.h"
#include "base/name_map.h"
#include "ops/cpu/string/text.h"
#include "ops/families.h"
#include "ops/ref/reference.h"
#include "ops/value_function.h"

namespace max {

namespace {

// numpy's broadcasting; the shape rule has checked that the shapes fit.
Shape broadcast(const Shape& a, const Shape& b) {
  if (a.rank() < b.rank()) return broadcast(b, a);
  Shape shape = a;
  for (int i = 1; i <= b.rank(); ++i)
    if (b[b.rank() - i] != 1) shape[a.rank() - i] = b[b.rank() - i];
  return shape;
}

// Reads a tensor as broadcast to a shape, by row-major index.
class Spread {
 public:
  Spread(const Tensor& tensor, const Shape& shape)
      : tensor_(tensor), shape_(shape), strides_(reference::broadcastStrides(tensor.shape(), shape)) {}

  int64_t offset(size_t place) const {
    auto rest = static_cast<int64_t>(place);
    int64_t offset = 0;
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      offset += rest % shape_[axis] * strides_[axis];
      rest /= shape_[axis];
    }
    return offset;
  }
  std::string_view text(size_t place) const { return textAt(tensor_, offset(place)); }
  bool flag(size_t place) const { return tensor_.as<uint8_t>()[offset(place)] != 0; }

 private:
  const Tensor& tensor_;
  Shape shape_, strides_;
};

char* append(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

Results stringConcat(const Node&, Arguments inputs) {
  const Shape shape = broadcast(inputs[0]->shape(), inputs[1]->shape());
  const Spread a(*inputs[0], shape), b(*inputs[1], shape);
  return {stringTensor(
      shape, [&](size_t i) { return checkedAdd(a.text(i).size(), b.text(i).size()); },
      [&](size_t i, char* to) { append(append(to, a.text(i)), b.text(i)); })};
}

Results equalStrings(const Node&, Arguments inputs) {
  const Shape shape = broadcast(inputs[0]->shape(), inputs[1]->shape());
  const Spread a(*inputs[0], shape), b(*inputs[1], shape);
  Ref<Tensor> result = Tensor::allocate(DType::Bool, shape);
  bool* out = static_cast<bool*>(result->mutableData());
  WorkCounter work;
  for (size_t i = 0; i < static_cast<size_t>(result->count()); ++i) {
    const std::string_view left = a.text(i);
    out[i] = left == b.text(i);
    work.pass(32 + static_cast<int64_t>(left.size()) / 8);
  }
  return {std::move(result)};
}

Results whereStrings(const Node&, Arguments inputs) {
  const Shape shape = broadcast(broadcast(inputs[0]->shape(), inputs[1]->shape()), inputs[2]->shape());
  const Spread condition(*inputs[0], shape), a(*inputs[1], shape), b(*inputs[2], shape);
  const auto chosen = [&](size_t i) { return condition.flag(i) ? a.text(i) : b.text(i); };
  return {stringTensor(
      shape, [&](size_t i) { return chosen(i).size(); }, [&](size_t i, char* to) { append(to, chosen(i)); })};
}

using Parts = WorkVector<std::string_view>;

void skipSpaces(std::string_view& text) {
  while (!text.empty() && isSpace(firstCharacter(text).code)) text.remove_prefix(firstCharacter(text).bytes);
}

// Splits at runs of white space, ignoring it at both ends; the last part keeps trailing text.
Parts splitAtSpaces(std::string_view text, int64_t most) {
  Parts parts;
  for (skipSpaces(text); !text.empty(); skipSpaces(text)) {
    if (most-- == 0) {
      parts.push_back(text);
      break;
    }
    size_t length = 0;
    while (length < text.size() && !isSpace(firstCharacter(text.substr(length)).code))
      length += firstCharacter(text.substr(length)).bytes;
    parts.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return parts;
}

Parts splitAt(std::string_view delimiter, std::string_view text, int64_t most) {
  Parts parts;
  for (size_t end = 0; most-- != 0 && (end = text.find(delimiter)) != text.npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

Results stringSplit(const Node& node, Arguments inputs) {
  const std::string delimiter = node.attributes.getString("delimiter", "");
  const int64_t most = std::max<int64_t>(node.attributes.getInt("maxsplit", -1), -1);
  const Tensor& input = *inputs[0];
  TextLists lists;
  Ref<Tensor> counts = Tensor::allocate(DType::Int64, input.shape());
  for (int64_t i = 0; i < input.count(); ++i) {
    const std::string_view text = textAt(input, i);
    const Parts parts = delimiter.empty() ? splitAtSpaces(text, most) : splitAt(delimiter, text, most);
    lists.add(parts);
    passWork(128 + 8 * static_cast<int64_t>(text.size()));
    static_cast<int64_t*>(counts->mutableData())[i] = static_cast<int64_t>(parts.size());
  }
  return {lists.tensor(node, input.shape(), ""), std::move(counts)};
}

std::string changedCase(const std::string& action, std::string_view text) {
  if (action == "NONE") return std::string(text);
  return action == "LOWER" ? lowerCase(text) : upperCase(text);
}

// Texts that stay where they are. In one vector they would be copied whenever it grows, all at once.
class TextBlocks {
 public:
  std::string_view keep(std::string_view text) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
      const size_t before = blocks_.empty() ? 0 : blocks_.back().capacity();
      blocks_.emplace_back().reserve(std::max(text.size(), std::min(2 * before, kMostShared)));
    }
    WorkVector<char>& block = blocks_.back();
    const size_t first = block.size();
    block.insert(block.end(), text.begin(), text.end());
    return {block.data() + first, text.size()};
  }

 private:
  static constexpr size_t kMostShared = 1 << 20;
  std::vector<WorkVector<char>> blocks_;
};

Results stringNormalizer(const Node& node, Arguments inputs) {
  const std::string action = node.attributes.getString("case_change_action", "NONE");
  const bool isSensitive = node.attributes.getInt("is_case_sensitive", 0) != 0;
  const auto key = [&](std::string_view text) { return isSensitive ? std::string(text) : lowerCase(text); };
  NameSet stopWords;
  for (const std::string& word : node.attributes.getStrings("stopwords")) stopWords.insert(key(word));
  TextBlocks kept;
  WorkVector<std::string_view> texts;
  texts.reserve(static_cast<size_t>(inputs[0]->count()));
  for (int64_t i = 0; i < inputs[0]->count(); ++i) {
    const std::string_view text = textAt(*inputs[0], i);
    passWork(128 + 32 * static_cast<int64_t>(text.size()));
    if (!stopWords.empty() && stopWords.contains(key(text))) continue;
    texts.push_back(kept.keep(changedCase(action, text)));
  }
  if (texts.empty()) texts.emplace_back();
  Shape shape = inputs[0]->shape();
  shape[shape.rank() - 1] = static_cast<int64_t>(texts.size());
  return {stringTensor(
      shape, [&](size_t i) { return texts[i].size(); }, [&](size_t i, char* to) { append(to, texts[i]); })};
}

const OpRow kRows[] = {
    {"", "StringConcat", kFunction<stringConcat>},
    {"", "StringSplit", {}, nullptr, stringSplit},
    {"", "StringNormalizer", {}, nullptr, stringNormalizer},
    {"", "Equal", kFunction<equalStrings, takesStrings>},
    {"", "Where",
     kFunction<whereStrings,
               [](const OpRequest& request) { return request.has(1) && request.inputs[1].dtype == DType::String; }>},
};

}  // namespace

std::span<const OpRow> stringOps() { return kRows; }

}  // namespace max
