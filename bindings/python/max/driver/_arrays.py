# SPDX-License-Identifier: Apache-2.0
"""numpy's arrays as buffers. numpy is not imported for those who do not use it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional

from max._borrow import lend, take_back
from max._error import check, error_of
from max._raw import ffi, lib
from max.dtype import OF_NUMBER, DType

if TYPE_CHECKING:
    import numpy

_new, _from_buffer = ffi.new, ffi.from_buffer
_BUFFER = ffi.typeof("MaxBuffer**")
ndarray: Any = None  # numpy's, from the first use on


class _ElementTypes(dict[int, Any]):
    """numpy's types by the library's numbers, looked up once each."""

    def __missing__(self, number: int) -> numpy.dtype[Any]:
        global ndarray
        found = self[number] = OF_NUMBER[number].to_numpy()
        ndarray = sys.modules["numpy"].ndarray
        return found


element_types = _ElementTypes()


def numpy_class() -> Any:
    """numpy's class of arrays, or an empty tuple until numpy is imported."""
    global ndarray
    if ndarray is None:
        ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
    return ndarray or ()


def is_numpy(value: object) -> bool:
    """Whether it is an array of numpy's."""
    return isinstance(value, ndarray or numpy_class())


def array_of_strings(strings: list[str], shape: tuple[int, ...]) -> numpy.ndarray[Any, Any]:
    """An array of objects."""
    import numpy

    array = numpy.empty(len(strings), dtype=object)
    array[:] = strings
    return array.reshape(shape)


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
    data: Any
    try:
        data = _from_buffer(array)
        loan = lend(data)  # which holds the array, and keeps others from giving it other memory
    except (BufferError, ValueError):  # types that the protocol of buffers lacks
        data = ffi.cast("void*", array.__array_interface__["data"][0] if array.size else 0)
        loan = lend(array)
    read_only = not array.flags.writeable
    out = _new(_BUFFER)
    status = lib.maxPythonWrap(loan, data, dtype.value, array.ndim, array.shape, read_only, out)
    if status:
        take_back(loan)
        raise error_of(status)
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
    """The elements of a MaxBuffer of strings; bytes that are not UTF-8 become surrogates."""
    strings, lengths = ffi.new("char const*[]", max(count, 1)), ffi.new("size_t[]", max(count, 1))
    check(lib.maxBufferGetStrings(handle, 0, count, strings, lengths))
    return [
        bytes(ffi.buffer(strings[i], lengths[i])).decode(errors="surrogateescape") if lengths[i] else ""
        for i in range(count)
    ]
