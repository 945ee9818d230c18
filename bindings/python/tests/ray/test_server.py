# SPDX-License-Identifier: Apache-2.0
"""The parts of a replica, without Ray: bodies and answers, groups of calls, options, health."""

import asyncio
import io
import json
import time

import numpy as np
import pytest
from starlette.requests import Request
from test_serve import npy

from max import MaxError
from max.engine import InferenceSession
from max.ray import deployment
from max.ray._http import RequestError, answer, inputs_of, is_npy, status_of, timeout_of
from max.ray._server import ModelServer, Settings, _Call


class Here:
    """Takes the place of a reference."""

    def __init__(self, model):
        self.open = lambda: model


@pytest.fixture
def server(models):
    def make(name):
        return ModelServer(Here(InferenceSession().load(models / f"{name}.onnx")), Settings(8, 0.01, None))

    return make


def request(headers=(), query=""):
    pairs = [(key.lower().encode(), value.encode()) for key, value in dict(headers).items()]
    return Request({"type": "http", "method": "POST", "headers": pairs, "query_string": query.encode(), "path": "/"})


def specs_of(models, name):
    return InferenceSession().load(models / f"{name}.onnx").input_metadata


def test_bodies(models):
    affine, two, texts = (specs_of(models, name) for name in ("affine", "two", "texts"))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for array in (x, np.asfortranarray(x), x[:0], x.astype(">f4"), np.float32(3)):
        found = inputs_of(npy(array), affine)["x"]
        assert found.dtype == array.dtype and np.array_equal(found, array)
    assert inputs_of(b'{"x": [[1, 2.5, NaN]]}', affine)["x"].dtype == np.float32
    found = inputs_of(b'{"a": [[1, 2]], "b": [3.0]}', two)
    assert found["b"].dtype == np.int64 and found["b"].tolist() == [3]
    assert inputs_of('{"x": ["a", "é"]}'.encode(), texts)["x"].tolist() == ["a", "é"]
    assert inputs_of(b'{"x": []}', affine)["x"].shape == (0,)


def with_header(text, data=b""):
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


HUGE = {"descr": "<f4", "fortran_order": False, "shape": (1 << 40, 1 << 40)}
WRONG_BODIES = [
    (npy(np.zeros(3, np.float32))[:-1], "holds 11 bytes"),
    (npy(np.zeros(3, np.float32)) + b"\0", "holds 13 bytes"),
    (npy(np.array([{}], object)), "do not match object"),
    (npy(np.zeros(3))[:20], "damaged"),
    (b"\x93NUMPY\x09\x00", "version 9.0"),
    (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", bytes(4)), "match float32 of shape (-1,)"),
    (with_header(str(HUGE)), "do not match float32"),
    (with_header("[" * 100), "damaged"),
    (b"[" * 100_000, "neither"),
    (b"\xff\xfe", "neither"),
    (b'{"x": [[1], [1, 2]]}', "lists of different lengths"),
    (b'{"x": [["a"]]}', "not float32 of shape"),
    (b'{"x": [[true]]}', "not float32 of shape"),
    (b'{"x": [[null]]}', "not float32 of shape"),
    (b'{"x": [[1e300]]}', "numbers that float32 cannot represent"),
    (b'{"x": {"y": 1}}', "not float32"),
    (b'{"x": ' + b"[" * 500 + b"]" * 500 + b"}", "Input 'x'"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG_BODIES)))
def test_wrong_bodies(models, number):
    body, message = WRONG_BODIES[number]
    with pytest.raises(RequestError) as caught:
        inputs_of(body, specs_of(models, "affine"))
    assert message in str(caught.value) and status_of(caught.value) == 400


@pytest.mark.parametrize("number", ["1.5", "1e30", "NaN", str(2**63), str(2**70), "true", '"1"'])
def test_wrong_integers(models, number):
    with pytest.raises(RequestError, match="'b'"):
        inputs_of(f'{{"b": [{number}]}}'.encode(), specs_of(models, "two"))


def test_wrong_texts(models):
    for value in ("[1]", "[null]", '[["a"], ["b", "c"]]'):
        with pytest.raises(RequestError, match="not a string"):
            inputs_of(f'{{"x": {value}}}'.encode(), specs_of(models, "texts"))


def test_answers():
    array = np.array([[1, 2]], np.float32)
    one, two = {"y": array}, {"y": array, "z": np.array(["a", "b"], object)}
    assert answer(request(), one, False).media_type == "application/json"
    assert answer(request({"Accept": "application/json"}), one, True).media_type == "application/json"
    for headers, sent in (({"Accept": "application/x-npy"}, False), ({"Accept": "*/*"}, True)):
        found = answer(request(headers), one, sent)
        assert found.media_type == "application/x-npy" and np.array_equal(np.load(io.BytesIO(found.body)), array)
    assert json.loads(answer(request(), two, True).body) == {"y": [[1, 2]], "z": ["a", "b"]}
    found = answer(request(query="output=z"), two, True)
    assert np.load(io.BytesIO(found.body)).tolist() == ["a", "b"] and is_npy(found.body)


def test_timeouts():
    assert timeout_of(request()) is None
    assert timeout_of(request({"X-Timeout-Seconds": "2"}, "timeout=3")) == 2
    assert timeout_of(request(query="timeout=0.5")) == 0.5
    for wrong in ("0", "-1", "nan", "inf", "", "x" * 1000):
        with pytest.raises(RequestError):
            timeout_of(request(query=f"timeout={wrong}") if wrong else request({"X-Timeout-Seconds": wrong}))


def calls_of(server, *inputs, timeout=None):
    return [_Call(arrays, server._key_of(arrays), timeout) for arrays in inputs]


def run(server, calls):
    return asyncio.run(server._run_batch(calls))


def test_groups(server):
    """Calls of one shape are one execution, others are others; models that mix rows get one call at a time."""
    counted = server("counted")
    x = np.ones((1, 3), np.float32)
    found = run(counted, calls_of(counted, [x], [np.repeat(x, 3, 0)], [x[:0]], [x * 2]))
    assert [result[1].tolist() for result in found] == [[5], [5, 5, 5], [], [5]]
    assert found[3][0].tolist() == [[5, 5, 5]]
    slow = server("slow")
    matrices = [[np.array(1), np.eye(size, dtype=np.float32)] for size in (2, 3, 3)]
    assert [result[0].shape for result in run(slow, calls_of(slow, *matrices))] == [(2, 2), (3, 3), (3, 3)]
    doubled = server("doubled")
    rows = [[np.array([[value]], np.float32)] for value in (1, 2)]
    assert [result[0].tolist() for result in run(doubled, calls_of(doubled, *rows))] == [[[1], [1]], [[2], [2]]]
    two = server("two")
    inputs = [[np.zeros((n, 2), np.float32), np.full(n, n)] for n in (1, 2)]
    assert [result[1].tolist() for result in run(two, calls_of(two, *inputs))] == [[2], [4, 4]]
    for name, given in (("scalar", [np.float32(2), np.ones(2, "f")]), ("fixed", [np.ones((4, 3), "f")])):
        alone = server(name)
        assert len(run(alone, calls_of(alone, [np.asarray(array) for array in given], given))) == 2
    small = server("small")
    assert run(small, calls_of(small, [np.ones((1, 2), "f")]))[0][0].dtype == np.float32


def test_one_of_a_group_fails(server):
    lookup = server("lookup")
    found = run(lookup, calls_of(lookup, [np.array([1])], [np.array([-99])], [np.array([2, 3])]))
    assert isinstance(found[1], MaxError) and status_of(found[1]) == 400
    assert [len(found[0][0]), len(found[2][0])] == [1, 2]


def test_members_that_leave(server):
    """A call runs as long as a caller waits for it."""
    steady = server("steady")
    rows, many = ([[np.full((count, 1), 0.5, np.float32)] for count in counts] for counts in ((20, 30), (40_000, 50_000)))

    async def leave(calls, *who):
        running = asyncio.ensure_future(steady._run_batch(calls))
        while calls[0].group is None:
            await asyncio.sleep(0)
        for index in who:
            calls[index].leave()
        return await running

    first, second = asyncio.run(leave(calls_of(steady, *rows), 0))
    assert second[0].shape == (30, 1)
    found = asyncio.run(leave(calls_of(steady, *many), 0, 1))
    assert all(isinstance(result, MaxError) and result.status == "CANCELLED" for result in found)
    gone = calls_of(steady, *rows)
    for call in gone:
        call.leave()
    assert all(result.status == "CANCELLED" for result in run(steady, gone))


def test_deadline_of_a_group(server):
    """The last of the calls' deadlines ends their execution."""
    slow = server("slow")
    call = calls_of(slow, [np.array(10**12), np.eye(64, dtype=np.float32)], timeout=0.2)
    start = time.monotonic()
    (found,) = run(slow, call)
    assert found.status == "DEADLINE_EXCEEDED" and status_of(found) == 504 and time.monotonic() - start < 30


class Failing:
    """A model whose calls end as they are told."""

    input_metadata = output_metadata = ()

    def __init__(self, *ends):
        self.ends = list(ends)

    async def execute_async(self, *inputs, timeout):
        end = self.ends.pop(0)
        if end:
            raise MaxError(end, "as told")
        return []


@pytest.mark.parametrize(
    "ends, is_healthy",
    [
        (["INTERNAL"] * 3, False),
        (["UNAVAILABLE", "DATA_LOSS", "INTERNAL", "INVALID_ARGUMENT"], False),
        (["INTERNAL", "INTERNAL", "", "INTERNAL"], True),
        (["INVALID_ARGUMENT"] * 5 + ["DEADLINE_EXCEEDED"] * 5 + ["RESOURCE_EXHAUSTED"] * 5, True),
    ],
)
def test_health(ends, is_healthy):
    server = ModelServer(Here(Failing(*ends)), Settings(1, 0, None))
    for _ in ends:
        run(server, calls_of(server, []))
    if is_healthy:
        server.check_health()
    else:
        with pytest.raises(RuntimeError, match="as told"):
            server.check_health()


def test_user_config(server):
    made = server("affine")
    made.reconfigure({"timeout": 2.5, "max_batch_size": 3, "batch_wait_timeout_s": 1})
    assert made._timeout == 2.5 and made._batch._get_max_batch_size() == 3
    with pytest.raises(ValueError, match="user_config has rows"):
        made.reconfigure({"rows": 3})


def test_options(models):
    """They are those of Ray Serve; the name is the file's."""
    made = deployment(models / "affine.onnx", max_batch_size=5)
    assert made.name == "affine" and made.max_ongoing_requests == 10
    scaling = {"min_replicas": 2, "max_replicas": 7}
    made = deployment(
        models / "affine.onnx", name="other", autoscaling_config=scaling, ray_actor_options={"num_cpus": 3},
        max_ongoing_requests=9, user_config={"timeout": 1},
    )  # fmt: skip
    config = made._deployment_config.autoscaling_config
    assert (made.name, made.max_ongoing_requests, made.user_config) == ("other", 9, {"timeout": 1})
    assert (config.min_replicas, config.max_replicas, made.ray_actor_options["num_cpus"]) == (2, 7, 3)
    assert deployment(models / "affine.onnx", num_replicas=4).num_replicas == 4
    with pytest.raises(ValueError, match="not a tensor"):
        deployment(models / "sequence.onnx")
    with pytest.raises(TypeError):
        deployment(models / "affine.onnx", replicas=2)
    for wrong in ({"max_batch_size": 0}, {"batch_wait_timeout_s": -1}, {"timeout": 0}):
        with pytest.raises(ValueError, match=" 0| -1"):
            deployment(models / "affine.onnx", **wrong)
