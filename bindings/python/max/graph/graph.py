# SPDX-License-Identifier: Apache-2.0
"""Graphs: computations that are built in code and loaded as models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

from max._raw import ffi, lib
from max._text import PathType, bytes_of, path_bytes
from max.graph import _scope
from max.graph._source import check, located
from max.graph.dim import StaticDim, SymbolicDim
from max.graph.ops._emit import as_tensor, is_known, rebound
from max.graph.type import BufferType, DeviceRef, TensorType, Type
from max.graph.value import BufferValue, TensorValue, Value
from max.graph.weight import Weight

__all__ = ["Graph"]


class Effects(NamedTuple):
    """What calls of a model do beside computing outputs."""

    outputs: int  # those that callers see; others follow
    prints: list[tuple[int, str]]  # an output, or -1, and its label
    stores: list[tuple[int, int]]  # an input, and the output that is its new contents


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
        self._build(name, forward, input_types, path, args, kwargs, custom_extensions, is_subgraph=False)

    def _build(
        self,
        name: str,
        forward: Optional[Callable[..., Any]],
        input_types: Iterable[Type],
        path: None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        custom_extensions: PathType | Iterable[PathType],
        is_subgraph: bool,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a graph must be a str, not {name!r}")
        if path is not None:
            raise NotImplementedError(f"path is {path!r}; graphs are built in code, InferenceSession.load reads files")
        is_one = isinstance(custom_extensions, (str, bytes, os.PathLike))
        for extension in [custom_extensions] if is_one else list(custom_extensions):  # type: ignore[arg-type]
            check(lib.maxExtensionLoad(path_bytes(extension)))  # type: ignore[arg-type]
        self._name, self.is_subgraph = name, is_subgraph
        self._scope = _scope.Scope(self, name)
        self._weights: dict[str, tuple[Weight, TensorValue]] = {}
        self._outputs: Optional[list[TensorValue]] = None
        self._prints: list[tuple[TensorValue | str, str]] = []
        self._devices: set[DeviceRef] = set()
        self._buffers: list[tuple[int, BufferValue, TensorValue]] = []  # with their first contents
        self._seeds: Any = None  # of ops.random
        self._arguments: list[Any] = []  # the inputs as the library has them
        self._inputs = self._make_inputs(list(input_types))
        if forward is not None:
            with self:
                made = forward(*self._inputs, *args, **kwargs)
                self.output(*(made if isinstance(made, (list, tuple)) else () if made is None else (made,)))

    def _make_inputs(self, types: list[Type]) -> list[Value[Any]]:
        for index, wanted in enumerate(types):
            if not isinstance(wanted, (TensorType, BufferType)):
                raise located(TypeError(f"input_types[{index}] must be a TensorType or BufferType, not {wanted!r}"))
            self._devices.add(wanted.device)
            self._arguments.append(add_input(self._scope, f"input{index}", wanted))
        # Names are known now, and what is computed of them.
        values = [TensorValue._of_handle(self._scope, value) for value in self._arguments]
        return [self._input(i, value, wanted) for i, (value, wanted) in enumerate(zip(values, types))]

    def _input(self, index: int, value: TensorValue, wanted: Any) -> Value[Any]:
        value._device = wanted.device
        with _scope.within(self._scope):
            unknown = [dim for dim in wanted.shape if not is_known(dim)]
            if unknown:
                raise located(ValueError(f"input {index} has the dimension {unknown[0]} of names no input has"))
            value = rebound(value, wanted.shape, f"input {index} of the graph {self._name!r}")
        if isinstance(wanted, TensorType):
            return value
        buffer = BufferValue._of_input(value, wanted)
        self._buffers.append((index, buffer, value))
        return buffer

    @property
    def name(self) -> str:
        """Name of the graph."""
        return self._name

    @property
    def inputs(self) -> list[Value[Any]]:
        """The inputs, a list of `TensorValue` and `BufferValue`."""
        return list(self._inputs)

    @property
    def devices(self) -> list[DeviceRef]:
        """Devices that values of the graph are on, a list of `DeviceRef`."""
        return sorted(self._devices, key=str)

    @property
    def output_types(self) -> list[Type]:
        """Types of the outputs, once they are given."""
        return [value.type for value in self._outputs or ()]

    @property
    def current(self) -> Graph:
        """The graph that is being built here."""
        return _scope.current().graph

    def __enter__(self) -> Graph:
        _scope.push(self._scope)
        return self

    def __exit__(self, *exception: object) -> None:
        _scope.pop()

    def add_weight(self, weight: Weight, force_initial_weight_on_host: bool = True) -> TensorValue:
        """Adds a weight; again, it is the same value.

        Parameters
        ----------
        weight : Weight
        force_initial_weight_on_host : bool
            There for compatibility: contents are used where they lie.

        Returns
        -------
        TensorValue

        Raises
        ------
        ValueError
            The graph has another weight, or another value, of that name.
        """
        if not isinstance(weight, Weight):
            raise located(TypeError(f"{weight!r} is not a Weight"))
        known = self._weights.get(weight.name)
        if known is None:
            shape = [int(dim) for dim in weight.shape if isinstance(dim, StaticDim)]
            out = ffi.new("MaxGraphValue**")
            check(
                lib.maxGraphAddWeight(
                    self._scope.handle, bytes_of(weight.name), weight.dtype.value, len(shape), shape, ffi.NULL, out
                )
            )
            self._scope.record(_scope.Record([out[0]], weight=weight))
            self._devices.add(weight.device)
            known = self._weights[weight.name] = weight, TensorValue._of_handle(self._scope, out[0], weight.device)
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
        if self._outputs is not None:
            raise located(ValueError(f"the graph {self._name!r} has its outputs already"))
        with _scope.within(self._scope):
            values = [as_tensor(value) for value in outputs]
            for i, value in enumerate(values):
                self._scope.add_output(value._in(self._scope), f"output{i}")
            self._outputs = values
            self._add_effects()

    def _add_effects(self) -> None:
        """More outputs, which calls of the model print or put into buffers."""
        for label, value in enumerate(self._effect_values()):
            self._scope.add_output(value._in(self._scope), f"effect{label}")

    def _effect_values(self) -> list[TensorValue]:
        printed = [value for value, _ in self._prints if isinstance(value, TensorValue)]
        return printed + [buffer._contents for _, buffer, first in self._buffers if buffer._contents is not first]

    def effects(self) -> Effects:
        """What calls of the model do beside computing outputs."""
        position = len(self._outputs or ())
        prints: list[tuple[int, str]] = []
        for value, label in self._prints:
            prints.append((position if isinstance(value, TensorValue) else -1, label))
            position += isinstance(value, TensorValue)
        changed = [index for index, buffer, first in self._buffers if buffer._contents is not first]
        return Effects(len(self._outputs or ()), prints, [(i, position + k) for k, i in enumerate(changed)])

    def add_subgraph(
        self,
        name: str,
        forward: Optional[Callable[..., Any]] = None,
        input_types: Iterable[Type] = (),
        path: None = None,
        *args: Any,
        custom_extensions: PathType | Iterable[PathType] = (),
        **kwargs: Any,
    ) -> Graph:
        """A graph that `ops.call` puts into this one, any number of times.

        Parameters
        ----------
        name, forward, input_types, path, args, custom_extensions, kwargs
            As those of `Graph`.

        Returns
        -------
        Graph
        """
        graph: Graph = object.__new__(Graph)
        graph._build(name, forward, input_types, path, args, kwargs, custom_extensions, is_subgraph=True)
        return graph

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
    device = wanted.device._placed()
    options.device = ffi.NULL if device is None else device._handle
    out = ffi.new("MaxGraphValue**")
    check(lib.maxGraphAddInput(scope.handle, bytes_of(name), wanted.dtype.value, len(sizes), sizes, options, out))
    return out[0]
