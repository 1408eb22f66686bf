"""The part of the objective that is weight decay. With SGD and Adam, which couple it themselves, decay of every parameter is not in it."""

import torch

KINDS = ("all", "peeled", "peeled-batch", "peeled-code")


class Decay:
    """½ Σ λ‖p‖² over parameters and, for the peeled kinds, a term for the batch's features.

    decay   fields kind, classifier, bias, features (λ of fc.weight, fc.bias and features), samples (N), and all: λ of every
            parameter where it is in the objective, 0 if it is not. A Stack for an ensemble: then everything has a first axis of members.
    params  name → tensor of what is trained, without a frozen classifier.
    wide    the dtype of the sums.
    """

    def __init__(self, decay, params, wide, members=False):
        self.kind, self.wide, self.samples = decay.choice("kind", KINDS), wide, decay.whole("samples", 1)
        self.strength = decay.number("features")
        self.of_features = self.kind != "all" and _some(self.strength)
        of_name = {"fc.weight": decay.number("classifier"), "fc.bias": decay.number("bias")}
        if self.kind == "all":
            of_name = dict.fromkeys(params, decay.number("all") if "all" in decay.values else 0.0)
        self.terms = [(p, of_name[name]) for name, p in params.items() if name in of_name and _some(of_name[name])]
        self.first = 1 if members else 0  # axis of a parameter's own

    def penalty(self, h):
        """The penalty at the current parameters for a batch with features h (B, d): a scalar, or 0.0 if there is none."""
        total = sum(strength / 2 * p.to(self.wide).pow(2).flatten(self.first).sum(-1) for p, strength in self.terms)
        if not self.of_features:
            return total
        if self.kind == "peeled-code":  # ‖h/‖h‖‖², which is 1 wherever h is not 0: no gradient
            return total + self.strength / 2 * (h.detach() != 0).any(-1).sum(-1).to(self.wide)
        share = self.samples / h.shape[-2] if self.kind == "peeled" else 1.0
        return total + share * self.strength / 2 * h.to(self.wide).pow(2).sum((-2, -1))


def _some(strength):
    """Whether a λ, or that of any member, is not 0."""
    return bool((strength != 0).any()) if torch.is_tensor(strength) else strength != 0

