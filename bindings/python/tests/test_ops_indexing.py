# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops by indices: what is taken, written and added."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import build, check, numbers, run, seeds, shapes

from max.graph import ops

WRITES = {"": None, "_add": np.add, "_max": np.maximum, "_min": np.minimum, "_mul": np.multiply}
SCATTERS = dict(zip(WRITES, (ops.scatter, ops.scatter_add, ops.scatter_max, ops.scatter_min, ops.scatter_mul)))
SLICES = (ops.scatter_nd, ops.scatter_nd_add, ops.scatter_nd_max, ops.scatter_nd_min, ops.scatter_nd_mul)
SCATTERS_ND = dict(zip(WRITES, SLICES))
TYPES = (np.float32, np.int64, np.float64, np.int32)


def indices(seed, size, *shape, negative=True):
    return np.random.default_rng(seed).integers(-size if negative else 0, size, shape)


@settings(max_examples=10)
@given(shape=shapes(1), wanted=shapes(0, 2), seed=seeds, data=st.data())
def test_gather(shape, wanted, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, at = numbers(seed, *shape), indices(seed, shape[axis], *wanted)
    check(lambda x, at: ops.gather(x, at, axis), [x, at], np.take(x, at, axis))
    check(lambda x, at: ops.gather(x, at, axis), [x, at.astype(np.int8)], np.take(x, at, axis))


@settings(max_examples=10)
@given(shape=shapes(2), wanted=shapes(0, 2), seed=seeds, data=st.data())
def test_gather_nd(shape, wanted, seed, data):
    depth = data.draw(st.integers(1, len(shape)))
    x = numbers(seed, *shape)
    at = np.stack([indices(seed + i, shape[i], *wanted) for i in range(depth)], -1)
    check(ops.gather_nd, [x, at], x[tuple(np.moveaxis(at, -1, 0))], named=False)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_gather_nd_in_batches(dtype):
    x, at = numbers(1, 3, 4, 2).astype(dtype), indices(1, 4, 3, 5, 1)
    want = np.stack([row[places[:, 0]] for row, places in zip(x, at)])
    check(lambda x, at: ops.gather_nd(x, at, 1), [x, at], want, named=False)


@pytest.mark.parametrize("how", WRITES)
@settings(max_examples=6)
@given(shape=shapes(1, 3), seed=seeds, data=st.data())
def test_scatter(how, shape, seed, data):
    dtype = data.draw(st.sampled_from(TYPES))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, updates = numbers(seed, *shape, dtype=dtype), numbers(seed + 1, *shape, dtype=dtype)
    at = np.random.default_rng(seed).permuted(np.indices(shape)[axis], axis=axis % len(shape))  # each place once
    if how:
        at = indices(seed, shape[axis], *shape)
    want = x.copy()
    for place in np.ndindex(*shape):
        spot = [*place]
        spot[axis] = at[place]
        want[tuple(spot)] = WRITES[how](want[tuple(spot)], updates[place]) if how else updates[place]
    check(lambda x, u, at: SCATTERS[how](x, u, at, axis), [x, updates, at], want, tolerance=1e-4)
    check(lambda x, u, at: SCATTERS[how](x, u, at, axis), [x, updates, at.astype(np.int32)], want, 1e-4)


@pytest.mark.parametrize("how", WRITES)
@settings(max_examples=6)
@given(shape=shapes(1, 3), seed=seeds, data=st.data())
def test_scatter_nd(how, shape, seed, data):
    dtype = data.draw(st.sampled_from(TYPES))
    depth, count = data.draw(st.integers(1, len(shape))), data.draw(st.integers(0, 3))
    x = numbers(seed, *shape, dtype=dtype)
    at = np.stack([indices(seed + i, shape[i], count) for i in range(depth)], -1).reshape(count, depth)
    if not how:
        at = at[:1]
    updates = numbers(seed + 1, len(at), *shape[depth:], dtype=dtype)
    want = x.copy()
    for spot, update in zip(map(tuple, at), updates):
        want[spot] = WRITES[how](want[spot], update) if how else update
    for kind in (np.int64, np.int32, np.int16):
        check(lambda x, u, at: SCATTERS_ND[how](x, u, at), [x, updates, at.astype(kind)], want, tolerance=1e-4)


@settings(max_examples=8)
@given(shape=shapes(1, 3), seed=seeds, data=st.data())
def test_masked_scatter(shape, seed, data):
    dtype = data.draw(st.sampled_from([np.float32, np.int32, bool]))
    x = numbers(seed, *shape).astype(dtype)
    mask = np.random.default_rng(seed).integers(0, 2, shape[-1:] if data.draw(st.booleans()) else shape).astype(bool)
    updates = numbers(seed + 1, x.size + 2).astype(dtype)
    want, wide = x.copy(), np.broadcast_to(mask, shape)
    want[wide] = updates[: wide.sum()]
    check(lambda x, m, u: ops.masked_scatter(x, m, u, "written"), [x, mask, updates], want)


def test_masks_at_their_limits():
    x, updates = np.zeros(3, np.float32), np.ones(2, np.float32)
    call = lambda x, m, u: ops.masked_scatter(x, m, u, "written")  # noqa: E731
    assert run(call, x, np.zeros(3, bool), updates)[0].tolist() == [0, 0, 0]
    assert run(call, x, np.array([True, False, True]), updates)[0].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="ScatterND"):
        run(call, x, np.ones(3, bool), updates)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, at: ops.gather(x, at, 0),
        lambda x, at: ops.gather_nd(x, ops.unsqueeze(at, -1)),
        lambda x, at: ops.scatter(x, np.ones((1, 4), np.float32), ops.broadcast_to(at, [1, 4]), 0),
        lambda x, at: ops.scatter_nd_add(x, np.ones((1, 4), np.float32), ops.unsqueeze(at, -1)),
    ],
)
@pytest.mark.parametrize("index", [3, -4, 2**40])
def test_indices_outside(call, index):
    with pytest.raises((ValueError, IndexError), match=str(index)):
        run(call, np.zeros((3, 4), np.float32), np.array([index]))


X = numbers(0, 3, 4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.gather(x, 0.5, 0), "gather: the elements of indices must be .*, not float32"),
        (lambda x: ops.gather(x, 0, 2), "gather: axis 2 lies outside"),
        (lambda x: ops.gather_nd(x, np.zeros((1, 3), np.int64)), "GatherND"),
        (lambda x: ops.gather_nd(x, np.zeros((2, 1), np.int64), 1), "GatherND"),
        (lambda x: ops.gather_nd(x, 0, -1), "gather_nd: batch_dims must be at least 0, not -1"),
        (
            lambda x: ops.scatter(x, X.astype(np.float64), np.zeros((3, 4), np.int64)),
            "scatter: the elements of updates must be",
        ),
        (lambda x: ops.scatter_add(x, x, x), "scatter_add: the elements of indices must be .*, not float32"),
        (
            lambda x: ops.scatter_max(x > 0, x > 0, np.zeros((3, 4), np.int64)),
            "scatter_max: the elements of input must be .*, not bool",
        ),
        (lambda x: ops.scatter_min(x, x, np.zeros(3, np.int64)), "ScatterElements"),
        (lambda x: ops.scatter_mul(x, x, np.zeros((3, 4), np.int64), -3), "scatter_mul: axis -3"),
        (lambda x: ops.scatter_nd(x, x, np.zeros((3, 3), np.int64)), "ScatterND"),
        (lambda x: ops.scatter_nd_max(x, np.zeros(4, np.int32), np.zeros((3, 1), np.int64)), "must be float32"),
        (lambda x: ops.masked_scatter(x, x, x, "n"), "masked_scatter: the elements of mask must be .*, not float32"),
        (lambda x: ops.masked_scatter(x, x > 0, np.ones(12), "n"), "masked_scatter: the elements of updates must be .*, not float64"),
        (lambda x: ops.masked_scatter(x, np.ones(3, bool), x, "n"), "broadcast_to"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=rf"{message}.*test_ops_indexing.py:\d+"):
        build(call, X)
