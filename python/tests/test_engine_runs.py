"""What collapse.engine computes: steps, resumes, passes without steps."""

import gc
import math
import os
import unittest
from unittest import mock

import numpy as np
import support

if support.torch:
    import torch
    from engine_support import ADAM, CLASSES, SAMPLES, SGD, FolderTest, decay, image_net, lbfgs, mlp

    from collapse.engine import epoch as epochs
    from collapse.engine import images, nets
    from collapse.engine.errors import Ended, Refused
    from collapse.engine.fields import Fields
else:
    FolderTest = unittest.TestCase


@support.needs_torch
class Resume(FolderTest):
    """After save and load, in another engine, training has the same bits as without."""

    def check(self, net=None, views=False, lr=0.05, **changed):
        folder = self.folder(net, **changed)
        engine = self.engine(folder)
        begun = self.saved(engine, folder, 5)
        self.train(engine, folder, [0, 1], views, lr)
        half = self.saved(engine, folder, 1)
        answer = self.train(engine, folder, [2, 3], views, lr)
        want = self.saved(engine, folder, 2)
        other = self.engine(folder, load=False)
        self.do(other, "load", model="m1", optim="o1")
        self.assert_same(self.saved(other, folder, 3), half)
        self.assertEqual(self.train(other, folder, [2, 3], views, lr), answer)
        self.assert_same(self.saved(other, folder, 4), want)
        self.do(engine, "load", model="m0", optim="o0")  # nothing is left of what it has trained
        self.assert_same(self.saved(engine, folder, 6), begun)
        self.assertEqual(int(want["steps"]), 4 * 3)
        moved = next(name for name in want if name.endswith(".weight"))
        self.assertFalse(torch.equal(want[moved], half[moved]))
        return want

    def test_sgd(self):
        for optim in (SGD, {**SGD, "nesterov": True}, {**SGD, "momentum": 0.0}):
            for dtype in ("float32", "float64"):
                self.check(optim=optim, dtype=dtype, views=True)

    def test_adam(self):
        for dtype in ("float32", "float64"):
            self.check(optim=ADAM, dtype=dtype)

    def test_lbfgs(self):
        for search in ("none", "strong_wolfe"):
            for dtype in ("float32", "float64"):
                state = self.check(optim=lbfgs(search), dtype=dtype, decay=decay(**{"all": 1e-3}), lr=0.1)
                self.assertIn("lbfgs.last_move", state)
                self.assertIn("lbfgs.old_stps.2", state)

    def test_peeled_and_frozen(self):
        for kind in ("peeled", "peeled-batch", "peeled-code"):
            self.check(decay=decay(kind, classifier=1e-2, bias=1e-2, features=1e-3), frozen=["fc.weight"], dtype="float32")

    def test_an_image_network_in_bfloat16(self):
        self.check(image_net("resnet18-adapt"), dtype="float32", precision="bf16")

    def test_frozen_parameters_stay(self):
        folder = self.folder(frozen=["fc.weight", "fc.bias"])
        engine = self.engine(folder)
        first = self.saved(engine, folder, 1)
        self.train(engine, folder, [0])
        last = self.saved(engine, folder, 2)
        for name in ("fc.weight", "fc.bias"):
            self.assertTrue(torch.equal(first[name], last[name]))
            self.assertNotIn(name + ".momentum_buffer", last)
        self.assertFalse(torch.equal(first["layers.0.weight"], last["layers.0.weight"]))

    def test_bfloat16_keeps_weights_in_float32(self):
        coarse, fine = (self.check(image_net("resnet18-adapt"), dtype="float32", precision=p, lr=1e-3) for p in ("bf16", "float32"))
        for name, t in coarse.items():
            if t.is_floating_point():
                self.assertEqual(t.dtype, torch.float32)
        away = (coarse["fc.weight"] - fine["fc.weight"]).norm() / fine["fc.weight"].norm()
        self.assertTrue(0 < away < 0.05, away)


@support.needs_torch
class Steps(FolderTest):
    def test_an_epoch_is_its_steps(self):
        """Against a training loop written with torch's modules."""
        folder = self.folder()
        engine = self.engine(folder)
        answer = self.train(engine, folder, [0], views=True, lr=0.1)
        net = nets.build(Fields(folder.net, "net"), CLASSES).double().train()
        net.load_state_dict({n: t for n, t in folder.tensors("m0").items()})
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
        order, views, pixels = folder.read("order"), folder.read("views").astype(int), folder.read("train.pixels")
        labels, table = torch.tensor(folder.read("train.labels")).long(), folder.read("table")
        total = correct = 0
        for first in range(0, SAMPLES, 16):
            rows = []
            for i, (dy, dx, mirror) in zip(order[first:first + 16], views[first:first + 16]):
                padded = np.pad(pixels[i, 0], 2)[2 + dy:8 + dy, 2 + dx:8 + dx]
                rows.append(table[0][padded[:, ::-1] if mirror else padded])
            y = labels[order[first:first + 16].tolist()]
            z, _ = net(torch.tensor(np.stack(rows)).double()[:, None])
            loss = torch.nn.functional.cross_entropy(z, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, correct, last = total + loss.item() * len(y), correct + int((z.argmax(1) == y).sum()), loss.item()
        self.assertAlmostEqual(answer["loss_sum"], total, delta=1e-12 * total)
        self.assertAlmostEqual(answer["last"], last, delta=1e-12 * last)
        self.assertEqual((answer["correct"], answer["samples"], answer["steps"]), (correct, SAMPLES, 3))
        saved = self.saved(engine, folder, 1)
        for name, t in net.state_dict().items():
            self.assertTrue(torch.allclose(saved[name].double(), t.double(), rtol=1e-11, atol=1e-13), name)

    def test_the_same_bits_twice(self):
        for net in (None, image_net("resnet18-adapt"), image_net("vgg13-bn")):
            ends = []
            for _ in range(2):
                folder = self.folder(net, dtype="float32", batch=20, threads=2)
                engine = self.engine(folder)
                self.train(engine, folder, [0])
                ends.append(self.saved(engine, folder, 1))
            self.assert_same(*ends)

    def test_views(self):
        pixels = torch.arange(2 * 1 * 3 * 4).reshape(2, 1, 3, 4).to(torch.uint8)
        shown = images.shifted(pixels, torch.tensor([[1, -1, 0], [0, 2, 1]]), 2)
        self.assertEqual(shown[0, 0].tolist(), [[0, 4, 5, 6], [0, 8, 9, 10], [0, 0, 0, 0]])
        self.assertEqual(shown[1, 0].tolist(), [[0, 0, 15, 14], [0, 0, 19, 18], [0, 0, 23, 22]])

    def test_one_channel_for_a_network_of_three(self):
        folder = self.folder(image_net("resnet18-adapt"))
        folder.write("table", np.stack([np.full(256, c, "<f4") + np.arange(256, dtype="<f4") for c in range(3)]))
        for split in ("train", "test"):
            folder.write(split + ".pixels", folder.read(split + ".pixels")[:, :1].copy())
        batch = self.engine(folder).run.images.batch("test", slice(0, 2))
        self.assertEqual(tuple(batch.shape), (2, 3, 32, 32))
        self.assertTrue(torch.equal(batch[:, 2], batch[:, 0] + 2))

    def diverging(self, eager, optim, step=1):
        """An epoch whose objective becomes infinite at a step, by way of a feature."""
        folder = self.folder(image_net("resnet18-adapt"), optim=optim, batch=8, decay=decay("peeled-batch", features=1e-3))
        engine = self.engine(folder)
        run, count = engine.run, [0]
        folder.draw(0)
        order = run.images.order()
        bad = set(order[8 * step:8 * step + 8].tolist())
        batch = run.images.batch

        def poisoned(split, at, views=None):
            x = batch(split, at, views)
            count[0] += 1
            return x * (math.inf if bad >= set(at.tolist()) else 1)

        run.images.batch = poisoned
        made = epochs.Epoch(run.trainer, run.images, 8, order, None, 0.1, False, eager)
        tally = made.run(lambda: None, lambda tally: None)
        return tally, self.saved(engine, folder, 1), count[0]

    def test_a_step_whose_objective_is_not_finite_is_not_made(self):
        for optim in (SGD, ADAM):
            found = {}
            # Looked at before each step; after all five, and then again up to the fourth; after each, and then the fourth again.
            for eager, between, passes in ((True, 0, 4), (False, 1e9, 5 + 4), (False, 0, 4 + 1)):
                with mock.patch.object(epochs, "BETWEEN_LOOKS", between):
                    tally, state, count = self.diverging(eager, optim, 3)
                self.assertEqual((tally.steps, tally.samples), (3, 24))
                self.assertTrue(math.isnan(tally.bad))
                self.assertTrue(all(torch.isfinite(t).all() for n, t in state.items() if "running" not in n))
                self.assertEqual(int(state["steps"]), 3)
                found[passes] = (tally.loss, tally.correct, tally.last), state
                self.assertEqual(count, passes)
            want, *others = found.values()
            for got in others:
                self.assertEqual(got[0], want[0])
                for name, t in want[1].items():
                    self.assertTrue(torch.equal(torch.nan_to_num(t), torch.nan_to_num(got[1][name])), name)
        tally, state, _ = self.diverging(True, lbfgs(), 2)
        self.assertEqual((tally.steps, int(state["steps"])), (2, 2))

    def test_looking_seldom_changes_nothing(self):
        ends = []
        for eager in (True, False):
            folder = self.folder(image_net("resnet18-adapt"), dtype="float32", optim=ADAM, batch=4)
            engine = self.engine(folder)
            run = engine.run
            made = epochs.Epoch(run.trainer, run.images, 4, run.images.order(), run.images.views(), 0.01, True, eager)
            tally = made.run(lambda: None, lambda tally: None)
            kept = [a.tobytes() for a in made.kept.arrays]
            ends.append(((tally.loss, tally.correct, tally.samples, tally.steps, tally.last, tally.bad, kept), self.saved(engine, folder, 1)))
        self.assertEqual(ends[0][0], ends[1][0])
        self.assert_same(ends[0][1], ends[1][1])

    def test_what_is_not_finite_is_answered(self):
        folder = self.folder()
        engine = self.engine(folder)
        answer = self.train(engine, folder, [0], lr=1e300)
        self.assertTrue(answer["bad"] is not None and not math.isfinite(answer["bad"]))
        self.assertLess(answer["steps"], 3)

    def test_the_end_of_orders_comes_between_steps(self):
        folder = self.folder()
        engine = self.engine(folder)
        engine.ended = lambda: True
        for order in ({"name": "epoch", "epoch": 0, "lr": 0.1, "views": False, "keep": False}, {"name": "settle", "passes": 1, "views": False},
                      {"name": "evaluate", "splits": ["test"], "set": 0, "layers": False, "samples": 0}):
            with self.assertRaises(Ended):
                self.do(engine, **order)


@support.needs_torch
class Passes(FolderTest):
    def test_evaluate(self):
        folder = self.folder(taps=[{"name": "layers.2", "pool": "average"}])
        engine = self.engine(folder)
        self.train(engine, folder, [0])
        state = self.saved(engine, folder, 1)
        answer = self.do(engine, "evaluate", splits=["train", "test"], set=1, layers=True, samples=0)
        net = nets.build(Fields(folder.net, "net"), CLASSES).double().eval()
        net.load_state_dict({n: state[n] for n in net.state_dict()})
        for split, n in (("train", SAMPLES), ("test", 10)):
            x = torch.tensor(folder.read("table")[0][folder.read(split + ".pixels")]).double()
            logits, features = net(x)
            got = folder.read(split + ".1.logits"), folder.read(split + ".1.features"), folder.read(split + ".1.layer.0")
            for a, b in zip(got, (logits, features, net.layers[:3](x.flatten(1)))):
                self.assertEqual(a.shape, tuple(b.shape))
                self.assertTrue(np.allclose(a, b.detach().numpy(), rtol=1e-12, atol=1e-14))
        head = folder.tensors("head.1.safetensors")
        self.assert_same(head, {n: state[n] for n in ("fc.weight", "fc.bias")})
        squares = [state[n].pow(2).sum().item() for n, _ in net.named_parameters()]
        self.assertTrue(np.allclose(answer["penalty_squares"], squares, rtol=1e-13))
        self.assert_same(self.saved(engine, folder, 2), state)  # changes nothing
        self.do(engine, "evaluate", splits=["train"], set=0, layers=False, samples=5)
        few, all = folder.read("train.0.logits"), folder.read("train.1.logits")
        self.assertTrue(few.shape == (5, CLASSES) and np.allclose(few, all[:5], rtol=1e-12))
        self.assertFalse(os.path.exists(folder.path + "/train.0.layer.0.npy"))

    def test_evaluation_between_epochs_changes_no_bit(self):
        ends = []
        for evaluates in (False, True):
            folder = self.folder(dtype="float32", taps=[{"name": "layers.2", "pool": "flatten"}])
            engine = self.engine(folder)
            for epoch in range(3):
                self.train(engine, folder, [epoch])
                if evaluates:
                    self.do(engine, "evaluate", splits=["train", "test"], set=epoch % 2, layers=True, samples=0)
            ends.append(self.saved(engine, folder, 1))
        self.assert_same(*ends)

    def test_kept_training_passes(self):
        """Each row is what the network made of its sample in the step that had it."""
        folder = self.folder(batch=SAMPLES, taps=[{"name": "layers.2", "pool": "average"}])
        engine = self.engine(folder)
        net = nets.build(Fields(folder.net, "net"), CLASSES).double().train()
        net.load_state_dict({n: t for n, t in folder.tensors("m0").items()})
        self.train(engine, folder, [0], keep=True)
        x = torch.tensor(folder.read("table")[0][folder.read("train.pixels")]).double()
        logits, features = net(x)
        for name, want in (("logits", logits), ("features", features), ("layer.0", net.layers[:3](x.flatten(1)))):
            self.assertTrue(np.allclose(folder.read("train.pass." + name), want.detach().numpy(), rtol=1e-10, atol=1e-12), name)

    def test_settle(self):
        """Running statistics forget where they began and move to the weights'; nothing else changes."""
        folder = self.folder(batch=20)
        engine = self.engine(folder)
        first = self.saved(engine, folder, 1)
        self.do(engine, "settle", passes=60, views=False)
        settled = self.saved(engine, folder, 2)
        for name, t in first.items():
            self.assertEqual(torch.equal(t, settled[name]), "running" not in name and "tracked" not in name, name)
        self.assertEqual(int(settled["layers.1.num_batches_tracked"]), 120)
        x = torch.tensor(folder.read("table")[0][folder.read("train.pixels")]).double().flatten(1)
        means = [(x[b] @ first["layers.0.weight"].T + first["layers.0.bias"]).mean(0) for b in (folder.read("order")[:20], folder.read("order")[20:])]
        want = sum(0.1 * 0.9**i * means[(119 - i) % 2] for i in range(120))
        self.assertTrue(torch.allclose(settled["layers.1.running_mean"], want, rtol=1e-9, atol=1e-12))
        without = self.folder(mlp(batch_norm=False))
        engine = self.engine(without)
        self.assertEqual(self.do(engine, "settle", passes=3, views=True), {})

    def test_a_batch_of_one_value_is_refused_in_words(self):
        folder = self.folder(batch=13)  # 40 = 3·13 + 1
        engine = self.engine(folder)
        try:
            self.train(engine, folder, [0])
        except ValueError as e:
            kind, message = engine.explained(e, "epoch")
            self.assertEqual(kind, "refused")
            self.assertIn("batch of 1", message)
        else:
            self.fail("a batch of one sample has no variance")


@support.needs_torch
class Memory(FolderTest):
    def test_a_closed_run_leaves_nothing(self):
        """The tensors of a run, its activations included, go when it closes: a worker opens one run after another."""
        for net in (None, image_net("resnet18-adapt")):
            folder = self.folder(net, dtype="float32")
            counts = []
            for load in (False, True, False):
                engine = self.engine(folder, load)
                if load:
                    self.train(engine, folder, [0])
                    self.do(engine, "evaluate", set=0, layers=False, samples=0, splits=["train", "test"])
                self.do(engine, "close")
                gc.collect()
                counts.append(sum(issubclass(type(o), torch.Tensor) for o in gc.get_objects()))
            self.assertEqual(counts, counts[:1] * 3, folder.net["kind"])


if __name__ == "__main__":
    unittest.main()
