"""What the tests of collapse.engine share: a small run in a folder, and the process that computes it."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
import support
import torch

from collapse.engine import nets, npy, optimisers, safetensors, weights
from collapse.engine.engine import Engine
from collapse.engine.fields import Fields

SAMPLES, CLASSES, SHAPE = 40, 3, (1, 6, 6)


def mlp(batch_norm=True, activation="relu", inputs=36, width=7, dim=4):
    """net of a perceptron with two blocks."""
    layers, last = [], inputs
    for out in (width, dim):
        layers.append({"kind": "linear", "name": "layers.%d" % len(layers), "in": last, "out": out, "bias": True})
        if batch_norm:
            layers.append({"kind": "batch_norm", "name": "layers.%d" % len(layers), "out": out, "eps": 1e-5, "momentum": 0.1})
        layers.append({"kind": activation})
        last = out
    layers.append({"kind": "linear", "name": "fc", "in": dim, "out": CLASSES, "bias": True})
    return {"kind": "mlp", "channels": SHAPE[0], "height": SHAPE[1], "width": SHAPE[2], "layers": layers}


def image_net(kind, **more):
    return {"kind": kind, "channels": 3, "height": 32, "width": 32, "stem_width": 2, "feature_dim": 0, "bias": True, **more}


SGD = {"kind": "sgd", "momentum": 0.9, "nesterov": False, "weight_decay": 1e-3}
ADAM = {"kind": "adam", "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}


def lbfgs(search="strong_wolfe"):
    settings = {"line_search": search, "max_iter": 4, "max_eval": 0, "history": 3, "tolerance_grad": 0, "tolerance_change": 0}
    return {"kind": "lbfgs", "lbfgs": settings, "weight_decay": 0.0}


def decay(kind="all", **more):
    return {"kind": kind, "classifier": 0.0, "bias": 0.0, "features": 0.0, "samples": SAMPLES, "all": 0.0, **more}


class Folder:
    """A run's folder with data and a first checkpoint, and the orders of its run."""

    def __init__(self, path, net=None, **changed):
        self.path, self.net = path, net or mlp()
        channels = self.net["channels"]
        self.shape = channels, self.net["height"], self.net["width"]
        self.open = {"do": "open", "run": "r", "dir": path, "device": "cpu", "threads": 1, "dtype": "float64", "precision": "float32", "seed": 1,
                     "classes": CLASSES, "inputs": int(np.prod(self.shape)), "net": self.net, "loss": {"kind": "ce"}, "decay": decay(), "optim": SGD,
                     "batch": 16, "pad": 2, "frozen": [], "taps": [], "splits": ["train", "test"], **changed}
        self.random = np.random.default_rng(7)
        for split, n in (("train", SAMPLES), ("test", 10)):
            self.write(split + ".pixels", self.random.integers(0, 256, (n, *self.shape)).astype("u1"))
            self.write(split + ".labels", self.random.integers(0, CLASSES, n).astype("<i4"))
        self.write("table", np.linspace(-1, 1, 256, dtype="<f4") + np.zeros((channels, 1), "<f4"))
        self.first_checkpoint()
        self.draw(0)

    def write(self, name, values):
        npy.write(os.path.join(self.path, name + ".npy"), values)

    def read(self, name):
        return np.load(os.path.join(self.path, name + ".npy"))

    def tensors(self, name):
        return safetensors.read(os.path.join(self.path, name), 1 << 30)

    def first_checkpoint(self):
        torch.manual_seed(3)
        dtype = getattr(torch, self.open["dtype"])
        net = nets.build(Fields(self.net, "net"), self.open["classes"]).to(dtype)
        optimiser = optimisers.build(Fields(self.open["optim"], "optim"), weights.trained(net, self.open["frozen"] or []))
        safetensors.write(os.path.join(self.path, "m0"), weights.of_model(net))
        safetensors.write(os.path.join(self.path, "o0"), weights.of_optimiser(optimiser))

    def draw(self, epoch):
        """Writes an epoch's order and views."""
        random = np.random.default_rng([7, epoch])
        self.write("order", random.permutation(SAMPLES).astype("<i4"))
        pad = self.open["pad"]
        self.write("views", np.concatenate([random.integers(-pad, pad + 1, (SAMPLES, 2)), random.integers(0, 2, (SAMPLES, 1))], 1).astype("i1"))


class FolderTest(unittest.TestCase):
    """Gives tests folders, and engines in this process."""

    def folder(self, net=None, **changed):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Folder(folder.name, net, **changed)

    def engine(self, folder, load=True):
        """An engine in which the folder's run is open."""
        self.said = []
        engine = Engine(lambda: False, self.said.append)
        engine.do(Fields(folder.open, "open"))
        if load:
            self.do(engine, "load", model="m0", optim="o0")
        return engine

    def do(self, engine, name, **fields):
        return engine.do(Fields({"do": name, **fields}, name))

    def train(self, engine, folder, epochs, views=False, lr=0.1, keep=False):
        """The last answer of the given epochs."""
        for epoch in epochs:
            folder.draw(epoch)
            answer = self.do(engine, "epoch", epoch=epoch, lr=lr, views=views, keep=keep)
        return answer

    def saved(self, engine, folder, number):
        """Writes a checkpoint and returns its tensors."""
        self.do(engine, "save", model="m%d" % number, optim="o%d" % number)
        return {**folder.tensors("m%d" % number), **folder.tensors("o%d" % number)}

    def assert_same(self, one, other):
        self.assertEqual(list(one), list(other))
        for name, t in one.items():
            self.assertTrue(torch.equal(t, other[name]), name)


class Process:
    """A process of the engine. Its answers come within a minute, or the test fails."""

    def __init__(self, test, *arguments, env=None, code=None):
        command = [sys.executable, "-m", "collapse.engine"] if code is None else [sys.executable, "-c", code]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "PYTHONPATH": support.ROOT, **(env or {})})
        self.lines, self.errors = queue.Queue(), b""
        self.threads = [threading.Thread(target=self._answers, daemon=True), threading.Thread(target=self._errors, daemon=True)]
        for thread in self.threads:
            thread.start()
        test.addCleanup(self.end)

    def _answers(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _errors(self):
        for line in self.process.stderr:
            self.errors += line

    def answer(self):
        """The next answer; None at the end."""
        line = self.lines.get(timeout=60)
        return json.loads(line) if line else None

    def send(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def order(self, **fields):
        """The last answer to an order."""
        self.send(json.dumps(fields).encode() + b"\n")
        answer = self.answer()
        while answer is not None and "step" in answer:
            answer = self.answer()
        return answer

    def end(self):
        """Closes standard input and returns the exit status."""
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        status = self.process.wait(60)
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status
