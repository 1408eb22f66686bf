"""Which layer is taken: kinds of classifiers, each found and proved, or refused with the call that would work."""

import os
import re
import unittest

import numpy as np

import kinds
from kinds import D, FOUND, K, N, REFUSED, T, build, inputs, logits_of
from support import CaptureTest, needs_torch, torch

from collapse import ClassifierError, Tap

if torch:
    from torch import nn
    from torch.nn import functional as F


@needs_torch
class KindsTest(CaptureTest):
    def test_at_least_twelve_kinds_of_which_nine_are_found(self):
        self.assertGreaterEqual(len(FOUND), 9)
        self.assertGreaterEqual(len(FOUND) + len(REFUSED), 12)

    def test_kinds_that_are_found(self):
        for name, (kind, module, transform) in FOUND.items():
            with self.subTest(name):
                self.setUp()
                model, batches = build(kind), [inputs(kind, seed) for seed in range(3)]
                info = self.capture(model, batches)
                self.assertEqual((info["classifier"], info["proof"]["transform"]), (module, transform))
                self.assertLessEqual(info["proof"]["largest_error"], info["proof"]["tolerance"])
                self.assertLess(info["proof"]["tolerance"], 1e-5)
                self.check_numbers(model, batches, transform)

    def check_numbers(self, model, batches, transform):
        """The files against the model, without anything that the Tap uses."""
        h, weight, bias = self.recorded()
        with torch.no_grad():
            if hasattr(model, "features"):
                want = torch.cat([model.features(x).reshape(-1, weight.shape[1]) for x in batches]).numpy()
                np.testing.assert_allclose(h, want, rtol=0, atol=1e-6)
            outputs = [logits_of(model(x)) for x in batches]
        if outputs[0].dim() == 4:
            outputs = [output.permute(0, 2, 3, 1) for output in outputs]
        output = torch.cat([output.reshape(-1, len(weight)) for output in outputs]).double()
        logits = torch.from_numpy(h @ weight.T + bias)
        change = {"log_softmax": lambda z: z.log_softmax(1), "softmax": lambda z: z.softmax(1), "sigmoid": torch.sigmoid}.get(transform, lambda z: z)
        self.assertGreater(float(output.std()), 0.01)
        np.testing.assert_allclose(change(logits).numpy(), output.numpy(), rtol=1e-5, atol=1e-6 * float(output.abs().max()))

    def test_kinds_that_are_refused_with_the_call_that_works(self):
        for name, (kind, calls) in REFUSED.items():
            with self.subTest(name):
                self.setUp()
                model, x = build(kind), inputs(kind)
                with self.assertRaises(ClassifierError) as caught:
                    self.capture(model, [x])
                found = re.findall(r"Tap\(model, folder.*?\)(?= or |$)", str(caught.exception))
                self.assertEqual(found, calls)
                self.assertEqual(os.listdir(self.folder), [])
                for call in calls:
                    self.setUp()
                    tap = eval(call.replace("Tap(model", "Tap(model_").replace("model_, folder", "model, self.folder, labelled=False"),
                               {"Tap": Tap, "model": model, "self": self})
                    with torch.no_grad(), tap:
                        model(x)
                    self.assertEqual(len(self.stream("features" if "classifier=None" not in call else "layers/body")), N)

    def test_data_parallel_is_refused_with_the_call_that_works(self):
        model = nn.DataParallel(build("Net"))
        with self.assertRaisesRegex(TypeError, r"run model.module, and write Tap\(model.module, folder\)"):
            Tap(model, self.folder)
        self.assertEqual(self.capture(model.module.to("cpu"), [inputs("Net")])["classifier"], "fc")


@needs_torch
class ProductsTest(unittest.TestCase):
    """What a forward pass's expressions are read as: the linear map h -> W h + b of the last axis."""

    def products(self, expression):
        from collapse.products import Recorder
        recorder = Recorder()
        with recorder, torch.no_grad():
            recorder.begin(None)
            result = expression()
            return recorder.end(), result

    def test_expressions_that_are_linear(self):
        h, tokens, image, W, b = torch.randn(7, D), torch.randn(7, T, D), torch.randn(7, D, 3, 2), torch.randn(K, D), torch.randn(K)
        for name, expression in {
            "linear": lambda: F.linear(tokens, W, b), "by keyword": lambda: F.linear(h, weight=W, bias=b), "@": lambda: tokens @ W.t(),
            "matmul": lambda: torch.matmul(h, W.t()), "method": lambda: h.matmul(W.t()), "mm": lambda: h.mm(W.t()), "one column": lambda: h @ W[0],
            "addmm": lambda: torch.addmm(b, h, W.t()), "einsum": lambda: torch.einsum("...d,kd->...k", tokens, W), "einsum of a list": lambda: torch.einsum("ntd,kd->ntk", [tokens, W]),
            "einsum by numbers": lambda: torch.einsum(h, [0, 1], W, [2, 1], [0, 2]), "einsum of a transposed one": lambda: torch.einsum("nd, dk -> nk", h, W.t()),
            "1d": lambda: F.conv1d(image.flatten(2), W[:, :, None], b),
            "2d": lambda: F.conv2d(image, W[:, :, None, None], b), "same": lambda: F.conv2d(image, W[:, :, None, None], b, padding="same"),
            "whole": lambda: F.conv2d(image, torch.randn(K, D, 3, 2), b), "3d": lambda: F.conv3d(image[..., None], W[:, :, None, None, None]),
        }.items():
            with self.subTest(name):
                (product,), result = self.products(expression)
                values = product.h @ product.weight.t() + (0 if product.bias is None else product.bias)
                if "d" in name and name[0] in "123" or name == "same":
                    result = result.movedim(1, -1)
                self.assertEqual(values.shape[:-1], product.positions)
                np.testing.assert_allclose(values.reshape(-1).numpy(), result.reshape(-1).numpy(), atol=1e-5)

    def test_expressions_that_are_not(self):
        h, image, W, b = torch.randn(7, D), torch.randn(7, D, 3, 2), torch.randn(K, D), torch.randn(K)
        pixel, half = W[:, :, None, None], torch.randn(D, 1, 1, 1)
        for name, expression in {
            "attention": lambda: image @ image.transpose(2, 3), "scaled": lambda: torch.addmm(b, h, W.t(), alpha=2), "beta": lambda: torch.addmm(b, h, W.t(), beta=0.5),
            "a matrix added": lambda: torch.addmm(torch.zeros(7, K), h, W.t()), "outer": lambda: torch.einsum("nd,kd->nkd", h, W), "a diagonal": lambda: torch.einsum("dd,kd->dk", h[:D], W),
            "three": lambda: torch.einsum("nd,kd,k->nk", h, W, b),
            "groups": lambda: F.conv2d(image, half, groups=D), "padding": lambda: F.conv2d(image, pixel, padding=1), "stride": lambda: F.conv2d(image, pixel, stride=2),
            "a 3x3 kernel": lambda: F.conv2d(F.pad(image, (1, 2, 1, 2)), torch.randn(K, D, 3, 3)), "same, wider": lambda: F.conv2d(image, torch.randn(K, D, 3, 2), padding="same"),
            "integers": lambda: torch.ones(3, 2, dtype=torch.int64) @ torch.ones(2, 2, dtype=torch.int64), "distances": lambda: torch.cdist(h, W),
        }.items():
            with self.subTest(name):
                self.assertEqual(self.products(expression)[0], [])

    def test_only_the_last_products_are_kept(self):
        from collapse.products import LATEST
        h, W = torch.randn(7, D), torch.ones(D, D)
        found, _ = self.products(lambda: [F.linear(h, W * i) for i in range(LATEST + 5)])
        self.assertEqual([float(p.weight[0, 0] / W[0, 0]) for p in found], [float(i) for i in range(5, LATEST + 5)])


@needs_torch
class ChoiceTest(CaptureTest):
    def refused(self, model, x, words, modules, **options):
        with self.assertRaisesRegex(ClassifierError, words) as caught:
            self.capture(model, [x], **options)
        self.assertEqual(caught.exception.modules, modules)

    def test_a_wrong_module_is_refused_with_the_right_one(self):
        x = inputs("Net")
        self.refused(build("Net"), x, r"the output of module 'body.two' is not what the model returns; 'fc' gives it. "
                     r'Write Tap\(model, folder, classifier="fc"\)', ["fc"], classifier="body.two")
        self.refused(build("FunctionalBeforeALayer"), x, 'classifier="fc"', ["fc"], classifier="aside")
        self.refused(build("Cosh"), x, r"output of module 'fc' is not what.*layers=\[\"body\"\]", [], classifier="fc")
        unused = build("Net")
        unused.other = nn.Linear(D, K)
        self.refused(unused, x, r"'other' multiplied nothing.*; 'fc' gives it", ["fc"], classifier="other")

    def test_a_scaled_classifier_has_its_scale_in_weight_and_bias(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(D, K)

            def forward(self, x):
                return 7 * self.fc(x)

        model = Scaled()
        self.capture(model, [torch.randn(N, D)])
        _, weight, bias = self.recorded()
        np.testing.assert_allclose(weight, 7 * model.fc.weight.detach().double().numpy(), rtol=1e-5)
        np.testing.assert_allclose(bias, 7 * model.fc.bias.detach().double().numpy(), rtol=1e-5)

    def test_a_module_around_the_classifier_names_it(self):
        info = self.capture(build("Sequence"), [inputs("Net")], classifier="head_")
        self.assertEqual(info["classifier"], "head_.1")
        self.setUp()
        self.assertEqual(self.capture(build("Cosine"), [inputs("Net")], classifier="")["classifier"], "")
        self.setUp()
        info = self.capture(build("TwoTasks"), [inputs("Net")], classifier="right")
        self.assertEqual((info["classifier"], info["proof"]["output"]), ("right", "[1]"))

    def test_logits_picks_by_index_key_and_function(self):
        class Dictionary(kinds.Net):
            def forward(self, x):
                h = self.body(x)
                return {"a": self.fc(h), "b": self.fc(-h)}

        torch.manual_seed(5)
        named, x = Dictionary().eval(), inputs("Net")
        self.refused(named, x, r'Tap\(model, folder, logits="a"\) or Tap\(model, folder, logits="b"\)', ["fc"])
        for model, pick, sign in ((build("TwoViews"), 1, -1), (build("TwoViews"), lambda out: out[0], 1), (named, "b", -1), (named, "a", 1)):
            self.setUp()
            self.capture(model, [x, inputs("Net", 1)], logits=pick)
            x2 = torch.cat([x, inputs("Net", 1)])
            with torch.no_grad():
                h = sign * model.body(x2) if model is named else model.body(sign * x2)
            np.testing.assert_allclose(self.stream("features"), h.numpy(), atol=1e-6)
        self.setUp()
        self.refused(build("TwoViews"), x, "picks a tuple", [], logits=lambda out: out)
        for model, pick in ((build("TwoViews"), 2), (build("TwoViews"), "b"), (named, "c"), (named, 0)):
            self.setUp()
            self.refused(model, x, "is no part of the (tuple|dict) that the model returns", [], logits=pick)

    def test_nothing_that_could_be_a_classifier(self):
        x = inputs("Net")
        empty = nn.Sequential(nn.ReLU(), nn.Tanh()).eval()
        self.refused(empty, x, "no linear layer, matrix product or 1×1 convolution was seen in the first forward pass", [])
        self.refused(nn.Sequential(nn.Linear(8, K), nn.LogSigmoid(), nn.Threshold(9, float("nan"))).eval(), x, "holds NaN or infinity, which proves no classifier", [])
        self.refused(nn.Sequential(nn.Linear(8, K)).eval(), x[:0], "first batch is empty, and the classifier is proved on it", [])
        self.refused(nn.Sequential(nn.Linear(8, K), nn.Hardtanh(-.1, .1)).eval(), x, r"\(the last one to run was '0'\): something else follows"
                     r".*put a torch.nn.Identity\(\) named `features` where they are, and write Tap\(model, folder, classifier=None, layers=\[\"features\"\]\)$", [])

    def test_models_that_return_no_logits(self):
        class OnlyLoss(kinds.Net):
            def forward(self, x):
                return super().forward(x).logsumexp(1).mean()

        self.refused(OnlyLoss().eval(), inputs("Net"), r"returns no tensor of logits.*layers=\[", [])

    def test_the_classifier_is_found_far_from_the_end_if_it_is_named(self):
        class Decoder(kinds.Net):
            """Twenty layers run after the classifier."""

            def build(self):
                self.fc, self.decoder = nn.Linear(D, K), nn.Sequential(*[nn.Linear(D, D) for _ in range(20)])

            def head(self, h):
                return {"classes": self.fc(h), "decoded": torch.tanh(self.decoder(h))}

        model, x = Decoder().eval(), inputs("Net")
        self.assertEqual(self.capture(model, [x, x], classifier="fc")["classifier"], "fc")

    def decoder(self, take):
        """A decoder that scores every position, and of whose scores (N, T, K) take(scores) are returned."""
        class Decoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.emb, self.score = nn.Embedding(12, D), nn.Linear(D, K, bias=False)

            def hidden(self, i):
                return torch.tanh(self.emb(i)).cumsum(1)

            def forward(self, i):
                return {"logits": take(self.score(self.hidden(i)))}

        torch.manual_seed(6)
        return Decoder().eval()

    def test_a_decoder_that_returns_the_scores_of_one_position(self):
        last = torch.tensor([3, 5, 0, 2, 4, 1, 5, 3])
        batches = [torch.randint(0, 12, (8, 6), generator=torch.Generator().manual_seed(seed)) for seed in range(3)]
        model = self.decoder(lambda scores: scores[torch.arange(8), last])
        for keep in ("features", "states"):
            self.setUp()
            info = self.capture(model, batches, labels=[np.arange(8)] * 3, keep=keep)
            self.assertEqual((info["classifier"], info["proof"]["one_position"], info["samples"]), ("score", True, 24))
        self.setUp()
        self.capture(model, batches)
        with torch.no_grad():
            want = torch.cat([model.hidden(i)[torch.arange(8), last] for i in batches])
        np.testing.assert_array_equal(self.stream("features"), want.numpy())

    def test_decoders_of_transformers(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("needs transformers")
        sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, vocab_size=50,
                     num_labels=4, pad_token_id=0)
        for name in ("Llama", "Qwen2"):
            self.setUp()
            model = getattr(transformers, name + "ForSequenceClassification")(getattr(transformers, name + "Config")(**sizes)).eval()
            tokens = torch.randint(1, 50, (8, 10), generator=torch.Generator().manual_seed(1))
            tokens[:4, 6:] = 0
            self.assertTrue(self.capture(model, [tokens])["proof"]["one_position"])
            with torch.no_grad():
                hidden = model.model(tokens, attention_mask=None)[0]
            want = hidden[torch.arange(8), torch.tensor([5] * 4 + [9] * 4)]
            np.testing.assert_allclose(self.stream("features"), want.numpy(), atol=1e-5)

    def test_no_one_position_gives_a_mean_or_equal_scores(self):
        tokens = torch.randint(0, 12, (8, 6), generator=torch.Generator().manual_seed(1))
        self.refused(self.decoder(lambda scores: scores.mean(1)), tokens, "something else follows", [])
        self.refused(self.decoder(lambda scores: scores.amax(1)), tokens, "something else follows", [])
        same = self.decoder(lambda scores: scores[:, -1])
        with torch.no_grad():
            same.score.weight.zero_()
        self.setUp()
        self.refused(same, tokens, "something else follows", [])


if __name__ == "__main__":
    unittest.main()
