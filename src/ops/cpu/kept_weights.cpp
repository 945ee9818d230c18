// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/kept_weights.h"

#include <optional>

#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/convolution/conv_transpose.h"
#include "ops/cpu/convolution/winograd.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/weights_cache.h"

namespace max {

namespace {

std::optional<PackedForm> formOf(const Node& node, std::span<const Tensor* const> constants) {
  for (const auto of : {productForm, filterForm, transposedForm})
    if (std::optional<PackedForm> form = of(node, constants)) return form;
  return std::nullopt;
}

// Of everything that packing depends on.
std::optional<Digest> keyOf(const PackedForm& form, const Tensor& weights) {
  std::optional<Hasher> hasher = weightHasher(weights);
  if (!hasher) return std::nullopt;
  hasher->add(form.source);
  const PackLayout layout = form.table.layout();
  for (const int64_t number :
       {form.matrices, form.rows, form.columns, int64_t{layout.lanes}, int64_t{layout.panelVectors},
        int64_t{layout.wordElements}, int64_t{layout.parts}, int64_t{form.winogradSide}})
    hasher->add(static_cast<uint64_t>(number));
  for (const int64_t number : form.details) hasher->add(static_cast<uint64_t>(number));
  return hasher->finish();
}

const PackedWeights* packedOf(const Prepared& prepared) {
  if (const PackedWeights* winograd = packedWinograd(prepared)) return winograd;
  return dynamic_cast<const PackedWeights*>(&prepared);
}

}  // namespace

Ref<Prepared> recallPacked(const WeightsCache& cache, const Node& node, std::span<const Tensor* const> constants) {
  const std::optional<PackedForm> form = formOf(node, constants);
  const std::optional<Digest> key = form ? keyOf(*form, *constants[1]) : std::nullopt;
  Ref<Storage> found = key ? cache.find(*key, form->bytes()) : nullptr;
  if (!found) return nullptr;
  auto packed = makeRef<PackedWeights>(form->table, form->matrices, form->rows, form->columns, std::move(found));
  if (form->winogradSide == 0) return packed;
  return winogradWeights(std::move(packed), form->winogradSide);
}

void keepPacked(const WeightsCache& cache, const Node& node, std::span<const Tensor* const> constants,
                const Prepared& prepared) {
  const std::optional<PackedForm> form = formOf(node, constants);
  const std::optional<Digest> key = form ? keyOf(*form, *constants[1]) : std::nullopt;
  const PackedWeights* packed = packedOf(prepared);
  if (key && packed && packed->bytes() == form->bytes()) cache.store(*key, packed->storage());
}

// packMatrix() and winogradWeights() take floats from any place. Filters of words may be put in order first.
bool isPackedAnywhere(const Node& node, std::span<const Tensor* const> constants) {
  for (const auto of : {productForm, filterForm})
    if (const std::optional<PackedForm> form = of(node, constants))
      return form->winogradSide != 0 || form->table.wordElements == 1;
  return false;
}

}  // namespace max
