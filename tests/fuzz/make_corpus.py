# SPDX-License-Identifier: Apache-2.0
"""Writes the seed files of the fuzzers: small files that reach the branches of each reader."""

import json

import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

CORPUS = pathlib.Path(__file__).parent / "corpus"
DICTIONARY = (pathlib.Path(__file__).parent / "model.dict").read_text()
F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, shape, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, data):
    return numpy_helper.from_array(np.asarray(data), name)


def f32(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def write(target, name, data):
    (CORPUS / target).mkdir(exist_ok=True)
    (CORPUS / target / name).write_bytes(data)


def save(name, nodes, inputs, outputs=("y",), initializers=(), opset=21, ml=False):
    graph = helper.make_graph(nodes, name, list(inputs), [value(o, None) for o in outputs], list(initializers))
    imports = [helper.make_opsetid("", opset)]
    if ml:
        imports += [helper.make_opsetid(ML, 3), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    write("model", f"{name}.onnx", model.SerializeToString())


X = value("x", ["batch", 4])
IMAGE = value("x", ["n", 3, 8, 8])


def branch(op):
    return helper.make_graph([node(op, ["x"], ["r"])], "branch", [], [value("r", None)])


SEQUENCE = value("x", [3, 2, 4])
BODY = helper.make_graph([node("Add", ["state", "x"], ["next"]), node("Identity", ["on"], ["again"])], "body",
                         [value("i", [], I64), value("on", [], BOOL), value("state", ["batch", 4])],
                         [value("again", [], BOOL), value("next", None)])

save("chain", [node("Mul", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["b"]), node("Where", ["c", "a", "b"], ["y"])],
     [X], initializers=[constant("w", f32(4)), constant("c", np.array([True, False, True, False]))])
save("shapes", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]), node("Concat", ["n", "m"], ["t"], axis=0),
                node("Reshape", ["x", "t"], ["y"])], [X], initializers=[constant("zero", np.array([0])), constant("m", np.array([2, -1]))])
save("cnn", [node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["c"], ["r"]),
             node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", ["p"], ["g"]),
             node("Flatten", ["g"], ["f"]), node("Gemm", ["f", "k"], ["y"], transB=1)],
     [IMAGE], initializers=[constant("w", f32(5, 3, 3, 3)), constant("b", f32(5)), constant("k", f32(2, 5))])
save("norm", [node("LayerNormalization", ["x", "s"], ["a"]), node("Softmax", ["a"], ["b"], axis=-1),
              node("ReduceMean", ["b", "axes"], ["y"], keepdims=0)], [X],
     initializers=[constant("s", f32(4)), constant("axes", np.array([1]))])
save("slices", [node("Slice", ["x", "a", "b", "c", "d"], ["s"]), node("Split", ["s"], ["p", "q"], axis=1, num_outputs=2),
                node("Pad", ["p", "pads"], ["t"]), node("Transpose", ["t"], ["u"], perm=[1, 0]), node("Tile", ["u", "r"], ["y"])],
     [X], outputs=("y", "q"), initializers=[constant("a", np.array([0])), constant("b", np.array([4])), constant("c", np.array([1])),
                                            constant("d", np.array([1])), constant("pads", np.array([0, 1, 0, 1])), constant("r", np.array([1, 2]))])
save("branches", [node("If", ["c"], ["y"], then_branch=branch("Relu"), else_branch=branch("Neg"))], [X, value("c", [], BOOL)])
save("loop", [node("Loop", ["trips", "go", "x"], ["y"], body=BODY)], [X],
     initializers=[constant("trips", np.array(3)), constant("go", np.array(True))])
save("lstm", [node("LSTM", ["x", "w", "r"], ["all", "y"], hidden_size=2)], [SEQUENCE], outputs=("y", "all"),
     initializers=[constant("w", f32(1, 8, 4)), constant("r", f32(1, 8, 2))])
save("lookup", [node("Gather", ["w", "i"], ["g"]), node("TopK", ["g", "k"], ["y", "at"]), node("NonZero", ["g"], ["z"])],
     [value("i", ["n"], I64)], outputs=("y", "at", "z"), initializers=[constant("w", f32(5, 4)), constant("k", np.array([2]))])
save("resize", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], [IMAGE],
     initializers=[constant("s", np.array([1, 1, 2, 2], dtype=np.float32))])
save("fold", [node("ConstantOfShape", ["s"], ["c"]), node("Expand", ["c", "t"], ["e"]), node("Range", ["i", "j", "k"], ["q"]),
              node("Cast", ["q"], ["f"], to=F32), node("Add", ["e", "f"], ["g"]), node("Add", ["x", "g"], ["y"])], [X],
     initializers=[constant("s", np.array([1, 4])), constant("t", np.array([2, 4])), constant("i", np.array(0)), constant("j", np.array(4)),
                   constant("k", np.array(1))])
save("old", [node("Squeeze", ["x"], ["a"], axes=[0]), node("Softmax", ["a"], ["b"], axis=0), node("Slice", ["b"], ["y"], starts=[0], ends=[2])],
     [value("x", [1, 4])], opset=9)

# Trained models: features of several kinds, a forest, support vectors, labels, a map.
ML = "ai.onnx.ml"
FOREST = dict(nodes_treeids=[0, 0, 0, 1], nodes_nodeids=[0, 1, 2, 0], nodes_featureids=[3, 0, 0, 0], nodes_values=[0.5, 0.0, 0.0, 0.0],
              nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0, 0], nodes_falsenodeids=[2, 0, 0, 0],
              class_treeids=[0, 0, 1], class_nodeids=[1, 2, 0], class_ids=[0, 1, 2], class_weights=[0.2, 0.7, 0.1])
save("pipeline", [node("Imputer", ["x"], ["a"], domain=ML, imputed_value_floats=[1.0], replaced_value_float=float("nan")),
                  node("Scaler", ["a"], ["b"], domain=ML, offset=[1.0], scale=[2.0]),
                  node("LabelEncoder", ["t"], ["i"], domain=ML, keys_strings=["a", "b"], values_int64s=[3, 5]),
                  node("OneHotEncoder", ["i"], ["o"], domain=ML, cats_int64s=[3, 5]),
                  node("FeatureVectorizer", ["b", "o"], ["f"], domain=ML, inputdimensions=[4, 2]),
                  node("Normalizer", ["f"], ["n"], domain=ML, norm="L2"),
                  node("TreeEnsembleClassifier", ["n"], ["y", "p"], domain=ML, classlabels_strings=["u", "v", "w"], **FOREST),
                  node("ZipMap", ["p"], ["z"], domain=ML, classlabels_strings=["u", "v", "w"])],
     [value("x", [1, 4]), value("t", [1], TensorProto.STRING)], outputs=("y", "p"), ml=True)
save("supports", [node("SVMClassifier", ["x"], ["y", "p"], domain=ML, kernel_type="RBF", kernel_params=[0.5, 0.0, 0.0], rho=[0.1],
                       support_vectors=[1.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0, 2.0], coefficients=[1.0, -1.0], vectors_per_class=[1, 1],
                       classlabels_ints=[1, 2], prob_a=[-1.5], prob_b=[0.1]),
                  node("Tokenizer", ["t"], ["k"], domain="com.microsoft", tokenexp="[a-z]+|.", mark=1, mincharnum=1, pad_value="#")],
     [X, value("t", ["n"], TensorProto.STRING)], outputs=("y", "p", "k"), ml=True)

# Models of ONNX's own tests, for operators that the files above do not have.
NODE_TESTS = ["attention_4d_with_past_and_present_qk_matmul", "convtranspose_3d", "dequantizelinear_blocked", "dft_inverse",
              "einsum_batch_matmul", "gridsample_bicubic", "group_normalization_epsilon_expanded", "if_seq", "loop13_seq",
              "optional_get_element_optional_sequence", "qlinearconv", "regex_full_match_basic", "rotary_embedding", "scan_sum",
              "sequence_insert_at_front", "split_to_sequence_1", "string_split_basic", "strnormalizer_export_monday_casesensintive_lower",
              "tfidfvectorizer_tf_batch_uniandbigrams_skip5", "ai_onnx_ml_tree_ensemble_single_tree", "unique_sorted_with_axis"]
for case in load_model_tests(kind="node"):
    if case.name.removeprefix("test_") in NODE_TESTS:
        write("model", f"{case.name.removeprefix('test_')[:24]}.onnx", case.model.SerializeToString())


def external(name, contents, weights=None, **entries):
    """Size of the model, the model, the file beside it."""
    weight = TensorProto(name="w", data_type=F32, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, text in entries.items():
        weight.external_data.add(key=key, value=str(text))
    graph = helper.make_graph([node("Add", ["x", "w"], ["y"])], name, [X], [value("y", None)], [weight, *(weights or [])])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    write("external", f"{name}.bin", len(data).to_bytes(2, "little") + data + contents)


WEIGHTS = f32(4).tobytes()
external("plain", WEIGHTS, location="weights.bin")
external("offset", bytes(5) + WEIGHTS, location="weights.bin", offset=5, length=16)
external("checksum", WEIGHTS, location="sub/weights.bin", checksum="0" * 40)
external("above", WEIGHTS, location="../weights.bin")
external("link", WEIGHTS, location="link.bin")
external("hard_link", WEIGHTS, location="hard.bin")
external("pipe", WEIGHTS, location="pipe.bin")
external("socket", WEIGHTS, location="socket.bin")
external("device", WEIGHTS, location="zero.bin")
external("folder", WEIGHTS, location="sub")
external("linked_folder", WEIGHTS, location="etc/passwd")
external("short", WEIGHTS[:7], location="weights.bin")
external("negative", WEIGHTS, location="weights.bin", offset=-1)


def npy(name, array, expected=82, header=None):
    """The dtype that the reader expects, then a file of numpy's."""
    descr = {"descr": array.dtype.str, "fortran_order": array.flags.f_contiguous and array.ndim > 1, "shape": array.shape}
    text = (repr(descr) if header is None else header).encode() + b"\n"
    write("npy", f"{name}.bin", bytes([expected]) + b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
          + array.tobytes("A"))


npy("matrix", f32(2, 3))
npy("columns", np.asfortranarray(f32(3, 2)))
npy("scalar", np.array(1.5))
npy("integers", np.arange(5, dtype=np.int64))
npy("empty", np.zeros((0, 3), np.int8))
npy("half", np.zeros(3, np.float16))
npy("raw", np.zeros(3, "V2"), 80)
npy("big_endian", np.zeros(3, ">f4"))
npy("many", f32(1, 1, 1, 1, 2))
npy("strings", np.array([["a", "\x1b[2J"], ["", "\u202eword"]]), 0)
npy("huge", f32(2), header="{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }")


def safetensors(name, tensors, extra=b"", **metadata):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, array in tensors.items():
        names = {"float32": "F32", "int64": "I64", "bool": "BOOL", "float16": "F16", "uint8": "U8"}
        header[key] = {"dtype": names[array.dtype.name], "shape": list(array.shape),
                       "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    write("safetensors", f"{name}.safetensors", len(text).to_bytes(8, "little") + text + data + extra)


safetensors("two", {"a": f32(2, 2), "b": np.arange(3)}, format="pt")
safetensors("weights", {"a": f32(2, 2), "x": f32(2), "b": np.arange(2)})
safetensors("scalar", {"x": np.float32(1).reshape(())})
safetensors("empty", {})
safetensors("nothing", {"x": np.zeros((0, 4), np.float32)})
safetensors("half", {"x": np.zeros(3, np.float16), "y": np.ones(2, bool), "z": np.zeros(5, np.uint8)})
safetensors("trailing", {"x": f32(2)}, b"more")

OPERATORS = [line.strip('"') for line in DICTIONARY.splitlines() if line[:1] == '"' and line[1].isupper()]
ATTRIBUTES = [line.strip('"') for line in DICTIONARY.splitlines() if line[:1] == '"' and line[1].islower()]


def new_input(dtype=0, *shape):
    """Steps of fuzz_graph. A size n is the byte n + 2; a dynamic one has a name. The input's name goes with its type."""
    dims = b"".join(bytes([size + 2] if size >= 0 else [1, 1]) for size in shape)
    return bytes([0, 0, dtype % 4, dtype, len(shape) + 1]) + dims


def new_node(op, *values, outputs=1):
    return bytes([6, 0, OPERATORS.index(op), len(values), outputs, *values, 99])


def number_attribute(name, number):
    return bytes([2, ATTRIBUTES.index(name), 0, number + 2])


def list_attribute(name, *numbers):
    return bytes([2, ATTRIBUTES.index(name), 6, len(numbers), *(number + 2 for number in numbers)])


def int64_constant(*numbers):
    return bytes([1, 0, 1, 1, len(numbers), *(number + 2 for number in numbers)])


def program(name, *steps):
    write("graph", f"{name}.bin", b"".join(steps))


def output(number):
    return bytes([4, 0, number, 1])


RUN = bytes([5, 0])
program("relu", new_input(0, -1, 3), new_node("Relu", 0), output(1), RUN)
program("add", new_input(0, 2, 3), bytes([1, 0, 0, 2, 2, 3]), new_node("Add", 0, 1), output(2), RUN)
program("softmax", new_input(0, 2, 3), number_attribute("axis", 1), new_node("Softmax", 0), output(1), RUN)
program("matmul", new_input(0, -1, 4), bytes([1, 0, 0, 2, 4, 3]), new_node("MatMul", 0, 1), new_node("Sigmoid", 2), output(3), RUN)
program("reshape", new_input(0, 2, 6), int64_constant(3, -1), new_node("Reshape", 0, 1), output(2), RUN)
program("transpose", new_input(0, 2, 3), list_attribute("perm", 1, 0), new_node("Transpose", 0), output(1), RUN)
program("pool", new_input(0, 1, 2, 4, 4), list_attribute("kernel_shape", 2, 2), list_attribute("strides", 2, 2),
        new_node("MaxPool", 0), output(1), RUN)
program("reduce", new_input(0, 2, 3), int64_constant(1), number_attribute("keepdims", 0), new_node("ReduceSum", 0, 1), output(2), RUN)
program("shape", new_input(0, -1, 4), new_node("Shape", 0), new_node("Gather", 1, 1), new_node("Expand", 0, 1), output(3), RUN)
program("topk", new_input(0, 2, 4), int64_constant(2), new_node("TopK", 0, 1, outputs=2), output(2), output(3), RUN)
program("branch", new_input(2), new_input(0, 4), bytes([3, 0]), bytes([3, 0]), bytes([6, 1, OPERATORS.index("Relu"), 1, 1, 1, 99]),
        bytes([6, 2, OPERATORS.index("Neg"), 1, 1, 1, 99]), bytes([4, 1, 2, 1, 4, 2, 3, 1]),
        bytes([2, ATTRIBUTES.index("then_branch"), 4, 1, 2, ATTRIBUTES.index("else_branch"), 4, 2]), new_node("If", 0), output(4), RUN)
