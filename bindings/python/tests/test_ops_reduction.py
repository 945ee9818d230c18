# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops along an axis: reductions, sums, order, choices, normalisation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import build, check, numbers, run, seeds, shapes

from max.graph import ops


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


REDUCTIONS = {
    ops.argmax: lambda x, axis: x.argmax(axis, keepdims=True),
    ops.argmin: lambda x, axis: x.argmin(axis, keepdims=True),
    ops.max: lambda x, axis: x.max(axis, keepdims=True),
    ops.mean: lambda x, axis: x.mean(axis, keepdims=True),
    ops.min: lambda x, axis: x.min(axis, keepdims=True),
    ops.prod: lambda x, axis: x.prod(axis, keepdims=True, dtype=x.dtype),
    ops.sum: lambda x, axis: x.sum(axis, keepdims=True, dtype=x.dtype),
    ops.softmax: softmax,
    ops.logsoftmax: lambda x, axis: np.log(softmax(x, axis)),
    ops.cumsum: lambda x, axis: x.cumsum(axis, dtype=x.dtype),
}


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_along_an_axis(function):
    oracle = REDUCTIONS[function]
    x = numbers(1, 2, 3, 4)
    for axis in range(-3, 3):
        check(lambda x: function(x, axis=axis), [x], oracle(x, axis))
    check(function, [x], oracle(x, -1))
    for dtype in (np.float64, np.int32, np.int64):
        y = numbers(2, 3, 4, dtype=dtype, low=1, high=5)
        if dtype is np.float64 or function not in (ops.mean, ops.softmax, ops.logsoftmax):
            check(function, [y], oracle(y, -1))


@settings(max_examples=10)
@given(shape=shapes(1), seed=seeds, data=st.data())
def test_along_any_axis(shape, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = numbers(seed, *shape)
    check(
        lambda x: [ops.sum(x, axis), ops.max(x, axis=axis), ops.argmin(x, axis), ops.softmax(x, axis)],
        [x],
        [x.sum(axis, keepdims=True), x.max(axis, keepdims=True), x.argmin(axis, keepdims=True), softmax(x, axis)],
    )


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(exclusive, reverse):
    x = numbers(3, 3, 5)
    y = x[:, ::-1] if reverse else x
    y = y.cumsum(1) - (y if exclusive else 0)
    check(lambda x: ops.cumsum(x, 1, exclusive, reverse), [x], y[:, ::-1] if reverse else y)


def test_two_tensors_or_one():
    x, y = numbers(1, 3), numbers(2, 2, 3)
    check(lambda x, y: [ops.max(x, y), ops.min(x, 0.5)], [x, y], [np.maximum(x, y), np.minimum(x, np.float32(0.5))])
    with pytest.raises(ValueError, match=r"max: axis is for one tensor.*test_ops_reduction.py:\d+"):
        build(lambda x, y: ops.max(x, y, axis=0), x, y)


@settings(max_examples=8)
@given(shape=shapes(1, 3), seed=seeds)
def test_order(shape, seed):
    x = numbers(seed, *shape, dtype=np.int32, low=0, high=4)  # with equal ones
    k = max(1, shape[-1] - 1)
    order, back = x.argsort(-1, kind="stable"), (-x).argsort(-1, kind="stable")
    take = lambda indices: np.take_along_axis(x, indices, -1)  # noqa: E731
    check(
        lambda x: [ops.argsort(x), ops.argsort(x, ascending=False), *ops.top_k(x, k), *ops.bottom_k(x, k)],
        [x],
        [order, back, take(back[..., :k]), back[..., :k], take(order[..., :k]), order[..., :k]],
    )


def test_order_along_other_axes():
    x = numbers(5, 3, 4)
    check(lambda x: ops.argsort(x, axis=0), [x], x.argsort(0, kind="stable"))
    check(lambda x: ops.top_k(x, 2, axis=0), [x], [-np.sort(-x, 0)[:2], np.argsort(-x, 0, kind="stable")[:2]])
    k = np.array(2)
    made = run(lambda x, k: ops.bottom_k(x, k, 0), x, k)
    np.testing.assert_array_equal(made[0], np.sort(x, 0)[:2])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_nonzero(dtype):
    x = (numbers(4, 3, 4) > 0).astype(dtype)
    check(lambda x: ops.nonzero(x, "found"), [x], np.argwhere(x))
    assert build(lambda x: ops.nonzero(x, "found"), x).output_types[0].shape == ["found", 2]
    assert run(lambda x: ops.nonzero(x, "found"), np.zeros(3, dtype))[0].shape == (0, 1)


def layer_norm(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@settings(max_examples=6)
@given(shape=shapes(1), seed=seeds)
def test_norms(shape, seed):
    x, gamma, beta = numbers(seed, *shape), numbers(seed + 1, shape[-1]), numbers(seed + 2, shape[-1])
    root = x / np.sqrt((x**2).mean(-1, keepdims=True) + 0.1)
    check(
        lambda x, g, b: [ops.layer_norm(x, g, b, 0.1), ops.rms_norm(x, g, 0.1), ops.rms_norm(x, g, 0.1, 1.0)],
        [x, gamma, beta],
        [layer_norm(x, -1, np.float32(0.1)) * gamma + beta, root * gamma, root * (gamma + 1)],
        tolerance=1e-4,
    )


def test_rms_norm_of_halves():
    x, w = numbers(1, 4, 64, dtype=np.float16), numbers(2, 64, dtype=np.float16)
    exact = x.astype(np.float64) / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5)
    made, late = run(lambda x, w: [ops.rms_norm(x, w, 1e-5), ops.rms_norm(x, w, 1e-5, 0.0, True)], x, w)
    np.testing.assert_array_equal(made, exact.astype(np.float16) * w)
    np.testing.assert_allclose(late, (exact * w).astype(np.float16), rtol=1e-3)
    assert abs(late - exact * w).sum() < abs(made - exact * w).sum()  # rounded once


@pytest.mark.parametrize("shape, groups", [((2, 6, 5), 3), ((1, 4, 3, 3), 1), ((2, 4, 2, 3, 2), 4)])
def test_group_norm(shape, groups):
    x, gamma, beta = numbers(1, *shape), numbers(2, shape[1]), numbers(3, shape[1])
    wide = x.reshape(shape[0], groups, -1)
    columns = (-1, *[1] * (len(shape) - 2))
    want = layer_norm(wide, -1, np.float32(1e-3)).reshape(shape) * gamma.reshape(columns) + beta.reshape(columns)
    check(lambda x, g, b: ops.group_norm(x, g, b, groups, 1e-3), [x, gamma, beta], want, tolerance=1e-4)


X = numbers(0, 2, 6, 4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.sum(x, 3), "sum: axis 3 lies outside a tensor of 3 dimensions"),
        (lambda x: ops.argmax(x, -4), "argmax: axis -4 lies outside"),
        (lambda x: ops.top_k(x, 1, 5), "top_k: axis 5 lies outside"),
        (lambda x: ops.top_k(x, -1), "top_k: k must be at least 0, not -1"),
        (lambda x: ops.bottom_k(x, 5), "TopK"),
        (lambda x: ops.nonzero(ops.constant(1), "n"), "nonzero: x must have"),
        (lambda x: ops.softmax(ops.argmax(x)), "softmax: the elements of x must be floating-point .*, not int64"),
        (lambda x: ops.mean(x > 0), "mean: the elements of x must be numbers, not bool"),
        (lambda x: ops.layer_norm(x, x, x, 0.1), "layer_norm: gamma must have"),
        (lambda x: ops.rms_norm(x, np.ones(3, np.float32), 0.1), "RMSNormalization"),
        (lambda x: ops.group_norm(x, np.ones(6), np.ones(6), 4, 0.1), "group_norm: 6 channels do not split into 4"),
        (lambda x: ops.group_norm(x, np.ones(6), np.ones(6), 0, 0.1), "num_groups must be at least 1, not 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=rf"{message}.*test_ops_reduction.py:\d+"):
        build(call, X)


@pytest.mark.parametrize(
    "call",
    [lambda x: ops.sum(x, 1.0), lambda x: ops.argsort(x, axis="0"), lambda x: ops.layer_norm(x, X[0, 0], X[0, 0], "1")],
)
def test_wrong_types(call):
    with pytest.raises(TypeError, match=r"test_ops_reduction.py:\d+"):
        build(call, X)
