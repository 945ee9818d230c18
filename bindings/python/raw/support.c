/* SPDX-License-Identifier: Apache-2.0 */
/* What the module has beside the library's functions: how memory of Python's objects comes back from any thread, and
   DLPack's capsules, which only C can destroy. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "max/experimental.h"
#include "max/max.h"

/* Memory that the library has borrowed. Nothing here takes the interpreter's lock, which ends threads that ask for it
   while Python goes down: what is given back waits in a list until a thread of Python's collects it. */
struct maxPythonBorrowed {
  struct maxPythonBorrowed* next;
};

/* Of Python. */
static void maxPythonCollect(void);
static void maxPythonProgress(void* userData, double fraction, const char* phase);
static void maxPythonMessage(void* userData, MaxLogLevel level, const char* message);

static struct maxPythonBorrowed* _Atomic maxPythonReturned;
static atomic_int maxPythonEntered, maxPythonClosed;
static _Thread_local int maxPythonWillCollect;

/* Calls of Python's functions stand between these two; none begins after maxPythonClose. */
static int maxPythonEnter(void) {
  atomic_fetch_add(&maxPythonEntered, 1);
  return !atomic_load(&maxPythonClosed);
}

static void maxPythonLeave(void) { atomic_fetch_sub(&maxPythonEntered, 1); }

static int maxPythonCollectLater(void* unused) {
  (void)unused;
  maxPythonCollect();
  return 0;
}

/* A MaxBufferReleaseFunction. */
static void maxPythonReturn(void* userData) {
  struct maxPythonBorrowed* item = userData;
  item->next = atomic_load(&maxPythonReturned);
  while (!atomic_compare_exchange_weak(&maxPythonReturned, &item->next, item)) {
  }
  if (maxPythonWillCollect) return;
  if (maxPythonEnter()) Py_AddPendingCall(maxPythonCollectLater, NULL);
  maxPythonLeave();
}

/* A buffer of memory that an item of the list stands for. */
static MaxStatus maxPythonWrap(struct maxPythonBorrowed* item, const void* data, MaxDType dtype, int32_t rank,
                               const int64_t* shape, int32_t readOnly, MaxBuffer** outBuffer) {
  MaxBufferWrapOptions options = {.structSize = sizeof options, .release = maxPythonReturn, .userData = item};
  options.readOnly = readOnly;
  return maxBufferWrap(NULL, (void*)data, dtype, rank, shape, &options, outBuffer);
}

/* What a buffer is; one of the host's is ready to be read after it. */
static MaxStatus maxPythonGetInfoOfHost(const MaxBuffer* buffer, MaxBufferInfo* info) {
  MaxStatus status = maxBufferGetInfo(buffer, info);
  if (status == MAX_STATUS_OK && (info->flags & MAX_BUFFER_FLAG_HOST)) status = maxStreamSynchronize(info->stream, 0);
  return status;
}

static struct maxPythonBorrowed* maxPythonTakeReturned(void) { return atomic_exchange(&maxPythonReturned, NULL); }

/* Releases a buffer; tells whether there is something to collect. */
static int maxPythonReleaseBuffer(MaxBuffer* buffer) {
  ++maxPythonWillCollect;
  maxBufferRelease(buffer);
  --maxPythonWillCollect;
  return atomic_load_explicit(&maxPythonReturned, memory_order_relaxed) != NULL;
}

static void maxPythonTellProgress(void* userData, double fraction, const char* phase) {
  if (maxPythonEnter()) maxPythonProgress(userData, fraction, phase);
  maxPythonLeave();
}

static void maxPythonSetProgress(MaxModelLoadOptions* options, void* userData) {
  options->progress = maxPythonTellProgress;
  options->progressUserData = userData;
}

static void maxPythonTellMessage(void* userData, MaxLogLevel level, const char* message) {
  if (maxPythonEnter()) maxPythonMessage(userData, level, message);
  maxPythonLeave();
}

static MaxStatus maxPythonForwardMessages(void) {
  MaxLogToken token;
  return maxLogAddCallback(maxPythonTellMessage, NULL, MAX_LOG_LEVEL_TRACE, &token);
}

/* From now on no function of Python's is called: the interpreter goes down. Those that run have ten seconds to end. */
static void maxPythonClose(void) {
  const struct timespec pause = {0, 1000000};
  atomic_store(&maxPythonClosed, 1);
  for (int i = 0; i < 10000 && atomic_load(&maxPythonEntered) > 0; ++i) nanosleep(&pause, NULL);
}

static void maxPythonForked(void) { atomic_store(&maxPythonEntered, 0); }

/* Keeps an object, by its id, until the process ends. */
static void maxPythonKeep(uintptr_t object) {
  PyGILState_STATE state = PyGILState_Ensure();
  Py_IncRef((PyObject*)object);
  PyGILState_Release(state);
}

/* DLPack's structures as far as they are needed here. */
struct maxPythonUnversioned {
  char tensor[48];
  void* context;
  void (*deleter)(void*);
};

struct maxPythonVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(void*);
  uint64_t flags;
  char tensor[48];
};

static void maxPythonDelete(void* tensor, int versioned) {
  void (*deleter)(void*) =
      versioned ? ((struct maxPythonVersioned*)tensor)->deleter : ((struct maxPythonUnversioned*)tensor)->deleter;
  if (deleter) deleter(tensor);
}

/* A tensor of another library: the copy of its head goes to ours, and its deleter only puts it into the list above. */
struct maxPythonForeign {
  struct maxPythonBorrowed borrowed;
  void* original;
  int versioned;
  union {
    struct maxPythonUnversioned unversioned;
    struct maxPythonVersioned versioned;
  } copy;
};

static void maxPythonReturnForeign(void* tensor) {
  maxPythonReturn((char*)tensor - offsetof(struct maxPythonForeign, copy));
}

static void maxPythonSetForeign(struct maxPythonForeign* foreign, void* original, int versioned) {
  foreign->original = original;
  foreign->versioned = versioned;
  if (versioned) {
    memcpy(&foreign->copy.versioned, original, sizeof foreign->copy.versioned);
    foreign->copy.versioned.deleter = maxPythonReturnForeign;
  } else {
    memcpy(&foreign->copy.unversioned, original, sizeof foreign->copy.unversioned);
    foreign->copy.unversioned.deleter = maxPythonReturnForeign;
  }
}

static void* maxPythonForeignTensor(struct maxPythonForeign* foreign) { return &foreign->copy; }

static void maxPythonDeleteForeign(struct maxPythonForeign* foreign) {
  maxPythonDelete(foreign->original, foreign->versioned);
}

/* An unused capsule; a used one has another name. */
static void maxPythonDestroyCapsule(PyObject* capsule) {
  static const char* const names[] = {"dltensor", "dltensor_versioned"};
  for (int versioned = 0; versioned < 2; ++versioned)
    if (PyCapsule_IsValid(capsule, names[versioned]))
      maxPythonDelete(PyCapsule_GetPointer(capsule, names[versioned]), versioned);
}

static uintptr_t maxPythonCapsuleDestructor(void) { return (uintptr_t)maxPythonDestroyCapsule; }
