# SPDX-License-Identifier: Apache-2.0
"""Devices, buffers in their memory, and kernels."""

from max.driver.buffer import Buffer, load_max_buffer
from max.driver.device import (
    CPU,
    Accelerator,
    Device,
    accelerator_api,
    accelerator_architecture_name,
    accelerator_count,
)
from max.driver.device_spec import (
    DeviceSpec,
    calculate_virtual_device_count,
    calculate_virtual_device_count_from_cli,
    devices_exist,
    load_devices,
    scan_available_devices,
)
from max.driver.dlpack import DLPackArray
from max.driver.event import DeviceEvent
from max.driver.kernel import Kernel, Module, execution_time
from max.driver.stream import DeviceStream
from max.driver.weights import load_weights

__all__ = [
    "CPU",
    "Accelerator",
    "Buffer",
    "DLPackArray",
    "Device",
    "DeviceEvent",
    "DeviceSpec",
    "DeviceStream",
    "Kernel",
    "Module",
    "accelerator_api",
    "accelerator_architecture_name",
    "accelerator_count",
    "calculate_virtual_device_count",
    "calculate_virtual_device_count_from_cli",
    "devices_exist",
    "execution_time",
    "load_devices",
    "load_max_buffer",
    "load_weights",
    "scan_available_devices",
]
