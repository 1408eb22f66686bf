"""Classifiers that score every position of a sequence, of which the model returns one: the one of the last token, say."""

import torch

from .products import Product


def chosen(product, output, tolerance):
    """The product of only those of its rows whose results the model returned, one for each sample; None if it did not.

    product    with positions (N, T) or more; a Product, whose positions are then (N).
    output     (N, K), floating point.
    tolerance  how far a result may be from what was returned, relative to the largest number of the row.

    The classifier is proved by these rows afterwards: here it only matters which ones they are. If positions whose features differ give
    the same results, nothing tells which was meant, and there is none.
    """
    n, k = len(product.h) if product.h.dim() > 2 else 0, len(product.weight)
    if n == 0 or output.numel() != n * k or output.shape[0] != n:
        return None
    h, output = product.h.reshape(n, -1, product.h.shape[-1]), output.detach().reshape(n, 1, k).double()
    with torch.no_grad():
        bias = None if product.bias is None else product.bias.to(product.precise)
        scores = torch.nn.functional.linear(h.to(product.precise), product.weight.to(product.precise), bias).double()
    gap = (scores - output).abs().amax(2)  # (N, T)
    place = gap.argmin(1)
    rows = h[torch.arange(n, device=h.device), place]
    alike = gap <= gap.amin(1, keepdim=True) + tolerance * output.abs().amax(2)
    if bool((alike & (h != rows[:, None]).any(2)).any()):
        return None
    out = Product.__new__(Product)
    out.__dict__.update(product.__dict__, h=rows)
    return out
