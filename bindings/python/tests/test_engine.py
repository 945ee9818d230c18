# SPDX-License-Identifier: Apache-2.0
import asyncio
import copy
import gc
import os
import pathlib
import pickle
import shutil
import tempfile
import threading
import time

import numpy as np
import pytest

from max import MaxError, engine
from max.driver import CPU, Buffer
from max.dtype import DType
from max.engine import Cancellation, InferenceSession, LogLevel, Model, TensorSpec, origin
from max.engine.origin import content_digest
from max.engine.session import AssertLevel, SplitKReductionPrecision


def test_session():
    session = InferenceSession()
    assert session.devices == [CPU()] and session.num_threads >= 1
    assert InferenceSession(devices=[CPU()], num_threads=2).num_threads == 2
    assert InferenceSession([CPU()], 1).num_threads == 1
    assert InferenceSession(iter([CPU()])).devices == [CPU()]
    assert InferenceSession(devices=[], custom_extensions=[]).devices == [CPU()]
    assert InferenceSession(weights_cache_dir=pathlib.Path("/nowhere")).num_threads >= 1
    assert "num_threads" in repr(session)


def test_accelerators(gpu, models):
    """Models run on the session's first device, where their inputs have to be."""
    session = InferenceSession(devices=[gpu])
    assert session.devices == [gpu]
    model = session.load(models / "two.onnx")
    a, b = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 3], np.float32)
    there = [Buffer.from_numpy(array).to(gpu) for array in (a, b)]
    for inputs in (there, (a, b)):  # arrays are copied to it
        outputs = model.execute(*inputs)
        assert [output.device for output in outputs] == [gpu, gpu]
        assert [np.array_equal(*pair) for pair in zip([o.to_numpy() for o in outputs], (a + b, a * b))] == [True, True]
    with pytest.raises(ValueError, match="is on cpu:0, expected cuda:0"):
        model.execute(Buffer.from_numpy(a), there[1])
    outputs = model.capture(1, *there)
    there[1].inplace_copy_from(Buffer.from_numpy(b + 1))
    model.replay(1, *there)
    model.debug_verify_replay(1, *there)
    assert np.array_equal(outputs[0].to_numpy(), a + b + 1) and outputs[0].device == gpu


@pytest.mark.parametrize(
    "wrong",
    [
        {"devices": ["cpu"]},
        {"devices": 3},
        {"num_threads": "2"},
        {"num_threads": 1.5},
        {"num_threads": True},
        {"custom_extensions": 3},
        {"weights_cache_dir": 3},
    ],
)
def test_wrong_sessions(wrong):
    with pytest.raises(TypeError):
        InferenceSession(**wrong)


@pytest.mark.parametrize("count", [0, -1, 2**40])
def test_wrong_numbers_of_threads(count):
    with pytest.raises(ValueError):
        InferenceSession(num_threads=count)


def test_load(session, models, tmp_path):
    path = models / "identity.onnx"
    for name in (path, str(path), bytes(path)):
        assert isinstance(session.load(name), Model)
    shutil.copy(path, tmp_path / "model.onnx")
    assert session.load(tmp_path).execute(np.ones(2, np.float32))[0].to_numpy().tolist() == [1, 1]
    model = session.load(path)
    model.save(tmp_path / "saved.maxc")
    assert session.load(tmp_path / "saved.maxc")(np.ones(1, np.float32))[0].shape == (1,)
    with pytest.raises(TypeError):
        Model()


def test_wrong_paths(session, tmp_path):
    for missing in (tmp_path / "missing.onnx", "", tmp_path):
        with pytest.raises(RuntimeError):
            session.load(missing)
    (tmp_path / "foreign.onnx").write_bytes(b"no model")
    with pytest.raises(RuntimeError):
        session.load(tmp_path / "foreign.onnx")
    for wrong in (None, 3, [], object()):
        with pytest.raises(TypeError):
            session.load(wrong)
    with pytest.raises(ValueError):
        session.load("a\0b")


def test_metadata(session, models):
    model = session.load(models / "two.onnx")
    assert [spec.name for spec in model.input_metadata] == ["a", "b"]
    assert [spec.shape for spec in model.input_metadata] == [[None, 2], [2]]
    assert [spec.dtype for spec in model.output_metadata] == [DType.float32] * 2
    assert [spec.name for spec in model.output_metadata] == ["sum", "product"]
    first = model.input_metadata[0]
    assert isinstance(first, TensorSpec) and first == session.load(models / "two.onnx").input_metadata[0]
    assert first != model.input_metadata[1] and len({*model.input_metadata, first}) == 2
    assert repr(first) == "TensorSpec(name='a', dtype=DType.float32, shape=[None, 2])" and repr(first) in repr(model)
    first.shape.append(1)
    model.input_metadata.clear()
    assert model.input_metadata[0].shape == [None, 2]
    assert session.load(models / "scalar.onnx").input_metadata[0].shape == []


@pytest.fixture
def two(session, models):
    return session.load(models / "two.onnx")


A, B = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([10, 20], np.float32)


def test_calls(two):
    for outputs in (
        two(A, B), two(A, b=B), two(b=B, a=A), two.execute(A, B), two.execute(Buffer.from_numpy(A), Buffer.from_numpy(B)),
        two.execute(A, Buffer.from_numpy(B)), two.execute(A.T.copy().T, B), two.execute(Buffer.from_dlpack(A), B),
    ):  # fmt: skip
        assert isinstance(outputs, list) and all(isinstance(o, Buffer) for o in outputs)
        assert (outputs[0].to_numpy() == A + B).all() and (outputs[1].to_numpy() == A * B).all()
    big_endian = A.astype(">f4")
    assert (two(big_endian, B)[0].to_numpy() == A + B).all()
    raw = np.zeros(25, np.uint8)
    misaligned = raw[1:].view(np.float32).reshape(3, 2)
    misaligned[:] = A
    assert (two(misaligned, B)[1].to_numpy() == A * B).all()


class Foreign:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


def test_other_inputs(two, session, models):
    assert (two(Foreign(A), Foreign(B))[0].to_numpy() == A + B).all()
    scalar = session.load(models / "scalar.onnx")
    for number in (2, 2.0, np.float32(2), np.array(2, np.float32), Buffer.scalar(2, DType.float32)):
        assert scalar(number)[0].item() == -2.0
    frozen = A.copy()
    frozen.flags.writeable = False
    assert (two(frozen, B)[0].to_numpy() == A + B).all()
    texts = session.load(models / "texts.onnx")
    assert texts(np.array(["a", "é"]))[0].to_numpy().tolist() == ["a", "é"]
    sequence = session.load(models / "sequence.onnx")
    one = np.ones(1, np.float32)
    found, joined = sequence([one, Buffer.from_numpy(one)], one * 2)
    assert [x.to_numpy().tolist() for x in found] == [[1], [1], [2]] and joined.to_numpy().tolist() == [1, 1, 2]


def test_messages(two, session, models):
    identity = session.load(models / "identity.onnx")
    x = np.ones(2, np.float32)
    with pytest.raises(ValueError, match=r"Number of inputs \(2\) does not match expected number \(1\) for model"):
        identity.execute(x, x)
    with pytest.raises(ValueError, match="float64"):
        identity.execute(x.astype(np.float64))
    with pytest.raises(ValueError, match="3"):
        two.execute(np.ones((1, 3), np.float32), B)
    with pytest.raises(ValueError):
        two.execute(Buffer.from_numpy(np.ones((4, 4), np.float32))[:, ::2], B)
    for call in ({"args": (A,)}, {"args": (A, B, B)}):
        with pytest.raises(ValueError):
            two.execute(*call["args"])
    for args, kwargs, word in [
        ((A,), {"c": B}, "'c'"),
        ((A, B), {"a": A}, "'a'"),
        ((), {"a": A}, "'b'"),
        ((A, B, B), {"b": B}, "'b'"),
    ]:
        with pytest.raises(TypeError, match=word):
            two(*args, **kwargs)
    for wrong in (None, "text", [A], object(), {}, 1j):
        with pytest.raises((TypeError, ValueError)):
            two.execute(wrong, B)
    sequence = session.load(models / "sequence.onnx")
    for wrong in (A, [A, None], [object()], {"a": 1}, 3, None):
        with pytest.raises((TypeError, ValueError)):
            sequence(wrong, x)


def test_outputs_are_their_own(session, models):
    identity = session.load(models / "identity.onnx")
    x = np.ones(4, np.float32)
    first, second = identity(x)[0], identity(x)[0]
    assert not np.shares_memory(first.to_numpy(), x) and not np.shares_memory(first.to_numpy(), second.to_numpy())
    array = first.to_numpy()
    del identity, session, first
    assert array.tolist() == [1, 1, 1, 1]


def test_weights_registry(session, models):
    path = models / "weight.onnx"
    x = np.ones((1, 2), np.float32)
    assert session.load(path)(x)[0].to_numpy().tolist() == [[3, 5, 7]]
    weight = np.full((2, 3), 2, np.float32)
    weight.flags.writeable = False
    for registry in ({"w": weight}, {"w": Buffer.from_numpy(weight)}, {"w": Foreign(weight.copy())}):
        model = session.load(path, weights_registry=registry)
        del registry
        assert model(x)[0].to_numpy().tolist() == [[4, 4, 4]]
    for wrong in ({"w": weight[:1]}, {"w": weight.astype(np.float64)}):
        with pytest.raises(ValueError):
            session.load(path, weights_registry=wrong)
    with pytest.raises(RuntimeError, match="missing"):
        session.load(path, weights_registry={"missing": weight})
    for wrong in ({"w": 3}, {3: weight}, {"w": None}):
        with pytest.raises(TypeError):
            session.load(path, weights_registry=wrong)


def test_extensions(session, models):
    for missing in ("missing.so", pathlib.Path("missing.so"), ["missing.so"]):
        with pytest.raises(RuntimeError):
            session.load(models / "identity.onnx", custom_extensions=missing)
        with pytest.raises(RuntimeError):
            InferenceSession(custom_extensions=missing)
    with pytest.raises(TypeError):
        InferenceSession(custom_extensions=[3])
    assert "Path" in str(engine.CustomExtensionsType)
    with pytest.raises(AttributeError):
        engine.no_such_name  # noqa: B018


def test_settings(session, models):
    for mode in engine.GPUProfilingMode.__args__:
        session.gpu_profiling(mode)
    session.gpu_profiling("off")
    for level in LogLevel:
        session.set_mojo_log_level(level)
        session.set_mojo_log_level(level.value.upper())
    assert [level.value for level in LogLevel] == ["notset", "trace", "debug", "info", "warning", "error", "critical"]
    for level in AssertLevel:
        session.set_mojo_assert_level(level)
        session.set_mojo_assert_level(level.value)
    for precision in SplitKReductionPrecision:
        session.set_split_k_reduction_precision(precision)
        session.set_split_k_reduction_precision(precision.value)
    for mode in ("true", "on", "false", "off", "no", "0", "OFF"):
        session.use_old_top_k_kernel(mode)
    for call in (
        session.gpu_profiling,
        session.set_mojo_log_level,
        session.set_mojo_assert_level,
        session.set_split_k_reduction_precision,
    ):
        for wrong in ("loud", None, 3):
            with pytest.raises(ValueError):
                call(wrong)
    assert session.load(models / "identity.onnx")(B)[0].to_numpy().tolist() == [10, 20]


def test_checks_find_infinities(tmp_path, session):
    conftest = pytest.importorskip("conftest")
    f = np.float32
    path = conftest.make_model(tmp_path / "log.onnx", [("Log", ["x"], ["y"])], [("x", f, [1])], [("y", f, [1])])
    model = session.load(path)
    assert model(np.zeros(1, f))[0][0].item() == float("-inf")
    session.set_mojo_assert_level("all")
    with pytest.raises((ValueError, RuntimeError), match="Log"):
        model(np.zeros(1, f))


def test_capture_and_replay(two):
    a, b = Buffer.from_numpy(A.copy()), Buffer.from_numpy(B.copy())
    outputs = two.capture(7, a, b)
    assert (outputs[0].to_numpy() == A + B).all()
    a[0, 0] = 100
    assert two.replay(7, a, b) is None
    assert outputs[0][0, 0].item() == 110
    assert two.debug_verify_replay(7, a, b) is None
    assert two.capture(2**64 - 1, a, b)[1][0, 0].item() == 1000
    for call in (two.replay, two.debug_verify_replay):
        with pytest.raises(RuntimeError):
            call(8, a, b)
        with pytest.raises(ValueError):
            call(7, b, a)
    for call in (two.capture, two.replay, two.debug_verify_replay):
        for wrong in ("7", 7.0, None, True):
            with pytest.raises(TypeError):
                call(wrong, a, b)
        for wrong in (-1, 2**64):
            with pytest.raises(ValueError):
                call(wrong, a, b)
        with pytest.raises(ValueError):
            call(7)
        with pytest.raises(TypeError):
            call(7, A, B)


def test_pickles(session, models):
    path = models / "two.onnx"
    model = session.load(path)
    text = pickle.dumps(model)
    first, second = pickle.loads(text), pickle.loads(text)
    assert first is second and first is not model and len(text) < 1000
    assert (first(A, B)[0].to_numpy() == A + B).all()
    assert copy.copy(model) is copy.deepcopy(model) is model
    changed = session.load(models / "weight.onnx", weights_registry={"w": np.ones((2, 3), np.float32)})
    with pytest.raises(TypeError):
        pickle.dumps(changed)


def external_model(folder, values):
    """A model whose weights lie in a file beside it."""
    onnx = pytest.importorskip("onnx")
    folder.mkdir()
    weight = onnx.numpy_helper.from_array(np.asarray(values, np.float32), "w")
    onnx.external_data_helper.set_external_data(weight, "weights.bin")
    (folder / "weights.bin").write_bytes(weight.raw_data)
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    x, y = (onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


def replaced_file(folder, models):
    shutil.copy(models / "two.onnx", folder / "model.onnx")
    return folder / "model.onnx", lambda: shutil.copy(models / "identity.onnx", folder / "model.onnx")


def file_in_folder(folder, models):
    return folder, replaced_file(folder, models)[1]


def external_data(folder, models):
    made = external_model(folder / "external", [1, 2])
    return made, lambda: (made / "weights.bin").write_bytes(np.array([1, 3], np.float32).tobytes())


def compiled_model(folder, models):
    first, second = (InferenceSession().load(models / f"{name}.onnx") for name in ("two", "weight"))
    first.save(folder / "model.maxc")
    return folder / "model.maxc", lambda: second.save(folder / "model.maxc")


def large_file(folder, models):
    """Of several parts, of which the last changes."""
    text = (models / "two.onnx").read_bytes()
    # An unknown field of bytes is skipped by readers.
    size = 9 << 20
    field = bytes([99 << 3 & 127 | 2 | 128, 99 << 3 >> 7])
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    path = folder / "large.onnx"
    path.write_bytes(text + field + length + bytes(size))
    return path, lambda: path.write_bytes(text + field + length + bytes(size - 1) + b"1")


@pytest.mark.parametrize("make", [replaced_file, file_in_folder, external_data, compiled_model, large_file])
def test_pickles_of_other_contents(make, session, models, tmp_path):
    """A file that differs where a pickle is loaded is an error, and so is the pickle of a model whose file is another one."""
    path, change = make(tmp_path, models)
    model = session.load(path)
    text = pickle.dumps(model)
    assert pickle.dumps(model) == text
    opened = pickle.loads(text)
    change()
    assert pickle.loads(text) is opened  # what is open has the contents
    del opened
    gc.collect()
    with pytest.raises(MaxError, match="differs from the one that was pickled") as caught:
        pickle.loads(text)
    assert caught.value.status == "FAILED_PRECONDITION" and str(path) in str(caught.value)
    if make is not external_data:  # only the model's own file is watched while it is loaded
        with pytest.raises(MaxError, match="after it was loaded"):
            pickle.dumps(model)
    assert pickle.dumps(session.load(path)) != text


def test_pickles_of_same_contents(session, models, tmp_path):
    first, second = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for path in (first, second):
        shutil.copy(models / "two.onnx", path)
    text = pickle.dumps(session.load(first))
    assert content_digest(str(first)) == content_digest(str(second)) != content_digest(str(models / "identity.onnx"))
    first.unlink()
    with pytest.raises(RuntimeError, match="a.onnx"):
        pickle.loads(text)
    second.rename(first)
    assert (pickle.loads(text)(A, B)[0].to_numpy() == A + B).all()


@pytest.mark.parametrize("make", ["model.onnx", "folder", "weights.bin"])
def test_hashes_of_files_that_are_written_again_and_again(make, tmp_path):
    """Also while file systems give them the same times."""
    folder = external_model(tmp_path / "model", [1, 2])
    path = str(folder / "model.onnx" if make == "model.onnx" else folder)
    written = folder / ("weights.bin" if make == "weights.bin" else "model.onnx")
    text = written.read_bytes()
    digests = set()
    for number in range(100):
        with open(written, "r+b") as file:
            file.write(text[:-1] + bytes([number]))
        digests.add(content_digest(path))
    assert len(digests) == 100


def test_names_that_look_like_weights(tmp_path):
    """Only files of the model's folder are read."""
    entry = b"\n\x08location\x12"
    for name in (b"../secret", b"/etc/passwd", b"a/../../secret", b"", b"fifo", b"\0", b"missing"):
        folder = pathlib.Path(tempfile.mkdtemp(dir=tmp_path))
        (folder.parent / "secret").write_text("1")
        os.mkfifo(folder / "fifo")
        (folder / "m.onnx").write_bytes(entry + bytes([len(name)]) + name)
        before = content_digest(str(folder / "m.onnx"))
        (folder.parent / "secret").write_text("2")
        origin._digests.clear()
        assert content_digest(str(folder / "m.onnx")) == before
    # A name at the end of a part that is hashed on its own.
    (folder / "weights").write_text("1")
    (folder / "m.onnx").write_bytes(bytes(origin._CHUNK - 5) + entry + b"\x07weights")
    before = content_digest(str(folder / "m.onnx"))
    (folder / "weights").write_text("2")
    assert content_digest(str(folder / "m.onnx")) != before


def slow_inputs():
    return np.array(2_000_000, np.int64), np.full((64, 64), 0.01, np.float32)


def test_timeouts(session, models):
    slow = session.load(models / "slow.onnx")
    start = time.monotonic()
    with pytest.raises(TimeoutError) as caught:
        slow.execute(*slow_inputs(), timeout=0.05)
    assert time.monotonic() - start < 10 and caught.value.status == "DEADLINE_EXCEEDED"
    for wrong in (0, -1, float("nan"), float("inf"), 2**70):
        with pytest.raises(ValueError):
            slow.execute(*slow_inputs(), timeout=wrong)
    with pytest.raises(TypeError):
        slow.execute(*slow_inputs(), timeout="1")
    with pytest.raises(TypeError):
        slow.execute(*slow_inputs(), cancellation="now")


def test_cancellation(session, models):
    slow = session.load(models / "slow.onnx")
    cancellation = Cancellation()
    timer = threading.Timer(0.1, cancellation.cancel)
    timer.start()
    with pytest.raises(RuntimeError, match="Cancelled"):
        slow.execute(*slow_inputs(), cancellation=cancellation)
    timer.join()
    with pytest.raises(RuntimeError):
        slow.execute(*slow_inputs(), cancellation=cancellation)


def test_the_lock_is_free_while_a_model_runs(session, models):
    slow = session.load(models / "slow.onnx")
    cancellation, failed = Cancellation(), []

    def run():
        try:
            slow.execute(*slow_inputs(), cancellation=cancellation)
        except RuntimeError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    assert thread.is_alive()
    cancellation.cancel()
    thread.join()
    assert len(failed) == 1


def test_async(session, models):
    two, slow = session.load(models / "two.onnx"), session.load(models / "slow.onnx")

    async def several():
        results = await asyncio.gather(*(two.execute_async(A * i, B) for i in range(8)))
        assert all((r[0].to_numpy() == A * i + B).all() for i, r in enumerate(results))
        with pytest.raises(TimeoutError):
            await slow.execute_async(*slow_inputs(), timeout=0.05)
        task = asyncio.ensure_future(slow.execute_async(*slow_inputs()))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(several())


def test_threads(session, models):
    two, failed = session.load(models / "two.onnx"), []

    def run(i):
        for _ in range(200):
            a = A * i
            total, product = two(a, B)
            if not ((total.to_numpy() == a + B).all() and (product.to_numpy() == a * B).all()):
                failed.append(i)
            try:
                two(B, a)
                failed.append(i)
            except ValueError as error:
                if "Input" not in str(error):
                    failed.append(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
