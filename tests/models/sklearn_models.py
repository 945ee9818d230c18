# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's estimators and pipelines as skl2onnx converts them: with and without ZipMap, numbers and strings, rows
of several counts."""

import warnings

import numpy as np
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn import (calibration, cluster, compose, cross_decomposition, decomposition, discriminant_analysis, ensemble,
                     feature_extraction, feature_selection, gaussian_process, impute, linear_model, mixture, multiclass,
                     multioutput, naive_bayes, neighbors, neural_network, pipeline, preprocessing, random_projection, svm, tree)

import suite

warnings.filterwarnings("ignore")
ROWS = (1, 7, 40)  # of the sets of inputs
TRAINED = 150


class Data:
    """Problems with three classes, two, names of classes, one and two numbers; columns with holes and counts."""

    def __init__(self):
        random = np.random.default_rng(0)
        count = TRAINED + sum(ROWS)
        self.x = random.standard_normal((count, 6)).astype(np.float32)
        self.three = (self.x[:, 0] + self.x[:, 1] > 0).astype(int) + (self.x[:, 2] > 0.5)
        self.two = (self.x[:, 0] * self.x[:, 1] > 0).astype(int)
        self.named = np.array(["red", "green", "blue"])[self.three]
        self.real = (self.x[:, 0] * 2 - self.x[:, 3] + 0.1 * random.standard_normal(count)).astype(np.float32)
        self.positive = np.exp(self.real / 4)
        self.pairs = np.stack([self.real, -self.real], 1)
        self.labels = np.stack([self.two, self.x[:, 4] > 0], 1).astype(int)
        self.holes = np.where(random.random(self.x.shape) < 0.1, np.nan, self.x).astype(np.float32)
        self.counts = random.integers(0, 6, self.x.shape).astype(np.float32)
        self.whole = random.integers(0, 4, self.x.shape)
        self.words = np.array(["ant", "bee", "cat", "dog"], object)[random.integers(0, 4, (count, 2))]
        vocabulary = np.array(["the", "quick", "fox", "jumps", "over", "The", "lazy", "dog", "and", "sleeps", "12", "Fox_1"])
        self.texts = np.array([" ".join(vocabulary[random.integers(0, 12, random.integers(1, 9))]) for _ in range(count)], object)


D = Data()
STEPS = pipeline.make_pipeline
LOGISTIC, SCALER = linear_model.LogisticRegression, preprocessing.StandardScaler
FOREST = ensemble.RandomForestClassifier

CLASSIFIERS = {
    "logistic": (STEPS(SCALER(), LOGISTIC()), D.x, D.three),
    "logistic_two": (STEPS(preprocessing.MinMaxScaler(), LOGISTIC()), D.x, D.two),
    "logistic_names": (LOGISTIC(), D.x, D.named),
    "forest": (FOREST(20, max_depth=5, random_state=0), D.x, D.three),
    "forest_two": (FOREST(20, max_depth=5, random_state=0), D.x, D.two),
    "forest_names": (FOREST(10, max_depth=5, random_state=0), D.x, D.named),
    "forest_labels": (FOREST(10, max_depth=5, random_state=0), D.x, D.labels),
    "extra_trees": (ensemble.ExtraTreesClassifier(11, max_depth=5, random_state=0), D.x, D.three),
    "gradient_boosting": (ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0), D.x, D.three),
    "gradient_boosting_two": (ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0), D.x, D.two),
    "ada_boost": (ensemble.AdaBoostClassifier(n_estimators=5, random_state=0), D.x, D.three),
    "bagging": (ensemble.BaggingClassifier(n_estimators=3, random_state=0), D.x, D.three),
    "voting": (ensemble.VotingClassifier([("a", LOGISTIC()), ("b", naive_bayes.GaussianNB())], voting="soft",
        flatten_transform=False), D.x, D.three),
    "voting_hard": (ensemble.VotingClassifier([("a", LOGISTIC()), ("b", naive_bayes.GaussianNB()),
        ("c", tree.DecisionTreeClassifier(max_depth=3, random_state=0))], flatten_transform=False), D.x, D.three),
    "stacking": (ensemble.StackingClassifier([("a", LOGISTIC()), ("b", naive_bayes.GaussianNB())]), D.x, D.three),
    "decision_tree": (tree.DecisionTreeClassifier(max_depth=5, random_state=0), D.x, D.three),
    "svc": (svm.SVC(), D.x, D.three),
    "svc_probability": (calibration.CalibratedClassifierCV(svm.SVC(), ensemble=False), D.x, D.three),
    "svc_two": (svm.SVC(kernel="poly"), D.x, D.two),
    "svc_linear_names": (svm.SVC(kernel="linear"), D.x, D.named),
    "nu_svc": (svm.NuSVC(kernel="sigmoid", nu=0.1), D.x, D.three),
    "linear_svc": (svm.LinearSVC(random_state=0), D.x, D.three),
    "nearest": (neighbors.KNeighborsClassifier(5, weights="distance"), D.x, D.three),
    "nearest_manhattan": (neighbors.KNeighborsClassifier(3, metric="manhattan"), D.x, D.two),
    "gaussian_bayes": (naive_bayes.GaussianNB(), D.x, D.three),
    "bernoulli_bayes": (naive_bayes.BernoulliNB(), D.x, D.three),
    "multinomial_bayes": (naive_bayes.MultinomialNB(), D.counts, D.three),
    "complement_bayes": (naive_bayes.ComplementNB(), D.counts, D.three),
    "perceptron": (neural_network.MLPClassifier((10,), max_iter=50, random_state=0), D.x, D.three),
    "ridge_classifier": (linear_model.RidgeClassifier(), D.x, D.three),
    "gradient_descent": (linear_model.SGDClassifier(loss="log_loss", random_state=0), D.x, D.three),
    "passive": (linear_model.Perceptron(random_state=0), D.x, D.three),
    "discriminants": (discriminant_analysis.LinearDiscriminantAnalysis(), D.x, D.three),
    "quadratic_discriminants": (discriminant_analysis.QuadraticDiscriminantAnalysis(), D.x, D.three),
    "one_against_rest": (multiclass.OneVsRestClassifier(LOGISTIC()), D.x, D.three),
    "one_against_one": (multiclass.OneVsOneClassifier(LOGISTIC()), D.x, D.three),
    "several_labels": (multioutput.MultiOutputClassifier(LOGISTIC()), D.x, D.labels),
    "calibrated": (calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0)), D.x, D.three),
    "calibrated_isotonic": (calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), method="isotonic"), D.x, D.two),
    "pca_logistic": (STEPS(decomposition.PCA(3), LOGISTIC()), D.x, D.three),
    "chosen_features": (STEPS(feature_selection.SelectKBest(k=3), LOGISTIC()), D.x, D.three),
    "imputer_forest": (STEPS(impute.SimpleImputer(strategy="median"), FOREST(10, max_depth=4, random_state=0)), D.holes, D.two),
    "imputer_indicator": (STEPS(impute.SimpleImputer(add_indicator=False, strategy="constant", fill_value=-1), LOGISTIC()), D.holes,
        D.two),
    "columns_forest": (STEPS(compose.ColumnTransformer([
        ("scaled", SCALER(), [0, 1]), ("filled", STEPS(impute.SimpleImputer(), preprocessing.RobustScaler()), [2, 3]),
        ("same", "passthrough", [5])]), FOREST(10, max_depth=4, random_state=0)), D.x, D.two),
}

REGRESSORS = {
    "least_squares": (linear_model.LinearRegression(), D.x, D.real),
    "ridge_pairs": (linear_model.Ridge(), D.x, D.pairs),
    "lasso": (linear_model.Lasso(0.1), D.x, D.real),
    "elastic_net": (linear_model.ElasticNet(0.1), D.x, D.real),
    "huber": (linear_model.HuberRegressor(), D.x, D.real),
    "bayesian_ridge": (linear_model.BayesianRidge(), D.x, D.real),
    "poisson": (linear_model.PoissonRegressor(), D.x, D.positive),
    "gamma": (linear_model.GammaRegressor(), D.x, D.positive),
    "forest_regression": (ensemble.RandomForestRegressor(20, max_depth=5, random_state=0), D.x, D.real),
    "forest_pairs": (ensemble.RandomForestRegressor(5, max_depth=5, random_state=0), D.x, D.pairs),
    "boosted_regression": (ensemble.GradientBoostingRegressor(n_estimators=10, random_state=0), D.x, D.real),
    "ada_regression": (ensemble.AdaBoostRegressor(n_estimators=5, random_state=0), D.x, D.real),
    "bagged_regression": (ensemble.BaggingRegressor(n_estimators=3, random_state=0), D.x, D.real),
    "voting_regression": (ensemble.VotingRegressor([("a", linear_model.LinearRegression()),
        ("b", tree.DecisionTreeRegressor(max_depth=3))]), D.x, D.real),
    "regression_tree": (tree.DecisionTreeRegressor(max_depth=6, random_state=0), D.x, D.real),
    "svr": (svm.SVR(), D.x, D.real),
    "linear_svr": (svm.LinearSVR(random_state=0), D.x, D.real),
    "nearest_values": (neighbors.KNeighborsRegressor(3), D.x, D.real),
    "radius_values": (neighbors.RadiusNeighborsRegressor(8.0), D.x, D.real),
    "perceptron_regression": (neural_network.MLPRegressor(hidden_layer_sizes=(10,), max_iter=50, random_state=0), D.x, D.real),
    "gaussian_process": (gaussian_process.GaussianProcessRegressor(alpha=10.0), D.x, D.real),
    "partial_least_squares": (cross_decomposition.PLSRegression(2), D.x, D.real),
    "polynomials": (STEPS(preprocessing.PolynomialFeatures(2), linear_model.Ridge()), D.x, D.real),
    "several_numbers": (multioutput.MultiOutputRegressor(linear_model.Ridge()), D.x, D.pairs),
    "theil_sen": (linear_model.TheilSenRegressor(random_state=0), D.x, D.real),
    "ransac": (linear_model.RANSACRegressor(random_state=0), D.x, D.real),
}

TRANSFORMERS = {
    "isolation_forest": (ensemble.IsolationForest(random_state=0, n_estimators=10), D.x, None),
    "one_class": (svm.OneClassSVM(), D.x, None),
    "local_outliers": (neighbors.LocalOutlierFactor(novelty=True), D.x, None),
    "k_means": (cluster.KMeans(3, random_state=0, n_init=3), D.x, None),
    "mini_batch_k_means": (cluster.MiniBatchKMeans(3, random_state=0, n_init=3), D.x, None),
    "mixture": (mixture.GaussianMixture(3, random_state=0), D.x, None),
    "bayesian_mixture": (mixture.BayesianGaussianMixture(n_components=2, random_state=0), D.x, None),
    "pca": (decomposition.PCA(3, whiten=True), D.x, None),
    "kernel_pca": (decomposition.KernelPCA(2, kernel="rbf"), D.x, None),
    "truncated_svd": (decomposition.TruncatedSVD(2, random_state=0), D.x, None),
    "incremental_pca": (decomposition.IncrementalPCA(3), D.x, None),
    "random_projection": (random_projection.GaussianRandomProjection(3, random_state=0), D.x, None),
    "normalizer": (STEPS(preprocessing.Normalizer(), preprocessing.Binarizer()), D.x, None),
    "max_scaler": (preprocessing.MaxAbsScaler(), D.x, None),
    "quantiles": (preprocessing.QuantileTransformer(n_quantiles=20), D.x, None),
    "power": (preprocessing.PowerTransformer(), D.x, None),
    "power_positive": (preprocessing.PowerTransformer("box-cox"), D.counts + 1, None),
    "bins": (preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), D.x, None),
    "bins_ordinal": (preprocessing.KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), D.x, None),
    "nearest_imputer": (impute.KNNImputer(), D.holes, None),
    "polynomial_features": (preprocessing.PolynomialFeatures(3, interaction_only=True), D.x, None),
    "identity": (preprocessing.FunctionTransformer(), D.counts, None),
    "variance": (feature_selection.VarianceThreshold(0.1), D.x, None),
    "union": (pipeline.make_union(decomposition.PCA(2), SCALER()), D.x, None),
}

OTHER_TYPES = {
    "one_hot_words": (preprocessing.OneHotEncoder(sparse_output=False), D.words, None),
    "one_hot_unknown": (preprocessing.OneHotEncoder(handle_unknown="ignore", categories=[["ant", "bee"], ["cat"]],
        sparse_output=False), D.words, None),
    "ordinal_words": (preprocessing.OrdinalEncoder(), D.words, None),
    "ordinal_whole": (preprocessing.OrdinalEncoder(), D.whole, None),
    "one_hot_whole": (preprocessing.OneHotEncoder(sparse_output=False), D.whole, None),
    "target_encoder": (preprocessing.TargetEncoder(random_state=0), D.words, D.two),
    "word_imputer": (impute.SimpleImputer(strategy="most_frequent", missing_values=""), D.words, None),
    "logistic_doubles": (STEPS(SCALER(), LOGISTIC()), D.x.astype(np.float64), D.three),
    "counts_of_words": (feature_extraction.text.CountVectorizer(), D.texts, None),
    "pairs_of_words": (feature_extraction.text.CountVectorizer(ngram_range=(1, 2)), D.texts, None),
    "letters": (feature_extraction.text.CountVectorizer(analyzer="char", ngram_range=(1, 2)), D.texts, None),
    "weights_of_words": (feature_extraction.text.TfidfVectorizer(), D.texts, None),
    "weights_sublinear": (feature_extraction.text.TfidfVectorizer(sublinear_tf=True, norm="l1"), D.texts, None),
    "texts_logistic": (STEPS(feature_extraction.text.TfidfVectorizer(), LOGISTIC()), D.texts, D.two),
    "words_forest": (STEPS(preprocessing.OneHotEncoder(sparse_output=False), FOREST(5, max_depth=4, random_state=0)), D.words,
        D.named),
}
TYPES = {"f": FloatTensorType, "i": Int64TensorType, "O": StringTensorType}


def type_of(x):
    if x.dtype == np.float64:
        return DoubleTensorType
    return TYPES[x.dtype.kind]


def input_sets(x):
    """Rows that the model has not seen."""
    first = TRAINED
    for count in ROWS:
        yield {"X": x[first:first + count]}
        first += count


def options_of(model, zipmap):
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    has_maps = hasattr(last, "predict_proba") and hasattr(last, "classes_") and not isinstance(last,
        multioutput.MultiOutputClassifier)
    return {id(last): {"zipmap": zipmap}} if has_maps else {}


def case(model, x, y, zipmap=False, opset=None):
    """ZipMap: False, "columns", or True as the converter has it unless told."""
    x = x[:, None] if x.ndim == 1 else x
    given = x[:, 0] if x.dtype.kind == "O" and x.shape[1] == 1 else x
    model.fit(given[:TRAINED]) if y is None else model.fit(given[:TRAINED], y[:TRAINED])
    options = options_of(model, zipmap)
    proto = skl2onnx.convert_sklearn(model, initial_types=[("X", type_of(x)([None, x.shape[1]]))], options=options,
                                     target_opset=opset or {"": 21, "ai.onnx.ml": 3})
    return suite.Case(proto, list(input_sets(x)))


def mixed():
    """Columns with names and of several types, each a separate input."""
    model = STEPS(compose.ColumnTransformer([
        ("numbers", STEPS(impute.SimpleImputer(), SCALER()), ["a", "b"]),
        ("words", preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["kind"])]), LOGISTIC())
    import pandas
    frame = pandas.DataFrame({"a": D.holes[:, 0], "b": D.x[:, 1], "kind": D.words[:, 0]})
    model.fit(frame[:TRAINED], D.named[:TRAINED])
    types = [("a", FloatTensorType([None, 1])), ("b", FloatTensorType([None, 1])), ("kind", StringTensorType([None, 1]))]
    proto = skl2onnx.convert_sklearn(model, initial_types=types, target_opset={"": 18, "ai.onnx.ml": 3})
    sets = [{"a": D.holes[k:k + n, :1], "b": D.x[k:k + n, 1:2], "kind": D.words[k:k + n, :1]} for k, n in ((150, 1), (151, 9))]
    return suite.Case(proto, sets)


def models():
    for name, row in {**CLASSIFIERS, **REGRESSORS, **TRANSFORMERS, **OTHER_TYPES}.items():
        yield name, lambda r=row: case(*r)
    for name in ("logistic", "forest_names", "svc_probability"):
        yield f"{name}_maps", lambda r=CLASSIFIERS[name]: case(*r, True)
    for name in ("logistic", "forest_names"):
        yield f"{name}_columns", lambda r=CLASSIFIERS[name]: case(*r, "columns")
    for name in ("logistic", "forest", "svc", "columns_forest"):
        yield f"{name}_opset_11", lambda r=CLASSIFIERS[name]: case(*r, False, {"": 11, "ai.onnx.ml": 1})
    yield "mixed_columns", mixed
