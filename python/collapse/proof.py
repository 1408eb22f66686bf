"""Proves numerically that recorded weights give a model's output: compares products in float64 with what the model returned."""

import math

import torch

# Unit roundoffs: half the distance from 1 to the next number.
ROUNDOFF = {torch.float64: 2.0 ** -53, torch.float32: 2.0 ** -24, torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}

MOST_ROWS, FEWEST_ROWS = 256, 8
MOST_MULTIPLICATIONS = 1 << 31  # about a second on one core; beyond it, fewer rows are compared
CHUNK = 1 << 21  # elements of the weights that are converted at a time
SPOT_ROWS, SPOT_WEIGHTS = 4, 1 << 18  # for later batches: rows, and approximate number of elements of the weights

# What a model may do to the logits W h + b before returning them. The first one that fits is used.
TRANSFORMS = ("none", "scale", "offset", "scale and offset", "log_softmax", "softmax", "sigmoid")


class Reading:
    """How the model's output follows from one product: output = transform(scale · (h Wᵀ + b) + offset).

    error      the largest deviation over the compared rows, in units of the sum that was rounded (see `deviation`).
    tolerance  the largest allowed error, from the precision of the product.
    rows       how many rows were compared.
    tiny       the smallest normal number of the output's dtype.
    """

    def __init__(self, transform, scale, offset, tolerance, rows, tiny):
        self.transform, self.scale, self.offset = transform, scale, offset
        self.error, self.tolerance, self.rows, self.tiny = None, tolerance, rows, tiny


def tolerance(product, output):
    """16 u + d u': u is the roundoff of the least precise number involved, d u' covers the sum of d terms.

    Sums are accumulated in float32 (float64 for float64) by every library that torch calls. If torch's settings allow a
    product to run in TensorFloat-32 or bfloat16, u is theirs.
    """
    kinds = [t for t in (product.h.dtype, product.weight.dtype, product.precise, output.dtype) if t in ROUNDOFF]
    u = max(ROUNDOFF[kind] for kind in kinds)
    if u == ROUNDOFF[torch.float32]:
        u = _faster_float32(product) or u
    wide = all(kind is torch.float64 for kind in kinds)
    return 16 * u + product.weight.shape[1] * ROUNDOFF[torch.float64 if wide else torch.float32]


def _faster_float32(product):
    """The roundoff that torch's settings allow for float32 products; None if they ask for float32."""
    backend = torch.backends.cudnn if product.convolution else torch.backends.cuda.matmul
    named = getattr(torch, "get_float32_matmul_precision", lambda: "highest")()
    if named == "medium":
        return ROUNDOFF[torch.bfloat16]
    if named == "high" or product.h.is_cuda and backend.allow_tf32:
        return ROUNDOFF[torch.float16]  # TensorFloat-32 has as many digits
    return None


def sampled(count, most):
    """At most `most` indices below count, evenly spaced, including the first and the last."""
    if count <= most:
        return torch.arange(count)
    return torch.linspace(0, count - 1, most, dtype=torch.float64).round().long().unique()


def rows_to_compare(product):
    """How many rows of a first batch are compared."""
    k, d = product.weight.shape
    return min(MOST_ROWS, max(FEWEST_ROWS, MOST_MULTIPLICATIONS // max(1, k * d)))


def products_in_float64(product, rows, classes=None):
    """r = h Wᵀ + b (rows, K) and its scale √(Σ_l W_kl² h_l² + b_k²), to which rounding errors are proportional.

    On the CPU, for a part of the weights at a time: other devices may lack float64 or the memory.
    """
    h = product.h.reshape(-1, product.h.shape[-1])[rows.to(product.h.device)].cpu().double()
    classes = torch.arange(product.weight.shape[0]) if classes is None else classes
    values, scales = [], []
    for part in classes.split(max(1, CHUNK // max(1, h.shape[1]))):
        w = product.weight[part.to(product.weight.device)].cpu().double()
        b = torch.zeros(len(part), dtype=torch.float64)
        if product.bias is not None:
            b = product.bias[part.to(product.bias.device)].cpu().double()
        values.append(h @ w.t() + b)
        scales.append((h.square() @ w.square().t() + b.square()).sqrt())
    return torch.cat(values, 1), torch.cat(scales, 1)


def arrangements(output, positions, k):
    """The model's output as (rows, K), for each way in which its axes can match the product's: classes last, or on axis 1."""
    count = 1
    for size in positions:
        count *= size
    if output.numel() != count * k or count == 0:
        return []
    ways, wanted = [], [_no_ones(tuple(positions) + (k,)), _no_ones((count, k))]
    if _no_ones(output.shape) in wanted:
        ways.append(output.reshape(count, k))
    if output.dim() > 2:
        moved = output.movedim(1, -1)
        if _no_ones(moved.shape) in wanted:
            ways.append(moved.reshape(count, k))
    return ways


def _no_ones(shape):
    return tuple(size for size in shape if size != 1)


def fit(transform, r, scale, output, tol, tiny):
    """The Reading of an output (rows, K) as a transform of products r, or None if it is not proved.

    A scale or an offset is found by least squares. It counts only if there are more rows than fitted numbers and they vary by
    much more than their rounding.
    """
    factor, offset = 1.0, None
    centred = r - r.mean(0)
    if "offset" in transform:
        if len(r) < 4 or not bool((centred.abs().amax(0) > 1000 * tol * scale.amax(0)).all()):
            return None
    if "scale" in transform:
        x, y = (centred, output - output.mean(0)) if "offset" in transform else (r, output)
        factor = float((x * y).sum() / x.square().sum()) if len(r) > 1 and x.numel() > 3 else float("nan")
        if not (factor == factor and abs(factor) not in (0.0, float("inf"))):
            return None
    if "offset" in transform:
        offset = (output - factor * r).mean(0)
    if transform in ("log_softmax", "softmax") and r.shape[1] < 2:
        return None
    reading = Reading(transform, factor, offset, tol, len(r), tiny)
    reading.error = deviation(reading, r, scale, output)
    return reading if reading.error <= tol else None  # false for NaN as well


def deviation(reading, r, scale, output, classes=None, proving=True):
    """The largest |output − transform(r)|, in units of the scale of r (and of the output's own size, which is rounded too).

    Probabilities are compared by their logarithms, so that small ones count as much as large ones. If a classifier is to be proved
    by them and too many are 0 or 1, the deviation is infinite.
    """
    if reading.transform in TRANSFORMS[:4]:
        offset = 0.0 if reading.offset is None else reading.offset if classes is None else reading.offset[classes]
        size = abs(reading.scale) * scale + abs(offset) + output.abs()
        wanted = reading.scale * r + offset
    else:
        wanted = torch.nn.functional.logsigmoid(r) if reading.transform == "sigmoid" else torch.log_softmax(r, 1)
        size = 2 * scale.amax(1, keepdim=True) + 1
        if reading.transform != "log_softmax":
            output, wanted = _logarithms(output, wanted, reading.tiny, proving)
            if output is None:
                return float("inf")
        size = size + output.abs()
    gap = (output - wanted).abs()
    return float(torch.where(gap == 0, torch.zeros_like(gap), gap / size).amax())


def _logarithms(p, wanted, tiny, proving):
    """log p and what it should be; a p below the smallest normal number counts as right if it should be that small."""
    small = p < tiny
    telling = ~small & (p < 0.999)
    if bool((p < 0).any()) or proving and int(telling.sum()) < max(4, p.numel() // 4):
        return None, None
    if bool((wanted[small] > math.log(tiny) + 2).any()):
        return None, None
    return torch.where(small, wanted, p.clamp_min(tiny).log()), wanted
