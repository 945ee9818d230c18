# SPDX-License-Identifier: Apache-2.0
"""Single elements of buffers, as bytes and as Python's numbers."""

from __future__ import annotations

import struct
from typing import Any

from max.dtype import DType

# How Python's module struct writes one element; other types go by way of numpy and ml_dtypes.
_FORMATS = {
    DType.bool: "?",
    DType.int8: "b",
    DType.int16: "h",
    DType.int32: "i",
    DType.int64: "q",
    DType.uint8: "B",
    DType.uint16: "H",
    DType.uint32: "I",
    DType.uint64: "Q",
    DType.float16: "e",
    DType.float32: "f",
    DType.float64: "d",
}


def packed(value: Any, dtype: DType) -> bytes:
    """The bytes of an element; those below 8 bits are in the low bits of a byte."""
    try:
        if dtype is DType.bool:
            value = bool(value)
        elif dtype.is_integral():
            value = value.__index__() if hasattr(value, "__index__") else int(value)
        if dtype in _FORMATS:
            return struct.pack("<" + _FORMATS[dtype], value)
        if dtype.is_integral():
            return _packed_bits(value, dtype)
        return _packed_by_numpy(value, dtype)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{value!r} does not fit into {dtype.name}: {error}") from None


def _packed_bits(value: int, dtype: DType) -> bytes:
    bits = dtype.size_in_bits
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.is_signed_integral() else (0, (1 << bits) - 1)
    if not lowest <= value <= highest:
        raise ValueError(f"{value} does not fit into {dtype.name}: it holds {lowest} to {highest}")
    return bytes([value & ((1 << bits) - 1)])


def _packed_by_numpy(value: Any, dtype: DType) -> bytes:
    import numpy

    return numpy.array(value, dtype.to_numpy()).reshape(()).tobytes()


def unpacked(content: bytes, dtype: DType) -> Any:
    """The int, float, bool or complex of an element."""
    if dtype in _FORMATS:
        return struct.unpack("<" + _FORMATS[dtype], content)[0]
    bits = dtype.size_in_bits
    if bits < 8:
        if dtype.is_float():
            raise ValueError(f"{dtype.name} has no Python type")
        value = content[0] & ((1 << bits) - 1)
        return value - (1 << bits) if dtype.is_signed_integral() and value >> (bits - 1) else value
    import numpy

    element = numpy.frombuffer(content, dtype.to_numpy())[0]
    return complex(element) if dtype.is_complex() else float(element)
