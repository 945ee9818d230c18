# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus of fuzz_compiled with the built library: small models of operators that the compiler fuses."""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "onnx"))
from weights import FileModel, model_of  # noqa: E402

random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape, np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(","), outputs.split(","), **attributes)


def write(name, nodes, inputs, outputs, tensors):
    target = FOLDER / "corpus/compiled" / f"{name}.maxc"
    target.parent.mkdir(parents=True, exist_ok=True)
    FileModel(model_of(nodes, inputs, outputs, tensors)).save(target)


write("conv", [node("Conv", "x,w", "a", pads=[1, 1, 1, 1]), node("BatchNormalization", "a,s,b,m,v", "n"),
               node("Relu", "n", "r"), node("Conv", "r,d", "e", group=4, pads=[1, 1, 1, 1]), node("Add", "e,r", "t"),
               node("Flatten", "t", "f"), node("Gemm", "f,g,h", "y", transB=1)],
      [("x", ["n", 3, 4, 4])], [("y", None)],
      {"w": floats(4, 3, 3, 3), "s": floats(4), "b": floats(4), "m": floats(4), "v": floats(4) ** 2, "d": floats(4, 1, 3, 3),
       "g": floats(5, 64), "h": floats(5)})

write("attention",
      [node("MatMul", "x,wq", "q"), node("Reshape", "q,s4", "q4"), node("Transpose", "q4", "qt", perm=[0, 2, 1, 3]),
       node("MatMul", "x,wk", "k"), node("Reshape", "k,s4", "k4"), node("Transpose", "k4", "kt", perm=[0, 2, 3, 1]),
       node("Reshape", "x,s4", "v4"), node("Transpose", "v4", "vt", perm=[0, 2, 1, 3]), node("MatMul", "qt,kt", "a"),
       node("Mul", "a,half", "as"), node("Softmax", "as", "p", axis=-1), node("MatMul", "p,vt", "o"),
       node("Transpose", "o", "ot", perm=[0, 2, 1, 3]), node("Reshape", "ot,s3", "o3"), node("Add", "x,o3", "r"),
       node("LayerNormalization", "r,g,b", "n"), node("MatMul", "n,w1", "h"), node("Add", "h,b1", "hb"),
       node("Gelu", "hb", "y")],
      [("x", ["b", "s", 8])], [("y", None)],
      {"wq": floats(8, 8), "wk": floats(8, 8), "half": np.float32(0.5), "s4": np.array([0, 0, 2, 4]),
       "s3": np.array([0, 0, 8]), "g": floats(8), "b": floats(8), "w1": floats(8, 6), "b1": floats(6)})

write("recurrent", [node("LSTM", "x,w,r", ",h,c", hidden_size=4), node("GRU", "x,wg,rg", "y", hidden_size=4)],
      [("x", ["t", 1, 3])], [("h", None), ("c", None), ("y", None)],
      {"w": floats(1, 16, 3), "r": floats(1, 16, 4), "wg": floats(1, 12, 3), "rg": floats(1, 12, 4)})

write("shapes", [node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Resize", "p,,scales", "z", mode="linear"),
                 node("Slice", "z,one,three,one", "l"), node("Concat", "l,l", "j", axis=1), node("ReduceMean", "j,axes", "m", keepdims=0),
                 node("TopK", "m,one", "t,i"), node("Gather", "table,i", "y"), node("HardSwish", "m", "w"), node("Shape", "w", "s"),
                 node("Cast", "s", "o", to=1)],
      [("x", [1, 4, 4, 4])], [("y", None), ("o", None)],
      {"scales": np.array([1, 1, 2, 2], np.float32), "one": np.array([1]), "three": np.array([3]), "axes": np.array([2, 3]),
       "table": floats(8, 3)})

branches = [helper.make_graph([node(op, "x,c", f"{op}_r")], op, [],
                              [helper.make_tensor_value_info(f"{op}_r", TensorProto.FLOAT, None)]) for op in ("Mul", "Sub")]
write("branches", [node("ReduceSum", "x", "s", keepdims=0), node("Less", "s,zero", "p"),
                   helper.make_node("If", ["p"], ["y"], then_branch=branches[0], else_branch=branches[1])],
      [("x", ["n", 2])], [("y", None)], {"c": floats(2), "zero": np.float32(0)})
