# SPDX-License-Identifier: Apache-2.0
"""Every public function is called by a test in C, and each structure is given to one that is zero but for its size.

With --list it prints each function and the files that call it.
"""

import re
import sys
import unittest

import c_tests
import headers

ZEROED = headers.ROOT / "tests/capi/test_zeroed_options.c"
# What an extension hands in and gets: no options and no reports.
OF_EXTENSIONS = {"MaxExtensionTable", "MaxOperator", "MaxOperatorCall"}


def callers():
    """Function -> names of the files that call it, or hand it to something that does."""
    found = {name: [] for name in headers.functions()}
    for path in c_tests.files():
        for name in sorted(set(re.findall(r"\bmax[A-Z]\w+", c_tests.code_of(path)))):
            if name in found:
                found[name].append(path.name)
    return found


class TestsInC(unittest.TestCase):
    def test_every_function_is_called(self):
        self.assertEqual([name for name, files in callers().items() if not files], [])

    def test_every_reference_is_taken_from_an_object(self):
        code = "".join(c_tests.code_of(path) for path in c_tests.files())
        for name in headers.functions():
            if name.endswith(("Retain", "Release")):
                self.assertRegex(code, rf"\b{name}\((?!NULL)", name)

    def test_every_structure_is_given_zeroed(self):
        given = set(re.findall(r"\bZEROED\((\w+),", c_tests.code_of(ZEROED)))
        self.assertEqual(set(headers.structures()) - given, OF_EXTENSIONS)


if __name__ == "__main__":
    if "--list" in sys.argv:
        for function, files in sorted(callers().items()):
            print(f"{function}: {' '.join(files)}")
    else:
        unittest.main()
