"""The callbacks, on real torch models. lightning, transformers and keras are not installed here (test_decisions has them, where they are): each is
a stand-in built from the signatures of its public source,

    Lightning-AI/pytorch-lightning 20a82d0  src/lightning/pytorch/callbacks/callback.py   on_train_epoch_end(trainer, pl_module)
    huggingface/transformers 01081ce        src/transformers/trainer_callback.py          on_epoch_end(args, state, control, **kwargs), kwargs model, train_dataloader
    keras-team/keras 045cebd                keras/src/callbacks/callback.py               on_epoch_end(epoch, logs=None), set_model, model

so these tests show what the callbacks do with such calls, not that the libraries make them.
"""

import importlib
import json
import os
import sys
import types
import unittest
from unittest import mock

import numpy as np

from support import FolderTest, needs_torch, torch

import collapse
import collapse.callbacks
from test_arrays import expected, needs_program
from test_history import WITHOUT_MATPLOTLIB

if torch:
    class Net(torch.nn.Module):
        def __init__(self, seed=0):
            super().__init__()
            torch.manual_seed(seed)
            self.body = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Dropout(.5), torch.nn.Linear(8, 6))
            self.fc = torch.nn.Linear(6, 3)

        def forward(self, x):
            return self.fc(self.body(x))

    class TinyForCausalLM(torch.nn.Module):
        """A decoder without attention: what matters is which label meets which position."""

        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.embed = torch.nn.Embedding(7, 6)
            self.lm_head = torch.nn.Linear(6, 7, bias=False)
            self.got = []

        def forward(self, input_ids, attention_mask=None):
            self.got.append(attention_mask is not None)
            return types.SimpleNamespace(logits=self.lm_head(self.embed(input_ids)))


def batches(n=60, size=15):
    torch.manual_seed(2)
    x, y = torch.randn(n, 5), torch.arange(n) % 3
    return [(x[i:i + size], y[i:i + size]) for i in range(0, n, size)]


def features(net, loader):
    net.eval()
    with torch.no_grad():
        h = torch.cat([net.body(x) for x, _ in loader]).numpy()
    net.train()
    return h, torch.cat([y for _, y in loader]).numpy()


@needs_program
@needs_torch
class PlainTest(FolderTest):
    def test_epochs_of_a_loop(self):
        net, loader = Net(), batches()
        net.train()
        net.body[0].eval()  # a frozen part stays as it is
        meter = collapse.callbacks.Meter(loader, self.folder, every=2)
        self.assertIsInstance(meter(net, 1, loss=.5), collapse.Result)
        self.assertIsNone(meter(net, 3, loss=.25))
        self.assertEqual(meter.history.curve("loss"), ([1, 3], [.5, .25]))
        h, y = features(net, loader)
        self.assertEqual(meter.history.curve("train/nc1_pinv")[0], [1])
        self.assertAlmostEqual(meter.history.curve("train/nc1_pinv")[1][0], expected(h, y)["nc1_pinv"], delta=1e-6)
        self.assertEqual(os.listdir(self.folder), ["history.jsonl"])

    def test_options_are_those_of_measure(self):
        net, loader = Net(), batches()
        meter = collapse.callbacks.Meter(loader, measures=["accuracy", "nc1_pinv"], classes=["a", "b", "c"], null=0, arguments=["--min-count", "2"])
        result = meter(net, 1)
        self.assertEqual((sorted(result.measures), result["labels"]), (["accuracy", "nc1_pinv"], ["a", "b", "c"]))
        with self.assertRaisesRegex(TypeError, "no option 'evry'; options of measure.. that go here are measures, classes, "):
            collapse.callbacks.Meter(loader, evry=2)

    def test_modes_come_back(self):
        net = Net().train()
        net.body[2].eval()
        before = [m.training for m in net.modules()]
        collapse.callbacks.Meter(batches())(net, 1)
        self.assertEqual([m.training for m in net.modules()], before)
        with self.assertRaises(ZeroDivisionError):
            collapse.callbacks.Meter(lambda: (1 / 0 for _ in range(1)))(net, 1)
        self.assertEqual([m.training for m in net.modules()], before)

    def test_batches_of_other_forms(self):
        net, loader = Net(), batches()
        want = collapse.callbacks.Meter(loader)(net, 1).nc1_pinv
        dicts = [{"x": x, "target": y} for x, y in loader]
        self.assertEqual(collapse.callbacks.Meter(dicts, split=lambda b: ({"x": b["x"]}, b["target"]))(net, 1).nc1_pinv, want)
        self.assertEqual(collapse.callbacks.Meter(lambda: iter(loader + loader), batches=4)(net, 1).nc1_pinv, want)
        with self.assertRaisesRegex(TypeError, "pass|split=function"):
            collapse.callbacks.Meter(dicts)(net, 1)

    def test_states_of_several_processes_are_merged(self):
        net, loader = Net(), batches()
        h, y = features(net, loader)
        meters = [collapse.callbacks.Meter(loader[rank::2], collapse.History() if rank else self.folder, rank=rank, world=2, folder=self.folder, barrier=lambda: None)
                  for rank in (0, 1)]
        # The barrier of a single thread: rank 1 captures while rank 0 waits.
        waits = []
        meters[0].barrier = lambda: waits.append(1) or (len(waits) == 1 and meters[1]._capture(net, self.folder + "/measuring/rank-1"))
        result = meters[0](net, 1)
        self.assertEqual(result.n, 60)
        for key in ("nc1_pinv", "nc1_trace_ratio"):
            self.assertAlmostEqual(result.measures[key], expected(h, y)[key], delta=1e-9)
        with self.assertRaisesRegex(ValueError, "need a barrier"):
            collapse.callbacks.Meter(loader, self.folder, world=2)
        with self.assertRaisesRegex(ValueError, "keep='states'"):
            collapse.callbacks.Meter(loader, self.folder, world=2, keep="features")


def stand_ins(**modules):
    """sys.modules with modules by their dotted names, each with the given attributes."""
    made = {}
    for name, attributes in modules.items():
        parts = name.split("__")
        for i in range(1, len(parts) + 1):
            made.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
        for key, value in attributes.items():
            setattr(made[".".join(parts)], key, value)
    return mock.patch.dict(sys.modules, made)


def fresh(name):
    sys.modules.pop("collapse.callbacks." + name, None)
    return importlib.import_module("collapse.callbacks." + name)


@needs_program
@needs_torch
class LibrariesTest(FolderTest):
    def test_lightning(self):
        class Callback:
            def on_train_epoch_end(self, trainer, pl_module): raise AssertionError("not overridden")
        net, loader, logged = Net(), batches(), []
        net.log = lambda name, value, rank_zero_only: logged.append((name, value))
        with stand_ins(lightning__pytorch__callbacks={"Callback": Callback}):
            callback = fresh("lightning").CollapseCallback(self.folder)
        self.assertIsInstance(callback, Callback)
        self.assertIsNone(callback.history)  # until it knows the loader
        for epoch in (0, 1):
            callback.on_train_epoch_end(types.SimpleNamespace(train_dataloader=loader, current_epoch=epoch, world_size=1, global_rank=0), net)
        h, y = features(net, loader)
        want = expected(h, y, net.fc.weight.detach().numpy(), net.fc.bias.detach().numpy())
        self.assertEqual(callback.history.curve("train/nc1_pinv")[0], [1, 2])
        self.assertAlmostEqual(dict(logged)["collapse/nc1_pinv"], want["nc1_pinv"], delta=1e-6)
        self.assertEqual(dict(logged)["collapse/accuracy"], want["accuracy"])

    def test_hugging_face_causal_labels(self):
        class TrainerCallback:
            def on_epoch_end(self, args, state, control, **kwargs): raise AssertionError("not overridden")
        torch.manual_seed(0)
        ids = torch.randint(0, 7, (12, 9))
        labels = ids.clone()
        labels[:, 6:] = -100  # padding
        loader = [{"input_ids": ids[i:i + 4], "attention_mask": torch.ones(4, 9), "labels": labels[i:i + 4]} for i in (0, 4, 8)]
        net = TinyForCausalLM()
        with stand_ins(transformers={"TrainerCallback": TrainerCallback}):
            callback = fresh("huggingface").CollapseCallback(self.folder)
        callback.on_epoch_end(types.SimpleNamespace(world_size=1, process_index=0), types.SimpleNamespace(epoch=.9999), object(), model=net, train_dataloader=loader, tokenizer=None)
        # Positions 0…4 of each row have the token that follows as their class.
        h = net.embed(ids[:, :5]).detach().double().numpy().reshape(-1, 6)
        y = ids[:, 1:6].reshape(-1).numpy()
        self.assertEqual(callback.history.curve("train/min_class_count"), ([1], [np.bincount(y).min()]))
        within = sum(((h[y == c] - h[y == c].mean(0)) ** 2).sum() for c in range(7)) / len(h)
        self.assertAlmostEqual(callback.history.curve("train/trace_within")[1][0], within, delta=1e-9)
        self.assertTrue(all(net.got))

    def test_hugging_face_classifiers(self):
        class TrainerCallback: pass
        with stand_ins(transformers={"TrainerCallback": TrainerCallback}):
            callback = fresh("huggingface").CollapseCallback()
        self.assertIsNone(callback.history)
        net, loader = Net(), batches()
        callback.on_epoch_end(types.SimpleNamespace(world_size=1), types.SimpleNamespace(epoch=2.0), None, model=net, train_dataloader=[{"x": x, "labels": y} for x, y in loader])
        h, y = features(net, loader)
        self.assertAlmostEqual(callback.history.curve("train/nc1_pinv")[1][0], expected(h, y)["nc1_pinv"], delta=1e-6)
        with self.assertRaisesRegex(KeyError, "no labels; it has .'x'"):
            labelled({"x": 1})

    def test_keras(self):
        class Callback:
            def __init__(self): self.model = None

            def set_model(self, model): self.model = model

        class Model:
            def __init__(self, inputs, outputs): self.of = (inputs, outputs)

            def predict(self, x, batch_size=None, verbose="auto"):
                assert self.of == ("inputs", "input of head") and verbose == 0
                return np.maximum(x, 0)
        r = np.random.default_rng(0)
        kernel, bias, x, y = r.standard_normal((5, 3)), r.standard_normal(3), r.standard_normal((60, 5)), np.arange(60) % 3
        model = types.SimpleNamespace(inputs="inputs", layers=[None, types.SimpleNamespace(name="head", input="input of head", get_weights=lambda: [kernel, bias])])
        with stand_ins(keras__callbacks={"Callback": Callback}, keras={"Model": Model}):
            sys.modules["keras"].callbacks = sys.modules["keras.callbacks"]
            callback = fresh("keras").CollapseCallback(x, y, self.folder, every=2, test=(x[:30], y[:30]))
            callback.set_model(model)
            for epoch in (0, 1, 2):
                callback.on_epoch_end(epoch, {"loss": 1 / (epoch + 1)})
        want = expected(np.maximum(x, 0), y, kernel.T, bias)
        self.assertEqual(callback.history.curve("train/accuracy"), ([1, 2], [want["accuracy"]] * 2))
        self.assertEqual(callback.history.curve("loss")[0], [1, 2, 3])
        self.assertEqual(callback.history.curve("test/accuracy")[1][0], expected(np.maximum(x, 0)[:30], y[:30], kernel.T, bias)["accuracy"])

    def test_a_missing_library_is_named(self):
        for name, library in (("lightning", "lightning"), ("huggingface", "transformers"), ("keras", "keras")):
            gone = {library: None, "pytorch_lightning": None, "lightning.pytorch": None, "lightning.pytorch.callbacks": None}
            with mock.patch.dict(sys.modules, gone), self.assertRaisesRegex(ImportError, "needs " + library):
                fresh(name)


def labelled(batch):
    with stand_ins(transformers={"TrainerCallback": object}):
        return fresh("huggingface").labelled(batch)


@needs_program
@needs_torch
class DepthTest(FolderTest):
    def test_layers_in_one_call(self):
        net = Net().train()
        loader = batches()
        depth = collapse.measure_layers(net, loader, ["body.0", "body.3"])
        self.assertEqual(list(depth), ["body.0", "body.3", "features"])
        h, y = features(net, loader)
        x = torch.cat([x for x, _ in loader])
        first = net.body[0](x).detach().numpy()
        for name, rows in (("body.0", first), ("body.3", h), ("features", h)):
            self.assertAlmostEqual(depth[name].nc1_pinv, expected(rows, y)["nc1_pinv"], delta=1e-5 * depth[name].nc1_pinv)
        self.assertIn("accuracy", depth["features"].measures)
        self.assertNotIn("accuracy", depth["body.0"].measures)
        self.assertTrue(net.training)
        with WITHOUT_MATPLOTLIB:
            text = depth.plot()
        for word in ("body.0", "features", "↑ NC1<", "accuracy by nearest mean"):
            self.assertIn(word, text)
        self.assertEqual(list(collapse.measure_layers(net, loader)), ["body", "features"])
        with self.assertRaisesRegex(ValueError, "pass layers="):
            collapse.measure_layers(torch.nn.Sequential(torch.nn.Linear(5, 3)), loader)


if __name__ == "__main__":
    unittest.main()
