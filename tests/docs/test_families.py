# SPDX-License-Identifier: Apache-2.0
"""tools/check_families.py: the tree passes, and each seeded fault is found."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_families  # noqa: E402

# A fault as a file, what is replaced in it and by what, and what is said of it.
FAULTS = {
    "a kernel of another family": ("ops/cpu/pooling/unpool.cpp", '"MaxUnpool"', '"TensorScatter"', "TensorScatter is in schemas/indexing.cpp, but in ops/cpu/pooling"),
    "a reference of another family": ("ops/ref/matrix.cpp", '"Det"', '"Softmax"', "Softmax is in schemas/normalization.cpp, but in ops/ref/matrix"),
    "a schema of another family": ("graph/schemas/pooling.cpp", '"MaxUnpool"', '"Resize"', "Resize is in schemas/pooling.cpp and schemas/resize.cpp"),
    "a row without schema": ("ops/ref/matrix.cpp", '"Det"', '"Determinant"', "Determinant in ops/ref/matrix has no schema"),
    "an operator without kernel": ("graph/schemas/matrix.cpp", '"Det"', '"Trace"', "Trace is in schemas/matrix.cpp, but has no kernel"),
    "a stale exception": ("ops/cpu/string/string.cpp", '"Equal"', '"StringConcat"', "('Equal', 'cpu/string') is not an exception"),
}


class Families(unittest.TestCase):
    def setUp(self):
        self.files = check_families.sources()

    def test_tree(self):
        self.assertEqual(check_families.violations(self.files), [])

    def test_all_rows_are_read(self):
        """As many rows of schemas as operators have a name there, so that none is passed over."""
        rows = [row for path, text in self.files.items() if path.startswith("graph/") for row in check_families.operators(text)]
        self.assertGreater(len(rows), 200)
        self.assertEqual(len(rows), len(set(rows)))

    def test_faults(self):
        for name, (path, old, new, message) in FAULTS.items():
            with self.subTest(fault=name):
                self.assertIn(old, self.files[path])
                files = {**self.files, path: self.files[path].replace(old, new)}
                self.assertIn(message, "\n".join(check_families.violations(files)))


if __name__ == "__main__":
    unittest.main()
