// SPDX-License-Identifier: Apache-2.0
// The strings of an operator's row, parsed on first use: a model uses few of all operators.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "graph/attribute_rules.h"
#include "graph/signature.h"

namespace max {

// Threads may parse at the same time, without a lock: the second one drops its result.
template <class Form>
class Parsed {
 public:
  explicit Parsed(std::string_view text) : text_(text) {}
  ~Parsed() { delete form_.load(std::memory_order_relaxed); }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;

  // Throws if the text is malformed.
  const Form& get() const {
    const Form* form = form_.load(std::memory_order_acquire);
    return form ? *form : parse();
  }

 private:
  const Form& parse() const {
    auto made = std::make_unique<const Form>(text_);
    const Form* first = nullptr;
    if (!form_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      return *first;
    return *made.release();
  }

  const std::string_view text_;
  mutable std::atomic<const Form*> form_{nullptr};
};

struct ParsedRow {
  ParsedRow(std::string_view types, std::string_view attributeTexts) : signature(types), attributes(attributeTexts) {}

  const Parsed<TypeSignature> signature;
  const Parsed<AttributeRules> attributes;
};

}  // namespace max
