# SPDX-License-Identifier: Apache-2.0
"""Objects of the library, which are released with the objects of Python that hold them."""

from __future__ import annotations

from typing import Any, ClassVar


class Handle:
    """Holds a reference to an object of the library. After its release, which garbage of cycles may see, it is None."""

    __slots__ = ("__weakref__", "_handle")
    _handle: Any
    _release: ClassVar[Any]

    def _own(self, handle: Any) -> None:
        """Takes over a reference."""
        if hasattr(self, "_handle"):
            self._release(handle)
            raise TypeError(f"a {type(self).__name__} is made once")
        self._handle = handle

    def __del__(self) -> None:
        try:
            handle, self._handle = self._handle, None
        except AttributeError:  # it was never made
            return
        if handle is not None:
            self._release(handle)
