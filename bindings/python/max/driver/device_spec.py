# SPDX-License-Identifier: Apache-2.0
"""Names of devices, before they are opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union

from max._error import check
from max._raw import ffi, lib
from max._text import text_of
from max.driver.device import CPU, Accelerator, Device, accelerator_count


class DeviceSpec:
    """Type and number of a device. It does not change, and is equal to others of the same type and number.

    Parameters
    ----------
    id : int
    device_type : "cpu" or "gpu"
    """

    __slots__ = ("device_type", "id")
    id: int
    device_type: Literal["cpu", "gpu"]

    def __init__(self, id: int, device_type: Literal["cpu", "gpu"] = "cpu") -> None:
        if isinstance(id, bool) or not isinstance(id, int):
            raise TypeError(f"id must be an int, not {id!r}")
        if device_type not in ("cpu", "gpu"):
            raise ValueError(f'device_type must be "cpu" or "gpu", not {device_type!r}')
        if device_type == "gpu" and id < 0:
            raise ValueError(f"id is {id}; accelerators are counted from 0")
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "device_type", device_type)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a DeviceSpec cannot change: {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceSpec):
            return NotImplemented
        return (self.id, self.device_type) == (other.id, other.device_type)

    def __hash__(self) -> int:
        return hash((self.id, self.device_type))

    def __repr__(self) -> str:
        return f"DeviceSpec(id={self.id}, device_type={self.device_type!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return DeviceSpec, (self.id, self.device_type)

    @staticmethod
    def cpu(id: int = -1) -> DeviceSpec:
        """The host's."""
        return DeviceSpec(id, "cpu")

    @staticmethod
    def accelerator(id: int = 0) -> DeviceSpec:
        """An accelerator's."""
        return DeviceSpec(id, "gpu")


def scan_available_devices() -> list[DeviceSpec]:
    """All accelerators if there are any, else the host.

    Returns
    -------
    list of DeviceSpec
    """
    count, label, id = ffi.new("int32_t*"), ffi.new("char const**"), ffi.new("int32_t*")
    check(lib.maxDeviceScan(count))
    specs = []
    for index in range(count[0]):
        check(lib.maxDeviceGetScanned(index, label, id))
        specs.append(DeviceSpec(id[0], "gpu" if text_of(label[0]) == "gpu" else "cpu"))
    return specs


def devices_exist(devices: Iterable[DeviceSpec]) -> bool:
    """Whether all these devices are there.

    Parameters
    ----------
    devices : list of DeviceSpec

    Returns
    -------
    bool
    """
    return all(spec.id < (accelerator_count() if spec.device_type == "gpu" else 1) for spec in devices)


def load_devices(device_specs: Iterable[DeviceSpec]) -> list[Device]:
    """Opens devices.

    Parameters
    ----------
    device_specs : sequence of DeviceSpec

    Returns
    -------
    list of Device
    """
    return [CPU(spec.id) if spec.device_type == "cpu" else Accelerator(spec.id) for spec in device_specs]


def calculate_virtual_device_count(*device_spec_lists: Iterable[DeviceSpec]) -> int:
    """Fewest virtual devices that these specs need: the largest number of an accelerator plus 1, at least 1.

    Parameters
    ----------
    *device_spec_lists : list of DeviceSpec

    Returns
    -------
    int
    """
    return 1 + max((spec.id for specs in device_spec_lists for spec in specs if spec.device_type == "gpu"), default=0)


def _ids(device_input: Union[str, Sequence[int]]) -> list[int]:
    if not isinstance(device_input, str):
        return list(device_input)
    label, _, ids = device_input.partition(":")
    return [int(id) for id in ids.split(",") if id.strip().isdecimal()] if label == "gpu" else []


def calculate_virtual_device_count_from_cli(*device_inputs: Union[str, Sequence[int]]) -> int:
    """As `calculate_virtual_device_count`, of what a command line says: "gpu:0,1,2", "cpu", or a list of numbers.

    Parameters
    ----------
    *device_inputs : str or list of int

    Returns
    -------
    int
    """
    return 1 + max((id for device_input in device_inputs for id in _ids(device_input)), default=0)
