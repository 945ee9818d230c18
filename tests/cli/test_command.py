# SPDX-License-Identifier: Apache-2.0
"""The max command's contract: standard output, one line of error, exit status, JSON fields, .npy files."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAX_COMMAND", str(ROOT / "build/bin/max"))
# What the processor has, and what the build has kernels for.
FLAGS = set(pathlib.Path("/proc/cpuinfo").read_text().split())
HAS_BF16 = ({"avx512_bf16", "avx512_vnni"} <= FLAGS
            and os.environ.get("MAX_TEST_KERNEL_TARGET", "") in ("", "avx512"))
HAS_AMX = HAS_BF16 and {"amx_tile", "amx_bf16", "amx_int8"} <= FLAGS


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def save_model(path, nodes, inputs, outputs, opset=17):
    """A model of nodes; inputs and outputs are (name, type, shape)."""
    infos = [[helper.make_tensor_value_info(*value) for value in values] for values in (inputs, outputs)]
    graph = helper.make_graph([helper.make_node(*node[:3], **node[3]) if len(node) > 3 else helper.make_node(*node)
                               for node in nodes], "test", *infos)
    domains = {helper.make_opsetid("", opset).domain: opset}
    for node in graph.node:
        domains.setdefault(node.domain, 1)
    opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def fail_with(self, code, status, *arguments, mentions=()):
        """Ends with `code` and exactly one line on standard error, nothing on standard output."""
        done = run(*arguments)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"max: error: {status}: "), done.stderr)
        for word in mentions:
            self.assertIn(word, done.stderr)


class Usage(CommandTest):
    def test_help_and_version(self):
        self.assertIn("devices", self.succeed("--help"))
        self.assertIn("--threads", self.succeed("bench", "--help"))
        self.assertTrue(self.succeed("--version").startswith("max "))

    def test_wrong_usage_names_the_argument(self):
        self.fail_with(2, "INVALID_ARGUMENT", mentions=["COMMAND"])
        self.fail_with(2, "INVALID_ARGUMENT", "frobnicate", mentions=["frobnicate"])
        self.fail_with(2, "INVALID_ARGUMENT", "run", mentions=["MODEL"])
        self.fail_with(2, "INVALID_ARGUMENT", "devices", "--jason", mentions=["--jason"])
        self.fail_with(2, "INVALID_ARGUMENT", "bench", "m.onnx", "--threads", "many", mentions=["--threads", "many"])
        self.fail_with(2, "INVALID_ARGUMENT", "bench", "m.onnx", "--threads", "-1", mentions=["--threads"])
        self.fail_with(2, "INVALID_ARGUMENT", "run", "m.onnx", "--precision", "low", mentions=["--precision", "low"])
        self.fail_with(2, "INVALID_ARGUMENT", "run", "m.onnx", "--device", "cpu:x", mentions=["--device", "cpu:x"])
        self.fail_with(2, "INVALID_ARGUMENT", "compile", "m.onnx", "--output", "m.maxc", "--target", "sm_90",
                       mentions=["--target", "sm_90"])


class Devices(CommandTest):
    def test_json(self):
        devices = json.loads(self.succeed("devices", "--json"))
        self.assertEqual(devices[0]["api"], "cpu")
        self.assertEqual(list(devices[0]), ["api", "label", "id", "name", "architecture", "free_memory", "total_memory",
                                            "driver_version"])
        self.assertGreater(devices[0]["free_memory"], 0)
        self.assertGreaterEqual(devices[0]["total_memory"], devices[0]["free_memory"])

    def test_table(self):
        heading, first = self.succeed("devices").splitlines()[:2]
        self.assertEqual(heading.split()[:4], ["API", "LABEL", "ID", "NAME"])
        self.assertEqual(first.split()[0], "cpu")


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Info(CommandTest):
    def test_json(self):
        path = save_model(self.folder / "a.onnx",
                          [("Relu", ["x"], ["t"]), ("Relu", ["t"], ["u"]), ("Neg", ["u"], ["y"])],
                          [("x", TensorProto.FLOAT, ["batch", 4])], [("y", TensorProto.FLOAT, ["batch", 4])])
        info = json.loads(self.succeed("info", path, "--json"))
        self.assertEqual(list(info), ["model", "ir_version", "opsets", "inputs", "outputs", "operators", "parameters",
                                      "unsupported", "precision"])
        self.assertEqual(info["ir_version"], 8)
        self.assertEqual(info["operators"], {"Neg": 1, "Relu": 2})
        self.assertEqual(info["inputs"], [{"name": "x", "kind": "tensor", "dtype": "float32", "shape": ["batch", 4]}])
        self.assertEqual(info["outputs"][0]["name"], "y")
        self.assertEqual((info["parameters"], info["unsupported"]), (0, []))
        self.assertIn("Relu", self.succeed("info", path))

    def test_what_precisions_mean_on_this_machine(self):
        path = save_model(self.folder / "a.onnx", [("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, [1])],
                          [("y", TensorProto.FLOAT, [1])])
        medium = "bfloat16" if HAS_BF16 else "float32"
        for target, expected in (("avx512_bf16", medium), ("avx512_vnni", "float32")):
            done = subprocess.run([COMMAND, "info", path, "--json"], env={**os.environ, "MAX_CPU_TARGET": target},
                                  check=True, capture_output=True)
            self.assertEqual(json.loads(done.stdout)["precision"],
                             {"highest": "float32", "high": "float32", "medium": expected})
        highs = ("float32", "bfloat16 in parts") if HAS_AMX else ("float32",)  # where the system allows tiles
        self.assertIn(self.succeed("info", path).split("highest float32, high ")[1].split("\n")[0],
                      [f"{high}, medium {medium}" for high in highs])

    def test_unsupported_operators_are_listed_at_once(self):
        path = save_model(self.folder / "a.onnx", [("Frob", ["x"], ["t"], {"name": "first"}), ("Relu", ["t"], ["u"]),
                                                   ("Knob", ["u"], ["y"], {"domain": "com.example", "name": "second"})],
                          [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [1])])
        info = json.loads(self.succeed("info", path, "--json"))
        self.assertEqual(info["inputs"], [{"name": "x", "kind": "tensor", "dtype": "float32", "shape": [1]}])
        self.assertEqual([output["name"] for output in info["outputs"]], ["y"])
        text = json.dumps(info["unsupported"])
        for word in ("Frob", "first", "Knob", "second", "com.example"):
            self.assertIn(word, text)
        self.fail_with(1, "UNIMPLEMENTED", "run", path, mentions=["Frob", "first", "Knob", "second", "com.example"])

    def test_bad_files(self):
        self.fail_with(1, "NOT_FOUND", "info", self.folder / "none.onnx", mentions=["none.onnx"])
        self.fail_with(1, "NOT_FOUND", "info", self.folder, mentions=["model.onnx"])
        (self.folder / "empty.onnx").write_bytes(b"")
        (self.folder / "foreign.onnx").write_bytes(b"\xff\xd8\xff\xe0 not a model at all" * 10)
        for name in ("empty.onnx", "foreign.onnx"):
            done = run("info", self.folder / name)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(name, done.stderr)


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Progress(CommandTest):
    def on_a_terminal(self, *arguments):
        """What the command writes if standard error is a terminal."""
        leader, follower = pty.openpty()
        done = subprocess.Popen([COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        text = b""
        while True:
            try:
                piece = os.read(leader, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(leader)
        self.assertEqual(done.wait(), 0)
        return text.decode()

    def test_loads_show_how_far_they_are(self):
        path = save_model(self.folder / "a.onnx", [("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, [4])],
                          [("y", TensorProto.FLOAT, [4])])
        text = self.on_a_terminal("run", path)
        self.assertRegex(text, r"loading \[#+\.*\] +100 %")
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-40:]))  # erased


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Profile(CommandTest):
    def model(self):
        return save_model(self.folder / "a.onnx", [("MatMul", ["x", "x"], ["t"], {"name": "product"}),
                                                   ("Softmax", ["t"], ["y"], {"name": "soft"})],
                          [("x", TensorProto.FLOAT, [8, 8])], [("y", TensorProto.FLOAT, [8, 8])])

    def test_json(self):
        profile = json.loads(self.succeed("profile", self.model(), "--runs", 4, "--json"))
        self.assertEqual(list(profile), ["total_ms", "multiplications_per_ms", "integer_multiplications_per_ms", "bytes_per_ms",
                                         "of_limit", "operators"])
        self.assertIsNone(profile["integer_multiplications_per_ms"])
        self.assertGreater(profile["total_ms"], 0)
        rows = {row["name"]: row for row in profile["operators"]}
        self.assertEqual(sorted(rows), ["product", "soft"])
        for row in rows.values():
            self.assertEqual(list(row), ["name", "type", "implementation", "calls", "ms", "multiplications", "bytes", "of_limit"])
            self.assertEqual(row["calls"], 4)
        product = rows["product"]  # of 8 x 8 matrices
        self.assertEqual((product["multiplications"], product["bytes"]), (4 * 512, 4 * 768))
        most = max(product["multiplications"] / profile["multiplications_per_ms"], product["bytes"] / profile["bytes_per_ms"])
        self.assertAlmostEqual(product["of_limit"], most / product["ms"])
        least = sum(min(row["of_limit"] * row["ms"], row["ms"]) for row in rows.values())
        self.assertAlmostEqual(profile["of_limit"], least / profile["total_ms"])
        self.assertEqual(rows["soft"]["type"], "Softmax")
        self.assertLessEqual(sum(row["ms"] for row in rows.values()), profile["total_ms"] + 1e-6)

    def test_products_of_integers_have_their_own_limit(self):
        path = save_model(self.folder / "a.onnx", [("MatMulInteger", ["x", "x"], ["y"])],
                          [("x", TensorProto.UINT8, [64, 64])], [("y", TensorProto.INT32, [64, 64])])
        profile = json.loads(self.succeed("profile", path, "--json"))
        product = profile["operators"][0]
        most = max(product["multiplications"] / profile["integer_multiplications_per_ms"], product["bytes"] / profile["bytes_per_ms"])
        self.assertAlmostEqual(product["of_limit"], most / product["ms"])
        self.assertIn("Of 8-bit integers: ", self.succeed("profile", path))

    def test_nodes_without_names_are_told_apart(self):
        nodes = [("Softmax", ["x"], ["a"]), ("Softmax", ["a"], ["b"]), ("Softmax", ["b"], ["y"], {"name": "last"})]
        path = save_model(self.folder / "a.onnx", nodes, [("x", TensorProto.FLOAT, [8, 8])], [("y", TensorProto.FLOAT, [8, 8])])
        rows = json.loads(self.succeed("profile", path, "--json"))["operators"]
        self.assertEqual(sorted(row["name"] for row in rows), ["Softmax 0 -> a", "Softmax 1 -> b", "last"])
        twins = [(op, *rest, {"name": "twin"}) for op, *rest in [node[:3] for node in nodes]]
        path = save_model(self.folder / "b.onnx", twins, [("x", TensorProto.FLOAT, [8, 8])], [("y", TensorProto.FLOAT, [8, 8])])
        rows = json.loads(self.succeed("profile", path, "--json"))["operators"]
        self.assertEqual([(row["name"], row["calls"]) for row in rows], 3 * [("twin", 10)])

    def test_rates(self):
        """A product of 8 x 8 matrices is 512 multiplications and additions on 768 bytes."""
        text = self.succeed("profile", self.model(), "--output", self.folder / "trace.json", "--runs", 2)
        self.assertRegex(text, r"Limits, as measured now: \d+ billion multiplications \(product of matrices\), \d+ GB \(read\) per second")
        line = next(line for line in text.splitlines() if line.startswith("product"))
        self.assertRegex(line, r"\d+\.\d+ +\d+\.\d+ +\d+ %$")
        arguments = next(event["args"] for event in json.loads((self.folder / "trace.json").read_text())["traceEvents"]
                         if event["name"] == "product")
        self.assertEqual((arguments["position"], arguments["multiplications"], arguments["bytes"]), (0, 512, 768))

    def test_trace(self):
        text = self.succeed("profile", self.model(), "--output", self.folder / "trace.json", "--runs", 2)
        for word in ("OPERATOR", "Softmax", "product", "gemm_f32"):
            self.assertIn(word, text)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        steps = [event for event in events if event["ph"] == "X"]
        self.assertEqual([event["name"] for event in steps if event["cat"] == "model"], ["test", "test"])
        soft = next(event for event in steps if event["name"] == "soft")
        self.assertEqual(soft["args"]["outputs"], "float32[8, 8]")
        self.assertEqual({"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}, set(soft))

    def test_environment(self):
        path = self.folder / "trace.json"
        for name, value, steps in (("MAX_ENABLE_PROFILING", "on", 2), ("MODULAR_ENABLE_PROFILING", "detailed", 2),
                                   ("MAX_ENABLE_PROFILING", "off", None)):
            path.unlink(missing_ok=True)
            environment = {**os.environ, name: value, "MAX_PROFILE_FILE": str(path)}
            subprocess.run([COMMAND, "run", self.model()], env=environment, check=True, capture_output=True)
            self.assertEqual(path.exists(), steps is not None)
            if steps:
                events = json.loads(path.read_text())["traceEvents"]
                self.assertEqual(len([event for event in events if event.get("cat") in ("max.MatMul", "Softmax")]), steps)

    def test_bad_input(self):
        self.fail_with(1, "NOT_FOUND", "profile", self.folder / "none.onnx", mentions=["none.onnx"])
        self.fail_with(1, "NOT_FOUND", "profile", self.model(), "--output", self.folder / "no/where.json",
                       mentions=["no/where.json"])
        self.fail_with(2, "INVALID_ARGUMENT", "profile", self.model(), "--runs", 0, mentions=["--runs"])


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Graph(CommandTest):
    def model(self):
        branch = [helper.make_graph([helper.make_node(op, ["x"], ["r"], name=op.lower())], name, [],
                                    [helper.make_tensor_value_info("r", TensorProto.FLOAT, [2])])
                  for op, name in (("Neg", "then"), ("Abs", "else"))]
        weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [0, 0])
        nodes = [helper.make_node("If", ["c"], ["t"], name="choice", then_branch=branch[0], else_branch=branch[1]),
                 helper.make_node("Add", ["t", "w"], ["y"], name='a "quoted" name')]
        graph = helper.make_graph(nodes, "drawn", [helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                                                   helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])], [weight])
        path = self.folder / "drawn.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    def test_dot(self):
        self.assertEqual(self.succeed("graph", self.model(), "--output", self.folder / "g.dot"), "")
        text = (self.folder / "g.dot").read_text()
        for word in ("If\\nchoice", "then_branch of choice", "Neg\\nneg", "w float32[2]", "x\\nfloat32[2]",
                     'a \\"quoted\\" name', "subgraph cluster1"):
            self.assertIn(word, text)
        self.succeed("graph", self.model(), "--output", self.folder / "o.dot", "--optimized")
        self.assertNotEqual((self.folder / "o.dot").read_text(), text)

    def test_nodes_out_of_order_have_all_their_edges(self):
        edges = []
        for backwards in (False, True):
            proto = onnx.load(self.model())
            nodes = list(proto.graph.node)[::-1 if backwards else 1]
            del proto.graph.node[:]
            proto.graph.node.extend(nodes)
            onnx.save(proto, self.folder / "order.onnx")
            self.succeed("graph", self.folder / "order.onnx", "--output", self.folder / "g.dot")
            edges.append((self.folder / "g.dot").read_text().count("->"))
        self.assertGreaterEqual(edges[0], 5)
        self.assertEqual(edges[0], edges[1])

    def test_cycles_are_drawn(self):
        path = save_model(self.folder / "a.onnx", [("Add", ["x", "b"], ["a"], {"name": "first"}), ("Neg", ["a"], ["b"], {})],
                          [("x", TensorProto.FLOAT, [1])], [("b", TensorProto.FLOAT, [1])])
        self.succeed("graph", path, "--output", self.folder / "g.dot")
        self.assertIn("first", (self.folder / "g.dot").read_text())
        self.succeed("info", path)

    def test_unsupported_operators_are_drawn(self):
        path = save_model(self.folder / "a.onnx", [("Frob", ["x"], ["y"], {"name": "first"})],
                          [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [1])])
        self.succeed("graph", path, "--output", self.folder / "g.dot")
        self.assertIn("Frob", (self.folder / "g.dot").read_text())
        self.fail_with(1, "UNIMPLEMENTED", "graph", path, "--output", self.folder / "o.dot", "--optimized",
                       mentions=["Frob"])

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_pictures(self):
        self.succeed("graph", self.model(), "--output", self.folder / "g.svg")
        self.assertIn(b"<svg", (self.folder / "g.svg").read_bytes())
        self.succeed("graph", self.model(), "--output", self.folder / "g.png", "--optimized")
        self.assertEqual((self.folder / "g.png").read_bytes()[:4], b"\x89PNG")
        self.fail_with(1, "NOT_FOUND", "graph", self.model(), "--output", self.folder / "no/g.svg", mentions=["g.svg"])

    def test_bad_input(self):
        self.fail_with(2, "INVALID_ARGUMENT", "graph", self.model(), "--output", "g.gif", mentions=["--output", "g.gif"])
        self.fail_with(2, "INVALID_ARGUMENT", "graph", self.model(), mentions=["--output"])
        self.fail_with(1, "NOT_FOUND", "graph", self.folder / "none.onnx", "--output", "g.dot", mentions=["none.onnx"])
        path = {**os.environ, "PATH": str(self.folder)}
        done = subprocess.run([COMMAND, "graph", self.model(), "--output", self.folder / "g.svg"], env=path,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("Graphviz", done.stderr)


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Run(CommandTest):
    def identity(self, element_type, shape, name="a.onnx"):
        return save_model(self.folder / name, [("Identity", ["x"], ["y"])], [("x", element_type, shape)],
                          [("y", element_type, shape)])

    def round_trip(self, array, element_type, shape=None):
        """The output file of an Identity on one input file."""
        np.save(self.folder / "x.npy", array)
        path = self.identity(element_type, shape or list(array.shape))
        out = json.loads(self.succeed("run", path, "--input", f"x={self.folder}/x.npy", "--output-dir", self.folder,
                                      "--json"))
        self.assertEqual(list(out["outputs"][0]), ["name", "dtype", "shape", "file"])
        self.assertEqual(out["outputs"][0]["shape"], list(array.shape))
        return np.load(out["outputs"][0]["file"])

    def test_strings_travel_through_files(self):
        array = np.array([["plain", "", "two words"], ["\u00fc\u20ac\U0001f600", 'a "quote"', "x" * 40]])
        result = self.round_trip(array, TensorProto.STRING)
        self.assertEqual(result.dtype, array.dtype)
        self.assertEqual(result.tolist(), array.tolist())
        self.assertIn("6 strings", self.succeed("run", self.folder / "a.onnx", "--input", f"x={self.folder}/x.npy"))
        self.fail_with(1, "UNIMPLEMENTED", "run", self.folder / "a.onnx", mentions=["string", "--input"])

    def test_sequences_are_shown(self):
        sequence = helper.make_tensor_sequence_value_info("s", TensorProto.INT64, None)
        graph = helper.make_graph([helper.make_node("SequenceConstruct", ["x", "x"], ["s"])], "test",
                                  [helper.make_tensor_value_info("x", TensorProto.INT64, [2])], [sequence])
        path = self.folder / "s.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        np.save(self.folder / "x.npy", np.array([3, 4]))
        out = json.loads(self.succeed("run", path, "--input", f"x={self.folder}/x.npy", "--json"))["outputs"][0]
        self.assertEqual((out["name"], out["kind"], out["dtype"], out["file"]), ("s", "sequence", None, None))
        self.assertEqual(out["value"], 2 * [{"dtype": "int64", "shape": [2], "values": [3, 4]}])
        self.assertIn("sequence", self.succeed("run", path))
        self.assertEqual(json.loads(self.succeed("info", path, "--json"))["outputs"][0]["kind"], "sequence")
        self.assertEqual(json.loads(self.succeed("bench", path, "--seconds", 0, "--json"))["iterations"], 1)
        self.assertEqual(json.loads(self.succeed("profile", path, "--json"))["operators"][0]["name"], "SequenceConstruct 0 -> s")

    def test_dtypes_travel_through_files(self):
        for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
                     "float32", "float64"):
            array = np.arange(6).reshape(2, 3).astype(name)
            result = self.round_trip(array, helper.np_dtype_to_tensor_dtype(array.dtype))
            self.assertEqual(result.dtype, array.dtype)
            np.testing.assert_array_equal(result, array)

    def test_bfloat16_is_raw_bytes(self):
        bits = np.array([0x3F80, 0x4000, 0xC040], np.uint16)
        result = self.round_trip(bits.view("V2"), TensorProto.BFLOAT16)
        self.assertEqual(result.dtype, np.dtype("V2"))
        np.testing.assert_array_equal(result.view(np.uint16), bits)

    def test_shapes(self):
        for shape in ((), (0,), (2, 0, 3), (1,), (2, 3, 4, 5)):
            array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
            np.testing.assert_array_equal(self.round_trip(array, TensorProto.FLOAT), array)

    def test_fortran_order_is_converted(self):
        array = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
        np.testing.assert_array_equal(self.round_trip(array, TensorProto.FLOAT), array)

    def test_random_inputs_are_seeded(self):
        path = self.identity(TensorProto.FLOAT, ["n", 3])
        first, second = (self.succeed("run", path, "--shape", "x=4,3", "--output-dir", self.folder) for _ in range(2))
        self.assertEqual(first, second)
        values = np.load(self.folder / "y.npy")
        self.assertEqual(values.shape, (4, 3))
        self.assertGreater(values.std(), 0)
        self.succeed("run", path, "--output-dir", self.folder)
        self.assertEqual(np.load(self.folder / "y.npy").shape, (1, 3))

    def test_random_integers(self):
        path = self.identity(TensorProto.INT64, [1000])
        self.succeed("run", path, "--output-dir", self.folder)
        self.assertEqual(set(np.load(self.folder / "y.npy")), {0, 1})
        self.succeed("run", path, "--max", "x=9", "--output-dir", self.folder)
        self.assertEqual(set(np.load(self.folder / "y.npy")), set(range(10)))

    def test_output_names_become_file_names(self):
        path = save_model(self.folder / "a.onnx", [("Identity", ["x"], ["a/b:c é"])], [("x", TensorProto.FLOAT, [1])],
                          [("a/b:c é", TensorProto.FLOAT, [1])])
        out = json.loads(self.succeed("run", path, "--output-dir", self.folder / "new", "--json"))
        self.assertEqual(out["outputs"][0]["name"], "a/b:c é")
        self.assertEqual(pathlib.Path(out["outputs"][0]["file"]).name.rstrip("_npy."), "a_b_c")
        self.assertTrue(pathlib.Path(out["outputs"][0]["file"]).exists())

    def test_text(self):
        text = self.succeed("run", self.identity(TensorProto.FLOAT, [3]))
        for word in ("y", "float32", "[3]"):
            self.assertIn(word, text)

    def test_bad_inputs(self):
        path = self.identity(TensorProto.FLOAT, [2])
        np.save(self.folder / "x.npy", np.zeros(3, np.float32))
        np.save(self.folder / "i.npy", np.zeros(2, np.int32))
        np.save(self.folder / "big.npy", np.zeros(2, ">f4"))
        (self.folder / "bad.npy").write_bytes(b"no array")
        run_x = ("run", path, "--input")
        self.fail_with(1, "INVALID_ARGUMENT", *run_x, f"x={self.folder}/x.npy", mentions=["float32[3]", "float32[2]"])
        self.fail_with(1, "INVALID_ARGUMENT", *run_x, f"x={self.folder}/i.npy", mentions=["int32", "float32"])
        self.fail_with(1, "INVALID_ARGUMENT", *run_x, f"x={self.folder}/big.npy", mentions=["big.npy", ">f4"])
        self.fail_with(1, "DATA_LOSS", *run_x, f"x={self.folder}/bad.npy", mentions=["bad.npy"])
        self.fail_with(1, "NOT_FOUND", *run_x, f"x={self.folder}/none.npy", mentions=["none.npy"])
        self.fail_with(2, "INVALID_ARGUMENT", *run_x, f"z={self.folder}/x.npy", mentions=["--input", "z", "x"])
        self.fail_with(2, "INVALID_ARGUMENT", *run_x, "x", mentions=["--input"])
        self.fail_with(2, "INVALID_ARGUMENT", "run", path, "--shape", "x=1,two", mentions=["--shape", "two"])
        self.fail_with(1, "UNAVAILABLE", "run", path, "--device", "gpu:0")

    def test_order_that_is_no_boolean(self):
        path = self.identity(TensorProto.FLOAT, [2, 3])
        run_x = ("run", path, "--output-dir", self.folder, "--input", f"x={self.folder}/x.npy")
        np.save(self.folder / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
        whole = (self.folder / "x.npy").read_bytes()
        for word in (b"Trueish", b"0", b"1", b"'True'", b"None", b"true", b"\xff", b""):
            header = whole[:128].replace(b"False", word).rstrip().ljust(127) + b"\n"
            (self.folder / "x.npy").write_bytes(header + whole[128:])
            self.fail_with(1, "DATA_LOSS", *run_x, mentions=["x.npy", "fortran_order", "True nor False"])
        (self.folder / "x.npy").write_bytes(whole.replace(b"False", b"True "))
        self.succeed(*run_x)
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), np.load(self.folder / "x.npy"))

    def test_seconds_that_are_no_time(self):
        path = self.identity(TensorProto.FLOAT, [2])
        for seconds in ("NaN", "nan", "-nan", "inf", "-1", "1e9", "two", ""):
            self.fail_with(2, "INVALID_ARGUMENT", "bench", path, f"--seconds={seconds}", mentions=["--seconds"])

    def test_files_cut_short(self):
        path = self.identity(TensorProto.FLOAT, [100])
        np.save(self.folder / "x.npy", np.zeros(100, np.float32))
        whole = (self.folder / "x.npy").read_bytes()
        for size in (0, 5, 9, 40, 127, 128, 300):
            (self.folder / "x.npy").write_bytes(whole[:size])
            self.fail_with(1, "DATA_LOSS", "run", path, "--input", f"x={self.folder}/x.npy", mentions=["x.npy"])


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Weights(CommandTest):
    def test_safetensors_replace_a_model_s_own(self):
        weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
        graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "test",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])], [weight])
        path = self.folder / "a.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        np.save(self.folder / "x.npy", np.zeros(2, np.float32))
        data = np.array([5, 7], np.float32).tobytes()
        header = json.dumps({"__metadata__": {"a": "b"},
                             "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, len(data)]}}).encode()
        (self.folder / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
        self.succeed("run", path, "--input", f"x={self.folder}/x.npy", "--weights", self.folder / "w.safetensors",
                     "--output-dir", self.folder)
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), [5, 7])
        compiled = self.folder / "a.maxc"
        done = json.loads(self.succeed("compile", path, "--weights", self.folder / "w.safetensors", "-o", compiled,
                                       "--json"))
        self.assertEqual(done, {"model": str(path), "output": str(compiled), "bytes": compiled.stat().st_size})
        self.succeed("run", compiled, "--input", f"x={self.folder}/x.npy", "--output-dir", self.folder)
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), [5, 7])
        self.assertIn("Add", self.succeed("info", compiled))
        (self.folder / "folder").mkdir()
        compiled.rename(self.folder / "folder/model.maxc")
        self.assertIn("Add", self.succeed("info", self.folder / "folder"))
        (self.folder / "folder/model.maxc").rename(compiled)
        self.fail_with(2, "INVALID_ARGUMENT", "compile", path, mentions=["--output"])
        self.fail_with(1, "NOT_FOUND", "compile", self.folder / "none.onnx", "-o", compiled, mentions=["none.onnx"])
        self.fail_with(1, "NOT_FOUND", "compile", path, "-o", self.folder / "no/where", mentions=["no/where"])
        (self.folder / "w.safetensors").write_bytes(b"\xff" * 20)
        self.fail_with(1, "DATA_LOSS", "run", path, "--weights", self.folder / "w.safetensors",
                       mentions=["w.safetensors"])


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class Extensions(CommandTest):
    EXAMPLE = ROOT / "examples/custom_operator"
    LIBRARY = pathlib.Path(os.environ.get("MAX_LIBRARY", ROOT / "build/lib/libmax.so")).with_name("libcustom_operator.so")

    def test_models_use_operators_of_libraries(self):
        model = self.EXAMPLE / "model.onnx"
        np.save(self.folder / "x.npy", np.array([-1, 1, 3], np.float32))
        self.fail_with(1, "UNIMPLEMENTED", "run", model, mentions=["Softsign, domain example", "Positive"])
        self.succeed("run", model, "--extension", self.LIBRARY, "--input", f"x={self.folder}/x.npy", "--output-dir",
                     self.folder)
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), [4 / 3, 12 / 7], rtol=1e-6)
        self.assertEqual(json.loads(self.succeed("info", model, "--extension", self.LIBRARY, "--json"))["unsupported"],
                         [])
        self.fail_with(1, "NOT_FOUND", "run", model, "--extension", "none.so", mentions=["none.so"])
        self.fail_with(1, "INVALID_ARGUMENT", "info", model, "--extension", model, mentions=["cannot be loaded"])

    def test_models_use_kernels(self):
        cache = unittest.mock.patch.dict(os.environ, MAX_CACHE_DIR=str(self.folder / "cache"))
        self.enterContext(cache)
        path = save_model(self.folder / "a.onnx",
                          [("AddScaled", ["a", "b"], ["c"], {"domain": "example", "factor": 10.0}),
                           ("Relu", ["c"], ["d"]), ("RowSum", ["d"], ["y"], {"domain": "example"})],
                          [("a", TensorProto.FLOAT, ["n", "m"]), ("b", TensorProto.FLOAT, ["n", "m"])],
                          [("y", TensorProto.FLOAT, ["n"])])
        a, b = np.random.default_rng(0).standard_normal((2, 70, 300)).astype(np.float32)
        for name, values in {"a": a, "b": b}.items():
            np.save(self.folder / f"{name}.npy", values)
        self.succeed("run", path, "--extension", self.EXAMPLE / "kernels.cu", "--input", f"a={self.folder}/a.npy",
                     "--input", f"b={self.folder}/b.npy", "--output-dir", self.folder)
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), np.maximum(a + 10 * b, 0).sum(1), rtol=1e-5)


class Bench(CommandTest):
    MODEL = ROOT / "examples/digits/digits.onnx"

    def test_medium_precision_needs_a_chip_that_has_it(self):
        best = "medium" if HAS_BF16 else "highest"
        for environment, expected in [({}, best), ({"MAX_CPU_TARGET": "avx512"}, "highest")]:
            done = subprocess.run([COMMAND, "bench", self.MODEL, "--precision", "medium", "--seconds", "0.01", "--json"],
                                  env={**os.environ, **environment}, check=True, capture_output=True)
            self.assertEqual(json.loads(done.stdout)["precision"], expected, environment)

    def test_json(self):
        result = json.loads(self.succeed("bench", self.MODEL, "--seconds", "0.1", "--threads", "1", "--json"))
        self.assertEqual(list(result), ["model", "device", "threads", "precision", "load_ms", "first_ms", "iterations",
                                        "min_ms", "p50_ms", "p90_ms", "p99_ms", "peak_rss_mb"])
        self.assertEqual((result["threads"], result["device"], result["precision"]), (1, "cpu", "highest"))
        self.assertGreater(result["iterations"], 1)
        self.assertLessEqual(result["min_ms"], result["p50_ms"])
        self.assertLessEqual(result["p50_ms"], result["p99_ms"])
        self.assertGreater(result["peak_rss_mb"], 1)

    def test_text(self):
        self.assertIn("p50", self.succeed("bench", self.MODEL, "--seconds", "0.1"))


class Demo(CommandTest):
    def test_accuracy(self):
        text = self.succeed("demo")
        accuracy = float(text.split("accuracy")[1].split("%")[0].split()[-1])
        self.assertGreater(accuracy, 98)
        for word in ("images per second", "Conv"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
