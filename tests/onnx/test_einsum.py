# SPDX-License-Identifier: Apache-2.0
"""Equations of Einsum at random, and those with which weights are gathered for each row, against numpy."""

import random
import unittest

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    import library
except ImportError:
    np = None

# A row times a matrix for each expert, state or head that was chosen for it.
GATHERED = ("td,tkdh->tkh", "tkdh,td->tkh", "td,tkdh->thk", "bsd,bskdh->bskh", "tde,tkdeh->tkh", "td,tkmdhn->tkmhn",
            "td,ktdh->tkh", "td,tkhd->tkh", "td,tkd->tk", "tld,tkdh->tlkh", "d,kdh->kh", "...d,...kdh->...kh")
# Planes of images, as rows or columns of matrices; results that lie in the order of the second operand.
PLANES = ("bkhw,bmhw->bkm", "bmhw,bms->bshw", "bkd,bdhw->bkhw", "bdhw,kd->bkhw", "bhwd,hkd->bhwk", "bkwh,bmhw->bkm")


def equation_of(generator):
    """Two or three terms of up to four axes each, which share some."""
    letters = "abcdefg"
    terms = ["".join(generator.sample(letters, generator.randint(1, 4))) for _ in range(generator.choice((2, 2, 3)))]
    known = sorted(set("".join(terms)))
    return ",".join(terms) + "->" + "".join(generator.sample(known, generator.randint(0, len(known))))


@unittest.skipIf(np is None, "needs numpy and onnx")
class Einsum(unittest.TestCase):
    def check(self, equation, sizes, constant):
        numbers = np.random.default_rng(len(equation))
        terms = [term.replace("...", "YZ") for term in equation.split("->")[0].split(",")]
        arrays = [numbers.standard_normal([sizes[letter] for letter in term]).astype(np.float32) for term in terms]
        names = [f"x{i}" for i in range(len(terms))]
        graph = helper.make_graph(
            [helper.make_node("Einsum", names, ["y"], equation=equation)], "einsum",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
             for i, (name, array) in enumerate(zip(names, arrays)) if i != constant],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(array, name) for i, (name, array) in enumerate(zip(names, arrays)) if i == constant])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        given = [array for i, array in enumerate(arrays) if i != constant]
        actual = library.Model(model.SerializeToString()).run(given)[0]
        expected = np.einsum(equation, *(array.astype(np.float64) for array in arrays))
        most = np.einsum(equation, *(np.abs(array.astype(np.float64)) for array in arrays))
        self.assertEqual(actual.shape, expected.shape, equation)
        self.assertTrue(np.all(np.abs(actual - expected) <= 2e-6 * most + 1e-30), equation)

    def test_matrices_among_other_axes(self):
        sizes = dict(zip("bsdehkltmnwYZ", (2, 3, 5, 4, 7, 3, 2, 6, 2, 3, 4, 3, 2)))
        for equation in GATHERED + PLANES:
            for constant in (None, 0, 1):
                self.check(equation, sizes, constant)

    def test_random_equations(self):
        generator = random.Random(5)
        for _ in range(300):
            sizes = {letter: generator.choice((1, 2, 3, 5)) for letter in "abcdefg"}
            self.check(equation_of(generator), sizes, generator.choice((None, None, 0, 1)))


if __name__ == "__main__":
    unittest.main()
