# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers: functions, structures, constants. They are plain enough for regular expressions."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
HEADERS = sorted((INCLUDE / "max").glob("*.h"))


def text_of(header):
    """The header's code, without comments and with continued lines joined."""
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
    return text.replace("\\\n", " ")


def functions(macro="MAX_API"):
    """Declarations by name, each on one line. MAX_EXTENSION_API marks what extensions define instead of the library."""
    found = {}
    for header in HEADERS:
        for match in re.finditer(rf"^{macro}\s+(.*?)\s*;", text_of(header), flags=re.S | re.M):
            declaration = " ".join(match.group(1).split()).replace("MAX_NODISCARD ", "")
            name = re.search(r"(\w+)\s*\(", declaration).group(1)
            assert name not in found, f"{name} is declared twice"
            found[name] = declaration
    return found


def structures():
    """Fields by structure name."""
    found = {}
    for header in HEADERS:
        for match in re.finditer(r"typedef struct (\w+) \{(.*?)\} \1;", text_of(header), flags=re.S):
            found[match.group(1)] = re.findall(r"(\w+)(?:\[\w+\])?;", match.group(2))
    return found


def init_macros():
    return {name for header in HEADERS for name in re.findall(r"^#define (\w+_INIT)\b", text_of(header), flags=re.M)}


def constants():
    """Names of constants: numbers with a type, and versions."""
    return sorted(
        name
        for header in HEADERS
        for name in re.findall(r"^#define (MAX_\w+) +\S", text_of(header), flags=re.M)
        if not name.endswith(("_INIT", "_H", "_API", "_NODISCARD", "_STRING"))
    )


def init_macro_of(structure):
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", structure).upper()
    return words + "_INIT"
