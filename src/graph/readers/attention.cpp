// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/attention.h"

#include <cmath>

#include "base/error.h"

namespace max::readers {

namespace {

HeadLayout readLayout(const Attributes& attributes, std::string_view name) {
  const std::string layout = attributes.getString(name, "BHSD");
  const auto axis = [&](char letter) {
    const size_t place = layout.find(letter);
    if (layout.size() != 4 || place == std::string::npos) invalidArgument("attribute '", name, "' is '", layout, "'");
    return static_cast<int>(place);
  };
  return {axis('B'), axis('H'), axis('S'), axis('D')};
}

int64_t readHeads(const Attributes& attributes, std::string_view name) {
  const int64_t heads = attributes.getInt(name, 0);
  if (heads < 1 || heads > INT32_MAX) invalidArgument("attribute '", name, "' is ", heads);
  return heads;
}

}  // namespace

Attention::Attention(const Attributes& attributes)
    : queries(readLayout(attributes, "layout_q")),
      keys(readLayout(attributes, "layout_k")),
      values(readLayout(attributes, "layout_v")),
      output(readLayout(attributes, "layout_out")),
      scale(attributes.getFloat("scale", 1)),
      zeroesMasked(attributes.getInt("zero_masked", 0) != 0) {}

LinearAttention::LinearAttention(const Attributes& attributes)
    : queryHeads(readHeads(attributes, "q_num_heads")),
      heads(readHeads(attributes, "kv_num_heads")),
      rule(attributes.getString("update_rule", "gated_delta")),
      isGated(rule == "gated" || rule == "gated_delta"),
      corrects(rule == "delta" || rule == "gated_delta"),
      scale_(attributes.getFloat("scale", 0)) {
  if (queryHeads % heads) invalidArgument(queryHeads, " query heads do not share ", heads, " key heads evenly");
}

double LinearAttention::scale(int64_t depth) const {
  return scale_ != 0 ? static_cast<double>(scale_) : 1 / std::sqrt(static_cast<double>(depth));
}

Rotary::Rotary(const Attributes& attributes)
    : isInterleaved(attributes.getInt("interleaved", 0) != 0), rotated(attributes.getInt("rotated", 0)) {}

bool readActivatesSilu(const Attributes& attributes) { return attributes.getString("activation", "none") != "none"; }

}  // namespace max::readers
