# SPDX-License-Identifier: Apache-2.0
"""Models beside it in the folder, quantised by ONNX Runtime's tools."""

import pathlib

import numpy as np
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)


class Images(CalibrationDataReader):
    """Two random images, which calibrate."""

    def __init__(self):
        random = np.random.default_rng(0)
        self.left = [{"input": random.random((1, 3, 224, 224), np.float32)} for _ in range(2)]

    def get_next(self):
        return self.left.pop() if self.left else None


def build_static(path, name, form, per_channel):
    quantize_static(str(pathlib.Path(path).parent / f"{name}.onnx"), path, Images(), quant_format=QuantFormat[form],
                    per_channel=per_channel, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def build_dynamic(path, name):
    quantize_dynamic(str(pathlib.Path(path).parent / f"{name}.onnx"), path, per_channel=False,
                     weight_type=QuantType.QInt8)
