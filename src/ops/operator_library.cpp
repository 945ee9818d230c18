// SPDX-License-Identifier: Apache-2.0
#include "ops/operator_library.h"

#include <mutex>
#include <string>
#include <vector>

#include "base/fork.h"
#include "base/name_table.h"
#include "graph/schema.h"

namespace max {

namespace {

// Several families may implement one operator (a fast one, the reference): their lists are joined in family order.
struct Entry {
  explicit Entry(const OpRow& row) : merged(row) {}
  Entry(const Entry&) = delete;

  void join(const OpRow& row) const {
    if (!merged.prepare) merged.prepare = row.prepare;
    if (!merged.dynamic) merged.dynamic = row.dynamic;
    if (!merged.narrow) merged.narrow = row.narrow;
    if (implementations.empty()) implementations.assign(merged.implementations.begin(), merged.implementations.end());
    implementations.insert(implementations.end(), row.implementations.begin(), row.implementations.end());
    merged.implementations = implementations;
  }

  mutable OpRow merged;
  mutable std::vector<Implementation> implementations;  // if there are several lists
};

// Plain kernels read weights whose contents may have been released for a packed form.
bool lacksContents(const OpRequest& request) {
  for (const Operand& input : request.inputs)
    if (input.constant && !input.constant->hasContents()) return true;
  return false;
}

bool accepts(const Implementation& implementation, const OpRequest& request) {
  if (implementation.name == "reference" && lacksContents(request)) return false;
  return !implementation.accepts || implementation.accepts(request);
}

[[noreturn]] void failWithoutKernel(std::string_view target, const OpRequest& request) {
  std::string types;
  for (const Operand& input : request.inputs)
    types += concat(types.empty() ? "" : ", ", input.present() ? nameOf(input.dtype) : "none");
  fail(MAX_STATUS_UNIMPLEMENTED, request.node.description(), ": no ", target, " kernel for inputs (", types, ")");
}

}  // namespace

struct OperatorLibrary::Tables {
  NameTable<Entry> own;
  NameTable<OpRow> added;  // by extensions; changes are guarded by processMutex()
};

OperatorLibrary::OperatorLibrary(std::string_view target, std::span<const std::span<const OpRow>> families)
    : target_(target), tables_(std::make_unique<Tables>()) {
  for (const std::span<const OpRow> rows : families)
    for (const OpRow& row : rows)
      if (const Entry* entry = tables_->own.find(row.domain, row.op))
        entry->join(row);
      else
        tables_->own.add(row.domain, row.op, row);
}

OperatorLibrary::~OperatorLibrary() = default;

const OpRow* OperatorLibrary::find(std::string_view domain, std::string_view op) const {
  const Entry* entry = tables_->own.find(domain, op);
  return entry ? &entry->merged : tables_->added.find(domain, op);
}

void OperatorLibrary::add(const OpRow& row) const {
  const std::lock_guard lock(processMutex());
  if (!tables_->added.find(row.domain, row.op)) tables_->added.add(row.domain, row.op, row);
}

std::unique_ptr<OpKernel> OperatorLibrary::create(const OpRequest& request) const { return create(request, {}); }

std::unique_ptr<OpKernel> OperatorLibrary::create(const OpRequest& request, std::string_view implementation) const {
  const OpRow* row = find(request.node.domain(), request.node.op());
  if (row)
    for (const Implementation& candidate : row->implementations)
      if ((implementation.empty() || candidate.name == implementation) && accepts(candidate, request)) {
        std::unique_ptr<OpKernel> kernel = candidate.create(request);
        kernel->implementation = candidate.name;
        return kernel;
      }
  if (row && implementation.empty())
    if (std::unique_ptr<OpKernel> kernel = createFallback(request)) return kernel;
  failWithoutKernel(target_, request);
}

bool OperatorLibrary::isFast(const OpRequest& request) const {
  const OpRow* row = find(request.node.domain(), request.node.op());
  for (const Implementation& candidate : row ? row->implementations : std::span<const Implementation>())
    if (accepts(candidate, request)) return candidate.name != "reference";
  return false;
}

}  // namespace max
