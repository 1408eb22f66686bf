"""Losses, decay and networks of collapse.engine against formulas written down apart from them."""

import math
import unittest

import numpy as np
import support

if support.torch:
    import torch
    from engine_support import CLASSES, SAMPLES, decay, image_net, mlp

    from collapse.engine import losses, nets, optimisers, weights
    from collapse.engine.decay import Decay
    from collapse.engine.errors import Refused
    from collapse.engine.fields import Fields
    from collapse.engine.taps import Taps


def loss_of_sample(config, z, y):
    """A loss as its paper has it, in Python's numbers."""
    K, kind = len(z), config["kind"]
    p = [math.exp(v) / sum(math.exp(u) for u in z) for v in z]
    if kind in ("ce", "ls"):
        a = config.get("smoothing", 0) if kind == "ls" else 0
        return -sum(((1 - a) * (j == y) + a / K) * math.log(p[j]) for j in range(K))
    if kind == "lr":
        a = config["smoothing"]
        if p[y] > 1 - a:
            return 0.0
        q = [1 - a if j == y else a * p[j] / (1 - p[y]) for j in range(K)]
        return sum(v * math.log(v / u) for v, u in zip(q, p))
    alpha, m = (config["alpha"], config["m"]) if kind == "rescaled_mse" else (1, 1)
    total = sum((alpha if j == y else 1) * (z[j] - m * (j == y)) ** 2 for j in range(K))
    return total / (2 if config["reduction"] == "paper" else K)


CONFIGS = [{"kind": "ce"}, {"kind": "ls", "smoothing": 0.1}, {"kind": "lr", "smoothing": 0.1}, {"kind": "lr", "smoothing": 0.4},
           {"kind": "mse", "reduction": "torch"}, {"kind": "mse", "reduction": "paper"},
           {"kind": "rescaled_mse", "reduction": "torch", "alpha": 5.0, "m": 3.0}, {"kind": "rescaled_mse", "reduction": "paper", "alpha": 5.0, "m": 3.0}]


@support.needs_torch
class SettingsOfLBFGS(unittest.TestCase):
    def test_what_torch_is_given(self):
        zeros = {"line_search": "none", "max_iter": 0, "max_eval": 0, "history": 0, "tolerance_grad": 0, "tolerance_change": 0}
        for changed, want in (({}, {"max_iter": 20, "max_eval": 25, "history_size": 10, "tolerance_grad": 1e-7, "tolerance_change": 1e-9, "line_search_fn": None, "lr": 1}),
                              ({"max_iter": 3, "max_eval": 7, "history": 4, "line_search": "strong_wolfe", "tolerance_grad": 1e-3, "tolerance_change": 1e-4},
                               {"max_iter": 3, "max_eval": 7, "history_size": 4, "line_search_fn": "strong_wolfe", "tolerance_grad": 1e-3, "tolerance_change": 1e-4})):
            made = optimisers.LBFGS(Fields({**zeros, **changed}, "lbfgs"), {"w": torch.zeros(2, requires_grad=True)})
            group = made.optimiser.param_groups[0]
            self.assertEqual({key: group[key] for key in want}, want)


@support.needs_torch
class Losses(unittest.TestCase):
    def test_every_loss_is_tested(self):
        self.assertEqual({config["kind"] for config in CONFIGS}, set(losses.LOSSES))

    def test_values_are_the_papers(self):
        random = np.random.default_rng(1)
        z, y = random.normal(0, 2, (500, 4)), random.integers(0, 4, 500)
        for config in CONFIGS:
            got = losses.build(Fields(config, "loss"), 4)(torch.tensor(z), torch.tensor(y)).item()
            want = sum(loss_of_sample(config, list(row), label) for row, label in zip(z, y)) / len(y)
            self.assertAlmostEqual(got, want, delta=1e-13 * abs(want), msg=config)

    def test_gradients_are_finite_differences(self):
        torch.manual_seed(2)
        z, y = torch.randn(6, 4, dtype=torch.float64, requires_grad=True), torch.tensor([0, 1, 2, 3, 0, 1])
        for config in CONFIGS:
            self.assertTrue(torch.autograd.gradcheck(lambda t: losses.build(Fields(config, "loss"), 4)(t, y), (z,)), config)

    def test_far_into_the_terminal_phase(self):
        """A sample whose p_y rounds to 1 has a loss and gradients, not NaN."""
        z = torch.tensor([[60.0, 0.0, 1.0], [800.0, 0.0, 1.0]], dtype=torch.float64, requires_grad=True)
        for config in CONFIGS:
            loss = losses.build(Fields(config, "loss"), 3)(z, torch.tensor([0, 0]))
            (grad,) = torch.autograd.grad(loss, z)
            self.assertTrue(math.isfinite(loss.item()) and torch.isfinite(grad).all(), config)
            nan = losses.build(Fields(config, "loss"), 3)(z.detach() * math.nan, torch.tensor([0, 0]))
            self.assertTrue(math.isnan(nan.item()), config)


@support.needs_torch
class Decays(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        self.params = {"layers.0.weight": torch.randn(3, 2), "fc.weight": torch.randn(3, 4), "fc.bias": torch.randn(3)}
        self.params = {n: p.double().requires_grad_() for n, p in self.params.items()}
        self.h = torch.randn(5, 4, dtype=torch.float64)
        self.h[2] = 0
        self.h.requires_grad_()
        self.square = {n: p.detach().pow(2).sum().item() for n, p in self.params.items()}

    def penalty(self, params=None, **config):
        found = Decay(Fields(decay(**config), "decay"), params or self.params, torch.float64).penalty(self.h)
        return found, float(found)

    def test_of_every_parameter(self):
        self.assertEqual(self.penalty(kind="all")[1], 0)  # the optimiser couples it
        self.assertAlmostEqual(self.penalty(kind="all", **{"all": 0.3})[1], 0.15 * sum(self.square.values()), places=12)

    def test_peeled(self):
        rates = {"classifier": 0.2, "bias": 0.4, "features": 0.6}
        of_params = 0.1 * self.square["fc.weight"] + 0.2 * self.square["fc.bias"]
        batch = self.h.detach().pow(2).sum().item()
        for kind, share in (("peeled", SAMPLES / 5), ("peeled-batch", 1.0)):
            found, value = self.penalty(kind=kind, **rates)
            self.assertAlmostEqual(value, of_params + 0.3 * share * batch, places=12)
            grads = torch.autograd.grad(found, [self.h, self.params["fc.weight"]])
            self.assertTrue(torch.allclose(grads[0], 0.6 * share * self.h, rtol=1e-14))
            self.assertTrue(torch.allclose(grads[1], 0.2 * self.params["fc.weight"], rtol=1e-14))

    def test_as_the_code_has_it(self):
        """Squares of normalised features are a constant; a row of zeros stays zero."""
        found, value = self.penalty(kind="peeled-code", classifier=0.2, bias=0.2, features=0.6)
        self.assertAlmostEqual(value, 0.1 * self.square["fc.weight"] + 0.1 * self.square["fc.bias"] + 0.3 * 4, places=12)
        self.assertEqual(torch.autograd.grad(found, [self.h], allow_unused=True), (None,))

    def test_of_a_frozen_classifier(self):
        params = {"layers.0.weight": self.params["layers.0.weight"]}
        self.assertEqual(self.penalty(params, kind="peeled", classifier=0.2, bias=0.2)[1], 0)


@support.needs_torch
class Networks(unittest.TestCase):
    def build(self, net):
        return nets.build(Fields(net, "net"), CLASSES)

    def test_sizes(self):
        """Parameters as torchvision's networks have them, with K = 3."""
        for net, want in ((image_net("resnet18"), 11176512 + 3 * 513), (image_net("resnet18", stem="cifar"), 11168832 + 3 * 513),
                          (image_net("vgg13"), 9404992 + 3 * 513), (image_net("vgg13-bn"), 9410880 + 3 * 513)):
            model = self.build(net)
            self.assertEqual(sum(p.numel() for p in model.parameters()), want, net)

    def test_forms(self):
        x = torch.randn(2, 3, 32, 32)
        for net, dim in ((image_net("resnet18-adapt"), 16), (image_net("resnet18-adapt", feature_dim=5), 5), (image_net("resnet18", feature_dim=512), 512),
                         (image_net("resnet18-adapt", bias=False), 16), (image_net("vgg13-bn", bias=False), 512)):
            model = self.build(net)
            logits, features = model(x)
            self.assertEqual((tuple(logits.shape), tuple(features.shape)), ((2, CLASSES), (2, dim)))
            self.assertEqual("fc.bias" in model.state_dict(), net["bias"])
            self.assertEqual("layer4.1.downsample.0.weight" in model.state_dict(), net["feature_dim"] > 0)
            again = nets.build(nets.complete({"kind": net["kind"], "channels": 3}, model.state_dict()), CLASSES)
            self.assertEqual([(n, t.shape) for n, t in again.state_dict().items()], [(n, t.shape) for n, t in model.state_dict().items()])

    @support.needs_torchvision
    def test_agree_with_torchvision(self):
        import torchvision.models as theirs

        for net, other in ((image_net("resnet18"), theirs.resnet18), (image_net("vgg13-bn"), theirs.vgg13_bn), (image_net("vgg13"), theirs.vgg13)):
            model, other = self.build(net), other(num_classes=CLASSES)
            state = {n: t for n, t in other.state_dict().items() if not n.startswith("classifier.")}
            if hasattr(other, "classifier"):
                other.avgpool, other.classifier = torch.nn.AdaptiveAvgPool2d(1), model.fc
                state.update({"fc." + n: t for n, t in model.fc.state_dict().items()})
            model.load_state_dict(state)
            x = torch.randn(4, 3, 32, 32)
            self.assertTrue(torch.allclose(model(x)[0], other(x), rtol=1e-5, atol=1e-6), net)

    def test_a_normalized_classifier_gives_cosines(self):
        """As torch.nn.functional.normalize has them; a feature of zero stays zero, with the gradient zero."""
        net = mlp()
        net["layers"][-1]["bias"] = False
        model, x = self.build({**net, "temperature": 3.0}).double().eval(), torch.randn(4, 1, 6, 6).double()
        logits, features = model(x)
        unit = torch.nn.functional.normalize(model.trunk(x))
        self.assertTrue(torch.allclose(features, unit, rtol=1e-13))
        self.assertTrue(torch.allclose(logits, 3 * unit @ torch.nn.functional.normalize(model.fc.weight).T, rtol=1e-12))
        rows = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
        nets.unit(rows)[:, 0].sum().backward()
        self.assertEqual(nets.unit(rows).tolist()[0], [0, 0])
        self.assertEqual(rows.grad.tolist()[0], [0, 0])
        self.assertAlmostEqual(rows.grad[1, 0].item(), 0.128, places=6)

    def test_an_mlp_is_what_its_layers_say(self):
        model, x = self.build(mlp(activation="sigmoid")).double().eval(), torch.randn(4, 1, 6, 6).double()
        s, h = model.state_dict(), x.reshape(4, 36)
        for i in (0, 3):
            h = h @ s["layers.%d.weight" % i].T + s["layers.%d.bias" % i]
            n = "layers.%d." % (i + 1)
            h = (h - s[n + "running_mean"]) / (s[n + "running_var"] + 1e-5).sqrt() * s[n + "weight"] + s[n + "bias"]
            h = 1 / (1 + torch.exp(-h))
        logits, features = model(x)
        self.assertTrue(torch.allclose(features, h, rtol=1e-13))
        self.assertTrue(torch.allclose(logits, h @ s["fc.weight"].T + s["fc.bias"], rtol=1e-12))

    def test_order_and_freezing(self):
        model = self.build(mlp())
        params = weights.trained(model, ["fc.weight"])
        names = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.3.weight", "layers.3.bias", "layers.4.weight", "layers.4.bias"]
        self.assertEqual(list(params), names + ["fc.bias"])
        self.assertFalse(model.fc.weight.requires_grad)
        held = list(weights.of_model(model))
        self.assertEqual(held[:2], ["layers.1.num_batches_tracked", "layers.4.num_batches_tracked"])
        self.assertEqual(held[2:12], names + ["fc.weight", "fc.bias"])

    def test_taps(self):
        model = self.build(image_net("resnet18-adapt"))
        taps = Taps(model, [Fields({"name": n, "pool": p}, "taps") for n, p in (("relu", "flatten"), ("layer2", "average"), ("layer4", "average"))])
        model(torch.randn(2, 3, 32, 32))
        self.assertEqual((taps.taken(), taps.rows), ([], [None] * 3))
        taps.on = True
        _, features = model(torch.randn(2, 3, 32, 32))
        first, second, last = taps.taken()
        self.assertEqual((first.shape, second.shape), ((2, 2 * 32 * 32), (2, 4)))
        self.assertTrue(torch.equal(last, features))
        with self.assertRaises(Refused):
            Taps(model, [Fields({"name": "layer5", "pool": "average"}, "taps")])


if __name__ == "__main__":
    unittest.main()
