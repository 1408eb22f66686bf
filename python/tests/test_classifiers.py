"""Parts of how a classifier is found: names of modules, outputs of any form, one position of several, and every scale, bias, offset and layout."""

import itertools
import os
import unittest

import numpy as np

from kinds import D, K, N, T, build
from support import CaptureTest, needs_torch, torch

from collapse import ClassifierError, Tap

if torch:
    from torch import nn


@needs_torch
class NamesTest(CaptureTest):
    """Under which names weights can be asked for."""

    def test_holders_first_then_what_ran(self):
        from collapse.heads import Held, under
        from collapse.products import Product
        one, two, outer = nn.Linear(D, K), nn.Linear(D, K), nn.Identity()
        two.weight = one.weight  # shared
        other = nn.Linear(D, K)
        held = Held({"": nn.Module(), "one": one, "two": two, "outer": outer, "other": other})
        product = lambda weight, module: Product(torch.zeros(2, D), weight, None, torch.zeros(1), module, 0)
        for weight, module, want in ((one.weight, two, (["two", "one"], True)), (one.weight, outer, (["one", "two", "outer"], True)), (one.weight, None, (["one", "two"], True)),
                                     (torch.randn(K, D), outer, (["outer"], False)), (torch.randn(K, D), None, ([], False)),
                                     (one.weight[:2], one, (["one"], False)), (other.weight, other, (["other"], True))):
            self.assertEqual(held.names_of(product(weight, module)), want)
        self.assertEqual(held.addresses, {m.data_ptr() for m in (one.weight, one.bias, two.bias, other.weight, other.bias)})
        for name, wanted, want in (("a.b", "a", True), ("a", "a", True), ("ab", "a", False), ("a", "a.b", False), ("a", "", True), ("", "", True), ("", "a", False)):
            self.assertEqual(under(name, wanted), want)

    def test_a_name_that_no_module_has(self):
        model = nn.ModuleDict({"part%d" % i: nn.Linear(D, D) for i in range(10)})
        for name, words in (("zzz", "near or first names: " + ", ".join("'part%d'" % i for i in range(8)) + "$"), ("part", "near or first names: 'part9', 'part8', 'part7'$"), (3, "no module 3")):
            with self.assertRaisesRegex(ValueError, words):
                Tap(model, self.folder, classifier=name)
        with self.assertRaisesRegex(ValueError, "no module 'zzz'"):
            Tap(model, self.folder, layers=["part1", "zzz"])

    def test_which_calls_make_no_sense(self):
        model = build("Net")
        for kind, words, options in ((TypeError, r"layers is the string 'fc'; it must be a list: \['fc'\]", {"layers": "fc"}),
                                     (ValueError, "pool is 'max'; it must be 'mean', 'flatten', 'tokens', 'positions' or", {"pool": "max"}),
                                     (ValueError, "keep is 'sums'; it must be 'features' or 'states'", {"keep": "sums"}),
                                     (ValueError, "labelled=False says there are no classes", {"keep": "states", "labelled": False}),
                                     (ValueError, "drop_nonfinite goes with keep='states'", {"drop_nonfinite": True}), (ValueError, "nothing to take", {"classifier": None})):
            with self.assertRaisesRegex(kind, words):
                Tap(model, self.folder, **options)
        for options in ({"keep": "states", "drop_nonfinite": True}, {"labelled": False}, {"pool": lambda t: t}, {"classifier": None, "layers": ("fc",)}):
            Tap(model, self.folder, **options)

    def test_outputs_of_any_form(self):
        from collapse.heads import outputs_of
        x, y = torch.ones(2, 3), torch.zeros(2, 3)
        paths = lambda value, pick=None: [path for path, _ in outputs_of(value, pick)]
        Thing = type("Thing", (), {})
        thing, deep = Thing(), Thing()
        thing.a, thing.b, thing.net, deep.logits = x, [y, {"k": x}], nn.Linear(2, 2), x
        for value, want in ((x, [""]), ((x, y), ["[0]", "[1]"]), ({"a": x, "b": [y, (x,)]}, ["['a']", "['b'][0]", "['b'][1][0]"]), ({"logits": x, "b": y}, [".logits"]), (deep, [".logits"]),
                            (thing, [".a", ".b[0]", ".b[1]['k']"]), (torch.ones(2).long(), []), (torch.tensor(1.0), []), ([[[[x]]]], []), ([[[x]]], ["[0][0][0]"]), (None, []), (3, []),
                            ({"logits": 3, "a": x}, ["['a']"]), ([x] * 40, ["[%d]" % i for i in range(32)])):
            self.assertEqual(paths(value), want)
        around, chain = Thing(), x
        around.itself, around.h = around, x  # it ends
        self.assertEqual(paths(around), [".itself.itself.h", ".itself.h", ".h"])
        for _ in range(4):
            outer = Thing()
            outer.inner, chain = chain, outer
        self.assertEqual((paths(chain), paths(chain.inner)), ([], [".inner.inner.inner"]))
        self.assertEqual((paths({1: {2: {3: {4: x}}}}), paths({1: {2: {3: x}}})), ([], ["[1][2][3]"]))
        self.assertEqual(paths((x, y), 1), ["logits=1"])
        self.assertEqual(paths({"a": x}, "a"), ["logits='a'"])
        self.assertEqual(paths(thing, "a"), ["logits='a'"])

        def first(value):
            return value[0]
        self.assertEqual((paths((x, y), first), paths((x, y), lambda v: v[0])), (["logits=first"], ["logits=<lambda>"]))


@needs_torch
class ChosenTest(unittest.TestCase):
    """The rows of a product of which a model returned one result for each sample."""

    def setUp(self):
        g = torch.Generator().manual_seed(7)
        self.h, self.W, self.b = torch.randn(N, T, D, generator=g), torch.randn(K, D, generator=g), torch.randn(K, generator=g)
        self.place = torch.arange(N) % T
        self.rows = self.h[torch.arange(N), self.place]

    def chosen(self, h, output, bias=None, tolerance=1e-5):
        from collapse.chosen import chosen
        from collapse.products import Product
        return chosen(Product(h, self.W, bias, output, None, 3), output, tolerance)

    def test_which_rows(self):
        for bias in (None, self.b):
            output = self.rows @ self.W.t() + (0 if bias is None else bias)
            for h in (self.h, self.h.reshape(N, 1, T, D), self.h[:, :, None]):
                for shape in ((N, K), (N, 1, K)):
                    found = self.chosen(h, output.reshape(shape), bias)
                    self.assertTrue(torch.equal(found.h, self.rows))
                    self.assertEqual((found.positions, found.finished, found.weight is not None, found.bias is None), ((N,), 3, True, bias is None))

    def test_none(self):
        output = self.rows @ self.W.t()
        for h, out in ((self.rows, output), (self.h[:0], output[:0]), (self.h, output[:-1]), (self.h, output[:, :-1]), (self.h, output.reshape(1, N, K)), (self.h[:-1], output)):
            self.assertIsNone(self.chosen(h, out), (h.shape, out.shape))

    def test_positions_with_equal_results(self):
        flat = torch.linalg.svd(self.W)[2][-1]  # changes no result
        output = self.rows @ self.W.t()
        other = (self.place + 1) % T
        for sample, change, found in ((range(N), None, True), ([3], flat, False), ([3], 0 * flat, True), ([3], 1e-2 * self.W[0], True)):
            h = self.h.clone()
            for i in sample:
                if change is not None:
                    h[i, other[i]] = self.rows[i] + change
            self.assertEqual(self.chosen(h, output) is not None, found)
        near = self.h.clone()
        near[3, other[3]] = self.rows[3] + 1e-2 * self.W[0]
        self.assertIsNone(self.chosen(near, output, tolerance=1))  # within what rounding may do


@needs_torch
class LaterTest(CaptureTest):
    """What is verified of batches after the first."""

    def test_a_position_that_is_none_any_more(self):
        class Decoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.score, self.take = nn.Linear(D, K, bias=False), lambda scores: scores[:, -1]

            def forward(self, h):
                return {"logits": self.take(self.score(h))}

        several = "gives at one position of each sample, or it gives that at several$"
        for later, words in (("mean", "gives: it is off by"), ("greatest", "gives: it is off by"), ("equal", several), ("fewer", several)):
            self.setUp()
            model, h = Decoder().eval(), torch.randn(N, T, D)
            with self.assertRaisesRegex(ClassifierError, "in a later batch the output is not what the classifier 'score' " + words):
                with torch.no_grad(), Tap(model, self.folder, labelled=False):
                    model(h)
                    model(h + 1)
                    model.take = {"mean": lambda scores: scores.mean(1), "greatest": lambda scores: scores.amax(1), "fewer": lambda scores: scores[1:, -1]}.get(later, model.take)
                    if later == "equal":
                        h[3, 0] = h[3, -1] + torch.linalg.svd(model.score.weight)[2][-1]  # which changes no score
                    model(h)

    def test_probabilities_of_more_classes_than_are_looked_at(self):
        """Of logits a few classes are enough; probabilities depend on all of them."""
        many, width = 700, 500
        for last, transform in ((nn.Identity(), "none"), (nn.Softmax(1), "softmax"), (nn.LogSoftmax(1), "log_softmax")):
            self.setUp()
            model = nn.Sequential(nn.Linear(width, many), last).eval()
            x = torch.randn(20, width)
            info = self.capture(model, [x, x + 0.1, x[:1]])
            self.assertEqual((info["proof"]["transform"], info["samples"]), (transform, 41))


@needs_torch
class TableTest(CaptureTest):
    """Every scale × bias × offset × layout: what a Tap writes gives the model's output, and is what the model's own numbers say."""

    def model(self, layout, scale, bias, offset):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.aside = nn.Linear(D, K)
                self.fc = nn.Conv2d(D, K, 1, bias=bias) if layout == "pixels" else nn.Linear(D, K, bias=bias)
                self.offset = torch.linspace(-3, 4, K)

            def forward(self, x):
                z = scale * self.fc(x)
                if offset:
                    z = z + (self.offset[:, None, None] if layout == "pixels" else self.offset)
                return z.transpose(1, 2) if layout == "tokens, classes first" else z

        return Model().eval()

    def test_scale_bias_offset_and_layout(self):
        shapes = {"rows": (N, D), "tokens": (N, T, D), "tokens, classes first": (N, T, D), "pixels": (N, D, 3, 2)}
        for layout, scale, bias, offset in itertools.product(shapes, (1.0, -2.5, 0.125), (False, True), (False, True)):
            with self.subTest(layout=layout, scale=scale, bias=bias, offset=offset):
                self.setUp()
                model, x = self.model(layout, scale, bias, offset), torch.randn(*shapes[layout])
                proof = self.capture(model, [x, x + 1])["proof"]
                h, W, b = self.recorded()
                rows = (x.movedim(1, -1) if layout == "pixels" else x).reshape(-1, D)
                np.testing.assert_array_equal(h, torch.cat([rows, rows + 1]).double().numpy())
                own = 0 if not bias else model.fc.bias.detach().double().numpy()
                np.testing.assert_allclose(W, scale * model.fc.weight.detach().double().numpy().reshape(K, D), rtol=2e-6)
                np.testing.assert_allclose(b, np.zeros(K) + scale * own + (model.offset.double().numpy() if offset else 0), rtol=2e-6, atol=2e-6)
                self.assertEqual(os.path.exists(self.folder + "/bias.npy"), bias or offset)
                scaled, moved = scale != 1, offset
                self.assertEqual(proof["transform"], "scale and offset" if scaled and moved else "scale" if scaled else "offset" if moved else "none")
                self.assertAlmostEqual(proof["scale"], scale, delta=1e-5 * abs(scale))
                self.assertEqual((proof["output"], proof["one_position"], proof["rows"]), ("", False, len(rows)))
                self.assertLessEqual(proof["largest_error"], proof["tolerance"])

    def test_a_later_batch_that_does_something_else(self):
        """What the model does to the logits must stay, in each layout, also if it is little."""
        for layout, shape in (("rows", (N, D)), ("tokens", (N, T, D)), ("pixels", (N, D, 3, 2))):
            for scale, offset, changed in ((1.0, False, 1.001), (-2.5, True, -2.501)):
                self.setUp()
                model, x = self.model(layout, scale, True, offset), torch.randn(*shape)
                forward = type(model).forward
                words = r"in a later batch the output is not what the classifier 'fc' gives: it is off by [1-9].*e-0[3-5] of its size, where .*e-0[5-7] is rounding"
                with self.assertRaisesRegex(ClassifierError, words):
                    with torch.no_grad(), Tap(model, self.folder, labelled=False):
                        model(x)
                        type(model).forward = lambda self, x: forward(self, x) * (changed / scale)
                        model(x)

    def test_float64_stays_and_half_precision_is_widened(self):
        for kind, want in ((torch.float64, np.float64), (torch.float32, np.float32), (torch.bfloat16, np.float32)):
            for scale in (1.0, 3.0):
                self.setUp()
                self.capture(self.model("rows", scale, True, False).to(kind), [torch.randn(N, D, dtype=kind)])
                self.assertEqual([np.load(self.folder + name).dtype for name in ("/weight.npy", "/bias.npy")], [want, want])


if __name__ == "__main__":
    unittest.main()
