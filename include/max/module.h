/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file module.h
 * Modules: kernels and variables, compiled at run time for a device.
 *
 * A module is compiled from source in CUDA's dialect of C++ (`__global__`,
 * `threadIdx`, `__shared__`, `__syncthreads`, warp shuffles, atomics), or
 * loaded from compiled code. The same source runs on every API: a GPU's compiler is loaded at run time; the host uses
 * the C++ compiler. Declare kernels `extern "C"` to find them by name; kernel.h launches them.
 *
 *     MaxModule* module = NULL;
 *     MaxKernel* kernel = NULL;
 *     MaxStatus status = maxModuleCompile(device, source, "add.cu", NULL, &module);
 *     if (status == MAX_STATUS_OK) status = maxModuleGetKernel(module, "add", &kernel);
 */
#ifndef MAX_MODULE_H
#define MAX_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Compiled code on a device, which contains kernels. */
typedef struct MaxModule MaxModule;
/** A function of a module that can be launched. It is part of its module: Retain and Release act on the module. */
typedef struct MaxKernel MaxKernel;

/** Options of maxModuleCompile. */
typedef struct MaxModuleOptions {
  /** Size of this structure; set by MAX_MODULE_OPTIONS_INIT. */
  size_t structSize;
  /**
   * The architecture to compile for, as maxDeviceGetArchitectureName names it ("sm_90", "gfx90a"), or for the host a
   * value of the compiler's option -march; NULL = the device's own.
   */
  const char* architecture;
  /** Names of macros to define. */
  const char* const* defineNames;
  /** Values of those macros; NULL, or a NULL entry = 1. */
  const char* const* defineValues;
  /** Names of headers that the source may include. */
  const char* const* headerNames;
  /** Contents of those headers. */
  const char* const* headerTexts;
  /** More options for the compiler; see its documentation. */
  const char* const* flags;
  /** Number of macros. */
  int32_t defineCount;
  /** Number of headers. */
  int32_t headerCount;
  /** Number of flags. */
  int32_t flagCount;
  /** 1 = faster and less exact arithmetic. */
  int32_t fastMath;
  /** Maximum registers per thread on accelerators; 0 = the compiler's choice. */
  int32_t registerLimit;
  /** 1 = include line numbers for profilers and debuggers. */
  int32_t lineInfo;
} MaxModuleOptions;

/** Initial value of a MaxModuleOptions. */
#define MAX_MODULE_OPTIONS_INIT \
  { sizeof(MaxModuleOptions), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/** A form of compiled code. */
typedef int32_t MaxArtifactKind;

/** The compiler's log: warnings. Text. */
#define MAX_ARTIFACT_KIND_LOG 1
/** PTX (cuda). Text. */
#define MAX_ARTIFACT_KIND_PTX 2
/** Machine code of an NVIDIA architecture (cuda). */
#define MAX_ARTIFACT_KIND_CUBIN 3
/** Machine code of an AMD architecture (hip). */
#define MAX_ARTIFACT_KIND_CODE_OBJECT 4
/** A shared library (cpu). */
#define MAX_ARTIFACT_KIND_SHARED_OBJECT 5
/** Assembly (hip, cpu). Text. */
#define MAX_ARTIFACT_KIND_ASSEMBLY 6
/** LLVM IR (hip, and cpu if the compiler is Clang). Text. */
#define MAX_ARTIFACT_KIND_LLVM_IR 7

/**
 * Compiles source text for a device.
 *
 * Thread-safe. Compiled code is cached, also on disk. If the source does not compile, the compiler's log follows the
 * first line of the message, with the line numbers of the source.
 *
 * @param[in] device   NULL = the host.
 * @param[in] name     Name of the source in the log; NULL = "kernel.cu".
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The source does not compile.
 * @retval MAX_STATUS_UNAVAILABLE  No compiler was found, and the message lists what was tried, or only one that is too
 *                                 new for the driver.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleCompile(const MaxDevice* device, const char* source, const char* name,
                                                 const MaxModuleOptions* options, MaxModule** outModule);

/**
 * Loads compiled code: PTX or a CUBIN on cuda, a code object on hip, a shared object on cpu.
 *
 * Thread-safe. The bytes are copied. A shared object's code runs in this process: load only what you trust.
 *
 * @param[in] device  NULL = the host.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The bytes are not code for the device.
 * @retval MAX_STATUS_UNAVAILABLE  The driver is too old for the compiler that made the code.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleLoadFromMemory(const MaxDevice* device, const void* data, size_t byteCount,
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
 * Gets the device that the module was created for.
 *
 * Thread-safe. Borrowed from the module.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetDevice(const MaxModule* module, MaxDevice** outDevice);

/**
 * Gets a form of the module's code, compiling again if necessary.
 *
 * Thread-safe. Borrowed from the module. A NUL follows the bytes, so text can be used as a string.
 *
 * @param[out] outByteCount  Number of bytes, without the NUL.
 * @retval MAX_STATUS_UNIMPLEMENTED  The device's compiler has no such form.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The module was loaded in another form.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetArtifact(const MaxModule* module, MaxArtifactKind kind,
                                                     const void** outData, size_t* outByteCount);

/**
 * Finds a kernel by name.
 *
 * Thread-safe. Borrowed from the module: the same name gives the same kernel.
 *
 * @retval MAX_STATUS_NOT_FOUND  The module has no such kernel.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModuleGetKernel(const MaxModule* module, const char* name, MaxKernel** outKernel);

/**
 * Writes to a variable of the module (`__constant__` or `__device__`), from its start.
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

#ifdef __cplusplus
}
#endif

#endif
