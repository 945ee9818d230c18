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
  explicit Entry(const OpKernels& row) : merged(row) {}
  Entry(const Entry&) = delete;

  void join(const OpKernels& row) const {
    if (!merged.prepare) merged.prepare = row.prepare;
    if (!merged.dynamic) merged.dynamic = row.dynamic;
    if (implementations.empty()) implementations.assign(merged.implementations.begin(), merged.implementations.end());
    implementations.insert(implementations.end(), row.implementations.begin(), row.implementations.end());
    merged.implementations = implementations;
  }

  mutable OpKernels merged;
  mutable std::vector<Implementation> implementations;  // where there are several lists
};

// Never destroyed: threads may use it while the process exits.
const NameTable<Entry>& builtIn() {
  static const NameTable<Entry>& instance = *[] {
    auto* table = new NameTable<Entry>;
    const auto add = [table](std::span<const OpKernels> rows) {
      for (const OpKernels& row : rows)
        if (const Entry* entry = table->find(row.domain, row.op))
          entry->join(row);
        else
          table->add(row.domain, row.op, row);
    };
#define MAX_ADD_FAMILY(function) add(function());
    MAX_FOR_EACH_KERNEL_FAMILY(MAX_ADD_FAMILY)
#undef MAX_ADD_FAMILY
    (void)add;
    return table;
  }();
  return instance;
}

// Rows of extensions. Changes are guarded by processMutex().
NameTable<OpKernels>& registered() {
  static NameTable<OpKernels>& instance = *new NameTable<OpKernels>;
  return instance;
}

// Plain kernels read weights whose contents may have been given up for a packed form.
bool lacksContents(const KernelRequest& request) {
  for (const Operand& input : request.inputs)
    if (input.constant && !input.constant->hasContents()) return true;
  return false;
}

bool accepts(const Implementation& implementation, const KernelRequest& request) {
  if (implementation.name == "reference" && lacksContents(request)) return false;
  return !implementation.accepts || implementation.accepts(request);
}

[[noreturn]] void failWithoutKernel(const KernelRequest& request) {
  std::string types;
  for (const Operand& input : request.inputs)
    types += concat(types.empty() ? "" : ", ", input.present() ? nameOf(input.dtype) : "none");
  fail(MAX_STATUS_UNIMPLEMENTED, request.node.description(), ": no CPU kernel for inputs (", types, ")");
}

}  // namespace

const OpKernels* findKernels(std::string_view domain, std::string_view op) {
  const Entry* entry = builtIn().find(domain, op);
  return entry ? &entry->merged : registered().find(domain, op);
}

void registerKernels(const OpKernels& kernels) {
  const std::lock_guard lock(processMutex());
  if (!registered().find(kernels.domain, kernels.op)) registered().add(kernels.domain, kernels.op, kernels);
}

std::unique_ptr<Kernel> createKernel(const KernelRequest& request) { return createKernel(request, {}); }

std::unique_ptr<Kernel> createKernel(const KernelRequest& request, std::string_view implementation) {
  const OpKernels* kernels = findKernels(request.node.domain(), request.node.op());
  if (kernels)
    for (const Implementation& candidate : kernels->implementations)
      if ((implementation.empty() || candidate.name == implementation) && accepts(candidate, request)) {
        std::unique_ptr<Kernel> kernel = candidate.create(request);
        kernel->implementation = candidate.name;
        return kernel;
      }
  if (kernels && implementation.empty())
    if (std::unique_ptr<Kernel> kernel = createUnpackedKernel(request)) return kernel;
  failWithoutKernel(request);
}

}  // namespace max
