"""Multilayer perceptrons of one shape, computed together: every tensor has a first axis of members."""

import torch
import torch.nn.functional as F
from torch import nn

from . import nets, products
from .flat import Flat


class Perceptrons:
    """Networks of members that are all like one, a nets.MLP.

    trained, frozen  name → parameter (E, …); those of trained require gradients
    flat             where the trained ones are
    statistics       name → running mean or variance (E, H) of batch norm
    counters         name → updates (E,) of the statistics
    outputs          names of what forward can return besides
    """

    def __init__(self, one, members, frozen, dtype, device):
        self.layers, self.temperature = dict(one.layers.named_children()), one.temperature
        self.outputs = ["layers." + name for name in self.layers] + ["layers"]
        shapes = {name: p.shape for name, p in one.named_parameters()}
        self.flat, self.rest = (Flat({name: s for name, s in shapes.items() if (name in frozen) == still}, members, dtype, device) for still in (False, True))
        self.trained = {name: v.detach().requires_grad_() for name, v in self.flat.views(self.flat.values).items()}
        self.frozen = self.rest.views(self.rest.values)
        both = {**self.trained, **self.frozen}
        self.params = {name: both[name] for name in shapes}
        repeated = {name: b.to(device).expand(members, *b.shape).clone() for name, b in one.named_buffers()}
        self.counters = {name: b for name, b in repeated.items() if b.dtype == torch.int64}
        self.statistics = {name: b for name, b in repeated.items() if name not in self.counters}

    def state(self):
        return [self.flat.values, self.rest.values, *self.statistics.values(), *self.counters.values()]

    def of(self, slot):
        """name → view of everything that a checkpoint of one member holds, in the order of weights.of_model."""
        everything = {**self.counters, **self.params, **self.statistics}
        return {name: t.detach()[slot] for name, t in everything.items()}

    def forward(self, x, training, tapped=(), half=False):
        """Logits (E, B, K), features (E, B, d) and the outputs (E, B, width) of the modules named in tapped, for images x (E, B, inputs).
        half: products in bfloat16.

        Between layers a batch is (E, width, B): then batch norm of all members is batch norm of E·width channels."""
        h, outputs = x.mT, {}
        for name, module in self.layers.items():
            name = "layers." + name
            h = self._apply(name, module, h, training, half)
            outputs[name] = h
        outputs["layers"] = h
        features = nets.unit(h) if self.temperature else h
        logits = products.linear(self.rows(), self.params.get("fc.bias"), features, half)
        return logits.mT, features.mT, [outputs[name].detach().mT for name in tapped]

    def _apply(self, name, module, h, training, half):
        if isinstance(module, nn.Linear):
            return products.linear(self.params[name + ".weight"], self.params.get(name + ".bias"), h, half)
        if isinstance(module, nn.Sigmoid):
            return products.sigmoid(h)
        if not isinstance(module, nn.BatchNorm1d):
            return module(h)
        mean, variance = (self.statistics[name + part].view(-1) for part in (".running_mean", ".running_var"))
        weight, bias = (self.params[name + part].reshape(-1) for part in (".weight", ".bias"))
        if training:
            self.counters[name + ".num_batches_tracked"] += 1
        return F.batch_norm(h.reshape(1, -1, h.shape[2]), mean, variance, weight, bias, training, module.momentum, module.eps).view_as(h)

    def rows(self):
        """W (E, K, d) with logits = W features + b."""
        weight = self.params["fc.weight"]
        return self.temperature * nets.unit(weight.mT).mT if self.temperature else weight
