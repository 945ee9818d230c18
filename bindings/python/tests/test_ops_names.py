# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops has the names that programs use; each is documented, and called by a test beside this list."""

import inspect
import pathlib
import re

import pytest

from max.graph import ops

HERE = pathlib.Path(__file__).resolve().parent
NAMES = """
abs acos add argmax argmin argsort as_interleaved_complex atanh avg_pool2d band_part bottom_k broadcast_to cast ceil
chunk complex.mul concat constant conv2d conv2d_transpose conv3d conv3d_transpose cos cumsum dequantize div equal erf
exp flatten floor floor_div fold gather gather_nd gelu greater greater_equal group_norm hann_window irfft is_inf is_nan
layer_norm less less_equal log log1p logical_and logical_not logical_or logical_xor logsoftmax masked_scatter matmul
max max_pool2d mean min mod mul negate nonzero not_equal outer pad permute pow prod qmatmul random.gaussian
random.normal random.set_seed random.uniform range relu repeat_interleave reshape resize resize_bicubic resize_linear
resize_nearest rms_norm round rsqrt scatter scatter_add scatter_max scatter_min scatter_mul scatter_nd scatter_nd_add
scatter_nd_max scatter_nd_min scatter_nd_mul sigmoid silu sin slice_tensor softmax split sqrt squeeze stack sub sum tanh tile top_k
transpose trunc unsqueeze where
""".split()


def found(name):
    value = ops
    for part in name.split("."):
        value = getattr(value, part)
    return value


def public():
    """All functions, those of the submodules with their module's name."""
    names = [*ops.__all__]
    for module in (ops.complex, ops.random):
        names += [
            f"{module.__name__.rpartition('.')[2]}.{name}"
            for name in module.__all__
            if name != "as_interleaved_complex"
        ]
    return sorted(name for name in names if inspect.isfunction(found(name)))


def test_names_exist():
    assert not {*NAMES} - {*public()}
    assert len({*ops.__all__}) == len(ops.__all__) and all(hasattr(ops, name) for name in ops.__all__)


@pytest.mark.parametrize("name", public())
def test_name_is_tested_and_documented(name):
    tests = "".join(p.read_text() for p in HERE.glob("test_*.py") if p.name != pathlib.Path(__file__).name)
    assert re.search(rf"\bops\.{re.escape(name)}\b", tests), f"no test calls ops.{name}"
    function = found(name)
    assert function.__doc__ and function.__doc__.split("\n")[0].endswith((".", "`"))
    assert function.__name__ in (name.rpartition(".")[2], "gaussian")
    hints = inspect.get_annotations(function)
    assert {*inspect.signature(function).parameters} <= {*hints} and "return" in hints
