"""Orders of several runs, read as one."""

import torch

from .errors import InputError


class Stack:
    """The fields of members' orders. number gives a tensor (E,) with one value for each member; all other fields must be the same for all, and
    are read from the first."""

    def __init__(self, members, dtype, device):
        self.members, self.dtype, self.device = members, dtype, device
        self.values, self.where = members[0].values, members[0].where

    def number(self, name, least=0.0):
        return torch.tensor([m.number(name, least) for m in self.members], dtype=self.dtype, device=self.device)

    def group(self, name):
        return Stack([m.group(name) for m in self.members], self.dtype, self.device)

    def __getattr__(self, name):
        return getattr(self.members[0], name)


# What members may have of their own. All else of their orders is the same, and so are the sizes of their data.
OWN = {"": ("do", "run", "dir", "member", "seed", "loss", "digests"), "decay": ("classifier", "bias", "features", "all"),
       "optim": ("momentum", "weight_decay", "beta1", "beta2", "eps")}


def shared(order):
    """What the members of an ensemble have in common, of an open order."""
    common = {name: v for name, v in order.values.items() if name not in OWN[""]}
    for group in ("decay", "optim"):
        common[group] = {name: v for name, v in order.group(group).values.items() if name not in OWN[group]}
    optim = order.group("optim")
    common["momentum"] = optim.choice("kind", ("sgd", "adam")) == "sgd" and optim.number("momentum") > 0
    return common


def check(order, common):
    """InputError unless an open order has in common with an ensemble what members must."""
    own = shared(order)
    for name in common:
        if own.get(name) != common[name]:
            raise InputError("%s.%s differs from that of the other members of the ensemble" % (order.where, name))
