# SPDX-License-Identifier: Apache-2.0
"""Weights: constants whose contents are given by name when the graph is loaded."""

from __future__ import annotations

from typing import Any, Optional

from max.driver.device import Device
from max.dtype import DType
from max.graph._scope import Scope
from max.graph.shape import ShapeLike
from max.graph.type import DeviceRef, TensorType
from max.graph.value import TensorValue

__all__ = ["Weight"]


class Weight(TensorValue):
    """A constant whose contents `InferenceSession.load` takes from its weights_registry.

    It may be used as a value of any graph; the graph gets it with its first use, or by `Graph.add_weight`.

    Parameters
    ----------
    name : str
        Name in the registry.
    dtype : DType
        Type of the elements.
    shape : iterable of int
        Dimensions, all of them numbers.
    device : DeviceRef or Device, optional
        Where the weight is used; the host by default.

    Examples
    --------
    >>> w = Weight("w", DType.float32, [3, 2])
    >>> with Graph("linear", input_types=[TensorType(DType.float32, ["batch", 3])]) as graph:
    ...     graph.output(graph.inputs[0].tensor @ w)
    >>> model = session.load(graph, weights_registry={"w": array})
    """

    __slots__ = ("_name", "_type")

    def __init__(
        self, name: str, dtype: DType, shape: ShapeLike, device: Optional[DeviceRef | Device] = None
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of a weight must be a str that is not empty, not {name!r}")
        self._type = TensorType(dtype, shape, device)
        if not self._type.shape.is_static:
            raise ValueError(f"weight {name!r} has the shape {self._type.shape}; its dimensions are numbers")
        self._name = name
        self._dtype, self._shape, self._device = dtype, self._type.shape, self._type.device

    @property
    def name(self) -> str:
        """Name in the registry."""
        return self._name

    @property
    def type(self) -> TensorType:
        """Type of the weight."""
        return self._type

    def _in(self, scope: Scope) -> Any:
        return scope.graph.add_weight(self)._value

    def __repr__(self) -> str:
        return f"Weight({self._name!r}, {self._dtype}, {self._shape!r}, {self._device!r})"
