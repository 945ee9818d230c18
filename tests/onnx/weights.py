# SPDX-License-Identifier: Apache-2.0
"""Models in files, with the functions of the C API that are about their weights."""

import ctypes
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import library
from library import Failure, Handle, call  # noqa: F401

NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, DATA_LOSS = 5, 7, 9, 15
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED = 3, 8, 12


class LoadOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("names", ctypes.POINTER(ctypes.c_char_p)),
                ("weights", ctypes.POINTER(ctypes.c_void_p)), ("count", ctypes.c_int32),
                ("precision", ctypes.c_int32), ("copy", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class FileModel(library.Model):
    """A model loaded from a path (or bytes), with weights by name in place of its own."""

    def __init__(self, source, weights=None, copy=False, threads=2, precision=0):
        options = (ctypes.c_uint64 * 3)(24, 0, threads << 32)
        self.session, self.model = Handle("maxSessionRelease"), Handle("maxModelRelease")
        self.device = Handle("maxDeviceRelease")
        call("maxDeviceCreate", b"cpu", ctypes.c_int32(-1), None, ctypes.byref(self.device))
        call("maxSessionCreate", options, ctypes.byref(self.session))
        names, buffers, count = self.arrays(weights or {})
        load = LoadOptions(ctypes.sizeof(LoadOptions), names, buffers, count, precision, copy, 0)
        if isinstance(source, bytes):
            call("maxModelLoadFromMemory", self.session, source, ctypes.c_size_t(len(source)), ctypes.byref(load),
                 ctypes.byref(self.model))
        else:
            call("maxModelLoad", self.session, str(source).encode(), ctypes.byref(load), ctypes.byref(self.model))
        outputs = ctypes.c_int32()
        call("maxModelGetOutputCount", self.model, ctypes.byref(outputs))
        self.outputs = outputs.value
        self.takes_values = self.has_values("Input") or self.has_values("Output")

    def arrays(self, weights):
        """Names, buffers and count as the C API takes them. Arrays become buffers; buffers are taken as they are."""
        held = [value if isinstance(value, ctypes.c_void_p) else self.wrap(value) for value in weights.values()]
        self.held = [*getattr(self, "held", []), *held]  # calls under way may still use what was replaced
        names = (ctypes.c_char_p * len(weights))(*[name.encode() for name in weights])
        return names, (ctypes.c_void_p * len(weights))(*[buffer.value for buffer in held]), len(weights)

    def precision(self):
        value = ctypes.c_int32()
        call("maxModelGetPrecision", self.model, ctypes.byref(value))
        return value.value

    def replace(self, weights):
        names, buffers, count = self.arrays(weights)
        call("maxModelReplaceWeights", self.model, names, buffers, ctypes.c_int32(count))

    def save(self, path):
        call("maxModelSave", self.model, str(path).encode())


class WeightsFile:
    """The tensors of a .safetensors file or checkpoint."""

    def __init__(self, path):
        self.handle = Handle("maxWeightsRelease")
        call("maxWeightsLoad", str(path).encode(), ctypes.byref(self.handle))

    def names(self):
        count, name = ctypes.c_int32(), ctypes.c_char_p()
        call("maxWeightsGetCount", self.handle, ctypes.byref(count))
        names = []
        for i in range(count.value):
            call("maxWeightsGetName", self.handle, ctypes.c_int32(i), ctypes.byref(name))
            names.append(name.value.decode())
        return names

    def buffer(self, name):
        index, buffer = ctypes.c_int32(), ctypes.c_void_p()
        call("maxWeightsFind", self.handle, name.encode(), ctypes.byref(index))
        call("maxWeightsGetBuffer", self.handle, index, ctypes.byref(buffer))
        library._library.maxBufferRetain(buffer)
        return Handle("maxBufferRelease", buffer.value)

    def array(self, name):
        return library.array_of(self.buffer(name))


def safetensors(tensors, align=True):
    """The bytes of a .safetensors file of (name, format's type name, array)."""
    rows, data = {"__metadata__": {"format": "test"}}, b""
    for name, kind, array in tensors:
        raw = array.tobytes()
        rows[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    header = json.dumps(rows).encode()
    if align:
        header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data


def model_of(nodes, inputs, outputs, initializers=(), **options):
    """Bytes of a model; inputs and outputs are (name, shape) of float32, initialisers arrays or protos by name."""
    info = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side]
            for side in (inputs, outputs)]
    tensors = [value if isinstance(value, TensorProto) else numpy_helper.from_array(value, name)
               for name, value in dict(initializers).items()]
    graph = helper.make_graph(nodes, "test", *info, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9,
                             **options).SerializeToString()


def external(name, shape, location, dtype=TensorProto.FLOAT, **entries):
    """An initialiser whose data is elsewhere."""
    tensor = TensorProto(name=name, data_type=dtype, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor


def memory(field):
    """A field of this process's /proc status, in MB: VmHWM, VmRSS."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def reset_peak():
    """From here on VmHWM is the peak."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


if sys.byteorder != "little":
    raise SystemExit("these tests build files of little-endian numbers")
