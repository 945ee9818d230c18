# SPDX-License-Identifier: Apache-2.0
"""max.ray.predict: columns, batches, what is wrong with them, and workers that are lost."""

import os
import pickle
import shutil
import signal
import time

import numpy as np
import pytest
import ray
import ray.data
from ray.data import ActorPoolStrategy
from run_ray import processes

from max import MaxError
from max.driver import CPU, accelerator_count
from max.engine import InferenceSession
from max.ray import predict
from max.ray._predict import Predict, _chosen_columns
from max.ray._reference import opened

TWO = ActorPoolStrategy(size=2)


@ray.remote(num_cpus=1)
def remotely(model, columns, batches):
    actor = Predict(model, columns)
    return [actor(batch) for batch in batches]


def predicted(model, *batches, columns=None):
    """What an actor makes of batches."""
    here, reference = opened(model)
    return ray.get(remotely.remote(reference, _chosen_columns(here, columns or {}), batches))


def rows(count, width=3):
    return np.arange(count * width, dtype=np.float32).reshape(count, width)


def test_kinds_of_columns(models):
    a, b = rows(5, 2), np.arange(5)
    (found,) = predicted(models / "two.onnx", {"left": a, "b": b}, columns={"a": "left", "twice": "left", "sum": None})
    assert set(found) == {"left", "b"} and (found["left"] == 2 * b).all()
    (found,) = predicted(models / "texts.onnx", {"x": np.array(["a", "bé", ""], object)})
    assert found["y"].tolist() == ["a", "bé", ""]
    (found,) = predicted(models / "small.onnx", {"x": a})
    assert found["y"].dtype == np.float32 and found["z"].dtype == np.float16 and (found["y"] == a).all()
    backwards = rows(6)[::-1]
    (found,) = predicted(InferenceSession([CPU()]).load(models / "affine.onnx"), {"x": backwards})
    assert (found["y"] == 2 * backwards + 1).all()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 11])
def test_fixed_number_of_rows(models, count):
    (found,) = predicted(models / "fixed.onnx", {"x": rows(count)})
    assert (found["y"] == -rows(count)).all() and found["y"].shape == (count, 3)


WRONG_BATCHES = [
    ("affine", {"x": rows(2).astype("d")}, None, r"Column 'x' for the input 'x' is float64 of shape \(2, 3\); the model takes float32 of shape \(\?, 3\)"),
    ("affine", {"x": rows(2, 4)}, None, r"Column 'x' .* is float32 of shape \(2, 4\)"),
    ("affine", {"p": rows(2)[0]}, {"x": "p"}, r"Column 'p' for the input 'x' is float32 of shape \(3,\)"),
    ("fixed", {"x": rows(2, 2)}, None, r"the model takes float32 of shape \(\?, 3\)"),
    ("texts", {"x": np.arange(3)}, None, "'x' is int64 .* the model takes string"),
    ("lookup", {"ids": np.array([np.arange(2), np.arange(3)], object)}, None, "'ids' holds objects, or arrays of different shapes"),
    ("two", {"a": rows(2, 2), "c": np.arange(2)}, None, "no column 'b' for the input 'b'; use one of 'a', 'c'"),
    ("affine", {"x": rows(2), "y": np.arange(2)}, None, "Output 'y' would replace the column 'y'"),
    ("doubled", {"x": rows(2, 1)}, None, r"Output 'y' of shape \(4, 1\) is not a column of 2 rows"),
    ("lookup", {"ids": np.array([3, 99])}, None, "99"),
]  # fmt: skip


@pytest.mark.parametrize("model, batch, columns, message", WRONG_BATCHES)
def test_wrong_batches(models, model, batch, columns, message):
    with pytest.raises(ValueError, match=message):
        predicted(models / f"{model}.onnx", batch, columns=columns)


def test_wrong_batch_of_a_job(models):
    found = predict(ray.data.range(3), models / "affine.onnx", columns={"x": "id"})
    with pytest.raises(Exception, match=r"Column 'id' for the input 'x' is int64 of shape \(3,\); the model takes float32"):
        found.take_all()


@pytest.mark.parametrize(
    "model, columns, message",
    [
        ("affine", {"z": "x"}, "columns names 'z'; the model has the inputs and outputs 'x', 'y'"),
        ("affine", {"x": None}, "a column for the input 'x', not None"),
        ("two", {"sum": "c", "twice": "c"}, "two are the same"),
        ("sequence", {}, "'y' is not a tensor"),
    ],
)
def test_wrong_arguments(models, model, columns, message):
    with pytest.raises(ValueError, match=message):
        predict(ray.data.range(1), models / f"{model}.onnx", columns=columns)


def test_wrong_types(models):
    with pytest.raises(TypeError, match="must be a ray.data.Dataset"):
        predict([1, 2], models / "affine.onnx")
    with pytest.raises(TypeError, match="must be a Model or a path"):
        predict(ray.data.range(1), 3)
    with pytest.raises(RuntimeError, match="missing.onnx"):
        predict(ray.data.range(1), models / "missing.onnx")


@ray.remote
def opened_often(reference):
    """How a model is open in a worker: one object, its threads, the mappings of its file."""
    first = [reference.open() for _ in range(3)]
    second = pickle.loads(pickle.dumps(first[0]))
    threads = first[0]._pickled_origin().num_threads
    with open("/proc/self/maps") as maps:
        mappings = sum(reference.path in line for line in maps)
    return len({id(model) for model in [*first, second]}), threads, mappings


def test_weights_are_mapped_once(models):
    _, reference = opened(models / "table.onnx")
    for cpus in (0.5, 1, 3):
        assert ray.get(opened_often.options(num_cpus=cpus).remote(reference)) == (1, max(1, int(cpus)), 1)


@ray.remote
def opens(reference):
    reference.open()


@ray.remote
def executes(model):
    return model.execute(rows(1))[0].to_numpy()


def test_other_files(models, tmp_path):
    """A worker whose file is another one, or none, says so: references and pickles of models."""
    path = tmp_path / "model.onnx"
    shutil.copy(models / "affine.onnx", path)
    model, reference = opened(path)
    assert (ray.get(executes.remote(model)) == 2 * rows(1) + 1).all()
    packed = pickle.dumps(model)
    job = predict(ray.data.range(1), model, columns={"x": "id"})
    shutil.copy(models / "two.onnx", path)
    with pytest.raises(MaxError, match="differs from the one that was pickled"):
        ray.get(opens.remote(reference))
    with pytest.raises(MaxError, match="differs from the one that was pickled"):
        pickle.loads(packed)
    with pytest.raises(Exception, match="differs from the one that was pickled"):
        job.take_all()
    path.unlink()
    with pytest.raises(MaxError, match="model.onnx"):
        ray.get(opens.remote(reference))


@ray.remote
def devices_of(references):
    return [[(device.is_host, device.id) for device in reference._devices_here()] for reference in references]


@pytest.mark.skipif(accelerator_count() < 2, reason="fewer than two accelerators")
def test_devices(models):
    """A path runs on the GPU of its worker if it has one; a model stays where it was, on a GPU of the worker's."""
    _, path = opened(models / "affine.onnx")
    _, on_host = opened(InferenceSession([CPU()]).load(models / "affine.onnx"))
    assert path.devices is None and on_host.devices == (None,)
    references = [path, on_host, path._replace(devices=(1,)), path._replace(devices=(None, 1))]
    host, first, second = (True, 0), (False, 0), (False, 1)
    with_gpu = devices_of.options(num_gpus=1).remote(references)
    assert ray.get(with_gpu) == [[first], [host], [first], [host, first]]
    assert ray.get(devices_of.remote(references)) == [[host], [host], [second], [host, second]]


def test_a_job_and_a_lost_worker(models, tmp_path):
    """One of two workers is killed while both have a batch in hand: every row is there, once, with its columns."""
    count = 390
    x = np.linspace(-1, 1, count, dtype=np.float32).reshape(-1, 1)
    rows = [{"id": i, "x": x[i], "name": f"row {i}"} for i in range(count)]

    def wait(batch):
        """Holds the second half back until one is killed; Ray runs it in the worker that executes the model next."""
        (tmp_path / str(os.getpid())).touch()
        while batch["id"].max() >= count // 2 and not (tmp_path / "killed").exists():
            time.sleep(0.05)
        return batch

    data = ray.data.from_items(rows, override_num_blocks=30).map_batches(wait, batch_size=None, num_cpus=2)
    found = predict(data, models / "steady.onnx", columns={"y": "made"}, batch_size=20, compute=TWO, num_cpus=2)
    batches = []
    for batch in found.iter_batches(batch_size=13, prefetch_batches=0):
        batches.append(batch)
        if len(batches) == 1:
            end = time.monotonic() + 120
            while len(workers := list(tmp_path.iterdir())) < 2:
                assert time.monotonic() < end, "there is no second worker"
                time.sleep(0.05)
            killed = int(workers[0].name)
            assert "(Predict" in processes(os.environ["MAX_RAY_TEST_FOLDER"])[killed]
            os.kill(killed, signal.SIGKILL)
            (tmp_path / "killed").touch()
    assert len(list(tmp_path.iterdir())) >= 4  # one more worker, which did what the killed one had in hand
    ids = np.concatenate([batch["id"] for batch in batches])
    assert len(ids) == count and set(ids) == set(range(count)) and set(batches[0]) == {"id", "x", "name", "made"}
    wanted = InferenceSession().load(models / "steady.onnx").execute(x)[0].to_numpy()
    assert np.array_equal(np.concatenate([batch["made"] for batch in batches]), wanted[ids])
    assert np.array_equal(np.concatenate([batch["x"] for batch in batches]), x[ids])
    assert np.concatenate([batch["name"] for batch in batches]).tolist() == [f"row {i}" for i in ids]
