// SPDX-License-Identifier: Apache-2.0
#include "max/version.h"

const char* maxGetVersion(void) { return MAX_VERSION_STRING; }
int32_t maxGetAbiVersion(void) { return MAX_ABI_VERSION; }
