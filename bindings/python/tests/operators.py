# SPDX-License-Identifier: Apache-2.0
"""What the tests of max.graph.ops share: a graph of one function, run and compared with numpy."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from max.driver import CPU
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import Graph, TensorType

FLOATS = (np.float32, np.float64, np.float16)


def build(function, *arrays, named=False):
    """A graph of the function, with inputs like the arrays; with `named` each dimension has its own name."""
    types = []
    for i, array in enumerate(arrays):
        shape = [f"d{i}_{axis}" for axis in range(array.ndim)] if named else array.shape
        types.append(TensorType(DType.from_numpy(array.dtype), shape))
    return Graph("test", function, types)


def run(function, *arrays, named=False):
    """What the function's graph computes, a list of arrays."""
    graph = build(function, *arrays, named=named)
    results = InferenceSession(devices=[CPU()], num_threads=1).load(graph)(*arrays)
    for said, made in zip(graph.output_types, results):
        assert said.dtype is made.dtype, (said, made)
        sizes = [int(dim) if hasattr(dim, "dim") else made.shape[axis] for axis, dim in enumerate(said.shape)]
        assert tuple(sizes) == tuple(made.shape), (said, made)
        assert named or said.shape.is_static or not arrays or "_" in str(said.shape) or said.shape, said
    return [made.to_numpy() for made in results]


def check(function, arrays, expected, tolerance=1e-5, named=True, exact=False):
    """Runs with sizes that are known, and with names for them; types and shapes are those of numpy."""
    wanted = [np.asarray(e) for e in (expected if isinstance(expected, (list, tuple)) else [expected])]
    for names in (False, True) if named else (False,):
        made = run(function, *arrays, named=names)
        assert len(made) == len(wanted)
        for got, want in zip(made, wanted):
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            if exact or want.dtype.kind in "biuO":
                np.testing.assert_array_equal(got, want)
            else:
                loose = max(tolerance, 4 * float(np.finfo(want.dtype).eps)) if want.dtype.kind == "f" else tolerance
                np.testing.assert_allclose(got, want, rtol=loose, atol=loose)


def numbers(seed, *shape, dtype=np.float32, low=-3, high=3):
    """Random numbers."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(low, high, shape).astype(dtype)
    return generator.uniform(low, high, shape).astype(dtype)


def shapes(least=0, most=4):
    """Shapes for Hypothesis."""
    return hnp.array_shapes(min_dims=least, max_dims=most, max_side=5)


seeds = st.integers(0, 2**32 - 1)
