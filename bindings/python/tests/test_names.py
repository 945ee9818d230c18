# SPDX-License-Identifier: Apache-2.0
"""All public names of the reference documents exist and are tested; the declarations are those of the headers."""

import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import max.driver
import max.engine

HERE = pathlib.Path(__file__).resolve().parent
DRIVER = """
Accelerator Buffer CPU DLPackArray Device DeviceSpec DeviceStream DeviceEvent accelerator_api accelerator_count
accelerator_architecture_name calculate_virtual_device_count calculate_virtual_device_count_from_cli devices_exist
load_devices load_max_buffer scan_available_devices
Buffer.contiguous Buffer.copy Buffer.device Buffer.dtype Buffer.element_size Buffer.from_dlpack Buffer.from_numpy
Buffer.inplace_copy_from Buffer.is_contiguous Buffer.is_host Buffer.item Buffer.mmap Buffer.num_elements Buffer.pinned
Buffer.rank Buffer.scalar Buffer.shape Buffer.stream Buffer.to Buffer.to_numpy Buffer.view Buffer.zeros
Device.api Device.architecture_name Device.can_access Device.cpu Device.default_stream Device.id Device.is_compatible
Device.is_host Device.label Device.stats Device.synchronize
DeviceSpec.accelerator DeviceSpec.cpu DeviceSpec.device_type DeviceSpec.id
DeviceStream.device DeviceStream.record_event DeviceStream.synchronize DeviceStream.wait_for
DeviceEvent.synchronize DeviceEvent.is_ready DeviceEvent.elapsed_time
"""
ENGINE = """
InferenceSession Model TensorSpec LogLevel GPUProfilingMode CustomExtensionsType
InferenceSession.devices InferenceSession.gpu_profiling InferenceSession.load InferenceSession.set_mojo_assert_level
InferenceSession.set_mojo_log_level InferenceSession.set_split_k_reduction_precision
InferenceSession.use_old_top_k_kernel
Model.__call__ Model.capture Model.debug_verify_replay Model.execute Model.input_metadata Model.output_metadata
Model.replay LogLevel.NOTSET LogLevel.TRACE LogLevel.DEBUG LogLevel.INFO LogLevel.WARNING LogLevel.ERROR
LogLevel.CRITICAL TensorSpec.dtype TensorSpec.name TensorSpec.shape
"""
NAMES = [(max.driver, name) for name in DRIVER.split()] + [(max.engine, name) for name in ENGINE.split()]


@pytest.mark.parametrize("module, name", NAMES, ids=lambda value: value if isinstance(value, str) else "")
def test_name_exists(module, name):
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    if not name.startswith(("LogLevel.", "GPUProfilingMode", "CustomExtensionsType", "DeviceSpec.")):
        assert found.__doc__, f"{name} has no documentation"


def test_names_are_tested():
    """Each name stands in a test beside this list, the levels as members of their enumeration."""
    tests = "".join(p.read_text() for p in HERE.glob("test_*.py") if p.name != "test_names.py")
    names = {name.rpartition(".")[2] for _, name in NAMES if not name.startswith(("LogLevel.", "Model.__call__"))}
    assert not [name for name in names if not re.search(rf"\b{name}\b", tests)]


def test_names_are_those_of_the_page():
    """docs/reference_names.md lists them too."""
    page = ROOT / "docs/reference_names.md"
    if not page.exists():
        pytest.skip("not in a checkout")
    text = page.read_text().replace("\\", "")
    assert not [name for _, name in NAMES if not re.search(rf"\b{re.escape(name)}\b", text)]


def test_exports():
    for module in (max.driver, max.engine):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
        assert {name.split(".")[0] for found, name in NAMES if found is module} <= {
            *module.__all__,
            "CustomExtensionsType",
        }


def test_declarations_are_those_of_the_headers():
    tool = ROOT / "tools/make_cdef.py"
    if not tool.exists():
        pytest.skip("not in a checkout")
    made = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "bindings/python/raw/max.cdef").read_text() == made, (
        "python3 tools/make_cdef.py > bindings/python/raw/max.cdef"
    )
