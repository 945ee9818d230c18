# SPDX-License-Identifier: Apache-2.0
"""docs/reference_names.md: what its rows name exists, its tests use what their rows name, and no function is missing."""

import re
import unittest

import c_tests
import headers

PAGE = headers.ROOT / "docs/reference_names.md"
NOUNS = ("Device|Host|Buffer|Memory|Stream|Event|Accelerator|VirtualDevice|Module|Kernel|Session|Model|ModelInfo|Weights|"
         "Extension|Cancellation|Log")


def tables():
    """(cells of the head, cells) of each row of a table."""
    head = None
    for line in PAGE.read_text().splitlines():
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells_of(line)
        elif not line.startswith("|---"):
            yield head, cells_of(line)


def cells_of(line):
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def rows():
    """(reference, C, test) of the rows that have a counterpart."""
    return [tuple(cells) for head, cells in tables() if head == ["reference", "C", "test"]]


def named_in(text):
    return re.findall(r"`([^`]+)`", text)


class ReferenceNames(unittest.TestCase):
    def setUp(self):
        self.functions = set(headers.functions())
        self.constants = set(headers.constants())
        self.structures = headers.structures()

    def exists(self, name):
        structure, _, field = name.partition(".")
        return name in self.functions | self.constants or field in self.structures.get(structure, ())

    def test_the_tables_are_there(self):
        self.assertGreater(len(rows()), 150)
        for head, cells in tables():
            self.assertIn(head, (["reference", "C", "test"], ["C", "why"]))
            self.assertEqual(len(cells), len(head), cells)

    def test_everything_named_exists(self):
        for reference, c, _ in rows():
            missing = [name for name in named_in(c) if not self.exists(name)]
            self.assertEqual(missing, [], reference)
        named = set(re.findall(r"`(max\w+)`", PAGE.read_text()))
        self.assertEqual(named - self.functions, set())

    def test_every_row_has_a_test_or_is_the_binding_s(self):
        for reference, c, test in rows():
            if named_in(c):
                self.assertRegex(test, r"^`\w+\.c:\w+`$", reference)
            else:
                self.assertEqual((c, test), ("binding", ""), reference)

    def test_the_tests_use_what_their_rows_name(self):
        paths = {path.name: path for path in c_tests.files()}
        for reference, c, test in rows():
            if not test:
                continue
            file, name = test.strip("`").split(":")
            self.assertIn(name, c_tests.tests_of(paths[file]), reference)
            words = c_tests.words_of(paths[file], name)
            unused = [item for item in named_in(c) if item.rpartition(".")[2] not in words]
            self.assertEqual(unused, [], f"{reference}: {test} does not use them")

    def test_every_function_of_these_nouns_is_named(self):
        named = set(re.findall(r"`(max\w+)`", PAGE.read_text()))
        wanted = {name for name in self.functions if re.match(rf"max({NOUNS})[A-Z]", name)}
        wanted -= {name for name in wanted if name.endswith(("Retain", "Release"))}
        self.assertGreater(len(wanted), 80)
        self.assertEqual(sorted(wanted - named), [])

    def test_no_reference_name_twice(self):
        names = [reference for reference, _, _ in rows()]
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])


if __name__ == "__main__":
    unittest.main()
