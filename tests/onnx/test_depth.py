# SPDX-License-Identifier: Apache-2.0
"""Whatever nests in a file: the deepest that is allowed is loaded, described, run, saved, loaded again and freed in a
thread with a stack of 128 KB, most of which Python leaves to the library; one level more is refused.

`test_depth.py FILTER` runs the kinds whose names contain FILTER."""

import ctypes
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
    import library
    from message_cases import BOOL, FLOAT, INT64, graph, helper, info, model, node, tensor
except ImportError:
    library = None

STACK = 128 << 10
SUBGRAPHS, FUNCTIONS, PAIRS = 31, 64, 21  # levels; of functions with a subgraph each, which counts for two
X, C = ("x", [2]), ("c", [])


def main_of(nodes, functions=()):
    """x: float32[2], c: bool."""
    proto = helper.make_graph(nodes, "main", [info("x", FLOAT, [2]), info("c", BOOL, [])],
                              [helper.make_empty_tensor_value_info("y")], [tensor("n", 1, np.int64)])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=10, functions=functions).SerializeToString()


def leaf():
    return graph([node("Relu", ["x"], ["r"])], outputs=("r",))


def branches(depth):
    inner = leaf()
    for _ in range(depth - 1):
        inner = graph([node("If", ["c"], ["r"], then_branch=inner, else_branch=leaf())], outputs=("r",))
    return main_of([node("If", ["c"], ["y"], then_branch=leaf(), else_branch=inner)])


def loops(depth):
    inputs = [info("i", INT64, []), info("on", BOOL, []), info("s", FLOAT, [2])]
    body = graph([node("Identity", ["on"], ["again"]), node("Relu", ["s"], ["t"])], inputs, ("again", "t"))
    for _ in range(depth - 1):
        body = graph([node("Identity", ["on"], ["again"]), node("Loop", ["n", "", "s"], ["t"], body=body)], inputs,
                     ("again", "t"))
    return main_of([node("Loop", ["n", "", "x"], ["y"], body=body)])


def scans(depth):
    """Of the one slice of what the scan around it has as a slice."""
    inputs = [info("v", FLOAT, None)]
    body = graph([node("Relu", ["v"], ["t"])], inputs, ("t",))
    for _ in range(depth - 1):
        body = graph([node("Constant", [], ["zero"], value_ints=[0]), node("Unsqueeze", ["v", "zero"], ["w"]),
                      node("Scan", ["w"], ["u"], body=body, num_scan_inputs=1), node("Squeeze", ["u", "zero"], ["t"])],
                     inputs, ("t",))
    return main_of([node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)])


def maps(depth):
    inputs = [info("v", FLOAT, None)]
    body = graph([node("Relu", ["v"], ["t"])], inputs, ("t",))
    for _ in range(depth - 1):
        body = graph([node("Constant", [], ["zero"], value_int=0), node("SequenceConstruct", ["v"], ["w"]),
                      node("SequenceMap", ["w"], ["u"], body=body), node("SequenceAt", ["u", "zero"], ["t"])],
                     inputs, ("t",))
    return main_of([node("SequenceConstruct", ["x"], ["q"]), node("SequenceMap", ["q"], ["u"], body=body),
                    node("Constant", [], ["zero"], value_int=0), node("SequenceAt", ["u", "zero"], ["y"])])


def mixed(depth):
    """Loops in branches in loops."""
    inputs = [info("i", INT64, []), info("on", BOOL, []), info("s", FLOAT, [2])]
    inner = leaf()
    for level in range(depth - 1):
        if level % 2:
            inner = graph([node("Loop", ["n", "", "x"], ["r"], body=inner)], outputs=("r",))
        else:
            inner = graph([node("Identity", ["on"], ["again"]),
                           node("If", ["c"], ["r"], then_branch=leaf(), else_branch=inner)], inputs,
                          ("again", "r"))
    if depth % 2:
        return main_of([node("If", ["c"], ["y"], then_branch=leaf(), else_branch=inner)])
    return main_of([node("Loop", ["n", "", "x"], ["y"], body=inner)])


def function(name, nodes, inputs=("x", "c"), attributes=(), defaults=()):
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    return helper.make_function("f", name, list(inputs), ["r"], nodes, opsets, list(attributes), list(defaults))


def call(name, output="r", **attributes):
    return node(name, ["x", "c"], [output], domain="f", **attributes)


def functions(depth):
    made = [function(f"F{k}", [call(f"F{k + 1}")]) for k in range(depth - 1)]
    return main_of([call("F0", "y")], [*made, function(f"F{depth - 1}", [node("Relu", ["x"], ["r"])])])


def referenced(depth):
    """A graph in an attribute of a call, in which a call has a graph in its attribute."""
    inner = leaf()
    for _ in range(depth - 1):
        inner = graph([call("F", g=inner)], outputs=("r",))
    branch = node("If", ["c"], ["r"], then_branch=leaf())
    reference = branch.attribute.add(name="else_branch", type=5)
    reference.ref_attr_name = "g"
    return main_of([call("F", "y", g=inner)], [function("F", [branch], attributes=["g"])])


def defaults(depth):
    """Functions whose default for a branch calls the next function."""
    made = []
    for k in range(depth):
        inner = graph([call(f"F{k + 1}")], outputs=("r",)) if k + 1 < depth else leaf()
        branch = node("If", ["c"], ["r"], then_branch=leaf())
        branch.attribute.add(name="else_branch", type=5).ref_attr_name = "g"
        made.append(function(f"F{k}", [branch], defaults=[helper.make_attribute("g", inner)]))
    return main_of([call("F0", "y")], made)


# What nests, and how deep it may.
KINDS = {
    "branches": (branches, SUBGRAPHS),
    "loops": (loops, SUBGRAPHS),
    "scans": (scans, SUBGRAPHS),
    "maps": (maps, SUBGRAPHS),
    "loops and branches": (mixed, SUBGRAPHS),
    "functions": (functions, FUNCTIONS),
    "graphs that functions refer to": (referenced, PAIRS),
    "graphs that are defaults": (defaults, PAIRS),
}


def describe(path, text):
    """What `max info` asks for."""
    about, drawing = library.Handle("maxModelInfoRelease"), ctypes.c_char_p()
    library.call("maxModelInfoLoad", os.fsencode(path), ctypes.byref(about))
    library.call("maxModelInfoGetGraph", about, ctypes.byref(drawing))
    text.append(len(drawing.value))


def use(path, inputs):
    """Everything that walks through a model; how often it ran."""
    drawing = ctypes.c_char_p()
    describe(path, [])
    loaded = library.Model(str(path), threads=1)
    library.call("maxModelGetGraph", loaded.model, ctypes.byref(drawing))
    memory = (ctypes.c_uint64 * 9)(72)
    library.call("maxModelGetMemory", loaded.model, memory)
    loaded.run(inputs)
    loaded.run(inputs)
    saved = path.with_suffix(".maxc")
    library.call("maxModelSave", loaded.model, os.fsencode(saved))
    del loaded
    again = library.Model(str(saved), threads=1)
    return again.run(inputs)[0].tolist()


def in_thread(work):
    """The result of work in a thread with the small stack."""
    result = []

    def body():
        try:
            result.append(("done", work()))
        except Exception as error:
            result.append((type(error).__name__, str(error)))

    before = threading.stack_size(STACK)
    thread = threading.Thread(target=body)
    thread.start()
    threading.stack_size(before)
    thread.join()
    return result[0]


def in_process(work):
    """The same in a separate process; a signal's number if it dies."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, pickle.dumps(in_thread(work)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(data) if data else ("died", f"of signal {status}")


def outcome(data, condition=False):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "deep.onnx"
        path.write_bytes(data)
        return in_process(lambda: use(path, [np.array([1, -1], np.float32), np.array(condition)]))


@unittest.skipUnless(library, "needs numpy and onnx")
class Depth(unittest.TestCase):
    def test_the_deepest_files_need_a_small_stack(self):
        for name, (make, most) in KINDS.items():
            with self.subTest(name):
                kind, text = outcome(make(most))
                self.assertEqual(kind, "done", text)
                self.assertEqual(text, [1, 0])

    def test_failures_in_the_deepest_place_need_no_more(self):
        for name, (make, most) in KINDS.items():
            for op in (b"Gelu", b"Tahn"):  # that exists, in another operator set; and that does not
                with self.subTest(name, op=op):
                    kind, text = outcome(make(most).replace(b"Relu", op))
                    self.assertIn(kind, ("Failure", "done"), text)

    def test_deeper_files_are_refused(self):
        for name, (make, most) in KINDS.items():
            with self.subTest(name):
                kind, text = outcome(make(most + 1))
                self.assertEqual(kind, "Failure", text)
                self.assertRegex(text, "nested more than|levels of subgraphs")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for kind_name, (function_of, depth_of) in KINDS.items():
            if sys.argv[1] in kind_name:
                for each in (1, 2, 3, depth_of, depth_of + 1):
                    print(kind_name, each, outcome(function_of(each)), flush=True)
    else:
        unittest.main()
