# SPDX-License-Identifier: Apache-2.0
"""The host's access to a buffer while a block of a program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from max._error import check
from max._raw import ffi, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from max.driver.buffer import Buffer

_ACCESSES = {"r": lib.MAX_HOST_ACCESS_READ, "w": lib.MAX_HOST_ACCESS_WRITE}


class HostMapping:
    """What `Buffer.map_to_host` returns."""

    __slots__ = ("_access", "_array", "_buffer")

    def __init__(self, buffer: Buffer, access: str) -> None:
        if access not in ("r", "w", "rw"):
            raise ValueError(f'access must be "r", "w" or "rw", not {access!r}')
        self._buffer, self._access = buffer, access
        self._array: Optional[NDArray[Any]] = None

    def __enter__(self) -> NDArray[Any]:
        buffer = self._buffer
        if self._array is not None:
            raise RuntimeError("the mapping is in use")
        if buffer.is_host:
            array = buffer.to_numpy()
            out = ffi.new("void**")
            check(lib.maxBufferMapToHost(buffer._handle, sum(_ACCESSES[letter] for letter in self._access), out))
        else:
            if "w" in self._access and (buffer.is_read_only or not buffer.is_contiguous):
                raise ValueError("the buffer is read-only or not contiguous, so it cannot be written")
            array = buffer.to_numpy()
        if "w" not in self._access:
            array.flags.writeable = False
        self._array = array
        return array

    def __exit__(self, *error: object) -> None:
        array, self._array = self._array, None
        if self._buffer.is_host:
            check(lib.maxBufferUnmapFromHost(self._buffer._handle))
        elif array is not None and "w" in self._access:
            content = ffi.cast("void*", array.__array_interface__["data"][0])
            check(lib.maxBufferCopyFromHost(self._buffer._handle, 0, content, array.nbytes, ffi.NULL))
