# SPDX-License-Identifier: Apache-2.0
"""A load that goes on: who is told of it, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Optional

from max._raw import ffi, lib
from max._text import text_of
from max.engine.limits import Cancellation, set_limits


class Load:
    """Tells of a load while a ``with`` block runs it, and raises at its end what came up meanwhile, Ctrl-C included."""

    __slots__ = ("_failure", "_handle", "_progress", "_stop")

    def __init__(
        self,
        options: Any,
        progress: Optional[Callable[[float, str], object]],
        timeout: Optional[float],
        cancellation: Optional[Cancellation],
    ) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of a fraction and a str, not {progress!r}")
        self._failure: Optional[BaseException] = None
        self._progress = progress
        self._stop = Cancellation() if cancellation is None else cancellation
        set_limits(options, timeout, self._stop)
        self._handle = ffi.new_handle(self)
        lib.maxPythonSetProgress(options, self._handle)

    def tell(self, fraction: float, phase: str) -> None:
        """Reports the progress of the load. Also handles signals that arrived meanwhile."""
        if self._progress is not None and self._failure is None:
            self._progress(fraction, phase)

    def fail(self, failure: BaseException) -> None:
        """Ends the load."""
        if self._failure is None:
            self._failure = failure
            self._stop.cancel()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: Optional[BaseException], traceback: Optional[TracebackType]) -> None:
        failure, self._failure, self._handle = self._failure, None, None
        if failure is not None:
            raise failure


def _failed(kind: object, failure: BaseException, traceback: TracebackType) -> None:
    ffi.from_handle(traceback.tb_frame.f_locals["user_data"]).fail(failure)


@ffi.def_extern(onerror=_failed)  # type: ignore[untyped-decorator]
def maxPythonProgress(user_data: Any, fraction: float, phase: Any) -> None:
    ffi.from_handle(user_data).tell(fraction, text_of(phase))
