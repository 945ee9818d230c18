# SPDX-License-Identifier: Apache-2.0
"""scikit-learn models and pipelines, converted by skl2onnx: compared with scikit-learn itself and with ONNX Runtime.

`test_sklearn.py NAME` shows the operators of one model and how far the results are apart."""

import collections
import sys
import unittest
import warnings

try:
    import numpy as np
    import onnxruntime
    import library
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType, StringTensorType
        from sklearn import (calibration, cluster, compose, decomposition, discriminant_analysis, ensemble,
                             feature_extraction, feature_selection, gaussian_process, impute, linear_model, mixture, multiclass,
                             naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree)
except ImportError:
    skl2onnx = None
    library = None

CLASSIFIER_OPTIONS = {"zipmap": False}


class Data:
    """A problem with three classes, one with two, a regression; columns with holes."""

    def __init__(self):
        random = np.random.default_rng(0)
        self.x = random.standard_normal((150, 6)).astype(np.float32)
        self.three = (self.x[:, 0] + self.x[:, 1] > 0).astype(int) + (self.x[:, 2] > 0.5)
        self.two = (self.x[:, 0] * self.x[:, 1] > 0).astype(int)
        self.named = np.array(["red", "green", "blue"])[self.three]
        self.real = (self.x[:, 0] * 2 - self.x[:, 3] + 0.1 * random.standard_normal(150)).astype(np.float32)
        self.pairs = np.stack([self.real, -self.real], 1)
        self.holes = np.where(random.random(self.x.shape) < 0.1, np.nan, self.x).astype(np.float32)


def steps(*parts):
    return pipeline.make_pipeline(*parts)


def models():
    """name: (model, features, target), all of them small."""
    d = Data()
    scaled = preprocessing.StandardScaler
    logistic = linear_model.LogisticRegression
    forest = ensemble.RandomForestClassifier
    return {
        "scaler and logistic": (steps(scaled(), logistic()), d.x, d.three),
        "logistic of two": (steps(preprocessing.MinMaxScaler(), logistic()), d.x, d.two),
        "logistic of names": (logistic(), d.x, d.named),
        "random forest": (forest(20, random_state=0), d.x, d.three),
        "random forest of two": (forest(20, random_state=0), d.x, d.two),
        "random forest of names": (forest(20, random_state=0), d.x, d.named),
        "forest regression": (ensemble.RandomForestRegressor(20, random_state=0), d.x, d.real),
        "forest of pairs": (ensemble.RandomForestRegressor(5, random_state=0), d.x, d.pairs),
        "extra trees": (ensemble.ExtraTreesClassifier(10, random_state=0), d.x, d.three),
        "gradient boosting": (ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0), d.x, d.three),
        "gradient boosting of two": (ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0), d.x, d.two),
        "boosted regression": (ensemble.GradientBoostingRegressor(n_estimators=10, random_state=0), d.x, d.real),
        "ada boost": (ensemble.AdaBoostClassifier(n_estimators=5, random_state=0), d.x, d.three),
        "bagging": (ensemble.BaggingClassifier(n_estimators=3, random_state=0), d.x, d.three),
        "isolation forest": (ensemble.IsolationForest(random_state=0, n_estimators=10), d.x, None),
        "decision tree": (tree.DecisionTreeClassifier(random_state=0), d.x, d.three),
        "regression tree": (tree.DecisionTreeRegressor(random_state=0), d.x, d.real),
        "svc": (svm.SVC(), d.x, d.three),
        "svc of two": (svm.SVC(kernel="poly"), d.x, d.two),
        "nu svc": (svm.NuSVC(kernel="sigmoid", nu=0.1), d.x, d.three),
        "svr": (svm.SVR(), d.x, d.real),
        "linear svc": (svm.LinearSVC(), d.x, d.three),
        "one class": (svm.OneClassSVM(), d.x, None),
        "nearest neighbours": (neighbors.KNeighborsClassifier(5), d.x, d.three),
        "nearest values": (neighbors.KNeighborsRegressor(3), d.x, d.real),
        "gaussian bayes": (naive_bayes.GaussianNB(), d.x, d.three),
        "bernoulli bayes": (naive_bayes.BernoulliNB(), d.x, d.three),
        "multinomial bayes": (naive_bayes.MultinomialNB(), np.abs(d.x), d.three),
        "perceptron": (neural_network.MLPClassifier((10,), max_iter=50, random_state=0), d.x, d.three),
        "perceptron regression": (neural_network.MLPRegressor(hidden_layer_sizes=(10,), max_iter=50, random_state=0), d.x, d.real),
        "pca": (steps(decomposition.PCA(3), logistic()), d.x, d.three),
        "truncated svd": (decomposition.TruncatedSVD(2, random_state=0), d.x, None),
        "k-means": (cluster.KMeans(3, random_state=0, n_init=3), d.x, None),
        "mixture": (mixture.GaussianMixture(3, random_state=0), d.x, None),
        "least squares": (linear_model.LinearRegression(), d.x, d.real),
        "ridge of pairs": (linear_model.Ridge(), d.x, d.pairs),
        "ridge classifier": (linear_model.RidgeClassifier(), d.x, d.three),
        "gradient descent": (linear_model.SGDClassifier(loss="log_loss", random_state=0), d.x, d.three),
        "discriminants": (discriminant_analysis.LinearDiscriminantAnalysis(), d.x, d.three),
        "quadratic discriminants": (discriminant_analysis.QuadraticDiscriminantAnalysis(), d.x, d.three),
        "gaussian process": (gaussian_process.GaussianProcessRegressor(alpha=1.0), d.x, d.real),
        "one against rest": (multiclass.OneVsRestClassifier(logistic()), d.x, d.three),
        "one against one": (multiclass.OneVsOneClassifier(logistic()), d.x, d.three),
        "calibration": (calibration.CalibratedClassifierCV(svm.LinearSVC()), d.x, d.three),
        "stacking": (ensemble.StackingClassifier([("a", logistic()), ("b", naive_bayes.GaussianNB())]), d.x, d.three),
        "normalizer": (steps(preprocessing.Normalizer(), preprocessing.Binarizer()), d.x, None),
        "polynomials": (steps(preprocessing.PolynomialFeatures(2), linear_model.Ridge()), d.x, d.real),
        "quantiles": (preprocessing.QuantileTransformer(n_quantiles=20), d.x, None),
        "power": (preprocessing.PowerTransformer(), d.x, None),
        "bins": (preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), d.x, None),
        "robust scaler": (preprocessing.RobustScaler(), d.x, None),
        "chosen features": (steps(feature_selection.SelectKBest(k=3), logistic()), d.x, d.three),
        "imputer": (steps(impute.SimpleImputer(), logistic()), d.holes, d.three),
        "nearest imputer": (impute.KNNImputer(), d.holes, None),
        "columns": (steps(compose.ColumnTransformer([
            ("scaled", preprocessing.StandardScaler(), [0, 1]),
            ("filled", steps(impute.SimpleImputer(), preprocessing.RobustScaler()), [2, 3]),
            ("same", "passthrough", [5])]), forest(10, random_state=0)), d.x, d.two),
    }


def converted(model, x, initial_types=None):
    options = {}
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "predict_proba") and hasattr(last, "classes_"):
        options = {id(last): CLASSIFIER_OPTIONS}
    opset = {"": 21, "ai.onnx.ml": 3}
    given = {"initial_types": initial_types} if initial_types else {"X": x[:1]}
    return skl2onnx.to_onnx(model, options=options, target_opset=opset, **given)


def expected_of(model, x, count):
    """What scikit-learn gives for the first outputs."""
    if hasattr(model, "predict"):
        first = model.predict(x)
        second = getattr(model, "predict_proba", None)
        return [first, second(x)] if second and count > 1 else [first]
    return [model.transform(x)]


def table(output):
    """ZipMap's list of maps as a matrix."""
    return np.array([list(row.values()) for row in output]) if isinstance(output, list) else np.asarray(output)


def difference(mine, wanted):
    """The share of rows that differ for labels, the worst difference for numbers."""
    mine, wanted = table(mine), table(wanted)
    if wanted.dtype.kind in "OUSi":
        return float(np.mean(mine.ravel().astype(wanted.dtype) != wanted.ravel()))
    mine = mine.reshape(wanted.shape).astype(np.float64)
    return float(np.max(np.abs(mine - wanted) / (1 + np.abs(wanted)))) if wanted.size else 0.0


Result = collections.namedtuple("Result", "proto outputs from_sklearn from_runtime")
TRAINED = 100  # rows; the others are new to the models


def run(model, x, y, feeds=None, initial_types=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x[:TRAINED]) if y is None else model.fit(x[:TRAINED], y[:TRAINED])
        x = x[TRAINED:]
        proto = converted(model, x, initial_types)
        data = proto.SerializeToString()
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        feeds = feeds or {session.get_inputs()[0].name: x}
        runtime = session.run(None, feeds)
        outputs = library.Model(data).run([feeds[value.name] for value in session.get_inputs()])
        sklearn = expected_of(model, x, len(outputs))
    return Result(proto, outputs, [difference(*pair) for pair in zip(outputs, sklearn)],
                  [difference(*pair) for pair in zip(outputs, runtime)])


@unittest.skipIf(skl2onnx is None, "needs scikit-learn, skl2onnx and onnxruntime")
class Models(unittest.TestCase):
    LABELS, NUMBERS = 0.02, 2e-3  # how far 32-bit floats may be from scikit-learn's 64-bit ones

    def check(self, name, result):
        for i, output in enumerate(result.outputs):
            bound = self.LABELS if table(output).dtype.kind in "OUSi" else self.NUMBERS
            if i < len(result.from_sklearn):
                self.assertLessEqual(result.from_sklearn[i], bound, f"{name}: output {i} and scikit-learn")
            # Where two classes are equally likely, ONNX Runtime's rounding decides.
            runtime_bound = 0.1 if bound == self.LABELS else bound
            self.assertLessEqual(result.from_runtime[i], runtime_bound, f"{name}: output {i} and ONNX Runtime")

    def test_models(self):
        for name, (model, x, y) in models().items():
            with self.subTest(name):
                self.check(name, run(model, x, y))


    def test_zip_maps(self):
        d = Data()
        for target in (d.three, d.named):
            model = ensemble.RandomForestClassifier(5, random_state=0).fit(d.x, target)
            data = skl2onnx.to_onnx(model, d.x[:1], target_opset={"": 21, "ai.onnx.ml": 3}).SerializeToString()
            session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
            mine, wanted = library.Model(data).run([d.x]), session.run(None, {"X": d.x})
            self.assertEqual(mine[0].tolist(), wanted[0].tolist())
            for row, other in zip(mine[1], wanted[1], strict=True):
                self.assertEqual(list(row), list(other))
                np.testing.assert_allclose(list(row.values()), list(other.values()), 1e-5, 1e-6)

    def check_feeds(self, name, model, fitted, feeds, types):
        """Pipelines with several inputs, of strings too; labels and probabilities against both."""
        options = {id(model.steps[-1][1]): CLASSIFIER_OPTIONS}
        proto = skl2onnx.to_onnx(model, initial_types=types, options=options,
                                 target_opset={"": 18, "ai.onnx.ml": 3})
        mine = library.Model(proto.SerializeToString()).run([feeds[value.name] for value in proto.graph.input])
        self.assertEqual(mine[0].tolist(), model.predict(fitted).tolist(), name)
        np.testing.assert_allclose(mine[1], model.predict_proba(fitted), 1e-3, 1e-4, err_msg=name)
        if any(node.op_type == "StringNormalizer" for node in proto.graph.node):
            return  # ONNX Runtime needs the system to have the locale en_US
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        wanted = session.run(None, feeds)
        self.assertEqual(mine[0].tolist(), wanted[0].tolist(), name)
        np.testing.assert_allclose(mine[1], wanted[1], 1e-4, 1e-5, err_msg=name)

    def test_columns_of_strings(self):
        d, random = Data(), np.random.default_rng(1)
        words = random.choice(["north", "south", "east", "w\u00e9st"], (150, 2)).astype(object)
        rows = np.concatenate([d.holes[:, :3].astype(object), words], 1)
        transformer = compose.ColumnTransformer([
            ("numbers", steps(impute.SimpleImputer(), preprocessing.StandardScaler()), [0, 1, 2]),
            ("words", preprocessing.OneHotEncoder(handle_unknown="ignore"), [3, 4])])
        model = steps(transformer, linear_model.LogisticRegression()).fit(rows[:TRAINED], d.named[:TRAINED])
        words[TRAINED + 3, 0] = rows[TRAINED + 3, 3] = "unseen"
        x = {"a": d.holes[TRAINED:, :1], "b": d.holes[TRAINED:, 1:2], "c": d.holes[TRAINED:, 2:3],
             "d": words[TRAINED:, :1], "e": words[TRAINED:, 1:]}
        types = [(name, StringTensorType([None, 1]) if name in "de" else FloatTensorType([None, 1])) for name in x]
        self.check_feeds("columns of strings", model, rows[TRAINED:], x, types)

    def test_texts(self):
        texts = np.array(["the cat sat on the mat", "dogs and cats are friends", "a red fox jumps over the lazy dog",
                          "no more cats", "I like dogs, foxes and birds!", "the bird sat, and sat"] * 3)
        target = np.array([0, 1, 2, 0, 1, 2] * 3)
        extraction = feature_extraction.text
        for name, vectorizer in {
            "words": extraction.TfidfVectorizer(token_pattern="[a-zA-Z]+"),
            "pairs": extraction.CountVectorizer(ngram_range=(1, 2), token_pattern="[a-zA-Z]+"),
            "characters": extraction.TfidfVectorizer(analyzer="char", ngram_range=(2, 3)),
        }.items():
            model = steps(vectorizer, linear_model.LogisticRegression()).fit(texts, target)
            self.check_feeds(name, model, texts, {"X": texts.astype(object)[:, None]},
                             [("X", StringTensorType([None, 1]))])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for shown, parts in models().items():
            if sys.argv[1] in shown:
                try:
                    got = run(*parts)
                    ops = collections.Counter(node.op_type for node in got.proto.graph.node)
                    print(shown, got.from_sklearn, got.from_runtime, dict(ops))
                except Exception as error:
                    print(shown, type(error).__name__, str(error)[:300])
    else:
        unittest.main()
