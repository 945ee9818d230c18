# SPDX-License-Identifier: Apache-2.0
"""docs/reference_names.md names functions that exist, and every function of the driver's headers."""

import re
import unittest

import headers

PAGE = headers.ROOT / "docs/reference_names.md"
PLAIN = {"binding", "later"}


def rows():
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and not line.startswith("|---") and cells[0] not in ("reference", "C"):
            yield cells


class ReferenceNames(unittest.TestCase):
    def test_every_row_has_a_function_or_says_where_it_is(self):
        for cells in rows():
            self.assertEqual(len(cells), 2, cells)
            self.assertTrue("`max" in cells[0] + cells[1] or cells[1] in PLAIN, cells)

    def test_every_function_named_exists(self):
        named = set(re.findall(r"`(max\w+)`", PAGE.read_text()))
        self.assertEqual(named - set(headers.functions()), set())

    def test_every_function_of_the_driver_is_named(self):
        named = set(re.findall(r"`(max\w+)`", PAGE.read_text()))
        driver = {name for name in headers.functions()
                  if re.match(r"max(Device|Host|Buffer|Memory|Stream|Event|Accelerator|VirtualDevice|Module|Kernel)[A-Z]", name)}
        self.assertGreater(len(driver), 80)
        self.assertEqual(driver - named, set())

    def test_no_reference_name_twice(self):
        names = [cells[0] for cells in rows()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
