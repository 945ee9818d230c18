# SPDX-License-Identifier: Apache-2.0
"""numpy's arrays as buffers. numpy is not imported for those who do not use it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional

from max._borrow import RETURN, lend, take_back
from max._error import check
from max._raw import ffi, lib
from max.dtype import DType

if TYPE_CHECKING:
    import numpy

_ndarray: Any = None


def is_numpy(value: object) -> bool:
    """Whether it is an array of numpy's."""
    global _ndarray
    if _ndarray is None:
        module = sys.modules.get("numpy")
        _ndarray = getattr(module, "ndarray", None)
        if _ndarray is None:
            return False
    return isinstance(value, _ndarray)


def buffer_of_numpy(array: numpy.ndarray[Any, Any], copy: Optional[bool] = None) -> Any:
    """A new MaxBuffer that shares an array's memory; an array that is not contiguous, aligned and native is copied."""
    import numpy

    if array.dtype.kind in "OUST":
        if copy is False:
            raise ValueError("strings are always copied, and copy is False")
        return _strings(array)
    dtype = DType.from_numpy(array.dtype)
    dense = array
    if not array.dtype.isnative:
        dense = array.astype(array.dtype.newbyteorder("="))
    flags = dense.flags
    if not (flags.c_contiguous and flags.aligned):
        dense = numpy.array(dense, order="C", copy=True, subok=False)
    if dense is not array and copy is False:
        raise ValueError(
            f"the array (strides {array.strides}, type {array.dtype}) is not contiguous, aligned and native, which"
            " needs a copy, and copy is False"
        )
    if copy and dense is array:
        dense = numpy.array(dense, order="C", copy=True, subok=False)
    return _wrapped(dense, dtype)


def _wrapped(array: numpy.ndarray[Any, Any], dtype: DType) -> Any:
    options = ffi.new("MaxBufferWrapOptions*", {"structSize": ffi.sizeof("MaxBufferWrapOptions"), "release": RETURN})
    options.readOnly = not array.flags.writeable
    options.userData = loan = lend(array)
    out = ffi.new("MaxBuffer**")
    data = ffi.cast("void*", array.__array_interface__["data"][0] if array.size else 0)
    status = lib.maxBufferWrap(ffi.NULL, data, dtype.value, array.ndim, array.shape, options, out)
    if status:
        take_back(loan)
    check(status)
    return out[0]


def _strings(array: numpy.ndarray[Any, Any]) -> Any:
    texts = [text if isinstance(text, bytes) else str(text).encode(errors="surrogateescape") for text in array.flat]
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    content = b"".join(texts)
    out = ffi.new("MaxBuffer**")
    data = ffi.from_buffer(content) if content else ffi.NULL
    check(lib.maxBufferCreateStringsFromBytes(ffi.NULL, data, len(content), offsets, array.ndim, array.shape, out))
    return out[0]


def strings_of(handle: Any, count: int) -> list[str]:
    """The elements of a MaxBuffer of strings; bytes that are no UTF-8 become surrogates."""
    strings, lengths = ffi.new("char const*[]", max(count, 1)), ffi.new("size_t[]", max(count, 1))
    check(lib.maxBufferGetStrings(handle, 0, count, strings, lengths))
    return [
        bytes(ffi.buffer(strings[i], lengths[i])).decode(errors="surrogateescape") if lengths[i] else ""
        for i in range(count)
    ]
