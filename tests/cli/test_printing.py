# SPDX-License-Identifier: Apache-2.0
"""Contents of models never reach a terminal unescaped: all commands escape names, values and messages; JSON stays
JSON and means the same. What commands write is written whole or not at all, and nowhere else."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unicodedata
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAX_COMMAND", str(ROOT / "build/bin/max"))

# Colours and a title for a terminal, the one-byte form, backspaces, a right-to-left override, a forged line, a NUL, and
# what is not seen.
EVIL = "\x1b[31m\x1b]0;title\x07\x9b2J\b\b\u202egnp.\u2066\r\nmax: error: forged\x7f\u2028\ufeff\u200b\U000e0041"
INVALID = b"\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\x1b"
MARK = "Q" * len(INVALID)  # gives way to INVALID, which onnx would not write


def evil(name):
    return f"{name}{EVIL}{MARK}"


def hidden(text):
    """The characters that a terminal obeys or does not show."""
    return {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@unittest.skipUnless(onnx, "numpy and onnx are not installed")
class PrintingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, graph, **opsets):
        ids = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in opsets.get("domains", ())]
        model = helper.make_model(graph, opset_imports=ids, ir_version=8, producer_name=evil("producer"), doc_string=evil("doc"))
        helper.set_model_props(model, {evil("key"): evil("value")})
        path = self.folder / name
        path.write_bytes(model.SerializeToString().replace(MARK.encode(), INVALID))
        return path

    def model(self):
        node = helper.make_node("Relu", [evil("in")], [evil("out")], name=evil("node"), doc_string=evil("doc"))
        shape = [evil("rows"), 2]
        value = [helper.make_tensor_value_info(evil(name), TensorProto.FLOAT, shape, doc_string=evil("doc"))
                 for name in ("in", "out")]
        return self.save("a.onnx", helper.make_graph([node], evil("graph"), value[:1], value[1:], doc_string=evil("doc")))

    def strings(self):
        text = helper.make_tensor("t", TensorProto.STRING, [2], [evil("one").encode(), b'two "\\'])
        nodes = [helper.make_node("Constant", [], ["t"], value=text), helper.make_node("Identity", ["t"], [evil("words")]),
                 helper.make_node("SequenceConstruct", ["t", "t"], [evil("list")])]
        outputs = [helper.make_tensor_value_info(evil("words"), TensorProto.STRING, [2]),
                   helper.make_tensor_sequence_value_info(evil("list"), TensorProto.STRING, None)]
        return self.save("s.onnx", helper.make_graph(nodes, "strings", [], outputs))

    def unknown(self):
        node = helper.make_node(evil("Op"), ["x"], ["y"], name=evil("node"), domain=evil("domain"))
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
        return self.save("u.onnx", helper.make_graph([node], "unknown", values[:1], values[1:]), domains=[evil("domain")])

    def run_command(self, *arguments, code=0):
        done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        for stream in (done.stdout, done.stderr):
            self.assertEqual(hidden(stream.decode()), set(), (arguments, stream))
        self.assertNotRegex(done.stdout.decode() + done.stderr.decode(), r"(?m)^\s*max: error: forged")
        self.assertEqual(done.stderr.count(b"\n"), 1 if code else 0, done.stderr)
        return done.stdout.decode(), done.stderr.decode()


class Names(PrintingTest):
    def test_text(self):
        path = self.model()
        for command in (["info"], ["run"], ["bench", "--seconds", 0], ["profile", "--runs", 2]):
            text, _ = self.run_command(command[0], path, *command[1:])
            if command[0] != "bench":
                self.assertIn("\\x1b[31m\\x1b]0;title\\x07\\xc2\\x9b2J\\x08\\x08\\xe2\\x80\\xaegnp.", text)
                self.assertIn("\\xff\\xfe\\xc0\\xaf", text)
        text, _ = self.run_command("run", self.strings())
        self.assertIn("\\x1b[31m", text)
        self.assertIn('"two \\"\\\\"', text)
        text, _ = self.run_command("info", self.unknown())
        self.assertIn("\\xe2\\x80\\xae", text)

    def test_json_means_the_same(self):
        path = self.model()
        for command in (["info"], ["run"], ["profile", "--runs", 2], ["bench", "--seconds", 0]):
            text, _ = self.run_command(command[0], path, *command[1:], "--json")
            self.assertIsInstance(json.loads(text), dict)
        self.assertTrue(json.loads(self.run_command("info", path, "--json")[0])["inputs"][0]["name"].startswith("in" + EVIL))
        self.assertTrue(json.loads(self.run_command("info", path, "--json")[0])["inputs"][0]["shape"][0].startswith("rows" + EVIL))
        out = json.loads(self.run_command("run", self.strings(), "--json")[0])["outputs"]
        self.assertTrue(out[1]["value"][0]["values"][0].startswith("one" + EVIL))
        self.assertEqual(out[1]["value"][0]["values"][1], 'two "\\')
        info = json.loads(self.run_command("info", self.unknown(), "--json")[0])
        self.assertIn(EVIL, info["unsupported"][0]["operator"])

    def test_names_that_are_no_attack_stay(self):
        plain = "Größe/数量.größer_than\u00a0\U0001f600:0"
        node = helper.make_node("Relu", ["x"], [plain])
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", plain)]
        path = self.save("p.onnx", helper.make_graph([node], "plain", values[:1], values[1:]))
        self.assertIn(plain, self.run_command("run", path)[0])
        self.assertIn(plain, self.run_command("info", path, "--json")[0])

    def test_errors(self):
        path, unknown = self.model(), self.unknown()
        _, error = self.run_command("run", unknown, code=1)
        self.assertIn("\\x1b[31m", error)
        self.run_command("graph", unknown, "--optimized", "--output", self.folder / "g.dot", code=1)
        np.save(self.folder / "x.npy", np.zeros((3, 3), np.float32))
        raw_in = ("in" + EVIL).encode() + INVALID
        for option, value, code in ((b"--input", raw_in + b"=" + bytes(self.folder / "x.npy"), 1), (b"--shape", b"none=1", 2),
                                    (b"--shape", raw_in + b"=\x1b]0;x\x07", 2), (b"--input", raw_in + b"=\x1b[2J.npy", 1),
                                    (b"--device", b"\x1b[2J", 1), (b"--\x1b[2J", b"\xff", 2)):
            done = subprocess.run([COMMAND, "run", path, option, value], capture_output=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual((hidden(done.stderr.decode()), done.stderr.count(b"\n")), (set(), 1), done.stderr)
        name = self.folder / "\x1b[2Jnone.onnx"
        self.run_command("info", name, code=1)
        self.run_command("compile", path, "-o", self.folder / "no\x9bne/a.maxc", code=1)

    def test_files(self):
        path = self.model()
        for options in ([], ["--optimized"]):
            self.run_command("graph", path, "--output", self.folder / "g.dot", *options)
            text = (self.folder / "g.dot").read_bytes().decode()
            self.assertEqual(hidden(text), set())
            self.assertEqual(text.count('"') % 2, 0)
        self.run_command("profile", path, "--output", self.folder / "trace.json")
        text = (self.folder / "trace.json").read_bytes().decode()
        self.assertEqual(hidden(text), set())
        self.assertTrue(json.loads(text)["traceEvents"])
        self.run_command("compile", path, "-o", self.folder / "a.maxc")
        self.run_command("info", self.folder / "a.maxc")
        self.run_command("run", self.folder / "a.maxc", "--output-dir", self.folder / "out")
        for name in os.listdir(os.fsencode(self.folder / "out")):
            self.assertRegex(name, rb"^[A-Za-z0-9._-]+$")
        if shutil.which("dot"):
            self.run_command("graph", path, "--output", self.folder / "g.svg")
            self.assertEqual(hidden((self.folder / "g.svg").read_bytes().decode()), set())


@unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "the address sanitizer needs more memory than the limit")
class Sizes(PrintingTest):
    """A small model may hold one text many times."""

    def repeated(self, count):
        text = helper.make_tensor("t", TensorProto.STRING, [1], [b"x" * (1 << 19)])
        nodes = [helper.make_node("Constant", [], ["t"], value=text),
                 helper.make_node("Constant", [], ["n"], value_ints=[count]),
                 helper.make_node("Expand", ["t", "n"], ["y"]),
                 helper.make_node("SequenceConstruct", ["t"] * 200, ["s"])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.STRING, None),
                   helper.make_tensor_sequence_value_info("s", TensorProto.STRING, None)]
        return self.save("r.onnx", helper.make_graph(nodes, "repeated", [], outputs))

    def limited(self, *arguments):
        return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)))

    def test_strings_have_a_bound(self):
        done = self.limited("run", self.repeated(100000))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"^max: error: RESOURCE_EXHAUSTED: Strings of shape \[100000\]")
        for options in ([], ["--json"], ["--output-dir", self.folder]):
            done = self.limited("run", self.repeated(3), *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(len(done.stdout), 4 << 20)

    def test_arrays_of_strings_have_a_bound(self):
        long = helper.make_tensor("l", TensorProto.STRING, [1], [b"x" * 100000])
        short = helper.make_tensor("s", TensorProto.STRING, [1], [b""])
        nodes = [helper.make_node("Constant", [], ["l"], value=long), helper.make_node("Constant", [], ["s"], value=short),
                 helper.make_node("Constant", [], ["n"], value_ints=[100000]), helper.make_node("Expand", ["s", "n"], ["m"]),
                 helper.make_node("Concat", ["l", "m"], ["y"], axis=0)]
        path = self.save("w.onnx", helper.make_graph(nodes, "wide", [], [helper.make_tensor_value_info("y", TensorProto.STRING, None)]))
        done = self.limited("run", path, "--output-dir", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"^max: error: RESOURCE_EXHAUSTED: 100001 strings of up to 100000 characters")


class Writing(PrintingTest):
    def commands(self, path):
        """Each command that writes, with the file that it writes."""
        return [(["compile", path, "-o"], "a.maxc"), (["graph", path, "--output"], "g.dot"),
                (["profile", path, "--runs", "1", "--output"], "trace.json"),
                *([(["graph", path, "--output"], "g.svg")] if shutil.which("dot") else [])]

    def outputs(self, path):
        yield from (([*command, self.folder / name], self.folder / name) for command, name in self.commands(path))
        yield ["run", path, "--output-dir", self.folder], self.folder / next(iter(self.npy_name(path)))

    def npy_name(self, path):
        out = json.loads(self.run_command("run", path, "--output-dir", self.folder / "names", "--json")[0])
        yield pathlib.Path(out["outputs"][0]["file"]).name

    def test_links_are_replaced(self):
        victim = self.folder / "victim"
        for command, target in self.outputs(self.model()):
            for link in (os.symlink, os.link):
                victim.write_bytes(b"victim's")
                target.unlink(missing_ok=True)
                link(victim, target)
                self.run_command(*command)
                self.assertEqual(victim.read_bytes(), b"victim's", command)
                self.assertFalse(target.is_symlink())
                self.assertGreater(target.stat().st_size, 8)

    def test_pipes_and_devices_are_refused(self):
        for command, target in self.outputs(self.model()):
            for make in (os.mkfifo, lambda path: os.symlink("/dev/full", path), lambda path: os.symlink("/proc/self/fd/1", path)):
                make(target)
                self.run_command(*command, code=1)
                self.assertFalse(target.is_file() and not target.is_symlink())
                target.unlink()

    def test_no_room_leaves_the_old_file(self):
        path = self.model()
        for command, target in self.outputs(path):
            self.run_command(*command)
            target.write_bytes(b"old")
            before = sorted(os.listdir(os.fsencode(self.folder)))
            done = subprocess.run(
                ["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", COMMAND, *map(str, command)], capture_output=True)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1), (command, done.stderr))
            self.assertEqual(target.read_bytes(), b"old")
            self.assertEqual(sorted(os.listdir(os.fsencode(self.folder))), before)

    def test_inputs_that_would_block_are_refused(self):
        path = self.save("i.onnx", helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])], "test", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]))
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for file in (pipe, "/dev/zero", "/dev/tty", self.folder):
            for command in (["run", path, "--input", f"x={file}"], ["run", path, "--weights", file], ["info", file],
                            ["run", file]):
                done = subprocess.run([COMMAND, *map(str, command)], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1), (command, done.stderr))


if __name__ == "__main__":
    unittest.main()
