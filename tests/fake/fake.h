// SPDX-License-Identifier: Apache-2.0
// The inside of the fake GPU drivers: devices whose memory the host cannot touch, streams that are threads with
// random delays, and a look-out for races. cuda.cpp and hip.cpp are the two faces of it.
//
// A driver function begins with FAKE_ENTER; its work goes through enqueue(). Work runs on the stream's thread, where
// hostView() translates device addresses for the fake's own copies, and KernelAccess lets code compiled for the host
// use device addresses as they are.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "control.h"
#include "races.h"

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace fake {

// The numbers that CUDA and HIP have in common.
enum Result : int {
  kOk = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForDevice = 209,
  kPeerAccessUnsupported = 217,
  kUnsupportedPtxVersion = 222,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kContextIsDestroyed = 709,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

struct Settings {
  int deviceCount;       // FAKE_GPU_COUNT
  uint64_t memoryBytes;  // FAKE_GPU_MEMORY, of each device
  uint64_t granule;      // FAKE_GPU_GRANULE: the device's memory is taken in pieces of this size
  uint32_t seed;         // FAKE_GPU_SEED
  uint32_t maxDelay;     // FAKE_GPU_DELAY, microseconds; 0 = none
  bool peerAccess;       // FAKE_GPU_PEER
  int cudaVersion;       // FAKE_GPU_CUDA, of the driver: 12040 is 12.4
  unsigned lanes;        // FAKE_GPU_LANES, of HIP's wavefronts
};
const Settings& settings();

struct Device;
struct Capture;  // capture.h
struct Graph;

// Work of a stream that is done once `completed` has reached `count`.
struct Stream;
struct Position {
  std::shared_ptr<Stream> stream;
  uint64_t count = 0;
};

struct Operation {
  std::function<int()> run;
  std::vector<Position> waits;
  bool isHostFunction = false;
  bool runsWhenLost = false;
};

struct Stream {
  Device* device = nullptr;
  uint32_t actor = 0;
  Clock clock;
  int priority = 0;
  unsigned flags = 0;
  bool isLegacy = false;    // the NULL stream: in order with all blocking streams
  bool isBlocking = false;  // in order with the NULL stream
  bool isStarted = false;
  bool isClosed = false;
  uint64_t enqueued = 0;
  uint64_t completed = 0;
  std::deque<Operation> queue;
  std::condition_variable wake;
  std::shared_ptr<Capture> capture;  // null = its work is done, not kept
};

// When an event's mark was passed.
struct Mark {
  int64_t nanoseconds = 0;
  bool isDone = false;
};

struct Event {
  Device* device = nullptr;
  bool hasTiming = true;
  std::shared_ptr<Mark> mark;  // null = never recorded
  Position position;
  Clock clock;
  std::shared_ptr<Capture> capture;  // of a mark in one: the stream, and how much it had added
  std::shared_ptr<Stream> branch;
  uint64_t steps = 0;
};

struct Device {
  int id = 0;
  uint64_t base = 0;
  uint64_t size = 0;
  uint64_t used = 0;
  std::map<uint64_t, uint64_t> free;       // address -> bytes
  std::map<uint64_t, uint64_t> allocated;  // address -> bytes
  int64_t contextReferences = 0;
  int lost = kOk;
  int running = 0;  // operations that streams are in the middle of, but for host functions
  std::set<int> peers;
  Clock ended;  // what streams had done that are gone
  std::shared_ptr<Stream> legacy;
  std::vector<std::shared_ptr<Stream>> closing;  // destroyed, but with work left
};

// All that follows is guarded by one mutex. It is never destroyed: threads may outlive the end of main.
struct State {
  std::mutex mutex;
  std::condition_variable progress;  // some stream has completed an operation
  bool isLocked = false;             // by a call that waits for a device: all others wait for it
  int hostFunctions = 0;             // that run now
  bool isInitialized = false;
  std::vector<std::unique_ptr<Device>> devices;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::map<Event*, std::shared_ptr<Event>> events;
  std::map<uint64_t, uint64_t> hostMemory;                // allocated with the driver: address -> bytes
  std::map<uint64_t, uint64_t> registeredMemory;          // the program's own
  std::vector<void*> abandonedMemory;                     // of the host, freed too early
  int64_t modules = 0;                                    // kept by those who load modules
  std::map<const Graph*, std::shared_ptr<Graph>> graphs;  // executable ones, too
  RaceDetector races;
  std::atomic<int64_t> counts[FAKE_GPU_COUNTS] = {};
};
State& state();
using Lock = std::unique_lock<std::mutex>;

// control.cpp: calls that fail, violations. None of them is called with the lock held, but for violation().
// Functions that give something back do so even if it says that they fail, as drivers do.
int enter(const char* function);
// Enumeration works without a device.
int enterWithoutDevice(const char* function);
void violation(const std::string& text);

// device.cpp
struct Personality {
  bool startsByItself;  // without a call of its Init, and each thread with device 0
  bool callsInTurn;     // host functions: one thread of the driver calls those of all streams
  bool loadsLate;       // a function of a module when it is first asked for
  const char* (*resultName)(int code);
};
extern const Personality kPersonality;  // cuda.cpp, hip.cpp
void initialize();                      // with the lock held
Device* findDevice(int id);             // null = there is none
// The device of this thread: of the current context (cuda), or the one set (hip).
Device* currentDevice();
void setCurrentDevice(Device* device);
// With its last reference a context is gone, and what is still in it; that is a violation unless the device is lost.
int releaseContext(int id);
int enablePeer(Device* peer);
int memoryInfo(size_t* free, size_t* total);
inline constexpr int kGreatestPriority = -3;
// By CUDA's numbers.
int deviceAttribute(int number, int* value);
int copyText(const std::string& text, char* target, int size);

// memory.cpp. Callers hold the lock.
// Of the pieces that have allocations in them.
uint64_t takenMemory(const Device& device);
int allocateDevice(Device& device, uint64_t bytes, uint64_t* address);
int freeDevice(uint64_t address);
// Drivers wait for the device when memory is given back or code unloaded, but do not promise to. Meanwhile they may
// hold locks that all other calls need.
void waitForAll(Lock& lock, Device* device);
int freeDeviceAsync(const std::shared_ptr<Stream>& stream, uint64_t address);
Device* deviceOfAddress(uint64_t address);
// Whether an address range lies in one live allocation of device or host memory that the driver knows.
bool isKnownRange(uint64_t address, uint64_t bytes);
// From the address to the next multiple of 512 in its allocation, since the library's blocks may share one; 0 = it is
// in none.
uint64_t knownBytes(uint64_t address);
bool isPinned(uint64_t address, uint64_t bytes);
int allocateHost(uint64_t bytes, void** pointer);
int freeHost(void* pointer);
int registerHost(void* pointer, uint64_t bytes);
int unregisterHost(void* pointer);
// Where the fake itself reads and writes what is at an address: the second mapping of device memory, or the host's own.
unsigned char* hostView(uint64_t address);

// Device memory can be reached by the host's code at its own addresses while one of these lives.
class KernelAccess {
 public:
  KernelAccess();
  ~KernelAccess();
  KernelAccess(const KernelAccess&) = delete;
  KernelAccess& operator=(const KernelAccess&) = delete;
};

// stream.cpp. Callers hold the lock, but for run, wait... and destroy...
int createStream(Device& device, unsigned flags, int priority, Stream** stream);
int destroyStream(Stream* stream);
// The stream of a handle of the driver, NULL and the special numbers included; null = it is dead or never was.
std::shared_ptr<Stream> findStream(void* handle);
// Adds work to a stream. Unordered accesses to the same memory are violations; unknown addresses an error.
int enqueue(const std::shared_ptr<Stream>& stream, std::function<int()> run, const std::vector<Access>& accesses);
int enqueueHostFunction(const std::shared_ptr<Stream>& stream, std::function<int()> run, bool runsWhenLost);
Position lastPosition(const std::shared_ptr<Stream>& stream);
bool isDone(const Position& position);
void waitFor(Lock& lock, const Position& position);
// Waits, after which the host knows what the stream has done.
int synchronize(Lock& lock, const std::shared_ptr<Stream>& stream);
int synchronize(Lock& lock, Device& device);
int query(const std::shared_ptr<Stream>& stream);
bool isHostFunctionRunning();

// event.cpp. Callers hold the lock.
int createEvent(Device& device, bool hasTiming, Event** event);
int destroyEvent(Event* event);
int recordEvent(void* event, const std::shared_ptr<Stream>& stream);
int waitForEvent(const std::shared_ptr<Stream>& stream, void* event);
int queryEvent(void* event);
int synchronizeEvent(Lock& lock, void* event);
int elapsedTime(float* milliseconds, void* start, void* end);

// copy.cpp. They take the lock.
struct Copy2D {
  uint64_t target;
  uint64_t targetPitch;
  uint64_t source;
  uint64_t sourcePitch;
  uint64_t width;
  uint64_t height;
};
int copyAsync(void* stream, uint64_t target, uint64_t source, uint64_t bytes);
// Directly if the stream's device may access the other one's memory, else through the host.
int copyPeerAsync(void* stream, uint64_t target, uint64_t source, uint64_t bytes);
int copySync(uint64_t target, uint64_t source, uint64_t bytes);
int copy2DAsync(void* stream, const Copy2D& copy);
// `count` elements of 1, 2 or 4 bytes in each of `height` rows.
int fillAsync(void* stream, uint64_t target, uint64_t pitch, uint32_t value, unsigned size, uint64_t count,
              uint64_t height);

}  // namespace fake

// Leaves the calling function if the call was told to fail, its device is lost or missing, or a host function made it.
#define FAKE_ENTER() \
  if (const int failed = fake::enter(__func__)) return failed
