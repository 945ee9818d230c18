# SPDX-License-Identifier: Apache-2.0
"""The layers of torch_modules.py in older versions of ONNX, which many published models have."""

import torch_export
import torch_modules as modules

TABLE = (modules.CONVOLUTIONS + modules.POOLING + modules.NORMS + modules.ACTIVATIONS + modules.RECURRENT + modules.ATTENTION +
         modules.SAMPLING + modules.INDEXING + modules.ARITHMETIC)
# Beginnings of the names that the exporter refuses in a version and those before, or whose output runs nowhere.
REFUSED_14 = (
    "grid_sample", "affine_grid", "fold", "scatter_reduce")
REFUSED_11 = REFUSED_14 + (
    "activation_celu", "attention", "attention_causal", "triu_tril", "repeat_interleave", "einsum", "einsum_many",
    "outer_cross", "kron_tensordot", "cross_entropy", "binary_entropy")
REFUSED_9 = REFUSED_11 + (
    "max_pool_ceil", "max_pool_dilated", "average_pool_ceil", "average_pool_ceil_wide", "average_pool_beyond",
    "resize_bilinear_aligned", "resize_bicubic", "resize_like", "unfold", "index_put", "index_put_add", "mask_select",
    "mask_scatter", "embedding_bag", "gather_sorted", "topk_smallest", "unique", "flip", "slices", "slice_assign", "cumsum",
    "negative_division", "float_division", "rounding", "comparisons", "determinant")
VERSIONS = {9: REFUSED_9, 11: REFUSED_11, 14: REFUSED_14}


def takes(row, refused):
    name, _, _, *rest = row
    return (not rest or rest == ["script"]) and not name.startswith(refused)


def models():
    for opset, refused in VERSIONS.items():
        yield from torch_export.cases([(*row[:3], "script", opset) for row in TABLE if takes(row, refused)])
