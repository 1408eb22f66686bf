"""The losses. Each maps logits z (B, K) and labels y (B) to the mean over the batch, in the arithmetic of z.

gather and scatter are avoided: on a GPU their gradients are not deterministic.
"""

import math

import torch
import torch.nn.functional as F


def true_class(z, y):
    """(…, B, K), True at the label."""
    return y[..., None] == torch.arange(z.shape[-1], device=z.device)


def smoothed(z, y, smoothing):
    """Cross entropy with 1 − α + α/K at the label and α/K elsewhere."""
    log_p = F.log_softmax(z, -1)
    own = F.nll_loss(log_p.flatten(0, -2), y.flatten(), reduction="none").view(y.shape)
    return (1 - smoothing) * own - smoothing * log_p.mean(-1)


def relaxed(z, y, alpha, log_alpha, log_kept):
    """KL(q‖p) with q_y = 1 − α and the rest in proportion to p; 0 where p_y > 1 − α (Nguyen et al. 2023). log_kept is log(1 − α)."""
    at = true_class(z, y)
    log_p = F.log_softmax(z, -1)
    log_rest = torch.logsumexp(log_p.masked_fill(at, -math.inf), -1)  # log(1 − p_y), without cancellation
    log_true = log_p.masked_fill(~at, 0).sum(-1)
    divergence = (1 - alpha) * (log_kept - log_true) + alpha * (log_alpha - log_rest)
    return divergence.masked_fill(log_rest < log_alpha, 0)


def squared(z, y, divisor, weight, target):
    """Σ_j w_j (z_j − t_j)² with w = weight and t = target at the label, else 1 and 0; divided by the divisor."""
    at = true_class(z, y).to(z.dtype)
    return ((z - target[..., None] * at) ** 2 * (1 + (weight[..., None] - 1) * at)).sum(-1) / divisor


def _relaxation(alpha):
    return [alpha, math.log(alpha), math.log1p(-alpha)]


def _divided(loss, classes):
    return 2.0 if loss.choice("reduction", ("torch", "paper")) == "paper" else float(classes)


# Of each kind the function of (z, y, parameters) that gives a loss for each sample (…, B), and its parameters.
LOSSES = {
    "ce": (smoothed, lambda loss, classes: [0.0]),
    "ls": (smoothed, lambda loss, classes: [loss.number("smoothing")]),
    "lr": (relaxed, lambda loss, classes: _relaxation(loss.number("smoothing"))),
    "mse": (squared, lambda loss, classes: [_divided(loss, classes), 1.0, 1.0]),
    "rescaled_mse": (squared, lambda loss, classes: [_divided(loss, classes), loss.number("alpha"), loss.number("m")]),
}


def _read(loss, classes):
    function, parameters = LOSSES[loss.choice("kind", LOSSES)]
    return function, parameters(loss, classes)


def build(loss, classes):
    """The function of logits (B, K) and labels (B) that the fields loss describe: the mean over the batch. Refused for an unknown kind."""
    function, parameters = _read(loss, classes)
    if function is smoothed:
        return lambda z, y: F.cross_entropy(z, y, label_smoothing=parameters[0])

    def mean(z, y):
        return function(z, y, *(torch.tensor(p, dtype=z.dtype, device=z.device) for p in parameters)).mean()

    return mean


def build_each(losses, classes, dtype, device):
    """The function of logits (E, B, K) and labels (E, B) that gives each member's loss (E), where losses are the members' fields. Members
    with one kind of loss are computed together."""
    groups = {}
    for slot, loss in enumerate(losses):
        function, parameters = _read(loss, classes)
        groups.setdefault(function, []).append((slot, parameters))
    parts = [(function, torch.tensor([slot for slot, _ in of], device=device),
              [torch.tensor(p, dtype=dtype, device=device)[:, None] for p in zip(*(parameters for _, parameters in of))])
             for function, of in groups.items()]
    if len(parts) == 1:
        function, _, parameters = parts[0]
        return lambda z, y: function(z, y, *parameters).mean(-1)

    def each(z, y):
        values = z.new_zeros(len(z))
        for function, slots, parameters in parts:
            values = values.index_copy(0, slots, function(z.index_select(0, slots), y.index_select(0, slots), *parameters).mean(-1))
        return values

    return each
