"""Which layer is taken: kinds of classifiers, each found and proved, or refused with the call that would work."""

import collections
import json
import os
import re
import unittest

import numpy as np

from support import FolderTest, needs_torch, torch

from collapse_tap import ClassifierError, Tap

D, K, N, T = 6, 4, 12, 5

if torch:
    from torch import nn
    from torch.nn import functional as F

    class Body(nn.Module):
        """A network with a linear layer, so that a classifier is never the only one."""

        def __init__(self, d=D):
            super().__init__()
            self.one, self.two = nn.Linear(8, 16), nn.Linear(16, d)

        def forward(self, x):
            return torch.tanh(self.two(torch.relu(self.one(x))))

    class Net(nn.Module):
        """body, then what a subclass's head(h) does."""

        def __init__(self, d=D):
            super().__init__()
            self.body = Body(d)
            self.build()

        def build(self):
            self.fc = nn.Linear(D, K)

        def features(self, x):
            return self.body(x)

        def head(self, h):
            return self.fc(h)

        def forward(self, x):
            return self.head(self.features(x))

    class DeclaredFirst(Net):
        def __init__(self):
            nn.Module.__init__(self)
            self.fc = nn.Linear(D, K)
            self.body = Body()

    class Sequence(Net):
        def build(self):
            self.head_ = nn.Sequential(nn.Dropout(0.5), nn.Linear(D, K))

        def head(self, h):
            return self.head_(h)

    class TwoLayers(Net):
        def build(self):
            self.mlp = nn.Sequential(nn.Linear(D, 9), nn.ReLU(), nn.Linear(9, K))

        def features(self, x):
            return torch.relu(self.mlp[0](self.body(x)))

        def head(self, h):
            return self.mlp[2](h)

    class Functional(Net):
        def head(self, h):
            return F.linear(h, self.fc.weight)

    class FunctionalBeforeALayer(Net):
        """A linear layer that is declared last and runs, but not as the classifier."""

        def build(self):
            self.fc = nn.Linear(D, K)
            self.aside = nn.Linear(D, K)

        def head(self, h):
            self.aside(h)
            return F.linear(h, self.fc.weight, self.fc.bias)

    class MatrixProduct(Net):
        def build(self):
            self.W, self.b = nn.Parameter(torch.randn(D, K)), nn.Parameter(torch.randn(K))

        def head(self, h):
            return h @ self.W + self.b

    class Einsum(Net):
        def build(self):
            self.W = nn.Parameter(torch.randn(K, D))

        def head(self, h):
            return torch.einsum("nd,kd->nk", h, self.W)

    class Addmm(Net):
        """As GPT-2's Conv1D."""

        def build(self):
            self.W, self.b = nn.Parameter(torch.randn(D, K)), nn.Parameter(torch.randn(K))

        def head(self, h):
            return torch.addmm(self.b, h, self.W)

    class Cosine(Net):
        def build(self):
            self.prototypes, self.scale = nn.Parameter(torch.randn(K, D)), 16.0

        def features(self, x):
            return F.normalize(self.body(x))

        def head(self, h):
            return self.scale * F.linear(h, F.normalize(self.prototypes))

    class Tied(nn.Module):
        """A language model whose output embedding is its input embedding: a layer that shares the parameter."""

        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(K, D)
            self.mix = nn.Linear(D, D)
            self.build()

        def build(self):
            self.lm_head = nn.Linear(D, K, bias=False)
            self.lm_head.weight = self.embed.weight

        def features(self, x):
            return torch.tanh(self.mix(self.embed(x)))

        def head(self, h):
            return self.lm_head(h)

        def forward(self, x):
            return self.head(self.features(x))

    class TiedFunctional(Tied):
        def build(self):
            pass

        def head(self, h):
            return h @ self.embed.weight.t()

    class PixelConvolution(Net):
        def build(self):
            self.conv = nn.Conv2d(D, K, 1)

        def head(self, h):
            return self.conv(h[:, :, None, None]).flatten(1)

    class DenseConvolution(Net):
        """A class for each pixel: logits (N, K, 2, 2)."""

        def __init__(self):
            super().__init__(d=D * 4)

        def build(self):
            self.conv = nn.Conv2d(D, K, 1)

        def features(self, x):
            return self.body(x).reshape(-1, D, 2, 2).permute(0, 2, 3, 1)

        def head(self, h):
            return self.conv(h.permute(0, 3, 1, 2))

    class WholeImageConvolution(Net):
        def __init__(self):
            super().__init__(d=24)

        def build(self):
            self.conv = nn.Conv2d(6, K, 2)

        def head(self, h):
            return self.conv(h.reshape(-1, 6, 2, 2)).flatten(1)

    class Lazy(Net):
        def build(self):
            self.fc = nn.LazyLinear(K)

    class WeightNorm(Net):
        def build(self):
            self.fc = nn.utils.weight_norm(nn.Linear(D, K))

    class Parametrized(Net):
        def build(self):
            self.fc = nn.utils.parametrizations.orthogonal(nn.Linear(D, K))

    class ParametrizedByItself(Net):
        """The product reads the very parameter, which another module holds."""

        def build(self):
            self.fc = nn.Linear(D, K)
            nn.utils.parametrize.register_parametrization(self.fc, "weight", nn.Identity())

    class Auxiliary(Net):
        """As GoogLeNet: a named tuple with the logits and those of an auxiliary classifier."""
        Outputs = collections.namedtuple("Outputs", "logits aux")

        def build(self):
            self.aux, self.fc = nn.Linear(16, K), nn.Linear(D, K)

        def forward(self, x):
            middle = torch.relu(self.body.one(x))
            return self.Outputs(self.fc(torch.tanh(self.body.two(middle))), self.aux(middle))

    class HuggingFace(Net):
        """An object with attributes: logits beside other tensors, one of which is a linear layer's output as well."""

        def forward(self, x):
            h = self.body(x)
            return collections.OrderedDict(loss=h.sum(), logits=self.fc(h), hidden_states=(self.body.one(x), h))

    class LogSoftmax(Net):
        def forward(self, x):
            return torch.log_softmax(super().forward(x), 1)

    class Softmax(Net):
        def forward(self, x):
            return torch.softmax(super().forward(x), 1)

    class SigmoidColumn(Net):
        """Two classes, one logit, squeezed."""

        def build(self):
            self.fc = nn.Linear(D, 1)

        def forward(self, x):
            return torch.sigmoid(super().forward(x)).squeeze(1)

    class Crops(Net):
        """The same classifier for two views of each sample, one behind the other."""

        def features(self, x):
            return torch.cat([self.body(x), self.body(-x)])

        def forward(self, x):
            return torch.cat([self.fc(self.body(x)), self.fc(self.body(-x))])

    class StackedCrops(Crops):
        def forward(self, x):
            return torch.stack([self.fc(self.body(x)), self.fc(self.body(-x))])

    class Wrapper(nn.Module):
        """As DistributedDataParallel."""

        def __init__(self):
            super().__init__()
            self.module = Net()

        def features(self, x):
            return self.module.features(x)

        def forward(self, x):
            return self.module(x)

    class TwoTasks(Net):
        def build(self):
            self.left, self.right = nn.Linear(D, K), nn.Linear(D, K + 1)

        def head(self, h):
            return self.left(h), self.right(h)

    class TwoViews(Net):
        def forward(self, x):
            return self.fc(self.body(x)), self.fc(self.body(-x))

    class Adapter(Net):
        """As LoRA: a low-rank product is added to that of the frozen layer."""

        def build(self):
            self.fc, self.a, self.b = nn.Linear(D, K), nn.Linear(D, 2, bias=False), nn.Linear(2, K, bias=False)

        def head(self, h):
            return self.fc(h) + self.b(self.a(h))

    class Ensemble(Net):
        def build(self):
            self.left, self.right = nn.Linear(D, K), nn.Linear(D, K)

        def head(self, h):
            return (self.left(h) + self.right(h)) / 2

    class Distances(Net):
        def build(self):
            self.prototypes = nn.Parameter(torch.randn(K, D))

        def head(self, h):
            return -torch.cdist(h, self.prototypes)

    class Cosh(Net):
        """A temperature that depends on the sample."""

        def head(self, h):
            return self.fc(h) * torch.cosh(h.sum(1, keepdim=True))


# name of the kind: (class, the module that is taken, what the model does to the product before it returns it)
FOUND = {
    "a linear layer": ("Net", "fc", "none"),
    "declared before the body": ("DeclaredFirst", "fc", "none"),
    "dropout and a linear layer in a Sequential": ("Sequence", "head_.1", "none"),
    "two layers": ("TwoLayers", "mlp.2", "none"),
    "F.linear with a layer's weight": ("Functional", "fc", "none"),
    "F.linear beside a later layer that is not it": ("FunctionalBeforeALayer", "fc", "none"),
    "a matrix product and a bias": ("MatrixProduct", "", "offset"),
    "einsum": ("Einsum", "", "none"),
    "addmm": ("Addmm", "", "none"),
    "cosine": ("Cosine", "", "scale"),
    "a language model with a tied layer": ("Tied", "lm_head", "none"),
    "a language model with tied weights in a product": ("TiedFunctional", "embed", "none"),
    "a 1×1 convolution": ("PixelConvolution", "conv", "none"),
    "a 1×1 convolution for each pixel": ("DenseConvolution", "conv", "none"),
    "a convolution over the whole image": ("WholeImageConvolution", "conv", "none"),
    "LazyLinear": ("Lazy", "fc", "none"),
    "weight norm": ("WeightNorm", "fc", "none"),
    "a parametrized layer": ("Parametrized", "fc", "none"),
    "a layer with a parametrization that changes nothing": ("ParametrizedByItself", "fc", "none"),
    "an auxiliary classifier": ("Auxiliary", "fc", "none"),
    "an object with logits": ("HuggingFace", "fc", "none"),
    "log_softmax": ("LogSoftmax", "fc", "log_softmax"),
    "softmax": ("Softmax", "fc", "softmax"),
    "one sigmoid": ("SigmoidColumn", "fc", "sigmoid"),
    "one classifier for two views": ("Crops", "fc", "none"),
    "one classifier for two views, stacked": ("StackedCrops", "fc", "none"),
    "a wrapper": ("Wrapper", "module.fc", "none"),
}

# name of the kind: (class, the calls that the error names)
REFUSED = {
    "two tasks": ("TwoTasks", ['Tap(model, folder, classifier="left")', 'Tap(model, folder, classifier="right")']),
    "two views in a tuple": ("TwoViews", ["Tap(model, folder, logits=0)", "Tap(model, folder, logits=1)"]),
    "an adapter": ("Adapter", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "the mean of two classifiers": ("Ensemble", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "distances to prototypes": ("Distances", ['Tap(model, folder, classifier=None, layers=["body"])']),
    "a temperature for each sample": ("Cosh", ['Tap(model, folder, classifier=None, layers=["body"])']),
}


def inputs(kind, seed=0):
    g = torch.Generator().manual_seed(seed)
    if kind.startswith("Tied"):
        return torch.randint(0, K, (N, T), generator=g)
    return torch.randn(N, 8, generator=g)


def build(kind):
    torch.manual_seed(5)
    return globals()[kind]().eval()


def logits_of(output):
    return output["logits"] if isinstance(output, dict) else getattr(output, "logits", output)


class HeadTest(FolderTest):
    def capture(self, model, batches, labels=None, **options):
        with torch.no_grad(), Tap(model, self.folder, labelled=labels is not None, **options) as tap:
            for i, x in enumerate(batches):
                model(x)
                if labels is not None:
                    tap.labels(labels[i])
        with open(self.folder + "/tap.json") as f:
            return json.load(f)

    def recorded(self):
        """(h, W, b) from the files, in float64."""
        weight = np.load(self.folder + "/weight.npy").astype(np.float64)
        path = self.folder + "/bias.npy"
        bias = np.load(path).astype(np.float64) if os.path.exists(path) else np.zeros(len(weight))
        return self.stream("features").astype(np.float64), weight, bias


@needs_torch
class KindsTest(HeadTest):
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
        self.assertEqual(self.capture(model.module, [inputs("Net")])["classifier"], "fc")


@needs_torch
class ProductsTest(unittest.TestCase):
    """What a forward pass's expressions are read as: the linear map h -> W h + b of the last axis."""

    def products(self, expression):
        from collapse_tap.products import Recorder
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
            "einsum of a transposed one": lambda: torch.einsum("nd, dk -> nk", h, W.t()), "1d": lambda: F.conv1d(image.flatten(2), W[:, :, None], b),
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
        from collapse_tap.products import LATEST
        h, W = torch.randn(7, D), torch.randn(D, D)
        found, _ = self.products(lambda: [F.linear(h, W * i) for i in range(LATEST + 5)])
        self.assertEqual([float(p.weight[0, 0] / W[0, 0]) for p in found], [float(i) for i in range(5, LATEST + 5)])


@needs_torch
class ChoiceTest(HeadTest):
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

    def test_a_module_around_the_classifier_names_it(self):
        info = self.capture(build("Sequence"), [inputs("Net")], classifier="head_")
        self.assertEqual(info["classifier"], "head_.1")
        self.setUp()
        self.assertEqual(self.capture(build("Cosine"), [inputs("Net")], classifier="")["classifier"], "")
        self.setUp()
        info = self.capture(build("TwoTasks"), [inputs("Net")], classifier="right")
        self.assertEqual((info["classifier"], info["proof"]["output"]), ("right", "[1]"))

    def test_logits_picks_by_index_key_and_function(self):
        class Dictionary(Net):
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

    def test_models_that_return_no_logits(self):
        class OnlyLoss(Net):
            def forward(self, x):
                return super().forward(x).logsumexp(1).mean()

        self.refused(OnlyLoss().eval(), inputs("Net"), r"returns no tensor of logits.*layers=\[", [])

    def test_the_classifier_is_found_far_from_the_end_if_it_is_named(self):
        class Decoder(Net):
            """Twenty layers run after the classifier."""

            def build(self):
                self.fc, self.decoder = nn.Linear(D, K), nn.Sequential(*[nn.Linear(D, D) for _ in range(20)])

            def head(self, h):
                return {"classes": self.fc(h), "decoded": torch.tanh(self.decoder(h))}

        model, x = Decoder().eval(), inputs("Net")
        self.assertEqual(self.capture(model, [x, x], classifier="fc")["classifier"], "fc")


@needs_torch
class ProofTest(HeadTest):
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
        class Off(Net):
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
        class Spoilt(Net):
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

    def test_many_rows_are_sampled(self):
        x = torch.randn(5000, 8)
        self.assertEqual(self.capture(build("Net"), [x])["proof"]["rows"], 256)
        self.assertEqual(len(self.stream("features")), 5000)

    def test_a_model_that_changes_its_way_is_refused(self):
        class Changes(Net):
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
            with open(self.folder + "/tap.json") as f:
                info = json.load(f)
            self.assertEqual((info["complete"], info["samples"], info["error"]), (False, N, "ClassifierError"))

    def test_weights_that_change_inside_the_block_are_refused(self):
        model, x = build("Net"), inputs("Net")
        with self.assertRaisesRegex(ValueError, "weights changed inside"):
            with torch.no_grad(), Tap(model, self.folder, labelled=False):
                model(x)
                model.fc.weight[0, 0] += 1e-3
        with open(self.folder + "/tap.json") as f:
            self.assertFalse(json.load(f)["complete"])

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
