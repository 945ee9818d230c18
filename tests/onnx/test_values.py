# SPDX-License-Identifier: Apache-2.0
"""Strings, sequences and optionals: models built here, through libmax.so, against ONNX Runtime and Python itself."""

import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    import onnxruntime
    import library
except ImportError:
    onnx = None

if onnx:
    FLOAT, INT64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
    node = helper.make_node
    tensor = helper.make_tensor_value_info
    sequence = helper.make_tensor_sequence_value_info


def model_of(nodes, inputs, outputs, initializers=(), opset=21):
    graph = helper.make_graph(nodes, "values", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10).SerializeToString()


def strings(*texts):
    return np.array(texts, object)


def run(nodes, inputs, outputs, data, **options):
    return library.Model(model_of(nodes, inputs, outputs, **options)).run(data)


def run_one(operator, array, dtype_in, dtype_out, **attributes):
    """One node on one tensor."""
    return run([node(operator, ["x"], ["y"], **attributes)], [tensor("x", dtype_in, [None] * array.ndim)],
               [tensor("y", dtype_out, None)], [array])[0]


@unittest.skipUnless(onnx, "onnx, onnxruntime and numpy are not installed")
class Values(unittest.TestCase):
    def agree(self, data, *arguments, **options):
        """Both libraries give the same."""
        content = model_of(*arguments, **options)
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        names = [entry.name for entry in session.get_inputs()]
        expected = session.run(None, dict(zip(names, data)))
        actual = library.Model(content).run(data)
        self.assertEqual(len(actual), len(expected))
        for a, e in zip(actual, expected):
            self.same(a, e)

    def same(self, actual, expected):
        if isinstance(expected, list):
            self.assertEqual(len(actual), len(expected))
            for a, e in zip(actual, expected):
                self.same(a, e)
        else:
            self.assertEqual(actual.shape, np.shape(expected))
            np.testing.assert_array_equal(actual, expected)

    def test_movement_of_strings(self):
        x = np.array([["a", "b", "c"], ["dd", "", "\u00e4\u20ac"]], object)
        nodes = [node("Transpose", ["x"], ["t"]), node("Concat", ["t", "t"], ["c"], axis=1),
                 node("Slice", ["c", "zero", "three", "one"], ["s"]), node("Reshape", ["s", "flat"], ["r"]),
                 node("Gather", ["r", "picks"], ["g"]), node("Expand", ["g", "wide"], ["e"]),
                 node("Where", ["mask", "x", "word"], ["w"]), node("Equal", ["x", "word"], ["q"]),
                 node("Tile", ["word", "two"], ["l"]), node("Split", ["x"], ["p0", "p1"], axis=0, num_outputs=2),
                 node("GatherElements", ["x", "swap"], ["ge"], axis=1), node("Squeeze", ["p0", "zero"], ["p"]),
                 node("ScatterElements", ["x", "swap", "x"], ["se"], axis=1), node("Unsqueeze", ["p", "one"], ["u"]),
                 node("Shape", ["x"], ["shape"]), node("Flatten", ["x"], ["f"], axis=0)]
        constants = [helper.make_tensor("word", STRING, [1], [b"b"])]
        for name, values in (("zero", [0]), ("one", [1]), ("two", [2]), ("three", [3]), ("flat", [-1]),
                             ("picks", [4, 0, -1]), ("wide", [2, 3])):
            constants.append(helper.make_tensor(name, INT64, [len(values)], values))
        constants.append(helper.make_tensor("mask", BOOL, [3], [True, False, True]))
        constants.append(helper.make_tensor("swap", INT64, [2, 3], [2, 0, 1, 0, 2, 1]))
        outputs = [tensor(name, kind, None) for name, kind in
                   [("e", STRING), ("w", STRING), ("q", BOOL), ("l", STRING), ("p1", STRING), ("ge", STRING),
                    ("se", STRING), ("u", STRING), ("shape", INT64), ("f", STRING)]]
        rows = [tensor("x", STRING, [2, 3])]
        results = run(nodes, rows, outputs, [x], initializers=constants)
        flat = np.concatenate([x.T, x.T], 1)[:, 0:3].ravel()
        swapped = np.take_along_axis(x, np.array([[2, 0, 1], [0, 2, 1]]), 1)
        scattered = np.empty_like(x)
        np.put_along_axis(scattered, np.array([[2, 0, 1], [0, 2, 1]]), x, 1)
        expected = [np.broadcast_to(flat[[4, 0, -1]], (2, 3)), np.where([True, False, True], x, "b"), x == "b",
                    strings("b", "b"), x[1:], swapped, scattered, x[0][:, None], np.array([2, 3]), x.reshape(1, 6)]
        for a, e in zip(results, expected):
            self.same(a, e)

    def test_unique_compress_and_identity(self):
        x = strings("b", "a", "b", "", "c", "a")
        self.agree([x], [node("Identity", ["x"], ["i"]), node("Compress", ["i", "mask"], ["k"])],
                   [tensor("x", STRING, ["n"])], [tensor("k", STRING, None)],
                   initializers=[helper.make_tensor("mask", BOOL, [4], [1, 0, 0, 1])])
        results = run([node("Unique", ["x"], ["v", "first", "inverse", "counts"], sorted=1)], [tensor("x", STRING, ["n"])],
                      [tensor("v", STRING, None)] + [tensor(k, INT64, None) for k in ("first", "inverse", "counts")], [x])
        for a, e in zip(results, np.unique(x.astype(str), True, True, True)):
            self.assertEqual(a.tolist(), e.tolist())

    def test_casts(self):
        for dtype, onnx_type in ((np.float32, FLOAT), (np.float64, TensorProto.DOUBLE), (np.int64, INT64),
                                 (np.int8, TensorProto.INT8), (np.uint64, TensorProto.UINT64),
                                 (np.float16, TensorProto.FLOAT16)):
            limits = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
            numbers = np.array([0, 1, 100, 3.25 if dtype in (np.float32, np.float64) else 7, limits.max, limits.min], dtype)
            texts = run_one("Cast", numbers, onnx_type, STRING, to=STRING)
            back = run_one("Cast", texts, STRING, onnx_type, to=onnx_type)
            np.testing.assert_array_equal(back, numbers)
        floats = np.array([0.1, 1e-7, -2.5e20, np.inf, -np.inf, np.nan, 12345.678, 1, -0.0], np.float32)
        self.assertEqual(run_one("Cast", floats, FLOAT, STRING, to=STRING).tolist(),
                         ["0.1", "1e-07", "-2.5e+20", "INF", "-INF", "NaN", "12345.678", "1.0", "-0.0"])
        half = np.array([0.1, 65504, 6e-8, 1 / 3], np.float16)
        self.assertEqual(run_one("Cast", half, TensorProto.FLOAT16, STRING, to=STRING).tolist(),
                         ["0.1", "65500.0", "6e-08", "0.3333"])
        texts = strings(" 1.5 ", "+INF", "-inf", "nan", "1e400", "-1E-400", "Infinity", "+3")
        np.testing.assert_array_equal(run_one("Cast", texts, STRING, TensorProto.DOUBLE, to=TensorProto.DOUBLE),
                                      [1.5, np.inf, -np.inf, np.nan, np.inf, 0, np.inf, 3])
        self.assertEqual(run_one("Cast", strings("9223372036854775807", "100.5", "-3"), STRING, INT64, to=INT64).tolist(),
                         [9223372036854775807, 100, -3])
        self.assertEqual(run_one("Cast", strings("True", "false", "0", "2"), STRING, BOOL, to=BOOL).tolist(),
                         [True, False, False, True])
        for text, kind in (("abc", FLOAT), ("", FLOAT), ("1x", INT64), ("99999999999999999999", INT64), ("+-1", FLOAT),
                           ("nan", INT64), ("300", TensorProto.INT8), ("9", TensorProto.INT4), ("-1", TensorProto.UINT32)):
            with self.assertRaisesRegex(library.Failure, "is not a valid "):
                run_one("Cast", strings(text), STRING, kind, to=kind)

    def test_casts_to_small_types(self):
        texts = strings("1.5", "-3", "1000", "nan")
        for name in ("FLOAT8E5M2", "FLOAT8E4M3FN", "BFLOAT16", "FLOAT4E2M1"):
            kind = getattr(TensorProto, name)
            numbers = run_one("Cast", np.float32([1.5, -3, 1000, np.nan]), FLOAT, kind, to=kind)
            np.testing.assert_array_equal(run_one("Cast", texts, STRING, kind, to=kind).view(np.uint8),
                                          numbers.view(np.uint8))
            self.assertEqual(run_one("Cast", numbers[:2], kind, STRING, to=STRING).tolist(), ["1.5", "-3.0"])
        self.assertEqual(run_one("Cast", strings("-8", "7.9"), STRING, TensorProto.INT4, to=TensorProto.INT4).tolist(),
                         [-8, 7])

    def test_split(self):
        x = strings("a,b,,c", "", ",", "no comma", "\u00e4,\u20ac,x,y")
        for delimiter in (",", ",,", "", "\u00e4"):
            for most in (None, 0, 1, 2):
                attributes = {"delimiter": delimiter} if delimiter else {}
                if most is not None:
                    attributes["maxsplit"] = most
                nodes = [node("StringSplit", ["x"], ["parts", "counts"], **attributes)]
                parts, counts = run(nodes, [tensor("x", STRING, ["n"])],
                                    [tensor("parts", STRING, None), tensor("counts", INT64, None)], [x])
                expected = [t.split(delimiter or None, -1 if most is None else most) for t in x]
                self.assertEqual(counts.tolist(), [len(e) for e in expected])
                longest = max(map(len, expected))
                self.assertEqual(parts.tolist(), [e + [""] * (longest - len(e)) for e in expected])
        spaces = strings("  two\twords\n", "\u2003wide\u00a0space ", "   ", "a  b   c ")
        for most in (-1, 1):
            nodes = [node("StringSplit", ["x"], ["parts", "counts"], maxsplit=most)]
            counts = run(nodes, [tensor("x", STRING, ["n"])],
                         [tensor("parts", STRING, None), tensor("counts", INT64, None)], [spaces])[1]
            self.assertEqual(counts.tolist(), [len(t.split(None, most)) for t in spaces])

    def test_normalizer(self):
        x = strings("The", "Quick", "\u00c4RGER", "the", "fox", "")
        for sensitive in (0, 1):
            for action in ("LOWER", "UPPER", "NONE"):
                got = run_one("StringNormalizer", x, STRING, STRING, case_change_action=action,
                              is_case_sensitive=sensitive, stopwords=["the", "\u00e4rger"])
                kept = [w for w in x if (w if sensitive else w.lower()) not in ("the", "\u00e4rger")]
                change = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[action]
                self.assertEqual(got.tolist(), [change(w) for w in kept])
        nothing = run_one("StringNormalizer", np.array([["a", "A"]], object), STRING, STRING, stopwords=["a"])
        self.assertEqual(nothing.tolist(), [[""]])
        self.assertEqual(run_one("NonZero", strings("a", "", "b"), STRING, INT64).tolist(), [[0, 2]])
        with self.assertRaisesRegex(library.Failure, "allowed are NONE, LOWER, UPPER"):
            run_one("StringNormalizer", x, STRING, STRING, case_change_action="TITLE")

    def test_regex(self):
        x = np.array([["account@gmail.com", "account@hotmail.com"], ["not email", "account@yahoo.com"]], object)
        pattern = r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)"
        self.assertEqual(run_one("RegexFullMatch", x, STRING, BOOL, pattern=pattern).tolist(), [[True, False], [False, True]])
        with self.assertRaisesRegex(library.Failure, r"regular expression '\(': missing \)"):
            run_one("RegexFullMatch", x, STRING, BOOL, pattern="(")

    def test_tf_idf(self):
        words = strings("a", "b", "a", "c", "b", "a", "z", "a", "b")
        pool = dict(pool_strings=["a", "b", "c", "a", "b", "b", "a", "c", "b"], ngram_counts=[0, 3], min_gram_length=1)
        for mode in ("TF", "IDF", "TFIDF"):
            for skips in (0, 1, 5):
                for x in (words, words.reshape(3, 3)):
                    self.agree([x], [node("TfIdfVectorizer", ["x"], ["y"], mode=mode, max_skip_count=skips,
                                          max_gram_length=2, ngram_indexes=[3, 1, 0, 2, 5, 4],
                                          weights=[2.0, 3.0, 0.5, 1.0, 4.0, 8.0], **pool)],
                               [tensor("x", STRING, [None] * x.ndim)], [tensor("y", FLOAT, None)])
        numbers = dict(pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7], ngram_counts=[0, 4], ngram_indexes=list(range(7)))
        x = np.array([1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8], np.int64)
        for lengths in ((1, 1), (1, 2), (2, 2)):
            self.agree([x], [node("TfIdfVectorizer", ["x"], ["y"], mode="TF", max_skip_count=2,
                                  min_gram_length=lengths[0], max_gram_length=lengths[1], **numbers)],
                       [tensor("x", INT64, ["n"])], [tensor("y", FLOAT, None)])
        for wrong, message in ((dict(ngram_counts=[0, 50]), "ngram_counts 0 to 50"), (dict(ngram_indexes=[1]), "1 entries"),
                               (dict(pool_strings=["a"]), "one of pool_strings"), (dict(ngram_counts=[1, 0]), "1 to 0")):
            with self.assertRaisesRegex(library.Failure, message):
                run_one("TfIdfVectorizer", x, INT64, FLOAT, mode="TF", max_skip_count=0, min_gram_length=1,
                        max_gram_length=1, **{**numbers, **wrong})

    def test_sequence_operators(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        nodes = [node("SplitToSequence", ["x", "sizes"], ["parts"], axis=1), node("SequenceAt", ["parts", "minus"], ["last"]),
                 node("SequenceErase", ["parts", "one"], ["shorter"]), node("SequenceErase", ["shorter"], ["first"]),
                 node("SequenceInsert", ["shorter", "last", "zero"], ["longer"]),
                 node("ConcatFromSequence", ["longer"], ["joined"], axis=-1),
                 node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=0),
                 node("ConcatFromSequence", ["rows"], ["stacked"], axis=1, new_axis=1),
                 node("SequenceConstruct", ["last", "x", "last"], ["made"]), node("SequenceLength", ["made"], ["length"])]
        constants = [helper.make_tensor("sizes", INT64, [3], [1, 3, 2]), helper.make_tensor("minus", INT64, [], [-1]),
                     helper.make_tensor("one", INT64, [], [1]), helper.make_tensor("zero", INT64, [], [0])]
        outputs = [sequence(name, FLOAT, None) for name in ("parts", "first", "longer", "rows", "made")]
        outputs += [tensor("last", FLOAT, None), tensor("joined", FLOAT, None), tensor("stacked", FLOAT, None),
                    tensor("length", INT64, [])]
        self.agree([x], nodes, [tensor("x", FLOAT, ["a", "b"])], outputs, initializers=constants)

    def test_sequences_of_strings(self):
        x = strings("a", "bb", "ccc", "dddd")
        nodes = [node("SplitToSequence", ["x", "two"], ["parts"]), node("SequenceAt", ["parts", "one"], ["tail"]),
                 node("StringConcat", ["tail", "tail"], ["double"]), node("SequenceInsert", ["parts", "double"], ["more"]),
                 node("ConcatFromSequence", ["more"], ["all"], axis=0)]
        results = run(nodes, [tensor("x", STRING, ["n"])], [tensor("all", STRING, None), sequence("more", STRING, None)], [x],
                      initializers=[helper.make_tensor("two", INT64, [], [2]), helper.make_tensor("one", INT64, [], [1])])
        self.assertEqual(results[0].tolist(), ["a", "bb", "ccc", "dddd", "cccccc", "dddddddd"])
        self.assertEqual([part.tolist() for part in results[1]], [["a", "bb"], ["ccc", "dddd"], ["cccccc", "dddddddd"]])

    def test_sequences_in_branches_and_loops(self):
        then = helper.make_graph([node("SequenceInsert", ["given", "x"], ["longer"])], "then", [],
                                 [sequence("longer", FLOAT, None)])
        other = helper.make_graph([node("SequenceEmpty", [], ["nothing"], dtype=FLOAT)], "other", [],
                                  [sequence("nothing", FLOAT, None)])
        body = helper.make_graph(
            [node("Identity", ["going_in"], ["going"]), node("Mul", ["x", "x"], ["square"]),
             node("Cast", ["i"], ["number"], to=FLOAT), node("Add", ["square", "number"], ["element"]),
             node("SequenceInsert", ["in", "element", "front"], ["out"])], "body",
            [tensor("i", INT64, []), tensor("going_in", BOOL, []), sequence("in", FLOAT, None)],
            [tensor("going", BOOL, []), sequence("out", FLOAT, None)])
        nodes = [node("If", ["flag"], ["chosen"], then_branch=then, else_branch=other),
                 node("Loop", ["trips", "", "chosen"], ["result"], body=body), node("SequenceLength", ["result"], ["n"])]
        inputs = [tensor("flag", BOOL, []), sequence("given", FLOAT, None), tensor("x", FLOAT, ["k"]),
                  tensor("trips", INT64, [])]
        for flag in (True, False):
            for trips in (0, 1, 5):
                x = np.arange(3, dtype=np.float32)
                given = [np.ones(2, np.float32)]
                self.agree([np.array(flag), given, x, np.array(trips)], nodes, inputs,
                           [sequence("result", FLOAT, None), tensor("n", INT64, [])],
                           initializers=[helper.make_tensor("front", INT64, [], [0])])

    def test_scan_over_strings(self):
        body = helper.make_graph([node("StringConcat", ["state", "item"], ["next"]), node("Identity", ["next"], ["copy"])],
                                 "body", [tensor("state", STRING, []), tensor("item", STRING, [])],
                                 [tensor("next", STRING, []), tensor("copy", STRING, [])])
        x = strings("a", "b", "c", "d")
        nodes = [node("Scan", ["start", "x"], ["last", "all"], body=body, num_scan_inputs=1,
                      scan_input_directions=[1], scan_output_directions=[1])]
        last, states = run(nodes, [tensor("start", STRING, []), tensor("x", STRING, ["n"])],
                           [tensor("last", STRING, []), tensor("all", STRING, None)], [np.array("-", object), x])
        self.assertEqual(last.item(), "-dcba")
        self.assertEqual(states.tolist(), ["-dcba", "-dcb", "-dc", "-d"])
        empty = run(nodes, [tensor("start", STRING, []), tensor("x", STRING, ["n"])],
                    [tensor("last", STRING, []), tensor("all", STRING, None)], [np.array("-", object), x[:0]])
        self.assertEqual(empty[0].item(), "-")
        self.assertEqual(empty[1].shape, (0,))

    def test_memory_of_loops_is_that_of_what_they_carry(self):
        body = helper.make_graph(
            [node("Identity", ["going_in"], ["going"]), node("SequenceErase", ["in", "zero"], ["rest"]),
             node("SequenceAt", ["in", "zero"], ["head"]), node("Add", ["head", "head"], ["twice"]),
             node("SequenceInsert", ["rest", "twice"], ["out"])], "body",
            [tensor("i", INT64, []), tensor("going_in", BOOL, []), sequence("in", FLOAT, None)],
            [tensor("going", BOOL, []), sequence("out", FLOAT, None)])
        content = model_of([node("Loop", ["trips", "", "given"], ["result"], body=body),
                            node("SequenceAt", ["result", "zero"], ["y"])],
                           [tensor("trips", INT64, []), sequence("given", FLOAT, None)], [tensor("y", FLOAT, None)],
                           [helper.make_tensor("zero", INT64, [], [0])])
        model = library.Model(content)
        element = np.zeros(1 << 18, np.float32)  # 1 MB
        model.run([np.array(2), [element]])
        before = peak()
        model.run([np.array(300), [element]])
        self.assertLess(peak() - before, 60 << 20)

    def test_sequence_map(self):
        body = helper.make_graph([node("Add", ["a", "b"], ["sum"]), node("Shape", ["a"], ["shape"]),
                                  node("Mul", ["sum", "factor"], ["scaled"])], "body",
                                 [tensor("a", FLOAT, None), tensor("b", FLOAT, None)],
                                 [tensor("scaled", FLOAT, None), tensor("shape", INT64, None)])
        nodes = [node("SequenceMap", ["seq", "other"], ["sums", "shapes"], body=body)]
        arguments = [sequence("seq", FLOAT, None), tensor("other", FLOAT, None), tensor("factor", FLOAT, [])]
        outputs = [sequence("sums", FLOAT, None), sequence("shapes", INT64, None)]
        elements = [np.full((i, 2), i, np.float32) for i in range(4)]
        sums, shapes = run(nodes, arguments, outputs, [elements, np.float32([1, 2]), np.float32(3)])
        self.same(sums, [(e + np.float32([1, 2])) * 3 for e in elements])
        self.same(shapes, [np.array(e.shape) for e in elements])
        pairs = [sequence("seq", FLOAT, None), sequence("other", FLOAT, None), tensor("factor", FLOAT, [])]
        self.same(run(nodes, pairs, outputs, [elements, elements, np.float32(0.5)])[0], elements)
        with self.assertRaisesRegex(library.Failure, "input 1 has 3 elements, input 0 has 4"):
            run(nodes, pairs, outputs, [elements, elements[:3], np.float32(1)])
        whole = helper.make_graph([node("Identity", ["seq"], ["all"])], "whole", [tensor("a", FLOAT, None)],
                                  [sequence("all", FLOAT, None)])
        with self.assertRaisesRegex(library.Failure, "would be a sequence of values of type sequence of float32"):
            run([node("SequenceMap", ["seq"], ["deep"], body=whole), node("SequenceLength", ["deep"], ["n"])],
                [sequence("seq", FLOAT, None)], [tensor("n", INT64, [])], [elements])

    def test_optional_through_branches(self):
        held = helper.make_tensor_type_proto(FLOAT, None)
        kind = helper.make_optional_type_proto(held)
        then = helper.make_graph([node("Optional", ["x"], ["some"])], "then", [], [helper.make_value_info("some", kind)])
        other = helper.make_graph([node("Optional", [], ["none"], type=held)], "other", [],
                                  [helper.make_value_info("none", kind)])
        get = helper.make_graph([node("OptionalGetElement", ["maybe"], ["got"])], "get", [], [tensor("got", FLOAT, None)])
        zero = helper.make_graph([node("Sub", ["x", "x"], ["zeros"])], "zero", [], [tensor("zeros", FLOAT, None)])
        nodes = [node("If", ["flag"], ["maybe"], then_branch=then, else_branch=other),
                 node("OptionalHasElement", ["maybe"], ["has"]),
                 node("If", ["has"], ["y"], then_branch=get, else_branch=zero)]
        x = np.float32([1, 2])
        for flag in (True, False):
            has, y = run(nodes, [tensor("flag", BOOL, []), tensor("x", FLOAT, ["n"])],
                         [tensor("has", BOOL, []), tensor("y", FLOAT, None)], [np.array(flag), x])
            self.assertEqual(bool(has), flag)
            np.testing.assert_array_equal(y, x if flag else x * 0)
        with self.assertRaisesRegex(library.Failure, "the optional has no element"):
            run([node("Optional", [], ["none"], type=held), node("OptionalGetElement", ["none"], ["y"])],
                [tensor("x", FLOAT, ["n"])], [tensor("y", FLOAT, None)], [x])

    def test_mistakes_name_the_node(self):
        x = np.zeros(3, np.float32)
        cases = [
            ([node("SequenceConstruct", ["x"], ["s"]), node("SequenceAt", ["s", "i"], ["y"], name="at")],
             "node 'at' \\(SequenceAt\\): position 5 is out of range \\[-1, 0\\] of a sequence of 1"),
            ([node("SequenceEmpty", [], ["s"], dtype=INT64), node("SequenceInsert", ["s", "x"], ["t"], name="in"),
              node("SequenceAt", ["t", "i"], ["y"])], "input 1 is float32, input 0 is a sequence of int64"),
            ([node("SequenceEmpty", [], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], "the sequence is empty"),
            ([node("SequenceConstruct", ["x"], ["s"]), node("Neg", ["s"], ["y"], name="neg")],
             "node 'neg' \\(Neg\\): input 0 cannot be sequence"),
            ([node("SequenceConstruct", ["x", "x2"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)],
             "do not fit along axis 0"),
            ([node("SplitToSequence", ["x", "parts"], ["s"], name="split"), node("SequenceAt", ["s", "i"], ["y"])],
             "the parts sum to 2, the axis has 3"),
        ]
        constants = [helper.make_tensor("i", INT64, [], [5]), helper.make_tensor("x2", FLOAT, [1, 3], [1, 2, 3]),
                     helper.make_tensor("parts", INT64, [2], [1, 1])]
        for nodes, message in cases:
            with self.assertRaisesRegex(library.Failure, message):
                run(nodes, [tensor("x", FLOAT, ["n"])], [tensor("y", FLOAT, None)], [x], initializers=constants)


def peak():
    """Most memory this process had, in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    unittest.main()
