# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops.random: distributions, seeds."""

import numpy as np
import pytest
from operators import run

from max.dtype import DType
from max.engine import InferenceSession
from max.graph import Graph, TensorType, ops

TYPES = [DType.float32, DType.float64, DType.float16, DType.bfloat16]
COUNT = 20000


def drawn(function, seed=None, runs=1):
    def forward():
        if seed is not None:
            ops.random.set_seed(seed)
        return function()

    model = InferenceSession(num_threads=1).load(Graph("random", forward))
    results = [[value.to_numpy() for value in model()] for _ in range(runs)]
    return results[0] if runs == 1 else results


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("seed", [None, 0, -5, 2**70])
def test_distributions(dtype, seed):
    like = TensorType(dtype, [COUNT // 2, 2])
    uniform, normal = drawn(lambda: [ops.random.uniform(like, (-1, 3)), ops.random.normal(like, 5, 2)], seed)
    assert uniform.shape == normal.shape == (COUNT // 2, 2) and uniform.dtype == normal.dtype == dtype.to_numpy()
    uniform, normal = uniform.astype(np.float64).ravel(), normal.astype(np.float64).ravel()
    assert uniform.min() >= -1 and uniform.max() <= 3
    for values, mean, deviation in ((uniform, 1, 4 / np.sqrt(12)), (normal, 5, 2)):
        assert abs(values.mean() - mean) < 0.1 and abs(values.std() - deviation) < 0.05
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.04
    counts = np.histogram(uniform, 16, (-1, 3))[0] / COUNT
    assert abs(counts - 1 / 16).max() < 0.01
    assert abs((abs(normal - 5) < 2).mean() - 0.6827) < 0.02


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_upper_bound_is_not_reached(dtype):
    (made,) = drawn(lambda: [ops.random.uniform(TensorType(dtype, [COUNT]))], 1)
    assert made.min() >= 0 and made.max() < 1 and len(np.unique(made)) >= min(COUNT // 2, 200)


@pytest.mark.parametrize("function", [ops.random.uniform, ops.random.normal, ops.random.gaussian])
def test_seeds(function):
    like = TensorType(DType.float32, [50])
    twice = lambda: [function(like), function(like)]  # noqa: E731
    (a, b), again = drawn(twice, 7, runs=2)
    np.testing.assert_array_equal([a, b], again)
    np.testing.assert_array_equal([a, b], drawn(twice, 7))
    others = [b, *drawn(twice, 8), *drawn(twice)]
    for other in others:
        assert not (other == a).any()
    fresh = drawn(lambda: function(like), runs=2)
    assert not (fresh[0][0] == fresh[1][0]).any()


def test_a_seed_that_each_run_chooses():
    like = TensorType(DType.float32, [8])

    def forward(seed):
        ops.random.set_seed(seed)
        return ops.random.uniform(like), ops.random.normal(like)

    model = InferenceSession(num_threads=1).load(Graph("seeded", forward, [ops.random.SeedType]))
    made = {seed: [value.to_numpy() for value in model(np.array(seed))] for seed in (0, 1, -1)}
    for seed, (uniform, normal) in made.items():
        fixed = drawn(lambda: [ops.random.uniform(like), ops.random.normal(like)], seed)
        np.testing.assert_array_equal(uniform, fixed[0])
        np.testing.assert_allclose(normal, fixed[1], rtol=1e-6)
    assert len({tuple(values[0]) for values in made.values()}) == 3


@pytest.mark.parametrize("shape", [[], [0], [0, 3], [2, 0]])
def test_small_shapes(shape):
    for seed in (None, 1):
        like = TensorType(DType.float32, shape)
        made = drawn(lambda: [ops.random.uniform(like), ops.random.normal(like)], seed)
        assert [value.shape for value in made] == [tuple(shape)] * 2


@pytest.mark.parametrize("seed", [None, 3])
def test_shapes_of_inputs(seed):
    def forward(x):
        if seed is not None:
            ops.random.set_seed(seed)
        return [ops.random.uniform(x.type), ops.random.normal(x.type)]

    made = run(forward, np.zeros((3, 4), np.float32), named=True)
    assert [value.shape for value in made] == [(3, 4)] * 2 and len(np.unique(made)) == 24


LIKE = TensorType(DType.float32, [2])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ops.random.uniform(LIKE, (1, 0)), ValueError, "random.uniform: range must be"),
        (lambda: ops.random.uniform(LIKE, (1,)), ValueError, "random.uniform: range must be"),
        (lambda: ops.random.uniform(LIKE, ("0", 1)), TypeError, "random.uniform: range must be a number, not '0'"),
        (lambda: ops.random.normal(LIKE, 0, -1), ValueError, "random.gaussian: std must be at least 0, not -1"),
        (lambda: ops.random.gaussian(LIKE, 0, float("nan")), ValueError, "std must be at least 0, not nan"),
        (lambda: ops.random.uniform(TensorType(DType.int32, [2])), ValueError, "elements of like must be .*, not int32"),
        (lambda: ops.random.normal([2]), TypeError, "like must be a TensorType, not"),
        (lambda: ops.random.set_seed(1.5), TypeError, "seed must be a whole number, not 1.5"),
        (lambda: ops.random.set_seed(ops.constant([1, 2])), ValueError, "seed must be a scalar"),
        (lambda: ops.random.set_seed(ops.constant(1.0)), ValueError, "the elements of seed must be .*, not float32"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=rf"{message}.*test_ops_random.py:\d+"):
        Graph("wrong", call)
