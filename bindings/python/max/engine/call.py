# SPDX-License-Identifier: Apache-2.0
"""What a call of a model hands to the library. It is kept for later calls, which mostly change addresses only."""

from __future__ import annotations

from typing import Any

from max._raw import ffi
from max.driver import _arrays
from max.driver.buffer import Buffer
from max.dtype import DType

_from_buffer = ffi.from_buffer


class _Numbers(dict[Any, int]):
    """The library's numbers of numpy's types, looked up once each."""

    def __missing__(self, dtype: Any) -> int:
        if not dtype.isnative:
            return 0
        try:
            number: int = DType.from_numpy(dtype).value
        except ValueError:
            number = 0  # strings and objects, which have no bytes
        self[dtype] = number
        return number


_numbers = _Numbers()


class Call:
    """The arrays of C that one call at a time uses."""

    __slots__ = ("_dtypes", "_shapes", "data", "handles", "kept", "numbers", "outputs", "ranks", "shapes")

    def __init__(self, inputs: int, outputs: int) -> None:
        self.handles = ffi.new("MaxBuffer*[]", inputs)
        self.data = ffi.new("void*[]", inputs)
        self.numbers = ffi.new("MaxDType[]", inputs)
        self.ranks = ffi.new("int32_t[]", inputs)
        self.shapes = ffi.new("int64_t*[]", inputs)
        self.outputs = ffi.new("MaxBuffer*[]", outputs)
        self.kept: list[Any] = [None] * inputs  # what `shapes` points at
        self._dtypes: list[Any] = [None] * inputs
        self._shapes: list[Any] = [None] * inputs

    def take_buffers(self, args: tuple[Any, ...]) -> bool:
        """Takes the inputs, if all of them are buffers."""
        handles, i = self.handles, 0
        for value in args:
            if not isinstance(value, Buffer):
                return False
            handles[i] = value._handle
            i += 1
        return True

    def take_arrays(self, args: tuple[Any, ...]) -> Any:
        """Takes the inputs, if all of them are numpy's arrays that lie as the library needs them.

        Returns what must live until the call is done, or None.
        """
        data, dtypes, shapes, i, views = self.data, self._dtypes, self._shapes, 0, []
        for value in args:
            if not isinstance(value, _arrays.ndarray or _arrays.numpy_class()):
                return None
            try:
                data[i] = view = _from_buffer(value)
            except (BufferError, ValueError):
                return None  # not contiguous
            views.append(view)
            if (value.dtype is not dtypes[i] or value.shape != shapes[i]) and not self._describe(i, value):
                return None
            i += 1
        return views

    def _describe(self, i: int, array: Any) -> bool:
        dtype, shape = array.dtype, array.shape
        number = _numbers[dtype]
        self._dtypes[i] = None
        if not number:
            return False
        self.kept[i] = self.shapes[i] = ffi.new("int64_t[]", shape)
        self.numbers[i], self.ranks[i] = number, len(shape)
        self._dtypes[i], self._shapes[i] = dtype, shape
        return True
