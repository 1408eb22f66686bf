"""The orders of the contract: what each one reads, does and answers."""

import hashlib
import os
import time

import torch

from . import devices, ensemble, evaluation, members, npy, safetensors, weights
from .ensemble import Ensemble
from .epoch import BETWEEN_LOOKS, Epoch
from .errors import Ended, InputError, explained
from .run import Run

PROTOCOL = "collapse-engine 2"
MOST_MEMBERS = 1024


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
    """Carries out orders for one run, or one ensemble of runs, at a time. ended is called between steps and says whether to leave; say sends an answer that is not an
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
            if isinstance(run, Ensemble):
                run.loaded(run.members, False)
            else:
                run.loaded = False
            devices.release(run.device)
        return explained(error, doing, *self.asked)

    def between(self):
        if self.ended():
            raise Ended()

    def opened(self, loaded=True):
        if self.run is None:
            raise InputError("no run is open")
        if loaded and not isinstance(self.run, Ensemble) and not self.run.loaded:
            raise InputError("the run has no weights yet, or lost them to an error: load first")
        return self.run

    def open(self, order):
        """Opens a run. With members above 1 it joins the ensemble that is open, or begins one."""
        size = order.whole("members", 1, MOST_MEMBERS) if "members" in order.values else 1
        joins = size > 1 and isinstance(self.run, Ensemble) and self.run.members
        if not joins:
            self.leave()
        self.asked = order.values.get("device"), order.values.get("batch")
        if not ensemble.fits(order):
            if size > 1:
                order.wrong("members", "1: only multilayer perceptrons trained by SGD or Adam share a batch")
            self.run = Run(order)
        else:
            run = self.run if joins else Ensemble(order, size)
            run.join(self.slot(order, run), order)
            self.run = run
        return {"machine": self.run.machine(), "bytes": self.run.bytes, "free": devices.free(self.run.device)}

    def slot(self, order, run):
        slot = members.slot_of(order)
        if slot >= run.size or slot in run.members:
            order.wrong("member", "a free slot of %d" % run.size)
        return slot

    def load(self, order):
        run = self.opened(loaded=False)
        if isinstance(run, Ensemble):
            return members.load(run, order)
        model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
        own, optimiser = weights.of_model(run.trainer.net), run.trainer.optimiser
        most = weights.most_bytes(own, optimiser)
        tensors, state = safetensors.read(model, most[0]), safetensors.read(optim, most[1])
        run.loaded = False
        weights.load_model(own, tensors, model)
        weights.load_optimiser(optimiser, state, run.arithmetic.dtype, optim)
        run.loaded = True
        return {}

    def epoch(self, order):
        run = self.opened()
        if isinstance(run, Ensemble):
            return members.epoch(run, order, self.between, self.say)
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
            evaluation.write_kept(run.folder, epoch.kept)
        return {"loss_sum": tally.loss, "correct": tally.correct, "samples": tally.samples, "steps": tally.steps, "last": tally.last, "bad": tally.bad}

    def settle(self, order):
        run = self.opened()
        if isinstance(run, Ensemble):
            return members.settle(run, order, self.between)
        views = run.images.views() if order.flag("views") else None
        evaluation.settle(run, order.whole("passes", 0), run.images.order(), views, self.between)
        return {}

    def evaluate(self, order):
        run = self.opened()
        if isinstance(run, Ensemble):
            return members.evaluate(run, order, self.between)
        number = order.whole("set", 0, 1)
        layers, samples = order.flag("layers"), order.whole("samples", 0)
        for split in order.texts("splits"):
            if split not in run.splits:
                order.wrong("splits", "some of " + ", ".join(run.splits))
            evaluation.evaluate(run, split, number, layers, samples, self.between)
        net = run.trainer.net
        evaluation.write_head(run.folder, number, net.rows(), net.fc.bias)
        return {"penalty_squares": evaluation.penalty_squares(run.params.values(), run.arithmetic.wide)}

    def save(self, order):
        run = self.opened()
        if isinstance(run, Ensemble):
            return members.save(run, order)
        model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
        return {"model": safetensors.write(model, weights.of_model(run.trainer.net)),
                "optim": safetensors.write(optim, weights.of_optimiser(run.trainer.optimiser))}

    def close(self, order):
        """Closes the run, or the member that the order names; the last one closes the ensemble."""
        if isinstance(self.run, Ensemble) and "member" in order.values:
            slot = members.slot_of(order)
            if slot in self.run.members:
                self.run.leave(slot)
            if self.run.members:
                return {}
        self.leave()
        return {}

    def leave(self):
        run, self.run = self.run, None
        if run is not None:
            device = run.device
            del run
            devices.release(device)


ORDERS = {name: getattr(Engine, name) for name in ("open", "load", "epoch", "settle", "evaluate", "save", "close")}


class Reports:
    """Reports the progress of an epoch, at most ten times a second."""

    def __init__(self, say):
        self.say, self.start, self.last = say, time.monotonic(), time.monotonic()

    def told(self, tally):
        now = time.monotonic()
        if now - self.last < BETWEEN_LOOKS or not tally.samples:
            return
        self.last = now
        self.say({"step": tally.steps, "loss": tally.loss / tally.samples, "correct": tally.correct, "images_per_s": tally.samples / (now - self.start)})
