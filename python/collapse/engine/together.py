"""What an ensemble does: epochs of steps, and passes without steps. Its numbers stay on the device and are looked at ten times a second."""

import contextlib
import time

import numpy as np
import torch

from . import evaluation
from .epoch import BETWEEN_LOOKS, Kept


class Part:
    """A member's part in an epoch: its order and views, learning rate, and whether to keep the results of the passes."""

    def __init__(self, slot, images, lr=0.0, views=False, keep=False):
        self.slot, self.lr = slot, lr
        self.order, self.views = images.order(), images.views() if views else None
        self.kept = Kept(images.samples) if keep else None


class Tallies:
    """Sums over the steps of each slot, on the device. A slot's sums end before the first step whose objective is not finite; bad is that
    objective."""

    def __init__(self, size, wide, device):
        zeros = lambda dtype: torch.zeros(size, dtype=dtype, device=device)
        self.loss, self.last, self.bad = zeros(wide), zeros(wide), zeros(wide)
        self.correct, self.steps, self.samples = zeros(torch.int64), zeros(torch.int64), zeros(torch.int64)
        self.alive = torch.ones(size, dtype=torch.bool, device=device)

    def add(self, loss, objective, correct, samples):
        finite = torch.isfinite(objective)
        self.bad = torch.where(self.alive & ~finite, objective, self.bad)
        self.alive &= finite
        self.loss += torch.where(self.alive, loss * samples, 0.0)
        self.last = torch.where(self.alive, loss, self.last)
        self.correct += correct * self.alive
        self.steps += self.alive
        self.samples += samples * self.alive

    def of(self, slots):
        """The numbers of each slot, as an answer has them. Waits for the device."""
        sums = {"loss_sum": self.loss, "correct": self.correct, "samples": self.samples, "steps": self.steps, "last": self.last}
        sums = {name: t.tolist() for name, t in sums.items()}
        bad, alive = self.bad.tolist(), self.alive.tolist()
        return [{"member": s, **{name: values[s] for name, values in sums.items()}, "bad": None if alive[s] else bad[s]} for s in slots]


class Epoch:
    """The steps of one epoch of the members in parts. The other slots take part with rows of the first part, and what they do is undone."""

    def __init__(self, ensemble, parts):
        self.ensemble, self.parts, size, device = ensemble, parts, ensemble.size, ensemble.device
        by_slot = {p.slot: p for p in parts}
        each = [by_slot.get(slot, parts[0]) for slot in range(size)]
        self.places = torch.from_numpy(np.stack([p.order for p in each])).long().to(device)
        self.views = None if parts[0].views is None else torch.stack([p.views for p in each])
        rates = [by_slot[slot].lr if slot in by_slot else 0.0 for slot in range(size)]
        self.lr = torch.tensor(rates, dtype=ensemble.arithmetic.dtype, device=device)[:, None]
        self.labels = ensemble.together.labels.gather(1, self.places)
        self.keep = any(p.kept for p in parts)
        self.tallies = Tallies(size, ensemble.arithmetic.wide, device)

    def run(self, between, say):
        """Makes the steps and returns the members' sums. between is called before each step; an exception from it ends the epoch there.
        say is given the sums ten times a second."""
        slots, looked = [p.slot for p in self.parts], time.monotonic()
        with self.ensemble.only(slots):
            for first in range(0, self.places.shape[1], self.ensemble.batch):
                between()
                self.step(slice(first, first + self.ensemble.batch))
                if time.monotonic() - looked >= BETWEEN_LOOKS:
                    say(first // self.ensemble.batch + 1, self.tallies.of(slots))
                    looked = time.monotonic()
        return self.tallies.of(slots)

    def step(self, at):
        ensemble, places, labels = self.ensemble, self.places[:, at], self.labels[:, at]
        x = ensemble.together.rows("train", places, None if self.views is None else self.views[:, at])
        loss, objective, logits, features, layers, gradients = ensemble.gradients(x, labels, self.keep)
        self.tallies.add(loss, objective, (logits.argmax(2) == labels).sum(1), labels.shape[1])
        if self.keep:
            rows = [r.cpu() for r in (features, logits, *layers)]
            for p in self.parts:
                if p.kept:
                    p.kept.put(p.order[at], [r[p.slot] for r in rows])
        with torch.no_grad():
            ensemble.updates.step(gradients, self.lr)


def settle(ensemble, parts, passes, between):
    """evaluation.settle of the members in parts."""
    if not ensemble.net.statistics:
        return
    epoch = Epoch(ensemble, parts)
    with torch.no_grad(), ensemble.only([p.slot for p in parts]):
        for first in [a for _ in range(passes) for a in range(0, epoch.places.shape[1], ensemble.batch)]:
            between()
            at = slice(first, first + ensemble.batch)
            x = ensemble.together.rows("train", epoch.places[:, at], None if epoch.views is None else epoch.views[:, at])
            ensemble.net.forward(x, True)


def evaluate(ensemble, slots, split, number, layers, samples, between):
    """evaluation.evaluate of the members in slots, each to the files in its folder."""
    members = [ensemble.members[slot] for slot in slots]
    count = len(members[0].images.pixels[split])
    count = min(count, samples) if samples else count
    files = None
    with torch.no_grad(), contextlib.ExitStack() as stack:
        for first in range(0, count, ensemble.batch):
            between()
            x = ensemble.together.rows(split, slice(first, min(count, first + ensemble.batch)))
            logits, features, tapped = ensemble.net.forward(x, False, ensemble.taps if layers else [])
            if files is None:
                widths = [r.shape[2] for r in (features, logits, *tapped)]
                files = [evaluation.writers(stack, m.folder, split, number, count, widths, logits.dtype) for m in members]
            rows = [r.cpu().numpy() for r in (features, logits, *tapped)]
            for slot, to in zip(slots, files):
                for file, r in zip(to, rows):
                    file.append(r[slot])


def write_head(ensemble, slot, number):
    bias = ensemble.net.params.get("fc.bias")
    evaluation.write_head(ensemble.members[slot].folder, number, ensemble.net.rows()[slot], None if bias is None else bias[slot])


def penalty_squares(ensemble, slot):
    return evaluation.penalty_squares([p[slot] for p in ensemble.net.trained.values()], ensemble.arithmetic.wide)
