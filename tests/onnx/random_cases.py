# SPDX-License-Identifier: Apache-2.0
"""Node tests of random operators: what they give cannot be equal, but must be of the same distribution."""

import numpy as np

RUNS = 400


def is_random(case):
    return case.name.startswith(("test_bernoulli", "test_training_dropout"))


def problem(case, model, inputs, expected):
    """What is wrong with the outputs of a model with random operators; empty if nothing is."""
    outputs = model.run(inputs)
    for actual, wanted in zip(outputs, expected):
        if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
            return f"{actual.dtype}{list(actual.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if any(attribute.name == "seed" for node in case.model.graph.node for attribute in node.attribute):
        if not all(np.array_equal(a, b) for a, b in zip(outputs, model.run(inputs))):
            return "two runs with one seed differ"
    check = bernoulli if case.name.startswith("test_bernoulli") else dropout
    return check(case, model, inputs, outputs)


def bernoulli(case, model, inputs, outputs):
    probabilities = inputs[0].astype(np.float64)
    if any(node.op_type == "Greater" for node in case.model.graph.node):
        probabilities = 1 - probabilities  # the standard's expansion has it the wrong way round
    if not np.isin(outputs[0], (0, 1)).all():
        return f"values {np.unique(outputs[0])} instead of 0 and 1"
    if "seed" in case.name:
        deviation = np.sqrt(np.sum(probabilities * (1 - probabilities)))
        far = abs(outputs[0].astype(np.float64).sum() - probabilities.sum()) > 4 * deviation
        return f"{outputs[0]} for the probabilities {probabilities}" if far else ""
    mean = np.mean([model.run(inputs)[0].astype(np.float64) for _ in range(RUNS)], axis=0)
    deviation = np.sqrt(probabilities * (1 - probabilities) / RUNS)
    far = np.abs(mean - probabilities) > 5 * deviation + 1e-9
    return f"{mean[far]} instead of {probabilities[far]}" if far.any() else ""


def dropout(case, model, inputs, outputs):
    data, ratio = inputs[0], float(inputs[1]) if len(inputs) > 1 and inputs[1].dtype.kind == "f" else 0.5
    kept = outputs[1] if len(outputs) > 1 else outputs[0] != 0
    if not np.allclose(outputs[0], np.where(kept, data / (1 - ratio), 0), rtol=1e-5):
        return "elements that stay are not scaled by 1 / (1 - ratio)"
    deviation = np.sqrt(ratio * (1 - ratio) / data.size)
    return f"{kept.mean()} of the elements stay" if abs(kept.mean() - (1 - ratio)) > 5 * deviation + 1e-9 else ""
