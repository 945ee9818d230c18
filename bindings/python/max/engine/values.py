# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of models as Python has them: arrays, lists, dicts (maps), None (an empty optional)."""

from __future__ import annotations

import numbers
from typing import Any

from max._error import check
from max._raw import ffi, lib
from max.driver._arrays import is_numpy
from max.driver.buffer import Buffer, wrap_buffer
from max.engine.tensor_spec import TensorSpec


def buffer_of(value: Any, spec: TensorSpec, position: int) -> Buffer:
    """The Buffer of what a caller gives for a tensor."""
    if isinstance(value, Buffer):
        return value
    if is_numpy(value):
        return Buffer.from_numpy(value)
    if hasattr(value, "__dlpack__"):
        return Buffer.from_dlpack(value)
    # numpy.bool_ is not a Number.
    is_scalar = isinstance(value, (numbers.Number, str)) or hasattr(value, "__array_interface__")
    if is_scalar and spec.dtype is not None:
        import numpy

        return Buffer.from_numpy(numpy.array(value, spec.dtype.to_numpy()))
    raise TypeError(
        f"input {position} ({spec.name!r}) must be a Buffer, an array that implements DLPack or a number, not"
        f" {type(value).__name__}"
    )


def _tensor(buffer: Buffer) -> Any:
    out = ffi.new("MaxValue**")
    check(lib.maxValueCreateTensor(buffer._handle, out))
    return ffi.gc(out[0], lib.maxValueRelease)


def _map(value: dict[Any, Any], spec: TensorSpec) -> Any:
    import numpy

    keys, values = list(value.keys()), list(value.values())
    key_type = object if keys and isinstance(keys[0], str) else numpy.int64
    holds_strings = spec.dtype is None or (values and isinstance(values[0], str))
    value_type = object if holds_strings or spec.dtype is None else spec.dtype.to_numpy()
    key_buffer = Buffer.from_numpy(numpy.array(keys, key_type))
    value_buffer = Buffer.from_numpy(numpy.array(values, value_type))
    out = ffi.new("MaxValue**")
    check(lib.maxValueCreateMap(key_buffer._handle, value_buffer._handle, out))
    return ffi.gc(out[0], lib.maxValueRelease)


def value_of(value: Any, spec: TensorSpec, position: int) -> Any:
    """A MaxValue of what a caller gives."""
    out = ffi.new("MaxValue**")
    if value is None:
        check(lib.maxValueCreateOptional(ffi.NULL, out))
    elif isinstance(value, dict):
        return _map(value, spec)
    elif isinstance(value, (list, tuple)):
        elements = [value_of(element, spec, position) for element in value]
        check(lib.maxValueCreateSequence(elements, len(elements), out))
    else:
        return _tensor(buffer_of(value, spec, position))
    return ffi.gc(out[0], lib.maxValueRelease)


def _borrowed_buffer(getter: Any, value: Any) -> Buffer:
    out = ffi.new("MaxBuffer**")
    check(getter(value, out))
    lib.maxBufferRetain(out[0])
    return wrap_buffer(out[0])


def python_of(value: Any) -> Any:
    """What Python has for a MaxValue that the caller keeps alive."""
    kind, count = ffi.new("MaxValueKind*"), ffi.new("int32_t*")
    check(lib.maxValueGetKind(value, kind))
    if kind[0] == lib.MAX_VALUE_KIND_TENSOR:
        return _borrowed_buffer(lib.maxValueGetBuffer, value)
    if kind[0] == lib.MAX_VALUE_KIND_MAP:
        keys = _borrowed_buffer(lib.maxValueGetMapKeys, value).to_numpy().tolist()
        return dict(zip(keys, _borrowed_buffer(lib.maxValueGetMapValues, value).to_numpy().tolist()))
    check(lib.maxValueGetCount(value, count))
    elements = ffi.new("MaxValue*[]", max(count[0], 1))
    check(lib.maxValueGetElements(value, 0, count[0], elements))
    found = [python_of(elements[i]) for i in range(count[0])]
    if kind[0] == lib.MAX_VALUE_KIND_OPTIONAL:
        return found[0] if found else None
    return found
