# SPDX-License-Identifier: Apache-2.0
"""max.ray.deployment on Ray Serve: many clients, batches, deadlines, clients that leave, wrong requests."""

import http.client
import io
import json
import os
import pathlib
import shutil
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ray import serve
from run_ray import processes

from max.ray import deployment

# Years of work, were it not stopped.
ENDLESS = {"n": 10**12, "a": np.full((64, 64), 0.01).tolist()}
BRIEF = {"n": 2, "a": np.eye(3).tolist()}


@pytest.fixture(scope="module")
def server(models, port):
    """Three deployments, under the paths of their names."""
    chosen = {
        "counted": {
            "max_batch_size": 4, "batch_wait_timeout_s": 0.1, "max_ongoing_requests": 100, "health_check_period_s": 1,
            "autoscaling_config": {"min_replicas": 1, "max_replicas": 2, "target_ongoing_requests": 100},
            "user_config": {"batch_wait_timeout_s": 0.5, "max_batch_size": 8},
        },
        "lookup": {"batch_wait_timeout_s": 0.5},
        "slow": {"max_batch_size": 1, "max_ongoing_requests": 3},
    }  # fmt: skip
    targets = []
    for name, options in chosen.items():
        made = deployment(models / f"{name}.onnx", ray_actor_options={"num_cpus": 1}, **options)
        targets.append(serve.RunTarget(made.bind(), name=name, route_prefix=f"/{name}"))
    serve.run_many(targets)
    return port


def ask(port, path, body=None, headers=None):
    """Status, type and body of the answer to a POST, or to a GET without a body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    text = json.dumps(body) if isinstance(body, (dict, list)) else body
    connection.request("GET" if body is None else "POST", path, text, headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"], answer.read()
    connection.close()
    return found


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_concurrent_requests(server):
    """Each gets its own rows, whatever it sends and wants, and some were in one call."""

    def one(number):
        x = np.full((number % 3 + 1, 3), number, np.float32)
        wants_npy = {"Accept": "application/x-npy"} if number % 4 == 0 else {}
        path = "/counted?output=y" if wants_npy else "/counted"
        status, kind, text = ask(server, path, npy(x) if number % 2 else {"x": x.tolist()}, wants_npy)
        assert status == 200 and kind == ("application/x-npy" if wants_npy else "application/json"), text
        found = np.load(io.BytesIO(text)) if wants_npy else json.loads(text)
        assert np.array_equal(found if wants_npy else np.array(found["y"], np.float32), 2 * x + 1)
        return 0 if wants_npy else found["rows"][0] - len(x)

    with ThreadPoolExecutor(24) as pool:
        others = list(pool.map(one, range(48)))
    assert max(others) > 0


def test_description(server):
    status, _, text = ask(server, "/counted")
    assert status == 200 and json.loads(text) == {
        "inputs": [{"name": "x", "dtype": "float32", "shape": [None, 3]}],
        "outputs": [
            {"name": "y", "dtype": "float32", "shape": [None, 3]},
            {"name": "rows", "dtype": "int64", "shape": [None]},
        ],
    }


WRONG = [
    ("/counted", b"", {}, "neither a .npy file nor JSON"),
    ("/counted", [1], {}, "not an object"),
    ("/counted", {"z": [[1, 2, 3]]}, {}, "has the inputs 'z'; the model's are 'x'"),
    ("/counted", {"x": [[1, 2]]}, {}, "Input 'x' is float32 of shape (1, 2); the model takes float32 of shape (?, 3)"),
    ("/counted", npy(np.zeros((2, 3))), {}, "Input 'x' is float64 of shape (2, 3)"),
    ("/counted", {"x": [[1, 2, 3]]}, {"Accept": "application/x-npy"}, "choose one of the outputs 'y', 'rows'"),
    ("/counted?output=z", {"x": [[1, 2, 3]]}, {}, "no output 'z'"),
    ("/slow?timeout=soon", BRIEF, {}, "The timeout must be a positive number of seconds, not 'soon'"),
    ("/slow", BRIEF, {"X-Timeout-Seconds": "-1"}, "The timeout must be a positive number of seconds, not '-1'"),
    ("/slow", npy(np.zeros(3)), {}, "the model has 2 inputs"),
    ("/slow", {"n": 1, "a": [[1, 2, 3], [4, 5, 6]]}, {}, ""),  # the model says so while it runs
]  # fmt: skip


@pytest.mark.parametrize("path, body, headers, message", WRONG)
def test_wrong_requests(server, path, body, headers, message):
    status, kind, text = ask(server, path, body, headers)
    assert status == 400 and kind == "application/json" and message in json.loads(text)["error"], text


def test_wrong_request_among_others(server):
    """What only running shows to be wrong is the answer to that request alone."""
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, server, "/lookup", {"ids": ids}) for ids in ([1, 2], [1000], [3], [4])]
    statuses = [job.result()[0] for job in asked]
    assert statuses == [200, 400, 200, 200] and b"1000" in asked[1].result()[2]
    assert json.loads(asked[2].result()[2]) == {"y": [[12, 13, 14, 15]]}


def cpu_seconds(name):
    """Processor time of the replicas of a deployment."""
    ticks = 0
    for number, command in processes(os.environ["MAX_RAY_TEST_FOLDER"]).items():
        if f"ServeReplica:{name}" in command:
            ticks += sum(map(int, pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def assert_idle(name):
    """Nothing is computed any more, within half a minute; a busy machine leaves a runaway more than this."""
    for _ in range(30):
        before = cpu_seconds(name)
        time.sleep(1)
        if cpu_seconds(name) - before < 0.12:
            return
    pytest.fail(f"{name} still works")


def test_deadlines(server):
    for path, headers in (("/slow", {"X-Timeout-Seconds": "0.3"}), ("/slow?timeout=0.3", {})):
        start = time.monotonic()
        status, _, text = ask(server, path, ENDLESS, headers)
        assert status == 504 and "deadline" in json.loads(text)["error"].lower(), text
        assert time.monotonic() - start < 30
    assert_idle("slow")
    assert ask(server, "/slow", BRIEF, {"X-Timeout-Seconds": "60"})[0] == 200


def test_clients_that_leave(server):
    """Three requests that never end fill the replica; when their clients have left it is free again."""
    body = json.dumps(ENDLESS).encode()
    head = b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    before = cpu_seconds("slow:slow")
    clients = [socket.create_connection(("127.0.0.1", server)) for _ in range(3)]
    for client in clients:
        client.sendall(head + body)
    end = time.monotonic() + 60
    while cpu_seconds("slow:slow") - before < 0.5:
        assert time.monotonic() < end, "nothing is computed"
        time.sleep(0.1)
    for client in clients:
        client.close()
    assert ask(server, "/slow", BRIEF)[0] == 200
    assert_idle("slow")


def test_handles(server):
    slow, counted = serve.get_app_handle("slow"), serve.get_app_handle("counted")
    x = np.ones((2, 3), np.float32)
    found = counted.predict.remote({"x": x}).result()
    assert np.array_equal(found["y"], 2 * x + 1) and found["rows"].dtype == np.int64
    with pytest.raises(TimeoutError, match="deadline"):
        slow.predict.remote({"n": np.int64(10**12), "a": np.eye(64, dtype="f")}, timeout=0.2).result()
    with pytest.raises(ValueError, match="positive number of seconds, not -1"):
        counted.predict.remote({"x": x}, timeout=-1).result()
    with pytest.raises(ValueError, match="Input 'x' is int64"):
        counted.predict.remote({"x": np.arange(3)}).result()


def test_other_file(server, models, tmp_path):
    """A replica whose file is another one does not start, and the reason is told."""
    path = tmp_path / "model.onnx"
    shutil.copy(models / "affine.onnx", path)
    made = deployment(path, max_constructor_retry_count=1, ray_actor_options={"num_cpus": 0.1})
    shutil.copy(models / "two.onnx", path)
    with pytest.raises(RuntimeError):
        serve.run(made.bind(), name="other", route_prefix="/other")
    status = serve.status().applications["other"].deployments["model"]
    assert "differs from the one that was pickled" in status.message
    serve.delete("other")


def test_health(server):
    assert {app.status for app in serve.status().applications.values()} == {"RUNNING"}
