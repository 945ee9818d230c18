# SPDX-License-Identifier: Apache-2.0
import pytest

from max.driver import CPU, Accelerator, Buffer, DeviceEvent, DeviceStream, accelerator_count
from max.dtype import DType


@pytest.fixture(params=["cpu", "gpu"])
def device(request, accelerators):
    if request.param == "gpu" and not accelerators:
        pytest.skip("no accelerator")
    return CPU() if request.param == "cpu" else Accelerator()


def test_properties(device):
    stream = DeviceStream(device)
    assert stream.device == device
    assert stream == stream and stream != DeviceStream(device) and stream != device.default_stream
    assert device.default_stream == device.default_stream
    assert len({stream, device.default_stream, device.default_stream}) == 2
    assert repr(device) in repr(stream)
    assert stream != "stream"
    stream.synchronize()
    device.default_stream.synchronize()


def test_a_stream_holds_its_device(device):
    stream = DeviceStream(device)
    device = None  # noqa: F841
    assert stream.device.id == 0


def test_waits(device):
    first, second = DeviceStream(device), DeviceStream(device)
    first.wait_for(second)
    first.wait_for(stream=second)
    first.wait_for(device)
    first.wait_for(device=device)
    second.wait_for(CPU())
    first.synchronize()
    for wrong in (None, 3, "stream", DeviceEvent(device)):
        with pytest.raises(TypeError):
            first.wait_for(wrong)
    with pytest.raises(TypeError):
        first.wait_for(second, device=device)


def test_events(device):
    stream = DeviceStream(device)
    event = stream.record_event()
    assert isinstance(event, DeviceEvent)
    event.synchronize()
    assert event.is_ready() is True
    assert DeviceEvent(device).is_ready()
    assert stream.record_event(event) is None
    assert stream.record_event(event=event) is None
    event.synchronize()
    with pytest.raises(TypeError):
        stream.record_event("event")


def test_elapsed_time(device):
    stream = DeviceStream(device)
    start, end = DeviceEvent(device, enable_timing=True), DeviceEvent(device, enable_timing=True)
    stream.record_event(start)
    Buffer.zeros([1 << 16], DType.float32, device, stream=stream)
    stream.record_event(end)
    stream.synchronize()
    assert start.elapsed_time(end) >= 0
    assert end.elapsed_time(start) == -start.elapsed_time(end)
    with pytest.raises(ValueError):
        stream.record_event().elapsed_time(end)
    with pytest.raises(ValueError):
        DeviceEvent(device, enable_timing=True).elapsed_time(end)
    with pytest.raises(TypeError):
        start.elapsed_time(None)


def test_events_of_other_devices(gpu):
    with pytest.raises(ValueError):
        DeviceStream(CPU()).record_event(DeviceEvent(gpu))
    if accelerator_count() > 1:
        with pytest.raises(ValueError):
            DeviceStream(gpu).record_event(DeviceEvent(Accelerator(1)))


@pytest.mark.parametrize("wrong", [None, 0, "cpu"])
def test_wrong_devices(wrong):
    with pytest.raises(TypeError):
        DeviceStream(wrong)
    with pytest.raises(TypeError):
        DeviceEvent(wrong)


def test_work_in_order(device):
    """Copies on two streams, each after the work it depends on."""
    first, second = DeviceStream(device), DeviceStream(device)
    source = Buffer.zeros([1000], DType.int32, stream=first)
    for i in range(5):
        source[i] = i
    copies = [source.copy(second) for _ in range(3)]
    assert all(c.stream == second for c in copies)
    assert [int(x) for x in copies[-1].to(CPU()).to_numpy()[:6]] == [0, 1, 2, 3, 4, 0]
