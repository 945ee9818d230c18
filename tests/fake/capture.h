// SPDX-License-Identifier: Apache-2.0
// Captures: work of a stream that is kept for graphs instead of being done.
//
// While a stream is captured, calls that drivers call unsafe (allocations, queries, waits) are refused to the threads
// that the modes of the capture and of the thread name, and so is what would make the captured work depend on other
// work. Whatever is refused spoils the capture, as with real drivers.
#pragma once

#include "fake.h"

namespace fake {

// With the lock held, but for exchangeCaptureMode.
int beginCapture(const std::shared_ptr<Stream>& stream, int mode);
int endCapture(const std::shared_ptr<Stream>& stream, Graph** graph);
// 0 = it is not captured, 1 = it is, 2 = the capture is spoiled.
int captureStatus(const std::shared_ptr<Stream>& stream, int* status);
int exchangeCaptureMode(int* mode);
// An executable graph.
int copyGraph(const Graph* graph, Graph** copy);
// Of either kind. One whose work is not done is a violation: drivers do not all say that they wait for it.
int destroyGraph(const Graph* graph);
int launchGraph(const Graph* graph, const std::shared_ptr<Stream>& stream);

// The error of a call that this thread must not make now, or kOk.
int refuseInCapture(const char* function);
// The same for something that cannot be done with a stream that is captured.
int refuseOnStream(Stream& stream, int code);
int refuseOnDevice(const Device& device);
// Of the NULL stream, which must not be used while a stream that is in order with it is captured.
int refuseOnLegacy(const Stream& stream);

int addToCapture(Stream& stream, Operation operation, std::vector<Access> accesses);
int recordInCapture(Event& event, const std::shared_ptr<Stream>& stream);
// A stream that waits for a captured mark becomes part of the capture.
int waitInCapture(const std::shared_ptr<Stream>& stream, const Event& event);
int refuseCapturedEvent(const Event& event);
void leaveCapture(Stream& stream);

}  // namespace fake
