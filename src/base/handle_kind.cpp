// SPDX-License-Identifier: Apache-2.0
#include "base/handle_kind.h"

namespace max {

std::string wrongHandleText(const void* pointer, HandleKind expected) {
  if (!pointer) return "is NULL";
  const std::string name = handleName(expected);
  const HandleKind given = handleKindAt(pointer);
  if (given != HandleKind::None) return std::string("is a ") + handleName(given) + ", not a " + name;
  return "is not a " + name + "; it was released, or is some other pointer";
}

}  // namespace max
