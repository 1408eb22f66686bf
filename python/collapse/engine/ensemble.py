"""Runs of multilayer perceptrons that are computed together: E members, each in a slot of its own.

A member has the same bits in every slot and with any other members: every operation computes all slots alike, and nothing that another slot
holds is read. The bits depend on E, which is part of what machine says.
"""

import contextlib

import torch

from . import decay, flat, losses, members, memory, optimisers, perceptrons, stack, weights
from .errors import InputError, Refused
from .images import Together
from .run import Setup
from .taps import POOLS


def fits(order):
    """Whether the run of an open order can be a member of an ensemble."""
    return order.group("net").text("kind") == "mlp" and order.group("optim").text("kind") in ("sgd", "adam")


class Member:
    """A run in a slot."""

    def __init__(self, order, images):
        self.order, self.images, self.loaded = order, images, False
        self.name, self.folder = order.text("run"), images.folder


class Ensemble(Setup):
    """The members by their slots, their networks and what changes their weights. It is built from the open order of the first member;
    each member joins, the first included."""

    orders = members

    def __init__(self, first, size):
        super().__init__(first)
        self.size, self.common, self.members = size, stack.shared(first), {}
        self.net = perceptrons.Perceptrons(self.model, size, self.frozen, self.arithmetic.dtype, self.device)
        self.updates = flat.build(first.group("optim"), self.net.flat)
        self.taps = [tap.text("name") for tap in first.groups("taps")]
        for tap, name in zip(first.groups("taps"), self.taps):
            tap.choice("pool", POOLS)  # the same for rows
            if name not in self.net.outputs:
                raise Refused("%s.name is %r; this network has no such layer" % (tap.where, name))

    def join(self, slot, order):
        """Takes the run of an order into a slot. If that fails, nothing has changed."""
        stack.check(order, self.common)
        images = self.read_images(order)
        shared = images.share([m.images for m in self.members.values()])
        if any(len(m.images.pixels[split]) != len(pixels) for m in self.members.values() for split, pixels in images.pixels.items()):
            raise InputError("%s.dir has other numbers of images than the other members of the ensemble" % order.where)
        losses.build(order.group("loss"), self.classes)  # their errors, before they would be those of all
        decay.Decay(order.group("decay"), self.params, self.arithmetic.wide)
        optimisers.build(order.group("optim"), self.params)
        first, held = not self.members, 0 if shared else images.bytes(rows=True)
        self.bytes = memory.estimate(self, self.size, held, self.updates.alive, True) if first else held  # what this member adds
        self.members[slot] = Member(order, images)
        self._settled()

    def leave(self, slot):
        """Empties a slot."""
        del self.members[slot]
        with torch.no_grad():
            for t in self._state():
                t[slot] = 0
        self.updates.steps[slot] = 0
        if self.members:
            self._settled()

    def _state(self):
        """All tensors that hold a member's state in its slot."""
        return [*self.net.state(), *self.updates.state.values()]

    def _settled(self):
        """Brings what depends on all members' settings up to date. A slot without a member has those of one that there is."""
        some = next(iter(self.members.values()))
        each = [self.members.get(slot, some) for slot in range(self.size)]
        wide, dtype = self.arithmetic.wide, self.arithmetic.dtype
        group = lambda name, dtype: stack.Stack([m.order.group(name) for m in each], dtype, self.device)
        self.loss = losses.build_each([m.order.group("loss") for m in each], self.classes, wide, self.device)
        self.decay = decay.Decay(group("decay", wide), self.net.trained, wide, members=True)
        self.updates.settle(group("optim", dtype))
        self.together = Together([m.images for m in each])

    @contextlib.contextmanager
    def only(self, slots):
        """Restores the state of all members that are not in slots."""
        others = [slot for slot in self.members if slot not in slots]
        with torch.no_grad():
            kept = [(t, t[others].clone()) for t in self._state()] if others else []
        steps = list(self.updates.steps)
        try:
            yield
        finally:
            with torch.no_grad():
                for t, values in kept:
                    t[others] = values
            for slot in others:
                self.updates.steps[slot] = steps[slot]

    def member(self, slot, loaded=True):
        m = self.members.get(slot)
        if m is None:
            raise InputError("no run is open" if self.size == 1 else "slot %d has no run" % slot)
        if loaded and not m.loaded:
            raise InputError("the run has no weights yet, or lost them to an error: load first")
        return m

    def lost(self, order, slots=None):
        """After an order that has failed: members whose training it may have cut off have to load their weights again. slots says which; None:
        all that the order names."""
        if slots is None:
            slots = [members.slot_of(o) for o in members.several(order)] if order.values["do"] in ("epoch", "settle") else []
        for slot in slots:
            if slot in self.members:
                self.members[slot].loaded = False

    def most_bytes(self, slot):
        return weights.most_bytes(self.net.of(slot), self.updates)

    def load(self, slot, model, optim):
        """Restores a member from the tensors of two files, each given as (path, tensors)."""
        self.member(slot, loaded=False).loaded = False
        weights.load_model(self.net.of(slot), model[1], model[0])
        weights.load_optimiser(flat.Member(self.updates, slot), optim[1], self.arithmetic.dtype, optim[0])
        self.members[slot].loaded = True

    def tensors(self, slot):
        """What a checkpoint of a member holds: two dicts of name → tensor, of its network and of its optimiser."""
        return self.net.of(slot), weights.of_optimiser(flat.Member(self.updates, slot))

    def gradients(self, x, labels, tapped):
        """For a batch x (E, B, inputs): each member's loss and objective (E), logits (E, B, K), features (E, B, d), tapped layers, and the
        gradients of the objective."""
        dtype, wide = self.arithmetic.dtype, self.arithmetic.wide
        logits, features, layers = self.net.forward(x, True, self.taps if tapped else [], self.arithmetic.precision == "bf16")
        logits, features = logits.to(dtype), features.to(dtype)
        loss = self.loss(logits.to(wide), labels)
        objective = loss + self.decay.penalty(features)
        gradients = torch.autograd.grad(objective.sum(), list(self.net.trained.values()))
        return loss.detach(), objective.detach(), logits.detach(), features.detach(), [rows.to(dtype) for rows in layers], gradients

    def machine(self):
        return super().machine() + (", members %d" % self.size if self.size > 1 else "")

    @property
    def name(self):
        return ", ".join(m.name for m in self.members.values())
