// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Allocates a buffer. Its contents are undefined unless `options->zeroed` is set."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `rank`: 0 = a scalar; `shape` may then be NULL."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: A dimension is negative or the size overflows."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: Memory or the device's memory limit has run out."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The dtype is MAX_DTYPE_STRING."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreate(
        device: *mut MaxDevice,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxBufferOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a read-only buffer of strings in host memory; the strings are copied."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `strings`: One per element, in row-major order. They should be UTF-8, but any bytes are allowed."]
    #[doc = " - `lengths`: Length of each string in bytes; NULL = NUL-terminated strings."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device is not the host."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreateStrings(
        device: *mut MaxDevice,
        strings: *const *const ::std::os::raw::c_char,
        lengths: *const usize,
        rank: i32,
        shape: *const i64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer of strings that are stored one after another in one block; otherwise like maxBufferCreateStrings."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `bytes`: All strings; copied. NULL if `byteCount` is 0."]
    #[doc = " - `offsets`: One more than there are elements: string i is the bytes from offsets\\[i\\] to offsets\\[i + 1\\]."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An offset is outside the block or smaller than the previous one."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreateStringsFromBytes(
        device: *mut MaxDevice,
        bytes: *const ::std::os::raw::c_void,
        byteCount: usize,
        offsets: *const i64,
        rank: i32,
        shape: *const i64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets strings of a buffer of strings."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `first`: Index of the first element, in row-major order."]
    #[doc = " - `count`: Number of strings; zero is allowed and does nothing."]
    #[doc = " - `outStrings`: `count` strings: their bytes, followed by a NUL."]
    #[doc = " - `outLengths`: `count` lengths in bytes, without the NUL."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer does not hold strings."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The buffer has fewer elements."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetStrings(
        buffer: *const MaxBuffer,
        first: i64,
        count: i64,
        outStrings: *mut *const ::std::os::raw::c_char,
        outLengths: *mut usize,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer over memory that the caller owns."]
    #[doc = ""]
    #[doc = " Borrowed until `options->release` is called; without it, until the buffer and all its views have been released and"]
    #[doc = " all work that uses them is done. If the call fails, the caller keeps the memory and `release` is not called."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `data`: In the memory of the device, aligned to the element size. NULL only if there are no elements."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferWrap(
        device: *mut MaxDevice,
        data: *mut ::std::os::raw::c_void,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxBufferWrapOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer from a DLPack tensor (DLPack 1.x)."]
    #[doc = ""]
    #[doc = " On success the buffer owns the tensor: its deleter is called when the memory is no longer in use, or before this"]
    #[doc = " function returns if the data was copied. On failure the caller keeps the tensor and still has to call its deleter."]
    #[doc = " Data is copied if the options say so or if its address is not aligned to the element size (a slice of a packed"]
    #[doc = " record, a mapped file); strides are kept. Page-locked CUDA or ROCm memory becomes a host buffer. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: A copy is necessary, and the options say never."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The tensor is on a device that does not exist here."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The tensor's version, type or device is not supported."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFromDlpack(
        tensor: *mut DLManagedTensorVersioned,
        options: *const MaxDlpackOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer from an unversioned DLPack tensor; otherwise like maxBufferFromDlpack."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFromDlpackUnversioned(
        tensor: *mut DLManagedTensor,
        options: *const MaxDlpackOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a DLPack tensor (1.x) that shares the buffer's memory."]
    #[doc = ""]
    #[doc = " The tensor holds the memory until its deleter is called and the work then on `options->stream` is done; later"]
    #[doc = " accesses through this library come after that work. Until then the consumer orders its own accesses. A read-only"]
    #[doc = " buffer gives a tensor with the read-only flag. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults: the call waits for work that uses the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is mapped to the host."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferToDlpack(
        buffer: *const MaxBuffer,
        options: *const MaxDlpackExportOptions,
        outTensor: *mut *mut DLManagedTensorVersioned,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an unversioned DLPack tensor; otherwise like maxBufferToDlpack."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only, which such a tensor cannot express."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferToDlpackUnversioned(
        buffer: *const MaxBuffer,
        options: *const MaxDlpackExportOptions,
        outTensor: *mut *mut DLManagedTensor,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Maps part of a file as a host buffer."]
    #[doc = ""]
    #[doc = " The file must not shrink while the buffer exists. With modes \"r\" and \"c\", an offset that is not a multiple of the"]
    #[doc = " element size makes a copy. Thread-safe."]
    #[doc = ""]
    #[doc = " - `offset`: Bytes from the start of the file."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The file is too short."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferMap(
        path: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        mode: MaxMapMode,
        offset: u64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reads a \".max\" checkpoint into a host buffer. Large files are mapped, so they must not shrink."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The file is not a checkpoint."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is truncated or damaged."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferLoad(path: *const ::std::os::raw::c_char, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes a buffer as a \".max\" checkpoint. The file appears whole or not at all."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `key`: Name of the tensor in the file; NULL = \"tensor\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferSave(
        buffer: *const MaxBuffer,
        path: *const ::std::os::raw::c_char,
        key: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRetain(buffer: *const MaxBuffer);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRelease(buffer: *const MaxBuffer);
}
unsafe extern "C" {
    #[doc = " Gets a buffer's properties: type, shape, location."]
    #[doc = ""]
    #[doc = " Thread-safe. Pointers in it are borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `outInfo`: Its structSize must be set; see MAX_BUFFER_INFO_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetInfo(buffer: *const MaxBuffer, outInfo: *mut MaxBufferInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for reading. Does not wait for work on the buffer: synchronize first."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer. NULL if there are no elements."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot access the memory; see maxBufferMapToHost."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetData(buffer: *const MaxBuffer, outData: *mut *const ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for reading and writing; otherwise like maxBufferGetData."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot access the memory, or the buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetMutableData(buffer: *mut MaxBuffer, outData: *mut *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a view of part of the buffer, like numpy's x\\[...\\] with indices, ranges, \"...\" and None."]
    #[doc = ""]
    #[doc = " The view shares the buffer's memory. Dimensions that no step covers are kept whole. Thread-safe."]
    #[doc = ""]
    #[doc = " - `kinds`: Kind of each step."]
    #[doc = " - `starts`: Index, or start of the range, of each step; MAX_SLICE_OMITTED = omitted, negative = from the end."]
    #[doc = "   Not read for other kinds."]
    #[doc = " - `stops`: Stop of each range. NULL = all omitted."]
    #[doc = " - `steps`: Step of each range; MAX_SLICE_OMITTED = 1. NULL = all 1."]
    #[doc = " - `count`: Number of steps."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are too many steps, two ellipses, or a step of zero."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The elements have fewer than 8 bits, and the view would not be contiguous or would"]
    #[doc = "   start within a byte."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferSlice(
        buffer: *const MaxBuffer,
        kinds: *const MaxSliceKind,
        starts: *const i64,
        stops: *const i64,
        steps: *const i64,
        count: i32,
        outView: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a view of the same memory with another type and shape."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `rank`: -1 = the shape is deduced: the buffer's, with the last dimension scaled by the ratio of the element"]
    #[doc = "   sizes."]
    #[doc = " - `shape`: One dimension may be -1 and is then deduced. NULL if `rank` is 0 or -1."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The sizes do not match, or the address is not aligned for the type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferView(
        buffer: *const MaxBuffer,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        outView: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies the buffer to new, contiguous memory on its own device."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults: the buffer's stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferContiguous(
        buffer: *const MaxBuffer,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies the buffer to new, contiguous memory on a device."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until the copy is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else of the buffer."]
    #[doc = " - `options`: NULL = defaults: the buffer's stream on its own device, else the default stream of `device`."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferClone(
        buffer: *const MaxBuffer,
        device: *mut MaxDevice,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the buffer on a device: a new reference if it is there already, else a copy."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until the copy is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `options`: NULL = defaults: the default stream of `device`."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferTo(
        buffer: *mut MaxBuffer,
        device: *mut MaxDevice,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes between two contiguous buffers, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous, but may wait for pageable host memory: both buffers are retained until it is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: NULL = the stream of `dst`."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: A range ends past its buffer; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The ranges overlap."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: A buffer is not contiguous, or `dst` is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopy(
        dst: *mut MaxBuffer,
        dstOffset: usize,
        src: *const MaxBuffer,
        srcOffset: usize,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes from host memory into a contiguous buffer, in stream order, and waits for the copy."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is retained meanwhile."]
    #[doc = ""]
    #[doc = " - `src`: Host memory that does not overlap the buffer's."]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: Of the buffer's device; NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range ends past the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous or read-only, or the call comes from a host"]
    #[doc = "   function of the stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopyFromHost(
        dst: *mut MaxBuffer,
        dstOffset: usize,
        src: *const ::std::os::raw::c_void,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes from a contiguous buffer into host memory, in stream order, and waits for the copy."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is retained meanwhile. On failure, `dst` may be partly written."]
    #[doc = ""]
    #[doc = " - `dst`: Host memory that does not overlap the buffer's."]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: Of the buffer's device; NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range ends past the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous, or the call comes from a host function of the"]
    #[doc = "   stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopyToHost(
        src: *const MaxBuffer,
        srcOffset: usize,
        dst: *mut ::std::os::raw::c_void,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes between two addresses, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous, but may wait for pageable host memory: both ranges are borrowed until it is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An address is NULL, the kind is unknown, the ranges overlap, or one exceeds the"]
    #[doc = "   address space."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxMemoryCopy(
        dst: *mut ::std::os::raw::c_void,
        src: *const ::std::os::raw::c_void,
        byteCount: usize,
        kind: MaxCopyKind,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Fills the buffer with a pattern, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until it is filled. Thread-safe."]
    #[doc = ""]
    #[doc = " - `value`: Copied by the call."]
    #[doc = " - `valueSize`: 1, 2, 4, 8 or 16, and a divisor of the buffer's size in bytes. For a view that is not"]
    #[doc = "   contiguous, it must be the element size."]
    #[doc = " - `stream`: NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The pattern has another size, or its size does not divide the buffer's."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFill(
        buffer: *mut MaxBuffer,
        value: *const ::std::os::raw::c_void,
        valueSize: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gives the host access to the buffer's memory, or to a copy of it, until maxBufferUnmapFromHost."]
    #[doc = ""]
    #[doc = " Waits for work that uses the buffer. While it is mapped, any other write to the memory through this library fails"]
    #[doc = " with FAILED_PRECONDITION, whichever handle it uses; so does any other read while the host may write or has exclusive"]
    #[doc = " access. A buffer can be mapped once at a time, and its memory through several buffers if all of them only read. A"]
    #[doc = " mapping ends with the last reference to its buffer at the latest. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: An existing mapping of the buffer or its memory forbids it, the buffer is not"]
    #[doc = "   contiguous, it is read-only and `access` includes writing, something else holds the memory and `access` is"]
    #[doc = "   exclusive, or the call comes from a host function of the buffer's stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferMapToHost(
        buffer: *mut MaxBuffer,
        access: MaxHostAccess,
        outData: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Ends the host's access. What the host wrote reaches the buffer in the order of the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not mapped."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferUnmapFromHost(buffer: *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reads one element."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `indices`: Negative = from the end. NULL if `count` is 0."]
    #[doc = " - `count`: The buffer's rank."]
    #[doc = " - `byteCount`: The element size."]
    #[doc = " - `outElement`: Elements of fewer than 8 bits are in the low bits of a byte."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRead(
        buffer: *const MaxBuffer,
        indices: *const i64,
        count: i32,
        byteCount: usize,
        outElement: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes one element."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream."]
    #[doc = ""]
    #[doc = " - `indices`: Negative = from the end. NULL if `count` is 0."]
    #[doc = " - `count`: The buffer's rank."]
    #[doc = " - `element`: Elements of fewer than 8 bits are in the low bits of a byte."]
    #[doc = " - `byteCount`: The element size."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferWrite(
        buffer: *mut MaxBuffer,
        indices: *const i64,
        count: i32,
        element: *const ::std::os::raw::c_void,
        byteCount: usize,
    ) -> MaxStatus;
}
