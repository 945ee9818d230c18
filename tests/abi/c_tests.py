# SPDX-License-Identifier: Apache-2.0
"""Reads the tests in C: what each of them calls, itself or through the functions of its file and its fixtures."""

import functools
import re

import headers

FOLDERS = ("tests/capi", "tests/conformance")
# A function at the left margin: on one line, or up to the brace that closes it there.
FUNCTION = re.compile(r"^[A-Za-z_][\w ]*?[ *]+(\w+)\([^;{}]*?\)\s*\{([^\n]*\}$|.*?^\})", re.M | re.S)
# What else has a name and a body: macros and variables outside of functions.
MACRO = re.compile(r"^#define (\w+)(.*)$", re.M)
VARIABLE = re.compile(r"^(?:static |const )[^;{}()]*?\b(\w+)(?:\[\w*\])* = (.*?);$", re.M | re.S)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def code_of(path):
    """Without comments and texts."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)
    return re.sub(r'(#include ")|"(?:\\.|[^"\\\n])*"', lambda match: match[1] or '""', text)


def files():
    return [path for folder in FOLDERS for path in sorted((headers.ROOT / folder).glob("*.[ch]"))]


@functools.lru_cache(maxsize=None)
def functions_of(path):
    """Name -> words of the body: functions, macros and variables of the file and of the fixtures that it includes."""
    code = code_of(path).replace("\\\n", " ")
    found = {}
    for name in re.findall(r'#include "([^"]*)"', code):
        if not name.startswith("max/") and (path.parent / name).exists():
            found.update(functions_of((path.parent / name).resolve()))
    for kind in (VARIABLE, MACRO, FUNCTION):
        found.update({name: set(WORD.findall(body)) for name, body in kind.findall(code)})
    return found


def tests_of(path):
    """Names of the file's tests: what CMocka calls."""
    return sorted(set(re.findall(r"^(?:static )?void (\w+)\(void\*\* state\) \{", code_of(path), flags=re.M)))


@functools.lru_cache(maxsize=None)
def words_of(path, test):
    """All words of a test and of the functions that it uses, directly or not."""
    functions = functions_of(path)
    seen, todo, words = set(), [test], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            words |= functions[name]
            todo += functions[name] & set(functions)
    return words
