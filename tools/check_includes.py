# SPDX-License-Identifier: Apache-2.0
"""Checks the layering of docs/architecture.md: every source folder includes only what it may, no files include each
other in a circle, references include no fast kernels, and no file but its own names an accelerator API."""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> the folders below src/ whose headers it may include, besides its own and include/max. From the bottom up: a
# folder may include only folders that stand before it.
ALLOWED = {
    "base": set(),
    "device": {"base"},
    "kernel": {"base", "device"},
    "graph": {"base"},
    "ops": {"base", "device", "kernel", "graph"},
    "onnx": {"base", "graph"},
    "compiler": {"base", "graph", "ops"},
    "executor": {"base", "device", "kernel", "graph", "ops", "compiler"},
    "extension": {"base", "device", "kernel", "graph", "ops", "executor"},
    "loader": {"base", "device", "kernel", "graph", "ops", "onnx", "compiler", "executor", "extension"},
    "capi": {"base", "device", "kernel", "graph", "ops", "onnx", "compiler", "executor", "extension", "loader"},
    "cli": set(),
}
# What a folder may include beyond: the command is written on the C API, but prints and writes files as the library does,
# and lists the devices of all APIs.
ALLOWED_FILES = {"cli": {"base/error.h", "base/file.h", "base/new_file.h", "base/printable.h", "device/api_names.h"}}
# A folder's interface knows none of the parts that implement it: they are included by these files alone.
PARTS = {
    "device/cpu": {"device/device_registry.cpp"},
    "device/gpu/gpu_device": {"device/device_registry.cpp"},
    "device/gpu/virtual_device": {"device/device_registry.cpp"},
}
# Below a folder, headers of the folder that must not be included: folder -> (beginning of a header, why).
APART = {"ops/ref/": ("ops/cpu/", "a mistake in what both share is in the reference, too, and no test sees it")}
# A NAME.h and its NAME.cpp are one; circles of these are allowed within a folder, of so many at most.
CIRCLES = {
    "base": (2, "a call in progress has an account of memory, which can end the call"),
    "executor": (6, "plans, their makers and their runs hold one another: a loop's body is a plan"),
    "extension": (3, "an extension registers kernels, whose calls ask the extension"),
    "graph": (12, "attributes hold graphs, and nodes' schemas read graphs"),
    "onnx": (8, "functions and subgraphs are imported in the middle of an import"),
    "ops/cpu": (2, "products of doubles take over from those of floats"),
}
# Files below src/ that may name an accelerator API; what else needs a name asks device/gpu/api.h.
API_FILES = {
    "device/api_names.h",
    "device/dlpack_abi.h",
    "device/gpu/apis.cpp",
    "device/gpu/cuda.cpp",
    "device/gpu/hip.cpp",
    "device/gpu/nvml.cpp",
    "device/gpu/nvml.h",
    "device/gpu/rocm_smi.cpp",
    "device/gpu/rocm_smi.h",
    "kernel/amd_parameters.cpp",
    "kernel/amd_parameters.h",
    "kernel/builtin_headers.cpp",
    "kernel/comgr.cpp",
    "kernel/comgr.h",
    "kernel/cuda_kernels.cpp",
    "kernel/gpu_compilers.h",
    "kernel/gpu_kernel_apis.cpp",
    "kernel/hip_kernels.cpp",
    "kernel/hiprtc.cpp",
    "kernel/nvrtc.cpp",
    "kernel/nvrtc_library.cpp",
    "kernel/nvrtc_library.h",
    "kernel/ptx_parameters.cpp",
    "kernel/ptx_parameters.h",
}
# CUDA's dialect is what kernels are written in, and .hip a name of such a file, whatever runs them.
API_NAME = re.compile(r"(?i:cuda(?!'s dialect)|nvidia|nvrtc|rocm)|(?<!\.)\bhip(?![a-z])|Hip(?![a-z])|\bhip(?=[A-Z])|HIP|\bAMD\b|\bamd")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"|^\s*#\s*define\s+HWY_TARGET_INCLUDE\s+"([^"]+)"', re.M)
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


def sources():
    """Path below src/ -> text."""
    return {str(path.relative_to(ROOT / "src")): path.read_text() for path in sorted((ROOT / "src").rglob("*.[ch]*"))}


def includes(files):
    """Path -> the paths below src/ that it includes."""
    found = {}
    for path, text in files.items():
        names = [match.group(1) or match.group(2) for match in INCLUDE.finditer(text)]
        beside = path.rpartition("/")[0] + "/"
        found[path] = [name if "/" in name else beside + name for name in names]
    return found


def wrong_folders(graph):
    order = list(ALLOWED)
    for folder, allowed in ALLOWED.items():
        for above in sorted(allowed & set(order[order.index(folder) :])):
            yield f"the table of {pathlib.Path(__file__).name} lets {folder} include {above}, which stands above it"
    for path, names in graph.items():
        folder = path.partition("/")[0]
        if folder not in ALLOWED:
            yield f"src/{path}: folder {folder} is not in the table of {pathlib.Path(__file__).name}"
            continue
        for name in names:
            target = name.partition("/")[0]
            if name in ALLOWED_FILES.get(folder, ()) or target not in ALLOWED:
                continue
            if target != folder and target not in ALLOWED[folder]:
                yield f"src/{path}: {folder} must not include {target} ({name})"


def wrong_parts(graph):
    for path, names in graph.items():
        for name in names:
            for part, includers in PARTS.items():
                above = part.split("/")[0]
                if name.startswith(part) and path.rpartition("/")[0] == above and path not in includers:
                    yield f"src/{path}: only {', '.join(sorted(includers))} may include {name}"


def wrong_references(graph):
    for path, names in graph.items():
        for folder, (other, why) in APART.items():
            for name in names:
                if path.startswith(folder) and name.startswith(other):
                    yield f"src/{path}: {folder} must not include {name}: {why}"


def stem(path):
    return path.rpartition(".")[0]


def circles(graph):
    """Sets of stems that include one another (Tarjan's strongly connected components)."""
    edges = {stem(path): set() for path in graph}
    for path, names in graph.items():
        edges[stem(path)] |= {stem(name) for name in names if name in graph and stem(name) != stem(path)}
    number, low, path, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        path.append(node)
        for other in sorted(edges[node]):
            if other not in number:
                visit(other)
            if other in path:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            start = path.index(node)
            if len(path) - start > 1:
                found.append(sorted(path[start:]))
            del path[start:]

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found


def wrong_circles(graph):
    for circle in circles(graph):
        homes = [home for home in CIRCLES if all(name.startswith(home + "/") for name in circle)]
        allowed = max((CIRCLES[home][0] for home in homes), default=0)
        if len(circle) > allowed:
            yield f"{len(circle)} files include each other in a circle, {allowed} may: {', '.join(circle)}"


@functools.cache
def api_names(text):
    """The names of APIs in code, each with its line."""
    if not API_NAME.search(text):
        return []
    code = COMMENT.sub(lambda match: match.group(1) or "", INCLUDE.sub("", text))
    return [(found.group(), line.strip()) for line in code.splitlines() if (found := API_NAME.search(line))]


def wrong_names(files):
    for path, text in files.items():
        if path in API_FILES or "/headers/" in path:
            continue
        for name, line in api_names(text):
            yield f"src/{path}: names {name}, which rows of device/gpu/api.h are for: {line}"
    for path in sorted(API_FILES - set(files)):
        yield f"the table of {pathlib.Path(__file__).name} names src/{path}, which is not there"


def violations(files):
    graph = includes(files)
    return [*wrong_folders(graph), *wrong_parts(graph), *wrong_references(graph), *wrong_circles(graph), *wrong_names(files)]


def main():
    found = violations(sources())
    print("\n".join(found) if found else "includes follow the tables")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
