# SPDX-License-Identifier: Apache-2.0
"""Dimensions, shapes and types of graphs, against numbers."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from max.driver import CPU
from max.dtype import DType
from max.graph import (
    AlgebraicDim,
    BufferType,
    DeviceKind,
    DeviceRef,
    Dim,
    Graph,
    Shape,
    StaticDim,
    SymbolicDim,
    TensorType,
    TensorValue,
)

NAMES = {"n": 7, "batch": 3, "max": 5}
LEAVES = st.sampled_from(["n", "batch", "max"]) | st.integers(-4, 9)
TREES = st.recursive(
    LEAVES, lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner) | st.tuples(st.just("/"), inner, st.integers(1, 6)),
    max_leaves=8,
)  # fmt: skip


def computed(tree, leaf):
    if not isinstance(tree, tuple):
        return leaf(tree)
    sign, a, b = tree[0], computed(tree[1], leaf), computed(tree[2], leaf)
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b}[sign]()


def value_of(leaf):
    return NAMES.get(leaf, leaf)


@given(TREES, TREES)
def test_arithmetic_is_that_of_numbers(tree, other):
    """What is equal has equal values; what is written is read again as the same."""
    try:
        number, dim = computed(tree, value_of), Dim(0) + computed(tree, Dim)
    except ZeroDivisionError:
        return
    assert eval(repr(dim), {"Dim": Dim}) == dim and pickle.loads(pickle.dumps(dim)) == dim
    if not {"min", "max"} & set(str(dim).split()):
        assert eval(str(dim), dict(NAMES)) == number
    try:
        if computed(other, Dim) == dim:
            assert computed(other, value_of) == number
    except ZeroDivisionError:
        pass


@given(TREES)
def test_sums_and_products_are_simplified(tree):
    try:
        dim = computed(tree, Dim)
    except ZeroDivisionError:
        return
    n = Dim("n")
    assert dim + n - dim == n and (dim + n) * 2 == n * 2 + dim + dim and dim - dim == 0
    assert (dim * 6) // 3 == dim * 2 and -(-dim) == dim and hash(dim + n) == hash(n + dim)


def test_kinds_of_dimensions():
    assert isinstance(Dim(3), StaticDim) and isinstance(Dim("n"), SymbolicDim) and isinstance(Dim("n") * 5, AlgebraicDim)
    assert isinstance(Dim("n") * 5 // 5, SymbolicDim) and isinstance(Dim("n") - "n", StaticDim)
    assert int(Dim(3)) == 3 and [10, 20, 30, 40][Dim(3)] == 40 and Dim(3) == 3 and Dim("n") == "n" and Dim(2) < 3
    assert {Dim(3): 1}[3] == 1 and {Dim("n"): 1}["n"] == 1 and Dim(np.int64(4)) == 4 and Dim(Dim("n")) == Dim("n")
    assert str(Dim("batch") * 5) == "batch * 5" and repr(Dim("n")) == "Dim('n')" and repr(StaticDim(2)) == "Dim(2)"
    assert str((Dim("n") + 3) // 4 * 2) == "((n + 3) // 4) * 2" and str(2 - Dim("n")) == "-n + 2"
    assert (Dim("n") * Dim("m") + 1).parameters == ["m", "n"] or (Dim("n") * Dim("m") + 1).parameters == ["n", "m"]
    assert SymbolicDim("n").name == "n" and StaticDim(4).dim == 4
    for wrong in (True, 2.5, None, [1]):
        with pytest.raises(TypeError, match="a dimension must be"):
            Dim(wrong)
    for wrong in ("", "2n", "a b", "n*2"):
        with pytest.raises(ValueError, match="not a name of a dimension"):
            Dim(wrong)
    with pytest.raises(ValueError, match="64 bits"):
        Dim(2**63)
    with pytest.raises(TypeError):
        int(Dim("n"))
    with pytest.raises(TypeError, match="SymbolicDim"):
        SymbolicDim(3)
    with pytest.raises(ZeroDivisionError, match="n is divided"):
        Dim("n") // 0


def test_shapes():
    shape = Shape([1, "n", Dim("n") * 2])
    assert repr(shape) == "Shape([1, 'n', Dim('n') * 2])" and str(shape) == "[1, n, n * 2]" and shape.rank == 3
    assert shape == [1, "n", Dim("n") * 2] and shape != [1, "n"] and not shape.is_static and shape.static_dims == [1]
    assert shape[1] == "n" and shape[-1] == Dim("n") * 2 and list(shape[:1]) == [1] and Shape((2, 3)).is_static
    assert pickle.loads(pickle.dumps(shape)) == shape


def test_types():
    type_ = TensorType(DType.float32, ["n", 3])
    assert type_ == TensorType(DType.float32, Shape(["n", 3]), CPU()) and type_ != TensorType(DType.int8, ["n", 3])
    assert repr(type_) == "TensorType(DType.float32, Shape(['n', 3]), DeviceRef('cpu', 0))"
    assert type_.rank == 2 and type_.as_buffer().as_tensor() == type_ and type_ != type_.as_buffer()
    assert type_.cast(DType.int8) == TensorType(DType.int8, ["n", 3]) and hash(type_) == hash(type_.as_buffer().as_tensor())
    assert TensorType(DType.int8, [2, 3]).num_elements() == 6 and BufferType(DType.int8, []).num_elements() == 1
    with pytest.raises(TypeError, match="not known before"):
        type_.num_elements()
    with pytest.raises(ValueError, match="negative"):
        TensorType(DType.int8, [-1])
    with pytest.raises(TypeError, match="a sequence"):
        TensorType(DType.int8, "abc")
    with pytest.raises(TypeError, match="DType"):
        TensorType("float32", [1])


def test_devices():
    assert str(DeviceRef.GPU(1)) == "gpu:1" and DeviceRef.CPU() == DeviceRef.from_device(CPU()) == DeviceRef("cpu")
    assert DeviceRef.CPU().to_device() == CPU() and DeviceRef.GPU().is_gpu() and DeviceRef.CPU().is_cpu()
    assert DeviceRef(DeviceKind.GPU, 2).id == 2 and DeviceKind.from_string("cuda") is DeviceKind.GPU
    assert repr(DeviceRef.CPU()) == "DeviceRef('cpu', 0)" and len({DeviceRef.CPU(), DeviceRef("cpu"), DeviceRef.GPU()}) == 2
    for wrong in ("tpu", "CPU:0"):
        with pytest.raises(ValueError, match="not a kind of device"):
            DeviceRef(wrong)


@settings(max_examples=25)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_the_library_computes_the_same(session_of_module, trees):
    """Dimensions as tensors, for values of the names that they have in a call."""
    try:
        dims, expected = [Dim(0) + computed(t, Dim) for t in trees], [computed(t, value_of) for t in trees]
    except ZeroDivisionError:
        return
    with Graph("sizes", input_types=[TensorType(DType.int8, ["n", "batch"]), TensorType(DType.int8, ["max"])]) as graph:
        graph.output(TensorValue.from_shape(dims), TensorValue.from_dim(dims[0]))
    made = session_of_module.load(graph)(np.zeros((7, 3), np.int8), np.zeros(5, np.int8))
    assert made[0].to_numpy().tolist() == expected and made[1].item() == expected[0]
