# SPDX-License-Identifier: Apache-2.0
"""Lines of the user's program, for names of nodes and for messages."""

from __future__ import annotations

import os
import sys
from typing import TypeVar

from max._error import MaxError, error_of

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_Error = TypeVar("_Error", bound=Exception)


def caller() -> tuple[str, int]:
    """File and line of the first frame that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def node_name() -> str:
    """The name of a node that the user's line makes, "model.py:12"."""
    file, line = caller()
    return f"{os.path.basename(file)}:{line}"


def located(error: _Error) -> _Error:
    """The error with the user's line in its message."""
    file, line = caller()
    if isinstance(error, MaxError):
        return type(error)(error.status, f"{error.message} ({file}:{line})")
    return type(error)(f"{error} ({file}:{line})")


def check(status: int) -> None:
    """Raises the exception of a status, unless it is OK, with the user's line."""
    if status:
        raise located(error_of(status))
