// SPDX-License-Identifier: Apache-2.0
#include "graph/unknown_operator.h"

#include "base/nearest_name.h"
#include "graph/composite.h"
#include "graph/schema.h"

namespace max {

namespace {

// Users cannot name operators of this library's own domain.
template <class Function>
void forEachOperator(Function function) {
  for (const OpSchema* schema : allSchemas())
    if (schema->domain != kMaxDomain) function(schema->domain, schema->name);
  for (const Composite* composite : allComposites())
    if (composite->schema.domain != kMaxDomain) function(composite->schema.domain, composite->schema.name);
}

bool isKnownDomain(std::string_view domain) {
  bool isKnown = domain == kMaxDomain;
  forEachOperator([&](std::string_view known, std::string_view) { isKnown = isKnown || known == domain; });
  return isKnown;
}

// Empty if the domain is known or no domain is similar.
std::string_view nearestDomain(std::string_view domain) {
  if (isKnownDomain(domain)) return "";
  NearestName nearest(domain);
  forEachOperator([&](std::string_view known, std::string_view) { nearest.offer(known); });
  return nearest.best();
}

std::string_view shown(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

}  // namespace

std::string hintAtOperator(std::string_view domain, std::string_view op) {
  const std::string_view meant = nearestDomain(domain);
  if (!meant.empty()) return concat("; did you mean domain '", meant, "'?");
  NearestName name(op);
  std::string_view other;
  bool isElsewhere = false;
  forEachOperator([&](std::string_view knownDomain, std::string_view known) {
    if (knownDomain == domain) name.offer(known);
    if (knownDomain != domain && known == op) {
      isElsewhere = true;
      other = knownDomain;
    }
  });
  if (isElsewhere) return concat("; domain '", shown(other), "' has an operator of this name");
  return name.hint();
}

std::string hintAtExtensions(std::string_view domain) {
  if (isKnownDomain(domain) || !nearestDomain(domain).empty()) return "";
  return concat("; no extension with operators of domain '", domain,
                "' is loaded: maxExtensionLoad loads one, as do MaxModelLoadOptions.extensions and --extension on the "
                "command line");
}

void failUnknownOperator(std::string_view node, std::string_view domain, std::string_view op) {
  fail(MAX_STATUS_UNIMPLEMENTED, "node '", node, "': unknown operator '", domain, domain.empty() ? "" : ".", op, "'",
       hintAtOperator(domain, op), hintAtExtensions(domain));
}

}  // namespace max
