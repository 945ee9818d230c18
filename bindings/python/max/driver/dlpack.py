# SPDX-License-Identifier: Apache-2.0
"""DLPack: arrays that libraries hand each other without a copy. See https://dmlc.github.io/dlpack."""

from __future__ import annotations

import functools
from typing import Any, Optional, Protocol, runtime_checkable

from max._borrow import Foreign
from max._error import check
from max._raw import ffi, lib

# DLDeviceType
_CPU, _CUDA, _CUDA_HOST, _ROCM, _ROCM_HOST = 1, 2, 3, 10, 11
# Of the newest version that the library knows.
_VERSION = (1, 0)


@runtime_checkable
class DLPackArray(Protocol):
    """An array of any library that implements DLPack: numpy, PyTorch, JAX, CuPy, `max.driver.Buffer`."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


@functools.lru_cache(maxsize=None)
def _capsules() -> tuple[Any, Any, Any, Any]:
    """PyCapsule_New, PyCapsule_IsValid, PyCapsule_GetPointer and PyCapsule_SetName."""
    import ctypes

    api = ctypes.pythonapi
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
    return (
        new(("PyCapsule_New", api)),
        valid(("PyCapsule_IsValid", api)),
        pointer(("PyCapsule_GetPointer", api)),
        name(("PyCapsule_SetName", api)),
    )


# A capsule only borrows its name, so these stay.
_NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
_USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}
_IMPORTS = {
    True: ("struct DLManagedTensorVersioned*", lib.maxBufferFromDlpack),
    False: ("struct DLManagedTensor*", lib.maxBufferFromDlpackUnversioned),
}
_EXPORTS = {
    True: ("struct DLManagedTensorVersioned**", lib.maxBufferToDlpack),
    False: ("struct DLManagedTensor**", lib.maxBufferToDlpackUnversioned),
}
_MODES = {None: lib.MAX_DLPACK_COPY_IF_NEEDED, True: lib.MAX_DLPACK_COPY_ALWAYS, False: lib.MAX_DLPACK_COPY_NEVER}


def _capsule_from(array: Any) -> Any:
    """What `array.__dlpack__` gives, asked as the newest convention has it, then as older ones have it."""
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{type(array).__name__} does not implement DLPack")
    options = {}
    if hasattr(array, "__dlpack_device__"):
        try:
            device_type = int(array.__dlpack_device__()[0])
        except (TypeError, ValueError, IndexError, KeyError):
            raise TypeError(f"{type(array).__name__}.__dlpack_device__ does not return a pair of numbers") from None
        if device_type in (_CUDA, _ROCM):
            # The producer makes the data ready for the default stream; ROCm calls it 0.
            options["stream"] = 1 if device_type == _CUDA else 0
    try:
        return array.__dlpack__(max_version=_VERSION, **options)
    except TypeError:
        return array.__dlpack__(**options)


def buffer_from_dlpack(array: Any, copy: Optional[bool]) -> Any:
    """A new MaxBuffer of an array."""
    out = ffi.new("MaxBuffer**")
    options = ffi.new("MaxDlpackOptions*", {"structSize": ffi.sizeof("MaxDlpackOptions"), "copy": _MODES[copy]})
    capsule = _capsule_from(array)
    _, is_valid, pointer_of, set_name = _capsules()
    for versioned, (pointer_type, function) in _IMPORTS.items():
        if not is_valid(capsule, _NAMES[versioned]):
            continue
        foreign = Foreign(ffi.cast("void*", pointer_of(capsule, _NAMES[versioned])), versioned)
        foreign.own()
        status = function(ffi.cast(pointer_type, foreign.tensor), options, out)
        if status:
            foreign.disown()
        check(status)
        set_name(capsule, _USED[versioned])
        return out[0]
    raise TypeError(f"{type(array).__name__}.__dlpack__ returned {capsule!r}, which is not an unused tensor")


def capsule_of(handle: Any, stream: Any, versioned: bool) -> Any:
    """A capsule that shares a buffer's memory. `stream`: see `Buffer.__dlpack__`."""
    options = ffi.new("MaxDlpackExportOptions*", {"structSize": ffi.sizeof("MaxDlpackExportOptions")})
    options.noWait = stream == -1
    pointer_type, function = _EXPORTS[versioned]
    out = ffi.new(pointer_type)
    check(function(handle, options, out))
    new = _capsules()[0]
    return new(int(ffi.cast("uintptr_t", out[0])), _NAMES[versioned], lib.maxPythonCapsuleDestructor())


def dlpack_device_of(api: str, id: int, pinned: bool) -> tuple[int, int]:
    """The pair of `__dlpack_device__`."""
    if api == "cpu":
        return (_CPU, 0)
    kinds = {"cuda": (_CUDA, _CUDA_HOST), "hip": (_ROCM, _ROCM_HOST)}[api]
    return (kinds[1] if pinned else kinds[0], id)
