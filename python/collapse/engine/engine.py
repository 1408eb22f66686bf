"""The orders of the contract. open and close are here; alone.py and members.py have what is done in between."""

import hashlib
import os

from . import devices, ensemble, members
from .ensemble import Ensemble
from .errors import Ended, InputError, explained
from .run import Run

PROTOCOL = "collapse-engine 2"
MOST_MEMBERS = 1024
ORDERS = ("open", "load", "epoch", "settle", "evaluate", "save", "close")


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
    """Carries out orders for one run, or one ensemble of runs, at a time. ended is called between steps and says whether to leave; say sends
    an answer that is not an order's last."""

    def __init__(self, ended, say):
        self.ended, self.say, self.run = ended, say, None
        self.asked = None, None  # device and batch of the last open
        self.doing = None  # the last order

    def do(self, order):
        """The fields of the last answer to an order."""
        self.doing, name = order, order.text("do")
        if name not in ORDERS:
            order.wrong("do", "one of " + ", ".join(ORDERS))
        if name in ("open", "close"):
            return getattr(self, name)(order)
        if self.run is None:
            raise InputError("no run is open")
        return getattr(self.run.orders, name)(self.run, order, self.between, self.say)

    def explained(self, error, doing):
        """The (kind, message) for an order that has failed. Training that was cut off needs its weights loaded again."""
        run = self.run
        if run is not None and doing in ("load", "epoch", "settle", "evaluate") and not isinstance(error, InputError):
            run.lost(self.doing)
            devices.release(run.device)
        return explained(error, doing, *self.asked)

    def between(self):
        if self.ended():
            raise Ended()

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
