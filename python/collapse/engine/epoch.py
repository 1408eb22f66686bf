"""An epoch of training steps.

Looking at a number means waiting for the device. On a CPU that costs nothing, so every step's objective is looked at before the step is
made. On a GPU the looks are a tenth of a second apart, and after each one the state of the run is copied on the device. If a look finds
a non-finite objective, the state of the last look is restored, and the steps since then are repeated, each with a look: they have the
same bits, so the epoch ends exactly before the step whose objective is not finite.
"""

import math
import time

import numpy as np
import torch

from . import weights
from .trainer import NotFinite

BETWEEN_LOOKS = 0.1  # seconds


class Tally:
    """Sums over the steps made. bad is the non-finite objective, if there was one."""

    def __init__(self):
        self.loss, self.correct, self.samples, self.steps, self.last, self.bad = 0.0, 0, 0, 0, 0.0, None

    def add(self, loss, correct, samples):
        self.loss += loss * samples
        self.correct += correct
        self.samples += samples
        self.steps += 1
        self.last = loss


class Snapshot:
    """A copy of everything that steps change."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.copies = [t.detach().clone() for t in self._tensors()]
        self.take()

    def _tensors(self):
        return list(weights.of_model(self.trainer.net).values()) + list(self.trainer.optimiser.state().values())

    def take(self):
        self.steps = self.trainer.optimiser.steps
        self._copy(self.copies, self._tensors())

    def restore(self):
        self._copy(self._tensors(), self.copies)
        self.trainer.optimiser.load(self.steps, {})

    def _copy(self, to, source):
        with torch.no_grad():
            for t, s in zip(to, source):
                t.copy_(s)


class Kept:
    """The results of training passes, on the host, by sample: features, logits and the tapped layers."""

    def __init__(self, samples):
        self.samples, self.arrays = samples, None

    def put(self, places, results):
        rows = [t.cpu().numpy() for t in results]
        if self.arrays is None:
            self.arrays = [np.zeros((self.samples, r.shape[1]), r.dtype) for r in rows]
        for array, r in zip(self.arrays, rows):
            array[places] = r


class Epoch:
    """The steps of one epoch.

    order   indices of the training set, on the host; views (n, 3) on the device, or None.
    keep    whether to store the results of the passes in kept.
    eager   whether every step is looked at before it is made: on a CPU, and for L-BFGS, which looks anyway.
    """

    def __init__(self, trainer, images, batch, order, views, lr, keep, eager):
        self.trainer, self.images, self.batch, self.order, self.views, self.lr, self.eager = trainer, images, batch, order, views, lr, eager
        self.places = torch.from_numpy(order).long().to(images.device)
        self.kept = Kept(images.samples) if keep else None
        self.tally, self.pending = Tally(), []  # pending: (first index, Outcome) of steps not yet looked at

    def run(self, between, told):
        """Makes the steps and returns their tally. between is called before each; an exception from it ends the epoch there. told is
        called with the tally after every look."""
        snapshot = None if self.eager else Snapshot(self.trainer)
        at, looked = 0, time.monotonic()
        try:
            while at < len(self.order):
                between()
                self.step(at)
                at += self.batch
                if self.eager or at >= len(self.order) or time.monotonic() - looked >= BETWEEN_LOOKS:
                    if not self.look():
                        at = self.again(snapshot)
                    elif snapshot:
                        snapshot.take()
                    looked = time.monotonic()
                    told(self.tally)
        except NotFinite as e:
            self.tally.bad = e.objective
        return self.tally

    def step(self, first):
        at = slice(first, first + self.batch)
        places = self.places[at]
        x = self.images.batch("train", places, None if self.views is None else self.views[at])
        outcome = self.trainer.step(x, self.images.labels[places], self.lr, self.eager)
        if not self.kept:
            outcome = outcome._replace(logits=None, features=None, layers=None)
        self.pending.append((first, outcome))

    def look(self):
        """Counts the pending steps if all their objectives are finite; returns whether they are."""
        numbers = torch.stack([torch.stack((o.loss, o.objective, o.correct.to(o.loss.dtype))) for _, o in self.pending]).tolist()
        if not all(math.isfinite(objective) for _, objective, _ in numbers):
            return False
        for (first, outcome), (loss, _, correct) in zip(self.pending, numbers):
            places = self.order[first:first + self.batch]
            self.tally.add(loss, int(correct), len(places))
            if self.kept:
                self.kept.put(places, (outcome.features, outcome.logits, *outcome.layers))
        self.pending = []
        return True

    def again(self, snapshot):
        """Goes back to the last look. Returns the index of the first step since then."""
        snapshot.restore()
        self.eager, at = True, self.pending[0][0]
        self.pending = []
        return at
