# SPDX-License-Identifier: Apache-2.0
"""A small builder of ONNX graphs in the form that PyTorch's exporter writes them."""

from collections import Counter

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class GraphBuilder:
    """Collects nodes and initialisers; every add_* method returns the name of a value."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.counts = Counter()

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, name, shape, dtype=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"/{name}/Identity"))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def weight(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def constant(self, values, dtype=np.int64):
        """A Constant node, as the exporter writes scalars and axes."""
        tensor = numpy_helper.from_array(np.asarray(values, dtype))
        return self.add("Constant", [], value=tensor)

    def add(self, operator, inputs, outputs=1, **attributes):
        index = self.counts[operator]
        self.counts[operator] += 1
        base = f"/{operator}_{index}"
        names = [f"{base}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=base, **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, name, in_channels, out_channels, kernel, stride=1, groups=1, gain=2.0, pad=None):
        """A convolution with its batch normalisation folded into weight and bias, as exported in eval mode."""
        fan_in = in_channels // groups * kernel * kernel
        shape = (out_channels, in_channels // groups, kernel, kernel)
        weight = self.random.standard_normal(shape, np.float32) * np.float32(np.sqrt(gain / fan_in))
        bias = self.random.standard_normal(out_channels, np.float32) * np.float32(0.05)
        pad = kernel // 2 if pad is None else pad
        return self.add("Conv", [x, self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)],
                        dilations=[1, 1], group=groups, kernel_shape=[kernel, kernel], pads=[pad] * 4,
                        strides=[stride, stride])

    def conv_transpose(self, x, name, in_channels, out_channels, kernel, stride):
        scale = np.float32(np.sqrt(2 / in_channels))
        weight = self.random.standard_normal((in_channels, out_channels, kernel, kernel), np.float32) * scale
        bias = self.random.standard_normal(out_channels, np.float32) * np.float32(0.05)
        return self.add("ConvTranspose", [x, self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)],
                        kernel_shape=[kernel, kernel], strides=[stride, stride])

    def linear_head(self, x, name, in_features, out_features):
        """Flatten and Gemm, the classifier of an image network."""
        flat = self.add("Flatten", [x], axis=1)
        weight = self.random.standard_normal((out_features, in_features), np.float32) * np.float32(0.02)
        return self.add("Gemm", [flat, self.weight(f"{name}.weight", weight),
                                 self.weight(f"{name}.bias", np.zeros(out_features, np.float32))],
                        alpha=1.0, beta=1.0, transB=1)

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8,
                                  producer_name="max-benchmarks")
        onnx.checker.check_model(model)
        onnx.save(model, path)
