# SPDX-License-Identifier: Apache-2.0
"""What ends loads and calls before they are done."""

from __future__ import annotations

from typing import Any, Optional

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib


class Cancellation(Handle):
    """Stops executions that were given it, from another thread."""

    __slots__ = ()
    _release = lib.maxCancellationRelease

    def __init__(self) -> None:
        out = ffi.new("MaxCancellation**")
        check(lib.maxCancellationCreate(out))
        self._own(out[0])

    def cancel(self) -> None:
        """Stops them, those that run and those that begin later."""
        check(lib.maxCancellationCancel(self._handle))


def set_limits(options: Any, timeout: Optional[float], cancellation: Optional[Cancellation]) -> None:
    """Puts a time limit in seconds, and what stops it, into the options of a load or a call."""
    if timeout is not None:
        if not isinstance(timeout, (int, float)):
            raise TypeError(f"timeout must be a number of seconds, not {timeout!r}")
        if not 0 < timeout < 2**33:
            raise ValueError(f"timeout must be a positive number of seconds, not {timeout!r}")
        options.timeoutNs = max(1, int(timeout * 1e9))
    if cancellation is not None:
        if not isinstance(cancellation, Cancellation):
            raise TypeError(f"{cancellation!r} is not a Cancellation")
        options.cancellation = cancellation._handle
