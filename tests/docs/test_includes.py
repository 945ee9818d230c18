# SPDX-License-Identifier: Apache-2.0
"""tools/check_includes.py: the tree passes, and each seeded fault is found. The files that the guide to new devices
names are there."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_includes  # noqa: E402

# A fault as one more line of a file, and what is said of it.
FAULTS = {
    "a folder above": ("device/stream.h", '#include "kernel/module.h"', "device must not include kernel"),
    "a circle of two files": ("device/event.h", '#include "device/device_registry.h"', "include each other in a circle"),
    "a circle through a .cpp": ("device/device.cpp", '#include "device/buffer.h"', "include each other in a circle"),
    "a larger circle": ("base/kept_memory.h", '#include "base/active_call.h"', "files include each other in a circle, 2 may"),
    "a part of an interface": ("device/weights.cpp", '#include "device/cpu/cpu_device.h"', "only device/device_registry.cpp"),
    "a fast kernel's part": ("ops/ref/resize.cpp", '#include "ops/cpu/resize/resize_axis.h"', "ops/ref/ must not include ops/cpu/"),
    "an API's name": ("device/gpu/driver.cpp", 'const bool isOld = name == "cuda";', "names cuda"),
    "an API's number": ("kernel/gpu_kernel.cpp", "if (api == Api::Hip) return;", "names Hip"),
    "a library's name": ("kernel/rtc.cpp", 'const char* const kName = "libnvrtc.so";', "names nvrtc"),
}
# What names no API.
OTHERS = [
    ("graph/graph.cpp", "// As CUDA has it."),
    ("graph/graph.cpp", "const int chips = relationships + membership;"),
    ("cli/main.cpp", 'const char* const kHelp = "CUDA\'s dialect";'),
]


class Includes(unittest.TestCase):
    def setUp(self):
        self.files = check_includes.sources()

    def with_line(self, path, line):
        return check_includes.violations({**self.files, path: self.files[path] + line + "\n"})

    def test_tree(self):
        self.assertEqual(check_includes.violations(self.files), [])

    def test_faults(self):
        for name, (path, line, message) in FAULTS.items():
            with self.subTest(fault=name):
                self.assertIn(message, "\n".join(self.with_line(path, line)))

    def test_others(self):
        for path, line in OTHERS:
            with self.subTest(line=line):
                self.assertEqual(self.with_line(path, line), [])

    def test_folders_in_order(self):
        check_includes.ALLOWED["base"].add("capi")
        self.addCleanup(check_includes.ALLOWED["base"].remove, "capi")
        self.assertIn("lets base include capi", "\n".join(check_includes.violations(self.files)))


class Guide(unittest.TestCase):
    def test_files(self):
        text = (ROOT / "docs/adding_a_device.md").read_text()
        paths = re.findall(r"`((?:src|tests|tools|include)/[^`\s]+)`", text)
        self.assertGreater(len(paths), 10)
        for path in paths:
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).exists(), path)

    def test_all_files_that_name_an_api(self):
        """The guide leads to every list of APIs."""
        text = (ROOT / "docs/adding_a_device.md").read_text()
        for path in ("device/gpu/apis.cpp", "kernel/gpu_kernel_apis.cpp", "device/api_names.h"):
            self.assertIn(path, text)


if __name__ == "__main__":
    unittest.main()
