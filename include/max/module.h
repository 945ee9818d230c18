/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file module.h
 * Modules and kernels: functions compiled at run time that run on a device.
 *
 * A module is compiled from source, in the dialect of C++ that CUDA made
 * (`__global__`, `threadIdx`, `__shared__`, `__syncthreads`, warp shuffles,
 * atomics), or loaded from compiled code. The same source runs on every API:
 * a GPU's compiler is opened at run time, on the host it is the C++ compiler.
 * Kernels that are looked up by name are declared `extern "C"`.
 *
 *     MaxModule* module = NULL;
 *     MaxKernel* kernel = NULL;
 *     if (maxModuleCompile(device, source, "add.cu", NULL, &module) == MAX_STATUS_OK &&
 *         maxModuleGetKernel(module, "add", &kernel) == MAX_STATUS_OK)
 *       status = maxKernelLaunch(kernel, &config, arguments, sizes, 4, stream);
 */
#ifndef MAX_MODULE_H
#define MAX_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "max/buffer.h"
#include "max/device.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Compiled code on a device, in which kernels are found. */
typedef struct MaxModule MaxModule;
/** A function of a module that can be launched. It is part of its module: Retain and Release act on that. */
typedef struct MaxKernel MaxKernel;

/** Options of maxModuleCompile. */
typedef struct MaxModuleOptions {
  /** Size of this structure; set by MAX_MODULE_OPTIONS_INIT. */
  size_t structSize;
  /**
   * The chip to compile for, as maxDeviceGetArchitectureName names it ("sm_90", "gfx90a"), or for the host what the
   * compiler's option -march takes; NULL = the device's own.
   */
  const char* architecture;
  /** Names of macros to define. */
  const char* const* defineNames;
  /** Values of those macros; NULL, or a NULL entry = 1. */
  const char* const* defineValues;
  /** Names that the source may include. */
  const char* const* headerNames;
  /** Texts of those headers. */
  const char* const* headerTexts;
  /** More options for the compiler, as its own documentation has them. */
  const char* const* flags;
  /** Number of macros. */
  int32_t defineCount;
  /** Number of headers. */
  int32_t headerCount;
  /** Number of flags. */
  int32_t flagCount;
  /** 1 = faster and less exact arithmetic. */
  int32_t fastMath;
  /** Most registers a thread may use on accelerators; 0 = the compiler's choice. */
  int32_t registerLimit;
  /** 1 = with line numbers for profilers and debuggers. */
  int32_t lineInfo;
} MaxModuleOptions;

/** Initial value of a MaxModuleOptions. */
#define MAX_MODULE_OPTIONS_INIT \
  { sizeof(MaxModuleOptions), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/** A form of compiled code. */
typedef int32_t MaxArtifactKind;

/** What the compiler said: warnings. Text. */
#define MAX_ARTIFACT_KIND_LOG ((MaxArtifactKind)1)
/** PTX (cuda). Text. */
#define MAX_ARTIFACT_KIND_PTX ((MaxArtifactKind)2)
/** Machine code of a chip (cuda). */
#define MAX_ARTIFACT_KIND_CUBIN ((MaxArtifactKind)3)
/** Machine code of a chip (hip). */
#define MAX_ARTIFACT_KIND_CODE_OBJECT ((MaxArtifactKind)4)
/** A shared library (cpu). */
#define MAX_ARTIFACT_KIND_SHARED_OBJECT ((MaxArtifactKind)5)
/** Assembly (hip, cpu). Text. */
#define MAX_ARTIFACT_KIND_ASSEMBLY ((MaxArtifactKind)6)
/** LLVM's intermediate code (hip, and cpu where the compiler is Clang). Text. */
#define MAX_ARTIFACT_KIND_LLVM_IR ((MaxArtifactKind)7)

/** A property of a kernel; the values are those of CUDA. */
typedef int32_t MaxKernelAttribute;

/** Most threads in a block. */
#define MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK ((MaxKernelAttribute)0)
/** Bytes of shared memory that the kernel declares. */
#define MAX_KERNEL_ATTRIBUTE_SHARED_SIZE ((MaxKernelAttribute)1)
/** Bytes of constant memory that the kernel declares. */
#define MAX_KERNEL_ATTRIBUTE_CONSTANT_SIZE ((MaxKernelAttribute)2)
/** Bytes of memory of its own that a thread uses. */
#define MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE ((MaxKernelAttribute)3)
/** Registers that a thread uses. */
#define MAX_KERNEL_ATTRIBUTE_REGISTERS ((MaxKernelAttribute)4)
/** Version of the PTX it was compiled from, 10 * major + minor. */
#define MAX_KERNEL_ATTRIBUTE_PTX_VERSION ((MaxKernelAttribute)5)
/** Version of the chip it was compiled for, 10 * major + minor. */
#define MAX_KERNEL_ATTRIBUTE_BINARY_VERSION ((MaxKernelAttribute)6)
/** Most bytes of dynamic shared memory that a launch may ask for. Can be set. */
#define MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE ((MaxKernelAttribute)8)
/** Percent of the first-level cache to use as shared memory, -1 = the driver's choice. Can be set: a hint. */
#define MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT ((MaxKernelAttribute)9)
/** Whether clusters may be larger than all chips allow: 0 or 1. Can be set. */
#define MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED ((MaxKernelAttribute)14)

/** How the second-level cache treats a range of memory. */
typedef int32_t MaxAccessProperty;

/** As any other memory. */
#define MAX_ACCESS_PROPERTY_NORMAL ((MaxAccessProperty)0)
/** Unlikely to be used again. */
#define MAX_ACCESS_PROPERTY_STREAMING ((MaxAccessProperty)1)
/** To be kept. */
#define MAX_ACCESS_PROPERTY_PERSISTING ((MaxAccessProperty)2)

/** How a kernel is launched. */
typedef struct MaxLaunchConfig {
  /** Size of this structure; set by MAX_LAUNCH_CONFIG_INIT. */
  size_t structSize;
  /** Blocks in x, y and z; each at least 1. */
  int32_t grid[3];
  /** Threads of a block in x, y and z; each at least 1. */
  int32_t block[3];
  /** Blocks of a cluster in x, y and z; all zero = no clusters. */
  int32_t cluster[3];
  /** 1 = all blocks run at the same time, or the launch fails. */
  int32_t cooperative;
  /** Bytes of dynamic shared memory of each block. */
  size_t sharedBytes;
  /** Start of memory whose caching is set for this launch; NULL = none. */
  void* accessBase;
  /** Bytes of that memory; more than the device can set are left as they are. */
  size_t accessBytes;
  /** Part of the accesses, 0 to 1, that hitProperty holds for; missProperty holds for the others. */
  float hitRatio;
  /** Treatment of that part. */
  MaxAccessProperty hitProperty;
  /** Treatment of the rest; not MAX_ACCESS_PROPERTY_PERSISTING. */
  MaxAccessProperty missProperty;
  /** A hint: kernels of higher priority go first; 0 = as the stream's. */
  int32_t priority;
  /** 1 = the kernel may start before the one before it on the stream has ended; it waits for it by itself. */
  int32_t programmaticSerialization;
  /** Zero. */
  int32_t reserved;
} MaxLaunchConfig;

/** Initial value of a MaxLaunchConfig: one thread. */
#define MAX_LAUNCH_CONFIG_INIT \
  { sizeof(MaxLaunchConfig), {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, 0, NULL, 0, 0.0f, 0, 0, 0, 0, 0 }

/** In place of an argument's size: the argument is a MaxBuffer, whose address the kernel gets. */
#define MAX_KERNEL_ARGUMENT_BUFFER ((size_t)-1)

/**
 * Compiles source text for a device.
 *
 * Thread-safe. Compiled code is cached, also on disk. If the source does not compile, the compiler's log follows the
 * first line of the message, with the line numbers of the source.
 *
 * @param[in] name     What the log calls the source; NULL = "kernel.cu".
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The source does not compile.
 * @retval MAX_STATUS_UNAVAILABLE  No compiler was found; the message names what was tried.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleCompile(const MaxDevice* device, const char* source, const char* name,
                                                 const MaxModuleOptions* options, MaxModule** outModule);

/**
 * Loads compiled code: PTX or a CUBIN on cuda, a code object on hip, a shared object on cpu.
 *
 * Thread-safe. The bytes are copied. A shared object is code that runs in this process: load only what you trust.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The bytes are not code for the device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleLoad(const MaxDevice* device, const void* data, size_t byteCount,
                                              MaxModule** outModule);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModuleRetain(const MaxModule* module);

/**
 * Drops a reference; NULL is allowed. Queued launches keep what they need.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModuleRelease(const MaxModule* module);

/**
 * Gets the device that the module was made for.
 *
 * Thread-safe. Borrowed from the module.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetDevice(const MaxModule* module, MaxDevice** outDevice);

/**
 * Gets a form of the module's code, compiling once more where needed.
 *
 * Thread-safe. Borrowed from the module. A zero byte follows the bytes, so text can be used as a string.
 *
 * @param[out] outByteCount  The zero byte not counted.
 * @retval MAX_STATUS_UNIMPLEMENTED  The device's compiler has no such form.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The module was loaded in another form.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetArtifact(const MaxModule* module, MaxArtifactKind kind,
                                                     const void** outData, size_t* outByteCount);

/**
 * Finds a kernel by name.
 *
 * Thread-safe. Borrowed from the module: the same kernel for the same name.
 *
 * @retval MAX_STATUS_NOT_FOUND  The module has no such kernel.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetKernel(const MaxModule* module, const char* name, MaxKernel** outKernel);

/**
 * Writes a variable of the module (`__constant__` or `__device__`), from its beginning.
 *
 * Asynchronous: in stream order; the bytes are copied before the call returns. Thread-safe.
 *
 * @param[in] stream  NULL = the default stream of the module's device.
 * @retval MAX_STATUS_NOT_FOUND  The module has no such variable.
 * @retval MAX_STATUS_OUT_OF_RANGE  The variable is smaller.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleSetConstant(const MaxModule* module, const char* name, const void* data,
                                                     size_t byteCount, MaxStream* stream);

/**
 * Adds a reference to the kernel's module; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxKernelRetain(const MaxKernel* kernel);

/**
 * Drops a reference to the kernel's module; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxKernelRelease(const MaxKernel* kernel);

/**
 * Gets the module of the kernel.
 *
 * Thread-safe. Borrowed from the kernel.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetModule(const MaxKernel* kernel, MaxModule** outModule);

/**
 * Gets the name of the kernel.
 *
 * Thread-safe. Borrowed from the kernel.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetName(const MaxKernel* kernel, const char** outName);

/**
 * Gets a property of the kernel.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The device does not know it.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute,
                                                      int64_t* outValue);

/**
 * Sets a property of the kernel for later launches, whoever launches it.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The value lies outside what the device allows; the message says what it does.
 * @retval MAX_STATUS_UNIMPLEMENTED  The attribute cannot be set.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelSetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute,
                                                      int64_t value);

/**
 * Launches a kernel.
 *
 * Asynchronous. Thread-safe. An argument is the address of a value, which is copied before the call returns, or, where
 * its size is MAX_KERNEL_ARGUMENT_BUFFER, a MaxBuffer: the kernel gets the address of its first element, and its memory
 * is kept until the kernel has run. Memory that is passed as a plain address is borrowed until then. The kernel must
 * only read buffers that are read-only.
 *
 * @param[in] arguments  One per parameter of the kernel.
 * @param[in] sizes      Bytes of each value, compared with the parameters where the compiler tells about them; NULL =
 *                       all are values and none is compared.
 * @param[in] stream     NULL = the default stream of the kernel's device.
 * @retval MAX_STATUS_INVALID_ARGUMENT  Wrong number or size of arguments, dimensions or shared memory outside the
 *         limits, a stream or buffer of another device; the message names the values.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelLaunch(const MaxKernel* kernel, const MaxLaunchConfig* config,
                                                const void* const* arguments, const size_t* sizes,
                                                int32_t argumentCount, MaxStream* stream);

#ifdef __cplusplus
}
#endif

#endif
