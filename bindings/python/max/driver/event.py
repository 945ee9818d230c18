# SPDX-License-Identifier: Apache-2.0
"""Events: marks in streams that can be waited for and timed."""

from __future__ import annotations

from max._error import check
from max._handle import Handle
from max._raw import ffi, lib
from max.driver.device import Device, require_device


class DeviceEvent(Handle):
    """A mark in a stream; `DeviceStream.record_event` sets it. One that was never recorded counts as ready.

    Parameters
    ----------
    device : Device
        Device of the streams that it is recorded on.
    enable_timing : bool, optional
        Whether it remembers the time, for `elapsed_time`.
    """

    __slots__ = ()
    _release = lib.maxEventRelease

    def __init__(self, device: Device, enable_timing: bool = False) -> None:
        require_device(device)
        options = ffi.new("MaxEventOptions*", {"structSize": ffi.sizeof("MaxEventOptions")})
        options.timing = bool(enable_timing)
        out = ffi.new("MaxEvent**")
        check(lib.maxEventCreate(device._handle, options, out))
        self._own(out[0])

    def synchronize(self) -> None:
        """Waits until the newest mark is reached."""
        check(lib.maxEventSynchronize(self._handle, 0))

    def is_ready(self) -> bool:
        """Whether the newest mark is reached; does not wait.

        Returns
        -------
        bool
        """
        out = ffi.new("int32_t*")
        check(lib.maxEventQuery(self._handle, out))
        return bool(out[0])

    def elapsed_time(self, end: DeviceEvent) -> float:
        """Milliseconds from this event to `end`; negative if `end` was reached first.

        Raises
        ------
        ValueError
            An event has no timing, was never recorded or is not ready.
        """
        if not isinstance(end, DeviceEvent):
            raise TypeError(f"{end!r} is not a DeviceEvent")
        out = ffi.new("int64_t*")
        check(lib.maxEventGetElapsedTime(self._handle, end._handle, out))
        return float(out[0] / 1e6)
