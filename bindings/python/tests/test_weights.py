# SPDX-License-Identifier: Apache-2.0
"""Files of weights, and what the package rich shows of objects."""

import importlib.util

import numpy as np
import pytest
from conftest import ROOT, make_model

from max.driver import Buffer, load_weights
from max.dtype import DType

F = np.float32
EXAMPLE = ROOT / "examples/python/safetensors_weights.py"


@pytest.fixture(scope="module")
def write():
    if not EXAMPLE.exists():
        pytest.skip("not in a checkout")
    spec = importlib.util.spec_from_file_location("safetensors_weights", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.write_safetensors


ARRAYS = {"w": np.arange(6, dtype=F).reshape(2, 3), "i": np.arange(4), "d": np.ones((1, 1, 2)), "empty": np.ones(0, F)}


def test_weights(write, tmp_path):
    write(tmp_path / "a.safetensors", ARRAYS)
    for path in (tmp_path / "a.safetensors", str(tmp_path / "a.safetensors")):
        weights = load_weights(path)
        assert {name: weight.shape for name, weight in weights.items()} == {n: a.shape for n, a in ARRAYS.items()}
        for name, array in ARRAYS.items():
            found = weights[name].to_numpy()
            assert (found == array).all() and found.dtype == array.dtype and weights[name].is_read_only


@pytest.mark.parametrize("op, expected", [("MatMul", [[4, 4, 4]]), ("Gemm", [[4, 4, 4]]), ("Concat", None)])
def test_models_take_them(write, tmp_path, session, op, expected):
    """They live as long as the model, not as long as their names."""
    old = np.arange(6, dtype=F).reshape(2, 3)
    attributes = {"axis": 1} if op == "Concat" else {}
    made = [(op, ["x", "w"], ["y"], attributes)]
    path = make_model(tmp_path / "model.onnx", made, [("x", F, ["n", 2])], [("y", F, ["n", "m"])], [("w", old)])
    write(tmp_path / "w.safetensors", {"w": np.full((2, 3), 2, F)})
    model = session.load(path, weights_registry=load_weights(tmp_path / "w.safetensors"))
    x = np.ones((2, 2) if op == "Concat" else (1, 2), F)
    assert model(x)[0].to_numpy().tolist() == (expected or [[1, 1, 2, 2, 2]] * 2)


def test_wrong_files(tmp_path):
    with pytest.raises(RuntimeError):
        load_weights(tmp_path / "missing.safetensors")
    for content in (b"", b"no weights", b"\xff" * 64, b"\x10" + b"\0" * 7 + b"{" * 16):
        (tmp_path / "foreign.safetensors").write_bytes(content)
        with pytest.raises((RuntimeError, ValueError)):
            load_weights(tmp_path / "foreign.safetensors")
    for wrong in (None, 3, []):
        with pytest.raises(TypeError):
            load_weights(wrong)


def test_rich_shows_what_repr_shows(session, models):
    model = session.load(models / "two.onnx")
    for value in (Buffer(DType.int8, [2, 3]), model, model.input_metadata[0], session):
        text = ", ".join(f"{name}={part!r}" for name, part in value.__rich_repr__())
        assert repr(value) == f"{type(value).__name__}({text})"
