# SPDX-License-Identifier: Apache-2.0
"""Indexing of tensors as numpy does: int, slice, Ellipsis, None, and values of graphs."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from max.graph._source import located
from max.graph.dim import Dim, StaticDim
from max.graph.ops._emit import as_tensor, emit
from max.graph.value import TensorValue

_LAST, _FIRST = 2**63 - 1, -(2**63)


class _Cut(NamedTuple):
    """What Slice does with an axis."""

    axis: int
    start: Any
    stop: Any
    step: Any


class _Plan:
    """What an index asks of a tensor, axis by axis."""

    def __init__(self) -> None:
        self.cuts: list[_Cut] = []
        self.drops: list[int] = []  # axes that an int takes
        self.gathers: list[tuple[int, TensorValue]] = []
        self.names: dict[int, Any] = {}
        self.new: list[int] = []  # places of new axes in the result
        self.axis = 0
        self.place = 0

    def skip(self, count: int) -> None:
        self.axis += count
        self.place += count

    def cut(self, index: slice, name: Any = None) -> None:
        step = 1 if index.step is None else index.step
        if isinstance(step, int) and step == 0:
            raise located(ValueError("a slice has the step 0"))
        back = isinstance(step, int) and step < 0
        start = (_LAST if back else 0) if index.start is None else index.start
        stop = (_FIRST if back else _LAST) if index.stop is None else index.stop
        if not (index.start is None and index.stop is None and index.step is None):
            self.cuts.append(_Cut(self.axis, start, stop, step))
        if name is not None:
            self.names[self.place] = name
        self.skip(1)

    def take(self, number: int, size: Dim) -> None:
        if isinstance(size, StaticDim) and not -size.dim <= number < size.dim:
            raise located(IndexError(f"index {number} is out of range for dimension {self.axis}, which is {size}"))
        self.cuts.append(_Cut(self.axis, number, number + 1 if number != -1 else _LAST, 1))
        self.drops.append(self.axis)
        self.axis += 1

    def gather(self, indices: TensorValue) -> None:
        if not indices.dtype.is_integral():
            raise located(TypeError(f"an index must have integers as elements, not {indices.dtype.name}"))
        if indices.rank and any(other.rank for _, other in self.gathers):
            raise located(NotImplementedError("one index may be a tensor with dimensions, others scalars"))
        self.gathers.append((self.axis, indices))
        self.axis += 1
        self.place += indices.rank

    def insert(self) -> None:
        self.new.append(self.place)
        self.place += 1


def _is_named_slice(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], slice)


def _parts(index: Any, rank: int) -> list[Any]:
    """The index of each axis, with slices for those that are not named."""
    is_one = not isinstance(index, tuple) or (_is_named_slice(index) and isinstance(index[1], str))
    parts = [index] if is_one else list(index)
    wholes = [i for i, part in enumerate(parts) if part is Ellipsis]
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if len(wholes) > 1:
        raise located(IndexError("an index may have one '...'"))
    if taken > rank:
        raise located(IndexError(f"{taken} indices for a tensor with {rank} dimensions"))
    at = wholes[0] if wholes else len(parts)
    return [*parts[:at], *[slice(None)] * (rank - taken), *parts[at + 1 :]]


def _plan(x: TensorValue, index: Any) -> _Plan:
    plan, shape = _Plan(), x.shape
    for part in _parts(index, x.rank):
        if part is None:
            plan.insert()
        elif isinstance(part, slice):
            plan.cut(part)
        elif _is_named_slice(part):
            plan.cut(*part)
        elif isinstance(part, bool):
            raise located(TypeError("True and False are not indices"))
        elif isinstance(part, (TensorValue, Dim)) and not isinstance(part, StaticDim):
            plan.gather(as_tensor(part))
        elif hasattr(part, "__index__") and getattr(part, "ndim", 0) == 0:
            plan.take(int(part.__index__()), shape[plan.axis])
        elif hasattr(part, "__array__") or hasattr(part, "__dlpack__"):
            plan.gather(as_tensor(part))
        else:
            raise located(TypeError(f"{part!r} is not an index; use int, slice, ..., None or integer tensors"))
    return plan


def vector(values: list[Any]) -> Any:
    """int64 numbers, dimensions and scalars of graphs as one int64 vector."""
    import numpy

    def is_number(value: Any) -> bool:
        return hasattr(value, "__index__") and not isinstance(value, TensorValue)

    if all(map(is_number, values)):
        return numpy.array([int(value.__index__()) for value in values], numpy.int64)
    parts = [
        numpy.array([int(value.__index__())], numpy.int64)
        if is_number(value)
        else emit("Reshape", [_int64(as_tensor(value)), numpy.array([1])])
        for value in values
    ]
    return parts[0] if len(parts) == 1 else emit("Concat", parts, attributes={"axis": 0})


def _int64(value: TensorValue) -> TensorValue:
    from max.dtype import DType

    return value if value.dtype is DType.int64 else emit("Cast", [value], attributes={"to": DType.int64})


def indexed(x: TensorValue, index: Any) -> TensorValue:
    """``x[index]``."""
    plan = _plan(x, index)
    if plan.cuts:
        axes, *bounds = (list(column) for column in zip(*plan.cuts))
        starts, stops, steps = map(vector, bounds)
        x = emit("Slice", [x, starts, stops, vector(axes), steps])
    for axis, indices in reversed(plan.gathers):
        x = emit("Gather", [x, indices], attributes={"axis": axis})
    if plan.drops:
        x = emit("Squeeze", [x, vector([_moved(axis, plan.gathers) for axis in plan.drops])])
    if plan.new:
        x = emit("Unsqueeze", [x, vector(plan.new)])
    if plan.names:
        from max.graph.ops.general import rebind

        x = rebind(x, [plan.names.get(place, dim) for place, dim in enumerate(x.shape)])
    return x


def _moved(axis: int, gathers: list[tuple[int, TensorValue]]) -> int:
    """Where an axis is after the gathers before it."""
    return axis + functools.reduce(lambda total, g: total + g[1].rank - 1, (g for g in gathers if g[0] < axis), 0)


