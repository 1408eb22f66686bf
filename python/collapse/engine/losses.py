"""The losses. Each maps logits z (B, K) and labels y (B) to the mean over the batch, in the arithmetic of z.

gather and scatter are avoided: on a GPU their gradients are not deterministic.
"""

import math

import torch
import torch.nn.functional as F


def true_class(z, y):
    """(B, K), True at the label."""
    return y[:, None] == torch.arange(z.shape[1], device=z.device)


def _relaxed(loss, classes):
    """KL(q‖p) with q_y = 1 − α and the rest in proportion to p; 0 where p_y > 1 − α (Nguyen et al. 2023)."""
    alpha = loss.number("smoothing")

    def relaxed(z, y):
        at = true_class(z, y)
        log_p = F.log_softmax(z, 1)
        log_rest = torch.logsumexp(log_p.masked_fill(at, -math.inf), 1)  # log(1 − p_y), without cancellation
        log_true = log_p.masked_fill(~at, 0).sum(1)
        divergence = (1 - alpha) * (math.log1p(-alpha) - log_true) + alpha * (math.log(alpha) - log_rest)
        return divergence.masked_fill(log_rest < math.log(alpha), 0).mean()

    return relaxed


def _squared(loss, classes, weight=1.0, target=1.0):
    """Σ_j w_j (z_j − t_j)² with w = weight and t = target at the label, else 1 and 0. Its mean over batch and classes, or with the
    papers' reduction half of the mean over the batch."""
    divisor = 2 if loss.choice("reduction", ("torch", "paper")) == "paper" else classes

    def squared(z, y):
        at = true_class(z, y).to(z.dtype)
        return ((z - target * at) ** 2 * (1 + (weight - 1) * at)).sum(1).mean() / divisor

    return squared


def _smoothed(loss, classes):
    smoothing = loss.number("smoothing")
    return lambda z, y: F.cross_entropy(z, y, label_smoothing=smoothing)


LOSSES = {
    "ce": lambda loss, classes: F.cross_entropy,
    "ls": _smoothed,
    "lr": _relaxed,
    "mse": _squared,
    "rescaled_mse": lambda loss, classes: _squared(loss, classes, loss.number("alpha"), loss.number("m")),
}


def build(loss, classes):
    """The function of (logits, labels) that the fields loss describe. Refused for an unknown kind."""
    return LOSSES[loss.choice("kind", LOSSES)](loss, classes)
