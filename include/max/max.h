/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file max.h
 * The stable API of libmax: devices, buffers, streams, graphs, sessions, models.
 *
 * A program creates a device, moves memory with buffers and streams, and runs models with sessions. experimental.h is
 * separate.
 *
 *     #include <max/max.h>
 *     int main(void) { return maxGetAbiVersion() == MAX_ABI_VERSION ? 0 : 1; }
 */
#ifndef MAX_MAX_H
#define MAX_MAX_H

#include "max/buffer.h"
#include "max/cancellation.h"
#include "max/device.h"
#include "max/dtype.h"
#include "max/event.h"
#include "max/extension.h"
#include "max/graph.h"
#include "max/kernel.h"
#include "max/log.h"
#include "max/model.h"
#include "max/model_info.h"
#include "max/module.h"
#include "max/session.h"
#include "max/status.h"
#include "max/stream.h"
#include "max/tensor_info.h"
#include "max/value.h"
#include "max/version.h"
#include "max/weights.h"

#endif
