# SPDX-License-Identifier: Apache-2.0
"""Adds up a folder of reports and prints one last line: N passed, N failed, N skipped.

ctest-*.xml are JUnit files of ctest. Where a program's own output counts its tests
(GoogleTest, CMocka, Python's unittest, pytest), those counts are taken, else it is one test.
checks.txt has a line "RESULT NAME" for each check."""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# GoogleTest and CMocka: "[  PASSED  ] 12 tests."; only the first line of a kind counts, names follow.
COUNTED = re.compile(r"^\[  ?(PASSED|FAILED|SKIPPED)  ?\] (\d+) test", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
# pytest: "1 failed, 461 passed, 3 skipped in 27.83s"
PYTEST = re.compile(r"^=* ?((?:\d+ \w+, )*\d+ \w+) in [\d.]+s\b", re.M)
PYTEST_KINDS = {"passed": "passed", "failed": "failed", "error": "failed", "errors": "failed", "skipped": "skipped",
                "xfailed": "skipped", "xpassed": "failed"}
UNITTEST_NOT_PASSED = re.compile(r"\b(failures|errors|skipped|unexpected successes)=(\d+)")


def counts_of_output(text):
    counts = collections.Counter()
    for kind, number in COUNTED.findall(text):
        counts[kind.lower()] += int(number)
    for line in PYTEST.findall(text):
        for number, kind in (part.split() for part in line.split(", ")):
            if kind in PYTEST_KINDS:
                counts[PYTEST_KINDS[kind]] += int(number)
    for ran in UNITTEST_RAN.finditer(text):
        tail = text[ran.end():ran.end() + 200].split("Ran ")[0]
        not_passed = collections.Counter()
        for kind, number in UNITTEST_NOT_PASSED.findall(tail):
            not_passed["skipped" if kind == "skipped" else "failed"] += int(number)
        counts += not_passed
        counts["passed"] += int(ran.group(1)) - sum(not_passed.values())
    return counts


def counts_of_case(case):
    """One ctest test: its inner counts, which may not hide that the program failed as a whole."""
    text = case.findtext("system-out") or ""
    inner = counts_of_output(text)
    status = case.get("status")
    if status == "run":
        return inner or collections.Counter(passed=1)
    if status == "notrun":  # skipped by itself, or a program that is not there
        reason = case.find("skipped")
        skipped = reason is not None and reason.get("message", "").startswith("SKIP_")
        return collections.Counter(["skipped" if skipped else "failed"])
    if status == "disabled":
        return collections.Counter(skipped=1)
    inner["failed"] = max(inner["failed"], 1)
    return inner


def counts_of_report(path, failures):
    counts = collections.Counter()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        of_case = counts_of_case(case)
        if of_case["failed"]:
            failures.append(f"{path.stem}: {case.get('name')}")
        counts += of_case
    return counts


def main(folder):
    folder, failures = pathlib.Path(folder), []
    total = collections.Counter()
    for path in sorted(folder.glob("ctest-*.xml")):
        counts = counts_of_report(path, failures)
        print(f"{path.stem}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
        total += counts
    for line in (folder / "checks.txt").read_text().splitlines():
        result, name = line.split()[:2]
        total[result] += 1
        if result == "failed":
            failures.append(f"check: {name}")
    print("\n".join(f"failed: {name}" for name in failures), end="\n" if failures else "")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
