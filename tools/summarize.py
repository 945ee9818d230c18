# SPDX-License-Identifier: Apache-2.0
"""Adds up a folder of reports and prints one last line, N passed, N failed, N skipped: summarize.py FOLDER PRESET...

ctest-PRESET.xml are JUnit files of ctest; one that is missing, broken or without tests is a failure. Where a program's own
output counts its tests (GoogleTest, CMocka, Python's unittest, pytest, Go, Rust), those counts are taken, else it is one test.
checks.txt has a line "RESULT NAME" for each check."""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

RESULTS = ("passed", "failed", "skipped")

# GoogleTest and CMocka: "[  PASSED  ] 12 tests."; names follow on lines of the same kind, without a number.
COUNTED = re.compile(r"^\[  ?(PASSED|FAILED|SKIPPED)  ?\] (\d+) test", re.M)

# unittest: "Ran 6 tests in 0.001s", then "FAILED (failures=2, errors=1, skipped=5, expected failures=1)". Its failures count
# subtests, its tests do not.
UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+s\n+(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", re.M)
UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (test\w* \([^)\n]*\))", re.M)
UNITTEST_KINDS = {"failures": "failed", "errors": "failed", "unexpected successes": "failed", "skipped": "skipped",
                  "expected failures": "skipped"}

# pytest: "1 failed, 461 passed, 3 skipped, 7 subtests passed in 27.83s"; the test around passed subtests counts itself.
PYTEST = re.compile(r"^=* ?((?:\d+ [a-z ]+, )*\d+ [a-z ]+) in [\d.]+s\b", re.M)
PYTEST_KINDS = {"passed": "passed", "failed": "failed", "error": "failed", "errors": "failed", "skipped": "skipped",
                "xfailed": "skipped", "xpassed": "failed", "subtests failed": "failed", "subtests skipped": "skipped"}

# Rust: "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s"
RUST = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out", re.M)

# Go with -v: "    --- PASS: TestName/subtest (0.00s)", each package up to a line such as "ok  	example.com/max	1.2s".
GO = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(", re.M)
GO_KINDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
GO_PACKAGE = re.compile(r"^(?:ok|FAIL|\?) *\t.*$", re.M)


def counts_of_unittest(text):
    counts = collections.Counter()
    for ran in UNITTEST.finditer(text):
        not_passed = collections.Counter()
        for part in filter(None, (ran[2] or "").split(", ")):
            kind, number = part.split("=")
            not_passed[UNITTEST_KINDS[kind]] += int(number)
        failed_tests = len(set(UNITTEST_FAILED.findall(text[:ran.start()])))
        counts += not_passed
        # Skipped subtests also count for their test.
        counts["passed"] += max(0, int(ran[1]) - min(failed_tests, not_passed["failed"]) - not_passed["skipped"])
    return counts


def counts_of_go(text):
    """Subtests are counted in the place of the test around them."""
    counts = collections.Counter()
    for package in GO_PACKAGE.split(text):
        results = GO.findall(package)
        around = {"/".join(name.split("/")[:length]) for _, name in results for length in range(1, name.count("/") + 1)}
        counts.update(GO_KINDS[kind] for kind, name in results if name not in around)
    return counts


def counts_of_output(text):
    counts = collections.Counter()
    for kind, number in COUNTED.findall(text):
        counts[kind.lower()] += int(number)
    for line in PYTEST.findall(text):
        for number, kind in (part.split(" ", 1) for part in line.split(", ")):
            if kind in PYTEST_KINDS:
                counts[PYTEST_KINDS[kind]] += int(number)
    for passed, failed, ignored, filtered in RUST.findall(text):
        counts.update(passed=int(passed), failed=int(failed), skipped=int(ignored) + int(filtered))
    counts.update(counts_of_unittest(text))
    counts.update(counts_of_go(text))
    return counts


def counts_of_case(case):
    """One ctest test: its inner counts, which must not hide that the program failed as a whole, or ran nothing."""
    inner = counts_of_output(case.findtext("system-out") or "")
    status = case.get("status")
    if status == "run":
        if not inner:
            return collections.Counter(passed=1)
        return inner if inner.total() else collections.Counter(failed=1)
    if status == "notrun":  # skipped by itself, or a program that is not there
        reason = case.find("skipped")
        skipped = reason is not None and reason.get("message", "").startswith("SKIP_")
        return collections.Counter(["skipped" if skipped else "failed"])
    if status == "disabled":
        return collections.Counter(skipped=1)
    inner["failed"] = max(inner["failed"], 1)
    return inner


def counts_of_report(path, failures):
    try:
        root = ElementTree.parse(path).getroot()
        cases = list(root.iter("testcase"))
        if not cases or int(root.get("tests", len(cases))) != len(cases):
            raise ValueError(f"{len(cases)} tests")
    except (OSError, ValueError, ElementTree.ParseError) as error:
        failures.append(f"{path.name}: no whole report: {error}")
        return collections.Counter(failed=1)
    counts = collections.Counter()
    for case in cases:
        of_case = counts_of_case(case)
        if of_case["failed"]:
            failures.append(f"{path.stem}: {case.get('name')}")
        counts += of_case
    return counts


def counts_of_checks(path, failures):
    counts = collections.Counter()
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines or ["failed checks.txt, which has no line"]:
        result, _, name = line.partition(" ")
        if result not in RESULTS or not name:
            result, name = "failed", f"checks.txt: {line!r}"
        counts[result] += 1
        if result == "failed":
            failures.append(f"check: {name}")
    return counts


def text_of(counts):
    return ", ".join(f"{counts[result]} {result}" for result in RESULTS)


def main(folder, *presets):
    folder, failures, total = pathlib.Path(folder), [], collections.Counter()
    for preset in presets:
        counts = counts_of_report(folder / f"ctest-{preset}.xml", failures)
        print(f"ctest-{preset}: {text_of(counts)}")
        total += counts
    total += counts_of_checks(folder / "checks.txt", failures)
    for name in failures:
        print(f"failed: {name}")
    print(text_of(total))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
