# SPDX-License-Identifier: Apache-2.0
"""The library's messages as those of Python's logger "max"."""

from __future__ import annotations

from _thread import allocate_lock
from typing import Any

from max._error import check
from max._raw import ffi, lib
from max._text import text_of

# The library's levels as the module logging has them.
_LEVELS = {
    lib.MAX_LOG_LEVEL_TRACE: 5,
    lib.MAX_LOG_LEVEL_DEBUG: 10,
    lib.MAX_LOG_LEVEL_INFO: 20,
    lib.MAX_LOG_LEVEL_WARNING: 30,
    lib.MAX_LOG_LEVEL_ERROR: 40,
    lib.MAX_LOG_LEVEL_CRITICAL: 50,
}
_registering = allocate_lock()
_loggers: list[Any] = []  # the logger, as soon as messages are forwarded


def forward_messages() -> None:
    """Hands the messages to the logger from now on."""
    import logging

    with _registering:
        if _loggers:
            return
        check(lib.maxPythonForwardMessages())
        _loggers.append(logging.getLogger("max"))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def maxPythonMessage(user_data: Any, level: int, message: Any) -> None:
    for logger in _loggers:
        logger.log(_LEVELS.get(level, 20), "%s", text_of(message))
