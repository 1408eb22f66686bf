"""Products of matrices, and sigmoids, of all slots of an ensemble, with the same bits in every slot.

On a processor the bits of a product depend on how its matrices lie in memory (in MKL, where their addresses are no multiples of 64 bytes),
and those of a sigmoid on its place in the tensor (what fills no vector is computed by another function).
"""

import torch

from .flat import ALIGNED


def linear(weight, bias, h, half):
    """weight (E, M, K) times h (E, K, B), plus bias (E, M) or None; half: in bfloat16."""
    if half:
        weight, h = weight.to(torch.bfloat16), h.to(torch.bfloat16)
    z = _Product.apply(weight, h) if h.device.type == "cpu" else torch.bmm(weight, h)
    return z if bias is None else z + bias[:, :, None].to(z.dtype)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return product(a, b)

    @staticmethod
    def backward(ctx, gradient):
        (a, b), (first, second) = ctx.saved_tensors, ctx.needs_input_grad
        return product(gradient, b.mT) if first else None, product(a.mT, gradient) if second else None


def product(a, b):
    """a (E, M, K) times b (E, K, N)."""
    return torch.bmm(aligned(a), aligned(b), out=_room(a, (len(a), a.shape[1], b.shape[2])))


def aligned(a):
    """a, or a copy of it, whose matrices begin at multiples of ALIGNED numbers. Columns may be those of memory, or rows."""
    if a.stride(2) != 1 and a.stride(1) == 1:
        return aligned(a.mT).mT
    if a.stride(2) == 1 and a.stride(1) == a.shape[2] and a.stride(0) % ALIGNED == 0:
        return a
    return _room(a, a.shape).copy_(a)


def _room(like, shape):
    """A tensor (E, M, N) whose matrices begin at multiples of ALIGNED numbers."""
    members, rows, columns = shape
    size = -(-rows * columns // ALIGNED) * ALIGNED
    return like.new_empty(members * size).as_strided(shape, (size, columns, 1))


def sigmoid(h):
    return torch.sigmoid(h) if h.device.type != "cpu" else torch.stack([torch.sigmoid(one) for one in h])
