# SPDX-License-Identifier: Apache-2.0
"""The kernels of ONNX's node tests, compiled by the vendors' own compilers, which need no GPU.

`device_compilers.py API` runs the node tests on the fake accelerator, whose compiler keeps all sources, and compiles
these for a virtual device. Skipped where the vendor's compiler is not installed."""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

API = sys.argv[1] if len(sys.argv) > 1 else "cuda"
ARCHITECTURES = {"cuda": "sm_80", "hip": "gfx90a"}
UNAVAILABLE = 14
FAKES = dict(os.environ)
for name in ("MAX_NVRTC_LIBRARY", "MAX_HIPRTC_LIBRARY", "MAX_COMGR_LIBRARY", "MAX_CACHE_DIR"):
    os.environ.pop(name, None)
for path in pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so.*"):
    os.environ["MAX_NVRTC_LIBRARY"] = str(path)

import library

try:
    import onnx
except ImportError:
    onnx = None


def virtual_device():
    library.call("maxVirtualDeviceSetCount", ctypes.c_int32(1))
    library.call("maxVirtualDeviceSetApi", API.encode())
    library.call("maxVirtualDeviceSetArchitectureName", ARCHITECTURES[API].encode())
    device = library.Handle("maxDeviceRelease")
    library.call("maxDeviceCreate", API.encode(), ctypes.c_int32(-1), None, ctypes.byref(device))
    return device


def compiled(device, text, name):
    module = library.Handle("maxModuleRelease")
    library.call("maxModuleCompile", device, text, name.encode(), None, ctypes.byref(module))


@unittest.skipUnless(onnx, "onnx is not installed")
class Compilers(unittest.TestCase):
    def test_every_source_compiles(self):
        device = virtual_device()
        try:
            compiled(device, b'extern "C" __global__ void empty() {}', "empty.cu")
        except library.Failure as failure:
            if failure.status == UNAVAILABLE:
                self.skipTest(str(failure))
            raise
        with tempfile.TemporaryDirectory() as folder:
            sources = pathlib.Path(folder) / "sources"
            sources.mkdir()
            subprocess.run([sys.executable, "device_coverage.py", API, "--list", "."], check=True, capture_output=True,
                           cwd=pathlib.Path(__file__).parent,
                           env={**FAKES, "MAX_CACHE_DIR": folder, "FAKE_RTC_SOURCES": str(sources)})
            paths, problems = sorted(sources.glob("*.cu")), []
            for path in paths:
                text = path.read_bytes()
                try:
                    compiled(device, text, path.name)
                except library.Failure as failure:
                    problems.append(f"{failure}\n{text[text.find(b'extern'):].decode()}")
        self.assertGreater(len(paths), 400)
        self.assertFalse(problems, "\n".join(problems))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
