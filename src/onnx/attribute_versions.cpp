// SPDX-License-Identifier: Apache-2.0
#include "onnx/attribute_versions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/error.h"
#include "onnx/opset.h"

namespace max::onnx {

namespace {

constexpr std::string_view kReductions =
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare ";
constexpr std::string_view kBinary = "Add And Div Equal Greater Less Mul Or Pow Sub Xor ";
constexpr int64_t kNever = INT64_MAX;

// Attributes that operators only have in versions [since, before).
struct Span {
  std::string_view attributes;
  int64_t since, before;
  std::string_view ops;  // each followed by a space
};

// With types and values, as in OpSchema::attributes: the operators' rows lack them or have other values.
constexpr Span kOld[] = {
    {"consumed_inputs=I", 1, 6, "Add BatchNormalization Div Dropout Mul PRelu Sub "},
    {"axis=i broadcast=i", 1, 7, kBinary},
    {"broadcast=i", 1, 7, "Gemm "},
    {"is_test=i", 1, 7, "BatchNormalization Dropout "},
    {"spatial=i", 1, 9, "BatchNormalization "},
    {"directions=I[0..1]", 8, 9, "Scan "},
    {"scales=F", 7, 9, "Upsample "},
    {"starts=I ends=I axes=I", 1, 10, "Slice "},
    {"k=i", 1, 10, "TopK "},
    {"min=f max=f", 1, 11, "Clip "},
    {"pads=I value=f", 2, 11, "Pad "},
    {"ratio=f", 1, 12, "Dropout "},
    {"axes=I", 1, 13, "ReduceSum Squeeze Unsqueeze "},
    {"split=I", 1, 13, "Split "},
    {"axes=I", 1, 18, kReductions},
    {"axis=i", 17, 20, "DFT "},
    {"mode=s{bilinear,nearest,bicubic}", 16, 20, "GridSample "},
};

// Names, each followed by a space; types and values are in the operators' rows.
constexpr Span kOfRows[] = {
    {"count_include_pad ", 7, kNever, "AveragePool "},
    {"storage_order ", 8, kNever, "MaxPool "},
    {"scan_input_axes scan_input_directions scan_output_axes scan_output_directions ", 9, kNever, "Scan "},
    {"ceil_mode ", 10, kNever, "AveragePool MaxPool "},
    {"dilations ", 10, kNever, "MaxPool "},
    {"mode ", 11, kNever, "DepthToSpace "},
    {"sorted largest ", 11, kNever, "TopK "},
    {"extrapolation_value exclude_outside nearest_mode coordinate_transformation_mode cubic_coeff_a ", 11, kNever,
     "Resize "},
    {"select_last_index ", 12, kNever, "ArgMax ArgMin "},
    {"seed ", 12, kNever, "Dropout "},
    {"batch_dims ", 12, kNever, "GatherND "},
    {"axis ", 13, kNever, "DequantizeLinear QuantizeLinear "},
    {"noop_with_empty_axes ", 13, kNever, "ReduceSum "},
    {"training_mode ", 14, kNever, "BatchNormalization "},
    {"layout ", 14, kNever, "GRU LSTM RNN "},
    {"allowzero ", 14, kNever, "Reshape "},
    {"start end ", 15, kNever, "Shape "},
    {"coordinate_transformation_mode ", 16, kNever, "RoiAlign "},
    {"reduction ", 16, kNever, "ScatterElements ScatterND "},
    {"noop_with_empty_axes ", 18, kNever, kReductions},
    {"ceil_mode dilations ", 18, kNever, "LpPool "},
    {"keep_aspect_ratio_policy axes antialias ", 18, kNever, "Resize "},
    {"num_outputs ", 18, kNever, "Split "},
    {"dilations ", 19, kNever, "AveragePool "},
    {"saturate ", 19, kNever, "Cast CastLike QuantizeLinear "},
    {"block_size ", 21, kNever, "DequantizeLinear QuantizeLinear "},
    {"output_dtype ", 21, kNever, "QuantizeLinear "},
    {"stash_type ", 21, kNever, "GroupNormalization "},
    {"output_dtype ", 23, kNever, "DequantizeLinear "},
    {"precision ", 23, kNever, "QuantizeLinear "},
    {"round_mode ", 24, kNever, "Cast CastLike "},
    {"left_window_size right_window_size ", 25, kNever, "Attention "},
    {"stash_type ", 27, kNever, "Range "},
    {"mode ", 28, kNever, "SpaceToDepth "},
    // Attributes of operators that are replaced by others.
    {"reduction ", kNever, kNever, "Scatter "},
    {"antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy nearest_mode ",
     kNever, kNever, "Upsample "},
};

constexpr Span kOfMlRows[] = {
    {"classes_strings ", 1, 2, "LabelEncoder "},
    {"default_float keys_floats keys_int64s keys_strings values_floats values_int64s values_strings ", 2, kNever,
     "LabelEncoder "},
    {"base_values_as_tensor class_weights_as_tensor nodes_hitrates_as_tensor nodes_values_as_tensor "
     "target_weights_as_tensor ",
     3, kNever, "TreeEnsembleClassifier TreeEnsembleRegressor "},
    {"default_tensor keys_tensor values_tensor ", 4, kNever, "LabelEncoder "},
};

// Whether a list contains a name; each name is followed by `end`.
bool isListed(std::string_view names, std::string_view name, char end) {
  for (size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1))
    if ((at == 0 || names[at - 1] == ' ') && at + name.size() < names.size() && names[at + name.size()] == end)
      return true;
  return false;
}

// Where a span names an operator. Indices instead of pointers need no relocation.
struct Mention {
  uint8_t span;
  uint8_t length;
  uint16_t begin;
};

constexpr std::string_view operatorOf(std::span<const Span> spans, const Mention& mention) {
  return spans[mention.span].ops.substr(mention.begin, mention.length);
}

constexpr size_t countMentions(std::span<const Span> spans) {
  size_t count = 0;
  for (const Span& span : spans) count += static_cast<size_t>(std::ranges::count(span.ops, ' '));
  return count;
}

// All mentions, sorted by operator and then by span.
template <size_t kCount>
constexpr std::array<Mention, kCount> mentionsOf(std::span<const Span> spans) {
  std::array<Mention, kCount> mentions{};
  size_t filled = 0;
  for (size_t i = 0; i < spans.size(); ++i)
    for (size_t begin = 0; begin < spans[i].ops.size();) {
      const size_t end = spans[i].ops.find(' ', begin);
      mentions[filled++] = {static_cast<uint8_t>(i), static_cast<uint8_t>(end - begin), static_cast<uint16_t>(begin)};
      begin = end + 1;
    }
  std::ranges::sort(mentions, [spans](const Mention& a, const Mention& b) {
    const std::string_view left = operatorOf(spans, a), right = operatorOf(spans, b);
    return left != right ? left < right : a.span < b.span;
  });
  return mentions;
}

constexpr auto kMentionsOfOld = mentionsOf<countMentions(kOld)>(kOld);
constexpr auto kMentionsOfRows = mentionsOf<countMentions(kOfRows)>(kOfRows);
constexpr auto kMentionsOfMlRows = mentionsOf<countMentions(kOfMlRows)>(kOfMlRows);

struct Spans {
  std::span<const Span> spans;
  std::span<const Mention> mentions;
};

Spans oldOf(std::string_view domain) { return domain.empty() ? Spans{kOld, kMentionsOfOld} : Spans{}; }

Spans ofRowsOf(std::string_view domain) {
  if (domain.empty()) return {kOfRows, kMentionsOfRows};
  return domain == "ai.onnx.ml" ? Spans{kOfMlRows, kMentionsOfMlRows} : Spans{};
}

// Calls `use` for each span that names the operator; stops where that returns true.
template <class Use>
void forEachSpan(const Spans& all, std::string_view op, Use use) {
  const auto byName = [&](const Mention& mention) { return operatorOf(all.spans, mention); };
  auto mention = std::ranges::lower_bound(all.mentions, op, std::less(), byName);
  for (; mention != all.mentions.end() && byName(*mention) == op; ++mention)
    if (use(all.spans[mention->span])) return;
}

std::string unknownInVersion(std::string_view name, int64_t version, const Span& span) {
  const std::string text = concat("unknown attribute '", name, "' in version ", version);
  if (span.since == kNever) return text;
  if (version < span.since) return concat(text, "; versions from ", span.since, " on have it");
  return concat(text, "; versions up to ", span.before - 1, " have it");
}

}  // namespace

std::string wrongAttribute(std::string_view domain, std::string_view op, int64_t version, const AttributeRules& newest,
                           std::string_view name, const Attribute& attribute) {
  std::optional<std::string> wrong;
  forEachSpan(oldOf(domain), op, [&](const Span& span) {
    if (!isListed(span.attributes, name, '=')) return false;
    if (version >= span.since && version < span.before)
      wrong = max::wrongAttribute(AttributeRules(span.attributes), name, attribute);
    else if (!newest.find(name))
      wrong = unknownInVersion(name, version, span);
    return wrong.has_value();
  });
  if (wrong) return *wrong;
  forEachSpan(ofRowsOf(domain), op, [&](const Span& span) {
    if ((version < span.since || version >= span.before) && isListed(span.attributes, name, ' '))
      wrong = unknownInVersion(name, version, span);
    return wrong.has_value();
  });
  return wrong ? *wrong : max::wrongAttribute(newest, name, attribute);
}

void dropOldAttributes(std::string_view domain, std::string_view op, int64_t version, Attributes& attributes) {
  if (attributes.entries().empty()) return;
  forEachSpan(oldOf(domain), op, [&](const Span& span) {
    if (version < span.since || version >= span.before) return false;
    const AttributeRules* newest = attributesOfNewest(domain, op);
    const std::vector<std::pair<std::string, Attribute>> entries = attributes.entries();
    for (const auto& [name, attribute] : entries)
      if (newest && isListed(span.attributes, name, '=') && !newest->find(name)) attributes.erase(name);
    return false;
  });
}

}  // namespace max::onnx
