"""A training step."""

import collections
import math

import torch

# The results of a step for its batch, from before it changed the weights. loss, objective and correct (labels at the largest logit) are scalars
# on the device; logits (B, K), features (B, d) and the tapped layers' rows are in the run's dtype.
Outcome = collections.namedtuple("Outcome", "loss objective correct logits features layers")


class NotFinite(Exception):
    """The objective of a step is not finite, so the step was not made."""

    def __init__(self, objective):
        super().__init__("the objective is %s" % objective)
        self.objective = objective


class Trainer:
    """The network and everything that changes its weights.

    taps provides the outputs of layers, if there are any.
    """

    def __init__(self, net, loss, decay, optimiser, arithmetic, taps=None):
        self.net, self.loss, self.decay, self.optimiser, self.arithmetic, self.taps = net, loss, decay, optimiser, arithmetic, taps

    def step(self, x, labels, lr, look):
        """Makes one step on images x (B, C, H, W) and returns its Outcome. With look, it raises NotFinite instead if the objective is not
        finite; looking waits for the device."""
        outcomes = []

        def closure():
            outcome = self.gradients(x, labels)
            if not outcomes:  # L-BFGS calls it again at other points
                if look and not math.isfinite(outcome.objective.item()):
                    raise NotFinite(outcome.objective.item())
                outcomes.append(outcome)
            return outcome.objective

        self.optimiser.step(lr, closure)
        return outcomes[0]

    def gradients(self, x, labels):
        """The Outcome of a batch; the gradients of the objective (loss plus decay) are left in the parameters'
        grad."""
        dtype, wide = self.arithmetic.dtype, self.arithmetic.wide
        self.optimiser.zero_grad()
        with self.arithmetic.half():
            logits, features = self.net(x)
        logits, features = logits.to(dtype), features.to(dtype)
        loss = self.loss(logits.to(wide), labels)
        objective = loss + self.decay.penalty(features)
        objective.backward()
        layers = [rows.to(dtype) for rows in self.taps.taken()] if self.taps else []
        logits, features = logits.detach(), features.detach()
        return Outcome(loss.detach(), objective.detach(), (logits.argmax(1) == labels).sum(), logits, features, layers)
