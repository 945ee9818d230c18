# SPDX-License-Identifier: Apache-2.0
"""Files of at most a megabyte that ask for more than they hold: each fills one kind of container that a load or a plan
makes, or asks for one kind of work. What test_budgets.py loads and runs."""

import numpy as np

from message_cases import BOOL, FLOAT, INT64, helper, info, ints, model, node, tensor, wire

MEGABYTE = 1 << 20


def name_of(number):
    """Short names that nothing else has; the first is "a"."""
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text = b"" if number else b"a"
    while number:
        number, digit = divmod(number, 26)
        text = letters[digit:digit + 1] + text
    return text


def raw_node(op, inputs, outputs, rest=b"", domain=b""):
    fields = b"".join(wire(1, each) for each in inputs) + b"".join(wire(2, each) for each in outputs)
    return fields + wire(4, op) + (wire(7, domain) if domain else b"") + rest


def raw_model(nodes, inputs=(), outputs=(), rest=b"", functions=(), opsets=()):
    """Nodes and functions as bytes; inputs as (name, dimensions); outputs as names."""
    main = b"".join(wire(1, each) for each in nodes) + rest
    main += b"".join(wire(11, info(name, FLOAT, dims).SerializeToString()) for name, dims in inputs)
    main += b"".join(wire(12, wire(1, each)) for each in outputs)
    sets = wire(8, wire(2, 21)) + b"".join(wire(8, wire(1, each) + wire(2, 1)) for each in opsets)
    return wire(1, 10) + wire(7, main) + sets + b"".join(wire(25, each) for each in functions)


def raw_function(name, nodes, inputs=(b"i",), outputs=(b"o",), rest=b""):
    fields = wire(1, name) + b"".join(wire(4, each) for each in inputs) + b"".join(wire(5, each) for each in outputs)
    return fields + b"".join(wire(7, each) for each in nodes) + wire(9, wire(2, 21)) + wire(9, wire(1, b"f") + wire(2, 1)) \
        + wire(10, b"f") + rest


def attribute(name, field, value, kind):
    return wire(5, wire(1, name) + wire(field, value) + wire(20, kind))


def calls(count, rest=b"", name=b"F"):
    """A chain of calls of a function."""
    return [raw_node(name, [name_of(i)], [name_of(i + 1)], rest, b"f") for i in range(count)]


def chain(op, count, rest=b"", more=()):
    return [raw_node(op, [name_of(i), *more], [name_of(i + 1)], rest) for i in range(count)]


def called_constants(kind):
    """A function with a large constant, called thousands of times."""
    count = 8000
    values = np.ones(100000 // 4, np.float32)
    if kind == "value":
        constant = attribute(b"value", 5, tensor("", values).SerializeToString(), 4)
    elif kind == "value_ints":
        constant = attribute(b"value_ints", 8, bytes([1]) * 100000, 7)
    elif kind == "value_strings":
        constant = wire(5, wire(1, b"value_strings") + wire(9, b"a") * 30000 + wire(20, 8))
    else:
        sparse = helper.make_sparse_tensor(tensor("v", [1.0]), ints("at", 0), [4 * MEGABYTE - 1])
        constant = attribute(b"sparse_value", 22, sparse.SerializeToString(), 11)
    body = [raw_node(b"Constant", [], [b"c"], constant), raw_node(b"Relu", [b"i"], [b"o"])]
    return raw_model(calls(count), [("a", [2])], [name_of(count)], functions=[raw_function(b"F", body)])


def long_call_name():
    body = [raw_node(b"Identity", [b"i"], [b"a"]), *chain(b"Relu", 12000), raw_node(b"Identity", [name_of(12000)], [b"o"])]
    call = raw_node(b"F", [b"a"], [b"y"], wire(3, b"n" * 700000), b"f")
    return raw_model([call], [("a", [2])], [b"y"], functions=[raw_function(b"F", body)])


def nested_call_names():
    functions = [raw_function(b"F%d" % i, [raw_node(b"F%d" % (i + 1), [b"i"], [b"o"], wire(3, b"m" * 12000), b"f")])
                 for i in range(60)]
    last = raw_function(b"F60", [raw_node(b"Relu", [b"i"], [b"o"])])
    nodes = [raw_node(b"F0", [name_of(i)], [name_of(i + 1)], b"", b"f") for i in range(200)]
    return raw_model(nodes, [("a", [2])], [name_of(200)], functions=[*functions, last])


def symbols_of_outputs(length):
    outputs = [name_of(i + 1) for i in range(4000)]
    nodes = [raw_node(b"Relu", [b"a"], [each]) for each in outputs]
    return raw_model(nodes, [("a", ["n" * length] * 8)], outputs)


def sparse_weights(count):
    sparse = b"".join(wire(15, helper.make_sparse_tensor(tensor(f"w{i}", [1.0]), ints("at", 0), [4 * MEGABYTE - 1])
                           .SerializeToString()) for i in range(count))
    nodes = [raw_node(b"Sum", [b"w%d" % i for i in range(count)], [b"y"])]
    return raw_model(nodes, (), [b"y"], sparse)


def referenced_graphs(weights):
    """A graph with constants that a function refers to again and again."""
    if weights:
        values = wire(5, tensor("w", np.ones(20000, np.float32)).SerializeToString())
    else:
        values = b"".join(wire(1, raw_node(b"Constant", [], [b"w%d" % i], attribute(b"value_int", 3, 1, 2)))
                          for i in range(5000))
    branch = values + wire(1, raw_node(b"Relu", [b"a"], [b"r"])) + wire(12, wire(1, b"r"))
    reference = b"".join(wire(5, wire(1, each) + wire(20, 5) + wire(21, b"g")) for each in (b"then_branch", b"else_branch"))
    body = [raw_node(b"If", [b"i"], [b"v%d" % k], reference) for k in range(5000)]
    body.append(raw_node(b"Identity", [b"v0"], [b"o"]))
    function = raw_function(b"F", body, rest=wire(6, b"g"))
    call = raw_node(b"F", [b"c"], [b"y"], attribute(b"g", 6, branch, 5), b"f")
    rest = wire(11, info("c", BOOL, []).SerializeToString())
    return raw_model([call], [("a", [2])], [b"y"], rest, [function])


def element_lists(op):
    """Lists of 255 sizes, all symbolic, of which each node makes new ones."""
    nodes = [raw_node(b"Shape", [b"x"], [b"s"]), raw_node(b"Expand", [b"s", b"n"], [b"a"])]
    nodes += chain(op, 20000, more=[b"a"])
    rest = wire(5, ints("n", 255).SerializeToString())
    return raw_model(nodes, [("x", ["k"])], [name_of(20000)], rest)


def dimension_lists():
    """An input of very many dimensions, handed on."""
    dims = wire(2, wire(1, b"") * 200000)
    kind = wire(2, wire(1, wire(1, 1) + dims))
    return raw_model(chain(b"Relu", 20000), (), [name_of(20000)], wire(11, wire(1, b"a") + kind))


def unknown_ranks():
    """A list without end, which is to be a shape."""
    rest = wire(11, info("s", INT64, [2**31 - 1]).SerializeToString())
    nodes = [raw_node(b"Reshape", [b"a", b"s"], [name_of(i + 1)]) for i in range(20000)]
    return raw_model(nodes, [("a", [2])], [name_of(1)], rest)


def split_outputs():
    nodes = [raw_node(b"Split", [b"x"], [name_of(30000 * k + i) for i in range(30000)],
                      wire(5, wire(1, b"num_outputs") + wire(3, 30000) + wire(20, 2))) for k in range(5)]
    return raw_model(nodes, [("x", ["k"] * 8)], [name_of(1)])


def nonzero_row(count, all_live):
    """Nodes after each of which planning goes on; each has another input, since equal ones become one."""
    nodes = chain(b"NonZero", count)
    last = [name_of(i) for i in range(2, count + 1)] if all_live else [name_of(count)]
    nodes.append(raw_node(b"Concat", last, [b"y"], attribute(b"axis", 3, 1, 2)))
    return raw_model(nodes, [("a", [4])], [b"y"])


def growing_bodies():
    """Loops whose bodies meet new shapes in each iteration; each plan is large."""
    inside = b"".join(wire(1, each) for each in (
        raw_node(b"Concat", [b"s", b"x"], [b"t"], wire(5, wire(1, b"axis") + wire(3, 0) + wire(20, 2))),
        raw_node(b"Identity", [b"on"], [b"again"])))
    inside += b"".join(wire(1, raw_node(b"Softmax", [b"t"], [name_of(i)])) for i in range(26 * 26, 26 * 26 + 12000))
    inside += wire(1, raw_node(b"Sum", [name_of(i) for i in range(26 * 26, 26 * 26 + 12000)], [b"all"]))
    inside += wire(1, raw_node(b"ReduceSum", [b"all"], [b"one"], attribute(b"keepdims", 3, 0, 2)))
    inside += b"".join(wire(11, wire(1, each)) for each in (b"i", b"on", b"s"))
    inside += b"".join(wire(12, wire(1, each)) for each in (b"again", b"t", b"one"))
    loop = raw_node(b"Loop", [b"n", b"", b"x"], [b"y", b"z"], attribute(b"body", 6, inside, 5))
    return raw_model([loop], [("x", [1])], [b"y", b"z"], wire(5, tensor("n", 200, np.int64).SerializeToString()))


def branching_plans():
    """Many plans may follow each plan: what comes next depends on the number of elements, again and again."""
    inside = b"".join(wire(1, each) for each in (
        raw_node(b"Identity", [b"on"], [b"again"]),
        raw_node(b"RandomUniformLike", [b"x"], [b"u0"]), raw_node(b"RandomUniformLike", [b"x"], [b"u1"]),
        raw_node(b"RandomUniformLike", [b"x"], [b"u2"]),
        *(raw_node(b"Greater", [b"u%d" % k, b"h"], [b"g%d" % k]) for k in range(3)),
        *(raw_node(b"NonZero", [b"g%d" % k], [b"z%d" % k]) for k in range(3)),
        *(raw_node(b"Relu", [b"u0"], [b"r%d" % k]) for k in range(300)),
        raw_node(b"Size", [b"z2"], [b"m"]), raw_node(b"Identity", [b"s"], [b"t"])))
    inside += b"".join(wire(11, wire(1, each)) for each in (b"i", b"on", b"s"))
    inside += b"".join(wire(12, wire(1, each)) for each in (b"again", b"t", b"m"))
    loop = raw_node(b"Loop", [b"n", b"", b"x"], [b"y", b"z"], attribute(b"body", 6, inside, 5))
    rest = wire(5, tensor("n", 3000, np.int64).SerializeToString()) + wire(5, tensor("h", 0.5).SerializeToString())
    return raw_model([loop], [("x", [30])], [b"y", b"z"], rest)


def many_opsets():
    return raw_model(chain(b"Relu", 25000), [("a", [2])], [name_of(25000)], opsets=[b"%d" % i for i in range(50000)])


def many_defaults():
    """Attributes that refer to attributes that refer to attributes."""
    names = [name_of(i) for i in range(500)]
    references = b"".join(wire(5, wire(1, each) + wire(20, 2) + wire(21, each)) for each in names)
    functions = [raw_function(b"F%d" % i, [raw_node(b"F%d" % (i + 1), [b"i"], [b"o"], references, b"f")] * 1) for i in range(60)]
    functions.append(raw_function(b"F60", [raw_node(b"Relu", [b"i"], [b"o"], references)]))
    given = b"".join(wire(5, wire(1, each) + wire(3, 1) + wire(20, 2)) for each in names)
    nodes = [raw_node(b"F0", [name_of(i)], [name_of(i + 1)], given, b"f") for i in range(30)]
    return raw_model(nodes, [("a", [2])], [name_of(30)], functions=functions)


def drawn_constants():
    """Constants of very many dimensions that each box of a drawing would write down."""
    weight = wire(5, wire(1, b"\x01" * 300000) + wire(2, 1) + wire(8, b"w") + wire(9, b"1234"))
    nodes = [raw_node(b"Add", [b"w", b"w"], [name_of(i)]) for i in range(20000)]
    return raw_model(nodes, (), [name_of(0)], weight)


def nested_rows(count):
    """Many nodes in the innermost of many branches."""
    inner = b"".join(wire(1, raw_node(b"Relu", [b"x"], [name_of(i)])) for i in range(26**3, 26**3 + count))
    inner += wire(12, wire(1, name_of(26**3)))
    for _ in range(30):
        both = attribute(b"then_branch", 6, inner, 5)
        small = attribute(b"else_branch", 6, wire(1, raw_node(b"Relu", [b"x"], [b"r"])) + wire(12, wire(1, b"r")), 5)
        inner = wire(1, raw_node(b"If", [b"c"], [b"r"], both + small)) + wire(12, wire(1, b"r"))
    return raw_model([], [("x", [2])], (), inner + wire(11, info("c", BOOL, []).SerializeToString()))


def alike(number):
    """Names of 16 bytes that all have one hash under the widespread MurmurHash64A, whatever its key."""
    mask, factor = (1 << 64) - 1, 0xC6A4A7935BD1E995
    inverse = pow(factor, -1, 1 << 64)

    def mixed(word):
        word = word * factor & mask
        return (word ^ word >> 47) * factor & mask

    def unmixed(word):
        word = word * inverse & mask
        return (word ^ word >> 47) * inverse & mask

    state = 0xC70F6907 ^ 16 * factor & mask
    after = (state ^ mixed(number)) * factor & mask
    return number.to_bytes(8, "little") + unmixed(after ^ 0x1234567812345678).to_bytes(8, "little")


def alike_values(form):
    names = [alike(i) for i in range(1, 24000)]
    chained = [raw_node(b"Relu", [b"a"], [names[0]])]
    chained += [raw_node(b"Relu", [left], [right]) for left, right in zip(names[:20000], names[1:])]
    if form == "chain":
        return raw_model(chained, [("a", [2])], [names[20000]])
    if form == "backwards":
        return raw_model(chained[::-1], [("a", [2])], [names[20000]])
    if form == "row":
        return raw_model([raw_node(b"Relu", [b"a"], [each]) for each in names], [("a", [2])], names[:4000])
    if form == "weights":
        weights = b"".join(wire(5, wire(1, b"\x01") + wire(2, 1) + wire(8, each) + wire(9, b"1234"))
                           for each in names[:12000])
        return raw_model([raw_node(b"Sum", names[:12000], [b"y"])], (), [b"y"], weights)
    inputs = b"".join(wire(11, wire(1, name_of(i + 1)) + wire(2, wire(1, wire(1, 1) + wire(2, wire(1, wire(2, each))))))
                      for i, each in enumerate(names))
    return raw_model([raw_node(b"Relu", [name_of(1)], [b"y"])], (), [b"y"], inputs)


def sequence_of_one_text():
    """A long text as each element of a sequence."""
    text = raw_node(b"Constant", (), (b"x",), attribute(b"value_string", 4, b"a" * (MEGABYTE // 2), 3))
    return raw_model([text, raw_node(b"SequenceConstruct", (b"x",) * 60000, (b"s",)),
                      raw_node(b"SequenceLength", (b"s",), (b"y",))], outputs=(b"y",))


ONLY_LOADED = "work of"  # what is not done ahead of its time takes its time when it runs


# Rows of nodes that read one value, or each other: for passes that look at neighbours.
PASS_OPERATORS = {
    "Relu": (b"Relu", b""),
    "Identity": (b"Identity", b""),
    "Transpose": (b"Transpose", wire(5, wire(1, b"perm") + wire(8, bytes([1, 0])) + wire(20, 7))),
    "Cast": (b"Cast", wire(5, wire(1, b"to") + wire(3, 1) + wire(20, 2))),
    "Softmax": (b"Softmax", b""),
    "ReduceMean": (b"ReduceMean", b""),
    "Shape": (b"Shape", b""),
    "Flatten": (b"Flatten", b""),
    "Erf": (b"Erf", b""),
    "Add": (b"Add", b""),
    "MatMul": (b"MatMul", b""),
    "Concat": (b"Concat", wire(5, wire(1, b"axis") + wire(3, 0) + wire(20, 2))),
}
BINARY = ("Add", "MatMul", "Concat")


def row(op, is_chain):
    kind, rest = PASS_OPERATORS[op]
    size = len(raw_node(kind, [b"abcd"] * (2 if op in BINARY else 1), [b"abcd"], rest)) + 3
    count = min(MEGABYTE // size, 40000)
    if op == "Concat" and is_chain:
        count = 60
    if is_chain:
        second = [b"a"] if op in ("Add", "MatMul") else []
        nodes = [raw_node(kind, [name_of(i)] * (2 if op == "Concat" else 1) + second, [name_of(i + 1)], rest) for i in range(count)]
    else:
        nodes = [raw_node(kind, [b"a"] * (2 if op in BINARY else 1), [name_of(i + 1)], rest) for i in range(count)]
    outputs = [name_of(count - i) for i in range(1 if is_chain else 4000) if count > i]
    return raw_model(nodes, [("a", [2, 2])], outputs)


def huge_windows(op):
    """A constant from which far more is computed than there is."""
    w = 1 << 18
    image = tensor("w", np.zeros([1]))
    grow = [node("Expand", ["w", "s"], ["x"])]
    windows = {
        "MaxPool": ([1, 1, w], dict(kernel_shape=[w - 1], pads=[w // 2, w // 2])),
        "AveragePool": ([1, 1, w], dict(kernel_shape=[w - 1], pads=[w // 2, w // 2])),
        "LpPool": ([1, 1, w], dict(kernel_shape=[w - 1], pads=[w // 2, w // 2])),
        "LRN": ([1, w, 1], dict(size=w - 1)),
        "Conv": ([1, 1, w], dict(pads=[w // 4, w // 4])),
        "ConvTranspose": ([1, 1, w // 2], {}),
        "MatMul": ([1, 512, 512], {}),
        "RNN": ([1024, 1, 4], dict(hidden_size=4)),
        "Det": ([4, 256, 256], {}),
        "TopK": ([1, w], {}),
    }
    shape, attributes = windows[op]
    constants = [image, ints("s", *shape)]
    inputs, outputs = ["x"], ["y"]
    if op in ("Conv", "ConvTranspose"):
        constants.append(ints("t", 1, 1, w // 2))
        grow.append(node("Expand", ["w", "t"], ["k"]))
        inputs.append("k")
    if op == "MatMul":
        inputs.append("x")
    if op == "RNN":
        constants += [tensor("k", np.zeros([1, 4, 4])), tensor("r", np.zeros([1, 4, 4]))]
        inputs += ["k", "r"]
    if op == "TopK":
        constants.append(ints("t", 1000))
        inputs.append("t")
        outputs = ["y", "z"]
    rounds = {"MatMul": 60, "TopK": 60, "Det": 40}.get(op, 1)
    nodes = grow
    for k in range(rounds):
        names = [*inputs]
        if rounds > 1:  # different ones, since equal ones become one
            nodes.append(node("Constant", [], [f"c{k}"], value_float=float(k)))
            nodes.append(node("Add", ["x", f"c{k}"], [f"x{k}"]))
            names = [f"x{k}" if each == "x" else each for each in inputs]
        nodes.append(node(op, names, [f"{each}{k}" for each in outputs], **attributes))
    return model(nodes, (), [f"y{k}" for k in range(rounds)], constants)


CASES = {
    **{f"constants of a called function: {kind}": (lambda kind=kind: called_constants(kind))
       for kind in ("value", "value_ints", "value_strings", "sparse_value")},
    "name of a call": long_call_name,
    "names of nested calls": nested_call_names,
    "symbols of outputs": lambda: symbols_of_outputs(1000),
    "long symbols of outputs": lambda: symbols_of_outputs(100000),
    "sparse weights": lambda: sparse_weights(1000),
    "constants of a referenced graph": lambda: referenced_graphs(False),
    "weights of a referenced graph": lambda: referenced_graphs(True),
    **{f"lists of sizes: {op}": (lambda op=op: element_lists(op.encode())) for op in ("Add", "Mul", "Max")},
    "dimensions of an input": dimension_lists,
    "ranks that nobody knows": unknown_ranks,
    "outputs of unknown sizes": split_outputs,
    "plans in a row": lambda: nonzero_row(14000, False),
    "plans in a row, all values alive": lambda: nonzero_row(14000, True),
    "too many plans in a row": lambda: nonzero_row(17000, True),
    "plans of a body": growing_bodies,
    "plans after plans": branching_plans,
    "operator sets": many_opsets,
    "attributes that refer to attributes": many_defaults,
    "dimensions in a drawing": drawn_constants,
    "a text that a sequence has often": sequence_of_one_text,
    "nodes in nested branches": lambda: nested_rows(9000),
    **{f"names of one hash: {form}": (lambda form=form: alike_values(form))
       for form in ("chain", "row", "backwards", "weights", "symbols")},
    **{f"row of {op}": (lambda op=op: row(op, False)) for op in PASS_OPERATORS},
    **{f"chain of {op}": (lambda op=op: row(op, True)) for op in PASS_OPERATORS},
    **{f"work of {op}": (lambda op=op: huge_windows(op))
       for op in ("MaxPool", "AveragePool", "LpPool", "LRN", "Conv", "ConvTranspose", "MatMul", "RNN", "Det", "TopK")},
}
