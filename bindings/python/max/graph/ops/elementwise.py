# SPDX-License-Identifier: Apache-2.0
"""Operators on each element."""

from __future__ import annotations

from max.graph.ops._emit import emit
from max.graph.value import TensorValue, TensorValueLike


def add(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """Sum of two tensors, which are broadcast."""
    return emit("Add", [lhs, rhs])
