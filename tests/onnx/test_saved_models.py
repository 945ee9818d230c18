# SPDX-License-Identifier: Apache-2.0
"""ONNX's node tests again, every model saved as a compiled one and loaded from that."""

import collections
import ctypes
import os
import tempfile
import unittest

try:
    import onnx
    import library
    import test_nodes
except ImportError:
    onnx = None


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class SavedModels(unittest.TestCase):
    def test_all_cases(self):
        plain, saved = library.Model, collections.Counter()

        class Saved(plain):
            def __init__(self, data):
                super().__init__(data)
                path = os.path.join(folder, "model.max").encode()
                library.call("maxModelSave", self.model, path)
                self.model = library.Handle("maxModelRelease")
                library.call("maxModelLoad", self.session, path, None, ctypes.byref(self.model))
                saved["models"] += 1

        with tempfile.TemporaryDirectory() as folder:
            library.Model = Saved
            try:
                counts, details = test_nodes.run_all()
            finally:
                library.Model = plain
        failed = [f"{name}: {detail}" for outcome, name, detail in details if outcome == "failed"]
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertGreater(saved["models"], 1800)


if __name__ == "__main__":
    unittest.main()
