# SPDX-License-Identifier: Apache-2.0
"""What is kept from call to call does not outlive its use, whatever the next call is given."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from conftest import make_model

from max.driver import Buffer
from max.engine import Cancellation

F = np.float32


@pytest.fixture(params=["Neg", "Abs", "Identity"])
def model(request, tmp_path, session):
    """Each takes a tensor of any rank's two dimensions."""
    path = tmp_path / "model.onnx"
    make_model(path, [(request.param, ["x"], ["y"])], [("x", F, ["n", "m"])], [("y", F, ["n", "m"])])
    oracle = {"Neg": np.negative, "Abs": np.abs, "Identity": np.array}[request.param]
    return session.load(path), oracle


def test_inputs_of_all_kinds_take_turns(model):
    model, oracle = model
    generator = np.random.default_rng(0)
    kinds = [
        lambda x: x,
        Buffer.from_numpy,
        lambda x: np.asfortranarray(x),
        lambda x: x.astype(">f4"),
        lambda x: x[::-1],
        lambda x: x.view(np.ma.MaskedArray),
        lambda x: Buffer.from_numpy(np.concatenate([x, x]))[: len(x)],
    ]
    for i in range(200):
        array = generator.standard_normal(generator.integers(0, 4, 2)).astype(F)
        given = kinds[i % len(kinds)](array)
        assert (model(given)[0].to_numpy() == oracle(np.asarray(given))).all()
        for wrong in (array.astype(np.float64), array.astype(ml_dtypes.bfloat16), array[0:1].ravel(), np.array("a")):
            with pytest.raises((ValueError, TypeError)):
                model(wrong)


def test_equal_types_and_equal_shapes_are_told_apart(model):
    model, oracle = model
    one = np.ones((2, 3), F)
    assert model(one)[0].shape == (2, 3)
    for other in (np.ones((3, 2), F), np.ones((6, 1), F), np.ones((2, 3), np.dtype("<f4", metadata={"a": 1}))):
        assert model(other)[0].shape == other.shape
    with pytest.raises(ValueError):
        model(np.ones((2, 3), np.int32))
    with pytest.raises(ValueError):
        model(np.ones((2, 3, 1), F))
    assert (model(one)[0].to_numpy() == oracle(one)).all()


def test_inputs_and_outputs_go(model):
    model, _ = model
    for give in (lambda x: x, Buffer.from_numpy, np.asfortranarray, lambda x: x):
        array = np.ones((2, 2), F)
        gone = weakref.ref(array)
        model._is_long = True  # as the first call is, which runs in a thread
        outputs = model(give(array))
        del array
        gc.collect()
        assert gone() is None
    seen = weakref.ref(outputs[0])
    del outputs
    gc.collect()
    assert seen() is None


def test_failed_calls_leave_nothing(model):
    model, _ = model
    array, cancelled = np.ones((2, 2), F), Cancellation()
    cancelled.cancel()
    for _ in range(50):
        with pytest.raises(RuntimeError):
            model.execute(array, cancellation=cancelled)
        with pytest.raises(TypeError):
            model.execute(object())
        with pytest.raises(ValueError):
            model.execute(array, array)
        assert model.execute(array, timeout=60)[0].shape == (2, 2)
