"""The orders of the contract: what each one reads, does and answers."""

import hashlib
import os
import time

import torch

from . import devices, evaluation, npy, safetensors, weights
from .epoch import Epoch
from .errors import Ended, InputError, explained
from .run import Run

PROTOCOL = "collapse-engine 1"
BETWEEN_REPORTS = 0.1  # seconds between two answers of an epoch before its last


def version():
    """A digest of the engine's files, by which the program recognises its own."""
    engine = os.path.dirname(os.path.abspath(__file__))
    names = ["collapse/__init__.py"] + ["collapse/engine/" + name for name in sorted(os.listdir(engine)) if name.endswith(".py")]
    digest = hashlib.sha256()
    for name in names:
        with open(os.path.join(os.path.dirname(engine), "..", name), "rb") as file:
            text = file.read()
        digest.update(b"%s %d\n" % (name.encode(), len(text)) + text)
    return digest.hexdigest()[:16]


def hello():
    """The first answer, before any order."""
    return {"protocol": PROTOCOL, "engine": "torch", "version": version(), **devices.versions(), "devices": devices.listed()}


class Engine:
    """Carries out orders for one run at a time. ended is called between steps and says whether to leave; say sends an answer that is not an
    order's last."""

    def __init__(self, ended, say):
        self.ended, self.say, self.run = ended, say, None
        self.asked = None, None  # device and batch of the last open

    def do(self, order):
        """The fields of the last answer to an order."""
        name = order.text("do")
        if name not in ORDERS:
            order.wrong("do", "one of " + ", ".join(ORDERS))
        return ORDERS[name](self, order)

    def explained(self, error, doing):
        """The (kind, message) for an order that has failed. Training that was cut off needs its weights loaded again."""
        run = self.run
        if run is not None and doing in ("load", "epoch", "settle", "evaluate") and not isinstance(error, InputError):
            run.loaded = False
            devices.release(run.device)
        return explained(error, doing, *self.asked)

    def between(self):
        if self.ended():
            raise Ended()

    def opened(self, loaded=True):
        if self.run is None:
            raise InputError("no run is open")
        if loaded and not self.run.loaded:
            raise InputError("the run has no weights yet, or lost them to an error: load first")
        return self.run

    def open(self, order):
        self.close(order)
        self.asked = order.values.get("device"), order.values.get("batch")
        self.run = Run(order)
        return {"machine": self.run.machine(), "bytes": self.run.bytes, "free": devices.free(self.run.device)}

    def load(self, order):
        run = self.opened(loaded=False)
        model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
        net, optimiser = run.trainer.net, run.trainer.optimiser
        most = weights.most_bytes(net, optimiser)
        tensors, state = safetensors.read(model, most[0]), safetensors.read(optim, most[1])
        run.loaded = False
        weights.load_model(net, tensors, model)
        weights.load_optimiser(optimiser, state, run.arithmetic.dtype, optim)
        run.loaded = True
        return {}

    def epoch(self, order):
        run = self.opened()
        lr, keep = order.number("lr"), order.flag("keep")
        order.whole("epoch", 0)
        views = run.images.views() if order.flag("views") else None
        eager = run.device.type == "cpu" or run.trainer.optimiser.looks
        epoch = Epoch(run.trainer, run.images, run.batch, run.images.order(), views, lr, keep, eager)
        run.trainer.net.train()
        run.taps.on = keep
        with run.arithmetic.steps():
            tally = epoch.run(self.between, Reports(self.say).told)
        if epoch.kept and epoch.kept.arrays:
            evaluation.write_kept(run, epoch.kept)
        return {"loss_sum": tally.loss, "correct": tally.correct, "samples": tally.samples, "steps": tally.steps, "last": tally.last, "bad": tally.bad}

    def settle(self, order):
        run = self.opened()
        views = run.images.views() if order.flag("views") else None
        evaluation.settle(run, order.whole("passes", 0), run.images.order(), views, self.between)
        return {}

    def evaluate(self, order):
        run, number = self.opened(), order.whole("set", 0, 1)
        layers, samples = order.flag("layers"), order.whole("samples", 0)
        for split in order.texts("splits"):
            if split not in run.splits:
                order.wrong("splits", "some of " + ", ".join(run.splits))
            evaluation.evaluate(run, split, number, layers, samples, self.between)
        evaluation.write_head(run, number)
        return {"penalty_squares": evaluation.penalty_squares(run)}

    def save(self, order):
        run = self.opened()
        model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
        return {"model": safetensors.write(model, weights.of_model(run.trainer.net)),
                "optim": safetensors.write(optim, weights.of_optimiser(run.trainer.optimiser))}

    def close(self, order):
        run, self.run = self.run, None
        if run is not None:
            device = run.device
            del run
            devices.release(device)
        return {}


ORDERS = {name: getattr(Engine, name) for name in ("open", "load", "epoch", "settle", "evaluate", "save", "close")}


class Reports:
    """Reports the progress of an epoch, at most ten times a second."""

    def __init__(self, say):
        self.say, self.start, self.last = say, time.monotonic(), time.monotonic()

    def told(self, tally):
        now = time.monotonic()
        if now - self.last < BETWEEN_REPORTS or not tally.samples:
            return
        self.last = now
        self.say({"step": tally.steps, "loss": tally.loss / tally.samples, "correct": tally.correct, "images_per_s": tally.samples / (now - self.start)})
