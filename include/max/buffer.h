/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file buffer.h
 * Buffers: n-dimensional arrays in the memory of a device.
 *
 * A buffer has a device, an element type, a shape and strides. Views (slices,
 * other types or shapes) share memory with the buffer they come from. Buffers
 * reach NumPy, PyTorch and others without a copy through DLPack.
 *
 * A buffer is bound to a stream. Every operation that reads or writes its contents runs after the work already queued
 * on that stream, and after work on other streams that uses the same memory: everything after writes, writes after
 * reads. Work on another stream waits there; on the host's default stream the call itself waits. Failed work does not
 * count as reading or writing: its failure stays with its stream. Plain addresses (maxMemoryCopy, maxBufferGetData,
 * addresses passed to kernels) are not tied to buffers, so the library does not order accesses through them, nor calls
 * that several threads make at the same time.
 *
 *     const int64_t shape[] = {2, 3};
 *     void* data = NULL;
 *     MaxBuffer* buffer = NULL;
 *     if (maxBufferCreate(device, MAX_DTYPE_FLOAT32, 2, shape, NULL, &buffer) == MAX_STATUS_OK &&
 *         maxBufferGetMutableData(buffer, &data) == MAX_STATUS_OK) ((float*)data)[5] = 1.0f;
 *     maxBufferRelease(buffer);
 */
#ifndef MAX_BUFFER_H
#define MAX_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/dtype.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DLPack's versioned managed tensor (DLPack 1.0 and later). It is declared in dlpack.h of the DLPack project
 * (github.com/dmlc/dlpack), one header without dependencies; this library needs only its name.
 */
struct DLManagedTensorVersioned;
/** DLPack's unversioned managed tensor; older versions of dlpack.h, such as Debian's 0.6, have only this one. */
struct DLManagedTensor;

/** An n-dimensional array in the memory of a device. */
typedef struct MaxBuffer MaxBuffer;

/** Maximum number of dimensions of a buffer. */
#define MAX_BUFFER_RANK_LIMIT 16

/** Options of maxBufferCreate. */
typedef struct MaxBufferOptions {
  /** Size of this structure; set by MAX_BUFFER_OPTIONS_INIT. */
  size_t structSize;
  /** Stream to bind the buffer to; NULL = the device's default stream. */
  MaxStream* stream;
  /** Alignment in bytes, a power of two; 0 = 64. */
  size_t alignment;
  /** Not 0 = page-locked host memory; on an accelerator, host memory that it can access. */
  int32_t pinned;
  /** Not 0 = filled with zeros. */
  int32_t zeroed;
} MaxBufferOptions;

/** Initial value of a MaxBufferOptions. */
#define MAX_BUFFER_OPTIONS_INIT \
  { sizeof(MaxBufferOptions), NULL, 0, 0, 0 }

/** Options of functions that copy a buffer: maxBufferClone, maxBufferTo, maxBufferContiguous. */
typedef struct MaxBufferCopyOptions {
  /** Size of this structure; set by MAX_BUFFER_COPY_OPTIONS_INIT. */
  size_t structSize;
  /** Stream that copies, and to which the result is bound; NULL = see the function. */
  MaxStream* stream;
} MaxBufferCopyOptions;

/** Initial value of a MaxBufferCopyOptions. */
#define MAX_BUFFER_COPY_OPTIONS_INIT \
  { sizeof(MaxBufferCopyOptions), NULL }

/** Properties of a buffer: a sum of MAX_BUFFER_FLAG_* values. */
typedef int32_t MaxBufferFlags;

/** The elements are stored without gaps in row-major order. */
#define MAX_BUFFER_FLAG_CONTIGUOUS 1
/** The buffer is on the host. */
#define MAX_BUFFER_FLAG_HOST 2
/** The memory is page-locked. */
#define MAX_BUFFER_FLAG_PINNED 4
/** The buffer cannot be written through this library. */
#define MAX_BUFFER_FLAG_READ_ONLY 8

/** Valid fields of a MaxBufferInfo: a sum of MAX_BUFFER_INFO_* values. */
typedef uint64_t MaxBufferInfoMask;

/** dtype is known. */
#define MAX_BUFFER_INFO_DTYPE 1
/** rank and shape are known. */
#define MAX_BUFFER_INFO_SHAPE 2
/** strides is known. */
#define MAX_BUFFER_INFO_STRIDES 4
/** elementCount is known. */
#define MAX_BUFFER_INFO_ELEMENT_COUNT 8
/** byteCount and elementSize are known: all types except strings. */
#define MAX_BUFFER_INFO_BYTES 16
/** address is known: all types except strings. */
#define MAX_BUFFER_INFO_ADDRESS 32
/** device is known. */
#define MAX_BUFFER_INFO_DEVICE 64
/** stream is known. */
#define MAX_BUFFER_INFO_STREAM 128
/** flags is known. */
#define MAX_BUFFER_INFO_FLAGS 256

/** A report on a buffer; an unknown field is zero and missing in validMask. */
typedef struct MaxBufferInfo {
  /** Size of this structure; set by MAX_BUFFER_INFO_INIT. */
  size_t structSize;
  /** Fields that are known. */
  MaxBufferInfoMask validMask;
  /** Element type. */
  MaxDType dtype;
  /** Number of dimensions. */
  int32_t rank;
  /** Dimensions, as many as `rank`. */
  const int64_t* shape;
  /** Strides of each dimension, in elements. */
  const int64_t* strides;
  /** Number of elements; 1 for a scalar. */
  int64_t elementCount;
  /** Bytes of the elements without gaps. */
  size_t byteCount;
  /** Bytes of one element; 1 for types below 8 bits. */
  size_t elementSize;
  /** Address of the first element, for maxMemoryCopy and kernels; for host access use maxBufferGetData. */
  uint64_t address;
  /** Device that holds the buffer. */
  MaxDevice* device;
  /** Stream that the buffer is bound to. */
  MaxStream* stream;
  /** Properties of the buffer. */
  MaxBufferFlags flags;
  /** Zero. */
  int32_t reserved;
} MaxBufferInfo;

/** Initial value of a MaxBufferInfo. */
#define MAX_BUFFER_INFO_INIT \
  { sizeof(MaxBufferInfo), 0, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0 }

/** Tells the owner of borrowed memory that it is no longer in use. */
typedef void (*MaxBufferReleaseFunction)(void* userData);

/** Options of maxBufferWrap. */
typedef struct MaxBufferWrapOptions {
  /** Size of this structure; set by MAX_BUFFER_WRAP_OPTIONS_INIT. */
  size_t structSize;
  /** Stream to bind the buffer to; NULL = the device's default stream. */
  MaxStream* stream;
  /** Strides of each dimension, in elements; NULL = dense, row-major. */
  const int64_t* strides;
  /** Called once, from any thread, when the memory is no longer in use; NULL = not called. */
  MaxBufferReleaseFunction release;
  /** First argument of `release`. */
  void* userData;
  /** Not 0 = the buffer cannot be written through this library. */
  int32_t readOnly;
  /** Zero. */
  int32_t reserved;
} MaxBufferWrapOptions;

/** Initial value of a MaxBufferWrapOptions. */
#define MAX_BUFFER_WRAP_OPTIONS_INIT \
  { sizeof(MaxBufferWrapOptions), NULL, NULL, NULL, NULL, 0, 0 }

/** When to copy the data of a DLPack tensor. */
typedef int32_t MaxDlpackCopy;

/** Only if necessary: its address is not aligned to the element size. */
#define MAX_DLPACK_COPY_IF_NEEDED 0
/** Always. */
#define MAX_DLPACK_COPY_ALWAYS 1
/** Never: the import fails if a copy is necessary. */
#define MAX_DLPACK_COPY_NEVER 2

/** Options of maxBufferFromDlpack and maxBufferFromDlpackUnversioned. */
typedef struct MaxDlpackOptions {
  /** Size of this structure; set by MAX_DLPACK_OPTIONS_INIT. */
  size_t structSize;
  /** Stream to bind the buffer to; NULL = the default stream of the tensor's device. */
  MaxStream* stream;
  /** Whether to copy the data. */
  MaxDlpackCopy copy;
  /** Zero. */
  int32_t reserved;
  /** Stream whose work produces the data; the import waits for it. NULL = the data is ready. */
  MaxStream* producer;
} MaxDlpackOptions;

/** Initial value of a MaxDlpackOptions. */
#define MAX_DLPACK_OPTIONS_INIT \
  { sizeof(MaxDlpackOptions), NULL, 0, 0, NULL }

/** Options of maxBufferToDlpack and maxBufferToDlpackUnversioned. */
typedef struct MaxDlpackExportOptions {
  /** Size of this structure; set by MAX_DLPACK_EXPORT_OPTIONS_INIT. */
  size_t structSize;
  /** The consumer's stream: its later work waits for work with the buffer. NULL = the call waits. */
  MaxStream* stream;
  /** Not 0 = neither waits: the consumer orders its work itself. */
  int32_t noWait;
  /** Zero. */
  int32_t reserved;
} MaxDlpackExportOptions;

/** Initial value of a MaxDlpackExportOptions. */
#define MAX_DLPACK_EXPORT_OPTIONS_INIT \
  { sizeof(MaxDlpackExportOptions), NULL, 0, 0 }

/** How to map a file, like the modes of numpy.memmap. */
typedef int32_t MaxMapMode;

/** "r": the file is read; the buffer is read-only. */
#define MAX_MAP_MODE_READ 0
/** "r+": the file is read and written, and extended if it is too short. */
#define MAX_MAP_MODE_READ_WRITE 1
/** "w+": like "r+", but the file is created or truncated first. */
#define MAX_MAP_MODE_CREATE 2
/** "c": the buffer can be written; the file does not change. */
#define MAX_MAP_MODE_COPY_ON_WRITE 3

/** What the host does with mapped memory: a sum of MAX_HOST_ACCESS_* values. */
typedef int32_t MaxHostAccess;

/** The host reads. */
#define MAX_HOST_ACCESS_READ 1
/** The host writes; bytes that it does not write keep their values only with READ. */
#define MAX_HOST_ACCESS_WRITE 2
/** With READ or WRITE: nothing else may hold the memory: no other reference, view, export or queued work. */
#define MAX_HOST_ACCESS_EXCLUSIVE 4

/** One step of slicing, like one item between numpy's brackets. */
typedef int32_t MaxSliceKind;

/** An index: `start` picks one element and removes the dimension. */
#define MAX_SLICE_KIND_INDEX 0
/** A range start:stop:step; ends out of range are clamped. */
#define MAX_SLICE_KIND_RANGE 1
/** "...": all dimensions that no other step covers; at most once. */
#define MAX_SLICE_KIND_ELLIPSIS 2
/** None: a new dimension of size 1. */
#define MAX_SLICE_KIND_NEW_AXIS 3

/** An omitted end of a range: x[:3], x[3:], x[::2]. */
#define MAX_SLICE_OMITTED -9223372036854775807

/** Direction of maxMemoryCopy. */
typedef int32_t MaxCopyKind;

/** From host memory to host memory. */
#define MAX_COPY_KIND_HOST_TO_HOST 0
/** From host memory to device memory. */
#define MAX_COPY_KIND_HOST_TO_DEVICE 1
/** From device memory to host memory. */
#define MAX_COPY_KIND_DEVICE_TO_HOST 2
/** From device memory to device memory. */
#define MAX_COPY_KIND_DEVICE_TO_DEVICE 3

/**
 * Allocates a buffer. Its contents are undefined unless `options->zeroed` is set.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the device of `options->stream`, else the host.
 * @param[in] rank  0 = a scalar; `shape` may then be NULL.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_OUT_OF_RANGE  A dimension is negative or the size overflows.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  Memory or the device's memory limit has run out.
 * @retval MAX_STATUS_UNIMPLEMENTED  The dtype is MAX_DTYPE_STRING.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCreate(MaxDevice* device, MaxDType dtype, int32_t rank, const int64_t* shape,
                                                const MaxBufferOptions* options, MaxBuffer** outBuffer);

/**
 * Creates a read-only buffer of strings in host memory; the strings are copied.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the host.
 * @param[in] strings  One per element, in row-major order. They should be UTF-8, but any bytes are allowed.
 * @param[in] lengths  Length of each string in bytes; NULL = NUL-terminated strings.
 * @retval MAX_STATUS_UNIMPLEMENTED  The device is not the host.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCreateStrings(MaxDevice* device, const char* const* strings,
                                                       const size_t* lengths, int32_t rank, const int64_t* shape,
                                                       MaxBuffer** outBuffer);

/**
 * Creates a buffer of strings that are stored one after another in one block; otherwise like maxBufferCreateStrings.
 *
 * Thread-safe.
 *
 * @param[in] bytes  All strings; copied. NULL if `byteCount` is 0.
 * @param[in] offsets  One more than there are elements: string i is the bytes from offsets[i] to offsets[i + 1].
 * @retval MAX_STATUS_OUT_OF_RANGE  An offset is outside the block or smaller than the previous one.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCreateStringsFromBytes(MaxDevice* device, const void* bytes, size_t byteCount,
                                                                const int64_t* offsets, int32_t rank,
                                                                const int64_t* shape, MaxBuffer** outBuffer);

/**
 * Gets strings of a buffer of strings.
 *
 * Thread-safe. Borrowed from the buffer.
 *
 * @param[in] first  Index of the first element, in row-major order.
 * @param[in] count  Number of strings; zero is allowed and does nothing.
 * @param[out] outStrings  `count` strings: their bytes, followed by a NUL.
 * @param[out] outLengths  `count` lengths in bytes, without the NUL.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer does not hold strings.
 * @retval MAX_STATUS_OUT_OF_RANGE  The buffer has fewer elements.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetStrings(const MaxBuffer* buffer, int64_t first, int64_t count,
                                                    const char** outStrings, size_t* outLengths);

/**
 * Creates a buffer over memory that the caller owns.
 *
 * Borrowed until `options->release` is called; without it, until the buffer and all its views have been released and
 * all work that uses them is done. If the call fails, the caller keeps the memory and `release` is not called.
 * Thread-safe.
 *
 * @param[in] device  NULL = the device of `options->stream`, else the host.
 * @param[in] data  In the memory of the device, aligned to the element size. NULL only if there are no elements.
 * @param[in] options  NULL = defaults.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferWrap(MaxDevice* device, void* data, MaxDType dtype, int32_t rank,
                                              const int64_t* shape, const MaxBufferWrapOptions* options,
                                              MaxBuffer** outBuffer);

/**
 * Creates a buffer from a DLPack tensor (DLPack 1.x).
 *
 * On success the buffer owns the tensor: its deleter is called when the memory is no longer in use, or before this
 * function returns if the data was copied. On failure the caller keeps the tensor and still has to call its deleter.
 * Data is copied if the options say so or if its address is not aligned to the element size (a slice of a packed
 * record, a mapped file); strides are kept. Page-locked CUDA or ROCm memory becomes a host buffer. Thread-safe.
 *
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_FAILED_PRECONDITION  A copy is necessary, and the options say never.
 * @retval MAX_STATUS_UNAVAILABLE  The tensor is on a device that does not exist here.
 * @retval MAX_STATUS_UNIMPLEMENTED  The tensor's version, type or device is not supported.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFromDlpack(struct DLManagedTensorVersioned* tensor,
                                                    const MaxDlpackOptions* options, MaxBuffer** outBuffer);

/**
 * Creates a buffer from an unversioned DLPack tensor; otherwise like maxBufferFromDlpack.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFromDlpackUnversioned(struct DLManagedTensor* tensor,
                                                               const MaxDlpackOptions* options, MaxBuffer** outBuffer);

/**
 * Creates a DLPack tensor (1.x) that shares the buffer's memory.
 *
 * The tensor holds the memory until its deleter is called and the work then on `options->stream` is done; later
 * accesses through this library come after that work. Until then the consumer orders its own accesses. A read-only
 * buffer gives a tensor with the read-only flag. Thread-safe.
 *
 * @param[in] options  NULL = defaults: the call waits for work that uses the buffer.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is mapped to the host.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferToDlpack(const MaxBuffer* buffer, const MaxDlpackExportOptions* options,
                                                  struct DLManagedTensorVersioned** outTensor);

/**
 * Creates an unversioned DLPack tensor; otherwise like maxBufferToDlpack.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is read-only, which such a tensor cannot express.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferToDlpackUnversioned(const MaxBuffer* buffer,
                                                             const MaxDlpackExportOptions* options,
                                                             struct DLManagedTensor** outTensor);

/**
 * Maps part of a file as a host buffer.
 *
 * The file must not shrink while the buffer exists. With modes "r" and "c", an offset that is not a multiple of the
 * element size makes a copy. Thread-safe.
 *
 * @param[in] offset  Bytes from the start of the file.
 * @retval MAX_STATUS_NOT_FOUND  The file does not exist.
 * @retval MAX_STATUS_OUT_OF_RANGE  The file is too short.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferMap(const char* path, MaxDType dtype, int32_t rank, const int64_t* shape,
                                             MaxMapMode mode, uint64_t offset, MaxBuffer** outBuffer);

/**
 * Reads a ".max" checkpoint into a host buffer. Large files are mapped, so they must not shrink.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The file is not a checkpoint.
 * @retval MAX_STATUS_DATA_LOSS  The file is truncated or damaged.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferLoad(const char* path, MaxBuffer** outBuffer);

/**
 * Writes a buffer as a ".max" checkpoint. The file appears whole or not at all.
 *
 * Waits for work on the buffer's stream. Thread-safe.
 *
 * @param[in] key  Name of the tensor in the file; NULL = "tensor".
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferSave(const MaxBuffer* buffer, const char* path, const char* key);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxBufferRetain(const MaxBuffer* buffer);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxBufferRelease(const MaxBuffer* buffer);

/**
 * Gets a buffer's properties: type, shape, location.
 *
 * Thread-safe. Pointers in it are borrowed from the buffer.
 *
 * @param[in,out] outInfo  Its structSize must be set; see MAX_BUFFER_INFO_INIT.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetInfo(const MaxBuffer* buffer, MaxBufferInfo* outInfo);

/**
 * Gets the address of the first element, for reading. Does not wait for work on the buffer: synchronize first.
 *
 * Thread-safe. Borrowed from the buffer. NULL if there are no elements.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The host cannot access the memory; see maxBufferMapToHost.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetData(const MaxBuffer* buffer, const void** outData);

/**
 * Gets the address of the first element, for reading and writing; otherwise like maxBufferGetData.
 *
 * Thread-safe. Borrowed from the buffer.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The host cannot access the memory, or the buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetMutableData(MaxBuffer* buffer, void** outData);

/**
 * Creates a view of part of the buffer, like numpy's x[...] with indices, ranges, "..." and None.
 *
 * The view shares the buffer's memory. Dimensions that no step covers are kept whole. Thread-safe.
 *
 * @param[in] kinds  Kind of each step.
 * @param[in] starts  Index, or start of the range, of each step; MAX_SLICE_OMITTED = omitted, negative = from the end.
 *     Not read for other kinds.
 * @param[in] stops  Stop of each range. NULL = all omitted.
 * @param[in] steps  Step of each range; MAX_SLICE_OMITTED = 1. NULL = all 1.
 * @param[in] count  Number of steps.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index is outside its dimension; the message names it.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There are too many steps, two ellipses, or a step of zero.
 * @retval MAX_STATUS_UNIMPLEMENTED  The elements have fewer than 8 bits, and the view would not be contiguous or would
 *     start within a byte.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferSlice(const MaxBuffer* buffer, const MaxSliceKind* kinds,
                                               const int64_t* starts, const int64_t* stops, const int64_t* steps,
                                               int32_t count, MaxBuffer** outView);

/**
 * Creates a view of the same memory with another type and shape.
 *
 * Thread-safe.
 *
 * @param[in] rank  -1 = the shape is deduced: the buffer's, with the last dimension scaled by the ratio of the element
 *            sizes.
 * @param[in] shape  One dimension may be -1 and is then deduced. NULL if `rank` is 0 or -1.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is not contiguous.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The sizes do not match, or the address is not aligned for the type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferView(const MaxBuffer* buffer, MaxDType dtype, int32_t rank,
                                              const int64_t* shape, MaxBuffer** outView);

/**
 * Copies the buffer to new, contiguous memory on its own device.
 *
 * Asynchronous. Thread-safe.
 *
 * @param[in] options  NULL = defaults: the buffer's stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferContiguous(const MaxBuffer* buffer, const MaxBufferCopyOptions* options,
                                                    MaxBuffer** outBuffer);

/**
 * Copies the buffer to new, contiguous memory on a device.
 *
 * Asynchronous: the buffer is retained until the copy is done. Thread-safe.
 *
 * @param[in] device  NULL = the device of `options->stream`, else of the buffer.
 * @param[in] options  NULL = defaults: the buffer's stream on its own device, else the default stream of `device`.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferClone(const MaxBuffer* buffer, MaxDevice* device,
                                               const MaxBufferCopyOptions* options, MaxBuffer** outBuffer);

/**
 * Gets the buffer on a device: a new reference if it is there already, else a copy.
 *
 * Asynchronous: the buffer is retained until the copy is done. Thread-safe.
 *
 * @param[in] device  NULL = the device of `options->stream`, else the host.
 * @param[in] options  NULL = defaults: the default stream of `device`.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferTo(MaxBuffer* buffer, MaxDevice* device, const MaxBufferCopyOptions* options,
                                            MaxBuffer** outBuffer);

/**
 * Copies bytes between two contiguous buffers, in stream order.
 *
 * Asynchronous, but may wait for pageable host memory: both buffers are retained until it is done. Thread-safe.
 *
 * @param[in] byteCount  Zero is allowed and does nothing.
 * @param[in] stream  NULL = the stream of `dst`.
 * @retval MAX_STATUS_OUT_OF_RANGE  A range ends past its buffer; the message names it.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The ranges overlap.
 * @retval MAX_STATUS_FAILED_PRECONDITION  A buffer is not contiguous, or `dst` is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCopy(MaxBuffer* dst, size_t dstOffset, const MaxBuffer* src, size_t srcOffset,
                                              size_t byteCount, MaxStream* stream);

/**
 * Copies bytes from host memory into a contiguous buffer, in stream order, and waits for the copy.
 *
 * Thread-safe. The buffer is retained meanwhile.
 *
 * @param[in] src  Host memory that does not overlap the buffer's.
 * @param[in] byteCount  Zero is allowed and does nothing.
 * @param[in] stream  Of the buffer's device; NULL = the buffer's stream.
 * @retval MAX_STATUS_OUT_OF_RANGE  The range ends past the buffer.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is not contiguous or read-only, or the call comes from a host
 *         function of the stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCopyFromHost(MaxBuffer* dst, size_t dstOffset, const void* src,
                                                      size_t byteCount, MaxStream* stream);

/**
 * Copies bytes from a contiguous buffer into host memory, in stream order, and waits for the copy.
 *
 * Thread-safe. The buffer is retained meanwhile. On failure, `dst` may be partly written.
 *
 * @param[out] dst  Host memory that does not overlap the buffer's.
 * @param[in] byteCount  Zero is allowed and does nothing.
 * @param[in] stream  Of the buffer's device; NULL = the buffer's stream.
 * @retval MAX_STATUS_OUT_OF_RANGE  The range ends past the buffer.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is not contiguous, or the call comes from a host function of the
 *         stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCopyToHost(const MaxBuffer* src, size_t srcOffset, void* dst, size_t byteCount,
                                                    MaxStream* stream);

/**
 * Copies bytes between two addresses, in stream order.
 *
 * Asynchronous, but may wait for pageable host memory: both ranges are borrowed until it is done. Thread-safe.
 *
 * @param[in] byteCount  Zero is allowed and does nothing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An address is NULL, the kind is unknown, the ranges overlap, or one exceeds the
 *     address space.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxMemoryCopy(void* dst, const void* src, size_t byteCount, MaxCopyKind kind,
                                              MaxStream* stream);

/**
 * Fills the buffer with a pattern, in stream order.
 *
 * Asynchronous: the buffer is retained until it is filled. Thread-safe.
 *
 * @param[in] value  Copied by the call.
 * @param[in] valueSize  1, 2, 4, 8 or 16, and a divisor of the buffer's size in bytes. For a view that is not
 *     contiguous, it must be the element size.
 * @param[in] stream  NULL = the buffer's stream.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The pattern has another size, or its size does not divide the buffer's.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFill(MaxBuffer* buffer, const void* value, size_t valueSize,
                                              MaxStream* stream);

/**
 * Gives the host access to the buffer's memory, or to a copy of it, until maxBufferUnmapFromHost.
 *
 * Waits for work that uses the buffer. While it is mapped, any other write to the memory through this library fails
 * with FAILED_PRECONDITION, whichever handle it uses; so does any other read while the host may write or has exclusive
 * access. A buffer can be mapped once at a time, and its memory through several buffers if all of them only read. A
 * mapping ends with the last reference to its buffer at the latest. Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  An existing mapping of the buffer or its memory forbids it, the buffer is not
 *     contiguous, it is read-only and `access` includes writing, something else holds the memory and `access` is
 *     exclusive, or the call comes from a host function of the buffer's stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferMapToHost(MaxBuffer* buffer, MaxHostAccess access, void** outData);

/**
 * Ends the host's access. What the host wrote reaches the buffer in the order of the buffer's stream. Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is not mapped.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferUnmapFromHost(MaxBuffer* buffer);

/**
 * Reads one element.
 *
 * Waits for work on the buffer's stream. Thread-safe.
 *
 * @param[in] indices  Negative = from the end. NULL if `count` is 0.
 * @param[in] count  The buffer's rank.
 * @param[in] byteCount  The element size.
 * @param[out] outElement  Elements of fewer than 8 bits are in the low bits of a byte.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index is outside its dimension; the message names it.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferRead(const MaxBuffer* buffer, const int64_t* indices, int32_t count,
                                              size_t byteCount, void* outElement);

/**
 * Writes one element.
 *
 * Waits for work on the buffer's stream.
 *
 * @param[in] indices  Negative = from the end. NULL if `count` is 0.
 * @param[in] count  The buffer's rank.
 * @param[in] element  Elements of fewer than 8 bits are in the low bits of a byte.
 * @param[in] byteCount  The element size.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index is outside its dimension; the message names it.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferWrite(MaxBuffer* buffer, const int64_t* indices, int32_t count,
                                               const void* element, size_t byteCount);

#ifdef __cplusplus
}
#endif

#endif
