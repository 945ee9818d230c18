# SPDX-License-Identifier: Apache-2.0
"""What the tests share. Without MAX_PYTHON_STAGE, a folder that holds the package, the installed one is tested."""

import gc
import os
import pathlib
import sys
import time

STAGE = os.environ.get("MAX_PYTHON_STAGE")
if STAGE:
    sys.path.insert(0, STAGE)

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from max import driver  # noqa: E402
from max._raw import ffi, lib  # noqa: E402
from max.engine import InferenceSession  # noqa: E402

hypothesis.settings.register_profile("max", max_examples=60, deadline=None, derandomize=True)
hypothesis.settings.load_profile("max")

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARIES = pathlib.Path(os.environ.get("MAX_LIBRARY", ROOT / "build/lib/libmax.so")).parent


def live_objects():
    count = ffi.new("int64_t*")
    assert lib.maxExperimentalGetLiveObjectCount(count) == 0
    return count[0]


@pytest.fixture(autouse=True, scope="session")
def accelerators():
    """The process keeps them open once they were."""
    return [driver.Accelerator(id) for id in range(driver.accelerator_count())]


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left(accelerators):
    """What other modules shared is garbage by now."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_leaks(nothing_is_left, request):
    before = live_objects()
    yield
    request.node.funcargs.clear()
    for _ in range(200):
        gc.collect()
        if live_objects() == before:
            gc.freeze()  # what is here holds none of the test's objects: the next test need not look at it
            return
        time.sleep(0.01)  # queued work still holds something
    pytest.fail(f"{live_objects() - before} objects are still alive")


@pytest.fixture
def gpu(accelerators):
    if not accelerators:
        pytest.skip("no accelerator")
    return driver.Accelerator()


def make_model(path, nodes, inputs, outputs, initializers=()):
    """Writes an ONNX model; inputs and outputs are (name, numpy type, shape)."""
    onnx = pytest.importorskip("onnx")

    def infos(values):
        return [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
            for name, dtype, shape in values
        ]

    made = [onnx.helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in initializers]
    graph = onnx.helper.make_graph(made, "graph", infos(inputs), infos(outputs), weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with small models."""
    folder = tmp_path_factory.mktemp("models")
    f = np.float32
    make_model(folder / "identity.onnx", [("Identity", ["x"], ["y"])], [("x", f, ["n"])], [("y", f, ["n"])])
    make_model(
        folder / "two.onnx",
        [("Add", ["a", "b"], ["sum"]), ("Mul", ["a", "b"], ["product"])],
        [("a", f, ["n", 2]), ("b", f, [2])],
        [("sum", f, ["n", 2]), ("product", f, ["n", 2])],
    )
    make_model(
        folder / "weight.onnx",
        [("MatMul", ["x", "w"], ["y"])],
        [("x", f, ["n", 2])],
        [("y", f, ["n", 3])],
        [("w", np.arange(6, dtype=f).reshape(2, 3))],
    )
    make_model(folder / "texts.onnx", [("Identity", ["x"], ["y"])], [("x", object, ["n"])], [("y", object, ["n"])])
    make_model(folder / "scalar.onnx", [("Neg", ["x"], ["y"])], [("x", f, [])], [("y", f, [])])
    onnx = pytest.importorskip("onnx")
    slow = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        slow (int64 n, float[k,k] a) => (float[k,k] y) {
          yes = Constant <value: tensor = bool {1}> ()
          y = Loop (n, yes, a) <body = step (int64 i, bool go, float[k,k] z) => (bool again, float[k,k] next) {
            again = Identity (go)
            p = MatMul (z, z)
            next = Tanh (p)
          }>
        }"""
    )
    onnx.save(slow, folder / "slow.onnx")
    sequence = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        sequences (seq(float[n]) s, float[m] x) => (seq(float[n]) t, float[k] joined) {
          t = SequenceInsert (s, x)
          joined = ConcatFromSequence <axis = 0> (t)
        }"""
    )
    onnx.save(sequence, folder / "sequence.onnx")
    return folder


@pytest.fixture
def session():
    return InferenceSession(devices=[driver.CPU()], num_threads=1)


@pytest.fixture(scope="module")
def session_of_module():
    """For tests of Hypothesis, whose examples share it."""
    return InferenceSession(devices=[driver.CPU()], num_threads=1)
