# SPDX-License-Identifier: Apache-2.0
"""Memory of Python's objects that the library uses, and how the objects are let go.

The library gives memory back from any thread, also while Python goes down. It then waits in a list of raw/support.c
until a thread of Python's collects it here.
"""

from __future__ import annotations

import atexit
import os
from typing import Any

from max._raw import ffi, lib

# Owners by the address of what the library was told. What it still uses when Python goes down is never freed: work in
# streams may go on until the process ends.
_owners: dict[int, Any] = {}
lib.maxPythonKeep(id(_owners))
atexit.register(lib.maxPythonClose)
os.register_at_fork(after_in_child=lib.maxPythonForked)

_BORROWED = ffi.typeof("struct maxPythonBorrowed*")
_FOREIGN = ffi.typeof("struct maxPythonForeign*")
_ADDRESS = ffi.typeof("uintptr_t")


def lend(owner: Any) -> Any:
    """Keeps an object until the library gives back what this returns (maxPythonWrap)."""
    collect()
    item = ffi.new(_BORROWED)
    _owners[int(ffi.cast(_ADDRESS, item))] = item, owner
    return item


def take_back(item: Any) -> None:
    """Ends a loan that has not begun."""
    _owners.pop(int(ffi.cast(_ADDRESS, item)), None)


def collect(
    _owners: dict[int, Any] = _owners, _ADDRESS: Any = _ADDRESS, _cast: Any = ffi.cast, _lib: Any = lib
) -> None:
    """Lets go what the library has given back. The defaults are for the end of the process, when modules are empty."""
    item = _lib.maxPythonTakeReturned()
    while item:
        address, item = int(_cast(_ADDRESS, item)), item.next
        _owners.pop(address, None)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def maxPythonCollect() -> None:
    collect()


class Foreign:
    """A tensor of another library's: what the library is told of it, and its deletion."""

    __slots__ = ("_address", "_item", "_owned")

    def __init__(self, original: Any, versioned: bool) -> None:
        self._item = ffi.new(_FOREIGN)
        self._address = int(ffi.cast(_ADDRESS, self._item))
        self._owned = False
        lib.maxPythonSetForeign(self._item, original, versioned)

    @property
    def tensor(self) -> Any:
        """For maxBufferFromDlpack."""
        return lib.maxPythonForeignTensor(self._item)

    def own(self) -> None:
        """The tensor is deleted when the library has given it back."""
        self._owned = True
        _owners[self._address] = self

    def disown(self) -> None:
        """The import has failed: the tensor belongs to its capsule again."""
        self._owned = False
        _owners.pop(self._address, None)

    def __del__(self, _delete: Any = lib.maxPythonDeleteForeign) -> None:
        if getattr(self, "_owned", False):
            self._owned = False
            _delete(self._item)
