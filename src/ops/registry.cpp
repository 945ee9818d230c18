// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "base/name_table.h"
#include "graph/schema.h"
#include "ops/cpu/packed.h"
#include "ops/families.h"
#include "ops/register.h"

namespace max {

namespace {

// Several families may serve one operator (a fast one, the reference): their lists are joined in family order.
struct Entry {
  explicit Entry(const OpRow& row) : merged(row) {}
  Entry(const Entry&) = delete;

  void join(const OpRow& row) const {
    if (!merged.prepare) merged.prepare = row.prepare;
    if (!merged.dynamic) merged.dynamic = row.dynamic;
    if (implementations.empty()) implementations.assign(merged.implementations.begin(), merged.implementations.end());
    implementations.insert(implementations.end(), row.implementations.begin(), row.implementations.end());
    merged.implementations = implementations;
  }

  mutable OpRow merged;
  mutable std::vector<Implementation> implementations;  // where there are several lists
};

// Never destroyed: threads may use it while the process exits.
const NameTable<Entry>& builtIn() {
  static const NameTable<Entry>& instance = *[] {
    auto* table = new NameTable<Entry>;
    const auto add = [table](std::span<const OpRow> rows) {
      for (const OpRow& row : rows)
        if (const Entry* entry = table->find(row.domain, row.op))
          entry->join(row);
        else
          table->add(row.domain, row.op, row);
    };
#define MAX_ADD_FAMILY(function) add(function());
    MAX_FOR_EACH_OP_FAMILY(MAX_ADD_FAMILY)
#undef MAX_ADD_FAMILY
    (void)add;
    return table;
  }();
  return instance;
}

// Rows of extensions. Changes are guarded by processMutex().
NameTable<OpRow>& registered() {
  static NameTable<OpRow>& instance = *new NameTable<OpRow>;
  return instance;
}

// Plain kernels read weights whose contents may have been given up for a packed form.
bool lacksContents(const OpRequest& request) {
  for (const Operand& input : request.inputs)
    if (input.constant && !input.constant->hasContents()) return true;
  return false;
}

bool accepts(const Implementation& implementation, const OpRequest& request) {
  if (implementation.name == "reference" && lacksContents(request)) return false;
  return !implementation.accepts || implementation.accepts(request);
}

[[noreturn]] void failWithoutKernel(const OpRequest& request) {
  std::string types;
  for (const Operand& input : request.inputs)
    types += concat(types.empty() ? "" : ", ", input.present() ? nameOf(input.dtype) : "none");
  fail(MAX_STATUS_UNIMPLEMENTED, request.node.description(), ": no CPU kernel for inputs (", types, ")");
}

}  // namespace

const OpRow* findKernels(std::string_view domain, std::string_view op) {
  const Entry* entry = builtIn().find(domain, op);
  return entry ? &entry->merged : registered().find(domain, op);
}

void registerKernels(const OpRow& kernels) {
  const std::lock_guard lock(processMutex());
  if (!registered().find(kernels.domain, kernels.op)) registered().add(kernels.domain, kernels.op, kernels);
}

std::unique_ptr<OpKernel> createOpKernel(const OpRequest& request) { return createOpKernel(request, {}); }

std::unique_ptr<OpKernel> createOpKernel(const OpRequest& request, std::string_view implementation) {
  const OpRow* kernels = findKernels(request.node.domain(), request.node.op());
  if (kernels)
    for (const Implementation& candidate : kernels->implementations)
      if ((implementation.empty() || candidate.name == implementation) && accepts(candidate, request)) {
        std::unique_ptr<OpKernel> kernel = candidate.create(request);
        kernel->implementation = candidate.name;
        return kernel;
      }
  if (kernels && implementation.empty())
    if (std::unique_ptr<OpKernel> kernel = createUnpackedOp(request)) return kernel;
  failWithoutKernel(request);
}

}  // namespace max
