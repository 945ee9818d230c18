# SPDX-License-Identifier: Apache-2.0
"""A Ray of this machine, Ray Serve on a free port, and models."""

import os
import pathlib
import socket
import sys

import numpy as np
import onnx
import pytest
import ray

ROOT = pathlib.Path(__file__).resolve().parents[4]
HOME = os.environ["MAX_RAY_TEST_FOLDER"]

# Name: the graph, and the arrays that its initializers are.
MODELS = {
    "affine": ("(float[n,3] x) => (float[n,3] y) { d = Add (x, x) y = Add (d, one) }", {"one": np.float32(1)}),
    # Its second output is how many rows were in the call.
    "counted": (
        "(float[n,3] x) => (float[n,3] y, int64[n] rows) { d = Add (x, x) y = Add (d, one)"
        " size = Shape <start = 0, end = 1> (x) rows = Expand (size, size) }",
        {"one": np.float32(1)},
    ),
    "fixed": ("(float[4,3] x) => (float[4,3] y) { y = Neg (x) }", {}),
    "two": (
        "(float[n,2] a, int64[n] b) => (float[n,2] sum, int64[n] twice)"
        " { c = Unsqueeze (b, axis) f = Cast <to = 1> (c) sum = Add (a, f) twice = Add (b, b) }",
        {"axis": np.array([1])},
    ),
    "lookup": ("(int64[n] ids) => (float[n,4] y) { y = Gather (w, ids) }", {"w": np.arange(40, dtype="f").reshape(10, 4)}),
    # Large enough to be mapped.
    "table": ("(int64[n] ids) => (float[n,1024] y) { y = Gather (w, ids) }", {"w": np.ones((5000, 1024), "f")}),
    "doubled": ("(float[n,1] x) => (float[m,1] y) { y = Concat <axis = 0> (x, x) }", {}),
    "texts": ("(string[n] x) => (string[n] y) { y = Identity (x) }", {}),
    "small": ("(float[n,2] x) => (bfloat16[n,2] y, float16[n,2] z) { y = Cast <to = 16> (x) z = Cast <to = 10> (x) }", {}),
    "scalar": ("(float a, float[n] x) => (float[n] y) { y = Mul (a, x) }", {}),
    "sequence": ("(float[n] x) => (seq(float[n]) y) { y = SequenceConstruct (x) }", {}),
    # Some hundredths of a second for each row.
    "steady": (
        "(float[n,1] x) => (float[n,1] y) { y = Loop (count, yes, x) <body = step (int64 i, bool go, float[k,1] z)"
        " => (bool again, float[k,1] next) { again = Identity (go) t = Tanh (z) next = Add (z, t) }> }",
        {"count": np.array(20_000), "yes": np.array(True)},
    ),
    # As long as a caller likes.
    "slow": (
        "(int64 n, float[k,k] a) => (float[k,k] y) { y = Loop (n, yes, a) <body = step (int64 i, bool go, float[k,k] z)"
        " => (bool again, float[k,k] next) { again = Identity (go) p = MatMul (z, z) next = Tanh (p) }> }",
        {"yes": np.array(True)},
    ),
}  # fmt: skip


def make_model(path, name):
    graph, weights = MODELS[name]
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {name} {graph}')
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(w), key) for key, w in weights.items())
    onnx.save(model, path)
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in MODELS:
        make_model(folder / f"{name}.onnx", name)
    return folder


@pytest.fixture(autouse=True, scope="session")
def cluster():
    """Ray with CPUs and a GPU that are only counted: this machine may have less."""
    yield start_ray().address_info["address"]
    ray.shutdown()


def patiently(start, clean=lambda: None, attempts=4):
    """Tries again: Ray gives its processes some seconds that cannot be chosen, which a busy machine may exceed."""
    for attempt in range(1, attempts + 1):
        try:
            return start()
        except Exception as error:
            clean()
            print(f"Ray did not start, attempt {attempt} of {attempts}: {error}", file=sys.__stderr__)
            if attempt == attempts:
                raise


def start_ray():
    return patiently(
        lambda: ray.init(
            num_cpus=6, num_gpus=1, object_store_memory=100 << 20, include_dashboard=False, log_to_driver=False,
            _node_ip_address="127.0.0.1", _temp_dir=f"{HOME}/ray",
        ),
        ray.shutdown,
    )  # fmt: skip


@pytest.fixture(scope="session")
def port():
    from ray import serve

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number = found.getsockname()[1]
    patiently(lambda: serve.start(http_options={"host": "127.0.0.1", "port": number}))
    return number
