# SPDX-License-Identifier: Apache-2.0
"""Devices: the host and accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib
from max._text import text_of

if TYPE_CHECKING:
    from max.driver.stream import DeviceStream

# How the fields of a device's statistics are called here, with the bits that say that they are known.
_STATS = {
    "free_memory": ("freeMemory", lib.MAX_DEVICE_STATS_FREE_MEMORY),
    "total_memory": ("totalMemory", lib.MAX_DEVICE_STATS_TOTAL_MEMORY),
    "allocated_memory": ("allocatedMemory", lib.MAX_DEVICE_STATS_ALLOCATED_MEMORY),
    "peak_allocated_memory": ("peakAllocatedMemory", lib.MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY),
    "memory_limit": ("memoryLimit", lib.MAX_DEVICE_STATS_MEMORY_LIMIT),
    "process_memory": ("processMemory", lib.MAX_DEVICE_STATS_PROCESS_MEMORY),
    "utilization": ("utilization", lib.MAX_DEVICE_STATS_UTILIZATION),
    "temperature": ("temperature", lib.MAX_DEVICE_STATS_TEMPERATURE),
    "power": ("power", lib.MAX_DEVICE_STATS_POWER),
}


def _device_id(id: int) -> int:
    if isinstance(id, bool) or not isinstance(id, int):
        raise TypeError(f"id must be an int, not {id!r}")
    if not -(2**31) <= id < 2**31:
        raise ValueError(f"id is {id}, which is out of range")
    return id


def _memory_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise TypeError(f"device_memory_limit must be an int, not {limit!r}")
    if limit != -1 and not 0 < limit < 2**63:
        raise ValueError(f"device_memory_limit must be a positive number of bytes, or -1, not {limit}")
    return 0 if limit == -1 else limit


# The first of each number stays open, with its memory limit, until the process ends.
_accelerators: dict[int, Device] = {}


class Device(Handle):
    """A device: the host or an accelerator. `CPU` and `Accelerator` make one.

    Devices are equal if they are the same device. They may be used from several threads.
    """

    __slots__ = ()
    _release = lib.maxDeviceRelease

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("Device is made by CPU() or Accelerator()")

    def _open(self, api: bytes, id: int, memory_limit: int = 0) -> None:
        out = ffi.new("MaxDevice**")
        options = ffi.new("MaxDeviceOptions*", {"structSize": ffi.sizeof("MaxDeviceOptions")})
        options.memoryLimit = memory_limit
        check(lib.maxDeviceCreate(api, id, options, out))
        self._own(out[0])

    @staticmethod
    def cpu(id: int = -1) -> CPU:
        """The host, as `CPU(id)`."""
        return CPU(id)

    @property
    def api(self) -> str:
        """API that programs the device: "cpu", "cuda" or "hip"."""
        return _text(self, lib.maxDeviceGetApi)

    @property
    def label(self) -> str:
        """Label of the device: "cpu" or "gpu". Label and id together name it: "gpu:0"."""
        return _text(self, lib.maxDeviceGetLabel)

    @property
    def architecture_name(self) -> str:
        """Architecture of an accelerator, for example "sm_90" or "gfx942"; raises for the host."""
        return _text(self, lib.maxDeviceGetArchitectureName)

    @property
    def name(self) -> str:
        """Name that the maker gave the device."""
        return _text(self, lib.maxDeviceGetName)

    @property
    def id(self) -> int:
        """Number of the device, from zero; always zero for the host."""
        return _int(self, lib.maxDeviceGetId)

    @property
    def is_host(self) -> bool:
        """Whether it is the host."""
        return bool(_int(self, lib.maxDeviceIsHost))

    @property
    def is_compatible(self) -> bool:
        """Whether models and kernels can run on the device."""
        return bool(_int(self, lib.maxDeviceIsCompatible))

    def can_access(self, other: Device) -> bool:
        """Whether the device can reach the memory of another one directly.

        Parameters
        ----------
        other : Device

        Returns
        -------
        bool
        """
        require_device(other)
        out = ffi.new("int32_t*")
        check(lib.maxDeviceCanAccess(self._handle, other._handle, out))
        return bool(out[0])

    @property
    def default_stream(self) -> DeviceStream:
        """Default stream of the device, a `DeviceStream`."""
        from max.driver.stream import wrap_stream

        out = ffi.new("MaxStream**")
        check(lib.maxDeviceGetDefaultStream(self._handle, out))
        return wrap_stream(out[0])

    @property
    def stats(self) -> dict[str, int]:
        """What is known of the device's memory and use: bytes of memory, percent, degrees Celsius, milliwatts."""
        stats = ffi.new("MaxDeviceStats*", {"structSize": ffi.sizeof("MaxDeviceStats")})
        check(lib.maxDeviceGetStats(self._handle, stats))
        return {name: getattr(stats, field) for name, (field, bit) in _STATS.items() if stats.validMask & bit}

    def synchronize(self) -> None:
        """Waits until all work on the device is done.

        Raises
        ------
        ValueError
            Work that was queued has failed.
        """
        check(lib.maxDeviceSynchronize(self._handle, 0))

    def __eq__(self, other: object) -> bool:
        return bool(self._handle == other._handle) if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return f"Device(type={self.label},id={self.id})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (CPU, ()) if self.is_host else (Accelerator, (self.id,))


class CPU(Device):
    """The host.

    Parameters
    ----------
    id : int, optional
        There is one host: -1 or 0.
    """

    __slots__ = ()

    def __init__(self, id: int = -1) -> None:
        self._open(b"cpu", _device_id(id))


class Accelerator(Device):
    """An accelerator (GPU). The same id gives the same device while it is in use.

    Parameters
    ----------
    id : int, optional
        Number of the device; -1, the default, is the first one.
    device_memory_limit : int, optional
        Most bytes that may be in use on it; -1, the default, is 99 % of the free memory. The first `Accelerator` of an
        id decides.

    Raises
    ------
    RuntimeError
        There is no such accelerator.
    """

    __slots__ = ()

    def __init__(self, id: int = -1, device_memory_limit: int = -1) -> None:
        self._open(b"gpu", _device_id(id), _memory_limit(device_memory_limit))
        _accelerators.setdefault(self.id, self)


def require_device(device: object) -> None:
    if not isinstance(device, Device):
        raise TypeError(f"{device!r} is not a Device")


def _text(device: Device, function: Any) -> str:
    out = ffi.new("char const**")
    check(function(device._handle, out))
    return text_of(out[0])


def _int(device: Device, function: Any) -> int:
    out = ffi.new("int32_t*")
    check(function(device._handle, out))
    return int(out[0])


def wrap_device(handle: Any) -> Device:
    """The device of a handle that belongs to something else."""
    out = ffi.new("int32_t*")
    check(lib.maxDeviceIsHost(handle, out))
    device: Device = object.__new__(CPU if out[0] else Accelerator)
    lib.maxDeviceRetain(handle)
    device._own(handle)
    return device


def accelerator_count() -> int:
    """Number of accelerators.

    Returns
    -------
    int
    """
    out = ffi.new("int32_t*")
    check(lib.maxDeviceGetCount(b"gpu", out))
    return int(out[0])


def accelerator_api() -> str:
    """API of the first accelerator, "cuda" or "hip"; "cpu" if there is none."""
    if accelerator_count() == 0:
        return "cpu"
    out = ffi.new("char const**")
    check(lib.maxAcceleratorGetApi(out))
    return text_of(out[0])


def accelerator_architecture_name() -> str:
    """Architecture of the first accelerator, for example "sm_90".

    Raises
    ------
    RuntimeError
        There is no accelerator.
    """
    out = ffi.new("char const**")
    check(lib.maxAcceleratorGetArchitectureName(out))
    return text_of(out[0])


def set_virtual_device_count(count: int) -> None:
    """Declares accelerators that are not there, to compile for them; 0 ends it."""
    check(lib.maxVirtualDeviceSetCount(count))


def set_virtual_device_api(api: str) -> None:
    """Sets the API of virtual devices, "cuda" or "hip"."""
    check(lib.maxVirtualDeviceSetApi(api.encode()))


def set_virtual_device_target_arch(name: str) -> None:
    """Sets the architecture of virtual devices, for example "sm_90"."""
    check(lib.maxVirtualDeviceSetArchitectureName(name.encode()))
