# SPDX-License-Identifier: Apache-2.0
"""Everything from many threads at once, with Python's lock and, where there is none, without."""

import asyncio
import copy
import pickle
import sys
import sysconfig
import threading

import numpy as np
import pytest
from test_process import run as run_alone

from max.driver import CPU, Accelerator, Buffer, DeviceStream, Module
from max.dtype import DType
from max.engine import InferenceSession
from max.engine.origin import content_digest
from max.graph import Graph, TensorType, Weight, ops

THREADS = 8


def together(work, rounds):
    """Runs `work(thread, round)` in threads that begin at the same time; the first failure is that of the test."""
    failed, begin = [], threading.Barrier(THREADS)

    def loop(thread):
        try:
            begin.wait()
            for i in range(rounds):
                work(thread, i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(THREADS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failed:
        raise failed[0]


def test_buffers_of_their_own():
    def work(thread, i):
        array = np.full((4, 5), thread, np.float32)
        buffer = Buffer.from_numpy(array)
        buffer[1, 0] = i
        view = buffer[:, 1:][::-1]
        assert view.shape == (4, 4) and (np.from_dlpack(view) == array[:, 1:][::-1]).all()
        again = pickle.loads(pickle.dumps(view))
        assert (again.to_numpy() == array[:, 1:][::-1]).all() and copy.copy(again).to_numpy()[0, 0] == thread
        assert Buffer.from_dlpack(buffer.to_numpy())[1, 0].item() == i

    together(work, 60)


def test_one_buffer():
    """Read, viewed and exported by all, written to where each has its own place."""
    shared = Buffer.zeros([THREADS, 8], DType.int64)

    def work(thread, i):
        row = shared[thread]
        row[i % 8] = i + 1
        assert row[i % 8].item() == shared.to_numpy()[thread, i % 8] == np.from_dlpack(shared)[thread, i % 8] == i + 1
        assert (shared.shape, shared.dtype, len(list(shared)), shared == shared) == ((THREADS, 8), DType.int64, THREADS, True)
        assert repr(shared) and hash(shared) == hash(shared)

    together(work, 60)


def test_streams():
    """Each thread's work in one stream, whose memory comes back in the library's threads."""
    stream = DeviceStream(CPU())

    def work(thread, i):
        found = Buffer.from_numpy(np.full(1000, thread * i)).copy(stream)
        assert (found.to_numpy() == thread * i).all()

    together(work, 40)


def test_one_model(session, models):
    model = session.load(models / "two.onnx")
    b = np.array([1, 10], np.float32)
    buffer = Buffer.from_numpy(b)

    def work(thread, i):
        a = np.full((1 + i % 3, 2), thread, np.float32)
        for inputs in ((a, b), (Buffer.from_numpy(a), buffer), (a, buffer)):
            total, product = model.execute(*inputs)
            assert (total.to_numpy() == a + b).all() and (product.to_numpy() == a * b).all()
        with pytest.raises(ValueError, match="Input"):
            model.execute(b, a)
        assert model(a=a, b=b)[0].shape == a.shape and len(model.input_metadata) == 2

    together(work, 25)


def test_models_of_their_own(models):
    def work(thread, i):
        made = InferenceSession(devices=[CPU()], num_threads=1).load(models / "identity.onnx")
        assert made.execute(np.full(3, thread, np.float32))[0].to_numpy()[0] == thread

    together(work, 4)


def test_pickled_models(session, models):
    """All threads get the one model of the process."""
    packed = pickle.dumps(session.load(models / "identity.onnx"))
    found = [None] * THREADS

    def work(thread, i):
        found[thread] = pickle.loads(packed)
        assert content_digest(str(models / "two.onnx")) != content_digest(str(models / "identity.onnx"))

    together(work, 10)
    assert len(set(map(id, found))) == 1


def test_graphs(session):
    def work(thread, i):
        weight = Weight("w", DType.float32, [2])
        with Graph(f"graph{thread}", input_types=[TensorType(DType.float32, ["n", 2])]) as graph:
            x = graph.inputs[0].tensor
            graph.output(ops.relu(x * weight + thread), ops.concat([x, x]))
        model = session.load(graph, weights_registry={"w": np.array([i, -1], np.float32)})
        x = np.array([[1, thread + 2]], np.float32)
        assert model(x)[0].to_numpy().tolist() == [[i + thread, 0]]

    together(work, 6)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_kernels(device, accelerators):
    if device == "gpu" and not accelerators:
        pytest.skip("no accelerator")
    try:
        place = CPU() if device == "cpu" else Accelerator()
        module = Module('extern "C" __global__ void add(int* x, int n) { x[threadIdx.x] += n; }', place)
    except RuntimeError as error:
        pytest.skip(str(error))
    kernel = module["add"]

    def work(thread, i):
        numbers = Buffer(np.arange(4, dtype=np.int32), place)
        kernel(numbers, thread, grid=1, block=4)
        assert numbers.to_numpy().tolist() == [thread + n for n in range(4)] and module["add"].name == "add"

    together(work, 20)


def test_event_loops(session, models):
    """A loop in each thread, with calls that wait for each other."""
    model = session.load(models / "two.onnx")

    async def calls(thread):
        a = np.full((2, 2), thread, np.float32)
        made = await asyncio.gather(*(model.execute_async(a, np.full(2, n, np.float32)) for n in range(4)))
        assert [m[0].to_numpy()[0, 0] for m in made] == [thread + n for n in range(4)]

    together(lambda thread, i: asyncio.run(calls(thread)), 2)


def test_the_lock_stays_off():
    """Importing the package does not bring Python's lock back where there is none."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has its lock")
    run_alone("import sys, max.driver, max.engine, max.graph; assert not sys._is_gil_enabled()")
