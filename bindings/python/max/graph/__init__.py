# SPDX-License-Identifier: Apache-2.0
"""Graphs that are built in code, and loaded by `max.engine.InferenceSession`."""

from max.graph import ops
from max.graph.dim import AlgebraicDim, Dim, DimLike, StaticDim, SymbolicDim
from max.graph.graph import Graph
from max.graph.shape import Shape, ShapeLike
from max.graph.type import BufferType, DeviceKind, DeviceRef, TensorType, Type
from max.graph.value import BufferValue, TensorValue, TensorValueLike, Value
from max.graph.weight import Weight

__all__ = [
    "AlgebraicDim",
    "BufferType",
    "BufferValue",
    "DeviceKind",
    "DeviceRef",
    "Dim",
    "DimLike",
    "Graph",
    "Shape",
    "ShapeLike",
    "StaticDim",
    "SymbolicDim",
    "TensorType",
    "TensorValue",
    "TensorValueLike",
    "Type",
    "Value",
    "Weight",
    "ops",
]
