/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file buffer.h
 * Buffers: n-dimensional arrays in the memory of a device.
 *
 * A buffer has a device, an element type, a shape and strides. Views (slices,
 * other types or shapes) share memory with the buffer they come from. Buffers
 * reach NumPy, PyTorch and others without a copy through DLPack.
 *
 * A buffer is bound to a stream. Whatever reads or writes its contents comes after the work that is then on that
 * stream, and after work on other streams that uses the same memory: all after writes, writes after reads. Work on
 * another stream waits there; on the host's default stream the call itself does. What failed before does not count as
 * reading or writing: its failure stays with its stream. Addresses (maxMemoryCopy, maxBufferGetData, kernels that are
 * given one) know no buffers and are ordered by nobody, nor is what several threads do at the same time.
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
 * DLPack's managed tensor with a version (DLPack 1.0 and later). It is declared in dlpack.h of the DLPack project
 * (github.com/dmlc/dlpack), one header without dependencies; this library needs its name alone.
 */
struct DLManagedTensorVersioned;
/** DLPack's managed tensor without a version; older versions of dlpack.h, such as Debian's 0.6, have this one alone. */
struct DLManagedTensor;

/** An n-dimensional array in the memory of a device. */
typedef struct MaxBuffer MaxBuffer;

/** Most dimensions a buffer can have. */
#define MAX_BUFFER_RANK_LIMIT 16

/** Options of maxBufferCreate. */
typedef struct MaxBufferOptions {
  /** Size of this structure; set by MAX_BUFFER_OPTIONS_INIT. */
  size_t structSize;
  /** Stream that the buffer is bound to; NULL = the device's default stream. */
  MaxStream* stream;
  /** Bytes that the address is a multiple of, a power of two; 0 = 64. */
  size_t alignment;
  /** Not 0 = host memory that stays resident (page-locked); on an accelerator, host memory that it can reach. */
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
  /** Stream that copies and that the result is bound to; NULL = see the function. */
  MaxStream* stream;
} MaxBufferCopyOptions;

/** Initial value of a MaxBufferCopyOptions. */
#define MAX_BUFFER_COPY_OPTIONS_INIT \
  { sizeof(MaxBufferCopyOptions), NULL }

/** What holds for a buffer: a sum of MAX_BUFFER_FLAG_* numbers. */
typedef int32_t MaxBufferFlags;

/** The elements lie without gaps in row-major order. */
#define MAX_BUFFER_FLAG_CONTIGUOUS 1
/** The buffer belongs to the host. */
#define MAX_BUFFER_FLAG_HOST 2
/** The memory is page-locked. */
#define MAX_BUFFER_FLAG_PINNED 4
/** The buffer cannot be written through this library. */
#define MAX_BUFFER_FLAG_READ_ONLY 8

/** Fields of a MaxBufferInfo that hold a value: a sum of MAX_BUFFER_INFO_* numbers. */
typedef uint64_t MaxBufferInfoMask;

/** dtype is known. */
#define MAX_BUFFER_INFO_DTYPE 1
/** rank and shape are known. */
#define MAX_BUFFER_INFO_SHAPE 2
/** strides is known. */
#define MAX_BUFFER_INFO_STRIDES 4
/** elementCount is known. */
#define MAX_BUFFER_INFO_ELEMENT_COUNT 8
/** byteCount and elementSize are known: all but strings. */
#define MAX_BUFFER_INFO_BYTES 16
/** address is known: all but strings. */
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
  /** Fields that hold a value. */
  MaxBufferInfoMask validMask;
  /** Element type. */
  MaxDType dtype;
  /** Number of dimensions. */
  int32_t rank;
  /** Dimensions, as many as `rank`. */
  const int64_t* shape;
  /** Distances between elements along each dimension, in elements. */
  const int64_t* strides;
  /** Number of elements; 1 for a scalar. */
  int64_t elementCount;
  /** Bytes that the elements take without gaps. */
  size_t byteCount;
  /** Bytes of one element; 1 for types below 8 bits. */
  size_t elementSize;
  /** Address of the first element, for maxMemoryCopy and kernels; what the host may reach, maxBufferGetData gives. */
  uint64_t address;
  /** Device that holds the buffer. */
  MaxDevice* device;
  /** Stream that the buffer is bound to. */
  MaxStream* stream;
  /** What holds for the buffer. */
  MaxBufferFlags flags;
  /** Zero. */
  int32_t reserved;
} MaxBufferInfo;

/** Initial value of a MaxBufferInfo. */
#define MAX_BUFFER_INFO_INIT \
  { sizeof(MaxBufferInfo), 0, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0 }

/** Tells the owner of borrowed memory that it is no longer used. */
typedef void (*MaxBufferReleaseFunction)(void* userData);

/** Options of maxBufferWrap. */
typedef struct MaxBufferWrapOptions {
  /** Size of this structure; set by MAX_BUFFER_WRAP_OPTIONS_INIT. */
  size_t structSize;
  /** Stream that the buffer is bound to; NULL = the device's default stream. */
  MaxStream* stream;
  /** Distance between elements along each dimension, in elements; NULL = dense, last dimension first. */
  const int64_t* strides;
  /** Called once when the memory is no longer used, from any thread; NULL = nothing is called. */
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

/** When the data of a DLPack tensor is copied. */
typedef int32_t MaxDlpackCopy;

/** Only if it must be: its address is not aligned to the element size. */
#define MAX_DLPACK_COPY_IF_NEEDED 0
/** Always. */
#define MAX_DLPACK_COPY_ALWAYS 1
/** Never: where it would have to be, the import fails. */
#define MAX_DLPACK_COPY_NEVER 2

/** Options of maxBufferFromDlpack and maxBufferFromDlpackUnversioned. */
typedef struct MaxDlpackOptions {
  /** Size of this structure; set by MAX_DLPACK_OPTIONS_INIT. */
  size_t structSize;
  /** Stream that the buffer is bound to; NULL = the default stream of the tensor's device. */
  MaxStream* stream;
  /** Whether the data is copied. */
  MaxDlpackCopy copy;
  /** Zero. */
  int32_t reserved;
  /** Stream with work that makes the data, which is waited for; NULL = the data is there. */
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
  /** Not 0 = neither waits: the consumer knows how to order its work. */
  int32_t noWait;
  /** Zero. */
  int32_t reserved;
} MaxDlpackExportOptions;

/** Initial value of a MaxDlpackExportOptions. */
#define MAX_DLPACK_EXPORT_OPTIONS_INIT \
  { sizeof(MaxDlpackExportOptions), NULL, 0, 0 }

/** How a file is mapped; as the modes of numpy.memmap. */
typedef int32_t MaxMapMode;

/** "r": the file is read, the buffer cannot be written. */
#define MAX_MAP_MODE_READ 0
/** "r+": the file is read and written, and extended where it is too short. */
#define MAX_MAP_MODE_READ_WRITE 1
/** "w+": as "r+" on a file that is made or emptied first. */
#define MAX_MAP_MODE_CREATE 2
/** "c": the buffer can be written, the file stays as it is. */
#define MAX_MAP_MODE_COPY_ON_WRITE 3

/** What the host does with mapped memory: a sum of MAX_HOST_ACCESS_* numbers. */
typedef int32_t MaxHostAccess;

/** The host reads. */
#define MAX_HOST_ACCESS_READ 1
/** The host writes; what it does not write keeps its value only if it reads too. */
#define MAX_HOST_ACCESS_WRITE 2
/** With READ or WRITE: nothing else may hold the memory, neither a reference, a view, an export nor queued work. */
#define MAX_HOST_ACCESS_EXCLUSIVE 4

/** One step of slicing, as between the brackets of numpy. */
typedef int32_t MaxSliceKind;

/** An index: `start` picks one element and the dimension goes away. */
#define MAX_SLICE_KIND_INDEX 0
/** A range start:stop:step; ends that lie outside are clamped. */
#define MAX_SLICE_KIND_RANGE 1
/** "...": all dimensions that no other step names; at most once. */
#define MAX_SLICE_KIND_ELLIPSIS 2
/** None: a new dimension of size 1. */
#define MAX_SLICE_KIND_NEW_AXIS 3

/** An end of a range that is left out: x[:3], x[3:], x[::2]. */
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
 * Allocates a buffer. Its content is undefined unless the options say `zeroed`.
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
 * Creates a buffer of strings in host memory; they are copied. The buffer is read-only.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the host.
 * @param[in] strings  As many as the shape has elements, in row-major order; their bytes may be any, UTF-8 is meant.
 * @param[in] lengths  Bytes of each string; NULL = they end with a NUL.
 * @retval MAX_STATUS_UNIMPLEMENTED  The device is not the host.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferCreateStrings(MaxDevice* device, const char* const* strings,
                                                       const size_t* lengths, int32_t rank, const int64_t* shape,
                                                       MaxBuffer** outBuffer);

/**
 * Creates a buffer of strings that lie one after another in one block; otherwise as maxBufferCreateStrings.
 *
 * Thread-safe.
 *
 * @param[in] bytes  All strings; copied. NULL if `byteCount` is 0.
 * @param[in] offsets  One more than the shape has elements: string i is what lies from offsets[i] to offsets[i + 1].
 * @retval MAX_STATUS_OUT_OF_RANGE  An offset lies outside the block or before the one in front of it.
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
 * @param[in] first  Element to begin with, in row-major order.
 * @param[in] count  Number of strings; zero is allowed and does nothing.
 * @param[out] outStrings  `count` strings: their bytes, followed by a NUL.
 * @param[out] outLengths  `count` numbers of bytes, without the NUL.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer holds no strings.
 * @retval MAX_STATUS_OUT_OF_RANGE  There are fewer elements.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetStrings(const MaxBuffer* buffer, int64_t first, int64_t count,
                                                    const char** outStrings, size_t* outLengths);

/**
 * Makes a buffer of memory that the caller owns.
 *
 * Borrowed until `options->release` is called; without it, until the last release of the buffer and of all views of
 * it, and the end of all work with them. If the call fails, the memory is the caller's as before and `release` is not
 * called. Thread-safe.
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
 * Makes a buffer of a DLPack tensor (DLPack 1.x).
 *
 * On success the buffer owns the tensor: its deleter is called when the memory is no longer used, or before this
 * function returns if the data was copied. On failure it stays with the caller, who still has to call its deleter.
 * Data is copied if the options say so or if its address is not aligned to the element size (a slice of a packed
 * record, a mapped file); strides are kept. Page-locked memory of CUDA and ROCm becomes a buffer of the host.
 * Thread-safe.
 *
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The data would have to be copied, and the options say never.
 * @retval MAX_STATUS_UNAVAILABLE  The tensor is on a device that is not there.
 * @retval MAX_STATUS_UNIMPLEMENTED  The tensor's version, type or device is not supported.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFromDlpack(struct DLManagedTensorVersioned* tensor,
                                                    const MaxDlpackOptions* options, MaxBuffer** outBuffer);

/**
 * Makes a buffer of a DLPack tensor without a version; otherwise as maxBufferFromDlpack.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFromDlpackUnversioned(struct DLManagedTensor* tensor,
                                                               const MaxDlpackOptions* options, MaxBuffer** outBuffer);

/**
 * Makes a DLPack tensor (1.x) that shares the buffer's memory.
 *
 * The tensor holds the memory until its deleter is called and the work is done that `options->stream` has then; later
 * accesses through this library come after that work. What the consumer does before, it orders itself. A read-only
 * buffer gives a tensor with the read-only flag. Thread-safe.
 *
 * @param[in] options  NULL = defaults: the call waits for work with the buffer.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is mapped to the host.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferToDlpack(const MaxBuffer* buffer, const MaxDlpackExportOptions* options,
                                                  struct DLManagedTensorVersioned** outTensor);

/**
 * Makes a DLPack tensor without a version; otherwise as maxBufferToDlpack.
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
 * Makes a host buffer of a part of a file.
 *
 * The file is mapped, so it must not shrink while the buffer lives. With modes "r" and "c" an offset that is not a
 * multiple of the element size gives a copy. Thread-safe.
 *
 * @param[in] offset  Bytes from the start of the file.
 * @retval MAX_STATUS_NOT_FOUND  There is no such file.
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
 * Fills a report on a buffer: type, shape, where it lies.
 *
 * Thread-safe. Pointers in it are borrowed from the buffer.
 *
 * @param[in,out] outInfo  Its structSize must be set; see MAX_BUFFER_INFO_INIT.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetInfo(const MaxBuffer* buffer, MaxBufferInfo* outInfo);

/**
 * Gets the address of the first element, for reading. It does not wait for work on the buffer: synchronize first.
 *
 * Thread-safe. Borrowed from the buffer. NULL if there are no elements.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The host cannot reach the memory; see maxBufferMapToHost.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetData(const MaxBuffer* buffer, const void** outData);

/**
 * Gets the address of the first element, for writing too; otherwise as maxBufferGetData.
 *
 * Thread-safe. Borrowed from the buffer.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The host cannot reach the memory, or the buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferGetMutableData(MaxBuffer* buffer, void** outData);

/**
 * Makes a view of a part of the buffer, as numpy's x[...] does with indices, ranges, "..." and None.
 *
 * The view shares the buffer's memory. Dimensions that are not named are taken whole. Thread-safe.
 *
 * @param[in] kinds  What each step is.
 * @param[in] starts  Index, or start of the range, of each step; MAX_SLICE_OMITTED = left out, negative = from the
 *            end. Not read for other kinds.
 * @param[in] stops  Stop of each range. NULL = all left out.
 * @param[in] steps  Step of each range; MAX_SLICE_OMITTED = 1. NULL = all 1.
 * @param[in] count  Number of steps.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index lies outside its dimension; the message names it.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There are too many steps, two ellipses, or a step of zero.
 * @retval MAX_STATUS_UNIMPLEMENTED  The elements have fewer than 8 bits and the view would not be contiguous or start
 *         within a byte.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferSlice(const MaxBuffer* buffer, const MaxSliceKind* kinds,
                                               const int64_t* starts, const int64_t* stops, const int64_t* steps,
                                               int32_t count, MaxBuffer** outView);

/**
 * Makes a view of the same memory with another type and shape.
 *
 * Thread-safe.
 *
 * @param[in] rank  -1 = the shape is deduced: the buffer's, with the last dimension scaled by the ratio of the element
 *            sizes.
 * @param[in] shape  One dimension may be -1 and is then deduced. NULL if `rank` is 0 or -1.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is not contiguous.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The sizes do not fit, or the address is not aligned for the type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferView(const MaxBuffer* buffer, MaxDType dtype, int32_t rank,
                                              const int64_t* shape, MaxBuffer** outView);

/**
 * Makes a contiguous copy of the buffer on its own device. It is always new memory.
 *
 * Asynchronous. Thread-safe.
 *
 * @param[in] options  NULL = defaults: the buffer's stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferContiguous(const MaxBuffer* buffer, const MaxBufferCopyOptions* options,
                                                    MaxBuffer** outBuffer);

/**
 * Makes a contiguous copy of the buffer on a device. It is always new memory.
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
 * Gives a buffer on a device: a new reference to this one if it is there already, else a copy.
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
 * Asynchronous, but pageable host memory may make it wait: both buffers are retained until it is done. Thread-safe.
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
 * Copies bytes from host memory into a contiguous buffer, in stream order, and returns when they are there.
 *
 * Thread-safe. The buffer is held meanwhile.
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
 * Copies bytes from a contiguous buffer into host memory, in stream order, and returns when they are there.
 *
 * Thread-safe. The buffer is held meanwhile. On failure parts may have been written.
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
 * Asynchronous, but pageable host memory may make it wait: both ranges are borrowed until it is done. Thread-safe.
 *
 * @param[in] byteCount  Zero is allowed and does nothing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An address is NULL, the kind is unknown, the ranges overlap or one has no end.
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
 * @param[in] valueSize  1, 2, 4, 8 or 16; it divides the buffer's bytes. A view that is not contiguous can be filled if
 *            this is its element size.
 * @param[in] stream  NULL = the buffer's stream.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The pattern has another size, or does not divide the buffer's bytes.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferFill(MaxBuffer* buffer, const void* value, size_t valueSize,
                                              MaxStream* stream);

/**
 * Gives the host access to the buffer's memory, or to a copy of it, until maxBufferUnmapFromHost.
 *
 * Waits for work with the buffer. Meanwhile whatever else would write the memory through this library is refused with
 * FAILED_PRECONDITION, whichever handle it comes by; while the host may write or has exclusive access, whatever would
 * read it too. A buffer can be mapped once at a time, and its memory by several buffers if all only read. A mapping
 * ends with the last reference of its buffer at the latest. Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer or its memory is mapped in a way that forbids it, the buffer is
 * not contiguous, it is read-only and `access` says that the host writes, something else holds the memory and `access`
 * is exclusive, or the call comes from a host function of the buffer's stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferMapToHost(MaxBuffer* buffer, MaxHostAccess access, void** outData);

/**
 * Ends the host's access; what it wrote is then in the buffer, in the order of the buffer's stream. Thread-safe.
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
 * @param[out] outElement  Elements below 8 bits are in the low bits of a byte.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index lies outside its dimension; the message names it.
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
 * @param[in] element  Elements below 8 bits are in the low bits of a byte.
 * @param[in] byteCount  The element size.
 * @retval MAX_STATUS_OUT_OF_RANGE  An index lies outside its dimension; the message names it.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The buffer is read-only.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxBufferWrite(MaxBuffer* buffer, const int64_t* indices, int32_t count,
                                               const void* element, size_t byteCount);

#ifdef __cplusplus
}
#endif

#endif
