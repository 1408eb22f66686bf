"""What counts as a proof: dtypes, outputs that are slightly off, batches that say nothing, models that change."""

import itertools
import unittest
from unittest import mock

import numpy as np

import kinds
from kinds import D, K, N, build, inputs
from support import CaptureTest, needs_torch, torch

from collapse import ClassifierError, Tap

if torch:
    from torch import nn

    from collapse import proof


@needs_torch
class ProofTest(CaptureTest):
    def test_dtypes_and_modes(self):
        x = inputs("Net")
        for dtype, tolerance in ((torch.float64, 1e-14), (torch.float32, 2e-6), (torch.bfloat16, 0.07)):
            with self.subTest(dtype):
                self.setUp()
                info = self.capture(build("Net").to(dtype), [x.to(dtype)])
                self.assertLessEqual(info["proof"]["largest_error"], info["proof"]["tolerance"])
                self.assertTrue(tolerance / 10 < info["proof"]["tolerance"] < tolerance, info["proof"])

    def test_gradients_inference_mode_and_autocast(self):
        model, x = build("Net"), inputs("Net")
        for context in (torch.inference_mode, torch.enable_grad, lambda: torch.autocast("cpu", torch.bfloat16)):
            self.setUp()
            with context(), Tap(model, self.folder, labelled=False):
                want = model(x).float().detach()
            h, weight, bias = self.recorded()
            self.assertLess(np.abs(h @ weight.T + bias - want.numpy()).max(), 0.02)
            np.testing.assert_array_equal(weight, model.fc.weight.detach().double().numpy())

    def test_an_output_slightly_off_is_refused(self):
        class Off(kinds.Net):
            by = 0.0

            def forward(self, x):
                z = super().forward(x)
                return z + self.by * z.square()

        for by, proved in ((0.0, True), (1e-4, False)):
            self.setUp()
            torch.manual_seed(5)
            model = Off().eval()
            model.by = by
            if proved:
                self.capture(model, [inputs("Net")])
            else:
                with self.assertRaises(ClassifierError):
                    self.capture(model, [inputs("Net")])

    def test_an_output_of_zeros_or_nan_proves_nothing(self):
        class Spoilt(kinds.Net):
            by = 0.0

            def forward(self, x):
                return super().forward(x) * self.by

        for by in (0.0, float("nan"), float("inf")):
            with self.subTest(by):
                self.setUp()
                torch.manual_seed(5)
                model = Spoilt().eval()
                model.by = by
                with self.assertRaisesRegex(ClassifierError, "is not W h" if by == 0 else "NaN or infinity"):
                    self.capture(model, [inputs("Net")])

    def test_an_offset_is_not_read_from_equal_rows(self):
        """On a batch of one repeated sample any layer that is K wide would do."""
        model = build("MatrixProduct")
        with self.assertRaises(ClassifierError):
            self.capture(model, [inputs("Net")[:1].repeat(N, 1)])
        self.setUp()
        with self.assertRaises(ClassifierError):
            self.capture(model, [inputs("Net")[:3]])

    def test_saturated_probabilities_prove_nothing(self):
        model = build("Softmax")
        with torch.no_grad():
            model.fc.weight *= 1e4
        with self.assertRaises(ClassifierError):
            self.capture(model, [inputs("Net")])

    def test_sure_probabilities_may_follow(self):
        """Once proved, a classifier may be certain of a whole batch, as trained ones are."""
        for kind in ("SigmoidColumn", "Softmax"):
            self.setUp()
            model = build(kind)
            with torch.no_grad():
                model.fc.weight *= 300
                x = torch.cat([inputs(kind, seed) for seed in range(9)])
                sure = model(x) > 0.9999 if kind == "SigmoidColumn" else model(x).amax(1) > 0.9999
            self.assertGreater(int(sure.sum()), 6)
            self.capture(model, [x[~sure][:20], x[sure]])
            self.assertEqual(len(self.stream("features")), len(x[~sure][:20]) + int(sure.sum()))

    def test_many_rows_are_sampled(self):
        x = torch.randn(5000, 8)
        self.assertEqual(self.capture(build("Net"), [x])["proof"]["rows"], 256)
        self.assertEqual(len(self.stream("features")), 5000)

    def test_a_model_that_changes_its_way_is_refused(self):
        class Changes(kinds.Net):
            calls = 0

            def head(self, h):
                self.calls += 1
                return self.fc(h) if self.calls == 1 else self.later(h)

        x = inputs("Net")
        for later, words in ((lambda h: self.model.fc(h) * 1.01, "off by"), (lambda h: h @ torch.ones(D, K), "not in a later one"),
                             (lambda h: self.model.fc(h)[:, :2], "output of a later batch has shape")):
            self.setUp()
            torch.manual_seed(5)
            self.model = Changes().eval()
            self.model.later = later
            with self.assertRaisesRegex(ClassifierError, words):
                self.capture(self.model, [x, x])
            info = self.info()
            self.assertEqual((info["complete"], info["samples"], info["error"]), (False, N, "ClassifierError"))

    def test_classes_on_axis_1_of_sequences_that_vary_in_length(self):
        """The first batch is as long as there are classes, so that both axes could be the classes'."""
        class Transposed(kinds.Tied):
            def head(self, h):
                return super().head(h).transpose(1, 2)

        torch.manual_seed(5)
        model, lengths = Transposed().eval(), (K, 1, 7, K)
        batches = [torch.randint(0, K, (N, length)) for length in lengths]
        self.capture(model, batches, [x % 2 for x in batches])
        with torch.no_grad():
            want = torch.cat([model.features(x).reshape(-1, D) for x in batches])
        np.testing.assert_array_equal(self.stream("features"), want.numpy())
        np.testing.assert_array_equal(self.stream("labels"), torch.cat([x.reshape(-1) % 2 for x in batches]).numpy())

    def test_weights_that_change_inside_the_block_are_refused(self):
        model, x = build("Net"), inputs("Net")
        with self.assertRaisesRegex(ValueError, "weights changed inside"):
            with torch.no_grad(), Tap(model, self.folder, labelled=False):
                model(x)
                model.fc.weight[0, 0] += 1e-3
        self.assertFalse(self.info()["complete"])

    def test_an_empty_batch_may_come_later_but_not_first(self):
        with self.assertRaisesRegex(ClassifierError, "the first batch is empty"):
            self.capture(build("Net"), [inputs("Net")[:0]])
        self.capture(build("Net"), [inputs("Net"), inputs("Net")[:0], inputs("Net")])
        self.assertEqual(len(self.stream("features")), 2 * N)

    def test_compiled_and_scripted_models_are_refused(self):
        net = nn.Sequential(nn.Linear(8, D), nn.Linear(D, K)).eval()
        with self.assertRaisesRegex(TypeError, r"Tap\(plain_model, folder\)"):
            Tap(torch.jit.script(net), self.folder)
        x = inputs("Net")
        for inner in (torch.jit.script(net), torch.jit.trace(net, x)):
            self.setUp()
            with self.assertRaisesRegex(ClassifierError, "no linear layer"):
                self.capture(nn.Sequential(inner, nn.Identity()), [x])

    def test_nothing_stays_behind(self):
        from torch.nn.modules import module
        before = len(module._global_forward_hooks), len(module._global_forward_pre_hooks)
        model = build("Net")
        with self.assertRaises(RuntimeError):
            with Tap(model, self.folder, labelled=False):
                self.assertGreater(len(model._forward_hooks), 0)
                model(torch.zeros(2, 9))
        self.assertEqual((len(module._global_forward_hooks), len(module._global_forward_pre_hooks)), before)
        self.assertEqual(torch._C._len_torch_function_stack() if hasattr(torch._C, "_len_torch_function_stack") else 0, 0)



@needs_torch
class PartsTest(unittest.TestCase):
    """The parts of a proof, each against what it should find."""

    def product(self, h, W, b=None, precise=None):
        from collapse.products import Product
        return Product(h, W, b, torch.zeros(1, dtype=precise or h.dtype), None, 0)

    def test_rows_that_are_compared(self):
        for count, most in ((5, 5), (4, 5), (0, 5), (1, 1)):
            self.assertEqual(proof.sampled(count, most).tolist(), list(range(count)))
        self.assertEqual(proof.sampled(6, 5).tolist(), [0, 1, 2, 4, 5])
        self.assertEqual(proof.sampled(1001, 5).tolist(), [0, 250, 500, 750, 1000])
        for k, d, want in ((10, 512, 256), (1000, 1 << 16, 32), (50000, 1 << 20, 8), (1 << 11, 1 << 12, 256), (1 << 12, 1 << 12, 128)):
            self.assertEqual(proof.rows_to_compare(self.product(torch.zeros(1), torch.zeros(1, 1).expand(k, d))), want)

    def test_tolerances(self):
        u = {torch.float64: 2.0 ** -53, torch.float32: 2.0 ** -24, torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}
        for h, W, precise, output in itertools.product(u, u, u, u):
            got = proof.tolerance(self.product(torch.zeros(2, 7, dtype=h), torch.zeros(3, 7, dtype=W), precise=precise), torch.zeros(2, 3, dtype=output))
            kinds_ = (h, W, precise, output)
            self.assertEqual(got, 16 * max(u[kind] for kind in kinds_) + 7 * (u[torch.float64] if set(kinds_) == {torch.float64} else u[torch.float32]))
        x = self.product(torch.zeros(2, 7), torch.zeros(3, 7))
        for named, want in (("highest", 2.0 ** -24), ("high", 2.0 ** -11), ("medium", 2.0 ** -8)):
            with mock.patch.object(torch, "get_float32_matmul_precision", lambda: named):
                self.assertEqual(proof.tolerance(x, torch.zeros(2, 3)), 16 * want + 7 * 2.0 ** -24)
                self.assertEqual(proof.tolerance(self.product(torch.zeros(2, 7).double(), torch.zeros(3, 7).double()), torch.zeros(2, 3).double()), 23 * 2.0 ** -53)

    def test_ways_in_which_axes_match(self):
        n, t, k = 4, 3, 2
        rows = torch.arange(float(n * t * k)).reshape(n * t, k)
        tokens = rows.reshape(n, t, k)
        for output, positions, count in ((rows, (n * t,), 1), (tokens, (n, t), 1), (tokens.movedim(-1, 1), (n, t), 1), (rows, (n, t), 1), (tokens, (n * t,), 0),
                                         (rows.reshape(n, t, 1, k).movedim(-1, 1), (n, t, 1), 1), (rows.T, (n * t,), 0), (rows[:-1], (n * t,), 0)):
            ways = proof.arrangements(output, positions, k)
            self.assertEqual(len(ways), count, (output.shape, positions))
            self.assertTrue(all(torch.equal(way, rows) for way in ways))
        square = torch.arange(12.0).reshape(n, 3, 1, 1).expand(n, 3, 3, 1)  # both axes could be the classes'
        first, second = proof.arrangements(square, (n, 3, 1), 3)
        self.assertTrue(torch.equal(first, square.reshape(-1, 3)) and torch.equal(second, square.movedim(1, -1).reshape(-1, 3)))
        self.assertEqual(proof.arrangements(torch.zeros(0, k), (0,), k), [])
        self.assertEqual(proof.arrangements(torch.zeros(0, 3, k), (0, 3), k), [])

    def test_products_by_parts(self):
        h, W, b = torch.randn(9, 5), torch.randn(7, 5), torch.randn(7)
        for chunk in (1 << 21, 1, 12):
            for bias, classes in ((b, None), (None, None), (b, torch.tensor([0, 2, 6]))):
                with mock.patch.object(proof, "CHUNK", chunk):
                    r, scale = proof.products_in_float64(self.product(h, W, bias), torch.tensor([0, 4, 8]), classes)
                pick = slice(None) if classes is None else classes
                H, V, c = h[[0, 4, 8]].double(), W[pick].double(), torch.zeros(7).double()[pick] if bias is None else bias[pick].double()
                torch.testing.assert_close(r, H @ V.t() + c, rtol=1e-13, atol=1e-13)
                torch.testing.assert_close(scale, ((H ** 2) @ (V ** 2).t() + c ** 2).sqrt(), rtol=1e-13, atol=1e-13)

    def fit(self, transform, output, r, tol=1e-6, scale=None):
        return proof.fit(transform, r, torch.ones_like(r) if scale is None else scale, output, tol, torch.finfo(torch.float32).tiny)

    def test_transforms(self):
        r = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
        offset = torch.tensor([3.0, -1, 0, 5]).double()
        made = {"none": r, "scale": -3 * r, "offset": r + offset, "scale and offset": 0.5 * r + offset, "log_softmax": r.log_softmax(1), "softmax": r.softmax(1), "sigmoid": r.sigmoid()}
        includes = {"none": {"none", "scale", "offset", "scale and offset"}, "scale": {"scale", "scale and offset"}, "offset": {"offset", "scale and offset"}}
        for name, output in made.items():
            fits = {transform for transform in proof.TRANSFORMS if self.fit(transform, output, r) is not None}
            self.assertEqual(fits, includes.get(name, {name}))
            self.assertIsNone(self.fit(name, output * (1 + 1e-4) + 1e-4 * torch.arange(12)[:, None] % 5, r), name)
            self.assertIsNone(self.fit(name, output * float("nan"), r), name)
        found = self.fit("scale and offset", made["scale and offset"], r)
        self.assertAlmostEqual(found.scale, 0.5, delta=1e-12)
        torch.testing.assert_close(found.offset, offset, rtol=0, atol=1e-12)
        self.assertEqual((found.rows, found.tolerance), (12, 1e-6))
        self.assertEqual(self.fit("none", r, r).error, 0)

    def test_too_little_to_fit(self):
        r = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
        for rows, transforms in ((1, {"none"}), (2, {"none", "scale"}), (3, {"none", "scale"}), (4, {"none", "scale", "offset", "scale and offset"})):
            self.assertEqual({t for t in proof.TRANSFORMS[:4] if self.fit(t, r[:rows], r[:rows]) is not None}, transforms, rows)
        self.assertIsNone(self.fit("scale", 2 * r[:3, :1], r[:3, :1]))  # three numbers
        self.assertIsNotNone(self.fit("scale", 2 * r[:4, :1], r[:4, :1]))
        self.assertIsNone(self.fit("scale", 0 * r, r))
        self.assertIsNone(self.fit("scale", r, 0 * r))
        still = r * torch.tensor([1, 1, 1e-4, 1]).double()  # one class hardly varies: its offset would take up everything
        self.assertIsNone(self.fit("offset", still + 1, still))
        for transform in ("softmax", "log_softmax"):
            self.assertIsNone(self.fit(transform, torch.ones(12, 1).double(), r[:, :1]))

    def test_probabilities_that_tell_nothing(self):
        r = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
        for name, change in (("softmax", lambda z: z.softmax(1)), ("sigmoid", torch.sigmoid)):
            self.assertIsNotNone(self.fit(name, change(2 * r), 2 * r, 1e-9))
            self.assertIsNone(self.fit(name, change(2 * r) - 1, 2 * r, 1e9), name)  # negative ones
            self.assertIsNone(self.fit(name, change(1000 * r), 1000 * r, 1e9), name)  # nearly all 0 or 1
            self.assertIsNone(self.fit(name, change(2 * r) * (torch.arange(12) > 0)[:, None], 2 * r, 1e9), name)  # zeros that should be none
        for rows, width, proved in ((1, 3, False), (2, 2, True), (4, 1, True), (3, 1, False)):  # fewer than four numbers say nothing
            few = r[:rows, :width]
            self.assertEqual(self.fit("sigmoid", few.sigmoid(), few) is not None, proved, (rows, width))
        r[0, 0], r[1, 0] = -200, -300  # some may be too small for the output's type
        tiny = r.sigmoid().float().double()
        self.assertEqual((float(tiny[1, 0]), self.fit("sigmoid", tiny, r, 1e-6) is not None), (0, True))


if __name__ == "__main__":
    unittest.main()
