// SPDX-License-Identifier: Apache-2.0
// What later chips have and earlier ones lack.
#pragma once

#if __CUDA_ARCH__ < 800
#include "max_warp.h"
#endif
