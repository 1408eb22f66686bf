"""Keeps the outputs of layers, in addition to the features."""

import torch

from .errors import Refused

POOLS = ("average", "flatten")


class Taps:
    """Hooks on the modules that the fields taps name (PyTorch's names). While on is true, every forward pass leaves rows, one (B, width)
    tensor per tap: the mean of each channel's map, or with pool "flatten" all values in the order channel, row, column."""

    def __init__(self, net, taps):
        modules = dict(net.named_modules())
        self.on, self.rows = False, [None] * len(taps)
        for i, tap in enumerate(taps):
            name, flatten = tap.text("name"), tap.choice("pool", POOLS) == "flatten"
            if name not in modules or name == "":
                raise Refused("%s.name is %r; this network has no such layer" % (tap.where, name))
            modules[name].register_forward_hook(self._hook(i, flatten))

    def _hook(self, i, flatten):
        def keep(module, inputs, output):
            if self.on:
                rows = output.detach()
                self.rows[i] = rows.flatten(1) if flatten or rows.dim() == 2 else rows.mean((2, 3), dtype=torch.promote_types(rows.dtype, torch.float32))

        return keep

    def taken(self):
        """The rows of the last forward pass, if on."""
        return list(self.rows) if self.on else []
