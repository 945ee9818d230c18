# SPDX-License-Identifier: Apache-2.0
"""Buffers: inputs of a graph whose contents it may replace."""

from __future__ import annotations

from typing import Any

from max.graph._indexing import indexed, vector
from max.graph._source import located
from max.graph.ops._emit import as_tensor, emit, typed
from max.graph.shape import Shape
from max.graph.value import BufferValue, TensorValue, TensorValueLike


def _require(buffer: Any) -> BufferValue:
    if not isinstance(buffer, BufferValue):
        raise located(TypeError(f"{buffer!r} is not a BufferValue"))
    return buffer


def buffer_load(x: BufferValue) -> TensorValue:
    """The contents that a buffer has now.

    Parameters
    ----------
    x : BufferValue

    Returns
    -------
    TensorValue
        Of the buffer's type. What is stored later does not change it.
    """
    return _require(x)._contents


def buffer_store(destination: BufferValue, source: TensorValueLike) -> None:
    """Replaces the contents of a buffer.

    Parameters
    ----------
    destination : BufferValue
    source : TensorValue
        Of the buffer's element type and shape.

    Raises
    ------
    ValueError
        `source` is of another type.
    """
    buffer = _require(destination)
    buffer._contents = typed(as_tensor(source, buffer.dtype), buffer.type.as_tensor(), f"what is stored in {buffer!r}")


def buffer_store_slice(destination: BufferValue, source: TensorValueLike, indices: Any) -> None:
    """Replaces a part of the contents of a buffer.

    Parameters
    ----------
    destination : BufferValue
    source : TensorValue
        Of the buffer's element type; its shape broadcasts to that of the part.
    indices : int, slice, Ellipsis, TensorValue, or a tuple of them
        As those of ``TensorValue[...]``.
    """
    buffer = _require(destination)
    value = as_tensor(source, buffer.dtype)
    parts = indices if isinstance(indices, tuple) else (indices,)
    if all(part is Ellipsis or (isinstance(part, slice) and part == slice(None)) for part in parts) and value.shape == buffer.shape:
        return buffer_store(buffer, value)
    shape = as_tensor(Shape(buffer.shape))
    flat = vector([-1])
    count = emit("Size", [buffer._contents])
    places = indexed(emit("Reshape", [emit("Range", [vector([0])[0], count, vector([1])[0]]), shape]), indices)
    updates = emit("Expand", [value, emit("Shape", [places])])
    changed = emit(
        "ScatterElements",
        [emit("Reshape", [buffer._contents, flat]), emit("Reshape", [places, flat]), emit("Reshape", [updates, flat])],
    )
    buffer_store(buffer, emit("Reshape", [changed, shape]))
    return None
