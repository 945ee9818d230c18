# SPDX-License-Identifier: Apache-2.0
"""Small models in the forms that exporters and converters write (PyTorch's two, TensorFlow's and Keras's, those to
float16), against ONNX Runtime over several shapes. Each case is a function that gives a model and its calls."""

import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    import library
except ImportError:
    onnxruntime = None
else:
    FLOAT, HALF, INT64, INT32, BOOL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT32,
                                       TensorProto.BOOL)
    node, info = helper.make_node, helper.make_tensor_value_info
    onnxruntime.set_default_logger_severity(4)


def untyped(name):
    return helper.make_empty_tensor_value_info(name)


def tensor(name, value, dtype=None):
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def graph(nodes, inputs, outputs, constants=None, name="g", **more):
    tensors = [tensor(key, value) for key, value in (constants or {}).items()]
    return helper.make_graph(nodes, name, inputs, [untyped(o) if isinstance(o, str) else o for o in outputs], tensors,
                             **more)


def model(main, opset=17, functions=(), domains=(), ir_version=8):
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(main, opset_imports=opsets, ir_version=ir_version,
                             functions=list(functions)).SerializeToString()


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integer(value):
    return np.array(value, np.int64)


CASES = {}


def case(build):
    CASES[build.__name__] = build
    return build


def on_images(nodes, opset, constants=None, outputs=("y",), sizes=((1, 8, 8), (2, 5, 7)), channels=3):
    main = graph(nodes, [info("x", FLOAT, ["N", channels, "H", "W"])], outputs, constants)
    return model(main, opset), [{"x": random(n, channels, h, w)} for n, h, w in sizes]


def on_rows(nodes, opset, constants=None, outputs=("y",), sizes=((2, 4), (5, 4)), columns=4):
    main = graph(nodes, [info("x", FLOAT, ["N", columns])], outputs, constants)
    return model(main, opset), [{"x": random(*size)} for size in sizes]


# What a file says of its inputs, outputs and constants.


@case
def weights_that_are_inputs_too():
    """IR version 3: every initialiser is listed, used or not."""
    main = graph([node("Gemm", ["x", "w", "b"], ["y"])],
                 [info("x", FLOAT, ["n", 4]), info("w", FLOAT, [4, 2]), info("b", FLOAT, [2]), info("u", FLOAT, [7])],
                 ["y"], {"w": random(4, 2), "b": random(2), "u": random(7)})
    return model(main, 9, ir_version=3), [{"x": random(n, 4)} for n in (1, 3)]


@case
def weights_that_are_inputs_with_stale_shapes():
    main = graph([node("MatMul", ["x", "w"], ["y"])],
                 [info("x", FLOAT, ["n", 4]), info("w", FLOAT, [None, None])], ["y"], {"w": random(4, 2)})
    return model(main), [{"x": random(3, 4)}]


@case
def unused_values():
    main = graph([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["nobody"]), node("Shape", ["z"], ["s"])],
                 [info("x", FLOAT, ["n"]), info("z", FLOAT, ["k"])], ["y"], {"u": random(3)})
    return model(main), [{"x": random(2), "z": random(5)}]


@case
def outputs_that_are_inputs_and_constants():
    main = graph([node("Neg", ["x"], ["y"]), node("Constant", [], ["c"], value=tensor("", random(2)))],
                 [info("x", FLOAT, ["n"])], ["x", "w", "c", "y"], {"w": random(3)})
    return model(main), [{"x": random(2)}, {"x": random(5)}]


@case
def spectrum_of_a_signal_without_parts():
    """PyTorch's exporter gives STFT a signal of two axes."""
    main = graph([node("STFT", ["x", "step", "window", "length"], ["f"], onesided=1), node("Mul", ["f", "f"], ["y"])],
                 [info("x", FLOAT, ["n", "t"])], ["y"],
                 {"step": integer(4), "window": random(12), "length": integer(12)})
    return model(main), [{"x": random(1, 40)}, {"x": random(3, 25)}]


@case
def inputs_without_a_shape():
    main = graph([node("Softmax", ["x"], ["s"], axis=1), node("ReduceSum", ["s"], ["y"], keepdims=0)],
                 [info("x", FLOAT, None)], ["y", "s"])
    return model(main), [{"x": random(2, 3)}, {"x": random(2, 3, 4)}]


@case
def old_softmax_of_an_unknown_rank():
    main = graph([node("Softmax", ["x"], ["y"], axis=1), node("LogSoftmax", ["x"], ["z"])], [info("x", FLOAT, None)],
                 ["y", "z"])
    return model(main, 11), [{"x": random(2, 3)}, {"x": random(2, 3, 4)}]


@case
def no_description_but_names():
    main = graph([node("Relu", ["x"], ["a"]), node("Unsqueeze", ["a", "axes"], ["y"])], [info("x", FLOAT, ["n"])],
                 ["y"], {"axes": np.array([0])})
    return model(main), [{"x": random(3)}]


@case
def own_domain_by_its_full_name():
    main = graph([node("Add", ["x", "x"], ["a"], domain="ai.onnx"), node("Neg", ["a"], ["y"])],
                 [info("x", FLOAT, ["n"])], ["y"])
    opsets = [helper.make_opsetid("ai.onnx", 17), helper.make_opsetid("ai.onnx.ml", 3),
              helper.make_opsetid("com.example.unused", 7)]
    return helper.make_model(main, opset_imports=opsets, ir_version=8).SerializeToString(), [{"x": random(3)}]


@case
def own_domain_that_is_not_imported():
    """Its operators are the newest ones then; converters of classical models forget it."""
    main = graph([node("ArgMax", ["x"], ["a"], axis=1, keepdims=0), node("Scaler", ["x"], ["s"], domain="ai.onnx.ml",
                                                                         offset=[0.5], scale=[2.0]),
                  node("Softmax", ["s"], ["y"])], [info("x", FLOAT, ["n", 3])], ["y", "a"])
    opsets = [helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(main, opset_imports=opsets, ir_version=8).SerializeToString(), [{"x": random(2, 3)}]


@case
def typed_data_instead_of_bytes():
    half = TensorProto(name="h", data_type=HALF, dims=[2], int32_data=[0x3C00, 0xC000])
    flag = TensorProto(name="b", data_type=BOOL, dims=[2], int32_data=[1, 0])
    small = TensorProto(name="i", data_type=TensorProto.INT8, dims=[2], int32_data=[-3, 5])
    wide = TensorProto(name="l", data_type=INT64, dims=[], int64_data=[7])
    empty = TensorProto(name="e", data_type=FLOAT, dims=[0])
    main = graph([node("Cast", ["h"], ["hf"], to=FLOAT), node("Where", ["b", "x", "hf"], ["w"]),
                  node("Cast", ["i"], ["f"], to=FLOAT), node("Add", ["w", "f"], ["s"]),
                  node("Cast", ["l"], ["lf"], to=FLOAT), node("Mul", ["s", "lf"], ["m"]),
                  node("Concat", ["m", "e"], ["y"], axis=0)], [info("x", FLOAT, [2])], ["y"])
    main.initializer.extend([half, flag, small, wide, empty])
    return model(main), [{"x": random(2)}]


@case
def names_of_tensorflow():
    main = graph([node("Add", ["serving_default_x:0", "model/dense/b:0"], ["model/Relu:0"], name="model/Relu"),
                  node("Identity", ["model/Relu:0"], ["Identity:0"], name="Identity")],
                 [info("serving_default_x:0", FLOAT, ["unk__7", "unk__7"])],
                 [info("Identity:0", FLOAT, ["unk__8", "unk__9"])], {"model/dense/b:0": random(4)})
    return model(main), [{"serving_default_x:0": random(4, 4)}]


@case
def sparse_constants():
    values, indices = tensor("s", [1.5, -2], np.float32), tensor("i", [1, 4], np.int64)
    sparse = helper.make_sparse_tensor(values, indices, [3, 2])
    main = graph([node("MatMul", ["x", "c"], ["y"]), node("Constant", [], ["c"], sparse_value=sparse)],
                 [info("x", FLOAT, ["n", 3])], ["y"])
    return model(main), [{"x": random(2, 3)}]


@case
def optional_inputs_left_out():
    main = graph([node("Clip", ["x", "", "top"], ["a"]), node("Clip", ["a", "low", ""], ["b"]),
                  node("Resize", ["b", "", "", "sizes"], ["c"], mode="nearest"),
                  node("Pad", ["c", "pads", ""], ["y"], mode="reflect")],
                 [info("x", FLOAT, ["n", 1, 4, 4])], ["y"],
                 {"top": np.float32(0.5), "low": np.float32(-0.5), "sizes": np.array([2, 1, 3, 5]),
                  "pads": np.array([0, 0, 1, 0, 0, 0, 1, 2])})
    return model(main), [{"x": random(2, 1, 4, 4)}]


@case
def optional_outputs_left_out():
    main = graph([node("LSTM", ["x", "w", "r", "b", "", "", "", ""], ["", "h", ""], hidden_size=2),
                  node("TopK", ["h", "k"], ["top", "at"], axis=2), node("MaxPool", ["x"], ["p", ""], kernel_shape=[2])],
                 [info("x", FLOAT, ["t", "n", 3])], ["h", "at", "p"],
                 {"w": random(1, 8, 3), "r": random(1, 8, 2), "b": random(1, 16), "k": np.array([1])})
    return model(main), [{"x": random(4, 2, 3)}, {"x": random(1, 1, 3)}]


# Opsets of long ago.


@case
def image_network_of_opset_9():
    nodes = [node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
             node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], epsilon=1e-5, momentum=0.9),
             node("Clip", ["n"], ["r6"], min=0.0, max=6.0), node("Upsample", ["r6", "up"], ["u"], mode="nearest"),
             node("Pad", ["u"], ["p"], mode="constant", pads=[0, 0, 1, 1, 0, 0, 1, 1], value=0.25),
             node("AveragePool", ["p"], ["a"], kernel_shape=[2, 2], strides=[2, 2]),
             node("GlobalAveragePool", ["a"], ["g"]), node("Flatten", ["g"], ["f"]),
             node("Dropout", ["f"], ["d"], ratio=0.4), node("Gemm", ["d", "k", "kb"], ["l"], transB=1, alpha=1.0, beta=1.0),
             node("Softmax", ["l"], ["y"], axis=1)]
    return on_images(nodes, 9, {"w": random(4, 3, 3, 3), "s": random(4), "b": random(4), "m": random(4),
                                "v": np.abs(random(4)) + 0.5, "up": np.array([1, 1, 2, 2], np.float32),
                                "k": random(5, 4), "kb": random(5)})


@case
def shapes_taken_apart_as_torch_does():
    """x.view(x.size(0), -1) and x.view(-1, h * w), of opset 9."""
    nodes = [node("Shape", ["x"], ["s"]), node("Constant", [], ["zero"], value=tensor("", integer(0))),
             node("Gather", ["s", "zero"], ["n"], axis=0), node("Constant", [], ["rest"], value=tensor("", integer(-1))),
             node("Unsqueeze", ["n"], ["n1"], axes=[0]), node("Unsqueeze", ["rest"], ["r1"], axes=[0]),
             node("Concat", ["n1", "r1"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"]),
             node("Slice", ["s"], ["hw"], axes=[0], starts=[2], ends=[4]), node("ReduceProd", ["hw"], ["area"], keepdims=1),
             node("Concat", ["r1", "area"], ["to2"], axis=0), node("Reshape", ["x", "to2"], ["z"])]
    return on_images(nodes, 9, outputs=("y", "z"))


@case
def interpolation_of_torch():
    """F.interpolate(x, scale_factor=2): floor of sizes as float32, of opset 11."""
    nodes = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "two", "four", "zero"], ["hw"]),
             node("Cast", ["hw"], ["f"], to=FLOAT), node("Mul", ["f", "scale"], ["g"]), node("Floor", ["g"], ["h"]),
             node("Cast", ["h"], ["i"], to=INT64), node("Slice", ["s", "zero", "two", "zero"], ["nc"]),
             node("Concat", ["nc", "i"], ["sizes"], axis=0),
             node("Resize", ["x", "empty", "empty", "sizes"], ["y"], mode="linear", cubic_coeff_a=-0.75,
                  coordinate_transformation_mode="pytorch_half_pixel", nearest_mode="floor"),
             node("Resize", ["x", "empty", "empty", "sizes"], ["z"], mode="cubic", cubic_coeff_a=-0.75,
                  coordinate_transformation_mode="align_corners"),
             node("Resize", ["x", "empty", "empty", "sizes"], ["q"], mode="nearest", nearest_mode="floor",
                  coordinate_transformation_mode="asymmetric")]
    return on_images(nodes, 11, {"zero": np.array([0]), "two": np.array([2]), "four": np.array([4]),
                                 "scale": np.float32([1.5, 2]), "empty": np.zeros(0, np.float32)}, ("y", "z", "q"))


@case
def normalisation_of_torch_in_parts():
    nodes = [node("ReduceMean", ["x"], ["m"], axes=[-1]), node("Sub", ["x", "m"], ["d"]), node("Cast", ["d"], ["df"], to=FLOAT),
             node("Pow", ["df", "two"], ["p"]), node("ReduceMean", ["p"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["ve"]),
             node("Sqrt", ["ve"], ["sd"]), node("Div", ["d", "sd"], ["q"]), node("Mul", ["q", "w"], ["qw"]),
             node("Add", ["qw", "b"], ["y"])]
    return on_rows(nodes, 12, {"two": np.float32(2), "eps": np.float32(1e-5), "w": random(4), "b": random(4)})


@case
def masks_of_torch():
    """torch.triu, masked_fill and expand, of opset 14."""
    nodes = [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["ones"], value=tensor("", [1.0], np.float32)),
             node("Trilu", ["ones"], ["upper"], upper=1), node("Cast", ["upper"], ["mask"], to=BOOL),
             node("Where", ["mask", "low", "x"], ["m"]), node("Softmax", ["m"], ["y"], axis=-1),
             node("Equal", ["s", "minus"], ["is"]), node("Where", ["is", "one", "s"], ["to"]), node("Expand", ["x", "to"], ["z"])]
    return on_rows(nodes, 14, {"low": np.float32(-1e4), "minus": integer(-1), "one": integer(1)}, ("y", "z"))


@case
def indices_of_torch():
    """x[idx], x[:, idx], x[mask] and x[..., -1]."""
    main = graph([node("GatherND", ["x", "pairs"], ["a"]), node("Gather", ["x", "idx"], ["b"], axis=1),
                  node("Greater", ["x", "zero"], ["mask"]), node("NonZero", ["mask"], ["nz"]),
                  node("Transpose", ["nz"], ["where"]), node("GatherND", ["x", "where"], ["c"]),
                  node("Gather", ["x", "last"], ["d"], axis=1), node("ScatterND", ["x", "pairs", "a"], ["e"])],
                 [info("x", FLOAT, ["n", 4]), info("idx", INT64, ["k"])], ["a", "b", "c", "d", "e"],
                 {"pairs": np.array([[0, 1], [1, -1]]), "zero": np.float32(0), "last": integer(-1)})
    return model(main), [{"x": random(n, 4), "idx": np.array(i)} for n, i in ((2, [0, 3]), (5, [-1, 1, 2]))]


@case
def reductions_of_every_opset():
    parts = []
    for opset in (9, 11, 12, 13, 18, 21):
        axes = {"axes": [1]} if opset < 18 else {}
        inputs = ["x"] if opset < 18 else ["x", "one"]
        sums = ["x", "one"] if opset >= 13 else ["x"]
        nodes = [node("ReduceMax", inputs, ["a"], keepdims=0, **axes), node("ReduceL2", inputs, ["b"], **axes),
                 node("ReduceSum", sums, ["c"], **({"axes": [1]} if opset < 13 else {})),
                 node("ReduceLogSumExp", inputs, ["d"], keepdims=0, **axes), node("ReduceMean", ["x"], ["e"])]
        parts.append(on_rows(nodes, opset, {"one": np.array([1])}, ("a", "b", "c", "d", "e")))
    return parts


@case
def splits_and_slices_of_every_opset():
    parts = []
    for opset in (9, 10, 11, 13, 18, 21):
        sizes = {"split": [1, 3]} if opset < 13 else {}
        equal = {"num_outputs": 2} if opset >= 18 else {}
        squeeze = {"axes": [1]} if opset < 13 else {}
        extra = ["axis"] if opset >= 13 else []
        nodes = [node("Split", ["x"] + (["parts"] if opset >= 13 else []), ["a", "b"], axis=1, **sizes),
                 node("Split", ["x"], ["c", "d"], axis=1, **equal),
                 node("Slice", ["x"], ["e"], starts=[1], ends=[9223372036854775807], axes=[1]) if opset < 10 else
                 node("Slice", ["x", "from", "end", "axis"], ["e"]),
                 node("Squeeze", ["a"] + extra, ["f"], **squeeze), node("Unsqueeze", ["f"] + extra, ["h"], **squeeze)]
        parts.append(on_rows(nodes, opset, {"parts": np.array([1, 3]), "from": np.array([1]), "axis": np.array([1]),
                                            "end": np.array([9223372036854775807])}, ("a", "b", "c", "d", "e", "f", "h")))
    return parts


@case
def detection_of_every_opset():
    parts = []
    for opset in (10, 11, 13):
        main = graph([node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["kept"]),
                      node("Squeeze", ["at"], ["i"], axes=[1]) if opset < 13 else node("Squeeze", ["at", "one"], ["i"]),
                      node("Gather", ["kept", "two"], ["at"], axis=1), node("Squeeze", ["boxes"], ["b"], axes=[0]) if opset < 13
                      else node("Squeeze", ["boxes", "zero"], ["b"]), node("Gather", ["b", "i"], ["y"]),
                      node("Shape", ["y"], ["s"])],
                     [info("boxes", FLOAT, [1, "?", 4]), info("scores", FLOAT, [1, 2, "?"])], ["y", "s"],
                     {"most": np.array([3]), "iou": np.float32([0.5]), "least": np.float32([0.1]), "two": np.array([2]),
                      "one": np.array([1]), "zero": np.array([0])})
        corners = np.abs(random(1, 9, 2))
        parts.append((model(main, opset), [{"boxes": np.concatenate([corners, corners + 1], 2),
                                            "scores": np.abs(random(1, 2, 9, seed=1))},
                                           {"boxes": np.zeros((1, 3, 4), np.float32), "scores": np.zeros((1, 2, 3), np.float32)}]))
    return parts


# Float16.


@case
def half_precision_with_casts_at_the_end():
    """keep_io_types: the converter appends the casts to the list of nodes."""
    nodes = [node("MatMul", ["x16", "w"], ["m"]), node("Add", ["m", "b"], ["y16"]), node("Cast", ["y16"], ["y"], to=FLOAT),
             node("Cast", ["x"], ["x16"], to=HALF)]
    main = graph(nodes, [info("x", FLOAT, ["n", 4])], [info("y", FLOAT, ["n", 3])],
                 {"w": random(4, 3, dtype=np.float16), "b": random(3, dtype=np.float16)},
                 value_info=[info("m", HALF, ["n", 3]), info("x16", HALF, [7, 7])])
    return model(main, 13), [{"x": random(2, 4)}, {"x": random(5, 4)}]


@case
def half_precision_with_blocked_operators():
    nodes = [node("Cast", ["r"], ["r16"], to=HALF), node("Cast", ["x"], ["x32"], to=FLOAT),
             node("Resize", ["x32", "", "s"], ["r"], mode="linear"), node("Mul", ["r16", "r16"], ["y"])]
    main = graph(nodes, [info("x", HALF, [1, 2, "h", "w"])], ["y"], {"s": np.float32([1, 1, 2, 2])})
    return model(main, 13), [{"x": random(1, 2, 3, 4, dtype=np.float16)}]


@case
def half_precision_in_branches():
    then_branch = graph([node("Cast", ["t32"], ["t"], to=HALF), node("Cast", ["x"], ["t32"], to=FLOAT)], [], ["t"])
    else_branch = graph([node("Neg", ["x"], ["e"])], [], ["e"])
    main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("p", BOOL, []), info("x", HALF, ["n"])], ["y"])
    sorted_then = graph(list(then_branch.node)[::-1], [], ["t"])
    honest = graph([node("If", ["p"], ["y"], then_branch=sorted_then, else_branch=else_branch)],
                   [info("p", BOOL, []), info("x", HALF, ["n"])], ["y"])
    return model(main), [{"p": np.array(p), "x": random(3, dtype=np.float16)} for p in (True, False)], model(honest)


# Control flow.


def scalar_inputs(*more):
    return [info("i", INT64, []), info("c", BOOL, []), *more]


@case
def branches_with_constants_of_their_own():
    then_branch = graph([node("Add", ["x", "k"], ["o"])], [], ["o"], {"k": random(1)})
    else_branch = graph([node("Sub", ["x", "k2"], ["o2"])], [], ["o2"], {"k2": random(1)})
    main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("p", BOOL, [1]), info("x", FLOAT, ["n"])], ["y"])
    return model(main), [{"p": np.array([p]), "x": random(3)} for p in (True, False)]


@case
def branches_that_give_outer_values():
    """squeeze of torch.jit: one branch hands its input through, by name or by Identity."""
    then_branch = graph([node("Squeeze", ["x", "axis"], ["o"])], [], ["o"])
    else_branch = graph([node("Identity", ["x"], ["o"])], [], ["o"])
    main = graph([node("Shape", ["x"], ["s"]), node("Gather", ["s", "first"], ["n"]), node("Equal", ["n", "one"], ["p"]),
                  node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch), node("Neg", ["y"], ["z"])],
                 [info("x", FLOAT, ["n", 3])], ["y", "z"],
                 {"axis": np.array([0]), "first": integer(0), "one": integer(1)})
    return model(main), [{"x": random(n, 3)} for n in (1, 4)]


@case
def branches_within_branches():
    inner = [graph([node(op, ["x"], ["a"])], [], ["a"]) for op in ("Neg", "Abs")]
    then_branch = graph([node("If", ["q"], ["b"], then_branch=inner[0], else_branch=inner[1]),
                         node("Add", ["b", "x"], ["d"])], [], ["d"])
    else_branch = graph([node("Concat", ["x", "x"], ["a"], axis=0)], [], ["a"])
    main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("p", BOOL, []), info("q", BOOL, []), info("x", FLOAT, ["n"])], ["y"])
    return model(main, 13), [{"p": np.array(p), "q": np.array(q), "x": random(3)}
                             for p in (True, False) for q in (True, False)]


@case
def branches_known_at_load():
    then_branch = graph([node("Transpose", ["x"], ["a"], perm=[1, 0])], [], ["a"])
    else_branch = graph([node("Neg", ["x"], ["a"])], [], ["a"])
    main = graph([node("If", ["p"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("x", FLOAT, ["n", 2])], ["y"], {"p": np.array(False)})
    return model(main), [{"x": random(3, 2)}]


@case
def while_loop_of_tensorflow():
    """No trip count; the invariant goes through by its name; TensorArrays are stacked."""
    body = graph([node("Add", ["k", "one"], ["k2"]), node("Mul", ["v", "w"], ["v2"]), node("Less", ["k2", "limit"], ["c2"]),
                  node("ReduceSum", ["v2"], ["r"], keepdims=1)],
                 scalar_inputs(info("k", INT32, []), info("v", FLOAT, None), info("w", FLOAT, None)),
                 ["c2", "k2", "v2", "w", "r"])
    main = graph([node("Less", ["k0", "limit"], ["c0"]),
                  node("Loop", ["", "c0", "k0", "x", "x"], ["k_end", "v_end", "w_end", "all"], body=body)],
                 [info("x", FLOAT, ["n"])], ["k_end", "v_end", "w_end", "all"],
                 {"k0": np.int32(0), "limit": np.int32(4), "one": np.int32(1)})
    return model(main, 13), [{"x": random(n)} for n in (1, 3)]


@case
def loop_whose_condition_is_given_back():
    body = graph([node("Add", ["v", "x"], ["w"])], scalar_inputs(info("v", FLOAT, ["n"])), ["c", "w"])
    main = graph([node("Loop", ["n", "yes", "x"], ["y"], body=body)], [info("n", INT64, []), info("x", FLOAT, ["n"])],
                 ["y"], {"yes": np.array(True)})
    return model(main, 11), [{"n": integer(n), "x": random(2)} for n in (0, 3)]


@case
def loop_of_opset_9():
    body = graph([node("Gather", ["x", "i"], ["row"]), node("Add", ["v", "row"], ["w"]), node("Identity", ["w"], ["o"]),
                  node("Cast", ["yes"], ["again"], to=BOOL)],
                 scalar_inputs(info("v", FLOAT, [4])), ["again", "w", "o"])
    main = graph([node("Shape", ["x"], ["s"]), node("Slice", ["s"], ["n1"], starts=[0], ends=[1]),
                  node("Squeeze", ["n1"], ["n"], axes=[0]), node("Loop", ["n", "yes", "start"], ["v_end", "all"], body=body)],
                 [info("x", FLOAT, ["rows", 4])], ["v_end", "all"], {"yes": np.array(True), "start": np.zeros(4, np.float32)})
    return model(main, 9), [{"x": random(n, 4)} for n in (1, 5)]


@case
def list_that_a_loop_appends_to():
    """outs = []; for i: outs.append(x[i]); torch.stack(outs) and torch.cat(outs)."""
    sequence = helper.make_tensor_sequence_value_info("q", FLOAT, None)
    after = helper.make_tensor_sequence_value_info("q2", FLOAT, None)
    body = graph([node("Gather", ["x", "i"], ["row"], axis=0), node("SequenceInsert", ["q", "row"], ["q2"]),
                  node("Identity", ["c"], ["c2"])], scalar_inputs(sequence), [info("c2", BOOL, []), after])
    main = graph([node("SequenceEmpty", [], ["q0"]), node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]),
                  node("Loop", ["n", "yes", "q0"], ["q_end"], body=body),
                  node("ConcatFromSequence", ["q_end"], ["y"], axis=0, new_axis=1),
                  node("ConcatFromSequence", ["q_end"], ["z"], axis=0, new_axis=0), node("SequenceLength", ["q_end"], ["l"])],
                 [info("x", FLOAT, ["t", 3])], ["y", "z", "l"], {"zero": integer(0), "yes": np.array(True)})
    return model(main, 13), [{"x": random(n, 3)} for n in (1, 4)]


@case
def greedy_decoding():
    """Tokens grow until the end token: concatenation, a data-dependent stop, a table of the outer graph."""
    body = graph([node("Gather", ["ids", "minus", ], ["last"], axis=1), node("Gather", ["table", "last"], ["row"]),
                  node("ArgMax", ["row"], ["next"], axis=-1, keepdims=1), node("Concat", ["ids", "next"], ["ids2"], axis=1),
                  node("ReduceMax", ["next"], ["top"], keepdims=0), node("Equal", ["top", "stop"], ["is"]), node("Not", ["is"], ["c2"])],
                 scalar_inputs(info("ids", INT64, [2, 1])), [info("c2", BOOL, []), info("ids2", INT64, [2, 1])])
    main = graph([node("Loop", ["n", "yes", "first"], ["y"], body=body), node("Shape", ["y"], ["s"])],
                 [info("first", INT64, [2, 1]), info("table", FLOAT, [5, 5])], ["y", "s"],
                 {"n": integer(6), "yes": np.array(True), "minus": integer(-1), "stop": integer(4)})
    return model(main, 13), [{"first": np.array([[0], [1]]), "table": random(5, 5, seed=s)} for s in range(4)]


@case
def cache_of_keys_that_grows():
    body = graph([node("Gather", ["x", "i"], ["row"], axis=1), node("Unsqueeze", ["row", "one"], ["token"]),
                  node("Concat", ["cache", "token"], ["cache2"], axis=1), node("Transpose", ["cache2"], ["keys"], perm=[0, 2, 1]),
                  node("MatMul", ["token", "keys"], ["scores"]), node("Softmax", ["scores"], ["p"], axis=-1),
                  node("MatMul", ["p", "cache2"], ["o"]), node("Squeeze", ["o", "one"], ["out"]), node("Identity", ["c"], ["c2"])],
                 scalar_inputs(info("cache", FLOAT, ["b", 0, 3])),
                 ["c2", info("cache2", FLOAT, ["b", 0, 3]), info("out", FLOAT, ["b", 3])])
    main = graph([node("Shape", ["x"], ["s"]), node("Split", ["s"], ["b", "n", "d"]), node("Squeeze", ["n"], ["trips"]),
                  node("Concat", ["b", "zero", "d"], ["to"], axis=0), node("ConstantOfShape", ["to"], ["start"]),
                  node("Loop", ["trips", "yes", "start"], ["cache_end", "outs"], body=body),
                  node("Transpose", ["outs"], ["y"], perm=[1, 0, 2])],
                 [info("x", FLOAT, ["b", "t", 3])], ["y", "cache_end"],
                 {"one": np.array([1]), "zero": np.array([0]), "yes": np.array(True)})
    return model(main, 13), [{"x": random(b, t, 3)} for b, t in ((1, 1), (2, 5))]


@case
def loop_in_a_loop_that_uses_what_is_around():
    inner = graph([node("Add", ["u", "v"], ["u2"]), node("Add", ["u2", "bias"], ["u3"]), node("Identity", ["c1"], ["c3"])],
                  [info("j", INT64, []), info("c1", BOOL, []), info("u", FLOAT, [2])], ["c3", "u3"])
    body = graph([node("Mul", ["v", "x"], ["w"]), node("Loop", ["i", "", "w"], ["t"], body=inner), node("Identity", ["c"], ["c2"])],
                 scalar_inputs(info("v", FLOAT, [2])), ["c2", "t"])
    main = graph([node("Loop", ["n", "", "x"], ["y"], body=body)], [info("n", INT64, []), info("x", FLOAT, [2])], ["y"],
                 {"bias": random(2)})
    return model(main), [{"n": integer(n), "x": random(2)} for n in (0, 1, 4)]


@case
def scan_of_a_recurrent_cell():
    body = graph([node("MatMul", ["p", "w"], ["a"]), node("MatMul", ["h", "r"], ["b"]), node("Add", ["a", "b"], ["s"]),
                  node("Tanh", ["s"], ["h2"]), node("Identity", ["h2"], ["o"])],
                 [info("h", FLOAT, ["batch", 3]), info("p", FLOAT, ["batch", 2])], ["h2", "o"])
    parts = []
    for options in ({}, {"scan_input_directions": [1], "scan_output_directions": [1]},
                    {"scan_input_axes": [1], "scan_output_axes": [1]}):
        main = graph([node("Scan", ["h0", "x"], ["h_end", "y"], body=body, num_scan_inputs=1, **options)],
                     [info("h0", FLOAT, ["b", 3]), info("x", FLOAT, [None, None, 2])], ["h_end", "y"],
                     {"w": random(2, 3), "r": random(3, 3)})
        shape = (2, 5, 2) if "scan_input_axes" in options else (5, 2, 2)
        parts.append((model(main), [{"h0": random(2, 3), "x": random(*shape)}]))
    return parts


# Functions.


@case
def functions_of_the_dynamo_exporter():
    """A library of functions in a separate domain that call each other, with attributes and branches."""
    domain = "pkg.onnxscript.torch_lib"
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(domain, 1), helper.make_opsetid(domain + ".common", 1)]
    rank = helper.make_function(domain + ".common", "Rank", ["input"], ["return_val"],
                                [node("Shape", ["input"], ["tmp"]), node("Size", ["tmp"], ["return_val"])], opsets[:1])
    is_scalar = helper.make_function(domain + ".common", "IsScalar", ["input"], ["return_val"],
                                     [node("Shape", ["input"], ["tmp"]), node("Size", ["tmp"], ["tmp_0"]),
                                      node("Constant", [], ["tmp_1"], value_int=0), node("Equal", ["tmp_0", "tmp_1"], ["return_val"])],
                                     opsets[:1])
    then_branch = graph([node("Constant", [], ["minus"], value_ints=[-1]), node("Reshape", ["self", "minus"], ["self_2"])], [], ["self_2"])
    else_branch = graph([node("Identity", ["self"], ["self_3"])], [], ["self_3"])
    softmax = node("Softmax", ["self_4"], ["result"])
    softmax.attribute.add(name="axis", ref_attr_name="dim", type=onnx.AttributeProto.INT)
    aten = helper.make_function(domain, "aten_softmax", ["self"], ["result_6"],
                                [node("IsScalar", ["self"], ["cond"], domain=domain + ".common"),
                                 node("If", ["cond"], ["self_4"], then_branch=then_branch, else_branch=else_branch), softmax,
                                 node("IsScalar", ["self"], ["cond_2"], domain=domain + ".common"),
                                 node("If", ["cond_2"], ["result_6"],
                                      then_branch=graph([node("Squeeze", ["result"], ["r1"])], [], ["r1"]),
                                      else_branch=graph([node("Identity", ["result"], ["r2"])], [], ["r2"]))], opsets, ["dim"])
    main = graph([node("aten_softmax", ["x"], ["y"], domain=domain, dim=-1), node("aten_softmax", ["k"], ["z"], domain=domain, dim=0),
                  node("Rank", ["x"], ["r"], domain=domain + ".common")],
                 [info("x", FLOAT, ["s0", 4]), info("k", FLOAT, [])], ["y", "z", "r"])
    return (helper.make_model(main, opset_imports=opsets, ir_version=9, functions=[rank, is_scalar, aten]).SerializeToString(),
            [{"x": random(n, 4), "k": random()} for n in (1, 3)])


@case
def functions_that_leave_inputs_out():
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    clip = helper.make_function("local", "clamp", ["v", "low", "high"], ["o"], [node("Clip", ["v", "low", "high"], ["o"])], opsets[:1])
    main = graph([node("clamp", ["x", "", "top"], ["a"], domain="local"), node("clamp", ["a", "top2"], ["b"], domain="local"),
                  node("clamp", ["b"], ["y"], domain="local")],
                 [info("x", FLOAT, ["n"])], ["y"], {"top": np.float32(0.5), "top2": np.float32(-0.5)})
    return helper.make_model(main, opset_imports=opsets, ir_version=9, functions=[clip]).SerializeToString(), [{"x": random(9)}]


@case
def loops_in_functions():
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    body = graph([node("Concat", ["q", "v"], ["q2"], axis=0), node("Identity", ["c"], ["c2"])],
                 scalar_inputs(info("q", FLOAT, [1, 2])), ["c2", info("q2", FLOAT, [1, 2])])
    repeat = helper.make_function("local", "repeat", ["v", "times"], ["o"],
                                  [node("Loop", ["times", "", "v"], ["o"], body=body)], opsets[:1])
    main = graph([node("repeat", ["x", "n"], ["a"], domain="local"), node("repeat", ["a", "n"], ["y"], domain="local")],
                 [info("x", FLOAT, ["k", 2]), info("n", INT64, [])], ["y", "a"])
    return (helper.make_model(main, opset_imports=opsets, ir_version=9, functions=[repeat]).SerializeToString(),
            [{"x": random(k, 2), "n": integer(n)} for k in (1, 3) for n in (0, 2)])


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Forms(unittest.TestCase):
    def check(self, name, data, calls, reference=None):
        tolerance = 2e-3 if name.startswith("half") else 1e-5
        session = onnxruntime.InferenceSession(reference or data, providers=["CPUExecutionProvider"])
        ours = library.Model(data)
        for feeds in calls:
            expected = session.run(None, feeds)
            for _ in range(2):
                for actual, wanted in zip(ours.run(list(feeds.values())), expected, strict=True):
                    self.assertEqual((actual.shape, actual.dtype), (wanted.shape, wanted.dtype))
                    np.testing.assert_allclose(actual, wanted, tolerance, tolerance)

    def test_cases(self):
        for name, build in CASES.items():
            parts = build()
            for i, part in enumerate(parts if isinstance(parts, list) else [parts]):
                with self.subTest(name, part=i):
                    self.check(name, *part)


if __name__ == "__main__":
    unittest.main()
