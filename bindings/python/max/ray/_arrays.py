# SPDX-License-Identifier: Apache-2.0
"""What arrays must be to be inputs of a model, and outputs as others take them."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from max.driver import Buffer
from max.dtype import DType
from max.engine import TensorSpec

Array = np.ndarray[Any, Any]

_TEXT_KINDS = "USO"


Shape = Optional[list[Optional[int]]]


def needs(spec: TensorSpec, shape: Shape) -> str:
    """The type and shape of an input or output, for people: float32 of shape (?, 3)."""
    name = "any type" if spec.dtype is None else spec.dtype.name
    return name if shape is None else f"{name} of shape {_text(shape)}"


def _text(shape: Any) -> str:
    sizes = ["?" if size is None else str(size) for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def problem_of(array: Array, spec: TensorSpec, shape: Shape) -> Optional[str]:
    """Why an array cannot be an input of that shape, as the end of a sentence; None if it can."""
    if spec.dtype is DType.string:
        has_type = array.dtype.kind in _TEXT_KINDS
    else:
        has_type = spec.dtype is not None and array.dtype == spec.dtype.to_numpy()
    if has_type and _has_shape(array, shape):
        return None
    if array.dtype == object and spec.dtype is not DType.string:
        return f"holds objects, or arrays of different shapes; the model takes {needs(spec, shape)}"
    return f"is {array.dtype} of shape {_text(array.shape)}; the model takes {needs(spec, shape)}"


def _has_shape(array: Array, shape: Shape) -> bool:
    if shape is None:
        return True
    return array.ndim == len(shape) and all(
        wanted is None or wanted == size for wanted, size in zip(shape, array.shape)
    )


def plain(output: Buffer) -> Array:
    """An output as an array of one of numpy's own types: the small floats of others become float32."""
    array: Array = output.to_numpy()
    return array.astype(np.float32) if array.dtype.isbuiltin == 2 or array.dtype.kind == "V" else array


def dense(array: Array) -> Array:
    """The array, copied if its elements do not lie in order; of no dimensions still if it has none."""
    return np.asarray(array, order="C")
