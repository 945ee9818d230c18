# SPDX-License-Identifier: Apache-2.0
"""The single operators that are measured: what a program for oneDNN needs to know, and what bounds their time."""

from dataclasses import dataclass

import numpy as np

INPUTS = {"f32": np.float32, "bf16": np.float32, "int8": np.uint8}  # of MAX, whose products of bfloat16 take float32
BYTES = {"f32": 4, "bf16": 2, "int8": 1}


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    kind: str  # of onednn.cpp, and of models.py
    type: str  # of the product: f32, bf16 or int8
    sizes: tuple
    work: dict  # {limit of the machine: so many of its multiplications or bytes}; what takes longest bounds it, nothing = none
    shapes: tuple  # of the inputs
    parts: int = 1  # whose time is told in place of that of all of them
    own_work: dict | None = None  # of MAX, where it differs

    @property
    def file(self):
        return "_".join(map(str, (self.kind, self.type, *self.sizes))) + ".onnx"

    @property
    def precision(self):
        return "bf16" if self.type == "bf16" else "f32"

    def make_inputs(self, random):
        names = ("x", "y")[:len(self.shapes)]
        if self.type == "int8":
            return {name: random.integers(0, 256, shape, np.uint8) for name, shape in zip(names, self.shapes)}
        return {name: random.random(shape, np.float32) for name, shape in zip(names, self.shapes)}


def product(type, rows, depth, columns):
    return Case(f"{rows} x {depth} x {columns}", "product", "product", type, (rows, depth, columns),
                {type: rows * depth * columns}, ((rows, depth),))


def row_product(type, depth, columns):
    return Case(f"1 x {depth} x {columns}", "product of one row", "product", type, (1, depth, columns),
                {"read": depth * columns * BYTES[type]}, ((1, depth),))


def convolution(type, images, size, channels, filters, kernel, stride=1):
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1
    return Case(f"{images} x {size} x {size} x {channels} to {filters}, {kernel} x {kernel}, stride {stride}", "convolution",
                "convolution", type, (images, size, channels, filters, kernel, stride, 1),
                {type: images * out * out * filters * kernel * kernel * channels}, ((images, size, size, channels),))


def depthwise(type, images, size, channels, kernel):
    sizes = (images, size, channels, channels, kernel, 1, channels)
    elements = images * size * size * channels
    # No instruction multiplies bfloat16 without adding up pairs, of which a channel has none.
    rate = "f32" if type == "bf16" else type
    works = [{"copy": 2 * elements * size_of, rate: elements * kernel * kernel} for size_of in (BYTES[type], INPUTS[type]().nbytes)]
    return Case(f"{images} x {size} x {size} x {channels}, {kernel} x {kernel}", "depthwise convolution", "convolution",
                type, sizes, works[0], ((images, size, size, channels),), own_work=works[1])


def rows_of(name, kind, rows, columns):
    return Case(f"{rows} x {columns}", name, kind, "f32", (rows, columns), {"copy": 8 * rows * columns}, ((rows, columns),))


def small(name, kind, count, size, parts):
    return Case(f"{name} of a row of {size}", "tiny operators, each", kind, "f32", (count, size), {}, ((1, size),), parts)


CHAIN = 1 << 23

CASES = (
    *(product(type, *sizes) for type in ("f32", "bf16", "int8")
      for sizes in ((1024, 1024, 1024), (128, 768, 3072), (384, 3072, 768), (3136, 64, 256))),
    *(row_product(type, 6144, 6144) for type in ("f32", "bf16", "int8")),
    *(convolution(type, *sizes) for type in ("f32", "bf16", "int8")
      for sizes in ((1, 224, 3, 64, 7, 2), (1, 56, 64, 64, 3), (1, 14, 256, 256, 3), (1, 28, 128, 512, 1), (1, 56, 128, 128, 3, 2))),
    *(depthwise(type, *sizes) for type in ("f32", "bf16", "int8") for sizes in ((8, 112, 96, 3), (8, 56, 144, 5))),
    Case("relu(a x + b) y + x", "elementwise chain", "elementwise", "f32", (CHAIN,), {"join": 12 * CHAIN}, ((CHAIN,), (CHAIN,))),
    rows_of("layer norm", "layer_norm", 8192, 768),
    rows_of("softmax", "softmax", 8192, 1024),
    small("33 x (product, sum, tanh)", "layers", 33, 32, 99),
    small("100 products", "products", 100, 16, 100),
)
