# SPDX-License-Identifier: Apache-2.0
"""Counts and sizes that a node's attributes and inputs say, against each other and against its outputs: what does not
fit is refused, and of what fits every element is written. Each model runs twice in processes whose fresh memory is
filled differently."""

import os
import pickle
import signal
import subprocess
import sys
import unittest

try:
    import numpy as np
    from onnx import ValueInfoProto, helper, numpy_helper

    import library
except ImportError:
    library = None

ML = "ai.onnx.ml"
SECONDS = 120  # until a model counts as hung


def model_of(op, arrays, outputs=("y",), domain="", weights=(), **attributes):
    """One node on `arrays`; those whose number is in `weights` are initialisers."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    node = helper.make_node(op, names, list(outputs), name="it", domain=domain, **attributes)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
              for i, (name, array) in enumerate(zip(names, arrays)) if name and i not in weights]
    constants = [numpy_helper.from_array(arrays[i], names[i]) for i in weights]
    graph = helper.make_graph([node], "g", inputs, [ValueInfoProto(name=name) for name in outputs if name], constants)
    imports = [helper.make_opsetid("", 22), helper.make_opsetid(ML, 3)]
    given = [array for i, array in enumerate(arrays) if array is not None and i not in weights]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString(), given


def outcome(data, inputs):
    """What a model gives: arrays, or status and message."""
    try:
        return library.Model(data).run(inputs)
    except library.Failure as failure:
        return failure.status, str(failure)


class Server:
    """A process whose fresh memory has a pattern, and which has only imported modules. It forks one for each model."""

    def __init__(self, fill):
        environment = dict(os.environ, MALLOC_PERTURB_=str(fill), MALLOC_TOP_PAD_="0")
        self.process = subprocess.Popen([sys.executable, __file__, "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)

    def outcome(self, case):
        pickle.dump(case, self.process.stdin)
        self.process.stdin.flush()
        status, result = pickle.load(self.process.stdout)
        if status:
            raise AssertionError(f"the process ended with {status}")
        return result

    def end(self):
        self.process.communicate()


def outcome_in_child(case):
    """The child's status and what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(outcome(*case), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return status, None if status else pickle.loads(text)


def serve():
    while True:
        try:
            case = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(outcome_in_child(case), sys.stdout.buffer)
        sys.stdout.buffer.flush()


def ones(*shape):
    return np.ones(shape, np.float32)


def vectors(labels, counts, **attributes):
    """A linear SVMClassifier of three features that says how many support vectors it has."""
    label = {"classlabels_ints": list(range(labels))} if labels else {}
    return model_of("SVMClassifier", [ones(5, 3)], ("l", "y"), ML, coefficients=[1.0] * 3 * max(labels, 1), rho=[0.5],
                    vectors_per_class=counts, **label, **attributes)


@unittest.skipIf(library is None, "needs numpy and onnx")
class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = [Server(fill) for fill in (85, 170)]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.end()

    def results(self, case):
        first, second = (server.outcome(case) for server in self.servers)
        if isinstance(first, tuple):
            self.fail(first[1])
        for a, b in zip(first, second):
            self.assertEqual(a.tobytes(), b.tobytes(), "an output depends on what lay in memory")
        return first

    def refused(self, case, text):
        result = self.servers[0].outcome(case)
        self.assertIsInstance(result, tuple, "was not refused")
        self.assertIn(text, result[1])
        self.assertIn("node 'it'", result[1])

    def test_one_label_is_no_choice(self):
        for labels in ({"classlabels_ints": [7]}, {"classlabels_strings": ["a"]}):
            for more in ({}, {"intercepts": [0.5]}):
                self.refused(model_of("LinearClassifier", [ones(4, 2)], ("l", "y"), ML, coefficients=[1.0, 1.0],
                                      **labels, **more), "has 1 class labels for 1 scores")

    def test_labels_are_as_many_as_scores(self):
        self.refused(model_of("LinearClassifier", [ones(4, 2)], ("l", "y"), ML, coefficients=[1.0] * 6,
                              intercepts=[0.0] * 3, classlabels_ints=[1, 2]), "has 2 class labels for 3 scores")

    def test_coefficients_are_as_many_as_features(self):
        for op, attributes in (("LinearClassifier", dict(classlabels_ints=[1, 2, 3])), ("LinearRegressor", dict(targets=3)),
                               ("SVMRegressor", dict(rho=[0.0])), ("SVMClassifier", dict(rho=[0.0], classlabels_ints=[1, 2]))):
            outputs = ("l", "y") if op.endswith("Classifier") else ("y",)
            self.refused(model_of(op, [ones(4, 2)], outputs, ML, coefficients=[1.0] * 5, **attributes),
                         "attribute 'coefficients' has 5 elements")

    def test_no_support_vectors_give_a_score_for_each_class(self):
        for labels, counts in ((0, [0]), (2, [0, 0]), (3, [0, 0, 0]), (4, [0, 0, 0, 0])):
            _, scores = self.results(vectors(labels, counts))
            np.testing.assert_array_equal(scores, np.full((5, max(labels, 1)), 3.5, np.float32))

    def test_features_that_nobody_chooses(self):
        none = np.zeros([0], np.int64)
        for array in (ones(3, 4), ones(4), np.arange(6).reshape(2, 3)):
            for weights in ((), (0, 1)):  # while it runs, and while it is folded
                model = model_of("ArrayFeatureExtractor", [array, none], domain=ML, weights=weights)
                self.assertEqual(self.results(model)[0].size, 0)

    def test_statistics_of_empty_rows_are_written(self):
        for dtype in (np.float32, np.float16):
            for shape, axis in (((3, 0), -1), ((2, 3, 0, 4), 2), ((4, 5, 0), 1)):
                x = np.zeros(shape, dtype)
                y, mean, deviation = self.results(
                    model_of("LayerNormalization", [x, np.ones(shape[axis:], dtype)], ("y", "m", "d"), axis=axis))
                self.assertTrue(y.size == 0 and np.isnan(mean).all() and np.isnan(deviation).all())

    def test_means_of_nothing_are_written(self):
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            for dtype in (np.float32, np.float64):
                self.assertEqual(self.results(model_of(op, [np.zeros((2, 3, 0, 4), dtype)]))[0].shape, (2, 3, 1, 1))

    def test_outputs_that_nobody_wants(self):
        x = np.arange(64, dtype=np.float32).reshape(1, 1, 2, 2, 4, 4)
        index, = self.results(model_of("MaxPool", [x], ("", "i"), kernel_shape=[2, 2, 2, 2], strides=[2, 2, 2, 2]))
        self.assertEqual(index.tolist(), [[[[[[53, 55], [61, 63]]]]]])
        mean, = self.results(model_of("LayerNormalization", [x, ones(4)], ("", "m")))
        np.testing.assert_allclose(mean[..., 0], x.mean(-1))
        weights = [ones(1, 12, 3), ones(1, 12, 3)]
        for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
            arrays = [ones(5, 2, 3)] + [weight[:, :gates * 3] for weight in weights]
            last, = self.results(model_of(op, arrays, ("", "h"), weights=(1, 2), hidden_size=3))
            self.assertEqual(last.shape, (1, 2, 3))

    def test_windows_have_a_limit(self):
        pads = [2**30 - 1] * 6
        for op in ("AveragePool", "MaxPool", "LpPool"):
            self.refused(model_of(op, [ones(1, 1, 2, 2, 2)], kernel_shape=[2**30, 2**30, 16], pads=pads),
                         "the kernel has more than 2147483647 elements")
        nothing = np.zeros((1, 0, 2**20, 2**10), np.float32)
        self.refused(model_of("Conv", [np.zeros((1, 0, 2, 2), np.float32), nothing], weights=(1,),
                              pads=[2**20, 2**10, 2**20, 2**10]), "have no elements")

    def test_valid_means_no_pads(self):
        x, w = ones(1, 1, 6, 6), ones(1, 1, 3, 3)
        pads = dict(auto_pad="VALID", pads=[1, 1, 1, 1])
        for op, arrays, more in (("Conv", [x, w], {}), ("MaxPool", [x], dict(kernel_shape=[3, 3])),
                                 ("AveragePool", [x], dict(kernel_shape=[3, 3])), ("LpPool", [x], dict(kernel_shape=[3, 3]))):
            self.assertEqual(self.results(model_of(op, arrays, **pads, **more))[0].shape, (1, 1, 4, 4))
        self.assertEqual(self.results(model_of("ConvTranspose", [x, w], **pads))[0].shape, (1, 1, 8, 8))

    def test_channels_are_needed(self):
        for op, more in (("LRN", dict(size=3)), ("InstanceNormalization", {})):
            arrays = [ones(4)] + ([ones(1), ones(1)] if op != "LRN" else [])
            self.refused(model_of(op, arrays, **more), "input 0 must have at least 2 dimensions")
        self.refused(model_of("MeanVarianceNormalization", [ones(4, 4)]), "axis 2 is out of range for rank 2")
        self.refused(model_of("LayerNormalization", [np.float32(1).reshape(()), ones(1)]), "at least 1 dimensions")

    def test_quantised_images_have_one_scale(self):
        x, w, one, zero = np.ones((1, 1, 4, 4), np.uint8), np.ones((1, 1, 3, 3), np.uint8), np.float32(1), np.uint8(0)
        arrays = [x, one, zero, w, one, zero, one, zero]
        for i in (1, 2, 6, 7):
            bad = [np.asarray(array) for array in arrays]
            bad[i] = np.zeros([0], bad[i].dtype)
            self.refused(model_of("QLinearConv", bad), "needs one element")


BYTES = np.array([2, 0, 255, 1], np.uint8).view(np.bool_)


@unittest.skipIf(library is None, "needs numpy and onnx")
class Bools(unittest.TestCase):
    """Any byte but 0 is true, in an input as in an initialiser."""

    def check(self, op, expected, *arrays, **attributes):
        for weights in ((), range(len(arrays))):
            model, inputs = model_of(op, arrays, weights=tuple(weights), **attributes)
            if not inputs:  # what is constant is folded
                model, inputs = model_of(op, arrays, weights=tuple(weights)[1:] or (0,), **attributes)
            result = outcome(model, inputs)
            self.assertIsInstance(result, list, result)
            self.assertEqual((result[0] != 0).tolist() if result[0].dtype == np.bool_ else result[0].tolist(), expected)

    def test_bytes_beyond_one(self):
        true, false, text = np.ones(4, np.bool_), np.zeros(4, np.bool_), np.array(list("abcd"), object)
        self.check("Cast", [1, 0, 1, 1], BYTES, to=7)
        self.check("Cast", ["True", "False", "True", "True"], BYTES, to=8)
        self.check("Not", [False, True, False, False], BYTES)
        self.check("And", [True, False, True, True], BYTES, true)
        self.check("Xor", [True, False, True, True], BYTES, false)
        self.check("Equal", [True, False, True, True], BYTES, true)
        self.check("Where", [1, 2, 1, 1], BYTES, np.int64([1]), np.int64([2]))
        self.check("Compress", [0, 2, 3], np.arange(4), BYTES)
        self.check("ReduceMax", [True], BYTES)

    def test_texts_are_chosen(self):
        model, inputs = model_of("Where", [BYTES, np.array(list("abcd"), object), np.array(["-"], object)])
        self.assertEqual([str(text) for text in library.Model(model).run(inputs)[0]], ["a", "-", "c", "d"])


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve()
    else:
        unittest.main()
