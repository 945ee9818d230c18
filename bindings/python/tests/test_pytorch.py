# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensors as buffers, inputs, weights and constants, where PyTorch is installed; test_dlpack.py has its protocol."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from max.driver import CPU, Buffer
from max.dtype import DType
from max.graph import Graph, TensorType, Weight, ops

torch = pytest.importorskip("torch")

TYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 float8_e4m3fn float8_e5m2"
).split()


@pytest.mark.parametrize("name", [name for name in TYPES if hasattr(torch, name)])
def test_types(name):
    source = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
    buffer = Buffer.from_dlpack(source)
    assert buffer.dtype is getattr(DType, name) and buffer.shape == (2, 3) and buffer.device == CPU()
    back = torch.from_dlpack(buffer)
    assert back.dtype is source.dtype and back.data_ptr() == source.data_ptr() and back.shape == source.shape


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(6.0).reshape(2, 3).T, lambda: torch.arange(10)[::3], lambda: torch.ones(1, 3).expand(4, 3),
        lambda: torch.ones(0, 3), lambda: torch.tensor(3.5), lambda: torch.arange(24).reshape(2, 3, 4)[:, 1:, ::2],
    ],
)  # fmt: skip
def test_shapes_and_strides(make):
    source = make()
    buffer = Buffer.from_dlpack(source)
    assert (buffer.shape, buffer.strides) == (tuple(source.shape), source.stride())
    assert np.array_equal(buffer.to_numpy(), source.numpy()) and torch.equal(torch.from_dlpack(buffer), source)


def test_memory_is_shared():
    """Both write where the other reads, and each keeps it."""
    source = torch.zeros(2, 3)
    gone = weakref.ref(source)
    buffer = Buffer.from_dlpack(source)
    source[0, 0] = 7
    buffer[1, 2] = 5
    assert source[1, 2] == 5 and buffer[0, 0].item() == 7
    del source
    gc.collect()
    back = torch.from_dlpack(buffer[:, ::2])
    del buffer
    gc.collect()
    assert back.tolist() == [[7, 0], [0, 5]]
    del back
    gc.collect()
    assert gone() is None


def test_what_goes_over_by_other_ways():
    buffer = Buffer.from_numpy(np.arange(3.0))
    assert torch.as_tensor(buffer).tolist() == torch.tensor(buffer).tolist() == [0, 1, 2]
    assert torch.from_numpy(buffer.to_numpy()).data_ptr() == torch.from_dlpack(buffer).data_ptr()
    restored = pickle.loads(pickle.dumps(Buffer.from_dlpack(torch.ones(2, dtype=torch.bfloat16))))
    assert torch.from_dlpack(restored).dtype is torch.bfloat16


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: torch.ones(2, requires_grad=True), "gradient"),
        (lambda: torch.ones(2, dtype=torch.complex64).conj(), "conjugate"),
        (lambda: torch.eye(3).to_sparse(), "layout"),
        (lambda: torch.ones(2, device="meta"), "device"),
    ],
)
def test_what_pytorch_refuses(make, message):
    with pytest.raises((BufferError, TypeError, RuntimeError, ValueError), match=message):
        Buffer.from_dlpack(make())


def test_models(session):
    """Inputs, weights and constants."""
    weight = torch.arange(6.0).reshape(3, 2)
    with Graph("torch", input_types=[TensorType(DType.float32, ["n", 3])]) as graph:
        x = graph.inputs[0].tensor
        graph.output(x @ Weight("w", DType.float32, [3, 2]) + ops.constant(torch.tensor([1.0, -1.0])))
    model = session.load(graph, weights_registry={"w": weight})
    x = torch.rand(4, 3)
    (found,) = model(x)
    assert torch.allclose(torch.from_dlpack(found), x @ weight + torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="float64"):
        model(x.double())
    with pytest.raises(ValueError, match="not contiguous"):
        model(torch.rand(3, 4).T)
    with pytest.raises(BufferError, match="gradient"):
        model(torch.nn.Parameter(x))
