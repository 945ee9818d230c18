# SPDX-License-Identifier: Apache-2.0
"""Operators of ai.onnx.ml in small models against ONNX Runtime, and models that are none."""

import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None

DOMAIN = "ai.onnx.ml"
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def model_of(op, arrays, outputs, version, attributes):
    node = helper.make_node(op, [f"x{i}" for i in range(len(arrays))], [f"y{i}" for i in range(outputs)], name="it",
                            domain=DOMAIN, **attributes)
    inputs = [helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(array.dtype),
                                            [None] * array.ndim) for i, array in enumerate(arrays)]
    graph = helper.make_graph([node], "g", inputs, [ValueInfoProto(name=f"y{i}") for i in range(outputs)])
    imports = [helper.make_opsetid(DOMAIN, version), helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def map_type(key, value):
    tensor = helper.make_tensor_type_proto(value, [])
    return helper.make_map_type_proto(key, tensor)


def reference_of(data):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


class Forest:
    """Attributes of random trees in the older form; leaves vote for one or all of `targets`."""

    def __init__(self, random, trees, depth, features, targets, modes, single=True):
        self.random, self.features, self.targets, self.modes, self.single = random, features, targets, modes, single
        self.nodes, self.votes = [], []
        for tree in range(trees):
            self.ids = 0
            self.grow(tree, depth)
        self.nodes.sort(key=lambda row: row[:2])

    def grow(self, tree, depth):
        this, self.ids = self.ids, self.ids + 1
        if depth == 0 or (depth < 3 and self.random.random() < 0.3):
            self.nodes.append((tree, this, 0, 0.0, "LEAF", 0, 0, 0))
            targets = [self.random.integers(self.targets)] if self.single else range(self.targets)
            self.votes += [(tree, this, int(target), float(self.random.standard_normal())) for target in targets]
            return this
        feature, mode = int(self.random.integers(self.features)), str(self.random.choice(self.modes))
        value = float(np.float32(self.random.integers(-3, 4) / 2))
        when_true, when_false = self.grow(tree, depth - 1), self.grow(tree, depth - 1)
        self.nodes.append((tree, this, feature, value, mode, when_true, when_false, int(self.random.integers(2))))
        return this

    def attributes(self, prefix):
        trees, ids, features, values, modes, when_true, when_false, missing = map(list, zip(*self.nodes))
        result = dict(nodes_treeids=trees, nodes_nodeids=ids, nodes_featureids=features, nodes_values=values,
                      nodes_modes=modes, nodes_truenodeids=when_true, nodes_falsenodeids=when_false,
                      nodes_missing_value_tracks_true=missing)
        names = ("treeids", "nodeids", "ids", "weights")
        return result | {f"{prefix}_{name}": list(column) for name, column in zip(names, zip(*self.votes))}


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Operators(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(3)

    def compare(self, op, arrays, outputs=1, version=1, times=(2e-5, 1e-5), **attributes):
        attributes = {name: value for name, value in attributes.items() if value != []}
        data = model_of(op, arrays, outputs, version, attributes)
        expected = self.expected(op, arrays, outputs, version, attributes)
        self.equal(library.Model(data).run(arrays), expected, times, f"{op} {arrays[0].dtype} {str(attributes)[:200]}")
        return expected

    def expected(self, op, arrays, outputs, version, attributes):
        """From ONNX Runtime, which does not have every type of numbers: then from float32, rounded back."""
        for used in (arrays, [array.astype(np.float32) for array in arrays]):
            try:
                reference = reference_of(model_of(op, used, outputs, version, attributes))
            except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
                continue
            found = reference.run(None, {f"x{i}": array for i, array in enumerate(used)})
            return [found[0].astype(arrays[0].dtype)] if op in ("Binarizer", "Imputer") else found
        raise NotImplementedError(op)

    def equal(self, actual, expected, times, text):
        for mine, wanted in zip(actual, expected, strict=True):
            self.assertEqual((mine.dtype, mine.shape), (wanted.dtype, wanted.shape), text)
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(mine, wanted, *times, err_msg=text)
            else:
                np.testing.assert_array_equal(mine, wanted, text)

    def rows(self, count, columns, dtype=np.float32):
        return np.round(self.random.standard_normal((count, columns)) * 2, 1).astype(dtype)

    def every_type(self, *shape):
        return [self.rows(*shape, dtype) for dtype in (np.float32, np.float64, np.int64, np.int32)]

    def test_scaler(self):
        for x in self.every_type(5, 3):
            self.compare("Scaler", [x], offset=[1.0, -2.0, 0.5], scale=[2.0, 0.25, -1.0])
            self.compare("Scaler", [x], offset=[1.0], scale=[2.0])
        self.compare("Scaler", [self.rows(1, 3)[0]], offset=[1.0], scale=[2.0])

    def test_normalizer(self):
        for x in self.every_type(5, 3):
            x[0] = 0
            for norm in ("MAX", "L1", "L2"):
                self.compare("Normalizer", [x], norm=norm)
        self.compare("Normalizer", [self.rows(1, 3)[0]], norm="L2")

    def test_binarizer(self):
        for x in self.every_type(5, 3):
            self.compare("Binarizer", [x], threshold=0.5)

    def test_imputer(self):
        x = self.rows(5, 3)
        x[1, 2] = x[3, 0] = np.nan
        for array in (x, x.astype(np.float64)):
            self.compare("Imputer", [array], imputed_value_floats=[9.0, 8.0, 7.0], replaced_value_float=float("nan"))
            self.compare("Imputer", [array], imputed_value_floats=[9.0], replaced_value_float=float(x[0, 0]))
        for dtype in (np.int64,):
            self.compare("Imputer", [self.rows(9, 3, dtype)], imputed_value_int64s=[9, 8, 7], replaced_value_int64=1)

    def test_one_hot_encoder(self):
        for x in self.every_type(5, 3):
            self.compare("OneHotEncoder", [x], cats_int64s=[0, 2, -1, 1])
        self.compare("OneHotEncoder", [np.array([0, 1, 1])], cats_int64s=[0, 1], zeros=0)

    def test_array_feature_extractor(self):
        for x in self.every_type(5, 3):
            for y in ([1], [2, 0, 2], [[1, 0]], [[0, 1], [2, 2]]):
                self.compare("ArrayFeatureExtractor", [x, np.array(y)])
        self.compare("ArrayFeatureExtractor", [self.rows(1, 3)[0], np.array([1, 0])])

    def test_feature_vectorizer(self):
        a, b = self.rows(4, 2), self.rows(4, 3)
        self.compare("FeatureVectorizer", [a, b], inputdimensions=[2, 3])
        self.compare("FeatureVectorizer", [a, b], inputdimensions=[3, 1])
        self.compare("FeatureVectorizer", [a.astype(np.int64), b.astype(np.int64)], inputdimensions=[2, 3])

    def test_label_encoder(self):
        integers, floats = np.array([[3, 1, 7], [9, 3, 3]]), np.array([0.5, np.nan, -0.0, 4], np.float32)
        self.compare("LabelEncoder", [integers], version=2, keys_int64s=[1, 3], values_floats=[0.5, 2.0], default_float=7.0)
        self.compare("LabelEncoder", [floats], version=4, keys_floats=[0.5, float("nan"), 0.0], values_int64s=[4, 5, 6])
        for keys, values, fallback in ((np.int32, np.float64, 0.25), (np.int64, np.int16, -7), (np.float64, np.int32, 3)):
            self.compare_tensors(np.array([3, 1, 7, 9], keys), np.array([1, 9, 3], keys), np.array([4, 5, 6], values),
                                 np.array([fallback], values))

    def compare_tensors(self, x, keys, values, fallback):
        tensors = dict(keys_tensor=keys, values_tensor=values, default_tensor=fallback)
        expected = np.array([dict(zip(keys, values)).get(key, fallback[0]) for key in x], values.dtype)
        data = model_of("LabelEncoder", [x], 1, 4, {k: numpy_helper.from_array(v, k) for k, v in tensors.items()})
        self.equal(library.Model(data).run([x]), [expected], (0, 0), "LabelEncoder")

    def test_linear_classifier(self):
        for x in self.every_type(7, 20):
            weights = self.random.standard_normal(60).astype(np.float32).tolist()
            for transform in TRANSFORMS[:4]:
                self.compare("LinearClassifier", [x], 2, times=(1e-4, 1e-5), coefficients=weights,
                             intercepts=[0.1, -0.2, 0.3], classlabels_ints=[5, 7, 9], post_transform=transform)
            for labels in ({}, dict(classlabels_ints=[4, 8])):
                self.compare("LinearClassifier", [x], 2, times=(1e-4, 1e-5), coefficients=weights[:20],
                             intercepts=[0.1], **labels)
            self.compare("LinearClassifier", [x], 2, times=(1e-4, 1e-5), coefficients=weights[:20], intercepts=[0.1],
                         classlabels_ints=[4, 8], post_transform="LOGISTIC")

    def test_linear_regressor(self):
        for x in self.every_type(7, 20):
            weights = self.random.standard_normal(60).astype(np.float32).tolist()
            self.compare("LinearRegressor", [x], times=(1e-4, 1e-5), coefficients=weights, targets=3)
            self.compare("LinearRegressor", [x], times=(1e-4, 1e-5), coefficients=weights[:20], intercepts=[0.5])

    def test_linear_rows(self):
        """Many rows, one target or several, features that make sums short or long."""
        for columns, targets in ((20, 1), (20, 5), (70, 17), (700, 1), (700, 3)):
            weights = self.random.standard_normal(columns * targets).astype(np.float32).tolist()
            x = self.rows(150, columns)
            for array in (x, x.astype(np.float64)):
                found = library.Model(model_of("LinearRegressor", [array], 1, 1, dict(coefficients=weights, targets=targets)))
                wanted = x.astype(np.float64) @ np.array(weights).reshape(targets, columns).T
                np.testing.assert_allclose(found.run([array])[0], wanted, 1e-4, 1e-4, err_msg=f"{columns} {targets}")

    def svm(self, kernel, classes, supports, features, **more):
        numbers = self.random.standard_normal
        return dict(kernel_type=kernel, kernel_params=[0.1, 1.0, 3.0],
                    support_vectors=numbers(supports * features).tolist(),
                    coefficients=numbers(supports * (classes - 1)).tolist(),
                    rho=numbers(classes * (classes - 1) // 2).tolist()) | more

    def test_svm_classifier(self):
        x = self.rows(9, 11)
        for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            for counts in ([3, 4], [4, 2, 5], [2, 3, 1, 4]):
                k = len(counts)
                attributes = self.svm(kernel, k, sum(counts), 11, vectors_per_class=counts,
                                      classlabels_ints=list(range(5, 5 + k)))
                self.compare("SVMClassifier", [x], 2, times=(1e-3, 1e-4), **attributes)
                pairs = k * (k - 1) // 2
                self.compare("SVMClassifier", [x], 2, times=(1e-3, 1e-4), prob_a=[-1.5] * pairs, prob_b=[0.1] * pairs,
                             **attributes)

    def test_svm_regressor(self):
        for x in self.every_type(9, 11):
            for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
                for one_class in (0, 1):
                    attributes = self.svm(kernel, 2, 5, 11, n_supports=5, one_class=one_class)
                    self.compare("SVMRegressor", [x], times=(1e-3, 1e-4), **attributes)

    def test_svm_rows(self):
        """More rows and vectors than a tile of a product has."""
        for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            for vectors, columns in ((130, 20), (3, 300)):
                x = self.rows(41, columns) / np.float32(columns)
                self.compare("SVMRegressor", [x], times=(1e-3, 1e-4),
                             **self.svm(kernel, 2, vectors, columns, n_supports=vectors))

    def test_svm_degrees(self):
        """Small integers are products, others powers."""
        x = np.abs(self.rows(3, 11))
        for degree in (0, 1, 2, 3, 8, 9, 2.5):
            attributes = self.svm("POLY", 2, 5, 11, n_supports=5)
            attributes["support_vectors"] = np.abs(attributes["support_vectors"]).tolist()
            attributes["kernel_params"] = [0.1, 0.5, float(degree)]
            self.compare("SVMRegressor", [x], times=(1e-3, 1e-4), **attributes)

    def test_tree_regressor(self):
        modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
        for trees, depth, targets in ((1, 3, 1), (5, 4, 2), (13, 6, 3), (2100, 1, 1)):
            for some in (modes[:1], modes[:5], modes):
                forest = Forest(self.random, trees, depth, 4, targets, some, single=targets < 3)
                for rows in (1, 3, 8, 25, 70):  # walks go by sixteen and by eight
                    x = self.rows(rows, 4)
                    if some is not modes and rows != 25:  # NaN is not equal to anything there, the standard asks the node
                        x[self.random.random(x.shape) < 0.1] = np.nan
                    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
                        self.compare("TreeEnsembleRegressor", [x], version=3, times=(1e-4, 1e-5), n_targets=targets,
                                     aggregate_function=aggregate, base_values=[0.5] * targets if targets != 2 else [],
                                     **forest.attributes("target"))
        for x in self.every_type(9, 4):
            self.compare("TreeEnsembleRegressor", [x], version=3, times=(1e-4, 1e-5), n_targets=1,
                         **Forest(self.random, 3, 4, 4, 1, modes).attributes("target"))

    def positioned(self, forest, dtype, aggregate):
        """A forest with one vote for each leaf in the form of TreeEnsemble."""
        numbers = {"BRANCH_LEQ": 0, "BRANCH_LT": 1, "BRANCH_GTE": 2, "BRANCH_GT": 3, "BRANCH_EQ": 4, "BRANCH_NEQ": 5}
        branches = [row for row in forest.nodes if row[4] != "LEAF"]
        place = {row[:2]: i for i, row in enumerate(branches)}
        votes = {vote[:2]: i for i, vote in enumerate(forest.votes)}
        true, false = ([(row[0], row[column]) for row in branches] for column in (5, 6))
        tensor = numpy_helper.from_array
        return dict(
            tree_roots=[place[tree, 0] for tree in sorted({row[0] for row in branches})],
            nodes_featureids=[row[2] for row in branches], nodes_splits=tensor(np.array([row[3] for row in branches], dtype)),
            nodes_modes=tensor(np.array([numbers[row[4]] for row in branches], np.uint8)),
            nodes_missing_value_tracks_true=[row[7] for row in branches],
            nodes_truenodeids=[place.get(key, votes.get(key)) for key in true],
            nodes_falsenodeids=[place.get(key, votes.get(key)) for key in false],
            nodes_trueleafs=[int(key in votes) for key in true], nodes_falseleafs=[int(key in votes) for key in false],
            leaf_targetids=[vote[2] for vote in forest.votes],
            leaf_weights=tensor(np.array([vote[3] for vote in forest.votes], dtype)), n_targets=forest.targets,
            aggregate_function=aggregate)

    def test_tree_ensemble(self):
        modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ"]
        for targets in (1, 2):
            forest = Forest(self.random, 5, 4, 4, targets, modes)
            forest.nodes = [row for row in forest.nodes if not (row[1] == 0 and row[4] == "LEAF")]
            kept = {row[0] for row in forest.nodes}
            forest.votes = [vote for vote in forest.votes if vote[0] in kept and (vote[0], vote[1]) != (vote[0], 0)]
            for aggregate in range(4):
                x = self.rows(20, 4)
                expected = self.compare("TreeEnsemble", [x], version=5, times=(1e-4, 1e-5),
                                        **self.positioned(forest, np.float32, aggregate))[0]
                self.compare("TreeEnsemble", [x.astype(np.float64)], version=5, times=(1e-4, 1e-5),
                             **self.positioned(forest, np.float64, aggregate))
                half = x.astype(np.float16)  # numbers with one digit are on the same side of half ones
                data = model_of("TreeEnsemble", [half], 1, 5, self.positioned(forest, np.float16, aggregate))
                found = library.Model(data).run([half])[0]
                self.assertEqual(found.dtype, np.float16)
                np.testing.assert_allclose(found.astype(np.float32), expected, 1e-2, 1e-2)

    def test_tree_classifier(self):
        for rows in (1, 9, 70):
            forest = Forest(self.random, 7, 5, 4, 3, ["BRANCH_LEQ"], single=False)
            for transform in TRANSFORMS[:4]:
                self.compare("TreeEnsembleClassifier", [self.rows(rows, 4)], 2, version=3, times=(1e-4, 1e-5),
                             classlabels_int64s=[3, 5, 8], post_transform=transform, **forest.attributes("class"))
            forest = Forest(self.random, 7, 5, 4, 1, ["BRANCH_LEQ"])
            for transform in ("NONE", "LOGISTIC"):
                self.compare("TreeEnsembleClassifier", [self.rows(rows, 4)], 2, version=3, times=(1e-4, 1e-5),
                             classlabels_int64s=[3, 5], base_values=[0.25], post_transform=transform,
                             **forest.attributes("class"))

    def test_tree_probabilities(self):
        forest = Forest(self.random, 7, 5, 4, 1, ["BRANCH_LEQ"]).attributes("class")
        forest["class_weights"] = [abs(weight) / 8 for weight in forest["class_weights"]]
        self.compare("TreeEnsembleClassifier", [self.rows(50, 4)], 2, version=3, times=(1e-4, 1e-5),
                     classlabels_int64s=[3, 5], **forest)

    def test_tree_with_double_thresholds(self):
        forest = Forest(self.random, 7, 5, 4, 1, ["BRANCH_LEQ"]).attributes("target")
        for name in ("nodes_values", "target_weights"):
            values = np.array(forest.pop(name)) + 1e-12
            forest[name + "_as_tensor"] = numpy_helper.from_array(values, name)
        self.compare("TreeEnsembleRegressor", [self.rows(50, 4, np.float64)], version=3, n_targets=1, **forest)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Strings(unittest.TestCase):
    """Strings, and maps from and to them."""

    def model(self, op, inputs, outputs=1, version=1, domain=DOMAIN, **attributes):
        node = helper.make_node(op, [value.name for value in inputs], [f"y{i}" for i in range(outputs)], name="it",
                                domain=domain, **attributes)
        graph = helper.make_graph([node], "g", inputs, [ValueInfoProto(name=f"y{i}") for i in range(outputs)])
        imports = [helper.make_opsetid(DOMAIN, version), helper.make_opsetid("", 18),
                   helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()

    def compare(self, op, x, outputs=1, **more):
        kind = TensorProto.STRING if x.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(x.dtype)
        data = self.model(op, [helper.make_tensor_value_info("x", kind, [None] * x.ndim)], outputs, **more)
        self.check(data, x, op)

    def check(self, data, x, text):
        expected = reference_of(data).run(None, {"x": x})
        if isinstance(x, dict):
            x = {key: np.float32(value) if isinstance(value, float) else value for key, value in x.items()}
        for mine, wanted in zip(library.Model(data).run([x]), expected, strict=True):
            if isinstance(wanted, list):
                self.assertEqual(mine, wanted, text)
            elif wanted.dtype.kind == "f":
                np.testing.assert_allclose(mine, wanted, 1e-5, 1e-6, err_msg=text)
            else:
                self.assertEqual((mine.shape, mine.tolist()), (wanted.shape, wanted.tolist()), text)

    def test_encoders(self):
        words, numbers = np.array([["a", "bb", ""], ["\u00e4", "a", "c"]], object), np.array([3, 0, 2, 9])
        self.compare("LabelEncoder", words, version=1, classes_strings=["bb", "a", ""])
        self.compare("LabelEncoder", numbers, version=1, classes_strings=["bb", "a", "", "z"])
        self.compare("LabelEncoder", words, version=2, keys_strings=["a", "", "\u00e4"], values_floats=[1.0, 2.0, 3.0])
        self.compare("LabelEncoder", words, version=2, keys_strings=["a", "c"], values_strings=["c", "a"],
                     default_string="?")
        self.compare("LabelEncoder", numbers, version=2, keys_int64s=[2, 3], values_strings=["two", "three"])
        self.compare("CategoryMapper", words, cats_strings=["a", "\u00e4", ""], cats_int64s=[7, 5, 9], default_int64=-3)
        self.compare("CategoryMapper", numbers, cats_strings=["a", "b", "c"], cats_int64s=[3, 2, 1],
                     default_string="none")
        self.compare("OneHotEncoder", words, cats_strings=["a", "bb", "c"])
        infos = [helper.make_tensor_value_info("x", TensorProto.STRING, [2, 3]),
                 helper.make_tensor_value_info("at", TensorProto.INT64, [2])]
        chosen = library.Model(self.model("ArrayFeatureExtractor", infos)).run([words, np.array([2, 0])])[0]
        self.assertEqual(chosen.tolist(), words[:, [2, 0]].tolist())

    def test_labels_of_classifiers(self):
        x = np.random.default_rng(4).standard_normal((20, 2)).astype(np.float32)
        names = ["red", "green", "blue"]
        self.compare("LinearClassifier", x, 2, coefficients=[1.0, 2.0, -1.0, 0.5, 0.0, -2.0], intercepts=[0.1, 0.2, 0.3],
                     classlabels_strings=names)
        self.compare("SVMClassifier", x, 2, kernel_type="RBF", kernel_params=[0.5, 0.0, 0.0], rho=[0.1, 0.2, -0.1],
                     support_vectors=[1.0, 0.0, 0.0, 1.0, -1.0, -1.0], coefficients=[1.0, -1.0, 0.5, 1.0, -0.5, -1.0],
                     vectors_per_class=[1, 1, 1], classlabels_strings=names)
        forest = Forest(np.random.default_rng(5), 5, 3, 2, 3, ["BRANCH_LEQ"], single=False).attributes("class")
        self.compare("TreeEnsembleClassifier", x, 2, version=3, classlabels_strings=names, **forest)

    def test_zip_map(self):
        for x in (np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([1, 2]), np.zeros((0, 2), np.float32)):
            self.compare("ZipMap", x, classlabels_strings=["a", "b"])
            self.compare("ZipMap", x, classlabels_int64s=[7, -3])

    def check_map(self, op, x, key, value, **attributes):
        info = helper.make_value_info("x", map_type(key, value))
        self.check(self.model(op, [info], **attributes), x, op)

    def know_map(self, op, x, expected, key=7, value=8, **attributes):
        """Maps (mostly from integers to strings) that Python cannot give to ONNX Runtime."""
        info = helper.make_value_info("x", map_type(key, value))
        self.assertEqual(library.Model(self.model(op, [info], **attributes)).run([x])[0].tolist(), [expected])

    def test_dict_vectorizer(self):
        text, number, real = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT
        for x in ({"a": 1.0, "zz": 2.0, "c": 3.5}, {"c": 4.0}):
            self.check_map("DictVectorizer", x, text, real, string_vocabulary=["c", "b", "a"])
        self.know_map("DictVectorizer", {"a": 1, "c": 3}, [3, 0, 1], text, number, string_vocabulary=["c", "b", "a"])
        self.check_map("DictVectorizer", {5: 1.0, 7: 3.0}, number, real, int64_vocabulary=[7, 6, 5])
        self.know_map("DictVectorizer", {5: "x", 7: "y"}, ["y", "", "x"], int64_vocabulary=[7, 6, 5])

    def test_maps_to_elements_below_a_byte(self):
        for kind in (TensorProto.INT4, TensorProto.UINT2, TensorProto.FLOAT4E2M1):
            info = helper.make_value_info("x", map_type(TensorProto.INT64, kind))
            model = library.Model(self.model("DictVectorizer", [info], int64_vocabulary=[7, 6, 5]))
            values = np.ones(3, helper.tensor_dtype_to_np_dtype(kind))
            with self.assertRaisesRegex(library.Failure, "are not supported$"):
                model.run([dict(zip((7, 6, 5), values))])

    def test_cast_map(self):
        number, real = TensorProto.INT64, TensorProto.FLOAT
        for form in (dict(map_form="DENSE"), dict(map_form="SPARSE", max_map=9)):
            self.check_map("CastMap", {7: 1.5, 3: -2.5}, number, real, **form)
            self.check_map("CastMap", {7: 1.5, 3: -2.5}, number, real, cast_to="TO_INT64", **form)
        self.know_map("CastMap", {7: "11", 3: "-4.5"}, [-4.5, 11.0])
        self.know_map("CastMap", {7: "x", 3: "y"}, ["y", "x"], cast_to="TO_STRING")
        self.know_map("CastMap", {2: "x", 0: "y"}, ["y", "", "x", ""], cast_to="TO_STRING", map_form="SPARSE",
                      max_map=4)

    def test_tokenizer(self):
        words = np.array(["a cat, a dog", "", "x-ray  \u00e4pfel", "..."], object)
        for attributes in (dict(tokenexp="[a-z]+"), dict(tokenexp="."), dict(tokenexp="[a-z]+-?[a-z]*"),
                           dict(separators=[" "]), dict(separators=[""]), dict(separators=[", ", " "])):
            for mark, least in ((0, 1), (1, 1), (0, 2)):
                if least > 1 and attributes in (dict(separators=[""]), dict(tokenexp=".")):
                    continue
                for x in (words, words.reshape(2, 2)):
                    self.compare("Tokenizer", x, domain="com.microsoft", mark=mark, mincharnum=least, pad_value="#",
                                 **attributes)

    def test_tokens_of_fewer_characters_than_none(self):
        words = np.array(["a cat", "x"], object)
        info = [helper.make_tensor_value_info("x", TensorProto.STRING, [2])]
        for way in (dict(separators=[" "]), dict(separators=[""]), dict(tokenexp="[a-z]+")):
            results = [library.Model(self.model("Tokenizer", info, domain="com.microsoft", mark=0, pad_value="#",
                                                mincharnum=least, **way)).run([words])[0].tolist()
                       for least in (0, -1, -2**63)]
            self.assertEqual(results[1:], results[:1] * 2)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Mistakes(unittest.TestCase):
    """Trees that are none are refused when the model is loaded, with one line that names the node."""

    GOOD = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0],
                nodes_values=[0.5, 0.0, 0.0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0],
                target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[0.2, 0.7], n_targets=1)

    def load(self, op="TreeEnsembleRegressor", columns=1, **changes):
        x = np.zeros((1, columns), np.float32)
        data = model_of(op, [x], 1, 3, (self.GOOD if op == "TreeEnsembleRegressor" else {}) | changes)
        return library.Model(data).run([x])

    def refused(self, words, **changes):
        with self.assertRaises(library.Failure) as caught:
            self.load(**changes)
        text = str(caught.exception)
        self.assertIn("node 'it'", text)
        self.assertNotIn("\n", text)
        for word in words:
            self.assertIn(word, text)

    def test_trees(self):
        self.load()
        self.refused(["child 7"], nodes_truenodeids=[7, 0, 0])
        self.refused(["cycle"], nodes_truenodeids=[0, 0, 0])
        self.refused(["cycle"], nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_truenodeids=[1, 1, 0])
        self.refused(["defined twice"], nodes_nodeids=[0, 1, 1])
        self.refused(["feature -1"], nodes_featureids=[-1, 0, 0])
        self.refused(["feature 5", "[1, 1]"], nodes_featureids=[5, 0, 0])
        self.refused(["feature 4611686018427387904"], nodes_featureids=[1 << 62, 0, 0])
        self.refused(["nodes_values", "2 elements", "needs 3"], nodes_values=[0.5, 0.0])
        self.refused(["nodes_modes", "BRANCH_X"], nodes_modes=["BRANCH_X", "LEAF", "LEAF"])
        self.refused(["target 3"], target_ids=[0, 3])
        self.refused(["node 9"], target_nodeids=[1, 9])
        self.refused(["targets"], n_targets=1 << 30)
        self.refused(["aggregate_function", "MEDIAN"], aggregate_function="MEDIAN")
        self.refused(["base_values", "2 elements"], base_values=[0.5, 0.5])
        self.refused(["post_transform"], post_transform="TANH")

    def test_lists(self):
        self.refused(["coefficients", "3 elements, needs 2"], op="LinearRegressor", columns=2, coefficients=[1.0] * 3)
        self.refused(["support_vectors", "1 elements for 2 vectors"], op="SVMRegressor", columns=2, n_supports=2,
                     coefficients=[1.0] * 2, rho=[0.0], support_vectors=[1.0], kernel_type="RBF")
        self.refused(["kernel_type", "COSINE"], op="SVMRegressor", columns=1, n_supports=1, coefficients=[1.0],
                     rho=[0.0], support_vectors=[1.0], kernel_type="COSINE")
        self.refused(["scale", "3 elements for 2 features"], op="Scaler", columns=2, offset=[1.0], scale=[1.0] * 3)
        self.refused(["norm", "L3"], op="Normalizer", norm="L3")
        self.refused(["one of 'cats_strings' and 'cats_int64s'"], op="OneHotEncoder")
        self.refused(["2 keys for 1 values"], op="LabelEncoder", keys_floats=[1.0, 2.0], values_int64s=[1])


if __name__ == "__main__":
    unittest.main()
