# SPDX-License-Identifier: Apache-2.0
"""Models on their way to Ray's workers, and what is open there."""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple, Optional, Union

import ray

from max._text import PathType
from max.driver import CPU, Accelerator, Device
from max.engine import InferenceSession, Model
from max.engine.origin import Origin, open_once

ModelLike = Union[Model, PathType]


class Reference(NamedTuple):
    """A model as workers open it: path, hash of the contents, and numbers of its accelerators, None for the host.

    Without devices, a worker takes what Ray assigned it: its GPUs if it has any, else the host.
    """

    path: str
    digest: str
    devices: Optional[tuple[Optional[int], ...]]

    def open(self) -> Model:
        """The model in this worker's process: opened once, with as many threads as the worker has CPUs."""
        return open_once(*Origin(self.path, tuple(self._devices_here()), threads_here(), self.digest))

    def _devices_here(self) -> list[Device]:
        assigned = len(ray.get_gpu_ids())
        if self.devices is None:
            return [Accelerator(0)] if assigned else [CPU()]
        # Ray hides the GPUs of others, so those of this worker begin at zero.
        numbers = itertools.count()
        return [
            CPU() if number is None else Accelerator(next(numbers) if assigned else number) for number in self.devices
        ]


def threads_here() -> int:
    """The CPUs that Ray assigned to this worker, at least one."""
    context = ray.get_runtime_context()
    resources = context.get_assigned_resources()  # type: ignore[no-untyped-call, unused-ignore]
    return max(1, int(resources.get("CPU", 0)))


def opened(model: ModelLike) -> tuple[Model, Reference]:
    """A model in this process, which tells its inputs and outputs, and its reference."""
    if isinstance(model, Model):
        origin = model._pickled_origin()
        return model, Reference(
            origin.path, origin.digest, tuple(None if device.is_host else device.id for device in origin.devices)
        )
    if not isinstance(model, (str, bytes, os.PathLike)):
        raise TypeError(f"model must be a Model or a path, not {type(model).__name__}")
    loaded = InferenceSession().load(model)
    origin = loaded._pickled_origin()
    return loaded, Reference(origin.path, origin.digest, None)
