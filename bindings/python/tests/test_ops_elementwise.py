# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops on elements: each operator of the tables, types, promotion, broadcasting, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from operators import FLOATS, build, check, numbers, run, seeds, shapes

from max.dtype import DType
from max.graph import Graph, TensorType, ops
from max.graph.ops import elementwise

erf = np.vectorize(math.erf, otypes=[np.float64])

# Name: numpy's function, and where numbers are taken from.
UNARY = {
    ops.abs: (np.abs, -3, 3),
    ops.acos: (np.arccos, -1, 1),
    ops.acosh: (np.arccosh, 1, 9),
    ops.asin: (np.arcsin, -1, 1),
    ops.asinh: (np.arcsinh, -9, 9),
    ops.atan: (np.arctan, -9, 9),
    ops.atanh: (np.arctanh, -0.9, 0.9),
    ops.ceil: (np.ceil, -3, 3),
    ops.cos: (np.cos, -9, 9),
    ops.cosh: (np.cosh, -3, 3),
    ops.erf: (erf, -3, 3),
    ops.exp: (np.exp, -3, 3),
    ops.floor: (np.floor, -3, 3),
    ops.gelu: (lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, -5, 5),
    ops.is_inf: (np.isinf, -3, 3),
    ops.is_nan: (np.isnan, -3, 3),
    ops.log: (np.log, 0.1, 9),
    ops.log1p: (np.log1p, -0.9, 9),
    ops.negate: (np.negative, -3, 3),
    ops.relu: (lambda x: np.maximum(x, 0), -3, 3),
    ops.round: (np.round, -3, 3),
    ops.rsqrt: (lambda x: 1 / np.sqrt(x), 0.1, 9),
    ops.sigmoid: (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    ops.silu: (lambda x: x / (1 + np.exp(-x)), -9, 9),
    ops.sin: (np.sin, -9, 9),
    ops.sinh: (np.sinh, -3, 3),
    ops.sqrt: (np.sqrt, 0, 9),
    ops.tan: (np.tan, -1, 1),
    ops.tanh: (np.tanh, -3, 3),
    ops.trunc: (np.trunc, -9, 9),
}
ARITHMETIC = {
    ops.add: np.add,
    ops.floor_div: np.floor_divide,
    ops.max: np.maximum,
    ops.min: np.minimum,
    ops.mod: np.mod,
    ops.mul: np.multiply,
    ops.sub: np.subtract,
}
COMPARISONS = {
    ops.equal: np.equal,
    ops.greater: np.greater,
    ops.greater_equal: np.greater_equal,
    ops.less: np.less,
    ops.less_equal: np.less_equal,
    ops.not_equal: np.not_equal,
}
LOGIC = {ops.logical_and: np.logical_and, ops.logical_or: np.logical_or, ops.logical_xor: np.logical_xor}


def named(table):
    return [pytest.param(function, *row, id=function.__name__) for function, row in table.items()]


def test_tables_are_complete():
    tested = {f.__name__ for table in (UNARY, ARITHMETIC, COMPARISONS, LOGIC) for f in table}
    assert {*elementwise.__all__} - tested == {"div", "logical_not", "pow", "where"}


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_functions_of_one(function):
    oracle, low, high = UNARY[function]
    for seed, dtype in enumerate(FLOATS):
        x = numbers(seed, 3, 4, dtype=dtype, low=low, high=high)
        want = np.asarray(oracle(x.astype(np.float64)))
        check(function, [x], want if want.dtype == bool else want.astype(dtype))
    assert run(function, np.zeros((0, 2), np.float32))[0].shape == (0, 2)


@settings(max_examples=8)
@given(shape=shapes(), seed=seeds)
def test_functions_of_one_at_any_shape(shape, seed):
    x = numbers(seed, *shape)
    check(lambda x: [ops.exp(x), ops.trunc(x), ops.silu(x)], [x], [np.exp(x), np.trunc(x), x / (1 + np.exp(-x))])


def test_what_is_not_finite():
    x = np.array([np.nan, np.inf, -np.inf, 0, -0.0], np.float32)
    check(lambda x: [ops.is_nan(x), ops.is_inf(x)], [x], [np.isnan(x), np.isinf(x)])
    with np.errstate(all="ignore"):
        check(lambda x: [ops.log1p(x), ops.trunc(x)], [x], [np.log1p(x), np.trunc(x)])
    tiny = np.array([1e-8, -1e-8, 1e-20, 1e30, -1, np.inf], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(ops.log1p, tiny)[0], np.log1p(tiny), rtol=1e-6)


def test_whole_numbers():
    x = np.array([[-3, 2, 0]], np.int32)
    check(lambda x: [ops.abs(x), ops.negate(x), ops.relu(x)], [x], [abs(x), -x, np.maximum(x, 0)])
    b = np.array([True, False])
    check(ops.logical_not, [b], ~b)


def test_gelu_has_three_forms():
    x = numbers(0, 20).astype(np.float64)
    tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    check(lambda x: [ops.gelu(x, "tanh"), ops.gelu(x, "quick")], [x], [tanh, x / (1 + np.exp(-1.702 * x))])
    with pytest.raises(ValueError, match=r"gelu: approximate must be .*, not 'fast'.*test_ops_elementwise.py:\d+"):
        run(lambda x: ops.gelu(x, "fast"), x)


@pytest.mark.parametrize("function, oracle", [*{**ARITHMETIC, **COMPARISONS}.items()], ids=lambda f: f.__name__)
def test_functions_of_two(function, oracle):
    for seed, dtype in enumerate((np.float32, np.float64, np.int32, np.int64, np.uint8)):
        low = 0 if dtype is np.uint8 else -9
        x, y = numbers(seed, 2, 5, dtype=dtype, low=low, high=9), numbers(seed + 9, 5, dtype=dtype, low=low, high=9)
        y[y == 0] = 3
        check(function, [x, y], oracle(x, y))


@pytest.mark.parametrize("function, oracle", [*LOGIC.items()], ids=lambda f: f.__name__)
def test_logic(function, oracle):
    x, y = np.array([[True], [False]]), np.array([True, False])
    check(function, [x, y], oracle(x, y))


@settings(max_examples=12)
@given(found=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4), seed=seeds)
def test_operands_are_broadcast(found, seed):
    x, y = (numbers(seed + i, *shape) for i, shape in enumerate(found.input_shapes))
    check(lambda x, y: [ops.add(x, y), ops.mul(x, y), ops.less(x, y)], [x, y], [x + y, x * y, x < y])


def test_division_and_powers():
    x, y = np.array([7, -7, 6], np.int64), np.array([2, 2, -4], np.int64)
    check(ops.div, [x, y], x / y)
    check(ops.div, [x.astype(np.float32), y.astype(np.float32)], (x / y).astype(np.float32))
    f = np.array([0.5, 2, 3], np.float32)
    check(lambda x: [ops.pow(x, 2), ops.pow(2, x)], [f], [f**2, np.float32(2) ** f])
    for dtype in (np.int32, np.int64, np.uint8, np.int16):
        n = np.array([1, 2, 3], dtype)
        check(lambda x: ops.pow(x, 3), [n], n**3)
    check(lambda x: x % -2.5, [f], np.mod(f, np.float32(-2.5)))
    check(lambda x: [x // 2, -x // 2, x % 4], [x], [x // 2, -x // 2, x % 4])


def test_where():
    c, x = np.array([[True], [False]]), np.array([1, 2, 3], np.int32)
    check(lambda c, x: [ops.where(c, x, -1), ops.where(c, 0, x)], [c, x], [np.where(c, x, -1), np.where(c, 0, x)])
    wide = np.ones(3, np.int64)
    check(ops.where, [c, x, wide], np.where(c, x, wide))


def numpy_of(dtype):
    return np.ones(2, dtype.to_numpy())


@pytest.mark.parametrize("dtype", FLOATS)
def test_acos_beyond_its_domain(dtype):
    x = np.array([-np.inf, -7, -1, 0.5, 1, 1.0625, np.inf, np.nan], dtype)
    check(ops.acos, [x], np.arccos(np.clip(x, -1, 1)), 1e-3 if dtype is np.float16 else 1e-5)



@pytest.mark.parametrize(
    "left, right, common",
    [
        ("bool", "uint8", "uint8"),
        ("bool", "float32", "float32"),
        ("uint8", "int16", "int16"),
        ("uint8", "uint32", "uint32"),
        ("int8", "int64", "int64"),
        ("int32", "float32", "float32"),
        ("int16", "float64", "float64"),
        ("uint16", "bfloat16", "bfloat16"),
        ("float16", "float32", "float32"),
    ],
)
def test_types_are_promoted(left, right, common):
    x, y = numpy_of(DType[left]), numpy_of(DType[right])
    for first, second in ((x, y), (y, x)):
        graph = build(lambda a, b: [ops.add(a, b), ops.concat([a, b]), ops.where(a == b, a, b)], first, second)
        assert [found.dtype.name for found in graph.output_types] == [common] * 3
    assert run(ops.add, x, y)[0].astype(float).tolist() == [2, 2]


@pytest.mark.parametrize(
    "left, right",
    [("uint8", "int8"), ("int64", "float32"), ("uint64", "int64"), ("float16", "bfloat16"), ("uint16", "int8")],
)
@pytest.mark.parametrize("function", [ops.add, ops.matmul, ops.max], ids=lambda f: f.__name__)
def test_types_that_none_holds(function, left, right):
    with pytest.raises(ValueError, match=rf"{function.__name__}: none of {left}, {right} .*\w+.py:\d+"):
        build(function, numpy_of(DType[left]), numpy_of(DType[right]))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, np.float64])
def test_numbers_take_the_type_that_they_meet(dtype):
    x = np.array([1, 2], dtype)
    check(lambda x: [ops.add(x, 3), ops.mul(2, x), x - np.int64(1)], [x], [x + 3, 2 * x, x - 1])


def test_numbers_that_meet_numbers():
    condition = np.array([True, False])
    check(lambda: [ops.add(1, 2.5), ops.mul(True, 3)], [], [np.float32(3.5), np.int64(3)])
    check(lambda c: ops.where(c, 1, 2.5), [condition], np.array([1, 2.5], np.float32))
    check(lambda: ops.range(0, 2, 0.5), [], np.arange(0, 2, 0.5, np.float32))


@pytest.mark.parametrize("number, dtype", [(1.5, "int32"), (300, "uint8"), (-1, "uint64"), (float("nan"), "int8")])
@pytest.mark.parametrize("function", [ops.add, ops.equal, ops.sub], ids=lambda f: f.__name__)
def test_numbers_that_a_type_lacks(function, number, dtype):
    with pytest.raises(ValueError, match=rf"cannot be converted to {dtype}.*\w+.py:\d+"):
        Graph("numbers", lambda x: function(x, number), [TensorType(DType[dtype], [2])])


@pytest.mark.parametrize(
    "function", [ops.exp, ops.sqrt, ops.tanh, ops.silu, ops.rsqrt, ops.is_nan, ops.log1p, ops.gelu]
)
def test_floats_are_needed(function):
    with pytest.raises(ValueError, match=rf"{function.__name__}: the elements of x must be floating-point .*, not int32"):
        build(function, np.ones(2, np.int32))


@pytest.mark.parametrize("function", [ops.add, ops.less, ops.logical_xor, ops.logical_not, ops.abs])
def test_kinds_of_operands(function):
    wrong = np.ones(2, bool if function in (ops.add, ops.less, ops.abs) else np.float32)
    arrays = [wrong] * (1 if function in (ops.logical_not, ops.abs) else 2)
    with pytest.raises(ValueError, match=rf"{function.__name__}: .* must be .*\w+.py:\d+"):
        build(function, *arrays)


@given(left=st.sampled_from([(2, 3), (4,)]), right=st.sampled_from([(5,), (2, 2)]))
@settings(max_examples=4)
def test_shapes_that_cannot_be_broadcast(left, right):
    for function in (ops.add, ops.pow, ops.equal):
        with pytest.raises(ValueError, match=r"do not broadcast.*\w+.py:\d+"):
            build(function, np.ones(left, np.float32), np.ones(right, np.float32))
