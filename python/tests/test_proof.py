"""What counts as a proof: dtypes, outputs that are slightly off, batches that say nothing, models that change."""

import unittest

import numpy as np

import kinds
from kinds import D, K, N, build, inputs
from support import CaptureTest, needs_torch, torch

from collapse import ClassifierError, Tap

if torch:
    from torch import nn


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



if __name__ == "__main__":
    unittest.main()
