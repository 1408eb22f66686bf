"""Ensembles of collapse.engine: their members against runs alone in torch's own modules, and the bits of a member in any slot and company."""

import math
import unittest
from unittest import mock

import numpy as np
import support

if support.torch:
    import torch
    from engine_support import ADAM, CLASSES, SAMPLES, SGD, FolderTest, decay, image_net, lbfgs, mlp

    from collapse.engine import engine as engines
    from collapse.engine import together
    from collapse.engine.errors import InputError
    from collapse.engine.fields import Fields
else:
    FolderTest = unittest.TestCase

LOSSES = [{"kind": "ce"}, {"kind": "ls", "smoothing": 0.1}, {"kind": "lr", "smoothing": 0.3}, {"kind": "ls", "smoothing": 0.4}, {"kind": "mse", "reduction": "torch"},
          {"kind": "mse", "reduction": "paper"}, {"kind": "rescaled_mse", "reduction": "torch", "alpha": 5.0, "m": 3.0}]


class EnsembleTest(FolderTest):
    """Gives tests ensembles in engines of this process."""

    def members(self, count, net=None, different=True, **changed):
        """The folders of members that differ in all that may differ."""
        folders = []
        for i in range(count):
            own = {}
            if different:
                optim, penalty = dict(changed.get("optim", SGD)), dict(changed.get("decay", decay()))
                optim["weight_decay"] = 1e-3 * i
                optim.update({"momentum": 0.5 + 0.1 * i} if optim["kind"] == "sgd" and optim["momentum"] else {})
                optim.update({"beta1": 0.7 + 0.04 * i, "eps": 1e-6 * (1 + i)} if optim["kind"] == "adam" else {})
                penalty.update({name: v * (1 + i) for name, v in penalty.items() if name not in ("kind", "samples")})
                own = {"loss": LOSSES[i % len(LOSSES)], "optim": optim, "decay": penalty}
            folder = self.folder(net, **{**changed, **own, "run": "r%d" % i, "seed": i})
            if different:
                folder.write("train.labels", np.random.default_rng([3, i]).integers(0, CLASSES, SAMPLES).astype("<i4"))
                folder.epochs = i + 1  # their orders
            folder.lr = 0.02 * (1 + i) if different else 0.05
            folders.append(folder)
        return folders

    def together(self, folders, size, slots=None):
        """An engine with the folders as members in slots."""
        self.said = []
        engine = engines.Engine(lambda: False, self.said.append)
        for slot, folder in zip(slots or range(len(folders)), folders):
            engine.do(Fields({**folder.open, "members": size, "member": slot}, "open"))
            self.do(engine, "load", member=slot, model="m0", optim="o0")
            folder.slot = slot
        return engine

    def epoch(self, engine, folders, epoch, views=False, keep=False):
        """The members' answers to an epoch of all of them."""
        for folder in folders:
            folder.draw(100 * getattr(folder, "epochs", 0) + epoch)
        parts = [{"member": f.slot, "epoch": epoch, "lr": f.lr, "views": views, "keep": keep} for f in folders]
        return self.do(engine, "epoch", members=parts)["members"]

    def state(self, engine, folder, number=1):
        self.do(engine, "save", member=folder.slot, model="m%d" % number, optim="o%d" % number)
        return {**folder.tensors("m%d" % number), **folder.tensors("o%d" % number)}

    def evaluated(self, engine, folders, layers=True):
        answer = self.do(engine, "evaluate", members=[{"member": f.slot} for f in folders], splits=["train", "test"], set=0, layers=layers, samples=0)
        return [m["penalty_squares"] for m in answer["members"]]

    def files(self, folder):
        names = ["%s.0.%s" % (split, what) for split in ("train", "test") for what in ("features", "logits", *["layer.%d" % i for i in range(len(folder.open["taps"]))])]
        return [folder.read(name) for name in names] + list(folder.tensors("head.0.safetensors").values())

    def alone(self, folder, epochs, views, keep):
        """The same run in torch's own modules: answers, state, evaluation and files."""
        with mock.patch.object(engines.ensemble, "fits", lambda order: False):
            engine = self.engine(folder)
        answers = []
        for epoch in epochs:
            folder.draw(100 * folder.epochs + epoch)
            answers.append(self.do(engine, "epoch", epoch=epoch, lr=folder.lr, views=views, keep=keep))
        kept = [folder.read("train.pass.features")] if keep else []
        state = self.saved(engine, folder, 7)
        squares = self.do(engine, "evaluate", splits=["train", "test"], set=0, layers=True, samples=0)["penalty_squares"]
        return answers, state, squares, self.files(folder) + kept

    def close(self, got, want, what):
        got, want = np.asarray(got, "f8"), np.asarray(want, "f8")
        self.assertEqual(got.shape, want.shape, what)
        self.assertLessEqual(np.abs(got - want).max(initial=0), 1e-9 * max(np.abs(want).max(initial=0), 1e-3), what)


@support.needs_torch
class Members(EnsembleTest):
    def check(self, net=None, views=False, keep=False, **changed):
        """Members equal runs alone, to 1e-9 in float64."""
        taps = [{"name": name, "pool": "average"} for name in ("layers.0", "layers")]
        folders = self.members(len(LOSSES), net, taps=taps, **changed)
        engine = self.together(folders, len(LOSSES) + 1)
        answers = [self.epoch(engine, folders, epoch, views, keep) for epoch in range(2)]
        kept = [[f.read("train.pass.features")] if keep else [] for f in folders]
        squares = self.evaluated(engine, folders)
        for i, folder in enumerate(folders):
            state, files = self.state(engine, folder), self.files(folder) + kept[i]
            want, wanted, penalty, written = self.alone(folder, range(2), views, keep)
            self.close(squares[i], penalty, "squares of %d" % i)
            for epoch in range(2):
                self.assertEqual({n: answers[epoch][i][n] for n in ("correct", "samples", "steps", "bad", "member")}, {**{n: want[epoch][n] for n in ("correct", "samples", "steps", "bad")}, "member": i})
                self.close([answers[epoch][i][n] for n in ("loss_sum", "last")], [want[epoch][n] for n in ("loss_sum", "last")], "losses of %d" % i)
            self.assertEqual({n: t.dtype for n, t in state.items()}, {n: t.dtype for n, t in wanted.items()})
            self.assertEqual(list(state), list(wanted))
            for name, t in wanted.items():
                self.close(state[name], t, "%s of %d" % (name, i))
            for a, b in zip(files, written):
                self.close(a, b, "what %d has written" % i)

    def test_sgd(self):
        self.check()
        self.check(views=True, keep=True, optim={**SGD, "nesterov": True})
        self.check(optim={**SGD, "momentum": 0.0}, net=mlp(batch_norm=False, activation="sigmoid"))

    def test_adam(self):
        self.check(optim={**ADAM, "eps": 1e-6}, frozen=["fc.weight"])

    def test_decay(self):
        for kind in ("all", "peeled", "peeled-batch", "peeled-code"):
            self.check(decay=decay(kind, classifier=1e-2, bias=2e-2, features=1e-3, **{"all": 1e-3}))

    def test_networks(self):
        net = mlp()
        del net["layers"][-1]["bias"]
        self.check({**net, "temperature": 5.0})
        self.check({**mlp(), "layers": [{**layer, "bias": False} if layer["kind"] == "linear" else layer for layer in mlp()["layers"]]})
        self.check(mlp(width=17, dim=1), batch=7)

    def test_bfloat16(self):
        folders = self.members(3, dtype="float32", precision="bf16")
        engine = self.together(folders, 3)
        answers = self.epoch(engine, folders, 0)
        for f, got in zip(folders, answers):
            want, state, _, _ = self.alone(f, [0], False, False)
            self.assertLess(abs(got["loss_sum"] / want[0]["loss_sum"] - 1), 0.02)
            self.assertEqual({t.dtype for n, t in self.state(engine, f).items()}, {t.dtype for t in state.values()})

    def test_settle(self):
        folders = self.members(3)
        engine = self.together(folders, 3)
        for f in folders:
            f.draw(0)
        before = self.state(engine, folders[2], 2)
        self.do(engine, "settle", members=[{"member": s, "views": True} for s in (0, 1)], passes=3)
        self.assert_same(self.state(engine, folders[2], 3), before)
        for f in folders[:2]:
            got = self.state(engine, f, 4)
            with mock.patch.object(engines.ensemble, "fits", lambda order: False):
                other = self.engine(f)
            self.do(other, "settle", passes=3, views=True)
            for name, t in self.saved(other, f, 5).items():
                self.close(got[name], t, name)
        self.assertFalse(torch.equal(got["layers.1.running_mean"], before["layers.1.running_mean"]))


@support.needs_torch
class Bits(EnsembleTest):
    """A member has the same bits in any slot and any company."""

    def run_of(self, folders, size, slots, epochs=2, **passes):
        engine = self.together(folders, size, slots)
        answers = [self.epoch(engine, folders, epoch, **passes) for epoch in range(epochs)]
        self.evaluated(engine, folders)
        return engine, answers

    def bytes_of(self, engine, folder):
        return {**{n: t.numpy().tobytes() for n, t in self.state(engine, folder).items()}, "files": [np.asarray(a).tobytes() for a in self.files(folder)]}

    def test_any_company(self):
        random = np.random.default_rng(5)
        for trial in range(6):
            width, dim = (int(n) for n in random.integers(1, 70, 2))
            optim = [SGD, ADAM, {**SGD, "nesterov": True}][trial % 3]
            changed = {"dtype": ["float32", "float64"][trial % 2], "precision": "bf16" if trial == 2 else "float32", "batch": int(random.integers(2, 20)), "optim": optim, "threads": 1 + trial % 2,
                       "decay": decay(["all", "peeled"][trial // 3], features=1e-3, classifier=1e-3)}
            if SAMPLES % changed["batch"] == 1:
                changed["batch"] += 1
            size = int(random.integers(2, 6))
            net = mlp(width=width, dim=dim) if trial % 3 else mlp(batch_norm=False, activation="sigmoid", width=width, dim=dim)
            folders = self.members(size, net, taps=[{"name": "layers.0", "pool": "average"}], **changed)
            views = bool(trial % 2)
            engine, answers = self.run_of(folders, size, list(range(size)), views=views)
            want = [self.bytes_of(engine, f) for f in folders]
            for chosen in ([int(random.integers(size))], list(random.permutation(size)[:2]), list(range(size))):
                slots = [int(s) for s in random.permutation(size)[:len(chosen)]]
                some = [folders[i] for i in chosen]
                engine, again = self.run_of(some, size, slots, views=views)
                for k, i in enumerate(chosen):
                    for epoch in range(2):
                        self.assertEqual({**again[epoch][k], "member": 0}, {**answers[epoch][i], "member": 0}, (trial, i))
                    self.assertEqual(self.bytes_of(engine, folders[i]), want[i], (trial, i, slots))

    def test_after_a_resume(self):
        for optim in (SGD, ADAM):
            folders = self.members(3, optim=optim, dtype="float32")
            engine = self.together(folders, 4)
            self.epoch(engine, folders, 0)
            for f in folders:
                self.state(engine, f, 2)
            self.epoch(engine, folders, 1)
            want = [self.state(engine, f, 3) for f in folders]
            other = self.together(folders[:2], 4, [3, 1])
            for f in folders[:2]:
                self.do(other, "load", member=f.slot, model="m2", optim="o2")
            self.epoch(other, folders[:2], 1)
            for f, w in zip(folders, want[:2]):
                self.assert_same(self.state(other, f, 4), w)

    def test_beside_a_member_that_diverges_leaves_or_comes(self):
        folders = self.members(4, dtype="float32")
        engine = self.together(folders, 4)
        want = []
        for epoch in range(4):
            self.epoch(engine, folders, epoch)
            want.append([self.state(engine, f) for f in folders])
        folders[1].lr = 1e38
        engine = self.together(folders[:3], 4)
        bad = self.epoch(engine, folders[:3], 0)[1]
        self.assertFalse(math.isfinite(bad["bad"]))
        self.assertLess(bad["steps"], 3)
        want_bad = self.alone(folders[1], [0], False, False)[0][0]
        self.assertEqual({n: repr(bad[n]) for n in ("correct", "samples", "steps", "bad")}, {n: repr(want_bad[n]) for n in ("correct", "samples", "steps", "bad")})
        self.assertAlmostEqual(bad["loss_sum"], want_bad["loss_sum"], delta=1e-5 * want_bad["loss_sum"])
        with self.assertRaisesRegex(InputError, "load first"):
            self.state(engine, folders[1])
        self.assert_same(self.state(engine, folders[0]), want[0][0])
        others = [folders[0], folders[2]]
        self.epoch(engine, others, 1)  # the third is in its slot, and has no part
        self.do(engine, "close", member=1)
        self.assertFalse(any(t[1].any() for t in engine.run._state()))
        self.do(engine, "open", **{**folders[3].open, "members": 4, "member": 1})
        folders[3].slot = 1
        self.do(engine, "load", member=1, model="m0", optim="o0")
        self.epoch(engine, [folders[3]], 0)  # others have no part in this one
        for f, w in ((folders[0], want[1][0]), (folders[2], want[1][2]), (folders[3], want[0][3])):
            self.assert_same(self.state(engine, f), w)
        self.do(engine, "close", member=0)
        self.epoch(engine, [folders[2]], 2)
        self.assert_same(self.state(engine, folders[2]), want[2][2])
        self.do(engine, "close", member=2)
        self.do(engine, "close", member=1)
        self.assertIsNone(engine.run)

    def test_the_first_objective_that_is_not_finite_is_told(self):
        """Infinite at first, and not a number in the steps after."""
        folders = self.members(2, mlp(batch_norm=False), dtype="float32", batch=4, loss={"kind": "mse", "reduction": "torch"}, different=False)
        folders[1].lr = 1e15
        bad = self.epoch(self.together(folders, 2), folders, 0)[1]
        folders[1].epochs = 0
        self.assertEqual((bad["bad"], bad["steps"]), (math.inf, self.alone(folders[1], [0], False, False)[0][0]["steps"]))
        self.assertLess(bad["steps"], SAMPLES // 4 - 1)

    def test_what_is_said_meanwhile(self):
        folders = self.members(2)
        engine = self.together(folders, 2)
        with mock.patch.object(together, "BETWEEN_LOOKS", 0):
            answers = self.epoch(engine, folders, 0)
        self.assertEqual([s["step"] for s in self.said], [1, 2, 3])
        for last, m in zip(answers, self.said[-1]["members"]):
            self.assertEqual((m["member"], m["correct"]), (last["member"], last["correct"]))
            self.assertAlmostEqual(m["loss"], last["loss_sum"] / SAMPLES)

    def test_data_that_are_alike_are_held_once(self):
        folders = self.members(4)
        for split in ("test", "train"):
            folders[2].write(split + ".pixels", 255 - folders[2].read(split + ".pixels"))
        folders[3].write("table", 2 * folders[3].read("table"))
        engine = self.together(folders, 4)
        of = [engine.run.members[s].images for s in range(4)]
        self.assertEqual([i.pixels is of[0].pixels for i in of], [True, True, False, False])
        for views in (False, True):
            self.epoch(engine, folders, int(views), views)
        self.evaluated(engine, folders)
        for f in folders:
            got = self.state(engine, f), f.read("test.0.logits")
            with mock.patch.object(engines.ensemble, "fits", lambda order: False):
                other = self.engine(f)
            for views in (False, True):
                f.draw(100 * f.epochs + views)
                self.do(other, "epoch", epoch=0, lr=f.lr, views=views, keep=False)
            for name, t in self.saved(other, f, 7).items():
                self.close(got[0][name], t, (f.open["run"], name))
            self.do(other, "evaluate", splits=["test"], set=0, layers=False, samples=0)
            self.close(got[1], f.read("test.0.logits"), f.open["run"])


@support.needs_torch
class Orders(EnsembleTest):
    def test_who_may_join(self):
        folder, = self.members(1)
        engine = self.together([folder], 3)
        other = self.folder()
        for changed, word in (({"batch": 8}, "batch"), ({"net": mlp(width=8)}, "net"), ({"optim": {**SGD, "nesterov": True}}, "optim"), ({"optim": {**SGD, "momentum": 0.0}}, "momentum"),
                              ({"decay": decay("peeled")}, "decay"), ({"members": 4}, "members"), ({"member": 0}, "member"), ({"member": 3}, "member"), ({"frozen": ["fc.weight"]}, "frozen"),
                              ({"splits": ["train"]}, "splits"), ({"loss": {"kind": "ls"}}, "smoothing"), ({"dir": "/nowhere"}, "dir"), ({"optim": {**SGD, "momentum": "x"}}, "momentum")):
            with self.assertRaisesRegex(InputError, word, msg=changed):
                self.do(engine, "open", **{**other.open, "members": 3, "member": 1, **changed})
            self.assertEqual(list(engine.run.members), [0])
        other.write("test.pixels", other.read("test.pixels")[:5])
        with self.assertRaisesRegex(InputError, "numbers of images"):
            self.do(engine, "open", **{**other.open, "members": 3, "member": 1})
        self.assertTrue(self.epoch(engine, [folder], 0))  # it goes on
        for net, optim in ((image_net("resnet18-adapt"), SGD), (None, lbfgs())):
            with self.assertRaisesRegex(InputError, "members"):
                self.do(engines.Engine(lambda: False, print), "open", **{**self.folder(net, optim=optim).open, "members": 2})

    def test_orders_that_are_wrong(self):
        folders = self.members(2)
        engine = self.together(folders, 3)
        part = lambda slot, **changed: {"member": slot, "epoch": 0, "lr": 0.1, "views": False, "keep": False, **changed}
        for parts, word in (([part(0), part(0)], "each member once"), ([], "each member once"), ([part(2)], "slot 2"), ([part(0), part(1, views=True)], "views"),
                            ([part(0, lr=-1)], "lr"), ([part(0, epoch=-1)], "epoch")):
            with self.assertRaisesRegex(InputError, word):
                self.do(engine, "epoch", members=parts)
        with self.assertRaisesRegex(InputError, "slot 2"):
            self.do(engine, "save", member=2, model="m", optim="o")

    def test_how_many_is_part_of_the_machine(self):
        folder, = self.members(1)
        one, many = self.engine(folder).run.machine(), self.together([folder], 3).run.machine()
        self.assertEqual(many, one + ", members 3")

    def test_memory(self):
        """The first member needs the memory of all slots; others add their images, unless one has them already."""
        folders = self.members(3)
        folders[2].write("test.pixels", 255 - folders[2].read("test.pixels"))
        few, many = (self.together(folders[:1], n).run.bytes for n in (2, 4))
        self.assertGreater(many, few)
        self.assertGreater(few, 300 << 20)
        self.assertEqual(self.together(folders[:2], 4).run.bytes, 0)
        images = (SAMPLES + 10) * 36
        self.assertEqual(self.together(folders, 4).run.bytes, images * (1 + 8))
