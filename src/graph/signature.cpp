// SPDX-License-Identifier: Apache-2.0
#include "graph/signature.h"

#include <array>
#include <map>

#include "base/error.h"

namespace max {

namespace {

constexpr DType kAllTypes[] = {
#define MAX_DTYPE_ROW(name, constant, spelling, bits, brief, onnx) DType::name,
    MAX_FOR_EACH_DTYPE(MAX_DTYPE_ROW)
#undef MAX_DTYPE_ROW
        DType::Sequence,
    DType::Optional,
    DType::Map,
};
static_assert(std::size(kAllTypes) <= 32);

constexpr std::array<int8_t, 256> indexTable() {
  std::array<int8_t, 256> table{};
  for (int8_t& entry : table) entry = -1;
  for (size_t i = 0; i < std::size(kAllTypes); ++i) table[static_cast<size_t>(kAllTypes[i])] = static_cast<int8_t>(i);
  return table;
}
constexpr std::array<int8_t, 256> kIndex = indexTable();

constexpr DTypeSet bit(DType dtype) { return 1u << kIndex[static_cast<size_t>(dtype)]; }

constexpr DTypeSet kFloats = bit(DType::Float16) | bit(DType::BFloat16) | bit(DType::Float32) | bit(DType::Float64);
constexpr DTypeSet kSignedIntegers = bit(DType::Int8) | bit(DType::Int16) | bit(DType::Int32) | bit(DType::Int64);
constexpr DTypeSet kIntegers =
    kSignedIntegers | bit(DType::UInt8) | bit(DType::UInt16) | bit(DType::UInt32) | bit(DType::UInt64);
constexpr DTypeSet kSmallFloats = bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) |
                                  bit(DType::Float8E5M2FNUZ) | bit(DType::Float4E2M1FN) | bit(DType::Float6E2M3FN) |
                                  bit(DType::Float6E3M2FN) | bit(DType::Float8E8M0FNU);
constexpr DTypeSet kSmallIntegers = bit(DType::Int4) | bit(DType::UInt4) | bit(DType::Int2) | bit(DType::UInt2);

constexpr DTypeSet kObjects = bit(DType::Sequence) | bit(DType::Optional) | bit(DType::Map);
constexpr DTypeSet kEverything = (std::size(kAllTypes) < 32 ? 1u << (std::size(kAllTypes) % 32) : 0u) - 1u;

constexpr DTypeSet kFloat8 =
    bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) | bit(DType::Float8E5M2FNUZ);

struct TypeClass {
  std::string_view name;
  DTypeSet set;
};

constexpr TypeClass kClasses[] = {
    {"any", kEverything & ~kObjects},
    {"value", kEverything},
    {"sequence", bit(DType::Sequence)},
    {"optional", bit(DType::Optional)},
    {"map", bit(DType::Map)},
    {"number", kFloats | kIntegers},
    {"float", kFloats},
    {"float8", kFloat8},
    {"integer", kIntegers},
    {"signed", kFloats | kSignedIntegers},
    {"unsigned", kIntegers & ~kSignedIntegers},
    {"index", bit(DType::Int32) | bit(DType::Int64)},
    {"quantized", bit(DType::Int8) | bit(DType::UInt8) | bit(DType::Int16) | bit(DType::UInt16) | bit(DType::Int32) |
                      kSmallFloats | kSmallIntegers},
};

DTypeSet setOfName(std::string_view name) {
  for (const TypeClass& candidate : kClasses)
    if (candidate.name == name) return candidate.set;
  const auto dtype = dtypeFromName(name);
  require(dtype.has_value(), MAX_STATUS_INTERNAL, "Unknown type class '", name, "'");
  return setOf(*dtype);
}

DTypeSet setOfUnion(std::string_view names) {
  DTypeSet set = 0;
  while (!names.empty()) {
    const size_t end = names.find('|');
    set |= setOfName(names.substr(0, end));
    names = end == names.npos ? std::string_view() : names.substr(end + 1);
  }
  return set;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Removes the text before the next separator from `rest`.
std::string_view next(std::string_view& rest, std::string_view separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + separator.size());
  return trim(part);
}

using Variables = std::map<std::string_view, TypeSlot>;

Variables parseConstraints(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    std::string_view constraint = next(text, ";");
    const std::string_view name = next(constraint, "=");
    variables[name] = {static_cast<int>(variables.size()), setOfUnion(trim(constraint))};
  }
  return variables;
}

std::vector<TypeSlot> parseSlots(std::string_view text, const Variables& variables, bool& repeats) {
  std::vector<TypeSlot> slots;
  repeats = text.ends_with("...");
  if (repeats) text.remove_suffix(3);
  while (!text.empty()) {
    const std::string_view name = next(text, ",");
    const auto variable = variables.find(name);
    if (variable != variables.end())
      slots.push_back(variable->second);
    else
      slots.push_back({-1, name == "*" ? 0 : setOfUnion(name)});
  }
  return slots;
}

}  // namespace

DTypeSet setOf(DType dtype) {
  const auto number = static_cast<uint32_t>(dtype);
  return number < kIndex.size() && kIndex[number] >= 0 ? 1u << kIndex[number] : 0;
}

DType dtypeOfSet(DTypeSet set) { return kAllTypes[__builtin_ctz(set)]; }

std::string namesOf(DTypeSet set) {
  std::string names;
  for (DType dtype : kAllTypes)
    if (set & bit(dtype)) names += concat(names.empty() ? "" : ", ", nameOf(dtype));
  return names;
}

TypeSignature::TypeSignature(std::string_view types) {
  std::string_view constraints = types;
  std::string_view slots = next(constraints, ";");
  const Variables variables = parseConstraints(constraints);
  inputs = parseSlots(next(slots, "->"), variables, inputsRepeat);
  outputs = parseSlots(trim(slots), variables, outputsRepeat);
  variableCount = static_cast<int>(variables.size());
}

}  // namespace max
