# SPDX-License-Identifier: Apache-2.0
"""libmax.so through ctypes: just enough to run models on numpy arrays, and on lists, None and dicts of them.

Elements below 8 bits are arrays of ml_dtypes here and packed there; strings are arrays of str or bytes objects."""

import ctypes
import os
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("MAX_LIBRARY", str(ROOT / "build/lib/libmax.so"))
UNIMPLEMENTED = 12

_library = ctypes.CDLL(LIBRARY)
_library.maxGetLastErrorMessage.restype = ctypes.c_char_p
for _name in ("maxBufferRelease", "maxModelRelease", "maxValueRelease", "maxSessionRelease", "maxDeviceRelease"):
    getattr(_library, _name).restype = None

_numbers = re.findall(r"#define MAX_DTYPE_(\w+) (\d+)$", (ROOT / "include/max/dtype.h").read_text(), re.M)
DTYPES = {name.lower(): int(number, 0) for name, number in _numbers}
NAMES = {number: name for name, number in DTYPES.items()}


class Failure(Exception):
    def __init__(self, status):
        super().__init__(_library.maxGetLastErrorMessage().decode())
        self.status = status


def call(name, *arguments):
    status = getattr(_library, name)(*arguments)
    if status:
        raise Failure(status)


def dtype_named(name):
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # bfloat16 and narrower ones
        return np.dtype(getattr(ml_dtypes, name))


class TensorInfo(ctypes.Structure):
    """MaxTensorInfo."""
    _fields_ = [("structSize", ctypes.c_size_t), ("validMask", ctypes.c_uint64), ("name", ctypes.c_char_p),
                ("typeName", ctypes.c_char_p), ("kind", ctypes.c_int32), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("reserved", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("dimensionNames", ctypes.POINTER(ctypes.c_char_p)), ("device", ctypes.c_void_p)]

    @classmethod
    def of(cls, getter, *arguments):
        info = cls(ctypes.sizeof(cls))
        call(getter, *arguments, ctypes.byref(info))
        return info


def graph_input_options(names):
    """MaxGraphInputOptions: structSize, dimensionNames, device."""
    texts = (ctypes.c_char_p * max(len(names), 1))(*names)
    options = (ctypes.c_size_t * 3)(24, ctypes.addressof(texts), 0)
    options.texts = texts
    return options


class Handle(ctypes.c_void_p):
    """A reference that is released with the object."""

    def __init__(self, release, value=None):
        super().__init__(value)
        self.release = release

    def __del__(self):
        if self.value:
            getattr(_library, self.release)(self)


class Model:
    """A model loaded from bytes or from the path of a file; run() takes and gives lists of arrays."""

    def __init__(self, data, threads=2, memory=0, weights_cache=None):
        folder = ctypes.create_string_buffer(os.fsencode(weights_cache)) if weights_cache is not None else None
        # structSize, devices, deviceCount | threadCount << 32, memoryLimit, weightsCacheDir
        self.load(data, (ctypes.c_uint64 * 5)(40, 0, threads << 32, memory, ctypes.addressof(folder) if folder else 0))

    def load(self, data, options):
        """`options`: MaxSessionOptions."""
        self.session, self.model = Handle("maxSessionRelease"), Handle("maxModelRelease")
        self.device = Handle("maxDeviceRelease")
        call("maxDeviceCreate", b"cpu", ctypes.c_int32(-1), None, ctypes.byref(self.device))
        call("maxSessionCreate", options, ctypes.byref(self.session))
        if isinstance(data, bytes):
            call("maxModelLoadFromMemory", self.session, data, ctypes.c_size_t(len(data)), None, ctypes.byref(self.model))
        else:
            call("maxModelLoad", self.session, os.fsencode(data), None, ctypes.byref(self.model))
        count = ctypes.c_int32()
        call("maxModelGetOutputCount", self.model, ctypes.byref(count))
        self.outputs = count.value
        self.takes_values = self.has_values("Input") or self.has_values("Output")

    def wrap(self, array):
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        buffer = Handle("maxBufferRelease")
        if array.dtype.kind in "OUS":
            texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel().tolist()]
            call("maxBufferCreateStrings", self.device, (ctypes.c_char_p * len(texts))(*texts),
                 (ctypes.c_size_t * len(texts))(*map(len, texts)), ctypes.c_int32(array.ndim), shape,
                 ctypes.byref(buffer))
            return buffer
        buffer.memory = packed(array)  # borrowed by the buffer
        call("maxBufferWrap", self.device, ctypes.c_void_p(buffer.memory.ctypes.data),
             ctypes.c_int32(DTYPES[array.dtype.name]), ctypes.c_int32(array.ndim), shape, None, ctypes.byref(buffer))
        return buffer

    def value(self, data):
        """An array, a list, None or a dict as a value."""
        value = Handle("maxValueRelease")
        if data is None:
            call("maxValueCreateOptional", None, ctypes.byref(value))
        elif isinstance(data, dict):
            keys = np.array(list(data), object if isinstance(next(iter(data), ""), str) else np.int64)
            value.parts = [self.wrap(keys), self.wrap(np.array(list(data.values())))]
            call("maxValueCreateMap", *value.parts, ctypes.byref(value))
        elif isinstance(data, list):
            value.parts = [self.value(part) for part in data]
            parts = (ctypes.c_void_p * len(data))(*[part.value for part in value.parts])
            call("maxValueCreateSequence", parts, ctypes.c_int32(len(data)), ctypes.byref(value))
        else:
            value.parts = self.wrap(np.asarray(data, order="C"))
            call("maxValueCreateTensor", value.parts, ctypes.byref(value))
        return value

    def run(self, inputs, deadline=0.0):
        """`deadline`: seconds, 0 = none."""
        options = (ctypes.c_uint64 * 5)(40, 0, 0, 0, int(deadline * 1e9))  # structSize, .., cancellation, deadline
        if self.takes_values:
            return self.run_values(inputs, options)
        arrays = [np.asarray(array, order="C") for array in inputs]
        buffers = [self.wrap(array) for array in arrays]
        pointers = (ctypes.c_void_p * max(len(buffers), 1))(*[buffer.value for buffer in buffers])
        outputs = (ctypes.c_void_p * self.outputs)()
        call("maxModelExecute", self.model, pointers, ctypes.c_int32(len(buffers)), options, outputs,
             ctypes.c_int32(self.outputs))
        return [array_of(Handle("maxBufferRelease", pointer)) for pointer in outputs]

    def run_values(self, inputs, options=None):
        values = [self.value(data) for data in inputs]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*[value.value for value in values])
        outputs = (ctypes.c_void_p * self.outputs)()
        call("maxModelExecuteValues", self.model, pointers, ctypes.c_int32(len(values)), options, outputs,
             ctypes.c_int32(self.outputs))
        return [data_of(Handle("maxValueRelease", pointer)) for pointer in outputs]

    def has_values(self, side):
        count = ctypes.c_int32()
        call(f"maxModelGet{side}Count", self.model, ctypes.byref(count))
        return any(TensorInfo.of(f"maxModelGet{side}", self.model, ctypes.c_int32(i)).kind for i in range(count.value))


def bits_of(dtype):
    """Bits of an element that is packed; 0 for others."""
    digits = re.match(r"(?:u?int|float)(\d+)", dtype.name)
    return int(digits[1]) if digits and int(digits[1]) < 8 else 0


def packed(array):
    bits = bits_of(array.dtype)
    if not bits:
        return array
    codes = array.ravel().view(np.uint8)
    return np.packbits((codes[:, None] >> np.arange(bits) & 1).ravel(), bitorder="little")


def unpacked(content, dtype, count):
    bits = bits_of(dtype)
    if not bits:
        return np.frombuffer(content, dtype)
    stream = np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")
    assert not stream[count * bits:].any(), "bits behind the last element are not zero"
    stream = stream[:count * bits].reshape(count, bits)
    codes = (stream.astype(np.int64) << np.arange(bits)).sum(1)
    if dtype.name.startswith("int"):
        codes = np.where(codes >> (bits - 1), codes - (1 << bits), codes)
    return codes.astype(np.int8 if dtype.name.startswith("int") else np.uint8).view(dtype)


def data_of(value):
    """What an output is: an array, a list, None or a dict."""
    kind, count = ctypes.c_int32(), ctypes.c_int32()
    call("maxValueGetKind", value, ctypes.byref(kind))
    if kind.value == 0:
        return array_of(borrowed("maxValueGetBuffer", value))
    if kind.value == 3:
        keys, values = borrowed("maxValueGetMapKeys", value), borrowed("maxValueGetMapValues", value)
        return dict(zip(array_of(keys).tolist(), array_of(values).tolist()))
    call("maxValueGetCount", value, ctypes.byref(count))
    elements = (ctypes.c_void_p * max(count.value, 1))()
    call("maxValueGetElements", value, ctypes.c_int32(0), count, elements)
    parts = [data_of(ctypes.c_void_p(elements[i])) for i in range(count.value)]
    return parts if kind.value == 1 else parts[0] if parts else None


def borrowed(getter, value, *arguments):
    pointer = ctypes.c_void_p()
    call(getter, value, *arguments, ctypes.byref(pointer))
    return pointer


class BufferInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mask", ctypes.c_uint64), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("elements", ctypes.c_int64), ("bytes", ctypes.c_size_t)]


def array_of(buffer):
    info, data = BufferInfo(ctypes.sizeof(BufferInfo)), ctypes.c_void_p()
    call("maxBufferGetInfo", buffer, ctypes.byref(info))
    dims = info.shape[:info.rank]
    if NAMES[info.dtype] == "string":
        return strings_of(buffer, dims)
    call("maxBufferGetData", buffer, ctypes.byref(data))
    content = ctypes.string_at(data.value, info.bytes) if info.bytes else b""
    return unpacked(content, dtype_named(NAMES[info.dtype]), int(np.prod(dims))).reshape(dims)


def strings_of(buffer, dims):
    count = int(np.prod(dims))
    texts, lengths = (ctypes.c_void_p * count)(), (ctypes.c_size_t * count)()
    call("maxBufferGetStrings", buffer, ctypes.c_int64(0), ctypes.c_int64(count), texts, lengths)
    return np.array([ctypes.string_at(*pair).decode() for pair in zip(texts, lengths)], object).reshape(dims)
