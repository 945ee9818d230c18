# SPDX-License-Identifier: Apache-2.0
"""Streams: queues whose work runs in order."""

from __future__ import annotations

from typing import Any, Optional, Union, overload

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib
from max.driver.device import Device, require_device, wrap_device
from max.driver.event import DeviceEvent


class DeviceStream(Handle):
    """A queue of work on a device. Work on it runs in order; streams run side by side.

    Parameters
    ----------
    device : Device
        The device to work on.
    """

    __slots__ = ()
    _release = lib.maxStreamRelease

    def __init__(self, device: Device) -> None:
        require_device(device)
        out = ffi.new("MaxStream**")
        check(lib.maxStreamCreate(device._handle, ffi.NULL, out))
        self._own(out[0])

    @property
    def device(self) -> Device:
        """The device that the stream works on."""
        out = ffi.new("MaxDevice**")
        check(lib.maxStreamGetDevice(self._handle, out))
        return wrap_device(out[0])

    def synchronize(self) -> None:
        """Waits until all work on the stream is done.

        Raises
        ------
        ValueError
            Work that was queued has failed.
        """
        check(lib.maxStreamSynchronize(self._handle, 0))

    def wait_for(
        self, stream: Optional[Union[DeviceStream, Device]] = None, *, device: Optional[Device] = None
    ) -> None:
        """Makes later work wait for all work that is now on another stream, or on a device's default stream.

        Parameters
        ----------
        stream : DeviceStream or Device
            A device also by the name `device`.
        """
        if (stream is None) == (device is None):
            raise TypeError("wait_for() takes one stream or device")
        stream = device if stream is None else stream
        if isinstance(stream, Device):
            check(lib.maxStreamWaitForDevice(self._handle, stream._handle))
        elif isinstance(stream, DeviceStream):
            check(lib.maxStreamWaitForStream(self._handle, stream._handle))
        else:
            raise TypeError(f"{stream!r} is neither a DeviceStream nor a Device")

    @overload
    def record_event(self) -> DeviceEvent: ...

    @overload
    def record_event(self, event: DeviceEvent) -> None: ...

    def record_event(self, event: Optional[DeviceEvent] = None) -> Optional[DeviceEvent]:
        """Records an event: it is ready when all work that is now on the stream is done.

        Parameters
        ----------
        event : DeviceEvent, optional
            The event to record; without one a new event is made and returned.

        Raises
        ------
        ValueError
            The event belongs to another device.
        """
        if event is not None and not isinstance(event, DeviceEvent):
            raise TypeError(f"{event!r} is not a DeviceEvent")
        recorded = event if event is not None else DeviceEvent(self.device)
        check(lib.maxStreamRecordEvent(self._handle, recorded._handle))
        return recorded if event is None else None

    def __eq__(self, other: object) -> bool:
        return bool(self._handle == other._handle) if isinstance(other, DeviceStream) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return f"DeviceStream(device={self.device!r})"


def wrap_stream(handle: Any) -> DeviceStream:
    """The stream of a handle that belongs to something else."""
    stream: DeviceStream = object.__new__(DeviceStream)
    lib.maxStreamRetain(handle)
    stream._own(handle)
    return stream
