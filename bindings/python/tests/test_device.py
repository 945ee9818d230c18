# SPDX-License-Identifier: Apache-2.0
import copy
import pickle

import pytest

from max import driver
from max.driver import (
    CPU,
    Accelerator,
    Device,
    DeviceSpec,
    accelerator_api,
    accelerator_architecture_name,
    accelerator_count,
    calculate_virtual_device_count,
    calculate_virtual_device_count_from_cli,
    devices_exist,
    load_devices,
    scan_available_devices,
)
from max.driver.device import set_virtual_device_api, set_virtual_device_count, set_virtual_device_target_arch


def test_host():
    for cpu in (CPU(), CPU(-1), CPU(id=0), Device.cpu(), Device.cpu(0)):
        assert isinstance(cpu, CPU) and isinstance(cpu, Device) and not isinstance(cpu, Accelerator)
        assert (cpu.api, cpu.label, cpu.id, cpu.is_host, cpu.is_compatible) == ("cpu", "cpu", 0, True, True)
        assert cpu == CPU() and hash(cpu) == hash(CPU()) and {cpu: 1}[CPU()] == 1
        assert repr(cpu) == str(cpu) == "Device(type=cpu,id=0)"
        assert cpu.can_access(cpu)
        assert cpu.default_stream.device == cpu
        assert cpu.name
        cpu.synchronize()
    assert CPU() != "cpu" and not CPU() == 0


def test_host_has_no_architecture_name():
    with pytest.raises(RuntimeError):
        CPU().architecture_name  # noqa: B018


def test_stats():
    stats = CPU().stats
    assert isinstance(stats, dict) and all(isinstance(value, int) for value in stats.values())
    assert 0 < stats["free_memory"] <= stats["total_memory"]
    before = stats["allocated_memory"]
    buffer = driver.Buffer(driver.buffer.DType.uint8, [1 << 20])
    assert CPU().stats["allocated_memory"] >= before + (1 << 20)
    del buffer


def test_wrong_arguments():
    with pytest.raises(TypeError):
        Device()
    for wrong in ("0", 1.0, True, None):
        with pytest.raises(TypeError):
            CPU(wrong)
        with pytest.raises(TypeError):
            Accelerator(wrong)
        with pytest.raises(TypeError):
            Accelerator(0, device_memory_limit="1 GB" if wrong == "0" else wrong if wrong is not None else [])
    for wrong in (7, 2**31, -(2**40), 2**100):
        with pytest.raises(ValueError):
            CPU(wrong)
        with pytest.raises((ValueError, RuntimeError)):
            Accelerator(wrong)
    for wrong in (0, -2, 2**64):
        with pytest.raises(ValueError):
            Accelerator(0, wrong)
    with pytest.raises(TypeError):
        CPU().can_access("gpu")


def test_missing_accelerator_says_what_is_there():
    with pytest.raises(RuntimeError, match="99"):
        Accelerator(id=99)


def test_copies_and_pickles():
    for device in [CPU(), *(Accelerator(i) for i in range(accelerator_count()))]:
        for same in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
            assert same == device and type(same) is type(device)


def test_accelerators(gpu):
    assert (gpu.api, gpu.label, gpu.id, gpu.is_host) == (accelerator_api(), "gpu", 0, False)
    assert gpu.architecture_name == accelerator_architecture_name()
    assert gpu == Accelerator(0) == Accelerator(id=-1) != CPU()
    assert repr(gpu) == "Device(type=gpu,id=0)"
    assert gpu.default_stream.device == gpu
    assert isinstance(gpu.is_compatible, bool)
    assert gpu.stats["total_memory"] >= gpu.stats["free_memory"] > 0
    gpu.synchronize()


def test_first_memory_limit_holds(gpu):
    limit = gpu.stats["memory_limit"]
    assert Accelerator(0, device_memory_limit=limit // 2).stats["memory_limit"] == limit
    assert Accelerator(id=0, device_memory_limit=1).stats["memory_limit"] == limit


def test_peers(gpu):
    if accelerator_count() < 2:
        pytest.skip("there is one accelerator")
    assert isinstance(gpu.can_access(Accelerator(1)), bool)
    assert not gpu.can_access(CPU()) or True


def test_specs():
    assert (DeviceSpec(3).id, DeviceSpec(3).device_type) == (3, "cpu")
    assert DeviceSpec(1, "gpu") == DeviceSpec(id=1, device_type="gpu") == DeviceSpec.accelerator(1)
    assert DeviceSpec.accelerator() == DeviceSpec(0, "gpu") != DeviceSpec(0, "cpu")
    assert DeviceSpec.cpu() == DeviceSpec(-1, "cpu") and DeviceSpec.cpu(0) == DeviceSpec(0)
    assert repr(DeviceSpec.accelerator(2)) == "DeviceSpec(id=2, device_type='gpu')"
    assert len({DeviceSpec.cpu(), DeviceSpec.cpu(), DeviceSpec.accelerator()}) == 2
    assert pickle.loads(pickle.dumps(DeviceSpec(1, "gpu"))) == DeviceSpec(1, "gpu")
    assert DeviceSpec(0) != "cpu"
    with pytest.raises(AttributeError):
        DeviceSpec(0).id = 1
    with pytest.raises(ValueError):
        DeviceSpec(0, "tpu")
    with pytest.raises(ValueError):
        DeviceSpec(-1, "gpu")
    with pytest.raises(TypeError):
        DeviceSpec("0")


def test_scan_and_load():
    specs = scan_available_devices()
    assert all(isinstance(spec, DeviceSpec) for spec in specs)
    if accelerator_count():
        assert specs == [DeviceSpec.accelerator(i) for i in range(accelerator_count())]
    else:
        assert [spec.device_type for spec in specs] == ["cpu"]
    assert devices_exist(specs) and devices_exist([]) and devices_exist([DeviceSpec.cpu()])
    assert not devices_exist([DeviceSpec.accelerator(99)]) and not devices_exist([DeviceSpec.cpu(), DeviceSpec(5)])
    assert load_devices(specs) == [Accelerator(s.id) if s.device_type == "gpu" else CPU() for s in specs]
    assert load_devices([DeviceSpec.cpu()]) == [CPU()]
    with pytest.raises(RuntimeError):
        load_devices([DeviceSpec.accelerator(99)])


def test_virtual_device_counts():
    gpu, cpu = DeviceSpec.accelerator, DeviceSpec.cpu
    assert calculate_virtual_device_count() == 1
    assert calculate_virtual_device_count([cpu()]) == 1
    assert calculate_virtual_device_count([gpu(0), gpu(3)], [gpu(1)]) == 4
    assert calculate_virtual_device_count([cpu(0)], [gpu(1)]) == 2
    assert calculate_virtual_device_count_from_cli() == 1
    assert calculate_virtual_device_count_from_cli("cpu") == 1
    assert calculate_virtual_device_count_from_cli("gpu") == 1
    assert calculate_virtual_device_count_from_cli("gpu:0,1,2") == 3
    assert calculate_virtual_device_count_from_cli([0, 1, 2], "gpu:5") == 6
    assert calculate_virtual_device_count_from_cli([], "default", "gpu:") == 1


def test_without_accelerators():
    if accelerator_count():
        pytest.skip("there are accelerators")
    assert accelerator_api() == "cpu"
    with pytest.raises(RuntimeError):
        accelerator_architecture_name()
    with pytest.raises(RuntimeError):
        Accelerator()


def test_wrong_virtual_devices():
    with pytest.raises(ValueError):
        set_virtual_device_count(-1)
    with pytest.raises(ValueError):
        set_virtual_device_api("no such api")
    with pytest.raises(ValueError):
        set_virtual_device_target_arch("")
