# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions."""

from __future__ import annotations

from typing import Any

from max._raw import ffi, lib


class MaxError(RuntimeError, ValueError):
    """A call of the library failed.

    It is a `RuntimeError` and a `ValueError`, so that code that expects either one catches it. Some failures are
    more: a wrong index is an `IndexError`, too, what does not exist here is a `NotImplementedError`, memory that has
    run out is a `MemoryError`, a time limit that has passed is a `TimeoutError`.

    Attributes
    ----------
    status : str
        The reason as the library names it, for example ``"INVALID_ARGUMENT"``.
    message : str
        What is wrong; the first line is a summary, a compiler's log may follow.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.message)


class MaxIndexError(MaxError, IndexError):
    """An index or range lies outside its object."""


class MaxNotImplementedError(MaxError, NotImplementedError):
    """This build, version or device does not support it."""


class MaxMemoryError(MaxError, MemoryError):
    """Memory or another resource has run out."""


class MaxTimeoutError(MaxError, TimeoutError):
    """A time limit passed before the work was done."""

    def __str__(self) -> str:
        return self.message


_TYPES = {
    lib.MAX_STATUS_OUT_OF_RANGE: MaxIndexError,
    lib.MAX_STATUS_UNIMPLEMENTED: MaxNotImplementedError,
    lib.MAX_STATUS_RESOURCE_EXHAUSTED: MaxMemoryError,
    lib.MAX_STATUS_DEADLINE_EXCEEDED: MaxTimeoutError,
}


def error_of(status: int) -> MaxError:
    """The exception for a status that this thread's last call returned."""
    message = ffi.string(lib.maxGetLastErrorMessage()).decode(errors="replace")
    return _TYPES.get(status, MaxError)(ffi.string(lib.maxStatusGetName(status)).decode(), message)


def check(status: int) -> None:
    """Raises the exception of a status, unless it is OK."""
    if status:
        raise error_of(status)
