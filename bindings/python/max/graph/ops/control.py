# SPDX-License-Identifier: Apache-2.0
"""Branches, loops, and graphs that others call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from max._raw import ffi, lib
from max._text import bytes_of
from max.dtype import DType
from max.graph._scope import Record, Scope, current, within
from max.graph._source import check, located
from max.graph.dim import Dim, SymbolicDim, replaced
from max.graph.graph import Graph
from max.graph.ops._emit import Body, as_tensor, constant_of, emit_all, rebound, typed
from max.graph.shape import Shape
from max.graph.type import BufferType, TensorType
from max.graph.value import BufferValue, TensorValue, TensorValueLike, Value
from max.graph.weight import Weight


def _listed(given: Any) -> list[TensorValue]:
    """One value, several or None as a list."""
    if given is None:
        return []
    if isinstance(given, (Value, Shape)) or hasattr(given, "__dlpack__") or not isinstance(given, Iterable):
        return [as_tensor(given)]
    return [as_tensor(value) for value in given]


def _truth(value: Any, what: str) -> TensorValue:
    """A bool scalar."""
    truth = as_tensor(value)
    if truth.dtype is not DType.bool:
        raise located(TypeError(f"{what} must be of type bool, not {truth.dtype.name}"))
    return rebound(truth, Shape(), f"{what} is a scalar")


def _buffers(scope: Scope) -> list[BufferValue]:
    return [buffer for _, buffer, _ in scope.graph._buffers]


def _take_contents(buffers: list[BufferValue], contents: Sequence[TensorValue]) -> None:
    for buffer, value in zip(buffers, contents):
        buffer._contents = value


def cond(
    pred: TensorValueLike,
    out_types: Optional[Iterable[TensorType]],
    then_fn: Callable[[], Any],
    else_fn: Callable[[], Any],
) -> list[TensorValue]:
    """One of two computations, chosen when the model runs.

    Parameters
    ----------
    pred : TensorValue
        A bool scalar.
    out_types : iterable of TensorType or None
        Types of what the functions return; None if they return nothing.
    then_fn, else_fn : callable
        Called once each, without arguments, to build the branches. They may use values from outside and store into
        buffers.

    Returns
    -------
    list of TensorValue

    Raises
    ------
    ValueError
        A branch returns other types.
    TypeError
        `pred` is not a bool.
    """
    scope, types = current(), list(out_types or ())
    chosen = _truth(pred, "the condition")
    buffers = _buffers(scope)
    before = [buffer._contents for buffer in buffers]
    branches: list[tuple[Scope, list[TensorValue], list[TensorValue]]] = []
    for name, function in (("then_branch", then_fn), ("else_branch", else_fn)):
        with within(Scope(scope.graph, name, scope)) as branch:
            made = _listed(function())
            if len(made) != len(types):
                raise located(ValueError(f"the {name} returns {len(made)} values, but out_types has {len(types)}"))
            made = [typed(v, t, f"output {i} of the {name}") for i, (v, t) in enumerate(zip(made, types))]
        branches.append((branch, made, [buffer._contents for buffer in buffers]))
        _take_contents(buffers, before)
    changed = [i for i, first in enumerate(before) if any(after[i] is not first for _, _, after in branches)]
    for branch, made, after in branches:
        for i, value in enumerate([*made, *(after[k] for k in changed)]):
            branch.add_output(value._in(branch), f"output{i}")
    count = len(types) + len(changed)
    if count == 0:
        return []
    bodies = {name: Body(branch) for name, (branch, _, _) in zip(("then_branch", "else_branch"), branches)}
    results = emit_all("If", [chosen], attributes=bodies, outputs=count)
    _take_contents([buffers[k] for k in changed], results[len(types) :])
    return results[: len(types)]


def _plain_input(scope: Scope, name: str, dtype: DType) -> Any:
    out = ffi.new("MaxGraphValue**")
    check(lib.maxGraphAddInput(scope.handle, bytes_of(name), dtype.value, 0, ffi.NULL, ffi.NULL, out))
    return out[0]


def while_loop(
    initial_values: Iterable[TensorValueLike] | TensorValueLike,
    predicate: Callable[..., Any],
    body: Callable[..., Any],
) -> list[TensorValue]:
    """Repeats a computation while a condition holds.

    Parameters
    ----------
    initial_values : TensorValue or iterable of TensorValue
        What the first iteration gets.
    predicate : callable
        Gets the values and returns a bool scalar; the loop ends when it is false.
    body : callable
        Gets the values and returns new ones, of the same types. It may use values from outside and store into buffers.

    Returns
    -------
    list of TensorValue
        The values for which the condition was false.

    Raises
    ------
    ValueError
        The body returns other types.
    TypeError
        The condition is not a bool.

    Examples
    --------
    >>> ops.while_loop([ops.constant(1)], lambda x: x < 100, lambda x: x * 2)
    """
    scope = current()
    values = _listed(initial_values)
    goes_on = _truth(predicate(*values), "the condition of the loop")
    buffers = _buffers(scope)
    carried = [*values, *(buffer._contents for buffer in buffers)]
    if not carried:
        raise located(ValueError("a loop needs at least one value"))
    before = carried[len(values) :]
    with within(Scope(scope.graph, "body", scope)) as inner:
        _plain_input(inner, "iteration", DType.int64)
        _plain_input(inner, "goes_on", DType.bool)
        inputs = [
            TensorValue._of_handle(inner, inner.add_input_like(f"carried{i}", value._in(scope)), value.device)
            for i, value in enumerate(carried)
        ]
        _take_contents(buffers, inputs[len(values) :])
        made = _listed(body(*inputs[: len(values)]))
        if len(made) != len(values):
            raise located(ValueError(f"the loop's body returns {len(made)} values, it gets {len(values)}"))
        made = [typed(m, v.type, f"value {i} of the loop's body") for i, (m, v) in enumerate(zip(made, values))]
        again = _truth(predicate(*made), "the condition of the loop")
        for i, value in enumerate([again, *made, *(buffer._contents for buffer in buffers)]):
            inner.add_output(value._in(inner), f"output{i}")
    results = emit_all("Loop", [None, goes_on, *carried], attributes={"body": Body(inner)}, outputs=len(carried))
    stored = [
        first if after is inside else result
        for first, inside, result, after in zip(
            before, inputs[len(values) :], results[len(values) :], [buffer._contents for buffer in buffers]
        )
    ]
    _take_contents(buffers, stored)
    return results[: len(values)]


class _Replay:
    """Adds what a graph has recorded to the graph that is being built."""

    def __init__(self, prefix: str) -> None:
        self.values: dict[Any, TensorValue] = {}
        self.prefix = prefix

    def value(self, recorded: Any) -> Optional[TensorValue]:
        return None if recorded == ffi.NULL else self.values[recorded]

    def run(self, scope: Scope) -> None:
        for record in scope.records:
            self.values.update(zip(record.outputs, self._made(record)))

    def _made(self, record: Record) -> list[TensorValue]:
        if record.constant is not None:
            return [constant_of(record.constant)]
        if record.weight is not None:
            weight = record.weight
            named = Weight(self.prefix + weight.name, weight.dtype, weight.shape, weight.device)
            return [current().graph.add_weight(named)]
        inputs = [self.value(value) for value in record.inputs]
        attributes = {name: self._attribute(record, name) for name in record.attributes or ()}
        if record.domain == "max":
            attributes["names"] = None  # a name would be the same in all calls
        return emit_all(
            record.name, inputs, domain=record.domain, attributes=attributes, outputs=len(record.outputs)
        )

    def _attribute(self, record: Record, name: str) -> Any:
        value = record.attributes[name]
        return self._body(value.scope) if isinstance(value, Body) else value

    def _body(self, body: Scope) -> Body:
        outer = current()
        with within(Scope(outer.graph, name_of(body), outer)) as inner:
            if body.inputs:
                _plain_input(inner, "iteration", DType.int64)
                _plain_input(inner, "goes_on", DType.bool)
            for i, (value, like) in enumerate(body.inputs):
                made = inner.add_input_like(f"carried{i}", self.values[like]._in(outer))
                self.values[value] = TensorValue._of_handle(inner, made, self.values[like].device)
            self.run(body)
            for i, value in enumerate(body.outputs):
                inner.add_output(self.values[value]._in(inner), f"output{i}")
        return Body(inner)


def name_of(scope: Scope) -> str:
    out = ffi.new("char const**")
    check(lib.maxGraphGetName(scope.handle, out))
    return str(ffi.string(out[0]).decode())


def _bound(graph: Graph, args: Sequence[Any]) -> list[TensorValue]:
    """The arguments, checked against the types of the graph's inputs."""
    if len(args) != len(graph.inputs):
        raise located(ValueError(f"the graph {graph.name!r} takes {len(graph.inputs)} values, not {len(args)}"))
    names: dict[str, Dim] = {}
    bound = []
    for i, (arg, wanted) in enumerate(zip(args, (value.type for value in graph.inputs))):
        if isinstance(wanted, BufferType) != isinstance(arg, BufferValue):
            raise located(TypeError(f"input {i} of the graph {graph.name!r} is a {type(wanted).__name__}, not {arg!r}"))
        value = as_tensor(arg, wanted.dtype)
        if len(value.shape) == wanted.rank:
            for given, dim in zip(value.shape, wanted.shape):
                if isinstance(dim, SymbolicDim):
                    names.setdefault(dim.name, given)
        what = TensorType(wanted.dtype, [replaced(dim, names) for dim in wanted.shape], wanted.device)
        bound.append(typed(value, what, f"input {i} of the graph {graph.name!r}"))
    return bound


def call(graph: Graph, *args: TensorValueLike | BufferValue, prefix: str = "") -> list[Value[Any]]:
    """Puts another graph into the one that is being built.

    Parameters
    ----------
    graph : Graph
        What `Graph.add_subgraph` has made, with its outputs.
    *args : TensorValue or BufferValue
        Its inputs.
    prefix : str
        Stands before the names of its weights: ``prefix="layers.0."`` makes "w" be "layers.0.w".

    Returns
    -------
    list of TensorValue
        Its outputs.

    Raises
    ------
    ValueError
        The inputs are not of its types.
    """
    if not isinstance(graph, Graph) or not graph.is_subgraph:
        raise located(TypeError(f"{graph!r} is not a graph made by add_subgraph"))
    if graph._outputs is None:
        raise located(ValueError(f"the graph {graph.name!r} has no outputs yet"))
    if graph._prints and current().parent is not None:
        raise located(NotImplementedError(f"the graph {graph.name!r} prints, which does not work within cond and while_loop"))
    replay = _Replay(prefix)
    replay.values.update(zip(graph._arguments, _bound(graph, args)))
    replay.run(graph._scope)
    for index, buffer, first in graph._buffers:
        if buffer._contents is not first:
            target = args[index]
            assert isinstance(target, BufferValue)
            target._contents = replay.values[buffer._contents._value]
    for value, label in graph._prints:
        printed = replay.values[value._value] if isinstance(value, TensorValue) else value
        current().graph._prints.append((printed, label))
    return [replay.values[value] for value in graph._scope.outputs[: len(graph._outputs)]]
