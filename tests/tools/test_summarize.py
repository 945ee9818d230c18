# SPDX-License-Identifier: Apache-2.0
"""tools/summarize.py counts what each runner prints, and takes no report for a good one that is missing or broken."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/summarize.py"
CASE = '<testcase name="a/test" status="{status}">{skipped}<system-out>{output}</system-out></testcase>'

GOOGLETEST = """[  SKIPPED ] Compilers.Compiles/hip (0 ms)
[==========] 5 tests from 2 test suites ran. (12 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] Compilers.Compiles/hip
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Gemm.Sums
"""
CMOCKA = """[==========] tests: Running 3 test(s).
[       OK ] test_adds
[  SKIPPED ] test_ptx
[==========] tests: 3 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] test_ptx
"""
UNITTEST = """F.s
======================================================================
FAIL: test_z (__main__.T.test_z) (i=2)
----------------------------------------------------------------------
======================================================================
FAIL: test_z (__main__.T.test_z) (i=3)
----------------------------------------------------------------------
Ran 4 tests in 0.001s

FAILED (failures=2, skipped=1, expected failures=1)
"""
RUST = """test result: ok. 6 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.01s
"""
GO = """--- PASS: TestAdd (0.00s)
--- FAIL: TestRun (0.02s)
    --- PASS: TestRun/cpu (0.01s)
        --- PASS: TestRun/cpu/one (0.01s)
        --- PASS: TestRun/cpu/two (0.01s)
    --- SKIP: TestRun/cuda (0.00s)
    --- FAIL: TestRun/hip (0.00s)
FAIL
FAIL\texample.com/max\t0.031s
--- PASS: TestRun (0.00s)
ok  \texample.com/max/internal\t0.002s
?   \texample.com/max/none\t[no test files]
"""
# What a program prints, and (passed, failed, skipped).
OUTPUTS = {
    "GoogleTest": (GOOGLETEST, (2, 1, 2)),
    "CMocka": (CMOCKA, (2, 0, 1)),
    "unittest": (UNITTEST, (1, 2, 2)),
    "unittest, all passed": ("Ran 12 tests in 1.5s\n\nOK\n", (12, 0, 0)),
    "unittest, subtests skipped": ("Ran 1 test in 1.5s\n\nOK (skipped=3)\n", (0, 0, 3)),
    "unittest, a class that cannot begin": (
        "ERROR: setUpClass (__main__.W)\n\nRan 2 tests in 0.1s\n\nFAILED (errors=1)\n", (2, 1, 0)),
    "pytest": ("1 failed, 461 passed, 3 skipped, 2 xfailed, 4 subtests passed, 1 warning in 72.83s (0:01:12)\n", (461, 1, 5)),
    "pytest, framed": ("===== 7 passed, 1 error in 0.10s =====\n", (7, 1, 0)),
    "pytest, a subtest": ("2 passed, 9 subtests passed in 0.10s\n", (2, 0, 0)),
    "Rust": (RUST, (9, 0, 3)),
    "Go": (GO, (4, 1, 1)),
    "no counts": ("all is well\n", (1, 0, 0)),
    "nothing ran": ("[==========] Running 0 tests from 0 test suites.\n[  PASSED  ] 0 tests.\n", (0, 1, 0)),
}


def case(output="", status="run", message=None):
    skipped = "" if message is None else f'<skipped message="{message}"/>'
    return CASE.format(status=status, skipped=skipped, output=escape(output))


def report(*cases, count=None):
    return f'<testsuite tests="{len(cases) if count is None else count}">{"".join(cases)}</testsuite>'


def summarize(files, *presets):
    """Exit status and last line."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_text(text)
        done = subprocess.run([sys.executable, TOOL, folder, *presets], capture_output=True, text=True)
    if done.stderr:
        raise AssertionError(done.stderr)
    return done.returncode, done.stdout.splitlines()[-1]


class Summarize(unittest.TestCase):
    def expect(self, counts, cases, checks="passed style\n"):
        passed, failed, skipped = counts
        status, line = summarize({"ctest-release.xml": report(*cases), "checks.txt": checks}, "release")
        self.assertEqual(line, f"{passed + 1} passed, {failed} failed, {skipped} skipped")
        self.assertEqual(status, 1 if failed else 0)

    def test_outputs(self):
        for name, (output, counts) in OUTPUTS.items():
            with self.subTest(name):
                self.expect(counts, [case(output)])

    def test_programs_that_fail_as_a_whole(self):
        self.expect((12, 1, 0), [case("Ran 12 tests in 1.5s\n\nOK\n", "fail")])
        self.expect((2, 1, 2), [case(GOOGLETEST, "fail")])
        self.expect((0, 1, 0), [case("", "fail")])

    def test_tests_that_do_not_run(self):
        self.expect((0, 0, 1), [case(status="notrun", message="SKIP_RETURN_CODE=77")])
        self.expect((0, 1, 0), [case(status="notrun", message="Unable to find executable")])
        self.expect((0, 1, 0), [case(status="notrun")])
        self.expect((0, 0, 1), [case(status="disabled")])

    def test_reports_that_are_not_whole(self):
        whole, checks = report(case()), "passed style\n"
        for name, text in {"empty": "", "broken": whole[:-20], "no JUnit": "<html/>", "no tests": report(),
                           "too few tests": report(case(), count=2)}.items():
            with self.subTest(name):
                files = {"ctest-release.xml": whole, "ctest-asan.xml": text, "checks.txt": checks}
                self.assertEqual(summarize(files, "release", "asan"), (1, "2 passed, 1 failed, 0 skipped"))
        files = {"ctest-release.xml": whole, "checks.txt": checks}
        self.assertEqual(summarize(files, "release", "asan"), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertEqual(summarize(files, "release"), (0, "2 passed, 0 failed, 0 skipped"))

    def test_checks(self):
        self.expect((1, 0, 0), [case()], "passed style\n")
        self.expect((0, 1, 1), [case()], "failed style\nskipped docs (no Doxygen)\n")
        whole = {"ctest-release.xml": report(case())}
        for name, checks in {"missing": {}, "empty": {"checks.txt": ""}, "broken": {"checks.txt": "pass"}}.items():
            with self.subTest(name):
                self.assertEqual(summarize({**whole, **checks}, "release"), (1, "1 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
