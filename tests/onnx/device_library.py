# SPDX-License-Identifier: Apache-2.0
"""library.py for models on an accelerator: arrays go to its memory and come back, those in lists and dicts stay on the host."""

import contextlib
import ctypes
import gc
import types

import numpy as np

import library
from library import Handle, call

_array_of = library.array_of


def device_named(api, number=-1, limit=0):
    device = Handle("maxDeviceRelease")
    options = (ctypes.c_uint64 * 2)(16, limit)  # structSize, memoryLimit
    call("maxDeviceCreate", api.encode(), ctypes.c_int32(number), options if limit else None, ctypes.byref(device))
    return device


@contextlib.contextmanager
def limited(api, limit):
    """The device has so many bytes meanwhile, if nothing else uses it."""
    gc.collect()
    device = device_named(api, limit=limit)
    yield
    del device
    gc.collect()


def stream_of(device):
    stream = Handle("maxStreamRelease")
    call("maxStreamCreate", device, None, ctypes.byref(stream))
    return stream


def moved(buffer, device):
    copy = Handle("maxBufferRelease")
    copy.source = buffer  # whose memory may be Python's
    call("maxBufferTo", buffer, device, None, ctypes.byref(copy))
    return copy


def written(buffer, array, stream=None):
    """Other contents, in stream order."""
    array = np.ascontiguousarray(array)
    call("maxBufferCopyFromHost", buffer, ctypes.c_size_t(0), ctypes.c_void_p(array.ctypes.data),
         ctypes.c_size_t(array.nbytes), stream)


def array_on_host(buffer):
    return _array_of(moved(buffer, device_named("cpu")))


library.array_of = array_on_host


class DeviceModel(library.Model):
    def __init__(self, data, api, limit=0):
        self.accelerator, self.nested = device_named(api), False
        devices = (ctypes.c_void_p * 1)(self.accelerator.value)
        # structSize, devices, deviceCount | threadCount << 32, memoryLimit
        self.load(data, (ctypes.c_uint64 * 4)(32, ctypes.addressof(devices), 1 | 2 << 32, limit))

    def execute(self, buffers, stream=None, function="maxModelExecute", arguments=(), given=None, timeout=0):
        kept = (ctypes.c_void_p * len(given))(*[buffer.value for buffer in given]) if given else None
        # structSize, stream, outputs, cancellation, timeoutNs
        options = (ctypes.c_uint64 * 5)(40, stream.value if stream else 0, ctypes.addressof(kept) if given else 0, 0, timeout)
        pointers = (ctypes.c_void_p * len(buffers))(*[buffer.value for buffer in buffers])
        outputs = (ctypes.c_void_p * self.outputs)()
        call(function, self.model, *arguments, pointers, ctypes.c_int32(len(buffers)), options, outputs,
             ctypes.c_int32(self.outputs))
        return [Handle("maxBufferRelease", pointer) for pointer in outputs]

    def capture(self, buffers, stream=None, key=1, given=None):
        return self.execute(buffers, stream, "maxModelCapture", [ctypes.c_uint64(key)], given)

    def again(self, function, buffers, stream=None, key=1):
        """maxModelReplay or maxModelVerifyReplay."""
        options = (ctypes.c_uint64 * 5)(40, stream.value if stream else 0)
        pointers = (ctypes.c_void_p * len(buffers))(*[buffer.value for buffer in buffers])
        call(function, self.model, ctypes.c_uint64(key), pointers, ctypes.c_int32(len(buffers)), options)

    def replay(self, buffers, stream=None, key=1):
        self.again("maxModelReplay", buffers, stream, key)

    def forget(self, key=1):
        call("maxModelForgetCaptured", self.model, ctypes.c_uint64(key))

    def run_on(self, stream, arrays):
        buffers = [self.wrap(array) for array in arrays]
        outputs = self.execute(buffers, stream)
        del buffers  # the queued work keeps what it needs
        return [library.array_of(output) for output in outputs]

    def wrap(self, array):
        buffer = super().wrap(array)
        return buffer if self.nested or array.dtype.kind in "OUS" else moved(buffer, self.accelerator)

    def value(self, data):
        outer, self.nested = self.nested, self.nested or isinstance(data, (list, dict))
        try:
            return super().value(data)
        finally:
            self.nested = outer


@contextlib.contextmanager
def used_by(module, api):
    """The module's models, by its name `library`, are on the accelerator meanwhile."""
    here = module.library
    module.library = types.SimpleNamespace(**{**vars(here), "Model": lambda data: DeviceModel(data, api)})
    try:
        yield
    finally:
        module.library = here
