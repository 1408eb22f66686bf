"""The orders of the contract for a run alone in torch's own modules. members.py has those for an ensemble."""

import time

from . import evaluation, npy, safetensors, weights
from .epoch import BETWEEN_LOOKS, Epoch
from .errors import InputError


def with_weights(run):
    if not run.loaded:
        raise InputError("the run has no weights yet, or lost them to an error: load first")


def load(run, order, between, say):
    model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
    own, optimiser = weights.of_model(run.trainer.net), run.trainer.optimiser
    most = weights.most_bytes(own, optimiser)
    tensors, state = safetensors.read(model, most[0]), safetensors.read(optim, most[1])
    run.loaded = False
    weights.load_model(own, tensors, model)
    weights.load_optimiser(optimiser, state, run.arithmetic.dtype, optim)
    run.loaded = True
    return {}


def epoch(run, order, between, say):
    with_weights(run)
    lr, keep = order.number("lr"), order.flag("keep")
    order.whole("epoch", 0)
    views = run.images.views() if order.flag("views") else None
    eager = run.device.type == "cpu" or run.trainer.optimiser.looks
    made = Epoch(run.trainer, run.images, run.batch, run.images.order(), views, lr, keep, eager)
    run.trainer.net.train()
    run.taps.on = keep
    with run.arithmetic.steps():
        tally = made.run(between, Reports(say).told)
    if made.kept and made.kept.arrays:
        evaluation.write_kept(run.folder, made.kept)
    return {"loss_sum": tally.loss, "correct": tally.correct, "samples": tally.samples, "steps": tally.steps, "last": tally.last, "bad": tally.bad}


def settle(run, order, between, say):
    with_weights(run)
    views = run.images.views() if order.flag("views") else None
    evaluation.settle(run, order.whole("passes", 0), run.images.order(), views, between)
    return {}


def evaluate(run, order, between, say):
    with_weights(run)
    number = order.whole("set", 0, 1)
    layers, samples = order.flag("layers"), order.whole("samples", 0)
    for split in order.texts("splits"):
        if split not in run.splits:
            order.wrong("splits", "some of " + ", ".join(run.splits))
        evaluation.evaluate(run, split, number, layers, samples, between)
    net = run.trainer.net
    evaluation.write_head(run.folder, number, net.rows(), net.fc.bias)
    return {"penalty_squares": evaluation.penalty_squares(run.params.values(), run.arithmetic.wide)}


def save(run, order, between, say):
    with_weights(run)
    model, optim = (npy.path_of(run.folder, order.text(name)) for name in ("model", "optim"))
    return {"model": safetensors.write(model, weights.of_model(run.trainer.net)),
            "optim": safetensors.write(optim, weights.of_optimiser(run.trainer.optimiser))}


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
