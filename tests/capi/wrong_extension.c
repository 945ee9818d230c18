/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extensions that are refused: one that has no table for this version, and, with the library that FOREIGN_LIBRARY
 * makes of this file, one that is linked to another copy of the library.
 */
#include "max/extension.h"

#ifdef FOREIGN_LIBRARY
MAX_API MaxStatus maxExtensionFail(MaxStatus status, const char* message) {
  (void)message;
  return status;
}
#else
const MaxExtensionTable* maxExtensionGetTable(int32_t abi_version) {
#ifdef FOREIGN_EXTENSION
  abi_version = maxExtensionFail(abi_version, "");
#endif
  (void)abi_version;
  return 0;
}
#endif
