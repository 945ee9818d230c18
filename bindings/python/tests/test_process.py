# SPDX-License-Identifier: Apache-2.0
"""What happens to the process: imports, forks, exits, memory."""

import gc
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import max as package
from max.driver import Buffer
from max.dtype import DType
from max.engine import InferenceSession

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(package.__file__)))


def run(program, *arguments, environment=None, timeout=60):
    """Runs a program in a separate Python; it must succeed without output."""
    variables = {**os.environ, "PYTHONPATH": FOLDER, **(environment or {})}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        env=variables, capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    assert done.stderr == ""
    return done.stdout


def test_imports_are_few():
    run(
        """
        import sys
        import max.driver, max.engine, max.dtype
        found = {"numpy", "asyncio", "ctypes", "inspect", "pathlib", "threading", "ml_dtypes"} & set(sys.modules)
        assert not found, found
        buffer = max.driver.Buffer(max.dtype.DType.float32, [2])
        buffer[0] = 1.0
        assert buffer[0].item() == 1 and "numpy" not in sys.modules
        """
    )


def test_without_a_driver():
    without = {name: "/nonexistent" for name in os.environ if name.startswith("MAX_") and name.endswith("_LIBRARY")}
    without |= {"MAX_CUDA_LIBRARY": "/nonexistent", "MAX_HIP_LIBRARY": "/nonexistent"}
    run(
        """
        from max import driver
        assert driver.accelerator_count() == 0 and driver.accelerator_api() == "cpu"
        assert driver.scan_available_devices() == [driver.DeviceSpec.cpu(0)]
        for call in (driver.Accelerator, driver.accelerator_architecture_name):
            try:
                call()
            except RuntimeError as error:
                assert str(error)
            else:
                raise SystemExit("no error")
        """,
        environment=without,
    )


def test_virtual_devices():
    run(
        """
        from max.driver import accelerator_api, accelerator_architecture_name, accelerator_count
        from max.driver.device import *
        from max.driver.device import set_virtual_device_api, set_virtual_device_count, set_virtual_device_target_arch
        set_virtual_device_api("hip")
        set_virtual_device_target_arch("gfx942")
        set_virtual_device_count(3)
        assert (accelerator_count(), accelerator_api(), accelerator_architecture_name()) == (3, "hip", "gfx942")
        """,
        environment={"MAX_CUDA_LIBRARY": "/nonexistent", "MAX_HIP_LIBRARY": "/nonexistent"},
    )


EXITS = {
    "objects that are alive": "",
    "objects in modules": "import builtins; builtins.kept = [buffer, array, model, stream]; sys.modules['kept'] = builtins.kept",
    "a cycle": "cycle = [buffer, view, model]; cycle.append(cycle)",
    "an exit handler": "import atexit; atexit.register(lambda: model.execute(array)); atexit.register(lambda: buffer.to_numpy())",
    "an exit handler that executes in a thread": "import atexit; model._is_long = True; atexit.register(model.execute, array)",
    "work in a stream": "for _ in range(50): large = large.copy(stream)",
    "work with borrowed memory": "for _ in range(50): Buffer.from_numpy(np.ones(1 << 16)).copy(stream)",
    "capsules": "capsules = [view.__dlpack__(max_version=(1, 0)), buffer.__dlpack__()]; imported = np.from_dlpack(view)",
    "a thread that executes": """
def loop():
    while True:
        model.execute(array)
threading.Thread(target=loop, daemon=True).start()
""",
    "a thread that drops borrowed memory": """
def loop():
    while True:
        Buffer.from_numpy(np.ones(100)).copy(stream)
for _ in range(3):
    threading.Thread(target=loop, daemon=True).start()
""",
    "os._exit": "os._exit(0)",
    "SystemExit": "raise SystemExit(0)",
    "a module's last object": "buffer.__class__.leftover = buffer",
}


@pytest.mark.parametrize("end", EXITS, ids=lambda e: e.replace(" ", "_"))
def test_exits(end, models):
    program = """
import os, sys, threading
import numpy as np
from max.driver import CPU, Buffer, DeviceStream
from max.engine import InferenceSession
from max.dtype import DType

class Late:
    def __del__(self):
        try:
            self.buffer[0].item()
        except (TypeError, AttributeError):
            pass  # finalizers of garbage run in any order, some when modules are empty

stream = DeviceStream(CPU())
array = np.ones(8, np.float32)
buffer = Buffer.from_numpy(array)
view = buffer[::2]
large = Buffer.zeros([1 << 18], DType.float32, stream=stream)
model = InferenceSession(num_threads=1).load(sys.argv[1])
late = Late()
late.buffer = buffer
"""
    run(program + EXITS[end], models / "identity.onnx")


def test_fork(models):
    run(
        """
        import os, sys, warnings
        import numpy as np
        from max.driver import CPU, Buffer, DeviceStream
        from max.engine import InferenceSession

        warnings.simplefilter("ignore", DeprecationWarning)  # Python's, where there are threads
        array = np.ones(8, np.float32)
        buffer, stream = Buffer.from_numpy(array), DeviceStream(CPU())
        model = InferenceSession(num_threads=2).load(sys.argv[1])
        model.execute(array)
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                assert model.execute(array)[0].to_numpy().tolist() == [1] * 8
                assert model.execute(buffer)[0].to_numpy().tolist() == [1] * 8
                try:
                    buffer.copy(stream).to_numpy()
                except RuntimeError as error:
                    assert "fork" in str(error)
                raise SystemExit(0)
            children.append(child)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        assert buffer.copy(stream).to_numpy().tolist() == [1] * 8
        """,
        models / "identity.onnx",
    )


def test_process_pools(models):
    run(
        """
        import pickle, sys, warnings
        import concurrent.futures, multiprocessing
        import numpy as np
        from max.driver import Buffer

        warnings.simplefilter("ignore", DeprecationWarning)  # Python's, where there are threads

        def main():
            for method in ("fork", "spawn"):
                context = multiprocessing.get_context(method)
                with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                    found = list(pool.map(Buffer.copy, [Buffer.from_numpy(np.full(3, i)) for i in range(4)]))
                    assert [b[0].item() for b in found] == [0, 1, 2, 3]

        if __name__ == "__main__":
            main()
        """
    )


def test_ctrl_c_interrupts_a_call(models):
    """The first call and the second; the model runs on afterwards."""
    run(
        """
        import os, signal, sys, threading, time
        import numpy as np
        from max.engine import InferenceSession
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        model = InferenceSession(num_threads=1).load(sys.argv[1])
        matrix = np.full((64, 64), 0.01, np.float32)
        for _ in range(2):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            try:
                model.execute(np.array(10**8, np.int64), matrix)
            except KeyboardInterrupt:
                assert time.monotonic() - start < 20
            else:
                raise SystemExit("it was not interrupted")
            timer.join()
        assert model.execute(np.array(1, np.int64), matrix)[0].shape == (64, 64)
        assert model.execute(np.array(1, np.int64), matrix)[0].shape == (64, 64)
        """,
        models / "slow.onnx",
    )


def test_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "max", "devices"],
        env={**os.environ, "PYTHONPATH": FOLDER},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "cpu" in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "max", "nonsense"], env={**os.environ, "PYTHONPATH": FOLDER}, capture_output=True
    )
    assert done.returncode != 0


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the address sanitizer keeps memory that is freed")
@pytest.mark.parametrize("how", ["from_numpy", "from_dlpack", "to_numpy", "create", "slice", "execute", "errors"])
def test_nothing_grows(how, models):
    array = np.ones(16, np.float32)
    buffer = Buffer.from_numpy(array)
    model = InferenceSession(num_threads=1).load(models / "identity.onnx")

    def fail():
        try:
            buffer[99]
        except IndexError:
            pass

    def imported():
        np.from_dlpack(buffer)
        array.__dlpack_device__()

    step = {
        "from_numpy": lambda: Buffer.from_numpy(array),
        "from_dlpack": imported,
        "to_numpy": buffer.to_numpy,
        "create": lambda: Buffer(DType.float32, [16]),
        "slice": lambda: buffer[2:4],
        "execute": lambda: model.execute(array)[0].to_numpy(),
        "errors": fail,
    }[how]
    for _ in range(2000):
        step()
    gc.collect()
    before = resident_bytes()
    for _ in range(10000):
        step()
    gc.collect()
    assert resident_bytes() - before < 1 << 20  # 105 bytes a time would show


def test_memory_comes_back_from_other_threads():
    """Queued copies let go of arrays from the stream's thread; the arrays are freed soon after, without a call."""
    import time
    import weakref

    from max.driver import CPU, DeviceStream

    stream, gone = DeviceStream(CPU()), []
    for _ in range(20):
        array = np.ones(1 << 14)
        gone.append(weakref.ref(array))
        Buffer.from_numpy(array).copy(stream)
        del array
    stream.synchronize()
    for _ in range(500):
        if not any(reference() is not None for reference in gone):
            return
        time.sleep(0.01)
    pytest.fail("arrays are still held")


def test_many_threads_make_and_drop():
    failed = []

    def work():
        try:
            for i in range(300):
                array = np.full(32, i)
                buffer = Buffer.from_numpy(array)
                if buffer[i % 32].item() != i or np.from_dlpack(buffer)[0] != i:
                    failed.append(i)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
