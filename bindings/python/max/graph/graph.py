# SPDX-License-Identifier: Apache-2.0
"""Graphs: computations that are built in code and loaded as models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Optional

from max._raw import ffi, lib
from max._text import PathType, bytes_of, path_bytes
from max.graph import _scope
from max.graph._source import check, located
from max.graph.dim import Dim, StaticDim, SymbolicDim
from max.graph.type import BufferType, DeviceRef, TensorType, Type
from max.graph.value import TensorValue, Value
from max.graph.weight import Weight

__all__ = ["Graph"]


class Graph:
    """A computation with inputs, operators and outputs, which `InferenceSession.load` makes a model of.

    Operators (`max.graph.ops`, and those of Python) are called within ``with graph:``, or by `forward`, which gets the
    inputs and gives the outputs.

    Parameters
    ----------
    name : str
        Name of the graph, for messages.
    forward : callable, optional
        Called with the inputs, `args` and `kwargs`; what it returns (one value or several) are the outputs.
    input_types : iterable of TensorType or BufferType
        Types of the inputs.
    path : None
        There for compatibility.
    custom_extensions : path or iterable of paths
        Libraries of operators to load before.

    Examples
    --------
    >>> with Graph("add", input_types=[TensorType(DType.float32, ["n"])] * 2) as graph:
    ...     a, b = graph.inputs
    ...     graph.output(a.tensor + b.tensor)
    >>> model = InferenceSession().load(graph)
    """

    def __init__(
        self,
        name: str,
        forward: Optional[Callable[..., Any]] = None,
        input_types: Iterable[Type] = (),
        path: None = None,
        *args: Any,
        custom_extensions: PathType | Iterable[PathType] = (),
        **kwargs: Any,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a graph is {name!r}, needs a str")
        if path is not None:
            raise NotImplementedError(f"path is {path!r}; graphs are built in code, InferenceSession.load reads files")
        is_one = isinstance(custom_extensions, (str, bytes, os.PathLike))
        for extension in [custom_extensions] if is_one else list(custom_extensions):  # type: ignore[arg-type]
            check(lib.maxExtensionLoad(path_bytes(extension)))  # type: ignore[arg-type]
        self._name = name
        self._scope = _scope.Scope(self, name)
        self._weights: dict[str, tuple[Weight, TensorValue]] = {}
        self._outputs: Optional[list[Value[Any]]] = None
        self._unknown = 0
        self._seeds: Any = None  # of ops.random
        self._inputs: list[Value[Any]] = [self._add_input(i, type_) for i, type_ in enumerate(input_types)]
        if forward is not None:
            with self:
                made = forward(*self._inputs, *args, **kwargs)
                self.output(*(made if isinstance(made, (list, tuple)) else () if made is None else (made,)))

    def _add_input(self, index: int, wanted: Type) -> Value[Any]:
        if not isinstance(wanted, (TensorType, BufferType)):
            raise located(TypeError(f"input {index} has the type {wanted!r}, needs a TensorType or BufferType"))
        if isinstance(wanted, BufferType):
            raise located(NotImplementedError(f"input {index} is a buffer"))
        return TensorValue._of_handle(self._scope, add_input(self._scope, f"input{index}", wanted))

    def _unknown_dim(self) -> Dim:
        """A name for a dimension that the library has none for."""
        self._unknown += 1
        return Dim(f"unknown_{self._unknown}")

    @property
    def name(self) -> str:
        """Name of the graph."""
        return self._name

    @property
    def inputs(self) -> list[Value[Any]]:
        """The inputs, a list of `TensorValue` and `BufferValue`."""
        return list(self._inputs)

    @property
    def output_types(self) -> list[Type]:
        """Types of the outputs, once they are given."""
        return [value.type for value in self._outputs or ()]

    @staticmethod
    def _current() -> Graph:
        return _scope.current().graph

    def __enter__(self) -> Graph:
        _scope.push(self._scope)
        return self

    def __exit__(self, *exception: object) -> None:
        _scope.pop()

    def add_weight(self, weight: Weight) -> TensorValue:
        """Adds a weight; again, it is the same value.

        Parameters
        ----------
        weight : Weight

        Returns
        -------
        TensorValue

        Raises
        ------
        ValueError
            The graph has another weight, or another value, of that name.
        """
        if not isinstance(weight, Weight):
            raise located(TypeError(f"{weight!r} is no Weight"))
        known = self._weights.get(weight.name)
        if known is None:
            shape = [int(dim) for dim in weight.shape if isinstance(dim, StaticDim)]
            out = ffi.new("MaxGraphValue**")
            check(
                lib.maxGraphAddWeight(
                    self._scope.handle, bytes_of(weight.name), weight.dtype.value, len(shape), shape, ffi.NULL, out
                )
            )
            known = self._weights[weight.name] = weight, TensorValue._of_handle(self._scope, out[0])
        elif known[0] is not weight and known[0].type != weight.type:
            raise located(ValueError(f"the graph has {known[0]!r} already, not {weight!r}"))
        return known[1]

    def output(self, *outputs: Any) -> None:
        """Gives the graph its outputs.

        Parameters
        ----------
        *outputs : TensorValue or what operators take for one

        Raises
        ------
        ValueError
            The outputs are given already.
        """
        from max.graph.ops._emit import as_tensor

        if self._outputs is not None:
            raise located(ValueError(f"the graph {self._name!r} has its outputs already"))
        with _scope.within(self._scope):
            values = [as_tensor(value) for value in outputs]
            for i, value in enumerate(values):
                check(lib.maxGraphAddOutput(self._scope.handle, value._in(self._scope), f"output{i}".encode()))
        self._outputs = list(values)

    def __repr__(self) -> str:
        inputs = ", ".join(str(value.type) for value in self._inputs)
        outputs = "" if self._outputs is None else ", ".join(map(str, self.output_types))
        return f"Graph({self._name!r}, inputs=[{inputs}], outputs=[{outputs}])"


def add_input(scope: _scope.Scope, name: str, wanted: TensorType | BufferType) -> Any:
    """Adds an input to a graph or a body; the library's value."""
    sizes, names = [], []
    for dim in wanted.shape:
        sizes.append(dim.dim if isinstance(dim, StaticDim) else lib.MAX_DIMENSION_DYNAMIC)
        names.append(ffi.new("char[]", bytes_of(dim.name)) if isinstance(dim, SymbolicDim) else ffi.NULL)
    options = ffi.new("MaxGraphInputOptions*", {"structSize": ffi.sizeof("MaxGraphInputOptions")})
    texts = ffi.new("char*[]", names)
    options.dimensionNames = texts
    device = device_handle(wanted.device)
    if device is not None:
        options.device = device._handle
    out = ffi.new("MaxGraphValue**")
    check(lib.maxGraphAddInput(scope.handle, bytes_of(name), wanted.dtype.value, len(sizes), sizes, options, out))
    return out[0]


def device_handle(device: DeviceRef) -> Any:
    """The device, if values are told theirs: the host is where they are anyway."""
    return None if device.is_cpu() else device.to_device()
