# SPDX-License-Identifier: Apache-2.0
"""tools/made_files.py names files that differ, lack or are left over, and writes only where it was not asked to compare."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import made_files  # noqa: E402

TEXTS = {"raw.rs": "a b", "raw/same.rs": "c d", "raw/new.rs": "e"}
PATTERNS = ("raw.rs", "raw/*")


class MadeFiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "raw").mkdir()
        for name, text in {"raw.rs": "a  b", "raw/same.rs": "c d", "raw/old.rs": "f", "other.rs": "g"}.items():
            (self.folder / name).write_text(text)

    def contents(self):
        return {str(path.relative_to(self.folder)): path.read_text() for path in self.folder.rglob("*.rs")}

    def test_compares(self):
        before = self.contents()
        different = made_files.keep(self.folder, PATTERNS, TEXTS, check=True)
        self.assertEqual(sorted(different), ["raw.rs", "raw/new.rs", "raw/old.rs"])
        self.assertEqual(self.contents(), before)

    def test_compares_what_counts(self):
        different = made_files.keep(self.folder, PATTERNS, TEXTS, check=True, plain=lambda text: text.replace(" ", ""))
        self.assertEqual(sorted(different), ["raw/new.rs", "raw/old.rs"])

    def test_writes(self):
        made_files.keep(self.folder, PATTERNS, TEXTS, check=False)
        self.assertEqual(self.contents(), {**TEXTS, "other.rs": "g"})
        self.assertEqual(made_files.keep(self.folder, PATTERNS, TEXTS, check=True), [])


if __name__ == "__main__":
    unittest.main()
