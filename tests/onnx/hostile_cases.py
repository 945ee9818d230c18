# SPDX-License-Identifier: Apache-2.0
"""Hostile files, which test_hostile.py loads and runs."""

import pathlib
import random

import numpy as np

import library
from message_cases import FLOAT, INT64, BOOL, X, I, C, graph, helper, info, ints, model, node, one, raw, tensor, wire
from message_cases import with_weight

ROOT = library.ROOT
SMALL = sorted((ROOT / "tests/fuzz/corpus/model").glob("*.onnx"))
LARGE = [path for path in (ROOT / "examples/digits/digits.onnx", *sorted((ROOT / "build/real_models").rglob("*.onnx")))
         if path.exists()]
HUGE, WIDE = 2**63 - 1, 2**40


def truncated():
    for path in SMALL + LARGE:
        data = path.read_bytes()
        for part in range(64):
            yield f"{path.stem} cut at {part}/64", data[:len(data) * part // 64]


def mutated():
    for path in SMALL + LARGE:
        data, source = path.read_bytes(), random.Random(path.stem)
        for number in range(300 if len(data) < 10000 else 40):
            yield f"{path.stem} mutation {number}", mutate(data, source)


def mutate(data, source):
    changed = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4, 16))):
        at = source.randrange(len(changed))
        kind = source.randrange(4)
        if kind == 0:
            changed[at] = source.randrange(256)
        elif kind == 1:
            changed[at] ^= 1 << source.randrange(8)
        elif kind == 2:
            changed[at:at + 1] = bytes(source.choice((0, 1, 127, 128, 255)) for _ in range(source.randrange(4)))
        else:  # a part of the file over another
            start = source.randrange(len(changed))
            part = changed[start:start + source.randrange(1, 32)]
            changed[at:at + len(part)] = part
    return bytes(changed)


def repeated(fields, count):
    """A main graph with one field, already encoded, many times."""
    return wire(1, 10) + wire(7, fields * count) + wire(8, wire(2, 21))


def deep_type(depth):
    """An input whose type is a sequence of sequences of ..."""
    kind = wire(1, wire(1, 1))
    for _ in range(depth):
        kind = wire(4, wire(1, kind))
    return wire(1, 10) + wire(7, wire(11, wire(1, b"x") + wire(2, kind))) + wire(8, wire(2, 21))


def deep_graph(depth):
    body = node("Identity", ["x"], ["r"]).SerializeToString()
    for _ in range(depth):
        attribute = wire(1, b"then_branch") + wire(6, wire(1, body) + wire(12, wire(1, b"r"))) + wire(20, 5)
        body = node("If", ["c"], ["r"]).SerializeToString() + wire(5, attribute)
    return wire(1, 10) + wire(7, wire(1, body)) + wire(8, wire(2, 21))


def chain(op, count):
    nodes = b"".join(wire(1, wire(1, b"v%d" % i) + wire(2, b"v%d" % (i + 1)) + wire(4, op)) for i in range(count))
    first = wire(11, info("v0", FLOAT, [2]).SerializeToString())
    return wire(1, 10) + wire(7, nodes + first + wire(12, wire(1, b"v%d" % count))) + wire(8, wire(2, 21))


def many_outputs(count):
    return model([node("Relu", ["x"], [f"v{i}"]) for i in range(count)], (X,), [f"v{i}" for i in range(count)])


def doubling(op, count, constant, **attributes):
    nodes = [node(op, [f"v{i}", f"v{i}"], [f"v{i + 1}"], **attributes) for i in range(count)]
    if constant:
        return model(nodes, (), (f"v{count}",), [tensor("v0", np.ones(4))])
    return model(nodes, (info("v0", FLOAT, [4]),), (f"v{count}",))


def doubling_branches(depth):
    """Each branch holds two Ifs."""
    inner = graph([node("Relu", ["x"], ["r"])], outputs=("r",))
    for _ in range(depth):
        inner = graph([node("If", ["c"], ["p"], then_branch=inner, else_branch=inner),
                       node("Identity", ["p"], ["r"])], outputs=("r",))
    return model([node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)], (X, C))


def loop(trips, nodes, shape=(4,)):
    body = graph([node("Identity", ["on"], ["again"]), *nodes],
                 [info("i", INT64, []), info("on", BOOL, []), info("s", FLOAT, shape)], ("again", "t"))
    return model([node("Loop", ["n", "", "x"], ["y"], body=body)], (info("x", FLOAT, [4]),),
                 constants=[tensor("n", trips, np.int64)])


def growing_body(nodes, states, width=1):
    """Of a Loop with states s0.. that become t0.. and start with a shape that they lose."""
    names = range(states)
    return graph([node("Identity", ["on"], ["again"]), *nodes],
                 [info("i", INT64, []), info("on", BOOL, []), *(info(f"s{k}", FLOAT, [width]) for k in names)],
                 ("again", *(f"t{k}" for k in names)))


def growing_loop(body, states):
    return node("Loop", ["n", "", *["x"] * states], [f"y{k}" for k in range(states)], body=body)


def chain_of_states(count):
    """Each state becomes the one before it; the first one grows."""
    shifted = [node("Identity", [f"s{k - 1}"], [f"t{k}"]) for k in range(1, count)]
    body = growing_body([node("Concat", ["s0", "x"], ["t0"], axis=0), *shifted], count)
    return model([growing_loop(body, count)], (info("x", FLOAT, [1]),), [f"y{k}" for k in range(count)],
                 [tensor("n", 3, np.int64)])


def loops_in_loops(depth, states=3):
    """Every level's states grow in the innermost body, and are found to do so one after the other."""
    turned = [node("Identity", [f"s{k - 1}"], [f"t{k}"]) for k in range(1, states)]
    body = growing_body([node("Concat", ["s0", "x"], ["t0"], axis=0), *turned], states)
    for _ in range(depth):
        inner = node("Loop", ["n", "", *(f"s{k}" for k in range(states))], [f"t{k}" for k in range(states)], body=body)
        body = growing_body([inner], states)
    return model([growing_loop(body, states)], (info("x", FLOAT, [1]),), [f"y{k}" for k in range(states)],
                 [tensor("n", 1, np.int64)])


def backwards(count):
    """A chain of nodes, the last one first."""
    nodes = b"".join(wire(1, wire(1, b"v%d" % i) + wire(2, b"v%d" % (i + 1)) + wire(4, b"Relu"))
                     for i in reversed(range(count)))
    first = wire(11, info("v0", FLOAT, [2]).SerializeToString())
    return wire(1, 10) + wire(7, nodes + first + wire(12, wire(1, b"v%d" % count))) + wire(8, wire(2, 21))


def function(name, nodes, inputs=("a",), outputs=("b",)):
    return helper.make_function("f", name, list(inputs), list(outputs), nodes,
                                [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)])


def with_functions(functions):
    main = graph([node("F0", ["x"], ["y"], domain="f")], [X])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    return helper.make_model(main, opset_imports=opsets, ir_version=10, functions=functions).SerializeToString()


def call(name, *values):
    return node(name, [values[0]], [values[1]], domain="f")


def doubling_functions(count):
    functions = [function(f"F{i}", [call(f"F{i + 1}", "a", "m"), call(f"F{i + 1}", "m", "b")]) for i in range(count)]
    return with_functions([*functions, function(f"F{count}", [node("Relu", ["a"], ["b"])])])


def huge(op, *sizes, dtype=np.int64, **attributes):
    """A node whose sizes come from constants."""
    names = [f"s{i}" for i in range(len(sizes))]
    return one(op, names, [tensor(n, s, dtype) for n, s in zip(names, sizes)], (), **attributes)


def on_input(op, *constants, shape=(2, 4), outputs=("y",), **attributes):
    names = [f"s{i}" for i in range(len(constants))]
    values = [tensor(n, c, np.float32 if isinstance(np.ravel(c)[0], float) else np.int64) for n, c in zip(names, constants)]
    return one(op, ("x", *names), values, (info("x", FLOAT, shape),), outputs, **attributes)


def transposed_weights(dtype, count, bits):
    """Quantised ConvTranspose with such weights."""
    weights = raw("w", dtype, [1, count, 2, 2], bytes(i * 37 & 0x77 for i in range((4 * count * bits + 7) // 8)))
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             node("DequantizeLinear", ["w", "s"], ["v"]), node("ConvTranspose", ["d", "v"], ["t"], strides=[2, 2]),
             node("QuantizeLinear", ["t", "s", "z"], ["p"]), node("DequantizeLinear", ["p", "s", "z"], ["y"])]
    return model(nodes, (info("x", FLOAT, [1, 1, 3, 3]),), ("y",),
                 [weights, tensor("s", 0.1), tensor("z", 3, np.uint8)])


# Files of at most about 1 KB.
SMALL_CASES = {
    "huge ConstantOfShape": lambda: huge("ConstantOfShape", [2**15, 2**15]),
    "ConstantOfShape beyond memory": lambda: huge("ConstantOfShape", [WIDE, 2**10]),
    "ConstantOfShape beyond numbers": lambda: huge("ConstantOfShape", [WIDE, WIDE]),
    "ConstantOfShape of the largest size": lambda: huge("ConstantOfShape", [HUGE]),
    "many large constants": lambda: model([node("ConstantOfShape", ["s"], [f"v{i}"]) for i in range(20)],
                                          (), [f"v{i}" for i in range(20)], [ints("s", 2**20)]),
    "sum of large constants": lambda: model([*(node("ConstantOfShape", [f"s{i}"], [f"v{i}"]) for i in range(10)),
                                             node("Sum", [f"v{i}" for i in range(10)], ["y"])], (), ("y",),
                                            [ints(f"s{i}", 2**22, i % 2 + 1) for i in range(10)]),
    "huge Expand": lambda: one("Expand", ("w", "s"), [tensor("w", [1.0]), ints("s", 2**30)], ()),
    "huge Tile": lambda: one("Tile", ("w", "s"), [tensor("w", [1.0, 2.0]), ints("s", 2**29)], ()),
    "Tile beyond numbers": lambda: one("Tile", ("w", "s"), [tensor("w", [1.0, 2.0]), ints("s", HUGE)], ()),
    "huge Range": lambda: huge("Range", 0, WIDE, 1),
    "Range of everything": lambda: huge("Range", -HUGE, HUGE, 1),
    "huge Pad": lambda: on_input("Pad", [0, 2**30, 0, 2**30]),
    "Pad beyond numbers": lambda: on_input("Pad", [HUGE, 0, HUGE, 0]),
    "Pad below nothing": lambda: on_input("Pad", [-HUGE, 0, -3, 0]),
    "huge EyeLike": lambda: model([node("ConstantOfShape", ["s"], ["v"]), node("EyeLike", ["v"], ["y"])], (),
                                  constants=[ints("s", 2**13, 2**13)]),
    "huge OneHot": lambda: one("OneHot", ("i", "d", "v"), [ints("d", 2**40), tensor("v", [0, 1])], (I,)),
    "huge RandomNormal": lambda: one("RandomNormal", (), shape=[2**20, 2**10]),
    "huge Resize": lambda: one("Resize", ("x", "", "s"), [tensor("s", [1e6, 1e6])]),
    "Resize beyond numbers": lambda: one("Resize", ("x", "", "s"), [tensor("s", [3e38, 3e38])]),
    "Resize to nothing": lambda: one("Resize", ("x", "", "", "s"), [ints("s", 0, HUGE)]),
    "huge pool window": lambda: on_input("MaxPool", shape=(1, 1, 4, 4), kernel_shape=[2**31 - 1, 1], pads=[2**30] * 4),
    "huge dilation": lambda: on_input("MaxPool", shape=(1, 1, 4, 4), kernel_shape=[2, 2], dilations=[HUGE, HUGE]),
    "huge strides": lambda: on_input("AveragePool", shape=(1, 1, 4, 4), kernel_shape=[2, 2], strides=[HUGE, HUGE]),
    "huge Conv pads": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((1, 1, 2, 2)))],
                                  (info("x", FLOAT, [1, 1, 4, 4]),), pads=[2**31 - 1] * 4),
    "huge ConvTranspose": lambda: one("ConvTranspose", ("x", "w"), [tensor("w", np.zeros((1, 1, 2, 2)))],
                                      (info("x", FLOAT, [1, 1, 4, 4]),), strides=[2**20, 2**20]),
    "huge window function": lambda: huge("HannWindow", WIDE),
    "huge mel matrix": lambda: model([node("MelWeightMatrix", ["a", "b", "c", "d", "e"], ["y"])], (), constants=[
        tensor("a", 2**30, np.int64), tensor("b", 2**30, np.int64), tensor("c", 8000, np.int64), tensor("d", 0), tensor("e", 4000)]),
    "huge DFT": lambda: one("DFT", ("x", "n"), [tensor("n", WIDE, np.int64)], (info("x", FLOAT, [1, 4, 1]),), axis=1),
    "huge Einsum": lambda: one("Einsum", ("x", "x", "x", "x"), (), equation="ab,cd,ef,gh->abcdefgh"),
    "Einsum of noise": lambda: one("Einsum", ("x",), (), equation="a.b..," * 20 + "->->"),
    "TopK of everything": lambda: on_input("TopK", [HUGE], outputs=("y", "z")),
    "huge depth": lambda: on_input("DepthToSpace", shape=(1, 4, 2, 2), blocksize=HUGE),
    "huge group": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((1, 1, 2, 2)))], (info("x", FLOAT, [1, 1, 4, 4]),),
                              group=HUGE),
    "lowest axis": lambda: one("Softmax", axis=-HUGE - 1),
    "highest axis": lambda: one("Concat", ("x", "x"), axis=HUGE),
    "Slice of extremes": lambda: on_input("Slice", [-HUGE, HUGE], [HUGE, -HUGE], [0, 1], [HUGE, -HUGE]),
    "Split into extremes": lambda: on_input("Split", [HUGE, HUGE], outputs=("y", "z")),
    "Gather of extremes": lambda: one("Gather", ("x", "i"), [ints("i", HUGE, -HUGE)]),
    "Scatter of extremes": lambda: one("ScatterElements", ("x", "i", "x"), [tensor("i", [[HUGE] * 4], np.int64)]),
    "Reshape to extremes": lambda: on_input("Reshape", [HUGE, HUGE, -1]),
    "CumSum at the lowest axis": lambda: on_input("CumSum", -HUGE),
    "Trilu of extremes": lambda: on_input("Trilu", HUGE),
    "division by zero": lambda: huge("Div", [1, -2**63], [0, -1]),
    "remainder by zero": lambda: huge("Mod", [1, -2**63], [0, -1]),
    "division of shapes by zero": lambda: model([node("Shape", ["x"], ["s"]), node("Div", ["s", "z"], ["d"]),
                                                 node("Reshape", ["x", "d"], ["y"])], constants=[ints("z", 0, 0)]),
    "shift by everything": lambda: one("BitShift", ("a", "b"), [tensor("a", [1], np.uint64), tensor("b", [2**63], np.uint64)],
                                       (), direction="LEFT"),
    "cast of everything": lambda: one("Cast", ("w",), [tensor("w", [np.inf, -np.inf, np.nan, 1e38])], (), to=INT64),
    "input of a huge shape": lambda: one("Relu", graph_inputs=(info("x", FLOAT, [HUGE, HUGE]),)),
    "input of a negative shape": lambda: one("Relu", graph_inputs=(info("x", FLOAT, [-5, HUGE]),)),
    "output of another shape": lambda: helper.make_model(helper.make_graph(
        [node("Relu", ["x"], ["y"])], "g", [X], [info("y", FLOAT, [HUGE, 7, 3])])).SerializeToString(),
    "product of huge shapes": lambda: one("MatMul", ("x", "z"), (), (info("x", FLOAT, [WIDE, 1]), info("z", FLOAT, [1, WIDE]))),
    "weight of a huge shape": lambda: with_weight(raw("w", FLOAT, [2**31, 2**31], b"")),
    "weight whose bytes overflow": lambda: with_weight(raw("w", FLOAT, [2**62], b"")),
    "weight of no size in huge shapes": lambda: with_weight(raw("w", FLOAT, [WIDE, 0, WIDE], b"")),
    "weight of many dimensions": lambda: with_weight(raw("w", FLOAT, [1] * 200, b"1234")),
    "sparse weight of a huge shape": lambda: sparse(WIDE),
    "doubling constants": lambda: doubling("Concat", 20, True, axis=0),
    "doubling values": lambda: doubling("Concat", 20, False, axis=0),
    "powers of constants": lambda: doubling("Mul", 20, True),
    "endless loop": lambda: loop(HUGE, [node("Relu", ["s"], ["t"])]),
    "loop of states that follow each other": lambda: chain_of_states(2000),
    "loops in loops that grow": lambda: loops_in_loops(24),
    "nodes backwards": lambda: backwards(60000),
    "too many nodes backwards": lambda: backwards(2**18),
    "loop that doubles": lambda: loop(60, [node("Concat", ["s", "s"], ["t"], axis=0)], ("n",)),
    "loop that makes large values": lambda: model([node("ConstantOfShape", ["s"], ["v"]), node("Relu", ["v"], ["y"])], (I,),
                                                  constants=[ints("s", 2**28)]),
    "names with line feeds": lambda: model([node("Reluu\n", ["x\n\r\x00"], ["y"], name="line\nfeed\x1b")],
                                           (info("x\n\r\x00", FLOAT, [1]),)),
    "names that are no UTF-8": lambda: one("Relu", ("missing",)).replace(b"missing", b"m\xff\xfe\xc0\xc1ng"),
    "function that calls itself": lambda: with_functions([function("F0", [call("F0", "a", "b")])]),
    "functions that call each other": lambda: with_functions(
        [function("F0", [call("F1", "a", "b")]), function("F1", [call("F0", "a", "b")])]),
    "regular expression of doom": lambda: text_node("RegexFullMatch", pattern="(a*)*" * 10 + "b"),
    "nested regular expression": lambda: text_node("RegexFullMatch", pattern="(" * 400 + ")" * 400),
    "packed weights of a quantised ConvTranspose": lambda: transposed_weights(22, 200, 4),
    "float8 weights of a quantised ConvTranspose": lambda: transposed_weights(17, 200, 8),
    "counted regular expression": lambda: text_node("RegexFullMatch", pattern="(((a{999}){999}){999}){999}"),
}


def sparse(size):
    values, indices = tensor("w", [1.0]), ints("at", size - 1)
    constant = helper.make_sparse_tensor(values, indices, [size])
    main = graph([node("Identity", ["w"], ["y"])])
    main.sparse_initializer.append(constant)
    return helper.make_model(main).SerializeToString()


def text_node(op, **attributes):
    return one(op, ("x",), (), (info("x", 8, [1]),), **attributes)


# Larger files.
LARGE_CASES = {
    "deep types": lambda: deep_type(20000),
    "deep graphs": lambda: deep_graph(2000),
    "graphs of the greatest depth": lambda: deep_graph(31),
    "a million nodes": lambda: chain(b"Relu", 10**6),
    "a million nodes without effect": lambda: chain(b"Identity", 10**6),
    "a million unknown nodes": lambda: chain(b"Reluu", 10**6),
    "a million empty nodes": lambda: repeated(wire(1, b""), 10**6),
    "a million empty weights": lambda: repeated(wire(5, b""), 10**6),
    "many weights": lambda: repeated(b"".join(wire(5, wire(1, 1) + wire(2, 1) + wire(8, b"w%d" % i) + wire(9, b"1234"))
                                              for i in range(3 * 10**5)), 1),
    "many inputs": lambda: repeated(b"".join(wire(11, info(f"x{i}", FLOAT, ["n"]).SerializeToString())
                                             for i in range(10**5)), 1),
    "a million inputs": lambda: repeated(wire(11, wire(1, b"x")), 10**6),
    "a million opsets": lambda: one("Relu") + wire(8, wire(1, b"a") + wire(2, 1)) * 10**6,
    "a million graphs": lambda: wire(7, b"") * 10**6 + one("Relu"),
    "a node of a million inputs": lambda: one("Concat", ("x",) * 10**6, axis=0),
    "a node of a million attributes": lambda: repeated(wire(1, wire(4, b"Relu") + wire(5, wire(1, b"a") + wire(20, 2)) * 10**6), 1),
    "as many nodes as possible": lambda: chain(b"Relu", 2**17),
    "a thousand attributes": lambda: repeated(wire(1, wire(1, b"x") + wire(4, b"Relu") + b"".join(
        wire(5, wire(1, b"a%d" % i) + wire(20, 2)) for i in range(1024))), 1),
    "a hundred thousand inputs": lambda: one("Concat", ("x",) * 10**5, axis=0),
    "as many inputs as possible": lambda: one("Concat", ("x",) * 2**16, axis=0),
    "as many operands of an equation": lambda: one("Einsum", ("x",) * 20000, (), (info("x", FLOAT, (2,)),),
                                                   equation=",".join(["a"] * 20000) + "->a"),
    "an equation of a million letters": lambda: one("Einsum", ("x",), equation="a" * 10**6),
    "as many uses of one view": lambda: model([node("Expand", ["x", "s"], ["e"]), node("Sum", ["e"] * 2**16, ["y"])],
                                              (info("x", FLOAT, (1,)),), ("y",), [tensor("s", [4], np.int64)]),
    "nodes of one input that differ": lambda: model(
        [node("LeakyRelu", ["x"], [f"v{i}"], alpha=float(i)) for i in range(20000)]
        + [node("Sum", [f"v{i}" for i in range(20000)], ["y"])]),
    "constants that differ in shape": lambda: model(
        [node("Concat", [f"c{i}" for i in range(20000)], ["y"], axis=0)], (), ("y",),
        [tensor(f"c{i}", np.zeros((i, 0))) for i in range(20000)]),
    "a hundred thousand outputs": lambda: many_outputs(10**5),
    "as many outputs as possible": lambda: many_outputs(4096),
    "many nodes that expand": lambda: repeated(b"".join(
        wire(1, wire(1, b"s") + wire(2, b"v%d" % i) + wire(4, b"BlackmanWindow")) for i in range(10**5))
                                               + wire(5, tensor("s", 8, np.int64).SerializeToString())
                                               + wire(12, wire(1, b"v0")), 1),
    "a node of a long name": lambda: model([node("Reluu", ["x"], ["y"], name="n" * 10**7)]),
    "a long list of dimensions": lambda: with_weight(raw("w", FLOAT, [1] * 10**6, b"1234")),
    "a long list of metadata": lambda: one("Relu") + wire(14, wire(1, b"a") + wire(2, b"b")) * 10**6,
    "doubling constants without end": lambda: doubling("Concat", 200, True, axis=0),
    "doubling values without end": lambda: doubling("Concat", 200, False, axis=0),
    "doubling squares": lambda: doubling("Einsum", 60, False, equation="a,a->aa"),
    "doubling branches": lambda: doubling_branches(10),
    "doubling functions": lambda: doubling_functions(60),
    "long chains of functions": lambda: with_functions(
        [function(f"F{i}", [call(f"F{i + 1}", "a", "b")]) for i in range(2000)] + [function("F2000", [node("Relu", ["a"], ["b"])])]),
    "thousands of axes": lambda: on_input("Squeeze", [0] * 10**5),
    "bytes of zero": lambda: bytes(10**6),
    "bytes of one": lambda: b"\xff" * 10**6,
    "noise": lambda: random.Random(1).randbytes(10**6),
}


def all_cases():
    """(name, bytes)"""
    yield from truncated()
    yield from mutated()
    for cases in (SMALL_CASES, LARGE_CASES):
        for name, make in cases.items():
            yield name, make()
