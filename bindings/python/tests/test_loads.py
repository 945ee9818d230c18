# SPDX-License-Identifier: Apache-2.0
"""Loads that tell how far they are and can be ended, extensions, and settings that change what happens."""

import json
import logging
import signal

import numpy as np
import pytest
from conftest import LIBRARIES, ROOT, make_model
from test_process import run

from max.engine import Cancellation

F = np.float32


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Products, whose weights are packed when it is loaded."""
    weights = [(f"w{i}", np.full((512, 512), i, F)) for i in range(8)]
    nodes = [("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"x{i + 1}" if i < 7 else "y"]) for i in range(8)]
    path = tmp_path_factory.mktemp("large") / "large.onnx"
    return make_model(path, nodes, [("x", F, ["n", 512])], [("y", F, ["n", 512])], weights)


def test_progress(session, large):
    told = []
    model = session.load(large, progress=lambda fraction, phase: told.append((fraction, phase)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions) and 0 <= fractions[0] and fractions[-1] == 1
    assert all(isinstance(phase, str) and phase for _, phase in told)
    assert model(np.ones((1, 512), F))[0].shape == (1, 512)


class Stop(Exception):
    pass


def ends_early(raised):
    def progress(fraction, phase):
        raised(phase)

    return progress


def raise_stop(phase):
    raise Stop(phase)


def raise_interrupt(phase):
    signal.raise_signal(signal.SIGINT)


def leave(phase):
    raise SystemExit(3)


@pytest.mark.parametrize(
    "action, kind", [(raise_stop, Stop), (raise_interrupt, KeyboardInterrupt), (leave, SystemExit)]
)
def test_what_a_progress_function_raises_ends_the_load(session, large, action, kind, capfd):
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        with pytest.raises(kind):
            session.load(large, progress=ends_early(action))
    finally:
        signal.signal(signal.SIGINT, previous)
    assert capfd.readouterr() == ("", "")
    session.load(large)


def test_a_load_is_interrupted(session, large):
    """By a signal whose handler raises, without a function for progress."""
    previous = signal.signal(signal.SIGALRM, lambda *_: raise_stop("late"))
    try:
        with pytest.raises(Stop):
            for _ in range(10_000):
                signal.setitimer(signal.ITIMER_REAL, 0.005)
                session.load(large)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_time_and_cancellation(session, large):
    with pytest.raises(TimeoutError):
        session.load(large, timeout=1e-9)
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(RuntimeError, match="ancelled"):
        session.load(large, cancellation=cancellation)
    late = Cancellation()
    with pytest.raises(RuntimeError, match="ancelled"):
        session.load(large, cancellation=late, progress=lambda *_: late.cancel())
    assert session.load(large, timeout=600, cancellation=Cancellation()).input_metadata[0].name == "x"
    for wrong in ({"timeout": "1"}, {"cancellation": 1}, {"progress": 3}):
        with pytest.raises(TypeError):
            session.load(large, **wrong)
    with pytest.raises(ValueError):
        session.load(large, timeout=-1)


EXTENSION = LIBRARIES / "libcustom_operator.so"
MODEL = ROOT / "examples/custom_operator/model.onnx"


@pytest.mark.skipif(not EXTENSION.exists() or not MODEL.exists(), reason="the examples are not built")
@pytest.mark.parametrize("given", ["path", "list", "load"])
def test_extension(given):
    """In a separate process: extensions are never unloaded."""
    run(
        """
        import pathlib, sys
        import numpy as np
        from max.engine import InferenceSession
        extension, model, given = sys.argv[1:]
        value = {"path": pathlib.Path(extension), "list": [extension], "load": extension}[given]
        try:
            InferenceSession().load(model)
            raise SystemExit("there is an operator without its library")
        except RuntimeError as error:
            assert "Softsign" in str(error), error
        if given == "load":
            loaded = InferenceSession().load(model, custom_extensions=value)
        else:
            loaded = InferenceSession(custom_extensions=value).load(model)
        assert loaded(np.array([-1, 1, 3], np.float32))[0].shape == (2,)
        """,
        EXTENSION,
        MODEL,
        given,
    )


# Settings.


def trace(session, folder):
    session.write_profile(folder / "trace.json")
    found = json.loads((folder / "trace.json").read_text())
    return found["traceEvents"] if isinstance(found, dict) else found


def test_profiles(session, models, tmp_path):
    model = session.load(models / "two.onnx")
    inputs = np.ones((1, 2), F), np.ones(2, F)
    model(*inputs)
    assert not [event for event in trace(session, tmp_path) if event.get("ph") == "X"]
    session.gpu_profiling("on")
    model(*inputs)
    once = len(trace(session, tmp_path))
    model(*inputs)
    assert 0 < once < len(trace(session, tmp_path))
    session.gpu_profiling("off")
    before = len(trace(session, tmp_path))
    model(*inputs)
    assert len(trace(session, tmp_path)) == before
    session.clear_profile()
    assert len(trace(session, tmp_path)) < before
    with pytest.raises(RuntimeError):
        session.write_profile(tmp_path / "missing/trace.json")


@pytest.mark.parametrize(
    "name, mode",
    [("MODULAR_ENABLE_PROFILING", "on"), ("MODULAR_ENABLE_PROFILING", "off"), ("MAX_ENABLE_PROFILING", "detailed")],
)
def test_profiling_by_the_environment(name, mode, models, tmp_path):
    out = tmp_path / "trace.json"
    run(
        """
        import sys
        import numpy as np
        from max.engine import InferenceSession
        InferenceSession().load(sys.argv[1])(np.ones(2, np.float32))
        """,
        models / "identity.onnx",
        environment={name: mode, "MAX_PROFILE_FILE": str(out)},
    )
    assert out.exists() == (mode != "off")


def test_messages_go_to_the_logger(session, models, caplog):
    session.set_mojo_log_level("trace")
    with caplog.at_level(5, "max"):
        session.load(models / "identity.onnx")
        loud = len(caplog.records)
        assert loud and all(record.name == "max" for record in caplog.records)
        with pytest.raises(RuntimeError):
            session.load("missing.onnx")
        assert any(record.levelno == logging.ERROR and "missing" in record.getMessage() for record in caplog.records)
        caplog.clear()
        session.set_mojo_log_level("critical")
        session.load(models / "identity.onnx")
        with pytest.raises(RuntimeError):
            session.load("missing.onnx")
        assert not caplog.records


def test_messages_come_from_threads_and_end(models):
    run(
        """
        import logging, sys, threading
        import numpy as np
        from max.engine import InferenceSession
        logging.basicConfig(level=1, filename="/dev/null")
        session = InferenceSession(num_threads=2)
        session.set_mojo_log_level("trace")
        def work():
            while True:
                session.load(sys.argv[1])(np.ones(2, np.float32))
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(20):
            session.load(sys.argv[1])
        """,
        models / "identity.onnx",
    )


def test_assert_levels(tmp_path, session, caplog):
    path = make_model(tmp_path / "log.onnx", [("Log", ["x"], ["y"])], [("x", F, [1])], [("y", F, [1])])
    model, zero = session.load(path), np.zeros(1, F)
    for level in ("none", "safe"):
        session.set_mojo_assert_level(level)
        assert model(zero)[0][0].item() == float("-inf")
    session.set_mojo_log_level("warning")
    session.set_mojo_assert_level("warn")
    with caplog.at_level(logging.WARNING, "max"):
        model(zero)
    assert any("Log" in record.getMessage() for record in caplog.records)
    session.set_mojo_assert_level("all")
    with pytest.raises(RuntimeError, match="Log"):
        model(zero)


def test_precision_of_sums(tmp_path, session):
    weight = np.full((4096, 2), 1.0009, F)
    path = tmp_path / "sum.onnx"
    make_model(path, [("MatMul", ["x", "w"], ["y"])], [("x", F, [4, 4096])], [("y", F, [4, 2])], [("w", weight)])
    model, x = session.load(path), np.full((4, 4096), 1.0007, F)
    exact = float(x[0].astype(np.float64) @ weight.astype(np.float64)[:, 0])
    errors = {}
    for name in ("float64", "float32", "float16", "bfloat16"):
        session.set_split_k_reduction_precision(name)
        errors[name] = abs(float(model(x)[0].to_numpy()[0, 0]) - exact)
    assert errors["float64"] <= errors["float32"] < errors["float16"] < errors["bfloat16"], errors


def test_old_top_k(tmp_path, session):
    path = tmp_path / "top.onnx"
    make_model(
        path, [("TopK", ["x", "k"], ["values", "indices"])], [("x", F, ["n", 1000])],
        [("values", F, ["n", 3]), ("indices", np.int64, ["n", 3])], [("k", np.array([3]))],
    )  # fmt: skip
    model, x = session.load(path), np.random.default_rng(0).standard_normal((50, 1000)).astype(F)
    found = []
    for mode in ("false", "true"):
        session.use_old_top_k_kernel(mode)
        found.append([output.to_numpy() for output in model(x)])
    assert all((a == b).all() for a, b in zip(*found))
    assert (found[0][0][:, 0] == x.max(axis=1)).all()
