# SPDX-License-Identifier: Apache-2.0
import ctypes
import importlib.util

import numpy as np
import pytest
from test_process import run

from max.driver import CPU, Accelerator, Buffer, DeviceStream, Kernel, Module, execution_time
from max.dtype import DType

SOURCE = """
#ifdef DOUBLE
#include "double.h"
#endif
__constant__ float factors[2];
extern "C" __global__ void scale(float* x, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
}
extern "C" __global__ void kinds(double* y, double a, long long b, unsigned char c, short d, bool e) {
  y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e;
}
extern "C" __global__ void constants(float* x) { x[threadIdx.x] = factors[threadIdx.x]; }
extern "C" __global__ void cells(int* x) {
  x[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x] += 1;
}
"""


@pytest.fixture(params=["cpu", "gpu"])
def device(request, accelerators):
    if request.param == "gpu" and not accelerators:
        pytest.skip("no accelerator")
    return CPU() if request.param == "cpu" else Accelerator()


@pytest.fixture
def module(device):
    try:
        return Module(SOURCE, device)
    except RuntimeError as error:
        if error.status == "UNAVAILABLE":
            pytest.skip(str(error))
        raise


def test_launch(module, device):
    buffer = Buffer(np.arange(1000, dtype=np.float32), device)
    scale = module.kernel("scale")
    assert isinstance(scale, Kernel) and scale.name == "scale" and repr(scale) == "Kernel('scale')"
    scale(buffer, 1000, 2.0, grid=4, block=256)
    module["scale"](
        buffer, np.int32(10), ctypes.c_float(0.5), grid=(1,), block=(32, 1, 1), stream=device.default_stream
    )
    expected = np.arange(1000, dtype=np.float32) * 2
    expected[:10] *= 0.5
    assert (buffer.to_numpy() == expected).all()
    assert module.device == device and repr(device) in repr(module)


def test_arguments(module, device):
    numbers = Buffer.zeros([5], DType.float64, device)
    module["kinds"](numbers, np.float64(1.5), np.int64(-(2**40)), np.uint8(200), ctypes.c_short(-3), True)
    assert numbers.to_numpy().tolist() == [1.5, -(2**40), 200, -3, 1]


def test_streams_and_dimensions(module, device):
    stream = DeviceStream(device)
    cells = Buffer.zeros([2 * 3 * 4 * 5], DType.int32, stream=stream)
    for _ in range(10):
        module["cells"](cells, grid=(3, 2), block=(5, 4), stream=stream)
    assert cells.to_numpy().tolist() == [10] * 120


def test_constants(module, device):
    module.set_constant("factors", np.array([1.5, 2.5], np.float32))
    found = Buffer.zeros([2], DType.float32, device)
    module["constants"](found, block=2)
    assert found.to_numpy().tolist() == [1.5, 2.5]
    with pytest.raises(RuntimeError):
        module.set_constant("missing", b"1234")
    with pytest.raises(IndexError):
        module.set_constant("factors", bytes(100))


def test_options(device, module):
    Module(
        SOURCE,
        device,
        defines={"DOUBLE": True},
        headers={"double.h": "#define TWICE 2"},
        name="mine.cu",
        line_info=True,
    )
    with pytest.raises(ValueError, match=r"(?s)mine\.cu.*no_such_name"):
        Module('extern "C" __global__ void f() { no_such_name(); }', device, name="mine.cu")
    with pytest.raises(ValueError):
        Module(SOURCE, device, defines={"DOUBLE": 1})


def test_artifacts(device, module):
    kind = "shared_object" if device.is_host else "cubin" if device.api == "cuda" else "code_object"
    code = module.artifact(kind)
    assert isinstance(code, bytes) and isinstance(module.artifact("log"), str)
    again = Module.load(code, device)
    buffer = Buffer(np.ones(2, np.float32), device)
    again["scale"](buffer, 2, 3.0, block=2)
    assert buffer.to_numpy().tolist() == [3, 3]
    with pytest.raises(ValueError):
        module.artifact("picture")
    with pytest.raises(ValueError):
        Module.load(b"no code", device)


def test_attributes(module):
    kernel = module["scale"]
    assert kernel.attribute("max_threads_per_block") > 0
    kernel.set_attribute("max_dynamic_shared_size", 1024)
    assert kernel.attribute("max_dynamic_shared_size") == 1024
    for call in (lambda: kernel.attribute("weight"), lambda: kernel.set_attribute("max_dynamic_shared_size", -1)):
        with pytest.raises(ValueError):
            call()


def test_a_kernel_holds_its_module(module, device):
    kernel = module["scale"]
    del module
    buffer = Buffer(np.ones(2, np.float32), device)
    kernel(buffer, 2, 3.0, block=2)
    assert buffer.to_numpy().tolist() == [3, 3]


def test_wrong_launches(module, device):
    scale, buffer = module["scale"], Buffer.zeros([4], DType.float32, device)
    for wrong in [(buffer, 4), (buffer, 4, 1.0, 1), (buffer, np.int64(4), 1.0), ()]:
        with pytest.raises(ValueError):
            scale(*wrong)
    for wrong in [(buffer, 2**32, 1.0), (buffer, -(2**31) - 1, 1.0)]:
        with pytest.raises(ValueError, match="32 bits"):
            scale(*wrong)
    for wrong in [(None, 4, 1.0), (np.zeros(4, np.float32), 4, 1.0), (buffer, "4", 1.0), (buffer, [4], 1.0)]:
        with pytest.raises(TypeError):
            scale(*wrong)
    for size in (0, -1, (), (1, 1, 1, 1), 2**31):
        with pytest.raises(ValueError):
            scale(buffer, 4, 1.0, grid=size)
        with pytest.raises(ValueError):
            scale(buffer, 4, 1.0, block=size)
    for size in (1.5, "4", None):
        with pytest.raises(TypeError):
            scale(buffer, 4, 1.0, grid=size)
    with pytest.raises(ValueError):
        scale(buffer, 4, 1.0, block=10**6)
    with pytest.raises(TypeError):
        scale(buffer, 4, 1.0, stream=device)
    with pytest.raises(RuntimeError):
        module["missing"]
    with pytest.raises(TypeError):
        Kernel()
    for wrong in [(None,), (b"text",), (SOURCE, "cpu")]:
        with pytest.raises(TypeError):
            Module(*wrong)


def test_execution_time(module, device):
    stream, buffer = DeviceStream(device), Buffer.zeros([1 << 16], DType.float32, device)
    taken = execution_time(lambda: module["scale"](buffer, 1 << 16, 1.0, grid=256, block=256, stream=stream), stream, 3)
    assert taken > 0
    with pytest.raises(ValueError):
        execution_time(lambda: None, stream, 0)
    with pytest.raises(TypeError):
        execution_time(lambda: None, device)


def test_nvrtc_of_nvidias_wheels():
    if importlib.util.find_spec("nvidia") is None:
        pytest.skip("no wheel of NVIDIA's is installed")
    run(
        """
        import os
        os.environ.pop("MAX_NVRTC_LIBRARY", None)
        from max.driver import kernel
        kernel._find_nvrtc()
        kernel._find_nvrtc()
        assert len(kernel._opened) <= 1
        with open("/proc/self/maps") as maps:
            assert bool(kernel._opened) == ("libnvrtc.so" in maps.read())
        """
    )


def test_map_to_host(device):
    buffer = Buffer(np.arange(4, dtype=np.float32), device)
    with buffer.map_to_host() as array:
        array += 1
    assert buffer.to_numpy().tolist() == [1, 2, 3, 4]
    with buffer.map_to_host("r") as array:
        assert array.tolist() == [1, 2, 3, 4] and not array.flags.writeable
    with buffer.map_to_host(access="w") as array:
        array[:] = 7
    assert array.tolist() == buffer.to_numpy().tolist() == [7] * 4
    with pytest.raises(ZeroDivisionError), buffer.map_to_host() as array:
        array[0] = 1 / 0
    assert buffer[0].item() == 7
    mapping = buffer.map_to_host()
    with mapping, pytest.raises(RuntimeError):
        mapping.__enter__()
    for wrong in ("x", None, ""):
        with pytest.raises(ValueError):
            buffer.map_to_host(wrong)
    with pytest.raises(ValueError), buffer[::2].map_to_host():
        pass


def test_what_is_mapped_is_left_alone():
    buffer = Buffer(np.zeros(4, np.float32), CPU())
    with buffer.map_to_host() as array:
        array[0] = 1
        for refused in (
            lambda: buffer[0].item(),
            buffer.copy,
            lambda: buffer.inplace_copy_from(Buffer.zeros([4], DType.float32)),
        ):
            with pytest.raises(ValueError):
                refused()
    assert buffer[0].item() == 1
