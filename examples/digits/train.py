# SPDX-License-Identifier: Apache-2.0
"""Trains the network that `max demo` runs, and writes what the demo needs.

The data are the 1,797 images of 8x8 pixels that scikit-learn ships, the test part of
"Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak; UCI Machine Learning
Repository, CC BY 4.0). A fixed seed holds 500 of them out; the network never sees those.

    python examples/digits/train.py         (about a minute; NumPy, scikit-learn and onnx)

writes beside this file digits.onnx (the model), images.npy (500x8x8, values 0 to 16) and
labels.npy (500). Two 3x3 convolutions, a pooling, a third convolution and two dense layers,
trained by Adam on images that are shifted and scaled a little at random.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).resolve().parent
SEED, HELD_OUT, EPOCHS, BATCH, RATE = 20, 500, 60, 32, 2e-3
CHANNELS, HIDDEN, CLASSES = (16, 32, 32), 64, 10
DROPOUT = 0.25


def split_data():
    """(training images, labels), (held-out images, labels); images are N x 8 x 8 of 0..16."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    train, held_out = order[HELD_OUT:], order[:HELD_OUT]
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    return (images[train], labels[train]), (images[held_out], labels[held_out])


class Conv:
    """A 3x3 convolution with padding 1 on N x H x W x C arrays, then ReLU."""

    def __init__(self, random, in_channels, out_channels):
        scale = np.sqrt(2 / (9 * in_channels))
        self.weight = (random.standard_normal((9 * in_channels, out_channels)) * scale).astype(np.float32)
        self.bias = np.zeros(out_channels, np.float32)

    def forward(self, x, training):
        n, h, w, c = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        taps = [padded[:, i:i + h, j:j + w] for i in range(3) for j in range(3)]
        self.columns = np.concatenate(taps, axis=-1).reshape(-1, 9 * c)
        self.out = np.maximum(self.columns @ self.weight + self.bias, 0).reshape(n, h, w, -1)
        return self.out

    def backward(self, grad):
        n, h, w, m = grad.shape
        grad = (grad * (self.out > 0)).reshape(-1, m)
        self.grads = [self.columns.T @ grad, grad.sum(0)]
        taps = (grad @ self.weight.T).reshape(n, h, w, 3, 3, -1)
        padded = np.zeros((n, h + 2, w + 2, taps.shape[-1]), np.float32)
        for i in range(3):
            for j in range(3):
                padded[:, i:i + h, j:j + w] += taps[:, :, :, i, j]
        return padded[:, 1:-1, 1:-1]


class MaxPool:
    """2x2 pooling with stride 2."""

    def forward(self, x, training):
        n, h, w, c = x.shape
        self.blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
        self.best = self.blocks.max((2, 4), keepdims=True)
        return self.best[:, :, 0, :, 0]

    def backward(self, grad):
        n, h, _, w, _, c = self.blocks.shape
        spread = (self.blocks == self.best) * grad[:, :, None, :, None]
        return spread.reshape(n, h * 2, w * 2, c)


class Dense:
    """A dense layer on flattened input, with ReLU unless it is the last."""

    def __init__(self, random, in_features, out_features, last=False):
        scale = np.sqrt((1 if last else 2) / in_features)
        self.weight = (random.standard_normal((in_features, out_features)) * scale).astype(np.float32)
        self.bias = np.zeros(out_features, np.float32)
        self.last, self.random = last, random

    def forward(self, x, training):
        self.shape = x.shape
        self.x = x.reshape(len(x), -1)
        self.keep = np.float32(1)
        if training:
            self.keep = ((self.random.random(self.x.shape) > DROPOUT) / (1 - DROPOUT)).astype(np.float32)
        self.x = self.x * self.keep
        y = self.x @ self.weight + self.bias
        self.out = y if self.last else np.maximum(y, 0)
        return self.out

    def backward(self, grad):
        grad = grad if self.last else grad * (self.out > 0)
        self.grads = [self.x.T @ grad, grad.sum(0)]
        return ((grad @ self.weight.T) * self.keep).reshape(self.shape)


class Adam:
    def __init__(self, layers):
        self.layers = [layer for layer in layers if hasattr(layer, "weight")]
        self.moments = [[np.zeros_like(p), np.zeros_like(p)] for layer in self.layers for p in (layer.weight, layer.bias)]
        self.step_count = 0

    def step(self, rate):
        self.step_count += 1
        correction = np.sqrt(1 - 0.999 ** self.step_count) / (1 - 0.9 ** self.step_count)
        moments = iter(self.moments)
        for layer in self.layers:
            for value, grad in zip((layer.weight, layer.bias), layer.grads):
                first, second = next(moments)
                first += 0.1 * (grad - first)
                second += 0.001 * (grad * grad - second)
                value -= (rate * correction * first / (np.sqrt(second) + 1e-8)).astype(np.float32)


def make_network(random):
    a, b, c = CHANNELS
    return [Conv(random, 1, a), Conv(random, a, b), MaxPool(), Conv(random, b, c), MaxPool(),
            Dense(random, 4 * c, HIDDEN), Dense(random, HIDDEN, CLASSES, last=True)]


def forward(network, images, training=False):
    x = images.astype(np.float32)[..., None] / 16
    for layer in network:
        x = layer.forward(x, training)
    return x


def jitter(random, images):
    """Shifts each image by up to one pixel and changes its brightness a little."""
    padded = np.pad(images.astype(np.float32), ((0, 0), (1, 1), (1, 1)))
    rows, columns = random.integers(0, 3, (2, len(images)))
    moved = np.stack([image[r:r + 8, c:c + 8] for image, r, c in zip(padded, rows, columns)])
    return np.clip(moved * random.uniform(0.85, 1.15, (len(images), 1, 1)).astype(np.float32), 0, 16)


def train(images, labels):
    random = np.random.default_rng(SEED)
    network = make_network(random)
    adam = Adam(network)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            scores = forward(network, jitter(random, images[batch]), training=True)
            grad = np.exp(scores - scores.max(1, keepdims=True))
            grad /= grad.sum(1, keepdims=True)
            grad[np.arange(len(batch)), labels[batch]] -= 1
            grad /= len(batch)
            for layer in reversed(network):
                grad = layer.backward(grad)
            adam.step(rate)
    return network


def export(network, path):
    """The network as ONNX: images N x 1 x 8 x 8 of 0..16 to probabilities N x 10."""
    nodes, weights = [], []

    def weight(name, array):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(operator, inputs, output, **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    x = node("Div", ["image", weight("brightest", np.float32(16))], "scaled")
    channels, convs, denses = 1, 0, 0
    for layer in network:
        if isinstance(layer, Conv):
            convs += 1
            kernel = layer.weight.reshape(3, 3, channels, -1).transpose(3, 2, 0, 1)
            channels = len(kernel)
            x = node("Conv", [x, weight(f"conv{convs}.weight", kernel), weight(f"conv{convs}.bias", layer.bias)],
                     f"conv{convs}", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            x = node("Relu", [x], f"relu{convs}")
        elif isinstance(layer, MaxPool):
            x = node("MaxPool", [x], f"pool{convs}", kernel_shape=[2, 2], strides=[2, 2])
        else:
            denses += 1
            matrix = layer.weight
            if denses == 1:
                x = node("Flatten", [x], "flat", axis=1)
                matrix = matrix.reshape(2, 2, channels, -1).transpose(2, 0, 1, 3).reshape(matrix.shape)
            x = node("Gemm", [x, weight(f"dense{denses}.weight", matrix), weight(f"dense{denses}.bias", layer.bias)],
                     f"dense{denses}")
            if not layer.last:
                x = node("Relu", [x], f"relu{convs + denses}")
    node("Softmax", [x], "probabilities", axis=1)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    probabilities = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", CLASSES])
    graph = helper.make_graph(nodes, "digits", [image], [probabilities], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="examples/digits/train.py")
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    (images, labels), (held_out, truth) = split_data()
    network = train(images, labels)
    accuracy = np.mean(forward(network, held_out).argmax(1) == truth)
    print(f"trained on {len(images)} images; {accuracy:.1%} of {len(truth)} held-out images are right")
    export(network, FOLDER / "digits.onnx")
    np.save(FOLDER / "images.npy", held_out)
    np.save(FOLDER / "labels.npy", truth)


if __name__ == "__main__":
    main()
