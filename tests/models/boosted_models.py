# SPDX-License-Identifier: Apache-2.0
"""LightGBM, XGBoost and CatBoost through onnxmltools and CatBoost's own exporter."""

import tempfile
import pathlib

import catboost
import lightgbm
import numpy as np
import onnx
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

import suite

TRAINED, ROWS = 200, (1, 7, 40)


class Data:
    def __init__(self):
        random = np.random.default_rng(1)
        count = TRAINED + sum(ROWS)
        self.x = random.standard_normal((count, 5)).astype(np.float32)
        self.two = (self.x[:, 0] * self.x[:, 1] > 0).astype(int)
        self.three = (self.x[:, 0] + self.x[:, 1] > 0).astype(int) + (self.x[:, 2] > 0.5)
        self.real = self.x[:, 0] * 2 - self.x[:, 3] ** 2
        self.counts = random.poisson(np.exp(self.x[:, 0] / 2))
        self.holes = np.where(random.random(self.x.shape) < 0.1, np.nan, self.x).astype(np.float32)
        self.kinds = self.x.copy()
        self.kinds[:, 4] = random.integers(0, 6, count)
        self.rank = random.integers(0, 3, count)


D = Data()
LEAVES = {"n_estimators": 12, "num_leaves": 8, "verbose": -1, "random_state": 0, "n_jobs": 1, "deterministic": True}
TREES = {"n_estimators": 12, "max_depth": 4, "random_state": 0, "n_jobs": 1}
CATS = {"iterations": 12, "depth": 4, "random_seed": 0, "verbose": False, "thread_count": 1, "allow_writing_files": False}


def input_sets(x, name):
    first = TRAINED
    for count in ROWS:
        yield {name: x[first:first + count]}
        first += count


def light(model, x, y, zipmap=False, **fitting):
    model.fit(x[:TRAINED], y[:TRAINED], **fitting)
    proto = onnxmltools.convert_lightgbm(model, initial_types=[("input", FloatTensorType([None, x.shape[1]]))], zipmap=zipmap,
        target_opset=15)
    return suite.Case(proto, list(input_sets(x, "input")))


def extreme(model, x, y):
    model.fit(x[:TRAINED], y[:TRAINED])
    proto = onnxmltools.convert_xgboost(model, initial_types=[("input", FloatTensorType([None, x.shape[1]]))], target_opset=15)
    return suite.Case(proto, list(input_sets(x, "input")))


def cat(model, x, y):
    model.fit(x[:TRAINED], y[:TRAINED])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        model.save_model(str(path), format="onnx")
        proto = onnx.load(path)
    return suite.Case(proto, list(input_sets(x, proto.graph.input[0].name)))


L, X, C = lightgbm, xgboost, catboost
MODELS = {
    "light_two": lambda: light(L.LGBMClassifier(**LEAVES), D.x, D.two),
    "light_three": lambda: light(L.LGBMClassifier(**LEAVES), D.x, D.three),
    "light_three_maps": lambda: light(L.LGBMClassifier(**LEAVES), D.x, D.three, True),
    "light_names": lambda: light(L.LGBMClassifier(**LEAVES), D.x, np.array(["a", "b", "c"])[D.three]),
    "light_regression": lambda: light(L.LGBMRegressor(**LEAVES), D.x, D.real),
    "light_poisson": lambda: light(L.LGBMRegressor(objective="poisson", **LEAVES), D.x, D.counts),
    "light_quantile": lambda: light(L.LGBMRegressor(objective="quantile", alpha=0.7, **LEAVES), D.x, D.real),
    "light_holes": lambda: light(L.LGBMClassifier(**LEAVES), D.holes, D.two),
    "light_zeros_missing": lambda: light(L.LGBMRegressor(zero_as_missing=True, **LEAVES), np.where(D.holes > 1, 0, D.x), D.real),
    "light_categories": lambda: light(L.LGBMClassifier(**LEAVES), D.kinds, D.two, categorical_feature=[4]),
    "light_random_forest": lambda: light(L.LGBMRegressor(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7, **LEAVES), D.x,
        D.real),
    "light_dart": lambda: light(L.LGBMClassifier(boosting_type="dart", **LEAVES), D.x, D.two),
    "extreme_two": lambda: extreme(X.XGBClassifier(**TREES), D.x, D.two),
    "extreme_three": lambda: extreme(X.XGBClassifier(**TREES), D.x, D.three),
    "extreme_regression": lambda: extreme(X.XGBRegressor(**TREES), D.x, D.real),
    "extreme_poisson": lambda: extreme(X.XGBRegressor(objective="count:poisson", **TREES), D.x, D.counts),
    "extreme_logistic": lambda: extreme(X.XGBRegressor(objective="reg:logistic", **TREES), D.x, D.two),
    "extreme_holes": lambda: extreme(X.XGBRegressor(**TREES), D.holes, D.real),
    "extreme_forest": lambda: extreme(X.XGBRFClassifier(**TREES), D.x, D.two),
    "cat_two": lambda: cat(C.CatBoostClassifier(**CATS), D.x, D.two),
    "cat_three": lambda: cat(C.CatBoostClassifier(**CATS), D.x, D.three),
    "cat_names": lambda: cat(C.CatBoostClassifier(**CATS), D.x, np.array(["a", "b", "c"])[D.three]),
    "cat_regression": lambda: cat(C.CatBoostRegressor(**CATS), D.x, D.real),
    "cat_holes": lambda: cat(C.CatBoostRegressor(nan_mode="Min", **CATS), D.holes, D.real),
}


def models():
    yield from MODELS.items()
