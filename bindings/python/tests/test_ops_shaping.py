# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops on shapes, and what makes tensors and parts of matrices."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import build, check, numbers, run, seeds, shapes

from max.dtype import DType
from max.graph import DeviceRef, Dim, Graph, TensorType, ops


@settings(max_examples=12)
@given(shape=shapes(1), seed=seeds, data=st.data())
def test_any_shape(shape, seed, data):
    x, rank = numbers(seed, *shape), len(shape)
    axis, other = data.draw(st.integers(-rank, rank - 1)), data.draw(st.integers(-rank, rank - 1))
    order = data.draw(st.permutations(range(rank)))
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
    check(
        lambda x: [
            ops.permute(x, order),
            ops.transpose(x, axis, other),
            ops.unsqueeze(x, axis),
            ops.squeeze(ops.unsqueeze(x, axis), axis),
            ops.flatten(x),
            ops.flatten(x, min(axis % rank, other % rank), max(axis % rank, other % rank)),
            ops.concat([x, x, x], axis),
            ops.stack([x, x], axis),
            ops.tile(x, repeats),
            ops.repeat_interleave(x, 2, axis),
            ops.repeat_interleave(x, 3),
            ops.reshape(x, [-1]),
        ],
        [x],
        [
            x.transpose(order),
            x.swapaxes(axis, other),
            np.expand_dims(x, axis),
            x,
            x.reshape(-1),
            flattened(x, *sorted((axis % rank, other % rank))),
            np.concatenate([x] * 3, axis),
            np.stack([x, x], axis),
            np.tile(x, repeats),
            np.repeat(x, 2, axis),
            np.repeat(x, 3),
            x.reshape(-1),
        ],
        exact=True,
    )


def flattened(x, first, last):
    return x.reshape(*x.shape[:first], int(np.prod(x.shape[first : last + 1])), *x.shape[last + 1 :])


@settings(max_examples=8)
@given(shape=shapes(1, 3), data=st.data())
def test_pieces(shape, data):
    x = numbers(1, *shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = shape[axis]
    cut = data.draw(st.integers(0, size))
    check(lambda x: ops.split(x, [cut, size - cut], axis), [x], np.split(x, [cut], axis))
    check(lambda x: ops.chunk(x, size, axis), [x], np.split(x, size, axis), named=False)


INDICES = [
    (1,),
    (-1, slice(1, None)),
    (slice(None, None, -1), 2),
    (..., slice(0, 4, 2)),
    (None, 0, ..., None),
    (slice(2, 0, -1), slice(-2, None), slice(5, 9)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slices(index):
    x = numbers(1, 3, 4, 5)
    check(lambda x: [ops.slice_tensor(x, index), ops.slice_tensor(x, [*index]), x[index]], [x], [x[index]] * 3)


def test_slices_with_names_and_tensors():
    x, at = numbers(1, 3, 4), np.array([2, 0])
    check(lambda x, at: ops.slice_tensor(x, [at, slice(1, 3)]), [x, at], x[at, 1:3])
    graph = build(lambda x: ops.slice_tensor(x, [(slice(0, 2), "first"), 1]), x, named=True)
    assert graph.output_types[0].shape == ["first"]


MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@pytest.mark.parametrize("mode", MODES)
def test_pad(mode):
    x = numbers(1, 3, 4)
    check(lambda x: ops.pad(x, [1, 2, 0, 3], mode), [x], np.pad(x, [(1, 2), (0, 3)], MODES[mode]))


@pytest.mark.parametrize("dtype, value", [(np.float32, 2.5), (np.int8, -3), (bool, True)])
def test_pad_with_a_value(dtype, value):
    x = np.ones((2, 2), dtype)
    check(lambda x: ops.pad(x, [1, 0, 0, 1], value=value), [x], np.pad(x, [(1, 0), (0, 1)], constant_values=value))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
def test_broadcast_to(dtype):
    x = numbers(1, 3, 1).astype(dtype)
    check(lambda x: ops.broadcast_to(x, [2, 3, 4]), [x], np.broadcast_to(x, (2, 3, 4)))
    sizes = np.array([5, 3, 2])
    check(lambda x, s: ops.broadcast_to(x, s, ["a", 3, "b"]), [x, sizes], np.broadcast_to(x, sizes))


@pytest.mark.parametrize("shape, wanted", [((0, 3), (3, 0)), ((2, 0, 3), (0, 6)), ((0,), (2, 0, 5))])
def test_reshapes_of_nothing(shape, wanted):
    x = np.zeros(shape, np.float32)
    check(lambda x: ops.reshape(x, wanted), [x], x.reshape(wanted))


def test_names_of_dimensions():
    """Shapes are told with the names of the inputs, and reshapes take them."""
    types = [TensorType(DType.float32, ["batch", "n", 4])]

    def forward(x):
        batch, n, four = x.shape
        return [
            ops.reshape(x, [batch * n, four]),
            ops.reshape(x, [batch, -1]),
            ops.flatten(x, 1),
            ops.broadcast_to(ops.unsqueeze(x, 0), [3, batch, n, 4]),
            ops.concat([x, x], 1),
            ops.repeat_interleave(x, 2, 0),
            ops.tile(x, [1, 2, 1]),
            ops.chunk(ops.reshape(x, [batch, n * 4]), 2, 1)[0],
            ops.permute(x, [2, 0, 1]),
        ]

    graph = Graph("named", forward, types)
    batch, n = Dim("batch"), Dim("n")
    assert [type_.shape for type_ in graph.output_types] == [
        [batch * n, 4],
        [batch, n * 4],
        [batch, n * 4],
        [3, batch, n, 4],
        [batch, n * 2, 4],
        [batch * 2, n, 4],
        [batch, n * 2, 4],
        [batch, n * 2],
        [4, batch, n],
    ]


@pytest.mark.parametrize("counts", [[2, 0, 3], [0, 0, 0], [1, 1, 1], [4, 0, 0]])
@pytest.mark.parametrize("axis", [0, -1])
def test_repeats_of_each(counts, axis):
    x = numbers(1, 3, 3)
    check(
        lambda x, n: ops.repeat_interleave(x, n, axis, "many"), [x, np.array(counts)], np.repeat(x, counts, axis),

    )  # fmt: skip
    check(lambda x, n: ops.repeat_interleave(x, n, axis, 6), [x, np.array([2])], np.repeat(x, 2, axis))


CASTS = [np.float32, np.float64, np.float16, np.int32, np.uint8, np.int64, bool, ml_dtypes.bfloat16]


@pytest.mark.parametrize("target", CASTS, ids=lambda t: np.dtype(t).name)
def test_cast(target):
    dtype = DType.from_numpy(target)
    for source in (np.float32, np.int64, bool):
        x = np.array([0, 1, 3, 7], source)
        made = run(lambda x: ops.cast(x, dtype), x)[0]
        assert made.dtype == target and made.astype(float).tolist() == x.astype(target).astype(float).tolist()
    half = np.array([1.7, -1.7], np.float32)
    if np.dtype(target).kind == "i":
        check(lambda x: x.cast(dtype), [half], half.astype(target))


@settings(max_examples=10)
@given(shape=shapes(2, 3), lower=st.integers(-1, 4), upper=st.integers(-1, 4), exclude=st.booleans())
def test_band_part(shape, lower, upper, exclude):
    row, column = np.indices(shape[-2:])
    band = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
    for dtype in (np.float32, np.int32, bool):
        x = np.ones(shape, dtype)
        x.flat[0] = 0
        want = np.where(band ^ exclude, x, np.zeros((), dtype))
        check(lambda x: ops.band_part(x, lower, upper, exclude), [x], want)
    x = np.full((2, 2), np.nan, np.float32)
    assert run(lambda x: ops.band_part(x, None, 0, exclude=True), x)[0][0, 0] == 0


@settings(max_examples=8)
@given(m=st.integers(1, 4), k=st.integers(0, 5), n=st.integers(1, 4), batch=shapes(0, 2), seed=seeds)
def test_matmul(m, k, n, batch, seed):
    for dtype in (np.float32, np.float64, np.int32):
        x, y = numbers(seed, *batch, m, k, dtype=dtype), numbers(seed + 1, k, n, dtype=dtype)
        check(lambda x, y: [ops.matmul(x, y), x @ y], [x, y], [x @ y] * 2)
        check(ops.matmul, [x, y[:, 0]], x @ y[:, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
def test_outer(dtype):
    x, y = numbers(1, 3, dtype=dtype), numbers(2, 4, dtype=dtype)
    check(ops.outer, [x, y], np.outer(x, y))


@pytest.mark.parametrize("bounds", [(0, 10, 3), (5, 0, -2), (3, 3, 1), (4, 1, 1), (-2, 3, 1)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_range(bounds, dtype):
    want = np.arange(*bounds).astype(dtype)
    check(lambda: ops.range(*bounds, dtype=DType.from_numpy(dtype), device=DeviceRef.CPU()), [], want)
    arrays = [np.array(bound, dtype) for bound in bounds]
    check(lambda a, b, c: ops.range(a, b, c, "many"), arrays, want)
    check(lambda: ops.range(*map(dtype, bounds)), [], np.arange(*bounds)) if dtype is np.int64 else None


def test_range_over_a_dimension():
    graph = Graph("range", lambda x: ops.range(0, x.shape[0], 1, x.shape[0]), [TensorType(DType.float32, ["n"])])
    assert graph.output_types[0] == TensorType(DType.int64, ["n"])
    check(lambda x: ops.range(0, x.shape[0], dtype=DType.int64), [np.ones(4, np.float32)], np.arange(4))


@pytest.mark.parametrize("length", [0, 1, 2, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_hann_window(length, dtype):
    for periodic in (True, False):
        want = np.hanning(length + periodic)[:length] if length > 1 else np.ones(length)
        type_ = DType.from_numpy(dtype)
        check(lambda: ops.hann_window(length, DeviceRef.CPU(), periodic, type_), [], want.astype(dtype))


X = numbers(0, 2, 3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.reshape(x, [-1, -1]), r"reshape: shape .* has -1 more than once"),
        (lambda x: ops.reshape(x, [4, -1]), "reshape: .* has 6 elements, which is not a multiple of 4"),
        (lambda x: ops.reshape(x, [0, -1]), "reshape: -1 in .* is not known"),
        (lambda x: ops.reshape(x, [7]), "Reshape"),
        (lambda x: ops.flatten(x, 1, 0), "flatten: start_dim 1 lies behind end_dim 0"),
        (lambda x: ops.permute(x, [0, 0]), r"permute: dims \[0, 0\] are not a permutation of 2"),
        (lambda x: ops.permute(x, [0]), "permute: dims"),
        (lambda x: ops.transpose(x, 0, 2), "transpose: axis 2 lies outside"),
        (lambda x: ops.squeeze(x, 0), "Squeeze"),
        (lambda x: ops.squeeze(x, 2), "squeeze: axis 2"),
        (lambda x: ops.unsqueeze(x, 3), "unsqueeze: axis 3 lies outside a tensor of 3"),
        (lambda x: ops.broadcast_to(x, [2, 4]), "broadcast_to: .* 3 is neither 1 nor 4"),
        (lambda x: ops.broadcast_to(x, [3]), "broadcast_to: .* has more dimensions"),
        (lambda x: ops.broadcast_to(x, ops.constant([2, 3])), "out_dims are needed"),
        (lambda x: ops.concat([], 0), "concat needs at least one tensor"),
        (lambda x: ops.concat([x, x], 2), "concat: axis 2"),
        (lambda x: ops.concat([x, ops.transpose(x, 0, 1)]), "Concat"),
        (lambda x: ops.stack([x, ops.flatten(x)]), "stack: the shapes"),
        (lambda x: ops.slice_tensor(x, [0, slice(0, 2, 0)]), "a slice has the step 0"),
        (lambda x: ops.split(x, [1, 1], 1), "Split"),
        (lambda x: ops.split(x, [], 1), "split: split_sizes is empty"),
        (lambda x: ops.chunk(x, 2, 1), "chunk: the size 3 of axis 1 is not a multiple of 2"),
        (lambda x: ops.chunk(x, 0), "chunk: chunks must be at least 1, not 0"),
        (lambda x: ops.pad(x, [1, 1]), "pad: paddings has 2 numbers, 2 dimensions need 4"),
        (lambda x: ops.pad(x, [0, 0, 0, -1]), "pad: paddings must be at least 0, not -1"),
        (lambda x: ops.pad(x, [0] * 4, "mirror"), "pad: mode must be one of .*, not 'mirror'"),
        (lambda x: ops.tile(x, [2]), "tile: repeats has 1 numbers"),
        (lambda x: ops.tile(x, [2, -1]), "tile: repeats .* has a negative number"),
        (lambda x: ops.repeat_interleave(x, -1), "repeats must be at least 0, not -1"),
        (lambda x: ops.repeat_interleave(x, ops.constant([1, 2]), 0), "out_dim is needed"),
        (lambda x: ops.band_part(x, -2), "num_lower must be at least -1, not -2"),
        (lambda x: ops.band_part(ops.flatten(x)), "band_part: x must have"),
        (lambda x: ops.outer(x, x), "outer: lhs must have"),
        (lambda x: ops.matmul(x, x), "MatMul"),
        (lambda x: ops.matmul(x, 2), "matmul: rhs must have"),
        (lambda x: ops.range(0, x), "range: stop must be a scalar"),
        (lambda x: ops.range(0, 3, 0), "range: step is 0"),
        (lambda x: ops.hann_window(-1), "window_length must be at least 0, not -1"),
        (lambda x: ops.hann_window(3, dtype=DType.int32), "hann_window: dtype"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=rf"{message}.*test_ops_shaping.py:\d+"):
        build(call, X)


@pytest.mark.parametrize("index", [[3], [0, 5], [0, 0, 0], [..., ...]], ids=str)
def test_indices_outside(index):
    with pytest.raises(IndexError, match=r"test_ops_shaping.py:\d+"):
        build(lambda x: ops.slice_tensor(x, index), X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.reshape(x, 6),
        lambda x: ops.cast(x, "float32"),
        lambda x: ops.concat(x),
        lambda x: ops.chunk(x, 1.5),
        lambda x: ops.permute(x, ["a", "b"]),
        lambda x: ops.add(x, "1"),
        lambda x: ops.slice_tensor(x, ["a"]),
        lambda x: ops.slice_tensor(x, [1.5]),
        lambda x: ops.stack(3),
    ],
)
def test_wrong_types(call):
    with pytest.raises((TypeError, ValueError), match=r"test_ops_shaping.py:\d+"):
        build(call, X)
