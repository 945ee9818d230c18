# SPDX-License-Identifier: Apache-2.0
"""The library's address sanitizer works in an interpreter without one: a copy past the end of memory ends the process."""

import os
import subprocess
import sys
import unittest

# Blocks of more than 512 bytes come from malloc, smaller ones from memory of Python's own.
PROGRAM = """
import ctypes, os, sys
library = ctypes.CDLL(os.environ["MAX_LIBRARY"])
device, stream = ctypes.c_void_p(), ctypes.c_void_p()
assert library.maxDeviceCreate(b"cpu", -1, None, ctypes.byref(device)) == 0
assert library.maxStreamCreate(device, None, ctypes.byref(stream)) == 0
source, target = ctypes.create_string_buffer(2000), ctypes.create_string_buffer(1000)
size = ctypes.c_size_t(int(sys.argv[1]))
assert library.maxMemoryCopy(target, source, size, 0, stream) == 0
assert library.maxStreamSynchronize(stream, ctypes.c_int64(0)) == 0
print("copied")
"""


def copy(size):
    return subprocess.run([sys.executable, "-c", PROGRAM, str(size)], capture_output=True, text=True, env=os.environ)


class Sanitizer(unittest.TestCase):
    def test_a_copy_that_fits(self):
        done = copy(1000)
        self.assertEqual((done.returncode, done.stdout), (0, "copied\n"), done.stderr)

    def test_a_copy_that_does_not(self):
        done = copy(1001)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("heap-buffer-overflow", done.stderr)
        self.assertIn("libmax.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
