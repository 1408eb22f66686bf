"""The hooks: what they take, from which models, and what they say when the loop goes wrong."""

import json
import os
import unittest
import warnings

import numpy as np

from support import FolderTest, needs_torch, needs_torchvision, torch, torchvision

from collapse import ClassifierError, Tap


def small_net(dtype=None):
    """Convolution, batch norm, ReLU in place, pooling, classifier; every module has a name."""
    torch.manual_seed(3)
    net = torch.nn.Sequential()
    for name, module in (("conv", torch.nn.Conv2d(1, 6, 3)), ("bn", torch.nn.BatchNorm2d(6)), ("relu", torch.nn.ReLU(inplace=True)),
                         ("pool", torch.nn.AdaptiveAvgPool2d(1)), ("flat", torch.nn.Flatten()), ("fc", torch.nn.Linear(6, 3))):
        net.add_module(name, module)
    return net.to(dtype or torch.float32).eval()


def batches(count=4, size=5, dtype=None):
    g = torch.Generator().manual_seed(4)
    return [(torch.randn(size, 1, 8, 8, generator=g).to(dtype or torch.float32), torch.randint(0, 3, (size,), generator=g)) for _ in range(count)]


@needs_torchvision
class ResNetTest(FolderTest):
    def test_resnet18_features_equal_a_hand_made_hook_bit_for_bit(self):
        torch.manual_seed(0)
        model = torchvision.models.resnet18(weights=None, num_classes=10).eval()
        kept, stage = [], []
        model.fc.register_forward_hook(lambda module, inputs, output: kept.append(inputs[0].detach().clone()))
        model.layer3.register_forward_hook(lambda module, inputs, output: stage.append(output.detach().clone()))
        data = [(torch.randn(6, 3, 64, 64), torch.randint(0, 10, (6,))) for _ in range(4)]
        with torch.no_grad(), Tap(model, self.folder, layers=["layer3"], shard_bytes=6 * 512 * 4 * 2) as tap:
            for x, y in data:
                model(x)
                tap.labels(y)
        self.assertEqual(len(self.files("features")), 2)
        features = self.stream("features")
        self.assertEqual((features.shape, features.dtype), ((24, 512), np.float32))
        self.assertEqual(features.tobytes(), torch.cat(kept).numpy().tobytes())
        self.assertGreater(features.std(), 0)
        self.assertEqual(self.stream("layers/layer3").tobytes(), torch.cat(stage).flatten(2).mean(2).numpy().tobytes())
        np.testing.assert_array_equal(self.stream("labels"), torch.cat([y for _, y in data]).numpy())
        np.testing.assert_array_equal(np.load(self.folder + "/weight.npy"), model.fc.weight.detach().numpy())
        np.testing.assert_array_equal(np.load(self.folder + "/bias.npy"), model.fc.bias.detach().numpy())
        with open(self.folder + "/tap.json") as f:
            info = json.load(f)
        self.assertEqual((info["complete"], info["samples"], info["shards"], info["classifier"], info["mode"]), (True, 24, 2, "fc", "eval"))
        self.assertEqual(info["streams"]["features"], {"dtype": "<f4", "width": 512, "module": "fc", "side": "input"})
        self.assertEqual(info["streams"]["layers/layer3"], {"dtype": "<f4", "width": 256, "module": "layer3", "side": "output"})


@needs_torch
class TakesTest(FolderTest):
    def run_tap(self, model, data, **options):
        with torch.no_grad(), Tap(model, self.folder, **options) as tap:
            for x, y in data:
                model(x)
                tap.labels(y)

    def test_in_place_layers_do_not_reach_what_was_taken(self):
        model, data = small_net(), batches()
        self.run_tap(model, data, layers=["bn"], pool="flatten")
        with torch.no_grad():
            want = torch.cat([model.bn(model.conv(x)).flatten(1) for x, _ in data]).numpy()
        self.assertLess(want.min(), 0)  # what ReLU would have cut
        self.assertEqual(self.stream("layers/bn").tobytes(), want.tobytes())

    def test_bfloat16_and_float16_are_widened_exactly(self):
        half = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Linear(6, 3)).to(torch.bfloat16).eval()
        for dtype in (torch.bfloat16, torch.float16):
            with self.subTest(dtype=dtype):
                self.setUp()
                x = torch.randn(5, 6).to(dtype)
                taken = torch.nn.Sequential(torch.nn.Identity()).eval()
                with Tap(taken, self.folder, classifier=None, layers=["0"]) as tap:
                    taken(x)
                    tap.labels([0, 1, 2, 0, 1])
                self.assertEqual(self.stream("layers/0").dtype, np.float32)
                np.testing.assert_array_equal(self.stream("layers/0"), x.float().numpy())
        self.setUp()
        self.run_tap(half, [(torch.randn(4, 6).to(torch.bfloat16), torch.arange(4))])
        np.testing.assert_array_equal(np.load(self.folder + "/weight.npy"), half[1].weight.detach().float().numpy())

    def test_float64_stays(self):
        self.run_tap(small_net(torch.float64), batches(dtype=torch.float64))
        self.assertEqual((self.stream("features").dtype, np.load(self.folder + "/weight.npy").dtype), (np.float64, np.float64))

    def test_pooling(self):
        t = torch.arange(2 * 3 * 4, dtype=torch.float32).reshape(2, 3, 4)
        model = torch.nn.Sequential(torch.nn.Identity()).eval()
        pixels = t.reshape(2, 3, 2, 2)
        cases = ((pixels, "positions", pixels.permute(0, 2, 3, 1).reshape(8, 3)), (t, "positions", t.reshape(6, 4)), (t, "tokens", t.mean(1)), (t, "flatten", t.reshape(2, 12)),
                 (t, lambda v: v[:, 0], t[:, 0]),
                 (t.reshape(2, 3, 2, 2), "mean", t.mean(2)), (t.reshape(2, 3, 2, 2, 1), "mean", t.mean(2)))
        for value, pool, want in cases:
            self.setUp()
            self.run_tap(model, [(value, [0] * len(want))], classifier=None, layers=["0"], pool=pool)
            np.testing.assert_array_equal(self.stream("layers/0"), want.numpy())
        self.setUp()
        with self.assertRaisesRegex(ValueError, r"'0' has shape \(2, 3, 4\), which pool='mean' does not cover"):
            self.run_tap(model, [(t, [0, 1])], classifier=None, layers=["0"])

    def test_what_tap_json_says(self):
        """All of it, since other programs read it too."""
        model, data = small_net(), batches(3)
        rows = sum(len(y) for _, y in data)

        def said():
            with open(self.folder + "/tap.json") as f:
                info = json.load(f)
            proof = info.pop("proof")
            return info, proof and sorted(proof)

        nothing = {"positions": rows, "total": 0, "mask": 0, "ignore_index": {}}
        layer, labels = {"dtype": "<f4", "width": 6, "module": "bn", "side": "output"}, {"dtype": "<i8", "width": None}
        features = {"dtype": "<f4", "width": 6, "module": "fc", "side": "input"}
        proof = ["largest_error", "one_position", "output", "rows", "scale", "tolerance", "transform"]
        whole = {"format": "collapse_tap 1", "keep": "features", "complete": True, "error": None, "samples": rows, "shards": 1, "classifier": "fc", "bias": True, "mode": "eval",
                 "pool": "mean", "dropped": nothing, "streams": {"features": features, "layers/bn": layer, "labels": labels}}
        self.run_tap(model, data, layers=["bn"])
        self.assertEqual(said(), (whole, proof))
        self.setUp()
        self.run_tap(model, data, layers=["bn"], classifier=None, pool=lambda t: t.mean((2, 3)), shard_bytes=1)
        self.assertEqual(said(), ({**whole, "shards": 3, "classifier": None, "bias": None, "pool": "<lambda>", "streams": {"layers/bn": layer, "labels": labels}}, None))
        self.setUp()
        state = {"classes": 3, "dropped": 0, "pooled": True}
        self.run_tap(model, data, layers=["bn"], keep="states")
        self.assertEqual(said(), ({**whole, "format": "collapse_tap 2", "keep": "states",
                                   "streams": {"features": {**features, "state": "features.ncs", **state}, "layers/bn": {**layer, "state": "layers/bn.ncs", **state}}}, proof))
        for modes, want in (((True,), "train"), ((True, False), "mixed")):
            self.setUp()
            with warnings.catch_warnings(), torch.no_grad(), Tap(model, self.folder, labelled=False) as tap:
                warnings.simplefilter("ignore")
                for mode in modes:
                    model.train(mode)(data[0][0])
            model.eval()
            self.assertEqual(said()[0]["mode"], want)
        self.setUp()
        with self.assertRaises(KeyError), torch.no_grad(), Tap(model, self.folder) as tap:
            model(data[0][0])
            tap.labels(data[0][1])
            raise KeyError
        self.assertEqual({key: said()[0][key] for key in ("complete", "error", "samples")}, {"complete": False, "error": "KeyError", "samples": len(data[0][1])})

    def test_labels_come_as_tensors_arrays_columns_and_lists(self):
        model, (x, y) = small_net(), batches(1)[0]
        self.run_tap(model, [(x, y), (x, y.to(torch.uint8)), (x, y.numpy()), (x, y.tolist()), (x, y[:, None])])
        np.testing.assert_array_equal(self.stream("labels"), np.tile(y.numpy(), 5))

    def test_true_labels_and_corrupted(self):
        model, (x, y) = small_net(), batches(1)[0]
        with Tap(model, self.folder) as tap:
            model(x)
            tap.labels(y, true=(y + 1) % 3, corrupted=y > 0)
        np.testing.assert_array_equal(self.stream("true_labels"), ((y + 1) % 3).numpy())
        np.testing.assert_array_equal(self.stream("corrupted"), (y > 0).numpy())

    def test_without_labels_and_without_bias(self):
        model = small_net()
        model.fc.bias = None
        with Tap(model, self.folder, labelled=False) as tap:
            for x, _ in batches(3):
                model(x)
            with self.assertRaisesRegex(RuntimeError, "labelled=False"):
                tap.labels([0])
        self.assertEqual(self.stream("features").shape, (15, 6))
        self.assertFalse(os.path.exists(self.folder + "/labels"))
        self.assertFalse(os.path.exists(self.folder + "/bias.npy"))

    def test_gradients_are_as_without_a_tap(self):
        model, (x, y) = small_net(), batches(1)[0]
        torch.nn.functional.cross_entropy(model(x), y).backward()
        want = model.conv.weight.grad.clone()
        model.zero_grad()
        with Tap(model, self.folder, layers=["conv"]) as tap:
            torch.nn.functional.cross_entropy(model(x), y).backward()
            tap.labels(y)
        self.assertTrue(torch.equal(model.conv.weight.grad, want))

    def test_memory_does_not_grow_with_samples(self):
        import tracemalloc
        model = torch.nn.Sequential(torch.nn.Linear(256, 3)).eval()
        x, y = torch.zeros(512, 256), torch.zeros(512, dtype=torch.int64)
        tracemalloc.start()
        try:
            with torch.no_grad(), Tap(model, self.folder, shard_bytes=1 << 20) as tap:
                for _ in range(100):  # 50 MB of features
                    model(x)
                    tap.labels(y)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.assertEqual(self.stream("features").shape, (51200, 256))
        self.assertLess(peak, 4 << 20)


@needs_torch
class LoopTest(FolderTest):
    def test_training_mode_is_said_and_recorded(self):
        model, (x, y) = small_net().train(), batches(1)[0]
        with self.assertWarnsRegex(UserWarning, "training mode"):
            with Tap(model, self.folder) as tap:
                model(x)
                tap.labels(y)
        self.assertEqual(self.info()["mode"], "train")
        self.setUp()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Tap(model.eval(), self.folder) as tap:
                model(x)
                tap.labels(y)
        self.assertEqual(self.info()["mode"], "eval")

    def test_an_exception_removes_hooks_and_keeps_what_was_whole(self):
        model, data = small_net(), batches(3)
        with self.assertRaises(KeyboardInterrupt):
            with Tap(model, self.folder) as tap:
                for i, (x, y) in enumerate(data):
                    model(x)
                    if i == 2:
                        raise KeyboardInterrupt
                    tap.labels(y)
        self.assert_no_hooks(model)
        self.assertEqual((len(self.stream("features")), len(self.stream("labels"))), (10, 10))
        self.assertEqual((self.info()["complete"], self.info()["error"], self.info()["samples"]), (False, "KeyboardInterrupt", 10))

    def test_a_forward_pass_that_fails_half_way_can_be_repeated(self):
        model, (x, y) = small_net(), batches(1)[0]
        with Tap(model, self.folder, layers=["conv"]) as tap:
            handle = model.relu.register_forward_pre_hook(lambda module, inputs: (_ for _ in ()).throw(MemoryError()))
            with self.assertRaises(MemoryError):
                model(x)
            handle.remove()
            model(x)
            tap.labels(y)
        self.assertEqual(self.info()["samples"], 5)

    def test_missing_labels(self):
        model, (x, y) = small_net(), batches(1)[0]
        with self.assertRaisesRegex(RuntimeError, "ran twice without labels"):
            with Tap(model, self.folder):
                model(x)
                model(x)
        self.assert_no_hooks(model)
        self.setUp()
        with self.assertRaisesRegex(ValueError, "last batch has no labels"):
            with Tap(model, self.folder) as tap:
                model(x)
                tap.labels(y)
                model(x)
        self.assertEqual((self.info()["complete"], self.info()["samples"]), (False, 5))

    def test_labels_that_do_not_fit(self):
        model, (x, y) = small_net(), batches(1)[0]
        for labels, kind, words in ((y[:3], ValueError, "3 labels for a batch of 5 samples"), (y.float() + 0.5, TypeError, "is not a class number"),
                                    (["cat"] * 5, TypeError, "labels are words; class numbers are wanted"),
                                    (torch.nn.functional.one_hot(y, 3), ValueError, r"one-hot rows: y.argmax\(1\)")):
            self.setUp()
            with self.assertRaisesRegex(kind, words):
                with Tap(model, self.folder) as tap:
                    model(x)
                    tap.labels(labels)

    def test_labels_without_a_batch(self):
        model = small_net()
        with self.assertRaisesRegex(RuntimeError, "no batch ran since the last call"):
            with Tap(model, self.folder) as tap:
                tap.labels([1])
        with self.assertRaisesRegex(RuntimeError, "outside the `with` block"):
            tap.labels([1])

    def test_nothing_ran(self):
        with self.assertRaisesRegex(ValueError, "no batch ran inside"):
            with Tap(small_net(), self.folder):
                pass

    def test_modules_that_cannot_be_tapped(self):
        twice = small_net()
        twice.add_module("again", twice.relu)
        (x, y) = batches(1)[0]
        with self.assertRaisesRegex(ValueError, "no module 'layer4'"):
            Tap(small_net(), self.folder, layers=["layer4"])
        with self.assertRaisesRegex(ValueError, "near or first names: 'relu'"):
            Tap(small_net(), self.folder, layers=["rleu"])
        with self.assertRaisesRegex(ClassifierError, "no linear layer, matrix product or 1×1 convolution was seen"):
            with Tap(torch.nn.Sequential(torch.nn.ReLU()).eval(), self.folder) as tap:
                tap._model(x)
        self.assertEqual(os.listdir(self.folder), [])  # so that the next attempt may use it
        with self.assertRaisesRegex(ValueError, "nothing to take"):
            Tap(small_net(), self.folder, classifier=None)
        with self.assertRaisesRegex(TypeError, "it must be a list"):
            Tap(small_net(), self.folder, layers="conv")
        with self.assertRaisesRegex(ValueError, "pool is 'max'"):
            Tap(small_net(), self.folder, pool="max")
        with self.assertRaisesRegex(TypeError, r"Tap\(model.module, folder\)"):
            Tap(torch.nn.DataParallel(small_net()), self.folder)
        with self.assertRaisesRegex(RuntimeError, "'relu' ran twice"):
            with Tap(twice, self.folder, layers=["relu"]):
                twice(x)
        self.setUp()
        lstm = torch.nn.LSTM(4, 5)
        with self.assertRaisesRegex(TypeError, "a tuple, not one tensor"):
            with Tap(lstm.eval(), self.folder, classifier=None, layers=[""]):
                lstm(torch.zeros(2, 3, 4))
        self.setUp()
        with self.assertRaisesRegex(RuntimeError, "module 'conv' did not run"):
            model = small_net()
            model.forward = lambda x: model.fc(x)
            with Tap(model, self.folder, layers=["conv"]) as tap:
                model(torch.zeros(5, 6))
        self.setUp()
        with self.assertRaisesRegex(RuntimeError, "the model itself and not its parts"):
            model = small_net()
            with Tap(model, self.folder) as tap:
                model.fc(torch.zeros(5, 6))
                tap.labels(y)

    def test_several_epochs_need_several_folders(self):
        model, data = small_net(), batches(2)
        for epoch in range(2):
            with Tap(model, os.path.join(self.folder, str(epoch))) as tap:
                for x, y in data:
                    model(x)
                    tap.labels(y)
        one, two = (np.load(os.path.join(self.folder, e, "features", "00000.npy")) for e in "01")
        self.assertEqual(one.tobytes(), two.tobytes())
        with self.assertRaisesRegex(FileExistsError, "folder of its own"):
            with Tap(model, os.path.join(self.folder, "0")):
                pass

    def info(self):
        with open(self.folder + "/tap.json") as f:
            return json.load(f)

    def assert_no_hooks(self, model):
        for name, module in model.named_modules():
            self.assertEqual((len(module._forward_hooks), len(module._forward_pre_hooks)), (0, 0), name)


if __name__ == "__main__":
    unittest.main()
