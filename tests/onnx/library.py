# SPDX-License-Identifier: Apache-2.0
"""libmax.so through ctypes: just enough to run models on numpy arrays."""

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
for _name in ("maxBufferRelease", "maxModelRelease", "maxSessionRelease", "maxDeviceRelease"):
    getattr(_library, _name).restype = None

_numbers = re.findall(r"#define MAX_DTYPE_(\w+) \(\(MaxDType\)(\w+)\)", (ROOT / "include/max/dtype.h").read_text())
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


class Handle(ctypes.c_void_p):
    """A reference that is released with the object."""

    def __init__(self, release, value=None):
        super().__init__(value)
        self.release = release

    def __del__(self):
        if self.value:
            getattr(_library, self.release)(self)


class Model:
    """A model loaded from bytes; run() takes and gives lists of arrays."""

    def __init__(self, data, threads=2):
        options = (ctypes.c_uint64 * 3)()  # structSize, devices, deviceCount | numThreads << 32
        options[0], options[2] = 24, threads << 32
        self.session, self.model = Handle("maxSessionRelease"), Handle("maxModelRelease")
        self.device = Handle("maxDeviceRelease")
        call("maxDeviceCreate", b"cpu", ctypes.c_int32(-1), None, ctypes.byref(self.device))
        call("maxSessionCreate", options, ctypes.byref(self.session))
        call("maxModelLoadFromMemory", self.session, data, ctypes.c_size_t(len(data)), None, ctypes.byref(self.model))
        count = ctypes.c_int32()
        call("maxModelGetOutputCount", self.model, ctypes.byref(count))
        self.outputs = count.value

    def wrap(self, array):
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        buffer = Handle("maxBufferRelease")
        call("maxBufferWrap", self.device, ctypes.c_void_p(array.ctypes.data), ctypes.c_int32(DTYPES[array.dtype.name]),
             ctypes.c_int32(array.ndim), shape, None, ctypes.byref(buffer))
        return buffer

    def run(self, arrays):
        arrays = [np.asarray(array, order="C") for array in arrays]
        buffers = [self.wrap(array) for array in arrays]
        inputs = (ctypes.c_void_p * max(len(buffers), 1))(*[buffer.value for buffer in buffers])
        outputs = (ctypes.c_void_p * self.outputs)()
        call("maxModelExecute", self.model, inputs, ctypes.c_int32(len(buffers)), None, outputs,
             ctypes.c_int32(self.outputs))
        return [array_of(Handle("maxBufferRelease", pointer)) for pointer in outputs]


def array_of(buffer):
    dtype, rank, size = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_size_t()
    shape, data = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_void_p()
    call("maxBufferGetDType", buffer, ctypes.byref(dtype))
    call("maxBufferGetRank", buffer, ctypes.byref(rank))
    call("maxBufferGetShape", buffer, ctypes.byref(shape))
    call("maxBufferGetByteCount", buffer, ctypes.byref(size))
    call("maxBufferGetData", buffer, ctypes.byref(data))
    content = ctypes.string_at(data.value, size.value) if size.value else b""
    return np.frombuffer(content, dtype_named(NAMES[dtype.value])).reshape([shape[i] for i in range(rank.value)])
